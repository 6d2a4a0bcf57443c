/*
 * group_repair.c - waits for the groups of copies: the wait that is missing, its number, or the one
 * that stands there with too large a number or in another place.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cover.h"
#include "wording.h"

#include <inttypes.h>

static uint32_t get_op_line(const grout_wording *wording, grout_op_id op) {
    return grout_module_get_place(wording->module, grout_module_get_op(wording->module, op)->loc)
        .line;
}

uint32_t grout_wording__get_allowed(const grout_wording *wording) {
    const grout_facts *facts = wording->facts;
    const grout_cover *cover = &wording->record->cover;
    const bool is_own =
        facts->side_count == 2 && !facts->near.is_open &&
        grout_origin__is_same_actor(&facts->sides[0].origin, &facts->sides[1].origin) &&
        grout_cover__get_spot(cover) == facts->sides[0].origin.op;
    return is_own && grout_code__has_cover(wording->record->code) ? cover->allowed : 0;
}

/* The wait for the source of a copy, or for all of it. */
static const char *spell_await(const grout_wording *wording, bool is_source) {
    return grout_wording__spell(
        wording, is_source ? GROUT_SPELLING_WAIT_STORES_READ : GROUT_SPELLING_WAIT_STORES,
        &(grout_words){.number = grout_wording__get_allowed(wording)});
}

/* The lines that end a copy's group, and wait for its source or for all of it. */
const char *grout_wording__get_group_lines(const grout_wording *wording, bool is_source) {
    grout_text text = {.allocator = wording->checker->allocator};
    if (wording->facts->near.is_open) {
        grout_text_add(&text, "%s\n",
                       grout_wording__spell(wording, GROUT_SPELLING_COMMIT_GROUP, NULL));
    }
    grout_text_add(&text, "%s", spell_await(wording, is_source));
    return grout_wording__keep(wording, &text);
}

/* "'commit_group' and then 'wait_smem_to_gmem 0'" */
const char *grout_wording__get_group_ops(const grout_wording *wording, bool is_source) {
    const char *await = spell_await(wording, is_source);
    if (wording->facts->near.is_open) {
        const char *close = grout_wording__spell(wording, GROUT_SPELLING_COMMIT_GROUP, NULL);
        return grout_wording__say(wording, GROUT_SENTENCE_CLOSE_AND_AWAIT,
                                  &(grout_words){.op = close, .other_op = await});
    }
    return grout_wording__say(wording, GROUT_SENTENCE_AWAIT, &(grout_words){.op = await});
}

/* A number of the text becomes another one; false if it is not written as a number. */
static bool set_number(grout_wording *wording, grout_expr_id expr, uint32_t number) {
    const grout_expr *it = grout_module_get_expr(wording->module, expr);
    grout_text text = {.allocator = wording->checker->allocator};
    if (it->kind != GROUT_EXPR_INT) {
        return false;
    }
    grout_text_add(&text, "%" PRIu32, number);
    wording->finding->edit.place = grout_module_get_place(wording->module, it->loc);
    wording->finding->edit.is_replacement = true;
    wording->finding->edit.text = grout_wording__keep(wording, &text);
    return true;
}

/* The n of the wait that all occurrences have in common, if a lower one mends them all; 0: none. */
static grout_expr_id find_number(const grout_wording *wording) {
    const grout_op_id wait = grout_cover__get_wait(&wording->record->cover);
    return wait
               ? grout_op__find_allowed(wording->module, grout_module_get_op(wording->module, wait))
               : 0;
}

/* The statement of the block around a loop that the op is, or is in; 0: it is in the loop, or not
 * in that block. */
static grout_op_id find_beside(const grout_module *module, grout_op_id loop, grout_op_id op) {
    const grout_block_id block = grout_module_get_op(module, loop)->parent;
    while (op != 0 && grout_module_get_op(module, op)->parent != block) {
        op = grout_op__get_parent(module, op);
    }
    return op == loop ? 0 : op;
}

/* The loop of a wait that leaves what is still in flight when the loop is over, where the access
 * comes: in the loop the number may be right. 0: it is not so. */
/* Whether a wait of the loop's body for the same engine leaves nothing: then nothing is meant to be
 * in flight from turn to turn. */
static bool empties(const grout_module *module, grout_op_id loop, grout_op_id wait) {
    const grout_sync_info *own =
        grout_op_get_sync((grout_opcode)grout_module_get_op(module, wait)->opcode);
    const grout_block_id body = grout_module_get_op(module, loop)->first_block;
    bool has_any = false;
    for (grout_op_id at = grout_module_get_block(module, body)->first; at != 0 && !has_any;
         at = grout_module_get_op(module, at)->next) {
        const grout_op *op = grout_module_get_op(module, at);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        const grout_expr_id n =
            sync != NULL && sync->mode == GROUT_SYNC_MODE_WAITS && sync->object == own->object
                ? grout_op__find_allowed(module, op)
                : 0;
        has_any = n != 0 && grout_module_get_expr_value(module, n).integer == 0;
    }
    return has_any;
}

grout_op_id grout_wording__find_ended_loop(const grout_wording *wording) {
    const grout_module *module = wording->module;
    const grout_op_id wait = grout_cover__get_wait(&wording->record->cover);
    const grout_side *sides = wording->facts->sides;
    const grout_op_id loop = wait != 0 ? grout_op__get_loop(module, wait) : 0;
    const grout_op_id beside = loop != 0 ? find_beside(module, loop, sides[0].origin.op) : 0;
    return beside != 0 && find_beside(module, loop, sides[1].origin.op) == 0 &&
                   grout_origin__is_same_actor(&sides[0].origin, &sides[1].origin) &&
                   grout_op__find_reach(module, loop, beside).kind == GROUT_REACH_AHEAD &&
                   !empties(module, loop, wait)
               ? loop
               : 0;
}

bool grout_wording__lower_wait(grout_wording *wording, grout_text *out) {
    const grout_cover *cover = &wording->record->cover;
    const grout_op_id wait = grout_cover__get_wait(cover);
    const grout_expr_id n = find_number(wording);
    if (!n || grout_wording__find_ended_loop(wording) != 0 ||
        !set_number(wording, n, cover->wait_allowed)) {
        return false;
    }
    const grout_words words = {
        .have = grout_module_get_expr_value(wording->module, n).integer,
        .op = grout_wording__get_mnemonic(wording, &(grout_origin){.op = wait}),
        .line = get_op_line(wording, wait),
        .need = cover->wait_allowed};
    if (cover->wait_allowed < wording->facts->near.wait_needed) {
        grout_sentence__add(out, GROUT_SENTENCE_LOWER_FURTHER_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_LOWER_HELP, &words);
    }
    return true;
}

/* The same of a wait for bulk groups: one for the source alone says nothing of the write. */
static bool lower_group_wait(grout_wording *wording, bool is_source, grout_text *out) {
    const grout_op_id wait = grout_cover__get_wait(&wording->record->cover);
    const bool is_read_only =
        wait && grout_module_find_attr(wording->module, grout_module_get_op(wording->module, wait),
                                       GROUT_ATTR_READ_ONLY) != NULL;
    return wording->facts->near.kind == GROUT_NEAR_GROUP_LEFT && (is_source || !is_read_only) &&
           grout_wording__lower_wait(wording, out);
}

/* The wait for groups that stands after the statement, before the next copy or the end of the
 * block, and would do before it; 0: there is none. */
static grout_op_id find_late_group_wait(const grout_wording *wording, grout_op_id statement,
                                        bool is_source) {
    const grout_module *module = wording->module;
    grout_op_id at = grout_module_get_op(module, statement)->next;
    for (; at != 0; at = grout_module_get_op(module, at)->next) {
        const grout_op *op = grout_module_get_op(module, at);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        if (sync == NULL || sync->object != GROUT_SYNC_OBJECT_BULK) {
            continue;
        }
        const grout_expr_id n = grout_op__find_allowed(module, op);
        const bool is_read_only = grout_module_find_attr(module, op, GROUT_ATTR_READ_ONLY) != NULL;
        return sync->mode == GROUT_SYNC_MODE_WAITS && n != 0 && (is_source || !is_read_only) &&
                       grout_module_get_expr_value(module, n).integer <=
                           (int64_t)grout_wording__get_allowed(wording)
                   ? at
                   : 0;
    }
    return 0;
}

/* "move the wait_smem_to_gmem at line 48 to before line 47" */
static bool move_group_wait(grout_wording *wording, grout_op_id statement, bool is_source,
                            grout_text *out) {
    const grout_op_id late = find_late_group_wait(wording, statement, is_source);
    const grout_op_id loop = grout_op__get_loop(wording->module, statement);
    if (late == 0 || loop == 0) {
        return false;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_GROUP_MOVE_HELP,
        &(grout_words){.op = grout_wording__get_mnemonic(wording, &(grout_origin){.op = late}),
                       .other_line = get_op_line(wording, late),
                       .line = get_op_line(wording, statement)});
    return true;
}

void grout_wording__repair_group(grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    bool is_source = wording->record->code == GROUT_DIAG_SMEM_SOURCE_REUSE ||
                     wording->record->code == GROUT_DIAG_TENSORMAP_IN_FLIGHT;
    uint32_t line = grout_wording__get_line(wording, &access->origin);
    grout_op_id statement = grout_statement__find(wording->module, access->origin.op);
    grout_spot spot = grout_statement__get_before(&wording->shared->lines, statement);
    if (!grout_origin__is_same_actor(&access->origin, &copy->origin)) {
        grout_sentence__add(
            out, GROUT_SENTENCE_GROUP_OTHERS_HELP,
            &(grout_words){.actor = grout_wording__name_actor(wording, &copy->origin),
                           .ops = grout_wording__get_group_ops(wording, is_source),
                           .line = grout_wording__get_line(wording, &copy->origin),
                           .barrier = grout_wording__get_barrier(wording),
                           .other_actor = grout_wording__name_actor(wording, &access->origin),
                           .other_line = line});
        return;
    }
    if (move_group_wait(wording, statement, is_source, out) ||
        lower_group_wait(wording, is_source, out)) {
        return;
    }
    line = spot.place.file ? spot.place.line : line;
    grout_sentence__add(out, GROUT_SENTENCE_GROUP_HELP,
                        &(grout_words){.ops = grout_wording__get_group_ops(wording, is_source),
                                       .place = grout_wording__name_place(wording, &copy->origin,
                                                                          &access->origin, line),
                                       .by = grout_wording__name_by(wording, &access->origin)});
    if (grout_wording__is_alone(wording, &access->origin) &&
        grout_wording__is_alone(wording, &copy->origin)) {
        grout_wording__set_edit(wording, &spot, grout_wording__get_group_lines(wording, is_source));
    }
}
