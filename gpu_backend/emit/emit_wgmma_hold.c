/* emit_wgmma_hold.c - the registers of an a that the tensor core goes on reading after the wgmma.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Until a wait covers the wgmma nothing may be written to them, and the compiler does not know it:
 * on an H200 the next turn of a loop wrote its own a over them. So they are variables of their own,
 * which an empty asm statement after that wait still uses. If the wait stands after the wgmma in
 * its block, they are the block's. If the wgmma comes again before a wait of its block, they are
 * the kernel's; where no wait in between covers it, one is written in front of the next a.
 */
#include "emit.h"

#include "invariant.h"

#include <inttypes.h>

#define GROUPS_MAX 7 /* that a wait can leave in flight */

static bool starts_group(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_WGMMA &&
           sync->mode == GROUT_SYNC_MODE_STARTS;
}

static bool has_registers(const grout_emitter *e, grout_op_id id, const grout_op *op,
                          grout_wgmma *wgmma) {
    return starts_group(op) && grout_wgmma_plan(e->module, id, wgmma, NULL) && wgmma->a.is_register;
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

/* The first op from one to another of its block (0: its end) that waits for a group after which
 * *issued others have been started; 0: none does. Blocks of ops may be left out by the run. */
static grout_op_id find_cover(const grout_emitter *e, grout_op_id from, grout_op_id end,
                              int64_t *issued) {
    for (grout_op_id at = from; at != end && at != 0;
         at = grout_module_get_op(e->module, at)->next) {
        const grout_op *op = grout_module_get_op(e->module, at);
        const int64_t left = get_left(e, op);
        *issued += starts_group(op) ? 1 : 0;
        if (left >= 0 && *issued >= left) {
            return at;
        }
    }
    return 0;
}

grout_emit_hold grout_emit__find_hold(const grout_emitter *e, grout_op_id id) {
    const grout_op *op = grout_module_get_op(e->module, id);
    grout_block_id body = 0;
    int64_t issued = 0;
    grout_emit_hold hold = {.until = find_cover(e, op->next, 0, &issued), .wait = -1};
    if (hold.until != 0 || grout_op_find_around(e->module, op, GROUT_REGION_LOOP, &body) == NULL) {
        return hold;
    }
    hold.is_kept = true;
    if (body != op->parent) {
        hold.wait = 0;
    } else if (find_cover(e, grout_module_get_block(e->module, body)->first, id, &issued) == 0) {
        hold.wait = issued < GROUPS_MAX ? issued : GROUPS_MAX;
    }
    return hold;
}

/* ---- the kernel's ---------------------------------------------------------------------------- */

/* A walk that counts the wgmmas whose registers are the kernel's, up to one of them. */
typedef struct kept_walk {
    grout_emitter *e;
    grout_op_id end;
    uint32_t first, count;
    bool declares;
} kept_walk;

static bool visit_kept(void *payload, grout_op_id id, const grout_op *op) {
    kept_walk *walk = payload;
    grout_wgmma wgmma;
    if (id == walk->end) {
        return false;
    }
    if (has_registers(walk->e, id, op, &wgmma) && grout_emit__find_hold(walk->e, id).is_kept) {
        if (walk->declares) {
            grout_emit__line(walk->e,
                             "grout_u32 x%" PRIu32 "[%" PRIu32 "] = {}; // a of line %" PRIu32,
                             walk->first + walk->count, 4 * wgmma.step_count * wgmma.block_count,
                             grout_emit__get_line(walk->e, op->loc));
        }
        walk->count++;
    }
    return true;
}

void grout_emit__declare_kept(grout_emitter *e) {
    kept_walk walk = {.e = e, .first = e->temp_count, .declares = true};
    e->first_kept = e->temp_count;
    (void)grout_gpu__walk(e->module, e->kernel->body, visit_kept, &walk);
    e->temp_count += walk.count;
}

static uint32_t get_kept(grout_emitter *e, grout_op_id id) {
    kept_walk walk = {.e = e, .end = id};
    (void)grout_gpu__walk(e->module, e->kernel->body, visit_kept, &walk);
    return e->first_kept + walk.count;
}

/* ---- before and after the wgmma -------------------------------------------------------------- */

static void write_use(grout_emitter *e, uint32_t number, uint32_t registers) {
    grout_emit__line(e, "grout_wgmma_hold<%" PRIu32 ">(x%" PRIu32 ");", registers, number);
}

static void report_wait(grout_emitter *e, const grout_op *op, int64_t left) {
    grout_diags_add(e->diags, GROUT_DIAG_GPU_LOSS, grout_module_get_place(e->module, op->loc),
                    "'%s' comes again before a wait of its block covers it: its next a waits until "
                    "at most %" PRId64 " groups are in flight, as it takes the same registers",
                    grout_op_get_info((grout_opcode)op->opcode)->text, left);
    grout_diags_help(e->diags,
                     "write two of them a turn, which wait for each other, each with an a "
                     "of its own; or a in SMEM");
}

uint32_t grout_emit__begin_hold(grout_emitter *e, grout_op_id id, uint32_t registers) {
    const grout_emit_hold hold = grout_emit__find_hold(e, id);
    if (!hold.is_kept) {
        const uint32_t number = e->temp_count++;
        grout_emit__line(e, "grout_u32 x%" PRIu32 "[%" PRIu32 "];", number, registers);
        return number;
    }
    const uint32_t number = get_kept(e, id);
    if (hold.wait >= 0) {
        report_wait(e, grout_module_get_op(e->module, id), hold.wait);
        grout_emit__line(e, "// The tensor core may still read the registers of this a.");
        grout_emit__wait_wgmmas(e, hold.wait);
    }
    write_use(e, number, registers);
    return number;
}

void grout_emit__end_hold(grout_emitter *e, grout_op_id id, uint32_t number, uint32_t registers) {
    const grout_emit_hold hold = grout_emit__find_hold(e, id);
    if (hold.until == 0) {
        return;
    }
    if (e->held_count == GROUT_EMIT_HELD_MAX) { /* more than a thread's groups can be told apart */
        grout_emit__wait_wgmmas(e, 0);
        write_use(e, number, registers);
        return;
    }
    e->held[e->held_count].until = hold.until;
    e->held[e->held_count].number = number;
    e->held[e->held_count].registers = registers;
    e->held_count++;
}

void grout_emit__release_held(grout_emitter *e, grout_op_id id) {
    uint32_t left = 0;
    for (uint32_t k = 0; k < e->held_count; k++) {
        if (e->held[k].until == id) {
            write_use(e, e->held[k].number, e->held[k].registers);
        } else {
            e->held[left] = e->held[k];
            left++;
        }
    }
    e->held_count = (uint8_t)left;
}
