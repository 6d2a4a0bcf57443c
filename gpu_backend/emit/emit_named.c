/* emit_named.c - threads of a CTA that meet: block_barrier and named barriers. The kernel's named
 * barriers 0 to 6 are the hardware's 9 to 15, after the one of each thread's lanes (device
 * header). SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

/* Whether threads may complete it from several places: with partitions, or out of branches. */
static bool has_several_places(const grout_emitter *e, const grout_op *op) {
    grout_block_id block = 0;
    return e->forks.part_count > 0 ||
           grout_op_find_around(e->module, op, GROUT_REGION_BRANCH, &block) != NULL;
}

void grout_emit__block_barrier(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__check_common(e, op);
    grout_emit__line(e, "grout_block_barrier%s();", has_several_places(e, op) ? "_apart" : "");
    grout_emit__settle(e);
}

void grout_emit__named_barrier_sync(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__line(e, "grout_named_sync(%" PRId64 ", %" PRId64 ");",
                     grout_emit__get_integer(e, op, 0), grout_emit__get_integer(e, op, 1));
    grout_emit__settle(e);
}

/* Each lane arrives for what it has done. */
void grout_emit__named_barrier_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__line(e, "grout_named_arrive(%" PRId64 ", %" PRId64 ");",
                     grout_emit__get_integer(e, op, 0), grout_emit__get_integer(e, op, 1));
}
