/*
 * pages.h - SMEM is watched in pages of 1 KiB, the span of the widest swizzle: each has the number
 * of its latest write. The numbers follow from the state and are no part of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_PAGES_H
#define GROUT_INTERP_PAGES_H

#include "machine.h"

#define GROUT_SMEM_PAGE 1024

int64_t grout_smem__get_page_count(const grout_plan *plan);
/* The numbers of a CTA's writes: that of the latest, then by page; NULL without wgmmas. */
uint64_t *grout_smem__get_versions(const grout_machine *machine, uint32_t slot, uint32_t rank);
/* Bytes of SMEM have been written: what was packed of them for wgmmas is void (operand.c).
 * versions: of their CTA, or NULL. */
void grout_smem__touch(uint64_t *versions, int64_t first, int64_t size);

#endif
