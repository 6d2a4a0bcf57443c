/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptx.h - PTX as compilers write it: parsed, printed, and run on a machine of lanes, warps, CTAs
 * and clusters that knows PTX by its ISA alone. It shares no code with grout's interpreter and
 * emitter, so that what it computes of emitted code proves both. docs/ptx.md says what it knows.
 */
#ifndef GROUT_PTX_H
#define GROUT_PTX_H

#include "grout/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- text ------------------------------------------------------------------------------------
 */

/* A parsed text of PTX. */
typedef struct grout_ptx_module grout_ptx_module;

/*
 * Parses a text, or returns NULL with up to GROUT_DIAGS_MAX reasons, each with its place:
 * ptx-syntax where it is no PTX, ptx-unsupported where it is PTX that the parser does not know. The
 * text is borrowed for the call and copied; file is its name in diagnostics. No input, however
 * broken, crashes, hangs or leaks. Free with grout_ptx_module_free.
 */
GROUT_API grout_ptx_module *grout_ptx_parse(const char *file, const char *text, size_t size,
                                            grout_diags *diags);
GROUT_API void grout_ptx_module_free(grout_ptx_module *module);

/*
 * Appends the module in a canonical form: registers and labels are numbered, nested scopes are
 * gone, words keep their order. Parsing that text gives a module that prints the same.
 */
GROUT_API void grout_ptx_module_print(const grout_ptx_module *module, grout_text *out);

/* How many entries the module has, and the name of the i-th (borrowed from the module). */
GROUT_API uint32_t grout_ptx_module_get_entry_count(const grout_ptx_module *module);
GROUT_API const char *grout_ptx_module_get_entry_name(const grout_ptx_module *module,
                                                      uint32_t index);
/* How many instructions the module has, those of its functions too. */
GROUT_API uint32_t grout_ptx_module_get_instruction_count(const grout_ptx_module *module);

#ifdef __cplusplus
}
#endif
#endif
