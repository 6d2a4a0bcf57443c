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

/* Those that Blackwell has besides. */
static const uint32_t narrow_floats = BIT(F8E4M3) | BIT(F8E5M2) | BIT(F6E2M3) | BIT(F6E3M2);

uint32_t grout_wgmma__get_accumulators(grout_dtype a, grout_dtype b) {
    for (uint32_t k = 0; k < sizeof combinations / sizeof combinations[0]; k++) {
        if ((combinations[k].operands >> a & combinations[k].operands >> b & 1) != 0) {
            return combinations[k].accumulators;
        }
    }
    return 0;
}

uint32_t grout_tcgen05__get_accumulators(grout_dtype a, grout_dtype b, bool is_scaled) {
    const bool are_narrow = (narrow_floats >> a & narrow_floats >> b & 1) != 0;
    const bool are_f4 = a == GROUT_DTYPE_F4E2M1 && b == GROUT_DTYPE_F4E2M1;
    if (is_scaled) {
        return are_narrow || are_f4 ? BIT(F32) : 0;
    }
    return are_narrow ? BIT(F32) | BIT(F16) : grout_wgmma__get_accumulators(a, b);
}
