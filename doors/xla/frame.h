/*
 * frame.h - what stands in a call frame of XLA, and what a handler answers.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_XLA_FRAME_H
#define GROUT_XLA_FRAME_H

#include "grout-internal/xla.h"

#include "ffi_api.h"

/* A parameter of the kernel in a custom call: which operand, result and scalar it is; -1: none. */
typedef struct grout_xla_param {
    const char *name; /* borrowed from the module */
    size_t size;      /* bytes of an array */
    int64_t operand, result, scalar;
} grout_xla_param;

/* A kernel's parameters, and how many operands, results and scalars they are. */
typedef struct grout_xla_params {
    const char *kernel; /* its name, borrowed */
    uint32_t count;
    int64_t operands, results, scalars;
    grout_xla_param params[GROUT_XLA_PARAMS_MAX];
} grout_xla_params;

/* The frame asks what the handler is: the answer's place, else NULL. */
grout_xla_metadata *grout_xla__find_metadata(const grout_xla_frame *frame);
/* Says what it is to a runtime of this version. */
void grout_xla__answer(grout_xla_metadata *metadata, const grout_xla_version *runtime,
                       bool is_capturable);

/* Whether the runtime passes all that is read here; else bad-argument. */
bool grout_xla__check_frame(const grout_xla_frame *frame, grout_diags *diags);
/* The arguments of a call. 'inout' arrays are the results; sources: what is to be copied there
 * before, by parameter, because the runtime has given an operand elsewhere. NULL: nothing. */
typedef struct grout_xla_arguments {
    grout_argument arguments[GROUT_XLA_PARAMS_MAX];
    const void *sources[GROUT_XLA_PARAMS_MAX];
} grout_xla_arguments;

/* The kernel's arguments, borrowed from the frame; what does not fit is bad-argument. */
bool grout_xla__read_arguments(const grout_xla_frame *frame, const grout_xla_params *params,
                               grout_xla_arguments *out, grout_diags *diags);
/* The stream of the call. An error of the runtime is its result. */
grout_xla_error *grout_xla__get_stream(const grout_xla_frame *frame, void **stream_out);
/* An error of the runtime that says what the list does. */
grout_xla_error *grout_xla__make_error(const grout_xla_frame *frame, const grout_diags *diags);

#endif
