/* deadline.c - what ends work from outside.
 * SPDX-License-Identifier: Apache-2.0 */
#include "deadline.h"

grout_cut grout_deadline__find_cut(const grout_deadline *deadline) {
    const grout_host *host = deadline->host;
    const double now = host->get_seconds(host->payload);
    return host->is_interrupted(host->payload)                         ? GROUT_CUT_INTERRUPT
           : deadline->timeout_end > 0 && now >= deadline->timeout_end ? GROUT_CUT_TIMEOUT
           : deadline->budget_end > 0 && now >= deadline->budget_end   ? GROUT_CUT_BUDGET
                                                                       : GROUT_CUT_NONE;
}

static bool goes_on(void *payload) {
    return grout_deadline__find_cut(payload) == GROUT_CUT_NONE;
}

grout_waiting grout_deadline__get_waiting(grout_deadline *deadline) {
    return (grout_waiting){.goes_on = goes_on, .payload = deadline};
}

grout_diag_code grout_deadline__why_end(void *payload) {
    const grout_cut cut = grout_deadline__find_cut(payload);
    return cut == GROUT_CUT_NONE        ? GROUT_DIAG_NONE
           : cut == GROUT_CUT_INTERRUPT ? GROUT_DIAG_INTERRUPTED
                                        : GROUT_DIAG_TIME_LIMIT;
}

const char *grout_cut_get_text(grout_cut cut) {
    switch (cut) {
    case GROUT_CUT_NONE:
        break;
    case GROUT_CUT_INTERRUPT:
        return "Ctrl-C or another signal ended the run";
    case GROUT_CUT_TIMEOUT:
        return "the time was over (--timeout)";
    case GROUT_CUT_BUDGET:
        return "the time was over (--budget)";
    }
    return "the run did not reach its end";
}
