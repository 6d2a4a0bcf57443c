/* async.c - what was started and has not happened. Operations that nothing orders happen in any
 * order, early or late; products of one warp happen in theirs. PTX ISA 9.1, 'Asynchronous
 * operations'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "asyncs.h"
#include "observe.h"
#include "tensor_memory.h"

/* As pulse.h counts it: what one takes, and of how many a unit of it looks at. */
enum { ASYNC_WORK = 1024, ASYNCS_OF_WORK = 16 };

static ptx_warp *get_warp(const ptx_async *async) {
    return &async->own->warps[async->warp];
}

/* One more is under way, or (-1) one less. */
static void count(const ptx_async *async, int more) {
    ptx_warp *warp = get_warp(async);
    async->own->cluster->under_way += (uint64_t)more;
    PTX_FOR_LANES(lane, async->lanes) {
        warp->under_way[async->kind][lane] += (uint32_t)more;
    }
}

bool grout_ptx__start(const ptx_context *context, ptx_async async) {
    ptx_machine *machine = context->machine;
    if (!grout_ptx__asyncs_reserve(&machine->asyncs, &machine->heap->allocator)) {
        grout__free(async.bytes);
        machine->is_failed = true;
        return grout_diags_add_oom(machine->diags);
    }
    async.own = context->cta;
    async.cta = context->cta->number;
    async.warp = context->warp->index;
    async.inst = context->step->inst;
    async.step = context->step;
    if (async.kind == PTX_ASYNC_PRODUCT) {
        async.order = context->warp->products_started++;
    }
    async.lanes = async.lanes != 0 ? async.lanes : 1u << async.lane;
    if (!grout_ptx__observe_start(context, &async)) {
        grout_ptx__end_flight(&async.flight);
        grout__free(async.bytes);
        return false;
    }
    async.is_late =
        machine->launch->timing == GROUT_PTX_TIMING_LATE ||
        (machine->launch->timing == GROUT_PTX_TIMING_RANDOM && grout_ptx__draw(machine, 4) == 0);
    grout_ptx__asyncs_add(&machine->asyncs, &async);
    count(&async, 1);
    machine->async_count++;
    machine->prompt_count += !async.is_late;
    machine->events++;
    while (machine->launch->timing == GROUT_PTX_TIMING_EARLY &&
           grout_ptx__let_one_happen(machine, true)) {
    }
    return !machine->is_failed;
}

bool grout_ptx__is_under_way(const ptx_context *context, ptx_async_kind kind, uint32_t lanes,
                             const uint32_t *before, bool only_reads) {
    const ptx_machine *machine = context->machine;
    const ptx_asyncs *asyncs = &machine->asyncs;
    const size_t first = asyncs->live == 0 ? asyncs->count : grout_ptx__asyncs_find(asyncs, 0);
    bool found = false;
    size_t i = first;
    PTX_FOR_LANES(lane, lanes) {
        lanes &= context->warp->under_way[kind][lane] != 0 ? ~0u : ~(1u << lane);
    }
    for (; i < asyncs->count && lanes != 0 && !found; i++) {
        const ptx_async *async = &asyncs->items[i];
        if (async->kind != kind || async->cta != context->cta->number ||
            async->warp != context->warp->index) {
            continue;
        }
        PTX_FOR_LANES(lane, async->lanes & lanes) {
            const bool is_meant = async->group < before[lane];
            found |= is_meant && !(only_reads && async->is_read);
            lanes &= is_meant ? ~0u : ~(1u << lane); /* nor are the later groups of the lane */
        }
    }
    (void)ptx_may_go_on(machine, (i - first) / ASYNCS_OF_WORK);
    return found;
}

/* Whether others that are under way decide when it may happen. */
static bool is_of_tensor_core(const ptx_async *async) {
    return async->kind == PTX_ASYNC_TENSOR || async->pipe.kind != PTX_PIPE_NONE;
}

/* A product waits for those of its warp before it. */
static bool may_happen(const ptx_machine *machine, size_t index) {
    const ptx_async *async = &machine->asyncs.items[index];
    if (is_of_tensor_core(async)) {
        return grout_ptx__tensor_may_happen(machine, index);
    }
    return async->kind != PTX_ASYNC_PRODUCT || async->order == get_warp(async)->products_done;
}

static void remove_async(ptx_machine *machine, size_t index) {
    const ptx_async *async = &machine->asyncs.items[index];
    grout__free(async->bytes);
    count(async, -1);
    grout_ptx__end_flight(&machine->asyncs.items[index].flight);
    machine->prompt_count -= !async->is_late;
    if (async->kind == PTX_ASYNC_PRODUCT) {
        get_warp(async)->products_done++;
    }
    grout_ptx__asyncs_remove(&machine->asyncs, index);
}

/* The next one after an index, and the first one after the last. */
static size_t turn_to_next(const ptx_asyncs *asyncs, size_t index) {
    const size_t next = grout_ptx__asyncs_next(asyncs, index + 1);
    return next < asyncs->count ? next : grout_ptx__asyncs_next(asyncs, 0);
}

bool grout_ptx__let_one_happen(ptx_machine *machine, bool forced) {
    ptx_asyncs *asyncs = &machine->asyncs;
    const size_t live = forced || machine->prompt_count > 0 ? asyncs->live : 0;
    size_t index =
        live > 0 ? grout_ptx__asyncs_find(asyncs, (size_t)grout_ptx__draw(machine, live)) : 0;
    for (size_t i = 0; i < live && !machine->is_failed; i++) {
        ptx_async *async = &asyncs->items[index];
        const size_t looks = is_of_tensor_core(async) ? live : 0;
        if (!ptx_may_go_on(machine, 1 + looks / ASYNCS_OF_WORK)) {
            machine->is_failed = true;
            break;
        }
        const bool may_run = (!async->is_late || forced) && may_happen(machine, index);
        if (may_run && async->run(machine, async)) {
            (void)ptx_may_go_on(machine, ASYNC_WORK);
            machine->events++;
            if (async->is_done) {
                remove_async(machine, index);
            }
            return true;
        }
        index = turn_to_next(asyncs, index);
    }
    return false;
}
