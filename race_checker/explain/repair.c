/* repair.c - what to insert, where, executed by which thread; and the edit, where there is only
 * one. SPDX-License-Identifier: Apache-2.0
 *
 * An edit that is offered repairs its finding and makes no deadlock: tests/behaviour/apply_edits.py
 * applies them all. Where that is not certain there are words only.
 */
#include "cover.h"
#include "wording.h"

#include <inttypes.h>
#include <string.h>

static uint32_t get_line(const grout_wording *wording, grout_op_id op) {
    return grout_module_get_place(wording->module, grout_module_get_op(wording->module, op)->loc)
        .line;
}

/* ---- waits for loads ---- */

/* The wait on the barrier operand of a copy, if that names its element by constants: then it can be
 * repeated. */
static bool add_constant_wait(const grout_wording *wording, const grout_origin *copy,
                              grout_text *out) {
    grout_text op = {.allocator = wording->checker->allocator};
    const char *operand = NULL;
    bool done = false;
    grout_op_print(wording->module, copy->op, &op);
    if (op.data && !op.failed) {
        operand = strrchr(op.data, '%');
        done = operand > op.data + 2 && operand[-1] == ' ' && operand[-2] == ',';
    }
    if (done) {
        grout_text_add(out, "%s", grout_wording__spell_wait(wording, wording->facts->near.element));
    }
    grout_text_free(&op);
    return done && !out->failed;
}

static bool is_behind(const grout_wording *wording, grout_op_id op, grout_op_id other) {
    return grout_loc__compare(wording->module, grout_module_get_op(wording->module, op)->loc,
                              grout_module_get_op(wording->module, other)->loc) > 0;
}

/* The statement of the access, or around it, that runs as often as the copy; 0: there is none. */
static grout_op_id find_level(const grout_wording *wording, grout_op_id access, grout_op_id copy) {
    grout_op_id loop = grout_op__get_loop(wording->module, copy);
    grout_op_id level = grout_statement__find(wording->module, access);
    while (level && grout_op__get_loop(wording->module, level) != loop) {
        level = grout_op__get_loop(wording->module, level);
    }
    return level;
}

/* Whether an if is around the op, inside the loop (0: the kernel), and not around the other op. */
static bool is_conditional(const grout_module *module, grout_op_id op, grout_op_id loop,
                           grout_op_id other) {
    for (op = grout_op__get_parent(module, op); op != loop; op = grout_op__get_parent(module, op)) {
        grout_op_id around = other;
        while (around && around != op) {
            around = grout_op__get_parent(module, around);
        }
        grout_opcode opcode = (grout_opcode)grout_module_get_op(module, op)->opcode;
        if (!around && grout_op_get_region(opcode)->kind == GROUT_REGION_BRANCH) {
            return true;
        }
    }
    return false;
}

/* In a loop, the k-th round's wait is for the copy's phase only if a round is one phase. */
static bool is_phase_a_round(const grout_wording *wording, grout_op_id loop) {
    const grout_launch_info *info = &wording->checker->info;
    grout_object_id object = info->element_objects[wording->facts->near.element];
    const grout_barrier_ops ops = grout_wording__get_barrier_ops(wording, object);
    return ops.arrivals == grout_object_get_arrivals(wording->module, object) &&
           (ops.arrivals == 0 || (!ops.has_loops && ops.loop == loop));
}

/* Whether one more wait before the access would be the wait for the copy, and never hang. */
static bool can_insert_wait(const grout_wording *wording) {
    const grout_near *near = &wording->facts->near;
    const grout_origin *access = &wording->facts->sides[0].origin;
    const grout_origin *load = &wording->facts->sides[1].origin;
    grout_op_id copy = load->op;
    grout_op_id statement = grout_statement__find(wording->module, access->op);
    grout_op_id loop = grout_op__get_loop(wording->module, copy);
    grout_op_id wait = 0;
    grout_object_id barrier = wording->checker->info.element_objects[near->element];
    if (near->kind != GROUT_NEAR_NEVER_WAITED || load->cta != access->cta ||
        grout_module_get_object(wording->module, barrier)->is_explicit || near->phase != 0 ||
        !near->is_full || wording->checker->run.has_deadlock ||
        wording->checker->run.has_step_limit || !grout_wording__is_alone(wording, access) ||
        !grout_wording__is_alone(wording, load) || !is_behind(wording, statement, copy) ||
        find_level(wording, access->op, copy) != statement ||
        grout_wording__count_waits(wording, wording->facts->near.element, access->thread, &wait) >
            0) {
        return false;
    }
    return !loop || (!is_conditional(wording->module, statement, loop, copy) &&
                     is_phase_a_round(wording, loop));
}

/* The thread has one wait on the barrier, and it comes too late. */
static bool add_late_wait(const grout_wording *wording, grout_text *out) {
    const grout_origin *access = &wording->facts->sides[0].origin;
    grout_op_id copy = wording->facts->sides[1].origin.op;
    grout_op_id level = find_level(wording, access->op, copy), wait = 0;
    if (!level || !is_behind(wording, level, copy) ||
        grout_wording__count_waits(wording, wording->facts->near.element, access->thread, &wait) !=
            1 ||
        grout_op__get_loop(wording->module, wait) != grout_op__get_loop(wording->module, copy) ||
        get_line(wording, wait) <= get_line(wording, level)) {
        return false;
    }
    const grout_words words = {.line = get_line(wording, wait),
                               .other_line = get_line(wording, level),
                               .by = grout_wording__name_by(wording, access)};
    if (level == grout_statement__find(wording->module, access->op)) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_MOVE_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_MOVE_BEFORE_LOOP_HELP, &words);
    }
    return true;
}

/* Whether the thread that issues the copy comes past the access first, and never back to it: then
 * a wait for the copy there would keep it from being issued. */
static bool comes_after(const grout_wording *wording, const grout_origin *copy,
                        const grout_origin *access) {
    return grout_op__find_reach(wording->module, copy->op, access->op).kind == GROUT_REACH_PASSED &&
           (wording->checker->run.op_threads[access->op] >> copy->thread & 1) != 0;
}

/* The copy overwrites what the access is about, and has to come after it. */
static void repair_order_of_copy(const grout_wording *wording, grout_text *out) {
    const grout_origin *access = &wording->facts->sides[0].origin;
    const grout_origin *copy = &wording->facts->sides[1].origin;
    const grout_words words = {
        .line = grout_wording__get_line(wording, access),
        .other_line = grout_wording__get_line(wording, copy),
        .actor = grout_wording__name_actor(wording, access),
        .other_actor = grout_wording__name_actor(wording, copy),
        .barrier = grout_wording__get_barrier(wording),
        .op = grout_wording__spell(wording, GROUT_SPELLING_CLUSTER_MEETS, NULL)};
    if (access->cta != copy->cta) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_MEET_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_ORDER_HELP, &words);
    }
}

static void repair_await_abroad(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_origin *access = &wording->facts->sides[0].origin;
    grout_sentence__add(
        out, GROUT_SENTENCE_AWAIT_ABROAD_HELP,
        &(grout_words){.cta = grout_wording__name_cta(wording, near->cta),
                       .phase = near->phase,
                       .element = grout_wording__name_element(wording, near->element),
                       .barrier = grout_wording__get_barrier(wording),
                       .other_cta = grout_wording__name_cta(wording, access->cta),
                       .line = grout_wording__get_line(wording, access)});
}

/* The wait that is missing, where no place for it is certain. */
static void repair_by_wait(const grout_wording *wording, uint32_t line, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_origin *access = &wording->facts->sides[0].origin;
    const grout_origin *copy = &wording->facts->sides[1].origin;
    const grout_words words = {.phase = near->phase,
                               .element = grout_wording__name_element(wording, near->element),
                               .line = line,
                               .by = grout_wording__name_by(wording, access)};
    bool is_next_round =
        grout_origin__is_same_actor(access, copy) &&
        grout_op__find_reach(wording->module, copy->op, access->op).kind == GROUT_REACH_NEXT_ROUND;
    if (is_next_round) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_AGAIN_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_HELP, &words);
    }
    (void)grout_wording__add_wait_line(wording, out);
}

/* What nearly was a wait for the copy; false: there was none. */
static bool repair_near_wait(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    if (near->kind == GROUT_NEAR_WAIT_ABROAD) {
        repair_await_abroad(wording, out);
        return true;
    }
    if (near->kind == GROUT_NEAR_WAIT_ELSEWHERE) {
        grout_sentence__add(
            out, GROUT_SENTENCE_AWAIT_ELSEWHERE_HELP,
            &(grout_words){.element = grout_wording__name_operand(wording, near->element),
                           .line = grout_wording__get_line(wording, &near->origin),
                           .other_element = grout_wording__name_operand(wording, near->number)});
        return true;
    }
    if (near->kind == GROUT_NEAR_WAIT_FRESH) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_PARITY_HELP,
                            &(grout_words){.line = grout_wording__get_line(wording, &near->origin),
                                           .phase = near->phase,
                                           .parity = near->phase % 2});
        return true;
    }
    return false;
}

static void repair_await(grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    uint32_t line = grout_wording__get_line(wording, &access->origin);
    grout_text wait = {.allocator = wording->checker->allocator};
    if (grout_wording__add_async_copy_repair(wording, 1, out)) {
        return;
    }
    if (wording->facts->near.kind == GROUT_NEAR_BARRIER_GONE) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_GONE_HELP,
                            &(grout_words){.by = grout_wording__name_by(wording, &copy->origin)});
        return;
    }
    if (comes_after(wording, &copy->origin, &access->origin) &&
        !grout_origin__is_same_actor(&copy->origin, &access->origin)) {
        repair_order_of_copy(wording, out);
        return;
    }
    if (repair_near_wait(wording, out)) {
        return;
    }
    if (can_insert_wait(wording) && add_constant_wait(wording, &copy->origin, &wait)) {
        grout_op_id statement = grout_statement__find(wording->module, access->origin.op);
        grout_spot spot = grout_statement__get_before(&wording->shared->lines, statement);
        line = spot.place.file ? spot.place.line : line;
        grout_sentence__add(out, GROUT_SENTENCE_INSERT_HELP,
                            &(grout_words){.op = wait.data,
                                           .place = grout_wording__name_place(
                                               wording, &copy->origin, &access->origin, line),
                                           .by = grout_wording__name_by(wording, &access->origin)});
        grout_wording__set_edit(wording, &spot, wait.data);
    } else if (!add_late_wait(wording, out)) {
        repair_by_wait(wording, line, out);
    }
    grout_text_free(&wait);
}

/* ---- maps ---- */

/* A map that is used too early, or made too early. */
static void repair_map(grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->side_count == 1) {
        grout_sentence__add(out,
                            facts->fault.use == GROUT_MAP_NOT_ACQUIRED
                                ? GROUT_SENTENCE_MAP_EARLY_HELP
                                : GROUT_SENTENCE_MAP_REPLACED_HELP,
                            NULL);
    } else if (facts->near.kind == GROUT_NEAR_STILL_READING ||
               facts->near.kind == GROUT_NEAR_NOTHING) {
        grout_sentence__add(out, GROUT_SENTENCE_MAP_READING_HELP, NULL);
    } else {
        grout_wording__repair_group(wording, out);
    }
}

/* ---- waits for wgmmas ---- */

/* The copy and the wgmma are in no order at all: the arrive came too early, or there is none. */
static void repair_unordered_wgmma(const grout_wording *wording, grout_text *out) {
    const grout_origin *copy = &wording->facts->sides[0].origin;
    const grout_origin *wgmma = &wording->facts->sides[1].origin;
    const grout_origin *arrive = &wording->facts->near.origin;
    uint32_t line = grout_wording__get_line(wording, wgmma);
    if (arrive->op) {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_MOVE_ARRIVE_HELP,
                            &(grout_words){.op = grout_wording__get_mnemonic(wording, arrive),
                                           .line = grout_wording__get_line(wording, arrive),
                                           .other_line = line,
                                           .by = grout_wording__name_by(wording, wgmma)});
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_WGMMA_UNORDERED_HELP,
                        &(grout_words){.line = line,
                                       .barrier = grout_wording__get_barrier(wording),
                                       .actor = grout_wording__name_actor(wording, copy),
                                       .other_line = grout_wording__get_line(wording, copy),
                                       .by = grout_wording__name_by(wording, wgmma)});
}

/* "wgmma_wait 0" */
static const char *spell_wgmma_wait(const grout_wording *wording, uint32_t allowed) {
    return grout_wording__spell(wording, GROUT_SPELLING_WGMMA_WAIT,
                                &(grout_words){.number = allowed});
}

/* Nothing tells where the wait would go. */
static void repair_wgmma_anywhere(const grout_wording *wording, grout_text *out) {
    const grout_origin *wgmma = &wording->facts->sides[1].origin;
    const grout_words words = {
        .line = grout_wording__get_line(wording, wgmma),
        .op = spell_wgmma_wait(wording, 0),
        .actor = grout_wording__name_actor(wording, &wording->facts->sides[0].origin),
        .by = grout_wording__name_by(wording, wgmma)};
    if (wording->facts->near.handover.op) {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_EACH_ARRIVE_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_HANDOVER_HELP, &words);
    }
}

/* A wgmma_wait that stands there comes before the op, or one is put there. */
static void add_wgmma_wait(const grout_wording *wording, grout_op_id op, const char *wait,
                           grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_origin *wgmma = &wording->facts->sides[1].origin;
    const grout_origin later = {.op = op};
    const uint32_t line = get_line(wording, op);
    const char *by = grout_wording__name_by(wording, wgmma);
    const char *place = grout_wording__name_place(wording, wgmma, &later, line);
    const bool is_late = near->kind == GROUT_NEAR_WGMMA_LATE;
    const bool is_arrive = near->handover.op && !grout_wording__is_within_call(wording, &later);
    const char *handover =
        near->handover.op ? grout_wording__get_mnemonic(wording, &near->handover) : "";
    const grout_words move = {.line = is_late ? grout_wording__get_line(wording, &near->origin) : 0,
                              .other_line = line,
                              .place = place,
                              .access = handover,
                              .by = by};
    const grout_words insert = {
        .op = wait, .place = place, .line = line, .access = handover, .by = by};
    if (is_late && is_arrive) {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_MOVE_BEFORE_HELP, &move);
    } else if (is_late) {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_MOVE_HELP, &move);
    } else if (is_arrive) {
        grout_sentence__add(out, GROUT_SENTENCE_INSERT_BEFORE_HELP, &insert);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_INSERT_HELP, &insert);
    }
}

static void repair_wgmma(grout_wording *wording, grout_text *out) {
    const grout_cover *cover = &wording->record->cover;
    grout_op_id op = grout_cover__get_spot(cover);
    if (wording->facts->near.kind == GROUT_NEAR_WGMMA_UNORDERED) {
        repair_unordered_wgmma(wording, out);
        return;
    }
    const grout_side *sides = wording->facts->sides;
    const bool is_in_body = grout_wording__is_in_body(wording, &sides[1].origin, &sides[0].origin);
    if (!op && !is_in_body) {
        repair_wgmma_anywhere(wording, out);
        return;
    }
    if (grout_wording__lower_wait(wording, out)) {
        return;
    }
    const grout_op_id ended = grout_wording__find_ended_loop(wording);
    const grout_op_id next = ended != 0 ? grout_module_get_op(wording->module, ended)->next : 0;
    op = op ? op : sides[0].origin.op; /* several at one place: what a pipeline copies */
    op = grout_statement__find(wording->module, next != 0 ? next : op);
    grout_spot spot = grout_statement__get_before(&wording->shared->lines, op);
    const char *wait = spell_wgmma_wait(wording, next != 0 ? 0 : cover->allowed);
    add_wgmma_wait(wording, op, wait, out);
    grout_wording__set_edit(wording, &spot, wait);
}

/* The last line of the block that owns the object: before its yield, or its closing brace. */
static grout_spot get_last_spot(const grout_wording *wording, grout_object_id object,
                                grout_block_id body) {
    const grout_module *module = wording->module;
    grout_op_id op =
        grout_module_get_value(module, grout_module_get_object(module, object)->value)->op;
    const grout_op *owner = grout_module_get_op(module, op);
    grout_block_id block = owner->block_count > 0 ? owner->first_block : body;
    grout_op_id last = grout_module_get_block(module, block)->last;
    grout_opcode opcode = (grout_opcode)grout_module_get_op(module, last)->opcode;
    if (last && grout_op_get_info(opcode)->shape == GROUT_SHAPE_END) {
        return grout_statement__get_before(&wording->shared->lines, last);
    }
    return grout_block__get_end(&wording->shared->lines, block);
}

static void repair_wgmma_at_exit(grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_kernel *kernel =
        grout_module_get_kernel(wording->module, wording->checker->info.kernel);
    grout_spot spot = get_last_spot(wording, facts->fault.object, kernel->body);
    const char *wait = spell_wgmma_wait(wording, 0);
    grout_sentence__add(
        out, GROUT_SENTENCE_EXIT_WGMMA_HELP,
        &(grout_words){.op = wait,
                       .scope = grout_wording__get_scope(wording),
                       .by = grout_wording__name_by(wording, &facts->sides[0].origin)});
    grout_wording__set_edit(wording, &spot, wait);
}

/* ---- the end of scopes ---- */

/* Whether it is a copy whose bytes count on the barrier of another CTA of its pair. */
static bool is_led_elsewhere(const grout_wording *wording, const grout_origin *copy) {
    const grout_op *op = grout_module_get_op(wording->module, copy->op);
    return copy->cta % wording->checker->shape.cta_count % GROUT_PAIR != 0 &&
           grout_module_find_attr(wording->module, op, GROUT_ATTR_LEADER_TRACKED) != NULL;
}

static void repair_exit(grout_wording *wording, grout_text *out) {
    const grout_side *copy = &wording->facts->sides[0];
    const grout_checker *checker = wording->checker;
    const grout_kernel *kernel = grout_module_get_kernel(wording->module, checker->info.kernel);
    if (grout_wording__is_wgmma(wording, copy)) {
        repair_wgmma_at_exit(wording, out);
        return;
    }
    if (grout_wording__add_async_copy_repair(wording, 0, out)) {
        return;
    }
    const grout_words words = {.ops = grout_wording__get_group_ops(wording, true),
                               .scope = grout_wording__get_scope(wording),
                               .by = grout_wording__name_by(wording, &copy->origin)};
    if (is_led_elsewhere(wording, &copy->origin)) {
        grout_sentence__add(out, GROUT_SENTENCE_EXIT_LED_HELP, &words);
        return;
    }
    if (copy->is_write) {
        grout_wording__add_load_at_exit_repair(wording, out);
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_EXIT_STORE_HELP, &words);
    if (checker->shape.thread_count == 1 && !wording->facts->is_inner) {
        grout_spot spot = grout_block__get_end(&wording->shared->lines, kernel->body);
        grout_wording__set_edit(wording, &spot, grout_wording__get_group_lines(wording, true));
    }
}

/* ---- all ---- */

/* A flag that one thread sets and another polls, with plain accesses. */
static void repair_flag(const grout_wording *wording, grout_text *out) {
    const grout_side *load = grout_record__find_poll(wording->module, wording->record);
    const grout_side *sides = wording->facts->sides;
    const grout_side *store = &sides[load == &sides[0] ? 1 : 0];
    grout_sentence__add(
        out, GROUT_SENTENCE_RACE_FLAG_HELP,
        &(grout_words){.op = grout_wording__spell(wording, GROUT_SPELLING_FLAG_SET, NULL),
                       .line = grout_wording__get_line(wording, &store->origin),
                       .other_op = grout_wording__spell(wording, GROUT_SPELLING_FLAG_POLL, NULL),
                       .other_line = grout_wording__get_line(wording, &load->origin)});
}

/* Two launches of a list: the later one waits. */
static void repair_grids(grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_origin *later = &facts->sides[facts->primary_is_earlier ? 1 : 0].origin;
    if (facts->near.kind == GROUT_NEAR_GRID_FURTHER) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_GRID_FURTHER_HELP, NULL);
        return;
    }
    const char *wait = grout_wording__spell(wording, GROUT_SPELLING_GRID_WAIT, NULL);
    grout_sentence__add(out, GROUT_SENTENCE_RACE_GRID_HELP,
                        &(grout_words){.op = wait,
                                       .line = grout_wording__get_line(wording, later),
                                       .by = grout_wording__name_by(wording, later)});
    grout_op_id statement = grout_statement__find(wording->module, later->op);
    grout_spot spot = grout_statement__get_before(&wording->shared->lines, statement);
    grout_wording__set_edit(wording, &spot, wait);
}

static void repair_race(grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_origin *write = &facts->sides[0].origin;
    if (grout_near__is_of_grids(&facts->near)) {
        repair_grids(wording, out);
        return;
    }
    if (grout_wording__is_of_two_proxies(wording)) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_PROXIES_HELP,
                            &(grout_words){.what = grout_wording__spell(
                                               wording, GROUT_SPELLING_GMEM_FENCE_BETWEEN, NULL)});
        return;
    }
    if (grout_record__find_poll(wording->module, wording->record)) {
        repair_flag(wording, out);
        return;
    }
    if (facts->sides[0].is_atomic && facts->sides[1].is_atomic) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_ATOMICS_HELP, NULL);
        return;
    }
    if (grout_wording__add_async_copy_repair(wording, 1, out)) {
        return;
    }
    if (facts->near.kind == GROUT_NEAR_STILL_READING) {
        grout_sentence__add(
            out, GROUT_SENTENCE_AWAIT_HELP,
            &(grout_words){.phase = facts->near.phase,
                           .element = grout_wording__name_element(wording, facts->near.element),
                           .line = grout_wording__get_line(wording, write),
                           .by = grout_wording__name_by(wording, write)});
    } else if (wording->record->code == GROUT_DIAG_SMEM_RACE) {
        grout_wording__add_turn_repair(wording, out);
    } else if (facts->sides[0].stamp.cluster != facts->sides[1].stamp.cluster &&
               !wording->checker->info.has_foreign_order) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_LAUNCH_HELP, NULL);
    } else {
        (void)(grout_wording__add_counter_repair(wording, out) ||
               grout_wording__add_ticket_repair(wording, out));
    }
}

static void repair_protocol(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (wording->record->code == GROUT_DIAG_BARRIER_OVERRUN) {
        grout_wording__add_overrun_repair(wording, out);
    } else if (wording->record->code == GROUT_DIAG_BARRIER_UNOBSERVED) {
        grout_sentence__add(
            out, GROUT_SENTENCE_UNOBSERVED_HELP,
            &(grout_words){.element = grout_wording__name_element(wording, facts->element),
                           .op = grout_wording__spell_wait(wording, facts->element),
                           .phase = facts->phase});
    } else if (wording->record->code == GROUT_DIAG_BARRIER_TOO_MANY) {
        grout_sentence__add(out,
                            facts->need == 0 ? GROUT_SENTENCE_TOO_MANY_ALL_LEFT_HELP
                                             : GROUT_SENTENCE_TOO_MANY_HELP,
                            NULL);
    } else if (wording->record->code == GROUT_DIAG_INDEX_OVERFLOW) {
        grout_wording__add_wrap_repair(wording, out);
    } else if (wording->record->code == GROUT_DIAG_DIVISION_BY_ZERO) {
        grout_sentence__add(
            out, GROUT_SENTENCE_QUOTIENT_HELP,
            &(grout_words){.op = grout_wording__spell(wording, GROUT_SPELLING_NO_QUOTIENT, NULL)});
    }
}

/* Two arrays that share bytes, and are in use in the same turns of a loop: perhaps they should not.
 * False: it is not so. */
static bool add_alias_repair(const grout_wording *wording, grout_text *out) {
    const grout_module *module = wording->module;
    const grout_side *sides = wording->facts->sides;
    const grout_object_id a = sides[0].box.object, b = sides[1].box.object;
    if (wording->facts->side_count < 2 || a == 0 || b == 0 || a == b ||
        grout_object_get_root(module, a) != grout_object_get_root(module, b) ||
        sides[0].origin.op == 0 || sides[1].origin.op == 0) {
        return false;
    }
    const grout_op_id loop = grout_op__get_loop(module, sides[0].origin.op);
    const grout_object_id alias = grout_module_get_object(module, a)->alias != 0 ? a : b;
    const grout_object *named = grout_module_get_object(module, alias);
    if (loop == 0 || loop != grout_op__get_loop(module, sides[1].origin.op) || named->alias == 0) {
        return false;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_ALIAS_HELP,
        &(grout_words){.object = grout_wording__name_object(wording, alias),
                       .line = grout_module_get_place(module, named->loc).line,
                       .other = grout_wording__name_object(wording, alias == a ? b : a)});
    return true;
}

static void add_usual_repair(grout_wording *wording, grout_text *out);

void grout_wording__add_repair(grout_wording *wording, grout_text *out) {
    if (add_alias_repair(wording, out)) {
        grout_text usual = {.allocator = wording->checker->allocator};
        add_usual_repair(wording, &usual);
        const char *words = grout_wording__keep(wording, &usual);
        grout_text_add(out, "%s%s", words[0] != '\0' ? grout_phrase__get(GROUT_PHRASE_OR_ELSE) : "",
                       words);
        wording->finding->edit.place.file = NULL;
        return;
    }
    add_usual_repair(wording, out);
}

static void add_usual_repair(grout_wording *wording, grout_text *out) {
    grout_diag_code code = wording->record->code;
    if (grout_wording__add_lead_repair(wording, out) ||
        grout_wording__add_protocol_repair(wording, out) ||
        grout_wording__add_late_repair(wording, out) ||
        grout_wording__add_release_repair(wording, out) ||
        grout_wording__add_tensor_repair(wording, out) ||
        grout_wording__add_peer_repair(wording, out)) {
        return;
    }
    if (code == GROUT_DIAG_MISSING_COMMIT_SMEM || code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR ||
        code == GROUT_DIAG_MISSING_COMMIT_GMEM) {
        grout_wording__add_commit_repair(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_NOT_AWAITED) {
        repair_await(wording, out);
    } else if (code == GROUT_DIAG_SMEM_SOURCE_REUSE || code == GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE) {
        grout_wording__repair_group(wording, out);
    } else if (code == GROUT_DIAG_TENSORMAP_IN_FLIGHT) {
        repair_map(wording, out);
    } else if (code == GROUT_DIAG_UNINITIALISED_READ) {
        (void)grout_wording__add_unwritten_repair(wording, out);
    } else if (grout_code__is_about_wgmma(code)) {
        repair_wgmma(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_AT_EXIT) {
        repair_exit(wording, out);
    } else if (code == GROUT_DIAG_SAME_VALUE_RACE) {
        grout_sentence__add(out, GROUT_SENTENCE_SAME_VALUE_HELP, NULL);
    } else if (code == GROUT_DIAG_SMEM_RACE || code == GROUT_DIAG_GMEM_RACE ||
               code == GROUT_DIAG_TMEM_RACE) {
        repair_race(wording, out);
    } else {
        repair_protocol(wording, out);
    }
}
