/*
 * cluster_cancel.h - launch control: clusters that have not begun are taken off the launch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_CLUSTER_CANCEL_H
#define GROUT_INTERP_CLUSTER_CANCEL_H

#include "memory.h"

/* A request in full: events, arrival, the answer now or in flight. False: its actor is blocked. */
bool grout_cluster_cancel__request(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
/* The cluster that the bytes of an answer name, or -1. */
int32_t grout_cluster_cancel__read(const grout_machine *machine, const grout_box *box);

#endif
