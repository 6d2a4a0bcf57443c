/* verify_tensor_map.c - tensor maps that a kernel makes: where they lie, of which part of an array
 * they are, and which copies go through them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "type.h"

#include <inttypes.h>
#include <stdio.h>

#define MAP_WORDS   16 /* u64 of a tensor map */
#define START_BYTES 16 /* of the innermost dimension: what TMA takes as an address */

/* Whether the op makes a descriptor at run time. */
static bool is_maker(const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    return info->rule == GROUT_RULE_DESCRIPTOR && info->effect_row != GROUT_EFFECT_ROW_PURE;
}

static bool takes_slot(const grout_op *op) {
    return is_maker(op) || grout_op_get_info((grout_opcode)op->opcode)->effect_row ==
                               GROUT_EFFECT_ROW_TENSORMAP_ACQUIRE;
}

void grout_verify__note_slots(grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0; id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        grout_view view;
        if (is_maker(op) &&
            grout_module_get_view(module, grout_module_get_operand(module, op, 0), &view)) {
            verifying->holds_maps[view.object] = true;
        }
    }
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* A slot is 128 bytes at a multiple of 128: a whole row of 16 u64. */
static void check_slot(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const grout_operand *operand = grout_module_get_operand(module, op, 0);
    grout_view view;
    if (!grout_module_get_view(module, operand, &view)) {
        return;
    }
    const grout_type *type = grout_object_get_type(module, view.object);
    const grout_type slot = grout_view__get_type(module, &view);
    const uint32_t last = view.rank - 1u;
    if (grout_verify__find_param(verifying, view.object) != NULL) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_SPACE, operand->loc,
                                "'%s' takes a slot of a gmem scratch, and %s is a parameter",
                                grout_verify__get_text(op),
                                grout_verify__get_name(verifying, &view).chars);
        grout_diags_help(verifying->diags,
                         "the 128 bytes are the hardware's own: declare a scratch "
                         "in gmem, of u64[N, 16]");
    } else if (type->dtype != GROUT_DTYPE_U64 || view.view_rank != 1 || slot.dims[0] != MAP_WORDS ||
               view.view_dim[0] != last || type->dims[last] != MAP_WORDS) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INDEX, operand->loc,
                                "a slot of a tensor map is a whole row of %d u64, and this is %s "
                                "of %s",
                                MAP_WORDS, grout_type__get_text(&slot).chars,
                                grout_type__get_text(type).chars);
        grout_diags_help(verifying->diags,
                         "declare it as 'gmem u64[.., 16]', and index one row of it");
    } else if (!verifying->holds_maps[view.object]) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_SPACE, operand->loc,
                                "no make_tensor_descriptor writes a tensor map to %s",
                                grout_verify__get_name(verifying, &view).chars);
        grout_diags_help(verifying->diags, "name the slot that the descriptor is made in");
    }
}

/* What a tensor map looks like is the hardware's business: nobody else reads or writes it. */
static void check_operands(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    for (uint32_t k = takes_slot(op) ? 1 : 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        grout_view view;
        if (!grout_module_get_view(module, operand, &view) || !verifying->holds_maps[view.object]) {
            continue;
        }
        grout_verifying__report(
            verifying, GROUT_DIAG_BAD_SPACE, operand->loc, "'%s' takes %s, which holds tensor maps",
            grout_verify__get_text(op), grout_verify__get_name(verifying, &view).chars);
        grout_diags_help(verifying->diags, "only make_tensor_descriptor and tensormap_acquire take "
                                           "a slot: declare another scratch for data");
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

static bool is_outside(int64_t start, int64_t extent, int64_t size) {
    return start < 0 || extent < 1 || start > size || extent > size - start;
}

/* What is known of a part in a dimension. */
typedef struct known_part {
    grout_loc_id loc;
    bool has_start, has_extent;
    int64_t start, extent;
} known_part;

static void report_outside(grout_verifying *verifying, uint32_t dim, int64_t size,
                           const known_part *part) {
    char words[96];
    if (!part->has_start) {
        (void)snprintf(words, sizeof words, "a part of %" PRId64 " elements does not fit",
                       part->extent);
    } else if (!part->has_extent) {
        (void)snprintf(words, sizeof words, "a part that starts at %" PRId64 " leaves",
                       part->start);
    } else {
        (void)snprintf(words, sizeof words, "%" PRId64 " elements from %" PRId64 " on leave",
                       part->extent, part->start);
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_INDEX, part->loc,
                            "%s dimension %" PRIu32 " of the array, which has %" PRId64, words, dim,
                            size);
    grout_diags_help(verifying->diags,
                     "a tensor map has at least one element in each dimension, and all of them in "
                     "the array: make none for an empty part");
}

/* A dimension of the part, as far as it is known. */
static void check_dimension(grout_verifying *verifying, const grout_op *op, uint32_t dim,
                            const grout_type *array) {
    const grout_operand *from = grout_descriptor_get_start(verifying->module, op, dim);
    const grout_operand *many = grout_descriptor_get_extent(verifying->module, op, dim);
    const int64_t size = array->dims[dim];
    int64_t start = 0, extent = 1;
    const bool has_start = grout_verify__find_constant(verifying, from, &start);
    const bool has_extent = grout_verify__find_constant(verifying, many, &extent);
    const int64_t bytes = start * grout_dtype_get_info((grout_dtype)array->dtype)->bytes;
    if (is_outside(start, extent, size)) {
        report_outside(verifying, dim, size,
                       &(known_part){.loc = has_start ? from->loc : many->loc,
                                     .has_start = has_start,
                                     .has_extent = has_extent,
                                     .start = start,
                                     .extent = extent});
    } else if (dim + 1u == array->rank && bytes % START_BYTES != 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INDEX, from->loc,
                                "the part starts at element %" PRId64 " of a row, byte %" PRId64
                                ": it has to be a multiple of %d bytes",
                                start, bytes, START_BYTES);
        grout_diags_help(verifying->diags,
                         "start the part earlier, and the boxes in it later: they start at "
                         "multiples of %d bytes too",
                         START_BYTES);
    }
}

static void check_part(grout_verifying *verifying, const grout_op *op) {
    const grout_operand *operand = grout_descriptor_get_array(verifying->module, op);
    grout_view view;
    if (!grout_module_get_view(verifying->module, operand, &view)) {
        return;
    }
    const grout_type *array = grout_object_get_type(verifying->module, view.object);
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)array->dtype);
    if (info->packed > 1) {
        grout_verifying__report(verifying, GROUT_DIAG_TYPE_CLASS, operand->loc,
                                "'%s' takes elements of whole bytes, and %d of %s fill one",
                                grout_verify__get_text(op), info->packed, info->text);
        grout_diags_help(verifying->diags, "tensor_descriptor describes the whole array; or hold "
                                           "the bytes in an array of u8");
        return;
    }
    for (uint32_t dim = 0; dim < array->rank && 2 + 2u * array->rank == op->operand_count; dim++) {
        check_dimension(verifying, op, dim, array);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool is_same_map(const grout_tma *a, const grout_tma *b) {
    bool is_same = a->rank == b->rank && a->swizzle == b->swizzle && a->oob == b->oob;
    for (uint32_t k = 0; is_same && k < a->rank; k++) {
        is_same = a->box[k] == b->box[k] && a->object_dim[k] == b->object_dim[k];
    }
    return is_same;
}

/* The descriptor that a copy goes through and a kernel makes, or NULL. */
static const grout_op *find_maker(const grout_verifying *verifying, const grout_op *op,
                                  grout_view *view_out) {
    const uint32_t array = grout_op_find_letter((grout_opcode)op->opcode, 'G');
    return array != UINT32_MAX &&
                   grout_module_get_view(verifying->module,
                                         grout_module_get_operand(verifying->module, op, array),
                                         view_out)
               ? grout_view_find_made_descriptor(verifying->module, view_out)
               : NULL;
}

/* One map has one box and one swizzle, so all copies through it need the same. */
static void check_maps(grout_verifying *verifying, const grout_op *maker) {
    const grout_module *module = verifying->module;
    const grout_op *first = NULL;
    grout_tma wanted;
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0; id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        grout_view view;
        grout_tma tma;
        if (find_maker(verifying, op, &view) != maker || !grout_tma_plan(module, id, &tma, NULL)) {
            continue;
        }
        if (tma.oob != GROUT_CHOICE_OOB_NAN) {
            tma.oob = (uint8_t)GROUT_CHOICE_OOB_ZERO;
        }
        if (first == NULL) {
            first = op;
            wanted = tma;
        } else if (view.descriptor == maker->first_result && !is_same_map(&tma, &wanted)) {
            grout_verifying__report(verifying, GROUT_DIAG_TMA_LAYOUT, op->loc,
                                    "this copy needs another box or swizzle than the one before, "
                                    "and both go through %s, which is one tensor map",
                                    grout_value__get_text(module, maker->first_result, "it").chars);
            grout_diags_note(verifying->diags, grout_module_get_place(module, first->loc),
                             "the one before");
            grout_diags_help(verifying->diags,
                             "make a descriptor for each layout in SMEM, in slots of their own");
        }
    }
}

static void report_copy(grout_verifying *verifying, const grout_op *op, grout_diag_code code,
                        const char *why, const char *help) {
    grout_verifying__report(verifying, code, op->loc,
                            "'%s' through a descriptor of make_tensor_descriptor: %s",
                            grout_verify__get_text(op), why);
    grout_diags_help(verifying->diags, "%s", help);
}

/* Whether two ops run on the same actor: in no warp_map, or partition, that the other is not in. */
static bool is_same_actor(const grout_module *module, const grout_op *a, const grout_op *b) {
    grout_block_id blocks[2] = {0, 0};
    return grout_op_find_around(module, a, GROUT_REGION_WARPS, NULL) ==
               grout_op_find_around(module, b, GROUT_REGION_WARPS, NULL) &&
           grout_op_find_around(module, a, GROUT_REGION_PARTITIONS, &blocks[0]) ==
               grout_op_find_around(module, b, GROUT_REGION_PARTITIONS, &blocks[1]) &&
           blocks[0] == blocks[1];
}

static void check_copy(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    grout_view view;
    const grout_op *maker = find_maker(verifying, op, &view);
    if (maker == NULL) {
        return;
    }
    if (!is_same_actor(module, op, maker)) {
        report_copy(verifying, op, GROUT_DIAG_BAD_REGION,
                    "only the thread or warp that made the map uses it, and this is another one",
                    "make and acquire the descriptor where the copies are");
        grout_diags_note(verifying->diags, grout_module_get_place(module, maker->loc), "made here");
    } else if (grout_op_get_sync((grout_opcode)op->opcode) == NULL) {
        report_copy(verifying, op, GROUT_DIAG_OPERAND_KIND,
                    "nothing says when it has read the map, so the slot could never be used again",
                    "take a tensor_descriptor, or the array");
    } else if (grout_op_get_axes(module, op, GROUT_ATTR_COLLECTIVE_AXES) != 0) {
        report_copy(verifying, op, GROUT_DIAG_BAD_ATTRIBUTE,
                    "each CTA would copy its share by a map of its own, and nothing says that "
                    "they are of one part",
                    "let one CTA copy for all, by multicast, or take a tensor_descriptor");
    } else if (grout_module_find_attr(module, op, GROUT_ATTR_OOB) != NULL) {
        report_copy(verifying, op, GROUT_DIAG_BAD_ATTRIBUTE,
                    "the map says what comes from outside its part",
                    "write oob(..) at the make_tensor_descriptor");
    }
}

void grout_verify__tensor_map(grout_verifying *verifying, const grout_op *op) {
    check_operands(verifying, op);
    if (takes_slot(op)) {
        check_slot(verifying, op);
    }
    if (is_maker(op)) {
        check_part(verifying, op);
        check_maps(verifying, op);
    }
    check_copy(verifying, op);
}
