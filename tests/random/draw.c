/* draw.c - what the kinds of drawn kernels share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t draw_below(draw *d, uint32_t limit) {
    uint64_t x = d->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ x >> 31) >> 32) % limit;
}

static uint32_t add_param(draw *d, char style, const char *direction, const char *type) {
    grout_text_add(&d->params, "%s%%%c%" PRIu32 ": %s gmem %s", d->param_count > 0 ? ", " : "",
                   style, d->param_count, direction, type);
    return d->param_count++;
}

uint32_t draw_param(draw *d, const char *direction, const char *type) {
    return add_param(d, 'p', direction, type);
}

uint32_t draw_input(draw *d, char style, const char *type) {
    return add_param(d, style, "in", type);
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

enum { NAME_MAX = 32 };

/* The name of a line '  scratch %name : smem ...'; false if it is none. */
static bool get_smem_name(const char *line, char *name) {
    return sscanf(line, " scratch %%%31[a-z0-9_] : smem ", name) == 1 && strstr(line, ": smem ") &&
           strcspn(line, "\n") > (size_t)(strstr(line, ": smem ") - line);
}

/* The text with about half of the uses of a name replaced by '%<name>_too'. */
static void rename_uses(draw *d, const char *name, grout_text *text) {
    grout_text renamed = {0};
    const size_t size = strlen(name);
    for (const char *at = text->data; at != NULL && *at != '\0'; at++) {
        bool is_use = *at == '%' && strncmp(at + 1, name, size) == 0 &&
                      strspn(at + 1 + size, "abcdefghijklmnopqrstuvwxyz0123456789_") == 0;
        if (is_use && draw_below(d, 2) == 0) {
            grout_text_add(&renamed, "%%%s_too", name);
            at += size;
        } else {
            grout_text_add(&renamed, "%c", *at);
        }
    }
    grout_text_free(text);
    *text = renamed;
}

/* Gives the bytes of some SMEM arrays another name, and half of their uses. Nothing else changes.
 */
static void add_aliases(draw *d, const char *scratch, grout_text *out) {
    for (const char *line = scratch; *line != '\0';) {
        const int size = (int)strcspn(line, "\n");
        char name[NAME_MAX] = "";
        grout_text_add(out, "%.*s\n", size, line);
        if (get_smem_name(line, name) && draw_below(d, 4) == 0) {
            const char *type = strstr(line, ": smem ");
            grout_text_add(out, "  scratch %%%s_too %.*s alias(%%%s)\n", name,
                           size - (int)(type - line), type, name);
            rename_uses(d, name, &d->body);
        }
        line += line[size] == '\0' ? size : size + 1;
    }
}

void draw_finish(draw *d, const char *scratch, const char *axes, grout_text *out) {
    grout_text_add(out, "kernel @drawn(%s)\n    %s\n{\n", d->params.data, axes);
    add_aliases(d, scratch, out);
    grout_text_add(out, "%s}\n", d->body.data == NULL ? "" : d->body.data);
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
