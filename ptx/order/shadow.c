/* shadow.c - an access beside those before it. PTX ISA 9.1, 'Causality Order', 'Data Races',
 * 'Proxies'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "shadow.h"

#include "hash.h"
#include "rules.h"

#include <string.h>

/* A cell names a lane of a record, or, with the highest bit, a list of readers. */
enum { LANE_BITS = 5, LANES = 32 };
#define IS_LIST     UINT32_C(0x80000000)
#define RECORDS_MAX (UINT32_C(1) << 24) /* 1 GiB; less than names can tell apart */
#define READS_MAX   (UINT32_C(1) << 26)

void grout_ptx__deinit_shadow(ptx_shadow *shadow) {
    grout__free(shadow->records.items);
    grout__free(shadow->reads.items);
    grout__free(shadow->equals.items);
    grout__free(shadow->equals_at);
    grout__free(shadow->brought.items);
}

/* ---- lists of readers ---- */

/* The first reader of a list, and which is next. */
static ptx_reads get_reads(const ptx_shadow *shadow, uint32_t name) {
    if ((name & IS_LIST) != 0) {
        return shadow->reads.items[name & ~IS_LIST];
    }
    return (ptx_reads){name >> LANE_BITS, 1u << name % LANES, 0};
}

/* A lane of a reader that the access is not ordered with, or LANES. */
static uint32_t compare_lanes(const ptx_check *check, const ptx_reads *reads,
                              ptx_missing *missing_out) {
    const ptx_record *record = &check->shadow->records.items[reads->record];
    *missing_out = PTX_MISSING_NONE;
    FOR_LANES(lane, reads->lanes) {
        *missing_out = grout_ptx__compare(check, record, lane);
        if (*missing_out != PTX_MISSING_NONE) {
            return lane;
        }
    }
    return LANES;
}

/* Whether all of a reader's lanes are before the access. */
static bool are_before(const ptx_check *check, const ptx_reads *reads) {
    const ptx_record *record = &check->shadow->records.items[reads->record];
    FOR_LANES(lane, reads->lanes) {
        if (!grout_ptx__is_before(check, record, lane)) {
            return false;
        }
    }
    return true;
}

static bool fail(const ptx_check *check, uint32_t record, uint32_t lane, ptx_missing missing,
                 ptx_race *race_out) {
    *race_out = (ptx_race){
        .missing = missing, .earlier = check->shadow->records.items[record], .lane = lane};
    return false;
}

static bool sees_reads(const ptx_check *check, const ptx_record *record, uint32_t lanes) {
    FOR_LANES(lane, lanes) {
        if (!grout_ptx__sees(check, record, lane)) {
            return false;
        }
    }
    return true;
}

/* Whether an engine has read what the last write left, and is done before the access: then so is
 * the write, which was before that engine. A thread that knows of another one's read knows of the
 * write anyway. Global memory has more than one copy: there an engine that is known to have read
 * says nothing of what it was ordered after. */
static bool is_vouched(const ptx_check *check, const ptx_cell *cell) {
    for (uint32_t name = check->span->kind == PTX_SPAN_GLOBAL ? 0 : cell->reads; name != 0;) {
        ptx_reads reads = get_reads(check->shadow, name);
        const ptx_record *record = &check->shadow->records.items[reads.record];
        ptx_missing missing = PTX_MISSING_NONE;
        if (!record->is_strong && !record->is_barrier && !record->is_write &&
            ptx_agent_get_kind(record->agent) > PTX_AGENT_INITS &&
            compare_lanes(check, &reads, &missing) == LANES &&
            sees_reads(check, record, reads.lanes)) {
            return true;
        }
        name = reads.next;
    }
    return false;
}

/* A plain write, or one of a copy: no sums of a product, and nothing that is shifted. */
static bool is_plain_write(const ptx_record *record) {
    const ptx_pipe_kind kind = record->pipe.kind;
    return record->is_write && !record->is_strong && !record->is_barrier &&
           ptx_agent_get_kind(record->agent) != PTX_AGENT_INITS && kind != PTX_PIPE_MULTIPLY &&
           kind != PTX_PIPE_SHIFT;
}

/* ---- writes that leave the same ---- */

enum { EQUALS_FIRST = 64 };

/* Where two instructions are in the table, or an empty place for them. */
static uint32_t *find_equal(const ptx_shadow *shadow, const ptx_equal *equal) {
    const uint32_t mask = shadow->equals_capacity - 1;
    uint32_t at = grout_hash__index(grout_hash__word(equal->later.inst, equal->race.earlier.inst));
    for (;; at++) {
        uint32_t *place = &shadow->equals_at[at & mask];
        const ptx_equal *it = *place == 0 ? equal : &shadow->equals.items[*place - 1];
        if (it->later.inst == equal->later.inst &&
            it->race.earlier.inst == equal->race.earlier.inst) {
            return place;
        }
    }
}

/* A table for one more; false without memory. */
static bool reserve_equal(ptx_shadow *shadow) {
    const size_t count = shadow->equals.count;
    if (!GROUT_ARRAY_RESERVE(&shadow->equals, shadow->means.allocator, 1)) {
        return false;
    }
    if (2 * (count + 1) < shadow->equals_capacity) {
        return true;
    }
    const uint32_t capacity =
        shadow->equals_capacity == 0 ? EQUALS_FIRST : 2 * shadow->equals_capacity;
    uint32_t *larger = grout__new(shadow->means.allocator, capacity, sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    grout__free(shadow->equals_at);
    shadow->equals_at = larger;
    shadow->equals_capacity = capacity;
    for (size_t i = 0; i < count; i++) {
        *find_equal(shadow, &shadow->equals.items[i]) = (uint32_t)i + 1;
    }
    return true;
}

/* Keeps two writes that race and leave the same values, once for two instructions. False without
 * memory. */
static bool add_equal(ptx_shadow *shadow, const ptx_equal *equal) {
    if (!reserve_equal(shadow)) {
        return false;
    }
    uint32_t *place = find_equal(shadow, equal);
    if (*place == 0) {
        shadow->equals.items[shadow->equals.count++] = *equal;
        *place = (uint32_t)shadow->equals.count;
    }
    return true;
}

/* In tensor memory, what one warp does is a matter of its pipelines. */
static bool is_of_one_pipeline(const ptx_check *check, const ptx_record *record) {
    return check->span->kind == PTX_SPAN_TENSOR &&
           record->agent / PTX_AGENT_KINDS == check->access->record.agent / PTX_AGENT_KINDS;
}

/* Whether the access writes what the earlier write has left: whichever comes last, it stays. A
 * fence that is missing is no matter of values. All plain writes that a cell knows have left the
 * same. */
static bool is_equal(const ptx_check *check, const ptx_cell *cell, uint32_t earlier, uint32_t lane,
                     ptx_missing missing) {
    const ptx_record *records = check->shadow->records.items;
    if (check->same != PTX_SAME_VALUE || missing != PTX_MISSING_ORDER ||
        !is_plain_write(&check->access->record) || !is_plain_write(&records[earlier]) ||
        !is_plain_write(&records[cell->write >> LANE_BITS]) ||
        is_of_one_pipeline(check, &records[earlier])) {
        return false;
    }
    const ptx_equal equal = {.race = {.missing = missing,
                                      .earlier = records[earlier],
                                      .lane = lane,
                                      .own_lane = check->own_lane,
                                      .at = (uint32_t)(cell - check->span->cells)},
                             .later = check->access->record};
    return add_equal(check->shadow, &equal);
}

/* A write that is in no order with the last one, and leaves the same: it has to come after what
 * that one has followed, or the other way round. */
static bool check_older(const ptx_check *check, const ptx_cell *cell, ptx_race *race_out) {
    ptx_missing missing = PTX_MISSING_NONE;
    const uint32_t lane = cell->older_write % LANES, record = cell->older_write >> LANE_BITS;
    if (cell->older_write != 0) {
        missing = grout_ptx__compare(check, &check->shadow->records.items[record], lane);
    }
    if (missing != PTX_MISSING_NONE) {
        return fail(check, record, lane, missing, race_out);
    }
    for (uint32_t name = cell->older_reads; name != 0;) {
        const ptx_reads reads = get_reads(check->shadow, name);
        const uint32_t other = compare_lanes(check, &reads, &missing);
        if (!ptx_goes_on(&check->shadow->means, 1)) {
            return false;
        }
        if (other < LANES) {
            return fail(check, reads.record, other, missing, race_out);
        }
        name = reads.next;
    }
    return true;
}

static bool check_write(const ptx_check *check, const ptx_cell *cell, ptx_race *race_out) {
    uint32_t lane = cell->write % LANES, record = cell->write >> LANE_BITS;
    if (cell->write == 0) {
        return true;
    }
    ptx_missing missing = grout_ptx__compare(check, &check->shadow->records.items[record], lane);
    if (missing == PTX_MISSING_NONE || (missing != PTX_MISSING_CACHED && is_vouched(check, cell))) {
        return true;
    }
    return is_equal(check, cell, record, lane, missing)
               ? check_older(check, cell, race_out)
               : fail(check, record, lane, missing, race_out);
}

/* Those in the list: reads, and what strong writes have left. */
static bool check_list(const ptx_check *check, const ptx_cell *cell, ptx_race *race_out) {
    for (uint32_t name = cell->reads; name != 0;) {
        ptx_reads reads = get_reads(check->shadow, name);
        ptx_missing missing = PTX_MISSING_NONE;
        if (!ptx_goes_on(&check->shadow->means, 1)) {
            return false;
        }
        bool is_conflict =
            check->access->record.is_write || check->shadow->records.items[reads.record].is_write;
        uint32_t lane = is_conflict ? compare_lanes(check, &reads, &missing) : LANES;
        if (lane < LANES && !is_equal(check, cell, reads.record, lane, missing)) {
            return fail(check, reads.record, lane, missing, race_out);
        }
        name = reads.next;
    }
    return true;
}

/* ---- new names ---- */

/* Where the number of a record like this may be. */
static uint32_t *find_recent(ptx_shadow *shadow, const ptx_record *record) {
    uint64_t hash = (record->agent * 31 + record->inst) * UINT64_C(0x9e3779b97f4a7c15);
    return &shadow->recent[hash >> 32 & (PTX_RECENT - 1)];
}

/* The number of a record, an old one if it is the same; 0 without memory. */
static uint32_t add_record(ptx_shadow *shadow, const ptx_record *record) {
    uint32_t *recent = find_recent(shadow, record);
    size_t count = shadow->records.count;
    if (*recent != 0 && grout_ptx__is_same_record(&shadow->records.items[*recent], record)) {
        return *recent;
    }
    if (count >= RECORDS_MAX ||
        !GROUT_ARRAY_RESERVE(&shadow->records, shadow->means.allocator, 2)) {
        shadow->is_full = count >= RECORDS_MAX;
        return 0;
    }
    shadow->records.count += count == 0;
    *recent = (uint32_t)shadow->records.count;
    shadow->records.items[shadow->records.count++] = *record;
    return *recent;
}

/* A list with a reader in front; 0 without memory. */
static uint32_t add_reads(ptx_shadow *shadow, const ptx_reads *reads) {
    size_t count = shadow->reads.count;
    if (reads->next == 0 && (reads->lanes & (reads->lanes - 1)) == 0) {
        return reads->record << LANE_BITS | (uint32_t)__builtin_ctz(reads->lanes);
    }
    if (count > 0 && memcmp(&shadow->reads.items[count - 1], reads, sizeof *reads) == 0) {
        return IS_LIST | (uint32_t)(count - 1);
    }
    if (count >= READS_MAX || !GROUT_ARRAY_RESERVE(&shadow->reads, shadow->means.allocator, 1)) {
        shadow->is_full = count >= READS_MAX;
        return 0;
    }
    shadow->reads.items[shadow->reads.count++] = *reads;
    return IS_LIST | (uint32_t)count;
}

static bool prepend(ptx_shadow *shadow, ptx_reads reads, uint32_t *list) {
    reads.next = *list;
    *list = add_reads(shadow, &reads);
    return *list != 0 && ptx_goes_on(&shadow->means, 1);
}

/* ---- one cell ---- */

static ptx_check make_check(ptx_shadow *shadow, const ptx_access *access, const ptx_span *span,
                            uint32_t lane) {
    return (ptx_check){.shadow = shadow,
                       .access = access,
                       .span = span,
                       .view = access->views[lane],
                       .own_lane = access->own_lane == PTX_OWN_LANE ? lane : access->own_lane};
}

/* Whether an agent may access the place beside one of two strong accesses, because both are strong,
 * may do so beside the older one, too. */
static bool is_as_strong(const ptx_record *older, const ptx_record *newer) {
    return older->is_strong && newer->is_strong && older->size == newer->size &&
           older->cta == newer->cta && older->scope >= newer->scope &&
           older->is_async_proxy == newer->is_async_proxy;
}

/* Whether whatever races with an older read races with the access, too, if that one comes later. */
static bool is_alike(const ptx_record *record, const ptx_record *own) {
    return record->is_async_proxy == own->is_async_proxy && record->is_strong == own->is_strong &&
           record->is_barrier == own->is_barrier && record->is_map == own->is_map &&
           record->is_cached == own->is_cached && record->is_write == own->is_write &&
           (!own->is_strong || is_as_strong(record, own)) &&
           grout_ptx__is_same_pipe(&record->pipe, &own->pipe) &&
           ptx_agent_get_kind(record->agent) == ptx_agent_get_kind(own->agent);
}

/* Whether all lanes of a reader are before each lane of the access. */
static bool is_after_all(ptx_shadow *shadow, const ptx_access *access, const ptx_span *span,
                         const ptx_reads *reads) {
    FOR_LANES(lane, access->lanes) {
        const ptx_check check = make_check(shadow, access, span, lane);
        if (!are_before(&check, reads)) {
            return false;
        }
    }
    return true;
}

/* The lanes of an older reader of which the access is not enough to know: whatever is after it is
 * after the others, too. Lanes of a warp that read again are after themselves, each by itself. */
static uint32_t get_left(ptx_shadow *shadow, const ptx_access *access, const ptx_span *span,
                         const ptx_reads *reads) {
    const ptx_record *record = &shadow->records.items[reads->record], *own = &access->record;
    if (!is_alike(record, own)) {
        return reads->lanes;
    }
    if (ptx_agent_get_kind(own->agent) > PTX_AGENT_INITS && record->agent == own->agent &&
        reads->lanes == access->lanes && record->time <= own->time) {
        return 0; /* an engine's lane is known up to a time */
    }
    if (is_after_all(shadow, access, span, reads)) {
        return 0;
    }
    const bool is_of_warp = access->own_lane == PTX_OWN_LANE && span->kind != PTX_SPAN_TENSOR &&
                            ptx_agent_get_kind(own->agent) <= PTX_AGENT_INITS &&
                            record->agent == own->agent && record->time <= access->own_time;
    return is_of_warp ? reads->lanes & ~access->lanes : reads->lanes;
}

/* The reads that are left of a list, and this access in front of them. */
static bool add_reader(ptx_shadow *shadow, const ptx_access *access, const ptx_span *span,
                       uint32_t record, ptx_cell *cell) {
    ptx_reads newest = {record, access->lanes, 0};
    const ptx_reads first = get_reads(shadow, cell->reads);
    uint32_t list = 0;
    if (cell->reads != 0 && first.record == record && (access->lanes & ~first.lanes) == 0) {
        return true; /* it reads again, and knows no more */
    }
    for (uint32_t name = cell->reads; name != 0;) {
        ptx_reads reads = get_reads(shadow, name);
        name = reads.next;
        if (reads.record == record) {
            newest.lanes |= reads.lanes;
            continue;
        }
        reads.lanes = get_left(shadow, access, span, &reads);
        if (reads.lanes != 0 && !prepend(shadow, reads, &list)) {
            return false;
        }
    }
    cell->reads = list;
    return prepend(shadow, newest, &cell->reads);
}

/* Whether a write that may be unordered with later ones, because both are strong or the same,
 * is enough to know of an older access: what races with that races with this, or comes after both.
 */
static bool is_covered(const ptx_check *check, const ptx_reads *older) {
    const ptx_record *record = &check->shadow->records.items[older->record],
                     *own = &check->access->record;
    return (!own->is_strong || is_as_strong(record, own)) && are_before(check, older);
}

/* Reads that a write of the same value covers; newer ones are enough to know of older ones. */
static bool keep_older(ptx_shadow *shadow, const ptx_reads *reads, ptx_cell *cell) {
    const ptx_record newer = shadow->records.items[reads->record];
    uint32_t list = 0;
    for (uint32_t name = cell->older_reads; name != 0;) {
        const ptx_reads older = get_reads(shadow, name);
        const ptx_record *record = &shadow->records.items[older.record];
        bool is_known = record->agent == newer.agent && (older.lanes & ~reads->lanes) == 0 &&
                        record->time <= newer.time;
        name = older.next;
        if (!is_known && !prepend(shadow, older, &list)) {
            return false;
        }
    }
    cell->older_reads = list;
    return prepend(shadow, *reads, &cell->older_reads);
}

/* Those of which such a write is not enough to know: what comes later has to be after them, too. */
static bool keep_uncovered(ptx_shadow *shadow, const ptx_check *check, ptx_cell *cell) {
    uint32_t list = 0;
    ptx_reads last = get_reads(shadow, cell->write);
    bool is_same = cell->write == 0 || is_covered(check, &last) ||
                   (!check->access->record.is_strong && is_vouched(check, cell));
    if (!is_same && !prepend(shadow, last, &list)) {
        return false;
    }
    for (uint32_t name = cell->reads; name != 0 && is_same;) {
        ptx_reads reads = get_reads(shadow, name);
        name = reads.next;
        is_same = !is_covered(check, &reads);
    }
    for (uint32_t name = is_same ? 0 : cell->reads; name != 0;) {
        ptx_reads reads = get_reads(shadow, name);
        name = reads.next;
        if (!is_covered(check, &reads)
                ? !prepend(shadow, reads, &list)
                : !shadow->records.items[reads.record].is_write &&
                      !check->access->record.is_strong && !keep_older(shadow, &reads, cell)) {
            return false;
        }
    }
    cell->reads = is_same ? cell->reads : list;
    return true;
}

/* A product's read of what a copy or a shift of its warp has brought. */
static bool note_operand(const ptx_check *check, const ptx_cell *cell) {
    const ptx_record *own = &check->access->record,
                     *write = &check->shadow->records.items[cell->write >> LANE_BITS];
    const ptx_brought news = {
        .by = {write->agent, cell->write % LANES, write->time},
        .reader = {own->agent, (uint32_t)__builtin_ctz(check->access->lanes), own->time}};
    return cell->write == 0 || !own->pipe.is_operand || !grout_ptx__may_bring(&write->pipe) ||
           !grout_ptx__is_started_before(check, write, news.by.lane) ||
           grout_ptx__note_brought(&check->shadow->means, &check->shadow->brought, &news);
}

static bool note_cell(ptx_shadow *shadow, const ptx_access *access, const ptx_span *span,
                      uint32_t record, ptx_cell *cell, ptx_race *race_out) {
    uint32_t first = (uint32_t)__builtin_ctz(access->lanes);
    const ptx_same same =
        access->same == NULL ? PTX_SAME_NOT : (ptx_same)access->same[cell - span->cells];
    FOR_LANES(lane, access->lanes) {
        ptx_check check = make_check(shadow, access, span, lane);
        check.same = same;
        if (!check_write(&check, cell, race_out) || !check_list(&check, cell, race_out)) {
            race_out->own_lane = lane;
            return false;
        }
    }
    const ptx_check check = make_check(shadow, access, span, first);
    if (!access->record.is_write) {
        return note_operand(&check, cell) && add_reader(shadow, access, span, record, cell);
    }
    if (!access->record.is_strong && same == PTX_SAME_NOT) {
        cell->older_write = cell->write;
        cell->older_reads = cell->reads;
        cell->reads = 0;
    } else if (!keep_uncovered(shadow, &check, cell)) {
        return false;
    }
    cell->write = record << LANE_BITS | first;
    return true;
}

bool grout_ptx__note_access(ptx_shadow *shadow, const ptx_access *access, const ptx_span *span,
                            ptx_race *race_out) {
    ptx_cell before = {0}, after = {0};
    uint32_t record =
        ptx_goes_on(&shadow->means, span->count) ? add_record(shadow, &access->record) : 0;
    race_out->missing = PTX_MISSING_NONE;
    for (uint32_t i = 0; i < span->count; i++) {
        ptx_cell *cell = &span->cells[i];
        bool is_alike = access->same == NULL || (i > 0 && access->same[i] == access->same[i - 1]);
        if (i > 0 && is_alike && memcmp(cell, &before, sizeof before) == 0) {
            *cell = after;
            continue;
        }
        before = *cell;
        if (record == 0 || !note_cell(shadow, access, span, record, cell, race_out)) {
            race_out->at = i;
            return false;
        }
        after = *cell;
    }
    return true;
}

/* ---- the end of a CTA ---- */

/* Whether threads that end with the check's view know that an access of another CTA is over. An
 * arrival is over when its phase is, in whatever order it is. */
static bool is_over(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    ptx_record arrival = *record;
    arrival.agent += PTX_AGENT_ARRIVALS - PTX_AGENT_THREADS;
    return grout_ptx__is_before(check, record, lane) ||
           (record->is_barrier && ptx_agent_get_kind(record->agent) == PTX_AGENT_THREADS &&
            grout_ptx__knows(check->view->clocks[PTX_KNOWN_BEGUN], arrival.agent, lane,
                             arrival.time));
}

/* Whether one of a list is not over. */
static bool find_in_list(const ptx_check *check, uint32_t list, ptx_race *race_out) {
    for (uint32_t name = list; name != 0;) {
        const ptx_reads reads = get_reads(check->shadow, name);
        const ptx_record *record = &check->shadow->records.items[reads.record];
        FOR_LANES(lane, record->cta != check->access->record.cta ? reads.lanes : 0) {
            if (!is_over(check, record, lane)) {
                *race_out =
                    (ptx_race){.missing = PTX_MISSING_END, .earlier = *record, .lane = lane};
                return true;
            }
        }
        name = reads.next;
    }
    return false;
}

bool grout_ptx__find_unknown(ptx_shadow *shadow, const ptx_view *view, uint32_t cta,
                             const ptx_span *span, ptx_race *race_out) {
    const ptx_access access = {.record = {.cta = cta, .agent = UINT64_MAX, .is_write = true},
                               .own_agent =
                                   UINT64_MAX}; /* who takes the memory back looks at nothing */
    const ptx_check check = {.shadow = shadow, .access = &access, .span = span, .view = view};
    for (uint32_t i = 0; i < span->count; i++) {
        const ptx_cell *cell = &span->cells[i];
        if (i > 0 && cell->write == cell[-1].write && cell->reads == cell[-1].reads) {
            continue;
        }
        if (find_in_list(&check, cell->write, race_out) ||
            find_in_list(&check, cell->reads, race_out)) {
            race_out->at = i;
            return true;
        }
    }
    return false;
}
