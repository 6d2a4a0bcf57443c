/* register_layout_values.c - the layouts of a kernel's values: what is asked of them, while they
 * are inferred and afterwards. SPDX-License-Identifier: Apache-2.0 */
#include "register_layouts.h"

#include "alloc.h"
#include "goes_on.h"
#include "invariant.h"

void grout_register_layouts_free(grout_register_layouts *layouts) {
    if (layouts != NULL) {
        grout__free(layouts->of_value);
        grout__free(layouts->tilings);
        grout__free(layouts->exchange_bytes);
        grout__free(layouts);
    }
}

const grout_register_layout *grout_register_layouts_get(const grout_register_layouts *layouts,
                                                        grout_value_id value) {
    return &layouts->of_value[value < layouts->value_count ? value : 0];
}

int64_t grout_register_layouts_get_exchange_bytes(const grout_register_layouts *layouts,
                                                  grout_op_id op) {
    return op < layouts->op_count ? layouts->exchange_bytes[op] : 0;
}

int64_t grout_register_layouts_get_scratch_bytes(const grout_register_layouts *layouts) {
    return layouts->scratch_bytes;
}

/* ---- layouts that the kernel spells out -------------------------------------------------------
 */

grout_register_layout grout_layout__make_kind(const grout_layout_inference *inf, uint8_t kind,
                                              grout_value_id value) {
    const grout_type *type = grout_module_get_type(inf->module, value);
    return kind < GROUT_LAYOUT_COUNT
               ? grout_register_layout_make((grout_register_layout_kind)kind,
                                            inf->out->of_value[value].warps, type)
               : grout_register_layout_make_tiled(&inf->out->tilings[kind - GROUT_LAYOUT_COUNT],
                                                  type);
}

const char *grout_layout__get_text(uint8_t kind) {
    return grout_register_layout_get_text(
        kind < GROUT_LAYOUT_COUNT ? (grout_register_layout_kind)kind : GROUT_LAYOUT_TILED);
}

uint8_t grout_layout__find_spelt(const grout_layout_inference *inf, const grout_op *op) {
    grout_register_tiling tiling;
    grout_tiling_problem problem;
    const char *text =
        grout_module_get_string(inf->module, grout_module_get_operand(inf->module, op, 1)->id);
    if (!grout_register_tiling_read(text, &tiling, &problem)) {
        return GROUT_LAYOUT_STRIDED; /* the verifier has refused it */
    }
    const grout_register_layout_kind kind = grout_register_tiling_get_kind(&tiling);
    for (uint32_t i = 0; kind == GROUT_LAYOUT_TILED && i < inf->out->tiling_count; i++) {
        if (grout_register_tiling__is_equal(&inf->out->tilings[i], &tiling)) {
            return (uint8_t)(GROUT_LAYOUT_COUNT + i);
        }
    }
    return (uint8_t)kind;
}

/* ---- during the inference -------------------------------------------------------------------- */

void grout_layout__walk(grout_layout_inference *inf, grout_block_id block,
                        grout_layout_visit *visit) {
    grout_op_id id = grout_module_get_block(inf->module, block)->first;
    while (id != 0 && inf->goes_on) {
        const grout_op *op = grout_module_get_op(inf->module, id);
        visit(inf, id, op);
        inf->goes_on = grout_diags__goes_on(inf->diags, "register layouts were chosen");
        inf->ok = inf->ok && inf->goes_on;
        for (uint32_t k = 0; k < op->block_count; k++) {
            grout_layout__walk(inf, op->first_block + k, visit);
        }
        id = op->next;
    }
}

bool grout_layout__is_spread(const grout_layout_inference *inf, grout_value_id value) {
    const uint8_t kind = grout_register_layouts_get(inf->out, value)->kind;
    return kind != GROUT_LAYOUT_NONE && kind != GROUT_LAYOUT_SPLAT;
}

grout_value_id grout_layout__find_root(const grout_layout_inference *inf, grout_value_id value) {
    GROUT_ASSERT(value < inf->out->value_count);
    while (inf->parents[value] != value) {
        inf->parents[value] = inf->parents[inf->parents[value]];
        value = inf->parents[value];
    }
    return value;
}

/* Whether two types have one shape but for dimensions of size 1. */
static bool has_same_wide_dims(const grout_type *a, const grout_type *b) {
    uint32_t i = 0, k = 0;
    for (;;) {
        while (i < a->rank && a->dims[i] == 1) {
            i++;
        }
        while (k < b->rank && b->dims[k] == 1) {
            k++;
        }
        if (i == a->rank || k == b->rank) {
            return i == a->rank && k == b->rank;
        }
        if (a->dims[i++] != b->dims[k++]) {
            return false;
        }
    }
}

/* Whether dimensions of more than one element change their order on the way to a value. */
static bool is_turned(const grout_layout_inference *inf, grout_value_id to) {
    const grout_value *value = grout_module_get_value(inf->module, to);
    const grout_op *op =
        value->kind == GROUT_VALUE_RESULT ? grout_module_get_op(inf->module, value->op) : NULL;
    if (op == NULL || grout_op_get_info((grout_opcode)op->opcode)->rule != GROUT_RULE_TRANSPOSE) {
        return false;
    }
    const grout_part part = grout_op_get_part(inf->module, op, 0);
    int64_t before = INT64_MAX;
    for (uint32_t dim = 0; dim < part.rank; dim++) {
        if (part.extent[dim] > 1 && part.stride[dim] > before) {
            return true;
        }
        before = part.extent[dim] > 1 ? part.stride[dim] : before;
    }
    return false;
}

bool grout_layout__is_joint(const grout_layout_inference *inf, const grout_operand *from,
                            grout_value_id to) {
    return from->kind == GROUT_OPERAND_VALUE && grout_layout__is_spread(inf, from->id) &&
           grout_layout__is_spread(inf, to) && !is_turned(inf, to) &&
           has_same_wide_dims(grout_module_get_type(inf->module, from->id),
                              grout_module_get_type(inf->module, to));
}
