/* draw_groups.c - wgmmas of several kinds in flight at once: in any order with plain stores, loads
 * and stores by TMA, and uses of the accumulator, each after the shortest waits that make it
 * right. SPDX-License-Identifier: Apache-2.0
 *
 * What is known while drawing is kept in a small model of the one thread; all threads of the kernel
 * run the same text on slots of their own. So a wait that is one too short here, or a rule of the
 * checker that asks for one more, shows in a finding.
 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>

#define A_SLOTS    3
#define B_SLOTS    2
#define HALVES     2
#define GROUPS_MAX 256
#define LOADS_MAX  16
#define REGIONS    (A_SLOTS + B_SLOTS) /* slots of A, then those of B */

typedef struct slot {
    uint32_t wgmma; /* the newest group that reads it, from 1; 0: none */
    uint32_t store; /* the newest copy to GMEM that reads it */
    uint32_t load;  /* the copy from GMEM in flight that fills it, from 1; 0: none */
    bool is_stored; /* a plain store that is not committed */
    bool is_read;   /* a plain load that is not committed */
} slot;

typedef struct groups {
    draw d;
    slot slots[REGIONS];
    uint32_t issued, done;           /* wgmma groups */
    uint32_t stores, stores_read;    /* copies to GMEM */
    uint32_t users[HALVES];          /* the newest group on a half of the accumulator */
    bool is_wide[HALVES];            /* and whether it takes both */
    uint32_t loads, results, copies; /* barriers; slots of the outputs */
    uint32_t half;                   /* columns */
    bool is_transposed;              /* b is held as [N, K] */
    uint32_t turns;                  /* of the loop around; 0: none */
} groups;

/* ---- waits ----------------------------------------------------------------------------------- */

/* wgmma_wait, as short as may be, so that group number k is over. */
static void wait_for_group(groups *g, uint32_t k) {
    if (k <= g->done) {
        return;
    }
    const uint32_t left = g->issued - k < 7 ? g->issued - k : 7;
    draw_line(&g->d, "wgmma_wait %" PRIu32, left);
    g->done = g->issued - left;
}

static void wait_for_store(groups *g, uint32_t k) {
    if (k > g->stores_read) {
        draw_line(&g->d, "wait_smem_to_gmem %" PRIu32 " read_only", g->stores - k);
        g->stores_read = k;
    }
}

static void wait_for_load(groups *g, slot *s) {
    if (s->load > 0) {
        draw_line(&g->d, "barrier_wait %%full[%%w * %d + %" PRIu32 "]", LOADS_MAX, s->load - 1);
        s->load = 0;
    }
}

static void commit(groups *g) {
    draw_line(&g->d, "commit_smem");
    for (uint32_t i = 0; i < REGIONS; i++) {
        g->slots[i].is_stored = g->slots[i].is_read = false;
    }
}

/* Before anything writes to the slot. */
static void free_slot(groups *g, slot *s) {
    wait_for_load(g, s);
    wait_for_group(g, s->wgmma);
    wait_for_store(g, s->store);
}

/* So that a round of a loop ends as it began. */
static void settle(groups *g) {
    for (uint32_t i = 0; i < REGIONS; i++) {
        wait_for_load(g, &g->slots[i]);
    }
    draw_line(&g->d, "wgmma_wait 0");
    draw_line(&g->d, "wait_smem_to_gmem 0");
    commit(g);
    g->done = g->issued;
    g->stores_read = g->stores;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void get_slot_text(uint32_t i, char *text, size_t size) {
    (void)snprintf(text, size, i < A_SLOTS ? "%%as[%%w, %" PRIu32 "]" : "%%bs[%%w, %" PRIu32 "]",
                   i < A_SLOTS ? i : i - A_SLOTS);
}

/* Which of the inputs: another one in each round of a loop. */
static void get_source_text(groups *g, uint32_t i, char *text, size_t size) {
    const uint32_t which = draw_below(&g->d, 4);
    const char *array = i < A_SLOTS ? "p0" : "p1";
    if (g->turns > 0 && draw_below(&g->d, 2) == 0) {
        (void)snprintf(text, size, "%%%s[(%%i + %" PRIu32 ") %% 4]", array, which);
    } else {
        (void)snprintf(text, size, "%%%s[%" PRIu32 "]", array, which);
    }
}

static void draw_plain_store(groups *g, uint32_t i) {
    char to[64], from[64];
    get_slot_text(i, to, sizeof to);
    get_source_text(g, i, from, sizeof from);
    free_slot(g, &g->slots[i]);
    draw_line(&g->d, "store %s, (load %s)", to, from);
    g->slots[i].is_stored = true;
}

static void draw_tma_load(groups *g, uint32_t i) {
    char to[64], from[64];
    if (g->loads >= LOADS_MAX) {
        return;
    }
    get_slot_text(i, to, sizeof to);
    get_source_text(g, i, from, sizeof from);
    free_slot(g, &g->slots[i]);
    if (g->slots[i].is_stored || g->slots[i].is_read) {
        commit(g);
    }
    draw_line(&g->d, "copy_gmem_to_smem %s, %s, %%full[%%w * %d + %" PRIu32 "]", from, to,
              LOADS_MAX, g->loads);
    g->slots[i].load = ++g->loads;
}

static void draw_plain_load(groups *g) {
    const uint32_t i = draw_below(&g->d, A_SLOTS);
    char from[64];
    if (g->copies >= 8) {
        return;
    }
    get_slot_text(i, from, sizeof from);
    wait_for_load(g, &g->slots[i]);
    draw_line(&g->d, "store %%p3[%%w, %" PRIu32 "], (load %s)", g->copies++, from);
    g->slots[i].is_read = true;
}

static void draw_tma_store(groups *g) {
    const uint32_t i = draw_below(&g->d, A_SLOTS);
    char from[64];
    if (g->copies >= 8) {
        return;
    }
    get_slot_text(i, from, sizeof from);
    wait_for_load(g, &g->slots[i]);
    if (g->slots[i].is_stored) {
        commit(g);
    }
    draw_line(&g->d, "copy_smem_to_gmem %s, %%p3[%%w, %" PRIu32 "]", from, g->copies++);
    g->slots[i].store = ++g->stores;
}

/* "%acc", or a half of it; which: 0, 1, or 2 for both. */
static void get_accumulator_text(const groups *g, uint32_t which, char *text, size_t size) {
    if (which == HALVES) {
        (void)snprintf(text, size, "%%acc");
    } else {
        (void)snprintf(text, size, "%%acc[:, ds(%" PRIu32 ", %" PRIu32 ")]", which * g->half,
                       g->half);
    }
}

static void get_b_text(const groups *g, uint32_t j, uint32_t which, char *text, size_t size) {
    const uint32_t start = which * g->half;
    if (which == HALVES) {
        (void)snprintf(text, size, "%%bs[%%w, %" PRIu32 "]%s", j,
                       g->is_transposed ? ".transpose(1, 0)" : "");
    } else if (g->is_transposed) {
        (void)snprintf(text, size,
                       "%%bs[%%w, %" PRIu32 ", ds(%" PRIu32 ", %" PRIu32 ")].transpose(1, 0)", j,
                       start, g->half);
    } else {
        (void)snprintf(text, size, "%%bs[%%w, %" PRIu32 ", :, ds(%" PRIu32 ", %" PRIu32 ")]", j,
                       start, g->half);
    }
}

static void wait_for_half(groups *g, uint32_t which) {
    for (uint32_t h = 0; h < HALVES; h++) {
        if (which == h || which == HALVES) {
            wait_for_group(g, g->users[h]);
        }
    }
}

/* Wgmmas of one shape on the same columns need no wait; others do. */
static void wait_for_shape(groups *g, uint32_t which) {
    for (uint32_t h = 0; h < HALVES; h++) {
        if ((which == h || which == HALVES) && g->is_wide[h] != (which == HALVES)) {
            wait_for_group(g, g->users[h]);
        }
    }
}

static void draw_wgmma_op(groups *g) {
    const uint32_t i = draw_below(&g->d, A_SLOTS), j = draw_below(&g->d, B_SLOTS);
    const uint32_t which = draw_below(&g->d, HALVES + 1);
    const bool is_register = draw_below(&g->d, 4) == 0, waits = draw_below(&g->d, 3) == 0;
    slot *a = &g->slots[i], *b = &g->slots[A_SLOTS + j];
    char accumulator[64], left[64], right[96];
    if (g->issued >= GROUPS_MAX) {
        return;
    }
    wait_for_load(g, a);
    wait_for_load(g, b);
    if ((a->is_stored && !is_register) || b->is_stored) {
        commit(g);
    }
    wait_for_shape(g, which);
    get_accumulator_text(g, which, accumulator, sizeof accumulator);
    get_b_text(g, j, which, right, sizeof right);
    get_slot_text(i, left, sizeof left);
    draw_line(&g->d, is_register ? "%s %s, (load %s), %s" : "%s %s, %s, %s",
              waits ? "wgmma" : "wgmma_async", accumulator, left, right);
    g->issued++;
    if (is_register) {
        a->is_read = true;
    } else {
        a->wgmma = g->issued;
    }
    b->wgmma = g->issued;
    for (uint32_t h = 0; h < HALVES; h++) {
        if (which == h || which == HALVES) {
            g->users[h] = g->issued;
            g->is_wide[h] = which == HALVES;
        }
    }
    g->done = waits ? g->issued - 1 : g->done;
}

static void draw_accumulator_load(groups *g) {
    const uint32_t which = draw_below(&g->d, HALVES + 1), way = draw_below(&g->d, 3);
    char from[64], to[64];
    uint32_t newest = 0;
    if (g->results >= 6) {
        return;
    }
    for (uint32_t h = 0; h < HALVES; h++) {
        newest = (which == h || which == HALVES) && g->users[h] > newest ? g->users[h] : newest;
    }
    get_accumulator_text(g, which, from, sizeof from);
    (void)snprintf(to, sizeof to, "%%p2[%%w, %" PRIu32 ", :, ds(%" PRIu32 ", %" PRIu32 ")]",
                   g->results++, which == 1 ? g->half : 0, which == HALVES ? 2 * g->half : g->half);
    if (way == 0) {
        draw_line(&g->d, "store %s, (load %s)", to, from);
        g->done = g->issued;
    } else if (way == 1 && newest > g->done && g->issued - newest <= 7) {
        draw_line(&g->d, "store %s, (acc_load %s wait(%" PRIu32 "))", to, from, g->issued - newest);
        g->done = newest;
    } else {
        wait_for_half(g, which);
        draw_line(&g->d, "store %s, (acc_load %s)", to, from);
    }
}

static void draw_accumulator_store(groups *g) {
    const uint32_t which = draw_below(&g->d, HALVES + 1);
    char text[64];
    wait_for_half(g, which);
    get_accumulator_text(g, which, text, sizeof text);
    if (draw_below(&g->d, 2) == 0) {
        draw_line(&g->d, "acc_store %s, (mul (acc_load %s), 0.5)", text, text);
    } else {
        draw_line(&g->d, "acc_store %s, (broadcast %" PRIu32 ".0 : f32[64, %" PRIu32 "])", text,
                  draw_below(&g->d, 4), which == HALVES ? 2 * g->half : g->half);
    }
}

static void draw_op(groups *g) {
    switch (draw_below(&g->d, 12)) {
    case 0:
    case 1:
        draw_plain_store(g, draw_below(&g->d, REGIONS));
        return;
    case 2:
    case 3:
        draw_tma_load(g, draw_below(&g->d, REGIONS));
        return;
    case 4:
        draw_plain_load(g);
        return;
    case 5:
        draw_tma_store(g);
        return;
    case 6:
        draw_accumulator_load(g);
        return;
    case 7:
        draw_accumulator_store(g);
        return;
    default:
        draw_wgmma_op(g);
        return;
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void draw_ops(groups *g, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        draw_op(g);
    }
}

/* Operations in a row, in a loop of either kind, or in the one branch of a condition that only some
 * threads take. */
static void draw_part(groups *g) {
    const uint32_t way = draw_below(&g->d, 4), turns = draw_below(&g->d, 4);
    const uint32_t count = 4 + draw_below(&g->d, 10);
    if (way == 0) {
        draw_ops(g, count);
        return;
    }
    settle(g);
    if (way == 1) {
        draw_line(&g->d, "for %%i in 0..%" PRIu32 " {", turns);
    } else if (way == 2) {
        draw_line(&g->d, "while carry(%%i = 0) {");
        draw_line(&g->d, "  cond (lt %%i, %" PRIu32 ")", turns);
        draw_line(&g->d, "} do {");
    } else {
        draw_line(&g->d, "if (ne %%w, %" PRIu32 ") {", draw_below(&g->d, 3));
    }
    g->d.indent++;
    g->turns = way == 3 ? 0 : turns + 1;
    draw_ops(g, count);
    settle(g);
    if (way == 2) {
        draw_line(&g->d, "yield (add %%i, 1)");
    }
    g->turns = 0;
    g->d.indent--;
    draw_line(&g->d, "}");
}

static void add_scratch(const groups *g, const char *dtype, uint32_t threads, grout_text *out) {
    const uint32_t columns = 2 * g->half;
    grout_text_add(out,
                   "  scratch %%as : smem %s[%" PRIu32 ", %d, 64, 64] tile(8, 64) swizzle(128)\n"
                   "  scratch %%bs : smem %s[%" PRIu32 ", %d, %" PRIu32 ", %" PRIu32
                   "] tile(8, 64) swizzle(128)\n"
                   "  scratch %%full : barrier[%" PRIu32 "]\n"
                   "  scratch %%acc : acc f32[64, %" PRIu32 "]\n",
                   dtype, threads, A_SLOTS, dtype, threads, B_SLOTS,
                   g->is_transposed ? columns : 64, g->is_transposed ? 64 : columns,
                   threads * LOADS_MAX, columns);
}

static void add_params(groups *g, const char *dtype, uint32_t threads) {
    const uint32_t columns = 2 * g->half;
    char type[96];
    (void)snprintf(type, sizeof type, "%s[4, 64, 64]", dtype);
    (void)draw_param(&g->d, "in", type);
    (void)snprintf(type, sizeof type, "%s[4, %" PRIu32 ", %" PRIu32 "]", dtype,
                   g->is_transposed ? columns : 64, g->is_transposed ? 64 : columns);
    (void)draw_param(&g->d, "in", type);
    (void)snprintf(type, sizeof type, "f32[%" PRIu32 ", 8, 64, %" PRIu32 "]", threads, columns);
    (void)draw_param(&g->d, "out", type);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", 8, 64, 64]", dtype, threads);
    (void)draw_param(&g->d, "out", type);
}

void draw_groups(uint64_t seed, grout_text *out) {
    static const uint32_t halves[] = {8, 24, 64, 64};
    groups g = {.d = {.state = seed}};
    grout_text scratch = {0};
    char axes[64];
    const uint32_t threads = 1 + draw_below(&g.d, 3), parts = 1 + draw_below(&g.d, 3);
    const char *dtype = draw_below(&g.d, 2) == 0 ? "f16" : "bf16";
    g.half = halves[draw_below(&g.d, 4)];
    g.is_transposed = g.half < 64 || draw_below(&g.d, 2) == 0;
    add_params(&g, dtype, threads);
    add_scratch(&g, dtype, threads, &scratch);
    draw_line(&g.d, "%%w = axis_index wg");
    for (uint32_t i = 0; i < REGIONS; i++) {
        draw_plain_store(&g, i);
    }
    for (uint32_t i = 0; i < parts; i++) {
        draw_part(&g);
    }
    settle(&g);
    draw_line(&g.d, "store %%p2[%%w, 7], (acc_load %%acc)");
    (void)snprintf(axes, sizeof axes, "threads(wg = %" PRIu32 ")", threads);
    draw_finish(&g.d, scratch.data, axes, out);
    grout_text_free(&scratch);
}
