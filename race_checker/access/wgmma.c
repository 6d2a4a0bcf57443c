/*
 * wgmma.c - groups of wgmmas: which instructions follow each other on an accumulator, and which
 * wait would have covered a group that was not waited for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Only the thread that issued a wgmma can wait for it, so a wait helps against another thread's
 * refill only if it comes before the arrive that lets that thread go on. Everything here is for
 * saying what to do; whether there is a finding is decided in rules.c.
 */
#include "access.h"
#include "statement.h"

#include "alloc.h"
#include "hash.h"

#include "grout-internal/verify.h"

#include <string.h>

static bool is_wgmma_op(const grout_op *op, grout_sync_mode mode) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_WGMMA && sync->mode == mode;
}

/* ---- shapes ---- */

/* How many columns a tcgen05_mma adds to, and rows, in one word that is never 0. Which columns they
 * are each access tells. The kind is no part of the shape (PTX ISA 9.4, pipelined instructions). */
static uint32_t get_tcgen05_shape(const grout_module *module, grout_op_id op) {
    grout_tcgen05 plan;
    if (!grout_tcgen05_plan(module, op, &plan, NULL)) {
        return 0;
    }
    const uint32_t facts[] = {plan.columns, plan.product.m};
    const uint64_t hash = grout_hash__bytes(1, facts, sizeof facts);
    return (uint32_t)(hash ^ hash >> 32) | 1u;
}

/* Column, N and K of one instruction in one word that is never 0. */
static uint32_t get_shape(const grout_module *module, grout_op_id op) {
    grout_wgmma plan;
    if (!grout_wgmma_plan(module, op, &plan, NULL)) {
        return 0;
    }
    return (uint32_t)plan.column << 14 | plan.n << 5 | plan.k_step * (plan.is_sparse ? 2 : 1);
}

bool grout_checker__find_shapes(grout_checker *checker) {
    const grout_module *module = checker->info.module;
    uint32_t count = grout_module_get_op_count(module);
    checker->wgmma_shapes = grout__new(checker->allocator, count, sizeof *checker->wgmma_shapes);
    for (grout_op_id i = 1; checker->wgmma_shapes && i < count; i++) {
        const grout_op *op = grout_module_get_op(module, i);
        const uint8_t rule = grout_op_get_info((grout_opcode)op->opcode)->rule;
        if (is_wgmma_op(op, GROUT_SYNC_MODE_STARTS)) {
            checker->wgmma_shapes[i] = get_shape(module, i);
        } else if (rule == GROUT_RULE_TCGEN05) {
            checker->wgmma_shapes[i] = get_tcgen05_shape(module, i);
        } else if (rule == GROUT_RULE_TCGEN05_COPY) {
            checker->wgmma_shapes[i] = GROUT_SHAPE_OF_COPY;
        }
    }
    return checker->wgmma_shapes != NULL;
}

void grout_checker__note_reported(grout_checker *checker, const grout_facts *facts) {
    const grout_side *wgmma = &facts->sides[1];
    grout_cta_state *state = grout_checker__find_cta(checker, wgmma->origin.cta);
    bool is_own = grout_origin__is_same_actor(&facts->sides[0].origin, &wgmma->origin);
    if (!state) {
        return;
    }
    grout_reported *reported =
        &state->facts.reported[grout_checker__get_local(checker, &wgmma->origin)];
    uint32_t *newest = is_own ? &reported->own : &reported->by_others;
    *newest = *newest < wgmma->stamp.number ? wgmma->stamp.number : *newest;
}

/*
 * The arrive of a thread, between two of its epochs, that let another one go on: on the barrier
 * that this one waited on last, else the newest. NULL: none is known.
 */
static const grout_handover *find_handover(const grout_thread_history *owner,
                                           const grout_thread_history *other, uint32_t first,
                                           uint32_t last) {
    const grout_handover *best = NULL;
    uint32_t kept =
        owner->handover_count < GROUT_HANDOVERS_MAX ? owner->handover_count : GROUT_HANDOVERS_MAX;
    for (uint32_t i = 1; i <= kept; i++) {
        const grout_handover *it =
            &owner->handovers[(owner->handover_count - i) % GROUT_HANDOVERS_MAX];
        if (it->epoch < first || it->epoch > last) {
            continue;
        }
        if (other->wait.op && other->wait_element == it->element) {
            return it;
        }
        best = best ? best : it;
    }
    return best;
}

/* ---- waits ---- */

/* An op after this one that only waits, before the block ends or another wgmma, with at most this
 * n. */
static grout_op_id find_later_wait(const grout_module *module, grout_op_id op, uint32_t needed) {
    for (op = grout_module_get_op(module, op)->next; op;
         op = grout_module_get_op(module, op)->next) {
        const grout_op *it = grout_module_get_op(module, op);
        if (is_wgmma_op(it, GROUT_SYNC_MODE_STARTS)) {
            return 0;
        }
        if (is_wgmma_op(it, GROUT_SYNC_MODE_WAITS) && it->result_count == 0) {
            grout_expr_id n = grout_op__find_allowed(module, it);
            return grout_module_get_expr_value(module, n).integer <= (int64_t)needed ? op : 0;
        }
    }
    return 0;
}

/* What is there for group k, up to the op where the wait should have been. */
static void judge_wait(const grout_module *module, const grout_wgmma_wait *wait, uint32_t group,
                       grout_op_id spot, grout_near *near) {
    grout_op_id late = find_later_wait(module, spot, near->needed);
    near->origin = wait->origin;
    near->number = wait->allowed;
    if (wait->origin.op && wait->issued >= group) {
        near->kind = GROUT_NEAR_WGMMA_LEFT;
        near->wait_needed = wait->issued - group;
    } else if (late) {
        near->kind = GROUT_NEAR_WGMMA_LATE;
        near->origin = (grout_origin){.op = late};
    } else {
        near->kind = wait->origin.op ? GROUT_NEAR_WGMMA_BEFORE : GROUT_NEAR_WGMMA_NEVER;
    }
}

/* Nothing tells the thread that overwrites of the wgmma: perhaps an arrive came before it. */
static grout_near find_unordered(const grout_checker *checker, const grout_facts *facts,
                                 const grout_clocks *clocks) {
    const grout_side *copy = &facts->sides[0], *wgmma = &facts->sides[1];
    const grout_thread_history *owner = grout_checker__get_history(checker, &wgmma->origin);
    const grout_thread_history *other = grout_checker__get_history(checker, &copy->origin);
    const grout_handover *handover = NULL;
    grout_near near = {.kind = GROUT_NEAR_WGMMA_UNORDERED};
    uint32_t told = clocks->known[grout_clock_epoch(
        &checker->shape, grout_checker__get_actor(checker, &wgmma->origin))];
    if (!facts->primary_is_earlier && told > 0) {
        handover = find_handover(owner, other, 1, told);
    }
    if (handover && handover->element == other->wait_element && other->wait.op) {
        near.origin = handover->origin;
    }
    return near;
}

grout_near grout_near__find_wgmma(const grout_checker *checker, const grout_facts *facts,
                                  const grout_clocks *clocks) {
    const grout_side *access = &facts->sides[0], *wgmma = &facts->sides[1];
    const grout_thread_history *owner = grout_checker__get_history(checker, &wgmma->origin);
    const grout_handover *handover = NULL;
    uint32_t group = wgmma->stamp.number;
    grout_near near = {.kind = GROUT_NEAR_WGMMA_NEVER};
    if (!facts->knows_issue) {
        return find_unordered(checker, facts, clocks);
    }
    if (grout_origin__is_same_actor(&access->origin, &wgmma->origin)) {
        /* A wgmma has its own group counted already, and waits after its accesses. */
        bool is_wgmma = (access->stamp.agent != GROUT_AGENT_ACTOR) &&
                        access->stamp.component == wgmma->stamp.component;
        GROUT_ASSERT((is_wgmma ? access->stamp.number - 1 : owner->wgmma_issued) >= group);
        near.needed = (is_wgmma ? access->stamp.number - 1 : owner->wgmma_issued) - group;
        judge_wait(checker->info.module, &owner->wgmma_wait, group, access->origin.op, &near);
        return near;
    }
    handover =
        find_handover(owner, grout_checker__get_history(checker, &access->origin), wgmma->epoch,
                      clocks->known[grout_clock_epoch(
                          &checker->shape, grout_checker__get_actor(checker, &wgmma->origin))]);
    if (handover) {
        near.handover = handover->origin;
        GROUT_ASSERT(handover->issued >= group);
        near.needed = handover->issued - group;
        judge_wait(checker->info.module, &handover->wait, group, handover->origin.op, &near);
    }
    return near;
}

grout_near grout_near__find_wgmma_at_exit(const grout_checker *checker, const grout_side *wgmma) {
    const grout_thread_history *owner = grout_checker__get_history(checker, &wgmma->origin);
    const grout_wgmma_wait *wait = &owner->wgmma_wait;
    grout_near near = {.kind = GROUT_NEAR_WGMMA_NEVER};
    near.origin = wait->origin;
    near.number = wait->allowed;
    if (wait->origin.op) {
        near.kind =
            wait->issued >= wgmma->stamp.number ? GROUT_NEAR_WGMMA_LEFT : GROUT_NEAR_WGMMA_BEFORE;
    }
    if (near.kind == GROUT_NEAR_WGMMA_LEFT) {
        near.wait_needed = wait->issued - wgmma->stamp.number;
    }
    return near;
}
