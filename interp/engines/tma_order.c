/*
 * tma_order.c - TMA copies of the same elements that nothing orders: which takes effect first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "convert.h"
#include "engine.h"
#include "flying.h"
#include "tma.h"
#include "tma_rows.h"

#include <stdlib.h>
#include <string.h>

/* The places of one side of a copy in flight. Which rows indices name is not asked: they may be
 * any. */
typedef struct side {
    const grout_inst *inst;
    const grout_box_plan *plan;
    const int64_t *start;
} side;

static side get_side(const grout_machine *machine, const grout_flight *flight, uint32_t which) {
    const grout_inst *inst = grout_flight__inst(machine, flight);
    return (side){inst, grout_plan__box(machine->plan, inst, which), flight->start[which]};
}

static int64_t get_end(const side *it, uint32_t dim) {
    const bool is_any_row = dim == 0 && grout_tma_rows__is_mode_of(it->inst) &&
                            grout_space_is_of_launch(it->plan->space);
    return is_any_row ? it->plan->dims[0] : it->start[dim] + it->plan->extent[dim];
}

/* Whether what two stores write, or a load reads and a store writes, overlaps; by two names of
 * which the bytes are the same, all of it does. */
static bool has_overlap(const grout_machine *machine, const side *it, const side *other) {
    bool overlaps = it->plan->object == other->plan->object;
    if (!overlaps) {
        return grout_objects_share_bytes(machine->launch.module, it->plan->object,
                                         other->plan->object);
    }
    for (uint32_t dim = 0; overlaps && dim < it->plan->rank; dim++) {
        overlaps = it->start[dim] < get_end(other, dim) && other->start[dim] < get_end(it, dim);
    }
    return overlaps;
}

/* ---- many in flight ----------------------------------------------------------------------------
 */

/* What an area is of: areas of two roles never meet. */
typedef enum role { ROLE_STORED, ROLE_LOADED_FROM, ROLE_LOADED_TO, ROLES } role;

/* Parts of one box are areas of their own, those of one number equal; so is each target whose bytes
 * its start and extents do not say. */
static uint64_t get_apart(const grout_flight *load, const side *it) {
    if (it->plan->place_count != 0 || it->plan->first_limit != 0) {
        return UINT64_MAX - load->order;
    }
    const uint64_t dim = (uint8_t)it->inst->u.copy.part_dim;
    return load->u.load.parts == 0 ? 0 : (dim << 16 | load->u.load.part) << 16 | load->u.load.parts;
}

/* What has_overlap asks of a side, as an area. */
static grout_area get_area(const grout_machine *machine, const side *it, role of) {
    const grout_module *module = machine->launch.module;
    const grout_object_id object = it->plan->object;
    const int64_t offset = grout_object_get_offset(module, object);
    const int64_t space = offset < 0 ? GROUT_SPACE_COUNT + (int64_t)object : it->plan->space;
    grout_area area = {.object = object};
    area.dims[GROUT_AREA_SPACE].low = space * ROLES + of;
    area.dims[GROUT_AREA_SPACE].high = space * ROLES + of + 1;
    area.dims[GROUT_AREA_BYTES].high = 1;
    if (offset >= 0) {
        area.dims[GROUT_AREA_BYTES].low = offset;
        area.dims[GROUT_AREA_BYTES].high = offset + grout_object_get_layout(module, object)->bytes;
    }
    for (uint32_t dim = 0; dim < GROUT_RANK_MAX; dim++) {
        const bool is_there = dim < it->plan->rank;
        area.dims[GROUT_AREA_BOX + dim].low = is_there ? it->start[dim] : 0;
        area.dims[GROUT_AREA_BOX + dim].high = is_there ? get_end(it, dim) : 1;
    }
    return area;
}

static bool add_side(const grout_machine *machine, grout_areas *areas, uint32_t index,
                     uint32_t which, role of) {
    const grout_flight *flight = grout_flight__get(machine, index);
    const side own = get_side(machine, flight, which);
    grout_area area = get_area(machine, &own, of);
    area.apart = of == ROLE_LOADED_TO ? get_apart(flight, &own) : 0;
    return grout_areas__add(areas, (grout_heap *)&machine->heap,
                            grout_flying__get_member(index, which), &area, flight->order);
}

/* Nobody searches for what a load reads, unless stores write it too. */
static bool add_flight(const grout_machine *machine, grout_areas *areas, uint32_t index) {
    const grout_flight *flight = grout_flight__get(machine, index);
    const grout_inst *inst = grout_flight__inst(machine, flight);
    if (flight->is_void) {
        return true;
    }
    if (flight->engine == GROUT_ENGINE_TMA_STORE) {
        return add_side(machine, areas, index, 1, ROLE_STORED);
    }
    if (flight->engine != GROUT_ENGINE_TMA_LOAD) {
        return true;
    }
    return add_side(machine, areas, index, 1, ROLE_LOADED_TO) &&
           (!grout_plan__box(machine->plan, inst, 0)->is_relayed ||
            add_side(machine, areas, index, 0, ROLE_LOADED_FROM));
}

/* The areas of all copies in flight of the CTA; NULL: they are few, or there is no memory. Then the
 * caller walks through them. */
static const grout_areas *get_areas(const grout_cta *cta) {
    const grout_machine *machine = cta->machine;
    grout_flying *flying = grout_flying__find(cta);
    if (flying == NULL) {
        return NULL;
    }
    grout_flying_index *sides = &flying->sides;
    for (uint32_t i = grout_flying__get_first_new(cta, sides); i != 0;
         i = grout_flight__get(machine, i)->next) {
        if (!add_flight(machine, &sides->areas, i)) {
            grout_flying__turn_off(flying);
            return NULL;
        }
        sides->last = i;
    }
    return &sides->areas;
}

static uint64_t get_order(const grout_machine *machine, uint32_t member) {
    return grout_flight__get(machine, grout_flying__get_flight(member))->order;
}

/* The first member of a group that was issued later; it has one. */
static uint32_t get_first_later(const grout_machine *machine, const grout_areas *areas,
                                uint32_t group, uint64_t order) {
    uint32_t member = grout_areas__get_newest(areas, group);
    uint32_t older = grout_areas__get_older(areas, member);
    while (older != 0 && get_order(machine, older) > order) {
        member = older;
        older = grout_areas__get_older(areas, member);
    }
    return member;
}

/* ---- loads and stores --------------------------------------------------------------------------
 */

/* The first of those whose areas meet this one and that were issued later, as a walk finds it. */
static uint32_t search_later(const grout_machine *machine, const grout_areas *areas,
                             const grout_area *area, uint64_t order) {
    uint64_t least = UINT64_MAX;
    uint32_t found = 0;
    for (uint32_t group = grout_areas__next(areas, area, order, 0); group != 0;
         group = grout_areas__next(areas, area, order, group)) {
        const uint32_t member = get_first_later(machine, areas, group, order);
        if (get_order(machine, member) < least) {
            least = get_order(machine, member);
            found = grout_flying__get_flight(member);
        }
    }
    return found;
}

static uint32_t walk_to_later(const grout_cta *cta, const grout_flight *flight) {
    const grout_machine *machine = cta->machine;
    const bool is_store = flight->engine == GROUT_ENGINE_TMA_STORE;
    const uint32_t which = is_store ? 1 : 0;
    const side own = get_side(machine, flight, which);
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_flight *other = grout_flight__get(machine, i);
        bool is_other_store = other->engine == GROUT_ENGINE_TMA_STORE;
        bool is_copy = is_other_store || other->engine == GROUT_ENGINE_TMA_LOAD;
        if (is_copy && is_other_store != is_store && other->order > flight->order &&
            !other->is_void) {
            const side theirs = get_side(machine, other, 1 - which);
            if (has_overlap(machine, &own, &theirs)) {
                return i;
            }
        }
        i = other->next;
    }
    return 0;
}

/* What is in flight in the CTA, was issued later, and reads (or writes) what this writes
 * (or reads); 0: nothing. */
static uint32_t find_later(const grout_cta *cta, const grout_flight *flight) {
    const grout_machine *machine = cta->machine;
    const grout_areas *areas = get_areas(cta);
    if (areas == NULL) {
        return walk_to_later(cta, flight);
    }
    const bool is_store = flight->engine == GROUT_ENGINE_TMA_STORE;
    const side own = get_side(machine, flight, is_store ? 1 : 0);
    const grout_area area = get_area(machine, &own, is_store ? ROLE_LOADED_FROM : ROLE_STORED);
    const uint32_t found = search_later(machine, areas, &area, flight->order);
    GROUT_ASSERT_SLOW(found == walk_to_later(cta, flight));
    return found;
}

/*
 * If nothing orders a load and a store of the same elements, the later of the two takes effect
 * first: a load that should see the store then does not, and one that should not see it does.
 */
void grout_tma__let_later_first(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    const grout_flight *flight = grout_flight__get(machine, index);
    bool is_store = flight->engine == GROUT_ENGINE_TMA_STORE;
    const grout_inst *inst = grout_flight__inst(machine, flight);
    uint32_t later;
    if (machine->launch.timing != GROUT_TIMING_LAZY ||
        !grout_plan__box(machine->plan, inst, is_store ? 1 : 0)->is_relayed) {
        return;
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        const grout_cta *peer = grout_cta__peer(cta, rank);
        while ((later = find_later(peer, grout_flight__get(machine, index))) != 0) {
            grout_flight__land(peer, later);
        }
    }
}

static void poison_target(const grout_cta *cta, const grout_flight *load) {
    grout_machine *machine = cta->machine;
    grout_box to = grout_tma__place_target(cta, load);
    grout_fill_poison(to.plan->dtype, machine->linear,
                      to.plan->bytes / (int64_t)to.plan->element_bytes);
    grout_box__scatter(machine, &to, machine->linear);
}

/* Whether two loads bring all of one box, so that poison for one of them is for both. */
static bool have_same_target(const grout_machine *machine, const grout_flight *load,
                             const grout_flight *other) {
    const side a = get_side(machine, load, 1), b = get_side(machine, other, 1);
    const bool is_whole = load->u.load.parts == 0 && other->u.load.parts == 0 &&
                          a.plan->place_count == 0 && b.plan->place_count == 0 &&
                          a.plan->first_limit == 0 && b.plan->first_limit == 0;
    const size_t size = a.plan->rank * sizeof *a.start;
    return is_whole && a.plan->object == b.plan->object && a.plan->rank == b.plan->rank &&
           memcmp(a.start, b.start, size) == 0 &&
           memcmp(a.plan->extent, b.plan->extent, size) == 0 &&
           memcmp(a.plan->order, b.plan->order, a.plan->rank) == 0;
}

/* ---- loads and loads --------------------------------------------------------------------------
 */

static void walk_over_newer(const grout_cta *cta, const grout_flight *load) {
    const grout_machine *machine = cta->machine;
    const side own = get_side(machine, load, 1);
    const grout_flight *last = NULL; /* whose target has the poison */
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_flight *other = grout_flight__get(machine, i);
        bool is_load = other->engine == GROUT_ENGINE_TMA_LOAD && !other->is_void;
        if (is_load && other->order > load->order) {
            const side theirs = get_side(machine, other, 1);
            if (has_overlap(machine, &own, &theirs) &&
                (last == NULL || !have_same_target(machine, last, other))) {
                poison_target(cta, other);
                last = other;
            }
        }
        i = other->next;
    }
}

/* How many newer loads a walk finds, and how many have the areas that a search finds. */
static uint32_t count_newer_by_walk(const grout_cta *cta, const grout_flight *load) {
    const side own = get_side(cta->machine, load, 1);
    uint32_t count = 0;
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_flight *other = grout_flight__get(cta->machine, i);
        if (other->engine == GROUT_ENGINE_TMA_LOAD && !other->is_void &&
            other->order > load->order) {
            const side theirs = get_side(cta->machine, other, 1);
            count += has_overlap(cta->machine, &own, &theirs);
        }
        i = other->next;
    }
    return count;
}

static uint32_t count_newer(const grout_machine *machine, const grout_areas *areas,
                            const grout_area *area, uint64_t order) {
    uint32_t count = 0;
    for (uint32_t group = grout_areas__next(areas, area, order, 0); group != 0;
         group = grout_areas__next(areas, area, order, group)) {
        for (uint32_t member = grout_areas__get_newest(areas, group);
             member != 0 && get_order(machine, member) > order;
             member = grout_areas__get_older(areas, member)) {
            count++;
        }
    }
    return count;
}

/* The newest load of a target. */
typedef struct newest {
    uint64_t order;
    uint32_t flight, reserved;
} newest;

static int compare_orders(const void *a, const void *b) {
    const uint64_t first = ((const newest *)a)->order, second = ((const newest *)b)->order;
    return (first > second) - (first < second);
}

/*
 * The same as the walk: it gives each byte the poison of the last load of the list that brings it,
 * and so do the newest loads of each target in the order of their issue. (Poison is of a type, and
 * names of the same bytes may have several.) False: no memory.
 */
static bool poison_newer(const grout_cta *cta, const grout_areas *areas, const grout_area *area,
                         uint64_t order) {
    grout_machine *machine = cta->machine;
    grout_pool *found = &machine->scratch[GROUT_SCRATCH_NEWEST];
    uint32_t count = 0;
    found->item_size = sizeof(newest);
    for (uint32_t group = grout_areas__next(areas, area, order, 0); group != 0;
         group = grout_areas__next(areas, area, order, group)) {
        const uint32_t member = grout_areas__get_newest(areas, group);
        found->count = count;
        if (!grout_pool__reserve(found, &machine->heap, count + 1)) {
            return false;
        }
        *(newest *)grout_pool__at(found, count++) = (newest){
            .order = get_order(machine, member), .flight = grout_flying__get_flight(member)};
    }
    newest *all = grout_pool__at(found, 0);
    if (count > 1) {
        qsort(all, count, sizeof *all, compare_orders);
    }
    for (uint32_t i = 0; i < count; i++) {
        poison_target(cta, grout_flight__get(machine, all[i].flight));
    }
    return true;
}

/* Where a newer load is in flight over the same bytes, nothing can rely on those of the older one:
 * a read before the newer load has landed finds poison. */
void grout_tma__let_newer_win(const grout_cta *cta, const grout_flight *load) {
    const grout_machine *machine = cta->machine;
    if (machine->launch.timing != GROUT_TIMING_LAZY) {
        return;
    }
    const grout_areas *areas = get_areas(cta);
    const side own = get_side(machine, load, 1);
    const grout_area area =
        areas == NULL ? (grout_area){0} : get_area(machine, &own, ROLE_LOADED_TO);
    if (areas == NULL || !poison_newer(cta, areas, &area, load->order)) {
        walk_over_newer(cta, load);
        return;
    }
    GROUT_ASSERT_SLOW(count_newer(machine, areas, &area, load->order) ==
                      count_newer_by_walk(cta, load));
}

/* ---- stores and stores ------------------------------------------------------------------------
 */

static bool walk_to_rival(const grout_cta *cta, uint32_t index) {
    const grout_machine *machine = cta->machine;
    const grout_flight *flight = grout_flight__get(machine, index);
    const side own = get_side(machine, flight, 1);
    bool found = false;
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0 && !found;) {
        const grout_flight *other = grout_flight__get(machine, i);
        if (i != index && other->engine == GROUT_ENGINE_TMA_STORE && !other->is_void) {
            const side theirs = get_side(machine, other, 1);
            found = has_overlap(machine, &own, &theirs);
        }
        i = other->next;
    }
    return found;
}

/* Whether a store in flight of a CTA, but for this one, writes some of the same elements. */
static bool find_rival(const grout_cta *cta, uint32_t index) {
    const grout_machine *machine = cta->machine;
    const grout_areas *areas = get_areas(cta);
    if (areas == NULL) {
        return walk_to_rival(cta, index);
    }
    const side own = get_side(machine, grout_flight__get(machine, index), 1);
    const grout_area area = get_area(machine, &own, ROLE_STORED);
    const uint32_t member = grout_flying__get_member(index, 1);
    bool found = false;
    for (uint32_t group = grout_areas__next(areas, &area, 0, 0); group != 0 && !found;
         group = grout_areas__next(areas, &area, 0, group)) {
        const uint32_t last = grout_areas__get_newest(areas, group);
        found = last != member || grout_areas__get_older(areas, last) != 0;
    }
    GROUT_ASSERT_SLOW(found == walk_to_rival(cta, index));
    return found;
}

bool grout_tma__has_rival(const grout_cta *cta, uint32_t index) {
    const grout_machine *machine = cta->machine;
    const grout_flight *flight = grout_flight__get(machine, index);
    bool found = false;
    if (grout_flight__inst(machine, flight)->reduction != GROUT_UPDATE_NONE) {
        return false;
    }
    for (uint32_t rank = 0; !found && rank < machine->plan->shape.cta_count; rank++) {
        found = find_rival(grout_cta__peer(cta, rank), index);
    }
    return found;
}
