/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding.h - what bindings of other languages need beside the C interface.
 *
 * A binding is made from these headers, of which it knows the structs and the enumerators, and
 * opens the library at run time. Before it calls anything else it compares what it knows with what
 * the library says here. The words of a report are here too, so that no binding writes them again.
 */
#ifndef GROUT_BINDING_H
#define GROUT_BINDING_H

#include "grout/explore.h"
#include "grout/interp.h"
#include "grout/race.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- versions ------------------------------------------------------------------------------- */

/* Raised when a function, a struct or an enumerator changes so that a caller of the older headers
 * goes wrong. New functions alone do not raise it. */
#define GROUT_ABI_VERSION 1

/* The GROUT_ABI_VERSION of the library. */
GROUT_API uint32_t grout_abi_get_version(void);
/* The version of grout: "0.1.0". */
GROUT_API const char *grout_get_version(void);
/* Bytes of a public struct ("grout_launch") as the library has it; 0: there is none. */
GROUT_API size_t grout_abi_get_size(const char *name);
/* The number of public structs, and the name of one. */
GROUT_API uint32_t grout_abi_get_struct_count(void);
GROUT_API const char *grout_abi_get_struct_name(uint32_t index);
/* A number that differs if the words of operations, attributes, choices, element types, spaces,
 * generators and diagnostics, or their order, do: whether enumerators still mean the same. */
GROUT_API uint64_t grout_abi_get_tables(void);

/* ---- files ---------------------------------------------------------------------------------- */

/* Writes a file as the command does: whole or not at all, links followed, owner and permissions of
 * what is there kept (docs/reliability.md). False: file-unwritable, and the file is as before. */
GROUT_API bool grout_write_file(const char *path, const void *data, size_t size,
                                grout_diags *diags);

/* ---- runs without the checker -----------------------------------------------------------------
 */

/* What a run without the checker says of its values: debug_check, multiple_of and, with
 * track_non_finite, NaN and infinity. The checker says it itself. */
typedef struct grout_asserted grout_asserted;

/* Whether the kernel asserts anything; else no launch needs the observer, unless it has
 * track_non_finite. */
GROUT_API bool grout_asserted_is_needed(const grout_module *bound, grout_kernel_id kernel);
/* For one launch; the module is borrowed. NULL without memory. */
GROUT_API grout_asserted *grout_asserted_new(const grout_module *bound, grout_kernel_id kernel);
GROUT_API void grout_asserted_free(grout_asserted *asserted);
/* To be put into grout_launch.observers; borrowed. */
GROUT_API const grout_observer *grout_asserted_get_observer(grout_asserted *asserted);
/* Adds what was found to the diagnostics. */
GROUT_API void grout_asserted_report(const grout_asserted *asserted, grout_diags *diags);

/* ---- a report in words ---------------------------------------------------------------------- */

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
GROUT_API void grout_describe_verdict(const grout_verdict_line *line, grout_text *out);
/* Appends "grid(x=4) threads(wg=2)". */
GROUT_API void grout_describe_launch(const grout_module *bound, grout_kernel_id kernel,
                                     grout_text *out);
/* Appends for which schedules a verdict holds: "holds for every schedule and timing of this launch
 * with these inputs", or "fails under .." if the verdict is an error. cut: why the run did not
 * reach its end; NULL: it did. */
GROUT_API void grout_describe_promise(const grout_check_summary *summary, bool fails,
                                      const char *cut, grout_text *out);
/* The same of a launch whose other schedules were tried, because a run is not like all: "holds
 * for every schedule of this launch with these inputs: 6 explored, ..". cut: what ended that before
 * its time; NULL: what the exploration says. */
GROUT_API void grout_describe_exploration(const grout_exploration *exploration,
                                          const grout_check_summary *summary, const char *cut,
                                          grout_text *out);
/* Appends what a promise for every schedule rests on: ", with racing writes of equal values", ",
 * assuming that .."; nothing, if it is neither. */
GROUT_API void grout_describe_conditions(bool has_equal_writes, const char *assuming,
                                         grout_text *out);
/* Appends what a launch with track_non_finite has counted: "no operation made NaN or infinity out
 * of numbers". */
GROUT_API void grout_describe_non_finite(const grout_run_stats *stats, grout_text *out);
/* Appends the finding in a few words, for a list: "smem-race at lines 26 and 37". */
GROUT_API void grout_describe_finding(const grout_finding *finding, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
