/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla.h - a kernel as a custom call of XLA, which JAX compiles into its programs.
 *
 * A handler is a C function of XLA's typed FFI (XLA_FFI_Handler, api_version 1 of
 * jax.ffi.register_ffi_target): XLA calls it where the custom call stands, with the buffers of its
 * operands and results. No Python takes part. With a program the handler puts the kernel on XLA's
 * stream; without one it runs the kernel on the CPU, on XLA's buffers.
 */
#ifndef GROUT_XLA_H
#define GROUT_XLA_H

#include "grout/function.h"
#include "grout/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_xla_handler grout_xla_handler;

#define GROUT_XLA_PARAMS_MAX 64

/*
 * Makes the function of a kernel of a bound and verified module, which is borrowed until the
 * handler is freed. program not NULL: calls are launches of it, which is of the same kernel, on
 * XLA's CUDA platform; borrowed until the handler is freed. NULL: for XLA's CPU platform. options:
 * how it runs there; they are copied, 'checked' and report do not count; NULL: the defaults. NULL:
 * reasons in diags, bad-argument if the kernel has more than GROUT_XLA_PARAMS_MAX parameters.
 *
 * The operands of the custom call are the kernel's 'in' and 'inout' arrays in the order of its
 * parameters, its results the 'out' and 'inout' ones; the operand of an 'inout' array should be
 * aliased to its result, or is copied there. All are row-major, without gaps. Elements of less than
 * a byte lie as bytes (u8), two in each. If the kernel has scalars, the attribute "scalars" is an
 * array of 64-bit integers, one for each, whose low bytes are the element.
 *
 * A call checks number and sizes of the buffers. What goes wrong becomes an error of XLA, with the
 * text of the diagnostic; what goes wrong when a kernel runs on the GPU shows as with every kernel.
 * XLA may capture the calls in a CUDA graph if the program is capturable: the handler says so.
 */
GROUT_API grout_xla_handler *grout_xla_handler_new(const grout_module *bound,
                                                   grout_kernel_id kernel,
                                                   const grout_function_options *options,
                                                   grout_gpu_program *program, grout_diags *diags);

/* The function; it belongs to handler. Several OS threads may call it at the same time if the
 * allocator of the options may be used so. To be registered for ever: XLA keeps it. */
GROUT_API grout_any_function *grout_xla_handler_get(const grout_xla_handler *handler);

/* Ends it: no call may come any more, nor be running. NULL is allowed. */
GROUT_API void grout_xla_handler_free(grout_xla_handler *handler);

#ifdef __cplusplus
}
#endif
#endif
