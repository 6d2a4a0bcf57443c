/* check_wgmma_plan.c - descriptors of a wgmma's operands run by a model of the tensor core, against
 * the layout's offsets; and why there is no plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/register_layout.h"
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"
#include "tests/unit/support/often.h"

/* ---- the tensor core ------------------------------------------------------------------------- */

/* One operand as the hardware sees it, elements of bytes each. */
typedef struct model {
    bool is_transposed;
    uint32_t swizzle;
    int64_t bytes, leading, stride;
} model;

static int64_t apply_swizzle(uint32_t swizzle, int64_t address) {
    int64_t mask = swizzle == 0 ? 0 : (int64_t)swizzle / 16 - 1;
    return address ^ ((address >> 7 & mask) << 4);
}

/* Address of element (mn, k) of one instruction's operand: docs/hardware.md 6.3. */
static int64_t model_read(const model *m, int64_t start, int64_t mn, int64_t k) {
    int64_t chunk = 16 / m->bytes, width = m->swizzle / m->bytes;
    if (m->swizzle == 0 && !m->is_transposed) {
        return start + k / chunk * m->leading + mn / 8 * m->stride + mn % 8 * 16 +
               k % chunk * m->bytes;
    }
    if (m->swizzle == 0) {
        return start + mn / chunk * m->stride + k / 8 * m->leading + k % 8 * 16 +
               mn % chunk * m->bytes;
    }
    if (!m->is_transposed) {
        return apply_swizzle(m->swizzle, start + k / width * m->leading + mn / 8 * m->stride +
                                             mn % 8 * m->swizzle + k % width * m->bytes);
    }
    return apply_swizzle(m->swizzle, start + mn / width * m->leading + k / 8 * m->stride +
                                         k % 8 * m->swizzle + mn % width * m->bytes);
}

/* ---- one operand ----------------------------------------------------------------------------- */

typedef struct operand_check {
    const grout_module *module;
    const grout_layout *layout;
    grout_view view;
    int64_t start[GROUT_RANK_MAX]; /* a place that the view can start at */
    uint32_t mn_dim, k_dim;        /* of the object */
    int64_t rows;                  /* along M or N, of one instruction */
    int64_t blocks, steps, k_step;
} operand_check;

static operand_check begin_check(const grout_module *module, const grout_op *op, bool is_a,
                                 int64_t k_step) {
    operand_check check = {.module = module, .k_step = k_step};
    ck_assert(grout_module_get_view(module, grout_module_get_operand(module, op, is_a ? 1 : 2),
                                    &check.view));
    check.layout = grout_object_get_layout(module, check.view.object);
    check.mn_dim = check.view.view_dim[is_a ? 0 : 1];
    check.k_dim = check.view.view_dim[is_a ? 1 : 0];
    check.rows = is_a ? 64 : check.view.extent[check.mn_dim];
    check.blocks = check.view.extent[check.mn_dim] / check.rows;
    check.steps = check.view.extent[check.k_dim] / k_step;
    memcpy(check.start, check.view.start_const, sizeof check.start);
    return check;
}

/* The next place that the view can start at, as far as the compiler knows; false: no more. */
static bool next_start(operand_check *check) {
    const grout_view *view = &check->view;
    const grout_type *type = grout_object_get_type(check->module, view->object);
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        if (view->start_term_count[dim] == 0) {
            continue;
        }
        int64_t step = 1 << 20;
        for (uint32_t k = 0; k < view->start_term_count[dim]; k++) {
            int64_t divisor =
                grout_value_get_known_divisor(check->module, view->start_terms[dim][k]);
            step = divisor < step ? divisor : step;
        }
        check->start[dim] += step;
        if (check->start[dim] + view->extent[dim] <= type->dims[dim]) {
            return true;
        }
        check->start[dim] = view->start_const[dim];
    }
    return false;
}

/* Where the layout has element (mn, k) of the view; without swizzle if is_linear. */
static int64_t get_offset(const operand_check *check, int64_t mn, int64_t k, bool is_linear) {
    int64_t index[GROUT_RANK_MAX];
    grout_layout layout = *check->layout;
    layout.swizzle = is_linear ? 0 : layout.swizzle;
    memcpy(index, check->start, sizeof index);
    index[check->mn_dim] += mn;
    index[check->k_dim] += k;
    return grout_layout_get_offset(&layout, index);
}

#define K_STEP_MAX 64

/* Those of the elements that an instruction takes of a row. */
static void get_row(const operand_check *check, int64_t mn, int64_t k, int64_t *offsets) {
    int64_t index[GROUT_RANK_MAX];
    memcpy(index, check->start, sizeof index);
    index[check->mn_dim] += mn;
    index[check->k_dim] += k;
    ASSERT_OFTEN(check->k_step <= K_STEP_MAX);
    grout_layout_get_offsets(check->layout, index, check->k_dim, offsets, (uint32_t)check->k_step);
}

/* Whether instruction (block, step), whose operand starts at start, reads what it should. */
static bool reads_right(const operand_check *check, const model *m, int64_t block, int64_t step,
                        int64_t start) {
    if (start % 16 != 0) {
        return false;
    }
    int64_t offsets[K_STEP_MAX];
    for (int64_t mn = 0; mn < check->rows; mn++) {
        get_row(check, block * check->rows + mn, step * check->k_step, offsets);
        for (int64_t k = 0; k < check->k_step; k++) {
            if (model_read(m, start, mn, k) != offsets[k]) {
                return false;
            }
        }
    }
    return true;
}

/* Whether the plan has every instruction read what it should, wherever the view starts. */
static bool is_right(operand_check *check, const grout_wgmma_operand *operand) {
    model m = {.is_transposed = operand->is_transposed, .swizzle = operand->swizzle};
    m.bytes = check->layout->element_bytes;
    m.leading = operand->leading_bytes;
    m.stride = operand->stride_bytes;
    if (m.leading % 16 != 0 || m.stride % 16 != 0 || operand->steps_per_panel == 0) {
        return false;
    }
    do {
        int64_t base = get_offset(check, 0, 0, false);
        for (int64_t part = 0; part < check->blocks * check->steps; part++) {
            int64_t block = part / check->steps, step = part % check->steps;
            int64_t start = base + block * operand->block_bytes +
                            step / operand->steps_per_panel * operand->panel_bytes +
                            step % operand->steps_per_panel * operand->step_bytes;
            if (!reads_right(check, &m, block, step, start)) {
                return false;
            }
        }
    } while (next_start(check));
    return true;
}

/* Whether any descriptor at all would do, tried by taking the distances from the layout, with
 * blocks of rows equally spaced. Only for views whose start is known, or does not matter. */
static bool has_descriptor(const operand_check *check) {
    int64_t bytes = check->layout->element_bytes, swizzle = check->layout->swizzle;
    int64_t base = get_offset(check, 0, 0, true);
    for (uint32_t direction = 0; direction < (bytes == 2 ? 2 : 1); direction++) {
        model m = {.is_transposed = direction == 1, .swizzle = (uint32_t)swizzle, .bytes = bytes};
        int64_t width = (swizzle == 0 ? 16 : swizzle) / bytes;
        int64_t mn_group = m.is_transposed ? width : 8, k_group = m.is_transposed ? 8 : width;
        int64_t mn = mn_group < check->rows ? get_offset(check, mn_group, 0, true) - base : 0;
        int64_t k = k_group < check->k_step ? get_offset(check, 0, k_group, true) - base : 0;
        m.leading = m.is_transposed && swizzle != 0 ? mn : k;
        m.stride = m.is_transposed && swizzle != 0 ? k : mn;
        bool fits = true;
        for (int64_t part = 0; fits && part < check->blocks * check->steps; part++) {
            int64_t block = part / check->steps, step = part % check->steps;
            int64_t next = check->blocks > 1 ? get_offset(check, check->rows, 0, true) - base : 0;
            int64_t start = get_offset(check, 0, step * check->k_step, true) + block * next;
            fits = reads_right(check, &m, block, step, start);
        }
        if (fits) {
            return true;
        }
    }
    return false;
}

/* ---- every combination ----------------------------------------------------------------------- */

static const struct {
    const char *text;
    int64_t bytes;
} dtypes[] = {{"f16", 2}, {"bf16", 2}, {"f32", 4}};
static const int64_t swizzles[] = {0, 32, 64, 128};
#define COMBINATIONS (COUNT_OF(dtypes) * COUNT_OF(swizzles))

/* An operand [mn, k] of a or [k, mn] of b, kept in SMEM as rows of the other or of the same order,
 * in tiles of this many rows. */
typedef struct shape {
    bool is_a, is_k_major, is_object; /* the object, not the view, is transposed */
    bool is_sparse;                   /* b of a sparse a */
    int64_t mn, k, height;
} shape;

/* The kernel of a shape, or false if the tile does not divide the array. */
static bool write_kernel(char *text, size_t size, int combination, const shape *s) {
    int64_t bytes = dtypes[combination % COUNT_OF(dtypes)].bytes;
    int64_t swizzle = swizzles[combination / COUNT_OF(dtypes)];
    int64_t width = (swizzle == 0 ? 16 : swizzle) / bytes;
    int64_t rows = s->is_k_major ? s->mn : s->k, cols = s->is_k_major ? s->k : s->mn;
    if (rows % s->height != 0 || cols % width != 0) {
        return false;
    }
    /* The rows that the operand has as it is written: M of a, K of b. */
    bool is_direct = s->is_a == s->is_k_major;
    bool is_turned = !is_direct && s->is_object;
    const char *dtype = dtypes[combination % COUNT_OF(dtypes)].text;
    char object[256], swizzled[32] = "", other[128];
    if (swizzle != 0) {
        snprintf(swizzled, sizeof swizzled, "swizzle(%d)", (int)swizzle);
    }
    snprintf(object, sizeof object, "smem %s[3, %d, %d] tile(%d, %d) %s %s", dtype,
             (int)(is_turned ? cols : rows), (int)(is_turned ? rows : cols), (int)s->height,
             (int)width, swizzled, is_turned ? "transpose(0, 2, 1)" : "");
    snprintf(other, sizeof other, "smem %s[%d, %d] tile(8, %d) swizzle(32)", dtype,
             s->is_a ? 8 : 64, (int)(s->is_sparse ? s->k / 2 : s->k), (int)(32 / bytes));
    char metadata[64] = "";
    if (s->is_sparse) {
        snprintf(metadata, sizeof metadata, ", (broadcast 0x4444 : u16[64, %d])",
                 (int)(s->k / (bytes == 4 ? 8 : 16)));
    }
    snprintf(text, size,
             "kernel @k(%%i: i32) {\n  scratch %%x : %s\n  scratch %%y : %s\n"
             "  scratch %%acc : acc f32[%d, %d]\n  wgmma%s %%acc, %s%s%s%s\n}\n",
             object, other, s->is_a ? (int)s->mn : 64, s->is_a ? 8 : (int)s->mn,
             s->is_sparse ? "_sp" : "", s->is_a ? "%x[%i]" : "%y, %x[%i]",
             is_direct || s->is_object ? "" : ".transpose(1, 0)",
             s->is_a ? ", %y.transpose(1, 0)" : "", metadata);
    return true;
}

static uint32_t run_shape(int combination, const shape *s) {
    char text[1024];
    if (!write_kernel(text, sizeof text, combination, s)) {
        return 0;
    }
    bound_text bound = bind_text(text, NULL, 0);
    ck_assert_msg(bound.bound != NULL, "%s%s", text, get_said(bound.diags));
    grout_op_id id = find_op(bound.bound, s->is_sparse ? GROUT_OP_WGMMA_SP : GROUT_OP_WGMMA, 0);
    const grout_op *op = grout_module_get_op(bound.bound, id);
    grout_wgmma wgmma, again;
    bool ok = grout_wgmma_plan(bound.bound, id, &wgmma, bound.diags);
    ck_assert_int_eq(grout_wgmma_plan(bound.bound, id, &again, NULL), ok);
    const int64_t bytes = dtypes[combination % COUNT_OF(dtypes)].bytes;
    operand_check check = begin_check(bound.bound, op, s->is_a, (s->is_sparse ? 64 : 32) / bytes);
    ck_assert_msg(ok == has_descriptor(&check), "%s%s", text, get_said(bound.diags));
    if (ok) {
        const grout_wgmma_operand *operand = s->is_a ? &wgmma.a : &wgmma.b;
        ck_assert_msg(operand->is_transposed == !s->is_k_major, "%s", text);
        ck_assert_msg(is_right(&check, operand), "%s", text);
        ck_assert_int_eq(wgmma.block_count, s->is_a ? s->mn / 64 : 1);
        ck_assert_int_eq(wgmma.step_count, check.steps);
    } else {
        ck_assert_int_eq(get_code(bound.diags), GROUT_DIAG_WGMMA_OPERAND);
    }
    free_text(&bound);
    return ok ? 1 : 0;
}

TEST_EACH(combinations, COMBINATIONS) {
    static const int64_t mns[] = {8, 24, 64, 192}, ks[] = {8, 16, 48, 128};
    static const int64_t heights[] = {4, 8, 16, 24, 64, 128};
    uint32_t legal = 0;
    int64_t k_step = 32 / dtypes[_i % COUNT_OF(dtypes)].bytes;
    for (uint32_t flags = 0; flags < 8; flags++) {
        shape s = {.is_a = (flags & 1) != 0, .is_k_major = (flags & 2) != 0};
        s.is_object = (flags & 4) != 0;
        if (s.is_object && s.is_a == s.is_k_major) {
            continue; /* nothing is transposed */
        }
        for (int i = 0; i < COUNT_OF(mns) * COUNT_OF(ks) * COUNT_OF(heights); i++) {
            s.mn = mns[i % COUNT_OF(mns)];
            s.k = ks[i / COUNT_OF(mns) % COUNT_OF(ks)];
            s.height = heights[i / COUNT_OF(mns) / COUNT_OF(ks)];
            if ((!s.is_a || s.mn % 64 == 0) && s.k % k_step == 0) {
                legal += run_shape(_i, &s);
            }
        }
    }
    ck_assert_uint_gt(legal, 10);
}

/* A step takes 64 bytes of K of b, in a swizzle of 32 out of two tiles. */
TEST_EACH(combinations_of_a_sparse_a, COMBINATIONS) {
    static const int64_t mns[] = {8, 24, 64}, heights[] = {8, 16, 24, 32, 64, 128};
    uint32_t legal = 0;
    for (uint32_t flags = 0; flags < 4; flags++) {
        shape s = {.is_sparse = true, .is_k_major = (flags & 1) != 0};
        s.is_object = (flags & 2) != 0 && s.is_k_major;
        for (int i = 0; i < COUNT_OF(mns) * COUNT_OF(heights) * 2; i++) {
            s.mn = mns[i % COUNT_OF(mns)];
            s.height = heights[i / COUNT_OF(mns) % COUNT_OF(heights)];
            s.k = i / COUNT_OF(mns) / COUNT_OF(heights) == 0 ? 64 : 128;
            legal += run_shape(_i, &s);
        }
    }
    ck_assert_uint_gt(legal, 3);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* A wgmma of two objects (NULL: a comes in registers), and what is said; code NONE: it has a plan,
 * which is run from every place that the views can start at. */
typedef struct plan_case {
    const char *name, *acc, *a, *b, *operands;
    grout_diag_code code;
} plan_case;

#define A128  "bf16[128, 128] tile(8, 64) swizzle(128)"
#define B128  "bf16[128, 256] tile(8, 64) swizzle(128)"
#define RING  "bf16[4, 128, 128] tile(8, 64) swizzle(128)"
#define BAD   GROUT_DIAG_WGMMA_OPERAND
#define SHAPE GROUT_DIAG_WGMMA_SHAPE
#define TYPES GROUT_DIAG_WGMMA_TYPES
#define ACC   GROUT_DIAG_BAD_ACCUMULATOR
#define SPACE GROUT_DIAG_BAD_SPACE

static const plan_case plan_cases[] = {
    {"whole arrays", "f32[128, 256]", A128, B128, "%acc, %a, %b", 0},
    {"a ring of atom grids", "f32[128, 256]", RING, B128, "%acc, %a[%i], %b", 0},
    {"a slot that is known", "f32[128, 256]", RING, B128, "%acc, %a[3], %b", 0},
    {"two leading dimensions", "f32[64, 256]", "bf16[2, 3, 64, 128] tile(8, 64) swizzle(128)", B128,
     "%acc, %a[%i, %j], %b", 0},
    {"one panel a tile", "f32[64, 256]", "bf16[4, 64, 128] tile(64, 64) swizzle(128)",
     "bf16[4, 128, 256] tile(128, 64) swizzle(128)", "%acc, %a[%i], %b[%j]", 0},
    {"rows of a tile", "f32[64, 256]", "bf16[2, 128, 128] tile(128, 64) swizzle(128)", B128,
     "%acc, %a[%i, ds(%j * 64, 64)], %b", 0},
    {"rows of several tiles", "f32[64, 256]", RING, B128, "%acc, %a[%i, ds(%j * 64, 64)], %b", 0},
    {"rows from anywhere in steps of 8", "f32[64, 256]", RING, B128,
     "%acc, %a[%i, ds(%j * 8, 64)], %b", 0},
    {"rows from anywhere", "f32[64, 256]", RING, B128, "%acc, %a[%i, ds(%j, 64)], %b", BAD},
    {"rows from 4", "f32[64, 256]", RING, B128, "%acc, %a[%i, ds(4, 64)], %b", BAD},
    {"rows across tiles of 64", "f32[64, 256]", "bf16[192, 128] tile(64, 64) swizzle(128)", B128,
     "%acc, %a[ds(%j * 32, 64)], %b", BAD},
    {"rows across tiles of 64, known", "f32[64, 256]", "bf16[192, 128] tile(64, 64) swizzle(128)",
     B128, "%acc, %a[ds(32, 64)], %b", BAD},
    {"a panel of K", "f32[128, 256]", A128, B128, "%acc, %a[:, ds(64, 64)], %b[ds(0, 64)]", 0},
    {"part of a panel of K", "f32[128, 256]", A128, B128, "%acc, %a[:, ds(32, 32)], %b[ds(32, 32)]",
     0},
    {"one step of K", "f32[128, 256]", A128, B128,
     "%acc, %a[:, ds(%i * 16, 16)], %b[ds(%j * 16, "
     "16)]",
     0},
    {"K over a panel and a half", "f32[128, 256]", A128, B128,
     "%acc, %a[:, ds(0, 96)], %b[ds(16, 96)]", 0},
    {"K from inside a panel into the next", "f32[128, 256]", A128, B128,
     "%acc, %a[:, ds(32, 64)], %b[ds(0, 64)]", BAD},
    {"K from 8", "f32[128, 256]", A128, B128, "%acc, %a[:, ds(8, 32)], %b[ds(0, 32)]", BAD},
    {"K from anywhere", "f32[128, 256]", A128, B128, "%acc, %a[:, ds(%i, 16)], %b[ds(0, 16)]", BAD},
    {"steps of K of a transposed b", "f32[64, 128]", "f16[64, 64] tile(8, 64) swizzle(128)",
     "f16[128, 64] tile(8, 64) swizzle(128)",
     "%acc, %a[:, ds(%i * 16, 16)], %b.transpose(1, 0)[ds(%j * 16, 16)]", 0},
    {"columns of b", "f32[128, 64]", A128, B128, "%acc, %a, %b[:, ds(%i * 64, 64)]", 0},
    {"columns of b inside a panel", "f32[128, 32]", A128, B128, "%acc, %a, %b[:, ds(64, 32)]", 0},
    {"columns of b from inside a panel", "f32[128, 32]", A128, B128, "%acc, %a, %b[:, ds(32, 32)]",
     BAD},
    {"columns of b K-major", "f32[64, 24]", "f32[64, 32] tile(8, 32) swizzle(128)",
     "f32[64, 32] tile(8, 32) swizzle(128)", "%acc, %a, %b[ds(%i * 8, 24)].transpose(1, 0)", 0},
    {"columns of the accumulator", "f32[128, 256]", A128, B128,
     "%acc[:, ds(128, 64)], %a, %b[:, ds(0, 64)]", 0},
    {"a transposed", "f32[64, 256]", "bf16[128, 64] tile(8, 64) swizzle(128)", B128,
     "%acc, %a.transpose(1, 0), %b", 0},
    {"rows without tile", "f32[64, 8]", "f16[64, 64] swizzle(128)", "f16[8, 64] swizzle(128)",
     "%acc, %a, %b.transpose(1, 0)", 0},
    {"tf32", "f32[64, 64]", "f32[64, 64] tile(8, 32) swizzle(128)",
     "f32[64, 64] tile(8, 16) swizzle(64)", "%acc, %a, %b.transpose(1, 0)", 0},
    {"tf32 along N", "f32[64, 64]", "f32[64, 64] tile(8, 32) swizzle(128)",
     "f32[64, 64] tile(8, 32) swizzle(128)", "%acc, %a, %b", BAD},
    {"tf32 along M", "f32[64, 64]", "f32[64, 64] tile(8, 32) swizzle(128)",
     "f32[64, 64] tile(8, 32) swizzle(128)", "%acc, %a.transpose(1, 0), %b.transpose(1, 0)", BAD},
    {"f16 into f16", "f16[64, 64]", "f16[64, 64] tile(8, 64) swizzle(128)",
     "f16[64, 64] tile(8, 64) swizzle(128)", "%acc, %a, %b", 0},
    {"a in registers", "f32[64, 256]", NULL, B128, "%acc, (load %g), %b", 0},
    {"no tile", "f32[64, 256]", "bf16[64, 128]", B128, "%acc, %a, %b", BAD},
    {"tile too wide for no swizzle", "f32[64, 256]", "bf16[64, 128] tile(8, 64)", B128,
     "%acc, %a, %b", BAD},
    {"tiles of 4 rows", "f32[64, 256]", "bf16[64, 128] tile(4, 64) swizzle(128)", B128,
     "%acc, %a, %b", BAD},
    {"tiles of one row", "f32[64, 256]", "bf16[64, 128] tile(1, 64) swizzle(128)", B128,
     "%acc, %a, %b", BAD},
    {"narrow tiles", "f32[64, 256]", "bf16[64, 128] tile(8, 4)", B128, "%acc, %a, %b", BAD},
    {"elements far apart", "f32[64, 256]", "bf16[64, 128, 2] transpose(0, 1, 2)", B128,
     "%acc, %a[:, :, 0], %b", BAD},
    {"slots that are not atoms", "f32[64, 256]", "bf16[2, 68, 64] swizzle(128)",
     "bf16[64, 256] tile(8, 64) swizzle(128)", "%acc, %a[%i, ds(0, 64)], %b", BAD},
    {"slots that are not atoms, the first", "f32[64, 256]", "bf16[2, 68, 64] swizzle(128)",
     "bf16[64, 256] tile(8, 64) swizzle(128)", "%acc, %a[0, ds(0, 64)], %b", 0},
    {"K differs", "f32[128, 256]", A128, B128, "%acc, %a, %b[ds(0, 64)]", SHAPE},
    {"M differs", "f32[64, 256]", A128, B128, "%acc, %a, %b", SHAPE},
    {"N differs", "f32[128, 128]", A128, B128, "%acc, %a, %b", SHAPE},
    {"b forgot its transpose", "f32[128, 64]", A128, "bf16[64, 128] tile(8, 64) swizzle(128)",
     "%acc, %a, %b", SHAPE},
    {"a forgot its transpose", "f32[64, 256]", "bf16[128, 64] tile(8, 64) swizzle(128)", B128,
     "%acc, %a, %b", SHAPE},
    {"slots without index", "f32[128, 256]", RING, B128, "%acc, %a, %b", SHAPE},
    {"vector", "f32[128, 256]", A128, B128, "%acc, %a[0], %b", SHAPE},
    {"N 264", "f32[64, 264]", "bf16[64, 64] tile(8, 64) swizzle(128)",
     "bf16[264, 64] tile(8, 64) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", SHAPE},
    {"K 8", "f32[64, 256]", "bf16[64, 128] tile(8, 64) swizzle(128)", B128,
     "%acc, %a[:, ds(0, 8)], %b[ds(0, 8)]", SHAPE},
    {"two element types", "f32[128, 256]", A128, "f16[128, 256] tile(8, 64) swizzle(128)",
     "%acc, %a, %b", TYPES},
    {"bf16 into f16", "f16[128, 256]", A128, B128, "%acc, %a, %b", TYPES},
    {"f32 into f16", "f16[64, 64]", "f32[64, 64] tile(8, 32) swizzle(128)",
     "f32[64, 64] tile(8, 32) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", TYPES},
    {"integers into f32", "f32[64, 64]", "i8[64, 128] tile(8, 128) swizzle(128)",
     "i8[64, 128] tile(8, 128) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", TYPES},
    {"integers", "i32[64, 64]", "i8[64, 128] tile(8, 128) swizzle(128)",
     "i8[64, 128] tile(8, 128) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", 0},
    {"integers of two signs, mixed swizzles", "i32[128, 48]", "u8[128, 64] tile(8, 64) swizzle(64)",
     "i8[48, 64] tile(8, 32) swizzle(32)", "%acc, %a, %b.transpose(1, 0)", 0},
    {"integers by floats", "i32[64, 64]", "i8[64, 128] tile(8, 128) swizzle(128)",
     "f8e4m3[64, 128] tile(8, 128) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", TYPES},
    {"40 columns of integers", "i32[64, 40]", "i8[64, 128] tile(8, 128) swizzle(128)",
     "i8[40, 128] tile(8, 128) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", SHAPE},
    {"24 columns of integers", "i32[64, 24]", "i8[64, 128] tile(8, 128) swizzle(128)",
     "i8[24, 128] tile(8, 128) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", 0},
    {"248 columns of integers", "i32[64, 248]", "i8[64, 128] tile(8, 128) swizzle(128)",
     "i8[248, 128] tile(8, 128) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", SHAPE},
    {"two slices of 40 columns", "i32[64, 40]", "i8[64, 128] tile(8, 128) swizzle(128)",
     "i8[40, 128] tile(8, 128) swizzle(128)",
     "%acc[:, ds(32, 8)], %a, %b[ds(32, 8)].transpose(1, 0)", 0},
    {"integers along N", "i32[64, 128]", "i8[64, 64] tile(8, 64) swizzle(64)",
     "i8[64, 128] tile(8, 128) swizzle(128)", "%acc, %a, %b", BAD},
    {"8-bit floats", "f32[64, 40]", "f8e4m3[64, 128] tile(8, 128) swizzle(128)",
     "f8e4m3[40, 128] tile(8, 128) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", 0},
    {"8-bit floats of two types", "f16[192, 64]", "f8e5m2[192, 128] tile(64, 128) swizzle(128)",
     "f8e4m3[64, 128] tile(8, 16)", "%acc, %a, %b.transpose(1, 0)", 0},
    {"8-bit floats without swizzle", "f32[64, 8]", "f8e5m2[64, 96] tile(8, 16)",
     "f8e5m2[8, 96] tile(8, 32) swizzle(32)", "%acc, %a, %b.transpose(1, 0)", 0},
    {"steps of K of 8-bit floats", "f32[64, 64]", "f8e4m3[64, 256] tile(8, 128) swizzle(128)",
     "f8e4m3[64, 256] tile(8, 64) swizzle(64)",
     "%acc, %a[:, ds(%i * 32, 32)], %b[:, ds(%j * 32, 32)].transpose(1, 0)", 0},
    {"half a step of 8-bit floats", "f32[64, 64]", "f8e4m3[64, 128] tile(8, 128) swizzle(128)",
     "f8e4m3[64, 128] tile(8, 128) swizzle(128)",
     "%acc, %a[:, ds(0, 16)], %b[:, ds(0, 16)].transpose(1, 0)", SHAPE},
    {"8-bit floats along M", "f32[128, 64]", "f8e4m3[64, 128] tile(8, 128) swizzle(128)",
     "f8e4m3[64, 64] tile(8, 64) swizzle(64)", "%acc, %a.transpose(1, 0), %b.transpose(1, 0)", BAD},
    {"8-bit floats into i32", "i32[64, 64]", "f8e4m3[64, 128] tile(8, 128) swizzle(128)",
     "f8e4m3[64, 128] tile(8, 128) swizzle(128)", "%acc, %a, %b.transpose(1, 0)", TYPES},
    {"8-bit floats by f16", "f32[64, 64]", "f8e4m3[64, 64] tile(8, 64) swizzle(64)",
     "f16[64, 64] tile(8, 64) swizzle(128)", "%acc, %a, %b", TYPES},
    {"8-bit floats in registers", "f32[64, 64]", NULL, "f8e5m2[64, 128] tile(8, 128) swizzle(128)",
     "%acc, (cast (load %g) : f8e4m3), %b.transpose(1, 0)", 0},
    {"use_acc", "f32[128, 256]", A128, B128, "%acc, %a, %b, (gt %i, 0)", 0},
    {"use_acc in front of registers", "f32[64, 256]", NULL, B128, "%acc, (load %g), %b, false", 0},
    {"f32 in registers", "f32[64, 64]", NULL, "f32[64, 128] tile(8, 32) swizzle(128)",
     "%acc, (cast (load %g) : f32), %b.transpose(1, 0)", TYPES},
    {"accumulator sliced in M", "f32[128, 256]", A128, B128, "%acc[ds(0, 64)], %a[ds(0, 64)], %b",
     ACC},
    {"accumulator sliced at run time", "f32[128, 256]", A128, B128,
     "%acc[:, ds(%i * 64, 64)], %a, %b[:, ds(0, 64)]", ACC},
    {"accumulator sliced at 4", "f32[128, 256]", A128, B128,
     "%acc[:, ds(4, 64)], %a, %b[:, ds(0, 64)]", ACC},
    {"accumulator transposed", "f32[128, 128]", A128, B128,
     "%acc.transpose(1, 0), %a, %b[:, ds(0, 128)]", ACC},
    {"no accumulator", "f32[128, 256]", A128, B128, "%b, %a, %b", SPACE},
    {"a in gmem", "f32[64, 256]", A128, B128, "%acc, %g, %b", SPACE},
    {"b in an accumulator", "f32[128, 256]", A128, B128, "%acc, %a, %acc", SPACE},
};

static bound_text bind_case(const plan_case *c) {
    char text[1024];
    snprintf(text, sizeof text,
             "kernel @k(%%g: in gmem bf16[64, 128], %%i: i32, %%j: i32) {\n"
             "  scratch %%acc : acc %s\n  %s%s\n  scratch %%b : smem %s\n  wgmma %s\n}\n",
             c->acc, c->a == NULL ? "" : "scratch %a : smem ", c->a == NULL ? "" : c->a, c->b,
             c->operands);
    bound_text bound = bind_text(text, NULL, 0);
    ck_assert_msg(bound.bound != NULL, "%s: %s", c->name, get_said(bound.diags));
    return bound;
}

TEST_EACH(plans, COUNT_OF(plan_cases)) {
    const plan_case *c = &plan_cases[_i];
    bound_text text = bind_case(c);
    grout_op_id id = find_op(text.bound, GROUT_OP_WGMMA, 0);
    const grout_op *op = grout_module_get_op(text.bound, id);
    grout_wgmma wgmma, again;
    bool ok = grout_wgmma_plan(text.bound, id, &wgmma, text.diags);
    ck_assert_msg(get_code(text.diags) == c->code, "%s: %s", c->name, get_said(text.diags));
    ck_assert_int_eq(ok, c->code == GROUT_DIAG_NONE);
    ck_assert_int_eq(grout_wgmma_plan(text.bound, id, &again, NULL), ok);
    if (ok) {
        ck_assert_int_eq(wgmma.a.is_register, c->a == NULL);
        operand_check b = begin_check(text.bound, op, false, wgmma.k_step);
        ck_assert_msg(is_right(&b, &wgmma.b), "%s: b", c->name);
        if (c->a != NULL) {
            operand_check a = begin_check(text.bound, op, true, wgmma.k_step);
            ck_assert_msg(is_right(&a, &wgmma.a), "%s: a", c->name);
        }
    }
    free_text(&text);
}

/* The constant true is the same as nothing. */
TEST(use_acc_is_noted) {
    static const struct {
        const char *text;
        bool has_use;
    } uses[] = {{"", false}, {", true", false}, {", false", true}, {", (gt %i, 0)", true}};
    for (size_t k = 0; k < sizeof uses / sizeof uses[0]; k++) {
        char operands[64];
        snprintf(operands, sizeof operands, "%%acc, %%a, %%b%s", uses[k].text);
        const plan_case c = {"use", "f32[128, 256]", A128, B128, operands, 0};
        bound_text text = bind_case(&c);
        grout_wgmma wgmma;
        ck_assert(
            grout_wgmma_plan(text.bound, find_op(text.bound, GROUT_OP_WGMMA, 0), &wgmma, NULL));
        ck_assert(wgmma.has_use == uses[k].has_use);
        free_text(&text);
    }
}

/* The fields that the backend and the interpreter read, once by hand. */
TEST(fields) {
    plan_case c = {"fields",
                   "f32[128, 256]",
                   RING,
                   B128,
                   "%acc[:, ds(64, 128)], %a[%i], %b[:, "
                   "ds(128, 128)]",
                   0};
    bound_text text = bind_case(&c);
    grout_wgmma wgmma;
    ck_assert(grout_wgmma_plan(text.bound, find_op(text.bound, GROUT_OP_WGMMA, 0), &wgmma, NULL));
    ck_assert_uint_eq(wgmma.m, 128);
    ck_assert_uint_eq(wgmma.n, 128);
    ck_assert_uint_eq(wgmma.k, 128);
    ck_assert_uint_eq(wgmma.k_step, 16);
    ck_assert_uint_eq(wgmma.block_count, 2);
    ck_assert_uint_eq(wgmma.step_count, 8);
    ck_assert_int_eq(wgmma.column, 64);
    ck_assert_uint_eq(wgmma.a_dtype, GROUT_DTYPE_BF16);
    ck_assert_uint_eq(wgmma.accumulator_dtype, GROUT_DTYPE_F32);
    /* a: K-major, [16][2] atoms of 1024 bytes */
    ck_assert(!wgmma.a.is_transposed);
    ck_assert_uint_eq(wgmma.a.leading_bytes, 16);
    ck_assert_uint_eq(wgmma.a.stride_bytes, 2048);
    ck_assert_int_eq(wgmma.a.block_bytes, 16384);
    ck_assert_int_eq(wgmma.a.step_bytes, 32);
    ck_assert_uint_eq(wgmma.a.steps_per_panel, 4);
    ck_assert_int_eq(wgmma.a.panel_bytes, 1024);
    /* b: MN-major, [16][4] atoms */
    ck_assert(wgmma.b.is_transposed);
    ck_assert_uint_eq(wgmma.b.leading_bytes, 1024);
    ck_assert_uint_eq(wgmma.b.stride_bytes, 4096);
    ck_assert_int_eq(wgmma.b.block_bytes, 0);
    ck_assert_int_eq(wgmma.b.step_bytes, 8192);
    ck_assert_uint_eq(wgmma.b.steps_per_panel, 8);
    free_text(&text);
}

TEST(entry_registers) {
    static const uint32_t registers[] = {256, 256, 168, 128, 96, 80, 72, 64};
    for (uint32_t threads = 1; threads <= 8; threads++) {
        ck_assert_uint_eq(grout_get_entry_registers(threads), registers[threads - 1]);
    }
}
