/*
 * wrap.h - text in lines of at most this many columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_WRAP_H
#define GROUT_BASE_WRAP_H

#include "grout-internal/diagnose.h"

/* Columns of a text: its characters, a tab as one. */
size_t grout_wrap__count_columns(const char *text);
/*
 * Appends words; where one would end past 'width' it begins a new line, after 'indent'. column:
 * where the text begins. A word that is longer than a line stands alone. width 0: nothing is
 * broken. A newline in the text begins a new line too.
 */
void grout_wrap__add(grout_text *out, const char *text, size_t column, const char *indent,
                     size_t width);
/*
 * Appends lines; of one that is longer than 'width' the rest goes on 'hang' columns to the right of
 * its first word.
 */
void grout_wrap__add_lines(grout_text *out, const char *text, size_t hang, size_t width);

#endif
