/* check_layout_words.c - layouts of the user's own against the sums by which Triton defines them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lowering/layout.h"
#include "tests/tests.h"

#include <string.h>

enum { ROWS = 16, COLS = 32, BYTES_MAX = 1 << 13 };

typedef int64_t model(int64_t row, int64_t col);

static grout_layout_spec make_spec(uint8_t element_bytes) {
    return (grout_layout_spec){.rank = 2, .element_bytes = element_bytes, .dims = {ROWS, COLS}};
}

static grout_layout read_layout(const char *text, grout_layout_spec spec) {
    grout_layout_problem problem = {""};
    if (!grout_layout__read(text, &spec, &problem)) {
        ck_abort_msg("%s: %s", text, problem.text);
    }
    return grout_layout__make(&spec);
}

/* offset + (offset / interval) * padding: PaddedSharedLayout. */
static int64_t padded(int64_t row, int64_t col) {
    const int64_t at = row * COLS + col;
    return at + at / 32 * 4;
}

static int64_t padded_twice(int64_t row, int64_t col) {
    const int64_t at = row * COLS + col;
    return at + at / 16 * 1 + at / 128 * 8;
}

static int64_t padded_columns(int64_t row, int64_t col) {
    const int64_t at = col * ROWS + row;
    return at + at / 16 * 2;
}

/* The run of vec elements that a column lies in changes by the phase: SwizzledSharedLayout. */
static int64_t swizzled(int64_t row, int64_t col) {
    const int64_t phase = row / 2 % 4;
    return row * COLS + ((col / 4 ^ phase) * 4 + col % 4);
}

static int64_t swizzled_columns(int64_t row, int64_t col) {
    const int64_t phase = col % 8;
    return col * ROWS + ((row / 2 ^ phase) * 2 + row % 2);
}

/* As many phases as there are runs: the others repeat. */
static int64_t swizzled_over(int64_t row, int64_t col) {
    return row * COLS + ((col / 16 ^ row % 16 % 2) * 16 + col % 16);
}

/* The bases of SharedLinearLayout: the element at an address is the sum of those of its bits. */
static int64_t linear(int64_t row, int64_t col) {
    static const int bases[][2] = {{0, 2}, {1, 0}, {0, 1},  {3, 4}, {4, 0},
                                   {0, 8}, {8, 9}, {0, 20}, {0, 4}};
    for (int64_t at = 0; at < (int64_t)ROWS * COLS; at++) {
        int to[2] = {0, 0};
        for (int k = 0; k < 9; k++) {
            to[0] ^= (at >> k & 1) != 0 ? bases[k][0] : 0;
            to[1] ^= (at >> k & 1) != 0 ? bases[k][1] : 0;
        }
        if (to[0] == row && to[1] == col) {
            return at;
        }
    }
    ck_abort_msg("no address leads to an element");
    return 0;
}

static const struct {
    const char *text;
    model *place;
    uint8_t bytes;
    uint32_t chunk; /* 0: all stays together */
} cases[] = {
    {"PaddedSharedLayout(interval_padding_pairs=[[32, 4]], order=[1, 0])", padded, 2, 0},
    {"interval_padding_pairs=((128, 8), (16, 1))", padded_twice, 4, 0},
    {"interval_padding_pairs=[[16, 2]], order=[0, 1]", padded_columns, 8, 0},
    {"SwizzledSharedLayout(vec=4, per_phase=2, max_phase=4, order=[1, 0], cga_layout=[])", swizzled,
     2, 8},
    {"vec=2, per_phase=1, max_phase=8, order=[0, 1]", swizzled_columns, 4, 8},
    {"vec=16, per_phase=1, max_phase=16", swizzled_over, 1, 16},
    {"SharedLinearLayout(offset_bases=[[0, 2], [1, 0], [0, 1], [3, 4], [4, 0], [0, 8], [8, 9], [0, "
     "20], [0, 4]], block_bases=[], alignment=16, shape=[16, 32])",
     linear, 2, 2}};

TEST_EACH(places_elements_as_triton_does, COUNT_OF(cases)) {
    const grout_layout layout = read_layout(cases[_i].text, make_spec(cases[_i].bytes));
    int64_t largest = 0;
    ck_assert(layout.is_custom);
    ck_assert_uint_eq(layout.chunk, cases[_i].chunk == 0 ? UINT32_MAX : cases[_i].chunk);
    for (int64_t row = 0; row < ROWS; row++) {
        for (int64_t col = 0; col < COLS; col++) {
            const int64_t index[] = {row, col}, offset = grout_layout_get_offset(&layout, index);
            int64_t back[GROUT_RANK_MAX];
            ck_assert_int_eq(offset, cases[_i].place(row, col) * cases[_i].bytes);
            grout_layout_get_index(&layout, offset + cases[_i].bytes - 1, back);
            ck_assert_int_eq(back[0], row);
            ck_assert_int_eq(back[1], col);
            largest = offset > largest ? offset : largest;
        }
    }
    ck_assert_int_eq(layout.bytes, largest + cases[_i].bytes);
}

static void mark_runs(const grout_run *runs, int64_t count, uint8_t *bytes) {
    int64_t last = -1;
    for (int64_t k = 0; k < count; k++) {
        for (int64_t i = 0; i < runs[k].count; i++) {
            const int64_t first = runs[k].base + i * runs[k].stride;
            ck_assert_int_gt(first, last); /* ascending, apart */
            memset(bytes + first, 1, (size_t)runs[k].length);
            last = first + runs[k].length;
        }
    }
}

/* The pieces of a box follow its elements, and its runs are their bytes. */
static void check_box(const grout_layout *layout, const int64_t *start, const int64_t *extent) {
    static grout_run runs[BYTES_MAX];
    static grout_piece pieces[BYTES_MAX];
    static uint8_t marked[BYTES_MAX], wanted[BYTES_MAX];
    memset(marked, 0, sizeof marked);
    memset(wanted, 0, sizeof wanted);
    const int64_t run_count = grout_layout_get_runs(layout, start, extent, runs, BYTES_MAX);
    const int64_t piece_count =
        grout_layout_get_pieces(layout, start, extent, NULL, pieces, BYTES_MAX);
    mark_runs(runs, run_count, marked);
    int64_t element = 0;
    for (int64_t k = 0; k < piece_count; k++) {
        ck_assert_int_eq(pieces[k].element, element);
        for (int64_t at = 0; at < pieces[k].length; at += layout->element_bytes, element++) {
            const int64_t index[] = {start[0] + element / extent[1],
                                     start[1] + element % extent[1]};
            ck_assert_int_eq(grout_layout_get_offset(layout, index), pieces[k].offset + at);
            memset(wanted + pieces[k].offset + at, 1, layout->element_bytes);
        }
    }
    ck_assert_int_eq(element, extent[0] * extent[1]);
    ck_assert_mem_eq(marked, wanted, sizeof marked);
}

TEST_EACH(cuts_boxes_into_their_bytes, COUNT_OF(cases)) {
    static const int64_t boxes[][4] = {{0, 0, ROWS, COLS}, {3, 0, 2, COLS}, {5, 7, 1, 9},
                                       {0, 8, ROWS, 8},    {2, 3, 11, 1},   {15, 31, 1, 1}};
    const grout_layout layout = read_layout(cases[_i].text, make_spec(cases[_i].bytes));
    for (size_t k = 0; k < sizeof boxes / sizeof boxes[0]; k++) {
        check_box(&layout, boxes[k], boxes[k] + 2);
    }
}

TEST(repeats_a_layout_for_slots) {
    grout_layout_spec spec = {.rank = 3, .element_bytes = 2, .dims = {3, ROWS, COLS}};
    const grout_layout swizzle = read_layout("vec=4, per_phase=2, max_phase=4, order=[1, 0]", spec);
    const grout_layout pad = read_layout("interval_padding_pairs=[[32, 4]], order=[1, 0]", spec);
    for (int64_t slot = 0; slot < 3; slot++) {
        const int64_t index[] = {slot, 5, 13};
        ck_assert_int_eq(grout_layout_get_offset(&swizzle, index),
                         2 * (slot * ROWS * COLS + swizzled(5, 13)));
        ck_assert_int_eq(grout_layout_get_offset(&pad, index),
                         2 * (slot * (ROWS * COLS + ROWS * 4) + padded(5, 13)));
    }
}

static const struct {
    const char *text, *part; /* of what is said of it */
} faults[] = {
    {"vec=3, per_phase=1, max_phase=4", "vec is 3, and not a power of two"},
    {"vec=4, per_phase=1", "max_phase is missing"},
    {"vec=4, vec=4", "vec stands twice"},
    {"vec=4, per_phase=1, max_phase=4, order=[1, 1]", "order takes each"},
    {"vec=4, per_phase=1, max_phase=4, order=[2, 1, 0]", "3 dimensions, and the array 2"},
    {"vec=4, per_phase=1, max_phase=4, order=[0]", "it has one dimension"},
    {"vec=4, per_phase=1, max_phase=4, cga_layout=[[1, 0]]", "leave it empty"},
    {"vec=4, interval_padding_pairs=[[32, 4]]", "it is one of"},
    {"", "it is one of"},
    {"interval_padding_pairs=[[48, 4]]", "powers of two"},
    {"interval_padding_pairs=[[32, 0]]", "powers of two"},
    {"interval_padding_pairs=[]", "1 to 4 pairs"},
    {"interval_padding_pairs=[[1, 1], [2, 1], [4, 1], [8, 1], [16, 1]]", "1 to 4 pairs"},
    {"interval_padding_pairs=[[1024, 4]]", "an interval of 1024 elements, and it has 512"},
    {"interval_padding_pairs=[[32, 4], [32, 8]]", "stands twice"},
    {"interval_padding_pairs=[[32, 4]], alignment=2048", "an alignment of 2048"},
    {"interval_padding_pairs=[[32, 4]], shape=[32, 16]", "shape is not that"},
    {"interval_padding_pairs=[[32, 4]] swizzled", "'swizzled' is none of"},
    {"PaddedSharedLayout(interval_padding_pairs=[[32, 4]]", "lacks its closing bracket"},
    {"offset_bases=[[0, 1], [0, 2]]", "2 bases, and an array of 512 elements has 9"},
    {"offset_bases=[[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[16,0]]", "leads to 16"},
    {"offset_bases=[[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[0,0]]",
     "base 8 leads nowhere"},
    {"offset_bases=[[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[1,2]]",
     "bases 1, 5, 8 cancel"},
    {"offset_bases=[[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8]]", "has not 2 numbers"},
    {"offset_bases=[[0, 1]], order=[1, 0]", "give the order"}};

TEST_EACH(says_what_is_wrong, COUNT_OF(faults)) {
    grout_layout_spec spec = make_spec(2);
    grout_layout_problem problem = {""};
    ck_assert(!grout_layout__read(faults[_i].text, &spec, &problem));
    if (strstr(problem.text, faults[_i].part) == NULL) {
        ck_abort_msg("%s: %s", faults[_i].text, problem.text);
    }
}

TEST(reads_dimensions_of_powers_of_two) {
    grout_layout_spec spec = {.rank = 2, .element_bytes = 2, .dims = {ROWS, 24}};
    grout_layout_problem problem = {""};
    ck_assert(!grout_layout__read("interval_padding_pairs=[[8, 4]]", &spec, &problem));
    ck_assert_ptr_nonnull(strstr(problem.text, "dimension 1 has 24 elements"));
}
