/*
 * commit_repair.c - the commit that is missing, where it goes, and who executes it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include <inttypes.h>

static const char *get_text(const grout_text *text) {
    return text->data && !text->failed ? text->data : "";
}

/* The commit that an actor would have to execute for these bytes. */
static void add_commit(const grout_wording *wording, const grout_origin *actor, grout_text *out) {
    if (wording->record->code == GROUT_DIAG_MISSING_COMMIT_GMEM) {
        grout_text_add(out, "commit_gmem");
    } else {
        grout_text_add(out, "%s%s", grout_wording__get_smem_commit(wording),
                       actor->cta == wording->facts->owner ? "" : " cluster");
    }
}

/* The access is the primary side. Its own thread publishes it, right after it. */
static void repair_strictly(grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    grout_op_id statement = grout_statement__find(wording->module, access->origin.op);
    grout_spot spot = grout_statement__get_after(wording->module, statement);
    grout_text commit = {.allocator = wording->checker->allocator};
    uint32_t line =
        spot.place.file ? spot.place.line : grout_wording__get_line(wording, &access->origin);
    add_commit(wording, &access->origin, &commit);
    grout_text_add(out, "insert '%s' %s line %" PRIu32, get_text(&commit),
                   spot.place.file && !spot.is_after ? "before" : "after", line);
    grout_wording__add_by(wording, &access->origin, out);
    grout_text_add(out, ", before it lets ");
    if (access->origin.cta != copy->origin.cta) {
        grout_wording__add_cta(wording, copy->origin.cta, out);
    } else if (access->origin.thread != copy->origin.thread) {
        grout_wording__add_actor(wording, &copy->origin, out);
    } else {
        grout_text_add(out, "others");
    }
    grout_text_add(out, " go on");
    grout_wording__set_edit(wording, &spot, get_text(&commit));
    out->failed |= commit.failed;
    grout_text_free(&commit);
}

/* An arrive, or a meeting, that the thread runs after the one op and before the other. */
static bool has_release_between(const grout_module *module, grout_op_id first, grout_op_id last) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
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
static void add_owners(const grout_wording *wording, grout_text *out) {
    const grout_origin *copy = &wording->facts->sides[0].origin;
    const grout_origin *access = &wording->facts->sides[1].origin;
    if (has_other_writers(wording, access, copy)) {
        grout_text_add(out, ", by each thread that runs it, before they meet");
        return;
    }
    grout_wording__add_by(wording, access, out);
    grout_text_add(out, ", before it lets ");
    grout_wording__add_actor(wording, copy, out);
    grout_text_add(out, " go on");
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
    grout_op_id statement = grout_statement__find(wording->module, access->origin.op);
    grout_spot spot = grout_statement__get_after(wording->module, statement);
    grout_text commit = {.allocator = wording->checker->allocator};
    bool is_abroad = wording->record->code == GROUT_DIAG_MISSING_COMMIT_GMEM &&
                     access->origin.cta != copy->origin.cta;
    bool is_handed_over = !grout_origin__is_same_actor(&access->origin, &copy->origin) ||
                          has_other_writers(wording, &access->origin, &copy->origin);
    if (access->stamp.agent == GROUT_AGENT_ACTOR && spot.place.file && !is_abroad &&
        is_handed_over) {
        add_commit(wording, &access->origin, &commit);
        grout_text_add(out, "insert '%s' %s line %" PRIu32, get_text(&commit),
                       spot.is_after ? "after" : "before", spot.place.line);
        add_owners(wording, out);
    } else {
        add_commit(wording, &copy->origin, &commit);
        spot = grout_statement__get_before(wording->module, copy->origin.op);
        grout_text_add(out, "insert '%s' before the %s at line %" PRIu32, get_text(&commit),
                       grout_wording__is_wgmma(wording, copy) ? "wgmma" : "copy",
                       grout_wording__get_line(wording, &copy->origin));
        grout_wording__add_by(wording, &copy->origin, out);
    }
    grout_wording__set_edit(wording, &spot, get_text(&commit));
    out->failed |= commit.failed;
    grout_text_free(&commit);
}
