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

/* ---- where one op stands, seen from another
 * --------------------------------------------------------- */

typedef enum reach {
    REACH_AHEAD,        /* the thread would still come to it */
    REACH_NEXT_ROUND,   /* in the next iteration of a loop around both */
    REACH_OTHER_BRANCH, /* in the other branch of an if */
    REACH_PASSED        /* behind, and no loop leads back */
} reach;

typedef struct reach_fact {
    reach kind;
    grout_op_id through; /* OTHER_BRANCH: the if; else the first if or for between, or 0 */
} reach_fact;

static uint32_t get_depth(const grout_module *module, grout_op_id op) {
    uint32_t depth = 0;
    for (; op; op = grout_op__get_parent(module, op)) {
        depth++;
    }
    return depth;
}

static bool is_before(const grout_module *module, grout_op_id first, grout_op_id second) {
    for (grout_op_id op = first; op; op = grout_module_get_op(module, op)->next) {
        if (op == second) {
            return true;
        }
    }
    return false;
}

/* Seen from 'stand', where is 'goal'? Both climb until they are ops of one block. */
static reach_fact find_reach(const grout_module *module, grout_op_id stand, grout_op_id goal) {
    uint32_t stand_depth = get_depth(module, stand);
    uint32_t goal_depth = get_depth(module, goal);
    reach_fact fact = {REACH_AHEAD, 0};
    while (stand_depth > goal_depth) {
        stand = grout_op__get_parent(module, stand);
        stand_depth--;
    }
    while (goal_depth > stand_depth) {
        goal = grout_op__get_parent(module, goal);
        fact.through = goal;
        goal_depth--;
    }
    while (stand != goal && grout_module_get_op(module, stand)->parent !=
                                grout_module_get_op(module, goal)->parent) {
        stand = grout_op__get_parent(module, stand);
        goal = grout_op__get_parent(module, goal);
        fact.through = goal;
    }
    if (stand == goal && grout_module_get_op(module, goal)->opcode == GROUT_OP_IF) {
        fact.kind = REACH_OTHER_BRANCH;
        fact.through = goal;
    } else if (stand == goal || !is_before(module, stand, goal)) {
        fact.kind = grout_op__get_loop(module, goal) ? REACH_NEXT_ROUND : REACH_PASSED;
    }
    return fact;
}

/* ---- sentences
 * ---------------------------------------------------------------------------------------- */

typedef struct deadlock_text {
    grout_checker *checker;
    const grout_event *event;
    bool done;
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
           thread->state == GROUT_THREAD_BLOCKED_SCOPE;
}

/* "thread 1 is blocked at line 30 before it" */
static void add_reason(deadlock_text *text, uint32_t index, grout_op_id op, grout_text *out) {
    const grout_thread_fact *thread = &text->event->u.deadlock.threads[index];
    reach_fact fact = {REACH_PASSED, 0};
    grout_text_add(out, "; thread %" PRIu32, index);
    if (thread->state == GROUT_THREAD_EXITED) {
        grout_text_add(out, " has exited");
        return;
    }
    fact = find_reach(text->checker->info.module, thread->origin.op, op);
    grout_text_add(out, " is blocked at line %" PRIu32, get_line(text, thread->origin.op));
    if (fact.kind == REACH_OTHER_BRANCH) {
        grout_text_add(out, ", in the other branch of the if at line %" PRIu32,
                       get_line(text, fact.through));
        return;
    }
    if (fact.kind == REACH_AHEAD) {
        grout_text_add(out, " before it");
    } else if (fact.kind == REACH_NEXT_ROUND) {
        grout_text_add(out, " and comes to it in the next iteration at the earliest");
    } else {
        grout_text_add(out, " behind it and does not come back to it");
    }
    if (fact.through &&
        grout_module_get_op(text->checker->info.module, fact.through)->opcode != GROUT_OP_SCOPED) {
        bool is_if =
            grout_module_get_op(text->checker->info.module, fact.through)->opcode == GROUT_OP_IF;
        grout_text_add(out, " (if the %s at line %" PRIu32 "%s)", is_if ? "if" : "for",
                       get_line(text, fact.through), is_if ? " is taken" : " runs at all");
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

static void explain_thread(deadlock_text *text, uint32_t index) {
    const grout_thread_fact *thread = &text->event->u.deadlock.threads[index];
    const grout_module *module = text->checker->info.module;
    grout_text sentence = {0};
    grout_describe_origin(module, text->checker->info.kernel, &thread->origin, &sentence);
    grout_text_add(&sentence, " ");
    if (thread->state == GROUT_THREAD_BLOCKED_SCOPE) {
        grout_text_add(&sentence, "waits at the entry of this collective scope for the others");
    } else {
        add_barrier_state(text, thread, &sentence);
    }
    say(text, grout_module_get_op(module, thread->origin.op)->loc, &sentence);
    if (thread->state == GROUT_THREAD_BLOCKED_BARRIER) {
        explain_arrivals(text, text->event->u.deadlock.barriers[thread->element].object);
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
    deadlock_text text = {checker, event, true};
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
