/* report.c - findings and summary as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "array.h"
#include "invariant.h"

#include <string.h>

static const char *get_kernel_name(const grout_load *load, grout_kernel_id kernel) {
    return grout_module_get_string(load->bound, grout_module_get_kernel(load->bound, kernel)->name);
}

bool grout_report__init(grout_report *report, grout_session *session, const grout_load *load,
                        const grout_bytes *text) {
    *report = (grout_report){.session = session, .load = load, .text = text};
    if (session->is_json) {
        report->json = grout_json__new();
        return report->json != NULL || grout_diags_add_oom(session->diags);
    }
    return true;
}

bool grout_report__read_rules(grout_report *report) {
    return grout_silencer__init(&report->silencer, report->session, report->load->name,
                                report->text);
}

void grout_report__deinit(grout_report *report) {
    grout_silencer__deinit(&report->silencer);
    grout_json__free(report->json);
    grout__free(report->shown.items);
    *report = (grout_report){0};
}

const char *grout_report__get_verdict(const grout_report *report) {
    return report->is_invalid        ? "invalid"
           : report->error_count > 0 ? "error"
           : report->is_incomplete   ? "incomplete"
                                     : "clean";
}

/* ---- the command that shows it again -------------------------------------------------------- */

/* A word as a shell takes it. */
static void add_word(grout_text *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./=:@%+,";
    size_t size = strlen(word);
    if (size > 0 && strspn(word, plain) == size) {
        grout_text_add(out, " %s", word);
        return;
    }
    grout_text_add(out, " '");
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == '\'') {
            grout_text_add(out, "'\\''");
        } else {
            grout_text_add_bytes(out, c, 1);
        }
    }
    grout_text_add(out, "'");
}

/* Whether the run depends on its seed. */
static bool has_seed(const grout_launch_settings *settings) {
    return settings->schedule == GROUT_SCHEDULE_RANDOM ||
           settings->schedule == GROUT_SCHEDULE_PCT || settings->timing == GROUT_TIMING_RANDOM;
}

/* Options that decide what is found. */
static bool is_kept(grout_option_id id) {
    return id == GROUT_OPTION_SMS || id == GROUT_OPTION_RESIDENT || id == GROUT_OPTION_DEFINE ||
           id == GROUT_OPTION_ARCH || id == GROUT_OPTION_INPUT || id == GROUT_OPTION_INOUT ||
           id == GROUT_OPTION_MAX_STEPS || id == GROUT_OPTION_SEVERITY ||
           id == GROUT_OPTION_STRICT_FENCES;
}

void grout_report__print_command(const grout_report *report, grout_kernel_id kernel,
                                 const grout_outcome *outcome, grout_text *out) {
    const grout_options *options = &report->session->options;
    const grout_launch_settings *settings = &outcome->settings;
    grout_text_add(out, "grout check");
    add_word(out, strcmp(report->load->name, "<stdin>") == 0 ? "-" : report->load->name);
    if (grout_module_get_kernel_count(report->load->bound) > 2) {
        grout_text_add(out, " --kernel @%s", get_kernel_name(report->load, kernel));
    }
    for (size_t i = 0; i < options->use_count; i++) {
        if (is_kept(options->uses[i].id)) {
            grout_text_add(out, " ");
            grout_option__print_name(options->uses[i].id, out);
            if (grout_option__get_info(options->uses[i].id)->kind != GROUT_OPTION_FLAG) {
                add_word(out, options->uses[i].value);
            }
        }
    }
    if (outcome->schedule_file != NULL) {
        grout_text_add(out, " --replay");
        add_word(out, outcome->schedule_file);
    } else if (settings->schedule == GROUT_SCHEDULE_REPLAY &&
               !grout_options__has(options, GROUT_OPTION_REPLAY)) {
        grout_text_add(out, " --explore"); /* its file could not be written */
    } else if (settings->schedule == GROUT_SCHEDULE_REPLAY) {
        grout_text_add(out, " --replay");
        add_word(out, grout_options__get(options, GROUT_OPTION_REPLAY));
    } else {
        grout_text_add(out, " --schedule %s", grout_schedule_get_text(settings->schedule));
    }
    if (settings->schedule == GROUT_SCHEDULE_PCT) {
        grout_text_add(out, ":%u", settings->pct_depth);
    }
    grout_text_add(out, " --timing %s", grout_timing_get_text(settings->timing));
    if (has_seed(settings)) {
        grout_text_add(out, " --seed %llu", (unsigned long long)settings->seed);
    }
}

/* ---- findings ------------------------------------------------------------------------------- */

/* Escapes a value of a workflow command: its data, or (is_property) one of its properties. */
static void add_escaped(grout_text *out, const char *text, bool is_property) {
    for (const char *c = text; *c != '\0'; c++) {
        bool is_special =
            *c == '%' || *c == '\r' || *c == '\n' || (is_property && (*c == ':' || *c == ','));
        if (is_special) {
            grout_text_add(out, "%%%02X", (unsigned char)*c);
        } else {
            grout_text_add_bytes(out, c, 1);
        }
    }
}

/* ::error file=..,line=..,col=..,title=..::message */
static void add_annotation(const grout_diag *diag, grout_text *out) {
    grout_text_add(out, "::%s ",
                   diag->severity == GROUT_SEVERITY_ERROR     ? "error"
                   : diag->severity == GROUT_SEVERITY_WARNING ? "warning"
                                                              : "notice");
    if (diag->place.file != NULL) {
        grout_text_add(out, "file=");
        add_escaped(out, diag->place.file, true);
        grout_text_add(out, ",line=%u,col=%u,endColumn=%u,", diag->place.line, diag->place.column,
                       diag->place.column + diag->place.length);
    }
    grout_text_add(out, "title=%s::", grout_diag_get(diag->code)->text);
    add_escaped(out, diag->message, false);
    for (uint32_t i = 0; i < diag->note_count; i++) {
        const grout_note *note = &diag->notes[i];
        grout_text_add(out, "%%0A");
        if (note->place.file != NULL) {
            add_escaped(out, note->place.file, false);
            grout_text_add(out, ":%u: ", note->place.line);
        }
        add_escaped(out, note->message, false);
    }
    grout_text_add(out, "\n");
}

/* A diagnostic in the form of the session: as a terminal shows it, or as an annotation. */
static void render(const grout_session *session, const grout_diag *diag, bool use_color,
                   grout_text *out) {
    if (session->is_github) {
        add_annotation(diag, out);
    } else {
        grout_render_options options = {.color = use_color};
        grout_diag_render(diag, session->diags, &options, out);
    }
}

/* What --severity, --werror and the rules that silence make of a finding. */
typedef struct judgement {
    grout_severity severity;          /* OFF: it is silenced */
    const grout_allowance *allowance; /* by this rule; NULL: by --severity */
} judgement;

static judgement judge(grout_report *report, const grout_finding *finding) {
    grout_severity severity =
        grout_session__get_severity(report->session, finding->code, finding->severity);
    const grout_allowance *allowance =
        severity == GROUT_SEVERITY_OFF ? NULL : grout_silencer__find(&report->silencer, finding);
    return (judgement){allowance != NULL ? GROUT_SEVERITY_OFF : severity, allowance};
}

/* Verdict and exit code come from what is counted here, listed or not. */
static void count_finding(grout_report *report, const grout_finding *finding,
                          grout_severity severity) {
    /* To reach a limit is no fault of the kernel. */
    bool is_limit = grout_exit_code_of(finding->code) == GROUT_EXIT_INCOMPLETE;
    report->is_incomplete = report->is_incomplete || is_limit;
    report->error_count += severity == GROUT_SEVERITY_ERROR && !is_limit ? 1u : 0u;
    report->warning_count += severity == GROUT_SEVERITY_WARNING ? 1u : 0u;
    report->silenced_count += severity == GROUT_SEVERITY_OFF ? 1u : 0u;
}

static void list_finding(grout_report *report, grout_kernel_id kernel, const grout_finding *finding,
                         const judgement *found, grout_text *out) {
    grout_session *session = report->session;
    if (report->json != NULL) {
        grout_json__add_finding(report->json, get_kernel_name(report->load, kernel), finding,
                                found->severity, found->allowance);
    } else if (found->severity != GROUT_SEVERITY_OFF) {
        grout_diag diag = *finding->diag;
        diag.severity = found->severity;
        render(session, &diag, session->use_color, out);
        if (finding->count > 1) {
            grout_text_add(out, "  seen %llu times\n", (unsigned long long)finding->count);
        }
    }
}

/* Counts a finding, and lists it while there is room: at most --max-findings of a kernel. What is
 * silenced takes no room. */
static void add_finding(grout_report *report, grout_kernel_id kernel, const grout_finding *finding,
                        const judgement *found, grout_text *out) {
    uint64_t most = grout_options__get_count(&report->session->options, GROUT_OPTION_MAX_FINDINGS,
                                             GROUT_DIAGS_MAX);
    bool is_silenced = found->severity == GROUT_SEVERITY_OFF;
    count_finding(report, finding, found->severity);
    if (!is_silenced && report->listed_count == most) {
        report->unlisted_count++;
        return;
    }
    report->listed_count += is_silenced ? 0u : 1u;
    list_finding(report, kernel, finding, found, out);
}

/* Whether this is the first schedule to show the finding; notes that it was shown. */
static bool note_shown(grout_report *report, uint64_t identity) {
    for (size_t i = 0; i < report->shown.count; i++) {
        if (report->shown.items[i] == identity) {
            return false;
        }
    }
    if (!GROUT_ARRAY_RESERVE(&report->shown, NULL, 1)) {
        (void)grout_diags_add_oom(report->session->diags);
        return true;
    }
    report->shown.items[report->shown.count++] = identity;
    return true;
}

/* The errors first, so that warnings do not take their room. Returns whether one was shown. */
static bool add_findings(grout_report *report, grout_kernel_id kernel, const grout_outcome *outcome,
                         grout_text *out) {
    size_t before = out->size;
    uint32_t count = outcome->checker == NULL ? 0 : grout_checker_get_count(outcome->checker);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            const grout_finding *finding = grout_checker_get_finding(outcome->checker, i);
            judgement found = judge(report, finding);
            bool is_error = found.severity == GROUT_SEVERITY_ERROR;
            if (is_error == (pass == 0) &&
                (outcome->exploration == NULL || note_shown(report, finding->identity))) {
                add_finding(report, kernel, finding, &found, out);
            }
        }
    }
    return out->size > before;
}

/* ---- the summary ---------------------------------------------------------------------------- */

static void add_count(grout_text *out, uint64_t count, const char *noun) {
    grout_text_add(out, ", %llu %s%s", (unsigned long long)count, noun, count == 1 ? "" : "s");
}

static void add_launch(grout_text *out, const grout_load *load, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(load->bound, id);
    const char *start = "";
    for (int kind = GROUT_AXIS_GRID; kind <= GROUT_AXIS_THREADS; kind++) {
        bool is_open = false;
        for (uint32_t i = 0; i < kernel->axis_count; i++) {
            if (kernel->axes[i].kind == kind) {
                static const char *const words[] = {"grid(", "cluster(", "threads("};
                const char *word = words[kind];
                grout_text_add(out, "%s%s%s=%lld", is_open ? ", " : start, is_open ? "" : word,
                               grout_module_get_string(load->bound, kernel->axes[i].name),
                               (long long)grout_kernel_get_axis_size(load->bound, id, i));
                is_open = true;
            }
        }
        grout_text_add(out, "%s", is_open ? ")" : "");
        start = is_open ? " " : start;
    }
    grout_text_add(out, "%s", start[0] == '\0' ? "one CTA of one thread" : "");
}

static void add_coverage(grout_text *out, const grout_load *load, grout_kernel_id kernel,
                         const grout_outcome *outcome) {
    const grout_launch_settings *settings = &outcome->settings;
    grout_text_add(out, "  covered: ");
    add_launch(out, load, kernel);
    if (load->define_count > 0) {
        grout_text_add(out, "; ");
        grout_load__describe_defines(load, out);
    }
    grout_text inputs = {0};
    grout_bindings__describe_inputs(&load->bindings, load->bound, kernel, &inputs);
    if (inputs.size > 0) {
        grout_text_add(out, "; inputs %s", inputs.data);
    }
    grout_text_free(&inputs);
    grout_text_add(out, "; %s schedule, %s timing", grout_schedule_get_text(settings->schedule),
                   grout_timing_get_text(settings->timing));
    if (has_seed(settings)) {
        grout_text_add(out, ", seed %llu", (unsigned long long)settings->seed);
    }
    grout_text_add(out, "\n");
}

/* Ended by the user, not by the budget, which every exploration has. */
static bool is_exploration_cut(const grout_outcome *outcome) {
    return outcome->exploration_cut == GROUT_CUT_TIMEOUT ||
           outcome->exploration_cut == GROUT_CUT_INTERRUPT;
}

static void add_assumption(grout_text *out, const grout_check_summary *summary) {
    if (summary->assuming[0] != '\0') {
        grout_text_add(out, ", assuming that %s", summary->assuming);
    }
}

static void add_explored(grout_text *out, const grout_outcome *outcome) {
    const grout_exploration *exploration = outcome->exploration;
    unsigned long long schedules = (unsigned long long)exploration->schedules;
    if (exploration->is_complete) {
        grout_text_add(out, "  holds for every schedule of this launch with these inputs");
        add_assumption(out, &outcome->summary);
        grout_text_add(out, ": %llu explored, which differ in what matters\n", schedules);
    } else {
        grout_text_add(out, "  holds for the %llu schedule%s explored: %s (%s)\n", schedules,
                       schedules == 1 ? "" : "s",
                       is_exploration_cut(outcome) ? grout_cut_get_text(outcome->exploration_cut)
                                                   : exploration->why_open,
                       outcome->summary.not_well_synchronised_because);
    }
}

static void add_promise(grout_text *out, const grout_outcome *outcome, bool has_errors,
                        bool is_verbose) {
    const grout_check_summary *summary = &outcome->summary;
    if (grout_outcome__get_cut(outcome) != NULL) {
        grout_text_add(out, "  the run is incomplete: %s; nothing is known of the rest\n",
                       grout_outcome__get_cut(outcome));
    } else if (outcome->exploration != NULL && !outcome->exploration->is_certified) {
        add_explored(out, outcome);
    } else if (summary->is_well_synchronised) {
        grout_text_add(out, "  holds for every schedule and timing of this launch with these "
                            "inputs");
        add_assumption(out, summary);
        grout_text_add(out, "\n");
    } else if (!has_errors || is_verbose) {
        grout_text_add(out, "  holds for this schedule%s%s\n",
                       summary->not_well_synchronised_because[0] == '\0' ? "" : ": ",
                       summary->not_well_synchronised_because);
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

static const char *get_word(const grout_outcome *outcome, uint64_t errors) {
    bool is_cut = grout_outcome__get_cut(outcome) != NULL || is_exploration_cut(outcome) ||
                  outcome->summary.verdict == GROUT_VERDICT_INCOMPLETE;
    return errors > 0 ? "error" : is_cut ? "incomplete" : "clean";
}

/* What the verdict does not speak of, and how to make it. */
static void add_reach(grout_text *out, const grout_report *report, grout_kernel_id kernel,
                      const grout_outcome *outcome) {
    const grout_reach *reach = outcome->settings.reach;
    if (reach == NULL || grout_reach__is_whole(reach)) {
        return;
    }
    grout_text_add(out, "  not reached: ");
    grout_reach__describe(reach, out);
    grout_text_add(out, "\n");
    if (outcome->proposal != NULL) {
        grout_text_add(out, "  to reach more: grout check");
        add_word(out, strcmp(report->load->name, "<stdin>") == 0 ? "-" : report->load->name);
        if (grout_module_get_kernel_count(report->load->bound) > 2) {
            grout_text_add(out, " --kernel @%s", get_kernel_name(report->load, kernel));
        }
        grout_text_add(out, "%s\n", outcome->proposal);
    }
}

/* counts: errors, warnings and silenced findings of this kernel. */
static void add_summary(grout_report *report, grout_kernel_id kernel, const grout_outcome *outcome,
                        const uint64_t counts[3], grout_text *out) {
    const grout_check_summary *summary = &outcome->summary;
    grout_text_add(out, "@%s: %s", get_kernel_name(report->load, kernel),
                   get_word(outcome, counts[0]));
    if (counts[0] > 0) {
        add_count(out, counts[0], "error");
    }
    if (counts[1] > 0) {
        add_count(out, counts[1], "warning");
    }
    if (counts[2] > 0) {
        grout_text_add(out, ", %llu silenced", (unsigned long long)counts[2]);
    }
    if (summary->suppressed_count > 0) {
        grout_text_add(out, ", %llu more that follow from these",
                       (unsigned long long)summary->suppressed_count);
    }
    if (report->unlisted_count > 0) {
        grout_text_add(out, ", %llu past --max-findings",
                       (unsigned long long)report->unlisted_count);
    }
    grout_text_add(out, "\n");
    add_coverage(out, report->load, kernel, outcome);
    add_promise(out, outcome, counts[0] > 0, report->session->is_verbose);
    if (counts[0] == 0) {
        add_reach(out, report, kernel, outcome);
    }
}

void grout_report__add_outcome(grout_report *report, grout_kernel_id kernel,
                               const grout_outcome *outcome) {
    GROUT_ASSERT(outcome->exploration == NULL || outcome->checker != NULL);
    GROUT_ASSERT(!outcome->has_more || outcome->exploration != NULL);
    GROUT_ASSERT((report->json != NULL) == report->session->is_json);
    grout_session *session = report->session;
    uint64_t before[3] = {report->error_count, report->warning_count, report->silenced_count};
    grout_text text = {0}, command = {0};
    bool has_findings = add_findings(report, kernel, outcome, &text);
    report->is_incomplete =
        report->is_incomplete || grout_outcome__get_cut(outcome) != NULL ||
        is_exploration_cut(outcome) ||
        (outcome->checker != NULL && outcome->summary.verdict == GROUT_VERDICT_INCOMPLETE);
    grout_report__print_command(report, kernel, outcome, &command);
    if (report->json != NULL && !outcome->has_more) {
        grout_outcome shown = *outcome;
        shown.summary.dropped_count = report->unlisted_count;
        grout_json__add_kernel(report->json, report->load, kernel, &shown,
                               command.data == NULL ? "" : command.data);
    } else if (report->json == NULL && outcome->checker != NULL) {
        uint64_t counts[3] = {report->error_count - before[0], report->warning_count - before[1],
                              report->silenced_count - before[2]};
        if (has_findings) {
            grout_text_add(&text, "see it again: %s\n", command.data == NULL ? "" : command.data);
        }
        for (int i = 0; i < 3; i++) {
            report->before[i] += counts[i];
        }
        if (!session->is_quiet && !outcome->has_more) {
            grout_text_add(&text, "%s", has_findings ? "\n" : "");
            add_summary(report, kernel, outcome, report->before, &text);
        }
        if (!outcome->has_more) {
            memset(report->before, 0, sizeof report->before);
        }
    } else if (report->json == NULL && grout_outcome__get_cut(outcome) != NULL) {
        grout_session__print(session, GROUT_STREAM_ERR, "@%s: %s\n",
                             get_kernel_name(report->load, kernel),
                             grout_outcome__get_cut(outcome));
    }
    if (!outcome->has_more) {
        report->shown.count = 0;
        report->listed_count = report->unlisted_count = 0;
    }
    grout_text_free(&command);
    grout_session__flush(session, GROUT_STREAM_OUT, &text);
}

/* ---- diagnostics ---------------------------------------------------------------------------- */

static void add_diag(grout_report *report, const grout_diag *diag) {
    grout_session *session = report->session;
    bool is_error = diag->severity == GROUT_SEVERITY_ERROR;
    bool is_use = grout_diag_get(diag->code)->stage == GROUT_STAGE_USE;
    int exit_code = is_error ? grout_exit_code_of(diag->code) : GROUT_EXIT_OK;
    report->error_count += exit_code == GROUT_EXIT_FINDING ? 1u : 0u;
    report->warning_count += diag->severity == GROUT_SEVERITY_WARNING ? 1u : 0u;
    report->silenced_count += diag->severity == GROUT_SEVERITY_OFF ? 1u : 0u;
    report->is_invalid = report->is_invalid || exit_code == GROUT_EXIT_USAGE;
    report->is_incomplete = report->is_incomplete || exit_code == GROUT_EXIT_INCOMPLETE ||
                            exit_code == GROUT_EXIT_INTERNAL || exit_code == GROUT_EXIT_INTERRUPTED;
    if (report->json != NULL) {
        grout_json__add_diag(report->json, diag);
        return;
    }
    if (diag->severity == GROUT_SEVERITY_OFF) {
        return;
    }
    /* Faults of the kernel are the answer. Faults of the call are not, nor are the warnings of a
     * kernel that runs unchecked. */
    grout_text text = {0};
    bool is_note = is_use || (report->is_run && !is_error);
    grout_stream stream = is_note ? GROUT_STREAM_ERR : GROUT_STREAM_OUT;
    render(session, diag, grout_session__wants_color(session, stream), &text);
    grout_session__flush(session, stream, &text);
}

void grout_report__add_diags(grout_report *report) {
    grout_diags *diags = report->session->diags;
    uint32_t count = grout_diags_count(diags);
    uint64_t seen = report->diags_seen;
    GROUT_ASSERT(seen <= grout_diags_total(diags));
    for (uint32_t i = 0; i < count; i++) {
        const grout_diag *diag = grout_diags_get(diags, i);
        if (diag->number > seen) {
            add_diag(report, diag);
        }
    }
    report->diags_seen = grout_diags_total(diags);
    report->is_invalid = report->is_invalid || grout_diags_total(diags) > count;
    if (report->json == NULL && grout_diags_total(diags) > report->total_shown &&
        grout_diags_total(diags) > count) {
        report->total_shown = grout_diags_total(diags);
        grout_session__print(report->session, GROUT_STREAM_OUT,
                             "%llu more not shown (at most %d are)\n",
                             (unsigned long long)(report->total_shown - count), GROUT_DIAGS_MAX);
    }
}

void grout_report__finish(grout_report *report) {
    grout_text text = {0};
    if (report->session->is_verbose) {
        grout_silencer__describe_unused(&report->silencer, &text);
        grout_session__flush(report->session, GROUT_STREAM_ERR, &text);
    }
    if (report->json == NULL) {
        return;
    }
    if (grout_json__print(report->json, report->load, grout_report__get_verdict(report),
                          report->session->is_sarif ? report->text : NULL, &text)) {
        grout_session__flush(report->session, GROUT_STREAM_OUT, &text);
    } else {
        grout_text_free(&text);
        (void)grout_diags_add_oom(report->session->diags);
    }
}
