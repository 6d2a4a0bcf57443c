/* draw_grids.c - CTAs of a grid that wait for each other by semaphores, take turns, meet, and add
 * up in GMEM by atomics and TMA. SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>

#define ROWS    8
#define COLUMNS 32

typedef struct grid {
    draw d;
    uint32_t ctas, tiles;
    grout_text scratch;
    const char *type;
    const char *direction; /* of %p1 */
    draw_sums *sums;
    uint32_t slots; /* tiles of SMEM, barriers %full of one phase each */
} grid;

static void set_sums(grid *g, uint32_t sources, uint32_t results) {
    draw_sums_init(g->sums, ROWS * COLUMNS, sources, results);
}

static void add_tile_scratch(grid *g) {
    grout_text_add(&g->scratch, "  scratch %%s : smem %s[%d, %d]\n  scratch %%full : barrier[1]\n",
                   g->type, ROWS, COLUMNS);
}

/* ---- parts that travel through GMEM, by plain accesses or by TMA ------------------------------
 */

/* The tile %v of this CTA goes to a place, and is released by what follows. */
static void add_write(grid *g, const char *to, bool by_tma) {
    draw *d = &g->d;
    if (!by_tma) {
        draw_line(d, "store %s, %%v", to);
        return;
    }
    draw_line(d, "store %%s, %%v");
    draw_line(d, "commit_smem");
    draw_line(d, "copy_smem_to_gmem %%s, %s", to);
    draw_line(d, "wait_smem_to_gmem 0");
}

/* A tile that another CTA has written, as a value. */
static void add_read(grid *g, const char *from, const char *name, bool by_tma) {
    draw *d = &g->d;
    if (!by_tma) {
        draw_line(d, "%%%s = load %s", name, from);
        return;
    }
    draw_line(d, "commit_smem");
    draw_line(d, "copy_gmem_to_smem %s, %%s, %%full[0]", from);
    draw_line(d, "barrier_wait %%full[0]");
    draw_line(d, "%%%s = load %%s", name);
}

/* Some write, then one reads: semaphores of the launch. */
static void draw_gathering(grid *g) {
    draw *d = &g->d;
    const bool writes_by_tma = draw_below(d, 2), reads_by_tma = draw_below(d, 2);
    const bool is_told = draw_below(d, 2), each_its_own = draw_below(d, 2);
    const bool needs_commit = reads_by_tma;
    const uint32_t ctas = g->ctas;
    add_tile_scratch(g);
    grout_text_add(&g->scratch,
                   "  scratch %%part : gmem %s[%" PRIu32
                   ", %d, %d]\n  scratch %%done : semaphore[%" PRIu32 "] global\n",
                   g->type, ctas, ROWS, COLUMNS, each_its_own ? ctas : 1);
    draw_line(d, "%%v = load %%p0[%%me]");
    add_write(g, "%part[%me]", writes_by_tma);
    if (needs_commit && !is_told) { /* by the writer too, which alone is not enough */
        draw_line(d, "commit_gmem");
    }
    draw_line(d, "semaphore_signal %%done[%s], 1", each_its_own ? "%me" : "0");
    draw_line(d, "if (eq %%me, %" PRIu32 ") {", draw_below(d, ctas));
    d->indent++;
    if (!each_its_own) {
        draw_line(d, "semaphore_wait %%done[0], %" PRIu32, ctas);
    }
    if (needs_commit && !each_its_own) {
        draw_line(d, "commit_gmem");
    }
    draw_line(d, "%%sum = for %%i in 0..%" PRIu32 " carry(%%a = (broadcast 0 : %s[%d, %d])) {",
              ctas, g->type, ROWS, COLUMNS);
    d->indent++;
    if (each_its_own) {
        draw_line(d, "semaphore_wait %%done[%%i], 1");
    }
    if (needs_commit && each_its_own) {
        draw_line(d, "commit_gmem");
    }
    add_read(g, "%part[%i]", "u", reads_by_tma);
    draw_line(d, "yield (add %%a, %%u)");
    d->indent--;
    draw_line(d, "}");
    draw_line(d, "store %%p1[0], %%sum");
    d->indent--;
    draw_line(d, "}");
    set_sums(g, ctas, 1);
    for (uint32_t i = 0; i < ctas; i++) {
        draw_sum(g->sums, 0, i);
    }
}

/* Each adds to what the one before has left. */
static void draw_chain(grid *g) {
    draw *d = &g->d;
    const bool by_tma = draw_below(d, 2), is_own = draw_below(d, 2);
    const uint32_t rounds = 1 + draw_below(d, 3), ctas = g->ctas;
    add_tile_scratch(g);
    grout_text_add(&g->scratch,
                   "  scratch %%part : gmem %s[%d, %d]\n  scratch %%turn : semaphore[%" PRIu32
                   "] global\n",
                   g->type, ROWS, COLUMNS, ctas);
    draw_line(d, "for %%r in 0..%" PRIu32 " {", rounds);
    d->indent++;
    draw_line(d, "%%t = add (mul %%r, %" PRIu32 "), %%me", ctas);
    draw_line(d, "%%x = load %%p0[%%t]");
    draw_line(d, "%%v = if (gt %%t, 0) {");
    d->indent++;
    if (ctas > 1) {
        draw_line(d, "semaphore_wait %%turn[%%me], 1");
    }
    if (by_tma) {
        draw_line(d, "commit_gmem");
    }
    add_read(g, "%part", "u", by_tma);
    draw_line(d, "yield (add %%u, %%x)");
    d->indent--;
    draw_line(d, "} else {");
    draw_line(d, "  yield %%x");
    draw_line(d, "}");
    add_write(g, "%part", by_tma);
    draw_line(d, "store %%p1[%%t], %%v");
    if (ctas > 1) {
        draw_line(d, "if (lt %%t, %" PRIu32 ") {", rounds * ctas - 1);
        draw_line(d, "  semaphore_signal %%turn[(rem (add %%me, 1), %" PRIu32 ")], 1", ctas);
        draw_line(d, "}");
    }
    d->indent--;
    draw_line(d, "}");
    (void)is_own;
    set_sums(g, rounds * ctas, rounds * ctas);
    for (uint32_t i = 0; i < rounds * ctas; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            draw_sum(g->sums, i, j);
        }
    }
}

/* ---- meeting ----------------------------------------------------------------------------------
 */

typedef enum meeting { MEET_COUNTING, MEET_ROUNDS, MEET_CENTRE } meeting;

static void add_meeting_scratch(grid *g, meeting how, uint32_t rounds) {
    grout_text_add(&g->scratch,
                   "  scratch %%here : semaphore[%" PRIu32
                   "] global\n  scratch %%go : semaphore[%" PRIu32 "] global\n",
                   how == MEET_ROUNDS ? rounds : 1, g->ctas);
}

/* Round %r. */
static void add_meeting(grid *g, meeting how) {
    draw *d = &g->d;
    if (how != MEET_CENTRE) {
        const char *which = how == MEET_ROUNDS ? "%r" : "0";
        draw_line(d, "semaphore_signal %%here[%s], 1", which);
        if (how == MEET_ROUNDS) {
            draw_line(d, "semaphore_wait %%here[%%r], %" PRIu32 " no_decrement", g->ctas);
        } else {
            draw_line(d, "semaphore_wait %%here[0], (mul (add %%r, 1), %" PRIu32 ") no_decrement",
                      g->ctas);
        }
        return;
    }
    draw_line(d, "if (eq %%me, 0) {");
    if (g->ctas > 1) {
        draw_line(d, "  semaphore_wait %%here[0], %" PRIu32, g->ctas - 1);
    }
    draw_line(d, "  for %%i in 1..%" PRIu32 " {", g->ctas);
    draw_line(d, "    semaphore_signal %%go[%%i], 1");
    draw_line(d, "  }");
    draw_line(d, "} else {");
    draw_line(d, "  semaphore_signal %%here[0], 1");
    draw_line(d, "  semaphore_wait %%go[%%me], 1");
    draw_line(d, "}");
}

/* Nobody looks any more: the units are taken away. */
static void add_cleaning(grid *g, meeting how, uint32_t rounds) {
    draw *d = &g->d;
    if (how == MEET_CENTRE) {
        return;
    }
    draw_line(d, "if (gt %%me, 0) {");
    draw_line(d, "  semaphore_signal %%go[0], 1");
    draw_line(d, "} else {");
    if (g->ctas > 1) {
        draw_line(d, "  semaphore_wait %%go[0], %" PRIu32, g->ctas - 1);
    }
    for (uint32_t i = 0; i < (how == MEET_ROUNDS ? rounds : 1); i++) {
        draw_line(d, "  semaphore_wait %%here[%" PRIu32 "], %" PRIu32, i,
                  how == MEET_ROUNDS ? g->ctas : rounds * g->ctas);
    }
    draw_line(d, "}");
}

/* Each leaves a tile, all meet, each takes another one's; again. Two buffers, or two meetings. */
static void draw_exchange(grid *g) {
    draw *d = &g->d;
    const meeting how = (meeting)draw_below(d, 3);
    const bool writes_by_tma = draw_below(d, 2), reads_by_tma = draw_below(d, 2);
    const uint32_t ctas = g->ctas, rounds = 1 + draw_below(d, 4), step = draw_below(d, ctas + 1);
    const uint32_t buffers = rounds < 2 ? 1 : 2;
    add_tile_scratch(g);
    add_meeting_scratch(g, how, rounds);
    grout_text_add(&g->scratch, "  scratch %%part : gmem %s[%" PRIu32 ", %" PRIu32 ", %d, %d]\n",
                   g->type, buffers, ctas, ROWS, COLUMNS);
    draw_line(d, "for %%r in 0..%" PRIu32 " {", rounds);
    d->indent++;
    draw_line(d, "%%v = load %%p0[(add (mul %%r, %" PRIu32 "), %%me)]", ctas);
    draw_line(d, "%%b = rem %%r, %" PRIu32, buffers);
    add_write(g, "%part[%b, %me]", writes_by_tma);
    if (reads_by_tma && draw_below(d, 2)) { /* by the writer too, which alone is not enough */
        draw_line(d, "commit_gmem");
    }
    add_meeting(g, how);
    draw_line(d, "%%from = rem (add %%me, %" PRIu32 "), %" PRIu32, step, ctas);
    if (reads_by_tma) {
        draw_line(d, "commit_gmem");
    }
    add_read(g, "%part[%b, %from]", "u", reads_by_tma);
    draw_line(d, "store %%p1[(add (mul %%r, %" PRIu32 "), %%me)], %%u", ctas);
    d->indent--;
    draw_line(d, "}");
    add_cleaning(g, how, rounds);
    set_sums(g, rounds * ctas, rounds * ctas);
    for (uint32_t i = 0; i < rounds * ctas; i++) {
        draw_sum(g->sums, i, i / ctas * ctas + (i % ctas + step) % ctas);
    }
}

/* ---- adding up --------------------------------------------------------------------------------
 */

/* A persistent grid: CTA i takes tiles i, i + CTAs, ..; all are added to one result, zero before.
 */
static void draw_reduction(grid *g) {
    draw *d = &g->d;
    const uint32_t way = draw_below(d, 3), results = 1 + draw_below(d, 3);
    const bool delays = draw_below(d, 2);
    g->direction = "inout";
    grout_text_add(&g->scratch, "  scratch %%s : smem %s[2, %d, %d]\n", g->type, ROWS, COLUMNS);
    draw_line(d, "for %%t in %%me..%" PRIu32 " step %" PRIu32 " {", g->tiles, g->ctas);
    d->indent++;
    draw_line(d, "%%v = load %%p0[%%t]");
    draw_line(d, "%%to = rem %%t, %" PRIu32, results);
    if (way == 0) {
        draw_line(d, "atomic_add %%p1[%%to], %%v");
    } else {
        draw_line(d, "%%slot = rem (div %%t, %" PRIu32 "), 2", g->ctas);
        draw_line(d, "wait_smem_to_gmem %d read_only", delays ? 1 : 0);
        draw_line(d, "store %%s[%%slot], %%v");
        draw_line(d, "commit_smem");
        draw_line(d, "copy_smem_to_gmem %%s[%%slot], %%p1[%%to] reduce(add)");
    }
    d->indent--;
    draw_line(d, "}");
    draw_line(d, "wait_smem_to_gmem 0");
    set_sums(g, g->tiles, results);
    for (uint32_t i = 0; i < g->tiles; i++) {
        draw_sum(g->sums, i % results, i);
    }
}

/* The last CTA adds up, or a counter says which CTA takes which tile: the schedule decides. */
static void draw_counter(grid *g) {
    draw *d = &g->d;
    const bool is_last = draw_below(d, 2);
    grout_text_add(&g->scratch, "  scratch %%count : gmem i32[1]\n"
                                "  scratch %%zero : semaphore[1] global\n");
    if (is_last) {
        grout_text_add(&g->scratch, "  scratch %%part : gmem %s[%" PRIu32 ", %d, %d]\n", g->type,
                       g->ctas, ROWS, COLUMNS);
    }
    draw_line(d, "if (eq %%me, 0) {");
    draw_line(d, "  store %%count[0], 0");
    draw_line(d, "  semaphore_signal %%zero[0], %" PRIu32, g->ctas);
    draw_line(d, "}");
    draw_line(d, "semaphore_wait %%zero[0], 1");
    if (is_last) {
        draw_line(d, "store %%part[%%me], (load %%p0[%%me])");
        draw_line(d, "%%old = atomic_fetch_add %%count[0], 1 order(acq_rel)");
        draw_line(d, "if (eq %%old, %" PRIu32 ") {", g->ctas - 1);
        draw_line(d,
                  "  %%sum = for %%i in 0..%" PRIu32 " carry(%%a = (broadcast 0 : %s[%d, %d])) {",
                  g->ctas, g->type, ROWS, COLUMNS);
        draw_line(d, "    yield (add %%a, (load %%part[%%i]))");
        draw_line(d, "  }");
        draw_line(d, "  store %%p1[0], %%sum");
        draw_line(d, "}");
        set_sums(g, g->ctas, 1);
    } else {
        draw_line(d, "%%first = atomic_fetch_add %%count[0], 1");
        draw_line(d, "%%last = while carry(%%t = %%first) {");
        draw_line(d, "  cond (lt %%t, %" PRIu32 ")", g->tiles);
        draw_line(d, "} do {");
        draw_line(d, "  store %%p1[%%t], (load %%p0[%%t])");
        draw_line(d, "  yield (atomic_fetch_add %%count[0], 1)");
        draw_line(d, "}");
        set_sums(g, g->tiles, g->tiles);
    }
    for (uint32_t i = 0; i < (is_last ? g->ctas : g->tiles); i++) {
        draw_sum(g->sums, is_last ? 0 : i, i);
    }
    g->sums->is_certified = false;
}

/* ---- threads of each CTA, by semaphores of its own --------------------------------------------
 */

static void draw_own_ring(grid *g) {
    draw *d = &g->d;
    const uint32_t stages = 1 + draw_below(d, 3), trips = 1 + draw_below(d, 7);
    const bool is_scarce = draw_below(d, 2); /* units say how many slots are free */
    grout_text_add(&g->scratch,
                   "  scratch %%s : smem %s[%" PRIu32 ", %d, %d]\n"
                   "  scratch %%full : semaphore[1]\n  scratch %%free : semaphore[1]\n",
                   g->type, stages, ROWS, COLUMNS);
    draw_line(d, "if (eq (axis_index wg), 0) {");
    d->indent++;
    if (is_scarce) {
        draw_line(d, "semaphore_signal %%free[0], %" PRIu32 " scope(cta)", stages);
    }
    draw_line(d, "for %%i in 0..%" PRIu32 " {", trips);
    if (is_scarce) {
        draw_line(d, "  semaphore_wait %%free[0], 1");
    } else if (trips > stages) {
        draw_line(d, "  if (ge %%i, %" PRIu32 ") {", stages);
        draw_line(d, "    semaphore_wait %%free[0], 1 scope(cta)");
        draw_line(d, "  }");
    }
    draw_line(
        d, "  store %%s[(rem %%i, %" PRIu32 ")], (load %%p0[(add (mul %%me, %" PRIu32 "), %%i)])",
        stages, trips);
    draw_line(d, "  semaphore_signal %%full[0], 1 scope(cta)");
    draw_line(d, "}");
    draw_line(d, "semaphore_wait %%free[0], %" PRIu32,
              is_scarce || trips > stages ? stages : trips);
    d->indent--;
    draw_line(d, "} else {");
    d->indent++;
    draw_line(d, "for %%i in 0..%" PRIu32 " {", trips);
    draw_line(d, "  semaphore_wait %%full[0], 1 scope(cta)");
    draw_line(
        d, "  store %%p1[(add (mul %%me, %" PRIu32 "), %%i)], (load %%s[(rem %%i, %" PRIu32 ")])",
        trips, stages);
    draw_line(d, "  semaphore_signal %%free[0], 1 scope(cta)");
    draw_line(d, "}");
    d->indent--;
    draw_line(d, "}");
    set_sums(g, g->ctas * trips, g->ctas * trips);
    for (uint32_t i = 0; i < g->ctas * trips; i++) {
        draw_sum(g->sums, i, i);
    }
    /* the first units and the returned ones queue up in one order only if they come in one */
    g->sums->is_certified = true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

void draw_grids(uint64_t seed, grout_text *out, draw_sums *sums) {
    grid g = {.d = {.state = seed}, .sums = sums, .direction = "out"};
    draw *d = &g.d;
    char type[64], axes[96];
    const uint32_t way = draw_below(d, 8);
    g.ctas = 1 + draw_below(d, 6);
    g.tiles = draw_below(d, 3 * g.ctas + 1) + 1;
    g.type = draw_below(d, 2) ? "i32" : "f32";
    draw_line(d, "%%me = axis_index g");
    switch (way) {
    case 0:
    case 1:
        draw_gathering(&g);
        break;
    case 2:
        draw_chain(&g);
        break;
    case 3:
    case 4:
        draw_exchange(&g);
        break;
    case 5:
        draw_reduction(&g);
        break;
    case 6:
        draw_own_ring(&g);
        break;
    default:
        draw_counter(&g);
        break;
    }
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %d, %d]", g.type, sums->sources, ROWS,
                   COLUMNS);
    (void)draw_param(d, "in", type);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %d, %d]", g.type, sums->results, ROWS,
                   COLUMNS);
    (void)draw_param(d, g.direction, type);
    (void)snprintf(axes, sizeof axes, "grid(g = %" PRIu32 ") threads(wg = %d)", g.ctas,
                   way == 6 ? 2 : 1);
    draw_finish(d, g.scratch.data, axes, out);
    grout_text_free(&g.scratch);
}
