/* rules.c - whether one access is ordered after another one. PTX ISA 9.1, 'Causality Order',
 * 'Morally strong operations', 'Proxies'; 9.4, 'Pipelined tcgen05 Instructions'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

/* ---- order ---- */

static bool knows(const ptx_view *view, ptx_known known, const ptx_record *record, uint32_t lane) {
    return grout_ptx__knows(view->clocks[known], record->agent, lane, record->time);
}

/* The same lane's, before it in program order. */
static bool is_own(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    const ptx_access *access = check->access;
    return record->agent / PTX_AGENT_KINDS == access->own_agent / PTX_AGENT_KINDS &&
           ptx_agent_get_kind(record->agent) <= PTX_AGENT_INITS && lane == check->own_lane &&
           record->time <= access->own_time;
}

static bool is_before_in_tensor(const ptx_check *check, const ptx_record *record, uint32_t lane);

/* PTX ISA 9.1, 'Causality Order': somebody before the access has observed the write. */
static bool has_observed(const ptx_check *check, const ptx_record *record) {
    return record->mark.number != 0 && grout_ptx__knows(check->view->clocks[PTX_KNOWN_THREADS],
                                                        record->mark.agent, 0, record->mark.number);
}

/* Whether the access looks at what is there. Who writes over a place that an engine is done with
 * has been given it back. */
static bool looks(const ptx_check *check) {
    const ptx_record *own = &check->access->record;
    return !own->is_write || own->is_strong;
}

/* Whether an engine is known to have made it, and, where the access looks at what it wrote, along a
 * way that is morally strong. */
static bool is_by_engine_before(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    const bool has_to_see = record->is_write && looks(check);
    return knows(check->view, has_to_see ? PTX_KNOWN_VISIBLE : PTX_KNOWN_ENGINES, record, lane);
}

bool grout_ptx__is_before(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    if (check->span->kind == PTX_SPAN_TENSOR) {
        return is_before_in_tensor(check, record, lane);
    }
    return is_own(check, record, lane) || knows(check->view, PTX_KNOWN_THREADS, record, lane) ||
           is_by_engine_before(check, record, lane) || has_observed(check, record);
}

/* Whether a lane of an agent, up to a time, is among what a fence of the proxies has passed. */
static bool has_passed(const ptx_check *check, uint64_t agent, uint32_t lane, uint32_t time) {
    const ptx_view *view = check->view;
    if (check->span->kind == PTX_SPAN_GLOBAL) {
        return grout_ptx__knows(view->clocks[PTX_KNOWN_GLOBAL], agent, lane, time);
    }
    const ptx_clock *clock = view->clocks[PTX_KNOWN_SHARED];
    return grout_ptx__knows(clock, agent * PTX_RANKS + check->span->rank, lane, time) ||
           grout_ptx__knows(clock, agent * PTX_RANKS + PTX_ALL_RANKS, lane, time);
}

/* Whether a fence of the proxies lies between an access by the generic proxy and one by the async
 * proxy. */
static bool is_fenced(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    return has_passed(check, record->agent, lane, record->time) ||
           (record->mark.number != 0 &&
            has_passed(check, record->mark.agent, 0, record->mark.number));
}

/* In global memory, what was read is in registers, and needs no fence. */
static bool needs_fence(const ptx_check *check, const ptx_record *record) {
    return !record->is_async_proxy && check->access->record.is_async_proxy &&
           (record->is_write || check->span->kind != PTX_SPAN_GLOBAL);
}

/* ---- tensor memory ---- */

static bool is_same_operation(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    const ptx_access *access = check->access;
    return record->agent == access->record.agent && record->time == access->record.time &&
           (access->lanes >> lane & 1) != 0;
}

/* Whether a lane of the access' warp has started the recorded operation before this one. Loads and
 * stores are of all lanes, and the machine performs a warp's in the order of their start. */
bool grout_ptx__is_started_before(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    const ptx_record *own = &check->access->record;
    ptx_record started = *record;
    if (record->agent / PTX_AGENT_KINDS != own->agent / PTX_AGENT_KINDS) {
        return false;
    }
    const bool is_move = record->pipe.kind == PTX_PIPE_LOAD || record->pipe.kind == PTX_PIPE_STORE;
    if (is_move || (check->access->lanes >> lane & 1) != 0) {
        return is_move || record->time < own->time;
    }
    started.agent += PTX_AGENT_TENSOR_ISSUED - PTX_AGENT_TENSOR;
    return knows(check->view, PTX_KNOWN_THREADS, &started, lane);
}

/* Whether the access is by a copy or a shift after a product that has read of what another one
 * has brought. The three operations happen one after the other, so all that the first one writes
 * comes before all that the last one does, also what the product has not read. */
static bool is_after_reader(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    const ptx_brought_list *brought = &check->shadow->brought;
    const ptx_operation by = {record->agent, lane, record->time};
    const bool may_be =
        grout_ptx__may_bring(&record->pipe) && grout_ptx__may_bring(&check->access->record.pipe);
    size_t below = may_be ? brought->count : 0;
    for (const ptx_operation *it;
         (it = grout_ptx__find_reader(&check->shadow->means, brought, &by, &below)) != NULL;) {
        const ptx_record reader = {.agent = it->agent, .time = it->time};
        if (grout_ptx__is_started_before(check, &reader, it->lane)) {
            return true;
        }
    }
    return false;
}

static bool is_in_pipeline(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    return (grout_ptx__is_pipeline(&record->pipe, &check->access->record.pipe) &&
            grout_ptx__is_started_before(check, record, lane)) ||
           is_after_reader(check, record, lane);
}

/* Whether an operation looks at what is there: a product may be added to it. Who gives columns back
 * does not. */
static bool looks_in_tensor(const ptx_check *check) {
    return ptx_agent_get_kind(check->access->record.agent) != PTX_AGENT_THREADS;
}

static bool is_admitted(const ptx_check *check, const ptx_record *record, uint32_t lane,
                        bool has_to_see) {
    return knows(check->view,
                 has_to_see && looks_in_tensor(check) ? PTX_KNOWN_ADMITTED_SEEN
                                                      : PTX_KNOWN_ADMITTED,
                 record, lane);
}

/* The tensor core's operations are known to be over by tcgen05.wait, or by a commit, a wait for its
 * mbarrier and a fence; those of one pipeline only have to be started one after the other. */
static bool is_before_in_tensor(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    return is_same_operation(check, record, lane) ||
           is_admitted(check, record, lane, record->is_write) ||
           is_in_pipeline(check, record, lane);
}

/* Both are atomic for each other: PTX ISA 9.1, 'Morally strong operations'. */
static ptx_missing compare_strong(const ptx_check *check, const ptx_record *record) {
    const ptx_record *own = &check->access->record;
    const uint32_t size = check->access->cluster_size;
    if (record->is_barrier && own->is_barrier) {
        return PTX_MISSING_NONE;
    }
    if (!record->is_strong || !own->is_strong || record->size != own->size ||
        record->is_async_proxy != own->is_async_proxy) {
        return PTX_MISSING_ORDER;
    }
    return grout_ptx__includes((ptx_scope)record->scope, record->cta, own->cta, size) &&
                   grout_ptx__includes((ptx_scope)own->scope, own->cta, record->cta, size)
               ? PTX_MISSING_NONE
               : PTX_MISSING_SCOPE;
}

static ptx_missing compare_in_tensor(const ptx_check *check, const ptx_record *record,
                                     uint32_t lane) {
    return is_before_in_tensor(check, record, lane)             ? PTX_MISSING_NONE
           : is_admitted(check, record, lane, false)            ? PTX_MISSING_SIGHT
           : knows(check->view, PTX_KNOWN_SEALED, record, lane) ? PTX_MISSING_TENSOR_FENCE
                                                                : PTX_MISSING_ORDER;
}

/* A tensor map is read by a proxy of its own. */
static ptx_missing compare_map(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    ptx_record renamed = *record;
    renamed.agent = record->agent * PTX_MAPS_MAX + check->span->map;
    return !grout_ptx__is_before(check, record, lane)           ? PTX_MISSING_ORDER
           : knows(check->view, PTX_KNOWN_MAPS, &renamed, lane) ? PTX_MISSING_NONE
                                                                : PTX_MISSING_MAP_FENCE;
}

bool grout_ptx__is_same_pipe(const ptx_pipe *a, const ptx_pipe *b) {
    return a->kind == b->kind && a->is_operand == b->is_operand && a->result == b->result;
}

bool grout_ptx__is_same_record(const ptx_record *a, const ptx_record *b) {
    return a->agent == b->agent && a->time == b->time && a->inst == b->inst && a->cta == b->cta &&
           a->scope == b->scope && a->is_strong == b->is_strong && a->is_write == b->is_write &&
           a->is_barrier == b->is_barrier && a->is_map == b->is_map &&
           a->is_async_proxy == b->is_async_proxy && a->is_cached == b->is_cached &&
           a->size == b->size && a->mark.agent == b->mark.agent &&
           a->mark.number == b->mark.number && grout_ptx__is_same_pipe(&a->pipe, &b->pipe);
}

/* Lanes of one instruction that write the same value: whichever comes last, it stays. */
static bool is_repeated(const ptx_check *check, const ptx_record *record) {
    return check->same != PTX_SAME_NOT && grout_ptx__is_same_record(record, &check->access->record);
}

/* PTX ISA 9.1, 'ld.global.nc': for data that is only read for the duration of the kernel. */
static bool is_cached_write(const ptx_check *check, const ptx_record *record) {
    const ptx_record *own = &check->access->record;
    return (own->is_cached && record->is_write) || (own->is_write && record->is_cached);
}

ptx_missing grout_ptx__compare(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    if (is_cached_write(check, record)) {
        return PTX_MISSING_CACHED;
    }
    if (check->access->record.is_map) {
        return compare_map(check, record, lane);
    }
    if (check->span->kind == PTX_SPAN_TENSOR) {
        return compare_in_tensor(check, record, lane);
    }
    if (!grout_ptx__is_before(check, record, lane)) {
        return is_repeated(check, record) ? PTX_MISSING_NONE : compare_strong(check, record);
    }
    return needs_fence(check, record) && !is_fenced(check, record, lane) ? PTX_MISSING_FENCE
                                                                         : PTX_MISSING_NONE;
}

bool grout_ptx__sees(const ptx_check *check, const ptx_record *record, uint32_t lane) {
    if (check->span->kind == PTX_SPAN_TENSOR) {
        return is_admitted(check, record, lane, true) || is_in_pipeline(check, record, lane);
    }
    return !looks(check) || knows(check->view, PTX_KNOWN_VISIBLE, record, lane);
}
