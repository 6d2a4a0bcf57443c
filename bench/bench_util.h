/* SPDX-License-Identifier: Apache-2.0 */
/* bench_util.h - clocks and medians for the benchmarks. */
#ifndef GROUT_BENCH_UTIL_H
#define GROUT_BENCH_UTIL_H

#include <grout/grout.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static inline double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
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

#endif
