/*
 * edge_touches.h - which accesses of a kernel's arrays may meet accesses of another thread or CTA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_LOWERING_EDGE_TOUCHES_H
#define GROUT_LOWERING_EDGE_TOUCHES_H

#include "grout-internal/ir.h"

/*
 * For each object of the module, 1 if what a thread does with it through the generic proxy may have
 * to come before, or after, what somebody else does with it:
 *
 * - an array in GMEM that the kernel writes;
 * - one in SMEM that a CTA of the cluster reaches in another one, by '.cluster(..)' or by a copy to
 *   several CTAs, and that is written at all;
 * - one in SMEM of which two threads of the CTA, or two warps, may touch the same element, one of
 *   them to write.
 *
 * An array that only TMA and the tensor core touch in SMEM is none: that they are done is known in
 * time, which no order has to carry. What of that another CTA has to see is edge_writes.h's. False
 * without memory, or if diags does not go on.
 */
bool grout_edge_touches__find(const grout_module *module, grout_kernel_id kernel, uint8_t *matters,
                              grout_diags *diags);

#endif
