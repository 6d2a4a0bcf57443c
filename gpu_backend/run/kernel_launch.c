/* kernel_launch.c - putting a loaded kernel on a stream of the caller's.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What costs time here costs it in each launch: everything is on the stack, and the driver is asked
 * about an address only when it is another one than before.
 */
#include "kernel.h"

#include "invariant.h"
#include "launch_child.h"
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ALIGN 16 /* of an array: what TMA and the widest accesses take */

/* One launch. Nothing of it is filled but what the kernel has. */
typedef struct launch {
    grout_gpu_kernel *kernel;
    const grout_argument *arguments;
    grout_cu_stream stream;
    grout_gpu_kernel_set *set; /* NULL: no workspaces */
    const char *help;          /* what to do about the error; NULL: nothing beside it */
    grout_gpu_error error;
    void *params[GROUT_GPU_PARAMS_MAX]; /* each to one of the values */
    grout_gpu__value values[GROUT_GPU_PARAMS_MAX];
} launch;

static bool check(launch *l, grout_cu_result result, const char *what) {
    return grout_gpu__driver_check(&l->kernel->driver, result, what, &l->error);
}

static grout_cu_address get_address(const launch *l, uint32_t param) {
    return (grout_cu_address)(uintptr_t)l->arguments[param].data;
}

/* ---- what the caller gives ---- */

static bool check_context(launch *l) {
    const grout_cu_api *cu = &l->kernel->driver.cu;
    grout_cu_context context = NULL;
    if (!check(l, cu->context_get_current(&context), "ask for the current context")) {
        return false;
    }
    if (context != l->kernel->context) {
        l->help = "make the context current that was it when the kernel was made, or make the "
                  "kernel once for each context";
        return grout_gpu__fail(&l->error, GROUT_DIAG_BAD_ARGUMENT,
                               "kernel '@%s' is loaded in another CUDA context than the one that "
                               "is current in this OS thread",
                               l->kernel->name);
    }
    if (!check(l, cu->stream_get_context(l->stream, &context), "ask for the stream's context")) {
        return false;
    }
    if (context != l->kernel->context) {
        l->help = "give a stream of the GPU that the kernel is loaded on";
        return grout_gpu__fail(&l->error, GROUT_DIAG_BAD_ARGUMENT,
                               "kernel '@%s' is loaded in another CUDA context than that of the "
                               "stream",
                               l->kernel->name);
    }
    return true;
}

static bool check_size(launch *l, uint32_t index) {
    const grout_gpu_kernel_param *param = &l->kernel->params[index];
    const grout_argument *argument = &l->arguments[index];
    if (argument->data == NULL) {
        l->help = param->is_scalar ? "give the address of one element on the host"
                                   : "give the address of memory on the GPU";
        return grout_gpu__fail(&l->error, GROUT_DIAG_BAD_ARGUMENT,
                               "argument '%s' of kernel '@%s' is NULL", param->name,
                               l->kernel->name);
    }
    if (argument->size != param->size) {
        l->help = "the kernel is bound to the sizes that its arrays have: bind and load it once "
                  "for each";
        return grout_gpu__fail(&l->error, GROUT_DIAG_BAD_ARGUMENT,
                               "argument '%s' of kernel '@%s' has %" PRIu64
                               " bytes, but %zu were given",
                               param->name, l->kernel->name, param->size, argument->size);
    }
    return true;
}

/* That an array begins where the kernel can access it. */
static bool check_address(launch *l, uint32_t index) {
    const grout_gpu_kernel_param *param = &l->kernel->params[index];
    const grout_cu_address address = get_address(l, index);
    grout_cu_address on_device = 0;
    if (address % ALIGN != 0) {
        l->help = "give it memory that begins at such a multiple, as all that the driver and "
                  "PyTorch allocate does, and not a slice of it that begins elsewhere";
        return grout_gpu__fail(&l->error, GROUT_DIAG_BAD_ARGUMENT,
                               "argument '%s' of kernel '@%s' begins at 0x%llx, which is not a "
                               "multiple of %d bytes",
                               param->name, l->kernel->name, address, ALIGN);
    }
    const grout_cu_result result = l->kernel->driver.cu.pointer_get_attribute(
        &on_device, GROUT_CU_POINTER_DEVICE_ADDRESS, address);
    if (result == GROUT_CU_INVALID_VALUE || (result == GROUT_CU_SUCCESS && on_device != address)) {
        l->help = "give memory of the GPU that the kernel is loaded on";
        return grout_gpu__fail(&l->error, GROUT_DIAG_BAD_ARGUMENT,
                               "argument '%s' of kernel '@%s' begins at 0x%llx, where kernels of "
                               "this context have no memory",
                               param->name, l->kernel->name, address);
    }
    return check(l, result, "ask about an argument");
}

/* The kernel was compiled for arrays that are apart. */
static bool check_apart(launch *l, uint32_t index) {
    const grout_gpu_kernel *kernel = l->kernel;
    const grout_cu_address begin = get_address(l, index);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_cu_address other = get_address(l, i);
        const bool may_meet = i != index && !kernel->params[i].is_scalar &&
                              (kernel->params[i].is_written || kernel->params[index].is_written);
        if (may_meet && begin < other + kernel->params[i].size &&
            other < begin + kernel->params[index].size) {
            const bool is_written = kernel->params[index].is_written;
            l->help = "give it arrays that are apart";
            return grout_gpu__fail(&l->error, GROUT_DIAG_BAD_ARGUMENT,
                                   "the arguments for '%s', which kernel '@%s' writes, and '%s' "
                                   "have bytes in common",
                                   kernel->params[is_written ? index : i].name, kernel->name,
                                   kernel->params[is_written ? i : index].name);
        }
    }
    return true;
}

/* Sizes are compared each time; what is known of an address holds until another one comes. */
static bool take_arguments(launch *l) {
    grout_gpu_kernel_param *params = l->kernel->params;
    const uint32_t count = l->kernel->param_count;
    bool is_new = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!check_size(l, i)) {
            return false;
        }
        is_new = is_new || (!params[i].is_scalar && get_address(l, i) != params[i].used);
    }
    for (uint32_t i = 0; is_new && i < count; i++) {
        if (!params[i].is_scalar && get_address(l, i) != params[i].used &&
            (!check_address(l, i) || !check_apart(l, i))) {
            return false;
        }
    }
    for (uint32_t i = 0; is_new && i < count; i++) {
        params[i].used = get_address(l, i);
    }
    return true;
}

/* ---- workspaces ---- */

/* Takes the set that this stream had last, else one that nobody has had, else the next in turn. */
static grout_gpu_kernel_set *find_set(const launch *l) {
    grout_gpu_kernel *kernel = l->kernel;
    grout_gpu_kernel_set *unused = NULL;
    GROUT_ASSERT(kernel->set_count > 0);
    for (uint32_t i = 0; i < kernel->set_count; i++) {
        grout_gpu_kernel_set *set = &kernel->sets[i];
        if (set->is_used && set->stream == l->stream) {
            return set;
        }
        unused = set->is_used || unused != NULL ? unused : set;
    }
    if (unused != NULL) {
        return unused;
    }
    kernel->next_set = (kernel->next_set + 1) % kernel->set_count;
    return &kernel->sets[kernel->next_set];
}

/* A graph would hold on to the set, beyond what its event says. */
static bool check_capture(launch *l) {
    int is_captured = 0;
    if (!check(l, l->kernel->driver.cu.stream_is_capturing(l->stream, &is_captured),
               "ask whether the stream is captured")) {
        return false;
    }
    if (is_captured != 0) {
        l->help = "capture kernels without semaphores and scratch in gmem only";
        return grout_gpu__fail(&l->error, GROUT_DIAG_BAD_ARGUMENT,
                               "kernel '@%s' has workspaces, so that a graph cannot hold it: the "
                               "stream is being captured",
                               l->kernel->name);
    }
    return true;
}

/* Waits, on the device, for the launch that had the set before. Also on the same stream: a stream
 * that was destroyed can have left its handle to a new one. */
static bool begin_set(launch *l) {
    const grout_cu_api *cu = &l->kernel->driver.cu;
    l->set = NULL;
    if (l->kernel->set_count == 0) {
        return true;
    }
    if (!check_capture(l)) {
        return false;
    }
    grout_gpu_kernel_set *set = find_set(l);
    if (set->is_used &&
        !check(l, cu->stream_wait_event(l->stream, set->done, 0), "wait for the launch before")) {
        return false;
    }
    set->is_used = true;
    set->stream = l->stream;
    l->set = set;
    return true;
}

static bool fill(launch *l, grout_cu_address to, uint64_t size, const grout_gpu_fill *pattern) {
    grout_gpu_fill on_stream = *pattern;
    on_stream.stream = l->stream;
    return grout_gpu__driver_fill(&l->kernel->driver, to, size, &on_stream, &l->error);
}

static grout_cu_address get_workspace(const launch *l, uint32_t index) {
    GROUT_ASSERT(l->set != NULL && index < l->kernel->workspace_count);
    return l->set->base + l->kernel->workspace_offsets[index];
}

static bool fill_workspaces(launch *l) {
    const grout_gpu_kernel *kernel = l->kernel;
    bool is_done = true;
    for (uint32_t i = 0; i < kernel->piece_count && is_done; i++) {
        const grout_gpu_kernel_piece *piece = &kernel->pieces[i];
        GROUT_ASSERT(l->set != NULL);
        const grout_cu_address at = l->set->base + piece->offset;
        is_done = piece->contents == 0
                      ? fill(l, at, piece->size, &piece->fill)
                      : check(l,
                              kernel->driver.cu.memcpy_on_device(at, piece->contents,
                                                                 (size_t)piece->size, l->stream),
                              "fill the workspaces");
    }
    return is_done;
}

static bool fill_outputs(launch *l) {
    const grout_gpu_kernel *kernel = l->kernel;
    bool is_done = true;
    for (uint32_t i = 0; i < kernel->param_count && is_done; i++) {
        is_done = !kernel->params[i].is_filled ||
                  fill(l, get_address(l, i), kernel->params[i].size, &kernel->params[i].fill);
    }
    return is_done;
}

/* ---- parameters ---- */

static bool put_map(launch *l, grout_gpu_kernel_map *map, grout_cu_tensor_map *out) {
    const grout_cu_address address = map->param_index == UINT32_MAX
                                         ? get_workspace(l, map->workspace_index)
                                         : get_address(l, map->param_index);
    for (uint32_t i = 0; i < GROUT_GPU_ENCODINGS; i++) {
        if (map->encodings[i].address == address) {
            memcpy(out, map->encodings[i].bytes, sizeof *out);
            return true;
        }
    }
    if (!grout_gpu__tensor_map_encode(&l->kernel->driver, &map->map, address, out, &l->error)) {
        return false;
    }
    grout_gpu_encoding *oldest = &map->encodings[map->oldest];
    map->oldest = (map->oldest + 1) % GROUT_GPU_ENCODINGS;
    memcpy(oldest->bytes, out, sizeof *out);
    oldest->address = address;
    return true;
}

static bool put_arg(launch *l, uint32_t number) {
    const grout_gpu_kernel *kernel = l->kernel;
    const uint32_t index = kernel->args[number].index;
    GROUT_ASSERT(number < GROUT_GPU_PARAMS_MAX);
    l->params[number] = &l->values[number];
    switch ((grout_gpu_arg_kind)kernel->args[number].kind) {
    case GROUT_GPU_ARG_ARRAY:
        l->values[number].address = get_address(l, index);
        return true;
    case GROUT_GPU_ARG_SCALAR:
        memcpy(l->values[number].scalar, l->arguments[index].data,
               (size_t)kernel->params[index].size);
        l->values[number].scalar[0] &= kernel->params[index].scalar_mask;
        return true;
    case GROUT_GPU_ARG_MAP:
        return put_map(l, &kernel->maps[index], &l->values[number].map);
    case GROUT_GPU_ARG_WORKSPACE:
        l->values[number].address = get_workspace(l, index);
        return true;
    case GROUT_GPU_ARG_WATCHDOG:
        /* No records, and no end to any wait. */
        l->values[number].watchdog =
            (grout_gpu__watchdog){.state = kernel->watchdog_state, .limit_ns = UINT64_MAX};
        return true;
    }
    return false;
}

static bool put_args(launch *l) {
    bool is_done = true;
    for (uint32_t i = 0; i < l->kernel->arg_count && is_done; i++) {
        is_done = put_arg(l, i);
    }
    return is_done;
}

/* ---- all of it ---- */

static bool start(launch *l) {
    grout_gpu_shape shape = l->kernel->shape;
    shape.stream = l->stream;
    return grout_gpu__driver_launch(&l->kernel->driver, l->kernel->function, &shape, l->params,
                                    &l->error);
}

/* The arguments are taken and encoded before anything is on the stream, so that a wrong one leaves
 * nothing there. */
static bool put_on_stream(launch *l) {
    if (!take_arguments(l) || !begin_set(l)) {
        return false;
    }
    bool is_done = put_args(l) && fill_outputs(l) && fill_workspaces(l) && start(l);
    if (l->set != NULL) {
        grout_gpu_error late;
        const grout_cu_result result = l->kernel->driver.cu.event_record(l->set->done, l->stream);
        if (is_done) {
            is_done = check(l, result, "mark the end of the launch");
        } else {
            (void)grout_gpu__driver_check(&l->kernel->driver, result, "mark it", &late);
        }
    }
    return is_done;
}

static bool report(launch *l, grout_diags *diags) {
    const bool is_lost = l->error.code == GROUT_DIAG_GPU_FAULT;
    (void)grout_gpu__report(diags, &l->error, (grout_place){0});
    if (is_lost) {
        grout_diags_help(diags, "an earlier kernel of this context faulted, and the context is "
                                "lost: 'compute-sanitizer' or 'grout check' say which access it "
                                "was");
    } else if (l->help != NULL) {
        grout_diags_help(diags, "%s", l->help);
    }
    return false;
}

bool grout_gpu_kernel_launch(grout_gpu_kernel *kernel, const grout_argument *arguments,
                             size_t argument_count, void *stream, grout_diags *diags) {
    launch l;
    l.kernel = kernel;
    l.arguments = arguments;
    l.stream = stream;
    l.help = NULL;
    l.error.code = GROUT_DIAG_INTERNAL_ERROR;
    l.error.text[0] = '\0';
    if (argument_count != kernel->param_count) {
        (void)grout_gpu__fail(&l.error, GROUT_DIAG_BAD_ARGUMENT,
                              "kernel '@%s' takes %" PRIu32 " arguments, but %zu were given",
                              kernel->name, kernel->param_count, argument_count);
        return report(&l, diags);
    }
    if (!check_context(&l)) {
        return report(&l, diags);
    }
    (void)pthread_mutex_lock(&kernel->lock);
    const bool is_done = put_on_stream(&l);
    (void)pthread_mutex_unlock(&kernel->lock);
    return is_done || report(&l, diags);
}
