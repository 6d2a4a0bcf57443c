/* proposals.h - changes of a kernel that may repair a finding, the likely ones first.
 *
 * Nothing here is sure: each is a try, and the checker judges it (search.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_REPAIR_PROPOSALS_H
#define GROUT_REPAIR_PROPOSALS_H

#include "outline.h"
#include "trial.h"

typedef struct grout_proposal {
    grout_change change;
    uint32_t cost; /* the less, the likelier */
} grout_proposal;

/* Zero-initialise. */
typedef struct grout_proposals {
    grout_proposal *items;
    size_t count, capacity;
} grout_proposals;

/* What the proposals are made from. */
typedef struct grout_proposal_task {
    const grout_outline *outline;
    const grout_trial *trial; /* of the text; it has findings */
    uint32_t *distances;      /* of each line, from what the findings are about */
} grout_proposal_task;

/* For the first finding. False without memory. Deinit even then. */
bool grout_proposals__init(grout_proposals *proposals, const grout_outline *outline,
                           const grout_trial *trial);
void grout_proposals__deinit(grout_proposals *proposals);

/* ---- for those who propose ---- */

/* A line is so far from what the findings are about, at most. */
#define GROUT_DISTANCE_MAX 12u
/* More are not made: those that are farthest away are left out. */
#define GROUT_PROPOSALS_MAX (1u << 18)

/* Takes the text of the change. False without memory. */
bool grout_proposals__take(grout_proposals *proposals, grout_change change, uint32_t cost);
/* How far a line is from what the findings are about; before it, how far the gap is. */
uint32_t grout_proposal_task__get_distance(const grout_proposal_task *task, size_t line);
uint32_t grout_proposal_task__get_gap_distance(const grout_proposal_task *task, size_t line);
/* Whether the first finding speaks of the name. */
bool grout_proposal_task__is_about(const grout_proposal_task *task, grout_span name);
/* What the first finding most often lacks: 0 for ops of this mode, else more. */
uint32_t grout_proposal_task__get_mode_cost(const grout_proposal_task *task, grout_sync_mode mode);

/* helps.c, moves.c, insertions.c, replacements.c, values.c. False without memory. */
bool grout_proposals__add_helps(grout_proposals *proposals, const grout_proposal_task *task);
bool grout_proposals__add_moves(grout_proposals *proposals, const grout_proposal_task *task);
bool grout_proposals__add_insertions(grout_proposals *proposals, const grout_proposal_task *task);
bool grout_proposals__add_replacements(grout_proposals *proposals, const grout_proposal_task *task);
bool grout_proposals__add_values(grout_proposals *proposals, const grout_proposal_task *task);

#endif
