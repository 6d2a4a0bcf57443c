/* check_module.c - strings, tables, scopes and UTF-8: what modules are made of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "grout-internal/text.h"
#include "ir/core/module.h"
#include "ir/core/scope.h"
#include "tests/tests.h"
#include "tests/unit/ir/module_equal.h"

#include <stdio.h>
#include <string.h>

TEST(strings_are_interned_once) {
    enum { COUNT = 20000 };
    grout_module *module = grout_module__new(NULL);
    static grout_string_id ids[COUNT];
    char text[32];
    for (int i = 0; i < COUNT; i++) {
        int size = snprintf(text, sizeof text, "%d", i);
        ids[i] = grout_module__intern(module, text, (size_t)size);
    }
    for (int i = 0; i < COUNT; i++) {
        int size = snprintf(text, sizeof text, "%d", i);
        ck_assert_str_eq(grout_module_get_string(module, ids[i]), text);
        if (grout_module__intern(module, text, (size_t)size) != ids[i]) {
            ck_abort_msg("'%s' has two ids", text);
        }
    }
    ck_assert_uint_eq(grout_module__intern(module, "", 0), 0);
    ck_assert_str_eq(grout_module_get_string(module, 0), "");
    ck_assert_uint_eq(grout_module__find_string(module, "no such", 7), 0);
    ck_assert_uint_eq(grout_module__find_string(module, "12345", 3), ids[123]);
    grout_module_free(module);
}

TEST(tables_keep_entry_0_and_zero_new_ones) {
    grout_table table;
    ck_assert(grout_table__init(&table, NULL, sizeof(uint64_t)));
    uint64_t item = 7;
    ck_assert_uint_eq(grout_table__push(&table, &item), 1);
    ck_assert_uint_eq(grout_table__add(&table, 1000), 2);
    ck_assert_uint_eq(*GROUT_TABLE_AT(table, uint64_t, 0), 0);
    ck_assert_uint_eq(*GROUT_TABLE_AT(table, uint64_t, 1), 7);
    ck_assert_uint_eq(*GROUT_TABLE_AT(table, uint64_t, 1001), 0);
    ck_assert_uint_eq(grout_table__add(&table, UINT32_MAX), 0);
    ck_assert_uint_eq(table.count, 1002);
    grout_table__deinit(&table);
}

TEST(a_clone_is_equal_and_owns_all) {
    const char text[] = "// c\nconst A = 2\nkernel @k(%a: in gmem f32[A])\n{\n"
                        "  %v = load %a[A - 1]  // t\n}\n";
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("t.grout", text, sizeof text - 1, diags);
    ck_assert_ptr_nonnull(module);
    grout_module *copy = grout_module__clone(module);
    ck_assert_ptr_nonnull(copy);
    ck_assert_ptr_null(find_module_difference(module, copy));
    grout_module_free(module);
    grout_module_add_sources(copy, diags);
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, grout_module_get_place(copy, 1), "m");
    grout_text printed = {0};
    grout_module_print(copy, &printed);
    ck_assert_str_eq(printed.data, text);
    ck_assert_uint_ne(grout_module__intern(copy, "a new string", 12), 0);
    grout_text_free(&printed);
    grout_module_free(copy);
    grout_diags_free(diags);
}

TEST(a_bound_module_needs_nobody_else) {
    const char text[] = "// c\nconst A = 2\nkernel @k(%a: in gmem f32[A])\n{\n"
                        "  %v = load %a[A - 1]  // t\n}\n";
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("t.grout", text, sizeof text - 1, diags);
    const grout_define defines[] = {{.name = "A", .integer = 3}, {.name = "A", .integer = 4}};
    grout_module *bound[] = {grout_module_bind(module, &defines[0], 1, diags),
                             grout_module_bind(module, &defines[1], 1, diags)};
    grout_module_free(module);
    grout_module_free(bound[0]);
    ck_assert_ptr_nonnull(bound[1]);
    ck_assert_uint_eq(grout_module_find_kernel(bound[1], "k"), 1);
    const grout_kernel *kernel = grout_module_get_kernel(bound[1], 1);
    ck_assert_uint_eq(grout_module_find_param(bound[1], kernel, "a"), 0);
    ck_assert_uint_eq(grout_module_find_param(bound[1], kernel, "v"), UINT32_MAX);
    const grout_param *param = grout_module_get_param(bound[1], kernel, 0);
    ck_assert_int_eq(grout_module_get_type(bound[1], param->value)->dims[0], 4);
    ck_assert(grout_module_add_sources(bound[1], diags));
    grout_text printed = {0};
    grout_module_print(bound[1], &printed);
    ck_assert_ptr_nonnull(strstr(printed.data, "// t"));
    grout_text_free(&printed);
    grout_module_free(bound[1]);
    grout_diags_free(diags);
}

TEST(inner_names_hide_outer_ones) {
    grout_scope scope;
    ck_assert(grout_scope__init(&scope, NULL));
    grout_scope__bind(&scope, 5, 50);
    uint32_t mark = grout_scope__enter(&scope);
    ck_assert_uint_eq(grout_scope__find(&scope, 5), 50);
    ck_assert(!grout_scope__is_in_block(&scope, 5));
    grout_scope__bind(&scope, 5, 51);
    grout_scope__bind(&scope, 9000, 90);
    ck_assert(grout_scope__is_in_block(&scope, 5));
    ck_assert_uint_eq(grout_scope__find(&scope, 5), 51);
    grout_scope__leave(&scope, mark);
    ck_assert_uint_eq(grout_scope__find(&scope, 5), 50);
    ck_assert(grout_scope__is_in_block(&scope, 5));
    ck_assert_uint_eq(grout_scope__find(&scope, 9000), 0);
    ck_assert_uint_eq(grout_scope__find(&scope, 99999), 0);
    grout_scope__deinit(&scope);
}

/* The bytes of a character, by the definition of UTF-8. */
static size_t encode(uint32_t character, char *out) {
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (character & 0x3f));
        character >>= 6;
    }
    out[0] = (char)((0xf00 >> size & 0xff) | character);
    return size;
}

TEST(utf8_is_exactly_what_encodes_a_character) {
    char bytes[8];
    for (uint32_t character = 0; character < 0x120000; character++) {
        size_t size = encode(character, bytes);
        bool is_character = character <= 0x10ffff && !(character >= 0xd800 && character <= 0xdfff);
        bool ok = grout_utf8__length(bytes, size) == (is_character ? size : 0) &&
                  (size == 1 || grout_utf8__length(bytes, size - 1) == 0);
        if (!ok) {
            ck_abort_msg("U+%04x", (unsigned)character);
        }
    }
    ck_assert_uint_eq(grout_utf8__length("\xc0\x80", 2), 0);
    ck_assert_uint_eq(grout_utf8__length("\xe0\x80\x80", 3), 0);
    ck_assert_uint_eq(grout_utf8__length("\xf0\x80\x80\x80", 4), 0);
    ck_assert_uint_eq(grout_utf8__length("\x80", 1), 0);
    ck_assert_uint_eq(grout_utf8__length("\xff", 1), 0);
}
