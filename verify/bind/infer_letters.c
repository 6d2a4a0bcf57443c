/* infer_letters.c - the operands of an operation against the letters of its form (ops.def): kinds,
 * before any rule of its own. Spaces of references are checked by verify_memory.c, from the same
 * letters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

#include <stdio.h>
#include <string.h>

/* The word for an operand in the form's syntax line: "parity" of "op mbarrier, parity". */
typedef struct operand_word {
    char chars[32];
} operand_word;

static operand_word get_word(const grout_op *op, uint32_t index) {
    const char *at = strstr(grout_op_get_info((grout_opcode)op->opcode)->syntax, "op ");
    operand_word word = {{0}};
    at = at == NULL ? "" : at + 3;
    for (uint32_t k = 0; k < index && *at != '\0'; k++) {
        at += strcspn(at, ",");
        at += strspn(at, ", ");
    }
    size_t size = strcspn(at, ", ");
    snprintf(word.chars, sizeof word.chars, "%.*s", (int)size, at);
    return word;
}

static bool check_integer(grout_binding *binding, const grout_op *op, uint32_t index) {
    char what[96];
    snprintf(what, sizeof what, "the operand '%s' of '%s'", get_word(op, index).chars,
             grout_infer__get_mnemonic(op));
    return grout_infer__check_scalar(binding, op, index, GROUT_DTYPE_I32, what);
}

static bool check_option(grout_binding *binding, const grout_op *op, uint32_t index) {
    char what[96];
    snprintf(what, sizeof what, "the operand '%s' of '%s'", get_word(op, index).chars,
             grout_infer__get_mnemonic(op));
    return grout_infer__check_scalar(binding, op, index, GROUT_DTYPE_BOOL, what);
}

static bool check_constant(grout_binding *binding, const grout_op *op, uint32_t index) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    if (operand->kind == GROUT_OPERAND_EXPR) {
        return grout_infer__set_constant(binding, op, index, GROUT_DTYPE_I32);
    }
    grout_binding__report(binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
                          "'%s' takes a constant here: the instruction holds the number",
                          grout_infer__get_mnemonic(op));
    grout_infer__help_operands(binding, op);
    return false;
}

/* The type of an operand that is a register value and no object, or NULL. */
static const grout_type *find_value_type(const grout_binding *binding,
                                         const grout_operand *operand) {
    if (operand->kind != GROUT_OPERAND_VALUE ||
        grout_module_get_value(binding->module, operand->id)->object != 0) {
        return NULL;
    }
    return &binding->bound->value_types[operand->id];
}

/* Whether an array value stands where the op reads SMEM: reported, with what to do. */
static bool is_array_for_smem(grout_binding *binding, const grout_op *op, uint32_t index) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    const grout_type *type = find_value_type(binding, operand);
    const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, index);
    if (type == NULL || type->kind != GROUT_TYPE_ARRAY || effect == NULL ||
        effect->access != GROUT_ACCESS_READ) {
        return false;
    }
    grout_binding__report(binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
                          "'%s' reads '%s' from SMEM, and %s is a value, %s",
                          grout_infer__get_mnemonic(op), get_word(op, index).chars,
                          grout_infer__get_operand_text(binding, op, index).chars,
                          grout_type__get_text(type).chars);
    grout_diags_help(binding->diags, "store it to SMEM, then commit_smem");
    return true;
}

/* A reference or an array value. */
static grout_type get_memory_or_array(grout_binding *binding, const grout_op *op, uint32_t index) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    const grout_type *type = find_value_type(binding, operand);
    if (type == NULL || type->kind > GROUT_TYPE_ARRAY) {
        return grout_infer__get_reference(binding, op, index, GROUT_TYPE_REF);
    }
    if (type->kind != GROUT_TYPE_NONE && type->kind != GROUT_TYPE_ARRAY) {
        grout_binding__report(binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
                              "'%s' takes a reference to memory or an array here, and %s is %s",
                              grout_infer__get_mnemonic(op),
                              grout_infer__get_operand_text(binding, op, index).chars,
                              grout_type__get_text(type).chars);
        grout_infer__help_operands(binding, op);
        return (grout_type){.kind = GROUT_TYPE_NONE};
    }
    return *type;
}

/* The usual case of grout_infer__get_value without its call: a value whose type is known. */
static bool take_value(const grout_binding *binding, const grout_op *op, uint32_t index,
                       grout_type *type) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    if (operand->kind != GROUT_OPERAND_VALUE ||
        binding->bound->value_types[operand->id].kind > GROUT_TYPE_ARRAY) {
        return false;
    }
    *type = binding->bound->value_types[operand->id];
    return true;
}

/* The type of an operand by its letter; false after a report. */
static bool check_letter(grout_binding *binding, const grout_op *op, uint32_t index,
                         const grout_letter_info *info, grout_type *type) {
    static const grout_type i32 = {.kind = GROUT_TYPE_SCALAR, .dtype = GROUT_DTYPE_I32};
    switch ((grout_letter_kind)info->kind) {
    case GROUT_LETTER_VALUE:
    case GROUT_LETTER_BOXED:
    case GROUT_LETTER_SCALAR:
        if (!take_value(binding, op, index, type)) {
            *type = grout_infer__get_value(binding, op, index);
        }
        break;
    case GROUT_LETTER_INDICES:
    case GROUT_LETTER_ROWS:
        *type = grout_infer__get_value(binding, op, index);
        return type->kind != GROUT_TYPE_NONE &&
               grout_infer__check_indices(binding, op, index, type);
    case GROUT_LETTER_MASK:
    case GROUT_LETTER_OPTIONAL_MASK:
        *type = grout_infer__get_value(binding, op, index);
        return grout_infer__check_mask(binding, op, index, type);
    case GROUT_LETTER_INTEGER:
        *type = i32;
        return check_integer(binding, op, index);
    case GROUT_LETTER_OPTION:
        *type = (grout_type){.kind = GROUT_TYPE_SCALAR, .dtype = GROUT_DTYPE_BOOL};
        return check_option(binding, op, index);
    case GROUT_LETTER_CONSTANT:
        *type = i32;
        return check_constant(binding, op, index);
    case GROUT_LETTER_MEMORY:
        if (info->space == GROUT_EFFECT_SPACE_SMEM && is_array_for_smem(binding, op, index)) {
            *type = i32;
            return false;
        }
        *type = grout_infer__get_reference(binding, op, index, GROUT_TYPE_REF);
        break;
    case GROUT_LETTER_MEMORY_OR_ARRAY:
        *type = get_memory_or_array(binding, op, index);
        break;
    case GROUT_LETTER_BARRIER:
        *type = grout_infer__get_reference(binding, op, index, GROUT_TYPE_BARRIER);
        break;
    case GROUT_LETTER_SEMAPHORE:
        *type = grout_infer__get_reference(binding, op, index, GROUT_TYPE_SEMAPHORE);
        break;
    case GROUT_LETTER_AXIS: /* the parser and the builder make nothing else */
    case GROUT_LETTER_TEXT:
    case GROUT_LETTER_REST: /* the rule's */
        *type = i32;
        return true;
    }
    return type->kind != GROUT_TYPE_NONE;
}

bool grout_infer__check_letters(grout_binding *binding, const grout_op *op,
                                grout_type types[GROUT_LETTERS_MAX]) {
    const grout_op_info *own = grout_op_get_info((grout_opcode)op->opcode);
    const char *letters = own->operands[0] == '\0' ? "*" : own->operands;
    uint32_t count = own->shape == GROUT_SHAPE_PLAIN ? op->operand_count : 0;
    bool ok = true;
    for (uint32_t k = count; k < GROUT_LETTERS_MAX; k++) {
        types[k] = (grout_type){.kind = GROUT_TYPE_NONE};
    }
    for (uint32_t k = 0; k < count; k++) {
        grout_type spare;
        const grout_letter_info *info = grout_letter_get_info(*letters);
        bool fits = check_letter(binding, op, k, info, k < GROUT_LETTERS_MAX ? &types[k] : &spare);
        ok = ok && fits;
        letters += letters[1] != '\0' ? 1 : 0; /* the last is for all that follow */
    }
    return ok;
}
