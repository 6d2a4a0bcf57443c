/* check_hangs.c - what is said of a launch that hung, from records as the watchdog writes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gpu_backend/run/hangs.h"
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

static const char kernel[] = "kernel @k(%y: out gmem f32[64, 64]) grid(g = 100) cluster(c = 2)\n"
                             "    threads(t = 2)\n"
                             "{\n"
                             "  scratch %full : barrier[2]\n"
                             "  scratch %done : semaphore[3] global\n"
                             "  barrier_wait %full[1]\n"
                             "  semaphore_wait %done[2], 5\n"
                             "  debug_check true, \"{} and {}\", -3, f16:1.5\n"
                             "  debug_check (broadcast true : bool[2, 4]), \"of a part\"\n"
                             "}\n";

/* The number of the kernel's debug_check at a line. */
static uint32_t find_check(const grout_module *module, uint32_t line) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        if (op->opcode == GROUT_OP_DEBUG_CHECK &&
            grout_module_get_place(module, op->loc).line == line) {
            return id;
        }
    }
    return 0;
}

/* Everything that was said, rendered. Records of a debug_check lack its number. */
static grout_text report_as(grout_diag_code code, const grout_gpu_hang *hangs, uint32_t count,
                            int clusters_per_device) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("hang.grout", kernel, diags);
    grout_gpu_plan plan;
    grout_gpu_step_result step = {.info = {.clusters_per_device = clusters_per_device}};
    grout_gpu_hang copies[4];
    memcpy(copies, hangs, count * sizeof *hangs);
    for (uint32_t i = 0; i < count; i++) {
        copies[i].barrier = hangs[i].code == GROUT_GPU_HANG_CHECK && hangs[i].barrier == 0
                                ? find_check(module, hangs[i].line)
                                : hangs[i].barrier;
    }
    const grout_gpu_outcome outcome = {
        .steps = &step, .step_count = 1, .hangs = copies, .hang_count = count};
    ck_assert(grout_gpu__plan_init(&plan, module, 1, diags));
    const grout_gpu_hang_report what = {module, grout_module_get_kernel(module, 1), &plan, &outcome,
                                        diags};
    const grout_gpu_error error = {.code = code, .text = "kernel 'k' hung"};
    grout_gpu__report_failure(&what, &error);
    grout_text text = {0};
    const grout_render_options plain = {.color = false};
    grout_diags_render(diags, &plain, &text);
    grout_gpu__plan_deinit(&plan);
    grout_module_free(module);
    grout_diags_free(diags);
    return text;
}

static grout_text report(const grout_gpu_hang *hangs, uint32_t count, int clusters_per_device) {
    return report_as(GROUT_DIAG_GPU_HANG, hangs, count, clusters_per_device);
}

static void check_says(const grout_text *text, const char *part, bool says) {
    ck_assert_msg((strstr(text->data, part) != NULL) == says, "%s '%s' in\n%s",
                  says ? "no" : "unwanted", part, text->data);
}

TEST(barriers_and_semaphores_have_names) {
    const grout_gpu_hang hangs[] = {
        {.code = 1, .cta = {5}, .thread = 1, .slot = 1, .line = 6, .waited_ns = 2000000000},
        {.code = 2, .cta = {6}, .slot = 2, .parity = 5, .line = 7, .waited_ns = 1500000000},
        {.code = 2, .cta = {8}, .slot = 2, .parity = 5, .line = 7, .waited_ns = 1500000000}};
    grout_text text = report(hangs, 3, 100);
    check_says(&text, "hang.grout:6:3: error: kernel 'k' hung [gpu-hang]", true);
    check_says(&text,
               "CTA 5 (rank 1 of cluster 2), thread 1 waits for a phase of parity 0 of %full[1] "
               "since 2.0 s",
               true);
    check_says(&text,
               "CTA 6 (rank 0 of cluster 3), thread 0 waits for 5 units of "
               "%done[2] since 1.5 s, and so do 1 CTAs more",
               true);
    check_says(&text, "at a time", false);
    grout_text_free(&text);
}

TEST(warps_are_told_from_threads) {
    const grout_gpu_hang hangs[] = {{.code = 1, .cta = {4}, .line = 6, .actor = 4},
                                    {.code = 1, .cta = {4}, .line = 6}};
    grout_text text = report(hangs, 2, 100);
    check_says(&text, "CTA 4 (rank 0 of cluster 2), thread 0, warp 3 waits for", true);
    check_says(&text, "CTA 4 (rank 0 of cluster 2), thread 0 waits for", true);
    grout_text_free(&text);
}

TEST(numbers_that_stand_for_nothing) {
    const grout_gpu_hang hangs[] = {{.code = 2, .barrier = 77, .line = 6},
                                    {.code = 1, .barrier = 77, .line = 6}};
    grout_text text = report(hangs, 2, 100);
    check_says(&text, "of %?[0]", true);
    grout_text_free(&text);
}

/* 60 clusters are resident, and the launch has 100 that wait for each other. */
TEST(clusters_without_room) {
    const grout_gpu_hang hang = {.code = 2, .slot = 2, .parity = 5, .line = 7};
    grout_text text = report(&hang, 1, 60);
    check_says(&text,
               "this waits for other CTAs, of which the launch has 200, and "
               "the GPU runs 120 at a time",
               true);
    check_says(&text, "launch at most 120 CTAs", true);
    grout_text_free(&text);
}

/* The time limit ended it: nobody wrote a record. */
TEST(nobody_said_anything) {
    const grout_gpu_hang none = {0};
    grout_text text = report(&none, 0, 100);
    check_says(&text, "hang.grout:1:", true);
    check_says(&text, "waits for", false);
    grout_text_free(&text);
}

/* Values by their bits; what a lane does not have is a question mark; waits are not the cause. */
TEST(checks_have_their_text) {
    const grout_gpu_hang hangs[] = {
        {.code = 3, .cta = {5}, .thread = 1, .line = 8, .values = {(uint32_t)-3, 0x3e00}},
        {.code = 3, .cta = {6}, .line = 8, .parity = 2, .values = {7}},
        {.code = 3, .cta = {7}, .line = 9, .slot = 6},
        {.code = 1, .cta = {8}, .line = 6}};
    grout_text text = report_as(GROUT_DIAG_DEBUG_CHECK_FAILED, hangs, 4, 100);
    check_says(&text, "hang.grout:8:3: error: kernel 'k' hung [debug-check-failed]", true);
    check_says(&text, "CTA 5 (rank 1 of cluster 2), thread 1: -3 and 1.5", true);
    check_says(&text, "CTA 6 (rank 0 of cluster 3), thread 0: 7 and ?", true);
    check_says(&text, "thread 0, element [1, 2]: of a part", true);
    check_says(&text, "waits for", false);
    grout_text_free(&text);
}

/* A number that is no debug_check of the module. */
TEST(checks_that_stand_for_nothing) {
    const grout_gpu_hang hangs[] = {{.code = 3, .barrier = 1, .line = 8},
                                    {.code = 3, .barrier = 7777, .line = 8}};
    grout_text text = report_as(GROUT_DIAG_DEBUG_CHECK_FAILED, hangs, 2, 100);
    check_says(&text, "hang.grout:1:", true);
    check_says(&text, "[debug-check-failed]", true);
    grout_text_free(&text);
}
