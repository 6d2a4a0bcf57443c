/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks.c - a program of somebody else's that checks and repairs kernels with an installed grout,
 * as the command does: a check, several sizes, other schedules, the smallest size, advice, a
 * repair.
 *
 *     checks              does all of that with a kernel of its own
 *     checks FILE FORM    writes the report of FILE: text, json, sarif or html
 */
#include <grout/grout.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char wrong[] = "const N = 128\n"
                            "kernel @k(%x: in gmem f32[N], %y: out gmem f32[N])\n"
                            "{\n"
                            "  scratch %s : smem f32[N]\n"
                            "  store %s, (load %x)\n"
                            "  copy_smem_to_gmem %s, %y\n"
                            "  wait_smem_to_gmem 0\n"
                            "}\n";

static void fail(const char *what, const grout_diags *diags) {
    grout_text text = {0};
    const grout_render_options look = {0};
    grout_diags_render(diags, &look, &text);
    (void)fprintf(stderr, "checks: %s\n%s", what, text.data == NULL ? "" : text.data);
    exit(EXIT_FAILURE);
}

/* A check of the kernel with one option; what it has to come to. */
static void check(const char *text, const char *option, const char *value, const char *verdict) {
    grout_diags *diags = grout_diags_new();
    grout_check *check = grout_check_new("k.grout", text, strlen(text));
    if (diags == NULL || check == NULL ||
        (option != NULL && !grout_check_set(check, option, value, diags))) {
        fail("no check", diags);
    }
    grout_report *report = grout_check_run(check, diags);
    if (report == NULL || strcmp(grout_report_get_verdict(report), verdict) != 0) {
        fail(report == NULL ? "no report" : grout_report_get_verdict(report), diags);
    }
    grout_text lines = {0};
    if (!grout_report_print(report, GROUT_REPORT_TEXT, &lines)) {
        fail("no text", diags);
    }
    (void)printf("---- %s: %s\n%s", option == NULL ? "check" : option, verdict, lines.data);
    grout_text_free(&lines);
    grout_report_free(report);
    grout_check_free(check);
    grout_diags_free(diags);
}

/* The repaired text, which the caller frees. */
static char *repair(void) {
    grout_diags *diags = grout_diags_new();
    grout_check *check = grout_check_new("k.grout", wrong, sizeof wrong - 1);
    grout_report *report = check == NULL ? NULL : grout_check_repair(check, diags);
    size_t size = 0;
    const char *text = report == NULL ? NULL : grout_report_get_repaired(report, &size);
    if (text == NULL) {
        fail("no repair", diags);
    }
    (void)printf("---- repair: %s%s", grout_report_get_outcome(report),
                 grout_report_get_diff(report));
    char *copy = malloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, text, size + 1);
    }
    grout_report_free(report);
    grout_check_free(check);
    grout_diags_free(diags);
    return copy;
}

static grout_report_form find_form(const char *word) {
    return strcmp(word, "json") == 0    ? GROUT_REPORT_JSON
           : strcmp(word, "sarif") == 0 ? GROUT_REPORT_SARIF
           : strcmp(word, "html") == 0  ? GROUT_REPORT_HTML
                                        : GROUT_REPORT_TEXT;
}

/* The report of a file. Returns what the command would exit with. */
static int check_file(const char *path, const char *form) {
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    const size_t size = file == NULL ? 0 : fread(text, 1, sizeof text, file);
    grout_diags *diags = grout_diags_new();
    grout_check *check = grout_check_new(path, text, size);
    grout_report *report = check == NULL ? NULL : grout_check_run(check, diags);
    grout_text out = {0};
    if (file == NULL || report == NULL || !grout_report_print(report, find_form(form), &out)) {
        fail("no report", diags);
    }
    (void)fclose(file);
    (void)fwrite(out.data, 1, out.size, stdout);
    const int exit_code = grout_report_get_exit_code(report);
    grout_text_free(&out);
    grout_report_free(report);
    grout_check_free(check);
    grout_diags_free(diags);
    return exit_code;
}

int main(int argc, char **argv) {
    if (argc == 3) {
        return check_file(argv[1], argv[2]);
    }
    check(wrong, NULL, NULL, "error");
    check(wrong, "sweep", "N=32,64", "error");
    check(wrong, "minimise", NULL, "error");
    check(wrong, "explore", NULL, "error");
    char *right = repair();
    if (right != NULL) {
        check(right, "advice", NULL, "clean");
    }
    free(right);
    return 0;
}
