/* arguments.c - the arrays of a launch: made, filled, compared, written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include "goes_on.h"
#include "invariant.h"
#include "pulse.h"

#include <stdlib.h>
#include <string.h>

/* What may end work on the elements of an array: the session's diagnostics say so then. */
static bool goes_on_making(void *payload) {
    return grout_diags__ask(payload, "the inputs were made");
}

static bool goes_on_writing(void *payload) {
    return grout_diags__ask(payload, "an output was converted");
}

/* A parameter of a bound kernel. */
typedef struct parameter {
    const grout_module *bound;
    const grout_kernel *kernel;
    const grout_object *object;
    const char *name;
    grout_direction direction;
    grout_type type; /* of an array or scalar */
    uint64_t count;  /* elements */
    uint64_t bytes;
    uint32_t index;
} parameter;

static parameter get_parameter(const grout_module *bound, const grout_kernel *kernel,
                               uint32_t index) {
    GROUT_ASSERT(index < kernel->param_count);
    const grout_param *param = grout_module_get_param(bound, kernel, index);
    const grout_value *value = grout_module_get_value(bound, param->value);
    parameter p = {
        .bound = bound,
        .kernel = kernel,
        .object = grout_module_get_object(bound, param->object),
        .name = grout_module_get_string(bound, value->name),
        .direction = (grout_direction)param->direction,
        .type = *grout_module_get_type(bound, param->value),
        .index = index,
    };
    p.count = (uint64_t)grout_type_get_count(&p.type);
    p.bytes = p.type.kind == GROUT_TYPE_SCALAR
                  ? grout_dtype_get_info((grout_dtype)p.type.dtype)->bytes
                  : (uint64_t)grout_type_get_bytes(&p.type);
    return p;
}

/* ---- files against parameters --------------------------------------------------------------- */

static bool has_same_shape(const grout_npy *npy, const grout_type *type) {
    if (type->kind == GROUT_TYPE_SCALAR) {
        return npy->count == 1;
    }
    return npy->rank == type->rank &&
           (npy->rank == 0 || memcmp(npy->dims, type->dims, npy->rank * sizeof npy->dims[0]) == 0);
}

/* What numpy calls an element type, or the type that is rounded to it. */
static void add_numpy_type(grout_dtype dtype, grout_text *out) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    bool is_raw = info->class_ == GROUT_CLASS_FLOAT && info->bytes < 4 && dtype != GROUT_DTYPE_F16;
    switch ((grout_dtype_class)info->class_) {
    case GROUT_CLASS_BOOL:
        grout_text_add(out, "bool");
        break;
    case GROUT_CLASS_SINT:
        grout_text_add(out, "int%d", 8 * info->bytes);
        break;
    case GROUT_CLASS_UINT:
        grout_text_add(out, "uint%d", 8 * info->bytes);
        break;
    case GROUT_CLASS_FLOAT:
    case GROUT_CLASS_NONE:
        grout_text_add(out, "float%d", is_raw ? 32 : 8 * info->bytes);
        break;
    }
}

static void help_type(grout_session *session, const parameter *p) {
    grout_text type = {0};
    add_numpy_type((grout_dtype)p->type.dtype, &type);
    const char *text = type.data == NULL ? "" : type.data;
    grout_diags_help(session->diags, "save it as %s: %s.astype('%s')", text, p->name, text);
    grout_text_free(&type);
}

/* The value that -D gives a const, as text, or NULL. */
static const char *find_define(const grout_session *session, const char *name) {
    const char *value, *found = NULL;
    size_t size = strlen(name);
    for (size_t i = 0;
         (value = grout_options__get_use(&session->options, GROUT_OPTION_DEFINE, i)) != NULL; i++) {
        if (strncmp(value, name, size) == 0 && value[size] == '=') {
            found = value + size + 1;
        }
    }
    return found;
}

/* Why a dimension is not the file's: it is no const, or -D gave the const. */
static void help_dimension(grout_session *session, const parameter *p, uint32_t dim) {
    grout_expr_id id = p->object->type.dims[dim];
    const grout_expr *expr = grout_module_get_expr(p->bound, id);
    if (expr->kind == GROUT_EXPR_INT) {
        grout_diags_help(session->diags, "dimension %u of %%%s is a fixed number in the kernel",
                         dim, p->name);
        return;
    }
    if (expr->kind != GROUT_EXPR_NAME) {
        grout_text text = {0};
        grout_expr_print(p->bound, id, &text);
        grout_diags_help(session->diags,
                         "dimension %u of %%%s is '%s': only a const alone takes a file's size",
                         dim, p->name, text.data == NULL ? "" : text.data);
        grout_text_free(&text);
        return;
    }
    const char *name =
        grout_module_get_string(p->bound, grout_module_get_const(p->bound, expr->constant)->name);
    const char *value = find_define(session, name);
    if (value != NULL) {
        grout_diags_help(session->diags, "-D %s=%.40s was given; without it the file says %s", name,
                         value, name);
    } else {
        grout_diags_help(session->diags, "inputs bind the const %s, expected files do not", name);
    }
}

static void help_shape(grout_session *session, const grout_binding *binding, const parameter *p) {
    const grout_npy *npy = &binding->npy;
    if (npy->rank != p->type.rank) {
        grout_diags_help(session->diags, "'%s' has %u dimension%s, %%%s has %u", binding->path,
                         npy->rank, npy->rank == 1 ? "" : "s", p->name, p->type.rank);
        return;
    }
    for (uint32_t dim = 0; dim < npy->rank; dim++) {
        if (npy->dims[dim] != p->type.dims[dim]) {
            help_dimension(session, p, dim);
            return;
        }
    }
}

/* A file of bytes for a type of less than 8 bits: each has to be an element of it. */
static bool check_bits(grout_session *session, const grout_binding *binding, const parameter *p) {
    const grout_dtype dtype = (grout_dtype)p->type.dtype;
    const int64_t index = grout_npy_find_misfit(&binding->npy, dtype);
    if (index < 0) {
        return true;
    }
    grout_diags_add(session->diags, GROUT_DIAG_BAD_NPY, grout_binding__get_place(binding),
                    "element %lld of '%s' is the byte 0x%02x, which is no %s", (long long)index,
                    binding->path, binding->npy.data[index], grout_dtype_get_info(dtype)->text);
    grout_diags_help(session->diags,
                     "one element a byte, in its low %d bits; the file is never packed",
                     grout_dtype_get_info(dtype)->bits);
    return false;
}

/* Whether an array in memory can be it: its elements are of the parameter's type, says who gives
 * it.
 */
static bool check_given(grout_session *session, const grout_binding *binding, const parameter *p) {
    if (has_same_shape(&binding->npy, &p->type) && binding->given->size == p->bytes) {
        return true;
    }
    grout_text type = {0};
    grout_type_print(&p->type, &type);
    grout_diags_add(session->diags, GROUT_DIAG_SHAPE_CONFLICT, grout_nowhere,
                    "%%%s is %s, which has %llu bytes; %zu bytes of another shape are given",
                    p->name, type.data == NULL ? "" : type.data, (unsigned long long)p->bytes,
                    binding->given->size);
    grout_text_free(&type);
    return false;
}

/* Whether a file can be the value of the parameter; a diagnostic if not. */
static bool check_file(grout_session *session, const grout_binding *binding, const parameter *p) {
    const grout_npy *npy = &binding->npy;
    if (binding->given != NULL) {
        return check_given(session, binding, p);
    }
    bool fits_type = grout_npy_can_convert(npy, (grout_dtype)p->type.dtype);
    if (fits_type && has_same_shape(npy, &p->type)) {
        return check_bits(session, binding, p);
    }
    grout_text file = {0}, type = {0};
    grout_npy_describe(npy, &file);
    grout_type_print(&p->type, &type);
    grout_diags_add(session->diags, fits_type ? GROUT_DIAG_SHAPE_CONFLICT : GROUT_DIAG_BAD_NPY,
                    grout_binding__get_place(binding), "'%s' holds %s, but %%%s is %s",
                    binding->path, file.data == NULL ? "" : file.data, p->name,
                    type.data == NULL ? "" : type.data);
    if (fits_type) {
        help_shape(session, binding, p);
    } else {
        help_type(session, p);
    }
    grout_text_free(&file);
    grout_text_free(&type);
    return false;
}

static bool check_generator(grout_session *session, const grout_binding *binding,
                            const parameter *p) {
    if (grout_generator_fits(&binding->generator, (grout_dtype)p->type.dtype)) {
        return true;
    }
    grout_text text = {0};
    grout_generator_print(&binding->generator, &text);
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_binding__get_place(binding),
                    "--input %s: %s does not fit elements of type %s", p->name,
                    text.data == NULL ? "" : text.data,
                    grout_dtype_get_info((grout_dtype)p->type.dtype)->text);
    grout_text_free(&text);
    return false;
}

/* Whether somebody says what it holds, where its list of elements does not. */
static bool check_list(grout_session *session, const parameter *p) {
    const grout_param *param = grout_module_get_param(p->bound, p->kernel, p->index);
    const grout_init_id id = grout_param_get_written_init(p->bound, p->kernel, p->index);
    if (param->init == id || id == 0) { /* a reference has what its kernel says */
        return true;
    }
    const grout_init *init = grout_module_get_init(p->bound, id);
    grout_diags_add(session->diags, GROUT_DIAG_BAD_INIT,
                    grout_module_get_place(p->bound, init->loc),
                    "%%%s has %llu element%s at this size, and the list %u", p->name,
                    (unsigned long long)p->count, p->count == 1 ? "" : "s", (unsigned)init->count);
    grout_diags_help(session->diags, "say what it holds: --input %s=FILE.npy, or %s=ints", p->name,
                     p->name);
    return false;
}

static bool check_input(grout_session *session, const grout_bindings *bindings,
                        const parameter *p) {
    const grout_binding *input = grout_bindings__find(bindings, GROUT_BINDING_INPUT, p->name);
    const grout_binding *expected = grout_bindings__find(bindings, GROUT_BINDING_EXPECT, p->name);
    bool is_good = true;
    if (input != NULL && p->direction != GROUT_DIRECTION_OUT) {
        is_good = input->path != NULL ? check_file(session, input, p)
                                      : check_generator(session, input, p);
    } else if (p->direction != GROUT_DIRECTION_OUT) {
        is_good = check_list(session, p);
    }
    if (expected != NULL &&
        (p->direction == GROUT_DIRECTION_OUT || p->direction == GROUT_DIRECTION_INOUT)) {
        is_good = check_file(session, expected, p) && is_good;
    }
    return is_good;
}

/* ---- making --------------------------------------------------------------------------------- */

bool grout_argument_set__check_memory(grout_session *session, uint64_t bytes) {
    const grout_host *host = session->host;
    uint64_t memory = host->get_memory(host->payload);
    uint64_t limit = grout_options__get_count(&session->options, GROUT_OPTION_MAX_MEMORY, memory);
    const uint64_t used = grout_session__get_used_memory(session);
    if (limit == 0 || (bytes <= limit && used <= limit - bytes)) {
        return true;
    }
    grout_diags_add(
        session->diags, GROUT_DIAG_OUT_OF_MEMORY, grout_nowhere,
        "the kernel's arrays take %llu MiB, %s is %llu MiB", (unsigned long long)(bytes >> 20),
        grout_options__has(&session->options, GROUT_OPTION_MAX_MEMORY) ? "--max-memory"
                                                                       : "this machine's memory",
        (unsigned long long)(limit >> 20));
    grout_diags_help(session->diags, "smaller sizes: -D NAME=VALUE");
    return false;
}

/* Some loads need aligned data, and a file's header may have any size. */
static bool can_borrow(const grout_npy *npy, const parameter *p) {
    return p->direction == GROUT_DIRECTION_IN && (uintptr_t)npy->data % 16 == 0 &&
           grout_npy_is_plain(npy, (grout_dtype)p->type.dtype);
}

static bool can_lend(const grout_given_array *given, const parameter *p) {
    return p->direction == GROUT_DIRECTION_IN && (uintptr_t)given->data % 16 == 0;
}

static bool make_argument(grout_session *session, const grout_bindings *bindings,
                          const parameter *p, grout_argument_set *set) {
    const grout_binding *binding = grout_bindings__find(bindings, GROUT_BINDING_INPUT, p->name);
    GROUT_ASSERT(p->index < set->count);
    grout_argument *argument = &set->arguments[p->index];
    GROUT_ASSERT(argument->data == NULL && set->owned[p->index] == NULL); /* made once */
    argument->size = (size_t)p->bytes;
    set->is_given[p->index] = binding != NULL;
    if (binding != NULL && binding->given != NULL && can_lend(binding->given, p)) {
        argument->data = binding->given->data; /* only read, as below */
        return true;
    }
    if (binding != NULL && binding->given == NULL && binding->path != NULL &&
        can_borrow(&binding->npy, p)) {
        /* An 'in' array is only read: the file's own bytes will do. */
        argument->data =
            binding->bytes.data + (binding->npy.data - (const uint8_t *)binding->bytes.data);
        return true;
    }
    grout_pulse pulse = {.goes_on = goes_on_making, .payload = session->diags};
    argument->data = malloc(argument->size > 0 ? argument->size : 1);
    set->owned[p->index] = argument->data;
    if (argument->data == NULL) {
        return grout_diags_add_oom(session->diags);
    }
    if (p->direction == GROUT_DIRECTION_OUT) {
        memset(argument->data, 0, argument->size); /* the launch poisons it */
    } else if (binding != NULL && binding->given != NULL) {
        memcpy(argument->data, binding->given->data, argument->size);
    } else if (binding != NULL && binding->path != NULL) {
        return grout_npy_fill(&binding->npy, &p->type, argument->data, &pulse);
    } else if (binding != NULL) {
        grout_generator generator = binding->generator;
        generator.stream = p->index;
        return grout_generator_fill_array(&generator, &p->type, argument->data, &pulse);
    } else {
        return grout_param__fill_default(p->bound, p->kernel, p->index, argument->data, &pulse);
    }
    return true;
}

bool grout_argument_set__init(grout_session *session, const grout_bindings *bindings,
                              const grout_module *bound, grout_kernel_id kernel_id,
                              grout_argument_set *out) {
    const grout_kernel *kernel = grout_module_get_kernel(bound, kernel_id);
    bool is_good = true;
    *out = (grout_argument_set){.count = kernel->param_count};
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        parameter p = get_parameter(bound, kernel, i);
        is_good = check_input(session, bindings, &p) && is_good;
        out->bytes += out->bytes > UINT64_MAX - p.bytes ? 0 : p.bytes;
    }
    if (!is_good || !grout_argument_set__check_memory(session, out->bytes)) {
        return false;
    }
    out->arguments = calloc(out->count + 1, sizeof out->arguments[0]);
    out->owned = calloc(out->count + 1, sizeof out->owned[0]);
    out->is_given = calloc(out->count + 1, sizeof out->is_given[0]);
    if (out->arguments == NULL || out->owned == NULL || out->is_given == NULL) {
        return grout_diags_add_oom(session->diags);
    }
    for (uint32_t i = 0; i < kernel->param_count && is_good; i++) {
        parameter p = get_parameter(bound, kernel, i);
        is_good = make_argument(session, bindings, &p, out);
    }
    return is_good;
}

static bool copy_argument(const grout_argument_set *from, size_t index, grout_argument_set *out) {
    const size_t size = from->arguments[index].size;
    out->owned[index] = malloc(size > 0 ? size : 1);
    if (out->owned[index] != NULL) {
        memcpy(out->owned[index], from->arguments[index].data, size);
    }
    out->arguments[index] = (grout_argument){out->owned[index], size};
    return out->owned[index] != NULL;
}

bool grout_argument_set__copy(grout_session *session, const grout_argument_set *arguments,
                              grout_argument_set *out) {
    *out = (grout_argument_set){.bytes = arguments->bytes};
    out->arguments = calloc(arguments->count + 1, sizeof *out->arguments);
    out->owned = calloc(arguments->count + 1, sizeof *out->owned);
    if (out->arguments == NULL || out->owned == NULL) {
        return grout_diags_add_oom(session->diags);
    }
    out->count = arguments->count;
    for (size_t i = 0; i < arguments->count; i++) {
        if (!copy_argument(arguments, i, out)) {
            return grout_diags_add_oom(session->diags);
        }
    }
    return true;
}

void grout_argument_set__deinit(grout_argument_set *set) {
    for (size_t i = 0; set->owned != NULL && i < set->count; i++) {
        free(set->owned[i]);
    }
    free(set->owned);
    free(set->is_given);
    free(set->is_passed_on);
    free(set->arguments);
    *set = (grout_argument_set){0};
}

/* Whether the file's floats have more bits than the parameter's. */
static bool is_rounded(const grout_npy *npy, const parameter *p) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)p->type.dtype);
    return npy->kind == 'f' && info->class_ == GROUT_CLASS_FLOAT && npy->bytes > info->bytes;
}

void grout_argument_set__note_rounding(grout_session *session, const grout_bindings *bindings,
                                       const grout_module *bound, grout_kernel_id kernel_id) {
    const grout_kernel *kernel = grout_module_get_kernel(bound, kernel_id);
    for (size_t i = 0; i < bindings->count && !session->is_quiet; i++) {
        const grout_binding *binding = &bindings->items[i];
        uint32_t index = grout_module_find_param(bound, kernel, binding->param);
        if (binding->bytes.data == NULL || index == UINT32_MAX) {
            continue;
        }
        parameter p = get_parameter(bound, kernel, index);
        if (is_rounded(&binding->npy, &p)) {
            grout_session__note(session, "%s: float%u rounded to %s\n", binding->path,
                                8u * binding->npy.bytes,
                                grout_dtype_get_info((grout_dtype)p.type.dtype)->text);
        }
    }
}

/* ---- results -------------------------------------------------------------------------------- */

static bool write_output(grout_session *session, const grout_binding *binding, const parameter *p,
                         const void *data) {
    grout_dtype from = (grout_dtype)p->type.dtype;
    grout_dtype to = binding->dtype == GROUT_DTYPE_NONE ? from : binding->dtype;
    uint32_t to_bytes = grout_dtype_get_info(to)->bytes;
    uint8_t *converted = NULL;
    grout_pulse pulse = {.goes_on = goes_on_writing, .payload = session->diags};
    if (to != from || grout_dtype_get_info(from)->bits < 8) {
        converted = malloc(p->count > 0 ? (size_t)p->count * to_bytes : 1);
        if (converted == NULL) {
            return grout_diags_add_oom(session->diags);
        }
        for (uint64_t i = 0; i < p->count && grout_pulse__goes_on(&pulse, 1); i++) {
            uint8_t element[8];
            grout_type_get_element(&p->type, data, (int64_t)i, element);
            if (to == from) {
                converted[i] = element[0];
            } else {
                grout_element_from_double(to, grout_element_to_double(from, element),
                                          converted + i * to_bytes);
            }
        }
    }
    if (pulse.is_over) {
        free(converted);
        return false;
    }
    grout_text header = {0};
    grout_npy_print_header(to, p->type.rank, p->type.dims, &header);
    grout_chunk chunks[2] = {
        {.data = header.data, .size = header.size},
        {.data = converted != NULL ? converted : data, .size = (size_t)p->count * to_bytes},
    };
    bool is_written = header.failed ? grout_diags_add_oom(session->diags)
                                    : grout_session__write_file(session, binding->path, chunks, 2);
    grout_text_free(&header);
    free(converted);
    if (is_written && !session->is_quiet) {
        grout_session__note(session, "wrote %s\n", binding->path);
    }
    return is_written;
}

/* The same into memory of the caller. */
static void write_given(const grout_session *session, const parameter *p, const void *data) {
    const grout_given_array *given = grout_given__find_array(session->given, p->name);
    if (given != NULL && given->results != NULL && given->size == p->bytes && p->bytes > 0) {
        memcpy(given->results, data, given->size);
    }
}

bool grout_argument_set__write(grout_session *session, const grout_bindings *bindings,
                               const grout_module *bound, grout_kernel_id kernel_id,
                               const grout_argument_set *set) {
    const grout_kernel *kernel = grout_module_get_kernel(bound, kernel_id);
    bool is_good = true;
    GROUT_ASSERT(set->count == kernel->param_count);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        parameter p = get_parameter(bound, kernel, i);
        const void *data = set->arguments[i].data;
        const grout_binding *output = grout_bindings__find(bindings, GROUT_BINDING_OUTPUT, p.name);
        bool is_result = grout_direction_is_written((uint8_t)p.direction) &&
                         (set->is_passed_on == NULL || !set->is_passed_on[i]);
        if (is_result && output != NULL) {
            is_good = write_output(session, output, &p, data) && is_good;
        }
        if (is_result) {
            write_given(session, &p, data);
        }
    }
    return is_good;
}
