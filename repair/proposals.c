/* proposals.c - how likely a change is: by its distance from what the findings are about.
 * SPDX-License-Identifier: Apache-2.0 */
#include "proposals.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

/* ---- distances ------------------------------------------------------------------------------ */

static void mark(const grout_proposal_task *task, grout_place place, uint32_t distance) {
    if (place.file != NULL && place.line >= 1 && place.line <= task->outline->lines->count &&
        task->distances[place.line - 1] > distance) {
        task->distances[place.line - 1] = distance;
    }
}

/* The barrier that a line uses, or declares. */
static grout_span get_object(const grout_proposal_task *task, size_t index) {
    const grout_outline_line *line = &task->outline->items[index];
    grout_span code = task->outline->lines->items[index].code;
    if (line->is_scratch && grout_span__take(&code, "scratch ") &&
        grout_outline__find_object(task->outline, code) != NULL) {
        return grout_span__get_name(code);
    }
    return line->is_statement ? grout_span__get_name(line->object) : (grout_span){"", 0};
}

/* Lines that name a barrier of the first finding. */
static void mark_objects(const grout_proposal_task *task) {
    for (size_t i = 0; i < task->outline->lines->count; i++) {
        const grout_span name = get_object(task, i);
        if (task->distances[i] > 1 && name.size > 0 && grout_proposal_task__is_about(task, name)) {
            task->distances[i] = 1;
        }
    }
}

/* Each line of code is one further from a place than its neighbour. */
static void spread(const grout_proposal_task *task) {
    const grout_text_lines *lines = task->outline->lines;
    uint32_t last = GROUT_DISTANCE_MAX;
    for (size_t i = 0; i < lines->count; i++) {
        last += lines->items[i].code.size > 0 && last < GROUT_DISTANCE_MAX ? 1u : 0u;
        last = task->distances[i] < last ? task->distances[i] : last;
        task->distances[i] = last;
    }
    last = GROUT_DISTANCE_MAX;
    for (size_t i = lines->count; i-- > 0;) {
        last += lines->items[i].code.size > 0 && last < GROUT_DISTANCE_MAX ? 1u : 0u;
        last = task->distances[i] < last ? task->distances[i] : last;
        task->distances[i] = last;
    }
}

/* ---- what a value comes from ---- */

#define NAMES_MAX 256u

/* Names that have led to lines. */
typedef struct followed {
    grout_span names[NAMES_MAX];
    size_t count;
} followed;

/* Whether the name is new. */
static bool take_name(followed *it, grout_span name) {
    for (size_t i = 0; i < it->count; i++) {
        if (grout_span__is_equal(it->names[i], name)) {
            return false;
        }
    }
    if (name.size == 0 || it->count == NAMES_MAX) {
        return false;
    }
    it->names[it->count++] = name;
    return true;
}

/* Lines that speak of a name that this line speaks of are one further. */
static void follow_line(const grout_proposal_task *task, size_t line, followed *it) {
    const grout_outline *outline = task->outline;
    const grout_span code = outline->lines->items[line].code;
    const uint32_t next = task->distances[line] + 1;
    for (size_t at = 0; at < code.size; at++) {
        const grout_span name = grout_span__get_name((grout_span){code.data + at, code.size - at});
        if (!take_name(it, name)) {
            continue;
        }
        for (size_t i = outline->first; i < outline->end; i++) {
            if (task->distances[i] > next &&
                grout_span__has_name(outline->lines->items[i].code, name)) {
                task->distances[i] = next;
            }
        }
    }
}

/* A wrong value is made where it was written, or in what that was made from. */
static void follow_names(const grout_proposal_task *task) {
    const grout_outline *outline = task->outline;
    followed it = {.count = 0};
    for (uint32_t distance = 0; distance < GROUT_DISTANCE_MAX; distance++) {
        for (size_t i = outline->first; i < outline->end; i++) {
            if (task->distances[i] == distance) {
                follow_line(task, i, &it);
            }
        }
    }
}

static void measure(const grout_proposal_task *task) {
    const grout_trial *trial = task->trial;
    for (size_t i = 0; i < task->outline->lines->count; i++) {
        task->distances[i] = GROUT_DISTANCE_MAX;
    }
    for (size_t i = 0; i < trial->count; i++) {
        const grout_trial_finding *finding = &trial->items[i];
        mark(task, finding->primary, i == 0 ? 0 : 2);
        mark(task, finding->related, i == 0 ? 0 : 2);
        for (size_t k = 0; k < GROUT_TRIAL_NOTES_MAX && finding->note_lines[k] != 0; k++) {
            const grout_place place = {.file = "", .line = finding->note_lines[k]};
            mark(task, place, i == 0 ? 1 : 2);
        }
        if (finding->has_edit && finding->edit.line < task->outline->lines->count) {
            grout_place place = {.file = "", .line = (uint32_t)finding->edit.line + 1};
            mark(task, place, i == 0 ? 0 : 2);
        }
    }
    if (trial->is_different) {
        follow_names(task);
    }
    mark_objects(task);
    spread(task);
}

/* ---- the list ------------------------------------------------------------------------------- */

/* By cost; of one cost, in the order of the lines, so that the answer never varies. */
static int compare(const void *left, const void *right) {
    const grout_proposal *a = left, *b = right;
    if (a->cost != b->cost) {
        return a->cost < b->cost ? -1 : 1;
    }
    if (a->change.kind != b->change.kind) {
        return a->change.kind < b->change.kind ? -1 : 1;
    }
    if (a->change.line != b->change.line) {
        return a->change.line < b->change.line ? -1 : 1;
    }
    if (a->change.from != b->change.from) {
        return a->change.from < b->change.from ? -1 : 1;
    }
    return a->change.text == NULL || b->change.text == NULL
               ? 0
               : strcmp(a->change.text, b->change.text);
}

bool grout_proposals__init(grout_proposals *proposals, const grout_outline *outline,
                           const grout_trial *trial) {
    grout_proposal_task task = {
        .outline = outline,
        .trial = trial,
        .distances = grout__new(NULL, outline->lines->count, sizeof task.distances[0]),
    };
    bool is_good = task.distances != NULL;
    *proposals = (grout_proposals){0};
    if (is_good) {
        measure(&task);
        is_good = grout_proposals__add_helps(proposals, &task) &&
                  grout_proposals__add_moves(proposals, &task) &&
                  grout_proposals__add_insertions(proposals, &task) &&
                  grout_proposals__add_replacements(proposals, &task) &&
                  grout_proposals__add_values(proposals, &task);
    }
    if (proposals->count > 0) {
        qsort(proposals->items, proposals->count, sizeof proposals->items[0], compare);
    }
    grout__free(task.distances);
    return is_good;
}

void grout_proposals__deinit(grout_proposals *proposals) {
    for (size_t i = 0; i < proposals->count; i++) {
        grout_change__deinit(&proposals->items[i].change);
    }
    grout__free(proposals->items);
    *proposals = (grout_proposals){0};
}
