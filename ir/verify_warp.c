/* verify_warp.c - what may stand in a warp_map: scalars, memory, barriers, control.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "type.h"

/* The warp_map around an op, or NULL. */
static const grout_op *find_warp_map(const grout_module *module, const grout_op *op) {
    grout_op_id id = grout_module_get_block(module, op->parent)->parent;
    while (id != 0) {
        const grout_op *around = grout_module_get_op(module, id);
        if (around->opcode == GROUT_OP_WARP_MAP) {
            return around;
        }
        id = grout_module_get_block(module, around->parent)->parent;
    }
    return NULL;
}

/* Why an operation cannot be a warp's, or NULL if it can. */
static const char *find_reason(const grout_op *op) {
    switch (op->opcode) {
    case GROUT_OP_WGMMA:
    case GROUT_OP_WGMMA_ASYNC:
    case GROUT_OP_WGMMA_WAIT:
    case GROUT_OP_ACC_LOAD:
    case GROUT_OP_ACC_STORE:
        return "the tensor core and its accumulators belong to all four warps together";
    case GROUT_OP_ASYNC_COPY:
    case GROUT_OP_ASYNC_COPY_COMMIT_GROUP:
    case GROUT_OP_ASYNC_COPY_WAIT:
    case GROUT_OP_ASYNC_COPY_ARRIVE:
        return "each lane of the thread copies its share, and counts its own groups";
    case GROUT_OP_ASYNC_STORE_SMEM:
        return "it stores an array, which the lanes of all four warps hold";
    case GROUT_OP_BLOCK_BARRIER:
    case GROUT_OP_NAMED_BARRIER_SYNC:
    case GROUT_OP_NAMED_BARRIER_ARRIVE:
    case GROUT_OP_CLUSTER_ARRIVE:
    case GROUT_OP_CLUSTER_WAIT:
    case GROUT_OP_CLUSTER_BARRIER:
        return "it counts whole threads";
    case GROUT_OP_SET_MAX_REGISTERS:
        return "the four warps of a thread change their registers together";
    case GROUT_OP_SCOPED:
        return "objects belong to a thread or the CTA";
    case GROUT_OP_WARP_MAP:
        return "a warp has no warps";
    case GROUT_OP_WARP_SPECIALIZE:
        return "partitions are threads";
    default:
        return NULL;
    }
}

static void report(grout_verifying *verifying, const grout_op *warp_map, grout_loc_id loc,
                   const char *text, const char *reason) {
    grout_verifying__report(verifying, GROUT_DIAG_BAD_REGION, loc,
                            "'%s' cannot stand in a warp_map: %s", text, reason);
    grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, warp_map->loc),
                     "the warp_map");
    grout_diags_help(verifying->diags, "move it before or behind the warp_map");
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

void grout_verify__warps(grout_verifying *verifying, const grout_op *op) {
    const grout_op *warp_map = find_warp_map(verifying->module, op);
    grout_type type;
    grout_loc_id loc;
    if (warp_map == NULL) {
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
