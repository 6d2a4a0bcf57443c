/*
 * fake_cuda.c - a libcuda.so.1 without a GPU, for tests of the launch machinery: memory is the
 * host's, and what a kernel does follows from its name.
 * SPDX-License-Identifier: Apache-2.0
 *
 * - add: c[i] = a[i] + b[i] for the 32-bit integers that its first three parameters point to (n
 *   in the fourth)
 * - fault: the next synchronisation finds an illegal instruction
 * - hang: writes two watchdog records, first the later one, and faults
 * - spin: synchronisation never ends
 * - die: the process aborts
 *
 * What is allocated and called is noted for tests that run in this process (fake_cuda.h).
 */
#include "fake_cuda.h"
#include "gpu_backend/run/cuda_api.h"
#include "gpu_backend/run/launch.h"
#include "gpu_backend/run/launch_child.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

struct grout_cu_function_object {
    char name[64];
};
struct grout_cu_event_object {
    float time_ms;
    int number;
};

EXPORT fake_cuda_state fake_cuda = {.cc_major = 9};

/* Device addresses are the host's. */
static void *pointer(uint64_t address) {
    void *memory = NULL;
    memcpy(&memory, &address, sizeof memory);
    return memory;
}

static int fault;
static float clock_ms;
static int event_count;
static char current_device[] = "context";
static struct grout_cu_function_object found[16]; /* in turn */
static int found_count;

/* Adds a line to what is noted. */
static void __attribute__((format(printf, 1, 2))) note(const char *format, ...) {
    va_list arguments;
    const size_t room = sizeof fake_cuda.log - fake_cuda.log_size;
    va_start(arguments, format);
    const int size = vsnprintf(fake_cuda.log + fake_cuda.log_size, room, format, arguments);
    va_end(arguments);
    fake_cuda.log_size += size > 0 && (size_t)size < room ? (size_t)size : 0;
}

/* What a function that a test lets fail returns; 0 of the others. */
static int failure_of(const char *name) {
    return fake_cuda.failing != NULL && strcmp(fake_cuda.failing, name) == 0 ? fake_cuda.failure
                                                                             : 0;
}

/* Each name is exported as the driver exports it. */
#define FAKE(name, ...)                       \
    EXPORT grout_cu_result name(__VA_ARGS__); \
    EXPORT grout_cu_result name(__VA_ARGS__)

FAKE(cuGetErrorName, grout_cu_result result, const char **out) {
    *out = result == 715 ? "CUDA_ERROR_ILLEGAL_INSTRUCTION" : "CUDA_ERROR_FAKE";
    return 0;
}
FAKE(cuGetErrorString, grout_cu_result result, const char **out) {
    *out = result == 715 ? "an illegal instruction was encountered" : "fake";
    return 0;
}
FAKE(cuInit, unsigned flags) {
    return flags == 0 ? 0 : 1;
}
FAKE(cuDriverGetVersion, int *out) {
    *out = 13000;
    return 0;
}
FAKE(cuDeviceGet, grout_cu_device *out, int index) {
    *out = index;
    return 0;
}
FAKE(cuDeviceGetCount, int *out) {
    *out = 1;
    return 0;
}
FAKE(cuDeviceGetName, char *out, int size, grout_cu_device device) {
    (void)device;
    (void)snprintf(out, (size_t)size, "Fake H200");
    return 0;
}
FAKE(cuDeviceTotalMem_v2, size_t *out, grout_cu_device device) {
    (void)device;
    *out = 1 << 30;
    return 0;
}
FAKE(cuDeviceGetAttribute, int *out, int attribute, grout_cu_device device) {
    (void)device;
    *out = attribute == GROUT_CU_DEVICE_CC_MAJOR   ? fake_cuda.cc_major
           : attribute == GROUT_CU_DEVICE_CC_MINOR ? 0
           : attribute == GROUT_CU_DEVICE_SM_COUNT ? 132
                                                   : 65536;
    return 0;
}
FAKE(cuDevicePrimaryCtxRetain, grout_cu_context *out, grout_cu_device device) {
    (void)device;
    *out = (grout_cu_context)(void *)current_device;
    return 0;
}
FAKE(cuDevicePrimaryCtxRelease_v2, grout_cu_device device) {
    (void)device;
    return 0;
}
FAKE(cuCtxSetCurrent, grout_cu_context context) {
    return context == NULL;
}
FAKE(cuCtxGetCurrent, grout_cu_context *out) {
    *out = fake_cuda.context;
    return failure_of("cuCtxGetCurrent");
}
FAKE(cuCtxGetDevice, grout_cu_device *out) {
    *out = 0;
    return failure_of("cuCtxGetDevice");
}
static grout_cu_context pushed[4]; /* what lies under the current one */
static int pushed_count;
FAKE(cuCtxPushCurrent_v2, grout_cu_context context) {
    const int failure = context == NULL || pushed_count == 4 ? 1 : failure_of("cuCtxPushCurrent");
    if (failure == 0) {
        pushed[pushed_count++] = fake_cuda.context;
        fake_cuda.context = context;
    }
    return failure;
}
FAKE(cuCtxPopCurrent_v2, grout_cu_context *out) {
    *out = fake_cuda.context;
    fake_cuda.context = pushed_count > 0 ? pushed[--pushed_count] : NULL;
    return 0;
}
FAKE(cuThreadExchangeStreamCaptureMode, int *mode) {
    const int before = fake_cuda.capture_mode;
    fake_cuda.capture_mode = *mode;
    *mode = before;
    return failure_of("cuThreadExchangeStreamCaptureMode");
}
FAKE(cuStreamGetCtx, grout_cu_stream stream, grout_cu_context *out) {
    (void)stream;
    *out = fake_cuda.stream_context != NULL ? fake_cuda.stream_context : fake_cuda.context;
    return failure_of("cuStreamGetCtx");
}
FAKE(cuStreamIsCapturing, grout_cu_stream stream, int *out) {
    (void)stream;
    *out = fake_cuda.is_capturing;
    return failure_of("cuStreamIsCapturing");
}
FAKE(cuStreamWaitEvent, grout_cu_stream stream, grout_cu_event event, unsigned flags) {
    note("wait %d on %d\n", event->number, (int)(intptr_t)stream);
    return flags != 0 ? 1 : failure_of("cuStreamWaitEvent");
}
FAKE(cuPointerGetAttribute, void *out, int attribute, grout_cu_address address) {
    note("ask\n");
    memcpy(out, &address, sizeof address);
    return attribute != GROUT_CU_POINTER_DEVICE_ADDRESS || pointer(address) == fake_cuda.on_host
               ? GROUT_CU_INVALID_VALUE
               : failure_of("cuPointerGetAttribute");
}
/* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, of what a thread that captures may not call. */
enum { CAPTURE_UNSUPPORTED = 900 };
static bool is_forbidden(void) {
    return fake_cuda.is_capturing != 0 && fake_cuda.capture_mode != GROUT_CU_CAPTURE_RELAXED;
}
static int in_flight; /* kernels since the last wait for all */
FAKE(cuCtxSynchronize, void) {
    in_flight = 0;
    return fault;
}
FAKE(cuModuleLoadData, grout_cu_module *out, const void *image) {
    const int result = is_forbidden()                   ? CAPTURE_UNSUPPORTED
                       : memcmp(image, "wrong", 5) == 0 ? GROUT_CU_NO_BINARY_FOR_GPU
                                                        : failure_of("cuModuleLoadData");
    *out = result != 0 ? NULL : (grout_cu_module)(void *)current_device;
    fake_cuda.live += result == 0;
    return result;
}
FAKE(cuModuleUnload, grout_cu_module module) {
    fake_cuda.live--;
    return module == NULL;
}
FAKE(cuModuleGetFunction, grout_cu_function *out, grout_cu_module module, const char *name) {
    if (module == NULL || strcmp(name, "missing") == 0) {
        return GROUT_CU_NOT_FOUND;
    }
    *out = &found[found_count++ % 16];
    (void)snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return 0;
}
FAKE(cuMemGetInfo_v2, size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = 1 << 20;
    *total_bytes = 1 << 30;
    return 0;
}
FAKE(cuMemAlloc_v2, grout_cu_address *out, size_t size) {
    const int failure = is_forbidden() ? CAPTURE_UNSUPPORTED : failure_of("cuMemAlloc");
    void *memory =
        size > 1 << 30 || failure != 0 ? NULL : aligned_alloc(256, (size + 255) / 256 * 256);
    *out = (grout_cu_address)(uintptr_t)memory;
    if (memory == NULL) {
        return failure != 0 ? failure : GROUT_CU_OUT_OF_MEMORY;
    }
    memset(memory, 0, size);
    fake_cuda.last_memory = memory;
    fake_cuda.live++;
    return 0;
}
FAKE(cuMemFree_v2, grout_cu_address address) {
    fake_cuda.live--;
    free(pointer(address));
    return 0;
}
FAKE(cuMemHostAlloc, void **out, size_t size, unsigned flags) {
    *out = calloc(1, size);
    return flags != GROUT_CU_HOST_PORTABLE_MAPPED;
}
FAKE(cuMemFreeHost, void *memory) {
    free(memory);
    return 0;
}
FAKE(cuMemHostGetDevicePointer_v2, grout_cu_address *out, void *memory, unsigned flags) {
    *out = (grout_cu_address)(uintptr_t)memory;
    return (int)flags;
}
FAKE(cuMemcpyHtoD_v2, grout_cu_address to, const void *from, size_t size) {
    memcpy(pointer(to), from, size);
    return failure_of("cuMemcpyHtoD");
}
FAKE(cuMemcpyDtoDAsync_v2, grout_cu_address to, grout_cu_address from, size_t size,
     grout_cu_stream stream) {
    note("copy %zu on %d\n", size, (int)(intptr_t)stream);
    memcpy(pointer(to), pointer(from), size);
    return failure_of("cuMemcpyDtoDAsync");
}
FAKE(cuMemcpyDtoH_v2, void *to, grout_cu_address from, size_t size) {
    memcpy(to, pointer(from), size);
    return 0;
}
FAKE(cuMemsetD8Async, grout_cu_address to, unsigned char value, size_t count,
     grout_cu_stream stream) {
    note("fill %zu of %02x on %d\n", count, value, (int)(intptr_t)stream);
    memset(pointer(to), value, count);
    return failure_of("cuMemsetD8Async");
}
FAKE(cuMemsetD16Async, grout_cu_address to, unsigned short value, size_t count,
     grout_cu_stream stream) {
    unsigned short *at = pointer(to);
    note("fill %zu of %04x on %d\n", count, value, (int)(intptr_t)stream);
    while (count-- > 0) {
        *at++ = value;
    }
    return failure_of("cuMemsetD16Async");
}
FAKE(cuMemsetD32Async, grout_cu_address to, unsigned value, size_t count, grout_cu_stream stream) {
    unsigned *at = pointer(to);
    note("fill %zu of %08x on %d\n", count, value, (int)(intptr_t)stream);
    while (count-- > 0) {
        *at++ = value;
    }
    return failure_of("cuMemsetD32Async");
}
FAKE(cuMemsetD2D32Async, grout_cu_address to, size_t pitch, unsigned value, size_t width,
     size_t height, grout_cu_stream stream) {
    note("fill %zu rows of %08x on %d\n", height, value, (int)(intptr_t)stream);
    for (size_t i = 0; i < height * width; i++) {
        memcpy((char *)pointer(to) + i / width * pitch + i % width * 4, &value, sizeof value);
    }
    return failure_of("cuMemsetD2D32Async");
}
FAKE(cuFuncGetAttribute, int *out, int attribute, grout_cu_function kernel) {
    *out = attribute == GROUT_CU_FUNCTION_REGISTERS ? 40 : 0;
    return kernel == NULL;
}
FAKE(cuFuncSetAttribute, grout_cu_function kernel, int attribute, int value) {
    return kernel == NULL || (attribute == GROUT_CU_FUNCTION_MAX_DYNAMIC_SMEM && value > 232448);
}
FAKE(cuFuncGetParamInfo, grout_cu_function kernel, size_t index, size_t *offset, size_t *size) {
    *offset = 0;
    *size = index < fake_cuda.param_count ? fake_cuda.param_sizes[index] : 0;
    return kernel == NULL || index >= fake_cuda.param_count ? GROUT_CU_INVALID_VALUE : 0;
}
FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *out, grout_cu_function kernel, int block,
     size_t smem) {
    *out = kernel != NULL && block > 0 && smem < 232448 ? 2 : 0;
    return 0;
}
FAKE(cuOccupancyMaxActiveClusters, int *out, grout_cu_function kernel,
     const grout_cu_launch_config *config) {
    const bool fits = config->attributes[0].value.cluster[0] < 16 || config->block[0] < 512;
    *out = kernel != NULL && config->attribute_count > 0 && fits ? 66 : 0;
    return 0;
}

static void add(void **params) {
    const int32_t *a = *(int32_t **)params[0];
    const int32_t *b = *(int32_t **)params[1];
    int32_t *c = *(int32_t **)params[2];
    for (int32_t i = 0; i < *(int32_t *)params[3]; i++) {
        c[i] = a[i] + b[i];
    }
}

/* Counts its own runs in the third buffer, and hands the count out in the first. */
static void count(void **params) {
    ++*(int32_t *)*(void **)params[1];
    memcpy(*(void **)params[0], *(void **)params[1], 4);
}

static void hang(void **params) {
    const grout_gpu__watchdog *watchdog = params[0];
    grout_gpu_hang *hangs = pointer(watchdog->hangs);
    hangs[0] = (grout_gpu_hang){.code = 1, .cta = {1, 0, 0}, .line = 24, .waited_ns = 2000000001};
    hangs[1] = (grout_gpu_hang){.code = 1, .cta = {0, 0, 0}, .thread = 1, .slot = 1, .line = 24};
}

FAKE(cuLaunchKernelEx, const grout_cu_launch_config *config, grout_cu_function kernel,
     void **params, void **extra) {
    if (config->grid[0] == 0 || extra != NULL) {
        return 1;
    }
    for (uint32_t i = 0; i < config->attribute_count; i++) {
        bool is_programmatic =
            config->attributes[i].id == GROUT_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION &&
            config->attributes[i].value.flag == 1;
        if (is_programmatic && in_flight == 0 && fake_cuda.on_launch == NULL) {
            return 1; /* it was meant to follow another kernel */
        }
    }
    in_flight++;
    clock_ms += 1.0f;
    note("launch %s on %d\n", kernel->name, (int)(intptr_t)config->stream);
    if (fake_cuda.on_launch != NULL) {
        fake_cuda.on_launch(config, params);
        return failure_of("cuLaunchKernelEx");
    }
    if (strcmp(kernel->name, "add") == 0) {
        add(params);
    } else if (strcmp(kernel->name, "count") == 0) {
        count(params);
    } else if (strcmp(kernel->name, "fault") == 0) {
        fault = 715;
    } else if (strcmp(kernel->name, "hang") == 0) {
        hang(params);
        fault = 715;
    } else if (strcmp(kernel->name, "spin") == 0) {
        for (;;) {
            (void)sleep(1);
        }
    } else if (strcmp(kernel->name, "die") == 0) {
        abort();
    }
    return 0;
}
FAKE(cuEventCreate, grout_cu_event *out, unsigned flags) {
    const int failure = failure_of("cuEventCreate");
    *out = failure != 0 ? NULL : calloc(1, sizeof **out);
    if (*out == NULL) {
        return failure != 0 ? failure : GROUT_CU_OUT_OF_MEMORY;
    }
    (*out)->number = event_count++;
    fake_cuda.live++;
    return flags == GROUT_CU_EVENT_DEFAULT || flags == GROUT_CU_EVENT_WITHOUT_TIME ? 0 : 1;
}
FAKE(cuEventRecord, grout_cu_event event, grout_cu_stream stream) {
    event->time_ms = clock_ms;
    note("record %d on %d\n", event->number, (int)(intptr_t)stream);
    return failure_of("cuEventRecord");
}
FAKE(cuEventSynchronize, grout_cu_event event) {
    return event == NULL;
}
FAKE(cuEventElapsedTime, float *out, grout_cu_event start, grout_cu_event end) {
    *out = end->time_ms - start->time_ms;
    return 0;
}
FAKE(cuEventDestroy_v2, grout_cu_event event) {
    fake_cuda.live--;
    free(event);
    return 0;
}

EXPORT grout_cu_tensor_map_encode_tiled cuTensorMapEncodeTiled;
/* NOLINTNEXTLINE(readability-function-size): the driver's parameters. */
EXPORT grout_cu_result cuTensorMapEncodeTiled(grout_cu_tensor_map *map, int type, uint32_t rank,
                                              void *address, const uint64_t *dims,
                                              const uint64_t *strides_bytes, const uint32_t *box,
                                              const uint32_t *element_strides, int interleave,
                                              int swizzle, int l2_promotion, int oob_fill) {
    note("encode\n");
    *map = (grout_cu_tensor_map){.opaque = {(uint64_t)type, rank, (uint64_t)(uintptr_t)address,
                                            dims[0], strides_bytes[0], box[0], element_strides[0]}};
    return interleave != 0 || swizzle > 3 || l2_promotion > 3 || oob_fill > 1
               ? 1
               : failure_of("cuTensorMapEncodeTiled");
}

EXPORT grout_cu_tensor_map_encode_im2col cuTensorMapEncodeIm2col;
/* NOLINTNEXTLINE(readability-function-size): the driver's parameters. */
EXPORT grout_cu_result cuTensorMapEncodeIm2col(grout_cu_tensor_map *map, int type, uint32_t rank,
                                               void *address, const uint64_t *dims,
                                               const uint64_t *strides_bytes, const int *lower,
                                               const int *upper, uint32_t channels, uint32_t pixels,
                                               const uint32_t *element_strides, int interleave,
                                               int swizzle, int l2_promotion, int oob_fill) {
    *map = (grout_cu_tensor_map){
        .opaque = {(uint64_t)type, rank, (uint64_t)(uintptr_t)address, dims[0], strides_bytes[0],
                   channels, pixels, (uint64_t)lower[0], (uint64_t)upper[0], element_strides[1]}};
    return interleave != 0 || swizzle > 3 || l2_promotion > 3 || oob_fill > 1;
}
