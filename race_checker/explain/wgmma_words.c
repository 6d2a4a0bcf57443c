/* wgmma_words.c - sentences about wgmmas that are in flight.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wording.h"

#include <inttypes.h>

/* ---- headlines ---- */

/* Columns and K step of a wgmma: see get_shape in wgmma.c. */
typedef struct wgmma_part {
    uint32_t low, high, k_step;
} wgmma_part;

static wgmma_part get_part(const grout_wording *wording, const grout_side *side) {
    uint32_t shape = wording->checker->wgmma_shapes[side->origin.op];
    wgmma_part part = {.low = shape >> 14, .k_step = shape & 31};
    part.high = part.low + (shape >> 5 & 511);
    return part;
}

/* Two wgmmas that the tensor core does not keep in order. */
static void add_shapes(const grout_wording *wording, grout_text *out) {
    const grout_side *later = &wording->facts->sides[0], *earlier = &wording->facts->sides[1];
    wgmma_part part = get_part(wording, later), other = get_part(wording, earlier);
    grout_text_add(out, "this wgmma adds to columns %" PRIu32 ":%" PRIu32 " of ", part.low,
                   part.high);
    grout_wording__add_object(wording, later->box.object, out);
    grout_text_add(out,
                   " in K steps of %" PRIu32 " while the one at line %" PRIu32
                   " may still be adding to columns %" PRIu32 ":%" PRIu32 " in K steps of %" PRIu32,
                   part.k_step, grout_wording__get_line(wording, &earlier->origin), other.low,
                   other.high, other.k_step);
}

void grout_wording__add_wgmma_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    uint32_t line = grout_wording__get_line(wording, &wording->facts->sides[1].origin);
    bool is_accumulator = wording->record->code == GROUT_DIAG_ACCUMULATOR_IN_FLIGHT;
    const char *what = access->is_write ? "overwritten" : "read";
    if (is_accumulator && grout_wording__is_wgmma(wording, access)) {
        add_shapes(wording, out);
        return;
    }
    if (!is_accumulator && (access->stamp.agent != GROUT_AGENT_ACTOR)) {
        what = "refilled by TMA";
    }
    grout_wording__add_object(wording, access->box.object, out);
    grout_text_add(out, " is %s while the wgmma at line %" PRIu32 " may still be %s it", what, line,
                   is_accumulator ? "adding to" : "reading");
}

/* ---- the missing edge ---- */

static const grout_op_info *get_info(const grout_wording *wording, const grout_origin *origin) {
    return grout_op_get_info(
        (grout_opcode)grout_module_get_op(wording->module, origin->op)->opcode);
}

/* Whether the op that waited also starts a wgmma, which it leaves in flight. */
static bool starts_wgmma(const grout_wording *wording, const grout_origin *origin) {
    const grout_sync_info *sync =
        grout_op_get_sync((grout_opcode)grout_module_get_op(wording->module, origin->op)->opcode);
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS;
}

/* "wgmma_wait 2", "acc_load wait(2)"; an op that waits by itself: "wgmma", "load". */
static void add_wait(const grout_wording *wording, const grout_origin *wait, uint32_t allowed,
                     grout_text *out) {
    const grout_op_info *info = get_info(wording, wait);
    grout_text_add(out, "%s", info->text);
    if (info->operands[0] == 'k') {
        grout_text_add(out, " %" PRIu32, allowed);
    } else if ((info->attrs & GROUT_ATTR_BIT_WAIT_GROUPS) != 0) {
        grout_text_add(out, " wait(%" PRIu32 ")", allowed);
    }
}

/* "group 4 of thread wg=1": the wgmma's; of the only thread just "group 4". */
static void add_group(const grout_wording *wording, const grout_side *wgmma, grout_text *out) {
    grout_text_add(out, "group %" PRIu32, wgmma->stamp.number);
    if (wording->checker->shape.thread_count > 1) {
        grout_text_add(out, " of ");
        grout_wording__add_actor(wording, &wgmma->origin, out);
    }
}

static void add_left(const grout_wording *wording, const grout_side *wgmma, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    grout_text_add(out, "this ");
    add_wait(wording, &near->origin, near->number, out);
    if (starts_wgmma(wording, &near->origin)) {
        grout_text_add(out, " waits for the groups before its own, and leaves its own, ");
        add_group(wording, wgmma, out);
        grout_text_add(out, ", in flight");
        return;
    }
    grout_text_add(out, " leaves %" PRIu32 " group%s in flight, among them ", near->number,
                   near->number == 1 ? "" : "s");
    add_group(wording, wgmma, out);
    grout_text_add(out, "; ");
    add_wait(wording, &near->origin, near->wait_needed, out);
    grout_text_add(out, " would cover it");
}

static void add_wait_in_time(const grout_wording *wording, const grout_side *wgmma,
                             grout_text *out) {
    const grout_near *near = &wording->facts->near;
    uint32_t line = grout_wording__get_line(wording, &wgmma->origin);
    if (near->kind == GROUT_NEAR_WGMMA_LEFT) {
        add_left(wording, wgmma, out);
        return;
    }
    if (near->kind == GROUT_NEAR_WGMMA_NEVER) {
        grout_text_add(out, "the wgmma at line %" PRIu32 " is ", line);
        add_group(wording, wgmma, out);
        grout_text_add(out, ", and its thread has waited for no group by then");
        return;
    }
    if (near->kind == GROUT_NEAR_WGMMA_LATE) {
        grout_text_add(out, "this wgmma_wait covers ");
        add_group(wording, wgmma, out);
        grout_text_add(out, ", and comes too late");
    } else {
        bool is_part = starts_wgmma(wording, &near->origin);
        grout_text_add(out, is_part ? "the wait of this " : "this ");
        add_wait(wording, &near->origin, near->number, out);
        grout_text_add(out, " runs before the wgmma at line %" PRIu32 ", ", line);
        add_group(wording, wgmma, out);
        grout_text_add(out, ", is issued");
    }
}

static void add_unordered(const grout_wording *wording, const grout_side *wgmma, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    uint32_t line = grout_wording__get_line(wording, &wgmma->origin);
    if (near->origin.op) {
        grout_text_add(out, "this %s lets ", grout_wording__get_mnemonic(wording, &near->origin));
        grout_wording__add_actor(wording, &wording->facts->sides[0].origin, out);
        grout_text_add(out, " go on before the wgmma at line %" PRIu32 ", ", line);
        add_group(wording, wgmma, out);
        grout_text_add(out, ", is issued");
        return;
    }
    grout_text_add(out, "nothing orders the copy and the wgmma at line %" PRIu32 ", ", line);
    add_group(wording, wgmma, out);
    grout_text_add(out, ": no arrive after the one is followed by a wait before the other");
}

void grout_wording__add_wgmma_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_near *near = &facts->near;
    if (facts->side_count == 1) { /* at the end of a scope or CTA */
        add_wait_in_time(wording, &facts->sides[0], out);
        return;
    }
    if (near->kind == GROUT_NEAR_WGMMA_UNORDERED) {
        add_unordered(wording, &facts->sides[1], out);
        return;
    }
    add_wait_in_time(wording, &facts->sides[1], out);
    if (near->handover.op) {
        grout_text_add(out, "; the %s at line %" PRIu32 " lets ",
                       grout_wording__get_mnemonic(wording, &near->handover),
                       grout_wording__get_line(wording, &near->handover));
        grout_wording__add_actor(wording, &facts->sides[0].origin, out);
        grout_text_add(out, " go on");
    }
}
