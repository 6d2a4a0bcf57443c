/* draw_tcgen05.c - products of Blackwell's tensor core in all that a form is made of, and arrays of
 * each element type in tensor memory: packed or not, of 128 and 64 rows, in slots and slices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct product {
    uint32_t m, n, k;
    uint32_t type;         /* of draw_product_types */
    const char *narrow[2]; /* of a and b: 6 or 4 bits instead, padded; NULL: what the table says */
    uint32_t swizzle[2];   /* of a and b: bytes */
    bool is_transposed[2]; /* held as [K, M], [N, K] */
    bool has_tmem_a;       /* a comes from tensor memory */
    bool is_tall;          /* tiles as high as the array instead of 8 rows */
    bool has_start;        /* the accumulator starts with an input; else with the first product */
    bool has_commits;      /* each product is waited for */
    uint32_t steps;        /* each with slots of its own */
    uint32_t slots, slot;  /* accumulators, and which of them it is */
    uint32_t parts, part;  /* of its columns; the product is of one */
    uint32_t loads;        /* by which the sums come out */
    uint32_t use;          /* of the texts below */
    bool is_saturating;    /* of integers: no drawn sum is so large */
    uint32_t apart; /* columns between the arrays, which are parts of one; 0: each has its own */
} product;

/* The operand use_acc, where the accumulator has been started. */
static const char *const uses[] = {"", ", true", ", false", ", (gt %i, 0)", ", (eq %i, 0)"};
enum { USE_COUNT = sizeof uses / sizeof uses[0], USE_FRESH = 3 };

/* ---- products -------------------------------------------------------------------------------- */

static uint32_t get_width(const product *p, uint32_t operand) {
    return p->swizzle[operand] / draw_product_types[p->type].bytes;
}

static const char *get_type(const product *p, uint32_t operand) {
    return p->narrow[operand] != NULL ? p->narrow[operand]
                                      : draw_product_types[p->type].operands[operand];
}

/* Dimensions of an operand in SMEM. */
static void get_dims(const product *p, uint32_t operand, uint32_t dims[2]) {
    const uint32_t outer = operand == 0 ? p->m : p->k, inner = operand == 0 ? p->k : p->n;
    dims[0] = p->is_transposed[operand] ? inner : outer;
    dims[1] = p->is_transposed[operand] ? outer : inner;
}

static uint32_t get_column_step(const product *p) {
    const uint32_t halves = p->m == 64 ? 2 : 1;
    if (p->type >= DRAW_FIRST_INTEGER && p->n / halves > 32) {
        return 16 * halves;
    }
    const bool lies_along_n = draw_product_types[p->type].bytes == 1 && !p->is_transposed[1];
    return p->has_tmem_a || p->m == 64 || lies_along_n ? 16 : 8;
}

/* Columns of tensor memory that the accumulators take, and a. */
static uint32_t get_sum_columns(const product *p) {
    return p->slots * p->parts * p->n * p->m / 128;
}
static uint32_t get_a_columns(const product *p) {
    return p->has_tmem_a ? p->k * draw_product_types[p->type].bytes / 4 : 0;
}

static bool is_legal(const product *p) {
    for (uint32_t operand = p->has_tmem_a ? 1 : 0; operand < 2; operand++) {
        uint32_t dims[2];
        get_dims(p, operand, dims);
        if (dims[0] % 8 != 0 || dims[1] % get_width(p, operand) != 0 || dims[0] > 256 ||
            dims[1] > 256) {
            return false;
        }
    }
    const uint32_t columns = get_sum_columns(p) + get_a_columns(p);
    const uint32_t bytes =
        (p->m * p->k + p->k * p->n) * draw_product_types[p->type].bytes * p->steps;
    const bool is_turned_right =
        draw_product_types[p->type].bytes < 4 || (p->is_transposed[1] && !p->is_transposed[0]);
    const bool has_whole_halves = p->m == 128 || p->parts != 3;
    return is_turned_right && has_whole_halves && p->n % get_column_step(p) == 0 &&
           bytes <= 200000 && columns <= 512 && !(p->has_tmem_a && p->m == 64);
}

/* One array that has the columns of all, some before each and some after them. */
static void add_all_columns(const product *p, grout_text *scratch) {
    if (p->apart > 0) {
        grout_text_add(scratch, "  scratch %%all : tmem u32[128, %" PRIu32 "]\n",
                       get_sum_columns(p) + get_a_columns(p) + 3 * p->apart);
    }
}

/* Where an array begins in it. */
static void add_alias(const product *p, uint32_t column, grout_text *scratch) {
    if (p->apart > 0) {
        grout_text_add(scratch, " alias(%%all, %" PRIu32 ")", column);
    }
    grout_text_add(scratch, "\n");
}

static void add_scratch(const product *p, uint32_t operand, grout_text *scratch) {
    uint32_t dims[2];
    get_dims(p, operand, dims);
    grout_text_add(scratch,
                   "  scratch %%s%" PRIu32 " : smem %s[%" PRIu32 ", %" PRIu32 ", %" PRIu32
                   "]%s tile(%" PRIu32 ", %" PRIu32 ") swizzle(%" PRIu32 ")\n",
                   operand, get_type(p, operand), p->steps, dims[0], dims[1],
                   p->narrow[operand] != NULL ? " padded" : "", p->is_tall ? dims[0] : 8,
                   get_width(p, operand), p->swizzle[operand]);
}

static void add_operand(draw *d, const product *p, uint32_t operand) {
    uint32_t dims[2];
    char type[64];
    get_dims(p, operand, dims);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]%s",
                   get_type(p, operand), p->steps, dims[0], dims[1],
                   p->narrow[operand] != NULL ? " packed" : "");
    (void)draw_param(d, "in", type);
}

/* Columns of the product's accumulator, from one of them on. */
static void get_accumulator(const product *p, uint32_t from, uint32_t count, char *text,
                            size_t size) {
    if (count == p->n && p->parts == 1) {
        (void)snprintf(text, size, "%%acc[%" PRIu32 "]", p->slot);
    } else {
        (void)snprintf(text, size, "%%acc[%" PRIu32 ", :, ds(%" PRIu32 ", %" PRIu32 ")]", p->slot,
                       p->part * p->n + from, count);
    }
}

static void add_product(draw *d, const product *p) {
    char accumulator[64];
    get_accumulator(p, 0, p->n, accumulator, sizeof accumulator);
    draw_line(d, "  tcgen05_mma %s, %s%s, %%s1[%%i]%s%s%s", accumulator,
              p->has_tmem_a ? "%ta" : "%s0[%i]", p->is_transposed[0] ? ".transpose(1, 0)" : "",
              p->is_transposed[1] ? ".transpose(1, 0)" : "", uses[p->use],
              p->is_saturating ? " saturate" : "");
    if (p->has_commits) {
        draw_line(d, "  tcgen05_commit_arrive %%done");
    } else {
        draw_line(d, "  if (eq %%i, %" PRIu32 ") {", p->steps - 1);
        draw_line(d, "    tcgen05_commit_arrive %%done");
        draw_line(d, "  }");
    }
    if (p->has_commits) {
        draw_line(d, "  barrier_wait %%done");
    }
}

static void add_sums(draw *d, const product *p) {
    char accumulator[64];
    const uint32_t count = p->n / p->loads;
    for (uint32_t i = 0; i < p->loads; i++) {
        get_accumulator(p, i * count, count, accumulator, sizeof accumulator);
        draw_line(d, "%%v%" PRIu32 " = async_load_tmem %s", i, accumulator);
    }
    draw_line(d, "wait_load_tmem");
    for (uint32_t i = 0; i < p->loads; i++) {
        draw_line(d, "store %%p%d[:, ds(%" PRIu32 ", %" PRIu32 ")], %%v%" PRIu32,
                  p->has_start ? 3 : 2, i * count, count, i);
    }
}

static void add_body(draw *d, const product *p) {
    char accumulator[64];
    draw_line(d, "for %%i in 0..%" PRIu32 " {", p->steps);
    if (!p->has_tmem_a) {
        draw_line(d, "  copy_gmem_to_smem %%p0[%%i], %%s0[%%i], %%full[%%i]");
    }
    draw_line(d, "  copy_gmem_to_smem %%p1[%%i], %%s1[%%i], %%full[%%i]");
    draw_line(d, "}");
    if (p->has_start) {
        get_accumulator(p, 0, p->n, accumulator, sizeof accumulator);
        draw_line(d, "async_store_tmem %s, (load %%p2)", accumulator);
        draw_line(d, "commit_tmem");
    }
    draw_line(d, "for %%i in 0..%" PRIu32 " {", p->steps);
    draw_line(d, "  barrier_wait %%full[%%i]");
    if (p->has_tmem_a) {
        draw_line(d, "  async_store_tmem %%ta, (load %%p0[%%i])");
        draw_line(d, "  commit_tmem");
    }
    add_product(d, p);
    draw_line(d, "}");
    if (!p->has_commits) {
        draw_line(d, "barrier_wait %%done");
    }
    add_sums(d, p);
}

static void add_kernel(draw *d, const product *p, grout_text *out) {
    grout_text scratch = {0};
    char type[64];
    for (uint32_t operand = 0; operand < 2; operand++) {
        if (operand == 1 || !p->has_tmem_a) {
            add_scratch(p, operand, &scratch);
        }
        add_operand(d, p, operand);
    }
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 "]",
                   draw_product_types[p->type].accumulator, p->m, p->n);
    if (p->has_start) {
        (void)draw_param(d, "in", type);
    }
    (void)draw_param(d, "out", type);
    grout_text_add(&scratch, "  scratch %%full : barrier[%" PRIu32 "] arrivals(%d)\n", p->steps,
                   p->has_tmem_a ? 1 : 2);
    grout_text_add(&scratch, "  scratch %%done : barrier orders_tensor_core\n");
    add_all_columns(p, &scratch);
    grout_text_add(&scratch, "  scratch %%acc : tmem %s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
                   draw_product_types[p->type].accumulator, p->slots, p->m, p->parts * p->n);
    add_alias(p, get_a_columns(p) + 2 * p->apart, &scratch);
    if (p->has_tmem_a) {
        grout_text_add(&scratch, "  scratch %%ta : tmem %s[%" PRIu32 ", %" PRIu32 "]%s",
                       draw_product_types[p->type].operands[0], p->m, p->k,
                       draw_product_types[p->type].bytes < 4 ? " packed" : "");
        add_alias(p, p->apart, &scratch);
    }
    add_body(d, p);
    draw_finish(d, scratch.data, "threads(wg = 1)", out);
    grout_text_free(&scratch);
}

/* Makes operands of 8-bit floats some of 6 or 4 bits, which lie along K in rows of 128. */
static void draw_narrow(draw *d, product *p) {
    static const char *const types[] = {"f4e2m1", "f6e2m3", "f6e3m2"};
    if (strncmp(draw_product_types[p->type].operands[0], "f8", 2) != 0 || draw_below(d, 2) == 0) {
        return;
    }
    for (uint32_t operand = p->has_tmem_a ? 1 : 0; operand < 2; operand++) {
        if (draw_below(d, 3) > 0) {
            p->narrow[operand] = types[draw_below(d, 3)];
            p->is_transposed[operand] = operand == 1;
            p->swizzle[operand] = 128;
            p->k = 128;
        }
    }
}

static void draw_product(draw *d, grout_text *out) {
    static const uint32_t swizzles[] = {128, 64, 32};
    product p;
    do {
        p = (product){.m = draw_below(d, 3) == 0 ? 64 : 128,
                      .n = 8 * (1 + draw_below(d, draw_below(d, 6) == 0 ? 32 : 8)),
                      .type = draw_below(d, DRAW_PRODUCT_TYPES),
                      .is_transposed = {draw_below(d, 3) == 0, draw_below(d, 2) == 0},
                      .has_tmem_a = draw_below(d, 3) == 0,
                      .is_tall = draw_below(d, 2) == 0,
                      .has_start = draw_below(d, 2) == 0,
                      .has_commits = draw_below(d, 2) == 0,
                      .steps = 1 + draw_below(d, 4),
                      .slots = 1 + draw_below(d, 2),
                      .parts = 1 + draw_below(d, 3),
                      .loads = 1 + draw_below(d, 2),
                      .swizzle = {swizzles[draw_below(d, 3)], swizzles[draw_below(d, 3)]}};
        p.k = draw_product_types[p.type].k_step * (1 + draw_below(d, 4));
        p.is_transposed[0] = p.is_transposed[0] && !p.has_tmem_a;
        draw_narrow(d, &p);
        p.slot = draw_below(d, p.slots);
        p.part = draw_below(d, p.parts);
        p.use = p.has_start ? draw_below(d, USE_COUNT) : USE_FRESH;
        p.has_commits = p.has_commits || p.has_tmem_a; /* the next a overwrites the last one */
        p.loads = p.m == 64 ? 1 : p.loads;             /* a slice of theirs may not leave a half */
        p.parts = p.m == 64 && p.parts == 3 ? 2 : p.parts;
        p.part = p.part % p.parts;
        p.is_saturating = p.type >= DRAW_FIRST_INTEGER && draw_below(d, 2) == 0;
    } while (!is_legal(&p));
    /* Sums of f16 have columns of 32 bits, one in each: they share them with nothing. */
    const bool is_half = strcmp(draw_product_types[p.type].accumulator, "f16") == 0;
    if (!is_half && draw_below(d, 2) == 0) {
        p.apart = 4 * (1 + draw_below(d, 8));
    }
    p.apart = get_sum_columns(&p) + get_a_columns(&p) + 3 * p.apart > 512 ? 0 : p.apart;
    add_kernel(d, &p, out);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

typedef struct array {
    const char *type;
    uint32_t packing; /* elements in a column of 32 bits */
    uint32_t rows, columns, slots;
    uint32_t cut; /* columns of a first piece; 0: it is whole */
} array;

/* The array itself or, if it fills its columns, one that is a part of another. */
static void add_array(draw *d, const array *it, const char *type, grout_text *scratch) {
    const bool is_packed = it->packing > 1;
    const bool is_filled = is_packed || strcmp(it->type + 1, "32") == 0;
    const uint32_t columns = it->slots * it->columns / it->packing * it->rows / 128;
    const uint32_t first = 4 * draw_below(d, 8);
    const bool is_alias = is_filled && draw_below(d, 2) == 0;
    if (is_alias) {
        grout_text_add(scratch, "  scratch %%all : tmem u32[128, %" PRIu32 "]\n",
                       first + columns + 4 * draw_below(d, 4));
    }
    grout_text_add(scratch, "  scratch %%t : tmem %s%s", type, is_packed ? " packed" : "");
    if (is_alias) {
        grout_text_add(scratch, " alias(%%all, %" PRIu32 ")", first);
    }
    grout_text_add(scratch, "\n");
}

static void add_stores(draw *d, const array *it) {
    const uint32_t rest = it->columns - it->cut;
    draw_line(d, "for %%i in 0..%" PRIu32 " {", it->slots);
    if (it->cut > 0) { /* in columns, the second ones first */
        draw_line(d,
                  "  async_store_tmem %%t[%%i, :, ds(%" PRIu32 ", %" PRIu32
                  ")], (load %%p0[%%i, :, ds(%" PRIu32 ", %" PRIu32 ")])",
                  it->cut, rest, it->cut, rest);
        draw_line(d,
                  "  async_store_tmem %%t[%%i, :, ds(0, %" PRIu32 ")], (load %%p0[%%i, :, ds(0, "
                  "%" PRIu32 ")])",
                  it->cut, it->cut);
    } else {
        draw_line(d, "  async_store_tmem %%t[%%i], (load %%p0[%%i])");
    }
    draw_line(d, "}");
    draw_line(d, "commit_tmem");
}

/* Other columns over those of a slot. */
static void add_overwriting(draw *d, const array *it) {
    char type[64];
    const uint32_t from = it->cut;
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 "]", it->type, it->rows,
                   it->columns - from);
    const uint32_t input = draw_param(d, "in", type);
    draw_line(d,
              "async_store_tmem %%t[%" PRIu32 ", :, ds(%" PRIu32 ", %" PRIu32
              ")], (load %%p%" PRIu32 ")",
              draw_below(d, it->slots), from, it->columns - from, input);
    draw_line(d, "commit_tmem");
}

static void add_loads(draw *d, const array *it, uint32_t output) {
    const uint32_t half = it->columns / 2;
    draw_line(d, "for %%i in 0..%" PRIu32 " {", it->slots);
    if (half % it->packing == 0 && draw_below(d, 2)) {
        for (uint32_t i = 0; i < 2; i++) {
            draw_line(
                d, "  %%v%" PRIu32 " = async_load_tmem %%t[%%i, :, ds(%" PRIu32 ", %" PRIu32 ")]",
                i, i * half, half);
        }
        draw_line(d, "  wait_load_tmem");
        for (uint32_t i = 0; i < 2; i++) {
            draw_line(d,
                      "  store %%p%" PRIu32 "[%%i, :, ds(%" PRIu32 ", %" PRIu32 ")], %%v%" PRIu32,
                      output, i * half, half, i);
        }
    } else {
        draw_line(d, "  %%v = async_load_tmem %%t[%%i]");
        draw_line(d, "  wait_load_tmem");
        draw_line(d, "  store %%p%" PRIu32 "[%%i], %%v", output);
    }
    draw_line(d, "}");
}

static void draw_array(draw *d, grout_text *out) {
    static const struct {
        const char *text;
        uint32_t bytes;
    } elements[] = {{"f32", 4}, {"i32", 4}, {"u32", 4}, {"f16", 2},    {"bf16", 2},  {"i16", 2},
                    {"u16", 2}, {"i8", 1},  {"u8", 1},  {"f8e4m3", 1}, {"f8e5m2", 1}};
    const uint32_t number = draw_below(d, sizeof elements / sizeof elements[0]);
    const uint32_t bytes = elements[number].bytes;
    const bool is_packed = bytes == 1 || (bytes == 2 && draw_below(d, 2));
    array it = {.type = elements[number].text,
                .packing = is_packed ? 4 / bytes : 1,
                .rows = draw_below(d, 3) == 0 ? 64 : 128,
                .slots = 1 + draw_below(d, 3)};
    grout_text scratch = {0};
    char type[64];
    /* a slot takes a multiple of 4 columns of 32 bits; of 64 rows two columns lie in one */
    const uint32_t step = 4 * it.packing * (it.rows == 64 ? 2 : 1);
    it.columns = step * (1 + draw_below(d, 4));
    const uint32_t cuts = it.columns / it.packing;
    it.cut = draw_below(d, 2) ? 0
             : it.rows == 64  ? it.columns / 2
                              : it.packing * draw_below(d, cuts);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", it.type,
                   it.slots, it.rows, it.columns);
    (void)draw_param(d, "in", type);
    const uint32_t output = draw_param(d, "out", type);
    add_array(d, &it, type, &scratch);
    add_stores(d, &it);
    if (draw_below(d, 2)) {
        add_overwriting(d, &it);
    }
    add_loads(d, &it, output);
    draw_finish(d, scratch.data, "threads(wg = 1)", out);
    grout_text_free(&scratch);
}

void draw_tcgen05(uint64_t seed, grout_text *out) {
    draw d = {.state = seed};
    if (draw_below(&d, 3) == 0) {
        draw_array(&d, out);
    } else {
        draw_product(&d, out);
    }
}
