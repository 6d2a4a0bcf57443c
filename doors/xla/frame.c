/* frame.c - reading XLA's call frames.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- what the runtime is ---- */

grout_xla_metadata *grout_xla__find_metadata(const grout_xla_frame *frame) {
    const grout_xla_extension *extension = frame->extension_start;
    while (extension != NULL && extension->type != GROUT_XLA_METADATA) {
        extension = extension->next;
    }
    return extension == NULL ? NULL : ((const grout_xla_metadata_extension *)extension)->metadata;
}

void grout_xla__answer(grout_xla_metadata *metadata, const grout_xla_version *runtime,
                       bool is_capturable) {
    metadata->version = (grout_xla_version){.struct_size = sizeof metadata->version,
                                            .major_version = GROUT_XLA_MAJOR,
                                            .minor_version = GROUT_XLA_MINOR};
    metadata->traits = is_capturable ? GROUT_XLA_IS_CAPTURABLE : 0;
    /* struct_size does not count it: the version says whether it is there */
    if (runtime->major_version == GROUT_XLA_MAJOR && runtime->minor_version >= GROUT_XLA_MINOR) {
        metadata->state_type = 0;
    }
}

bool grout_xla__check_frame(const grout_xla_frame *frame, grout_diags *diags) {
    const grout_xla_version *version = &frame->api->version;
    if (version->major_version == GROUT_XLA_MAJOR && frame->struct_size >= sizeof *frame &&
        frame->api->struct_size >= sizeof *frame->api) {
        return true;
    }
    grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, (grout_place){0},
                    "the FFI of this XLA has version %d.%d, and this grout was made for %d.%d",
                    version->major_version, version->minor_version, GROUT_XLA_MAJOR,
                    GROUT_XLA_MINOR);
    grout_diags_help(diags, "take a version of jaxlib that docs/python.md names");
    return false;
}

/* ---- errors ---- */

static int get_error_code(grout_diag_code code) {
    return code == GROUT_DIAG_BAD_ARGUMENT    ? GROUT_XLA_INVALID_ARGUMENT
           : code == GROUT_DIAG_OUT_OF_MEMORY ? GROUT_XLA_RESOURCE_EXHAUSTED
                                              : GROUT_XLA_INTERNAL;
}

grout_xla_error *grout_xla__make_error(const grout_xla_frame *frame, const grout_diags *diags) {
    const grout_render_options options = {0};
    const bool is_known = diags != NULL && grout_diags_count(diags) > 0;
    const grout_diag *first = is_known ? grout_diags_get(diags, 0) : NULL;
    grout_text text = {0};
    grout_xla_error_args args = {.struct_size = sizeof args,
                                 .message = "grout: out of memory",
                                 .code = GROUT_XLA_RESOURCE_EXHAUSTED};
    if (first != NULL) {
        grout_diags_render(diags, &options, &text);
        args.message = text.data != NULL && !text.failed ? text.data : first->message;
        args.code = get_error_code(first->code);
    }
    grout_xla_error *error = frame->api->error_create(&args); /* it copies the text */
    grout_text_free(&text);
    return error;
}

/* ---- arguments ---- */

static bool refuse(const grout_xla_params *params, grout_diags *diags, const char *why) {
    grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, (grout_place){0},
                    "the custom call of kernel '@%s' %s", params->kernel, why);
    grout_diags_help(diags, "let kernel.jax_call make it: it is for one kernel and its sizes");
    return false;
}

/* Bytes of an element; 0: of a type that no kernel has. */
static size_t get_element_bytes(int dtype) {
    switch (dtype) {
    case GROUT_XLA_PRED:
    case GROUT_XLA_S8:
    case GROUT_XLA_U8:
    case GROUT_XLA_F8E5M2:
    case GROUT_XLA_F8E4M3FN:
    case GROUT_XLA_F8E8M0FNU:
        return 1;
    case GROUT_XLA_S16:
    case GROUT_XLA_U16:
    case GROUT_XLA_F16:
    case GROUT_XLA_BF16:
        return 2;
    case GROUT_XLA_S32:
    case GROUT_XLA_U32:
    case GROUT_XLA_F32:
        return 4;
    case GROUT_XLA_S64:
    case GROUT_XLA_U64:
    case GROUT_XLA_F64:
        return 8;
    default:
        return 0;
    }
}

static size_t get_bytes(const grout_xla_buffer *buffer) {
    size_t bytes = get_element_bytes(buffer->dtype);
    for (int64_t i = 0; i < buffer->rank; i++) {
        bytes *= (size_t)buffer->dims[i];
    }
    return bytes;
}

static bool check_counts(const grout_xla_frame *frame, const grout_xla_params *params,
                         grout_diags *diags) {
    char why[160];
    if (frame->args.size == params->operands && frame->rets.size == params->results) {
        return true;
    }
    (void)snprintf(why, sizeof why,
                   "has %" PRId64 " operands and %" PRId64 " results; the kernel has %" PRId64
                   " and %" PRId64,
                   frame->args.size, frame->rets.size, params->operands, params->results);
    return refuse(params, diags, why);
}

/* The buffer of a number; NULL: it is of another kind, or has other bytes than the parameter. */
static const grout_xla_buffer *find_buffer(const grout_xla_buffers *buffers, int64_t number,
                                           const grout_xla_param *param) {
    const grout_xla_buffer *buffer = buffers->buffers[number];
    return buffers->types[number] == GROUT_XLA_BUFFER && get_bytes(buffer) == param->size ? buffer
                                                                                          : NULL;
}

static bool read_array(const grout_xla_frame *frame, const grout_xla_params *params, uint32_t index,
                       grout_xla_arguments *out, grout_diags *diags) {
    const grout_xla_param *param = &params->params[index];
    const grout_xla_buffer *operand =
        param->operand < 0 ? NULL : find_buffer(&frame->args, param->operand, param);
    const grout_xla_buffer *result =
        param->result < 0 ? NULL : find_buffer(&frame->rets, param->result, param);
    const grout_xla_buffer *used = result != NULL ? result : operand;
    char why[200];
    if (used == NULL || (param->operand >= 0 && operand == NULL) ||
        (param->result >= 0 && result == NULL)) {
        (void)snprintf(why, sizeof why, "has other bytes for '%s' than its %zu", param->name,
                       param->size);
        return refuse(params, diags, why);
    }
    out->arguments[index] = (grout_argument){used->data, param->size};
    out->sources[index] = operand != NULL && operand->data != used->data ? operand->data : NULL;
    return true;
}

/* The scalars, one in 8 bytes; NULL: they are not there. */
static uint64_t *find_scalars(const grout_xla_frame *frame, const grout_xla_params *params) {
    static const char name[] = "scalars";
    for (int64_t i = 0; i < frame->attrs.size; i++) {
        const grout_xla_span *span = frame->attrs.names[i];
        const grout_xla_array *array = frame->attrs.attrs[i];
        if (span->size == sizeof name - 1 && memcmp(span->chars, name, span->size) == 0) {
            const bool is_good = frame->attrs.types[i] == GROUT_XLA_ARRAY &&
                                 (array->dtype == GROUT_XLA_S64 || array->dtype == GROUT_XLA_U64) &&
                                 array->size == (size_t)params->scalars;
            return is_good ? array->data : NULL;
        }
    }
    return NULL;
}

bool grout_xla__read_arguments(const grout_xla_frame *frame, const grout_xla_params *params,
                               grout_xla_arguments *out, grout_diags *diags) {
    uint64_t *scalars = NULL;
    if (!check_counts(frame, params, diags)) {
        return false;
    }
    if (params->scalars > 0 && (scalars = find_scalars(frame, params)) == NULL) {
        return refuse(params, diags, "has no attribute 'scalars' with a word for each of them");
    }
    for (uint32_t i = 0; i < params->count; i++) {
        const grout_xla_param *param = &params->params[i];
        if (param->scalar >= 0) {
            out->arguments[i] = (grout_argument){&scalars[param->scalar], param->size};
            out->sources[i] = NULL;
        } else if (!read_array(frame, params, i, out, diags)) {
            return false;
        }
    }
    return true;
}

grout_xla_error *grout_xla__get_stream(const grout_xla_frame *frame, void **stream_out) {
    grout_xla_stream_args args = {.struct_size = sizeof args, .context = frame->context};
    grout_xla_error *error = frame->api->stream_get(&args);
    *stream_out = args.stream;
    return error;
}
