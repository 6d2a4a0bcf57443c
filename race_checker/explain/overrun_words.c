/*
 * overrun_words.c - a phase that completes before the one before it has been seen: what is missing,
 * and what to write.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

/* ---- threads that take turns ---- */

static grout_object_id get_barrier(const grout_wording *wording) {
    return wording->checker->info.element_objects[wording->facts->element];
}

/* The threads that wait on the barrier, a bit for each. */
static uint32_t find_waiters(const grout_wording *wording) {
    uint32_t threads = 0;
    for (uint32_t t = 0; t < wording->checker->shape.thread_count; t++) {
        grout_op_id wait = 0;
        threads |= grout_wording__count_waits(wording, wording->facts->element, t, &wait) > 0
                       ? 1u << t
                       : 0;
    }
    return threads;
}

/*
 * Whether several threads wait on a barrier, and one of them not for every phase: they share its
 * phases out among them, which a plain barrier cannot do.
 */
static bool take_turns(const grout_wording *wording) {
    grout_object_id object = get_barrier(wording);
    uint32_t waiters = find_waiters(wording);
    return !grout_module_get_object(wording->module, object)->is_explicit &&
           (waiters & (waiters - 1)) != 0 &&
           grout_wording__get_barrier_ops(wording, object).is_unobserved;
}

/* "thread wg=1 and thread wg=2" */
static const char *name_threads(const grout_wording *wording, uint32_t which) {
    grout_text threads = {.allocator = wording->checker->allocator};
    uint32_t count = 0, index = 0;
    for (uint32_t rest = which; rest != 0; rest &= rest - 1) {
        count++;
    }
    for (uint32_t t = 0; t < wording->checker->shape.thread_count; t++) {
        const grout_origin origin = {.cta = wording->facts->sides[1].origin.cta,
                                     .thread = (uint8_t)t};
        if (which >> t & 1) {
            grout_wording__add_name(wording, &origin, index++, count, &threads);
        }
    }
    return grout_wording__keep(wording, &threads);
}

/* "thread wg=1 and thread wg=2 wait on %full, and not each of them for every phase: .." */
static void add_turns(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(
        out, GROUT_SENTENCE_OVERRUN_TURNS_EDGE,
        &(grout_words){.actor = name_threads(wording, find_waiters(wording)),
                       .object = grout_wording__name_object(wording, get_barrier(wording))});
}

static bool has_more_in_loop(const grout_wording *wording);

/* ---- words ---- */

/* Which arrival the phase before is of, if it is another one. */
static void add_before(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const uint32_t line = grout_wording__get_line(wording, &facts->before);
    if (facts->before.op != 0 && facts->before.op != facts->sides[0].origin.op &&
        line != grout_wording__get_line(wording, &facts->sides[0].origin)) {
        grout_sentence__add(
            out, GROUT_SENTENCE_OVERRUN_BEFORE_EDGE,
            &(grout_words){.phase = facts->phase,
                           .op = grout_wording__get_mnemonic(wording, &facts->before),
                           .line = line});
    }
}

void grout_wording__add_overrun_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (!facts->sides[1].origin.op) {
        grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_NOBODY_EDGE,
                            &(grout_words){.phase = facts->phase, .later = facts->phase + 2});
    } else if (take_turns(wording) && !has_more_in_loop(wording)) {
        add_turns(wording, out);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_EDGE,
                            &(grout_words){.phase = facts->phase});
        add_before(wording, out);
    }
}

/* A wait for the parity that a fresh mbarrier has: most often meant for the first phase. */
static void repair_fresh(const grout_wording *wording, uint32_t line, grout_text *out) {
    const grout_origin *wait = &wording->facts->sides[1].origin;
    grout_text op = {.allocator = wording->checker->allocator};
    grout_op_print(wording->module, wait->op, &op);
    grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_FRESH_HELP,
                        &(grout_words){.op = grout_wording__keep(wording, &op),
                                       .line = grout_wording__get_line(wording, wait),
                                       .other_line = line});
}

/* One thread makes the arrivals of both phases. */
static void repair_own_arrivals(const grout_wording *wording, uint32_t line, grout_text *out) {
    grout_object_id object = get_barrier(wording);
    uint32_t arrivals = grout_object_get_arrivals(wording->module, object);
    const char *more = grout_wording__spell(wording, GROUT_SPELLING_MORE_ARRIVALS,
                                            &(grout_words){.number = arrivals});
    const grout_words words = {
        .actor = grout_wording__name_actor(wording, &wording->facts->sides[0].origin),
        .line = line,
        .what = more,
        .object = grout_wording__name_object(wording, object)};
    if (arrivals == 0) { /* an mbarrier's are those of its init */
        grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_OWN_INIT_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_OWN_HELP, &words);
    }
}

const char *grout_wording__get_index_words(const grout_wording *wording, grout_object_id object) {
    return grout_phrase__get(grout_module_get_object(wording->module, object)->is_explicit
                                 ? GROUT_PHRASE_OVERRUN_INDEX_AND_PARITY
                                 : GROUT_PHRASE_OVERRUN_INDEX);
}

/* Nobody waits for a phase: nothing waits on the barrier at all, or what does passes over it. */
static void repair_unwaited(const grout_wording *wording, uint32_t line, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_object_id barrier = get_barrier(wording);
    const char *object = grout_wording__name_object(wording, barrier);
    grout_origin wait = {.op = 0};
    if (grout_wording__find_waits(wording, barrier, &wait) == 0) {
        grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_NOBODY_HELP,
                            &(grout_words){.object = object, .line = line});
        return;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_OVERRUN_SKIPPED_HELP,
        &(grout_words){.actor = grout_wording__name_actor(wording, &wait),
                       .object = object,
                       .other_line = grout_wording__get_line(wording, &wait),
                       .phase = facts->phase,
                       .element = grout_wording__name_element(wording, facts->element),
                       .what = grout_wording__get_index_words(wording, barrier),
                       .line = line});
}

bool grout_wording__tells_overrun(const grout_wording *wording) {
    const grout_facts *facts = wording->facts;
    return facts->subject != GROUT_SUBJECT_USUAL || facts->sides[1].origin.op == 0 ||
           facts->phase == UINT32_MAX ||
           grout_origin__is_same_actor(&facts->sides[0].origin, &facts->sides[1].origin) ||
           take_turns(wording) || grout_wording__has_surplus(wording) ||
           grout_wording__has_more_in_turn(wording) || has_more_in_loop(wording);
}

/* The wait that the arriving thread comes to last before its arrival, on another barrier. */
static const char *name_wait_before(const grout_wording *wording) {
    const grout_origin wait = {
        .op = grout_wording__find_wait_before(wording, &wording->facts->sides[0].origin)};
    const grout_object_id object =
        wait.op == 0 ? 0 : grout_origin__find_object(wording->module, &wait);
    grout_text text = {.allocator = wording->checker->allocator};
    if (object == 0 || object == get_barrier(wording)) {
        return "";
    }
    grout_sentence__add(&text, GROUT_SENTENCE_OVERRUN_WAIT_BEFORE,
                        &(grout_words){.op = grout_wording__get_mnemonic(wording, &wait),
                                       .line = grout_wording__get_line(wording, &wait),
                                       .what = grout_wording__get_index_words(wording, object)});
    return grout_wording__keep(wording, &text);
}

static bool waits_on_barrier(const grout_sync_info *sync) {
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_WAITS &&
           (sync->object == GROUT_SYNC_OBJECT_BARRIER ||
            sync->object == GROUT_SYNC_OBJECT_MBARRIER);
}

/* Operations after an arrival among which the wait is looked for: there may be an overrun for each
 * of a long block. */
enum { LOOKED_AMID = 256 };

/* A wait that stands after the arrival, before another one of the same phase in its block, and by
 * which the thread would know that the waiting one has come past; 0: there is none. */
static grout_op_id find_wait_amid(const grout_wording *wording) {
    const grout_module *module = wording->module;
    const grout_facts *facts = wording->facts;
    const grout_object_id barrier = get_barrier(wording);
    const uint32_t waiter = facts->sides[1].origin.thread;
    grout_op_id found = 0;
    grout_op_id at = grout_module_get_op(module, facts->sides[0].origin.op)->next;
    for (int i = 0; at != 0 && i < LOOKED_AMID; i++, at = grout_module_get_op(module, at)->next) {
        const grout_op *op = grout_module_get_op(module, at);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        uint32_t operand = 0;
        if (found != 0 && grout_op__find_arrival(module, at, &operand) == barrier) {
            return found;
        }
        const grout_object_id object =
            waits_on_barrier(sync) ? grout_op__find_object(module, op, 0) : 0;
        const bool tells =
            object != 0 && object != barrier &&
            (grout_wording__get_barrier_ops(wording, object).posters >> waiter & 1) != 0;
        found = found == 0 && tells ? at : found;
    }
    return 0;
}

/* "move the mbarrier_wait at line 35 to before line 33" */
static bool repair_wait_amid(const grout_wording *wording, uint32_t line, grout_text *out) {
    const grout_origin wait = {.op = find_wait_amid(wording)};
    if (wait.op == 0) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_MOVE_HELP,
                        &(grout_words){.op = grout_wording__get_mnemonic(wording, &wait),
                                       .other_line = grout_wording__get_line(wording, &wait),
                                       .line = line});
    return true;
}

/* ---- a loop around the arrival ---- */

/* How often an arrival comes in the loop around it, by numbers, where an outer loop goes over the
 * slots; 0: not known, or its barrier is another one in each turn. */
static int64_t count_in_loop(const grout_wording *wording) {
    const grout_module *module = wording->module;
    const grout_origin *arrival = &wording->facts->sides[0].origin;
    const grout_op_id loop = grout_op__get_loop(module, arrival->op);
    uint32_t operand = 0;
    if (loop == 0 ||
        grout_op__find_arrival(module, arrival->op, &operand) != get_barrier(wording)) {
        return 0;
    }
    const grout_ring_use use = {.op = arrival->op, .operand = operand};
    const grout_operand *slot = grout_ring_use__get_slot(module, &use);
    const grout_op_id outer = grout_op__get_loop(module, loop);
    const bool is_of_each = grout_op__get_parent(module, arrival->op) == loop;
    return slot != NULL && outer != 0 && is_of_each &&
                   grout_slot__changes_in(module, slot, outer) &&
                   !grout_slot__changes_in(module, slot, loop)
               ? grout_loop__count_turns(module, loop)
               : 0;
}

/* Whether the turns of a loop make more arrivals of one phase than it takes. */
static bool has_more_in_loop(const grout_wording *wording) {
    const int64_t need = (int64_t)grout_object_get_arrivals(wording->module, get_barrier(wording));
    return need > 0 && count_in_loop(wording) > need;
}

static bool add_loop_count_repair(const grout_wording *wording, uint32_t line, grout_text *out) {
    const grout_origin *arrival = &wording->facts->sides[0].origin;
    const grout_origin loop = {.op = grout_op__get_loop(wording->module, arrival->op)};
    const grout_object_id object = get_barrier(wording);
    if (!has_more_in_loop(wording)) {
        return false;
    }
    const int64_t count = count_in_loop(wording);
    grout_sentence__add(
        out, GROUT_SENTENCE_OVERRUN_LOOP_COUNT_HELP,
        &(grout_words){.line = line,
                       .number = count,
                       .element = grout_wording__name_element(wording, wording->facts->element),
                       .op = grout_wording__get_mnemonic(wording, &loop),
                       .other_line = grout_wording__get_line(wording, &loop),
                       .have = (int64_t)grout_object_get_arrivals(wording->module, object),
                       .what = grout_wording__spell(wording, GROUT_SPELLING_ARRIVALS,
                                                    &(grout_words){.number = count}),
                       .limit = grout_object__get_count_line(wording->module, object)});
    return true;
}

/* The usual causes: the arrivals of one phase counted as several, or no way back to the arriver. */
void grout_wording__add_overrun_repair(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    uint32_t line = grout_wording__get_line(wording, &facts->sides[0].origin);
    if (facts->sides[1].origin.op && facts->phase != UINT32_MAX &&
        (grout_wording__add_turn_count_repair(wording, out) ||
         add_loop_count_repair(wording, line, out) || repair_wait_amid(wording, line, out))) {
        return;
    }
    if (!facts->sides[1].origin.op) {
        repair_unwaited(wording, line, out);
    } else if (facts->phase == UINT32_MAX) {
        repair_fresh(wording, line, out);
    } else if (take_turns(wording)) {
        grout_sentence__add(
            out, GROUT_SENTENCE_OVERRUN_TURNS_HELP,
            &(grout_words){.more = grout_wording__spell(wording, GROUT_SPELLING_TAKE_TURNS, NULL)});
    } else if (grout_wording__add_surplus_repair(wording, line, out)) {
        return;
    } else if (!grout_origin__is_same_actor(&facts->sides[0].origin, &facts->sides[1].origin)) {
        grout_sentence__add(
            out, GROUT_SENTENCE_OVERRUN_HELP,
            &(grout_words){.line = line,
                           .barrier = grout_phrase__get(grout_wording__is_explicit(wording)
                                                            ? GROUT_PHRASE_MBARRIER
                                                            : GROUT_PHRASE_BARRIER),
                           .thread = grout_wording__get_kind(&facts->sides[1].origin),
                           .more = name_wait_before(wording)});
    } else {
        repair_own_arrivals(wording, line, out);
    }
}
