/*
 * memory.c - boxes resolved, gathered and scattered. In the frequent case a box has the plan's
 * shape at another place: a copy is then a loop over precomputed pieces. The other boxes (those
 * that hang over an edge, or start inside a tile) go row by row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "memory.h"
#include "claims.h"
#include "pages.h"

#include "convert.h"

#include <string.h>

#define CHUNK 16

/* Accumulators have none: see accumulator.h. */
static uint8_t *get_object_bytes(const grout_machine *machine, const grout_box *box) {
    const grout_box_plan *plan = box->plan;
    if (grout_space_is_of_launch(plan->space)) {
        return machine->arrays[plan->param].data;
    }
    return box->state + machine->at.memory + plan->memory_offset;
}

/* Whether the plan's shape holds at this start, and how far it has moved. */
static void find_offset(grout_box *box) {
    const grout_box_plan *plan = box->plan;
    box->is_shaped = plan->has_shape && box->is_inside;
    for (uint32_t dim = 0; dim < plan->rank && box->is_shaped; dim++) {
        int64_t step = box->start[dim] - plan->home[dim];
        if (step != 0) {
            box->is_shaped = step % plan->tile[dim] == 0;
            box->offset += step / plan->tile[dim] * plan->weight[dim];
        }
    }
    if (box->offset % (int64_t)plan->layout->period != 0) {
        box->is_shaped = false;
    }
    box->offset = box->is_shaped ? box->offset : 0;
}

/* Where the box's array, or the part of it that the descriptor is of, begins and ends. A part that
 * leaves its array has been reported. */
static int64_t get_first(const grout_box *box, uint32_t dim) {
    return box->plan->first_limit == 0 || box->limits.first[dim] < 0 ? 0 : box->limits.first[dim];
}

static int64_t get_end(const grout_box *box, uint32_t dim) {
    const int64_t size = box->plan->dims[dim];
    return box->plan->first_limit == 0 || box->limits.end[dim] > size ? size : box->limits.end[dim];
}

static void place(const grout_machine *machine, grout_box *box) {
    const grout_box_plan *plan = box->plan;
    box->bytes = get_object_bytes(machine, box);
    box->is_inside = true;
    for (uint32_t dim = plan->rank; dim-- > 0;) {
        int64_t low = box->start[dim], high = low + plan->extent[dim];
        const int64_t first = get_first(box, dim), end = get_end(box, dim);
        if (low < first || high > end) {
            box->is_inside = false;
            box->outside = dim;
            low = low < first ? first : low;
            high = high > end ? end : high;
        }
        box->low[dim] = low;
        box->size[dim] = high > low ? high - low : 0;
        box->is_empty |= high <= low;
    }
    find_offset(box);
}

static void add_terms(const grout_cta *cta, uint32_t thread, const grout_box_plan *plan,
                      int64_t *start, bool *is_undefined) {
    memcpy(start, plan->start, sizeof plan->start);
    const grout_term *terms = grout_pool__at(&cta->machine->plan->terms, plan->first_term);
    for (uint32_t i = 0; i < plan->term_count; i++) {
        start[terms[i].dimension] +=
            grout_slot__get_integer(cta, thread, &terms[i].slot) / terms[i].divisor;
        *is_undefined |= grout_slot__is_undefined(cta, thread, &terms[i].slot);
    }
}

static void add_limits(const grout_cta *cta, uint32_t thread, grout_box *box) {
    const grout_box_plan *plan = box->plan;
    const grout_term *terms = grout_pool__at(&cta->machine->plan->terms, plan->first_limit);
    for (uint32_t dim = 0; plan->first_limit != 0 && dim < plan->rank; dim++) {
        box->limits.first[dim] = grout_slot__get_integer(cta, thread, &terms[dim].slot);
        box->limits.end[dim] = box->limits.first[dim] +
                               grout_slot__get_integer(cta, thread, &terms[plan->rank + dim].slot);
    }
}

/* The rank of the CTA that a reference names; false, and a fault, if there is none. */
static bool find_rank(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                      const grout_box_plan *plan, uint32_t *rank_out, bool *is_undefined) {
    const grout_term *terms = grout_pool__at(&cta->machine->plan->terms, plan->first_place);
    int64_t place[GROUT_CLUSTER_AXES_MAX];
    *rank_out = 0;
    for (uint32_t i = 0; i < plan->place_count; i++) {
        place[i] = plan->place[i];
    }
    for (uint32_t i = 0; i < plan->place_term_count; i++) {
        place[terms[i].dimension] += grout_slot__get_integer(cta, thread, &terms[i].slot);
        *is_undefined |= grout_slot__is_undefined(cta, thread, &terms[i].slot);
    }
    for (uint32_t i = 0; i < plan->place_count; i++) {
        if (place[i] < 0 || place[i] >= plan->place_size[i]) {
            grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                                 .object = plan->object,
                                 .dimension = GROUT_RANK_MAX + i,
                                 .start = place[i],
                                 .extent = 1,
                                 .limit = plan->place_size[i]};
            if (grout_cta__thread(cta, thread)->retry == GROUT_RETRY_FIRST) {
                grout_cta__fault(cta, thread, inst, plan->operand, &fault);
            }
            return false;
        }
        *rank_out = *rank_out * (uint32_t)plan->place_size[i] + (uint32_t)place[i];
    }
    return true;
}

void grout_box__count_elements(const grout_box *box, grout_fault *fault) {
    if (fault->dimension + 1u == box->plan->rank) {
        fault->start *= box->plan->packed;
        fault->extent *= box->plan->packed;
        fault->limit *= fault->code == GROUT_DIAG_OUT_OF_BOUNDS ? box->plan->packed : 1;
    }
}

bool grout_box__check_inside(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             const grout_box *box) {
    if (!box->is_inside && !box->is_nowhere) {
        uint32_t dim = box->outside;
        grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                             .object = box->plan->object,
                             .dimension = dim,
                             .start = box->start[dim],
                             .extent = box->plan->extent[dim],
                             .limit = box->plan->dims[dim]};
        grout_box__count_elements(box, &fault);
        grout_cta__fault(cta, thread, inst, box->plan->operand, &fault);
    }
    return box->is_inside;
}

void grout_box__set_rank(const grout_cta *cta, grout_box *box, uint32_t rank) {
    const grout_machine *machine = cta->machine;
    GROUT_ASSERT(rank < grout_machine__cluster_size(machine));
    box->rank = rank;
    box->state = grout_machine__get_arena(machine, cta->slot, rank);
    box->versions = grout_smem__get_versions(machine, cta->slot, rank);
    if (!box->plan->is_barrier) {
        box->bytes = get_object_bytes(machine, box);
    }
}

grout_box grout_box__resolve(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             uint32_t index) {
    return grout_box__resolve_plan(cta, thread, inst,
                                   grout_plan__box(cta->machine->plan, inst, index));
}

grout_box grout_box__resolve_plan(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                  const grout_box_plan *plan) {
    grout_machine *machine = cta->machine;
    grout_box box = {.plan = plan};
    bool is_undefined = false;
    add_terms(cta, thread, box.plan, box.start, &is_undefined);
    add_limits(cta, thread, &box);
    box.rank = cta->rank;
    box.state = cta->state;
    box.versions = cta->page_versions;
    if (box.plan->place_count > 0) {
        uint32_t rank;
        box.is_nowhere = !find_rank(cta, thread, inst, box.plan, &rank, &is_undefined);
        grout_box__set_rank(cta, &box, box.is_nowhere ? cta->rank : rank);
    }
    if (is_undefined && grout_cta__thread(cta, thread)->retry == GROUT_RETRY_FIRST) {
        grout_cta__fault_undefined(cta, thread, inst, box.plan->operand, GROUT_USE_ADDRESS);
    }
    if (!box.plan->is_barrier) {
        place(machine, &box);
    }
    if (box.is_nowhere) {
        box.is_empty = true;
        box.is_inside = box.is_shaped = false;
        memset(box.size, 0, sizeof box.size);
    }
    if (machine->claims != NULL) {
        grout_claims__note(machine, &box);
    }
    if (grout_stale__is_shown(cta, thread, &box)) {
        box.is_stale = true;
        grout_stale__show(machine, &box);
    }
    return box;
}

grout_box grout_box__place(const grout_cta *cta, const grout_box_plan *plan, const int64_t *start) {
    grout_box box = {
        .plan = plan, .rank = cta->rank, .state = cta->state, .versions = cta->page_versions};
    memcpy(box.start, start, sizeof box.start);
    place(cta->machine, &box);
    return box;
}

grout_box grout_box__place_inside(const grout_cta *cta, const grout_box_plan *plan,
                                  const int64_t *start, const grout_box_limits *limits) {
    grout_box box = {.plan = plan,
                     .rank = cta->rank,
                     .state = cta->state,
                     .versions = cta->page_versions,
                     .limits = *limits};
    memcpy(box.start, start, sizeof box.start);
    place(cta->machine, &box);
    return box;
}

void grout_box__shift(const grout_cta *cta, grout_box *box, uint32_t dim, int64_t distance) {
    box->start[dim] += distance;
    box->offset = 0;
    box->is_empty = false;
    place(cta->machine, box);
    if (cta->machine->claims != NULL) {
        grout_claims__note(cta->machine, box);
    }
}

void grout_box__cut(grout_box *box, uint32_t dim, uint32_t part, uint32_t parts) {
    uint32_t cut = box->plan->order[box->plan->rank - 1 - dim];
    int64_t step = box->plan->extent[cut] / parts;
    int64_t low = box->start[cut] + (int64_t)part * step, high = low + step;
    int64_t end = box->low[cut] + box->size[cut];
    low = low < box->low[cut] ? box->low[cut] : low;
    high = high > end ? end : high;
    box->low[cut] = low;
    box->size[cut] = high > low ? high - low : 0;
    box->is_empty |= high <= low;
    box->is_shaped = false;
    box->offset = 0;
}

const grout_run *grout_box__get_runs(grout_machine *machine, const grout_box *box,
                                     uint32_t *count_out) {
    grout_pool *scratch = &machine->scratch[GROUT_SCRATCH_RUNS];
    if (box->is_shaped) {
        const grout_run *runs = grout_pool__at(&machine->plan->runs, box->plan->first_run);
        *count_out = box->plan->run_count;
        if (box->offset == 0) {
            return runs;
        }
        if (!grout_pool__reserve(scratch, &machine->heap, *count_out)) {
            return NULL;
        }
        grout_run *moved = grout_pool__at(scratch, 0);
        for (uint32_t i = 0; i < *count_out; i++) {
            moved[i] = runs[i];
            moved[i].base += box->offset;
        }
        return moved;
    }
    *count_out = 0;
    if (box->is_empty) {
        return grout_pool__at(scratch, 0);
    }
    int64_t count = grout_layout_get_runs(box->plan->layout, box->low, box->size,
                                          grout_pool__at(scratch, 0), scratch->capacity);
    if (count > scratch->capacity) {
        if (count > INT32_MAX || !grout_pool__reserve(scratch, &machine->heap, (uint32_t)count)) {
            return NULL;
        }
        grout_layout_get_runs(box->plan->layout, box->low, box->size, grout_pool__at(scratch, 0),
                              count);
    }
    *count_out = (uint32_t)count;
    return grout_pool__at(scratch, 0);
}

/* The bytes from one element to the next of the innermost dimension, if that is the same for all.
 */
static bool is_row_contiguous(const grout_box_plan *plan) {
    uint32_t inner = plan->order[plan->rank - 1];
    return grout_layout_is_plain(plan->layout) && inner == plan->rank - 1u;
}

static void visit_row(const grout_box *box, int64_t *index, int64_t element,
                      grout_piece_visitor *visitor, void *payload) {
    const grout_box_plan *plan = box->plan;
    uint32_t inner = plan->order[plan->rank - 1];
    int64_t bytes = plan->element_bytes;
    if (is_row_contiguous(plan)) {
        grout_piece piece = {element, grout_layout_get_offset(plan->layout, index),
                             box->size[inner] * bytes};
        visitor(payload, &piece);
        return;
    }
    enum { OFFSETS = 64 };
    int64_t offsets[OFFSETS];
    grout_piece piece = {.length = 0};
    for (int64_t first = 0; first < box->size[inner]; first += OFFSETS) {
        const int64_t left = box->size[inner] - first;
        const uint32_t count = left < OFFSETS ? (uint32_t)left : OFFSETS;
        index[inner] = box->low[inner] + first;
        grout_layout_get_offsets(plan->layout, index, inner, offsets, count);
        for (uint32_t i = 0; i < count; i++) {
            if (piece.length > 0 && offsets[i] == piece.offset + piece.length) {
                piece.length += bytes;
                continue;
            }
            if (piece.length > 0) {
                visitor(payload, &piece);
            }
            piece = (grout_piece){element + first + i, offsets[i], bytes};
        }
    }
    if (piece.length > 0) {
        visitor(payload, &piece);
    }
    index[inner] = box->low[inner];
}

/* The part inside, row by row: an odometer over all dimensions but the innermost of the order. */
static void visit_rows(const grout_box *box, grout_piece_visitor *visitor, void *payload) {
    const grout_box_plan *plan = box->plan;
    int64_t index[GROUT_RANK_MAX];
    if (plan->rank == 0) {
        grout_piece piece = {0, 0, plan->element_bytes};
        if (!box->is_empty) {
            visitor(payload, &piece);
        }
        return;
    }
    memcpy(index, box->low, sizeof index);
    for (bool is_over = box->is_empty; !is_over;) {
        int64_t element = 0;
        for (uint32_t k = 0; k < plan->rank; k++) {
            uint32_t dim = plan->order[k];
            element = element * plan->extent[dim] + index[dim] - box->start[dim];
        }
        visit_row(box, index, element, visitor, payload);
        is_over = true;
        for (uint32_t k = plan->rank - 1u; k-- > 0 && is_over;) {
            uint32_t dim = plan->order[k];
            index[dim]++;
            is_over = index[dim] == box->low[dim] + box->size[dim];
            index[dim] = is_over ? box->low[dim] : index[dim];
        }
    }
}

void grout_box__visit(const grout_machine *machine, const grout_box *box,
                      grout_piece_visitor *visitor, void *payload) {
    if (!box->is_shaped) {
        visit_rows(box, visitor, payload);
        return;
    }
    const grout_piece *pieces = grout_pool__at(&machine->plan->pieces, box->plan->first_piece);
    for (uint32_t copy = 0; copy <= box->plan->more_copies; copy++) {
        for (uint32_t i = 0; i < box->plan->piece_count; i++) {
            grout_piece piece = pieces[i];
            piece.offset += box->offset + copy * box->plan->copy_stride;
            visitor(payload, &piece);
        }
    }
}

/* ---- copies -----------------------------------------------------------------------------------
 */

typedef struct copy_walk {
    uint8_t *memory;
    uint8_t *linear;
    const uint8_t *source;
    int64_t element_bytes;
} copy_walk;

static void gather_piece(void *payload, const grout_piece *piece) {
    const copy_walk *walk = payload;
    memcpy(walk->linear + piece->element * walk->element_bytes, walk->memory + piece->offset,
           (size_t)piece->length);
}

static void scatter_piece(void *payload, const grout_piece *piece) {
    const copy_walk *walk = payload;
    memcpy(walk->memory + piece->offset, walk->source + piece->element * walk->element_bytes,
           (size_t)piece->length);
}

/* Elements that are not the same in all copies have no value that could be named. */
static void spoil_unlike(const grout_machine *machine, const grout_box *box, uint8_t *linear) {
    const grout_box_plan *plan = box->plan;
    const grout_piece *pieces = grout_pool__at(&machine->plan->pieces, plan->first_piece);
    for (uint32_t copy = 1; copy <= plan->more_copies; copy++) {
        const uint8_t *from = box->bytes + box->offset + copy * plan->copy_stride;
        for (uint32_t i = 0; i < plan->piece_count; i++) {
            uint8_t *to = linear + pieces[i].element * plan->element_bytes;
            if (memcmp(to, from + pieces[i].offset, (size_t)pieces[i].length) != 0) {
                grout_fill_poison(plan->dtype, to, pieces[i].length / plan->element_bytes);
            }
        }
    }
}

void grout_box__gather(const grout_machine *machine, const grout_box *box, void *linear) {
    uint8_t *to = linear;
    if (!box->is_shaped) {
        copy_walk walk = {.memory = box->bytes, .linear = to};
        walk.element_bytes = box->plan->element_bytes;
        visit_rows(box, gather_piece, &walk);
        return;
    }
    const grout_piece *pieces = grout_pool__at(&machine->plan->pieces, box->plan->first_piece);
    const uint8_t *from = box->bytes + box->offset;
    uint32_t count = box->plan->piece_count;
    if (box->plan->is_uniform_chunks) {
        for (uint32_t i = 0; i < count; i++, to += CHUNK) {
            memcpy(to, from + pieces[i].offset, CHUNK);
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to, from + pieces[i].offset, (size_t)pieces[i].length);
        to += pieces[i].length;
    }
    spoil_unlike(machine, box, linear);
}

void grout_box__get_range(const grout_box *box, int64_t *low_out, int64_t *high_out) {
    const grout_box_plan *plan = box->plan;
    *low_out = plan->memory_offset + (box->is_shaped ? plan->low + box->offset : 0);
    *high_out =
        plan->memory_offset + (box->is_shaped ? plan->high + box->offset : plan->layout->bytes);
}

void grout_box__touch(const grout_box *box) {
    if (grout_space_is_of_cta(box->plan->space)) {
        int64_t low, high;
        grout_box__get_range(box, &low, &high);
        grout_smem__touch(box->versions, low, high - low);
    }
}

/* Elements to where a copy of the box begins. */
static void scatter_pieces(const grout_machine *machine, const grout_box *box, uint8_t *to,
                           const uint8_t *from) {
    const grout_piece *pieces = grout_pool__at(&machine->plan->pieces, box->plan->first_piece);
    const uint32_t count = box->plan->piece_count;
    if (box->plan->is_uniform_chunks) {
        for (uint32_t i = 0; i < count; i++, from += CHUNK) {
            memcpy(to + pieces[i].offset, from, CHUNK);
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to + pieces[i].offset, from, (size_t)pieces[i].length);
        from += pieces[i].length;
    }
}

void grout_box__scatter(const grout_machine *machine, const grout_box *box, const void *linear) {
    grout_box__touch(box);
    if (!box->is_shaped) {
        copy_walk walk = {.memory = box->bytes, .source = linear};
        walk.element_bytes = box->plan->element_bytes;
        visit_rows(box, scatter_piece, &walk);
        return;
    }
    for (uint32_t copy = 0; copy <= box->plan->more_copies; copy++) {
        scatter_pieces(machine, box, box->bytes + box->offset + copy * box->plan->copy_stride,
                       linear);
    }
}

static void fill_run(const grout_box *box, const grout_run *run) {
    for (int64_t i = 0; i < run->count; i++) {
        grout_fill_poison(box->plan->dtype, box->bytes + run->base + i * run->stride,
                          run->length / box->plan->element_bytes);
    }
}

void grout_box__poison(grout_machine *machine, const grout_box *box) {
    uint32_t count;
    const grout_run *runs = grout_box__get_runs(machine, box, &count);
    machine->run.has_failed |= runs == NULL;
    grout_box__touch(box);
    for (uint32_t i = 0; runs != NULL && i < count; i++) {
        fill_run(box, &runs[i]);
    }
}
