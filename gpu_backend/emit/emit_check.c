/* emit_check.c - what is asserted, and delays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>
#include <string.h>

/* Each lane waits, so the thread does. */
void grout_emit__delay(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__begin(e);
    grout_emit__add(e, "grout_delay(");
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), NULL);
    grout_emit__end(e, ");");
}

/* The promise is the verifier's; nothing is left to do. */
void grout_emit__multiple_of(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__begin_scalar(e, op->first_result);
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), NULL);
    grout_emit__end(e, ";");
}

/* ---- debug_check --------------------------------------------------------------------------------
 */

/* Whether the lane that finds the condition false has the value's element there. */
static bool has_element(grout_emitter *e, const grout_operand *condition,
                        const grout_operand *operand) {
    return !grout_emit__is_spread(e, operand) ||
           (grout_emit__is_spread(e, condition) &&
            grout_emit__is_same_layout(grout_emit__layout(e, condition->id),
                                       grout_emit__layout(e, operand->id)));
}

/* The values that it has not: bits. */
static uint32_t get_unknown(grout_emitter *e, const grout_op *op) {
    const grout_operand *condition = grout_module_get_operand(e->module, op, 0);
    uint32_t unknown = 0;
    for (uint32_t k = 2; k < op->operand_count; k++) {
        const bool has = has_element(e, condition, grout_module_get_operand(e->module, op, k));
        unknown |= has ? 0 : 1u << (k - 2);
    }
    return unknown;
}

/* ", a, b": the values of the text, each with its comma in front. */
static void add_values(grout_emitter *e, const grout_op *op, const char *index, bool is_printed) {
    const grout_operand *condition = grout_module_get_operand(e->module, op, 0);
    for (uint32_t k = 2; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(e->module, op, k);
        if (!has_element(e, condition, operand)) {
            grout_emit__add(e, is_printed ? "" : ", grout_u64(0)");
            continue;
        }
        grout_emit__add(e, ", ");
        if (is_printed) {
            grout_emit__printed(e, operand, index);
        } else {
            grout_emit__operand(e, operand, index);
        }
    }
}

static void add_format(grout_emitter *e, const grout_op *op) {
    const grout_operand *condition = grout_module_get_operand(e->module, op, 0);
    const char *text =
        grout_module_get_string(e->module, grout_module_get_operand(e->module, op, 1)->id);
    for (uint32_t next = 2; *text != '\0'; next++) {
        const char *hole = next < op->operand_count ? strstr(text, "{}") : NULL;
        size_t size = hole == NULL ? strlen(text) : (size_t)(hole - text);
        grout_emit__format(e, text, size);
        if (hole == NULL) {
            break;
        }
        text = hole + 2;
        const grout_operand *operand = grout_module_get_operand(e->module, op, next);
        grout_emit__add(e, "%s",
                        has_element(e, condition, operand) ? grout_emit__conversion(e, operand)
                                                           : "(in another layout)");
    }
}

/* What the lane does that finds the condition false. element: C++ for its number in the array. */
static void add_failure(grout_emitter *e, grout_op_id id, const grout_op *op, const char *index) {
    const grout_operand *condition = grout_module_get_operand(e->module, op, 0);
    const bool is_spread = grout_emit__is_spread(e, condition);
    grout_emit__begin(e);
    grout_emit__add(e, "if (!");
    grout_emit__operand(e, condition, index);
    grout_emit__add(e, ")");
    grout_emit__open(e);
    grout_emit__line(e, "if (!grout_has_records(dog))");
    grout_emit__begin(e);
    grout_emit__add(e, "    printf(\"line %" PRIu32 ", cta %%u thread %%u: the check failed: ",
                    grout_emit__get_line(e, op->loc));
    add_format(e, op);
    grout_emit__add(e, "\\n\", blockIdx.x, thread");
    add_values(e, op, index, true);
    grout_emit__end(e, ");");
    grout_emit__begin(e);
    grout_emit__add(e, "grout_fail_check(dog, {%" PRIu32 ", ", id);
    if (is_spread) {
        grout_emit__flat(e, grout_emit__layout(e, condition->id));
    } else {
        grout_emit__add(e, "0");
    }
    grout_emit__add(e, ", %" PRIu32, grout_emit__get_line(e, op->loc));
    grout_emit__actor(e, ", 0");
    grout_emit__add(e, "}, %" PRIu32 "u", get_unknown(e, op));
    add_values(e, op, index, false);
    grout_emit__end(e, ");");
    grout_emit__close(e, "");
}

void grout_emit__debug_check(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_operand *condition = grout_module_get_operand(e->module, op, 0);
    if (e->options.no_debug_checks) {
        return;
    }
    if (!grout_emit__is_spread(e, condition)) {
        grout_emit__open_issuer(e);
        add_failure(e, id, op, NULL);
        grout_emit__close_issuer(e);
        return;
    }
    const grout_register_layout *layout = grout_emit__layout(e, condition->id);
    grout_emit__open_owners(e, layout);
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__open_element(e, layout, 1);
    add_failure(e, id, op, "reg");
    grout_emit__close_registers(e, layout);
    grout_emit__close_owners(e, layout);
}
