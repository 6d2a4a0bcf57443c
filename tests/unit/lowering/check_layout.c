/* check_layout.c - offsets, runs and pieces against a naive model, over random layouts and boxes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lowering/layout.h"
#include "tests/tests.h"

#include <string.h>

#define BYTES_MAX (1 << 15)
#define ITEMS_MAX BYTES_MAX

/* ck_assert tells its parent process of every call: too slow for every byte. */
#define CHECK(condition) check(condition, #condition)

static void check(bool condition, const char *text) {
    if (!condition) {
        ck_abort_msg("%s", text);
    }
}

/* A small generator of our own: the same cases on every machine. */
static uint32_t pick(uint64_t *state, uint32_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static grout_layout_spec make_random_spec(uint64_t *state) {
    grout_layout_spec spec = {.rank = (uint8_t)(1 + pick(state, 4))};
    spec.element_bytes = (uint8_t)(1u << pick(state, 4));
    spec.has_transpose = pick(state, 3) == 0;
    spec.tile_rank = (uint8_t)pick(state, spec.rank + 1u);
    uint32_t widths[] = {0, 32, 64, 128};
    spec.swizzle = widths[pick(state, 4)];
    for (uint32_t k = 0; k < spec.rank; k++) {
        spec.permutation[k] = (uint8_t)k;
    }
    for (uint32_t k = spec.rank; spec.has_transpose && k > 1; k--) {
        uint32_t other = pick(state, k);
        uint8_t kept = spec.permutation[k - 1];
        spec.permutation[k - 1] = spec.permutation[other];
        spec.permutation[other] = kept;
    }
    for (uint32_t stored = 0; stored < spec.rank; stored++) {
        uint32_t dim = spec.has_transpose ? spec.permutation[stored] : stored;
        uint32_t first = spec.rank - spec.tile_rank;
        int64_t tile = stored < first ? 1 : 1 + pick(state, 4);
        if (spec.swizzle != 0 && stored + 1u == spec.rank) {
            tile = spec.swizzle / spec.element_bytes;
            spec.dims[dim] = stored < first ? tile : tile * (1 + pick(state, 2));
        } else {
            spec.dims[dim] = tile * (1 + pick(state, 4));
        }
        if (stored >= first) {
            spec.tile[stored - first] = tile;
        }
    }
    return spec;
}

/* The offset by the words of the documentation, not by digits. */
static int64_t model_offset(const grout_layout_spec *spec, const int64_t *index) {
    int64_t offset = 0;
    uint32_t first = (uint32_t)spec->rank - spec->tile_rank;
    for (uint32_t stored = 0; stored < spec->rank; stored++) {
        uint32_t dim = spec->has_transpose ? spec->permutation[stored] : stored;
        int64_t tile = stored < first ? 1 : spec->tile[stored - first];
        offset = offset * (spec->dims[dim] / tile) + index[dim] / tile;
    }
    for (uint32_t stored = first; stored < spec->rank; stored++) {
        uint32_t dim = spec->has_transpose ? spec->permutation[stored] : stored;
        int64_t tile = spec->tile[stored - first];
        offset = offset * tile + index[dim] % tile;
    }
    offset *= spec->element_bytes;
    if (spec->swizzle != 0) {
        offset ^= ((offset >> 7) & (int64_t)(spec->swizzle / 16 - 1)) << 4;
    }
    return offset;
}

/* The next index of the box in the logical order; false after the last. */
static bool step_index(const grout_layout_spec *spec, const int64_t *start, const int64_t *extent,
                       const uint8_t *order, int64_t *index) {
    for (uint32_t k = spec->rank; k-- > 0;) {
        uint32_t dim = order[k];
        if (++index[dim] < start[dim] + extent[dim]) {
            return true;
        }
        index[dim] = start[dim];
    }
    return false;
}

typedef struct random_case {
    grout_layout_spec spec;
    grout_layout layout;
    int64_t start[GROUT_RANK_MAX], extent[GROUT_RANK_MAX];
    uint8_t order[GROUT_RANK_MAX];
} random_case;

/* Every fourth box is the whole object, every fourth whole tiles. */
static random_case make_case(uint64_t *state) {
    random_case c;
    memset(&c, 0, sizeof c);
    do {
        c.spec = make_random_spec(state);
        c.layout = grout_layout__make(&c.spec);
    } while (c.layout.bytes > BYTES_MAX);
    uint32_t kind = pick(state, 4);
    for (uint32_t dim = 0; dim < c.spec.rank; dim++) {
        uint32_t size = (uint32_t)c.spec.dims[dim];
        c.start[dim] = kind == 0 ? 0 : pick(state, size);
        c.extent[dim] = kind == 0 ? size : 1 + pick(state, size - (uint32_t)c.start[dim]);
        c.order[dim] = (uint8_t)dim;
    }
    for (uint32_t k = c.spec.rank; k > 1; k--) {
        uint32_t other = pick(state, k);
        uint8_t kept = c.order[k - 1];
        c.order[k - 1] = c.order[other];
        c.order[other] = kept;
    }
    return c;
}

static void check_offsets(const random_case *c) {
    static uint8_t seen[BYTES_MAX];
    int64_t index[GROUT_RANK_MAX] = {0}, zero[GROUT_RANK_MAX] = {0};
    uint8_t order[GROUT_RANK_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
    memset(seen, 0, sizeof seen);
    bool is_row_major = true;
    int64_t next = 0;
    do {
        int64_t offset = grout_layout_get_offset(&c->layout, index);
        CHECK(offset == model_offset(&c->spec, index));
        CHECK(offset >= 0);
        CHECK(offset + c->spec.element_bytes <= c->layout.bytes);
        CHECK(seen[offset] == 0);
        seen[offset] = 1;
        is_row_major = is_row_major && offset == next;
        next += c->spec.element_bytes;
    } while (step_index(&c->spec, zero, c->spec.dims, order, index));
    if (grout_layout_is_plain(&c->layout)) {
        CHECK(is_row_major);
    } else if (c->spec.swizzle == 0) {
        CHECK(!is_row_major);
    }
}

/* From the case's start to the end of each dimension, and a dimension of one element too. */
static void check_offsets_along(const random_case *c) {
    static int64_t offsets[BYTES_MAX];
    for (uint32_t dim = 0; dim < c->spec.rank; dim++) {
        int64_t index[GROUT_RANK_MAX];
        memcpy(index, c->start, sizeof index);
        const uint32_t count = (uint32_t)(c->spec.dims[dim] - c->start[dim]);
        grout_layout_get_offsets(&c->layout, c->start, dim, offsets, count);
        for (uint32_t i = 0; i < count; i++, index[dim]++) {
            CHECK(offsets[i] == grout_layout_get_offset(&c->layout, index));
        }
    }
}

static void check_runs(const random_case *c) {
    static uint8_t wanted[BYTES_MAX], got[BYTES_MAX];
    static grout_run runs[ITEMS_MAX];
    int64_t index[GROUT_RANK_MAX];
    memset(wanted, 0, sizeof wanted);
    memset(got, 0, sizeof got);
    memcpy(index, c->start, sizeof index);
    do {
        memset(wanted + model_offset(&c->spec, index), 1, c->spec.element_bytes);
    } while (step_index(&c->spec, c->start, c->extent, c->order, index));
    int64_t count = grout_layout_get_runs(&c->layout, c->start, c->extent, runs, ITEMS_MAX);
    CHECK(count <= ITEMS_MAX);
    CHECK(count == grout_layout_get_runs(&c->layout, c->start, c->extent, NULL, 0));
    int64_t end = -1;
    for (int64_t i = 0; i < count; i++) {
        CHECK(runs[i].count > 0 && runs[i].length > 0);
        CHECK(runs[i].count > 1 || runs[i].stride == 0);
        for (int64_t piece = 0; piece < runs[i].count; piece++) {
            int64_t base = runs[i].base + piece * runs[i].stride;
            CHECK(base > end); /* ascending, and adjacent ones merged */
            end = base + runs[i].length;
            memset(got + base, 1, (size_t)runs[i].length);
        }
    }
    CHECK(memcmp(wanted, got, sizeof got) == 0);
}

static void check_pieces(const random_case *c) {
    static grout_piece pieces[ITEMS_MAX];
    int64_t index[GROUT_RANK_MAX];
    memcpy(index, c->start, sizeof index);
    int64_t count =
        grout_layout_get_pieces(&c->layout, c->start, c->extent, c->order, pieces, ITEMS_MAX);
    CHECK(count <= ITEMS_MAX);
    int64_t element = 0, end = -1;
    bool more = true;
    for (int64_t i = 0; i < count; i++) {
        CHECK(pieces[i].element == element);
        CHECK(pieces[i].offset != end); /* as long as it can be */
        for (int64_t at = 0; at < pieces[i].length; at += c->spec.element_bytes) {
            CHECK(more);
            CHECK(pieces[i].offset + at == model_offset(&c->spec, index));
            more = step_index(&c->spec, c->start, c->extent, c->order, index);
            element++;
        }
        end = pieces[i].offset + pieces[i].length;
    }
    CHECK(!more);
}

TEST_EACH(random_layouts, 20) {
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < 100; round++) {
        random_case c = make_case(&state);
        check_offsets(&c);
        check_offsets_along(&c);
        check_runs(&c);
        check_pieces(&c);
    }
}

/* Boxes that the race checker meets all the time: each has to be one run. */
typedef struct run_case {
    const char *name;
    grout_layout_spec spec;
    int64_t start[3], extent[3];
    grout_run run;
} run_case;

static const run_case one_run_cases[] = {
    {"slot of a plain object",
     {.rank = 3, .element_bytes = 4, .dims = {2, 32, 64}},
     {1, 0, 0},
     {1, 32, 64},
     {8192, 0, 1, 8192}},
    {"box of a matrix",
     {.rank = 2, .element_bytes = 4, .dims = {64, 64}},
     {8, 16, 0},
     {4, 8, 0},
     {2112, 256, 4, 32}},
    {"slot of a tiled and swizzled object",
     {.rank = 3,
      .element_bytes = 2,
      .tile_rank = 2,
      .swizzle = 128,
      .dims = {4, 128, 128},
      .tile = {8, 64}},
     {3, 0, 0},
     {1, 128, 128},
     {98304, 0, 1, 32768}},
    {"rows of whole tiles",
     {.rank = 2,
      .element_bytes = 2,
      .tile_rank = 2,
      .swizzle = 128,
      .dims = {128, 128},
      .tile = {8, 64}},
     {64, 0, 0},
     {8, 128, 0},
     {16384, 0, 1, 2048}},
    {"a column of atoms",
     {.rank = 2,
      .element_bytes = 2,
      .tile_rank = 2,
      .swizzle = 128,
      .dims = {128, 128},
      .tile = {8, 64}},
     {0, 64, 0},
     {128, 64, 0},
     {1024, 2048, 16, 1024}},
    {"one swizzled row",
     {.rank = 2,
      .element_bytes = 2,
      .tile_rank = 2,
      .swizzle = 128,
      .dims = {128, 64},
      .tile = {8, 64}},
     {5, 0, 0},
     {1, 64, 0},
     {640, 0, 1, 128}},
    {"a transposed slot",
     {.rank = 3,
      .element_bytes = 4,
      .has_transpose = true,
      .dims = {4, 16, 8},
      .permutation = {0, 2, 1}},
     {2, 0, 0},
     {1, 16, 8},
     {1024, 0, 1, 512}},
};

TEST_EACH(one_run, COUNT_OF(one_run_cases)) {
    const run_case *c = &one_run_cases[_i];
    grout_layout layout = grout_layout__make(&c->spec);
    grout_run run = {0};
    ck_assert_msg(grout_layout_get_runs(&layout, c->start, c->extent, &run, 1) == 1, "%s", c->name);
    ck_assert_msg(memcmp(&run, &c->run, sizeof run) == 0,
                  "%s: base %lld, stride %lld, count %lld, length %lld", c->name,
                  (long long)run.base, (long long)run.stride, (long long)run.count,
                  (long long)run.length);
}

/* docs/hardware.md 1.1, row view: with rows of W bytes, chunk c of row r goes to c ^ f(r). */
TEST_EACH(swizzle_rows, 3) {
    static const int64_t widths[] = {32, 64, 128};
    int64_t width = widths[_i];
    grout_layout_spec spec = {.rank = 2, .element_bytes = 16, .swizzle = (uint32_t)width};
    spec.dims[0] = 64;
    spec.dims[1] = width / 16;
    grout_layout layout = grout_layout__make(&spec);
    for (int64_t row = 0; row < 64; row++) {
        for (int64_t chunk = 0; chunk < width / 16; chunk++) {
            int64_t index[] = {row, chunk};
            int64_t turn = width == 128 ? row % 8 : width == 64 ? row / 2 % 4 : row / 4 % 2;
            ck_assert_int_eq(grout_layout_get_offset(&layout, index),
                             row * width + (chunk ^ turn) * 16);
        }
    }
}

/* The list is cut at max, and the number of all is returned. */
TEST(list_is_cut) {
    grout_layout_spec spec = {.rank = 3, .element_bytes = 1};
    spec.dims[0] = 4;
    spec.dims[1] = 8;
    spec.dims[2] = 16;
    grout_layout layout = grout_layout__make(&spec);
    int64_t start[] = {0, 1, 2}, extent[] = {4, 2, 3};
    grout_run runs[3] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {77, 0, 0, 0}};
    ck_assert_int_eq(grout_layout_get_runs(&layout, start, extent, runs, 2), 4);
    ck_assert_int_eq(runs[1].base, 128 + 16 + 2);
    ck_assert_int_eq(runs[2].base, 77);
    grout_piece pieces[3] = {{0, 0, 0}, {0, 0, 0}, {77, 0, 0}};
    ck_assert_int_eq(grout_layout_get_pieces(&layout, start, extent, NULL, pieces, 2), 8);
    ck_assert_int_eq(pieces[1].element, 3);
    ck_assert_int_eq(pieces[2].element, 77);
}
