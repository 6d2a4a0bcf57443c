/* moves.c - lines that synchronise, put elsewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#include "proposals.h"

/* Over this many lines of code at most. */
#define STEPS_MAX 12u

/* What starts work or forks is no matter of order alone: it stays where it is. */
static bool can_move(const grout_outline_line *line) {
    if (!line->is_statement || line->has_result || line->sync == NULL) {
        return false;
    }
    switch ((grout_sync_mode)line->sync->mode) {
    case GROUT_SYNC_MODE_POSTS:
    case GROUT_SYNC_MODE_WAITS:
    case GROUT_SYNC_MODE_MEETS:
    case GROUT_SYNC_MODE_CLOSES:
    case GROUT_SYNC_MODE_FENCES:
    case GROUT_SYNC_MODE_MAKES:
    case GROUT_SYNC_MODE_ENDS:
        return true;
    case GROUT_SYNC_MODE_TESTS:
    case GROUT_SYNC_MODE_STARTS:
    case GROUT_SYNC_MODE_FORKS:
        return false;
    }
    return false;
}

static bool add_move(grout_proposals *proposals, const grout_proposal_task *task, size_t from,
                     size_t to, uint32_t steps) {
    uint32_t here = grout_proposal_task__get_distance(task, from);
    uint32_t there = grout_proposal_task__get_gap_distance(task, to);
    const grout_change change = {.kind = GROUT_CHANGE_MOVE, .line = to, .from = from};
    return grout_proposals__take(proposals, change, steps + (here < there ? here : there));
}

/* Up: before each line above it. Down: before each line below the next one. */
static bool add_moves_of(grout_proposals *proposals, const grout_proposal_task *task, size_t from) {
    const grout_outline *outline = task->outline;
    uint32_t steps = 0;
    for (size_t to = from; to-- > outline->first && steps < STEPS_MAX;) {
        steps += outline->lines->items[to].code.size > 0 ? 1u : 0u;
        if (outline->items[to].is_place && !add_move(proposals, task, from, to, steps)) {
            return false;
        }
    }
    steps = 0;
    for (size_t to = from + 1; to < outline->end && steps <= STEPS_MAX; to++) {
        if (outline->items[to].is_place && steps > 0 &&
            !add_move(proposals, task, from, to, steps)) {
            return false;
        }
        steps += outline->lines->items[to].code.size > 0 ? 1u : 0u;
    }
    return true;
}

bool grout_proposals__add_moves(grout_proposals *proposals, const grout_proposal_task *task) {
    const grout_outline *outline = task->outline;
    for (size_t i = outline->first; i < outline->end && grout_outline__goes_on(outline); i++) {
        if (can_move(&task->outline->items[i]) && !add_moves_of(proposals, task, i)) {
            return false;
        }
    }
    return true;
}
