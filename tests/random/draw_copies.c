/* draw_copies.c - kernels that move tiles through SMEM: layouts, boxes and places drawn at random,
 * TMA both ways, as boxes or as runs of bytes, plain loads and stores between, a ring of slots.
 * What comes from outside the array is drawn too; no store takes it out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    const char *text;
    uint32_t granule; /* elements in 16 bytes */
    bool has_nan;
} types[] = {{"f32", 4, true}, {"i32", 4, false}, {"u32", 4, false}, {"bf16", 8, true},
             {"f16", 8, true}, {"i4", 32, false}, {"u4", 32, false}, {"f4e2m1", 32, false}};
enum { TYPE_COUNT = sizeof types / sizeof *types, PACKED_GRANULE = 32 };

/* How the slots of an array in SMEM are declared, and what of a slot is seen as rows x columns. */
typedef struct drawn_slot {
    char dims[48], transforms[64], view[48];
} drawn_slot;

/* The columns of a slot as several parts, each in tiles of one row of a part: other dimensions of
 * the same bytes. Its columns are seen by a view. */
static void draw_parts(draw *d, uint32_t granule, uint32_t rows, uint32_t columns,
                       drawn_slot *slot) {
    const uint32_t width = 8 * granule, parts = columns / width;
    const bool is_inside = draw_below(d, 2) != 0; /* parts of a row, or parts of all rows */
    (void)snprintf(slot->dims, sizeof slot->dims, "%" PRIu32 ", %" PRIu32 ", %" PRIu32,
                   is_inside ? rows : rows / 8, is_inside ? parts : 8, is_inside ? width : columns);
    (void)snprintf(slot->transforms, sizeof slot->transforms, " tile(%s, %" PRIu32 ") swizzle(128)",
                   is_inside ? "8, 1" : "1, 8", width);
    (void)snprintf(slot->view, sizeof slot->view, ".reshape(%" PRIu32 ", %" PRIu32 ")", rows,
                   columns);
}

/* The transforms of a slot of rows x columns: plain, tiled, tiled and swizzled, or inferred. */
static void draw_transforms(draw *d, uint32_t granule, uint32_t rows, uint32_t columns, char *text,
                            size_t size) {
    static const uint32_t swizzles[] = {32, 64, 128};
    const uint32_t swizzle = swizzles[draw_below(d, 3)], width = swizzle / 16 * granule;
    const uint32_t way = draw_below(d, 6);
    if (way == 5) {
        (void)snprintf(text, size, "%s", " tile(infer)");
    } else if (way == 0 || columns % width != 0) {
        (void)snprintf(text, size, "%s", "");
    } else if (way == 1) {
        (void)snprintf(text, size, " tile(8, %" PRIu32 ")", width);
    } else if (way == 4) {
        (void)snprintf(text, size, " tile(infer) swizzle(%" PRIu32 ")", swizzle);
    } else {
        (void)snprintf(text, size, " tile(%" PRIu32 ", %" PRIu32 ") swizzle(%" PRIu32 ")",
                       way == 2 ? 8 : rows, width, swizzle);
    }
}

static drawn_slot draw_slot(draw *d, uint32_t granule, uint32_t rows, uint32_t columns,
                            bool is_run) {
    drawn_slot slot = {.view = ""};
    if (!is_run && columns % (8 * granule) == 0 && draw_below(d, 3) == 0) {
        draw_parts(d, granule, rows, columns, &slot);
        return slot;
    }
    (void)snprintf(slot.dims, sizeof slot.dims, "%" PRIu32 ", %" PRIu32, rows, columns);
    draw_transforms(d, granule, rows, is_run ? 1 : columns, slot.transforms,
                    sizeof slot.transforms);
    return slot;
}

/* What a copy says of elements outside the array. */
typedef enum outside { UNWRITTEN, ZEROS, NANS, UNDEFINED, IN_BOUNDS, OUTSIDE_COUNT } outside;
static const char *const outside_texts[OUTSIDE_COUNT] = {"", " oob(zero)", " oob(nan)",
                                                         " oob(undefined)", " oob(in_bounds)"};

/* What becomes of a tile on its way. */
static void draw_change(draw *d, uint32_t type, const char *view) {
    if (types[type].granule == PACKED_GRANULE) { /* which has no arithmetic */
        draw_line(d, "  store %%t%s, (select (lt (cast %%v : i32), 3), %%v, %s:1)", view,
                  types[type].text);
    } else {
        draw_line(d, "  store %%t%s, (%s)", view,
                  draw_below(d, 2) == 0 ? "add %v, %v" : "max %v, 1");
    }
}

void draw_copies(uint64_t seed, grout_text *out) {
    draw d = {.state = seed};
    const uint32_t type = draw_below(&d, TYPE_COUNT), granule = types[type].granule;
    const uint32_t widths = granule == PACKED_GRANULE ? 2 : 4; /* these have many elements */
    outside mode = (outside)draw_below(&d, OUTSIDE_COUNT);
    mode = mode == NANS && !types[type].has_nan ? ZEROS : mode;
    /* Whole rows, one after another on both sides: no tensor map, and rows of any width. */
    const bool is_run = mode >= UNDEFINED && granule != PACKED_GRANULE && draw_below(&d, 2) != 0;
    const uint32_t rows = 8 * (1 + draw_below(&d, 8)),
                   columns = is_run && mode == IN_BOUNDS
                                 ? 1 + draw_below(&d, 120)
                                 : 4 * granule * (1 + draw_below(&d, widths));
    const uint32_t slots = 1 + draw_below(&d, 4), turns = slots + draw_below(&d, 8);
    /* The arrays end inside the last box: TMA fills and clips. With a promise they do not. */
    const bool is_cut = mode != IN_BOUNDS;
    const uint32_t array_columns =
        is_run ? columns : columns * 2 - (is_cut ? granule * draw_below(&d, 3) : 0);
    const uint32_t array_rows = rows * turns - (is_cut ? draw_below(&d, rows) : 0);
    char array[64];
    grout_text scratch = {0};
    (void)snprintf(array, sizeof array, "%s[%" PRIu32 ", %" PRIu32 "]", types[type].text,
                   array_rows, array_columns);
    const drawn_slot from = draw_slot(&d, granule, rows, columns, is_run);
    const drawn_slot to = draw_slot(&d, granule, rows, columns, is_run);
    (void)draw_param(&d, "in", array);
    (void)draw_param(&d, "out", array);
    grout_text_add(&scratch,
                   "  scratch %%s : smem %s[%" PRIu32 ", %s]%s\n"
                   "  scratch %%t : smem %s[%s]%s\n"
                   "  scratch %%full : barrier[%" PRIu32 "]\n",
                   types[type].text, slots, from.dims, from.transforms, types[type].text, to.dims,
                   to.transforms, slots);
    draw_line(&d, "%%column = mul (axis_index x), %" PRIu32, columns);
    draw_line(&d, "for %%i in 0..%" PRIu32 " {", slots);
    draw_line(&d,
              "  copy_gmem_to_smem %%p0[ds(%%i * %" PRIu32 ", %" PRIu32 "), ds(%%column, %" PRIu32
              ")], %%s[%%i]%s, %%full[%%i]%s",
              rows, rows, columns, from.view, outside_texts[mode]);
    draw_line(&d, "}");
    draw_line(&d, "for %%i in 0..%" PRIu32 " {", turns);
    draw_line(&d, "  %%slot = rem %%i, %" PRIu32, slots);
    draw_line(&d, "  barrier_wait %%full[%%slot]");
    draw_line(&d, "  %%v = load %%s[%%slot]%s", from.view);
    draw_line(&d, "  wait_smem_to_gmem 0 read_only");
    draw_change(&d, type, to.view);
    draw_line(&d, "  commit_smem");
    /* In a group of its own, or in one that is closed afterwards. */
    const bool is_open = draw_below(&d, 2);
    draw_line(&d,
              "  copy_smem_to_gmem %%t%s, %%p1[ds(%%i * %" PRIu32 ", %" PRIu32
              "), ds(%%column, %" PRIu32 ")]%s%s",
              to.view, rows, rows, columns, is_open ? " no_commit_group" : "",
              is_cut ? "" : outside_texts[mode]);
    if (is_open) {
        draw_line(&d, "  commit_group");
    }
    draw_line(&d, "  if (lt (add %%i, %" PRIu32 "), %" PRIu32 ") {", slots, turns);
    draw_line(&d,
              "    copy_gmem_to_smem %%p0[ds((%%i + %" PRIu32 ") * %" PRIu32 ", %" PRIu32
              "), ds(%%column, %" PRIu32 ")], %%s[%%slot]%s, %%full[%%slot]%s",
              slots, rows, rows, columns, from.view, outside_texts[mode]);
    draw_line(&d, "  }");
    draw_line(&d, "}");
    draw_line(&d, "wait_smem_to_gmem 0");
    draw_finish(&d, scratch.data,
                is_run ? "grid(x = 1) threads(wg = 1)" : "grid(x = 2) threads(wg = 1)", out);
    grout_text_free(&scratch);
}
