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

uint32_t grout_wgmma__get_accumulators(grout_dtype a, grout_dtype b) {
    for (uint32_t k = 0; k < sizeof combinations / sizeof combinations[0]; k++) {
        if ((combinations[k].operands >> a & combinations[k].operands >> b & 1) != 0) {
            return combinations[k].accumulators;
        }
    }
    return 0;
}
