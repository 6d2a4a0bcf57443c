/* emit_warp.c - forks: warps of a thread, partitions of a CTA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__warp_map(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'warp_map' is not built yet");
}

void grout_emit__warp_specialize(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'warp_specialize' is not built yet");
}
