/* emit_wgmma_hold.c - the registers of an a, or of its metadata, that the tensor core goes on
 * reading after the wgmma. SPDX-License-Identifier: Apache-2.0
 *
 * Until a wait covers the wgmma nothing may be written to them, and the compiler does not know it:
 * on an H200 the next turn of a loop wrote its own a over them. So they are variables of their own,
 * which an empty asm statement after that wait still uses, if the wait stands after the wgmma in
 * its block. If the wgmma comes again before one, it is waited for at once: variables that the
 * kernel kept from turn to turn, with a wait in front of the next a, were still written to too
 * early on an H100.
 */
#include "emit.h"

#include "invariant.h"

#include <inttypes.h>

static bool starts_group(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_WGMMA &&
           sync->mode == GROUT_SYNC_MODE_STARTS;
}

/* How many of the thread's groups an op may leave in flight; -1: it waits for none. */
static int64_t get_left(const grout_emitter *e, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const bool is_of_wgmma = sync != NULL && sync->object == GROUT_SYNC_OBJECT_WGMMA;
    grout_view view;
    if (is_of_wgmma && sync->mode == GROUT_SYNC_MODE_STARTS) {
        return sync->covers != 0 ? 1 : -1;
    }
    if (is_of_wgmma && info->operands[0] == 'k') {
        return grout_emit__get_integer(e, op, 0);
    }
    if (is_of_wgmma) {
        return grout_op_get_attr_integer(e->module, op, GROUT_ATTR_WAIT_GROUPS, -1);
    }
    const bool is_load =
        info->rule == GROUT_RULE_LOAD &&
        grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), &view) &&
        grout_emit__is_accumulator(e, &view);
    return is_load ? 0 : -1;
}

/* The op after a wgmma, in its block, that waits for it, or 0. Ops in blocks of ops do not count:
 * the run may leave them out. */
static grout_op_id find_cover(const grout_emitter *e, grout_op_id wgmma) {
    int64_t issued = 0;
    for (grout_op_id at = grout_module_get_op(e->module, wgmma)->next; at != 0;
         at = grout_module_get_op(e->module, at)->next) {
        const grout_op *op = grout_module_get_op(e->module, at);
        const int64_t left = get_left(e, op);
        issued += starts_group(op) ? 1 : 0;
        if (left >= 0 && issued >= left) {
            return at;
        }
    }
    return 0;
}

static bool is_in_loop(const grout_emitter *e, const grout_op *op) {
    return grout_op_find_around(e->module, op, GROUT_REGION_LOOP, NULL) != NULL;
}

static void write_use(grout_emitter *e, const grout_emit_hold *hold) {
    grout_emit__line(e, "grout_wgmma_hold<%" PRIu32 ">(x%" PRIu32 ");", hold->registers,
                     hold->number);
}

static void report_wait(grout_emitter *e, const grout_op *op) {
    const bool is_sparse = grout_wgmma_get_metadata(e->module, op) != NULL;
    grout_diags_add(e->diags, GROUT_DIAG_GPU_LOSS, grout_module_get_place(e->module, op->loc),
                    "'%s' comes again before a wait of its block covers it, so the CUDA waits for "
                    "it at once: its next %s takes the same registers",
                    grout_op_get_info((grout_opcode)op->opcode)->text,
                    is_sparse ? "metadata" : "a");
    grout_diags_help(e->diags,
                     "wait for it in the same block, after the work that can be done "
                     "meanwhile%s",
                     is_sparse ? "" : "; or keep a in SMEM");
}

uint32_t grout_emit__begin_hold(grout_emitter *e, uint32_t registers) {
    const uint32_t number = e->temp_count++;
    grout_emit__line(e, "grout_u32 x%" PRIu32 "[%" PRIu32 "];", number, registers);
    return number;
}

static void write_uses(grout_emitter *e, const grout_emit_hold *holds, uint32_t count) {
    grout_emit__wait_wgmmas(e, 0);
    for (uint32_t k = 0; k < count; k++) {
        write_use(e, &holds[k]);
    }
}

void grout_emit__end_hold(grout_emitter *e, grout_op_id id, const grout_emit_hold *holds,
                          uint32_t count) {
    const grout_op *op = grout_module_get_op(e->module, id);
    const grout_op_id until = find_cover(e, id);
    if (until == 0 && is_in_loop(e, op)) {
        report_wait(e, op);
        grout_emit__line(
            e, "// The next values of these registers must not come while they are read.");
        write_uses(e, holds, count);
    }
    if (until == 0) {
        return;
    }
    if (e->held_count + count > GROUT_EMIT_HELD_MAX) { /* more than a thread's groups can be told
                                                          apart */
        write_uses(e, holds, count);
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        e->held[e->held_count].until = until;
        e->held[e->held_count].hold = holds[k];
        e->held_count++;
    }
}

void grout_emit__release_held(grout_emitter *e, grout_op_id id) {
    uint32_t left = 0;
    for (uint32_t k = 0; k < e->held_count; k++) {
        if (e->held[k].until == id) {
            write_use(e, &e->held[k].hold);
        } else {
            e->held[left] = e->held[k];
            left++;
        }
    }
    e->held_count = (uint8_t)left;
}
