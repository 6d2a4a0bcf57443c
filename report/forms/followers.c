/* followers.c - findings that follow from another one: listed under it, in a line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "followers.h"

#include "summary.h"
#include "wrap.h"

bool grout_followers__is_one(grout_reporter *report, const grout_finding *finding) {
    if (finding->cause == NULL) {
        return false;
    }
    grout_severity severity = grout_report__judge(report, finding->cause).severity;
    return severity == GROUT_SEVERITY_ERROR ||
           (severity == GROUT_SEVERITY_WARNING &&
            grout_report__judge(report, finding).severity != GROUT_SEVERITY_ERROR);
}

void grout_followers__add(grout_reporter *report, const grout_checker *checker,
                          const grout_finding *cause, grout_text *out) {
    const char *opening = "what follows from it: ";
    grout_text line = {0};
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(checker, i);
        if (finding->cause == cause && grout_followers__is_one(report, finding) &&
            grout_report__judge(report, finding).severity != GROUT_SEVERITY_OFF) {
            grout_text_add(&line, "%s", opening);
            grout_describe_finding(finding, &line);
            opening = "; ";
        }
    }
    if (line.data != NULL) {
        grout_report__add_line(report->session, line.data, out);
    }
    grout_text_free(&line);
}
