/*
 * place_words.c - what to do about an index that is outside its array, or has wrapped.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

/* An access without a box of TMA: of arrays in GMEM a mask may leave out what hangs over. */
static void repair_plain_place(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    const bool hangs_over = fault->start >= 0 && fault->start < fault->limit && fault->extent > 1;
    const bool is_gmem =
        grout_space_is_of_launch(grout_object_get_type(wording->module, fault->object)->space);
    const char *object = grout_wording__name_object(wording, fault->object);
    if (hangs_over && is_gmem && !grout_wording__is_pallas(wording)) {
        grout_sentence__add(
            out, GROUT_SENTENCE_OUTSIDE_MASK_HELP,
            &(grout_words){.object = object, .limit = fault->limit, .dimension = fault->dimension});
    } else {
        grout_sentence__add(
            out, GROUT_SENTENCE_OUTSIDE_INDEX_HELP,
            &(grout_words){.object = object, .limit = fault->limit, .dimension = fault->dimension});
    }
}

bool grout_wording__add_outside_repair(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    switch ((grout_outside)fault->use) {
    case GROUT_OUTSIDE_PLAIN:
        if (fault->object == 0 || fault->dimension >= GROUT_RANK_MAX) {
            return false;
        }
        repair_plain_place(wording, out);
        break;
    case GROUT_OUTSIDE_PROMISED:
        grout_sentence__add(
            out, GROUT_SENTENCE_OUTSIDE_PROMISED_HELP,
            &(grout_words){.what = grout_wording__spell(wording, GROUT_SPELLING_OOB_PROMISE, NULL),
                           .more = grout_wording__spell(wording, GROUT_SPELLING_OOB_ZERO, NULL)});
        break;
    case GROUT_OUTSIDE_FOLDED:
        grout_sentence__add(
            out, GROUT_SENTENCE_OUTSIDE_FOLDED_HELP,
            &(grout_words){.op = grout_wording__spell(wording, GROUT_SPELLING_IF, NULL)});
        break;
    case GROUT_OUTSIDE_PIXELS:
        grout_sentence__add(out, GROUT_SENTENCE_PIXELS_HELP, NULL);
        break;
    case GROUT_OUTSIDE_OFFSET:
        grout_sentence__add(out, GROUT_SENTENCE_PIXEL_OFFSET_HELP, NULL);
        break;
    case GROUT_OUTSIDE_NEGATIVE:
        grout_sentence__add(out, GROUT_SENTENCE_NEGATIVE_ROW_HELP, NULL);
        break;
    case GROUT_OUTSIDE_GRANULE:
        grout_sentence__add(out, GROUT_SENTENCE_OUTSIDE_GRANULE_HELP, NULL);
        break;
    case GROUT_OUTSIDE_PART:
        grout_sentence__add(out, GROUT_SENTENCE_OUTSIDE_PART_HELP, NULL);
        break;
    case GROUT_OUTSIDE_EMPTY:
        grout_sentence__add(out, GROUT_SENTENCE_OUTSIDE_EMPTY_HELP, NULL);
        break;
    }
    return true;
}

void grout_wording__add_wrap_repair(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const char *op = grout_phrase__get(GROUT_PHRASE_WRAPPED_OF_SEVERAL);
    if (facts->fault.need != 0) {
        op = grout_wording__say(
            wording, GROUT_SENTENCE_WRAPPED_OF_ONE,
            &(grout_words){.op = grout_wording__get_mnemonic(wording, &facts->sides[0].origin)});
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_WRAPPED_HELP,
        &(grout_words){.op = op,
                       .ops = grout_wording__spell(wording, GROUT_SPELLING_BOUNDS, NULL)});
}
