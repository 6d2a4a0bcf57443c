/*
 * im2col_plan.c - the tensor map of a copy in im2col mode: an array [n, w, c], [n, h, w, c] or
 * [n, d, h, w, c], a box of base pixels in its spatial dimensions, how many pixels and channels an
 * instruction moves. Sources: PTX ISA 9.1 'Im2col mode'; CUDA Driver API, cuTensorMapEncodeIm2col.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "im2col_plan.h"

#include "bound.h"
#include "type.h"

#include <inttypes.h>

#define CHANNELS_MAX 256
#define PIXELS_MAX   1024
#define STEP_MAX     8
/* Bits of the corners of all spatial dimensions together, and of all offsets. */
#define CORNER_BITS 16

bool grout_im2col__is_mode_of(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_IM2COL;
}

/* Those of one dimension: 16, 8 or 5. */
static uint32_t get_bits(uint32_t spatial_count) {
    return CORNER_BITS / (spatial_count == 0 ? 1 : spatial_count);
}

/* ---- the source ------------------------------------------------------------------------------ */

/* Whether the reference is the array with one step of indices: all of them single elements, but the
 * channels. */
static bool is_pixel(const grout_copy_sides *sides) {
    const grout_operand *operand = grout_copy_sides__get_operand(sides, 'G');
    const grout_view *view = sides->gmem;
    if (operand->kind != GROUT_OPERAND_REF || view->descriptor != 0 || view->view_rank != 1 ||
        view->rank == 0 || view->view_dim[0] + 1u != view->rank) {
        return false;
    }
    const grout_ref *ref = grout_module_get_ref(sides->module, operand->id);
    return ref->step_count == 1 &&
           grout_module_get_ref_step(sides->module, ref, 0)->kind == GROUT_REF_INDEX;
}

static bool check_source(const grout_copy_sides *sides) {
    const uint32_t rank = sides->gmem->rank;
    if (rank < GROUT_IM2COL_RANK_MIN || rank > GROUT_IM2COL_RANK_MAX) {
        grout_copy_sides__fail(
            sides, GROUT_DIAG_TMA_BOX, grout_copy_sides__get_operand(sides, 'G')->loc,
            "a copy in im2col mode reads an array of %d to %d dimensions, and %s has %" PRIu32,
            GROUT_IM2COL_RANK_MIN, GROUT_IM2COL_RANK_MAX, grout_copy_sides__get_name(sides).chars,
            rank);
        return grout_copy_sides__help(
            sides, "its dimensions are [n, w, c], [n, h, w, c] or [n, d, h, w, c]");
    }
    if (!is_pixel(sides)) {
        grout_copy_sides__fail(
            sides, GROUT_DIAG_BAD_INDEX, grout_copy_sides__get_operand(sides, 'G')->loc,
            "the source of a copy in im2col mode is the array itself, with one index for each "
            "dimension, the last a slice of channels");
        return grout_copy_sides__help(sides, "write it as in %x[%n, %h, %w, ds(%c, 64)]");
    }
    if (sides->gmem->packed != 1) {
        grout_copy_sides__fail(
            sides, GROUT_DIAG_TYPE_CLASS, grout_copy_sides__get_operand(sides, 'G')->loc,
            "a copy in im2col mode takes elements of whole bytes, and several of %s fill one",
            grout_copy_sides__get_name(sides).chars);
        return grout_copy_sides__help(sides, "take bytes of an array of u8");
    }
    return true;
}

/* ---- the box of base pixels ------------------------------------------------------------------ */

static bool check_corner(const grout_copy_sides *sides, const grout_attr_value *attr,
                         const char *what, int64_t corner, uint32_t spatial_count) {
    const int64_t limit = INT64_C(1) << (get_bits(spatial_count) - 1);
    if (corner >= -limit && corner < limit) {
        return true;
    }
    grout_copy_sides__fail(
        sides, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
        "pixels(..): the %s of a range is %" PRId64 ", and a tensor map with %" PRIu32
        " spatial dimension%s holds %" PRId64 " to %" PRId64,
        what, corner, spatial_count, spatial_count == 1 ? "" : "s", -limit, limit - 1);
    return grout_copy_sides__help(sides, "pad the array, or cut it into several");
}

static bool check_step(const grout_copy_sides *sides, const grout_attr_value *attr, int64_t step) {
    if (step >= 1 && step <= STEP_MAX) {
        return true;
    }
    grout_copy_sides__fail(sides, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                           "pixels(..): the step of a range is %" PRId64
                           ", and a tensor map holds 1 to %d",
                           step, STEP_MAX);
    return grout_copy_sides__help(
        sides, "load single rows of pixels with copy_gmem_to_smem, or reshape the array");
}

static bool check_range(const grout_copy_sides *sides, const grout_attr_value *attr,
                        const grout_range *range, uint32_t dim, uint32_t spatial_count) {
    const int64_t size = grout_object_get_extent(sides->module, sides->gmem->object, dim);
    if (!check_corner(sides, attr, "begin", range->low, spatial_count) ||
        !check_corner(sides, attr, "end", range->high, spatial_count) ||
        !check_step(sides, attr, range->step)) {
        return false;
    }
    if (range->low <= size - 1 + range->high) {
        return true;
    }
    grout_copy_sides__fail(
        sides, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
        "pixels(..): in dimension %" PRIu32 " of %s, which has %" PRId64
        ", base pixels would lie from %" PRId64 " to %" PRId64 ": there are none",
        dim, grout_copy_sides__get_name(sides).chars, size, range->low, size - 1 + range->high);
    return grout_copy_sides__help(
        sides, "the end counts from the last element: -1 for a filter of 3 with padding 1");
}

static bool check_counts(const grout_copy_sides *sides, uint32_t range_count) {
    const uint32_t spatial_count = sides->gmem->rank - 2u;
    const uint32_t offset_count = sides->op->operand_count - 3u;
    if (offset_count != spatial_count) {
        grout_copy_sides__fail(
            sides, GROUT_DIAG_OPERAND_COUNT, sides->op->loc,
            "%s has %" PRIu32 " spatial dimension%s, and %" PRIu32 " offset%s given",
            grout_copy_sides__get_name(sides).chars, spatial_count, spatial_count == 1 ? "" : "s",
            offset_count, offset_count == 1 ? " is" : "s are");
        return grout_copy_sides__help(
            sides, "give one offset for each, outermost first: 0 if there is nothing to add");
    }
    if (range_count != spatial_count) {
        grout_copy_sides__fail(
            sides, GROUT_DIAG_BAD_ATTRIBUTE, sides->op->loc,
            "%s has %" PRIu32 " spatial dimension%s, and pixels(..) %" PRIu32 " range%s",
            grout_copy_sides__get_name(sides).chars, spatial_count, spatial_count == 1 ? "" : "s",
            range_count, range_count == 1 ? "" : "s");
        return grout_copy_sides__help(
            sides, "give one for each, outermost first; 0..0 is every pixel of the array");
    }
    return true;
}

bool grout_im2col__choose_pixels(const grout_copy_sides *sides, grout_tma *tma) {
    const grout_attr_value *attr =
        grout_module_find_attr(sides->module, sides->op, GROUT_ATTR_PIXELS);
    grout_range ranges[GROUT_RANGES_MAX];
    const uint32_t count = grout_op_get_ranges(sides->module, sides->op, GROUT_ATTR_PIXELS, ranges);
    if (!check_source(sides) || !check_counts(sides, count)) {
        return false;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (!check_range(sides, attr, &ranges[k], k + 1, count)) {
            return false;
        }
        tma->lower[count - 1 - k] = (int32_t)ranges[k].low;
        tma->upper[count - 1 - k] = (int32_t)ranges[k].high;
        tma->pixel_steps[count - 1 - k] = (uint32_t)ranges[k].step;
    }
    tma->spatial_count = (uint8_t)count;
    tma->offset_max = (1 << get_bits(count)) - 1;
    return true;
}

/* ---- one instruction ------------------------------------------------------------------------- */

bool grout_im2col__check_box(const grout_copy_sides *sides, const grout_tma *tma) {
    if (tma->band_count > 1) {
        grout_copy_sides__fail(
            sides, GROUT_DIAG_TMA_LAYOUT,
            grout_module_get_operand(sides->module, sides->op, 1)->loc,
            "a copy in im2col mode writes its pixels one after another, and this layout parts "
            "them into %" PRIu32 " bands",
            tma->band_count);
        return grout_copy_sides__help(
            sides, "take no more channels than fill the swizzle, or a tile of all rows");
    }
    if (tma->box[0] > CHANNELS_MAX) {
        grout_copy_sides__fail(sides, GROUT_DIAG_TMA_BOX,
                               grout_copy_sides__get_operand(sides, 'G')->loc,
                               "a copy in im2col mode takes %" PRId64 " channels: at most %d",
                               tma->box[0], CHANNELS_MAX);
        return grout_copy_sides__help(sides, "copy them in parts, or tile the SMEM array");
    }
    if (tma->box[1] > PIXELS_MAX) {
        grout_copy_sides__fail(
            sides, GROUT_DIAG_TMA_BOX, grout_module_get_operand(sides->module, sides->op, 1)->loc,
            "a copy in im2col mode takes %" PRId64 " pixels: at most %d", tma->box[1], PIXELS_MAX);
        return grout_copy_sides__help(sides, "copy them in parts");
    }
    return true;
}
