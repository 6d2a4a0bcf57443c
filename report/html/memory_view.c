/* memory_view.c - SMEM of each kernel: its objects by their bytes, and how the accesses of the
 * emitted code meet in its banks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"
#include "view.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* In units of the pictures. */
enum {
    MAP_WIDTH = 960,
    MAP_ROW = 34,
    MAP_HEAD = 6,
    MAP_FOOT = 24,
    ROWS_MAX = 32,
    BANK_WIDTH = 26,
    BANK_HEIGHT = 120
};

/* ---- the map -------------------------------------------------------------------------------- */

typedef struct map {
    const grout_page *page;
    const json_t *objects;
    json_int_t bytes;
    json_int_t ends[ROWS_MAX]; /* of the last object of each row */
    int row_count;
} map;

static json_int_t get_integer(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

/* The first row with room: objects of scopes that never live together may share bytes. */
static int find_row(map *it, const json_t *object) {
    json_int_t offset = get_integer(object, "offset");
    int row = 0;
    while (row < it->row_count && it->ends[row] > offset) {
        row++;
    }
    if (row == it->row_count && row < ROWS_MAX) {
        it->row_count++;
    }
    row = row < ROWS_MAX ? row : ROWS_MAX - 1;
    it->ends[row] = offset + get_integer(object, "bytes");
    return row;
}

static int scale(const map *it, json_int_t bytes) {
    return (int)(bytes * MAP_WIDTH / it->bytes);
}

static void add_rect(map *it, const json_t *object, int index, grout_text *out) {
    const char *name = grout_facts__get_text(object, "name");
    int left = scale(it, get_integer(object, "offset"));
    int width = scale(it, get_integer(object, "offset") + get_integer(object, "bytes")) - left;
    int top = MAP_HEAD + find_row(it, object) * MAP_ROW;
    width = width < 3 ? 3 : width;
    grout_markup__add(out, "<g class=\"object shade-%d\"><title>%%%s: %d bytes from %d", index % 4,
                      name, grout_facts__get_number(object, "bytes"),
                      grout_facts__get_number(object, "offset"));
    grout_markup__add(out, "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", left,
                      top, width, MAP_ROW - 4);
    if (width > ((int)strlen(name) + 3) * 8) {
        grout_markup__add(out, "<text x=\"%d\" y=\"%d\">%%%s</text>", left + 8, top + 20, name);
    }
    grout_text_add(out, "</g>\n");
}

static void add_map(map *it, int kernel) {
    size_t i;
    const json_t *object;
    grout_text rects = {0};
    grout_text *out = it->page->out;
    json_array_foreach(it->objects, i, object) {
        add_rect(it, object, (int)i, &rects);
    }
    int bottom = MAP_HEAD + it->row_count * MAP_ROW;
    grout_markup__add(out,
                      "<figure class=\"map\">\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" "
                      "height=\"%d\" role=\"img\" ",
                      MAP_WIDTH, bottom + MAP_FOOT, MAP_WIDTH, bottom + MAP_FOOT);
    grout_markup__add(out,
                      "aria-labelledby=\"map-%d\">\n<title id=\"map-%d\">Objects of SMEM by "
                      "their bytes; the table below has the numbers</title>\n",
                      kernel, kernel);
    grout_text_add_bytes(out, rects.data == NULL ? "" : rects.data, rects.size);
    grout_markup__add(out, "<text class=\"scale\" x=\"0\" y=\"%d\">0</text>", bottom + 16);
    grout_markup__add(
        out,
        "<text class=\"scale\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%d bytes</text>\n"
        "</svg>\n</figure>\n",
        MAP_WIDTH, bottom + 16, (int)it->bytes);
    out->failed = out->failed || rects.failed;
    grout_text_free(&rects);
}

static void add_objects(const grout_page *page, const json_t *objects) {
    size_t i;
    const json_t *object;
    grout_text_add(
        page->out,
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">object</th><th "
        "scope=\"col\">type</th><th scope=\"col\">offset</th><th "
        "scope=\"col\">bytes</th><th scope=\"col\">declared</th></tr></thead>\n<tbody>\n");
    json_array_foreach(objects, i, object) {
        grout_markup__add(
            page->out,
            "<tr><th scope=\"row\"><code>%%%s</code></th><td><code>%s</code></td><td "
            "class=\"count\">%d</td><td class=\"count\">%d</td><td>",
            grout_facts__get_text(object, "name"), grout_facts__get_text(object, "type"),
            grout_facts__get_number(object, "offset"), grout_facts__get_number(object, "bytes"));
        grout_page__add_place(page, json_object_get(object, "place"));
        grout_text_add(page->out, "</td></tr>\n");
    }
    grout_text_add(page->out, "</tbody>\n</table></div>\n");
}

/* ---- banks ---------------------------------------------------------------------------------- */

/* The words that each bank is asked for, as bars. */
static void add_bank_picture(const grout_page *page, const json_t *use, int kernel) {
    const json_t *words = json_object_get(use, "words");
    int count = (int)json_array_size(words), passes = grout_facts__get_number(use, "passes");
    int width = count * BANK_WIDTH + 4, bottom = BANK_HEIGHT + 18;
    grout_markup__add(page->out,
                      "<figure class=\"banks\">\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" "
                      "height=\"%d\" ",
                      width, bottom + 20, width, bottom + 20);
    grout_markup__add(page->out,
                      "role=\"img\" aria-labelledby=\"banks-%d\">\n<title id=\"banks-%d\">Words "
                      "that one access of %%%s asks each of the %d banks for: at most %d</title>\n",
                      kernel, kernel, grout_facts__get_text(use, "object"), count, passes);
    for (int bank = 0; bank < count; bank++) {
        int asked = (int)json_integer_value(json_array_get(words, (size_t)bank));
        int height = passes == 0 ? 0 : asked * BANK_HEIGHT / passes;
        grout_markup__add(page->out,
                          "<rect class=\"bank%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
                          asked > 1 ? " conflict" : "", bank * BANK_WIDTH + 2, bottom - height,
                          BANK_WIDTH - 4, height);
        grout_markup__add(page->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>",
                          bank * BANK_WIDTH + BANK_WIDTH / 2, bottom - height - 4, asked);
        grout_markup__add(page->out,
                          "<text class=\"scale\" x=\"%d\" y=\"%d\" "
                          "text-anchor=\"middle\">%d</text>\n",
                          bank * BANK_WIDTH + BANK_WIDTH / 2, bottom + 15, bank);
    }
    grout_text_add(page->out, "</svg>\n<figcaption>Words that each bank gives to one part of the "
                              "access at ");
    grout_page__add_place(page, json_object_get(use, "place"));
    grout_markup__add(page->out,
                      ", below the number of the bank. A bank gives one word a pass: this "
                      "part takes %d.</figcaption>\n</figure>\n",
                      passes);
}

static void add_uses(const grout_page *page, const json_t *uses) {
    size_t i;
    const json_t *use;
    grout_text_add(page->out,
                   "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">access</th>"
                   "<th scope=\"col\">object</th><th scope=\"col\">passes</th></tr>"
                   "</thead>\n<tbody>\n");
    json_array_foreach(uses, i, use) {
        int passes = grout_facts__get_number(use, "passes");
        grout_text_add(page->out, "<tr><td>");
        grout_page__add_place(page, json_object_get(use, "place"));
        grout_markup__add(
            page->out, "</td><td><code>%%%s</code></td><td class=\"count\">%d%s</td></tr>\n",
            grout_facts__get_text(use, "object"), passes, passes > 1 ? ": bank conflicts" : "");
    }
    grout_text_add(page->out, "</tbody>\n</table></div>\n");
}

static void add_banks(const grout_page *page, const json_t *uses, int kernel) {
    size_t i;
    const json_t *use, *worst = NULL;
    grout_text_add(page->out, "<h4>Banks</h4>\n");
    if (uses == NULL) {
        grout_text_add(page->out,
                       "<p>Not known: the kernel cannot be emitted, and the code decides "
                       "which lane takes which word.</p>\n");
        return;
    }
    json_array_foreach(uses, i, use) {
        bool is_worse = worst == NULL || grout_facts__get_number(use, "passes") >
                                             grout_facts__get_number(worst, "passes");
        worst = is_worse ? use : worst;
    }
    if (worst == NULL) {
        grout_text_add(page->out, "<p>No array moves between registers and SMEM.</p>\n");
        return;
    }
    add_uses(page, uses);
    add_bank_picture(page, worst, kernel);
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* The kernels of a sweep by name, as they were launched at the first size. NULL without memory. */
static json_t *find_launches(const grout_page *page) {
    size_t i, k;
    json_t *size, *launch, *found = json_object();
    bool is_good = found != NULL;
    json_array_foreach(json_object_get(page->report, "sweep"), i, size) {
        json_array_foreach(json_object_get(size, "kernels"), k, launch) {
            const char *name = grout_facts__get_text(launch, "kernel");
            is_good = is_good && (json_object_get(found, name) != NULL ||
                                  json_object_set(found, name, launch) == 0);
        }
    }
    if (!is_good) {
        json_decref(found);
    }
    return is_good ? found : NULL;
}

static void add_kernel(const grout_page *page, const json_t *kernel, const json_t *launches,
                       int number) {
    const json_t *found = json_object_get(launches, grout_facts__get_text(kernel, "kernel"));
    const json_t *launch = found == NULL ? kernel : found;
    const json_t *memory = json_object_get(launch, "memory");
    map it = {
        .page = page,
        .objects = json_object_get(memory, "objects"),
        .bytes = get_integer(memory, "bytes"),
    };
    grout_markup__add(page->out, "<h3>@%s%s</h3>\n", grout_facts__get_text(kernel, "kernel"),
                      launch == kernel ? "" : " at the first size");
    if (json_array_size(it.objects) == 0 || it.bytes <= 0) {
        grout_text_add(page->out, "<p>It has nothing in SMEM.</p>\n");
        return;
    }
    grout_markup__add(page->out, "<p>A CTA takes %d of %d bytes.</p>\n", (int)it.bytes,
                      grout_facts__get_number(memory, "budget"));
    add_map(&it, number);
    add_objects(page, it.objects);
    add_banks(page, json_object_get(launch, "banks"), number);
}

void grout_page__add_memory(const grout_page *page) {
    size_t i;
    const json_t *kernel;
    json_t *launches = find_launches(page);
    page->out->failed |= launches == NULL;
    grout_text_add(page->out, "<section id=\"memory\" aria-labelledby=\"memory-title\">\n"
                              "<h2 id=\"memory-title\">Shared memory</h2>\n");
    json_array_foreach(page->kernels, i, kernel) {
        add_kernel(page, kernel, launches, (int)i + 1);
    }
    json_decref(launches);
    if (json_array_size(page->kernels) == 0) {
        grout_text_add(page->out, "<p>No kernel was run.</p>\n");
    }
    grout_text_add(page->out, "</section>\n");
}
