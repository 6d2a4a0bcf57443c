/* cancel.c - launch control: work that the launch has for CTAs which have not begun.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

#include "lanes.h"
#include "places.h"
#include "values.h"

#include <inttypes.h>

#define ANSWER_BYTES 16

void grout_emit__try_cluster_cancel(grout_emitter *e, grout_op_id id, const grout_op *op) {
    /* Every CTA expects the answer, and the first one asks for all. */
    const bool is_collective = grout_op_get_axes(e->module, op, GROUT_ATTR_COLLECTIVE_AXES) != 0 &&
                               e->plan->cluster_size > 1;
    const bool is_multicast =
        is_collective ||
        (grout_op_get_axes(e->module, op, GROUT_ATTR_MULTICAST) != 0 && e->plan->cluster_size > 1);
    grout_view answer, barrier;
    (void)id;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL ||
        !grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), &answer)) {
        e->failed = true;
        return;
    }
    grout_emit__before_issue(e, "one lane asks for all");
    grout_emit__open_issuer(e);
    if (!entry->is_explicit) {
        const uint32_t size = grout_gpu__plan_get_arrival_size(entry);
        grout_emit__begin(e);
        grout_emit__add(e, "grout_mbarrier_arrive_expect%s(",
                        FIELD_OR(MBARRIER_ARRIVE_ORDER, "", "<GROUT_RELAXED>"));
        grout_emit__barrier_address(e, &barrier);
        grout_emit__add(e, ", %d", (int)FIELD(MBARRIER_BYTES, ANSWER_BYTES));
        if (size != 1) {
            grout_emit__add(e, ", %" PRIu32, size);
        }
        grout_emit__end(e, ");");
    }
    if (is_collective) {
        grout_emit__begin(e);
        grout_emit__add(e, "if (rank == 0)");
        grout_emit__open(e);
    }
    grout_emit__begin(e);
    grout_emit__add(e, "grout_cancel_cluster%s(", is_multicast ? "_multicast" : "");
    grout_emit__smem_start(e, &answer);
    FIELD_END(e, CANCEL_ANSWER);
    grout_emit__add(e, ", ");
    grout_emit__barrier_address(e, &barrier);
    grout_emit__end(e, ");");
    if (is_collective) {
        grout_emit__close(e, "");
    }
    grout_emit__close_issuer(e);
}

void grout_emit__query_cluster_cancel(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view answer;
    (void)id;
    if (!grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), &answer)) {
        e->failed = true;
        return;
    }
    grout_emit__before_access(e, answer.object, false);
    grout_emit__begin_scalar(e, op->first_result);
    grout_emit__add(e, "grout_get_cancelled(");
    grout_emit__smem_start(e, &answer);
    FIELD_END(e, CANCEL_READ);
    grout_emit__end(e, ", %" PRId64 ");", FIELD(CANCEL_SIZE, e->plan->cluster_size));
    grout_emit__after_access(e, answer.object, false);
}
