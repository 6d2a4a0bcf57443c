/* expectations.c - reads expectation comments, and compares them with findings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

const char *grout_expect_kind_get_text(grout_expect_kind kind) {
    switch (kind) {
    case GROUT_EXPECT_ERROR:
        return "expect-error";
    case GROUT_EXPECT_WARNING:
        return "expect-warning";
    case GROUT_EXPECT_NOTE:
        return "expect-note";
    }
    return "";
}

/* ---- lists ---------------------------------------------------------------------------------- */

bool grout_expect_list__add(grout_expect_list *list, const grout_expect_item *item) {
    for (size_t i = 0; i < list->count; i++) {
        const grout_expect_item *old = &list->items[i];
        if (old->kind == item->kind && old->code == item->code && old->line == item->line) {
            return true;
        }
    }
    grout_expect_item *items = realloc(list->items, (list->count + 1) * sizeof list->items[0]);
    if (items == NULL) {
        return false;
    }
    list->items = items;
    items[list->count] = *item;
    items[list->count].message = NULL;
    if (item->message != NULL) {
        size_t size = strlen(item->message) + 1;
        items[list->count].message = malloc(size);
        if (items[list->count].message == NULL) {
            return false;
        }
        memcpy(items[list->count].message, item->message, size);
    }
    list->count++;
    return true;
}

void grout_expect_list__deinit(grout_expect_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].message);
    }
    free(list->items);
    *list = (grout_expect_list){0};
}

void grout_expectations__deinit(grout_expectations *expectations) {
    for (size_t i = 0; i < expectations->run_count; i++) {
        free(expectations->runs[i]);
    }
    free(expectations->runs);
    grout_expect_list__deinit(&expectations->list);
    grout_text_free(&expectations->faults);
    *expectations = (grout_expectations){0};
}

/* ---- comments ------------------------------------------------------------------------------- */

typedef struct span {
    const char *data;
    size_t size;
} span;

typedef struct reader {
    const char *name;
    grout_expectations *out;
    uint32_t line;
    grout_expect_list waiting; /* of comments alone on their lines: for the next line with code */
    bool failed;
} reader;

static span trim(span text) {
    while (text.size > 0 && strchr(" \t\r", text.data[0]) != NULL) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && strchr(" \t\r", text.data[text.size - 1]) != NULL) {
        text.size--;
    }
    return text;
}

/* Where the comment of a line starts, outside of string literals; its size if there is none. */
static size_t find_comment(span line) {
    bool is_string = false;
    for (size_t i = 0; i < line.size; i++) {
        if (is_string && line.data[i] == '\\') {
            i++;
        } else if (line.data[i] == '"') {
            is_string = !is_string;
        } else if (!is_string && line.data[i] == '/' && i + 1 < line.size &&
                   line.data[i + 1] == '/') {
            return i;
        }
    }
    return line.size;
}

static bool take_start(span *text, const char *start) {
    size_t size = strlen(start);
    if (text->size < size || memcmp(text->data, start, size) != 0) {
        return false;
    }
    text->data += size;
    text->size -= size;
    *text = trim(*text);
    return true;
}

static void add_fault(reader *r, const char *what, span word) {
    grout_text_add(&r->out->faults, "%s:%u: %s '%.*s'\n", r->name, r->line, what,
                   (int)(word.size < 100 ? word.size : 100), word.data);
}

/* CODE[, CODE] */
static void read_codes(reader *r, grout_expect_kind kind, span text, grout_expect_list *to) {
    do {
        const char *comma = text.size == 0 ? NULL : memchr(text.data, ',', text.size);
        size_t size = comma == NULL ? text.size : (size_t)(comma - text.data);
        span word = trim((span){text.data, size});
        char code[64] = "";
        if (word.size < sizeof code) {
            memcpy(code, word.data, word.size);
        }
        grout_expect_item item = {.kind = kind, .code = grout_diag_find(code), .line = r->line};
        if (item.code == GROUT_DIAG_NONE) {
            add_fault(r, "there is no code", word);
        } else if (!grout_expect_list__add(to, &item)) {
            r->failed = true;
        }
        size += comma == NULL ? 0u : 1u;
        text.data += size;
        text.size -= size;
    } while (text.size > 0);
}

static void add_run(reader *r, span text) {
    grout_expectations *out = r->out;
    char **runs = realloc(out->runs, (out->run_count + 1) * sizeof out->runs[0]);
    if (runs == NULL) {
        r->failed = true;
        return;
    }
    out->runs = runs;
    runs[out->run_count] = malloc(text.size + 1);
    if (runs[out->run_count] == NULL) {
        r->failed = true;
        return;
    }
    memcpy(runs[out->run_count], text.data, text.size);
    runs[out->run_count++][text.size] = '\0';
}

/* The text behind the slashes of one comment. */
static void read_comment(reader *r, span text, grout_expect_list *to) {
    if (take_start(&text, "expect:")) {
        if (text.size == 5 && memcmp(text.data, "clean", 5) == 0) {
            r->out->is_clean = true;
        } else {
            add_fault(r, "'expect:' is followed by 'clean', not by", text);
        }
    } else if (take_start(&text, "expect-error:")) {
        read_codes(r, GROUT_EXPECT_ERROR, text, to);
    } else if (take_start(&text, "expect-warning:")) {
        read_codes(r, GROUT_EXPECT_WARNING, text, to);
    } else if (take_start(&text, "expect-note:")) {
        read_codes(r, GROUT_EXPECT_NOTE, text, to);
    } else if (take_start(&text, "expect-")) {
        add_fault(r, "there is no comment 'expect-...' of this kind:", text);
    } else if (take_start(&text, "run:")) {
        add_run(r, text);
    }
}

/* Several may stand in one comment: '// expect-error: a // expect-note: b'. */
static void read_comments(reader *r, span text, grout_expect_list *to) {
    while (text.size > 0) {
        size_t next = 0;
        while (next < text.size &&
               !(next + 1 < text.size && text.data[next] == '/' && text.data[next + 1] == '/')) {
            next++;
        }
        read_comment(r, trim((span){text.data, next}), to);
        next = next + 2 < text.size ? next + 2 : text.size;
        text.data += next;
        text.size -= next;
    }
}

/* Comments that waited for a line with code speak of this one. */
static void settle_waiting(reader *r) {
    for (size_t i = 0; i < r->waiting.count; i++) {
        r->waiting.items[i].line = r->line;
        if (!grout_expect_list__add(&r->out->list, &r->waiting.items[i])) {
            r->failed = true;
        }
    }
    grout_expect_list__deinit(&r->waiting);
}

static void read_line(reader *r, span line) {
    size_t start = find_comment(line);
    span code = trim((span){line.data, start});
    if (code.size > 0) {
        settle_waiting(r);
    }
    if (start < line.size) {
        read_comments(r, (span){line.data + start + 2, line.size - start - 2},
                      code.size > 0 ? &r->out->list : &r->waiting);
    }
}

bool grout_expectations__read(const char *name, const char *text, size_t size,
                              grout_expectations *out) {
    *out = (grout_expectations){0};
    reader r = {.name = name, .out = out};
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t line_size = end == NULL ? size : (size_t)(end - text);
        r.line++;
        read_line(&r, (span){text, line_size});
        line_size += end == NULL ? 0u : 1u;
        text += line_size;
        size -= line_size;
    }
    if (r.waiting.count > 0) {
        grout_text_add(&out->faults, "%s:%u: no code follows the expectation comment\n", name,
                       r.waiting.items[0].line);
    }
    if (out->is_clean && out->list.count > 0) {
        grout_text_add(&out->faults, "%s: it expects to be clean and expects findings\n", name);
    }
    if (!out->is_clean && out->list.count == 0 && out->faults.size == 0) {
        grout_text_add(&out->faults,
                       "%s: it has no expectation; '// expect: clean' says that there is no "
                       "finding\n",
                       name);
    }
    grout_expect_list__deinit(&r.waiting);
    return !r.failed && !out->faults.failed;
}

/* ---- comparison ----------------------------------------------------------------------------- */

static bool expects_notes_of(const grout_expectations *expectations, grout_diag_code code) {
    for (size_t i = 0; i < expectations->list.count; i++) {
        if (expectations->list.items[i].kind == GROUT_EXPECT_NOTE &&
            expectations->list.items[i].code == code) {
            return true;
        }
    }
    return false;
}

bool grout_expect__match(grout_expectations *expectations, grout_expect_list *found) {
    bool is_all_met = true;
    for (size_t i = 0; i < expectations->list.count; i++) {
        expectations->list.items[i].is_met = false;
    }
    for (size_t k = 0; k < found->count; k++) {
        grout_expect_item *finding = &found->items[k];
        finding->is_met =
            finding->kind == GROUT_EXPECT_NOTE && !expects_notes_of(expectations, finding->code);
        for (size_t i = 0; i < expectations->list.count; i++) {
            grout_expect_item *item = &expectations->list.items[i];
            if (item->kind == finding->kind && item->code == finding->code &&
                (item->line == finding->line || finding->line == 0)) {
                item->is_met = true;
                finding->is_met = true;
            }
        }
        is_all_met = is_all_met && finding->is_met;
    }
    for (size_t i = 0; i < expectations->list.count; i++) {
        is_all_met = is_all_met && expectations->list.items[i].is_met;
    }
    return is_all_met;
}
