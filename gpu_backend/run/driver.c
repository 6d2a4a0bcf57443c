/* driver.c - libcuda.so.1: finding its functions, and calling them with messages that say what
 * failed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include "invariant.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The library's exported name for each function. */
static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    {"cuGetErrorName", offsetof(grout_cu_api, get_error_name)},
    {"cuGetErrorString", offsetof(grout_cu_api, get_error_string)},
    {"cuInit", offsetof(grout_cu_api, init)},
    {"cuDriverGetVersion", offsetof(grout_cu_api, driver_get_version)},
    {"cuDeviceGet", offsetof(grout_cu_api, device_get)},
    {"cuDeviceGetCount", offsetof(grout_cu_api, device_get_count)},
    {"cuDeviceGetName", offsetof(grout_cu_api, device_get_name)},
    {"cuDeviceTotalMem_v2", offsetof(grout_cu_api, device_total_mem)},
    {"cuDeviceGetAttribute", offsetof(grout_cu_api, device_get_attribute)},
    {"cuDevicePrimaryCtxRetain", offsetof(grout_cu_api, primary_context_retain)},
    {"cuDevicePrimaryCtxRelease_v2", offsetof(grout_cu_api, primary_context_release)},
    {"cuCtxSetCurrent", offsetof(grout_cu_api, context_set_current)},
    {"cuCtxGetCurrent", offsetof(grout_cu_api, context_get_current)},
    {"cuCtxGetDevice", offsetof(grout_cu_api, context_get_device)},
    {"cuCtxPushCurrent_v2", offsetof(grout_cu_api, context_push_current)},
    {"cuCtxPopCurrent_v2", offsetof(grout_cu_api, context_pop_current)},
    {"cuCtxSynchronize", offsetof(grout_cu_api, context_synchronize)},
    {"cuModuleLoadData", offsetof(grout_cu_api, module_load_data)},
    {"cuModuleUnload", offsetof(grout_cu_api, module_unload)},
    {"cuModuleGetFunction", offsetof(grout_cu_api, module_get_function)},
    {"cuMemGetInfo_v2", offsetof(grout_cu_api, mem_get_info)},
    {"cuMemAlloc_v2", offsetof(grout_cu_api, mem_alloc)},
    {"cuMemFree_v2", offsetof(grout_cu_api, mem_free)},
    {"cuMemHostAlloc", offsetof(grout_cu_api, mem_host_alloc)},
    {"cuMemHostGetDevicePointer_v2", offsetof(grout_cu_api, mem_host_get_device_pointer)},
    {"cuMemcpyHtoD_v2", offsetof(grout_cu_api, memcpy_to_device)},
    {"cuMemcpyDtoH_v2", offsetof(grout_cu_api, memcpy_to_host)},
    {"cuMemcpyDtoDAsync_v2", offsetof(grout_cu_api, memcpy_on_device)},
    {"cuMemsetD8Async", offsetof(grout_cu_api, memset_d8)},
    {"cuMemsetD16Async", offsetof(grout_cu_api, memset_d16)},
    {"cuMemsetD32Async", offsetof(grout_cu_api, memset_d32)},
    {"cuMemsetD2D32Async", offsetof(grout_cu_api, memset_2d_d32)},
    {"cuPointerGetAttribute", offsetof(grout_cu_api, pointer_get_attribute)},
    {"cuStreamGetCtx", offsetof(grout_cu_api, stream_get_context)},
    {"cuStreamIsCapturing", offsetof(grout_cu_api, stream_is_capturing)},
    {"cuStreamWaitEvent", offsetof(grout_cu_api, stream_wait_event)},
    {"cuThreadExchangeStreamCaptureMode", offsetof(grout_cu_api, thread_exchange_capture_mode)},
    {"cuFuncGetAttribute", offsetof(grout_cu_api, function_get_attribute)},
    {"cuFuncSetAttribute", offsetof(grout_cu_api, function_set_attribute)},
    {"cuFuncGetParamInfo", offsetof(grout_cu_api, function_get_param_info)},
    {"cuLaunchKernelEx", offsetof(grout_cu_api, launch_kernel)},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", offsetof(grout_cu_api, occupancy_blocks)},
    {"cuOccupancyMaxActiveClusters", offsetof(grout_cu_api, occupancy_clusters)},
    {"cuEventCreate", offsetof(grout_cu_api, event_create)},
    {"cuEventRecord", offsetof(grout_cu_api, event_record)},
    {"cuEventSynchronize", offsetof(grout_cu_api, event_synchronize)},
    {"cuEventElapsedTime", offsetof(grout_cu_api, event_elapsed_time)},
    {"cuEventDestroy_v2", offsetof(grout_cu_api, event_destroy)},
    {"cuTensorMapEncodeTiled", offsetof(grout_cu_api, tensor_map_encode_tiled)},
    {"cuTensorMapEncodeIm2col", offsetof(grout_cu_api, tensor_map_encode_im2col)},
};

/* CUDA 12.4 brought it; what calls it works without, too. */
static bool is_optional(size_t offset) {
    return offset == offsetof(grout_cu_api, function_get_param_info);
}

static bool find_functions(grout_gpu_driver *driver, grout_gpu_error *error) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        /* POSIX: what dlsym returns for a function converts to its pointer. */
        void *symbol = dlsym(driver->library, functions[i].name);
        if (symbol == NULL && !is_optional(functions[i].offset)) {
            return grout_gpu__fail(error, GROUT_DIAG_GPU_MISSING,
                                   "libcuda.so.1 has no '%s': the driver is older than CUDA 12.0",
                                   functions[i].name);
        }
        memcpy((char *)&driver->cu + functions[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

bool grout_gpu__driver_open(grout_gpu_driver *driver, grout_gpu_error *error) {
    *driver = (grout_gpu_driver){0};
    driver->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver->library == NULL) {
        return grout_gpu__fail(error, GROUT_DIAG_GPU_MISSING, "no CUDA driver: %s", dlerror());
    }
    grout_cu_result result = GROUT_CU_SUCCESS;
    if (!find_functions(driver, error)) {
        grout_gpu__driver_close(driver);
        return false;
    }
    result = driver->cu.init(0);
    if (result != GROUT_CU_SUCCESS) {
        grout_gpu_error cause;
        grout_gpu__driver_check(driver, result, "initialise the CUDA driver", &cause);
        grout_gpu__fail(error, GROUT_DIAG_GPU_MISSING, "no usable GPU: %s", cause.text);
        grout_gpu__driver_close(driver);
        return false;
    }
    return true;
}

void grout_gpu__driver_close(grout_gpu_driver *driver) {
    if (driver->context != NULL) {
        (void)driver->cu.primary_context_release(driver->device);
    }
    if (driver->library != NULL) {
        (void)dlclose(driver->library);
    }
    *driver = (grout_gpu_driver){0};
}

static bool is_fault(grout_cu_result result) {
    return result == GROUT_CU_ILLEGAL_ADDRESS || result == GROUT_CU_LAUNCH_TIMEOUT ||
           result == GROUT_CU_ASSERT ||
           (result >= GROUT_CU_HARDWARE_STACK_ERROR && result <= GROUT_CU_LAUNCH_FAILED);
}

bool grout_gpu__driver_check(const grout_gpu_driver *driver, grout_cu_result result,
                             const char *what, grout_gpu_error *error) {
    const char *name = NULL;
    const char *text = NULL;
    if (result == GROUT_CU_SUCCESS) {
        return true;
    }
    (void)driver->cu.get_error_name(result, &name);
    (void)driver->cu.get_error_string(result, &text);
    grout_diag_code code = GROUT_DIAG_GPU_DRIVER;
    if (is_fault(result)) {
        code = GROUT_DIAG_GPU_FAULT;
    } else if (result == GROUT_CU_OUT_OF_MEMORY) {
        code = GROUT_DIAG_OUT_OF_MEMORY;
    }
    return grout_gpu__fail(error, code, "cannot %s: %s (%s)", what,
                           name != NULL ? name : "unknown CUDA error",
                           text != NULL ? text : "no description");
}

bool grout_gpu__driver_device_count(const grout_gpu_driver *driver, uint32_t *out,
                                    grout_gpu_error *error) {
    int count = 0;
    bool ok =
        grout_gpu__driver_check(driver, driver->cu.device_get_count(&count), "count GPUs", error);
    *out = (uint32_t)count;
    return ok;
}

static bool get_device(const grout_gpu_driver *driver, uint32_t index, grout_cu_device *out,
                       grout_gpu_error *error) {
    uint32_t count = 0;
    if (!grout_gpu__driver_device_count(driver, &count, error)) {
        return false;
    }
    if (index >= count) {
        return grout_gpu__fail(error, GROUT_DIAG_GPU_MISSING,
                               "no GPU %" PRIu32 ": this machine has %" PRIu32, index, count);
    }
    return grout_gpu__driver_check(driver, driver->cu.device_get(out, (int)index), "open the GPU",
                                   error);
}

bool grout_gpu__driver_device_info(const grout_gpu_driver *driver, uint32_t index,
                                   grout_gpu_device *out, grout_gpu_error *error) {
    grout_cu_device device = 0;
    size_t memory = 0;
    *out = (grout_gpu_device){0};
    if (!get_device(driver, index, &device, error)) {
        return false;
    }
    const struct {
        int attribute;
        int *value;
    } attributes[] = {
        {GROUT_CU_DEVICE_CC_MAJOR, &out->cc_major},
        {GROUT_CU_DEVICE_CC_MINOR, &out->cc_minor},
        {GROUT_CU_DEVICE_SM_COUNT, &out->sm_count},
        {GROUT_CU_DEVICE_SMEM_PER_BLOCK_OPTIN, &out->smem_per_block_max},
        {GROUT_CU_DEVICE_SMEM_PER_SM, &out->smem_per_sm},
        {GROUT_CU_DEVICE_L2_SIZE, &out->l2_size},
    };
    grout_cu_result result = driver->cu.device_get_name(out->name, sizeof out->name, device);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0] && result == 0; i++) {
        result =
            driver->cu.device_get_attribute(attributes[i].value, attributes[i].attribute, device);
    }
    if (result == GROUT_CU_SUCCESS) {
        result = driver->cu.driver_get_version(&out->driver_version);
    }
    if (result == GROUT_CU_SUCCESS) {
        result = driver->cu.device_total_mem(&memory, device);
    }
    out->memory_size = memory;
    return grout_gpu__driver_check(driver, result, "ask what the GPU is", error);
}

bool grout_gpu__driver_select(grout_gpu_driver *driver, uint32_t index, grout_gpu_error *error) {
    GROUT_ASSERT(driver->context == NULL);
    if (!get_device(driver, index, &driver->device, error)) {
        return false;
    }
    grout_cu_context context = NULL;
    grout_cu_result result = driver->cu.primary_context_retain(&context, driver->device);
    if (!grout_gpu__driver_check(driver, result, "make a context on the GPU", error)) {
        return false;
    }
    driver->context = context;
    return grout_gpu__driver_check(driver, driver->cu.context_set_current(context),
                                   "use the GPU's context", error);
}

bool grout_gpu__driver_alloc(const grout_gpu_driver *driver, const char *name, uint64_t size,
                             grout_cu_address *out, grout_gpu_error *error) {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    /* cuMemAlloc refuses 0 bytes. */
    grout_cu_result result = driver->cu.mem_alloc(out, size == 0 ? 1 : (size_t)size);
    if (result == GROUT_CU_SUCCESS) {
        return true;
    }
    (void)driver->cu.mem_get_info(&free_bytes, &total_bytes);
    char what[256];
    (void)snprintf(what, sizeof what,
                   "allocate '%.100s' (%" PRIu64 " bytes; %zu of %zu bytes are free)", name, size,
                   free_bytes, total_bytes);
    return grout_gpu__driver_check(driver, result, what, error);
}

bool grout_gpu__driver_upload(const grout_gpu_driver *driver, grout_cu_address to, const void *from,
                              uint64_t size, grout_gpu_error *error) {
    return size == 0 ||
           grout_gpu__driver_check(driver, driver->cu.memcpy_to_device(to, from, (size_t)size),
                                   "copy to the GPU", error);
}

bool grout_gpu__driver_download(const grout_gpu_driver *driver, void *to, grout_cu_address from,
                                uint64_t size, grout_gpu_error *error) {
    return size == 0 ||
           grout_gpu__driver_check(driver, driver->cu.memcpy_to_host(to, from, (size_t)size),
                                   "copy from the GPU", error);
}

bool grout_gpu__driver_fill(const grout_gpu_driver *driver, grout_cu_address to, uint64_t size,
                            const grout_gpu_fill *fill, grout_gpu_error *error) {
    const grout_cu_api *cu = &driver->cu;
    const grout_cu_stream stream = fill->stream;
    const size_t count = fill->pattern_size == 0 ? 0 : (size_t)(size / fill->pattern_size);
    GROUT_ASSERT(fill->pattern_size == 0 || size % fill->pattern_size == 0);
    const uint32_t low = (uint32_t)fill->pattern;
    grout_cu_result result = GROUT_CU_SUCCESS;
    if (count == 0) {
        return true;
    }
    switch (fill->pattern_size) {
    case 1:
        result = cu->memset_d8(to, (unsigned char)low, count, stream);
        break;
    case 2:
        result = cu->memset_d16(to, (unsigned short)low, count, stream);
        break;
    case 4:
        result = cu->memset_d32(to, low, count, stream);
        break;
    case 8: /* Two columns of a matrix whose rows are the elements. */
        result = cu->memset_2d_d32(to, 8, low, 1, count, stream);
        if (result == GROUT_CU_SUCCESS) {
            result =
                cu->memset_2d_d32(to + 4, 8, (uint32_t)(fill->pattern >> 32), 1, count, stream);
        }
        break;
    default:
        return grout_gpu__fail(error, GROUT_DIAG_INTERNAL_ERROR,
                               "a fill pattern has 1, 2, 4 or 8 bytes, not %" PRIu32,
                               fill->pattern_size);
    }
    return grout_gpu__driver_check(driver, result, "fill GPU memory", error);
}

bool grout_gpu__driver_alloc_host(const grout_gpu_driver *driver, uint64_t size, void **host_out,
                                  grout_cu_address *device_out, grout_gpu_error *error) {
    grout_cu_result result =
        driver->cu.mem_host_alloc(host_out, (size_t)size, GROUT_CU_HOST_PORTABLE_MAPPED);
    if (result == GROUT_CU_SUCCESS) {
        memset(*host_out, 0, (size_t)size);
        result = driver->cu.mem_host_get_device_pointer(device_out, *host_out, 0);
    }
    return grout_gpu__driver_check(driver, result, "allocate host memory for the GPU", error);
}

bool grout_gpu__driver_load(const grout_gpu_driver *driver, const void *image, grout_cu_module *out,
                            grout_gpu_error *error) {
    grout_cu_result result = driver->cu.module_load_data(out, image);
    if (!grout_gpu__driver_check(driver, result, "load the compiled kernel", error)) {
        if (result == GROUT_CU_NO_BINARY_FOR_GPU || result == GROUT_CU_INVALID_IMAGE) {
            error->code = GROUT_DIAG_GPU_UNSUPPORTED;
        }
        return false;
    }
    return true;
}

bool grout_gpu__driver_find_kernel(const grout_gpu_driver *driver, grout_cu_module module,
                                   const char *name, grout_cu_function *out,
                                   grout_gpu_error *error) {
    char what[256];
    (void)snprintf(what, sizeof what, "find kernel '%.200s' in the compiled image", name);
    return grout_gpu__driver_check(driver, driver->cu.module_get_function(out, module, name), what,
                                   error);
}

static uint32_t cluster_size(const grout_gpu_shape *shape) {
    uint32_t size = 1;
    for (int i = 0; i < 3; i++) {
        size *= shape->cluster[i] == 0 ? 1 : shape->cluster[i];
    }
    return size;
}

#define ATTRIBUTES_MAX       3 /* of a launch */
#define PORTABLE_CLUSTER_MAX 8 /* CTAs; the kernel has to allow more */

/* Fills config and its attributes, for which there is room. */
static void make_config(const grout_gpu_shape *shape,
                        grout_cu_launch_attribute attributes[static ATTRIBUTES_MAX],
                        grout_cu_launch_config *config) {
    *config = (grout_cu_launch_config){.dynamic_smem_bytes = shape->dynamic_smem_bytes,
                                       .stream = shape->stream,
                                       .attributes = attributes};
    memcpy(config->grid, shape->grid, sizeof config->grid);
    memcpy(config->block, shape->block, sizeof config->block);
    memset(attributes, 0, ATTRIBUTES_MAX * sizeof *attributes);
    if (cluster_size(shape) > 1) {
        grout_cu_launch_attribute *attribute = &attributes[config->attribute_count++];
        attribute->id = GROUT_CU_LAUNCH_CLUSTER_DIMENSION;
        for (int i = 0; i < 3; i++) {
            attribute->value.cluster[i] = shape->cluster[i] == 0 ? 1 : shape->cluster[i];
        }
    }
    if (shape->is_cooperative) {
        attributes[config->attribute_count].id = GROUT_CU_LAUNCH_COOPERATIVE;
        attributes[config->attribute_count++].value.flag = 1;
    }
    if (shape->is_programmatic) {
        attributes[config->attribute_count].id = GROUT_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION;
        attributes[config->attribute_count++].value.flag = 1;
    }
    GROUT_ASSERT(config->attribute_count <= ATTRIBUTES_MAX);
}

static uint32_t block_size(const grout_gpu_shape *shape) {
    return shape->block[0] * shape->block[1] * shape->block[2];
}

/* What the driver knows of a kernel that may have its dynamic SMEM. */
static grout_cu_result read_facts(const grout_gpu_driver *driver, grout_cu_function kernel,
                                  const grout_gpu_shape *shape, grout_gpu_kernel_info *out) {
    const struct {
        int attribute;
        int *value;
    } facts[] = {
        {GROUT_CU_FUNCTION_REGISTERS, &out->registers},
        {GROUT_CU_FUNCTION_LOCAL_SIZE, &out->local_bytes},
        {GROUT_CU_FUNCTION_STATIC_SMEM, &out->static_smem_bytes},
    };
    grout_cu_result result = GROUT_CU_SUCCESS;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0] && result == GROUT_CU_SUCCESS; i++) {
        result = driver->cu.function_get_attribute(facts[i].value, facts[i].attribute, kernel);
    }
    if (result == GROUT_CU_SUCCESS) {
        result = driver->cu.occupancy_blocks(&out->ctas_per_sm, kernel, (int)block_size(shape),
                                             shape->dynamic_smem_bytes);
    }
    return result;
}

/* Lets the kernel have its cluster, and counts those that are resident at a time. */
static grout_cu_result prepare_cluster(const grout_gpu_driver *driver, grout_cu_function kernel,
                                       const grout_gpu_shape *shape, grout_gpu_kernel_info *out) {
    const grout_cu_api *cu = &driver->cu;
    grout_cu_launch_attribute attributes[ATTRIBUTES_MAX];
    grout_cu_launch_config config;
    grout_cu_result result = GROUT_CU_SUCCESS;
    if (cluster_size(shape) > PORTABLE_CLUSTER_MAX) {
        result = cu->function_set_attribute(kernel, GROUT_CU_FUNCTION_NON_PORTABLE_CLUSTER, 1);
    }
    make_config(shape, attributes, &config);
    if (result == GROUT_CU_SUCCESS) {
        result = cu->occupancy_clusters(&out->clusters_per_device, kernel, &config);
    }
    return result;
}

bool grout_gpu__driver_prepare(const grout_gpu_driver *driver, grout_cu_function kernel,
                               const grout_gpu_shape *shape, grout_gpu_kernel_info *out,
                               grout_gpu_error *error) {
    const bool has_cluster = cluster_size(shape) > 1;
    grout_cu_result result = driver->cu.function_set_attribute(
        kernel, GROUT_CU_FUNCTION_MAX_DYNAMIC_SMEM, (int)shape->dynamic_smem_bytes);
    *out = (grout_gpu_kernel_info){0};
    if (result != GROUT_CU_SUCCESS) {
        char what[96];
        (void)snprintf(what, sizeof what, "give the kernel %" PRIu32 " bytes of dynamic SMEM",
                       shape->dynamic_smem_bytes);
        return grout_gpu__driver_check(driver, result, what, error);
    }
    result = read_facts(driver, kernel, shape, out);
    if (result == GROUT_CU_SUCCESS && has_cluster) {
        result = prepare_cluster(driver, kernel, shape, out);
    }
    if (result == GROUT_CU_SUCCESS && has_cluster && out->clusters_per_device == 0) {
        return grout_gpu__fail(error, GROUT_DIAG_GPU_UNSUPPORTED,
                               "a cluster of %" PRIu32 " CTAs with %" PRIu32
                               " CUDA threads, %d registers a lane and %" PRIu32
                               " bytes of dynamic SMEM each does not fit on this GPU",
                               cluster_size(shape), block_size(shape), out->registers,
                               shape->dynamic_smem_bytes);
    }
    return grout_gpu__driver_check(driver, result, "prepare the kernel", error);
}

bool grout_gpu__driver_launch(const grout_gpu_driver *driver, grout_cu_function kernel,
                              const grout_gpu_shape *shape, void **params, grout_gpu_error *error) {
    grout_cu_launch_attribute attributes[ATTRIBUTES_MAX];
    grout_cu_launch_config config;
    make_config(shape, attributes, &config);
    return grout_gpu__driver_check(driver, driver->cu.launch_kernel(&config, kernel, params, NULL),
                                   "launch the kernel", error);
}

bool grout_gpu__driver_synchronize(const grout_gpu_driver *driver, const char *what,
                                   grout_gpu_error *error) {
    return grout_gpu__driver_check(driver, driver->cu.context_synchronize(), what, error);
}
