/* check_ptx_mbarrier.c - the word of an mbarrier: phases, bytes, tokens and their limits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx/tensor/mbarrier.h"
#include "tests/tests.h"

#include <string.h>

static grout_ptx_fault fault;

static uint64_t make(uint32_t count) {
    uint64_t word = 0;
    ck_assert(grout_ptx__mbarrier_init(&word, count, &fault));
    return word;
}

static uint64_t arrive(uint64_t *word, grout_ptx_arrival how) {
    uint64_t token = 0;
    how.count = how.count == 0 ? 1 : how.count;
    ck_assert_msg(grout_ptx__mbarrier_arrive(word, &how, &token, &fault), "%s", fault.text);
    return token;
}

static bool is_done(uint64_t word, uint32_t parity) {
    bool done = false;
    ck_assert(grout_ptx__mbarrier_test_parity(word, parity, &done, &fault));
    return done;
}

static bool fails_to_arrive(uint64_t *word, grout_ptx_arrival how) {
    const uint64_t before = *word;
    uint64_t token = 0;
    const bool fails = !grout_ptx__mbarrier_arrive(word, &how, &token, &fault);
    return fails && *word == before;
}

/* A fresh barrier passes a wait for parity 1; each completed phase turns the answer round. */
TEST(parity) {
    uint64_t word = make(2);
    for (uint32_t phase = 0; phase < 5; phase++) {
        ck_assert_int_eq(is_done(word, 0), phase % 2 == 1);
        ck_assert_int_eq(is_done(word, 1), phase % 2 == 0);
        (void)arrive(&word, (grout_ptx_arrival){.count = 1});
        ck_assert_int_eq(is_done(word, phase % 2), false);
        (void)arrive(&word, (grout_ptx_arrival){.count = 1});
    }
    bool done;
    ck_assert(!grout_ptx__mbarrier_test_parity(word, 2, &done, &fault));
}

/* Bytes may complete before they are expected: the phase stays open until both are zero. */
TEST(bytes) {
    uint64_t word = make(1);
    ck_assert(grout_ptx__mbarrier_complete_tx(&word, 64, &fault));
    ck_assert(!is_done(word, 0));
    (void)arrive(&word, (grout_ptx_arrival){.has_expect_tx = true, .tx = 128});
    ck_assert(!is_done(word, 0));
    ck_assert(grout_ptx__mbarrier_complete_tx(&word, 63, &fault));
    ck_assert(!is_done(word, 0));
    ck_assert(grout_ptx__mbarrier_complete_tx(&word, 1, &fault));
    ck_assert(is_done(word, 0));
    /* Fewer expected than come: the next phase begins with a debt. */
    (void)arrive(&word, (grout_ptx_arrival){.has_expect_tx = true, .tx = 16});
    ck_assert(grout_ptx__mbarrier_complete_tx(&word, 16, &fault));
    ck_assert(is_done(word, 1));
    ck_assert(grout_ptx__mbarrier_complete_tx(&word, 16, &fault));
    (void)arrive(&word, (grout_ptx_arrival){.count = 1});
    ck_assert(!is_done(word, 0));
    ck_assert(grout_ptx__mbarrier_expect_tx(&word, 16, &fault));
    ck_assert(is_done(word, 0));
}

TEST(limits) {
    uint64_t word = 0;
    ck_assert(!grout_ptx__mbarrier_init(&word, 0, &fault));
    ck_assert(!grout_ptx__mbarrier_init(&word, 1 << 20, &fault));
    word = make(GROUT_PTX_MBARRIER_MAX);
    (void)arrive(&word, (grout_ptx_arrival){.count = GROUT_PTX_MBARRIER_MAX});
    ck_assert(is_done(word, 0));
    ck_assert(fails_to_arrive(&word, (grout_ptx_arrival){.count = 0}));
    ck_assert(fails_to_arrive(&word, (grout_ptx_arrival){.count = 1 << 20}));

    word = make(2);
    ck_assert(fails_to_arrive(&word, (grout_ptx_arrival){.count = 3}));
    ck_assert(!grout_ptx__mbarrier_expect_tx(&word, 1 << 20, &fault));
    ck_assert(grout_ptx__mbarrier_expect_tx(&word, GROUT_PTX_MBARRIER_MAX, &fault));
    ck_assert(!grout_ptx__mbarrier_expect_tx(&word, 1, &fault));
    ck_assert(strstr(fault.text, "1048576") != NULL);
    ck_assert(grout_ptx__mbarrier_complete_tx(&word, GROUT_PTX_MBARRIER_MAX, &fault));
    ck_assert(grout_ptx__mbarrier_complete_tx(&word, GROUT_PTX_MBARRIER_MAX, &fault));
    ck_assert(!grout_ptx__mbarrier_complete_tx(&word, 1, &fault));
    ck_assert(fails_to_arrive(
        &word, (grout_ptx_arrival){.count = 1, .has_expect_tx = true, .tx = 1 << 20}));
}

/* A thread that drops out arrives once and is not expected again. */
TEST(drop) {
    uint64_t word = make(3);
    (void)arrive(&word, (grout_ptx_arrival){.count = 1});
    (void)arrive(&word, (grout_ptx_arrival){.count = 2, .is_drop = true});
    ck_assert(is_done(word, 0));
    (void)arrive(&word, (grout_ptx_arrival){.count = 1, .is_drop = true});
    ck_assert(is_done(word, 1));
    ck_assert(!is_done(word, 0));
    ck_assert(fails_to_arrive(&word, (grout_ptx_arrival){.count = 1}));
}

TEST(no_complete) {
    uint64_t word = make(2);
    uint32_t pending = 0;
    uint64_t token = arrive(&word, (grout_ptx_arrival){.is_no_complete = true});
    ck_assert(grout_ptx__mbarrier_pending(token, &pending, &fault));
    ck_assert_uint_eq(pending, 2);
    ck_assert(fails_to_arrive(&word, (grout_ptx_arrival){.count = 1, .is_no_complete = true}));
    ck_assert(!grout_ptx__mbarrier_pending(word, &pending, &fault));
}

TEST(tokens) {
    uint64_t word = make(1);
    bool done = true;
    ck_assert(grout_ptx__mbarrier_expect_tx(&word, 8, &fault));
    const uint64_t token = arrive(&word, (grout_ptx_arrival){.count = 1});
    ck_assert(grout_ptx__mbarrier_test_token(word, token, &done, &fault));
    ck_assert(!done);
    ck_assert(grout_ptx__mbarrier_complete_tx(&word, 8, &fault));
    ck_assert(grout_ptx__mbarrier_test_token(word, token, &done, &fault));
    ck_assert(done);
    ck_assert(!grout_ptx__mbarrier_test_token(word, word, &done, &fault));
    ck_assert(!grout_ptx__mbarrier_test_token(word, 0, &done, &fault));
}

/* What ordinary stores leave is no barrier: plain numbers, and a barrier with one byte changed. */
TEST(overwritten) {
    grout_ptx_mbarrier fields;
    uint64_t word = make(1), taken = 0;
    for (uint64_t plain = 0; plain < 4096; plain++) {
        taken += grout_ptx__mbarrier_unpack(plain, &fields);
        taken += grout_ptx__mbarrier_unpack(plain << 52, &fields);
    }
    ck_assert_uint_lt(taken, 8192 / 3); /* the mark is of two bits */
    ck_assert(!grout_ptx__mbarrier_unpack(0, &fields));
    ck_assert(!grout_ptx__mbarrier_unpack(UINT64_MAX, &fields));
    taken = 0;
    for (int at = 0; at < 64; at++) {
        taken += grout_ptx__mbarrier_unpack(word ^ (uint64_t)1 << at, &fields);
    }
    ck_assert_uint_lt(taken, 64 / 4);
    ck_assert(grout_ptx__mbarrier_inval(&word, &fault));
    ck_assert(!grout_ptx__mbarrier_inval(&word, &fault));
    ck_assert(fails_to_arrive(&word, (grout_ptx_arrival){.count = 1}));
    ck_assert(!grout_ptx__mbarrier_expect_tx(&word, 1, &fault));
}
