/* check_emit.c - CUDA, launcher and manifest of every kernel with the n-th allocation failing, for
 * every n: the whole text comes out, or a diagnostic says why not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"
#include "grout-internal/gpu.h"
#include "kernel_files.h"
#include "tests/tests.h"

static kernel_files files;

typedef struct emission {
    const char *path;
    const grout_module *module;
    grout_kernel_id kernel;
    int what;            /* an index into emitters */
    grout_text expected; /* with memory enough */
} emission;

static bool emit_cuda(const emission *e, grout_text *out, grout_diags *diags) {
    const grout_emit_options options = {.watchdog = true, .line_directives = true};
    return grout_emit_cuda(e->module, e->kernel, &options, out, diags);
}
static bool emit_host(const emission *e, grout_text *out, grout_diags *diags) {
    return grout_emit_host(e->module, e->kernel, out, diags);
}
static bool emit_manifest(const emission *e, grout_text *out, grout_diags *diags) {
    return grout_emit_manifest(e->module, e->kernel, out, diags);
}
static bool (*const emitters[])(const emission *e, grout_text *out,
                                grout_diags *diags) = {emit_cuda, emit_host, emit_manifest};
enum { EMITTER_COUNT = sizeof emitters / sizeof emitters[0] };

static bool work(void *payload) {
    const emission *e = payload;
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    failing_begin();
    const bool is_done = emitters[e->what](e, &text, diags);
    failing_end();
    if (is_done) {
        ck_assert_uint_eq(grout_diags_count(diags), 0);
        ck_assert_msg(strcmp(text.data, e->expected.data) == 0, "%s: another text", e->path);
    } else {
        failing_assert_reported(diags);
    }
    grout_text_free(&text);
    grout_diags_free(diags);
    return is_done;
}

TEST_EACH(texts_come_out_whole_or_not_at_all, 2 * files.count) {
    emission e = {.path = files.paths[_i / 2]};
    grout_module *module = bind_source(e.path);
    e.module = module;
    for (e.kernel = 1; e.kernel < grout_module_get_kernel_count(module); e.kernel++) {
        const uint8_t arch = grout_module_get_kernel(module, e.kernel)->arch;
        const int count = arch == GROUT_ARCH_SM_90A ? EMITTER_COUNT : 0; /* no CUDA of others yet */
        for (e.what = 0; e.what < count; e.what++) {
            grout_diags *diags = grout_diags_new();
            ck_assert(emitters[e.what](&e, &e.expected, diags));
            grout_diags_free(diags);
            failing_fork_all(_i % 2 == 1, work, &e);
            grout_text_free(&e.expected);
        }
    }
    grout_module_free(module);
}

int main(void) {
    if (!kernel_files_add(&files, ".")) {
        return EXIT_FAILURE;
    }
    /* Contents that are listed: no kernel of the showcase has any. */
    (void)snprintf(files.paths[files.count++], sizeof files.paths[0],
                   "tests/differential/inits.grout");
    return run_tests();
}
