/*
 * taint.c - whether a value that depends on the schedule reaches what decides the run, or a
 * finding. SPDX-License-Identifier: Apache-2.0
 *
 * Each row of SINKS is something that an operand decides. Whatever the machine calls a fault of a
 * value (grout_fault, grout_uninitialised_use) has a row; a fault without one would be certified
 * though another schedule need not have it.
 */
#include "taint.h"

#include "flow.h"
#include "sentences.h"
#include "statement.h"

#include <string.h>

/* ---- what an operand decides ---- */

static grout_op_id find_branch(const grout_flow *it, const grout_op *op, grout_trait trait) {
    grout_op_id found = 0;
    uint32_t count = grout_flow__get_lead_count(op);
    for (uint32_t i = 0; i < count && !found; i++) {
        found = grout_flow__find_operand(it, op, i, trait);
    }
    return found;
}

/* The indices of a reference. */
static grout_op_id find_index(const grout_flow *it, const grout_operand *operand,
                              grout_trait trait) {
    const grout_op_id *values = it->values[trait];
    grout_view view;
    grout_op_id found = 0;
    memset(&view, 0, sizeof view);
    if (!grout_module_get_view(it->module, operand, &view)) {
        return 0;
    }
    for (uint32_t dim = 0; dim < view.rank && !found; dim++) {
        for (uint32_t i = 0; i < view.start_term_count[dim] && !found; i++) {
            found = values[view.start_terms[dim][i]];
        }
    }
    for (uint32_t i = 0; i < view.cluster_index_count && !found; i++) {
        found = view.cluster_index[i].kind == GROUT_OPERAND_VALUE ? values[view.cluster_index[i].id]
                                                                  : 0;
    }
    return found;
}

/* Whether the operand says which elements of the memory are touched. */
static bool is_pick(const grout_op *op, uint32_t operand) {
    const uint8_t kind = grout_flow__get_letter_kind(op, operand);
    return kind == GROUT_LETTER_INDICES || kind == GROUT_LETTER_MASK ||
           kind == GROUT_LETTER_OPTIONAL_MASK || kind == GROUT_LETTER_ROWS;
}

static grout_op_id find_address(const grout_flow *it, const grout_op *op, grout_trait trait) {
    grout_op_id found = 0;
    for (uint32_t i = 0; i < op->operand_count && !found; i++) {
        found = is_pick(op, i) ? grout_flow__find_operand(it, op, i, trait)
                               : find_index(it, grout_module_get_operand(it->module, op, i), trait);
    }
    return found;
}

/* Values of which two may go to one place, if they are equal. */
static grout_op_id find_scattered(const grout_flow *it, const grout_op *op, grout_trait trait) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    grout_pick pick;
    if (info->rule == GROUT_RULE_ROWS) { /* rows of SMEM, where GMEM is the target */
        const uint32_t smem = grout_op_find_letter((grout_opcode)op->opcode, 'H');
        const bool is_store = grout_op_find_target((grout_opcode)op->opcode) != smem;
        return is_store ? grout_flow__find_operand(it, op, smem, trait) : 0;
    }
    if (info->rule != GROUT_RULE_SCATTER || info->update != GROUT_UPDATE_NONE ||
        !grout_op_get_pick(it->module, op, &pick)) {
        return 0;
    }
    return grout_flow__find_operand(it, op, pick.value, trait);
}

/* An operand that says how often, on which phase or for how many an op synchronises. */
static grout_op_id find_sync_operand(const grout_flow *it, const grout_op *op, grout_trait trait) {
    bool is_sync = grout_op_get_sync((grout_opcode)op->opcode) != NULL;
    grout_op_id found = 0;
    for (uint32_t i = 0; is_sync && i < op->operand_count && !found; i++) {
        uint8_t kind = grout_flow__get_letter_kind(op, i);
        bool is_scalar = kind == GROUT_LETTER_INTEGER || kind == GROUT_LETTER_SCALAR;
        found = is_scalar ? grout_flow__find_operand(it, op, i, trait) : 0;
    }
    return found;
}

static grout_op_id find_printed(const grout_flow *it, const grout_op *op, grout_trait trait) {
    bool is_print = grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_PRINT;
    return is_print ? grout_flow__find_input(it, op, trait) : 0;
}

static grout_rule get_rule(const grout_op *op) {
    return (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
}

/* The condition of a debug_check. */
static grout_op_id find_checked(const grout_flow *it, const grout_op *op, grout_trait trait) {
    return get_rule(op) == GROUT_RULE_CHECK ? grout_flow__find_operand(it, op, 0, trait) : 0;
}

/* The value of a multiple_of. */
static grout_op_id find_promised(const grout_flow *it, const grout_op *op, grout_trait trait) {
    return get_rule(op) == GROUT_RULE_PROMISE ? grout_flow__find_operand(it, op, 0, trait) : 0;
}

/* An operand of what computes floats, where the launch asks what that makes. */
static grout_op_id find_made(const grout_flow *it, const grout_op *op, grout_trait trait) {
    const grout_rule rule = get_rule(op);
    const bool computes = rule == GROUT_RULE_JOIN || rule == GROUT_RULE_CONVERT ||
                          rule == GROUT_RULE_EXTERN || rule == GROUT_RULE_REDUCE ||
                          rule == GROUT_RULE_SCAN || rule == GROUT_RULE_MMA;
    if (it->checker == NULL || !it->checker->info.tracks_non_finite || !computes ||
        grout_dtype_get_info(
            (grout_dtype)grout_module_get_type(it->module, op->first_result)->dtype)
                ->class_ != GROUT_CLASS_FLOAT) {
        return 0;
    }
    return grout_flow__find_input(it, op, trait);
}

/* How long a delay is: undefined it is a finding. */
static grout_op_id find_hint(const grout_flow *it, const grout_op *op, grout_trait trait) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const bool is_number = info->effect_row == GROUT_EFFECT_ROW_HINT && op->operand_count > 0 &&
                           grout_flow__get_letter_kind(op, 0) == GROUT_LETTER_INTEGER;
    return is_number ? grout_flow__find_operand(it, op, 0, trait) : 0;
}

/* Whether the operand has a part in what the op leaves in memory. */
static bool is_read(const grout_flow *it, const grout_op *op, uint32_t operand) {
    uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    grout_update update = grout_op_get_update(it->module, op);
    return operand != target || (update != GROUT_UPDATE_NONE && update != GROUT_UPDATE_EXCHANGE);
}

/* What is stored to, or combined with, an array of the launch. */
static grout_op_id find_output(const grout_flow *it, const grout_op *op, grout_trait trait) {
    uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    grout_op_id found = 0;
    grout_object_id object =
        target < op->operand_count ? grout_op__find_object(it->module, op, target) : 0;
    if (!object || !grout_space_is_of_launch(grout_module_get_object(it->module, object)->space)) {
        return 0;
    }
    for (uint32_t i = 0; i < op->operand_count && !found; i++) {
        found = is_read(it, op, i) ? grout_flow__find_operand(it, op, i, trait) : 0;
    }
    return found;
}

enum { VALUE = 1u << GROUT_TRAIT_VALUE, DEFINED = 1u << GROUT_TRAIT_DEFINED };

static const struct sink {
    grout_op_id (*find)(const grout_flow *it, const grout_op *op, grout_trait trait);
    grout_phrase_id what;
    uint32_t traits;
} SINKS[] = {
    {find_branch, GROUT_PHRASE_TAINT_BRANCH, VALUE | DEFINED},
    {find_sync_operand, GROUT_PHRASE_TAINT_SYNC, VALUE | DEFINED},
    {find_address, GROUT_PHRASE_TAINT_ADDRESS, VALUE | DEFINED},
    {find_scattered, GROUT_PHRASE_TAINT_SCATTERED, VALUE | DEFINED},
    {find_printed, GROUT_PHRASE_TAINT_PRINTED, VALUE | DEFINED},
    {find_checked, GROUT_PHRASE_TAINT_CHECKED, VALUE | DEFINED},
    {find_hint, GROUT_PHRASE_TAINT_SYNC, DEFINED},
    {find_promised, GROUT_PHRASE_TAINT_PROMISED, VALUE},
    {find_made, GROUT_PHRASE_TAINT_MADE, VALUE},
    {find_output, GROUT_PHRASE_TAINT_OUTPUT, DEFINED},
};
enum { SINK_COUNT = sizeof SINKS / sizeof *SINKS };

/* BRANCH, SYNC, ADDRESS, PRINT, OUTPUT, CHECK; a new use of an undefined value needs a row. */
_Static_assert(GROUT_USE_CHECK == 5, "each grout_uninitialised_use has a row in SINKS");

static grout_taint find_sink(const grout_flow *it, grout_op_id id) {
    const grout_op *op = grout_module_get_op(it->module, id);
    grout_taint found = {.sink = id};
    for (uint32_t trait = 0; trait < GROUT_TRAIT_COUNT && !found.source; trait++) {
        for (uint32_t i = 0; i < SINK_COUNT && !found.source; i++) {
            found.what = grout_phrase__get(SINKS[i].what);
            found.is_undefined = trait != GROUT_TRAIT_VALUE;
            found.source =
                (SINKS[i].traits >> trait & 1) != 0 ? SINKS[i].find(it, op, (grout_trait)trait) : 0;
        }
    }
    return found;
}

/* ---- questions ---- */

static bool search(grout_flow *it, grout_taint *found) {
    uint32_t count = grout_module_get_op_count(it->module);
    bool done = grout_flow__run(it);
    for (grout_op_id i = 1; done && i < count && !found->source; i++) {
        if (grout_flow__is_in_kernel(it, i)) {
            *found = find_sink(it, i);
        }
    }
    grout_flow__deinit(it);
    return done;
}

bool grout_checker__find_taint(const grout_checker *checker, grout_taint *taint_out) {
    grout_flow it = {.allocator = checker->allocator,
                     .checker = checker,
                     .module = checker->info.module,
                     .kernel = checker->info.kernel};
    memset(taint_out, 0, sizeof *taint_out);
    return search(&it, taint_out);
}

bool grout_race_is_decisive(const grout_allocator *allocator, const grout_module *module,
                            grout_kernel_id kernel, grout_object_id object, bool *is_decisive_out) {
    grout_flow it = {.allocator = allocator, .module = module, .kernel = kernel, .only = object};
    grout_taint found = {0};
    bool done = search(&it, &found);
    *is_decisive_out = found.source != 0;
    return done;
}

/* What comes of a read, before it is followed. */
static grout_flow begin_at(const grout_checker *checker, grout_op_id read) {
    return (grout_flow){.allocator = checker->allocator,
                        .checker = checker,
                        .module = checker->info.module,
                        .kernel = checker->info.kernel,
                        .read = read};
}

bool grout_checker__is_fed(const grout_checker *checker, grout_op_id read, grout_op_id use,
                           bool *is_fed_out) {
    grout_flow it = begin_at(checker, read);
    const grout_op *op = grout_module_get_op(checker->info.module, use);
    bool done = true;
    *is_fed_out = read == use;
    if (read != use) {
        done = grout_flow__run(&it);
        *is_fed_out = done && (grout_flow__find_input(&it, op, GROUT_TRAIT_VALUE) != 0 ||
                               find_sink(&it, use).source != 0);
        grout_flow__deinit(&it);
    }
    return done;
}

bool grout_checker__is_made_of(const grout_checker *checker, grout_op_id read, grout_op_id write,
                               bool *is_out) {
    grout_flow it = begin_at(checker, read);
    const grout_op *op = grout_module_get_op(checker->info.module, write);
    const uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    const bool done = grout_flow__run(&it);
    *is_out = read != 0 && read == write;
    for (uint32_t i = 0; done && i < op->operand_count && !*is_out; i++) {
        *is_out = i != target && grout_flow__find_operand(&it, op, i, GROUT_TRAIT_VALUE) != 0;
    }
    grout_flow__deinit(&it);
    return done;
}
