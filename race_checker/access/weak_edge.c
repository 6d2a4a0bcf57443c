/*
 * weak_edge.c - the arrive, signal or wait that is written too weakly to carry memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The two threads' newest release and wait are looked at first. If these are strong enough, or are
 * forgotten because their CTA has ended, the program is: an op on the way from the one access to
 * the other that is written relaxed, or for too narrow a scope, if it is the only one of its kind.
 */
#include "access.h"
#include "statement.h"

static bool holds(uint8_t scope, const grout_side *a, const grout_side *b) {
    if (scope == GROUT_CHOICE_SCOPE_CTA) {
        return a->origin.cta == b->origin.cta;
    }
    return scope != GROUT_CHOICE_SCOPE_CLUSTER || a->stamp.cluster == b->stamp.cluster;
}

static bool leads_to(const grout_module *module, grout_op_id from, grout_op_id to) {
    grout_reach kind = grout_op__find_reach(module, from, to).kind;
    return kind == GROUT_REACH_AHEAD || kind == GROUT_REACH_NEXT_ROUND;
}

/* Whether an acquire on the way to the later access is on what the release posts. */
static bool is_answered(const grout_checker *checker, grout_op_id release, grout_op_id later) {
    const grout_module *module = checker->info.module;
    const grout_op *op = grout_module_get_op(module, release);
    grout_object_id object = grout_op__find_object(module, op, 0);
    for (grout_op_id i = 1; object && i < grout_module_get_op_count(module); i++) {
        const grout_op *it = grout_module_get_op(module, i);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)it->opcode);
        if (sync != NULL && (sync->side & GROUT_SYNC_SIDE_ACQUIRE) != 0 &&
            grout_op__find_object(module, it, 0) == object && leads_to(module, i, later)) {
            return true;
        }
    }
    return !object;
}

/* The newest release of the earlier side, or the newest wait of the later one, if that is it. */
static grout_near find_newest(const grout_checker *checker, const grout_side *later,
                              const grout_side *earlier) {
    const grout_module *module = checker->info.module;
    const grout_thread_history *source = grout_checker__get_history(checker, &earlier->origin);
    const grout_thread_history *sink = grout_checker__get_history(checker, &later->origin);
    grout_near near = {.kind = GROUT_NEAR_NOTHING};
    if (source->release.op && source->release_epoch >= earlier->epoch &&
        is_answered(checker, source->release.op, later->origin.op)) {
        if (source->release_is_relaxed || !holds(source->release_scope, earlier, later)) {
            near.kind = source->release_is_relaxed ? GROUT_NEAR_RELAXED : GROUT_NEAR_NARROW;
            near.origin = source->release;
            near.number = source->release_scope;
            return near;
        }
    }
    if (sink->wait.op) {
        const grout_op *op = grout_module_get_op(module, sink->wait.op);
        const grout_attr_value *order = grout_module_find_attr(module, op, GROUT_ATTR_ORDER);
        const grout_attr_value *scope = grout_module_find_attr(module, op, GROUT_ATTR_SCOPE);
        if (order && order->choice == GROUT_CHOICE_ORDER_RELAXED) {
            near.kind = GROUT_NEAR_RELAXED;
        } else if (scope && !holds(scope->choice, later, earlier)) {
            near.kind = GROUT_NEAR_NARROW;
            near.number = scope->choice;
        }
        near.origin = near.kind == GROUT_NEAR_NOTHING ? near.origin : sink->wait;
    }
    return near;
}

/* ---- in the program ---- */

/* Whether it is written too weakly for the two. */
static grout_near_kind get_weakness(const grout_checker *checker, const grout_op *op,
                                    const grout_side *later, const grout_side *earlier) {
    const grout_module *module = checker->info.module;
    const grout_attr_value *order = grout_module_find_attr(module, op, GROUT_ATTR_ORDER);
    const grout_attr_value *scope = grout_module_find_attr(module, op, GROUT_ATTR_SCOPE);
    if (order && order->choice == GROUT_CHOICE_ORDER_RELAXED) {
        return GROUT_NEAR_RELAXED;
    }
    return scope && !holds(scope->choice, later, earlier) ? GROUT_NEAR_NARROW : GROUT_NEAR_NOTHING;
}

/* A release after the earlier access, or an acquire before the later one. */
static bool is_on_the_way(const grout_module *module, grout_op_id id, const grout_side *later,
                          const grout_side *earlier) {
    const grout_op *op = grout_module_get_op(module, id);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    unsigned side = sync ? sync->side : (unsigned)GROUT_SYNC_SIDE_NONE;
    return (side & GROUT_SYNC_SIDE_RELEASE && leads_to(module, earlier->origin.op, id)) ||
           (side & GROUT_SYNC_SIDE_ACQUIRE && leads_to(module, id, later->origin.op));
}

/* The one that is meant: the only one; the only one of a narrow scope, as an order(relaxed) is
 * often just a counter's. */
static grout_near find_in_program(const grout_checker *checker, const grout_side *later,
                                  const grout_side *earlier) {
    const grout_module *module = checker->info.module;
    grout_near any = {.kind = GROUT_NEAR_NOTHING}, narrow = any;
    uint32_t count = 0, narrow_count = 0;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        const grout_attr_value *scope = grout_module_find_attr(module, op, GROUT_ATTR_SCOPE);
        grout_near_kind kind = get_weakness(checker, op, later, earlier);
        if (kind == GROUT_NEAR_NOTHING ||
            !grout_op__is_in_kernel(module, i, checker->info.kernel) ||
            !is_on_the_way(module, i, later, earlier)) {
            continue;
        }
        any = (grout_near){.kind = kind, .number = scope ? scope->choice : 0};
        any.origin.op = i;
        count++;
        if (kind == GROUT_NEAR_NARROW) {
            narrow = any;
            narrow_count++;
        }
    }
    if (narrow_count == 1) {
        return narrow;
    }
    return count == 1 ? any : (grout_near){.kind = GROUT_NEAR_NOTHING};
}

grout_near grout_near__find_weak_edge(const grout_checker *checker, const grout_side *later,
                                      const grout_side *earlier) {
    grout_near near = find_newest(checker, later, earlier);
    return near.kind == GROUT_NEAR_NOTHING ? find_in_program(checker, later, earlier) : near;
}
