/* verify_tcgen05.c - the tensor core of Blackwell: which hardware has an operation or a memory,
 * tensor memory, tcgen05_mma, barriers that order the tensor core.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "tmem.h"

#include <inttypes.h>

/* ---- hardware -------------------------------------------------------------------------------- */

static const char *get_generation_text(grout_generation generation) {
    return generation == GROUT_GENERATION_HOPPER ? "Hopper (sm_90a)"
                                                 : "Blackwell (sm_100a, sm_103a, sm_110a)";
}

/* How the kernel becomes one of that generation. */
static const char *get_way_to(const grout_verifying *verifying, grout_generation generation) {
    const bool is_hopper = generation == GROUT_GENERATION_HOPPER;
    if (verifying->is_asked) {
        return is_hopper ? "say --arch sm_90a" : "say --arch sm_100a";
    }
    return is_hopper ? "write 'attr arch = \"sm_90a\"' after the kernel's axes"
                     : "write 'attr arch = \"sm_100a\"' after the kernel's axes";
}

static void check_generation(grout_verifying *verifying, const grout_op *op) {
    const grout_generation generation = grout_op_get_generation((grout_opcode)op->opcode);
    if (grout_arch_has(verifying->arch, generation)) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_UNSUPPORTED_ARCH, op->loc,
                            "'%s' is an operation of %s, and the kernel is for %s",
                            grout_verify__get_text(op), get_generation_text(generation),
                            grout_arch_get_text(verifying->arch));
    grout_diags_help(verifying->diags, "on %s: %s; or %s", grout_arch_get_text(verifying->arch),
                     grout_op_get_instead((grout_opcode)op->opcode),
                     get_way_to(verifying, generation));
}

/* An object in a memory, or a barrier of a kind, that the hardware does not have. */
static void check_object_generation(grout_verifying *verifying, const grout_object *object) {
    const grout_space_info *info = grout_space_get_info((grout_space)object->space);
    const grout_generation generation = object->orders_tensor_core
                                            ? GROUT_GENERATION_BLACKWELL
                                            : (grout_generation)info->generation;
    if (grout_arch_has(verifying->arch, generation)) {
        return;
    }
    const bool is_hopper = generation == GROUT_GENERATION_HOPPER;
    grout_verifying__report(
        verifying, GROUT_DIAG_UNSUPPORTED_ARCH, object->loc,
        "%s is %s of %s, and the kernel is "
        "for %s",
        grout_value__get_text(verifying->module, object->value, "the object").chars,
        object->orders_tensor_core ? "a barrier that orders the tensor core, which is"
        : is_hopper                ? "an accumulator in registers, which is"
                                   : "an array in tensor memory, which is",
        get_generation_text(generation), grout_arch_get_text(verifying->arch));
    grout_diags_help(verifying->diags, "%s; or %s",
                     object->orders_tensor_core
                         ? "wgmma_wait says when the tensor core is done: leave "
                           "'orders_tensor_core' out"
                     : is_hopper ? "tcgen05_mma adds to an array in tmem: 'tmem f32[128, 64]'"
                                 : "wgmma adds to an accumulator: 'acc f32[64, 128]'",
                     get_way_to(verifying, generation));
}

static void check_objects(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    grout_value_id first;
    const uint32_t count = grout_op_get_made_objects(module, op, &first);
    for (uint32_t k = 0; k < count; k++) {
        const grout_object_id id = grout_module_get_value(module, first + k)->object;
        const grout_object *object = grout_module_get_object(module, id);
        check_object_generation(verifying, object);
        if (object->kind == GROUT_OBJECT_ARRAY && grout_space_needs_tensor_order(object->space) &&
            !grout_tmem__check_object(module, id, verifying->diags)) {
            verifying->ok = false;
        }
    }
}

/* ---- operands -------------------------------------------------------------------------------- */

/* The object in tensor memory that an operand is, or 0; *is_bad_out: its declaration has been
 * reported. */
static grout_object_id find_tmem(const grout_verifying *verifying, const grout_operand *operand,
                                 bool *is_bad_out) {
    grout_view view;
    const grout_object *object = grout_verify__find_object(verifying, operand, &view);
    if (object == NULL || object->kind != GROUT_OBJECT_ARRAY ||
        !grout_space_needs_tensor_order(object->space)) {
        return 0;
    }
    *is_bad_out |= !grout_tmem__check_object(verifying->module, view.object, NULL);
    return view.object;
}

/* Products of integers are of the first Blackwell alone (PTX ISA 9.1, 'tcgen05.mma'). */
static void check_integers(grout_verifying *verifying, const grout_op *op,
                           const grout_tcgen05 *mma) {
    if (mma->product.accumulator_dtype != GROUT_DTYPE_I32 ||
        verifying->arch == GROUT_ARCH_SM_100A || verifying->arch == GROUT_ARCH_ANY) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_UNSUPPORTED_ARCH, op->loc,
                            "'%s' of integers is there on sm_100a alone, and the kernel is for %s",
                            grout_verify__get_text(op), grout_arch_get_text(verifying->arch));
    grout_diags_help(verifying->diags,
                     "cast the operands to f8e4m3 or bf16, or multiply on sm_100a");
}

/* Whether there is anything to say that the declarations and the hardware have not said. */
static bool can_plan(const grout_verifying *verifying, const grout_op *op) {
    bool is_bad = false;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        (void)find_tmem(verifying, grout_module_get_operand(verifying->module, op, k), &is_bad);
    }
    return !is_bad && grout_arch_has(verifying->arch, GROUT_GENERATION_BLACKWELL);
}

static void check_mma(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    grout_tcgen05 mma;
    if (!can_plan(verifying, op)) {
        return;
    }
    if (!grout_tcgen05_plan(verifying->module, id, &mma, verifying->diags)) {
        verifying->ok = false;
        return;
    }
    check_integers(verifying, op, &mma);
}

/* A copy to tensor memory; an operand in another space has been reported. */
static void check_copy(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    const grout_module *module = verifying->module;
    grout_tcgen05_copy kind;
    const grout_type from =
        grout_module_get_operand_type(module, grout_module_get_operand(module, op, 0));
    const grout_type to =
        grout_module_get_operand_type(module, grout_module_get_operand(module, op, 1));
    if (from.space == GROUT_SPACE_SMEM && grout_space_needs_tensor_order(to.space) &&
        can_plan(verifying, op) && !grout_tcgen05_copy_plan(module, id, &kind, verifying->diags)) {
        verifying->ok = false;
    }
}

/* What only copies write, and only products read. */
static bool refuse_table(grout_verifying *verifying, const grout_op *op,
                         const grout_operand *operand, const grout_object *object) {
    grout_verifying__report(
        verifying, GROUT_DIAG_BAD_TMEM, operand->loc,
        "'%s' takes elements that lie row by row, and %s holds %s", grout_verify__get_text(op),
        grout_value__get_text(verifying->module, object->value, "the array").chars,
        object->is_scales ? "scales, 32 rows of which share a column" : "metadata of a sparse a");
    grout_diags_help(verifying->diags, "%s",
                     object->is_scales ? "async_copy_scales_to_tmem writes it, and "
                                         "tcgen05_mma_scaled reads it"
                                       : "async_copy_sparse_metadata_to_tmem writes it, and "
                                         "tcgen05_mma_sp reads it");
    return false;
}

/* The slice that a load or a store takes. */
static void check_access(grout_verifying *verifying, const grout_op *op) {
    bool is_bad = false;
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 0);
    const grout_object_id id = find_tmem(verifying, operand, &is_bad);
    if (id == 0 || is_bad) {
        return;
    }
    const grout_object *object = grout_module_get_object(verifying->module, id);
    const bool is_table = object->is_scales || object->is_metadata;
    if (is_table ? !refuse_table(verifying, op, operand, object)
                 : !grout_tmem__check_slice(verifying->module, operand, verifying->diags)) {
        verifying->ok = false;
    }
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* A copy by TMA arrives once for its thread, and bytes that a store brings are no arrival. */
static bool counts_threads(const grout_op *op) {
    const uint8_t row = grout_op_get_info((grout_opcode)op->opcode)->effect_row;
    return row == GROUT_EFFECT_ROW_COPY_IN || row == GROUT_EFFECT_ROW_STORE_ASYNC;
}

/* A barrier that orders the tensor core counts threads: an engine or a copy makes one arrival. What
 * arrives with every lane, or before anything seals what was done to tensor memory, takes none. */
static void check_barrier(grout_verifying *verifying, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const uint32_t index = grout_op_find_letter((grout_opcode)op->opcode, 'b');
    grout_view view;
    if (sync == NULL || sync->arrival != GROUT_SYNC_ARRIVAL_LATER || index == UINT32_MAX ||
        counts_threads(op)) {
        return;
    }
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, index);
    const grout_object *object = grout_verify__find_object(verifying, operand, &view);
    const bool is_commit = sync->tensor == GROUT_SYNC_TENSOR_SEALS;
    if (object == NULL || object->kind != GROUT_OBJECT_BARRIER || object->is_explicit ||
        object->orders_tensor_core == is_commit) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, operand->loc,
                            is_commit ? "'%s' arrives on a barrier that orders the tensor core, "
                                        "and %s does not"
                                      : "'%s' cannot arrive on %s, which orders the tensor core: "
                                        "that counts threads, and this arrives with every lane",
                            grout_verify__get_text(op),
                            grout_verify__get_name(verifying, &view).chars);
    grout_verify__note_object(verifying, view.object);
    grout_diags_help(verifying->diags, "%s",
                     is_commit ? "write 'orders_tensor_core' after the barrier"
                               : "use two barriers: one without 'orders_tensor_core' for this, "
                                 "and one with it for the tensor core");
}

void grout_verify__tcgen05(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    const grout_rule rule = (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
    check_generation(verifying, op);
    check_objects(verifying, op);
    check_barrier(verifying, op);
    if (rule == GROUT_RULE_TCGEN05) {
        check_mma(verifying, id, op);
    } else if (rule == GROUT_RULE_TCGEN05_COPY) {
        check_copy(verifying, id, op);
    } else if (rule == GROUT_RULE_LOAD || rule == GROUT_RULE_STORE) {
        check_access(verifying, op);
    }
}
