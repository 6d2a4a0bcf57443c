/* wgmma_types.c - what the tensor core multiplies, and in what it adds up.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wgmma.h"

#define BIT(NAME) (1u << GROUT_DTYPE_##NAME)

/* a is any of the operands, b any of them. */
static const struct {
    uint32_t operands, accumulators;
} combinations[] = {
    {BIT(F16), BIT(F32) | BIT(F16)},
    {BIT(BF16), BIT(F32)},
    {BIT(F32), BIT(F32)},
    {BIT(F8E4M3) | BIT(F8E5M2), BIT(F32) | BIT(F16)},
    {BIT(I8) | BIT(U8), BIT(I32)},
};

/* Those that Blackwell multiplies by each other. */
static const uint32_t narrow_floats =
    BIT(F8E4M3) | BIT(F8E5M2) | BIT(F6E2M3) | BIT(F6E3M2) | BIT(F4E2M1);

uint32_t grout_wgmma__get_accumulators(grout_dtype a, grout_dtype b) {
    for (uint32_t k = 0; k < sizeof combinations / sizeof combinations[0]; k++) {
        if ((combinations[k].operands >> a & combinations[k].operands >> b & 1) != 0) {
            return combinations[k].accumulators;
        }
    }
    return 0;
}

/* f4e2m1 two in a byte, on both sides, is multiplied with scales alone. */
uint32_t grout_tcgen05__get_accumulators(const grout_type *a, const grout_type *b, bool is_scaled) {
    const bool are_narrow = (narrow_floats >> a->dtype & narrow_floats >> b->dtype & 1) != 0;
    const bool are_pairs = a->dtype == GROUT_DTYPE_F4E2M1 && b->dtype == GROUT_DTYPE_F4E2M1 &&
                           !a->is_expanded && !b->is_expanded;
    if (is_scaled) {
        return are_narrow ? BIT(F32) : 0;
    }
    return are_pairs ? 0
           : are_narrow
               ? BIT(F32) | BIT(F16)
               : grout_wgmma__get_accumulators((grout_dtype)a->dtype, (grout_dtype)b->dtype);
}
