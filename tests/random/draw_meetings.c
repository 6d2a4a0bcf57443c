/* draw_meetings.c - threads of a CTA or a cluster that meet in every way there is, beside their
 * warps, in the bodies of a warp_specialize or not; CTAs of a grid that follow one another.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In each round a thread fills its own slot, all meet, and each uses the slot of another thread,
 * perhaps of another CTA. What a thread does alone, its four warps may do, so that some threads
 * come to a meeting while others are still inside a warp_map or wait at its end. Partitions may
 * have one or two warps: these move elements one by one, or by TMA.
 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 4 /* of a tile: one for each warp */
#define WARPS   4
#define THREADS 4  /* at most */
#define SLOT    32 /* elements of an SMEM slot: TMA takes whole 128 bytes */

typedef enum way { WAY_PLAIN, WAY_WARPS, WAY_TMA } way;

typedef enum place {
    MEET_BLOCK,
    MEET_NAMED,
    MEET_NAMED_WARPS,
    MEET_BARRIER,
    MEET_BARRIER_WARPS,
    MEET_MBARRIER,
    MEET_MBARRIER_WARPS,
    MEET_CLUSTER,
    MEET_CLUSTER_SPLIT
} place;

typedef struct meetings {
    draw d;
    uint32_t threads, size;  /* CTAs of a cluster */
    uint32_t warps[THREADS]; /* of each thread; those with fewer than four are partitions */
    uint32_t thread;         /* whose body is being written */
    uint32_t clusters;
    uint32_t sections, trips, buffers;
    uint32_t distance;   /* to the thread whose slot one uses */
    uint32_t names;      /* barriers made so far */
    uint32_t ids;        /* computed ones of named barriers */
    bool is_specialized; /* each thread has a body; else all run the same text */
    bool is_far;         /* the slot is in the next CTA of the cluster */
    bool is_chain;       /* each cluster waits for the one before it in the grid */
    grout_text scratch, inits;
    draw_sums *sums;
} meetings;

/* Whether the thread whose lines are drawn has warps that a warp_map runs, and arrays. */
static bool is_whole(const meetings *m) {
    return m->warps[m->thread] == WARPS;
}

static uint32_t count_lanes(const meetings *m) {
    uint32_t warps = 0;
    for (uint32_t k = 0; k < m->threads; k++) {
        warps += m->warps[k];
    }
    return 32 * warps;
}

/* All threads arrive once; has_warps: each warp of a warp_map does. */
static uint32_t count_arrivals(const meetings *m, bool has_warps) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < m->threads; k++) {
        count += has_warps && m->warps[k] == WARPS ? WARPS : 1;
    }
    return count;
}

/* ---- how they meet --------------------------------------------------------------------------- */

typedef struct meeting {
    place place;
    uint32_t name;
    const char *dims, *index; /* of its barrier */
} meeting;

/* A single barrier, or one of several. */
static void draw_shape(meetings *m, meeting *it) {
    static const char *const shapes[][2] = {{"", ""},
                                            {"[1]", ""},
                                            {"[1]", "[0]"},
                                            {"[2, 3]", "[1, 2]"},
                                            {"[1, 9]", "[0, 3 + %k - %k]"}};
    const uint32_t shape = draw_below(&m->d, 5);
    it->dims = shapes[shape][0];
    it->index = shapes[shape][1];
}

static meeting draw_meeting(meetings *m) {
    meeting it = {.place = (place)draw_below(&m->d, m->size > 1 ? 9 : 7), .name = m->names++};
    draw_shape(m, &it);
    const bool has_warps = it.place == MEET_BARRIER_WARPS || it.place == MEET_MBARRIER_WARPS;
    if (m->is_far && it.place < MEET_CLUSTER) {
        it.place = draw_below(&m->d, 2) ? MEET_CLUSTER : MEET_CLUSTER_SPLIT;
    }
    const uint32_t arrivals = count_arrivals(m, has_warps);
    if (it.place == MEET_BARRIER || it.place == MEET_BARRIER_WARPS) {
        grout_text_add(&m->scratch, "  scratch %%m%" PRIu32 " : barrier%s arrivals(%" PRIu32 ")\n",
                       it.name, it.dims, arrivals);
    } else if (it.place == MEET_MBARRIER || it.place == MEET_MBARRIER_WARPS) {
        grout_text_add(&m->scratch, "  scratch %%m%" PRIu32 " : mbarrier%s\n", it.name, it.dims);
        grout_text_add(&m->inits, "  mbarrier_init %%m%" PRIu32 "%s, %" PRIu32 "\n", it.name,
                       strchr(it.index, '%') == NULL ? it.index : "[0, 3]", arrivals);
    }
    return it;
}

static void add_arrive(meetings *m, const meeting *it, bool by_warps) {
    const bool has_warps = by_warps && is_whole(m);
    const char *face =
        it->place == MEET_MBARRIER || it->place == MEET_MBARRIER_WARPS ? "mbarrier" : "barrier";
    if (has_warps) {
        draw_line(&m->d, "warp_map(%%w) {");
    }
    draw_line(&m->d, "%s%s_arrive %%m%" PRIu32 "%s", has_warps ? "  " : "", face, it->name,
              it->index);
    if (has_warps) {
        draw_line(&m->d, "}");
    }
}

/* All threads meet by name: as threads or by their warps, counted in threads or lanes, under an id
 * that is written or computed. */
static void add_named(meetings *m, const meeting *it, bool has_warps) {
    draw *d = &m->d;
    char id[40], count[40];
    const uint32_t name = 1 + it->name % 11;
    (void)snprintf(id, sizeof id, "%" PRIu32, name);
    if (draw_below(d, 2)) {
        draw_line(d, "%%id%" PRIu32 " = add %%k, %" PRIu32, m->ids, name);
        (void)snprintf(id, sizeof id, "(sub %%id%" PRIu32 ", %%k)", m->ids++);
    }
    const uint32_t lanes = count_lanes(m);
    (void)snprintf(count, sizeof count, "%" PRIu32, lanes / 128);
    if (lanes % 128 != 0 || draw_below(d, 2)) {
        (void)snprintf(count, sizeof count, "%" PRIu32 " lanes", lanes);
    }
    if (has_warps) {
        draw_line(d, "warp_map(%%w) {");
    }
    draw_line(d, "%snamed_barrier_sync %s, %s", has_warps ? "  " : "", id, count);
    if (has_warps) {
        draw_line(d, "}");
    }
}

static void add_meeting(meetings *m, const meeting *it) {
    draw *d = &m->d;
    switch (it->place) {
    case MEET_BLOCK:
        draw_line(d, "block_barrier");
        break;
    case MEET_NAMED:
    case MEET_NAMED_WARPS:
        add_named(m, it, it->place == MEET_NAMED_WARPS && is_whole(m) && draw_below(d, 3) > 0);
        break;
    case MEET_BARRIER:
    case MEET_BARRIER_WARPS:
        add_arrive(m, it, it->place == MEET_BARRIER_WARPS);
        draw_line(d, "barrier_wait %%m%" PRIu32 "%s", it->name, it->index);
        break;
    case MEET_MBARRIER:
    case MEET_MBARRIER_WARPS:
        add_arrive(m, it, it->place == MEET_MBARRIER_WARPS);
        draw_line(d, "mbarrier_wait %%m%" PRIu32 "%s, (rem %%i, 2)", it->name, it->index);
        break;
    case MEET_CLUSTER:
        draw_line(d, "cluster_barrier");
        break;
    case MEET_CLUSTER_SPLIT:
        draw_line(d, "cluster_arrive");
        draw_line(d, "cluster_wait");
        break;
    }
}

/* ---- what a thread does between -------------------------------------------------------------- */

/* Some time, of the thread or of each of its warps. */
static void draw_delay(meetings *m, const char *column) {
    const uint32_t turns = draw_below(&m->d, 3) == 0 ? 5 + draw_below(&m->d, 30) : 0;
    if (turns > 0) {
        draw_line(&m->d, "for %%z in 0..%" PRIu32 " {", turns);
        draw_line(&m->d, "  store %%pad[%%k, %s], %%z", column);
        draw_line(&m->d, "}");
    }
}

static void open_warps(meetings *m) {
    draw_line(&m->d, "warp_map(%%w) {");
    m->d.indent++;
    draw_delay(m, "%w");
}

static void close_warps(meetings *m) {
    m->d.indent--;
    draw_line(&m->d, "}");
}

/* What a thread of one or two warps has no array for. */
static void draw_elements(meetings *m, const char *text) {
    draw_delay(m, "0");
    draw_line(&m->d, "for %%e in 0..%d {", COLUMNS);
    draw_line(&m->d, "  %s", text);
    draw_line(&m->d, "}");
}

/* TMA writes over what others have read by plain loads, so it is published before. */
static void draw_fill(meetings *m) {
    const way how = (way)draw_below(&m->d, m->is_far ? 2 : 3);
    if (how != WAY_TMA && !is_whole(m)) {
        draw_elements(m, "store %s[%buffer, %k, %e], (load %p0[%t, %e])");
    } else if (how == WAY_PLAIN) {
        draw_delay(m, "0");
        draw_line(&m->d, "store %%s[%%buffer, %%k, ds(0, 4)], (load %%p0[%%t])");
    } else if (how == WAY_WARPS) {
        open_warps(m);
        draw_line(&m->d, "store %%s[%%buffer, %%k, %%w], (load %%p0[%%t, %%w])");
        close_warps(m);
    } else {
        draw_line(&m->d, "commit_smem");
        draw_line(&m->d, "copy_gmem_to_smem %%p0[%%t], %%s[%%buffer, %%k, ds(0, 4)], %%full[%%k]");
        draw_line(&m->d, "barrier_wait %%full[%%k]");
    }
}

static void draw_use(meetings *m) {
    const way how = (way)draw_below(&m->d, m->is_far ? 2 : 3);
    const char *far = m->is_far ? ".cluster(%to)" : "";
    if (how != WAY_TMA && !is_whole(m)) {
        draw_elements(m, m->is_far
                             ? "store %p1[%t, %e], (load %s.cluster(%to)[%buffer, %other, %e])"
                             : "store %p1[%t, %e], (load %s[%buffer, %other, %e])");
    } else if (how == WAY_PLAIN) {
        draw_delay(m, "0");
        draw_line(&m->d, "store %%p1[%%t], (load %%s%s[%%buffer, %%other, ds(0, 4)])", far);
    } else if (how == WAY_WARPS) {
        open_warps(m);
        draw_line(&m->d, "store %%p1[%%t, %%w], (load %%s%s[%%buffer, %%other, %%w])", far);
        close_warps(m);
    } else {
        draw_line(&m->d, "commit_smem");
        draw_line(&m->d, "copy_smem_to_gmem %%s[%%buffer, %%other, ds(0, 4)], %%p1[%%t]");
        draw_line(&m->d, "wait_smem_to_gmem 0");
    }
}

static void draw_rounds(meetings *m, uint32_t section, const meeting *filled,
                        const meeting *emptied) {
    draw *d = &m->d;
    draw_line(d, "%%other = rem (add %%k, %" PRIu32 "), %" PRIu32, m->distance, m->threads);
    draw_line(d, "for %%i in 0..%" PRIu32 " {", m->trips);
    d->indent++;
    draw_line(d,
              "%%t = add (mul (add (mul %%cta, %" PRIu32 "), (add %%i, %" PRIu32 ")), %" PRIu32
              "), %%k",
              m->sections * m->trips, section * m->trips, m->threads);
    draw_line(d, "%%buffer = rem %%i, %" PRIu32, m->buffers);
    draw_fill(m);
    add_meeting(m, filled);
    draw_use(m);
    if (m->buffers == 1) {
        add_meeting(m, emptied);
    }
    d->indent--;
    draw_line(d, "}");
}

/* ---- the CTA --------------------------------------------------------------------------------- */

/* In a warp_specialize of its own each, or one after the other. */
static void draw_section(meetings *m, uint32_t section) {
    draw *d = &m->d;
    const meeting filled = draw_meeting(m), emptied = draw_meeting(m);
    if (!m->is_specialized) {
        draw_line(d, "if (ge %%k, 0) {"); /* names of its own */
        d->indent++;
        draw_rounds(m, section, &filled, &emptied);
        d->indent--;
        draw_line(d, "}");
        return;
    }
    for (uint32_t k = 0; k < m->threads; k++) {
        m->thread = k;
        draw_line(d, k == 0 ? "warp_specialize {" : "} partition {");
        d->indent++;
        draw_line(d, "%%k = axis_index wg");
        draw_rounds(m, section, &filled, &emptied);
        d->indent--;
    }
    m->thread = 0;
    draw_line(d, "}");
}

/* Outside of the bodies thread 0 comes for all. */
static void draw_between(meetings *m) {
    if (draw_below(&m->d, 3) == 0) {
        draw_line(&m->d, m->size > 1 && (m->is_far || draw_below(&m->d, 2)) ? "cluster_barrier"
                                                                            : "block_barrier");
    } else if (m->is_far) {
        draw_line(&m->d, "cluster_barrier");
    }
}

static uint32_t get_ctas(const meetings *m) {
    return m->clusters * m->size;
}

static uint32_t get_tiles(const meetings *m) {
    return get_ctas(m) * m->sections * m->trips * m->threads;
}

/* A tile of sums over the CTAs so far: each cluster takes on what the one before it has left. */
static void draw_chain(meetings *m) {
    draw *d = &m->d;
    const uint32_t tiles = get_tiles(m), size = m->size;
    if (!m->is_specialized) {
        draw_line(d, "if (eq (axis_index wg), 0) {");
        d->indent++;
    }
    draw_line(d, "if (ge %%cta, %" PRIu32 ") {", size);
    draw_line(d, "  semaphore_wait %%turn[%%cta], 1");
    draw_line(d,
              "  store %%p1[%%cta + %" PRIu32 "], (add (load %%p1[%%cta + %" PRIu32
              "]), (load %%p0[%%cta]))",
              tiles, tiles - size);
    draw_line(d, "} else {");
    draw_line(d, "  store %%p1[%%cta + %" PRIu32 "], (load %%p0[%%cta])", tiles);
    draw_line(d, "}");
    draw_line(d, "if (lt %%cta, %" PRIu32 ") {", get_ctas(m) - size);
    draw_line(d, "  semaphore_signal %%turn[%%cta + %" PRIu32 "], 1", size);
    draw_line(d, "}");
    if (!m->is_specialized) {
        d->indent--;
        draw_line(d, "}");
    }
}

static void add_sums(meetings *m) {
    const uint32_t rounds = m->sections * m->trips, tiles = get_tiles(m), ctas = get_ctas(m);
    draw_sums_init(m->sums, COLUMNS, tiles, tiles + (m->is_chain ? ctas : 0));
    m->sums->resident_max = m->is_chain ? ctas : 0;
    m->sums->cluster_size = m->size;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint32_t cta = tile / m->threads / rounds, k = tile % m->threads;
        const uint32_t from =
            m->is_far ? cta / m->size * m->size + (cta % m->size + 1) % m->size : cta;
        draw_sum(m->sums, tile,
                 (from * rounds + tile / m->threads % rounds) * m->threads +
                     (k + m->distance) % m->threads);
    }
    for (uint32_t cta = 0; cta < ctas && m->is_chain; cta++) {
        for (uint32_t i = cta % m->size; i <= cta; i += m->size) {
            draw_sum(m->sums, tiles + cta, i);
        }
    }
}

static void add_scratch(meetings *m) {
    grout_text_add(&m->scratch,
                   "  scratch %%s : smem i32[%" PRIu32 ", %" PRIu32
                   ", %d]\n  scratch %%pad : smem i32[%" PRIu32
                   ", %d]\n  scratch %%full : barrier[%" PRIu32 "]\n",
                   m->buffers, m->threads, SLOT, m->threads, COLUMNS, m->threads);
    if (m->is_chain) {
        grout_text_add(&m->scratch, "  scratch %%turn : semaphore[%" PRIu32 "] global\n",
                       get_ctas(m));
    }
    if (m->inits.data != NULL && m->is_specialized) {
        grout_text_add(&m->scratch, "%s", m->inits.data);
    } else if (m->inits.data != NULL) { /* of all threads one */
        grout_text_add(&m->scratch, "  if (eq (axis_index wg), 0) {\n%s  }\n  block_barrier\n",
                       m->inits.data);
    }
    grout_text_free(&m->inits);
}

static void add_index(meetings *m) {
    draw *d = &m->d;
    if (m->size > 1) {
        draw_line(d, "%%me = axis_index cx");
        draw_line(d, "%%cta = add (mul (axis_index g), %" PRIu32 "), %%me", m->size);
        draw_line(d, "%%to = rem (add %%me, 1), %" PRIu32, m->size);
    } else {
        draw_line(d, "%%cta = axis_index g");
    }
    if (!m->is_specialized) {
        draw_line(d, "%%k = axis_index wg");
    }
}

static void choose(meetings *m) {
    draw *d = &m->d;
    m->threads = 2 + draw_below(d, 3);
    m->size = draw_below(d, 2) ? 1 : 2;
    m->is_chain = draw_below(d, 3) == 0;
    m->clusters = m->is_chain ? 2 + draw_below(d, 3) : 1;
    m->sections = 1 + draw_below(d, 2);
    m->trips = 1 + draw_below(d, 4);
    m->is_specialized = draw_below(d, 3) > 0;
    m->is_far = m->size > 1 && draw_below(d, 2) == 0;
    /* The second buffer saves a meeting; the next section has to find both free. */
    m->buffers = m->sections == 1 || (m->is_specialized && !m->is_far) ? 1 + draw_below(d, 2) : 1;
    m->distance = 1 + draw_below(d, m->threads - 1);
    static const uint32_t warps[] = {WARPS, WARPS, 1, 1, 2};
    const bool has_small = m->is_specialized && draw_below(d, 2) == 0;
    for (uint32_t k = 0; k < m->threads; k++) {
        m->warps[k] = has_small && k > 0 ? warps[draw_below(d, 5)] : WARPS;
    }
}

/* " attr partition_warps = [4, 1]", or nothing if all have four. */
static void get_partitions(const meetings *m, char *text, size_t size) {
    int at = snprintf(text, size, " attr partition_warps = [");
    for (uint32_t k = 0; k < m->threads; k++) {
        at += snprintf(text + at, size - (size_t)at, "%s%" PRIu32, k == 0 ? "" : ", ", m->warps[k]);
    }
    (void)snprintf(text + at, size - (size_t)at, "]");
    if (count_lanes(m) == m->threads * WARPS * 32) {
        *text = '\0';
    }
}

void draw_meetings(uint64_t seed, grout_text *out, draw_sums *sums) {
    meetings m = {.d = {.state = seed}, .sums = sums};
    draw *d = &m.d;
    char text[240], cluster[32] = "", partitions[64];
    choose(&m);
    get_partitions(&m, partitions, sizeof partitions);
    add_index(&m);
    for (uint32_t i = 0; i < m.sections; i++) {
        draw_section(&m, i);
        draw_between(&m);
    }
    if (m.is_chain) {
        draw_chain(&m);
    }
    add_sums(&m);
    add_scratch(&m);
    (void)snprintf(text, sizeof text, "i32[%" PRIu32 ", %d]", sums->sources, COLUMNS);
    (void)draw_param(d, "in", text);
    (void)snprintf(text, sizeof text, "i32[%" PRIu32 ", %d]", sums->results, COLUMNS);
    (void)draw_param(d, "inout", text);
    if (m.size > 1) {
        (void)snprintf(cluster, sizeof cluster, " cluster(cx = %" PRIu32 ")", m.size);
    }
    (void)snprintf(text, sizeof text, "grid(g = %" PRIu32 ")%s threads(wg = %" PRIu32 ")%s%s",
                   m.clusters, cluster, m.threads, m.is_far ? " attr cluster_exit = sync" : "",
                   partitions);
    draw_finish(d, m.scratch.data, text, out);
    grout_text_free(&m.scratch);
}
