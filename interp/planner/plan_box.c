/*
 * plan_box.c - the boxes that references name: footprint and copy order. They are computed once,
 * for a start that lies inside the object, and moved at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planner.h"

#include <string.h>

#define CHUNK 16 /* bytes that a swizzle keeps together */
#define LINE  64 /* bytes of a cache line */

static grout_box_plan *get_box(grout_planner *planner, uint32_t index) {
    return grout_pool__at(&planner->plan->boxes, index);
}

/* How far one step of a start that keeps the shape goes: one tile of the dimension. */
static void set_weights(grout_box_plan *box) {
    for (uint32_t dim = 0; dim < box->rank; dim++) {
        box->tile[dim] = 1;
        box->weight[dim] = 0;
        for (uint32_t k = 0; k < box->layout->tiled_rank; k++) {
            if (box->layout->dim[k] == dim && box->layout->divisor[k] >= box->tile[dim]) {
                box->tile[dim] = box->layout->divisor[k];
                box->weight[dim] = box->layout->stride[k];
            }
        }
    }
}

static void add_terms(grout_planner *planner, grout_box_plan *box, const grout_view *view) {
    grout_pool *terms = &planner->plan->terms;
    box->first_term = terms->count == 0 ? 1 : terms->count;
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        for (uint32_t i = 0; i < view->start_term_count[dim]; i++) {
            uint32_t index = grout_pool__take(terms, planner->plan->heap);
            if (index == 0) {
                planner->failed = true;
                return;
            }
            grout_term *term = grout_pool__at(terms, index);
            term->dimension = dim;
            term->divisor = (uint32_t)grout_view_get_term_divisor(view, dim);
            term->slot = planner->value_slots[view->start_terms[dim][i]];
            box->term_count++;
        }
    }
}

/* Where the part ends that a made descriptor is of. Its starts are terms of the view too. */
static void add_limits(grout_planner *planner, uint32_t box, const grout_op *maker) {
    grout_pool *terms = &planner->plan->terms;
    const uint32_t count = maker->operand_count - 2;
    const uint32_t first = terms->count == 0 ? 1 : terms->count;
    for (uint32_t k = 0; k < count; k++) {
        const grout_operand *operand = grout_module_get_operand(planner->module, maker, 2 + k);
        const grout_slot slot = grout_planner__get_operand(planner, operand);
        const uint32_t index = grout_pool__take(terms, planner->plan->heap);
        if (index == 0) {
            planner->failed = true;
            return;
        }
        *(grout_term *)grout_pool__at(terms, index) =
            (grout_term){.dimension = k, .divisor = 1, .slot = slot};
    }
    get_box(planner, box)->first_limit = first;
}

static int32_t get_constant(const grout_planner *planner, const grout_operand *operand) {
    if (operand->kind != GROUT_OPERAND_EXPR) {
        return 0;
    }
    int64_t value = grout_module_get_expr_value(planner->module, operand->id).integer;
    return value < 0 || value > INT32_MAX ? -1 : (int32_t)value;
}

/* The place of the CTA that a reference lies in. */
static void add_place(grout_planner *planner, grout_box_plan *box, const grout_view *view) {
    grout_plan *plan = planner->plan;
    box->first_place = grout_plan__get_next(&plan->terms);
    for (uint32_t i = 0; i < view->cluster_index_count && i < plan->cluster_axis_count; i++) {
        const grout_operand *operand = &view->cluster_index[i];
        box->place_count++;
        box->place[i] = get_constant(planner, operand);
        box->place_size[i] = (int32_t)grout_kernel_get_axis_size(planner->module, plan->kernel,
                                                                 plan->cluster_axes[i]);
        if (operand->kind == GROUT_OPERAND_VALUE) {
            uint32_t index = grout_pool__take(&plan->terms, plan->heap);
            if (index == 0) {
                planner->failed = true;
                return;
            }
            *(grout_term *)grout_pool__at(&plan->terms, index) = (grout_term){
                .dimension = i, .divisor = 1, .slot = planner->value_slots[operand->id]};
            box->place_term_count++;
        }
    }
}

/* Home: constant starts as they are, the others at 0. Outside the object there is no shape. */
static bool set_home(const grout_view *view, grout_box_plan *box) {
    for (uint32_t dim = 0; dim < box->rank; dim++) {
        box->home[dim] = view->start_term_count[dim] > 0 ? 0 : box->start[dim];
        if (box->home[dim] < 0 || box->home[dim] + box->extent[dim] > box->dims[dim]) {
            return false;
        }
    }
    return true;
}

/* A wgmma takes an operand as it lies in memory: the dimension whose elements follow each other is
 * the innermost, whatever the view says. */
static void set_storage_order(const grout_view *view, const grout_wgmma *wgmma,
                              grout_box_plan *box) {
    bool is_a = box->operand == 1;
    bool runs_along_k = !(is_a ? wgmma->a : wgmma->b).is_transposed;
    uint8_t k = view->view_dim[is_a ? 1 : 0], mn = view->view_dim[is_a ? 0 : 1];
    box->order[box->rank - 2] = runs_along_k ? mn : k;
    box->order[box->rank - 1] = runs_along_k ? k : mn;
}

static void add_shape(grout_planner *planner, grout_box_plan *box) {
    grout_pool *runs = &planner->plan->runs, *pieces = &planner->plan->pieces;
    int64_t run_count = grout_layout_get_runs(box->layout, box->home, box->extent, NULL, 0);
    int64_t piece_count =
        grout_layout_get_pieces(box->layout, box->home, box->extent, box->order, NULL, 0);
    runs->count = runs->count == 0 ? 1 : runs->count;
    pieces->count = pieces->count == 0 ? 1 : pieces->count;
    int64_t runs_end = runs->count + run_count, pieces_end = pieces->count + piece_count;
    if (runs_end > INT32_MAX || pieces_end > INT32_MAX ||
        (runs_end > runs->capacity &&
         !grout_pool__reserve(runs, planner->plan->heap, (uint32_t)(2 * runs_end))) ||
        (pieces_end > pieces->capacity &&
         !grout_pool__reserve(pieces, planner->plan->heap, (uint32_t)(2 * pieces_end)))) {
        planner->failed = true;
        return;
    }
    box->first_run = runs->count;
    box->run_count = (uint32_t)run_count;
    box->first_piece = pieces->count;
    box->piece_count = (uint32_t)piece_count;
    grout_layout_get_runs(box->layout, box->home, box->extent, grout_pool__at(runs, box->first_run),
                          run_count);
    grout_piece *first = grout_pool__at(pieces, box->first_piece);
    grout_layout_get_pieces(box->layout, box->home, box->extent, box->order, first, piece_count);
    runs->count = (uint32_t)runs_end;
    pieces->count = (uint32_t)pieces_end;
    box->has_shape = true;
    const grout_run *run = grout_pool__at(runs, box->first_run);
    box->low = run->base;
    for (int64_t i = 0; i < run_count; i++) {
        int64_t end = run[i].base + (run[i].count - 1) * run[i].stride + run[i].length;
        box->high = box->high < end ? end : box->high;
    }
    box->is_uniform_chunks = true;
    for (int64_t i = 0; i < piece_count; i++) {
        box->is_uniform_chunks &= first[i].length == CHUNK;
    }
}

/* Scales have the same bytes in each quarter of the lanes, split ones in the two of each half. A
 * box of them has all rows, so it is this many columns of all lanes. What has the bytes of no other
 * array lies there once. */
static void repeat_scales(grout_planner *planner, grout_object_id id, grout_box_plan *box) {
    enum { LANES = 128, QUARTERS = 4 };
    const grout_object *object = grout_module_get_object(planner->module, id);
    if (!object->is_scales || grout_layout_is_plain(box->layout) || !box->has_shape) {
        return;
    }
    const uint8_t copies = object->is_split ? QUARTERS / 2 : QUARTERS;
    int64_t next[GROUT_RANK_MAX];
    memcpy(next, box->home, sizeof next);
    next[box->rank - 2]++; /* the next lane */
    grout_run *run = grout_pool__at(&planner->plan->runs, box->first_run);
    *run = (grout_run){.base = grout_layout_get_offset(box->layout, box->home),
                       .count = LANES,
                       .length = box->bytes * copies / LANES};
    run->stride = grout_layout_get_offset(box->layout, next) - run->base;
    box->more_copies = copies - 1;
    box->copy_stride = LANES / QUARTERS * run->stride;
    planner->plan->runs.count = box->first_run + 1;
    box->run_count = 1;
    box->low = run->base;
    box->high = run->base + (run->count - 1) * run->stride + run->length;
}

static void fill_array_box(grout_planner *planner, const grout_view *view, grout_box_plan *box) {
    box->layout = grout_object_get_layout(planner->module, view->object);
    memcpy(box->order, view->order, sizeof box->order);
    box->count = 1;
    for (uint32_t dim = 0; dim < box->rank; dim++) {
        box->count *= box->extent[dim];
    }
    box->bytes = box->count * box->element_bytes;
    box->phase_bytes = grout_object_get_type(planner->module, view->object)->is_expanded
                           ? box->count * grout_dtype_get_info(box->dtype)->bits / 8
                           : box->bytes;
    set_weights(box);
    if (grout_space_is_of_launch(box->space)) {
        box->param = planner->object_params[view->object] - 1;
    } else if (grout_space_is_of_cta(box->space)) {
        box->memory_offset = grout_plan__get_memory_offset(planner->plan, view->object);
        if (planner->is_wgmma && grout_space_needs_commit_smem(box->space)) {
            set_storage_order(view, &planner->wgmma, box);
        }
    }
    if (set_home(view, box)) {
        add_shape(planner, box);
    }
    repeat_scales(planner, view->object, box);
}

uint32_t grout_planner__add_box(grout_planner *planner, const grout_operand *operand,
                                uint32_t index) {
    grout_view view;
    uint32_t result = grout_pool__take(&planner->plan->boxes, planner->plan->heap);
    if (result == 0 || !grout_module_get_view(planner->module, operand, &view)) {
        planner->failed = true;
        return 0;
    }
    grout_planner__cut_view(planner, index, &view);
    const grout_object *object = grout_module_get_object(planner->module, view.object);
    const grout_type *type = grout_object_get_type(planner->module, view.object);
    grout_box_plan *box = get_box(planner, result);
    box->object = view.object;
    box->operand = index;
    box->space = object->space;
    box->rank = view.rank;
    box->packed = view.packed;
    box->dtype = type->dtype;
    box->is_barrier = object->kind != GROUT_OBJECT_ARRAY;
    box->object_kind = object->kind;
    box->is_mixed = grout_space_is_of_launch(object->space) && object->kind == GROUT_OBJECT_ARRAY &&
                    (planner->object_uses[view.object] & GROUT_USED_STORED) != 0 &&
                    planner->object_uses[view.object] != GROUT_USED_STORED;
    box->is_relayed = grout_space_is_of_launch(object->space) &&
                      object->kind == GROUT_OBJECT_ARRAY &&
                      (planner->object_uses[view.object] & GROUT_USED_TMA_READ) != 0 &&
                      (planner->object_uses[view.object] & GROUT_USED_TMA_WRITTEN) != 0;
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        box->dims[dim] = grout_object_get_extent(planner->module, view.object, dim);
    }
    memcpy(box->extent, view.extent, sizeof box->extent);
    memcpy(box->start, view.start_const, sizeof box->start);
    add_terms(planner, box, &view);
    add_place(planner, box, &view);
    const grout_op *maker = grout_view_find_made_descriptor(planner->module, &view);
    if (maker != NULL) {
        add_limits(planner, result, maker);
    }
    if (box->is_barrier) {
        box->first_element = planner->object_elements[view.object];
    } else {
        box->element_bytes = grout_dtype_get_info(box->dtype)->bytes;
        fill_array_box(planner, &view, box);
    }
    return result;
}

/* Cuts pieces of one, two or more chunks, as a swizzle leaves them, into chunks: copies of a single
 * length are faster. */
static void cut_transfers(grout_planner *planner, grout_inst *inst, int64_t bytes) {
    grout_plan *plan = planner->plan;
    grout_pool *moves = &plan->chunk_moves;
    const grout_transfer *transfers = grout_pool__at(&plan->transfers, inst->u.copy.first_transfer);
    bool has_chunks = (int64_t)inst->u.copy.transfer_count * LINE > bytes && bytes < INT32_MAX;
    for (uint32_t i = 0; i < inst->u.copy.transfer_count && has_chunks; i++) {
        has_chunks = transfers[i].length % CHUNK == 0 && transfers[i].source < INT32_MAX - bytes &&
                     transfers[i].destination < INT32_MAX - bytes;
    }
    uint32_t first = grout_plan__get_next(moves), count = (uint32_t)(bytes / CHUNK);
    if (!has_chunks) {
        return;
    }
    if (!grout_pool__reserve(moves, plan->heap, 2 * (first + count))) {
        planner->failed = true;
        return;
    }
    grout_chunk_move *move = grout_pool__at(moves, first);
    for (uint32_t i = 0; move != NULL && i < inst->u.copy.transfer_count; i++) {
        for (int64_t at = 0; at < transfers[i].length; at += CHUNK) {
            *move++ = (grout_chunk_move){(int32_t)(transfers[i].source + at),
                                         (int32_t)(transfers[i].destination + at)};
        }
    }
    moves->count = first + count;
    inst->u.copy.first_chunk = first;
    inst->u.copy.chunk_count = count;
    plan->transfers.count = inst->u.copy.first_transfer;
    inst->u.copy.transfer_count = 0;
}

/* Both lists of pieces cover the same elements in the same order; a transfer ends where a piece of
 * either list ends. */
void grout_planner__add_transfers(grout_planner *planner, uint32_t inst_index) {
    grout_plan *plan = planner->plan;
    grout_inst *inst = grout_pool__at(&plan->insts, inst_index);
    const grout_box_plan *from = get_box(planner, inst->first_box);
    const grout_box_plan *to = from + 1;
    const grout_piece *source = grout_pool__at(&plan->pieces, from->first_piece);
    const grout_piece *destination = grout_pool__at(&plan->pieces, to->first_piece);
    inst->u.copy.first_transfer = plan->transfers.count == 0 ? 1 : plan->transfers.count;
    if (!from->has_shape || !to->has_shape || from->bytes != to->bytes) {
        return;
    }
    int64_t source_done = 0, destination_done = 0, left = from->bytes;
    while (left > 0) {
        int64_t length = source->length - source_done;
        int64_t room = destination->length - destination_done;
        length = length < room ? length : room;
        uint32_t index = grout_pool__take(&plan->transfers, plan->heap);
        if (index == 0) {
            planner->failed = true;
            return;
        }
        grout_transfer *transfer = grout_pool__at(&plan->transfers, index);
        *transfer = (grout_transfer){source->offset + source_done,
                                     destination->offset + destination_done, length};
        inst->u.copy.transfer_count++;
        source_done += length;
        destination_done += length;
        left -= length;
        if (source_done == source->length) {
            source++;
            source_done = 0;
        }
        if (destination_done == destination->length) {
            destination++;
            destination_done = 0;
        }
    }
    cut_transfers(planner, inst, from->bytes);
}
