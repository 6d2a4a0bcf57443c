/* search.h - the search for the changes that make a kernel clean.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_SEARCH_H
#define GROUT_REPAIR_SEARCH_H

#include "candidate.h"
#include "reference.h"
#include "wider.h"

#define GROUT_FIX_SECONDS 60.0 /* for a kernel, without --budget */

typedef struct grout_search {
    grout_trial_task task; /* one kernel of the file */
    grout_text text;       /* of the file; the search changes it */
    grout_text steps;      /* in words, a line each */
    uint32_t step_count;
    uint64_t tried; /* changes that were run or refused */
    double end;     /* seconds of the host's clock */
    bool was_cut;   /* the time was over before all was tried */
    /* found with the first text that is clean */
    grout_wider wider;
    bool has_looked_wider;
    grout_other_runs others;
    bool has_other_runs;
    uint32_t tried_elsewhere;   /* texts that were tried in these */
    grout_text elsewhere;       /* "-D K=64": sizes at which the result is not clean */
    grout_kept_references kept; /* of all tries */
} grout_search;

/*
 * Repairs finding after finding. First the edits that the findings offer, which are exact; if they
 * do not lead to a clean kernel, the proposals (proposals.h), one after the other. A change is
 * taken only if the text stays valid, the finding is gone, and nothing new hangs. False without
 * memory.
 */
bool grout_search__run(grout_search *search);
void grout_search__deinit(grout_search *search);

#endif
