/* diff.c - the unified difference of two texts.
 *
 * The shortest one, by Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations",
 * 1986): for each number of changed lines, how far each diagonal gets. Repairs change a few lines,
 * so few rounds are made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "diff.h"

#include "alloc.h"
#include "array.h"

#include <string.h>

enum { CONTEXT = 3 };
/* Changed lines that a shortest way is looked for with; the rest then goes, and comes anew. */
#define ROUNDS_MAX 500u

/* What becomes of a line: ' ' it stays, '-' it goes, '+' it comes. */
typedef struct row {
    char sign;
    size_t before, after; /* how many lines of each text are above it */
} row;

typedef struct differ {
    grout_text_lines before, after;
    /* of each round: how many lines of before each diagonal has used, from -round on, with one more
     * at each end */
    struct {
        size_t **items;
        size_t count, capacity;
    } rounds;
    struct {
        row *items; /* from the last to the first */
        size_t count, capacity;
    } rows;
} differ;

static bool is_same(const differ *it, size_t before, size_t after) {
    return before < it->before.count && after < it->after.count &&
           grout_span__is_equal(it->before.items[before].whole, it->after.items[after].whole);
}

/* ---- the shortest way ----------------------------------------------------------------------- */

/* Whether a way to a diagonal comes from the one above it: by a line that comes. */
static bool comes_from_above(const size_t *last, size_t at, size_t high) {
    return at == 1 || (at != high && last[at - 2] < last[at]);
}

/* The ends of one round more; true once both texts are used up. In the ends of a round, diagonal 0
 * stands at round + 1; those of the last one are one less. */
static bool step(const differ *it, size_t round, const size_t *last, size_t *ends) {
    const size_t high = 2 * round + 1;
    for (size_t at = 1; at <= high; at += 2) {
        size_t x = 0;
        if (round > 0) {
            x = comes_from_above(last, at, high) ? last[at] : last[at - 2] + 1;
        }
        size_t y = x + round + 1 - at; /* diagonal k is x - y */
        while (is_same(it, x, y)) {
            x++;
            y++;
        }
        ends[at] = x;
        if (x >= it->before.count && y >= it->after.count) {
            return true;
        }
    }
    return false;
}

/* False without memory. *is_done_out: there is a way with so few changed lines. */
static bool find_way(differ *it, bool *is_done_out) {
    bool is_done = false;
    for (size_t round = 0; round <= ROUNDS_MAX && !is_done; round++) {
        size_t *ends = grout__new(NULL, 2 * round + 3, sizeof *ends);
        if (ends == NULL || !GROUT_ARRAY_RESERVE(&it->rounds, NULL, 1)) {
            grout__free(ends);
            return false;
        }
        it->rounds.items[it->rounds.count++] = ends;
        is_done = step(it, round, round > 0 ? it->rounds.items[round - 1] : NULL, ends);
    }
    *is_done_out = is_done;
    return true;
}

static bool add_row(differ *it, char sign, size_t before, size_t after) {
    if (!GROUT_ARRAY_RESERVE(&it->rows, NULL, 1)) {
        return false;
    }
    it->rows.items[it->rows.count++] = (row){sign, before, after};
    return true;
}

/* Back along the way, from both ends. */
static bool collect_rows(differ *it) {
    size_t x = it->before.count, y = it->after.count;
    bool is_good = true;
    for (size_t round = it->rounds.count - 1; is_good; round--) {
        size_t at = round + 1 + x - y, from_x = 0, from_y = 0;
        bool is_added = false;
        if (round > 0) {
            const size_t *ends = it->rounds.items[round - 1];
            is_added = comes_from_above(ends, at, 2 * round + 1);
            size_t from = is_added ? at + 1 : at - 1;
            from_x = ends[from - 1];
            from_y = from_x + round + 1 - from;
        }
        size_t stop_x = round == 0 ? 0 : from_x + (is_added ? 0u : 1u);
        for (; x > stop_x && is_good; x--, y--) {
            is_good = add_row(it, ' ', x - 1, y - 1);
        }
        if (round == 0) {
            break;
        }
        is_good = is_good && add_row(it, is_added ? '+' : '-', from_x, from_y);
        x = from_x;
        y = from_y;
    }
    return is_good;
}

/* All between what both texts begin and end with, as one change. */
static bool collect_whole(differ *it) {
    const size_t before = it->before.count, after = it->after.count;
    const size_t less = before < after ? before : after;
    size_t same = 0, end = 0;
    bool is_good = true;
    while (same < less && is_same(it, same, same)) {
        same++;
    }
    while (end < less - same && is_same(it, before - 1 - end, after - 1 - end)) {
        end++;
    }
    for (size_t i = 1; i <= end && is_good; i++) {
        is_good = add_row(it, ' ', before - i, after - i);
    }
    for (size_t y = after - end; y > same && is_good; y--) {
        is_good = add_row(it, '+', before - end, y - 1);
    }
    for (size_t x = before - end; x > same && is_good; x--) {
        is_good = add_row(it, '-', x - 1, same);
    }
    for (size_t i = same; i > 0 && is_good; i--) {
        is_good = add_row(it, ' ', i - 1, i - 1);
    }
    return is_good;
}

/* ---- hunks ---------------------------------------------------------------------------------- */

static const row *get_row(const differ *it, size_t index) {
    return &it->rows.items[it->rows.count - 1 - index];
}

static void add_line(const differ *it, const row *one, bool has_color, grout_text *out) {
    const grout_line *line =
        one->sign == '+' ? &it->after.items[one->after] : &it->before.items[one->before];
    grout_span end = grout_line__get_end(line);
    const char *color = one->sign == '+' ? "\033[32m" : "\033[31m";
    bool is_colored = has_color && one->sign != ' ';
    grout_text_add(out, "%s%c", is_colored ? color : "", one->sign);
    grout_text_add_bytes(out, line->whole.data, line->whole.size - end.size);
    grout_text_add(out, "%s", is_colored ? "\033[0m" : "");
    grout_text_add_bytes(out, end.data, end.size);
    grout_text_add(out, "%s", end.size == 0 ? "\n\\ No newline at end of file\n" : "");
}

/* "@@ -3,7 +3,8 @@" and the rows from first up to end. */
static void add_hunk(const differ *it, size_t first, size_t end, bool has_color, grout_text *out) {
    size_t before = 0, after = 0;
    for (size_t i = first; i < end; i++) {
        before += get_row(it, i)->sign != '+' ? 1u : 0u;
        after += get_row(it, i)->sign != '-' ? 1u : 0u;
    }
    grout_text_add(out, "%s@@ -%zu,%zu +%zu,%zu @@%s\n", has_color ? "\033[36m" : "",
                   get_row(it, first)->before + (before > 0 ? 1u : 0u), before,
                   get_row(it, first)->after + (after > 0 ? 1u : 0u), after,
                   has_color ? "\033[0m" : "");
    for (size_t i = first; i < end; i++) {
        add_line(it, get_row(it, i), has_color, out);
    }
}

/* The end of the hunk that begins with the change at first: no change follows for a while. */
static size_t find_hunk_end(const differ *it, size_t first) {
    size_t last = first;
    for (size_t i = first; i < it->rows.count && i <= last + (size_t)2 * CONTEXT + 1; i++) {
        last = get_row(it, i)->sign != ' ' ? i : last;
    }
    size_t end = last + 1 + CONTEXT;
    return end < it->rows.count ? end : it->rows.count;
}

static void add_hunks(const differ *it, bool has_color, grout_text *out) {
    for (size_t i = 0; i < it->rows.count;) {
        if (get_row(it, i)->sign == ' ') {
            i++;
            continue;
        }
        size_t end = find_hunk_end(it, i);
        add_hunk(it, i < CONTEXT ? 0 : i - CONTEXT, end, has_color, out);
        i = end;
    }
}

static void deinit(differ *it) {
    for (size_t i = 0; i < it->rounds.count; i++) {
        grout__free(it->rounds.items[i]);
    }
    grout__free(it->rounds.items);
    grout__free(it->rows.items);
    grout_text_lines__deinit(&it->before);
    grout_text_lines__deinit(&it->after);
}

bool grout_diff__print(const char *name, const grout_text *before, const grout_text *after,
                       bool has_color, grout_text *out) {
    differ it = {0};
    bool is_done = false;
    bool is_good = grout_text_lines__init(&it.before, before->data, before->size) &&
                   grout_text_lines__init(&it.after, after->data, after->size) &&
                   find_way(&it, &is_done) && (is_done ? collect_rows(&it) : collect_whole(&it));
    if (is_good && it.rounds.count > 1) {
        const char *bold = has_color ? "\033[1m" : "", *plain = has_color ? "\033[0m" : "";
        grout_text shown = {0};
        grout_text_add_visible(&shown, name, strlen(name), GROUT_KEEP_NOTHING);
        const char *text = shown.data != NULL ? shown.data : "";
        grout_text_add(out, "%s--- %s%s\n%s+++ %s%s\n", bold, text, plain, bold, text, plain);
        grout_text_free(&shown);
        add_hunks(&it, has_color, out);
    }
    deinit(&it);
    return is_good;
}
