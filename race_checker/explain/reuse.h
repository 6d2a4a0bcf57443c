/*
 * reuse.h - overruns that follow from memory that is overwritten too early.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A producer that fills a slot again without waiting for its reader does two things wrong at once:
 * it overwrites what may still be read, and the phase that it completes may come before the reader
 * has seen the one before. A repair of the first repairs the second, not the other way round: an
 * order of the overwriting after the read is one of the arrival after the wait before that read.
 */
#ifndef GROUT_RACE_CHECKER_REUSE_H
#define GROUT_RACE_CHECKER_REUSE_H

#include "checker.h"

enum { GROUT_LAPS_LOOKED = 256 }; /* overruns of a report; what comes after them does not follow */

/* An overrun that does not tell its cause by itself. */
typedef struct grout_lap {
    const grout_record *record;
    const grout_record *reuse; /* the first that it was found to follow from; or NULL */
    uint32_t place;            /* in the list of findings */
} grout_lap;

typedef struct grout_laps {
    grout_lap items[GROUT_LAPS_LOOKED];
    uint32_t count;
} grout_laps;

void grout_laps__add(grout_laps *laps, const grout_record *record, uint32_t place);
/* Marks those that follow from the finding; false: none does, or it is of no memory that is
 * overwritten. late_out: one whose wait would order the two accesses, and comes in a later turn of
 * the thread that overwrites; or NULL. */
bool grout_laps__mark(grout_laps *laps, const grout_checker *checker, const grout_record *record,
                      const grout_record **late_out);
/* NULL: it is not among them. */
const grout_lap *grout_laps__find(const grout_laps *laps, const grout_record *record);
/* The side of the finding that overwrites what the other one reads, later; NULL: neither is known
 * to. */
const grout_side *grout_record__find_overwriter(const grout_module *module,
                                                const grout_record *record);

#endif
