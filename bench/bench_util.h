/* SPDX-License-Identifier: Apache-2.0 */
/* bench_util.h - clocks and medians for the benchmarks. */
#ifndef GROUT_BENCH_UTIL_H
#define GROUT_BENCH_UTIL_H

#include "grout-internal/grout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* CPU time of this process: if it has one thread that never waits, other load counts less. */
static inline double bench_cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int bench_compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; sorts the values. */
static inline double bench_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, bench_compare_doubles);
    return values[count / 2];
}

/* Peak resident size of this process, in MiB. */
static inline double bench_peak_mib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

/* Says why and ends: benchmarks have no other way to fail. */
static inline _Noreturn void bench_fail(const char *what, const grout_diags *diags) {
    grout_text text = {0};
    if (diags != NULL) {
        grout_diags_render(diags, &(grout_render_options){.color = false}, &text);
    }
    fprintf(stderr, "bench: %s\n%s", what, text.data != NULL ? text.data : "");
    exit(EXIT_FAILURE);
}

/* Runs measure in a process of its own, so that one mode's memory is not another's peak, and copies
 * the size bytes that it leaves at out. */
static inline void bench_run_in_child(void (*measure)(const void *payload, void *out),
                                      const void *payload, void *out, size_t size) {
    int ends[2], status = 0;
    fflush(stdout);
    if (pipe(ends) != 0) {
        bench_fail("no pipe", NULL);
    }
    pid_t child = fork();
    if (child == 0) {
        measure(payload, out);
        _exit(write(ends[1], out, size) == (ssize_t)size ? 0 : 1);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], out, size);
    waitpid(child, &status, 0);
    close(ends[0]);
    if (got != (ssize_t)size || status != 0) {
        bench_fail("a mode failed", NULL);
    }
}

#endif
