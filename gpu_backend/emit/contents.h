/* contents.h - what the arrays of a launcher hold at first, where the kernel says it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_GPU_CONTENTS_H
#define GROUT_GPU_CONTENTS_H

#include "plan.h"

/* The launcher of a kernel, being written. */
typedef struct grout_contents {
    const grout_module *module;
    const grout_kernel *kernel;
    const grout_gpu_plan *plan;
    grout_text *out;
    grout_diags *diags;
    /* of a launch list: the arrays of all its launches are in one table, and the launch has a
     * namespace; else a kernel alone */
    bool is_listed;
    const uint32_t *array_numbers; /* by parameter: which array of the table it is */
} grout_contents;

/* Whether the kernel says what any array, scalar or scratch holds at first. */
bool grout_contents__are_there(const grout_contents *contents);
/* The functions that the rest calls. */
void grout_contents__add_functions(grout_text *out);
/* Functions (but of a list) and tables, for in front of main; nothing for a kernel without an
 * init(..). False: the contents of a scratch are too large to be listed, as diags say, or there is
 * no memory. */
bool grout_contents__declare(const grout_contents *contents);
/* The statement that fills an array of the launcher, unless it has a file. */
void grout_contents__put_array(const grout_contents *contents, uint32_t param, uint32_t number);
/* The statement that fills a workspace whose elements differ. */
void grout_contents__put_workspace(const grout_contents *contents, uint32_t workspace);
/* The expression for the text of a scalar: what the command line says, else its init. */
void grout_contents__scalar_text(const grout_contents *contents, uint32_t param);

#endif
