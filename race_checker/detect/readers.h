/*
 * readers.h - which of the accesses beside the last write a region keeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_READERS_H
#define GROUT_RACE_CHECKER_READERS_H

#include "rules.h"

/* Keeps a read, or a write that is not the last any more: the newest of its actor and op. However
 * many there are, none is forgotten that an access to come may be in conflict with. False without
 * memory. */
bool grout_readers__keep(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                         const grout_entry *entry);

#endif
