/* repair.c - what to insert, where, executed by whom; and the edit, where there is only one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <inttypes.h>
#include <string.h>

/* " by CTA .., thread .." is too much for a repair: the thread alone, when there are several. */
static void add_thread(const grout_wording *wording, const grout_origin *origin, grout_text *out) {
    if (wording->checker->shape.thread_count > 1) {
        grout_text_add(out, ", by thread %u", (unsigned)origin->thread);
    }
}

static void set_edit(grout_wording *wording, grout_place place, bool is_after, const char *line) {
    grout_text text = {0};
    grout_text_add(&text, "%s", line);
    wording->finding->edit.place = place;
    wording->finding->edit.is_after = is_after;
    wording->finding->edit.text = grout_wording__keep(wording, &text);
}

static void repair_commit(grout_wording *wording, grout_text *out) {
    const grout_side *copy = &wording->facts->sides[0];
    const grout_side *access = &wording->facts->sides[1];
    grout_place place = grout_wording__get_place(wording, &access->origin);
    grout_text_add(out, "insert 'commit_smem' after line %" PRIu32, place.line);
    add_thread(wording, &access->origin, out);
    if (access->origin.thread != copy->origin.thread) {
        grout_text_add(out, ", before it lets thread %u go on", (unsigned)copy->origin.thread);
    } else {
        grout_text_add(out, ", before the copy at line %" PRIu32,
                       grout_wording__get_line(wording, &copy->origin));
    }
    set_edit(wording, place, true, "commit_smem");
}

/* The barrier operand of a copy, if it names its element by constants: then it can be repeated. */
static bool get_constant_barrier(grout_wording *wording, const grout_origin *copy,
                                 grout_text *out) {
    grout_text op = {0};
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

static void repair_await(grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    grout_place place = grout_wording__get_place(wording, &access->origin);
    grout_text wait = {0};
    if (wording->facts->near.kind == GROUT_NEAR_WAIT_ELSEWHERE) {
        grout_text_add(out, "wait on ");
        grout_wording__add_element(wording, wording->facts->near.element, out);
        grout_text_add(out, " at line %" PRIu32 ", not on ",
                       grout_wording__get_line(wording, &wording->facts->near.origin));
        grout_wording__add_element(wording, wording->facts->near.number, out);
        return;
    }
    if (get_constant_barrier(wording, &copy->origin, &wait) &&
        wording->facts->near.kind == GROUT_NEAR_NEVER_WAITED) {
        grout_text_add(out, "insert '%s' before line %" PRIu32, wait.data, place.line);
        set_edit(wording, place, false, wait.data);
    } else {
        grout_text_add(out, "wait for phase %" PRIu32 " of ", wording->facts->near.phase);
        grout_wording__add_element(wording, wording->facts->near.element, out);
        grout_text_add(out, " before line %" PRIu32, place.line);
    }
    add_thread(wording, &access->origin, out);
    grout_text_free(&wait);
}

static void repair_group(grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    bool is_source = wording->record->code == GROUT_DIAG_SMEM_SOURCE_REUSE;
    const char *wait = is_source ? "wait_smem_to_gmem 0 read_only" : "wait_smem_to_gmem 0";
    grout_place place = grout_wording__get_place(wording, &access->origin);
    if (access->origin.thread != copy->origin.thread) {
        grout_text_add(out,
                       "let thread %u execute '%s' after line %" PRIu32
                       " and then arrive on a barrier that thread %u waits on before line %" PRIu32,
                       (unsigned)copy->origin.thread, wait,
                       grout_wording__get_line(wording, &copy->origin),
                       (unsigned)access->origin.thread, place.line);
        return;
    }
    grout_text_add(out, "insert '%s' before line %" PRIu32, wait, place.line);
    add_thread(wording, &access->origin, out);
    set_edit(wording, place, false, wait);
}

static void repair_exit(grout_wording *wording, grout_text *out) {
    const grout_side *copy = &wording->facts->sides[0];
    const grout_checker *checker = wording->checker;
    const grout_kernel *kernel = grout_module_get_kernel(wording->module, checker->info.kernel);
    const grout_op *op = grout_module_get_op(wording->module, copy->origin.op);
    grout_loc_id end = grout_module_get_block(wording->module, kernel->body)->end_loc;
    if (copy->is_write) {
        grout_text_add(out, "wait on the copy's barrier before the %s ends",
                       wording->facts->is_inner ? "scope" : "CTA");
        add_thread(wording, &copy->origin, out);
        return;
    }
    if (wording->facts->is_inner) {
        end = grout_module_get_block(wording->module, op->parent)->end_loc;
    }
    grout_text_add(out, "insert 'wait_smem_to_gmem 0 read_only' before the %s ends",
                   wording->facts->is_inner ? "scope" : "CTA");
    add_thread(wording, &copy->origin, out);
    if (checker->shape.thread_count == 1 && !wording->facts->is_inner && end) {
        set_edit(wording, grout_module_get_place(wording->module, end), false,
                 "wait_smem_to_gmem 0 read_only");
    }
}

void grout_wording__add_repair(grout_wording *wording, grout_text *out) {
    grout_diag_code code = wording->record->code;
    const grout_facts *facts = wording->facts;
    if (code == GROUT_DIAG_MISSING_COMMIT_SMEM || code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR) {
        repair_commit(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_NOT_AWAITED) {
        repair_await(wording, out);
    } else if (code == GROUT_DIAG_SMEM_SOURCE_REUSE || code == GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE) {
        repair_group(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_AT_EXIT) {
        repair_exit(wording, out);
    } else if (code == GROUT_DIAG_SMEM_RACE) {
        grout_text_add(out,
                       "let one thread arrive on a barrier after its access, and the other wait "
                       "on it before its own");
    } else if (code == GROUT_DIAG_BARRIER_OVERRUN) {
        grout_text_add(out,
                       facts->sides[1].origin.op
                           ? "make line %" PRIu32 " wait until the phase before has been seen: "
                             "by a second barrier on which the waiting thread arrives, or by "
                             "counting the arrivals of one phase right"
                           : "wait for each phase before the arrival at line %" PRIu32
                             " can complete the next",
                       grout_wording__get_line(wording, &facts->sides[0].origin));
    } else if (code == GROUT_DIAG_BARRIER_UNOBSERVED) {
        grout_text_add(out, "each thread that waits on ");
        grout_wording__add_element(wording, facts->element, out);
        grout_text_add(out, " waits for all its phases: add the barrier_wait for phase %" PRIu32,
                       facts->phase);
    } else if (code == GROUT_DIAG_BARRIER_TOO_MANY) {
        grout_text_add(out, "split the arrival, or declare the barrier with more arrivals");
    }
}
