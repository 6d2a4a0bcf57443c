/*
 * check_ffi_api.c - compares doors/xla/ffi_api.h with the header of a jaxlib, at compile time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * cc -std=c11 -fsyntax-only -I xla -I $(python3 -c 'import jax; print(jax.ffi.include_dir())')
 * python/tests/check_ffi_api.c
 */
#include <xla/ffi/api/c_api.h>

#include "ffi_api.h"

#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours)
#define SAME_PLACE(ours, our_field, theirs, their_field)                                     \
    _Static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) &&             \
                       sizeof(((ours *)0)->our_field) == sizeof(((theirs *)0)->their_field), \
                   #ours "." #our_field)

SAME(GROUT_XLA_MAJOR, XLA_FFI_API_MAJOR);
_Static_assert(GROUT_XLA_MINOR <= XLA_FFI_API_MINOR, "jaxlib is older than what was looked at");

SAME(GROUT_XLA_INVALID_ARGUMENT, XLA_FFI_Error_Code_INVALID_ARGUMENT);
SAME(GROUT_XLA_RESOURCE_EXHAUSTED, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED);
SAME(GROUT_XLA_INTERNAL, XLA_FFI_Error_Code_INTERNAL);
SAME(GROUT_XLA_PRED, XLA_FFI_DataType_PRED);
SAME(GROUT_XLA_S8, XLA_FFI_DataType_S8);
SAME(GROUT_XLA_S16, XLA_FFI_DataType_S16);
SAME(GROUT_XLA_S32, XLA_FFI_DataType_S32);
SAME(GROUT_XLA_S64, XLA_FFI_DataType_S64);
SAME(GROUT_XLA_U8, XLA_FFI_DataType_U8);
SAME(GROUT_XLA_U16, XLA_FFI_DataType_U16);
SAME(GROUT_XLA_U32, XLA_FFI_DataType_U32);
SAME(GROUT_XLA_U64, XLA_FFI_DataType_U64);
SAME(GROUT_XLA_F16, XLA_FFI_DataType_F16);
SAME(GROUT_XLA_F32, XLA_FFI_DataType_F32);
SAME(GROUT_XLA_F64, XLA_FFI_DataType_F64);
SAME(GROUT_XLA_BF16, XLA_FFI_DataType_BF16);
SAME(GROUT_XLA_F8E5M2, XLA_FFI_DataType_F8E5M2);
SAME(GROUT_XLA_F8E4M3FN, XLA_FFI_DataType_F8E4M3FN);
SAME(GROUT_XLA_F8E8M0FNU, XLA_FFI_DataType_F8E8M0FNU);
SAME(GROUT_XLA_METADATA, XLA_FFI_Extension_Metadata);
SAME(GROUT_XLA_IS_CAPTURABLE, XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE);
SAME(GROUT_XLA_BUFFER, XLA_FFI_ArgType_BUFFER);
SAME(GROUT_XLA_BUFFER, XLA_FFI_RetType_BUFFER);
SAME(GROUT_XLA_ARRAY, XLA_FFI_AttrType_ARRAY);
SAME(GROUT_XLA_EXECUTE, XLA_FFI_ExecutionStage_EXECUTE);

SAME_PLACE(grout_xla_metadata_extension, base, XLA_FFI_Metadata_Extension, extension_base);
SAME_PLACE(grout_xla_metadata_extension, base.type, XLA_FFI_Metadata_Extension,
           extension_base.type);
SAME_PLACE(grout_xla_metadata_extension, base.next, XLA_FFI_Metadata_Extension,
           extension_base.next);
SAME_PLACE(grout_xla_metadata_extension, metadata, XLA_FFI_Metadata_Extension, metadata);
SAME_PLACE(grout_xla_metadata, struct_size, XLA_FFI_Metadata, struct_size);
SAME_PLACE(grout_xla_metadata, version, XLA_FFI_Metadata, api_version);
SAME_PLACE(grout_xla_metadata, traits, XLA_FFI_Metadata, traits);
SAME_PLACE(grout_xla_metadata, state_type, XLA_FFI_Metadata, state_type_id);
SAME_PLACE(grout_xla_version, struct_size, XLA_FFI_Api_Version, struct_size);
SAME_PLACE(grout_xla_version, extension_start, XLA_FFI_Api_Version, extension_start);
SAME_PLACE(grout_xla_version, major_version, XLA_FFI_Api_Version, major_version);
SAME_PLACE(grout_xla_version, minor_version, XLA_FFI_Api_Version, minor_version);
SAME_PLACE(grout_xla_buffer, dtype, XLA_FFI_Buffer, dtype);
SAME_PLACE(grout_xla_buffer, data, XLA_FFI_Buffer, data);
SAME_PLACE(grout_xla_buffer, rank, XLA_FFI_Buffer, rank);
SAME_PLACE(grout_xla_buffer, dims, XLA_FFI_Buffer, dims);
SAME_PLACE(grout_xla_buffers, size, XLA_FFI_Args, size);
SAME_PLACE(grout_xla_buffers, types, XLA_FFI_Args, types);
SAME_PLACE(grout_xla_buffers, buffers, XLA_FFI_Args, args);
SAME_PLACE(grout_xla_buffers, size, XLA_FFI_Rets, size);
SAME_PLACE(grout_xla_buffers, types, XLA_FFI_Rets, types);
SAME_PLACE(grout_xla_buffers, buffers, XLA_FFI_Rets, rets);
SAME_PLACE(grout_xla_span, chars, XLA_FFI_ByteSpan, ptr);
SAME_PLACE(grout_xla_span, size, XLA_FFI_ByteSpan, len);
SAME_PLACE(grout_xla_array, dtype, XLA_FFI_Array, dtype);
SAME_PLACE(grout_xla_array, size, XLA_FFI_Array, size);
SAME_PLACE(grout_xla_array, data, XLA_FFI_Array, data);
SAME_PLACE(grout_xla_attrs, size, XLA_FFI_Attrs, size);
SAME_PLACE(grout_xla_attrs, types, XLA_FFI_Attrs, types);
SAME_PLACE(grout_xla_attrs, names, XLA_FFI_Attrs, names);
SAME_PLACE(grout_xla_attrs, attrs, XLA_FFI_Attrs, attrs);
SAME_PLACE(grout_xla_error_args, message, XLA_FFI_Error_Create_Args, message);
SAME_PLACE(grout_xla_error_args, code, XLA_FFI_Error_Create_Args, errc);
SAME_PLACE(grout_xla_stream_args, context, XLA_FFI_Stream_Get_Args, ctx);
SAME_PLACE(grout_xla_stream_args, stream, XLA_FFI_Stream_Get_Args, stream);
SAME_PLACE(grout_xla_api, struct_size, XLA_FFI_Api, struct_size);
SAME_PLACE(grout_xla_api, version, XLA_FFI_Api, api_version);
SAME_PLACE(grout_xla_api, error_create, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME_PLACE(grout_xla_api, stream_get, XLA_FFI_Api, XLA_FFI_Stream_Get);
SAME_PLACE(grout_xla_frame, struct_size, XLA_FFI_CallFrame, struct_size);
SAME_PLACE(grout_xla_frame, extension_start, XLA_FFI_CallFrame, extension_start);
SAME_PLACE(grout_xla_frame, api, XLA_FFI_CallFrame, api);
SAME_PLACE(grout_xla_frame, context, XLA_FFI_CallFrame, ctx);
SAME_PLACE(grout_xla_frame, stage, XLA_FFI_CallFrame, stage);
SAME_PLACE(grout_xla_frame, args, XLA_FFI_CallFrame, args);
SAME_PLACE(grout_xla_frame, rets, XLA_FFI_CallFrame, rets);
SAME_PLACE(grout_xla_frame, attrs, XLA_FFI_CallFrame, attrs);
