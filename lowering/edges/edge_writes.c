/*
 * edge_writes.c - what engines write in the memory of a CTA, and another CTA may look at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "edge_writes.h"

#include "actors.h"
#include "array.h"
#include "byte_span.h"
#include "edges.h"
#include "goes_on.h"
#include "sorted.h"

#include "grout-internal/facts.h"
#include "thread_value.h"

/* Something that an engine writes, or that somebody looks at. Whatever only tells apart what is the
 * same for the questions below is zero: of equal ones, the first is kept. */
typedef struct look {
    grout_byte_span span; /* of the object; first, for grout_byte_span__count_together */
    grout_object_id object;
    bool is_write;
    uint8_t milestone;
    bool is_of_peer;         /* who looks; or the write is for both CTAs of a pair */
    bool is_led;             /* of a write: its bytes arrive at the barrier of the CTA that leads */
    grout_object_id barrier; /* of a write: where its bytes arrive */
    uint32_t thread;         /* who looks */
    grout_block_id body;     /* of who looks: in one body, the first has waited for least */
    grout_op_id op;
} look;

/* A thread's wait on a barrier: the first one in the bodies of the same branches. */
typedef struct await {
    uint32_t thread; /* a thread and its warps know the same */
    grout_object_id barrier;
    grout_block_id branch; /* the innermost body that some CTAs may not run; 0: all run it */
    grout_op_id op;
} await;

typedef struct looks {
    GROUT_ARRAY(look) all;
    GROUT_ARRAY(await) waits;         /* sorted, once all are known */
    GROUT_ARRAY(grout_op_id) commits; /* of the tensor core */
    const grout_module *module;
    grout_kernel_id kernel;
    const grout_op *only; /* NULL: all writes count */
    bool failed;          /* no memory, or it does not go on */
} looks;

static bool is_of_tensor_core(uint32_t milestone) {
    return milestone == GROUT_MILESTONE_TCGEN05; /* in the order of its lane */
}

static bool is_for_pair(const grout_module *module, const grout_op *op) {
    return grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE_AXIS) != NULL;
}

/* Whether the bytes of a copy arrive at the barrier of the CTA that leads, for both. */
static bool is_led(const grout_module *module, const grout_op *op) {
    const grout_object_id barrier = grout_edges__find_barrier(module, op);
    return grout_module_find_attr(module, op, GROUT_ATTR_LEADER_TRACKED) != NULL ||
           (barrier != 0 && grout_module_get_object(module, barrier)->is_leader_tracked);
}

/* A write by an engine, of which an edge between CTAs carries less than one within a CTA. Those of
 * cp.async and st.async are accesses of the generic proxy, which edges.c follows. */
static bool is_by_engine(const grout_effect *effect) {
    const bool is_engine = effect->milestone == GROUT_MILESTONE_PHASE ||
                           is_of_tensor_core(effect->milestone) ||
                           effect->milestone == GROUT_MILESTONE_TMEM_STORE;
    return effect->access == GROUT_ACCESS_WRITE &&
           grout_fact_get_travel(false, is_engine, true) == GROUT_TRAVEL_SEEN;
}

static void add(looks *list, const look *l) {
    if (!GROUT_ARRAY_RESERVE(&list->all, grout_module_get_allocator(list->module), 1)) {
        list->failed = true;
        return;
    }
    list->all.items[list->all.count++] = *l;
}

static void add_effect(const grout_actor_walk *walk, grout_op_id id, const grout_effect *effect) {
    looks *list = walk->payload;
    const grout_op *op = grout_module_get_op(walk->module, id);
    grout_view view;
    if (effect->operand >= op->operand_count ||
        !grout_module_get_view(
            walk->module, grout_module_get_operand(walk->module, op, effect->operand), &view) ||
        !grout_space_is_of_cta(grout_module_get_object(walk->module, view.object)->space)) {
        return;
    }
    const look both = {.span = grout_byte_span__get(walk->module, view.object),
                       .object = view.object,
                       .milestone = (uint8_t)effect->milestone,
                       .op = id};
    if (is_by_engine(effect) && (list->only == NULL || list->only == op)) {
        look write = both;
        write.is_write = true;
        write.is_of_peer = is_for_pair(walk->module, op);
        write.is_led = is_led(walk->module, op);
        write.barrier = grout_edges__find_barrier(walk->module, op);
        add(list, &write);
    }
    if (effect->access != GROUT_ACCESS_WRITE || is_of_tensor_core(effect->milestone)) {
        look reader = both;
        reader.is_of_peer = view.cluster_index_count > 0 || is_for_pair(walk->module, op);
        reader.thread = walk->actor.thread;
        reader.body = op->parent;
        add(list, &reader);
    }
}

/* Whether a body is of a branch that some CTAs may not take: more than constants and the thread's
 * own index decides it. */
static bool is_optional(const looks *list, grout_block_id block, uint32_t thread) {
    const grout_op_id id = grout_module_get_block(list->module, block)->parent;
    const grout_op *op = id == 0 ? NULL : grout_module_get_op(list->module, id);
    return op != NULL && grout_op_get_region_kind(op) == GROUT_REGION_BRANCH &&
           !grout_thread__evaluate(list->module, list->kernel, thread,
                                   grout_module_get_operand(list->module, op, 0))
                .is_known;
}

/* The body around a body; 0: there is none. */
static grout_block_id get_outer(const grout_module *module, grout_block_id block) {
    const grout_op_id parent = grout_module_get_block(module, block)->parent;
    return parent == 0 ? 0 : grout_module_get_op(module, parent)->parent;
}

static grout_block_id find_branch(const looks *list, grout_op_id id, uint32_t thread) {
    grout_block_id block = grout_module_get_op(list->module, id)->parent;
    while (block != 0 && !is_optional(list, block, thread)) {
        block = get_outer(list->module, block);
    }
    return block;
}

static void add_wait(grout_actor_walk *walk, grout_op_id id) {
    looks *list = walk->payload;
    const grout_op *op = grout_module_get_op(walk->module, id);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const grout_object_id barrier = grout_edges__find_barrier(walk->module, op);
    if (sync == NULL || barrier == 0 || (sync->covers & 1 << GROUT_MILESTONE_PHASE) == 0) {
        return;
    }
    if (!GROUT_ARRAY_RESERVE(&list->waits, grout_module_get_allocator(walk->module), 1)) {
        list->failed = true;
        return;
    }
    const uint32_t thread = walk->actor.thread;
    list->waits.items[list->waits.count++] =
        (await){thread, barrier, find_branch(list, id, thread), id};
}

static void visit(grout_actor_walk *walk, grout_op_id id, grout_actor_facts *facts) {
    const grout_op *op = grout_module_get_op(walk->module, id);
    uint32_t count;
    const grout_effect *effects = grout_effect_row_get_effects(
        (grout_effect_row)grout_op_get_info((grout_opcode)op->opcode)->effect_row, &count);
    (void)facts;
    for (uint32_t i = 0; i < count; i++) {
        if (effects[i].space != GROUT_EFFECT_SPACE_BARRIER) {
            add_effect(walk, id, &effects[i]);
        }
    }
    add_wait(walk, id);
}

/* Whether a commit arrives at the barrier of each CTA that an operation has written in, and not at
 * that of the CTA alone that issues it. */
static bool reaches(const grout_module *module, const grout_op *commit, const look *write) {
    grout_view view;
    return !write->is_of_peer || is_for_pair(module, commit) ||
           grout_op_get_axes(module, commit, GROUT_ATTR_MULTICAST) != 0 ||
           (grout_module_get_view(module, grout_module_get_operand(module, commit, 0), &view) &&
            view.cluster_index_count > 0);
}

/* The operations of the module that tell of what the tensor core has done. */
static void find_commits(looks *list) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(list->module); id++) {
        const grout_op *op = grout_module_get_op(list->module, id);
        if (grout_op_get_info((grout_opcode)op->opcode)->effect_row !=
            GROUT_EFFECT_ROW_TCGEN05_COMMIT) {
            continue;
        }
        if (!GROUT_ARRAY_RESERVE(&list->commits, grout_module_get_allocator(list->module), 1)) {
            list->failed = true;
            return;
        }
        list->commits.items[list->commits.count++] = id;
    }
}

/* ---- what is known, and who has waited --------------------------------------------------- */

static int compare_waiters(const void *one, const void *other) {
    const await *a = one;
    const await *b = other;
    int order = grout_sorted__compare(a->thread, b->thread);
    order = order != 0 ? order : grout_sorted__compare(a->barrier, b->barrier);
    return order != 0 ? order : grout_sorted__compare(a->branch, b->branch);
}

static int compare_waits(const void *one, const void *other) {
    const await *a = one;
    const await *b = other;
    const int order = compare_waiters(a, b);
    return order != 0 ? order : grout_sorted__compare(a->op, b->op);
}

/* Whether a thread has waited before an operation, in the body of a branch. */
static bool has_waited(const looks *list, const await *wanted) {
    size_t first = 0, last = list->waits.count;
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (compare_waiters(&list->waits.items[middle], wanted) < 0) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    const await *found = &list->waits.items[first];
    return first < list->waits.count && compare_waiters(found, wanted) == 0 &&
           found->op < wanted->op;
}

/* Whether who looks has come by a wait on a barrier, in whichever CTA. Loops are taken to run. */
static bool comes_by(const looks *list, grout_object_id barrier, const look *reader) {
    await wanted = {reader->thread, barrier, 0, reader->op};
    if (has_waited(list, &wanted)) {
        return true;
    }
    wanted.branch = reader->body;
    while (wanted.branch != 0 && !has_waited(list, &wanted)) {
        wanted.branch = get_outer(list->module, wanted.branch);
    }
    return wanted.branch != 0;
}

/* Whether who looks waits for the write himself, where his CTA's barrier hears of it. */
static bool waits_himself(const looks *list, const look *write, const look *reader) {
    if (!is_of_tensor_core(write->milestone)) {
        return reader->is_of_peer == write->is_led && write->barrier != 0 &&
               comes_by(list, write->barrier, reader);
    }
    for (size_t i = 0; i < list->commits.count; i++) {
        const grout_op *commit = grout_module_get_op(list->module, list->commits.items[i]);
        if (reaches(list->module, commit, write) &&
            comes_by(list, grout_edges__find_barrier(list->module, commit), reader)) {
            return true;
        }
    }
    return false;
}

/* Whether an edge may have to carry the write to who looks. */
static bool is_carried(const looks *list, const look *write, const look *reader) {
    const bool are_in_one_lane =
        is_of_tensor_core(write->milestone) && is_of_tensor_core(reader->milestone);
    const bool is_shared = write->object == reader->object ||
                           grout_objects_share_bytes(list->module, write->object, reader->object);
    if (reader->is_write || !is_shared || are_in_one_lane) {
        return false;
    }
    return write->milestone == GROUT_MILESTONE_TMEM_STORE ? reader->is_of_peer
                                                          : !waits_himself(list, write, reader);
}

/* The waits that let a thread know of the write. */
static void note_waits(const looks *list, const look *write, uint8_t *tells) {
    if (write->milestone == GROUT_MILESTONE_TMEM_STORE) {
        tells[0] = 1;
    } else if (!is_of_tensor_core(write->milestone)) {
        tells[write->barrier] |= write->barrier != 0 ? 1 : 0;
    }
    for (size_t i = 0; is_of_tensor_core(write->milestone) && i < list->commits.count; i++) {
        const grout_op *commit = grout_module_get_op(list->module, list->commits.items[i]);
        const grout_object_id barrier = grout_edges__find_barrier(list->module, commit);
        tells[barrier] |= barrier != 0 ? 1 : 0;
    }
}

/* ---- all pairs ------------------------------------------------------------------------------- */

/* By what the questions above ask for; those in bytes that may be shared come together. */
static int compare_askers(const void *one, const void *other) {
    const look *a = one;
    const look *b = other;
    int order = grout_byte_span__compare(&a->span, &b->span);
    order = order != 0 ? order : grout_sorted__compare(a->object, b->object);
    order = order != 0 ? order : grout_sorted__compare(a->is_write, b->is_write);
    order = order != 0 ? order : grout_sorted__compare(a->milestone, b->milestone);
    order = order != 0 ? order : grout_sorted__compare(a->is_of_peer, b->is_of_peer);
    order = order != 0 ? order : grout_sorted__compare(a->is_led, b->is_led);
    order = order != 0 ? order : grout_sorted__compare(a->barrier, b->barrier);
    order = order != 0 ? order : grout_sorted__compare(a->thread, b->thread);
    return order != 0 ? order : grout_sorted__compare(a->body, b->body);
}

static int compare_looks(const void *one, const void *other) {
    const look *a = one;
    const look *b = other;
    const int order = compare_askers(a, b);
    return order != 0 ? order : grout_sorted__compare(a->op, b->op);
}

/* Compares what may share bytes. */
static void compare_together(looks *list, const look *first, size_t count, uint8_t *tells,
                             grout_diags *diags) {
    for (size_t i = 0; i < count && !list->failed; i++) {
        bool is_needed = false;
        for (size_t k = 0; first[i].is_write && !is_needed && k < count; k++) {
            is_needed = is_carried(list, &first[i], &first[k]);
        }
        if (is_needed) {
            note_waits(list, &first[i], tells);
        }
        list->failed |= !grout_diags__goes_on(diags, "accesses of several CTAs were compared");
    }
}

bool grout_edge_writes__find(const grout_module *module, grout_kernel_id kernel,
                             const grout_op *only, uint8_t *tells, grout_diags *diags) {
    looks list = {.module = module, .kernel = kernel, .only = only};
    grout_actor_walk walk = {.module = module,
                             .kernel = kernel,
                             .words = 1,
                             .visit = visit,
                             .payload = &list,
                             .diags = diags};
    list.failed |= !grout_actors__walk(&walk);
    find_commits(&list);
    /* of waits those that come first, of looks those that have waited for least */
    list.waits.count =
        grout_sorted__keep_first(list.waits.items, list.waits.count, sizeof list.waits.items[0],
                                 compare_waits, compare_waiters);
    list.all.count = grout_sorted__keep_first(
        list.all.items, list.all.count, sizeof list.all.items[0], compare_looks, compare_askers);
    for (size_t i = 0, size; i < list.all.count && !list.failed; i += size) {
        const look *first = &list.all.items[i];
        size = grout_byte_span__count_together(first, list.all.count - i, sizeof *first);
        compare_together(&list, first, size, tells, diags);
    }
    grout__free(list.all.items);
    grout__free(list.waits.items);
    grout__free(list.commits.items);
    return !list.failed;
}
