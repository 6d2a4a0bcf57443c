/*
 * parts.c - checkers for some of the clusters of a launch, where several OS threads run it.
 *
 * A part hands over counts and what holds of operations. It hands over no finding: how often each
 * was seen, and which occurrence is shown, is for one checker of the whole launch to say. So a part
 * that has found something ends its run, and the launch runs again with one worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observer.h"
#include "unwritten.h"

static bool observe(void *self, const grout_event *event) {
    const grout_checker *part = self;
    return grout_checker__observe(self, event) && part->memory.findings.count == 0;
}

const grout_observer *grout_checker__new_part(void *self) {
    const grout_checker *checker = self;
    const grout_checker_options options = {.max_findings = checker->max_findings,
                                           .strict_fences = checker->strict_fences,
                                           .allocator = checker->allocator};
    grout_checker *part = grout_checker_new(&options, NULL);
    if (!part) {
        return NULL;
    }
    part->observer.event = observe;
    part->observer.end = NULL;
    return &part->observer;
}

void grout_checker__free_part(const grout_observer *part) {
    grout_checker_free(part->self);
}

/* What its shadows took at most: it stays beside the other parts' until the end. */
static uint64_t get_peak(const grout_checker *part) {
    uint64_t local = part->run.local_peak;
    for (uint32_t i = 0; i < part->memory.cta_count; i++) {
        uint64_t peak = part->memory.ctas[i].local.slab.peak_bytes;
        local = peak > local ? peak : local;
    }
    return part->memory.gmem.slab.peak_bytes + local;
}

static void keep_first(const grout_checker *checker, grout_origin *kept,
                       const grout_origin *other) {
    if (other->op) {
        grout_origin__keep(checker->info.module, kept, other, -1);
    }
}

bool grout_checker__join_part(void *self, const grout_observer *observer) {
    grout_checker *checker = self;
    const grout_checker *part = observer->self;
    grout_run_state *run = &checker->run;
    for (uint32_t i = 0; i < run->op_count && i < part->run.op_count; i++) {
        run->op_threads[i] |= part->run.op_threads[i];
        run->undefined_ops[i] |= part->run.undefined_ops[i];
    }
    for (uint32_t i = 0; i < part->run.unwritten_count; i++) {
        const grout_unwritten *it = &part->run.unwritten[i];
        if (!grout_checker__add_unwritten(checker, it->op, &it->box)) {
            return false;
        }
    }
    run->accesses += part->run.accesses;
    run->async_ops += part->run.async_ops;
    run->barrier_phases += part->run.barrier_phases;
    run->local_peak += get_peak(part);
    keep_first(checker, &checker->memory.protocol.held_up, &part->memory.protocol.held_up);
    keep_first(checker, &checker->memory.protocol.competing, &part->memory.protocol.competing);
    checker->has_failed |= part->has_failed;
    return !checker->has_failed;
}
