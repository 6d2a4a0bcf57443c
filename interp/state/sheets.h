/*
 * sheets.h - long rows of words that are nearly alike, such as the clock sets of many barriers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row is a tree of sheets, each of 64 words: those of the row at its leaves, above them numbers
 * of sheets. Rows have the sheets in common in which they are alike; a sheet of zeros is no sheet.
 * So a row that differs from another one in few words takes few sheets, however long it is. All are
 * in a pool of the machine, by number, so that a copy of the pool is a copy of the rows.
 */
#ifndef GROUT_INTERP_SHEETS_H
#define GROUT_INTERP_SHEETS_H

#include "machine.h"

/* Bytes of an item of the pool. */
extern const uint32_t grout_sheet_size;

/* Keeps a row of count words. like: a row of as many that has much in common with it; 0: none. The
 * number of the row; 0 if it is all zeros, or without memory, which the machine notes. */
uint32_t grout_sheets__keep(grout_machine *machine, const uint32_t *words, size_t count,
                            uint32_t like);
/* One more who has the row. */
uint32_t grout_sheets__share(grout_machine *machine, uint32_t row);
/* One less; the last one frees it. */
void grout_sheets__drop(grout_machine *machine, uint32_t row, size_t count);
void grout_sheets__read(const grout_machine *machine, uint32_t row, size_t count, uint32_t *words);
/* One word of it. */
uint32_t grout_sheets__get(const grout_machine *machine, uint32_t row, size_t count, size_t index);

#endif
