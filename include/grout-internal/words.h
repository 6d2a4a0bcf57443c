/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - a report in words: verdict, launch, promise, findings. */
#ifndef GROUT_INTERNAL_WORDS_H
#define GROUT_INTERNAL_WORDS_H

#include "grout-internal/explore.h"
#include "grout-internal/interp.h"
#include "grout-internal/race.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of different findings. */
typedef struct grout_finding_counts {
    uint64_t errors, warnings, silenced;
    uint64_t follow_on; /* beside these: what follows from them */
    uint64_t unlisted;  /* past --max-findings */
} grout_finding_counts;

/* The first line of a summary. */
typedef struct grout_verdict_line {
    const char *kernel;  /* without '@' */
    const char *word;    /* "clean", "warning", "error" or "incomplete" */
    const char *differs; /* which results are not as expected, "%c differs from 'c.npy'": no line
                            says "clean" alone then. NULL: none */
    grout_finding_counts counts;
    bool color; /* ANSI colours */
} grout_verdict_line;

/* Appends "@k: error, 2 errors, 1 warning", without a new line. */
void grout_describe_verdict(const grout_verdict_line *line, grout_text *out);
/* Appends "grid(x=4) threads(wg=2)". */
void grout_describe_launch(const grout_module *bound, grout_kernel_id kernel, grout_text *out);
/* Appends for which schedules a verdict holds: "holds for every schedule and timing of this launch
 * with these inputs", or "fails under .." if the verdict is an error. cut: why the run did not
 * reach its end; NULL: it did. */
void grout_describe_promise(const grout_check_summary *summary, bool fails, const char *cut,
                            grout_text *out);
/* The same of a launch whose other schedules were tried, because a run is not like all: "holds
 * for every schedule of this launch with these inputs: 6 explored, ..". cut: what ended that before
 * its time; NULL: what the exploration says. */
void grout_describe_exploration(const grout_exploration *exploration,
                                const grout_check_summary *summary, const char *cut,
                                grout_text *out);
/* Appends what a promise for every schedule rests on: ", with racing writes of equal values", ",
 * assuming that .."; nothing, if it is neither. */
void grout_describe_conditions(bool has_equal_writes, const char *assuming, grout_text *out);
/* Appends what a launch with track_non_finite has counted: "no operation made NaN or infinity out
 * of numbers". */
void grout_describe_non_finite(const grout_run_stats *stats, grout_text *out);
/* Appends the finding in a few words, for a list: "smem-race at lines 26 and 37". */
void grout_describe_finding(const grout_finding *finding, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
