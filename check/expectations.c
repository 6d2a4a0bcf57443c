/* expectations.c - reads expectation comments, and compares them with findings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include "array.h"
#include "comments.h"
#include "hash.h"
#include "invariant.h"

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

static uint64_t make_key(const grout_expect_item *item) {
    return grout_hash__word(grout_hash__word((uint64_t)item->kind, (uint64_t)item->code),
                            item->line);
}

/* The item of the same kind, code and line; NULL: there is none. */
static grout_expect_item *find_item(const grout_expect_list *list, const grout_expect_item *item) {
    uint32_t number = grout_lookup__find(&list->by_key, make_key(item));
    return number == 0 ? NULL : &list->items[number - 1];
}

bool grout_expect_list__add(grout_expect_list *list, const grout_expect_item *item) {
    if (find_item(list, item) != NULL) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(list, NULL, 1)) {
        return false;
    }
    GROUT_ASSERT(item->code != GROUT_DIAG_NONE);
    grout_expect_item *added = &list->items[list->count];
    *added = *item;
    if (item->message != NULL) {
        added->message = grout__copy(NULL, item->message, strlen(item->message));
        if (added->message == NULL) {
            return false;
        }
    }
    uint32_t *number = grout_lookup__at(&list->by_key, make_key(item));
    if (number == NULL) {
        grout__free(added->message);
        return false;
    }
    *number = (uint32_t)++list->count;
    return true;
}

void grout_expect_list__deinit(grout_expect_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        grout__free(list->items[i].message);
    }
    grout__free(list->items);
    grout_lookup__deinit(&list->by_key);
    *list = (grout_expect_list){0};
}

void grout_expectations__deinit(grout_expectations *expectations) {
    for (size_t i = 0; i < expectations->runs.count; i++) {
        grout__free(expectations->runs.items[i].text);
    }
    grout__free(expectations->runs.items);
    grout_expect_list__deinit(&expectations->list);
    grout_text_free(&expectations->faults);
    *expectations = (grout_expectations){0};
}

/* ---- comments ------------------------------------------------------------------------------- */

typedef struct reader {
    const char *name;
    const char *text; /* of the file */
    grout_expectations *out;
    uint32_t line; /* of the newest run line, and where it begins */
    const char *line_start;
    bool failed;
} reader;

static void add_fault(reader *r, uint32_t line, const char *what, grout_span word) {
    grout_text *faults = &r->out->faults;
    grout_text__add_name(faults, r->name);
    grout_text_add(faults, ":%u: %s '", line, what);
    grout_text_add_visible(faults, word.data, word.size < 100 ? word.size : 100,
                           GROUT_KEEP_NOTHING);
    grout_text_add(faults, "'\n");
}

/* CODE[, CODE], for the line of code that the comment is about. */
static void read_codes(reader *r, grout_expect_kind kind, const grout_comment *comment,
                       grout_span text) {
    do {
        grout_span word = grout_span__split(&text, ',');
        char code[64] = "";
        if (word.size < sizeof code) {
            memcpy(code, word.data, word.size);
        }
        grout_expect_item item = {
            .kind = kind, .code = grout_diag_find(code), .line = comment->code_line};
        if (item.code == GROUT_DIAG_NONE) {
            add_fault(r, comment->line, "there is no code", word);
        } else if (comment->code_line == 0) {
            add_fault(r, comment->line, "no code follows the expectation of", word);
        } else if (!grout_expect_list__add(&r->out->list, &item)) {
            r->failed = true;
        }
    } while (text.size > 0);
}

/* The column of a part of the file's text, from 1. */
static uint32_t get_column(reader *r, uint32_t line, const char *at) {
    const char *start = at;
    while (line != r->line && start > r->text && start[-1] != '\n') {
        start--;
    }
    r->line_start = line != r->line ? start : r->line_start;
    r->line = line;
    return (uint32_t)(at - r->line_start) + 1;
}

static void add_run(reader *r, uint32_t line, grout_span text) {
    grout_expectations *out = r->out;
    char *run =
        GROUT_ARRAY_RESERVE(&out->runs, NULL, 1) ? grout__copy(NULL, text.data, text.size) : NULL;
    if (run == NULL) {
        r->failed = true;
        return;
    }
    out->runs.items[out->runs.count++] =
        (grout_expect_line){.text = run, .line = line, .column = get_column(r, line, text.data)};
}

const char *grout_expect_holds_get_text(grout_expect_holds holds) {
    static const char *const words[] = {[GROUT_EXPECT_HOLDS_UNSAID] = "",
                                        [GROUT_EXPECT_HOLDS_EVERY] = "every-schedule",
                                        [GROUT_EXPECT_HOLDS_INTERLEAVED] = "every-interleaving",
                                        [GROUT_EXPECT_HOLDS_THIS] = "this-schedule"};
    return words[holds];
}

static void read_holds(reader *r, const grout_comment *comment, grout_span text) {
    for (int i = GROUT_EXPECT_HOLDS_EVERY; i <= GROUT_EXPECT_HOLDS_THIS; i++) {
        const char *word = grout_expect_holds_get_text((grout_expect_holds)i);
        if (text.size == strlen(word) && memcmp(text.data, word, text.size) == 0) {
            r->out->holds = (grout_expect_holds)i;
            return;
        }
    }
    add_fault(r, comment->line,
              "'expect-holds:' is followed by 'every-schedule', 'every-interleaving' or "
              "'this-schedule', not by",
              text);
}

static void read_comment(reader *r, const grout_comment *comment) {
    grout_span text = comment->text;
    if (grout_span__take(&text, "expect:")) {
        if (text.size == 5 && memcmp(text.data, "clean", 5) == 0) {
            r->out->is_clean = true;
        } else {
            add_fault(r, comment->line, "'expect:' is followed by 'clean', not by", text);
        }
    } else if (grout_span__take(&text, "expect-error:")) {
        read_codes(r, GROUT_EXPECT_ERROR, comment, text);
    } else if (grout_span__take(&text, "expect-warning:")) {
        read_codes(r, GROUT_EXPECT_WARNING, comment, text);
    } else if (grout_span__take(&text, "expect-note:")) {
        read_codes(r, GROUT_EXPECT_NOTE, comment, text);
    } else if (grout_span__take(&text, "expect-holds:")) {
        read_holds(r, comment, text);
    } else if (grout_span__take(&text, "expect-")) {
        add_fault(r, comment->line, "there is no comment 'expect-...' of this kind:", text);
    } else if (grout_span__take(&text, "run:")) {
        add_run(r, comment->line, text);
    }
}

bool grout_expectations__read(const char *name, const char *text, size_t size,
                              grout_expectations *out) {
    *out = (grout_expectations){0};
    reader r = {.name = name, .text = text, .out = out};
    grout_comments comments;
    r.failed = !grout_comments__init(&comments, text, size);
    for (size_t i = 0; i < comments.count; i++) {
        read_comment(&r, &comments.items[i]);
    }
    grout_comments__deinit(&comments);
    if (out->is_clean && out->list.count > 0) {
        grout_text__add_name(&out->faults, name);
        grout_text_add(&out->faults, ": it expects to be clean and expects findings\n");
    }
    if (!out->is_clean && out->list.count == 0 && out->faults.size == 0) {
        grout_text__add_name(&out->faults, name);
        grout_text_add(&out->faults, ": it has no expectation; '// expect: clean' says that there "
                                     "is not a finding\n");
    }
    return !r.failed && !out->faults.failed;
}

/* ---- comparison ----------------------------------------------------------------------------- */

bool grout_expect__match(grout_expectations *expectations, grout_expect_list *found) {
    grout_expect_list *list = &expectations->list;
    bool is_expected[GROUT_EXPECT_KINDS][GROUT_DIAG_COUNT] = {{false}};
    bool has_no_line[GROUT_EXPECT_KINDS][GROUT_DIAG_COUNT] = {{false}}; /* a finding of the code */
    bool is_all_met = true;
    for (size_t i = 0; i < list->count; i++) {
        list->items[i].is_met = false;
        is_expected[list->items[i].kind][list->items[i].code] = true;
    }
    for (size_t k = 0; k < found->count; k++) {
        grout_expect_item *finding = &found->items[k];
        grout_expect_item *item = find_item(list, finding);
        bool is_there = is_expected[finding->kind][finding->code];
        bool is_free = finding->kind == GROUT_EXPECT_NOTE && !is_there;
        has_no_line[finding->kind][finding->code] |= finding->line == 0;
        finding->is_met = is_free || item != NULL || (finding->line == 0 && is_there);
        if (item != NULL) {
            item->is_met = true;
        }
        is_all_met = is_all_met && finding->is_met;
    }
    for (size_t i = 0; i < list->count; i++) {
        grout_expect_item *item = &list->items[i];
        item->is_met = item->is_met || has_no_line[item->kind][item->code];
        is_all_met = is_all_met && item->is_met;
    }
    return is_all_met;
}
