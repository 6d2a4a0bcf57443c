/* verify_descriptor.c - tensor descriptors: what the driver encodes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "type.h"

#include <inttypes.h>

#define RANK_MAX    5
#define INNER_BYTES 16

static void check_rank(grout_verifying *verifying, const grout_op *op, const grout_type *block) {
    if (block->rank >= 1 && block->rank <= RANK_MAX) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_TMA_BOX, op->loc,
                            "a TMA descriptor has 1 to %d dimensions, and this one %d", RANK_MAX,
                            block->rank);
    grout_diags_help(verifying->diags, "join dimensions of the array");
}

static int64_t get_row_bytes(const grout_type *block) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)block->dtype);
    int64_t elements = block->rank == 0 ? 1 : block->dims[block->rank - 1];
    return elements * info->bytes / info->packed;
}

bool grout_verify__is_narrow(const grout_type *block) {
    return get_row_bytes(block) % INNER_BYTES != 0;
}

static void check_inner(grout_verifying *verifying, const grout_op *op, const grout_type *block) {
    if (!grout_verify__is_narrow(block)) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_TMA_INNER_BYTES, op->loc,
                            "rows of the block have %" PRId64 " bytes: TMA needs a multiple of %d",
                            get_row_bytes(block), INNER_BYTES);
    grout_diags_help(verifying->diags, "take wider rows, or copy with load and store");
}

/* Bytes from row to row of the array, where there is more than one. */
static void check_pitch(grout_verifying *verifying, const grout_operand *operand,
                        const grout_view *view, const grout_type *array) {
    int64_t pitch = grout_dtype_get_info((grout_dtype)array->dtype)->bytes;
    for (uint32_t k = array->rank; k-- > 1;) {
        pitch *= grout_object_get_extent(verifying->module, view->object, k);
        if (array->dims[k - 1] > 1 && pitch % INNER_BYTES != 0 &&
            !verifying->has_bad_pitch[view->object]) {
            verifying->has_bad_pitch[view->object] = true;
            grout_verifying__report(verifying, GROUT_DIAG_TMA_PITCH, operand->loc,
                                    "dimension %" PRIu32 " of %s, %s, has a pitch of %" PRId64
                                    " bytes: TMA needs a multiple of %d",
                                    k - 1, grout_verify__get_name(verifying, view).chars,
                                    grout_type__get_text(array).chars, pitch, INNER_BYTES);
            grout_diags_help(verifying->diags,
                             "pad the rows of the array, or copy with load and store");
            return;
        }
    }
}

void grout_verify__descriptor(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    grout_view view;
    if (grout_op_get_info((grout_opcode)op->opcode)->rule != GROUT_RULE_DESCRIPTOR) {
        return;
    }
    const grout_operand *operand = grout_descriptor_get_array(module, op);
    const grout_object *object = grout_verify__find_object(verifying, operand, &view);
    const grout_type *block = grout_module_get_type(module, op->first_result);
    if (object == NULL) {
        return;
    }
    const grout_type *array = grout_object_get_type(module, view.object);
    if (object->kind != GROUT_OBJECT_ARRAY || object->space != GROUT_SPACE_GMEM) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_SPACE, operand->loc,
                                "a tensor_descriptor describes a gmem array, and %s is %s",
                                grout_verify__get_name(verifying, &view).chars,
                                grout_type__get_text(array).chars);
        grout_diags_help(verifying->diags, "SMEM needs none: it is the other side of the copy");
        return;
    }
    check_rank(verifying, op, block);
    check_inner(verifying, op, block);
    check_pitch(verifying, operand, &view, array);
}
