/* reference.h - the kernel that 'check @k against @r' names: run with the inputs of @k, for results
 * to compare with. SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_REFERENCE_H
#define GROUT_CHECK_REFERENCE_H

#include "comparing.h"

/* What references have left, for those who run one on the same inputs over and over. */
typedef struct grout_kept_reference grout_kept_reference;
typedef struct grout_kept_references {
    uint64_t text; /* a hash of what the references go by beside their inputs; the user sets it */
    struct {
        grout_kept_reference *items;
        size_t count, capacity;
    } list;
    size_t bytes; /* of all arrays */
} grout_kept_references;

void grout_kept_references__deinit(grout_kept_references *kept);

/* A launch that has a reference. */
typedef struct grout_reference {
    const grout_argument_set *arguments; /* that it is run on; borrowed */
    uint32_t line;                       /* of the module; 0: it is checked against none */
    grout_argument_set inputs;           /* what the launch was given, for the reference to take */
    grout_kept_references *kept;         /* it is run once for each text and inputs; NULL: anew */
} grout_reference;

/* Before the launch: keeps what it is given if its kernel is checked against another one. False:
 * diagnostics. Deinit even then. */
bool grout_reference__init(grout_reference *reference, grout_session *session,
                           const grout_load *load, grout_kernel_id kernel,
                           const grout_argument_set *arguments);
void grout_reference__deinit(grout_reference *reference);
/*
 * After it: runs the reference, and compares the results of both. Appends "%y differs from '@r'"
 * for what is not equal. False: the reference has not come to its end, so nothing is known; a
 * diagnostic says why.
 */
bool grout_reference__compare(const grout_reference *reference, const grout_comparing *comparing,
                              grout_text *differs);

/* Appends "was not compared with '@r'". */
void grout_reference__describe_missing(const grout_reference *reference, const grout_load *load,
                                       grout_text *out);

#endif
