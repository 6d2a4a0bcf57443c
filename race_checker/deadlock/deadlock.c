/*
 * deadlock.c - why no thread can run: each blocked thread, what it lacks, and for every op of the
 * program that could still bring it, why that op does not come.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a thread stands and where an op stands in the structured program say it: ahead of the
 * thread, passed and in a loop, in the other branch of an if, or out of reach. Threads that stand
 * at one op in one state are explained once. If blocked threads wait for each other in a circle, it
 * is named.
 */
#include "deadlock.h"

#include "alloc.h"
#include "array.h"
#include "invariant.h"
#include "phases.h"
#include "protocols.h"
#include "visits.h"

#include <string.h>

/* Threads among which one is looked for that another waits for. */
enum { LOOKED_MAX = 64 };

/* ---- what is needed ---- */

/* Kinds of accesses, a bit for each. */
enum {
    BRINGS = GROUT_ACCESSES_ARRIVE | 1u << GROUT_ACCESS_BYTES,
    CHANGES = 1u << GROUT_ACCESS_WRITE | 1u << GROUT_ACCESS_ATOMIC
};

/* Posts of objects that are no operands: named and cluster barriers, registers. */
static bool posts_on(const grout_op *op, grout_sync_object object) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == object && sync->arrival != GROUT_SYNC_ARRIVAL_NONE;
}

/* An op on named barriers whose id is known only when it runs. */
static bool has_computed_id(const grout_deadlock *text, const grout_op *op) {
    return grout_module_get_operand(text->module, op, 0)->kind != GROUT_OPERAND_EXPR;
}

/* Whether the op arrives on the named barrier, or may. */
static bool is_named_op(const grout_deadlock *text, const grout_op *op, uint32_t id) {
    if (!posts_on(op, GROUT_SYNC_OBJECT_NAMED)) {
        return false;
    }
    const grout_operand *operand = grout_module_get_operand(text->module, op, 0);
    return has_computed_id(text, op) ||
           grout_module_get_expr_value(text->module, operand->id).integer == (int64_t)id;
}

/* Whether a thread's CTA leads those whose arrivals its barriers count: it has index 0 along the
 * axes, so that its rank is the lowest. */
static bool is_leader(const grout_deadlock *text, const grout_thread_fact *thread, uint32_t axes) {
    const uint32_t rank = thread->origin.cta % text->checker->shape.cta_count;
    const uint32_t mask =
        grout_kernel_get_cluster_mask(text->module, text->checker->info.kernel, axes, rank);
    return (mask & (0u - mask)) == 1u << rank;
}

/* Whether what the op brings counts on the barrier of another CTA, which leads this one. */
static bool counts_elsewhere(const grout_deadlock *text, const grout_need *need,
                             const grout_op *op) {
    const grout_object *object =
        need->object ? grout_module_get_object(text->module, need->object) : NULL;
    uint32_t axes = 0;
    if (object != NULL && object->is_leader_tracked) {
        for (uint32_t k = 0; k < object->cluster_group_count; k++) {
            axes |= object->cluster_groups[k];
        }
    } else if (grout_module_find_attr(text->module, op, GROUT_ATTR_LEADER_TRACKED)) {
        axes = grout_op_get_axes(text->module, op, GROUT_ATTR_COLLECTIVE_AXES);
    }
    return axes != 0 && !is_leader(text, need->thread, axes);
}

bool grout_deadlock__needs(const grout_deadlock *text, const grout_need *need, grout_op_id id) {
    const grout_op *op = grout_module_get_op(text->module, id);
    if (counts_elsewhere(text, need, op)) {
        return false;
    }
    switch ((grout_thread_state)need->thread->state) {
    case GROUT_THREAD_BLOCKED_BARRIER:
    case GROUT_THREAD_BLOCKED_PARITY:
    case GROUT_THREAD_BLOCKED_SEMAPHORE:
        return need->object != 0 && grout_op__has_effect_on(text->module, op, need->object, BRINGS);
    case GROUT_THREAD_BLOCKED_SPIN:
        return need->object != 0 &&
               grout_op__has_effect_on(text->module, op, need->object, CHANGES);
    case GROUT_THREAD_BLOCKED_NAMED:
        return is_named_op(text, op, need->id);
    case GROUT_THREAD_BLOCKED_CLUSTER:
        return posts_on(op, GROUT_SYNC_OBJECT_CLUSTER);
    case GROUT_THREAD_BLOCKED_SCOPE:
    case GROUT_THREAD_BLOCKED_BLOCK:
        return id == need->thread->origin.op;
    case GROUT_THREAD_BLOCKED_REGISTERS:
        return posts_on(op, GROUT_SYNC_OBJECT_REGISTERS) &&
               grout_module_find_attr(text->module, op, GROUT_ATTR_DECREASE);
    case GROUT_THREAD_BLOCKED_JOIN:
    case GROUT_THREAD_BLOCKED_INIT:
    case GROUT_THREAD_RUNNABLE:
    case GROUT_THREAD_IDLE:
    case GROUT_THREAD_WAITING:
    case GROUT_THREAD_EXITED:
        break;
    }
    return false;
}

/* Whether the op's effects leave its CTA. */
static bool reaches_peers(const grout_deadlock *text, const grout_need *need, grout_op_id id) {
    const grout_op *op = grout_module_get_op(text->module, id);
    const grout_object *object =
        need->object ? grout_module_get_object(text->module, need->object) : NULL;
    if (need->thread->state == GROUT_THREAD_BLOCKED_CLUSTER ||
        (object && object->cluster_group_count > 0) ||
        grout_module_find_attr(text->module, op, GROUT_ATTR_COLLECTIVE_AXES) ||
        grout_module_find_attr(text->module, op, GROUT_ATTR_COLLECTIVE_AXIS) ||
        grout_module_find_attr(text->module, op, GROUT_ATTR_MULTICAST) ||
        grout_module_find_attr(text->module, op, GROUT_ATTR_FROM_CTA)) {
        return true;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        grout_view view;
        memset(&view, 0, sizeof view);
        if (grout_module_get_view(text->module, grout_module_get_operand(text->module, op, i),
                                  &view) &&
            view.cluster_index_count > 0) {
            return true;
        }
    }
    return false;
}

/* Whether the thread, or warp, has executed the op before. */
static bool has_run(const grout_deadlock *text, grout_op_id op, const grout_thread_fact *thread) {
    grout_cta_state *state = grout_checker__find_cta(text->checker, thread->origin.cta);
    const grout_visit *visit =
        state ? grout_checker__find_visit(text->checker, state,
                                          grout_checker__get_local(text->checker, &thread->origin),
                                          op)
              : NULL;
    return visit && visit->count > 0;
}

bool grout_deadlock__is_in_reach(const grout_deadlock *text, const grout_need *need, grout_op_id op,
                                 const grout_thread_fact *other) {
    uint32_t size = text->checker->shape.cta_count;
    const grout_origin *own = &need->thread->origin;
    if (other->state == GROUT_THREAD_BLOCKED_JOIN || /* its warps or partitions speak for it */
        (other->state == GROUT_THREAD_IDLE && !has_run(text, op, other))) {
        return false;
    }
    if (need->thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE) {
        return other->origin.cta == own->cta || need->object == 0 ||
               grout_module_get_object(text->module, need->object)->is_global;
    }
    if (need->thread->state == GROUT_THREAD_BLOCKED_SPIN && need->object != 0 &&
        grout_space_is_of_launch(grout_object_get_type(text->module, need->object)->space)) {
        return true;
    }
    return other->origin.cta == own->cta ||
           (other->origin.cta / size == own->cta / size && reaches_peers(text, need, op));
}

/* Whether the thread comes to the op by itself, as far as its place says. */
static bool may_serve(const grout_deadlock *text, const grout_need *need, grout_op_id op,
                      const grout_thread_fact *other) {
    grout_reach_fact fact = {GROUT_REACH_PASSED, 0};
    if (!grout_deadlock__is_in_reach(text, need, op, other) || !other->origin.op ||
        other == need->thread || !grout_thread_fact__is_blocked(other) ||
        grout_deadlock__is_at_end(text, other)) {
        return false;
    }
    fact = grout_op__find_reach(text->module, other->origin.op, op);
    return (fact.kind == GROUT_REACH_AHEAD && other->origin.op != op) ||
           fact.kind == GROUT_REACH_NEXT_ROUND;
}

/* Where one thread comes to the op by a condition, and another one of its CTA without, the other
 * one is meant. The threads of a CTA stand beside each other. */
bool grout_deadlock__serves(const grout_deadlock *text, const grout_need *need, grout_op_id op,
                            const grout_thread_fact *other) {
    const grout_thread_fact *it = other, *end = text->threads + text->thread_count;
    if (!may_serve(text, need, op, other)) {
        return false;
    }
    if (grout_deadlock__is_meant(text, other, op)) {
        return true;
    }
    while (it > text->threads && it[-1].origin.cta == other->origin.cta) {
        it--;
    }
    for (; it < end && it->origin.cta == other->origin.cta; it++) {
        if (grout_deadlock__is_meant(text, it, op) && may_serve(text, need, op, it)) {
            return false;
        }
    }
    return true;
}

/* ---- the ops that could bring it ---- */

bool grout_deadlock__waits_for(const grout_deadlock *text, const grout_thread_fact *thread,
                               const grout_thread_fact *other) {
    grout_need need = grout_deadlock__get_need(text, thread);
    uint32_t size = text->checker->shape.cta_count;
    if (thread->state == GROUT_THREAD_BLOCKED_CLUSTER) { /* everybody has to come */
        return other->state != GROUT_THREAD_BLOCKED_CLUSTER &&
               other->origin.cta / size == thread->origin.cta / size;
    }
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module); i++) {
        if (grout_deadlock__is_bringer(text, &need, i) &&
            grout_deadlock__serves(text, &need, i, other)) {
            return true;
        }
    }
    return false;
}

/* An engine's op makes no arrival on an mbarrier. */
static bool brings_bytes_only(const grout_deadlock *text, const grout_op *op,
                              grout_object_id object) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    bool is_engine = sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS;
    return !grout_op__arrives_on(text->module, op, object) ||
           (is_engine && grout_module_get_object(text->module, object)->is_explicit);
}

static void add_named_opening(const grout_deadlock *text, const grout_op *op, uint32_t id,
                              grout_text *out) {
    const grout_words words = {.op = grout_op_get_info((grout_opcode)op->opcode)->text,
                               .number = id};
    if (has_computed_id(text, op)) {
        grout_sentence__add(out, GROUT_SENTENCE_NEED_NAMED_MAYBE, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_NEED_NAMED, &words);
    }
}

/* "this barrier_arrive arrives on %go" */
static void add_opening(const grout_deadlock *text, const grout_need *need, grout_op_id id,
                        grout_text *out) {
    const grout_op *op = grout_module_get_op(text->module, id);
    const grout_words words = {
        .op = grout_op_get_info((grout_opcode)op->opcode)->text,
        .object = need->object ? grout_deadlock__name_object(text, need->object) : ""};
    if (need->thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE) {
        grout_sentence__add(out, GROUT_SENTENCE_NEED_SIGNAL, &words);
    } else if (need->thread->state == GROUT_THREAD_BLOCKED_SPIN) {
        grout_sentence__add(out, GROUT_SENTENCE_NEED_CHANGE, &words);
    } else if (need->thread->state == GROUT_THREAD_BLOCKED_REGISTERS) {
        grout_sentence__add(out, GROUT_SENTENCE_NEED_REGISTERS, &words);
    } else if (need->object && brings_bytes_only(text, op, need->object)) {
        grout_sentence__add(out, GROUT_SENTENCE_NEED_BYTES, &words);
    } else if (need->object) {
        grout_sentence__add(out, GROUT_SENTENCE_NEED_ARRIVAL, &words);
    } else if (need->thread->state == GROUT_THREAD_BLOCKED_NAMED) {
        add_named_opening(text, op, need->id, out);
    } else if (need->thread->state == GROUT_THREAD_BLOCKED_CLUSTER) {
        grout_sentence__add(out, GROUT_SENTENCE_NEED_CLUSTER, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_NEED_BLOCK, &words);
    }
}

bool grout_deadlock__is_led(const grout_deadlock *text, const grout_need *need) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module); i++) {
        const grout_op *op = grout_module_get_op(text->module, i);
        if (grout_op__is_in_kernel(text->module, i, text->checker->info.kernel) &&
            grout_op__has_effect_on(text->module, op, need->object, BRINGS) &&
            counts_elsewhere(text, need, op)) {
            return true;
        }
    }
    return false;
}

static void say_nothing_brings(grout_deadlock *text, const grout_need *need) {
    const grout_kernel *kernel = grout_module_get_kernel(text->module, text->checker->info.kernel);
    grout_text sentence = {.allocator = text->checker->allocator};
    grout_loc_id loc = kernel->loc;
    if (need->object) {
        const grout_words words = {.object = grout_deadlock__name_object(text, need->object)};
        loc = grout_module_get_object(text->module, need->object)->loc;
        if (need->thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE) {
            grout_sentence__add(&sentence, GROUT_SENTENCE_NOTHING_SIGNALS, &words);
        } else if (need->thread->state == GROUT_THREAD_BLOCKED_SPIN) {
            grout_sentence__add(&sentence, GROUT_SENTENCE_NOTHING_CHANGES, &words);
        } else if (grout_deadlock__is_led(text, need)) {
            grout_sentence__add(&sentence, GROUT_SENTENCE_NOTHING_LED, &words);
        } else {
            grout_sentence__add(&sentence, GROUT_SENTENCE_NOTHING_ARRIVES, &words);
        }
    } else if (need->thread->state == GROUT_THREAD_BLOCKED_REGISTERS) {
        grout_text op = {.allocator = text->checker->allocator};
        grout_spelling__add(&op, grout_module_get_surface(text->module),
                            GROUT_SPELLING_GIVE_REGISTERS_BACK, NULL);
        grout_sentence__add(&sentence, GROUT_SENTENCE_NOTHING_GIVES_BACK,
                            &(grout_words){.op = grout_deadlock__keep(text, &op)});
    } else {
        return;
    }
    grout_deadlock__say(text, loc, &sentence);
}

/* Whether constants name another element than the one of this index, in row-major order. */
static bool names_another(const grout_deadlock *text, const grout_view *view, uint32_t index) {
    const grout_type *type = grout_object_get_type(text->module, view->object);
    int64_t element = 0;
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        if (view->extent[dim] > 1 || view->start_term_count[dim] > 0) {
            return false;
        }
        element = element * type->dims[dim] + view->start_const[dim];
    }
    return element != (int64_t)index;
}

/* Whether the op is about another element than the awaited one: both are written as constants. */
static bool is_of_another(const grout_deadlock *text, const grout_need *need, grout_op_id id) {
    const grout_op *op = grout_module_get_op(text->module, id);
    for (uint32_t i = 0; need->has_index && i < op->operand_count; i++) {
        grout_view view;
        memset(&view, 0, sizeof view);
        if (grout_op__find_object(text->module, op, i) == need->object &&
            grout_module_get_view(text->module, grout_module_get_operand(text->module, op, i),
                                  &view)) {
            return names_another(text, &view, need->index);
        }
    }
    return false;
}

/* Whether it stands in a branch that a constant leaves out. */
static bool is_never_taken(const grout_module *module, grout_op_id id) {
    for (grout_op_id around = grout_op__get_parent(module, id); around;
         id = around, around = grout_op__get_parent(module, id)) {
        const grout_op *it = grout_module_get_op(module, around);
        if (grout_op_get_region((grout_opcode)it->opcode)->kind != GROUT_REGION_BRANCH ||
            it->operand_count == 0) {
            continue;
        }
        const grout_operand *condition = grout_module_get_operand(module, it, 0);
        bool is_first = grout_module_get_op(module, id)->parent == it->first_block;
        if (condition->kind == GROUT_OPERAND_EXPR &&
            (grout_module_get_expr_value(module, condition->id).integer != 0) != is_first) {
            return true;
        }
    }
    return false;
}

bool grout_deadlock__is_of_kernel(const grout_deadlock *text, const grout_need *need,
                                  grout_op_id op) {
    return grout_op__is_in_kernel(text->module, op, text->checker->info.kernel) &&
           grout_deadlock__needs(text, need, op);
}

/* Whether the op writes what the loop finds already. */
static bool writes_found(const grout_deadlock *text, const grout_need *need, grout_op_id op) {
    int64_t value = 0;
    return need->thread->state == GROUT_THREAD_BLOCKED_SPIN && need->thread->has_value &&
           grout_deadlock__get_written(text, need->object, op, &value) &&
           value == need->thread->value;
}

bool grout_deadlock__is_bringer(const grout_deadlock *text, const grout_need *need,
                                grout_op_id op) {
    return grout_deadlock__is_of_kernel(text, need, op) && !is_of_another(text, need, op) &&
           !is_never_taken(text->module, op) && !writes_found(text, need, op);
}

/* Whether it is the op that goes round: it looks, and would change what it finds only by that. */
static bool is_own_look(const grout_need *need, grout_op_id op) {
    return need->thread->state == GROUT_THREAD_BLOCKED_SPIN && need->thread->origin.op == op;
}

/* "this atomic_exchange writes 0, which the loop finds" */
static void say_found(grout_deadlock *text, const grout_need *need, grout_op_id id) {
    const grout_op *op = grout_module_get_op(text->module, id);
    grout_text sentence = {.allocator = text->checker->allocator};
    grout_sentence__add(&sentence, GROUT_SENTENCE_NEED_FOUND,
                        &(grout_words){.op = grout_op_get_info((grout_opcode)op->opcode)->text,
                                       .number = need->thread->value});
    if (grout_deadlock__was_run_by_ended(text, id)) {
        grout_sentence__add(&sentence, GROUT_SENTENCE_REASON_RUN_BY_ENDED, NULL);
    }
    grout_deadlock__say(text, op->loc, &sentence);
}

/* Every op that could bring what is needed, with the reason of each thread. */
static void explain_need(grout_deadlock *text, const grout_need *need) {
    bool has_any = false;
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module); i++) {
        grout_text sentence = {.allocator = text->checker->allocator};
        has_any = has_any || grout_deadlock__is_of_kernel(text, need, i);
        if (grout_deadlock__is_of_kernel(text, need, i) && writes_found(text, need, i)) {
            say_found(text, need, i);
        }
        if (is_own_look(need, i) || !grout_deadlock__is_bringer(text, need, i)) {
            continue;
        }
        add_opening(text, need, i, &sentence);
        grout_deadlock__add_reasons(text, need, i, &sentence);
        grout_deadlock__say(text, grout_module_get_op(text->module, i)->loc, &sentence);
    }
    if (!has_any) {
        say_nothing_brings(text, need);
    }
}

/* ---- threads ---- */

/* The first of the threads that stand at one op in one state speaks for all. */
static bool is_alike(const grout_thread_fact *a, const grout_thread_fact *b) {
    return a->state == b->state && a->origin.op == b->origin.op &&
           a->state != GROUT_THREAD_BLOCKED_REGISTERS;
}

/* Whether two threads that wait for one barrier, each for that of its CTA, wait for different
 * things: only that of the CTA which leads counts. */
static bool has_own_leader(const grout_deadlock *text, const grout_thread_fact *a,
                           const grout_thread_fact *b) {
    const grout_need first = grout_deadlock__get_need(text, a);
    const grout_need second = grout_deadlock__get_need(text, b);
    return first.object == 0 ||
           grout_deadlock__is_led(text, &first) == grout_deadlock__is_led(text, &second);
}

/* Blocked threads that speak for themselves, in their order; and of those, the ones that speak for
 * others, too. */
typedef struct speakers {
    GROUT_ARRAY(uint32_t) all, of_others;
} speakers;

static bool is_spoken_for(const grout_deadlock *text, const speakers *it, uint32_t index) {
    for (size_t i = 0; i < it->of_others.count; i++) {
        const grout_thread_fact *other = &text->threads[it->of_others.items[i]];
        if (is_alike(other, &text->threads[index]) &&
            has_own_leader(text, other, &text->threads[index])) {
            return true;
        }
    }
    return false;
}

static void find_speakers(grout_deadlock *text, speakers *it) {
    for (uint32_t t = 0; t < text->thread_count && text->done; t++) {
        const grout_thread_fact *thread = &text->threads[t];
        if (!grout_thread_fact__is_blocked(thread) || is_spoken_for(text, it, t)) {
            continue;
        }
        const bool is_of_others = is_alike(thread, thread);
        text->done = GROUT_ARRAY_RESERVE(&it->all, text->checker->allocator, 1) &&
                     GROUT_ARRAY_RESERVE(&it->of_others, text->checker->allocator, 1);
        if (text->done) {
            it->all.items[it->all.count++] = t;
            it->of_others.items[it->of_others.count] = t;
            it->of_others.count += is_of_others ? 1 : 0;
        }
    }
}

/* Keeps who waits for whom, for the picture. */
static void note_blocked(grout_deadlock *text, const grout_need *need) {
    grout_findings *findings = &text->checker->memory.findings;
    const grout_thread_fact *own = need->thread;
    grout_blocked it = {
        .origin = own->origin,
        .object = need->object,
        .is_on_barrier =
            own->state == GROUT_THREAD_BLOCKED_BARRIER || own->state == GROUT_THREAD_BLOCKED_PARITY,
        .element = own->element,
    };
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module) && it.bringer == 0; i++) {
        bool is_one = grout_op__is_in_kernel(text->module, i, text->checker->info.kernel) &&
                      grout_deadlock__needs(text, need, i);
        it.bringer = is_one ? i : 0;
    }
    for (uint32_t t = 0; t < text->thread_count && t < LOOKED_MAX && it.other.op == 0; t++) {
        const grout_thread_fact *other = &text->threads[t];
        bool is_one = other != need->thread && grout_thread_fact__is_blocked(other) &&
                      grout_deadlock__waits_for(text, need->thread, other);
        it.other = is_one ? other->origin : it.other;
    }
    if (findings->blocked_count < GROUT_BLOCKED_MAX) {
        findings->blocked[findings->blocked_count++] = it;
    }
}

static void explain_thread(grout_deadlock *text, uint32_t index) {
    const grout_thread_fact *thread = &text->threads[index];
    grout_need need = grout_deadlock__get_need(text, thread);
    grout_text sentence = {.allocator = text->checker->allocator};
    uint32_t more = 0;
    note_blocked(text, &need);
    grout_deadlock__add_state(text, thread, &sentence);
    for (uint32_t t = index + 1; t < text->thread_count; t++) {
        more += is_alike(thread, &text->threads[t]) ? 1 : 0;
    }
    if (more == 1) {
        grout_sentence__add(&sentence, GROUT_SENTENCE_STUCK_ONE_MORE, NULL);
    } else if (more > 0) {
        grout_sentence__add(&sentence, GROUT_SENTENCE_STUCK_MORE, &(grout_words){.number = more});
    }
    grout_deadlock__say(
        text, thread->origin.op ? grout_module_get_op(text->module, thread->origin.op)->loc : 0,
        &sentence);
    if (thread->state == GROUT_THREAD_BLOCKED_JOIN || grout_deadlock__is_at_end(text, thread) ||
        (thread->state == GROUT_THREAD_BLOCKED_REGISTERS && text->has_decreases)) {
        return;
    }
    text->has_decreases = text->has_decreases || thread->state == GROUT_THREAD_BLOCKED_REGISTERS;
    explain_need(text, &need);
}

/* The threads that stand where the root does, then the others. */
static void explain_threads(grout_deadlock *text, const grout_thread_fact *root) {
    uint32_t groups = 0, left = 0;
    speakers it = {0};
    find_speakers(text, &it);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < it.all.count; i++) {
            const uint32_t t = it.all.items[i];
            if (is_alike(&text->threads[t], root) != (pass == 0)) {
                continue;
            }
            if (groups++ < GROUT_BLOCKED_MAX) {
                explain_thread(text, t);
            } else {
                left++;
            }
        }
    }
    grout__free(it.all.items);
    grout__free(it.of_others.items);
    text->left += left;
}

static void explain_exits(grout_deadlock *text) {
    for (uint32_t t = 0; t < text->thread_count; t++) {
        const grout_thread_fact *thread = &text->threads[t];
        grout_text sentence = {.allocator = text->checker->allocator};
        if (thread->state == GROUT_THREAD_EXITED && thread->origin.op && thread->origin.warp == 0) {
            grout_sentence__add(
                &sentence, GROUT_SENTENCE_ENDED_WITHOUT,
                &(grout_words){.actor = grout_deadlock__name_thread(text, &thread->origin)});
            grout_deadlock__say(text, grout_module_get_op(text->module, thread->origin.op)->loc,
                                &sentence);
        }
    }
}

/* "CTA 40 has not begun: 32 CTAs fit, and all of them wait" */
static void explain_room(grout_deadlock *text) {
    int64_t waiting = text->event->u.deadlock.waiting_ctas;
    int64_t resident = text->event->u.deadlock.resident_ctas;
    grout_text sentence = {.allocator = text->checker->allocator};
    /* Clusters that nothing orders run one by one: none of them waits for room. */
    if (waiting <= 0 || !text->checker->info.has_foreign_order) {
        return;
    }
    const grout_words words = {
        .cta_index = text->checker->info.cta_count - waiting,
        .number = resident,
        .what = grout_phrase__get(resident == 1 ? GROUT_PHRASE_CTA_FITS : GROUT_PHRASE_CTAS_FIT)};
    if (waiting == 1) {
        grout_sentence__add(&sentence, GROUT_SENTENCE_ROOM_FOR_LAST, &words);
    } else {
        grout_sentence__add(&sentence, GROUT_SENTENCE_ROOM, &words);
    }
    grout_deadlock__say(
        text, grout_module_get_kernel(text->module, text->checker->info.kernel)->loc, &sentence);
}

/* CTAs that have ended will not change what a thread looks at. */
static void explain_ended(grout_deadlock *text) {
    const int64_t ended = grout_deadlock__count_ended(text);
    bool has_spin = false;
    grout_text sentence = {.allocator = text->checker->allocator};
    for (uint32_t t = 0; t < text->thread_count; t++) {
        has_spin = has_spin || text->threads[t].state == GROUT_THREAD_BLOCKED_SPIN;
    }
    if (!has_spin || ended <= 0) {
        return;
    }
    const grout_words words = {.have = ended, .need = text->checker->info.cta_count};
    if (ended == 1) {
        grout_sentence__add(&sentence, GROUT_SENTENCE_ONE_CTA_ENDED, &words);
    } else {
        grout_sentence__add(&sentence, GROUT_SENTENCE_CTAS_ENDED, &words);
    }
    grout_deadlock__say(
        text, grout_module_get_kernel(text->module, text->checker->info.kernel)->loc, &sentence);
}

/* ---- the finding ---- */

/* Whether a thread of the CTA has ended. */
static bool has_exit(const grout_deadlock *text, uint32_t cta) {
    for (uint32_t t = 0; t < text->thread_count; t++) {
        if (text->threads[t].origin.cta == cta && text->threads[t].origin.warp == 0 &&
            text->threads[t].state == GROUT_THREAD_EXITED) {
            return true;
        }
    }
    return false;
}

static void open_report(grout_deadlock *text, bool is_divergence, const grout_thread_fact *root) {
    grout_text sentence = {.allocator = text->checker->allocator};
    uint32_t blocked = 0;
    for (uint32_t t = 0; t < text->thread_count; t++) {
        blocked += grout_thread_fact__is_blocked(&text->threads[t]) ? 1 : 0;
    }
    if (is_divergence) {
        grout_sentence__add(&sentence, GROUT_SENTENCE_DIVERGENCE_HEAD, NULL);
    } else if (root->state == GROUT_THREAD_BLOCKED_SCOPE) {
        grout_sentence__add(&sentence, GROUT_SENTENCE_STUCK_ENTRY_HEAD,
                            &(grout_words){.number = blocked});
    } else {
        grout_deadlock__add_headline(text, root, &sentence);
    }
    grout_deadlock__say(text, 0, &sentence);
}

static void explain(grout_deadlock *text, bool is_divergence, const grout_thread_fact *root) {
    open_report(text, is_divergence, root);
    grout_deadlock__explain_circle(text);
    grout_deadlock__explain_break(text);
    explain_room(text);
    explain_ended(text);
    explain_threads(text, root);
    if (is_divergence) {
        explain_exits(text);
    }
    grout_deadlock__explain_help(text, root);
}

/* Everything has landed: phases whose arrivals are in and whose bytes are not even never complete.
 */
static bool check_bytes(grout_checker *checker, const grout_event *event) {
    for (uint32_t i = 0; i < event->u.deadlock.barrier_count; i++) {
        if (!grout_checker__check_bytes(checker, &event->u.deadlock.barriers[i])) {
            return false;
        }
    }
    return true;
}

bool grout_checker__deadlock(grout_checker *checker, const grout_event *event) {
    grout_finding_key key = {.code = GROUT_DIAG_DEADLOCK, .severity = GROUT_SEVERITY_ERROR};
    grout_strings names = {.count = 0};
    grout_deadlock text = {.checker = checker,
                           .names = &names,
                           .event = event,
                           .module = checker->info.module,
                           .threads = event->u.deadlock.threads,
                           .thread_count = event->u.deadlock.thread_count,
                           .done = true};
    const grout_thread_fact *root = grout_deadlock__find_root(&text);
    const grout_thread_fact *scope = grout_deadlock__find_lowest(&text, GROUT_THREAD_BLOCKED_SCOPE);
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    checker->run.has_deadlock = true;
    if (!root || checker->memory.findings.sentence_count) {
        return true;
    }
    text.has_ctas = text.threads[0].origin.cta != text.threads[text.thread_count - 1].origin.cta;
    if (scope && has_exit(&text, scope->origin.cta)) {
        key.code = GROUT_DIAG_COLLECTIVE_DIVERGENCE;
        root = scope;
    }
    explain(&text, key.code == GROUT_DIAG_COLLECTIVE_DIVERGENCE, root);
    text.done = text.done && grout_deadlock__report_copies(&text);
    text.done = text.done && !names.has_failed;
    grout_strings__free(&names);
    facts.sides[0].origin = root->origin;
    facts.side_count = 1;
    key.primary = grout_origin__get_loc(checker->info.module, &root->origin);
    if (!key.primary) {
        key.primary = grout_module_get_kernel(checker->info.module, checker->info.kernel)->loc;
    }
    if (!text.done) {
        return grout_checker__fail(checker);
    }
    return grout_checker__find(checker, &key, &facts) && check_bytes(checker, event) &&
           grout_checker__observe_blocked(checker, event) && grout_checker__settle_all(checker);
}
