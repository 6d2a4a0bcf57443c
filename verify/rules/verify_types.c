/* verify_types.c - attributes, formats, conversions and results, op by op.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "grout-internal/register_layout.h"

#include "grout-internal/text.h"

#include <inttypes.h>

/* The i-th attribute of an op: they stand together in the module's table. */
static const grout_attr_value *get_attr(const grout_module *module, const grout_op *op,
                                        uint32_t index) {
    return GROUT_TABLE_AT(module->attrs, grout_attr_value, op->first_attr + index);
}

static void check_range(grout_verifying *verifying, const grout_attr_value *attr, int64_t low,
                        int64_t high) {
    int64_t value = verifying->module->bound->expr_values[attr->expr].integer;
    if (value < low || value > high) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                                "%s(%" PRId64 "): the value has to be %" PRId64 " to %" PRId64,
                                grout_attr_get_info((grout_attr)attr->attr)->text, value, low,
                                high);
    }
}

static grout_rule get_rule(const grout_op *op) {
    return (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
}

static void check_attr(grout_verifying *verifying, const grout_op *op,
                       const grout_attr_value *attr) {
    switch ((grout_attr)attr->attr) {
    case GROUT_ATTR_DIM: /* of the others it decides about types: infer_array.c */
        if (get_rule(op) == GROUT_RULE_IOTA) {
            check_range(verifying, attr, 0,
                        grout_module_get_type(verifying->module, op->first_result)->rank - 1);
        }
        break;
    case GROUT_ATTR_CONTIGUOUS: /* verify_pieces.c */
    case GROUT_ATTR_PERM:       /* infer_part.c */
        break;
    case GROUT_ATTR_UNROLL:
        check_range(verifying, attr, 1, GROUT_UNROLL_MAX);
        break;
    case GROUT_ATTR_ARRIVE_COUNT: /* verify_sync.c */
    case GROUT_ATTR_COLLECTIVE_AXES:
    case GROUT_ATTR_COLLECTIVE_AXIS: /* verify_pair.c */
    case GROUT_ATTR_LEADER_TRACKED:
    case GROUT_ATTR_PARTITIONED:
    case GROUT_ATTR_MULTICAST:
    case GROUT_ATTR_REDUCE:
    case GROUT_ATTR_OOB:    /* verify_oob.c */
    case GROUT_ATTR_PIXELS: /* lowering/im2col_plan.c */
    case GROUT_ATTR_ORDER:
    case GROUT_ATTR_SCOPE:
    case GROUT_ATTR_NO_DECREMENT:
    case GROUT_ATTR_FROM_CTA:
    case GROUT_ATTR_CLUSTER:
    case GROUT_ATTR_READ_ONLY:
    case GROUT_ATTR_NO_COMMIT_GROUP:
    case GROUT_ATTR_COLLECTIVE:
    case GROUT_ATTR_REVERSE:
    case GROUT_ATTR_EXCLUSIVE:
    case GROUT_ATTR_APPROX:
    case GROUT_ATTR_LAYOUT_WGMMA:
    case GROUT_ATTR_LAYOUT_WGMMA_8BIT:
    case GROUT_ATTR_LAYOUT_ROW:
    case GROUT_ATTR_LAYOUT_COL:
    case GROUT_ATTR_LAYOUT_STRIDED:
    case GROUT_ATTR_LAYOUT:
    case GROUT_ATTR_SATURATE: /* of integers: the plan of the op */
    case GROUT_ATTR_WAIT_GROUPS:
    case GROUT_ATTR_LANES:
    case GROUT_ATTR_INCREASE:
    case GROUT_ATTR_DECREASE:
    case GROUT_ATTR_COUNT:
        break;
    }
}

/* "wgmma, wgmma_row or wg_strided": the attributes that an op takes. */
static void add_attr_texts(uint64_t attrs, grout_text *out) {
    const char *separator = "";
    for (int k = 0; k < GROUT_ATTR_COUNT; k++) {
        if ((attrs >> k & 1u) != 0) {
            bool is_last = attrs >> k == 1;
            grout_text_add(out, "%s%s", is_last && *separator != '\0' ? " or " : separator,
                           grout_attr_get_info((grout_attr)k)->text);
            separator = ", ";
        }
    }
}

/* The attributes of these operations exclude each other, and one has to be there. */
static void check_choice(grout_verifying *verifying, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const bool is_change = sync != NULL && sync->object == GROUT_SYNC_OBJECT_REGISTERS;
    const bool is_choice = (get_rule(op) == GROUT_RULE_LAYOUT && info->attrs != 0) || is_change;
    if (!is_choice || op->attr_count == 1) {
        return;
    }
    grout_text texts = {.allocator = verifying->module->allocator};
    add_attr_texts(info->attrs, &texts);
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE,
                            op->attr_count == 0 ? op->loc : get_attr(verifying->module, op, 1)->loc,
                            "'%s' takes one of %s, and %s here", info->text,
                            texts.data == NULL ? "its attributes" : texts.data,
                            op->attr_count == 0 ? "none stands" : "more stand");
    if (is_change) {
        grout_diags_help(verifying->diags,
                         "increase takes registers from the CTA's pool, decrease gives them back: "
                         "'set_max_registers 232 increase', 'set_max_registers 40 decrease'");
    }
    grout_text_free(&texts);
}

/* A register layout that is spelt out, by a text. */
static void check_spelt_layout(grout_verifying *verifying, const grout_op *op) {
    grout_register_tiling tiling;
    grout_tiling_problem problem;
    if (get_rule(op) != GROUT_RULE_LAYOUT || op->operand_count < 2) {
        return;
    }
    const grout_operand *text = grout_module_get_operand(verifying->module, op, 1);
    if (!grout_register_tiling_read(grout_module_get_string(verifying->module, text->id), &tiling,
                                    &problem)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, text->loc,
                                "no register layout: %s", problem.text);
        grout_diags_help(verifying->diags,
                         "as Pallas: \"tiling=((64, 8), (16, 8), (8, 8), (1, 2)), warp_dims=(-8,), "
                         "lane_dims=(-4, -3), vector_dim=-1\"; or as Gluon: reg_bases, lane_bases, "
                         "warp_bases");
    }
}

static void check_attrs(grout_verifying *verifying, const grout_op *op) {
    uint64_t seen = 0;
    for (uint32_t k = 0; k < op->attr_count; k++) {
        const grout_attr_value *attr = get_attr(verifying->module, op, k);
        if ((seen >> attr->attr & 1u) != 0) {
            grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                                    "attribute '%s' stands twice",
                                    grout_attr_get_info((grout_attr)attr->attr)->text);
            continue;
        }
        seen |= UINT64_C(1) << attr->attr;
        check_attr(verifying, op, attr);
    }
    if (get_rule(op) == GROUT_RULE_IOTA && (seen & GROUT_ATTR_BIT(DIM)) == 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, op->loc,
                                "'iota' needs dim(d), the dimension that counts");
        grout_diags_help(verifying->diags, "write dim(0) to count rows");
    }
}

static void check_step(grout_verifying *verifying, const grout_op *op) {
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    if (region->kind != GROUT_REGION_LOOP || region->lead_operands == 0) {
        return;
    }
    const grout_operand *step =
        grout_module_get_operand(verifying->module, op, region->lead_operands - 1u);
    if (step->kind != GROUT_OPERAND_EXPR) {
        return;
    }
    int64_t value = grout_module_get_expr_value(verifying->module, step->id).integer;
    if (value < 1) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, step->loc,
                                "a loop counts up: step %" PRId64 " is not positive", value);
        grout_diags_help(verifying->diags,
                         "count up, and compute the index downwards inside the body");
    }
}

/*
 * sm_90a converts to the 8-bit floats from f32 at the widest (PTX ISA 9.1, cvt). Integers survive
 * the way through f32 (whatever it rounds is far above their range); f64 does not, it would round
 * twice.
 */
static void check_cast(grout_verifying *verifying, const grout_op *op) {
    if (get_rule(op) != GROUT_RULE_CONVERT || verifying->arch == GROUT_ARCH_ANY) {
        return;
    }
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 0);
    grout_type from = grout_module_get_operand_type(verifying->module, operand);
    uint8_t to = grout_module_get_type(verifying->module, op->first_result)->dtype;
    if (from.dtype == GROUT_DTYPE_F64 && (to == GROUT_DTYPE_F8E4M3 || to == GROUT_DTYPE_F8E5M2)) {
        grout_verifying__report(verifying, GROUT_DIAG_UNSUPPORTED_ARCH, op->loc,
                                "sm_90a has no conversion from f64 to %s that rounds once",
                                grout_dtype_get_info((grout_dtype)to)->text);
        grout_diags_help(verifying->diags, "cast to f32 first, and accept that it rounds twice");
    }
}

static void check_unused(grout_verifying *verifying, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    grout_effect_class class_ = grout_effect_row_get_class((grout_effect_row)info->effect_row);
    bool is_load = class_ == GROUT_EFFECT_ACCESS && info->rule == GROUT_RULE_LOAD;
    bool is_silent = class_ == GROUT_EFFECT_PURE || is_load ||
                     info->rule == GROUT_RULE_DESCRIPTOR || info->shape == GROUT_SHAPE_SCRATCH;
    if (!is_silent || op->result_count != 1) {
        return;
    }
    const grout_value *value = grout_module_get_value(verifying->module, op->first_result);
    if (value->use_count > 0) {
        return;
    }
    grout_verifying__report(
        verifying, GROUT_DIAG_UNUSED_RESULT, value->loc == 0 ? op->loc : value->loc,
        "nothing uses %s",
        grout_value__get_text(verifying->module, op->first_result, "the result of this operation")
            .chars);
}

void grout_verify__types(grout_verifying *verifying, const grout_op *op) {
    check_attrs(verifying, op);
    check_choice(verifying, op);
    check_spelt_layout(verifying, op);
    check_step(verifying, op);
    check_cast(verifying, op);
    check_unused(verifying, op);
}
