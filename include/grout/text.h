/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - kernels as text: parse and print. The grammar is docs/grammar.md.
 */
#ifndef GROUT_TEXT_H
#define GROUT_TEXT_H

#include "grout/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Parses a text into a symbolic module, or returns NULL with up to GROUT_DIAGS_MAX reasons. The
 * text is borrowed for the call and copied; file is its name in diagnostics. No input, however
 * broken, crashes, hangs or leaks. The parser goes on after an error at the next statement.
 */
GROUT_API grout_module *grout_parse(const char *file, const char *text, size_t size,
                                    grout_diags *diags);
/* The same with an allocator of the caller's (alloc.h), for the module and what is made out of it.
 */
GROUT_API grout_module *grout_parse_in(const grout_allocator *allocator, const char *file,
                                       const char *text, size_t size, grout_diags *diags);

/*
 * One kernel of a module as a module of its own, with the consts and requires of the file: what
 * looks at all of a module then looks at this kernel alone. Its places are those of the file; it
 * has neither the text nor the launch list. NULL: the module was not parsed from a text, or there
 * is no memory or no more time, as diags says.
 */
GROUT_API grout_module *grout_module_take_kernel(const grout_module *symbolic,
                                                 grout_kernel_id kernel, grout_diags *diags);

/*
 * Appends the module in canonical form; comments are kept. parse(print(m)) is equal to m, and
 * print(parse(t)) equals t for canonical t. Takes symbolic and bound modules (a bound one prints
 * symbolically too).
 */
GROUT_API void grout_module_print(const grout_module *module, grout_text *out);

/* Appends one operation as the text shows it, on one line without regions ("barrier_wait
 * %full[%s]"). */
GROUT_API void grout_op_print(const grout_module *module, grout_op_id op, grout_text *out);
/* Appends operand number i of an operation, from 0, as the text shows it: "%full[%s]". Nothing for
 * an axis. */
GROUT_API void grout_operand_print(const grout_module *module, grout_op_id op, uint32_t i,
                                   grout_text *out);
/* What the author of a module wrote: the text format, or Python with JAX' Pallas. Findings name
 * objects and operations, and say what to write, as it is written there. */
typedef enum grout_surface { GROUT_SURFACE_TEXT, GROUT_SURFACE_PALLAS } grout_surface;
GROUT_API grout_surface grout_module_get_surface(const grout_module *module);
/* Appends the name of an object or a value as its author writes it: "%as" in the text, "as" in
 * Python (grout_module_get_surface). */
GROUT_API void grout_name_print(const grout_module *module, grout_string_id name, grout_text *out);
/* Appends a constant expression. */
GROUT_API void grout_expr_print(const grout_module *module, grout_expr_id expr, grout_text *out);

/*
 * Checks every rule of every kernel of a bound module: spaces, directions, transforms, TMA boxes,
 * barriers, launch, SMEM budget. Goes on after a fault. True if there is no error; warnings may
 * have been added. arch: the rules of which hardware; GROUT_ARCH_OWN: of each kernel's own. Another
 * one than a kernel says is a warning, and counts.
 */
GROUT_API bool grout_verify(const grout_module *bound, grout_arch arch, grout_diags *diags);

/* Fills the data of a parameter of a bound and verified module with what it holds unless the caller
 * brings something else: what its init(..) says, 'ints' if it has none. data: the bytes of the
 * array (grout_object_get_layout), or of one element for a scalar. Not of an 'out' array, which
 * starts without values. */
GROUT_API void grout_param_fill_default(const grout_module *bound, const grout_kernel *kernel,
                                        uint32_t index, void *data);

#ifdef __cplusplus
}
#endif
#endif
