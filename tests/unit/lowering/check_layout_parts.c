/* check_layout_parts.c - the layouts of what slice, reshape and concatenate make, and what of it
 * goes through SMEM. SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/register_layout.h"

#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#define OBJECTS                         \
    "  scratch %s : smem f32[64, 64]\n" \
    "  scratch %acc : acc f32[64, 64]\n"

/* The layout of a kernel's value %v. */
typedef struct layout_case {
    const char *name, *params, *body;
    grout_register_layout_kind kind;
    uint32_t vec, registers;
} layout_case;

static const layout_case layout_cases[] = {
    {"rows of an accumulator", "", "%v = slice (load %acc)[ds(0, 64)]\nstore %s, %v",
     GROUT_LAYOUT_WGMMA, 1, 32},
    {"columns of an accumulator", "",
     "%v = slice (load %acc)[:, ds(56, 8)]\nstore %s[:, ds(0, 8)], %v", GROUT_LAYOUT_WGMMA, 1, 4},
    {"columns that are not its own", "",
     "%v = slice (load %acc)[:, ds(4, 8)]\nstore %s[:, ds(0, 8)], %v", GROUT_LAYOUT_STRIDED, 4, 4},
    {"what a slice is taken of for wgmma", "%x: in gmem f32[128, 64]",
     "%v = load %x\nacc_store %acc, (slice %v[ds(64, 64)])", GROUT_LAYOUT_WGMMA, 1, 64},
    {"what lies across the rows of wgmma", "%x: in gmem f32[128, 64]",
     "%v = load %x\nacc_store %acc, (slice %v[ds(32, 64)])", GROUT_LAYOUT_STRIDED, 4, 64},
    {"half of the rows that are left", "%x: in gmem f32[128, 64]",
     "%v = slice (reduce_max (load %x) dim(1))[ds(64, 64)]\nstore %s[:, 0], %v",
     GROUT_LAYOUT_WGMMA_ROW, 1, 2},
    {"half of the columns that are left", "%x: in gmem f32[64, 128]",
     "%v = slice (reduce_max (load %x) dim(0))[ds(8, 64)]\nstore %s[:, 0], %v",
     GROUT_LAYOUT_WGMMA_COL, 1, 16},
    {"a new dimension", "",
     "%v = reshape (load %acc) : f32[64, 1, 64]\nstore %s, (reshape %v : f32[64, 64])",
     GROUT_LAYOUT_WGMMA, 1, 32},
    {"a row that becomes a matrix", "",
     "%v = reshape (reduce_max (load %s) dim(1)) : f32[64, 1]\nstore %s, (broadcast %v : f32[64, "
     "64])",
     GROUT_LAYOUT_WGMMA_ROW, 1, 2},
    {"another shape", "",
     "%v = reshape (load %acc) : f32[32, 128]\nstore %s, (reshape %v : f32[64, 64])",
     GROUT_LAYOUT_STRIDED, 4, 32},
    {"rows after rows", "%y: out gmem f32[128, 64]",
     "%a = load %acc\n%v = concatenate %a, %a dim(0)\nstore %y, %v", GROUT_LAYOUT_WGMMA, 1, 64},
    {"what follows an accumulator", "%x: in gmem f32[64, 8], %y: out gmem f32[64, 72]",
     "%v = load %x\nstore %y, (concatenate (load %acc), %v dim(1))", GROUT_LAYOUT_WGMMA, 1, 4},
    {"a slice of a splat", "", "%v = slice (broadcast 1.0 : f32[64])[ds(3, 5)]", GROUT_LAYOUT_SPLAT,
     1, 1},
    {"two splats", "",
     "%v = concatenate (broadcast 1.0 : f32[64]), (broadcast 2.0 : f32[64]) dim(0)",
     GROUT_LAYOUT_STRIDED, 1, 1},
    {"one element of an array", "", "%v = slice (load %s)[ds(3, 1), ds(5, 1)]", GROUT_LAYOUT_SPLAT,
     1, 1},
};

/* What the last op of an opcode takes. */
typedef struct exchange_case {
    const char *name, *params, *body;
    grout_opcode opcode;
    int64_t bytes;
} exchange_case;

static const exchange_case exchange_cases[] = {
    {"rows of wgmma", "", "%v = slice (load %acc)[:, ds(8, 16)]", GROUT_OP_SLICE, 0},
    {"half of the rows of wgmma", "", "%v = slice (load %acc)[ds(32, 32)]", GROUT_OP_SLICE, 8192},
    {"four columns of wgmma", "", "%v = slice (load %acc)[:, ds(8, 4)]", GROUT_OP_SLICE, 1024},
    {"columns that begin at the fourth", "", "%v = slice (load %acc)[:, ds(4, 8)]", GROUT_OP_SLICE,
     2048},
    {"one element", "", "%v = slice (load %acc)[1, 2]", GROUT_OP_SLICE, 16},
    {"a row", "", "%v = slice (load %acc)[63]", GROUT_OP_SLICE, 256},
    {"all of it", "", "%v = slice (load %acc)[:]", GROUT_OP_SLICE, 0},
    {"strips that every lane has", "%x: in gmem f32[2, 512]", "%v = slice (load %x)[1]",
     GROUT_OP_SLICE, 0},
    {"strips that begin elsewhere", "%x: in gmem f32[1024]", "%v = slice (load %x)[ds(4, 512)]",
     GROUT_OP_SLICE, 2048},
    {"a slice of a splat", "", "%v = slice (broadcast 1.0 : f32[64])[ds(3, 5)]", GROUT_OP_SLICE, 0},
    {"dimensions of one", "", "%v = reshape (load %acc) : f32[1, 64, 1, 64]", GROUT_OP_RESHAPE, 0},
    {"strips of another shape", "", "%v = reshape (load %s) : f32[2, 2048]", GROUT_OP_RESHAPE, 0},
    {"wgmma of another shape", "", "%v = reshape (load %acc) : f32[2, 32, 64]", GROUT_OP_RESHAPE,
     16384},
    {"rows and other rows", "", "%v = concatenate (load %acc), (load %s) dim(0)",
     GROUT_OP_CONCATENATE, 0},
    {"a column between", "",
     "%v = concatenate (load %acc), (broadcast 1.0 : f32[64, 1]), (load %s) dim(1)",
     GROUT_OP_CONCATENATE, 33024},
    {"splats", "", "%v = concatenate (broadcast 1.0 : f32[64]), (broadcast 2.0 : f32[8]) dim(0)",
     GROUT_OP_CONCATENATE, 288},
};

/* A kernel with its layouts. */
typedef struct inferred {
    bound_text text;
    grout_register_layouts *layouts;
} inferred;

static inferred infer(const char *name, const char *params, const char *body) {
    grout_text text = {0};
    grout_text_add(&text, "kernel @k(%s) {\n%s%s\n}\n", params, OBJECTS, body);
    inferred it = {.text = bind_text(text.data, NULL, 0)};
    ck_assert_msg(it.text.bound != NULL, "%s: %s", name, get_said(it.text.diags));
    grout_text_free(&text);
    it.layouts = grout_register_layouts_infer(it.text.bound, 1, it.text.diags);
    ck_assert_msg(it.layouts != NULL, "%s: %s", name, get_said(it.text.diags));
    return it;
}

static void free_inferred(inferred *it) {
    grout_register_layouts_free(it->layouts);
    free_text(&it->text);
}

TEST_EACH(infers_layout, COUNT_OF(layout_cases)) {
    const layout_case *row = &layout_cases[_i];
    inferred it = infer(row->name, row->params, row->body);
    const grout_register_layout *found =
        grout_register_layouts_get(it.layouts, find_value(it.text.bound, "v"));
    ck_assert_msg(
        found->kind == row->kind && found->vec == row->vec && found->registers == row->registers,
        "%s: kind %u vec %u registers %u", row->name, found->kind, found->vec, found->registers);
    free_inferred(&it);
}

static grout_op_id find_last(const grout_module *module, grout_opcode opcode) {
    grout_op_id last = 0;
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        last = grout_module_get_op(module, id)->opcode == opcode ? id : last;
    }
    ck_assert_uint_ne(last, 0);
    return last;
}

TEST_EACH(counts_exchange_bytes, COUNT_OF(exchange_cases)) {
    const exchange_case *row = &exchange_cases[_i];
    inferred it = infer(row->name, row->params, row->body);
    const grout_op_id last = find_last(it.text.bound, row->opcode);
    const int64_t bytes = grout_register_layouts_get_exchange_bytes(it.layouts, last);
    ck_assert_msg(bytes == row->bytes, "%s: %ld", row->name, (long)bytes);
    free_inferred(&it);
}

/* Each register of the result is the operand's register that holds the same element. */
TEST(picks_lead_to_the_elements) {
    inferred it = infer("picks", "",
                        "%v = concatenate (slice (load %acc)[:, ds(8, 16)]), (load %s) "
                        "dim(1)");
    const grout_module *module = it.text.bound;
    const grout_op *op = grout_module_get_op(module, find_last(module, GROUT_OP_CONCATENATE));
    const grout_register_layout *to = grout_register_layouts_get(it.layouts, op->first_result);
    grout_register_pick picks[64];
    ck_assert_uint_eq(to->registers, 40);
    ck_assert(grout_register_layouts_find_picks(it.layouts, module, op, picks, it.text.diags));
    for (uint32_t i = 0; i < to->registers * GROUT_LANES; i++) {
        const uint32_t lane = i % GROUT_LANES, r = i / GROUT_LANES, k = picks[r].operand;
        const grout_value_id from = grout_module_get_operand(module, op, k)->id;
        const int64_t element = grout_register_layout_get_element(
            grout_register_layouts_get(it.layouts, from), lane, picks[r].register_index);
        const int64_t cols = k == 0 ? 16 : 64, column = element % cols + (k == 0 ? 0 : 16);
        ck_assert_int_eq(grout_register_layout_get_element(to, lane, r),
                         element / cols * 80 + column);
    }
    free_inferred(&it);
}

/* A warning where a matrix of the wgmma layout goes through SMEM, and none for rows and elements.
 */
TEST_EACH(a_cut_across_is_a_loss, 5) {
    static const char *const bodies[] = {
        "%v = slice (load %acc)[:, ds(4, 8)]", "%v = slice (load %acc)[:, ds(8, 8)]",
        "%v = slice (load %acc)[5]", "%v = slice (load %s)[:, ds(4, 8)]",
        "%v = concatenate (load %acc), (broadcast 1.0 : f32[64, 4]) dim(1)"};
    static const bool is_loss[] = {true, false, false, false, true};
    inferred it = infer(bodies[_i], "", bodies[_i]);
    ck_assert_uint_eq(grout_diags_total(it.text.diags), is_loss[_i] ? 1 : 0);
    if (is_loss[_i]) {
        ck_assert_int_eq(grout_diags_get(it.text.diags, 0)->code, GROUT_DIAG_GPU_LOSS);
    }
    free_inferred(&it);
}
