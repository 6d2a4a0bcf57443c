/* manifest.c - what a launch needs beside the code, as JSON: schema grout-launch/1, docs/gpu.md.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "alloc.h"
#include "fields.h"
#include "grout-internal/generate.h"
#include "invariant.h"

#include <inttypes.h>

static void add_string(grout_text *out, const char *text) {
    grout_text_add(out, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') {
            grout_text_add(out, "\\%c", *p);
        } else if ((unsigned char)*p < 0x20) {
            grout_text_add(out, "\\u%04x", (unsigned)(unsigned char)*p);
        } else {
            grout_text_add_bytes(out, p, 1);
        }
    }
    grout_text_add(out, "\"");
}

static void add_numbers(grout_text *out, const int64_t *numbers, uint32_t count) {
    grout_text_add(out, "[");
    for (uint32_t k = 0; k < count; k++) {
        grout_text_add(out, "%s%" PRId64, k == 0 ? "" : ", ", numbers[k]);
    }
    grout_text_add(out, "]");
}

typedef struct manifest {
    const grout_module *module;
    const grout_kernel *kernel;
    const grout_gpu_plan *plan;
    grout_text *out;
} manifest;

static void add_param_name(const manifest *m, uint32_t index) {
    add_string(m->out, grout_gpu__get_param_name(m->module, m->kernel, index));
}

/* What init(..) says, unless id is 0. */
static void add_init(const manifest *m, grout_init_id id) {
    if (id != 0) {
        grout_text_add(m->out, ", \"init\": \"");
        grout_init_print_input(m->module, grout_module_get_init(m->module, id), m->out);
        grout_text_add(m->out, "\"");
    }
}

static void add_fill(grout_text *out, uint64_t pattern, uint32_t bytes) {
    grout_text_add(out, ", \"fill\": \"0x%0*" PRIx64 "\"", 2 * (int)bytes, pattern);
}

/* All bytes of an array with an init, in hexadecimal, unless they are many. */
static void add_contents(const manifest *m, uint32_t param, grout_object_id scratch,
                         int64_t bytes) {
    if (bytes > GROUT_GPU_CONTENTS_MAX) {
        return;
    }
    uint8_t *data = grout__new(grout_module_get_allocator(m->module), (size_t)bytes, sizeof *data);
    m->out->failed |= data == NULL;
    if (data == NULL) {
        return;
    }
    if (scratch != 0) {
        (void)grout_scratch_fill_default(m->module, scratch, data, NULL);
    } else {
        grout_param_fill_default(m->module, m->kernel, param, data);
    }
    grout_text_add(m->out, ", \"contents\": \"");
    for (int64_t i = 0; i < bytes; i++) {
        grout_text_add(m->out, "%02x", data[i]);
    }
    grout_text_add(m->out, "\"");
    grout__free(data);
}

/* What an array with an init holds unless the caller brings something else. */
static void add_default(const manifest *m, uint32_t index, const grout_type *type) {
    const grout_param *param = grout_module_get_param(m->module, m->kernel, index);
    const grout_dtype_info *dtype = grout_dtype_get_info((grout_dtype)type->dtype);
    uint64_t bits;
    if (param->init == 0) {
        return;
    }
    if (grout_init_is_uniform(m->module, grout_module_get_init(m->module, param->init),
                              (grout_dtype)type->dtype, &bits)) {
        add_fill(m->out, bits, dtype->bytes);
    } else {
        add_contents(m, index, 0, grout_type_get_bytes(type));
    }
    add_init(m, param->init);
}

static void add_arrays(const manifest *m) {
    static const char *const directions[] = {[GROUT_DIRECTION_IN] = "in",
                                             [GROUT_DIRECTION_OUT] = "out",
                                             [GROUT_DIRECTION_INOUT] = "inout",
                                             [GROUT_DIRECTION_SCALAR] = "scalar"};
    bool is_first = true;
    grout_text_add(m->out, "  \"arrays\": [");
    for (uint32_t k = 0; k < m->kernel->param_count; k++) {
        const grout_param *param = grout_module_get_param(m->module, m->kernel, k);
        if (param->direction == GROUT_DIRECTION_SCALAR) {
            continue;
        }
        const grout_type *type = grout_object_get_type(m->module, param->object);
        const grout_dtype_info *dtype = grout_dtype_get_info((grout_dtype)type->dtype);
        grout_text_add(m->out, "%s\n    {\"name\": ", is_first ? "" : ",");
        add_param_name(m, k);
        grout_text_add(m->out, ", \"direction\": \"%s\", \"dtype\": \"%s\", \"shape\": ",
                       directions[param->direction], dtype->text);
        add_numbers(m->out, type->dims, type->rank);
        grout_text_add(m->out, ", \"bytes\": %" PRId64, grout_type_get_bytes(type));
        if (param->direction == GROUT_DIRECTION_OUT) {
            add_fill(m->out, grout_dtype_get_pattern((grout_dtype)type->dtype, dtype->poison),
                     dtype->bytes);
        }
        add_default(m, k, type);
        grout_text_add(m->out, "}");
        is_first = false;
    }
    grout_text_add(m->out, "%s],\n", is_first ? "" : "\n  ");
}

static void add_args(const manifest *m) {
    grout_text_add(m->out, "  \"parameters\": [");
    for (uint32_t k = 0; k < m->plan->arg_count; k++) {
        const grout_gpu_arg *arg = &m->plan->args[k];
        grout_text_add(m->out, "%s\n    {\"kind\": ", k == 0 ? "" : ",");
        switch ((grout_gpu_arg_kind)arg->kind) {
        case GROUT_GPU_ARG_ARRAY:
            grout_text_add(m->out, "\"array\", \"array\": ");
            add_param_name(m, arg->index);
            break;
        case GROUT_GPU_ARG_SCALAR: {
            const grout_param *param = grout_module_get_param(m->module, m->kernel, arg->index);
            const grout_dtype_info *dtype = grout_dtype_get_info((grout_dtype)param->dtype);
            grout_text_add(m->out, "\"scalar\", \"name\": ");
            add_param_name(m, arg->index);
            grout_text_add(m->out, ", \"dtype\": \"%s\", \"bytes\": %u", dtype->text, dtype->bytes);
            add_init(m, param->init);
            break;
        }
        case GROUT_GPU_ARG_MAP:
            grout_text_add(m->out, "\"tensor_map\", \"map\": %" PRIu32 ", \"bytes\": 128",
                           arg->index);
            break;
        case GROUT_GPU_ARG_WORKSPACE:
            grout_text_add(m->out, "\"workspace\", \"workspace\": %" PRIu32, arg->index);
            break;
        case GROUT_GPU_ARG_WATCHDOG:
            grout_text_add(m->out, "\"watchdog\", \"bytes\": 32");
            break;
        }
        grout_text_add(m->out, "}");
    }
    grout_text_add(m->out, "\n  ],\n");
}

/* What cuTensorMapEncodeIm2col takes in the place of the box, which is one of channels and pixels.
 */
static void add_pixels(const manifest *m, const grout_tma *tma) {
    int64_t lower[3], upper[3];
    if (tma->spatial_count == 0) {
        return;
    }
    for (uint32_t k = 0; k < tma->spatial_count; k++) {
        lower[k] = tma->lower[k];
        upper[k] = tma->upper[k];
    }
    grout_text_add(m->out, ",\n     \"mode\": \"im2col\", \"lower_corner\": ");
    add_numbers(m->out, lower, tma->spatial_count);
    grout_text_add(m->out, ", \"upper_corner\": ");
    add_numbers(m->out, upper, tma->spatial_count);
    grout_text_add(m->out, ", \"channels_per_pixel\": %" PRId64 ", \"pixels_per_column\": %" PRId64,
                   tma->box[0], tma->box[1]);
}

/* The element type of a map: the names that PTX has for those which TMA expands. */
static const char *get_map_dtype(const grout_type *type) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    return !type->is_expanded ? info->text : info->bits == 4 ? "b4x16_p64" : "b6x16_p32";
}

static void add_maps(const manifest *m) {
    grout_text_add(m->out, "  \"tensor_maps\": [");
    for (uint32_t k = 0; k < m->plan->map_count; k++) {
        const grout_gpu_map *map = &m->plan->maps[k];
        const grout_type type = grout_gpu__get_map_type(m->module, map);
        int64_t steps[5];
        GROUT_ASSERT(map->tma.rank >= 1 && map->tma.rank <= sizeof steps / sizeof steps[0]);
        for (uint32_t i = 0; i < map->tma.rank; i++) {
            steps[i] = map->element_strides[i];
        }
        grout_text_add(m->out, "%s\n    {\"name\": ", k == 0 ? "" : ",");
        add_string(m->out, grout_gpu__get_map_name(m->module, map).text);
        if (map->param_index == UINT32_MAX) {
            grout_text_add(m->out, ", \"workspace\": %" PRIu32, map->workspace_index);
        } else {
            grout_text_add(m->out, ", \"array\": ");
            add_param_name(m, map->param_index);
        }
        grout_text_add(m->out,
                       ", \"dtype\": \"%s\", \"rank\": %u, \"dims\": ", get_map_dtype(&type),
                       map->tma.rank);
        add_numbers(m->out, map->tma.dims, map->tma.rank);
        grout_text_add(m->out, ",\n     \"strides_bytes\": ");
        add_numbers(m->out, map->tma.strides + 1, map->tma.rank - 1u);
        grout_text_add(m->out, ", \"box\": ");
        add_numbers(m->out, map->tma.box, map->tma.rank);
        grout_text_add(m->out, ", \"element_strides\": ");
        add_numbers(m->out, steps, map->tma.rank);
        add_pixels(m, &map->tma);
        if (map->start_bytes != 0) {
            grout_text_add(m->out, ", \"start_bytes\": %" PRId64, map->start_bytes);
        }
        grout_text_add(m->out,
                       ", \"interleave_bytes\": %" PRIu32 ", \"swizzle_bytes\": %" PRIu32
                       ", \"l2_promotion_bytes\": %" PRIu32 ", \"oob_fill\": \"%s\"}",
                       map->interleave * 16, map->tma.swizzle,
                       map->promotion == 0 ? 0 : UINT32_C(32) << map->promotion,
                       map->tma.oob == GROUT_CHOICE_OOB_NAN ? "nan" : "zeros");
    }
    grout_text_add(m->out, "%s],\n", m->plan->map_count == 0 ? "" : "\n  ");
}

/* Memory that the launch brings, filled anew before each launch. */
static void add_workspaces(const manifest *m) {
    grout_text_add(m->out, "  \"workspaces\": [");
    for (uint32_t k = 0; k < m->plan->workspace_count; k++) {
        const grout_gpu_workspace *workspace = &m->plan->workspaces[k];
        const grout_object *object = grout_module_get_object(m->module, workspace->object);
        const grout_type *type = grout_object_get_type(m->module, workspace->object);
        const bool is_semaphore = object->kind == GROUT_OBJECT_SEMAPHORE;
        grout_text_add(m->out, "%s\n    {\"name\": ", k == 0 ? "" : ",");
        add_string(m->out, grout_gpu__get_object_name(m->module, workspace->object));
        grout_text_add(m->out, ", \"kind\": \"%s\", \"dtype\": \"%s\", \"shape\": ",
                       is_semaphore ? "semaphores" : "scratch",
                       is_semaphore ? "u64" : grout_dtype_get_info((grout_dtype)type->dtype)->text);
        add_numbers(m->out, type->dims, type->rank);
        grout_text_add(m->out, ", \"instances\": %" PRId64 ", \"bytes\": %" PRId64,
                       workspace->is_per_cta ? m->plan->grid_size : 1, workspace->bytes);
        if (workspace->has_contents) {
            add_contents(m, 0, workspace->object, workspace->bytes);
        } else {
            add_fill(m->out, workspace->fill, workspace->fill_bytes);
        }
        add_init(m, object->init);
        grout_text_add(m->out, ", \"line\": %" PRIu32 "}",
                       grout_module_get_place(m->module, object->loc).line);
    }
    grout_text_add(m->out, "%s],\n", m->plan->workspace_count == 0 ? "" : "\n  ");
}

/* The numbers that the watchdog's records use. */
static void add_barriers(const manifest *m) {
    grout_text_add(m->out, "  \"barriers\": [");
    for (uint32_t k = 0; k < m->plan->barrier_count; k++) {
        const grout_gpu_barrier *barrier = &m->plan->barriers[k];
        const grout_object *object = grout_module_get_object(m->module, barrier->object);
        grout_text_add(m->out, "%s\n    {\"name\": ", k == 0 ? "" : ",");
        add_string(m->out, grout_gpu__get_object_name(m->module, barrier->object));
        grout_text_add(m->out,
                       ", \"count\": %" PRIu32 ", \"arrivals\": %" PRIu32
                       ", \"smem_offset\": %" PRId64 ", \"line\": %" PRIu32 "}",
                       barrier->count, barrier->arrivals, barrier->smem_offset,
                       grout_module_get_place(m->module, object->loc).line);
    }
    grout_text_add(m->out, "%s]\n", m->plan->barrier_count == 0 ? "" : "\n  ");
}

static void add_head(const manifest *m) {
    const char *name = grout_module_get_string(m->module, m->kernel->name);
    const grout_place place = grout_module_get_place(m->module, m->kernel->loc);
    char symbol[GROUT_GPU_SYMBOL_MAX];
    grout_gpu__get_symbol(name, symbol);
    grout_text_add(m->out, "{\n  \"schema\": \"grout-launch/1\",\n  \"kernel\": ");
    add_string(m->out, name);
    grout_text_add(m->out, ",\n  \"symbol\": ");
    add_string(m->out, symbol);
    grout_text_add(m->out, ",\n  \"file\": ");
    add_string(m->out, place.file == NULL ? "" : place.file);
    grout_text_add(m->out,
                   ",\n  \"arch\": \"%s\",\n  \"grid\": [%" PRId64 ", 1, 1],\n"
                   "  \"block\": [%" PRIu32 ", 1, 1],\n  \"cluster\": [%" PRIu32 ", 1, 1],\n"
                   "  \"dynamic_smem_bytes\": %" PRId64 ",\n",
                   grout_arch_get_text((grout_arch)m->plan->arch), m->plan->grid_size,
                   m->plan->lane_count, m->plan->cluster_size, m->plan->dynamic_smem_bytes);
}

bool grout_emit_manifest(const grout_module *bound, grout_kernel_id kernel, grout_text *out,
                         grout_diags *diags) {
    grout_gpu_plan plan;
    const manifest m = {.module = bound,
                        .kernel = grout_module_get_kernel(bound, kernel),
                        .plan = &plan,
                        .out = out};
    const bool is_planned = grout_gpu__plan_init(&plan, bound, kernel, diags);
    if (is_planned) {
        FIELD_LAUNCH(&plan);
        add_head(&m);
        if (grout_gpu__is_dependent(bound, kernel)) {
            grout_text_add(out, "  \"programmatic_stream_serialization\": true,\n");
        }
        add_arrays(&m);
        add_args(&m);
        add_maps(&m);
        add_workspaces(&m);
        add_barriers(&m);
        grout_text_add(out, "}\n");
    }
    grout_gpu__plan_deinit(&plan);
    return is_planned && (!out->failed || grout_diags_add_oom(diags));
}
