/*
 * tma_order.c - TMA copies of the same elements that nothing orders: which takes effect first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "convert.h"
#include "engine.h"
#include "tma.h"
#include "tma_rows.h"

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

/* What is in flight in the CTA, was issued later, and reads (or writes) what this writes
 * (or reads); 0: nothing. */
static uint32_t find_later(const grout_cta *cta, const grout_flight *flight) {
    const grout_machine *machine = cta->machine;
    bool is_store = flight->engine == GROUT_ENGINE_TMA_STORE;
    uint32_t which = is_store ? 1 : 0;
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

/* Where a newer load is in flight over the same bytes, nothing can rely on those of the older one:
 * a read before the newer load has landed finds poison. */
void grout_tma__let_newer_win(const grout_cta *cta, const grout_flight *load) {
    grout_machine *machine = cta->machine;
    const side own = get_side(machine, load, 1);
    const grout_flight *last = NULL; /* whose target has the poison */
    if (machine->launch.timing != GROUT_TIMING_LAZY) {
        return;
    }
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

/* An earlier store of the cluster that is in flight to some of the same elements. */
bool grout_tma__has_rival(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    const grout_flight *flight = grout_flight__get(machine, index);
    const side own = get_side(machine, flight, 1);
    bool found = grout_flight__inst(machine, flight)->reduction != GROUT_UPDATE_NONE;
    for (uint32_t rank = 0; !found && rank < machine->plan->shape.cta_count; rank++) {
        const grout_cta *peer = grout_cta__peer(cta, rank);
        for (uint32_t i = grout_cta__head(peer)->first_flight; i != 0 && !found;) {
            const grout_flight *other = grout_flight__get(machine, i);
            if (i != index && other->engine == GROUT_ENGINE_TMA_STORE && !other->is_void) {
                const side theirs = get_side(machine, other, 1);
                found = has_overlap(machine, &own, &theirs);
            }
            i = other->next;
        }
    }
    return found && grout_flight__inst(machine, flight)->reduction == GROUT_UPDATE_NONE;
}
