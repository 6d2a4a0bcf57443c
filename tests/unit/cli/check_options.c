/* check_options.c - the command line: what is taken, what is refused, and with which words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/session/options.h"
#include "tests/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct option_case {
    const char *line;    /* words after 'grout' */
    const char *message; /* part of the first diagnostic or its help; NULL: it parses */
} option_case;

static const option_case cases[] = {
    {"check a.grout", NULL},
    {"check -D X=1 a.grout -DY=2", NULL},
    {"check a.grout --seed=3 --schedule random", NULL},
    {"check -- -a.grout", NULL},
    {"check - --format json", NULL},
    {"check --max-memory 512M a", NULL},
    {"fmt -i a b c", NULL},
    {"emit -o x a", NULL},
    {"emit -qo x a", NULL},
    {"check -qvDX=1 a", NULL},
    {"check -qxv a", "'-x'"},
    {"check -qD", "-D needs a value"},
    {"check a --", NULL},
    {"check --= a", "'--'"},
    {"check --sched fair a", "'--sched'"},
    {"check --sede 3 a", "'--seed'"},
    {"check --seed -1 a", "whole number"},
    {"check --seed 99999999999999999999 a", "whole number"},
    {"check --seed", "needs a value"},
    {"check -D", "needs a value"},
    {"check --schedule slow a", "fair|random"},
    {"check --schedule fair|random a", "fair|random"},
    {"check --werror=1 a", "takes no value"},
    {"check --rtol -1 a", "a number from 0"},
    {"check --timeout -1 a", "a number above 0"},
    {"check --timeout 0 a", "a number above 0"},
    {"check --timeout inf a", "a number above 0"},
    {"check --timeout 1e400 a", "a number above 0"},
    {"check --max-findings 0 a", "a whole number from 1"},
    {"check --max-steps 0 a", "a whole number from 1"},
    {"check --max-memory 0 a", "a number of bytes from 1"},
    {"check --max-memory 512m a", NULL},
    {"check -h a", NULL},
    {"check --max-memory 1Q a", "a number of bytes"},
    {"check --max-memory 99999999999999999G a", "a number of bytes"},
    {"check --device cuda a", "'grout run'"},
    {"check -x a", "'-x'"},
    {"fmt -o x a", "'grout emit'"},
    {"run a b", "'b'"},
    {"check", "needs a FILE"},
    {"doctor x", "'x'"},
};

/* Splits at blanks and parses; words live as long as the line. */
static bool parse(char *line, grout_options *options, grout_diags *diags) {
    char *argv[32] = {NULL};
    int argc = 0;
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    options->command = grout_command__find(argv[0]);
    ck_assert_int_ne(options->command, GROUT_COMMAND_NONE);
    return grout_options__parse(options, argc, argv, diags) &&
           grout_options__check_arguments(options, diags);
}

TEST_EACH(test_parse, COUNT_OF(cases)) {
    const option_case *c = &cases[_i];
    char line[256];
    grout_options options = {0};
    grout_diags *diags = grout_diags_new();
    (void)snprintf(line, sizeof line, "%s", c->line);
    bool is_good = parse(line, &options, diags);
    ck_assert_msg(is_good == (c->message == NULL), "%s", c->line);
    if (!is_good) {
        const grout_diag *diag = grout_diags_get(diags, 0);
        ck_assert_int_eq(diag->code, GROUT_DIAG_BAD_OPTION);
        bool is_there =
            strstr(diag->message, c->message) != NULL ||
            (diag->note_count > 0 && strstr(diag->notes[0].message, c->message) != NULL);
        ck_assert_msg(is_there, "%s: %s", c->line, diag->message);
    }
    grout_options__deinit(&options);
    grout_diags_free(diags);
}

TEST(test_values) {
    char line[] = "check a --seed 1 -D X=1 --seed 0x10 -D Y=2 --rtol 1e-3 --max-memory 2K -q";
    grout_options options = {0};
    grout_diags *diags = grout_diags_new();
    ck_assert(parse(line, &options, diags));
    ck_assert_uint_eq(grout_options__get_count(&options, GROUT_OPTION_SEED, 9), 16);
    ck_assert_uint_eq(grout_options__get_count(&options, GROUT_OPTION_MAX_STEPS, 9), 9);
    ck_assert_uint_eq(grout_options__get_count(&options, GROUT_OPTION_MAX_MEMORY, 0), 2048);
    ck_assert(grout_options__get_number(&options, GROUT_OPTION_RTOL, 0) == 1e-3);
    ck_assert_str_eq(grout_options__get_use(&options, GROUT_OPTION_DEFINE, 0), "X=1");
    ck_assert_str_eq(grout_options__get_use(&options, GROUT_OPTION_DEFINE, 1), "Y=2");
    ck_assert_ptr_null(grout_options__get_use(&options, GROUT_OPTION_DEFINE, 2));
    ck_assert(grout_options__has(&options, GROUT_OPTION_QUIET));
    ck_assert(!grout_options__has(&options, GROUT_OPTION_VERBOSE));
    ck_assert_uint_eq(options.argument_count, 1);
    grout_options__deinit(&options);
    grout_diags_free(diags);
}

/* A line of --help, with a column of names beside it. */
enum { HELP_MAX = 64 };

/* The table: no name stands twice in a command, groups are together, help is there and a line. */
TEST(test_table) {
    static const char repeatable[] = "; repeatable";
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_info *a = grout_option__get_info((grout_option_id)i);
        ck_assert_str_ne(a->help, "");
        ck_assert(a->long_text != NULL || a->short_text != 0);
        ck_assert((a->argument != NULL) == (a->kind != GROUT_OPTION_FLAG));
        ck_assert_uint_ne(a->commands, 0);
        ck_assert_msg(strlen(a->help) + (a->is_repeatable ? sizeof repeatable - 1 : 0) <= HELP_MAX,
                      "'%s' is too long", a->help);
        ck_assert_msg(i == 1 || grout_option__get_info((grout_option_id)(i - 1))->group <= a->group,
                      "'%s' is not beside its group", a->help);
        for (int j = 1; j < i; j++) {
            const grout_option_info *b = grout_option__get_info((grout_option_id)j);
            bool is_same = a->long_text != NULL
                               ? b->long_text != NULL && strcmp(a->long_text, b->long_text) == 0
                               : a->short_text == b->short_text;
            ck_assert(!is_same || (a->commands & b->commands) == 0);
        }
    }
}

TEST(test_numbers) {
    uint64_t u;
    int64_t i;
    double d;
    ck_assert(grout_read_u64("18446744073709551615", &u) && u == UINT64_MAX);
    ck_assert(!grout_read_u64("18446744073709551616", &u));
    ck_assert(!grout_read_u64("", &u) && !grout_read_u64("0x", &u) && !grout_read_u64("+1", &u));
    ck_assert(grout_read_u64("010", &u) && u == 10);
    ck_assert(grout_read_i64("-9223372036854775808", &i) && i == INT64_MIN);
    ck_assert(!grout_read_i64("9223372036854775808", &i) && !grout_read_i64("--1", &i));
    ck_assert(grout_read_number("-1e-3", &d) && d == -1e-3);
    ck_assert(!grout_read_number("1x", &d) && !grout_read_number("", &d));
}
