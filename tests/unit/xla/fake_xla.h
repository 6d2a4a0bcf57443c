/*
 * fake_xla.h - a runtime of XLA's FFI for the tests of handlers: call frames, errors, a stream.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_FAKE_XLA_H
#define GROUT_TEST_FAKE_XLA_H

#include "doors/xla/ffi_api.h"
#include "grout-internal/xla.h"

#include <stdio.h>
#include <string.h>

#define FAKE_BUFFERS_MAX 70

typedef grout_xla_error *fake_handler(grout_xla_frame *frame);

struct grout_xla_error {
    int code;
    char message[2000];
};

/* A call: the frame, what it points to, and the error that came last. */
typedef struct fake_call {
    grout_xla_frame frame;
    grout_xla_api api;
    grout_xla_buffer args[FAKE_BUFFERS_MAX], rets[FAKE_BUFFERS_MAX];
    int64_t dims[2][FAKE_BUFFERS_MAX];
    void *pointers[2][FAKE_BUFFERS_MAX];
    int types[2][FAKE_BUFFERS_MAX];
    grout_xla_span name, *names[1];
    grout_xla_array array;
    int attr_type;
    void *attrs[1];
} fake_call;

static struct grout_xla_error fake_error;
static void *fake_stream;
static bool fake_stream_fails;

static inline grout_xla_error *fake_create(grout_xla_error_args *args) {
    fake_error.code = args->code;
    (void)snprintf(fake_error.message, sizeof fake_error.message, "%s", args->message);
    return args->struct_size == sizeof *args ? &fake_error : NULL;
}

static inline grout_xla_error *fake_get_stream(grout_xla_stream_args *args) {
    args->stream = fake_stream;
    if (fake_stream_fails) {
        fake_error.code = 99;
        return &fake_error;
    }
    return NULL;
}

/* Begins a call without buffers, in place: it points into itself. */
static inline void fake_begin(fake_call *call) {
    *call = (fake_call){.frame = {.struct_size = sizeof call->frame, .stage = GROUT_XLA_EXECUTE}};
    call->api = (grout_xla_api){.struct_size = sizeof call->api + 8, /* a newer runtime's */
                                .version = {.minor_version = GROUT_XLA_MINOR},
                                .error_create = fake_create,
                                .stream_get = fake_get_stream};
    call->frame.api = &call->api;
    call->frame.args = (grout_xla_buffers){.types = call->types[0], .buffers = call->pointers[0]};
    call->frame.rets = (grout_xla_buffers){.types = call->types[1], .buffers = call->pointers[1]};
    call->frame.attrs =
        (grout_xla_attrs){.types = &call->attr_type, .names = call->names, .attrs = call->attrs};
}

static inline void fake_add(fake_call *call, bool is_result, int dtype, int64_t count, void *data) {
    grout_xla_buffers *buffers = is_result ? &call->frame.rets : &call->frame.args;
    grout_xla_buffer *buffer = (is_result ? call->rets : call->args) + buffers->size;
    int64_t *dim = &call->dims[is_result][buffers->size];
    *dim = count;
    *buffer = (grout_xla_buffer){
        .struct_size = sizeof *buffer, .dtype = dtype, .data = data, .rank = 1, .dims = dim};
    buffers->types[buffers->size] = GROUT_XLA_BUFFER;
    buffers->buffers[buffers->size++] = buffer;
}

/* The one attribute. */
static inline void fake_add_words(fake_call *call, const char *name, int64_t *words, size_t count) {
    call->name = (grout_xla_span){name, strlen(name)};
    call->names[0] = &call->name;
    call->array = (grout_xla_array){GROUT_XLA_S64, count, words};
    call->attr_type = GROUT_XLA_ARRAY;
    call->attrs[0] = &call->array;
    call->frame.attrs.size = 1;
}

#endif
