/* mbarriers.h - what asynchronous operations tell mbarriers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_MBARRIERS_H
#define GROUT_PTX_MBARRIERS_H

#include "machine.h"

/* complete_tx of bytes at an address of shared::cluster, seen from the operation's CTA. */
bool grout_ptx__complete_bytes(ptx_machine *machine, ptx_async *async, uint64_t address,
                               uint32_t count);
/* An arrival, count 1, at such an address. */
bool grout_ptx__arrive_at(ptx_machine *machine, ptx_async *async, uint64_t address);

#endif
