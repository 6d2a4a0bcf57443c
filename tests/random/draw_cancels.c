/* draw_cancels.c - persistent kernels by launch control: clusters that go on with others that have
 * not begun. Which one gets which tile is chance; what each tile becomes is not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 8, ANSWER_BYTES = 16 };

typedef struct cancels {
    draw d;
    uint32_t tiles, slots;
    uint32_t threads, size; /* of a CTA, of a cluster: one of them is 1 */
    bool is_explicit;
    bool is_copied;     /* tiles come by TMA */
    bool asks_late;     /* after the work on the tile */
    bool asks_together; /* all CTAs of a cluster ask, on a barrier of the implicit style */
} cancels;

/* Who shares the work on a tile: threads of a CTA, or CTAs of a cluster. */
static uint32_t count_parts(const cancels *c) {
    return c->threads * c->size;
}

static void add_wait(cancels *c, const char *name, uint32_t before) {
    draw *d = &c->d;
    if (c->is_explicit) {
        draw_line(d, "mbarrier_wait %s[%%slot], (rem (add (div %%k, %" PRIu32 "), %" PRIu32 "), 2)",
                  name, c->slots, before);
    } else if (before > 0) {
        draw_line(d, "if (ge %%k, %" PRIu32 ") {", c->slots);
        draw_line(d, "  barrier_wait %s[%%slot]", name);
        draw_line(d, "}");
    } else {
        draw_line(d, "barrier_wait %s[%%slot]", name);
    }
}

/* One thread, or the first CTA for its cluster, asks when all have read the slot's last answer. */
static void add_request(cancels *c) {
    draw *d = &c->d;
    if (c->asks_together) {
        add_wait(c, "%used", 1);
        draw_line(d, "try_cluster_cancel %%answers[%%slot], %%got[%%slot] collective_axes(cx)");
        return;
    }
    if (c->size > 1) {
        draw_line(d, "mbarrier_expect %%got[%%slot], %d", ANSWER_BYTES);
    }
    draw_line(d, "if (eq %%me, 0) {");
    d->indent++;
    add_wait(c, "%used", 1);
    if (c->size == 1 && c->is_explicit) {
        draw_line(d, "mbarrier_expect %%got[%%slot], %d", ANSWER_BYTES);
    }
    draw_line(d, "try_cluster_cancel %%answers[%%slot], %%got[%%slot]%s",
              c->size > 1 ? " multicast(cx)" : "");
    d->indent--;
    draw_line(d, "}");
}

/* The tile by TMA, to a slot of its own, which its last readers have handed back. */
static void add_copy(cancels *c) {
    draw *d = &c->d;
    const bool is_for_all = c->size == 1;
    if (is_for_all) {
        draw_line(d, "if (eq %%me, 0) {");
        d->indent++;
    }
    add_wait(c, "%read", 1);
    if (c->is_explicit) {
        draw_line(d, "mbarrier_expect %%full[%%slot], %d", ROWS * COLUMNS * 4);
    }
    draw_line(d, "copy_gmem_to_smem %%p0[%%tile], %%s[%%slot], %%full[%%slot]");
    if (is_for_all) {
        d->indent--;
        draw_line(d, "}");
    }
}

static void add_work(cancels *c) {
    draw *d = &c->d;
    char rows[48];
    (void)snprintf(rows, sizeof rows, "ds(%%row, %" PRIu32 ")", ROWS / count_parts(c));
    if (!c->is_copied) {
        draw_line(d, "store %%p1[%%tile, %s], (load %%p0[%%tile, %s])", rows, rows);
        return;
    }
    add_wait(c, "%full", 0);
    draw_line(d, "store %%p1[%%tile, %s], (load %%s[%%slot, %s])", rows, rows);
    draw_line(d, "commit_smem");
    draw_line(d, "%s %%read[%%slot]", c->is_explicit ? "mbarrier_arrive" : "barrier_arrive");
}

static void add_turn(cancels *c) {
    draw *d = &c->d;
    draw_line(d, "%%slot = rem %%k, %" PRIu32, c->slots);
    if (!c->asks_late) {
        add_request(c);
    }
    if (c->is_copied) {
        add_copy(c);
    }
    add_work(c);
    if (c->asks_late) {
        add_request(c);
    }
    add_wait(c, "%got", 0);
    draw_line(d, "%%next = query_cluster_cancel %%answers[%%slot]");
    draw_line(d, "commit_smem");
    draw_line(d, "%s %%used%s[%%slot]", c->is_explicit ? "mbarrier_arrive" : "barrier_arrive",
              c->size > 1 && !c->asks_together ? ".cluster(0)" : "");
    draw_line(d, "yield %%next, (add %%k, 1)");
}

/* The last phases of what hands slots back, which nobody has waited for. */
static void add_drain(cancels *c) {
    draw *d = &c->d;
    if (c->is_explicit && c->size == 1) {
        return;
    }
    draw_line(d, c->asks_together ? "if true {" : "if (eq %%me, 0) {");
    draw_line(d, "  for %%k in (max (sub %%count, %" PRIu32 "), 0)..%%count {", c->slots);
    draw_line(d, "    %%slot = rem %%k, %" PRIu32, c->slots);
    d->indent += 2;
    if (c->is_explicit) {
        add_wait(c, "%used", 0);
    } else {
        draw_line(d, "barrier_wait %%used[%%slot]");
        if (c->is_copied) {
            draw_line(d, "barrier_wait %%read[%%slot]");
        }
    }
    d->indent -= 2;
    draw_line(d, "  }");
    draw_line(d, "}");
}

static void add_barrier(cancels *c, const char *name, uint32_t arrivals, grout_text *scratch) {
    if (!c->is_explicit) {
        const bool is_of_all = c->asks_together && strcmp(name, "used") == 0;
        grout_text_add(scratch, "  scratch %%%s : barrier[%" PRIu32 "] arrivals(%" PRIu32 ")%s\n",
                       name, c->slots, is_of_all ? 1 : arrivals, is_of_all ? " cluster(cx)" : "");
        return;
    }
    grout_text_add(scratch, "  scratch %%%s : mbarrier[%" PRIu32 "]\n", name, c->slots);
    for (uint32_t i = 0; i < c->slots; i++) {
        draw_line(&c->d, "mbarrier_init %%%s[%" PRIu32 "], %" PRIu32, name, i, arrivals);
    }
}

static void add_objects(cancels *c, grout_text *scratch) {
    static const struct {
        const char *type;
        uint32_t count;
    } answers[] = {{"i32", 4}, {"u8", 16}, {"u64", 2}};
    const uint32_t number = draw_below(&c->d, sizeof answers / sizeof answers[0]);
    grout_text_add(scratch, "  scratch %%answers : smem %s[%" PRIu32 ", %" PRIu32 "]\n",
                   answers[number].type, c->slots, answers[number].count);
    add_barrier(c, "got", 1, scratch);
    add_barrier(c, "used", count_parts(c), scratch);
    if (c->is_copied) {
        grout_text_add(scratch, "  scratch %%s : smem f32[%" PRIu32 ", %d, %d]\n", c->slots, ROWS,
                       COLUMNS);
        add_barrier(c, "full", 1, scratch);
        add_barrier(c, "read", c->threads, scratch);
    }
}

static void add_start(cancels *c, grout_text *scratch) {
    draw *d = &c->d;
    const bool is_of_one = c->is_explicit && c->threads > 1;
    if (is_of_one) {
        draw_line(d, "if (eq %%me, 0) {");
        d->indent++;
    }
    add_objects(c, scratch);
    if (is_of_one) {
        d->indent--;
        draw_line(d, "}");
        draw_line(d, "block_barrier");
    }
    if (c->size > 1) {
        draw_line(d, "cluster_barrier");
    }
}

static void draw_shape(cancels *c) {
    draw *d = &c->d;
    c->tiles = 1 + draw_below(d, 9);
    c->slots = 1 + draw_below(d, 3);
    c->size = draw_below(d, 3) == 0 ? 2u << draw_below(d, 2) : 1;
    c->threads = c->size > 1 ? 1 : 1u << draw_below(d, 3);
    c->is_explicit = draw_below(d, 2);
    c->asks_together = c->size > 1 && !c->is_explicit;
    c->is_copied = draw_below(d, 2);
    c->asks_late = draw_below(d, 3) == 0;
}

void draw_cancels(uint64_t seed, grout_text *out, draw_sums *sums) {
    cancels c = {.d = {.state = seed}};
    draw *d = &c.d;
    grout_text scratch = {0};
    char type[64], axes[128];
    draw_shape(&c);
    (void)snprintf(type, sizeof type, "f32[%" PRIu32 ", %d, %d]", c.tiles, ROWS, COLUMNS);
    (void)draw_param(d, "in", type);
    (void)draw_param(d, "out", type);
    draw_line(d, "%%me = axis_index %s", c.size > 1 ? "cx" : "wg");
    draw_line(d, "%%row = mul %%me, %" PRIu32, ROWS / count_parts(&c));
    add_start(&c, &scratch);
    draw_line(d, "%%last, %%count = while carry(%%tile = (axis_index t), %%k = 0) {");
    draw_line(d, "  cond (ge %%tile, 0)");
    draw_line(d, "} do {");
    d->indent++;
    add_turn(&c);
    d->indent--;
    draw_line(d, "}");
    add_drain(&c);
    draw_sums_init(sums, ROWS * COLUMNS, c.tiles, c.tiles);
    sums->is_certified = false;
    sums->resident_max = c.tiles * c.size;
    sums->cluster_size = c.size;
    sums->steps_max = 10000;
    for (uint32_t tile = 0; tile < c.tiles; tile++) {
        draw_sum(sums, tile, tile);
    }
    if (c.size > 1) {
        (void)snprintf(axes, sizeof axes,
                       "grid(t = %" PRIu32 ") cluster(cx = %" PRIu32
                       ") attr arch = \"sm_100a\" cluster_exit = sync",
                       c.tiles, c.size);
    } else {
        (void)snprintf(axes, sizeof axes,
                       "grid(t = %" PRIu32 ") threads(wg = %" PRIu32 ") attr arch = \"sm_100a\"",
                       c.tiles, c.threads);
    }
    draw_finish(d, scratch.data, axes, out);
    grout_text_free(&scratch);
}
