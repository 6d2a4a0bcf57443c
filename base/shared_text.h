/*
 * shared_text.h - the text of a file, which modules and lists of diagnostics own together.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It does not change. Who owns it may be in another OS thread than the others.
 */
#ifndef GROUT_BASE_SHARED_TEXT_H
#define GROUT_BASE_SHARED_TEXT_H

#include "line_starts.h"

#include <stdint.h>

typedef struct grout_shared_text {
    _Atomic uint32_t owner_count;
    size_t size;
    grout_line_starts lines;
    struct grout_shared_text *twin; /* another with the same bytes, while both last; NULL: none */
    char data[];                    /* and a NUL after it */
} grout_shared_text;

/* A copy of the bytes, with one owner; NULL without memory. */
grout_shared_text *grout_shared_text__new(const grout_allocator *allocator, const char *data,
                                          size_t size);
/* One more owner: the same text, or a copy if that is from another allocator; NULL without memory.
 */
grout_shared_text *grout_shared_text__share(const grout_allocator *allocator,
                                            grout_shared_text *text);
/* Notes that two texts have the same bytes, which need not be compared then. One OS thread has
 * both, and frees them. */
void grout_shared_text__pair(grout_shared_text *a, grout_shared_text *b);
bool grout_shared_text__is_equal(const grout_shared_text *a, const grout_shared_text *b);
/* An owner less; the last one frees it. Nothing for NULL. */
void grout_shared_text__drop(grout_shared_text *text);

#endif
