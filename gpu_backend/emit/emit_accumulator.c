/*
 * emit_accumulator.c - accumulators: registers of each lane, in the order that wgmma gives them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An accumulator [M, N] is an array of registers: for each 64 rows those of wgmma.m64nN, f32 and
 * i32 one by one, f16 in pairs of neighbouring columns. So it has the order of the wgmma register
 * layout, and a slice of columns is a run in each 64 rows.
 */
#include "emit.h"

#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>

#define BLOCK_ROWS 64

uint32_t grout_emit__count_accumulators(grout_dtype dtype, int64_t elements) {
    const int64_t per_lane = elements / GROUT_LANES;
    return (uint32_t)(dtype == GROUT_DTYPE_F16 ? per_lane / 2 : per_lane);
}

const char *grout_emit__get_accumulator_type(grout_dtype dtype) {
    return dtype == GROUT_DTYPE_F16 ? "grout_u32" : grout_gpu__get_type_name(dtype);
}

void grout_emit__declare_accumulator(grout_emitter *e, grout_value_id value) {
    const grout_type *type =
        grout_object_get_type(e->module, grout_module_get_value(e->module, value)->object);
    const grout_dtype dtype = (grout_dtype)type->dtype;
    grout_emit__begin(e);
    grout_emit__add(e, "%s %s[%" PRIu32 "] = {}; // ", grout_emit__get_accumulator_type(dtype),
                    grout_emit__name(e, value),
                    grout_emit__count_accumulators(dtype, grout_type_get_count(type)));
    grout_type_print(type, e->out);
    grout_emit__end(e, "%s", "");
}

/* Where a view's registers are in its object's. */
typedef struct part {
    grout_dtype dtype;
    const char *name;
    uint32_t registers; /* of the view */
    uint32_t run;       /* of the view in each 64 rows */
    uint32_t pitch;     /* of the object in each 64 rows */
    uint32_t start;     /* of the first one */
} part;

static part find_part(grout_emitter *e, const grout_view *view) {
    const grout_type *type = grout_object_get_type(e->module, view->object);
    const grout_dtype dtype = (grout_dtype)type->dtype;
    return (part){
        .dtype = dtype,
        .name = grout_emit__name(e, view->base),
        .registers = grout_emit__count_accumulators(dtype, view->extent[0] * view->extent[1]),
        .run = grout_emit__count_accumulators(dtype, BLOCK_ROWS * view->extent[1]),
        .pitch = grout_emit__count_accumulators(dtype, BLOCK_ROWS * type->dims[1]),
        .start = grout_emit__count_accumulators(dtype, BLOCK_ROWS * view->start_const[1]),
    };
}

/* "acc[reg]", "acc[reg / 32 * 64 + reg % 32 + 32]" */
static void add_register(grout_emitter *e, const part *p) {
    GROUT_ASSERT(p->run > 0 && p->start + p->run <= p->pitch && p->registers % p->run == 0);
    grout_emit__add(e, "%s[reg", p->name);
    if (p->registers > p->run && p->run != p->pitch) {
        grout_emit__add(e, " / %" PRIu32 " * %" PRIu32 " + reg %% %" PRIu32, p->run, p->pitch,
                        p->run);
    }
    if (p->start != 0) {
        grout_emit__add(e, " + %" PRIu32, p->start);
    }
    grout_emit__add(e, "]");
}

static void hold(grout_emitter *e, const part *p) {
    const uint32_t runs = p->run == p->pitch ? 1 : p->registers / p->run;
    for (uint32_t k = 0; k < runs; k++) {
        const uint32_t start = p->start + k * p->pitch;
        grout_emit__begin(e);
        grout_emit__add(e, "grout_wgmma_hold<%" PRIu32 ">(%s", p->registers / runs, p->name);
        if (start != 0) {
            grout_emit__add(e, " + %" PRIu32, start);
        }
        grout_emit__end(e, ");");
    }
}

/* Whether a value is held as accumulators are; the analysis of layouts sees to it. */
static bool check_layout(grout_emitter *e, const grout_op *op, grout_value_id value) {
    if (grout_emit__layout(e, value)->kind == GROUT_LAYOUT_WGMMA) {
        return true;
    }
    grout_emit__unsupported(
        e, op, "the value of an accumulator is in the register layout '%s', not in wgmma",
        grout_register_layout_get_text(
            (grout_register_layout_kind)grout_emit__layout(e, value)->kind));
    return false;
}

void grout_emit__wait_wgmmas(grout_emitter *e, int64_t pending) {
    grout_emit__line(e, "grout_wgmma_wait<%" PRId64 ">();", FIELD(WGMMA_PENDING, pending));
    grout_emit__after_wgmma_wait(e);
}

void grout_emit__read_accumulator(grout_emitter *e, const grout_op *op, const grout_view *view) {
    const grout_value_id value = op->first_result;
    const part p = find_part(e, view);
    /* What can say how long it waits waits only if it does; what cannot waits for all. */
    const bool can_say =
        (grout_op_get_info((grout_opcode)op->opcode)->attrs & GROUT_ATTR_BIT(WAIT_GROUPS)) != 0;
    const int64_t pending =
        grout_op_get_attr_integer(e->module, op, GROUT_ATTR_WAIT_GROUPS, can_say ? -1 : 0);
    if (!check_layout(e, op, value)) {
        return;
    }
    if (pending >= 0) {
        grout_emit__wait_wgmmas(e, pending);
    }
    hold(e, &p);
    grout_emit__declare_registers(e, value);
    grout_emit__open_registers(e, p.registers, 1);
    grout_emit__begin(e);
    if (p.dtype != GROUT_DTYPE_F16) {
        grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, value));
        add_register(e, &p);
        grout_emit__end(e, ";");
    } else {
        grout_emit__add(e, "grout_unpair(%s + 2 * reg, ", grout_emit__name(e, value));
        add_register(e, &p);
        grout_emit__end(e, ");");
    }
    grout_emit__close(e, "");
}

static void write_whole(grout_emitter *e, const part *p, const grout_operand *from) {
    grout_emit__begin(e);
    add_register(e, p);
    grout_emit__add(e, " = ");
    grout_emit__operand(e, from, "reg");
    grout_emit__end(e, ";");
}

static void write_f16(grout_emitter *e, const part *p, const grout_operand *from) {
    const bool is_spread = grout_emit__is_spread(e, from);
    if (!is_spread) {
        grout_emit__begin(e);
        grout_emit__add(e, "const grout_f16 pair[2] = {");
        grout_emit__operand(e, from, NULL);
        grout_emit__add(e, ", ");
        grout_emit__operand(e, from, NULL);
        grout_emit__end(e, "};");
    }
    grout_emit__begin(e);
    add_register(e, p);
    if (is_spread) {
        grout_emit__end(e, " = grout_pair(%s + 2 * reg);", grout_emit__name(e, from->id));
    } else {
        grout_emit__end(e, " = grout_pair(pair);");
    }
}

void grout_emit__write_accumulator(grout_emitter *e, const grout_op *op, const grout_view *view) {
    const grout_operand *from = grout_module_get_operand(e->module, op, 1);
    const part p = find_part(e, view);
    if (grout_emit__is_spread(e, from) && !check_layout(e, op, from->id)) {
        return;
    }
    grout_emit__open_registers(e, p.registers, 1);
    if (p.dtype != GROUT_DTYPE_F16) {
        write_whole(e, &p, from);
    } else {
        write_f16(e, &p, from);
    }
    grout_emit__close(e, "");
    hold(e, &p);
}
