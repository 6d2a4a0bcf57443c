/* verify_expansion.c - what takes arrays whose elements TMA expands: 'packed' and 'padded' ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "type.h"

#include "grout-internal/register_layout.h"

#include <inttypes.h>
#include <string.h>

/* Whether an operand may be such an array: the source and the target of a box that TMA loads, what
 * it prefetches, and operands of the tensor core. */
static bool takes(const grout_op *op, uint32_t operand) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, operand);
    const size_t count = strlen(info->operands);
    const char letter = info->operands[operand < count ? operand : count]; /* NUL past the last */
    const bool is_tma = info->rule == GROUT_RULE_COPY || info->rule == GROUT_RULE_NONE;
    const bool is_written = effect != NULL && effect->access != GROUT_ACCESS_READ;
    return (is_tma && letter == 'G' && !is_written) || (is_tma && letter == 'H' && is_written) ||
           (info->rule == GROUT_RULE_TCGEN05 && (letter == 'n' || letter == 'h'));
}

static void report_use(grout_verifying *verifying, const grout_op *op, const grout_operand *operand,
                       const grout_type *type) {
    const grout_value_id base = operand->kind == GROUT_OPERAND_REF
                                    ? grout_module_get_ref(verifying->module, operand->id)->base
                                    : operand->id;
    grout_verifying__report(verifying, GROUT_DIAG_TYPE_CLASS, operand->loc,
                            "'%s' takes elements that lie in bytes, and %s is %s",
                            grout_verify__get_text(op),
                            grout_value__get_text(verifying->module, base, "this").chars,
                            grout_type__get_text(type).chars);
    grout_diags_help(verifying->diags,
                     "copy_gmem_to_smem takes packed arrays to padded ones, and tcgen05_mma "
                     "multiplies those: nothing else reads or writes them");
}

/* Rows of a box begin and end at multiples of what TMA expands at once. */
static void check_row(grout_verifying *verifying, const grout_op *op, const grout_operand *operand,
                      const grout_type *type) {
    grout_view view;
    if (!grout_module_get_view(verifying->module, operand, &view) || view.rank == 0) {
        return;
    }
    const uint32_t last = view.rank - 1u;
    const bool is_alone = grout_op_find_letter((grout_opcode)op->opcode, 'G') != UINT32_MAX &&
                          grout_op_find_letter((grout_opcode)op->opcode, 'H') == UINT32_MAX;
    if (is_alone && view.extent[last] > GROUT_EXPANDED_ROW) {
        grout_verifying__report(verifying, GROUT_DIAG_TMA_BOX, operand->loc,
                                "the TMA box takes %" PRId64 " elements of a row of %s, and TMA "
                                "expands %d at once",
                                view.extent[last], grout_type__get_text(type).chars,
                                GROUT_EXPANDED_ROW);
        grout_diags_help(verifying->diags, "prefetch it in parts of %d", GROUT_EXPANDED_ROW);
        return;
    }
    bool fits = view.extent[last] % GROUT_EXPANDED_ROW == 0 &&
                view.start_const[last] % GROUT_EXPANDED_ROW == 0 && !view.is_squeezed[last];
    for (uint32_t k = 0; k < view.start_term_count[last]; k++) {
        const int64_t divisor =
            grout_value_get_known_divisor(verifying->module, view.start_terms[last][k]);
        fits = fits && divisor % GROUT_EXPANDED_ROW == 0;
    }
    if (fits) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_INDEX, operand->loc,
                            "TMA expands %d elements of a row at once, and this slice of %s does "
                            "not begin and end at multiples of it, as far as can be seen",
                            GROUT_EXPANDED_ROW, grout_type__get_text(type).chars);
    grout_diags_help(verifying->diags, "count them, and multiply: ds(%%i * %d, %d)",
                     GROUT_EXPANDED_ROW, GROUT_EXPANDED_ROW);
}

void grout_verify__expansion(grout_verifying *verifying, const grout_op *op) {
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(verifying->module, op, k);
        const grout_type type = grout_module_get_operand_type(verifying->module, operand);
        if (type.kind != GROUT_TYPE_REF || !type.is_expanded) {
            continue;
        }
        if (!takes(op, k)) {
            report_use(verifying, op, operand, &type);
        } else if (!grout_arch_has(verifying->arch, GROUT_GENERATION_BLACKWELL)) {
            grout_verifying__report(verifying, GROUT_DIAG_UNSUPPORTED_ARCH, operand->loc,
                                    "TMA of Blackwell expands 'packed' arrays, and the kernel is "
                                    "for %s",
                                    grout_arch_get_text(verifying->arch));
            grout_diags_help(verifying->diags,
                             "write 'attr arch = \"sm_100a\"' after the kernel's axes");
        } else {
            check_row(verifying, op, operand, &type);
        }
    }
}

void grout_verify__packed_params(grout_verifying *verifying) {
    const grout_kernel *kernel = grout_module_get_kernel(verifying->module, verifying->kernel);
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        const grout_param *param = grout_module_get_param(verifying->module, kernel, k);
        if (param->direction == GROUT_DIRECTION_SCALAR || param->direction == GROUT_DIRECTION_IN ||
            !grout_module_get_object(verifying->module, param->object)->is_packed) {
            continue;
        }
        const grout_object *object = grout_module_get_object(verifying->module, param->object);
        grout_verifying__report(
            verifying, GROUT_DIAG_BAD_TRANSFORM, object->loc,
            "%s is 'packed', which nothing in a kernel writes",
            grout_value__get_text(verifying->module, object->value, "the array").chars);
        grout_diags_help(verifying->diags, "declare it 'in'");
    }
}
