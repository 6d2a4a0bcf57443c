/* insertions.c - each phrase, in each place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "phrases.h"
#include "proposals.h"

#include "alloc.h"

#include <string.h>

/* What an operation on a barrier costs more if the finding does not speak of it. */
#define OTHER_OBJECT_COST 5u
/* And if the threads there are its other side. */
#define OTHER_SIDE_COST 24u

/* Whether threads that play the role already do the opposite with the object: those that hand
 * something over seldom wait for it. */
static bool is_of_other_side(const grout_proposal_task *task, const grout_phrase *phrase,
                             size_t line) {
    const grout_outline *outline = task->outline;
    uint32_t role = outline->items[line].role;
    bool does_opposite = false, does_same = false;
    for (size_t i = 0; i < outline->lines->count && role != 0 && phrase->object.size > 0; i++) {
        const grout_outline_line *one = &outline->items[i];
        if (one->role == role && one->is_statement && one->sync != NULL &&
            grout_span__is_equal(grout_span__get_name(one->object), phrase->object)) {
            bool waits = one->sync->mode == GROUT_SYNC_MODE_WAITS;
            bool is_same = waits == (phrase->mode == GROUT_SYNC_MODE_WAITS);
            does_same |= is_same;
            does_opposite |= !is_same;
        }
    }
    return does_opposite && !does_same;
}

/* What begins the life of a barrier stands beside others of its kind, far from where it is used. */
static uint32_t get_distance(const grout_proposal_task *task, const grout_phrase *phrase,
                             size_t line) {
    const grout_outline *outline = task->outline;
    uint32_t distance = grout_proposal_task__get_gap_distance(task, line);
    for (size_t i = line; i-- > 0 && phrase->mode == GROUT_SYNC_MODE_MAKES;) {
        const grout_sync_info *sync = outline->items[i].sync;
        if (outline->lines->items[i].code.size > 0) {
            bool is_beside = sync != NULL && sync->mode == GROUT_SYNC_MODE_MAKES;
            return is_beside ? 0 : distance;
        }
    }
    return distance;
}

static bool add_insertion(grout_proposals *proposals, const grout_proposal_task *task,
                          const grout_phrase *phrase, size_t line) {
    uint32_t cost = 1 + phrase->cost + 2 * get_distance(task, phrase, line) +
                    grout_proposal_task__get_mode_cost(task, phrase->mode);
    if (phrase->object.size > 0 && !grout_proposal_task__is_about(task, phrase->object)) {
        cost += OTHER_OBJECT_COST;
    }
    if (is_of_other_side(task, phrase, line)) {
        cost += OTHER_SIDE_COST;
    }
    grout_change change = {.kind = GROUT_CHANGE_INSERT, .line = line};
    change.text = grout__copy(NULL, phrase->text, strlen(phrase->text));
    return change.text != NULL && grout_proposals__take(proposals, change, cost);
}

bool grout_proposals__add_insertions(grout_proposals *proposals, const grout_proposal_task *task) {
    grout_phrases phrases;
    bool is_good = grout_phrases__init(&phrases, task->outline);
    for (size_t i = 0; i < task->outline->lines->count && is_good; i++) {
        grout_outline_names names;
        grout_outline__find_names(task->outline, i, &names);
        for (size_t k = 0; k < phrases.count && task->outline->items[i].is_place && is_good; k++) {
            const char *text = phrases.items[k].text;
            is_good = !grout_outline_names__have(&names, (grout_span){text, strlen(text)}) ||
                      add_insertion(proposals, task, &phrases.items[k], i);
        }
    }
    grout_phrases__deinit(&phrases);
    return is_good;
}
