/* mbarrier.h - the 64-bit object of an mbarrier, and what each instruction makes of it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Parallel Synchronization and Communication Instructions: mbarrier': the object is
 * opaque, so the encoding is our own. The fields fill 62 of the 64 bits, two are a mark, and the
 * whole is scrambled: zeros, plain numbers and half overwritten words are not taken for a barrier,
 * and of random words one in sixteen is. A machine that has to be certain also keeps a tag on the 8
 * bytes from init to inval, which every other write takes away.
 *
 * Each function that changes a barrier takes the word by address and leaves it as it was where it
 * fails. After each change the phase completes if nothing is pending and the tx-count is zero
 * ('Phase Completion of the mbarrier object'). Alignment to 8 bytes and the memory order of an
 * instruction (.sem, .scope) are the machine's.
 */
#ifndef GROUT_PTX_MBARRIER_H
#define GROUT_PTX_MBARRIER_H

#include "fault.h"

#include <stdint.h>

enum {
    /* The largest expected and pending count, and the largest tx-count of either sign
     * ('Contents of the mbarrier object'). */
    GROUT_PTX_MBARRIER_MAX = (1 << 20) - 1,
    /* Bytes of the object, and its alignment ('Size and alignment of mbarrier object'). */
    GROUT_PTX_MBARRIER_SIZE = 8
};

/* What the object holds. */
typedef struct grout_ptx_mbarrier {
    uint32_t expected; /* arrivals of the next phase; 0 after everybody has dropped out */
    uint32_t pending;  /* arrivals that this phase still waits for */
    int32_t tx;        /* bytes expected less bytes completed */
    uint32_t phase;    /* parity of the phase that is not complete yet */
} grout_ptx_mbarrier;

/* Fields to word and back. The second is false if the word is not a barrier. */
uint64_t grout_ptx__mbarrier_pack(const grout_ptx_mbarrier *fields);
bool grout_ptx__mbarrier_unpack(uint64_t word, grout_ptx_mbarrier *fields);

/* mbarrier.init: count arrivals a phase, 1 to 2^20 - 1. What the bytes were is not looked at: that
 * a live barrier is not made anew without mbarrier.inval, the machine's tags say. */
bool grout_ptx__mbarrier_init(uint64_t *word, uint32_t count, grout_ptx_fault *fault);

/* mbarrier.inval: the bytes are ordinary and undefined again; the word is zero. */
bool grout_ptx__mbarrier_inval(uint64_t *word, grout_ptx_fault *fault);

/* How an arrive arrives. */
typedef struct grout_ptx_arrival {
    uint32_t count;      /* 1 to 2^20 - 1; 1 where the instruction names none */
    bool has_expect_tx;  /* .expect_tx: expects tx bytes, then arrives, in one step */
    uint32_t tx;         /* those bytes, up to 2^20 - 1 */
    bool is_no_complete; /* .noComplete: may not complete the phase */
    bool is_drop;        /* mbarrier.arrive_drop: the next phases expect count fewer arrivals */
} grout_ptx_arrival;

/* mbarrier.arrive, mbarrier.arrive_drop and their forms. The token is the state before, for
 * test_wait and pending_count. */
bool grout_ptx__mbarrier_arrive(uint64_t *word, const grout_ptx_arrival *how, uint64_t *token,
                                grout_ptx_fault *fault);

/* mbarrier.expect_tx, and mbarrier.complete_tx, which is what an asynchronous copy does for each of
 * its bytes ('Tracking asynchronous operations by the mbarrier object'). */
bool grout_ptx__mbarrier_expect_tx(uint64_t *word, uint32_t bytes, grout_ptx_fault *fault);
bool grout_ptx__mbarrier_complete_tx(uint64_t *word, uint32_t bytes, grout_ptx_fault *fault);

/* mbarrier.test_wait and mbarrier.try_wait with .parity: is_done if the phase of that parity is the
 * one that completed last. The parity is 0 or 1. */
bool grout_ptx__mbarrier_test_parity(uint64_t word, uint32_t parity, bool *is_done,
                                     grout_ptx_fault *fault);

/* The same with the token of an arrive: is_done if the phase of that arrive is complete. */
bool grout_ptx__mbarrier_test_token(uint64_t word, uint64_t token, bool *is_done,
                                    grout_ptx_fault *fault);

/* mbarrier.pending_count: what was pending before the arrive that has given the token. */
bool grout_ptx__mbarrier_pending(uint64_t token, uint32_t *count, grout_ptx_fault *fault);

#endif
