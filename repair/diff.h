/* diff.h - the difference of two texts, as 'diff -u' writes it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_DIFF_H
#define GROUT_REPAIR_DIFF_H

#include "text_lines.h"

#include "grout-internal/diagnose.h"

/* Appends the unified difference, with three lines around each change; nothing if there is none.
 * False without memory. */
bool grout_diff__print(const char *name, const grout_text *before, const grout_text *after,
                       bool has_color, grout_text *out);

#endif
