/*
 * edges.h - what the edges between the CTAs of a cluster can have to carry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_LOWERING_EDGES_H
#define GROUT_LOWERING_EDGES_H

#include "grout-internal/ir.h"

/*
 * Which barriers need no order between CTAs, in any launch of a kernel of a bound, verified module:
 * whatever arrives on them, nothing that it releases can matter to another CTA, or come back from
 * one to another thread of its own, or nobody acquires it for more than its CTA (scope(cta),
 * order(relaxed)). Then operations on them may be for the CTA alone. Every phase
 * is still counted, and what is over (a copy, a wgmma) is over for all who have waited.
 *
 * is_narrow has an entry for each object of the module; those of such barriers become 1, the others
 * 0. False without memory, or if diags does not go on.
 */
bool grout_edges__find_narrow(const grout_module *module, grout_kernel_id kernel,
                              uint8_t *is_narrow, grout_diags *diags);

/*
 * Which barriers may tell of mbarriers that are made or ended, by a relaxed operation too: that is
 * a fact in time (docs/memory_model.md). In PTX it takes a release and an acquire, so the relaxed
 * operations on such a barrier are as those without a word. tells has an entry for each object of
 * the module: 1 or 0; that of object 0 is for semaphores and the barrier of the cluster.
 *
 * What is made right before all threads of the cluster meet, as they do after the last
 * mbarrier_init of the kernel's own block, is known to all. False without memory, or if diags does
 * not go on.
 */
bool grout_edges__find_telling(const grout_module *module, grout_kernel_id kernel, uint8_t *tells,
                               grout_diags *diags);

/*
 * Why a barrier is not narrow: the first operation of the text that alone would make it carry
 * something for another CTA, such as a store that a peer may look at. 0 if there is none,
 * without memory, or if diags does not go on.
 */
grout_op_id grout_edges__find_cause(const grout_module *module, grout_kernel_id kernel,
                                    grout_object_id barrier, grout_diags *diags);

/* The barrier that an operation works on, or 0. */
grout_object_id grout_edges__find_barrier(const grout_module *module, const grout_op *op);

#endif
