/*
 * wgmma_operand.c - a and b of a wgmma in SMEM: what the matrix descriptor says of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tensor core reads an operand as core matrices: 8 rows, one after the other, each as wide as
 * the swizzle, or 16 bytes wide without one. Rows run along K ('K-major') or along M or N
 * ('MN-major'). A descriptor has the address of the first core matrix and two distances, one along
 * the rows and one across them, so that is what the digits of the view's address have to come down
 * to. Which of them is the 'leading' and which the 'stride' distance depends on the mode:
 * docs/hardware.md 6.3. tests/unit/lowering/check_wgmma_plan.c runs the hardware's formula on every
 * plan and compares each address with that of the layout.
 */
#include "wgmma.h"

#include "invariant.h"
#include "layout.h"
#include "view_digits.h"

#include <inttypes.h>
#include <stdio.h>

#define CORE_ROWS  8
#define CORE_BYTES 16 /* of a row without swizzle */
#define LBO_UNUSED 16 /* written where the tensor core ignores the distance */

typedef struct operand_planning {
    grout_wgmma_planning *planning;
    const grout_operand *operand;
    grout_value_text name;
    bool is_a, is_k_major;
    grout_view view;
    const grout_layout *layout;
    uint8_t k_dim, mn_dim; /* of the object */
    grout_view_digits k, mn;
    int64_t row_bytes, row; /* of a row of a core matrix: bytes, elements */
    int64_t packed;         /* elements of a byte, which the view counts along K; else 1 */
    grout_wgmma_operand *out;
} operand_planning;

static const char *get_letter(const operand_planning *plan, bool is_k) {
    return is_k ? "K" : plan->is_a ? "M" : "N";
}

static grout_diag_code get_code(const operand_planning *plan) {
    return plan->planning->is_tcgen05 ? GROUT_DIAG_TCGEN05_OPERAND : GROUT_DIAG_WGMMA_OPERAND;
}

static uint8_t get_dtype(const operand_planning *plan) {
    return grout_object_get_type(plan->planning->module, plan->view.object)->dtype;
}

static const char *get_dtype_text(const operand_planning *plan) {
    return grout_dtype_get_info((grout_dtype)get_dtype(plan))->text;
}

/* ---- what to declare instead ----------------------------------------------------------------- */

/* The widest swizzle that a row of this many bytes fills; 0: none. */
static uint32_t choose_swizzle(int64_t bytes) {
    for (uint32_t width = 128; width >= 32; width /= 2) {
        if (bytes % width == 0) {
            return width;
        }
    }
    return 0;
}

static void note_declaration(const operand_planning *plan) {
    const grout_module *module = plan->planning->module;
    if (plan->planning->diags != NULL) {
        grout_loc_id loc = grout_module_get_object(module, plan->view.object)->loc;
        grout_diags_note(plan->planning->diags, grout_module_get_place(module, loc),
                         "declared here");
    }
}

/* Always false. */
static bool help_layout(const operand_planning *plan, bool is_k_major) {
    const grout_type *type = grout_object_get_type(plan->planning->module, plan->view.object);
    note_declaration(plan);
    int64_t size = plan->layout->element_bytes;
    const int64_t row = type->dims[is_k_major ? plan->k_dim : plan->mn_dim] * size / plan->packed;
    const int64_t rows = type->dims[is_k_major ? plan->mn_dim : plan->k_dim];
    const uint32_t swizzle = choose_swizzle(row);
    if (row % CORE_BYTES != 0 || rows % CORE_ROWS != 0) {
        grout_wgmma__help(
            plan->planning,
            "pad the array to rows of a multiple of %d bytes, and to a multiple of %d "
            "rows, and declare it with tile(infer)",
            CORE_BYTES, CORE_ROWS);
    } else if (swizzle == 0) {
        grout_wgmma__help(plan->planning,
                          "declare the array with tile(%d, %" PRId64 "), or with tile(infer)",
                          CORE_ROWS, CORE_BYTES / size * plan->packed);
    } else {
        grout_wgmma__help(plan->planning,
                          "declare the array with tile(%d, %" PRId64 ") swizzle(%" PRIu32
                          "), or with tile(infer)",
                          CORE_ROWS, swizzle / size * plan->packed, swizzle);
    }
    return false;
}

/* ---- rows and core matrices ------------------------------------------------------------------ */

/* A slice that may start inside a tile and end in another one. */
static bool fail_across(operand_planning *plan, uint32_t dim, int64_t tile) {
    grout_view_start start = grout_view__get_start(plan->planning->module, &plan->view, dim);
    const char *letter = get_letter(plan, dim == plan->k_dim);
    int64_t extent = plan->view.extent[dim];
    if (start.divisor == 0) {
        grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                          "this slice of %s takes %" PRId64 " elements from %" PRId64
                          " on along %s, where tiles have %" PRId64 ": it starts inside one and "
                          "ends in another",
                          plan->name.chars, extent, start.known, letter, tile);
        grout_wgmma__help(plan->planning, "start at a multiple of %" PRId64 ", or stay inside",
                          tile);
        return false;
    }
    grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                      "this slice of %s takes %" PRId64 " elements along %s from a multiple of "
                      "%" PRId64 " on, as far as can be seen, where tiles have %" PRId64
                      ": it may start inside one and end in another",
                      plan->name.chars, extent, letter, grout_view_start__get_divisor(&start),
                      tile);
    grout_wgmma__help(plan->planning, "multiply where it is sliced: ds(%%i * %" PRId64 ", ..)",
                      tile);
    return false;
}

static bool find_digits(operand_planning *plan) {
    const struct {
        uint8_t dim;
        bool is_k;
        grout_view_digits *digits;
    } sides[] = {{plan->k_dim, true, &plan->k}, {plan->mn_dim, false, &plan->mn}};
    for (uint32_t side = 0; side < 2; side++) {
        int64_t tile;
        if (grout_view__get_digits(plan->planning->module, &plan->view, sides[side].dim,
                                   sides[side].digits, &tile)) {
            continue;
        }
        return fail_across(plan, sides[side].dim, tile);
    }
    return true;
}

/* Which way the rows run. */
static bool find_direction(operand_planning *plan) {
    int64_t size = plan->layout->element_bytes;
    plan->is_k_major = plan->k.stride[0] == size;
    if (!plan->is_k_major && plan->mn.stride[0] != size) {
        grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                          "neither along K nor along %s do the elements of %s lie side by side: "
                          "they lie %" PRId64 " and %" PRId64 " bytes apart",
                          get_letter(plan, false), plan->name.chars, plan->k.stride[0],
                          plan->mn.stride[0]);
        note_declaration(plan);
        grout_wgmma__help(plan->planning,
                          "keep the two dimensions of the matrix last in the array: "
                          "the slots of a ring are indexed in front of them");
        return false;
    }
    const bool is_byte = grout_dtype_get_info((grout_dtype)get_dtype(plan))->bits == 8;
    if (!plan->is_k_major && size != 2 && !(is_byte && plan->planning->is_tcgen05)) {
        grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                          "rows of %s run along %s in SMEM, and the tensor core reads %s along K "
                          "only",
                          plan->name.chars, get_letter(plan, false), get_dtype_text(plan));
        note_declaration(plan);
        grout_wgmma__help(
            plan->planning, "keep it as [%s, K] in SMEM%s, or use %s, which it reads both ways",
            get_letter(plan, false), plan->is_a ? "" : " and write .transpose(1, 0) after it",
            plan->planning->is_tcgen05 ? "16 or 8 bits" : "f16 or bf16");
        return false;
    }
    return true;
}

/* The digits along the rows, and those across them. */
static grout_view_digits *get_along(operand_planning *plan) {
    return plan->is_k_major ? &plan->k : &plan->mn;
}
static grout_view_digits *get_across(operand_planning *plan) {
    return plan->is_k_major ? &plan->mn : &plan->k;
}

/* Elements of K that an instruction takes of the operand, as the view counts them. */
static int64_t get_k_step(const operand_planning *plan) {
    const grout_wgmma *wgmma = plan->planning->wgmma;
    const int64_t kept = wgmma->k_step / plan->packed;
    return wgmma->is_sparse && !plan->is_a ? 2 * kept : kept;
}

/* Core matrices of a step along K; of a swizzled row along K the step may be a part. */
static int64_t get_cores(const operand_planning *plan) {
    const int64_t step = get_k_step(plan);
    if (plan->is_k_major && plan->out->swizzle != 0) {
        return step > plan->row ? step / plan->row : 1;
    }
    return plan->is_k_major ? 2 * step * plan->packed / plan->planning->wgmma->k_step
                            : step / CORE_ROWS;
}

/* Takes a row, or the part of it that an instruction reads, and the 8 rows of a core matrix. */
static bool take_core(operand_planning *plan) {
    grout_view_digits *along = get_along(plan), *across = get_across(plan);
    int64_t stride, size = plan->layout->element_bytes;
    const bool is_part = plan->is_k_major && plan->out->swizzle != 0 && get_cores(plan) == 1;
    int64_t part = is_part ? get_k_step(plan) : plan->row;
    int64_t row = along->extent[0];
    if (!grout_view_digits__take(along, part, &stride)) {
        grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                          "rows of %s in SMEM have %" PRId64
                          " bytes: the tensor core reads %" PRId64 " at once",
                          plan->name.chars, row * size, part * size);
        return help_layout(plan, plan->is_k_major);
    }
    int64_t rows = across->extent[0], distance = across->stride[0];
    if (distance != plan->row_bytes) {
        char mode[32] = "without swizzle";
        if (plan->out->swizzle != 0) {
            snprintf(mode, sizeof mode, "with swizzle(%" PRIu32 ")", plan->out->swizzle);
        }
        grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                          "rows of %s lie %" PRId64 " bytes apart in SMEM, and the tensor core "
                          "reads rows %" PRId64 " bytes apart %s",
                          plan->name.chars, distance, plan->row_bytes, mode);
        return help_layout(plan, plan->is_k_major);
    }
    if (!grout_view_digits__take(across, CORE_ROWS, &stride)) {
        grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                          "tiles of %s have %" PRId64 " rows: they need multiples of %d",
                          plan->name.chars, rows, CORE_ROWS);
        return help_layout(plan, plan->is_k_major);
    }
    return true;
}

/* ---- distances ------------------------------------------------------------------------------- */

/* The core matrices left along a dimension have no single distance. */
static bool fail_uneven(operand_planning *plan, bool is_k, const char *what) {
    const grout_view_digits *digits = is_k ? &plan->k : &plan->mn;
    const char *letter = get_letter(plan, is_k);
    grout_wgmma__fail(
        plan->planning, get_code(plan), plan->operand,
        "%s of %s along %s are %" PRId64 " bytes apart inside a tile, where there are "
        "%" PRId64 ", and %" PRId64 " from tile to tile: they have to be equally spaced",
        what, plan->name.chars, letter, digits->stride[0], digits->extent[0],
        digits->count > 1 ? digits->stride[1] : 0);
    note_declaration(plan);
    if (is_k == plan->is_k_major) {
        grout_wgmma__help(plan->planning, "make the tile as wide as the swizzle");
    } else {
        grout_wgmma__help(plan->planning,
                          "make the tile %d rows high, or as high as the operand along %s",
                          CORE_ROWS, letter);
    }
    return false;
}

/* The distance of core matrices along M or N, and for a that of the blocks of 64 rows. */
static bool take_mn(operand_planning *plan, int64_t *distance) {
    int64_t group = plan->is_k_major ? CORE_ROWS : plan->row;
    if (!plan->is_a || plan->planning->is_tcgen05) {
        return grout_view_digits__take_rest(&plan->mn, distance) ||
               fail_uneven(plan, false, "core matrices");
    }
    if (!grout_view_digits__take(&plan->mn, GROUT_WGMMA_ROWS / group, distance)) {
        return fail_uneven(plan, false, "core matrices");
    }
    return grout_view_digits__take_rest(&plan->mn, &plan->out->block_bytes) ||
           fail_uneven(plan, false, "blocks of 64 rows");
}

/* The distance of the core matrices of one step along K, if it takes two, and those of the steps.
 */
static bool take_k(operand_planning *plan, int64_t *distance) {
    grout_wgmma_operand *out = plan->out;
    *distance = 0;
    if (get_cores(plan) > 1 && !grout_view_digits__take(&plan->k, get_cores(plan), distance)) {
        return fail_uneven(plan, true, "core matrices");
    }
    if (plan->k.count > 2) {
        return fail_uneven(plan, true, "panels");
    }
    out->steps_per_panel = plan->planning->wgmma->step_count;
    if (plan->k.count > 0) {
        out->step_bytes = plan->k.stride[0];
    }
    if (plan->k.count == 2) {
        out->steps_per_panel = (uint32_t)plan->k.extent[0];
        out->panel_bytes = plan->k.stride[1];
    }
    return true;
}

static bool take_distances(operand_planning *plan) {
    grout_wgmma_operand *out = plan->out;
    int64_t mn, k;
    if (!take_mn(plan, &mn) || !take_k(plan, &k)) {
        return false;
    }
    bool is_mn_leading = !plan->is_k_major && out->swizzle != 0;
    int64_t leading = is_mn_leading ? mn : k, stride = is_mn_leading ? k : mn;
    out->leading_bytes = leading == 0 ? LBO_UNUSED : (uint32_t)leading;
    out->stride_bytes = stride == 0 ? (uint32_t)(CORE_ROWS * plan->row_bytes) : (uint32_t)stride;
    return true;
}

/* ---- where the view starts ------------------------------------------------------------------- */

static bool check_slice(operand_planning *plan, uint32_t dim, int64_t of) {
    const grout_module *module = plan->planning->module;
    grout_view_start start = grout_view__get_start(module, &plan->view, dim);
    if (grout_view_start__is_multiple(&start, of)) {
        return true;
    }
    const char *letter = get_letter(plan, dim == plan->k_dim);
    if (start.divisor == 0) {
        grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                          "this slice of %s starts at %" PRId64 " along %s, and has to start at a "
                          "multiple of %" PRId64,
                          plan->name.chars, start.known, letter, of);
        grout_wgmma__help(plan->planning, "start it at %" PRId64 ", or at another multiple",
                          start.known / of * of);
        return false;
    }
    grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                      "this slice of %s starts at a multiple of %" PRId64
                      " along %s, as far as can "
                      "be seen, and has to start at one of %" PRId64,
                      plan->name.chars, grout_view_start__get_divisor(&start), letter, of);
    grout_wgmma__help(plan->planning, "multiply where it is sliced: ds(%%i * %" PRId64 ", ..)", of);
    return false;
}

/* A number that divides every offset which a digit can add when its dimension starts somewhere. */
static int64_t get_offset_divisor(const grout_layout *layout, uint32_t digit,
                                  const grout_view_start *start) {
    int64_t divisor = layout->divisor[digit], extent = layout->extent[digit];
    if (start->divisor == 0) {
        return start->known / divisor % extent * layout->stride[digit];
    }
    int64_t step = grout_view_start__get_divisor(start);
    if (step % (divisor * extent) == 0) {
        return 0;
    }
    if (step % divisor == 0 && extent % (step / divisor) == 0) {
        return step / divisor * layout->stride[digit];
    }
    return layout->stride[digit];
}

/* Core matrices lie at multiples of their size, so that the swizzle finds their first row. The
 * place inside a row, along K, is the only one that may differ. */
static bool check_start(operand_planning *plan) {
    const grout_layout *layout = plan->layout;
    int64_t core_bytes = CORE_ROWS * plan->row_bytes;
    uint32_t inner = plan->is_k_major ? plan->k_dim : plan->mn_dim;
    if (!check_slice(plan, plan->k_dim, get_k_step(plan)) ||
        !check_slice(plan, plan->mn_dim, plan->is_k_major ? CORE_ROWS : plan->row)) {
        return false;
    }
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        uint32_t dim = layout->dim[k];
        grout_view_start start = grout_view__get_start(plan->planning->module, &plan->view, dim);
        int64_t offset = get_offset_divisor(layout, k, &start);
        bool is_inside_row = dim == inner && layout->divisor[k] == 1;
        if (offset % core_bytes != 0 && !is_inside_row) {
            grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                              "%s can start at byte %" PRId64 " of the array: core matrices lie at "
                              "multiples of %" PRId64,
                              plan->name.chars, offset, core_bytes);
            note_declaration(plan);
            grout_wgmma__help(plan->planning,
                              "make a slot, or a tile, a multiple of %" PRId64 " bytes",
                              core_bytes);
            return false;
        }
    }
    return true;
}

/* Always false. */
static bool refuse_custom(const operand_planning *plan) {
    grout_wgmma__fail(plan->planning, get_code(plan), plan->operand,
                      "%s has a layout(..) of its own, and %s reads core matrices of 8 rows, "
                      "plain or in a swizzle",
                      plan->name.chars,
                      grout_op_get_info((grout_opcode)plan->planning->op->opcode)->text);
    if (plan->planning->diags != NULL) {
        grout_layout__help_equal(plan->planning->module, plan->view.object, plan->planning->diags,
                                 "mma takes what was loaded from it; or declare it with a tile and "
                                 "a swizzle");
    }
    return false;
}

bool grout_wgmma__plan_operand(grout_wgmma_planning *planning, bool is_a,
                               grout_wgmma_operand *operand_out) {
    operand_planning plan = {.planning = planning, .is_a = is_a, .out = operand_out};
    plan.operand = grout_module_get_operand(planning->module, planning->op,
                                            planning->is_copy ? 0
                                            : is_a            ? 1
                                                              : 2);
    plan.name = grout_wgmma__get_name(planning, plan.operand, is_a ? "a" : "b");
    if (!grout_module_get_view(planning->module, plan.operand, &plan.view)) {
        return false;
    }
    GROUT_ASSERT(plan.view.view_rank == 2);
    plan.layout = grout_object_get_layout(planning->module, plan.view.object);
    if (plan.layout->is_custom) {
        return refuse_custom(&plan);
    }
    plan.mn_dim = plan.view.view_dim[is_a ? 0 : 1];
    plan.k_dim = plan.view.view_dim[is_a ? 1 : 0];
    plan.packed = plan.view.packed > 1 ? plan.view.packed : 1;
    operand_out->swizzle = plan.layout->swizzle;
    plan.row_bytes = plan.layout->swizzle == 0 ? CORE_BYTES : plan.layout->swizzle;
    plan.row = plan.row_bytes / plan.layout->element_bytes;
    if (!find_digits(&plan) || !find_direction(&plan) || !take_core(&plan) ||
        !take_distances(&plan) || !check_start(&plan)) {
        return false;
    }
    operand_out->is_transposed = !plan.is_k_major;
    return true;
}
