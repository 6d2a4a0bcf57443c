/* check_ptx_parse.c - PTX as compilers write it, read and printed; and what is wrong with others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"
#include "grout-internal/ptx_counts.h"
#include "tests/tests.h"

#include <string.h>

#define HEAD       ".version 9.0\n.target sm_90a\n.address_size 64\n"
#define BEGINNING  HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>; .reg .b32 %r<8>;\n"
#define BODY(text) BEGINNING text "}\n"

static grout_ptx_module *parse(const char *text, grout_diags *diags) {
    return grout_ptx_parse("k.ptx", text, strlen(text), diags);
}

/* What of a body is printed, from its last declaration on. */
static const struct print_case {
    const char *name, *text, *expected;
} print_cases[] = {
    {"words keep their order", "ld.relaxed.shared.gpu.b32 %r1, [%r2+-8];",
     "$L0:\n\tld.relaxed.shared.gpu.b32 %R5, [%R6+-8];\n$L1:\n"},
    {"names again in blocks", "{ .reg .b32 %r<2>; L: bra L; } { L: @!%p1 bra.uni L; }",
     "\t.reg .b32 %R12;\n\t.reg .b32 %R13;\n$L0:\n\tbra $L0;\n$L1:\n\t@!%R1 bra.uni $L1;\n$L2:\n"},
    {"a label that comes later", "bra L; L: ret;", "$L0:\n\tbra $L1;\n$L1:\n\tret;\n$L2:\n"},
    {"a pair and a sink", "elect.sync _|%p1, -1;", "$L0:\n\telect.sync _|%R1, -1;\n$L1:\n"},
    {"targets", "t: .branchtargets a, b; brx.idx %r1, t; a: b: ret;",
     "$T0: .branchtargets $L1, $L1;\n$L0:\n\tbrx.idx %R5, $T0;\n$L1:\n\tret;\n$L2:\n"},
    {"coordinates in an address",
     "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%r1, {%r2, 7}], [%r3];",
     "$L0:\n\tcp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%R5, {%R6, 7}], "
     "[%R7];\n$L1:\n"},
    {"bits of floats", "mov.f32 %r1, 0f3F800000; mov.f32 %r1, 0fBf800000; mov.f32 %r1, -2.5;",
     "$L0:\n\tmov.f32 %R5, 0f3F800000;\n$L1:\n\tmov.f32 %R5, 0fBF800000;\n$L2:\n\tmov.f32 %R5, "
     "0dC004000000000000;\n$L3:\n"},
    {"bases of numbers", "add.s32 %r1, 0x1F, 0b101; add.s32 %r1, 017, WARP_SZ;",
     "$L0:\n\tadd.s32 %R5, 31, 5;\n$L1:\n\tadd.s32 %R5, 15, 32;\n$L2:\n"},
    {"special registers", "mov.u32 %r1, %cluster_ctaid.x; mov.u32 %r1, %laneid;",
     "$L0:\n\tmov.u32 %R5, %cluster_ctaid.x;\n$L1:\n\tmov.u32 %R5, %laneid;\n$L2:\n"},
    {"a shape of any size",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1}, %r1, %r2, %p1, 1, 1, 0, 0;",
     "$L0:\n\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%R5}, %R5, %R6, %R1, 1, 1, 0, "
     "0;\n$L1:\n"},
    {"the longest family", "tcgen05.wait::ld.sync.aligned; cp.async.bulk.wait_group.read 1;",
     "$L0:\n\ttcgen05.wait::ld.sync.aligned;\n$L1:\n\tcp.async.bulk.wait_group.read 1;\n$L2:\n"},
    {"line tables", ".loc 1 20 3, function_name $L__s, inlined_at 1 4 5\n ret;",
     "$L0:\n\tret;\n$L1:\n"},
};

TEST_EACH(prints, COUNT_OF(print_cases)) {
    const struct print_case *c = &print_cases[_i];
    grout_diags *diags = grout_diags_new();
    grout_text source = {0}, out = {0};
    grout_text_add(&source, "%s%s%s", BEGINNING, c->text, "}\n");
    grout_ptx_module *module = parse(source.data, diags);
    grout_diags_render(diags, &(grout_render_options){0}, &out);
    ck_assert_msg(module != NULL, "%s: %s", c->name, out.data);
    grout_ptx_module_print(module, &out);
    ck_assert_msg(strstr(out.data, c->expected) != NULL, "%s: %s", c->name, out.data);
    grout_ptx_module_free(module);
    module = parse(out.data, diags);
    grout_text again = {0};
    ck_assert(module != NULL);
    grout_ptx_module_print(module, &again);
    ck_assert_str_eq(again.data, out.data);
    grout_ptx_module_free(module);
    grout_text_free(&again);
    grout_text_free(&out);
    grout_text_free(&source);
    grout_diags_free(diags);
}

static const struct error_case {
    const char *text, *message;
    grout_diag_code code;
    uint32_t line, column;
} error_cases[] = {
    {BODY("add.s33 %r1, %r1, 1;\n"), "'.s33' is not a known word of 'add'",
     GROUT_DIAG_PTX_UNSUPPORTED, 7, 5},
    {BODY("adq.s32 %r1, %r1, 1;\n"), "no instruction 'adq.s32' is known",
     GROUT_DIAG_PTX_UNSUPPORTED, 7, 1},
    {BODY("add.s32 %r1, %r8, 1;\n"), "no register '%r8' is declared here", GROUT_DIAG_PTX_SYNTAX, 7,
     14},
    {BODY("add.s32 %r1, %r1;\n"), "'add' takes from 3 to 3 operands, not 2", GROUT_DIAG_PTX_SYNTAX,
     7, 1},
    {BODY("bar.sync 0\n"), "';' should end the instruction, not '}'", GROUT_DIAG_PTX_SYNTAX, 8, 1},
    {BODY("bra L;\n"), "'L' is neither declared nor a label here", GROUT_DIAG_PTX_SYNTAX, 7, 5},
    {BODY("{ L: ret; }\n bra L;\n"), "'L' is neither declared nor a label here",
     GROUT_DIAG_PTX_SYNTAX, 8, 6},
    {BODY("@%r1 ret;\n"), "a predicate should guard the instruction", GROUT_DIAG_PTX_SYNTAX, 7, 2},
    {BODY(".reg .b32 %r<4>;\n"), "'%r' is declared already in this block", GROUT_DIAG_PTX_SYNTAX, 7,
     11},
    {BODY("mov.u32 %r1, 0x;\n"), "an operand should stand here", GROUT_DIAG_PTX_SYNTAX, 7, 14},
    {BODY("mov.u32 %r1, 0f3F8;\n"), "an operand should stand here", GROUT_DIAG_PTX_SYNTAX, 7, 14},
    {HEAD ".visible .entry k()\n{\nret;\n", "the text ends in a body: '}' is missing",
     GROUT_DIAG_PTX_SYNTAX, 7, 1},
    {".version 9.0\n.target sm_90a\n.address_size 32\n", "addresses have 64 bits",
     GROUT_DIAG_PTX_UNSUPPORTED, 3, 1},
    {HEAD ".const .b32 t[2] = {1, 2, 3};\n", "more initial contents than the 8 bytes of 't'",
     GROUT_DIAG_PTX_SYNTAX, 4, 13},
    {"", "the text ends without a '.version': is it PTX, and all of it?", GROUT_DIAG_PTX_SYNTAX, 1,
     1},
    {".version 9.0\n", "the text ends without a '.target': is it PTX, and all of it?",
     GROUT_DIAG_PTX_SYNTAX, 2, 1},
    {".version 9.\n.target sm_90a\n", "a version is two numbers, as 9.0", GROUT_DIAG_PTX_SYNTAX, 1,
     10},
    {BODY(".reg .b16 %x<1048569>;\n"), "more than 1048576 registers", GROUT_DIAG_PTX_SYNTAX, 7, 11},
    {HEAD ".global .align 3 .b8 t;\n", "an alignment is a power of two", GROUT_DIAG_PTX_SYNTAX, 4,
     18},
};

TEST_EACH(errors, COUNT_OF(error_cases)) {
    const struct error_case *c = &error_cases[_i];
    grout_diags *diags = grout_diags_new();
    ck_assert_ptr_null(parse(c->text, diags));
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_str_eq(diag->message, c->message);
    ck_assert_int_eq(diag->code, c->code);
    ck_assert_uint_eq(diag->place.line, c->line);
    ck_assert_uint_eq(diag->place.column, c->column);
    grout_diags_free(diags);
}

TEST(long_versions) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = parse(".version 10.12\n.target sm_90a\n", diags);
    grout_text out = {0};
    ck_assert_ptr_nonnull(module);
    grout_ptx_module_print(module, &out);
    ck_assert_str_eq(out.data, ".version 10.12\n.target sm_90a\n.address_size 64\n");
    grout_text_free(&out);
    grout_ptx_module_free(module);
    grout_diags_free(diags);
}

TEST(entries) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module =
        parse(HEAD ".entry a() { ret; }\n.func f() { ret; }\n.entry b() { ret; }\n", diags);
    ck_assert_ptr_nonnull(module);
    ck_assert_uint_eq(grout_ptx_module_get_entry_count(module), 2);
    ck_assert_str_eq(grout_ptx_module_get_entry_name(module, 1), "b");
    ck_assert_ptr_null(grout_ptx_module_get_entry_name(module, 2));
    ck_assert_uint_eq(grout_ptx_module_get_instruction_count(module), 3);
    grout_ptx_module_free(module);
    grout_diags_free(diags);
}

/* The limit is of a function: many may have many. */
TEST(registers_of_several_functions) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = parse(HEAD ".entry a() { .reg .b32 %r<1048576>; ret; }\n"
                                          ".entry b() { .reg .b32 %r<1048576>; ret; }\n"
                                          ".entry c() { .reg .b64 %r<1048576>; ret; }\n",
                                     diags);
    ck_assert_ptr_nonnull(module);
    grout_ptx_module_free(module);
    grout_diags_free(diags);
}

/* A word of the text that is long is shown in part. */
TEST(long_words_are_cut) {
    enum { LONG = 100000 };
    grout_text text = {0};
    grout_diags *diags = grout_diags_new();
    grout_text_add(&text, "%s.entry a() { mov.u32 %%", HEAD);
    for (uint32_t i = 0; i < LONG; i++) {
        grout_text_add(&text, "x");
    }
    grout_text_add(&text, ", 1; }\n");
    ck_assert_ptr_null(grout_ptx_parse("k.ptx", text.data, text.size, diags));
    ck_assert_uint_lt(strlen(grout_diags_get(diags, 0)->message), 200);
    grout_text_free(&text);
    grout_diags_free(diags);
}
