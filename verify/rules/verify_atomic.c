/* verify_atomic.c - atomics and reductions: which element types go with which memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "type.h"

#include <stdio.h>

#define DTYPE(name) (1u << GROUT_DTYPE_##name)
#define INT32       (DTYPE(I32) | DTYPE(U32))
#define INT64       (DTYPE(I64) | DTYPE(U64))
#define HALF        (DTYPE(F16) | DTYPE(BF16))

static grout_type get_type(const grout_verifying *verifying, const grout_op *op, uint32_t operand) {
    return grout_module_get_operand_type(verifying->module,
                                         grout_module_get_operand(verifying->module, op, operand));
}

/* "i32, u32 or f32" */
static void add_dtypes(uint32_t dtypes, grout_text *out) {
    const char *separator = "";
    for (uint32_t k = 0; k < GROUT_DTYPE_COUNT; k++) {
        if ((dtypes >> k & 1u) != 0) {
            bool is_last = dtypes >> k == 1;
            grout_text_add(out, "%s%s", is_last && *separator != '\0' ? " or " : separator,
                           grout_dtype_get_info((grout_dtype)k)->text);
            separator = ", ";
        }
    }
}

static void report_dtype(grout_verifying *verifying, grout_loc_id loc, const char *what,
                         uint8_t dtype, uint32_t dtypes, const char *help) {
    grout_text texts = {.allocator = verifying->module->allocator};
    add_dtypes(dtypes, &texts);
    grout_verifying__report(verifying, GROUT_DIAG_TYPE_CLASS, loc, "%s takes %s, not %s", what,
                            texts.data == NULL ? "other types" : texts.data,
                            grout_dtype_get_info((grout_dtype)dtype)->text);
    grout_diags_help(verifying->diags, "%s", help);
    grout_text_free(&texts);
}

/* ---- atomics --------------------------------------------------------------------------------- */

/* What 'red' takes, or a loop around 'atom.cas' (PTX ISA 9.1). */
static uint32_t get_atomic_dtypes(const grout_op_info *info) {
    if (info->types == GROUT_TYPES_WORD) {
        return INT32;
    }
    return INT32 | HALF | (info->update == GROUT_UPDATE_ADD ? DTYPE(F32) : 0);
}

static void check_atomic(grout_verifying *verifying, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    if (info->update == GROUT_UPDATE_NONE) {
        return;
    }
    grout_type type = get_type(verifying, op, 0);
    uint32_t dtypes = get_atomic_dtypes(info);
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 0);
    if (type.kind != GROUT_TYPE_REF || !grout_space_takes_stores(type.space)) {
        return;
    }
    if ((dtypes >> type.dtype & 1u) == 0) {
        char what[96];
        snprintf(what, sizeof what, "'%s' on %s", grout_verify__get_text(op),
                 grout_space_get_text(type.space));
        report_dtype(verifying, operand->loc, what, type.dtype, dtypes,
                     "hold the array in a type that the hardware updates");
    }
    const grout_choice order = grout_op_get_choice(verifying->module, op, GROUT_ATTR_ORDER);
    if (type.rank > 0 && order != GROUT_CHOICE_NONE && order != GROUT_CHOICE_ORDER_RELAXED) {
        grout_verifying__report(verifying, GROUT_DIAG_SHAPE_MISMATCH, operand->loc,
                                "an ordered '%s' works on one element, and this is %s",
                                grout_verify__get_text(op), grout_type__get_text(&type).chars);
        grout_diags_help(verifying->diags,
                         "index every dimension; or leave the order away, and release by a "
                         "barrier, a semaphore or an atomic of one element");
    }
}

/* ---- reductions by the TMA engine and by st.async ---------------------------------------------
 */

/* PTX ISA 9.1 'cp.reduce.async.bulk.tensor'. */
static uint32_t get_copy_dtypes(grout_choice choice) {
    if (choice == GROUT_CHOICE_REDUCE_ADD) {
        return INT32 | INT64 | HALF | DTYPE(F32);
    }
    if (choice == GROUT_CHOICE_REDUCE_MIN || choice == GROUT_CHOICE_REDUCE_MAX) {
        return INT32 | INT64 | HALF;
    }
    return choice == GROUT_CHOICE_REDUCE_INC || choice == GROUT_CHOICE_REDUCE_DEC ? DTYPE(U32)
                                                                                  : INT32 | INT64;
}

/* PTX ISA 9.1 'red.async'. */
static uint32_t get_store_dtypes(grout_choice choice) {
    return choice == GROUT_CHOICE_REDUCE_ADD ? INT32 | DTYPE(U64) : INT32;
}

static void check_reduce(grout_verifying *verifying, const grout_op *op) {
    const grout_attr_value *attr = grout_module_find_attr(verifying->module, op, GROUT_ATTR_REDUCE);
    if (attr == NULL || attr->choice == GROUT_CHOICE_NONE) {
        return;
    }
    grout_choice choice = (grout_choice)attr->choice;
    bool is_store = grout_op_get_letter((grout_opcode)op->opcode, 0) == 'v';
    grout_type type = get_type(verifying, op, 1);
    uint32_t dtypes = is_store ? get_store_dtypes(choice) : get_copy_dtypes(choice);
    char what[96];
    snprintf(what, sizeof what, "reduce(%s) of '%s'", grout_choice_get_info(choice)->text,
             grout_verify__get_text(op));
    if (is_store && (choice == GROUT_CHOICE_REDUCE_INC || choice == GROUT_CHOICE_REDUCE_DEC)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                                "'%s' reduces with add, min, max, and, or and xor, not with %s",
                                grout_verify__get_text(op), grout_choice_get_info(choice)->text);
        grout_diags_help(verifying->diags, "add 1, or reduce into GMEM with copy_smem_to_gmem");
    } else if (type.kind == GROUT_TYPE_REF && (dtypes >> type.dtype & 1u) == 0) {
        report_dtype(verifying, attr->loc, what, type.dtype, dtypes,
                     "hold both arrays in such a type");
    }
}

void grout_verify__atomic(grout_verifying *verifying, const grout_op *op) {
    check_atomic(verifying, op);
    check_reduce(verifying, op);
}
