/* verify_remedy.c - what to write instead: the help texts of remedies.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

const char *grout_verify__get_remedy(const grout_op *op, grout_remedy situation) {
    static const char *const defaults[] = {
#define GROUT_REMEDY_DEFAULT(SITUATION, TEXT) [GROUT_REMEDY_##SITUATION] = TEXT,
#include "remedies.def"
    };
    static const struct {
        grout_opcode opcode;
        grout_remedy situation;
        const char *text;
    } remedies[] = {
#define GROUT_REMEDY(OP, SITUATION, TEXT) {GROUT_OP_##OP, GROUT_REMEDY_##SITUATION, TEXT},
#include "remedies.def"
    };
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++) {
        if (remedies[i].opcode == (grout_opcode)op->opcode && remedies[i].situation == situation) {
            return remedies[i].text;
        }
    }
    return defaults[situation];
}
