/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explore.h - the other schedules of a launch.
 *
 * A run that is well synchronised represents every schedule. For any other run, exploration runs
 * the schedules that differ in what matters: dynamic partial-order reduction (Flanagan and
 * Godefroid, POPL 2005) over synchronisation alone. Two operations on one resource (a barrier, a
 * semaphore, an element that fetch atomics work on) are tried in both orders if nothing orders them
 * and they do not commute. Orders of operations that commute count as one.
 */
#ifndef GROUT_EXPLORE_H
#define GROUT_EXPLORE_H

#include "grout-internal/interp.h"
#include "grout-internal/race.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_explore_options {
    uint64_t max_schedules; /* 0: no limit of ours */
    /* Operations of all schedules together, each of which counts some for its start; one OS thread
     * explores then, and the arrays are left as the last schedule leaves them. 0: no limit. */
    uint64_t max_steps;
    uint32_t random_schedules; /* tried after the first one, with random timing; seeds from 1 */
    uint32_t max_findings;     /* of each checker, as in grout_checker_options */
    bool strict_fences;        /* the same */
    const bool *are_given;     /* by parameter: see grout_writes_judge_new */
    /* Asked before each schedule; false ends the exploration, incomplete. May be NULL. */
    bool (*goes_on)(void *payload, uint64_t schedules);
    /* Asked at the end, when the arrays hold what another schedule than the last witness has left,
     * or a part of one: whether there is time to run that one again. May be NULL: there is. */
    bool (*brings_back)(void *payload);
    /* Hears of each schedule that came to its end, and what it left: then whatever may leave other
     * contents is tried too, also where the first run represents every schedule. The arrays are
     * the launch's. False ends the exploration, without memory. May be NULL. */
    bool (*outcome)(void *payload, const grout_launch *launch, const grout_machine *machine,
                    const grout_decisions *decisions);
    void *payload;
} grout_explore_options;

/* A schedule that showed a finding which none before it had, and its checker. */
typedef struct grout_witness {
    grout_decisions decisions; /* replays it exactly, with the launch's timing and seed */
    grout_checker *checker;
    grout_run_status status;
    grout_run_stats stats;
    uint64_t seed; /* of a random schedule with random timing; 0: the decisions are what it was */
} grout_witness;

typedef struct grout_exploration {
    /* The first is the launch's own schedule, whether it found something or not. */
    grout_witness *witnesses;
    uint32_t witness_count;
    uint64_t schedules;                        /* that were run to their end */
    uint64_t failing;                          /* of them: with a finding that is an error */
    uint64_t random_schedules, random_failing; /* the same of random ones */
    uint64_t steps;                            /* of all of them */
    uint64_t states;   /* points from which more than one order was to be tried, and the start */
    uint64_t left;     /* orders still to be tried, as far as they are known so far */
    bool is_certified; /* the first run was well synchronised: it represents all schedules */
    bool is_complete;  /* every schedule is equivalent to one that was run */
    /* atomics, or tests and arrivals, of more than one place race, or an atomic has heard of
     * another one in time only: each interleaving of them was run, but a GPU may order two places
     * in more ways than any interleaving does */
    bool is_interleaved;
    const char *why_open; /* if it is not complete; a literal */
} grout_exploration;

/*
 * Runs a launch under its own schedule, and then under those that may end otherwise. launch: as for
 * grout_machine_new; its record and replay have to be empty; its
 * observers see every schedule. Arrays are restored before
 * each schedule; afterwards they hold what the last witness wrote. False: reasons in diags. Deinit
 * even then.
 */
bool grout_explore(const grout_launch *launch, const grout_explore_options *options,
                   grout_exploration *out, grout_diags *diags);
/* Whether its verdict is that of every schedule: all were covered, not interleavings alone, and all
 * of them fail or none. */
bool grout_exploration_holds(const grout_exploration *exploration);
/* The same of every interleaving of its atomics and tests. */
bool grout_exploration_holds_for_interleavings(const grout_exploration *exploration);
void grout_exploration_deinit(grout_exploration *exploration);

/*
 * What a check does by itself where its verdict would be about one schedule, and tests, atomics or
 * launch control decide what happens: it tries some random schedules with random timing, and then
 * explores, on copies of the arrays and within max(100,000, 3 times the run's) operations.
 *
 *     look = grout_second_look_new(&launch, &options, diags);  // before the run
 *     .. the launch runs with a checker ..
 *     grout_second_look_run(look, checker, &stats, &exploration, &has_looked, diags);
 *     grout_second_look_free(look);
 */
typedef struct grout_second_look grout_second_look;
/* Keeps what the launch may overwrite. Module, arguments' data and what else the launch points to
 * are borrowed until it is freed; its observers and print hear nothing. options: strict_fences and
 * are_given count. NULL without memory. */
grout_second_look *grout_second_look_new(const grout_launch *launch,
                                         const grout_explore_options *options, grout_diags *diags);
/* After a run that came to its end. *has_looked_out: there was a reason; then deinit out, whose
 * first witness is the run once more. False: reasons in diags. */
bool grout_second_look_run(grout_second_look *look, const grout_checker *checker,
                           const grout_run_stats *stats, grout_exploration *out,
                           bool *has_looked_out, grout_diags *diags);
void grout_second_look_free(grout_second_look *look);

/*
 * Makes the decisions of a failing schedule as short and as near to the fair schedule as they get
 * while a finding of this identity stays (delta debugging, Zeller and Hildebrandt, TSE 2002).
 * Changes decisions in place. False: reasons in diags.
 */
bool grout_minimise_schedule(const grout_launch *launch, const grout_explore_options *options,
                             uint64_t identity, grout_decisions *decisions, grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
