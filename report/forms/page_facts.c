/* page_facts.c - what the page of --html shows beyond a report: the paths of findings, the map of
 * SMEM, the use of its banks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "page_facts.h"

#include "kept.h"
#include "summary.h"

#include <jansson.h>
#include <string.h>

static const char *const keys[] = {"path",    "words", "memory",     "banks",   "text",
                                   "colored", "short", "is_lowered", "promise", "stats"};

static bool is_wanted(const grout_reporter *report, const json_t *object) {
    const grout_session *session = report->session;
    return object != NULL &&
           (session->kept != NULL || grout_options__has(&session->options, GROUT_OPTION_HTML));
}

static json_t *make_place(grout_place place) {
    return place.file == NULL ? json_null()
                              : json_pack("{s:o,s:i}", "file", grout_json__make_string(place.file),
                                          "line", (int)place.line);
}

/* ---- paths ---------------------------------------------------------------------------------- */

static const char *get_role(uint8_t role) {
    static const char *const words[] = {
        [GROUT_STEP_ACCESS] = "access",   [GROUT_STEP_ISSUE] = "issue",
        [GROUT_STEP_SYNC] = "sync",       [GROUT_STEP_PHASE] = "phase",
        [GROUT_STEP_BLOCKED] = "blocked", [GROUT_STEP_ABSENT] = "absent",
        [GROUT_STEP_END] = "end",
    };
    return role < sizeof words / sizeof words[0] ? words[role] : "";
}

static json_t *make_path(const grout_finding_path *path) {
    json_t *lanes = json_array(), *steps = json_array(), *edges = json_array();
    for (uint32_t i = 0; i < path->lane_count; i++) {
        (void)json_array_append_new(lanes, grout_json__make_string(path->lanes[i]));
    }
    for (uint32_t i = 0; i < path->step_count; i++) {
        const grout_path_step *step = &path->steps[i];
        (void)json_array_append_new(steps, json_pack("{s:s,s:i,s:o,s:o,s:o}", "role",
                                                     get_role(step->role), "lane", (int)step->lane,
                                                     "place", make_place(step->place), "text",
                                                     grout_json__make_string(step->text), "round",
                                                     grout_json__make_string(step->round)));
    }
    for (uint32_t i = 0; i < path->edge_count; i++) {
        const grout_path_edge *edge = &path->edges[i];
        (void)json_array_append_new(edges,
                                    json_pack("{s:i,s:i,s:b,s:o}", "from", (int)edge->from, "to",
                                              (int)edge->to, "is_missing", edge->is_missing, "word",
                                              grout_json__make_string(edge->word)));
    }
    return json_pack("{s:o,s:o,s:o}", "lanes", lanes, "steps", steps, "edges", edges);
}

void grout_page_facts__add_path(const grout_reporter *report, json_t *object,
                                const grout_checker *checker, const grout_finding *finding) {
    if (!is_wanted(report, object)) {
        return;
    }
    grout_finding_path *path = grout_checker_make_path(checker, finding);
    if (path != NULL) {
        (void)json_object_set_new(object, "path", make_path(path));
    }
    grout_finding_path_free(path);
}

void grout_page_facts__add_words(const grout_reporter *report, json_t *object, grout_text *words) {
    if (is_wanted(report, object) && words->data != NULL) {
        (void)json_object_set_new(object, "words", grout_json__make_string(words->data));
    }
    grout_text_free(words);
}

/* ---- for callers in the same process --------------------------------------------------------- */

static bool is_kept(const grout_reporter *report, const json_t *object) {
    return object != NULL && report->session->kept != NULL;
}

static void set_text(json_t *object, const char *key, grout_text *text) {
    while (text->size > 0 && text->data[text->size - 1] == '\n') {
        text->data[--text->size] = '\0';
    }
    (void)json_object_set_new(object, key,
                              grout_json__make_string(text->data == NULL ? "" : text->data));
    grout_text_free(text);
}

void grout_page_facts__add_diag(const grout_reporter *report, json_t *object,
                                const grout_diag *diag) {
    if (is_kept(report, object)) {
        for (int is_colored = 0; is_colored < 2; is_colored++) {
            const grout_render_options look = {.color = is_colored == 1};
            grout_text text = {0};
            grout_diag_render(diag, report->session->diags, &look, &text);
            set_text(object, is_colored == 1 ? "colored" : "text", &text);
        }
        if (diag->code == GROUT_DIAG_COMPARE_MISMATCH) { /* what a run has found, too */
            grout_text words = {0};
            grout_text_add(&words, "%s at line %u", grout_diag_get(diag->code)->text,
                           (unsigned)diag->place.line);
            set_text(object, "short", &words);
            (void)json_object_set_new(object, "is_lowered", json_false());
        }
    }
}

void grout_page_facts__add_finding(const grout_reporter *report, json_t *object,
                                   const grout_finding *finding, grout_severity severity,
                                   bool is_listed) {
    if (is_kept(report, object)) {
        grout_diag diag = *finding->diag;
        grout_text words = {0};
        diag.severity = severity == GROUT_SEVERITY_OFF ? finding->severity : severity;
        grout_page_facts__add_diag(report, object, &diag);
        grout_describe_finding(finding, &words);
        set_text(object, "short", &words);
        if (!is_listed) {
            (void)json_object_set_new(object, "is_unlisted", json_true());
        }
        (void)json_object_set_new(object, "is_lowered",
                                  json_boolean(grout_reporter__is_lowered(finding, severity)));
    }
}

static json_t *make_stats(const grout_outcome *outcome) {
    const grout_run_stats *stats = &outcome->stats;
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:f}", "steps", (json_int_t)stats->steps, "async_ops",
                     (json_int_t)stats->async_ops, "events", (json_int_t)stats->events, "ctas_done",
                     (json_int_t)stats->ctas_done, "peak_bytes", (json_int_t)stats->peak_bytes,
                     "seconds", outcome->seconds);
}

void grout_page_facts__add_promise(const grout_reporter *report, json_t *object,
                                   const grout_outcome *outcome, bool has_errors) {
    if (is_kept(report, object)) {
        grout_text promise = {0};
        grout_summary__describe_promise(outcome, has_errors, &promise);
        set_text(object, "promise", &promise);
    }
}

void grout_page_facts__add_stats(const grout_reporter *report, json_t *object,
                                 const grout_outcome *outcome) {
    if (is_kept(report, object)) {
        (void)json_object_set_new(object, "stats", make_stats(outcome));
    }
}

/* ---- SMEM ----------------------------------------------------------------------------------- */

static const char *get_name(const grout_module *module, grout_object_id object) {
    const grout_object *it = grout_module_get_object(module, object);
    return grout_module_get_string(module, grout_module_get_value(module, it->value)->name);
}

/* Whether a kernel's text makes the object: params are of GMEM. */
static bool is_of_kernel(const grout_module *module, grout_object_id object,
                         grout_kernel_id kernel) {
    const grout_value *value =
        grout_module_get_value(module, grout_module_get_object(module, object)->value);
    if (value->op == 0) {
        return false;
    }
    const grout_op *op = grout_module_get_op(module, value->op);
    return grout_module_get_block(module, op->parent)->kernel == kernel;
}

static bool is_barrier(const grout_type *type) {
    return type->kind == GROUT_TYPE_BARRIER;
}

static json_t *make_object(const grout_module *module, grout_object_id object) {
    enum { BARRIER_BYTES = 8 };
    const grout_type *type = grout_object_get_type(module, object);
    int64_t bytes = is_barrier(type) ? grout_type_get_count(type) * BARRIER_BYTES
                                     : grout_object_get_layout(module, object)->bytes;
    grout_text text = {0};
    grout_type_print(type, &text);
    json_t *made = json_pack(
        "{s:o,s:o,s:I,s:I,s:o}", "name", grout_json__make_string(get_name(module, object)), "type",
        grout_json__make_string(text.data == NULL ? "" : text.data), "offset",
        (json_int_t)grout_object_get_offset(module, object), "bytes", (json_int_t)bytes, "place",
        make_place(grout_module_get_place(module, grout_module_get_object(module, object)->loc)));
    grout_text_free(&text);
    return made;
}

static json_t *make_memory(const grout_module *module, grout_kernel_id kernel) {
    json_t *objects = json_array();
    for (grout_object_id i = 1; i < grout_module_get_object_count(module); i++) {
        if (grout_module_get_object(module, i)->space == GROUT_SPACE_SMEM &&
            is_of_kernel(module, i, kernel) && grout_object_is_declared(module, i) &&
            grout_object_get_offset(module, i) >= 0) {
            (void)json_array_append_new(objects, make_object(module, i));
        }
    }
    return json_pack("{s:I,s:I,s:o}", "bytes",
                     (json_int_t)grout_kernel_get_space_bytes(module, kernel, GROUT_SPACE_SMEM),
                     "budget", (json_int_t)grout_space_get_info(GROUT_SPACE_SMEM)->budget_bytes,
                     "objects", objects);
}

typedef struct bank_list {
    const grout_module *module;
    json_t *items;
} bank_list;

static void note_banks(void *payload, const grout_bank_use *use) {
    const bank_list *list = payload;
    json_t *words = json_array();
    for (uint32_t i = 0; i < GROUT_BANKS; i++) {
        (void)json_array_append_new(words, json_integer(use->words[i]));
    }
    (void)json_array_append_new(
        list->items, json_pack("{s:o,s:o,s:i,s:o}", "place", make_place(use->place), "object",
                               grout_json__make_string(get_name(list->module, use->object)),
                               "passes", (int)use->passes, "words", words));
}

/* What the emitted code does with the banks; NULL: the kernel cannot be emitted. */
static json_t *make_banks(const grout_module *module, grout_kernel_id kernel) {
    bank_list list = {.module = module, .items = json_array()};
    grout_diags *diags = grout_diags_new(); /* why it cannot is for 'grout emit' to say */
    grout_text code = {0};
    const grout_bank_listener banks = {note_banks, &list};
    const grout_emit_options options = {.banks = &banks};
    bool is_emitted = diags != NULL && grout_emit_cuda(module, kernel, &options, &code, diags);
    grout_text_free(&code);
    grout_diags_free(diags);
    if (!is_emitted) {
        json_decref(list.items);
        return NULL;
    }
    return list.items;
}

void grout_page_facts__fill_memory(json_t *object, const grout_module *bound,
                                   grout_kernel_id kernel) {
    (void)json_object_set_new(object, "memory", make_memory(bound, kernel));
    json_t *banks = make_banks(bound, kernel);
    if (banks != NULL) {
        (void)json_object_set_new(object, "banks", banks);
    }
}

void grout_page_facts__add_memory(const grout_reporter *report, json_t *object,
                                  grout_kernel_id kernel) {
    if (is_kept(report, object)) { /* it takes longer than many a check */
        (void)grout_kept__add_launch(report->session->kept, object, report->load, kernel);
    } else if (is_wanted(report, object)) {
        grout_page_facts__fill_memory(object, report->load->bound, kernel);
    }
}

static bool is_shown(const char *key) {
    static const char *const shown[] = {
        "kernel", "words", "see_it_again", "not_reached", "findings_not_listed", "memory", "banks"};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        if (strcmp(shown[i], key) == 0) {
            return true;
        }
    }
    return false;
}

void grout_page_facts__keep_shown(const grout_reporter *report, json_t *object) {
    const char *key;
    json_t *value;
    void *next;
    if (report->session->kept != NULL || report->session->is_json) {
        return;
    }
    json_object_foreach_safe(object, next, key, value) {
        if (!is_shown(key)) {
            (void)json_object_del(object, key);
        }
    }
}

/* ---- the report's own keys ------------------------------------------------------------------ */

void grout_page_facts__drop_unlisted(json_t *facts) {
    json_t *findings = json_object_get(facts, "findings");
    json_t *listed = json_array();
    size_t i;
    json_t *finding;
    json_array_foreach(findings, i, finding) {
        if (json_object_get(finding, "is_unlisted") == NULL) {
            (void)json_array_append(listed, finding);
        }
    }
    (void)json_object_set_new(facts, "findings", listed);
}

static void drop_in(const json_t *objects) {
    size_t i;
    json_t *object;
    json_array_foreach(objects, i, object) {
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            (void)json_object_del(object, keys[k]);
        }
    }
}

void grout_page_facts__drop(json_t *facts) {
    size_t i;
    const json_t *size;
    drop_in(json_object_get(facts, "findings"));
    drop_in(json_object_get(facts, "silenced"));
    drop_in(json_object_get(json_object_get(facts, "coverage"), "kernels"));
    json_array_foreach(json_object_get(facts, "sweep"), i, size) {
        drop_in(json_object_get(size, "kernels"));
    }
}
