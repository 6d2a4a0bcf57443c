/* barriers.c - what an op on a barrier names: the entry of the plan, address, order and scope.
 * SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include "edges.h"
#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

grout_gpu_name grout_emit__phases_name(const grout_emitter *e, uint32_t barrier) {
    grout_gpu_name name;
    GROUT_ASSERT(barrier < e->plan->barrier_count && e->plan->barriers[barrier].owner == barrier);
    (void)snprintf(name.text, sizeof name.text, "%s_phases_%" PRIu32,
                   grout_gpu__get_object_name(e->module, e->plan->barriers[barrier].object),
                   barrier);
    return name;
}

grout_gpu_name grout_emit__arrived_name(const grout_emitter *e, uint32_t barrier) {
    grout_gpu_name name;
    GROUT_ASSERT(barrier < e->plan->barrier_count && e->plan->barriers[barrier].is_watched);
    (void)snprintf(name.text, sizeof name.text, "%s_arrived_%u",
                   grout_gpu__get_object_name(e->module, e->plan->barriers[barrier].object),
                   barrier);
    return name;
}

/* Whether the dimension's index is more than one name or number. */
static bool is_sum(const grout_view *barrier, uint32_t dim) {
    return barrier->start_term_count[dim] > 1 ||
           (barrier->start_term_count[dim] > 0 && barrier->start_const[dim] != 0);
}

/* Row-major: "(i + 1) * 6 + j * 3 + 2", without what is 0. */
void grout_emit__slot(grout_emitter *e, const grout_view *barrier) {
    const grout_type *type = grout_object_get_type(e->module, barrier->object);
    int64_t constant = 0, stride = 1, strides[GROUT_RANK_MAX];
    const char *plus = "";
    if (barrier->rank == 1) {
        grout_emit__start(e, barrier, 0);
        return;
    }
    for (uint32_t dim = barrier->rank; dim-- > 0;) {
        strides[dim] = stride;
        stride *= type->dims[dim];
    }
    for (uint32_t dim = 0; dim < barrier->rank; dim++) {
        if (barrier->start_term_count[dim] == 0) {
            constant += barrier->start_const[dim] * strides[dim];
            continue;
        }
        const bool has_brackets = is_sum(barrier, dim) && strides[dim] > 1;
        grout_emit__add(e, "%s%s", plus, has_brackets ? "(" : "");
        grout_emit__start(e, barrier, dim);
        grout_emit__add(e, has_brackets ? ")" : "");
        if (strides[dim] > 1) {
            grout_emit__add(e, " * %" PRId64, strides[dim]);
        }
        plus = " + ";
    }
    if (constant != 0 || plus[0] == '\0') {
        grout_emit__add(e, "%s%" PRId64, plus, constant);
    }
}

bool grout_emit__has_constant_slot(const grout_emitter *e, const grout_view *barrier,
                                   int64_t *slot_out) {
    const grout_type *type = grout_object_get_type(e->module, barrier->object);
    *slot_out = 0;
    for (uint32_t dim = 0; dim < barrier->rank; dim++) {
        if (barrier->start_term_count[dim] > 0) {
            return false;
        }
        *slot_out = *slot_out * type->dims[dim] + barrier->start_const[dim];
    }
    return true;
}

void grout_emit__own_barrier(grout_emitter *e, const grout_view *barrier) {
    int64_t slot;
    grout_emit__add(e, "%s", grout_emit__name(e, barrier->base));
    if (!grout_emit__has_constant_slot(e, barrier, &slot)) {
        const bool has_brackets = barrier->rank > 1 || is_sum(barrier, 0);
        grout_emit__add(e, has_brackets ? " + 8 * (" : " + 8 * ");
        grout_emit__slot(e, barrier);
        grout_emit__add(e, has_brackets ? ")" : "");
    } else if (slot != 0) {
        grout_emit__add(e, " + %" PRId64, 8 * slot);
    }
}

void grout_emit__barrier_address(grout_emitter *e, const grout_view *barrier) {
    const bool is_peer = grout_emit__is_peer(barrier);
    grout_emit__add(e, is_peer ? "grout_peer_address(" : "");
    grout_emit__own_barrier(e, barrier);
    FIELD_END(e, MBARRIER_ADDRESS);
    if (is_peer) {
        grout_emit__add(e, ", ");
        grout_emit__rank(e, barrier);
        grout_emit__add(e, ")");
    }
}

const grout_gpu_barrier *grout_emit__find_barrier(grout_emitter *e, const grout_op *op,
                                                  grout_view *view_out) {
    const uint32_t operand = grout_op_find_letter((grout_opcode)op->opcode, 'b');
    if (operand != UINT32_MAX &&
        grout_module_get_view(e->module, grout_module_get_operand(e->module, op, operand),
                              view_out)) {
        const uint32_t number = grout_gpu__plan_find_barrier(e->plan, view_out->object);
        if (number != UINT32_MAX) {
            GROUT_ASSERT(e->plan->barriers[number].owner <= number);
            return &e->plan->barriers[number];
        }
    }
    grout_emit__unsupported(e, op, "no operand is a barrier");
    return NULL;
}

static bool says_relaxed(const grout_emitter *e, const grout_op *op) {
    return grout_op_get_choice(e->module, op, GROUT_ATTR_ORDER) == GROUT_CHOICE_ORDER_RELAXED;
}

/* The scope that a barrier's operation has, written or not: what mbarriers know of. */
static bool is_for_cluster(const grout_emitter *e, const grout_op *op,
                           const grout_gpu_barrier *entry) {
    const grout_choice scope = grout_op_get_choice(e->module, op, GROUT_ATTR_SCOPE);
    return scope == GROUT_CHOICE_NONE ? entry->is_cluster_scope : scope != GROUT_CHOICE_SCOPE_CTA;
}

bool grout_emit__is_narrowed(const grout_emitter *e, const grout_op *op,
                             const grout_gpu_barrier *entry) {
    return entry->is_narrow && !grout_emit__is_relaxed(e, op) && is_for_cluster(e, op, entry);
}

/* Whether it is emitted for the cluster, if it is no relaxed one that is for the CTA. */
static bool reaches_peers(const grout_emitter *e, const grout_op *op,
                          const grout_gpu_barrier *entry) {
    return !entry->is_narrow && is_for_cluster(e, op, entry);
}

bool grout_emit__is_wide(const grout_emitter *e, const grout_op *op,
                         const grout_gpu_barrier *entry) {
    return !grout_emit__is_relaxed(e, op) && reaches_peers(e, op, entry);
}

const char *grout_emit__choice(const grout_emitter *e, const grout_op *op, grout_attr attr,
                               const char *fallback) {
    static const char *const names[GROUT_CHOICE_COUNT] = {
        [GROUT_CHOICE_ORDER_RELAXED] = "GROUT_RELAXED",
        [GROUT_CHOICE_ORDER_ACQUIRE] = "GROUT_ACQUIRE",
        [GROUT_CHOICE_ORDER_RELEASE] = "GROUT_RELEASE",
        [GROUT_CHOICE_ORDER_ACQ_REL] = "GROUT_ACQ_REL",
        [GROUT_CHOICE_SCOPE_CTA] = "GROUT_CTA",
        [GROUT_CHOICE_SCOPE_CLUSTER] = "GROUT_CLUSTER",
        [GROUT_CHOICE_SCOPE_GPU] = "GROUT_GPU",
        [GROUT_CHOICE_SCOPE_SYS] = "GROUT_SYS"};
    GROUT_ASSERT(attr == GROUT_ATTR_ORDER || attr == GROUT_ATTR_SCOPE);
    const char *name = names[grout_op_get_choice(e->module, op, attr)];
    const bool is_dropped =
        attr == GROUT_ATTR_ORDER && says_relaxed(e, op) && !grout_emit__is_relaxed(e, op);
    return name == NULL || is_dropped ? fallback : name;
}

/* The narrowest first, as the device header numbers them. */
static const char *const scopes[] = {"GROUT_CTA", "GROUT_CLUSTER", "GROUT_GPU", "GROUT_SYS"};

static uint32_t find_scope(const char *name) {
    uint32_t number = 0;
    while (strcmp(scopes[number], name) != 0) {
        number++;
        GROUT_ASSERT(number < sizeof scopes / sizeof *scopes);
    }
    return number;
}

uint32_t grout_emit__get_scope(const grout_emitter *e, const grout_op *op, const char *fallback,
                               const char *narrowest) {
    const uint32_t written = find_scope(grout_emit__choice(e, op, GROUT_ATTR_SCOPE, fallback));
    const uint32_t least = find_scope(narrowest);
    return written > least ? written : least;
}

const char *grout_emit__get_scope_name(int64_t scope) {
    GROUT_ASSERT(scope >= 0 && (size_t)scope < sizeof scopes / sizeof *scopes);
    return scopes[scope];
}

bool grout_emit__is_relaxed(const grout_emitter *e, const grout_op *op) {
    const uint32_t number =
        grout_gpu__plan_find_barrier(e->plan, grout_edges__find_barrier(e->module, op));
    const bool tells = number == UINT32_MAX ? e->plan->tells_of_mbarriers
                                            : e->plan->barriers[number].tells_of_mbarriers;
    return says_relaxed(e, op) && !tells;
}

bool grout_emit__is_without_order(const grout_emitter *e, const grout_op *op) {
    return grout_emit__is_relaxed(e, op) && !e->plan->tells_of_ends;
}

/* "<GROUT_RELEASE, GROUT_CLUSTER>", or nothing for the default: strong, for the CTA. */
static void add_order(grout_emitter *e, bool is_ordered, const char *strong, bool is_for_cluster) {
    const bool is_cluster = FIELD(MBARRIER_SCOPE, is_for_cluster);
    if (!is_ordered || is_cluster) {
        grout_emit__add(e, "<%s, %s>", is_ordered ? strong : "GROUT_RELAXED",
                        is_cluster ? "GROUT_CLUSTER" : "GROUT_CTA");
    }
}

/* Whether an arrival or a wait is emitted for the cluster. */
static bool is_emitted_wide(const grout_emitter *e, const grout_op *op,
                            const grout_gpu_barrier *entry) {
    return grout_emit__is_without_order(e, op) ? reaches_peers(e, op, entry)
                                               : grout_emit__is_wide(e, op, entry);
}

void grout_emit__arrive_order(grout_emitter *e, const grout_op *op,
                              const grout_gpu_barrier *entry) {
    add_order(e, FIELD(MBARRIER_ARRIVE_ORDER, !grout_emit__is_without_order(e, op)),
              "GROUT_RELEASE", is_emitted_wide(e, op, entry));
}

void grout_emit__wait_order(grout_emitter *e, const grout_op *op, const grout_gpu_barrier *entry) {
    add_order(e, FIELD(MBARRIER_WAIT_ORDER, !grout_emit__is_without_order(e, op)), "GROUT_ACQUIRE",
              is_emitted_wide(e, op, entry));
}

void grout_emit__copies_order(grout_emitter *e, const grout_op *op,
                              const grout_gpu_barrier *entry) {
    add_order(e, FIELD(MBARRIER_ARRIVE_ORDER, !says_relaxed(e, op)), "GROUT_RELEASE",
              reaches_peers(e, op, entry));
}

void grout_emit__fence_engines(grout_emitter *e, const grout_op *op) {
    if (grout_emit__is_relaxed(e, op) && !grout_emit__is_without_order(e, op)) {
        grout_emit__line(e, "grout_fence_engines();");
    }
}

void grout_emit__arming_order(grout_emitter *e, const grout_gpu_barrier *entry) {
    add_order(e, FIELD(MBARRIER_ARRIVE_ORDER, true), "GROUT_RELEASE",
              entry->is_cluster_scope && !entry->is_narrow);
}

/* The start of a scope is no meeting of a pair: what the other CTA did in columns that become an
 * array of both is known by whatever barrier tells of it. */
static bool orders_tensor(const grout_emitter *e, const grout_gpu_barrier *entry) {
    return e->plan->tensor_columns > 0 &&
           (entry->is_explicit || e->plan->has_pair_scopes ||
            grout_module_get_object(e->module, entry->object)->orders_tensor_core);
}

void grout_emit__seal_tensor(grout_emitter *e, const grout_gpu_barrier *entry) {
    if (orders_tensor(e, entry)) {
        grout_emit__line(e, "grout_tensor_fence_before();");
    }
}

void grout_emit__admit_tensor(grout_emitter *e, const grout_gpu_barrier *entry) {
    if (orders_tensor(e, entry)) {
        grout_emit__line(e, "grout_tensor_fence_after();");
    }
}

void grout_emit__actor(grout_emitter *e, const char *thread) {
    const bool is_in_map = e->is_warp && e->warps > 1;
    if (e->plan->has_small_threads) {
        grout_emit__add(e, ", 16 * (thread + 1)%s", is_in_map ? " + warp % 4 + 1" : "");
    } else {
        grout_emit__add(e, "%s", is_in_map ? ", warp % 4 + 1" : thread);
    }
}

void grout_emit__end_site(grout_emitter *e, const grout_op *op) {
    grout_emit__add(e, ", %" PRIu32, grout_emit__get_line(e, op->loc));
    grout_emit__actor(e, "");
    grout_emit__end(e, "});");
}
