/* launch.c - one launch on the CPU.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include "alloc.h"

#include "invariant.h"
#include "wrap.h"

#include "grout-internal/asserted.h"

#include <limits.h>
#include <string.h>

const char *grout_schedule_get_text(grout_schedule schedule) {
    switch (schedule) {
    case GROUT_SCHEDULE_FAIR:
        return "fair";
    case GROUT_SCHEDULE_RANDOM:
        return "random";
    case GROUT_SCHEDULE_PCT:
        return "pct";
    case GROUT_SCHEDULE_REPLAY:
        return "replay";
    }
    return "";
}

const char *grout_timing_get_text(grout_timing timing) {
    switch (timing) {
    case GROUT_TIMING_LAZY:
        return "lazy";
    case GROUT_TIMING_EAGER:
        return "eager";
    case GROUT_TIMING_RANDOM:
        return "random";
    }
    return "";
}

grout_launch_settings grout_launch_settings__get(const grout_session *session, bool with_checker) {
    const char *schedule = grout_options__get(&session->options, GROUT_OPTION_SCHEDULE);
    const char *timing = grout_options__get(&session->options, GROUT_OPTION_TIMING);
    const char *numerics = grout_options__get(&session->options, GROUT_OPTION_NUMERICS);
    grout_launch_settings settings = {
        .schedule = GROUT_SCHEDULE_FAIR,
        .timing = GROUT_TIMING_LAZY,
        .seed = grout_options__get_count(&session->options, GROUT_OPTION_SEED, 0),
        .is_one_of_seeds = grout_options__has(&session->options, GROUT_OPTION_SEEDS),
        .with_checker = with_checker,
        .track_non_finite = grout_options__has(&session->options, GROUT_OPTION_NON_FINITE),
    };
    if (schedule != NULL && strncmp(schedule, "pct:", 4) == 0) {
        uint64_t depth = 1;
        (void)grout_read_u64(schedule + 4, &depth);
        settings.schedule = GROUT_SCHEDULE_PCT;
        settings.pct_depth = (uint32_t)depth;
    } else if (schedule != NULL) {
        (void)grout_schedule_find(schedule, &settings.schedule);
    }
    if (session->replay != NULL) {
        settings.schedule = GROUT_SCHEDULE_REPLAY;
        settings.replay = session->replay;
    }
    if (timing != NULL) {
        (void)grout_timing_find(timing, &settings.timing);
    }
    if (numerics != NULL) {
        (void)grout_numerics_find(numerics, &settings.numerics);
    }
    return settings;
}

bool grout_launch_settings__has_seed(const grout_launch_settings *settings) {
    return settings->schedule == GROUT_SCHEDULE_RANDOM ||
           settings->schedule == GROUT_SCHEDULE_PCT || settings->timing == GROUT_TIMING_RANDOM;
}

static bool note_progress(void *payload, const grout_progress *progress) {
    grout_launch_callbacks *c = payload;
    const grout_given *given = c->session->given;
    bool goes_on = grout_progress_line__step(&c->line, progress);
    if (goes_on && given != NULL && given->progress != NULL &&
        !given->progress(given->payload, progress)) {
        c->line.cut = GROUT_CUT_INTERRUPT;
        goes_on = false;
    }
    return goes_on;
}

/* A debug_print is part of the answer, but JSON must be alone on stdout. What a terminal breaks
 * goes on with the mark of a line that the kernel begins. */
static void print_line(void *payload, const char *line) {
    grout_launch_callbacks *c = payload;
    const grout_given *given = c->session->given;
    if (given != NULL) { /* the caller has a place for it, or none */
        if (given->print != NULL) {
            given->print(given->payload, line);
        }
        return;
    }
    grout_stream stream = c->session->is_json ? GROUT_STREAM_ERR : GROUT_STREAM_OUT;
    size_t width = grout_session__get_look(c->session, stream).width;
    grout_text text = {0};
    grout_progress_line__clear(&c->line);
    for (const char *at = line; *at != '\0';) {
        grout_text one = {0};
        size_t size = strcspn(at, "\n");
        grout_text_add_bytes(&one, at, size);
        text.failed |= one.failed;
        if (!text.failed) {
            grout_wrap__add(&text, one.data, 0, "  | ", width);
        }
        grout_text_add(&text, "\n");
        grout_text_free(&one);
        at += size + (at[size] == '\n' ? 1u : 0u);
    }
    grout_session__flush(c->session, stream, &text);
}

/* --max-memory is for the kernel, its arrays and the machine together. */
static uint64_t get_machine_memory(const grout_session *session, uint64_t array_bytes) {
    uint64_t limit = grout_options__get_count(&session->options, GROUT_OPTION_MAX_MEMORY, 0);
    const uint64_t used = array_bytes + grout_session__get_used_memory(session);
    return limit == 0 ? 0 : limit > used ? limit - used : 1;
}

/* The verdict comes from all findings: what a report leaves out (--max-findings) is for it to say.
 */
static grout_checker *make_checker(grout_session *session) {
    const grout_checker_options options = {
        .max_findings = UINT32_MAX,
        .strict_fences = grout_options__has(&session->options, GROUT_OPTION_STRICT_FENCES)};
    return grout_checker_new(&options, session->diags);
}

static uint32_t get_option_u32(const grout_session *session, grout_option_id id) {
    uint64_t value = grout_options__get_count(&session->options, id, 0);
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

grout_launch grout_launch__prepare(grout_session *session, const grout_load *load,
                                   grout_kernel_id kernel, const grout_argument_set *arguments,
                                   const grout_launch_settings *settings,
                                   grout_launch_callbacks *callbacks) {
    GROUT_ASSERT(settings->schedule != GROUT_SCHEDULE_REPLAY || settings->replay != NULL);
    *callbacks = (grout_launch_callbacks){.session = session};
    grout_progress_line__init(&callbacks->line, session);
    grout_launch launch = {
        .module = load->bound,
        .kernel = kernel,
        .arguments = arguments->arguments,
        .argument_count = arguments->count,
        .schedule = settings->schedule,
        .timing = settings->timing,
        .numerics = settings->numerics,
        .seed = settings->seed,
        .pct_depth = settings->pct_depth,
        .replay = settings->replay,
        .record = settings->record,
        .earlier = settings->earlier,
        .earlier_count = settings->earlier_count,
        .stale = settings->stale,
        .pasts = settings->pasts,
        .sm_count = get_option_u32(session, GROUT_OPTION_SMS),
        .resident = get_option_u32(session, GROUT_OPTION_RESIDENT),
        .workers = get_option_u32(session, GROUT_OPTION_THREADS),
        .max_steps = settings->max_steps != 0
                         ? settings->max_steps
                         : grout_options__get_count(&session->options, GROUT_OPTION_MAX_STEPS, 0),
        .track_non_finite = settings->track_non_finite,
        .max_memory = get_machine_memory(session, arguments->bytes),
        .progress = note_progress,
        .print_whole_arrays = grout_options__has(&session->options, GROUT_OPTION_FULL_ARRAYS),
        .print = settings->is_silent ? NULL : print_line,
        .payload = callbacks,
    };
    launch.externs = grout_extern_files__get(&load->externs, &launch.extern_count);
    if (settings->reach != NULL) {
        launch.observers[launch.observer_count++] = &settings->reach->observer;
    }
    if (settings->observer != NULL) {
        launch.observers[launch.observer_count++] = settings->observer;
    }
    return launch;
}

/* Races of two writes that leave the same bytes become warnings. */
static bool judge_writes(grout_session *session, grout_writes_judge *judge, grout_outcome *out) {
    bool is_good = judge == NULL || out->status == GROUT_RUN_FAILED ||
                   grout_writes_judge_run(judge, out->checker, session->diags);
    grout_writes_judge_free(judge);
    return is_good;
}

/* Before the run: what a second look needs. */
static bool prepare_look(grout_session *session, const grout_launch *launch,
                         const grout_argument_set *arguments, const grout_launch_settings *settings,
                         grout_second_look **look_out) {
    const grout_explore_options options = {
        .strict_fences = grout_options__has(&session->options, GROUT_OPTION_STRICT_FENCES),
        .are_given = arguments->is_given};
    *look_out = NULL;
    if (settings->with_checker && settings->looks_again) {
        *look_out = grout_second_look_new(launch, &options, session->diags);
        return *look_out != NULL;
    }
    return true;
}

/* After it. The look is freed. */
static bool look_again(grout_session *session, grout_second_look *look, grout_outcome *out) {
    bool is_good = true, has_looked = false;
    if (look != NULL && out->checker != NULL && out->status == GROUT_RUN_DONE) {
        out->looked = grout__new(NULL, 1, sizeof *out->looked);
        is_good = out->looked != NULL
                      ? grout_second_look_run(look, out->checker, &out->stats, out->looked,
                                              &has_looked, session->diags)
                      : grout_diags_add_oom(session->diags);
        const char *why_open = out->settings.why_open;
        if (has_looked && out->looked->is_complete && why_open != NULL) {
            out->looked->is_complete = false;
            out->looked->why_open = why_open;
        }
    }
    out->exploration = is_good && has_looked ? out->looked : NULL;
    grout_second_look_free(look);
    return is_good;
}

uint32_t grout_outcome__count_more(const grout_outcome *outcome) {
    const bool has_looked = outcome->looked != NULL && outcome->looked->witness_count > 0;
    return has_looked ? outcome->looked->witness_count - 1 : 0;
}

grout_outcome grout_outcome__get_more(const grout_outcome *outcome, uint32_t index) {
    const grout_witness *witness = &outcome->looked->witnesses[index + 1];
    grout_outcome more = {
        .settings = outcome->settings,
        .status = witness->status,
        .stats = witness->stats,
        .checker = witness->checker,
        .exploration = outcome->looked,
        .has_more = index + 1 < grout_outcome__count_more(outcome),
    };
    more.settings.schedule = GROUT_SCHEDULE_REPLAY;
    more.settings.replay = &witness->decisions;
    if (witness->seed != 0) {
        more.settings.schedule = GROUT_SCHEDULE_RANDOM;
        more.settings.timing = GROUT_TIMING_RANDOM;
        more.settings.seed = witness->seed;
        more.settings.replay = NULL;
    }
    more.summary = grout_checker_get_summary(witness->checker, false);
    return more;
}

bool grout_launch__run(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                       const grout_argument_set *arguments, const grout_launch_settings *settings,
                       grout_outcome *out) {
    grout_launch_callbacks payload;
    grout_launch launch =
        grout_launch__prepare(session, load, kernel, arguments, settings, &payload);
    grout_writes_judge *judge = NULL;
    grout_second_look *look = NULL;
    *out = (grout_outcome){.settings = *settings};
    if (!prepare_look(session, &launch, arguments, settings, &look)) {
        return false;
    }
    if (settings->with_checker) {
        out->checker = make_checker(session);
        if (out->checker == NULL) {
            grout_second_look_free(look);
            return false;
        }
        launch.track_undefined = true;
        GROUT_ASSERT(launch.observer_count < GROUT_OBSERVERS_MAX);
        launch.observers[launch.observer_count++] = grout_checker_get_observer(out->checker);
        judge = grout_writes_judge_new(&launch, arguments->is_given, session->diags);
        if (judge == NULL) {
            grout_second_look_free(look);
            return false;
        }
    }
    grout_asserted *asserted = NULL;
    if (!settings->with_checker &&
        (launch.track_non_finite || grout_asserted_is_needed(load->bound, kernel))) {
        asserted = grout_asserted_new(load->bound, kernel);
        if (asserted == NULL) {
            return grout_diags_add_oom(session->diags);
        }
        GROUT_ASSERT(launch.observer_count < GROUT_OBSERVERS_MAX);
        launch.observers[launch.observer_count++] = grout_asserted_get_observer(asserted);
    }
    out->machine = grout_machine_new(&launch, session->diags);
    if (out->machine == NULL) {
        grout_asserted_free(asserted);
        grout_writes_judge_free(judge);
        grout_second_look_free(look);
        return false;
    }
    out->status = grout_machine_run(out->machine, 0, session->diags);
    if (asserted != NULL) {
        grout_asserted_report(asserted, session->diags);
        grout_asserted_free(asserted);
    }
    out->stats = grout_machine_get_stats(out->machine);
    bool is_judged = judge_writes(session, judge, out);
    out->seconds = session->host->get_seconds(session->host->payload) - payload.line.start;
    out->cut = payload.line.cut;
    grout_progress_line__clear(&payload.line);
    if (out->checker != NULL) {
        out->summary = grout_checker_get_summary(out->checker, grout_outcome__get_cut(out) != NULL);
    }
    is_judged = look_again(session, look, out) && is_judged;
    if (settings->past != NULL && out->checker != NULL && out->status == GROUT_RUN_DONE &&
        !grout_past_end(settings->past, &launch, out->machine, out->checker, session->diags)) {
        return false;
    }
    return is_judged && out->status != GROUT_RUN_FAILED;
}

void grout_outcome__deinit(grout_outcome *outcome) {
    grout_machine_free(outcome->machine);
    grout_checker_free(outcome->checker);
    if (outcome->looked != NULL) {
        grout_exploration_deinit(outcome->looked);
        grout__free(outcome->looked);
    }
    *outcome = (grout_outcome){0};
}

bool grout_outcome__holds(const grout_outcome *outcome) {
    return outcome->exploration == NULL ? outcome->summary.is_well_synchronised
                                        : grout_exploration_holds(outcome->exploration);
}

static_assert(GROUT_STEPS_MAX == UINT64_C(2147483648), "as the words below say");

const char *grout_outcome__get_cut(const grout_outcome *outcome) {
    switch (outcome->status) {
    case GROUT_RUN_DONE:
    case GROUT_RUN_DEADLOCK: /* a deadlock is an end: there is no more to run */
        return NULL;
    case GROUT_RUN_STEP_LIMIT:
        /* Whatever --max-steps says. */
        return outcome->stats.steps >= GROUT_STEPS_MAX
                   ? "a run has at most 2147483648 operations (docs/limits.md)"
                   : "the limit of steps was reached (--max-steps)";
    case GROUT_RUN_INTERRUPTED:
        return grout_cut_get_text(outcome->cut);
    case GROUT_RUN_PAUSED:
    case GROUT_RUN_FAILED:
        return "the run did not reach its end";
    }
    return "the run did not reach its end";
}
