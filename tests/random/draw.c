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

/* What stands after the name in a line '  scratch %name : smem ...', or tmem; NULL if it is none.
 */
static const char *get_local_name(const char *line, char *name) {
    char space[8];
    const bool is_local = sscanf(line, " scratch %%%31[a-z0-9_] : %7s ", name, space) == 2 &&
                          (strcmp(space, "smem") == 0 || strcmp(space, "tmem") == 0);
    return is_local ? strchr(line, ':') : NULL;
}

/* Whether a word stands in the line. */
static bool has_word(const char *line, const char *word) {
    const char *found = strstr(line, word);
    return found != NULL && found < line + strcspn(line, "\n");
}

/* Whether an array may have another name: launch control writes to its own, tile(infer) is chosen
 * for each name by itself, and an element of 16 bits alone in a column shares it with nothing. */
static bool can_have_alias(const char *line, const char *name) {
    const bool fills_columns = !has_word(line, ": tmem ") || !has_word(line, "16[") ||
                               has_word(line, "packed") || has_word(line, "metadata");
    return !has_word(line, "tile(infer)") && !has_word(line, "alias(") && fills_columns &&
           strcmp(name, "answers") != 0;
}

static bool is_in_name(char c) {
    return strchr("abcdefghijklmnopqrstuvwxyz0123456789_", c) != NULL && c != '\0';
}

/* The text with about half of the uses of a name replaced by '%<name>_too'. */
static void rename_uses(draw *d, const char *name, grout_text *text) {
    grout_text renamed = {0};
    const size_t size = strlen(name);
    for (const char *at = text->data; at != NULL && *at != '\0'; at++) {
        const bool is_use =
            *at == '%' && strncmp(at + 1, name, size) == 0 && !is_in_name(at[1 + size]);
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

/* Gives the bytes of some arrays of a CTA another name, and half of their uses. Nothing else
 * changes. */
static void add_aliases(draw *d, const char *scratch, grout_text *out) {
    for (const char *line = scratch; *line != '\0';) {
        const int size = (int)strcspn(line, "\n");
        char name[NAME_MAX] = "";
        grout_text_add(out, "%.*s\n", size, line);
        const char *type = get_local_name(line, name);
        if (type != NULL && can_have_alias(line, name) && strstr(scratch, "_too ") == NULL &&
            draw_below(d, 4) == 0) {
            grout_text_add(out, "  scratch %%%s_too %.*s alias(%%%s)\n", name,
                           size - (int)(type - line), type, name);
            rename_uses(d, name, &d->body);
        }
        line += line[size] == '\0' ? size : size + 1;
    }
}

/* Whether each use of the name has an index; false if there is none. */
static bool is_always_indexed(const char *text, const char *name) {
    const size_t size = strlen(name);
    uint32_t uses = 0, indexed = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '%' && strncmp(at + 1, name, size) == 0 && !is_in_name(at[1 + size])) {
            uses++;
            indexed += at[1 + size] == '[' ? 1 : 0;
        }
    }
    return indexed > 0 && indexed + 1 == uses; /* one is the object's own line */
}

/* The text with the object a row of a table, and that row's index in front of each use's own. */
static void make_table(draw *d, const char *name, uint32_t count, grout_text *text) {
    const uint32_t rows = 1 + draw_below(d, 3), row = draw_below(d, rows);
    const size_t size = strlen(name);
    grout_text made = {0};
    for (const char *at = text->data; *at != '\0'; at++) {
        const bool is_name = *at == '%' && strncmp(at + 1, name, size) == 0;
        if (is_name && at[1 + size] == '[') {
            grout_text_add(&made, "%%%s[%" PRIu32 "%s", name, row,
                           draw_below(d, 2) == 0 ? ", " : "][");
            at += 1 + size;
        } else if (is_name && at[1 + size] == ' ') { /* " : barrier[4]" */
            const size_t before = strcspn(at, "[") + 1;
            grout_text_add(&made, "%.*s%" PRIu32 ", %" PRIu32, (int)before, at, rows, count);
            at += before + strcspn(at + before, "]") - 1;
        } else {
            grout_text_add(&made, "%c", *at);
        }
    }
    grout_text_free(text);
    *text = made;
}

/* Some barriers become those of a table, whose other rows nobody uses. */
static void add_tables(draw *d, grout_text *text) {
    char name[NAME_MAX], kind[NAME_MAX], count[NAME_MAX], end[2];
    for (size_t at = 0; at < text->size; at += strcspn(text->data + at, "\n") + 1) {
        if (sscanf(text->data + at, " scratch %%%31[a-z0-9_] : %31[a-z][%31[0-9]%1[]]", name, kind,
                   count, end) == 4 &&
            strstr(kind, "barrier") != NULL && is_always_indexed(text->data, name) &&
            draw_below(d, 4) == 0) {
            make_table(d, name, (uint32_t)strtoul(count, NULL, 10), text);
        }
    }
}

void draw_finish(draw *d, const char *scratch, const char *axes, grout_text *out) {
    grout_text inside = {0};
    grout_text_add(out, "kernel @drawn(%s)\n    %s\n{\n", d->params.data, axes);
    add_aliases(d, scratch, &inside);
    grout_text_add(&inside, "%s}\n", d->body.data == NULL ? "" : d->body.data);
    add_tables(d, &inside);
    grout_text_add(out, "%s", inside.data);
    grout_text_free(&inside);
    grout_text_free(&d->body);
    grout_text_free(&d->params);
}

uint32_t draw_warps(uint64_t seed) {
    return seed % 7 == 2 ? 1 : seed % 7 == 5 ? 2 : 4;
}

void draw_finish_thread(draw *d, const char *scratch, uint32_t warps, grout_text *out) {
    grout_text inside = {0};
    char axes[64];
    if (warps == 4 || strstr(scratch, ": acc ") != NULL) {
        draw_finish(d, scratch, "threads(wg = 1)", out);
        return;
    }
    grout_text_add(&inside, "  warp_specialize {\n    delay 1\n  } partition {\n%s  }\n",
                   d->body.data == NULL ? "" : d->body.data);
    grout_text_free(&d->body);
    d->body = inside;
    (void)snprintf(axes, sizeof axes, "threads(wg = 2) attr partition_warps = [4, %" PRIu32 "]",
                   warps);
    draw_finish(d, scratch, axes, out);
}

const draw_product_type draw_product_types[DRAW_PRODUCT_TYPES] = {
    {{"bf16", "bf16"}, "f32", 2, 16},     {{"f16", "f16"}, "f32", 2, 16},
    {{"f16", "f16"}, "f16", 2, 16},       {{"f32", "f32"}, "f32", 4, 8},
    {{"f8e4m3", "f8e4m3"}, "f32", 1, 32}, {{"f8e5m2", "f8e4m3"}, "f32", 1, 32},
    {{"f8e4m3", "f8e5m2"}, "f16", 1, 32}, {{"f8e5m2", "f8e5m2"}, "f32", 1, 32},
    {{"i8", "i8"}, "i32", 1, 32},         {{"u8", "u8"}, "i32", 1, 32},
    {{"i8", "u8"}, "i32", 1, 32},         {{"u8", "i8"}, "i32", 1, 32}};

void draw_sums_init(draw_sums *sums, uint32_t elements, uint32_t sources, uint32_t results) {
    sums->elements = elements;
    sums->width = sums->pitch = elements;
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
