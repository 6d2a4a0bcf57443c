/* seen.c - a run that showed a finding, kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include "seen.h"

void grout_seen__deinit(grout_seen *seen) {
    if (seen->explored.exploration.witness_count > 0) {
        seen->outcome.checker = NULL;
    }
    grout_outcome__deinit(&seen->outcome);
    grout_explored__deinit(&seen->explored);
    grout_load__give_back(&seen->alone);
    grout_load__deinit(&seen->load);
    grout_diags_free(seen->diags);
    *seen = (grout_seen){0};
}

static bool has_finding(const grout_outcome *outcome, uint64_t identity) {
    uint32_t count = outcome->checker == NULL ? 0 : grout_checker_get_count(outcome->checker);
    for (uint32_t i = 0; i < count; i++) {
        if (grout_checker_get_finding(outcome->checker, i)->identity == identity) {
            return true;
        }
    }
    return false;
}

bool grout_seen__is_of(const grout_seen *seen, const grout_load *load, grout_kernel_id kernel) {
    return seen != NULL && seen->kernel != 0 &&
           seen->kernel == grout_load__get_whole_id(load, kernel);
}

const grout_outcome *grout_seen__get_reported(grout_session *session, const grout_load *load,
                                              grout_kernel_id kernel, const grout_outcome *outcome,
                                              grout_outcome *stand_in) {
    const grout_seen *seen = session->seen;
    if (!grout_seen__is_of(seen, load, kernel) || outcome->has_more ||
        outcome->status != GROUT_RUN_INTERRUPTED || has_finding(outcome, seen->identity)) {
        return outcome;
    }
    grout_session__note(session,
                        "%s before the smallest launch had run again: the report is that of the "
                        "trial that found it, and a smaller size or schedule may show it too\n",
                        grout_outcome__get_cut(outcome));
    *stand_in = *outcome;
    stand_in->status = seen->outcome.status;
    stand_in->stats = seen->outcome.stats;
    stand_in->seconds = seen->outcome.seconds;
    stand_in->cut = seen->outcome.cut;
    stand_in->checker = seen->outcome.checker;
    stand_in->summary = seen->outcome.summary;
    return stand_in;
}
