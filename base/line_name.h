/*
 * line_name.h - the name of a file in a #line of C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_LINE_NAME_H
#define GROUT_BASE_LINE_NAME_H

#include "grout-internal/diagnose.h"

/* Adds what stands between the quotes. Quotes, backslashes and controls become '_': NVRTC takes
 * their escapes, and then writes the characters themselves into its PTX. */
void grout_line_name__add(grout_text *out, const char *name);

#endif
