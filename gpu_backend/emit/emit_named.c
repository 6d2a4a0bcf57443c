/* emit_named.c - threads of a CTA that meet: block_barrier and named barriers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

/* Whether threads may complete it from several places: with partitions, or out of branches. */
static bool has_several_places(const grout_emitter *e, const grout_op *op) {
    grout_block_id block = 0;
    return e->forks.part_count > 0 ||
           grout_op_find_around(e->module, op, GROUT_REGION_BRANCH, &block) != NULL;
}

void grout_emit__block_barrier(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__check_common(e, op);
    const bool is_fenced = grout_emit__begin_meeting(e, true);
    grout_emit__line(e, "grout_block_barrier%s();", has_several_places(e, op) ? "_apart" : "");
    grout_emit__end_meeting(e, is_fenced);
}

/* The call with id and lanes, which may be known only when it runs. */
static void add_call(grout_emitter *e, const grout_op *op, const char *function) {
    const bool is_in_lanes = grout_module_find_attr(e->module, op, GROUT_ATTR_LANES) != NULL;
    grout_emit__begin(e);
    grout_emit__add(e, "%s(", function);
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), NULL);
    FIELD_END(e, NAMED_ID);
    grout_emit__add(e, ", ");
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 1), NULL);
    grout_emit__add(e, is_in_lanes ? "" : " * 128");
    FIELD_END(e, NAMED_LANES);
    grout_emit__end(e, ");");
}

void grout_emit__named_barrier_sync(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    const bool is_fenced = grout_emit__begin_meeting(e, false);
    add_call(e, op, "grout_named_sync");
    grout_emit__end_meeting(e, is_fenced);
}

/* Each lane arrives for what it has done. */
void grout_emit__named_barrier_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    add_call(e, op, "grout_named_arrive");
}
