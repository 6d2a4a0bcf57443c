/*
 * deadlock_lines.c - the lines of a deadlock's report, as many as are shown.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deadlock.h"

static void add(grout_deadlock *text, grout_loc_id loc, bool is_help, grout_text *sentence) {
    grout_findings *findings = &text->checker->memory.findings;
    const grout_sentence it = {.loc = loc, .text = sentence->data, .is_help = is_help};
    const bool added =
        !sentence->failed && sentence->data && grout_findings__add_sentence(findings, &it);
    text->done = text->done && added;
    grout_text_free(sentence);
}

void grout_deadlock__say(grout_deadlock *text, grout_loc_id loc, grout_text *sentence) {
    /* the headline is one of the sentences, and the last line counts the rest */
    if (text->checker->memory.findings.sentence_count < GROUT_DEADLOCK_NOTES_MAX) {
        add(text, loc, false, sentence);
        return;
    }
    text->left++;
    grout_text_free(sentence);
}

/* The line that counts what there was no room for. */
static void say_left(grout_deadlock *text) {
    grout_text sentence = {.allocator = text->checker->allocator};
    if (text->left > 0) {
        grout_sentence__add(
            &sentence, GROUT_SENTENCE_STUCK_LEFT,
            &(grout_words){.number = text->left, .s = grout_phrase__get_plural(text->left)});
        add(text, 0, false, &sentence);
    }
}

void grout_deadlock__advise(grout_deadlock *text, grout_text *sentence) {
    say_left(text);
    if (sentence->size > 0) {
        add(text, 0, true, sentence);
    } else {
        grout_text_free(sentence);
    }
}
