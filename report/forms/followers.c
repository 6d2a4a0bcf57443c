/* followers.c - findings that follow from another one: listed under it, in a line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "followers.h"

#include "report.h"
#include "summary.h"
#include "wrap.h"

bool grout_followers__note(grout_followers *followers, const grout_checker *checker) {
    const uint32_t count = grout_checker_get_count(checker);
    grout_lookup__deinit(&followers->first);
    followers->next.count = 0;
    if (!GROUT_ARRAY_RESERVE(&followers->next, NULL, count)) {
        return false;
    }
    followers->next.count = count;
    for (uint32_t i = count; i > 0; i--) {
        const grout_finding *cause = grout_checker_get_finding(checker, i - 1)->cause;
        uint32_t *first =
            cause == NULL ? &(uint32_t){0} : grout_lookup__at(&followers->first, (uintptr_t)cause);
        if (first == NULL) {
            followers->next.count = 0;
            grout_lookup__deinit(&followers->first);
            return false;
        }
        followers->next.items[i - 1] = *first;
        *first = i;
    }
    return true;
}

void grout_followers__deinit(grout_followers *followers) {
    grout_lookup__deinit(&followers->first);
    grout__free(followers->next.items);
    *followers = (grout_followers){0};
}

bool grout_followers__is_one(grout_reporter *report, const grout_finding *finding) {
    if (finding->cause == NULL) {
        return false;
    }
    grout_severity severity = grout_reporter__judge(report, finding->cause).severity;
    return severity == GROUT_SEVERITY_ERROR ||
           (severity == GROUT_SEVERITY_WARNING &&
            grout_reporter__judge(report, finding).severity != GROUT_SEVERITY_ERROR);
}

void grout_followers__add(grout_reporter *report, const grout_checker *checker,
                          const grout_finding *cause, grout_text *out) {
    const char *opening = "what follows from it: ";
    grout_text line = {0};
    const grout_followers *followers = &report->followers;
    for (uint32_t i = grout_lookup__find(&followers->first, (uintptr_t)cause); i != 0;
         i = followers->next.items[i - 1]) {
        const grout_finding *finding = grout_checker_get_finding(checker, i - 1);
        if (grout_followers__is_one(report, finding) &&
            grout_reporter__judge(report, finding).severity != GROUT_SEVERITY_OFF) {
            grout_text_add(&line, "%s", opening);
            grout_describe_finding(finding, &line);
            opening = "; ";
        }
    }
    if (line.data != NULL) {
        grout_reporter__add_line(report->session, line.data, out);
    }
    grout_text_free(&line);
}
