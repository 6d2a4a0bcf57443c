/*
 * well_synchronised.c - whether the verdict holds for every schedule.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In a run without a finding of the ordering or barrier kind every conflict and every pair of
 * phases is in order by happens-before, and each contribution knows its phase. If besides every
 * semaphore wait can be served in one way only, and no value that depends on the schedule decides
 * anything, every schedule has the same graph, and what was found is what any of them finds.
 *
 * A test of a barrier is such a value, and more: whether it has waited decides what its thread
 * knows and which phase its next wait means. So is an atomic that acquires: whose release it meets
 * is chance.
 *
 * Registers are taken in the order of arrival. Whether a thread that asks for them gets them, or
 * blocks for ever, depends on which thread asked before, unless no decrease happens after an
 * increase (registers.c).
 */
#include "explain.h"
#include "flow.h"
#include "sentences.h"
#include "statement.h"
#include "taint.h"

#include "grout-internal/sinks.h"

#include "invariant.h"

#include <string.h>

/* A phase that nobody had to see: the arrive in the next one comes after it all the same. And where
 * a fence stands on the way is no question of order. */
static bool is_order(const grout_record *record) {
    if (record->facts.subject == GROUT_SUBJECT_GONE_ON ||
        record->facts.near.kind == GROUT_NEAR_COMMIT_OF_OTHERS) {
        return false;
    }
    const grout_finding_info *info = grout_finding_get_info(record->code);
    return info != NULL && info->doubt == GROUT_DOUBT_ORDER;
}

/* ---- semaphores, tests and values ---- */

static uint32_t get_line(const grout_checker *checker, grout_op_id op) {
    const grout_module *module = checker->info.module;
    return grout_module_get_place(module, grout_module_get_op(module, op)->loc).line;
}

/* A false test publishes no event, so any test in the kernel's text counts. */
static grout_op_id find_test(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        bool is_test = sync != NULL && sync->mode == GROUT_SYNC_MODE_TESTS &&
                       (sync->side & GROUT_SYNC_SIDE_ACQUIRE) != 0;
        if (is_test && grout_op__is_in_kernel(module, i, checker->info.kernel)) {
            return i;
        }
    }
    return 0;
}

/* An op that has taken clusters off the launch: which depends on how far others are. */
static grout_op_id find_request(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (checker->run.op_threads[i] &&
            grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_CANCEL) {
            return i;
        }
    }
    return 0;
}

/* An atomic that orders, and has run: an access that says order(..). */
static grout_op_id find_ordered_atomic(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        bool is_access = grout_op_get_sync((grout_opcode)op->opcode) == NULL;
        grout_choice order = grout_op_get_choice(module, op, GROUT_ATTR_ORDER);
        if (is_access && checker->run.op_threads[i] && order != GROUT_CHOICE_NONE &&
            order != GROUT_CHOICE_ORDER_RELAXED) {
            return i;
        }
    }
    return 0;
}

/* The sentence, in the one place where the doubt of a run is kept. */
static const char *keep_doubt(const grout_checker *checker, grout_text *words) {
    char *doubt = checker->cache->doubt;
    bool fits = !words->failed && words->size < sizeof checker->cache->doubt;
    GROUT_ASSERT(words->failed || fits); /* a mnemonic and two lines: never so long */
    if (fits) {
        memcpy(doubt, words->data, words->size + 1);
    }
    grout_text_free(words);
    return fits ? doubt : grout_phrase__get(GROUT_PHRASE_DOUBT_MEMORY);
}

static const char *get_mnemonic(const grout_checker *checker, grout_op_id op) {
    const grout_op *it = grout_module_get_op(checker->info.module, op);
    return grout_op_get_info((grout_opcode)it->opcode)->text;
}

static const char *word_taint(const grout_checker *checker, const grout_taint *taint) {
    grout_text text = {.allocator = checker->allocator};
    const grout_chance *chance = grout_flow__get_chance(checker, taint->source);
    if (chance != NULL) {
        const grout_words left = {.op = get_mnemonic(checker, chance->op),
                                  .line = get_line(checker, chance->op),
                                  .number = chance->launch,
                                  .what = taint->what,
                                  .other_line = get_line(checker, taint->sink)};
        grout_sentence__add(&text,
                            taint->is_undefined ? GROUT_SENTENCE_DOUBT_LEFT_UNDEFINED
                                                : GROUT_SENTENCE_DOUBT_LEFT,
                            &left);
        return keep_doubt(checker, &text);
    }
    const grout_words words = {.op = get_mnemonic(checker, taint->source),
                               .line = get_line(checker, taint->source),
                               .what = taint->what,
                               .other_line = get_line(checker, taint->sink)};
    if (taint->is_undefined) {
        grout_sentence__add(&text, GROUT_SENTENCE_DOUBT_UNDEFINED, &words);
    } else {
        grout_sentence__add(&text, GROUT_SENTENCE_DOUBT_VALUE, &words);
    }
    return keep_doubt(checker, &text);
}

static const char *find_value_doubt(const grout_checker *checker) {
    grout_op_id test = find_test(checker), atomic = find_ordered_atomic(checker);
    grout_op_id request = find_request(checker);
    grout_text text = {.allocator = checker->allocator};
    grout_taint taint;
    if (test) {
        grout_sentence__add(
            &text, GROUT_SENTENCE_DOUBT_TEST,
            &(grout_words){.op = get_mnemonic(checker, test), .line = get_line(checker, test)});
        return keep_doubt(checker, &text);
    }
    if (request) {
        grout_sentence__add(&text, GROUT_SENTENCE_DOUBT_ANSWER,
                            &(grout_words){.op = get_mnemonic(checker, request),
                                           .line = get_line(checker, request)});
        return keep_doubt(checker, &text);
    }
    if (atomic) {
        grout_sentence__add(&text, GROUT_SENTENCE_DOUBT_ATOMIC,
                            &(grout_words){.line = get_line(checker, atomic)});
        return keep_doubt(checker, &text);
    }
    if (!grout_checker__find_taint(checker, &taint)) {
        return grout_phrase__get(GROUT_PHRASE_DOUBT_VALUES_MEMORY);
    }
    return taint.source ? word_taint(checker, &taint) : "";
}

static const char *find_semaphore_doubt(const grout_checker *checker) {
    grout_op_id competing = checker->memory.protocol.competing.op;
    grout_text text = {.allocator = checker->allocator};
    if (!competing) {
        return "";
    }
    grout_sentence__add(&text, GROUT_SENTENCE_DOUBT_COMPETING,
                        &(grout_words){.line = get_line(checker, competing)});
    return keep_doubt(checker, &text);
}

/* A launch before this one that has left elements without a value, if this one goes by them: what
 * they hold on a GPU may take it another way. 0: none. */
static uint32_t find_leaving_launch(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    const grout_kernel *kernel = grout_module_get_kernel(module, checker->info.kernel);
    const grout_findings *findings = &checker->memory.findings;
    bool goes_by = false;
    for (uint32_t i = 0; i < findings->count && !goes_by; i++) {
        goes_by = findings->records[i].code == GROUT_DIAG_UNINITIALISED_READ;
    }
    for (uint32_t i = 0; goes_by && checker->pasts != NULL && i < kernel->param_count; i++) {
        if (checker->pasts[i].undefined_count > 0 &&
            grout_module_get_param(module, kernel, i)->direction != GROUT_DIRECTION_OUT) {
            return checker->pasts[i].launch;
        }
    }
    return 0;
}

static const char *find_left_doubt(const grout_checker *checker) {
    const uint32_t launch = find_leaving_launch(checker);
    grout_text text = {.allocator = checker->allocator};
    if (launch == 0) {
        return "";
    }
    grout_sentence__add(&text, GROUT_SENTENCE_DOUBT_LEFT_UNWRITTEN,
                        &(grout_words){.number = launch});
    return keep_doubt(checker, &text);
}

/* A launch beside this one of which one schedule alone is known. */
static const char *find_open_doubt(const grout_checker *checker) {
    grout_text text = {.allocator = checker->allocator};
    if (checker->run.open_launch == 0) {
        return "";
    }
    grout_sentence__add(&text, GROUT_SENTENCE_DOUBT_LAUNCH_OPEN,
                        &(grout_words){.number = checker->run.open_launch});
    return keep_doubt(checker, &text);
}

static const char *find_finding_doubt(const grout_checker *checker) {
    const grout_findings *findings = &checker->memory.findings;
    bool is_ambiguous = false, is_unobserved = false;
    for (uint32_t i = 0; i < findings->count; i++) {
        grout_diag_code code = findings->records[i].code;
        if (is_order(&findings->records[i]) && code != GROUT_DIAG_BARRIER_UNOBSERVED) {
            return grout_phrase__get(GROUT_PHRASE_DOUBT_ORDER);
        }
        is_unobserved = is_unobserved || is_order(&findings->records[i]);
        is_ambiguous = is_ambiguous || code == GROUT_DIAG_SEMAPHORE_AMBIGUOUS;
    }
    return is_unobserved  ? grout_phrase__get(GROUT_PHRASE_DOUBT_UNOBSERVED)
           : is_ambiguous ? grout_phrase__get(GROUT_PHRASE_DOUBT_AMBIGUOUS)
                          : "";
}

bool grout_checker__goes_by_chance(const grout_checker *checker) {
    grout_taint taint;
    return checker->has_launch && !checker->has_failed && checker->run.op_threads != NULL &&
           (find_test(checker) != 0 || find_request(checker) != 0 ||
            find_ordered_atomic(checker) != 0 ||
            (grout_checker__find_taint(checker, &taint) && taint.source != 0));
}

const char *grout_checker__find_doubt(const grout_checker *checker, bool was_cut) {
    const char *doubt = "";
    if (!checker->has_launch) {
        return grout_phrase__get(GROUT_PHRASE_DOUBT_NO_LAUNCH);
    }
    if (checker->run.has_deadlock) {
        return grout_phrase__get(GROUT_PHRASE_DOUBT_DEADLOCK);
    }
    if (checker->run.has_step_limit || was_cut) {
        return grout_phrase__get(GROUT_PHRASE_DOUBT_CUT);
    }
    if (checker->has_failed || !checker->run.op_threads) {
        return grout_phrase__get(GROUT_PHRASE_DOUBT_MEMORY);
    }
    doubt = find_finding_doubt(checker);
    if (!*doubt) {
        doubt = find_left_doubt(checker);
    }
    if (!*doubt) {
        doubt = find_open_doubt(checker);
    }
    if (!*doubt) {
        doubt = find_semaphore_doubt(checker);
    }
    if (!*doubt) {
        doubt = find_value_doubt(checker);
    }
    if (!*doubt && checker->memory.protocol.held_up.op) {
        doubt = grout_phrase__get(GROUT_PHRASE_DOUBT_REGISTERS);
    }
    return doubt;
}
