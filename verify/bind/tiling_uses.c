/* tiling_uses.c - what uses an array in 'tile(infer)', and whether it takes the layout that the
 * array has now. SPDX-License-Identifier: Apache-2.0 */
#include "tiling.h"

#include "wgmma.h"

#include "grout-internal/verify.h"

#include <inttypes.h>

/* ---- the uses ----------------------------------------------------------------------------------
 */

static grout_rule get_rule(const grout_op *op) {
    return (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
}

/* The object that a reference names before any view by .bitcast or .reshape. */
static grout_object_id get_declared(const grout_module *module, const grout_operand *operand) {
    grout_view view;
    return grout_module_get_view(module, operand, &view)
               ? grout_module_get_value(module, view.base)->object
               : 0;
}

static bool add_use(grout_tiling_search *search, grout_op_id op, uint32_t operand) {
    if (!GROUT_ARRAY_RESERVE(&search->uses, search->binding->module->allocator, 1)) {
        search->binding->ok = grout_diags_add_oom(search->binding->diags);
        return false;
    }
    search->uses.items[search->uses.count++] = (grout_tiling_use){.op = op, .operand = operand};
    return true;
}

static bool list_use(grout_binding *binding, grout_tiling_uses *uses, grout_object_id object,
                     const grout_tiling_listed_use *use) {
    if (!GROUT_ARRAY_RESERVE(&uses->list, binding->module->allocator, 1)) {
        return grout_diags_add_oom(binding->diags);
    }
    const uint32_t number = (uint32_t)uses->list.count++;
    uses->list.items[number] = *use;
    if (uses->last[object] != 0) {
        uses->list.items[uses->last[object]].next = number;
    } else {
        uses->first[object] = number;
    }
    uses->last[object] = number;
    return true;
}

/* The references of an op to arrays whose tile is to be found. */
static bool list_op(grout_binding *binding, grout_tiling_uses *uses, grout_op_id id) {
    const grout_module *module = binding->module;
    const grout_op *op = grout_module_get_op(module, id);
    /* What is only shown must not change by being shown. */
    const uint32_t count = get_rule(op) == GROUT_RULE_PRINT_LAYOUT ? 0 : op->operand_count;
    bool is_good = true;
    for (uint32_t k = 0; k < count && is_good; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        const bool is_reference =
            operand->kind == GROUT_OPERAND_REF || operand->kind == GROUT_OPERAND_VALUE;
        const grout_object_id object = is_reference ? get_declared(module, operand) : 0;
        if (object != 0 && grout_module_get_object(module, object)->infers_tile) {
            const grout_tiling_listed_use use = {.op = id, .operand = k};
            is_good = list_use(binding, uses, object, &use);
        }
    }
    return is_good;
}

bool grout_tiling__list_uses(grout_binding *binding, grout_tiling_uses *uses) {
    const grout_module *module = binding->module;
    const grout_tiling_listed_use none = {0};
    uses->first = grout_binding__new(binding, module->objects.count, sizeof *uses->first);
    uses->last = grout_binding__new(binding, module->objects.count, sizeof *uses->last);
    bool is_good = uses->first != NULL && uses->last != NULL && list_use(binding, uses, 0, &none);
    for (grout_kernel_id kernel = 1; is_good && kernel < module->kernels.count; kernel++) {
        grout_op_id id = grout_kernel__get_first_op(module, kernel);
        for (; id != 0 && is_good && grout_binding__goes_on(binding);
             id = grout_kernel__get_next_op(module, id)) {
            is_good = list_op(binding, uses, id);
        }
    }
    binding->ok = binding->ok && is_good;
    return is_good;
}

void grout_tiling__drop_uses(grout_tiling_uses *uses) {
    grout__free(uses->list.items);
    grout__free(uses->first);
    grout__free(uses->last);
    *uses = (grout_tiling_uses){0};
}

bool grout_tiling__add_uses(grout_tiling_search *search) {
    const grout_tiling_uses *uses = search->all_uses;
    bool is_good = true;
    for (uint32_t i = uses->first[search->object]; i != 0 && is_good;
         i = uses->list.items[i].next) {
        is_good = add_use(search, uses->list.items[i].op, uses->list.items[i].operand);
    }
    return is_good;
}

/* ---- what they ask for -------------------------------------------------------------------------
 */

/* Whether TMA moves a box of it. */
static bool is_box(const grout_op *op, uint32_t operand) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    return grout_op_find_letter(opcode, 'G') != UINT32_MAX &&
           grout_op_find_letter(opcode, 'H') == operand;
}

static bool report(const grout_tiling_search *search, grout_diags *diags, grout_loc_id loc,
                   const char *text) {
    if (diags != NULL) {
        grout_diags_add(diags, GROUT_DIAG_BAD_TRANSFORM,
                        grout_module_get_place(search->binding->module, loc), "%s", text);
    }
    return false;
}

/* The .bitcast or .reshape that the layout does not have. */
static bool report_view(const grout_tiling_search *search, const grout_operand *operand,
                        grout_diags *diags) {
    const grout_module *module = search->binding->module;
    const grout_ref *ref = grout_module_get_ref(module, operand->id);
    for (uint32_t k = 0; k < ref->step_count; k++) {
        const grout_ref_step *step = grout_module_get_ref_step(module, ref, k);
        if (step->fault != GROUT_VIEW_FINE) {
            return report(search, diags, step->loc,
                          step->kind == GROUT_REF_RESHAPE
                              ? "these dimensions would put its elements elsewhere"
                              : "a bitcast would put its elements elsewhere");
        }
    }
    return report(search, diags, operand->loc, "this view of it would be none");
}

/* Slices of tiled dimensions take whole tiles, as the verifier asks. */
static bool has_whole_tiles(const grout_tiling_search *search, const grout_view *view,
                            grout_loc_id loc, grout_diags *diags) {
    const grout_module *module = search->binding->module;
    int64_t tiles[GROUT_RANK_MAX];
    grout_object__get_tiles(module, view->object, tiles);
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        const int64_t packed = dim + 1u == view->rank ? view->packed : 1;
        const int64_t extent = view->extent[dim] * packed;
        const int64_t start = view->start_const[dim] * packed;
        const bool is_known = view->start_term_count[dim] == 0;
        if (!view->is_squeezed[dim] &&
            (extent % tiles[dim] != 0 || (is_known && start % tiles[dim] != 0))) {
            if (diags != NULL) {
                grout_diags_add(diags, GROUT_DIAG_BAD_TRANSFORM,
                                grout_module_get_place(module, loc),
                                "a slice of %" PRId64 " elements of dimension %" PRIu32
                                " is not made of whole tiles, which have %" PRId64,
                                extent, dim, tiles[dim]);
            }
            return false;
        }
    }
    return true;
}

/* Whether an engine writes it piece by piece (verify_pieces.c). */
static bool takes_pieces(const grout_module *module, const grout_op *op, uint32_t operand) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, 1);
    (void)module;
    return operand == 1 && sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS && effect != NULL &&
           effect->proxy == GROUT_PROXY_GENERIC && effect->access == GROUT_ACCESS_WRITE;
}

bool grout_tiling__is_fine(const grout_tiling_search *search, const grout_tiling_use *use,
                           grout_diags *diags) {
    const grout_module *module = search->binding->module;
    const grout_op *op = grout_module_get_op(module, use->op);
    const grout_operand *operand = grout_module_get_operand(module, op, use->operand);
    grout_view view;
    if (!grout_module_get_view(module, operand, &view)) {
        return report_view(search, operand, diags);
    }
    if (get_rule(op) == GROUT_RULE_WGMMA) {
        return grout_wgmma__fits(module, use->op, use->operand, diags);
    }
    if (get_rule(op) == GROUT_RULE_TCGEN05) {
        return grout_tcgen05__fits(module, use->op, use->operand, diags);
    }
    if (get_rule(op) == GROUT_RULE_TCGEN05_COPY) {
        grout_tcgen05_copy kind;
        return grout_tcgen05_copy_plan(module, use->op, &kind, diags);
    }
    if (!has_whole_tiles(search, &view, operand->loc, diags)) {
        return false;
    }
    if (is_box(op, use->operand)) {
        grout_tma tma;
        return grout_tma_plan(module, use->op, &tma, diags);
    }
    return !takes_pieces(module, op, use->operand) || grout_get_piece_bytes(module, use->op) > 0 ||
           report(search, diags, op->loc, "not all of this box falls into aligned runs of 4 bytes");
}

/* The value that an access by registers loads or stores; 0: it is none. */
static grout_value_id get_moved(const grout_module *module, const grout_op *op, uint32_t operand) {
    const grout_rule rule = get_rule(op);
    if (operand == 0 && (rule == GROUT_RULE_LOAD || rule == GROUT_RULE_MASKED_LOAD)) {
        return op->first_result;
    }
    if (operand == 0 && (rule == GROUT_RULE_STORE || rule == GROUT_RULE_MASKED_STORE)) {
        const grout_operand *value = grout_module_get_operand(module, op, 1);
        return value->kind == GROUT_OPERAND_VALUE ? value->id : 0;
    }
    return 0;
}

void grout_tiling__add_cost(const grout_tiling_search *search, const grout_tiling_use *use,
                            grout_tiling_candidate *cost) {
    const grout_module *module = search->binding->module;
    const grout_op *op = grout_module_get_op(module, use->op);
    const grout_value_id moved = get_moved(module, op, use->operand);
    grout_tma tma;
    grout_view view;
    if (is_box(op, use->operand) && grout_tma_plan(module, use->op, &tma, NULL)) {
        cost->boxes += tma.panel_count * tma.band_count;
        cost->box_dims += tma.rank;
    }
    if (moved != 0 &&
        grout_module_get_view(module, grout_module_get_operand(module, op, use->operand), &view)) {
        cost->passes += grout_tiling__count_passes(module, &view, search->is_fragment[moved]);
    }
}
