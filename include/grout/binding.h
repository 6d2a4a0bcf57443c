/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding.h - what bindings of other languages need beside the C interface.
 *
 * A binding is made from these headers, of which it knows the structs and the enumerators, and
 * opens the library at run time. Before it calls anything else it compares what it knows with what
 * the library says here.
 */
#ifndef GROUT_BINDING_H
#define GROUT_BINDING_H

#include "grout/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- versions ------------------------------------------------------------------------------- */

/* Raised when a function, a struct or an enumerator changes so that a caller of the older headers
 * goes wrong. New functions alone do not raise it. */
#define GROUT_ABI_VERSION 2

/* The GROUT_ABI_VERSION of the library. */
GROUT_API uint32_t grout_abi_get_version(void);
/* The version of grout: "0.1.0". */
GROUT_API const char *grout_get_version(void);
/* The name of a public struct, and its bytes as the library has it. NULL: there are not that many.
 */
GROUT_API const char *grout_abi_get_struct(uint32_t index, size_t *size_out);
/* A number that differs if the words of operations, attributes, choices, element types, spaces,
 * generators and diagnostics, or their order, do: whether enumerators still mean the same. */
GROUT_API uint64_t grout_abi_get_tables(void);

/* ---- files ---------------------------------------------------------------------------------- */

/* Writes a file as the command does: whole or not at all, links followed, owner and permissions of
 * what is there kept (docs/reliability.md). False: file-unwritable, and the file is as before. */
GROUT_API bool grout_write_file(const char *path, const void *data, size_t size,
                                grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
