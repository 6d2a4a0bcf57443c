/* emit_boxes.c - copies of a loop that TMA makes in many small boxes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A box of a KiB costs nearly as much as one of 16, so a copy in many of them is slower than the
 * memory. It is so where an smem array has several tiles beside each other and the gmem array is no
 * whole number of tiles, or the copy may start inside one (lowering/tma_plan.c).
 */
#include "emit.h"

#include "tma_loops.h"

#include <inttypes.h>

#define SMALL_BYTES 1024u
#define MANY_BOXES  8u

static bool is_slow(const grout_tma *tma) {
    return tma->box_bytes <= SMALL_BYTES && tma->band_count * tma->panel_count >= MANY_BOXES;
}

static void report(grout_emitter *e, const grout_op *op, const grout_tma *tma) {
    grout_text why = {0}, remedy = {0};
    grout_tma_loops__explain(e->module, op, tma, &why, &remedy);
    if (why.data != NULL && remedy.data != NULL) {
        grout_diags_add(e->diags, GROUT_DIAG_GPU_LOSS, grout_module_get_place(e->module, op->loc),
                        "'%s' takes %" PRIu32 " boxes of %" PRIu32 " bytes each time: %s",
                        grout_op_get_info((grout_opcode)op->opcode)->text,
                        tma->band_count * tma->panel_count, tma->box_bytes, why.data);
        grout_diags_help(e->diags, "%s", remedy.data);
    } else {
        (void)grout_diags_add_oom(e->diags);
    }
    grout_text_free(&why);
    grout_text_free(&remedy);
}

void grout_emit__report_boxes(grout_emitter *e) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(e->module); id++) {
        const grout_op *op = grout_module_get_op(e->module, id);
        grout_tma tma;
        if (e->plan->map_of_op[id] != 0 &&
            grout_op_find_letter((grout_opcode)op->opcode, 'H') != UINT32_MAX &&
            grout_op_find_around(e->module, op, GROUT_REGION_LOOP, NULL) != NULL &&
            grout_tma_plan(e->module, id, &tma, NULL) && is_slow(&tma)) {
            report(e, op, &tma);
        }
    }
}
