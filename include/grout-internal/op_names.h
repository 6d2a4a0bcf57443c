/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_names.h - what PTX and other languages call the operations: op_names.def, and how a word is
 * found in it.
 */
#ifndef GROUT_INTERNAL_OP_NAMES_H
#define GROUT_INTERNAL_OP_NAMES_H

#include "grout-internal/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_op_name {
    const char *text;    /* as its owner writes it: "mbarrier.try_wait", "__syncthreads" */
    grout_opcode opcode; /* GROUT_OP_NONE: no operation does it */
    bool is_ptx;
    const char *instead; /* a help, where no operation does it; else NULL */
} grout_op_name;

/* The index-th line of op_names.def, from 0; NULL past the last. */
const grout_op_name *grout_op_name_get(size_t index);

/*
 * Fills found with the lines that the word means, at most max of them, and returns how many. A word
 * may have modifiers after the name, and the name of a library before it ("tl.dot"); '.', '::' and
 * '_' are one. Only the longest of the names that a word begins with count.
 */
size_t grout_op_names_find(const char *text, size_t size, const grout_op_name **found, size_t max);

/* Adds what the word means here as a help to the newest diagnostic; false: nothing that is known.
 */
bool grout_op_names_help(grout_diags *diags, const char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
