/*
 * arrivers.c - the operations of the kernel on barriers, by thread, loop and barrier: which threads
 * arrive, held against how many arrivals a phase takes, and what they wait for.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include "grout-internal/verify.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 8 }; /* bits of op_threads */

/* ---- one op ---- */

bool grout_op__posts_one_on(const grout_module *module, grout_op_id id, grout_object_id object) {
    const grout_origin origin = {.op = id};
    const grout_op *op = grout_module_get_op(module, id);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL &&
           (sync->object == GROUT_SYNC_OBJECT_BARRIER ||
            sync->object == GROUT_SYNC_OBJECT_MBARRIER) &&
           sync->mode == GROUT_SYNC_MODE_POSTS &&
           grout_module_find_attr(module, op, GROUT_ATTR_ARRIVE_COUNT) == NULL &&
           grout_origin__find_object(module, &origin) == object;
}

grout_object_id grout_op__find_arrival(const grout_module *module, grout_op_id id,
                                       uint32_t *operand_out) {
    const grout_op *op = grout_module_get_op(module, id);
    uint32_t count = 0;
    const grout_effect *effects = grout_effect_row_get_effects(
        (grout_effect_row)grout_op_get_info((grout_opcode)op->opcode)->effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (effects[i].access == GROUT_ACCESS_ARRIVE) {
            *operand_out = effects[i].operand;
            return grout_op__find_object(module, op, effects[i].operand);
        }
    }
    return 0;
}

bool grout_op__is_remote(const grout_module *module, grout_op_id id, grout_object_id object) {
    const grout_op *op = grout_module_get_op(module, id);
    bool is_abroad = grout_module_get_object(module, object)->cluster_group_count > 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        grout_view view = {.rank = 0};
        is_abroad |=
            grout_module_get_view(module, grout_module_get_operand(module, op, i), &view) &&
            view.cluster_index_count > 0;
    }
    return is_abroad;
}

void grout_sync_ops__deinit(grout_sync_ops *sync_ops) {
    grout__free(sync_ops->waits.items);
    grout__free(sync_ops->posts.items);
    grout__free(sync_ops->barriers);
}

/* ---- ops by thread, loop and barrier ---- */

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

static void note_waits(const grout_wording *wording, grout_sync_ops *it) {
    for (size_t i = 0; i < it->waits.count; i++) {
        const grout_sync_op *wait = &it->waits.items[i];
        const grout_origin origin = {.op = wait->op};
        grout_barrier_ops *barrier =
            &it->barriers[grout_origin__find_object(wording->module, &origin)];
        if (barrier->waits++ == 0) {
            barrier->first_wait = wait->op;
            barrier->first_waiter = wait->thread;
        }
    }
}

static void note_findings(const grout_wording *wording, grout_sync_ops *it) {
    const grout_findings *findings = &wording->checker->memory.findings;
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *record = &findings->records[i];
        const bool is_overrun = record->code == GROUT_DIAG_BARRIER_OVERRUN && !record->is_replaced;
        if (record->facts.subject != GROUT_SUBJECT_USUAL ||
            (!is_overrun && record->code != GROUT_DIAG_BARRIER_UNOBSERVED)) {
            continue;
        }
        const uint32_t element = record->facts.element;
        grout_barrier_ops *barrier = &it->barriers[wording->checker->info.element_objects[element]];
        barrier->is_unobserved |= record->code == GROUT_DIAG_BARRIER_UNOBSERVED;
        if (is_overrun && barrier->overrun == NULL) {
            barrier->overrun = record;
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
        note_waits(wording, it);
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

const grout_record *grout_wording__find_overrun(const grout_wording *wording,
                                                grout_object_id object) {
    const grout_sync_ops *it = get(wording);
    return it == NULL ? NULL : it->barriers[object].overrun;
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

/* ---- what findings ask about them ---- */

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

uint32_t grout_wording__find_waits(const grout_wording *wording, grout_object_id barrier,
                                   grout_origin *first_out) {
    const grout_barrier_ops ops = grout_wording__get_barrier_ops(wording, barrier);
    if (ops.waits > 0) {
        *first_out = (grout_origin){.op = ops.first_wait,
                                    .thread = (uint8_t)ops.first_waiter,
                                    .cta = wording->facts->sides[0].origin.cta};
    }
    return ops.waits;
}

/* ---- who arrives ---- */

/* The threads that arrive, a bit for each, by the rank of their CTA in the cluster. */
typedef struct arrival_set {
    uint8_t threads[GROUT_CLUSTER_MAX];
} arrival_set;

static uint32_t count_all(const arrival_set *it) {
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < GROUT_CLUSTER_MAX; rank++) {
        count += (uint32_t)__builtin_popcount(it->threads[rank]);
    }
    return count;
}

/* Those of the element that the finding has, and of a plain barrier the threads of its own CTA. */
static arrival_set find_arrivers(const grout_wording *wording, grout_object_id object) {
    const grout_checker *checker = wording->checker;
    const bool is_plain = !grout_module_get_object(wording->module, object)->is_explicit;
    const uint32_t owner = wording->facts->sides[1].origin.cta % checker->shape.cta_count;
    arrival_set it;
    memcpy(it.threads, wording->facts->arrivers, sizeof it.threads);
    if (is_plain) {
        it.threads[owner] |= grout_wording__get_barrier_ops(wording, object).posters;
    }
    return it;
}

void grout_wording__add_name(const grout_wording *wording, const grout_origin *origin,
                             uint32_t index, uint32_t count, grout_text *out) {
    const bool has_cta = wording->checker->shape.cta_count > 1;
    const bool is_last = has_cta || index + 1 == count; /* a name with its CTA has commas */
    const char *between = is_last ? grout_phrase__get(GROUT_PHRASE_AND) : ", ";
    grout_text_add(out, "%s", index > 0 ? between : "");
    if (has_cta) {
        grout_describe_actor(wording->module, wording->checker->info.kernel, origin, out);
    } else {
        grout_wording__add_actor(wording, origin, out);
    }
}

static const char *name_arrivers(const grout_wording *wording, const arrival_set *it) {
    enum { NAMED_MAX = 6 };
    const uint32_t size = wording->checker->shape.cta_count;
    const uint32_t first = wording->facts->sides[1].origin.cta / size * size;
    const uint32_t count = count_all(it);
    grout_text text = {.allocator = wording->checker->allocator};
    uint32_t named = 0;
    for (uint32_t i = 0; i < size * THREADS && named < NAMED_MAX; i++) {
        const grout_origin origin = {.cta = first + i / THREADS, .thread = (uint8_t)(i % THREADS)};
        if ((it->threads[i / THREADS] >> i % THREADS & 1) != 0) {
            grout_wording__add_name(wording, &origin, named++, count, &text);
        }
    }
    if (named < count) {
        grout_sentence__add(&text, GROUT_SENTENCE_OVERRUN_MORE_ACTORS,
                            &(grout_words){.number = count - named});
    }
    return grout_wording__keep(wording, &text);
}

/* ---- arrivals of a barrier ---- */

static grout_object_id get_object(const grout_wording *wording) {
    return wording->checker->info.element_objects[wording->facts->element];
}

/* The arrivals that a phase takes; 0: not known. */
static int64_t get_need(const grout_wording *wording, grout_object_id object) {
    const grout_object *it = grout_module_get_object(wording->module, object);
    return it->is_explicit || it->cluster_group_count > 0
               ? wording->facts->need
               : (int64_t)grout_object_get_arrivals(wording->module, object);
}

bool grout_wording__has_surplus(const grout_wording *wording) {
    const grout_object_id object = get_object(wording);
    const int64_t need = get_need(wording, object);
    const arrival_set it = find_arrivers(wording, object);
    return need > 0 && count_all(&it) > need;
}

/* "'arrivals(2)'", "'mbarrier_init %full[0], 2'" */
static const char *spell_count(const grout_wording *wording, grout_object_id object,
                               uint32_t count) {
    const grout_op_id init = grout_object__find_init(wording->module, object);
    grout_text text = {.allocator = wording->checker->allocator};
    if (init == 0) {
        return grout_wording__spell(wording, GROUT_SPELLING_ARRIVALS,
                                    &(grout_words){.number = count});
    }
    const grout_op *op = grout_module_get_op(wording->module, init);
    grout_text_add(&text, "'%s ", grout_op_get_info((grout_opcode)op->opcode)->text);
    grout_operand_print(wording->module, init, 0, &text);
    grout_text_add(&text, ", %u'", count);
    return grout_wording__keep(wording, &text);
}

bool grout_wording__add_surplus_repair(const grout_wording *wording, uint32_t line,
                                       grout_text *out) {
    if (!grout_wording__has_surplus(wording)) {
        return false;
    }
    const grout_object_id object = get_object(wording);
    const arrival_set it = find_arrivers(wording, object);
    grout_sentence__add(
        out, GROUT_SENTENCE_OVERRUN_COUNT_HELP,
        &(grout_words){.actor = name_arrivers(wording, &it),
                       .object = grout_wording__name_object(wording, object),
                       .have = get_need(wording, object),
                       .what = spell_count(wording, object, count_all(&it)),
                       .other_line = grout_object__get_count_line(wording->module, object),
                       .line = line});
    return true;
}

/* ---- arrivals in a turn of a loop ---- */

/* The operand by which an op arrives on the object, as it is written; "" if it does not. An
 * engine's op makes no arrival on an mbarrier. */
static const char *spell_arrival(const grout_wording *wording, grout_op_id id,
                                 grout_object_id object) {
    const grout_op *op = grout_module_get_op(wording->module, id);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const bool is_explicit = grout_module_get_object(wording->module, object)->is_explicit;
    grout_text text = {.allocator = wording->checker->allocator};
    uint32_t operand = 0;
    if (sync == NULL || grout_op__find_arrival(wording->module, id, &operand) != object ||
        (is_explicit && sync->mode != GROUT_SYNC_MODE_POSTS) ||
        grout_module_find_attr(wording->module, op, GROUT_ATTR_ARRIVE_COUNT) != NULL ||
        grout_op__is_remote(wording->module, id, object)) {
        return "";
    }
    grout_operand_print(wording->module, id, operand, &text);
    return grout_wording__keep(wording, &text);
}

static bool is_of_turn(const grout_turn_count *it, const grout_turn_count *wanted) {
    return it->block == wanted->block && it->object == wanted->object &&
           it->thread == wanted->thread && strcmp(it->operand, wanted->operand) == 0;
}

/* The arrivals like that of the finding in a turn of its loop. */
static grout_turn_count count_in_turn(const grout_wording *wording) {
    const grout_module *module = wording->module;
    const grout_origin *arrival = &wording->facts->sides[0].origin;
    const grout_object_id object = get_object(wording);
    grout_turn_count it = {.block = grout_module_get_op(module, arrival->op)->parent,
                           .object = object,
                           .thread = arrival->thread,
                           .operand = spell_arrival(wording, arrival->op, object)};
    grout_turn_count *last = &wording->shared->sync_ops.turn;
    if (it.operand[0] == '\0' || grout_op__get_loop(module, arrival->op) == 0) {
        return it;
    }
    if (last->block != 0 && is_of_turn(last, &it)) {
        return *last;
    }
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_origin origin = {.op = i};
        if ((wording->checker->run.op_threads[i] >> arrival->thread & 1) != 0 &&
            grout_module_get_op(module, i)->parent == it.block &&
            strcmp(spell_arrival(wording, i, object), it.operand) == 0) {
            it.last_line = grout_wording__get_line(wording, &origin);
            it.first_line = it.count++ == 0 ? it.last_line : it.first_line;
        }
    }
    *last = it;
    return it;
}

bool grout_wording__has_more_in_turn(const grout_wording *wording) {
    const int64_t need = get_need(wording, get_object(wording));
    return need > 0 && count_in_turn(wording).count > need;
}

bool grout_wording__add_turn_count_repair(const grout_wording *wording, grout_text *out) {
    if (!grout_wording__has_more_in_turn(wording)) {
        return false;
    }
    const grout_object_id object = get_object(wording);
    const grout_turn_count it = count_in_turn(wording);
    grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_TURN_COUNT_HELP,
                        &(grout_words){.actor = grout_wording__name_actor(
                                           wording, &wording->facts->sides[0].origin),
                                       .number = it.count,
                                       .object = grout_wording__name_object(wording, object),
                                       .line = it.first_line,
                                       .other_line = it.last_line,
                                       .have = get_need(wording, object),
                                       .what = spell_count(wording, object, it.count)});
    return true;
}

/* ---- loads that nobody waits for ---- */

void grout_wording__add_load_at_exit_repair(const grout_wording *wording, grout_text *out) {
    const grout_origin *copy = &wording->facts->sides[0].origin;
    uint32_t operand = 0;
    const grout_object_id object = grout_op__find_arrival(wording->module, copy->op, &operand);
    grout_origin wait = {.op = 0};
    const char *scope = grout_wording__get_scope(wording);
    const char *by = grout_wording__name_by(wording, copy);
    if (object == 0 || grout_wording__find_waits(wording, object, &wait) == 0) {
        grout_sentence__add(out, GROUT_SENTENCE_EXIT_LOAD_HELP,
                            &(grout_words){.scope = scope, .by = by});
        return;
    }
    if (grout_wording__add_surplus_load_repair(wording, object, &wait, out)) {
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_EXIT_LOAD_LESS_HELP,
                        &(grout_words){.actor = grout_wording__name_actor(wording, &wait),
                                       .object = grout_wording__name_object(wording, object),
                                       .line = grout_wording__get_line(wording, &wait),
                                       .what = grout_wording__get_index_words(wording, object),
                                       .scope = scope,
                                       .by = by});
}

/* ---- lanes of a named barrier ---- */

/* Whether the op is on the named barrier of the finding, by a number that stands there. */
static bool is_on_named(const grout_wording *wording, grout_op_id id) {
    const grout_op *op = grout_module_get_op(wording->module, id);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync == NULL || sync->object != GROUT_SYNC_OBJECT_NAMED) {
        return false;
    }
    const grout_operand *operand = grout_module_get_operand(wording->module, op, 0);
    return operand->kind == GROUT_OPERAND_EXPR &&
           grout_module_get_expr_value(wording->module, operand->id).integer ==
               (int64_t)wording->facts->element;
}

static uint32_t count_lanes(const grout_wording *wording, uint8_t threads) {
    uint32_t lanes = 0;
    for (uint32_t t = 0; t < wording->checker->shape.thread_count; t++) {
        lanes += (threads >> t & 1) != 0
                     ? 32 * grout_kernel_get_thread_warps(wording->module,
                                                          wording->checker->info.kernel, t)
                     : 0;
    }
    return lanes;
}

bool grout_wording__add_lanes_repair(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    uint8_t threads = 0;
    for (grout_op_id i = 1; i < grout_module_get_op_count(wording->module); i++) {
        threads |= is_on_named(wording, i) ? wording->checker->run.op_threads[i] : 0;
    }
    const uint32_t lanes = count_lanes(wording, threads);
    if (facts->sides[0].origin.warp != 0 || lanes <= facts->have) {
        return false;
    }
    grout_text names = {.allocator = wording->checker->allocator};
    for (uint32_t t = 0, count = 0; t < wording->checker->shape.thread_count; t++) {
        const grout_origin origin = {.cta = facts->sides[0].origin.cta, .thread = (uint8_t)t};
        if ((threads >> t & 1) != 0) {
            grout_wording__add_name(wording, &origin, count++,
                                    (uint32_t)__builtin_popcount(threads), &names);
        }
    }
    grout_sentence__add(out, GROUT_SENTENCE_NAMED_SURPLUS_HELP,
                        &(grout_words){.actor = grout_wording__keep(wording, &names),
                                       .number = facts->element,
                                       .need = lanes,
                                       .have = facts->have});
    return true;
}
