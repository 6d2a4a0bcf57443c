/* observe.c - the machine's accesses and orders, as ptx/order hears of them; and what a race is
 * called. SPDX-License-Identifier: Apache-2.0 */
#include "observe.h"

#include "mbarrier.h"
#include "tensor_map.h"

#include <string.h>

/* ---- the run ---- */

bool grout_ptx__need_memory(ptx_machine *machine, bool is_done) {
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

/* An access that could not be noted: there are too many, or no memory. */
static bool refuse_more(ptx_machine *machine, const ptx_inst *inst) {
    if (!grout_ptx__is_order_full(machine->order)) {
        return grout_diags_add_oom(machine->diags);
    }
    grout_diags_add(machine->diags, GROUT_DIAG_PTX_UNSUPPORTED,
                    grout_ptx__get_place(machine->code->module, inst->place),
                    "the run has more accesses than the search for races can tell apart");
    grout_diags_help(machine->diags, "search with smaller sizes or fewer CTAs, or run without it");
    return false;
}

/* bytes NULL: of tensor memory. */
static bool report(ptx_machine *machine, const ptx_accessor *by, const ptx_race *race,
                   const ptx_bytes *bytes) {
    const grout_ptx_module *module = machine->code->module;
    const ptx_inst *inst = &module->insts.items[by->inst];
    const grout_place nowhere = {.file = NULL};
    machine->is_failed = true;
    if (race->missing == PTX_MISSING_NONE) {
        return refuse_more(machine, inst);
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

bool grout_ptx__touch_by_lanes(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes,
                               ptx_touch how) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, lanes);
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
    return machine->order == NULL ||
           grout_ptx__touch_by_async(machine, async, &async->flight, NULL, how);
}

bool grout_ptx__observe_dealloc(const ptx_context *context, ptx_cell *cells, uint32_t count) {
    ptx_machine *machine = context->machine;
    const ptx_touch how = {.inst = context->step->inst,
                           .is_write = true,
                           .span = {.cells = cells, .count = count, .kind = PTX_SPAN_TENSOR}};
    const uint32_t lane = (uint32_t)__builtin_ctz(context->lanes);
    return machine->order == NULL || grout_ptx__touch_by_lanes(context, 1u << lane, NULL, how);
}
