/* register_tiling.c - reads a register layout that a kernel spells out, as Pallas and Gluon do.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: JAX, jax/experimental/mosaic/gpu/fragmented_array.py, TiledLayout; Triton,
 * python/triton/experimental/gluon/language/_layouts.py, DistributedLinearLayout. Sizes and bases
 * are powers of two, so that either is a list of the places to which the bits of a lane's and a
 * register's number lead.
 */
#include "register_layouts.h"

#include "list_reader.h"

#include "grout-internal/diagnose.h"

#include <string.h>

enum {
    ROWS_MAX = 14,   /* of one list */
    COLUMNS_MAX = 4, /* of an entry of it */
    SIDE_MAX = 4096, /* of a tile's side */
    PARTS_MAX = 24,  /* dimensions after all tiles */
    LANE_BITS = 5,
    WARP_BITS = 2
};

_Static_assert((int)ROWS_MAX <= (int)GROUT_LIST_ROWS && (int)COLUMNS_MAX <= (int)GROUT_LIST_COLUMNS,
               "a list has room for the most of each");

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
    grout_list_reader text;
    grout_list lists[KEY_COUNT];
} reader;

static bool read_key(reader *r) {
    for (uint32_t k = 0; k < KEY_COUNT; k++) {
        const char *before = r->text.at;
        if (grout_list__accept(&r->text, names[k]) && grout_list__accept(&r->text, "=")) {
            grout_list *l = &r->lists[k];
            if (l->is_there) {
                return grout_list__fail(&r->text, "%s stands twice", names[k]);
            }
            const bool is_named = k == TILING && grout_list__accept(&r->text, "Tiling(");
            if (!grout_list__read(&r->text, l) ||
                (is_named && !grout_list__accept_close(&r->text))) {
                return grout_list__fail(&r->text, "Tiling(..) lacks its bracket");
            }
            (void)grout_list__accept(&r->text, ",");
            return true;
        }
        r->text.at = before;
    }
    return grout_list__fail(
        &r->text,
        "'%.20s' is none of tiling, warp_dims, lane_dims, vector_dim, reg_bases, "
        "lane_bases, warp_bases",
        r->text.at);
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
    const grout_list *tiling = &r->lists[TILING];
    const uint32_t length = tiling->lengths[row], before = p->count;
    if (length == 0 || length > before || before + length > PARTS_MAX) {
        return grout_list__fail(&r->text, "tile %u has no dimensions, or more than there are", row);
    }
    for (uint32_t k = 0; k < length; k++) {
        part *outer = &p->list[before - length + k];
        const uint32_t bits = count_bits(tiling->numbers[row][k]);
        if (bits == UINT32_MAX || bits > outer->bits) {
            return grout_list__fail(&r->text, "tile %u: %d is not a power of two that divides %d",
                                    row, tiling->numbers[row][k], 1 << outer->bits);
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

/* Steps that dimensions have given, in a place for this many. */
typedef struct step_list {
    grout_register_step *steps;
    uint32_t count, max;
} step_list;

/* Adds the steps of a dimension's bits from the lowest on; false: there is no such dimension. */
static bool take_part(reader *r, parts *p, const char *name, int32_t dim, step_list *taken) {
    if (dim >= 0 || -dim > (int32_t)p->count || p->list[p->count - (uint32_t)-dim].is_taken) {
        return grout_list__fail(
            &r->text,
            "%s: %d is not a dimension of the tiles, or stands twice; they count from -1, "
            "the last",
            name, dim);
    }
    part *it = &p->list[p->count - (uint32_t)-dim];
    it->is_taken = true;
    for (uint32_t bit = 0; bit < it->bits; bit++) {
        if (taken->count == taken->max) {
            return grout_list__fail(&r->text, "%s: more than %u", name, 1u << taken->max);
        }
        taken->steps[taken->count++] = get_step(it->is_row, it->first + bit);
    }
    return true;
}

/* Warp or lane dimensions, the last of which is the fastest. */
static bool take_parts(reader *r, parts *p, key which, grout_register_step *steps, uint32_t bits) {
    const grout_list *l = &r->lists[which];
    step_list taken = {.steps = steps, .max = bits};
    for (uint32_t k = l->count; r->text.ok && k-- > 0;) {
        if (!l->is_copy[k]) {
            (void)take_part(r, p, names[which], l->numbers[k][0], &taken);
            continue;
        }
        const uint32_t copies = count_bits(l->numbers[k][0]);
        if (copies == UINT32_MAX || taken.count + copies > bits) {
            return grout_list__fail(&r->text,
                                    "%s: Replicated(%d) is not a power of two, or too many",
                                    names[which], l->numbers[k][0]);
        }
        for (uint32_t bit = 0; bit < copies; bit++) {
            steps[taken.count++] = (grout_register_step){0};
        }
    }
    return r->text.ok &&
           (taken.count == bits || grout_list__fail(&r->text, "%s: %u, and there are %u",
                                                    names[which], 1u << taken.count, 1u << bits));
}

static bool read_tiles(reader *r, grout_register_tiling *tiling) {
    const grout_list *tiles = &r->lists[TILING], *vector = &r->lists[VECTOR_DIM];
    parts p = {.count = tiles->count == 0 ? 0 : tiles->lengths[0]};
    step_list registers = {.steps = tiling->registers, .max = GROUT_TILING_REGISTER_BITS_MAX};
    if (p.count < 1 || p.count > 2) {
        return grout_list__fail(&r->text, "the first tile has one or two dimensions");
    }
    tiling->rows = tiling->cols = 1;
    for (uint32_t k = 0; k < p.count; k++) {
        const int32_t size = tiles->numbers[0][k];
        const bool is_row = k + 1 < p.count;
        p.list[k] = (part){.is_row = is_row, .bits = count_bits(size)};
        if (p.list[k].bits == UINT32_MAX) {
            return grout_list__fail(&r->text, "tile 0: %d is not a power of two", size);
        }
        *(is_row ? &tiling->rows : &tiling->cols) = (uint16_t)size;
    }
    for (uint32_t row = 1; r->text.ok && row < tiles->count; row++) {
        (void)add_tile(r, &p, row);
    }
    if (!r->text.ok || !take_parts(r, &p, WARP_DIMS, tiling->lanes + LANE_BITS, WARP_BITS) ||
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
    const grout_list *l = &r->lists[which];
    if (l->count > max) {
        return grout_list__fail(&r->text, "%s: more than %u bases", names[which], max);
    }
    for (uint32_t k = 0; k < l->count; k++) {
        const uint32_t length = l->lengths[k];
        const int32_t row = length == 2 ? l->numbers[k][0] : 0;
        const int32_t col = length == 0 ? 0 : l->numbers[k][length - 1];
        const bool is_one = (row == 0) != (col == 0) && count_bits(row + col) != UINT32_MAX;
        if (length < 1 || length > 2 || (!is_one && (row != 0 || col != 0 || which == REG_BASES))) {
            return grout_list__fail(
                &r->text, "%s: base %u is not a power of two in one of one or two dimensions",
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
            return grout_list__fail(&r->text, "two bases are alike");
        }
        rows |= step->row;
        cols |= step->col;
    }
    if (((rows + 1) & rows) != 0 || ((cols + 1) & cols) != 0) {
        return grout_list__fail(&r->text,
                                "the bases leave gaps: those of a dimension are 1, 2, 4 and so on");
    }
    tiling->rows = (uint16_t)(rows + 1);
    tiling->cols = (uint16_t)(cols + 1);
    return true;
}

static bool read_linear(reader *r, grout_register_tiling *tiling) {
    const grout_list *shape = &r->lists[SHAPE];
    if (r->lists[LANE_BASES].count != LANE_BITS || r->lists[WARP_BASES].count != WARP_BITS) {
        return grout_list__fail(&r->text, "a warp has %d lane_bases, a thread %d warp_bases",
                                LANE_BITS, WARP_BITS);
    }
    if (r->lists[BLOCK_BASES].count > 0) {
        return grout_list__fail(&r->text,
                                "block_bases: a value is of one thread, and never of several CTAs");
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
           grout_list__fail(&r->text, "the bases span %u x %u, which does not divide the shape",
                            tiling->rows, tiling->cols);
}

bool grout_register_tiling_read(const char *text, grout_register_tiling *tiling_out,
                                grout_tiling_problem *problem_out) {
    reader r = {.text = {.at = text,
                         .rows = ROWS_MAX,
                         .columns = COLUMNS_MAX,
                         .number = SIDE_MAX,
                         .takes_negative = true,
                         .takes_copies = true,
                         .problem = problem_out->text,
                         .problem_size = sizeof problem_out->text,
                         .ok = true}};
    memset(tiling_out, 0, sizeof *tiling_out);
    do {
        (void)read_key(&r);
        (void)grout_list__accept(&r.text, "");
    } while (r.text.ok && *r.text.at != '\0');
    if (!r.text.ok) {
        return false;
    }
    bool is_tiled = false, is_linear = false;
    for (uint32_t k = 0; k < KEY_COUNT; k++) {
        is_tiled |= k < REG_BASES && r.lists[k].is_there;
        is_linear |= k >= REG_BASES && r.lists[k].is_there;
    }
    if (is_tiled && is_linear) {
        return grout_list__fail(&r.text, "it is spelt by tiles and by bases: either is enough");
    }
    return is_tiled ? read_tiles(&r, tiling_out) : read_linear(&r, tiling_out);
}
