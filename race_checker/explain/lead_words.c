/*
 * lead_words.c - of a finding: the operations whose indices may be its cause.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leads.h"
#include "wording.h"

/* NULL without memory. */
static const grout_rings *get_rings(const grout_wording *wording) {
    grout_rings *it = &wording->shared->rings;
    if (!it->is_made && !wording->strings->has_failed) {
        wording->strings->has_failed = !grout_rings__make(it, wording->checker);
    }
    return it->is_made ? it : NULL;
}

/* Whether an index can be the cause of what the code says, and whether it is about a barrier. */
typedef struct part {
    bool is_any, is_of_barrier;
} part;

static part get_part(const grout_record *record) {
    const bool is_usual = record->facts.subject == GROUT_SUBJECT_USUAL ||
                          record->facts.subject == GROUT_SUBJECT_LATE ||
                          record->facts.subject == GROUT_SUBJECT_BYTES;
    switch ((unsigned)record->code) {
    case GROUT_DIAG_BARRIER_OVERRUN:
    case GROUT_DIAG_BARRIER_WRONG_PARITY:
    case GROUT_DIAG_BARRIER_TX_MISMATCH:
    case GROUT_DIAG_BARRIER_PARTIAL:
    case GROUT_DIAG_BARRIER_UNOBSERVED:
        return (part){is_usual, is_usual};
    case GROUT_DIAG_ASYNC_NOT_AWAITED:
    case GROUT_DIAG_MMA_OPERAND_REUSE:
    case GROUT_DIAG_SMEM_SOURCE_REUSE:
    case GROUT_DIAG_SMEM_RACE:
    case GROUT_DIAG_TMEM_RACE:
        return (part){true, false};
    default:
        return (part){false, false};
    }
}

static void add_ops(const grout_wording *wording, const grout_rings *rings, part of,
                    grout_lead_question *question) {
    const grout_facts *facts = wording->facts;
    for (uint32_t i = 0; i < facts->side_count; i++) {
        grout_lead_question__add(question, facts->sides[i].origin.op);
    }
    if (of.is_of_barrier && facts->element < wording->checker->local_elements) {
        grout_lead_question__add_barrier(question, rings,
                                         wording->checker->info.element_objects[facts->element]);
    }
}

bool grout_wording__add_lead_repair(const grout_wording *wording, grout_text *out) {
    const part of = get_part(wording->record);
    const grout_rings *rings =
        of.is_any && !grout_wording__is_pallas(wording) ? get_rings(wording) : NULL;
    grout_lead_question question = {.count = 0};
    if (rings == NULL) {
        return false;
    }
    question.facts = of.is_of_barrier ? NULL : wording->facts;
    add_ops(wording, rings, of, &question);
    return grout_leads__add_help(
        &(grout_leads){.checker = wording->checker, .rings = rings, .names = wording->strings},
        &question, out);
}
