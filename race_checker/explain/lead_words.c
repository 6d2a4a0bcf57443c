/*
 * lead_words.c - of a finding: the operations whose indices may be its cause.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leads.h"
#include "statement.h"
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

/* ---- the end of a ring ---- */

/* The wait of a loop that does nothing else with rings, and has fewer turns than slots; NULL: there
 * is none. */
static const grout_ring_use *find_short_wait(const grout_wording *wording, const grout_rings *rings,
                                             grout_object_id object) {
    const grout_module *module = wording->module;
    const grout_ring_span uses = grout_rings__get_of_object(rings, object);
    for (size_t i = 0; i < uses.count; i++) {
        const grout_ring_use *wait = &uses.items[i];
        const grout_operand *slot = grout_ring_use__get_slot(module, wait);
        int64_t number = 0;
        if (wait->role != GROUT_RING_WAITS || wait->loop == 0 || slot == NULL ||
            grout_slot__is_constant(module, slot, &number) ||
            grout_rings__get_of_loop(rings, wait->loop).count != 1) {
            continue;
        }
        const int64_t turns = grout_loop__count_turns(module, wait->loop);
        if (turns > 0 && turns < grout_object__count_slots(module, object)) {
            return wait;
        }
    }
    return NULL;
}

bool grout_wording__add_short_wait_repair(const grout_wording *wording, grout_text *out) {
    const grout_object_id object = wording->checker->info.element_objects[wording->facts->element];
    const grout_rings *rings = grout_wording__is_pallas(wording) ? NULL : get_rings(wording);
    const grout_ring_use *wait = rings == NULL ? NULL : find_short_wait(wording, rings, object);
    if (wait == NULL) {
        return false;
    }
    const grout_origin loop = {.op = wait->loop}, origin = {.op = wait->op};
    grout_sentence__add(out, GROUT_SENTENCE_LEAD_SHORT_WAIT_HELP,
                        &(grout_words){.op = grout_wording__get_mnemonic(wording, &loop),
                                       .line = grout_wording__get_line(wording, &loop),
                                       .other_line = grout_wording__get_line(wording, &origin),
                                       .have = grout_loop__count_turns(wording->module, wait->loop),
                                       .need = grout_object__count_slots(wording->module, object),
                                       .object = grout_wording__name_object(wording, object)});
    return true;
}

/* ---- a load too many ---- */

/* The if around an op whose condition changes with the turns of the loop, from the inside out; 0:
 * there is none. */
static grout_op_id find_condition(const grout_module *module, grout_op_id op, grout_op_id loop) {
    for (op = grout_op__get_parent(module, op); op != 0 && op != loop;
         op = grout_op__get_parent(module, op)) {
        const grout_op *it = grout_module_get_op(module, op);
        if (grout_op_get_region((grout_opcode)it->opcode)->kind == GROUT_REGION_BRANCH &&
            it->operand_count > 0 &&
            grout_slot__changes_with(module, grout_module_get_operand(module, it, 0), loop)) {
            return op;
        }
    }
    return 0;
}

/* Whether something arrives on the barrier ahead of the loop. */
static bool has_ahead(const grout_wording *wording, const grout_rings *rings,
                      grout_object_id object, grout_op_id loop) {
    const grout_ring_span uses = grout_rings__get_of_object(rings, object);
    bool has_any = false;
    for (size_t i = 0; i < uses.count; i++) {
        has_any |= uses.items[i].role == GROUT_RING_ARRIVES &&
                   grout_op__find_reach(wording->module, uses.items[i].op, loop).kind ==
                       GROUT_REACH_AHEAD &&
                   find_condition(wording->module, uses.items[i].op, loop) == 0;
    }
    return has_any;
}

bool grout_wording__add_surplus_load_repair(const grout_wording *wording, grout_object_id object,
                                            const grout_origin *wait, grout_text *out) {
    const grout_module *module = wording->module;
    const grout_origin *copy = &wording->facts->sides[0].origin;
    const grout_op_id loop = grout_op__get_loop(module, wait->op);
    const grout_rings *rings = grout_wording__is_pallas(wording) ? NULL : get_rings(wording);
    const grout_origin condition = {
        .op = loop == 0 || rings == NULL ? 0 : find_condition(module, copy->op, loop)};
    grout_op_id around = copy->op;
    while (around != 0 && around != loop) {
        around = grout_op__get_parent(module, around);
    }
    if (condition.op == 0 || around == 0 || find_condition(module, wait->op, loop) != 0 ||
        !has_ahead(wording, rings, object, loop)) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_LEAD_SURPLUS_HELP,
                        &(grout_words){.op = grout_wording__get_mnemonic(wording, &condition),
                                       .line = grout_wording__get_line(wording, &condition),
                                       .access = grout_wording__get_mnemonic(wording, copy),
                                       .other_line = grout_wording__get_line(wording, copy),
                                       .limit = grout_wording__get_line(wording, wait),
                                       .object = grout_wording__name_object(wording, object)});
    return true;
}
