/*
 * reader_index.h - the readers of a region by their ops.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a region has many, a table is beside them, by hash. It has the readers up to a number; a
 * search first adds the rest. It is dropped when numbers change, and made again by the next search.
 */
#ifndef GROUT_RACE_CHECKER_READER_INDEX_H
#define GROUT_RACE_CHECKER_READER_INDEX_H

#include "shadow.h"

/* Each of fewer readers is looked at. */
enum { GROUT_READER_INDEX_MIN = 16 };

/* The last of the readers that are of an op, and the one of the same op before another; NULL: there
 * is none. */
grout_entry *grout_reader_index__find_newest(grout_shadow *shadow, grout_region *region,
                                             grout_op_id op);
grout_entry *grout_reader_index__find_older(const grout_shadow *shadow, const grout_region *region,
                                            const grout_entry *reader);
/* The reader after 'newer' among those of its op leaves; asked before it does. */
void grout_reader_index__unlink_older(const grout_shadow *shadow, const grout_region *region,
                                      const grout_entry *newer);
void grout_reader_index__drop(grout_shadow *shadow, grout_region *region);

#endif
