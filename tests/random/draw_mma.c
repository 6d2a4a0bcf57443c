/* draw_mma.c - products of arrays in registers: every pair of element types and type of sums,
 * sizes, sources of the operands, sums that wrap or stop. SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    const char *operands[2], *sums;
    uint32_t k_step;
} types[] = {{{"bf16", "bf16"}, "f32", 16},     {{"f16", "f16"}, "f32", 16},
             {{"f16", "f16"}, "f16", 16},       {{"f32", "f32"}, "f32", 8},
             {{"f8e4m3", "f8e4m3"}, "f32", 32}, {{"f8e5m2", "f8e4m3"}, "f32", 32},
             {{"f8e4m3", "f8e5m2"}, "f16", 32}, {{"f8e5m2", "f8e5m2"}, "f32", 32},
             {{"i8", "i8"}, "i32", 32},         {{"u8", "u8"}, "i32", 32},
             {{"i8", "u8"}, "i32", 32},         {{"u8", "i8"}, "i32", 32}};
enum { TYPE_COUNT = sizeof types / sizeof types[0], FIRST_INTEGER = 8 };

/* Where an operand comes from. */
typedef enum source { GMEM, SMEM, TURNED, SPLAT, SOURCE_COUNT } source;

typedef struct product {
    uint32_t m, n, k, type, steps;
    source from[2];
    bool saturates, has_start; /* sums start with a parameter, or a number */
    bool is_outside;           /* operands are loaded once, before the loop */
} product;

/* "f16[64, 32]" of an operand, with the dimensions the other way round if it is turned. */
static void get_type(const product *p, uint32_t operand, char *text, size_t size) {
    const uint32_t outer = operand == 0 ? p->m : p->k, inner = operand == 0 ? p->k : p->n;
    const bool is_turned = p->from[operand] == TURNED;
    (void)snprintf(text, size, "%s[%" PRIu32 ", %" PRIu32 "]", types[p->type].operands[operand],
                   is_turned ? inner : outer, is_turned ? outer : inner);
}

static void add_scratch(draw *d, const product *p, uint32_t operand, grout_text *scratch) {
    char type[64];
    get_type(p, operand, type, sizeof type);
    (void)draw_param(d, "in", type);
    if (p->from[operand] == SMEM || p->from[operand] == TURNED) {
        grout_text_add(scratch, "  scratch %%s%" PRIu32 " : smem %s\n", operand, type);
        draw_line(d, "store %%s%" PRIu32 ", (load %%p%" PRIu32 ")", operand, operand);
    }
}

/* "%v0 = load %s0.transpose(1, 0)" */
static void add_operand(draw *d, const product *p, uint32_t operand, const char *indent) {
    const bool is_float = p->type < FIRST_INTEGER;
    if (p->from[operand] == SPLAT) {
        draw_line(d, "%s%%v%" PRIu32 " = broadcast %s : %s[%" PRIu32 ", %" PRIu32 "]", indent,
                  operand, is_float ? "2.0" : "2", types[p->type].operands[operand],
                  operand == 0 ? p->m : p->k, operand == 0 ? p->k : p->n);
    } else {
        draw_line(d, "%s%%v%" PRIu32 " = load %%%s%" PRIu32 "%s", indent, operand,
                  p->from[operand] == GMEM ? "p" : "s", operand,
                  p->from[operand] == TURNED ? ".transpose(1, 0)" : "");
    }
}

static void add_loop(draw *d, const product *p, const char *sums) {
    if (p->has_start) {
        draw_line(d, "%%start = load %%p2");
    } else {
        draw_line(d, "%%start = broadcast %s : %s",
                  p->type < FIRST_INTEGER ? "1.0"
                  : p->n % 16 == 0        ? "2147483640"
                                          : "-2147483640",
                  sums);
    }
    for (uint32_t operand = 0; operand < 2 && p->is_outside; operand++) {
        add_operand(d, p, operand, "");
    }
    draw_line(d, "%%all = for %%i in 0..%" PRIu32 " carry(%%sum = %%start) {", p->steps);
    for (uint32_t operand = 0; operand < 2 && !p->is_outside; operand++) {
        add_operand(d, p, operand, "  ");
    }
    draw_line(d, "  yield (mma %%sum, %%v0, %%v1%s)", p->saturates ? " saturate" : "");
    draw_line(d, "}");
    draw_line(d, "store %%p3, %%all");
}

void draw_mma(uint64_t seed, grout_text *out) {
    draw d = {.state = seed};
    grout_text scratch = {0};
    char sums[64];
    const uint32_t warps = draw_warps(seed);
    product p = {.m = 16 * warps * (1 + draw_below(&d, 2)),
                 .n = 8 * (1 + draw_below(&d, 8)),
                 .type = draw_below(&d, TYPE_COUNT),
                 .steps = 1 + draw_below(&d, 3),
                 .has_start = draw_below(&d, 3) == 0,
                 .is_outside = draw_below(&d, 2) == 0};
    p.k = types[p.type].k_step * (1 + draw_below(&d, 4));
    p.saturates = p.type >= FIRST_INTEGER && draw_below(&d, 2) == 0;
    for (uint32_t operand = 0; operand < 2; operand++) {
        p.from[operand] = (source)draw_below(&d, SOURCE_COUNT);
        add_scratch(&d, &p, operand, &scratch);
    }
    (void)snprintf(sums, sizeof sums, "%s[%" PRIu32 ", %" PRIu32 "]", types[p.type].sums, p.m, p.n);
    (void)draw_param(&d, "in", sums);
    (void)draw_param(&d, "out", sums);
    add_loop(&d, &p, sums);
    draw_finish_thread(&d, scratch.data == NULL ? "" : scratch.data, warps, out);
    grout_text_free(&scratch);
}
