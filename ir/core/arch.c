/* arch.c - the hardware that kernels are for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/tables.h"

#include <stddef.h>
#include <string.h>

static const char *const archs[] = {[GROUT_ARCH_SM_90A] = "sm_90a",
                                    [GROUT_ARCH_SM_100A] = "sm_100a",
                                    [GROUT_ARCH_SM_103A] = "sm_103a",
                                    [GROUT_ARCH_SM_110A] = "sm_110a",
                                    [GROUT_ARCH_ANY] = "any"};

bool grout_arch_find(const char *text, grout_arch *arch_out) {
    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
        if (strcmp(text, archs[i]) == 0) {
            *arch_out = (grout_arch)i;
            return true;
        }
    }
    return false;
}

const char *grout_arch_get_text(grout_arch arch) {
    return archs[arch];
}

bool grout_arch_has(grout_arch arch, grout_generation generation) {
    return arch == GROUT_ARCH_ANY || generation == GROUT_GENERATION_ANY ||
           (generation == GROUT_GENERATION_HOPPER) == (arch == GROUT_ARCH_SM_90A);
}
