/* writers.h - who wrote each element of an array last: an observer of a run.
 *
 * An asynchronous write counts from when it is over: what was issued earlier may land later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_CALL_WRITERS_H
#define GROUT_CALL_WRITERS_H

#include "launch.h"

/* An asynchronous write that is not over. */
typedef struct grout_writers_flight {
    uint64_t serial; /* in its CTA */
    grout_origin origin;
    grout_run *runs;
    uint32_t run_count;
} grout_writers_flight;

typedef struct grout_writers {
    grout_observer observer;
    grout_object_id object;
    uint32_t param_index;   /* of the parameter that it is */
    uint32_t element_bytes; /* of an element, or of as many as are packed */
    uint32_t packed;
    int64_t count;                    /* elements */
    const grout_argument_set *inputs; /* what the launch was given; NULL: what the bindings make */
    uint32_t *ctas;      /* of each element: the CTA that wrote it last, plus 1; 0: none */
    int64_t watched;     /* the element whose writer is kept */
    grout_origin origin; /* that writer; op 0: none */
    uint64_t serial;     /* of the async op that was issued last */
    struct {
        grout_writers_flight *items;
        size_t count, capacity;
    } flights;
} grout_writers;

/* For an array parameter. False without memory. Deinit even then. */
bool grout_writers__init(grout_writers *writers, const grout_load *load, grout_kernel_id kernel,
                         uint32_t param_index, int64_t watched);
void grout_writers__deinit(grout_writers *writers);
/*
 * Runs the launch once more, by itself and silently, with the same settings and new arrays, and
 * watches it. True if the run came to its end and the array holds these bytes again: then it is
 * the run that was compared.
 */
bool grout_writers__watch(grout_writers *writers, grout_session *session, const grout_load *load,
                          grout_kernel_id kernel, const grout_launch_settings *settings,
                          const void *bytes);

#endif
