/*
 * plan_lower.c - from ops to instructions: one case for each rule of ops.def, nothing for each op
 * but its function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "planner.h"
#include "strip.h"

#include <string.h>

static grout_exec *const exec_table[GROUT_OP_COUNT] = {
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION) [GROUT_OP_##NAME] = grout_exec_alu,
#define GROUT_MATH(NAME, text, FORM, EXPRESSION, ULP)  [GROUT_OP_##NAME] = grout_exec_alu,
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION)    [GROUT_OP_##NAME] = grout_exec_reduce,
#define GROUT_SCAN(NAME, text, REDUCE)                 [GROUT_OP_##NAME] = grout_exec_scan,
#define GROUT_ATOMIC(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, UPDATE) \
    [GROUT_OP_##NAME] = grout_exec_atomic,
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) \
    [GROUT_OP_##NAME] = grout_exec_##text,
#include "grout/ops.def"
};

uint32_t grout_planner__add_inst(grout_planner *planner, grout_exec *exec, grout_op_id op) {
    uint32_t index = grout_pool__take(&planner->plan->insts, planner->plan->heap);
    if (index == 0) {
        planner->failed = true;
        return 0;
    }
    grout_inst *inst = grout_planner__get_inst(planner, index);
    inst->exec = exec;
    inst->op = op;
    inst->loop_depth = (uint8_t)planner->loop_depth;
    inst->first_slot = grout_plan__get_next(&planner->plan->slots);
    inst->first_box = grout_plan__get_next(&planner->plan->boxes);
    inst->first_access = grout_plan__get_next(&planner->plan->accesses);
    inst->first_move = grout_plan__get_next(&planner->plan->moves);
    return index;
}

void grout_planner__add_slot_to(grout_planner *planner, uint32_t inst, grout_slot slot) {
    uint32_t index = grout_pool__take(&planner->plan->slots, planner->plan->heap);
    if (index == 0) {
        planner->failed = true;
        return;
    }
    *(grout_slot *)grout_pool__at(&planner->plan->slots, index) = slot;
    grout_planner__get_inst(planner, inst)->slot_count++;
}

void grout_planner__add_move(grout_planner *planner, uint32_t inst, grout_slot from,
                             grout_slot to) {
    uint32_t index = grout_pool__take(&planner->plan->moves, planner->plan->heap);
    if (index == 0) {
        planner->failed = true;
        return;
    }
    *(grout_move *)grout_pool__at(&planner->plan->moves, index) = (grout_move){from, to};
    grout_planner__get_inst(planner, inst)->move_count++;
}

void grout_planner__add_operands(grout_planner *planner, uint32_t inst, const grout_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const grout_operand *operand = grout_module_get_operand(planner->module, op, i);
        grout_view view;
        if (operand->kind == GROUT_OPERAND_STRING || operand->kind == GROUT_OPERAND_AXIS ||
            operand->kind == GROUT_OPERAND_NONE) {
            continue;
        }
        if (grout_module_get_view(planner->module, operand, &view)) {
            if (grout_planner__add_box(planner, operand, i) != 0) {
                grout_planner__get_inst(planner, inst)->box_count++;
            }
        } else {
            grout_planner__add_slot_to(planner, inst, grout_planner__get_operand(planner, operand));
        }
    }
}

/* READ and WRITE lines of the op's effect row, each for the box of its operand. */
static void add_accesses(grout_planner *planner, uint32_t inst_index, const grout_op *op) {
    uint32_t count = 0;
    grout_effect_row row = grout_op_get_info(op->opcode)->effect_row;
    const grout_effect *effects = grout_effect_row_get_effects(row, &count);
    for (uint32_t i = 0; i < count; i++) {
        grout_inst *inst = grout_planner__get_inst(planner, inst_index);
        if (effects[i].access != GROUT_ACCESS_READ && effects[i].access != GROUT_ACCESS_WRITE &&
            effects[i].access != GROUT_ACCESS_ATOMIC) {
            continue;
        }
        for (uint32_t k = 0; k < inst->box_count; k++) {
            grout_box_plan *box = grout_pool__at(&planner->plan->boxes, inst->first_box + k);
            uint32_t index;
            if (box->operand != effects[i].operand) {
                continue;
            }
            box->is_read |= effects[i].access != GROUT_ACCESS_WRITE;
            box->is_written |= effects[i].access != GROUT_ACCESS_READ;
            if ((index = grout_pool__take(&planner->plan->accesses, planner->plan->heap)) != 0) {
                grout_access_plan *access = grout_pool__at(&planner->plan->accesses, index);
                access->box = k;
                access->operand = effects[i].operand;
                access->milestone = effects[i].milestone;
                access->is_write = effects[i].access != GROUT_ACCESS_READ;
                access->is_async = effects[i].milestone != GROUT_MILESTONE_ISSUE;
                access->is_atomic =
                    effects[i].access == GROUT_ACCESS_ATOMIC ||
                    (access->is_write &&
                     grout_module_find_attr(planner->module, op, GROUT_ATTR_REDUCE) != NULL);
                access->agent =
                    (uint8_t)(effects[i].milestone == GROUT_MILESTONE_ISSUE ? GROUT_AGENT_ACTOR
                              : effects[i].proxy == GROUT_PROXY_ASYNC       ? GROUT_AGENT_ENGINE
                                                                      : GROUT_AGENT_GENERIC_ENGINE);
                planner->plan->has_gmem_updates |=
                    access->is_atomic && grout_space_is_of_launch(box->space);
                inst->access_count++;
            }
        }
    }
}

static bool is_scheduling_point(const grout_op *op) {
    switch (grout_effect_row_get_class(grout_op_get_info(op->opcode)->effect_row)) {
    case GROUT_EFFECT_ACCESS:
    case GROUT_EFFECT_ASYNC:
    case GROUT_EFFECT_SYNC:
    case GROUT_EFFECT_BLOCKING:
        return true;
    case GROUT_EFFECT_PURE:
    case GROUT_EFFECT_CONTROL:
        break;
    }
    return false;
}

static void add_axis(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(planner->module, op, 0);
    uint32_t axis = operand->id - 1;
    const grout_kernel *kernel = planner->kernel;
    inst->u.axis.size = grout_kernel_get_axis_size(planner->module, planner->plan->kernel, axis);
    inst->u.axis.divisor = 1;
    inst->u.axis.kind = (uint8_t)kernel->axes[axis].kind;
    for (uint32_t i = axis + 1; i < kernel->axis_count; i++) {
        if (kernel->axes[i].kind == kernel->axes[axis].kind) {
            inst->u.axis.divisor *=
                grout_kernel_get_axis_size(planner->module, planner->plan->kernel, i);
        }
    }
}

static void add_iota(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_type *type = grout_module_get_type(planner->module, op->first_result);
    int64_t dim = grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_DIM, 0);
    inst->u.elementwise.strip = grout_strip__iota;
    inst->u.elementwise.is_wide = type->dtype != GROUT_DTYPE_I32 && type->dtype != GROUT_DTYPE_U32;
    inst->u.elementwise.rows.rows = type->dims[dim];
    inst->u.elementwise.rows.columns = 1;
    for (int64_t i = dim + 1; i < type->rank; i++) {
        inst->u.elementwise.rows.columns *= type->dims[i];
    }
}

/* The strides of a broadcast's source in the result, as moves: see exec_elementwise.c. */
static void add_broadcast(grout_planner *planner, uint32_t index, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(planner->module, op, 0);
    grout_type from = grout_module_get_operand_type(planner->module, operand);
    const grout_type *to = grout_module_get_type(planner->module, op->first_result);
    uint32_t stride = 1, rank = from.kind == GROUT_TYPE_ARRAY ? from.rank : 0;
    uint32_t first = (uint32_t)grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_DIM,
                                                         (int64_t)to->rank - rank);
    for (uint32_t i = to->rank; i-- > 0;) {
        int64_t extent = i >= first && i - first < rank ? from.dims[i - first] : 1;
        grout_slot dimension = {.count = (uint32_t)to->dims[i]};
        dimension.data = extent == 1 ? 0 : stride;
        stride *= (uint32_t)extent;
        grout_planner__add_move(planner, index, dimension, dimension);
    }
}

/* Dimensions of a part from the innermost out. One that goes on in memory where the one inside it
 * ends is one with it. */
static uint32_t merge_dims(const grout_part *part, const grout_type *type, grout_move *dims) {
    uint32_t count = 0;
    int64_t stride = 1;
    for (uint32_t i = part->rank; i-- > 0; stride *= type->dims[i]) {
        grout_move *inner = count == 0 ? NULL : &dims[count - 1];
        if (inner != NULL && stride == (int64_t)inner->from.count * inner->from.data &&
            part->stride[i] == (int64_t)inner->from.count * inner->to.data) {
            inner->from.count *= (uint32_t)part->extent[i];
        } else {
            dims[count].from =
                (grout_slot){.count = (uint32_t)part->extent[i], .data = (uint32_t)stride};
            dims[count++].to = (grout_slot){.data = (uint32_t)part->stride[i]};
        }
    }
    if (count == 0) { /* of rank 0 */
        dims[count++] = (grout_move){.from = {.count = 1, .data = 1}, .to = {.data = 1}};
    }
    return count;
}

/*
 * What exec_part.c copies of each operand, as moves. The first has where the box begins in the
 * operand and in the result, and as its count the number of those that follow: the dimensions from
 * the innermost out, with extent, and strides in the operand and in the result. All in elements.
 */
static void add_parts(grout_planner *planner, uint32_t index, const grout_op *op) {
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_type type = grout_module_get_operand_type(
            planner->module, grout_module_get_operand(planner->module, op, k));
        const grout_part part = grout_op_get_part(planner->module, op, k);
        grout_move dims[GROUT_RANK_MAX];
        int64_t begin = 0;
        for (uint32_t i = 0; i < part.rank; i++) {
            begin = begin * type.dims[i] + part.start[i];
        }
        const uint32_t count = merge_dims(&part, &type, dims);
        grout_planner__add_move(planner, index,
                                (grout_slot){.data = (uint32_t)begin, .count = count},
                                (grout_slot){.data = (uint32_t)part.offset});
        for (uint32_t i = 0; i < count; i++) {
            grout_planner__add_move(planner, index, dims[i].from, dims[i].to);
        }
    }
}

static void add_string(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(planner->module, op, 0);
    inst->u.text = grout_module_get_string(planner->module, operand->id);
}

/* The launch's function of that name. */
static void add_extern(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_module *module = planner->module;
    const grout_operand *operand = grout_module_get_operand(module, op, 0);
    const char *name = grout_module_get_string(module, operand->id);
    for (uint32_t i = 0; i < planner->launch->extern_count; i++) {
        if (strcmp(planner->launch->externs[i].name, name) == 0) {
            inst->u.function = &planner->launch->externs[i];
            return;
        }
    }
    const bool is_ptx = grout_op_get_ptx(module, op) != NULL;
    grout_diags_add(planner->diags,
                    is_ptx ? GROUT_DIAG_PTX_FUNCTION_MISSING : GROUT_DIAG_EXTERN_MISSING,
                    grout_module_get_place(module, operand->loc),
                    is_ptx ? "the launch has no function '%s' that computes what this PTX does: "
                             "nothing is known of the kernel"
                           : "the launch has no function '%s'",
                    name);
    grout_diags_help(planner->diags,
                     "a file runs no code of the host by itself: '--extern LIBRARY' "
                     "names a shared library that has the function, and in C "
                     "grout_launch has 'externs'");
    planner->failed = true;
    planner->is_refused = true;
}

static void raise(int64_t *size, int64_t value) {
    *size = *size < value ? value : *size;
}

static void note_sizes(grout_plan *plan, const grout_inst *inst) {
    const bool is_mma = grout_op_get_info((grout_opcode)inst->opcode)->rule == GROUT_RULE_TCGEN05;
    for (uint32_t i = 0; i < inst->access_count; i++) {
        const grout_access_plan *access =
            (const grout_access_plan *)grout_pool__at(&plan->accesses, inst->first_access + i);
        const grout_box_plan *box = grout_plan__box(plan, inst, access->box);
        if (grout_space_is_of_thread(box->space)) {
            continue;
        }
        plan->stores_tmem |= box->space == GROUT_SPACE_TMEM &&
                             ((access->is_write && !is_mma) ||
                              grout_object_get_root(plan->module, box->object) != box->object);
        if (box->packed > 1) {
            raise(&plan->linear_bytes_max, box->bytes);
            raise(&plan->mask_count_max, box->bytes);
        }
        if (access->is_atomic && !access->is_async) {
            raise(&plan->linear_bytes_max, box->bytes);
            raise(&plan->mask_count_max, box->bytes);
        }
        if (access->is_async) {
            raise(&plan->copy_bytes_max, box->bytes);
            raise(&plan->linear_bytes_max, access->is_atomic ? 2 * box->bytes : box->bytes);
            raise(&plan->mask_count_max, box->bytes);
        } else if (access->is_write && grout_space_needs_commit_smem(box->space)) {
            raise(&plan->store_bytes_max, box->bytes);
        } else if (access->is_write && box->is_mixed) {
            raise(&plan->mixed_bytes_max, box->bytes);
        }
    }
}

/* Each index of the reduced dimensions is a row over the dimensions after them. These rows repeat
 * for each index of the dimensions before them. */
static void add_reduce(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(planner->module, op, 0);
    grout_type from = grout_module_get_operand_type(planner->module, operand);
    inst->u.reduce.rows.rows = grout_type_get_count(&from);
    inst->u.reduce.rows.columns = 1;
    if (grout_module_find_attr(planner->module, op, GROUT_ATTR_DIM) != NULL) {
        int64_t dim = grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_DIM, 0);
        inst->u.reduce.rows.rows = from.dims[dim];
        for (int64_t i = dim + 1; i < from.rank; i++) {
            inst->u.reduce.rows.columns *= from.dims[i];
        }
    }
    inst->u.reduce.function =
        grout_loops__find_reduce(op->opcode, (grout_dtype)from.dtype, grout_simd__get_best());
    planner->failed |= inst->u.reduce.function == NULL;
}

/* As a reduction; each of its steps needs all elements of the one before. */
static void add_scan(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_type *type = grout_module_get_type(planner->module, op->first_result);
    const int64_t dim = grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_DIM, 0);
    const grout_dtype dtype = grout_loops__get_compute_dtype((grout_dtype)type->dtype);
    inst->u.reduce.rows.rows = type->dims[dim];
    inst->u.reduce.rows.columns = 1;
    for (int64_t i = dim + 1; i < type->rank; i++) {
        inst->u.reduce.rows.columns *= type->dims[i];
    }
    inst->u.reduce.function =
        grout_loops__find_reduce(grout_op_get_scanned((grout_opcode)op->opcode),
                                 (grout_dtype)type->dtype, grout_simd__get_best());
    planner->failed |= inst->u.reduce.function == NULL;
    raise(&planner->plan->linear_bytes_max, inst->u.reduce.rows.rows * inst->u.reduce.rows.columns *
                                                grout_dtype_get_info(dtype)->bytes);
}

/* Arithmetic on f16 and bf16 is that of f32. */
static void add_loop(grout_planner *planner, grout_inst *inst) {
    grout_dtype dtype = grout_plan__slot(planner->plan, inst, 0)->dtype;
    grout_dtype compute = grout_loops__get_compute_dtype(dtype);
    inst->u.elementwise.strip = grout_strip__alu;
    inst->u.elementwise.is_wide = compute != dtype;
    inst->u.elementwise.loop = grout_loops__find(inst->opcode, compute, grout_simd__get_best());
    planner->failed |= inst->u.elementwise.loop == NULL;
}

/* What a copy is to TMA; with '--arch any' it may be nothing. */
static void add_tma(const grout_planner *planner, grout_inst *inst) {
    grout_tma tma;
    const bool is_planned = grout_tma_plan(planner->module, inst->op, &tma, NULL);
    _Static_assert(GROUT_RANK_MAX <= 8, "a bit for each dimension");
    inst->u.copy.oob = tma.oob;
    inst->u.copy.is_bulk = is_planned && tma.is_bulk;
    inst->u.copy.is_unplanned = !is_planned;
    for (uint32_t k = 0; is_planned && k < tma.fold_count; k++) {
        inst->u.copy.folded |= (uint8_t)(1u << tma.fold_dims[k]);
    }
}

/* The slot of the tensor map that a copy goes through, if the kernel makes it. */
static void add_map_slot(grout_planner *planner, uint32_t index, const grout_op *op) {
    const uint32_t array = grout_op_find_letter(op->opcode, 'G');
    grout_view view;
    const grout_op *maker = NULL;
    if (grout_module_get_view(planner->module, grout_module_get_operand(planner->module, op, array),
                              &view)) {
        maker = grout_view_find_made_descriptor(planner->module, &view);
    }
    if (maker == NULL) {
        return;
    }
    const uint32_t slot =
        grout_planner__add_box(planner, grout_module_get_operand(planner->module, maker, 0), array);
    if (slot == 0) {
        return;
    }
    ((grout_box_plan *)grout_pool__at(&planner->plan->boxes, slot))->is_read = true;
    grout_inst *inst = grout_planner__get_inst(planner, index);
    inst->u.copy.map_slot = slot;
    inst->u.copy.map_maker = grout_module_get_value(planner->module, view.descriptor)->op;
}

static void add_im2col(const grout_planner *planner, grout_inst *inst) {
    grout_tma tma;
    if (!grout_tma_plan(planner->module, inst->op, &tma, NULL)) {
        return; /* the verifier refuses it, whatever the arch */
    }
    inst->u.copy.spatial_count = tma.spatial_count;
    inst->u.copy.offset_max = tma.offset_max;
    for (uint32_t k = 0; k < tma.spatial_count; k++) {
        const uint32_t place = tma.spatial_count - 1u - k;
        inst->u.copy.lower[k] = (int16_t)tma.lower[place];
        inst->u.copy.upper[k] = (int16_t)tma.upper[place];
        inst->u.copy.pixel_steps[k] = (uint8_t)tma.pixel_steps[place];
    }
}

/* What a plain op's rule needs beside operands and result. */
/* NOLINTNEXTLINE(readability-function-size): one short case for each rule */
static void lower_rule(grout_planner *planner, uint32_t index, const grout_op *op) {
    grout_inst *inst = grout_planner__get_inst(planner, index);
    switch ((grout_rule)grout_op_get_info(op->opcode)->rule) {
    case GROUT_RULE_JOIN:
    case GROUT_RULE_COMPARE:
        add_loop(planner, inst);
        break;
    case GROUT_RULE_SELECT:
        inst->u.elementwise.strip = grout_strip__select;
        inst->u.elementwise.loop =
            grout_loops__find_select(inst->result.element_bytes, grout_simd__get_best());
        break;
    case GROUT_RULE_CONVERT:
        inst->u.elementwise.strip = grout_strip__cast;
        break;
    case GROUT_RULE_SLICE:
    case GROUT_RULE_CONCATENATE:
    case GROUT_RULE_TRANSPOSE:
        add_parts(planner, index, op);
        break;
    case GROUT_RULE_RESHAPE:
    case GROUT_RULE_BITCAST:
    case GROUT_RULE_LAYOUT:
        inst->u.elementwise.strip = grout_strip__copy;
        break;
    case GROUT_RULE_BROADCAST:
        inst->u.elementwise.strip = grout_strip__broadcast;
        add_broadcast(planner, index, op);
        break;
    case GROUT_RULE_IOTA:
        add_iota(planner, inst, op);
        break;
    case GROUT_RULE_REDUCE:
        add_reduce(planner, inst, op);
        break;
    case GROUT_RULE_SCAN:
        add_scan(planner, inst, op);
        break;
    case GROUT_RULE_PRINT:
        add_string(planner, inst, op);
        break;
    case GROUT_RULE_EXTERN:
        add_extern(planner, inst, op);
        break;
    case GROUT_RULE_WGMMA:
        grout_planner__lower_wgmma(planner, index);
        break;
    case GROUT_RULE_TCGEN05:
        grout_planner__lower_tcgen05(planner, index);
        break;
    case GROUT_RULE_MMA:
        grout_planner__lower_mma(planner, index);
        break;
    case GROUT_RULE_LOAD:
        grout_planner__lower_load(planner, index, op);
        break;
    case GROUT_RULE_INTEGER:
        if (grout_op_get_letter(op->opcode, 0) == 'x') {
            add_axis(planner, inst, op);
        }
        break;
    case GROUT_RULE_TCGEN05_COPY:
    case GROUT_RULE_COPY:
        if (grout_op_find_letter(op->opcode, 'G') != UINT32_MAX) {
            add_tma(planner, inst);
            grout_planner__add_transfers(planner, index);
            add_map_slot(planner, index, op);
        }
        break;
    case GROUT_RULE_IM2COL:
        add_tma(planner, inst);
        add_im2col(planner, inst);
        break;
    case GROUT_RULE_ROWS:
        add_tma(planner, inst);
        inst->u.copy.row_count = grout_plan__slot(planner->plan, inst, 0)->count;
        break;
    case GROUT_RULE_NONE:
    case GROUT_RULE_TRUTH:
    case GROUT_RULE_MASKED_LOAD:
    case GROUT_RULE_MASKED_STORE:
    case GROUT_RULE_GATHER:
    case GROUT_RULE_SCATTER:
    case GROUT_RULE_MASKED_COPY:
    case GROUT_RULE_GATHER_COPY:
    case GROUT_RULE_STORE:
    case GROUT_RULE_FETCH:
    case GROUT_RULE_DESCRIPTOR:
    case GROUT_RULE_PRINT_LAYOUT:
    case GROUT_RULE_CHECK:
    case GROUT_RULE_PROMISE:
    case GROUT_RULE_OBJECT:
    case GROUT_RULE_CONDITION:
    case GROUT_RULE_YIELD:
    case GROUT_RULE_REGION:
        break;
    }
}

/* The attributes that are written, and how many arrivals an op that posts makes. */
static void lower_attrs(const grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    inst->attrs = grout_op_get_attr_bits(planner->module, op);
    if (sync != NULL && sync->mode == GROUT_SYNC_MODE_POSTS) {
        inst->u.arrive.count =
            (uint32_t)grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_ARRIVE_COUNT, 1);
        inst->u.arrive.from_cta =
            (int32_t)grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_FROM_CTA, -1);
    }
}

/* The fence that 'attr auto_fence' puts in front of an operation: an instruction at its place. */
static void lower_auto_fence(grout_planner *planner, grout_op_id id) {
    if (!grout_op_needs_auto_fence(planner->module, id)) {
        return;
    }
    /* by name: an implied fence is this operation */
    uint32_t index = grout_planner__add_inst(planner, exec_table[GROUT_OP_FENCE_ASYNC_SHARED], id);
    if (!planner->failed) {
        grout_planner__get_inst(planner, index)->opcode = GROUT_OP_FENCE_ASYNC_SHARED;
        grout_planner__get_inst(planner, index)->is_point = true;
    }
}

static bool has_rows(const grout_op *op) {
    return grout_op_get_info(op->opcode)->rule == GROUT_RULE_ROWS;
}

static void lower_plain(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    lower_auto_fence(planner, id);
    uint32_t index = grout_planner__add_inst(planner, exec_table[op->opcode], id);
    if (planner->failed) {
        return;
    }
    grout_planner__get_inst(planner, index)->opcode = op->opcode;
    grout_planner__get_inst(planner, index)->is_point = is_scheduling_point(op);
    grout_planner__begin_wgmma(planner, id);
    grout_pick pick;
    planner->pick = grout_op_get_pick(planner->module, op, &pick) ? &pick : NULL;
    planner->split = grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_PARTITIONED, -1);
    planner->rows_of = has_rows(op) ? grout_op_find_letter(op->opcode, 'G') : UINT32_MAX;
    grout_planner__add_operands(planner, index, op);
    planner->split = -1;
    planner->rows_of = UINT32_MAX;
    /* A descriptor is no value: the references through it say everything. */
    const bool has_values = grout_op_get_info(op->opcode)->rule != GROUT_RULE_DESCRIPTOR;
    for (uint32_t i = 0; has_values && i < op->result_count; i++) {
        grout_planner__define(planner, op->first_result + i);
        grout_planner__get_inst(planner, index)->result = planner->value_slots[op->first_result];
    }
    if (planner->failed) {
        return;
    }
    if (planner->pick != NULL) {
        grout_planner__lower_pick(planner, index, op);
    }
    planner->pick = NULL;
    add_accesses(planner, index, op);
    grout_planner__lower_atomic(planner, index, op);
    lower_attrs(planner, grout_planner__get_inst(planner, index), op);
    lower_rule(planner, index, op);
    if (!planner->failed) {
        grout_planner__lower_cluster(planner, index, op);
    }
    note_sizes(planner->plan, grout_planner__get_inst(planner, index));
    grout_planner__measure_work(planner, grout_planner__get_inst(planner, index));
    if (!planner->failed) {
        grout_planner__lower_mbarrier(planner, index, op);
    }
    grout_planner__trace(planner, index, id);
}

/* By form; NULL for forms without blocks. */
typedef void region_lowering(grout_planner *planner, grout_op_id id);
static region_lowering *const region_lowerings[GROUT_FORM_COUNT] = {
#define GROUT_REGION(FORM, text, KIND, LEAD_OPERANDS, LEAD_ARGS, BLOCKS, YIELDS) \
    [GROUT_FORM_##FORM] = grout_planner__lower_##text,
#include "grout/ops.def"
};

void grout_planner__lower_op(grout_planner *planner, grout_op_id id) {
    if (planner->launch->skipped != NULL && planner->launch->skipped[id]) {
        return;
    }
    const grout_op_info *info = grout_op_get_info(grout_module_get_op(planner->module, id)->opcode);
    switch ((grout_shape)info->shape) {
    case GROUT_SHAPE_REGION:
        region_lowerings[info->form](planner, id);
        break;
    case GROUT_SHAPE_PLAIN:
        if (info->rule != GROUT_RULE_DESCRIPTOR || info->effect_row != GROUT_EFFECT_ROW_PURE) {
            lower_plain(planner, id); /* of a descriptor the references through it say all */
        }
        break;
    case GROUT_SHAPE_END:
        if (info->rule == GROUT_RULE_CONDITION) { /* a yield is lowered by the op around it */
            lower_plain(planner, id);
        }
        break;
    case GROUT_SHAPE_SCRATCH: /* lives as long as the CTA: nothing to do at its place */
        break;
    }
}

void grout_planner__lower_block(grout_planner *planner, grout_block_id block) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && grout_planner__goes_on(planner); id = grout_module_get_op(module, id)->next) {
        grout_op_id last = grout_planner__lower_chain(planner, id);
        if (last != 0) {
            id = last;
            continue;
        }
        grout_planner__lower_op(planner, id);
        if (grout_op_get_info(grout_module_get_op(module, id)->opcode)->rule != GROUT_RULE_YIELD) {
            grout_planner__expire(planner, planner->op_begin[id]);
            grout_planner__expire(planner, planner->op_end[id]);
        }
    }
}
