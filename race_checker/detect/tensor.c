/*
 * tensor.c - accesses of tensor memory: compared with what an edge that orders the tensor core has
 * admitted, and not with what is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tensor.h"

#include "grout-internal/facts.h"

static grout_mechanism get_mechanism(const grout_rules *rules, const grout_entry *entry) {
    return grout_clock__get_mechanism(rules->shape, entry->component, NULL);
}

static bool is_mma(const grout_rules *rules, const grout_entry *entry) {
    return get_mechanism(rules, entry) == GROUT_MECHANISM_TCGEN05;
}

static bool is_write(const grout_entry *entry) {
    return entry->flags & GROUT_ENTRY_WRITE;
}

/* Whether it is over, as far as the fences of the tensor core say. */
static bool is_admitted(const grout_rules *rules, const grout_entry *earlier, uint32_t number) {
    return rules->clocks->admitted[grout_clock_admitted(rules->shape, earlier->component)] >=
           number;
}

/* The same, and what it did can be seen: along one path through the fences. */
static bool is_admitted_seen(const grout_rules *rules, const grout_entry *earlier,
                             uint32_t number) {
    return rules->clocks->admitted[grout_clock_admitted_seen(rules->shape, earlier->component)] >=
           number;
}

/* What an MMA or a copy does to tensor memory: a copy writes, an MMA adds to its sums and reads its
 * other operands there. */
typedef enum role { ROLE_SUMS, ROLE_OPERAND, ROLE_COPY } role;

static role get_role(const grout_rules *rules, const grout_entry *entry) {
    const bool is_copy = rules->wgmma_shapes[entry->origin.op] == GROUT_SHAPE_OF_COPY;
    return is_copy ? ROLE_COPY : is_write(entry) ? ROLE_SUMS : ROLE_OPERAND;
}

/* Two MMAs add to the same columns, from the same first one on, in the same shape. */
static bool are_same_sums(const grout_rules *rules, const grout_entry *earlier) {
    const uint32_t shape = rules->wgmma_shapes[earlier->origin.op];
    return shape != 0 && shape == rules->wgmma_shapes[rules->entry.origin.op] &&
           earlier->told == rules->entry.told;
}

/* Two MMAs or copies that one warp issues, of which one writes (PTX ISA 9.4, 'tcgen05 memory
 * consistency model', pipelined instructions). What an MMA reads as its a, metadata or scales may
 * be overwritten by a later MMA or copy, and may be what an earlier copy brings. Sums are added to
 * one after the other. Nothing follows sums but the same ones, and no copy follows a copy. */
static bool are_pipelined_products(const grout_rules *rules, const grout_entry *earlier) {
    const role first = get_role(rules, earlier), then = get_role(rules, &rules->entry);
    return earlier->component == rules->entry.component &&
           (first == ROLE_OPERAND || (first == ROLE_COPY && then == ROLE_OPERAND) ||
            (first == ROLE_SUMS && then == ROLE_SUMS && are_same_sums(rules, earlier)));
}

static bool is_by_thread(const grout_rules *rules, const grout_entry *entry) {
    const grout_mechanism mechanism = get_mechanism(rules, entry);
    return mechanism == GROUT_MECHANISM_TMEM_LOAD || mechanism == GROUT_MECHANISM_TMEM_STORE;
}

/* Loads and stores by one thread: a lane of tensor memory is one warp's of the four, so those of
 * the same bytes are the same warp's, and PTX ISA 9.4 keeps a warp's in order. */
static bool are_pipelined_moves(const grout_rules *rules, const grout_entry *earlier) {
    return is_by_thread(rules, earlier) && is_by_thread(rules, &rules->entry) &&
           earlier->cluster == rules->entry.cluster &&
           grout_entry__get_actor(rules->shape, earlier) ==
               grout_entry__get_actor(rules->shape, &rules->entry);
}

static bool are_pipelined(const grout_rules *rules, const grout_entry *earlier) {
    if (is_mma(rules, earlier) && is_mma(rules, &rules->entry)) {
        return rules->wgmma_shapes != NULL && are_pipelined_products(rules, earlier);
    }
    return are_pipelined_moves(rules, earlier);
}

bool grout_tensor__is_ordered(const grout_rules *rules, const grout_entry *earlier,
                              uint32_t number) {
    const bool has_to_see = grout_fact_get_travel(false, true, is_write(earlier)) ==
                            GROUT_TRAVEL_SEEN; /* any that comes later: a product may be added */
    const bool is_over =
        has_to_see ? is_admitted_seen(rules, earlier, number) : is_admitted(rules, earlier, number);
    return is_over || are_pipelined(rules, earlier);
}

/* Whether the access looks at what is there: a load, an operand, and sums that are added to. */
static bool looks(const grout_rules *rules) {
    const bool is_sum =
        is_mma(rules, &rules->entry) &&
        (rules->wgmma_shapes == NULL || get_role(rules, &rules->entry) == ROLE_SUMS);
    return !is_write(&rules->entry) || is_sum;
}

bool grout_tensor__is_shown(const grout_rules *rules, const grout_entry *reader, uint32_t number) {
    return !looks(rules) || is_admitted_seen(rules, reader, number);
}

/* Whether the later actor has heard that it is over, by edges of any kind. */
static bool is_over_in_time(const grout_rules *rules, const grout_entry *earlier) {
    return rules->clocks->known[earlier->component] >= earlier->number;
}

/* And what it did can be seen. */
static bool is_over_and_seen(const grout_rules *rules, const grout_entry *earlier) {
    return rules->clocks->known[grout_clock_seen(rules->shape, earlier->component)] >=
           earlier->number;
}

grout_conflict grout_tensor__judge_turns(const grout_rules *rules, const grout_entry *earlier) {
    const bool is_over = is_over_in_time(rules, earlier);
    if (is_over && (!is_write(earlier) || is_over_and_seen(rules, earlier))) {
        return (grout_conflict){.code = GROUT_DIAG_NONE};
    }
    return (grout_conflict){.code = is_over ? GROUT_DIAG_INSUFFICIENT_SCOPE : GROUT_DIAG_TMEM_RACE,
                            .primary = is_over ? GROUT_PRIMARY_LATER : GROUT_PRIMARY_SOURCE};
}

/* Somebody knows that it is over, or that it was issued: what is missing there? */
static grout_diag_code get_code(const grout_rules *rules, const grout_entry *earlier) {
    if (rules->clocks->known[earlier->component] >= earlier->number) {
        return is_admitted(rules, earlier, earlier->number) ? GROUT_DIAG_INSUFFICIENT_SCOPE
                                                            : GROUT_DIAG_TENSOR_CORE_ORDER;
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
        rules->clocks->known[grout_clock_epoch(rules->shape, actor)] >= earlier->epoch ||
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
