/* check_time_over.c - commands on a host whose clock jumps: a finding that a run has shown stays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/commands.h"
#include "tests/tests.h"
#include "tests/unit/support/each.h"
#include "tests/unit/support/plain_host.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Two CTAs store to one place under every schedule, in the second kernel. */
static const char race[] =
    "const N = 4\n"
    "kernel @calm(%c: out gmem i32[N]) { store %c[0], 1 }\n"
    "kernel @k(%c: out gmem i32[N]) grid(g = 2) { store %c[0], (axis_index g) }\n";
/* The same in a list, after what may come to no end. */
static const char listed_race[] =
    "const N = 4\n"
    "kernel @calm(%c: inout gmem i32[N]) { store %c[0], 1 }\n"
    "kernel @k(%c: inout gmem i32[N]) grid(g = 2) { store %c[0], (axis_index g) }\n"
    "launch @calm(%c)\nlaunch @k(%c)\n";
/* The same after a kernel that takes its time. */
static const char slow[] =
    "const N = 64, G = 64\n"
    "kernel @calm(%c: inout gmem i32[1]) { for %i in 0..100000 { store %c[0], %i } }\n"
    "kernel @k(%c: out gmem i32[N]) grid(g = G) { store %c[0], (axis_index g) }\n";
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
    bool is_interrupted;  /* that is a Ctrl-C instead */
    bool has_jumped;
    double seconds;
    uint32_t calls_left; /* of the clock, before the time is over; 0: others say when */
    uint32_t calls;      /* of the clock so far */
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
        host->has_jumped = true;
        host->seconds = host->is_interrupted ? host->seconds : 1000;
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
    host->calls++;
    if (host->calls_left > 0 && --host->calls_left == 0) {
        host->seconds = 1000;
    }
    return host->seconds;
}

static bool is_interrupted(void *payload) {
    const jumping_host *host = payload;
    return host->is_interrupted && host->has_jumped;
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
    {listed_race, "check k.grout --minimise --timeout 10", "race", "-D N=1"},
};
#define CASE_COUNT (sizeof cases / sizeof cases[0])
static const char lost_time[] = "before the smallest launch had run again";

TEST_EACH(a_report_without_time_is_that_of_the_trial, CASE_COUNT) {
    const minimise_case *c = &cases[_i];
    jumping_host host = {.text = c->text, .jumps_at = "minimised ", .seconds = 1};
    int exit_code = call(&host, c->line);
    ck_assert_msg(exit_code == 1, "%d\n%s\n%s", exit_code, host.out, host.err);
    ck_assert_msg(strstr(host.out, c->code) != NULL, "%s\n%s", host.out, host.err);
    ck_assert_msg(strstr(host.err, c->smallest) != NULL, "%s", host.err);
    ck_assert_msg(strstr(host.err, lost_time) != NULL, "%s", host.err);
}

TEST_EACH(so_is_one_after_an_interrupt, CASE_COUNT) {
    const minimise_case *c = &cases[_i];
    jumping_host host = {
        .text = c->text, .jumps_at = "minimised ", .is_interrupted = true, .seconds = 1};
    int exit_code = call(&host, c->line);
    ck_assert_msg(exit_code == 130, "%d\n%s\n%s", exit_code, host.out, host.err);
    ck_assert_msg(strstr(host.out, c->code) != NULL, "%s\n%s", host.out, host.err);
    ck_assert_msg(strstr(host.err, lost_time) != NULL, "%s", host.err);
}

/* What comes before it in the file has no time any more, and says so. */
TEST(others_of_the_file_are_not_begun) {
    jumping_host host = {.text = slow, .jumps_at = "minimised ", .seconds = 1};
    ck_assert_int_eq(call(&host, "check k.grout --minimise --timeout 10"), 1);
    ck_assert_msg(strstr(host.err, "1 kernel was not begun: @calm; ") != NULL, "%s", host.err);
    ck_assert_msg(strstr(host.out, "@calm") == NULL, "%s", host.out);
    ck_assert_msg(strstr(host.out, "@k: error") != NULL, "%s", host.out);
}

/* Trials run the kernel that shows the finding and no other, as the readings of the clock tell:
 * others run once to find it, and once for the report. */
TEST(trials_run_one_kernel) {
    jumping_host once = {.text = slow, .seconds = 1}, trials = {.text = slow, .seconds = 1};
    ck_assert_int_eq(call(&once, "check k.grout --timeout 10 --no-explore"), 1);
    ck_assert_int_eq(call(&trials, "check k.grout --timeout 10 --no-explore --minimise"), 1);
    ck_assert_msg(strstr(trials.err, "in 7 trials") != NULL, "%s", trials.err);
    ck_assert_uint_gt(once.calls, 100);
    const uint32_t most = 3 * once.calls;
    ck_assert_uint_lt(trials.calls, most);
    ck_assert_uint_gt(trials.calls, once.calls);
}

TEST_EACH(a_report_with_time_is_of_a_run_of_its_own, CASE_COUNT) {
    const minimise_case *c = &cases[_i];
    jumping_host host = {.text = c->text, .seconds = 1};
    int exit_code = call(&host, c->line);
    ck_assert_msg(exit_code == 1, "%d\n%s\n%s", exit_code, host.out, host.err);
    ck_assert_msg(strstr(host.out, c->code) != NULL, "%s\n%s", host.out, host.err);
    ck_assert_msg(strstr(host.err, c->smallest) != NULL, "%s", host.err);
    ck_assert_msg(strstr(host.err, lost_time) == NULL, "%s", host.err);
}

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

/* Each number of readings, or (part) about that part of them; fewer with get_each(). */
static void expect_no_less(const minimise_case *c, const char *text, uint32_t part) {
    bool was_found = false;
    const uint32_t each = get_each();
    for (uint32_t calls = 2;;
         calls += each + each * calls / part) { /* the first one is the start */
        jumping_host host = {.text = text, .seconds = 1, .calls_left = calls};
        int exit_code = call(&host, c->line);
        bool is_found = exit_code == 1 &&
                        (strstr(host.out, c->code) != NULL || strstr(host.err, c->code) != NULL);
        ck_assert_msg(is_found || (!was_found && exit_code == 3),
                      "%u readings of the clock: %d\n%s\n%s", calls, exit_code, host.out, host.err);
        /* A launch that was begun has a report, even if none of it was run. */
        ck_assert_msg(strstr(host.out, "was prepared") == NULL, "%s", host.out);
        ck_assert_msg(strstr(host.err, "was prepared") == NULL, "%s", host.err);
        was_found = is_found;
        if (host.calls_left > 0) { /* the time was not over */
            ck_assert_msg(is_found, "%s\n%s", host.out, host.err);
            break;
        }
    }
}

TEST_EACH(more_time_finds_no_less, COUNT_OF(searches)) {
    expect_no_less(&searches[_i], searches[_i].text, UINT32_MAX);
}

/* The same of kernels that are so long that the clock is read while a launch is prepared: what was
 * found before stays, whichever launch it is. */
TEST_EACH(more_time_finds_no_less_in_long_kernels, COUNT_OF(searches)) {
    const minimise_case *c = &searches[_i];
    const char *body = strrchr(c->text, '}');
    grout_text text = {0};
    grout_text_add(&text, "%.*s\n", (int)(body - c->text), c->text);
    for (int i = 0; i < 150; i++) {
        grout_text_add(&text, "  %%l%d = axis_index g\n", i);
    }
    grout_text_add(&text, "%s", body);
    ck_assert(!text.failed);
    expect_no_less(c, text.data, 6);
    grout_text_free(&text);
}

/* Whenever the time is over, the report says of each kernel what it covers or that it was not
 * begun, never both. */
static const char three[] = "const N = 4\n"
                            "kernel @a(%c: inout gmem i32[N]) { store %c[0], 1 }\n"
                            "kernel @b(%c: inout gmem i32[N]) { store %c[0], 1 }\n"
                            "kernel @c(%c: inout gmem i32[N]) { store %c[0], 1 }\n";
static const char listed[] = "const N = 4\n"
                             "kernel @a(%c: inout gmem i32[N]) { store %c[0], 1 }\n"
                             "kernel @b(%c: inout gmem i32[N]) { store %c[1], 1 }\n"
                             "kernel @c(%c: inout gmem i32[N]) { store %c[0], (load %c[1]) }\n"
                             "launch @a(%c)\nlaunch @b(%c)\nlaunch @c(%c)\n";
static const minimise_case reports[] = {
    {three, "check k.grout --timeout 10 --format json", NULL, NULL},
    {three, "check k.grout --timeout 10 --format json --explore", NULL, NULL},
    {listed, "check k.grout --timeout 10 --format json", NULL, NULL},
    {three, "check k.grout --timeout 10 --format json --sweep N=1,2", NULL, NULL},
};
enum { KERNELS = 3 };

/* The kernels that a list names, each once; a list of objects has them under a key. */
static void count_names(const json_t *list, uint32_t counts[KERNELS]) {
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) {
        const json_t *name = json_is_object(item) ? json_object_get(item, "kernel") : item;
        const char letter = json_string_value(name)[0];
        ck_assert(letter >= 'a' && letter < 'a' + KERNELS);
        counts[letter - 'a']++;
    }
}

/* A part of a report: its coverage, or a size. Whether all kernels
 * have run. Before the text has been read, nobody knows their names. */
static bool is_each_named(const json_t *part, const char *words) {
    uint32_t counts[KERNELS] = {0};
    const json_t *not_begun = json_object_get(part, "not_begun");
    count_names(json_object_get(part, "kernels"), counts);
    count_names(json_object_get(not_begun, "kernels"), counts);
    const bool is_read = strstr(words, "the time was over while the text was read") == NULL ||
                         strstr(words, "\"not_begun\"") != NULL;
    for (uint32_t i = 0; i < KERNELS; i++) {
        ck_assert_msg(counts[i] == (is_read ? 1 : 0), "%u of %c\n%.2000s", counts[i],
                      (char)('a' + i), words);
    }
    if (not_begun != NULL) {
        ck_assert_str_eq(json_string_value(json_object_get(not_begun, "because")),
                         "the time was over (--timeout)");
    }
    return is_read && not_begun == NULL;
}

static bool is_whole(const json_t *report, const char *words) {
    const json_t *sweep = json_object_get(report, "sweep"), *size;
    size_t i;
    bool is_all = true;
    json_array_foreach(sweep, i, size) {
        const bool is_run = json_string_length(json_object_get(size, "not_run")) == 0;
        is_all &= is_run && is_each_named(size, words);
    }
    return sweep != NULL ? is_all : is_each_named(json_object_get(report, "coverage"), words);
}

TEST_EACH(each_kernel_is_run_or_named, COUNT_OF(reports)) {
    bool is_over = true;
    for (uint32_t calls = 2, named = 0; is_over; calls += 1 + calls / 64) {
        jumping_host host = {.text = reports[_i].text, .seconds = 1, .calls_left = calls};
        const int exit_code = call(&host, reports[_i].line);
        json_t *report = json_loads(host.out, 0, NULL);
        ck_assert_msg(report != NULL, "%s", host.out);
        is_over = host.calls_left == 0;
        const bool is_all = is_whole(report, host.out);
        named += is_all ? 0 : 1;
        ck_assert_int_eq(exit_code, is_over && !is_all ? 3 : exit_code);
        ck_assert(is_over || (exit_code == 0 && is_all && named >= KERNELS));
        json_decref(report);
    }
}
