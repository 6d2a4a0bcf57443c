/*
 * visible.h - text of unknown origin, piece by piece: what a terminal, a page or a log gets in
 * place of what would steer it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_VISIBLE_H
#define GROUT_BASE_VISIBLE_H

#include "grout-internal/diagnose.h"

enum { GROUT_SHOWN_SIZE = 8 }; /* bytes in place of a piece, with a NUL */

/*
 * The piece of a text that begins at a byte: how many bytes it has, at least 1. shown: what is to
 * stand in its place, in ASCII, or "" if it stays as it is and takes one column. keep: as for
 * grout_text_add_visible; what comes before 'at' may decide.
 */
size_t grout_visible__step(const char *text, size_t size, size_t at, uint32_t keep,
                           char shown[GROUT_SHOWN_SIZE]);
/* Adds a part of what a kernel prints. A line that it begins gets a mark, "  | ". */
void grout_visible__add_print(grout_text *out, const char *text, size_t size);
/* Adds what a message says. Its lines after the first, as of the log of a compiler, get a mark:
 * none of them is a line of a report. */
void grout_visible__add_message(grout_text *out, const char *message);

#endif
