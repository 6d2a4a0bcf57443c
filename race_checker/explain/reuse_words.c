/*
 * reuse_words.c - memory that is overwritten while it may still be read: which thread waits.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reuse.h"
#include "wording.h"

#include <string.h>

/* "%t=0, %k=4": the turns of an origin in loops. */
static const char *name_turn(const grout_wording *wording, const grout_origin *origin) {
    grout_origin actor = *origin;
    grout_text all = {.allocator = wording->checker->allocator};
    grout_text alone = {.allocator = wording->checker->allocator};
    const grout_kernel_id kernel = wording->checker->info.kernel;
    actor.op = 0;
    actor.loop_depth = 0;
    grout_describe_actor(wording->module, kernel, origin, &all);
    grout_describe_actor(wording->module, kernel, &actor, &alone);
    const size_t start = alone.size + strlen(", ");
    const bool has_turn = !alone.failed && start < all.size;
    const char *turn = grout_wording__keep(wording, &all);
    grout_text_free(&alone);
    return has_turn ? turn + start : "";
}

/* ---- a wait that comes too late ---- */

bool grout_wording__add_late_repair(const grout_wording *wording, grout_text *out) {
    const grout_side *writer = grout_record__find_overwriter(wording->module, wording->record);
    if (wording->late == NULL || writer == NULL) {
        return false;
    }
    const grout_facts *late = &wording->late->facts;
    const grout_origin *wait = &late->sides[1].origin;
    grout_sentence__add(
        out, GROUT_SENTENCE_REUSE_LATE_HELP,
        &(grout_words){.actor = grout_wording__name_actor(wording, &writer->origin),
                       .phase = late->phase,
                       .element = grout_wording__name_element(wording, late->element),
                       .line = grout_wording__get_line(wording, &writer->origin),
                       .where = name_turn(wording, &writer->origin),
                       .other_line = grout_wording__get_line(wording, wait),
                       .what = name_turn(wording, wait)});
    return true;
}

/* ---- a release that comes too early ---- */

/* The barrier that the thread waits on last before the access, in the same loop; 0: none. */
static grout_object_id find_guard(const grout_wording *wording, const grout_origin *access) {
    const grout_origin guard = {.op = grout_wording__find_wait_before(wording, access)};
    return guard.op != 0 ? grout_origin__find_object(wording->module, &guard) : 0;
}

/* Whether arrival and read name one stage of their objects, or the barrier has none. */
static bool is_of_one_stage(const grout_wording *wording, grout_op_id arrival,
                            grout_object_id barrier, const grout_side *read) {
    const grout_object_id array = read->box.object;
    const char *stage = grout_wording__name_stage(wording, arrival, barrier);
    return grout_type_get_count(grout_object_get_type(wording->module, barrier)) == 1 ||
           (stage[0] != '\0' &&
            strcmp(stage, grout_wording__name_stage(wording, read->origin.op, array)) == 0);
}

/* The only arrival on the barrier in the block of the read, if it comes before the read. */
static grout_op_id find_release(const grout_wording *wording, grout_object_id barrier,
                                const grout_side *read) {
    const grout_module *module = wording->module;
    const grout_op *reader = grout_module_get_op(module, read->origin.op);
    const grout_op_id release = grout_wording__find_only_post(wording, barrier, &read->origin);
    if (release == 0 || grout_module_get_op(module, release)->parent != reader->parent ||
        !is_of_one_stage(wording, release, barrier, read)) {
        return 0;
    }
    return grout_op__find_reach(module, release, read->origin.op).kind == GROUT_REACH_AHEAD
               ? release
               : 0;
}

bool grout_wording__add_release_repair(const grout_wording *wording, grout_text *out) {
    const grout_side *sides = wording->facts->sides;
    const grout_side *writer = grout_record__find_overwriter(wording->module, wording->record);
    const grout_object_id barrier = writer != NULL ? find_guard(wording, &writer->origin) : 0;
    if (barrier == 0) {
        return false;
    }
    const grout_side *read = &sides[writer == sides ? 1 : 0];
    const grout_origin release = {.op = find_release(wording, barrier, read)};
    if (release.op == 0) {
        return false;
    }
    const char *op = grout_wording__get_mnemonic(wording, &release);
    const uint32_t line = grout_wording__get_line(wording, &release);
    const uint32_t other_line = grout_wording__get_line(wording, &read->origin);
    if (grout_wording__is_wgmma(wording, read)) {
        const char *by = grout_wording__name_by(wording, &read->origin);
        grout_sentence__add(
            out, GROUT_SENTENCE_WGMMA_MOVE_ARRIVE_HELP,
            &(grout_words){.op = op, .line = line, .other_line = other_line, .by = by});
        return true;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_REUSE_RELEASE_HELP,
        &(grout_words){.op = op,
                       .line = line,
                       .other_line = other_line,
                       .actor = grout_wording__name_actor(wording, &read->origin),
                       .other_actor = grout_wording__name_actor(wording, &writer->origin)});
    return true;
}

/* ---- an order that is missing ---- */

void grout_wording__add_turn_repair(const grout_wording *wording, grout_text *out) {
    const grout_side *sides = wording->facts->sides;
    const grout_side *writer = grout_record__find_overwriter(wording->module, wording->record);
    if (writer == NULL) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_ARRIVE_HELP,
                            &(grout_words){.thread = grout_wording__get_kind(&sides[0].origin),
                                           .barrier = grout_wording__get_barrier(wording)});
        return;
    }
    const grout_origin *reader = &sides[writer == sides ? 1 : 0].origin;
    grout_sentence__add(
        out, GROUT_SENTENCE_REUSE_ARRIVE_HELP,
        &(grout_words){.actor = grout_wording__name_actor(wording, reader),
                       .barrier = grout_wording__get_barrier(wording),
                       .line = grout_wording__get_line(wording, reader),
                       .other_actor = grout_wording__name_actor(wording, &writer->origin),
                       .other_line = grout_wording__get_line(wording, &writer->origin)});
}
