/* followers.h - findings that follow from another one: listed under it, in a line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_FOLLOWERS_H
#define GROUT_REPORT_FOLLOWERS_H

#include "array.h"
#include "lookup.h"

#include "grout-internal/race.h"

struct grout_reporter;

/* Which findings of a run follow from which. Zeroed: none is known. */
typedef struct grout_followers {
    grout_lookup first;         /* by the finding: the first that follows from it, from 1 */
    GROUT_ARRAY(uint32_t) next; /* by finding: the next with the same cause, from 1 */
} grout_followers;

/* Knows those of this run alone from now on. False without memory. */
bool grout_followers__note(grout_followers *followers, const grout_checker *checker);
void grout_followers__deinit(grout_followers *followers);
/* Whether the finding is listed under its cause, which is not silenced and no less severe. */
bool grout_followers__is_one(struct grout_reporter *report, const grout_finding *finding);
/* Appends the findings of the run that was noted that follow from one, in a line; nothing if there
 * are none. */
void grout_followers__add(struct grout_reporter *report, const grout_checker *checker,
                          const grout_finding *cause, grout_text *out);

#endif
