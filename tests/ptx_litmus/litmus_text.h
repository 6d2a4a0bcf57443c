/* litmus_text.h - what a litmus program says of itself in its comments.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   // launch: grid 2 cluster 2 block 64
 *   // expect: ordered
 *   // expect: race order A B
 *   // expect: same order A B
 *   // with 'st.relaxed' for 'st.release': race order A B
 *
 * A race names what is missing (order, scope, sight, proxy, tensor, map, cached, begin, end) and
 * the two accesses: the lines that end with the comments // A and // B; - where there is one access
 * alone. "same" is the warning of two writes that leave the same values. Each line "with" is one
 * more program: the text with one piece replaced, which has to be there exactly once.
 */
#ifndef GROUT_TESTS_PTX_LITMUS_TEXT_H
#define GROUT_TESTS_PTX_LITMUS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LITMUS_TEXT_MAX = 16384, LITMUS_WORD_MAX = 128, LITMUS_TWINS_MAX = 16 };

typedef struct litmus_verdict {
    bool is_race, is_same;         /* is_same: with a warning, and the run goes on */
    char missing[LITMUS_WORD_MAX]; /* order, scope, proxy .. */
    char marks[2][LITMUS_WORD_MAX];
} litmus_verdict;

typedef struct litmus_twin {
    char piece[LITMUS_WORD_MAX], other[LITMUS_WORD_MAX]; /* empty: the text as it stands */
    litmus_verdict expected;
} litmus_twin;

typedef struct litmus_file {
    char text[LITMUS_TEXT_MAX];
    uint32_t grid, cluster, block;
    litmus_twin twins[LITMUS_TWINS_MAX]; /* the first is the text as it stands */
    uint32_t twin_count;
} litmus_file;

/* False with a reason if the file cannot be read or does not say what it has to. */
bool litmus_read(const char *path, litmus_file *file_out, const char **reason_out);
/* The text of a twin; false if the piece is not there exactly once in the program itself. */
bool litmus_make_twin(const litmus_file *file, const litmus_twin *twin, char *text_out);
/* The mark of a line, counted from 1; "?" if it has none, "-" of line 0. */
void litmus_get_mark(const char *text, uint32_t line, char mark_out[LITMUS_WORD_MAX]);
bool litmus_is_same(const litmus_verdict *a, const litmus_verdict *b);

#endif
