/* check_suggest.c - which known word is offered for one that is not known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"
#include "tests/tests.h"

#include <stdio.h>
#include <string.h>

static const char *const words[] = {
    "load", "store", "not",    "copy_gmem_to_smem", "copy_smem_to_gmem",
    "lt",   "le",    "select", "commit_smem",       "scale",
    "x",    "log"};

typedef struct suggest_case {
    const char *wanted;
    const char *best; /* NULL: nothing is near */
} suggest_case;

static const suggest_case cases[] = {
    {"lod", "load"},
    {"laod", "load"}, /* neighbours swapped */
    {"loadd", "load"},
    {"sotre", "store"},
    {"copy_gmem_to_smm", "copy_gmem_to_smem"},
    {"copy_smem_gmem", "copy_smem_to_gmem"},
    {"comit_smen", "commit_smem"},
    {"selct", "select"},
    {"lx", "lt"},
    {"lof", "log"}, /* 'load' is two slips away */
    {"y", NULL},    /* no letter is left of it */
    {"zz", NULL},
    {"nope", NULL}, /* two slips in a short word are another word */
    {"frobnicate", NULL},
    {"", NULL},
};

TEST_EACH(the_nearest_word_is_offered, COUNT_OF(cases)) {
    const suggest_case *c = &cases[_i];
    grout_suggestion suggestion = grout_suggest__begin(c->wanted, strlen(c->wanted));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        grout_suggest__offer(&suggestion, words[i]);
    }
    if (c->best == NULL) {
        ck_assert_msg(suggestion.best == NULL, "'%s' for '%s'", suggestion.best, c->wanted);
    } else {
        ck_assert_ptr_nonnull(suggestion.best);
        ck_assert_str_eq(suggestion.best, c->best);
    }
}

TEST(commands_may_be_begun) {
    static const char *const commands[] = {"check", "run",  "emit",    "fmt",
                                           "ops",   "help", "explain", "use-of-uninitialised"};
    static const suggest_case texts[] = {
        {"chek", "check"},
        {"chcek", "check"},
        {"emti", "emit"},
        {"fm", "fmt"},
        {"xyzzy", NULL},
        {"kelp", "help"},
        {"keep", NULL},
        {"x", NULL},
        {"expl", "explain"},
        {"ex", NULL},
        {"use-of-un", "use-of-uninitialised"},
        {"uze-of-uninitialized", "use-of-uninitialised"},
        {"uze-of-initialized", "use-of-uninitialised"},
    };
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        grout_suggestion suggestion = grout_suggest__begin_command(texts[k].wanted);
        for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
            grout_suggest__offer(&suggestion, commands[i]);
        }
        const char *best = suggestion.best;
        ck_assert_msg(best == NULL ? texts[k].best == NULL
                                   : texts[k].best != NULL && strcmp(best, texts[k].best) == 0,
                      "%s: %s", texts[k].wanted, best == NULL ? "nothing" : best);
    }
}

TEST(long_words_and_many_words_cost_nothing) {
    char word[300];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    grout_suggestion suggestion = grout_suggest__begin(word, sizeof word - 2);
    grout_suggest__offer(&suggestion, word);
    ck_assert_ptr_null(suggestion.best);
    suggestion = grout_suggest__begin("aaab", 4);
    grout_suggest__offer(&suggestion, word);
    for (int i = 0; i < 100000; i++) {
        grout_suggest__offer(&suggestion, "zzzzzz");
    }
    grout_suggest__offer(&suggestion, "aaac"); /* too late */
    ck_assert_ptr_null(suggestion.best);
}
