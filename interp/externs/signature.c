/*
 * signature.c - the C types of elements, and of a kernel's parameters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "signature.h"

#include "invariant.h"

static ffi_type *get_signed_type(uint8_t bytes) {
    return bytes == 1   ? &ffi_type_sint8
           : bytes == 2 ? &ffi_type_sint16
           : bytes == 4 ? &ffi_type_sint32
                        : &ffi_type_sint64;
}

static ffi_type *get_unsigned_type(uint8_t bytes) {
    return bytes == 1   ? &ffi_type_uint8
           : bytes == 2 ? &ffi_type_uint16
           : bytes == 4 ? &ffi_type_uint32
                        : &ffi_type_uint64;
}

ffi_type *grout_signature__get_scalar(grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->class_ == GROUT_CLASS_SINT) {
        return get_signed_type(info->bytes);
    }
    if (info->class_ == GROUT_CLASS_FLOAT && info->bytes >= sizeof(float)) {
        return info->bytes == sizeof(float) ? &ffi_type_float : &ffi_type_double;
    }
    return get_unsigned_type(info->bytes);
}

void grout_signature__init(grout_signature *signature, const grout_module *bound,
                           const grout_kernel *kernel) {
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(bound, kernel, i);
        signature->types[i] = param->direction == GROUT_DIRECTION_SCALAR
                                  ? grout_signature__get_scalar((grout_dtype)param->dtype)
                                  : &ffi_type_pointer;
    }
    const ffi_status status = ffi_prep_cif(&signature->cif, FFI_DEFAULT_ABI, kernel->param_count,
                                           &ffi_type_uint8, signature->types);
    /* it fails for types and conventions that libffi does not know */
    GROUT_ASSERT(status == FFI_OK);
    (void)status;
}
