/*
 * deadlock.c - why no thread can run: each blocked thread, what it lacks, and for every op of the
 * program that could still bring it, why that op does not come.
 *
 * Where a thread stands and where an op stands in the structured program say it: ahead of the
 * thread, behind it in a loop, in the other branch of an if, or out of reach.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checker.h"
#include "statement.h"

#include <inttypes.h>
#include <string.h>

/* ---- sentences
 * ---------------------------------------------------------------------------------------- */

typedef struct deadlock_text {
    grout_checker *checker;
    const grout_event *event;
    bool done;
    bool has_decreases; /* what could give registers back has been said */
} deadlock_text;

static void say(deadlock_text *text, grout_loc_id loc, grout_text *sentence) {
    bool added = !sentence->failed && sentence->data &&
                 grout_findings__add_sentence(&text->checker->findings, loc, sentence->data);
    text->done = text->done && added;
    grout_text_free(sentence);
    memset(sentence, 0, sizeof *sentence);
}

static uint32_t get_line(const deadlock_text *text, grout_op_id op) {
    const grout_module *module = text->checker->info.module;
    return grout_module_get_place(module, grout_module_get_op(module, op)->loc).line;
}

static const char *get_name(const deadlock_text *text, grout_object_id object) {
    const grout_module *module = text->checker->info.module;
    const grout_object *it = grout_module_get_object(module, object);
    return grout_module_get_string(module, grout_module_get_value(module, it->value)->name);
}

static bool is_blocked(const grout_thread_fact *thread) {
    return thread->state == GROUT_THREAD_BLOCKED_BARRIER ||
           thread->state == GROUT_THREAD_BLOCKED_SCOPE ||
           thread->state == GROUT_THREAD_BLOCKED_REGISTERS;
}

/* "thread 1 is blocked at line 30 before it" */
static void add_reason(deadlock_text *text, uint32_t index, grout_op_id op, grout_text *out) {
    const grout_thread_fact *thread = &text->event->u.deadlock.threads[index];
    const grout_module *module = text->checker->info.module;
    grout_reach_fact fact = {GROUT_REACH_PASSED, 0};
    grout_opcode through = GROUT_OP_NONE;
    grout_text_add(out, "; thread %" PRIu32, index);
    if (thread->state == GROUT_THREAD_EXITED) {
        grout_text_add(out, " has exited");
        return;
    }
    fact = grout_op__find_reach(module, thread->origin.op, op);
    grout_text_add(out, " is blocked at line %" PRIu32, get_line(text, thread->origin.op));
    if (fact.kind == GROUT_REACH_OTHER_BRANCH) {
        grout_text_add(out, ", in the other branch of the if at line %" PRIu32,
                       get_line(text, fact.through));
        return;
    }
    if (fact.kind == GROUT_REACH_AHEAD) {
        grout_text_add(out, " before it");
    } else if (fact.kind == GROUT_REACH_NEXT_ROUND) {
        grout_text_add(out, " and comes to it in the next iteration at the earliest");
    } else {
        grout_text_add(out, " behind it and does not come back to it");
    }
    if (fact.through) {
        through = (grout_opcode)grout_module_get_op(module, fact.through)->opcode;
    }
    if (through != GROUT_OP_NONE && through != GROUT_OP_SCOPED) {
        grout_text_add(out, " (if the %s at line %" PRIu32 "%s)", grout_op_get_info(through)->text,
                       get_line(text, fact.through),
                       through == GROUT_OP_IF ? " is taken" : " runs at all");
    }
}

/* Its effects say which operand that would be. */
bool grout_op__arrives_on(const grout_module *module, const grout_op *op, grout_object_id object) {
    uint32_t count = 0;
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        grout_view view;
        memset(&view, 0, sizeof view);
        if (effects[i].access == GROUT_ACCESS_ARRIVE && effects[i].operand < op->operand_count &&
            grout_module_get_view(module, grout_module_get_operand(module, op, effects[i].operand),
                                  &view) &&
            view.object == object) {
            return true;
        }
    }
    return false;
}

/* Every op that could bring what the barrier lacks. */
static void explain_arrivals(deadlock_text *text, grout_object_id object) {
    const grout_module *module = text->checker->info.module;
    grout_text sentence = {0};
    bool has_any = false;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (grout_module_get_block(module, op->parent)->kernel != text->checker->info.kernel ||
            !grout_op__arrives_on(module, op, object)) {
            continue;
        }
        has_any = true;
        grout_text_add(&sentence, "this %s arrives on %%%s",
                       grout_op_get_info((grout_opcode)op->opcode)->text, get_name(text, object));
        for (uint32_t t = 0; t < text->event->u.deadlock.thread_count; t++) {
            add_reason(text, t, i, &sentence);
        }
        say(text, op->loc, &sentence);
    }
    if (!has_any) {
        grout_text_add(&sentence, "no operation of the kernel arrives on %%%s",
                       get_name(text, object));
        say(text, grout_module_get_object(module, object)->loc, &sentence);
    }
}

static void add_barrier_state(deadlock_text *text, const grout_thread_fact *thread,
                              grout_text *out) {
    const grout_barrier_fact *barrier = &text->event->u.deadlock.barriers[thread->element];
    uint64_t before = (uint64_t)thread->phase * barrier->arrivals;
    uint64_t had = barrier->arrived > before ? barrier->arrived - before : 0;
    had = had < barrier->arrivals ? had : barrier->arrivals;
    grout_text_add(out,
                   "waits for phase %" PRIu32 " of %%%s[%" PRIu32 "], which has %" PRIu64
                   " of %" PRIu32 " arrival%s",
                   thread->phase, get_name(text, barrier->object), barrier->index, had,
                   barrier->arrivals, barrier->arrivals == 1 ? "" : "s");
    if (barrier->bytes_due) {
        grout_text_add(out, " and %" PRId64 " bytes due", barrier->bytes_due);
    }
    if (had && barrier->has_contribution) {
        grout_text_add(out, "; the last came from thread %u at line %" PRIu32,
                       (unsigned)barrier->last_contribution.thread,
                       get_line(text, barrier->last_contribution.op));
    }
}

/* ---- registers --------------------------------------------------------------------------------
 */

/* "asks for 232 registers a lane and has 168, and the CTA's pool has 0 of the 64 it lacks" */
static void add_register_state(deadlock_text *text, uint32_t index, grout_text *out) {
    const grout_thread_fact *threads = text->event->u.deadlock.threads;
    const grout_thread_fact *own = &threads[index];
    grout_text_add(out,
                   "asks for %" PRIu32 " registers a lane and has %" PRIu32
                   ", and the CTA's pool has %" PRIu32 " of the %" PRIu32 " it lacks",
                   own->registers, own->registers_held, own->registers_free,
                   own->registers - own->registers_held);
    for (uint32_t t = 0; t < text->event->u.deadlock.thread_count; t++) {
        if (t != index) {
            grout_text_add(out, "; thread %" PRIu32 " holds %" PRIu32, t,
                           threads[t].registers_held);
        }
    }
}

/* Every op that gives registers back. */
static void explain_decreases(deadlock_text *text) {
    const grout_module *module = text->checker->info.module;
    const grout_kernel *kernel = grout_module_get_kernel(module, text->checker->info.kernel);
    grout_text sentence = {0};
    bool has_any = false;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (grout_module_get_block(module, op->parent)->kernel != text->checker->info.kernel ||
            op->opcode != GROUT_OP_SET_MAX_REGISTERS ||
            !grout_module_find_attr(module, op, GROUT_ATTR_DECREASE)) {
            continue;
        }
        has_any = true;
        grout_text_add(&sentence, "this set_max_registers gives registers back");
        for (uint32_t t = 0; t < text->event->u.deadlock.thread_count; t++) {
            add_reason(text, t, i, &sentence);
        }
        say(text, op->loc, &sentence);
    }
    if (!has_any) {
        grout_text_add(&sentence, "no operation of the kernel gives registers back: a thread that "
                                  "needs few has to execute set_max_registers n decrease");
        say(text, kernel->loc, &sentence);
    }
}

/* ---- threads -----------------------------------------------------------------------------------
 */

static void explain_thread(deadlock_text *text, uint32_t index) {
    const grout_thread_fact *thread = &text->event->u.deadlock.threads[index];
    const grout_module *module = text->checker->info.module;
    grout_text sentence = {0};
    grout_describe_origin(module, text->checker->info.kernel, &thread->origin, &sentence);
    grout_text_add(&sentence, " ");
    if (thread->state == GROUT_THREAD_BLOCKED_SCOPE) {
        grout_text_add(&sentence, "waits at the entry of this collective scope for the others");
    } else if (thread->state == GROUT_THREAD_BLOCKED_REGISTERS) {
        add_register_state(text, index, &sentence);
    } else {
        add_barrier_state(text, thread, &sentence);
    }
    say(text, grout_module_get_op(module, thread->origin.op)->loc, &sentence);
    if (thread->state == GROUT_THREAD_BLOCKED_BARRIER) {
        explain_arrivals(text, text->event->u.deadlock.barriers[thread->element].object);
    } else if (thread->state == GROUT_THREAD_BLOCKED_REGISTERS && !text->has_decreases) {
        text->has_decreases = true;
        explain_decreases(text);
    }
}

static void explain_exits(deadlock_text *text) {
    const grout_module *module = text->checker->info.module;
    for (uint32_t t = 0; t < text->event->u.deadlock.thread_count; t++) {
        const grout_thread_fact *thread = &text->event->u.deadlock.threads[t];
        grout_text sentence = {0};
        if (thread->state == GROUT_THREAD_EXITED && thread->origin.op) {
            grout_text_add(&sentence, "thread %" PRIu32 " ended without it: its last operation", t);
            say(text, grout_module_get_op(module, thread->origin.op)->loc, &sentence);
        }
    }
}

/* ---- the finding
 * ----------------------------------------------------------------------------------------- */

static void open_report(deadlock_text *text, bool is_divergence, const grout_thread_fact *lowest) {
    grout_text sentence = {0};
    uint32_t blocked = 0;
    for (uint32_t t = 0; t < text->event->u.deadlock.thread_count; t++) {
        blocked += is_blocked(&text->event->u.deadlock.threads[t]) ? 1 : 0;
    }
    if (is_divergence) {
        grout_text_add(&sentence,
                       "this collective scope is entered by some threads of the CTA, and "
                       "others have ended without it");
    } else if (lowest->state == GROUT_THREAD_BLOCKED_SCOPE) {
        grout_text_add(&sentence,
                       "no thread can run: %" PRIu32
                       " threads are blocked, the lowest at this scope's entry",
                       blocked);
    } else if (lowest->state == GROUT_THREAD_BLOCKED_REGISTERS) {
        grout_text_add(&sentence,
                       "no thread can run: the registers that this set_max_registers waits for are "
                       "never given back");
    } else {
        const grout_barrier_fact *barrier = &text->event->u.deadlock.barriers[lowest->element];
        grout_text_add(&sentence,
                       "no thread can run: phase %" PRIu32 " of %%%s[%" PRIu32 "] never completes",
                       lowest->phase, get_name(text, barrier->object), barrier->index);
    }
    say(text, 0, &sentence);
}

bool grout_checker__deadlock(grout_checker *checker, const grout_event *event) {
    const grout_thread_fact *lowest = NULL, *lowest_scope = NULL;
    grout_finding_key key = {.code = GROUT_DIAG_DEADLOCK, .severity = GROUT_SEVERITY_ERROR};
    deadlock_text text = {.checker = checker, .event = event, .done = true};
    bool has_exit = false;
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    checker->has_deadlock = true;
    for (uint32_t t = event->u.deadlock.thread_count; t-- > 0;) {
        const grout_thread_fact *thread = &event->u.deadlock.threads[t];
        lowest = is_blocked(thread) ? thread : lowest;
        lowest_scope = thread->state == GROUT_THREAD_BLOCKED_SCOPE ? thread : lowest_scope;
        has_exit = has_exit || thread->state == GROUT_THREAD_EXITED;
    }
    if (!lowest || checker->findings.sentence_count) {
        return true;
    }
    if (lowest_scope && has_exit) {
        key.code = GROUT_DIAG_COLLECTIVE_DIVERGENCE;
        lowest = lowest_scope;
    }
    open_report(&text, key.code == GROUT_DIAG_COLLECTIVE_DIVERGENCE, lowest);
    for (uint32_t t = 0; t < event->u.deadlock.thread_count; t++) {
        if (is_blocked(&event->u.deadlock.threads[t])) {
            explain_thread(&text, t);
        }
    }
    if (key.code == GROUT_DIAG_COLLECTIVE_DIVERGENCE) {
        explain_exits(&text);
    }
    facts.sides[0].origin = lowest->origin;
    facts.side_count = 1;
    key.primary = grout_origin__get_loc(checker->info.module, &lowest->origin);
    if (!text.done) {
        return grout_checker__fail(checker);
    }
    return grout_checker__find(checker, &key, &facts) && grout_checker__settle_all(checker);
}
