/*
 * function_options.h - what a program sets of the launches of a kernel function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_FUNCTIONS_FUNCTION_OPTIONS_H
#define GROUT_FUNCTIONS_FUNCTION_OPTIONS_H

#include "grout-internal/function.h"

/* As the makers of functions take them, for a kernel of a bound module. options NULL: the defaults.
 */
grout_kernel_function_options grout_function_options__for(const grout_function_options *options,
                                                          const grout_module *bound,
                                                          grout_kernel_id kernel);

#endif
