/* summary.c - the verdict of a launch in words: what it covers, and for which schedules it holds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <string.h>

const char *grout_summary__get_kernel_name(const grout_load *load, grout_kernel_id kernel) {
    return grout_module_get_string(load->bound, grout_module_get_kernel(load->bound, kernel)->name);
}

void grout_summary__add_conditions(grout_text *out, const grout_load *load, grout_kernel_id kernel,
                                   const grout_outcome *outcome) {
    const grout_launch_settings *settings = &outcome->settings;
    grout_text inputs = {0};
    if (settings->number > 0) {
        grout_text_add(out, "; launch %u of %u%s", settings->number, settings->total,
                       settings->launch > 0 &&
                               grout_module_get_launch(load->bound, settings->launch)->is_dependent
                           ? ", dependent"
                           : "");
    }
    grout_bindings__describe_inputs(&load->bindings, load->bound, kernel, settings->launch,
                                    &inputs);
    if (inputs.size > 0) {
        grout_text_add(out, "; inputs %s", inputs.data);
    }
    grout_text_free(&inputs);
    if (settings->launch <= 1 && settings->number > 1) {
        grout_text_add(out, ", and what the launches before left in them");
    }
    grout_text_add(out, "; %s schedule, %s timing", grout_schedule_get_text(settings->schedule),
                   grout_timing_get_text(settings->timing));
    if (grout_launch_settings__has_seed(settings) && !settings->is_one_of_seeds) {
        grout_text_add(out, ", seed %llu", (unsigned long long)settings->seed);
    }
    if (outcome->settings.numerics == GROUT_NUMERICS_EXACT) {
        grout_text_add(out, ", exact numerics");
    }
}

static void add_coverage(grout_text *out, const grout_load *load, grout_kernel_id kernel,
                         const grout_outcome *outcome) {
    grout_text_add(out, "  covered: ");
    grout_describe_launch(load->bound, kernel, out);
    if (load->define_count > 0) {
        grout_text_add(out, "; ");
        grout_load__describe_defines(load, NULL, out);
    }
    grout_summary__add_conditions(out, load, kernel, outcome);
    grout_text_add(out, "\n");
}

/* What --non-finite has counted. */
static void add_non_finite(grout_text *out, const grout_outcome *outcome) {
    if (outcome->settings.track_non_finite) {
        grout_text_add(out, "  ");
        grout_describe_non_finite(&outcome->stats, out);
        grout_text_add(out, "\n");
    }
}

bool grout_summary__is_cut(const grout_outcome *outcome) {
    return outcome->exploration_cut == GROUT_CUT_TIMEOUT ||
           outcome->exploration_cut == GROUT_CUT_INTERRUPT;
}

/* Whether the verdict is of the schedules that were tried. */
static bool is_of_explored(const grout_outcome *outcome) {
    return grout_outcome__get_cut(outcome) == NULL && outcome->exploration != NULL &&
           !outcome->exploration->is_certified;
}

void grout_summary__describe_promise(const grout_outcome *outcome, bool has_errors,
                                     grout_text *out) {
    if (is_of_explored(outcome)) {
        grout_describe_exploration(
            outcome->exploration, &outcome->summary,
            grout_summary__is_cut(outcome) ? grout_cut_get_text(outcome->exploration_cut) : NULL,
            out);
    } else {
        grout_describe_promise(&outcome->summary, has_errors, grout_outcome__get_cut(outcome), out);
    }
}

static void add_promise(grout_text *out, const grout_outcome *outcome, bool has_errors,
                        bool is_verbose) {
    const grout_check_summary *summary = &outcome->summary;
    if (is_of_explored(outcome) || grout_outcome__get_cut(outcome) != NULL ||
        summary->is_well_synchronised || !has_errors || is_verbose) {
        grout_text_add(out, "  ");
        grout_summary__describe_promise(outcome, has_errors, out);
        grout_text_add(out, "\n");
    }
    if (is_verbose) {
        grout_text_add(out,
                       "  looked at %llu accesses, %llu async operations, %llu barrier phases; "
                       "differences between the lanes of a thread are not modelled\n",
                       (unsigned long long)summary->accesses,
                       (unsigned long long)summary->async_ops,
                       (unsigned long long)summary->barrier_phases);
    }
}

bool grout_summary__is_open(const grout_outcome *outcome) {
    return grout_outcome__get_cut(outcome) != NULL || grout_summary__is_cut(outcome) ||
           (outcome->checker != NULL && outcome->summary.verdict == GROUT_VERDICT_INCOMPLETE);
}

const char *grout_summary__get_word(const grout_outcome *outcome, uint64_t errors,
                                    uint64_t lowered) {
    return errors > 0                        ? "error"
           : grout_summary__is_open(outcome) ? "incomplete"
           : lowered > 0                     ? "warning"
                                             : "clean";
}

bool grout_summary__is_good(const char *word) {
    return strcmp(word, "clean") == 0 || strcmp(word, "warning") == 0;
}

void grout_summary__add_reach(grout_text *out, const grout_reporter *report,
                              const grout_reach *reach, const char *proposal,
                              const grout_render_options *look) {
    if (reach == NULL || grout_reach__is_whole(reach)) {
        return;
    }
    grout_text line = {0}, command = {0};
    grout_text_add(&line, "  not reached: ");
    grout_reach__describe(reach, &line);
    grout_text_add(&line, "\n");
    grout_reporter__take_lines(look, &line, out);
    if (proposal != NULL && grout_given__has_file(report->session->given)) {
        grout_reporter__add_call(report, reach->kernel, &command);
        grout_text_add(&command, "%s", proposal);
        out->failed |= command.failed;
        grout_reporter__add_command(
            look, "  to reach more: ", command.data == NULL ? "" : command.data, out);
        grout_text_free(&command);
    }
}

static bool is_clean(const char *word) {
    return strcmp(word, "clean") == 0;
}

static void add_differs(grout_text *out, const char *word, const char *differs) {
    if (differs != NULL) {
        grout_text_add(out, ", %s %s", is_clean(word) ? "but" : "and", differs);
    }
}

static void add_start(grout_text *out, const char *word, const char *differs) {
    grout_text_add(out, "%s%s", word, differs != NULL && is_clean(word) ? " of races" : "");
}

void grout_summary__add_word(grout_text *out, const char *word, const char *differs) {
    add_start(out, word, differs);
    add_differs(out, word, differs);
}

void grout_summary__add(const grout_reporter *report, grout_kernel_id kernel,
                        const grout_outcome *outcome, const grout_finding_counts *counts,
                        const grout_render_options *look, grout_text *out) {
    bool has_errors = counts->errors > 0;
    grout_text lines = {0};
    const grout_verdict_line head = {
        .kernel = grout_summary__get_kernel_name(report->load, kernel),
        .word = grout_summary__get_word(outcome, counts->errors, report->before[5]),
        .differs = outcome->differs != NULL ? outcome->differs : outcome->uncompared,
        .counts = *counts,
        .color = look != NULL && look->color,
    };
    grout_describe_verdict(&head, out);
    grout_text_add(out, "\n");
    add_coverage(&lines, report->load, kernel, outcome);
    add_non_finite(&lines, outcome);
    add_promise(&lines, outcome, has_errors, report->session->is_verbose);
    grout_reporter__take_lines(look, &lines, out);
    if (!has_errors) {
        grout_summary__add_reach(out, report, outcome->settings.reach, outcome->proposal, look);
    }
}
