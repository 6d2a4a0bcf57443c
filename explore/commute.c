/* commute.c - which steps on one resource change places unseen.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

bool grout_trace__is_dependent(const grout_step *first, const grout_step *second) {
    uint8_t a = first->kind, b = second->kind;
    switch ((grout_step_kind)b) {
    case GROUT_STEP_PARITY:
        if (a == GROUT_STEP_PARITY) { /* before the bytes have landed for another, a test has two
                                         answers */
            return (first->number & GROUT_LOOK_LANDED) != 0 &&
                   (second->number & GROUT_LOOK_TESTED) != 0;
        }
        return true;
    case GROUT_STEP_ARRIVE: /* on one phase they commute; a test or a parity sees each of them */
        return a == GROUT_STEP_PARITY || first->number != second->number;
    case GROUT_STEP_SIGNAL: /* two signals: if some wait takes one without the other (settle) */
        return a == GROUT_STEP_SIGNAL || a == GROUT_STEP_LOOK;
    case GROUT_STEP_TAKE:
        return a == GROUT_STEP_TAKE || a == GROUT_STEP_LOOK;
    case GROUT_STEP_LOOK:
        return a != GROUT_STEP_LOOK;
    case GROUT_STEP_FETCH:
        return true;
    case GROUT_STEP_PEEK:
        return a != GROUT_STEP_PEEK;
    case GROUT_STEP_UPDATE: /* adding twice is one thing, adding and taking the larger another */
        return a != GROUT_STEP_UPDATE || first->number != second->number || first->number == 0;
    case GROUT_STEP_NAMED:
        return first->number != second->number;
    }
    return true;
}
