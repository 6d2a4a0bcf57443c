/* observe.c - the machine's accesses and orders, as ptx/order hears of them; and what a race is
 * called. SPDX-License-Identifier: Apache-2.0 */
#include "observe.h"

#include "mbarrier.h"
#include "tensor_map.h"

#include <string.h>

static const grout_place nowhere = {.file = NULL};

/* ---- the run ---- */

static bool is_in_limits(ptx_machine *machine, grout_place place) {
    const char *limit = machine->order == NULL ? NULL : grout_ptx__get_limit(machine->order);
    if (limit != NULL) {
        machine->is_failed = true;
        grout_diags_add(machine->diags, GROUT_DIAG_LIMIT_REACHED, place, "%s", limit);
        grout_diags_help(machine->diags,
                         "search with smaller sizes or fewer CTAs, or run without it");
    }
    return limit == NULL;
}

bool grout_ptx__is_in_limits(ptx_machine *machine) {
    return is_in_limits(machine, nowhere);
}

/* What could not be noted: there are too many, no memory, or no time. */
static bool need_memory_at(ptx_machine *machine, bool is_done, grout_place place) {
    if (!is_done && machine->pulse->is_over) {
        machine->is_failed = true; /* somebody has ended the run */
    } else if (!is_done && is_in_limits(machine, place)) {
        machine->is_failed = true;
        grout_diags_add_oom(machine->diags);
    }
    return is_done;
}

bool grout_ptx__need_memory(ptx_machine *machine, bool is_done) {
    return need_memory_at(machine, is_done, nowhere);
}

bool grout_ptx__begin_observing(ptx_machine *machine) {
    if (!machine->launch->finds_races) {
        return true;
    }
    const ptx_means means = {.allocator = &machine->heap->allocator, .pulse = machine->pulse};
    machine->order = grout_ptx__new_order(&means, machine->warp_count, machine->cluster_size);
    bool has_room = machine->order != NULL;
    for (size_t i = 0; has_room && i < machine->memory->arrays.count; i++) {
        ptx_array *array = &machine->memory->arrays.items[i];
        array->cells = ptx_new(machine, (size_t)array->size, sizeof *array->cells);
        has_room = array->cells != NULL;
    }
    return grout_ptx__need_memory(machine, has_room);
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
    cta->cells = ptx_new(machine, machine->shared_bytes, sizeof *cta->cells);
    for (uint32_t i = 0; has_room && i < machine->warp_count; i++) {
        ptx_warp *warp = &cta->warps[i];
        warp->written = ptx_new(machine, machine->code->plane_count, sizeof *warp->written);
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
    case PTX_MISSING_SIGHT:
        return "they are ordered in time, but not by an mbarrier's arrival and wait whose scopes "
               "include both threads";
    case PTX_MISSING_CACHED:
        return "ld.global.nc reads by a cache that writes of the same grid do not reach";
    case PTX_MISSING_BEGIN:
        return "nothing tells that this CTA has begun";
    case PTX_MISSING_END:
        return "nothing tells this CTA of it before it ends";
    }
    return "no barrier, fence or wait orders them";
}

/* Where the earlier one was. */
static void note_earlier(ptx_machine *machine, const ptx_race *race) {
    const grout_ptx_module *module = machine->code->module;
    const ptx_inst *inst = &module->insts.items[race->earlier.inst];
    uint32_t at[3];
    grout_ptx__get_index(machine, race->earlier.cta, at);
    grout_diags_note(machine->diags, grout_ptx__get_place(module, inst->place),
                     "%s by '%s' in CTA (%u, %u, %u), warp %u, lane %u", describe(&race->earlier),
                     grout_ptx__get_op(inst->op)->text, at[0], at[1], at[2], race->earlier.warp,
                     race->lane);
}

typedef struct ptx_accessor {
    uint32_t cta, warp, lane, inst;
    bool is_write;
} ptx_accessor;

/* Where a byte of shared memory is, by its cell. */
static uint32_t get_address(const ptx_bytes *bytes, uint32_t at) {
    return (uint32_t)(bytes->cells - bytes->owner->cells) + at + PTX_SHARED_FIRST;
}

static void note_address(ptx_machine *machine, uint32_t owner, uint32_t address) {
    uint32_t at[3];
    grout_ptx__get_index(machine, owner, at);
    grout_diags_note(machine->diags, nowhere,
                     "at the address %u of the shared memory of CTA (%u, %u, %u)", address, at[0],
                     at[1], at[2]);
}

static const char *get_space(const ptx_bytes *bytes) {
    return bytes == NULL ? "tensor" : bytes->owner != NULL ? "shared" : "global";
}

static const char *get_text(const ptx_machine *machine, uint32_t inst) {
    const grout_ptx_module *module = machine->code->module;
    return grout_ptx__get_op(module->insts.items[inst].op)->text;
}

static grout_place get_place(const ptx_machine *machine, uint32_t inst) {
    const grout_ptx_module *module = machine->code->module;
    return grout_ptx__get_place(module, module->insts.items[inst].place);
}

static void note_accessor(ptx_machine *machine, const ptx_accessor *by) {
    uint32_t at[3];
    grout_ptx__get_index(machine, by->cta, at);
    grout_diags_note(machine->diags, nowhere, "here a %s in CTA (%u, %u, %u), warp %u, lane %u",
                     by->is_write ? "write" : "read", at[0], at[1], at[2], by->warp, by->lane);
}

/* An access of the memory of another CTA, which may not have begun, or may have ended. */
static bool report_peer(ptx_machine *machine, const ptx_accessor *by, ptx_missing missing,
                        const ptx_cta *peer) {
    machine->is_failed = true;
    grout_diags_add(machine->diags, GROUT_DIAG_PTX_RACE, get_place(machine, by->inst),
                    "'%s' uses memory of CTA (%u, %u, %u), and %s", get_text(machine, by->inst),
                    peer->index[0], peer->index[1], peer->index[2], explain(missing, false));
    note_accessor(machine, by);
    grout_diags_help(
        machine->diags,
        missing == PTX_MISSING_BEGIN
            ? "barrier.cluster of all CTAs, or a wait for something that the other one "
              "does, has to come first: CTAs of a cluster may begin at any time"
            : "barrier.cluster of all CTAs at the end, or a wait of the other CTA for "
              "what this one does, keeps its memory until then");
    return false;
}

/* bytes NULL: of tensor memory. */
static bool report(ptx_machine *machine, const ptx_accessor *by, const ptx_race *race,
                   const ptx_bytes *bytes) {
    machine->is_failed = true;
    if (race->missing == PTX_MISSING_NONE || machine->pulse->is_over) {
        return need_memory_at(machine, false, get_place(machine, by->inst));
    }
    if (race->missing == PTX_MISSING_BEGIN) {
        return report_peer(machine, by, race->missing, bytes->owner);
    }
    grout_diags_add(machine->diags, GROUT_DIAG_PTX_RACE, get_place(machine, by->inst),
                    "'%s' races with '%s' for %s memory: %s", get_text(machine, by->inst),
                    get_text(machine, race->earlier.inst), get_space(bytes),
                    explain(race->missing, bytes == NULL));
    note_earlier(machine, race);
    note_accessor(machine, by);
    if (bytes != NULL && bytes->owner != NULL) {
        note_address(machine, bytes->owner->number, get_address(bytes, race->at));
    }
    machine->raced = (ptx_instructions){race->earlier.inst, by->inst};
    return false;
}

void grout_ptx__report_twin(ptx_machine *machine, const ptx_twin *twin, const char *what) {
    const ptx_record *later = &twin->equal.later;
    const ptx_accessor by = {later->cta, later->warp, twin->equal.race.own_lane, later->inst, true};
    const char *space = twin->is_tensor ? "tensor" : twin->is_shared ? "shared" : "global";
    const ptx_race *race = &twin->equal.race;
    if (what == NULL) {
        grout_diags_add(machine->diags, GROUT_DIAG_SAME_VALUE_RACE, get_place(machine, by.inst),
                        "'%s' and '%s' write the same values to %s memory: %s",
                        get_text(machine, by.inst), get_text(machine, race->earlier.inst), space,
                        explain(race->missing, twin->is_tensor));
    } else {
        grout_diags_add(machine->diags, GROUT_DIAG_PTX_RACE, get_place(machine, by.inst),
                        "'%s' races with '%s' for %s memory: %s; %s", get_text(machine, by.inst),
                        get_text(machine, race->earlier.inst), space,
                        explain(race->missing, twin->is_tensor), what);
    }
    note_earlier(machine, race);
    note_accessor(machine, &by);
    if (twin->is_shared) {
        note_address(machine, twin->owner, twin->address);
    }
}

ptx_span grout_ptx__get_span(const ptx_bytes *bytes, uint32_t size) {
    return (ptx_span){.cells = bytes->cells,
                      .count = size,
                      .kind = bytes->owner != NULL ? PTX_SPAN_SHARED : PTX_SPAN_GLOBAL,
                      .rank = bytes->owner != NULL ? bytes->owner->rank : 0};
}

/* ---- accesses ---- */

ptx_actor grout_ptx__get_actor(const ptx_context *context, uint32_t lanes) {
    return (ptx_actor){context->cta->number, context->warp->index, lanes};
}

/* Keeps what the order has found since it was asked last; bytes NULL: of tensor memory. False
 * without memory. */
static bool take_equals(ptx_machine *machine, const ptx_bytes *bytes) {
    const ptx_cta *owner = bytes == NULL ? NULL : bytes->owner;
    const ptx_equal *equal = NULL;
    while ((equal = grout_ptx__get_equal(machine->order, machine->twins.count)) != NULL) {
        if (!PTX_MACHINE_ROOM(machine, &machine->twins)) {
            return grout_ptx__need_memory(machine, false);
        }
        machine->twins.items[machine->twins.count++] =
            (ptx_twin){.equal = *equal,
                       .is_tensor = bytes == NULL,
                       .is_shared = owner != NULL,
                       .owner = owner == NULL ? 0 : owner->number,
                       .address = owner == NULL ? 0 : get_address(bytes, equal->race.at)};
    }
    return true;
}

bool grout_ptx__touch_by_lanes(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes,
                               ptx_touch how) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, lanes);
    ptx_race race;
    if (grout_ptx__touch(machine->order, &actor, &how, &race)) {
        return take_equals(machine, bytes);
    }
    const ptx_accessor by = {context->cta->number, context->warp->index, race.own_lane, how.inst,
                             how.is_write};
    return report(machine, &by, &race, bytes);
}

/* How an instruction reads and writes a value. */
typedef struct ptx_manner {
    bool is_read, is_write, is_reduction, is_cached;
    const uint8_t *same; /* ptx_same of each byte, or NULL */
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
                     .same = manner.same,
                     .size = size,
                     .span = grout_ptx__get_span(bytes, size)};
    PTX_FOR_LANES(lane, lanes) {
        const ptx_actor one = grout_ptx__get_actor(context, 1u << lane);
        if (!grout_ptx__take_over(machine->order, &one, &access, &how.mark)) {
            return grout_ptx__need_memory(machine, false);
        }
    }
    if (!grout_ptx__touch_by_lanes(context, lanes, bytes, how)) {
        return false;
    }
    PTX_FOR_LANES(lane, lanes) {
        const ptx_actor one = grout_ptx__get_actor(context, 1u << lane);
        if (!grout_ptx__hand_over(machine->order, &one, &access)) {
            return grout_ptx__need_memory(machine, false);
        }
    }
    return true;
}

/* PTX ISA 9.1, 'Packed Data-types': the halves of a packed value are accessed one by one. */
static uint32_t get_value_size(const ptx_step *step) {
    const bool is_packed = step->type == PTX_WORD_F16X2 || step->type == PTX_WORD_BF16X2;
    return is_packed ? step->size / 2u : step->size;
}

/* Strong ones value by value: PTX ISA 9.1, 'Vector Data-types'. */
static bool observe_values(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes,
                           uint32_t size, ptx_manner manner) {
    const uint32_t value_size = get_value_size(context->step);
    const uint8_t *same = manner.same;
    for (uint32_t at = 0; at < size; at += value_size) {
        ptx_bytes value = *bytes;
        value.cells += at;
        manner.same = same != NULL ? same + at : NULL;
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
                           .is_cached = manner.is_cached,
                           .same = manner.same,
                           .span = grout_ptx__get_span(bytes, size)};
    if (context->step->ordering.sem != PTX_SEM_WEAK) {
        return observe_values(context, lanes, bytes, size, manner);
    }
    if (!grout_ptx__touch_by_lanes(context, lanes, bytes, how)) {
        return false;
    }
    const ptx_actor actor = grout_ptx__get_actor(context, lanes);
    const ptx_value_access access = {
        .cells = bytes->cells, .size = size, .is_write = manner.is_write};
    return !manner.is_write ||
           grout_ptx__need_memory(context->machine,
                                  grout_ptx__hand_over(context->machine->order, &actor, &access));
}

static bool load(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes, uint32_t size,
                 bool is_cached) {
    const ptx_manner how = {.is_read = true, .is_cached = is_cached};
    return observe(context, lanes, bytes, size, how);
}

/* Lanes side by side that read the same place do so together. */
bool grout_ptx__observe_loads(const ptx_context *context, const ptx_bytes bytes[PTX_LANES],
                              uint32_t size, bool is_cached) {
    uint32_t together = 0;
    const ptx_bytes *place = NULL;
    if (context->machine->order == NULL) {
        return true;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        if (place != NULL && place->cells != bytes[lane].cells) {
            if (!load(context, together, place, size, is_cached)) {
                return false;
            }
            place = NULL;
        }
        if (bytes[lane].cells != NULL) {
            together = place == NULL ? 1u << lane : together | 1u << lane;
            place = &bytes[lane];
        }
    }
    return place == NULL || load(context, together, place, size, is_cached);
}

bool grout_ptx__observe_stores(const ptx_context *context, const ptx_bytes bytes[PTX_LANES],
                               uint32_t size, uint8_t same[PTX_LANES][PTX_STORE_BYTES]) {
    if (context->machine->order == NULL) {
        return true;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        const ptx_manner how = {.is_write = true, .same = same[lane]};
        if (bytes[lane].cells != NULL && !observe(context, 1u << lane, &bytes[lane], size, how)) {
            return false;
        }
    }
    return true;
}

bool grout_ptx__observe_lane(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                             uint32_t size, bool is_write, const uint8_t *same) {
    const ptx_manner how = {.is_read = !is_write, .is_write = is_write, .same = same};
    return context->machine->order == NULL || bytes->cells == NULL ||
           observe(context, 1u << lane, bytes, size, how);
}

bool grout_ptx__observe_map(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                            uint32_t size) {
    ptx_touch how = {
        .inst = context->step->inst, .is_map = true, .span = grout_ptx__get_span(bytes, size)};
    if (context->machine->order == NULL || bytes->cells == NULL) {
        return true;
    }
    how.span.map = grout_ptx__number_map(context->machine->order, bytes->cells);
    return grout_ptx__need_memory(context->machine, how.span.map != 0) &&
           grout_ptx__touch_by_lanes(context, 1u << lane, bytes, how);
}

bool grout_ptx__observe_map_copy(const ptx_context *context, const ptx_bytes *from,
                                 const ptx_bytes *to, uint32_t size) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    const uint32_t first = 1u << __builtin_ctz(context->lanes);
    ptx_touch read = {.inst = context->step->inst, .span = grout_ptx__get_span(from, size)};
    ptx_touch write = {
        .inst = context->step->inst, .is_write = true, .span = grout_ptx__get_span(to, size)};
    if (machine->order == NULL) {
        return true;
    }
    return (from->cells == NULL || grout_ptx__touch_by_lanes(context, first, from, read)) &&
           (to->cells == NULL || grout_ptx__touch_by_lanes(context, first, to, write)) &&
           grout_ptx__need_memory(machine, grout_ptx__sync_lanes(machine->order, &actor) &&
                                               grout_ptx__release_maps(machine->order, &actor));
}

bool grout_ptx__observe_atomic(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                               uint32_t size, bool is_written, bool is_reduction) {
    const ptx_manner manner = {
        .is_read = true, .is_write = is_written, .is_reduction = is_reduction};
    return context->machine->order == NULL || bytes->cells == NULL ||
           observe_values(context, 1u << lane, bytes, size, manner);
}

bool grout_ptx__touch_by_async(ptx_machine *machine, const ptx_async *async,
                               const ptx_flight *flight, const ptx_bytes *bytes, ptx_touch how) {
    ptx_race race;
    how.inst = async->inst;
    if (grout_ptx__touch_by_flight(machine->order, flight, async->cta, async->warp, &how, &race)) {
        return take_equals(machine, bytes);
    }
    const ptx_accessor by = {async->cta, async->warp, async->lane, async->inst, how.is_write};
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
    return grout_ptx__touch_by_async(machine, async, &flight, bytes, how);
}

static ptx_touch make_touch(const ptx_async *async, const ptx_bytes *bytes, uint32_t size,
                            bool is_write, bool is_reduction) {
    return (ptx_touch){.size = is_reduction && async->is_generic ? size : 0, /* red.async */
                       .ordering = {is_reduction ? PTX_SEM_RELAXED : PTX_SEM_WEAK,
                                    is_reduction ? PTX_SCOPE_GPU : PTX_SCOPE_NONE},
                       .is_write = is_write,
                       .span = grout_ptx__get_span(bytes, size)};
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

void grout_ptx__compare_bytes(const ptx_bytes *from, const ptx_bytes *to, uint32_t size,
                              uint8_t *same_out) {
    for (uint32_t i = 0; i < size; i++) {
        bool is_same = from->data[i] == to->data[i] && from->known[i] == to->known[i];
        same_out[i] = !is_same            ? PTX_SAME_NOT
                      : to->known[i] == 0 ? PTX_SAME_UNDEFINED
                                          : PTX_SAME_VALUE;
    }
}

static ptx_bytes get_part(const ptx_bytes *bytes, uint32_t at) {
    ptx_bytes part = *bytes;
    part.data += at;
    part.known += at;
    part.cells = bytes->cells != NULL ? bytes->cells + at : NULL;
    return part;
}

enum { PIECE = 256 }; /* bytes that are compared at once */

bool grout_ptx__observe_write(ptx_machine *machine, const ptx_async *async, const ptx_bytes *source,
                              const ptx_bytes *target, uint32_t size, bool is_reduction) {
    uint8_t same[PIECE];
    if (machine->order == NULL || is_reduction) {
        return grout_ptx__observe_async(machine, async, target, size, true, is_reduction);
    }
    for (uint32_t at = 0; at < size; at += PIECE) {
        const uint32_t count = size - at < PIECE ? size - at : PIECE;
        const ptx_bytes from = get_part(source, at), to = get_part(target, at);
        ptx_touch how = make_touch(async, &to, count, true, false);
        grout_ptx__compare_bytes(&from, &to, count, same);
        how.same = same;
        if (!observe_async(machine, async, &to, how)) {
            return false;
        }
    }
    return true;
}

bool grout_ptx__observe_transfer(ptx_machine *machine, const ptx_async *async,
                                 const ptx_bytes *source, const ptx_bytes *target, uint32_t size,
                                 bool is_reduction) {
    return grout_ptx__observe_async(machine, async, source, size, false, false) &&
           grout_ptx__observe_write(machine, async, source, target, size, is_reduction);
}

bool grout_ptx__observe_tensor(ptx_machine *machine, const ptx_async *async, ptx_cell *cell,
                               ptx_tensor_touch how) {
    static const uint8_t same = PTX_SAME_VALUE;
    const bool is_same = how == PTX_TENSOR_SAME_WRITE;
    const ptx_touch touch = {.is_write = how == PTX_TENSOR_WRITE || is_same,
                             .is_operand = how == PTX_TENSOR_OPERAND,
                             .same = is_same ? &same : NULL,
                             .span = {.cells = cell, .count = 1, .kind = PTX_SPAN_TENSOR}};
    return machine->order == NULL ||
           grout_ptx__touch_by_async(machine, async, &async->flight, NULL, touch);
}

bool grout_ptx__observe_dealloc(const ptx_context *context, ptx_cell *cells, uint32_t count) {
    ptx_machine *machine = context->machine;
    const ptx_touch how = {.inst = context->step->inst,
                           .is_write = true,
                           .span = {.cells = cells, .count = count, .kind = PTX_SPAN_TENSOR}};
    const uint32_t lane = (uint32_t)__builtin_ctz(context->lanes);
    return machine->order == NULL || grout_ptx__touch_by_lanes(context, 1u << lane, NULL, how);
}

/* ---- CTAs of a cluster ---- */

bool grout_ptx__observe_pair(const ptx_context *context, const ptx_cta *peer) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    const ptx_accessor by = {context->cta->number, context->warp->index,
                             (uint32_t)__builtin_ctz(context->lanes), context->step->inst, true};
    return machine->order == NULL || grout_ptx__knows_begun(machine->order, &actor, peer->number) ||
           report_peer(machine, &by, PTX_MISSING_BEGIN, peer);
}

bool grout_ptx__observe_reach(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, 1u << lane);
    const ptx_accessor by = {context->cta->number, context->warp->index, lane, context->step->inst,
                             true};
    return machine->order == NULL || bytes->owner == NULL || bytes->owner == context->cta ||
           grout_ptx__knows_begun(machine->order, &actor, bytes->owner->number) ||
           report_peer(machine, &by, PTX_MISSING_BEGIN, bytes->owner);
}

bool grout_ptx__observe_async_reach(ptx_machine *machine, const ptx_async *async,
                                    const ptx_cta *owner) {
    const ptx_accessor by = {async->cta, async->warp, async->lane, async->inst, true};
    return machine->order == NULL || owner->number == async->cta ||
           grout_ptx__flight_knows_begun(&async->flight, owner->number) ||
           report_peer(machine, &by, PTX_MISSING_BEGIN, owner);
}

bool grout_ptx__observe_exit(const ptx_context *context) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    return machine->order == NULL ||
           grout_ptx__need_memory(machine, grout_ptx__leave(machine->order, &actor));
}

bool grout_ptx__observe_cluster_exit(ptx_machine *machine, const ptx_cta *first) {
    for (uint32_t i = 0; machine->order != NULL && i < machine->cluster_size; i++) {
        const ptx_cta *cta = &first[i];
        const ptx_bytes all = {.cells = cta->cells, .owner = cta};
        const ptx_span span = grout_ptx__get_span(&all, machine->shared_bytes);
        ptx_race race;
        if (!grout_ptx__has_waited(machine->order, cta->number, &span, &race)) {
            const ptx_record *it = &race.earlier;
            const ptx_accessor by = {it->cta, it->warp, race.lane, it->inst, it->is_write};
            return report_peer(machine, &by, race.missing, cta);
        }
    }
    return true;
}
