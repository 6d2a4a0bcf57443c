/* draw_clusters.c - CTAs of a cluster that share copies, meet, and touch each other's SMEM.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>

#define ROWS    16
#define COLUMNS 32

typedef struct cluster {
    draw d;
    uint32_t x, y;     /* CTAs along its axes; y 1: it has one axis */
    uint32_t clusters; /* of the grid */
    uint32_t threads;
    uint32_t trips, stages;
    uint32_t way;
    grout_text scratch;
    const char *type;
    draw_sums *sums;
    bool has_exit_sync;
} cluster;

static uint32_t get_size(const cluster *c) {
    return c->x * c->y;
}

/* ---- how they meet --------------------------------------------------------------------------- */

typedef enum meeting { MEET_ONCE, MEET_SPLIT, MEET_BARRIER } meeting;

static meeting draw_meeting(cluster *c, const char *name) {
    const meeting how = (meeting)draw_below(&c->d, 3);
    if (how == MEET_BARRIER) {
        grout_text_add(&c->scratch,
                       "  scratch %%%s : barrier[1] arrivals(%" PRIu32 ") cluster(%s)\n", name,
                       c->threads, c->y > 1 ? "(cx, cy)" : "cx");
    }
    return how;
}

static void add_meeting(cluster *c, meeting how, const char *name) {
    if (how == MEET_ONCE) {
        draw_line(&c->d, "cluster_barrier");
    } else if (how == MEET_SPLIT) {
        draw_line(&c->d, "cluster_arrive");
        draw_line(&c->d, "cluster_wait");
    } else {
        draw_line(&c->d, "barrier_arrive %%%s[0]", name);
        draw_line(&c->d, "barrier_wait %%%s[0]", name);
    }
}

/* The number of the CTA that is 'distance' after this one, as %name. */
static void add_neighbour(cluster *c, uint32_t distance, const char *name) {
    draw_line(&c->d, "%%%s = rem (add %%me, %" PRIu32 "), %" PRIu32, name, distance, get_size(c));
}

static void get_place(const cluster *c, const char *name, char *text, size_t size) {
    if (c->y > 1) {
        (void)snprintf(text, size, ".cluster((div %%%s, %" PRIu32 "), (rem %%%s, %" PRIu32 "))",
                       name, c->y, name, c->y);
    } else {
        (void)snprintf(text, size, ".cluster(%%%s)", name);
    }
}

/* A thread's rows, and those of its neighbour: what it leaves another one takes. */
static void add_rows(cluster *c) {
    const uint32_t rows = ROWS / c->threads;
    draw_line(&c->d, "%%row = mul (axis_index wg), %" PRIu32, rows);
    draw_line(&c->d, "%%other = mul (rem (add (axis_index wg), 1), %" PRIu32 "), %" PRIu32,
              c->threads, rows);
}

/* ---- plain stores and loads in a neighbour's SMEM -------------------------------------------- */

static void draw_exchange(cluster *c, bool stores_far) {
    draw *d = &c->d;
    const uint32_t size = get_size(c), rows = ROWS / c->threads;
    const uint32_t distance = 1 + draw_below(d, size - 1);
    const meeting filled = draw_meeting(c, "filled"), emptied = draw_meeting(c, "emptied");
    char place[96];
    grout_text_add(&c->scratch, "  scratch %%s : smem %s[%d, %d]\n", c->type, ROWS, COLUMNS);
    get_place(c, "to", place, sizeof place);
    add_rows(c);
    add_neighbour(c, distance, "to");
    draw_line(d, "for %%i in 0..%" PRIu32 " {", c->trips);
    d->indent++;
    draw_line(d, "%%t = add (mul %%cta, %" PRIu32 "), %%i", c->trips);
    draw_line(d, "store %%s%s[ds(%%row, %" PRIu32 ")], (load %%p0[%%t, ds(%%row, %" PRIu32 ")])",
              stores_far ? place : "", rows, rows);
    add_meeting(c, filled, "filled");
    draw_line(d,
              "store %%p1[%%t, ds(%%other, %" PRIu32 ")], (load %%s%s[ds(%%other, %" PRIu32 ")])",
              rows, stores_far ? "" : place, rows);
    add_meeting(c, emptied, "emptied");
    d->indent--;
    draw_line(d, "}");
    draw_sums_init(c->sums, ROWS * COLUMNS, c->clusters * size * c->trips,
                   c->clusters * size * c->trips);
    for (uint32_t cta = 0; cta < c->clusters * size; cta++) {
        const uint32_t step = stores_far ? size - distance : distance;
        const uint32_t from = cta / size * size + (cta % size + step) % size;
        for (uint32_t i = 0; i < c->trips; i++) {
            draw_sum(c->sums, cta * c->trips + i, from * c->trips + i);
        }
    }
}

/* ---- sums over the cluster ------------------------------------------------------------------- */

static void add_gathering(cluster *c, meeting filled, meeting emptied) {
    draw *d = &c->d;
    const uint32_t rows = ROWS / c->threads;
    char place[96];
    get_place(c, "from", place, sizeof place);
    draw_line(d, "store %%s[ds(%%row, %" PRIu32 ")], (load %%p0[%%t, ds(%%row, %" PRIu32 ")])",
              rows, rows);
    add_meeting(c, filled, "filled");
    draw_line(d,
              "%%sum = for %%from in 0..%" PRIu32 " carry(%%a = (broadcast 0 : %s[%" PRIu32
              ", %d])) {",
              get_size(c), c->type, rows, COLUMNS);
    draw_line(d, "  yield (add %%a, (load %%s%s[ds(%%other, %" PRIu32 ")]))", place, rows);
    draw_line(d, "}");
    draw_line(d, "store %%p1[%%t, ds(%%other, %" PRIu32 ")], %%sum", rows);
    add_meeting(c, emptied, "emptied");
}

static void add_scattering(cluster *c, meeting filled, meeting emptied) {
    draw *d = &c->d;
    const uint32_t rows = ROWS / c->threads;
    char place[96];
    get_place(c, "to", place, sizeof place);
    draw_line(d, "store %%s[ds(%%row, %" PRIu32 ")], (broadcast 0 : %s[%" PRIu32 ", %d])", rows,
              c->type, rows, COLUMNS);
    add_meeting(c, emptied, "emptied");
    draw_line(d, "for %%to in 0..%" PRIu32 " {", get_size(c));
    draw_line(
        d, "  atomic_add %%s%s[ds(%%row, %" PRIu32 ")], (load %%p0[%%t, ds(%%row, %" PRIu32 ")])",
        place, rows, rows);
    draw_line(d, "}");
    add_meeting(c, filled, "filled");
    draw_line(d, "store %%p1[%%t, ds(%%other, %" PRIu32 ")], (load %%s[ds(%%other, %" PRIu32 ")])",
              rows, rows);
    if (c->trips > 1 && c->threads > 1) {
        draw_line(d, "block_barrier");
    }
}

static void draw_totals(cluster *c, bool scatters) {
    draw *d = &c->d;
    const uint32_t size = get_size(c);
    const meeting filled = draw_meeting(c, "filled"), emptied = draw_meeting(c, "emptied");
    grout_text_add(&c->scratch, "  scratch %%s : smem %s[%d, %d]\n", c->type, ROWS, COLUMNS);
    add_rows(c);
    draw_line(d, "for %%i in 0..%" PRIu32 " {", c->trips);
    d->indent++;
    draw_line(d, "%%t = add (mul %%cta, %" PRIu32 "), %%i", c->trips);
    if (scatters) {
        add_scattering(c, filled, emptied);
    } else {
        add_gathering(c, filled, emptied);
    }
    d->indent--;
    draw_line(d, "}");
    draw_sums_init(c->sums, ROWS * COLUMNS, c->clusters * size * c->trips,
                   c->clusters * size * c->trips);
    for (uint32_t cta = 0; cta < c->clusters * size; cta++) {
        for (uint32_t i = 0; i < size * c->trips; i++) {
            draw_sum(c->sums, cta * c->trips + i % c->trips,
                     (cta / size * size + i / c->trips) * c->trips + i % c->trips);
        }
    }
}

/* ---- st.async -------------------------------------------------------------------------------- */

/* What the bytes complete: the peer's mbarrier, a cluster barrier on which all arrive, or the
 * peer's barrier, on which the sender arrives. */
typedef enum landing { LAND_MBARRIER, LAND_CLUSTER, LAND_PEER } landing;

static void draw_async_stores(cluster *c, landing how) {
    draw *d = &c->d;
    const bool is_explicit = how == LAND_MBARRIER;
    const uint32_t size = get_size(c), distance = 1 + draw_below(d, size - 1);
    const meeting emptied = draw_meeting(c, "emptied");
    char place[96];
    get_place(c, "to", place, sizeof place);
    grout_text_add(
        &c->scratch,
        "  scratch %%s : smem %s[%" PRIu32 ", %d, %d]\n  scratch %%full : %s[%" PRIu32 "]%s\n",
        c->type, c->stages, ROWS, COLUMNS, is_explicit ? "mbarrier" : "barrier", c->stages,
        how != LAND_CLUSTER ? ""
        : c->y > 1          ? " cluster((cx, cy))"
                            : " cluster(cx)");
    add_neighbour(c, distance, "to");
    for (uint32_t i = 0; i < c->stages && is_explicit; i++) {
        draw_line(d, "mbarrier_init %%full[%" PRIu32 "], 1", i);
    }
    draw_line(d, "for %%i in 0..%" PRIu32 " {", c->trips);
    d->indent++;
    draw_line(d, "%%t = add (mul %%cta, %" PRIu32 "), %%i", c->trips);
    draw_line(d, "%%slot = rem %%i, %" PRIu32, c->stages);
    const bool is_armed_first = is_explicit && draw_below(d, 2);
    char arm[160];
    (void)snprintf(arm, sizeof arm, "%s %%full%s[%%slot]%s",
                   is_explicit ? "mbarrier_expect" : "barrier_arrive",
                   how == LAND_PEER ? place : "", is_explicit ? ", 2048" : "");
    if (is_armed_first) {
        draw_line(d, "%s", arm);
    }
    draw_line(d, "async_store_smem (load %%p0[%%t]), %%s%s[%%slot], %%full[%%slot]", place);
    if (!is_armed_first) {
        draw_line(d, "%s", arm);
    }
    if (is_explicit) {
        draw_line(d, "mbarrier_wait %%full[%%slot], (rem (div %%i, %" PRIu32 "), 2)", c->stages);
    } else {
        draw_line(d, "barrier_wait %%full[%%slot]");
    }
    draw_line(d, "store %%p1[%%t], (load %%s[%%slot])");
    add_meeting(c, emptied, "emptied");
    d->indent--;
    draw_line(d, "}");
    draw_sums_init(c->sums, ROWS * COLUMNS, c->clusters * size * c->trips,
                   c->clusters * size * c->trips);
    for (uint32_t cta = 0; cta < c->clusters * size; cta++) {
        const uint32_t from = cta / size * size + (cta % size + size - distance) % size;
        for (uint32_t i = 0; i < c->trips; i++) {
            draw_sum(c->sums, cta * c->trips + i, from * c->trips + i);
        }
    }
}

/* ---- shared copies --------------------------------------------------------------------------- */

static void add_shared_copy(cluster *c, const char *axes, bool is_one_row) {
    draw *d = &c->d;
    if (c->trips > c->stages) {
        draw_line(d, "if (ge %%i, %" PRIu32 ") {", c->stages);
        draw_line(d, "  barrier_wait %%free[(rem %%i, %" PRIu32 ")]", c->stages);
        draw_line(d, "}");
    }
    draw_line(d,
              "copy_gmem_to_smem %%p0[(add (mul %s, %" PRIu32 "), %%i)], %%s[(rem %%i, %" PRIu32
              ")], %%full[(rem %%i, %" PRIu32 ")] collective_axes(%s)",
              is_one_row ? "%group" : "%cluster", c->trips, c->stages, c->stages, axes);
}

static void add_shared_use(cluster *c) {
    draw *d = &c->d;
    draw_line(d, "barrier_wait %%full[(rem %%j, %" PRIu32 ")]", c->stages);
    draw_line(d,
              "store %%p1[(add (mul %%cta, %" PRIu32 "), %%j)], (load %%s[(rem %%j, %" PRIu32 ")])",
              c->trips, c->stages);
    draw_line(d, "commit_smem");
    draw_line(d, "barrier_arrive %%free[(rem %%j, %" PRIu32 ")]", c->stages);
}

static void add_shared_drain(cluster *c) {
    const uint32_t open = c->trips < c->stages ? c->trips : c->stages;
    for (uint32_t i = 0; i < open; i++) {
        draw_line(&c->d, "barrier_wait %%free[%" PRIu32 "]",
                  (c->trips + c->stages - open + i) % c->stages);
    }
}

/* One thread loads ahead of itself. */
static void add_shared_alone(cluster *c, const char *axes, bool is_one_row) {
    draw *d = &c->d;
    const uint32_t ahead = draw_below(d, c->stages);
    draw_line(d, "for %%i in 0..%" PRIu32 " {", c->trips + ahead);
    d->indent++;
    draw_line(d, "if (lt %%i, %" PRIu32 ") {", c->trips);
    d->indent++;
    add_shared_copy(c, axes, is_one_row);
    d->indent--;
    draw_line(d, "}");
    draw_line(d, "if (ge %%i, %" PRIu32 ") {", ahead);
    d->indent++;
    draw_line(d, "%%j = sub %%i, %" PRIu32, ahead);
    add_shared_use(c);
    d->indent--;
    draw_line(d, "}");
    d->indent--;
    draw_line(d, "}");
    add_shared_drain(c);
}

static void add_shared_pair(cluster *c, const char *axes, bool is_one_row) {
    draw *d = &c->d;
    draw_line(d, "if (eq (axis_index wg), 0) {");
    d->indent++;
    draw_line(d, "for %%i in 0..%" PRIu32 " {", c->trips);
    d->indent++;
    add_shared_copy(c, axes, is_one_row);
    d->indent--;
    draw_line(d, "}");
    add_shared_drain(c);
    d->indent--;
    draw_line(d, "} else {");
    d->indent++;
    draw_line(d, "for %%j in 0..%" PRIu32 " {", c->trips);
    d->indent++;
    add_shared_use(c);
    d->indent--;
    draw_line(d, "}");
    d->indent--;
    draw_line(d, "}");
}

static void draw_shared_ring(cluster *c) {
    draw *d = &c->d;
    const uint32_t size = get_size(c);
    const bool is_one_row = c->y > 1 && draw_below(d, 2); /* along one of the two axes */
    const char *axes = c->y == 1 ? "cx" : is_one_row ? "cy" : "cx, cy";
    const uint32_t group = is_one_row ? c->y : size, groups = c->clusters * (is_one_row ? c->x : 1);
    c->threads = 1 + draw_below(d, 2);
    grout_text_add(&c->scratch,
                   "  scratch %%s : smem %s[%" PRIu32
                   ", %d, %d]\n  scratch %%full : barrier[%" PRIu32
                   "]\n  scratch %%free : barrier[%" PRIu32 "] cluster(%s%s%s)\n",
                   c->type, c->stages, ROWS, COLUMNS, c->stages, c->stages,
                   c->y > 1 && !is_one_row ? "(" : "", axes, c->y > 1 && !is_one_row ? ")" : "");
    draw_line(d, "%%group = div %%cta, %" PRIu32, group);
    draw_line(d, "%%cluster = axis_index g");
    if (c->threads == 1) {
        add_shared_alone(c, axes, is_one_row);
    } else {
        add_shared_pair(c, axes, is_one_row);
    }
    draw_sums_init(c->sums, ROWS * COLUMNS, groups * c->trips, c->clusters * size * c->trips);
    for (uint32_t cta = 0; cta < c->clusters * size; cta++) {
        for (uint32_t i = 0; i < c->trips; i++) {
            draw_sum(c->sums, cta * c->trips + i, cta / group * c->trips + i);
        }
    }
}

/* ---- multicast: one CTA loads for all -------------------------------------------------------- */

static void add_multicast_use(cluster *c) {
    draw *d = &c->d;
    const bool is_armed_first = draw_below(d, 2);
    char place[96];
    (void)snprintf(place, sizeof place, "%s", c->y > 1 ? ".cluster(0, 0)" : ".cluster(0)");
    draw_line(d, "for %%i in 0..%" PRIu32 " {", c->trips);
    d->indent++;
    draw_line(d, "%%slot = rem %%i, %" PRIu32, c->stages);
    draw_line(d, "mbarrier_wait %%full[%%slot], (rem (div %%i, %" PRIu32 "), 2)", c->stages);
    draw_line(d, "store %%p1[(add (mul %%cta, %" PRIu32 "), %%i)], (load %%s[%%slot])", c->trips);
    draw_line(d, "fence_async_shared");
    for (uint32_t i = 0; i < 2; i++) {
        if ((i == 0) == is_armed_first) {
            draw_line(d, "if (lt %%i, %" PRIu32 ") {",
                      c->trips > c->stages ? c->trips - c->stages : 0);
            draw_line(d, "  mbarrier_expect %%full[%%slot], 2048");
            draw_line(d, "}");
        } else {
            draw_line(d, "mbarrier_arrive %%free%s[%%slot]", place);
        }
    }
    d->indent--;
    draw_line(d, "}");
}

static void draw_multicast_ring(cluster *c) {
    draw *d = &c->d;
    const uint32_t size = get_size(c);
    c->threads = 2;
    grout_text_add(&c->scratch,
                   "  scratch %%s : smem %s[%" PRIu32
                   ", %d, %d]\n  scratch %%full : mbarrier[%" PRIu32
                   "]\n  scratch %%free : mbarrier[%" PRIu32 "]\n",
                   c->type, c->stages, ROWS, COLUMNS, c->stages, c->stages);
    draw_line(d, "%%cluster = axis_index g");
    for (uint32_t i = 0; i < c->stages; i++) { /* no loop: they are followed by a rendezvous */
        draw_line(d, "mbarrier_init %%full[%" PRIu32 "], 1", i);
        draw_line(d, "mbarrier_init %%free[%" PRIu32 "], %" PRIu32, i, size);
    }
    draw_line(d, "for %%i in 0..%" PRIu32 " {", c->trips < c->stages ? c->trips : c->stages);
    draw_line(d, "  mbarrier_expect %%full[%%i], 2048");
    draw_line(d, "}");
    draw_line(d, "warp_specialize {");
    d->indent++;
    add_multicast_use(c);
    d->indent--;
    draw_line(d, "} partition {");
    d->indent++;
    draw_line(d, "if (eq %%me, 0) {");
    draw_line(d, "  for %%i in 0..%" PRIu32 " {", c->trips);
    draw_line(d, "    %%slot = rem %%i, %" PRIu32, c->stages);
    draw_line(d, "    mbarrier_wait %%free[%%slot], (rem (add (div %%i, %" PRIu32 "), 1), 2)",
              c->stages);
    draw_line(d,
              "    copy_gmem_to_smem %%p0[(add (mul %%cluster, %" PRIu32
              "), %%i)], %%s[%%slot], %%full[%%slot] multicast(%s)",
              c->trips, c->y > 1 ? "cx, cy" : "cx");
    draw_line(d, "  }");
    draw_line(d, "}");
    d->indent--;
    draw_line(d, "}");
    draw_sums_init(c->sums, ROWS * COLUMNS, c->clusters * c->trips, c->clusters * size * c->trips);
    for (uint32_t cta = 0; cta < c->clusters * size; cta++) {
        for (uint32_t i = 0; i < c->trips; i++) {
            draw_sum(c->sums, cta * c->trips + i, cta / size * c->trips + i);
        }
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void draw_body(cluster *c) {
    switch (c->way) {
    case 0:
    case 1:
        draw_exchange(c, c->way == 0);
        break;
    case 2:
    case 3:
        draw_totals(c, c->way == 2);
        break;
    case 4:
    case 5:
        draw_async_stores(c, c->way == 4 ? LAND_MBARRIER : LAND_CLUSTER);
        break;
    case 6:
        draw_async_stores(c, LAND_PEER);
        break;
    case 7:
        draw_multicast_ring(c);
        break;
    default:
        draw_shared_ring(c);
        break;
    }
}

void draw_clusters(uint64_t seed, grout_text *out, draw_sums *sums) {
    cluster c = {.d = {.state = seed}, .sums = sums};
    draw *d = &c.d;
    char type[64], axes[160];
    const uint32_t size = 2u << draw_below(d, draw_below(d, 3) ? 2 : 4);
    c.y = size > 2 && draw_below(d, 2) ? 2u << draw_below(d, size > 4 ? 2 : 1) : 1;
    c.x = size / c.y;
    c.clusters = 1 + (draw_below(d, 4) == 0);
    c.way = draw_below(d, 10);
    c.threads = c.way < 4 ? 1 + draw_below(d, 2) : 1;
    c.stages = 1 + draw_below(d, 4);
    c.trips = 1 + draw_below(d, 2 * c.stages + 1);
    c.type = c.way == 2 || draw_below(d, 2) ? "i32" : "f32";
    c.has_exit_sync = draw_below(d, 3) == 0;
    if (c.y > 1) {
        draw_line(d, "%%me = add (mul (axis_index cx), %" PRIu32 "), (axis_index cy)", c.y);
    } else {
        draw_line(d, "%%me = axis_index cx");
    }
    draw_line(d, "%%cta = add (mul (axis_index g), %" PRIu32 "), %%me", size);
    draw_body(&c);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %d, %d]", c.type, sums->sources, ROWS,
                   COLUMNS);
    (void)draw_param(d, "in", type);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %d, %d]", c.type, sums->results, ROWS,
                   COLUMNS);
    (void)draw_param(d, "out", type);
    if (c.y > 1) {
        (void)snprintf(type, sizeof type, "cx = %" PRIu32 ", cy = %" PRIu32, c.x, c.y);
    } else {
        (void)snprintf(type, sizeof type, "cx = %" PRIu32, c.x);
    }
    (void)snprintf(axes, sizeof axes,
                   "grid(g = %" PRIu32 ") cluster(%s) threads(wg = %" PRIu32 ")%s", c.clusters,
                   type, c.threads, c.has_exit_sync ? " attr cluster_exit = sync" : "");
    draw_finish(d, c.scratch.data, axes, out);
    grout_text_free(&c.scratch);
}
