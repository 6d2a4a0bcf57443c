/*
 * claims.h - which elements of the arrays a machine has touched, where several machines run the
 * clusters of one launch (run/workers.c). Each has arrays of its own, so none sees what another
 * writes. That is right as long as no element that one has written was touched by another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_CLAIMS_H
#define GROUT_INTERP_CLAIMS_H

#include "memory.h"

/* An array that the kernel may write has a bit for each element that an op has named as what it
 * reads, and one for what it writes. */
typedef struct grout_claims {
    uint64_t *read, *wrote;
} grout_claims;

/* Claims for each array from now on; false without memory. */
bool grout_claims__add(grout_machine *machine);
/* An op is about to access this box of a GMEM array. */
void grout_claims__note(grout_machine *machine, const grout_box *box);
/* Whether a machine has written what another has touched. */
bool grout_claims__has_conflict(const grout_machine *machine, const grout_machine *other);
/* Puts the elements that a machine has written, and what is known of them, into the arrays of the
 * machine that the launch belongs to. */
void grout_claims__merge(grout_machine *into, const grout_machine *from);

#endif
