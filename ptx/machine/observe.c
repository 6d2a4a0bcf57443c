/* observe.c - the machine's accesses and orders, as ptx/order hears of them; and what a race is
 * called. SPDX-License-Identifier: Apache-2.0 */
#include "observe.h"

#include "mbarrier.h"
#include "tensor_map.h"

#include <string.h>

/* Arrivals of cp.async in a group that are told apart, and groups: both make up the time of a copy.
 */
enum { MARKS = 1 << 12, GROUPS = 1 << 20 };

/* ---- the run ---- */

static bool need_memory(ptx_machine *machine, bool is_done) {
    if (!is_done) {
        machine->is_failed = true;
        grout_diags_add_oom(machine->diags);
    }
    return is_done;
}

bool grout_ptx__begin_observing(ptx_machine *machine) {
    if (!machine->launch->finds_races) {
        return true;
    }
    machine->order =
        grout_ptx__new_order(machine->cta_count, machine->warp_count, machine->cluster_size);
    bool has_room = machine->order != NULL;
    for (size_t i = 0; has_room && i < machine->memory->arrays.count; i++) {
        ptx_array *array = &machine->memory->arrays.items[i];
        array->cells = grout__new(NULL, (size_t)array->size, sizeof *array->cells);
        has_room = array->cells != NULL;
    }
    return need_memory(machine, has_room);
}

void grout_ptx__end_observing(ptx_machine *machine) {
    grout_ptx__free_order(machine->order);
    for (size_t i = 0; machine->launch->finds_races && i < machine->memory->arrays.count; i++) {
        grout__free(machine->memory->arrays.items[i].cells);
        machine->memory->arrays.items[i].cells = NULL;
    }
}

bool grout_ptx__observe_cta(ptx_machine *machine, ptx_cta *cta) {
    if (machine->order == NULL) {
        return true;
    }
    bool has_room = grout_ptx__begin_order(machine->order, cta->number);
    cta->cells = grout__new(NULL, machine->shared_bytes, sizeof *cta->cells);
    for (uint32_t i = 0; has_room && i < machine->warp_count; i++) {
        ptx_warp *warp = &cta->warps[i];
        warp->written = grout__new(NULL, machine->code->plane_count, sizeof *warp->written);
        has_room = warp->written != NULL;
    }
    return has_room && cta->cells != NULL;
}

/* ---- races ---- */

static const char *describe(const ptx_record *record) {
    return record->is_barrier  ? "its use as an mbarrier"
           : record->is_strong ? "an atomic access"
           : record->is_write  ? "a write"
                               : "a read";
}

static const char *explain(ptx_missing missing, bool is_tensor) {
    if (is_tensor && missing == PTX_MISSING_ORDER) {
        return "no tcgen05.wait, or commit with a wait for its mbarrier and the fences of tcgen05, "
               "orders them";
    }
    switch (missing) {
    case PTX_MISSING_NONE:
    case PTX_MISSING_ORDER:
        break;
    case PTX_MISSING_FENCE:
        return "they are ordered, but one is of the generic proxy and the other of the async "
               "proxy, "
               "and no fence.proxy.async lies between";
    case PTX_MISSING_MAP_FENCE:
        return "they are ordered, but no fence.proxy.tensormap of a release and of an acquire lie "
               "between";
    case PTX_MISSING_SCOPE:
        return "both are atomic, but the scope of one of them does not include the other's thread";
    case PTX_MISSING_TENSOR_FENCE:
        return "they are ordered, but no tcgen05.fence::after_thread_sync lies after that wait";
    }
    return "no barrier, fence or wait orders them";
}

/* Where the earlier one was. */
static void note_earlier(ptx_machine *machine, const ptx_race *race) {
    const grout_ptx_module *module = machine->code->module;
    const ptx_inst *inst = &module->insts.items[race->earlier.inst];
    const uint32_t *at = machine->ctas[race->earlier.cta].index;
    grout_diags_note(machine->diags, grout_ptx__get_place(module, inst->place),
                     "%s by '%s' in CTA (%u, %u, %u), warp %u, lane %u", describe(&race->earlier),
                     grout_ptx__get_op(inst->op)->text, at[0], at[1], at[2], race->earlier.warp,
                     race->lane);
}

typedef struct ptx_accessor {
    const ptx_cta *cta;
    uint32_t warp, lane, inst;
    bool is_write;
} ptx_accessor;

static void note_address(ptx_machine *machine, const ptx_race *race, const ptx_bytes *bytes) {
    const grout_place nowhere = {.file = NULL};
    if (bytes != NULL && bytes->owner != NULL) {
        const uint32_t *cta = bytes->owner->index;
        size_t offset = (size_t)(bytes->cells - bytes->owner->cells) + race->at;
        grout_diags_note(machine->diags, nowhere,
                         "at the address %u of the shared memory of CTA (%u, %u, %u)",
                         (unsigned)offset + PTX_SHARED_FIRST, cta[0], cta[1], cta[2]);
    }
}

/* bytes NULL: of tensor memory. */
static bool report(ptx_machine *machine, const ptx_accessor *by, const ptx_race *race,
                   const ptx_bytes *bytes) {
    const grout_ptx_module *module = machine->code->module;
    const ptx_inst *inst = &module->insts.items[by->inst];
    const grout_place nowhere = {.file = NULL};
    machine->is_failed = true;
    if (race->missing == PTX_MISSING_NONE) {
        return grout_ptx__is_order_full(machine->order)
                   ? grout_diags_add(machine->diags, GROUT_DIAG_PTX_UNSUPPORTED, nowhere,
                                     "the run has more accesses than the search for races can tell "
                                     "apart")
                   : grout_diags_add_oom(machine->diags);
    }
    const ptx_inst *earlier = &module->insts.items[race->earlier.inst];
    grout_diags_add(machine->diags, GROUT_DIAG_PTX_RACE, grout_ptx__get_place(module, inst->place),
                    "'%s' races with '%s' for %s memory: %s", grout_ptx__get_op(inst->op)->text,
                    grout_ptx__get_op(earlier->op)->text,
                    bytes == NULL          ? "tensor"
                    : bytes->owner != NULL ? "shared"
                                           : "global",
                    explain(race->missing, bytes == NULL));
    note_earlier(machine, race);
    grout_diags_note(machine->diags, nowhere, "here a %s in CTA (%u, %u, %u), warp %u, lane %u",
                     by->is_write ? "write" : "read", by->cta->index[0], by->cta->index[1],
                     by->cta->index[2], by->warp, by->lane);
    note_address(machine, race, bytes);
    return false;
}

static ptx_span get_span(const ptx_bytes *bytes, uint32_t size) {
    return (ptx_span){.cells = bytes->cells,
                      .count = size,
                      .kind = bytes->owner != NULL ? PTX_SPAN_SHARED : PTX_SPAN_GLOBAL,
                      .rank = bytes->owner != NULL ? bytes->owner->rank : 0};
}

/* ---- accesses ---- */

static ptx_actor get_actor(const ptx_context *context, uint32_t lanes) {
    return (ptx_actor){context->cta->number, context->warp->index, lanes};
}

static bool touch(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes,
                  ptx_touch how) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = get_actor(context, lanes);
    ptx_race race;
    if (grout_ptx__touch(machine->order, &actor, &how, &race)) {
        return true;
    }
    const ptx_accessor by = {context->cta, context->warp->index, race.own_lane, how.inst,
                             how.is_write};
    return report(machine, &by, &race, bytes);
}

/* How an instruction reads and writes a value. */
typedef struct ptx_manner {
    bool is_read, is_write, is_reduction;
    bool is_repeat; /* it writes what is there already */
} ptx_manner;

/* A strong access to one value: what its order takes, the access, and what it hands over. */
static bool observe_value(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes,
                          uint32_t size, ptx_manner manner) {
    ptx_machine *machine = context->machine;
    const ptx_value_access access = {
        bytes->cells,       size, context->step->ordering, manner.is_read, manner.is_write,
        manner.is_reduction};
    ptx_touch how = {.inst = context->step->inst,
                     .ordering = access.ordering,
                     .is_write = manner.is_write,
                     .is_repeat = manner.is_repeat,
                     .size = size,
                     .span = get_span(bytes, size)};
    PTX_FOR_LANES(lane, lanes) {
        const ptx_actor one = get_actor(context, 1u << lane);
        if (!grout_ptx__take_over(machine->order, &one, &access, &how.mark)) {
            return need_memory(machine, false);
        }
    }
    if (!touch(context, lanes, bytes, how)) {
        return false;
    }
    PTX_FOR_LANES(lane, lanes) {
        const ptx_actor one = get_actor(context, 1u << lane);
        if (!grout_ptx__hand_over(machine->order, &one, &access)) {
            return need_memory(machine, false);
        }
    }
    return true;
}

/* Strong ones value by value: PTX ISA 9.1, 'Vector Data-types'. */
static bool observe_values(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes,
                           uint32_t size, ptx_manner manner) {
    const uint32_t value_size = context->step->size;
    for (uint32_t at = 0; at < size; at += value_size) {
        ptx_bytes value = *bytes;
        value.cells += at;
        if (!observe_value(context, lanes, &value, value_size, manner)) {
            return false;
        }
    }
    return true;
}

static bool observe(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes,
                    uint32_t size, ptx_manner manner) {
    const ptx_touch how = {.inst = context->step->inst,
                           .is_write = manner.is_write,
                           .is_repeat = manner.is_repeat,
                           .span = get_span(bytes, size)};
    if (context->step->ordering.sem != PTX_SEM_WEAK) {
        return observe_values(context, lanes, bytes, size, manner);
    }
    if (!touch(context, lanes, bytes, how)) {
        return false;
    }
    const ptx_actor actor = get_actor(context, lanes);
    const ptx_value_access access = {
        .cells = bytes->cells, .size = size, .is_write = manner.is_write};
    return !manner.is_write ||
           need_memory(context->machine,
                       grout_ptx__hand_over(context->machine->order, &actor, &access));
}

static bool load(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes,
                 uint32_t size) {
    return observe(context, lanes, bytes, size, (ptx_manner){.is_read = true});
}

/* Lanes side by side that read the same place do so together. */
bool grout_ptx__observe_loads(const ptx_context *context, const ptx_bytes bytes[PTX_LANES],
                              uint32_t size) {
    uint32_t together = 0;
    const ptx_bytes *place = NULL;
    if (context->machine->order == NULL) {
        return true;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        if (place != NULL && place->cells != bytes[lane].cells) {
            if (!load(context, together, place, size)) {
                return false;
            }
            place = NULL;
        }
        if (bytes[lane].cells != NULL) {
            together = place == NULL ? 1u << lane : together | 1u << lane;
            place = &bytes[lane];
        }
    }
    return place == NULL || load(context, together, place, size);
}

bool grout_ptx__observe_stores(const ptx_context *context, const ptx_bytes bytes[PTX_LANES],
                               uint32_t size, uint32_t repeats) {
    if (context->machine->order == NULL) {
        return true;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        const ptx_manner how = {.is_write = true, .is_repeat = (repeats >> lane & 1) != 0};
        if (bytes[lane].cells != NULL && !observe(context, 1u << lane, &bytes[lane], size, how)) {
            return false;
        }
    }
    return true;
}

bool grout_ptx__observe_lane(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                             uint32_t size, bool is_write) {
    const ptx_manner how = {.is_read = !is_write, .is_write = is_write};
    return context->machine->order == NULL || bytes->cells == NULL ||
           observe(context, 1u << lane, bytes, size, how);
}

bool grout_ptx__observe_map(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                            uint32_t size) {
    ptx_touch how = {.inst = context->step->inst, .is_map = true, .span = get_span(bytes, size)};
    if (context->machine->order == NULL || bytes->cells == NULL) {
        return true;
    }
    how.span.map = grout_ptx__number_map(context->machine->order, bytes->cells);
    return need_memory(context->machine, how.span.map != 0) &&
           touch(context, 1u << lane, bytes, how);
}

bool grout_ptx__observe_map_copy(const ptx_context *context, const ptx_bytes *from,
                                 const ptx_bytes *to, uint32_t size) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = get_actor(context, context->lanes);
    const uint32_t first = 1u << __builtin_ctz(context->lanes);
    ptx_touch read = {.inst = context->step->inst, .span = get_span(from, size)};
    ptx_touch write = {.inst = context->step->inst, .is_write = true, .span = get_span(to, size)};
    if (machine->order == NULL) {
        return true;
    }
    return (from->cells == NULL || touch(context, first, from, read)) &&
           (to->cells == NULL || touch(context, first, to, write)) &&
           need_memory(machine, grout_ptx__sync_lanes(machine->order, &actor) &&
                                    grout_ptx__release_maps(machine->order, &actor));
}

bool grout_ptx__observe_atomic(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                               uint32_t size, bool is_written, bool is_reduction) {
    const ptx_manner manner = {
        .is_read = true, .is_write = is_written, .is_reduction = is_reduction};
    return context->machine->order == NULL || bytes->cells == NULL ||
           observe_values(context, 1u << lane, bytes, size, manner);
}

static bool touch_async(ptx_machine *machine, const ptx_async *async, const ptx_flight *flight,
                        const ptx_bytes *bytes, ptx_touch how) {
    ptx_race race;
    how.inst = async->inst;
    if (grout_ptx__touch_by_flight(machine->order, flight, async->cta, async->warp, &how, &race)) {
        return true;
    }
    const ptx_accessor by = {&machine->ctas[async->cta], async->warp, async->lane, async->inst,
                             how.is_write};
    return report(machine, &by, &race, bytes);
}

static bool observe_async(ptx_machine *machine, const ptx_async *async, const ptx_bytes *bytes,
                          ptx_touch how) {
    ptx_flight flight = async->flight;
    if (machine->order == NULL || bytes->cells == NULL) {
        return true;
    }
    if (async->kind == PTX_ASYNC_BULK) {
        flight.agent = grout_ptx__get_agent(
            machine->order, how.is_write ? PTX_AGENT_BULK_WRITES : PTX_AGENT_BULK_READS, async->cta,
            async->warp);
    } else if (async->kind == PTX_ASYNC_COPY) {
        flight.lane = flight.own_lane = async->lane;
    }
    return touch_async(machine, async, &flight, bytes, how);
}

static ptx_touch make_touch(const ptx_async *async, const ptx_bytes *bytes, uint32_t size,
                            bool is_write, bool is_reduction) {
    return (ptx_touch){.size = is_reduction && async->is_generic ? size : 0, /* red.async */
                       .ordering = {is_reduction ? PTX_SEM_RELAXED : PTX_SEM_WEAK,
                                    is_reduction ? PTX_SCOPE_GPU : PTX_SCOPE_NONE},
                       .is_write = is_write,
                       .span = get_span(bytes, size)};
}

bool grout_ptx__observe_async(ptx_machine *machine, const ptx_async *async, const ptx_bytes *bytes,
                              uint32_t size, bool is_write, bool is_reduction) {
    return observe_async(machine, async, bytes,
                         make_touch(async, bytes, size, is_write, is_reduction));
}

bool grout_ptx__observe_map_end(ptx_machine *machine, const ptx_async *async) {
    const ptx_bytes bytes = {.cells = async->map};
    ptx_async reader = *async;
    reader.flight.is_async_proxy = false; /* its fence is that of the start */
    return grout_ptx__observe_async(machine, &reader, &bytes, GROUT_PTX_MAP_SIZE, false, false);
}

enum { PIECE = 16 }; /* bytes that are the same or not as a whole */

static bool is_repeat(const ptx_bytes *source, const ptx_bytes *target, uint32_t at,
                      uint32_t size) {
    const uint32_t count = size - at < PIECE ? size - at : PIECE;
    return memcmp(source->data + at, target->data + at, count) == 0 &&
           memcmp(source->known + at, target->known + at, count) == 0;
}

static bool write_part(ptx_machine *machine, const ptx_async *async, const ptx_bytes *target,
                       uint32_t at, ptx_touch how) {
    ptx_bytes part = *target;
    part.data += at;
    part.known += at;
    part.cells = target->cells != NULL ? target->cells + at : NULL;
    how.span.cells = part.cells;
    return observe_async(machine, async, &part, how);
}

bool grout_ptx__observe_transfer(ptx_machine *machine, const ptx_async *async,
                                 const ptx_bytes *source, const ptx_bytes *target, uint32_t size,
                                 bool is_reduction) {
    ptx_touch how = make_touch(async, target, size, true, is_reduction);
    if (machine->order == NULL) {
        return true;
    }
    if (!grout_ptx__observe_async(machine, async, source, size, false, false)) {
        return false;
    }
    for (uint32_t at = 0, end = 0; at < size; at = end) {
        how.is_repeat = !is_reduction && is_repeat(source, target, at, size);
        for (end = at + PIECE; end < size; end += PIECE) {
            if (how.is_repeat != (!is_reduction && is_repeat(source, target, end, size))) {
                break;
            }
        }
        end = end < size ? end : size;
        how.span.count = end - at;
        if (!write_part(machine, async, target, at, how)) {
            return false;
        }
    }
    return true;
}

bool grout_ptx__observe_tensor(ptx_machine *machine, const ptx_async *async, ptx_cell *cell,
                               bool is_write) {
    const ptx_touch how = {.is_write = is_write,
                           .span = {.cells = cell, .count = 1, .kind = PTX_SPAN_TENSOR}};
    return machine->order == NULL || touch_async(machine, async, &async->flight, NULL, how);
}

bool grout_ptx__observe_dealloc(const ptx_context *context, ptx_cell *cells, uint32_t count) {
    ptx_machine *machine = context->machine;
    const ptx_touch how = {.inst = context->step->inst,
                           .is_write = true,
                           .span = {.cells = cells, .count = count, .kind = PTX_SPAN_TENSOR}};
    const uint32_t lane = (uint32_t)__builtin_ctz(context->lanes);
    return machine->order == NULL || touch(context, 1u << lane, NULL, how);
}

/* ---- registers of wgmma ---- */

bool grout_ptx__observe_product(const ptx_context *context, const ptx_plane *items,
                                uint32_t count) {
    const ptx_warp *warp = context->warp;
    ptx_machine *machine = context->machine;
    const grout_ptx_module *module = machine->code->module;
    const ptx_inst *inst = &module->insts.items[context->step->inst];
    for (uint32_t i = 0; warp->written != NULL && i < count; i++) {
        if (warp->fenced_at > warp->written[items[i].id]) {
            continue;
        }
        machine->is_failed = true;
        return grout_diags_add(
            machine->diags, GROUT_DIAG_PTX_RACE, grout_ptx__get_place(module, inst->place),
            "register %u of this wgmma has been written since the last wgmma.fence", i);
    }
    return true;
}

/* ---- mbarriers ---- */

static uint32_t get_offset(const ptx_bytes *bytes) {
    return (uint32_t)(bytes->cells - bytes->owner->cells);
}

static bool is_observed(const ptx_machine *machine, const ptx_bytes *bytes) {
    return machine->order != NULL && bytes->cells != NULL && bytes->owner != NULL;
}

bool grout_ptx__observe_init(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes) {
    ptx_machine *machine = context->machine;
    const ptx_touch how = {.inst = context->step->inst,
                           .is_write = true,
                           .is_init = true,
                           .span = get_span(bytes, GROUT_PTX_MBARRIER_SIZE)};
    return !is_observed(machine, bytes) ||
           (touch(context, 1u << lane, bytes, how) &&
            need_memory(machine, grout_ptx__init_barrier(machine->order, bytes->owner->number,
                                                         get_offset(bytes))));
}

static bool use_barrier(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes) {
    const ptx_touch how = {.inst = context->step->inst,
                           .is_barrier = true,
                           .span = get_span(bytes, GROUT_PTX_MBARRIER_SIZE)};
    return touch(context, 1u << lane, bytes, how);
}

static bool has_ended_phase(uint64_t before, uint64_t after) {
    grout_ptx_mbarrier old, new;
    return grout_ptx__mbarrier_unpack(before, &old) && grout_ptx__mbarrier_unpack(after, &new) &&
           old.phase != new.phase;
}

static bool end_phase(ptx_machine *machine, const ptx_bytes *bytes, uint64_t before,
                      uint64_t after) {
    return !has_ended_phase(before, after) ||
           grout_ptx__end_phase(machine->order, bytes->owner->number, get_offset(bytes));
}

bool grout_ptx__observe_arrival(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                                uint64_t before, uint64_t after) {
    ptx_machine *machine = context->machine;
    const ptx_actor one = get_actor(context, 1u << lane);
    return !is_observed(machine, bytes) ||
           (use_barrier(context, lane, bytes) &&
            need_memory(machine,
                        grout_ptx__arrive_at_barrier(machine->order, &one, bytes->owner->number,
                                                     get_offset(bytes), context->step->ordering) &&
                            end_phase(machine, bytes, before, after)));
}

bool grout_ptx__observe_wait(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                             bool is_over) {
    ptx_machine *machine = context->machine;
    const ptx_actor one = get_actor(context, 1u << lane);
    return !is_observed(machine, bytes) ||
           (use_barrier(context, lane, bytes) &&
            (!is_over || need_memory(machine, grout_ptx__wait_at_barrier(
                                                  machine->order, &one, bytes->owner->number,
                                                  get_offset(bytes), context->step->ordering))));
}

bool grout_ptx__observe_target(ptx_machine *machine, ptx_async *async, uint64_t address) {
    ptx_bytes bytes;
    ptx_cta *owner = NULL;
    if (machine->order == NULL ||
        !grout_ptx__find_shared(&machine->ctas[async->cta], address, GROUT_PTX_MBARRIER_SIZE,
                                &bytes, &owner)) {
        return true; /* whoever tells the mbarrier finds that it is not there */
    }
    return need_memory(machine, grout_ptx__aim_flight(machine->order, &async->flight, owner->number,
                                                      get_offset(&bytes)));
}

bool grout_ptx__observe_hearing(ptx_machine *machine, const ptx_async *async,
                                const ptx_bytes *bytes, uint64_t before, uint64_t after) {
    const ptx_touch how = {.is_barrier = true, .span = get_span(bytes, GROUT_PTX_MBARRIER_SIZE)};
    ptx_flight flight = async->flight;
    flight.is_async_proxy = false; /* PTX ISA 9.1, 'mbarrier': by the generic proxy */
    return !is_observed(machine, bytes) ||
           (touch_async(machine, async, &flight, bytes, how) &&
            need_memory(machine, grout_ptx__hear_flight(machine->order, &async->flight,
                                                        bytes->owner->number, get_offset(bytes)) &&
                                     end_phase(machine, bytes, before, after)));
}

/* ---- threads ---- */

bool grout_ptx__observe_warp_sync(const ptx_context *context) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = get_actor(context, context->lanes);
    return machine->order == NULL ||
           need_memory(machine, grout_ptx__sync_lanes(machine->order, &actor));
}

bool grout_ptx__observe_bar(const ptx_context *context, uint32_t bar, bool waits, bool is_end) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = get_actor(context, context->lanes);
    return machine->order == NULL ||
           need_memory(machine,
                       grout_ptx__come_to_bar(machine->order, &actor, bar, waits) &&
                           (!is_end || grout_ptx__end_bar(machine->order, actor.cta, bar)));
}

bool grout_ptx__observe_cluster_arrival(const ptx_context *context) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = get_actor(context, context->lanes);
    return machine->order == NULL ||
           need_memory(machine,
                       grout_ptx__come_to_cluster(machine->order, &actor,
                                                  context->step->ordering.sem != PTX_SEM_RELAXED));
}

void grout_ptx__observe_cluster_end(const ptx_context *context) {
    if (context->machine->order != NULL) {
        grout_ptx__end_cluster_bar(context->machine->order, context->cta->number);
    }
}

bool grout_ptx__observe_cluster_wait(const ptx_context *context) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = get_actor(context, context->lanes);
    return machine->order == NULL ||
           need_memory(machine, grout_ptx__leave_cluster(machine->order, &actor));
}

/* ---- engines ---- */

/* Which engine, and its time: of a group, its number and 1. */
static void name_flight(const ptx_context *context, ptx_async *async) {
    const ptx_order *order = context->machine->order;
    ptx_warp *warp = context->warp;
    ptx_agent_kind kind = PTX_AGENT_BARRIER; /* until it is aimed */
    async->flight.lane = async->lane;
    async->flight.time = async->group + 1;
    if (async->kind == PTX_ASYNC_COPY || async->kind == PTX_ASYNC_ALONE) {
        kind = PTX_AGENT_COPIES;
        async->flight.time =
            (warp->copy_groups[async->lane] + 1) * MARKS + warp->copy_marks[async->lane];
    } else if (async->kind == PTX_ASYNC_PRODUCT) {
        kind = PTX_AGENT_PRODUCTS;
        async->flight.lane = 0;
    } else if (async->kind == PTX_ASYNC_TENSOR) {
        kind = PTX_AGENT_TENSOR;
        warp->tensor_started[async->lane] += async->pipe.kind != PTX_PIPE_NONE;
        async->flight.time = warp->tensor_started[async->lane];
        async->flight.pipe = async->pipe;
    } else if (async->kind == PTX_ASYNC_TENSOR_LOAD) {
        kind = PTX_AGENT_TENSOR_LOADS;
        async->flight.time = ++warp->tensor_loads;
    } else if (async->kind == PTX_ASYNC_TENSOR_STORE) {
        kind = PTX_AGENT_TENSOR_STORES;
        async->flight.time = ++warp->tensor_stores;
    }
    async->flight.agent = grout_ptx__get_agent(order, kind, context->cta->number, warp->index);
}

bool grout_ptx__observe_mark(const ptx_context *context, uint32_t lane) {
    ptx_warp *warp = context->warp;
    if (context->machine->order == NULL ||
        (++warp->copy_marks[lane] < MARKS && warp->copy_groups[lane] < GROUPS - 1)) {
        return true;
    }
    grout_ptx__fault(
        context, lane,
        "the search for races tells at most %u groups of cp.async apart, and %u arrivals "
        "in a group",
        GROUPS - 1u, MARKS - 1u);
    return false;
}

bool grout_ptx__starts_alike(const ptx_context *context, uint32_t lane, uint32_t other) {
    const ptx_warp *warp = context->warp;
    const ptx_actor actor = get_actor(context, 1u << lane | 1u << other);
    return warp->copy_groups[lane] == warp->copy_groups[other] &&
           (context->machine->order == NULL ||
            (warp->copy_marks[lane] == warp->copy_marks[other] &&
             grout_ptx__know_alike(context->machine->order, &actor)));
}

bool grout_ptx__observe_start(const ptx_context *context, ptx_async *async) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = get_actor(context, async->lanes);
    if (machine->order == NULL) {
        return true;
    }
    if (async->kind == PTX_ASYNC_COPY) {
        grout_ptx__start_lane_flights(machine->order, &actor, &async->flight);
    } else if (!grout_ptx__start_flight(machine->order, &actor, &async->flight)) {
        return need_memory(machine, false);
    }
    async->flight.is_async_proxy = !async->is_generic;
    name_flight(context, async);
    bool is_commit = async->kind == PTX_ASYNC_TENSOR && async->pipe.kind == PTX_PIPE_NONE;
    return !is_commit || need_memory(machine, grout_ptx__seal_flight(&async->flight));
}

/* One lane's groups of copies. */
static bool learn_groups(const ptx_context *context, ptx_async_kind kind, uint32_t lane,
                         uint32_t before, bool only_reads) {
    ptx_order *order = context->machine->order;
    const ptx_actor one = get_actor(context, 1u << lane);
    const uint32_t cta = context->cta->number, warp = context->warp->index;
    if (kind == PTX_ASYNC_COPY) {
        /* of the open group, those so far */
        bool is_open = before > context->warp->copy_groups[lane];
        uint32_t last = is_open ? context->warp->copy_marks[lane] : MARKS - 1;
        return grout_ptx__learn(order, &one, PTX_KNOWN_ENGINES,
                                grout_ptx__get_agent(order, PTX_AGENT_COPIES, cta, warp), 0,
                                before * MARKS + last) &&
               (!is_open || grout_ptx__observe_mark(context, lane));
    }
    return grout_ptx__learn(order, &one, PTX_KNOWN_ENGINES,
                            grout_ptx__get_agent(order, PTX_AGENT_BULK_READS, cta, warp), 0,
                            before) &&
           (only_reads ||
            grout_ptx__learn(order, &one, PTX_KNOWN_THREADS,
                             grout_ptx__get_agent(order, PTX_AGENT_BULK_WRITES, cta, warp), 0,
                             before));
}

bool grout_ptx__observe_groups(const ptx_context *context, ptx_async_kind kind,
                               const uint32_t *before, bool only_reads) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = get_actor(context, context->lanes);
    bool is_done = true;
    if (machine->order == NULL) {
        return true;
    }
    if (kind == PTX_ASYNC_TENSOR_LOAD || kind == PTX_ASYNC_TENSOR_STORE) {
        bool is_load = kind == PTX_ASYNC_TENSOR_LOAD;
        uint64_t agent = grout_ptx__get_agent(
            machine->order, is_load ? PTX_AGENT_TENSOR_LOADS : PTX_AGENT_TENSOR_STORES, actor.cta,
            actor.warp);
        return need_memory(machine, grout_ptx__learn(machine->order, &actor, PTX_KNOWN_ADMITTED,
                                                     agent, 1, *before));
    }
    if (kind == PTX_ASYNC_PRODUCT) {
        return need_memory(machine,
                           grout_ptx__learn(machine->order, &actor, PTX_KNOWN_ENGINES,
                                            grout_ptx__get_agent(machine->order, PTX_AGENT_PRODUCTS,
                                                                 actor.cta, actor.warp),
                                            1, *before));
    }
    PTX_FOR_LANES(lane, context->lanes) {
        is_done = is_done && (before[lane] == 0 ||
                              learn_groups(context, kind, lane, before[lane], only_reads));
    }
    return need_memory(machine, is_done);
}
