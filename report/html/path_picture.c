/* path_picture.c - the path of a finding as a picture: a column for each actor and engine, time
 * downwards, solid lines for the orders that hold, and a dashed one for the order that is missing.
 *
 * Each step has a row of its own. An edge leaves its step at the side, runs down or up beside the
 * column, and enters its target from the side: so it crosses no box.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"
#include "view.h"

#include <jansson.h>
#include <string.h>

/* All in units of the picture. */
enum {
    CHARACTER = 7, /* width of one in the font of the boxes */
    BOX_MIN = 150,
    BOX_CHARACTERS = 30, /* more of a text are in its title alone */
    BOX_HEIGHT = 42,
    ROW = 64,
    HEAD = 58, /* the names of the columns */
    GAP_MIN = 70,
    CHANNEL = 14, /* between a box and the first edge beside it */
    STEP = 9,     /* between edges beside one column */
    MARGIN = 12,
    LANES_MAX = 32 /* more than a path has */
};

typedef struct picture {
    const grout_page *page;
    const json_t *lanes, *steps, *edges;
    int box, gap; /* widths */
    int lane_count, step_count;
    int used[2][LANES_MAX]; /* edges that run left and right of each column so far */
    int number;             /* of the finding, for ids */
} picture;

/* ---- measures ------------------------------------------------------------------------------- */

static int count_characters(const char *text) {
    int count = 0;
    for (; *text != '\0'; text++) {
        count += ((unsigned char)*text & 0xc0) != 0x80 ? 1 : 0;
    }
    return count;
}

static int get_max(int a, int b) {
    return a > b ? a : b;
}

static int get_min(int a, int b) {
    return a < b ? a : b;
}

static void measure(picture *it) {
    size_t i;
    const json_t *item;
    int text = 0, word = 0;
    json_array_foreach(it->steps, i, item) {
        text = get_max(text, count_characters(grout_facts__get_text(item, "text")));
    }
    json_array_foreach(it->edges, i, item) {
        word = get_max(word, count_characters(grout_facts__get_text(item, "word")));
    }
    it->box = get_max(BOX_MIN, get_min(text, BOX_CHARACTERS) * CHARACTER + 20);
    it->gap = get_max(GAP_MIN, word * 6 + CHANNEL + 3 * STEP + 14);
}

static int get_left(const picture *it, int lane) {
    return MARGIN + lane * (it->box + it->gap);
}

static int get_middle(int step) {
    return HEAD + step * ROW + BOX_HEIGHT / 2 + 8;
}

static int get_lane(const picture *it, int step) {
    int lane = grout_facts__get_number(json_array_get(it->steps, (size_t)step), "lane");
    return get_min(get_max(lane, 0), it->lane_count - 1);
}

/* ---- columns and boxes ---------------------------------------------------------------------- */

/* Where a name is cut into two lines: "CTA (x=0), thread wg=0" before the thread, "TMA of CTA
 * (x=0)" before the CTA. NULL: it stays whole. *skip_out: what is left out there. */
static const char *find_cut(const char *name, size_t *skip_out) {
    const char *cut = strstr(name, "), ");
    const char *of = strstr(name, " of CTA");
    *skip_out = of != NULL ? 1 : 2;
    return of != NULL ? of : cut == NULL ? NULL : cut + 1;
}

static void add_lane_name(const picture *it, const char *name, int middle) {
    size_t skip = 0;
    const char *cut = find_cut(name, &skip);
    grout_markup__add(it->page->out, "<text class=\"lane-name\" x=\"%d\" y=\"%d\">", middle,
                      cut == NULL ? 30 : 20);
    if (cut == NULL) {
        grout_markup__add(it->page->out, "%s</text>\n", name);
        return;
    }
    grout_markup__add_bytes(it->page->out, name, (size_t)(cut - name));
    grout_markup__add(it->page->out, "<tspan x=\"%d\" dy=\"17\">%s</tspan></text>\n", middle,
                      cut + skip);
}

static void add_lanes(const picture *it) {
    size_t i;
    const json_t *lane;
    int bottom = HEAD + it->step_count * ROW;
    json_array_foreach(it->lanes, i, lane) {
        int middle = get_left(it, (int)i) + it->box / 2;
        add_lane_name(it, json_string_value(lane), middle);
        grout_markup__add(it->page->out,
                          "<line class=\"life\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
                          middle, HEAD - 12, middle, bottom);
    }
}

/* "line 34, %j=0" */
static void add_where(const picture *it, const json_t *step, grout_text *out) {
    int line = grout_facts__get_line(json_object_get(step, "place"), it->page->file);
    const char *round = grout_facts__get_text(step, "round");
    if (line > 0) {
        grout_markup__add(out, "line %d%s", line, round[0] == '\0' ? "" : ", ");
    }
    grout_markup__add(out, "%s", round);
}

static void add_box(const picture *it, int index, const json_t *step) {
    int left = get_left(it, get_lane(it, index)), middle = get_middle(index);
    grout_text where = {0};
    add_where(it, step, &where);
    grout_markup__add(it->page->out, "<g class=\"step %s\"><title>%s</title>",
                      grout_facts__get_text(step, "role"), grout_facts__get_text(step, "text"));
    grout_markup__add(it->page->out,
                      "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>", left,
                      middle - BOX_HEIGHT / 2, it->box, BOX_HEIGHT);
    grout_markup__add(it->page->out, "<text class=\"op\" x=\"%d\" y=\"%d\">", left + 10,
                      where.size > 0 ? middle - 3 : middle + 4);
    grout_markup__add_short(it->page->out, grout_facts__get_text(step, "text"), BOX_CHARACTERS);
    grout_text_add(it->page->out, "</text>");
    if (where.size > 0) { /* it is escaped */
        grout_markup__add(it->page->out, "<text class=\"where\" x=\"%d\" y=\"%d\">", left + 10,
                          middle + 13);
        grout_text_add_bytes(it->page->out, where.data, where.size);
        grout_text_add(it->page->out, "</text>");
    }
    grout_text_add(it->page->out, "</g>\n");
    grout_text_free(&where);
}

/* Whether an engine makes the access: a thread has started it. */
static bool is_started(const picture *it, int step) {
    size_t i;
    const json_t *edge;
    json_array_foreach(it->edges, i, edge) {
        const json_t *from =
            json_array_get(it->steps, (size_t)grout_facts__get_number(edge, "from"));
        if (grout_facts__get_number(edge, "to") == step &&
            strcmp(grout_facts__get_text(from, "role"), "issue") == 0) {
            return true;
        }
    }
    return false;
}

/* What an engine may still be doing, until the end of its missing edge. */
static void add_flight(const picture *it, const json_t *edge) {
    enum { WIDTH = 12 };
    int from = grout_facts__get_number(edge, "from"), to = grout_facts__get_number(edge, "to");
    if (!json_is_true(json_object_get(edge, "is_missing")) || !is_started(it, from) || to <= from) {
        return;
    }
    int middle = get_left(it, get_lane(it, from)) + it->box / 2;
    grout_markup__add(it->page->out,
                      "<rect class=\"flight\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">"
                      "<title>it may still be running</title></rect>\n",
                      middle - WIDTH / 2, get_middle(from), WIDTH,
                      get_middle(to) + BOX_HEIGHT / 2 - get_middle(from));
}

/* ---- edges ---------------------------------------------------------------------------------- */

/* The height at which an edge meets a box: two that meet the same one keep apart. */
static int get_port(bool is_missing) {
    return is_missing ? -9 : 9;
}

static void add_edge(picture *it, const json_t *edge) {
    int from = grout_facts__get_number(edge, "from"), to = grout_facts__get_number(edge, "to");
    bool is_missing = json_is_true(json_object_get(edge, "is_missing"));
    int source = get_lane(it, from), target = get_lane(it, to);
    bool is_right = target >= source; /* the side on which it leaves */
    bool is_same = target == source;
    int *used = &it->used[is_right ? 1 : 0][source];
    int side = get_left(it, source) + (is_right ? it->box : 0);
    int channel = side + (is_right ? 1 : -1) * (CHANNEL + STEP * get_min(*used, 3));
    int end = get_left(it, target) + (is_right == is_same ? it->box : 0);
    int y1 = get_middle(from) + get_port(is_missing), y2 = get_middle(to) + get_port(is_missing);
    int tip = is_right == is_same ? end + 7 : end - 7;
    const char *word = is_missing ? "missing" : "known";
    (*used)++;
    grout_markup__add(it->page->out, "<path class=\"edge %s\" d=\"M%d %d H%d V%d H%d\"/>", word,
                      side, y1, channel, y2, tip);
    grout_markup__add(it->page->out, "<path class=\"tip %s\" d=\"M%d %d L%d %d L%d %d Z\"/>", word,
                      end, y2, tip, y2 - 4, tip, y2 + 4);
    grout_markup__add(
        it->page->out, "<text class=\"word %s\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
        word, is_right == is_same ? end + 12 + (is_same ? CHANNEL + STEP : 0) : end - 12,
        is_missing ? y2 - 6 : y2 + 14, is_right == is_same ? "start" : "end",
        grout_facts__get_text(edge, "word"));
}

/* ---- the picture ---------------------------------------------------------------------------- */

/* The same in words, for a reader that does not see it. */
static void add_words(const picture *it) {
    size_t i;
    const json_t *item;
    grout_markup__add(it->page->out, "<desc id=\"path-words-%d\">", it->number);
    json_array_foreach(it->steps, i, item) {
        const json_t *lane =
            json_array_get(it->lanes, (size_t)grout_facts__get_number(item, "lane"));
        grout_markup__add(it->page->out, "Step %d, %s: %s", (int)i + 1,
                          lane == NULL ? "" : json_string_value(lane),
                          grout_facts__get_text(item, "text"));
        grout_text where = {0};
        add_where(it, item, &where);
        if (where.size > 0) { /* it is escaped */
            grout_text_add(it->page->out, " (%s)", where.data);
        }
        grout_text_add(it->page->out, ". ");
        grout_text_free(&where);
    }
    json_array_foreach(it->edges, i, item) {
        bool is_missing = json_is_true(json_object_get(item, "is_missing"));
        grout_markup__add(
            it->page->out, "%s from step %d to step %d: %s. ", is_missing ? "Missing" : "Known",
            grout_facts__get_number(item, "from") + 1, grout_facts__get_number(item, "to") + 1,
            grout_facts__get_text(item, "word"));
    }
    grout_text_add(it->page->out, "</desc>\n");
}

static void add_caption(const picture *it, bool is_deadlock) {
    grout_markup__add(it->page->out, "<figcaption>%s</figcaption>\n",
                      is_deadlock
                          ? "What each thread waits for: solid lines lead to the thread that would "
                            "bring it, dashed ones to what nobody does."
                          : "Solid lines are orders that hold. The dashed one is missing: "
                            "without it, what it leads to may come too early.");
}

/* Whether an edge comes back to the last column, and so runs beside it. */
static bool has_loose_end(const picture *it) {
    size_t i;
    const json_t *edge;
    json_array_foreach(it->edges, i, edge) {
        int from = get_lane(it, grout_facts__get_number(edge, "from"));
        int to = get_lane(it, grout_facts__get_number(edge, "to"));
        if (from == to && to == it->lane_count - 1) {
            return true;
        }
    }
    return false;
}

void grout_page__add_path(const grout_page *page, const json_t *finding, int number) {
    const json_t *path = json_object_get(finding, "path"), *item;
    size_t i;
    picture it = {
        .page = page,
        .lanes = json_object_get(path, "lanes"),
        .steps = json_object_get(path, "steps"),
        .edges = json_object_get(path, "edges"),
        .number = number,
    };
    it.lane_count = (int)json_array_size(it.lanes);
    it.step_count = (int)json_array_size(it.steps);
    if (it.lane_count == 0 || it.lane_count > LANES_MAX || it.step_count == 0) {
        return;
    }
    measure(&it);
    const char *role = grout_facts__get_text(json_array_get(it.steps, 0), "role");
    bool is_deadlock = strcmp(role, "blocked") == 0;
    int width = get_left(&it, it.lane_count) + MARGIN - (has_loose_end(&it) ? 0 : it.gap);
    int height = HEAD + it.step_count * ROW + 6;
    grout_markup__add(page->out,
                      "<figure class=\"path\">\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" "
                      "height=\"%d\" ",
                      width, height, width, height);
    grout_markup__add(page->out,
                      "role=\"img\" aria-labelledby=\"path-%d path-words-%d\">\n"
                      "<title id=\"path-%d\">%s</title>\n",
                      number, number, number,
                      is_deadlock ? "What each thread waits for" : "The order that is missing");
    add_words(&it);
    add_lanes(&it);
    json_array_foreach(it.edges, i, item) {
        add_flight(&it, item);
        add_edge(&it, item);
    }
    json_array_foreach(it.steps, i, item) {
        add_box(&it, (int)i, item);
    }
    grout_text_add(page->out, "</svg>\n");
    add_caption(&it, is_deadlock);
    grout_text_add(page->out, "</figure>\n");
}
