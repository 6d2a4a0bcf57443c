/* register_layout_rules.c - what operations mean for the layouts of their operands and results:
 * which values they hold alike, which layouts they demand, which they wish for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "register_layouts.h"

#include "grout-internal/verify.h"

#define ACCUMULATOR_BYTES 4 /* of what a reduction passes on: i32, u32, f32 */

/* ---- values that are held alike -------------------------------------------------------------- */

/* What a block yields as its k-th value. */
static const grout_operand *get_yield(const grout_module *module, grout_block_id block,
                                      uint32_t k) {
    const grout_op *yield =
        grout_module_get_op(module, grout_module_get_block(module, block)->last);
    return grout_module_get_operand(module, yield, k);
}

/* A loop's carries: from what they start with and from the yield of its last block; into results.
 */
static void visit_carries(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                          grout_layout_edge *act) {
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    const grout_block *body = grout_module_get_block(inf->module, op->first_block);
    for (uint32_t k = 0; k < op->result_count; k++) {
        const grout_operand carry = {.kind = GROUT_OPERAND_VALUE,
                                     .id = body->first_arg + region->lead_args + k};
        act(inf, id, grout_module_get_operand(inf->module, op, region->lead_operands + k),
            carry.id);
        act(inf, id, get_yield(inf->module, op->first_block + op->block_count - 1, k), carry.id);
        act(inf, id, &carry, op->first_result + k);
    }
}

/* Into results, from every block that yields them. */
static void visit_region(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                         grout_layout_edge *act) {
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    if (region->kind == GROUT_REGION_LOOP) {
        visit_carries(inf, id, op, act);
        return;
    }
    const uint32_t count = region->yields == GROUT_YIELDS_FIRST ? 1 : op->block_count;
    for (uint32_t k = 0; k < op->result_count; k++) {
        for (uint32_t b = 0; b < count; b++) {
            act(inf, id, get_yield(inf->module, op->first_block + b, k), op->first_result + k);
        }
    }
}

/* Indices of slices, and a mask of their shape. */
static void visit_indices(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                          grout_layout_edge *act) {
    grout_pick pick;
    if (grout_op_get_pick(inf->module, op, &pick) && pick.is_mask_along) {
        const grout_operand *indices = grout_module_get_operand(inf->module, op, pick.indices);
        const grout_operand *mask = grout_module_get_operand(inf->module, op, pick.mask);
        if (grout_layout__is_spread(inf, indices->id) &&
            grout_layout__is_joint(inf, mask, indices->id)) {
            act(inf, id, mask, indices->id);
        }
    }
}

/* A value that is written, and what has its shape. */
static void visit_written(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                          grout_layout_edge *act) {
    grout_pick pick;
    grout_value_id lead = 0;
    if (!grout_op_get_pick(inf->module, op, &pick)) {
        return;
    }
    const uint8_t operands[] = {pick.value, pick.is_along ? 0 : pick.indices,
                                pick.is_mask_along ? 0 : pick.mask};
    for (uint32_t k = 0; k < sizeof operands; k++) {
        const grout_operand *operand = grout_module_get_operand(inf->module, op, operands[k]);
        if (operands[k] == 0 || operand->kind != GROUT_OPERAND_VALUE ||
            !grout_layout__is_spread(inf, operand->id)) {
            continue;
        }
        if (lead != 0) {
            act(inf, id, operand, lead);
        }
        lead = lead == 0 ? operand->id : lead;
    }
}

void grout_layout__visit_edges(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                               grout_layout_edge *act) {
    switch ((grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule) {
    case GROUT_RULE_JOIN:
    case GROUT_RULE_COMPARE:
    case GROUT_RULE_SELECT:
    case GROUT_RULE_CONVERT:
    case GROUT_RULE_BITCAST:
    case GROUT_RULE_BROADCAST: /* of these only where no element comes or goes */
    case GROUT_RULE_REDUCE:
    case GROUT_RULE_SCAN:
    case GROUT_RULE_SLICE:
    case GROUT_RULE_RESHAPE:
    case GROUT_RULE_CONCATENATE:
    case GROUT_RULE_TRANSPOSE: /* of one of dimensions of size 1 */
        for (uint32_t k = 0; k < op->operand_count; k++) {
            act(inf, id, grout_module_get_operand(inf->module, op, k), op->first_result);
        }
        return;
    case GROUT_RULE_EXTERN:
        for (uint32_t k = grout_op_count_texts(op); k < op->operand_count; k++) {
            act(inf, id, grout_module_get_operand(inf->module, op, k), op->first_result);
        }
        return;
    case GROUT_RULE_FETCH: /* of one element there is nothing to hold */
    case GROUT_RULE_MASKED_LOAD:
    case GROUT_RULE_GATHER: /* of the indices and the mask those that have the result's shape */
        for (uint32_t k = 1; k < op->operand_count; k++) {
            act(inf, id, grout_module_get_operand(inf->module, op, k), op->first_result);
        }
        visit_indices(inf, id, op, act);
        return;
    case GROUT_RULE_MASKED_STORE:
    case GROUT_RULE_SCATTER:
    case GROUT_RULE_MASKED_COPY:
    case GROUT_RULE_GATHER_COPY:
        visit_written(inf, id, op, act);
        visit_indices(inf, id, op, act);
        return;
    case GROUT_RULE_REGION:
        visit_region(inf, id, op, act);
        return;
    case GROUT_RULE_MMA: /* what it adds to */
        act(inf, id, grout_module_get_operand(inf->module, op, 0), op->first_result);
        return;
    case GROUT_RULE_NONE:
    case GROUT_RULE_TRUTH:
    case GROUT_RULE_INTEGER:
    case GROUT_RULE_IOTA:
    case GROUT_RULE_LAYOUT:
    case GROUT_RULE_LOAD:
    case GROUT_RULE_STORE:
    case GROUT_RULE_COPY:
    case GROUT_RULE_IM2COL:
    case GROUT_RULE_ROWS:
    case GROUT_RULE_DESCRIPTOR:
    case GROUT_RULE_WGMMA:
    case GROUT_RULE_TCGEN05:
    case GROUT_RULE_TCGEN05_COPY:
    case GROUT_RULE_PRINT:
    case GROUT_RULE_PRINT_LAYOUT:
    case GROUT_RULE_CHECK: /* its values may have any layout */
    case GROUT_RULE_PROMISE:
    case GROUT_RULE_OBJECT:
    case GROUT_RULE_CONDITION:
    case GROUT_RULE_YIELD:
        return;
    }
}

static grout_rule get_rule(const grout_op *op) {
    return (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
}

bool grout_layout__is_source(const grout_op *op) {
    const grout_rule rule = get_rule(op);
    return rule == GROUT_RULE_LOAD || rule == GROUT_RULE_MASKED_LOAD || rule == GROUT_RULE_GATHER ||
           rule == GROUT_RULE_FETCH || rule == GROUT_RULE_SCAN || rule == GROUT_RULE_IOTA ||
           rule == GROUT_RULE_LAYOUT || rule == GROUT_RULE_CONCATENATE || rule == GROUT_RULE_MMA;
}

bool grout_layout__takes_parts(const grout_op *op) {
    const grout_rule rule = get_rule(op);
    return rule == GROUT_RULE_SLICE || rule == GROUT_RULE_RESHAPE ||
           rule == GROUT_RULE_CONCATENATE || rule == GROUT_RULE_TRANSPOSE;
}

/* ---- demands --------------------------------------------------------------------------------- */

/* The layout that a layout_cast names. */
static uint8_t get_cast_kind(const grout_layout_inference *inf, const grout_op *op) {
    static const struct {
        grout_attr attr;
        grout_register_layout_kind kind;
    } flags[] = {{GROUT_ATTR_LAYOUT_WGMMA, GROUT_LAYOUT_WGMMA},
                 {GROUT_ATTR_LAYOUT_WGMMA_8BIT, GROUT_LAYOUT_WGMMA_8BIT},
                 {GROUT_ATTR_LAYOUT_ROW, GROUT_LAYOUT_WGMMA_ROW},
                 {GROUT_ATTR_LAYOUT_COL, GROUT_LAYOUT_WGMMA_COL},
                 {GROUT_ATTR_LAYOUT_STRIDED, GROUT_LAYOUT_STRIDED}};
    static const grout_register_layout_kind chosen[GROUT_CHOICE_COUNT] = {
        [GROUT_CHOICE_LAYOUT_WGMMA_TRANSPOSED] = GROUT_LAYOUT_WGMMA_TRANSPOSED,
        [GROUT_CHOICE_LAYOUT_WGMMA_UPCAST_2X] = GROUT_LAYOUT_WGMMA_UPCAST_2X,
        [GROUT_CHOICE_LAYOUT_WGMMA_UPCAST_4X] = GROUT_LAYOUT_WGMMA_UPCAST_4X,
        [GROUT_CHOICE_LAYOUT_WGMMA_METADATA] = GROUT_LAYOUT_WGMMA_METADATA,
        [GROUT_CHOICE_LAYOUT_WGMMA_METADATA_8BIT] = GROUT_LAYOUT_WGMMA_METADATA_8BIT,
        [GROUT_CHOICE_LAYOUT_MMA_LHS_32BIT] = GROUT_LAYOUT_MMA_LHS_32BIT,
        [GROUT_CHOICE_LAYOUT_MMA_RHS_32BIT] = GROUT_LAYOUT_MMA_RHS_32BIT,
        [GROUT_CHOICE_LAYOUT_MMA_RHS_16BIT] = GROUT_LAYOUT_MMA_RHS_16BIT,
        [GROUT_CHOICE_LAYOUT_MMA_RHS_8BIT] = GROUT_LAYOUT_MMA_RHS_8BIT,
        [GROUT_CHOICE_LAYOUT_TMEM] = GROUT_LAYOUT_TMEM,
        [GROUT_CHOICE_LAYOUT_TMEM_ROW] = GROUT_LAYOUT_TMEM_ROW};
    const grout_choice choice = grout_op_get_choice(inf->module, op, GROUT_ATTR_LAYOUT);
    if (op->operand_count == 2) {
        return grout_layout__find_spelt(inf, op);
    }
    if (choice != GROUT_CHOICE_NONE) {
        return (uint8_t)chosen[choice];
    }
    for (uint32_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (grout_module_find_attr(inf->module, op, flags[i].attr) != NULL) {
            return (uint8_t)flags[i].kind;
        }
    }
    return GROUT_LAYOUT_STRIDED;
}

static bool can_have(const grout_layout_inference *inf, grout_value_id value, uint8_t kind) {
    return kind == GROUT_LAYOUT_STRIDED ||
           grout_layout__make_kind(inf, kind, value).kind != GROUT_LAYOUT_NONE;
}

/* What a reduction does to the wide dimensions of its operand. */
typedef enum reduction {
    REDUCTION_NONE, /* the dimension has one element: the result is the operand */
    REDUCTION_ALL,  /* to one element */
    REDUCTION_COLUMNS,
    REDUCTION_ROWS,
    REDUCTION_OTHER
} reduction;

static reduction classify_reduction(const grout_layout_inference *inf, const grout_op *op) {
    const grout_operand *from = grout_module_get_operand(inf->module, op, 0);
    const grout_type *type = grout_module_get_type(inf->module, from->id);
    const int64_t count =
        grout_type_get_count(grout_module_get_type(inf->module, op->first_result));
    const int64_t dim = grout_op_get_attr_integer(inf->module, op, GROUT_ATTR_DIM, -1);
    uint32_t dims[2];
    if (count == 1) {
        return REDUCTION_ALL;
    }
    if (count == grout_type_get_count(type)) {
        return REDUCTION_NONE;
    }
    if (grout_layout__get_wide_dims(type, dims) != 2) {
        return REDUCTION_OTHER;
    }
    return dim == dims[1] ? REDUCTION_COLUMNS : REDUCTION_ROWS;
}

/* The demand on a result, or on an operand if that is a spread value. */
static void demand(grout_layout_inference *inf, grout_layout_demand wanted,
                   grout_layout_demander *act) {
    const grout_op *op = grout_module_get_op(inf->module, wanted.op);
    wanted.value = op->first_result;
    if (wanted.operand != GROUT_LAYOUT_IS_RESULT) {
        const grout_operand *operand = grout_module_get_operand(inf->module, op, wanted.operand);
        wanted.value = operand->kind == GROUT_OPERAND_VALUE ? operand->id : 0;
    }
    if (wanted.value != 0 && grout_layout__is_spread(inf, wanted.value)) {
        act(inf, &wanted);
    }
}

static uint8_t get_decision(const grout_layout_inference *inf, grout_value_id value) {
    return inf->demands[grout_layout__find_root(inf, value)].kind;
}

/* Whether a lane has whole rows of a value: because others decided so, or since a kernel of
 * Blackwell has nothing that would have it otherwise. */
static bool has_tmem_rows(const grout_layout_inference *inf, grout_value_id value) {
    const uint8_t kind = get_decision(inf, value);
    return kind == GROUT_LAYOUT_TMEM || (kind == GROUT_LAYOUT_NONE && inf->is_blackwell &&
                                         can_have(inf, value, GROUT_LAYOUT_TMEM));
}

static void demand_reduction(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                             grout_layout_demander *act) {
    const grout_operand *from = grout_module_get_operand(inf->module, op, 0);
    if (from->kind != GROUT_OPERAND_VALUE || !grout_layout__is_spread(inf, from->id)) {
        return;
    }
    const reduction what = classify_reduction(inf, op);
    if (has_tmem_rows(inf, from->id)) {
        if (what == REDUCTION_COLUMNS) { /* of the rows: through SMEM, from any layout */
            demand(inf, (grout_layout_demand){.op = id, .operand = 0, .kind = GROUT_LAYOUT_TMEM},
                   act);
            demand(inf,
                   (grout_layout_demand){
                       .op = id, .operand = GROUT_LAYOUT_IS_RESULT, .kind = GROUT_LAYOUT_TMEM_ROW},
                   act);
        }
        return;
    }
    if ((what != REDUCTION_COLUMNS && what != REDUCTION_ROWS) ||
        !can_have(inf, from->id, GROUT_LAYOUT_WGMMA)) {
        return; /* any layout: of one element, or through SMEM */
    }
    const uint8_t left =
        what == REDUCTION_COLUMNS ? GROUT_LAYOUT_WGMMA_ROW : GROUT_LAYOUT_WGMMA_COL;
    demand(inf, (grout_layout_demand){.op = id, .operand = 0, .kind = GROUT_LAYOUT_WGMMA}, act);
    demand(inf, (grout_layout_demand){.op = id, .operand = GROUT_LAYOUT_IS_RESULT, .kind = left},
           act);
}

static void demand_cast(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                        grout_layout_demander *act) {
    const uint8_t kind = get_cast_kind(inf, op);
    if (!can_have(inf, op->first_result, kind)) {
        grout_layout__report_cast(inf, op, kind);
        return;
    }
    demand(inf, (grout_layout_demand){.op = id, .operand = GROUT_LAYOUT_IS_RESULT, .kind = kind},
           act);
}

/* How a load or store wants its array, by where that lies: an accumulator in the registers of its
 * fragments, 128 rows of tensor memory one in a lane, 64 rows as those of a wgmma, whose lanes have
 * the same; NONE: any way. */
static uint8_t get_moved_kind(const grout_layout_inference *inf, const grout_op *op) {
    grout_view view;
    if (!grout_module_get_view(inf->module, grout_module_get_operand(inf->module, op, 0), &view)) {
        return GROUT_LAYOUT_NONE;
    }
    const grout_object *object = grout_module_get_object(inf->module, view.object);
    const grout_type *type = grout_object_get_type(inf->module, view.object);
    if (object->space == GROUT_SPACE_ACC) {
        return GROUT_LAYOUT_WGMMA;
    }
    if (object->space != GROUT_SPACE_TMEM) {
        return GROUT_LAYOUT_NONE;
    }
    if (type->dims[type->rank - 2] % GROUT_LANES != 0) {
        const bool is_byte = grout_dtype_get_info((grout_dtype)type->dtype)->bytes == 1;
        const int64_t columns = view.extent[view.rank - 1], step = is_byte ? 16 : 8;
        const int64_t halves = columns == type->dims[type->rank - 1] ? 2 : 1;
        return object->is_collective || columns % (step * halves) != 0 ? GROUT_LAYOUT_NONE
               : is_byte                                               ? GROUT_LAYOUT_WGMMA_8BIT
                                                                       : GROUT_LAYOUT_WGMMA;
    }
    return view.extent[view.rank - 1] == 1 ? GROUT_LAYOUT_TMEM_ROW : GROUT_LAYOUT_TMEM;
}

/* Only layouts that the shape has are demanded; the emitter says what cannot be. */
static void demand_moved(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                         grout_layout_demander *act) {
    const bool is_load = get_rule(op) == GROUT_RULE_LOAD;
    grout_layout_demand wanted = {
        .op = id, .kind = get_moved_kind(inf, op), .operand = is_load ? GROUT_LAYOUT_IS_RESULT : 1};
    const grout_operand *from = is_load ? NULL : grout_module_get_operand(inf->module, op, 1);
    const grout_value_id value = is_load                             ? op->first_result
                                 : from->kind == GROUT_OPERAND_VALUE ? from->id
                                                                     : 0;
    if (wanted.kind != GROUT_LAYOUT_NONE && value != 0 && can_have(inf, value, wanted.kind)) {
        demand(inf, wanted, act);
    }
}

/* How the a of a wgmma is held, if it is an array. */
static uint8_t get_left_kind(const grout_layout_inference *inf, const grout_op *op) {
    const grout_type type =
        grout_module_get_operand_type(inf->module, grout_module_get_operand(inf->module, op, 1));
    return grout_dtype_get_info((grout_dtype)type.dtype)->bytes == 1 ? GROUT_LAYOUT_WGMMA_8BIT
                                                                     : GROUT_LAYOUT_WGMMA;
}

/* How the a of a wgmma is held, and its metadata. */
static void demand_wgmma(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                         grout_layout_demander *act) {
    const uint8_t left = get_left_kind(inf, op);
    const uint32_t metadata = grout_op_find_letter((grout_opcode)op->opcode, 'v');
    demand(inf, (grout_layout_demand){.op = id, .operand = 1, .kind = left}, act);
    if (metadata != UINT32_MAX) {
        demand(inf,
               (grout_layout_demand){.op = id,
                                     .operand = metadata,
                                     .kind = left == GROUT_LAYOUT_WGMMA_8BIT
                                                 ? GROUT_LAYOUT_WGMMA_METADATA_8BIT
                                                 : GROUT_LAYOUT_WGMMA_METADATA},
               act);
    }
}

/* How an mma holds what it adds to and gives, and its two operands: in mma.sync's fragments. */
static void demand_mma(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                       grout_layout_demander *act) {
    const grout_type a =
        grout_module_get_operand_type(inf->module, grout_module_get_operand(inf->module, op, 1));
    const uint32_t bytes = grout_dtype_get_info((grout_dtype)a.dtype)->bytes;
    demand(inf, (grout_layout_demand){.op = id, .operand = 0, .kind = GROUT_LAYOUT_WGMMA}, act);
    demand(inf,
           (grout_layout_demand){
               .op = id, .operand = GROUT_LAYOUT_IS_RESULT, .kind = GROUT_LAYOUT_WGMMA},
           act);
    demand(inf,
           (grout_layout_demand){
               .op = id, .operand = 1, .kind = (uint8_t)grout_register_layout_get_mma_left(bytes)},
           act);
    demand(inf,
           (grout_layout_demand){
               .op = id, .operand = 2, .kind = (uint8_t)grout_register_layout_get_mma_right(bytes)},
           act);
}

void grout_layout__visit_demands(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                                 grout_layout_demander *act) {
    const grout_rule rule = get_rule(op);
    if (rule == GROUT_RULE_WGMMA) {
        demand_wgmma(inf, id, op, act);
    } else if (rule == GROUT_RULE_MMA) {
        demand_mma(inf, id, op, act);
    } else if (rule == GROUT_RULE_LAYOUT) {
        demand_cast(inf, id, op, act);
    } else if (rule == GROUT_RULE_REDUCE) {
        demand_reduction(inf, id, op, act);
    } else if (rule == GROUT_RULE_LOAD || rule == GROUT_RULE_STORE) {
        demand_moved(inf, id, op, act);
    }
}

/* ---- wishes ---------------------------------------------------------------------------------- */

/* The layout whose elements a broadcast repeats along one dimension of the WGMMA layout of its
 * result: WGMMA_ROW if its source has an element for each row, WGMMA_COL if for each column, else
 * NONE. */
static grout_register_layout_kind classify_broadcast(const grout_layout_inference *inf,
                                                     const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(inf->module, op, 0);
    const grout_type *from = grout_module_get_type(inf->module, operand->id);
    const grout_type *to = grout_module_get_type(inf->module, op->first_result);
    const int64_t first =
        grout_op_get_attr_integer(inf->module, op, GROUT_ATTR_DIM, (int64_t)to->rank - from->rank);
    uint32_t source[2], result[2];
    if (grout_layout__get_wide_dims(from, source) != 1 ||
        grout_layout__get_wide_dims(to, result) != 2) {
        return GROUT_LAYOUT_NONE;
    }
    return source[0] + first == result[0] ? GROUT_LAYOUT_WGMMA_ROW : GROUT_LAYOUT_WGMMA_COL;
}

grout_layout_wish grout_layout__get_wish(const grout_layout_inference *inf, const grout_op *op) {
    const grout_layout_wish none = {0};
    if (get_rule(op) != GROUT_RULE_BROADCAST && get_rule(op) != GROUT_RULE_LAYOUT) {
        return none;
    }
    const grout_operand *from = grout_module_get_operand(inf->module, op, 0);
    if (from->kind != GROUT_OPERAND_VALUE || !grout_layout__is_spread(inf, from->id) ||
        !grout_layout__is_spread(inf, op->first_result)) {
        return none;
    }
    grout_layout_wish wish = {
        .from = from->id, .to = op->first_result, .to_kind = GROUT_LAYOUT_WGMMA};
    if (get_rule(op) == GROUT_RULE_LAYOUT) {
        wish.from_kind = wish.to_kind = get_cast_kind(inf, op);
    } else {
        wish.from_kind = (uint8_t)classify_broadcast(inf, op);
        const bool is_of_tmem = get_decision(inf, wish.to) == GROUT_LAYOUT_TMEM ||
                                get_decision(inf, wish.from) == GROUT_LAYOUT_TMEM_ROW;
        if (is_of_tmem) {
            wish.to_kind = GROUT_LAYOUT_TMEM;
            wish.from_kind = wish.from_kind == GROUT_LAYOUT_WGMMA_ROW ? GROUT_LAYOUT_TMEM_ROW
                                                                      : GROUT_LAYOUT_NONE;
        }
    }
    const bool is_possible = wish.from_kind != GROUT_LAYOUT_NONE &&
                             can_have(inf, wish.from, wish.from_kind) &&
                             can_have(inf, wish.to, wish.to_kind);
    return is_possible ? wish : none;
}

/* ---- ways through SMEM ----------------------------------------------------------------------- */

static bool is_same_layout(const grout_register_layout *a, const grout_register_layout *b) {
    return a->kind == b->kind && a->vec == b->vec && a->warps == b->warps && a->count == b->count &&
           a->rows == b->rows && a->cols == b->cols && a->tiling == b->tiling;
}

/* Whether elements are where they are needed, or get there within their lane. */
static bool stays_in_lane(const grout_layout_inference *inf, const grout_op *op,
                          const grout_register_layout *from, const grout_register_layout *to) {
    return is_same_layout(from, to) ||
           (get_rule(op) == GROUT_RULE_LAYOUT &&
            grout_register_layouts_find_picks(inf->out, inf->module, op, NULL, inf->diags)) ||
           (get_rule(op) == GROUT_RULE_BROADCAST && to->kind == GROUT_LAYOUT_TMEM &&
            from->kind == GROUT_LAYOUT_TMEM_ROW &&
            classify_broadcast(inf, op) == GROUT_LAYOUT_WGMMA_ROW) ||
           (get_rule(op) == GROUT_RULE_BROADCAST && to->kind == GROUT_LAYOUT_WGMMA &&
            from->kind != GROUT_LAYOUT_WGMMA && from->kind == classify_broadcast(inf, op));
}

static int64_t get_reduction_bytes(const grout_layout_inference *inf, const grout_op *op,
                                   const grout_register_layout *from, int64_t array_bytes) {
    const int64_t bytes = array_bytes / from->count;
    const int64_t partial_bytes = bytes < ACCUMULATOR_BYTES ? ACCUMULATOR_BYTES : bytes;
    const bool is_wgmma = from->kind == GROUT_LAYOUT_WGMMA;
    switch (classify_reduction(inf, op)) {
    case REDUCTION_NONE:
        return 0;
    case REDUCTION_ALL:
        return grout_register_layout_is_whole_in_warps(from) || from->warps == 1
                   ? 0
                   : from->warps * partial_bytes;
    case REDUCTION_COLUMNS:
        return is_wgmma || from->kind == GROUT_LAYOUT_TMEM ? 0 : array_bytes;
    case REDUCTION_ROWS:
        return is_wgmma ? from->cols * from->warps * partial_bytes : array_bytes;
    case REDUCTION_OTHER:
        return array_bytes;
    }
    return 0;
}

/* The exchange area holds the result. */
static int64_t get_part_bytes(grout_layout_inference *inf, const grout_op *op) {
    const grout_type *type = grout_module_get_type(inf->module, op->first_result);
    /* Splats, too, lie each elsewhere in a concatenation. */
    bool is_spread = grout_layout__is_spread(inf, op->first_result);
    for (uint32_t k = 0; k < op->operand_count; k++) {
        is_spread |= grout_layout__is_spread(inf, grout_module_get_operand(inf->module, op, k)->id);
    }
    const uint64_t diag_count = grout_diags_total(inf->diags);
    if (!is_spread ||
        grout_register_layouts_find_picks(inf->out, inf->module, op, NULL, inf->diags)) {
        return 0;
    }
    inf->ok = inf->ok && grout_diags_total(inf->diags) == diag_count; /* or without memory */
    const int64_t bytes =
        grout_type_get_count(type) * grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    return (bytes + 15) / 16 * 16;
}

static int64_t round_up(int64_t bytes) {
    return (bytes + 15) / 16 * 16;
}

/* Indices of slices go to every lane that has elements of one. */
static int64_t get_along_bytes(const grout_layout_inference *inf, const grout_op *op,
                               const grout_pick *pick) {
    if (!pick->is_along) {
        return 0;
    }
    const grout_operand *indices = grout_module_get_operand(inf->module, op, pick->indices);
    const grout_operand *mask = grout_module_get_operand(inf->module, op, pick->mask);
    const bool is_mask_spread = pick->is_mask_along && mask->kind == GROUT_OPERAND_VALUE &&
                                grout_layout__is_spread(inf, mask->id);
    if (!grout_layout__is_spread(inf, indices->id) && !is_mask_spread) {
        return 0;
    }
    return round_up(grout_type_get_count(grout_module_get_type(inf->module, indices->id)) *
                    grout_dtype_get_info(GROUT_DTYPE_I32)->bytes);
}

/* An index for each piece of a copy, where the lane that copies it may not be the one that holds
 * the index. */
static int64_t get_group_bytes(const grout_layout_inference *inf, grout_op_id id,
                               const grout_op *op, const grout_pick *pick) {
    const uint32_t bytes = grout_dtype_get_info((grout_dtype)pick->type.dtype)->bytes;
    const uint32_t width = grout_get_piece_bytes(inf->module, id) / bytes;
    const grout_value_id lead = grout_layout__find_lead(inf, op, pick);
    if (lead == 0 || width <= 1) {
        return 0;
    }
    const grout_register_layout *layout = grout_register_layouts_get(inf->out, lead);
    return layout->kind == GROUT_LAYOUT_STRIDED && layout->vec >= width
               ? 0
               : round_up(grout_type_get_count(&pick->type) / width *
                          grout_dtype_get_info(GROUT_DTYPE_I32)->bytes);
}

static int64_t get_pick_bytes(const grout_layout_inference *inf, grout_op_id id,
                              const grout_op *op) {
    grout_pick pick;
    if (!grout_op_get_pick(inf->module, op, &pick)) {
        return 0;
    }
    const int64_t along = get_along_bytes(inf, op, &pick);
    return along + (pick.destination == 0 ? 0 : get_group_bytes(inf, id, op, &pick));
}

/* The indices of rows go to the lane that issues. */
static int64_t get_row_bytes(const grout_layout_inference *inf, const grout_op *op) {
    const grout_operand *rows = grout_module_get_operand(inf->module, op, op->operand_count - 1u);
    return rows->kind == GROUT_OPERAND_VALUE && grout_layout__is_spread(inf, rows->id)
               ? round_up(grout_type_get_count(grout_module_get_type(inf->module, rows->id)) *
                          grout_dtype_get_info(GROUT_DTYPE_I32)->bytes)
               : 0;
}

/* What an atomic returns goes to the lanes that hold the same elements as the one that did it. */
static int64_t get_fetch_bytes(const grout_layout_inference *inf, const grout_op *op) {
    const grout_register_layout *layout = grout_register_layouts_get(inf->out, op->first_result);
    const grout_type *type = grout_module_get_type(inf->module, op->first_result);
    if (layout->kind != GROUT_LAYOUT_WGMMA_ROW && layout->kind != GROUT_LAYOUT_WGMMA_COL) {
        return 0;
    }
    return (layout->count * grout_dtype_get_info((grout_dtype)type->dtype)->bytes + 15) / 16 * 16;
}

/* Partial results of all elements, as those of a reduction; none of an array that has one. */
static int64_t get_scan_bytes(const grout_layout_inference *inf, const grout_op *op) {
    const grout_type *type = grout_module_get_type(inf->module, op->first_result);
    const int64_t bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    const int64_t partial_bytes = bytes < ACCUMULATOR_BYTES ? ACCUMULATOR_BYTES : bytes;
    return grout_layout__is_spread(inf, op->first_result)
               ? (grout_type_get_count(type) * partial_bytes + 15) / 16 * 16
               : 0;
}

/* An array of tensor memory that no instruction moves as lanes could hold it. */
static int64_t get_moved_bytes(const grout_layout_inference *inf, const grout_op *op) {
    const bool is_load = get_rule(op) == GROUT_RULE_LOAD;
    const grout_operand *from = is_load ? NULL : grout_module_get_operand(inf->module, op, 1);
    const grout_value_id value = is_load                             ? op->first_result
                                 : from->kind == GROUT_OPERAND_VALUE ? from->id
                                                                     : 0;
    grout_view view;
    if (value == 0 || !grout_layout__is_spread(inf, value) ||
        !grout_module_get_view(inf->module, grout_module_get_operand(inf->module, op, 0), &view) ||
        grout_module_get_object(inf->module, view.object)->space != GROUT_SPACE_TMEM ||
        get_moved_kind(inf, op) != GROUT_LAYOUT_NONE) {
        return 0;
    }
    const grout_type *type = grout_module_get_type(inf->module, value);
    return round_up(grout_type_get_count(type) *
                    grout_dtype_get_info((grout_dtype)type->dtype)->bytes);
}

int64_t grout_layout__get_exchange_bytes(grout_layout_inference *inf, grout_op_id id,
                                         const grout_op *op) {
    const grout_rule rule = get_rule(op);
    if (rule == GROUT_RULE_LOAD || rule == GROUT_RULE_STORE) {
        return get_moved_bytes(inf, op);
    }
    if (grout_op_takes_picks((grout_opcode)op->opcode)) {
        return get_pick_bytes(inf, id, op);
    }
    if (rule == GROUT_RULE_ROWS) {
        return get_row_bytes(inf, op);
    }
    if (rule == GROUT_RULE_FETCH) {
        return get_fetch_bytes(inf, op);
    }
    if (rule == GROUT_RULE_SCAN) {
        return get_scan_bytes(inf, op);
    }
    if (grout_layout__takes_parts(op)) {
        return get_part_bytes(inf, op);
    }
    if (rule != GROUT_RULE_BROADCAST && rule != GROUT_RULE_LAYOUT && rule != GROUT_RULE_REDUCE) {
        return 0;
    }
    const grout_operand *operand = grout_module_get_operand(inf->module, op, 0);
    if (operand->kind != GROUT_OPERAND_VALUE || !grout_layout__is_spread(inf, operand->id)) {
        return 0;
    }
    const grout_register_layout *from = grout_register_layouts_get(inf->out, operand->id);
    const grout_register_layout *to = grout_register_layouts_get(inf->out, op->first_result);
    const grout_type *type = grout_module_get_type(inf->module, operand->id);
    int64_t bytes = from->count * grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    if (rule == GROUT_RULE_REDUCE) {
        bytes = get_reduction_bytes(inf, op, from, bytes);
    } else if (stays_in_lane(inf, op, from, to)) {
        bytes = 0;
    }
    return (bytes + 15) / 16 * 16;
}
