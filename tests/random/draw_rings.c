/* draw_rings.c - threads that hand slots to each other: one or two fill them, by TMA, cp.async or
 * plain stores, one to three use them, by plain loads, wgmma or stores by TMA.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernels have what the contract asks for and no more: a slot is announced by its fillers,
 * used, handed back; between proxies stands one commit, on either side of the barrier.
 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>

#define FILLERS_MAX 2

typedef enum fill { FILL_TMA, FILL_WARPS, FILL_PLAIN, FILL_ASYNC, FILL_ASYNC_WAIT } fill;
typedef enum use { USE_SUM, USE_WGMMA, USE_EACH, USE_STORE } use;

typedef struct ring {
    draw d;
    uint32_t fillers, users, stages, trips, ctas;
    fill fills[FILLERS_MAX];
    use use;
    bool is_explicit;    /* mbarriers and parities */
    bool is_specialised; /* warp_specialize; else each thread an if */
    bool is_shared;      /* each user takes a part of the rows; else all of them */
    bool is_early;       /* the users hand all slots over at the start */
    bool is_late;        /* a slot is handed back one step later */
    bool is_leaving;     /* a user's last arrive drops it from the count */
    bool is_told;        /* commits stand after the waits; else before the arrives */
    bool has_descriptor, loops_in_warps;
    uint32_t count;      /* arrivals of one arrive of a user */
    bool has_registers;  /* the fillers give registers to the users */
    bool is_bare;        /* arrivals of cp.async are for the copies alone */
    uint32_t warps;      /* of the second filler: 4, or of a partition 1 or 2 */
    uint32_t user_warps; /* the same of the first user */
    uint32_t rows, columns;
    const char *type, *sum_type;
} ring;

static bool is_async_fill(fill it) {
    return it == FILL_TMA || it == FILL_WARPS;
}

static bool needs_commit_of_users(const ring *r) {
    bool has_async = false;
    for (uint32_t i = 0; i < r->fillers; i++) {
        has_async = has_async || is_async_fill(r->fills[i]);
    }
    return has_async && (r->use == USE_SUM || r->use == USE_EACH);
}

static bool needs_commit_of_fillers(const ring *r, fill it) {
    return !is_async_fill(it) && (r->use == USE_WGMMA || r->use == USE_STORE);
}

static bool needs_commit_by_users(const ring *r) {
    bool needs = false;
    for (uint32_t i = 0; i < r->fillers; i++) {
        /* what is still in flight when its thread arrives can be published only after the wait */
        needs = needs || (needs_commit_of_fillers(r, r->fills[i]) &&
                          (r->is_told || r->fills[i] == FILL_ASYNC));
    }
    return needs;
}

static uint32_t get_arrivals(const ring *r, uint32_t filler) {
    return r->fills[filler] == FILL_WARPS ? 4 : 1;
}

static const char *get_commit(const ring *r) {
    return r->is_explicit ? "fence_async_shared" : "commit_smem";
}

static const char *get_arrive(const ring *r, bool is_last) {
    if (is_last && r->is_explicit && r->is_leaving) {
        return "mbarrier_arrive_drop";
    }
    return r->is_explicit ? "mbarrier_arrive" : "barrier_arrive";
}

/* ---- the fillers ----------------------------------------------------------------------------- */

static void add_wait_for_free(ring *r) {
    draw *d = &r->d;
    if (r->is_explicit && r->is_early) {
        draw_line(d, "mbarrier_wait %%free[%%slot], (rem (div %%i, %" PRIu32 "), 2)", r->stages);
    } else if (r->is_explicit) {
        draw_line(d, "mbarrier_wait %%free[%%slot], (rem (add (div %%i, %" PRIu32 "), 1), 2)",
                  r->stages);
    } else if (r->is_early) {
        draw_line(d, "barrier_wait %%free[%%slot]");
    } else if (r->trips > r->stages) {
        draw_line(d, "if (ge %%i, %" PRIu32 ") {", r->stages);
        draw_line(d, "  barrier_wait %%free[%%slot]");
        draw_line(d, "}");
    }
}

static void add_copy(ring *r, const char *row, uint32_t rows) {
    draw *d = &r->d;
    const uint32_t bytes = rows * r->columns * (r->use == USE_WGMMA ? 2 : 4);
    if (r->is_explicit && r->is_leaving) { /* the last of each slot leaves it */
        draw_line(d, "if (ge %%i, %" PRIu32 ") {", r->trips > r->stages ? r->trips - r->stages : 0);
        draw_line(d, "  mbarrier_expect_drop %%full[%%slot], %" PRIu32, bytes);
        draw_line(d, "} else {");
        draw_line(d, "  mbarrier_expect %%full[%%slot], %" PRIu32, bytes);
        draw_line(d, "}");
    } else if (r->is_explicit) {
        draw_line(d,
                  draw_below(d, 2) ? "mbarrier_expect %%full[%%slot], %" PRIu32
                                   : "mbarrier_expect %%full[%%slot], (sub (add %%slot, %" PRIu32
                                     "), %%slot)",
                  bytes);
    }
    if (r->has_descriptor) {
        draw_line(d,
                  "copy_gmem_to_smem %%dx%" PRIu32 "[(add %%base, %%i), %s, 0], %%s[ds(%%slot, 1), "
                  "ds(%s, %" PRIu32 ")], %%full[%%slot]",
                  rows, row, row, rows);
    } else {
        draw_line(d,
                  "copy_gmem_to_smem %%p0[(add %%base, %%i), ds(%s, %" PRIu32 ")], %%s[%%slot, "
                  "ds(%s, %" PRIu32 ")], %%full[%%slot]",
                  row, rows, row, rows);
    }
}

static void add_fill(ring *r, uint32_t filler) {
    draw *d = &r->d;
    const fill way = r->fills[filler];
    const uint32_t rows = r->rows / r->fillers;
    char row[64];
    (void)snprintf(row, sizeof row, "%" PRIu32, filler * rows);
    if (way == FILL_TMA) {
        add_copy(r, row, rows);
        return;
    }
    if (way == FILL_WARPS) {
        (void)snprintf(row, sizeof row, "%" PRIu32 " + %%w * %" PRIu32, filler * rows, rows / 4);
        add_copy(r, row, rows / 4);
        return;
    }
    if (way == FILL_PLAIN) {
        draw_line(d,
                  "store %%s[%%slot, ds(%s, %" PRIu32 ")], (load %%p0[(add %%base, %%i), ds(%s, "
                  "%" PRIu32 ")])",
                  row, rows, row, rows);
    } else if (r->is_bare) { /* the same rows, by indices: an address for each */
        draw_line(d,
                  "async_gather %%p0[(add %%base, %%i)], %%s[%%slot, ds(%s, %" PRIu32
                  ")], (add (iota dim(0) : i32[%" PRIu32 "]), %s) dim(0)",
                  row, rows, rows, row);
    } else {
        draw_line(d,
                  "async_copy %%p0[(add %%base, %%i), ds(%s, %" PRIu32 ")], %%s[%%slot, ds(%s, "
                  "%" PRIu32 ")]",
                  row, rows, row, rows);
    }
}

/* What makes the filled part known. */
static void add_announcement(ring *r, fill way) {
    draw *d = &r->d;
    if (way == FILL_ASYNC_WAIT) {
        draw_line(d, "async_copy_commit_group");
        draw_line(d, "async_copy_wait 0");
    }
    if (needs_commit_of_fillers(r, way) && !r->is_told && way != FILL_ASYNC) {
        draw_line(d, "%s", get_commit(r));
    }
    if (way == FILL_ASYNC) {
        draw_line(d, "async_copy_arrive %%full[%%slot]%s", r->is_bare ? " order(relaxed)" : "");
    } else if (!is_async_fill(way)) {
        draw_line(d, "%s %%full[%%slot]", get_arrive(r, false));
    }
}

static void add_step_of_filler(ring *r, uint32_t filler) {
    draw *d = &r->d;
    const fill way = r->fills[filler];
    const bool forks = way == FILL_WARPS && !r->loops_in_warps;
    draw_line(d, "%%slot = rem %%i, %" PRIu32, r->stages);
    add_wait_for_free(r);
    if (is_async_fill(way) && needs_commit_of_users(r) && r->is_told) {
        draw_line(d, "%s", get_commit(r));
    }
    if (forks) {
        draw_line(d, "warp_map(%%w) {");
        d->indent++;
    }
    add_fill(r, filler);
    if (forks) {
        d->indent--;
        draw_line(d, "}");
    }
    add_announcement(r, way);
}

/* Waits for the last phases of what says that slots are free. Some rings that wait for others leave
 * these out, since the barriers end with the CTA. */
static void add_drain(ring *r) {
    const uint32_t open = r->is_early ? r->stages : r->trips < r->stages ? r->trips : r->stages;
    const uint32_t first = r->is_early ? r->trips : r->trips - open;
    const bool is_refilled = r->is_early || r->trips > r->stages;
    if (r->is_explicit || open == 0 || (is_refilled && draw_below(&r->d, 3) == 0)) {
        return;
    }
    if (draw_below(&r->d, 2)) {
        for (uint32_t i = 0; i < open; i++) {
            draw_line(&r->d, "barrier_wait %%free[%" PRIu32 "]", (first + i) % r->stages);
        }
        return;
    }
    draw_line(&r->d, "for %%i in 0..%" PRIu32 " {", open);
    draw_line(&r->d, "  barrier_wait %%free[(rem (add %%i, %" PRIu32 "), %" PRIu32 ")]", first,
              r->stages);
    draw_line(&r->d, "}");
}

static void add_filler(ring *r, uint32_t filler) {
    draw *d = &r->d;
    const bool is_in_warps = r->fills[filler] == FILL_WARPS && r->loops_in_warps;
    if (is_in_warps) {
        draw_line(d, "warp_map(%%w) {");
        d->indent++;
    }
    draw_line(d, "for %%i in 0..%" PRIu32 " {", r->trips);
    d->indent++;
    add_step_of_filler(r, filler);
    d->indent--;
    draw_line(d, "}");
    if (is_in_warps && draw_below(d, 2)) {
        add_drain(r);
        d->indent--;
        draw_line(d, "}");
        return;
    }
    if (is_in_warps) {
        d->indent--;
        draw_line(d, "}");
    }
    add_drain(r);
}

/* ---- the users ------------------------------------------------------------------------------- */

static void add_return(ring *r, const char *slot, bool is_last) {
    draw *d = &r->d;
    if (needs_commit_of_users(r) && !r->is_told) {
        draw_line(d, "%s", get_commit(r));
    }
    if (r->count > 1) {
        draw_line(d, "%s %%free[%s] count(%" PRIu32 ")", get_arrive(r, is_last), slot, r->count);
    } else {
        draw_line(d, "%s %%free[%s]", get_arrive(r, is_last), slot);
    }
}

/* Rows of a user, as a step of a reference. */
static void get_part(const ring *r, uint32_t user, char *text, size_t size) {
    const uint32_t rows = r->rows / r->users;
    if (r->is_shared) {
        (void)snprintf(text, size, ", ds(%" PRIu32 ", %" PRIu32 ")", user * rows, rows);
    } else {
        (void)snprintf(text, size, "%s", "");
    }
}

static void add_use(ring *r, uint32_t user) {
    draw *d = &r->d;
    char part[64];
    const uint32_t row = r->is_shared ? 0 : user * r->trips * r->ctas;
    get_part(r, user, part, sizeof part);
    switch (r->use) {
    case USE_SUM:
        draw_line(d, "%%v = load %%s[%%slot%s]", part);
        break;
    case USE_WGMMA:
        draw_line(d, "%s %%acc, %%s[%%slot], %%eye", r->is_late ? "wgmma" : "wgmma_async");
        break;
    case USE_EACH:
        draw_line(d, "store %%p1[(add %%base, %%i) + %" PRIu32 "%s], (load %%s[%%slot%s])", row,
                  part, part);
        break;
    case USE_STORE:
        draw_line(d, "copy_smem_to_gmem %%s[%%slot%s], %%p1[(add %%base, %%i) + %" PRIu32 "%s]",
                  part, row, part);
        break;
    }
    if (!r->is_late && r->use == USE_WGMMA) {
        draw_line(d, "wgmma_wait 0");
    }
    if (r->use == USE_STORE) {
        draw_line(d, "wait_smem_to_gmem %d read_only", r->is_late ? 1 : 0);
    }
}

static void add_step_of_user(ring *r, uint32_t user) {
    draw *d = &r->d;
    draw_line(d, "%%slot = rem %%i, %" PRIu32, r->stages);
    if (r->is_explicit) {
        draw_line(d, "mbarrier_wait %%full[%%slot], (rem (div %%i, %" PRIu32 "), 2)", r->stages);
    } else {
        draw_line(d, "barrier_wait %%full[%%slot]");
    }
    if (needs_commit_by_users(r)) {
        draw_line(d, "%s", get_commit(r));
    }
    add_use(r, user);
    if (!r->is_late) {
        add_return(r, "%slot", false);
        return;
    }
    draw_line(d, "if (gt %%i, 0) {");
    d->indent++;
    char slot[64];
    (void)snprintf(slot, sizeof slot, "(rem (sub %%i, 1), %" PRIu32 ")", r->stages);
    add_return(r, slot, false);
    d->indent--;
    draw_line(d, "}");
}

static void add_last_return(ring *r) {
    char slot[16];
    if (!r->is_late || r->trips == 0) {
        return;
    }
    if (r->use == USE_WGMMA) {
        draw_line(&r->d, "wgmma_wait 0");
    } else if (r->use == USE_STORE) {
        draw_line(&r->d, "wait_smem_to_gmem 0 read_only");
    }
    (void)snprintf(slot, sizeof slot, "%" PRIu32, (r->trips - 1) % r->stages);
    add_return(r, slot, true);
}

static void add_user(ring *r, uint32_t user) {
    draw *d = &r->d;
    const uint32_t rows = r->is_shared ? r->rows / r->users : r->rows;
    char part[64];
    get_part(r, user, part, sizeof part);
    for (uint32_t i = 0; i < r->stages && r->is_early; i++) {
        char slot[16];
        (void)snprintf(slot, sizeof slot, "%" PRIu32, i);
        add_return(r, slot, false);
    }
    if (r->use == USE_SUM) {
        draw_line(d,
                  "%%sum = for %%i in 0..%" PRIu32 " carry(%%a = (broadcast 0 : %s[%" PRIu32
                  ", %" PRIu32 "])) {",
                  r->trips, r->type, rows, r->columns);
    } else {
        draw_line(d, "for %%i in 0..%" PRIu32 " {", r->trips);
    }
    d->indent++;
    add_step_of_user(r, user);
    if (r->use == USE_SUM) {
        draw_line(d, "yield (add %%a, %%v)");
    }
    d->indent--;
    draw_line(d, "}");
    add_last_return(r);
    const uint32_t row = r->is_shared ? 0 : user * r->ctas;
    if (r->use == USE_SUM) {
        draw_line(d, "store %%p1[%%cta + %" PRIu32 "%s], %%sum", row, part);
    } else if (r->use == USE_WGMMA) {
        draw_line(d, "store %%p1[%%cta + %" PRIu32 "], (load %%acc)", row);
    } else if (r->use == USE_STORE) {
        draw_line(d, "wait_smem_to_gmem 0");
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* A filler keeps 40 registers a lane, the users share the rest: they wait until all are there. */
static void add_registers(ring *r, uint32_t thread) {
    const uint32_t threads = r->fillers + r->users;
    const uint32_t entry = 512 / threads / 8 * 8 < 256 ? 512 / threads / 8 * 8 : 256;
    const uint32_t free = threads * entry - r->fillers * 40;
    const uint32_t user = free / r->users / 8 * 8 < 256 ? free / r->users / 8 * 8 : 256;
    if (thread < r->fillers) {
        draw_line(&r->d, "set_max_registers 40 decrease");
    } else {
        draw_line(&r->d, "set_max_registers %" PRIu32 " increase", user);
    }
}

static void add_thread(ring *r, uint32_t thread) {
    if (r->has_registers) {
        add_registers(r, thread);
    }
    if (thread < r->fillers) {
        add_filler(r, thread);
    } else {
        add_user(r, thread - r->fillers);
    }
}

static void add_eye(ring *r) {
    draw *d = &r->d;
    draw_line(d, "%%row = iota dim(0) : i32[16, 16]");
    draw_line(d, "%%column = iota dim(1) : i32[16, 16]");
    draw_line(d, "store %%eye, (select (eq %%row, %%column), (broadcast 1.0 : f16[16, 16]), 0.0)");
    draw_line(d, "%s", get_commit(r));
}

static void add_inits(ring *r) {
    uint32_t arrivals = 0;
    for (uint32_t i = 0; i < r->fillers; i++) {
        arrivals += get_arrivals(r, i);
    }
    draw_line(&r->d, "for %%i in 0..%" PRIu32 " {", r->stages);
    draw_line(&r->d, "  mbarrier_init %%full[%%i], %" PRIu32, arrivals);
    draw_line(&r->d, "  mbarrier_init %%free[%%i], %" PRIu32, r->users * r->count);
    draw_line(&r->d, "}");
}

static void add_start(ring *r) {
    draw *d = &r->d;
    const bool has_start = r->is_explicit || r->use == USE_WGMMA;
    if (has_start && !r->is_specialised) {
        draw_line(d, "if (eq (axis_index wg), 0) {");
        d->indent++;
    }
    if (r->use == USE_WGMMA) {
        add_eye(r);
    }
    if (r->is_explicit) {
        add_inits(r);
    }
    if (has_start && !r->is_specialised) {
        d->indent--;
        draw_line(d, "}");
        draw_line(d, "block_barrier");
    }
    for (uint32_t i = 0; i < r->fillers && r->has_descriptor; i++) {
        const uint32_t rows = r->rows / r->fillers / get_arrivals(r, i);
        if (!is_async_fill(r->fills[i]) || (i > 0 && r->fills[i] == r->fills[0])) {
            continue;
        }
        draw_line(d, "%%dx%" PRIu32 " = tensor_descriptor %%p0 : %s[1, %" PRIu32 ", %" PRIu32 "]",
                  rows, r->type, rows, r->columns);
    }
    draw_line(d, "%%cta = axis_index g");
    draw_line(d, "%%base = mul %%cta, %" PRIu32, r->trips);
}

static void add_threads(ring *r) {
    draw *d = &r->d;
    for (uint32_t i = 0; i < r->fillers + r->users; i++) {
        if (!r->is_specialised) {
            draw_line(d, "if (eq (axis_index wg), %" PRIu32 ") {", i);
        } else {
            draw_line(d, i == 0 ? "warp_specialize {" : "} partition {");
        }
        d->indent++;
        add_thread(r, i);
        d->indent--;
        if (!r->is_specialised || i + 1 == r->fillers + r->users) {
            draw_line(d, "}");
        }
    }
}

static void draw_choices(ring *r) {
    draw *d = &r->d;
    r->fillers = 1 + draw_below(d, 2);
    r->users = 1 + draw_below(d, 3);
    r->stages = 1 + draw_below(d, 6);
    r->trips = draw_below(d, 5) == 0 ? draw_below(d, 3) : draw_below(d, 3 * r->stages + 2);
    r->ctas = draw_below(d, 4) == 0 ? 2 : 1;
    for (uint32_t i = 0; i < r->fillers; i++) {
        r->fills[i] = draw_below(d, 3) == 0 ? FILL_WARPS : (fill)draw_below(d, 5);
    }
    r->use = (use)draw_below(d, r->trips == 0 ? 2 : 4);
    r->is_explicit = draw_below(d, 2);
    r->is_specialised = draw_below(d, 2);
    r->is_shared = r->use != USE_WGMMA && r->users != 3 && draw_below(d, 2);
    r->is_early = draw_below(d, 3) == 0;
    r->is_late = (r->use == USE_WGMMA || r->use == USE_STORE) && r->stages > 1 && draw_below(d, 2);
    r->is_told = draw_below(d, 2);
    r->is_leaving = draw_below(d, 3) == 0;
    r->has_descriptor = draw_below(d, 3) == 0;
    r->loops_in_warps = draw_below(d, 2);
    r->count = 1 + draw_below(d, 2) * draw_below(d, 3);
    r->rows = r->use == USE_WGMMA ? 64 : 16;
    r->columns = r->use == USE_WGMMA ? 16 : 32; /* TMA starts at multiples of 128 bytes */
    r->type = r->use == USE_WGMMA ? "f16" : draw_below(d, 2) ? "i32" : "f32";
    r->sum_type = r->use == USE_WGMMA ? "f32" : r->type;
    r->has_registers = draw_below(d, 4) == 0;
    r->is_bare = draw_below(d, 2);
    const bool can_be_small = r->is_specialised && !r->has_registers;
    const bool is_second_small = can_be_small && r->fillers == 2 && r->fills[1] != FILL_WARPS;
    r->warps = is_second_small ? 1u << draw_below(d, 3) : 4;
    r->user_warps = can_be_small && r->use != USE_WGMMA ? 1u << draw_below(d, 3) : 4;
}

/* The header's axes, and its warps of each thread if one has fewer than four. */
static void get_axes(const ring *r, grout_text *axes) {
    const uint32_t threads = r->fillers + r->users;
    grout_text_add(axes, "grid(g = %" PRIu32 ") threads(wg = %" PRIu32 ")", r->ctas, threads);
    for (uint32_t k = 0; k < threads && (r->warps < 4 || r->user_warps < 4); k++) {
        const uint32_t warps = k == r->fillers ? r->user_warps : k == 1 ? r->warps : 4;
        grout_text_add(axes, "%s%" PRIu32 "%s", k == 0 ? " attr partition_warps = [" : ", ", warps,
                       k + 1 == threads ? "]" : "");
    }
}

static void get_sums(const ring *r, draw_sums *sums) {
    const uint32_t users = r->is_shared ? 1 : r->users;
    const bool is_each = r->use == USE_EACH || r->use == USE_STORE;
    const uint32_t sources = r->trips * r->ctas > 0 ? r->trips * r->ctas : 1;
    draw_sums_init(sums, r->rows * r->columns, sources, users * r->ctas * (is_each ? r->trips : 1));
    for (uint32_t user = 0; user < users; user++) {
        for (uint32_t i = 0; i < r->trips * r->ctas; i++) {
            draw_sum(sums, is_each ? user * r->trips * r->ctas + i : user * r->ctas + i / r->trips,
                     i);
        }
    }
}

void draw_rings(uint64_t seed, grout_text *out, draw_sums *sums) {
    ring r = {.d = {.state = seed}};
    grout_text scratch = {0}, axes = {0};
    char type[64];
    draw_choices(&r);
    get_sums(&r, sums);
    /* The checker follows registers in the text alone: there the first filler's waits stand before
     * the second one's decrease. */
    sums->is_certified = !r.has_registers || r.is_specialised || r.fillers == 1;
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", r.type,
                   sums->sources, r.rows, r.columns);
    (void)draw_param(&r.d, "in", type);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", r.sum_type,
                   sums->results, r.rows, r.columns);
    (void)draw_param(&r.d, "out", type);
    grout_text_add(&scratch, "  scratch %%s : smem %s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]%s\n",
                   r.type, r.stages, r.rows, r.columns,
                   r.use == USE_WGMMA ? " tile(8, 16) swizzle(32)" : "");
    if (r.use == USE_WGMMA) {
        grout_text_add(&scratch, "  scratch %%eye : smem f16[16, 16] tile(8, 16) swizzle(32)\n"
                                 "  scratch %%acc : acc f32[64, 16]\n");
    }
    uint32_t arrivals = 0;
    for (uint32_t i = 0; i < r.fillers; i++) {
        arrivals += get_arrivals(&r, i);
    }
    if (r.is_explicit) {
        grout_text_add(&scratch,
                       "  scratch %%full : mbarrier[%" PRIu32
                       "]\n  scratch %%free : mbarrier[%" PRIu32 "]\n",
                       r.stages, r.stages);
    } else {
        grout_text_add(&scratch,
                       "  scratch %%full : barrier[%" PRIu32 "] arrivals(%" PRIu32
                       ")\n  scratch %%free : barrier[%" PRIu32 "] arrivals(%" PRIu32 ")\n",
                       r.stages, arrivals, r.stages, r.users * r.count);
    }
    add_start(&r);
    add_threads(&r);
    get_axes(&r, &axes);
    draw_finish(&r.d, scratch.data, axes.data, out);
    grout_text_free(&axes);
    grout_text_free(&scratch);
}
