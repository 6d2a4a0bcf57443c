/* not_begun.h - the kernels of a file that nothing is known of, since the end came before they
 * began.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_NOT_BEGUN_H
#define GROUT_CLI_NOT_BEGUN_H

#include "launch.h"

struct json_t;

/* Zeroed: all have begun. */
typedef struct grout_not_begun {
    const grout_load *load; /* that has their names; outlives it */
    const char *because;    /* what ended the work, in words; lives as long */
    struct {
        grout_kernel_id *items; /* in the order of the file */
        size_t count, capacity;
    } kernels;
} grout_not_begun;

void grout_not_begun__deinit(grout_not_begun *it);
/* False without memory. */
bool grout_not_begun__add(grout_not_begun *it, grout_kernel_id kernel);
/* Whether a kernel is one of them. */
bool grout_not_begun__has(const grout_not_begun *it, grout_kernel_id kernel);
/* Appends "2 kernels were not begun: @a, @b; the time was over (--timeout)": the first of many. */
void grout_not_begun__describe(const grout_not_begun *it, grout_text *out);
/* "because" and the names of all "kernels"; NULL without memory. */
struct json_t *grout_not_begun__make_json(const grout_not_begun *it);
/* The same words of that object, for what is made of a report. */
void grout_not_begun__describe_json(const struct json_t *object, grout_text *out);

#endif
