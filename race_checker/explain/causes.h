/*
 * causes.h - the order of a report: causes first, each with what follows from it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_CAUSES_H
#define GROUT_RACE_CHECKER_CAUSES_H

#include "wording.h"

/* A finding in the order of the report. */
typedef struct grout_listed {
    uint32_t record; /* index in the findings */
    uint32_t cause;  /* index in this list of the finding that it follows from; its own: none */
    const grout_record *late; /* of memory overwritten too early: the overrun whose wait it needs,
                                 if that wait is there and comes later; or NULL */
} grout_listed;

/* Findings to be shown (of grout_findings__list) in the order of the report; NULL without memory.
 * Freed by the caller. base: the wording of any finding. */
grout_listed *grout_causes__arrange(const grout_wording *base, const uint32_t *list,
                                    uint32_t count);

#endif
