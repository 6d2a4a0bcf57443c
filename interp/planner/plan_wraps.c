/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * plan_wraps.c - which instructions look for integers that wrap around, and which for those that
 * have: exec_traced.c.
 *
 * A value matters if it reaches an address, a number of what synchronises, or a bound of a loop.
 * Traced are
 * those that matter and may have wrapped: an op made them whose result has no place in its type for
 * some operands between the least and the greatest that these may be, or they come of such a one.
 * Most kernels have none, and nothing is looked at.
 */
#include "exec.h"
#include "planner.h"
#include "wraps.h"

#include "grout-internal/sinks.h"

#include <string.h>

/* ---- the least and the greatest that a value may be ---------------------------------------------
 */

typedef struct grout_extremes {
    int64_t low, high;
} range;

size_t grout_planner__get_range_size(void) {
    return sizeof(range);
}

static const range EVERY = {INT64_MIN, INT64_MAX};

static bool is_integer(grout_dtype dtype) {
    const uint8_t class_ = grout_dtype_get_info(dtype)->class_;
    return class_ == GROUT_CLASS_SINT || class_ == GROUT_CLASS_UINT;
}

/* All that a type holds; of u64 as far as an int64_t goes. */
static range get_full(grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const uint32_t bits = info->bits;
    if (info->class_ == GROUT_CLASS_SINT && bits < 64) {
        return (range){-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1};
    }
    if (info->class_ == GROUT_CLASS_UINT) {
        return (range){0, bits < 64 ? (INT64_C(1) << bits) - 1 : INT64_MAX};
    }
    return dtype == GROUT_DTYPE_BOOL ? (range){0, 1} : EVERY;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static range join(range a, range b) {
    return (range){least(a.low, b.low), greatest(a.high, b.high)};
}

/* False if some product leaves 64 bits. */
static bool multiply(range a, range b, range *out) {
    int64_t products[4];
    const bool leaves = __builtin_mul_overflow(a.low, b.low, &products[0]) ||
                        __builtin_mul_overflow(a.low, b.high, &products[1]) ||
                        __builtin_mul_overflow(a.high, b.low, &products[2]) ||
                        __builtin_mul_overflow(a.high, b.high, &products[3]);
    if (leaves) {
        return false;
    }
    *out = join((range){least(products[0], products[1]), greatest(products[0], products[1])},
                (range){least(products[2], products[3]), greatest(products[2], products[3])});
    return true;
}

static bool add(range a, range b, range *out) {
    return !__builtin_add_overflow(a.low, b.low, &out->low) &&
           !__builtin_add_overflow(a.high, b.high, &out->high);
}

static bool subtract(range a, range b, range *out) {
    return !__builtin_sub_overflow(a.low, b.high, &out->low) &&
           !__builtin_sub_overflow(a.high, b.low, &out->high);
}

/* Any number, unless the divisor is above 0; a quotient that is rounded up may be one more. */
static range divide(range a, range b) {
    if (b.low < 1) {
        return EVERY;
    }
    const range by_least = {a.low / b.low, a.high / b.low};
    const range by_greatest = {a.low / b.high, a.high / b.high};
    range all = join(join(by_least, by_greatest), (range){by_least.low, by_greatest.high});
    all.high += all.high < INT64_MAX ? 1 : 0;
    return all;
}

/* With the sign of the dividend. */
static range remain(range a, range b) {
    const int64_t most = b.low > 0 ? b.high - 1 : INT64_MAX;
    return (range){a.low >= 0 ? 0 : greatest(a.low, -most), a.high <= 0 ? 0 : least(a.high, most)};
}

/* The number whose bits are all that one up to 'high' may have. */
static int64_t fill_bits(int64_t high) {
    int64_t filled = 0;
    while (filled < high) {
        filled = filled * 2 + 1;
    }
    return filled;
}

static range get_common_bits(range a, range b) {
    if (a.low >= 0 || b.low >= 0) {
        return (range){0, a.low < 0 ? b.high : b.low < 0 ? a.high : least(a.high, b.high)};
    }
    return EVERY;
}

static range get_bits(range a, range b) {
    return a.low >= 0 && b.low >= 0 ? (range){0, fill_bits(greatest(a.high, b.high))} : EVERY;
}

/* What b may be as the bits of a shift: the least and the greatest; false: a shift by it may be
 * none. */
static bool get_shifts(range b, uint32_t shifts[2]) {
    const bool are_shifts = b.low >= 0 && b.high < 63;
    shifts[0] = are_shifts ? (uint32_t)b.low : 0;
    shifts[1] = are_shifts ? (uint32_t)b.high : 0;
    return are_shifts;
}

static bool shift_left(range a, range b, range *out) {
    uint32_t shifts[2];
    return get_shifts(b, shifts) &&
           multiply(a, (range){INT64_C(1) << shifts[0], INT64_C(1) << shifts[1]}, out);
}

static range shift_right(range a, range b) {
    uint32_t shifts[2];
    return get_shifts(b, shifts) ? join((range){a.low >> shifts[0], a.high >> shifts[0]},
                                        (range){a.low >> shifts[1], a.high >> shifts[1]})
                                 : EVERY;
}

/* ---- the values of a kernel ---------------------------------------------------------------------
 */

static range get_operand(const grout_planner *planner, const grout_op *op, uint32_t index) {
    const grout_operand *operand = grout_module_get_operand(planner->module, op, index);
    if (operand->kind == GROUT_OPERAND_EXPR) {
        const int64_t value = grout_module_get_expr_value(planner->module, operand->id).integer;
        return is_integer(grout_module_get_operand_dtype(planner->module, operand))
                   ? (range){value, value}
                   : EVERY;
    }
    return operand->kind == GROUT_OPERAND_VALUE ? planner->ranges[operand->id] : EVERY;
}

static grout_dtype get_dtype(const grout_planner *planner, const grout_op *op, uint32_t index) {
    return grout_module_get_operand_dtype(planner->module,
                                          grout_module_get_operand(planner->module, op, index));
}

/* What any operand from one on may be. */
static range join_operands(const grout_planner *planner, const grout_op *op, uint32_t first) {
    range all = get_operand(planner, op, first);
    for (uint32_t i = first + 1; i < op->operand_count; i++) {
        const uint8_t kind = grout_module_get_operand(planner->module, op, i)->kind;
        if (kind == GROUT_OPERAND_VALUE || kind == GROUT_OPERAND_EXPR) {
            all = join(all, get_operand(planner, op, i));
        }
    }
    return all;
}

/* The sum of as many elements as become one. */
static bool sum_up(const grout_planner *planner, const grout_op *op, range *out) {
    const grout_type type = grout_module_get_operand_type(
        planner->module, grout_module_get_operand(planner->module, op, 0));
    const range one = get_operand(planner, op, 0);
    const range counts = {0, grout_type_get_count(&type)};
    return multiply(one, counts, out);
}

/* The range of an op's result, before it is cut to its type; false: it may be anything. */
static bool compute(const grout_planner *planner, const grout_op *op, range *out) {
    const range a = op->operand_count > 0 ? get_operand(planner, op, 0) : EVERY;
    const range b = op->operand_count > 1 ? get_operand(planner, op, 1) : EVERY;
    const range zero = {0, 0};
    switch ((grout_wrap_result)grout_wrap__get_info((grout_opcode)op->opcode).result) {
    case GROUT_WRAP_SUM:
        return add(a, b, out);
    case GROUT_WRAP_DIFFERENCE:
        return subtract(a, b, out);
    case GROUT_WRAP_PRODUCT:
        return multiply(a, b, out);
    case GROUT_WRAP_NEGATIVE:
        return subtract(zero, a, out);
    case GROUT_WRAP_MAGNITUDE: {
        range turned;
        *out = a;
        return a.low >= 0 || (subtract(zero, a, &turned) &&
                              (*out = (range){0, greatest(a.high, turned.high)}, true));
    }
    case GROUT_WRAP_SHIFTED_LEFT:
        return shift_left(a, b, out);
    case GROUT_WRAP_CONVERTED:
        *out = a;
        return is_integer(get_dtype(planner, op, 0));
    case GROUT_WRAP_SUMS:
        return sum_up(planner, op, out);
    case GROUT_WRAP_QUOTIENT:
        *out = divide(a, b);
        return true;
    case GROUT_WRAP_REMAINDER:
        *out = remain(a, b);
        return true;
    case GROUT_WRAP_BITS:
        *out = get_bits(a, b);
        return true;
    case GROUT_WRAP_COMMON_BITS:
        *out = get_common_bits(a, b);
        return true;
    case GROUT_WRAP_SHIFTED_RIGHT:
        *out = shift_right(a, b);
        return true;
    case GROUT_WRAP_SMALLER:
        *out = (range){least(a.low, b.low), least(a.high, b.high)};
        return true;
    case GROUT_WRAP_LARGER:
        *out = (range){greatest(a.low, b.low), greatest(a.high, b.high)};
        return true;
    case GROUT_WRAP_CLAMPED:
        *out = join(b, get_operand(planner, op, 2));
        return true;
    case GROUT_WRAP_COUNT:
        *out = (range){0, 64};
        return true;
    case GROUT_WRAP_ONE_OF:
        /* by rule: a condition is no element of what it chooses from */
        *out = join_operands(
            planner, op,
            grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_SELECT ? 1 : 0);
        return true;
    case GROUT_WRAP_PRODUCTS:
    case GROUT_WRAP_ANY:
    case GROUT_WRAP_NONE:
        break;
    }
    return false;
}

/* An index along an axis, or of an element. */
static bool find_index_range(const grout_planner *planner, const grout_op *op, range *out) {
    const grout_rule rule = (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
    if (rule == GROUT_RULE_INTEGER && grout_op_get_letter((grout_opcode)op->opcode, 0) == 'x') {
        const uint32_t axis = grout_module_get_operand(planner->module, op, 0)->id - 1;
        *out = (range){0, grout_kernel_get_axis_size(planner->module, planner->plan->kernel, axis) -
                              1};
        return true;
    }
    if (rule == GROUT_RULE_IOTA) {
        const grout_type *type = grout_module_get_type(planner->module, op->first_result);
        const int64_t dim = grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_DIM, 0);
        *out = (range){0, type->dims[dim] - 1};
        return true;
    }
    return false;
}

static bool holds(range all, range part) {
    return part.low >= all.low && part.high <= all.high;
}

/* Sets the range of an op's result; whether it may wrap. */
static bool set_range(grout_planner *planner, const grout_op *op) {
    const grout_dtype dtype =
        (grout_dtype)grout_module_get_type(planner->module, op->first_result)->dtype;
    const range full = get_full(dtype);
    range found;
    bool is_known = is_integer(dtype) &&
                    (find_index_range(planner, op, &found) || compute(planner, op, &found));
    const bool fits = is_known && holds(full, found);
    planner->ranges[op->first_result] = fits ? found : full;
    return is_integer(dtype) && !fits && grout_wrap__get_info((grout_opcode)op->opcode).wraps &&
           is_integer(get_dtype(planner, op, 0));
}

static void set_results_full(grout_planner *planner, const grout_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        planner->ranges[op->first_result + i] = get_full(
            (grout_dtype)grout_module_get_type(planner->module, op->first_result + i)->dtype);
    }
}

/* The arguments of a region's blocks: a loop's index is between its bounds. */
static void set_arguments(grout_planner *planner, const grout_op *op) {
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    for (uint32_t b = 0; b < op->block_count; b++) {
        const grout_block *block = grout_module_get_block(planner->module, op->first_block + b);
        for (uint32_t i = 0; i < block->arg_count; i++) {
            const grout_dtype dtype =
                (grout_dtype)grout_module_get_type(planner->module, block->first_arg + i)->dtype;
            planner->ranges[block->first_arg + i] = get_full(dtype);
        }
        if (region->kind == GROUT_REGION_LOOP && region->lead_args > 0) {
            const range low = get_operand(planner, op, 0), high = get_operand(planner, op, 1);
            planner->ranges[block->first_arg] =
                (range){low.low, greatest(low.low, high.high - (high.high > INT64_MIN ? 1 : 0))};
        } else if (region->kind == GROUT_REGION_WARPS && block->arg_count > 0) {
            planner->ranges[block->first_arg] = (range){0, 3};
        }
    }
}

/* ---- what matters -------------------------------------------------------------------------------
 */

static bool mark(const grout_planner *planner, bool *marks, grout_value_id value) {
    const bool is_new =
        !marks[value] &&
        is_integer((grout_dtype)grout_module_get_type(planner->module, value)->dtype);
    marks[value] = marks[value] || is_new;
    return is_new;
}

/* Values that an operand of a use has: 'visit' gets each. */
typedef void visit_use(grout_planner *planner, grout_value_id value, uint32_t operand, void *with);

static bool is_counted(const grout_op *op, uint32_t operand) {
    const uint32_t sinks = grout_op_get_sinks((grout_opcode)op->opcode, operand);
    return (sinks & (1u << GROUT_SINK_ADDRESS | 1u << GROUT_SINK_SYNC | 1u << GROUT_SINK_BRANCH)) !=
           0;
}

static void visit_uses(grout_planner *planner, const grout_op *op, visit_use *visit, void *with) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const grout_operand *operand = grout_module_get_operand(planner->module, op, i);
        grout_view view;
        if (!grout_module_get_view(planner->module, operand, &view)) {
            if (operand->kind == GROUT_OPERAND_VALUE && is_counted(op, i)) {
                visit(planner, operand->id, i, with);
            }
            continue;
        }
        for (uint32_t dim = 0; dim < view.rank; dim++) {
            for (uint32_t k = 0; k < view.start_term_count[dim]; k++) {
                visit(planner, view.start_terms[dim][k], i, with);
            }
        }
        for (uint32_t k = 0; k < view.cluster_index_count; k++) {
            if (view.cluster_index[k].kind == GROUT_OPERAND_VALUE) {
                visit(planner, view.cluster_index[k].id, i, with);
            }
        }
    }
}

static void mark_use(grout_planner *planner, grout_value_id value, uint32_t operand, void *with) {
    (void)operand;
    (void)with;
    mark(planner, planner->matters, value);
}

static bool goes_on(const grout_op *op) {
    return grout_wrap__get_info((grout_opcode)op->opcode).trace != GROUT_TRACE_ENDS;
}

/* Operands of an op whose result matters. */
static bool mark_operands(const grout_planner *planner, bool *marks, const grout_op *op,
                          uint32_t first, uint32_t end) {
    bool is_new = false;
    for (uint32_t i = first; i < end && i < op->operand_count; i++) {
        const grout_operand *operand = grout_module_get_operand(planner->module, op, i);
        is_new |= operand->kind == GROUT_OPERAND_VALUE && mark(planner, marks, operand->id);
    }
    return is_new;
}

/* What a region hands on, from its start values and yields to its carries and results: backwards
 * from what matters, or forwards from what has wrapped. */
static bool hand_on(const grout_planner *planner, bool *marks, const grout_op *op, bool is_back) {
    const grout_module *module = planner->module;
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    const grout_block *first = grout_module_get_block(module, op->first_block);
    const bool is_loop = region->kind == GROUT_REGION_LOOP;
    bool is_new = false;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const grout_value_id result = op->first_result + i;
        const grout_value_id carry = is_loop ? first->first_arg + region->lead_args + i : result;
        bool is_any = marks[result] || marks[carry];
        for (uint32_t b = 0; b < op->block_count; b++) {
            const grout_op *yield = grout_block_find_yield(module, op->first_block + b);
            const uint32_t start = region->lead_operands + i;
            if (is_back && is_any) {
                is_new |= yield != NULL && mark_operands(planner, marks, yield, i, i + 1);
                is_new |= is_loop && mark_operands(planner, marks, op, start, start + 1);
            } else if (!is_back) {
                const grout_operand *from = yield != NULL && i < yield->operand_count
                                                ? grout_module_get_operand(module, yield, i)
                                                : NULL;
                const grout_operand *init = is_loop && start < op->operand_count
                                                ? grout_module_get_operand(module, op, start)
                                                : NULL;
                is_any |= from != NULL && from->kind == GROUT_OPERAND_VALUE && marks[from->id];
                is_any |= init != NULL && init->kind == GROUT_OPERAND_VALUE && marks[init->id];
            }
        }
        is_new |= is_any && planner->matters[result] && mark(planner, marks, result);
        is_new |= is_any && (is_back || planner->matters[carry]) && mark(planner, marks, carry);
        is_new |= is_any && is_back && mark(planner, marks, result);
    }
    return is_new;
}

/* ---- passes over the ops ------------------------------------------------------------------------
 */

typedef bool visit_op(grout_planner *planner, grout_op_id id, const grout_op *op);

/* All ops in the order of the text, an op with blocks before them; whether a visit said so. */
static bool visit_once(grout_planner *planner, visit_op *visit) {
    bool is_any = false;
    for (uint32_t at = 1; at <= planner->position && grout_planner__goes_on(planner); at++) {
        const grout_op_id id = planner->op_at[at];
        if (planner->op_begin[id] == at) {
            is_any |= visit(planner, id, grout_module_get_op(planner->module, id));
        }
    }
    return is_any;
}

/* Visits all ops until none says that it has changed anything: forwards or backwards, as what they
 * hand on goes, and an op with blocks on both sides of them. So a pass more is for loops alone,
 * whose carries go round. */
static void visit_until_settled(grout_planner *planner, visit_op *visit, bool is_back) {
    bool has_changed = true;
    while (has_changed && !planner->failed) {
        has_changed = false;
        for (uint32_t i = 1; i <= planner->position && grout_planner__goes_on(planner); i++) {
            const grout_op_id id = planner->op_at[is_back ? planner->position + 1 - i : i];
            has_changed |= visit(planner, id, grout_module_get_op(planner->module, id));
        }
    }
}

static bool begin_op(grout_planner *planner, grout_op_id id, const grout_op *op) {
    bool may_wrap = false;
    if (op->block_count > 0) {
        set_arguments(planner, op);
        set_results_full(planner, op);
    } else if (op->result_count == 1 &&
               grout_op_get_info((grout_opcode)op->opcode)->shape == GROUT_SHAPE_PLAIN) {
        may_wrap = set_range(planner, op);
    } else {
        set_results_full(planner, op);
    }
    planner->wraps[id] = may_wrap ? 1 : 0;
    visit_uses(planner, op, mark_use, NULL);
    return may_wrap;
}

static bool is_value(const grout_op *op) {
    return op->block_count == 0 && op->result_count == 1;
}

static bool mark_what_matters(grout_planner *planner, grout_op_id id, const grout_op *op) {
    (void)id;
    if (op->block_count > 0) {
        return hand_on(planner, planner->matters, op, true);
    }
    return is_value(op) && planner->matters[op->first_result] && goes_on(op) &&
           mark_operands(planner, planner->matters, op, 0, op->operand_count);
}

static bool mark_traced(grout_planner *planner, grout_op_id id, const grout_op *op) {
    bool is_any = planner->wraps[id] != 0;
    if (op->block_count > 0) {
        return hand_on(planner, planner->traced, op, false);
    }
    for (uint32_t i = 0; i < op->operand_count && !is_any && goes_on(op); i++) {
        const grout_operand *operand = grout_module_get_operand(planner->module, op, i);
        is_any = operand->kind == GROUT_OPERAND_VALUE && planner->traced[operand->id];
    }
    return is_any && is_value(op) && planner->matters[op->first_result] &&
           mark(planner, planner->traced, op->first_result);
}

/* Numbers those whose wrapping matters. */
static bool number(grout_planner *planner, grout_op_id id, const grout_op *op) {
    grout_plan *plan = planner->plan;
    if (planner->wraps[id] == 0 || !planner->matters[op->first_result]) {
        planner->wraps[id] = 0;
        return false;
    }
    /* of those that share the last number nobody knows which it was */
    plan->wrap_ops[plan->wrap_count < GROUT_WRAP_NUMBER_MAX ? plan->wrap_count + 1
                                                            : GROUT_WRAP_NUMBER_MAX] =
        plan->wrap_count < GROUT_WRAP_NUMBER_MAX ? id : 0;
    plan->wrap_count += plan->wrap_count < GROUT_WRAP_NUMBER_MAX ? 1 : 0;
    planner->wraps[id] = (uint8_t)plan->wrap_count;
    return true;
}

/* Values that no op makes: parameters. */
static void begin_ranges(grout_planner *planner) {
    const uint32_t count = grout_module_get_value_count(planner->module);
    for (grout_value_id i = 1; i < count; i++) {
        planner->ranges[i] =
            get_full((grout_dtype)grout_module_get_type(planner->module, i)->dtype);
    }
}

void grout_planner__find_wraps(grout_planner *planner) {
    begin_ranges(planner);
    if (planner->plan->has_masks && visit_once(planner, begin_op)) {
        visit_until_settled(planner, mark_what_matters, true);
        visit_until_settled(planner, mark_traced, false);
        (void)visit_once(planner, number);
    }
}

bool grout_planner__is_traced(const grout_planner *planner, const grout_op *op) {
    return is_value(op) && planner->traced[op->first_result];
}

/* ---- instructions -------------------------------------------------------------------------------
 */

typedef struct watching {
    const grout_op *op;
    uint32_t count;
} watching;

static uint8_t get_use(const watching *it, uint32_t operand) {
    const uint32_t sinks = grout_op_get_sinks((grout_opcode)it->op->opcode, operand);
    return (sinks >> GROUT_SINK_BRANCH & 1) != 0 ? GROUT_USE_BRANCH
           : (sinks >> GROUT_SINK_SYNC & 1) != 0 ? GROUT_USE_SYNC
                                                 : GROUT_USE_ADDRESS;
}

static void add_watch(grout_planner *planner, grout_value_id value, uint32_t operand, void *with) {
    grout_plan *plan = planner->plan;
    if (!planner->traced[value]) {
        return;
    }
    const uint32_t index = grout_pool__take(&plan->watches, plan->heap);
    if (index == 0) {
        planner->failed = true;
        return;
    }
    *(grout_watch *)grout_pool__at(&plan->watches, index) =
        (grout_watch){.slot = planner->value_slots[value],
                      .operand = (uint8_t)operand,
                      .use = get_use(with, operand)};
    ((watching *)with)->count++;
}

void grout_planner__trace(grout_planner *planner, uint32_t index, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    const uint32_t first = grout_plan__get_next(&planner->plan->watches);
    watching found = {.op = op};
    if (planner->plan->wrap_count == 0 || planner->failed) {
        return;
    }
    visit_uses(planner, op, add_watch, &found);
    grout_inst *inst = grout_planner__get_inst(planner, index);
    if (grout_planner__is_traced(planner, op)) {
        inst->inner = inst->exec;
        inst->exec = grout_exec_traced;
        inst->wrap = planner->wraps[id];
    } else if (found.count > 0) {
        inst->first_watch = first;
        inst->watch_count = found.count;
        inst->inner = inst->exec;
        inst->exec = grout_exec_watched;
    }
}
