/*
 * async_store.h - st.async: elements from registers to the SMEM of a CTA of the cluster, whose
 * bytes come to a barrier of the same CTA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ASYNC_STORE_H
#define GROUT_INTERP_ASYNC_STORE_H

#include "barrier.h"
#include "memory.h"

/* Takes over a store whose issue has been published: makes it at once, or puts it in flight.
 * record: of the phase that its bytes are in flight to. */
void grout_async_store__start(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                              const grout_box *box, const grout_delivery *delivery,
                              uint32_t record);

#endif
