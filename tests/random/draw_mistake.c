/* draw_mistake.c - one synchronising operation of a right kernel dropped, moved or changed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 512

typedef struct lines {
    const char *at[LINES_MAX];
    size_t size[LINES_MAX]; /* with its newline */
    uint32_t count;
    uint32_t chosen[LINES_MAX], chosen_count; /* those that synchronise */
} lines;

static const char *const SYNCHRONISING[] = {
    "barrier_arrive",    "barrier_wait",        "commit_smem",      "fence_async_shared",
    "commit_gmem",       "mbarrier_arrive",     "mbarrier_wait",    "mbarrier_expect",
    "mbarrier_init",     "mbarrier_invalidate", "block_barrier",    "named_barrier_sync",
    "wgmma_wait",        "wait_smem_to_gmem",   "async_copy_wait",  "async_copy_commit_group",
    "async_copy_arrive", "cluster_barrier",     "cluster_arrive",   "cluster_wait",
    "semaphore_signal",  "semaphore_wait",      "wgmma ",           "copy_gmem_to_smem",
    "scratch %full",     "scratch %free",       "async_store_smem", "tcgen05_",
    "wait_load_tmem",    "commit_tmem",         "async_store_tmem", "scratch %taken",
    "tma_gather",        "tma_scatter",         "scratch %ready",   "scratch %read",
    "scratch %summed",   "scratch %turn",       "scratch %told",    "scratch %own",
    "async_copy_s"};

static bool starts_with(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

static bool is_synchronising(const char *line) {
    line += strspn(line, " ");
    for (size_t i = 0; i < sizeof SYNCHRONISING / sizeof *SYNCHRONISING; i++) {
        if (starts_with(line, SYNCHRONISING[i])) {
            return true;
        }
    }
    return false;
}

static void split(const grout_text *text, lines *out) {
    const char *at = text->data;
    while (*at != 0 && out->count < LINES_MAX) {
        const char *end = strchr(at, '\n');
        const size_t size = end == NULL ? strlen(at) : (size_t)(end - at) + 1;
        if (is_synchronising(at)) {
            out->chosen[out->chosen_count++] = out->count;
        }
        out->at[out->count] = at;
        out->size[out->count++] = size;
        at += size;
    }
}

static void add_line(const lines *it, uint32_t line, grout_text *out) {
    grout_text_add(out, "%.*s", (int)it->size[line], it->at[line]);
}

/* The line with the number-th of its whole numbers, counted from the end, one up or down. */
static void add_changed(const lines *it, uint32_t line, uint32_t number, bool up, grout_text *out) {
    const char *text = it->at[line];
    size_t at = it->size[line];
    for (uint32_t found = 0; at > 0; at--) {
        const bool is_digit = isdigit((unsigned char)text[at - 1]);
        const bool is_start = at < 2 || !(isalnum((unsigned char)text[at - 2]) ||
                                          text[at - 2] == '_' || text[at - 2] == '%');
        if (is_digit && is_start && found++ == number) {
            break;
        }
    }
    if (at == 0) {
        add_line(it, line, out);
        return;
    }
    char *end = NULL;
    const long value = strtol(text + at - 1, &end, 10);
    grout_text_add(out, "%.*s%ld%.*s", (int)(at - 1), text,
                   up || value == 0 ? value + 1 : value - 1, (int)(text + it->size[line] - end),
                   end);
}

static bool contains(const lines *it, uint32_t line, const char *word) {
    const char *found = strstr(it->at[line], word);
    return found != NULL && found < it->at[line] + it->size[line];
}

/* Weaker: relaxed, or only for the own CTA, or only for the reads; of a barrier, no edge of tensor
 * memory. */
static void add_weakened(draw *d, const lines *it, uint32_t line, grout_text *out) {
    const int size = (int)it->size[line] - 1;
    const bool is_wait = contains(it, line, "wait_smem_to_gmem");
    const char *word = is_wait                         ? " read_only"
                       : contains(it, line, "scratch") ? " orders_tensor_core"
                       : draw_below(d, 2)              ? " order(relaxed)"
                                                       : " scope(cta)";
    if (contains(it, line, word)) {
        grout_text_add(out, "%.*s\n", size - (int)strlen(word), it->at[line]);
    } else {
        grout_text_add(out, "%.*s%s\n", size, it->at[line], word);
    }
}

static bool is_plain(const lines *it, uint32_t line) {
    return line < it->count && !contains(it, line, "{") && !contains(it, line, "}") &&
           !contains(it, line, "yield") && !contains(it, line, "scratch");
}

static void add_swapped(const lines *it, uint32_t line, grout_text *out) {
    add_line(it, line + 1, out);
    add_line(it, line, out);
}

bool draw_mistake(const grout_text *right, uint64_t seed, grout_text *out) {
    draw d = {.state = seed * 31 + 7};
    lines it = {.count = 0};
    split(right, &it);
    if (it.chosen_count == 0) {
        return false;
    }
    const uint32_t line = it.chosen[draw_below(&d, it.chosen_count)];
    const uint32_t way = draw_below(&d, 8);
    const uint32_t first = way == 2 && line > 0 ? line - 1 : line;
    const bool swaps = (way == 1 || way == 2) && is_plain(&it, first) && is_plain(&it, first + 1);
    grout_text_add(out, "// line %" PRIu32 ", way %" PRIu32 "\n", line + 2, way);
    for (uint32_t i = 0; i < it.count; i++) {
        if (swaps && i == first) {
            add_swapped(&it, i++, out);
        } else if (i != line || swaps) {
            add_line(&it, i, out);
        } else if (way == 3 || way == 4) {
            add_changed(&it, i, draw_below(&d, 3), draw_below(&d, 2), out);
        } else if (way == 5) {
            add_weakened(&d, &it, i, out);
        } else if (way == 6) {
            add_line(&it, i, out);
            add_line(&it, i, out);
        } else if (contains(&it, i, "scratch")) {
            add_changed(&it, i, 0, draw_below(&d, 2), out);
        }
    }
    return true;
}
