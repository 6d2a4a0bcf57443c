/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_counts.h - how much a module of PTX has. */
#ifndef GROUT_INTERNAL_PTX_COUNTS_H
#define GROUT_INTERNAL_PTX_COUNTS_H

#include "grout/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many entries with a body the module has. */
uint32_t grout_ptx_module_get_entry_count(const grout_ptx_module *module);
/* How many instructions the module has, those of its functions too. */
uint32_t grout_ptx_module_get_instruction_count(const grout_ptx_module *module);

#ifdef __cplusplus
}
#endif
#endif
