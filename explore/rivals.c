/*
 * rivals.c - atomics on the same bytes whose order shows, and that nothing orders.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Atomics do not race, so a checker says nothing of two that may come in either order. What they
 * return, or leave, then depends on the schedule. Two runs of a launch, one of them without some
 * synchronisation, are equal in this if the same pairs are open in both.
 *
 * An atomic that nobody has released in memory is not before another one, although it came before
 * it in time: coherence follows causality order (PTX ISA 9.1, 'Coherence').
 */
#include "rivals.h"

#include "grout-internal/race.h"
#include "hash.h"

/* More pairs than anybody has to wait for: some seconds. */
#define PAIRS_MAX (UINT64_C(1) << 28)

/* ---- what is looked at ---- */

/* The object whose elements the op combines with something, or reads in the middle of others doing
 * so; 0: there is none. */
static grout_object_id find_object(const grout_module *module, const grout_op *op) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    const bool has_target = grout_op_get_update(module, op) != GROUT_UPDATE_NONE;
    const uint32_t operand = has_target ? grout_op_find_target(opcode) : 0;
    grout_view view;
    if (!(has_target || grout_op_returns_old_value(opcode)) || operand >= op->operand_count ||
        !grout_module_get_view(module, grout_module_get_operand(module, op, operand), &view)) {
        return 0;
    }
    return grout_object_get_root(module, view.object);
}

bool *grout_rivals__find_objects(const grout_allocator *allocator, const grout_module *module,
                                 grout_kernel_id kernel, bool *any_out) {
    const uint32_t count = grout_module_get_object_count(module);
    bool *matters = grout__new(allocator, count, sizeof *matters);
    bool *is_asked = grout__new(allocator, count, sizeof *is_asked);
    bool is_good = matters != NULL && is_asked != NULL;
    *any_out = false;
    for (grout_op_id i = 1; is_good && i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        const bool is_own =
            op->parent && grout_module_get_block(module, op->parent)->kernel == kernel;
        const grout_object_id object = is_own ? find_object(module, op) : 0;
        if (object != 0 && !is_asked[object]) {
            is_asked[object] = true;
            is_good = grout_race_leaves_kernel(allocator, module, kernel, object, &matters[object]);
            *any_out = *any_out || matters[object];
        }
    }
    grout__free(is_asked);
    if (!is_good) {
        grout__free(matters);
        return NULL;
    }
    return matters;
}

static void note_operand(const grout_module *module, const grout_operand *operand, bool *is_read) {
    grout_view view;
    if (operand->kind == GROUT_OPERAND_VALUE) {
        is_read[grout_module_get_value(module, operand->id)->op] = true;
        return;
    }
    if (!grout_module_get_view(module, operand, &view)) {
        return;
    }
    for (uint32_t dim = 0; dim < view.rank; dim++) {
        for (uint32_t i = 0; i < view.start_term_count[dim]; i++) {
            is_read[grout_module_get_value(module, view.start_terms[dim][i])->op] = true;
        }
    }
    for (uint32_t i = 0; i < view.cluster_index_count; i++) {
        if (view.cluster_index[i].kind == GROUT_OPERAND_VALUE) {
            is_read[grout_module_get_value(module, view.cluster_index[i].id)->op] = true;
        }
    }
}

bool *grout_rivals__find_reads(const grout_allocator *allocator, const grout_module *module) {
    const uint32_t count = grout_module_get_op_count(module);
    bool *is_read = grout__new(allocator, count, sizeof *is_read);
    for (grout_op_id i = 1; is_read != NULL && i < count; i++) {
        const grout_op *op = grout_module_get_op(module, i);
        for (uint32_t k = 0; k < op->operand_count; k++) {
            note_operand(module, grout_module_get_operand(module, op, k), is_read);
        }
    }
    return is_read;
}

/* ---- bytes ---- */

/* Whether some part of the runs has bytes in [low, high). */
static bool has_part(const grout_run *run, int64_t low, int64_t high) {
    if (run->count <= 1) {
        return run->base < high && low < run->base + run->length;
    }
    int64_t first = low - run->base - run->length + 1; /* of the first part that ends after low */
    first = first <= 0 ? 0 : (first + run->stride - 1) / run->stride;
    return first < run->count && run->base + first * run->stride < high;
}

static bool do_overlap(const grout_run *a, const grout_run *b) {
    const bool a_is_shorter = a->count <= b->count;
    const grout_run *few = a_is_shorter ? a : b, *many = a_is_shorter ? b : a;
    for (int64_t i = 0; i < few->count; i++) {
        const int64_t low = few->base + i * few->stride;
        if (has_part(many, low, low + few->length)) {
            return true;
        }
    }
    return false;
}

static bool share_bytes(const grout_rivals *rivals, const grout_rival_place *a,
                        const grout_rival_place *b) {
    if (a->root != b->root || a->owner != b->owner || a->low >= b->high || b->low >= a->high) {
        return false;
    }
    for (uint32_t i = 0; i < a->run_count; i++) {
        for (uint32_t k = 0; k < b->run_count; k++) {
            if (do_overlap(&rivals->runs.items[a->first_run + i],
                           &rivals->runs.items[b->first_run + k])) {
                return true;
            }
        }
    }
    return false;
}

static bool is_same_place(const grout_rivals *rivals, const grout_rival_place *place,
                          const grout_rival_place *wanted, const grout_run *runs) {
    if (place->root != wanted->root || place->owner != wanted->owner || place->low != wanted->low ||
        place->high != wanted->high || place->run_count != wanted->run_count) {
        return false;
    }
    for (uint32_t i = 0; i < place->run_count; i++) {
        const grout_run *a = &rivals->runs.items[place->first_run + i], *b = &runs[i];
        if (a->base != b->base || a->stride != b->stride || a->count != b->count ||
            a->length != b->length) {
            return false;
        }
    }
    return true;
}

/* The place of these runs, plus 1; 0 without memory. The newest first: a loop comes back to it. */
static uint32_t find_place(grout_rivals *rivals, grout_rival_place wanted, const grout_run *runs) {
    for (size_t i = rivals->places.count; i-- > 0;) {
        rivals->compared++;
        if (is_same_place(rivals, &rivals->places.items[i], &wanted, runs)) {
            return (uint32_t)i + 1;
        }
    }
    if (!GROUT_ARRAY_RESERVE(&rivals->places, rivals->allocator, 1) ||
        !GROUT_ARRAY_RESERVE(&rivals->runs, rivals->allocator, wanted.run_count)) {
        return 0;
    }
    wanted.first_run = (uint32_t)rivals->runs.count;
    for (uint32_t i = 0; i < wanted.run_count; i++) {
        rivals->runs.items[rivals->runs.count++] = runs[i];
    }
    rivals->places.items[rivals->places.count++] = wanted;
    return (uint32_t)rivals->places.count;
}

/* ---- pairs ---- */

static bool is_known(const grout_clocks *clocks, const grout_rival *rival) {
    const uint32_t *known = grout_clocks_find_known(clocks, rival->cluster);
    return known != NULL && known[rival->component] >= rival->number;
}

/* The same in every run, whatever came first. */
static uint64_t get_name(const grout_rivals *rivals, const grout_rival *rival) {
    const grout_rival_place *place = &rivals->places.items[rival->place - 1];
    const uint64_t name = grout_hash__word(grout_hash__word(7, rival->op), rival->actor);
    return grout_hash__word(grout_hash__word(grout_hash__word(name, rival->turn), place->owner),
                            (uint64_t)place->low);
}

/* Pairs an atomic with those at a place that it does not come after. */
static void pair_with(grout_rivals *rivals, const grout_rival_place *place, const grout_rival *own,
                      const grout_clocks *clocks) {
    for (uint32_t at = place->last; at != 0;) {
        const grout_rival *other = &rivals->items.items[at - 1];
        const bool commutes = own->kind != 0 && own->kind == other->kind;
        rivals->compared++;
        if (!commutes && !is_known(clocks, other)) {
            rivals->sum += grout_hash__word(11, get_name(rivals, other) + get_name(rivals, own));
        }
        at = other->previous;
    }
}

/* How often the actor has run the op at this place. */
static uint32_t count_turns(grout_rivals *rivals, const grout_rival_place *place,
                            const grout_rival *own) {
    for (uint32_t at = place->last; at != 0;) {
        const grout_rival *other = &rivals->items.items[at - 1];
        rivals->compared++;
        if (other->op == own->op && other->actor == own->actor) {
            return other->turn + 1;
        }
        at = other->previous;
    }
    return 0;
}

static bool add(grout_rivals *rivals, const grout_event *event, grout_rival rival) {
    if (rival.place == 0 || !GROUT_ARRAY_RESERVE(&rivals->items, rivals->allocator, 1)) {
        return false;
    }
    grout_rival_place *own = &rivals->places.items[rival.place - 1];
    rival.op = event->origin.op;
    rival.actor =
        event->origin.cta * rivals->local_actors +
        grout_clock_local_actor(&rivals->info.shape, event->origin.thread, event->origin.warp);
    rival.turn = count_turns(rivals, own, &rival);
    for (size_t i = 0; i < rivals->places.count; i++) {
        const grout_rival_place *place = &rivals->places.items[i];
        rivals->compared++;
        if (place == own || share_bytes(rivals, place, own)) {
            pair_with(rivals, place, &rival, event->clocks);
        }
    }
    rival.previous = own->last;
    rivals->items.items[rivals->items.count++] = rival;
    own->last = (uint32_t)rivals->items.count;
    rivals->is_cut = rivals->compared > PAIRS_MAX;
    return true;
}

/* ---- events ---- */

/* Two updates of one kind commute; what is returned to somebody shows the order. */
static uint32_t get_kind(const grout_rivals *rivals, const grout_op *op, grout_op_id id,
                         grout_object_id object) {
    const grout_dtype dtype =
        (grout_dtype)grout_object_get_type(rivals->info.module, object)->dtype;
    const grout_update update = grout_op_get_update(rivals->info.module, op);
    const bool shows = grout_op_returns_old_value((grout_opcode)op->opcode) && rivals->is_read[id];
    return shows || grout_update_is_ordered(update, dtype)
               ? 0
               : (uint32_t)update | (uint32_t)dtype << 8;
}

static bool note_atomic(grout_rivals *rivals, const grout_event *event) {
    const grout_access *access = event->u.access;
    const grout_module *module = rivals->info.module;
    const grout_object_id root = grout_object_get_root(module, access->object);
    const bool is_of_launch = grout_space_is_of_launch((grout_space)access->space);
    const int64_t start = root == access->object ? 0
                                                 : grout_object_get_offset(module, access->object) -
                                                       grout_object_get_offset(module, root);
    grout_rival_place place = {.root = root, .owner = is_of_launch ? 0 : access->owner};
    if (!access->is_atomic || !access->is_write || !rivals->matters[root] || rivals->is_cut) {
        return true;
    }
    grout_run *runs = grout__new(rivals->allocator, access->run_count, sizeof *runs);
    if (runs == NULL) {
        return false;
    }
    place.run_count = access->run_count;
    for (uint32_t i = 0; i < access->run_count; i++) {
        runs[i] = access->runs[i];
        runs[i].base += start;
        const int64_t end = runs[i].base + (runs[i].count - 1) * runs[i].stride + runs[i].length;
        place.low = i == 0 || runs[i].base < place.low ? runs[i].base : place.low;
        place.high = i == 0 || end > place.high ? end : place.high;
    }
    const grout_op *op = grout_module_get_op(module, event->origin.op);
    const grout_rival rival = {.place = find_place(rivals, place, runs),
                               .kind = get_kind(rivals, op, event->origin.op, access->object),
                               .cluster = access->stamp.cluster,
                               .component = access->stamp.component,
                               .number = access->stamp.number};
    grout__free(runs);
    return add(rivals, event, rival);
}

/* Signals commute with signals, waits with waits: a reading with none. */
static bool note_semaphore(grout_rivals *rivals, const grout_event *event) {
    const grout_semaphore_fact *fact = event->u.semaphore.semaphore;
    const grout_clock_shape *shape = &rivals->info.shape;
    const uint32_t actor =
        grout_clock_actor(shape, event->origin.cta % shape->cta_count,
                          grout_clock_local_actor(shape, event->origin.thread, event->origin.warp));
    const grout_run run = {.base = fact->index, .count = 1, .length = 1};
    const grout_rival_place place = {.root = fact->object,
                                     .owner = fact->cta,
                                     .low = fact->index,
                                     .high = (int64_t)fact->index + 1,
                                     .run_count = 1};
    if (!rivals->matters[fact->object] || rivals->is_cut || event->clocks == NULL ||
        (event->kind == GROUT_EVENT_SEMAPHORE_WAIT && event->u.semaphore.no_decrement)) {
        return true;
    }
    grout_rival rival = {.place = find_place(rivals, place, &run),
                         .kind = event->kind == GROUT_EVENT_SIGNAL           ? 1
                                 : event->kind == GROUT_EVENT_SEMAPHORE_WAIT ? 2
                                                                             : 0,
                         .cluster = event->clocks->cluster,
                         .component = grout_clock_released(shape, actor)};
    rival.number = event->clocks->known[rival.component];
    return add(rivals, event, rival);
}

static bool observe(void *self, const grout_event *event) {
    return event->kind == GROUT_EVENT_ACCESS ? note_atomic(self, event)
                                             : note_semaphore(self, event);
}

static bool begin(void *self, const grout_launch_info *info) {
    grout_rivals *rivals = self;
    rivals->info = *info;
    rivals->local_actors = info->shape.actor_count / info->shape.cta_count;
    return true;
}

void grout_rivals__init(grout_rivals *rivals, const grout_allocator *allocator, const bool *matters,
                        const bool *is_read) {
    *rivals = (grout_rivals){.allocator = allocator, .matters = matters, .is_read = is_read};
    rivals->observer = (grout_observer){
        .self = rivals,
        .interest = UINT64_C(1) << GROUT_EVENT_ACCESS | UINT64_C(1) << GROUT_EVENT_SIGNAL |
                    UINT64_C(1) << GROUT_EVENT_SEMAPHORE_WAIT |
                    UINT64_C(1) << GROUT_EVENT_SEMAPHORE_READ,
        .begin = begin,
        .event = observe,
    };
}

void grout_rivals__deinit(grout_rivals *rivals) {
    grout__free(rivals->items.items);
    grout__free(rivals->places.items);
    grout__free(rivals->runs.items);
    *rivals = (grout_rivals){0};
}
