/* draw_values.c - kernels of element-wise operations, casts, broadcasts, reductions and loops,
 * drawn from the op table: an operation that joins the table with a known form is drawn from then
 * on. SPDX-License-Identifier: Apache-2.0 */
#include "cells.h"
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VALUES_MAX 96

typedef enum shape { SCALAR, ROW, COLUMN, FULL, SHAPE_COUNT } shape;

typedef struct value {
    uint32_t name;
    grout_dtype dtype;
    shape shape;
} value;

typedef struct values {
    draw d;
    value list[VALUES_MAX];
    uint32_t count;
    uint32_t rows, columns;
} values;

/* bool stands last: it has no input. The types that most kernels compute in stand twice. */
static const grout_dtype dtypes[] = {
    GROUT_DTYPE_F32, GROUT_DTYPE_I32,    GROUT_DTYPE_F16,    GROUT_DTYPE_BF16,   GROUT_DTYPE_F32,
    GROUT_DTYPE_I32, GROUT_DTYPE_U32,    GROUT_DTYPE_F16,    GROUT_DTYPE_BF16,   GROUT_DTYPE_I8,
    GROUT_DTYPE_U8,  GROUT_DTYPE_I16,    GROUT_DTYPE_U16,    GROUT_DTYPE_I64,    GROUT_DTYPE_U64,
    GROUT_DTYPE_F64, GROUT_DTYPE_F8E4M3, GROUT_DTYPE_F8E5M2, GROUT_DTYPE_F8E8M0, GROUT_DTYPE_I4,
    GROUT_DTYPE_U4,  GROUT_DTYPE_F4E2M1, GROUT_DTYPE_F6E2M3, GROUT_DTYPE_F6E3M2, GROUT_DTYPE_BOOL};
enum { DTYPE_COUNT = sizeof dtypes / sizeof *dtypes };

static const char *get_text(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->text;
}

static void get_type(const values *v, grout_dtype dtype, shape of, char *text, size_t size) {
    const char *name = get_text(dtype);
    if (of == FULL) {
        (void)snprintf(text, size, "%s[%" PRIu32 ", %" PRIu32 "]", name, v->rows, v->columns);
    } else if (of == SCALAR) {
        (void)snprintf(text, size, "%s", name);
    } else {
        (void)snprintf(text, size, "%s[%" PRIu32 "]", name, of == ROW ? v->rows : v->columns);
    }
}

static uint32_t keep(values *v, grout_dtype dtype, shape of) {
    const uint32_t name = v->d.value_count++;
    if (v->count < VALUES_MAX) {
        v->list[v->count++] = (value){name, dtype, of};
    }
    return name;
}

/* A value of the type and shape, or if none is there one that is cast for it. */
static uint32_t find(values *v, grout_dtype dtype, shape of) {
    uint32_t any = UINT32_MAX, start = draw_below(&v->d, v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        const value *candidate = &v->list[(start + i) % v->count];
        if (candidate->shape == of && candidate->dtype == dtype) {
            return candidate->name;
        }
        const bool can_be_cast = cells_has((cell){GROUT_OP_CAST, candidate->dtype, dtype});
        any = candidate->shape == of && can_be_cast ? candidate->name : any;
    }
    if (any == UINT32_MAX) {
        return UINT32_MAX;
    }
    const uint32_t name = keep(v, dtype, of);
    draw_line(&v->d, "%%v%" PRIu32 " = cast %%v%" PRIu32 " : %s", name, any, get_text(dtype));
    return name;
}

static void draw_elementwise(values *v, grout_opcode opcode, const grout_op_info *info) {
    const grout_dtype dtype = dtypes[draw_below(&v->d, DTYPE_COUNT)];
    const shape of = (shape)draw_below(&v->d, SHAPE_COUNT);
    const size_t count = strlen(info->operands);
    uint32_t names[3] = {0, 0, 0};
    if (!grout_type_rule_takes((grout_type_rule)info->types, dtype)) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const bool is_condition = opcode == GROUT_OP_SELECT && k == 0;
        const bool is_scalar =
            k > 0 && !is_condition && opcode != GROUT_OP_SELECT && draw_below(&v->d, 6) == 0;
        names[k] = find(v, is_condition ? GROUT_DTYPE_BOOL : dtype, is_scalar ? SCALAR : of);
        if (names[k] == UINT32_MAX) {
            return;
        }
    }
    const bool is_compare = info->rule == GROUT_RULE_COMPARE;
    const uint32_t name = keep(v, is_compare ? GROUT_DTYPE_BOOL : dtype, of);
    char operands[128];
    int size = snprintf(operands, sizeof operands, "%%v%" PRIu32, names[0]);
    for (size_t k = 1; k < count; k++) {
        size +=
            snprintf(operands + size, sizeof operands - (size_t)size, ", %%v%" PRIu32, names[k]);
    }
    /* approx changes nothing on the CPU */
    const bool is_fast = (info->attrs & GROUT_ATTR_BIT(APPROX)) != 0 && draw_below(&v->d, 4) == 0;
    draw_line(&v->d, "%%v%" PRIu32 " = %s %s%s", name, info->text, operands,
              is_fast ? " approx" : "");
}

static void draw_cast(values *v) {
    const value from = v->list[draw_below(&v->d, v->count)];
    const grout_dtype to = dtypes[draw_below(&v->d, DTYPE_COUNT)];
    if (!cells_has((cell){GROUT_OP_CAST, from.dtype, to})) {
        return;
    }
    const uint32_t name = keep(v, to, from.shape);
    draw_line(&v->d, "%%v%" PRIu32 " = cast %%v%" PRIu32 " : %s", name, from.name, get_text(to));
}

/* To a type of the same size; numbers have one of their own, a bool has none. */
static void draw_bitcast(values *v) {
    const value from = v->list[draw_below(&v->d, v->count)];
    const grout_dtype to = dtypes[draw_below(&v->d, DTYPE_COUNT - 1)];
    const bool is_same_size =
        grout_dtype_get_info(from.dtype)->bits == grout_dtype_get_info(to)->bits;
    if (from.dtype == GROUT_DTYPE_BOOL || !is_same_size) {
        return;
    }
    const uint32_t name = keep(v, to, from.shape);
    draw_line(&v->d, "%%v%" PRIu32 " = bitcast %%v%" PRIu32 " : %s", name, from.name, get_text(to));
}

static void draw_broadcast(values *v) {
    const value from = v->list[draw_below(&v->d, v->count)];
    char type[64];
    if (from.shape == FULL) {
        return;
    }
    get_type(v, from.dtype, FULL, type, sizeof type);
    const uint32_t name = keep(v, from.dtype, FULL);
    draw_line(&v->d, "%%v%" PRIu32 " = broadcast %%v%" PRIu32 "%s : %s", name, from.name,
              from.shape == ROW      ? " dim(0)"
              : from.shape == COLUMN ? " dim(1)" /* in a square it has to be written */
                                     : "",
              type);
}

static void draw_reduce(values *v, const grout_op_info *info) {
    static const char *const dims[] = {"", " dim(0)", " dim(1)"};
    static const shape results[] = {SCALAR, COLUMN, ROW};
    const grout_dtype dtype = dtypes[draw_below(&v->d, DTYPE_COUNT)];
    const uint32_t from = find(v, dtype, FULL), way = draw_below(&v->d, 3);
    if (from == UINT32_MAX || !grout_type_rule_takes((grout_type_rule)info->types, dtype)) {
        return;
    }
    const uint32_t name = keep(v, dtype, results[way]);
    draw_line(&v->d, "%%v%" PRIu32 " = %s %%v%" PRIu32 "%s", name, info->text, from, dims[way]);
}

/* No effect on values. To the layout that wgmma and reductions want, or to another and back: who
 * held them in that one for good could not reduce them on the GPU (layout-conflict). */
static void draw_layout_cast(values *v) {
    static const char *const layouts[SHAPE_COUNT] = {NULL, "wgmma_row", "wgmma_col", "wgmma"};
    const value from = v->list[draw_below(&v->d, v->count)];
    if (from.shape == SCALAR) {
        return;
    }
    const uint32_t way = draw_below(&v->d, 4);
    const char *there = "wg_strided";
    if (from.shape == FULL && way == 1) {
        there = v->columns % 32 == 0   ? "layout(wgmma_upcast_4x)"
                : v->columns % 16 == 0 ? "layout(wgmma_upcast_2x)"
                                       : "layout(wgmma_transposed)";
    }
    const uint32_t bytes = grout_dtype_get_info(from.dtype)->bytes;
    const bool is_small = v->rows * v->columns <= 4096; /* b of an mma takes four times as much */
    if (from.shape == FULL && way == 0 && is_small && draw_below(&v->d, 2) == 0) {
        there = bytes == 4   ? "layout(mma_rhs_32bit)"
                : bytes == 2 ? "layout(mma_rhs_16bit)"
                             : "layout(mma_lhs_32bit)";
    }
    const uint32_t name = keep(v, from.dtype, from.shape);
    if (way < 2) {
        draw_line(&v->d, "%%v%" PRIu32 " = layout_cast (layout_cast %%v%" PRIu32 " %s) %s", name,
                  from.name, there, layouts[from.shape]);
    } else {
        draw_line(&v->d, "%%v%" PRIu32 " = layout_cast %%v%" PRIu32 " %s", name, from.name,
                  layouts[from.shape]);
    }
}

/* "ds(64, 64)", ":" or nothing special: a run of a dimension that keeps this many elements. */
static void draw_run(values *v, uint32_t extent, uint32_t size, char *text, size_t text_size) {
    if (size == extent && draw_below(&v->d, 2) == 0) {
        (void)snprintf(text, text_size, ":");
        return;
    }
    (void)snprintf(text, text_size, "ds(%" PRIu32 ", %" PRIu32 ")",
                   draw_below(&v->d, extent - size + 1), size);
}

/* A row, a column or an element of a matrix or of a vector; a list has no other shapes. */
static void draw_slice(values *v) {
    const value from = v->list[draw_below(&v->d, v->count)];
    const bool keeps_rows = draw_below(&v->d, 2) == 0;
    char row[32], column[32];
    shape of = SCALAR;
    (void)snprintf(row, sizeof row, "%" PRIu32, draw_below(&v->d, v->rows));
    (void)snprintf(column, sizeof column, "%" PRIu32, draw_below(&v->d, v->columns));
    if (from.shape == SCALAR) {
        return;
    }
    if (from.shape == FULL && keeps_rows) {
        of = ROW;
        draw_run(v, v->rows, v->rows, row, sizeof row);
    } else if (from.shape == FULL) {
        of = COLUMN;
        draw_run(v, v->columns, v->columns, column, sizeof column);
    }
    const uint32_t name = keep(v, from.dtype, of);
    if (from.shape == FULL) {
        draw_line(&v->d, "%%v%" PRIu32 " = slice %%v%" PRIu32 "[%s, %s]", name, from.name, row,
                  column);
    } else {
        draw_line(&v->d, "%%v%" PRIu32 " = slice %%v%" PRIu32 "[%s]", name, from.name,
                  from.shape == ROW ? row : column);
    }
}

/* Two runs of a matrix that together are as long as it is, in any order: 64 rows and 8 columns are
 * what the wgmma layout keeps together. */
static void draw_concatenate(values *v) {
    const grout_dtype dtype = dtypes[draw_below(&v->d, DTYPE_COUNT)];
    const uint32_t first = find(v, dtype, FULL), second = find(v, dtype, FULL);
    const uint32_t dim = draw_below(&v->d, 2), extent = dim == 0 ? v->rows : v->columns;
    const uint32_t unit = draw_below(&v->d, 3) == 0 ? 1 : dim == 0 ? 64 : 8;
    const uint32_t size = unit * (1 + draw_below(&v->d, extent / unit));
    char runs[2][32];
    if (first == UINT32_MAX || second == UINT32_MAX || size >= extent) {
        return;
    }
    draw_run(v, extent, size, runs[0], sizeof runs[0]);
    draw_run(v, extent, extent - size, runs[1], sizeof runs[1]);
    if (unit > 1 && draw_below(&v->d, 2) == 0) { /* turned round, and nothing moves */
        (void)snprintf(runs[0], sizeof runs[0], "ds(%" PRIu32 ", %" PRIu32 ")", extent - size,
                       size);
        (void)snprintf(runs[1], sizeof runs[1], "ds(0, %" PRIu32 ")", extent - size);
    }
    const uint32_t name = keep(v, dtype, FULL);
    const char *before = dim == 0 ? "" : ":, ";
    draw_line(&v->d,
              "%%v%" PRIu32 " = concatenate (slice %%v%" PRIu32 "[%s%s]), (slice %%v%" PRIu32
              "[%s%s]) dim(%" PRIu32 ")",
              name, first, before, runs[0], second, before, runs[1], dim);
}

/* To another shape and back, with an operation between. */
static void draw_reshape(values *v) {
    const value from = v->list[draw_below(&v->d, v->count)];
    const char *dtype = get_text(from.dtype);
    char there[64], back[64];
    if (from.shape == SCALAR) {
        return;
    }
    get_type(v, from.dtype, from.shape, back, sizeof back);
    const uint32_t rows = from.shape == COLUMN ? 1 : v->rows;
    const uint32_t columns = from.shape == ROW ? 1 : v->columns;
    static const char *const shapes[] = {"%s[%" PRIu32 ", 1, %" PRIu32 "]",
                                         "%s[1, %" PRIu32 ", %" PRIu32 "]"};
    const uint32_t way = draw_below(&v->d, 3);
    if (way == 2) {
        (void)snprintf(there, sizeof there, "%s[2, %" PRIu32 "]", dtype, rows * columns / 2);
    } else if (way == 1) {
        (void)snprintf(there, sizeof there, shapes[1], dtype, rows, columns);
    } else {
        (void)snprintf(there, sizeof there, shapes[0], dtype, rows, columns);
    }
    const uint32_t name = keep(v, from.dtype, from.shape);
    draw_line(&v->d, "%%v%" PRIu32 " = reshape (reshape %%v%" PRIu32 " : %s) : %s", name, from.name,
              there, back);
}

static void draw_iota(values *v) {
    char type[64];
    const grout_dtype dtype = dtypes[draw_below(&v->d, DTYPE_COUNT - 1)];
    if (!cells_has((cell){GROUT_OP_IOTA, dtype, dtype})) {
        return;
    }
    get_type(v, dtype, FULL, type, sizeof type);
    const uint32_t name = keep(v, dtype, FULL);
    draw_line(&v->d, "%%v%" PRIu32 " = iota dim(%" PRIu32 ") : %s", name, draw_below(&v->d, 2),
              type);
}

/* The CTA's index, then values that fit a line, of any types. */
static void draw_print(values *v) {
    const char *holes = "";
    char operands[64] = "";
    int size = 0;
    for (uint32_t tries = 0; tries < 2; tries++) {
        const grout_dtype dtype = dtypes[draw_below(&v->d, DTYPE_COUNT)];
        const uint32_t name = find(v, dtype, (shape)draw_below(&v->d, FULL));
        if (name != UINT32_MAX) {
            holes = size == 0 ? " {}" : " {} {}";
            size +=
                snprintf(operands + size, sizeof operands - (size_t)size, ", %%v%" PRIu32, name);
        }
    }
    draw_line(&v->d, "debug_print \"cta {}:%s\", (axis_index x)%s", holes, operands);
}

/* A condition that holds, and values that nobody sees. */
static void draw_check(values *v) {
    const value of = v->list[draw_below(&v->d, v->count)];
    const bool is_float = grout_dtype_get_info(of.dtype)->class_ == GROUT_CLASS_FLOAT;
    const bool can_compare = cells_has((cell){GROUT_OP_EQ, of.dtype, of.dtype});
    if (is_float || !can_compare || draw_below(&v->d, 3) == 0) {
        draw_line(&v->d, "debug_check true, \"no value\"");
    } else {
        draw_line(&v->d,
                  "debug_check (eq %%v%" PRIu32 ", %%v%" PRIu32 "), \"{} of {}\", %%v%" PRIu32
                  ", (axis_index x)",
                  of.name, of.name, of.name);
    }
}

/* Eight times a scalar, which stays a multiple of 8 where it wraps. */
static void draw_promise(values *v) {
    const grout_dtype dtype = dtypes[draw_below(&v->d, DTYPE_COUNT)];
    const uint32_t from =
        grout_type_rule_takes(GROUT_TYPES_INT, dtype) ? find(v, dtype, SCALAR) : UINT32_MAX;
    if (from == UINT32_MAX) {
        return;
    }
    const uint32_t number = 1u << draw_below(&v->d, 4);
    const uint32_t name = keep(v, dtype, SCALAR);
    draw_line(&v->d, "%%v%" PRIu32 " = multiple_of (mul %%v%" PRIu32 ", 8), %" PRIu32, name, from,
              number);
}

/* One operation of the table, if its form is one of these and operands are there. */
static void draw_op(values *v) {
    const grout_opcode opcode = (grout_opcode)(1 + draw_below(&v->d, GROUT_OP_COUNT - 1));
    const grout_op_info *info = grout_op_get_info(opcode);
    const grout_form form = (grout_form)info->form;
    if (form == GROUT_FORM_UNARY || form == GROUT_FORM_BINARY || form == GROUT_FORM_TERNARY ||
        form == GROUT_FORM_COMPARE || form == GROUT_FORM_SELECT || form == GROUT_FORM_MATH ||
        form == GROUT_FORM_TEST || form == GROUT_FORM_MATH_BINARY) {
        draw_elementwise(v, opcode, info);
    } else if (form == GROUT_FORM_CONVERT) {
        draw_cast(v);
    } else if (form == GROUT_FORM_BITCAST) {
        draw_bitcast(v);
    } else if (form == GROUT_FORM_BROADCAST) {
        draw_broadcast(v);
    } else if (form == GROUT_FORM_REDUCE) {
        draw_reduce(v, info);
    } else if (form == GROUT_FORM_LAYOUT) {
        draw_layout_cast(v);
    } else if (form == GROUT_FORM_IOTA) {
        draw_iota(v);
    } else if (form == GROUT_FORM_SLICE) {
        draw_slice(v);
    } else if (form == GROUT_FORM_RESHAPE) {
        draw_reshape(v);
    } else if (form == GROUT_FORM_CONCATENATE) {
        draw_concatenate(v);
    } else if (form == GROUT_FORM_PRINT) {
        draw_print(v);
    } else if (form == GROUT_FORM_CHECK) {
        draw_check(v);
    } else if (form == GROUT_FORM_PROMISE) {
        draw_promise(v);
    } else if (form == GROUT_FORM_DELAY) {
        draw_line(&v->d, "delay %" PRIu32, draw_below(&v->d, 1000));
    }
}

/* Values made in a body are not known after it. */
static void draw_body(values *v, uint32_t ops) {
    for (uint32_t i = 0; i < ops; i++) {
        draw_op(v);
    }
}

/* What a body yields for a carry: a value of the carry's type. */
static uint32_t find_yield(values *v, const value *carry) {
    const uint32_t name = find(v, carry->dtype, carry->shape);
    return name == UINT32_MAX ? carry->name : name;
}

static void draw_loop(values *v) {
    const value init = v->list[draw_below(&v->d, v->count)];
    const bool is_while = draw_below(&v->d, 2) == 0;
    const uint32_t turns = draw_below(&v->d, 4);
    const uint32_t result = v->d.value_count++, carry = v->d.value_count++,
                   counter = v->d.value_count++, counts = v->d.value_count++;
    const uint32_t before = v->count;
    char unroll[16] = "";
    if (draw_below(&v->d, 3) == 0) {
        (void)snprintf(unroll, sizeof unroll, " unroll(%" PRIu32 ")", 1 + draw_below(&v->d, 3));
    }
    if (is_while) {
        draw_line(&v->d,
                  "%%v%" PRIu32 ", %%v%" PRIu32 " = while carry(%%v%" PRIu32 " = %%v%" PRIu32
                  ", %%v%" PRIu32 " = 0) {",
                  result, counts, carry, init.name, counter);
        draw_line(&v->d, "  cond (lt %%v%" PRIu32 ", %" PRIu32 ")", counter, turns);
        draw_line(&v->d, "} do {");
    } else {
        draw_line(&v->d,
                  "%%v%" PRIu32 " = for %%v%" PRIu32 " in 0..%" PRIu32 " carry(%%v%" PRIu32
                  " = %%v%" PRIu32 ")%s {",
                  result, counter, turns, carry, init.name, unroll);
    }
    v->d.indent++;
    if (v->count + 2 <= VALUES_MAX) {
        v->list[v->count++] = (value){carry, init.dtype, init.shape};
        v->list[v->count++] = (value){counter, GROUT_DTYPE_I32, SCALAR};
    }
    draw_body(v, 1 + draw_below(&v->d, 12));
    const value wanted = {carry, init.dtype, init.shape};
    const uint32_t yield = find_yield(v, &wanted);
    draw_line(&v->d,
              is_while ? "yield %%v%" PRIu32 ", (add %%v%" PRIu32 ", 1)" : "yield %%v%" PRIu32,
              yield, counter);
    v->d.indent--;
    draw_line(&v->d, "}");
    v->count = before;
    if (v->count < VALUES_MAX) {
        v->list[v->count++] = (value){result, init.dtype, init.shape};
    }
}

static void draw_inputs(values *v) {
    static const shape shapes[] = {FULL, FULL, FULL, ROW, COLUMN};
    for (uint32_t i = 0; i < 5; i++) {
        const grout_dtype dtype = dtypes[i < 1 ? 0 : draw_below(&v->d, DTYPE_COUNT - 1)];
        char type[64];
        get_type(v, dtype, shapes[i], type, sizeof type);
        const uint32_t param = draw_param(&v->d, "in", type);
        draw_line(&v->d, "%%v%" PRIu32 " = load %%p%" PRIu32, keep(v, dtype, shapes[i]), param);
    }
    draw_line(&v->d, "%%v%" PRIu32 " = cast (axis_index x) : f32",
              keep(v, GROUT_DTYPE_F32, SCALAR));
}

/* Each CTA would write the same elements: only the first one stores. */
static void draw_outputs(values *v) {
    draw_line(&v->d, "if (eq (axis_index x), 0) {");
    for (uint32_t i = 0; i < v->count; i++) {
        const value *out = &v->list[i];
        char type[64];
        if (out->shape == SCALAR || (i < 5 && v->count > 8)) {
            continue;
        }
        get_type(v, out->dtype, out->shape, type, sizeof type);
        /* Both halves of a byte have to be in one lane. */
        const bool is_packed = grout_dtype_get_info(out->dtype)->packed > 1;
        draw_line(&v->d,
                  is_packed ? "  store %%p%" PRIu32 ", (layout_cast %%v%" PRIu32 " wg_strided)"
                            : "  store %%p%" PRIu32 ", %%v%" PRIu32,
                  draw_param(&v->d, "out", type), out->name);
        if (v->d.param_count >= 16) {
            break;
        }
    }
    draw_line(&v->d, "}");
}

void draw_values(uint64_t seed, grout_text *out) {
    static const uint32_t rows[] = {64, 64, 128}, columns[] = {8, 16, 24, 40, 64};
    values v = {.d = {.state = seed}};
    v.rows = rows[draw_below(&v.d, 3)];
    v.columns = columns[draw_below(&v.d, 5)];
    draw_inputs(&v);
    const uint32_t parts = 1 + draw_below(&v.d, 4);
    for (uint32_t i = 0; i < parts; i++) {
        draw_body(&v, 4 + draw_below(&v.d, 40));
        if (draw_below(&v.d, 2) == 0) {
            draw_loop(&v);
        }
    }
    draw_outputs(&v);
    draw_finish(&v.d, "", "grid(x = 2) threads(wg = 1)", out);
}
