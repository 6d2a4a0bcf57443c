/* check_shared_text.c - texts with several owners.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/diag_list.h"
#include "base/limited.h"
#include "base/shared_text.h"
#include "tests/tests.h"

#include <string.h>

TEST(the_last_owner_frees) {
    grout_limited limited;
    grout_limited__init(&limited, NULL, 0);
    grout_shared_text *text = grout_shared_text__new(&limited.allocator, "a\nb\0c", 5);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(text->size, 5);
    ck_assert_int_eq(memcmp(text->data, "a\nb\0c", 6), 0);
    ck_assert_ptr_eq(grout_shared_text__share(&limited.allocator, text), text);
    grout_shared_text__drop(text);
    ck_assert_int_eq(text->data[0], 'a');
    ck_assert_uint_gt(limited.used, 0);
    grout_shared_text__drop(text);
    ck_assert_uint_eq(limited.used, 0);
}

TEST(another_allocator_has_a_copy) {
    grout_limited limited;
    grout_limited__init(&limited, NULL, 0);
    grout_shared_text *text = grout_shared_text__new(&limited.allocator, "text", 4);
    grout_shared_text *copy = grout_shared_text__share(NULL, text);
    ck_assert_ptr_ne(copy, text);
    grout_shared_text__drop(text);
    ck_assert_uint_eq(limited.used, 0);
    ck_assert_str_eq(copy->data, "text");
    grout_shared_text__drop(copy);
    limited.limit = 100;
    text = grout_shared_text__new(NULL, "a text that is too long for a hundred bytes with all else",
                                  57);
    ck_assert_ptr_null(grout_shared_text__share(&limited.allocator, text));
    grout_shared_text__drop(text);
    grout_shared_text__drop(NULL);
}

TEST(lists_show_a_text_that_they_share) {
    grout_shared_text *text = grout_shared_text__new(NULL, "one\ntwo\n", 8);
    grout_diags *diags[2] = {grout_diags_new(), grout_diags_new()};
    for (int i = 0; i < 2; i++) {
        ck_assert(grout_diags__add_shared_source(diags[i], "f", text));
        ck_assert(grout_diags__add_shared_source(diags[i], "f", text)); /* again */
        (void)grout_diags_add(diags[i], GROUT_DIAG_SYNTAX, (grout_place){"f", 2, 1, 3}, "m");
    }
    ck_assert_uint_eq(text->owner_count, 3);
    grout_shared_text__drop(text);
    grout_diags_free(diags[0]);
    grout_text out = {0};
    grout_diags_render(diags[1], &(grout_render_options){0}, &out);
    ck_assert_ptr_nonnull(strstr(out.data, "two"));
    grout_text_free(&out);
    grout_diags_free(diags[1]);
}

TEST(what_a_list_has_said_is_said_again) {
    grout_diags *from = grout_diags_new(), *to = grout_diags_new();
    (void)grout_diags_add(from, GROUT_DIAG_SYNTAX, (grout_place){"f", 2, 1, 3}, "100%% %s", "%d");
    grout_diags_note(from, (grout_place){"g", 1, 1, 1}, "%s", "%n");
    grout_diags_help(from, "help");
    (void)grout_diags_add(from, GROUT_DIAG_LIMIT, (grout_place){0}, "other");
    grout_diags_set_severity(from, 1, GROUT_SEVERITY_WARNING);
    grout_diags__append(to, from);
    grout_diags_free(from);
    ck_assert_uint_eq(grout_diags_count(to), 2);
    const grout_diag *diag = grout_diags_get(to, 0);
    ck_assert_str_eq(diag->message, "100% %d");
    ck_assert_str_eq(diag->place.file, "f");
    ck_assert_uint_eq(diag->note_count, 2);
    ck_assert_str_eq(diag->notes[0].message, "%n");
    ck_assert_str_eq(diag->notes[0].place.file, "g");
    ck_assert_int_eq(diag->notes[1].severity, GROUT_SEVERITY_ADVICE);
    ck_assert_int_eq(grout_diags_get(to, 1)->severity, GROUT_SEVERITY_WARNING);
    grout_diags_free(to);
}
