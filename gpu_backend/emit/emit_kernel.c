/* emit_kernel.c - around the body: signature, phases, initialisation of barriers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "invariant.h"
#include "tensor.h"

#include <inttypes.h>
#include <stdio.h>

static void write_axes(grout_emitter *e) {
    static const char *const words[] = {[GROUT_AXIS_GRID] = "grid",
                                        [GROUT_AXIS_CLUSTER] = "cluster",
                                        [GROUT_AXIS_THREADS] = "threads"};
    grout_emit__add(e, "// kernel @%s", grout_module_get_string(e->module, e->kernel->name));
    for (uint32_t k = 0; k < e->kernel->axis_count; k++) {
        const grout_axis *axis = &e->kernel->axes[k];
        const bool is_first = k == 0 || axis[-1].kind != axis->kind;
        const bool is_last = k + 1 == e->kernel->axis_count || axis[1].kind != axis->kind;
        grout_emit__add(e, "%s%s%s%s = %" PRId64 "%s", is_first ? " " : ", ",
                        is_first ? words[axis->kind] : "", is_first ? "(" : "",
                        grout_module_get_string(e->module, axis->name),
                        grout_kernel_get_axis_size(e->module, e->kernel_id, k), is_last ? ")" : "");
    }
    if (!e->plan->has_small_threads) {
        grout_emit__end(e, ", %u lanes a thread", GROUT_LANES);
        return;
    }
    for (uint32_t k = 0; k < e->plan->thread_count; k++) {
        grout_emit__add(e, "%s%" PRIu32, k == 0 ? ", lanes of the threads: " : ", ",
                        e->plan->thread_warps[k] * GROUT_WARP_LANES);
    }
    grout_emit__end(e, "%s", "");
}

static void add_argument(grout_emitter *e, const grout_gpu_arg *arg) {
    switch ((grout_gpu_arg_kind)arg->kind) {
    case GROUT_GPU_ARG_ARRAY: {
        const grout_param *param = grout_module_get_param(e->module, e->kernel, arg->index);
        const grout_dtype dtype =
            (grout_dtype)grout_object_get_type(e->module, param->object)->dtype;
        grout_emit__add(e, "%s%s *%s", param->direction == GROUT_DIRECTION_IN ? "const " : "",
                        dtype == GROUT_DTYPE_BOOL ? "grout_u8" : grout_gpu__get_type_name(dtype),
                        grout_emit__name(e, param->value));
        return;
    }
    case GROUT_GPU_ARG_SCALAR: {
        const grout_param *param = grout_module_get_param(e->module, e->kernel, arg->index);
        grout_emit__add(e, "const %s %s", grout_gpu__get_type_name((grout_dtype)param->dtype),
                        grout_emit__name(e, param->value));
        return;
    }
    case GROUT_GPU_ARG_MAP:
        GROUT_ASSERT(arg->index < e->plan->map_count);
        grout_emit__add(e, "const __grid_constant__ grout_tensor_map %s",
                        grout_gpu__get_map_name(e->module, &e->plan->maps[arg->index]).text);
        return;
    case GROUT_GPU_ARG_WORKSPACE:
        GROUT_ASSERT(arg->index < e->plan->workspace_count);
        grout_emit__add(e, "%s *%s",
                        grout_emit__workspace_type(e, &e->plan->workspaces[arg->index]),
                        grout_gpu__get_workspace_name(e->module, e->plan, arg->index).text);
        return;
    case GROUT_GPU_ARG_WATCHDOG:
        grout_emit__add(e, "const __grid_constant__ grout_watchdog dog");
        return;
    }
}

static void write_signature(grout_emitter *e) {
    char symbol[GROUT_GPU_SYMBOL_MAX];
    grout_gpu__get_symbol(grout_module_get_string(e->module, e->kernel->name), symbol);
    write_axes(e);
    /* setmaxnreg takes effect only if the registers at the entry are known: one CTA an SM. */
    grout_emit__begin(e);
    grout_emit__add(e, "extern \"C\" __global__ void __launch_bounds__(%" PRId64,
                    FIELD(LAUNCH_BOUND, e->plan->lane_count));
    if (e->plan->changes_registers) {
        grout_emit__add(e, ", %d", (int)FIELD(LAUNCH_CTAS, 1));
    }
    grout_emit__end(e, ")");
    grout_emit__add(e, "%s(", symbol);
    for (uint32_t k = 0; k < e->plan->arg_count; k++) {
        grout_emit__add(e, "%s", k == 0 ? "" : ",\n    ");
        add_argument(e, &e->plan->args[k]);
    }
    grout_emit__add(e, ")");
    grout_emit__open(e);
}

/* Whether barriers are made before the body: an mbarrier is made by an op of its own. */
static bool is_made_first(const grout_gpu_plan *plan, uint32_t barrier) {
    return plan->barriers[barrier].owner == barrier && !plan->barriers[barrier].is_explicit;
}

static bool has_barriers_made_first(const grout_gpu_plan *plan) {
    for (uint32_t k = 0; k < plan->barrier_count; k++) {
        if (is_made_first(plan, k)) {
            return true;
        }
    }
    return false;
}

/* Whether two CTAs take columns of tensor memory together: each has to know before that the other
 * one runs. The allocation itself says that both have them. */
static bool begins_as_pairs(const grout_gpu_plan *plan) {
    return plan->tensor_columns > 0 && plan->tensor_group == GROUT_PAIR;
}

/* One CUDA thread makes all barriers, those of scopes too: their phases go on from scope to scope.
 */
static void init_barriers(grout_emitter *e) {
    const grout_gpu_plan *plan = e->plan;
    const bool has_tensor = plan->tensor_columns > 0;
    const bool has_barriers = has_barriers_made_first(plan) || has_tensor;
    if (!has_barriers && plan->map_count == 0) {
        return;
    }
    grout_emit__begin(e);
    grout_emit__add(e, "if (threadIdx.x == 0)");
    grout_emit__open(e);
    for (uint32_t k = 0; k < plan->barrier_count; k++) {
        const grout_gpu_barrier *barrier = &plan->barriers[k];
        if (!is_made_first(plan, k)) {
            continue;
        }
        grout_emit__begin(e);
        grout_emit__add(e, "for (int part = 0; part < %" PRIu32 "; part++)", barrier->count);
        grout_emit__open(e);
        grout_emit__line(e,
                         "grout_mbarrier_init(smem + %" PRId64 " + 8 * part, %" PRId64 "); // %%%s",
                         FIELD(MBARRIER_INIT_ADDRESS, barrier->smem_offset),
                         FIELD(MBARRIER_COUNT, (int64_t)barrier->arrivals *
                                                   grout_gpu__plan_get_arrival_size(barrier)),
                         grout_gpu__get_object_name(e->module, barrier->object));
        grout_emit__close(e, "");
    }
    if (has_tensor) {
        grout_tensor__init_drain(e);
    }
    if (has_barriers) {
        grout_emit__line(e, "grout_fence_mbarrier_init();");
    }
    for (uint32_t k = 0; k < plan->map_count; k++) {
        grout_emit__line(e, "grout_prefetch_tensor_map(%s);",
                         grout_gpu__get_map_name(e->module, &plan->maps[k]).text);
    }
    grout_emit__close(e, "");
    if (begins_as_pairs(plan)) {
        grout_emit__line(e, "grout_cluster_start();");
    }
    if (has_tensor) {
        grout_tensor__allocate(e);
    }
    if (has_barriers && plan->cluster_size == 1) {
        grout_emit__line(e, "grout_block_barrier();");
    }
}

/* Phase words of the barriers: bit k is the parity of the next phase of element k to wait for; and
 * those of arrivals that are watched. */
static void declare_phases(grout_emitter *e) {
    for (uint32_t k = 0; k < e->plan->barrier_count; k++) {
        const grout_gpu_barrier *barrier = &e->plan->barriers[k];
        if (barrier->owner != k || barrier->is_explicit) { /* an mbarrier_wait has its parity */
            continue;
        }
        const grout_gpu_name name = grout_emit__phases_name(e, k);
        if (barrier->count > 32) {
            grout_emit__line(e, "grout_u32 %s[%" PRIu32 "] = {};", name.text,
                             (barrier->count + 31) / 32);
        } else {
            const bool is_odd = FIELD(MBARRIER_PARITY, 0) != 0;
            grout_emit__line(e, "grout_u32 %s = %s0;", name.text, is_odd ? "~" : "");
        }
        if (barrier->is_watched && barrier->count <= 32) {
            grout_emit__line(e, "grout_u32 %s = 0;", grout_emit__arrived_name(e, k).text);
        }
    }
}

/* "const grout_u32 thread = warp < 4 ? 0 : warp < 5 ? 2 : 1;": with threads of fewer than four
 * warps, in the order of their warps. */
static void write_thread(grout_emitter *e) {
    const uint32_t warps = e->plan->lane_count / GROUT_WARP_LANES;
    uint32_t next = 0; /* warp */
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 thread = ");
    while (next < warps) {
        uint32_t thread = 0;
        while (e->plan->first_warps[thread] != next) {
            thread++;
            GROUT_ASSERT(thread < e->plan->thread_count);
        }
        next += e->plan->thread_warps[thread];
        if (next < warps) {
            grout_emit__add(e, "warp < %" PRIu32 " ? %" PRIu32 " : ", next, thread);
        } else {
            grout_emit__end(e, "%" PRIu32 ";", thread);
        }
    }
}

void grout_emit__kernel(grout_emitter *e) {
    const grout_gpu_plan *plan = e->plan;
    e->forks = grout_emit__find_forks(e);
    grout_emit__wgmma_forms(e);
    grout_emit__mma_forms(e);
    grout_tensor__forms(e);
    write_signature(e);
    grout_emit__line(e, "const grout_u32 warp = grout_warp();");
    if (plan->thread_count == 1) {
        grout_emit__line(e, "const grout_u32 thread = 0;");
    } else if (plan->has_small_threads) {
        write_thread(e);
    } else {
        grout_emit__line(e, "const grout_u32 thread = warp / 4;");
    }
    grout_emit__line(e, "const grout_u32 lane = grout_lane();");
    if (plan->dynamic_smem_bytes > 0) {
        grout_emit__line(e, "const grout_u32 smem = grout_smem_base();");
    }
    if (plan->exchange_bytes > 0) {
        grout_emit__line(e, "const grout_u32 exchange = smem + %" PRId64 " + thread * %" PRId64 ";",
                         FIELD(ACCESS_EXCHANGE, plan->exchange_offset),
                         FIELD(ACCESS_EXCHANGE_STEP, plan->exchange_bytes));
    }
    if (plan->cluster_size > 1) {
        grout_emit__line(e, "const grout_u32 rank = grout_cluster_rank();");
    }
    declare_phases(e);
    init_barriers(e);
    if (plan->cluster_size > 1 && !begins_as_pairs(plan)) {
        grout_emit__line(e, "grout_cluster_start();");
    }
    if (plan->tensor_columns > 0) {
        grout_tensor__take_columns(e);
    }
    if (e->forks.part_count > 0) {
        grout_emit__specialized_body(e);
    } else {
        grout_emit__block(e, e->kernel->body);
    }
    if (plan->tensor_columns > 0) {
        grout_tensor__drain(e);
    }
    if (plan->has_exit_sync) {
        grout_emit__line(e, "grout_cluster_exit();");
    }
    if (plan->tensor_columns > 0) {
        grout_tensor__free_columns(e);
    }
    grout_emit__close(e, "");
}
