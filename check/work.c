/* work.c - a file's kernels, launched on the CPU and reported.
 * SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include "costs.h"
#include "files.h"
#include "goes_on.h"
#include "invariant.h"
#include "joined.h"
#include "listing.h"
#include "propose.h"
#include "reference.h"
#include "schedule_file.h"
#include "seen.h"
#include "starts.h"
#include "tilings.h"

#include <stdlib.h>
#include <string.h>

bool grout_work__load(grout_session *session, const char *path, bool needs_one, grout_bytes *text,
                      grout_load *load, grout_reporter *report) {
    *load = (grout_load){.name = grout_load__get_name(path)};
    if (!grout_reporter__init(report, session, load, text)) {
        return false;
    }
    bool is_loaded = grout_session__read_file(session, path, GROUT_FILE_MAX, text) &&
                     grout_load__init(session, path, text, needs_one, load) &&
                     grout_reporter__read_rules(report);
    grout_session__apply_severities(session);
    grout_reporter__add_diags(report);
    if (is_loaded) {
        grout_tilings__note(session, load);
        grout_costs__note(session, load);
    }
    return is_loaded;
}

int grout_work__get_worse(int a, int b) {
    return grout_exit_code_rank(a) >= grout_exit_code_rank(b) ? a : b;
}

int grout_work__get_exit_code(const grout_session *session, const grout_reporter *report) {
    int exit_code = grout_session__get_exit_code(session);
    if (report->error_count > 0) {
        exit_code = grout_work__get_worse(exit_code, GROUT_EXIT_FINDING);
    }
    if (report->is_incomplete) {
        exit_code = grout_work__get_worse(exit_code, GROUT_EXIT_INCOMPLETE);
    }
    return exit_code;
}

static void print_stats(grout_session *session, const grout_argument_set *arguments,
                        const grout_outcome *outcome) {
    const grout_run_stats *stats = &outcome->stats;
    grout_session__note(session,
                        "stats: %llu operations, %llu async operations, %llu events, %lld CTAs, "
                        "%llu KiB of arrays, %llu KiB of machine, %.3f s\n",
                        (unsigned long long)stats->steps, (unsigned long long)stats->async_ops,
                        (unsigned long long)stats->events, (long long)stats->ctas_done,
                        (unsigned long long)(arguments->bytes >> 10),
                        (unsigned long long)(stats->peak_bytes >> 10), outcome->seconds);
    if (outcome->checker != NULL) {
        const grout_check_summary *summary = &outcome->summary;
        grout_session__note(session,
                            "stats: checker: %llu accesses, %llu barrier phases, %llu KiB of "
                            "shadow\n",
                            (unsigned long long)summary->accesses,
                            (unsigned long long)summary->barrier_phases,
                            (unsigned long long)(summary->shadow_bytes_peak >> 10));
    }
}

/* A deadlock of a run without the checker, which would have explained it. */
static void note_deadlock(grout_session *session, const grout_load *load, grout_kernel_id kernel) {
    const grout_kernel *info = grout_module_get_kernel(load->bound, kernel);
    grout_diags_add(session->diags, GROUT_DIAG_DEADLOCK,
                    grout_module_get_place(load->bound, info->loc),
                    "no thread of '@%s' can run on, and nothing is in flight",
                    grout_module_get_string(load->bound, info->name));
    grout_diags_help(session->diags, "'grout check %s' says who waits for what", load->name);
}

/* Results of made-up inputs are nobody's. */
static void note_invented_inputs(grout_session *session, const grout_load *load,
                                 grout_kernel_id kernel, grout_launch_id launch) {
    grout_text inputs = {0};
    const char *first =
        grout_bindings__describe_invented(&load->bindings, load->bound, kernel, launch, &inputs);
    if (first != NULL && inputs.data != NULL) {
        const grout_kernel *info = grout_module_get_kernel(load->bound, kernel);
        grout_session__note(session, "@%s: inputs are made up: %s (--input %s=FILE.npy)\n",
                            grout_module_get_string(load->bound, info->name), inputs.data, first);
    }
    grout_text_free(&inputs);
}

/* An unchecked run whose results go nowhere would look as if nothing had happened. */
static void note_lost_results(grout_session *session, const grout_load *load,
                              grout_kernel_id kernel) {
    grout_text outputs = {0};
    const char *first = grout_kernel__describe_outputs(load->bound, kernel, &outputs);
    const char *name =
        grout_module_get_string(load->bound, grout_module_get_kernel(load->bound, kernel)->name);
    if (first != NULL && outputs.data != NULL) {
        grout_session__note(session,
                            "@%s ran on the CPU, unchecked; %s %s not written to a file "
                            "(--output %s=FILE.npy)\n",
                            name, outputs.data, strchr(outputs.data, ',') == NULL ? "was" : "were",
                            first);
    }
    grout_text_free(&outputs);
}

/* What an outcome says of its results; it borrows the words. */
typedef struct compared_words {
    grout_text differs, uncompared;
} compared_words;

static void free_words(compared_words *words) {
    grout_text_free(&words->differs);
    grout_text_free(&words->uncompared);
}

/* Compares the results of a run that came to its end. What differs is in the session's diagnostics
 * then: the report has it after the run's findings, which may be why. */
static void compare_results(const grout_comparing *comparing, const grout_reference *reference,
                            grout_outcome *outcome, compared_words *words) {
    grout_reporter *report = comparing->payload;
    grout_text *differs = &words->differs;
    if (outcome->status != GROUT_RUN_DONE) {
        return;
    }
    grout_comparing__with_files(comparing, reference->arguments, differs);
    if (!grout_reference__compare(reference, comparing, differs)) {
        grout_reporter__note_incomplete(report);
        grout_reference__describe_missing(reference, comparing->load, &words->uncompared);
        outcome->uncompared = words->uncompared.data;
    }
    outcome->differs = differs->size > 0 ? differs->data : NULL;
}

static void note_interrupt(grout_session *session) {
    if (grout_session__get_exit_code(session) == GROUT_EXIT_INTERRUPTED) {
        return; /* it has been said */
    }
    grout_diags_add(session->diags, GROUT_DIAG_INTERRUPTED, grout_nowhere,
                    "Ctrl-C or another signal ended the run: the report is incomplete");
}

/* What follows a run: statistics, outputs. */
static void finish_run(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                       bool with_checker, const grout_argument_set *arguments,
                       const grout_outcome *outcome) {
    if (grout_options__has(&session->options, GROUT_OPTION_STATS)) {
        print_stats(session, arguments, outcome);
    }
    bool has_results = grout_bindings__have_results(session, &load->bindings);
    if (outcome->status == GROUT_RUN_DONE && !with_checker && !session->is_quiet) {
        note_invented_inputs(session, load, kernel, outcome->settings.launch);
    }
    if (outcome->status == GROUT_RUN_DONE && has_results) {
        (void)grout_argument_set__write(session, &load->bindings, load->bound, kernel, arguments);
    } else if (outcome->status == GROUT_RUN_DONE && !with_checker && !session->is_quiet) {
        note_lost_results(session, load, kernel);
    } else if (outcome->status != GROUT_RUN_DONE && has_results) {
        grout_session__note(session,
                            "the run did not reach its end: no output is written or compared\n");
    }
    bool was_cut = outcome->status == GROUT_RUN_INTERRUPTED && outcome->cut == GROUT_CUT_INTERRUPT;
    if (was_cut || outcome->exploration_cut == GROUT_CUT_INTERRUPT) {
        note_interrupt(session);
    }
}

/* Writes a schedule to the file of --save-schedule, or to KERNEL.schedule. The second one of them
 * goes to FILE.2.schedule, and so on: none takes the file of another. */
static bool save_schedule(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                          const grout_schedule_text *what, grout_reporter *report,
                          grout_text *path_out) {
    const char *wanted = grout_options__get(&session->options, GROUT_OPTION_SAVE_SCHEDULE);
    const char *name =
        grout_module_get_string(load->bound, grout_module_get_kernel(load->bound, kernel)->name);
    grout_schedule_text own = *what;
    grout_text path = {0};
    own.kernel = name;
    grout_text_add(&path, "%s", wanted == NULL ? name : wanted);
    if (report->joined != NULL) { /* each size has its own schedules */
        grout_text_add(&path, ".");
        grout_sizes__print_name(report->joined->sizes, report->joined->at, &path);
    }
    grout_text_add(&path, "%s", wanted == NULL ? ".schedule" : "");
    uint32_t number = ++report->schedule_count;
    grout_schedule_file__print_path(path.data == NULL ? "" : path.data, number, path_out);
    grout_text_free(&path);
    if (path_out->data == NULL) {
        return grout_diags_add_oom(session->diags);
    }
    return grout_schedule_file__write(session, path_out->data, wanted != NULL && number == 1, &own);
}

/* What a run that came to its end did not reach, and sizes that reach it. */
static void judge_reach(grout_session *session, const grout_load *load, grout_outcome *outcome,
                        const grout_reporter *report, grout_text *proposal) {
    grout_reach *reach = outcome->settings.reach;
    if (report->joined != NULL) {
        return; /* other sizes may reach more */
    }
    if (reach == NULL || outcome->status != GROUT_RUN_DONE || !grout_reach__find(reach)) {
        outcome->settings.reach = NULL;
        return;
    }
    bool is_clean = outcome->summary.verdict == GROUT_VERDICT_CLEAN;
    if (!grout_reach__is_whole(reach) && is_clean && !session->is_quiet && report->text != NULL &&
        grout_given__has_file(session->given) &&
        !grout_options__has(&session->options, GROUT_OPTION_NO_PROPOSALS)) {
        const grout_propose_task task = {
            .load = load,
            .path = session->options.arguments[0],
            .text = report->text,
            .reach = reach,
            .work = outcome->stats.work,
        };
        grout_propose__sizes(session, &task, proposal);
    }
    outcome->proposal = proposal->size > 0 ? proposal->data : NULL;
}

/* One witness of an exploration; only the first needs no schedule file. */
static void report_witness(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                           grout_outcome *outcome, const grout_schedule_text *schedule,
                           grout_reporter *report) {
    grout_text path = {0}, proposal = {0};
    if (!outcome->has_more) {
        judge_reach(session, load, outcome, report, &proposal);
    }
    if (schedule != NULL) {
        outcome->settings.schedule = GROUT_SCHEDULE_REPLAY;
        if (save_schedule(session, load, kernel, schedule, report, &path)) {
            outcome->schedule_file = path.data;
        }
    }
    grout_outcome stand_in;
    grout_reporter__add_outcome(
        report, kernel, grout_seen__get_reported(session, load, kernel, outcome, &stand_in));
    grout_text_free(&path);
    grout_text_free(&proposal);
}

/* What replays a witness: of a list, with the schedules of the launches before. */
static grout_schedule_text get_schedule(const grout_launch_settings *settings,
                                        const grout_exploration *exploration, uint32_t witness) {
    grout_schedule_text schedule = {.decisions = &exploration->witnesses[witness].decisions,
                                    .is_alone = settings->launch == 0,
                                    .launch = settings->starts == NULL ? 0 : settings->number};
    for (uint32_t i = 1; i < schedule.launch; i++) {
        schedule.before[i] = grout_starts__get_decisions(settings->starts, witness, i);
    }
    return schedule;
}

/* The two below: whether the launch has come to its end. */
static bool explore_kernel(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                           const grout_launch_settings *settings, const grout_reference *reference,
                           grout_reporter *report) {
    const grout_argument_set *arguments = reference->arguments;
    grout_explored explored = {0};
    bool is_done = false;
    if (grout_launch__explore(session, load, kernel, arguments, settings, &explored)) {
        const grout_exploration *exploration = &explored.exploration;
        for (uint32_t i = 0; i < exploration->witness_count; i++) {
            grout_outcome outcome = grout_explored__get_outcome(&explored, i, settings);
            compared_words words = {0};
            if (!outcome.has_more) { /* the arrays are those of the last one */
                grout_launch_settings own = *settings;
                own.schedule = GROUT_SCHEDULE_REPLAY;
                own.replay = &exploration->witnesses[i].decisions;
                const grout_comparing comparing = {
                    session,          load, kernel, &own, .found = grout_comparing__report,
                    .payload = report};
                compare_results(&comparing, reference, &outcome, &words);
            }
            const grout_schedule_text schedule = get_schedule(settings, exploration, i);
            report_witness(session, load, kernel, &outcome, i == 0 ? NULL : &schedule, report);
            if (!outcome.has_more) {
                is_done = outcome.status == GROUT_RUN_DONE;
                finish_run(session, load, kernel, true, arguments, &outcome);
            }
            free_words(&words);
        }
        if (session->is_verbose) {
            grout_session__note(session, "explored in %.3f s\n", explored.seconds);
        }
    }
    grout_explored__deinit(&explored);
    return is_done;
}

/* What the second look at a run has found. It writes no file, since nobody has asked for one: a
 * random schedule is named by its seed, and --explore finds the others again and writes them. */
static void report_more(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                        const grout_outcome *outcome, grout_reporter *report) {
    for (uint32_t i = 0; i < grout_outcome__count_more(outcome); i++) {
        grout_outcome more = grout_outcome__get_more(outcome, i);
        more.proposal = outcome->proposal;
        if (more.settings.replay != NULL) {
            more.settings.schedule = GROUT_SCHEDULE_REPLAY;
        }
        report_witness(session, load, kernel, &more, NULL, report);
    }
}

static bool run_once(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                     const grout_launch_settings *settings, const grout_reference *reference,
                     grout_reporter *report) {
    const grout_argument_set *arguments = reference->arguments;
    grout_outcome outcome = {0};
    grout_decisions decisions = {0};
    bool is_saved = session->replay == NULL &&
                    grout_options__has(&session->options, GROUT_OPTION_SAVE_SCHEDULE);
    grout_launch_settings own = *settings;
    own.record = is_saved ? &decisions : NULL;
    own.looks_again = settings->with_checker && !is_saved && session->replay == NULL &&
                      !grout_options__has(&session->options, GROUT_OPTION_NO_EXPLORE);
    if (grout_launch__run(session, load, kernel, arguments, &own, &outcome)) {
        grout_argument_set__note_rounding(session, &load->bindings, load->bound, kernel);
        if (outcome.status == GROUT_RUN_DEADLOCK && !settings->with_checker) {
            note_deadlock(session, load, kernel);
        }
        grout_text proposal = {0};
        compared_words words = {0};
        const grout_comparing comparing = {
            session, load, kernel, settings, .found = grout_comparing__report, .payload = report};
        compare_results(&comparing, reference, &outcome, &words);
        outcome.has_more = grout_outcome__count_more(&outcome) > 0;
        judge_reach(session, load, &outcome, report, &proposal);
        grout_outcome stand_in;
        grout_reporter__add_outcome(
            report, kernel, grout_seen__get_reported(session, load, kernel, &outcome, &stand_in));
        report_more(session, load, kernel, &outcome, report);
        grout_text_free(&proposal);
        free_words(&words);
        finish_run(session, load, kernel, settings->with_checker, arguments, &outcome);
        grout_text path = {0};
        if (is_saved) {
            const grout_schedule_text schedule = {.decisions = &decisions, .is_alone = true};
            bool is_written = save_schedule(session, load, kernel, &schedule, report, &path);
            if (is_written && report->schedule_count > 1 && !session->is_quiet) {
                grout_session__note(session, "wrote %s\n", path.data);
            }
        }
        grout_text_free(&path);
    }
    bool is_done = outcome.status == GROUT_RUN_DONE;
    grout_decisions_deinit(&decisions);
    grout_outcome__deinit(&outcome);
    return is_done;
}

void grout_work__begin_budget(grout_session *session) {
    const grout_host *host = session->host;
    double budget = grout_options__get_number(&session->options, GROUT_OPTION_BUDGET, 0);
    session->budget_end = grout_options__has(&session->options, GROUT_OPTION_BUDGET)
                              ? host->get_seconds(host->payload) + budget
                              : 0;
}

/* One launch: alone, or the next of a list. Returns whether it has run to its end. */
static bool run_launch(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                       const grout_argument_set *arguments, grout_launch_settings *settings,
                       grout_reporter *report) {
    grout_reach reach = {0};
    bool is_done = true;
    if (settings->with_checker && grout_reach__init(&reach, load, kernel)) {
        settings->reach = &reach;
    } else if (report->joined != NULL) { /* it would say that nothing was reached */
        (void)grout_diags_add_oom(session->diags);
    }
    if (!grout_options__has(&session->options, GROUT_OPTION_SAVE_SCHEDULE)) {
        report->schedule_count = 0; /* the files have the kernel's name */
    }
    grout_reference reference = {.arguments = arguments};
    if (settings->with_checker &&
        !grout_reference__init(&reference, session, load, kernel, arguments)) {
        is_done = false;
    } else if (session->replay == NULL &&
               grout_options__has(&session->options, GROUT_OPTION_EXPLORE)) {
        is_done = explore_kernel(session, load, kernel, settings, &reference, report);
    } else {
        is_done = run_once(session, load, kernel, settings, &reference, report);
    }
    grout_reference__deinit(&reference);
    if (report->joined != NULL && settings->reach != NULL) {
        grout_joined__add_reach(report->joined, grout_load__get_whole_id(load, kernel), &reach);
    }
    settings->reach = NULL;
    if (settings->with_checker && grout_options__has(&session->options, GROUT_OPTION_ADVICE)) {
        grout_launch__advise(session, load, kernel, arguments, settings);
    }
    grout_reach__deinit(&reach);
    return is_done;
}

/* A kernel that was tried, in a load or alone out of it: it has an outcome, or a diagnostic says
 * why it has none. It was not if the end came while its arrays were made. */
static void note_begun(const grout_load *load, grout_kernel_id kernel, grout_reporter *report) {
    if (report->has_begun != NULL) {
        report->has_begun[grout_load__get_whole_id(load, kernel)] = true;
    }
}

static void run_kernel(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                       bool with_checker, grout_reporter *report) {
    grout_argument_set arguments = {0};
    grout_launch_settings settings = grout_launch_settings__get(session, with_checker);
    const bool has_arrays =
        grout_argument_set__init(session, &load->bindings, load->bound, kernel, &arguments);
    if (has_arrays) {
        (void)run_launch(session, load, kernel, &arguments, &settings, report);
    }
    if (has_arrays || !grout_diags__has_ended(session->diags)) {
        note_begun(load, kernel, report);
    }
    grout_reporter__add_diags(report);
    grout_argument_set__deinit(&arguments);
}

/* A kernel that is in no list, out of a file of many. */
static void run_alone(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                      bool with_checker, grout_reporter *report) {
    grout_load own;
    report->load = grout_load__take(session, load, &kernel, &own);
    run_kernel(session, report->load, kernel, with_checker, report);
    report->load = load;
    grout_load__give_back(&own);
}

/* Whether something has said that nothing more is to run. */
static bool is_over(const grout_session *session) {
    int so_far = grout_session__get_exit_code(session);
    return so_far == GROUT_EXIT_INTERRUPTED || so_far == GROUT_EXIT_INTERNAL;
}

/* What has come to its end for the next launch. */
static grout_cut find_cut(const grout_session *session) {
    return grout_deadline__find_cut(session->seen != NULL ? &session->seen->deadline
                                                          : session->deadline);
}

/* Whether the next launch may begin: once the end has come it would show nothing. What a trial has
 * shown is reported, however late it is. */
static bool may_begin(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                      grout_reporter *report) {
    if (grout_seen__is_of(session->seen, load, kernel)) {
        return true;
    }
    if (is_over(session)) {
        return false;
    }
    const grout_cut cut = find_cut(session);
    if (cut != GROUT_CUT_NONE) {
        grout_reporter__note_incomplete(report);
    }
    if (cut == GROUT_CUT_INTERRUPT) {
        note_interrupt(session);
    }
    return cut == GROUT_CUT_NONE;
}

/* What stands between two reports, and the time of the next. */
static void begin_next(grout_session *session, bool with_checker, bool *is_first,
                       const grout_reporter *report) {
    if (!*is_first && with_checker && !session->is_quiet && !session->is_json &&
        !session->is_github) {
        grout_session__print(session, GROUT_STREAM_OUT, "\n");
    }
    *is_first = false;
    if (report->joined == NULL) { /* a sweep has one for all its sizes */
        grout_work__begin_budget(session);
    }
}

/* The launches of the list, or of a kernel alone, until one does not come to its end: the next
 * would have no input. */
static void run_list(grout_session *session, const grout_load *load, grout_kernel_id alone,
                     bool with_checker, bool *is_first, grout_reporter *report) {
    grout_listing listing;
    bool goes_on = true;
    grout_listing__init(&listing, session, load, alone);
    while (goes_on) {
        grout_argument_set arguments = {0};
        grout_launch_settings settings = grout_launch_settings__get(session, with_checker);
        grout_kernel_id kernel = may_begin(session, load, alone, report)
                                     ? grout_listing__begin(&listing, &arguments, &settings)
                                     : 0;
        goes_on = kernel != 0;
        if (goes_on) {
            begin_next(session, with_checker, is_first, report);
            goes_on = run_launch(session, load, kernel, &arguments, &settings, report) &&
                      grout_listing__end(&listing);
        }
        if (listing.number > 0 && (kernel != 0 || !grout_diags__has_ended(session->diags))) {
            note_begun(load, grout_listing__get_kernel(&listing), report);
        }
        if (!goes_on && listing.number > 0 && grout_listing__has_more(&listing)) {
            grout_session__note(session, "the launches after it are not run\n");
        }
        grout_reporter__add_diags(report);
        grout_argument_set__deinit(&arguments);
    }
    grout_listing__deinit(&listing);
}

/* Whether a kernel is run by itself. */
static bool is_alone(const grout_load *load, grout_kernel_id kernel, bool is_listed) {
    return !is_listed || !grout_listing__has_kernel(load, kernel);
}

/* Whether it is run at all: 'run' runs a list, and nothing beside it unless it is to be repeated.
 */
static bool is_due(const grout_session *session, const grout_load *load, grout_kernel_id kernel,
                   bool with_checker) {
    const bool is_listed = grout_listing__is_wanted(session, load);
    return with_checker || grout_listing__is_repeated(session) || !is_listed ||
           !is_alone(load, kernel, is_listed);
}

/* What has kept the kernels from being begun that were not. */
static const char *find_end(const grout_session *session) {
    const grout_cut cut = find_cut(session);
    const bool is_interrupted = grout_session__get_exit_code(session) == GROUT_EXIT_INTERRUPTED;
    return cut != GROUT_CUT_NONE ? grout_cut_get_text(cut)
           : is_interrupted      ? grout_cut_get_text(GROUT_CUT_INTERRUPT)
           : is_over(session)    ? grout_cut_get_text(GROUT_CUT_NONE)
                                 : "a launch before did not come to its end";
}

void grout_work__note_not_begun(grout_session *session, const grout_load *load, bool with_checker,
                                grout_reporter *report) {
    grout_not_begun *it = grout_reporter__get_not_begun(report);
    bool is_good = true;
    for (size_t i = 0; i < load->kernel_count && is_good; i++) {
        const grout_kernel_id kernel = load->kernels[i];
        const bool has_begun = report->has_begun != NULL && report->has_begun[kernel];
        if (!has_begun && is_due(session, load, kernel, with_checker)) {
            is_good = grout_not_begun__add(it, kernel);
        }
    }
    it->load = load;
    it->because = it->kernels.count > 0 ? find_end(session) : NULL;
    if (!is_good) {
        (void)grout_diags_add_oom(session->diags);
    }
}

static void run_all(grout_session *session, const grout_load *load, bool with_checker,
                    grout_reporter *report) {
    bool is_listed = grout_listing__is_wanted(session, load);
    bool is_first = true;
    for (size_t i = 0; i < load->kernel_count; i++) {
        const grout_kernel_id kernel = load->kernels[i];
        if (!is_alone(load, kernel, is_listed) || !is_due(session, load, kernel, with_checker) ||
            !may_begin(session, load, kernel, report)) {
            continue;
        }
        if (grout_listing__is_repeated(session)) {
            run_list(session, load, kernel, with_checker, &is_first, report);
        } else {
            begin_next(session, with_checker, &is_first, report);
            run_alone(session, load, kernel, with_checker, report);
        }
    }
    if (is_listed) {
        run_list(session, load, 0, with_checker, &is_first, report);
    }
    if (session->seen != NULL && session->seen->kernel != 0 &&
        !report->has_begun[session->seen->kernel]) { /* in a list */
        begin_next(session, with_checker, &is_first, report);
        run_alone(session, load, session->seen->kernel, with_checker, report);
    }
}

void grout_work__run_kernels(grout_session *session, const grout_load *load, bool with_checker,
                             grout_reporter *report) {
    bool *has_begun = calloc(grout_module_get_kernel_count(load->bound), sizeof *has_begun);
    if (has_begun == NULL) {
        (void)grout_diags_add_oom(session->diags);
        return;
    }
    report->has_begun = has_begun;
    run_all(session, load, with_checker, report);
    grout_work__note_not_begun(session, load, with_checker, report);
    report->has_begun = NULL;
    free(has_begun);
}

int grout_work__run_on_cpu(grout_session *session, const char *path, bool with_checker,
                           bool needs_one) {
    grout_bytes text = {0};
    grout_load load;
    grout_reporter report = {0};
    grout_schedule_file schedule = {0};
    const char *replay = grout_options__get(&session->options, GROUT_OPTION_REPLAY);
    if (replay != NULL && !(grout_schedule_file__init(&schedule, session, replay) &&
                            grout_files__check(session))) { /* with the options of the file */
        grout_schedule_file__deinit(&schedule);
        grout_session__print_diags(session, GROUT_STREAM_ERR);
        return grout_session__get_exit_code(session);
    }
    session->replay = replay == NULL ? session->replay : &schedule.decisions;
    session->replay_list = schedule.is_of_list ? schedule.launches : NULL;
    if (grout_work__load(session, path, needs_one, &text, &load, &report)) {
        report.is_run = !with_checker;
        grout_work__run_kernels(session, &load, with_checker, &report);
    } else if (grout_diags__has_ended(session->diags)) {
        grout_work__note_not_begun(session, &load, with_checker, &report);
    }
    grout_reporter__finish(&report);
    int exit_code = grout_work__get_exit_code(session, &report);
    grout_reporter__deinit(&report);
    grout_load__deinit(&load);
    session->replay = NULL;
    session->replay_list = NULL;
    grout_schedule_file__deinit(&schedule);
    free(text.data);
    return exit_code;
}
