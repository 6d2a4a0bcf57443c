/*
 * named.c - named barriers. An arrival belongs to the oldest generation that is not full and that
 * its actor has not arrived in. So an actor's second arrival, if it comes too early, does not take
 * the place of another actor, as it may on hardware, and what follows is the same under every
 * schedule. The checker calls it an overrun. A sync waits for its own generation, however many
 * generations have followed it. What arrives are warps, 32 lanes each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "named.h"
#include "hash.h"

#include "handover.h"

/* A named barrier of a CTA that has been used. Key: id, CTA. */
typedef struct record {
    grout_keyed head;
    uint32_t first, last; /* generations kept, the oldest first */
} record;

GROUT_NO_PADDING_BEGIN

/* A generation: open, or with syncs that have not returned, or the last one complete. */
typedef struct generation {
    /* not hashed: places in pools */
    uint32_t link, next;
    uint32_t set; /* of clocks */
    /* hashed, from here on */
    uint32_t number;
    uint32_t warps;   /* of the CTA that have arrived, a bit each */
    uint32_t arrived; /* lanes */
    uint32_t lanes;   /* that it takes, as its first arrival says */
    uint32_t waiting; /* syncs that have not returned */
    GROUT_STATE_END
} generation;

GROUT_NO_PADDING_END

static grout_keyed_table get_table(const grout_machine *machine) {
    return grout_machine__table(machine, GROUT_POOL_NAMED);
}
static record *get_record(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(get_table(machine).records, index);
}
static grout_pool *get_generations(const grout_machine *machine) {
    return grout_machine__pool(machine, GROUT_POOL_GENERATIONS);
}
static generation *get_generation(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(get_generations(machine), index);
}

void grout_named__begin(grout_machine *machine) {
    get_generations(machine)->item_size = sizeof(generation);
    grout_keyed__init(get_table(machine), sizeof(record));
}

static uint32_t find(const grout_cta *cta, uint32_t id) {
    return grout_keyed__find(get_table(cta->machine), id, grout_cta__head(cta)->index);
}

static uint32_t find_generation(const grout_machine *machine, const record *own, uint32_t number) {
    uint32_t index = own->first;
    while (index != 0 && get_generation(machine, index)->number != number) {
        index = get_generation(machine, index)->next;
    }
    return index;
}

static bool is_complete(const generation *it) {
    return it->arrived >= it->lanes;
}

/* Old generations are forgotten only when they are full. */
static bool is_full(const grout_machine *machine, const record *own, uint32_t number) {
    uint32_t index = find_generation(machine, own, number);
    if (index == 0) {
        return own->first != 0 && number < get_generation(machine, own->first)->number;
    }
    return is_complete(get_generation(machine, index));
}

bool grout_named__is_full(const grout_cta *cta, uint32_t id, uint32_t number) {
    const grout_machine *machine = cta->machine;
    uint32_t index = find(cta, id);
    return index != 0 && is_full(machine, get_record(machine, index), number);
}

/* The warps of the CTA that an actor is, a bit each. */
static uint32_t get_warps(const grout_machine *machine, uint32_t actor) {
    _Static_assert(GROUT_THREADS_MAX * GROUT_WARPS <= 32, "a bit for each warp of a CTA");
    const uint32_t first = grout_machine__thread_of(machine, actor) * GROUT_WARPS;
    const uint32_t warp = grout_machine__warp_of(machine, actor);
    const uint32_t all = machine->plan->thread_warps[grout_machine__thread_of(machine, actor)];
    return warp == 0 ? ((1u << all) - 1) << first : 1u << (first + warp - 1);
}

static uint32_t count_lanes(const grout_machine *machine, uint32_t actor) {
    const uint32_t thread = grout_machine__thread_of(machine, actor);
    const bool is_thread = grout_machine__warp_of(machine, actor) == 0;
    return GROUT_WARP_LANES * (is_thread ? machine->plan->thread_warps[thread] : 1);
}

/* The generation that an actor's next arrival belongs to. */
static uint32_t choose_generation(const grout_machine *machine, const record *own, uint32_t actor) {
    uint32_t number = 0;
    for (uint32_t i = own->first; i != 0; i = get_generation(machine, i)->next) {
        const generation *it = get_generation(machine, i);
        if (!is_complete(it) && (it->warps & get_warps(machine, actor)) == 0) {
            return it->number;
        }
        number = it->number + 1;
    }
    return number;
}

static uint32_t open_generation(grout_machine *machine, uint32_t barrier, uint32_t number,
                                uint32_t lanes) {
    uint32_t index = find_generation(machine, get_record(machine, barrier), number);
    if (index != 0) {
        return index;
    }
    index = grout_pool__take(get_generations(machine), &machine->heap);
    if (index == 0) {
        machine->run.has_failed = true;
        return 0;
    }
    record *own = get_record(machine, barrier);
    *get_generation(machine, index) = (generation){.number = number, .lanes = lanes};
    if (own->last != 0) {
        get_generation(machine, own->last)->next = index;
    } else {
        own->first = index;
    }
    own->last = index;
    return index;
}

static void drop_generation(grout_machine *machine, uint32_t index) {
    grout_handover__give(machine, get_generation(machine, index)->set);
    grout_pool__give(get_generations(machine), index);
}

/* Forgets generations that no actor waits in, the oldest first, but keeps the last complete one:
 * the next one is compared with it. */
static void trim(grout_machine *machine, uint32_t barrier) {
    record *own = get_record(machine, barrier);
    while (own->first != own->last) {
        const generation *oldest = get_generation(machine, own->first);
        if (oldest->waiting > 0 || !is_complete(oldest) ||
            !is_complete(get_generation(machine, oldest->next))) {
            return;
        }
        uint32_t index = own->first;
        own->first = oldest->next;
        drop_generation(machine, index);
    }
}

static grout_phase_fact get_previous(const grout_machine *machine, const record *own,
                                     uint32_t number) {
    uint32_t index = number == 0 ? 0 : find_generation(machine, own, number - 1);
    grout_phase_fact fact = {.is_complete = number == 0 || is_full(machine, own, number - 1)};
    if (index != 0) {
        fact.completion = grout_handover__get(machine, get_generation(machine, index)->set);
    }
    return fact;
}

static void publish(const grout_cta *cta, grout_event_kind kind, uint32_t actor,
                    const grout_inst *inst, uint32_t barrier, const grout_event *facts) {
    grout_machine *machine = cta->machine;
    if (!grout_machine__wants(machine, kind)) {
        return;
    }
    grout_clocks clocks;
    grout_event event = grout_cta__event(cta, kind, actor, inst, &clocks);
    event.u.named = facts->u.named;
    event.u.named.previous =
        get_previous(machine, get_record(machine, barrier), facts->u.named.generation);
    grout_machine__publish(machine, &event);
}

static grout_event describe(const grout_named_use *use, uint32_t number, bool is_sync) {
    return (grout_event){.u.named = {.id = use->id,
                                     .generation = number,
                                     .count = use->count,
                                     .lanes = use->lanes,
                                     .counts_lanes = use->counts_lanes,
                                     .is_sync = is_sync}};
}

static void leave_clocks(const grout_cta *cta, uint32_t actor, uint32_t index) {
    grout_machine *machine = cta->machine;
    uint32_t set = grout_handover__capture(cta, actor);
    if (get_generation(machine, index)->set == 0) {
        get_generation(machine, index)->set = set;
    } else {
        grout_handover__join(machine, get_generation(machine, index)->set, set, GROUT_EDGE_STRONG);
        grout_handover__give(machine, set);
    }
}

uint32_t grout_named__arrive(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                             const grout_named_use *use, bool is_sync) {
    grout_machine *machine = cta->machine;
    uint32_t barrier =
        grout_keyed__get(get_table(machine), use->id, grout_cta__head(cta)->index, &machine->heap);
    if (barrier == 0) {
        machine->run.has_failed = true;
        return 0;
    }
    uint32_t number = choose_generation(machine, get_record(machine, barrier), actor);
    uint32_t index = open_generation(machine, barrier, number, use->lanes);
    if (index == 0) {
        return 0;
    }
    grout_event facts = describe(use, number, is_sync);
    facts.u.named.open_lanes = get_generation(machine, index)->lanes;
    facts.u.named.arrived = get_generation(machine, index)->arrived;
    facts.u.named.brings = count_lanes(machine, actor);
    publish(cta, GROUT_EVENT_NAMED_ARRIVE, actor, inst, barrier, &facts);
    get_generation(machine, index)->arrived += count_lanes(machine, actor);
    get_generation(machine, index)->warps |= get_warps(machine, actor);
    get_generation(machine, index)->waiting += is_sync;
    leave_clocks(cta, actor, index);
    if (is_full(machine, get_record(machine, barrier), number)) {
        grout_cta__wake(cta, GROUT_THREAD_BLOCKED_NAMED, use->id);
        trim(machine, barrier);
    }
    return number;
}

void grout_named__leave(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                        const grout_named_use *use, uint32_t number) {
    grout_machine *machine = cta->machine;
    uint32_t barrier = find(cta, use->id);
    uint32_t index = find_generation(machine, get_record(machine, barrier), number);
    grout_event facts = describe(use, number, true);
    publish(cta, GROUT_EVENT_NAMED_SYNC, actor, inst, barrier, &facts);
    if (index == 0) {
        return;
    }
    grout_handover__absorb(cta, actor, get_generation(machine, index)->set,
                           grout_cta__head(cta)->index, GROUT_EDGE_STRONG);
    GROUT_ASSERT(get_generation(machine, index)->waiting > 0);
    get_generation(machine, index)->waiting--;
    trim(machine, barrier);
}

void grout_named__end_cta(grout_machine *machine, uint32_t cta) {
    grout_keyed_table table = get_table(machine);
    for (uint32_t i = grout_keyed__next(table, 0); i != 0;) {
        const record *own = get_record(machine, i);
        uint32_t next = grout_keyed__next(table, i), index = own->first;
        if (own->head.key[1] == cta) {
            while (index != 0) {
                uint32_t behind = get_generation(machine, index)->next;
                drop_generation(machine, index);
                index = behind;
            }
            grout_keyed__remove(table, i);
        }
        i = next;
    }
}

/* The sum of a hash of each: the table has no order. */
uint64_t grout_named__hash(const grout_machine *machine, uint64_t hash) {
    grout_keyed_table table = get_table(machine);
    uint64_t sum = 0;
    for (uint32_t i = grout_keyed__next(table, 0); i != 0; i = grout_keyed__next(table, i)) {
        const record *own = get_record(machine, i);
        GROUT_ASSERT(own != NULL);
        uint64_t part = grout_hash__bytes(2, own->head.key, sizeof own->head.key);
        for (uint32_t k = own->first; k != 0; k = get_generation(machine, k)->next) {
            const generation *one = get_generation(machine, k);
            part = GROUT_HASH_FACTS(part, one, generation, number);
            part = grout_handover__hash(machine, one->set, part);
        }
        sum += part;
    }
    return hash + sum * UINT64_C(0xc2b2ae3d27d4eb4f);
}
