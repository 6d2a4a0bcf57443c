/*
 * exec_mma.c - mma: the product of two arrays in registers, added to a third.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * It works as a wgmma does, with sums that lie as those of an accumulator, and is done at once.
 */
#include "accumulator.h"
#include "exec.h"
#include "operand.h"

#include <string.h>

enum { SLOT_C, SLOT_A, SLOT_B };

static const grout_slot *get_slot(const grout_cta *cta, const grout_inst *inst, uint32_t index) {
    return grout_plan__slot(cta->machine->plan, inst, index);
}

/* The machine's buffer as an accumulator of the result's shape. */
static grout_accumulator make_sums(const grout_machine *machine,
                                   const grout_accumulator_plan *plan) {
    const size_t count = (size_t)plan->rows * plan->cols;
    const size_t words = (size_t)(plan->rows + 63) / 64 * plan->cols;
    uint8_t *masks = (uint8_t *)(machine->sums + count);
    return (grout_accumulator){.plan = plan,
                               .count = plan->cols,
                               .values = machine->sums,
                               .masks = (uint64_t *)(void *)masks,
                               .marks = masks + words * sizeof(uint64_t)};
}

/* b as the pack takes it: integers with the neighbours along K side by side. */
static const uint8_t *get_right(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_gemm *gemm) {
    const uint8_t *data = grout_slot__data(cta, thread, get_slot(cta, inst, SLOT_B));
    uint8_t *turned = cta->machine->turned;
    if (!gemm->is_integer) {
        return data;
    }
    for (size_t k = 0; k < gemm->k; k++) {
        for (size_t n = 0; n < gemm->n; n++) {
            turned[n * gemm->k + k] = data[k * gemm->n + n];
        }
    }
    return turned;
}

/* Which elements of an operand are undefined, or NULL: none. */
static const uint8_t *get_mask(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                               uint32_t index) {
    const grout_slot *slot = get_slot(cta, inst, index);
    return grout_slot__is_undefined(cta, thread, slot) ? grout_slot__mask(cta, thread, slot) : NULL;
}

/* The rows of a, and columns of b, that have an undefined element make all their sums undefined. */
static void spread_undefined(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             const grout_accumulator *sums, const grout_gemm *gemm) {
    const uint8_t *left = get_mask(cta, thread, inst, SLOT_A);
    const uint8_t *right = get_mask(cta, thread, inst, SLOT_B);
    grout_accumulator__set_undefined(sums, get_mask(cta, thread, inst, SLOT_C));
    for (size_t i = 0; left != NULL && i < (size_t)gemm->m * gemm->k; i++) {
        if (left[i] != 0) {
            grout_accumulator__spoil_row(sums, (uint32_t)(i / gemm->k));
        }
    }
    for (size_t i = 0; right != NULL && i < (size_t)gemm->k * gemm->n; i++) {
        if (right[i] != 0) {
            grout_accumulator__spoil_column(sums, (uint32_t)(i % gemm->n));
        }
    }
}

grout_outcome grout_exec_mma(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_machine *machine = cta->machine;
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    const grout_gemm *gemm = grout_pool__at(&machine->plan->gemms, product->gemm);
    const grout_slot *to = &inst->result;
    const grout_accumulator_plan shape = {.dtype = to->dtype, .rows = gemm->m, .cols = gemm->n};
    const grout_accumulator sums = make_sums(machine, &shape);
    const grout_operand_source sources[2] = {
        {.plan = &product->a, .rows = grout_slot__data(cta, thread, get_slot(cta, inst, SLOT_A))},
        {.plan = &product->b, .rows = get_right(cta, thread, inst, gemm)}};
    const float *packed[2];
    memset(sums.marks, 0, gemm->n);
    grout_accumulator__store(&sums, grout_slot__data(cta, thread, get_slot(cta, inst, SLOT_C)));
    if (machine->tracks) {
        spread_undefined(cta, thread, inst, &sums, gemm);
    }
    grout_operand__pack(cta, sources, packed);
    grout_gemm__run(gemm, sums.values, packed[0], packed[1]);
    grout_accumulator__mark_product(&sums);
    grout_accumulator__load(&sums, grout_slot__data(cta, thread, to));
    /* The result may lie where an operand did: nothing is written before all has been read. */
    const bool is_undefined = machine->tracks && grout_accumulator__get_undefined(
                                                     &sums, grout_slot__mask(cta, thread, to));
    grout_slot__set_undefined(cta, thread, to, is_undefined);
    return GROUT_OUTCOME_NEXT;
}
