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

/* The barrier operand of a copy, if it names its element by constants: then it can be repeated. */
static bool get_constant_barrier(grout_wording *wording, const grout_origin *copy,
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
        grout_text_add(out, "barrier_wait %s", operand);
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
    uint32_t count = 0;
    for (grout_op_id i = 1; i < grout_module_get_op_count(wording->module); i++) {
        const grout_op *op = grout_module_get_op(wording->module, i);
        if (grout_op__arrives_on(wording->module, op, object)) {
            count++;
            if (grout_op__get_loop(wording->module, i) != loop) {
                return false;
            }
        }
    }
    return count == grout_object_get_arrivals(wording->module, object);
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
    grout_text_add(out, "move the barrier_wait at line %" PRIu32 " before %sline %" PRIu32,
                   get_line(wording, wait),
                   level == grout_statement__find(wording->module, access->op) ? ""
                                                                               : "the loop at ",
                   get_line(wording, level));
    grout_wording__add_by(wording, access, out);
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
    uint32_t first = grout_wording__get_line(wording, access);
    uint32_t last = grout_wording__get_line(wording, copy);
    if (access->cta != copy->cta) {
        grout_text_add(out,
                       "let the cluster meet (cluster_barrier) after line %" PRIu32
                       " and before line %" PRIu32 "; no wait for the copy before line %" PRIu32
                       ": the CTA that issues it comes past that line first",
                       first, last, first);
        return;
    }
    grout_text_add(out, "let ");
    grout_wording__add_actor(wording, access, out);
    grout_text_add(out, " arrive on %s after line %" PRIu32 ", and ",
                   grout_wording__get_barrier(wording), first);
    grout_wording__add_actor(wording, copy, out);
    grout_text_add(out, " wait on it before line %" PRIu32, last);
}

static void repair_await_abroad(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_origin *access = &wording->facts->sides[0].origin;
    grout_text_add(out, "let a thread of ");
    grout_wording__add_cta(wording, near->cta, out);
    grout_text_add(out, " wait for phase %" PRIu32 " of its ", near->phase);
    grout_wording__add_element(wording, near->element, out);
    grout_text_add(out, " and then arrive on %s of ", grout_wording__get_barrier(wording));
    grout_wording__add_cta(wording, access->cta, out);
    grout_text_add(out, " that is awaited before line %" PRIu32,
                   grout_wording__get_line(wording, access));
}

/* The wait that is missing, where no place for it is certain. */
static void repair_by_wait(const grout_wording *wording, uint32_t line, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_origin *access = &wording->facts->sides[0].origin;
    const grout_origin *copy = &wording->facts->sides[1].origin;
    bool is_next_round =
        grout_origin__is_same_actor(access, copy) &&
        grout_op__find_reach(wording->module, copy->op, access->op).kind == GROUT_REACH_NEXT_ROUND;
    grout_text_add(out, "wait for phase %" PRIu32 " of ", near->phase);
    grout_wording__add_element(wording, near->element, out);
    grout_text_add(out, " before line %" PRIu32 "%s", line, is_next_round ? " runs again" : "");
    grout_wording__add_by(wording, access, out);
}

static void repair_await(grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    uint32_t line = grout_wording__get_line(wording, &access->origin);
    grout_text wait = {.allocator = wording->checker->allocator};
    if (grout_wording__add_async_copy_repair(wording, 1, out)) {
        return;
    }
    if (near->kind == GROUT_NEAR_BARRIER_GONE) {
        grout_text_add(out, "wait on the copy's barrier before its scope ends");
        grout_wording__add_by(wording, &copy->origin, out);
        return;
    }
    if (comes_after(wording, &copy->origin, &access->origin) &&
        !grout_origin__is_same_actor(&copy->origin, &access->origin)) {
        repair_order_of_copy(wording, out);
        return;
    }
    if (near->kind == GROUT_NEAR_WAIT_ABROAD) {
        repair_await_abroad(wording, out);
        return;
    }
    if (near->kind == GROUT_NEAR_WAIT_ELSEWHERE) {
        grout_text_add(out, "wait on ");
        grout_wording__add_element(wording, near->element, out);
        grout_text_add(out, " at line %" PRIu32 ", not on ",
                       grout_wording__get_line(wording, &near->origin));
        grout_wording__add_element(wording, near->number, out);
        return;
    }
    if (near->kind == GROUT_NEAR_WAIT_FRESH) {
        grout_text_add(
            out, "give the wait at line %" PRIu32 " the parity of phase %" PRIu32 ": %" PRIu32,
            grout_wording__get_line(wording, &near->origin), near->phase, near->phase % 2);
        return;
    }
    if (can_insert_wait(wording) && get_constant_barrier(wording, &copy->origin, &wait)) {
        grout_op_id statement = grout_statement__find(wording->module, access->origin.op);
        grout_spot spot = grout_statement__get_before(wording->module, statement);
        line = spot.place.file ? spot.place.line : line;
        grout_text_add(out, "insert '%s' before line %" PRIu32, wait.data, line);
        grout_wording__add_by(wording, &access->origin, out);
        grout_wording__set_edit(wording, &spot, wait.data);
    } else if (!add_late_wait(wording, out)) {
        repair_by_wait(wording, line, out);
    }
    grout_text_free(&wait);
}

/* ---- waits for stores ---- */

/* The lines that end a copy's group, and wait for its source or for all of it. */
static const char *get_group_lines(const grout_wording *wording, bool is_source) {
    if (wording->facts->near.is_open) {
        return is_source ? "commit_group\nwait_smem_to_gmem 0 read_only"
                         : "commit_group\nwait_smem_to_gmem 0";
    }
    return is_source ? "wait_smem_to_gmem 0 read_only" : "wait_smem_to_gmem 0";
}

/* "'commit_group' and 'wait_smem_to_gmem 0'" */
static void add_group_lines(const grout_wording *wording, bool is_source, grout_text *out) {
    grout_text_add(out, "%s'wait_smem_to_gmem 0%s'",
                   wording->facts->near.is_open ? "'commit_group' and then " : "",
                   is_source ? " read_only" : "");
}

static void repair_group(grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    bool is_source = wording->record->code == GROUT_DIAG_SMEM_SOURCE_REUSE;
    uint32_t line = grout_wording__get_line(wording, &access->origin);
    grout_op_id statement = grout_statement__find(wording->module, access->origin.op);
    grout_spot spot = grout_statement__get_before(wording->module, statement);
    if (!grout_origin__is_same_actor(&access->origin, &copy->origin)) {
        grout_text_add(out, "let ");
        grout_wording__add_actor(wording, &copy->origin, out);
        grout_text_add(out, " execute ");
        add_group_lines(wording, is_source, out);
        grout_text_add(out, " after line %" PRIu32 " and then arrive on %s that ",
                       grout_wording__get_line(wording, &copy->origin),
                       grout_wording__get_barrier(wording));
        grout_wording__add_actor(wording, &access->origin, out);
        grout_text_add(out, " waits on before line %" PRIu32, line);
        return;
    }
    grout_text_add(out, "insert ");
    add_group_lines(wording, is_source, out);
    grout_text_add(out, " before line %" PRIu32, spot.place.file ? spot.place.line : line);
    grout_wording__add_by(wording, &access->origin, out);
    if (grout_wording__is_alone(wording, &access->origin) &&
        grout_wording__is_alone(wording, &copy->origin)) {
        grout_wording__set_edit(wording, &spot, get_group_lines(wording, is_source));
    }
}

/* ---- waits for wgmmas ---- */

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

/* "lower the 2 of the wgmma_wait at line 12 to 1" */
static bool lower_wait(grout_wording *wording, grout_text *out) {
    const grout_cover *cover = &wording->record->cover;
    grout_op_id wait = grout_cover__get_wait(cover);
    grout_expr_id n =
        wait ? grout_op__find_allowed(wording->module, grout_module_get_op(wording->module, wait))
             : 0;
    if (!n || !set_number(wording, n, cover->wait_allowed)) {
        return false;
    }
    grout_text_add(out, "lower the %" PRId64 " of the %s at line %" PRIu32 " to %" PRIu32,
                   grout_module_get_expr_value(wording->module, n).integer,
                   grout_wording__get_mnemonic(wording, &(grout_origin){.op = wait}),
                   get_line(wording, wait), cover->wait_allowed);
    if (cover->wait_allowed < wording->facts->near.wait_needed) {
        grout_text_add(out, ", for the other times that this was seen");
    }
    return true;
}

/* The copy and the wgmma are in no order at all: the arrive came too early, or there is none. */
static void repair_unordered_wgmma(const grout_wording *wording, grout_text *out) {
    const grout_origin *copy = &wording->facts->sides[0].origin;
    const grout_origin *wgmma = &wording->facts->sides[1].origin;
    const grout_origin *arrive = &wording->facts->near.origin;
    uint32_t line = grout_wording__get_line(wording, wgmma);
    if (arrive->op) {
        grout_text_add(out,
                       "move the %s at line %" PRIu32 " behind the wgmma at line %" PRIu32
                       " and a wgmma_wait that covers it",
                       grout_wording__get_mnemonic(wording, arrive),
                       grout_wording__get_line(wording, arrive), line);
        grout_wording__add_by(wording, wgmma, out);
        return;
    }
    grout_text_add(
        out, "wait for the wgmma at line %" PRIu32 " (wgmma_wait) and then arrive on %s that ",
        line, grout_wording__get_barrier(wording));
    grout_wording__add_actor(wording, copy, out);
    grout_text_add(out, " waits on before line %" PRIu32, grout_wording__get_line(wording, copy));
    grout_wording__add_by(wording, wgmma, out);
    grout_text_add(out,
                   "; or, if it is to read what the copy brings, wait for the copy before line "
                   "%" PRIu32,
                   line);
}

static void repair_wgmma(grout_wording *wording, grout_text *out) {
    const grout_cover *cover = &wording->record->cover;
    const grout_near *near = &wording->facts->near;
    const grout_origin *access = &wording->facts->sides[0].origin;
    const grout_origin *wgmma = &wording->facts->sides[1].origin;
    grout_op_id op = grout_cover__get_spot(cover);
    grout_spot spot = {.is_after = false};
    grout_text wait = {.allocator = wording->checker->allocator};
    if (near->kind == GROUT_NEAR_WGMMA_UNORDERED) {
        repair_unordered_wgmma(wording, out);
        return;
    }
    if (!op) {
        grout_text_add(out,
                       "wait for the wgmma at line %" PRIu32 " (wgmma_wait 0) before %s that lets ",
                       grout_wording__get_line(wording, wgmma),
                       near->handover.op ? "each arrive" : "the arrive or the collective scope");
        grout_wording__add_actor(wording, access, out);
        grout_text_add(out, " overwrite its operands");
        grout_wording__add_by(wording, wgmma, out);
        return;
    }
    if (lower_wait(wording, out)) {
        return;
    }
    op = grout_statement__find(wording->module, op);
    spot = grout_statement__get_before(wording->module, op);
    grout_text_add(&wait, "wgmma_wait %" PRIu32, cover->allowed);
    if (near->kind == GROUT_NEAR_WGMMA_LATE) {
        grout_text_add(out, "move the wgmma_wait at line %" PRIu32 " before ",
                       grout_wording__get_line(wording, &near->origin));
    } else {
        grout_text_add(out, "insert '%s' before ", wait.data ? wait.data : "");
    }
    if (near->handover.op) {
        grout_text_add(out, "the %s at ", grout_wording__get_mnemonic(wording, &near->handover));
    }
    grout_text_add(out, "line %" PRIu32, get_line(wording, op));
    grout_wording__add_by(wording, wgmma, out);
    if (wait.data && !wait.failed) {
        grout_wording__set_edit(wording, &spot, wait.data);
    }
    grout_text_free(&wait);
}

/* The last line of the block that owns the object: before its yield, or its closing brace. */
static grout_spot get_last_spot(const grout_module *module, grout_object_id object,
                                grout_block_id body) {
    grout_op_id op =
        grout_module_get_value(module, grout_module_get_object(module, object)->value)->op;
    const grout_op *owner = grout_module_get_op(module, op);
    grout_block_id block = owner->block_count > 0 ? owner->first_block : body;
    grout_op_id last = grout_module_get_block(module, block)->last;
    grout_opcode opcode = (grout_opcode)grout_module_get_op(module, last)->opcode;
    if (last && grout_op_get_info(opcode)->shape == GROUT_SHAPE_END) {
        return grout_statement__get_before(module, last);
    }
    return grout_block__get_end(module, block);
}

static void repair_wgmma_at_exit(grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_kernel *kernel =
        grout_module_get_kernel(wording->module, wording->checker->info.kernel);
    grout_spot spot = get_last_spot(wording->module, facts->fault.object, kernel->body);
    grout_text_add(out, "insert 'wgmma_wait 0' before the %s ends",
                   facts->is_inner ? "scope" : "CTA");
    grout_wording__add_by(wording, &facts->sides[0].origin, out);
    grout_wording__set_edit(wording, &spot, "wgmma_wait 0");
}

/* ---- the end of scopes ---- */

static void repair_exit(grout_wording *wording, grout_text *out) {
    const grout_side *copy = &wording->facts->sides[0];
    const grout_checker *checker = wording->checker;
    const grout_kernel *kernel = grout_module_get_kernel(wording->module, checker->info.kernel);
    const char *what = wording->facts->is_inner ? "scope" : "CTA";
    if (grout_wording__is_wgmma(wording, copy)) {
        repair_wgmma_at_exit(wording, out);
        return;
    }
    if (grout_wording__add_async_copy_repair(wording, 0, out)) {
        return;
    }
    if (copy->is_write) {
        grout_text_add(out, "wait on the copy's barrier before the %s ends", what);
        grout_wording__add_by(wording, &copy->origin, out);
        return;
    }
    grout_text_add(out, "insert ");
    add_group_lines(wording, true, out);
    grout_text_add(out, " before the %s ends", what);
    grout_wording__add_by(wording, &copy->origin, out);
    if (checker->shape.thread_count == 1 && !wording->facts->is_inner) {
        grout_spot spot = grout_block__get_end(wording->module, kernel->body);
        grout_wording__set_edit(wording, &spot, get_group_lines(wording, true));
    }
}

/* ---- all ---- */

/* A flag that one thread sets and another polls, with plain accesses. */
static void repair_flag(const grout_wording *wording, grout_text *out) {
    const grout_side *load = grout_record__find_poll(wording->module, wording->record);
    const grout_side *sides = wording->facts->sides;
    grout_text_add(out,
                   "set it with '%s .. order(release)' at line %" PRIu32
                   ", and poll it with '%s .., 0 order(acquire)' at line %" PRIu32,
                   grout_op_get_info(GROUT_OP_ATOMIC_EXCHANGE)->text,
                   grout_wording__get_line(wording, &sides[load == &sides[0] ? 1 : 0].origin),
                   grout_op_get_info(GROUT_OP_ATOMIC_FETCH_ADD)->text,
                   grout_wording__get_line(wording, &load->origin));
}

static void repair_race(grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (grout_wording__is_of_two_proxies(wording)) {
        grout_text_add(out, "make both atomics of the threads or both reductions of TMA, or put "
                            "them in order with a commit_gmem between");
        return;
    }
    if (grout_record__find_poll(wording->module, wording->record)) {
        repair_flag(wording, out);
        return;
    }
    if (facts->sides[0].is_atomic && facts->sides[1].is_atomic) {
        grout_text_add(out, "give both one width and a scope that holds both threads");
        return;
    }
    if (grout_wording__add_async_copy_repair(wording, 1, out)) {
        return;
    }
    if (facts->near.kind == GROUT_NEAR_STILL_READING) {
        grout_text_add(out, "wait for phase %" PRIu32 " of ", facts->near.phase);
        grout_wording__add_element(wording, facts->near.element, out);
        grout_text_add(out, " before line %" PRIu32,
                       grout_wording__get_line(wording, &facts->sides[0].origin));
        grout_wording__add_by(wording, &facts->sides[0].origin, out);
    } else if (wording->record->code == GROUT_DIAG_SMEM_RACE) {
        grout_text_add(out,
                       "let one %s arrive on %s after its access, and the other wait on it before "
                       "its own",
                       facts->sides[0].origin.warp ? "warp" : "thread",
                       grout_wording__get_barrier(wording));
    }
}

static void repair_protocol(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (wording->record->code == GROUT_DIAG_BARRIER_OVERRUN) {
        grout_wording__add_overrun_repair(wording, out);
    } else if (wording->record->code == GROUT_DIAG_BARRIER_UNOBSERVED) {
        grout_text_add(out, "each thread that waits on ");
        grout_wording__add_element(wording, facts->element, out);
        grout_text_add(out, " waits for all its phases: add the barrier_wait for phase %" PRIu32,
                       facts->phase);
    } else if (wording->record->code == GROUT_DIAG_BARRIER_TOO_MANY) {
        grout_text_add(out, facts->need == 0
                                ? "let no thread arrive after the phase that the last one leaves "
                                  "with, or let one stay"
                                : "split the arrival, or declare the barrier with more arrivals");
    }
}

void grout_wording__add_repair(grout_wording *wording, grout_text *out) {
    grout_diag_code code = wording->record->code;
    if (grout_wording__add_protocol_repair(wording, out) ||
        grout_wording__add_peer_repair(wording, out)) {
        return;
    }
    if (code == GROUT_DIAG_MISSING_COMMIT_SMEM || code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR ||
        code == GROUT_DIAG_MISSING_COMMIT_GMEM) {
        grout_wording__add_commit_repair(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_NOT_AWAITED) {
        repair_await(wording, out);
    } else if (code == GROUT_DIAG_SMEM_SOURCE_REUSE || code == GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE) {
        repair_group(wording, out);
    } else if (grout_code__is_about_wgmma(code)) {
        repair_wgmma(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_AT_EXIT) {
        repair_exit(wording, out);
    } else if (code == GROUT_DIAG_SMEM_RACE || code == GROUT_DIAG_GMEM_RACE) {
        repair_race(wording, out);
    } else {
        repair_protocol(wording, out);
    }
}
