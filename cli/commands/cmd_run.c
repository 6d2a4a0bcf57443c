/* cmd_run.c - grout run: one kernel, on the CPU or on a GPU.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "comparing.h"
#include "listing.h"
#include "ptx_device.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

/* Devices that are no GPU's number. */
enum { ON_CPU = -1, ON_PTX_MACHINE = -2 };

/* "cpu", "cuda", "cuda:N", "ptx" */
static bool read_device(grout_session *session, int32_t *device) {
    const char *text = grout_options__get(&session->options, GROUT_OPTION_DEVICE);
    uint64_t number = 0;
    *device = ON_CPU;
    if (text == NULL || strcmp(text, "cpu") == 0) {
        return true;
    }
    if (strcmp(text, "ptx") == 0) {
        *device = ON_PTX_MACHINE;
        return true;
    }
    bool is_cuda = strcmp(text, "cuda") == 0 ||
                   (strncmp(text, "cuda:", 5) == 0 && grout_read_u64(text + 5, &number));
    if (!is_cuda || number > 1023) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "the value of --device is cpu, cuda[:N] or ptx, not '%.200s'", text);
    }
    *device = (int32_t)number;
    return true;
}

static bool check_options(grout_session *session, bool is_gpu) {
    static const grout_option_id gpu_only[] = {GROUT_OPTION_COMPARE, GROUT_OPTION_REPEATS,
                                               GROUT_OPTION_WARMUP, GROUT_OPTION_NO_WATCHDOG,
                                               GROUT_OPTION_NO_DEBUG_CHECKS};
    static const grout_option_id cpu_only[] = {GROUT_OPTION_NON_FINITE};
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

/* --check is of the CPU and of the PTX emulator. */
static bool check_check(grout_session *session, int32_t device) {
    return device < 0 || !grout_options__has(&session->options, GROUT_OPTION_RUN_CHECK) ||
           grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                           "--check goes with --device cpu or ptx");
}

static bool check_interleavings(grout_session *session, int32_t device) {
    return !grout_options__has(&session->options, GROUT_OPTION_INTERLEAVINGS) ||
           device == ON_PTX_MACHINE ||
           grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                           "--interleavings goes with --device ptx");
}

/* ---- the GPU -------------------------------------------------------------------------------- */

/* Which of the runs it is, from 1 on: several are of the PTX emulator. */
typedef struct gpu_turn {
    uint64_t number, count;
    bool differs; /* from the CPU, which is said already */
} gpu_turn;

/* The same launch on the CPU, run once. */
typedef struct cpu_work {
    bool is_run, is_done;
    grout_launch_settings settings;
    grout_argument_set arguments;
    grout_outcome outcome;
} cpu_work;

/* One launch on the GPU, and its result. */
typedef struct gpu_work {
    grout_session *session;
    grout_load *load;
    grout_kernel_id kernel;
    int32_t device;
    grout_reporter *report;
    grout_argument_set arguments;
    grout_gpu_result result;
    gpu_turn *turn; /* whose results the arguments are */
    cpu_work cpu;   /* of a launch outside of a list */
} gpu_work;

static bool has_backend(grout_session *session) {
    if (session->host->gpu == NULL) {
        grout_diags_add(session->diags, GROUT_DIAG_GPU_MISSING, grout_nowhere,
                        "this grout has no GPU backend");
        grout_diags_help(session->diags, "without --device cuda it runs on the CPU");
    }
    return session->host->gpu != NULL;
}

/* What the options say of a launch; its arguments are missing. */
static grout_gpu_launch make_launch(const gpu_work *work, const grout_nvrtc_search *search) {
    const grout_options *options = &work->session->options;
    uint64_t repeats = grout_options__get_count(options, GROUT_OPTION_REPEATS, 0);
    uint64_t warmup = grout_options__get_count(options, GROUT_OPTION_WARMUP, repeats > 0 ? 3 : 0);
    return (grout_gpu_launch){
        .module = work->load->bound,
        .kernel = work->kernel,
        .device = work->device,
        .timeout_seconds = grout_options__get_number(options, GROUT_OPTION_TIMEOUT, 0),
        .watchdog_seconds = grout_options__has(options, GROUT_OPTION_NO_WATCHDOG) ? -1 : 0,
        .warmup = warmup > UINT32_MAX ? UINT32_MAX : (uint32_t)warmup,
        .repeats = repeats > UINT32_MAX ? UINT32_MAX : (uint32_t)repeats,
        .no_debug_checks = grout_options__has(options, GROUT_OPTION_NO_DEBUG_CHECKS),
        .extern_source = work->load->externs.source.data,
        .nvrtc = search->options,
    };
}

/* Says on stderr how to have this run alone. */
static void note_turn(grout_session *session, const gpu_turn *turn) {
    grout_ptx_interleaving order = grout_ptx_interleaving__get(session, turn->number - 1);
    if (turn->count > 1) {
        grout_session__note(session, "interleaving %llu of %llu: --seed %llu --timing %s\n",
                            (unsigned long long)turn->number, (unsigned long long)turn->count,
                            (unsigned long long)order.seed, order.timing_text);
    }
}

/* Compares what a run has left with what the CPU makes of it. */
typedef bool (*compare_function)(void *payload);

/* Each interleaving on the PTX emulator, until one differs. The last one is the caller's to
 * compare. */
static bool run_on_machine(grout_session *session, const grout_gpu_launch *launch,
                           grout_gpu_result *result_out, gpu_turn *turn, compare_function compare,
                           void *payload) {
    const bool compares = grout_options__has(&session->options, GROUT_OPTION_COMPARE);
    grout_ptx_device *device = grout_ptx_device__new(session, launch);
    bool is_good = device != NULL, goes_on = is_good;
    while (goes_on) {
        is_good = grout_ptx_device__run(
            device, grout_ptx_interleaving__get(session, turn->number - 1), result_out);
        if (!is_good) {
            note_turn(session, turn);
        }
        goes_on = is_good && turn->number < turn->count;
        turn->differs = goes_on && compares && !compare(payload);
        goes_on = goes_on && !turn->differs;
        turn->number += goes_on;
    }
    if (is_good && !session->is_quiet) {
        grout_ptx_device__note_work(device);
    }
    grout_ptx_device__free(device);
    return is_good;
}

/* On the GPU, or on the machine that takes its place. */
static bool launch_all(const gpu_work *work, const grout_gpu_launch *launch,
                       grout_gpu_result *result_out, compare_function compare, void *payload) {
    return work->device == ON_PTX_MACHINE
               ? run_on_machine(work->session, launch, result_out, work->turn, compare, payload)
               : work->session->host->gpu->run(launch, result_out, work->session->diags);
}

static bool launch_on_gpu(gpu_work *work, compare_function compare) {
    grout_session *session = work->session;
    grout_nvrtc_search search;
    if (!has_backend(session)) {
        return false;
    }
    grout_nvrtc_search__init(&search, session);
    grout_gpu_launch launch = make_launch(work, &search);
    launch.arguments = work->arguments.arguments;
    launch.argument_count = work->arguments.count;
    launch.are_given = work->arguments.is_given;
    bool is_done = launch_all(work, &launch, &work->result, compare, work);
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
                                       .found = grout_comparing__report,
                                       .payload = work->report};
    uint32_t count = 0;
    bool is_equal =
        grout_comparing__with_cpu(&comparing, expected, &work->arguments, &tolerance, &count);
    if (!is_equal) {
        note_turn(session, work->turn);
    }
    if (is_equal && !session->is_json && work->turn->number == work->turn->count) {
        bool is_exact = tolerance.rtol == 0 && tolerance.atol == 0 && !tolerance.is_by_type;
        grout_session__print(
            session, GROUT_STREAM_OUT, "compared with the CPU: %u array%s equal, %s\n", count,
            count == 1 ? "" : "s",
            is_exact               ? "bit for bit"
            : tolerance.is_by_type ? "within the bound of their types for rounding (docs/gpu.md)"
                                   : "within the tolerance");
        if (work->turn->count > 1) {
            grout_session__print(session, GROUT_STREAM_OUT, "in each of %llu interleavings\n",
                                 (unsigned long long)work->turn->count);
        }
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
                                       .found = grout_comparing__report,
                                       .payload = work->report};
    grout_text differs = {0};
    grout_comparing__with_files(&comparing, &work->arguments, &differs);
    grout_text_free(&differs);
}

/* A launch on the CPU, to its end. */
static bool run_cpu(const gpu_work *work, const grout_launch_settings *settings,
                    const grout_argument_set *expected, grout_outcome *outcome) {
    grout_session *session = work->session;
    if (!grout_launch__run(session, work->load, work->kernel, expected, settings, outcome)) {
        return false;
    }
    if (outcome->cut == GROUT_CUT_INTERRUPT) {
        return grout_diags_add(
            session->diags, GROUT_DIAG_INTERRUPTED, grout_nowhere,
            "Ctrl-C or another signal ended the run on the CPU: nothing was compared");
    }
    if (outcome->status != GROUT_RUN_DONE) {
        const char *cut = grout_outcome__get_cut(outcome);
        return grout_diags_add(session->diags,
                               cut == NULL ? GROUT_DIAG_DEADLOCK : GROUT_DIAG_STEP_LIMIT,
                               grout_nowhere, "nothing was compared: on the CPU %s",
                               cut == NULL ? "the kernel deadlocks" : cut);
    }
    return true;
}

/* compare_function of one launch: the first call runs it on the CPU. */
static bool compare_with_cpu(void *payload) {
    gpu_work *work = payload;
    cpu_work *cpu = &work->cpu;
    if (!cpu->is_run) {
        cpu->is_run = true;
        cpu->settings = grout_launch_settings__get(work->session, false);
        cpu->settings.is_silent = true;
        cpu->is_done = grout_argument_set__init(work->session, &work->load->bindings,
                                                work->load->bound, work->kernel, &cpu->arguments) &&
                       run_cpu(work, &cpu->settings, &cpu->arguments, &cpu->outcome);
    }
    return cpu->is_done && compare_arrays(work, &cpu->settings, &cpu->arguments);
}

static void run_on_gpu(gpu_work *work) {
    grout_session *session = work->session;
    if (!grout_argument_set__init(session, &work->load->bindings, work->load->bound, work->kernel,
                                  &work->arguments) ||
        !launch_on_gpu(work, compare_with_cpu)) {
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
    if (grout_options__has(&session->options, GROUT_OPTION_COMPARE) && !work->turn->differs) {
        (void)compare_with_cpu(work);
    }
    compare_with_files(work);
    (void)grout_argument_set__write(session, &work->load->bindings, work->load->bound, work->kernel,
                                    &work->arguments);
}

/* ---- a launch list on the GPU ---------------------------------------------------------------- */

/* All launches of the list, on the GPU. */
typedef struct gpu_list {
    gpu_work *works; /* by launch */
    grout_gpu_launch *launches;
    size_t count;
} gpu_list;

static bool is_listed(const gpu_work *work) {
    return grout_listing__is_wanted(work->session, work->load);
}

/* Their arguments: arrays of one name are the listing's one array. */
static bool make_list(const gpu_work *base, grout_listing *listing, gpu_list *out) {
    size_t count = grout_module_get_launch_count(base->load->bound) - 1;
    out->works = calloc(count, sizeof *out->works);
    out->launches = calloc(count, sizeof *out->launches);
    if (out->works == NULL || out->launches == NULL) {
        (void)grout_diags_add_oom(base->session->diags);
        return false;
    }
    for (out->count = 0; out->count < count; out->count++) {
        gpu_work *work = &out->works[out->count];
        grout_launch_settings settings = grout_launch_settings__get(base->session, false);
        *work = *base;
        work->kernel = grout_listing__begin(listing, &work->arguments, &settings);
        if (work->kernel == 0) {
            grout_argument_set__deinit(&work->arguments);
            return false;
        }
    }
    return true;
}

static bool launch_list(gpu_list *list, compare_function compare) {
    grout_session *session = list->works->session;
    const grout_module *module = list->works->load->bound;
    grout_nvrtc_search search;
    if (!has_backend(session)) {
        return false;
    }
    grout_nvrtc_search__init(&search, session);
    for (size_t i = 0; i < list->count; i++) {
        grout_gpu_launch *launch = &list->launches[i];
        *launch = make_launch(&list->works[i], &search);
        launch->arguments = list->works[i].arguments.arguments;
        launch->argument_count = list->works[i].arguments.count;
        launch->are_given = list->works[i].arguments.is_given;
        launch->is_dependent =
            grout_module_get_launch(module, (grout_launch_id)i + 1)->is_dependent;
        launch->next = i + 1 < list->count ? launch + 1 : NULL;
    }
    bool is_done = launch_all(list->works, list->launches, &list->works->result, compare, list);
    grout_nvrtc_search__deinit(&search);
    return is_done;
}

/* compare_function of a list: runs the same launches on the CPU. */
static bool compare_list(void *payload) {
    const gpu_list *list = payload;
    grout_session *session = list->works->session;
    grout_listing listing;
    bool is_equal = true;
    grout_listing__init(&listing, session, list->works->load, 0);
    for (size_t i = 0; i < list->count && is_equal; i++) {
        const gpu_work *work = &list->works[i];
        grout_argument_set expected = {0};
        grout_outcome outcome = {0};
        grout_launch_settings settings = grout_launch_settings__get(session, false);
        settings.is_silent = true;
        is_equal = grout_listing__begin(&listing, &expected, &settings) != 0 &&
                   run_cpu(work, &settings, &expected, &outcome) &&
                   compare_arrays(work, &settings, &expected) && grout_listing__end(&listing);
        grout_outcome__deinit(&outcome);
        grout_argument_set__deinit(&expected);
    }
    grout_listing__deinit(&listing);
    return is_equal;
}

static void run_list_on_gpu(const gpu_work *base) {
    grout_session *session = base->session;
    grout_listing listing;
    gpu_list list = {0};
    grout_listing__init(&listing, session, base->load, 0);
    if (grout_options__has(&session->options, GROUT_OPTION_REPEATS)) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                        "--repeats times one kernel, and the file has a launch list");
        grout_diags_help(session->diags, "choose a kernel with --kernel");
    } else if (make_list(base, &listing, &list) && launch_list(&list, compare_list)) {
        const grout_gpu_result *result = &list.works->result;
        if (!session->is_quiet) {
            grout_session__note(session, "ran on %s%s\n", result->device_name,
                                result->cubin_from_cache ? " (compiled kernel from the cache)"
                                                         : "");
        }
        if (grout_options__has(&session->options, GROUT_OPTION_COMPARE) && !base->turn->differs) {
            (void)compare_list(&list);
        }
        for (size_t i = 0; i < list.count; i++) {
            compare_with_files(&list.works[i]);
            (void)grout_argument_set__write(session, &base->load->bindings, base->load->bound,
                                            list.works[i].kernel, &list.works[i].arguments);
        }
    }
    for (size_t i = 0; i < list.count; i++) {
        grout_argument_set__deinit(&list.works[i].arguments);
    }
    free(list.works);
    free(list.launches);
    grout_listing__deinit(&listing);
}

static int run_file_on_gpu(grout_session *session, int32_t device) {
    grout_bytes text = {0};
    grout_load load;
    grout_reporter report = {0};
    if (grout_work__load(session, session->options.arguments[0], true, &text, &load, &report)) {
        gpu_turn turn = {
            .number = 1,
            .count = grout_options__get_count(&session->options, GROUT_OPTION_INTERLEAVINGS, 1)};
        gpu_work work = {.session = session,
                         .load = &load,
                         .kernel = load.kernels[0],
                         .device = device,
                         .report = &report,
                         .turn = &turn};
        report.is_run = true;
        if (!grout_load__check_arch(session, &load, "'grout run --device' compiles")) {
            report.is_run = false;
        } else if (is_listed(&work)) {
            run_list_on_gpu(&work);
        } else {
            run_on_gpu(&work);
        }
        grout_argument_set__deinit(&work.arguments);
        grout_argument_set__deinit(&work.cpu.arguments);
        grout_outcome__deinit(&work.cpu.outcome);
        grout_reporter__add_diags(&report);
    }
    grout_reporter__finish(&report);
    int exit_code = session->host->is_interrupted(session->host->payload)
                        ? GROUT_EXIT_INTERRUPTED
                        : grout_work__get_exit_code(session, &report);
    grout_reporter__deinit(&report);
    grout_load__deinit(&load);
    free(text.data);
    return exit_code;
}

int grout_cmd_run(grout_session *session) {
    int32_t device;
    if (!read_device(session, &device) || !check_options(session, device != ON_CPU) ||
        !check_interleavings(session, device) || !check_check(session, device)) {
        grout_session__print_diags(session, GROUT_STREAM_ERR);
        return GROUT_EXIT_USAGE;
    }
    if (device != ON_CPU) {
        return run_file_on_gpu(session, device);
    }
    bool with_checker = grout_options__has(&session->options, GROUT_OPTION_RUN_CHECK);
    return grout_work__run_on_cpu(session, session->options.arguments[0], with_checker, true);
}
