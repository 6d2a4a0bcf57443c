/* rules.c - ordered(X, Y), and the code that a conflict gets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

grout_mechanism grout_clock__get_mechanism(const grout_clock_shape *shape, uint32_t component,
                                           uint32_t *index_out) {
    const uint32_t starts[] = {
        [GROUT_MECHANISM_LOST] = grout_clock_s(shape, 0),
        [GROUT_MECHANISM_EPOCH] = grout_clock_x(shape, 0),
        [GROUT_MECHANISM_BULK_READ] = grout_clock_br(shape, 0),
        [GROUT_MECHANISM_ASYNC_COPY] = grout_clock_ca(shape, 0),
        [GROUT_MECHANISM_PHASE] = grout_clock_ph(shape, 0),
        [GROUT_MECHANISM_WGMMA] = grout_clock_wg(shape, 0),
        [GROUT_MECHANISM_ACCESS] = grout_clock_g(shape, 0),
        [GROUT_MECHANISM_BULK_WRITE] = grout_clock_bw(shape, 0)};
    uint32_t mechanism = sizeof starts / sizeof *starts - 1;
    while (component < starts[mechanism]) {
        mechanism--;
    }
    if (index_out) {
        *index_out = component - starts[mechanism];
    }
    return (grout_mechanism)mechanism;
}

static bool is_async(const grout_entry *entry) {
    return entry->flags & GROUT_ENTRY_ASYNC;
}

static bool is_write(const grout_entry *entry) {
    return entry->flags & GROUT_ENTRY_WRITE;
}

/* Is the access in order in time, whatever the proxy? */
static bool is_known(const grout_rules *rules, const grout_entry *earlier) {
    return earlier->cta == rules->entry.cta &&
           rules->clocks->known[earlier->component] >= earlier->number;
}

bool grout_rules__is_ordered(const grout_rules *rules, const grout_entry *earlier) {
    const grout_clocks *clocks = rules->clocks;
    if (!is_known(rules, earlier)) {
        return false;
    }
    /* Completion implies visibility; and a generic access needs no proxy fence after a generic one.
     */
    if (is_async(earlier) || !is_async(&rules->entry)) {
        return true;
    }
    if (rules->space == GROUT_SPACE_ACC) { /* each wgmma begins with the fence of registers */
        return true;
    }
    if (rules->space == GROUT_SPACE_SMEM) {
        return clocks->published_smem[earlier->component] >= earlier->number;
    }
    /* A generic read of GMEM has its value before it is ordered; only writes must be published. */
    return !is_write(earlier) || clocks->published_gmem[earlier->component] >= earlier->number;
}

/* Nothing orders the two, whichever came first in this run: the answer must not depend on it. */
static grout_conflict judge_race(const grout_rules *rules, const grout_entry *earlier) {
    const grout_entry *later = &rules->entry;
    grout_conflict conflict = {GROUT_DIAG_GMEM_RACE, GROUT_PRIMARY_LATER};
    if (rules->space == GROUT_SPACE_SMEM) {
        conflict.code = GROUT_DIAG_SMEM_RACE;
    }
    if (is_write(earlier)) {
        conflict.primary = is_write(later) ? GROUT_PRIMARY_SOURCE : GROUT_PRIMARY_EARLIER;
    }
    return conflict;
}

static grout_mechanism get_mechanism(const grout_rules *rules, const grout_entry *entry) {
    return grout_clock__get_mechanism(rules->shape, entry->component, NULL);
}

static bool is_wgmma(const grout_rules *rules, const grout_entry *entry) {
    return is_async(entry) && get_mechanism(rules, entry) == GROUT_MECHANISM_WGMMA;
}

/* A read that its thread must have waited for a load to make: by the thread, or by its wgmma. */
static bool is_consumption(const grout_rules *rules, const grout_entry *entry) {
    return !is_write(entry) && (!is_async(entry) || is_wgmma(rules, entry));
}

bool grout_rules__is_consumption(const grout_rules *rules) {
    return rules->space == GROUT_SPACE_SMEM && is_consumption(rules, &rules->entry);
}

static bool is_load_and_read(const grout_rules *rules, const grout_entry *load,
                             const grout_entry *read) {
    return rules->space == GROUT_SPACE_SMEM && is_async(load) && is_write(load) &&
           is_consumption(rules, read) && load->cta == read->cta &&
           get_mechanism(rules, load) == GROUT_MECHANISM_PHASE;
}

/*
 * A load and a read of its destination, unordered. A reader that has been told of an earlier phase
 * of the load's barrier plays by the rules, and the load overruns it: a race, or the reuse of an
 * operand that a wgmma reads. One that never was is the one that should have waited. What the
 * reader had been told is its own, so the order of this run has no part in it.
 */
static grout_conflict judge_load_and_read(const grout_rules *rules, const grout_entry *load,
                                          const grout_entry *read, bool read_is_later) {
    uint32_t element = load->component - grout_clock_ph(rules->shape, 0);
    uint32_t since = rules->told_since[read->origin.thread * rules->shape->barrier_count + element];
    bool is_told = since != 0 && since <= read->told;
    grout_conflict conflict = {GROUT_DIAG_SMEM_RACE, GROUT_PRIMARY_LATER};
    if (!is_told) {
        conflict.code = GROUT_DIAG_ASYNC_NOT_AWAITED;
    } else if (is_wgmma(rules, read)) {
        conflict.code = GROUT_DIAG_MMA_OPERAND_REUSE;
    }
    if (is_told == read_is_later) { /* the load is at fault if the reader was told */
        conflict.primary = GROUT_PRIMARY_EARLIER;
    }
    return conflict;
}

/* The thread knows that the earlier async operation was issued, and not that it is over. */
static grout_conflict judge_unfinished(const grout_rules *rules, const grout_entry *earlier) {
    grout_conflict conflict = {GROUT_DIAG_ASYNC_NOT_AWAITED, GROUT_PRIMARY_LATER};
    switch (grout_clock__get_mechanism(rules->shape, earlier->component, NULL)) {
    case GROUT_MECHANISM_BULK_READ:
        conflict.code = GROUT_DIAG_SMEM_SOURCE_REUSE;
        return conflict;
    case GROUT_MECHANISM_BULK_WRITE:
        conflict.code = GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE;
        return conflict;
    case GROUT_MECHANISM_PHASE:
        /* The source of a load: GMEM that is overwritten while TMA may still read it. */
        return is_write(earlier) ? conflict : judge_race(rules, earlier);
    case GROUT_MECHANISM_WGMMA:
        conflict.code = GROUT_DIAG_MMA_OPERAND_REUSE;
        return conflict;
    case GROUT_MECHANISM_LOST:
    case GROUT_MECHANISM_EPOCH:
    case GROUT_MECHANISM_ASYNC_COPY:
    case GROUT_MECHANISM_ACCESS:
        break;
    }
    return judge_race(rules, earlier);
}

/*
 * A wgmma that may still be adding, and whoever comes next to its registers: they are one thread's,
 * so all is in program order. The next wgmma needs no wait if it is of the same shape and takes the
 * same part (PTX ISA 9.1, 'wgmma.fence').
 */
static grout_conflict judge_accumulator(const grout_rules *rules, const grout_entry *earlier) {
    grout_conflict conflict = {GROUT_DIAG_ACCUMULATOR_IN_FLIGHT, GROUT_PRIMARY_LATER};
    const uint32_t *shapes = rules->wgmma_shapes;
    if (is_wgmma(rules, &rules->entry) && is_wgmma(rules, earlier) && shapes &&
        shapes[earlier->origin.op] != 0 &&
        shapes[earlier->origin.op] == shapes[rules->entry.origin.op]) {
        conflict.code = GROUT_DIAG_NONE;
    }
    return conflict;
}

grout_conflict grout_rules__judge(const grout_rules *rules, const grout_entry *earlier) {
    const grout_entry *later = &rules->entry;
    grout_conflict conflict = {GROUT_DIAG_NONE, GROUT_PRIMARY_LATER};
    if (grout_rules__is_ordered(rules, earlier)) {
        return conflict;
    }
    if (rules->space == GROUT_SPACE_ACC) {
        return judge_accumulator(rules, earlier);
    }
    if (is_known(rules, earlier)) { /* in time, but not published */
        conflict.code = GROUT_DIAG_MISSING_COMMIT_GMEM;
        if (rules->space == GROUT_SPACE_SMEM) {
            conflict.code = is_write(earlier) ? GROUT_DIAG_MISSING_COMMIT_SMEM
                                              : GROUT_DIAG_MISSING_COMMIT_SMEM_WAR;
        }
        return conflict;
    }
    if (is_async(earlier) && earlier->cta == later->cta &&
        rules->clocks->known[grout_clock_x(rules->shape, earlier->origin.thread)] >=
            earlier->epoch) {
        return judge_unfinished(rules, earlier);
    }
    if (is_load_and_read(rules, earlier, later)) {
        return judge_load_and_read(rules, earlier, later, true);
    }
    if (is_load_and_read(rules, later, earlier)) {
        return judge_load_and_read(rules, later, earlier, false);
    }
    return judge_race(rules, earlier);
}

/* ---- an access against a record ---------------------------------------------------------------
 */

/* In a memory with one copy, a read that saw the write, and is over, stands for the write. */
static bool has_voucher(const grout_rules *rules, const grout_entry *readers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if ((readers[i].flags & GROUT_ENTRY_VOUCHES) &&
            grout_rules__is_ordered(rules, &readers[i])) {
            return true;
        }
    }
    return false;
}

static bool report(const grout_rules *rules, const grout_conflict *conflict,
                   const grout_entry *earlier, const grout_rect *rect) {
    return rules->report(rules->payload, conflict, earlier, &rules->entry, rect);
}

static bool has_ended(const grout_rules *rules, uint32_t cta) {
    return cta / 64 < rules->ended_words && (rules->ended_ctas[cta / 64] >> cta % 64 & 1);
}

/*
 * Reads of CTAs that have ended are unordered with every other CTA for good, and two of them for
 * each op are enough: whoever writes is another CTA than one of the two.
 */
static void drop_old_readers(const grout_rules *rules, grout_shadow *shadow, grout_region *region) {
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    uint32_t alike = 0;
    for (uint32_t i = region->reader_count; i-- > 0;) {
        bool is_alike =
            readers[i].origin.op == rules->entry.origin.op && has_ended(rules, readers[i].cta);
        alike += is_alike ? 1 : 0;
        if (is_alike && alike > 2) {
            grout_shadow__remove_reader(shadow, region, i);
        }
    }
}

static bool record_read(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                        const grout_entry *entry) {
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    for (uint32_t i = 0; i < region->reader_count; i++) {
        if (readers[i].cta == entry->cta && readers[i].component == entry->component &&
            readers[i].number <= entry->number) {
            readers[i] = *entry;
            return true;
        }
    }
    if (rules->space == GROUT_SPACE_GMEM && region->reader_count > 2) {
        drop_old_readers(rules, shadow, region);
    }
    return grout_shadow__add_reader(shadow, region, entry);
}

/* Compares with the last write. *agrees_out: it is in order, or a reader vouches for it. */
static bool check_write(const grout_rules *rules, grout_shadow *shadow, const grout_region *region,
                        const grout_rect *rect, bool *agrees_out) {
    grout_conflict conflict = {GROUT_DIAG_NONE, GROUT_PRIMARY_LATER};
    *agrees_out = true;
    if (!(region->write.flags & GROUT_ENTRY_PRESENT)) {
        return true;
    }
    conflict = grout_rules__judge(rules, &region->write);
    if (conflict.code == GROUT_DIAG_NONE ||
        (rules->space == GROUT_SPACE_SMEM &&
         has_voucher(rules, grout_shadow__get_readers(shadow, region), region->reader_count))) {
        return true;
    }
    *agrees_out = false;
    return report(rules, &conflict, &region->write, rect);
}

bool grout_rules__visit(void *payload, grout_shadow *shadow, grout_region *region,
                        const grout_rect *rect) {
    const grout_rules *rules = payload;
    const grout_entry *readers = NULL;
    grout_entry entry = rules->entry;
    bool agrees = true;
    if (!check_write(rules, shadow, region, rect, &agrees)) {
        return false;
    }
    if (!is_write(&entry)) {
        entry.flags |= agrees ? GROUT_ENTRY_VOUCHES : 0;
        return record_read(rules, shadow, region, &entry);
    }
    readers = grout_shadow__get_readers(shadow, region);
    for (uint32_t i = 0; i < region->reader_count; i++) {
        grout_conflict conflict = grout_rules__judge(rules, &readers[i]);
        if (conflict.code != GROUT_DIAG_NONE && !report(rules, &conflict, &readers[i], rect)) {
            return false;
        }
    }
    grout_shadow__set_write(region, &entry);
    return true;
}
