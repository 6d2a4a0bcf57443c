/* json.c - the report as one JSON object, schema grout-report/1 (docs/report_schema.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include "invariant.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct grout_json {
    grout_json_list findings, silenced, kernels;
    json_t *sweep;     /* NULL: there is one size */
    json_t *not_begun; /* NULL: all kernels were begun */
    /* of a log alone, whose findings are its results: made with the first of them */
    grout_sarif *sarif;
    bool is_sarif;
    const grout_load *load;
    const grout_bytes *text;
    bool failed; /* no memory */
};

grout_json *grout_json__new(grout_json_form form, const grout_load *load, const grout_bytes *text) {
    /* How deep items are in a report, and in a SARIF log, which has its kernels as they are. */
    enum { FINDING = 2, RESULT = 4, KERNEL = 3, KERNEL_OF_SARIF = 6 };
    const bool is_text = form == GROUT_JSON_TEXT, is_sarif = form == GROUT_JSON_SARIF;
    grout_json *json = calloc(1, sizeof *json);
    if (json != NULL) {
        json->is_sarif = is_sarif;
        json->load = load;
        json->text = text;
        json->failed = !grout_json_list__init(&json->findings, is_text || is_sarif,
                                              is_sarif ? RESULT : FINDING);
        json->failed |= !grout_json_list__init(&json->silenced, is_text, FINDING);
        json->failed |= !grout_json_list__init(&json->kernels, is_text || is_sarif,
                                               is_sarif ? KERNEL_OF_SARIF : KERNEL);
    }
    return json;
}

void grout_json__free(grout_json *json) {
    if (json != NULL) {
        grout_json_list__deinit(&json->findings);
        grout_json_list__deinit(&json->silenced);
        grout_json_list__deinit(&json->kernels);
        json_decref(json->sweep);
        json_decref(json->not_begun);
        grout_sarif__free(json->sarif);
        free(json);
    }
}

/* ---- values --------------------------------------------------------------------------------- */

static const char *get_severity_text(grout_severity severity) {
    switch (severity) {
    case GROUT_SEVERITY_ERROR:
        return "error";
    case GROUT_SEVERITY_WARNING:
        return "warning";
    case GROUT_SEVERITY_ADVICE:
        return "help";
    case GROUT_SEVERITY_NOTE:
        return "note";
    case GROUT_SEVERITY_OFF:
        return "off";
    }
    return "";
}

/* File names may be any bytes; those that are no UTF-8 are made visible. */
json_t *grout_json__make_string(const char *text) {
    json_t *string = json_string(text);
    if (string != NULL) {
        return string;
    }
    grout_text clean = {0};
    grout_text_add_visible(&clean, text, strlen(text), GROUT_KEEP_LINES | GROUT_KEEP_TABS);
    string = clean.data == NULL ? NULL : json_string(clean.data);
    grout_text_free(&clean);
    return string;
}

static void set(grout_json *json, json_t *object, const char *key, json_t *value) {
    json_t *check = json_string(key); /* a key that is no UTF-8, from -D: it has no const */
    if (check == NULL) {
        json_decref(value);
        return;
    }
    json_decref(check);
    if (value == NULL || json_object_set_new(object, key, value) != 0) {
        json->failed = true;
    }
}

static void set_text(grout_json *json, json_t *object, const char *key, const char *value) {
    set(json, object, key, grout_json__make_string(value == NULL ? "" : value));
}

/* jansson's integers are signed; counts stay far below. */
static void set_count(grout_json *json, json_t *object, const char *key, uint64_t value) {
    set(json, object, key, json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value)));
}

static void append(grout_json *json, json_t *array, json_t *value) {
    if (value == NULL || json_array_append_new(array, value) != 0) {
        json->failed = true;
    }
}

static json_t *make_place(grout_json *json, grout_place place) {
    if (place.file == NULL) {
        return json_null();
    }
    json_t *object = json_object();
    set_text(json, object, "file", place.file);
    set_count(json, object, "line", place.line);
    set_count(json, object, "column", place.column);
    set_count(json, object, "length", place.length);
    return object;
}

static json_t *make_notes(grout_json *json, const grout_diag *diag) {
    json_t *notes = json_array();
    for (uint32_t i = 0; diag != NULL && i < diag->note_count; i++) {
        json_t *note = json_object();
        set_text(json, note, "severity", get_severity_text(diag->notes[i].severity));
        set_text(json, note, "message", diag->notes[i].message);
        set(json, note, "place", make_place(json, diag->notes[i].place));
        append(json, notes, note);
    }
    return notes;
}

static void set_identity(grout_json *json, json_t *object, const char *key, uint64_t identity) {
    char text[17];
    for (int i = 15; i >= 0; i--) {
        text[i] = "0123456789abcdef"[identity & 15];
        identity >>= 4;
    }
    text[16] = '\0';
    set_text(json, object, key, text);
}

/* ---- findings ------------------------------------------------------------------------------- */

static json_t *make_accesses(grout_json *json, const grout_finding *finding) {
    json_t *accesses = json_array();
    for (uint32_t i = 0; i < finding->access_count; i++) {
        const grout_finding_access *access = &finding->accesses[i];
        json_t *object = json_object();
        set(json, object, "place", make_place(json, access->place));
        set_text(json, object, "op", access->op);
        set_text(json, object, "where", access->where);
        set_text(json, object, "engine", access->engine);
        set_text(json, object, "box", access->box);
        /* A wait or a limit is no access: it has no engine. */
        set_text(json, object, "kind",
                 access->engine == NULL || access->engine[0] == '\0' ? "none"
                 : access->is_write                                  ? "write"
                                                                     : "read");
        append(json, accesses, object);
    }
    return accesses;
}

static json_t *make_edit(grout_json *json, const grout_finding_edit *edit) {
    if (edit->place.file == NULL) {
        return json_null();
    }
    json_t *object = json_object();
    set(json, object, "place", make_place(json, edit->place));
    set_text(json, object, "position",
             edit->is_replacement ? "replace" : (edit->is_after ? "after" : "before"));
    set_text(json, object, "text", edit->text);
    return object;
}

json_t *grout_json__make_finding(grout_json *json, const char *kernel, const grout_finding *finding,
                                 const grout_finding *cause, grout_severity severity,
                                 const grout_allowance *allowance) {
    json_t *object = json_object();
    bool is_silenced = severity == GROUT_SEVERITY_OFF;
    GROUT_ASSERT(is_silenced || allowance == NULL);
    GROUT_ASSERT(finding->access_count <= sizeof finding->accesses / sizeof finding->accesses[0]);
    /* Only active findings have the key 'code', so that a search for it counts those. */
    set_text(json, object, is_silenced ? "silenced_code" : "code",
             grout_diag_get(finding->code)->text);
    if (is_silenced) {
        set_text(json, object, "silenced_by", allowance == NULL ? "--severity" : allowance->by);
        set_text(json, object, "reason", allowance == NULL ? "" : allowance->reason);
    } else {
        set_text(json, object, "severity", get_severity_text(severity));
    }
    set_identity(json, object, "identity", finding->identity);
    set_text(json, object, "kernel", kernel);
    set(json, object, "primary", make_place(json, finding->primary));
    set(json, object, "related", make_place(json, finding->related));
    set_text(json, object, "message", finding->diag->message);
    set(json, object, "notes", make_notes(json, finding->diag));
    set(json, object, "accesses", make_accesses(json, finding));
    set_text(json, object, "missing_edge", finding->missing_edge);
    set_text(json, object, "repair", finding->repair);
    set(json, object, "edit", make_edit(json, &finding->edit));
    set_count(json, object, "count", finding->count);
    if (cause != NULL) {
        set_identity(json, object, "follows_from", cause->identity);
    }
    return object;
}

/* The log whose results the findings are; NULL without memory. */
static grout_sarif *get_sarif(grout_json *json) {
    if (json->sarif == NULL) {
        json->sarif = grout_sarif__new(json->load->name);
    }
    if (json->sarif != NULL) {
        grout_sarif__set_text(json->sarif, json->text);
    }
    return json->sarif;
}

static void take_result(grout_json *json, const json_t *finding) {
    grout_sarif *sarif = get_sarif(json);
    json_t *result = sarif == NULL ? NULL : grout_sarif__make_result(sarif, finding);
    json->failed |= !grout_json_list__take(&json->findings, result);
}

void grout_json__take_finding(grout_json *json, json_t *finding) {
    bool is_silenced = json_object_get(finding, "code") == NULL;
    if (json->is_sarif && !is_silenced) {
        take_result(json, finding);
        json_decref(finding);
        return;
    }
    json->failed |=
        !grout_json_list__take(is_silenced ? &json->silenced : &json->findings, finding);
}

uint64_t grout_json__take_identity(grout_text *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text->size; i++) {
        hash = (hash ^ (unsigned char)text->data[i]) * UINT64_C(0x100000001b3);
    }
    grout_text_free(text);
    return hash;
}

static uint64_t get_identity(const grout_diag *diag) {
    grout_text text = {0};
    grout_text_add(&text, "%s:%s:%u:%u", grout_diag_get(diag->code)->text,
                   diag->place.file == NULL ? "" : diag->place.file, diag->place.line,
                   diag->place.column);
    return grout_json__take_identity(&text);
}

json_t *grout_json__make_diag(grout_json *json, const grout_diag *diag) {
    json_t *object = json_object();
    bool is_silenced = diag->severity == GROUT_SEVERITY_OFF;
    set_text(json, object, is_silenced ? "silenced_code" : "code",
             grout_diag_get(diag->code)->text);
    if (is_silenced) {
        set_text(json, object, "silenced_by", "--severity");
        set_text(json, object, "reason", "");
    } else {
        set_text(json, object, "severity",
                 diag->severity == GROUT_SEVERITY_ADVICE ? "advice"
                                                         : get_severity_text(diag->severity));
    }
    set_identity(json, object, "identity", get_identity(diag));
    set(json, object, "kernel", json_null());
    set(json, object, "primary", make_place(json, diag->place));
    set(json, object, "related", json_null());
    set_text(json, object, "message", diag->message);
    set(json, object, "notes", make_notes(json, diag));
    set(json, object, "accesses", json_array());
    set_text(json, object, "missing_edge", "");
    set_text(json, object, "repair", "");
    set(json, object, "edit", json_null());
    set_count(json, object, "count", 1);
    return object;
}

/* ---- coverage ------------------------------------------------------------------------------- */

static json_t *make_axes(grout_json *json, const grout_load *load, grout_kernel_id id,
                         grout_axis_kind kind) {
    const grout_kernel *kernel = grout_module_get_kernel(load->bound, id);
    json_t *axes = json_object();
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        if (kernel->axes[i].kind == kind) {
            set(json, axes, grout_module_get_string(load->bound, kernel->axes[i].name),
                json_integer(grout_kernel_get_axis_size(load->bound, id, i)));
        }
    }
    return axes;
}

static const char *get_cut_text(grout_cut cut) {
    return cut == GROUT_CUT_TIMEOUT  ? "timeout"
           : cut == GROUT_CUT_BUDGET ? "budget"
                                     : "interrupted";
}

static const char *get_status(const grout_outcome *outcome) {
    /* The budget is what an exploration has; what else ends it is the end of the check. */
    if (outcome->exploration_cut == GROUT_CUT_TIMEOUT ||
        outcome->exploration_cut == GROUT_CUT_INTERRUPT) {
        return get_cut_text(outcome->exploration_cut);
    }
    switch (outcome->status) {
    case GROUT_RUN_DONE:
        return "done";
    case GROUT_RUN_DEADLOCK:
        return "deadlock";
    case GROUT_RUN_STEP_LIMIT:
        return "step-limit";
    case GROUT_RUN_INTERRUPTED:
        return get_cut_text(outcome->cut);
    case GROUT_RUN_PAUSED:
    case GROUT_RUN_FAILED:
        return "failed";
    }
    return "failed";
}

static json_t *make_names(grout_json *json, const grout_reach *reach,
                          const grout_reach_objects *objects) {
    json_t *names = json_array();
    for (size_t i = 0; i < objects->count; i++) {
        const grout_object *object = grout_module_get_object(reach->module, objects->items[i]);
        append(json, names,
               grout_json__make_string(grout_module_get_string(
                   reach->module, grout_module_get_value(reach->module, object->value)->name)));
    }
    return names;
}

/* What a run that came to its end did not reach; null if it did not, or nothing has counted. */
json_t *grout_json__make_not_reached(grout_json *json, const grout_reach *reach,
                                     const char *proposal) {
    if (reach == NULL) {
        return json_null();
    }
    json_t *object = json_object(), *lines = json_array(), *loops = json_array();
    for (size_t i = 0; i < reach->lines.count; i++) {
        append(
            json, lines,
            json_pack("[i,i]", (int)reach->lines.items[i].first, (int)reach->lines.items[i].last));
    }
    for (size_t i = 0; i < reach->loops.count; i++) {
        append(json, loops, json_integer(reach->loops.items[i]));
    }
    set(json, object, "lines", lines);
    set(json, object, "barriers_that_never_came_round", make_names(json, reach, &reach->barriers));
    set(json, object, "buffers_never_filled_again", make_names(json, reach, &reach->buffers));
    set(json, object, "loops_that_ran_once", loops);
    set_text(json, object, "proposal", proposal == NULL ? "" : proposal + 1);
    return object;
}

static void set_checked(grout_json *json, json_t *object, const grout_outcome *outcome) {
    const grout_check_summary *summary = &outcome->summary;
    const grout_exploration *exploration = outcome->exploration;
    bool holds = grout_outcome__holds(outcome);
    set(json, object, "holds_for_every_schedule", json_boolean(holds));
    set(json, object, "holds_for_every_interleaving",
        json_boolean(holds || (exploration != NULL &&
                               grout_exploration_holds_for_interleavings(exploration))));
    set(json, object, "racing_writes_of_equal_values", json_boolean(summary->has_equal_writes));
    set_text(json, object, "assuming", holds ? summary->assuming : "");
    set_count(json, object, "schedules_explored", exploration == NULL ? 1 : exploration->schedules);
    set_count(json, object, "schedules_failing",
              exploration == NULL ? summary->error_count > 0 : exploration->failing);
    set_count(json, object, "random_schedules",
              exploration == NULL ? 0 : exploration->random_schedules);
    set_count(json, object, "random_schedules_failing",
              exploration == NULL ? 0 : exploration->random_failing);
    set_text(json, object, "because", holds ? "" : summary->not_well_synchronised_because);
    set_count(json, object, "follow_on_findings", summary->suppressed_count);
    set_count(json, object, "findings_not_listed", summary->dropped_count);
    set_count(json, object, "accesses", summary->accesses);
    set_count(json, object, "barrier_phases", summary->barrier_phases);
    set(json, object, "not_reached",
        grout_json__make_not_reached(json, outcome->settings.reach, outcome->proposal));
}

json_t *grout_json__make_kernel(grout_json *json, const grout_load *load, grout_kernel_id kernel,
                                const grout_outcome *outcome, const char *command) {
    json_t *object = json_object();
    grout_text inputs = {0};
    grout_bindings__describe_inputs(&load->bindings, load->bound, kernel, outcome->settings.launch,
                                    &inputs);
    set_text(
        json, object, "kernel",
        grout_module_get_string(load->bound, grout_module_get_kernel(load->bound, kernel)->name));
    set(json, object, "grid", make_axes(json, load, kernel, GROUT_AXIS_GRID));
    set(json, object, "cluster", make_axes(json, load, kernel, GROUT_AXIS_CLUSTER));
    set(json, object, "threads", make_axes(json, load, kernel, GROUT_AXIS_THREADS));
    set_text(json, object, "inputs", inputs.data);
    set_text(json, object, "schedule", grout_schedule_get_text(outcome->settings.schedule));
    set_text(json, object, "timing", grout_timing_get_text(outcome->settings.timing));
    set_text(json, object, "numerics",
             outcome->settings.numerics == GROUT_NUMERICS_EXACT ? "exact" : "fast");
    set_count(json, object, "seed", outcome->settings.seed);
    set_text(json, object, "status", get_status(outcome));
    set_count(json, object, "steps", outcome->stats.steps);
    set_count(json, object, "async_ops", outcome->stats.async_ops);
    if (outcome->settings.track_non_finite) {
        set_count(json, object, "non_finite_made", outcome->stats.non_finite_made);
        set_count(json, object, "non_finite_follow", outcome->stats.non_finite_follow);
    }
    set(json, object, "checked", json_boolean(outcome->checker != NULL));
    if (outcome->checker != NULL) {
        set_checked(json, object, outcome);
    }
    set_text(json, object, "see_it_again", command);
    grout_text_free(&inputs);
    return object;
}

void grout_json__take_kernel(grout_json *json, json_t *kernel) {
    json->failed |= !grout_json_list__take(&json->kernels, kernel);
}

void grout_json__take_size(grout_json *json, json_t *size) {
    json->sweep = json->sweep == NULL ? json_array() : json->sweep;
    append(json, json->sweep, size);
}

void grout_json__take_not_begun(grout_json *json, json_t *not_begun) {
    json->failed = json->failed || not_begun == NULL;
    json->not_begun = not_begun;
}

static json_t *make_coverage(grout_json *json, const grout_load *load) {
    json_t *coverage = json_object(), *defines = json_object();
    const json_t *binding = json_object_get(json_array_get(json->sweep, 0), "binding");
    for (size_t i = 0; i < load->define_count; i++) {
        const grout_define *define = &load->defines[i];
        if (json_object_get(binding, define->name) != NULL) {
            continue; /* each size has its own value */
        }
        if (define->is_float) {
            grout_text number = {0};
            grout_text_add(&number, "%.17g", define->number); /* JSON has no infinity */
            set_text(json, defines, define->name, number.data);
            grout_text_free(&number);
        } else {
            set(json, defines, define->name, json_integer(define->integer));
        }
    }
    set_text(json, coverage, "file", load->name);
    set(json, coverage, "defines", defines);
    set(json, coverage, "kernels", json_incref(json->kernels.array));
    if (json->not_begun != NULL) {
        set(json, coverage, "not_begun", json_incref(json->not_begun));
    }
    set_text(json, coverage, "not_modelled", "differences between the lanes of a thread");
    return coverage;
}

json_t *grout_json__make_report(grout_json *json, const grout_load *load, const char *verdict) {
    json_t *root = json_object();
    set_text(json, root, "schema", "grout-report/1");
    set_text(json, root, "grout", GROUT_VERSION);
    set_text(json, root, "verdict", verdict);
    set(json, root, "findings", json_incref(json->findings.array));
    set(json, root, "silenced", json_incref(json->silenced.array));
    if (json->sweep != NULL) {
        set(json, root, "sweep", json_incref(json->sweep));
    }
    set(json, root, "coverage", make_coverage(json, load));
    if (json->failed) {
        json_decref(root);
        root = NULL;
    }
    return root;
}

/* What is silenced comes after the results that there are. NULL without memory. */
static json_t *make_log(grout_json *json, json_t *report) {
    size_t i;
    const json_t *finding;
    json_array_foreach(json->silenced.array, i, finding) {
        take_result(json, finding);
        json->failed |= json_array_set_new(json->silenced.array, i, json_null()) != 0; /* freed */
    }
    grout_sarif *sarif = json->failed ? NULL : get_sarif(json);
    return sarif == NULL
               ? NULL
               : grout_sarif__from_report(sarif, report, json_incref(json->findings.array));
}

/* The report, or it as a log. NULL without memory. */
static json_t *make_root(json_t *report, const char *name, const grout_bytes *sarif_text) {
    if (sarif_text == NULL) {
        return json_incref(report);
    }
    grout_sarif *sarif = grout_sarif__new(name);
    json_t *root = NULL;
    if (sarif != NULL) {
        grout_sarif__set_text(sarif, sarif_text);
        root = grout_sarif__from_report(sarif, report, NULL);
    }
    grout_sarif__free(sarif);
    return root;
}

bool grout_json__take_pieces(grout_json *json, json_t *report, const char *name,
                             const grout_bytes *sarif_text, grout_json_pieces *out) {
    grout_json_list *const lists[GROUT_JSON_LISTS] = {&json->findings, &json->silenced,
                                                      &json->kernels};
    json_t *root = json->is_sarif ? make_log(json, report) : make_root(report, name, sarif_text);
    const bool is_good = grout_json_pieces__init(out, root, lists);
    json_decref(root);
    return is_good;
}

bool grout_json__print(json_t *report, const char *name, const grout_bytes *sarif_text,
                       grout_text *out) {
    json_t *root = make_root(report, name, sarif_text);
    const bool is_good = grout_json_text__add(out, root, 0);
    json_decref(root);
    grout_text_add(out, "\n");
    return is_good && !out->failed;
}
