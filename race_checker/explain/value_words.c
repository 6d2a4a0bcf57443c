/* value_words.c - the headlines of what is wrong with a value, whatever the order of accesses. A
 * run without the checker says them too. SPDX-License-Identifier: Apache-2.0 */
#include "sentences.h"

#include "grout-internal/race.h"
#include "grout-internal/text.h"

#include <inttypes.h>
#include <stdio.h>

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

/* "1 and 0", "1, 2 and -inf": the elements of the operands; nothing if the op does not go element
 * by element. */
static void add_operands(const grout_module *module, const grout_op *op, const grout_fault *fault,
                         grout_text *out) {
    const grout_rule rule = (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
    const uint32_t first = rule == GROUT_RULE_EXTERN ? grout_op_count_texts(op) : 0;
    const bool has_operands =
        rule == GROUT_RULE_JOIN || rule == GROUT_RULE_CONVERT || rule == GROUT_RULE_EXTERN;
    for (uint32_t k = first; has_operands && k < op->operand_count; k++) {
        const grout_type type =
            grout_module_get_operand_type(module, grout_module_get_operand(module, op, k));
        grout_text_add(out, "%s", k == first ? "" : k + 1 == op->operand_count ? " and " : ", ");
        if (k - first < GROUT_FAULT_VALUES_MAX) {
            grout_element_print((grout_dtype)type.dtype, fault->values[k - first], out);
        }
    }
}

/* The array whose element it is: the result, or what the op writes. */
static grout_type get_made_type(const grout_module *module, const grout_op *op) {
    const uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    return op->result_count > 0 || target >= op->operand_count
               ? *grout_module_get_type(module, op->first_result)
               : grout_module_get_operand_type(module,
                                               grout_module_get_operand(module, op, target));
}

static const char *get(const grout_text *text) {
    return text->data == NULL ? "" : text->data;
}

static void add_made(const grout_module *module, const grout_op *op, const grout_fault *fault,
                     grout_text *out) {
    grout_text made = {.allocator = out->allocator}, from = {.allocator = out->allocator},
               at = {.allocator = out->allocator};
    grout_element_print((grout_dtype)fault->dtype, (uint64_t)fault->need, &made);
    add_operands(module, op, fault, &from);
    if (fault->extent > 0) {
        const grout_type type = get_made_type(module, op);
        grout_text_add(&at, "%s", grout_phrase__get(GROUT_PHRASE_AT_ELEMENT));
        grout_type_print_element(&type, fault->start, &at);
    }
    grout_sentence__add(out, from.size > 0 ? GROUT_SENTENCE_MADE_OF_HEAD : GROUT_SENTENCE_MADE_HEAD,
                        &(grout_words){.op = grout_op_get_info((grout_opcode)op->opcode)->text,
                                       .what = get(&made),
                                       .doing = get(&from),
                                       .where = get(&at)});
    out->failed |= made.failed || from.failed || at.failed;
    grout_text_free(&made);
    grout_text_free(&from);
    grout_text_free(&at);
}

static void add_input(const grout_module *module, const grout_fault *fault, grout_text *out) {
    grout_text made = {.allocator = out->allocator}, at = {.allocator = out->allocator};
    grout_text name = {.allocator = out->allocator};
    grout_element_print((grout_dtype)fault->dtype, (uint64_t)fault->need, &made);
    grout_type_print_element(grout_object_get_type(module, fault->object), fault->start, &at);
    const grout_object *object = grout_module_get_object(module, fault->object);
    const grout_value *value = grout_module_get_value(module, object->value);
    grout_name_print(module, value->name, &name);
    const grout_words words = {
        .have = fault->have, .object = get(&name), .what = get(&made), .element = get(&at)};
    grout_sentence__add(
        out, fault->have == 1 ? GROUT_SENTENCE_INPUT_ONE_HEAD : GROUT_SENTENCE_INPUT_HEAD, &words);
    out->failed |= made.failed || at.failed || name.failed;
    grout_text_free(&made);
    grout_text_free(&at);
    grout_text_free(&name);
}

static void add_metadata(const grout_fault *fault, grout_text *out) {
    char row[24], code[8];
    (void)snprintf(row, sizeof row, "%" PRId64, fault->start);
    (void)snprintf(code, sizeof code, "0x%" PRIx64, fault->have);
    grout_sentence__add(
        out, GROUT_SENTENCE_METADATA_HEAD,
        &(grout_words){.element = row, .what = code, .need = fault->need, .have = fault->extent});
}

static void add_wrapped(const grout_op *op, const grout_fault *fault, grout_text *out) {
    const char *what =
        grout_phrase__get(fault->use == GROUT_USE_BRANCH ? GROUT_PHRASE_WRAPPED_LOOP
                          : fault->use == GROUT_USE_SYNC ? GROUT_PHRASE_WRAPPED_COUNT
                                                         : GROUT_PHRASE_WRAPPED_ADDRESS);
    if (fault->need == 0) {
        grout_sentence__add(out, GROUT_SENTENCE_WRAPPED_HERE_HEAD,
                            &(grout_words){.what = what, .have = fault->have});
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_WRAPPED_HEAD,
                        &(grout_words){.op = grout_op_get_info((grout_opcode)op->opcode)->text,
                                       .what = what,
                                       .have = fault->have});
}

bool grout_race_describe_fault(const grout_module *bound, grout_op_id id, const grout_fault *fault,
                               grout_text *out) {
    if (fault->code == GROUT_DIAG_NON_FINITE_INPUT) {
        add_input(bound, fault, out);
        return true;
    }
    if (id == 0) {
        return false;
    }
    const grout_op *op = grout_module_get_op(bound, id);
    if (fault->code == GROUT_DIAG_DEBUG_CHECK_FAILED) {
        add_check(bound, op, fault, out);
    } else if (fault->code == GROUT_DIAG_NOT_A_MULTIPLE) {
        grout_sentence__add(out, GROUT_SENTENCE_PROMISE_HEAD,
                            &(grout_words){.have = fault->have, .need = fault->need});
    } else if (fault->code == GROUT_DIAG_INDEX_OVERFLOW) {
        add_wrapped(op, fault, out);
    } else if (fault->code == GROUT_DIAG_SPARSE_METADATA) {
        add_metadata(fault, out);
    } else if (fault->code == GROUT_DIAG_NON_FINITE) {
        add_made(bound, op, fault, out);
    } else {
        return false;
    }
    return true;
}
