/* check_order.c - the clock engine against the happens-before graph itself, on random programs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/clocks/order.h"
#include "tests/tests.h"
#include "tests/unit/support/often.h"

#include <string.h>

#define CTAS     2 /* of the cluster */
#define THREADS  2 /* of a CTA */
#define ACTORS   (CTAS * THREADS)
#define CHANNELS 4
#define STEPS    44
#define PROGRAMS 600
#define WORDS    768

/*
 * ISSUE: the thread's next wgmma group; AWAIT: all but the newest of them are over. ENGINE: an
 * engine that the thread started completes on a channel. COPY: the thread issues a bulk group;
 * DRAIN: its writes are over. MEET: the threads of the CTA. TENSOR_ISSUE: the thread's next MMA;
 * TENSOR_AWAIT: its loads of tensor memory so far are over. SEAL and ADMIT: a RELEASE and an
 * ACQUIRE that order the tensor core. A channel is one of a CTA, as an mbarrier is: only its
 * threads acquire from it.
 */
typedef enum kind {
    ACCESS,
    COMMIT,
    COMMIT_CLUSTER,
    COMMIT_GMEM,
    RELEASE,
    ACQUIRE,
    MEET,
    ISSUE,
    AWAIT,
    COPY,
    DRAIN,
    ENGINE,
    TENSOR_ISSUE,
    TENSOR_AWAIT,
    SEAL,
    ADMIT,
    KINDS
} kind;

/* A node of the graph: one op of one actor. */
typedef struct node {
    kind kind;
    uint32_t actor, channel, epoch;
    bool is_weak;   /* of a RELEASE or ACQUIRE: relaxed, or of a scope that does not cover both */
    uint32_t owner; /* of an ACCESS: the CTA whose bytes it touches */
    uint32_t group; /* issued by the actor, this one included; AWAIT, DRAIN: known done from here;
                     * TENSOR_*: how many of them the actor has had by then */
} node;

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint32_t get_cta(const node *n) {
    return n->actor / THREADS;
}

/* ---- the simple model: reachability over edges, of two strengths, by matrix --------------------
 */

typedef struct graph {
    bool time[STEPS][STEPS];   /* engine facts travel */
    bool memory[STEPS][STEPS]; /* memory facts do */
    bool wide[STEPS][STEPS];   /* they would, were every edge strong */
    bool seen[STEPS][STEPS];   /* that what an engine is done with can be seen, does */
} graph;

static void close_graph(bool reach[STEPS][STEPS], uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t j = 0; reach[i][k] && j < count; j++) {
                reach[i][j] |= reach[k][j];
            }
        }
    }
}

static bool is_handed_over(const node *a, const node *b) {
    return (b->kind == ACQUIRE || b->kind == ADMIT) && a->channel == b->channel &&
           (a->kind == RELEASE || a->kind == SEAL || a->kind == ENGINE);
}

static uint32_t get_channel_cta(const node *n) {
    return n->channel % CTAS;
}

/* Whether what was seen before an edge is seen after it: within a CTA, or along a strong edge
 * between actors. A weak acquire takes nothing here (the machine has two snapshots for it). */
static bool shows(const node *a, const node *b) {
    const bool is_strong = a->kind != ENGINE && !a->is_weak;
    return !b->is_weak && (is_strong || get_cta(a) == get_channel_cta(a));
}

static bool meet(const node *a, const node *b) {
    return (a->kind == MEET || b->kind == MEET) && get_cta(a) == get_cta(b);
}

static void build_graph(const node *nodes, uint32_t count, graph *g) {
    memset(g, 0, sizeof *g);
    for (uint32_t i = 0; i < count; i++) {
        g->time[i][i] = g->memory[i][i] = g->wide[i][i] = g->seen[i][i] = true;
        for (uint32_t j = i + 1; j < count; j++) {
            bool is_sure = nodes[i].actor == nodes[j].actor || meet(&nodes[i], &nodes[j]);
            bool is_edge = is_handed_over(&nodes[i], &nodes[j]);
            bool is_engine = nodes[i].kind == ENGINE;
            g->time[i][j] = is_sure || is_edge;
            g->seen[i][j] = is_sure || (is_edge && shows(&nodes[i], &nodes[j]));
            g->wide[i][j] = is_sure || (is_edge && !is_engine);
            g->memory[i][j] =
                is_sure || (is_edge && !is_engine && !nodes[i].is_weak && !nodes[j].is_weak);
        }
    }
    close_graph(g->time, count);
    close_graph(g->seen, count);
    close_graph(g->wide, count);
    close_graph(g->memory, count);
}

/* A commit on the path, of the right memory. */
static bool is_published(const node *nodes, const graph *g, uint32_t from, uint32_t to,
                         bool is_gmem) {
    for (uint32_t c = from + 1; c < to; c++) {
        bool is_commit =
            is_gmem ? nodes[c].kind == COMMIT_GMEM
                    : nodes[c].kind == COMMIT_CLUSTER ||
                          (nodes[c].kind == COMMIT && get_cta(&nodes[c]) == nodes[from].owner);
        if (is_commit && g->memory[from][c] && g->memory[c][to]) {
            return true;
        }
    }
    return false;
}

/* A commit of GMEM on the path, by the CTA of the node that it leads to. */
static bool is_fenced(const node *nodes, const graph *g, uint32_t from, uint32_t to) {
    for (uint32_t c = from + 1; c < to; c++) {
        if (nodes[c].kind == COMMIT_GMEM && get_cta(&nodes[c]) == get_cta(&nodes[to]) &&
            g->memory[from][c] && g->memory[c][to]) {
            return true;
        }
    }
    return false;
}

/* The newest group of an actor that a node knows to be over; 0: none. */
static uint32_t count_done(const node *nodes, bool reach[STEPS][STEPS], kind waits, uint32_t actor,
                           uint32_t to) {
    uint32_t done = 0;
    for (uint32_t i = 0; i < to; i++) {
        if (nodes[i].kind == waits && nodes[i].actor == actor && reach[i][to] &&
            nodes[i].group > done) {
            done = nodes[i].group;
        }
    }
    return done;
}

/* What each actor may rely on in tensor memory: MMAs issued, loads awaited, loads awaited that can
 * be seen, of each actor. */
typedef enum fact { FACT_ISSUED, FACT_OVER, FACT_SEEN, FACTS } fact;

typedef struct tensor_facts {
    uint32_t counts[FACTS][ACTORS];
} tensor_facts;

static void join_facts(tensor_facts *into, const tensor_facts *from, fact first, fact last) {
    for (uint32_t i = first; i <= last; i++) {
        for (uint32_t t = 0; t < ACTORS; t++) {
            into->counts[i][t] =
                into->counts[i][t] < from->counts[i][t] ? from->counts[i][t] : into->counts[i][t];
        }
    }
}

/* Whether the node orders the tensor core for an actor, on its way out or in. */
static bool orders_for(const node *n, kind wanted, uint32_t actor) {
    return n->kind == MEET ? actor / THREADS == get_cta(n) : n->kind == wanted && n->actor == actor;
}

/* The facts of each actor in front of each node, as far as they have been worked out. */
typedef struct tensor_model {
    tensor_facts before[STEPS + 1][ACTORS];
    uint32_t done;
} tensor_model;

/* What reaches an actor that admits at node j: the facts of each actor at each node that seals
 * them, and from which a path in time leads to j; those that can be seen, by a path that shows. */
static void admit_at(tensor_model *model, const node *nodes, const graph *g, uint32_t j,
                     uint32_t actor) {
    for (uint32_t i = 0; i <= j; i++) {
        for (uint32_t u = 0; u < ACTORS; u++) {
            tensor_facts *into = &model->before[j + 1][actor];
            if (g->time[i][j] && orders_for(&nodes[i], SEAL, u)) {
                join_facts(into, &model->before[i][u], FACT_ISSUED, FACT_OVER);
            }
            if (g->seen[i][j] && orders_for(&nodes[i], SEAL, u)) {
                join_facts(into, &model->before[i][u], FACT_SEEN, FACT_SEEN);
            }
        }
    }
}

/* An actor has its own facts, and those that it admits. No fact travels here: for each admission
 * all seals before it are looked at. */
static void find_facts(tensor_model *model, const node *nodes, const graph *g, uint32_t last) {
    for (uint32_t j = model->done; j < last; j++) {
        tensor_facts *after = model->before[j + 1];
        memcpy(after, model->before[j], sizeof model->before[j]);
        uint32_t(*counts)[ACTORS] = after[nodes[j].actor].counts;
        if (nodes[j].kind == TENSOR_ISSUE) {
            counts[FACT_ISSUED][nodes[j].actor] = nodes[j].group;
        }
        if (nodes[j].kind == TENSOR_AWAIT) {
            counts[FACT_OVER][nodes[j].actor] = counts[FACT_SEEN][nodes[j].actor] = nodes[j].group;
        }
        for (uint32_t t = 0; t < ACTORS; t++) {
            if (orders_for(&nodes[j], ADMIT, t)) {
                admit_at(model, nodes, g, j, t);
            }
        }
    }
    model->done = last;
}

/* ---- the engine -------------------------------------------------------------------------------
 */

typedef struct engine {
    grout_order order;
    uint32_t sets[ACTORS * WORDS], channels[CHANNELS][WORDS], scratch[WORDS];
} engine;

static uint32_t *get_set(engine *e, uint32_t actor) {
    return e->sets + (size_t)actor * e->order.words;
}

static void begin(engine *e, uint32_t owners, bool has_tensor_facts) {
    const grout_clock_shape shape = {.cta_count = CTAS,
                                     .actor_count = ACTORS,
                                     .lane_count = ACTORS,
                                     .barrier_count = 2 * CTAS,
                                     .thread_count = THREADS,
                                     .lanes_per_thread = 1,
                                     .has_tensor_facts = has_tensor_facts};
    memset(e, 0, sizeof *e);
    grout_order__init(&e->order, &shape, owners, shape.cta_count);
    ck_assert_uint_le(e->order.words, WORDS);
    for (uint32_t i = 0; i < ACTORS; i++) {
        grout_order__begin(&e->order, get_set(e, i), i);
    }
}

/* Where an actor's MMAs or loads are found in what is admitted: its lane has its number. */
static uint32_t get_place(const grout_clock_shape *shape, fact which, uint32_t actor) {
    const uint32_t load = grout_clock_tmem_load(shape, actor);
    return which == FACT_ISSUED ? grout_clock_admitted_issue(shape, actor)
           : which == FACT_OVER ? grout_clock_admitted(shape, load)
                                : grout_clock_admitted_seen(shape, load);
}

static void step_engine(engine *e, const node *n) {
    const grout_order *order = &e->order;
    const grout_clock_shape *shape = &order->shape;
    uint32_t *set = get_set(e, n->actor);
    const bool is_near = get_cta(n) == get_channel_cta(n);
    const grout_edge weak =
        grout_edge__get_weak(is_near && (n->kind == RELEASE || n->kind == SEAL));
    const grout_edge edge = n->is_weak ? weak : GROUT_EDGE_STRONG;
    switch (n->kind) {
    case ACCESS:
    case ISSUE:
    case COPY:
    case KINDS:
        break;
    case AWAIT:
        grout_order__complete(order, set, grout_clock_wgmma(shape, n->actor), n->group);
        break;
    case DRAIN:
        grout_order__raise(&set[grout_clock_bulk_written(shape, n->actor)], n->group);
        grout_order__complete(order, set, grout_clock_bulk_read(shape, n->actor), n->group);
        break;
    case COMMIT:
    case COMMIT_CLUSTER:
        grout_order__commit_smem(order, set, n->actor, get_cta(n), n->kind == COMMIT_CLUSTER);
        break;
    case COMMIT_GMEM:
        grout_order__commit_gmem(order, set, n->actor, get_cta(n));
        break;
    case SEAL:
        grout_order__seal(order, set);
        grout_order__release(order, set, n->actor, e->channels[n->channel], edge);
        break;
    case RELEASE:
        grout_order__release(order, set, n->actor, e->channels[n->channel], edge);
        break;
    case ENGINE:
        grout_order__carry(order, e->channels[n->channel], set, grout_edge__get_engine(is_near));
        grout_order__advance(order, set, n->actor);
        break;
    case ACQUIRE:
        grout_order__acquire(order, set, e->channels[n->channel], edge);
        break;
    case ADMIT:
        grout_order__acquire(order, set, e->channels[n->channel], edge);
        grout_order__admit(order, set);
        break;
    case TENSOR_ISSUE:
        if (order->tensor_size > 0) {
            grout_order__raise(
                &grout_order__get_admitted(order, set)[get_place(shape, FACT_ISSUED, n->actor)],
                n->group);
        }
        break;
    case TENSOR_AWAIT:
        if (order->tensor_size > 0) {
            grout_order__rely(order, set, grout_clock_tmem_load(shape, n->actor), n->group);
        }
        break;
    case MEET:
        grout_order__meet(order, get_set(e, get_cta(n) * THREADS), get_cta(n) * THREADS, THREADS,
                          e->scratch);
        break;
    }
}

/* Every earlier access against what the actor of the newest node now knows. */
static void compare(engine *e, tensor_model *model, const node *nodes, uint32_t last, graph *g) {
    const grout_clock_shape *shape = &e->order.shape;
    uint32_t *set = get_set(e, nodes[last].actor);
    for (uint32_t t = 0; t < ACTORS; t++) {
        ASSERT_OFTEN(set[grout_clock_wgmma(shape, t)] ==
                     count_done(nodes, g->time, AWAIT, t, last));
        ASSERT_OFTEN(set[grout_clock_bulk_read(shape, t)] ==
                     count_done(nodes, g->time, DRAIN, t, last));
        ASSERT_OFTEN(set[grout_clock_seen(shape, grout_clock_wgmma(shape, t))] ==
                     count_done(nodes, g->seen, AWAIT, t, last));
        ASSERT_OFTEN(set[grout_clock_seen(shape, grout_clock_bulk_read(shape, t))] ==
                     count_done(nodes, g->seen, DRAIN, t, last));
        ASSERT_OFTEN(set[grout_clock_bulk_written(shape, t)] ==
                     count_done(nodes, g->memory, DRAIN, t, last));
    }
    find_facts(model, nodes, g, last);
    const tensor_facts facts = model->before[last][nodes[last].actor];
    for (uint32_t t = 0; t < ACTORS && e->order.tensor_size > 0; t++) {
        const uint32_t *admitted = grout_order__get_admitted(&e->order, set);
        for (uint32_t i = 0; i < FACTS; i++) {
            ASSERT_OFTEN(admitted[get_place(shape, (fact)i, t)] == facts.counts[i][t]);
        }
    }
    for (uint32_t i = 0; i < last; i++) {
        uint32_t actor = nodes[i].actor, epoch = nodes[i].epoch;
        uint32_t at = grout_clock_released(shape, actor);
        if (nodes[i].kind != ACCESS) {
            continue;
        }
        ASSERT_OFTEN((set[grout_clock_epoch(shape, actor)] >= epoch) == g->time[i][last]);
        ASSERT_OFTEN((set[grout_clock_handed(shape, actor)] >= epoch) == g->wide[i][last]);
        ASSERT_OFTEN((set[at] >= epoch) == g->memory[i][last]);
        ASSERT_OFTEN((grout_order__get_gmem(&e->order, set)[at] >= epoch) ==
                     is_published(nodes, g, i, last, true));
        ASSERT_OFTEN((grout_order__get_fenced(&e->order, set, get_cta(&nodes[last]))[at] >=
                      epoch) == is_fenced(nodes, g, i, last));
        ASSERT_OFTEN((grout_order__get_smem(&e->order, set, nodes[i].owner)[at] >= epoch) ==
                     is_published(nodes, g, i, last, false));
    }
}

/* With one PS clock for all CTAs accesses are of the own one. */
static node draw_node(uint64_t *seed, uint32_t owners, bool is_narrow) {
    static const uint8_t weights[KINDS] = {24, 6, 2, 5, 11, 11, 3, 4, 4, 4, 4, 2, 5, 5, 5, 5};
    uint64_t draw = next_random(seed);
    uint32_t weight = (uint32_t)(draw >> 32) % 100;
    node n = {.actor = (uint32_t)draw % ACTORS, .channel = (uint32_t)(draw >> 8) % CHANNELS};
    while (weight >= weights[n.kind]) {
        weight -= weights[n.kind++];
    }
    if (n.kind == ACQUIRE || n.kind == ADMIT) {
        n.channel += n.channel % CTAS == get_cta(&n) ? 0 : n.channel < CHANNELS - 1 ? 1 : -1u;
    }
    n.is_weak = is_narrow && (draw >> 16) % 3 == 0;
    n.owner = owners > 1 ? (uint32_t)(draw >> 24) % CTAS : get_cta(&n);
    return n;
}

/* A program of 2 CTAs of 2 threads: with edges that are all strong, or some of them not. */
TEST_EACH(clocks_equal_graph, PROGRAMS) {
    static graph g;
    static engine e;
    static tensor_model model;
    node nodes[STEPS];
    uint32_t issued[ACTORS] = {0}, copied[ACTORS] = {0}, used[ACTORS] = {0};
    uint32_t owners = _i % 2 == 0 ? 1 : CTAS;
    uint64_t seed = (uint64_t)_i * 7919 + 1;
    begin(&e, owners, _i % 3 > 0);
    memset(&model, 0, sizeof model);
    for (uint32_t i = 0; i < STEPS; i++) {
        node *n = &nodes[i];
        *n = draw_node(&seed, owners, _i % 4 >= 2);
        issued[n->actor] += n->kind == ISSUE;
        copied[n->actor] += n->kind == COPY;
        n->group = n->kind == DRAIN ? copied[n->actor] : issued[n->actor];
        n->group -= n->kind == AWAIT && n->group > 0;
        if (n->kind == TENSOR_ISSUE || n->kind == TENSOR_AWAIT) {
            n->group = ++used[n->actor];
        }
        n->epoch = get_set(&e, n->actor)[grout_clock_epoch(&e.order.shape, n->actor)];
        if (n->kind == ACCESS) {
            build_graph(nodes, i + 1, &g);
            compare(&e, &model, nodes, i, &g);
        }
        step_engine(&e, n);
    }
}

TEST(completion_is_known_by_its_epochs) {
    const grout_clock_shape shape = {.cta_count = 1,
                                     .actor_count = 2,
                                     .lane_count = 2,
                                     .barrier_count = 1,
                                     .thread_count = 2,
                                     .lanes_per_thread = 1};
    grout_order order;
    uint32_t a[64], b[64], snapshot[64] = {0};
    grout_order__init(&order, &shape, 1, 0);
    grout_order__begin(&order, a, 0);
    grout_order__begin(&order, b, 1);
    grout_order__release(&order, a, 0, snapshot, GROUT_EDGE_STRONG);
    ck_assert(grout_order__is_known(&order, snapshot, a));
    grout_order__release(&order, b, 1, snapshot, GROUT_EDGE_WEAK);
    ck_assert(!grout_order__is_known(&order, snapshot, b));
    grout_order__acquire(&order, b, snapshot, GROUT_EDGE_WEAK);
    ck_assert(grout_order__is_known(&order, snapshot, b));
}

/* A child knows what its parent did before, not after; the parent learns all at the end. */
TEST(forks_and_joins) {
    const grout_clock_shape shape = {.cta_count = 1,
                                     .actor_count = 3,
                                     .lane_count = 1,
                                     .thread_count = 1,
                                     .lanes_per_thread = 1};
    grout_order order;
    uint32_t parent[64], child[64], other[64];
    grout_order__init(&order, &shape, 1, 0);
    grout_order__begin(&order, parent, 0);
    grout_order__begin(&order, child, 1);
    grout_order__begin(&order, other, 2);
    uint32_t before = parent[grout_clock_released(&shape, 0)];
    grout_order__fork(&order, parent, 0, child, 1);
    ck_assert_uint_ge(child[grout_clock_released(&shape, 0)], before);
    ck_assert_uint_lt(child[grout_clock_released(&shape, 0)],
                      parent[grout_clock_released(&shape, 0)]);
    uint32_t epoch = child[grout_clock_released(&shape, 1)];
    ck_assert_uint_lt(parent[grout_clock_released(&shape, 1)], epoch);
    grout_order__rejoin(&order, parent, child);
    ck_assert_uint_ge(parent[grout_clock_released(&shape, 1)], epoch);
    ck_assert_uint_eq(parent[grout_clock_released(&shape, 2)], 0);
}

TEST_EACH(scopes_cover, 6) {
    static const struct {
        uint8_t scope;
        uint32_t cta, other;
        bool covers;
    } cases[] = {
        {GROUT_CHOICE_SCOPE_CTA, 3, 3, true},     {GROUT_CHOICE_SCOPE_CTA, 2, 3, false},
        {GROUT_CHOICE_SCOPE_CLUSTER, 2, 3, true}, {GROUT_CHOICE_SCOPE_CLUSTER, 1, 2, false},
        {GROUT_CHOICE_SCOPE_GPU, 1, 2, true},     {GROUT_CHOICE_SCOPE_SYS, 0, 7, true}};
    ck_assert_int_eq(grout_order__covers(cases[_i].scope, cases[_i].cta, cases[_i].other, 2),
                     cases[_i].covers);
}
