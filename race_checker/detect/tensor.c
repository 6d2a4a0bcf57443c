/*
 * tensor.c - accesses of tensor memory: compared with what an edge that orders the tensor core has
 * admitted, and not with what is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tensor.h"

static grout_mechanism get_mechanism(const grout_rules *rules, const grout_entry *entry) {
    return grout_clock__get_mechanism(rules->shape, entry->component, NULL);
}

static bool is_mma(const grout_rules *rules, const grout_entry *entry) {
    return get_mechanism(rules, entry) == GROUT_MECHANISM_TCGEN05;
}

static bool is_write(const grout_entry *entry) {
    return entry->flags & GROUT_ENTRY_WRITE;
}

/* Whether it is over, as far as the actor may rely on that. */
static bool is_admitted(const grout_rules *rules, const grout_entry *earlier, uint32_t number) {
    return rules->clocks->admitted[grout_clock_admitted(rules->shape, earlier->component)] >=
           number;
}

/* Two MMAs that add to the same columns, from the same first one on, in the same way, or an MMA
 * that uses what a copy has brought: the tensor core does those in the order of their issue (PTX
 * ISA 9.1, 'tcgen05 memory consistency model', pipelined instructions). */
static bool are_pipelined(const grout_rules *rules, const grout_entry *earlier) {
    const uint32_t *shapes = rules->wgmma_shapes;
    if (shapes == NULL || !is_mma(rules, earlier) || !is_mma(rules, &rules->entry) ||
        !is_write(earlier)) {
        return false;
    }
    const uint32_t shape = shapes[earlier->origin.op], later = shapes[rules->entry.origin.op];
    if (shape == GROUT_SHAPE_OF_COPY) {
        return later != GROUT_SHAPE_OF_COPY;
    }
    return is_write(&rules->entry) && shape != 0 && shape == later &&
           earlier->told == rules->entry.told;
}

/* Whether the issue of an MMA came before that of this one, as far as the actor may rely on it. */
static bool is_issue_admitted(const grout_rules *rules, const grout_entry *earlier,
                              uint32_t number) {
    uint32_t lane = 0;
    (void)grout_clock__get_mechanism(rules->shape, earlier->component, &lane);
    return earlier->component == rules->entry.component ||
           rules->clocks->admitted[grout_clock_admitted_is(rules->shape, lane)] >= number;
}

bool grout_tensor__is_ordered(const grout_rules *rules, const grout_entry *earlier,
                              uint32_t number) {
    return is_admitted(rules, earlier, number) ||
           (are_pipelined(rules, earlier) && is_issue_admitted(rules, earlier, number));
}

/* Somebody knows that it is over, or that it was issued: what is missing there? */
static grout_diag_code get_code(const grout_rules *rules, const grout_entry *earlier) {
    if (rules->clocks->known[earlier->component] >= earlier->number) {
        return GROUT_DIAG_TENSOR_CORE_ORDER;
    }
    switch ((unsigned)get_mechanism(rules, earlier)) {
    case GROUT_MECHANISM_TMEM_LOAD:
        return GROUT_DIAG_TMEM_LOAD_NOT_AWAITED;
    case GROUT_MECHANISM_TMEM_STORE:
        return GROUT_DIAG_TMEM_STORE_NOT_COMMITTED;
    default:
        return is_write(earlier) ? GROUT_DIAG_ACCUMULATOR_IN_FLIGHT : GROUT_DIAG_MMA_OPERAND_REUSE;
    }
}

grout_conflict grout_tensor__judge(const grout_rules *rules, const grout_entry *earlier) {
    const uint32_t actor = grout_entry__get_actor(rules->shape, earlier);
    const bool is_issue_known =
        rules->clocks->known[grout_clock_x(rules->shape, actor)] >= earlier->epoch ||
        rules->clocks->known[earlier->component] >= earlier->number;
    grout_conflict conflict = {.code = GROUT_DIAG_NONE};
    if (earlier->component == rules->entry.component && is_mma(rules, earlier)) {
        conflict.code = GROUT_DIAG_TENSOR_PIPE_ORDER;
        conflict.is_warning = true;
    } else if (is_issue_known) {
        conflict.code = get_code(rules, earlier);
    }
    return conflict;
}
