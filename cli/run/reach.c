/* reach.c - what the runs of a kernel came to, and what not.
 *
 * A block of code has run if any operation in it has done something that others can see: without
 * such an operation it has no part in the verdict. A barrier has come round if an element of it has
 * completed a second phase; only those are asked for that stand in a loop, inside their life, whose
 * number of turns is not written as a number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reach.h"

#include "array.h"

#include <stdlib.h>

/* ---- the runs ------------------------------------------------------------------------------- */

static bool observe(void *self, const grout_event *event) {
    grout_reach *reach = self;
    if (event->clocks != NULL) {
        reach->op_has_run[event->origin.op] = true;
    }
    if (event->kind == GROUT_EVENT_PHASE) {
        const grout_barrier_fact *barrier = event->u.phase.barrier;
        uint32_t phases = barrier->phase_base + event->u.phase.phase + 1;
        uint32_t *most = &reach->phases[barrier->object];
        *most = phases > *most ? phases : *most;
    }
    return true;
}

bool grout_reach__init(grout_reach *reach, const grout_load *load, grout_kernel_id kernel) {
    *reach = (grout_reach){.module = load->bound, .kernel = kernel};
    reach->op_has_run = calloc(grout_module_get_op_count(load->bound) + 1, sizeof(bool));
    reach->phases = calloc(grout_module_get_object_count(load->bound) + 1, sizeof(uint32_t));
    reach->observer = (grout_observer){
        .self = reach,
        .interest =
            ((UINT64_C(1) << GROUT_EVENT_KIND_COUNT) - 1) & ~(UINT64_C(1) << GROUT_EVENT_COMPLETE),
        .event = observe,
    };
    return reach->op_has_run != NULL && reach->phases != NULL;
}

void grout_reach__deinit(grout_reach *reach) {
    free(reach->op_has_run);
    free(reach->phases);
    grout__free(reach->lines.items);
    grout__free(reach->barriers.items);
    *reach = (grout_reach){0};
}

/* ---- code that never ran -------------------------------------------------------------------- */

/* Whether an op shows that it has run. */
static bool is_seen(const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    grout_effect_class class_ = grout_effect_row_get_class((grout_effect_row)info->effect_row);
    uint32_t count = 0;
    (void)grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    return op->block_count == 0 && count > 0 &&
           (class_ == GROUT_EFFECT_ACCESS || class_ == GROUT_EFFECT_ASYNC ||
            class_ == GROUT_EFFECT_SYNC || class_ == GROUT_EFFECT_BLOCKING);
}

/* What stands in a block and all inside it. */
typedef struct contents {
    bool has_run;  /* some op has */
    bool has_seen; /* there are ops that show it */
    grout_lines lines;
} contents;

static void add_line(contents *in, uint32_t line) {
    in->lines.first = in->lines.first == 0 || line < in->lines.first ? line : in->lines.first;
    in->lines.last = line > in->lines.last ? line : in->lines.last;
}

static contents look_into(const grout_reach *reach, grout_block_id block) {
    const grout_module *module = reach->module;
    contents in = {0};
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        in.has_run |= reach->op_has_run[id];
        in.has_seen |= is_seen(op);
        add_line(&in, grout_module_get_place(module, op->loc).line);
        for (uint32_t i = 0; i < op->block_count; i++) {
            contents inner = look_into(reach, op->first_block + i);
            in.has_run |= inner.has_run;
            in.has_seen |= inner.has_seen;
            add_line(&in, inner.lines.last);
        }
    }
    return in;
}

static bool add_lines(grout_reach *reach, grout_lines lines) {
    grout_lines *last =
        reach->lines.count == 0 ? NULL : &reach->lines.items[reach->lines.count - 1];
    if (last != NULL && lines.first <= last->last + 1) {
        last->last = lines.last > last->last ? lines.last : last->last;
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&reach->lines, NULL, 1)) {
        return false;
    }
    reach->lines.items[reach->lines.count++] = lines;
    return true;
}

/* The outermost blocks of those that never ran. */
static bool find_lines(grout_reach *reach, grout_block_id block) {
    const grout_module *module = reach->module;
    bool is_good = true;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && is_good; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        for (uint32_t i = 0; i < op->block_count && is_good; i++) {
            contents in = look_into(reach, op->first_block + i);
            if (in.has_seen && !in.has_run) {
                is_good = add_lines(reach, in.lines);
            } else if (in.has_seen) {
                is_good = find_lines(reach, op->first_block + i);
            }
        }
    }
    return is_good;
}

/* ---- barriers that never came round --------------------------------------------------------- */

static bool is_number(const grout_reach *reach, const grout_operand *operand) {
    return operand->kind == GROUT_OPERAND_EXPR &&
           grout_module_get_expr(reach->module, operand->id)->kind == GROUT_EXPR_INT;
}

/* Whether the turns of a loop are not written as numbers: other sizes or inputs make other ones. */
static bool is_open_loop(const grout_reach *reach, const grout_op *op) {
    if (op->block_count == 0 || grout_op_get_region_kind(op) != GROUT_REGION_LOOP) {
        return false;
    }
    uint32_t bounds = grout_op_get_region((grout_opcode)op->opcode)->lead_operands;
    for (uint32_t i = 0; i < bounds && i < op->operand_count; i++) {
        if (!is_number(reach, grout_module_get_operand(reach->module, op, i))) {
            return true;
        }
    }
    return bounds == 0;
}

static bool holds(const grout_reach *reach, const grout_block *block, grout_object_id object) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        if (grout_module_get_value(reach->module, block->first_arg + i)->object == object) {
            return true;
        }
    }
    return false;
}

/* Whether an op is in an open loop inside the life of an object. The innermost while around a test
 * asks again and again for one phase: it does not count. */
static bool is_in_loop(const grout_reach *reach, const grout_op *op, grout_object_id object) {
    bool is_asking = op->result_count > 0;
    for (;;) {
        const grout_block *block = grout_module_get_block(reach->module, op->parent);
        if (block->parent == 0 || holds(reach, block, object)) {
            return false;
        }
        op = grout_module_get_op(reach->module, block->parent);
        bool is_while =
            op->block_count > 0 && grout_op_get_region((grout_opcode)op->opcode)->blocks == 2;
        if (is_while && is_asking) {
            is_asking = false;
        } else if (is_open_loop(reach, op)) {
            return true;
        }
    }
}

static bool add_barrier(grout_reach *reach, grout_object_id object) {
    for (size_t i = 0; i < reach->barriers.count; i++) {
        if (reach->barriers.items[i] == object) {
            return true;
        }
    }
    if (!GROUT_ARRAY_RESERVE(&reach->barriers, NULL, 1)) {
        return false;
    }
    reach->barriers.items[reach->barriers.count++] = object;
    return true;
}

/* The barriers that an op waits for and that have not come round. */
static bool find_barriers_of(grout_reach *reach, const grout_op *op) {
    const grout_module *module = reach->module;
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    uint32_t count;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    bool is_good = true;
    for (uint32_t i = 0; i < count && is_good; i++) {
        grout_view view;
        if (effects[i].space == GROUT_EFFECT_SPACE_BARRIER &&
            effects[i].access == GROUT_ACCESS_WAIT && effects[i].operand < op->operand_count &&
            grout_module_get_view(module, grout_module_get_operand(module, op, effects[i].operand),
                                  &view) &&
            grout_module_get_object(module, view.object)->kind == GROUT_OBJECT_BARRIER &&
            reach->phases[view.object] == 1 && is_in_loop(reach, op, view.object)) {
            is_good = add_barrier(reach, view.object);
        }
    }
    return is_good;
}

static bool find_barriers(grout_reach *reach, grout_block_id block) {
    const grout_module *module = reach->module;
    bool is_good = true;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && is_good; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        is_good = find_barriers_of(reach, op);
        for (uint32_t i = 0; i < op->block_count && is_good; i++) {
            is_good = find_barriers(reach, op->first_block + i);
        }
    }
    return is_good;
}

/* ---- the answer ----------------------------------------------------------------------------- */

bool grout_reach__find(grout_reach *reach) {
    grout_block_id body = grout_module_get_kernel(reach->module, reach->kernel)->body;
    reach->lines.count = reach->barriers.count = 0;
    return find_lines(reach, body) && find_barriers(reach, body);
}

bool grout_reach__is_whole(const grout_reach *reach) {
    return reach->lines.count == 0 && reach->barriers.count == 0;
}

static uint64_t count_lines(const grout_reach *reach) {
    uint64_t count = 0;
    for (size_t i = 0; i < reach->lines.count; i++) {
        count += reach->lines.items[i].last - reach->lines.items[i].first + 1;
    }
    return count;
}

bool grout_reach__is_better(const grout_reach *reach, const grout_reach *other) {
    uint64_t own = count_lines(reach), others = count_lines(other);
    return own <= others && reach->barriers.count <= other->barriers.count &&
           (own < others || reach->barriers.count < other->barriers.count);
}

void grout_reach__describe(const grout_reach *reach, grout_text *out) {
    for (size_t i = 0; i < reach->lines.count; i++) {
        grout_lines lines = reach->lines.items[i];
        bool is_one = lines.first == lines.last;
        bool is_only = reach->lines.count == 1 && is_one;
        grout_text_add(out, i > 0 ? ", " : is_only ? "line " : "lines ");
        grout_text_add(out, is_one ? "%u" : "%u-%u", lines.first, lines.last);
    }
    for (size_t i = 0; i < reach->barriers.count; i++) {
        const grout_object *object =
            grout_module_get_object(reach->module, reach->barriers.items[i]);
        const grout_value *value = grout_module_get_value(reach->module, object->value);
        bool is_last = i + 1 == reach->barriers.count;
        grout_text_add(out, "%s%%%s",
                       i > 0                    ? ", "
                       : reach->lines.count > 0 ? "; "
                                                : "",
                       grout_module_get_string(reach->module, value->name));
        grout_text_add(out, is_last ? " never came round" : "");
    }
}
