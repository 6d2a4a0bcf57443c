/* proposal_task.c - what each kind of proposal goes by: distances, names and modes; and the list.
 * SPDX-License-Identifier: Apache-2.0 */
#include "proposals.h"

#include "array.h"

#include <string.h>

/* What has another mode than most repairs of such a finding. */
#define MODE_COST 4u

uint32_t grout_proposal_task__get_distance(const grout_proposal_task *task, size_t line) {
    return task->distances[line];
}

uint32_t grout_proposal_task__get_gap_distance(const grout_proposal_task *task, size_t line) {
    uint32_t distance = task->distances[line];
    for (size_t i = line; i-- > task->outline->first;) {
        if (task->outline->lines->items[i].code.size > 0) {
            return task->distances[i] < distance ? task->distances[i] : distance;
        }
    }
    return distance;
}

bool grout_proposal_task__is_about(const grout_proposal_task *task, grout_span name) {
    const grout_trial_finding *finding = &task->trial->items[0];
    grout_span words = {finding->words, strlen(finding->words)};
    return grout_span__has_name(words, name);
}

uint32_t grout_proposal_task__get_mode_cost(const grout_proposal_task *task, grout_sync_mode mode) {
    bool is_likely = false;
    switch ((int)task->trial->items[0].code) {
    case GROUT_DIAG_MISSING_COMMIT_SMEM:
    case GROUT_DIAG_MISSING_COMMIT_SMEM_WAR:
    case GROUT_DIAG_MISSING_COMMIT_GMEM:
        is_likely = mode == GROUT_SYNC_MODE_FENCES;
        break;
    case GROUT_DIAG_DEADLOCK:
    case GROUT_DIAG_COLLECTIVE_DIVERGENCE:
        is_likely = mode == GROUT_SYNC_MODE_POSTS || mode == GROUT_SYNC_MODE_MEETS ||
                    mode == GROUT_SYNC_MODE_MAKES;
        break;
    case GROUT_DIAG_BARRIER_UNINITIALISED:
        is_likely = mode == GROUT_SYNC_MODE_MAKES;
        break;
    default:
        is_likely = mode == GROUT_SYNC_MODE_WAITS || mode == GROUT_SYNC_MODE_MEETS;
        break;
    }
    return is_likely ? 0 : MODE_COST;
}

bool grout_proposals__take(grout_proposals *proposals, grout_change change, uint32_t cost) {
    if (!GROUT_ARRAY_RESERVE(proposals, NULL, 1)) {
        grout_change__deinit(&change);
        return false;
    }
    proposals->items[proposals->count++] = (grout_proposal){change, cost};
    return true;
}
