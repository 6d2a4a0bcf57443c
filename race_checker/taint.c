/*
 * taint.c - does a value that depends on the schedule reach what decides the run?
 * SPDX-License-Identifier: Apache-2.0
 *
 * Such values come from semaphore_read, from atomics that return what was there, and from memory
 * that is combined in the order of arrival: float sums, exchanges, different atomics on one object.
 * They spread over values and, an object at a time, through memory, until nothing changes; control
 * need not be followed, since a branch that they reach is what is looked for. Of the ops that tell
 * when they run only those count that did.
 */
#include "taint.h"
#include "checker.h"
#include "statement.h"

#include "alloc.h"

#include <string.h>

typedef struct flow {
    const grout_module *module;
    grout_kernel_id kernel;
    const grout_checker *checker;  /* knows which ops have run; NULL: all may */
    grout_object_id only;          /* sources are those of this object alone; 0: of all */
    grout_op_id *values, *objects; /* what each has from: an op that is a source; 0: nothing */
    uint32_t *kinds;               /* of an object: bits of the atomics on it */
    grout_op_id read;              /* what is followed instead: this op's value; 0: no */
    bool has_changed;
} flow;

/* ---- sources -----------------------------------------------------------------------------------
 */

static bool is_float(const grout_module *module, grout_object_id object) {
    uint8_t dtype = grout_object_get_type(module, object)->dtype;
    return dtype == GROUT_DTYPE_F16 || dtype == GROUT_DTYPE_BF16 || dtype == GROUT_DTYPE_F32 ||
           dtype == GROUT_DTYPE_F64;
}

static bool gives_old_value(const grout_op *op) {
    return op->opcode == GROUT_OP_SEMAPHORE_READ || op->opcode == GROUT_OP_ATOMIC_FETCH_ADD ||
           op->opcode == GROUT_OP_ATOMIC_EXCHANGE || op->opcode == GROUT_OP_ATOMIC_CAS;
}

/* Bits of the kinds of combination that do not commute with each other; 0: it combines nothing. */
enum {
    KIND_ADD = 1,
    KIND_MIN = 2,
    KIND_MAX = 4,
    KIND_AND = 8,
    KIND_OR = 16,
    KIND_XOR = 32,
    KIND_ORDERED = 64
};

static uint32_t get_reduction(const grout_module *module, const grout_op *op) {
    static const struct {
        grout_choice choice;
        uint32_t kind;
    } KINDS[] = {{GROUT_CHOICE_NONE, 0},
                 {GROUT_CHOICE_REDUCE_ADD, KIND_ADD},
                 {GROUT_CHOICE_REDUCE_MIN, KIND_MIN},
                 {GROUT_CHOICE_REDUCE_MAX, KIND_MAX},
                 {GROUT_CHOICE_REDUCE_AND, KIND_AND},
                 {GROUT_CHOICE_REDUCE_OR, KIND_OR},
                 {GROUT_CHOICE_REDUCE_XOR, KIND_XOR}};
    grout_choice choice = grout_op_get_choice(module, op, GROUT_ATTR_REDUCE);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (KINDS[i].choice == choice) {
            return KINDS[i].kind;
        }
    }
    return KIND_ORDERED;
}

static uint32_t get_kind(const grout_module *module, const grout_op *op) {
    static const struct {
        grout_opcode opcode;
        uint32_t kind;
    } KINDS[] = {{GROUT_OP_ATOMIC_ADD, KIND_ADD},         {GROUT_OP_ATOMIC_MIN, KIND_MIN},
                 {GROUT_OP_ATOMIC_MAX, KIND_MAX},         {GROUT_OP_ATOMIC_AND, KIND_AND},
                 {GROUT_OP_ATOMIC_OR, KIND_OR},           {GROUT_OP_ATOMIC_XOR, KIND_XOR},
                 {GROUT_OP_ATOMIC_FETCH_ADD, KIND_ADD},   {GROUT_OP_ATOMIC_CAS, KIND_ORDERED},
                 {GROUT_OP_ATOMIC_EXCHANGE, KIND_ORDERED}};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (KINDS[i].opcode == op->opcode) {
            return KINDS[i].kind;
        }
    }
    return get_reduction(module, op);
}

/* ---- spreading ---------------------------------------------------------------------------------
 */

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
    uint32_t kind = get_kind(it->module, op);
    uint32_t operand =
        op->opcode == GROUT_OP_COPY_SMEM_TO_GMEM || op->opcode == GROUT_OP_ASYNC_STORE_SMEM ? 1 : 0;
    grout_object_id object = kind ? find_object(it, op, operand) : 0;
    bool is_open = false;
    if (!object || (it->only != 0 && object != it->only)) {
        return;
    }
    it->has_changed = it->has_changed || !(it->kinds[object] & kind);
    it->kinds[object] |= kind;
    is_open = kind == KIND_ORDERED || (kind == KIND_ADD && is_float(it->module, object)) ||
              it->kinds[object] != kind;
    mark(it, &it->objects[object], is_open ? id : 0);
}

static void spread_to_results(flow *it, const grout_op *op, grout_op_id source) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        mark(it, &it->values[op->first_result + i], source);
    }
}

/* A value that a region's op takes or yields, to what stands for it inside and behind. */
static void spread_carried(flow *it, const grout_op *region, uint32_t index, grout_op_id source) {
    const grout_block *block = grout_module_get_block(it->module, region->first_block);
    bool is_loop = region->opcode == GROUT_OP_FOR || region->opcode == GROUT_OP_WHILE;
    uint32_t first = region->opcode == GROUT_OP_FOR ? 1 : 0;
    if (is_loop && first + index < block->arg_count) {
        mark(it, &it->values[block->first_arg + first + index], source);
    }
    if (index < region->result_count) {
        mark(it, &it->values[region->first_result + index], source);
    }
}

static grout_op_id get_value_source(const flow *it, const grout_op *op, uint32_t index) {
    const grout_operand *operand = grout_module_get_operand(it->module, op, index);
    return operand->kind == GROUT_OPERAND_VALUE ? it->values[operand->id] : 0;
}

static void spread_region(flow *it, const grout_op *op) {
    uint32_t first = op->opcode == GROUT_OP_FOR ? 3 : 0;
    bool is_loop = op->opcode == GROUT_OP_FOR || op->opcode == GROUT_OP_WHILE;
    for (uint32_t i = first; is_loop && i < op->operand_count; i++) {
        spread_carried(it, op, i - first, get_value_source(it, op, i));
    }
}

static void spread(flow *it, grout_op_id id) {
    const grout_op *op = grout_module_get_op(it->module, id);
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    bool has_run = it->checker == NULL || it->checker->op_threads[id] != 0;
    if (op->block_count > 0) {
        spread_region(it, op);
        return;
    }
    if (op->opcode == GROUT_OP_YIELD) {
        grout_op_id region = grout_op__get_parent(it->module, id);
        for (uint32_t i = 0; region && i < op->operand_count; i++) {
            spread_carried(it, grout_module_get_op(it->module, region), i,
                           get_value_source(it, op, i));
        }
        return;
    }
    if (it->read == 0 && has_run && gives_old_value(op) &&
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

/* ---- sinks -------------------------------------------------------------------------------------
 */

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

static grout_op_id find_sink(const flow *it, const grout_op *op, const char **what_out) {
    grout_op_id found = 0;
    uint32_t branches = op->opcode == GROUT_OP_IF || op->opcode == GROUT_OP_COND ? 1 : 0;
    bool is_sync = op->opcode == GROUT_OP_MBARRIER_WAIT || op->opcode == GROUT_OP_MBARRIER_TEST ||
                   op->opcode == GROUT_OP_SEMAPHORE_SIGNAL || op->opcode == GROUT_OP_SEMAPHORE_WAIT;
    branches = op->opcode == GROUT_OP_FOR ? 3 : branches;
    *what_out = "decides a branch";
    for (uint32_t i = 0; i < branches && !found; i++) {
        found = get_value_source(it, op, i);
    }
    if (!found && is_sync) {
        found = get_value_source(it, op, 1);
        *what_out = "is an operand of a synchronisation";
    }
    for (uint32_t i = 0; i < op->operand_count && !found; i++) {
        found = find_address(it, grout_module_get_operand(it->module, op, i));
        *what_out = "is part of an address";
    }
    return found;
}

static bool allocate(flow *it) {
    it->values = grout_check__calloc(grout_module_get_value_count(it->module), sizeof *it->values);
    it->objects =
        grout_check__calloc(grout_module_get_object_count(it->module), sizeof *it->objects);
    it->kinds = grout_check__calloc(grout_module_get_object_count(it->module), sizeof *it->kinds);
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
    grout_check__free(it->values);
    grout_check__free(it->objects);
    grout_check__free(it->kinds);
}

bool grout_checker__find_taint(const grout_checker *checker, grout_taint *taint_out) {
    flow it = {.checker = checker, .module = checker->info.module, .kernel = checker->info.kernel};
    bool done = allocate(&it);
    memset(taint_out, 0, sizeof *taint_out);
    if (done) {
        search(&it, taint_out);
    }
    deinit(&it);
    return done;
}

bool grout_race_is_decisive(const grout_module *module, grout_kernel_id kernel,
                            grout_object_id object, bool *is_decisive_out) {
    flow it = {.module = module, .kernel = kernel, .only = object};
    grout_taint found = {0};
    bool done = allocate(&it);
    if (done) {
        search(&it, &found);
    }
    *is_decisive_out = found.source != 0;
    deinit(&it);
    return done;
}

/* ---- what was read ------------------------------------------------------------------------------
 */

bool grout_checker__is_fed(const grout_checker *checker, grout_op_id read, grout_op_id use,
                           bool *is_fed_out) {
    flow it = {.checker = checker,
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
