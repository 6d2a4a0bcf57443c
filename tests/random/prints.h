/* prints.h - what a run prints, held against the lines of the reference.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first value of each drawn debug_print is the CTA's index: lines of different CTAs come in any
 * order, those of one in the order of the kernel.
 */
#ifndef GROUT_TESTS_RANDOM_PRINTS_H
#define GROUT_TESTS_RANDOM_PRINTS_H

#include "reference.h"

typedef struct printed_line {
    char *text;
    double *numbers;
    int64_t count;
    bool is_taken;
} printed_line;

typedef struct prints {
    printed_line *lines;
    uint32_t count;
} prints;

/* For grout_launch.print; payload is the prints. Without memory the test ends. */
void prints_add(void *payload, const char *line);
void prints_deinit(prints *it);
/* Each line of the reference has one of the run, and the other way round; what differs is printed.
 */
bool prints_agree(prints *it, const reference_output *output);
/* Whether a number that came out is the one that is wanted, within its bound. */
bool prints_is_near(double value, reference_number wanted);

#endif
