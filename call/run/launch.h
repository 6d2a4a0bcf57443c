/* launch.h - one launch on the CPU, with or without the checker.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_LAUNCH_H
#define GROUT_CALL_LAUNCH_H

#include "load.h"
#include "progress.h"
#include "reach.h"

#include "grout-internal/equal.h"
#include "grout-internal/explore.h"
#include "grout-internal/past.h"

typedef struct grout_launch_settings {
    grout_schedule schedule;
    grout_timing timing;
    grout_numerics numerics;
    uint64_t seed;
    uint64_t max_steps; /* fewer than the options say; 0: as they say */
    uint32_t pct_depth;
    const grout_decisions *replay; /* of GROUT_SCHEDULE_REPLAY */
    grout_decisions *record;       /* gets the decisions; NULL: they are not kept */
    bool with_checker;
    bool track_non_finite;
    bool is_one_of_seeds;           /* of --seeds: the report has all of them */
    bool is_silent;                 /* debug_print goes nowhere */
    bool looks_again;               /* tries other schedules where one is not like all */
    grout_reach *reach;             /* counts what the run reaches; NULL: nothing does */
    const grout_observer *observer; /* one more; NULL: none */
    grout_launch_id launch;         /* of the launch list; 0: the kernel runs alone */
    /* which launch it is of how many, lists and --repeat together; 0: there is but one */
    uint32_t number, total;
    /* then: as in grout_launch */
    const grout_earlier_launch *earlier;
    uint32_t earlier_count;
    const grout_stale_array *stale;
    const grout_array_past *pasts;
    grout_past *past;            /* keeps what the launch leaves; NULL: nobody asks */
    struct grout_starts *starts; /* the list, where it is explored; NULL: it is not */
    /* why exploring it alone does not show every schedule; NULL: it does */
    const char *why_open;
} grout_launch_settings;

/* The result of a launch. Free with grout_outcome__deinit. */
typedef struct grout_outcome {
    grout_launch_settings settings;
    grout_run_status status;
    grout_run_stats stats;
    double seconds;
    grout_cut cut; /* what interrupted it */
    grout_machine *machine;
    grout_checker *checker; /* NULL: it ran without */
    grout_check_summary summary;
    grout_exploration *looked; /* of the run's second look, its own; NULL: there was none */
    /* of --explore, or looked; has_more: another outcome of the exploration follows */
    const grout_exploration *exploration;
    grout_cut exploration_cut; /* what ended the exploration before its time */
    bool has_more;
    const char *differs; /* "%c differs from 'c.npy'": results that are not as expected; NULL:
                            none, or none is compared */
    const char
        *uncompared;      /* "was not compared with '@r'": its reference came to no end; or NULL */
    const char *proposal; /* " -D N=5", with which it reaches more; NULL: none is known */
    const char *schedule_file; /* that replays it; NULL: --schedule names it */
} grout_outcome;

/* "fair", "lazy": as the options name them. */
const char *grout_schedule_get_text(grout_schedule schedule);
const char *grout_timing_get_text(grout_timing timing);

/* From --schedule, --replay, --timing, --numerics and --seed. */
grout_launch_settings grout_launch_settings__get(const grout_session *session, bool with_checker);
/* Whether the run depends on its seed. */
bool grout_launch_settings__has_seed(const grout_launch_settings *settings);
/* Runs it. False: it could not be run at all; diagnostics. */
bool grout_launch__run(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                       const grout_argument_set *arguments, const grout_launch_settings *settings,
                       grout_outcome *out);
/* What an exploration has found. Free with grout_explored__deinit. */
typedef struct grout_explored {
    grout_exploration exploration;
    double seconds;
    grout_cut cut; /* what ended it before it was complete */
} grout_explored;

/* Looks for other schedules (exploring.c). False: it could not be run at all; diagnostics. */
bool grout_launch__explore(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                           const grout_argument_set *arguments,
                           const grout_launch_settings *settings, grout_explored *out);
void grout_explored__deinit(grout_explored *explored);
/* One of its witnesses as an outcome; the checker stays the exploration's. */
grout_outcome grout_explored__get_outcome(const grout_explored *explored, uint32_t index,
                                          const grout_launch_settings *settings);
/* Adds the synchronisation that the launch does not need to the session's diagnostics (advising.c).
 */
void grout_launch__advise(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                          const grout_argument_set *arguments,
                          const grout_launch_settings *settings);
void grout_outcome__deinit(grout_outcome *outcome);
/* What the second look has found: its witnesses from 1 on, as outcomes; their checkers stay its
 * own. */
uint32_t grout_outcome__count_more(const grout_outcome *outcome);
grout_outcome grout_outcome__get_more(const grout_outcome *outcome, uint32_t index);
/* Why a run did not reach its end, in words; NULL if it did. */
const char *grout_outcome__get_cut(const grout_outcome *outcome);
/* Whether the verdict holds for every schedule. */
bool grout_outcome__holds(const grout_outcome *outcome);

/* The payload of the machine's callbacks; lives as long as the launch. */
typedef struct grout_launch_callbacks {
    grout_session *session;
    grout_progress_line line;
} grout_launch_callbacks;
/* The launch without observers; the callbacks are made ready. */
grout_launch grout_launch__prepare(grout_session *session, const grout_load *load,
                                   grout_kernel_id kernel, const grout_argument_set *arguments,
                                   const grout_launch_settings *settings,
                                   grout_launch_callbacks *callbacks);

#endif
