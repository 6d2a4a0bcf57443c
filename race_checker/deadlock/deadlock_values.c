/*
 * deadlock_values.c - a value that a loop looks for, and that never comes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deadlock.h"

static const char *get_mnemonic(const grout_deadlock *text, grout_op_id op) {
    return grout_op_get_info((grout_opcode)grout_module_get_op(text->module, op)->opcode)->text;
}

static uint32_t get_line(const grout_deadlock *text, const grout_thread_fact *thread) {
    return grout_deadlock__get_line(text, thread->origin.op);
}

/* Whether some thread has run the op, in whatever CTA. */
static bool has_run(const grout_deadlock *text, grout_op_id op) {
    return text->checker->run.op_threads[op] != 0;
}

/* Whether an op adds to what it finds. */
static bool adds(const grout_deadlock *text, grout_op_id op) {
    return grout_op_get_update(text->module, grout_module_get_op(text->module, op)) ==
           GROUT_UPDATE_ADD;
}

/* What has been written to a flag or counter: over what others have written, and by those others.
 */
typedef struct rewrite {
    grout_op_id back, lost; /* 0: there is none */
    int64_t value;          /* that 'back' writes */
    bool is_before;         /* the look of the loop */
} rewrite;

static rewrite find_rewrite(const grout_deadlock *text, const grout_need *need) {
    const grout_op_id look = need->thread->origin.op;
    rewrite it = {0, 0, 0, false};
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module); i++) {
        int64_t value = 0;
        if (i == look || !has_run(text, i) || !grout_deadlock__is_of_kernel(text, need, i)) {
            continue;
        }
        const bool is_before =
            grout_op__find_reach(text->module, i, look).kind == GROUT_REACH_AHEAD;
        const bool is_back =
            grout_deadlock__get_written(text, need->object, i, &value) &&
            (is_before || (need->thread->has_value && need->thread->value == value));
        if (is_back && it.back == 0) {
            it.back = i;
            it.value = value;
            it.is_before = is_before;
        } else if (it.lost == 0) {
            it.lost = i;
        }
    }
    return it;
}

/* A flag or counter that has been set back over what others have written. */
bool grout_deadlock__add_lost_help(const grout_deadlock *text, const grout_need *need,
                                   grout_text *out) {
    if (need->thread->state != GROUT_THREAD_BLOCKED_SPIN || need->object == 0) {
        return false;
    }
    const rewrite it = find_rewrite(text, need);
    const bool is_found = need->thread->has_value && need->thread->value == it.value;
    if (it.back == 0 || it.lost == 0 || (!is_found && !adds(text, it.lost))) {
        return false;
    }
    const grout_words words = {.op = get_mnemonic(text, it.back),
                               .line = grout_deadlock__get_line(text, it.back),
                               .number = it.value,
                               .other_line = grout_deadlock__get_line(text, it.lost),
                               .object = grout_deadlock__name_object(text, need->object)};
    grout_sentence__add(
        out, it.is_before ? GROUT_SENTENCE_STUCK_LOST_HELP : GROUT_SENTENCE_STUCK_SET_BACK_HELP,
        &words);
    return true;
}

/* What changes it has come, and is not what the loop looks for. */
bool grout_deadlock__add_spin_help(const grout_deadlock *text, const grout_need *need,
                                   grout_text *out) {
    grout_op_id bringer = 0;
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module) && bringer == 0; i++) {
        bringer = need->thread->state == GROUT_THREAD_BLOCKED_SPIN && need->object != 0 &&
                          i != need->thread->origin.op && grout_deadlock__is_bringer(text, need, i)
                      ? i
                      : 0;
    }
    if (bringer == 0) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_SPIN_HELP,
                        &(grout_words){.op = get_mnemonic(text, bringer),
                                       .line = grout_deadlock__get_line(text, bringer),
                                       .other_line = get_line(text, need->thread)});
    return true;
}
