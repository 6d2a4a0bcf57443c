/*
 * vouchers.h - what the readers of a region vouch for.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Outside of tensor memory, whether a reader vouches for the writes to an access is decided by its
 * component, its kind and its number; among those of one component and kind, by the least number.
 * Where a region has many readers, a list beside them has one entry for each component and kind. It
 * is dropped when readers go, or vouch no more.
 */
#ifndef GROUT_RACE_CHECKER_VOUCHERS_H
#define GROUT_RACE_CHECKER_VOUCHERS_H

#include "shadow.h"

/* Entries, *count_out of them, some of which may vouch for nothing (vouches 0): the readers or the
 * list. Good until the region changes. */
const grout_entry *grout_vouchers__get(grout_shadow *shadow, grout_region *region,
                                       uint32_t *count_out);
/* A reader has come, or vouches now. */
void grout_vouchers__note(grout_shadow *shadow, grout_region *region, const grout_entry *reader);
void grout_vouchers__drop(grout_shadow *shadow, grout_region *region);

#endif
