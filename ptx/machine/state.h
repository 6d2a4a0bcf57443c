/* state.h - CTAs that begin and end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_STATE_H
#define GROUT_PTX_STATE_H

#include "machine.h"

/* Numbers of all CTAs, none of them resident. False without memory. */
bool grout_ptx__init_ctas(ptx_machine *machine);
void grout_ptx__deinit_ctas(ptx_machine *machine);
/* The next cluster begins; false without memory. There has to be one. */
bool grout_ptx__begin_cluster(ptx_machine *machine);
/* The memory of a cluster that has ended, the i-th resident one. */
void grout_ptx__end_cluster(ptx_machine *machine, size_t index);

#endif
