/*
 * externs.c - C functions that kernels call: libffi calls them with the types of the operands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "grout-internal/function.h"

#include "alloc.h"
#include "invariant.h"
#include "signature.h"

#include <stdatomic.h>
#include <string.h>

/* One of the functions, as it is called. */
typedef struct callee {
    grout_any_function *function;
    const atomic_bool *is_stopped; /* the externs' */
    ffi_cif cif;                   /* points into types */
    ffi_type *types[GROUT_EXTERN_OPERANDS_MAX];
    uint8_t result_bytes;
} callee;

struct grout_externs {
    grout_extern items[GROUT_EXTERNS_MAX];
    callee callees[GROUT_EXTERNS_MAX]; /* payloads of the items */
    uint32_t count;
    atomic_bool is_stopped;
    char *names; /* the items' names, each with its NUL */
};

/* libffi widens an integer result to a register, whose low bytes come first. */
static bool call(void *payload, const void *const *arguments, void *result_out) {
    callee *c = payload;
    if (atomic_load(c->is_stopped)) {
        return false;
    }
    void *values[GROUT_EXTERN_OPERANDS_MAX];
    union {
        ffi_arg word;
        double number;
        uint64_t bits;
    } result = {0};
    memcpy(values, (const void *)arguments, c->cif.nargs * sizeof values[0]);
    ffi_call(&c->cif, c->function, &result, values);
    memcpy(result_out, &result, c->result_bytes);
    return !atomic_load(c->is_stopped);
}

static const grout_extern_function *find_function(const grout_extern_function *functions,
                                                  size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return &functions[i];
        }
    }
    return NULL;
}

static void init_callee(callee *c, const grout_module *bound, const grout_op *op,
                        grout_any_function *function) {
    const grout_dtype result = (grout_dtype)grout_module_get_type(bound, op->first_result)->dtype;
    c->function = function;
    c->result_bytes = grout_dtype_get_info(result)->bytes;
    const uint32_t texts = grout_op_count_texts(op);
    GROUT_ASSERT(op->operand_count >= texts &&
                 op->operand_count - texts <= GROUT_EXTERN_OPERANDS_MAX);
    for (uint32_t k = texts; k < op->operand_count; k++) {
        const grout_type type =
            grout_module_get_operand_type(bound, grout_module_get_operand(bound, op, k));
        c->types[k - texts] = grout_signature__get_scalar((grout_dtype)type.dtype);
    }
    const ffi_status status = ffi_prep_cif(&c->cif, FFI_DEFAULT_ABI, op->operand_count - texts,
                                           grout_signature__get_scalar(result), c->types);
    /* it fails for types and conventions that libffi does not know */
    GROUT_ASSERT(status == FFI_OK);
    (void)status;
}

/* The names of the functions that are both called and given, one after the other. */
static bool copy_names(grout_externs *externs, const grout_allocator *allocator) {
    size_t size = 0;
    for (uint32_t i = 0; i < externs->count; i++) {
        size += strlen(externs->items[i].name) + 1;
    }
    externs->names = grout__new(allocator, size + 1, 1);
    char *at = externs->names;
    for (uint32_t i = 0; at != NULL && i < externs->count; i++) {
        const size_t length = strlen(externs->items[i].name) + 1;
        memcpy(at, externs->items[i].name, length);
        externs->items[i].name = at;
        at += length;
    }
    return at != NULL;
}

grout_externs *grout_externs_new(const grout_module *bound, const grout_extern_function *functions,
                                 size_t count, const grout_allocator *allocator,
                                 grout_diags *diags) {
    grout_op_id ops[GROUT_EXTERNS_MAX];
    grout_externs *externs = grout__new(allocator, 1, sizeof *externs);
    if (externs == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    const uint32_t wanted = grout_module_find_externs(bound, ops);
    for (uint32_t i = 0; i < wanted; i++) {
        const grout_op *op = grout_module_get_op(bound, ops[i]);
        const char *name = grout_op_get_extern_name(bound, op);
        const grout_extern_function *found = find_function(functions, count, name);
        if (found != NULL) {
            callee *c = &externs->callees[externs->count];
            init_callee(c, bound, op, found->function);
            c->is_stopped = &externs->is_stopped;
            externs->items[externs->count++] =
                (grout_extern){.name = name, .call = call, .payload = c};
        }
    }
    if (!copy_names(externs, allocator)) {
        grout_diags_add_oom(diags);
        grout_externs_free(externs);
        return NULL;
    }
    return externs;
}

void grout_externs_free(grout_externs *externs) {
    if (externs != NULL) {
        grout__free(externs->names);
        grout__free(externs);
    }
}

void grout_externs_stop(grout_externs *externs) {
    atomic_store(&externs->is_stopped, true);
}

const grout_extern *grout_externs_get(const grout_externs *externs, uint32_t *count_out) {
    *count_out = externs->count;
    return externs->items;
}

bool grout_externs_find(const grout_module *bound, uint32_t index,
                        grout_extern_signature *signature_out) {
    grout_op_id ops[GROUT_EXTERNS_MAX];
    if (index >= grout_module_find_externs(bound, ops)) {
        return false;
    }
    const grout_op *op = grout_module_get_op(bound, ops[index]);
    const uint32_t texts = grout_op_count_texts(op);
    GROUT_ASSERT(op->operand_count - texts <= GROUT_EXTERN_OPERANDS_MAX);
    *signature_out = (grout_extern_signature){
        .name = grout_op_get_extern_name(bound, op),
        .operand_count = op->operand_count - texts,
        .result = (grout_dtype)grout_module_get_type(bound, op->first_result)->dtype};
    for (uint32_t k = texts; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(bound, op, k);
        signature_out->operands[k - texts] =
            (grout_dtype)grout_module_get_operand_type(bound, operand).dtype;
    }
    return true;
}
