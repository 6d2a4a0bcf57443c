/* check_line_starts.c - lines of a text by their numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/limited.h"
#include "base/line_starts.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

typedef struct text_case {
    const char *text;
    size_t size, count;
    size_t starts[3], sizes[3]; /* of its lines */
} text_case;

static const text_case cases[] = {
    {NULL, 0, 0, {0}, {0}},
    {"", 0, 1, {0}, {0}},
    {"a", 1, 1, {0}, {1}},
    {"a\n", 2, 2, {0, 2}, {1, 0}},
    {"\n\nb", 3, 3, {0, 1, 2}, {0, 0, 1}},
    {"a\r\nb", 4, 2, {0, 3}, {2, 1}},
    {"a\0c\nb", 5, 2, {0, 4}, {3, 1}},
    {"a\nbc", 2, 2, {0, 2}, {1, 0}}, /* what comes after its size is none of it */
};

TEST_EACH(lines_are_found, COUNT_OF(cases)) {
    const text_case *c = &cases[_i];
    grout_line_starts starts;
    size_t size = 77;
    ck_assert(grout_line_starts__init(&starts, NULL, c->text, c->size));
    ck_assert_uint_eq(starts.count, c->count);
    for (size_t i = 0; i < c->count; i++) {
        ck_assert_ptr_eq(grout_line_starts__find(&starts, i + 1, &size), c->text + c->starts[i]);
        ck_assert_uint_eq(size, c->sizes[i]);
    }
    ck_assert_ptr_null(grout_line_starts__find(&starts, 0, &size));
    ck_assert_ptr_null(grout_line_starts__find(&starts, c->count + 1, &size));
    ck_assert_ptr_null(grout_line_starts__find(&starts, SIZE_MAX, &size));
    grout_line_starts__deinit(&starts);
}

/* The n-th line of this many is n % 7 bytes long: across the marks, against a walk from the start.
 */
TEST_EACH(long_texts_are_as_short_ones, 5) {
    const size_t most = GROUT_MARKED_LINES; /* between two marks */
    const size_t counts[] = {most - 1, most, most + 1, 2 * most, 1000};
    const size_t count = counts[_i];
    char *text = malloc(8 * count), *at = text;
    for (size_t line = 1; line <= count; line++) {
        memset(at, 'x', line % 7);
        at += line % 7;
        *at++ = '\n';
    }
    grout_line_starts starts;
    ck_assert(grout_line_starts__init(&starts, NULL, text, (size_t)(at - text)));
    ck_assert_uint_eq(starts.count, count + 1);
    const char *expected = text;
    for (size_t line = 1; line <= count; line++) {
        size_t size = 0;
        ck_assert_ptr_eq(grout_line_starts__find(&starts, line, &size), expected);
        ck_assert_uint_eq(size, line % 7);
        expected += size + 1;
    }
    grout_line_starts__deinit(&starts);
    free(text);
}

TEST(without_memory_it_says_so) {
    char text[65 * GROUT_MARKED_LINES];
    memset(text, '\n', sizeof text);
    for (uint64_t limit = 1; limit < 400; limit += 50) {
        grout_limited limited;
        grout_line_starts starts;
        grout_limited__init(&limited, NULL, limit);
        ck_assert(!grout_line_starts__init(&starts, &limited.allocator, text, sizeof text));
        grout_line_starts__deinit(&starts);
        ck_assert_uint_eq(limited.used, 0);
    }
}
