/*
 * tensor.h - when two accesses of tensor memory are in order, and what it is called if they are
 * not (docs/blackwell.md, 'Clocks').
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_TENSOR_H
#define GROUT_RACE_CHECKER_TENSOR_H

#include "rules.h"

/* Whether the recorded access is over for this one, or the tensor core does both in the order of
 * their issue. */
bool grout_tensor__is_ordered(const grout_rules *rules, const grout_entry *earlier,
                              uint32_t number);
/* Whether a reader that is over shows this access what it has read, as far as that looks at it. */
bool grout_tensor__is_shown(const grout_rules *rules, const grout_entry *reader, uint32_t number);
/* What is wrong between two that are not in order. NONE in the code: nothing tells, a race. */
grout_conflict grout_tensor__judge(const grout_rules *rules, const grout_entry *earlier);
/* What is wrong between accesses, by the CTAs of a pair, of columns that two scopes have one after
 * the other. NONE: nothing. The emitted code has the fences on every edge, so the edge counts. */
grout_conflict grout_tensor__judge_turns(const grout_rules *rules, const grout_entry *earlier);

#endif
