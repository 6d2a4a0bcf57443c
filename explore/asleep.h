/* asleep.h - what a run repeats of schedules that have been tried.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_EXPLORE_ASLEEP_H
#define GROUT_EXPLORE_ASLEEP_H

#include "trace.h"

/* An actor of which all schedules that begin with its step have been tried, where the run has made
 * this many decisions. */
typedef struct grout_sleeper {
    uint32_t actor;
    size_t decision;
} grout_sleeper;

/*
 * Drops the reversals that a run has in common with those schedules. An actor sleeps until another
 * one does what does not commute with its next step, or lets it come to that. If it takes the step
 * asleep, the run goes on as one that has been tried: of what comes after the step in every
 * order, only the steps that can be put before it are looked at. (Sleep sets: P. Godefroid,
 * Partial-order methods for the verification of concurrent systems, 1996.)
 */
bool grout_trace__drop_asleep(grout_trace *trace, const grout_sleeper *sleepers, size_t count);

#endif
