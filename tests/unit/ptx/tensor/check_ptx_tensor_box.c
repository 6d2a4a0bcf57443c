/* check_ptx_tensor_box.c - tensor maps and the walk over a box of a tensor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx/tensor/reduce.h"
#include "ptx/tensor/tensor_box.h"
#include "tests/tests.h"

#include <string.h>

static grout_ptx_fault fault;

/* 100 columns by 50 rows of bf16, rows 256 bytes apart; a box of 64 by 8. */
static grout_ptx_tensor_map make_map(void) {
    return (grout_ptx_tensor_map){.elem = GROUT_PTX_ELEM_BF16,
                                  .rank = 2,
                                  .swizzle = GROUT_PTX_SWIZZLE_128B,
                                  .address = 0x10000,
                                  .dims = {100, 50},
                                  .strides = {256},
                                  .box = {64, 8},
                                  .element_strides = {1, 1},
                                  .fill = 1};
}

/* ---- swizzle: by the table of the ISA ---- */

TEST(swizzles) {
    /* Row r of 128 bytes: chunk c of 16 bytes lies at chunk c ^ r. */
    for (uint32_t row = 0; row < 8; row++) {
        for (uint32_t chunk = 0; chunk < 8; chunk++) {
            const uint32_t plain = 1024 + row * 128 + chunk * 16 + 5;
            ck_assert_uint_eq(grout_ptx__swizzle(GROUT_PTX_SWIZZLE_128B, plain),
                              1024 + row * 128 + (chunk ^ row) * 16 + 5);
        }
    }
    ck_assert_uint_eq(grout_ptx__swizzle(GROUT_PTX_SWIZZLE_64B, 128), 128 + 16);
    ck_assert_uint_eq(grout_ptx__swizzle(GROUT_PTX_SWIZZLE_64B, 512), 512);
    ck_assert_uint_eq(grout_ptx__swizzle(GROUT_PTX_SWIZZLE_32B, 128 + 16), 128);
    ck_assert_uint_eq(grout_ptx__swizzle(GROUT_PTX_SWIZZLE_32B, 256), 256);
    ck_assert_uint_eq(grout_ptx__swizzle(GROUT_PTX_SWIZZLE_128B_ATOM_32B, 128), 128 + 32);
    ck_assert_uint_eq(grout_ptx__swizzle(GROUT_PTX_SWIZZLE_128B_ATOM_32B_FLIP_8B, 128), 128 + 40);
    ck_assert_uint_eq(grout_ptx__swizzle(GROUT_PTX_SWIZZLE_128B_ATOM_32B_FLIP_8B, 256), 256 + 64);
    ck_assert_uint_eq(grout_ptx__swizzle(GROUT_PTX_SWIZZLE_128B_ATOM_64B, 128), 128 + 64);
    for (int mode = 0; mode < GROUT_PTX_SWIZZLE_COUNT; mode++) {
        const grout_ptx_swizzle it = (grout_ptx_swizzle)mode;
        for (uint32_t at = 0; at < 2048; at++) {
            ck_assert_uint_eq(grout_ptx__swizzle(it, grout_ptx__swizzle(it, at)), at);
        }
    }
}

/* ---- maps: each parameter at its edge and one past it ---- */

typedef struct edge {
    const char *name;
    size_t at, size; /* of the field */
    uint64_t good, bad;
} edge;

#define FIELD(name) offsetof(grout_ptx_tensor_map, name), sizeof make_map().name
static const edge EDGES[] = {
    {"address", FIELD(address), 0x10010, 0x10008},
    {"dims", FIELD(dims[0]), 1, 0},
    {"dims", FIELD(dims[1]), (uint64_t)1 << 32, ((uint64_t)1 << 32) + 1},
    {"stride", FIELD(strides[0]), 0, 8},
    {"stride", FIELD(strides[0]), ((uint64_t)1 << 40) - 16, (uint64_t)1 << 40},
    {"box", FIELD(box[1]), 256, 257},
    {"box", FIELD(box[1]), 1, 0},
    {"inner", FIELD(box[0]), 8, 4},
    {"inner", FIELD(box[0]), 64, 72},
    {"element stride", FIELD(element_strides[1]), 8, 9},
    {"element stride", FIELD(element_strides[0]), 1, 0},
    {"interleave", FIELD(interleave), 0, 3},
    {"rank of interleave", FIELD(interleave), 0, 1},
    {"promotion", FIELD(promotion), 3, 4},
    {"fill", FIELD(fill), 0, 2},
    {"fill", FIELD(elem), GROUT_PTX_ELEM_F16, GROUT_PTX_ELEM_U16},
    {"swizzle", FIELD(swizzle), GROUT_PTX_SWIZZLE_128B, GROUT_PTX_SWIZZLE_128B_ATOM_32B},
    {"type", FIELD(elem), GROUT_PTX_ELEM_F16, GROUT_PTX_ELEM_B4X16},
    {"mode", FIELD(mode), GROUT_PTX_MAP_TILED, GROUT_PTX_MAP_IM2COL_W},
    {"rank", FIELD(rank), 2, 6},
    {"rank", FIELD(rank), 1, 0},
};

TEST_EACH(map_edges, COUNT_OF(EDGES)) {
    const edge *it = &EDGES[_i];
    grout_ptx_tensor_map map = make_map(), again;
    uint8_t bytes[GROUT_PTX_MAP_SIZE];
    memcpy((char *)&map + it->at, &it->good, it->size);
    ck_assert_msg(grout_ptx__map_encode(&map, 90, bytes, &fault), "%s: %s", it->name, fault.text);
    memset(&again, 0, sizeof again);
    ck_assert(grout_ptx__map_decode(bytes, 90, &again, &fault));
    ck_assert_mem_eq((char *)&again + it->at, &it->good, it->size);
    memcpy((char *)&map + it->at, &it->bad, it->size);
    ck_assert_msg(!grout_ptx__map_encode(&map, 90, bytes, &fault), "%s", it->name);
}

/* Any byte that changes makes it no map. */
TEST(map_overwritten) {
    grout_ptx_tensor_map map = make_map();
    uint8_t bytes[GROUT_PTX_MAP_SIZE];
    ck_assert(grout_ptx__map_encode(&map, 90, bytes, &fault));
    for (int i = 0; i < GROUT_PTX_MAP_SIZE; i++) {
        bytes[i] ^= 1;
        ck_assert(!grout_ptx__map_decode(bytes, 90, &map, &fault));
        bytes[i] ^= 1;
    }
    ck_assert(grout_ptx__map_decode(bytes, 90, &map, &fault));
}

TEST(map_numbers) {
    grout_ptx_elem elem;
    grout_ptx_swizzle swizzle;
    ck_assert(grout_ptx__elem_of_driver(8, &elem) && elem == GROUT_PTX_ELEM_F64);
    ck_assert(grout_ptx__elem_of_driver(9, &elem) && elem == GROUT_PTX_ELEM_BF16);
    ck_assert(grout_ptx__elem_of_driver(10, &elem) && elem == GROUT_PTX_ELEM_F32_FTZ);
    ck_assert(grout_ptx__elem_of_driver(15, &elem) && elem == GROUT_PTX_ELEM_B6X16_P32);
    ck_assert(!grout_ptx__elem_of_driver(16, &elem));
    ck_assert(grout_ptx__swizzle_of_driver(4, &swizzle) &&
              swizzle == GROUT_PTX_SWIZZLE_128B_ATOM_32B);
    ck_assert(!grout_ptx__swizzle_of_driver(7, &swizzle));
}

static grout_ptx_map_change change(grout_ptx_map_field field, uint32_t ordinal, uint64_t value) {
    return (grout_ptx_map_change){field, ordinal, value};
}

TEST(map_replaced) {
    grout_ptx_tensor_map map = make_map();
    uint8_t bytes[GROUT_PTX_MAP_SIZE];
    ck_assert(grout_ptx__map_encode(&map, 100, bytes, &fault));
    const grout_ptx_map_change changes[] = {
        change(GROUT_PTX_FIELD_GLOBAL_ADDRESS, 0, 0x20000),
        change(GROUT_PTX_FIELD_RANK, 0, 2),
        change(GROUT_PTX_FIELD_GLOBAL_DIM, 2, 7),
        change(GROUT_PTX_FIELD_GLOBAL_STRIDE, 1, 4096),
        change(GROUT_PTX_FIELD_BOX_DIM, 2, 3),
        change(GROUT_PTX_FIELD_ELEMENT_STRIDE, 2, 2),
        change(GROUT_PTX_FIELD_ELEMTYPE, 0, GROUT_PTX_ELEM_F16),
        change(GROUT_PTX_FIELD_SWIZZLE_ATOMICITY, 0, 1),
        change(GROUT_PTX_FIELD_FILL_MODE, 0, 0),
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        ck_assert_msg(grout_ptx__map_replace(bytes, &changes[i], 100, &fault), "%s", fault.text);
    }
    ck_assert(grout_ptx__map_decode(bytes, 100, &map, &fault));
    ck_assert_uint_eq(map.address, 0x20000);
    ck_assert_uint_eq(map.rank, 3);
    ck_assert_uint_eq(map.dims[2], 7);
    ck_assert_uint_eq(map.strides[1], 4096);
    ck_assert_uint_eq(map.box[2], 3);
    ck_assert_uint_eq(map.element_strides[2], 2);
    ck_assert_int_eq(map.elem, GROUT_PTX_ELEM_F16);
    ck_assert_int_eq(map.swizzle, GROUT_PTX_SWIZZLE_128B_ATOM_32B);
    ck_assert_uint_eq(map.fill, 0);
    const grout_ptx_map_change illegal[] = {
        change(GROUT_PTX_FIELD_RANK, 0, 5),         change(GROUT_PTX_FIELD_GLOBAL_STRIDE, 4, 16),
        change(GROUT_PTX_FIELD_BOX_DIM, 5, 1),      change(GROUT_PTX_FIELD_BOX_DIM, 0, 257),
        change(GROUT_PTX_FIELD_SWIZZLE_MODE, 0, 4), change(GROUT_PTX_FIELD_FILL_MODE, 0, 2),
    };
    for (size_t i = 0; i < sizeof illegal / sizeof *illegal; i++) {
        ck_assert(!grout_ptx__map_replace(bytes, &illegal[i], 100, &fault));
    }
    const grout_ptx_map_change atoms = change(GROUT_PTX_FIELD_SWIZZLE_ATOMICITY, 0, 1);
    ck_assert(!grout_ptx__map_replace(bytes, &atoms, 90, &fault));
    /* What is illegal only together is found at use. */
    const grout_ptx_map_change zero = change(GROUT_PTX_FIELD_GLOBAL_DIM, 0, 0);
    ck_assert(grout_ptx__map_replace(bytes, &zero, 100, &fault));
    ck_assert(!grout_ptx__map_decode(bytes, 100, &map, &fault));
}

/* ---- boxes ---- */

enum { RUNS_MAX = 4096 };
typedef struct runs {
    uint32_t count;
    uint64_t bytes;
    grout_ptx_run at[RUNS_MAX];
} runs;

static bool take(void *to, const grout_ptx_run *run) {
    runs *list = to;
    ck_assert_uint_lt(list->count, RUNS_MAX);
    list->at[list->count++] = *run;
    list->bytes += run->bytes;
    return true;
}

static runs list;

static void walk(const grout_ptx_tensor_map *map, const grout_ptx_box *box) {
    list = (runs){.count = 0};
    ck_assert_msg(grout_ptx__box_walk(map, box, take, &list, &fault), "%s", fault.text);
}

static void check_run(uint32_t number, grout_ptx_run want) {
    const grout_ptx_run *run = &list.at[number];
    ck_assert_uint_lt(number, list.count);
    ck_assert_msg(run->is_fill == want.is_fill && run->shared == want.shared &&
                      run->bytes == want.bytes && (want.is_fill || run->global == want.global),
                  "run %u: fill %d global 0x%llx shared 0x%x bytes %u", number, run->is_fill,
                  (unsigned long long)run->global, run->shared, run->bytes);
}

/* Row 1 at 128 bytes, its chunks in pairs exchanged. */
TEST(box_inside) {
    const grout_ptx_tensor_map map = make_map();
    const grout_ptx_box box = {.dims = 2, .shared = 1024, .coordinates = {8, 2}};
    uint32_t bytes = 0;
    walk(&map, &box);
    ck_assert(grout_ptx__box_bytes(&map, &box, &bytes, &fault));
    ck_assert_uint_eq(bytes, 1024);
    ck_assert_uint_eq(list.bytes, bytes);
    check_run(0, (grout_ptx_run){false, 0x10000 + 2 * 256 + 16, 1024, 128});
    check_run(1, (grout_ptx_run){false, 0x10000 + 3 * 256 + 16, 1024 + 128 + 16, 16});
    check_run(2, (grout_ptx_run){false, 0x10000 + 3 * 256 + 32, 1024 + 128, 16});
    check_run(3, (grout_ptx_run){false, 0x10000 + 3 * 256 + 48, 1024 + 128 + 48, 16});
}

/* Columns 64..127 of 100, and rows 48..55 of 50: the rest is filled, and the bytes count. */
TEST(box_outside) {
    grout_ptx_tensor_map map = make_map();
    grout_ptx_box box = {.dims = 2, .shared = 1024, .coordinates = {64, 48}};
    uint64_t fill = 0, filled = 0, element = 0;
    map.swizzle = GROUT_PTX_SWIZZLE_NONE;
    walk(&map, &box);
    check_run(0, (grout_ptx_run){false, 0x10000 + 48 * 256 + 128, 1024, 72});
    check_run(1, (grout_ptx_run){true, 0, 1024 + 72, 56});
    check_run(2, (grout_ptx_run){false, 0x10000 + 49 * 256 + 128, 1024 + 128, 72});
    check_run(3, (grout_ptx_run){true, 0, 1024 + 128 + 72, 56 + 6 * 128});
    ck_assert_uint_eq(list.count, 4);
    box.coordinates[0] = -8;
    walk(&map, &box);
    check_run(0, (grout_ptx_run){true, 0, 1024, 16});
    check_run(1, (grout_ptx_run){false, 0x10000 + 48 * 256, 1024 + 16, 112});
    box.coordinates[0] = -64000;
    walk(&map, &box);
    check_run(0, (grout_ptx_run){true, 0, 1024, 1024});
    box.coordinates[0] = 64000;
    walk(&map, &box);
    check_run(0, (grout_ptx_run){true, 0, 1024, 1024});
    ck_assert(grout_ptx__box_fill(&map, &element, &fault) && element == 0x7ff7);
    /* A store leaves them out, but for those up to the next 16 bytes: columns 100 to 103. */
    box = (grout_ptx_box){
        .transfer = GROUT_PTX_STORE, .dims = 2, .shared = 1024, .coordinates = {64, 48}};
    walk(&map, &box);
    for (uint32_t i = 0; i < list.count; i++) {
        filled += list.at[i].is_fill;
    }
    ck_assert_uint_eq(filled, 0);
    check_run(0, (grout_ptx_run){false, 0x10000 + 48 * 256 + 128, 1024, 80});
    check_run(1, (grout_ptx_run){false, 0x10000 + 49 * 256 + 128, 1024 + 128, 80});
    ck_assert_uint_eq(list.bytes, 160);
    map.fill = 0;
    ck_assert(grout_ptx__box_fill(&map, &fill, &fault) && fill == 0);
}

/* A row narrower than the swizzle is as far from the next as it is wide. */
TEST(box_pitch) {
    grout_ptx_tensor_map map = make_map();
    const grout_ptx_box box = {.dims = 2, .shared = 1024};
    uint32_t bytes = 0, extent = 0;
    map.box[0] = 8;
    walk(&map, &box);
    check_run(0, (grout_ptx_run){false, 0x10000, 1024, 16});
    check_run(1, (grout_ptx_run){false, 0x10000 + 256, 1024 + 128 + 16, 16});
    check_run(7, (grout_ptx_run){false, 0x10000 + 7 * 256, 1024 + 7 * 128 + 7 * 16, 16});
    ck_assert(grout_ptx__box_bytes(&map, &box, &bytes, &fault));
    ck_assert(grout_ptx__box_extent(&map, &box, &extent, &fault));
    ck_assert_uint_eq(bytes, 128);
    ck_assert_uint_eq(extent, 7 * 128 + 16);
}

/* Every third row: ceil(8 / 3) of them, one after another. */
TEST(box_element_stride) {
    grout_ptx_tensor_map map = make_map();
    const grout_ptx_box box = {.dims = 2, .coordinates = {0, 1}};
    map.swizzle = GROUT_PTX_SWIZZLE_NONE;
    map.element_strides[1] = 3;
    walk(&map, &box);
    ck_assert_uint_eq(list.count, 3);
    check_run(0, (grout_ptx_run){false, 0x10000 + 256, 0, 128});
    check_run(1, (grout_ptx_run){false, 0x10000 + 4 * 256, 128, 128});
    check_run(2, (grout_ptx_run){false, 0x10000 + 7 * 256, 256, 128});
}

TEST(box_gather) {
    grout_ptx_tensor_map map = make_map();
    grout_ptx_box box = {
        .kind = GROUT_PTX_BOX_ROWS4, .dims = 2, .shared = 1024, .coordinates = {0, 7, 3, 50, -1}};
    uint32_t bytes = 0;
    ck_assert(!grout_ptx__box_walk(&map, &box, take, &list, &fault));
    map.box[1] = 1;
    walk(&map, &box);
    ck_assert(grout_ptx__box_bytes(&map, &box, &bytes, &fault));
    ck_assert_uint_eq(bytes, 512);
    check_run(0, (grout_ptx_run){false, 0x10000 + 7 * 256, 1024, 128});
    check_run(1, (grout_ptx_run){false, 0x10000 + 3 * 256, 1024 + 128 + 16, 16});
    ck_assert(list.at[list.count - 1].is_fill);
    box.transfer = GROUT_PTX_STORE;
    ck_assert(!grout_ptx__box_walk(&map, &box, take, &list, &fault));
    box.coordinates[4] = 0;
    walk(&map, &box);
    ck_assert_uint_eq(list.bytes, 384);
}

/* Sixteen elements of 4 bits in 8 bytes, then 8 bytes that nothing writes. */
TEST(box_gaps) {
    grout_ptx_tensor_map map = make_map();
    const grout_ptx_box box = {.dims = 2, .shared = 1024};
    uint32_t bytes = 0;
    map.elem = GROUT_PTX_ELEM_B4X16_P64;
    map.fill = 0;
    map.dims[0] = 256;
    map.box[0] = 128;
    walk(&map, &box);
    ck_assert(grout_ptx__map_check(&map, 100, &fault));
    check_run(0, (grout_ptx_run){false, 0x10000, 1024, 8});
    check_run(1, (grout_ptx_run){false, 0x10008, 1024 + 16, 8});
    check_run(8, (grout_ptx_run){false, 0x10000 + 256, 1024 + 128 + 16, 8});
    ck_assert(grout_ptx__box_bytes(&map, &box, &bytes, &fault));
    ck_assert_uint_eq(bytes, 512);
    map.elem = GROUT_PTX_ELEM_B6X16_P32;
    walk(&map, &box);
    check_run(1, (grout_ptx_run){false, 0x1000c, 1024 + 16, 12});
    map.box[0] = 64;
    ck_assert(!grout_ptx__map_check(&map, 100, &fault));
}

/* 3 x 3 pixels of 8 channels, a kernel of 2 x 2 with offset (1, 0): pixels go along W within the
 * corners, then H, then N. */
TEST(box_im2col) {
    const grout_ptx_tensor_map map = {.mode = GROUT_PTX_MAP_IM2COL,
                                      .elem = GROUT_PTX_ELEM_BF16,
                                      .rank = 4,
                                      .address = 0x1000,
                                      .dims = {8, 3, 3, 2},
                                      .strides = {16, 48, 144},
                                      .element_strides = {1, 1, 1, 1},
                                      .lower = {-1, 0},
                                      .upper = {-1, -1},
                                      .channels = 8,
                                      .pixels = 8};
    grout_ptx_box box = {
        .kind = GROUT_PTX_BOX_IM2COL, .dims = 4, .coordinates = {0, 0, 0, 0}, .offsets = {1, 0}};
    uint32_t bytes = 0;
    ck_assert_msg(grout_ptx__map_check(&map, 90, &fault), "%s", fault.text);
    walk(&map, &box);
    ck_assert(grout_ptx__box_bytes(&map, &box, &bytes, &fault));
    ck_assert_uint_eq(bytes, 128);
    /* W of the box: -1..1, H: 0..1. (0,0) (1,0) (-1,1) (0,1) (1,1) (-1,0)' .. , each plus 1 in W.
     */
    check_run(0, (grout_ptx_run){false, 0x1000 + 16, 0, 80});
    check_run(1, (grout_ptx_run){false, 0x1000 + 144, 80, 48});
    ck_assert_uint_eq(list.count, 2);
    box.offsets[0] = 0;
    walk(&map, &box);
    check_run(0, (grout_ptx_run){false, 0x1000, 0, 32});
    check_run(1, (grout_ptx_run){true, 0, 32, 16});
    check_run(2, (grout_ptx_run){false, 0x1000 + 48, 48, 32});
    box.coordinates[1] = 2;
    ck_assert(!grout_ptx__box_walk(&map, &box, take, &list, &fault));
    box.kind = GROUT_PTX_BOX_TILE;
    ck_assert(!grout_ptx__box_walk(&map, &box, take, &list, &fault));
}

TEST(box_illegal) {
    const grout_ptx_tensor_map map = make_map();
    const grout_ptx_box good = {.dims = 2, .shared = 1024, .coordinates = {8, 2}};
    grout_ptx_box box = good;
    box.shared = 1024 + 64;
    ck_assert(!grout_ptx__box_walk(&map, &box, take, &list, &fault));
    box = good;
    box.coordinates[0] = 4;
    ck_assert(!grout_ptx__box_walk(&map, &box, take, &list, &fault));
    box = good;
    box.dims = 3;
    ck_assert(!grout_ptx__box_walk(&map, &box, take, &list, &fault));
    box = good;
    box.transfer = GROUT_PTX_STORE;
    box.coordinates[0] = -8;
    ck_assert(!grout_ptx__box_walk(&map, &box, take, &list, &fault));
    ck_assert(strstr(fault.text, "-8") != NULL);
}

/* ---- reductions ---- */

typedef struct sum {
    grout_ptx_reduction reduction;
    grout_ptx_elem elem;
    uint64_t element, operand, want;
} sum;

static const sum SUMS[] = {
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_U32, 0xffffffff, 2, 1},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_U64, UINT64_MAX, 2, 1},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F32, 0x3f800000, 0x40000000, 0x40400000},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F32, 1, 1, 2},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F32_FTZ, 1, 1, 0},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F32, 0x7f800000, 0xff800000, 0x7fffffff},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F64, 0x3ff0000000000000, 0x3ff0000000000000,
     0x4000000000000000},
    /* 2048 + 1 and 2048 + 3 are half way: to even. */
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F16, 0x6800, 0x3c00, 0x6800},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F16, 0x6800, 0x4200, 0x6802},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F16, 0x0001, 0x0001, 0x0002},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F16, 0x7bff, 0x7bff, 0x7c00},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_F16, 0x8000, 0x8000, 0x8000},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_BF16, 0x4380, 0x3f80, 0x4380},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_BF16, 0x4380, 0x4040, 0x4382},
    {GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_BF16, 0x7f7f, 0x7f7f, 0x7f80},
    {GROUT_PTX_REDUCE_MIN, GROUT_PTX_ELEM_S32, 1, 0xffffffff, 0xffffffff},
    {GROUT_PTX_REDUCE_MIN, GROUT_PTX_ELEM_U32, 1, 0xffffffff, 1},
    {GROUT_PTX_REDUCE_MAX, GROUT_PTX_ELEM_S64, UINT64_MAX, 3, 3},
    {GROUT_PTX_REDUCE_MAX, GROUT_PTX_ELEM_F16, 0x7e00, 0xbc00, 0xbc00},
    {GROUT_PTX_REDUCE_MIN, GROUT_PTX_ELEM_BF16, 0x0000, 0x8000, 0x8000},
    {GROUT_PTX_REDUCE_MAX, GROUT_PTX_ELEM_BF16, 0xff81, 0x7fc0, 0x7fff},
    {GROUT_PTX_REDUCE_INC, GROUT_PTX_ELEM_U32, 4, 5, 5},
    {GROUT_PTX_REDUCE_INC, GROUT_PTX_ELEM_U32, 5, 5, 0},
    {GROUT_PTX_REDUCE_DEC, GROUT_PTX_ELEM_U32, 0, 5, 5},
    {GROUT_PTX_REDUCE_DEC, GROUT_PTX_ELEM_U32, 6, 5, 5},
    {GROUT_PTX_REDUCE_DEC, GROUT_PTX_ELEM_U32, 5, 5, 4},
    {GROUT_PTX_REDUCE_AND, GROUT_PTX_ELEM_U32, 6, 3, 2},
    {GROUT_PTX_REDUCE_OR, GROUT_PTX_ELEM_U64, 6, 3, 7},
    {GROUT_PTX_REDUCE_XOR, GROUT_PTX_ELEM_U64, 6, 3, 5},
};

TEST_EACH(reductions, COUNT_OF(SUMS)) {
    const sum *it = &SUMS[_i];
    ck_assert(grout_ptx__reduce_check(it->reduction, it->elem, &fault));
    ck_assert_uint_eq(grout_ptx__reduce(it->reduction, it->elem, it->element, it->operand),
                      it->want);
}

TEST(reductions_illegal) {
    ck_assert(!grout_ptx__reduce_check(GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_U8, &fault));
    ck_assert(!grout_ptx__reduce_check(GROUT_PTX_REDUCE_ADD, GROUT_PTX_ELEM_S64, &fault));
    ck_assert(!grout_ptx__reduce_check(GROUT_PTX_REDUCE_MIN, GROUT_PTX_ELEM_F32, &fault));
    ck_assert(!grout_ptx__reduce_check(GROUT_PTX_REDUCE_INC, GROUT_PTX_ELEM_U64, &fault));
    ck_assert(!grout_ptx__reduce_check(GROUT_PTX_REDUCE_AND, GROUT_PTX_ELEM_F16, &fault));
}
