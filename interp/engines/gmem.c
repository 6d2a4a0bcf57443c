/*
 * gmem.c - a log of plain stores to GMEM with the elements that they replaced, newest last. When it
 * is full, the oldest goes.
 *
 * To find the value of an element as of the newest store that is published to a reader, walk back
 * from the newest store: an unpublished one is undone, the first published one settles the element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gmem.h"
#include "hash.h"

#include <string.h>

#define LOG_BYTES   (4u << 20)
#define ENTRIES_MIN 4
#define ENTRIES_MAX 64

bool grout_gmem__new(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    if (!machine->is_lazy || plan->mixed_bytes_max == 0) {
        return true;
    }
    size_t bytes = (sizeof(grout_gmem_entry) + (size_t)plan->mixed_bytes_max + 63) / 64 * 64;
    size_t count = LOG_BYTES / bytes;
    count = count < ENTRIES_MIN ? ENTRIES_MIN : count > ENTRIES_MAX ? ENTRIES_MAX : count;
    machine->gmem_log = grout_machine__keep(machine, sizeof(grout_gmem_log) + count * bytes);
    if (machine->gmem_log == NULL) {
        return false;
    }
    *machine->gmem_log =
        (grout_gmem_log){.capacity = (uint32_t)count, .entry_bytes = (uint32_t)bytes};
    return true;
}

size_t grout_gmem__get_size(const grout_machine *machine) {
    const grout_gmem_log *log = machine->gmem_log;
    return log == NULL ? 0 : sizeof *log + (size_t)log->capacity * log->entry_bytes;
}

static grout_gmem_entry *get_entry(const grout_machine *machine, uint32_t index) {
    grout_gmem_log *log = machine->gmem_log;
    size_t at = (size_t)((log->first + index) % log->capacity) * log->entry_bytes;
    return (grout_gmem_entry *)(void *)((uint8_t *)(log + 1) + at);
}

uint64_t grout_gmem__hash(const grout_machine *machine, uint64_t hash) {
    for (uint32_t i = 0; machine->gmem_log != NULL && i < machine->gmem_log->count; i++) {
        hash = grout_hash__bytes(hash, get_entry(machine, i), machine->gmem_log->entry_bytes);
    }
    return hash;
}

void grout_gmem__note_store(const grout_cta *cta, uint32_t thread, const grout_box *box) {
    grout_machine *machine = cta->machine;
    grout_gmem_log *log = machine->gmem_log;
    const grout_box_plan *plan = box->plan;
    if (log == NULL || !plan->is_mixed || !box->is_inside) {
        return;
    }
    if (log->count == log->capacity) {
        log->first = (log->first + 1) % log->capacity;
        log->count--;
    }
    GROUT_ASSERT(log->count < log->capacity);
    grout_gmem_entry *noted = get_entry(machine, log->count++);
    uint32_t actor = grout_cta__actor(cta, thread);
    memset(noted, 0, log->entry_bytes);
    noted->object = plan->object;
    noted->cluster = grout_cta__cluster(cta)->index;
    noted->actor = actor;
    noted->epoch = grout_cta__clocks(cta, thread)[grout_clock_epoch(&machine->plan->shape, actor)];
    memcpy(noted->start, box->start, sizeof noted->start);
    memcpy(noted->extent, plan->extent, sizeof noted->extent);
    memcpy(noted->order, plan->order, sizeof noted->order);
    grout_box__gather(machine, box, noted + 1);
}

/* Whether a store is published to the engines of an actor with this clock set. */
static bool is_published(const grout_cta *cta, const grout_gmem_entry *noted, uint32_t *set) {
    const grout_machine *machine = cta->machine;
    const grout_order *order = &machine->plan->order;
    const uint32_t *published = grout_order__get_gmem(order, set);
    if (noted->cluster != grout_cta__cluster(cta)->index) {
        uint32_t word = *grout_order__get_foreign(order, set);
        const uint32_t *known = grout_foreign__find(machine, word, noted->cluster);
        published = known == NULL ? NULL : known + order->size;
    }
    return published != NULL &&
           published[grout_clock_released(&order->shape, noted->actor)] >= noted->epoch;
}

/* Number of an element in the order of a box. */
static int64_t get_number(const int64_t *index, const int64_t *start, const int64_t *extent,
                          const uint8_t *order, uint32_t rank) {
    int64_t number = 0;
    for (uint32_t k = 0; k < rank; k++) {
        number = number * extent[order[k]] + index[order[k]] - start[order[k]];
    }
    return number;
}

/* The part that a store and a box share, from low to high; false: none. */
static bool intersect(const grout_gmem_entry *noted, const grout_box *box, int64_t *low,
                      int64_t *high) {
    for (uint32_t dim = 0; dim < box->plan->rank; dim++) {
        int64_t end = noted->start[dim] + noted->extent[dim];
        low[dim] = noted->start[dim] > box->low[dim] ? noted->start[dim] : box->low[dim];
        high[dim] = box->low[dim] + box->size[dim];
        high[dim] = end < high[dim] ? end : high[dim];
        if (low[dim] >= high[dim]) {
            return false;
        }
    }
    return true;
}

/* The shared elements are settled, or hold what the store replaced. */
static bool apply(const grout_gmem_entry *noted, bool is_settled, const grout_box *box,
                  uint8_t *linear, uint8_t *stale, uint8_t *settled) {
    const grout_box_plan *plan = box->plan;
    int64_t low[GROUT_RANK_MAX], high[GROUT_RANK_MAX], index[GROUT_RANK_MAX];
    bool found = false, is_over = !intersect(noted, box, low, high);
    memcpy(index, low, sizeof index);
    while (!is_over) {
        int64_t to = get_number(index, box->start, plan->extent, plan->order, plan->rank);
        int64_t from = get_number(index, noted->start, noted->extent, noted->order, plan->rank);
        uint32_t bytes = plan->element_bytes;
        if (is_settled) {
            settled[to] = 1;
        } else if (settled[to] == 0) {
            memcpy(linear + to * bytes, (const uint8_t *)(noted + 1) + from * bytes, bytes);
            memset(stale + to * bytes, 1, bytes);
            found = true;
        }
        is_over = true;
        for (uint32_t dim = plan->rank; dim-- > 0 && is_over;) {
            index[dim]++;
            is_over = index[dim] == high[dim];
            index[dim] = is_over ? low[dim] : index[dim];
        }
    }
    return found;
}

bool grout_gmem__capture(const grout_cta *cta, uint32_t thread, const grout_box *box,
                         uint8_t *linear, uint8_t *stale) {
    grout_machine *machine = cta->machine;
    uint32_t *set = grout_cta__clocks(cta, thread);
    uint8_t *settled = machine->image; /* the box is as large as one of SMEM */
    bool found = false;
    if (machine->gmem_log == NULL || !box->plan->is_mixed || box->is_empty) {
        return false;
    }
    memset(stale, 0, (size_t)box->plan->bytes);
    memset(settled, 0, (size_t)box->plan->count);
    for (uint32_t i = machine->gmem_log->count; i-- > 0;) {
        const grout_gmem_entry *noted = get_entry(machine, i);
        if (noted->object == box->plan->object) {
            found |= apply(noted, is_published(cta, noted, set), box, linear, stale, settled);
        }
    }
    return found;
}
