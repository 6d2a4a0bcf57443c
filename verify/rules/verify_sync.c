/* verify_sync.c - the arrivals of barriers, and waits on groups.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>

/* ---- barriers -------------------------------------------------------------------------------- */

static void check_arrivals(grout_verifying *verifying, grout_value_id value) {
    const grout_module *module = verifying->module;
    grout_object_id id = grout_module_get_value(module, value)->object;
    const grout_object *object = grout_module_get_object(module, id);
    if (object->kind != GROUT_OBJECT_BARRIER || object->arrivals == 0) {
        return;
    }
    int64_t arrivals = grout_module_get_expr_value(module, object->arrivals).integer;
    grout_loc_id loc = grout_module_get_expr(module, object->arrivals)->loc;
    grout_value_text name = grout_value__get_text(module, value, "the barrier");
    if (arrivals < 1 || arrivals > GROUT_MBARRIER_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_ARRIVALS, loc,
                                "%s completes a phase with %" PRId64
                                " arrivals: an mbarrier counts 1 to %d",
                                name.chars, arrivals, GROUT_MBARRIER_MAX);
    }
}

/* More than the barrier's arrivals is for the race checker to find: the code is reachable or not.
 */
static void check_arrive_count(grout_verifying *verifying, const grout_op *op) {
    const grout_attr_value *attr =
        grout_module_find_attr(verifying->module, op, GROUT_ATTR_ARRIVE_COUNT);
    if (attr == NULL) {
        return;
    }
    int64_t count = grout_module_get_expr_value(verifying->module, attr->expr).integer;
    if (count < 1 || count > GROUT_MBARRIER_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_ARRIVALS, attr->loc,
                                "%" PRId64 " arrivals at once: an mbarrier counts 1 to %d", count,
                                GROUT_MBARRIER_MAX);
    }
}

static void check_wait(grout_verifying *verifying, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 0);
    int64_t count = grout_module_get_expr_value(verifying->module, operand->id).integer;
    if (count < 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                                "'%s' leaves at most n groups in flight, and %" PRId64
                                " is negative",
                                grout_op_get_info((grout_opcode)op->opcode)->text, count);
        grout_diags_help(verifying->diags, "0 waits for all of them");
    }
}

/* Whether its object is the thread's groups of copies; of wgmmas: verify_wgmma.c. */
static bool is_of_copies(const grout_sync_info *sync) {
    return sync->object == GROUT_SYNC_OBJECT_BULK || sync->object == GROUT_SYNC_OBJECT_ASYNC_COPY;
}

void grout_verify__sync(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    grout_value_id first;
    uint32_t count = grout_op_get_made_objects(module, op, &first);
    for (uint32_t k = 0; k < count; k++) {
        check_arrivals(verifying, first + k);
    }
    if (sync != NULL && sync->mode == GROUT_SYNC_MODE_WAITS && is_of_copies(sync)) {
        check_wait(verifying, op);
    }
    check_arrive_count(verifying, op);
}
