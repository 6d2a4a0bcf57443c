/* check_diag.c - the list of diagnostics and their rendering, byte for byte.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"
#include "tests/tests.h"

#include <stdio.h>
#include <string.h>

static grout_diags *diags;
static grout_text out;

static void set_up(void) {
    diags = grout_diags_new();
    ck_assert_ptr_nonnull(diags);
    out = (grout_text){0};
}

static void tear_down(void) {
    grout_diags_free(diags);
    grout_text_free(&out);
}

static grout_place place_at(uint32_t line, uint32_t column, uint32_t length) {
    return (grout_place){"a.grout", line, column, length};
}

static void add_source(const char *text) {
    grout_diags_add_source(diags, "a.grout", text, strlen(text));
}

static void expect_rendering(const char *expected) {
    grout_diags_render(diags, NULL, &out);
    ck_assert_str_eq(out.data != NULL ? out.data : "", expected);
}

TEST(carets_stand_under_the_place) {
    add_source("first\n  %x = lod %a\n");
    ck_assert(
        !grout_diags_add(diags, GROUT_DIAG_UNKNOWN_OP, place_at(2, 8, 3), "no op '%s'", "lod"));
    grout_diags_help(diags, "did you mean '%s'?", "load");
    expect_rendering("a.grout:2:8: error: no op 'lod' [unknown-op]\n"
                     "    2 |   %x = lod %a\n"
                     "      |        ^~~\n"
                     "  help: did you mean 'load'?\n\n");
}

/* The line that a place names, however far down it is; none where there is none. */
TEST_EACH(lines_far_down_are_shown, 12) {
    static const uint32_t lines[] = {1, 63, 64, 65, 66, 128, 129, 199, 200, 201, 202, 1000};
    const uint32_t line = lines[_i];
    char text[3000] = "", place[64], expected[200];
    size_t size = 0;
    for (int i = 1; i <= 200; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "line %d\n", i);
    }
    add_source("another text\n");
    add_source(text);
    (void)grout_diags_add(diags, GROUT_DIAG_UNKNOWN_OP, place_at(line, 1, 4), "m");
    snprintf(place, sizeof place, "a.grout:%u:1: error: m [unknown-op]\n", line);
    snprintf(expected, sizeof expected, "%s%5u | line %u\n      | ^~~~\n\n", place, line, line);
    if (line <= 200) {
        expect_rendering(expected);
    } else {
        grout_diags_render(diags, NULL, &out);
        ck_assert_ptr_null(strstr(out.data, "line"));
    }
}

TEST(notes_have_places_of_their_own) {
    add_source("one\r\ntwo\r\n");
    (void)grout_diags_add(diags, GROUT_DIAG_UNUSED_RESULT, place_at(2, 1, 3), "unused");
    grout_diags_note(diags, place_at(1, 3, 1), "here");
    grout_diags_note(diags, (grout_place){0}, "nowhere");
    expect_rendering("a.grout:2:1: warning: unused [unused-result]\n"
                     "    1 | one\n"
                     "      |   ^ here\n"
                     "    2 | two\n"
                     "      | ^~~\n"
                     "  note: nowhere\n\n");
}

TEST(notes_of_one_file_stand_in_one_look_at_it) {
    add_source("one\ntwo\nthree\nfour\n");
    (void)grout_diags_add(diags, GROUT_DIAG_SMEM_RACE, place_at(4, 1, 4), "m");
    grout_diags_note(diags, place_at(4, 1, 4), "of the place itself");
    grout_diags_note(diags, place_at(1, 1, 3), "first");
    grout_diags_note(diags, place_at(1, 1, 3), "second");
    expect_rendering("a.grout:4:1: error: m [smem-race]\n"
                     "    1 | one\n"
                     "      | ^~~ first\n"
                     "      |     second\n"
                     "  ...\n"
                     "    4 | four\n"
                     "      | ^~~~ of the place itself\n\n");
}

TEST(many_notes_keep_their_order) {
    add_source("one\ntwo\n");
    (void)grout_diags_add(diags, GROUT_DIAG_DEADLOCK, place_at(2, 1, 3), "m");
    for (int i = 0; i < 3; i++) {
        grout_diags_note(diags, place_at(1, 1, 3), "step %d", i);
    }
    expect_rendering("a.grout:2:1: error: m [deadlock]\n"
                     "    2 | two\n"
                     "      | ^~~\n"
                     "  note: step 0\n"
                     "    1 | one\n"
                     "      | ^~~\n"
                     "  note: step 1\n"
                     "    1 | one\n"
                     "      | ^~~\n"
                     "  note: step 2\n"
                     "    1 | one\n"
                     "      | ^~~\n\n");
}

TEST(text_is_wrapped_at_the_width) {
    grout_render_options options = {.width = 48};
    add_source("a few words\n");
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, 3, 3),
                          "a message of more words than a line of 48 has");
    grout_diags_note(diags, place_at(1, 3, 3), "a label that has no room at the carets");
    grout_diags_help(diags, "a help of more words than one line of this width has");
    grout_diags_render(diags, &options, &out);
    ck_assert_str_eq(out.data, "a.grout:1:3: error: a message of more words than\n"
                               "      a line of 48 has [syntax]\n"
                               "    1 | a few words\n"
                               "      |   ^~~\n"
                               "      |     a label that has no room at the\n"
                               "      |     carets\n"
                               "  help: a help of more words than one line of\n"
                               "      this width has\n\n");
}

/* A terminal would break a longer line above its carets. */
TEST(source_lines_are_cut_at_the_width) {
    grout_render_options options = {.width = 56};
    add_source("0123456789012345678901234567890123456789abcde 67890123456789\n");
    (void)grout_diags_add(diags, GROUT_DIAG_SMEM_RACE, place_at(1, 1, 3), "m");
    grout_diags_note(diags, place_at(1, 41, 5), "in the same look");
    grout_diags_note(diags, place_at(1, 47, 9), "further right");
    grout_diags_render(diags, &options, &out);
    ck_assert_str_eq(out.data, "a.grout:1:1: error: m [smem-race]\n"
                               "    1 | 0123456789012345678901234567890123456789ab...\n"
                               "      | ^~~\n"
                               "      |                                         ^~\n"
                               "      |     in the same look\n"
                               "    1 | ...8901234567890123456789abcde 67890123456789\n"
                               "      |                                ^~~~~~~~~\n"
                               "      |     further right\n\n");
}

TEST(tabs_stay_tabs) {
    add_source("\tab\tcd");
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, 5, 2), "m");
    expect_rendering("a.grout:1:5: error: m [syntax]\n"
                     "    1 | \tab\tcd\n"
                     "      | \t  \t^~\n\n");
}

TEST(characters_count_once_and_bad_bytes_are_shown) {
    add_source("\xc3\xa9\xff\x01x");
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, 5, 1), "m");
    expect_rendering("a.grout:1:5: error: m [syntax]\n"
                     "    1 | \xc3\xa9\\xff\\x01x\n"
                     "      |          ^\n\n");
}

TEST(what_is_marked_may_be_shown_as_more) {
    add_source("a \xe2\x80\xae\033[1m b ##[error]c");
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, 3, 4), "m");
    expect_rendering("a.grout:1:3: error: m [syntax]\n"
                     "    1 | a \\u202e\\x1b[1m b #\\x23[error]c\n"
                     "      |   ^~~~~~~~~~\n\n");
}

/* Neither a name nor a message begins a line as a report does. */
TEST(names_and_messages_begin_no_line) {
    const grout_place place = {"a\n::x\t\033", 1, 1, 1};
    (void)grout_diags_add_source(diags, place.file, "text\n", 5);
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place, "m\n@k: clean\n  covered: \xff");
    grout_diags_note(diags, place, "n\n::error::");
    grout_diags_help(diags, "h\r\n##[group]");
    expect_rendering("a\\n:\\x3ax\\t\\x1b:1:1: error: m\n"
                     "      | @k: clean\n"
                     "      |   covered: \\xff [syntax]\n"
                     "    1 | text\n"
                     "      | ^ n\n"
                     "      |   | :\\x3aerror::\n"
                     "  help: h\\r\n"
                     "      | #\\x23[group]\n\n");
}

/* A line that is shown as more columns than it has bytes is cut like any other. */
TEST(long_lines_of_controls_are_cut_around_the_caret) {
    char text[401];
    memset(text, '\033', sizeof text);
    memcpy(text + 200, "HERE", 4);
    text[400] = '\0';
    for (uint32_t column = 1; column <= 401; column += 25) {
        grout_text shown = {0};
        add_source(text);
        (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, column, 1), "m");
        grout_diag_render(grout_diags_get(diags, grout_diags_count(diags) - 1), diags, NULL,
                          &shown);
        const char *line = strchr(shown.data, '\n') + 1;
        const char *carets = strchr(line, '\n') + 1;
        ck_assert_uint_lt((size_t)(carets - line), 185);
        size_t at = strcspn(carets, "^");
        ck_assert_uint_lt(at, (size_t)(carets - line));
        ck_assert(column == 401 || strncmp(line + at, column == 201 ? "H" : "\\x1b", 1) == 0);
        grout_text_free(&shown);
    }
}

TEST(spans_end_with_their_line) {
    add_source("abc\ndef");
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, 3, 99), "m");
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(2, 4, 0), "end");
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(9, 1, 1), "beyond");
    expect_rendering("a.grout:1:3: error: m [syntax]\n"
                     "    1 | abc\n"
                     "      |   ^\n\n"
                     "a.grout:2:4: error: end [syntax]\n"
                     "    2 | def\n"
                     "      |    ^\n\n"
                     "a.grout:9:1: error: beyond [syntax]\n\n");
}

TEST(long_lines_are_cut_around_the_caret) {
    char text[1001];
    memset(text, '.', sizeof text);
    text[1000] = '\0';
    memcpy(text + 500, "HERE", 4);
    add_source(text);
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, 501, 4), "m");
    grout_diags_render(diags, NULL, &out);
    const char *line = strchr(out.data, '\n') + 1;
    const char *carets = strchr(line, '\n') + 1;
    ck_assert_int_eq(strncmp(line, "    1 | ...", 11), 0);
    ck_assert_int_eq(strncmp(carets - 4, "...\n", 4), 0);
    ck_assert_uint_lt((size_t)(carets - line), 180);
    size_t column = strcspn(carets, "^");
    ck_assert_int_eq(strncmp(line + column, "HERE", 4), 0);
    ck_assert_str_eq(carets + column, "^~~~\n\n");
}

TEST(places_may_lack_parts) {
    (void)grout_diags_add(diags, GROUT_DIAG_FILE_UNREADABLE, (grout_place){"b.grout", 0, 0, 0},
                          "no");
    (void)grout_diags_add(diags, GROUT_DIAG_BUILDER, (grout_place){"c.c", 7, 0, 0}, "no");
    (void)grout_diags_add(diags, GROUT_DIAG_DEADLOCK, (grout_place){0}, "no");
    expect_rendering("b.grout: error: no [file-unreadable]\n\n"
                     "c.c:7: error: no [builder]\n\n"
                     "error: no [deadlock]\n\n");
}

TEST(colors_are_ansi_and_optional) {
    grout_render_options options = {.color = true};
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, 1, 1), "m");
    grout_diags_render(diags, &options, &out);
    ck_assert_str_eq(out.data, "\033[1ma.grout:1:1:\033[0m \033[1;31merror:\033[0m m [syntax]\n\n");
}

TEST(twenty_are_kept_and_the_rest_counted) {
    for (uint32_t i = 0; i < GROUT_DIAGS_MAX + 3; i++) {
        (void)grout_diags_add(diags, GROUT_DIAG_UNUSED_RESULT, place_at(i + 1, 1, 1), "m");
    }
    grout_diags_note(diags, place_at(1, 1, 1), "of a dropped one");
    ck_assert_uint_eq(grout_diags_count(diags), GROUT_DIAGS_MAX);
    ck_assert_uint_eq(grout_diags_total(diags), GROUT_DIAGS_MAX + 3);
    ck_assert_uint_eq(grout_diags_get(diags, GROUT_DIAGS_MAX - 1)->note_count, 0);
    ck_assert(!grout_diags_has_errors(diags));
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, 1, 1), "an error has room");
    grout_diags_help(diags, "and its help");
    const grout_diag *newest = grout_diags_get(diags, GROUT_DIAGS_MAX - 1);
    ck_assert_int_eq((int)newest->code, (int)GROUT_DIAG_SYNTAX);
    ck_assert_uint_eq(newest->note_count, 1);
    ck_assert_uint_eq(newest->number, GROUT_DIAGS_MAX + 4);
    ck_assert_uint_eq(grout_diags_count(diags), GROUT_DIAGS_MAX);
    ck_assert_uint_eq(grout_diags_get(diags, GROUT_DIAGS_MAX - 2)->place.line, GROUT_DIAGS_MAX - 1);
    ck_assert(grout_diags_has_errors(diags));
    grout_diags_render(diags, NULL, &out);
    ck_assert_ptr_nonnull(strstr(out.data, "\n4 more not shown (at most 20 are)\n"));
}

TEST(errors_beyond_a_list_of_errors_are_counted) {
    for (uint32_t i = 0; i < GROUT_DIAGS_MAX + 2; i++) {
        (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(i + 1, 1, 1), "m");
    }
    ck_assert_uint_eq(grout_diags_count(diags), GROUT_DIAGS_MAX);
    ck_assert_uint_eq(grout_diags_get(diags, GROUT_DIAGS_MAX - 1)->place.line, GROUT_DIAGS_MAX);
    ck_assert_uint_eq(grout_diags_total(diags), GROUT_DIAGS_MAX + 2);
}

TEST(severities_can_be_changed) {
    (void)grout_diags_add(diags, GROUT_DIAG_UNUSED_RESULT, place_at(1, 1, 1), "m");
    grout_diags_set_severity(diags, 0, GROUT_SEVERITY_ERROR);
    ck_assert(grout_diags_has_errors(diags));
    grout_diags_set_severity(diags, 0, GROUT_SEVERITY_OFF);
    expect_rendering("");
}

TEST(out_of_memory_is_said_once) {
    ck_assert(!grout_diags_add_oom(diags));
    ck_assert(!grout_diags_add_oom(diags));
    expect_rendering("error: out of memory [out-of-memory]\n\n");
}

TEST(a_second_source_replaces_the_first) {
    add_source("old");
    add_source("new");
    (void)grout_diags_add(diags, GROUT_DIAG_SYNTAX, place_at(1, 1, 1), "m");
    expect_rendering("a.grout:1:1: error: m [syntax]\n"
                     "    1 | new\n"
                     "      | ^\n\n");
}

TEST(texts_grow_and_end_with_nul) {
    for (int i = 0; i < 1000; i++) {
        grout_text_add(&out, "%d,", i);
    }
    grout_text_add_bytes(&out, "x\0y", 3);
    ck_assert_uint_eq(out.size, 10 * 2 + 90 * 3 + 900 * 4 + 3);
    ck_assert_int_eq(out.data[out.size], '\0');
    ck_assert(!out.failed);
}

TEST(a_text_takes_formats_of_every_length) {
    for (int size = 0; size < 300; size++) {
        grout_text text = {0};
        grout_text_add(&text, "[");
        grout_text_add(&text, "%*s", size, "");
        grout_text_add(&text, "]");
        ck_assert_uint_eq(text.size, (size_t)size + 2);
        ck_assert_uint_eq(strlen(text.data), text.size);
        ck_assert_int_eq(text.data[text.size - 1], ']');
        grout_text_free(&text);
    }
}

int main(void) {
    return run_tests_between(set_up, tear_down);
}
