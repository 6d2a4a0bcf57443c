/* draw.c - what the kinds of drawn kernels share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t draw_below(draw *d, uint32_t limit) {
    uint64_t x = d->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ x >> 31) >> 32) % limit;
}

uint32_t draw_param(draw *d, const char *direction, const char *type) {
    grout_text_add(&d->params, "%s%%p%" PRIu32 ": %s gmem %s", d->param_count > 0 ? ", " : "",
                   d->param_count, direction, type);
    return d->param_count++;
}

void draw_line(draw *d, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start has just initialised it */
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    grout_text_add(&d->body, "%*s%s\n", (int)(2 + 2 * d->indent), "", line);
}

void draw_finish(draw *d, const char *scratch, const char *axes, grout_text *out) {
    grout_text_add(out, "kernel @drawn(%s)\n    %s\n{\n%s%s}\n", d->params.data, axes, scratch,
                   d->body.data == NULL ? "" : d->body.data);
    grout_text_free(&d->body);
    grout_text_free(&d->params);
}

void draw_sums_init(draw_sums *sums, uint32_t elements, uint32_t sources, uint32_t results) {
    sums->elements = elements;
    sums->sources = sources;
    sums->results = results;
    sums->weights = calloc((size_t)sources * results, sizeof *sums->weights);
    sums->is_certified = true;
    if (sums->weights == NULL) {
        abort();
    }
}

void draw_sum(draw_sums *sums, uint32_t result, uint32_t source) {
    sums->weights[(size_t)result * sums->sources + source]++;
}
