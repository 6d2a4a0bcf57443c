/* sarif.c - the JSON report (json.c) as a SARIF 2.1.0 log: the same facts in the form that code
 * hosts and editors read. Source: OASIS SARIF 2.1.0, sections 3.13 to 3.57.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json.h"
#include "line_starts.h"
#include "summary.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct grout_sarif {
    grout_line_starts lines; /* of the kernel file, for columns and indents */
    grout_bytes text;        /* which they are of */
    const char *name;        /* its name in places */
    json_t *rules;           /* one for each code that occurs, in the order of first use */
    bool failed;
};

typedef grout_sarif writer;

grout_sarif *grout_sarif__new(const char *name) {
    writer *w = calloc(1, sizeof *w);
    if (w != NULL) {
        w->name = name;
        w->rules = json_array();
        w->failed = !grout_line_starts__init(&w->lines, NULL, NULL, 0);
    }
    return w;
}

void grout_sarif__set_text(grout_sarif *sarif, const grout_bytes *text) {
    if (text->data != sarif->text.data || text->size != sarif->text.size) {
        grout_line_starts__deinit(&sarif->lines);
        sarif->failed |= !grout_line_starts__init(&sarif->lines, NULL, text->data, text->size);
        sarif->text = *text;
    }
}

void grout_sarif__free(grout_sarif *sarif) {
    if (sarif != NULL) {
        json_decref(sarif->rules);
        grout_line_starts__deinit(&sarif->lines);
        free(sarif);
    }
}

/* ---- values --------------------------------------------------------------------------------- */

static void set(writer *w, json_t *object, const char *key, json_t *value) {
    if (value == NULL || json_object_set_new(object, key, value) != 0) {
        w->failed = true;
    }
}

static void append(writer *w, json_t *array, json_t *value) {
    if (value == NULL || json_array_append_new(array, value) != 0) {
        w->failed = true;
    }
}

static const char *get_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

static json_int_t get_number(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static json_t *make_message(writer *w, const char *text) {
    json_t *message = json_object();
    set(w, message, "text", json_string(text));
    return message;
}

/* A path as a URI reference: what is no unreserved character or '/' is escaped. */
static json_t *make_uri(const char *path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/";
    grout_text uri = {0};
    grout_text_add(&uri, "%s", path[0] == '/' ? "file://" : "");
    for (const char *c = path; *c != '\0'; c++) {
        if (strchr(plain, *c) != NULL) {
            grout_text_add_bytes(&uri, c, 1);
        } else {
            grout_text_add(&uri, "%%%02X", (unsigned char)*c);
        }
    }
    json_t *string = json_string(uri.data == NULL ? "" : uri.data);
    grout_text_free(&uri);
    return string;
}

/* ---- places --------------------------------------------------------------------------------- */

/* A line of the kernel file; NULL, and size 0, if there is none. */
static const char *find_line(const writer *w, json_int_t number, size_t *size_out) {
    *size_out = 0;
    return number < 1 ? NULL : grout_line_starts__find(&w->lines, (size_t)number, size_out);
}

/* Column in UTF-16 code units of a 1-based column in bytes (ruling: SARIF counts so). */
static json_int_t get_column(const writer *w, const char *file, json_int_t line,
                             json_int_t column) {
    size_t size = 0;
    const char *text = strcmp(file, w->name) == 0 ? find_line(w, line, &size) : NULL;
    json_int_t units = 1;
    for (json_int_t i = 0; i + 1 < column; i++) {
        unsigned char byte = text != NULL && (size_t)i < size ? (unsigned char)text[i] : 'x';
        units += (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
    }
    return units;
}

static json_t *make_region(writer *w, const json_t *place) {
    const char *file = get_text(place, "file");
    json_int_t line = get_number(place, "line"), column = get_number(place, "column");
    json_t *region = json_object();
    set(w, region, "startLine", json_integer(line > 0 ? line : 1));
    if (column > 0) {
        json_int_t end = column + get_number(place, "length");
        set(w, region, "startColumn", json_integer(get_column(w, file, line, column)));
        set(w, region, "endColumn", json_integer(get_column(w, file, line, end)));
    }
    return region;
}

static json_t *make_artifact(writer *w, const char *file) {
    json_t *artifact = json_object();
    set(w, artifact, "uri", make_uri(file));
    return artifact;
}

/* message may be NULL. */
static json_t *make_location(writer *w, const json_t *place, const char *message) {
    json_t *location = json_object(), *physical = json_object();
    set(w, physical, "artifactLocation", make_artifact(w, get_text(place, "file")));
    set(w, physical, "region", make_region(w, place));
    set(w, location, "physicalLocation", physical);
    if (message != NULL) {
        set(w, location, "message", make_message(w, message));
    }
    return location;
}

/* ---- parts of a result ---------------------------------------------------------------------- */

static json_int_t find_rule(writer *w, const char *code) {
    size_t i;
    json_t *rule;
    json_array_foreach(w->rules, i, rule) {
        if (strcmp(get_text(rule, "id"), code) == 0) {
            return (json_int_t)i;
        }
    }
    rule = json_object();
    set(w, rule, "id", json_string(code));
    set(w, rule, "shortDescription", make_message(w, grout_diag_get(grout_diag_find(code))->doc));
    set(w, rule, "help", json_pack("{s:s+}", "text", "grout explain ", code));
    append(w, w->rules, rule);
    return (json_int_t)json_array_size(w->rules) - 1;
}

/* The message, the missing edge and the repair, as paragraphs. */
static json_t *make_whole_message(writer *w, const json_t *finding) {
    grout_text text = {0};
    size_t i;
    const json_t *note;
    grout_text_add(&text, "%s", get_text(finding, "message"));
    json_array_foreach(json_object_get(finding, "notes"), i, note) {
        if (!json_is_object(json_object_get(note, "place"))) {
            grout_text_add(&text, "\n\n%s", get_text(note, "message"));
        }
    }
    json_array_foreach(json_object_get(finding, "sizes"), i, note) {
        grout_text_add(&text, "%s%s", i == 0 ? "\n\nat " : ", ", json_string_value(note));
    }
    json_t *message = make_message(w, text.data == NULL ? "" : text.data);
    grout_text_free(&text);
    return message;
}

static json_t *make_related(writer *w, const json_t *finding) {
    json_t *related = json_array();
    size_t i;
    const json_t *note;
    json_array_foreach(json_object_get(finding, "notes"), i, note) {
        const json_t *place = json_object_get(note, "place");
        if (json_is_object(place)) {
            append(w, related, make_location(w, place, get_text(note, "message")));
        }
    }
    return related;
}

/* The blanks that a line starts with, for lines put beside it. */
static void add_indent(const writer *w, json_int_t line, grout_text *out) {
    size_t size = 0;
    const char *text = find_line(w, line, &size);
    for (size_t i = 0; i < size && (text[i] == ' ' || text[i] == '\t'); i++) {
        grout_text_add_bytes(out, text + i, 1);
    }
}

static json_t *make_replacement(writer *w, const json_t *edit) {
    const json_t *place = json_object_get(edit, "place");
    const char *position = get_text(edit, "position"), *text = get_text(edit, "text");
    json_int_t line = get_number(place, "line");
    json_t *replacement = json_object(), *content = json_object();
    grout_text inserted = {0};
    if (strcmp(position, "replace") == 0) {
        set(w, replacement, "deletedRegion", make_region(w, place));
        grout_text_add(&inserted, "%s", text);
    } else {
        json_int_t at = strcmp(position, "after") == 0 ? line + 1 : line;
        set(w, replacement, "deletedRegion",
            json_pack("{s:I,s:i,s:i}", "startLine", at, "startColumn", 1, "endColumn", 1));
        while (*text != '\0') {
            size_t size = strcspn(text, "\n");
            add_indent(w, line, &inserted);
            grout_text_add_bytes(&inserted, text, size);
            grout_text_add(&inserted, "\n");
            text += size + (text[size] == '\n' ? 1 : 0);
        }
    }
    set(w, content, "text", json_string(inserted.data == NULL ? "" : inserted.data));
    set(w, replacement, "insertedContent", content);
    grout_text_free(&inserted);
    return replacement;
}

static json_t *make_fix(writer *w, const json_t *finding, const json_t *edit) {
    json_t *fix = json_object(), *change = json_object(), *changes = json_array();
    json_t *replacements = json_array();
    append(w, replacements, make_replacement(w, edit));
    set(w, change, "artifactLocation",
        make_artifact(w, get_text(json_object_get(edit, "place"), "file")));
    set(w, change, "replacements", replacements);
    append(w, changes, change);
    set(w, fix, "description", make_message(w, get_text(finding, "repair")));
    set(w, fix, "artifactChanges", changes);
    return fix;
}

static json_t *make_suppression(writer *w, const json_t *finding) {
    bool is_own = strcmp(get_text(finding, "silenced_by"), "// allow") == 0;
    json_t *suppression = json_object();
    set(w, suppression, "kind", json_string(is_own ? "inSource" : "external"));
    grout_text reason = {0};
    grout_text_add(&reason, "%s%s%s", get_text(finding, "silenced_by"),
                   get_text(finding, "reason")[0] == '\0' ? "" : ": ", get_text(finding, "reason"));
    set(w, suppression, "justification", json_string(reason.data == NULL ? "" : reason.data));
    grout_text_free(&reason);
    return suppression;
}

static const char *get_level(const json_t *finding) {
    const char *severity = get_text(finding, "severity");
    return strcmp(severity, "warning") == 0  ? "warning"
           : strcmp(severity, "advice") == 0 ? "note"
                                             : "error";
}

/* What SARIF has no word for: the sizes that have the finding, what it follows from, and how far
 * two arrays are apart. */
static void add_properties(writer *w, json_t *result, const json_t *finding) {
    json_t *sizes = json_object_get(finding, "sizes");
    json_t *cause = json_object_get(finding, "follows_from");
    json_t *difference = json_object_get(finding, "difference");
    if (sizes == NULL && cause == NULL && difference == NULL) {
        return;
    }
    json_t *properties = json_object();
    if (sizes != NULL) {
        set(w, properties, "sizes", json_incref(sizes));
    }
    if (cause != NULL) {
        set(w, properties, "followsFrom", json_incref(cause));
    }
    if (difference != NULL) {
        set(w, properties, "difference", json_incref(difference));
    }
    set(w, result, "properties", properties);
}

json_t *grout_sarif__make_result(grout_sarif *sarif, const json_t *finding) {
    writer *w = sarif;
    bool is_silenced = json_object_get(finding, "code") == NULL;
    const char *code = get_text(finding, is_silenced ? "silenced_code" : "code");
    const json_t *primary = json_object_get(finding, "primary");
    const json_t *edit = json_object_get(finding, "edit");
    json_t *result = json_object();
    set(w, result, "ruleId", json_string(code));
    set(w, result, "ruleIndex", json_integer(find_rule(w, code)));
    set(w, result, "level", json_string(is_silenced ? "error" : get_level(finding)));
    set(w, result, "message", make_whole_message(w, finding));
    json_t *locations = json_array();
    if (json_is_object(primary)) {
        append(w, locations, make_location(w, primary, NULL));
    }
    set(w, result, "locations", locations);
    set(w, result, "relatedLocations", make_related(w, finding));
    set(w, result, "partialFingerprints",
        json_pack("{s:s}", "groutIdentity/v1", get_text(finding, "identity")));
    json_int_t count = get_number(finding, "count");
    set(w, result, "occurrenceCount", json_integer(count < 1 ? 1 : count));
    if (json_is_object(edit)) {
        json_t *fixes = json_array();
        append(w, fixes, make_fix(w, finding, edit));
        set(w, result, "fixes", fixes);
    }
    add_properties(w, result, finding);
    json_t *suppressions = json_array();
    if (is_silenced) {
        append(w, suppressions, make_suppression(w, finding));
    }
    set(w, result, "suppressions", suppressions);
    return result;
}

static void add_results(writer *w, json_t *results, const json_t *findings) {
    size_t i;
    const json_t *finding;
    json_array_foreach(findings, i, finding) {
        append(w, results, grout_sarif__make_result(w, finding));
    }
}

/* ---- the log -------------------------------------------------------------------------------- */

/* What kept kernels from being looked at. */
static json_t *make_notifications(writer *w, const json_t *not_begun) {
    json_t *list = json_array(), *notification = json_object();
    grout_text text = {0};
    grout_not_begun__describe_json(not_begun, &text);
    set(w, notification, "level", json_string("error"));
    set(w, notification, "message", make_message(w, text.data == NULL ? "" : text.data));
    append(w, list, notification);
    grout_text_free(&text);
    return list;
}

static json_t *make_invocation(writer *w, const json_t *report) {
    const char *verdict = get_text(report, "verdict");
    const bool is_whole = grout_summary__is_good(verdict) || strcmp(verdict, "error") == 0;
    const json_t *not_begun = json_object_get(json_object_get(report, "coverage"), "not_begun");
    json_t *invocation = json_object();
    set(w, invocation, "executionSuccessful", json_boolean(is_whole));
    if (not_begun != NULL) {
        set(w, invocation, "toolExecutionNotifications", make_notifications(w, not_begun));
    }
    return invocation;
}

static json_t *make_results(writer *w, const json_t *report) {
    json_t *results = json_array();
    add_results(w, results, json_object_get(report, "findings"));
    add_results(w, results, json_object_get(report, "silenced"));
    return results;
}

static json_t *make_run(writer *w, const json_t *report, json_t *results) {
    json_t *run = json_object(), *driver = json_object();
    results = results == NULL ? make_results(w, report) : results;
    set(w, driver, "name", json_string("grout"));
    set(w, driver, "semanticVersion", json_string(get_text(report, "grout")));
    set(w, driver, "rules", json_incref(w->rules));
    json_t *tool = json_object(), *invocations = json_array(), *properties = json_object();
    set(w, tool, "driver", driver);
    append(w, invocations, make_invocation(w, report));
    set(w, properties, "verdict", json_string(get_text(report, "verdict")));
    set(w, properties, "coverage", json_incref(json_object_get(report, "coverage")));
    if (json_object_get(report, "sweep") != NULL) {
        set(w, properties, "sweep", json_incref(json_object_get(report, "sweep")));
    }
    set(w, run, "tool", tool);
    set(w, run, "invocations", invocations);
    set(w, run, "columnKind", json_string("utf16CodeUnits"));
    set(w, run, "results", results);
    set(w, run, "properties", properties);
    return run;
}

json_t *grout_sarif__from_report(grout_sarif *sarif, const json_t *report, json_t *results) {
    json_t *log = json_object(), *runs = json_array();
    set(sarif, log, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"));
    set(sarif, log, "version", json_string("2.1.0"));
    append(sarif, runs, make_run(sarif, report, results));
    set(sarif, log, "runs", runs);
    if (sarif->failed) {
        json_decref(log);
        return NULL;
    }
    return log;
}
