/*
 * check_wgmma_order.c - wgmmas: the same findings under every schedule, against an oracle, and in a
 * state that stays small (scripts: wgmma_script.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/tests.h"
#include "wgmma_script.h"

/* ---- schedules --------------------------------------------------------------------------------
 */

enum { PROGRAM_SIZE = 512, SEEDS = 25, ROUNDS = 14, RANDOM_PROGRAMS = 300 };

static uint32_t draw(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* Whether the step would block now. */
static bool is_blocked(const machine *it, const char *text) {
    uint32_t thread = (uint32_t)(text[0] - '0'), number = (uint32_t)(text[2] - '0');
    uint32_t element = text[1] == 'g' ? SLOTS + number : number;
    return (text[1] == 'g' || text[1] == 'c') &&
           it->waits[element][thread].waits >= it->arrived[element];
}

/* Runs the programs of the threads, which may not wait for ever, in the order that seed gives. */
static void interleave(machine *it, const char *const programs[THREADS], uint32_t seed) {
    const char *at[THREADS] = {programs[0], programs[1], programs[2]};
    while (*at[0] || *at[1] || *at[2]) {
        uint32_t thread = draw(&seed) % THREADS;
        uint32_t burst = draw(&seed) % 9;
        for (; burst > 0 && *at[thread] && !is_blocked(it, at[thread]); burst--) {
            step next = make_step(it, at[thread]);
            take_step(it, &next);
            at[thread] += at[thread][3] ? 4 : 3;
        }
    }
}

/*
 * A ring of slots: thread 1 loads them, thread 0 multiplies. In the consumer's round i, slot i has
 * been awaited, slot i + distance is read, and 'leaves' groups may be in flight when it is handed
 * back. 'early': handed back before the wgmma.
 */
typedef struct ring {
    uint32_t slots, distance, leaves;
    bool is_early;
    const char *findings;
} ring;

#define WRONG_STAGE "async-not-awaited 8/13," REUSE "13/8"

static const ring RINGS[] = {
    {2, 0, 0, false, ""},           {6, 0, 0, false, ""},          {4, 0, 1, false, REUSE "13/8"},
    {6, 0, 5, false, REUSE "13/8"}, {4, 0, 0, true, REUSE "13/8"}, {2, 1, 0, false, WRONG_STAGE},
    {4, 2, 0, false, WRONG_STAGE},  {7, 2, 0, false, WRONG_STAGE}, {7, 3, 1, false, WRONG_STAGE},
    {7, 4, 0, false, WRONG_STAGE},  {7, 5, 1, false, WRONG_STAGE}, {7, 6, 0, false, WRONG_STAGE},
};
enum { RING_COUNT = sizeof RINGS / sizeof *RINGS };

static void write_ring(const ring *it, char consumer[PROGRAM_SIZE], char producer[PROGRAM_SIZE]) {
    size_t used = 0, filled = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t slot = i % it->slots, read = (i + it->distance) % it->slots;
        used += (size_t)snprintf(consumer + used, PROGRAM_SIZE - used,
                                 it->is_early ? "0c%u 0a0 0n%u 0w%u " : "0c%u 0n%u 0w%u 0a0 ", slot,
                                 read, it->leaves);
        filled += (size_t)snprintf(producer + filled, PROGRAM_SIZE - filled,
                                   i < it->slots ? "1t%u " : "1g0 1t%u ", slot);
    }
}

TEST_EACH(ring_has_one_verdict, RING_COUNT) {
    char consumer[PROGRAM_SIZE] = {0}, producer[PROGRAM_SIZE] = {0};
    const char *const programs[THREADS] = {consumer, producer, ""};
    write_ring(&RINGS[_i], consumer, producer);
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        machine *it = calloc(1, sizeof *it);
        ck_assert_ptr_nonnull(it);
        start(it, KERNEL);
        interleave(it, programs, seed * 7919);
        expect(it, producer, RINGS[_i].findings);
        stop(it);
        free(it);
    }
}

/* ---- random programs of one thread -------------------------------------------------------------
 */

/*
 * What a program does, without shadow or clocks: the newest wgmma that read each slot since it was
 * written, and the newest that added to each quarter of the accumulator.
 */
typedef struct oracle {
    uint32_t issued, done;
    uint32_t readers[SLOTS], reader_lines[SLOTS]; /* group; 0: none */
    uint32_t adders[4], adder_lines[4];
    bool pairs[32][32]; /* primary line, related line */
} oracle;

static void wait_in_oracle(oracle *it, uint32_t allowed) {
    uint32_t done = it->issued > allowed ? it->issued - allowed : 0;
    it->done = it->done < done ? done : it->done;
}

static void use_in_oracle(oracle *it, uint32_t line, uint32_t first, uint32_t end, bool is_write) {
    for (uint32_t i = first; i < end; i++) {
        if (it->adders[i] > it->done) {
            it->pairs[line][it->adder_lines[i]] = true;
        }
        it->adders[i] = is_write ? 0 : it->adders[i];
    }
}

static void multiply_in_oracle(oracle *it, char letter, uint32_t line, uint32_t slot) {
    uint32_t first = letter == 'i' ? 2 : (letter == 'j' ? 1 : 0);
    uint32_t end = letter == 'm' || letter == 'n' ? 4 : first + 2;
    it->issued++;
    for (uint32_t i = first; i < end; i++) {
        bool is_alike = it->adder_lines[i] == line || (line <= 8 && it->adder_lines[i] <= 8);
        if (it->adders[i] > it->done && !is_alike) {
            it->pairs[line][it->adder_lines[i]] = true;
        }
        it->adders[i] = it->issued;
        it->adder_lines[i] = line;
    }
    it->readers[slot] = it->issued;
    it->reader_lines[slot] = line;
    if (letter == 'm') {
        wait_in_oracle(it, 1);
    }
}

static void tell_oracle(oracle *it, char letter, uint32_t line, uint32_t number) {
    if (letter == 'w' || letter == 'z') {
        wait_in_oracle(it, number);
    } else if (letter == 'l') {
        wait_in_oracle(it, 0);
    } else if (letter == 's') {
        if (it->readers[number] > it->done) {
            it->pairs[line][it->reader_lines[number]] = true;
        }
        it->readers[number] = 0;
    }
    if (strchr("xyzl", letter)) {
        use_in_oracle(it, line, 0, 4, letter == 'y');
    } else if (strchr("mnhij", letter)) {
        multiply_in_oracle(it, letter, line, number);
    }
}

static void list_pairs(const oracle *it, grout_text *out) {
    const char *comma = "";
    grout_text_add(out, "%s", "");
    for (uint32_t primary = 0; primary < 32; primary++) {
        for (uint32_t related = 0; related < 32; related++) {
            if (it->pairs[primary][related]) {
                grout_text_add(out, "%s%s%u/%u", comma, primary == 15 ? REUSE : FLIGHT, primary,
                               related);
                comma = ",";
            }
        }
    }
}

TEST_EACH(random_program_agrees_with_the_oracle, RANDOM_PROGRAMS) {
    static const char LETTERS[] = "mnnnhijsswwwxyzl";
    uint32_t seed = (uint32_t)_i * 2654435761u + 1;
    machine *it = calloc(1, sizeof *it);
    oracle *told = calloc(1, sizeof *told);
    grout_text pairs = {0}, steps = {0};
    ck_assert(it && told);
    start(it, KERNEL);
    for (uint32_t i = 0; i < 10 + (uint32_t)_i % 60; i++) {
        char text[5] = {'0', LETTERS[draw(&seed) % 16], (char)('0' + draw(&seed) % SLOTS), ' '};
        step at = make_step(it, text);
        grout_text_add(&steps, "%s", text);
        take_step(it, &at);
        tell_oracle(
            told, at.letter,
            grout_module_get_place(it->module, grout_module_get_op(it->module, at.op)->loc).line,
            at.number);
        if (at.letter == 's') { /* published at once: that is not the question here */
            commit(it, &at);
        }
    }
    list_pairs(told, &pairs);
    expect(it, steps.data, pairs.data);
    grout_text_free(&pairs);
    grout_text_free(&steps);
    stop(it);
    free(it);
    free(told);
}

/* ---- states ------------------------------------------------------------------------------------
 */

TEST(hash_knows_each_threads_accumulator) {
    static const char *const STEPS[] = {"0n0 1w0 0w0", "1n0 0w0 1w0"};
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; i++) {
        machine *it = calloc(1, sizeof *it);
        ck_assert_ptr_nonnull(it);
        start(it, KERNEL);
        run(it, STEPS[i]);
        hashes[i] = it->observer->hash(it->observer->self);
        stop(it);
        free(it);
    }
    ck_assert(hashes[0] != hashes[1]);
}

/* A long run in a ring: the shadow keeps one record for each operand box, and no more. */
TEST(shadow_is_flat) {
    machine *it = calloc(1, sizeof *it);
    uint64_t peak = 0;
    ck_assert_ptr_nonnull(it);
    start(it, KERNEL);
    for (uint32_t i = 0; i < 4000; i++) {
        char text[] = "0m0 0s0 0f0 0a0";
        text[2] = (char)('0' + i % SLOTS);
        text[6] = (char)('0' + (i + 1) % SLOTS);
        text[11] = '\0';
        run(it, text);
        if (i == 100) {
            peak = grout_checker_get_summary(it->checker, false).shadow_bytes_peak;
        }
    }
    ck_assert_uint_eq(peak, grout_checker_get_summary(it->checker, false).shadow_bytes_peak);
    ck_assert_uint_eq(grout_checker_get_summary(it->checker, false).async_ops, 4000);
    expect(it, "ring", "");
    stop(it);
    free(it);
}
