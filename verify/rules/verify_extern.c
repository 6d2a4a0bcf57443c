/* verify_extern.c - functions that are called by their names: a name that C takes, and one
 * signature each.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <string.h>

static bool is_identifier(const char *name) {
    const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    return name[0] != '\0' && strchr(letters, name[0]) != NULL &&
           name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789")] ==
               '\0';
}

static bool check_name(grout_verifying *verifying, const grout_op *op, const char *name) {
    const grout_loc_id loc = grout_module_get_operand(verifying->module, op, 0)->loc;
    if (!is_identifier(name)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_EXTERN, loc,
                                "'%.100s' is not the name of a C function", name);
        grout_diags_help(verifying->diags, "letters, digits and '_', the first one no digit");
        return false;
    }
    if (grout_module_find_kernel(verifying->module, name) != 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_EXTERN, loc,
                                "'%.100s' is the name of a kernel of the file, which is a C "
                                "function of the GPU's code too",
                                name);
        grout_diags_help(verifying->diags, "give the function another name");
        return false;
    }
    return true;
}

static bool check_count(grout_verifying *verifying, const grout_op *op) {
    const uint32_t count = op->operand_count - grout_op_count_texts(op);
    if (count <= GROUT_EXTERN_OPERANDS_MAX) {
        return true;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_EXTERN, op->loc,
                            "a function is given at most %d arguments, and these are %u",
                            GROUT_EXTERN_OPERANDS_MAX, (unsigned)count);
    return false;
}

/* The C type of argument k, from 1 on, or of the result: 0. */
static uint8_t get_dtype(const grout_module *module, const grout_op *op, uint32_t k) {
    const uint32_t at = k + grout_op_count_texts(op) - 1;
    return k == 0 ? grout_module_get_type(module, op->first_result)->dtype
                  : grout_module_get_operand_type(module, grout_module_get_operand(module, op, at))
                        .dtype;
}

/* How many types get_dtype has. */
static uint32_t count_types(const grout_op *op) {
    return op->operand_count - grout_op_count_texts(op) + 1;
}

/* "(f32, i32) -> f32" */
static void add_signature(const grout_module *module, const grout_op *op, grout_text *out) {
    grout_text_add(out, "(");
    for (uint32_t k = 1; k < count_types(op); k++) {
        grout_text_add(out, "%s%s", k > 1 ? ", " : "",
                       grout_dtype_get_info((grout_dtype)get_dtype(module, op, k))->text);
    }
    grout_text_add(out, ") -> %s",
                   grout_dtype_get_info((grout_dtype)get_dtype(module, op, 0))->text);
}

/* A C function has no type for elements of less than a byte. */
static bool check_types(grout_verifying *verifying, const grout_op *op) {
    for (uint32_t k = 0; k < count_types(op); k++) {
        const grout_dtype_info *info =
            grout_dtype_get_info((grout_dtype)get_dtype(verifying->module, op, k));
        if (info->bits < 8) {
            grout_verifying__report(verifying, GROUT_DIAG_BAD_EXTERN, op->loc,
                                    "a C function neither takes nor gives %s, which has %d bits",
                                    info->text, info->bits);
            grout_diags_help(verifying->diags, "cast to a type of 8 bits or more around the call");
            return false;
        }
    }
    return true;
}

static bool is_same_signature(const grout_module *module, const grout_op *a, const grout_op *b) {
    bool is_same = count_types(a) == count_types(b);
    for (uint32_t k = 0; is_same && k < count_types(a); k++) {
        is_same = get_dtype(module, a, k) == get_dtype(module, b, k);
    }
    return is_same;
}

static void check_signature(grout_verifying *verifying, const grout_op *op, const grout_op *first,
                            const char *name) {
    const grout_module *module = verifying->module;
    grout_text here = {.allocator = module->allocator}, there = {.allocator = module->allocator};
    if (is_same_signature(module, op, first)) {
        return;
    }
    add_signature(module, op, &here);
    add_signature(module, first, &there);
    grout_verifying__report(
        verifying, GROUT_DIAG_BAD_EXTERN, op->loc, "'%s' is called as %s here, and as %s before",
        name, here.data == NULL ? "" : here.data, there.data == NULL ? "" : there.data);
    grout_diags_note(verifying->diags, grout_module_get_place(module, first->loc), "here");
    grout_diags_help(verifying->diags,
                     "a C function has one signature: cast the operands, or use another function");
    grout_text_free(&here);
    grout_text_free(&there);
}

/* A function of the GPU's code has no other meaning beside it, and PTX one. */
static bool check_meaning(grout_verifying *verifying, const grout_op *op, const grout_op *first,
                          const char *name) {
    const char *here = grout_op_get_ptx(verifying->module, op);
    const char *there = grout_op_get_ptx(verifying->module, first);
    if (here == there || (here != NULL && there != NULL && strcmp(here, there) == 0)) {
        return true;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_EXTERN, op->loc,
                            "'%s' means something else here than before", name);
    grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, first->loc),
                     "here");
    grout_diags_help(verifying->diags, "one function computes one thing: give this one a name of "
                                       "its own");
    return false;
}

void grout_verify__extern(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    const grout_module *module = verifying->module;
    const char *name = grout_op_get_extern_name(module, op);
    if (name == NULL || !check_name(verifying, op, name) || !check_count(verifying, op) ||
        !check_types(verifying, op)) {
        return;
    }
    for (uint32_t i = 0; i < verifying->extern_count; i++) {
        const grout_op *first = grout_module_get_op(module, verifying->externs[i]);
        if (strcmp(grout_op_get_extern_name(module, first), name) == 0) {
            if (check_meaning(verifying, op, first, name)) {
                check_signature(verifying, op, first, name);
            }
            return;
        }
    }
    if (verifying->extern_count == GROUT_EXTERNS_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_EXTERN, op->loc,
                                "a file calls more than %d different functions", GROUT_EXTERNS_MAX);
        return;
    }
    verifying->externs[verifying->extern_count++] = id;
}
