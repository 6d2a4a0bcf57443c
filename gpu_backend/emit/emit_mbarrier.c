/* emit_mbarrier.c - barriers of the explicit style, and tests of barriers.
 *
 * A thread's arrival is made by one lane; on a barrier that counts lanes (plan_arrivals.c) it is
 * 128 arrivals, and mbarrier_init counts to as many times more.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>

/* Whether an arrival of this many fits what the hardware counts; if not, it is unsupported. */
static bool check_count(grout_emitter *e, const grout_op *op, const grout_gpu_barrier *entry,
                        int64_t count) {
    const uint32_t most =
        entry->counts_lanes ? GROUT_GPU_LANE_ARRIVALS_MAX : GROUT_GPU_ARRIVALS_MAX;
    if (count > most) {
        grout_emit__unsupported(e, op,
                                "cp.async arrives on this mbarrier once for each of 128 lanes, "
                                "which makes this %" PRId64 " arrivals: it counts to %u",
                                count, most);
        return false;
    }
    return true;
}

/* ---- init, invalidate ---- */

void grout_emit__init_rendezvous(grout_emitter *e) {
    static const char reason[] = "the mbarriers are made";
    const bool is_fenced = grout_emit__begin_meeting(e, false);
    if (e->plan->cluster_size > 1) {
        grout_emit__line(e, "grout_cluster_start(); // %s", reason);
    } else if (e->forks.part_count > 0) { /* each thread at a place of its own */
        grout_emit__partition_barrier(e, e->plan->thread_count, reason);
    } else {
        grout_emit__line(e, "grout_block_barrier(); // %s", reason);
    }
    grout_emit__end_meeting(e, is_fenced);
}

/* Whether more of them follow at once, which may be made before anybody uses one. */
static bool is_followed(const grout_emitter *e, const grout_op *op) {
    return op->next != 0 && grout_module_get_op(e->module, op->next)->opcode == op->opcode;
}

void grout_emit__mbarrier_init(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const bool is_last = id == e->forks.last_init;
    const bool is_published = is_last || !is_followed(e, op);
    grout_view barrier;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    const int64_t count = grout_emit__get_integer(e, op, 1) *
                          grout_gpu__plan_get_arrival_size(entry) *
                          (grout_emit__is_of_pair(e, entry) ? GROUT_PAIR : 1);
    if (!check_count(e, op, entry, count)) {
        return;
    }
    grout_emit__before_issue(e, "all lanes are done with the bytes");
    grout_emit__open_issuer(e);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_mbarrier_init(");
    grout_emit__own_barrier(e, &barrier);
    FIELD_END(e, MBARRIER_INIT_ADDRESS);
    grout_emit__end(e, ", %" PRId64 ");", FIELD(MBARRIER_COUNT, count));
    if (is_published) {
        grout_emit__line(e, "grout_fence_mbarrier_init();");
    }
    grout_emit__close_issuer(e);
    if (is_last) {
        grout_emit__init_rendezvous(e);
    } else if (is_published) {
        grout_emit__thread_barrier(e, "all lanes may use it");
    }
}

void grout_emit__mbarrier_invalidate(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view barrier;
    (void)id;
    if (grout_emit__find_barrier(e, op, &barrier) == NULL) {
        return;
    }
    grout_emit__before_issue(e, "all lanes are done with it");
    grout_emit__open_issuer(e);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_mbarrier_invalidate(");
    grout_emit__barrier_address(e, &barrier);
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
    grout_emit__thread_barrier(e, "the bytes are free");
}

/* ---- arrivals ---- */

/* "<GROUT_RELAXED>": the order of what the barriers of other CTAs get, where the scope is the
 * cluster, or the scope. */
static void add_peer_order(grout_emitter *e, const grout_op *op, const grout_gpu_barrier *entry) {
    const bool is_wide = grout_emit__is_wide(e, op, entry);
    if (!FIELD(MBARRIER_ARRIVE_ORDER, !grout_emit__is_without_order(e, op))) {
        grout_emit__add(e, "<GROUT_RELAXED>");
    } else if (!FIELD(MBARRIER_SCOPE, is_wide)) {
        grout_emit__add(e, "<GROUT_RELEASE, GROUT_CTA>");
    }
}

/* ", mask, cluster size" of from_cta. */
static void add_mask(grout_emitter *e, const grout_op *op) {
    grout_emit__add(
        e, ", %" PRId64 "u, %" PRId64,
        FIELD(MBARRIER_FROM, grout_op_get_attr_integer(e->module, op, GROUT_ATTR_FROM_CTA, -1) &
                                 (GROUT_CLUSTER_MAX - 1)),
        FIELD(CLUSTER_SIZE, e->plan->cluster_size));
}

static bool has_mask(const grout_emitter *e, const grout_op *op) {
    return grout_module_find_attr(e->module, op, GROUT_ATTR_FROM_CTA) != NULL &&
           e->plan->cluster_size > 1;
}

/* The device functions of an arrival: on the own CTA's mbarrier, on that of a peer, and on those of
 * the peers that from_cta serves. */
typedef struct arrival_functions {
    const char *own, *peer, *from;
} arrival_functions;

static const arrival_functions ARRIVE = {"grout_mbarrier_arrive", "grout_peer_arrive",
                                         "grout_arrive_from"};
static const arrival_functions ARRIVE_DROP = {"grout_mbarrier_arrive_drop",
                                              "grout_peer_arrive_drop", "grout_arrive_drop_from"};
static const arrival_functions EXPECT = {"grout_mbarrier_arrive_expect", "grout_peer_expect_arrive",
                                         "grout_expect_from"};
static const arrival_functions EXPECT_DROP = {"grout_mbarrier_drop_expect",
                                              "grout_peer_expect_drop", "grout_expect_drop_from"};

/* The call of an arrival, up to its address. */
static void begin_arrival(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                          const grout_gpu_barrier *entry, const arrival_functions *functions) {
    grout_emit__begin(e);
    if (has_mask(e, op)) {
        grout_emit__add(e, "%s", functions->from);
        add_peer_order(e, op, entry);
    } else if (grout_emit__is_peer(barrier) || grout_emit__is_of_pair(e, entry)) {
        grout_emit__add(e, "%s", functions->peer);
        add_peer_order(e, op, entry);
    } else {
        grout_emit__add(e, "%s", functions->own);
        grout_emit__arrive_order(e, op, entry);
    }
    grout_emit__add(e, "(");
    if (grout_emit__is_of_pair(e, entry)) {
        grout_emit__leader_address(e, barrier);
    } else {
        grout_emit__barrier_address(e, barrier);
    }
    if (has_mask(e, op)) {
        add_mask(e, op);
    }
}

/* ", 4096", or what is known when it runs. */
static void add_bytes(grout_emitter *e, const grout_operand *bytes) {
    const bool is_constant = bytes->kind == GROUT_OPERAND_EXPR;
    grout_emit__add(e, is_constant ? ", " : ", (grout_u32)");
    grout_emit__operand(e, bytes, NULL);
    FIELD_END(e, MBARRIER_BYTES);
}

/* The CTA that leads announces the bytes of both, of the other one it is an arrival alone. */
static void expect_of_pair(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                           const grout_gpu_barrier *entry, const arrival_functions *functions) {
    const uint32_t size = grout_gpu__plan_get_arrival_size(entry);
    grout_emit__open_leader(e);
    begin_arrival(e, op, barrier, entry, functions);
    add_bytes(e, grout_module_get_operand(e->module, op, 1));
    grout_emit__add(e, " * %d", GROUT_PAIR);
    if (size > 1) {
        grout_emit__add(e, ", %" PRIu32, size);
    }
    grout_emit__end(e, ");");
    grout_emit__close(e, "");
    grout_emit__begin(e);
    grout_emit__add(e, "else");
    grout_emit__open(e);
    begin_arrival(e, op, barrier, entry, functions == &EXPECT ? &ARRIVE : &ARRIVE_DROP);
    if (size > 1) {
        grout_emit__add(e, ", %" PRIu32, size);
    }
    grout_emit__end(e, ");");
    grout_emit__close(e, "");
}

static void expect(grout_emitter *e, const grout_op *op, const arrival_functions *functions) {
    grout_view barrier;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    const uint32_t size = grout_gpu__plan_get_arrival_size(entry);
    grout_emit__before_issue(e, "one arrival counts for all lanes");
    grout_emit__seal_tensor(e, entry);
    grout_emit__open_issuer(e);
    if (grout_emit__is_of_pair(e, entry)) {
        expect_of_pair(e, op, &barrier, entry, functions);
        grout_emit__close_issuer(e);
        return;
    }
    begin_arrival(e, op, &barrier, entry, functions);
    add_bytes(e, grout_module_get_operand(e->module, op, 1));
    if (size > 1 || has_mask(e, op)) {
        grout_emit__add(e, ", %" PRIu32, size);
    }
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
}

void grout_emit__mbarrier_expect(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    expect(e, op, &EXPECT);
}

void grout_emit__mbarrier_expect_drop(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    expect(e, op, &EXPECT_DROP);
}

/* Arrivals without bytes: one lane's count as the whole thread's. */
static void arrive_for_all(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                           const grout_gpu_barrier *entry, const arrival_functions *functions) {
    const int64_t count = FIELD(
        MBARRIER_ARRIVALS, grout_op_get_attr_integer(e->module, op, GROUT_ATTR_ARRIVE_COUNT, 1) *
                               grout_gpu__plan_get_arrival_size(entry));
    grout_emit__before_issue(e, "one arrival counts for all lanes");
    grout_emit__seal_tensor(e, entry);
    grout_emit__open_issuer(e);
    begin_arrival(e, op, barrier, entry, functions);
    if (count != 1 || has_mask(e, op)) {
        grout_emit__add(e, ", %" PRId64, count);
    }
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
}

void grout_emit__arrive_for_all(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                                const grout_gpu_barrier *entry) {
    arrive_for_all(e, op, barrier, entry, &ARRIVE);
}

static void arrive(grout_emitter *e, const grout_op *op, const arrival_functions *functions) {
    grout_view barrier;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    const int64_t count = grout_op_get_attr_integer(e->module, op, GROUT_ATTR_ARRIVE_COUNT, 1) *
                          grout_gpu__plan_get_arrival_size(entry);
    if (check_count(e, op, entry, count)) {
        arrive_for_all(e, op, &barrier, entry, functions);
    }
}

void grout_emit__mbarrier_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    arrive(e, op, &ARRIVE);
}

void grout_emit__mbarrier_arrive_drop(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    arrive(e, op, &ARRIVE_DROP);
}

/* ---- waits ---- */

/* "parity & 1u" */
static void add_parity(grout_emitter *e, const grout_op *op) {
    grout_emit__add(e, "(grout_u32)(");
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 1), NULL);
    grout_emit__add(e, ") & 1u");
    FIELD_END(e, MBARRIER_PARITY);
}

void grout_emit__mbarrier_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view barrier;
    (void)id;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    const bool is_of_pair = grout_emit__is_of_pair(e, entry);
    if (is_of_pair) { /* nobody completes a phase of the other CTA's */
        grout_emit__open_leader(e);
    }
    grout_emit__begin(e);
    grout_emit__add(e, "grout_mbarrier_wait");
    grout_emit__wait_order(e, op, entry);
    grout_emit__add(e, "(");
    grout_emit__barrier_address(e, &barrier);
    grout_emit__add(e, ", ");
    add_parity(e, op);
    grout_emit__add(e, ", dog, {%" PRIu32 ", (grout_u32)(", (uint32_t)(entry - e->plan->barriers));
    grout_emit__slot(e, &barrier);
    grout_emit__add(e, ")");
    grout_emit__end_site(e, op);
    if (is_of_pair) {
        grout_emit__close(e, "");
    }
    grout_emit__admit_tensor(e, entry);
}

/* ---- tests: all lanes look, and it is so if all see it ---- */

/* "const bool done = grout_thread_all(thread, grout_mbarrier_test(bar, " */
static void begin_test(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                       const grout_gpu_barrier *entry) {
    /* Else a lane could look before others have arrived. */
    grout_emit__before_look(e);
    grout_emit__begin_scalar(e, op->first_result);
    if (e->is_warp) {
        grout_emit__add(e, "grout_warp_all(");
    } else if (!e->is_alone) {
        grout_emit__add(e, "grout_thread_all%s(thread, ", e->warps == 2 ? "<64>" : "");
    }
    grout_emit__add(e, "grout_mbarrier_test");
    grout_emit__wait_order(e, op, entry);
    grout_emit__add(e, "(");
    grout_emit__barrier_address(e, barrier);
    grout_emit__add(e, ", ");
}

static void end_test(grout_emitter *e, const grout_gpu_barrier *entry) {
    grout_emit__end(e, e->is_alone ? ");" : "));");
    grout_emit__settle(e); /* the vote is a meeting */
    grout_emit__admit_tensor(e, entry);
}

void grout_emit__mbarrier_test(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view barrier;
    (void)id;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    if (grout_emit__is_of_pair(e, entry)) {
        grout_emit__unsupported(e, op, "a test of an mbarrier of two_ctas has no CUDA yet");
        return;
    }
    begin_test(e, op, &barrier, entry);
    add_parity(e, op);
    end_test(e, entry);
}

/* The phase counts as waited for only if the test is true. */
void grout_emit__barrier_test(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const char *name = grout_emit__name(e, op->first_result);
    grout_view barrier;
    (void)id;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    const grout_gpu_name phases = grout_emit__phases_name(e, entry->owner);
    const bool is_array = e->plan->barriers[entry->owner].count > 32;
    const uint32_t slot = e->temp_count++;
    char word[sizeof phases.text + 32];
    (void)snprintf(word, sizeof word, is_array ? "%s[x%" PRIu32 " / 32]" : "%s", phases.text, slot);
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 x%" PRIu32 " = (grout_u32)(", slot);
    grout_emit__slot(e, &barrier);
    grout_emit__end(e, ");");
    begin_test(e, op, &barrier, entry);
    grout_emit__add(e, "%s >> x%" PRIu32 " %% 32 & 1u", word, slot);
    if (is_array) { /* else declare_phases has the field */
        FIELD_END(e, MBARRIER_PARITY);
    }
    end_test(e, entry);
    grout_emit__line(e, "%s ^= (%s ? 1u : 0u) << x%" PRIu32 " %% 32;", word, name, slot);
}
