/* draw_tensors.c - threads that hand tensor memory to each other: one fills slots of SMEM, one or
 * two issue tcgen05_mma on them, one or two take the sums out of tensor memory, and one may bring
 * the a of the products there.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A product with the unit matrix adds a source to a tile. The kernels have what the contract asks
 * for and no more: a barrier orders the tensor core where tensor memory is handed on, a commit
 * stands after the MMAs that it is for, a wait before what it makes known.
 */
#include "draw_tensors.h"

#include <inttypes.h>
#include <stdio.h>

static const tensor_form forms[TENSOR_FORM_COUNT] = {
    {"f16", "f32", 2, 16, false}, {"bf16", "f32", 2, 16, false},  {"f16", "f16", 2, 16, false},
    {"f32", "f32", 4, 8, true},   {"f8e4m3", "f32", 1, 32, true}, {"i8", "i32", 1, 32, true}};

const tensor_form *draw_tensors_get_form(const tensors *t) {
    return &forms[t->form];
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void add_eye(tensors *t) {
    draw *d = &t->d;
    const uint32_t width = draw_tensors_get_form(t)->width;
    draw_line(d, "%%row = iota dim(0) : i32[%" PRIu32 ", %" PRIu32 "]", width, width);
    draw_line(d, "%%column = iota dim(1) : i32[%" PRIu32 ", %" PRIu32 "]", width, width);
    draw_line(d, "store %%eye, (cast (cast (eq %%row, %%column) : i32) : %s)",
              draw_tensors_get_form(t)->operand);
    draw_tensors_add_commit_smem(t);
}

/* Arrivals of each barrier; 0: the kernel has none of that name. */
typedef struct barrier_row {
    const char *name;
    uint32_t count, arrivals;
    bool is_for_tensors;
} barrier_row;

enum { BARRIER_COUNT = 7 };

static void get_barriers(const tensors *t, barrier_row *rows) {
    const bool is_handed = !t->is_met && !t->uses_itself;
    const uint32_t sums = t->warping == WARP_TURNS ? 4 : t->issuers;
    rows[0] = (barrier_row){"full", t->stages, 1, false};
    rows[1] = (barrier_row){"taken", t->stages, t->has_carrier ? 1 : 0, false};
    rows[2] = (barrier_row){"ready", t->parts, t->has_carrier ? 1 : 0, true};
    rows[3] = (barrier_row){"read", t->has_carrier ? t->parts : t->stages, t->issuers, true};
    rows[4] = (barrier_row){"summed", t->slots, sums, true};
    rows[5] = (barrier_row){"free", t->slots, is_handed ? t->users : 0, true};
    rows[6] = (barrier_row){"turn", 2, t->issuers == 2 ? 1 : 0, true};
}

static void add_inits(tensors *t) {
    barrier_row rows[BARRIER_COUNT];
    get_barriers(t, rows);
    for (uint32_t i = 0; i < BARRIER_COUNT; i++) {
        if (rows[i].arrivals > 0) {
            draw_line(&t->d, "for %%j in 0..%" PRIu32 " {", rows[i].count);
            draw_line(&t->d, "  mbarrier_init %%%s[%%j], %" PRIu32, rows[i].name, rows[i].arrivals);
            draw_line(&t->d, "}");
        }
    }
}

static void add_scratch(const tensors *t, grout_text *out) {
    barrier_row rows[BARRIER_COUNT];
    const uint32_t width = draw_tensors_get_form(t)->width;
    get_barriers(t, rows);
    grout_text_add(out,
                   "  scratch %%s : smem %s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "] tile(8, %" PRIu32
                   ") swizzle(32)\n",
                   draw_tensors_get_form(t)->operand, t->stages, t->rows, width, width);
    grout_text_add(out,
                   "  scratch %%eye : smem %s[%" PRIu32 ", %" PRIu32 "] tile(8, %" PRIu32
                   ") swizzle(32)\n",
                   draw_tensors_get_form(t)->operand, width, width, width);
    if (t->is_side_by_side) {
        grout_text_add(out, "  scratch %%acc : tmem %s[%" PRIu32 ", %" PRIu32 "]\n",
                       draw_tensors_get_form(t)->accumulator, t->rows, t->slots * width);
    } else {
        grout_text_add(out, "  scratch %%acc : tmem %s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]\n",
                       draw_tensors_get_form(t)->accumulator, t->slots, t->rows, width);
    }
    if (t->has_carrier) {
        grout_text_add(out,
                       "  scratch %%a : tmem %s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "] packed\n",
                       draw_tensors_get_form(t)->operand, t->parts, t->rows, width);
    }
    for (uint32_t i = 0; i < BARRIER_COUNT; i++) {
        if (rows[i].arrivals > 0 && t->is_explicit) {
            grout_text_add(out, "  scratch %%%s : mbarrier[%" PRIu32 "]\n", rows[i].name,
                           rows[i].count);
        } else if (rows[i].arrivals > 0) {
            grout_text_add(out, "  scratch %%%s : barrier[%" PRIu32 "] arrivals(%" PRIu32 ")%s\n",
                           rows[i].name, rows[i].count, rows[i].arrivals,
                           rows[i].is_for_tensors ? " orders_tensor_core" : "");
        }
    }
}

static void add_start(tensors *t) {
    draw *d = &t->d;
    if (!t->is_specialised) {
        draw_line(d, "if (eq (axis_index wg), 0) {");
        d->indent++;
    }
    add_eye(t);
    if (t->is_explicit) {
        add_inits(t);
    }
    if (!t->is_specialised) {
        d->indent--;
        draw_line(d, "}");
        draw_line(d, "block_barrier");
    }
    draw_line(d, "%%cta = axis_index g");
    draw_line(d, "%%base = mul %%cta, %" PRIu32, draw_tensors_get_total(t));
    draw_line(d, "%%first = mul %%cta, %" PRIu32, t->tiles);
}

static void add_threads(tensors *t) {
    draw *d = &t->d;
    for (uint32_t i = 0; i < t->threads; i++) {
        if (!t->is_specialised) {
            draw_line(d, "if (eq (axis_index wg), %" PRIu32 ") {", i);
        } else {
            draw_line(d, i == 0 ? "warp_specialize {" : "} partition {");
        }
        d->indent++;
        draw_tensors_add_thread(t, i);
        d->indent--;
        if (!t->is_specialised || i + 1 == t->threads) {
            draw_line(d, "}");
        }
    }
}

static void draw_sizes(tensors *t) {
    draw *d = &t->d;
    t->form = draw_below(d, TENSOR_FORM_COUNT);
    t->rows = t->form == TENSOR_FORM_F32 || draw_below(d, 3) ? 128 : 64;
    t->slots = 1 + draw_below(d, 3);
    t->stages = 1 + draw_below(d, 3);
    t->parts = 1 + draw_below(d, 2);
    t->tiles = 1 + draw_below(d, 4);
    t->steps = 1 + draw_below(d, 3);
    t->ctas = draw_below(d, 4) == 0 ? 2 : 1;
    t->start = (start)draw_below(d, 3);
    t->is_side_by_side = draw_below(d, 3) == 0 && (t->rows == 128 || t->slots == 2);
}

static void draw_roles(tensors *t) {
    draw *d = &t->d;
    t->has_carrier = t->rows == 128 && t->form != TENSOR_FORM_F32 && draw_below(d, 3) == 0;
    t->uses_itself = draw_below(d, 4) == 0;
    t->is_met = !t->uses_itself && draw_below(d, 5) == 0;
    t->is_corrected = !t->uses_itself && !t->is_met && t->start != START_FRESH && draw_below(d, 2);
    t->issuers = !t->uses_itself && !t->is_met && !t->is_corrected && draw_below(d, 3) == 0 ? 2 : 1;
    t->users = t->uses_itself ? 1 : 1 + draw_below(d, 2);
    t->loads_itself = t->is_met || (!t->has_carrier && t->issuers == 1 && draw_below(d, 3) == 0);
    t->has_carrier = t->has_carrier && !t->loads_itself;
    t->warping = t->issuers == 2 || t->is_met ? WARP_NONE : (warping)draw_below(d, 3);
    t->is_plain = draw_below(d, 4) == 0;
    t->is_explicit = draw_below(d, 2);
    t->is_specialised = draw_below(d, 2);
    t->is_told = draw_below(d, 2);
    t->starter = t->uses_itself ? STARTER_EACH : (starter)draw_below(d, 3);
    /* a commit is for what its own lane has issued, and the issuer must not wait for its own next
     * one */
    t->is_late = t->issuers == 1 && t->warping != WARP_TURNS && !t->loads_itself &&
                 (t->has_carrier ? t->parts : t->stages) > 1 && draw_below(d, 2);
    t->is_specialised = t->is_specialised && !t->is_met;
    t->carrier = t->loads_itself ? 0 : 1;
    t->issuer = t->carrier + (t->has_carrier ? 1 : 0);
    t->user = t->issuer + t->issuers;
    t->threads = t->user + (t->uses_itself ? 0 : t->users);
}

/* The sums of one tile: its start, doubled with what it has at each correction, and its steps. */
static void add_sums_of_tile(const tensors *t, draw_sums *sums, uint32_t result, uint32_t base) {
    const uint32_t tile = result % t->tiles, first = base + tile * t->steps;
    const uint32_t doublings = t->is_corrected ? t->steps - 1 : 0;
    for (uint32_t i = 0; t->start == START_SOURCE && i < 1u << doublings; i++) {
        draw_sum(sums, result, base + tile);
    }
    for (uint32_t k = 0; k < t->steps; k++) {
        const uint32_t weight = t->is_corrected ? 1u << (t->steps - 1 - k) : 1;
        for (uint32_t i = 0; i < weight; i++) {
            draw_sum(sums, result, first + k);
        }
    }
}

static void get_sums(const tensors *t, draw_sums *sums) {
    const uint32_t results = t->tiles * t->ctas;
    draw_sums_init(sums, t->rows * draw_tensors_get_form(t)->width,
                   draw_tensors_get_total(t) * t->ctas, results);
    for (uint32_t result = 0; result < results; result++) {
        add_sums_of_tile(t, sums, result, result / t->tiles * draw_tensors_get_total(t));
    }
}

void draw_tensors(uint64_t seed, grout_text *out, draw_sums *sums) {
    tensors t = {.d = {.state = seed}};
    grout_text scratch = {0};
    char type[96], axes[96];
    draw_sizes(&t);
    draw_roles(&t);
    get_sums(&t, sums);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
                   draw_tensors_get_form(&t)->operand, sums->sources, t.rows,
                   draw_tensors_get_form(&t)->width);
    (void)draw_param(&t.d, "in", type);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
                   draw_tensors_get_form(&t)->accumulator, sums->results, t.rows,
                   draw_tensors_get_form(&t)->width);
    (void)draw_param(&t.d, "out", type);
    add_scratch(&t, &scratch);
    add_start(&t);
    add_threads(&t);
    (void)snprintf(axes, sizeof axes, "grid(g = %" PRIu32 ") threads(wg = %" PRIu32 ")", t.ctas,
                   t.threads);
    draw_finish(&t.d, scratch.data, axes, out);
    grout_text_free(&scratch);
}
