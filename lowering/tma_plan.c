/*
 * tma_plan.c - copies between GMEM and SMEM as TMA instructions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A TMA instruction moves a box of up to 5 dimensions of the GMEM array to consecutive rows of
 * SMEM: element (.., i1, i0) of the box to byte (.. + i1) * pitch + i0 * size, where the pitch is
 * the length of a row, or the swizzle's width (docs/hardware.md 1.4, 2.1 and 2.2). So the
 * digits of the SMEM view's address, from the innermost on, become dimensions of the box as long as
 * they lie next to each other. A tiled layout has more: the digits that count tiles become loops
 * around the instruction, one along dimension 0 (panels) and one along another (bands).
 *
 * A loop goes away where its dimension of the array can be split in two, tiles and elements of a
 * tile. Clipping then goes by tiles: so the array has to have whole tiles, and the box to start at
 * one. What lies around the tiles in SMEM, as slots do, needs that: in a loop they would leave a
 * gap in the box. The instruction has 5 dimensions at most. A map that the kernel makes of a part
 * of the array stays as it is: only at run time is it known which tiles are whole.
 *
 * An instruction without an SMEM side, a prefetch, takes the box as it lies in the array.
 *
 * A copy that promises to stay inside, or whose elements outside may be anything, is a bulk copy if
 * it is one run of bytes on both sides: it needs no tensor map, and has none of its limits.
 */

#include "bulk_plan.h"

#include "bound.h"
#include "im2col_plan.h"
#include "invariant.h"
#include "layout.h"
#include "row_plan.h"
#include "tma_box.h"
#include "tma_expand.h"
#include "tma_starts.h"
#include "type.h"
#include "view_digits.h"

#include "grout-internal/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define STRIDE_MAX      ((1ll << 40) - 16)
#define PHASE_BYTES_MAX ((1 << 20) - 1)
#define BOX_ALIGNMENT   128 /* of a tensor copy in SMEM */
#define BULK_ALIGNMENT  16  /* of a bulk copy, on both sides */
#define SWIZZLE_ROWS    8   /* a swizzle's pattern repeats after this many rows of its width */
#define DIGITS_MAX      (2 * GROUT_RANK_MAX + 1)

typedef struct planning {
    const grout_module *module;
    grout_diags *diags; /* or NULL */
    const grout_op *op;
    const grout_operand *gmem_operand, *smem_operand;
    grout_view gmem, smem;
    const grout_type *gmem_type;
    const grout_layout *layout; /* of the SMEM object; NULL: the op has no SMEM side */
    grout_tma_digit digits[DIGITS_MAX];
    uint32_t digit_count;
    bool is_made;      /* by a make_tensor_descriptor: its part says where it ends */
    int64_t alignment; /* of every start in SMEM */
    grout_tma_box box;
    grout_tma *tma;
} planning;

/* Reports at an operand of the copy; returns false. */
static bool fail(planning *plan, grout_diag_code code, const grout_operand *operand,
                 const char *format, ...) GROUT_PRINTF(4, 5);
static bool fail(planning *plan, grout_diag_code code, const grout_operand *operand,
                 const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)grout_module__refuse_list(plan->module, plan->diags, code, operand->loc, format,
                                    arguments);
    va_end(arguments);
    return false;
}

static void help(planning *plan, const char *text) {
    if (plan->diags != NULL) {
        grout_diags_help(plan->diags, "%s", text);
    }
}

static grout_value_text get_name(const planning *plan, const grout_view *view) {
    return grout_value__get_text(plan->module, view->base, "the array");
}

/* Whether its rows in SMEM have places of their own in the array: they form no box there. */
static bool is_listed(const planning *plan) {
    return grout_im2col__is_mode_of(plan->op) || grout_row_plan__is_of(plan->op);
}

/* ---- bulk copies ----------------------------------------------------------------------------- */

/* Whether it could go without a tensor map if its oob were this. */
static bool can_be_bulk(const planning *plan, grout_choice oob) {
    return plan->layout != NULL && plan->gmem.packed == 1 && !plan->is_made &&
           !plan->gmem_type->is_expanded && !is_listed(plan) &&
           grout_bulk__is_possible(&(grout_bulk_sides){.module = plan->module,
                                                       .op = plan->op,
                                                       .gmem = &plan->gmem,
                                                       .smem = &plan->smem,
                                                       .smem_layout = plan->layout,
                                                       .oob = oob});
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* CTAs that make a collective copy together; 1 of any other, and where the launch is none. */
static uint32_t count_parts(const planning *plan) {
    const uint32_t axes = grout_op_get_axes(plan->module, plan->op, GROUT_ATTR_COLLECTIVE_AXES);
    const grout_kernel_id id = grout_module_get_block(plan->module, plan->op->parent)->kernel;
    const uint32_t size = grout_kernel_get_cluster_size(plan->module, id);
    if (axes == 0 || size == 0 || size > GROUT_CLUSTER_MAX) {
        return 1;
    }
    return (uint32_t)__builtin_popcount(grout_kernel_get_cluster_mask(plan->module, id, axes, 0));
}

/* Whether parts of this many elements of a dimension of the SMEM object are whole tiles and, with a
 * swizzle, whole repeats of its pattern: then each part lies as in the tile of all. */
static bool is_whole_part(const planning *plan, uint32_t dim, int64_t elements) {
    const grout_layout *layout = plan->layout;
    int64_t tiles[GROUT_RANK_MAX];
    grout_object__get_tiles(plan->module, plan->smem.object, tiles);
    if (elements * grout_view_get_term_divisor(&plan->smem, dim) % tiles[dim] != 0) {
        return false;
    }
    for (uint32_t k = 0; layout->swizzle != 0 && k < layout->tiled_rank; k++) {
        bool moves =
            layout->dim[k] == dim && elements % (layout->divisor[k] * layout->extent[k]) != 0;
        int64_t step = elements > layout->divisor[k] ? elements / layout->divisor[k] : 1;
        if (moves && step * layout->stride[k] % (SWIZZLE_ROWS * (int64_t)layout->swizzle) != 0) {
            return false;
        }
    }
    return true;
}

/* The first dimension that can be dealt out evenly; the last one only if no swizzle exchanges its
 * chunks. Both views become one part. */
static bool choose_part(planning *plan) {
    const uint32_t count = count_parts(plan);
    const int64_t kept =
        grout_op_get_attr_integer(plan->module, plan->op, GROUT_ATTR_PARTITIONED, -1);
    grout_tma *tma = plan->tma;
    tma->part_count = 1;
    if (kept >= 0 && kept < plan->gmem.view_rank) { /* each CTA keeps its part */
        tma->part_count = GROUT_PAIR;
        tma->part_dim = (uint8_t)kept;
        tma->part_elements = plan->gmem.extent[plan->gmem.view_dim[kept]] /= GROUT_PAIR;
        return true;
    }
    for (uint8_t k = 0; count > 1 && k < plan->gmem.view_rank && k < plan->smem.view_rank; k++) {
        int64_t *from = &plan->gmem.extent[plan->gmem.view_dim[k]];
        int64_t *to = &plan->smem.extent[plan->smem.view_dim[k]];
        const bool is_swizzled_row = k + 1 == plan->gmem.view_rank && tma->swizzle != 0;
        if (*from % count == 0 && *to == *from && !is_swizzled_row &&
            is_whole_part(plan, plan->smem.view_dim[k], *to / count)) {
            *from /= count;
            *to /= count;
            tma->part_count = count;
            tma->part_dim = k;
            tma->part_elements = *from;
            return true;
        }
    }
    if (count > 1) {
        grout_type type = grout_view__get_type(plan->module, &plan->smem);
        fail(plan, GROUT_DIAG_TMA_BOX, plan->gmem_operand,
             "%" PRIu32 " CTAs share this copy of %s, and no dimension%s can be cut into %" PRIu32
             " parts of whole %s",
             count, grout_type__get_text(&type).chars,
             tma->swizzle != 0 ? " but the swizzled last one" : "", count,
             tma->swizzle != 0 ? "swizzle atoms (8 rows)" : "tiles");
        help(plan, "copy a box whose first dimension the CTAs can share evenly, or let each CTA "
                   "copy it for itself");
        return false;
    }
    return true;
}

/* ---- the GMEM side --------------------------------------------------------------------------- */

/* Its coordinate is an i32. */
static bool check_fold(planning *plan) {
    if (plan->tma->fold_count == 0 || grout_tma_box__get_fold_size(&plan->box) <= INT32_MAX) {
        return true;
    }
    fail(plan, GROUT_DIAG_TMA_BOX, plan->gmem_operand,
         "the dimensions of %s with one element in the box would be one of %" PRId64
         " elements for TMA: at most %" PRId32,
         get_name(plan, &plan->gmem).chars, grout_tma_box__get_fold_size(&plan->box), INT32_MAX);
    help(plan, "join dimensions of the array, or copy with load and store");
    return false;
}

/* Dimensions of size 1 that stand at 0 are left out: nothing lies beside them. */
static bool choose_dims(planning *plan) {
    const grout_view *gmem = &plan->gmem;
    uint32_t count = 0;
    plan->box.inner = gmem->rank == 0 ? 0 : (uint8_t)(gmem->rank - 1);
    for (uint8_t dim = 0; dim < gmem->rank; dim++) {
        plan->box.is_kept[dim] = plan->box.dims[dim] > 1 || gmem->extent[dim] > 1 ||
                                 gmem->start_term_count[dim] > 0 || gmem->start_const[dim] != 0 ||
                                 grout_tma_box__is_part_dim(&plan->box, dim);
        if (plan->box.is_kept[dim]) {
            plan->box.inner = dim;
            count++;
        }
    }
    if (count == 0 && gmem->rank > 0) {
        plan->box.is_kept[plan->box.inner] = true;
    }
    if (count > GROUT_TMA_RANK_MAX) {
        count -= grout_tma_box__fold(&plan->box);
    }
    if (count > GROUT_TMA_RANK_MAX) {
        fail(plan, GROUT_DIAG_TMA_BOX, plan->gmem_operand,
             "a TMA descriptor has at most %d dimensions, and %s has %" PRIu32 "%s",
             GROUT_TMA_RANK_MAX, get_name(plan, gmem).chars, count,
             plan->tma->fold_count > 0 ? ", those with one element in the box counted as one" : "");
        help(plan, "index more of them, join dimensions of the array, or copy with load and store");
        return false;
    }
    return check_fold(plan);
}

static bool check_pitches(planning *plan) {
    grout_tma *tma = plan->tma;
    for (uint32_t k = 1; k < tma->rank; k++) {
        if (tma->dims[k] == 1) { /* the stride of a single row is never used */
            tma->strides[k] = (tma->strides[k] + 15) / 16 * 16;
        }
        if (tma->strides[k] % 16 != 0 || tma->strides[k] > STRIDE_MAX) {
            fail(plan, GROUT_DIAG_TMA_PITCH, plan->gmem_operand,
                 "dimension %d of %s, %s, has a pitch of %" PRId64
                 " bytes: TMA needs a multiple of 16",
                 tma->object_dim[k], get_name(plan, &plan->gmem).chars,
                 grout_type__get_text(plan->gmem_type).chars, tma->strides[k]);
            help(plan, "pad the rows of the array, or copy with load and store");
            return false;
        }
    }
    return true;
}

/* ---- the SMEM side --------------------------------------------------------------------------- */

/* The GMEM dimension that a dimension of the SMEM object carries; false if it is indexed away. */
static bool find_gmem_dim(const planning *plan, uint32_t smem_dim, uint8_t *dim_out) {
    for (uint32_t k = 0; k < plan->smem.view_rank; k++) {
        if (plan->smem.view_dim[k] == smem_dim) {
            *dim_out = plan->gmem.view_dim[k];
            return true;
        }
    }
    return false;
}

static void add_digit(planning *plan, const grout_tma_digit *digit) {
    if (digit->extent > 1) {
        plan->digits[plan->digit_count++] = *digit;
    }
}

/* The digits of the SMEM view, innermost first; false if a slice cuts through tiles. */
static bool find_digits(planning *plan) {
    const grout_layout *layout = plan->layout;
    int64_t left[GROUT_RANK_MAX]; /* elements that the digits so far do not count */
    memcpy(left, plan->smem.extent, sizeof left);
    for (uint32_t k = layout->tiled_rank; k-- > 0;) {
        uint32_t dim = layout->dim[k];
        grout_tma_digit digit = {.divisor = layout->divisor[k], .stride = layout->stride[k]};
        if (!find_gmem_dim(plan, dim, &digit.dim)) {
            continue;
        }
        digit.extent = left[dim] < layout->extent[k] ? left[dim] : layout->extent[k];
        if (left[dim] > layout->extent[k] && left[dim] % layout->extent[k] != 0) {
            return fail(plan, GROUT_DIAG_TMA_LAYOUT, plan->smem_operand,
                        "this slice of %s cuts through its tiles",
                        get_name(plan, &plan->smem).chars);
        }
        left[dim] = left[dim] / digit.extent;
        int64_t width = layout->swizzle / layout->element_bytes;
        if (k + 1u == layout->tiled_rank && layout->swizzle != 0 && digit.extent > width) {
            /* Rows as wide as the swizzle that lie side by side have been joined: part them. */
            grout_tma_digit rows = digit;
            rows.divisor = width;
            rows.stride = layout->swizzle;
            rows.extent /= width;
            digit.extent = width;
            add_digit(plan, &digit);
            digit = rows;
        }
        add_digit(plan, &digit);
    }
    return true;
}

/* The innermost dimension of the box. */
static bool add_row(planning *plan, int64_t extent, int64_t *row_bytes_out) {
    const grout_tma *tma = plan->tma;
    int64_t bytes = extent * tma->element_bytes;
    if (bytes % 16 != 0) {
        const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)plan->gmem_type->dtype);
        fail(plan, GROUT_DIAG_TMA_INNER_BYTES, plan->gmem_operand,
             "rows of the box have %" PRId64 " elements of %d %s, %" PRId64
             " bytes: TMA needs a multiple of 16",
             extent * info->packed, info->packed > 1 ? info->bits : tma->element_bytes,
             info->packed > 1 ? "bits" : "bytes", bytes);
        help(plan, "take wider rows, or copy with load and store");
        return false;
    }
    if (plan->gmem.rank > 0) {
        grout_tma_box__add_dim(&plan->box, plan->box.inner, extent);
    }
    *row_bytes_out = bytes;
    return true;
}

/* The row of the box: the digit that counts neighbouring elements. */
static bool plan_row(planning *plan, int64_t *row_bytes_out) {
    const grout_tma_digit *first = &plan->digits[0];
    grout_tma *tma = plan->tma;
    int64_t extent = 1;
    if (plan->digit_count > 0 && first->stride == tma->element_bytes) {
        if (first->dim != plan->box.inner) {
            fail(plan, GROUT_DIAG_TMA_LAYOUT, plan->smem_operand,
                 "rows of %s in SMEM run along dimension %d of %s, and TMA moves rows along its "
                 "innermost, %d",
                 get_name(plan, &plan->smem).chars, first->dim, get_name(plan, &plan->gmem).chars,
                 plan->box.inner);
            help(plan, "TMA does not transpose: keep the innermost dimension, and transpose where "
                       "the tile is read");
            return false;
        }
        extent = first->extent;
    }
    return add_row(plan, extent, row_bytes_out);
}

static bool fail_digit(planning *plan, const grout_tma_digit *digit, int64_t dense) {
    fail(plan, GROUT_DIAG_TMA_LAYOUT, plan->smem_operand,
         "dimension %d of the box moves by %" PRId64 " bytes in %s, and TMA writes rows one after "
         "another, %" PRId64 " bytes apart",
         digit->dim, digit->stride, get_name(plan, &plan->smem).chars, dense);
    help(plan, "copy whole arrays, slots or tiles; a tile(8, S) whose rows fill the swizzle always "
               "fits");
    return false;
}

static bool plan_box(planning *plan) {
    int64_t dense = 0; /* bytes that the box has taken */
    grout_tma *tma = plan->tma;
    if (!find_digits(plan) || !plan_row(plan, &dense)) {
        return false;
    }
    bool has_row = plan->digit_count > 0 && plan->digits[0].stride == tma->element_bytes;
    dense = tma->swizzle > dense ? tma->swizzle : dense;
    for (uint32_t k = has_row ? 1 : 0; k < plan->digit_count; k++) {
        if (!grout_tma_box__add_digit(&plan->box, &plan->digits[k], &dense)) {
            return fail_digit(plan, &plan->digits[k], dense);
        }
    }
    grout_tma_box__add_rest(&plan->box, false);
    grout_tma_box__split_tiles(&plan->box);
    return check_fold(plan);
}

/* The box of an op without an SMEM side: all that the view takes of the array. */
static bool plan_bare_box(planning *plan) {
    int64_t row_bytes;
    if (!add_row(plan, plan->gmem.extent[plan->box.inner], &row_bytes)) {
        return false;
    }
    grout_tma_box__add_rest(&plan->box, true);
    return true;
}

/* A barrier phase counts this many bytes. */
static bool check_phase(planning *plan) {
    const grout_tma *tma = plan->tma;
    grout_type type = grout_view__get_type(plan->module, &plan->gmem);
    int64_t bytes = grout_type_get_bytes(&type) * tma->part_count;
    bool has_phase = grout_op_find_letter((grout_opcode)plan->op->opcode, 'b') != UINT32_MAX;
    if (bytes > PHASE_BYTES_MAX && has_phase) {
        fail(plan, GROUT_DIAG_TMA_BYTES, plan->gmem_operand,
             "a copy of %" PRId64 " bytes: a barrier phase counts at most %d", bytes,
             PHASE_BYTES_MAX);
        help(plan, "copy it in parts, each with a phase of its own");
        return false;
    }
    return true;
}

static bool check_box(planning *plan) {
    grout_tma *tma = plan->tma;
    bool ok = true;
    for (uint32_t k = 0; tma->spatial_count == 0 && k < tma->rank; k++) {
        if (tma->box[k] > GROUT_TMA_BOX_MAX) {
            ok = fail(plan, GROUT_DIAG_TMA_BOX, plan->gmem_operand,
                      "the TMA box takes %" PRId64 " %s of dimension %d: at most %d", tma->box[k],
                      grout_view_get_term_divisor(&plan->gmem, tma->object_dim[k]) > 1
                          ? "bytes of packed elements"
                          : "elements",
                      tma->object_dim[k], GROUT_TMA_BOX_MAX);
            help(plan, can_be_bulk(plan, GROUT_CHOICE_OOB_IN_BOUNDS)
                           ? "if it lies inside the array, say so: with oob(in_bounds) one run of "
                             "bytes has no such limit. Or copy it in parts"
                           : "copy it in parts, or tile the SMEM array");
        }
    }
    ok = check_phase(plan) && ok;
    int64_t box_bytes = tma->element_bytes;
    for (uint32_t k = 0; ok && k < tma->rank; k++) {
        box_bytes *= tma->box[k];
    }
    GROUT_ASSERT(!ok || (box_bytes > 0 && box_bytes <= UINT32_MAX));
    tma->box_bytes = ok ? (uint32_t)box_bytes : 0;
    return ok;
}

/* Every instruction's SMEM address has to be a multiple of 128 (of a bulk copy 16), whatever the
 * indices are. */
static bool check_alignment(planning *plan) {
    const int64_t worst =
        grout_tma_starts__find_unaligned(&(grout_tma_starts){.module = plan->module,
                                                             .smem = &plan->smem,
                                                             .layout = plan->layout,
                                                             .tma = plan->tma,
                                                             .alignment = plan->alignment});
    if (worst != 0) {
        fail(plan, GROUT_DIAG_TMA_LAYOUT, plan->smem_operand,
             "a %s in %s can start at byte %" PRId64 ": it has to be a multiple of %" PRId64,
             plan->tma->is_bulk ? "bulk copy" : "TMA box", get_name(plan, &plan->smem).chars, worst,
             plan->alignment);
        help(plan, plan->tma->is_bulk ? "make a slot a multiple of 16 bytes"
                                      : "make a slot, or a tile, a multiple of 128 bytes");
        return false;
    }
    return true;
}

/* Always false. */
static bool refuse_custom(planning *plan) {
    fail(plan, GROUT_DIAG_TMA_LAYOUT, plan->smem_operand,
         "%s has a layout(..) of its own, and TMA writes rows, tiles of rows and the swizzles of "
         "32, 64 and 128 bytes",
         get_name(plan, &plan->smem).chars);
    if (plan->diags != NULL) {
        grout_layout__help_equal(plan->module, plan->smem.object, plan->diags,
                                 "copy with async_copy, or load and store; or declare it with a "
                                 "tile and a swizzle");
    }
    return false;
}

/* The views of both sides; false if the op has none to plan for. */
static bool find_sides(planning *plan) {
    const grout_opcode opcode = (grout_opcode)plan->op->opcode;
    const uint32_t gmem = grout_op_find_letter(opcode, 'G');
    const uint32_t smem = grout_op_find_letter(opcode, 'H');
    if (gmem == UINT32_MAX) {
        return false;
    }
    plan->gmem_operand = grout_module_get_operand(plan->module, plan->op, gmem);
    if (!grout_module_get_view(plan->module, plan->gmem_operand, &plan->gmem)) {
        return false;
    }
    plan->gmem_type = grout_object_get_type(plan->module, plan->gmem.object);
    plan->is_made = grout_view_find_made_descriptor(plan->module, &plan->gmem) != NULL;
    plan->box.module = plan->module;
    plan->box.gmem = &plan->gmem;
    plan->box.tma = plan->tma;
    plan->box.is_fixed = plan->is_made || is_listed(plan);
    for (uint32_t dim = 0; dim < plan->gmem_type->rank; dim++) {
        plan->box.dims[dim] = grout_object_get_extent(plan->module, plan->gmem.object, dim);
    }
    if (smem == UINT32_MAX) {
        return true;
    }
    plan->smem_operand = grout_module_get_operand(plan->module, plan->op, smem);
    if (!grout_module_get_view(plan->module, plan->smem_operand, &plan->smem)) {
        return false;
    }
    plan->layout = grout_object_get_layout(plan->module, plan->smem.object);
    return !plan->layout->is_custom || refuse_custom(plan);
}

/* Bytes from one element to the next along each dimension of the GMEM object. */
static void set_strides(planning *plan) {
    grout_tma *tma = plan->tma;
    tma->array_bytes = grout_type_get_bytes(plan->gmem_type);
    for (int64_t dim = plan->gmem.rank - 1, stride = tma->element_bytes; dim >= 0; dim--) {
        tma->object_strides[dim] = stride;
        stride *= plan->box.dims[dim];
    }
}

/* Where a bulk copy starts in GMEM, as far as that is known. */
static bool check_bulk_start(planning *plan) {
    const int64_t start = grout_bulk__get_known_start(&plan->gmem, plan->tma->object_strides);
    if (start % BULK_ALIGNMENT != 0) {
        fail(plan, GROUT_DIAG_BAD_INDEX, plan->gmem_operand,
             "a bulk copy starts at byte %" PRId64 " of %s: it has to be a multiple of %d", start,
             get_name(plan, &plan->gmem).chars, BULK_ALIGNMENT);
        help(plan, "start at a multiple of 16 bytes of the array, or copy with load and store");
        return false;
    }
    return true;
}

static bool plan_bulk(planning *plan) {
    grout_type type = grout_view__get_type(plan->module, &plan->gmem);
    const int64_t bytes = grout_type_get_count(&type) * plan->tma->element_bytes;
    plan->tma->is_bulk = true;
    plan->alignment = BULK_ALIGNMENT;
    if (!check_phase(plan) || !check_bulk_start(plan) || !check_alignment(plan)) {
        return false;
    }
    GROUT_ASSERT(bytes > 0 && bytes <= UINT32_MAX); /* it fits SMEM */
    plan->tma->box_bytes = (uint32_t)bytes;
    return true;
}

/* The box of a copy whose rows in SMEM have places of their own: a column of as many rows, pixels
 * of the innermost spatial dimension or rows of the array. */
static bool plan_listed(planning *plan) {
    const grout_copy_sides sides = {.module = plan->module,
                                    .op = plan->op,
                                    .gmem = &plan->gmem,
                                    .smem = &plan->smem,
                                    .diags = plan->diags};
    const bool has_pixels = grout_im2col__is_mode_of(plan->op);
    grout_view *gmem = &plan->gmem;
    if (plan->smem.view_rank != 2 || !(has_pixels ? grout_im2col__choose_pixels(&sides, plan->tma)
                                                  : grout_row_plan__check_array(&sides))) {
        return false;
    }
    plan->box.inner = (uint8_t)(gmem->rank - 1);
    for (uint32_t dim = 0; dim < gmem->rank; dim++) {
        plan->box.is_kept[dim] = true;
    }
    grout_copy_sides__make_column(gmem, &plan->smem);
    return plan_box(plan) && (has_pixels ? grout_im2col__check_box(&sides, plan->tma)
                                         : grout_row_plan__group(&sides, plan->tma));
}

bool grout_tma_plan(const grout_module *bound, grout_op_id copy, grout_tma *tma_out,
                    grout_diags *diags) {
    const grout_op *op = grout_module_get_op(bound, copy);
    planning plan = {
        .module = bound, .diags = diags, .op = op, .alignment = BOX_ALIGNMENT, .tma = tma_out};
    memset(tma_out, 0, sizeof *tma_out);
    if (!find_sides(&plan)) {
        return false;
    }
    tma_out->element_bytes = grout_dtype_get_info((grout_dtype)plan.gmem_type->dtype)->bytes;
    tma_out->swizzle = plan.layout == NULL ? 0 : plan.layout->swizzle;
    tma_out->panel_count = tma_out->band_count = tma_out->part_count = 1;
    tma_out->oob = (uint8_t)grout_op_get_oob(bound, op);
    set_strides(&plan);
    if (can_be_bulk(&plan, (grout_choice)tma_out->oob)) {
        return plan_bulk(&plan);
    }
    bool ok = is_listed(&plan)      ? plan_listed(&plan)
              : plan.layout == NULL ? choose_dims(&plan) && plan_bare_box(&plan)
                                    : choose_part(&plan) && choose_dims(&plan) && plan_box(&plan);
    if (ok) {
        ok = check_box(&plan);
        ok = (plan.layout == NULL || check_alignment(&plan)) && ok;
        grout_tma__expand(plan.gmem_type, tma_out);
        ok = check_pitches(&plan) && ok;
    }
    return ok;
}
