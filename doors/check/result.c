/* result.c - see report.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include "alloc.h"

#include <jansson.h>
#include <string.h>

grout_report *grout_result__new(const grout_memory_files *given) {
    grout_report *report = grout__new(NULL, 1, sizeof *report);
    if (report != NULL) {
        grout_memory_host__init(&report->host, given);
    }
    return report;
}

static const char *get_text(const grout_text *text) {
    return text->data == NULL ? "" : text->data;
}

/* Appends a text of ours without its colours: "ESC [ .. m". */
static void add_plain(const grout_text *text, grout_text *out) {
    const char *at = text->data, *end = at == NULL ? NULL : at + text->size;
    while (at != end) {
        const char *escape = memchr(at, '\033', (size_t)(end - at));
        const char *stop = escape == NULL ? end : escape;
        grout_text_add_bytes(out, at, (size_t)(stop - at));
        const char *last = escape == NULL ? NULL : memchr(escape, 'm', (size_t)(end - escape));
        at = last == NULL ? end : last + 1;
    }
}

grout_report *grout_result__finish(grout_report *report, grout_diags *diags) {
    add_plain(&report->host.streams[GROUT_STREAM_OUT], &report->plain);
    add_plain(&report->host.streams[GROUT_STREAM_ERR], &report->remarks);
    if (report->kept.facts == NULL || report->plain.failed) {
        if (report->plain.failed || !grout_diags_has_errors(diags)) {
            (void)grout_diags_add_oom(diags);
        }
        grout_report_free(report);
        return NULL;
    }
    return report;
}

void grout_report_free(grout_report *report) {
    if (report == NULL) {
        return;
    }
    grout_memory_host__deinit(&report->host);
    grout_kept__deinit(&report->kept);
    grout_repaired__deinit(&report->repaired);
    grout_text_free(&report->plain);
    grout_text_free(&report->remarks);
    grout__free(report);
}

const char *grout_report_get_verdict(const grout_report *report) {
    return json_string_value(json_object_get(report->kept.facts, "verdict"));
}

int grout_report_get_exit_code(const grout_report *report) {
    return report->exit_code;
}

bool grout_report_print(grout_report *report, grout_report_form form, grout_text *out) {
    const grout_text *colored = &report->host.streams[GROUT_STREAM_OUT];
    switch (form) {
    case GROUT_REPORT_TEXT:
        grout_text_add_bytes(out, report->plain.data, report->plain.size);
        return !out->failed;
    case GROUT_REPORT_COLOR:
        grout_text_add_bytes(out, colored->data, colored->size);
        return !out->failed;
    case GROUT_REPORT_JSON:
        return grout_kept__print_json(&report->kept, out);
    case GROUT_REPORT_SARIF:
        return grout_kept__print_sarif(&report->kept, out);
    case GROUT_REPORT_FACTS:
        return grout_kept__print_facts(&report->kept, out);
    case GROUT_REPORT_HTML:
        return grout_kept__print_html(&report->kept, out);
    }
    return false;
}

const char *grout_report_get_remarks(const grout_report *report) {
    return get_text(&report->remarks);
}

const char *grout_report_get_file(const grout_report *report, size_t index, const char **data_out,
                                  size_t *size_out) {
    if (index >= report->host.written.count) {
        return NULL;
    }
    const grout_memory_file *file = &report->host.written.items[index];
    *data_out = get_text(&file->bytes);
    *size_out = file->bytes.size;
    return file->name;
}

/* ---- of a repair ---------------------------------------------------------------------------- */

const char *grout_report_get_repaired(const grout_report *report, size_t *size_out) {
    *size_out = report->repaired.text.size;
    return report->repaired.text.data;
}

const char *grout_report_get_diff(const grout_report *report) {
    return get_text(&report->repaired.diff);
}

const char *grout_report_get_steps(const grout_report *report) {
    return get_text(&report->repaired.steps);
}

const char *grout_report_get_outcome(const grout_report *report) {
    return get_text(&report->repaired.verdict);
}
