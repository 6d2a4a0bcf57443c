/* check_kernels.c - every kernel parsed, printed, bound, verified and printed again with the n-th
 * allocation failing, for every n: the whole text comes out, or a diagnostic says why not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"
#include "kernel_files.h"
#include "tests/tests.h"

static kernel_files files;

typedef struct front_end {
    const char *path;
    grout_text text;     /* the file */
    grout_text expected; /* what printing gives with memory enough */
} front_end;

/* Prints what the stages make of the file; false if one of them fails. */
static bool run_stages(const front_end *f, grout_text *printed, grout_diags *diags) {
    grout_module *bound = NULL;
    grout_module *symbolic = grout_parse(f->path, f->text.data, f->text.size, diags);
    if (symbolic != NULL) {
        grout_module_print(symbolic, printed);
        bound = grout_module_bind(symbolic, NULL, 0, diags);
    }
    bool is_done = false;
    if (bound != NULL) {
        is_done = grout_verify(bound, GROUT_ARCH_OWN, diags);
        grout_module_print(bound, printed);
    }
    grout_module_free(bound);
    grout_module_free(symbolic);
    return is_done;
}

static bool work(void *payload) {
    front_end *f = payload;
    grout_text printed = {0};
    failing_begin();
    grout_diags *diags = grout_diags_new();
    const bool is_done = diags != NULL && run_stages(f, &printed, diags);
    failing_end();
    if (diags != NULL && !is_done) {
        failing_assert_reported(diags);
    } else if (is_done) {
        ck_assert_msg(!grout_diags_has_errors(diags), "%s: done, with an error", f->path);
    }
    const bool is_printed = is_done && !printed.failed;
    if (is_printed) {
        ck_assert_msg(strcmp(printed.data, f->expected.data) == 0, "%s: another text", f->path);
    }
    grout_text_free(&printed);
    grout_diags_free(diags);
    return is_printed;
}

TEST_EACH(kernels_come_out_whole_or_not_at_all, 2 * files.count) {
    front_end f = {.path = files.paths[_i / 2]};
    f.text = read_source(f.path);
    grout_diags *diags = grout_diags_new();
    ck_assert(run_stages(&f, &f.expected, diags));
    grout_diags_free(diags);
    failing_try_all(_i % 2 == 1, work, &f);
    grout_text_free(&f.text);
    grout_text_free(&f.expected);
}

int main(void) {
    if (!kernel_files_add(&files, ".") || !kernel_files_add(&files, GROUT_TEST_BUGS) ||
        !kernel_files_add(&files, "../tests/behaviour/tilings")) {
        return EXIT_FAILURE;
    }
    return run_tests();
}
