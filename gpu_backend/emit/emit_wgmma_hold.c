/* emit_wgmma_hold.c - the registers of an a, or of its metadata, that the tensor core goes on
 * reading after the wgmma. SPDX-License-Identifier: Apache-2.0
 *
 * Until a wait covers the wgmma nothing may be written to them, and the compiler does not know it:
 * on an H200 the next turn of a loop wrote its own a over them. So they are variables of their own,
 * which an empty asm statement after that wait still uses, if the wait stands after the wgmma in
 * its block. If the wgmma comes again before one, the loop is written in rounds whose turns have
 * registers of their own (emit_rounds.c). Where it cannot be, the wgmma is waited for at once:
 * variables that the kernel kept from turn to turn, with a wait in front of the next a, were still
 * written to too early on an H100.
 */
#include "emit.h"

#include "wgmma_turns.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_in_loop(const grout_emitter *e, const grout_op *op) {
    return grout_op_find_around(e->module, op, GROUT_REGION_LOOP, NULL) != NULL;
}

static void write_use(grout_emitter *e, const grout_emit_hold *hold) {
    grout_emit__line(e, "grout_wgmma_hold<%" PRIu32 ">(x%" PRIu32 ");", hold->registers,
                     hold->number);
}

/* ---- reports ---- */

/* Why the turns of the loop have no registers of their own, and what helps beside the rest. */
typedef struct obstacle {
    char why[160];
    const char *help;
} obstacle;

static obstacle find_obstacle(const grout_wgmma_turns *turns, uint32_t registers_max) {
    obstacle found = {.why = "", .help = ""};
    switch (turns->fault) {
    case GROUT_WGMMA_TURNS_NESTED:
        return (obstacle){"it stands in a block of its own in the loop",
                          "write it into the body of the loop itself; or "};
    case GROUT_WGMMA_TURNS_WHILE:
        return (obstacle){"the turns of a 'while' are not known in advance",
                          "write the loop as a 'for'; or "};
    case GROUT_WGMMA_TURNS_UNCOVERED:
        return (obstacle){"no turn of the loop waits for it",
                          "let each turn wait for one that came before, as 'wgmma_wait 1' does; "
                          "or "};
    case GROUT_WGMMA_TURNS_AGAIN:
        return (obstacle){"the loop comes again before its last turns are waited for",
                          "write 'wgmma_wait 0' after the loop; or "};
    case GROUT_WGMMA_TURNS_MANY:
        (void)snprintf(found.why, sizeof found.why,
                       "%" PRIu32
                       " turns of the loop in a row would need registers of their own, and "
                       "at most %d have them",
                       turns->sets, GROUT_WGMMA_SETS_MAX);
        found.help = "leave fewer in flight; or ";
        return found;
    case GROUT_WGMMA_TURNS_REGISTERS:
        (void)snprintf(found.why, sizeof found.why,
                       "%" PRIu32 " sets of %" PRIu32 " registers beside %" PRIu32
                       " of accumulators do not fit into the %" PRIu32 " of a lane",
                       turns->sets, turns->registers, turns->accumulators, registers_max);
        found.help = "take a smaller tile, or more registers with set_max_registers; or ";
        return found;
    case GROUT_WGMMA_TURNS_NONE:
        break;
    }
    return found;
}

static void report_wait(grout_emitter *e, const grout_op *op) {
    const uint32_t registers_max = e->forks.registers_max;
    const grout_wgmma_turns turns = grout_gpu__plan_wgmma_turns(e->module, op, registers_max);
    const obstacle found = find_obstacle(&turns, registers_max);
    const bool is_sparse = grout_wgmma_get_metadata(e->module, op) != NULL;
    grout_diags_add(e->diags, GROUT_DIAG_GPU_LOSS, grout_module_get_place(e->module, op->loc),
                    "'%s' comes again before a wait of its block covers it, and %s: so the CUDA "
                    "waits for it at once, since its next %s takes the same registers",
                    grout_op_get_info((grout_opcode)op->opcode)->text, found.why,
                    is_sparse ? "metadata" : "a");
    grout_diags_help(e->diags,
                     "%swait for it in the same block, after the work that can be done "
                     "meanwhile%s",
                     found.help, is_sparse ? "" : "; or keep a in SMEM");
}

/* ---- registers in use ---- */

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
    const grout_op_id until = grout_gpu__find_wgmma_cover(e->module, id);
    if (until == 0 && is_in_loop(e, op) && e->rounds.body != op->parent) {
        if (!e->rounds.is_rest) {
            report_wait(e, op);
        }
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
