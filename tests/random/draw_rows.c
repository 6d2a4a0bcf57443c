/* draw_rows.c - a thread that gathers rows by TMA for slots of SMEM, and one that scatters them.
 *
 * A tile is one row. What row of %p0 goes to what row of %p1 are sums of the numbers of CTA, step
 * and row: those of %p1 differ from each other, those of %p0 may not, and some of both lie outside.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>

typedef enum use { USE_SLOT, USE_DOUBLED, USE_PLAIN, USE_COUNT } use;

typedef struct rows {
    draw d;
    uint32_t ctas, steps, count; /* rows of a step */
    uint32_t width, parts;       /* columns, and slices of them with a copy each */
    uint32_t stages, sources, results;
    int32_t first, by_cta, by_step, by_row; /* of what is gathered */
    use use;
    bool is_explicit, is_specialised;
    bool is_turned; /* rows of a step are scattered in reverse */
    bool is_woven;  /* those of a CTA lie between those of others */
    bool is_late;   /* a slot is handed back one step later */
    bool is_told;   /* the fence for TMA stands after the wait; else before the arrive */
    bool is_tiled;
} rows;

/* ---- indices --------------------------------------------------------------------------------- */

static int32_t get_gathered(const rows *r, uint32_t cta, uint32_t step, uint32_t row) {
    return r->first + r->by_cta * (int32_t)cta + r->by_step * (int32_t)step +
           r->by_row * (int32_t)row;
}

static uint32_t get_scattered(const rows *r, uint32_t cta, uint32_t step, uint32_t row) {
    const uint32_t at = r->is_turned ? r->count - 1 - row : row;
    return r->is_woven ? (step * r->count + at) * r->ctas + cta
                       : (cta * r->steps + step) * r->count + at;
}

static void add_gathered(rows *r) {
    draw_line(&r->d, "%%row = iota dim(0) : i32[%" PRIu32 "]", r->count);
    draw_line(&r->d, "%%start = add (add (mul %%cta, %d), (mul %%i, %d)), %d", r->by_cta,
              r->by_step, r->first);
    draw_line(&r->d, "%%from = add (mul %%row, %d), %%start", r->by_row);
}

static void add_scattered(rows *r) {
    draw *d = &r->d;
    draw_line(d, "%%row = iota dim(0) : i32[%" PRIu32 "]", r->count);
    if (r->is_turned) {
        draw_line(d, "%%at = sub %" PRIu32 ", %%row", r->count - 1);
    } else {
        draw_line(d, "%%at = add %%row, 0");
    }
    if (r->is_woven) {
        draw_line(d, "%%to = add (mul (add %%at, (mul %%i, %" PRIu32 ")), %" PRIu32 "), %%cta",
                  r->count, r->ctas);
    } else {
        draw_line(d, "%%to = add %%at, (mul (add (mul %%cta, %" PRIu32 "), %%i), %" PRIu32 ")",
                  r->steps, r->count);
    }
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void add_fence(rows *r) {
    draw_line(&r->d, r->is_explicit ? "fence_async_shared" : "commit_smem");
}

static void add_wait_for_return(rows *r) {
    if (r->is_explicit) {
        draw_line(&r->d, "mbarrier_wait %%free[%%slot], (rem (add (div %%i, %" PRIu32 "), 1), 2)",
                  r->stages);
    } else if (r->steps > r->stages) {
        draw_line(&r->d, "if (ge %%i, %" PRIu32 ") {", r->stages);
        draw_line(&r->d, "  barrier_wait %%free[%%slot]");
        draw_line(&r->d, "}");
    }
}

static void add_return(rows *r, const char *slot) {
    draw_line(&r->d, "%s %%free[%s]", r->is_explicit ? "mbarrier_arrive" : "barrier_arrive", slot);
}

/* ---- the thread that gathers ----------------------------------------------------------------- */

static void add_gathers(rows *r) {
    const uint32_t width = r->width / r->parts;
    if (r->is_explicit) {
        draw_line(&r->d, "mbarrier_expect %%full[%%slot], %" PRIu32, r->count * r->width * 4);
    }
    for (uint32_t k = 0; k < r->parts; k++) {
        draw_line(&r->d,
                  "tma_gather %%p0[:, ds(%" PRIu32 ", %" PRIu32 ")], %%s[%%slot, %" PRIu32
                  "], %%full[%%slot], %%from",
                  k * width, width, k);
    }
}

static void add_gatherer(rows *r) {
    draw *d = &r->d;
    draw_line(d, "for %%i in 0..%" PRIu32 " {", r->steps);
    d->indent++;
    draw_line(d, "%%slot = rem %%i, %" PRIu32, r->stages);
    add_wait_for_return(r);
    if (r->is_told && r->use != USE_SLOT) {
        add_fence(r);
    }
    add_gathered(r);
    add_gathers(r);
    d->indent--;
    draw_line(d, "}");
    const uint32_t open = r->steps < r->stages ? r->steps : r->stages;
    for (uint32_t i = 0; i < open && !r->is_explicit; i++) {
        draw_line(d, "barrier_wait %%free[%" PRIu32 "]", (r->steps - open + i) % r->stages);
    }
}

/* ---- the thread that scatters ---------------------------------------------------------------- */

static void add_scatters(rows *r, const char *slot) {
    const uint32_t width = r->width / r->parts;
    for (uint32_t k = 0; k < r->parts; k++) {
        draw_line(&r->d,
                  "tma_scatter %s%" PRIu32 "], %%p1[:, ds(%" PRIu32 ", %" PRIu32 ")], %%to%s", slot,
                  k, k * width, width, k + 1 < r->parts ? " no_commit_group" : "");
    }
}

/* Loads what has come, and hands the slot back. */
static void add_loads(rows *r) {
    for (uint32_t k = 0; k < r->parts; k++) {
        draw_line(&r->d, "%%v%" PRIu32 " = load %%s[%%slot, %" PRIu32 "]", k, k);
    }
    if (!r->is_told) {
        add_fence(r);
    }
    add_return(r, "%slot");
}

static void add_doubled(rows *r) {
    draw *d = &r->d;
    add_loads(r);
    draw_line(d, "wait_smem_to_gmem 0 read_only");
    for (uint32_t k = 0; k < r->parts; k++) {
        draw_line(d, "store %%t[%" PRIu32 "], (add %%v%" PRIu32 ", %%v%" PRIu32 ")", k, k, k);
    }
    add_fence(r);
    add_scatters(r, "%t[");
}

static void add_plain(rows *r) {
    const uint32_t width = r->width / r->parts;
    add_loads(r);
    for (uint32_t k = 0; k < r->parts; k++) {
        draw_line(&r->d,
                  "scatter %%p1[:, ds(%" PRIu32 ", %" PRIu32 ")], %%to, %%v%" PRIu32
                  ", (lt %%to, %" PRIu32 ") dim(0)",
                  k * width, width, k, r->results);
    }
}

static void add_slot(rows *r) {
    draw *d = &r->d;
    add_scatters(r, "%s[%slot, ");
    draw_line(d, "wait_smem_to_gmem %d read_only", r->is_late ? 1 : 0);
    if (!r->is_late) {
        add_return(r, "%slot");
        return;
    }
    draw_line(d, "if (gt %%i, 0) {");
    d->indent++;
    draw_line(d, "%%before = rem (sub %%i, 1), %" PRIu32, r->stages);
    add_return(r, "%before");
    d->indent--;
    draw_line(d, "}");
}

static void add_scatterer(rows *r) {
    draw *d = &r->d;
    draw_line(d, "for %%i in 0..%" PRIu32 " {", r->steps);
    d->indent++;
    draw_line(d, "%%slot = rem %%i, %" PRIu32, r->stages);
    if (r->is_explicit) {
        draw_line(d, "mbarrier_wait %%full[%%slot], (rem (div %%i, %" PRIu32 "), 2)", r->stages);
    } else {
        draw_line(d, "barrier_wait %%full[%%slot]");
    }
    add_scattered(r);
    if (r->use == USE_SLOT) {
        add_slot(r);
    } else if (r->use == USE_DOUBLED) {
        add_doubled(r);
    } else {
        add_plain(r);
    }
    d->indent--;
    draw_line(d, "}");
    if (r->use == USE_SLOT && r->is_late) {
        char slot[16];
        draw_line(d, "wait_smem_to_gmem 0 read_only");
        (void)snprintf(slot, sizeof slot, "%" PRIu32, (r->steps - 1) % r->stages);
        add_return(r, slot);
    }
    if (r->use != USE_PLAIN) {
        draw_line(d, "wait_smem_to_gmem 0");
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void draw_sizes(rows *r) {
    draw *d = &r->d;
    r->ctas = 1 + draw_below(d, 2);
    r->steps = 1 + draw_below(d, 5);
    r->count = 4 * (1 + draw_below(d, 4));
    r->parts = 1 + draw_below(d, 2);
    r->width = (draw_below(d, 2) ? 16 : 32) * r->parts;
    r->stages = 1 + draw_below(d, 3);
    r->sources = 1 + draw_below(d, 30);
    const uint32_t all = r->ctas * r->steps * r->count;
    r->results = draw_below(d, 2) ? all : all - draw_below(d, all < 9 ? all : 9);
    r->first = (int32_t)draw_below(d, 12) - 4;
    r->by_cta = (int32_t)draw_below(d, 7) - 1;
    r->by_step = (int32_t)draw_below(d, 6) - 1;
    r->by_row = (int32_t)draw_below(d, 5) - 1;
    r->use = (use)draw_below(d, USE_COUNT);
    r->is_explicit = draw_below(d, 2);
    r->is_specialised = draw_below(d, 2);
    r->is_turned = draw_below(d, 2);
    r->is_woven = draw_below(d, 2);
    r->is_late = r->stages > 1 && draw_below(d, 2);
    r->is_told = draw_below(d, 2);
    r->is_tiled = r->count % 8 == 0 && draw_below(d, 2);
}

/* What one row brings; nothing, if it comes from outside or goes there. */
static void add_sum(const rows *r, draw_sums *sums, int32_t from, uint32_t to) {
    const bool is_inside = from >= 0 && from < (int32_t)r->sources && to < r->results;
    for (int i = 0; is_inside && i < (r->use == USE_DOUBLED ? 2 : 1); i++) {
        draw_sum(sums, to, (uint32_t)from);
    }
}

static void get_sums(const rows *r, draw_sums *sums) {
    draw_sums_init(sums, r->width, r->sources, r->results);
    for (uint32_t cta = 0; cta < r->ctas; cta++) {
        for (uint32_t step = 0; step < r->steps; step++) {
            for (uint32_t row = 0; row < r->count; row++) {
                add_sum(r, sums, get_gathered(r, cta, step, row), get_scattered(r, cta, step, row));
            }
        }
    }
}

static void add_scratch(const rows *r, grout_text *out) {
    const uint32_t width = r->width / r->parts;
    const char *barrier = r->is_explicit ? "mbarrier" : "barrier";
    char tiles[64] = "", arrivals[32] = "";
    if (r->is_tiled) {
        (void)snprintf(tiles, sizeof tiles, " tile(8, %" PRIu32 ") swizzle(%" PRIu32 ")", width,
                       4 * width);
    }
    if (!r->is_explicit) {
        (void)snprintf(arrivals, sizeof arrivals, " arrivals(%" PRIu32 ")", r->parts);
    }
    grout_text_add(
        out, "  scratch %%s : smem f32[%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "]%s\n",
        r->stages, r->parts, r->count, width, tiles);
    if (r->use == USE_DOUBLED) {
        grout_text_add(out, "  scratch %%t : smem f32[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]%s\n",
                       r->parts, r->count, width, tiles);
    }
    grout_text_add(out,
                   "  scratch %%full : %s[%" PRIu32 "]%s\n  scratch %%free : %s[%" PRIu32 "]\n",
                   barrier, r->stages, arrivals, barrier, r->stages);
}

static void add_start(rows *r) {
    draw *d = &r->d;
    if (r->is_explicit) {
        draw_line(d, r->is_specialised ? "if (ge (axis_index wg), 0) {"
                                       : "if (eq (axis_index wg), 0) {");
        draw_line(d, "  for %%j in 0..%" PRIu32 " {", r->stages);
        draw_line(d, "    mbarrier_init %%full[%%j], 1");
        draw_line(d, "    mbarrier_init %%free[%%j], 1");
        draw_line(d, "  }");
        draw_line(d, "}");
        if (!r->is_specialised) {
            draw_line(d, "block_barrier");
        }
    }
    draw_line(d, "%%cta = axis_index g");
}

void draw_rows(uint64_t seed, grout_text *out, draw_sums *sums) {
    rows r = {.d = {.state = seed}};
    grout_text scratch = {0};
    char text[96];
    draw_sizes(&r);
    get_sums(&r, sums);
    (void)snprintf(text, sizeof text, "f32[%" PRIu32 ", %" PRIu32 "]", r.sources, r.width);
    (void)draw_param(&r.d, "in", text);
    (void)snprintf(text, sizeof text, "f32[%" PRIu32 ", %" PRIu32 "]", r.results, r.width);
    (void)draw_param(&r.d, "out", text);
    add_scratch(&r, &scratch);
    add_start(&r);
    draw_line(&r.d, r.is_specialised ? "warp_specialize {" : "if (eq (axis_index wg), 0) {");
    r.d.indent++;
    add_gatherer(&r);
    r.d.indent--;
    draw_line(&r.d, r.is_specialised ? "} partition {" : "} else {");
    r.d.indent++;
    add_scatterer(&r);
    r.d.indent--;
    draw_line(&r.d, "}");
    (void)snprintf(text, sizeof text,
                   "grid(g = %" PRIu32 ") threads(wg = 2) attr arch = \"sm_100a\"", r.ctas);
    draw_finish(&r.d, scratch.data, text, out);
    grout_text_free(&scratch);
}
