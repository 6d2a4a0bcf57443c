/* check_visible.c - what would steer a terminal, a page or a log is shown, and nothing else is
 * touched.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/line_name.h"
#include "base/visible.h"
#include "tests/tests.h"

#include <stdio.h>
#include <string.h>

enum { ALL = GROUT_KEEP_TABS | GROUT_KEEP_LINES | GROUT_KEEP_COMMANDS | GROUT_KEEP_COLORS };

static size_t encode(uint32_t code, char out[5]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(first[size] | code);
    return size;
}

static bool steers(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

static void expect_shown(const char *bytes, size_t size, uint32_t keep, const char *wanted) {
    grout_text out = {0};
    grout_text_add_visible(&out, bytes, size, keep);
    ck_assert_str_eq(out.data, wanted);
    /* What is shown is shown as it is. */
    grout_text again = {0};
    grout_text_add_visible(&again, out.data, out.size, keep);
    ck_assert_str_eq(again.data, out.data);
    grout_text_free(&again);
    grout_text_free(&out);
}

TEST(each_character) {
    for (uint32_t code = 1; code < 0x110000; code += code < 0x2100 ? 1 : 4093) {
        char bytes[5] = "", wanted[16];
        if (code >= 0xd800 && code < 0xe000) {
            continue; /* no characters */
        }
        size_t size = encode(code, bytes);
        const char *letter = code == '\n'   ? "\\n"
                             : code == '\r' ? "\\r"
                             : code == '\t' ? "\\t"
                                            : NULL;
        (void)snprintf(wanted, sizeof wanted, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
        expect_shown(bytes, size, GROUT_KEEP_NOTHING,
                     !steers(code)    ? bytes
                     : letter != NULL ? letter
                                      : wanted);
    }
}

TEST(bytes_that_are_no_characters) {
    expect_shown("a\0b", 3, ALL, "a\\x00b");
    expect_shown("\xff\xc0\xaf", 3, ALL, "\\xff\\xc0\\xaf");
    expect_shown("\xed\xa0\x80", 3, ALL, "\\xed\\xa0\\x80"); /* a surrogate */
    expect_shown("\xe2\x80", 2, ALL, "\\xe2\\x80");          /* cut off */
    expect_shown("\x9b", 1, ALL, "\\x9b");                   /* C1 as one byte */
}

typedef struct keep_case {
    const char *text;
    uint32_t keep;
    const char *wanted;
} keep_case;

static const keep_case keep_cases[] = {
    {"a\tb\nc", GROUT_KEEP_TABS, "a\tb\\nc"},
    {"a\tb\nc", GROUT_KEEP_LINES, "a\\tb\nc"},
    {"a\r\nb\rc\n", GROUT_KEEP_LINES, "a\r\nb\\rc\n"},
    {"a\r\n", GROUT_KEEP_TABS, "a\\r\\n"},
    {"\033[1;31mx\033[0m\033[m", GROUT_KEEP_COLORS, "\033[1;31mx\033[0m\033[m"},
    {"\033[2J\033[1A\033]0;t\a\033[31", GROUT_KEEP_COLORS,
     "\\x1b[2J\\x1b[1A\\x1b]0;t\\x07\\x1b[31"},
    {"\033[31m", GROUT_KEEP_NOTHING, "\\x1b[31m"},
    {"::error::x", GROUT_KEEP_NOTHING, ":\\x3aerror::x"},
    {"a ::error::x", GROUT_KEEP_NOTHING, "a :\\x3aerror::x"},
    {"a\t::x\n::y", GROUT_KEEP_TABS | GROUT_KEEP_LINES, "a\t:\\x3ax\n:\\x3ay"},
    {"\xc2\xa0::x", GROUT_KEEP_NOTHING, "\xc2\xa0:\\x3ax"},
    {"shared::cta", GROUT_KEEP_NOTHING, "shared::cta"},
    {"::error::x", GROUT_KEEP_COMMANDS, "::error::x"},
    {"a##[error]b", GROUT_KEEP_NOTHING, "a#\\x23[error]b"},
    {"##vso[task.x]", GROUT_KEEP_NOTHING, "#\\x23vso[task.x]"},
    {"###[x]", GROUT_KEEP_NOTHING, "##\\x23[x]"},
    {"## a [b]", GROUT_KEEP_NOTHING, "## a [b]"},
    {"##", GROUT_KEEP_NOTHING, "##"},
    {"##[x]", GROUT_KEEP_COMMANDS, "##[x]"},
    {"", GROUT_KEEP_NOTHING, ""},
};

TEST_EACH(what_is_kept, COUNT_OF(keep_cases)) {
    const keep_case *c = &keep_cases[_i];
    expect_shown(c->text, strlen(c->text), c->keep, c->wanted);
}

TEST(lines_get_a_mark) {
    grout_text print = {0}, message = {0};
    grout_visible__add_print(&print, "a\n@k: clean\n\n", 13);
    ck_assert_str_eq(print.data, "a\n  | @k: clean\n  | \n  | ");
    grout_visible__add_message(&message, "a\n::error::\r\nb\033");
    ck_assert_str_eq(message.data, "a\n| :\\x3aerror::\\r\n| b\\x1b");
    grout_text_free(&print);
    grout_text_free(&message);
    grout_visible__add_message(&message, "");
    ck_assert_str_eq(message.data, "");
    grout_text_free(&message);
}

TEST(names_of_lines) {
    grout_text out = {0};
    grout_line_name__add(&out, "a/\"b\\c\nd\r\x7f\xc3\xa9'1.grout");
    ck_assert_str_eq(out.data, "a/_b_c_d__\xc3\xa9'1.grout");
    grout_text_free(&out);
}
