/* check_emit_layout.c - which register layouts are inferred, and how wide references are accessed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gpu_backend/layout.h"
#include "gpu_text.h"

#include <stdlib.h>

#define HEAD "const N = 256\n"

/* One kernel body around a value %v. */
typedef struct layout_case {
    const char *name, *params, *body;
    grout_gpu_layout_kind kind;
    uint32_t vec, registers;
    bool is_guarded;
} layout_case;

static const layout_case layout_cases[] = {
    {"f32 takes 4 neighbours", "%x: in gmem f32[N, 4]", "%v = load %x", GROUT_GPU_LAYOUT_STRIDED, 4,
     8, false},
    {"bf16 takes 8", "%x: in gmem bf16[N, 4]", "%v = load %x", GROUT_GPU_LAYOUT_STRIDED, 8, 8,
     false},
    {"i8 takes 16", "%x: in gmem i8[N, 16]", "%v = load %x", GROUT_GPU_LAYOUT_STRIDED, 16, 32,
     false},
    {"f64 takes 2", "%x: in gmem f64[N]", "%v = load %x", GROUT_GPU_LAYOUT_STRIDED, 2, 2, false},
    {"all lanes before wide accesses", "%x: in gmem f32[128]", "%v = load %x",
     GROUT_GPU_LAYOUT_STRIDED, 1, 1, false},
    {"a size that lanes do not divide", "%x: in gmem f32[7, 13]", "%v = load %x",
     GROUT_GPU_LAYOUT_STRIDED, 1, 1, true},
    {"the same with neighbours", "%x: in gmem f32[6, 36]", "%v = load %x", GROUT_GPU_LAYOUT_STRIDED,
     4, 4, true},
    {"one element is a scalar", "%x: in gmem f32[1, 1]", "%v = load %x", GROUT_GPU_LAYOUT_SPLAT, 1,
     1, false},
    {"a broadcast scalar", "%x: f32", "%v = broadcast %x : f32[N]", GROUT_GPU_LAYOUT_SPLAT, 1, 1,
     false},
    {"arithmetic keeps a splat", "%x: f32", "%v = add (broadcast %x : f32[N]), 1.0",
     GROUT_GPU_LAYOUT_SPLAT, 1, 1, false},
    {"a splat beside an array", "%x: in gmem f32[N, 2]",
     "%v = add (load %x), (broadcast 1.0 : f32[N, 2])", GROUT_GPU_LAYOUT_STRIDED, 4, 4, false},
    {"the widest element rules", "%x: in gmem bf16[N, 8], %y: out gmem f32[N, 8]",
     "%v = load %x store %y, (cast %v : f32)", GROUT_GPU_LAYOUT_STRIDED, 4, 16, false},
    {"a store rules like a load", "%x: in gmem i8[N, 16], %y: out gmem f64[N, 16]",
     "%v = load %x store %y, (cast %v : f64)", GROUT_GPU_LAYOUT_STRIDED, 2, 32, false},
    {"nothing but iota", "", "%v = iota dim(0) : i32[N, 4]", GROUT_GPU_LAYOUT_STRIDED, 4, 8, false},
    {"a pitch of odd elements", "%x: in gmem f32[N, 5]", "%v = load %x[:, ds(0, 4)]",
     GROUT_GPU_LAYOUT_STRIDED, 1, 8, false},
    {"a start that is not aligned", "%x: in gmem f32[4096], %n: i32", "%v = load %x[ds(%n, 512)]",
     GROUT_GPU_LAYOUT_STRIDED, 1, 4, false},
    {"a start that is", "%x: in gmem f32[4096], %n: i32", "%v = load %x[ds(%n * 4, 512)]",
     GROUT_GPU_LAYOUT_STRIDED, 4, 4, false},
    {"only half aligned", "%x: in gmem f32[4096], %n: i32", "%v = load %x[ds(%n * 4 + 2, 512)]",
     GROUT_GPU_LAYOUT_STRIDED, 2, 4, false},
    {"a transposed view has no neighbours", "%x: in gmem f32[32, 32]",
     "%v = load %x.transpose(1, 0)", GROUT_GPU_LAYOUT_STRIDED, 1, 8, false},
    {"unless another reference has", "%x: in gmem f32[32, 32], %y: out gmem f32[32, 32]",
     "%v = load %x.transpose(1, 0) store %y, %v", GROUT_GPU_LAYOUT_STRIDED, 4, 8, false},
    {"a carry takes its yield's layout", "%x: in gmem f32[N, 2]",
     "%v = for %i in 0..3 carry(%c = (broadcast 0.0 : f32[N, 2])) { yield (add %c, (load %x)) }",
     GROUT_GPU_LAYOUT_STRIDED, 4, 4, false},
    {"a carry of splats", "%x: f32",
     "%v = for %i in 0..3 carry(%c = (broadcast 0.0 : f32[N, 2])) { yield (add %c, %x) }",
     GROUT_GPU_LAYOUT_SPLAT, 1, 1, false},
    {"a branch with one array", "%x: in gmem f32[N, 2], %n: i32",
     "%v = if (gt %n, 0) { yield (load %x) } else { yield (broadcast 0.0 : f32[N, 2]) }",
     GROUT_GPU_LAYOUT_STRIDED, 4, 4, false},
    {"a broadcast of a row", "%x: in gmem f32[1, 64]", "%v = broadcast (load %x) : f32[16, 64]",
     GROUT_GPU_LAYOUT_STRIDED, 4, 8, false},
};

static grout_value_id find_value(const grout_module *module, const char *name) {
    for (grout_value_id id = 1; id < grout_module_get_value_count(module); id++) {
        const grout_value *value = grout_module_get_value(module, id);
        if (strcmp(grout_module_get_string(module, value->name), name) == 0) {
            return id;
        }
    }
    return 0;
}

/* Statements stand one a line; in the table they stand behind each other. */
static void add_statements(grout_text *text, const char *body) {
    for (const char *p = body; *p != '\0'; p++) {
        const bool is_store = strncmp(p, " store ", 7) == 0;
        grout_text_add(text, "%s%c", is_store ? "\n" : "", *p);
        if (*p == '{' || (*p == ' ' && p[1] == '}')) {
            grout_text_add(text, "\n");
        }
    }
}

START_TEST(infers_layout) {
    const layout_case *row = &layout_cases[_i];
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_text_add(&text, HEAD "kernel @k(%s) {\n", row->params);
    add_statements(&text, row->body);
    grout_text_add(&text, "\n}\n");
    grout_module *module = bind_text(row->name, text.data, diags);
    int64_t exchange = 0;
    grout_gpu_layout *layouts = grout_gpu__infer_layouts(module, 1, &exchange, diags);
    ck_assert_ptr_nonnull(layouts);
    const grout_gpu_layout *found = &layouts[find_value(module, "v")];
    ck_assert_msg(found->kind == row->kind && found->vec == row->vec &&
                      found->registers == row->registers && found->is_guarded == row->is_guarded,
                  "%s: kind %u vec %u registers %u guarded %d", row->name, found->kind, found->vec,
                  found->registers, found->is_guarded);
    free(layouts);
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}
END_TEST

/* How wide the first load's reference may be accessed. */
typedef struct width_case {
    const char *name, *object, *reference;
    uint32_t width;
} width_case;

static const width_case width_cases[] = {
    {"plain", "smem f32[16, 64]", "%s", 4},
    {"a row", "smem f32[16, 64]", "%s[%n]", 4},
    {"a column", "smem f32[16, 64]", "%s[:, %n]", 1},
    {"part of a row", "smem f32[16, 64]", "%s[%n, ds(8, 16)]", 4},
    {"two rows, not aligned", "smem f32[16, 64]", "%s[ds(0, 2), ds(%n, 8)]", 1},
    {"rows of 3 together", "smem f32[16, 3]", "%s", 4},
    {"rows of 3 from anywhere", "smem f32[16, 3]", "%s[ds(%n, 4)]", 1},
    {"rows of 6 from anywhere", "smem f32[16, 6]", "%s[ds(%n, 4)]", 2},
    {"a transposed array", "smem f32[16, 64] transpose(1, 0)", "%s", 1},
    {"a transposed array, transposed back", "smem f32[16, 64] transpose(1, 0)",
     "%s.transpose(1, 0)", 4},
    {"tiles with a swizzle", "smem bf16[32, 128] tile(8, 64) swizzle(128)", "%s", 8},
    {"one tile column", "smem bf16[32, 128] tile(8, 64) swizzle(128)", "%s[:, ds(%n * 64, 64)]", 8},
    {"narrow tiles", "smem f32[8, 8] tile(4, 2)", "%s", 2},
    {"bytes", "smem u8[64, 64]", "%s", 16},
    {"a scalar", "smem f32[64]", "%s[3]", 1},
    {"size 1 in between", "smem f32[16, 1, 4]", "%s", 4},
};

static bool find_load(const grout_module *module, grout_view *view) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        if (op->opcode == GROUT_OP_LOAD) {
            return grout_module_get_view(module, grout_module_get_operand(module, op, 0), view);
        }
    }
    return false;
}

START_TEST(finds_access_width) {
    const width_case *row = &width_cases[_i];
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_view view;
    grout_text_add(&text, "kernel @k(%%n: i32) {\n  scratch %%s : %s\n  %%v = load %s\n}\n",
                   row->object, row->reference);
    grout_module *module = bind_text(row->name, text.data, diags);
    ck_assert(find_load(module, &view));
    const uint32_t width = grout_gpu__get_access_width(module, &view);
    ck_assert_msg(width == row->width, "%s: %u", row->name, width);
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}
END_TEST

/* Counts in held how often each element is; returns how many registers hold none. */
static int64_t count_held(const grout_gpu_layout *layout, unsigned char *held) {
    int64_t behind = 0;
    for (uint32_t k = 0; k < GROUT_GPU_LANES * layout->registers; k++) {
        const uint32_t lane = k % GROUT_GPU_LANES, reg = k / GROUT_GPU_LANES;
        const uint32_t flat =
            (reg / layout->vec * GROUT_GPU_LANES + lane) * layout->vec + reg % layout->vec;
        if (flat < layout->count) {
            held[flat]++;
        } else {
            behind++;
        }
    }
    return behind;
}

/* Every element of a strided layout is held once, in whatever size. */
START_TEST(strided_layouts_hold_each_element_once) {
    static unsigned char held[3000];
    const int64_t count = 1 + _i * 37;
    for (uint32_t vec = 1; vec <= 16; vec *= 2) {
        const grout_gpu_layout layout = grout_gpu__make_strided(count, vec);
        memset(held, 0, sizeof held);
        const int64_t behind = count_held(&layout, held);
        for (int64_t k = 0; k < count; k++) {
            ck_assert_uint_eq(held[k], 1);
        }
        ck_assert(layout.is_guarded == (behind > 0));
        ck_assert(count % layout.vec == 0);
    }
}
END_TEST

START_TEST(too_large_an_array_is_refused) {
    grout_diags *diags = grout_diags_new();
    int64_t exchange = 0;
    grout_module *module =
        bind_text("large", "kernel @k(%x: in gmem f32[1024, 1024]) {\n  %v = load %x\n}\n", diags);
    ck_assert_ptr_null(grout_gpu__infer_layouts(module, 1, &exchange, diags));
    const grout_diag *diag = grout_diags_get(diags, grout_diags_count(diags) - 1);
    ck_assert_int_eq(diag->code, GROUT_DIAG_GPU_UNSUPPORTED);
    ck_assert_uint_eq(diag->place.line, 2);
    ck_assert_uint_eq(diag->note_count, 1);
    grout_module_free(module);
    grout_diags_free(diags);
}
END_TEST

int main(void) {
    TCase *tcase = tcase_create("emit_layout");
    tcase_add_loop_test(tcase, infers_layout, 0,
                        (int)(sizeof layout_cases / sizeof layout_cases[0]));
    tcase_add_loop_test(tcase, finds_access_width, 0,
                        (int)(sizeof width_cases / sizeof width_cases[0]));
    tcase_add_loop_test(tcase, strided_layouts_hold_each_element_once, 0, 80);
    tcase_add_test(tcase, too_large_an_array_is_refused);
    return run_suite(tcase, "emit_layout");
}
