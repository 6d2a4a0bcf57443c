/*
 * pulse.h - what takes its time asks now and then whether it may go on: loops that count their work
 * (goes_on.h: those that have a list of diagnostics; docs/architecture.md: what ends work early).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_PULSE_H
#define GROUT_BASE_PULSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Work between two questions. A unit of it takes some ten nanoseconds to some microseconds. */
enum { GROUT_PULSE_WORK = 4096 };

typedef struct grout_pulse {
    bool (*goes_on)(void *payload); /* NULL: it always may */
    void *payload;
    uint64_t work; /* since it was asked last */
    bool is_over;  /* the answer was no, and stays so */
} grout_pulse;

/* Asks now. */
static inline bool grout_pulse__ask(grout_pulse *pulse) {
    pulse->work = 0;
    pulse->is_over = pulse->is_over || (pulse->goes_on != NULL && !pulse->goes_on(pulse->payload));
    return !pulse->is_over;
}

/* Counts work, and asks if there was enough of it. */
static inline bool grout_pulse__goes_on(grout_pulse *pulse, uint64_t work) {
    pulse->work += work;
    return pulse->work < GROUT_PULSE_WORK ? !pulse->is_over : grout_pulse__ask(pulse);
}

#endif
