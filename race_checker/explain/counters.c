/*
 * counters.c - atomics by which the threads of a race may know of each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include <stdlib.h>

void grout_counters__deinit(grout_counters *counters) {
    grout__free(counters->all.items);
    for (uint32_t kind = 0; kind < GROUT_COUNTER_KINDS; kind++) {
        grout__free(counters->first[kind]);
    }
}

/* ---- all of them ---- */

/* Whether it is an atomic that could order more than it does: of a race, anything. */
static bool is_weak_atomic(const grout_module *module, const grout_op *op, bool is_race) {
    if (grout_op_get_info((grout_opcode)op->opcode)->effect_row != GROUT_EFFECT_ROW_FETCH) {
        return false;
    }
    const grout_choice order = grout_op_get_choice(module, op, GROUT_ATTR_ORDER);
    const grout_choice scope = grout_op_get_choice(module, op, GROUT_ATTR_SCOPE);
    const bool is_narrow = scope == GROUT_CHOICE_SCOPE_CTA || scope == GROUT_CHOICE_SCOPE_CLUSTER;
    return order == GROUT_CHOICE_NONE || order == GROUT_CHOICE_ORDER_RELAXED ||
           (!is_race && (is_narrow || order != GROUT_CHOICE_ORDER_ACQ_REL));
}

static int compare_counters(const void *a, const void *b) {
    const grout_counter *x = a, *y = b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->op > y->op) - (x->op < y->op);
}

/* What is weak of a race is weak of anything else. False without memory. */
static bool add_counters(const grout_wording *wording, grout_counters *it) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(wording->module); i++) {
        const grout_origin origin = {.op = i};
        if (wording->checker->run.op_threads[i] == 0 ||
            !is_weak_atomic(wording->module, grout_module_get_op(wording->module, i), false)) {
            continue;
        }
        if (!GROUT_ARRAY_RESERVE(&it->all, wording->checker->allocator, 1)) {
            return false;
        }
        it->all.items[it->all.count++] =
            (grout_counter){grout_wording__get_line(wording, &origin), i};
    }
    if (it->all.count > 1) {
        qsort(it->all.items, it->all.count, sizeof *it->all.items, compare_counters);
    }
    return true;
}

static grout_op_id get_smaller(grout_op_id a, grout_op_id b) {
    return a < b ? a : b;
}

/* False without memory. */
static bool find_first(const grout_wording *wording, grout_counters *it, bool is_race) {
    const size_t count = it->all.count;
    grout_op_id *first = grout__new(wording->checker->allocator, 2 * count + 1, sizeof *first);
    it->first[is_race ? 0 : 1] = first;
    for (size_t i = 0; first != NULL && i < count; i++) {
        const grout_op *op = grout_module_get_op(wording->module, it->all.items[i].op);
        first[count + i] =
            is_weak_atomic(wording->module, op, is_race) ? it->all.items[i].op : UINT32_MAX;
    }
    for (size_t i = count; first != NULL && i-- > 1;) {
        first[i] = get_smaller(first[2 * i], first[2 * i + 1]);
    }
    return first != NULL;
}

/* False without memory. */
static bool make(const grout_wording *wording, grout_counters *it) {
    it->is_made = it->is_made || (add_counters(wording, it) && find_first(wording, it, true) &&
                                  find_first(wording, it, false));
    return it->is_made;
}

/* ---- the first between two lines ---- */

/* How many of them stand before a line. */
static size_t count_before(const grout_counters *it, uint32_t line) {
    size_t low = 0, high = it->all.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (it->all.items[middle].line < line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first op of those from one number up to another. */
static grout_op_id find_between(const grout_counters *it, bool is_race, size_t from, size_t end) {
    const grout_op_id *first = it->first[is_race ? 0 : 1];
    grout_op_id found = UINT32_MAX;
    for (from += it->all.count, end += it->all.count; from < end; from /= 2, end /= 2) {
        if (from % 2 == 1) {
            found = get_smaller(found, first[from++]);
        }
        if (end % 2 == 1) {
            found = get_smaller(found, first[--end]);
        }
    }
    return found == UINT32_MAX ? 0 : found;
}

grout_op_id grout_wording__find_counter(const grout_wording *wording) {
    const grout_facts *facts = wording->facts;
    grout_counters *it = &wording->shared->counters;
    if (facts->side_count != 2 || grout_wording__is_pallas(wording) ||
        wording->strings->has_failed) {
        return 0;
    }
    if (!make(wording, it)) {
        wording->strings->has_failed = true;
        return 0;
    }
    const uint32_t one = grout_wording__get_line(wording, &facts->sides[0].origin);
    const uint32_t other = grout_wording__get_line(wording, &facts->sides[1].origin);
    const bool is_race = wording->record->code == GROUT_DIAG_GMEM_RACE;
    const size_t from = count_before(it, one < other ? one : other);
    const size_t end = is_race ? count_before(it, (one < other ? other : one) + 1) : it->all.count;
    /* One that orders nothing is likelier to be the one than one that orders half. */
    grout_op_id relaxed = find_between(it, true, from, end);
    if (!is_race && relaxed == 0) { /* above both: it comes before the read that is to acquire */
        relaxed = find_between(it, true, 0, from);
    }
    return is_race || relaxed != 0 ? relaxed : find_between(it, false, from, end);
}

/* ---- what to write ---- */

bool grout_wording__add_counter_repair(const grout_wording *wording, grout_text *out) {
    const grout_origin counter = {.op = grout_wording__find_counter(wording)};
    if (counter.op != 0) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_COUNTER_HELP,
                            &(grout_words){.op = grout_wording__get_mnemonic(wording, &counter),
                                           .line = grout_wording__get_line(wording, &counter)});
    }
    return counter.op != 0;
}

/* The last atomic with a result that stands in front of an op in its block and has run; 0: none. */
static grout_op_id find_ticket(const grout_wording *wording, grout_op_id before) {
    const grout_module *module = wording->module;
    grout_op_id found = 0;
    for (grout_op_id i =
             grout_module_get_block(module, grout_module_get_op(module, before)->parent)->first;
         i != 0 && i != before; i = grout_module_get_op(module, i)->next) {
        const grout_op_info *info =
            grout_op_get_info((grout_opcode)grout_module_get_op(module, i)->opcode);
        found =
            info->effect_row == GROUT_EFFECT_ROW_FETCH && wording->checker->run.op_threads[i] != 0
                ? i
                : found;
    }
    return found;
}

bool grout_wording__add_ticket_repair(const grout_wording *wording, grout_text *out) {
    const grout_side *sides = wording->facts->sides;
    const uint32_t read = sides[0].is_write ? 1 : 0;
    const grout_module *module = wording->module;
    grout_op_id around = sides[read].origin.op;
    grout_origin ticket = {.op = 0};
    while (!sides[read].is_write && around != 0 && ticket.op == 0) {
        around = grout_op__get_parent(module, around);
        const bool is_branch =
            around != 0 &&
            grout_op_get_region((grout_opcode)grout_module_get_op(module, around)->opcode)->kind ==
                GROUT_REGION_BRANCH;
        ticket.op = is_branch ? find_ticket(wording, around) : 0;
    }
    if (ticket.op == 0 || grout_wording__get_line(wording, &ticket) <
                              grout_wording__get_line(wording, &sides[1 - read].origin)) {
        return false;
    }
    const grout_origin branch = {.op = around};
    grout_sentence__add(out, GROUT_SENTENCE_RACE_TICKET_HELP,
                        &(grout_words){.op = grout_wording__get_mnemonic(wording, &ticket),
                                       .line = grout_wording__get_line(wording, &ticket),
                                       .other_op = grout_wording__get_mnemonic(wording, &branch),
                                       .other_line = grout_wording__get_line(wording, &branch)});
    return true;
}
