/* draw_table.c - a few cells of the op table a kernel, each an operation for one of its element
 * types, on arrays of drawn shapes and register layouts that come and go on drawn ways.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kernel number n has the cells from CELLS_A_KERNEL * n on, in a shuffled order, so a few hundred
 * kernels in a row have the whole table.
 */
#include "cells.h"
#include "draw.h"
#include "roads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    CELLS_A_KERNEL = 6,
    KEPT_MAX = 16,
    TEXT_MAX = 128,
    COUNT_MAX = 2048, /* elements of an array */
    PARAMS_MAX = 24
};

typedef struct kept {
    uint32_t name;
    grout_dtype dtype;
} kept;

typedef struct table {
    draw d;
    roads r;
    road_shape shape;    /* of most arrays */
    kept list[KEPT_MAX]; /* results of that shape in no particular layout */
    uint32_t count;
    uint32_t warps;
    cell now;
} table;

static const char *get_text(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->text;
}

static bool is_float(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_FLOAT;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Sizes that wgmma's layouts have, rows that TMA moves, or any. */
static road_shape draw_shape(draw *d) {
    const uint32_t way = draw_below(d, 8);
    road_shape s = {2, {64, 8, 0}};
    do {
        if (way < 3) {
            s = (road_shape){2, {64 * (1 + draw_below(d, 3)), 8 * (1 + draw_below(d, 8)), 0}};
        } else if (way < 5) {
            s = (road_shape){2, {1 + draw_below(d, 40), 16 * (1 + draw_below(d, 6)), 0}};
        } else if (way == 5) {
            s = (road_shape){1, {1 + draw_below(d, 600), 0, 0}};
        } else if (way == 6) {
            s = (road_shape){3,
                             {1 + draw_below(d, 4), 1 + draw_below(d, 20), 1 + draw_below(d, 40)}};
        } else {
            s = (road_shape){3, {1 + draw_below(d, 3), 8 * (1 + draw_below(d, 4)), 16}};
        }
    } while (roads_get_count(&s) > COUNT_MAX);
    return s;
}

static bool is_same(const road_shape *a, const road_shape *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void keep(table *t, uint32_t name, grout_dtype dtype) {
    if (t->count < KEPT_MAX) {
        t->list[t->count++] = (kept){name, dtype};
    }
}

/* A new input; or a result of the type and shape, if there is one. */
static uint32_t get_value(table *t, grout_dtype dtype, const road_shape *shape, char style) {
    const uint32_t start = draw_below(&t->d, KEPT_MAX);
    const bool is_full = t->d.param_count >= PARAMS_MAX;
    for (uint32_t i = 0;
         i < t->count && is_same(shape, &t->shape) && (is_full || draw_below(&t->d, 3) == 0); i++) {
        const kept *k = &t->list[(start + i) % t->count];
        if (k->dtype == dtype) {
            return k->name;
        }
    }
    return roads_come(&t->r, roads_draw(&t->r, dtype, shape), dtype, shape, style);
}

/* Mostly every bit pattern. */
static char draw_style(table *t) {
    return "wwwwfp"[draw_below(&t->d, 6)];
}

/* Where sums and products are rounded, no patterns. */
static char draw_rounded_style(table *t, bool is_rounded) {
    if (!is_rounded) {
        return draw_style(t);
    }
    return "pf"[draw_below(&t->d, 2)];
}

static void store(table *t, uint32_t value, grout_dtype dtype, const road_shape *shape) {
    roads_go(&t->r, roads_draw(&t->r, dtype, shape), dtype, shape, value);
}

/* The same of a value that a layout_cast holds in another layout than an accumulator has. */
static void store_held(table *t, uint32_t value, grout_dtype dtype, const road_shape *shape) {
    road way;
    do {
        way = roads_draw(&t->r, dtype, shape);
    } while (way == ROAD_ACCUMULATOR);
    if (grout_dtype_get_info(dtype)->packed > 1) { /* one lane has to have both halves of a byte */
        const uint32_t strided = t->d.value_count++;
        draw_line(&t->d, "%%v%" PRIu32 " = layout_cast %%v%" PRIu32 " wg_strided", strided, value);
        value = strided;
    }
    roads_go(&t->r, way, dtype, shape, value);
}

/* ---- register layouts ------------------------------------------------------------------------ */

/* What layout_cast makes of a matrix whose rows and columns are multiples of these. */
static const struct {
    const char *name;
    uint32_t rows, columns;
} layouts[] = {{"wg_strided", 1, 1},
               {"wgmma", 64, 8},
               {"layout(wgmma_transposed)", 64, 8},
               {"wgmma_8bit", 64, 16},
               {"layout(wgmma_upcast_2x)", 64, 16},
               {"layout(wgmma_upcast_4x)", 64, 32},
               {"layout(wgmma_metadata)", 64, 4},
               {"layout(wgmma_metadata_8bit)", 64, 4},
               {"layout(mma_lhs_32bit)", 64, 8},
               {"layout(mma_rhs_32bit)", 8, 8},
               {"layout(mma_rhs_16bit)", 16, 8},
               {"layout(mma_rhs_8bit)", 32, 8},
               {"layout(tmem)", 128, 1}}; /* the last one: of four warps alone */
enum { LAYOUT_COUNT = sizeof layouts / sizeof *layouts };

/* A layout that the shape has. */
static const char *draw_layout(table *t, const road_shape *shape) {
    const uint32_t *dims = shape->dims;
    uint32_t which = 0;
    if (shape->rank == 2) {
        do {
            which = draw_below(&t->d, t->warps < 4 ? LAYOUT_COUNT - 1 : LAYOUT_COUNT);
        } while (dims[0] % layouts[which].rows != 0 || dims[1] % layouts[which].columns != 0);
    }
    if (shape->rank == 1 && draw_below(&t->d, 2) == 0) {
        return dims[0] % 64 == 0 && draw_below(&t->d, 2) == 0 ? "wgmma_row"
               : dims[0] % 8 == 0                             ? "wgmma_col"
                                                              : layouts[0].name;
    }
    return layouts[which].name;
}

static void draw_layout_cast(table *t) {
    const bool is_row = draw_below(&t->d, 4) == 0;
    const road_shape row = {1, {64 * (1 + draw_below(&t->d, 3)), 0, 0}};
    const road_shape *shape = is_row ? &row : &t->shape;
    const uint32_t from =
        roads_come(&t->r, roads_draw(&t->r, t->now.from, shape), t->now.from, shape, draw_style(t));
    const char *there = draw_layout(t, shape), *further = draw_layout(t, shape);
    const uint32_t value = t->d.value_count++;
    if (draw_below(&t->d, 2) == 0) {
        draw_line(&t->d, "%%v%" PRIu32 " = layout_cast (layout_cast %%v%" PRIu32 " %s) %s", value,
                  from, there, further);
    } else {
        draw_line(&t->d, "%%v%" PRIu32 " = layout_cast %%v%" PRIu32 " %s", value, from, there);
    }
    store_held(t, value, t->now.from, shape);
}

/* ---- element by element ---------------------------------------------------------------------- */

/* Shifts by any number would shift everything out; an amount is small in half of them. */
static char draw_operand_style(table *t, uint32_t k) {
    const grout_op_info *info = grout_op_get_info(t->now.opcode);
    const bool is_tame = (k > 0 && !is_float(t->now.from)) || info->ulp > 0;
    if (is_tame && draw_below(&t->d, 2) == 0) {
        return 'f';
    }
    return draw_style(t);
}

static void draw_elementwise(table *t) {
    const grout_op_info *info = grout_op_get_info(t->now.opcode);
    const bool is_select = info->rule == GROUT_RULE_SELECT;
    const bool is_compare = info->rule == GROUT_RULE_COMPARE;
    const char *layout = draw_below(&t->d, 3) == 0 ? draw_layout(t, &t->shape) : NULL;
    const road_shape scalar = {0, {0, 0, 0}};
    char operands[256];
    int size = 0;
    for (uint32_t k = 0; info->operands[k] != '\0'; k++) {
        const grout_dtype dtype = is_select && k == 0 ? GROUT_DTYPE_BOOL : t->now.from;
        const bool is_scalar = k > 0 && draw_below(&t->d, 6) == 0;
        const char *comma = k == 0 ? "" : ", ";
        const uint32_t name =
            layout != NULL && !is_scalar
                ? roads_come(&t->r, roads_draw(&t->r, dtype, &t->shape), dtype, &t->shape,
                             draw_operand_style(t, k))
                : get_value(t, dtype, is_scalar ? &scalar : &t->shape, draw_operand_style(t, k));
        size += layout != NULL && !is_scalar
                    ? snprintf(operands + size, sizeof operands - (size_t)size,
                               "%s(layout_cast %%v%" PRIu32 " %s)", comma, name, layout)
                    : snprintf(operands + size, sizeof operands - (size_t)size, "%s%%v%" PRIu32,
                               comma, name);
    }
    const uint32_t value = t->d.value_count++;
    const grout_dtype result = is_compare ? GROUT_DTYPE_BOOL : t->now.from;
    const bool is_fast = (info->attrs & GROUT_ATTR_BIT(APPROX)) != 0 && draw_below(&t->d, 8) == 0;
    draw_line(&t->d, "%%v%" PRIu32 " = %s %s%s", value, info->text, operands,
              is_fast ? " approx" : "");
    if (layout != NULL) {
        store_held(t, value, result, &t->shape);
        return;
    }
    keep(t, value, result);
    store(t, value, result, &t->shape);
}

/* cast and bitcast */
static void draw_conversion(table *t) {
    const uint32_t from = get_value(t, t->now.from, &t->shape, draw_style(t));
    const uint32_t value = t->d.value_count++;
    draw_line(&t->d, "%%v%" PRIu32 " = %s %%v%" PRIu32 " : %s", value,
              grout_op_get_info(t->now.opcode)->text, from, get_text(t->now.to));
    keep(t, value, t->now.to);
    store(t, value, t->now.to, &t->shape);
}

/* ---- along dimensions ------------------------------------------------------------------------ */

/* Sums of floats of every size say nothing, and neither do long products. */
static void draw_reduce(table *t) {
    const grout_op_info *info = grout_op_get_info(t->now.opcode);
    const bool is_rounded = is_float(t->now.from) && strchr(info->expression, '(') != NULL &&
                            (strstr(info->expression, "ADD") || strstr(info->expression, "MUL"));
    const uint32_t way = draw_below(&t->d, t->shape.rank + 1u);
    const uint32_t from = roads_come(&t->r, roads_draw(&t->r, t->now.from, &t->shape), t->now.from,
                                     &t->shape, draw_rounded_style(t, is_rounded));
    const uint32_t value = t->d.value_count++;
    road_shape result = {0, {0, 0, 0}};
    if (way == t->shape.rank) {
        draw_line(&t->d, "%%v%" PRIu32 " = %s %%v%" PRIu32, value, info->text, from);
    } else {
        for (uint32_t k = 0; k < t->shape.rank; k++) {
            if (k != way) {
                result.dims[result.rank++] = t->shape.dims[k];
            }
        }
        draw_line(&t->d, "%%v%" PRIu32 " = %s %%v%" PRIu32 " dim(%" PRIu32 ")", value, info->text,
                  from, way);
    }
    store(t, value, t->now.from, &result);
}

/* A scalar, or some of the dimensions from one on, of which one may have the size 1. */
static void draw_broadcast(table *t) {
    const grout_dtype dtype = t->now.from;
    const uint32_t first = draw_below(&t->d, t->shape.rank);
    const uint32_t rank = draw_below(&t->d, t->shape.rank - first + 1);
    road_shape from = {rank, {0, 0, 0}};
    char type[TEXT_MAX], dim[32] = "";
    for (uint32_t k = 0; k < rank; k++) {
        from.dims[k] = draw_below(&t->d, 4) == 0 ? 1 : t->shape.dims[first + k];
    }
    if (rank > 0) {
        (void)snprintf(dim, sizeof dim, " dim(%" PRIu32 ")", first);
    }
    const uint32_t source =
        roads_come(&t->r, roads_draw(&t->r, dtype, &from), dtype, &from, draw_style(t));
    const uint32_t value = t->d.value_count++;
    roads_get_type(dtype, &t->shape, type, sizeof type);
    draw_line(&t->d, "%%v%" PRIu32 " = broadcast %%v%" PRIu32 "%s : %s", value, source, dim, type);
    store(t, value, dtype, &t->shape);
}

static void draw_iota(table *t) {
    char type[TEXT_MAX];
    const uint32_t value = t->d.value_count++;
    roads_get_type(t->now.from, &t->shape, type, sizeof type);
    draw_line(&t->d, "%%v%" PRIu32 " = iota dim(%" PRIu32 ") : %s", value,
              draw_below(&t->d, t->shape.rank), type);
    keep(t, value, t->now.from);
    store(t, value, t->now.from, &t->shape);
}

/* ---- parts of arrays ------------------------------------------------------------------------- */

/* A run of a dimension: in units that register layouts keep together, or anywhere. */
static uint32_t draw_run(table *t, uint32_t extent, uint32_t *start) {
    const uint32_t units[] = {64, 8, 1}, unit = units[draw_below(&t->d, 3)];
    const uint32_t step = extent % unit == 0 ? unit : 1;
    const uint32_t size = step * (1 + draw_below(&t->d, extent / step));
    *start = step * draw_below(&t->d, (extent - size) / step + 1);
    return size;
}

static void draw_slice(table *t) {
    const uint32_t from = get_value(t, t->now.from, &t->shape, draw_style(t));
    const uint32_t value = t->d.value_count++;
    road_shape result = {0, {0, 0, 0}};
    char text[TEXT_MAX];
    int at = 0;
    for (uint32_t k = 0; k < t->shape.rank; k++) {
        const char *comma = k == 0 ? "" : ", ";
        const uint32_t way = draw_below(&t->d, 4);
        uint32_t start = 0, size = t->shape.dims[k];
        if (way == 0) {
            at += snprintf(text + at, sizeof text - (size_t)at, "%s%" PRIu32, comma,
                           draw_below(&t->d, size));
            continue;
        }
        if (way == 1) {
            at += snprintf(text + at, sizeof text - (size_t)at, "%s:", comma);
        } else {
            size = draw_run(t, t->shape.dims[k], &start);
            at += snprintf(text + at, sizeof text - (size_t)at, "%sds(%" PRIu32 ", %" PRIu32 ")",
                           comma, start, size);
        }
        result.dims[result.rank++] = size;
    }
    draw_line(&t->d, "%%v%" PRIu32 " = slice %%v%" PRIu32 "[%s]", value, from, text);
    store(t, value, t->now.from, &result);
}

static void draw_reshape(table *t) {
    const uint32_t from = get_value(t, t->now.from, &t->shape, draw_style(t));
    const uint32_t value = t->d.value_count++, count = roads_get_count(&t->shape);
    const uint32_t factors[] = {1, 2, 3, 4, 8, 64}, factor = factors[draw_below(&t->d, 6)];
    road_shape result = {1, {count, 0, 0}};
    char type[TEXT_MAX];
    if (count % factor == 0 && draw_below(&t->d, 4) > 0) {
        const uint32_t rest = count / factor;
        result = draw_below(&t->d, 2) == 0 ? (road_shape){2, {rest, factor, 0}}
                                           : (road_shape){3, {factor, 1, rest}};
    }
    roads_get_type(t->now.from, &result, type, sizeof type);
    draw_line(&t->d, "%%v%" PRIu32 " = reshape %%v%" PRIu32 " : %s", value, from, type);
    store(t, value, t->now.from, &result);
}

static void draw_transpose(table *t) {
    const uint32_t from = get_value(t, t->now.from, &t->shape, draw_style(t));
    const uint32_t value = t->d.value_count++, rank = t->shape.rank;
    uint32_t order[] = {0, 1, 2};
    road_shape result = {rank, {0, 0, 0}};
    char text[TEXT_MAX];
    int at = 0;
    for (uint32_t k = 0; k < rank; k++) {
        const uint32_t other = k + draw_below(&t->d, rank - k), dim = order[other];
        order[other] = order[k];
        order[k] = dim;
        result.dims[k] = t->shape.dims[dim];
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%" PRIu32, k == 0 ? "" : ", ", dim);
    }
    draw_line(&t->d, "%%v%" PRIu32 " = transpose %%v%" PRIu32 " perm(%s)", value, from, text);
    store(t, value, t->now.from, &result);
}

/* Two or three arrays whose sizes differ in one dimension. */
static void draw_concatenate(table *t) {
    const uint32_t dim = draw_below(&t->d, t->shape.rank), parts = 2 + draw_below(&t->d, 2);
    const uint32_t from = get_value(t, t->now.from, &t->shape, draw_style(t));
    road_shape result = t->shape;
    char text[TEXT_MAX];
    int at = snprintf(text, sizeof text, "%%v%" PRIu32, from);
    for (uint32_t i = 1; i < parts; i++) {
        road_shape part = t->shape;
        const uint32_t unit = part.dims[dim] % 64 == 0 ? 64 : part.dims[dim] % 8 == 0 ? 8 : 1;
        part.dims[dim] = unit * (1 + draw_below(&t->d, 2));
        result.dims[dim] += part.dims[dim];
        at += snprintf(text + at, sizeof text - (size_t)at, ", %%v%" PRIu32,
                       get_value(t, t->now.from, &part, draw_style(t)));
    }
    const uint32_t value = t->d.value_count++;
    draw_line(&t->d, "%%v%" PRIu32 " = concatenate %s dim(%" PRIu32 ")", value, text, dim);
    store(t, value, t->now.from, &result);
}

/* ---- scans ----------------------------------------------------------------------------------- */

/* As reductions, with each end of what is omitted. */
static void draw_scan(table *t) {
    const grout_op_info *info = grout_op_get_info(t->now.opcode);
    const bool is_rounded = is_float(t->now.from) && t->now.opcode < GROUT_OP_CUMMAX;
    const uint32_t dim = draw_below(&t->d, t->shape.rank);
    const char style = draw_rounded_style(t, is_rounded);
    const uint32_t from =
        roads_come(&t->r, roads_draw(&t->r, t->now.from, &t->shape), t->now.from, &t->shape, style);
    const uint32_t value = t->d.value_count++;
    draw_line(&t->d, "%%v%" PRIu32 " = %s %%v%" PRIu32 " dim(%" PRIu32 ")%s%s", value, info->text,
              from, dim, draw_below(&t->d, 3) == 0 ? " reverse" : "",
              draw_below(&t->d, 3) == 0 ? " exclusive" : "");
    store(t, value, t->now.from, &t->shape);
}

/* ---- masks and indices ----------------------------------------------------------------------- */

/* Names a mask of the shape. *rows is how many rows an array must have: fewer than the shape if the
 * mask leaves the last ones out. */
static uint32_t draw_mask(table *t, uint32_t *rows) {
    char type[TEXT_MAX];
    *rows = t->shape.dims[0];
    if (draw_below(&t->d, 2) == 0) {
        return roads_come(&t->r, ROAD_STRAIGHT, GROUT_DTYPE_BOOL, &t->shape, 'w');
    }
    const uint32_t mask = t->d.value_count++;
    *rows = 1 + draw_below(&t->d, *rows);
    roads_get_type(GROUT_DTYPE_I32, &t->shape, type, sizeof type);
    draw_line(&t->d, "%%v%" PRIu32 " = lt (iota dim(0) : %s), %" PRIu32, mask, type, *rows);
    return mask;
}

/* The whole shape, in an array that may have fewer rows. */
static void get_whole_box(const road_shape *shape, char *text, size_t size) {
    (void)snprintf(text, size, "[ds(0, %" PRIu32 ")]", shape->dims[0]);
}

static void draw_masked(table *t) {
    const bool is_store = grout_op_get_info(t->now.opcode)->results == 0;
    road_shape array = t->shape;
    char type[TEXT_MAX], box[TEXT_MAX];
    const uint32_t mask = draw_mask(t, &array.dims[0]);
    roads_get_type(t->now.from, &array, type, sizeof type);
    get_whole_box(&t->shape, box, sizeof box);
    if (is_store) {
        const uint32_t value = get_value(t, t->now.from, &t->shape, draw_style(t));
        draw_line(&t->d, "%s %%p%" PRIu32 "%s, %%v%" PRIu32 ", %%v%" PRIu32,
                  grout_op_get_info(t->now.opcode)->text, draw_param(&t->d, "out", type), box,
                  value, mask);
        return;
    }
    const char style = draw_style(t);
    const uint32_t input = draw_input(&t->d, style, type), value = t->d.value_count++;
    draw_line(&t->d, "%%v%" PRIu32 " = %s %%%c%" PRIu32 "%s, %%v%" PRIu32, value,
              grout_op_get_info(t->now.opcode)->text, style, input, box, mask);
    keep(t, value, t->now.from);
    store(t, value, t->now.from, &t->shape);
}

/* Indices of a dimension of this many elements, all different along dimension along of their own
 * shape, or any. Returns their name. */
static uint32_t draw_indices(table *t, const road_shape *shape, uint32_t along, uint32_t extent,
                             bool are_different) {
    static const uint32_t steps[] = {1, 7, 11, 13};
    uint32_t step = steps[draw_below(&t->d, 4)];
    char type[TEXT_MAX];
    if (!are_different && draw_below(&t->d, 2) == 0) {
        const uint32_t any = roads_come(&t->r, ROAD_STRAIGHT, GROUT_DTYPE_U16, shape, 'w');
        const uint32_t indices = t->d.value_count++;
        draw_line(&t->d, "%%v%" PRIu32 " = rem (cast %%v%" PRIu32 " : i32), %" PRIu32, indices, any,
                  extent);
        return indices;
    }
    const uint32_t indices = t->d.value_count++;
    step = extent % step == 0 ? 1 : step;
    roads_get_type(GROUT_DTYPE_I32, shape, type, sizeof type);
    draw_line(&t->d,
              "%%v%" PRIu32 " = rem (add (mul (iota dim(%" PRIu32 ") : %s), %" PRIu32 "), %" PRIu32
              "), %" PRIu32,
              indices, along, type, step, draw_below(&t->d, extent), extent);
    return indices;
}

/* gather, scatter and the atomics of that form: indices for whole rows or for single elements. The
 * memory has more elements along the dimension than the value. */
static void draw_indexed(table *t) {
    const grout_op_info *info = grout_op_get_info(t->now.opcode);
    const bool is_gather = info->results > 0, is_atomic = info->update != GROUT_UPDATE_NONE;
    const uint32_t rank = t->shape.rank, dim = draw_below(&t->d, rank);
    const bool is_by_rows = rank > 1 && draw_below(&t->d, 2) == 0;
    const bool are_different = !is_gather && (!is_atomic || is_float(t->now.from) ||
                                              info->update == GROUT_UPDATE_EXCHANGE);
    const road_shape row = {1, {t->shape.dims[dim], 0, 0}};
    const road_shape *index_shape = is_by_rows ? &row : &t->shape;
    road_shape array = t->shape;
    char type[TEXT_MAX], mask[32] = "", along[32] = "";
    array.dims[dim] += draw_below(&t->d, 9);
    const uint32_t indices =
        draw_indices(t, index_shape, is_by_rows ? 0 : dim, array.dims[dim], are_different);
    if (draw_below(&t->d, 3) == 0) {
        (void)snprintf(mask, sizeof mask, ", %%v%" PRIu32,
                       roads_come(&t->r, ROAD_STRAIGHT, GROUT_DTYPE_BOOL,
                                  draw_below(&t->d, 2) == 0 ? index_shape : &t->shape, 'w'));
    }
    if (rank > 1) {
        (void)snprintf(along, sizeof along, " dim(%" PRIu32 ")", dim);
    }
    roads_get_type(t->now.from, &array, type, sizeof type);
    if (is_gather) {
        const char style = draw_style(t);
        const uint32_t input = draw_input(&t->d, style, type), value = t->d.value_count++;
        draw_line(&t->d, "%%v%" PRIu32 " = %s %%%c%" PRIu32 ", %%v%" PRIu32 "%s%s", value,
                  info->text, style, input, indices, mask, along);
        keep(t, value, t->now.from);
        store(t, value, t->now.from, &t->shape);
        return;
    }
    char style = 'p';
    if (!is_atomic) {
        style = draw_style(t);
    }
    const uint32_t value = get_value(t, t->now.from, &t->shape, style);
    draw_line(&t->d, "%s %%p%" PRIu32 ", %%v%" PRIu32 ", %%v%" PRIu32 "%s%s", info->text,
              draw_param(&t->d, is_atomic ? "inout" : "out", type), indices, value, mask, along);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* In and out on ways that have the operation, if there are any of its type and shape. */
static void draw_move(table *t) {
    const grout_op_info *info = grout_op_get_info(t->now.opcode);
    const bool is_descriptor = info->rule == GROUT_RULE_DESCRIPTOR;
    const bool is_tma = is_descriptor || strchr(info->operands, 'G') != NULL;
    const bool is_async = info->form == GROUT_FORM_COPY;
    const bool is_accumulator = info->types == GROUT_TYPES_ACC;
    const road way = is_tma           ? ROAD_TMA
                     : is_async       ? ROAD_ASYNC_COPY
                     : is_accumulator ? ROAD_ACCUMULATOR
                                      : ROAD_COUNT;
    const grout_dtype_info *type = grout_dtype_get_info(t->now.from);
    const uint32_t row = 16u * type->packed / type->bytes;
    road_shape shape = {2, {64, row * (1 + draw_below(&t->d, 4)), 0}};
    shape.dims[1] = is_accumulator ? 8 * (1 + draw_below(&t->d, 4)) : shape.dims[1];
    if (way == ROAD_COUNT) {
        shape = t->shape;
    }
    const road in = way == ROAD_COUNT ? roads_draw(&t->r, t->now.from, &shape) : way;
    const road out = way == ROAD_COUNT ? roads_draw(&t->r, t->now.from, &shape) : way;
    if (!roads_can_take(&t->r, in, t->now.from, &shape)) {
        return;
    }
    t->r.wants_made = info->form == GROUT_FORM_MADE_DESCRIPTOR;
    t->r.wants_descriptor = is_descriptor && !t->r.wants_made;
    t->r.wants_prefetch = info->form == GROUT_FORM_PREFETCH;
    const uint32_t value = roads_come(&t->r, in, t->now.from, &shape, draw_style(t));
    t->r.wants_descriptor = t->r.wants_made = t->r.wants_prefetch = false;
    roads_go(&t->r, roads_can_take(&t->r, out, t->now.from, &shape) ? out : ROAD_STRAIGHT,
             t->now.from, &shape, value);
}

/* A copy of what indices or a mask pick: of rows that are whole pieces. */
static void draw_picked_copy(table *t) {
    const grout_op_info *info = grout_op_get_info(t->now.opcode);
    const uint32_t row = 16u / grout_dtype_get_info(t->now.from)->bytes;
    const road_shape shape = {2, {1 + draw_below(&t->d, 64), row * (1 + draw_below(&t->d, 4)), 0}};
    if (!roads_can_take(&t->r, ROAD_ASYNC_COPY, t->now.from, &shape)) {
        return;
    }
    const uint32_t value = roads_come_picked(&t->r, info->form == GROUT_FORM_GATHER_COPY,
                                             t->now.from, &shape, draw_style(t));
    store(t, value, t->now.from, &shape);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void draw_cell(table *t) {
    switch ((int)grout_op_get_info(t->now.opcode)->form) {
    case GROUT_FORM_UNARY:
    case GROUT_FORM_BINARY:
    case GROUT_FORM_TERNARY:
    case GROUT_FORM_COMPARE:
    case GROUT_FORM_TEST:
    case GROUT_FORM_MATH:
    case GROUT_FORM_MATH_BINARY:
    case GROUT_FORM_SELECT:
        draw_elementwise(t);
        break;
    case GROUT_FORM_CONVERT:
    case GROUT_FORM_BITCAST:
        draw_conversion(t);
        break;
    case GROUT_FORM_REDUCE:
        draw_reduce(t);
        break;
    case GROUT_FORM_SCAN:
        draw_scan(t);
        break;
    case GROUT_FORM_MASKED_LOAD:
    case GROUT_FORM_MASKED_STORE:
        draw_masked(t);
        break;
    case GROUT_FORM_GATHER:
    case GROUT_FORM_SCATTER:
        draw_indexed(t);
        break;
    case GROUT_FORM_MASKED_COPY:
    case GROUT_FORM_GATHER_COPY:
        draw_picked_copy(t);
        break;
    case GROUT_FORM_BROADCAST:
        draw_broadcast(t);
        break;
    case GROUT_FORM_IOTA:
        draw_iota(t);
        break;
    case GROUT_FORM_SLICE:
        draw_slice(t);
        break;
    case GROUT_FORM_RESHAPE:
        draw_reshape(t);
        break;
    case GROUT_FORM_TRANSPOSE:
        draw_transpose(t);
        break;
    case GROUT_FORM_CONCATENATE:
        draw_concatenate(t);
        break;
    case GROUT_FORM_LAYOUT:
        draw_layout_cast(t);
        break;
    case GROUT_FORM_LOAD:
    case GROUT_FORM_STORE:
    case GROUT_FORM_COPY:
    case GROUT_FORM_COPY_IN:
    case GROUT_FORM_COPY_OUT:
    case GROUT_FORM_PREFETCH:
    case GROUT_FORM_DESCRIPTOR:
    case GROUT_FORM_MADE_DESCRIPTOR:
        draw_move(t);
        break;
    default: /* cells_print_unseen says so */
        break;
    }
}

/* Every cell once, in an order in which those of one operation are far apart. */
static uint32_t shuffle(uint32_t number, uint32_t count) {
    static const uint32_t steps[] = {607, 613, 617}; /* primes: one of them does not divide */
    uint32_t step = steps[0];
    for (uint32_t i = 0; i + 1 < sizeof steps / sizeof *steps && count % step == 0; i++) {
        step = steps[i + 1];
    }
    return (uint32_t)((uint64_t)number * step % count);
}

void draw_table(uint64_t seed, grout_text *out) {
    const cells_list *all = cells_get_list(DRAWN_BY_TABLE);
    table t = {.d = {.state = seed}, .warps = draw_warps(seed)};
    t.r.d = &t.d;
    t.shape = draw_shape(&t.d);
    for (uint32_t i = 0; i < CELLS_A_KERNEL; i++) {
        const uint32_t number = (uint32_t)((seed * CELLS_A_KERNEL + i) % all->count);
        t.now = all->cells[shuffle(number, all->count)];
        draw_cell(&t);
    }
    if (t.r.has_barrier) {
        grout_text_add(&t.r.scratch, "  scratch %%full : barrier[1]\n");
    }
    if (t.d.param_count > 0) {
        draw_finish_thread(&t.d, t.r.scratch.data == NULL ? "" : t.r.scratch.data, t.warps, out);
    }
    grout_text_free(&t.r.scratch);
}
