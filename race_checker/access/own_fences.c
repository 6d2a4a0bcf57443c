/*
 * own_fences.c - whether who made a plain access has run its proxy fence too (--strict-fences).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The plain rule asks the published clocks, into which a fence puts all that its actor knows. Here
 * the fence has to be one of the accessing actor, after the access and before it hands the bytes
 * over: so the later actor has to know that actor beyond its fence.
 */
#include "access.h"

static const uint32_t ALL_WARPS = (1u << GROUT_WARPS) - 1;

/* ---- what is kept ---- */

static uint64_t get_launch_actor(const grout_checker *checker, const grout_origin *origin,
                                 uint32_t warp) {
    return (uint64_t)origin->cta * checker->local_actors +
           grout_clock_local_actor(&checker->shape, origin->thread, warp);
}

/* What an actor of the same CTA did, up to which epoch, the fencing actor knows. */
static uint32_t get_known(const grout_checker *checker, const grout_event *event, uint32_t warp) {
    const grout_clock_shape *shape = &checker->shape;
    uint32_t actor = grout_clock_actor(shape, grout_checker__get_rank(checker, event->origin.cta),
                                       grout_clock_local_actor(shape, event->origin.thread, warp));
    return event->clocks->known[grout_clock_released(shape, actor)];
}

static bool note_for(grout_checker *checker, const grout_event *event, grout_fence fence,
                     uint32_t warp) {
    fence.covered = get_known(checker, event, warp);
    return fence.covered == 0 ||
           grout_fences__add(checker->allocator, &checker->memory.fences,
                             get_launch_actor(checker, &event->origin, warp), &fence) ||
           grout_checker__fail(checker);
}

static grout_fence_kind get_kind(const grout_checker *checker, const grout_event *event) {
    const grout_module *module = checker->info.module;
    const grout_op *op = grout_module_get_op(module, event->origin.op);
    if (event->kind == GROUT_EVENT_COMMIT_GMEM) {
        return GROUT_FENCE_GMEM;
    }
    return grout_module_find_attr(module, op, GROUT_ATTR_CLUSTER) != NULL ? GROUT_FENCE_SMEM_CLUSTER
                                                                          : GROUT_FENCE_SMEM;
}

bool grout_checker__note_fence(grout_checker *checker, const grout_event *event) {
    uint32_t warp = event->origin.warp;
    bool has_warps = checker->local_actors > checker->shape.thread_count;
    bool done = true;
    if (!checker->strict_fences) {
        return true;
    }
    grout_fence fence = {.epoch = get_known(checker, event, warp),
                         .warp = (uint8_t)warp,
                         .kind = (uint8_t)get_kind(checker, event)};
    if (has_warps && warp == 0) {
        for (uint32_t i = 1; done && i <= GROUT_WARPS; i++) {
            done = note_for(checker, event, fence, i);
        }
    } else if (has_warps) {
        done = note_for(checker, event, fence, 0);
    }
    return done && note_for(checker, event, fence, warp);
}

/* ---- what is asked ---- */

/* Whether a fence of this kind is for bytes of this space and owner, accessed from this CTA. */
static bool fits(const grout_rules *rules, const grout_fence *fence, const grout_entry *access) {
    if (grout_space_needs_commit_gmem(rules->space)) {
        return fence->kind == GROUT_FENCE_GMEM;
    }
    return fence->kind == GROUT_FENCE_SMEM_CLUSTER ||
           (fence->kind == GROUT_FENCE_SMEM && access->origin.cta == rules->owner);
}

bool grout_checker__is_fenced_by_own(const grout_checker *checker, const grout_rules *rules,
                                     const grout_entry *access, uint32_t number) {
    const grout_clock_shape *shape = &checker->shape;
    const grout_origin *origin = &access->origin;
    const uint32_t *known = grout_clocks_find_known(rules->clocks, access->cluster);
    uint32_t rank = grout_checker__get_rank(checker, origin->cta);
    uint32_t warps = 0;
    const grout_fence *fence = grout_fences__get_newest(
        &checker->memory.fences, get_launch_actor(checker, origin, origin->warp));
    /* The newest first: what a fence covers never shrinks from one to the next. */
    for (; known != NULL && fence != NULL && fence->covered >= number;
         fence = grout_fences__get_older(&checker->memory.fences, fence)) {
        uint32_t actor = grout_clock_actor(
            shape, rank, grout_clock_local_actor(shape, origin->thread, fence->warp));
        if (!fits(rules, fence, access) ||
            known[grout_clock_released(shape, actor)] <= fence->epoch) {
            continue;
        }
        if (fence->warp == 0 || fence->warp == origin->warp) {
            return true;
        }
        warps |= 1u << (fence->warp - 1);
        if (warps == ALL_WARPS) {
            return true;
        }
    }
    return false;
}
