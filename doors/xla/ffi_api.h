/*
 * ffi_api.h - the part of XLA's FFI that a handler sees: the call frame that XLA passes, and the
 * functions that it lends.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Declared here, and not taken from jaxlib, so that grout builds on a machine without JAX. Source:
 * xla/ffi/api/c_api.h, versions 0.3 (jaxlib 0.10.2) and 0.4 (jaxlib 0.11.2), which agree in all of
 * this. python/tests/check_ffi_api.c compares every place, size and number with the header of an
 * installed jaxlib.
 *
 * Structs only grow at their end, and say how many bytes the runtime knows (struct_size).
 */
#ifndef GROUT_XLA_FFI_API_H
#define GROUT_XLA_FFI_API_H

#include <stddef.h>
#include <stdint.h>

/* XLA_FFI_API_MAJOR, and the XLA_FFI_API_MINOR that handlers say they were written for. */
enum { GROUT_XLA_MAJOR = 0, GROUT_XLA_MINOR = 3 };

/* XLA_FFI_Error and XLA_FFI_ExecutionContext: opaque. */
typedef struct grout_xla_error grout_xla_error;
typedef struct grout_xla_context grout_xla_context;

/* XLA_FFI_Error_Code. */
enum { GROUT_XLA_INVALID_ARGUMENT = 3, GROUT_XLA_RESOURCE_EXHAUSTED = 8, GROUT_XLA_INTERNAL = 13 };

/* XLA_FFI_DataType. */
enum {
    GROUT_XLA_PRED = 1,
    GROUT_XLA_S8 = 2,
    GROUT_XLA_S16 = 3,
    GROUT_XLA_S32 = 4,
    GROUT_XLA_S64 = 5,
    GROUT_XLA_U8 = 6,
    GROUT_XLA_U16 = 7,
    GROUT_XLA_U32 = 8,
    GROUT_XLA_U64 = 9,
    GROUT_XLA_F16 = 10,
    GROUT_XLA_F32 = 11,
    GROUT_XLA_F64 = 12,
    GROUT_XLA_BF16 = 16,
    GROUT_XLA_F8E5M2 = 19,
    GROUT_XLA_F8E4M3FN = 20,
    GROUT_XLA_F8E8M0FNU = 33
};

/* The base of an extension: XLA_FFI_Extension_Base in 0.3, XLA_FFI_InternalExtension in 0.4. */
typedef struct grout_xla_extension {
    size_t struct_size;
    int type;
    struct grout_xla_extension *next;
} grout_xla_extension;

/* XLA_FFI_Extension_Metadata: the runtime asks what the handler is, and does not call it. */
enum { GROUT_XLA_METADATA = 1 };

/* XLA_FFI_Api_Version. */
typedef struct grout_xla_version {
    size_t struct_size;
    grout_xla_extension *extension_start;
    int major_version, minor_version;
} grout_xla_version;

/* XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE. */
enum { GROUT_XLA_IS_CAPTURABLE = 1 };

/* XLA_FFI_Metadata and its extension. */
typedef struct grout_xla_metadata {
    size_t struct_size;
    grout_xla_version version;
    uint32_t traits;
    int64_t state_type; /* 0: there is no state */
} grout_xla_metadata;

typedef struct grout_xla_metadata_extension {
    grout_xla_extension base;
    grout_xla_metadata *metadata;
} grout_xla_metadata_extension;

/* XLA_FFI_Buffer; XLA_FFI_ArgType_BUFFER and XLA_FFI_RetType_BUFFER. */
enum { GROUT_XLA_BUFFER = 1 };

typedef struct grout_xla_buffer {
    size_t struct_size;
    grout_xla_extension *extension_start;
    int dtype;
    void *data;
    int64_t rank;
    int64_t *dims;
} grout_xla_buffer;

/* XLA_FFI_Args and XLA_FFI_Rets. */
typedef struct grout_xla_buffers {
    size_t struct_size;
    grout_xla_extension *extension_start;
    int64_t size;
    int *types;
    void **buffers;
} grout_xla_buffers;

/* XLA_FFI_ByteSpan, XLA_FFI_Array, XLA_FFI_AttrType_ARRAY. */
typedef struct grout_xla_span {
    const char *chars;
    size_t size;
} grout_xla_span;

typedef struct grout_xla_array {
    int dtype;
    size_t size;
    void *data;
} grout_xla_array;

enum { GROUT_XLA_ARRAY = 1 };

/* XLA_FFI_Attrs. */
typedef struct grout_xla_attrs {
    size_t struct_size;
    grout_xla_extension *extension_start;
    int64_t size;
    int *types;
    grout_xla_span **names;
    void **attrs;
} grout_xla_attrs;

/* XLA_FFI_Error_Create_Args, XLA_FFI_Stream_Get_Args. */
typedef struct grout_xla_error_args {
    size_t struct_size;
    grout_xla_extension *extension_start;
    const char *message;
    int code;
} grout_xla_error_args;

typedef struct grout_xla_stream_args {
    size_t struct_size;
    grout_xla_extension *extension_start;
    grout_xla_context *context;
    void *stream;
} grout_xla_stream_args;

typedef void grout_xla_unused_function(void);

/* XLA_FFI_Api, up to the last function that is called here. */
typedef struct grout_xla_api {
    size_t struct_size;
    grout_xla_extension *extension_start;
    grout_xla_version version;
    const void *internal_api;
    grout_xla_error *(*error_create)(grout_xla_error_args *args);
    grout_xla_unused_function *error_get_message, *error_destroy, *handler_register;
    grout_xla_error *(*stream_get)(grout_xla_stream_args *args);
} grout_xla_api;

/* XLA_FFI_ExecutionStage_EXECUTE. */
enum { GROUT_XLA_EXECUTE = 3 };

/* XLA_FFI_CallFrame, up to the last field that is read here. */
typedef struct grout_xla_frame {
    size_t struct_size;
    grout_xla_extension *extension_start;
    const grout_xla_api *api;
    grout_xla_context *context;
    int stage;
    grout_xla_buffers args, rets;
    grout_xla_attrs attrs;
} grout_xla_frame;

#endif
