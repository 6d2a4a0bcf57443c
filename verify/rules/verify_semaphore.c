/* verify_semaphore.c - how many units a semaphore is given or asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>

/* Units that are computed are checked where they are signalled. */
void grout_verify__semaphore(grout_verifying *verifying, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    int64_t units;
    if (sync == NULL || sync->object != GROUT_SYNC_OBJECT_SEMAPHORE || op->operand_count < 2) {
        return;
    }
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 1);
    if (!grout_verify__find_constant(verifying, operand, &units) || units >= 1) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                            "'%s' with %" PRId64 " units: a semaphore counts 1 to %d at once",
                            grout_verify__get_text(op), units, INT32_MAX);
    grout_diags_help(verifying->diags, sync->mode == GROUT_SYNC_MODE_WAITS
                                           ? "a wait takes units away: it needs no negative number"
                                           : "units are taken away by semaphore_wait");
}
