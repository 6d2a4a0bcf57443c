/* slot_flag.h - the flag of a register, whatever it says: that it is undefined, or has wrapped.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_INTERP_SLOT_FLAG_H
#define GROUT_INTERP_SLOT_FLAG_H

#include "machine.h"

static inline uint8_t grout_slot__get_flag(const grout_cta *cta, uint32_t thread,
                                           const grout_slot *slot) {
    return slot->is_constant ? 0 : grout_cta__registers(cta, thread)[slot->flag];
}
static inline void grout_slot__set_flag(const grout_cta *cta, uint32_t thread,
                                        const grout_slot *slot, uint8_t flag) {
    grout_cta__registers(cta, thread)[slot->flag] = flag;
}

#endif
