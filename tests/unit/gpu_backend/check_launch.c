/* check_launch.c - launches on the fake driver of fake_cuda.c: what comes back, and every way to
 * fail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gpu_backend/run/launch.h"
#include "tests/tests.h"

#include <string.h>

#define COUNT 1000

static int32_t a[COUNT], b[COUNT], c[COUNT];

static const void *const images[] = {"good", "wrong architecture"};

static const grout_gpu_buffer buffers[] = {
    {.name = "a", .direction = GROUT_GPU_IN, .size = sizeof a, .input = a},
    {.name = "b", .direction = GROUT_GPU_IN, .size = sizeof b, .input = b},
    {.name = "c",
     .direction = GROUT_GPU_OUT,
     .size = sizeof c,
     .output = c,
     .fill = {.pattern = 0xa5a5a5a5, .pattern_size = 4}},
};

static const grout_gpu_param add_params[] = {
    {.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 0},
    {.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 1},
    {.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 2},
    {.kind = GROUT_GPU_PARAM_SCALAR, .scalar = {0xe7, 0x03}, .scalar_size = 4}, /* 999 */
};

static const grout_gpu_param watchdog_param[] = {{.kind = GROUT_GPU_PARAM_WATCHDOG}};

static grout_gpu_step make_step(const char *kernel) {
    return (grout_gpu_step){.kernel = kernel,
                            .shape = {.grid = {4, 1, 1}, .block = {128, 1, 1}},
                            .params = add_params,
                            .param_count = 4};
}

static grout_gpu_job make_launch(const grout_gpu_step *steps, uint32_t count) {
    return (grout_gpu_job){.cc_major = 9,
                           .images = images,
                           .image_count = 1,
                           .buffers = buffers,
                           .buffer_count = 3,
                           .steps = steps,
                           .step_count = count,
                           .timeout_ms = GROUT_TEST_SECONDS * 1000};
}

TEST(outputs_come_back) {
    const grout_gpu_step step = make_step("add");
    const grout_gpu_job launch = make_launch(&step, 1);
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    for (int i = 0; i < COUNT; i++) {
        a[i] = i;
        b[i] = 3 * i;
    }
    ck_assert_msg(grout_gpu__launch_run(&launch, &outcome, &error), "%s", error.text);
    for (int i = 0; i < COUNT - 1; i++) {
        ck_assert_int_eq(c[i], a[i] + b[i]);
    }
    ck_assert_uint_eq((uint32_t)c[COUNT - 1], 0xa5a5a5a5);
    ck_assert_str_eq(outcome.device.name, "Fake H200");
    ck_assert_int_eq(outcome.steps[0].info.registers, 40);
    ck_assert_int_eq(outcome.steps[0].info.ctas_per_sm, 2);
    ck_assert_uint_eq(outcome.steps[0].time_count, 0);
    grout_gpu__outcome_deinit(&outcome);
}

TEST(timed_steps_have_times) {
    grout_gpu_step steps[] = {make_step("add"), make_step("add")};
    steps[1].is_timed = true;
    steps[1].shape.cluster[0] = 2;
    grout_gpu_job launch = make_launch(steps, 2);
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    launch.timing.warm_up = 2;
    launch.timing.repeats = 4;
    launch.timing.flush_l2 = true;
    ck_assert_msg(grout_gpu__launch_run(&launch, &outcome, &error), "%s", error.text);
    ck_assert_uint_eq(outcome.steps[0].time_count, 0);
    ck_assert_uint_eq(outcome.steps[1].time_count, 4);
    ck_assert_float_eq(outcome.steps[1].median_ms, 1.0f);
    ck_assert_int_eq(outcome.steps[1].info.clusters_per_device, 66);
    grout_gpu__outcome_deinit(&outcome);
}

/* Scratch is filled before each run: the second one counts from zero again. */
TEST(scratch_is_new_for_each_run) {
    int32_t counted = 0;
    const grout_gpu_buffer own[] = {
        {.name = "y", .direction = GROUT_GPU_OUT, .size = 4, .output = &counted},
        {.name = "p",
         .direction = GROUT_GPU_SCRATCH,
         .size = 8,
         .fill = {.pattern = 0, .pattern_size = 8}},
    };
    const grout_gpu_param params[] = {{.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 0},
                                      {.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 1}};
    grout_gpu_step steps[] = {make_step("count"), make_step("count")};
    for (int k = 0; k < 2; k++) {
        steps[k].params = params;
        steps[k].param_count = 2;
    }
    grout_gpu_job launch = make_launch(steps, 2);
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    launch.buffers = own;
    launch.buffer_count = 2;
    ck_assert_msg(grout_gpu__launch_run(&launch, &outcome, &error), "%s", error.text);
    ck_assert_int_eq(counted, 1);
    grout_gpu__outcome_deinit(&outcome);
}

/* Scratch with contents of its own gets them anew, too. */
TEST(scratch_is_copied_for_each_run) {
    int32_t counted = 0;
    const int32_t contents[] = {41, 0};
    const grout_gpu_buffer own[] = {
        {.name = "y", .direction = GROUT_GPU_OUT, .size = 4, .output = &counted},
        {.name = "p", .direction = GROUT_GPU_SCRATCH, .size = 8, .input = contents},
    };
    const grout_gpu_param params[] = {{.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 0},
                                      {.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 1}};
    grout_gpu_step steps[] = {make_step("count"), make_step("count")};
    for (int k = 0; k < 2; k++) {
        steps[k].params = params;
        steps[k].param_count = 2;
    }
    grout_gpu_job launch = make_launch(steps, 2);
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    launch.buffers = own;
    launch.buffer_count = 2;
    ck_assert_msg(grout_gpu__launch_run(&launch, &outcome, &error), "%s", error.text);
    ck_assert_int_eq(counted, 42);
    grout_gpu__outcome_deinit(&outcome);
}

/* A programmatic step follows the one before it at once: nothing waits or fills in between. */
TEST(a_programmatic_step_follows_at_once) {
    int32_t counted = 0;
    const grout_gpu_buffer own[] = {
        {.name = "y", .direction = GROUT_GPU_OUT, .size = 4, .output = &counted},
        {.name = "p",
         .direction = GROUT_GPU_SCRATCH,
         .size = 8,
         .fill = {.pattern = 0, .pattern_size = 8}},
    };
    const grout_gpu_param params[] = {{.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 0},
                                      {.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 1}};
    grout_gpu_step steps[] = {make_step("count"), make_step("count"), make_step("count")};
    for (int k = 0; k < 3; k++) {
        steps[k].params = params;
        steps[k].param_count = 2;
        steps[k].shape.is_programmatic = k == 2;
    }
    grout_gpu_job launch = make_launch(steps, 3);
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    launch.buffers = own;
    launch.buffer_count = 2;
    ck_assert_msg(grout_gpu__launch_run(&launch, &outcome, &error), "%s", error.text);
    ck_assert_int_eq(counted, 2); /* the second step began anew, the third did not */
    grout_gpu__outcome_deinit(&outcome);
}

TEST(clusters_that_never_fit_are_refused) {
    grout_gpu_step step = make_step("add");
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    step.shape.grid[0] = step.shape.cluster[0] = 16;
    step.shape.block[0] = 1024;
    const grout_gpu_job launch = make_launch(&step, 1);
    ck_assert(!grout_gpu__launch_run(&launch, &outcome, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_GPU_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "a cluster of 16 CTAs with 1024 CUDA threads") != NULL, "%s",
                  error.text);
    grout_gpu__outcome_deinit(&outcome);
}

static const struct {
    const char *kernel;
    uint32_t image;
    grout_diag_code code;
    const char *text; /* part of it */
} failures[] = {
    {"fault", 0, GROUT_DIAG_GPU_FAULT, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {"hang", 0, GROUT_DIAG_GPU_HANG, "kernel 'hang' hung: 2 threads were waiting"},
    {"spin", 0, GROUT_DIAG_GPU_HANG, "within 500 ms"},
    {"die", 0, GROUT_DIAG_GPU_DRIVER, "ended by signal 6"},
    {"missing", 0, GROUT_DIAG_GPU_DRIVER, "find kernel 'missing'"},
    {"add", 1, GROUT_DIAG_GPU_UNSUPPORTED, "load the compiled kernel"},
};

TEST_EACH(failures_have_their_code, COUNT_OF(failures)) {
    grout_gpu_step step = make_step(failures[_i].kernel);
    step.image = failures[_i].image;
    step.params = watchdog_param;
    step.param_count = 1;
    grout_gpu_job launch = make_launch(&step, 1);
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    launch.image_count = failures[_i].image + 1;
    if (strcmp(failures[_i].kernel, "spin") == 0) {
        launch.timeout_ms = 500;
    }
    memset(c, 0x77, sizeof c);
    ck_assert(!grout_gpu__launch_run(&launch, &outcome, &error));
    ck_assert_int_eq(error.code, failures[_i].code);
    ck_assert_msg(strstr(error.text, failures[_i].text) != NULL, "%s", error.text);
    ck_assert_int_eq(c[0], 0x77777777); /* a failed launch leaves outputs alone */
    if (strcmp(failures[_i].kernel, "hang") == 0) {
        ck_assert_uint_eq(outcome.hang_count, 2);
        ck_assert_uint_eq(outcome.hangs[0].cta[0], 0);
        ck_assert_uint_eq(outcome.hangs[0].slot, 1);
        ck_assert_uint_eq(outcome.hangs[1].cta[0], 1);
    }
    grout_gpu__outcome_deinit(&outcome);
}

TEST(the_failing_step_is_named) {
    grout_gpu_step steps[] = {make_step("add"), make_step("fault"), make_step("add")};
    const grout_gpu_job launch = make_launch(steps, 3);
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    ck_assert(!grout_gpu__launch_run(&launch, &outcome, &error));
    ck_assert_uint_eq(outcome.failed_step, 1);
    grout_gpu__outcome_deinit(&outcome);
}

static bool cancel_soon(void *payload) {
    int *count = payload;
    return ++*count > 2;
}

TEST(a_launch_can_be_cancelled) {
    const grout_gpu_step step = make_step("spin");
    grout_gpu_job launch = make_launch(&step, 1);
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    int count = 0;
    launch.is_cancelled = cancel_soon;
    launch.payload = &count;
    ck_assert(!grout_gpu__launch_run(&launch, &outcome, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_INTERRUPTED);
    grout_gpu__outcome_deinit(&outcome);
}

TEST(other_devices_are_refused) {
    const grout_gpu_step step = make_step("add");
    grout_gpu_job launch = make_launch(&step, 1);
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    launch.cc_major = 10;
    ck_assert(!grout_gpu__launch_run(&launch, &outcome, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_GPU_MISSING);
    ck_assert_ptr_nonnull(strstr(error.text, "has 9.0"));
    grout_gpu__outcome_deinit(&outcome);
    launch.cc_major = 9;
    launch.device = 1;
    ck_assert(!grout_gpu__launch_run(&launch, &outcome, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_GPU_MISSING);
    grout_gpu__outcome_deinit(&outcome);
}

TEST(contradictions_are_found_before) {
    grout_gpu_param map = {.kind = GROUT_GPU_PARAM_TENSOR_MAP,
                           .map = {.type = GROUT_GPU_TENSOR_I32,
                                   .rank = 2,
                                   .dims = {20, 50},
                                   .strides_bytes = {0, 80},
                                   .box = {4, 8}}};
    grout_gpu_step step = make_step("other");
    step.params = &map;
    step.param_count = 1;
    const grout_gpu_job launch = make_launch(&step, 1);
    grout_gpu_error error = {0};
    ck_assert_msg(grout_gpu__launch_validate(&launch, &error), "%s", error.text);
    map.map.dims[1] = 51; /* one row more than the buffer has */
    ck_assert(!grout_gpu__launch_validate(&launch, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "reaches byte 4080 of 'a', which has 4000"));
    map.map.dims[1] = 50;
    map.map.box[0] = 3;
    ck_assert(!grout_gpu__launch_validate(&launch, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_TMA_INNER_BYTES);
    map.kind = GROUT_GPU_PARAM_BUFFER;
    map.buffer = 3;
    ck_assert(!grout_gpu__launch_validate(&launch, &error));
}

TEST(devices_can_be_asked_for) {
    grout_gpu_device devices[4];
    grout_gpu_error error = {0};
    uint32_t count = 0;
    ck_assert_msg(grout_gpu__probe_devices(devices, 4, &count, &error), "%s", error.text);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(devices[0].sm_count, 132);
}
