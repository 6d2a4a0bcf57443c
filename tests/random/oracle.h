/* oracle.h - an observer that decides races in the simplest way there is.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It keeps every access of every byte, with all clocks of its actor at that moment, and forgets
 * nothing. When the run is over it asks of each two accesses of a byte, one of them a write,
 * whether the later one's clocks say that the earlier is over and, where the proxies differ,
 * published. In tensor memory it asks what the later one knows by edges that order the tensor core;
 * for two MMAs that follow each other in the pipeline, whether it knows of the first one's issue.
 * What an engine has written in the memory of a CTA has to be seen as well, by who looks at it, and
 * in tensor memory by everybody, by the same way through the fences: another CTA is shown it only
 * along edges of memory (docs/memory_model.md, "Done, and seen").
 * Accumulators are not its subject: they are one thread's.
 */
#ifndef GROUT_TESTS_RANDOM_ORACLE_H
#define GROUT_TESTS_RANDOM_ORACLE_H

#include "grout-internal/observe.h"

typedef struct oracle oracle;

/* Lines of two accesses of an object that are in no order, the smaller first. */
typedef struct oracle_pair {
    uint32_t first, second;
    grout_object_id object;
} oracle_pair;

/* has_history: the clocks are held against what each actor knows by history.h, access for access.
 */
oracle *oracle_new(bool has_history);
void oracle_free(oracle *it);
const grout_observer *oracle_get_observer(oracle *it);
/* After the run: all such pairs, each once. */
uint32_t oracle_find(oracle *it, const oracle_pair **pairs_out);
uint64_t oracle_get_comparisons(const oracle *it);
/* How often the clocks and the history did not say the same; lines of the first such two accesses.
 */
uint64_t oracle_get_differences(const oracle *it, oracle_pair *first_out);

#endif
