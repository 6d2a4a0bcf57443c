/* verify_remedy.c - what to write instead: the help texts of remedies.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "grout-internal/text.h"

#include <string.h>

/* ---- lines ----------------------------------------------------------------------------------- */

/* The line of the op, else that of its mode; NULL if it has neither. */
static const char *find_line(const grout_op *op, grout_remedy situation) {
    static const struct {
        grout_opcode opcode;
        grout_remedy situation;
        const char *text;
    } remedies[] = {
#define GROUT_REMEDY(OP, SITUATION, TEXT) {GROUT_OP_##OP, GROUT_REMEDY_##SITUATION, TEXT},
#include "remedies.def"
    };
    static const struct {
        grout_sync_mode mode;
        grout_remedy situation;
        const char *text;
    } of_modes[] = {
#define GROUT_REMEDY_MODE(MODE, SITUATION, TEXT) \
    {GROUT_SYNC_MODE_##MODE, GROUT_REMEDY_##SITUATION, TEXT},
#include "remedies.def"
    };
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++) {
        if (remedies[i].opcode == (grout_opcode)op->opcode && remedies[i].situation == situation) {
            return remedies[i].text;
        }
    }
    for (size_t i = 0; i < sizeof of_modes / sizeof of_modes[0]; i++) {
        if (sync != NULL && of_modes[i].mode == (grout_sync_mode)sync->mode &&
            of_modes[i].situation == situation) {
            return of_modes[i].text;
        }
    }
    return NULL;
}

const char *grout_verify__get_remedy(const grout_op *op, grout_remedy situation) {
    static const char *const defaults[] = {
#define GROUT_REMEDY_DEFAULT(SITUATION, TEXT) [GROUT_REMEDY_##SITUATION] = TEXT,
#include "remedies.def"
    };
    const char *line = find_line(op, situation);
    return line == NULL ? defaults[situation] : line;
}

/* ---- the other style --------------------------------------------------------------------------
 */

/* Whether the other op does the same to the object of the other style. An op that takes a number
 * (k) is like none. */
static bool is_alike(grout_opcode op, grout_opcode other) {
    const grout_sync_info *sync = grout_op_get_sync(op), *theirs = grout_op_get_sync(other);
    return theirs != NULL && theirs->object != sync->object &&
           (theirs->object == GROUT_SYNC_OBJECT_BARRIER ||
            theirs->object == GROUT_SYNC_OBJECT_MBARRIER) &&
           theirs->mode == sync->mode &&
           grout_op_get_info(op)->results == grout_op_get_info(other)->results &&
           grout_op_find_letter(op, 'k') == UINT32_MAX &&
           grout_op_find_letter(other, 'k') == UINT32_MAX;
}

/* barrier_wait and mbarrier_wait: ops of the two styles are named for them (check_sync.c). */
static bool is_namesake(grout_opcode op, grout_opcode other) {
    const char *name = strstr(grout_op_get_info(op)->text, "barrier_");
    const char *theirs = strstr(grout_op_get_info(other)->text, "barrier_");
    return name != NULL && theirs != NULL && strcmp(name, theirs) == 0;
}

/* The namesake, if it is alike; else NONE. Another op with the same mode does not do the same: it
 * brings no bytes, or does not leave. */
static grout_opcode find_alike(grout_opcode op) {
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        const grout_opcode other = (grout_opcode)i;
        if (is_alike(op, other) && is_namesake(op, other)) {
            return other;
        }
    }
    return GROUT_OP_NONE;
}

void grout_verify__add_other_face(const grout_op *op, grout_text *out) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    const bool has_line = find_line(op, GROUT_REMEDY_OTHER_FACE) != NULL;
    const grout_opcode other = has_line ? GROUT_OP_NONE : find_alike(opcode);
    if (other == GROUT_OP_NONE) {
        grout_text_add(out, "%s", grout_verify__get_remedy(op, GROUT_REMEDY_OTHER_FACE));
        return;
    }
    const bool has_parity = grout_op_find_letter(other, 'p') != UINT32_MAX;
    const bool had_parity = grout_op_find_letter(opcode, 'p') != UINT32_MAX;
    grout_text_add(out, "%s %%bar[i]%s", grout_op_get_info(other)->text,
                   has_parity   ? ", PARITY"
                   : had_parity ? ", which counts the phases itself"
                                : "");
}
