/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - parts of a module as text, and one kernel of a text as a module.
 */
#ifndef GROUT_INTERNAL_TEXT_H
#define GROUT_INTERNAL_TEXT_H

#include "grout-internal/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One kernel of a module as a module of its own, with the consts and requires of the file: what
 * looks at all of a module then looks at this kernel alone. Its places are those of the file; it
 * has neither the text nor the launch list. NULL: the module was not parsed from a text, or there
 * is no memory or no more time, as diags says.
 */
grout_module *grout_module_take_kernel(const grout_module *symbolic, grout_kernel_id kernel,
                                       grout_diags *diags);

/* Appends one operation as the text shows it, on one line without regions ("barrier_wait
 * %full[%s]"). */
void grout_op_print(const grout_module *module, grout_op_id op, grout_text *out);
/* Appends operand number i of an operation, from 0, as the text shows it: "%full[%s]". Nothing for
 * an axis. */
void grout_operand_print(const grout_module *module, grout_op_id op, uint32_t i, grout_text *out);
/* What the author of a module wrote: the text format, or Python with JAX' Pallas. Findings name
 * objects and operations, and say what to write, as it is written there. */
grout_surface grout_module_get_surface(const grout_module *module);
/* Appends the name of an object or a value as its author writes it: "%as" in the text, "as" in
 * Python (grout_module_get_surface). */
void grout_name_print(const grout_module *module, grout_string_id name, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
