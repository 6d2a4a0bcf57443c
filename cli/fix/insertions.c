/* insertions.c - each phrase, in each place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "phrases.h"
#include "proposals.h"

#include "alloc.h"

#include <string.h>

/* What an operation on a barrier costs more if the finding does not speak of it. */
#define OTHER_OBJECT_COST 5u

static bool add_insertion(grout_proposals *proposals, const grout_proposal_task *task,
                          const grout_phrase *phrase, size_t line) {
    uint32_t cost = 1 + phrase->cost + 2 * grout_proposal_task__get_gap_distance(task, line) +
                    grout_proposal_task__get_mode_cost(task, phrase->mode);
    if (phrase->object.size > 0 && !grout_proposal_task__is_about(task, phrase->object)) {
        cost += OTHER_OBJECT_COST;
    }
    grout_change change = {.kind = GROUT_CHANGE_INSERT, .line = line};
    change.text = grout__copy(NULL, phrase->text, strlen(phrase->text));
    return change.text != NULL && grout_proposals__take(proposals, change, cost);
}

bool grout_proposals__add_insertions(grout_proposals *proposals, const grout_proposal_task *task) {
    grout_phrases phrases;
    bool is_good = grout_phrases__init(&phrases, task->outline);
    for (size_t i = 0; i < task->outline->lines->count && is_good; i++) {
        for (size_t k = 0; k < phrases.count && task->outline->items[i].is_place && is_good; k++) {
            is_good = add_insertion(proposals, task, &phrases.items[k], i);
        }
    }
    grout_phrases__deinit(&phrases);
    return is_good;
}
