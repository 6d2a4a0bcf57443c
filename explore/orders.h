/* orders.h - which atomics of a kernel are part of the schedule.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_EXPLORE_ORDERS_H
#define GROUT_EXPLORE_ORDERS_H

#include "grout-internal/interp.h"

/* Which of the atomics on an object are part of the schedule. */
typedef enum grout_order_kind {
    GROUT_ORDER_FETCHES, /* those with a result, each element by itself */
    GROUT_ORDER_ALL      /* of the object as a whole: what is left depends on all of them */
} grout_order_kind;

/* Why an exploration cannot have tried all that may happen, or NULL: launch control, whose answers
 * the schedule does not decide alone. A literal. */
const char *grout_orders__find_gap(const grout_module *module, grout_kernel_id kernel);
/* Whether the kernel's text has an atomic with a result, a test or a request to launch control. */
bool grout_orders__have_choices(const grout_module *module, grout_kernel_id kernel);
/* Whether the kernel's text tests a barrier. */
bool grout_orders__has_tests(const grout_module *module, grout_kernel_id kernel);
/* Whether the kernel's text has an arrival, signal or wait that is relaxed, of a scope that may be
 * too narrow, or an engine's: what is known along it may be known in time only. */
bool grout_orders__have_weak_edges(const grout_module *module, grout_kernel_id kernel);
/* By object that has bytes of its own, grout_order_kind; counts_arrays: whatever arrays hold in the
 * end is asked for. The caller gives it to grout__free. NULL without memory. */
uint8_t *grout_orders__find(const grout_allocator *allocator, const grout_module *module,
                            grout_kernel_id kernel, bool counts_arrays);

#endif
