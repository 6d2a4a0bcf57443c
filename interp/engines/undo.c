/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * undo.c - a log of stores to SMEM with the bytes that they replaced, newest last.
 *
 * To find the value of a byte as of the newest write that is published to a reader, walk back from
 * the newest store: an unpublished one is undone; the first published one (or a load's write)
 * settles the byte, and so does a read that saw all stores, where it is known to be over. The
 * oldest entries go when they are published to every thread, or when the log is full: the reader
 * then sees newer bytes than it has to, which is legal too. The log decides values only: which
 * bytes are defined, and what is in order, is decided at the issue without it.
 */
#include "undo.h"

#include "bits.h"

#include <string.h>

static grout_undo *get_entry(const grout_cta *cta, uint32_t index) {
    const grout_cta_state *head = grout_cta__head(cta);
    uint32_t slot = (head->undo_first + index) % GROUT_UNDO_ENTRIES;
    return (grout_undo *)(void *)(cta->state + cta->machine->at.undo_entries) + slot;
}

static uint8_t *get_data(const grout_cta *cta) {
    return cta->state + cta->machine->at.undo_data;
}

/* What an actor knows, and what is published to its engines: V and PS of its clock set. */
typedef struct reader {
    const uint32_t *known, *published;
} reader;

static reader get_reader(const grout_cta *cta, uint32_t thread, uint32_t rank) {
    uint32_t *set = grout_cta__clocks(cta, thread);
    return (reader){.known = set,
                    .published = grout_order__get_smem(&cta->machine->plan->order, set, rank)};
}

/* Whether the reader's engines see the store; of a read, all stores that it saw. */
static bool is_published(const grout_undo *entry, reader by) {
    const uint32_t *clock = entry->is_reader != 0 ? by.known : by.published;
    return entry->is_engine != 0 || clock[entry->component] >= entry->number;
}

/* Engines read the SMEM of the CTA whose actors start them. */
static bool is_published_to_all(const grout_cta *cta, const grout_undo *entry) {
    const grout_machine *machine = cta->machine;
    for (uint32_t i = 0; i < machine->plan->actor_count; i++) {
        uint32_t state = grout_cta__thread(cta, i)->state;
        if (state != GROUT_THREAD_EXITED && state != GROUT_THREAD_IDLE &&
            !is_published(entry, get_reader(cta, i, cta->rank))) {
            return false;
        }
    }
    return true;
}

static void drop_first(const grout_cta *cta) {
    grout_cta_state *head = grout_cta__head(cta);
    head->undo_first = (head->undo_first + 1) % GROUT_UNDO_ENTRIES;
    head->undo_count--;
}

/* A read with no older store says nothing. */
static void prune(const grout_cta *cta) {
    while (grout_cta__head(cta)->undo_count > 0 &&
           (get_entry(cta, 0)->is_reader != 0 || is_published_to_all(cta, get_entry(cta, 0)))) {
        drop_first(cta);
    }
}

/* Whether bytes [first, first + size) of the ring are used by an entry. */
static bool is_used(const grout_machine *machine, const grout_undo *entry, uint32_t first,
                    uint32_t size) {
    (void)machine;
    return entry->size > 0 && entry->data < first + size && first < entry->data + entry->size;
}

/* A place for size bytes of old data; entries in the way are dropped, oldest first. */
static uint32_t take_data(const grout_cta *cta, uint32_t size) {
    grout_machine *machine = cta->machine;
    grout_cta_state *head = grout_cta__head(cta);
    uint32_t first = head->undo_data_first;
    if (size > machine->undo_data_size - first) {
        first = 0;
    }
    for (uint32_t i = head->undo_count; i-- > 0;) {
        if (is_used(machine, get_entry(cta, i), first, size)) {
            for (; i + 1 > 0; i--) {
                drop_first(cta);
                head->undo_dropped++;
            }
            break;
        }
    }
    head->undo_data_first = first + size;
    return first;
}

static grout_undo *add_entry(const grout_cta *cta, const grout_inst *inst, uint32_t box_index,
                             const grout_box *box) {
    grout_cta_state *head = grout_cta__head(cta);
    if (head->undo_count == GROUT_UNDO_ENTRIES) {
        drop_first(cta);
        head->undo_dropped++;
    }
    GROUT_ASSERT(head->undo_count < GROUT_UNDO_ENTRIES);
    grout_undo *entry = get_entry(cta, head->undo_count++);
    memset(entry, 0, sizeof *entry);
    entry->pc = (uint32_t)(inst - grout_plan__inst(cta->machine->plan, 0));
    entry->box = box_index;
    memcpy(entry->start, box->start, sizeof entry->start);
    grout_box__get_range(box, &entry->low, &entry->high);
    return entry;
}

/* Keeps what a box of the CTA holds. */
static void note(const grout_cta *cta, const grout_undo *facts, const grout_inst *inst,
                 uint32_t box_index, const grout_box *box) {
    grout_machine *machine = cta->machine;
    uint32_t size = (uint32_t)box->plan->bytes;
    prune(cta);
    if (size > machine->undo_data_size || box->is_empty) {
        return;
    }
    uint32_t data = take_data(cta, size);
    grout_undo *entry = add_entry(cta, inst, box_index, box);
    entry->component = facts->component;
    entry->number = facts->number;
    entry->data = data;
    entry->size = size;
    grout_box__gather(machine, box, get_data(cta) + data);
}

void grout_undo__note_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            uint32_t box_index, const grout_box *box) {
    grout_machine *machine = cta->machine;
    const grout_clock_shape *shape = &machine->plan->shape;
    uint32_t actor = grout_cta__actor(cta, thread);
    grout_undo facts = {.component = grout_clock_released(shape, actor)};
    facts.number = grout_cta__clocks(cta, thread)[grout_clock_epoch(shape, actor)];
    note(grout_cta__peer(cta, box->rank), &facts, inst, box_index, box);
}

void grout_undo__note_copy(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           uint32_t box_index, const grout_box *box, uint32_t group) {
    grout_undo facts = {.component = grout_clock_async_copy(&cta->machine->plan->shape,
                                                            grout_cta__actor(cta, thread)),
                        .number = group};
    note(cta, &facts, inst, box_index, box);
}

void grout_undo__note_load(const grout_cta *cta, const grout_inst *inst, uint32_t box_index,
                           const grout_box *box) {
    const grout_cta *owner = grout_cta__peer(cta, box->rank);
    prune(owner);
    if (grout_cta__head(owner)->undo_count > 0 && !box->is_empty) {
        add_entry(owner, inst, box_index, box)->is_engine = 1;
    }
}

static bool has_overlap(const grout_undo *entry, int64_t low, int64_t high) {
    return entry->low < high && low < entry->high;
}

void grout_undo__note_read(const grout_cta *cta, const grout_stamp *read, const grout_inst *inst,
                           uint32_t box_index, const grout_box *box) {
    const grout_cta *owner = grout_cta__peer(cta, box->rank);
    int64_t low, high;
    bool is_needed = false;
    prune(owner);
    grout_box__get_range(box, &low, &high);
    for (uint32_t i = 0; i < grout_cta__head(owner)->undo_count && !box->is_empty; i++) {
        const grout_undo *entry = get_entry(owner, i);
        is_needed = is_needed || (entry->size > 0 && has_overlap(entry, low, high));
    }
    if (is_needed) {
        grout_undo *entry = add_entry(owner, inst, box_index, box);
        entry->is_reader = 1;
        entry->component = read->component;
        entry->number = read->number;
    }
}

/* ---- capture -----------------------------------------------------------------------------------
 */

/* One walk over a box's pieces, at SMEM addresses. */
typedef struct capture_walk {
    grout_machine *machine;
    int64_t object; /* address of the object's first byte */
    int64_t element_bytes;
    const uint8_t *old; /* of an unpublished store; NULL: it settles its bytes */
    uint8_t *linear, *stale;
    int64_t low, high; /* addresses that matter */
    bool found;
} capture_walk;

/* A piece of a store or load on the walk back: undone or settled where nothing newer settled it. */
static void apply_piece(void *payload, const grout_piece *piece) {
    capture_walk *walk = payload;
    grout_machine *machine = walk->machine;
    int64_t first = walk->object + piece->offset, end = first + piece->length;
    int64_t low = first > walk->low ? first : walk->low;
    int64_t high = end < walk->high ? end : walk->high;
    if (low >= high) {
        return;
    }
    if (walk->old == NULL) {
        grout_bits__set(machine->image_settled, low, high - low);
        return;
    }
    const uint8_t *old = walk->old + piece->element * walk->element_bytes + (low - first);
    if (!grout_bits__has_any(machine->image_settled, low, high - low)) {
        memcpy(machine->image + low, old, (size_t)(high - low));
        grout_bits__set(machine->image_stale, low, high - low);
        return;
    }
    for (int64_t at = low; at < high; at++, old++) {
        if (!grout_bits__get(machine->image_settled, at)) {
            machine->image[at] = *old;
            grout_bits__set(machine->image_stale, at, 1);
        }
    }
}

static void read_piece(void *payload, const grout_piece *piece) {
    capture_walk *walk = payload;
    const grout_machine *machine = walk->machine;
    int64_t to = piece->element * walk->element_bytes, from = walk->object + piece->offset;
    if (!grout_bits__has_any(machine->image_stale, from, piece->length)) {
        memset(walk->stale + to, 0, (size_t)piece->length);
        return;
    }
    walk->found = true;
    memcpy(walk->linear + to, machine->image + from, (size_t)piece->length);
    for (int64_t i = 0; i < piece->length; i++) {
        walk->stale[to + i] = grout_bits__get(machine->image_stale, from + i) ? 1 : 0;
    }
}

/* The same in the CTA whose SMEM it is. */
static bool capture(const grout_cta *cta, reader by, const grout_box *box, uint8_t *linear,
                    uint8_t *stale) {
    grout_machine *machine = cta->machine;
    uint32_t count = grout_cta__head(cta)->undo_count;
    bool is_needed = false;
    capture_walk walk = {.machine = machine, .linear = linear, .stale = stale};
    grout_box__get_range(box, &walk.low, &walk.high);
    for (uint32_t i = 0; i < count && !is_needed; i++) {
        const grout_undo *entry = get_entry(cta, i);
        is_needed =
            entry->size > 0 && has_overlap(entry, walk.low, walk.high) && !is_published(entry, by);
    }
    if (!is_needed || box->is_empty) {
        return false;
    }
    int64_t words = grout_bits__get_word_count(machine->plan->memory_bytes);
    memset(machine->image_stale, 0, (size_t)words * sizeof(uint64_t));
    memset(machine->image_settled, 0, (size_t)words * sizeof(uint64_t));
    for (uint32_t i = count; i-- > 0;) {
        const grout_undo *entry = get_entry(cta, i);
        const bool is_seen = is_published(entry, by);
        if (!has_overlap(entry, walk.low, walk.high) || (entry->is_reader != 0 && !is_seen)) {
            continue;
        }
        const grout_inst *inst = grout_plan__inst(machine->plan, entry->pc);
        const grout_box_plan *plan = grout_plan__box(machine->plan, inst, entry->box);
        grout_box other = grout_box__place(cta, plan, entry->start);
        walk.object = plan->memory_offset;
        walk.element_bytes = plan->element_bytes;
        walk.old = is_seen ? NULL : get_data(cta) + entry->data;
        grout_box__visit(machine, &other, apply_piece, &walk);
    }
    walk.object = box->plan->memory_offset;
    walk.element_bytes = box->plan->element_bytes;
    memset(stale, 0, (size_t)box->plan->bytes);
    grout_box__visit(machine, box, read_piece, &walk);
    return walk.found;
}

bool grout_undo__capture(const grout_cta *cta, uint32_t thread, const grout_box *box,
                         uint8_t *linear, uint8_t *stale) {
    return capture(grout_cta__peer(cta, box->rank), get_reader(cta, thread, box->rank), box, linear,
                   stale);
}

uint64_t grout_undo__hash(const grout_cta *cta, uint64_t hash) {
    const grout_cta_state *head = grout_cta__head(cta);
    for (uint32_t i = 0; i < head->undo_count; i++) {
        const grout_undo *entry = get_entry(cta, i);
        hash = grout_hash__bytes(hash, get_data(cta) + entry->data, entry->size);
        hash = GROUT_HASH_FACTS(hash, entry, grout_undo, pc);
    }
    return hash;
}
