/* rules.c - ordered(X, Y), and the code that a conflict gets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include "grout-internal/facts.h"
#include "grout-internal/spaces.h"

#include "invariant.h"
#include "reader_index.h"
#include "readers.h"
#include "tensor.h"
#include "vouchers.h"

/* ---- entries ---- */

/* Whether it goes through the async proxy. */
static bool is_async(const grout_entry *entry) {
    return entry->flags & GROUT_ENTRY_ASYNC;
}

/* Whether it happens later than its issue, through either proxy. */
static bool is_by_engine(const grout_entry *entry) {
    return entry->flags & (GROUT_ENTRY_ASYNC | GROUT_ENTRY_GENERIC_ENGINE);
}

static bool is_write(const grout_entry *entry) {
    return entry->flags & GROUT_ENTRY_WRITE;
}

static bool is_atomic(const grout_entry *entry) {
    return entry->flags & GROUT_ENTRY_ATOMIC;
}

/* Whether it is kept only for the atomics to come. */
static bool is_behind(const grout_entry *entry) {
    return entry->flags & GROUT_ENTRY_BEHIND;
}

/* Whether the scope of an atomic, made in its own CTA, holds the other access. */
static bool covers(const grout_entry *atomic, const grout_entry *other) {
    switch (grout_entry__get_scope(atomic->atomicity)) {
    case GROUT_ENTRY_SCOPE_CTA:
        return atomic->origin.cta == other->origin.cta;
    case GROUT_ENTRY_SCOPE_CLUSTER:
        return atomic->cluster == other->cluster;
    default:
        return true;
    }
}

/* Two atomics of one width, each in the other's scope. */
static bool are_alike(const grout_entry *a, const grout_entry *b) {
    return a->flags & b->flags & GROUT_ENTRY_ATOMIC &&
           grout_entry__get_width(a->atomicity) == grout_entry__get_width(b->atomicity) &&
           covers(a, b) && covers(b, a);
}

/* They need no order if they go through one proxy (PTX ISA 9.1, 'Morally strong operations'). */
static bool are_atomic(const grout_entry *a, const grout_entry *b) {
    return are_alike(a, b) && is_async(a) == is_async(b);
}

/* ---- order ---- */

static bool has_reached(const uint32_t *clock, uint32_t component, uint32_t number) {
    return clock && clock[component] >= number;
}

static const uint32_t *find_known(const grout_rules *rules, const grout_entry *earlier) {
    return grout_clocks_find_known(rules->clocks, earlier->cluster);
}

/* Whether the access is in order in time, whatever the proxy. */
static bool is_known(const grout_rules *rules, const grout_entry *earlier, uint32_t number) {
    if (earlier->cluster == rules->clocks->cluster) {
        return rules->clocks->known[earlier->component] >= number;
    }
    return has_reached(find_known(rules, earlier), earlier->component, number);
}

/* Whether the access, or the issue of it, is in order in time. */
static bool is_issue_known(const grout_rules *rules, const grout_entry *earlier) {
    return is_known(rules, earlier, earlier->number) ||
           has_reached(
               find_known(rules, earlier),
               grout_clock_epoch(rules->shape, grout_entry__get_actor(rules->shape, earlier)),
               earlier->epoch);
}

/* Whether the access looks at what is there; a write does not. */
static bool looks(const grout_rules *rules) {
    return !is_write(&rules->entry) || is_atomic(&rules->entry);
}

/* Whether it has to see what was written before it in the memory of a CTA, and not only to know
 * that it is over. Who writes over a slot has not: the slot is given back. (Tensor memory has rules
 * of its own.) */
static bool has_to_see(const grout_rules *rules) {
    return grout_space_is_of_cta(rules->space) && looks(rules);
}

/* Where it is counted that what an access did can be seen. */
static uint32_t get_seen(const grout_rules *rules, const grout_entry *entry) {
    return is_by_engine(entry) ? grout_clock_seen(rules->shape, entry->component)
                               : entry->component;
}

/* Whether an access that is known to be over can be seen, too, where this one has to see it. */
static bool is_seen(const grout_rules *rules, const grout_entry *earlier, uint32_t number) {
    const grout_travel travel = grout_fact_get_travel(grout_space_is_of_launch(rules->space),
                                                      is_by_engine(earlier), is_write(earlier));
    return travel != GROUT_TRAVEL_SEEN || !has_to_see(rules) ||
           rules->clocks->known[get_seen(rules, earlier)] >= number;
}

static bool is_published_gmem(const grout_rules *rules, const grout_entry *earlier,
                              uint32_t number) {
    return has_reached(grout_clocks_find_gmem(rules->clocks, earlier->cluster), earlier->component,
                       number);
}

/* Published by the CTA of the later access: PTX has the fence between the acquire and the access,
 * in the thread's own order or its CTA's (PTX ISA 9.1, 'Causality order'; 'Async proxy'). */
static bool is_fenced_gmem(const grout_rules *rules, const grout_entry *earlier, uint32_t number) {
    return has_reached(grout_clocks_find_fenced(rules->clocks, earlier->cluster),
                       earlier->component, number);
}

/* The finished write of a copy, used by an async access of another CTA. */
static bool is_foreign_copy(const grout_rules *rules, const grout_entry *earlier) {
    return grout_space_is_of_launch(rules->space) && is_async(earlier) && is_write(earlier) &&
           is_async(&rules->entry) && earlier->origin.cta != rules->entry.origin.cta;
}

/* Whether the recorded access is in order, as if it had this number. */
static bool is_ordered(const grout_rules *rules, const grout_entry *earlier, uint32_t number) {
    if (grout_space_needs_tensor_order(rules->space)) {
        return grout_tensor__is_ordered(rules, earlier, number);
    }
    if (!is_known(rules, earlier, number) || !is_seen(rules, earlier, number)) {
        return false;
    }
    if (is_async(earlier)) { /* completion implies visibility */
        return !is_foreign_copy(rules, earlier) || is_fenced_gmem(rules, earlier, number);
    }
    if (!is_async(&rules->entry)) { /* nor does a generic access need a fence after a generic one */
        return true;
    }
    if (grout_space_needs_commit_smem(rules->space)) {
        uint32_t rank = rules->owner % rules->shape->cta_count;
        const uint32_t *published = grout_clocks_get_smem(rules->clocks, rank);
        return published[has_to_see(rules) ? get_seen(rules, earlier) : earlier->component] >=
               number;
    }
    if (!grout_space_needs_commit_gmem(rules->space)) {
        return true; /* registers: each wgmma begins with their fence */
    }
    /* A generic read of GMEM has its value before it is ordered; only writes must be published. The
     * letter of PTX (9.1, 'Causality order') asks for a fence after a read too, wherever. */
    const bool is_strict_read = rules->is_fenced_by_own != NULL && !is_by_engine(earlier);
    return is_write(earlier) ? is_fenced_gmem(rules, earlier, number)
                             : !is_strict_read || is_published_gmem(rules, earlier, number);
}

bool grout_rules__is_ordered(const grout_rules *rules, const grout_entry *earlier) {
    return is_ordered(rules, earlier, earlier->number);
}

/* ---- codes ---- */

/* A write by one CTA of bytes of another, against an access of that one's. */
static bool is_intrusion(const grout_rules *rules, const grout_entry *write,
                         const grout_entry *other) {
    return is_write(write) && write->origin.cta != rules->owner &&
           other->origin.cta == rules->owner;
}

static grout_diag_code get_race(const grout_rules *rules) {
    switch ((grout_space)rules->space) {
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, PLAIN, LAYOUT, COMMIT, RACE, ...) \
    case GROUT_SPACE_##NAME:                                                    \
        return GROUT_DIAG_##RACE;
#include "grout/spaces.def"
    case GROUT_SPACE_NONE:
    case GROUT_SPACE_COUNT:
        break;
    }
    GROUT_UNREACHABLE();
    return GROUT_DIAG_NONE;
}

/* Nothing orders the two, whichever came first in this run: the answer must not depend on it. */
static grout_conflict judge_race(const grout_rules *rules, const grout_entry *earlier) {
    const grout_entry *later = &rules->entry;
    grout_conflict conflict = {.code = get_race(rules)};
    if (is_write(earlier)) {
        conflict.primary = is_write(later) ? GROUT_PRIMARY_SOURCE : GROUT_PRIMARY_EARLIER;
    }
    conflict.is_of_writes =
        is_write(earlier) && is_write(later) && !is_atomic(earlier) && !is_atomic(later);
    if (grout_space_has_peers(rules->space)) {
        bool is_later = is_intrusion(rules, later, earlier);
        if (is_later || is_intrusion(rules, earlier, later)) {
            conflict.code = GROUT_DIAG_CLUSTER_SMEM_REUSE;
            conflict.primary = is_later ? GROUT_PRIMARY_LATER : GROUT_PRIMARY_EARLIER;
        }
    }
    return conflict;
}

static grout_mechanism get_mechanism(const grout_rules *rules, const grout_entry *entry) {
    return grout_clock__get_mechanism(rules->shape, entry->component, NULL);
}

/* Whether the tensor core made it, of either generation. */
static bool is_wgmma(const grout_rules *rules, const grout_entry *entry) {
    return is_async(entry) && (get_mechanism(rules, entry) == GROUT_MECHANISM_WGMMA ||
                               get_mechanism(rules, entry) == GROUT_MECHANISM_TCGEN05);
}

/* A read that its thread must have waited for a load to make: by the thread, or by its MMA. Each
 * may read what lies in another CTA. */
static bool is_consumption(const grout_rules *rules, const grout_entry *entry) {
    return !is_write(entry) && (!is_by_engine(entry) || is_wgmma(rules, entry));
}

bool grout_rules__is_consumption(const grout_rules *rules) {
    return !grout_space_needs_tensor_order(rules->space) && grout_space_is_of_cta(rules->space) &&
           is_consumption(rules, &rules->entry);
}

static bool is_load_and_read(const grout_rules *rules, const grout_entry *load,
                             const grout_entry *read) {
    return grout_space_is_of_cta(rules->space) && is_by_engine(load) && is_write(load) &&
           is_consumption(rules, read) && get_mechanism(rules, load) == GROUT_MECHANISM_PHASE;
}

/*
 * A load and a read of its destination, unordered. A reader that knows an earlier phase of the
 * load's barrier keeps the rules, and the load overruns it: a race, or the reuse of an operand
 * that a wgmma reads, or of memory of another CTA. A reader that knows none should have waited.
 * What the reader knew is its own, so the order of this run has no part in it.
 */
static grout_conflict judge_load_and_read(const grout_rules *rules, const grout_entry *load,
                                          const grout_entry *read, bool read_is_later) {
    const grout_clock_shape *shape = rules->shape;
    uint32_t barrier = load->component - grout_clock_phase(shape, 0);
    uint32_t actor = grout_clock_local_actor(shape, read->origin.thread, read->origin.warp);
    const uint16_t *told_since = rules->find_told_since(rules->payload, read->origin.cta);
    GROUT_ASSERT(actor < shape->actor_count / shape->cta_count);
    uint32_t since =
        told_since == NULL ? 0 : told_since[(size_t)actor * shape->barrier_count + barrier];
    bool is_told = since != 0 && since <= read->told;
    grout_conflict conflict = {.code = get_race(rules)};
    if (!is_told) {
        conflict.code = GROUT_DIAG_ASYNC_NOT_AWAITED;
    } else if (load->origin.cta != rules->owner) {
        conflict.code = GROUT_DIAG_CLUSTER_SMEM_REUSE;
    } else if (is_wgmma(rules, read)) {
        conflict.code = GROUT_DIAG_MMA_OPERAND_REUSE;
    }
    if (is_told == read_is_later) { /* the load is at fault if the reader knew a phase */
        conflict.primary = GROUT_PRIMARY_EARLIER;
    }
    return conflict;
}

/* The actor knows that the earlier async operation was issued, and not that it is over. */
static grout_conflict judge_unfinished(const grout_rules *rules, const grout_entry *earlier) {
    grout_conflict conflict = {.code = GROUT_DIAG_ASYNC_NOT_AWAITED};
    switch (get_mechanism(rules, earlier)) {
    case GROUT_MECHANISM_BULK_READ:
        conflict.code = GROUT_DIAG_SMEM_SOURCE_REUSE;
        return conflict;
    case GROUT_MECHANISM_BULK_WRITE:
        conflict.code = GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE;
        if (rules->is_write_lost && rules->is_write_lost(rules->payload, earlier)) {
            conflict.code = GROUT_DIAG_INSUFFICIENT_SCOPE;
        }
        return conflict;
    case GROUT_MECHANISM_PHASE:
    case GROUT_MECHANISM_ASYNC_COPY:
        /* The source of a load: GMEM that is overwritten while TMA may still read it. */
        return is_write(earlier) ? conflict : judge_race(rules, earlier);
    case GROUT_MECHANISM_WGMMA:
    case GROUT_MECHANISM_TCGEN05:
        conflict.code = GROUT_DIAG_MMA_OPERAND_REUSE;
        return conflict;
    case GROUT_MECHANISM_GRID:
    case GROUT_MECHANISM_TMEM_LOAD:
    case GROUT_MECHANISM_TMEM_STORE:
    case GROUT_MECHANISM_SEALED:
    case GROUT_MECHANISM_SEEN:
    case GROUT_MECHANISM_LOST:
    case GROUT_MECHANISM_EPOCH:
    case GROUT_MECHANISM_ACCESS:
        break;
    }
    return judge_race(rules, earlier);
}

/*
 * A wgmma that may still be adding, and the next access to its registers: they are one thread's, so
 * all is in program order. The next wgmma needs no wait if it is of the same shape and takes the
 * same part (PTX ISA 9.1, 'wgmma.fence').
 */
static grout_conflict judge_accumulator(const grout_rules *rules, const grout_entry *earlier) {
    grout_conflict conflict = {.code = GROUT_DIAG_ACCUMULATOR_IN_FLIGHT};
    const uint32_t *shapes = rules->wgmma_shapes;
    if (is_wgmma(rules, &rules->entry) && is_wgmma(rules, earlier) && shapes &&
        shapes[earlier->origin.op] != 0 &&
        shapes[earlier->origin.op] == shapes[rules->entry.origin.op]) {
        conflict.code = GROUT_DIAG_NONE;
    }
    return conflict;
}

static grout_diag_code get_missing_commit(const grout_rules *rules, const grout_entry *earlier) {
    if (!grout_space_needs_commit_smem(rules->space)) {
        return GROUT_DIAG_MISSING_COMMIT_GMEM;
    }
    return is_write(earlier) ? GROUT_DIAG_MISSING_COMMIT_SMEM : GROUT_DIAG_MISSING_COMMIT_SMEM_WAR;
}

/* In time, but not published to the proxy of the later access. */
static grout_conflict judge_unpublished(const grout_rules *rules, const grout_entry *earlier) {
    grout_conflict conflict = {.code = get_missing_commit(rules, earlier)};
    /* PTX asks for it between engines of two CTAs, and in the CTA of the access; nothing is known
     * to go wrong without, or with one in the CTA that wrote, or after a load of GMEM. */
    const bool is_of_gmem = grout_space_needs_commit_gmem(rules->space);
    conflict.is_warning = is_async(earlier) || (is_of_gmem && !is_write(earlier)) ||
                          (is_of_gmem && !rules->is_fenced_by_own &&
                           is_published_gmem(rules, earlier, earlier->number));
    return conflict;
}

/* Whether the plain access would be known if every edge were strong and wide enough. */
static bool is_lost(const grout_rules *rules, const grout_entry *earlier) {
    uint32_t lost = grout_clock_handed(rules->shape, 0) +
                    (earlier->component - grout_clock_released(rules->shape, 0));
    return !is_by_engine(earlier) && has_reached(find_known(rules, earlier), lost, earlier->number);
}

/* Atomics of two proxies: what is missing is order, or a fence. Hardware may well combine them in
 * one place, but nothing promises it. */
static grout_conflict judge_proxies(const grout_rules *rules, const grout_entry *earlier) {
    grout_conflict conflict = is_known(rules, earlier, earlier->number)
                                  ? judge_unpublished(rules, earlier)
                                  : judge_race(rules, earlier);
    conflict.is_warning = true;
    return conflict;
}

bool grout_rules__is_map_read(const grout_rules *rules, const grout_entry *entry) {
    if (!grout_space_is_of_launch(rules->space) || is_write(entry) ||
        (entry->flags & GROUT_ENTRY_GENERIC_ENGINE) == 0) {
        return false;
    }
    const grout_mechanism mechanism = get_mechanism(rules, entry);
    return mechanism == GROUT_MECHANISM_PHASE || mechanism == GROUT_MECHANISM_BULK_READ;
}

/* A tensor map that is made while a copy may still read the one before. */
static grout_conflict judge_map(const grout_entry *earlier) {
    return (grout_conflict){.code = GROUT_DIAG_TENSORMAP_IN_FLIGHT,
                            .primary =
                                is_write(earlier) ? GROUT_PRIMARY_EARLIER : GROUT_PRIMARY_LATER};
}

grout_conflict grout_rules__judge(const grout_rules *rules, const grout_entry *earlier) {
    const grout_entry *later = &rules->entry;
    grout_conflict conflict = {.code = GROUT_DIAG_NONE};
    if (is_ordered(rules, earlier, earlier->number) || are_atomic(earlier, later)) {
        return conflict;
    }
    if (grout_rules__is_map_read(rules, earlier) || grout_rules__is_map_read(rules, later)) {
        return judge_map(earlier);
    }
    if (are_alike(earlier, later)) {
        return judge_proxies(rules, earlier);
    }
    if (grout_space_is_of_thread(rules->space)) {
        return judge_accumulator(rules, earlier);
    }
    if (grout_space_needs_tensor_order(rules->space)) {
        conflict = grout_tensor__judge(rules, earlier);
        return conflict.code == GROUT_DIAG_NONE ? judge_race(rules, earlier) : conflict;
    }
    const bool is_over = is_known(rules, earlier, earlier->number);
    if (is_over && is_seen(rules, earlier, earlier->number)) {
        return judge_unpublished(rules, earlier);
    }
    if (is_over || is_lost(rules, earlier)) {
        conflict.code = GROUT_DIAG_INSUFFICIENT_SCOPE;
        return conflict;
    }
    if (is_by_engine(earlier) && is_issue_known(rules, earlier)) {
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

/* ---- an access against a record ---- */

/* Whether a reader that is over shows the access what it has read, as far as that looks at it. */
static bool is_shown(const grout_rules *rules, const grout_entry *reader) {
    if (grout_space_needs_tensor_order(rules->space)) {
        return grout_tensor__is_shown(rules, reader, reader->vouches);
    }
    return !looks(rules) || rules->clocks->known[get_seen(rules, reader)] >= reader->vouches;
}

static bool has_voucher_among(const grout_rules *rules, const grout_entry *vouchers,
                              uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (vouchers[i].vouches && is_ordered(rules, &vouchers[i], vouchers[i].vouches) &&
            is_shown(rules, &vouchers[i])) {
            return true;
        }
    }
    return false;
}

/* In a memory with one copy, a read that saw the writes, and is over, vouches for them. To one that
 * looks at them it does so along edges that carry what can be seen. */
static bool has_voucher(const grout_rules *rules, grout_shadow *shadow, grout_region *region) {
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    if (!grout_space_is_of_cta(rules->space)) {
        return false;
    }
    if (grout_space_needs_tensor_order(rules->space)) { /* the ops count too */
        return has_voucher_among(rules, readers, region->reader_count);
    }
    uint32_t count = 0;
    const grout_entry *vouchers = grout_vouchers__get(shadow, region, &count);
    const bool found = has_voucher_among(rules, vouchers, count);
    GROUT_ASSERT_SLOW(found == has_voucher_among(rules, readers, region->reader_count));
    return found;
}

static bool report(const grout_rules *rules, const grout_conflict *conflict,
                   const grout_entry *earlier, const grout_rect *rect) {
    return rules->report(rules->payload, conflict, earlier, &rules->entry, rect);
}

/* Whether the access is not compared with this record, since it is with the atomic that replaces
 * it.
 */
static bool is_passed_over(const grout_rules *rules, const grout_entry *earlier) {
    return is_behind(earlier) && !is_atomic(&rules->entry);
}

/* Whether both are conflicts, and the first is no less grave. */
static bool is_as_grave(const grout_conflict *conflict, const grout_conflict *other) {
    return conflict->code != GROUT_DIAG_NONE && (!conflict->is_warning || other->is_warning);
}

static bool outdoes(const grout_rules *rules, const grout_entry *newer, const grout_entry *entry,
                    const grout_conflict *conflict) {
    grout_conflict own = {.code = GROUT_DIAG_NONE};
    if (newer->component != entry->component || newer->cluster != entry->cluster ||
        newer->number <= entry->number ||
        ((newer->flags ^ entry->flags) & GROUT_ENTRY_WRITE) != 0 || is_passed_over(rules, newer) ||
        !is_issue_known(rules, newer)) {
        return false;
    }
    own = grout_rules__judge(rules, newer);
    return is_as_grave(&own, conflict);
}

/*
 * Whether there is a newer access by the same mechanism that the later one comes after, and that is
 * found instead. A thread that waits for the newer one, as the finding about it asks, has waited
 * for this one too. That the newer one is in conflict as well has to be asked: a reduction may be
 * atomic with what a copy in front of it is not. Plain accesses are named one by one.
 */
static bool is_outdone(const grout_rules *rules, const grout_shadow *shadow,
                       const grout_region *region, const grout_entry *entry,
                       const grout_conflict *conflict) {
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    for (uint32_t i = 0; is_by_engine(entry) && i < region->reader_count; i++) {
        if (outdoes(rules, &readers[i], entry, conflict)) {
            return true;
        }
    }
    return is_by_engine(entry) && region->write.flags & GROUT_ENTRY_PRESENT &&
           outdoes(rules, &region->write, entry, conflict);
}

/* Compares with a write. *agrees_out: it is in order, or a reader vouches for it. */
static bool check_write(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                        const grout_entry *write, const grout_rect *rect, bool *agrees_out) {
    grout_conflict conflict = {.code = GROUT_DIAG_NONE};
    if (!(write->flags & GROUT_ENTRY_PRESENT) || is_ordered(rules, write, write->number) ||
        has_voucher(rules, shadow, region)) {
        return true;
    }
    *agrees_out = false;
    conflict = grout_rules__judge(rules, write);
    return conflict.code == GROUT_DIAG_NONE ||
           is_outdone(rules, shadow, region, write, &conflict) ||
           report(rules, &conflict, write, rect);
}

/* Compares a write with a read. */
static bool check_read(const grout_rules *rules, grout_shadow *shadow, const grout_region *region,
                       const grout_entry *reader, const grout_rect *rect) {
    grout_conflict conflict = grout_rules__judge(rules, reader);
    return conflict.code == GROUT_DIAG_NONE ||
           is_outdone(rules, shadow, region, reader, &conflict) ||
           report(rules, &conflict, reader, rect);
}

/* Compares the access with every write, and if it is one itself, with every read. */
static bool check(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                  const grout_rect *rect, bool *agrees_out) {
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    bool writes = is_write(&rules->entry);
    uint32_t open = region->open_count; /* that are still to come: a read looks no further */
    if (!check_write(rules, shadow, region, &region->write, rect, agrees_out)) {
        return false;
    }
    for (uint32_t i = 0; (writes || open > 0) && i < region->reader_count; i++) {
        bool done = true;
        open -= is_write(&readers[i]) ? 1 : 0;
        if (!grout_entry__is_there(&readers[i]) || is_passed_over(rules, &readers[i])) {
            continue;
        }
        if (is_write(&readers[i])) {
            done = check_write(rules, shadow, region, &readers[i], rect, agrees_out);
        } else if (writes) {
            done = check_read(rules, shadow, region, &readers[i], rect);
        }
        if (!done) {
            return false;
        }
    }
    return true;
}

/*
 * Whether accesses to come may be compared with the write instead of the earlier access. They may
 * if the write always comes later, even with a finding. Atomics need no order, or are only warned
 * of, so one atomic does not replace another.
 */
static bool is_settled(const grout_rules *rules, const grout_entry *earlier) {
    return is_ordered(rules, earlier, earlier->number) ||
           (is_issue_known(rules, earlier) && !are_alike(earlier, &rules->entry));
}

/*
 * Whether the earlier access has to be kept for atomics to come. An atomic replaces it only for
 * accesses that must be in order with the atomic, and other atomics need not be. For those it
 * replaces only its like, through its own proxy and from its own CTA.
 */
static bool hides(const grout_rules *rules, const grout_entry *earlier) {
    return is_atomic(&rules->entry) &&
           !(is_atomic(earlier) && earlier->atomicity == rules->entry.atomicity &&
             is_async(earlier) == is_async(&rules->entry) &&
             earlier->origin.cta == rules->entry.origin.cta);
}

/* The access becomes the last write; what may as well have come after it stays. */
static bool settle(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                   bool agrees) {
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    grout_entry last = region->write;
    uint32_t kept = 0, open = 0;
    bool is_done = agrees || is_settled(rules, &last);
    for (uint32_t i = 0; i < region->reader_count; i++) {
        bool is_over = is_settled(rules, &readers[i]) || is_behind(&readers[i]) ||
                       (agrees && is_write(&readers[i]));
        if (grout_entry__is_there(&readers[i]) && (!is_over || hides(rules, &readers[i]))) {
            readers[kept] = readers[i];
            readers[kept].vouches = 0; /* not for the write to come */
            readers[kept].flags |= is_over ? GROUT_ENTRY_BEHIND : 0;
            open += is_write(&readers[i]) ? 1 : 0;
            kept++;
        }
    }
    GROUT_ASSERT(open <= kept && kept <= region->reader_capacity);
    if (kept != region->reader_count) {
        grout_reader_index__drop(shadow, region);
    }
    grout_vouchers__drop(shadow, region);
    region->gone_count = 0;
    region->reader_count = kept; /* its memory is kept for the reads to come */
    region->open_count = open;
    region->write = rules->entry;
    last.flags |= is_done ? GROUT_ENTRY_BEHIND : 0;
    return !(last.flags & GROUT_ENTRY_PRESENT) || (is_done && !hides(rules, &last)) ||
           grout_readers__keep(rules, shadow, region, &last);
}

/* ---- where the fence stands (--strict-fences) ---- */

/* Whether the two are in order thanks to a proxy fence. */
static bool is_ordered_by_fence(const grout_rules *rules, const grout_entry *earlier) {
    bool needs_fence = grout_space_needs_commit_smem(rules->space) ||
                       (grout_space_needs_commit_gmem(rules->space) && is_write(earlier));
    return needs_fence && !is_by_engine(earlier) && is_async(&rules->entry) &&
           is_ordered(rules, earlier, earlier->number);
}

/*
 * Two accesses that are in order: has the actor of the earlier one run the fence itself? For an
 * engine that overwrites what a thread has written and somebody read since, that is asked of the
 * reader alone: it vouches for the write.
 */
static bool check_fence(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                        const grout_entry *earlier, const grout_rect *rect) {
    grout_conflict conflict = {.code = get_missing_commit(rules, earlier),
                               .primary = GROUT_PRIMARY_EARLIER,
                               .is_idiom = true};
    bool is_overwritten = is_write(earlier) && is_write(&rules->entry);
    return !is_ordered_by_fence(rules, earlier) ||
           rules->is_fenced_by_own(rules->payload, earlier, earlier->number) ||
           (is_overwritten && has_voucher(rules, shadow, region)) ||
           report(rules, &conflict, earlier, rect);
}

/* All that the access is in conflict with, in a pass of its own: nobody else pays for it. */
static bool check_fences(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                         const grout_rect *rect) {
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    const grout_entry *write = &region->write;
    bool done =
        !(write->flags & GROUT_ENTRY_PRESENT) || check_fence(rules, shadow, region, write, rect);
    for (uint32_t i = 0; done && i < region->reader_count; i++) {
        bool is_conflict = grout_entry__is_there(&readers[i]) &&
                           (is_write(&readers[i]) || is_write(&rules->entry));
        done = !is_conflict || is_passed_over(rules, &readers[i]) ||
               check_fence(rules, shadow, region, &readers[i], rect);
    }
    return done;
}

bool grout_rules__visit(void *payload, grout_shadow *shadow, grout_region *region,
                        const grout_rect *rect) {
    const grout_rules *rules = payload;
    grout_entry entry = rules->entry;
    bool agrees = true;
    GROUT_ASSERT(entry.flags & GROUT_ENTRY_PRESENT && entry.number != 0);
    GROUT_ASSERT((region->write.flags & GROUT_ENTRY_WRITE) ||
                 !(region->write.flags & GROUT_ENTRY_PRESENT));
    if (!check(rules, shadow, region, rect, &agrees) ||
        (rules->is_fenced_by_own && !check_fences(rules, shadow, region, rect))) {
        return false;
    }
    if (is_write(&entry)) {
        return settle(rules, shadow, region, agrees);
    }
    entry.vouches = agrees ? entry.number : 0;
    return grout_readers__keep(rules, shadow, region, &entry);
}
