/*
 * signature.h - the C types of elements, and the signature of a kernel, as libffi has them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_FUNCTIONS_SIGNATURE_H
#define GROUT_FUNCTIONS_SIGNATURE_H

#include "grout-internal/ir.h"

#include <ffi.h>

/* A signature lies where it was made: cif points into it. */
typedef struct grout_signature {
    ffi_cif cif;
    ffi_type **types; /* one for each parameter; the caller's */
} grout_signature;

/* The C type of an element: i8 to u64, float, double and bool are those; a float that C does not
 * have goes by its bits, as an unsigned integer. */
ffi_type *grout_signature__get_scalar(grout_dtype dtype);

/* The signature of a kernel of a bound module: an array is a pointer, a scalar is itself, the
 * result is a bool. signature->types has room for all parameters. */
void grout_signature__init(grout_signature *signature, const grout_module *bound,
                           const grout_kernel *kernel);

#endif
