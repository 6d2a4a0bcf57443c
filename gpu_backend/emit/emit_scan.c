/* emit_scan.c - sums and extremes of each element and those before it: in steps of 1, 2, 4, ..
 * along the dimension, through SMEM. Each lane keeps the partial results of its elements in
 * registers, whatever the layout; the order of additions is the interpreter's (exec_scan.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

typedef struct scan {
    const grout_op *op;
    grout_value_id value;
    const grout_operand *source;
    const grout_type *type;
    const grout_register_layout *layout;
    grout_opcode reduce;
    grout_dtype partial_dtype;
    const char *partial;
    uint32_t bytes;  /* of a partial result */
    uint32_t number; /* x<number>: these of a lane */
    uint32_t dim;
    int64_t size, stride; /* elements of the dimension, and from one to the next */
    bool is_reverse, is_exclusive;
} scan;

static scan describe(grout_emitter *e, const grout_op *op) {
    const uint64_t attrs = grout_op_get_attr_bits(e->module, op);
    scan s = {.op = op,
              .value = op->first_result,
              .source = grout_module_get_operand(e->module, op, 0),
              .type = grout_module_get_type(e->module, op->first_result),
              .layout = grout_emit__layout(e, op->first_result),
              .reduce = grout_op_get_scanned((grout_opcode)op->opcode),
              .dim = (uint32_t)grout_op_get_attr_integer(e->module, op, GROUT_ATTR_DIM, 0),
              .stride = 1,
              .is_reverse = (attrs & GROUT_ATTR_BIT(REVERSE)) != 0,
              .is_exclusive = (attrs & GROUT_ATTR_BIT(EXCLUSIVE)) != 0};
    s.partial_dtype = grout_emit__get_partial((grout_dtype)s.type->dtype);
    s.partial = grout_gpu__get_type_name(s.partial_dtype);
    s.bytes = grout_dtype_get_info(s.partial_dtype)->bytes;
    s.size = s.type->dims[s.dim];
    for (uint32_t k = s.dim + 1; k < s.type->rank; k++) {
        s.stride *= s.type->dims[k];
    }
    return s;
}

/* "grout_widen(v[reg])" to the partial results. */
static void begin_partials(grout_emitter *e, scan *s) {
    s->number = e->temp_count++;
    grout_emit__line(e, "%s x%" PRIu32 "[%" PRIu32 "];", s->partial, s->number,
                     s->layout->registers);
    grout_emit__open_registers(e, s->layout->registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "x%" PRIu32 "[reg] = grout_widen(", s->number);
    grout_emit__operand(e, s->source, "reg");
    grout_emit__end(e, ");");
    grout_emit__close(e, "");
}

/* All partial results to the exchange area. */
static void write_partials(grout_emitter *e, const scan *s) {
    grout_emit__open_owners(e, s->layout);
    grout_emit__open_registers(e, s->layout->registers, 1);
    grout_emit__open_element(e, s->layout, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_store_smem(exchange + ");
    grout_emit__flat(e, s->layout);
    grout_emit__end(e, " * %" PRIu32 ", x%" PRIu32 "[reg]);", s->bytes, s->number);
    grout_emit__close_registers(e, s->layout);
    grout_emit__close_owners(e, s->layout);
    grout_emit__thread_barrier(e, "all lanes have written");
}

/* Opens the loop over elements that have one at a distance before them, and the block of one. */
static void open_reached(grout_emitter *e, const scan *s, const char *distance) {
    grout_emit__open_registers(e, s->layout->registers, 1);
    grout_emit__open_element(e, s->layout, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 along = ");
    grout_emit__index(e, grout_emit__get_at(s->layout), s->type, s->dim);
    grout_emit__end(e, ";");
    grout_emit__begin(e);
    if (s->is_reverse) {
        grout_emit__add(e, "if (along + %s < %" PRId64 "u)", distance, s->size);
    } else {
        grout_emit__add(e, "if (along >= %s)", distance);
    }
    grout_emit__open(e);
}

static void close_reached(grout_emitter *e, const scan *s) {
    grout_emit__close(e, "");
    grout_emit__close_registers(e, s->layout);
    grout_emit__thread_barrier(e, "all lanes have read");
}

/* "grout_load_smem<grout_f32>(exchange + (flat - step * 64u) * 4)" */
static void add_load(grout_emitter *e, const scan *s, const char *distance) {
    grout_emit__add(e, "grout_load_smem<%s>(exchange + (", s->partial);
    grout_emit__flat(e, s->layout);
    grout_emit__add(e, " %c %s * %" PRId64 "u) * %" PRIu32 ")", s->is_reverse ? '+' : '-', distance,
                    s->stride, s->bytes);
}

static void combine(grout_emitter *e, const scan *s) {
    grout_emit__begin(e);
    grout_emit__add(e, "for (grout_u32 step = 1; step < %" PRId64 "; step *= 2)", s->size);
    grout_emit__open(e);
    write_partials(e, s);
    open_reached(e, s, "step");
    grout_emit__line(e, "const %s a = x%" PRIu32 "[reg];", s->partial, s->number);
    grout_emit__begin(e);
    grout_emit__add(e, "const %s b = ", s->partial);
    add_load(e, s, "step");
    grout_emit__end(e, ";");
    grout_emit__line(e, "x%" PRIu32 "[reg] = %s;", s->number,
                     grout_op_get_info(s->reduce)->expression);
    close_reached(e, s);
    grout_emit__close(e, "");
}

/* What changes nothing: of an integer in its own type, since the least i8 is not the least i32. */
static void add_identity(grout_emitter *e, const scan *s) {
    const grout_dtype own = (grout_dtype)s->type->dtype;
    const bool is_float = grout_dtype_get_info(own)->class_ == GROUT_CLASS_FLOAT;
    const grout_dtype dtype = is_float ? s->partial_dtype : own;
    grout_emit__constant(e, dtype,
                         grout_update_get_identity(grout_op_get_reduction(s->reduce), dtype));
}

/* Every element becomes the one before it; the first, what changes nothing. */
static void shift(grout_emitter *e, const scan *s) {
    write_partials(e, s);
    grout_emit__open_registers(e, s->layout->registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "x%" PRIu32 "[reg] = grout_cast<%s>(", s->number, s->partial);
    add_identity(e, s);
    grout_emit__end(e, ");");
    grout_emit__close(e, "");
    open_reached(e, s, "1");
    grout_emit__begin(e);
    grout_emit__add(e, "x%" PRIu32 "[reg] = ", s->number);
    add_load(e, s, "1");
    grout_emit__end(e, ";");
    close_reached(e, s);
}

static void end_partials(grout_emitter *e, const scan *s) {
    grout_emit__declare_registers(e, s->value);
    grout_emit__open_registers(e, s->layout->registers, 1);
    grout_emit__line(e, "%s[reg] = grout_cast<%s>(x%" PRIu32 "[reg]);",
                     grout_emit__name(e, s->value), grout_emit__type_name(e, s->value), s->number);
    grout_emit__close(e, "");
}

/* An array of one element. */
static void scan_one(grout_emitter *e, const scan *s) {
    grout_emit__begin_scalar(e, s->value);
    if (s->is_exclusive) {
        grout_emit__add(e, "grout_cast<%s>(", grout_emit__type_name(e, s->value));
        add_identity(e, s);
        grout_emit__end(e, ");");
    } else {
        grout_emit__operand(e, s->source, NULL);
        grout_emit__end(e, ";");
    }
}

void grout_emit__scan(grout_emitter *e, grout_op_id id, const grout_op *op) {
    scan s = describe(e, op);
    if (!grout_emit__has_registers(s.layout)) {
        scan_one(e, &s);
        return;
    }
    if (!grout_emit__check_exchange(e, id, s.layout->count * s.bytes)) {
        return;
    }
    begin_partials(e, &s);
    grout_emit__before_access(e, 0, true);
    combine(e, &s);
    if (s.is_exclusive) {
        shift(e, &s);
    }
    end_partials(e, &s);
}
