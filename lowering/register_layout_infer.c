/* register_layout_infer.c - choosing the register layouts of a kernel's array values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "register_layouts.h"

#include "alloc.h"
#include "invariant.h"

#include "grout-internal/verify.h"

/* Calls visit for the results of an op and the arguments of its blocks. */
typedef void visit_value(grout_layout_inference *inf, grout_value_id value);

static void visit_run(grout_layout_inference *inf, grout_value_id first, uint32_t count,
                      visit_value *visit) {
    for (grout_value_id value = first; value < first + count; value++) {
        visit(inf, value);
    }
}

static void visit_values(grout_layout_inference *inf, const grout_op *op, visit_value *visit) {
    visit_run(inf, op->first_result, op->result_count, visit);
    for (uint32_t k = 0; k < op->block_count; k++) {
        const grout_block *block = grout_module_get_block(inf->module, op->first_block + k);
        visit_run(inf, block->first_arg, block->arg_count, visit);
    }
}

/* ---- splats and others ----------------------------------------------------------------------- */

/* Every array starts as a splat of its count. */
static void begin_value(grout_layout_inference *inf, grout_value_id value) {
    const grout_type *type = grout_module_get_type(inf->module, value);
    if (type->kind == GROUT_TYPE_ARRAY) {
        inf->out->of_value[value] = (grout_register_layout){.kind = GROUT_LAYOUT_SPLAT,
                                                            .vec = 1,
                                                            .warps = inf->warps,
                                                            .registers = 1,
                                                            .count = grout_type_get_count(type),
                                                            .rows = 1,
                                                            .cols = 1};
    }
}

static void begin_op(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    (void)id;
    inf->warps = (uint8_t)grout_op_get_warps(inf->module, op);
    visit_values(inf, op, begin_value);
}

/* Until layouts are settled, strided means any layout that is no splat. */
static void spread_value(grout_layout_inference *inf, grout_value_id value) {
    grout_register_layout *layout = &inf->out->of_value[value];
    if (layout->kind == GROUT_LAYOUT_SPLAT && layout->count > 1) {
        layout->kind = GROUT_LAYOUT_STRIDED;
        inf->is_changed = true;
    }
}

/* A value made from an array whose elements differ has elements that differ. */
static void spread_edge(grout_layout_inference *inf, grout_op_id op, const grout_operand *from,
                        grout_value_id to) {
    (void)op;
    if (from->kind == GROUT_OPERAND_VALUE && grout_layout__is_spread(inf, from->id)) {
        spread_value(inf, to);
    }
}

static void spread_op(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    if (grout_layout__is_source(op)) {
        spread_value(inf, op->first_result);
    }
    grout_layout__visit_edges(inf, id, op, spread_edge);
}

/* ---- classes --------------------------------------------------------------------------------- */

static void join_edge(grout_layout_inference *inf, grout_op_id op, const grout_operand *from,
                      grout_value_id to) {
    (void)op;
    if (grout_layout__is_joint(inf, from, to)) {
        inf->parents[grout_layout__find_root(inf, from->id)] = grout_layout__find_root(inf, to);
    }
}

static void join_op(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    grout_layout__visit_edges(inf, id, op, join_edge);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void decide(grout_layout_inference *inf, const grout_layout_demand *demand) {
    const grout_value_id root = grout_layout__find_root(inf, demand->value);
    GROUT_ASSERT(demand->kind != GROUT_LAYOUT_NONE && demand->kind != GROUT_LAYOUT_SPLAT);
    grout_layout_demand *first = &inf->demands[root];
    if (first->kind == GROUT_LAYOUT_NONE) {
        *first = *demand;
    } else if (first->kind != demand->kind && !inf->is_reported[root]) {
        inf->is_reported[root] = true;
        grout_layout__report_conflict(inf, first, demand);
    }
}

static void demand_op(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    const bool is_reduction =
        grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_REDUCE;
    if (!(is_reduction ? inf->skips_reductions : inf->skips_others)) {
        grout_layout__visit_demands(inf, id, op, decide);
    }
}

static void demand_all(grout_layout_inference *inf) {
    if (inf->is_blackwell) {
        inf->skips_reductions = true;
        grout_layout__walk(inf, inf->body, demand_op);
        inf->skips_reductions = false;
        inf->skips_others = true;
    }
    grout_layout__walk(inf, inf->body, demand_op);
    inf->skips_others = false;
}

/* Gives a value's class a layout if it has none yet. */
static void grant(grout_layout_inference *inf, grout_value_id value, uint8_t kind) {
    grout_layout_demand *demand = &inf->demands[grout_layout__find_root(inf, value)];
    if (demand->kind == GROUT_LAYOUT_NONE) {
        demand->kind = kind;
        inf->is_changed = true;
    }
}

static uint8_t get_decision(const grout_layout_inference *inf, grout_value_id value) {
    return inf->demands[grout_layout__find_root(inf, value)].kind;
}

/* An operand and the result of an op that takes parts had better have one layout, if no element
 * then changes its lane. */
static void wish_part(grout_layout_inference *inf, const grout_op *op, uint32_t k) {
    const grout_operand *from = grout_module_get_operand(inf->module, op, k);
    if (!grout_layout__is_spread(inf, from->id) ||
        !grout_layout__is_spread(inf, op->first_result)) {
        return;
    }
    const uint8_t source = get_decision(inf, from->id);
    const uint8_t result = get_decision(inf, op->first_result);
    const uint8_t kind = source == GROUT_LAYOUT_NONE ? result : source;
    const bool is_open = (source == GROUT_LAYOUT_NONE) != (result == GROUT_LAYOUT_NONE);
    if (is_open && kind != GROUT_LAYOUT_STRIDED && grout_layout__keeps_lanes(inf, op, k, kind)) {
        grant(inf, from->id, kind);
        grant(inf, op->first_result, kind);
    }
}

static void wish_op(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    const grout_layout_wish wish = grout_layout__get_wish(inf, op);
    (void)id;
    for (uint32_t k = 0; k < op->operand_count && grout_layout__takes_parts(op); k++) {
        wish_part(inf, op, k);
    }
    if (wish.from == 0) {
        return;
    }
    if (get_decision(inf, wish.to) == wish.to_kind) {
        grant(inf, wish.from, wish.from_kind);
    }
    if (get_decision(inf, wish.from) == wish.from_kind) {
        grant(inf, wish.to, wish.to_kind);
    }
}

/* A layout_cast between strided classes is none: together they agree on the runs' length. So do
 * those of a reshape: both deal out the elements in row-major order. */
static void join_cast(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    const uint8_t rule = grout_op_get_info((grout_opcode)op->opcode)->rule;
    (void)id;
    if (rule != GROUT_RULE_LAYOUT && rule != GROUT_RULE_RESHAPE) {
        return;
    }
    const grout_operand *from = grout_module_get_operand(inf->module, op, 0);
    const bool is_spread = from->kind == GROUT_OPERAND_VALUE &&
                           grout_layout__is_spread(inf, from->id) &&
                           grout_layout__is_spread(inf, op->first_result);
    const uint8_t kind = is_spread ? get_decision(inf, from->id) : GROUT_LAYOUT_NONE;
    const bool is_strided = kind == GROUT_LAYOUT_NONE || kind == GROUT_LAYOUT_STRIDED;
    if (is_spread && (is_strided || grout_layout__is_joint(inf, from, op->first_result)) &&
        get_decision(inf, from->id) == get_decision(inf, op->first_result)) {
        inf->parents[grout_layout__find_root(inf, from->id)] =
            grout_layout__find_root(inf, op->first_result);
    }
}

/* ---- strided runs ---------------------------------------------------------------------------- */

/* What an operation moves between registers and memory: the array that a load makes, or a store,
 * atomic or async store takes (0: a constant), and the operand that is the memory. */
typedef struct moved_array {
    grout_value_id value;
    uint32_t ref;
} moved_array;

grout_value_id grout_layout__find_lead(const grout_layout_inference *inf, const grout_op *op,
                                       const grout_pick *pick) {
    const uint8_t operands[] = {pick->is_along ? 0 : pick->indices,
                                pick->is_mask_along ? 0 : pick->mask};
    for (uint32_t k = 0; k < sizeof operands; k++) {
        const grout_operand *operand = grout_module_get_operand(inf->module, op, operands[k]);
        if (operands[k] != 0 && operand->kind == GROUT_OPERAND_VALUE &&
            grout_layout__is_spread(inf, operand->id)) {
            return operand->id;
        }
    }
    return 0;
}

static moved_array get_moved(const grout_layout_inference *inf, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const moved_array none = {0, 0};
    if (info->types == GROUT_TYPES_ACC) { /* it stays in registers */
        return none;
    }
    if (info->rule == GROUT_RULE_LOAD || info->rule == GROUT_RULE_FETCH) {
        return (moved_array){op->first_result, 0};
    }
    grout_pick pick;
    if (grout_op_get_pick(inf->module, op, &pick)) {
        const grout_operand *value = grout_module_get_operand(inf->module, op, pick.value);
        const grout_value_id written = value->kind == GROUT_OPERAND_VALUE ? value->id : 0;
        return (moved_array){pick.value != 0         ? written
                             : pick.destination != 0 ? grout_layout__find_lead(inf, op, &pick)
                                                     : op->first_result,
                             0};
    }
    if (info->rule != GROUT_RULE_STORE) {
        return none;
    }
    const uint32_t ref = info->operands[0] == 'v' ? 1 : 0;
    const grout_operand *operand = grout_module_get_operand(inf->module, op, 1 - ref);
    return (moved_array){operand->kind == GROUT_OPERAND_VALUE ? operand->id : 0, ref};
}

static void measure_access(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    grout_view view;
    const moved_array moved = get_moved(inf, op);
    const grout_value_id value = moved.value;
    if (value == 0 || !grout_layout__is_spread(inf, value) ||
        !grout_module_get_view(inf->module, grout_module_get_operand(inf->module, op, moved.ref),
                               &view)) {
        return;
    }
    grout_layout_width *wanted = &inf->widths[grout_layout__find_root(inf, value)];
    grout_pick pick = {.destination = 0};
    const bool is_pick = grout_op_get_pick(inf->module, op, &pick);
    const grout_type *type =
        pick.destination != 0 ? &pick.type : grout_module_get_type(inf->module, value);
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    const uint32_t cap = GROUT_WIDE_BYTES_MAX / info->bytes * info->packed;
    const uint32_t width = pick.destination != 0
                               ? grout_get_piece_bytes(inf->module, id) / info->bytes
                           : is_pick ? grout_pick_get_access_width(inf->module, &pick, &view)
                                     : grout_view_get_access_width(inf->module, &view);
    wanted->cap = wanted->cap == 0 || cap < wanted->cap ? (uint8_t)cap : wanted->cap;
    wanted->best = width > wanted->best ? (uint8_t)width : wanted->best;
    wanted->is_packed = wanted->is_packed || info->packed > 1;
}

/* ---- settling -------------------------------------------------------------------------------- */

static grout_register_layout make_strided(const grout_layout_inference *inf, grout_value_id value) {
    const grout_layout_width *wanted = &inf->widths[grout_layout__find_root(inf, value)];
    const uint32_t narrower = wanted->cap < wanted->best ? wanted->cap : wanted->best;
    const grout_register_layout *begun = &inf->out->of_value[value];
    return wanted->is_packed
               ? grout_register_layout_make_packed(begun->warps, begun->count, narrower)
               : grout_register_layout_make_strided(begun->warps, begun->count,
                                                    wanted->cap == 0 ? 4 : narrower);
}

static void settle_value(grout_layout_inference *inf, grout_value_id value) {
    if (!grout_layout__is_spread(inf, value)) {
        return;
    }
    const uint8_t kind = get_decision(inf, value);
    const grout_type *type = grout_module_get_type(inf->module, value);
    grout_register_layout *layout = &inf->out->of_value[value];
    *layout = kind == GROUT_LAYOUT_NONE || kind == GROUT_LAYOUT_STRIDED
                  ? make_strided(inf, value)
                  : grout_layout__make_kind(inf, kind, value);
    GROUT_ASSERT(layout->kind != GROUT_LAYOUT_NONE && layout->registers > 0);
    GROUT_ASSERT(layout->count == grout_type_get_count(type));
    const int64_t bytes =
        (int64_t)layout->registers * grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    if (bytes > GROUT_LANE_BYTES_MAX && inf->ok) {
        grout_layout__report_size(inf, value, bytes);
    }
}

static void settle_op(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    (void)id;
    visit_values(inf, op, settle_value);
}

/* Whether a matrix in the WGMMA layout goes through SMEM for the sake of
 * where a box begins and ends. */
static bool is_cut_across(const grout_layout_inference *inf, const grout_op *op) {
    const uint8_t rule = grout_op_get_info((grout_opcode)op->opcode)->rule;
    uint32_t dims[2];
    bool is_matrix = (rule == GROUT_RULE_SLICE || rule == GROUT_RULE_CONCATENATE) &&
                     grout_layout__get_wide_dims(
                         grout_module_get_type(inf->module, op->first_result), dims) == 2;
    for (uint32_t k = 0; is_matrix && k < op->operand_count; k++) {
        const grout_operand *from = grout_module_get_operand(inf->module, op, k);
        if (grout_register_layouts_get(inf->out, from->id)->kind == GROUT_LAYOUT_WGMMA) {
            return true;
        }
    }
    return false;
}

static void measure_exchange(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    const int64_t bytes = grout_layout__get_exchange_bytes(inf, id, op);
    GROUT_ASSERT(bytes >= 0 && bytes <= UINT32_MAX && bytes % 16 == 0);
    inf->out->exchange_bytes[id] = (uint32_t)bytes;
    if (bytes > 0 && is_cut_across(inf, op)) {
        grout_layout__advise_part(inf, op, bytes);
    }
    if (bytes > inf->out->scratch_bytes) {
        inf->out->scratch_bytes = bytes;
    }
}

/* Repeats a pass until it changes nothing. */
static void repeat(grout_layout_inference *inf, grout_layout_visit *visit) {
    do {
        inf->is_changed = false;
        grout_layout__walk(inf, inf->body, visit);
    } while (inf->is_changed && inf->goes_on);
}

/* by name: whether a cast spells its layout out, in a text. */
static bool is_spelt(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_LAYOUT &&
           op->operand_count == 2;
}

static void count_tiling(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    (void)id;
    inf->out->tiling_count += is_spelt(op) ? 1 : 0;
}

/* Tilings that are none of the known kinds, each once. */
static void add_tiling(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    grout_register_layouts *out = inf->out;
    grout_tiling_problem problem;
    (void)id;
    if (!is_spelt(op) || grout_layout__find_spelt(inf, op) != GROUT_LAYOUT_TILED) {
        return;
    }
    if (out->tiling_count + GROUT_LAYOUT_COUNT > UINT8_MAX) {
        inf->ok = grout_diags_add(
            inf->diags, GROUT_DIAG_GPU_UNSUPPORTED, grout_module_get_place(inf->module, op->loc),
            "a kernel spells out more than %d layouts", UINT8_MAX - GROUT_LAYOUT_COUNT);
        return;
    }
    (void)grout_register_tiling_read(
        grout_module_get_string(inf->module, grout_module_get_operand(inf->module, op, 1)->id),
        &out->tilings[out->tiling_count++], &problem);
}

/* False without memory. */
static bool find_tilings(grout_layout_inference *inf) {
    grout_layout__walk(inf, inf->body, count_tiling);
    const uint32_t count = inf->out->tiling_count;
    inf->out->tilings = grout__new(grout_module_get_allocator(inf->module), (size_t)count + 1,
                                   sizeof *inf->out->tilings);
    inf->out->tiling_count = 0;
    if (inf->out->tilings == NULL) {
        inf->ok = grout_diags_add_oom(inf->diags);
        return false;
    }
    grout_layout__walk(inf, inf->body, add_tiling);
    return inf->ok;
}

static void infer(grout_layout_inference *inf) {
    if (!find_tilings(inf)) {
        return;
    }
    for (uint32_t i = 0; i < inf->out->value_count; i++) {
        inf->parents[i] = i;
    }
    grout_layout__walk(inf, inf->body, begin_op);
    repeat(inf, spread_op);
    grout_layout__walk(inf, inf->body, join_op);
    demand_all(inf);
    if (!inf->ok) {
        return;
    }
    repeat(inf, wish_op);
    grout_layout__walk(inf, inf->body, join_cast);
    grout_layout__walk(inf, inf->body, measure_access);
    grout_layout__walk(inf, inf->body, settle_op);
    grout_layout__walk(inf, inf->body, measure_exchange);
}

/* False without memory. */
static bool allocate(grout_layout_inference *inf) {
    const grout_allocator *allocator = grout_module_get_allocator(inf->module);
    grout_register_layouts *out = inf->out;
    const size_t values = (size_t)out->value_count + 1;
    out->of_value = grout__new(allocator, values, sizeof *out->of_value);
    out->exchange_bytes =
        grout__new(allocator, (size_t)out->op_count + 1, sizeof *out->exchange_bytes);
    inf->parents = grout__new(allocator, values, sizeof *inf->parents);
    inf->demands = grout__new(allocator, values, sizeof *inf->demands);
    inf->is_reported = grout__new(allocator, values, sizeof *inf->is_reported);
    inf->widths = grout__new(allocator, values, sizeof *inf->widths);
    inf->ok = out->of_value != NULL && out->exchange_bytes != NULL && inf->parents != NULL &&
              inf->demands != NULL && inf->is_reported != NULL && inf->widths != NULL;
    return inf->ok || grout_diags_add_oom(inf->diags);
}

grout_register_layouts *grout_register_layouts_infer(const grout_module *bound,
                                                     grout_kernel_id kernel, grout_diags *diags) {
    grout_register_layouts *out = grout__new(grout_module_get_allocator(bound), 1, sizeof *out);
    if (out == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    out->value_count = grout_module_get_value_count(bound);
    out->op_count = grout_module_get_op_count(bound);
    const grout_kernel *it = grout_module_get_kernel(bound, kernel);
    grout_layout_inference inf = {.module = bound,
                                  .body = it->body,
                                  .goes_on = true,
                                  .is_blackwell = it->has_arch && it->arch != GROUT_ARCH_SM_90A,
                                  .out = out,
                                  .diags = diags};
    if (allocate(&inf)) {
        infer(&inf);
    }
    grout__free(inf.parents);
    grout__free(inf.demands);
    grout__free(inf.is_reported);
    grout__free(inf.widths);
    if (!inf.ok) {
        grout_register_layouts_free(out);
        return NULL;
    }
    return out;
}
