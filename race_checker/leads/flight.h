/*
 * flight.h - what a turn of a loop has in flight at an operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_FLIGHT_H
#define GROUT_RACE_CHECKER_FLIGHT_H

#include "grout-internal/ir.h"

enum { GROUT_FLIGHT_MAX = 16 };

/* Ops of a loop's body that work on their own, up to a place in it. */
typedef struct grout_flight {
    grout_op_id ops[GROUT_FLIGHT_MAX];
    uint32_t count;
    uint32_t all;         /* that were started in the turn */
    grout_op_id wait;     /* the last that left some; 0: none */
    int64_t allowed;      /* by it */
    bool leaves_any;      /* some wait of the body leaves groups in flight, of whatever engine */
    bool has_tensor_core; /* tcgen05 has work that only a commit tells the end of */
    bool is_of_each;      /* the place is the body's own, in no if */
    bool is_known;
} grout_flight;

/* By the statements of the loop's own body; not known where that is long, or no counted loop. */
grout_flight grout_flight__find(const grout_module *module, grout_op_id op);

#endif
