/* emit_object.c - the places of objects: SMEM, accumulators, device memory of the launch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "tensor.h"

#include <inttypes.h>

const char *grout_emit__workspace_type(const grout_emitter *e,
                                       const grout_gpu_workspace *workspace) {
    const grout_dtype dtype =
        (grout_dtype)grout_object_get_type(e->module, workspace->object)->dtype;
    return grout_module_get_object(e->module, workspace->object)->kind == GROUT_OBJECT_SEMAPHORE
               ? "grout_u64"
               : grout_emit__memory_type(dtype);
}

/* "grout_u64 *const done = done_space_0 + blockIdx.x * 2; // semaphore[2]" */
static void declare_workspace(grout_emitter *e, grout_value_id value, uint32_t number) {
    const grout_gpu_workspace *workspace = &e->plan->workspaces[number];
    grout_emit__begin(e);
    grout_emit__add(e, "%s *const %s = %s", grout_emit__workspace_type(e, workspace),
                    grout_emit__name(e, value),
                    grout_gpu__get_workspace_name(e->module, e->plan, number).text);
    if (workspace->is_per_cta) {
        grout_emit__add(e, " + (grout_u64)blockIdx.x * %" PRId64, workspace->count);
    }
    grout_emit__add(e, "; // ");
    grout_type_print(grout_object_get_type(e->module, workspace->object), e->out);
    grout_emit__end(e, "%s", "");
}

/* " arrivals(2), each by one lane" */
static void describe_barrier(grout_emitter *e, const grout_gpu_barrier *barrier) {
    if (barrier->is_explicit) {
        return;
    }
    grout_emit__add(e, " arrivals(%" PRIu32 "), ", barrier->arrivals);
    if (barrier->is_clustered) {
        grout_emit__add(e, "one for each CTA");
    } else {
        grout_emit__add(e, "each by %s", barrier->counts_warps ? "four warps" : "one lane");
    }
}

void grout_emit__object(grout_emitter *e, grout_value_id value) {
    const grout_object_id object = grout_module_get_value(e->module, value)->object;
    const uint32_t workspace = grout_gpu__plan_find_workspace(e->plan, object);
    if (workspace != UINT32_MAX) {
        declare_workspace(e, value, workspace);
        return;
    }
    if (grout_module_get_object(e->module, object)->space == GROUT_SPACE_ACC) {
        grout_emit__declare_accumulator(e, value);
        return;
    }
    if (grout_module_get_object(e->module, object)->space == GROUT_SPACE_TMEM) {
        grout_tensor__object(e, value);
        return;
    }
    const int64_t offset = grout_object_get_offset(e->module, object);
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 %s = smem", grout_emit__name(e, value));
    if (offset != 0) {
        grout_emit__add(e, " + %" PRId64, offset);
    }
    grout_emit__add(e, "; // ");
    grout_type_print(grout_object_get_type(e->module, object), e->out);
    const uint32_t number = grout_gpu__plan_find_barrier(e->plan, object);
    if (number != UINT32_MAX) {
        describe_barrier(e, &e->plan->barriers[number]);
    }
    grout_emit__end(e, "%s", "");
}
