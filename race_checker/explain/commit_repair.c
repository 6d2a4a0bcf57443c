/*
 * commit_repair.c - the commit that is missing, where it goes, and who executes it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

/* The commit that an actor would have to execute for these bytes. */
static const char *name_commit(const grout_wording *wording, const grout_origin *actor) {
    const bool is_fence = grout_wording__takes_fence(wording);
    grout_spelling_id spelling =
        is_fence ? GROUT_SPELLING_FENCE_SHARED : GROUT_SPELLING_COMMIT_SMEM;
    if (wording->record->code == GROUT_DIAG_MISSING_COMMIT_GMEM) {
        spelling = GROUT_SPELLING_COMMIT_GMEM;
    } else if (actor->cta != wording->facts->owner) {
        spelling =
            is_fence ? GROUT_SPELLING_FENCE_SHARED_CLUSTER : GROUT_SPELLING_COMMIT_SMEM_CLUSTER;
    }
    return grout_wording__spell(wording, spelling, NULL);
}

static const char *get_beside(bool is_after) {
    return grout_phrase__get(is_after ? GROUT_PHRASE_AFTER : GROUT_PHRASE_BEFORE);
}

/* The spot after an access. Statements of Python may have several lines, and what comes next may
 * be of another function: then it is the access' own line. */
static grout_spot find_after(const grout_wording *wording, const grout_origin *access) {
    const grout_module *module = wording->module;
    const grout_op_id statement = grout_statement__find(module, access->op);
    const grout_op_id next = grout_module_get_op(module, statement)->next;
    const grout_loc *own =
        grout_module_get_loc(module, grout_module_get_op(module, access->op)->loc);
    const grout_loc *other =
        next ? grout_module_get_loc(module, grout_module_get_op(module, next)->loc) : NULL;
    if (own->kind == GROUT_LOC_TEXT ||
        (other && other->file == own->file && other->parent == own->parent)) {
        return grout_statement__get_after(&wording->shared->lines, statement);
    }
    return (grout_spot){grout_wording__get_place(wording, access), true};
}

/* The access is the primary side. Its own thread publishes it, right after it. */
static void repair_strictly(grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    grout_spot spot = find_after(wording, &access->origin);
    const char *commit = name_commit(wording, &access->origin);
    const char *others = grout_phrase__get(GROUT_PHRASE_OTHERS);
    if (access->origin.cta != copy->origin.cta) {
        others = grout_wording__name_cta(wording, copy->origin.cta);
    } else if (access->origin.thread != copy->origin.thread) {
        others = grout_wording__name_actor(wording, &copy->origin);
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_COMMIT_OWNER_HELP,
        &(grout_words){.op = commit,
                       .beside = get_beside(spot.is_after || !spot.place.file),
                       .line = spot.place.file ? spot.place.line
                                               : grout_wording__get_line(wording, &access->origin),
                       .by = grout_wording__name_by(wording, &access->origin),
                       .other_actor = others});
    grout_wording__set_edit(wording, &spot, commit);
}

/* An arrive, or a meeting, that the thread runs after the one op and before the other: ops come
 * into a module in the order of its text. */
static bool has_release_between(const grout_module *module, grout_op_id first, grout_op_id last) {
    for (grout_op_id i = first + 1; i < last; i++) {
        const grout_sync_info *sync =
            grout_op_get_sync((grout_opcode)grout_module_get_op(module, i)->opcode);
        if (sync != NULL && sync->mode != GROUT_SYNC_MODE_STARTS &&
            (sync->side & GROUT_SYNC_SIDE_RELEASE) != 0 &&
            grout_op__find_reach(module, first, i).kind == GROUT_REACH_AHEAD &&
            grout_op__find_reach(module, i, last).kind == GROUT_REACH_AHEAD) {
            return true;
        }
    }
    return false;
}

/* Whether others than the thread that issues the copy make the access too, and all meet then. */
static bool has_other_writers(const grout_wording *wording, const grout_origin *access,
                              const grout_origin *copy) {
    uint32_t threads = wording->checker->run.op_threads[access->op];
    return (threads & ~(1u << copy->thread)) != 0 &&
           has_release_between(wording->module, access->op, copy->op);
}

/* Whose commit it is: of each that makes the access, before it hands the bytes over. */
static void add_owners(const grout_wording *wording, const char *commit, const grout_spot *spot,
                       grout_text *out) {
    const grout_origin *copy = &wording->facts->sides[0].origin;
    const grout_origin *access = &wording->facts->sides[1].origin;
    const grout_words words = {.op = commit,
                               .beside = get_beside(spot->is_after),
                               .line = spot->place.line,
                               .by = grout_wording__name_by(wording, access),
                               .other_actor = grout_wording__name_actor(wording, copy)};
    if (has_other_writers(wording, access, copy)) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_EACH_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_OWNER_HELP, &words);
    }
}

/* Pallas has no fence for what lies in GMEM, or in another CTA. */
static bool add_without_fence(const grout_wording *wording, grout_text *out) {
    const grout_origin *access = &wording->facts->sides[1].origin;
    if (!grout_wording__is_pallas(wording)) {
        return false;
    }
    if (wording->record->code == GROUT_DIAG_MISSING_COMMIT_GMEM) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_NO_FENCE_HELP, NULL);
        return true;
    }
    if (access->cta != wording->facts->owner) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_NO_PEER_HELP,
                            &(grout_words){.op = name_commit(wording, access)});
        return true;
    }
    return false;
}

/* Right before the copy; before the line that calls it, where it is made inside of that. */
static void add_before_copy(const grout_wording *wording, const char *commit, grout_text *out) {
    const grout_side *copy = &wording->facts->sides[0];
    const grout_origin *access = &wording->facts->sides[1].origin;
    const uint32_t line = grout_wording__get_line(wording, &copy->origin);
    const char *by = grout_wording__name_by(wording, &copy->origin);
    if (grout_wording__is_within_call(wording, &copy->origin)) {
        const char *place = grout_wording__name_place(wording, access, &copy->origin, line);
        grout_sentence__add(out, GROUT_SENTENCE_INSERT_HELP,
                            &(grout_words){.op = commit, .place = place, .by = by});
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_INSERT_BEFORE_HELP,
                        &(grout_words){.op = commit,
                                       .access = grout_wording__get_access(wording, copy),
                                       .line = line,
                                       .by = by});
}

/* In the body that a pipeline calls, by the thread that runs it; false: the access is not there. */
static bool add_in_body(const grout_wording *wording, grout_text *out) {
    const grout_origin *copy = &wording->facts->sides[0].origin;
    const grout_origin *access = &wording->facts->sides[1].origin;
    if (wording->facts->sides[1].stamp.agent != GROUT_AGENT_ACTOR ||
        !grout_wording__is_in_body(wording, access, copy)) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_INSERT_HELP,
                        &(grout_words){.op = name_commit(wording, access),
                                       .place = grout_wording__name_place(wording, access, copy, 0),
                                       .by = grout_wording__name_by(wording, access)});
    return true;
}

/*
 * Right before the copy a commit always helps: what it lacks is known there. Where threads meet
 * between the two, the custom is that each that made the access publishes it before; what an engine
 * did, or another CTA to GMEM, the one that comes to use it.
 */
void grout_wording__add_commit_repair(grout_wording *wording, grout_text *out) {
    const grout_side *copy = &wording->facts->sides[0];
    const grout_side *access = &wording->facts->sides[1];
    if (wording->facts->near.kind == GROUT_NEAR_COMMIT_OF_OTHERS) {
        repair_strictly(wording, out);
        return;
    }
    if (add_without_fence(wording, out) ||
        (!grout_near__is_of_grids(&wording->facts->near) && add_in_body(wording, out))) {
        return;
    }
    grout_spot spot = find_after(wording, &access->origin);
    const char *commit = NULL;
    bool is_abroad =
        wording->record->code == GROUT_DIAG_MISSING_COMMIT_GMEM &&
        (access->origin.cta != copy->origin.cta || grout_near__is_of_grids(&wording->facts->near));
    bool is_handed_over = !grout_origin__is_same_actor(&access->origin, &copy->origin) ||
                          has_other_writers(wording, &access->origin, &copy->origin);
    if (access->stamp.agent == GROUT_AGENT_ACTOR && spot.place.file && !is_abroad &&
        is_handed_over) {
        commit = name_commit(wording, &access->origin);
        add_owners(wording, commit, &spot, out);
    } else {
        commit = name_commit(wording, &copy->origin);
        spot = grout_statement__get_before(&wording->shared->lines, copy->origin.op);
        add_before_copy(wording, commit, out);
    }
    grout_wording__set_edit(wording, &spot, commit);
}
