/* roads.c - lines of a drawn kernel that move an array.
 * SPDX-License-Identifier: Apache-2.0 */
#include "roads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SMEM_MAX = 180000, TEXT_MAX = 128, OBJECT_ALIGN = 1024 };

static uint32_t get_bytes(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->bytes;
}

/* Elements in a byte of memory: slices of the last dimension begin at and have multiples of it. */
static uint32_t get_packed(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->packed;
}

/* Elements that this many bytes hold. */
static uint32_t get_elements(grout_dtype dtype, uint32_t bytes) {
    return bytes * get_packed(dtype) / get_bytes(dtype);
}

/* Whether memory has no such array: a byte holds several elements, and the last one is not full. */
static bool is_ragged(grout_dtype dtype, const road_shape *shape) {
    return get_packed(dtype) > 1 &&
           (shape->rank == 0 || shape->dims[shape->rank - 1] % get_packed(dtype) != 0);
}

uint32_t roads_get_count(const road_shape *shape) {
    uint32_t count = 1;
    for (uint32_t k = 0; k < shape->rank; k++) {
        count *= shape->dims[k];
    }
    return count;
}

void roads_get_type(grout_dtype dtype, const road_shape *shape, char *text, size_t size) {
    const uint32_t *dims = shape->dims;
    const char *name = grout_dtype_get_info(dtype)->text;
    if (shape->rank == 0) {
        (void)snprintf(text, size, "%s", name);
    } else if (shape->rank == 1) {
        (void)snprintf(text, size, "%s[%" PRIu32 "]", name, dims[0]);
    } else if (shape->rank == 2) {
        (void)snprintf(text, size, "%s[%" PRIu32 ", %" PRIu32 "]", name, dims[0], dims[1]);
    } else {
        (void)snprintf(text, size, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", name, dims[0],
                       dims[1], dims[2]);
    }
}

static road_shape turn(const road_shape *shape) {
    return (road_shape){2, {shape->dims[1], shape->dims[0], 0}};
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Where the boxes of an array may lie. */
typedef struct reach {
    uint32_t step; /* of the starts in the last dimension, in elements */
    bool may_begin_before, may_end_past;
} reach;

typedef struct span {
    int32_t start;
    uint32_t extent; /* of the array in which it lies */
} span;

/* Where a box of this many elements lies: in steps, inside the array or, if it may, past its ends.
 */
static span draw_span(draw *d, uint32_t size, uint32_t step, const reach *where) {
    span s = {(int32_t)(draw_below(d, 3) * step), 0};
    const uint32_t end = (uint32_t)s.start + size;
    if (where->may_begin_before && draw_below(d, 4) == 0) {
        s.start = -(int32_t)((1 + draw_below(d, 2)) * step);
        s.extent = size + draw_below(d, 2) * step;
        return s;
    }
    const bool is_cut = where->may_end_past && size > step && draw_below(d, 3) == 0;
    s.extent = is_cut ? end - step * (1 + draw_below(d, (size - 1) / step))
                      : end + draw_below(d, 3) * step;
    return s;
}

/* "[ds(1, 64), ds(0, 8)]"; *array is the shape in which it lies. */
static void draw_box(draw *d, const road_shape *shape, reach where, road_shape *array,
                     char text[TEXT_MAX]) {
    int at = snprintf(text, TEXT_MAX, "[");
    *array = *shape;
    for (uint32_t k = 0; k < shape->rank; k++) {
        const bool is_last = k + 1 == shape->rank;
        const span s = draw_span(d, shape->dims[k], is_last ? where.step : 1, &where);
        array->dims[k] = s.extent;
        at += snprintf(text + at, TEXT_MAX - (size_t)at, "%sds(%" PRId32 ", %" PRIu32 ")",
                       k == 0 ? "" : ", ", s.start, shape->dims[k]);
    }
    (void)snprintf(text + at, TEXT_MAX - (size_t)at, "]");
}

/* "[1, 0]" of "[ds(1, 64), ds(0, 8)]". */
static void get_starts(const char *box, char *text, size_t size) {
    int at = snprintf(text, size, "[");
    for (const char *here = strstr(box, "ds("); here != NULL; here = strstr(here + 1, "ds(")) {
        at += snprintf(text + at, size - (size_t)at, "%s%.*s", at == 1 ? "" : ", ",
                       (int)strcspn(here + 3, ","), here + 3);
    }
    (void)snprintf(text + at, size - (size_t)at, "]");
}

/* ---- SMEM ------------------------------------------------------------------------------------ */

static bool has_room(const roads *r, grout_dtype dtype, const road_shape *shape) {
    return r->smem_bytes + roads_get_count(shape) * get_bytes(dtype) / 8 * 9 + OBJECT_ALIGN <=
           SMEM_MAX;
}

static bool is_power_of_two(uint32_t number) {
    return number > 1 && (number & (number - 1)) == 0;
}

/* How an array is held that threads use, or none but engines: this many elements of a row, from a
 * multiple of that on, stay together. */
enum { ENGINES_ONLY = 0, ANY_ORDER = 1 };

/* A layout of its own: runs exchanged, rows padded by an eighth or less of the array, or the bases
 * of the bits of an address, from those of rows and columns in turn. */
static void draw_layout(draw *d, const road_shape *shape, uint32_t together, char *text,
                        size_t size) {
    const uint32_t rows = shape->dims[0], cols = shape->dims[1], way = draw_below(d, 3);
    const bool is_turned = together == ANY_ORDER && draw_below(d, 2) == 0;
    const char *order = is_turned ? "[0, 1]" : "[1, 0]";
    int at = 0;
    if (way == 0) {
        const uint32_t vec = 1u << draw_below(d, 4);
        (void)snprintf(
            text, size, " layout(\"vec=%" PRIu32 ", per_phase=%d, max_phase=%d, order=%s\")",
            vec < together ? together : vec, 1 << draw_below(d, 3), 1 << draw_below(d, 4), order);
        return;
    }
    if (way == 1) {
        const uint32_t interval = is_turned ? rows : cols;
        (void)snprintf(text, size,
                       " layout(\"interval_padding_pairs=[[%" PRIu32 ", %" PRIu32 "]], order=%s\")",
                       interval < 8 * together ? rows * cols : interval, together, order);
        return;
    }
    at = snprintf(text, size, " layout(\"offset_bases=[");
    for (uint32_t row = 1, col = 1; row < rows || col < cols;) {
        const bool is_row = col >= cols || (col >= together && row < rows && draw_below(d, 2) == 0);
        at += snprintf(text + at, size - (size_t)at, "%s[%" PRIu32 ", %" PRIu32 "]",
                       row * col == 1 ? "" : ", ", is_row ? row : row / 2, is_row ? 0 : col);
        *(is_row ? &row : &col) *= 2;
    }
    (void)snprintf(text + at, size - (size_t)at, "]\")");
}

/* Plain, tiled, tiled and swizzled, turned round, or in a layout of its own. */
static void draw_transforms(draw *d, grout_dtype dtype, const road_shape *shape, uint32_t together,
                            char *text, size_t size) {
    static const uint32_t swizzles[] = {32, 64, 128};
    const uint32_t swizzle = swizzles[draw_below(d, 3)], width = get_elements(dtype, swizzle);
    const uint32_t way = draw_below(d, 5);
    text[0] = '\0';
    if (shape->rank != 2) {
        return;
    }
    if (way == 0 && together != ENGINES_ONLY && is_power_of_two(shape->dims[0]) &&
        is_power_of_two(shape->dims[1]) && draw_below(d, 2) == 0) {
        draw_layout(d, shape, together, text, size);
    } else if (way == 0 && together == ANY_ORDER) {
        (void)snprintf(text, size, " transpose(1, 0)");
    } else if (shape->dims[0] % 8 == 0 && shape->dims[1] % width == 0 && way > 0) {
        const uint32_t rows = way == 4 ? shape->dims[0] : 8;
        (void)snprintf(text, size, " tile(%" PRIu32 ", %" PRIu32 ")", rows, width);
        if (way > 1) {
            (void)snprintf(text, size, " tile(%" PRIu32 ", %" PRIu32 ") swizzle(%" PRIu32 ")", rows,
                           width, swizzle);
        }
    }
}

/* What cp.async moves at once, as many elements of a row. */
enum { PIECE_MIN = 4, PIECE_MAX = 16 };
static uint32_t get_piece(grout_dtype dtype, uint32_t bytes) {
    const uint32_t count = bytes / get_bytes(dtype);
    return count == 0 ? ANY_ORDER : count;
}

/* Returns the number of a new array "%s<number>". */
static uint32_t add_smem(roads *r, grout_dtype dtype, const road_shape *shape, uint32_t together) {
    char type[TEXT_MAX], transforms[4 * TEXT_MAX];
    roads_get_type(dtype, shape, type, sizeof type);
    draw_transforms(r->d, dtype, shape, get_packed(dtype) == 1 ? together : ENGINES_ONLY,
                    transforms, sizeof transforms);
    grout_text_add(&r->scratch, "  scratch %%s%" PRIu32 " : smem %s%s\n", r->object_count, type,
                   transforms);
    uint32_t bytes = roads_get_count(shape) * get_bytes(dtype);
    bytes += strstr(transforms, "padding") != NULL ? bytes / 8 : 0;
    r->smem_bytes += (bytes + OBJECT_ALIGN - 1) / OBJECT_ALIGN * OBJECT_ALIGN;
    return r->object_count++;
}

/* ---- which ways there are -------------------------------------------------------------------- */

static bool can_be_accumulator(grout_dtype dtype, const road_shape *shape) {
    return (dtype == GROUT_DTYPE_F16 || dtype == GROUT_DTYPE_F32 || dtype == GROUT_DTYPE_I32) &&
           shape->rank == 2 && shape->dims[0] % 64 == 0 && shape->dims[1] % 8 == 0;
}

bool roads_can_take(const roads *r, road way, grout_dtype dtype, const road_shape *shape) {
    const uint32_t packed = get_packed(dtype), last = shape->rank == 0 ? 0 : shape->rank - 1;
    const uint32_t row = shape->dims[last] * get_bytes(dtype) / packed;
    if (shape->rank == 0 || is_ragged(dtype, shape)) {
        return way == ROAD_STRAIGHT;
    }
    switch (way) {
    case ROAD_TURNED:
        return shape->rank == 2 && packed == 1;
    case ROAD_SMEM:
        return has_room(r, dtype, shape);
    case ROAD_TMA:
        for (uint32_t k = 0; k < shape->rank; k++) {
            if (shape->dims[k] > (k == last ? 256 * packed : 256)) {
                return false;
            }
        }
        return has_room(r, dtype, shape) && row % 16 == 0;
    case ROAD_ASYNC_COPY:
        return has_room(r, dtype, shape) && row % 4 == 0;
    case ROAD_ACCUMULATOR:
        return can_be_accumulator(dtype, shape);
    case ROAD_STRAIGHT:
    case ROAD_BOX:
    case ROAD_COUNT:
        break;
    }
    return true;
}

road roads_draw(const roads *r, grout_dtype dtype, const road_shape *shape) {
    road way;
    do {
        way = (road)draw_below(r->d, ROAD_COUNT);
    } while (!roads_can_take(r, way, dtype, shape));
    return way;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* A parameter whose name begins with the style; returns its number. */
static uint32_t add_input(roads *r, grout_dtype dtype, const road_shape *shape, char style) {
    char type[TEXT_MAX];
    roads_get_type(dtype, shape, type, sizeof type);
    return draw_input(r->d, style, type);
}

/* Makes the tensor map of all of an array, whose rest is zeros as it is without; returns the number
 * of the descriptor. */
static uint32_t make_descriptor(roads *r, grout_dtype dtype, const road_shape *shape,
                                const road_shape *array, char style, uint32_t input) {
    char type[TEXT_MAX];
    draw *d = r->d;
    const uint32_t number = r->object_count++;
    grout_text part = {0};
    for (uint32_t k = 0; k < 2 * array->rank; k++) {
        grout_text_add(&part, ", %" PRIu32, k < array->rank ? 0 : array->dims[k - array->rank]);
    }
    roads_get_type(dtype, shape, type, sizeof type);
    grout_text_add(&r->scratch, "  scratch %%m%" PRIu32 " : gmem u64[1, 16]\n", number);
    draw_line(d,
              "%%d%" PRIu32 " = make_tensor_descriptor %%m%" PRIu32 "[0], %%%c%" PRIu32 "%s : %s",
              number, number, style, input, part.data, type);
    draw_line(d, "tensormap_acquire %%m%" PRIu32 "[0]", number);
    grout_text_free(&part);
    return number;
}

static void come_by_tma(roads *r, grout_dtype dtype, const road_shape *shape, char style,
                        uint32_t value) {
    char box[TEXT_MAX], starts[TEXT_MAX], type[TEXT_MAX];
    road_shape array;
    draw *d = r->d;
    draw_box(d, shape, (reach){get_elements(dtype, 16), true, true}, &array, box);
    get_starts(box, starts, sizeof starts);
    const uint32_t input = add_input(r, dtype, &array, style);
    const uint32_t smem = add_smem(r, dtype, shape, ENGINES_ONLY);
    r->has_barrier = true;
    if (r->wants_prefetch || draw_below(d, 4) == 0) {
        draw_line(d, "async_prefetch %%%c%" PRIu32 "%s", style, input, box);
    }
    if (r->wants_made || (get_packed(dtype) == 1 && draw_below(d, 8) == 0)) {
        const uint32_t made = make_descriptor(r, dtype, shape, &array, style, input);
        draw_line(d, "copy_gmem_to_smem %%d%" PRIu32 "%s, %%s%" PRIu32 ", %%full[0]", made, starts,
                  smem);
    } else if (r->wants_descriptor || draw_below(d, 4) == 0) {
        roads_get_type(dtype, shape, type, sizeof type);
        draw_line(d, "%%d%" PRIu32 " = tensor_descriptor %%%c%" PRIu32 " : %s", r->object_count,
                  style, input, type);
        draw_line(d, "copy_gmem_to_smem %%d%" PRIu32 "%s, %%s%" PRIu32 ", %%full[0]",
                  r->object_count++, starts, smem);
    } else {
        draw_line(d, "copy_gmem_to_smem %%%c%" PRIu32 "%s, %%s%" PRIu32 ", %%full[0]", style, input,
                  box, smem);
    }
    draw_line(d, "barrier_wait %%full[0]");
    if (shape->rank == 2 && get_packed(dtype) == 1 &&
        draw_below(d, 3) == 0) { /* turned, and turned back by the way */
        const road_shape turned = turn(shape);
        const uint32_t between = add_smem(r, dtype, &turned, ANY_ORDER);
        roads_get_type(dtype, shape, type, sizeof type);
        draw_line(d, "store %%s%" PRIu32 ", (load %%s%" PRIu32 ".transpose(1, 0))", between, smem);
        draw_line(d, "%%v%" PRIu32 " = load %%s%" PRIu32 ".transpose(1, 0)", value, between);
    } else {
        draw_line(d, "%%v%" PRIu32 " = load %%s%" PRIu32, value, smem);
    }
}

/* Through an accumulator, all of it at once or columns of it. */
static void come_by_accumulator(roads *r, grout_dtype dtype, const road_shape *shape, char style,
                                uint32_t value) {
    char type[TEXT_MAX];
    draw *d = r->d;
    road_shape whole = *shape;
    const bool is_part = draw_below(d, 2) == 0 && shape->dims[1] <= 128;
    whole.dims[1] += is_part ? 8 * (1 + draw_below(d, 3)) : 0;
    const uint32_t first = draw_below(d, (whole.dims[1] - shape->dims[1]) / 8 + 1) * 8;
    const uint32_t input = add_input(r, dtype, &whole, style), number = r->object_count++;
    roads_get_type(dtype, &whole, type, sizeof type);
    grout_text_add(&r->scratch, "  scratch %%a%" PRIu32 " : acc %s\n", number, type);
    draw_line(d, "acc_store %%a%" PRIu32 ", (load %%%c%" PRIu32 ")", number, style, input);
    draw_line(d, "%%v%" PRIu32 " = %s %%a%" PRIu32 "[:, ds(%" PRIu32 ", %" PRIu32 ")]", value,
              draw_below(d, 2) == 0 ? "load" : "acc_load", number, first, shape->dims[1]);
}

typedef struct picked {
    char indices[32], mask[32]; /* names of values, or nothing */
} picked;

/* A mask of rows that it lets through, or of what lies in them: the same for each element of a
 * row, so that any promise about neighbours holds. */
static void draw_row_mask(draw *d, const road_shape *shape, bool is_along, picked *texts) {
    const road_shape row = {1, {shape->dims[0], 0, 0}};
    const uint32_t value = d->value_count++;
    char type[TEXT_MAX];
    roads_get_type(GROUT_DTYPE_I32, is_along ? &row : shape, type, sizeof type);
    draw_line(d, "%%v%" PRIu32 " = ne (rem (iota dim(0) : %s), %" PRIu32 "), %" PRIu32, value, type,
              2 + draw_below(d, 9), draw_below(d, 3));
    (void)snprintf(texts->mask, sizeof texts->mask, "%%v%" PRIu32, value);
}

/* Indices of rows, or of a row for each element; of this many, with some that are outside where the
 * mask is false. */
static void draw_row_indices(draw *d, const road_shape *shape, bool is_along, uint32_t rows,
                             picked *texts) {
    const road_shape row = {1, {shape->dims[0], 0, 0}};
    const uint32_t plain = d->value_count++;
    char type[TEXT_MAX];
    roads_get_type(GROUT_DTYPE_I32, is_along ? &row : shape, type, sizeof type);
    draw_line(d,
              "%%v%" PRIu32 " = rem (add (mul (iota dim(0) : %s), %" PRIu32 "), %" PRIu32
              "), %" PRIu32,
              plain, type, 1 + draw_below(d, 12), draw_below(d, 9), rows);
    (void)snprintf(texts->indices, sizeof texts->indices, "%%v%" PRIu32, plain);
    if (*texts->mask != '\0') {
        const uint32_t value = d->value_count++;
        draw_line(d, "%%v%" PRIu32 " = select %s, %%v%" PRIu32 ", %s", value, texts->mask, plain,
                  draw_below(d, 2) == 0 ? "-1" : "2147483647");
        (void)snprintf(texts->indices, sizeof texts->indices, "%%v%" PRIu32, value);
    }
}

uint32_t roads_come_picked(roads *r, bool has_indices, grout_dtype dtype, const road_shape *shape,
                           char style) {
    char box[TEXT_MAX] = "", promise[32] = "";
    picked texts = {"", ""};
    road_shape array = *shape;
    draw *d = r->d;
    const bool is_along = has_indices && draw_below(d, 2) == 0;
    const bool is_single = !is_along;
    const uint32_t bytes = get_bytes(dtype);
    const uint32_t smem = add_smem(r, dtype, shape, get_piece(dtype, PIECE_MAX));
    if (!has_indices || draw_below(d, 2) == 0) {
        draw_row_mask(d, shape, is_along, &texts);
    }
    if (has_indices) {
        array.dims[0] = 1 + draw_below(d, 2 * shape->dims[0]);
        draw_row_indices(d, shape, is_along, array.dims[0], &texts);
    } else {
        (void)snprintf(box, sizeof box, "[ds(0, %" PRIu32 ")]", shape->dims[0]);
    }
    if (is_single && (bytes < 4 || draw_below(d, 2) == 0)) { /* 4, 8 or 16 bytes of whole rows */
        const uint32_t piece = 4u << draw_below(d, 3);
        (void)snprintf(promise, sizeof promise, " contiguous(%" PRIu32 ")",
                       (piece > 2 * bytes ? piece : 2 * bytes) / bytes);
    }
    const uint32_t input = add_input(r, dtype, &array, style), value = d->value_count++;
    draw_line(d, "%s %%%c%" PRIu32 "%s, %%s%" PRIu32 "%s%s%s%s%s%s",
              has_indices ? "async_gather" : "async_masked_copy", style, input, box, smem,
              has_indices ? ", " : "", texts.indices, *texts.mask == '\0' ? "" : ", ", texts.mask,
              has_indices ? " dim(0)" : "", promise);
    draw_line(d, "async_copy_commit_group");
    draw_line(d, "async_copy_wait 0");
    draw_line(d, "%%v%" PRIu32 " = load %%s%" PRIu32, value, smem);
    return value;
}

/* What memory has only a larger array of, loaded and cut. */
static void come_ragged(roads *r, grout_dtype dtype, const road_shape *shape, char style,
                        uint32_t value) {
    road_shape array = *shape;
    draw *d = r->d;
    char part[TEXT_MAX];
    int at = snprintf(part, sizeof part, "[");
    if (shape->rank == 0) {
        array = (road_shape){1, {2 + 2 * draw_below(d, 3), 0, 0}};
        at +=
            snprintf(part + at, sizeof part - (size_t)at, "%" PRIu32, draw_below(d, array.dims[0]));
    }
    for (uint32_t k = 0; k < shape->rank; k++) {
        at += snprintf(part + at, sizeof part - (size_t)at, "%sds(0, %" PRIu32 ")",
                       k == 0 ? "" : ", ", shape->dims[k]);
    }
    if (shape->rank > 0) {
        array.dims[shape->rank - 1] += 1 + 2 * draw_below(d, 2);
    }
    const uint32_t whole = roads_come(r, roads_draw(r, dtype, &array), dtype, &array, style);
    draw_line(d, "%%v%" PRIu32 " = slice %%v%" PRIu32 "%s]", value, whole, part);
}

uint32_t roads_come(roads *r, road way, grout_dtype dtype, const road_shape *shape, char style) {
    char box[TEXT_MAX];
    road_shape array = *shape;
    draw *d = r->d;
    const uint32_t value = d->value_count++;
    uint32_t input, smem;
    if (is_ragged(dtype, shape)) {
        come_ragged(r, dtype, shape, style, value);
        return value;
    }
    switch (way) {
    case ROAD_TURNED:
        array = turn(shape);
        draw_line(d, "%%v%" PRIu32 " = load %%%c%" PRIu32 ".transpose(1, 0)", value, style,
                  add_input(r, dtype, &array, style));
        break;
    case ROAD_BOX:
        draw_box(d, shape, (reach){.step = get_packed(dtype)}, &array, box);
        draw_line(d, "%%v%" PRIu32 " = load %%%c%" PRIu32 "%s", value, style,
                  add_input(r, dtype, &array, style), box);
        break;
    case ROAD_SMEM:
        input = add_input(r, dtype, shape, style);
        smem = add_smem(r, dtype, shape, ANY_ORDER);
        draw_line(d, "store %%s%" PRIu32 ", (load %%%c%" PRIu32 ")", smem, style, input);
        draw_line(d, "%%v%" PRIu32 " = load %%s%" PRIu32, value, smem);
        break;
    case ROAD_ASYNC_COPY:
        input = add_input(r, dtype, shape, style);
        smem = add_smem(r, dtype, shape, get_piece(dtype, PIECE_MIN));
        draw_line(d, "async_copy %%%c%" PRIu32 ", %%s%" PRIu32, style, input, smem);
        draw_line(d, "async_copy_commit_group");
        draw_line(d, "async_copy_wait 0");
        draw_line(d, "%%v%" PRIu32 " = load %%s%" PRIu32, value, smem);
        break;
    case ROAD_TMA:
        come_by_tma(r, dtype, shape, style, value);
        break;
    case ROAD_ACCUMULATOR:
        come_by_accumulator(r, dtype, shape, style, value);
        break;
    case ROAD_STRAIGHT:
    case ROAD_COUNT:
        if (shape->rank == 0) {
            array = (road_shape){1, {1 + draw_below(d, 3), 0, 0}};
            draw_line(d, "%%v%" PRIu32 " = load %%%c%" PRIu32 "[%" PRIu32 "]", value, style,
                      add_input(r, dtype, &array, style), array.dims[0] - 1);
        } else {
            draw_line(d, "%%v%" PRIu32 " = load %%%c%" PRIu32, value, style,
                      add_input(r, dtype, shape, style));
        }
        break;
    }
    return value;
}

/* ---- out ------------------------------------------------------------------------------------- */

static uint32_t add_output(roads *r, grout_dtype dtype, const road_shape *shape) {
    char type[TEXT_MAX];
    roads_get_type(dtype, shape, type, sizeof type);
    return draw_param(r->d, "out", type);
}

static void go_by_tma(roads *r, grout_dtype dtype, const road_shape *shape, uint32_t value) {
    char box[TEXT_MAX];
    road_shape array;
    draw *d = r->d;
    draw_box(d, shape, (reach){get_elements(dtype, 16), false, true}, &array, box);
    const uint32_t output = add_output(r, dtype, &array);
    const uint32_t smem = add_smem(r, dtype, shape, ENGINES_ONLY);
    const bool is_open = draw_below(d, 2) == 0;
    draw_line(d, "store %%s%" PRIu32 ", %%v%" PRIu32, smem, value);
    draw_line(d, "commit_smem");
    draw_line(d, "copy_smem_to_gmem %%s%" PRIu32 ", %%p%" PRIu32 "%s%s", smem, output, box,
              is_open ? " no_commit_group" : "");
    if (is_open) {
        draw_line(d, "commit_group");
    }
    draw_line(d, "wait_smem_to_gmem 0");
}

/* What memory has no array of, in a type of whole bytes that has each of its numbers. */
static void go_ragged(roads *r, grout_dtype dtype, const road_shape *shape, uint32_t value) {
    const grout_dtype wide = dtype == GROUT_DTYPE_I4   ? GROUT_DTYPE_I8
                             : dtype == GROUT_DTYPE_U4 ? GROUT_DTYPE_U8
                                                       : GROUT_DTYPE_F8E4M3;
    const uint32_t cast = r->d->value_count++;
    draw_line(r->d, "%%v%" PRIu32 " = cast %%v%" PRIu32 " : %s", cast, value,
              grout_dtype_get_info(wide)->text);
    roads_go(r, ROAD_STRAIGHT, wide, shape, cast);
}

void roads_go(roads *r, road way, grout_dtype dtype, const road_shape *shape, uint32_t value) {
    char box[TEXT_MAX], type[TEXT_MAX];
    road_shape array = *shape;
    draw *d = r->d;
    uint32_t number;
    if (is_ragged(dtype, shape)) {
        go_ragged(r, dtype, shape, value);
        return;
    }
    switch (way) {
    case ROAD_TURNED:
        array = turn(shape);
        draw_line(d, "store %%p%" PRIu32 ".transpose(1, 0), %%v%" PRIu32,
                  add_output(r, dtype, &array), value);
        break;
    case ROAD_BOX:
        draw_box(d, shape, (reach){.step = get_packed(dtype)}, &array, box);
        draw_line(d, "store %%p%" PRIu32 "%s, %%v%" PRIu32, add_output(r, dtype, &array), box,
                  value);
        break;
    case ROAD_SMEM:
        number = add_smem(r, dtype, shape, ANY_ORDER);
        draw_line(d, "store %%s%" PRIu32 ", %%v%" PRIu32, number, value);
        draw_line(d, "store %%p%" PRIu32 ", (load %%s%" PRIu32 ")", add_output(r, dtype, shape),
                  number);
        break;
    case ROAD_TMA:
        go_by_tma(r, dtype, shape, value);
        break;
    case ROAD_ACCUMULATOR:
        number = r->object_count++;
        roads_get_type(dtype, shape, type, sizeof type);
        grout_text_add(&r->scratch, "  scratch %%a%" PRIu32 " : acc %s\n", number, type);
        draw_line(d, "acc_store %%a%" PRIu32 ", %%v%" PRIu32, number, value);
        draw_line(d, "store %%p%" PRIu32 ", (acc_load %%a%" PRIu32 ")", add_output(r, dtype, shape),
                  number);
        break;
    case ROAD_STRAIGHT:
    case ROAD_ASYNC_COPY:
    case ROAD_COUNT:
        if (shape->rank == 0) {
            array = (road_shape){1, {1, 0, 0}};
            draw_line(d, "store %%p%" PRIu32 "[0], %%v%" PRIu32, add_output(r, dtype, &array),
                      value);
        } else {
            draw_line(d, "store %%p%" PRIu32 ", %%v%" PRIu32, add_output(r, dtype, shape), value);
        }
        break;
    }
}
