/* verify_memory.c - references: spaces, directions, indices that are known, tiles, TMA copies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "im2col_plan.h"
#include "row_plan.h"
#include "type.h"

#include "grout-internal/register_layout.h"

#include <inttypes.h>
#include <stdio.h>

#define SPACES_TEXT_MAX 64

_Static_assert((int)GROUT_EFFECT_SPACE_BARRIER == (int)GROUT_SPACE_COUNT,
               "a space has the same number in effects.def");

static const char *get_text(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->text;
}

/* Whether its plan says which memory it takes, and which parts of tiles. */
static bool has_plan(const grout_op *op) {
    const uint8_t rule = grout_op_get_info((grout_opcode)op->opcode)->rule;
    return rule == GROUT_RULE_WGMMA || rule == GROUT_RULE_TCGEN05;
}

/* The value of the object of a reference operand; through a descriptor, that of its array. */
static grout_value_id get_base(const grout_module *module, const grout_operand *operand) {
    grout_view view;
    return grout_module_get_view(module, operand, &view) ? view.base : 0;
}

static bool is_written(const grout_effect *effect) {
    return effect->access == GROUT_ACCESS_WRITE || effect->access == GROUT_ACCESS_ATOMIC;
}

/* The space that an operand has to lie in: what its letter says, or else its effect. */
static grout_effect_space get_wanted_space(const grout_op *op, uint32_t index,
                                           const grout_effect *effect) {
    const char letter = grout_op_get_letter((grout_opcode)op->opcode, index);
    const grout_letter_info *info = grout_letter_get_info(letter);
    if (info->space != GROUT_EFFECT_SPACE_ANY) {
        return (grout_effect_space)info->space;
    }
    return effect == NULL ? GROUT_EFFECT_SPACE_ANY : (grout_effect_space)effect->space;
}

/* Whether an operand may lie in a space where another is wanted. */
static bool fits_space(uint32_t space, grout_effect_space wanted, bool is_read) {
    if (wanted == GROUT_EFFECT_SPACE_ANY) {
        return space == GROUT_SPACE_NONE || grout_space_takes_stores(space) ||
               (is_read && grout_space_takes_loads(space));
    }
    return (uint32_t)wanted == space || wanted >= (grout_effect_space)GROUT_SPACE_COUNT;
}

/* The wanted space; of ANY all that take a store, the last of the table first: "gmem or smem". */
static void list_spaces(grout_effect_space wanted, char text[SPACES_TEXT_MAX]) {
    uint32_t left = 0;
    size_t size = 0;
    for (uint32_t space = 1; space < GROUT_SPACE_COUNT; space++) {
        left += grout_space_takes_stores(space) ? 1 : 0;
    }
    if (wanted != GROUT_EFFECT_SPACE_ANY) {
        snprintf(text, SPACES_TEXT_MAX, "%s", grout_space_get_text((grout_space)wanted));
        return;
    }
    for (uint32_t space = GROUT_SPACE_COUNT; space-- > 1 && size < SPACES_TEXT_MAX;) {
        if (grout_space_takes_stores(space)) {
            left--;
            size += (size_t)snprintf(text + size, SPACES_TEXT_MAX - size, "%s%s",
                                     grout_space_get_text((grout_space)space),
                                     left > 1    ? ", "
                                     : left == 1 ? " or "
                                                 : "");
        }
    }
}

/* The spaces of a wgmma's operands are part of its plan. */
static bool check_space(grout_verifying *verifying, const grout_op *op, uint32_t index,
                        const grout_effect *effect) {
    const grout_effect_space space = get_wanted_space(op, index, effect);
    const bool is_pick = grout_op_takes_picks((grout_opcode)op->opcode);
    const bool is_read = !is_pick && (effect == NULL || effect->access == GROUT_ACCESS_READ);
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, index);
    grout_type type = grout_module_get_operand_type(verifying->module, operand);
    if (fits_space(type.space, space, is_read) || type.kind != GROUT_TYPE_REF || has_plan(op)) {
        return true;
    }
    char wanted[SPACES_TEXT_MAX];
    list_spaces(space, wanted);
    bool is_destination = index == 1 || (effect != NULL && is_written(effect));
    grout_verifying__report(
        verifying, GROUT_DIAG_BAD_SPACE, operand->loc, "the %s of '%s' lies in %s, and %s is %s",
        is_destination ? "destination" : "source", get_text(op), wanted,
        grout_value__get_text(verifying->module, get_base(verifying->module, operand),
                              "the reference")
            .chars,
        grout_type__get_text(&type).chars);
    const grout_remedy situation = grout_space_is_of_thread(type.space) ? GROUT_REMEDY_ACCUMULATOR
                                   : grout_space_is_of_thread(space)    ? GROUT_REMEDY_MEMORY
                                                                        : GROUT_REMEDY_SPACE;
    grout_diags_help(verifying->diags, "%s", grout_verify__get_remedy(op, situation));
    return false;
}

static void check_direction(grout_verifying *verifying, const grout_op *op, uint32_t index) {
    const grout_module *module = verifying->module;
    const grout_operand *operand = grout_module_get_operand(module, op, index);
    grout_value_id base = get_base(module, operand);
    grout_object_id object = base == 0 ? 0 : grout_module_get_value(module, base)->object;
    const grout_param *param = object == 0 ? NULL : grout_verify__find_param(verifying, object);
    if (param == NULL || param->direction != GROUT_DIRECTION_IN) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_DIRECTION, operand->loc,
                            "'%s' writes %s, which is an 'in' array", get_text(op),
                            grout_value__get_text(module, base, "the reference").chars);
    grout_diags_note(verifying->diags,
                     grout_module_get_place(module, grout_module_get_value(module, base)->loc),
                     "declared here");
    grout_diags_help(verifying->diags, "declare it 'out', or 'inout' if it is read as well");
}

/* ---- indices that are known ------------------------------------------------------------------ */

/* A reference on its way through its steps. */
typedef struct index_check {
    grout_verifying *verifying;
    const grout_op *op;
    const grout_operand *operand;
    grout_value_id base;
    uint8_t object_rank;
    uint8_t rank;                  /* of the reference so far */
    uint8_t dims[GROUT_RANK_MAX];  /* the object's dimension for each of these */
    int64_t sizes[GROUT_RANK_MAX]; /* by dimension of the object: elements left of it */
    int64_t boxes[GROUT_RANK_MAX]; /* by dimension of the object: extent of a descriptor's box */
    int64_t tiles[GROUT_RANK_MAX]; /* by dimension of the object: its tile, 1 without */
    bool is_whole[GROUT_RANK_MAX]; /* not sliced yet */
    bool is_tma;                   /* a box of a gmem array: it may hang over */
    bool is_promised;              /* it says that it does not */
    bool is_bulk;                  /* its alignment is that of the whole box */
    bool is_free;                  /* of a copy that no hardware makes: it starts anywhere */
    bool is_masked;                /* it may hang over, where the mask is false */
    bool is_pixel;                 /* of a copy in im2col mode: it may lie outside */
    bool is_box;                   /* through a descriptor: indices are starts of a box */
    bool is_written;
} index_check;

static grout_value_text get_name(const index_check *check) {
    return grout_value__get_text(check->verifying->module, check->base, "the reference");
}

static void report_tile(index_check *check, grout_loc_id loc, uint32_t dim, const char *what,
                        int64_t value) {
    grout_verifying__report(check->verifying, GROUT_DIAG_BAD_INDEX, loc,
                            "dimension %" PRIu32 " of %s is tiled by %" PRId64
                            ", and the %s of the "
                            "slice, %" PRId64 ", is not a multiple of it",
                            dim, get_name(check).chars, check->tiles[dim], what, value);
    grout_diags_help(check->verifying->diags, "slices of tiled dimensions take whole tiles");
}

/* A constant start inside its dimension, for one element (size 1) or a slice. */
static void check_start(index_check *check, grout_loc_id loc, uint32_t dim, int64_t start,
                        int64_t size) {
    int64_t left = check->sizes[dim];
    const char *part = check->is_whole[dim] ? "" : "this slice of ";
    if (start >= 0 && start <= left - size) {
        return;
    }
    if (size == 1) {
        grout_verifying__report(check->verifying, GROUT_DIAG_BAD_INDEX, loc,
                                "index %" PRId64 " lies outside dimension %" PRIu32
                                " of %s%s, which has %" PRId64 " elements",
                                start, dim, part, get_name(check).chars, left);
        return;
    }
    grout_verifying__report(check->verifying, GROUT_DIAG_BAD_INDEX, loc,
                            "elements %" PRId64 " to %" PRId64 " leave dimension %" PRIu32
                            " of %s%s, which has %" PRId64,
                            start, start + size - 1, dim, part, get_name(check).chars, left);
    if (*part == '\0') {
        grout_diags_help(
            check->verifying->diags,
            check->is_promised
                ? "oob(in_bounds) promises that nothing lies outside: without it zeros "
                  "come from there, and stores are clipped"
                : "only the gmem box of a TMA copy may hang over the end of its array");
    }
}

/* A TMA box of a gmem array may hang over the end: the rest is zeros, or is not written. */
static void check_tma_start(index_check *check, grout_loc_id loc, uint32_t dim, int64_t start) {
    grout_type type = grout_module_get_operand_type(check->verifying->module, check->operand);
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type.dtype);
    const int64_t bytes = start * info->bytes / info->packed;
    bool is_innermost = dim + 1u == check->object_rank;
    if (start < 0 && check->is_written) {
        grout_verifying__report(
            check->verifying, GROUT_DIAG_BAD_INDEX, loc,
            "a store of a box that starts at %" PRId64 ": TMA writes from 0 on only", start);
        grout_diags_help(check->verifying->diags, "start at 0, with a box of its own for the edge");
    } else if (is_innermost && !check->is_bulk && !check->is_free && bytes % 16 != 0) {
        grout_verifying__report(check->verifying, GROUT_DIAG_BAD_INDEX, loc,
                                "a TMA box starts at element %" PRId64 " of a row, byte %" PRId64
                                ": it has to be a multiple of 16 bytes",
                                start, bytes);
        grout_diags_help(check->verifying->diags, "start at a multiple of %" PRId64 " elements",
                         INT64_C(16) * info->packed / info->bytes);
    }
}

/* A start that is a value, in a dimension of which several elements fill a byte. */
static void check_packed(index_check *check, grout_loc_id loc, const grout_operand *start) {
    const grout_module *module = check->verifying->module;
    const grout_type type = grout_module_get_operand_type(module, check->operand);
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type.dtype);
    if (start->kind != GROUT_OPERAND_VALUE ||
        grout_value_get_known_divisor(module, start->id) % info->packed == 0) {
        return;
    }
    grout_verifying__report(check->verifying, GROUT_DIAG_BAD_INDEX, loc,
                            "a slice of %s, which is %s, may start inside a byte: %s is not known "
                            "to be a multiple of %d",
                            get_name(check).chars, info->text,
                            grout_value__get_text(module, start->id, "the start").chars,
                            info->packed);
    grout_diags_help(check->verifying->diags, "count bytes, and multiply: '%%i * %d'",
                     info->packed);
}

static void check_index(index_check *check, const grout_index *index, uint32_t dim) {
    const grout_bound *bound = check->verifying->module->bound;
    bool is_slice = index->kind == GROUT_INDEX_SLICE;
    bool is_known = index->start.kind == GROUT_OPERAND_EXPR;
    int64_t start = is_known ? bound->expr_values[index->start.id].integer : 0;
    int64_t size = is_slice ? bound->expr_values[index->size].integer : 1;
    grout_loc_id loc = index->start.loc != 0 ? index->start.loc : check->operand->loc;
    if (index->kind == GROUT_INDEX_ALL) {
        return;
    }
    if (check->is_tma && (is_slice || check->is_box || check->is_pixel) && check->is_whole[dim]) {
        check_tma_start(check, loc, dim, start);
        if (check->is_promised && is_known && (start >= 0 || !check->is_written)) {
            check_start(check, loc, dim, start, check->is_box ? check->boxes[dim] : size);
        }
    } else if (!(check->is_masked && is_slice && check->is_whole[dim]) &&
               (size > check->sizes[dim] || is_known)) {
        check_start(check, loc, dim, start, size);
    }
    if (dim + 1u == check->object_rank) {
        check_packed(check, loc, &index->start);
    }
    if (is_slice && check->tiles[dim] > 1) {
        if (size % check->tiles[dim] != 0) {
            report_tile(check, loc, dim, "size", size);
        } else if (start % check->tiles[dim] != 0) {
            report_tile(check, loc, dim, "start", start);
        }
    }
    check->sizes[dim] = is_slice ? size : 0; /* 0: indexed away */
    check->is_whole[dim] = false;
}

/* From .bitcast or .reshape on, the dimensions that were left are those of another object. */
static void begin_again(index_check *check, const grout_ref_step *step) {
    const grout_type *type = grout_object_get_type(check->verifying->module, step->object);
    const uint8_t first = (uint8_t)(check->object_rank - check->rank);
    check->object_rank = type->rank;
    check->rank = (uint8_t)(type->rank - first);
    for (uint8_t dim = first; dim < type->rank; dim++) {
        check->dims[dim - first] = dim;
        check->sizes[dim] = type->dims[dim];
        check->is_whole[dim] = true;
    }
    if (!has_plan(check->op)) {
        grout_object__get_tiles(check->verifying->module, step->object, check->tiles);
    }
}

static void check_step(index_check *check, const grout_ref_step *step) {
    const grout_module *module = check->verifying->module;
    if (step->object != 0) {
        begin_again(check, step);
        return;
    }
    uint8_t old[GROUT_RANK_MAX] = {0}, kept = 0;
    for (uint32_t k = 0; k < GROUT_RANK_MAX; k++) {
        old[k] = check->dims[k];
    }
    for (uint32_t k = 0; k < step->count && step->kind != GROUT_REF_CLUSTER; k++) {
        const grout_index *index = grout_module_get_index(module, step, k);
        if (step->kind == GROUT_REF_TRANSPOSE) {
            check->dims[k] = old[module->bound->expr_values[index->size].integer];
        } else {
            check_index(check, index, old[k]);
        }
    }
    for (uint32_t k = 0; step->kind == GROUT_REF_INDEX && k < check->rank; k++) {
        if (check->sizes[old[k]] != 0) {
            check->dims[kept++] = old[k];
        }
    }
    check->rank = step->kind == GROUT_REF_INDEX ? kept : check->rank;
}

/* Whether only hardware asks how this copy's bytes lie: one CTA moves a box of its own. How a box
 * is dealt out, a descriptor and im2col mode belong to what the copy means. */
static bool is_free_without_hardware(const grout_verifying *verifying, const grout_op *op,
                                     const grout_view *view) {
    return verifying->arch == GROUT_ARCH_ANY && view->descriptor == 0 &&
           !grout_im2col__is_mode_of(op) && !grout_row_plan__is_of(op) &&
           grout_op_get_axes(verifying->module, op, GROUT_ATTR_COLLECTIVE_AXES) == 0;
}

static void check_indices(grout_verifying *verifying, grout_op_id id, const grout_op *op,
                          uint32_t operand_index, const grout_effect *effect) {
    const grout_module *module = verifying->module;
    const grout_operand *operand = grout_module_get_operand(module, op, operand_index);
    if (operand->kind != GROUT_OPERAND_REF) {
        return;
    }
    grout_view view;
    if (!grout_module_get_view(module, operand, &view)) {
        return;
    }
    const grout_ref *ref = grout_module_get_ref(module, operand->id);
    grout_object_id object = grout_module_get_value(module, view.base)->object;
    const grout_type *type = grout_object_get_type(module, object);
    index_check check = {.verifying = verifying, .op = op, .operand = operand};
    check.object_rank = check.rank = type->rank;
    check.base = view.base;
    check.is_box = view.descriptor != 0;
    check.is_pixel = operand_index == 0 && grout_im2col__is_mode_of(op);
    check.is_tma = grout_op_get_letter((grout_opcode)op->opcode, operand_index) == 'G';
    grout_pick pick;
    check.is_masked = operand_index == 0 && grout_op_get_pick(module, op, &pick) && pick.mask != 0;
    check.is_written = effect != NULL && is_written(effect);
    if (check.is_tma) {
        grout_tma tma;
        /* check_tma reports what does not fit */
        const bool is_planned = grout_tma_plan(module, id, &tma, NULL);
        check.is_free = !is_planned && is_free_without_hardware(verifying, op, &view);
        check.is_bulk = tma.is_bulk;
        check.is_promised = tma.oob == GROUT_CHOICE_OOB_IN_BOUNDS;
    }
    for (uint8_t dim = 0; dim < type->rank && dim < GROUT_RANK_MAX; dim++) {
        check.dims[dim] = dim;
        check.sizes[dim] = type->dims[dim];
        check.boxes[dim] = view.extent[dim];
        check.is_whole[dim] = true;
    }
    if (!has_plan(op)) {
        grout_object__get_tiles(module, object, check.tiles);
    }
    for (uint32_t k = 0; k < ref->step_count; k++) {
        check_step(&check, grout_module_get_ref_step(module, ref, k));
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static void check_scratch(grout_verifying *verifying, const grout_op *op) {
    if (grout_op_get_info((grout_opcode)op->opcode)->shape != GROUT_SHAPE_SCRATCH ||
        grout_module_get_block(verifying->module, op->parent)->parent == 0) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_SCRATCH_PLACE, op->loc,
                            "scratch lives as long as the CTA, and this is an inner block");
    grout_diags_help(verifying->diags,
                     "move it to the top of the kernel, or write scoped(%%x : ..)");
}

/* A pitch is the array's fault, and narrow rows that of a descriptor, not the copy's: the second
 * copy of the same array, or the copy through the descriptor, is not reported. */
static void check_tma(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    grout_tma tma;
    grout_view view;
    const grout_operand *operand = grout_module_get_operand(
        verifying->module, op, grout_op_find_letter((grout_opcode)op->opcode, 'G'));
    if (!grout_module_get_view(verifying->module, operand, &view) ||
        is_free_without_hardware(verifying, op, &view)) {
        return;
    }
    bool *has_bad_pitch = &verifying->has_bad_pitch[view.object];
    bool is_known =
        *has_bad_pitch ||
        (view.descriptor != 0 &&
         grout_verify__is_narrow(grout_module_get_type(verifying->module, view.descriptor)));
    if (grout_tma_plan(verifying->module, id, &tma, is_known ? NULL : verifying->diags)) {
        return;
    }
    verifying->ok = false;
    uint32_t count = grout_diags_count(verifying->diags);
    *has_bad_pitch = is_known ? *has_bad_pitch
                              : count > 0 && grout_diags_get(verifying->diags, count - 1)->code ==
                                                 GROUT_DIAG_TMA_PITCH;
}

/* Whether an operand is a reference to an array: it has an effect, or a letter that says so. */
static bool is_memory(const grout_op *op, uint32_t index, const grout_effect *effect) {
    return effect != NULL || get_wanted_space(op, index, NULL) != GROUT_EFFECT_SPACE_ANY;
}

/* Whether references of an op are said and not accessed: their indices lie inside all the same. */
static bool is_shown(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_PRINT_LAYOUT;
}

/* Gathers, scatters and masks take single elements, which packed ones are not in memory. */
static void check_pick(grout_verifying *verifying, const grout_op *op, uint32_t index) {
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, index);
    const grout_type type = grout_module_get_operand_type(verifying->module, operand);
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type.dtype);
    grout_pick pick;
    if (index != 0 || type.kind != GROUT_TYPE_REF || info->packed <= 1 ||
        !grout_op_get_pick(verifying->module, op, &pick)) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_TYPE_CLASS, operand->loc,
                            "'%s' takes elements of whole bytes, and %d of %s fill one",
                            get_text(op), info->packed, info->text);
    grout_diags_help(verifying->diags, "take bytes of an array of u8, or load and select");
}

void grout_verify__memory(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    bool spaces_fit = true;
    check_scratch(verifying, op);
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, k);
        if (!is_memory(op, k, effect)) {
            if (is_shown(op)) {
                check_indices(verifying, id, op, k, effect);
            }
            continue;
        }
        bool fits = check_space(verifying, op, k, effect);
        spaces_fit = spaces_fit && fits;
        if (fits && effect != NULL && is_written(effect)) {
            check_direction(verifying, op, k);
        }
        check_indices(verifying, id, op, k, effect);
        check_pick(verifying, op, k);
    }
    if (spaces_fit && grout_op_find_letter((grout_opcode)op->opcode, 'G') != UINT32_MAX) {
        check_tma(verifying, id, op);
    }
}
