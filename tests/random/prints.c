/* prints.c - lines of text as numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "prints.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *take(void *memory) {
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* The number that begins here, or false. */
static bool read_number(const char *at, const char **end_out, double *out) {
    char *end = NULL;
    if (strncmp(at, "true", 4) == 0 || strncmp(at, "false", 5) == 0) {
        *out = at[0] == 't';
        *end_out = at + (at[0] == 't' ? 4 : 5);
        return true;
    }
    *out = strtod(at, &end);
    *end_out = end;
    return end != at;
}

void prints_add(void *payload, const char *line) {
    prints *it = payload;
    const char *at = strstr(line, ": "); /* who prints stands before it */
    it->lines = take(realloc(it->lines, (it->count + 1u) * sizeof *it->lines));
    printed_line *added = &it->lines[it->count++];
    *added = (printed_line){.text = take(malloc(strlen(line) + 1))};
    memcpy(added->text, line, strlen(line) + 1);
    for (at = at == NULL ? line : at + 2; *at != '\0';) {
        double number = 0;
        if (!read_number(at, &at, &number)) {
            at++;
            continue;
        }
        added->numbers =
            take(realloc(added->numbers, (size_t)(added->count + 1) * sizeof *added->numbers));
        added->numbers[added->count++] = number;
    }
}

void prints_deinit(prints *it) {
    for (uint32_t i = 0; i < it->count; i++) {
        free(it->lines[i].text);
        free(it->lines[i].numbers);
    }
    free(it->lines);
    *it = (prints){0};
}

bool prints_is_near(double value, reference_number wanted) {
    if (isinf(wanted.bound)) {
        return true;
    }
    if (isnan(wanted.value) || isnan(value)) {
        return isnan(wanted.value) && isnan(value);
    }
    return value == wanted.value || fabs(value - wanted.value) <= wanted.bound;
}

/* The decimal of a float is the shortest that reads back as one. */
static bool is_printed(double value, reference_number wanted) {
    return prints_is_near(value, wanted) || prints_is_near((double)(float)value, wanted);
}

static bool is_same_line(const printed_line *line, const reference_line *wanted) {
    if (line->count != wanted->count) {
        printf("'%s' has %" PRId64 " numbers, and the reference has %" PRId64 "\n", line->text,
               line->count, wanted->count);
        return false;
    }
    for (int64_t i = 0; i < wanted->count; i++) {
        if (!is_printed(line->numbers[i], wanted->numbers[i])) {
            printf("'%s': number %" PRId64 " is %.9g, and the reference has %.17g within %.3g\n",
                   line->text, i, line->numbers[i], wanted->numbers[i].value,
                   wanted->numbers[i].bound);
            return false;
        }
    }
    return true;
}

/* The first line that is left of the CTA. */
static printed_line *find_line(prints *it, double cta) {
    for (uint32_t i = 0; i < it->count; i++) {
        printed_line *line = &it->lines[i];
        if (!line->is_taken && line->count > 0 && line->numbers[0] == cta) {
            line->is_taken = true;
            return line;
        }
    }
    return NULL;
}

bool prints_agree(prints *it, const reference_output *output) {
    for (uint32_t i = 0; i < output->line_count; i++) {
        const reference_line *wanted = &output->lines[i];
        printed_line *line = find_line(it, wanted->numbers[0].value);
        if (line == NULL) {
            printf("line %" PRIu32 " of the reference is not printed\n", i);
            return false;
        }
        if (!is_same_line(line, wanted)) {
            return false;
        }
    }
    if (it->count != output->line_count) {
        printf("%" PRIu32 " lines printed, and the reference has %" PRIu32 "\n", it->count,
               output->line_count);
        return false;
    }
    return true;
}
