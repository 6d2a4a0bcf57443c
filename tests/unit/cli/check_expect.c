/* check_expect.c - expectation comments: how they are read, and what meets them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check/expect.h"
#include "tests/tests.h"

#include <string.h>

typedef struct comment_case {
    const char *name;
    const char *text;
    size_t count;           /* of expectations */
    grout_expect_kind kind; /* of the last */
    uint32_t line;
    size_t run_count;
    bool is_clean;
    const char *fault; /* part of the faults; NULL: none */
} comment_case;

static const comment_case cases[] = {
    {"clean", "// expect: clean\nkernel\n", 0, GROUT_EXPECT_ERROR, 0, 0, true, NULL},
    {"trailing", "a\nb // expect-error: smem-race\n", 1, GROUT_EXPECT_ERROR, 2, 0, false, NULL},
    {"alone, blank lines and comments after it",
     "// expect-warning: output-not-written\n\n// more\n  c\n", 1, GROUT_EXPECT_WARNING, 4, 0,
     false, NULL},
    {"two codes", "a // expect-error: smem-race, gmem-race\n", 2, GROUT_EXPECT_ERROR, 1, 0, false,
     NULL},
    {"two in one comment", "a // expect-error: smem-race // expect-note: gmem-race\n", 2,
     GROUT_EXPECT_NOTE, 1, 0, false, NULL},
    {"two alone, for the same line", "// expect-error: smem-race\n// expect-note: smem-race\nx\n",
     2, GROUT_EXPECT_NOTE, 3, 0, false, NULL},
    {"CRLF", "a // expect-error: smem-race\r\n", 1, GROUT_EXPECT_ERROR, 1, 0, false, NULL},
    {"no newline at the end", "a // expect-error: smem-race", 1, GROUT_EXPECT_ERROR, 1, 0, false,
     NULL},
    {"in a string it is text", "a \"// expect-error: smem-race \\\" \" // expect: clean\n", 0,
     GROUT_EXPECT_ERROR, 0, 0, true, NULL},
    {"runs", "// expect: clean\n// run: --timing lazy -D X=64\n// run:\n", 0, GROUT_EXPECT_ERROR, 0,
     2, true, NULL},
    {"an unknown code", "a // expect-error: smem-rase\n", 0, GROUT_EXPECT_ERROR, 0, 0, false,
     "smem-rase"},
    {"no code", "a // expect-error:\n", 0, GROUT_EXPECT_ERROR, 0, 0, false, "no code"},
    {"another word", "// expect: dirty\na\n", 0, GROUT_EXPECT_ERROR, 0, 0, false, "dirty"},
    {"an unknown kind", "a // expect-finding: smem-race\n", 0, GROUT_EXPECT_ERROR, 0, 0, false,
     "of this kind"},
    {"clean and not", "// expect: clean\na // expect-error: smem-race\n", 1, GROUT_EXPECT_ERROR, 2,
     0, true, "expects to be clean"},
    {"nothing", "a\n", 0, GROUT_EXPECT_ERROR, 0, 0, false, "no expectation"},
    {"empty", "", 0, GROUT_EXPECT_ERROR, 0, 0, false, "no expectation"},
    {"nothing follows", "a\n// expect-error: smem-race\n", 0, GROUT_EXPECT_ERROR, 0, 0, false,
     "no code follows"},
};

TEST_EACH(test_comments, COUNT_OF(cases)) {
    const comment_case *c = &cases[_i];
    grout_expectations e;
    ck_assert(grout_expectations__read("f", c->text, strlen(c->text), &e));
    ck_assert_msg(e.list.count == c->count, "%s: %zu expectations", c->name, e.list.count);
    if (c->count > 0) {
        ck_assert_msg(e.list.items[c->count - 1].kind == c->kind, "%s: kind", c->name);
        ck_assert_msg(e.list.items[c->count - 1].line == c->line, "%s: line %u", c->name,
                      e.list.items[c->count - 1].line);
    }
    ck_assert_msg(e.runs.count == c->run_count, "%s: %zu runs", c->name, e.runs.count);
    ck_assert_msg(e.is_clean == c->is_clean, "%s: clean", c->name);
    if (c->fault == NULL) {
        ck_assert_msg(e.faults.size == 0, "%s: %s", c->name, e.faults.data);
    } else {
        ck_assert_msg(e.faults.size > 0 && strstr(e.faults.data, c->fault) != NULL, "%s: '%s'",
                      c->name, e.faults.size > 0 ? e.faults.data : "");
    }
    grout_expectations__deinit(&e);
}

TEST(test_run_text) {
    static const char text[] = "// expect: clean\n//  run:   --timing lazy -D X=64  \nx\n";
    grout_expectations e;
    ck_assert(grout_expectations__read("f", text, sizeof text - 1, &e));
    ck_assert_uint_eq(e.runs.count, 1);
    ck_assert_str_eq(e.runs.items[0].text, "--timing lazy -D X=64");
    ck_assert_uint_eq(e.runs.items[0].line, 2);
    ck_assert_uint_eq(e.runs.items[0].column, 12);
    grout_expectations__deinit(&e);
}

typedef struct match_case {
    const char *name;
    const char *text;
    grout_expect_item found[3];
    size_t found_count;
    bool is_met;
} match_case;

static const match_case match_cases[] = {
    {"clean is clean", "// expect: clean\n", {{0}}, 0, true},
    {"a finding where none is expected",
     "// expect: clean\n",
     {{.code = GROUT_DIAG_SMEM_RACE, .line = 3}},
     1,
     false},
    {"the right one",
     "a // expect-error: smem-race\n",
     {{.code = GROUT_DIAG_SMEM_RACE, .line = 1}},
     1,
     true},
    {"another line",
     "a // expect-error: smem-race\n",
     {{.code = GROUT_DIAG_SMEM_RACE, .line = 2}},
     1,
     false},
    {"another code",
     "a // expect-error: smem-race\n",
     {{.code = GROUT_DIAG_GMEM_RACE, .line = 1}},
     1,
     false},
    {"another severity",
     "a // expect-warning: smem-race\n",
     {{.code = GROUT_DIAG_SMEM_RACE, .line = 1}},
     1,
     false},
    {"one missing",
     "a // expect-error: smem-race, gmem-race\n",
     {{.code = GROUT_DIAG_SMEM_RACE, .line = 1}},
     1,
     false},
    {"a note that no comment asks for",
     "a // expect-error: smem-race\n",
     {{.code = GROUT_DIAG_SMEM_RACE, .line = 1},
      {.kind = GROUT_EXPECT_NOTE, .code = GROUT_DIAG_SMEM_RACE, .line = 9}},
     2,
     true},
    {"a note on another line than the comment's",
     "a // expect-error: smem-race\nb // expect-note: smem-race\n",
     {{.code = GROUT_DIAG_SMEM_RACE, .line = 1},
      {.kind = GROUT_EXPECT_NOTE, .code = GROUT_DIAG_SMEM_RACE, .line = 9}},
     2,
     false},
    {"a finding without a place",
     "a // expect-error: unknown-define\n",
     {{.code = GROUT_DIAG_UNKNOWN_DEFINE, .line = 0}},
     1,
     true},
};

TEST_EACH(test_match, COUNT_OF(match_cases)) {
    const match_case *c = &match_cases[_i];
    grout_expectations e;
    grout_expect_list found = {0};
    ck_assert(grout_expectations__read("f", c->text, strlen(c->text), &e));
    for (size_t i = 0; i < c->found_count; i++) {
        ck_assert(grout_expect_list__add(&found, &c->found[i]));
    }
    ck_assert_msg(grout_expect__match(&e, &found) == c->is_met, "%s", c->name);
    /* Matching again gives the same. */
    ck_assert_msg(grout_expect__match(&e, &found) == c->is_met, "%s, again", c->name);
    grout_expect_list__deinit(&found);
    grout_expectations__deinit(&e);
}
