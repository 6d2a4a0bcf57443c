/* verify_named.c - named barriers: ids, and as many threads at all uses of one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>

static bool is_named(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_NAMED;
}

static bool check_id(grout_verifying *verifying, const grout_operand *operand, int64_t id) {
    if (id >= 0 && id < GROUT_NAMED_MAX) {
        return true;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                            "named barrier %" PRId64 ": a CTA has 0 to %d", id,
                            GROUT_NAMED_MAX - 1);
    grout_diags_help(verifying->diags, "the hardware has 16, and grout needs the others itself; "
                                       "barriers in SMEM are as many as fit");
    return false;
}

static bool check_count(grout_verifying *verifying, const grout_operand *operand, int64_t count) {
    int64_t threads = grout_kernel_get_thread_count(verifying->module, verifying->kernel);
    if (count >= 1 && count <= threads) {
        return true;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                            "a named barrier of %" PRId64 " threads in a CTA that has %" PRId64,
                            count, threads);
    grout_diags_help(verifying->diags, "count threads (warpgroups), not CUDA lanes: 1 to %" PRId64,
                     threads);
    return false;
}

/* The first use of an id says how many threads it takes. */
typedef struct first_use {
    grout_loc_id loc;
    int64_t count;
} first_use;

static void check_use(grout_verifying *verifying, const grout_op *op, first_use *uses) {
    const grout_operand *id_operand = grout_module_get_operand(verifying->module, op, 0);
    const grout_operand *count_operand = grout_module_get_operand(verifying->module, op, 1);
    int64_t id, count;
    if (!grout_verify__find_constant(verifying, id_operand, &id) ||
        !grout_verify__find_constant(verifying, count_operand, &count)) {
        return;
    }
    bool has_id = check_id(verifying, id_operand, id);
    if (!check_count(verifying, count_operand, count) || !has_id) {
        return;
    }
    first_use *first = &uses[id];
    if (first->loc == 0) {
        *first = (first_use){.loc = op->loc, .count = count};
    } else if (first->count != count) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, count_operand->loc,
                                "named barrier %" PRId64 " with %" PRId64
                                " threads here and %" PRId64 " elsewhere",
                                id, count, first->count);
        grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, first->loc),
                         "%" PRId64 " here", first->count);
        grout_diags_help(verifying->diags, "all uses of an id take as many threads; another "
                                           "meeting takes another id");
    }
}

void grout_verify__named(grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    first_use uses[GROUT_NAMED_MAX] = {{0, 0}};
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0; id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        if (is_named(op)) {
            check_use(verifying, op, uses);
        }
    }
}
