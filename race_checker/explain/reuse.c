/*
 * reuse.c - overruns that follow from memory that is overwritten too early.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reuse.h"

#include "statement.h"

/* ---- the reuse ---- */

/* Which of two turns is the later one, as far as loops of both tell: positive if a is. */
static int compare_turns(const grout_origin *a, const grout_origin *b) {
    for (uint32_t i = 0; i < a->loop_depth && i < b->loop_depth && i < GROUT_ORIGIN_LOOPS; i++) {
        if (a->loops[i] != b->loops[i]) {
            return a->loops[i] > b->loops[i] ? 1 : -1;
        }
    }
    return 0;
}

/* Whether the one comes later than the other: in a later turn of loops, or further down the kernel.
 * By the program alone: what came first in the run is chance. */
static bool is_later(const grout_module *module, const grout_origin *one,
                     const grout_origin *other) {
    const int order = compare_turns(one, other);
    return order > 0 || (order == 0 && grout_op__find_reach(module, other->op, one->op).kind ==
                                           GROUT_REACH_AHEAD);
}

/* Whether the code says that a write comes over what is read. */
static bool is_of_reuse(grout_diag_code code) {
    return code == GROUT_DIAG_MMA_OPERAND_REUSE || code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR ||
           code == GROUT_DIAG_SMEM_SOURCE_REUSE;
}

/* Whether it may be such a write, and the places have to tell. */
static bool is_race(grout_diag_code code) {
    return code == GROUT_DIAG_SMEM_RACE || code == GROUT_DIAG_TMEM_RACE ||
           code == GROUT_DIAG_GMEM_RACE || code == GROUT_DIAG_CLUSTER_SMEM_REUSE;
}

const grout_side *grout_record__find_overwriter(const grout_module *module,
                                                const grout_record *record) {
    const grout_side *sides = record->facts.sides;
    if (record->facts.side_count != 2 || sides[0].is_write == sides[1].is_write ||
        sides[0].origin.op == 0 || sides[1].origin.op == 0 ||
        grout_origin__is_same_actor(&sides[0].origin, &sides[1].origin)) {
        return NULL;
    }
    const uint32_t i = sides[0].is_write ? 0 : 1;
    const bool is_over =
        is_race(record->code) && is_later(module, &sides[i].origin, &sides[1 - i].origin);
    return is_of_reuse(record->code) || is_over ? &sides[i] : NULL;
}

/* ---- what follows ---- */

static bool is_same_thread(const grout_origin *a, const grout_origin *b) {
    return a->thread == b->thread && a->warp == b->warp;
}

/* Whether the reader's thread executes the op of the other one, as it does if both consume. */
static bool has_part(const grout_checker *checker, const grout_origin *reader,
                     const grout_origin *other) {
    return is_same_thread(reader, other) ||
           (reader->warp == other->warp &&
            (checker->run.op_threads[other->op] >> reader->thread & 1) != 0);
}

/* Whether two pairs are of threads of one CTA both, or of two both. */
static bool is_as_far(const grout_side *a, const grout_side *b) {
    return (a[0].origin.cta == a[1].origin.cta) == (b[0].origin.cta == b[1].origin.cta);
}

void grout_laps__add(grout_laps *laps, const grout_record *record, uint32_t place) {
    if (laps->count < GROUT_LAPS_LOOKED) {
        laps->items[laps->count++] = (grout_lap){.record = record, .place = place};
    }
}

/* Whether the loop around the outer op is also around the inner one, or there is none. */
static bool is_in_loop_of(const grout_module *module, const grout_origin *inner,
                          const grout_origin *outer) {
    const grout_op_id wanted = grout_op__get_loop(module, outer->op);
    grout_op_id loop = grout_op__get_loop(module, inner->op);
    while (loop != wanted && loop != 0) {
        loop = grout_op__get_loop(module, loop);
    }
    return loop == wanted;
}

/* Whether the wait is in a loop that is around the access too. */
static bool waits_in_loop(const grout_module *module, const grout_origin *access,
                          const grout_origin *wait) {
    return grout_op__get_loop(module, wait->op) != 0 && is_in_loop_of(module, access, wait);
}

/* Whether the contribution is of the thread that overwrites, and the wait before of the reader. */
static bool goes_ahead(const grout_checker *checker, const grout_record *overrun,
                       const grout_origin *writer, const grout_origin *reader) {
    const grout_origin *contribution = &overrun->facts.sides[0].origin;
    return is_same_thread(writer, contribution) &&
           has_part(checker, reader, &overrun->facts.sides[1].origin) &&
           is_in_loop_of(checker->info.module, writer, contribution);
}

/* Whether the reader contributes when it has read, and the thread that overwrites waits for that
 * only later: in a later turn of its loop, or further down. */
static bool waits_late(const grout_checker *checker, const grout_record *overrun,
                       const grout_origin *writer, const grout_origin *reader) {
    const grout_module *module = checker->info.module;
    const grout_origin *wait = &overrun->facts.sides[1].origin;
    if (!is_same_thread(writer, wait) ||
        !has_part(checker, reader, &overrun->facts.sides[0].origin)) {
        return false;
    }
    return waits_in_loop(module, writer, wait)
               ? compare_turns(wait, writer) > 0
               : grout_op__find_reach(module, writer->op, wait->op).kind == GROUT_REACH_AHEAD;
}

/* The late waits of a reuse, while they are all on one barrier. */
typedef struct late_waits {
    const grout_record *first;
    bool is_of_several;
} late_waits;

static void add_late(late_waits *late, const grout_record *overrun) {
    if (late->first == NULL) {
        late->first = overrun;
    }
    late->is_of_several |= late->first->facts.fault.object != overrun->facts.fault.object;
}

bool grout_laps__mark(grout_laps *laps, const grout_checker *checker, const grout_record *record,
                      const grout_record **late_out) {
    const grout_side *writer = grout_record__find_overwriter(checker->info.module, record);
    late_waits late = {NULL, false};
    bool has_any = false;
    *late_out = NULL;
    if (writer == NULL || record->severity != GROUT_SEVERITY_ERROR) {
        return false;
    }
    const grout_side *reader = &record->facts.sides[writer == record->facts.sides ? 1 : 0];
    for (uint32_t i = 0; i < laps->count; i++) {
        grout_lap *it = &laps->items[i];
        if (!is_as_far(it->record->facts.sides, record->facts.sides)) {
            continue;
        }
        const bool is_late = waits_late(checker, it->record, &writer->origin, &reader->origin);
        if (is_late || goes_ahead(checker, it->record, &writer->origin, &reader->origin)) {
            it->reuse = it->reuse == NULL ? record : it->reuse;
            has_any = true;
        }
        if (is_late && waits_in_loop(checker->info.module, &writer->origin,
                                     &it->record->facts.sides[1].origin)) {
            add_late(&late, it->record);
        }
    }
    *late_out = late.is_of_several ? NULL : late.first;
    return has_any;
}

const grout_lap *grout_laps__find(const grout_laps *laps, const grout_record *record) {
    for (uint32_t i = 0; i < laps->count; i++) {
        if (laps->items[i].record == record) {
            return &laps->items[i];
        }
    }
    return NULL;
}
