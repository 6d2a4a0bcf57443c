/* verify_warp.c - what may stand in a warp_map: scalars, memory, barriers, control; and in a
 * partition of fewer than four warps: what does not take a warpgroup.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "type.h"

#include <inttypes.h>

/* Why an operation cannot be a warp's, or NULL if it can: its line of sync.def says, and no warp
 * has an accumulator of its own. */
static const char *find_reason(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync != NULL) {
        return sync->warp[0] == '\0' ? NULL : sync->warp;
    }
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, k);
        if (effect != NULL && effect->space == GROUT_EFFECT_SPACE_ACC) {
            return "the tensor core and its accumulators belong to all four warps together";
        }
    }
    return NULL;
}

static void report(grout_verifying *verifying, const grout_op *warp_map, grout_loc_id loc,
                   const char *text, const char *reason) {
    grout_verifying__report(verifying, GROUT_DIAG_BAD_REGION, loc,
                            "'%s' cannot stand in a warp_map: %s", text, reason);
    grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, warp_map->loc),
                     "the warp_map");
    grout_diags_help(verifying->diags, "move it before or after the warp_map");
}

/* The first operand or result that is an array, or a reference to more than one element that a load
 * or store would make one of; NONE without. */
static bool find_array(const grout_verifying *verifying, const grout_op *op, grout_type *type_out,
                       grout_loc_id *loc_out) {
    const grout_module *module = verifying->module;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        if (operand->kind != GROUT_OPERAND_VALUE) {
            continue;
        }
        *type_out = *grout_module_get_type(module, operand->id);
        if (type_out->kind == GROUT_TYPE_ARRAY) {
            *loc_out = operand->loc;
            return true;
        }
    }
    for (uint32_t k = 0; k < op->result_count; k++) {
        *type_out = *grout_module_get_type(module, op->first_result + k);
        if (type_out->kind == GROUT_TYPE_ARRAY) {
            *loc_out = op->loc;
            return true;
        }
    }
    return false;
}

/* ---- partitions of one or two warps ---------------------------------------------------------- */

static void help_partition(grout_verifying *verifying, const char *help) {
    const grout_kernel *kernel = grout_module_get_kernel(verifying->module, verifying->kernel);
    grout_diags_note(verifying->diags,
                     grout_module_get_place(verifying->module, kernel->partition_loc),
                     "the warps of each partition");
    grout_diags_help(verifying->diags, "%s", help);
}

/* Why an operation takes the four warps of a warpgroup, or NULL: the tensor core's accumulators,
 * and the registers that they change together. Lanes that copy or arrive for themselves may be
 * fewer. */
static const char *find_group_reason(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const bool takes_group = sync == NULL || sync->object == GROUT_SYNC_OBJECT_WGMMA ||
                             sync->object == GROUT_SYNC_OBJECT_TMEM_LOAD ||
                             sync->object == GROUT_SYNC_OBJECT_TMEM_STORE ||
                             sync->object == GROUT_SYNC_OBJECT_REGISTERS ||
                             sync->object == GROUT_SYNC_OBJECT_PARTS;
    return takes_group ? find_reason(op) : NULL;
}

static bool forks_warps(const grout_op *op) {
    return grout_op_get_region_kind(op) == GROUT_REGION_WARPS;
}

/* A cast to a layout that a text spells out lane by lane. */
static bool is_spelt_layout(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_LAYOUT &&
           op->operand_count == 2;
}

/* The op stands in the body of a thread that has no four warps. */
static void check_partition(grout_verifying *verifying, const grout_op *op, uint32_t warps) {
    const char *text = grout_verify__get_text(op);
    const char *plural = warps == 1 ? "" : "s";
    const char *reason = forks_warps(op) ? "it gives work to each of the four warps of a thread"
                                         : find_group_reason(op);
    if (reason != NULL) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_REGION, op->loc,
                                "'%s' cannot stand in a partition of %" PRIu32 " warp%s: %s", text,
                                warps, plural, reason);
        help_partition(verifying,
                       forks_warps(op)
                           ? "write the work of one warp without this operation, or give the "
                             "partition 4 warps"
                           : "give the partition 4 warps, or leave it to one that has");
    } else if (is_spelt_layout(op)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_REGION,
                                grout_module_get_operand(verifying->module, op, 1)->loc,
                                "'%s' spells out the lanes of four warps, in a partition of "
                                "%" PRIu32 " warp%s",
                                text, warps, plural);
        help_partition(verifying, "name a layout, which fits the lanes that there are: "
                                  "'layout_cast .. wgmma', or give the partition 4 warps");
    }
}

static void check_in_partition(grout_verifying *verifying, const grout_op *op) {
    const uint32_t warps = grout_op_get_warps(verifying->module, op);
    if (warps == 1 || warps == 2) { /* other sizes are reported at the kernel */
        check_partition(verifying, op, warps);
    }
}

void grout_verify__warps(grout_verifying *verifying, const grout_op *op) {
    const grout_op *warp_map =
        grout_op_find_around(verifying->module, op, GROUT_REGION_WARPS, NULL);
    grout_type type;
    grout_loc_id loc;
    if (warp_map == NULL) {
        check_in_partition(verifying, op);
        return;
    }
    const char *reason = find_reason(op);
    if (reason != NULL) {
        report(verifying, warp_map, op->loc, grout_verify__get_text(op), reason);
    } else if (find_array(verifying, op, &type, &loc)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_REGION, loc,
                                "'%s' works on an array, %s, in a warp_map: the lanes of all four "
                                "warps hold it",
                                grout_verify__get_text(op), grout_type__get_text(&type).chars);
        grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, warp_map->loc),
                         "the warp_map");
        grout_diags_help(verifying->diags, "a warp works on scalars: index every dimension, or do "
                                           "it outside");
    }
}
