/* check_doors.c - check.h and report.h: what the command does, without its files and terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/grout.h"
#include "tests/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without 'commit_smem' TMA may read old bytes. */
static const char missing_commit[] = "const N = 128\n"
                                     "kernel @k(%x: in gmem f32[N], %y: out gmem f32[N])\n"
                                     "{\n"
                                     "  scratch %s : smem f32[N]\n"
                                     "  store %s, (load %x)\n"
                                     "  copy_smem_to_gmem %s, %y\n"
                                     "  wait_smem_to_gmem 0\n"
                                     "}\n";

/* Whether a thread hangs depends on which CTA is first. */
static const char depends_on_schedule[] =
    "const CTAS = 3, N = 32\n"
    "kernel @sync(%x: in gmem i32[CTAS, N], %parts: inout gmem i32[CTAS, N] init(zeros), %count: "
    "inout gmem i32[1] init(zeros), %y: out gmem i32[CTAS, N]) grid(cta = CTAS)\n"
    "{\n"
    "  %c = axis_index cta\n"
    "  store %parts[%c], (load %x[%c])\n"
    "  %mine = atomic_fetch_add %count[0], 1 order(acq_rel) scope(gpu)\n"
    "  while {\n"
    "    %now = atomic_fetch_add %count[0], 0 order(acquire) scope(gpu)\n"
    "    cond (lt %now, CTAS)\n"
    "  } do {\n"
    "    delay 10\n"
    "  }\n"
    "  %old = atomic_exchange %count[0], 0 order(release) scope(gpu)\n"
    "  store %y[%c], (load %parts[(rem %c + 1, CTAS)])\n"
    "}\n";

static grout_diags *diags;

static void setup(void) {
    diags = grout_diags_new();
    ck_assert_ptr_nonnull(diags);
}

static void teardown(void) {
    grout_diags_free(diags);
}

static grout_check *make(const char *text) {
    grout_check *check = grout_check_new("k.grout", text, strlen(text));
    ck_assert_ptr_nonnull(check);
    return check;
}

static grout_report *run(grout_check *check, const char *verdict) {
    grout_report *report = grout_check_run(check, diags);
    ck_assert_ptr_nonnull(report);
    ck_assert_str_eq(grout_report_get_verdict(report), verdict);
    return report;
}

static bool has(grout_report *report, grout_report_form form, const char *part) {
    grout_text text = {0};
    ck_assert(grout_report_print(report, form, &text));
    const bool is_there = text.data != NULL && strstr(text.data, part) != NULL;
    grout_text_free(&text);
    return is_there;
}

static void end(grout_check *check, grout_report *report) {
    grout_report_free(report);
    grout_check_free(check);
}

TEST(test_every_form_has_the_finding) {
    grout_check *check = make(missing_commit);
    grout_report *report = run(check, "error");
    ck_assert_int_eq(grout_report_get_exit_code(report), 1);
    ck_assert(has(report, GROUT_REPORT_TEXT, "k.grout:6:3: error: TMA may read stale bytes"));
    ck_assert(!has(report, GROUT_REPORT_TEXT, "\033["));
    ck_assert(has(report, GROUT_REPORT_COLOR, "\033["));
    ck_assert(has(report, GROUT_REPORT_JSON, "\"code\": \"missing-commit-smem\""));
    ck_assert(!has(report, GROUT_REPORT_JSON, "\"path\""));
    ck_assert(has(report, GROUT_REPORT_SARIF, "\"ruleId\": \"missing-commit-smem\""));
    ck_assert(has(report, GROUT_REPORT_HTML, "<!DOCTYPE html>"));
    ck_assert(has(report, GROUT_REPORT_HTML, "missing-commit-smem"));
    ck_assert_str_eq(grout_report_get_diff(report), "");
    size_t size;
    ck_assert_ptr_null(grout_report_get_repaired(report, &size));
    end(check, report);
}

/* The same object again gives the same report. */
TEST(test_runs_again) {
    grout_check *check = make(missing_commit);
    grout_text texts[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        grout_report *report = run(check, "error");
        ck_assert(grout_report_print(report, GROUT_REPORT_JSON, &texts[i]));
        grout_report_free(report);
    }
    ck_assert_str_eq(texts[0].data, texts[1].data);
    grout_text_free(&texts[0]);
    grout_text_free(&texts[1]);
    grout_check_free(check);
}

TEST(test_repair) {
    grout_check *check = make(missing_commit);
    grout_report *report = grout_check_repair(check, diags);
    ck_assert_ptr_nonnull(report);
    ck_assert_str_eq(grout_report_get_verdict(report), "clean");
    size_t size = 0;
    const char *text = grout_report_get_repaired(report, &size);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_ptr_nonnull(strstr(text, "commit_smem\n"));
    ck_assert_ptr_nonnull(strstr(grout_report_get_diff(report), "+  commit_smem\n"));
    ck_assert_ptr_nonnull(strstr(grout_report_get_steps(report), "insert 'commit_smem'"));
    ck_assert_ptr_nonnull(strstr(grout_report_get_outcome(report), "1 change"));
    end(check, report);
}

/* What is right stays as it is. */
TEST(test_repair_of_nothing) {
    static const char clean[] = "kernel @k(%y: out gmem i32[1])\n{\n  store %y[0], 1\n}\n";
    grout_check *check = make(clean);
    grout_report *report = grout_check_repair(check, diags);
    ck_assert_ptr_nonnull(report);
    ck_assert_str_eq(grout_report_get_verdict(report), "clean");
    ck_assert_str_eq(grout_report_get_diff(report), "");
    end(check, report);
}

/* Nor is it an error that no change was found: the report says what is left. */
TEST(test_repair_without_time) {
    static const char *const options[] = {"budget", "timeout"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        grout_check *check = make(missing_commit);
        ck_assert(grout_check_set(check, options[i], "0.000001", diags));
        grout_report *report = grout_check_repair(check, diags);
        ck_assert_ptr_nonnull(report);
        ck_assert_str_eq(grout_report_get_diff(report), "");
        ck_assert_str_ne(grout_report_get_verdict(report), "clean");
        end(check, report);
    }
}

TEST(test_sweep) {
    grout_check *check = make(missing_commit);
    ck_assert(grout_check_set(check, "sweep", "N=32,64", diags));
    grout_report *report = run(check, "error");
    ck_assert(has(report, GROUT_REPORT_JSON, "\"N=64\""));
    ck_assert(has(report, GROUT_REPORT_HTML, "N=64"));
    end(check, report);
}

TEST(test_minimise) {
    grout_check *check = make(missing_commit);
    ck_assert(grout_check_set(check, "minimise", NULL, diags));
    grout_report *report = run(check, "error");
    ck_assert(has(report, GROUT_REPORT_JSON, "-D N=4 "));
    ck_assert_ptr_nonnull(strstr(grout_report_get_remarks(report), "minimised missing-commit"));
    end(check, report);
}

TEST(test_explore_hands_out_schedules) {
    grout_check *check = make(depends_on_schedule);
    ck_assert(grout_check_set(check, "explore", NULL, diags));
    grout_report *report = run(check, "error");
    ck_assert(has(report, GROUT_REPORT_JSON, "\"schedules_explored\""));
    const char *data;
    size_t size;
    const char *name = grout_report_get_file(report, 0, &data, &size);
    ck_assert_str_eq(name, "sync.schedule");
    ck_assert_ptr_null(grout_report_get_file(report, 1, &data, &size));
    /* and one replays what it shows */
    grout_check *again = make(depends_on_schedule);
    name = grout_report_get_file(report, 0, &data, &size);
    ck_assert(grout_check_add_file(again, name, data, size));
    ck_assert(grout_check_set(again, "replay", name, diags));
    end(again, run(again, "error"));
    end(check, report);
}

TEST(test_advice) {
    static const char idle[] = "kernel @k(%y: out gmem i32[2]) threads(wg = 2)\n"
                               "{\n"
                               "  block_barrier\n"
                               "  store %y[(axis_index wg)], 1\n"
                               "}\n";
    grout_check *check = make(idle);
    ck_assert(grout_check_set(check, "advice", NULL, diags));
    grout_report *report = run(check, "clean");
    ck_assert(has(report, GROUT_REPORT_JSON, "\"severity\": \"advice\""));
    end(check, report);
}

/* Arrays of the caller bind the consts that are their sizes, and get what the run leaves. */
TEST(test_arrays) {
    static const char doubled[] = "const N = 4\n"
                                  "kernel @k(%x: in gmem i32[N], %y: out gmem i32[N])\n"
                                  "{\n"
                                  "  store %y, (mul (load %x), 2)\n"
                                  "}\n";
    int32_t x[3] = {1, 2, 3}, y[3] = {0};
    grout_array in = {.dtype = GROUT_DTYPE_I32, .rank = 1, .dims = {3}, .data = x}, out = in;
    grout_check *check = make(doubled);
    out.data = NULL;
    ck_assert(grout_check_give_array(check, "x", &in, sizeof x, NULL));
    ck_assert(grout_check_give_array(check, "y", &out, sizeof y, y));
    grout_report *report = run(check, "clean");
    ck_assert(has(report, GROUT_REPORT_TEXT, "N=3 (dimension 0 of %x)"));
    ck_assert(has(report, GROUT_REPORT_TEXT, "%x: given"));
    for (int i = 0; i < 3; i++) {
        ck_assert(y[i] == 2 * x[i]);
    }
    end(check, report);
}

TEST(test_array_of_another_size) {
    int32_t x[3] = {1, 2, 3};
    const grout_array in = {.dtype = GROUT_DTYPE_I32, .rank = 1, .dims = {3}, .data = x};
    grout_check *check =
        make("kernel @k(%x: in gmem i32[4], %y: out gmem i32[4])\n{\n  store %y, (load %x)\n}\n");
    ck_assert(grout_check_give_array(check, "x", &in, sizeof x, NULL));
    end(check, run(check, "invalid"));
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_SHAPE_CONFLICT);
}

static bool add_one(void *payload, const void *const *arguments, void *result_out) {
    int *calls = payload;
    ++*calls;
    *(int32_t *)result_out = *(const int32_t *)arguments[0] + 1;
    return true;
}

/* Nothing is checked, and the results are there. */
TEST(test_unchecked) {
    float x[4] = {1, 2, 3, 4}, y[4] = {0};
    grout_array in = {.dtype = GROUT_DTYPE_F32, .rank = 1, .dims = {4}, .data = x}, out = in;
    grout_check *check = make(missing_commit);
    out.data = NULL;
    ck_assert(grout_check_set(check, "timing", "eager", diags));
    ck_assert(grout_check_give_array(check, "x", &in, sizeof x, NULL));
    ck_assert(grout_check_give_array(check, "y", &out, sizeof y, y));
    grout_report *report = grout_check_run_unchecked(check, diags);
    ck_assert_ptr_nonnull(report);
    ck_assert_int_eq(grout_report_get_exit_code(report), 0);
    ck_assert(has(report, GROUT_REPORT_JSON, "\"checked\": false"));
    for (int i = 0; i < 4; i++) {
        ck_assert(x[i] == y[i]);
    }
    end(check, report);
}

TEST(test_unchecked_deadlock) {
    grout_check *check = make("kernel @k(%y: out gmem i32[1])\n"
                              "{\n"
                              "  scratch %b : barrier[1]\n"
                              "  barrier_wait %b[0]\n"
                              "  store %y[0], 1\n"
                              "}\n");
    grout_report *report = grout_check_run_unchecked(check, diags);
    ck_assert_ptr_nonnull(report);
    ck_assert_int_eq(grout_report_get_exit_code(report), 1);
    ck_assert(has(report, GROUT_REPORT_JSON, "\"status\": \"deadlock\""));
    ck_assert(grout_diags_has_errors(diags));
    end(check, report);
}

TEST(test_functions) {
    int calls = 0;
    const grout_extern function = {.name = "add_one", .call = add_one, .payload = &calls};
    grout_check *check = make("kernel @k(%x: in gmem i32[4], %y: out gmem i32[4])\n"
                              "{\n"
                              "  store %y, (extern_elementwise \"add_one\", (load %x) : i32)\n"
                              "}\n");
    ck_assert(grout_check_give_function(check, &function));
    end(check, run(check, "clean"));
    ck_assert_int_ge(calls, 4);
}

typedef struct listener {
    int asked, lines;
} listener;

static bool refuse(void *payload, const grout_progress *progress) {
    listener *it = payload;
    ck_assert_int_ge(progress->ctas_total, 0);
    it->asked++;
    return false;
}

static void take_line(void *payload, const char *line) {
    listener *it = payload;
    it->lines += strstr(line, "here") != NULL;
}

TEST(test_callbacks) {
    static const char text[] = "kernel @k(%y: out gmem i32[1])\n"
                               "{\n"
                               "  debug_print \"here\"\n"
                               "  store %y[0], 1\n"
                               "}\n";
    listener it = {0};
    grout_check *check = make(text);
    grout_check_set_callbacks(check, NULL, take_line, &it);
    end(check, run(check, "clean"));
    ck_assert_int_ge(it.lines, 1);
    check = make(text);
    grout_check_set_callbacks(check, refuse, take_line, &it);
    grout_report *report = grout_check_run(check, diags);
    ck_assert(report == NULL || grout_report_get_exit_code(report) == 130);
    ck_assert_int_ge(it.asked, 1);
    end(check, report);
}

/* A module that was built has places of its own. */
TEST(test_module) {
    grout_module *module =
        grout_parse("other.grout", missing_commit, sizeof missing_commit - 1, diags);
    ck_assert_ptr_nonnull(module);
    grout_check *check = make("// the text is not what is checked\n");
    grout_check_use_module(check, module);
    grout_report *report = run(check, "error");
    ck_assert(has(report, GROUT_REPORT_JSON, "\"file\": \"other.grout\""));
    end(check, report);
    grout_module_free(module);
}

/* A text whose tables take some megabytes, and the machine that runs it next to nothing. */
enum { LONG_LINES = 20000, LONG_LINE_MAX = 40 };

static char *make_long_text(void) {
    const size_t most = (size_t)(LONG_LINES + 4) * LONG_LINE_MAX;
    char *text = malloc(most);
    ck_assert_ptr_nonnull(text);
    int at = snprintf(text, most, "kernel @k(%%y: inout gmem i32[4])\n{\n  %%v0 = load %%y[0]\n");
    for (int i = 1; i < LONG_LINES; i++) {
        at += snprintf(text + at, LONG_LINE_MAX, "  %%v%d = add %%v0, %d\n", i, i);
    }
    (void)snprintf(text + at, LONG_LINE_MAX, "}\n");
    return text;
}

typedef grout_report *run_function(grout_check *check, grout_diags *diags);
static run_function *const runs[] = {grout_check_run, grout_check_run_unchecked,
                                     grout_check_repair};

/* max-memory is for what a text is read into, and for what a module of the caller is bound to: of
 * the latter less is made. */
TEST_EACH(test_memory_of_a_module, 2 * 3 * 3) {
    static const char *const limits[] = {"100000", "1000000", "400M"};
    const int limit = _i % 3, how = _i / 3 % 3;
    const bool is_module = _i / 9 == 1;
    char *text = make_long_text();
    grout_check *check = make(text);
    grout_module *module = grout_parse("k.grout", text, strlen(text), diags);
    ck_assert_ptr_nonnull(module);
    grout_check_use_module(check, is_module ? module : NULL);
    ck_assert(grout_check_set(check, "max-memory", limits[limit], diags));
    grout_report *report = runs[how](check, diags);
    const bool is_over = grout_diags_has_errors(diags);
    ck_assert(is_over == (limit < 2));
    ck_assert(!is_over || grout_diags_get(diags, 0)->code == GROUT_DIAG_OUT_OF_MEMORY);
    ck_assert(report == NULL || grout_report_get_exit_code(report) == (is_over ? 3 : 0));
    end(check, report);
    grout_module_free(module);
    free(text);
}

static const struct {
    const char *option, *value, *says;
} bad_options[] = {
    {"sede", "3", "did you mean 'seed'"},
    {"seed", "x", "whole number"},
    {"seed", NULL, "whole number"},
    {"explore", "yes", "takes no value"},
    {"format", "json", "no option 'format'"},
    {"extern", "a.so", "no option 'extern'"},
    {"expect", NULL, "no option 'expect'"},
    {"severity", "x=off", NULL},
    {"kernel", "@z", NULL},
};

TEST_EACH(test_bad_options, COUNT_OF(bad_options)) {
    grout_check *check = make(missing_commit);
    const bool is_set =
        grout_check_set(check, bad_options[_i].option, bad_options[_i].value, diags);
    ck_assert(is_set == (bad_options[_i].says == NULL));
    grout_report *report = is_set ? grout_check_run(check, diags) : NULL;
    ck_assert(report == NULL || strcmp(grout_report_get_verdict(report), "invalid") == 0);
    ck_assert(grout_diags_has_errors(diags));
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_int_eq(diag->code, GROUT_DIAG_BAD_OPTION);
    const char *says = bad_options[_i].says == NULL ? "" : bad_options[_i].says;
    ck_assert(strstr(diag->message, says) != NULL ||
              (diag->note_count > 0 && strstr(diag->notes[0].message, says) != NULL));
    end(check, report);
}

/* A file is there only if it was given. */
TEST(test_files) {
    static const char rules[] = "missing-commit-smem k.grout known\n";
    grout_check *check = make(missing_commit);
    ck_assert(grout_check_set(check, "suppress", "rules", diags));
    grout_report *report = grout_check_run(check, diags);
    ck_assert(report == NULL || strcmp(grout_report_get_verdict(report), "invalid") == 0);
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_FILE_UNREADABLE);
    grout_report_free(report);
    ck_assert(grout_check_add_file(check, "rules", rules, sizeof rules - 1));
    end(check, run(check, "clean"));
}

TEST(test_invalid_text) {
    grout_check *check = make("kernel @k(\n");
    end(check, run(check, "invalid"));
    ck_assert(grout_diags_has_errors(diags));
    check = make("");
    end(check, run(check, "invalid"));
}

int main(void) {
    return run_tests_between(setup, teardown);
}
