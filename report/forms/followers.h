/* followers.h - findings that follow from another one: listed under it, in a line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_FOLLOWERS_H
#define GROUT_REPORT_FOLLOWERS_H

#include "report.h"

/* Whether the finding is listed under its cause, which is not silenced and no less severe. */
bool grout_followers__is_one(grout_reporter *report, const grout_finding *finding);
/* Appends the findings of a run that follow from one, in a line; nothing if there are none. */
void grout_followers__add(grout_reporter *report, const grout_checker *checker,
                          const grout_finding *cause, grout_text *out);

#endif
