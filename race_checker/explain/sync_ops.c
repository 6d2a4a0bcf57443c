/*
 * sync_ops.c - what the operations of the kernel do with barriers, by thread, loop and barrier.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include <stdlib.h>

void grout_sync_ops__deinit(grout_sync_ops *it) {
    grout__free(it->waits.items);
    grout__free(it->posts.items);
    grout__free(it->barriers);
}

/* ---- the lists ----------------------------------------------------------------------------------
 */

static int compare_numbers(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

static int compare(const void *a, const void *b) {
    const grout_sync_op *x = a, *y = b;
    int order = compare_numbers(x->object, y->object);
    order = order != 0 ? order : compare_numbers(x->thread, y->thread);
    order = order != 0 ? order : compare_numbers(x->loop, y->loop);
    return order != 0 ? order : compare_numbers(x->op, y->op);
}

/* One item for each thread that has run the op. */
static bool add(const grout_wording *wording, grout_sync_op_list *list, grout_object_id object,
                grout_op_id op) {
    const uint32_t threads = wording->checker->run.op_threads[op];
    const grout_op_id loop = grout_op__get_loop(wording->module, op);
    if (!GROUT_ARRAY_RESERVE(list, wording->checker->allocator, GROUT_THREADS_MAX)) {
        return false;
    }
    for (uint32_t thread = 0; thread < GROUT_THREADS_MAX; thread++) {
        if ((threads >> thread & 1) != 0) {
            list->items[list->count++] = (grout_sync_op){
                .object = object, .thread = thread, .loop = loop, .op = op, .last = op};
        }
    }
    return true;
}

static bool waits_on_barrier(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL &&
           (sync->object == GROUT_SYNC_OBJECT_BARRIER ||
            sync->object == GROUT_SYNC_OBJECT_MBARRIER) &&
           sync->mode == GROUT_SYNC_MODE_WAITS;
}

static void note_arrival(const grout_wording *wording, grout_sync_ops *it, grout_op_id id) {
    const grout_module *module = wording->module;
    const grout_op *op = grout_module_get_op(module, id);
    uint32_t count = 0;
    const grout_effect *effects = grout_effect_row_get_effects(
        (grout_effect_row)grout_op_get_info((grout_opcode)op->opcode)->effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        const grout_object_id object = effects[i].access == GROUT_ACCESS_ARRIVE
                                           ? grout_op__find_object(module, op, effects[i].operand)
                                           : 0;
        grout_barrier_ops *barrier = &it->barriers[object];
        if (object == 0 || barrier->last_arrival == id) {
            continue;
        }
        const grout_op_id loop = grout_op__get_loop(module, id);
        barrier->has_loops |= barrier->arrivals > 0 && barrier->loop != loop;
        barrier->loop = loop;
        barrier->last_arrival = id;
        barrier->arrivals++;
    }
}

/* Which of them stands last in the source up to each of a list, among those before it of its thread
 * and loop. */
static void find_last(const grout_wording *wording, grout_sync_op_list *list) {
    for (size_t i = 1; i < list->count; i++) {
        const grout_sync_op *before = &list->items[i - 1];
        grout_sync_op *it = &list->items[i];
        if (before->thread == it->thread && before->loop == it->loop) {
            grout_origin last = {.op = before->last};
            const grout_origin own = {.op = it->op};
            grout_origin__keep(wording->module, &last, &own, 1);
            it->last = last.op;
        }
    }
}

static void sort(grout_sync_op_list *list) {
    if (list->count > 1) {
        qsort(list->items, list->count, sizeof *list->items, compare);
    }
}

static void note_findings(const grout_wording *wording, grout_sync_ops *it) {
    const grout_findings *findings = &wording->checker->memory.findings;
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *record = &findings->records[i];
        if (record->code == GROUT_DIAG_BARRIER_UNOBSERVED &&
            record->facts.subject == GROUT_SUBJECT_USUAL) {
            const uint32_t element = record->facts.element;
            it->barriers[wording->checker->info.element_objects[element]].is_unobserved = true;
        }
    }
}

/* False without memory. */
static bool make(const grout_wording *wording, grout_sync_ops *it) {
    const grout_module *module = wording->module;
    const size_t objects = (size_t)grout_module_get_object_count(module) + 1;
    it->barriers = grout__new(wording->checker->allocator, objects, sizeof *it->barriers);
    bool is_done = it->barriers != NULL;
    for (grout_op_id i = 1; is_done && i < grout_module_get_op_count(module); i++) {
        const grout_origin origin = {.op = i};
        note_arrival(wording, it, i);
        if (wording->checker->run.op_threads[i] == 0) {
            continue;
        }
        const grout_object_id object = grout_origin__find_object(module, &origin);
        if (waits_on_barrier(grout_module_get_op(module, i))) {
            is_done = add(wording, &it->waits, 0, i);
        } else if (object != 0 && grout_op__posts_one_on(module, i, object)) {
            is_done = add(wording, &it->posts, object, i);
            it->barriers[object].posters |=
                grout_op__is_remote(module, i, object) ? 0 : wording->checker->run.op_threads[i];
        }
    }
    if (is_done) {
        sort(&it->waits);
        sort(&it->posts);
        find_last(wording, &it->waits);
        note_findings(wording, it);
    }
    return is_done;
}

/* NULL without memory. */
static const grout_sync_ops *get(const grout_wording *wording) {
    grout_sync_ops *it = &wording->shared->sync_ops;
    if (!it->is_made && !wording->strings->has_failed) {
        it->is_made = make(wording, it);
        wording->strings->has_failed = !it->is_made;
    }
    return it->is_made ? it : NULL;
}

/* How many of a list come before an item. */
static size_t count_before(const grout_sync_op_list *list, const grout_sync_op *item) {
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&list->items[middle], item) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- questions ---------------------------------------------------------------------------------
 */

static bool is_ahead(const grout_wording *wording, grout_op_id op, grout_op_id of) {
    return grout_op__find_reach(wording->module, op, of).kind == GROUT_REACH_AHEAD;
}

/* The simple model: a look at each op. */
static inline grout_op_id walk_to_wait(const grout_wording *wording, const grout_origin *access) {
    const grout_module *module = wording->module;
    const grout_op_id loop = grout_op__get_loop(module, access->op);
    grout_origin found = {.op = 0};
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_origin wait = {.op = i};
        if ((wording->checker->run.op_threads[i] >> access->thread & 1) != 0 &&
            waits_on_barrier(grout_module_get_op(module, i)) &&
            grout_op__get_loop(module, i) == loop && is_ahead(wording, i, access->op)) {
            grout_origin__keep(module, &found, &wait, 1);
        }
    }
    return found.op;
}

grout_op_id grout_wording__find_wait_before(const grout_wording *wording,
                                            const grout_origin *access) {
    const grout_sync_ops *it = get(wording);
    const grout_sync_op wanted = {.thread = access->thread,
                                  .loop = grout_op__get_loop(wording->module, access->op),
                                  .op = access->op};
    grout_origin found = {.op = 0};
    for (size_t i = it == NULL ? 0 : count_before(&it->waits, &wanted); i > 0; i--) {
        const grout_sync_op *wait = &it->waits.items[i - 1];
        if (wait->thread != wanted.thread || wait->loop != wanted.loop) {
            break;
        }
        if (is_ahead(wording, wait->last, access->op)) { /* it stands after all others up to here */
            grout_origin last = {.op = wait->last};
            if (found.op != 0) {
                grout_origin__keep(wording->module, &last, &found, 1);
            }
            found = last;
            break;
        }
        if (is_ahead(wording, wait->op, access->op)) {
            grout_origin own = {.op = wait->op}; /* of two at one place the first one counts */
            if (found.op != 0) {
                grout_origin__keep(wording->module, &own, &found, 1);
            }
            found = own;
        }
    }
    GROUT_ASSERT_SLOW(it == NULL || found.op == walk_to_wait(wording, access));
    return found.op;
}

grout_op_id grout_wording__find_only_post(const grout_wording *wording, grout_object_id barrier,
                                          const grout_origin *beside) {
    const grout_sync_ops *it = get(wording);
    const grout_sync_op first = {.object = barrier,
                                 .thread = beside->thread,
                                 .loop = grout_op__get_loop(wording->module, beside->op)};
    grout_sync_op end = first;
    end.op = UINT32_MAX;
    const size_t from = it == NULL ? 0 : count_before(&it->posts, &first);
    const size_t to = it == NULL ? 0 : count_before(&it->posts, &end);
    return to - from == 1 ? it->posts.items[from].op : 0;
}

grout_barrier_ops grout_wording__get_barrier_ops(const grout_wording *wording,
                                                 grout_object_id barrier) {
    const grout_sync_ops *it = get(wording);
    return it == NULL ? (grout_barrier_ops){0} : it->barriers[barrier];
}
