/* check_order.c - the clock engine against the happens-before graph itself, on random programs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/order.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define THREADS  3
#define CHANNELS 4
#define STEPS    40
#define PROGRAMS 300

/* ISSUE: the thread's next wgmma group; AWAIT: all but the newest of them are over. */
typedef enum kind { ACCESS, COMMIT, RELEASE, ACQUIRE, MEET, ISSUE, AWAIT } kind;

/* A node of the graph: one op of one thread. */
typedef struct node {
    kind kind;
    uint32_t thread, channel, epoch;
    uint32_t group; /* issued by the thread, this one included; AWAIT: known done from here on */
} node;

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The simple model: reachability over program order and release -> acquire, by matrix. */
static void close_graph(bool reach[STEPS][STEPS], uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t j = 0; j < count; j++) {
                reach[i][j] |= reach[i][k] && reach[k][j];
            }
        }
    }
}

static void build_graph(const node *nodes, uint32_t count, bool reach[STEPS][STEPS]) {
    memset(reach, 0, sizeof(bool) * STEPS * STEPS);
    for (uint32_t i = 0; i < count; i++) {
        reach[i][i] = true;
        for (uint32_t j = i + 1; j < count; j++) {
            bool is_edge = nodes[i].thread == nodes[j].thread || nodes[j].kind == MEET ||
                           nodes[i].kind == MEET;
            is_edge |= nodes[i].kind == RELEASE && nodes[j].kind == ACQUIRE &&
                       nodes[i].channel == nodes[j].channel;
            reach[i][j] = is_edge;
        }
    }
    close_graph(reach, count);
}

typedef struct engine {
    grout_clock_shape shape;
    uint32_t sets[THREADS][64], channels[CHANNELS][64], flat[THREADS * 64], scratch[64];
} engine;

static void step_engine(engine *e, const node *n) {
    size_t size = grout_order__get_size(&e->shape);
    uint32_t *set = e->sets[n->thread];
    switch (n->kind) {
    case ACCESS:
    case ISSUE:
        break;
    case AWAIT:
        grout_order__raise(&set[grout_clock_wg(&e->shape, n->thread)], n->group);
        break;
    case COMMIT:
        grout_order__commit_smem(&e->shape, set, n->thread);
        break;
    case RELEASE:
        grout_order__release(&e->shape, set, n->thread, e->channels[n->channel]);
        break;
    case ACQUIRE:
        grout_order__acquire(&e->shape, set, e->channels[n->channel]);
        break;
    case MEET:
        for (uint32_t i = 0; i < THREADS; i++) {
            memcpy(e->flat + i * size, e->sets[i], size * sizeof(uint32_t));
        }
        grout_order__meet(&e->shape, e->flat, e->scratch);
        for (uint32_t i = 0; i < THREADS; i++) {
            memcpy(e->sets[i], e->flat + i * size, size * sizeof(uint32_t));
        }
        break;
    }
}

static bool is_published(const node *nodes, bool reach[STEPS][STEPS], uint32_t from, uint32_t to) {
    for (uint32_t c = from + 1; c < to; c++) {
        if (nodes[c].kind == COMMIT && reach[from][c] && reach[c][to]) {
            return true;
        }
    }
    return false;
}

/* The groups of a thread that a node has been told are over. */
static uint32_t count_done(const node *nodes, bool reach[STEPS][STEPS], uint32_t thread,
                           uint32_t to) {
    uint32_t done = 0;
    for (uint32_t i = 0; i < to; i++) {
        if (nodes[i].kind == AWAIT && nodes[i].thread == thread && reach[i][to] &&
            nodes[i].group > done) {
            done = nodes[i].group;
        }
    }
    return done;
}

/* Every earlier access against what the thread of the newest node now knows. */
static void compare(engine *e, const node *nodes, uint32_t last, bool reach[STEPS][STEPS]) {
    uint32_t *set = e->sets[nodes[last].thread];
    const uint32_t *published = grout_order__get(&e->shape, set, GROUT_ORDER_SMEM);
    for (uint32_t t = 0; t < THREADS && nodes[last].kind == ACCESS; t++) {
        ck_assert_uint_eq(set[grout_clock_wg(&e->shape, t)], count_done(nodes, reach, t, last));
    }
    for (uint32_t i = 0; i < last; i++) {
        uint32_t g = grout_clock_g(&e->shape, nodes[i].thread);
        if (nodes[i].kind != ACCESS || nodes[last].kind != ACCESS) {
            continue;
        }
        bool is_known = set[g] >= nodes[i].epoch, is_out = published[g] >= nodes[i].epoch;
        if (is_known != reach[i][last] || is_out != is_published(nodes, reach, i, last)) {
            ck_abort_msg("access %u seen from %u: known %d, published %d", i, last, is_known,
                         is_out);
        }
    }
}

START_TEST(clocks_equal_graph) {
    static bool reach[STEPS][STEPS];
    node nodes[STEPS];
    uint32_t issued[THREADS] = {0};
    engine e = {.shape = {THREADS, THREADS, 2}};
    uint64_t seed = (uint64_t)_i * 7919 + 1;
    for (uint32_t i = 0; i < THREADS; i++) {
        grout_order__begin(&e.shape, e.sets[i], i);
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        uint64_t draw = next_random(&seed);
        uint32_t weight = (uint32_t)(draw >> 32) % 100;
        nodes[i].kind = weight < 30   ? ACCESS
                        : weight < 38 ? ISSUE
                        : weight < 46 ? AWAIT
                        : weight < 60 ? COMMIT
                        : weight < 78 ? RELEASE
                        : weight < 97 ? ACQUIRE
                                      : MEET;
        nodes[i].thread = (uint32_t)draw % THREADS;
        nodes[i].channel = (uint32_t)(draw >> 8) % CHANNELS;
        issued[nodes[i].thread] += nodes[i].kind == ISSUE;
        nodes[i].group = issued[nodes[i].thread];
        nodes[i].group -= nodes[i].kind == AWAIT && nodes[i].group > 0;
        nodes[i].epoch = e.sets[nodes[i].thread][grout_clock_g(&e.shape, nodes[i].thread)];
        if (nodes[i].kind == ACCESS) {
            build_graph(nodes, i + 1, reach);
        }
        compare(&e, nodes, i, reach);
        step_engine(&e, &nodes[i]);
    }
}
END_TEST

START_TEST(completion_is_known_by_its_epochs) {
    grout_clock_shape shape = {.cta_count = 1, .actor_count = 2, .lane_count = 2, .barrier_count = 1, .thread_count = 2, .lanes_per_thread = 1};
    uint32_t a[64], b[64], snapshot[64] = {0};
    grout_order__begin(&shape, a, 0);
    grout_order__begin(&shape, b, 1);
    grout_order__release(&shape, a, 0, snapshot);
    ck_assert(grout_order__is_known(&shape, snapshot, a));
    grout_order__release(&shape, b, 1, snapshot);
    ck_assert(!grout_order__is_known(&shape, snapshot, b));
    grout_order__acquire(&shape, b, snapshot);
    ck_assert(grout_order__is_known(&shape, snapshot, b));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("order");
    TCase *tests = tcase_create("order");
    tcase_add_loop_test(tests, clocks_equal_graph, 0, PROGRAMS);
    tcase_add_test(tests, completion_is_known_by_its_epochs);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
