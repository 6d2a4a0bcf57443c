/* emit_specialize.c - warp_specialize: the kernel's body as one part for each thread.
 *
 * Thread 0's part is everything; that of thread k its partitions, between the two meetings with
 * thread 0 at the ends of each warp_specialize, and what every thread of the CTA has to take part
 * in: the rendezvous after the mbarrier_inits, block_barrier and the cluster's barrier. Threads
 * that never have a partition go straight to the kernel's end and wait there for what ends it.
 * Nobody returns, so that setmaxnreg finds whole warpgroups. SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "alloc.h"
#include "invariant.h"

#include <inttypes.h>

/* What a thread after the first one knows of the outside, by value. */
typedef struct part {
    grout_emitter *e;
    bool *is_needed; /* its partitions use it */
    bool *is_made;   /* it has a variable in this part */
} part;

/* Threads that come to each meeting: all that ever have a partition, and if one of the meetings is
 * the whole CTA's, all of it. A thread that came to some only would be early for the next one. */
static uint32_t count_members(const grout_emitter *e, const grout_emit_forks *forks) {
    return forks->last_init != 0 && e->plan->cluster_size == 1 ? e->plan->thread_count
                                                               : forks->part_count;
}

static bool has_partitions(const grout_op *op) {
    return grout_op_get_region((grout_opcode)op->opcode)->kind == GROUT_REGION_PARTITIONS;
}

static bool makes_mbarrier(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_MAKES &&
           sync->object == GROUT_SYNC_OBJECT_MBARRIER;
}

/* block_barrier takes every thread of the CTA, the cluster's barrier every thread of every CTA. */
static bool takes_all_threads(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL &&
           (sync->object == GROUT_SYNC_OBJECT_CLUSTER || sync->object == GROUT_SYNC_OBJECT_CTA);
}

void grout_emit__check_common(grout_emitter *e, const grout_op *op) {
    grout_block_id body = 0;
    if (e->forks.part_count > 0 && op->parent != e->kernel->body &&
        grout_op_find_around(e->module, op, GROUT_REGION_PARTITIONS, &body) == NULL) {
        grout_emit__unsupported(e, op,
                                "every thread of the CTA has to come to %s, and in a kernel with "
                                "warp_specialize thread 0 alone runs the loop or branch around it",
                                grout_op_get_info((grout_opcode)op->opcode)->text);
        grout_diags_help(e->diags, "put it at the top of the kernel or into every partition, or "
                                   "let the partitions meet at mbarriers");
    }
}

grout_emit_forks grout_emit__find_forks(const grout_emitter *e) {
    grout_emit_forks forks = {.has_warp_stores = grout_emit__has_warp_stores(e),
                              .registers_max = grout_emit__find_registers_max(e)};
    for (grout_op_id at = grout_module_get_block(e->module, e->kernel->body)->first; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        if (has_partitions(op) && op->block_count > forks.part_count) {
            forks.part_count = op->block_count;
        }
        forks.last_init = makes_mbarrier(op) ? at : forks.last_init;
        at = op->next;
    }
    forks.member_count = count_members(e, &forks);
    GROUT_ASSERT(forks.member_count >= forks.part_count);
    GROUT_ASSERT(forks.part_count <= e->plan->thread_count);
    return forks;
}

void grout_emit__partition_barrier(grout_emitter *e, uint32_t members, const char *reason) {
    uint32_t warps = 0;
    for (uint32_t k = 0; k < members; k++) {
        warps += e->plan->thread_warps[k];
    }
    if (e->plan->has_small_threads) {
        grout_emit__line(e, "grout_named_barrier(0, %" PRId64 "); // %s",
                         FIELD(NAMED_PARTITION, (int64_t)warps * GROUT_WARP_LANES), reason);
    } else {
        grout_emit__line(e, "grout_partition_barrier(%" PRIu32 "); // %s", members, reason);
    }
}

static void meet(grout_emitter *e, const char *reason) {
    const bool is_fenced = grout_emit__begin_meeting(e, true);
    grout_emit__partition_barrier(e, e->forks.member_count, reason);
    grout_emit__end_meeting(e, is_fenced);
}

/* ---- values of outside ---- */

static int64_t get_place(const grout_emitter *e, uint32_t capture) {
    GROUT_ASSERT(capture < e->plan->capture_count);
    return e->plan->capture_offset + 8 * (int64_t)capture;
}

/* Thread 0 leaves them in SMEM. */
static void publish(grout_emitter *e) {
    grout_emit__open_issuer(e);
    for (uint32_t k = 0; k < e->plan->capture_count; k++) {
        const grout_operand value = {.kind = GROUT_OPERAND_VALUE, .id = e->plan->captures[k]};
        if (e->name_of[value.id] == NULL) {
            continue; /* of a later warp_specialize */
        }
        grout_emit__begin(e);
        grout_emit__add(e, "grout_store_smem(smem + %" PRId64 ", ", get_place(e, k));
        grout_emit__element(e, &value, grout_emit__dtype(e, value.id), NULL);
        grout_emit__end(e, ");");
    }
    grout_emit__close_issuer(e);
}

static void take(grout_emitter *e, grout_value_id value) {
    const grout_dtype dtype = grout_emit__dtype(e, value);
    grout_emit__begin_scalar(e, value);
    grout_emit__end(e, "grout_load_smem<%s>(smem + %" PRId64 ")%s;", grout_emit__memory_type(dtype),
                    get_place(e, grout_gpu__plan_find_capture(e->plan, value)),
                    dtype == GROUT_DTYPE_BOOL ? " != 0" : "");
}

static bool is_of_threads(const grout_emitter *e, const grout_op *op) {
    /* by name: the value is 0 in thread 0 because of what axis_index means; another op of a threads
     * axis, such as its size, would mean something else. */
    return op->opcode == GROUT_OP_AXIS_INDEX &&
           e->kernel->axes[grout_module_get_operand(e->module, op, 0)->id - 1].kind ==
               GROUT_AXIS_THREADS;
}

/* Makes an op's result again, or takes what thread 0 left. */
static void make_value(grout_emitter *e, grout_op_id id, const grout_op *op, grout_value_id value) {
    if (!grout_gpu__is_made_again(e->module, op)) {
        take(e, value);
    } else if (is_of_threads(e, op)) {
        grout_emit__begin_scalar(e, value);
        grout_emit__end(e, "0; // thread 0 runs what stands outside");
    } else {
        grout_emit__op(e, id);
    }
}

/* All that a partition needs and the part does not have yet. */
static void make_values(part *p, grout_op_id end) {
    grout_emitter *e = p->e;
    for (grout_op_id at = grout_module_get_block(e->module, e->kernel->body)->first; at != end;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        for (uint32_t k = 0; k < op->result_count; k++) {
            const grout_value_id value = op->first_result + k;
            if (p->is_needed[value] && !p->is_made[value]) {
                p->is_made[value] = true;
                make_value(e, at, op, value);
            }
        }
        at = op->next;
    }
}

/* ---- the parts ---- */

/* The first body, in thread 0. */
void grout_emit__warp_specialize(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__declare_results(e, op);
    if (e->plan->capture_count > 0) {
        publish(e);
    }
    meet(e, "the partitions begin");
    grout_emit__line(e, "{");
    e->indent++;
    grout_emit__block(e, op->first_block);
    grout_emit__assign_results(e, op, op->first_block);
    grout_emit__close(e, "");
    grout_emit__leave_block(e, op->first_block);
    meet(e, "all partitions have ended");
}

static void write_partition(part *p, grout_op_id id, const grout_op *op, uint32_t thread) {
    grout_emitter *e = p->e;
    const grout_block_id block = op->first_block + thread;
    if (!grout_gpu__mark_outer_values(e->module, e->kernel->body, block, p->is_needed)) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
        return;
    }
    make_values(p, id);
    grout_emit__line(e, "{");
    e->indent++;
    grout_emit__block(e, block);
    grout_emit__close(e, "");
    grout_emit__leave_block(e, block);
}

static void write_op(part *p, grout_op_id id, const grout_op *op, uint32_t thread) {
    grout_emitter *e = p->e;
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    if (info->shape == GROUT_SHAPE_SCRATCH || takes_all_threads(op)) {
        grout_emit__op(e, id);
    } else if (id == e->forks.last_init) {
        grout_emit__init_rendezvous(e);
    } else if (has_partitions(op) && thread < e->forks.member_count) {
        meet(e, "the partitions begin");
        if (thread < op->block_count) {
            write_partition(p, id, op, thread);
        }
        meet(e, "all partitions have ended");
    }
}

static void write_ops(part *p, uint32_t thread) {
    grout_emitter *e = p->e;
    for (grout_op_id at = grout_module_get_block(e->module, e->kernel->body)->first;
         at != 0 && !e->failed;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        write_op(p, at, op, thread);
        at = op->next;
    }
}

/* What a thread after the first one runs. */
static void write_part(grout_emitter *e, uint32_t thread) {
    const size_t count = (size_t)grout_module_get_value_count(e->module) + 1;
    part p = {.e = e};
    p.is_needed = grout__new(grout_module_get_allocator(e->module), count, sizeof *p.is_needed);
    p.is_made = grout__new(grout_module_get_allocator(e->module), count, sizeof *p.is_made);
    if (p.is_needed != NULL && p.is_made != NULL) {
        write_ops(&p, thread);
    } else {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
    }
    grout__free(p.is_needed);
    grout__free(p.is_made);
}

/* Whether the threads without a partition have something to take part in. */
static bool has_common_ops(const grout_emitter *e) {
    if (e->forks.last_init != 0) {
        return true;
    }
    for (grout_op_id at = grout_module_get_block(e->module, e->kernel->body)->first; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        if (takes_all_threads(op)) {
            return true;
        }
        at = op->next;
    }
    return false;
}

void grout_emit__specialized_body(grout_emitter *e) {
    const uint32_t count = e->forks.part_count;
    const bool has_idle = e->plan->thread_count > count && has_common_ops(e);
    if (e->failed) { /* before the first part: nothing is open that could be closed */
        return;
    }
    for (uint32_t thread = 0; thread < count + (has_idle ? 1 : 0) && !e->failed; thread++) {
        e->indent -= thread > 0 ? 1 : 0;
        grout_emit__begin(e);
        grout_emit__add(e, thread > 0 ? "} else" : "");
        if (thread < count) {
            grout_emit__add(e, "%sif (thread == %" PRIu32 ")", thread > 0 ? " " : "", thread);
        }
        grout_emit__open(e);
        grout_emit__settle(e);
        e->thread = thread;
        e->warps = thread < count ? e->plan->thread_warps[thread] : GROUT_GPU_WARPS;
        e->is_warp = e->warps == 1;
        if (e->warps < GROUT_GPU_WARPS) { /* the warps of such threads lie at multiples of it */
            grout_emit__line(e, "const grout_u32 lane = grout_lane() %% %" PRIu32 ";",
                             e->warps * GROUT_WARP_LANES);
        }
        if (thread == 0) {
            grout_emit__block(e, e->kernel->body);
        } else {
            write_part(e, thread);
        }
    }
    e->is_warp = false;
    e->warps = GROUT_GPU_WARPS;
    grout_emit__close(e, "");
    grout_emit__settle(e);
}
