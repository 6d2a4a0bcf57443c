/*
 * defined.c - which bytes of a CTA and which elements of arrays have been written, and with defined
 * values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bits.h"
#include "memory.h"

#include <string.h>

/* Bits of a box: a CTA has one a byte for all its objects, a GMEM array one an element. */
typedef struct bit_map {
    uint64_t *defined; /* NULL: all are */
    uint64_t *tainted; /* NULL: none is */
    int64_t first;     /* bit of the object's first byte */
    int64_t divisor;   /* bytes of a bit */
} bit_map;

static bit_map get_bit_map(const grout_machine *machine, const grout_box *box) {
    if (grout_space_is_of_cta(box->plan->space)) {
        return (bit_map){.defined = (uint64_t *)(void *)(box->state + machine->at.defined),
                         .first = box->plan->memory_offset,
                         .divisor = 1};
    }
    const grout_gmem_array *array = &machine->arrays[box->plan->param];
    return (bit_map){.defined = array->written,
                     .tainted = array->has_tainted ? array->tainted : NULL,
                     .divisor = box->plan->element_bytes};
}

/* A run in bits: it is of whole elements. */
static grout_run count_bits(const bit_map *map, const grout_run *run) {
    grout_run bits = *run;
    if (map->divisor != 1) {
        bits.base /= map->divisor;
        bits.stride /= map->divisor;
        bits.length /= map->divisor;
    }
    bits.base += map->first;
    return bits;
}

bool grout_box__is_defined(grout_machine *machine, const grout_box *box) {
    bit_map map = get_bit_map(machine, box);
    uint32_t count;
    if (map.defined == NULL && map.tainted == NULL) {
        return true;
    }
    const grout_run *runs = grout_box__get_runs(machine, box, &count);
    machine->run.has_failed |= runs == NULL;
    for (uint32_t i = 0; runs != NULL && i < count; i++) {
        const grout_run bits = count_bits(&map, &runs[i]);
        for (int64_t k = 0; k < bits.count; k++) {
            const int64_t first = bits.base + k * bits.stride;
            if ((map.defined != NULL && !grout_bits__has_all(map.defined, first, bits.length)) ||
                (map.tainted != NULL && grout_bits__has_any(map.tainted, first, bits.length))) {
                return false;
            }
        }
    }
    return true;
}

/* ---- runs without a value ---- */

static bool is_bit_undefined(const bit_map *map, int64_t bit) {
    return (map->defined != NULL && !grout_bits__get(map->defined, bit)) ||
           (map->tainted != NULL && grout_bits__get(map->tainted, bit));
}

enum { UNWRITTEN_RUNS_MAX = 1024 }; /* of one box; further ones are left out */

/* Adds a run of bytes, or makes it one more turn of the run before. */
static void add_unwritten(grout_pool *runs, int64_t base, int64_t length) {
    grout_run *last = runs->count > 0 ? grout_pool__at(runs, runs->count - 1) : NULL;
    if (last != NULL && last->length == length && last->count == 1 && base > last->base) {
        last->stride = base - last->base;
        last->count = 2;
    } else if (last != NULL && last->length == length && last->count > 1 &&
               base == last->base + last->count * last->stride) {
        last->count++;
    } else if (runs->count < runs->capacity) {
        *(grout_run *)grout_pool__at(runs, runs->count++) =
            (grout_run){.base = base, .count = 1, .length = length};
    }
}

/* The bytes of a run of bits that have no value. */
static void add_unwritten_of(grout_pool *runs, const bit_map *map, int64_t first, int64_t count) {
    for (int64_t at = first; at < first + count;) {
        int64_t end = at;
        while (end < first + count && is_bit_undefined(map, end)) {
            end++;
        }
        if (end > at) {
            add_unwritten(runs, (at - map->first) * map->divisor, (end - at) * map->divisor);
        }
        at = end + 1;
    }
}

void grout_box__publish_unwritten(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                  const grout_box *box) {
    grout_machine *machine = cta->machine;
    grout_pool *found = &machine->scratch[GROUT_SCRATCH_UNWRITTEN];
    const bit_map map = get_bit_map(machine, box);
    uint32_t count = 0;
    if (!grout_machine__wants(machine, GROUT_EVENT_UNWRITTEN)) {
        return;
    }
    const grout_run *runs = grout_box__get_runs(machine, box, &count);
    machine->run.has_failed |=
        runs == NULL || !grout_pool__reserve(found, &machine->heap, UNWRITTEN_RUNS_MAX);
    found->count = 0;
    for (uint32_t i = 0; !machine->run.has_failed && i < count; i++) {
        const grout_run bits = count_bits(&map, &runs[i]);
        for (int64_t k = 0; k < bits.count; k++) {
            add_unwritten_of(found, &map, bits.base + k * bits.stride, bits.length);
        }
    }
    if (machine->run.has_failed || found->count == 0) {
        return;
    }
    grout_clocks clocks;
    grout_event event = grout_cta__event(cta, GROUT_EVENT_UNWRITTEN, thread, inst, &clocks);
    event.u.unwritten.object = box->plan->object;
    event.u.unwritten.runs = grout_pool__at(found, 0);
    event.u.unwritten.run_count = found->count;
    grout_machine__publish(machine, &event);
}

/* ---- masks ---- */

typedef struct mask_walk {
    bit_map map;
    bool adds;
    uint8_t *mask;
    const uint8_t *source;
    int64_t element_bytes;
    bool is_of_cta;
} mask_walk;

static void get_piece_mask(void *payload, const grout_piece *piece) {
    const mask_walk *walk = payload;
    for (int64_t done = 0; done < piece->length; done += walk->map.divisor) {
        int64_t element = piece->element + done / walk->element_bytes;
        int64_t bit = walk->map.first + (piece->offset + done) / walk->map.divisor;
        bool is_first = !walk->adds && done % walk->element_bytes == 0;
        uint8_t before = is_first ? 0 : walk->mask[element];
        walk->mask[element] = is_bit_undefined(&walk->map, bit) ? 1 : before;
    }
}

void grout_box__get_undefined(const grout_machine *machine, const grout_box *box, uint8_t *mask) {
    mask_walk walk = {.map = get_bit_map(machine, box),
                      .adds = box->plan->more_copies > 0, /* all are inside, and each copy counts */
                      .mask = mask,
                      .element_bytes = box->plan->element_bytes};
    if (walk.adds) {
        memset(mask, 0, (size_t)box->plan->count);
    }
    grout_box__visit(machine, box, get_piece_mask, &walk);
}

void grout_box__add_undefined(const grout_machine *machine, const grout_box *box, uint8_t *mask) {
    mask_walk walk = {.map = get_bit_map(machine, box),
                      .adds = true,
                      .mask = mask,
                      .element_bytes = box->plan->element_bytes};
    grout_box__visit(machine, box, get_piece_mask, &walk);
}

static void set_bits(const mask_walk *walk, int64_t first, int64_t count, bool are_undefined) {
    if (walk->is_of_cta && are_undefined) {
        grout_bits__clear(walk->map.defined, first, count);
    } else if (walk->map.defined != NULL) {
        grout_bits__set(walk->map.defined, first, count);
    }
    if (walk->map.tainted != NULL && are_undefined) {
        grout_bits__set(walk->map.tainted, first, count);
    } else if (walk->map.tainted != NULL) {
        grout_bits__clear(walk->map.tainted, first, count);
    }
}

/* The elements of a piece, those beside each other with the same mask at once. */
static void set_piece_mask(void *payload, const grout_piece *piece) {
    const mask_walk *walk = payload;
    const uint8_t *mask = walk->source + piece->element;
    int64_t bytes = walk->element_bytes, divisor = walk->map.divisor;
    int64_t elements = piece->length / bytes;
    for (int64_t at = 0; at < elements;) {
        bool are_undefined = mask[at] != 0;
        int64_t end = at + 1;
        while (end < elements && (mask[end] != 0) == are_undefined) {
            end++;
        }
        set_bits(walk, walk->map.first + (piece->offset + at * bytes) / divisor,
                 (end - at) * bytes / divisor, are_undefined);
        at = end;
    }
}

void grout_box__set_written(grout_machine *machine, const grout_box *box, const uint8_t *mask) {
    bit_map map = get_bit_map(machine, box);
    if (mask != NULL) {
        if (grout_space_is_of_launch(box->plan->space)) {
            machine->arrays[box->plan->param].has_tainted = true;
            map.tainted = machine->arrays[box->plan->param].tainted;
        }
        mask_walk walk = {.map = map, .source = mask, .element_bytes = box->plan->element_bytes};
        walk.is_of_cta = grout_space_is_of_cta(box->plan->space);
        grout_box__visit(machine, box, set_piece_mask, &walk);
        return;
    }
    uint32_t count;
    const grout_run *runs = grout_box__get_runs(machine, box, &count);
    machine->run.has_failed |= runs == NULL;
    for (uint32_t i = 0; runs != NULL && i < count; i++) {
        const grout_run bits = count_bits(&map, &runs[i]);
        for (int64_t k = 0; k < bits.count; k++) {
            const int64_t first = bits.base + k * bits.stride;
            if (map.defined != NULL) {
                grout_bits__set(map.defined, first, bits.length);
            }
            if (map.tainted != NULL) {
                grout_bits__clear(map.tainted, first, bits.length);
            }
        }
    }
}

typedef struct undefined_search {
    const uint8_t *mask;
    int64_t element_bytes;
    bool found;
} undefined_search;

static void search_piece(void *payload, const grout_piece *piece) {
    undefined_search *search = payload;
    search->found |= memchr(search->mask + piece->element, 1,
                            (size_t)(piece->length / search->element_bytes)) != NULL;
}

bool grout_box__has_undefined(const grout_machine *machine, const grout_box *box,
                              const uint8_t *mask) {
    undefined_search search = {.mask = mask, .element_bytes = box->plan->element_bytes};
    grout_box__visit(machine, box, search_piece, &search);
    return search.found;
}
