/* json.h - a report as one JSON object, and as a SARIF log.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_JSON_H
#define GROUT_REPORT_JSON_H

#include "json_text.h"
#include "launch.h"
#include "silence.h"

typedef struct grout_json grout_json;

/* FNV-1a over what identifies a diagnostic; frees the text. */
uint64_t grout_json__take_identity(grout_text *text);
/* What a report is for. Only that of objects has other forms than grout_json__take_pieces: of the
 * others, what they are given becomes text at once, where it can. */
typedef enum grout_json_form {
    GROUT_JSON_OBJECTS,
    GROUT_JSON_TEXT,
    GROUT_JSON_SARIF
} grout_json_form;
/* text: of the file, which is read when the first finding comes; borrowed, as the load is. NULL
 * without memory. */
grout_json *grout_json__new(grout_json_form form, const grout_load *load, const grout_bytes *text);
void grout_json__free(grout_json *json);
/* Parts of it, for the caller to complete. What take functions are given becomes the report's; NULL
 * makes it fail. */
struct json_t;
struct json_t *grout_json__make_string(const char *text);
/* cause: that it is listed under; NULL: none. allowance: what silences it, if severity is OFF. */
struct json_t *grout_json__make_finding(grout_json *json, const char *kernel,
                                        const grout_finding *finding, const grout_finding *cause,
                                        grout_severity severity, const grout_allowance *allowance);
struct json_t *grout_json__make_diag(grout_json *json, const grout_diag *diag);
struct json_t *grout_json__make_kernel(grout_json *json, const grout_load *load,
                                       grout_kernel_id kernel, const grout_outcome *outcome,
                                       const char *command);
struct json_t *grout_json__make_not_reached(grout_json *json, const grout_reach *reach,
                                            const char *proposal);
void grout_json__take_finding(grout_json *json, struct json_t *finding);
void grout_json__take_kernel(grout_json *json, struct json_t *kernel);
void grout_json__take_size(grout_json *json, struct json_t *size);
/* The kernels that were not begun, if there are any (not_begun.h). */
void grout_json__take_not_begun(grout_json *json, struct json_t *not_begun);

/* The whole object, which the caller frees; NULL without memory. */
struct json_t *grout_json__make_report(grout_json *json, const grout_load *load,
                                       const char *verdict);
/* The same as text, or (text not NULL: of the file) as a SARIF log, with what was text before;
 * false without memory. Deinit even then. */
bool grout_json__take_pieces(grout_json *json, struct json_t *report, const char *name,
                             const grout_bytes *text, grout_json_pieces *out);
/* Appends the object as text, or (text not NULL: of the file) as a SARIF log; false without memory.
 */
bool grout_json__print(struct json_t *report, const char *name, const grout_bytes *text,
                       grout_text *out);

/* ---- sarif.c ---- */

/* A SARIF log in the making. */
typedef struct grout_sarif grout_sarif;
/* name: of the file; borrowed. NULL without memory. */
grout_sarif *grout_sarif__new(const char *name);
/* The text of the file, borrowed: before the first result, and where it is another one by now. */
void grout_sarif__set_text(grout_sarif *sarif, const grout_bytes *text);
void grout_sarif__free(grout_sarif *sarif);
/* A finding as a result; NULL without memory. Those that are not silenced come first. */
struct json_t *grout_sarif__make_result(grout_sarif *sarif, const struct json_t *finding);
/* A report as a log. results: what its findings and silenced ones are; taken over; NULL: they are
 * made from them. NULL without memory. */
struct json_t *grout_sarif__from_report(grout_sarif *sarif, const struct json_t *report,
                                        struct json_t *results);

#endif
