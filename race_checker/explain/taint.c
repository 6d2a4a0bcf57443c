/*
 * taint.c - whether a value that depends on the schedule reaches what decides the run.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Such values come from semaphore_read, from atomics that return what was there, and from memory
 * that is combined in the order of arrival: float sums, exchanges, different atomics on one object.
 * They spread over values and, an object at a time, through memory, until nothing changes; control
 * need not be followed, since a branch that they reach is what is looked for. Ops that publish
 * events count only if they ran.
 */
#include "taint.h"

#include "checker.h"
#include "statement.h"

#include "alloc.h"

#include <string.h>

typedef struct flow {
    const grout_allocator *allocator;
    const grout_module *module;
    grout_kernel_id kernel;
    const grout_checker *checker;  /* knows which ops have run; NULL: all may */
    grout_object_id only;          /* sources are those of this object alone; 0: of all */
    grout_op_id *values, *objects; /* what each has from: an op that is a source; 0: nothing */
    uint32_t *kinds;               /* of an object: bits 1 << grout_update of what it meets */
    grout_op_id read;              /* what is followed instead: this op's value; 0: no */
    bool has_changed;
} flow;

_Static_assert(GROUT_UPDATE_COUNT <= 32, "flow.kinds has a bit for each update");

/* ---- spreading ---- */

static bool is_in_kernel(const flow *it, const grout_op *op) {
    return op->parent && grout_module_get_block(it->module, op->parent)->kernel == it->kernel;
}

static void mark(flow *it, grout_op_id *place, grout_op_id source) {
    if (source && !*place) {
        *place = source;
        it->has_changed = true;
    }
}

static grout_object_id find_object(const flow *it, const grout_op *op, uint32_t index) {
    return grout_op__find_object(it->module, op, index);
}

/* What the op's result and writes have from its operands. */
static grout_op_id find_input(const flow *it, const grout_op *op) {
    grout_op_id found = 0;
    for (uint32_t i = 0; i < op->operand_count && !found; i++) {
        const grout_operand *operand = grout_module_get_operand(it->module, op, i);
        grout_object_id object = find_object(it, op, i);
        if (object) {
            found = it->objects[object];
        } else if (operand->kind == GROUT_OPERAND_VALUE) {
            found = it->values[operand->id];
        }
    }
    return found;
}

/* To every object that the op writes or combines with. */
static void spread_to_memory(flow *it, const grout_op *op, grout_op_id source) {
    uint32_t count = 0;
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool writes =
            effects[i].access == GROUT_ACCESS_WRITE || effects[i].access == GROUT_ACCESS_ATOMIC;
        grout_object_id object = writes && effects[i].operand < op->operand_count
                                     ? find_object(it, op, effects[i].operand)
                                     : 0;
        if (object) {
            mark(it, &it->objects[object], source);
        }
    }
}

/* Memory whose contents depend on the order in which atomics come. */
static void spread_atomic(flow *it, grout_op_id id, const grout_op *op) {
    grout_update update = grout_op_get_update(it->module, op);
    uint32_t kind = 1u << update;
    grout_object_id object =
        update != GROUT_UPDATE_NONE
            ? find_object(it, op, grout_op_find_target((grout_opcode)op->opcode))
            : 0;
    bool is_open = false;
    if (!object || (it->only != 0 && object != it->only)) {
        return;
    }
    it->has_changed = it->has_changed || !(it->kinds[object] & kind);
    it->kinds[object] |= kind;
    is_open = it->kinds[object] != kind ||
              grout_update_is_ordered(
                  update, (grout_dtype)grout_object_get_type(it->module, object)->dtype);
    mark(it, &it->objects[object], is_open ? id : 0);
}

static void spread_to_results(flow *it, const grout_op *op, grout_op_id source) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        mark(it, &it->values[op->first_result + i], source);
    }
}

/* A value that a region's op takes or yields, to what carries it inside and after the region. */
static void spread_carried(flow *it, const grout_op *op, uint32_t index, grout_op_id source) {
    const grout_block *block = grout_module_get_block(it->module, op->first_block);
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    uint32_t arg = region->lead_args + index;
    if (region->kind == GROUT_REGION_LOOP && arg < block->arg_count) {
        mark(it, &it->values[block->first_arg + arg], source);
    }
    if (index < op->result_count) {
        mark(it, &it->values[op->first_result + index], source);
    }
}

static grout_op_id get_value_source(const flow *it, const grout_op *op, uint32_t index) {
    const grout_operand *operand = grout_module_get_operand(it->module, op, index);
    return operand->kind == GROUT_OPERAND_VALUE ? it->values[operand->id] : 0;
}

static uint8_t get_letter_kind(const grout_op *op, uint32_t operand) {
    return grout_letter_get_info(grout_op_get_letter((grout_opcode)op->opcode, operand))->kind;
}

/* Operands of an op of blocks in front of those that it carries or yields: they decide what runs.
 */
static uint32_t get_lead_count(const grout_op *op) {
    uint8_t shape = grout_op_get_info((grout_opcode)op->opcode)->shape;
    uint32_t count = 0;
    if (shape == GROUT_SHAPE_REGION || shape == GROUT_SHAPE_END) {
        while (count < op->operand_count && get_letter_kind(op, count) != GROUT_LETTER_REST) {
            count++;
        }
    }
    return count;
}

/* What the op carries into its blocks, or yields to the op around it. */
static void spread_to_region(flow *it, const grout_op *op, grout_op_id region) {
    uint32_t first = get_lead_count(op);
    for (uint32_t i = first; region && i < op->operand_count; i++) {
        spread_carried(it, grout_module_get_op(it->module, region), i - first,
                       get_value_source(it, op, i));
    }
}

static void spread(flow *it, grout_op_id id) {
    const grout_op *op = grout_module_get_op(it->module, id);
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    bool has_run = it->checker == NULL || it->checker->run.op_threads[id] != 0;
    if (info->shape == GROUT_SHAPE_REGION) {
        spread_to_region(it, op, id);
        return;
    }
    if (info->shape == GROUT_SHAPE_END) {
        spread_to_region(it, op, grout_op__get_parent(it->module, id));
        return;
    }
    if (it->read == 0 && has_run && grout_op_returns_old_value((grout_opcode)op->opcode) &&
        (it->only == 0 || find_object(it, op, 0) == it->only)) {
        spread_to_results(it, op, id);
    }
    if (it->read == 0 && has_run) {
        spread_atomic(it, id, op);
    }
    if (it->read == id) {
        spread_to_results(it, op, id);
        spread_to_memory(it, op, id);
    }
    if (grout_effect_row_get_class((grout_effect_row)info->effect_row) != GROUT_EFFECT_CONTROL) {
        grout_op_id source = find_input(it, op);
        spread_to_results(it, op, source);
        spread_to_memory(it, op, source);
    }
}

/* ---- sinks ---- */

/* The indices of a reference. */
static grout_op_id find_address(const flow *it, const grout_operand *operand) {
    grout_view view;
    grout_op_id found = 0;
    memset(&view, 0, sizeof view);
    if (!grout_module_get_view(it->module, operand, &view)) {
        return 0;
    }
    for (uint32_t dim = 0; dim < view.rank && !found; dim++) {
        for (uint32_t i = 0; i < view.start_term_count[dim] && !found; i++) {
            found = it->values[view.start_terms[dim][i]];
        }
    }
    for (uint32_t i = 0; i < view.cluster_index_count && !found; i++) {
        found = view.cluster_index[i].kind == GROUT_OPERAND_VALUE
                    ? it->values[view.cluster_index[i].id]
                    : 0;
    }
    return found;
}

/* The source of an operand that says how often, on which phase or for how many an op synchronises;
 * 0: there is none. */
static grout_op_id find_sync_operand(const flow *it, const grout_op *op) {
    bool is_sync = grout_op_get_sync((grout_opcode)op->opcode) != NULL;
    grout_op_id found = 0;
    for (uint32_t i = 0; is_sync && i < op->operand_count && !found; i++) {
        uint8_t kind = get_letter_kind(op, i);
        bool is_scalar = kind == GROUT_LETTER_INTEGER || kind == GROUT_LETTER_SCALAR;
        found = is_scalar ? get_value_source(it, op, i) : 0;
    }
    return found;
}

static grout_op_id find_sink(const flow *it, const grout_op *op, const char **what_out) {
    grout_op_id found = 0;
    uint32_t branches = get_lead_count(op);
    *what_out = "decides a branch";
    for (uint32_t i = 0; i < branches && !found; i++) {
        found = get_value_source(it, op, i);
    }
    if (!found) {
        found = find_sync_operand(it, op);
        *what_out = "is an operand of a synchronisation";
    }
    for (uint32_t i = 0; i < op->operand_count && !found; i++) {
        found = find_address(it, grout_module_get_operand(it->module, op, i));
        *what_out = "is part of an address";
    }
    return found;
}

static bool allocate(flow *it) {
    it->values =
        grout__new(it->allocator, grout_module_get_value_count(it->module), sizeof *it->values);
    it->objects =
        grout__new(it->allocator, grout_module_get_object_count(it->module), sizeof *it->objects);
    it->kinds =
        grout__new(it->allocator, grout_module_get_object_count(it->module), sizeof *it->kinds);
    return it->values && it->objects && it->kinds;
}

static void spread_all(flow *it) {
    uint32_t count = grout_module_get_op_count(it->module);
    do {
        it->has_changed = false;
        for (grout_op_id i = 1; i < count; i++) {
            if (is_in_kernel(it, grout_module_get_op(it->module, i))) {
                spread(it, i);
            }
        }
    } while (it->has_changed);
}

static void search(flow *it, grout_taint *found) {
    uint32_t count = grout_module_get_op_count(it->module);
    spread_all(it);
    for (grout_op_id i = 1; i < count && !found->source; i++) {
        const grout_op *op = grout_module_get_op(it->module, i);
        if (is_in_kernel(it, op)) {
            found->source = find_sink(it, op, &found->what);
            found->sink = i;
        }
    }
}

static void deinit(flow *it) {
    grout__free(it->values);
    grout__free(it->objects);
    grout__free(it->kinds);
}

bool grout_checker__find_taint(const grout_checker *checker, grout_taint *taint_out) {
    flow it = {.allocator = checker->allocator,
               .checker = checker,
               .module = checker->info.module,
               .kernel = checker->info.kernel};
    bool done = allocate(&it);
    memset(taint_out, 0, sizeof *taint_out);
    if (done) {
        search(&it, taint_out);
    }
    deinit(&it);
    return done;
}

bool grout_race_is_decisive(const grout_allocator *allocator, const grout_module *module,
                            grout_kernel_id kernel, grout_object_id object, bool *is_decisive_out) {
    flow it = {.allocator = allocator, .module = module, .kernel = kernel, .only = object};
    grout_taint found = {0};
    bool done = allocate(&it);
    if (done) {
        search(&it, &found);
    }
    *is_decisive_out = found.source != 0;
    deinit(&it);
    return done;
}

/* ---- what was read ---- */

bool grout_checker__is_fed(const grout_checker *checker, grout_op_id read, grout_op_id use,
                           bool *is_fed_out) {
    flow it = {.allocator = checker->allocator,
               .checker = checker,
               .module = checker->info.module,
               .kernel = checker->info.kernel,
               .read = read};
    const grout_op *op = grout_module_get_op(checker->info.module, use);
    bool done = allocate(&it);
    *is_fed_out = read == use;
    if (done && read != use) {
        const char *what = NULL;
        spread_all(&it);
        *is_fed_out = find_input(&it, op) != 0 || find_sink(&it, op, &what) != 0;
    }
    deinit(&it);
    return done;
}
