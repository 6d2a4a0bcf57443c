/* check_watch.c - --watch on a host that lives in memory: what it reads again, and how it ends.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/commands.h"
#include "tests/tests.h"
#include "tests/unit/support/plain_host.h"

#include <stdlib.h>
#include <string.h>

static const char clean[] = "kernel @k(%c: out gmem i32[1]) { store %c[0], 1 }\n";
static const char invalid[] = "kernel @k(%c: out gmem i32[1]) { stor %c[0], 1 }\n";
static const char wrong[] =
    "kernel @k(%c: out gmem i32[1]) { for %i in 0..2 { store %c[%i], 1 } }\n";

/* The file holds one text after the other. */
typedef struct watched_host {
    const char *const *texts;
    size_t count, at;
    bool is_terminal;
    size_t interrupted_at; /* the text whose call Ctrl-C ends; SIZE_MAX: none */
    size_t open_count, clear_count, watched;
    char answers[1 << 14];
} watched_host;

static bool read_file(void *payload, const char *path, const grout_reading *what, grout_bytes *out,
                      grout_text *reason) {
    watched_host *host = payload;
    const char *text = host->texts[host->at];
    (void)what;
    if (strcmp(path, "k.grout") != 0 || text == NULL) {
        grout_text_add(reason, "no such file");
        return false;
    }
    *out = (grout_bytes){.data = malloc(strlen(text) + 1), .size = strlen(text)};
    ck_assert_ptr_nonnull(out->data);
    memcpy(out->data, text, strlen(text) + 1);
    return true;
}

static bool is_same_file(void *payload, const char *a, const char *b) {
    (void)payload;
    return strcmp(a, b) == 0;
}

static bool write_stream(void *payload, grout_stream stream, const char *data, size_t size,
                         grout_text *reason) {
    (void)reason;
    watched_host *host = payload;
    bool is_clear = size >= 4 && memcmp(data, "\033[H", 3) == 0;
    host->clear_count += is_clear && stream == GROUT_STREAM_OUT;
    ck_assert_uint_lt(strlen(host->answers) + size, sizeof host->answers);
    memcpy(host->answers + strlen(host->answers), data, size);
    return true;
}

static bool is_terminal(void *payload, grout_stream stream) {
    return ((watched_host *)payload)->is_terminal && stream == GROUT_STREAM_OUT;
}

static double get_seconds(void *payload) {
    (void)payload;
    return 1;
}

static bool is_interrupted(void *payload) {
    watched_host *host = payload;
    return host->at == host->interrupted_at;
}

static grout_watch *open_watch(void *payload, const char *const *paths, size_t count) {
    watched_host *host = payload;
    host->open_count++;
    host->watched = count;
    ck_assert_str_eq(paths[0], "k.grout");
    return payload;
}

static bool wait_for_change(void *payload, grout_watch *watch) {
    watched_host *host = payload;
    ck_assert_ptr_eq(watch, payload);
    host->at++;
    return host->at < host->count;
}

static void close_watch(void *payload, grout_watch *watch) {
    ck_assert_ptr_eq(watch, payload);
    ((watched_host *)payload)->open_count--;
}

static int call(watched_host *memory, const char *line) {
    const grout_host host = {
        .payload = memory,
        .read_file = read_file,
        .is_same_file = is_same_file,
        .write = write_stream,
        .is_terminal = is_terminal,
        .get_columns = get_no_columns,
        .get_seconds = get_seconds,
        .get_env = get_no_env,
        .is_interrupted = is_interrupted,
        .open_watch = open_watch,
        .wait_for_change = wait_for_change,
        .close_watch = close_watch,
        .get_memory = get_some_memory,
    };
    return call_line(&host, line);
}

typedef struct watch_case {
    const char *line, *texts[4]; /* NULL: there is no file */
    size_t count;
    int exit_code;
} watch_case;

static const watch_case cases[] = {
    {"check --watch k.grout", {wrong, clean}, 2, 0},
    {"check k.grout --watch -q", {clean, wrong}, 2, 1},
    {"check k.grout --watch", {clean, invalid}, 2, 2},
    {"check k.grout --watch", {invalid, NULL, wrong}, 3, 1},
    {"check k.grout --watch", {clean, NULL}, 2, 2},
    {"check -D X=1 --watch k.grout", {clean}, 1, 2},
    {"run k.grout --watch", {invalid, clean, clean, clean}, 4, 0},
};

TEST_EACH(the_last_call_decides, COUNT_OF(cases)) {
    const watch_case *c = &cases[_i];
    watched_host host = {.texts = c->texts, .count = c->count, .interrupted_at = SIZE_MAX};
    ck_assert_int_eq(call(&host, c->line), c->exit_code);
    ck_assert_uint_eq(host.at, host.count);
    ck_assert_uint_eq(host.open_count, 0);
    ck_assert_uint_eq(host.watched, 1);
    ck_assert_uint_eq(host.clear_count, 0);
}

TEST(a_terminal_is_cleared_before_each_answer) {
    static const char *const texts[] = {clean, wrong, clean};
    watched_host host = {
        .texts = texts, .count = 3, .is_terminal = true, .interrupted_at = SIZE_MAX};
    ck_assert_int_eq(call(&host, "check k.grout --watch --color never"), 0);
    ck_assert_uint_eq(host.clear_count, 3);
    ck_assert_ptr_nonnull(strstr(host.answers, "waiting until k.grout changes; Ctrl-C ends\n"));
}

TEST(an_interrupted_call_ends_it) {
    static const char *const texts[] = {clean, clean, clean};
    watched_host host = {.texts = texts, .count = 3, .interrupted_at = 1};
    ck_assert_int_eq(call(&host, "check k.grout --watch"), 130);
    ck_assert_uint_eq(host.at, 1);
    ck_assert_uint_eq(host.open_count, 0);
}

TEST_EACH(what_cannot_be_watched_is_refused, 2) {
    static const char *const texts[] = {clean};
    static const char *const lines[] = {"check - --watch", "check k.grout --watch --format json"};
    watched_host host = {.texts = texts, .count = 1, .interrupted_at = SIZE_MAX};
    ck_assert_int_eq(call(&host, lines[_i]), 2);
    ck_assert_ptr_nonnull(strstr(host.answers, "--watch"));
    ck_assert_uint_eq(host.at, 0);
}
