/* emit_reduce.c - reductions: in each lane, between the lanes of a warp by shuffles, between warps
 * through SMEM.
 *
 * Partial results are what grout_widen makes of an element: f32 of f16 and bf16, rounded once at
 * the end; a 32-bit integer of smaller ones and of bools, whose low bits count.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "invariant.h"

#include <inttypes.h>

/* What all ways to reduce know. */
typedef struct reduction {
    grout_op_id id;
    const grout_op *op;
    const grout_operand *source;
    grout_value_id value;
    const grout_register_layout *from, *to;
    grout_update update;       /* how two elements are combined */
    grout_dtype partial_dtype; /* of partial results */
    const char *partial;
    uint32_t partial_bytes;
} reduction;

/* The type that grout_widen gives, and grout_partial of the device header. */
grout_dtype grout_emit__get_partial(grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->bytes >= 4) {
        return dtype;
    }
    return info->class_ == GROUT_CLASS_FLOAT  ? GROUT_DTYPE_F32
           : info->class_ == GROUT_CLASS_SINT ? GROUT_DTYPE_I32
                                              : GROUT_DTYPE_U32;
}

static reduction describe(const grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_dtype partial = grout_emit__get_partial(grout_emit__dtype(e, op->first_result));
    reduction r = {.id = id,
                   .op = op,
                   .source = grout_module_get_operand(e->module, op, 0),
                   .value = op->first_result,
                   .to = grout_emit__layout(e, op->first_result),
                   .update = grout_op_get_reduction((grout_opcode)op->opcode),
                   .partial_dtype = partial,
                   .partial = grout_gpu__get_type_name(partial),
                   .partial_bytes = grout_dtype_get_info(partial)->bytes};
    GROUT_ASSERT(r.source->kind == GROUT_OPERAND_VALUE && r.update < GROUT_UPDATE_COUNT);
    r.from = grout_emit__layout(e, r.source->id);
    return r;
}

/* The table's expression as a function of two partial results: the name's number. No lambda, which
 * NVRTC takes for a function of the host. */
static uint32_t write_function(grout_emitter *e, const reduction *r) {
    const uint32_t number = e->temp_count++;
    grout_emit__line(e, "struct x%" PRIu32 " {", number);
    e->indent++;
    grout_emit__line(e, "__device__ %s operator()(%s a, %s b) const { return %s; }", r->partial,
                     r->partial, r->partial,
                     grout_op_get_info((grout_opcode)r->op->opcode)->expression);
    grout_emit__close(e, ";");
    return number;
}

/* What changes no element that it is combined with, as a partial result. */
typedef enum identity { IDENTITY_NONE, ZERO, ONE, ALL_BITS, LEAST, LARGEST } identity;

static const uint8_t identities[GROUT_UPDATE_COUNT] = {
    [GROUT_UPDATE_ADD] = ZERO,  [GROUT_UPDATE_MUL] = ONE,      [GROUT_UPDATE_MIN] = LARGEST,
    [GROUT_UPDATE_MAX] = LEAST, [GROUT_UPDATE_AND] = ALL_BITS, [GROUT_UPDATE_OR] = ZERO,
    [GROUT_UPDATE_XOR] = ZERO,
};

/* Its bits; of f64 they are those of f32 in the upper half, but for the length of the exponent. */
static uint64_t get_identity(grout_dtype dtype, identity kind) {
    static const uint32_t of_f32[] = {0, 0x80000000u, 0x3f800000u, 0, 0xff800000u, 0x7f800000u};
    static const uint32_t of_f64[] = {0, 0x80000000u, 0x3ff00000u, 0, 0xfff00000u, 0x7ff00000u};
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const bool is_signed = info->class_ == GROUT_CLASS_SINT;
    const uint64_t sign = UINT64_C(1) << (8 * info->bytes - 1), ones = sign | (sign - 1);
    const uint64_t of_integer[] = {
        0, 0, 1, ones, is_signed ? sign : 0, is_signed ? sign - 1 : ones};
    if (info->class_ != GROUT_CLASS_FLOAT) {
        return of_integer[kind];
    }
    return info->bytes == 8 ? (uint64_t)of_f64[kind] << 32 : of_f32[kind];
}

/* What changes no partial result: of registers that hold no element. */
static void add_identity(grout_emitter *e, const reduction *r) {
    const identity kind = (identity)identities[r->update];
    if (kind == IDENTITY_NONE) {
        grout_emit__unsupported(e, r->op, "no element is known that changes nothing here");
    } else {
        grout_emit__constant(e, r->partial_dtype, get_identity(r->partial_dtype, kind));
    }
}

/* "grout_cast<grout_bf16>(": rounds a partial result. */
static void begin_result(grout_emitter *e, const reduction *r) {
    grout_emit__begin_scalar(e, r->value);
    grout_emit__add(e, "grout_cast<%s>(", grout_emit__type_name(e, r->value));
}

/* ---- of equal elements ---- */

/* A sum of equal elements is a product, a product a power; an exclusive or of an even number of
 * them is 0. For the others any element is the result. */
static const char *get_splat_function(grout_update update) {
    static const char *const functions[GROUT_UPDATE_COUNT] = {
        [GROUT_UPDATE_ADD] = "grout_mul(",
        [GROUT_UPDATE_MUL] = "grout_power(",
        [GROUT_UPDATE_XOR] = "grout_odd(",
    };
    return functions[update];
}

static void add_splat(grout_emitter *e, const reduction *r) {
    const int64_t count =
        r->from->kind == GROUT_LAYOUT_NONE
            ? 1
            : r->from->count / grout_type_get_count(grout_module_get_type(e->module, r->value));
    const char *function = count == 1 ? NULL : get_splat_function(r->update);
    if (function == NULL) {
        grout_emit__operand(e, r->source, NULL);
        return;
    }
    grout_emit__add(e, "grout_cast<%s>(%s", grout_emit__type_name(e, r->value), function);
    grout_emit__add(e, "grout_widen(");
    grout_emit__operand(e, r->source, NULL);
    grout_emit__add(e, "), %s(%" PRId64 ")))", r->partial, count);
}

static void reduce_splat(grout_emitter *e, const reduction *r) {
    if (!grout_emit__has_registers(r->to)) {
        grout_emit__begin_scalar(e, r->value);
        add_splat(e, r);
        grout_emit__end(e, ";");
        return;
    }
    grout_emit__declare_registers(e, r->value);
    grout_emit__open_registers(e, r->to->registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, r->value));
    add_splat(e, r);
    grout_emit__end(e, ";");
    grout_emit__close(e, "");
}

/* ---- of all elements ---- */

/* A lane's own elements to one partial result: the name's number. */
static uint32_t reduce_registers(grout_emitter *e, const reduction *r, uint32_t function) {
    const char *name = grout_emit__name(e, r->source->id);
    const uint32_t number = e->temp_count++;
    if (!r->from->is_guarded) {
        grout_emit__line(e, "%s x%" PRIu32 " = grout_reduce_registers(%s, x%" PRIu32 "());",
                         r->partial, number, name, function);
        return number;
    }
    grout_emit__begin(e);
    grout_emit__add(e, "%s x%" PRIu32 " = ", r->partial, number);
    add_identity(e, r);
    grout_emit__end(e, ";");
    grout_emit__open_registers(e, r->from->registers, 1);
    grout_emit__open_element(e, r->from, 1);
    grout_emit__line(e, "x%" PRIu32 " = x%" PRIu32 "()(x%" PRIu32 ", grout_widen(%s[reg]));",
                     number, function, number, name);
    grout_emit__close_registers(e, r->from);
    return number;
}

/* The template argument of what reads from warps: how many, unless there are four. */
static void add_warps(grout_emitter *e, const reduction *r) {
    if (r->from->warps != GROUT_GPU_WARPS) {
        grout_emit__add(e, ", %u", r->from->warps);
    }
}

/* Lanes that hold the same elements are left out: those of a quad in the rows' layout, all quads
 * but one in the columns', all warps but one where each has everything. */
static void reduce_all(grout_emitter *e, const reduction *r) {
    const bool is_row = r->from->kind == GROUT_LAYOUT_WGMMA_ROW;
    const bool is_col = r->from->kind == GROUT_LAYOUT_WGMMA_COL;
    const uint32_t warps = r->from->warps;
    const bool is_in_warp = grout_register_layout_is_whole_in_warps(r->from) || warps == 1;
    if (!is_in_warp && !grout_emit__check_exchange(e, r->id, warps * (int64_t)r->partial_bytes)) {
        return;
    }
    const uint32_t function = write_function(e, r);
    const uint32_t number = reduce_registers(e, r, function);
    const uint32_t copies = grout_emit__get_copies(r->from);
    if (copies != 0) { /* each element counts once */
        grout_emit__begin(e);
        grout_emit__add(e, "x%" PRIu32 " = (lane & %" PRIu32 ") == 0 ? x%" PRIu32 " : ", number,
                        copies, number);
        add_identity(e, r);
        grout_emit__end(e, ";");
    }
    grout_emit__line(e, "x%" PRIu32 " = grout_reduce_lanes<%d, %d>(x%" PRIu32 ", x%" PRIu32 "());",
                     number, is_row ? 4 : 1, is_col ? 2 : 16, number, function);
    if (is_in_warp) {
        begin_result(e, r);
        grout_emit__end(e, "x%" PRIu32 ");", number);
        return;
    }
    grout_emit__before_access(e, 0, true);
    grout_emit__line(e, "grout_reduce_warps_write(x%" PRIu32 ", exchange, lane);", number);
    grout_emit__after_access(e, 0, true);
    grout_emit__before_access(e, 0, false);
    begin_result(e, r);
    grout_emit__add(e, "grout_reduce_warps_read<%s", r->partial);
    add_warps(e, r);
    grout_emit__end(e, ">(exchange, x%" PRIu32 "()));", function);
    grout_emit__after_access(e, 0, false);
}

/* ---- of the wgmma layout, along one dimension ---- */

static void reduce_rows(grout_emitter *e, const reduction *r) {
    const uint32_t function = write_function(e, r);
    grout_emit__declare_registers(e, r->value);
    grout_emit__line(e, "grout_reduce_rows<%" PRId64 ">(%s, %s, x%" PRIu32 "());", r->from->cols,
                     grout_emit__name(e, r->source->id), grout_emit__name(e, r->value), function);
}

/* Whether two chains of sums go on together, by an instruction that adds two f32. */
static bool is_sum_of_pairs(const grout_emitter *e, const reduction *r) {
    return r->update == GROUT_UPDATE_ADD && grout_emit__has_float_pairs(e, r->source->id) &&
           r->from->registers >= 4 && r->from->registers % 2 == 0;
}

/* Each lane has whole rows. */
static void reduce_own_rows(grout_emitter *e, const reduction *r) {
    const char *name = grout_emit__name(e, r->source->id);
    const char *value = grout_emit__name(e, r->value);
    if (r->to->registers == 1 && is_sum_of_pairs(e, r)) {
        grout_emit__declare_registers(e, r->value);
        grout_emit__line(e, "%s[0] = grout_add_registers(%s);", value, name);
        return;
    }
    const uint32_t function = write_function(e, r), number = e->temp_count++;
    grout_emit__declare_registers(e, r->value);
    if (r->to->registers == 1) {
        grout_emit__line(e, "%s[0] = grout_cast<%s>(grout_reduce_registers(%s, x%" PRIu32 "()));",
                         value, grout_emit__type_name(e, r->value), name, function);
        return;
    }
    grout_emit__open_registers(e, r->to->registers, 1);
    grout_emit__line(e, "%s x%" PRIu32 " = grout_widen(%s[reg * %" PRId64 "]);", r->partial, number,
                     name, r->from->cols);
    grout_emit__line(e, "#pragma unroll");
    grout_emit__begin(e);
    grout_emit__add(e, "for (int part = 1; part < %" PRId64 "; part++)", r->from->cols);
    grout_emit__open(e);
    grout_emit__line(e,
                     "x%" PRIu32 " = x%" PRIu32 "()(x%" PRIu32 ", grout_widen(%s[reg * %" PRId64
                     " + part]));",
                     number, function, number, name, r->from->cols);
    grout_emit__close(e, "");
    grout_emit__line(e, "%s[reg] = grout_cast<%s>(x%" PRIu32 ");", value,
                     grout_emit__type_name(e, r->value), number);
    grout_emit__close(e, "");
}

static void reduce_cols(grout_emitter *e, const reduction *r) {
    if (!grout_emit__check_exchange(e, r->id, r->from->warps * r->from->cols * r->partial_bytes)) {
        return;
    }
    const uint32_t function = write_function(e, r);
    grout_emit__before_access(e, 0, true);
    grout_emit__line(e, "grout_reduce_cols_write<%" PRId64 ">(%s, exchange, lane, x%" PRIu32 "());",
                     r->from->cols, grout_emit__name(e, r->source->id), function);
    grout_emit__after_access(e, 0, true);
    grout_emit__before_access(e, 0, false);
    grout_emit__declare_registers(e, r->value);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_reduce_cols_read<%" PRId64, r->from->cols);
    add_warps(e, r);
    grout_emit__end(e, ">(%s, exchange, lane, x%" PRIu32 "());", grout_emit__name(e, r->value),
                    function);
    grout_emit__after_access(e, 0, false);
}

/* ---- of any layout, along one dimension ---- */

/* Row-major index into the source of the first element that an element of the result comes from. */
static void add_first_index(grout_emitter *e, const reduction *r, uint32_t reduced) {
    const grout_type *from = grout_module_get_type(e->module, r->source->id);
    const grout_type *to = grout_module_get_type(e->module, r->value);
    int64_t stride = grout_type_get_count(from);
    bool is_first = true;
    for (uint32_t k = 0; k < from->rank; k++) {
        stride /= from->dims[k];
        if (k == reduced || from->dims[k] == 1) {
            continue;
        }
        grout_emit__add(e, is_first ? "" : " + ");
        grout_emit__index(e, grout_emit__get_at(r->to), to, k < reduced ? k : k - 1);
        if (stride > 1) {
            grout_emit__add(e, " * %" PRId64 "u", stride);
        }
        is_first = false;
    }
}

/* Every element goes to SMEM, and each lane adds up what its elements of the result come from. */
static void reduce_any(grout_emitter *e, const reduction *r, uint32_t reduced) {
    const grout_type *type = grout_module_get_type(e->module, r->source->id);
    const uint32_t bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    const char *element = grout_emit__memory_type((grout_dtype)type->dtype);
    GROUT_ASSERT(reduced < type->rank);
    int64_t stride = 1;
    for (uint32_t k = reduced + 1; k < type->rank; k++) {
        stride *= type->dims[k];
    }
    if (!grout_emit__check_exchange(e, r->id, r->from->count * bytes)) {
        return;
    }
    const uint32_t function = write_function(e, r);
    const uint32_t number = e->temp_count;
    e->temp_count += 2;
    grout_emit__write_exchange(e, r->source);
    grout_emit__before_access(e, 0, false);
    grout_emit__declare_elements(e, r->value);
    grout_emit__open_registers(e, r->to->registers, 1);
    grout_emit__open_element(e, r->to, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 x%" PRIu32 " = exchange + (", number);
    add_first_index(e, r, reduced);
    grout_emit__end(e, ") * %" PRIu32 ";", bytes);
    grout_emit__line(e, "%s x%" PRIu32 " = grout_widen(grout_load_smem<%s>(x%" PRIu32 "));",
                     r->partial, number + 1, element, number);
    grout_emit__begin(e);
    grout_emit__add(e, "for (grout_u32 part = 1; part < %" PRId64 "; part++)", type->dims[reduced]);
    grout_emit__open(e);
    grout_emit__line(e,
                     "x%" PRIu32 " = x%" PRIu32 "()(x%" PRIu32
                     ", grout_widen(grout_load_smem<%s>(x%" PRIu32 " + part * %" PRId64 ")));",
                     number + 1, function, number + 1, element, number, stride * bytes);
    grout_emit__close(e, "");
    grout_emit__line(e, "%s[reg] = grout_cast<%s>(x%" PRIu32 ");", grout_emit__name(e, r->value),
                     grout_emit__type_name(e, r->value), number + 1);
    grout_emit__close_registers(e, r->to);
    grout_emit__after_access(e, 0, false);
}

/* The dimension that goes away has one element. */
static void reduce_nothing(grout_emitter *e, const reduction *r) {
    grout_emit__declare_registers(e, r->value);
    grout_emit__open_registers(e, r->to->registers, 1);
    grout_emit__line(e, "%s[reg] = %s[reg];", grout_emit__name(e, r->value),
                     grout_emit__name(e, r->source->id));
    grout_emit__close(e, "");
}

void grout_emit__reduce(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const reduction r = describe(e, id, op);
    const int64_t dim = grout_op_get_attr_integer(e->module, op, GROUT_ATTR_DIM, -1);
    if (!grout_emit__has_registers(r.from)) {
        reduce_splat(e, &r);
    } else if (!grout_emit__has_registers(r.to)) { /* one element is left */
        reduce_all(e, &r);
    } else if (grout_emit__is_same_layout(r.from, r.to)) {
        reduce_nothing(e, &r);
    } else if (r.from->kind == GROUT_LAYOUT_WGMMA && r.to->kind == GROUT_LAYOUT_WGMMA_ROW) {
        reduce_rows(e, &r);
    } else if (r.from->kind == GROUT_LAYOUT_WGMMA && r.to->kind == GROUT_LAYOUT_WGMMA_COL) {
        reduce_cols(e, &r);
    } else if (r.from->kind == GROUT_LAYOUT_TMEM && r.to->kind == GROUT_LAYOUT_TMEM_ROW) {
        reduce_own_rows(e, &r);
    } else {
        reduce_any(e, &r, (uint32_t)dim);
    }
}
