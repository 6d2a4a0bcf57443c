/* module_equal.h - whether two symbolic modules say the same, ids and places aside.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_TESTS_MODULE_EQUAL_H
#define GROUT_TESTS_MODULE_EQUAL_H

#include "grout-internal/ir.h"

/* NULL if they are equal, comments included; else what differs first. */
const char *find_module_difference(const grout_module *a, const grout_module *b);

#endif
