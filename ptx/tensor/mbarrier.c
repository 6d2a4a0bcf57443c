/* mbarrier.c - counts, bytes and phase of an mbarrier, from one word into the next.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mbarrier.h"

enum { TX_BIAS = 1 << 20, COUNT_MASK = (1 << 20) - 1, TX_MASK = (1 << 21) - 1 };
enum { EXPECTED_AT = 20, TX_AT = 40, PHASE_AT = 61, MARK_AT = 62 };
enum { MARK_BARRIER = 2, MARK_TOKEN = 1 };

/* Odd, so that the product can be undone: INVERSE * SCRAMBLE is 1 modulo 2^64. */
static const uint64_t SCRAMBLE = 0x9e3779b97f4a7c15u, INVERSE = 0xf1de83e19937733du;

/* Undoes itself. */
static uint64_t fold(uint64_t bits) {
    return bits ^ bits >> 32;
}

static uint64_t scramble(uint64_t plain) {
    return fold(fold(fold(plain) * SCRAMBLE) * SCRAMBLE);
}

static uint64_t unscramble(uint64_t word) {
    return fold(fold(fold(word) * INVERSE) * INVERSE);
}

static uint64_t pack(const grout_ptx_mbarrier *fields, uint64_t mark) {
    const uint64_t tx = (uint32_t)(fields->tx + TX_BIAS);
    return scramble(fields->pending | (uint64_t)fields->expected << EXPECTED_AT | tx << TX_AT |
                    (uint64_t)fields->phase << PHASE_AT | mark << MARK_AT);
}

static bool unpack(uint64_t word, uint64_t mark, grout_ptx_mbarrier *fields) {
    const uint64_t plain = unscramble(word);
    fields->pending = (uint32_t)(plain & COUNT_MASK);
    fields->expected = (uint32_t)(plain >> EXPECTED_AT & COUNT_MASK);
    fields->tx = (int32_t)(plain >> TX_AT & TX_MASK) - TX_BIAS;
    fields->phase = (uint32_t)(plain >> PHASE_AT & 1);
    return plain >> MARK_AT == mark && fields->tx > -TX_BIAS;
}

uint64_t grout_ptx__mbarrier_pack(const grout_ptx_mbarrier *fields) {
    return pack(fields, MARK_BARRIER);
}

/* A phase with nothing left to wait for would be complete, unless nobody is expected any more. More
 * may be pending than is expected: cp.async.mbarrier.arrive without .noinc adds to it. */
bool grout_ptx__mbarrier_unpack(uint64_t word, grout_ptx_mbarrier *fields) {
    return unpack(word, MARK_BARRIER, fields) &&
           (fields->pending != 0 || fields->tx != 0 || fields->expected == 0);
}

static bool get(uint64_t word, grout_ptx_mbarrier *fields, grout_ptx_fault *fault) {
    if (!grout_ptx__mbarrier_unpack(word, fields)) {
        return grout_ptx__fail(fault, "no mbarrier is at this address: its 8 bytes were never "
                                      "initialised with mbarrier.init, or were overwritten");
    }
    return true;
}

static void put(uint64_t *word, grout_ptx_mbarrier *fields) {
    if (fields->pending == 0 && fields->tx == 0) {
        fields->phase ^= 1;
        fields->pending = fields->expected;
    }
    *word = grout_ptx__mbarrier_pack(fields);
}

bool grout_ptx__mbarrier_init(uint64_t *word, uint32_t count, grout_ptx_fault *fault) {
    if (count == 0 || count > GROUT_PTX_MBARRIER_MAX) {
        return grout_ptx__fail(fault, "mbarrier.init with a count of %u: 1 to 1048575", count);
    }
    *word = grout_ptx__mbarrier_pack(&(grout_ptx_mbarrier){count, count, 0, 0});
    return true;
}

bool grout_ptx__mbarrier_inval(uint64_t *word, grout_ptx_fault *fault) {
    grout_ptx_mbarrier fields;
    if (!get(*word, &fields, fault)) {
        return false;
    }
    *word = 0;
    return true;
}

/* Adds to the tx-count, within its range. */
static bool add_tx(grout_ptx_mbarrier *fields, int64_t bytes, grout_ptx_fault *fault) {
    const int64_t sum = fields->tx + bytes;
    if (bytes > GROUT_PTX_MBARRIER_MAX || bytes < -GROUT_PTX_MBARRIER_MAX) {
        return grout_ptx__fail(fault, "%lld bytes in one mbarrier operation: 1048575 at most",
                               (long long)(bytes < 0 ? -bytes : bytes));
    }
    if (sum > GROUT_PTX_MBARRIER_MAX || sum < -GROUT_PTX_MBARRIER_MAX) {
        return grout_ptx__fail(fault,
                               "the mbarrier's tx-count would be %lld: it holds -1048575 to "
                               "1048575, so one phase can wait for 1048575 bytes at most",
                               (long long)sum);
    }
    fields->tx = (int32_t)sum;
    return true;
}

/* Takes the arrivals off what is pending. */
static bool take_arrivals(grout_ptx_mbarrier *fields, const grout_ptx_arrival *how,
                          grout_ptx_fault *fault) {
    if (how->count == 0 || how->count > GROUT_PTX_MBARRIER_MAX) {
        return grout_ptx__fail(fault, "an arrive on an mbarrier with a count of %u: 1 to 1048575",
                               how->count);
    }
    if (how->count > fields->pending) {
        return grout_ptx__fail(fault,
                               "%u arrivals on an mbarrier that waits for %u more in this phase: "
                               "it was initialised with a smaller count, or somebody arrives twice",
                               how->count, fields->pending);
    }
    fields->pending -= how->count;
    fields->expected -= how->is_drop ? how->count : 0;
    return true;
}

bool grout_ptx__mbarrier_arrive(uint64_t *word, const grout_ptx_arrival *how, uint64_t *token,
                                grout_ptx_fault *fault) {
    grout_ptx_mbarrier fields, before;
    if (!get(*word, &fields, fault)) {
        return false;
    }
    before = fields;
    if ((how->has_expect_tx && !add_tx(&fields, how->tx, fault)) ||
        !take_arrivals(&fields, how, fault)) {
        return false;
    }
    if (how->is_no_complete && fields.pending == 0 && fields.tx == 0) {
        return grout_ptx__fail(fault, "an arrive with .noComplete completes the phase");
    }
    *token = pack(&before, MARK_TOKEN);
    put(word, &fields);
    return true;
}

bool grout_ptx__mbarrier_expect_tx(uint64_t *word, uint32_t bytes, grout_ptx_fault *fault) {
    grout_ptx_mbarrier fields;
    if (!get(*word, &fields, fault) || !add_tx(&fields, bytes, fault)) {
        return false;
    }
    put(word, &fields);
    return true;
}

bool grout_ptx__mbarrier_complete_tx(uint64_t *word, uint32_t bytes, grout_ptx_fault *fault) {
    grout_ptx_mbarrier fields;
    if (!get(*word, &fields, fault) || !add_tx(&fields, -(int64_t)bytes, fault)) {
        return false;
    }
    put(word, &fields);
    return true;
}

bool grout_ptx__mbarrier_test_parity(uint64_t word, uint32_t parity, bool *is_done,
                                     grout_ptx_fault *fault) {
    grout_ptx_mbarrier fields;
    if (!get(word, &fields, fault)) {
        return false;
    }
    if (parity > 1) {
        return grout_ptx__fail(fault, "a wait for the phase parity %u: 0 or 1", parity);
    }
    *is_done = fields.phase != parity;
    return true;
}

bool grout_ptx__mbarrier_test_token(uint64_t word, uint64_t token, bool *is_done,
                                    grout_ptx_fault *fault) {
    grout_ptx_mbarrier fields, before;
    if (!get(word, &fields, fault)) {
        return false;
    }
    if (!unpack(token, MARK_TOKEN, &before)) {
        return grout_ptx__fail(fault, "the state that an mbarrier wait is given was not returned "
                                      "by an arrive");
    }
    *is_done = fields.phase != before.phase;
    return true;
}

bool grout_ptx__mbarrier_pending(uint64_t token, uint32_t *count, grout_ptx_fault *fault) {
    grout_ptx_mbarrier before;
    if (!unpack(token, MARK_TOKEN, &before)) {
        return grout_ptx__fail(fault, "the state that mbarrier.pending_count is given was not "
                                      "returned by an arrive");
    }
    *count = before.pending;
    return true;
}
