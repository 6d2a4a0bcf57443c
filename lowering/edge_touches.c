/*
 * edge_touches.c - which accesses of a kernel's arrays may meet accesses of another thread or CTA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "edge_touches.h"

#include "actors.h"
#include "array.h"
#include "goes_on.h"
#include "thread_value.h"

/* One access of an actor: a box of an array, as far as its thread's index decides where that is. */
typedef struct touch {
    grout_object_id object;
    grout_actor actor;
    bool is_write, is_generic;
    bool is_of_peer; /* may lie in another CTA */
    int64_t start[GROUT_RANK_MAX], end[GROUT_RANK_MAX];
} touch;

typedef struct touches {
    GROUT_ARRAY(touch) all;
    bool failed; /* no memory */
} touches;

/* The start of a dimension, if constants and the thread's index decide it. */
static bool find_start(const grout_actor_walk *walk, const grout_view *view, uint32_t dim,
                       int64_t *start_out) {
    *start_out = view->start_const[dim];
    for (uint32_t k = 0; k < view->start_term_count[dim]; k++) {
        const grout_operand term = {.kind = GROUT_OPERAND_VALUE, .id = view->start_terms[dim][k]};
        const grout_known_value value =
            grout_thread__evaluate(walk->module, walk->kernel, walk->actor.thread, &term);
        if (!value.is_known) {
            return false;
        }
        *start_out += value.value / grout_view_get_term_divisor(view, dim);
    }
    return true;
}

static void set_box(const grout_actor_walk *walk, const grout_view *view, touch *t) {
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        t->end[dim] = grout_object_get_extent(walk->module, view->object, dim);
        if (find_start(walk, view, dim, &t->start[dim])) {
            t->end[dim] = t->start[dim] + view->extent[dim];
        } else {
            t->start[dim] = 0;
        }
    }
}

/* Whether the data of a copy goes to other CTAs than the own one. */
static bool is_for_several(const grout_module *module, const grout_op *op) {
    return grout_op_get_axes(module, op, GROUT_ATTR_COLLECTIVE_AXES) != 0 ||
           grout_op_get_axes(module, op, GROUT_ATTR_MULTICAST) != 0;
}

/* Whether it reads and writes in both CTAs of a pair. */
static bool is_for_pair(const grout_module *module, const grout_op *op) {
    return grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE_AXIS) != NULL;
}

static bool is_data(const grout_effect *effect) {
    return effect->space != GROUT_EFFECT_SPACE_BARRIER &&
           effect->space != GROUT_EFFECT_SPACE_SEMAPHORE && effect->space != GROUT_EFFECT_SPACE_ACC;
}

static void add_touch(grout_actor_walk *walk, const grout_op *op, const grout_effect *effect) {
    touches *list = walk->payload;
    grout_view view;
    if (!is_data(effect) || effect->operand >= op->operand_count ||
        !grout_module_get_view(
            walk->module, grout_module_get_operand(walk->module, op, effect->operand), &view)) {
        return;
    }
    if (!GROUT_ARRAY_RESERVE(&list->all, grout_module_get_allocator(walk->module), 1)) {
        list->failed = true;
        return;
    }
    touch *t = &list->all.items[list->all.count++];
    const bool is_write = effect->access != GROUT_ACCESS_READ;
    *t = (touch){.object = view.object,
                 .actor = walk->actor,
                 .is_write = is_write,
                 .is_generic = effect->proxy == GROUT_PROXY_GENERIC,
                 .is_of_peer = view.cluster_index_count > 0 || is_for_pair(walk->module, op) ||
                               (is_write && is_for_several(walk->module, op))};
    set_box(walk, &view, t);
}

static void visit(grout_actor_walk *walk, grout_op_id id, grout_actor_facts *facts) {
    const grout_op *op = grout_module_get_op(walk->module, id);
    uint32_t count;
    const grout_effect *effects = grout_effect_row_get_effects(
        (grout_effect_row)grout_op_get_info((grout_opcode)op->opcode)->effect_row, &count);
    (void)facts;
    for (uint32_t i = 0; i < count; i++) {
        add_touch(walk, op, &effects[i]);
    }
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static uint8_t get_space(const grout_module *module, const touch *t) {
    return grout_module_get_object(module, t->object)->space;
}

static bool overlaps(const grout_module *module, const touch *a, const touch *b) {
    if (a->object != b->object) {
        return grout_objects_share_bytes(module, a->object, b->object);
    }
    const uint32_t rank = grout_object_get_type(module, a->object)->rank;
    for (uint32_t dim = 0; dim < rank; dim++) {
        if (a->end[dim] <= b->start[dim] || b->end[dim] <= a->start[dim]) {
            return false;
        }
    }
    return true;
}

/* Whether the two may be by different actors: the warps of a thread are several. */
static bool differs(const touch *a, const touch *b) {
    return a->actor.thread != b->actor.thread || a->actor.is_warp || b->actor.is_warp;
}

/* Whether order may matter between a generic access and another one. */
static bool may_conflict(const grout_module *module, const touch *a, const touch *b) {
    const uint8_t space = get_space(module, a);
    if (space != get_space(module, b) || !(a->is_write || b->is_write)) {
        return false;
    }
    if (space == GROUT_SPACE_GMEM) {
        return a->object == b->object; /* other CTAs run the same program */
    }
    const bool is_shared = grout_objects_share_bytes(module, a->object, b->object);
    return a->is_of_peer || b->is_of_peer ? is_shared : differs(a, b) && overlaps(module, a, b);
}

bool grout_edge_touches__find(const grout_module *module, grout_kernel_id kernel, uint8_t *matters,
                              grout_diags *diags) {
    touches list = {.failed = false};
    grout_actor_walk walk = {.module = module,
                             .kernel = kernel,
                             .words = 1,
                             .visit = visit,
                             .payload = &list,
                             .diags = diags};
    list.failed |= !grout_actors__walk(&walk);
    for (size_t i = 0; !list.failed && i < list.all.count; i++) {
        const touch *a = &list.all.items[i];
        for (size_t k = 0; k < list.all.count && a->is_generic && !matters[a->object]; k++) {
            matters[a->object] = may_conflict(module, a, &list.all.items[k]);
        }
        list.failed |= !grout_diags__goes_on(diags, "accesses of several CTAs were compared");
    }
    grout__free(list.all.items);
    return !list.failed;
}
