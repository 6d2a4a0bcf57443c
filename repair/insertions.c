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

/* What the threads of a role do with the object of a phrase. */
typedef struct side {
    bool waits, does_other;
} side;

/* By phrase, what the threads of one role do with its object. */
static void find_sides(const grout_outline *outline, const grout_phrases *phrases, uint32_t role,
                       side *sides) {
    memset(sides, 0, phrases->count * sizeof *sides);
    for (size_t i = outline->first; i < outline->end && role != 0; i++) {
        const grout_outline_line *one = &outline->items[i];
        const grout_span name = grout_span__get_name(one->object);
        if (one->role != role || !one->is_statement || one->sync == NULL || name.size == 0) {
            continue;
        }
        const bool waits = one->sync->mode == GROUT_SYNC_MODE_WAITS;
        for (size_t k = 0; k < phrases->count; k++) {
            if (grout_span__is_equal(name, phrases->items[k].object)) {
                sides[k].waits |= waits;
                sides[k].does_other |= !waits;
            }
        }
    }
}

/* Whether threads that play the role already do the opposite with the object: those that hand
 * something over seldom wait for it. */
static bool is_of_other_side(const grout_phrase *phrase, const side *sides) {
    return phrase->mode == GROUT_SYNC_MODE_WAITS ? sides->does_other && !sides->waits
                                                 : sides->waits && !sides->does_other;
}

/* What begins the life of a barrier stands beside others of its kind, far from where it is used. */
static uint32_t get_distance(const grout_proposal_task *task, const grout_phrase *phrase,
                             size_t line) {
    const grout_outline *outline = task->outline;
    uint32_t distance = grout_proposal_task__get_gap_distance(task, line);
    for (size_t i = line; i-- > outline->first && phrase->mode == GROUT_SYNC_MODE_MAKES;) {
        const grout_sync_info *sync = outline->items[i].sync;
        if (outline->lines->items[i].code.size > 0) {
            bool is_beside = sync != NULL && sync->mode == GROUT_SYNC_MODE_MAKES;
            return is_beside ? 0 : distance;
        }
    }
    return distance;
}

static bool add_insertion(grout_proposals *proposals, const grout_proposal_task *task,
                          const grout_phrase *phrase, const side *sides, size_t line) {
    uint32_t cost = 1 + phrase->cost + 2 * get_distance(task, phrase, line) +
                    grout_proposal_task__get_mode_cost(task, phrase->mode);
    if (phrase->object.size > 0 && !grout_proposal_task__is_about(task, phrase->object)) {
        cost += OTHER_OBJECT_COST;
    }
    if (is_of_other_side(phrase, sides)) {
        cost += OTHER_SIDE_COST;
    }
    grout_change change = {.kind = GROUT_CHANGE_INSERT, .line = line};
    change.text = grout__copy(NULL, phrase->text, strlen(phrase->text));
    return change.text != NULL && grout_proposals__take(proposals, change, cost);
}

static bool add_phrases(grout_proposals *proposals, const grout_proposal_task *task,
                        const grout_phrases *phrases, const side *sides, size_t line) {
    grout_outline_names names;
    bool is_good = true;
    grout_outline__find_names(task->outline, line, &names);
    for (size_t k = 0; k < phrases->count && is_good; k++) {
        const char *text = phrases->items[k].text;
        is_good = !grout_outline_names__have(&names, (grout_span){text, strlen(text)}) ||
                  add_insertion(proposals, task, &phrases->items[k], &sides[k], line);
    }
    return is_good;
}

/* Before the places at one distance. */
static bool add_at(grout_proposals *proposals, const grout_proposal_task *task,
                   const grout_phrases *phrases, side *sides, uint32_t distance) {
    const grout_outline *outline = task->outline;
    uint32_t role = UINT32_MAX; /* of the sides */
    bool is_good = true;
    for (size_t i = outline->first;
         i < outline->end && is_good && proposals->count < GROUT_PROPOSALS_MAX; i++) {
        if (!outline->items[i].is_place || grout_proposal_task__get_distance(task, i) != distance) {
            continue;
        }
        if (!grout_outline__goes_on(outline)) {
            break;
        }
        if (outline->items[i].role != role) {
            role = outline->items[i].role;
            find_sides(outline, phrases, role, sides);
        }
        is_good = add_phrases(proposals, task, phrases, sides, i);
    }
    return is_good;
}

bool grout_proposals__add_insertions(grout_proposals *proposals, const grout_proposal_task *task) {
    grout_phrases phrases;
    bool is_good = grout_phrases__init(&phrases, task->outline);
    side *sides = grout__new(NULL, phrases.count + 1, sizeof *sides);
    is_good = is_good && sides != NULL;
    for (uint32_t distance = 0; distance <= GROUT_DISTANCE_MAX && is_good; distance++) {
        is_good = add_at(proposals, task, &phrases, sides, distance);
    }
    grout__free(sides);
    grout_phrases__deinit(&phrases);
    return is_good;
}
