/* draw_wgmma.c - matrix products: every legal combination of element types, swizzles,
 * transpositions and N by number, or one drawn with other sizes, slots, slices and groups in
 * flight. SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct product {
    uint32_t m, n, k;
    uint32_t type;       /* of draw_product_types */
    uint32_t swizzle[2]; /* of a and b: bytes, 0 for none */
    bool
        is_transposed[2]; /* held as [K, M], [N, K]: 16-bit types; others always hold b as [N, K] */
    bool is_register;     /* a comes from registers */
    bool is_tall;         /* tiles as high as the array instead of 8 rows */
    uint32_t steps;       /* wgmmas, each with a slot of its own */
    uint32_t in_flight;   /* groups that wgmma_wait leaves; 8: use wgmma */
    uint32_t use;         /* of the texts below */
    bool is_saturating;   /* of integers: no drawn sum is so large */
    bool is_sparse;       /* k counts what a keeps: b has twice as many rows */
} product;

/* The operand use_acc: omitted, constant, known to the run only. */
static const char *const uses[] = {"", ", true", ", false", ", (gt %i, 0)", ", (eq %i, 0)"};
enum { USE_COUNT = sizeof uses / sizeof uses[0] };

static const uint32_t swizzles[] = {128, 64, 32, 0};

/* Elements in one row of a tile. */
static uint32_t get_width(const product *p, uint32_t operand) {
    const uint32_t bytes = p->swizzle[operand] == 0 ? 16 : p->swizzle[operand];
    return bytes / draw_product_types[p->type].bytes;
}

/* Rows of b. */
static uint32_t get_depth(const product *p) {
    return p->is_sparse ? 2 * p->k : p->k;
}

/* Dimensions of an operand in SMEM. */
static void get_dims(const product *p, uint32_t operand, uint32_t dims[2]) {
    const uint32_t outer = operand == 0 ? p->m : get_depth(p), inner = operand == 0 ? p->k : p->n;
    dims[0] = p->is_transposed[operand] ? inner : outer;
    dims[1] = p->is_transposed[operand] ? outer : inner;
}

static bool is_legal(const product *p) {
    for (uint32_t operand = p->is_register ? 1 : 0; operand < 2; operand++) {
        uint32_t dims[2];
        get_dims(p, operand, dims);
        if (dims[0] % 8 != 0 || dims[1] % get_width(p, operand) != 0 || dims[0] > 256 ||
            dims[1] > 256) {
            return false;
        }
    }
    const uint32_t bytes =
        (p->m * p->k + get_depth(p) * p->n) * draw_product_types[p->type].bytes * p->steps;
    const uint32_t registers = p->m * p->n / 128;
    if (draw_product_types[p->type].bytes != 2 && (!p->is_transposed[1] || p->is_transposed[0])) {
        return false;
    }
    if (draw_product_types[p->type].bytes == 4 && p->is_register) {
        return false;
    }
    if (p->type >= DRAW_FIRST_INTEGER && p->n > 32 && p->n % 16 != 0) {
        return false;
    }
    return bytes <= 200000 && registers <= 160;
}

static void add_scratch(const product *p, uint32_t operand, grout_text *scratch) {
    uint32_t dims[2];
    get_dims(p, operand, dims);
    grout_text_add(scratch,
                   "  scratch %%s%" PRIu32 " : smem %s[%" PRIu32 ", %" PRIu32 ", %" PRIu32
                   "] tile(%" PRIu32 ", %" PRIu32 ")",
                   operand, draw_product_types[p->type].operands[operand], p->steps, dims[0],
                   dims[1], p->is_tall ? dims[0] : 8, get_width(p, operand));
    if (p->swizzle[operand] != 0) {
        grout_text_add(scratch, " swizzle(%" PRIu32 ")", p->swizzle[operand]);
    }
    grout_text_add(scratch, "\n");
}

static void add_operand(draw *d, const product *p, uint32_t operand, const char *direction) {
    uint32_t dims[2];
    char type[64];
    get_dims(p, operand, dims);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
                   draw_product_types[p->type].operands[operand], p->steps, dims[0], dims[1]);
    (void)draw_param(d, direction, type);
}

/* Words of metadata in a row. */
static uint32_t count_words(const product *p) {
    return p->k / (draw_product_types[p->type].bytes == 4 ? 4 : 8);
}

/* Metadata out of any integers: two different places of 4, of f32 one of 2. */
static void add_metadata(draw *d, const product *p) {
    const uint32_t words = count_words(p);
    draw_line(d, "  %%any = load %%p2[%%i]");
    draw_line(d,
              "  %%codes = for %%g in 0..4 carry(%%w = (broadcast 0 : i32[%" PRIu32 ", %" PRIu32
              "])) {",
              p->m, words);
    draw_line(d, "    %%bits = shr %%any, (mul %%g, 2)");
    if (draw_product_types[p->type].bytes == 4) {
        draw_line(d, "    %%code = select (eq (and %%bits, 1), 0), 4, 14");
    } else {
        draw_line(d, "    %%first = and %%bits, 3");
        draw_line(d, "    %%turn = add (rem (and (shr %%bits, 2), 7), 3), 1");
        draw_line(d, "    %%code = or %%first, (shl (and (add %%first, %%turn), 3), 2)");
    }
    draw_line(d, "    yield (or %%w, (shl %%code, (mul %%g, 4)))");
    draw_line(d, "  }");
    draw_line(d, "  %%metadata = cast %%codes : u16");
}

static void add_body(draw *d, const product *p) {
    draw_line(d, "for %%i in 0..%" PRIu32 " {", p->steps);
    if (!p->is_register) {
        draw_line(d, "  copy_gmem_to_smem %%p0[%%i], %%s0[%%i], %%full[%%i]");
    }
    draw_line(d, "  copy_gmem_to_smem %%p1[%%i], %%s1[%%i], %%full[%%i]");
    draw_line(d, "}");
    draw_line(d, "for %%i in 0..%" PRIu32 " {", p->steps);
    draw_line(d, "  barrier_wait %%full[%%i]");
    if (p->is_register) {
        draw_line(d, "  %%a = load %%p0[%%i]");
    }
    if (p->is_sparse) {
        add_metadata(d, p);
    }
    draw_line(d, "  wgmma%s%s %%acc, %s%s, %%s1[%%i]%s%s%s%s", p->is_sparse ? "_sp" : "",
              p->in_flight < 8 ? "_async" : "", p->is_register ? "%a" : "%s0[%i]",
              !p->is_register && p->is_transposed[0] ? ".transpose(1, 0)" : "",
              p->is_transposed[1] ? ".transpose(1, 0)" : "", p->is_sparse ? ", %metadata" : "",
              uses[p->use], p->is_saturating ? " saturate" : "");
    if (p->in_flight < 8) {
        draw_line(d, "  wgmma_wait %" PRIu32, p->in_flight);
    }
    draw_line(d, "}");
    draw_line(d, "store %%p%d, (load %%acc)", p->is_sparse ? 3 : 2);
}

static void add_kernel(const product *p, grout_text *out) {
    draw d = {.state = 0};
    grout_text scratch = {0};
    char type[64];
    for (uint32_t operand = 0; operand < 2; operand++) {
        if (operand == 1 || !p->is_register) {
            add_scratch(p, operand, &scratch);
        }
        add_operand(&d, p, operand, "in");
    }
    if (p->is_sparse) {
        (void)snprintf(type, sizeof type, "i32[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", p->steps,
                       p->m, count_words(p));
        (void)draw_param(&d, "in", type);
    }
    grout_text_add(&scratch, "  scratch %%full : barrier[%" PRIu32 "] arrivals(%d)\n", p->steps,
                   p->is_register ? 1 : 2);
    grout_text_add(&scratch, "  scratch %%acc : acc %s[%" PRIu32 ", %" PRIu32 "]\n",
                   draw_product_types[p->type].accumulator, p->m, p->n);
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 "]",
                   draw_product_types[p->type].accumulator, p->m, p->n);
    (void)draw_param(&d, "out", type);
    add_body(&d, p);
    draw_finish(&d, scratch.data, "threads(wg = 1)", out);
    grout_text_free(&scratch);
}

/* Whether a is transposed, b is, a comes from registers. */
#define WAYS 6
static const bool ways[WAYS][3] = {{false, false, false}, {false, true, false},
                                   {true, false, false},  {true, true, false},
                                   {false, false, true},  {false, true, true}};

static product get_form(uint64_t number) {
    product p = {.m = 64, .steps = 1, .in_flight = 8};
    p.n = (uint32_t)(number % 32 + 1) * 8;
    p.type = (uint32_t)(number / 32 % DRAW_PRODUCT_TYPES);
    number /= (uint64_t)32 * DRAW_PRODUCT_TYPES;
    p.swizzle[1] = swizzles[number % 4];
    p.swizzle[0] = swizzles[number / 4 % 4];
    const bool *way = ways[number / 16 % WAYS];
    p.is_transposed[0] = way[0];
    p.is_transposed[1] = way[1];
    p.is_register = way[2];
    p.is_tall = p.n / 8 % 2 == 0;
    /* the least K that fills the tiles of what runs along K */
    p.k = draw_product_types[p.type].k_step;
    for (uint32_t operand = 0; operand < 2; operand++) {
        const bool runs_along_k = p.is_transposed[operand] == (operand == 1);
        const uint32_t width = get_width(&p, operand);
        p.k = runs_along_k && width > p.k && !(operand == 0 && p.is_register) ? width : p.k;
    }
    return p;
}

bool draw_wgmma_form(uint64_t number, grout_text *out) {
    if (number >= UINT64_C(512) * DRAW_PRODUCT_TYPES * WAYS) {
        return false;
    }
    const product p = get_form(number);
    if (is_legal(&p)) {
        add_kernel(&p, out);
    }
    return true;
}

void draw_wgmma(uint64_t seed, grout_text *out) {
    draw d = {.state = seed};
    product p;
    do {
        const uint32_t way = draw_below(&d, WAYS);
        p = (product){.m = 64 * (1 + draw_below(&d, 3)),
                      .n = 8 * (1 + draw_below(&d, 32)),
                      .type = draw_below(&d, DRAW_PRODUCT_TYPES),
                      .is_transposed = {ways[way][0], ways[way][1]},
                      .is_register = ways[way][2],
                      .is_tall = draw_below(&d, 2) == 0,
                      .steps = 1 + draw_below(&d, 5),
                      .in_flight = draw_below(&d, 2) == 0 ? 8 : draw_below(&d, 8),
                      .is_sparse = draw_below(&d, 2) == 0,
                      .use = draw_below(&d, 2 * USE_COUNT) % USE_COUNT};
        p.k = draw_product_types[p.type].k_step * (1 + draw_below(&d, 8));
        if (p.is_sparse && draw_product_types[p.type].bytes > 1) { /* whole registers of metadata */
            p.k = 2 * p.k;
        }
        p.is_saturating = p.type >= DRAW_FIRST_INTEGER && draw_below(&d, 2) == 0;
        p.swizzle[0] = swizzles[draw_below(&d, 4)];
        p.swizzle[1] = swizzles[draw_below(&d, 4)];
    } while (!is_legal(&p));
    add_kernel(&p, out);
}
