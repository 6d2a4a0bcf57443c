/* report.c - findings and summary as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "array.h"
#include "followers.h"
#include "html.h"
#include "invariant.h"
#include "joined.h"
#include "kept.h"
#include "mismatch.h"
#include "page_facts.h"
#include "summary.h"

#include <jansson.h>
#include <string.h>

bool grout_reporter__init(grout_reporter *report, grout_session *session, const grout_load *load,
                          const grout_bytes *text) {
    *report = (grout_reporter){.session = session, .load = load, .text = text};
    const bool has_other_form =
        session->kept != NULL || grout_options__has(&session->options, GROUT_OPTION_HTML);
    if (session->is_json || has_other_form) {
        const grout_json_form form = has_other_form      ? GROUT_JSON_OBJECTS
                                     : session->is_sarif ? GROUT_JSON_SARIF
                                                         : GROUT_JSON_TEXT;
        report->json = grout_json__new(form, load, text);
        return report->json != NULL || grout_diags_add_oom(session->diags);
    }
    return true;
}

bool grout_reporter__read_rules(grout_reporter *report) {
    return grout_silencer__init(&report->silencer, report->session, report->load->name,
                                report->text);
}

void grout_reporter__deinit(grout_reporter *report) {
    grout_silencer__deinit(&report->silencer);
    grout_json__free(report->json);
    grout_lookup__deinit(&report->shown);
    grout_followers__deinit(&report->followers);
    for (size_t i = 0; i < report->differences.count; i++) {
        json_decref(report->differences.items[i].facts);
    }
    grout__free(report->differences.items);
    grout_text_free(&report->held);
    grout_not_begun__deinit(&report->not_begun);
    *report = (grout_reporter){0};
}

const char *grout_reporter__get_verdict(const grout_reporter *report) {
    return report->is_invalid          ? "invalid"
           : report->error_count > 0   ? "error"
           : report->is_incomplete     ? "incomplete"
           : report->lowered_count > 0 ? "warning"
                                       : "clean";
}

/* ---- findings ------------------------------------------------------------------------------- */

grout_judgement grout_reporter__judge(grout_reporter *report, const grout_finding *finding) {
    grout_severity severity =
        grout_session__get_severity(report->session, finding->code, finding->severity);
    const grout_allowance *allowance =
        severity == GROUT_SEVERITY_OFF ? NULL : grout_silencer__find(&report->silencer, finding);
    return (grout_judgement){allowance != NULL ? GROUT_SEVERITY_OFF : severity, allowance};
}

bool grout_reporter__is_lowered(const grout_finding *finding, grout_severity severity) {
    return finding->severity == GROUT_SEVERITY_ERROR && severity == GROUT_SEVERITY_WARNING;
}

void grout_reporter__count(grout_reporter *report, const grout_finding *finding,
                           grout_severity severity) {
    /* To reach a limit is no fault of the kernel. */
    bool is_limit = grout_exit_code_of(finding->code) == GROUT_EXIT_INCOMPLETE;
    report->is_incomplete = report->is_incomplete || is_limit;
    report->error_count += severity == GROUT_SEVERITY_ERROR && !is_limit ? 1u : 0u;
    report->warning_count += severity == GROUT_SEVERITY_WARNING ? 1u : 0u;
    report->silenced_count += severity == GROUT_SEVERITY_OFF ? 1u : 0u;
    report->lowered_count += grout_reporter__is_lowered(finding, severity) ? 1u : 0u;
}

/* Adds a finding to the facts. */
static void add_facts(grout_reporter *report, grout_kernel_id kernel, const grout_outcome *outcome,
                      const grout_finding *finding, const grout_judgement *found, bool is_listed) {
    const bool is_follower = grout_followers__is_one(report, finding);
    json_t *object = grout_json__make_finding(
        report->json, grout_summary__get_kernel_name(report->load, kernel), finding,
        is_follower ? finding->cause : NULL, found->severity, found->allowance);
    grout_page_facts__add_path(report, object, outcome->checker, finding);
    grout_page_facts__add_finding(report, object, finding, found->severity, is_listed);
    grout_json__take_finding(report->json, object);
}

static void list_finding(grout_reporter *report, grout_kernel_id kernel,
                         const grout_outcome *outcome, const grout_finding *finding,
                         const grout_judgement *found, grout_text *out) {
    grout_session *session = report->session;
    bool is_follower = grout_followers__is_one(report, finding);
    if (report->json != NULL) {
        add_facts(report, kernel, outcome, finding, found, true);
    }
    if (!session->is_json && found->severity != GROUT_SEVERITY_OFF &&
        (!is_follower || session->is_verbose)) {
        grout_diag diag = *finding->diag;
        diag.severity = found->severity;
        grout_reporter__render(session, &diag, GROUT_STREAM_OUT, out);
        if (finding->count > 1) {
            grout_text_add(out, "  seen %llu times\n", (unsigned long long)finding->count);
        }
        grout_followers__add(report, outcome->checker, finding, out);
        grout_text_add(out, "%s", session->is_github ? "" : "\n");
    }
}

/* Counts a finding, and lists it while there is room: at most --max-findings of a kernel. What is
 * silenced takes no room. */
static void add_finding(grout_reporter *report, grout_kernel_id kernel,
                        const grout_outcome *outcome, const grout_finding *finding,
                        grout_text *out) {
    grout_judgement found = grout_reporter__judge(report, finding);
    uint64_t most = grout_options__get_count(&report->session->options, GROUT_OPTION_MAX_FINDINGS,
                                             GROUT_DIAGS_MAX);
    bool is_silenced = found.severity == GROUT_SEVERITY_OFF;
    grout_reporter__count(report, finding, found.severity);
    if (grout_followers__is_one(report, finding)) {
        report->folded_errors += found.severity == GROUT_SEVERITY_ERROR ? 1u : 0u;
        report->folded_warnings += found.severity == GROUT_SEVERITY_WARNING ? 1u : 0u;
    }
    if (!is_silenced && report->listed_count == most) {
        report->unlisted_count++;
        if (report->session->kept != NULL) { /* who keeps a report may list it all the same */
            add_facts(report, kernel, outcome, finding, &found, false);
        }
        return;
    }
    report->listed_count += is_silenced ? 0u : 1u;
    list_finding(report, kernel, outcome, finding, &found, out);
}

/* Whether this is the first schedule to show the finding; notes that it was shown. */
static bool note_shown(grout_reporter *report, uint64_t identity) {
    uint32_t *times = grout_lookup__at(&report->shown, identity);
    if (times == NULL) {
        (void)grout_diags_add_oom(report->session->diags);
        return true;
    }
    *times += *times < UINT32_MAX ? 1u : 0u;
    return *times == 1;
}

/* Whether it stands among the errors: as one, or with its cause. */
static bool is_among_errors(grout_reporter *report, const grout_finding *finding) {
    const grout_finding *head = grout_followers__is_one(report, finding) ? finding->cause : finding;
    return grout_reporter__judge(report, head).severity == GROUT_SEVERITY_ERROR;
}

/* The errors first, so that warnings do not take their room; what follows from a finding stands
 * with it. Returns whether one was shown. */
static bool add_findings(grout_reporter *report, grout_kernel_id kernel,
                         const grout_outcome *outcome, grout_text *out) {
    size_t before = out->size;
    uint32_t count = outcome->checker == NULL ? 0 : grout_checker_get_count(outcome->checker);
    if (count > 0 && !grout_followers__note(&report->followers, outcome->checker)) {
        (void)grout_diags_add_oom(report->session->diags);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            const grout_finding *finding = grout_checker_get_finding(outcome->checker, i);
            if (is_among_errors(report, finding) == (pass == 0) &&
                (outcome->exploration == NULL || note_shown(report, finding->identity))) {
                add_finding(report, kernel, outcome, finding, out);
            }
        }
    }
    return out->size > before;
}

/* What all outcomes so far of the kernel have shown. */
static grout_finding_counts get_counts(const grout_reporter *report, const grout_outcome *outcome) {
    return (grout_finding_counts){
        .errors = report->before[0] - report->before[3],
        .warnings = report->before[1] - report->before[4],
        .silenced = report->before[2],
        .follow_on = outcome->summary.suppressed_count + report->before[3] + report->before[4],
        .unlisted = report->unlisted_count,
    };
}

/* The facts of a kernel whose outcomes have all been seen. */
static void add_kernel_facts(grout_reporter *report, grout_kernel_id kernel,
                             const grout_outcome *outcome, const char *command) {
    grout_outcome shown = *outcome;
    shown.summary.dropped_count = report->unlisted_count;
    json_t *object = grout_json__make_kernel(report->json, report->load, kernel, &shown, command);
    if (outcome->checker != NULL) {
        const grout_finding_counts counts = get_counts(report, outcome);
        grout_text words = {0};
        grout_summary__add(report, kernel, outcome, &counts, NULL, &words);
        grout_page_facts__add_words(report, object, &words);
        grout_page_facts__add_promise(report, object, &shown, counts.errors > 0);
    }
    grout_page_facts__add_stats(report, object, &shown);
    grout_page_facts__add_memory(report, object, kernel);
    grout_page_facts__keep_shown(report, object);
    grout_json__take_kernel(report->json, object);
}

void grout_reporter__note_incomplete(grout_reporter *report) {
    struct grout_joined *joined = report->joined;
    report->is_incomplete = true;
    if (joined != NULL) {
        joined->results[joined->at].is_incomplete = true;
    }
}

grout_not_begun *grout_reporter__get_not_begun(grout_reporter *report) {
    struct grout_joined *joined = report->joined;
    return joined != NULL ? &joined->results[joined->at].not_begun : &report->not_begun;
}

/* Moves a text to the end of another one. */
static void take_text(grout_text *from, grout_text *out) {
    out->failed |= from->failed;
    grout_text_add_bytes(out, from->data == NULL ? "" : from->data, from->size);
    grout_text_free(from);
    *from = (grout_text){0};
}

void grout_reporter__add_outcome(grout_reporter *report, grout_kernel_id kernel,
                                 const grout_outcome *outcome) {
    GROUT_ASSERT(outcome->exploration == NULL || outcome->checker != NULL);
    GROUT_ASSERT(!outcome->has_more || outcome->exploration != NULL);
    GROUT_ASSERT(report->json != NULL || !report->session->is_json);
    if (report->joined != NULL) {
        grout_joined__add_outcome(report, kernel, outcome);
        return;
    }
    grout_session *session = report->session;
    grout_render_options look = grout_session__get_look(session, GROUT_STREAM_OUT);
    const uint64_t *const sums[] = {&report->error_count,     &report->warning_count,
                                    &report->silenced_count,  &report->folded_errors,
                                    &report->folded_warnings, &report->lowered_count};
    uint64_t before[6];
    for (uint32_t i = 0; i < 6; i++) {
        before[i] = *sums[i];
    }
    grout_text text = {0}, command = {0}, fix = {0};
    bool has_findings = add_findings(report, kernel, outcome, &text);
    for (uint32_t i = 0; i < 6; i++) {
        report->before[i] += *sums[i] - before[i];
    }
    if (outcome->differs != NULL) {
        grout_session__flush(session, GROUT_STREAM_OUT, &text);
        grout_reporter__add_diags(report);
        has_findings = true;
    }
    report->has_outcome = true;
    take_text(&report->held, &text);
    report->is_incomplete = report->is_incomplete || grout_summary__is_open(outcome);
    grout_reporter__print_command(report, kernel, outcome, &command);
    const char *again = command.data == NULL ? "" : command.data;
    if (report->json != NULL && !outcome->has_more) {
        add_kernel_facts(report, kernel, outcome, again);
    }
    if (!session->is_json && outcome->checker != NULL) {
        if (has_findings) {
            grout_reporter__add_command(&look, "see it again: ", again, &text);
        }
        if (has_findings && !outcome->has_more &&
            (report->before[0] > 0 || outcome->differs != NULL)) {
            grout_reporter__print_fix(report, kernel, outcome, &fix);
            grout_reporter__add_command(&look, "try repairs: ", fix.data == NULL ? "" : fix.data,
                                        &text);
        }
        if (!session->is_quiet && !outcome->has_more) {
            const grout_finding_counts counts = get_counts(report, outcome);
            grout_text_add(&text, "%s", has_findings ? "\n" : "");
            grout_summary__add(report, kernel, outcome, &counts, &look, &text);
        }
    } else if (!session->is_json && grout_outcome__get_cut(outcome) != NULL) {
        grout_session__note(session, "@%s: %s\n",
                            grout_summary__get_kernel_name(report->load, kernel),
                            grout_outcome__get_cut(outcome));
    }
    if (!outcome->has_more) {
        memset(report->before, 0, sizeof report->before);
        grout_lookup__deinit(&report->shown);
        report->listed_count = report->unlisted_count = 0;
    }
    grout_text_free(&command);
    grout_text_free(&fix);
    grout_session__flush(session, GROUT_STREAM_OUT, &text);
}

/* ---- diagnostics ---------------------------------------------------------------------------- */

static void add_diag(grout_reporter *report, const grout_diag *diag) {
    grout_session *session = report->session;
    if (report->joined != NULL && !grout_joined__add_diag(report, diag)) {
        return; /* it is counted already */
    }
    bool is_error = diag->severity == GROUT_SEVERITY_ERROR;
    bool is_use = grout_diag_get(diag->code)->stage == GROUT_STAGE_USE;
    int exit_code = is_error ? grout_exit_code_of(diag->code) : GROUT_EXIT_OK;
    report->error_count += exit_code == GROUT_EXIT_FINDING ? 1u : 0u;
    report->warning_count += diag->severity == GROUT_SEVERITY_WARNING ? 1u : 0u;
    report->silenced_count += diag->severity == GROUT_SEVERITY_OFF ? 1u : 0u;
    report->is_invalid = report->is_invalid || exit_code == GROUT_EXIT_USAGE;
    report->is_incomplete = report->is_incomplete || exit_code == GROUT_EXIT_INCOMPLETE ||
                            exit_code == GROUT_EXIT_INTERNAL || exit_code == GROUT_EXIT_INTERRUPTED;
    if (report->joined != NULL) {
        return; /* it is shown at the end, with its sizes */
    }
    if (report->json != NULL) {
        json_t *object = grout_json__make_diag(report->json, diag);
        grout_page_facts__add_diag(report, object, diag);
        grout_mismatch__add_facts(report, diag, object);
        grout_json__take_finding(report->json, object);
    }
    if (session->is_json || diag->severity == GROUT_SEVERITY_OFF) {
        return;
    }
    /* Faults of the kernel are the answer. Faults of the call are not, nor are the warnings of a
     * kernel that runs unchecked. */
    grout_text text = {0};
    bool is_note = is_use || (report->is_run && !is_error);
    grout_stream stream = is_note ? GROUT_STREAM_ERR : GROUT_STREAM_OUT;
    grout_reporter__render(session, diag, stream, &text);
    grout_text_add(&text, "%s", session->is_github ? "" : "\n");
    if (stream == GROUT_STREAM_OUT && !is_error && !report->has_outcome) {
        take_text(&text, &report->held);
    } else {
        grout_session__flush(session, stream, &text);
    }
}

void grout_reporter__add_diags(grout_reporter *report) {
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
    report->is_invalid = report->is_invalid || grout_diags_has_dropped_error(diags);
    if (!report->session->is_json && grout_diags_total(diags) > report->total_shown &&
        grout_diags_total(diags) > count) {
        report->total_shown = grout_diags_total(diags);
        grout_session__print(report->session, GROUT_STREAM_OUT,
                             "%llu more not shown (at most %d are)\n",
                             (unsigned long long)(report->total_shown - count), GROUT_DIAGS_MAX);
    }
}

/* The page of --html. What goes wrong is said beside the report. */
static bool write_page(grout_reporter *report, const json_t *facts) {
    const char *path = grout_options__get(&report->session->options, GROUT_OPTION_HTML);
    grout_text page = {0};
    bool is_good = facts != NULL && grout_html__print(facts, report->text, &page);
    if (is_good) {
        const grout_chunk chunk = {page.data, page.size};
        is_good = grout_session__write_file(report->session, path, &chunk, 1);
    } else {
        is_good = grout_diags_add_oom(report->session->diags);
    }
    grout_text_free(&page);
    return is_good;
}

/* Diagnostics of the report itself, which are of no size. */
static void add_own_diags(grout_reporter *report) {
    struct grout_joined *joined = report->joined;
    report->joined = NULL;
    grout_reporter__add_diags(report);
    report->joined = joined;
}

/* The answer as JSON. False without memory. */
static bool print_json(const grout_reporter *report, json_t *facts) {
    grout_session *session = report->session;
    grout_json_pieces pieces = {0};
    const bool is_good =
        facts != NULL && grout_json__take_pieces(report->json, facts, report->load->name,
                                                 session->is_sarif ? report->text : NULL, &pieces);
    for (uint32_t i = 0; is_good && i < pieces.count; i++) {
        grout_session__flush_exact(session, GROUT_STREAM_OUT, &pieces.items[i]);
    }
    grout_json_pieces__deinit(&pieces);
    return is_good;
}

/* What is made of the facts: the page, then the answer. */
static void print_facts(grout_reporter *report) {
    grout_session *session = report->session;
    const char *verdict = grout_reporter__get_verdict(report);
    if (report->not_begun.because != NULL) {
        grout_json__take_not_begun(report->json, grout_not_begun__make_json(&report->not_begun));
    }
    json_t *facts = grout_json__make_report(report->json, report->load, verdict);
    if (grout_options__has(&session->options, GROUT_OPTION_HTML) && !write_page(report, facts)) {
        add_own_diags(report);
    }
    if (session->kept != NULL && facts != NULL &&
        !grout_kept__take(session->kept, facts, report->load->name, report->text)) {
        (void)grout_diags_add_oom(session->diags);
    }
    if (session->is_json) {
        grout_page_facts__drop(facts);
    }
    if (session->is_json && !print_json(report, facts)) {
        (void)grout_diags_add_oom(session->diags);
        grout_session__print_diags(session, GROUT_STREAM_ERR);
    }
    json_decref(facts);
}

/* An annotation, or a remark: JSON alone is on stdout. */
static void say_not_begun(const grout_reporter *report) {
    grout_text words = {0}, line = {0};
    grout_not_begun__describe(&report->not_begun, &words);
    const char *text = words.data == NULL ? "" : words.data;
    if (report->session->is_github) {
        const grout_load *load = report->not_begun.load;
        const grout_kernel *first =
            grout_module_get_kernel(load->symbolic, report->not_begun.kernels.items[0]);
        grout_reporter__annotate(grout_module_get_place(load->symbolic, first->loc), "not-begun",
                                 text, &line);
        grout_session__flush(report->session, GROUT_STREAM_OUT, &line);
    } else {
        grout_session__note(report->session, "%s\n", text);
    }
    grout_text_free(&words);
}

void grout_reporter__finish(grout_reporter *report) {
    grout_text text = {0};
    if (report->session->is_verbose) {
        grout_silencer__describe_unused(&report->silencer, &text);
        grout_session__flush(report->session, GROUT_STREAM_ERR, &text);
    }
    take_text(&report->held, &text);
    grout_session__flush(report->session, GROUT_STREAM_OUT, &text);
    if (report->joined != NULL) {
        grout_joined__print(report);
    }
    if (report->not_begun.because != NULL) {
        say_not_begun(report);
    }
    if (report->json != NULL) {
        print_facts(report);
    }
}
