/* exploring.c - check --explore: other schedules of a launch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include "invariant.h"
#include "stage.h"
#include "starts.h"

/* What the callbacks of an exploration go by. */
typedef struct exploring {
    grout_launch_callbacks *callbacks;
    const grout_exploration *exploration; /* as it grows */
    bool is_over_budget;                  /* the schedules are; what comes after them is not */
    grout_stage stage;
} exploring;

/* The launch's own schedule has been run; the budget bounds the others. */
static bool goes_on(void *payload, uint64_t schedules) {
    exploring *it = payload;
    grout_progress_line__use_budget(&it->callbacks->line);
    grout_stage__say(&it->stage, "%llu schedules run, %llu fail, %llu or more left",
                     (unsigned long long)schedules, (unsigned long long)it->exploration->failing,
                     (unsigned long long)it->exploration->left);
    grout_stage__draw(it->callbacks->session);
    return grout_progress_line__goes_on(&it->callbacks->line);
}

/* The budget is for schedules that were not run. The results of one that was are wanted after it,
 * too: they are compared, and the next launch reads them. */
static bool brings_back(void *payload) {
    exploring *it = payload;
    grout_progress_line *line = &it->callbacks->line;
    it->is_over_budget = line->cut == GROUT_CUT_BUDGET;
    line->cut = it->is_over_budget ? GROUT_CUT_NONE : line->cut;
    line->budget_end = 0;
    return line->cut == GROUT_CUT_NONE;
}

/* What the list's past hears of the launch: the last witness once more, whose results the arrays
 * hold. start: its arguments as they were. */
static bool tell_past(grout_session *session, const grout_load *load, const grout_launch *launch,
                      const grout_argument_set *start, const grout_launch_settings *settings,
                      const grout_exploration *exploration) {
    const grout_witness *witness = &exploration->witnesses[exploration->witness_count - 1];
    grout_launch_settings own = *settings;
    grout_outcome outcome = {0};
    own.schedule = GROUT_SCHEDULE_REPLAY;
    own.replay = &witness->decisions;
    own.past = NULL;
    own.is_silent = true;
    own.reach = NULL;
    bool is_good =
        witness->status != GROUT_RUN_DONE ||
        (grout_launch__run(session, load, launch->kernel, start, &own, &outcome) &&
         grout_past_end(settings->past, launch, outcome.machine, outcome.checker, session->diags));
    grout_outcome__deinit(&outcome);
    return is_good;
}

/* A launch of a list does not stand alone. */
static void narrow_claim(const grout_launch_settings *settings, grout_exploration *exploration) {
    if (settings->why_open != NULL && !exploration->is_certified && exploration->is_complete) {
        exploration->is_complete = false;
        exploration->why_open = settings->why_open;
    }
}

bool grout_launch__explore(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                           const grout_argument_set *arguments,
                           const grout_launch_settings *settings, grout_explored *out) {
    const grout_host *host = session->host;
    grout_launch_callbacks payload;
    grout_launch launch =
        grout_launch__prepare(session, load, kernel, arguments, settings, &payload);
    exploring it = {.callbacks = &payload, .exploration = &out->exploration};
    const grout_explore_options options = {
        .max_findings = UINT32_MAX, /* what a report leaves out is for it to say */
        .strict_fences = grout_options__has(&session->options, GROUT_OPTION_STRICT_FENCES),
        .are_given = arguments->is_given,
        .goes_on = goes_on,
        .brings_back = brings_back,
        .payload = &it,
    };
    grout_argument_set start = {0};
    *out = (grout_explored){0};
    launch.print = NULL; /* it would print once for each schedule */
    if (settings->past != NULL && !grout_argument_set__copy(session, arguments, &start)) {
        grout_argument_set__deinit(&start);
        return false;
    }
    grout_stage__begin(&it.stage, session);
    grout_stage__say(&it.stage, "the first schedule");
    bool is_good = grout_explore(&launch, &options, &out->exploration, session->diags);
    grout_stage__end(&it.stage, session);
    if (it.is_over_budget && payload.line.cut == GROUT_CUT_NONE) {
        payload.line.cut = GROUT_CUT_BUDGET;
    }
    out->seconds = host->get_seconds(host->payload) - payload.line.start;
    out->cut = out->exploration.is_complete ? GROUT_CUT_NONE : payload.line.cut;
    narrow_claim(settings, &out->exploration);
    if (is_good && settings->past != NULL) {
        is_good = tell_past(session, load, &launch, &start, settings, &out->exploration);
    }
    grout_argument_set__deinit(&start);
    return is_good && (settings->starts == NULL || grout_starts__explore(settings->starts, out));
}

void grout_explored__deinit(grout_explored *explored) {
    grout_exploration_deinit(&explored->exploration);
}

grout_outcome grout_explored__get_outcome(const grout_explored *explored, uint32_t index,
                                          const grout_launch_settings *settings) {
    const grout_exploration *exploration = &explored->exploration;
    GROUT_ASSERT(index < exploration->witness_count);
    const grout_witness *witness = &exploration->witnesses[index];
    grout_outcome outcome = {
        .settings = *settings,
        .status = witness->status,
        .stats = witness->stats,
        .cut = explored->cut,
        .exploration_cut = explored->cut,
        .checker = witness->checker,
        .exploration = exploration,
        .has_more = index + 1 < exploration->witness_count,
    };
    bool was_cut = grout_outcome__get_cut(&outcome) != NULL;
    outcome.summary = grout_checker_get_summary(witness->checker, was_cut);
    return outcome;
}
