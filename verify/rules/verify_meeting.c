/*
 * verify_meeting.c - block_barrier: whether every thread of the CTA comes to as many.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For each thread the number of block_barriers that it passes is bounded from both sides: branches
 * and loops that constants and the thread's own index decide count exactly, of others the least and
 * the most. Only where one thread certainly passes more than another ever can is it said: that wait
 * never ends. A kernel with warp_specialize is a matter of verify_scope.c.
 */
#include "verifying.h"

#include <inttypes.h>

#define COUNT_MAX (INT64_MAX / 2) /* without bound */

typedef struct count_range {
    int64_t low, high;
} count_range;

static count_range count_block(const grout_verifying *verifying, uint32_t thread,
                               grout_block_id id);

static int64_t multiply(int64_t count, int64_t times) {
    int64_t product;
    return __builtin_mul_overflow(count, times, &product) || product > COUNT_MAX ? COUNT_MAX
                                                                                 : product;
}

static count_range count_if(const grout_verifying *verifying, uint32_t thread, const grout_op *op) {
    count_range first = count_block(verifying, thread, op->first_block), second = {0, 0};
    if (op->block_count > 1) {
        second = count_block(verifying, thread, op->first_block + 1);
    }
    if (first.high == 0 && second.high == 0) {
        return first;
    }
    grout_known_value condition =
        grout_thread__evaluate(verifying->module, verifying->kernel, thread,
                               grout_module_get_operand(verifying->module, op, 0));
    if (condition.is_known) {
        return condition.value != 0 ? first : second;
    }
    return (count_range){first.low < second.low ? first.low : second.low,
                         first.high > second.high ? first.high : second.high};
}

static count_range count_for(const grout_verifying *verifying, uint32_t thread,
                             const grout_op *op) {
    const grout_module *module = verifying->module;
    grout_known_value bounds[3];
    bool is_known = true;
    for (uint32_t k = 0; k < 3; k++) {
        bounds[k] = grout_thread__evaluate(verifying->module, verifying->kernel, thread,
                                           grout_module_get_operand(module, op, k));
        is_known = is_known && bounds[k].is_known;
    }
    count_range body = count_block(verifying, thread, op->first_block);
    if (!is_known || bounds[2].value < 1) {
        return (count_range){0, body.high > 0 ? COUNT_MAX : 0};
    }
    int64_t way = (int64_t)bounds[1].value - bounds[0].value;
    int64_t times = way <= 0 ? 0 : (way + bounds[2].value - 1) / bounds[2].value;
    return (count_range){multiply(body.low, times), multiply(body.high, times)};
}

static count_range count_op(const grout_verifying *verifying, uint32_t thread, const grout_op *op) {
    count_range range = {0, 0};
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    if (grout_verify__is_meeting(op)) {
        return (count_range){1, 1};
    }
    if (region->kind == GROUT_REGION_BRANCH) {
        return count_if(verifying, thread, op);
    }
    if (region->kind == GROUT_REGION_LOOP && region->blocks == 1) {
        return count_for(verifying, thread, op);
    }
    if (region->kind == GROUT_REGION_SCOPE) {
        return count_block(verifying, thread, op->first_block);
    }
    for (uint32_t k = 0; k < op->block_count; k++) {
        range.high += count_block(verifying, thread, op->first_block + k).high;
    }
    range.high = range.high > 0 ? COUNT_MAX : 0;
    return range;
}

/* Blocks nest at most GROUT_NESTING_MAX deep. */
static count_range count_block(const grout_verifying *verifying, uint32_t thread,
                               grout_block_id id) {
    const grout_module *module = verifying->module;
    count_range sum = {0, 0};
    grout_op_id next = grout_module_get_block(module, id)->first;
    while (next != 0 && grout_verify__goes_on(verifying)) {
        const grout_op *op = grout_module_get_op(module, next);
        count_range range = {0, 0};
        if (grout_verify__is_meeting(op) || op->block_count > 0) {
            range = count_op(verifying, thread, op);
        }
        sum.low = sum.low + range.low > COUNT_MAX ? COUNT_MAX : sum.low + range.low;
        sum.high = sum.high + range.high > COUNT_MAX ? COUNT_MAX : sum.high + range.high;
        next = op->next;
    }
    return sum;
}

/* Whether an if around op keeps the thread away from it. */
static bool is_kept_away(const grout_verifying *verifying, uint32_t thread, const grout_op *op) {
    const grout_module *module = verifying->module;
    grout_block_id block = op->parent;
    for (;;) {
        grout_op_id id = grout_module_get_block(module, block)->parent;
        if (id == 0) {
            return false;
        }
        const grout_op *around = grout_module_get_op(module, id);
        if (grout_op_get_region_kind(around) == GROUT_REGION_BRANCH) {
            grout_known_value condition =
                grout_thread__evaluate(verifying->module, verifying->kernel, thread,
                                       grout_module_get_operand(module, around, 0));
            bool is_first = block == around->first_block;
            if (condition.is_known && (condition.value != 0) != is_first) {
                return true;
            }
        }
        block = around->parent;
    }
}

/* The first block_barrier that the one thread comes to and the other does not; else the first. */
static const grout_op *find_barrier(const grout_verifying *verifying, uint32_t thread,
                                    uint32_t other) {
    const grout_module *module = verifying->module;
    const grout_op *first = NULL;
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0 && grout_verify__goes_on(verifying);
         id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        if (!grout_verify__is_meeting(op) || is_kept_away(verifying, thread, op)) {
            continue;
        }
        first = first == NULL ? op : first;
        if (is_kept_away(verifying, other, op)) {
            return op;
        }
    }
    return first;
}

static void report(grout_verifying *verifying, uint32_t thread, uint32_t other, int64_t low,
                   int64_t high) {
    const grout_op *op = find_barrier(verifying, thread, other);
    if (op == NULL) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
                            "thread %" PRIu32 " comes to %" PRId64 " block_barrier%s, and thread "
                            "%" PRIu32 " to %" PRId64 ": it waits for all of them",
                            thread, low, low == 1 ? "" : "s", other, high);
    grout_diags_help(verifying->diags,
                     "let every thread come to it, or let those that meet use named_barrier_sync "
                     "ID, THREADS");
}

void grout_verify__meetings(grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    uint32_t threads = grout_kernel_get_thread_count(module, verifying->kernel);
    grout_block_id body = grout_module_get_kernel(module, verifying->kernel)->body;
    count_range most = {0, 0}, least = {0, COUNT_MAX};
    uint32_t most_thread = 0, least_thread = 0;
    if (threads < 2 || threads > GROUT_THREADS_MAX || verifying->specialize != NULL) {
        return;
    }
    for (uint32_t thread = 0; thread < threads; thread++) {
        count_range range = count_block(verifying, thread, body);
        if (range.low > most.low) {
            most = range;
            most_thread = thread;
        }
        if (thread == 0 || range.high < least.high) {
            least = range;
            least_thread = thread;
        }
    }
    if (most.low > least.high) {
        report(verifying, most_thread, least_thread, most.low, least.high);
    }
}
