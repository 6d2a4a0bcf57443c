/* value_words.c - the headlines of what is wrong with a value, whatever the order of accesses. A
 * run without the checker says them too. SPDX-License-Identifier: Apache-2.0 */
#include "sentences.h"

#include "grout/race.h"

static void add_check(const grout_module *module, const grout_op *op, const grout_fault *fault,
                      grout_text *out) {
    grout_text text = {.allocator = out->allocator}, element = {.allocator = out->allocator};
    grout_op_print_message(module, op, fault->values, fault->undefined, "undefined", &text);
    const char *what = text.data == NULL ? "" : text.data;
    if (fault->extent == 0) {
        grout_sentence__add(out, GROUT_SENTENCE_CHECK_HEAD, &(grout_words){.what = what});
    } else {
        const grout_type type =
            grout_module_get_operand_type(module, grout_module_get_operand(module, op, 0));
        grout_type_print_element(&type, fault->start, &element);
        grout_sentence__add(
            out, GROUT_SENTENCE_CHECK_ELEMENT_HEAD,
            &(grout_words){.what = what, .element = element.data == NULL ? "" : element.data});
    }
    out->failed |= text.failed || element.failed;
    grout_text_free(&text);
    grout_text_free(&element);
}

bool grout_race_describe_fault(const grout_module *bound, grout_op_id id, const grout_fault *fault,
                               grout_text *out) {
    if (id == 0) {
        return false;
    }
    const grout_op *op = grout_module_get_op(bound, id);
    if (fault->code == GROUT_DIAG_DEBUG_CHECK_FAILED) {
        add_check(bound, op, fault, out);
    } else if (fault->code == GROUT_DIAG_NOT_A_MULTIPLE) {
        grout_sentence__add(out, GROUT_SENTENCE_PROMISE_HEAD,
                            &(grout_words){.have = fault->have, .need = fault->need});
    } else {
        return false;
    }
    return true;
}
