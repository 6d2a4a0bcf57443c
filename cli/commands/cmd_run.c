/* cmd_run.c - grout run: one kernel, on the CPU or on a GPU.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "comparing.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

/* "cpu", "cuda", "cuda:N"; device -1: the CPU. */
static bool read_device(grout_session *session, int32_t *device) {
    const char *text = grout_options__get(&session->options, GROUT_OPTION_DEVICE);
    uint64_t number = 0;
    *device = -1;
    if (text == NULL || strcmp(text, "cpu") == 0) {
        return true;
    }
    bool is_cuda = strcmp(text, "cuda") == 0 ||
                   (strncmp(text, "cuda:", 5) == 0 && grout_read_u64(text + 5, &number));
    if (!is_cuda || number > 1023) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "the value of --device is cpu or cuda[:N], not '%.200s'", text);
    }
    *device = (int32_t)number;
    return true;
}

static bool check_options(grout_session *session, bool is_gpu) {
    static const grout_option_id gpu_only[] = {GROUT_OPTION_COMPARE, GROUT_OPTION_REPEATS,
                                               GROUT_OPTION_WARMUP, GROUT_OPTION_NO_WATCHDOG,
                                               GROUT_OPTION_NO_DEBUG_CHECKS};
    static const grout_option_id cpu_only[] = {GROUT_OPTION_RUN_CHECK, GROUT_OPTION_NON_FINITE};
    const grout_option_id *ids = is_gpu ? cpu_only : gpu_only;
    size_t count =
        is_gpu ? sizeof cpu_only / sizeof cpu_only[0] : sizeof gpu_only / sizeof gpu_only[0];
    bool is_good = true;
    for (size_t i = 0; i < count; i++) {
        if (grout_options__has(&session->options, ids[i])) {
            is_good = grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                                      is_gpu ? "--%s goes with --device cpu"
                                             : "--%s goes with --device cuda",
                                      grout_option__get_info(ids[i])->long_text);
        }
    }
    return is_good;
}

/* ---- the GPU -------------------------------------------------------------------------------- */

/* One launch on the GPU, and its result. */
typedef struct gpu_work {
    grout_session *session;
    grout_load *load;
    grout_kernel_id kernel;
    int32_t device;
    grout_report *report;
    grout_argument_set arguments;
    grout_gpu_result result;
} gpu_work;

static bool launch_on_gpu(gpu_work *work) {
    grout_session *session = work->session;
    const grout_options *options = &session->options;
    grout_nvrtc_search search;
    if (session->host->gpu == NULL) {
        grout_diags_add(session->diags, GROUT_DIAG_GPU_MISSING, grout_nowhere,
                        "this grout has no GPU backend");
        grout_diags_help(session->diags, "without --device cuda it runs on the CPU");
        return false;
    }
    grout_nvrtc_search__init(&search, session);
    uint64_t repeats = grout_options__get_count(options, GROUT_OPTION_REPEATS, 0);
    uint64_t warmup = grout_options__get_count(options, GROUT_OPTION_WARMUP, repeats > 0 ? 3 : 0);
    grout_gpu_launch launch = {
        .module = work->load->bound,
        .kernel = work->kernel,
        .arguments = work->arguments.arguments,
        .argument_count = work->arguments.count,
        .device = work->device,
        .timeout_seconds = grout_options__get_number(options, GROUT_OPTION_TIMEOUT, 0),
        .watchdog_seconds = grout_options__has(options, GROUT_OPTION_NO_WATCHDOG) ? -1 : 0,
        .warmup = warmup > UINT32_MAX ? UINT32_MAX : (uint32_t)warmup,
        .repeats = repeats > UINT32_MAX ? UINT32_MAX : (uint32_t)repeats,
        .no_debug_checks = grout_options__has(options, GROUT_OPTION_NO_DEBUG_CHECKS),
        .extern_source = work->load->externs.source.data,
        .nvrtc = search.options,
    };
    bool is_done = session->host->gpu->run(&launch, &work->result, session->diags);
    grout_nvrtc_search__deinit(&search);
    return is_done;
}

static void print_timing(const gpu_work *work) {
    const grout_gpu_result *result = &work->result;
    uint64_t repeats = grout_options__get_count(&work->session->options, GROUT_OPTION_REPEATS, 0);
    if (repeats == 0 || result->median_seconds <= 0) {
        return;
    }
    grout_session__print(
        work->session, GROUT_STREAM_OUT,
        "%s: median %.3f us of %llu launches (least %.3f, most %.3f); %.3f TB/s if "
        "each array moves once\n",
        result->device_name, result->median_seconds * 1e6, (unsigned long long)repeats,
        result->min_seconds * 1e6, result->max_seconds * 1e6,
        (double)work->arguments.bytes / result->median_seconds * 1e-12);
}

/* The compare rule's tolerance, unless the options give one. */
static grout_compare_options get_tolerance(const gpu_work *work, grout_numerics numerics) {
    const grout_options *options = &work->session->options;
    grout_compare_options tolerance = grout_compare_get_default(
        work->load->bound, work->kernel,
        grout_bindings__are_whole(&work->load->bindings, work->load->bound, work->kernel),
        numerics == GROUT_NUMERICS_EXACT);
    tolerance.is_by_type = tolerance.is_by_type &&
                           !grout_options__has(options, GROUT_OPTION_RTOL) &&
                           !grout_options__has(options, GROUT_OPTION_ATOL);
    tolerance.rtol = grout_options__get_number(options, GROUT_OPTION_RTOL, tolerance.rtol);
    tolerance.atol = grout_options__get_number(options, GROUT_OPTION_ATOL, tolerance.atol);
    return tolerance;
}

static bool compare_arrays(const gpu_work *work, const grout_launch_settings *settings,
                           const grout_argument_set *expected) {
    grout_session *session = work->session;
    const grout_compare_options tolerance = get_tolerance(work, settings->numerics);
    const grout_comparing comparing = {.session = session,
                                       .load = work->load,
                                       .kernel = work->kernel,
                                       .settings = settings,
                                       .report = work->report};
    uint32_t count = 0;
    bool is_equal =
        grout_comparing__with_cpu(&comparing, expected, &work->arguments, &tolerance, &count);
    if (is_equal && !session->is_json) {
        bool is_exact = tolerance.rtol == 0 && tolerance.atol == 0 && !tolerance.is_by_type;
        grout_session__print(
            session, GROUT_STREAM_OUT, "compared with the CPU: %u array%s equal, %s\n", count,
            count == 1 ? "" : "s",
            is_exact               ? "bit for bit"
            : tolerance.is_by_type ? "within the bound of their types for rounding (docs/gpu.md)"
                                   : "within the tolerance");
    }
    return is_equal;
}

/* Compares with the --expect-output files. Who wrote what differs is asked of a run on the CPU, if
 * that writes the same. */
static void compare_with_files(const gpu_work *work) {
    const grout_launch_settings settings = grout_launch_settings__get(work->session, false);
    const grout_comparing comparing = {.session = work->session,
                                       .load = work->load,
                                       .kernel = work->kernel,
                                       .settings = &settings,
                                       .report = work->report};
    grout_text differs = {0};
    grout_comparing__with_files(&comparing, &work->arguments, &differs);
    grout_text_free(&differs);
}

/* The same launch on the CPU, and all arrays that were written compared. */
static bool compare_with_cpu(const gpu_work *work) {
    grout_session *session = work->session;
    grout_argument_set expected = {0};
    grout_outcome outcome = {0};
    grout_launch_settings settings = grout_launch_settings__get(session, false);
    settings.is_silent = true;
    bool is_equal =
        grout_argument_set__init(session, &work->load->bindings, work->load->bound, work->kernel,
                                 &expected) &&
        grout_launch__run(session, work->load, work->kernel, &expected, &settings, &outcome);
    if (is_equal && outcome.cut == GROUT_CUT_INTERRUPT) {
        is_equal = grout_diags_add(session->diags, GROUT_DIAG_INTERRUPTED, grout_nowhere,
                                   "Ctrl-C ended the run on the CPU: nothing was compared");
    } else if (is_equal && outcome.status != GROUT_RUN_DONE) {
        const char *cut = grout_outcome__get_cut(&outcome);
        is_equal = grout_diags_add(session->diags,
                                   cut == NULL ? GROUT_DIAG_DEADLOCK : GROUT_DIAG_STEP_LIMIT,
                                   grout_nowhere, "nothing was compared: on the CPU %s",
                                   cut == NULL ? "the kernel deadlocks" : cut);
    } else if (is_equal) {
        is_equal = compare_arrays(work, &settings, &expected);
    }
    grout_outcome__deinit(&outcome);
    grout_argument_set__deinit(&expected);
    return is_equal;
}

static void run_on_gpu(gpu_work *work) {
    grout_session *session = work->session;
    if (!grout_argument_set__init(session, &work->load->bindings, work->load->bound, work->kernel,
                                  &work->arguments) ||
        !launch_on_gpu(work)) {
        return;
    }
    grout_argument_set__note_rounding(session, &work->load->bindings, work->load->bound,
                                      work->kernel);
    if (!session->is_quiet) {
        grout_session__note(session, "ran on %s%s\n", work->result.device_name,
                            work->result.cubin_from_cache ? " (compiled kernel from the cache)"
                                                          : "");
    }
    if (!session->is_json) {
        print_timing(work);
    }
    if (grout_options__has(&session->options, GROUT_OPTION_COMPARE)) {
        (void)compare_with_cpu(work);
    }
    compare_with_files(work);
    (void)grout_argument_set__write(session, &work->load->bindings, work->load->bound, work->kernel,
                                    &work->arguments);
}

static int run_file_on_gpu(grout_session *session, int32_t device) {
    grout_bytes text = {0};
    grout_load load;
    grout_report report = {0};
    if (grout_work__load(session, session->options.arguments[0], true, &text, &load, &report)) {
        gpu_work work = {.session = session,
                         .load = &load,
                         .kernel = load.kernels[0],
                         .device = device,
                         .report = &report};
        report.is_run = true;
        run_on_gpu(&work);
        grout_argument_set__deinit(&work.arguments);
        grout_report__add_diags(&report);
    }
    grout_report__finish(&report);
    int exit_code = session->host->is_interrupted(session->host->payload)
                        ? GROUT_EXIT_INTERRUPTED
                        : grout_work__get_exit_code(session, &report);
    grout_report__deinit(&report);
    grout_load__deinit(&load);
    free(text.data);
    return exit_code;
}

int grout_cmd_run(grout_session *session) {
    int32_t device;
    if (!read_device(session, &device) || !check_options(session, device >= 0)) {
        grout_session__print_diags(session, GROUT_STREAM_ERR);
        return GROUT_EXIT_USAGE;
    }
    if (device >= 0) {
        return run_file_on_gpu(session, device);
    }
    bool with_checker = grout_options__has(&session->options, GROUT_OPTION_RUN_CHECK);
    return grout_work__run_on_cpu(session, session->options.arguments[0], with_checker, true);
}
