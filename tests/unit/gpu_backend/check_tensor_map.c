/* check_tensor_map.c - the rules of TMA descriptors, at each limit and one past it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gpu_backend/run/tensor_map.h"
#include "tests/tests.h"

#include <string.h>

/* add_tma's %a: 4000 x 120 f32 in boxes of 32 x 64. */
static const grout_gpu_tensor_map good = {.type = GROUT_GPU_TENSOR_F32,
                                          .rank = 2,
                                          .dims = {120, 4000},
                                          .strides_bytes = {0, 480},
                                          .box = {64, 32}};

static void set_inner(grout_gpu_tensor_map *map, uint64_t value) {
    map->box[0] = (uint32_t)value;
}
static void set_rows(grout_gpu_tensor_map *map, uint64_t value) {
    map->box[1] = (uint32_t)value;
}
static void set_stride(grout_gpu_tensor_map *map, uint64_t value) {
    map->strides_bytes[1] = value;
}
static void set_dim(grout_gpu_tensor_map *map, uint64_t value) {
    map->dims[0] = value;
}
static void set_rank(grout_gpu_tensor_map *map, uint64_t value) {
    map->rank = (uint32_t)value;
    for (uint32_t i = 2; i < GROUT_GPU_TENSOR_RANK_MAX; i++) {
        map->dims[i] = map->box[i] = 1;
        map->strides_bytes[i] = 480;
    }
}
static void set_swizzle(grout_gpu_tensor_map *map, uint64_t value) {
    map->swizzle_bytes = (uint32_t)value;
}
static void set_step(grout_gpu_tensor_map *map, uint64_t value) {
    map->element_strides[1] = (uint32_t)value;
}
static void set_fill(grout_gpu_tensor_map *map, uint64_t type) {
    map->type = (grout_gpu_tensor_type)type;
    map->oob = GROUT_GPU_OOB_NAN;
}
/* Boxes of 256 x value floats. */
static void set_bytes(grout_gpu_tensor_map *map, uint64_t value) {
    map->box[0] = 256;
    map->box[1] = (uint32_t)value;
}

/* The map becomes one of 16 x 8 x 9 pixels of 64 channels in im2col mode, of which value is a
 * number.
 */
static void make_pixels(grout_gpu_tensor_map *map) {
    *map = (grout_gpu_tensor_map){.type = GROUT_GPU_TENSOR_F16,
                                  .rank = 4,
                                  .dims = {64, 9, 8, 16},
                                  .strides_bytes = {0, 128, 1152, 9216},
                                  .box = {64, 128},
                                  .swizzle_bytes = 128,
                                  .spatial_count = 2,
                                  .lower = {-1, -1},
                                  .upper = {-1, -1}};
}
static void set_lower(grout_gpu_tensor_map *map, uint64_t value) {
    make_pixels(map);
    map->lower[1] = (int32_t)(int64_t)value;
}
static void set_upper(grout_gpu_tensor_map *map, uint64_t value) {
    make_pixels(map);
    map->upper[0] = (int32_t)(int64_t)value;
}
static void set_channels(grout_gpu_tensor_map *map, uint64_t value) {
    make_pixels(map);
    map->swizzle_bytes = 0;
    map->box[0] = (uint32_t)value;
}
static void set_pixels(grout_gpu_tensor_map *map, uint64_t value) {
    make_pixels(map);
    map->box[1] = (uint32_t)value;
}
static void set_pixel_step(grout_gpu_tensor_map *map, uint64_t value) {
    make_pixels(map);
    map->element_strides[2] = (uint32_t)value;
}
static void set_spatial(grout_gpu_tensor_map *map, uint64_t value) {
    make_pixels(map);
    map->spatial_count = (uint32_t)value;
}
static void set_volume(grout_gpu_tensor_map *map, uint64_t value) {
    make_pixels(map);
    map->rank = 5;
    map->spatial_count = 3;
    map->dims[4] = 1;
    map->strides_bytes[4] = 147456;
    map->lower[2] = (int32_t)(int64_t)value;
}
static void set_sequence(grout_gpu_tensor_map *map, uint64_t value) {
    make_pixels(map);
    map->rank = 3;
    map->spatial_count = 1;
    map->lower[0] = (int32_t)(int64_t)value;
}
/* The map becomes one of 64 rows of 384 elements of 6 bits, which TMA expands, and one number of it
 * another. */
static void make_expanded(grout_gpu_tensor_map *map) {
    *map = (grout_gpu_tensor_map){.type = GROUT_GPU_TENSOR_16U6,
                                  .rank = 2,
                                  .dims = {384, 64},
                                  .strides_bytes = {0, 288},
                                  .box = {128, 64},
                                  .swizzle_bytes = 128};
}
static void set_expanded_row(grout_gpu_tensor_map *map, uint64_t value) {
    make_expanded(map);
    map->box[0] = (uint32_t)value;
}
static void set_expanded_dim(grout_gpu_tensor_map *map, uint64_t value) {
    make_expanded(map);
    map->dims[0] = value;
}
static void set_expanded_pitch(grout_gpu_tensor_map *map, uint64_t value) {
    make_expanded(map);
    map->strides_bytes[1] = value;
}
static void set_expanded_swizzle(grout_gpu_tensor_map *map, uint64_t value) {
    make_expanded(map);
    map->swizzle_bytes = (uint32_t)value;
}
#define BELOW_ZERO(n) ((uint64_t) - (int64_t)(n))

static const struct {
    const char *name;
    void (*change)(grout_gpu_tensor_map *, uint64_t);
    uint64_t value;
    grout_diag_code code; /* GROUT_DIAG_NONE: legal */
    const char *text;     /* part of the message: the numbers */
} rules[] = {
    {"inner 16 bytes", set_inner, 4, GROUT_DIAG_NONE, ""},
    {"inner 8 bytes", set_inner, 2, GROUT_DIAG_TMA_INNER_BYTES, "2 elements of 4 bytes are 8"},
    {"inner 256", set_inner, 256, GROUT_DIAG_NONE, ""},
    {"inner 260", set_inner, 260, GROUT_DIAG_TMA_BOX, "1 to 256 elements"},
    {"inner 0", set_inner, 0, GROUT_DIAG_TMA_BOX, "but 0 in dimension 0"},
    {"rows 256", set_rows, 256, GROUT_DIAG_NONE, ""},
    {"rows 257", set_rows, 257, GROUT_DIAG_TMA_BOX, "but 257 in dimension 1"},
    {"pitch 496", set_stride, 496, GROUT_DIAG_NONE, ""},
    {"pitch 484", set_stride, 484, GROUT_DIAG_TMA_PITCH, "has a pitch of 484 bytes"},
    {"pitch 0", set_stride, 0, GROUT_DIAG_NONE, ""},
    {"pitch 2^40 - 16", set_stride, (UINT64_C(1) << 40) - 16, GROUT_DIAG_NONE, ""},
    {"pitch 2^40", set_stride, UINT64_C(1) << 40, GROUT_DIAG_TMA_PITCH, "below 2^40"},
    {"2^32 elements", set_dim, UINT64_C(1) << 32, GROUT_DIAG_NONE, ""},
    {"2^32 + 1", set_dim, (UINT64_C(1) << 32) + 1, GROUT_DIAG_TMA_BOX, "4294967297"},
    {"no element", set_dim, 0, GROUT_DIAG_TMA_BOX, "dimension 0 has 0"},
    {"rank 0", set_rank, 0, GROUT_DIAG_TMA_BOX, "not 0"},
    {"rank 1", set_rank, 1, GROUT_DIAG_NONE, ""},
    {"rank 5", set_rank, 5, GROUT_DIAG_NONE, ""},
    {"rank 6", set_rank, 6, GROUT_DIAG_TMA_BOX, "1 to 5 dimensions, not 6"},
    {"swizzle narrower", set_swizzle, 128, GROUT_DIAG_TMA_INNER_BYTES, "swizzle of 128 bytes"},
    {"swizzle 96", set_swizzle, 96, GROUT_DIAG_TMA_LAYOUT, "not 96"},
    {"every 8th", set_step, 8, GROUT_DIAG_NONE, ""},
    {"every 9th", set_step, 9, GROUT_DIAG_TMA_BOX, "every 9th in dimension 1"},
    {"NaN in f32", set_fill, GROUT_GPU_TENSOR_F32, GROUT_DIAG_NONE, ""},
    {"NaN in i32", set_fill, GROUT_GPU_TENSOR_I32, GROUT_DIAG_TMA_LAYOUT, "only for floats"},
    {"type 10", set_fill, 10, GROUT_DIAG_TMA_LAYOUT, "no element type 10"},
    {"227 KiB", set_bytes, 227, GROUT_DIAG_NONE, ""},
    {"lower corner -128", set_lower, BELOW_ZERO(128), GROUT_DIAG_NONE, ""},
    {"lower corner -129", set_lower, BELOW_ZERO(129), GROUT_DIAG_TMA_BOX, "dimension 2 has -129"},
    {"lower corner 6, the last pixel", set_lower, 6, GROUT_DIAG_NONE, ""},
    {"lower corner 7, after the last", set_lower, 7, GROUT_DIAG_TMA_BOX,
     "dimension 2 has 7 and -1"},
    {"upper corner 127", set_upper, 127, GROUT_DIAG_NONE, ""},
    {"upper corner 128", set_upper, 128, GROUT_DIAG_TMA_BOX, "dimension 1 has -1 and 128"},
    {"upper corner -9", set_upper, BELOW_ZERO(9), GROUT_DIAG_NONE, ""},
    {"upper corner -10", set_upper, BELOW_ZERO(10), GROUT_DIAG_TMA_BOX, "-128 to 127"},
    {"256 channels", set_channels, 256, GROUT_DIAG_NONE, ""},
    {"257 channels", set_channels, 257, GROUT_DIAG_TMA_BOX, "but 257 and 128"},
    {"4 channels", set_channels, 4, GROUT_DIAG_TMA_INNER_BYTES, "4 elements of 2 bytes are 8"},
    {"no channel", set_channels, 0, GROUT_DIAG_TMA_BOX, "but 0 and 128"},
    {"1024 pixels", set_pixels, 1024, GROUT_DIAG_NONE, ""},
    {"1025 pixels", set_pixels, 1025, GROUT_DIAG_TMA_BOX, "1 to 1024 pixels"},
    {"no pixel", set_pixels, 0, GROUT_DIAG_TMA_BOX, "but 64 and 0"},
    {"every 8th pixel", set_pixel_step, 8, GROUT_DIAG_NONE, ""},
    {"every 9th pixel", set_pixel_step, 9, GROUT_DIAG_TMA_BOX, "every 9th in dimension 2"},
    {"a spatial dimension less", set_spatial, 1, GROUT_DIAG_TMA_BOX, "not 4 with 1"},
    {"a volume's corner -16", set_volume, BELOW_ZERO(16), GROUT_DIAG_NONE, ""},
    {"a volume's corner -17", set_volume, BELOW_ZERO(17), GROUT_DIAG_TMA_BOX, "-16 to 15"},
    {"a sequence's corner -32768", set_sequence, BELOW_ZERO(32768), GROUT_DIAG_NONE, ""},
    {"a sequence's corner -32769", set_sequence, BELOW_ZERO(32769), GROUT_DIAG_TMA_BOX,
     "-32768 to 32767"},
    {"128 elements expanded", set_expanded_row, 128, GROUT_DIAG_NONE, ""},
    {"64 elements expanded", set_expanded_row, 64, GROUT_DIAG_TMA_BOX, "but the box has 64"},
    {"a row of 320 to expand", set_expanded_dim, 320, GROUT_DIAG_TMA_BOX, "and the row 320"},
    {"pitch 272 of what is expanded", set_expanded_pitch, 272, GROUT_DIAG_TMA_PITCH,
     "multiple of 32"},
    {"expanded without a swizzle", set_expanded_swizzle, 0, GROUT_DIAG_NONE, ""},
    {"228 KiB", set_bytes, 228, GROUT_DIAG_TMA_BYTES, "233472 bytes, but SMEM only 232448"},
};

TEST_EACH(each_rule_has_its_limit, COUNT_OF(rules)) {
    grout_gpu_tensor_map map = good;
    grout_gpu_error error = {0};
    rules[_i].change(&map, rules[_i].value);
    const bool ok = grout_gpu__tensor_map_validate(&map, 0, &error);
    ck_assert_msg(ok == (rules[_i].code == GROUT_DIAG_NONE), "%s: %s", rules[_i].name, error.text);
    ck_assert_msg(error.code == rules[_i].code, "%s: %s", rules[_i].name, error.text);
    ck_assert_msg(strstr(error.text, rules[_i].text) != NULL, "%s: %s", rules[_i].name, error.text);
}

TEST(arrays_start_at_16_bytes) {
    grout_gpu_error error = {0};
    ck_assert(grout_gpu__tensor_map_validate(&good, 16, &error));
    ck_assert(!grout_gpu__tensor_map_validate(&good, 8, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_TMA_PITCH);
    grout_gpu_tensor_map map;
    make_expanded(&map);
    ck_assert(grout_gpu__tensor_map_validate(&map, 32, &error));
    ck_assert(!grout_gpu__tensor_map_validate(&map, 16, &error));
}

TEST(sizes) {
    grout_gpu_tensor_map map = good;
    ck_assert_uint_eq(grout_gpu__tensor_map_box_bytes(&map), 8192);
    ck_assert_uint_eq(grout_gpu__tensor_map_span_bytes(&map), 1920000);
    map.dims[0] = 100; /* the last row has no padding after it */
    ck_assert_uint_eq(grout_gpu__tensor_map_span_bytes(&map), 1919920);
    map.element_strides[1] = 3; /* rows 0, 3, ... 30 */
    ck_assert_uint_eq(grout_gpu__tensor_map_box_bytes(&map), 2816);
    map.element_strides[0] = 2; /* does not count in dimension 0 */
    ck_assert_uint_eq(grout_gpu__tensor_map_box_bytes(&map), 2816);
    map.dims[1] = UINT64_C(1) << 32;
    map.strides_bytes[1] = (UINT64_C(1) << 40) - 16;
    ck_assert(grout_gpu__tensor_map_span_bytes(&map) == UINT64_MAX);
    make_expanded(&map); /* 12 bytes for each 16 elements */
    ck_assert_uint_eq(grout_gpu__tensor_map_box_bytes(&map), 6144);
    ck_assert_uint_eq(grout_gpu__tensor_map_span_bytes(&map), 18432);
    make_pixels(&map);
    map.element_strides[1] = 2; /* pixels, whatever lies between them */
    ck_assert_uint_eq(grout_gpu__tensor_map_box_bytes(&map), 16384);
}
