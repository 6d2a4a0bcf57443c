/*
 * tma_rows.h - copies by TMA of rows that indices name: a row at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The box of the array in GMEM is its row 0. That of SMEM has all rows, row i that of index i.
 */
#ifndef GROUT_INTERP_TMA_ROWS_H
#define GROUT_INTERP_TMA_ROWS_H

#include "memory.h"

static inline bool grout_tma_rows__is_mode_of(const grout_inst *inst) {
    return inst->u.copy.row_count > 0;
}

typedef struct grout_tma_rows {
    const grout_cta *cta;
    const grout_inst *inst;
    const grout_box *array; /* its row 0 */
    const uint8_t *indices; /* i32, one each: in registers, or noted in a slot */
} grout_tma_rows;

/* The rows that the registers of an actor name. */
grout_tma_rows grout_tma_rows__begin(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                     const grout_box *array);
/* Those that are noted. */
grout_tma_rows grout_tma_rows__resume(const grout_cta *cta, const grout_inst *inst,
                                      const grout_box *array, const uint8_t *noted);
/* Notes the indices: what a later walk needs. */
void grout_tma_rows__note(const grout_tma_rows *rows, uint8_t *noted);

/* ---- the issue ------------------------------------------------------------------------------- */

/* True: some index is not what the hardware takes, or not what oob(..) promises, which has been
 * reported. An index that nobody has written is reported too. */
bool grout_tma_rows__refuses(const grout_tma_rows *rows, uint32_t actor, bool is_store);
/* ACCESS: the rows inside the array, as the op's effect row has its box of GMEM. */
void grout_tma_rows__publish(const grout_tma_rows *rows, uint32_t actor, const grout_stamp *stamps);
/* The box in SMEM becomes as defined as the rows are now; and the other way round. */
void grout_tma_rows__define_smem(const grout_tma_rows *rows, const grout_box *smem);
void grout_tma_rows__define_rows(const grout_tma_rows *rows, uint32_t actor, const grout_box *smem);
/* Two rows of SMEM that go to one row of the array and differ are a fault. */
void grout_tma_rows__check_places(const grout_tma_rows *rows, uint32_t actor,
                                  const grout_box *smem);
/* As grout_capture__take: the old values of bytes that an engine must not see yet, and 1 for each
 * such byte; false: there are none. */
bool grout_tma_rows__capture(const grout_tma_rows *rows, uint32_t actor, uint8_t *linear,
                             uint8_t *stale);

/* ---- the engine ------------------------------------------------------------------------------ */

/* All rows, one after another, to the machine's linear scratch; what lies outside as oob(..) says.
 */
void grout_tma_rows__read(const grout_tma_rows *rows);
void grout_tma_rows__write(const grout_tma_rows *rows, const uint8_t *linear);
/* The bytes of the rows that mask has become poison. */
void grout_tma_rows__spoil(const grout_tma_rows *rows, const uint8_t *mask);

#endif
