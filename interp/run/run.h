/*
 * run.h - a machine's memory, the life of its clusters, and running it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_RUN_H
#define GROUT_INTERP_RUN_H

#include "machine.h"

/* state_layout.c: where the parts of a CTA's state lie. */
void grout_machine__lay_out(grout_machine *machine);
/* state.c: the parts of the state and the scratch; false without memory. */
bool grout_machine__add_state(grout_machine *machine);
void grout_machine__free_state(grout_machine *machine);

/* observers.c: the launch begins and ends for each; false without memory. */
bool grout_observers__begin(grout_machine *machine);
bool grout_observers__end(const grout_machine *machine);
uint64_t grout_observers__hash(const grout_machine *machine, uint64_t hash);

/* reading.c: what a grout_memory_reader reads by; machine is a grout_machine. */
bool grout_machine__read(const void *machine, const grout_memory_range *range, uint8_t *bytes_out,
                         uint8_t *undefined_out);

/* What the observers of a machine keep for a snapshot. */
typedef struct grout_observed {
    const grout_observer *observers[GROUT_OBSERVERS_MAX];
    void *states[GROUT_OBSERVERS_MAX]; /* NULL: the observer keeps nothing */
    uint32_t count;
} grout_observed;

/* observers.c. False without memory; what was saved until then is freed as after a success. */
bool grout_observed__save(grout_observed *observed, const grout_machine *machine);
bool grout_observed__restore(const grout_observed *observed);
void grout_observed__free(grout_observed *observed);

/* cluster.c: begins clusters as long as there is room (false: without memory, or the run stops);
 * ends those whose CTAs have ended. */
bool grout_cluster__begin_all(grout_machine *machine);
void grout_cluster__end_all(grout_machine *machine);
/* The last thread of the CTA has exited. */
void grout_cluster__end_cta(const grout_cta *cta);

/* residency.c: clusters that may be in flight at once, if all of them are to run as on a GPU. */
int64_t grout_residency__get_clusters(const grout_plan *plan, const grout_launch *launch);

/* scheduler.c: runs until a CTA or all have ended (true) or the run stops (false, status set). */
bool grout_machine__run(grout_machine *machine, uint64_t step_limit);
/* The same file: adds work beside the ops, in elements, and asks the launch now and then whether to
 * go on. False: the run stops, status set. */
bool grout_machine__goes_on(grout_machine *machine, uint64_t work);
/* deadlock.c: nothing can run. */
void grout_machine__publish_deadlock(grout_machine *machine);

#endif
