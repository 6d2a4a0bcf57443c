/*
 * edge_writes.h - what engines write in the memory of a CTA, and another CTA may look at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_LOWERING_EDGE_WRITES_H
#define GROUT_LOWERING_EDGE_WRITES_H

#include "grout-internal/ir.h"

/*
 * A thread that looks at what an engine has written has to have waited for it, on a barrier of
 * his CTA at which the bytes arrive, or to have heard of it. In the first case no edge has to carry
 * it. For each object of the module, 1 if it is a barrier whose waits let a thread know of
 * something that others look at who do not wait so; entry 0: 1 if that is a wait for the thread's
 * own stores to tensor memory. only: the one operation whose writes count; NULL: all do. False
 * without memory, or if diags does not go on.
 */
bool grout_edge_writes__find(const grout_module *module, grout_kernel_id kernel,
                             const grout_op *only, uint8_t *tells, grout_diags *diags);

#endif
