/* check_tma_plan.c - TMA plans run by a model of the instruction, against the layout's offsets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

/* A copy of a whole SMEM object or slot; code: why there is no plan. */
typedef struct plan_case {
    const char *name;
    const char *gmem; /* type of the array */
    const char *smem; /* the object */
    const char *source, *destination;
    grout_diag_code code;
    uint8_t rank;
    uint32_t panels, bands;
    uint32_t box_bytes;
} plan_case;

static const plan_case plan_cases[] = {
    {"rows", "f32[64, 64]", "f32[32, 64]", "%a[ds(%i, 32), ds(%j, 64)]", "%s", 0, 2, 1, 1, 8192},
    {"one row", "f32[64, 64]", "f32[64]", "%a[%i]", "%s", 0, 2, 1, 1, 256},
    {"vector", "bf16[1024]", "bf16[256]", "%a[ds(%i, 256)]", "%s", 0, 1, 1, 1, 512},
    {"slot", "f32[64, 64]", "f32[3, 32, 64]", "%a[ds(0, 32)]", "%s[%i]", 0, 2, 1, 1, 8192},
    {"rows of a slot", "f32[64, 64]", "f32[3, 32, 64]", "%a[ds(0, 8)]", "%s[%i, ds(8, 8)]", 0, 2, 1,
     1, 2048},
    {"three dimensions", "f16[4, 16, 64]", "f16[2, 8, 64]", "%a[ds(1, 2), ds(%i, 8)]", "%s", 0, 3,
     1, 1, 2048},
    {"unit dimensions", "f32[1, 64, 1, 32, 1]", "f32[1, 16, 1, 32, 1]", "%a[:, ds(0, 16)]", "%s", 0,
     2, 1, 1, 2048},
    {"batch", "f32[8, 64, 64]", "f32[32, 64]", "%a[%j, ds(%i, 32)]", "%s", 0, 3, 1, 1, 8192},
    {"swizzle 128", "bf16[64, 64]", "bf16[32, 64] tile(8, 64) swizzle(128)", "%a[ds(%i, 32)]", "%s",
     0, 2, 1, 1, 4096},
    {"swizzle 64", "bf16[64, 32]", "bf16[32, 32] tile(8, 32) swizzle(64)", "%a[ds(%i, 32)]", "%s",
     0, 2, 1, 1, 2048},
    {"swizzle 32", "f32[64, 8]", "f32[32, 8] tile(8, 8) swizzle(32)", "%a[ds(%i, 32)]", "%s", 0, 2,
     1, 1, 1024},
    {"swizzle without tile", "u8[64, 128]", "u8[32, 128] swizzle(128)", "%a[ds(%i, 32)]", "%s", 0,
     2, 1, 1, 4096},
    {"atom grid", "bf16[64, 256]", "bf16[32, 192] tile(8, 64) swizzle(128)",
     "%a[ds(%i, 32), ds(%j, 192)]", "%s", 0, 2, 3, 4, 1024},
    {"atom grid in a slot", "f32[64, 64]", "f32[2, 16, 64] tile(8, 32) swizzle(128)",
     "%a[ds(%i, 16)]", "%s[1]", 0, 3, 1, 2, 2048},
    {"part of an atom grid", "bf16[64, 256]", "bf16[64, 128] tile(8, 64) swizzle(128)",
     "%a[ds(%i, 16), ds(%j, 128)]", "%s[ds(8, 16)]", 0, 2, 2, 2, 1024},
    {"panels", "bf16[32, 256]", "bf16[32, 192] tile(32, 64) swizzle(128)", "%a[:, ds(%j, 192)]",
     "%s", 0, 2, 3, 1, 4096},
    {"tiles without swizzle", "f32[64, 64]", "f32[16, 32] tile(8, 16)",
     "%a[ds(%i, 16), ds(%j, 32)]", "%s", 0, 2, 2, 2, 512},
    {"swizzled vector", "f32[1024]", "f32[256] tile(32) swizzle(128)", "%a[ds(%i, 256)]", "%s", 0,
     1, 8, 1, 128},
    {"outer dimensions exchanged", "f32[4, 16, 64]", "f32[4, 8, 64] transpose(1, 0, 2)",
     "%a[:, ds(%i, 8)]", "%s", 0, 3, 1, 1, 8192},
    {"view of the array transposed", "f32[4, 16, 64]", "f32[16, 4, 64]", "%a.transpose(1, 0, 2)",
     "%s", 0, 3, 1, 1, 16384},
    {"both transposed", "f32[16, 64]", "f32[64, 16] transpose(1, 0)", "%a.transpose(1, 0)", "%s", 0,
     2, 1, 1, 4096},
    {"single row of any pitch", "f32[1, 30]", "f32[1, 32]", "%a[:, ds(0, 32)]", "%s", 0, 1, 1, 1,
     128},
    {"row of any pitch that moves", "f32[1, 30]", "f32[1, 32]", "%a[ds(%i, 1), ds(0, 32)]", "%s", 0,
     2, 1, 1, 128},
    {"box beyond the array", "f32[20, 40]", "f32[32, 64]", "%a[ds(0, 32), ds(0, 64)]", "%s", 0, 2,
     1, 1, 8192},
    /* operands of a matrix multiply */
    {"rows of the swizzle", "bf16[512, 512]", "bf16[4, 128, 64] tile(8, 64) swizzle(128)",
     "%a[ds(%i, 128), ds(%j, 64)]", "%s[%i]", 0, 2, 1, 1, 16384},
    {"atoms of four panels", "bf16[512, 512]", "bf16[4, 64, 256] tile(8, 64) swizzle(128)",
     "%a[ds(%i, 64), ds(%j, 256)]", "%s[%i]", 0, 2, 4, 8, 1024},
    {"four panels", "bf16[512, 512]", "bf16[4, 64, 256] tile(64, 64) swizzle(128)",
     "%a[ds(%i, 64), ds(%j, 256)]", "%s[%i]", 0, 2, 4, 1, 8192},
    {"panels of all rows", "f16[512, 512]", "f16[4, 128, 128] tile(128, 64) swizzle(128)",
     "%a[ds(%i, 128), ds(%j, 128)]", "%s[3]", 0, 2, 2, 1, 16384},
    {"panels of 64 rows", "bf16[512, 512]", "bf16[4, 128, 128] tile(64, 64) swizzle(128)",
     "%a[ds(%i, 128), ds(%j, 128)]", "%s[%i]", 0, 2, 2, 2, 8192},
    {"one of the panels of 64 rows", "bf16[512, 512]",
     "bf16[4, 128, 128] tile(64, 64) swizzle(128)", "%a[ds(%i, 64), ds(%j, 128)]",
     "%s[1, ds(64, 64)]", 0, 2, 2, 1, 8192},
    {"panels of swizzle 64", "bf16[512, 512]", "bf16[2, 64, 64] tile(64, 32) swizzle(64)",
     "%a[ds(%i, 64), ds(%j, 64)]", "%s[%i]", 0, 2, 2, 1, 4096},
    {"panels of swizzle 32", "f32[512, 512]", "f32[2, 64, 16] tile(64, 8) swizzle(32)",
     "%a[ds(%i, 64), ds(%j, 16)]", "%s[%i]", 0, 2, 2, 1, 2048},
    /* where the tiles of the array are known to be whole, loops become dimensions */
    {"atoms of whole tiles", "bf16[512, 512]", "bf16[4, 64, 256] tile(8, 64) swizzle(128)",
     "%a[ds(%i * 64, 64), ds(%j * 256, 256)]", "%s[%i]", 0, 4, 1, 1, 32768},
    {"panels of whole tiles", "bf16[512, 512]", "bf16[4, 64, 256] tile(64, 64) swizzle(128)",
     "%a[ds(%i, 64), ds(%j * 64, 256)]", "%s[%i]", 0, 3, 1, 1, 32768},
    {"whole panels, rows anywhere", "bf16[512, 512]", "bf16[4, 64, 256] tile(8, 64) swizzle(128)",
     "%a[ds(%i, 64), ds(%j * 64, 256)]", "%s[%i]", 0, 3, 1, 8, 4096},
    {"whole rows, panels anywhere", "bf16[512, 512]", "bf16[4, 64, 256] tile(8, 64) swizzle(128)",
     "%a[ds(%i * 8, 64), ds(%j * 32, 256)]", "%s[%i]", 0, 2, 4, 8, 1024},
    {"an array of parts of tiles", "bf16[500, 480]", "bf16[4, 64, 256] tile(8, 64) swizzle(128)",
     "%a[ds(%i * 64, 64), ds(%j * 64, 256)]", "%s[%i]", 0, 2, 4, 8, 1024},
    {"an array of parts of rows of tiles", "bf16[500, 512]",
     "bf16[4, 64, 256] tile(8, 64) swizzle(128)", "%a[ds(%i * 64, 64), ds(%j * 64, 256)]", "%s[%i]",
     0, 3, 1, 8, 4096},
    {"no room for the last loop", "bf16[2, 2, 512, 512]", "bf16[64, 256] tile(8, 64) swizzle(128)",
     "%a[%i, %j, ds(%i * 64, 64), ds(%j * 64, 256)]", "%s", 0, 5, 1, 8, 4096},
    {"core matrices of whole tiles", "bf16[512, 512]", "bf16[2, 64, 64] tile(8, 8)",
     "%a[ds(%i * 64, 64), ds(%j * 64, 64)]", "%s[%i]", 0, 4, 1, 1, 8192},
    {"more tiles than a box takes", "u8[8192, 16]", "u8[4104, 16] tile(8, 16)", "%a[ds(0, 4104)]",
     "%s", GROUT_DIAG_TMA_BOX, 0, 0, 0, 0},
    {"core matrices", "bf16[512, 512]", "bf16[2, 64, 64] tile(8, 8)", "%a[ds(%i, 64), ds(%j, 64)]",
     "%s[%i]", 0, 2, 8, 8, 128},
    {"columns of core matrices", "bf16[512, 512]", "bf16[2, 64, 64] tile(64, 8)",
     "%a[ds(%i, 64), ds(%j, 64)]", "%s[%i]", 0, 2, 8, 1, 1024},
    {"columns kept together", "bf16[512, 512]",
     "bf16[2, 64, 128] transpose(0, 2, 1) tile(128, 64) swizzle(128)",
     "%a.transpose(1, 0)[ds(%i, 64), ds(%j, 128)]", "%s[%i]", 0, 2, 1, 1, 16384},
    {"box 256", "u8[256, 256]", "u8[256, 256]", "%a", "%s", 0, 2, 1, 1, 65536},
    {"box 257", "u8[257, 16]", "u8[257, 16]", "%a", "%s", GROUT_DIAG_TMA_BOX, 0, 0, 0, 0},
    {"six dimensions", "u8[2, 2, 2, 2, 2, 128]", "u8[2, 2, 2, 2, 2, 128]", "%a", "%s",
     GROUT_DIAG_TMA_BOX, 0, 0, 0, 0},
    {"five dimensions", "u8[2, 2, 2, 2, 128]", "u8[128]", "%a[1, 1, 1, 1]", "%s", 0, 5, 1, 1, 128},
    {"inner 8 bytes", "f32[64, 64]", "f32[32, 2]", "%a[ds(0, 32), ds(0, 2)]", "%s",
     GROUT_DIAG_TMA_INNER_BYTES, 0, 0, 0, 0},
    {"one element", "f32[64, 64]", "f32[1, 1]", "%a[ds(0, 1), ds(0, 1)]", "%s",
     GROUT_DIAG_TMA_INNER_BYTES, 0, 0, 0, 0},
    {"pitch", "f32[64, 30]", "f32[32, 28]", "%a[ds(0, 32), ds(0, 28)]", "%s", GROUT_DIAG_TMA_PITCH,
     0, 0, 0, 0},
    {"transposed", "f32[32, 32]", "f32[32, 32] transpose(1, 0)", "%a", "%s", GROUT_DIAG_TMA_LAYOUT,
     0, 0, 0, 0},
    {"part of rows", "f32[32, 32]", "f32[32, 64]", "%a", "%s[:, ds(0, 32)]", GROUT_DIAG_TMA_LAYOUT,
     0, 0, 0, 0},
    {"small slots", "f32[8, 12]", "f32[2, 12]", "%a[0]", "%s[%i]", GROUT_DIAG_TMA_LAYOUT, 0, 0, 0,
     0},
    {"small slot, constant", "f32[8, 12]", "f32[2, 12]", "%a[0]", "%s[1]", GROUT_DIAG_TMA_LAYOUT, 0,
     0, 0, 0},
    {"small tiles", "f32[8, 8]", "f32[8, 8] tile(4, 4)", "%a", "%s", 0, 4, 1, 1, 256},
    {"small tiles, anywhere", "f32[8, 16]", "f32[8, 8] tile(4, 4)", "%a[:, ds(%i, 8)]", "%s",
     GROUT_DIAG_TMA_LAYOUT, 0, 0, 0, 0},
    /* what lies around the tiles is a dimension after theirs */
    {"tiles in three dimensions", "f32[8, 16, 64]", "f32[4, 16, 64] tile(2, 8, 32) swizzle(128)",
     "%a[ds(0, 4)]", "%s", 0, 5, 1, 2, 8192},
    {"atoms of slots", "f32[3, 64, 128]", "f32[2, 64, 128] tile(8, 32) swizzle(128)",
     "%a[ds(%i, 2)]", "%s", 0, 5, 1, 1, 65536},
    {"atoms of slots, rows anywhere", "f32[3, 64, 128]", "f32[2, 32, 128] tile(8, 32) swizzle(128)",
     "%a[ds(0, 2), ds(%i, 32)]", "%s", GROUT_DIAG_TMA_LAYOUT, 0, 0, 0, 0},
    {"panels of slots", "f32[3, 64, 128]", "f32[2, 32, 128] tile(32, 32) swizzle(128)",
     "%a[ds(1, 2), ds(%i, 32)]", "%s", 0, 4, 1, 1, 32768},
    {"tiles of one row, and slots", "f32[4, 8, 128]", "f32[4, 8, 128] tile(2, 1, 32)", "%a", "%s",
     0, 5, 1, 1, 16384},
    {"tiles of unit dimensions", "f32[2, 64, 1, 1, 1, 1, 128]",
     "f32[2, 64, 1, 1, 1, 1, 128] tile(2, 1, 1, 1, 1, 1, 32)", "%a", "%s", 0, 4, 1, 1, 65536},
    {"tiles of rows side by side", "f16[2, 64, 2, 64]",
     "f16[2, 64, 2, 64] tile(8, 1, 64) swizzle(128)", "%a", "%s", 0, 5, 1, 1, 32768},
    {"atoms of slots of many", "f32[2, 3, 4, 8, 64]", "f32[4, 8, 64] tile(8, 32) swizzle(128)",
     "%a[%i, 1]", "%s", 0, 5, 1, 1, 8192},
    {"atoms of slots of too many", "f32[2, 3, 4, 64, 64]",
     "f32[3, 4, 64, 64] tile(8, 32) swizzle(128)", "%a[%i]", "%s", GROUT_DIAG_TMA_LAYOUT, 0, 0, 0,
     0},
    {"slices of one", "u8[2, 3, 2, 2, 2, 128]", "u8[1, 1, 1, 2, 2, 128]",
     "%a[ds(%i, 1), ds(2, 1), ds(%j, 1)]", "%s", 0, 4, 1, 1, 512},
};

static bound_text bind_copy(const plan_case *c) {
    char source[1024];
    snprintf(source, sizeof source,
             "kernel @k(%%a: in gmem %s, %%i: i32, %%j: i32) {\n  scratch %%s : smem %s\n"
             "  scratch %%bar : barrier[1]\n  copy_gmem_to_smem %s, %s, %%bar[0]\n}\n",
             c->gmem, c->smem, c->source, c->destination);
    bound_text text = bind_text(source, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s: %s", c->name, get_said(text.diags));
    return text;
}

/* Where instruction (band, panel) writes element at of its box: docs/hardware.md 1.1 and 2.2. */
static int64_t model_write(const grout_tma *tma, const int64_t *at, int64_t base) {
    int64_t pitch = tma->box[0] * tma->element_bytes;
    int64_t row = 0;
    if (tma->swizzle > pitch) {
        pitch = tma->swizzle;
    }
    for (uint32_t k = tma->rank; k-- > 1;) {
        row = row * tma->box[k] + at[k];
    }
    int64_t address = base + row * pitch + at[0] * tma->element_bytes;
    int64_t mask = tma->swizzle == 0 ? 0 : (int64_t)tma->swizzle / 16 - 1;
    return address ^ ((address >> 7 & mask) << 4);
}

/* Runs all instructions; each element of the view has to be written once, where the layout has it.
 */
static int64_t run_plan(const grout_module *module, const grout_tma *tma, const grout_view *gmem,
                        const grout_view *smem) {
    const grout_layout *layout = grout_object_get_layout(module, smem->object);
    grout_layout unswizzled = *layout;
    unswizzled.swizzle = 0;
    int64_t base = grout_layout_get_offset(&unswizzled, smem->start_const), count = 0;
    for (uint32_t part = 0; part < tma->panel_count * tma->band_count; part++) {
        uint32_t panel = part % tma->panel_count, band = part / tma->panel_count;
        int64_t at[5] = {0};
        bool more = true;
        while (more) {
            /* the element in the view of GMEM, by object dimension, and the same in SMEM */
            int64_t element[GROUT_RANK_MAX] = {0}, index[GROUT_RANK_MAX];
            for (uint32_t k = 0; k < tma->rank; k++) {
                element[tma->object_dim[k]] += at[k] * (tma->steps[k] == 0 ? 1 : tma->steps[k]);
            }
            element[tma->object_dim[0]] += panel * tma->panel_elements;
            element[tma->object_dim[tma->band_dim]] += band * tma->band_elements;
            memcpy(index, smem->start_const, sizeof index);
            for (uint32_t k = 0; k < smem->view_rank; k++) {
                index[smem->view_dim[k]] += element[gmem->view_dim[k]];
            }
            int64_t address =
                model_write(tma, at, base + panel * tma->panel_bytes + band * tma->band_bytes);
            if (address != grout_layout_get_offset(layout, index)) {
                return -1;
            }
            count++;
            more = false;
            for (uint32_t k = 0; k < tma->rank && !more; k++) {
                more = ++at[k] < tma->box[k];
                at[k] = more ? at[k] : 0;
            }
        }
    }
    return count;
}

TEST_EACH(plans, COUNT_OF(plan_cases)) {
    const plan_case *c = &plan_cases[_i];
    bound_text text = bind_copy(c);
    grout_op_id id = find_op(text.bound, GROUT_OP_COPY_GMEM_TO_SMEM, 0);
    grout_tma tma, again;
    bool ok = grout_tma_plan(text.bound, id, &tma, text.diags);
    ck_assert_msg(get_code(text.diags) == c->code, "%s: %s", c->name, get_said(text.diags));
    ck_assert_int_eq(ok, c->code == GROUT_DIAG_NONE);
    ck_assert_int_eq(grout_tma_plan(text.bound, id, &again, NULL), ok);
    if (ok) {
        ck_assert_uint_eq(tma.rank, c->rank);
        ck_assert_uint_eq(tma.panel_count, c->panels);
        ck_assert_uint_eq(tma.band_count, c->bands);
        ck_assert_uint_eq(tma.box_bytes, c->box_bytes);
        const grout_op *op = grout_module_get_op(text.bound, id);
        grout_view gmem, smem;
        ck_assert(
            grout_module_get_view(text.bound, grout_module_get_operand(text.bound, op, 0), &gmem));
        ck_assert(
            grout_module_get_view(text.bound, grout_module_get_operand(text.bound, op, 1), &smem));
        grout_type type =
            grout_module_get_operand_type(text.bound, grout_module_get_operand(text.bound, op, 1));
        ck_assert_msg(run_plan(text.bound, &tma, &gmem, &smem) == grout_type_get_count(&type), "%s",
                      c->name);
        for (uint32_t k = 1; k < tma.rank; k++) {
            ck_assert_int_eq(tma.strides[k] % 16, 0);
        }
        ck_assert_int_eq(tma.strides[0], tma.element_bytes);
    }
    free_text(&text);
}

/* A store has the same plan as a load. */
TEST(store) {
    bound_text text = bind_text("kernel @k(%a: out gmem bf16[64, 256]) {\n"
                                "  scratch %s : smem bf16[32, 128] tile(8, 64) swizzle(128)\n"
                                "  copy_smem_to_gmem %s, %a[ds(0, 32), ds(0, 128)]\n}\n",
                                NULL, 0);
    grout_tma tma;
    ck_assert(grout_tma_plan(text.bound, find_op(text.bound, GROUT_OP_COPY_SMEM_TO_GMEM, 0), &tma,
                             text.diags));
    const int64_t dims[] = {64, 8, 4, 8}, strides[] = {2, 512, 128, 4096}, steps[] = {0, 0, 64, 8};
    const uint8_t object_dims[] = {1, 0, 1, 0};
    ck_assert_uint_eq(tma.panel_count, 1);
    ck_assert_uint_eq(tma.band_count, 1);
    ck_assert_uint_eq(tma.rank, 4);
    for (uint32_t k = 0; k < tma.rank; k++) {
        ck_assert_int_eq(tma.dims[k], dims[k]);
        ck_assert_int_eq(tma.strides[k], strides[k]);
        ck_assert_int_eq(tma.steps[k], steps[k]);
        ck_assert_uint_eq(tma.object_dim[k], object_dims[k]);
    }
    free_text(&text);
}

/* Dimensions that are indexed away, of an array that has too many: one, as large as their indices
 * reach. */
TEST(folded) {
    bound_text text = bind_text("kernel @k(%a: in gmem i32[2, 3, 4, 2, 5, 5, 16], %i: i32) {\n"
                                "  scratch %s : smem i32[4, 5, 16]\n"
                                "  scratch %bar : barrier[1]\n"
                                "  copy_gmem_to_smem %a[%i, 2, :, 1, 3], %s, %bar[0]\n}\n",
                                NULL, 0);
    grout_tma tma;
    ck_assert(grout_tma_plan(text.bound, find_op(text.bound, GROUT_OP_COPY_GMEM_TO_SMEM, 0), &tma,
                             text.diags));
    const int64_t dims[] = {16, 5, 4, (2 - 1) * 120 + (3 - 1) * 40 + (2 - 1) * 5 + (5 - 1) + 1};
    const int64_t strides[] = {4, 64, 3200, 320}, steps[] = {120, 40, 5, 1};
    const uint8_t fold_dims[] = {0, 1, 3, 4};
    ck_assert_uint_eq(tma.rank, 4);
    ck_assert_uint_eq(tma.fold_count, 4);
    for (uint32_t k = 0; k < 4; k++) {
        ck_assert_int_eq(tma.dims[k], dims[k]);
        ck_assert_int_eq(tma.strides[k], strides[k]);
        ck_assert_int_eq(tma.fold_steps[k], steps[k]);
        ck_assert_uint_eq(tma.fold_dims[k], fold_dims[k]);
    }
    ck_assert_int_eq(tma.box[3], 1);
    ck_assert_uint_eq(tma.box_bytes, UINT64_C(4) * 5 * 16 * 4);
    free_text(&text);
}

/* Which copies take no tensor map. code: why it has no plan, as a bulk copy or as a box. */
typedef struct bulk_case {
    const char *name, *gmem, *smem, *source, *destination, *attrs;
    grout_diag_code code;
    bool is_bulk;
    uint32_t bytes;
} bulk_case;

static const bulk_case bulk_cases[] = {
    {"long", "f32[4096]", "f32[2048]", "%a[ds(%i, 2048)]", "%s", "oob(in_bounds)", 0, true, 8192},
    {"without a promise", "f32[4096]", "f32[2048]", "%a[ds(%i, 2048)]", "%s", "",
     GROUT_DIAG_TMA_BOX, false, 0},
    {"zeros", "f32[4096]", "f32[2048]", "%a[ds(%i, 2048)]", "%s", "oob(zero)", GROUT_DIAG_TMA_BOX,
     false, 0},
    {"nan", "f32[4096]", "f32[256]", "%a[ds(%i, 256)]", "%s", "oob(nan)", 0, false, 1024},
    {"undefined", "f32[4096]", "f32[2048]", "%a[ds(%i, 2048)]", "%s", "oob(undefined)", 0, true,
     8192},
    {"undefined, an array of any size", "f32[4097]", "f32[256]", "%a[ds(%i, 256)]", "%s",
     "oob(undefined)", 0, false, 1024},
    {"undefined, multicast", "f32[4096]", "f32[256]", "%a[ds(%i, 256)]", "%s",
     "oob(undefined) multicast(x)", 0, false, 1024},
    {"multicast", "f32[4096]", "f32[256]", "%a[ds(%i, 256)]", "%s", "oob(in_bounds) multicast(x)",
     0, true, 1024},
    {"collective", "f32[4096]", "f32[256]", "%a[ds(%i, 256)]", "%s",
     "oob(in_bounds) collective_axes(x)", 0, false, 512},
    {"whole rows", "f32[64, 5]", "f32[8, 5]", "%a[ds(%i, 8)]", "%s", "oob(in_bounds)", 0, true,
     160},
    {"parts of rows", "f32[64, 64]", "f32[8, 32]", "%a[ds(%i, 8), ds(0, 32)]", "%s",
     "oob(in_bounds)", 0, false, 1024},
    {"part of one row", "f32[64, 64]", "f32[32]", "%a[%i, ds(%j, 32)]", "%s", "oob(in_bounds)", 0,
     true, 128},
    {"a slice of planes", "f32[8, 4, 12]", "f32[2, 4, 12]", "%a[ds(%i, 2)]", "%s", "oob(in_bounds)",
     0, true, 384},
    {"rows of planes", "f32[8, 4, 12]", "f32[2, 2, 12]", "%a[ds(%i, 2), ds(0, 2)]", "%s",
     "oob(in_bounds)", 0, false, 192},
    {"swizzled", "bf16[64, 64]", "bf16[8, 64] tile(8, 64) swizzle(128)", "%a[ds(%i, 8)]", "%s",
     "oob(in_bounds)", 0, false, 1024},
    {"tiled", "bf16[64, 64]", "bf16[8, 64] tile(8, 32)", "%a[ds(%i, 8)]", "%s", "oob(in_bounds)", 0,
     false, 1024},
    {"a tile as long as the rows", "bf16[64, 64]", "bf16[16, 64] tile(8, 64)", "%a[ds(%i, 16)]",
     "%s", "oob(in_bounds)", 0, true, 2048},
    {"transposed in smem", "f32[16, 16]", "f32[16, 16] transpose(1, 0)", "%a", "%s",
     "oob(in_bounds)", GROUT_DIAG_TMA_LAYOUT, false, 0},
    {"both transposed", "f32[16, 16]", "f32[16, 16] transpose(1, 0)", "%a.transpose(1, 0)", "%s",
     "oob(in_bounds)", 0, false, 1024},
    {"one unit", "u8[64]", "u8[16]", "%a[ds(16, 16)]", "%s", "oob(in_bounds)", 0, true, 16},
    {"half a unit", "u8[64]", "u8[8]", "%a[ds(16, 8)]", "%s", "oob(in_bounds)",
     GROUT_DIAG_TMA_INNER_BYTES, false, 0},
    {"a start between", "u8[64]", "u8[16]", "%a[ds(8, 16)]", "%s", "oob(in_bounds)",
     GROUT_DIAG_BAD_INDEX, true, 0},
    {"a start between rows", "f32[8, 5]", "f32[4, 5]", "%a[ds(3, 4)]", "%s", "oob(in_bounds)",
     GROUT_DIAG_BAD_INDEX, true, 0},
    {"slots of 16 bytes", "f32[64]", "f32[3, 4]", "%a[ds(%i, 4)]", "%s[%j]", "oob(in_bounds)", 0,
     true, 16},
    {"slots of 24 bytes", "f32[64]", "f32[3, 6]", "%a[ds(%i, 4)]", "%s[%j, ds(0, 4)]",
     "oob(in_bounds)", GROUT_DIAG_TMA_LAYOUT, true, 0},
    {"seven dimensions", "u8[2, 2, 2, 2, 2, 2, 16]", "u8[2, 16]", "%a[0, 1, %i, 1, 1]", "%s",
     "oob(in_bounds)", 0, true, 32},
};

TEST_EACH(bulk, COUNT_OF(bulk_cases)) {
    const bulk_case *c = &bulk_cases[_i];
    const bool is_explicit = strstr(c->attrs, "multicast") != NULL;
    char kernel[1024];
    snprintf(kernel, sizeof kernel,
             "kernel @k(%%a: in gmem %s, %%i: i32, %%j: i32) cluster(x = 2) {\n"
             "  scratch %%s : smem %s\n  scratch %%b : %s[1]\n"
             "  copy_gmem_to_smem %s, %s, %%b[0] %s\n}\n",
             c->gmem, c->smem, is_explicit ? "mbarrier" : "barrier", c->source, c->destination,
             c->attrs);
    bound_text text = bind_text(kernel, NULL, 0);
    grout_tma tma;
    ck_assert_msg(text.bound != NULL, "%s: %s", c->name, get_said(text.diags));
    const bool ok = grout_tma_plan(text.bound, find_op(text.bound, GROUT_OP_COPY_GMEM_TO_SMEM, 0),
                                   &tma, text.diags);
    ck_assert_msg(get_code(text.diags) == c->code, "%s: %s", c->name, get_said(text.diags));
    ck_assert_int_eq(ok, c->code == GROUT_DIAG_NONE);
    ck_assert_msg(tma.is_bulk == c->is_bulk, "%s", c->name);
    ck_assert_msg(!ok || tma.box_bytes == c->bytes, "%s: %u bytes", c->name, tma.box_bytes);
    ck_assert_msg(!ok || (tma.rank == 0) == c->is_bulk, "%s", c->name);
    free_text(&text);
}

/* In im2col mode the numbers of w come first, as in all of a tensor map. */
TEST(pixels) {
    bound_text text = bind_text(
        "kernel @k(%a: in gmem f16[3, 5, 7, 9, 64]) {\n"
        "  scratch %s : smem f16[32, 128] tile(32, 64) swizzle(128)\n  scratch %b : barrier[1]\n"
        "  copy_gmem_to_smem_im2col %a[0, -1, 2, 3, ds(0, 128)], %s, %b[0], 4, 5, 6 "
        "pixels(-1..-2 step 2, 0..-3, 3..1 step 4)\n}\n",
        NULL, 0);
    grout_tma tma;
    ck_assert(grout_tma_plan(text.bound, find_op(text.bound, GROUT_OP_COPY_GMEM_TO_SMEM_IM2COL, 0),
                             &tma, text.diags));
    ck_assert_uint_eq(tma.rank, 5);
    ck_assert_uint_eq(tma.spatial_count, 3);
    ck_assert_int_eq(tma.offset_max, 31);
    ck_assert_uint_eq(tma.box_bytes, 4096);
    ck_assert_uint_eq(tma.panel_count, 2);
    ck_assert_uint_eq(tma.band_count, 1);
    static const int64_t dims[] = {64, 9, 7, 5, 3}, box[] = {64, 32, 1, 1, 1};
    static const int32_t lower[] = {3, 0, -1}, upper[] = {1, -3, -2};
    static const uint32_t steps[] = {4, 1, 2};
    for (uint32_t k = 0; k < 5; k++) {
        ck_assert_int_eq(tma.dims[k], dims[k]);
        ck_assert_int_eq(tma.box[k], box[k]);
        ck_assert_uint_eq(tma.object_dim[k], 4 - k);
    }
    for (uint32_t k = 0; k < 3; k++) {
        ck_assert_int_eq(tma.lower[k], lower[k]);
        ck_assert_int_eq(tma.upper[k], upper[k]);
        ck_assert_uint_eq(tma.pixel_steps[k], steps[k]);
    }
    free_text(&text);
}

/* Rows that indices name: instructions of four, which lie in SMEM as the layout has them. */
typedef struct rows_case {
    const char *gmem, *smem, *columns;
    uint32_t count; /* indices */
    grout_diag_code code;
    uint32_t panels, bands, groups;
    uint32_t box_bytes;
} rows_case;

static const rows_case rows_cases[] = {
    {"f32[64, 64]", "f32[32, 64]", "ds(0, 64)", 32, 0, 1, 1, 8, 1024},
    {"f32[64, 64]", "f32[32, 32]", "ds(%j, 32)", 32, 0, 1, 1, 8, 512},
    {"f32[1, 64]", "f32[4, 4]", "ds(%j, 4)", 4, 0, 1, 1, 1, 64},
    {"f32[64, 64]", "f32[8, 4]", "ds(%j, 4)", 8, GROUT_DIAG_TMA_LAYOUT, 0, 0, 0, 0},
    {"f32[64, 64]", "f32[8, 8]", "ds(%j, 8)", 8, 0, 1, 1, 2, 128},
    {"f32[64, 64]", "f32[8, 12]", "ds(%j, 12)", 8, GROUT_DIAG_TMA_LAYOUT, 0, 0, 0, 0},
    {"bf16[64, 256]", "bf16[32, 192] tile(8, 64) swizzle(128)", "ds(%j, 192)", 32, 0, 3, 4, 2, 512},
    {"bf16[64, 256]", "bf16[32, 192] tile(32, 64) swizzle(128)", "ds(%j * 64, 192)", 32, 0, 3, 1, 8,
     512},
    {"bf16[64, 64]", "bf16[32, 32] tile(8, 32) swizzle(64)", "ds(0, 32)", 32, 0, 1, 1, 8, 256},
    {"f32[64, 8]", "f32[32, 8] tile(8, 8) swizzle(32)", "ds(0, 8)", 32, 0, 1, 1, 8, 128},
    {"f32[64, 64]", "f32[16, 32] tile(4, 16)", "ds(%j, 32)", 16, 0, 2, 4, 1, 256},
    {"f32[64, 64]", "f32[16, 32] tile(2, 16)", "ds(%j, 32)", 16, GROUT_DIAG_TMA_LAYOUT, 0, 0, 0, 0},
    {"f32[64, 64]", "f32[6, 32]", "ds(%j, 32)", 6, GROUT_DIAG_TMA_BOX, 0, 0, 0, 0},
    {"u8[64, 256]", "u8[4, 256]", "ds(0, 256)", 4, 0, 1, 1, 1, 1024},
    {"u8[64, 272]", "u8[4, 272]", "ds(0, 272)", 4, GROUT_DIAG_TMA_BOX, 0, 0, 0, 0},
    {"f32[64, 30]", "f32[4, 28]", "ds(0, 28)", 4, GROUT_DIAG_TMA_PITCH, 0, 0, 0, 0},
    {"f32[64, 64]", "f32[4, 6]", "ds(0, 6)", 4, GROUT_DIAG_TMA_INNER_BYTES, 0, 0, 0, 0},
    {"f32[64, 64]", "f32[32, 32] transpose(1, 0)", "ds(0, 32)", 32, GROUT_DIAG_TMA_LAYOUT, 0, 0, 0,
     0},
};

/* The rows of all instructions, each a box of its own; -1: one is not where the layout has it. */
static int64_t run_rows(const grout_module *module, const grout_tma *tma, const grout_view *smem) {
    const grout_layout *layout = grout_object_get_layout(module, smem->object);
    int64_t count = 0;
    for (uint32_t part = 0; part < tma->panel_count * tma->band_count * tma->row_groups; part++) {
        const uint32_t panel = part % tma->panel_count;
        const uint32_t group = part / tma->panel_count % tma->row_groups;
        const uint32_t band = part / tma->panel_count / tma->row_groups;
        const int64_t base =
            band * tma->band_bytes + group * tma->row_group_bytes + panel * tma->panel_bytes;
        for (int64_t i = 0; i < tma->box[0] * tma->box[1]; i++) {
            const int64_t at[5] = {i % tma->box[0], i / tma->box[0]};
            const int64_t index[GROUT_RANK_MAX] = {band * tma->band_elements + 4 * (int64_t)group +
                                                       at[1],
                                                   panel * tma->panel_elements + at[0]};
            if (base % 128 != 0 ||
                model_write(tma, at, base) != grout_layout_get_offset(layout, index)) {
                return -1;
            }
            count++;
        }
    }
    return count;
}

TEST_EACH(rows, COUNT_OF(rows_cases)) {
    const rows_case *c = &rows_cases[_i];
    for (uint32_t is_store = 0; is_store < 2; is_store++) {
        char kernel[1024];
        snprintf(kernel, sizeof kernel,
                 "kernel @k(%%a: inout gmem %s, %%j: i32) attr arch = \"sm_100a\" {\n"
                 "  scratch %%s : smem %s\n  scratch %%b : barrier[1]\n"
                 "  %s%%a[:, %s], %s(iota dim(0) : i32[%u])\n}\n",
                 c->gmem, c->smem, is_store ? "tma_scatter %s, " : "tma_gather ", c->columns,
                 is_store ? "" : "%s, %b[0], ", (unsigned)c->count);
        bound_text text = bind_text(kernel, NULL, 0);
        grout_tma tma;
        const grout_op_id id =
            find_op(text.bound, is_store ? GROUT_OP_TMA_SCATTER : GROUT_OP_TMA_GATHER, 0);
        const bool ok = grout_tma_plan(text.bound, id, &tma, text.diags);
        ck_assert_msg(get_code(text.diags) == c->code, "%s: %s", c->smem, get_said(text.diags));
        ck_assert_int_eq(ok, c->code == GROUT_DIAG_NONE);
        if (ok) {
            const grout_op *op = grout_module_get_op(text.bound, id);
            const grout_operand *smem = grout_module_get_operand(text.bound, op, is_store ? 0 : 1);
            const grout_type type = grout_module_get_operand_type(text.bound, smem);
            grout_view view;
            ck_assert(grout_module_get_view(text.bound, smem, &view));
            ck_assert_uint_eq(tma.rank, 2);
            ck_assert_int_eq(tma.box[1], 4);
            ck_assert_uint_eq(tma.panel_count, c->panels);
            ck_assert_uint_eq(tma.band_count, c->bands);
            ck_assert_uint_eq(tma.row_groups, c->groups);
            ck_assert_uint_eq(tma.box_bytes, c->box_bytes);
            ck_assert_msg(run_rows(text.bound, &tma, &view) == grout_type_get_count(&type), "%s",
                          c->smem);
        }
        free_text(&text);
    }
}

/* Bulk stores, which never reduce. */
TEST(bulk_store) {
    static const char *const attrs[] = {"oob(in_bounds)", "", "oob(in_bounds) reduce(add)"};
    for (uint32_t i = 0; i < 3; i++) {
        char kernel[512];
        snprintf(kernel, sizeof kernel,
                 "kernel @k(%%a: inout gmem f32[1024], %%i: i32) {\n  scratch %%s : smem f32[128]\n"
                 "  copy_smem_to_gmem %%s, %%a[ds(%%i, 128)] %s\n}\n",
                 attrs[i]);
        bound_text text = bind_text(kernel, NULL, 0);
        grout_tma tma;
        ck_assert(grout_tma_plan(text.bound, find_op(text.bound, GROUT_OP_COPY_SMEM_TO_GMEM, 0),
                                 &tma, text.diags));
        ck_assert_int_eq(tma.is_bulk, i == 0);
        ck_assert_uint_eq(tma.box_bytes, 512);
        ck_assert_int_eq(tma.array_bytes, 4096);
        ck_assert_int_eq(tma.object_strides[0], 4);
        free_text(&text);
    }
}

/* A collective copy is planned as one part of it: the first dimension that the CTAs can share. */
typedef struct part_case {
    const char *gmem, *smem, *source, *destination, *axes;
    grout_diag_code code;
    uint32_t count, dim, elements;
    uint32_t box_bytes, panels, bands;
} part_case;

static const part_case part_cases[] = {
    {"f32[64, 64]", "f32[32, 64]", "%a[ds(0, 32)]", "%s", "x", 0, 2, 0, 16, 4096, 1, 1},
    {"f32[64, 64]", "f32[32, 64]", "%a[ds(0, 32)]", "%s", "x, y", 0, 8, 0, 4, 1024, 1, 1},
    {"f32[1024]", "f32[128]", "%a[ds(0, 128)]", "%s", "y", 0, 4, 0, 32, 128, 1, 1},
    {"f32[64, 64]", "f32[6, 64]", "%a[ds(0, 6)]", "%s", "y", GROUT_DIAG_TMA_LAYOUT, 0, 0, 0, 0, 0,
     0},
    {"f32[9, 64, 64]", "f32[64, 64]", "%a[3]", "%s", "y", 0, 4, 0, 16, 4096, 1, 1},
    {"bf16[64, 256]", "bf16[64, 128] tile(8, 64) swizzle(128)", "%a[:, ds(0, 128)]", "%s", "y", 0,
     4, 0, 16, 4096, 1, 1},
    {"f32[64, 64]", "f32[3, 32, 64]", "%a[ds(0, 32)]", "%s[1]", "x", 0, 2, 0, 16, 4096, 1, 1},
    {"f32[64, 64]", "f32[7, 14]", "%a[ds(0, 7), ds(0, 14)]", "%s", "y", GROUT_DIAG_TMA_BOX, 0, 0, 0,
     0, 0, 0},
    {"bf16[64, 64]", "bf16[2, 64] swizzle(128)", "%a[ds(0, 2)]", "%s", "y", GROUT_DIAG_TMA_BOX, 0,
     0, 0, 0, 0, 0},
};

TEST_EACH(parts, COUNT_OF(part_cases)) {
    const part_case *c = &part_cases[_i];
    char kernel[1024];
    snprintf(kernel, sizeof kernel,
             "kernel @k(%%a: in gmem %s) cluster(x = 2, y = 4) {\n  scratch %%s : smem %s\n"
             "  scratch %%b : barrier[1]\n"
             "  copy_gmem_to_smem %s, %s, %%b[0] collective_axes(%s)\n}\n",
             c->gmem, c->smem, c->source, c->destination, c->axes);
    bound_text text = bind_text(kernel, NULL, 0);
    grout_tma tma;
    const bool ok = grout_tma_plan(text.bound, find_op(text.bound, GROUT_OP_COPY_GMEM_TO_SMEM, 0),
                                   &tma, text.diags);
    ck_assert_msg(get_code(text.diags) == c->code, "%s", get_said(text.diags));
    ck_assert_int_eq(ok, c->code == GROUT_DIAG_NONE);
    if (ok) {
        ck_assert_uint_eq(tma.part_count, c->count);
        ck_assert_uint_eq(tma.part_dim, c->dim);
        ck_assert_int_eq(tma.part_elements, c->elements);
        ck_assert_uint_eq(tma.box_bytes, c->box_bytes);
        ck_assert_uint_eq(tma.panel_count, c->panels);
        ck_assert_uint_eq(tma.band_count, c->bands);
    }
    free_text(&text);
}
