/* register_tiling.c - reads a register layout that a kernel spells out, as Pallas and Gluon do.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: JAX, jax/experimental/mosaic/gpu/fragmented_array.py, TiledLayout; Triton,
 * python/triton/experimental/gluon/language/_layouts.py, DistributedLinearLayout. Sizes and bases
 * are powers of two, so that either is a list of the places to which the bits of a lane's and a
 * register's number lead.
 */
#include "register_layouts.h"

#include "grout/diag.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS_MAX = 14,    /* of one list */
    COLUMNS_MAX = 4,  /* of an entry of it */
    SIZE_MAX_ = 4096, /* of a tile's side */
    PARTS_MAX = 24,   /* dimensions after all tiles */
    LANE_BITS = 5,
    WARP_BITS = 2
};

/* A list of numbers or of lists of them. */
typedef struct list {
    bool is_there;
    uint32_t count;
    uint32_t lengths[ROWS_MAX]; /* of its lists; 0: a number, in the first column */
    int32_t numbers[ROWS_MAX][COLUMNS_MAX];
    bool is_copy[ROWS_MAX]; /* Replicated(n) */
} list;

typedef enum key {
    TILING,
    WARP_DIMS,
    LANE_DIMS,
    VECTOR_DIM,
    REG_BASES,
    LANE_BASES,
    WARP_BASES,
    BLOCK_BASES,
    SHAPE,
    KEY_COUNT
} key;

static const char *const names[KEY_COUNT] = {"tiling",     "warp_dims",   "lane_dims",
                                             "vector_dim", "reg_bases",   "lane_bases",
                                             "warp_bases", "block_bases", "shape"};

typedef struct reader {
    const char *at;
    list lists[KEY_COUNT];
    grout_tiling_problem *problem;
    bool ok;
} reader;

static bool fail(reader *r, const char *format, ...) GROUT_PRINTF(2, 3);
static bool fail(reader *r, const char *format, ...) {
    va_list arguments;
    if (r->ok) {
        va_start(arguments, format);
        (void)vsnprintf(r->problem->text, sizeof r->problem->text, format, arguments);
        va_end(arguments);
    }
    r->ok = false;
    return false;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void skip_blanks(reader *r) {
    while (isspace((unsigned char)*r->at)) {
        r->at++;
    }
}

static bool accept(reader *r, const char *text) {
    skip_blanks(r);
    const size_t size = strlen(text);
    if (strncmp(r->at, text, size) != 0) {
        return false;
    }
    r->at += size;
    return true;
}

static bool accept_open(reader *r) {
    return accept(r, "(") || accept(r, "[");
}

static bool accept_close(reader *r) {
    return accept(r, ")") || accept(r, "]");
}

static bool read_number(reader *r, int32_t *number_out) {
    skip_blanks(r);
    const bool is_negative = accept(r, "-");
    int32_t number = 0;
    if (!isdigit((unsigned char)*r->at)) {
        return fail(r, "a number is missing at '%.20s'", r->at);
    }
    for (; isdigit((unsigned char)*r->at); r->at++) {
        number = number > SIZE_MAX_ ? number : 10 * number + (*r->at - '0');
    }
    *number_out = is_negative ? -number : number;
    return number <= SIZE_MAX_ || fail(r, "a number is larger than %d", SIZE_MAX_);
}

/* '8, 64)' after the opening bracket. */
static bool read_row(reader *r, list *l) {
    const uint32_t row = l->count - 1;
    while (r->ok && !accept_close(r)) {
        if (l->lengths[row] == COLUMNS_MAX) {
            return fail(r, "a list has more than %d numbers", COLUMNS_MAX);
        }
        (void)read_number(r, &l->numbers[row][l->lengths[row]++]);
        (void)accept(r, ",");
    }
    return r->ok;
}

static bool read_entry(reader *r, list *l) {
    if (l->count == ROWS_MAX) {
        return fail(r, "a list has more than %d entries", ROWS_MAX);
    }
    const uint32_t row = l->count++;
    if (accept_open(r)) {
        return read_row(r, l);
    }
    if (accept(r, "Replicated(")) {
        l->is_copy[row] = true;
        (void)accept(r, "times=");
        return read_number(r, &l->numbers[row][0]) &&
               (accept_close(r) || fail(r, "Replicated(n) lacks its bracket"));
    }
    return read_number(r, &l->numbers[row][0]);
}

static bool read_list(reader *r, list *l) {
    l->is_there = true;
    if (!accept_open(r)) {
        return read_entry(r, l);
    }
    while (r->ok && !accept_close(r)) {
        (void)read_entry(r, l);
        (void)accept(r, ",");
    }
    return r->ok;
}

static bool read_key(reader *r) {
    for (uint32_t k = 0; k < KEY_COUNT; k++) {
        const char *before = r->at;
        if (accept(r, names[k]) && accept(r, "=")) {
            list *l = &r->lists[k];
            if (l->is_there) {
                return fail(r, "%s stands twice", names[k]);
            }
            const bool is_named = k == TILING && accept(r, "Tiling(");
            if (!read_list(r, l) || (is_named && !accept_close(r))) {
                return fail(r, "Tiling(..) lacks its bracket");
            }
            (void)accept(r, ",");
            return true;
        }
        r->at = before;
    }
    return fail(r,
                "'%.20s' is none of tiling, warp_dims, lane_dims, vector_dim, reg_bases, "
                "lane_bases, warp_bases",
                r->at);
}

/* ---- places ---------------------------------------------------------------------------------- */

static uint32_t count_bits(int32_t number) {
    uint32_t bits = 0;
    while (number > 1 << bits) {
        bits++;
    }
    return number == 1 << bits ? bits : UINT32_MAX;
}

/* A dimension after some tiles: a run of bits of the row or of the column. */
typedef struct part {
    bool is_row, is_taken;
    uint32_t first, bits;
} part;

typedef struct parts {
    part list[PARTS_MAX];
    uint32_t count;
} parts;

/* One more tile, which divides the last dimensions: its own come after all others. */
static bool add_tile(reader *r, parts *p, uint32_t row) {
    const list *tiling = &r->lists[TILING];
    const uint32_t length = tiling->lengths[row], before = p->count;
    if (length == 0 || length > before || before + length > PARTS_MAX) {
        return fail(r, "tile %u has no dimensions, or more than there are", row);
    }
    for (uint32_t k = 0; k < length; k++) {
        part *outer = &p->list[before - length + k];
        const uint32_t bits = count_bits(tiling->numbers[row][k]);
        if (bits == UINT32_MAX || bits > outer->bits) {
            return fail(r, "tile %u: %d is no power of two that divides %d", row,
                        tiling->numbers[row][k], 1 << outer->bits);
        }
        p->list[p->count++] = (part){.is_row = outer->is_row, .first = outer->first, .bits = bits};
        outer->first += bits;
        outer->bits -= bits;
    }
    return true;
}

static grout_register_step get_step(bool is_row, uint32_t bit) {
    return is_row ? (grout_register_step){.row = (uint16_t)(1u << bit)}
                  : (grout_register_step){.col = (uint16_t)(1u << bit)};
}

/* Steps that dimensions have given, in a place for so many. */
typedef struct step_list {
    grout_register_step *steps;
    uint32_t count, max;
} step_list;

/* Adds the steps of a dimension's bits from the lowest on; false: there is no such dimension. */
static bool take_part(reader *r, parts *p, const char *name, int32_t dim, step_list *taken) {
    if (dim >= 0 || -dim > (int32_t)p->count || p->list[p->count - (uint32_t)-dim].is_taken) {
        return fail(r,
                    "%s: %d is no dimension of the tiles, or stands twice; they count from -1, "
                    "the last",
                    name, dim);
    }
    part *it = &p->list[p->count - (uint32_t)-dim];
    it->is_taken = true;
    for (uint32_t bit = 0; bit < it->bits; bit++) {
        if (taken->count == taken->max) {
            return fail(r, "%s: more than %u", name, 1u << taken->max);
        }
        taken->steps[taken->count++] = get_step(it->is_row, it->first + bit);
    }
    return true;
}

/* Warp or lane dimensions, the last of which is the fastest. */
static bool take_parts(reader *r, parts *p, key which, grout_register_step *steps, uint32_t bits) {
    const list *l = &r->lists[which];
    step_list taken = {.steps = steps, .max = bits};
    for (uint32_t k = l->count; r->ok && k-- > 0;) {
        if (!l->is_copy[k]) {
            (void)take_part(r, p, names[which], l->numbers[k][0], &taken);
            continue;
        }
        const uint32_t copies = count_bits(l->numbers[k][0]);
        if (copies == UINT32_MAX || taken.count + copies > bits) {
            return fail(r, "%s: Replicated(%d) is no power of two, or too many", names[which],
                        l->numbers[k][0]);
        }
        for (uint32_t bit = 0; bit < copies; bit++) {
            steps[taken.count++] = (grout_register_step){0};
        }
    }
    return r->ok && (taken.count == bits || fail(r, "%s: %u, and there are %u", names[which],
                                                 1u << taken.count, 1u << bits));
}

static bool read_tiles(reader *r, grout_register_tiling *tiling) {
    const list *tiles = &r->lists[TILING], *vector = &r->lists[VECTOR_DIM];
    parts p = {.count = tiles->count == 0 ? 0 : tiles->lengths[0]};
    step_list registers = {.steps = tiling->registers, .max = GROUT_TILING_REGISTER_BITS_MAX};
    if (p.count < 1 || p.count > 2) {
        return fail(r, "the first tile has one or two dimensions");
    }
    tiling->rows = tiling->cols = 1;
    for (uint32_t k = 0; k < p.count; k++) {
        const int32_t size = tiles->numbers[0][k];
        const bool is_row = k + 1 < p.count;
        p.list[k] = (part){.is_row = is_row, .bits = count_bits(size)};
        if (p.list[k].bits == UINT32_MAX) {
            return fail(r, "tile 0: %d is no power of two", size);
        }
        *(is_row ? &tiling->rows : &tiling->cols) = (uint16_t)size;
    }
    for (uint32_t row = 1; r->ok && row < tiles->count; row++) {
        (void)add_tile(r, &p, row);
    }
    if (!r->ok || !take_parts(r, &p, WARP_DIMS, tiling->lanes + LANE_BITS, WARP_BITS) ||
        !take_parts(r, &p, LANE_DIMS, tiling->lanes, LANE_BITS)) {
        return false;
    }
    if (vector->is_there &&
        !take_part(r, &p, names[VECTOR_DIM], vector->numbers[0][0], &registers)) {
        return false;
    }
    for (uint32_t k = p.count; k-- > 0;) { /* what is left counts a lane's registers */
        if (!p.list[k].is_taken &&
            !take_part(r, &p, "the rest", (int32_t)k - (int32_t)p.count, &registers)) {
            return false;
        }
    }
    tiling->register_bits = (uint8_t)registers.count;
    return true;
}

/* ---- bases ----------------------------------------------------------------------------------- */

static bool read_bases(reader *r, key which, grout_register_step *steps, uint32_t max) {
    const list *l = &r->lists[which];
    if (l->count > max) {
        return fail(r, "%s: more than %u bases", names[which], max);
    }
    for (uint32_t k = 0; k < l->count; k++) {
        const uint32_t length = l->lengths[k];
        const int32_t row = length == 2 ? l->numbers[k][0] : 0;
        const int32_t col = length == 0 ? 0 : l->numbers[k][length - 1];
        const bool is_one = (row == 0) != (col == 0) && count_bits(row + col) != UINT32_MAX;
        if (length < 1 || length > 2 || (!is_one && (row != 0 || col != 0 || which == REG_BASES))) {
            return fail(r, "%s: base %u is no power of two in one of one or two dimensions",
                        names[which], k);
        }
        steps[k] = (grout_register_step){.row = (uint16_t)row, .col = (uint16_t)col};
    }
    return true;
}

/* The sides of the tile that distinct bases span: 1, 2, 4 and so on, each once. */
static bool span_tile(reader *r, grout_register_tiling *tiling) {
    uint32_t rows = 0, cols = 0;
    for (uint32_t k = 0; k < 7u + tiling->register_bits; k++) {
        const grout_register_step *step = k < 7 ? &tiling->lanes[k] : &tiling->registers[k - 7];
        if ((rows & step->row) != 0 || (cols & step->col) != 0) {
            return fail(r, "two bases are alike");
        }
        rows |= step->row;
        cols |= step->col;
    }
    if (((rows + 1) & rows) != 0 || ((cols + 1) & cols) != 0) {
        return fail(r, "the bases leave gaps: those of a dimension are 1, 2, 4 and so on");
    }
    tiling->rows = (uint16_t)(rows + 1);
    tiling->cols = (uint16_t)(cols + 1);
    return true;
}

static bool read_linear(reader *r, grout_register_tiling *tiling) {
    const list *shape = &r->lists[SHAPE];
    if (r->lists[LANE_BASES].count != LANE_BITS || r->lists[WARP_BASES].count != WARP_BITS) {
        return fail(r, "a warp has %d lane_bases, a thread %d warp_bases", LANE_BITS, WARP_BITS);
    }
    if (r->lists[BLOCK_BASES].count > 0) {
        return fail(r, "block_bases: a value is of one thread, and never of several CTAs");
    }
    tiling->register_bits = (uint8_t)r->lists[REG_BASES].count;
    if (!read_bases(r, LANE_BASES, tiling->lanes, LANE_BITS) ||
        !read_bases(r, WARP_BASES, tiling->lanes + LANE_BITS, WARP_BITS) ||
        !read_bases(r, REG_BASES, tiling->registers, GROUT_TILING_REGISTER_BITS_MAX) ||
        !span_tile(r, tiling)) {
        return false;
    }
    const int32_t rows = shape->count == 2 ? shape->numbers[0][0] : 1;
    const int32_t cols = shape->count == 0 ? tiling->cols : shape->numbers[shape->count - 1][0];
    return !shape->is_there || (rows % tiling->rows == 0 && cols % tiling->cols == 0) ||
           fail(r, "the bases span %u x %u, which does not divide the shape", tiling->rows,
                tiling->cols);
}

bool grout_register_tiling_read(const char *text, grout_register_tiling *tiling_out,
                                grout_tiling_problem *problem_out) {
    reader r = {.at = text, .problem = problem_out, .ok = true};
    memset(tiling_out, 0, sizeof *tiling_out);
    do {
        (void)read_key(&r);
        skip_blanks(&r);
    } while (r.ok && *r.at != '\0');
    if (!r.ok) {
        return false;
    }
    bool is_tiled = false, is_linear = false;
    for (uint32_t k = 0; k < KEY_COUNT; k++) {
        is_tiled |= k < REG_BASES && r.lists[k].is_there;
        is_linear |= k >= REG_BASES && r.lists[k].is_there;
    }
    if (is_tiled && is_linear) {
        return fail(&r, "it is spelt by tiles and by bases: either is enough");
    }
    return is_tiled ? read_tiles(&r, tiling_out) : read_linear(&r, tiling_out);
}
