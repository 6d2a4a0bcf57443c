/* helps.c - what the help of a finding writes in quotes, in the place of what is like it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "proposals.h"

#include "alloc.h"

#include <stdlib.h>
#include <string.h>

/* The next span between single quotes that is no word of a sentence; false: there is none. */
static bool take_quote(grout_span *rest, grout_span *quote_out) {
    for (size_t i = 0; i + 1 < rest->size; i++) {
        const bool begins = rest->data[i] == '\'' && (i == 0 || rest->data[i - 1] == ' ');
        const char *end = begins ? memchr(rest->data + i + 1, '\'', rest->size - i - 1) : NULL;
        if (end != NULL) {
            *quote_out = (grout_span){rest->data + i + 1, (size_t)(end - rest->data) - i - 1};
            *rest = (grout_span){end + 1, rest->size - (size_t)(end + 1 - rest->data)};
            return true;
        }
    }
    return false;
}

/* "mbarrier_init %full[0], 2": its mnemonic, and the name of its object. */
static bool read_statement(grout_span quote, grout_span *mnemonic_out, grout_span *object_out) {
    size_t size = 0;
    while (size < quote.size && quote.data[size] != ' ') {
        size++;
    }
    *mnemonic_out = (grout_span){quote.data, size};
    *object_out =
        size + 1 < quote.size
            ? grout_span__get_name((grout_span){quote.data + size + 1, quote.size - size - 1})
            : (grout_span){"", 0};
    return grout_op_find(quote.data, size) != GROUT_OP_NONE;
}

/* A statement of the same operation on the same object becomes the quoted one. */
static bool add_statement(grout_proposals *proposals, const grout_proposal_task *task, size_t line,
                          grout_span quote) {
    const grout_line *text = &task->outline->lines->items[line];
    if (grout_span__is_equal(text->code, quote)) {
        return true;
    }
    const grout_change change = {.kind = GROUT_CHANGE_REPLACE,
                                 .line = line,
                                 .column = text->indent,
                                 .count = text->code.size,
                                 .text = grout__copy(NULL, quote.data, quote.size)};
    return change.text != NULL && grout_proposals__take(proposals, change, 0);
}

/* "'order(acq_rel)' for the atomic_exchange at line 36": the number, from 1; 0: none follows. */
static size_t read_line(grout_span rest) {
    static const char lead[] = " at line ";
    const size_t size = sizeof lead - 1;
    for (size_t i = 0; i + size < rest.size && rest.data[i] != '\'' && rest.data[i] != '\n'; i++) {
        if (memcmp(rest.data + i, lead, size) == 0) {
            return (size_t)strtoul(rest.data + i + size, NULL, 10); /* words end with a NUL */
        }
    }
    return 0;
}

/* An attribute, "order(acq_rel)", for a line: in the place of its own, or at its end. */
static bool add_attribute(grout_proposals *proposals, const grout_proposal_task *task,
                          grout_span quote, grout_span rest) {
    const grout_outline *outline = task->outline;
    const size_t line = read_line(rest);
    const char *paren = memchr(quote.data, '(', quote.size);
    const size_t size = paren == NULL ? quote.size : (size_t)(paren - quote.data);
    char word[32] = "";
    if (line == 0 || line > outline->lines->count || size >= sizeof word ||
        grout_attr_find(quote.data, size) == GROUT_ATTR_COUNT) {
        return true;
    }
    memcpy(word, quote.data, size);
    const grout_line *text = &outline->lines->items[line - 1];
    const grout_span own = grout_span__find_attribute(text->code, word);
    const size_t at = own.size > 0 ? (size_t)(own.data - text->code.data) : text->code.size;
    grout_text words = {0};
    grout_text_add(&words, " %.*s", (int)quote.size, quote.data);
    const grout_change change = {.kind = GROUT_CHANGE_REPLACE,
                                 .line = line - 1,
                                 .column = text->indent + at,
                                 .count = own.size,
                                 .text = words.failed ? NULL
                                                      : grout__copy(NULL, words.data, words.size)};
    grout_text_free(&words);
    return change.text != NULL && grout_proposals__take(proposals, change, 0);
}

static bool add_quote(grout_proposals *proposals, const grout_proposal_task *task, grout_span quote,
                      grout_span rest) {
    const grout_outline *outline = task->outline;
    grout_span mnemonic, object;
    bool is_good = true;
    if (!read_statement(quote, &mnemonic, &object)) {
        return add_attribute(proposals, task, quote, rest);
    }
    for (size_t i = outline->first; i < outline->end && is_good; i++) {
        const grout_outline_line *line = &outline->items[i];
        const bool is_like = line->is_statement && !line->has_result && object.size > 0 &&
                             grout_span__is_equal(line->mnemonic, mnemonic) &&
                             grout_span__is_equal(grout_span__get_name(line->object), object);
        is_good = !is_like || add_statement(proposals, task, i, quote);
    }
    return is_good;
}

bool grout_proposals__add_helps(grout_proposals *proposals, const grout_proposal_task *task) {
    const grout_trial_finding *finding = &task->trial->items[0];
    grout_span rest = {finding->words, strlen(finding->words)};
    grout_span quote;
    bool is_good = true;
    while (is_good && take_quote(&rest, &quote)) {
        is_good = add_quote(proposals, task, quote, rest);
    }
    return is_good;
}
