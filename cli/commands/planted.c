/* planted.c - the fault that --plant asks for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

bool grout_planted__read(grout_session *session, grout_planted *planted_out) {
    const char *text = grout_options__get(&session->options, GROUT_OPTION_PLANT);
    *planted_out = (grout_planted){0};
    if (text == NULL || grout_planted_parse(text, planted_out)) {
        return true;
    }
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                    "the value of --plant is a field, or one with '-' after it, not '%.200s'",
                    text);
    grout_diags_help(session->diags, "gpu_backend/plan/fields.def lists them: WGMMA.STRIDE");
    return false;
}
