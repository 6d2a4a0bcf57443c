/* history.h - what each actor knows, as sets of accesses: made from the events of synchronisation
 * alone, without the machine's clocks, to hold against them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every edge is taken for strong and wide: kernels with order(relaxed), scope(..) or ordered
 * atomics are not its subject.
 */
#ifndef GROUT_TESTS_RANDOM_HISTORY_H
#define GROUT_TESTS_RANDOM_HISTORY_H

#include "grout-internal/observe.h"

typedef struct history history;

history *history_new(const grout_launch_info *info);
void history_free(history *it);
/* An access, as it is made; they are numbered from 0. false: there are too many. */
bool history_add(history *it, const grout_event *event);
/* Anything else. */
void history_take(history *it, const grout_event *event);
/* Whether the actor of the event knows that the access of a number is over. */
bool history_knows(const history *it, const grout_event *event, uint32_t access);
/* Whether it is also published for its async accesses: of a CTA's SMEM, by rank, or of GMEM. */
bool history_is_published(const history *it, const grout_event *event, uint32_t access,
                          bool is_smem, uint32_t rank);
/* Whether the actor knows by edges that order the tensor core that an access of tensor memory is
 * over, with is_seen so that what it did can be seen, or that the MMA that makes it has been
 * issued.
 */
bool history_is_over_in_tmem(const history *it, const grout_event *event, uint32_t access,
                             bool is_seen);
bool history_is_issued(const history *it, const grout_event *event, uint32_t access);

#endif
