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
    grout_sentence__add(
        out, GROUT_SENTENCE_WGMMA_SHAPES_HEAD,
        &(grout_words){.start = part.low,
                       .end = part.high,
                       .object = grout_wording__name_object(wording, later->box.object),
                       .step = part.k_step,
                       .line = grout_wording__get_line(wording, &earlier->origin),
                       .other_start = other.low,
                       .other_end = other.high,
                       .other_step = other.k_step});
}

void grout_wording__add_wgmma_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    bool is_accumulator = wording->record->code == GROUT_DIAG_ACCUMULATOR_IN_FLIGHT;
    grout_phrase_id done = access->is_write ? GROUT_PHRASE_IS_OVERWRITTEN : GROUT_PHRASE_IS_READ;
    if (is_accumulator && grout_wording__is_wgmma(wording, access)) {
        add_shapes(wording, out);
        return;
    }
    if (!is_accumulator && (access->stamp.agent != GROUT_AGENT_ACTOR)) {
        done = GROUT_PHRASE_IS_REFILLED;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_WGMMA_HEAD,
        &(grout_words){.object = grout_wording__name_object(wording, access->box.object),
                       .done = grout_phrase__get(done),
                       .line = grout_wording__get_line(wording, &wording->facts->sides[1].origin),
                       .doing = grout_phrase__get(is_accumulator ? GROUT_PHRASE_ADDING_TO
                                                                 : GROUT_PHRASE_READING)});
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
static const char *name_wait(const grout_wording *wording, const grout_origin *wait,
                             uint32_t allowed) {
    const grout_op_info *info = get_info(wording, wait);
    grout_text text = {.allocator = wording->checker->allocator};
    if (info->operands[0] == 'k') {
        return grout_wording__spell(wording, GROUT_SPELLING_WGMMA_WAIT,
                                    &(grout_words){.number = allowed});
    }
    if ((info->attrs & GROUT_ATTR_BIT(WAIT_GROUPS)) != 0) {
        return grout_wording__spell(wording, GROUT_SPELLING_LOAD_WAIT,
                                    &(grout_words){.op = info->text, .number = allowed});
    }
    grout_text_add(&text, "%s", info->text);
    return grout_wording__keep(wording, &text);
}

/* "group 4 of thread wg=1": the wgmma's; of the only thread just "group 4". */
static const char *name_group(const grout_wording *wording, const grout_side *wgmma) {
    grout_text text = {.allocator = wording->checker->allocator};
    const grout_words words = {.number = wgmma->stamp.number,
                               .actor = grout_wording__name_actor(wording, &wgmma->origin)};
    if (wording->checker->shape.thread_count > 1) {
        grout_sentence__add(&text, GROUT_SENTENCE_GROUP_OF, &words);
    } else {
        grout_sentence__add(&text, GROUT_SENTENCE_GROUP, &words);
    }
    return grout_wording__keep(wording, &text);
}

static void add_left(const grout_wording *wording, const grout_side *wgmma, const char *more,
                     grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_words words = {.op = name_wait(wording, &near->origin, near->number),
                               .group = name_group(wording, wgmma),
                               .number = near->number,
                               .s = grout_phrase__get_plural(near->number),
                               .other_op = name_wait(wording, &near->origin, near->wait_needed),
                               .more = more};
    if (starts_wgmma(wording, &near->origin)) {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_OWN_LEFT_EDGE, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_LEFT_EDGE, &words);
    }
}

/* "; the barrier_arrive at line 12 lets thread wg=1 go on": what let the access come; "": nothing
 * did. */
static const char *name_handover(const grout_wording *wording) {
    const grout_origin *handover = &wording->facts->near.handover;
    grout_text text = {.allocator = wording->checker->allocator};
    if (wording->facts->side_count == 1 || !handover->op) {
        return grout_phrase__get(GROUT_PHRASE_NOTHING);
    }
    grout_sentence__add(&text, GROUT_SENTENCE_WGMMA_HANDOVER,
                        &(grout_words){.op = grout_wording__get_mnemonic(wording, handover),
                                       .line = grout_wording__get_line(wording, handover),
                                       .actor = grout_wording__name_actor(
                                           wording, &wording->facts->sides[0].origin)});
    return grout_wording__keep(wording, &text);
}

static void add_wait_in_time(const grout_wording *wording, const grout_side *wgmma,
                             grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const char *more = name_handover(wording);
    const grout_words words = {.line = grout_wording__get_line(wording, &wgmma->origin),
                               .group = name_group(wording, wgmma),
                               .more = more};
    if (near->kind == GROUT_NEAR_WGMMA_LEFT) {
        add_left(wording, wgmma, more, out);
    } else if (near->kind == GROUT_NEAR_WGMMA_NEVER) {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_NEVER_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_WGMMA_LATE) {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_LATE_EDGE, &words);
    } else {
        grout_sentence__add(out,
                            starts_wgmma(wording, &near->origin)
                                ? GROUT_SENTENCE_WGMMA_PART_EARLY_EDGE
                                : GROUT_SENTENCE_WGMMA_EARLY_EDGE,
                            &(grout_words){.op = name_wait(wording, &near->origin, near->number),
                                           .line = words.line,
                                           .group = words.group,
                                           .more = more});
    }
}

static void add_unordered(const grout_wording *wording, const grout_side *wgmma, grout_text *out) {
    const grout_origin *arrive = &wording->facts->near.origin;
    uint32_t line = grout_wording__get_line(wording, &wgmma->origin);
    const char *group = name_group(wording, wgmma);
    if (!arrive->op) {
        grout_sentence__add(out, GROUT_SENTENCE_WGMMA_UNORDERED_EDGE,
                            &(grout_words){.line = line, .group = group});
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_WGMMA_ARRIVE_EARLY_EDGE,
                        &(grout_words){.op = grout_wording__get_mnemonic(wording, arrive),
                                       .actor = grout_wording__name_actor(
                                           wording, &wording->facts->sides[0].origin),
                                       .line = line,
                                       .group = group});
}

void grout_wording__add_wgmma_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->side_count == 1) { /* at the end of a scope or CTA */
        add_wait_in_time(wording, &facts->sides[0], out);
    } else if (facts->near.kind == GROUT_NEAR_WGMMA_UNORDERED) {
        add_unordered(wording, &facts->sides[1], out);
    } else {
        add_wait_in_time(wording, &facts->sides[1], out);
    }
}
