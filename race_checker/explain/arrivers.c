/*
 * arrivers.c - which threads arrive on a barrier, held against how many arrivals a phase takes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include "grout-internal/verify.h"

#include <string.h>

enum { THREADS = 8 }; /* bits of op_threads */

/* ---- who arrives ---- */

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
    grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_COUNT_HELP,
                        &(grout_words){.actor = name_arrivers(wording, &it),
                                       .object = grout_wording__name_object(wording, object),
                                       .have = get_need(wording, object),
                                       .what = spell_count(wording, object, count_all(&it)),
                                       .line = line});
    return true;
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
