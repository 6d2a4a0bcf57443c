/*
 * unwritten.c - what ops have read that had no value: where undefined values come from.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unwritten.h"

#include "box.h"

static grout_unwritten *find(const grout_checker *checker, grout_op_id op) {
    for (uint32_t i = 0; i < checker->run.unwritten_count; i++) {
        if (checker->run.unwritten[i].op == op) {
            return &checker->run.unwritten[i];
        }
    }
    return NULL;
}

static void widen(grout_box *box, const grout_box *more) {
    for (uint32_t dim = 0; box->object == more->object && dim < box->rank; dim++) {
        box->low[dim] = box->low[dim] < more->low[dim] ? box->low[dim] : more->low[dim];
        box->high[dim] = box->high[dim] > more->high[dim] ? box->high[dim] : more->high[dim];
    }
}

bool grout_checker__add_unwritten(grout_checker *checker, grout_op_id op, const grout_box *box) {
    grout_unwritten *it = find(checker, op);
    void *list = checker->run.unwritten;
    if (it != NULL) {
        widen(&it->box, box);
        return true;
    }
    if (checker->run.unwritten_count == GROUT_UNWRITTEN_MAX) {
        return true;
    }
    if (!grout_check__reserve(checker->allocator, &list, checker->run.unwritten_count,
                              &checker->run.unwritten_capacity, sizeof *it)) {
        return grout_checker__fail(checker);
    }
    checker->run.unwritten = list;
    checker->run.unwritten[checker->run.unwritten_count++] =
        (grout_unwritten){.op = op, .box = *box};
    return true;
}

bool grout_checker__note_unwritten(grout_checker *checker, const grout_event *event) {
    const grout_box box =
        grout_box__from_runs(checker->info.module, event->u.unwritten.object,
                             event->u.unwritten.runs, event->u.unwritten.run_count);
    return box.object == 0 || grout_checker__add_unwritten(checker, event->origin.op, &box);
}
