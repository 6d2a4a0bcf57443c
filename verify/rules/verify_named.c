/* verify_named.c - named barriers: constant ids and counts, and one count at all uses of an id.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_named(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_NAMED;
}

static bool check_id(grout_verifying *verifying, const grout_operand *operand, int64_t id) {
    const int64_t count = GROUT_NAMED_IDS - (int64_t)grout_kernel_get_thread_count(
                                                verifying->module, verifying->kernel);
    if (id >= 0 && id < count) {
        return true;
    }
    grout_verifying__report(
        verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
        "named barrier %" PRId64 ": a CTA of %" PRId64 " thread%s has 0 to %" PRId64, id,
        GROUT_NAMED_IDS - count, GROUT_NAMED_IDS - count == 1 ? "" : "s", count - 1);
    grout_diags_help(verifying->diags, "the hardware has 16, of which grout needs one for each "
                                       "thread and one for all of them; barriers in SMEM are as "
                                       "many as fit");
    return false;
}

/* lanes_out: what the count means, in lanes. */
static bool check_count(grout_verifying *verifying, const grout_op *op,
                        const grout_operand *operand, int64_t count, int64_t *lanes_out) {
    const bool is_in_lanes =
        grout_module_find_attr(verifying->module, op, GROUT_ATTR_LANES) != NULL;
    const int64_t thread_lanes = (int64_t)GROUT_WARPS * GROUT_WARP_LANES;
    const int64_t unit = is_in_lanes ? GROUT_WARP_LANES : 1;
    const int64_t lanes = GROUT_WARP_LANES * (int64_t)grout_kernel_get_warp_count(
                                                 verifying->module, verifying->kernel);
    const int64_t most = is_in_lanes ? lanes : lanes / thread_lanes;
    if (count >= unit && count <= most && count % unit == 0) {
        *lanes_out = is_in_lanes ? count : count * thread_lanes;
        return true;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                            "a named barrier of %" PRId64 " %s in a CTA that has %" PRId64, count,
                            is_in_lanes ? "lanes" : "threads", most);
    if (is_in_lanes) {
        grout_diags_help(verifying->diags,
                         "a warp counts 32 and a thread 128: a multiple of 32, 32 to %" PRId64,
                         most);
    } else {
        grout_diags_help(verifying->diags,
                         "count threads (warpgroups), 1 to %" PRId64
                         ", or write 'lanes' after it to count CUDA lanes",
                         most);
    }
    return false;
}

/* The first use of an id says how many threads it takes. */
typedef struct first_use {
    grout_loc_id loc;
    int64_t lanes;
} first_use;

/* A number of lanes in the unit that it is said in: threads where it is a number of them. */
static void describe_lanes(int64_t lanes, char *text, size_t size) {
    const int64_t thread_lanes = (int64_t)GROUT_WARPS * GROUT_WARP_LANES;
    if (lanes % thread_lanes == 0) {
        (void)snprintf(text, size, "%" PRId64 " thread%s", lanes / thread_lanes,
                       lanes == thread_lanes ? "" : "s");
    } else {
        (void)snprintf(text, size, "%" PRId64 " lanes", lanes);
    }
}

static void report_two_counts(grout_verifying *verifying, const grout_operand *operand, int64_t id,
                              int64_t lanes, const first_use *first) {
    char own[40], other[40];
    describe_lanes(lanes, own, sizeof own);
    describe_lanes(first->lanes, other, sizeof other);
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                            "named barrier %" PRId64 " with %s here and %s elsewhere", id, own,
                            other);
    grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, first->loc),
                     "%s here", other);
    grout_diags_help(verifying->diags, "all uses of an id take as many; another meeting takes "
                                       "another id");
}

static void check_use(grout_verifying *verifying, const grout_op *op, first_use *uses) {
    const grout_operand *id_operand = grout_module_get_operand(verifying->module, op, 0);
    const grout_operand *count_operand = grout_module_get_operand(verifying->module, op, 1);
    int64_t id = 0, count = 0, lanes = 0;
    const bool knows_id = grout_verify__find_constant(verifying, id_operand, &id);
    const bool knows_count = grout_verify__find_constant(verifying, count_operand, &count);
    const bool has_id = knows_id && check_id(verifying, id_operand, id);
    if (!knows_count || !check_count(verifying, op, count_operand, count, &lanes) || !has_id) {
        return;
    }
    first_use *first = &uses[id];
    if (first->loc == 0) {
        *first = (first_use){.loc = op->loc, .lanes = lanes};
    } else if (first->lanes != lanes) {
        report_two_counts(verifying, count_operand, id, lanes, first);
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
