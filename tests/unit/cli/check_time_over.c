/* check_time_over.c - commands on a host whose clock jumps: a finding that a run has shown stays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/commands.h"
#include "tests/unit/support/plain_host.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Two CTAs store to one place under every schedule, in the second kernel. */
static const char race[] =
    "const N = 4\n"
    "kernel @calm(%c: out gmem i32[N]) { store %c[0], 1 }\n"
    "kernel @k(%c: out gmem i32[N]) grid(g = 2) { store %c[0], (axis_index g) }\n";
/* The same, with nothing beside it. */
static const char one[] =
    "kernel @k(%c: out gmem i32[1]) grid(g = 2) { store %c[0], (axis_index g) }\n";
/* Out of bounds if the second CTA is first, which it is not under the fair schedule. */
static const char rare[] =
    "const N = 4\n"
    "kernel @k(%lock: inout gmem i32[1], %c: out gmem i32[N]) grid(g = 2) {\n"
    "  %g = axis_index g\n"
    "  %old = atomic_exchange %lock[0], (add %g, 1) order(acq_rel)\n"
    "  if (lt 1, %old) { store %c[(add %old, N)], 1 }\n"
    "}\n";

typedef struct jumping_host {
    const char *text;
    const char *jumps_at; /* the words on stderr at which the time is over; NULL: it never is */
    double seconds;
    uint32_t calls_left; /* of the clock, before the time is over; 0: others say when */
    char out[1 << 14], err[1 << 14], schedule[1 << 10];
} jumping_host;

static bool read_file(void *payload, const char *path, const grout_reading *what, grout_bytes *out,
                      grout_text *reason) {
    const jumping_host *host = payload;
    const char *text = strstr(path, ".schedule") == NULL ? host->text : host->schedule;
    (void)what;
    if (text[0] == '\0') {
        grout_text_add(reason, "no such file");
        return false;
    }
    *out = (grout_bytes){.data = malloc(strlen(text) + 1), .size = strlen(text)};
    ck_assert_ptr_nonnull(out->data);
    memcpy(out->data, text, strlen(text) + 1);
    return true;
}

static bool write_file(void *payload, const char *path, const grout_chunk *chunks, size_t count,
                       const grout_waiting *waiting, grout_text *reason) {
    (void)waiting;
    jumping_host *host = payload;
    size_t at = 0;
    (void)reason;
    ck_assert_ptr_nonnull(strstr(path, ".schedule"));
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_lt(at + chunks[i].size, sizeof host->schedule);
        memcpy(host->schedule + at, chunks[i].data, chunks[i].size);
        at += chunks[i].size;
    }
    host->schedule[at] = '\0';
    return true;
}

static bool can_write(void *payload, const char *path, grout_text *reason) {
    (void)payload;
    (void)path;
    (void)reason;
    return true;
}

static bool is_same_file(void *payload, const char *a, const char *b) {
    (void)payload;
    return strcmp(a, b) == 0;
}

static bool write_stream(void *payload, grout_stream stream, const char *data, size_t size,
                         grout_text *reason) {
    (void)reason;
    jumping_host *host = payload;
    char *kept = stream == GROUT_STREAM_OUT ? host->out : host->err;
    ck_assert_uint_lt(strlen(kept) + size, sizeof host->out);
    memcpy(kept + strlen(kept), data, size);
    if (host->jumps_at != NULL && strstr(host->err, host->jumps_at) != NULL) {
        host->seconds = 1000;
    }
    return true;
}

static bool is_terminal(void *payload, grout_stream stream) {
    (void)payload;
    (void)stream;
    return false;
}

static double get_seconds(void *payload) {
    jumping_host *host = payload;
    if (host->calls_left > 0 && --host->calls_left == 0) {
        host->seconds = 1000;
    }
    return host->seconds;
}

static bool is_interrupted(void *payload) {
    (void)payload;
    return false;
}

static int call(jumping_host *memory, const char *line) {
    const grout_host host = {
        .payload = memory,
        .read_file = read_file,
        .write_file = write_file,
        .can_write = can_write,
        .is_same_file = is_same_file,
        .write = write_stream,
        .is_terminal = is_terminal,
        .get_columns = get_no_columns,
        .get_seconds = get_seconds,
        .get_env = get_no_env,
        .is_interrupted = is_interrupted,
        .get_memory = get_some_memory,
    };
    return call_line(&host, line);
}

typedef struct minimise_case {
    const char *text, *line;
    const char *code;     /* that stdout shows */
    const char *smallest; /* of stderr */
} minimise_case;

static const minimise_case cases[] = {
    {race, "check k.grout --minimise --timeout 10", "race", "-D N=1"},
    {race, "check k.grout --minimise --timeout 10 --explore", "race", "-D N=1"},
    {race, "check k.grout --minimise --timeout 10 --schedule random --seed 7", "race",
     "schedule of"},
    {rare, "check k.grout --minimise --timeout 10 --explore", "out-of-bounds", "schedule of"},
};
#define CASE_COUNT (sizeof cases / sizeof cases[0])
static const char lost_time[] = "before the smallest launch had run again";

START_TEST(a_report_without_time_is_that_of_the_trial) {
    const minimise_case *c = &cases[_i];
    jumping_host host = {.text = c->text, .jumps_at = "minimised ", .seconds = 1};
    int exit_code = call(&host, c->line);
    ck_assert_msg(exit_code == 1, "%d\n%s\n%s", exit_code, host.out, host.err);
    ck_assert_msg(strstr(host.out, c->code) != NULL, "%s\n%s", host.out, host.err);
    ck_assert_msg(strstr(host.err, c->smallest) != NULL, "%s", host.err);
    ck_assert_msg(strstr(host.err, lost_time) != NULL, "%s", host.err);
}
END_TEST

START_TEST(a_report_with_time_is_of_a_run_of_its_own) {
    const minimise_case *c = &cases[_i];
    jumping_host host = {.text = c->text, .seconds = 1};
    int exit_code = call(&host, c->line);
    ck_assert_msg(exit_code == 1, "%d\n%s\n%s", exit_code, host.out, host.err);
    ck_assert_msg(strstr(host.out, c->code) != NULL, "%s\n%s", host.out, host.err);
    ck_assert_msg(strstr(host.err, c->smallest) != NULL, "%s", host.err);
    ck_assert_msg(strstr(host.err, lost_time) == NULL, "%s", host.err);
}
END_TEST

/* With one reading of the clock more before the time is over, never less is found. */
static const minimise_case searches[] = {
    {race, "check k.grout --timeout 10", "gmem-race", NULL},
    {race, "check k.grout --timeout 10 --minimise", "gmem-race", NULL},
    {rare, "check k.grout --timeout 10 --explore", "out-of-bounds", NULL},
    {rare, "check k.grout --timeout 10 --minimise --explore", "out-of-bounds", NULL},
    {race, "check k.grout --timeout 10 --explore --advice", "gmem-race", NULL},
    {one, "fix --timeout 10 --diff k.grout", "1 finding is left", NULL},
    {one, "fix --timeout 10 -", "1 finding is left", NULL},
};

START_TEST(more_time_finds_no_less) {
    const minimise_case *c = &searches[_i];
    bool was_found = false;
    for (uint32_t calls = 2;; calls++) { /* the first one is the start */
        jumping_host host = {.text = c->text, .seconds = 1, .calls_left = calls};
        int exit_code = call(&host, c->line);
        bool is_found = exit_code == 1 &&
                        (strstr(host.out, c->code) != NULL || strstr(host.err, c->code) != NULL);
        ck_assert_msg(is_found || (!was_found && exit_code == 3),
                      "%u readings of the clock: %d\n%s\n%s", calls, exit_code, host.out, host.err);
        was_found = is_found;
        if (host.calls_left > 0) { /* the time was not over */
            ck_assert_msg(is_found, "%s\n%s", host.out, host.err);
            break;
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("time_over");
    TCase *tcase = tcase_create("time_over");
    tcase_add_loop_test(tcase, a_report_without_time_is_that_of_the_trial, 0, CASE_COUNT);
    tcase_add_loop_test(tcase, a_report_with_time_is_of_a_run_of_its_own, 0, CASE_COUNT);
    tcase_add_loop_test(tcase, more_time_finds_no_less, 0, sizeof searches / sizeof searches[0]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
