/*
 * deadlock_parity.c - the parity of a wait, as it would have to be in every turn.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deadlock.h"

#include <string.h>

static const char *get_mnemonic(const grout_deadlock *text, grout_op_id op) {
    return grout_op_get_info((grout_opcode)grout_module_get_op(text->module, op)->opcode)->text;
}

/* Whether a sum or a difference stands outside of its parentheses. */
static bool is_sum(const char *text, size_t size) {
    uint32_t depth = 0;
    bool is_found = false;
    for (size_t i = 0; i < size; i++) {
        depth += text[i] == '(' || text[i] == '[' ? 1u : 0u;
        depth -= text[i] == ')' || text[i] == ']' ? 1u : 0u;
        is_found |= depth == 0 && (text[i] == '+' || text[i] == '-');
    }
    return is_found;
}

/* Whether the parenthesis that a text begins with ends where the text does. */
static bool is_in_parentheses(const char *text, size_t size) {
    uint32_t depth = 0;
    for (size_t i = 0; i + 1 < size; i++) {
        depth += text[i] == '(' ? 1u : 0u;
        depth -= text[i] == ')' ? 1u : 0u;
        if (depth == 0) {
            return false;
        }
    }
    return size > 2 && text[size - 1] == ')';
}

static bool ends_in(const char *text, size_t size, const char *end) {
    const size_t length = strlen(end);
    return size > length && memcmp(text + size - length, end, length) == 0;
}

/* "(%turn + 1) % 2" of "%turn % 2", and back: the other parity in every turn; false: it is written
 * in another way. */
static bool add_other_parity(const char *text, grout_text *out) {
    static const char two[] = " % 2", one[] = " + 1)";
    size_t size = strlen(text);
    if (text[0] == '%' && strcspn(text, " ([") == size) { /* a name alone */
        grout_text_add(out, "1 - %s", text);
        return true;
    }
    if (!ends_in(text, size, two)) {
        return false;
    }
    size -= strlen(two);
    if (ends_in(text, size, one) && is_in_parentheses(text, size)) {
        const size_t inner = size - strlen(one) - 1;
        const bool takes_parentheses = is_sum(text + 1, inner);
        grout_text_add(out, takes_parentheses ? "(%.*s)%s" : "%.*s%s", (int)inner, text + 1, two);
    } else if (is_in_parentheses(text, size)) {
        grout_text_add(out, "(%.*s%s%s", (int)(size - 2), text + 1, one, two);
    } else {
        grout_text_add(out, "(%.*s%s%s", (int)size, text, one, two);
    }
    return true;
}

/* "mbarrier_wait %empty[%k], 1": the wait with the other parity, in each turn that it runs in; "":
 * that takes more than the line. */
static const char *spell_parity(const grout_deadlock *text, grout_op_id wait, uint32_t parity) {
    const grout_op *op = grout_module_get_op(text->module, wait);
    const bool is_number =
        grout_module_get_operand(text->module, op, 1)->kind == GROUT_OPERAND_EXPR;
    grout_text words = {.allocator = text->checker->allocator};
    grout_text own = {.allocator = text->checker->allocator};
    grout_text_add(&words, "%s ", get_mnemonic(text, wait));
    grout_operand_print(text->module, wait, 0, &words);
    grout_text_add(&words, ", ");
    grout_operand_print(text->module, wait, 1, &own);
    const bool is_known = is_number ? grout_op__get_loop(text->module, wait) == 0
                                    : add_other_parity(own.data == NULL ? "" : own.data, &words);
    if (is_number && is_known) {
        grout_text_add(&words, "%u", parity);
    }
    words.failed = words.failed || own.failed;
    grout_text_free(&own);
    const char *line = grout_deadlock__keep(text, &words);
    return is_known ? line : "";
}

const char *grout_deadlock__name_parity(const grout_deadlock *text, grout_op_id wait,
                                        uint32_t parity) {
    const char *line = spell_parity(text, wait, parity);
    grout_text words = {.allocator = text->checker->allocator};
    if (line[0] == '\0') {
        return grout_phrase__get(GROUT_PHRASE_STUCK_PARITY_CHANGES);
    }
    grout_sentence__add(&words, GROUT_SENTENCE_STUCK_PARITY_LINE, &(grout_words){.op = line});
    return grout_deadlock__keep(text, &words);
}
