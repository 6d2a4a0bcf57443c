/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edges.c - what the edges between the CTAs of a cluster can have to carry.
 *
 * An arrive that releases for the cluster costs a fence of the whole GPU, and a wait that acquires
 * for it empties the L1 cache. Kernels have both, because that is what a barrier of several CTAs
 * means unless its operations say otherwise. Most rings need neither: their slots are touched by
 * TMA and the tensor core alone, and that such an access is over is a fact in time.
 *
 * The proof is a walk along the program of each actor. A fact is something that the actor did, or
 * learnt of, and that may matter to others: a generic access of an array that others touch
 * (edge_touches.h), a barrier made, a TMA store that is known to have been written, a write of an
 * engine that a peer looks at and the actor has waited for (edge_writes.h). An operation
 * that releases while its actor holds a fact makes its object carry facts, and an operation that
 * acquires from such an object gives its actor facts. This is repeated until no object is new. A
 * barrier is narrow if it carries none, or if all that acquire from it do so for the CTA alone, by
 * the author's word: an order for the cluster takes both sides.
 *
 * When the whole cluster meets at its hardware barrier, in order, every CTA of it knows all that
 * was done before: nothing of it has to travel again within the cluster. To other clusters it does.
 *
 * Facts about a CTA's own arrays count too, if two of its threads touch them: the order between the
 * two may lead through another CTA.
 */
#include "edges.h"

#include "actors.h"
#include "alloc.h"
#include "edge_touches.h"
#include "edge_writes.h"

#include <string.h>

enum {
    FACT_CLUSTER = 1, /* the cluster has not met since */
    FACT_GRID = 2,    /* the same, whether it has met or not */
    FACTS = FACT_CLUSTER | FACT_GRID,
    FACT_SEEN = 16, /* of an engine's write: within a CTA relaxed edges carry it, too */
    FACT_MADE = 32, /* an mbarrier was made or ended: relaxed edges carry it, too */
    FACTS_IN_TIME = FACT_SEEN | FACT_MADE,
    FACTS_OF_CLUSTER = FACT_CLUSTER | FACTS_IN_TIME,
    STARTED_COPY = 4,  /* cp.async or st.async: written at some later time */
    STARTED_STORE = 8, /* a TMA store to GMEM */
    OBJECT_KINDS = GROUT_SYNC_OBJECT_GRIDS + 1
};

typedef struct edge_walk {
    uint8_t *matters; /* by object: generic accesses are facts */
    uint8_t *tells;   /* by object: waits on the barrier make facts (edge_writes.h) */
    uint8_t *ends;    /* by object: it is an mbarrier that is ended, so its uses are facts */
    /* By object, for barriers; after them by kind of object, for the rest: the facts that its
     * releases have carried. */
    uint8_t *carried;
    bool has_grown;        /* carried, in this round */
    bool is_alone;         /* clusters are of one CTA */
    grout_op_id last_init; /* after which all meet; 0: none */
    const grout_op *only;  /* the one operation that makes facts; NULL: all do */
    grout_diags *diags;
} edge_walk;

static bool is_relaxed(const grout_module *module, const grout_op *op) {
    return grout_op_get_choice(module, op, GROUT_ATTR_ORDER) == GROUT_CHOICE_ORDER_RELAXED;
}

grout_object_id grout_edges__find_barrier(const grout_module *module, const grout_op *op) {
    const uint32_t operand = grout_op_find_letter((grout_opcode)op->opcode, 'b');
    grout_view view;
    return operand != UINT32_MAX &&
                   grout_module_get_view(module, grout_module_get_operand(module, op, operand),
                                         &view)
               ? view.object
               : 0;
}

/* Where carried has what an operation releases to, or acquires from. */
static uint32_t find_key(const grout_module *module, const grout_op *op, uint8_t kind) {
    const grout_object_id barrier = grout_edges__find_barrier(module, op);
    return barrier != 0 ? barrier : grout_module_get_object_count(module) + kind;
}

static void release(grout_actor_walk *walk, uint32_t key, grout_actor_facts facts) {
    edge_walk *edges = walk->payload;
    const uint8_t more =
        (uint8_t)(facts & (FACTS | FACTS_IN_TIME) & ~(grout_actor_facts)edges->carried[key]);
    edges->carried[key] |= more;
    edges->has_grown |= more != 0;
}

/* What another cluster had to tell is new to the own one. */
static void acquire(const grout_actor_walk *walk, uint32_t key, bool is_grid,
                    grout_actor_facts *facts) {
    const edge_walk *edges = walk->payload;
    const uint32_t carried = edges->carried[key];
    *facts |= is_grid && (carried & FACTS) != 0 ? carried | FACTS : carried;
}

/* ---- one operation --------------------------------------------------------------------------- */

static void note_effect(grout_actor_walk *walk, const grout_op *op, const grout_effect *effect,
                        grout_actor_facts *facts) {
    const edge_walk *edges = walk->payload;
    grout_view view;
    if (effect->space == GROUT_EFFECT_SPACE_BARRIER) {
        *facts |= effect->access == GROUT_ACCESS_WRITE ? FACTS | FACT_MADE : 0;
        return;
    }
    if (effect->operand >= op->operand_count ||
        !grout_module_get_view(
            walk->module, grout_module_get_operand(walk->module, op, effect->operand), &view)) {
        return;
    }
    if (effect->proxy == GROUT_PROXY_GENERIC && effect->milestone == GROUT_MILESTONE_PHASE) {
        /* st.async: what it stores comes with the phase of its barrier, by an order of the cluster
         * (PTX ISA 9.1, 'st.async'). */
        release(walk, find_key(walk->module, op, 0), FACTS);
    }
    if (effect->proxy == GROUT_PROXY_ASYNC) {
        *facts |= effect->milestone == GROUT_MILESTONE_BULK_WRITE ? STARTED_STORE : 0;
    } else if (edges->matters[view.object]) {
        *facts |= effect->milestone == GROUT_MILESTONE_ISSUE ? FACTS : STARTED_COPY;
    }
}

/* Whether it is a wait that lets its actor know of what an engine has written, and a peer looks at.
 */
static bool tells_of_write(const grout_actor_walk *walk, const grout_op *op,
                           const grout_sync_info *sync) {
    const edge_walk *edges = walk->payload;
    const grout_object_id barrier = grout_edges__find_barrier(walk->module, op);
    return ((sync->covers & 1 << GROUT_MILESTONE_PHASE) != 0 && barrier != 0 &&
            edges->tells[barrier] != 0) ||
           ((sync->covers & 1 << GROUT_MILESTONE_TMEM_STORE) != 0 && edges->tells[0] != 0);
}

/* What has been started may now be known to be done. */
static void note_ends(const grout_actor_walk *walk, const grout_op *op, const grout_sync_info *sync,
                      grout_actor_facts *facts) {
    const uint8_t copies = 1 << GROUT_MILESTONE_ASYNC_COPY | 1 << GROUT_MILESTONE_PHASE;
    const uint8_t stores = 1 << GROUT_MILESTONE_BULK_WRITE;
    if ((sync->covers & copies) != 0 && (*facts & STARTED_COPY) != 0) {
        *facts |= FACTS;
    }
    if (tells_of_write(walk, op, sync)) {
        *facts |= FACT_SEEN;
    }
    if ((sync->covers & stores) != 0 && (*facts & STARTED_STORE) != 0 &&
        grout_module_find_attr(walk->module, op, GROUT_ATTR_READ_ONLY) == NULL) {
        *facts |= FACTS;
    }
}

/* Where there is one CTA, its threads know all when they have met. */
static bool is_meeting_of_cta(const grout_actor_walk *walk, const grout_sync_info *sync) {
    const edge_walk *edges = walk->payload;
    return edges->is_alone && sync->object == GROUT_SYNC_OBJECT_CTA &&
           sync->mode == GROUT_SYNC_MODE_MEETS;
}

static void note_sync(grout_actor_walk *walk, const grout_op *op, const grout_sync_info *sync,
                      grout_actor_facts *facts) {
    const uint8_t side = is_relaxed(walk->module, op) ? GROUT_SYNC_SIDE_NONE : sync->side;
    const bool is_meeting_of_cluster =
        sync->object == GROUT_SYNC_OBJECT_CLUSTER && sync->mode == GROUT_SYNC_MODE_MEETS;
    const uint32_t key = find_key(walk->module, op, sync->object);
    const edge_walk *edges = walk->payload;
    note_ends(walk, op, sync, facts);
    if (is_meeting_of_cta(walk, sync)) {
        *facts &= ~(grout_actor_facts)FACT_MADE;
        return;
    }
    if (is_meeting_of_cluster) {
        release(walk, key, side == GROUT_SYNC_SIDE_NONE ? *facts & FACT_MADE : 0);
        *facts &= side == GROUT_SYNC_SIDE_BOTH ? ~(grout_actor_facts)FACTS_OF_CLUSTER
                                               : ~(grout_actor_facts)0;
        return;
    }
    if ((sync->side & GROUT_SYNC_SIDE_RELEASE) != 0) {
        release(walk, key, side == GROUT_SYNC_SIDE_NONE ? *facts & FACTS_IN_TIME : *facts);
    }
    if ((side & GROUT_SYNC_SIDE_ACQUIRE) != 0) {
        acquire(walk, key, sync->reach == GROUT_SYNC_REACH_GRID, facts);
    } else if ((sync->side & GROUT_SYNC_SIDE_ACQUIRE) != 0) {
        *facts |= edges->carried[key] & FACTS_IN_TIME;
    }
}

/* An atomic with order(..) tells, and learns of, all that use the element: all share one entry with
 * the semaphores. */
static void note_atomic(grout_actor_walk *walk, const grout_op *op, grout_actor_facts *facts) {
    if (grout_module_find_attr(walk->module, op, GROUT_ATTR_ORDER) != NULL &&
        !is_relaxed(walk->module, op)) {
        const uint32_t key =
            grout_module_get_object_count(walk->module) + GROUT_SYNC_OBJECT_SEMAPHORE;
        release(walk, key, *facts);
        acquire(walk, key, true, facts);
    }
}

static void visit(grout_actor_walk *walk, grout_op_id id, grout_actor_facts *facts) {
    const grout_op *op = grout_module_get_op(walk->module, id);
    const grout_opcode opcode = (grout_opcode)op->opcode;
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    uint32_t count;
    const grout_effect *effects = grout_effect_row_get_effects(
        (grout_effect_row)grout_op_get_info(opcode)->effect_row, &count);
    const edge_walk *edges = walk->payload;
    for (uint32_t i = 0; i < count && (edges->only == NULL || edges->only == op); i++) {
        note_effect(walk, op, &effects[i], facts);
    }
    if (sync != NULL && edges->ends[grout_edges__find_barrier(walk->module, op)] != 0 &&
        (edges->only == NULL || edges->only == op)) {
        *facts |= FACTS | FACT_MADE;
    }
    if (id == edges->last_init) {
        *facts &= ~(grout_actor_facts)FACT_MADE;
    }
    if (sync != NULL) {
        note_sync(walk, op, sync, facts);
    } else {
        note_atomic(walk, op, facts);
    }
}

/* The parts of a fork know what was known before it, and tell what they know at its end. */
static void begin(grout_actor_walk *walk, grout_actor_facts *facts) {
    acquire(walk, grout_module_get_object_count(walk->module) + GROUT_SYNC_OBJECT_PARTS, false,
            facts);
}

static void end(grout_actor_walk *walk, grout_actor_facts *facts) {
    release(walk, grout_module_get_object_count(walk->module) + GROUT_SYNC_OBJECT_PARTS, *facts);
}

/* The last mbarrier_init of the kernel's own block; 0: there is none. */
static grout_op_id find_last_init(const grout_module *module, grout_kernel_id kernel) {
    const grout_block_id body = grout_module_get_kernel(module, kernel)->body;
    grout_op_id last = 0;
    for (grout_op_id at = grout_module_get_block(module, body)->first; at != 0;) {
        const grout_op *op = grout_module_get_op(module, at);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        const bool is_init = sync != NULL && sync->object == GROUT_SYNC_OBJECT_MBARRIER &&
                             sync->mode == GROUT_SYNC_MODE_MAKES;
        last = is_init ? at : last;
        at = op->next;
    }
    return last;
}

/* The mbarriers that the kernel ends: mbarrier_invalidate comes after all uses, in PTX by an order
 * that holds both threads. */
static void find_ends(const grout_module *module, grout_kernel_id kernel, uint8_t *ends) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        const grout_object_id barrier = grout_edges__find_barrier(module, op);
        if (barrier != 0 && sync != NULL && sync->mode == GROUT_SYNC_MODE_ENDS &&
            grout_module_get_block(module, op->parent)->kernel == kernel) {
            ends[barrier] = 1;
        }
    }
}

static bool init(edge_walk *edges, const grout_module *module, grout_kernel_id kernel,
                 grout_diags *diags) {
    const uint32_t objects = grout_module_get_object_count(module);
    const grout_allocator *allocator = grout_module_get_allocator(module);
    *edges = (edge_walk){.diags = diags,
                         .last_init = find_last_init(module, kernel),
                         .matters = grout__new(allocator, objects, 1),
                         .tells = grout__new(allocator, objects, 1),
                         .ends = grout__new(allocator, objects, 1),
                         .carried = grout__new(allocator, objects + OBJECT_KINDS, 1)};
    if (edges->ends != NULL) {
        find_ends(module, kernel, edges->ends);
    }
    return edges->matters != NULL && edges->tells != NULL && edges->ends != NULL &&
           edges->carried != NULL &&
           grout_edge_touches__find(module, kernel, edges->matters, diags) &&
           grout_edge_writes__find(module, kernel, NULL, edges->tells, diags);
}

static void deinit(const edge_walk *edges) {
    grout__free(edges->matters);
    grout__free(edges->tells);
    grout__free(edges->ends);
    grout__free(edges->carried);
}

/* Until no object carries more. */
static bool walk_all(edge_walk *edges, const grout_module *module, grout_kernel_id kernel) {
    grout_actor_walk walk = {.module = module,
                             .kernel = kernel,
                             .words = 1,
                             .visit = visit,
                             .begin = begin,
                             .end = end,
                             .payload = edges,
                             .diags = edges->diags};
    bool is_done = true;
    do {
        edges->has_grown = false;
        is_done = grout_actors__walk(&walk);
    } while (is_done && edges->has_grown);
    return is_done;
}

/* Whether an operation acquires for more than its own CTA what a barrier has carried: what was
 * released for the cluster reaches nobody else. */
static bool acquires_for_cluster(const grout_module *module, const grout_op *op, uint8_t carried) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && (sync->side & GROUT_SYNC_SIDE_ACQUIRE) != 0 &&
           ((carried & FACT_MADE) != 0 || !is_relaxed(module, op)) &&
           grout_op_get_choice(module, op, GROUT_ATTR_SCOPE) != GROUT_CHOICE_SCOPE_CTA;
}

/* What a barrier carries that an operation of the kernel acquires for the cluster. */
static void note_acquired(const grout_module *module, grout_kernel_id kernel,
                          const uint8_t *carried, uint8_t *is_narrow) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        const grout_object_id barrier = grout_edges__find_barrier(module, op);
        if (barrier != 0 && (carried[barrier] & FACTS_OF_CLUSTER) != 0 &&
            grout_module_get_block(module, op->parent)->kernel == kernel &&
            acquires_for_cluster(module, op, carried[barrier])) {
            is_narrow[barrier] = 0;
        }
    }
}

bool grout_edges__find_narrow(const grout_module *module, grout_kernel_id kernel,
                              uint8_t *is_narrow, grout_diags *diags) {
    edge_walk edges;
    const bool is_done = init(&edges, module, kernel, diags) && walk_all(&edges, module, kernel);
    for (grout_object_id id = 1; is_done && id < grout_module_get_object_count(module); id++) {
        is_narrow[id] = grout_module_get_object(module, id)->kind == GROUT_OBJECT_BARRIER;
    }
    if (is_done) {
        note_acquired(module, kernel, edges.carried, is_narrow);
    }
    deinit(&edges);
    return is_done;
}

static bool has_relaxed(const grout_module *module, grout_kernel_id kernel) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        if (is_relaxed(module, op) &&
            grout_module_get_block(module, op->parent)->kernel == kernel) {
            return true;
        }
    }
    return false;
}

bool grout_edges__find_telling(const grout_module *module, grout_kernel_id kernel, uint8_t *tells,
                               grout_diags *diags) {
    const uint32_t objects = grout_module_get_object_count(module);
    edge_walk edges;
    memset(tells, 0, objects);
    if (!has_relaxed(module, kernel)) {
        return true;
    }
    bool is_done = init(&edges, module, kernel, diags);
    edges.is_alone = grout_kernel_get_cluster_size(module, kernel) == 1;
    is_done = is_done && walk_all(&edges, module, kernel);
    for (uint32_t object = 1; is_done && object < objects; object++) {
        tells[object] = (edges.carried[object] & FACT_MADE) != 0;
    }
    if (is_done) {
        const uint8_t others = edges.carried[objects + GROUT_SYNC_OBJECT_SEMAPHORE] |
                               edges.carried[objects + GROUT_SYNC_OBJECT_CLUSTER];
        tells[0] = (others & FACT_MADE) != 0;
    }
    deinit(&edges);
    return is_done;
}

grout_op_id grout_edges__find_cause(const grout_module *module, grout_kernel_id kernel,
                                    grout_object_id barrier, grout_diags *diags) {
    edge_walk edges;
    bool is_done = init(&edges, module, kernel, diags);
    grout_op_id cause = 0;
    for (grout_op_id id = 1; is_done && cause == 0 && id < grout_module_get_op_count(module);
         id++) {
        const grout_op *op = grout_module_get_op(module, id);
        if (grout_module_get_block(module, op->parent)->kernel != kernel) {
            continue;
        }
        memset(edges.carried, 0, grout_module_get_object_count(module) + OBJECT_KINDS);
        memset(edges.tells, 0, grout_module_get_object_count(module));
        edges.only = op;
        is_done = grout_edge_writes__find(module, kernel, op, edges.tells, diags) &&
                  walk_all(&edges, module, kernel);
        cause = is_done && (edges.carried[barrier] & FACTS_OF_CLUSTER) != 0 ? id : 0;
    }
    deinit(&edges);
    return cause;
}
