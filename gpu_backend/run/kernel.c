/* kernel.c - loading a kernel into the caller's context, and unloading it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include "alloc.h"
#include "grout-internal/generate.h"
#include "invariant.h"
#include "launch_child.h"
#include "planned.h"
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_ALIGN 256 /* of each workspace, as of all memory of the driver */
/* Bytes of a workspace that is filled together with others. A call of the driver costs about 3 us
 * of the host, and copying so much costs the GPU less. */
#define SMALL_MAX (64 << 10)

/* A kernel that is being made. */
typedef struct maker {
    grout_gpu_kernel *made;
    const grout_module *module;
    const grout_kernel *kernel;
    grout_kernel_id id;
    grout_gpu_kernel_options options;
    bool may_have_watchdog; /* the binary */
    grout_gpu_plan plan;
    grout_gpu_device device;
    uint64_t small_size, set_size; /* bytes of small workspaces, and of all */
    grout_gpu_error error;
    grout_diags *diags;
} maker;

static grout_place get_place(const maker *m) {
    return grout_module_get_place(m->module, m->kernel->loc);
}

/* ---- what can be refused without a GPU ---- */

bool grout_gpu__check_options(const grout_module *bound, grout_kernel_id kernel,
                              const grout_gpu_kernel_options *options, const grout_gpu_plan *plan,
                              grout_diags *diags) {
    const grout_kernel *facts = grout_module_get_kernel(bound, kernel);
    const char *name = grout_module_get_string(bound, facts->name);
    const grout_place place = grout_module_get_place(bound, facts->loc);
    if (options->is_dependent && !grout_gpu__is_dependent(bound, kernel)) {
        grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, place,
                        "no launch of kernel '@%s' is 'dependent'", name);
        grout_diags_help(diags,
                         "write 'launch @%s(..) dependent' after the launch that it "
                         "depends on, so that both are checked together",
                         name);
        return false;
    }
    if (options->workspace_set_count > GROUT_GPU_WORKSPACE_SETS_MAX) {
        return grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, place,
                               "%" PRIu32 " sets of workspaces were asked for, of at most %d",
                               options->workspace_set_count, GROUT_GPU_WORKSPACE_SETS_MAX);
    }
    if (options->binary != NULL && options->binary->data == NULL) {
        return grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, place,
                               "the binary for kernel '@%s' has no data", name);
    }
    return grout_gpu__check_arg_count(plan, place, diags);
}

/* ---- tables ---- */

static bool make_param(maker *m, uint32_t index) {
    const grout_param *param = grout_module_get_param(m->module, m->kernel, index);
    grout_gpu_kernel_param *made = &m->made->params[index];
    made->name = strdup(grout_gpu__get_param_name(m->module, m->kernel, index));
    made->is_scalar = param->direction == GROUT_DIRECTION_SCALAR;
    if (made->is_scalar) {
        made->size = grout_dtype_get_info((grout_dtype)param->dtype)->bytes;
        made->scalar_mask = grout_gpu__get_scalar_mask((grout_dtype)param->dtype);
        return made->name != NULL;
    }
    const grout_type *type = grout_object_get_type(m->module, param->object);
    made->size = (uint64_t)grout_type_get_bytes(type);
    made->is_written = param->direction != GROUT_DIRECTION_IN;
    made->is_filled = m->options.fills_outputs && param->direction == GROUT_DIRECTION_OUT;
    made->fill = grout_gpu__get_output_fill((grout_dtype)type->dtype);
    return made->name != NULL;
}

static bool make_map(maker *m, uint32_t index) {
    const grout_gpu_map *map = &m->plan.maps[index];
    GROUT_ASSERT((map->param_index == UINT32_MAX) != (map->workspace_index == UINT32_MAX));
    m->made->maps[index] = (grout_gpu_kernel_map){.map = grout_gpu__make_map(m->module, map),
                                                  .param_index = map->param_index,
                                                  .workspace_index = map->workspace_index};
    return grout_gpu__tensor_map_validate(&m->made->maps[index].map, 0, &m->error);
}

static uint64_t align_up(uint64_t size) {
    return (size + DEVICE_ALIGN - 1) / DEVICE_ALIGN * DEVICE_ALIGN;
}

static bool is_small(const grout_gpu_workspace *workspace) {
    return workspace->has_contents || workspace->bytes <= SMALL_MAX;
}

/* What a workspace is filled with, in words of 4 bytes if that can be said so. */
static grout_gpu_fill get_fill(const grout_gpu_workspace *workspace) {
    uint64_t pattern = workspace->fill;
    for (uint32_t bytes = workspace->fill_bytes; bytes < sizeof pattern; bytes *= 2) {
        const uint64_t low = pattern & ((UINT64_C(1) << 8 * bytes) - 1);
        pattern = low << 8 * bytes | low;
    }
    const bool is_of_words = (uint32_t)pattern == (uint32_t)(pattern >> 32);
    return (grout_gpu_fill){.pattern = is_of_words ? (uint32_t)pattern : pattern,
                            .pattern_size = is_of_words ? 4 : 8};
}

static bool is_same_fill(const grout_gpu_fill *a, const grout_gpu_fill *b) {
    return a->pattern == b->pattern && a->pattern_size == b->pattern_size;
}

/* Whether one call may write both: bytes that nobody uses lie between workspaces. */
static bool is_filled_with(const grout_gpu_kernel_piece *a, const grout_gpu_kernel_piece *b) {
    return a->fill.pattern_size != 0 && is_same_fill(&a->fill, &b->fill);
}

static void add_piece(maker *m, const grout_gpu_kernel_piece *piece) {
    grout_gpu_kernel *made = m->made;
    if (made->piece_count > 0 && is_filled_with(&made->pieces[made->piece_count - 1], piece)) {
        made->pieces[made->piece_count - 1].size += piece->size;
    } else {
        made->pieces[made->piece_count++] = *piece;
    }
}

/* One piece of all small workspaces: pattern_size is 0 if they differ, and are to be copied. */
static void add_small_piece(maker *m) {
    grout_gpu_kernel_piece piece = {.size = m->small_size};
    bool is_first = true;
    bool is_same = true;
    for (uint32_t i = 0; i < m->plan.workspace_count; i++) {
        const grout_gpu_workspace *workspace = &m->plan.workspaces[i];
        if (is_small(workspace)) {
            const grout_gpu_fill fill = get_fill(workspace);
            is_same = is_same && !workspace->has_contents &&
                      (is_first || is_same_fill(&fill, &piece.fill));
            piece.fill = fill;
            is_first = false;
        }
    }
    if (!is_same) {
        piece.fill = (grout_gpu_fill){0};
    }
    if (piece.size > 0) {
        add_piece(m, &piece);
    }
}

/* The small workspaces of a set come first. */
static void place_workspaces(maker *m) {
    for (uint32_t i = 0; i < m->plan.workspace_count; i++) {
        if (is_small(&m->plan.workspaces[i])) {
            m->made->workspace_offsets[i] = m->set_size;
            m->set_size += align_up((uint64_t)m->plan.workspaces[i].bytes);
        }
    }
    m->small_size = m->set_size;
    add_small_piece(m);
    for (uint32_t i = 0; i < m->plan.workspace_count; i++) {
        if (!is_small(&m->plan.workspaces[i])) {
            const uint64_t size = align_up((uint64_t)m->plan.workspaces[i].bytes);
            const grout_gpu_kernel_piece piece = {
                .offset = m->set_size, .size = size, .fill = get_fill(&m->plan.workspaces[i])};
            m->made->workspace_offsets[i] = m->set_size;
            m->set_size += size;
            add_piece(m, &piece);
        }
    }
}

static bool allocate_tables(maker *m) {
    grout_gpu_kernel *made = m->made;
    const grout_gpu_plan *plan = &m->plan;
    made->args = calloc((size_t)plan->arg_count + 1, sizeof *made->args);
    made->params = calloc((size_t)m->kernel->param_count + 1, sizeof *made->params);
    made->maps = calloc((size_t)plan->map_count + 1, sizeof *made->maps);
    made->workspace_offsets =
        calloc((size_t)plan->workspace_count + 1, sizeof *made->workspace_offsets);
    made->pieces = calloc((size_t)plan->workspace_count + 1, sizeof *made->pieces);
    const uint32_t asked = m->options.workspace_set_count;
    made->set_count = plan->workspace_count == 0 ? 0 : asked == 0 ? 1 : asked;
    made->sets = calloc((size_t)made->set_count + 1, sizeof *made->sets);
    return made->args != NULL && made->params != NULL && made->maps != NULL &&
           made->workspace_offsets != NULL && made->pieces != NULL && made->sets != NULL;
}

static bool make_tables(maker *m) {
    grout_gpu_kernel *made = m->made;
    if (!allocate_tables(m)) {
        return grout_gpu__fail_memory(&m->error, "a kernel's tables");
    }
    made->shape = grout_gpu__make_shape(&m->plan);
    made->shape.is_programmatic = m->options.is_dependent;
    made->arg_count = m->plan.arg_count;
    memcpy(made->args, m->plan.args, made->arg_count * sizeof *made->args);
    made->param_count = m->kernel->param_count;
    for (uint32_t i = 0; i < made->param_count; i++) {
        if (!make_param(m, i)) {
            return grout_gpu__fail_memory(&m->error, "a kernel's tables");
        }
    }
    made->map_count = m->plan.map_count;
    for (uint32_t i = 0; i < made->map_count; i++) {
        if (!make_map(m, i)) {
            return false;
        }
    }
    made->workspace_count = m->plan.workspace_count;
    place_workspaces(m);
    return true;
}

/* ---- the context ---- */

static bool check(maker *m, grout_cu_result result, const char *what) {
    return grout_gpu__driver_check(&m->made->driver, result, what, &m->error);
}

static bool find_context(maker *m) {
    grout_gpu_kernel *made = m->made;
    grout_cu_context context = NULL;
    grout_cu_device device = 0;
    if (!grout_gpu__driver_open(&made->driver, &m->error) ||
        !check(m, made->driver.cu.context_get_current(&context), "ask for the current context")) {
        return false;
    }
    if (context == NULL) {
        return grout_gpu__fail(
            &m->error, GROUT_DIAG_BAD_ARGUMENT,
            "no CUDA context is current in this OS thread, so that kernel '@%s' "
            "cannot be loaded into one: make one current first (cuCtxSetCurrent, "
            "cudaSetDevice; in PyTorch torch.cuda.current_stream())",
            made->name);
    }
    if (!check(m, made->driver.cu.context_get_device(&device), "ask for the context's GPU") ||
        !grout_gpu__driver_device_info(&made->driver, (uint32_t)device, &m->device, &m->error)) {
        return false;
    }
    const grout_gpu_capability wanted =
        grout_gpu__get_capability(grout_gpu__get_arch(m->module, m->id));
    if (m->device.cc_major != wanted.major || m->device.cc_minor != wanted.minor) {
        return grout_gpu__fail(&m->error, GROUT_DIAG_GPU_MISSING,
                               "the kernel is for compute capability %d.%d, but the GPU of the "
                               "current context (%s) has %d.%d",
                               wanted.major, wanted.minor, m->device.name, m->device.cc_major,
                               m->device.cc_minor);
    }
    made->context = context;
    return true;
}

/* ---- the code ---- */

static uint64_t get_arg_size(const grout_gpu_kernel *kernel, const grout_gpu_arg *arg) {
    switch ((grout_gpu_arg_kind)arg->kind) {
    case GROUT_GPU_ARG_SCALAR:
        return kernel->params[arg->index].size;
    case GROUT_GPU_ARG_MAP:
        return sizeof(grout_cu_tensor_map);
    case GROUT_GPU_ARG_WATCHDOG:
        return sizeof(grout_gpu__watchdog);
    case GROUT_GPU_ARG_ARRAY:
    case GROUT_GPU_ARG_WORKSPACE:
        break;
    }
    return sizeof(grout_cu_address);
}

/* A launch with another kernel's parameters reads past them: where the driver can say what the
 * function takes, it is compared. */
static bool check_function(maker *m) {
    const grout_gpu_kernel *made = m->made;
    const grout_cu_api *cu = &made->driver.cu;
    size_t offset = 0;
    size_t size = 0;
    bool is_same = true;
    if (cu->function_get_param_info == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < made->arg_count && is_same; i++) {
        is_same =
            cu->function_get_param_info(made->function, i, &offset, &size) == GROUT_CU_SUCCESS &&
            size == get_arg_size(made, &made->args[i]);
    }
    is_same = is_same && cu->function_get_param_info(made->function, made->arg_count, &offset,
                                                     &size) == GROUT_CU_INVALID_VALUE;
    return is_same ||
           grout_gpu__fail(&m->error, GROUT_DIAG_BAD_ARGUMENT,
                           "the binary for kernel '@%s' takes other parameters: it was compiled "
                           "from another kernel, or from this one with other sizes",
                           made->name);
}

static bool load_code(maker *m, const grout_binary *binary) {
    grout_gpu_kernel *made = m->made;
    char symbol[GROUT_GPU_SYMBOL_MAX];
    grout_gpu__get_symbol(made->name, symbol);
    return grout_gpu__driver_load(&made->driver, binary->data, &made->module, &m->error) &&
           grout_gpu__driver_find_kernel(&made->driver, made->module, symbol, &made->function,
                                         &m->error) &&
           check_function(m);
}

/* Whether the whole grid is resident at once. */
static bool is_resident(const maker *m, const grout_gpu_kernel_info *info) {
    const int64_t resident = m->plan.cluster_size > 1
                                 ? (int64_t)info->clusters_per_device * m->plan.cluster_size
                                 : (int64_t)info->ctas_per_sm * m->device.sm_count;
    return m->plan.grid_size <= resident;
}

/*
 * CTAs may wait for each other. Two launches that share the GPU could then each hold what the other
 * needs. A cooperative launch begins with all of its CTAs. A grid that is larger than the GPU
 * cannot have that; its CTAs can only wait for those of lower number, which have begun before.
 */
static bool prepare(maker *m) {
    grout_gpu_kernel *made = m->made;
    grout_gpu_kernel_info info;
    if (!grout_gpu__driver_prepare(&made->driver, made->function, &made->shape, &info, &m->error)) {
        return false;
    }
    made->shape.is_cooperative =
        m->plan.waits_for_clusters != 0 && is_resident(m, &info) && !made->shape.is_programmatic;
    return true;
}

/* ---- memory of the device ---- */

/* What the small workspaces hold at first. */
static void write_contents(const maker *m, unsigned char *to) {
    for (uint32_t i = 0; i < m->plan.workspace_count; i++) {
        const grout_gpu_workspace *workspace = &m->plan.workspaces[i];
        unsigned char *at = to + m->made->workspace_offsets[i];
        if (workspace->has_contents) {
            (void)grout_scratch_fill_default(m->module, workspace->object, at, NULL);
            continue;
        }
        const uint64_t size = is_small(workspace) ? (uint64_t)workspace->bytes : 0;
        for (uint64_t k = 0; k < size; k++) {
            at[k] = (unsigned char)(workspace->fill >> k % workspace->fill_bytes * 8);
        }
    }
}

static bool put_contents(maker *m, grout_cu_address at) {
    unsigned char *contents = calloc((size_t)m->small_size, 1);
    if (contents == NULL) {
        return grout_gpu__fail_memory(&m->error, "the contents of workspaces");
    }
    write_contents(m, contents);
    m->made->pieces[0].contents = at;
    const bool is_done =
        grout_gpu__driver_upload(&m->made->driver, at, contents, m->small_size, &m->error);
    free(contents);
    return is_done;
}

static bool make_sets(maker *m, grout_cu_address at) {
    grout_gpu_kernel *made = m->made;
    for (uint32_t i = 0; i < made->set_count; i++) {
        made->sets[i].base = at + i * m->set_size;
        if (!check(m,
                   made->driver.cu.event_create(&made->sets[i].done, GROUT_CU_EVENT_WITHOUT_TIME),
                   "make an event")) {
            return false;
        }
    }
    return true;
}

/* One piece: the watchdog's state, the contents that workspaces are copied from, the sets. */
static bool make_memory(maker *m) {
    grout_gpu_kernel *made = m->made;
    const uint64_t state_size = m->may_have_watchdog ? DEVICE_ALIGN : 0;
    const bool has_contents = made->piece_count > 0 && made->pieces[0].fill.pattern_size == 0;
    const uint64_t contents_size = has_contents ? m->small_size : 0;
    const uint64_t size = state_size + contents_size + made->set_count * m->set_size;
    const unsigned char zeros[8] = {0};
    if (size == 0) {
        return true;
    }
    if (!grout_gpu__driver_alloc(&made->driver, "workspaces", size, &made->memory, &m->error)) {
        return false;
    }
    if (state_size > 0) {
        made->watchdog_state = made->memory;
        if (!grout_gpu__driver_upload(&made->driver, made->memory, zeros, sizeof zeros,
                                      &m->error)) {
            return false;
        }
    }
    if (has_contents && !put_contents(m, made->memory + state_size)) {
        return false;
    }
    /* Streams that do not wait for the default one read it, too. */
    return make_sets(m, made->memory + state_size + contents_size) &&
           grout_gpu__driver_synchronize(&made->driver, "load the kernel", &m->error);
}

/* ---- all of it ---- */

static bool compile_kernel(maker *m, grout_binary *out) {
    const grout_emit_options emission = {.no_debug_checks = m->options.no_debug_checks,
                                         .line_directives = m->options.nvrtc.line_info,
                                         .extern_source = m->options.extern_source};
    grout_nvrtc_options nvrtc = m->options.nvrtc;
    nvrtc.is_in_process = true;
    return grout_gpu__compile_kernel(m->module, m->id, &emission, &nvrtc, out, m->diags);
}

static bool report(maker *m) {
    return grout_gpu__report(m->diags, &m->error, get_place(m));
}

static bool make(maker *m) {
    grout_binary compiled = {0};
    if (m->made->name == NULL) {
        return grout_diags_add_oom(m->diags);
    }
    if (!grout_gpu__plan_init(&m->plan, m->module, m->id, m->diags) ||
        !grout_gpu__check_options(m->module, m->id, &m->options, &m->plan, m->diags)) {
        return false;
    }
    if (!make_tables(m) || !find_context(m)) {
        return report(m);
    }
    bool is_done = m->options.binary != NULL || compile_kernel(m, &compiled);
    if (is_done) {
        is_done = (load_code(m, m->options.binary != NULL ? m->options.binary : &compiled) &&
                   prepare(m) && make_memory(m)) ||
                  report(m);
    }
    grout_binary_free(&compiled);
    return is_done;
}

static grout_gpu_kernel *make_kernel(maker *m) {
    m->made = calloc(1, sizeof *m->made);
    if (m->made == NULL || pthread_mutex_init(&m->made->lock, NULL) != 0) {
        free(m->made);
        grout_diags_add_oom(m->diags);
        return NULL;
    }
    m->kernel = grout_module_get_kernel(m->module, m->id);
    m->made->name = strdup(grout_module_get_string(m->module, m->kernel->name));
    const bool is_done = make(m);
    grout_gpu__plan_deinit(&m->plan);
    if (!is_done) {
        grout_gpu_kernel_free(m->made);
        return NULL;
    }
    return m->made;
}

grout_gpu_kernel *grout_gpu_kernel_new(const grout_module *bound, grout_kernel_id kernel,
                                       const grout_gpu_kernel_options *options,
                                       grout_diags *diags) {
    const grout_gpu_kernel_options none = {0};
    maker m = {.module = bound,
               .id = kernel,
               .options = options == NULL ? none : *options,
               .may_have_watchdog = options != NULL && options->binary != NULL,
               .diags = diags};
    return make_kernel(&m);
}

grout_gpu_kernel *grout_gpu__kernel_load(const grout_module *bound, grout_kernel_id kernel,
                                         const grout_gpu_kernel_options *options,
                                         grout_diags *diags) {
    maker m = {.module = bound, .id = kernel, .options = *options, .diags = diags};
    return make_kernel(&m);
}

/* What is in the context. Errors have nobody to go to: after a fault all of it is gone. */
static void unload(grout_gpu_kernel *kernel) {
    const grout_cu_api *cu = &kernel->driver.cu;
    grout_cu_context popped = NULL;
    if (kernel->context == NULL || cu->context_push_current(kernel->context) != 0) {
        return;
    }
    (void)cu->context_synchronize();
    for (uint32_t i = 0; i < kernel->set_count; i++) {
        if (kernel->sets[i].done != NULL) {
            (void)cu->event_destroy(kernel->sets[i].done);
        }
    }
    if (kernel->memory != 0) {
        (void)cu->mem_free(kernel->memory);
    }
    if (kernel->module != NULL) {
        (void)cu->module_unload(kernel->module);
    }
    (void)cu->context_pop_current(&popped);
}

void grout_gpu_kernel_free(grout_gpu_kernel *kernel) {
    if (kernel == NULL) {
        return;
    }
    unload(kernel);
    grout_gpu__driver_close(&kernel->driver);
    for (uint32_t i = 0; kernel->params != NULL && i < kernel->param_count; i++) {
        free(kernel->params[i].name);
    }
    free(kernel->name);
    free(kernel->args);
    free(kernel->params);
    free(kernel->maps);
    free(kernel->workspace_offsets);
    free(kernel->pieces);
    free(kernel->sets);
    (void)pthread_mutex_destroy(&kernel->lock);
    free(kernel);
}
