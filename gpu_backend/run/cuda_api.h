/*
 * cuda_api.h - the part of the CUDA Driver API and of NVRTC that grout calls.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Declared here, and not taken from a toolkit, so that grout builds on a machine without CUDA; both
 * libraries are opened at run time. Sources: CUDA Driver API Reference Manual 13.0 (cu*: sections
 * 'Initialization', 'Device Management', 'Primary Context Management', 'Module Management', 'Memory
 * Management', 'Execution Control', 'Occupancy', 'Event Management', 'Tensor Map Object
 * Management', 'Context Management', 'Stream Management', 'Unified Addressing', 'Data types used by
 * CUDA driver'); NVRTC 13.0 User Guide, 'User Interface' (nvrtc*).
 * tools/gpu/check_cuda_api.c compares every layout and number with the toolkit's own headers.
 *
 * A function's exported name can carry a version: cuMemAlloc is cuMemAlloc_v2 in the library (the
 * headers rename it by macro). The names are in driver.c.
 */
#ifndef GROUT_GPU_CUDA_API_H
#define GROUT_GPU_CUDA_API_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

/* CUresult; 'Data types used by CUDA driver'. */
typedef int grout_cu_result;
enum {
    GROUT_CU_SUCCESS = 0,
    GROUT_CU_INVALID_VALUE = 1,
    GROUT_CU_OUT_OF_MEMORY = 2,
    GROUT_CU_NO_DEVICE = 100,
    GROUT_CU_INVALID_DEVICE = 101,
    GROUT_CU_INVALID_IMAGE = 200,
    GROUT_CU_NO_BINARY_FOR_GPU = 209,
    GROUT_CU_NOT_FOUND = 500,
    /* Errors of a kernel, after which the context answers nothing but the same error. */
    GROUT_CU_ILLEGAL_ADDRESS = 700,
    GROUT_CU_LAUNCH_OUT_OF_RESOURCES = 701,
    GROUT_CU_LAUNCH_TIMEOUT = 702,
    GROUT_CU_ASSERT = 710,
    GROUT_CU_HARDWARE_STACK_ERROR = 714,
    GROUT_CU_LAUNCH_FAILED = 719,
    GROUT_CU_INVALID_CLUSTER_SIZE = 912
};

/* CUdevice, CUdeviceptr and the opaque handles. */
typedef int grout_cu_device;
typedef unsigned long long grout_cu_address;
typedef struct grout_cu_context_object *grout_cu_context;
typedef struct grout_cu_module_object *grout_cu_module;
typedef struct grout_cu_function_object *grout_cu_function;
typedef struct grout_cu_stream_object *grout_cu_stream;
typedef struct grout_cu_event_object *grout_cu_event;

/* CUdevice_attribute. */
enum {
    GROUT_CU_DEVICE_SM_COUNT = 16,
    GROUT_CU_DEVICE_L2_SIZE = 38,
    GROUT_CU_DEVICE_CC_MAJOR = 75,
    GROUT_CU_DEVICE_CC_MINOR = 76,
    GROUT_CU_DEVICE_SMEM_PER_SM = 81,
    GROUT_CU_DEVICE_SMEM_PER_BLOCK_OPTIN = 97
};

/* CUfunction_attribute. */
enum {
    GROUT_CU_FUNCTION_STATIC_SMEM = 1,
    GROUT_CU_FUNCTION_LOCAL_SIZE = 3,
    GROUT_CU_FUNCTION_REGISTERS = 4,
    GROUT_CU_FUNCTION_MAX_DYNAMIC_SMEM = 8,
    GROUT_CU_FUNCTION_NON_PORTABLE_CLUSTER = 14
};

/* CU_EVENT_DEFAULT, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP. */
enum { GROUT_CU_EVENT_DEFAULT = 0, GROUT_CU_HOST_PORTABLE_MAPPED = 3 };
/* CU_EVENT_DISABLE_TIMING; CUpointer_attribute; CUstreamCaptureStatus has 0 for none. */
enum { GROUT_CU_EVENT_WITHOUT_TIME = 2, GROUT_CU_POINTER_DEVICE_ADDRESS = 3 };
/* CUstreamCaptureMode */
enum { GROUT_CU_CAPTURE_RELAXED = 2 };

/* CUlaunchAttributeID, CUlaunchAttribute, CUlaunchConfig. */
enum {
    GROUT_CU_LAUNCH_COOPERATIVE = 2,
    GROUT_CU_LAUNCH_CLUSTER_DIMENSION = 4,
    GROUT_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6
};

typedef struct grout_cu_launch_attribute {
    uint32_t id;
    uint32_t padding;
    union {
        char bytes[64];
        uint32_t cluster[3];
        int flag;
        uint64_t align;
    } value;
} grout_cu_launch_attribute;

typedef struct grout_cu_launch_config {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_smem_bytes;
    grout_cu_stream stream;
    grout_cu_launch_attribute *attributes;
    uint32_t attribute_count;
} grout_cu_launch_config;

/* CUtensorMap: opaque; the manual asks for 64-byte alignment. */
typedef struct grout_cu_tensor_map {
    alignas(64) uint64_t opaque[16];
} grout_cu_tensor_map;

/* CUtensorMapDataType; CUtensorMapInterleave has 0 for none. */
enum {
    GROUT_CU_TENSOR_U8 = 0,
    GROUT_CU_TENSOR_U16 = 1,
    GROUT_CU_TENSOR_U32 = 2,
    GROUT_CU_TENSOR_I32 = 3,
    GROUT_CU_TENSOR_U64 = 4,
    GROUT_CU_TENSOR_I64 = 5,
    GROUT_CU_TENSOR_F16 = 6,
    GROUT_CU_TENSOR_F32 = 7,
    GROUT_CU_TENSOR_F64 = 8,
    GROUT_CU_TENSOR_BF16 = 9,
    GROUT_CU_TENSOR_16U4_ALIGN16B = 14, /* of compute capability 10.0, as the next */
    GROUT_CU_TENSOR_16U6_ALIGN16B = 15
};
/* CUtensorMapSwizzle; the ones of compute capability 9.0. */
enum {
    GROUT_CU_SWIZZLE_NONE = 0,
    GROUT_CU_SWIZZLE_32B = 1,
    GROUT_CU_SWIZZLE_64B = 2,
    GROUT_CU_SWIZZLE_128B = 3
};

/* What cuTensorMapEncodeTiled wants beside the result, the address and the arrays, in its order. */
typedef grout_cu_result grout_cu_tensor_map_encode_tiled(
    grout_cu_tensor_map *map, int type, uint32_t rank, void *address, const uint64_t *dims,
    const uint64_t *strides_bytes, const uint32_t *box, const uint32_t *element_strides,
    int interleave, int swizzle, int l2_promotion, int oob_fill);

/* What cuTensorMapEncodeIm2col wants: two corners, channels and pixels in the place of a box. */
typedef grout_cu_result grout_cu_tensor_map_encode_im2col(
    grout_cu_tensor_map *map, int type, uint32_t rank, void *address, const uint64_t *dims,
    const uint64_t *strides_bytes, const int *lower, const int *upper, uint32_t channels,
    uint32_t pixels, const uint32_t *element_strides, int interleave, int swizzle, int l2_promotion,
    int oob_fill);

/* The driver's functions, in the order of their sections; the comment is the name in the manual. */
typedef struct grout_cu_api {
    grout_cu_result (*get_error_name)(grout_cu_result, const char **);     /* cuGetErrorName */
    grout_cu_result (*get_error_string)(grout_cu_result, const char **);   /* cuGetErrorString */
    grout_cu_result (*init)(unsigned flags);                               /* cuInit */
    grout_cu_result (*driver_get_version)(int *);                          /* cuDriverGetVersion */
    grout_cu_result (*device_get)(grout_cu_device *, int index);           /* cuDeviceGet */
    grout_cu_result (*device_get_count)(int *);                            /* cuDeviceGetCount */
    grout_cu_result (*device_get_name)(char *, int size, grout_cu_device); /* cuDeviceGetName */
    grout_cu_result (*device_total_mem)(size_t *, grout_cu_device);        /* cuDeviceTotalMem */
    /* cuDeviceGetAttribute */
    grout_cu_result (*device_get_attribute)(int *, int attribute, grout_cu_device);
    /* cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRelease */
    grout_cu_result (*primary_context_retain)(grout_cu_context *, grout_cu_device);
    grout_cu_result (*primary_context_release)(grout_cu_device);
    grout_cu_result (*context_set_current)(grout_cu_context); /* cuCtxSetCurrent */
    /* cuCtxGetCurrent, cuCtxGetDevice, cuCtxPushCurrent, cuCtxPopCurrent */
    grout_cu_result (*context_get_current)(grout_cu_context *);
    grout_cu_result (*context_get_device)(grout_cu_device *);
    grout_cu_result (*context_push_current)(grout_cu_context);
    grout_cu_result (*context_pop_current)(grout_cu_context *);
    grout_cu_result (*context_synchronize)(void); /* cuCtxSynchronize */
    /* cuModuleLoadData, cuModuleUnload, cuModuleGetFunction */
    grout_cu_result (*module_load_data)(grout_cu_module *, const void *image);
    grout_cu_result (*module_unload)(grout_cu_module);
    grout_cu_result (*module_get_function)(grout_cu_function *, grout_cu_module, const char *);
    grout_cu_result (*mem_get_info)(size_t *free_bytes, size_t *total_bytes); /* cuMemGetInfo */
    grout_cu_result (*mem_alloc)(grout_cu_address *, size_t);                 /* cuMemAlloc */
    grout_cu_result (*mem_free)(grout_cu_address);                            /* cuMemFree */
    grout_cu_result (*mem_host_alloc)(void **, size_t, unsigned flags);       /* cuMemHostAlloc */
    /* cuMemHostGetDevicePointer */
    grout_cu_result (*mem_host_get_device_pointer)(grout_cu_address *, void *, unsigned flags);
    grout_cu_result (*memcpy_to_device)(grout_cu_address, const void *, size_t); /* cuMemcpyHtoD */
    grout_cu_result (*memcpy_to_host)(void *, grout_cu_address, size_t);         /* cuMemcpyDtoH */
    /* cuMemcpyDtoDAsync */
    grout_cu_result (*memcpy_on_device)(grout_cu_address, grout_cu_address, size_t,
                                        grout_cu_stream);
    /* cuMemsetD8Async, cuMemsetD16Async, cuMemsetD32Async, cuMemsetD2D32Async */
    grout_cu_result (*memset_d8)(grout_cu_address, unsigned char, size_t, grout_cu_stream);
    grout_cu_result (*memset_d16)(grout_cu_address, unsigned short, size_t, grout_cu_stream);
    grout_cu_result (*memset_d32)(grout_cu_address, unsigned, size_t, grout_cu_stream);
    grout_cu_result (*memset_2d_d32)(grout_cu_address, size_t pitch, unsigned, size_t width,
                                     size_t height, grout_cu_stream);
    grout_cu_result (*pointer_get_attribute)(void *out, int attribute,
                                             grout_cu_address); /* cuPointerGetAttribute */
    /* cuStreamGetCtx, cuStreamIsCapturing, cuStreamWaitEvent */
    grout_cu_result (*stream_get_context)(grout_cu_stream, grout_cu_context *);
    grout_cu_result (*stream_is_capturing)(grout_cu_stream, int *);
    grout_cu_result (*stream_wait_event)(grout_cu_stream, grout_cu_event, unsigned flags);
    /* cuThreadExchangeStreamCaptureMode: in and out */
    grout_cu_result (*thread_exchange_capture_mode)(int *mode);
    /* cuFuncGetAttribute, cuFuncSetAttribute */
    grout_cu_result (*function_get_attribute)(int *, int attribute, grout_cu_function);
    grout_cu_result (*function_set_attribute)(grout_cu_function, int attribute, int value);
    /* cuFuncGetParamInfo; NULL: the driver is older than CUDA 12.4 */
    grout_cu_result (*function_get_param_info)(grout_cu_function, size_t index, size_t *offset,
                                               size_t *size);
    /* cuLaunchKernelEx */
    grout_cu_result (*launch_kernel)(const grout_cu_launch_config *, grout_cu_function, void **,
                                     void **extra);
    /* cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveClusters */
    grout_cu_result (*occupancy_blocks)(int *, grout_cu_function, int block_size, size_t smem);
    grout_cu_result (*occupancy_clusters)(int *, grout_cu_function, const grout_cu_launch_config *);
    grout_cu_result (*event_create)(grout_cu_event *, unsigned flags); /* cuEventCreate */
    grout_cu_result (*event_record)(grout_cu_event, grout_cu_stream);  /* cuEventRecord */
    grout_cu_result (*event_synchronize)(grout_cu_event);              /* cuEventSynchronize */
    grout_cu_result (*event_elapsed_time)(float *ms, grout_cu_event, grout_cu_event);
    grout_cu_result (*event_destroy)(grout_cu_event);            /* cuEventDestroy */
    grout_cu_tensor_map_encode_tiled *tensor_map_encode_tiled;   /* cuTensorMapEncodeTiled */
    grout_cu_tensor_map_encode_im2col *tensor_map_encode_im2col; /* cuTensorMapEncodeIm2col */
} grout_cu_api;

/* nvrtcResult and nvrtcProgram; NVRTC 'Error Handling', 'Compilation'. */
typedef int grout_nvrtc_result;
enum { GROUT_NVRTC_SUCCESS = 0, GROUT_NVRTC_COMPILATION = 6 };
typedef struct grout_nvrtc_program_object *grout_nvrtc_program;

typedef struct grout_nvrtc_api {
    const char *(*get_error_string)(grout_nvrtc_result);   /* nvrtcGetErrorString */
    grout_nvrtc_result (*version)(int *major, int *minor); /* nvrtcVersion */
    /* nvrtcCreateProgram */
    grout_nvrtc_result (*create_program)(grout_nvrtc_program *, const char *source,
                                         const char *name, int header_count,
                                         const char *const *headers,
                                         const char *const *include_names);
    grout_nvrtc_result (*destroy_program)(grout_nvrtc_program *); /* nvrtcDestroyProgram */
    /* nvrtcCompileProgram */
    grout_nvrtc_result (*compile_program)(grout_nvrtc_program, int option_count,
                                          const char *const *options);
    grout_nvrtc_result (*get_ptx_size)(grout_nvrtc_program, size_t *);   /* nvrtcGetPTXSize */
    grout_nvrtc_result (*get_ptx)(grout_nvrtc_program, char *);          /* nvrtcGetPTX */
    grout_nvrtc_result (*get_cubin_size)(grout_nvrtc_program, size_t *); /* nvrtcGetCUBINSize */
    grout_nvrtc_result (*get_cubin)(grout_nvrtc_program, char *);        /* nvrtcGetCUBIN */
    grout_nvrtc_result (*get_log_size)(grout_nvrtc_program, size_t *); /* nvrtcGetProgramLogSize */
    grout_nvrtc_result (*get_log)(grout_nvrtc_program, char *);        /* nvrtcGetProgramLog */
} grout_nvrtc_api;

#endif
