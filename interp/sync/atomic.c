/*
 * atomic.c - release sequences. An atomic reads what the one before it wrote, and continues the
 * sequences that this one read: so a location collects releases until a plain store ends them all.
 * Releases of one CTA with one scope share one record. A relaxed write leaves a record too, for a
 * reader that acquires: the edge is then one without memory facts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "atomic.h"
#include "hash.h"

#include "handover.h"

/* Key: object and owner, offset. */
typedef struct record {
    grout_keyed head;
    uint32_t first; /* release */
    uint32_t bytes; /* of the element; of the widest, where atomics differ */
} record;

GROUT_NO_PADDING_BEGIN

typedef struct release {
    /* not hashed: places in pools */
    uint32_t link, next;
    uint32_t set; /* of clocks */
    /* hashed, from here on */
    uint32_t cta;
    uint8_t scope;
    bool is_relaxed;
    uint8_t reserved[6];
    GROUT_STATE_END
} release;

GROUT_NO_PADDING_END

static grout_keyed_table get_table(const grout_machine *machine) {
    return grout_machine__table(machine, GROUT_POOL_LOCATIONS);
}
static record *get_record(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(get_table(machine).records, index);
}
static grout_pool *get_releases(const grout_machine *machine) {
    return grout_machine__pool(machine, GROUT_POOL_RELEASES);
}
static release *get_release(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(get_releases(machine), index);
}

void grout_atomic__begin(grout_machine *machine) {
    get_releases(machine)->item_size = sizeof(release);
    grout_keyed__init(get_table(machine), sizeof(record));
}

static uint64_t get_key(grout_object_id object, uint32_t owner) {
    return (uint64_t)object << 32 | owner;
}

/* The CTA whose bytes a box has. */
static uint32_t get_owner(const grout_cta *cta, const grout_box *box) {
    uint32_t first = grout_cta__head(cta)->index - cta->rank;
    return grout_space_is_of_launch(box->plan->space) ? UINT32_MAX : first + box->rank;
}

/* Where the box's object begins, as a location of no bytes. */
static grout_location get_start(const grout_cta *cta, const grout_box *box) {
    const bool is_of_cta = grout_space_is_of_cta(box->plan->space);
    return (grout_location){.object = is_of_cta ? 0 : box->plan->object,
                            .owner = get_owner(cta, box),
                            .offset = is_of_cta ? box->plan->memory_offset : 0};
}

grout_location grout_atomic__get_location(const grout_cta *cta, const grout_box *box) {
    grout_machine *machine = cta->machine;
    grout_location found = get_start(cta, box);
    uint32_t count;
    const grout_run *runs = grout_box__get_runs(machine, box, &count);
    machine->run.has_failed |= runs == NULL;
    found.offset += runs != NULL && count > 0 ? runs[0].base : 0;
    found.bytes = box->plan->element_bytes;
    return found;
}

static grout_edge get_edge(const grout_cta *cta, const release *from, grout_sync sync) {
    uint32_t own = grout_cta__head(cta)->index;
    uint32_t cluster_size = grout_machine__cluster_size(cta->machine);
    bool is_strong = !from->is_relaxed && grout_sync__acquires(sync.order) &&
                     grout_order__covers(from->scope, from->cta, own, cluster_size) &&
                     grout_order__covers(sync.scope, own, from->cta, cluster_size);
    return is_strong ? GROUT_EDGE_STRONG : grout_edge__get_weak(from->cta == own);
}

void grout_atomic__acquire(const grout_cta *cta, uint32_t actor, const grout_location *location,
                           grout_sync sync) {
    grout_machine *machine = cta->machine;
    grout_keyed_table table = get_table(machine);
    uint32_t index = grout_keyed__find(table, get_key(location->object, location->owner),
                                       (uint64_t)location->offset);
    uint32_t first = index == 0 || !machine->has_clocks ? 0 : get_record(machine, index)->first;
    for (uint32_t i = first; i != 0; i = get_release(machine, i)->next) {
        const release *from = get_release(machine, i);
        if (!from->is_relaxed || grout_sync__acquires(sync.order)) {
            grout_handover__absorb(cta, actor, from->set, from->cta, get_edge(cta, from, sync));
        }
    }
}

static uint32_t add_release(const grout_cta *cta, uint32_t location, grout_sync sync) {
    grout_machine *machine = cta->machine;
    uint32_t launch_index = grout_cta__head(cta)->index;
    bool is_relaxed = !grout_sync__releases(sync.order);
    uint32_t index = get_record(machine, location)->first;
    for (; index != 0; index = get_release(machine, index)->next) {
        const release *other = get_release(machine, index);
        if (other->cta == launch_index && other->scope == sync.scope &&
            other->is_relaxed == is_relaxed) {
            return index;
        }
    }
    index = grout_pool__take(get_releases(machine), &machine->heap);
    if (index == 0) {
        machine->run.has_failed = true;
        return 0;
    }
    release *own = get_release(machine, index);
    own->cta = launch_index;
    own->scope = sync.scope;
    own->is_relaxed = is_relaxed;
    own->next = get_record(machine, location)->first;
    get_record(machine, location)->first = index;
    return index;
}

/*
 * An atomic that acquires and releases for all hands on what it has just acquired, so the releases
 * that it acquired need not be kept. A counter of all CTAs stays one record.
 */
static void drop_covered(const grout_cta *cta, uint32_t location, uint32_t own, grout_sync sync) {
    grout_machine *machine = cta->machine;
    uint32_t kept = 0, next;
    if (sync.order != GROUT_CHOICE_ORDER_ACQ_REL || sync.scope < GROUT_CHOICE_SCOPE_GPU) {
        return;
    }
    for (uint32_t i = get_record(machine, location)->first; i != 0; i = next) {
        release *from = get_release(machine, i);
        next = from->next;
        if (i == own || get_edge(cta, from, sync) != GROUT_EDGE_STRONG) {
            from->next = kept;
            kept = i;
        } else {
            grout_handover__give(machine, from->set);
            grout_pool__give(get_releases(machine), i);
        }
    }
    get_record(machine, location)->first = kept;
}

void grout_atomic__release(const grout_cta *cta, uint32_t actor, const grout_location *location,
                           grout_sync sync) {
    grout_machine *machine = cta->machine;
    if (!machine->has_clocks) {
        return;
    }
    uint32_t index =
        grout_keyed__get(get_table(machine), get_key(location->object, location->owner),
                         (uint64_t)location->offset, &machine->heap);
    uint32_t own = index == 0 ? 0 : add_release(cta, index, sync);
    if (own != 0 && get_record(machine, index)->bytes < location->bytes) {
        get_record(machine, index)->bytes = location->bytes;
    }
    uint32_t set = own == 0 ? 0 : grout_handover__capture(cta, actor);
    if (set == 0) {
        machine->run.has_failed = true;
        return;
    }
    drop_covered(cta, index, own, sync);
    if (get_release(machine, own)->set == 0) {
        get_release(machine, own)->set = set;
        return;
    }
    grout_handover__join(machine, get_release(machine, own)->set, set, GROUT_EDGE_STRONG);
    grout_handover__give(machine, set);
}

/* ---- ends --------------------------------------------------------------------------------------
 */

static void remove_location(grout_machine *machine, uint32_t index) {
    for (uint32_t i = get_record(machine, index)->first; i != 0;) {
        uint32_t next = get_release(machine, i)->next;
        grout_handover__give(machine, get_release(machine, i)->set);
        grout_pool__give(get_releases(machine), i);
        i = next;
    }
    grout_keyed__remove(get_table(machine), index);
}

static bool is_in_runs(const grout_run *runs, uint32_t count, int64_t offset) {
    for (uint32_t i = 0; i < count; i++) {
        int64_t from = offset - runs[i].base;
        int64_t stride = runs[i].count > 1 ? runs[i].stride : runs[i].length;
        if (from >= 0 && from / stride < runs[i].count && from % stride < runs[i].length) {
            return true;
        }
    }
    return false;
}

/* Whether some byte of the element that begins there is in the runs. */
static bool has_byte_in_runs(const grout_run *runs, uint32_t count, int64_t offset,
                             uint32_t bytes) {
    bool is_found = false;
    for (uint32_t i = 0; i < bytes && !is_found; i++) {
        is_found = is_in_runs(runs, count, offset + i);
    }
    return is_found;
}

void grout_atomic__forget(const grout_cta *cta, const grout_box *box) {
    grout_machine *machine = cta->machine;
    grout_keyed_table table = get_table(machine);
    const grout_location start = get_start(cta, box);
    uint64_t key = get_key(start.object, start.owner);
    uint32_t count;
    const grout_run *runs = grout_box__get_runs(machine, box, &count);
    machine->run.has_failed |= runs == NULL;
    for (uint32_t i = runs == NULL ? 0 : grout_keyed__next(table, 0); i != 0;) {
        const record *own = get_record(machine, i);
        uint32_t next = grout_keyed__next(table, i);
        if (own->head.key[0] == key &&
            has_byte_in_runs(runs, count, (int64_t)own->head.key[1] - start.offset, own->bytes)) {
            remove_location(machine, i);
        }
        i = next;
    }
}

void grout_atomic__end_cta(grout_machine *machine, uint32_t cta) {
    grout_keyed_table table = get_table(machine);
    for (uint32_t i = grout_keyed__next(table, 0); i != 0;) {
        uint32_t next = grout_keyed__next(table, i);
        if ((uint32_t)get_record(machine, i)->head.key[0] == cta) {
            remove_location(machine, i);
        }
        i = next;
    }
}

/* Whether a byte of a CTA's memory is one of an array. */
static bool is_in_array(const grout_machine *machine, grout_object_id id, int64_t byte) {
    const grout_object *object = grout_module_get_object(machine->launch.module, id);
    if (object->kind != GROUT_OBJECT_ARRAY || !grout_space_is_of_cta(object->space)) {
        return false;
    }
    const int64_t from = byte - grout_plan__get_memory_offset(machine->plan, id);
    return from >= 0 && from < grout_object_get_layout(machine->launch.module, id)->bytes;
}

void grout_atomic__end_scope(grout_machine *machine, uint32_t cta, const grout_object_id *objects,
                             uint32_t count) {
    grout_keyed_table table = get_table(machine);
    for (uint32_t i = grout_keyed__next(table, 0); i != 0;) {
        uint32_t next = grout_keyed__next(table, i);
        const uint64_t *key = get_record(machine, i)->head.key;
        bool is_in_scope = false;
        for (uint32_t k = 0; key[0] == get_key(0, cta) && k < count; k++) {
            is_in_scope |= is_in_array(machine, objects[k], (int64_t)key[1]);
        }
        if (is_in_scope) {
            remove_location(machine, i);
        }
        i = next;
    }
}

/* Uses sums: neither locations nor the releases of one have an order. */
uint64_t grout_atomic__hash(const grout_machine *machine, uint64_t hash) {
    grout_keyed_table table = get_table(machine);
    uint64_t sum = 0;
    for (uint32_t i = grout_keyed__next(table, 0); i != 0; i = grout_keyed__next(table, i)) {
        const record *own = get_record(machine, i);
        for (uint32_t k = own->first; k != 0; k = get_release(machine, k)->next) {
            const release *from = get_release(machine, k);
            uint64_t part = grout_hash__bytes(3, own->head.key, sizeof own->head.key);
            part = GROUT_HASH_FACTS(part, from, release, cta);
            sum += grout_handover__hash(machine, from->set, part);
        }
    }
    return hash + sum * UINT64_C(0xd6e8feb86659fd93);
}
