/* barrier.c - named barriers of a CTA, and the barrier of a cluster. PTX ISA 9.1, bar and
 * barrier.cluster.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "machine.h"
#include "observe.h"

enum { ARRIVES = 1, REDUCES = 2 };

/* The barrier and how many threads it is for; false with a fault. */
static bool choose_bar(const ptx_context *context, uint64_t *id_out, uint64_t *count_out) {
    const ptx_step *step = context->step;
    if (!grout_ptx__need_same(context, &step->sources[0], "a barrier", id_out) ||
        !grout_ptx__need_same(context, &step->sources[1], "the threads of a barrier", count_out)) {
        return false;
    }
    uint32_t whole = context->machine->warp_count * PTX_LANES;
    if (*count_out == 0) {
        *count_out = whole;
    }
    if (*id_out >= PTX_BARRIERS || *count_out % PTX_LANES != 0 || *count_out > whole) {
        grout_ptx__fault(
            context, PTX_LANES,
            "barrier %llu for %llu threads: there are 16 barriers, for whole warps of the CTA",
            (unsigned long long)*id_out, (unsigned long long)*count_out);
        return false;
    }
    return true;
}

static void complete_bar(ptx_bar *bar) {
    *bar = (ptx_bar){.generation = bar->generation + 1,
                     .last_all = bar->all,
                     .last_any = bar->any,
                     .last_count = bar->count};
}

/* A warp counts as 32 threads, whatever lanes of it there are. */
static bool arrive(const ptx_context *context, ptx_bar *bar, uint64_t count) {
    const ptx_step *step = context->step;
    if (bar->expected != 0 && bar->expected != count) {
        grout_ptx__fault(context, PTX_LANES,
                         "a barrier for %llu threads, but others came to it for %u",
                         (unsigned long long)count, bar->expected);
        return false;
    }
    if ((step->detail & REDUCES) != 0) {
        uint32_t votes = ptx_mask(context, &step->sources[2]) & context->lanes;
        if (!grout_ptx__need(context, &step->sources[2], "the predicate of a barrier")) {
            return false;
        }
        bar->all = (bar->arrived == 0 || bar->all != 0) && votes == context->lanes;
        bar->any |= votes != 0;
        bar->count += (uint32_t)__builtin_popcount(votes);
    }
    bar->expected = (uint32_t)count;
    bar->arrived += PTX_LANES;
    context->machine->events++;
    bool is_end = bar->arrived == bar->expected;
    if (is_end) {
        complete_bar(bar);
    }
    return grout_ptx__observe_bar(context, (uint32_t)(bar - context->cta->bars),
                                  (step->detail & ARRIVES) == 0, is_end);
}

static ptx_outcome run_bar(ptx_context *context) {
    const ptx_step *step = context->step;
    ptx_group *group = context->group;
    uint64_t id = 0, count = 0;
    if (!choose_bar(context, &id, &count)) {
        return PTX_FAILED;
    }
    ptx_bar *bar = &context->cta->bars[id];
    if (!group->is_waiting) {
        group->ticket = bar->generation;
        group->is_waiting = true;
        if (!arrive(context, bar, count)) {
            return PTX_FAILED;
        }
    }
    if ((step->detail & ARRIVES) == 0 && bar->generation == group->ticket) {
        return PTX_STAY;
    }
    if ((step->detail & REDUCES) != 0) {
        uint64_t value = step->more == PTX_WORD_AND  ? bar->last_all
                         : step->more == PTX_WORD_OR ? bar->last_any
                                                     : bar->last_count;
        PTX_FOR_LANES(lane, context->lanes) {
            ptx_put(context, &step->result, lane, value);
        }
        ptx_set_defined(context, &step->result, UINT32_MAX);
    }
    return PTX_NEXT;
}

/* [d,] a [, b] [, c]: without b all threads of the CTA, which 0 means. */
bool grout_ptx__decode_bar(ptx_decoder *decoder) {
    static const ptx_operand all = {.kind = PTX_OPERAND_IMMEDIATE};
    ptx_step *step = decoder->step;
    uint32_t count = decoder->inst->operand_count;
    ptx_op op = decoder->inst->op;
    bool reduces = op == PTX_OP_BAR_RED || op == PTX_OP_BARRIER_RED;
    bool arrives = op == PTX_OP_BAR_ARRIVE || op == PTX_OP_BARRIER_ARRIVE ||
                   op == PTX_OP_BAR_CTA_ARRIVE || op == PTX_OP_BARRIER_CTA_ARRIVE;
    uint32_t first = reduces ? 1 : 0, left = count - first - (reduces ? 1 : 0);
    step->run = run_bar;
    step->needs_all = true;
    step->detail = (arrives ? ARRIVES : 0u) | (reduces ? REDUCES : 0u);
    step->more = grout_ptx__has(decoder, PTX_WORD_POPC)
                     ? PTX_WORD_POPC
                     : grout_ptx__word(decoder, PTX_CLASS_OPERATION, 0).id;
    if (reduces && (!grout_ptx__decode_result(decoder, 0, &step->result) ||
                    !grout_ptx__decode_source(decoder, count - 1, PTX_WORD_PRED, 2))) {
        return false;
    }
    return grout_ptx__decode_source(decoder, first, PTX_WORD_U32, 0) &&
           (left > 1 ? grout_ptx__decode_source(decoder, first + 1, PTX_WORD_U32, 1)
                     : grout_ptx__decode_value(decoder, &all, PTX_WORD_U32, &step->sources[1]));
}

/* ---- the barrier of a cluster ---- */

/* All threads of the cluster that have not ended; lanes of a warp arrive together here. */
static uint32_t count_live(const ptx_context *context) {
    const ptx_machine *machine = context->machine;
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        const ptx_cta *cta = &context->cta->cluster[i];
        for (uint32_t j = 0; j < machine->warp_count; j++) {
            count += (uint32_t)__builtin_popcount(cta->warps[j].live);
        }
    }
    return count;
}

static ptx_outcome run_cluster_arrive(ptx_context *context) {
    ptx_cta *first = context->cta->cluster;
    if (context->warp->cluster_state % 2 != 0) {
        return grout_ptx__fault(context, PTX_LANES,
                                "a second barrier.cluster.arrive without a wait between");
    }
    context->warp->cluster_state++;
    context->warp->cluster_ticket = first->cluster_generation;
    first->cluster_arrived += (uint32_t)__builtin_popcount(context->lanes);
    context->machine->events++;
    return grout_ptx__observe_cluster_arrival(context) ? PTX_NEXT : PTX_FAILED;
}

static ptx_outcome run_cluster_wait(ptx_context *context) {
    ptx_cta *first = context->cta->cluster;
    if (context->warp->cluster_state % 2 == 0) {
        return grout_ptx__fault(context, PTX_LANES,
                                "barrier.cluster.wait without an arrive before");
    }
    if (context->warp->cluster_ticket == first->cluster_generation) {
        if (first->cluster_arrived < count_live(context)) {
            return PTX_STAY;
        }
        first->cluster_arrived = 0;
        first->cluster_generation++;
        grout_ptx__observe_cluster_end(context);
        context->machine->events++;
    }
    context->warp->cluster_state++;
    return grout_ptx__observe_cluster_wait(context) ? PTX_NEXT : PTX_FAILED;
}

bool grout_ptx__decode_cluster_arrive(ptx_decoder *decoder) {
    decoder->step->run = run_cluster_arrive;
    decoder->step->needs_all = true;
    return true;
}

bool grout_ptx__decode_cluster_wait(ptx_decoder *decoder) {
    decoder->step->run = run_cluster_wait;
    decoder->step->needs_all = true;
    return true;
}
