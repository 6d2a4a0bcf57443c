/* op_syntax.c - how an operation is written, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/tables.h"

#include <string.h>

void grout_op_print_syntax(grout_opcode opcode, grout_text *out) {
    const grout_op_info *info = grout_op_get_info(opcode);
    const char *at = info->syntax;
    while (*at != '\0') {
        bool is_start = at == info->syntax || at[-1] == ' ';
        if (is_start && strncmp(at, "op", 2) == 0 && (at[2] == ' ' || at[2] == '\0')) {
            grout_text_add(out, "%s", info->text);
            at += 2;
        } else {
            grout_text_add_bytes(out, at++, 1);
        }
    }
}

void grout_attr_print_syntax(grout_attr attr, grout_text *out) {
    const grout_attr_info *info = grout_attr_get_info(attr);
    const char *separator = "(";
    grout_text_add(out, "%s", info->text);
    switch ((grout_argument_kind)info->argument) {
    case GROUT_ARGUMENT_FLAG:
        break;
    case GROUT_ARGUMENT_INT:
        grout_text_add(out, "(N)");
        break;
    case GROUT_ARGUMENT_AXES:
        grout_text_add(out, "(axis, ...)");
        break;
    case GROUT_ARGUMENT_DIMS:
        grout_text_add(out, "(d, ...)");
        break;
    case GROUT_ARGUMENT_RANGES:
        grout_text_add(out, "(low..high step N, ...)");
        break;
    case GROUT_ARGUMENT_CHOICE:
        for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
            if (grout_choice_get_info((grout_choice)i)->attr == attr) {
                grout_text_add(out, "%s%s", separator,
                               grout_choice_get_info((grout_choice)i)->text);
                separator = " | ";
            }
        }
        grout_text_add(out, ")");
        break;
    }
}

void grout_op_print_usage(grout_opcode opcode, grout_text *out) {
    const grout_op_info *info = grout_op_get_info(opcode);
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    const char *separator = "; attributes: ";
    grout_op_print_syntax(opcode, out);
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        if ((info->attrs >> i & 1) != 0) {
            const grout_attr_info *attr = grout_attr_get_info((grout_attr)i);
            grout_text_add(out, "%s", separator);
            if (attr->argument == GROUT_ARGUMENT_CHOICE) { /* all of them would be too much here */
                grout_text_add(out, "%s(..)", attr->text);
            } else {
                grout_attr_print_syntax((grout_attr)i, out);
            }
            separator = ", ";
        }
    }
    if (sync != NULL && sync->reach == GROUT_SYNC_REACH_PEER) {
        grout_text_add(out, "; .cluster(..) after the barrier names that of another CTA");
    }
}
