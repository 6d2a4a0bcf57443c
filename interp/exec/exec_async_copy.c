/*
 * exec_async_copy.c - cp.async and its groups.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "async_copy.h"
#include "barrier.h"
#include "exec.h"
#include "mbarrier.h"

grout_outcome grout_exec_async_copy(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_async_copy__issue(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_async_masked_copy(const grout_cta *cta, uint32_t thread,
                                           const grout_inst *inst) {
    grout_async_copy__issue_picks(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_async_gather(const grout_cta *cta, uint32_t thread,
                                      const grout_inst *inst) {
    grout_async_copy__issue_picks(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_async_copy_commit_group(const grout_cta *cta, uint32_t thread,
                                                 const grout_inst *inst) {
    grout_async_copy__commit(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

/* Never blocks here: the engine does at once what is waited for. */
grout_outcome grout_exec_async_copy_wait(const grout_cta *cta, uint32_t thread,
                                         const grout_inst *inst) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, 0);
    grout_async_copy__wait(cta, thread, inst, (uint32_t)grout_slot__get_integer(cta, thread, slot));
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_async_copy_arrive(const grout_cta *cta, uint32_t thread,
                                           const grout_inst *inst) {
    uint32_t element;
    if (!grout_barrier__find_element(cta, thread, inst, 0, &element)) {
        return GROUT_OUTCOME_NEXT;
    }
    if (grout_mbarrier__awaits_init(cta, thread, element, 1u << cta->rank)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    if (grout_mbarrier__check(cta, thread, inst, element)) {
        grout_async_copy__arrive(cta, thread, inst, element);
    }
    return GROUT_OUTCOME_NEXT;
}
