/* emit_semaphore.c - semaphores: 64 bits of GMEM each, units and total, which one lane of a thread
 * changes and looks at.
 *
 * Buffers: plan_workspace.c. A signal stands after a meeting of the thread's lanes, so that its
 * release covers what all of them did; a wait stands before one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

static bool get_semaphore(grout_emitter *e, const grout_op *op, grout_view *view_out) {
    if (grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), view_out) &&
        grout_gpu__plan_find_workspace(e->plan, view_out->object) != UINT32_MAX) {
        return true;
    }
    grout_emit__unsupported(e, op, "the operand is not a semaphore");
    return false;
}

/* "done + slot": a pointer. */
static void add_pointer(grout_emitter *e, const grout_view *semaphore) {
    int64_t slot;
    grout_emit__add(e, "%s", grout_emit__name(e, semaphore->base));
    if (!grout_emit__has_constant_slot(e, semaphore, &slot) || slot != 0) {
        grout_emit__add(e, " + (");
        grout_emit__slot(e, semaphore);
        grout_emit__add(e, ")");
    }
    FIELD_END(e, SEMAPHORE_ADDRESS);
}

/* "<GROUT_RELEASE, GROUT_SYS>(done + 1, units": units as u32. */
static void add_call(grout_emitter *e, const grout_op *op, const grout_view *semaphore,
                     const char *order) {
    /* Any device may have the semaphore. A written scope says for whom memory is ordered; the units
     * are counted right for all CTAs in any case: PTX calls atomic operations whose scopes do not
     * include each other's threads a race. */
    const uint32_t scope = grout_emit__get_scope(e, op, "GROUT_SYS", "GROUT_GPU");
    grout_emit__add(e, "<%s, %s>(", order,
                    grout_emit__get_scope_name(FIELD(SEMAPHORE_SCOPE, scope)));
    add_pointer(e, semaphore);
    grout_emit__add(e, ", (grout_u32)(");
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 1), NULL);
    grout_emit__add(e, ")");
}

void grout_emit__semaphore_signal(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const char *order = grout_emit__choice(e, op, GROUT_ATTR_ORDER, "GROUT_RELEASE");
    grout_view semaphore;
    (void)id;
    if (!get_semaphore(e, op, &semaphore)) {
        return;
    }
    grout_emit__before_issue(e, "one lane signals for all");
    grout_emit__open_issuer(e);
    grout_emit__fence_engines(e, op);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_semaphore_signal");
    add_call(e, op, &semaphore, FIELD_OR(SEMAPHORE_SIGNAL_ORDER, order, "GROUT_RELAXED"));
    FIELD_END(e, SEMAPHORE_GIVEN);
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
}

void grout_emit__semaphore_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const bool is_look = grout_module_find_attr(e->module, op, GROUT_ATTR_NO_DECREMENT) != NULL;
    const char *order = grout_emit__choice(e, op, GROUT_ATTR_ORDER, "GROUT_ACQUIRE");
    grout_view semaphore;
    (void)id;
    if (!get_semaphore(e, op, &semaphore)) {
        return;
    }
    grout_emit__open_issuer(e);
    grout_emit__begin(e);
    grout_emit__add(e, is_look ? "grout_semaphore_look" : "grout_semaphore_wait");
    add_call(e, op, &semaphore, FIELD_OR(SEMAPHORE_WAIT_ORDER, order, "GROUT_RELAXED"));
    FIELD_END(e, SEMAPHORE_TAKEN);
    grout_emit__add(e, ", dog, {%" PRIu32 ", (grout_u32)(",
                    grout_gpu__plan_find_workspace(e->plan, semaphore.object));
    grout_emit__slot(e, &semaphore);
    grout_emit__add(e, ")");
    grout_emit__end_site(e, op);
    grout_emit__fence_engines(e, op);
    grout_emit__close_issuer(e);
    grout_emit__thread_barrier(e, "all lanes know");
}

void grout_emit__semaphore_read(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view semaphore;
    (void)id;
    if (!get_semaphore(e, op, &semaphore)) {
        return;
    }
    grout_emit__begin_uniform(e, op->first_result);
    grout_emit__add(e, "grout_semaphore_read(");
    add_pointer(e, &semaphore);
    grout_emit__add(e, ")");
    grout_emit__end_uniform(e, op->first_result);
}
