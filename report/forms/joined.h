/* joined.h - the report of a sweep: the findings of several sizes, each once, and one verdict.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_JOINED_H
#define GROUT_REPORT_JOINED_H

#include "lookup.h"
#include "summary.h"

struct json_t;

/* What belongs to one kernel, in order: the numbers of the first and the last, from 1. */
typedef struct grout_joined_list {
    size_t first, last;
} grout_joined_list;

/* A finding of one or more sizes, or another diagnostic. */
typedef struct grout_joined_item {
    grout_kernel_id kernel; /* 0: a diagnostic that is no finding of a run */
    size_t next;            /* of the same kernel: its number; 0: it is the last */
    uint64_t identity;
    grout_severity severity;
    bool is_limit;         /* it makes the verdict incomplete, not wrong */
    bool is_lowered;       /* an error, but for --severity */
    bool is_folded;        /* listed under what it follows from */
    bool is_listed;        /* it is not past --max-findings; known at the end */
    grout_stream stream;   /* that it is shown on */
    grout_text text;       /* as the smallest size shows it */
    grout_text command;    /* that shows it again, at the smallest size */
    struct json_t *object; /* the same as JSON */
    struct {
        size_t *items; /* that show it, in order */
        size_t count, capacity;
    } sizes;
} grout_joined_item;

/* One kernel at one size. */
typedef struct grout_joined_launch {
    grout_kernel_id kernel;
    size_t next; /* of the same kernel: its number; 0: it is the last */
    size_t size;
    const char *word; /* "error", "incomplete", "warning" or "clean" */
    bool holds;       /* for every schedule */
    bool is_explored; /* that was proved by running them */
    bool is_done;     /* it came to its end */
    grout_text axes, because, assuming;
    bool has_equal_writes;
    grout_text differs; /* results that are not as expected; empty: none */
    struct json_t *object;
} grout_joined_launch;

typedef struct grout_joined_size {
    const char *skipped;               /* why it was not run; NULL: it was */
    grout_not_begun not_begun;         /* of its kernels, if it was */
    size_t first_launch, launch_count; /* they follow each other */
    bool has_error, has_lowered, is_incomplete, is_invalid;
} grout_joined_size;

/* A kernel at all sizes. */
typedef struct grout_joined_kernel {
    grout_reach reach; /* of all launches together; module NULL: none has run */
    grout_text proposal;
    grout_text conditions; /* "; inputs %x: ints; fair schedule, lazy timing" */
    uint64_t follow_on;
    grout_joined_list items, launches;
} grout_joined_kernel;

typedef struct grout_joined {
    const grout_sizes *sizes;     /* borrowed */
    grout_joined_size *results;   /* of each of them */
    size_t at;                    /* the size that runs now */
    uint64_t errors, lowered;     /* of the launch that is reported */
    grout_joined_kernel *kernels; /* by kernel */
    size_t kernel_count;
    struct {
        grout_joined_item *items;
        size_t count, capacity;
    } found;
    grout_joined_list of_file; /* those of no kernel */
    grout_lookup by_identity;  /* of kernel and identity: the item, from 1 */
    struct {
        grout_joined_launch *items;
        size_t count, capacity;
    } launches;
} grout_joined;

/* False without memory. Deinit even then. */
bool grout_joined__init(grout_joined *joined, const grout_sizes *sizes);
/* Once the file's kernels are known, from a load that outlives the report. False without memory. */
bool grout_joined__set_kernels(grout_joined *joined, const grout_load *load);
void grout_joined__deinit(grout_joined *joined);
/* Begins to report a size. */
void grout_joined__begin_size(grout_reporter *report, size_t index);
/* A size that is not run: the verdict is incomplete. why lives as long. */
void grout_joined__skip_size(grout_reporter *report, size_t index, const char *why);
/* What grout_reporter__add_outcome does in a sweep: of a kernel of the report's load. */
void grout_joined__add_outcome(grout_reporter *report, grout_kernel_id kernel,
                               const grout_outcome *outcome);
/* Adds what a launch of a kernel reached. From here on kernels have their ids of the whole file. */
void grout_joined__add_reach(grout_joined *joined, grout_kernel_id kernel,
                             const grout_reach *reach);
/* Those of a kernel, one after the other; NULL: there is none, or no more. */
grout_joined_item *grout_joined__get_first_item(const grout_joined *joined, grout_kernel_id kernel);
grout_joined_item *grout_joined__get_next_item(const grout_joined *joined,
                                               const grout_joined_item *item);
const grout_joined_launch *grout_joined__get_first_launch(const grout_joined *joined,
                                                          grout_kernel_id kernel);
const grout_joined_launch *grout_joined__get_next_launch(const grout_joined *joined,
                                                         const grout_joined_launch *launch);
/* Keeps a diagnostic of the size; false if another size had the same. */
bool grout_joined__add_diag(grout_reporter *report, const grout_diag *diag);
/* Whether the kernel came to its end at every size without an error: then what it did not reach is
 * known, and is worth a word. */
bool grout_joined__is_whole(const grout_joined *joined, grout_kernel_id kernel);
/* Appends what is one verdict of a size: "clean", "warning", "error", "incomplete", "invalid". */
const char *grout_joined__get_verdict(const grout_joined_size *size);
/* At the end: prints all, or gives it to the report's JSON. */
void grout_joined__print(grout_reporter *report);
/* Numbers of different findings of a kernel. */
grout_finding_counts grout_joined__count(const grout_joined *joined, grout_kernel_id kernel);
/* The kernel's launches; holds_out: all of them were run, and each holds for every schedule. */
size_t grout_joined__count_launches(const grout_joined *joined, grout_kernel_id kernel,
                                    bool *holds_out);
/* Appends the verdict of a kernel: of each size, and of all. */
void grout_joined__add_summary(const grout_reporter *report, grout_kernel_id kernel,
                               const grout_render_options *look, grout_text *out);
/* joined_json.c: gives all to the report's JSON. */
void grout_joined__fill_json(const grout_reporter *report);

#endif
