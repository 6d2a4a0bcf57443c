/*
 * exec_chain.c - elementwise instructions that run strip by strip. A strip and what is made of it
 * stay in the nearest cache, however large the arrays are; each element goes through the same loops
 * as one by one, so the bits are the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "strip.h"

#include <string.h>

/* Members run one by one if an input is undefined, since masks are for whole arrays, or if the run
 * is to stop inside the chain. */
static bool can_run(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                    const grout_chain_plan *chain) {
    const grout_machine *machine = cta->machine;
    bool is_undefined = false;
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        is_undefined |=
            grout_slot__is_undefined(cta, thread, grout_plan__slot(machine->plan, inst, i));
    }
    return !is_undefined && machine->run.stats.steps + chain->step_count <= machine->step_limit;
}

/* While members run one by one, temporary registers are part of the state: they must hold nothing
 * of an earlier chain. */
static void clear_temporaries(const grout_cta *cta, uint32_t thread) {
    const grout_plan *plan = cta->machine->plan;
    memset(grout_cta__registers(cta, thread) + plan->temporary_at, 0,
           plan->register_bytes - plan->temporary_at);
}

/* Where an operand's first strip is; scalars are repeated in their buffer now. */
static void begin_operand(const grout_cta *cta, uint32_t thread, const grout_chain_plan *chain,
                          const grout_chain_step *step, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_chain_run *run = &machine->chain_runs[step - grout_plan__steps(machine->plan, chain)];
    const grout_slot *slot = grout_plan__slot(machine->plan, run->inst, index);
    uint8_t *buffer = grout_strip__chain(machine) + step->operands[index] - 1;
    if (step->operands[index] != 0) {
        run->strip.operands[index] = buffer;
        run->steps[index] = 0;
    } else {
        run->strip.operands[index] = grout_slot__data(cta, thread, slot);
        run->steps[index] = run->inst->u.elementwise.strip == grout_strip__broadcast
                                ? 0
                                : chain->strip * slot->element_bytes;
    }
    if ((step->fills >> index & 1) != 0) {
        grout_strip__repeat(run->inst, slot, grout_slot__data(cta, thread, slot), buffer,
                            chain->strip);
    }
}

static void begin_steps(const grout_cta *cta, uint32_t thread, const grout_chain_plan *chain) {
    grout_machine *machine = cta->machine;
    const grout_chain_step *steps = grout_plan__steps(machine->plan, chain);
    for (uint32_t i = 0; i < chain->step_count; i++) {
        grout_chain_run *run = &machine->chain_runs[i];
        run->inst = grout_plan__inst(machine->plan, steps[i].inst);
        run->strip = (grout_strip){.widened = steps[i].widened};
        for (uint32_t k = 0; k < run->inst->slot_count; k++) {
            begin_operand(cta, thread, chain, &steps[i], k);
        }
        if (steps[i].result != 0) {
            run->strip.result = grout_strip__chain(machine) + steps[i].result - 1;
            run->result_step = 0;
        } else {
            const grout_slot *slot = &run->inst->result;
            run->strip.result = grout_slot__data(cta, thread, slot);
            run->result_step = chain->strip * slot->element_bytes;
            grout_slot__set_undefined(cta, thread, slot, false);
        }
    }
}

static void run_strips(grout_machine *machine, const grout_chain_plan *chain) {
    grout_chain_run *end = machine->chain_runs + chain->step_count;
    for (uint32_t first = 0; first < chain->count; first += chain->strip) {
        uint32_t rest = chain->count - first;
        uint32_t count = rest < chain->strip ? rest : chain->strip;
        for (grout_chain_run *run = machine->chain_runs; run < end; run++) {
            run->strip.first = first;
            run->strip.count = count;
            run->inst->u.elementwise.strip(machine, run->inst, &run->strip);
            run->strip.result += run->result_step;
            for (uint32_t i = 0; i < run->inst->slot_count; i++) {
                run->strip.operands[i] += run->steps[i];
            }
        }
    }
}

grout_outcome grout_exec_chain(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_chain_plan *chain = grout_pool__at(&machine->plan->chains, inst->u.chain);
    if (!can_run(cta, thread, inst, chain)) {
        clear_temporaries(cta, thread);
        return GROUT_OUTCOME_NEXT;
    }
    grout_thread *own = grout_cta__thread(cta, thread);
    begin_steps(cta, thread, chain);
    run_strips(machine, chain);
    machine->run.stats.steps += chain->step_count;
    machine->run.stats.work += chain->work;
    own->last_pc = inst->target - 1;
    own->pc = inst->target;
    return GROUT_OUTCOME_NEXT;
}
