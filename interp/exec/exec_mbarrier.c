/*
 * exec_mbarrier.c - barriers of the explicit style, and tests of barriers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "cluster.h"
#include "engine.h"
#include "exec.h"
#include "mbarrier.h"
#include "memory.h"
#include "pair.h"
#include "spin.h"

#include <string.h>

static uint32_t get_count(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return (uint32_t)grout_slot__get_integer(cta, thread,
                                             grout_plan__slot(cta->machine->plan, inst, 0));
}

/* Whether the CTA keeps the mbarrier: that of a pair lies in the CTA which leads. */
static bool is_kept(const grout_cta *cta, uint32_t element) {
    return !grout_barrier__is_of_pair(cta, element) || grout_cta__leads_pair(cta);
}

grout_outcome grout_exec_mbarrier_init(const grout_cta *cta, uint32_t thread,
                                       const grout_inst *inst) {
    uint32_t element;
    if (grout_barrier__find_element(cta, thread, inst, 0, &element) && is_kept(cta, element)) {
        const uint32_t ctas = grout_barrier__is_of_pair(cta, element) ? 2 : 1;
        grout_mbarrier__init(cta, thread, inst, element, ctas * get_count(cta, thread, inst));
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_mbarrier_invalidate(const grout_cta *cta, uint32_t thread,
                                             const grout_inst *inst) {
    uint32_t element;
    if (grout_barrier__find_element(cta, thread, inst, 0, &element) && is_kept(cta, element)) {
        grout_mbarrier__invalidate(cta, thread, inst, element);
    }
    return GROUT_OUTCOME_NEXT;
}

/* The threads of the cluster meet after the last mbarrier_init of the kernel's own block. They
 * learn no more than that they have met. */
grout_outcome grout_exec_rendezvous(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_thread *own = grout_cta__thread(cta, thread);
    const grout_meeting meeting = {.is_relaxed = true, .is_for_all = inst->is_for_all};
    if (own->stage == 0) {
        grout_cluster__arrive(cta, thread, inst, meeting);
        own->stage = 1;
    }
    if (!grout_cluster__wait(cta, thread, inst, meeting)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    own->stage = 0;
    return GROUT_OUTCOME_NEXT;
}

/* ---- contributions -----------------------------------------------------------------------------
 */

/* CTAs whose barriers the op contributes to: the one it names, or those it serves. */
static uint32_t get_targets(const grout_cta *cta, const grout_inst *inst, uint32_t rank) {
    if (inst->u.arrive.from_cta < 0) {
        return 1u << rank;
    }
    return grout_mbarrier__get_served(cta->rank, (uint32_t)inst->u.arrive.from_cta,
                                      grout_machine__cluster_size(cta->machine));
}

static grout_outcome contribute(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                grout_arrival arrival) {
    grout_box box = grout_box__resolve(cta, thread, inst, 0);
    if (box.is_nowhere || !grout_barrier__find_element(cta, thread, inst, 0, &arrival.element)) {
        return GROUT_OUTCOME_NEXT;
    }
    const uint32_t targets =
        grout_barrier__get_owners(cta, arrival.element, get_targets(cta, inst, box.rank));
    uint32_t records[GROUT_CLUSTER_MAX];
    if (grout_mbarrier__awaits_init(cta, thread, arrival.element, targets)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    arrival.order = inst->order;
    arrival.scope = inst->edge_scope;
    if (grout_barrier__is_of_pair(cta, arrival.element)) { /* that of the leader says for both */
        arrival.bytes = grout_cta__leads_pair(cta) ? 2 * arrival.bytes : 0;
    }
    grout_barrier__arrive_all(cta, thread, inst, &arrival, targets, records);
    return GROUT_OUTCOME_NEXT;
}

/* The bytes that are announced; without a number, or with a negative one, a fault and none. */
static uint32_t get_bytes(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, 0);
    const int64_t bytes = grout_slot__get_integer(cta, thread, slot);
    const bool is_first = grout_cta__thread(cta, thread)->retry == GROUT_RETRY_FIRST;
    if (grout_slot__is_undefined(cta, thread, slot)) {
        if (is_first) {
            grout_cta__fault_undefined(cta, thread, inst, 1, GROUT_USE_SYNC);
        }
        return 0;
    }
    if (bytes < 0 && is_first) {
        grout_fault fault = {.code = GROUT_DIAG_BARRIER_TX_MISMATCH,
                             .object = grout_plan__box(cta->machine->plan, inst, 0)->object,
                             .have = bytes,
                             .need = GROUT_PHASE_BYTES_MAX};
        grout_cta__fault(cta, thread, inst, 1, &fault);
    }
    return bytes < 0 ? 0 : (uint32_t)bytes;
}

grout_outcome grout_exec_mbarrier_expect(const grout_cta *cta, uint32_t thread,
                                         const grout_inst *inst) {
    grout_arrival arrival = {.count = 1, .bytes = get_bytes(cta, thread, inst)};
    return contribute(cta, thread, inst, arrival);
}

grout_outcome grout_exec_mbarrier_expect_drop(const grout_cta *cta, uint32_t thread,
                                              const grout_inst *inst) {
    grout_arrival arrival = {.count = 1, .bytes = get_bytes(cta, thread, inst), .is_leaving = true};
    return contribute(cta, thread, inst, arrival);
}

grout_outcome grout_exec_mbarrier_arrive(const grout_cta *cta, uint32_t thread,
                                         const grout_inst *inst) {
    grout_arrival arrival = {.count = (uint32_t)inst->u.arrive.count};
    return contribute(cta, thread, inst, arrival);
}

grout_outcome grout_exec_mbarrier_arrive_drop(const grout_cta *cta, uint32_t thread,
                                              const grout_inst *inst) {
    grout_arrival arrival = {.count = (uint32_t)inst->u.arrive.count, .is_leaving = true};
    return contribute(cta, thread, inst, arrival);
}

/* ---- waits -------------------------------------------------------------------------------------
 */

static bool find_wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                      grout_waiting *wait) {
    *wait = (grout_waiting){.has_parity = true, .order = inst->order, .scope = inst->edge_scope};
    return grout_barrier__find_element(cta, thread, inst, 0, &wait->element);
}

/* The parity of a wait or test. */
static void read_parity(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                        grout_waiting *wait) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, 0);
    bool is_first = grout_cta__thread(cta, thread)->retry == GROUT_RETRY_FIRST;
    if (grout_slot__is_undefined(cta, thread, slot) && is_first) {
        grout_cta__fault_undefined(cta, thread, inst, 1, GROUT_USE_SYNC);
    }
    wait->parity = (uint8_t)(grout_slot__get_integer(cta, thread, slot) & 1);
}

/* Waits if the real parity lets it; the phase that was meant is what it acquires. */
static bool try_wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                     grout_waiting *wait) {
    grout_parity parity = grout_mbarrier__judge(cta, thread, wait->element, wait->parity);
    if (!parity.passes) {
        return false;
    }
    wait->phase = parity.meant;
    wait->is_other = parity.is_awaited && parity.meant != parity.real;
    wait->real = parity.real;
    if (parity.meant != GROUT_PHASE_NONE) {
        wait->has_landed = grout_flight__land_phases(cta, wait->element, parity.meant);
    }
    grout_barrier__observe(cta, thread, inst, wait);
    return true;
}

grout_outcome grout_exec_mbarrier_wait(const grout_cta *cta, uint32_t thread,
                                       const grout_inst *inst) {
    grout_waiting wait;
    if (!find_wait(cta, thread, inst, &wait)) {
        return GROUT_OUTCOME_NEXT;
    }
    read_parity(cta, thread, inst, &wait);
    if (!is_kept(cta, wait.element)) {
        return GROUT_OUTCOME_NEXT; /* the CTA that leads waits, and the other learns nothing */
    }
    if (grout_mbarrier__awaits_init(cta, thread, wait.element, 1u << cta->rank)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    /* If nobody has initialised it, this has been reported, and the wait returns at once. */
    if (!grout_mbarrier__check(cta, thread, inst, wait.element) ||
        try_wait(cta, thread, inst, &wait)) {
        return GROUT_OUTCOME_NEXT;
    }
    return grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_PARITY, wait.element, wait.parity);
}

static grout_outcome set_result(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                bool value) {
    *grout_slot__data(cta, thread, &inst->result) = value ? 1 : 0;
    grout_slot__set_undefined(cta, thread, &inst->result, false);
    return GROUT_OUTCOME_NEXT;
}

static void publish_false(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          const grout_waiting *wait) {
    grout_machine *machine = cta->machine;
    if (grout_machine__wants(machine, GROUT_EVENT_TEST_FALSE)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_TEST_FALSE, thread, inst, &clocks);
        grout_barrier_fact fact = grout_barrier__get_fact(cta, wait->element);
        event.u.wait.barrier = &fact;
        event.u.wait.is_test = true;
        grout_machine__publish(machine, &event);
    }
}

/*
 * What a test says of a phase that lacks nothing but what is in flight: yes as usual, in random
 * timing no until it has landed. A GPU may say either; but an actor that has come back to the test
 * with the same values only waits, and what is in flight lands sooner or later.
 */
static bool answers_yes(const grout_cta *cta, uint32_t thread, bool is_again) {
    grout_machine *machine = cta->machine;
    const bool usual = machine->launch.timing != GROUT_TIMING_RANDOM;
    const bool is_forced = (usual && is_again) || grout_cta__thread(cta, thread)->is_spinning;
    return is_forced ? usual : grout_machine__answer(machine, usual);
}

/* A test has said yes: its actor knows more than before. */
static grout_outcome pass_test(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_spin__change(cta->machine);
    grout_spin__forget_looks(grout_cta__thread(cta, thread));
    return set_result(cta, thread, inst, true);
}

/* A test has said no. */
static grout_outcome fail_test(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                               const grout_waiting *wait) {
    if (grout_spin__gives_up(cta, thread)) {
        return wait->has_parity ? grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_PARITY,
                                                   wait->element, wait->parity)
                                : grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_BARRIER,
                                                   wait->element, wait->phase);
    }
    publish_false(cta, thread, inst, wait);
    return set_result(cta, thread, inst, false);
}

grout_outcome grout_exec_mbarrier_test(const grout_cta *cta, uint32_t thread,
                                       const grout_inst *inst) {
    grout_waiting wait;
    if (!find_wait(cta, thread, inst, &wait)) {
        return set_result(cta, thread, inst, true);
    }
    read_parity(cta, thread, inst, &wait);
    if (!is_kept(cta, wait.element)) {
        return set_result(cta, thread, inst, true);
    }
    if (!grout_mbarrier__check(cta, thread, inst, wait.element)) {
        return set_result(cta, thread, inst, true);
    }
    wait.is_test = true;
    const bool is_again = grout_spin__begin_look(cta, thread, inst, NULL, 0);
    const grout_parity parity = grout_mbarrier__judge(cta, thread, wait.element, wait.parity);
    if (parity.passes && (!parity.may_fail || answers_yes(cta, thread, is_again))) {
        (void)try_wait(cta, thread, inst, &wait);
        return pass_test(cta, thread, inst);
    }
    return fail_test(cta, thread, inst, &wait);
}

grout_outcome grout_exec_barrier_test(const grout_cta *cta, uint32_t thread,
                                      const grout_inst *inst) {
    grout_waiting wait = {.is_test = true, .order = inst->order, .scope = inst->edge_scope};
    if (!grout_barrier__find_element(cta, thread, inst, 0, &wait.element)) {
        return set_result(cta, thread, inst, true);
    }
    wait.phase = grout_barrier__get_next_wait(cta, thread, wait.element);
    const bool is_again = grout_spin__begin_look(cta, thread, inst, NULL, 0);
    const bool may_fail = grout_cta__barrier(cta, wait.element)->completed <= wait.phase;
    if (!grout_barrier__is_ready(cta, wait.element, wait.phase) ||
        (may_fail && !answers_yes(cta, thread, is_again))) {
        return fail_test(cta, thread, inst, &wait);
    }
    wait.has_landed = grout_flight__land_phases(cta, wait.element, wait.phase);
    grout_barrier__observe(cta, thread, inst, &wait);
    return pass_test(cta, thread, inst);
}
