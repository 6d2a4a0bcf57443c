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
#include <string.h>

static const tensor_form forms[] = {{"f16", "f32", 2, 16, 16, false, TABLES_NONE, "bf16"},
                                    {"bf16", "f32", 2, 16, 16, false, TABLES_NONE, "f16"},
                                    {"f16", "f16", 2, 16, 16, false, TABLES_NONE, NULL},
                                    {"f32", "f32", 4, 8, 8, true, TABLES_NONE, NULL},
                                    {"f8e4m3", "f32", 1, 32, 32, true, TABLES_NONE, "f8e5m2"},
                                    {"i8", "i32", 1, 32, 32, true, TABLES_NONE, "u8"},
                                    {"f8e4m3", "f32", 1, 16, 128, true, TABLES_SCALES, "f8e5m2"},
                                    {"f8e5m2", "f32", 1, 16, 128, true, TABLES_SCALES, "f8e4m3"},
                                    {"f16", "f32", 2, 16, 64, true, TABLES_METADATA, NULL},
                                    {"i8", "i32", 1, 16, 64, true, TABLES_METADATA, "u8"}};
/* Each CTA of a pair has half of the columns of b. */
static const tensor_form pair_forms[] = {
    {"f16", "f32", 2, 16, 16, true, TABLES_NONE, "bf16"},
    {"bf16", "f32", 2, 32, 32, false, TABLES_NONE, "f16"},
    {"f16", "f16", 2, 32, 32, true, TABLES_NONE, NULL},
    {"f32", "f32", 4, 16, 16, true, TABLES_NONE, NULL},
    {"f8e5m2", "f32", 1, 32, 32, true, TABLES_NONE, "f8e4m3"},
    {"i8", "i32", 1, 32, 32, true, TABLES_NONE, "u8"},
    {"f8e4m3", "f32", 1, 16, 128, true, TABLES_SCALES, "f8e5m2"},
    {"f16", "f32", 2, 32, 64, true, TABLES_METADATA, NULL}};
enum {
    FORM_COUNT = sizeof forms / sizeof forms[0],
    PAIR_FORM_COUNT = sizeof pair_forms / sizeof pair_forms[0]
};

const tensor_form *draw_tensors_get_form(const tensors *t) {
    return t->is_pair ? &pair_forms[t->form] : &forms[t->form];
}

uint32_t draw_tensors_get_k(const tensors *t) {
    const tensor_form *form = draw_tensors_get_form(t);
    return form->tables == TABLES_METADATA ? 2 * form->depth : form->depth;
}

uint32_t draw_tensors_get_weight(const tensors *t, uint32_t step) {
    return draw_tensors_get_form(t)->tables == TABLES_NONE ? 1 : 1 + step % 2;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Columns of b that a CTA has. */
static uint32_t get_columns(const tensors *t) {
    return draw_tensors_get_form(t)->width / (t->is_pair ? 2 : 1);
}

/* Rows of a block of b's scales in SMEM: of 64 rows in each CTA of a pair two halves. */
static uint32_t get_scale_lanes(const tensors *t) {
    return t->rows == 64 ? 64 : 32;
}

/* b, which takes the first columns of a: 1 where the product's column is that of a. The
 * second two places of the four of which a sparse a keeps two count twice. */
static void add_eye(tensors *t) {
    draw *d = &t->d;
    const tensor_form *form = draw_tensors_get_form(t);
    const uint32_t n = get_columns(t), k = draw_tensors_get_k(t);
    char dims[32];
    (void)snprintf(dims, sizeof dims, "[%" PRIu32 ", %" PRIu32 "]", form->is_held_turned ? n : k,
                   form->is_held_turned ? k : n);
    draw_line(d, "%%n = iota dim(%d) : i32%s", form->is_held_turned ? 0 : 1, dims);
    draw_line(d, "%%k = iota dim(%d) : i32%s", form->is_held_turned ? 1 : 0, dims);
    if (t->is_pair) {
        draw_line(d, "%%column = add %%n, (mul %%me, %" PRIu32 ")", n);
    } else {
        draw_line(d, "%%column = add %%n, 0");
    }
    if (form->tables == TABLES_METADATA) {
        draw_line(d, "%%place = add (mul (div %%column, 2), 4), (rem %%column, 2)");
        draw_line(d, "%%one = cast (eq %%k, %%place) : i32");
        draw_line(d, "%%two = cast (eq %%k, (add %%place, 2)) : i32");
        draw_line(d, "%%unit = add %%one, (add %%two, %%two)");
    } else {
        draw_line(d, "%%unit = cast (eq %%k, %%column) : i32");
    }
    draw_line(d, "store %%eye, (cast %%unit : %s)", form->operand);
    if (t->mixing != MIXING_NONE) {
        draw_line(d, "store %%other, (cast %%unit : %s)", form->other);
    }
    if (form->tables == TABLES_SCALES) {
        draw_line(d, "store %%tb, (cast (broadcast 1.0 : f32[1, 1, %" PRIu32 ", 16]) : f8e8m0)",
                  get_scale_lanes(t));
    }
    draw_tensors_add_commit_smem(t);
}

/* Arrivals of each barrier; 0: the kernel has none of that name. */
typedef struct barrier_row {
    const char *name;
    uint32_t count, arrivals;
    bool is_for_tensors;
    bool is_led; /* both CTAs of a pair arrive at it, and the leader waits */
} barrier_row;

enum { BARRIER_COUNT = 9 };

static void get_barriers(const tensors *t, barrier_row *rows) {
    const bool is_handed = !t->is_met && !t->uses_itself;
    const bool has_tables = draw_tensors_get_form(t)->tables != TABLES_NONE;
    const bool fills_for_leader = t->is_pair && !t->has_carrier;
    const bool is_own = fills_for_leader && t->filling == FILLING_OWN && !t->is_plain;
    const uint32_t sums = t->warping == WARP_TURNS ? 4 : t->issuers;
    const bool hands_tables_on = has_tables && !t->has_one_table;
    rows[0] = (barrier_row){"full", t->stages, 1, hands_tables_on && t->is_plain,
                            is_own || (fills_for_leader && t->is_plain)};
    rows[1] = (barrier_row){"taken", t->stages, t->has_carrier ? 1 : 0, false, false};
    rows[2] = (barrier_row){"ready", t->parts, t->has_carrier ? 1 : 0, true, t->is_pair};
    rows[3] = (barrier_row){"read", t->has_carrier ? t->parts : t->stages, t->issuers, true, false};
    rows[4] = (barrier_row){"summed", t->slots, sums, true, false};
    rows[5] = (barrier_row){"free", t->slots, is_handed ? t->users : 0, true, t->is_pair};
    rows[6] = (barrier_row){"turn", 2, t->issuers == 2 ? 1 : 0, true, false};
    rows[7] = (barrier_row){"own", t->stages, is_own && !t->is_explicit ? 1 : 0, false, false};
    /* a barrier that orders the tensor core takes no copies */
    rows[8] = (barrier_row){"told", t->stages, has_tables && !t->is_plain ? 1 : 0, hands_tables_on,
                            t->is_pair};
}

static void add_inits(tensors *t) {
    barrier_row rows[BARRIER_COUNT];
    get_barriers(t, rows);
    for (uint32_t i = 0; i < BARRIER_COUNT; i++) {
        if (rows[i].arrivals > 0) {
            draw_line(&t->d, "for %%j in 0..%" PRIu32 " {", rows[i].count);
            draw_line(&t->d, "  mbarrier_init %%%s[%%j], %" PRIu32, rows[i].name,
                      rows[i].arrivals * (rows[i].is_led && !t->is_shared ? 2 : 1));
            draw_line(&t->d, "}");
        }
    }
}

/* An operand in SMEM. dims: "3, " of slots in front, or nothing. */
static void add_operand(const char *name, const char *type, const char *slots,
                        const uint32_t dims[2], uint32_t bytes, grout_text *out) {
    const uint32_t swizzle = dims[1] * bytes < 128 ? dims[1] * bytes : 128;
    grout_text_add(out,
                   "  scratch %%%s : smem %s[%s%" PRIu32 ", %" PRIu32 "] tile(8, %" PRIu32
                   ") swizzle(%" PRIu32 ")\n",
                   name, type, slots, dims[0], dims[1], swizzle / bytes, swizzle);
}

static void add_operands(const tensors *t, grout_text *out) {
    const tensor_form *form = draw_tensors_get_form(t);
    const uint32_t n = get_columns(t), k = draw_tensors_get_k(t);
    const uint32_t dims[2] = {t->rows, form->depth};
    const uint32_t eye[2] = {form->is_held_turned ? n : k, form->is_held_turned ? k : n};
    char slots[16];
    (void)snprintf(slots, sizeof slots, "%" PRIu32 ", ", t->stages);
    add_operand("s", form->operand, slots, dims, form->bytes, out);
    add_operand("eye", form->operand, "", eye, form->bytes, out);
    if (t->mixing != MIXING_NONE) {
        add_operand("other", form->other, "", eye, form->bytes, out);
    }
    if (t->mixing == MIXING_BOTH && !t->has_carrier) {
        add_operand("z", form->other, slots, dims, form->bytes, out);
    }
    if (form->tables == TABLES_SCALES) {
        grout_text_add(out,
                       "  scratch %%ta : smem f8e8m0[%" PRIu32 ", 1, 1, 32, 16]\n"
                       "  scratch %%tb : smem f8e8m0[1, 1, %" PRIu32 ", 16]\n",
                       t->stages, get_scale_lanes(t));
    } else if (form->tables == TABLES_METADATA) {
        grout_text_add(out, "  scratch %%ta : smem u16[%" PRIu32 ", 1, 128, 8]\n", t->stages);
    }
}

/* An array of tensor memory: an object of the kernel, or of a scope that begins. */
static void add_tmem(tensors *t, grout_text *out, const char *words) {
    const char *alias = strncmp(words, "%acc_too", 8) == 0 ? " alias(%acc)" : "";
    if (t->has_scope) {
        grout_text_add(out, "%s%s%s", out->size == 0 ? "" : ", ", words,
                       draw_tensors_get_collective(t));
    } else {
        grout_text_add(out, "  scratch %s%s%s\n", words, draw_tensors_get_collective(t), alias);
    }
}

/* The accumulators: slots, or columns of one array. */
static void add_accumulators(tensors *t, grout_text *out, const char *name, bool is_side_by_side) {
    const tensor_form *form = draw_tensors_get_form(t);
    char words[96], slots[64];
    (void)snprintf(slots, sizeof slots, "%" PRIu32 ", %" PRIu32, t->slots, t->rows);
    (void)snprintf(words, sizeof words, "%s : tmem %s[%s, %" PRIu32 "]", name, form->accumulator,
                   is_side_by_side ? strchr(slots, ' ') + 1 : slots,
                   form->width * (is_side_by_side ? t->slots : 1));
    add_tmem(t, out, words);
}

static void add_tensor_memory(tensors *t, grout_text *out) {
    const tensor_form *form = draw_tensors_get_form(t);
    char words[96];
    add_accumulators(t, out, "%acc", t->is_side_by_side);
    if (t->is_renamed) {
        add_accumulators(t, out, "%acc_too", t->is_side_by_side != (t->rows == 128));
    }
    for (uint32_t i = 0; t->has_carrier && i < (t->mixing == MIXING_BOTH ? 2 : 1); i++) {
        (void)snprintf(words, sizeof words,
                       "%s : tmem %s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "] packed",
                       i == 0 ? "%a" : "%z", i == 0 ? form->operand : form->other, t->parts,
                       t->rows, form->depth);
        add_tmem(t, out, words);
    }
    const uint32_t places = t->has_one_table ? 1 : t->stages;
    for (uint32_t i = 0; form->tables == TABLES_SCALES && i < 2; i++) {
        const bool is_split = i == 1 && t->rows == 64;
        (void)snprintf(words, sizeof words, "%s : tmem f8e8m0[%" PRIu32 ", %d, 4] %s",
                       i == 0 ? "%sa" : "%sb", places, is_split ? 256 : 128,
                       is_split ? "split_scales" : "scales");
        add_tmem(t, out, words);
    }
    if (form->tables == TABLES_METADATA) {
        (void)snprintf(words, sizeof words, "%%sa : tmem u16[%" PRIu32 ", 128, 8] metadata",
                       places);
        add_tmem(t, out, words);
    }
}

static void add_barriers(const tensors *t, grout_text *out) {
    barrier_row rows[BARRIER_COUNT];
    get_barriers(t, rows);
    for (uint32_t i = 0; i < BARRIER_COUNT; i++) {
        if (rows[i].arrivals > 0 && t->is_explicit) {
            grout_text_add(out, "  scratch %%%s : mbarrier[%" PRIu32 "]%s\n", rows[i].name,
                           rows[i].count, rows[i].is_led && t->is_shared ? " two_ctas" : "");
        } else if (rows[i].arrivals > 0) {
            grout_text_add(out,
                           "  scratch %%%s : barrier[%" PRIu32 "] arrivals(%" PRIu32 ")%s%s%s\n",
                           rows[i].name, rows[i].count, rows[i].arrivals,
                           rows[i].is_led ? " cluster(pair)" : "",
                           rows[i].is_for_tensors ? " orders_tensor_core" : "",
                           rows[i].is_led ? " leader_tracked" : "");
        }
    }
}

/* A scope before the one of the kernel, in the same columns. */
static void add_scope_before(tensors *t) {
    draw *d = &t->d;
    draw_line(d, "scoped(%%old : tmem f32[128, 32]%s) collective {",
              draw_tensors_get_collective(t));
    d->indent++;
    if (t->threads > 1 && !t->is_specialised) {
        draw_line(d, "if (eq (axis_index wg), %" PRIu32 ") {", draw_below(d, t->threads));
    } else {
        draw_line(d, "if true {");
    }
    draw_line(d, "  async_store_tmem %%old, (broadcast 1.0 : f32[128, 32])");
    draw_line(d, "  commit_tmem");
    draw_line(d, "  %%v = async_load_tmem %%old");
    draw_line(d, "  wait_load_tmem");
    draw_line(d,
              "  store %%p1[%%first, ds(0, 1), ds(0, 1)], (cast (broadcast (reduce_max (reduce_max "
              "%%v dim(1)) dim(0)) : f32[1, 1]) : %s)",
              draw_tensors_get_form(t)->accumulator);
    draw_line(d, "}");
    d->indent--;
    draw_line(d, "}");
    if (t->is_pair) { /* the other CTA writes columns of this one, too */
        draw_line(d, "cluster_barrier");
    }
}

static void add_start(tensors *t) {
    draw *d = &t->d;
    if (t->is_pair) {
        draw_line(d, "%%me = axis_index pair");
        draw_line(d, "%%top = mul %%me, %" PRIu32, t->rows);
    }
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
    }
    if (t->is_pair) {
        draw_line(d, "cluster_barrier");
        draw_line(d, "%%cta = add (mul (axis_index g), 2), %%me");
    } else {
        if (!t->is_specialised) {
            draw_line(d, "block_barrier");
        }
        draw_line(d, "%%cta = axis_index g");
    }
    draw_line(d, "%%base = mul (axis_index g), %" PRIu32, draw_tensors_get_total(t));
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
    t->form = draw_below(d, t->is_pair ? PAIR_FORM_COUNT : FORM_COUNT);
    const tensor_form *form = draw_tensors_get_form(t);
    const bool has_rows_of_64 = form->tables == TABLES_NONE     ? t->is_pair || form->width >= 16
                                : form->tables == TABLES_SCALES ? t->is_pair
                                                                : false;
    t->rows = has_rows_of_64 && draw_below(d, 3) == 0 ? 64 : 128;
    t->slots = 1 + draw_below(d, 3);
    t->stages = 1 + draw_below(d, 3);
    t->parts = 1 + draw_below(d, 2);
    t->tiles = 1 + draw_below(d, 4);
    t->steps = 1 + draw_below(d, 3);
    t->ctas = (draw_below(d, 4) == 0 ? 2U : 1U) * (t->is_pair ? 2U : 1U);
    t->start = (start)draw_below(d, 3);
    t->is_side_by_side =
        draw_below(d, 3) == 0 && (t->rows == 128 || (t->slots == 2 && !t->is_pair));
    t->is_renamed = strcmp(form->accumulator, "f16") != 0 && draw_below(d, 3) == 0;
}

static void draw_mixing(tensors *t) {
    const tensor_form *form = draw_tensors_get_form(t);
    if (form->other == NULL || draw_below(&t->d, 2)) {
        return;
    }
    if (form->bytes == 1) {
        t->mixing = MIXING_B;
    } else if (t->has_carrier || t->is_plain) {
        t->mixing = MIXING_BOTH;
    }
}

/* What a pair cannot have: the one CTA multiplies, and both take the sums. */
static void restrict_to_pairs(tensors *t) {
    draw *d = &t->d;
    /* copies that both issue arrive on barriers of the implicit style alone */
    t->filling = t->is_explicit ? FILLING_OWN : (filling)draw_below(d, 3);
    t->telling = (telling)draw_below(d, 3);
    t->is_shared = (t->is_explicit && !t->is_plain && !t->has_carrier) || draw_below(d, 2);
    if (t->starter == STARTER_ISSUER) {
        t->starter = STARTER_FIRST;
    }
}

static void draw_roles(tensors *t) {
    draw *d = &t->d;
    const tensor_form *form = draw_tensors_get_form(t);
    t->has_carrier = t->rows == 128 && form->bytes < 4 && form->tables == TABLES_NONE &&
                     (!t->is_pair || form->width % 32 == 0) && draw_below(d, 3) == 0;
    t->uses_itself = !t->is_pair && draw_below(d, 4) == 0;
    t->is_met = !t->is_pair && !t->uses_itself && draw_below(d, 5) == 0;
    t->is_corrected = !t->uses_itself && !t->is_met && t->start != START_FRESH && draw_below(d, 2);
    t->issuers = !t->uses_itself && !t->is_met && !t->is_corrected && draw_below(d, 3) == 0 ? 2 : 1;
    t->users = t->uses_itself ? 1 : 1 + draw_below(d, 2);
    t->loads_itself =
        t->is_met || (!t->is_pair && !t->has_carrier && t->issuers == 1 && draw_below(d, 3) == 0);
    t->has_carrier = t->has_carrier && !t->loads_itself;
    t->warping = t->issuers == 2 || t->is_met ? WARP_NONE : (warping)draw_below(d, 3);
    t->has_one_table = form->tables != TABLES_NONE && t->issuers == 1 && t->warping != WARP_TURNS &&
                       draw_below(d, 2);
    t->is_hasty = t->start != START_FRESH && draw_below(d, 2);
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
    t->has_scope = !t->is_specialised && draw_below(d, 3) == 0;
    t->is_renamed = t->is_renamed && !t->has_scope; /* what a scope makes has no name outside */
    t->is_hasty = t->is_hasty && !t->has_scope;
    t->carrier = t->loads_itself ? 0 : 1;
    t->issuer = t->carrier + (t->has_carrier ? 1 : 0);
    t->user = t->issuer + t->issuers;
    t->threads = t->user + (t->uses_itself ? 0 : t->users);
    draw_mixing(t);
    if (t->is_pair) {
        restrict_to_pairs(t);
    }
}

/* The tile of %p0 that a CTA takes of a step: a pair has two of each. */
static uint32_t get_source(const tensors *t, uint32_t cta, uint32_t step, bool is_start) {
    const uint32_t total = draw_tensors_get_total(t);
    if (!t->is_pair) {
        return cta * total + step;
    }
    const bool is_same =
        !is_start && !t->is_plain && !t->has_carrier && t->filling == FILLING_SHARED;
    return 2 * (cta / 2 * total + step) + (is_same ? 0 : cta % 2);
}

static void add_sum(draw_sums *sums, uint32_t result, uint32_t source, uint32_t weight) {
    for (uint32_t i = 0; i < weight; i++) {
        draw_sum(sums, result, source);
    }
}

/* The sums of one tile: its start, doubled with what it has at each correction, and its steps. */
static void add_sums_of_tile(const tensors *t, draw_sums *sums, uint32_t result) {
    const uint32_t cta = result / t->tiles, tile = result % t->tiles;
    const uint32_t doublings = t->is_corrected ? t->steps - 1 : 0;
    if (t->start == START_SOURCE) {
        add_sum(sums, result, get_source(t, cta, tile, true), 1u << doublings);
    }
    for (uint32_t k = 0; k < t->steps; k++) {
        const uint32_t step = tile * t->steps + k;
        const uint32_t weight = t->is_corrected ? 1u << (t->steps - 1 - k) : 1;
        add_sum(sums, result, get_source(t, cta, step, false),
                weight * draw_tensors_get_weight(t, step));
    }
}

static void get_sums(const tensors *t, draw_sums *sums) {
    const uint32_t results = t->tiles * t->ctas;
    const tensor_form *form = draw_tensors_get_form(t);
    draw_sums_init(sums, t->rows * form->width, draw_tensors_get_total(t) * t->ctas, results);
    sums->width = form->width;
    sums->pitch = form->depth;
    for (uint32_t result = 0; result < results; result++) {
        add_sums_of_tile(t, sums, result);
    }
}

static void add_body(tensors *t, grout_text *scratch) {
    draw *d = &t->d;
    grout_text objects = {0};
    add_start(t);
    add_tensor_memory(t, t->has_scope ? &objects : scratch);
    if (t->has_scope) {
        add_scope_before(t);
        draw_line(d, "scoped(%s)%s {", objects.data, " collective");
        d->indent++;
    }
    add_threads(t);
    if (t->has_scope) {
        d->indent--;
        draw_line(d, "}");
    }
    grout_text_free(&objects);
}

static void draw_kernel(tensors *t, grout_text *out, draw_sums *sums) {
    grout_text scratch = {0};
    const tensor_form *form = draw_tensors_get_form(t);
    char type[96], axes[96];
    get_sums(t, sums);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", form->operand,
                   sums->sources / (t->is_pair ? 2 : 1), t->rows * (t->is_pair ? 2 : 1),
                   form->depth);
    (void)draw_param(&t->d, "in", type);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
                   form->accumulator, sums->results, t->rows, form->width);
    (void)draw_param(&t->d, "out", type);
    add_operands(t, &scratch);
    add_body(t, &scratch);
    add_barriers(t, &scratch);
    if (t->is_pair) {
        (void)snprintf(axes, sizeof axes,
                       "grid(g = %" PRIu32 ") cluster(pair = 2) threads(wg = %" PRIu32
                       ") attr cluster_exit = sync",
                       t->ctas / 2, t->threads);
    } else {
        (void)snprintf(axes, sizeof axes, "grid(g = %" PRIu32 ") threads(wg = %" PRIu32 ")",
                       t->ctas, t->threads);
    }
    draw_finish(&t->d, scratch.data, axes, out);
    grout_text_free(&scratch);
}

void draw_tensors(uint64_t seed, grout_text *out, draw_sums *sums) {
    tensors t = {.d = {.state = seed}};
    draw_sizes(&t);
    draw_roles(&t);
    draw_kernel(&t, out, sums);
}

void draw_pairs(uint64_t seed, grout_text *out, draw_sums *sums) {
    tensors t = {.d = {.state = seed}, .is_pair = true};
    draw_sizes(&t);
    draw_roles(&t);
    draw_kernel(&t, out, sums);
}
