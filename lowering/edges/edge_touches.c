/*
 * edge_touches.c - which accesses of a kernel's arrays may meet accesses of another thread or CTA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "edge_touches.h"

#include <stdlib.h>

#include "actors.h"
#include "array.h"
#include "byte_span.h"
#include "goes_on.h"
#include "sorted.h"
#include "thread_value.h"

/* What decides, beside the place, whether two touches conflict. */
enum {
    KIND_GENERIC = 1,
    KIND_WRITE = 2,
    KIND_OF_PEER = 4, /* may lie in another CTA */
    KINDS = 8,
};

/* One access of an actor: a box of an array, as far as its thread's index decides where that is. */
typedef struct touch {
    grout_byte_span span; /* of the object; first, for grout_byte_span__count_together */
    grout_object_id object;
    uint8_t kind;
    grout_actor actor;
    int64_t start[GROUT_RANK_MAX], end[GROUT_RANK_MAX];
} touch;

/* Who makes the touches of one kind. */
typedef enum crowd { CROWD_NOBODY, CROWD_ONE, CROWD_SEVERAL } crowd;

/* What there is among some touches. */
typedef struct gist {
    crowd who[KINDS];
    uint32_t thread[KINDS]; /* where it is CROWD_ONE */
} gist;

/* The touches of one object, which lie side by side. */
typedef struct run {
    touch *first;
    size_t count;
    gist gist;
} run;

typedef struct touches {
    GROUT_ARRAY(touch) all;
    GROUT_ARRAY(run) runs; /* of the objects that are looked at together */
    const grout_module *module;
    grout_diags *diags;
    uint8_t *matters;
    bool failed; /* no memory, or it does not go on */
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
    const bool is_of_peer = view.cluster_index_count > 0 || is_for_pair(walk->module, op) ||
                            (is_write && is_for_several(walk->module, op));
    *t = (touch){.span = grout_byte_span__get(walk->module, view.object),
                 .object = view.object,
                 .kind = (uint8_t)((effect->proxy == GROUT_PROXY_GENERIC ? KIND_GENERIC : 0) |
                                   (is_write ? KIND_WRITE : 0) | (is_of_peer ? KIND_OF_PEER : 0)),
                 .actor = walk->actor};
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

/* ---- order among touches --------------------------------------------------------------------- */

static int compare_boxes(const touch *a, const touch *b) {
    int order = 0;
    for (uint32_t dim = 0; order == 0 && dim < GROUT_RANK_MAX; dim++) {
        order = grout_sorted__compare(a->start[dim], b->start[dim]);
        order = order != 0 ? order : grout_sorted__compare(a->end[dim], b->end[dim]);
    }
    return order;
}

/* By place, so that those in bytes that may be shared come together; equal ones side by side. */
static int compare_touches(const void *one, const void *other) {
    const touch *a = one;
    const touch *b = other;
    int order = grout_byte_span__compare(&a->span, &b->span);
    order = order != 0 ? order : grout_sorted__compare(a->object, b->object);
    order = order != 0 ? order : grout_sorted__compare(a->kind, b->kind);
    order = order != 0 ? order : grout_sorted__compare(a->actor.thread, b->actor.thread);
    order = order != 0 ? order : grout_sorted__compare(a->actor.is_warp, b->actor.is_warp);
    return order != 0 ? order : compare_boxes(a, b);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void add_to_gist(gist *g, const touch *t) {
    crowd *who = &g->who[t->kind];
    const bool is_same = *who == CROWD_ONE && g->thread[t->kind] == t->actor.thread;
    if (t->actor.is_warp || (*who != CROWD_NOBODY && !is_same)) {
        *who = CROWD_SEVERAL; /* the warps of a thread are several */
    } else {
        *who = CROWD_ONE;
        g->thread[t->kind] = t->actor.thread;
    }
}

static gist get_gist(const touch *first, size_t count) {
    gist g = {.who = {CROWD_NOBODY}};
    for (size_t i = 0; i < count; i++) {
        add_to_gist(&g, &first[i]);
    }
    return g;
}

/* Whether different actors make them. */
static bool differs(const gist *a, uint32_t kind, const gist *b, uint32_t other) {
    return a->who[kind] == CROWD_SEVERAL || b->who[other] == CROWD_SEVERAL ||
           a->thread[kind] != b->thread[other];
}

/* Whether order may matter between a generic access of the one and an access of the other, if they
 * share bytes. of_peers: those alone that may lie in another CTA, where program order says nothing.
 */
static bool may_conflict(const gist *a, const gist *b, bool of_peers) {
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        if ((kind & KIND_GENERIC) == 0 || a->who[kind] == CROWD_NOBODY) {
            continue;
        }
        for (uint32_t other = 0; other < KINDS; other++) {
            const uint32_t both = kind | other;
            const bool is_of_peer = (both & KIND_OF_PEER) != 0;
            if (b->who[other] != CROWD_NOBODY && (both & KIND_WRITE) != 0 &&
                (is_of_peer || (!of_peers && differs(a, kind, b, other)))) {
                return true;
            }
        }
    }
    return false;
}

static bool overlaps(const touch *a, const touch *b, uint32_t rank) {
    for (uint32_t dim = 0; dim < rank; dim++) {
        if (a->end[dim] <= b->start[dim] || b->end[dim] <= a->start[dim]) {
            return false;
        }
    }
    return true;
}

/* Whether two of the touches of an object conflict, each compared with each. */
static bool has_conflict(touches *list, const touch *first, size_t count, uint32_t rank) {
    for (size_t i = 0; i < count && !list->failed; i++) {
        const gist a = get_gist(&first[i], 1);
        for (size_t k = 0; k < count && (first[i].kind & KIND_GENERIC) != 0; k++) {
            const gist b = get_gist(&first[k], 1);
            if (overlaps(&first[i], &first[k], rank) && may_conflict(&a, &b, false)) {
                return true;
            }
        }
        list->failed |=
            !grout_diags__goes_on(list->diags, "accesses of several CTAs were compared");
    }
    return false;
}

/* Sorts the touches of an object along a dimension. The object's place is no longer needed. */
static void sort_along(touch *first, size_t count, uint32_t dim) {
    for (size_t i = 0; i < count; i++) {
        first[i].span.start = first[i].start[dim];
        first[i].span.end = first[i].end[dim];
    }
    qsort(first, count, sizeof *first, compare_touches);
}

/* The same as has_conflict, but boxes with a gap between them are not compared: they are cut apart
 * along one dimension after the other, twice, as a cut may lay open another one. */
static bool find_conflict(touches *list, touch *first, size_t count, uint32_t step, uint32_t rank) {
    const gist all = get_gist(first, count);
    if (!may_conflict(&all, &all, false)) {
        return false;
    }
    if (step == 2 * rank) {
        return has_conflict(list, first, count, rank);
    }
    sort_along(first, count, step % rank);
    for (size_t size; count > 0 && !list->failed; first += size, count -= size) {
        size = grout_byte_span__count_together(first, count, sizeof *first);
        if (find_conflict(list, first, size, step + 1, rank)) {
            return true;
        }
    }
    return false;
}

/* Whether a generic access of the one object conflicts with one of the other, or of the same. */
static bool matters(touches *list, const run *a, const run *b) {
    const grout_object_id object = a->first->object;
    if (a != b) {
        return may_conflict(&a->gist, &b->gist, false) &&
               grout_objects_share_bytes(list->module, object, b->first->object);
    }
    return may_conflict(&a->gist, &a->gist, true) ||
           find_conflict(list, a->first, a->count, 0,
                         grout_object_get_type(list->module, object)->rank);
}

static bool has_generic_and_write(const gist *g) {
    bool has_generic = false, has_write = false;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        has_generic |= g->who[kind] != CROWD_NOBODY && (kind & KIND_GENERIC) != 0;
        has_write |= g->who[kind] != CROWD_NOBODY && (kind & KIND_WRITE) != 0;
    }
    return has_generic && has_write;
}

/* Looks at objects that may share bytes, of which list->runs has the touches. */
static void compare_runs(touches *list) {
    for (size_t i = 0; i < list->runs.count; i++) {
        const run *a = &list->runs.items[i];
        uint8_t *found = &list->matters[a->first->object];
        if (a->first->span.space == GROUT_SPACE_GMEM) { /* other CTAs run the same program */
            *found |= has_generic_and_write(&a->gist);
            continue;
        }
        for (size_t k = 0; k < list->runs.count && !*found && !list->failed; k++) {
            *found = matters(list, a, &list->runs.items[k]);
        }
        list->failed |=
            !grout_diags__goes_on(list->diags, "accesses of several CTAs were compared");
    }
}

/* Cuts touches of objects that may share bytes into those of each. */
static void compare_together(touches *list, touch *first, size_t count) {
    const gist all = get_gist(first, count);
    list->runs.count = 0;
    if (!has_generic_and_write(&all)) {
        return;
    }
    for (size_t size; count > 0; first += size, count -= size) {
        for (size = 1; size < count && first[size].object == first->object;) {
            size++;
        }
        if (!GROUT_ARRAY_RESERVE(&list->runs, grout_module_get_allocator(list->module), 1)) {
            list->failed = true;
            return;
        }
        list->runs.items[list->runs.count++] = (run){first, size, get_gist(first, size)};
    }
    compare_runs(list);
}

bool grout_edge_touches__find(const grout_module *module, grout_kernel_id kernel,
                              uint8_t *matters_out, grout_diags *diags) {
    touches list = {.module = module, .diags = diags, .matters = matters_out};
    grout_actor_walk walk = {.module = module,
                             .kernel = kernel,
                             .words = 1,
                             .visit = visit,
                             .payload = &list,
                             .diags = diags};
    list.failed |= !grout_actors__walk(&walk);
    const size_t kept = grout_sorted__keep_first(
        list.all.items, list.all.count, sizeof list.all.items[0], compare_touches, compare_touches);
    for (size_t i = 0, size; i < kept && !list.failed; i += size) {
        touch *first = &list.all.items[i];
        size = grout_byte_span__count_together(first, kept - i, sizeof *first);
        compare_together(&list, first, size);
    }
    grout__free(list.all.items);
    grout__free(list.runs.items);
    return !list.failed;
}
