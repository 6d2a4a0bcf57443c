/* thread_value.h - values that the index of a thread decides.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_CORE_THREAD_VALUE_H
#define GROUT_IR_CORE_THREAD_VALUE_H

#include "module.h"

typedef struct grout_known_value {
    bool is_known;
    int32_t value; /* a truth value is 0 or 1 */
} grout_known_value;

/* The i32 or bool that an operand of a bound module is for a thread, in every CTA: known if
 * constants and the thread's own index decide it. */
grout_known_value grout_thread__evaluate(const grout_module *module, grout_kernel_id kernel,
                                         uint32_t thread, const grout_operand *operand);

#endif
