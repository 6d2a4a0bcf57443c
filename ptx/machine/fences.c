/* fences.c - fences and membar. PTX ISA 9.1, 'membar', 'fence', 'tcgen05.fence'. Memory is one and
 * in order here, so that values never depend on them; the search for races does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "machine.h"

static ptx_actor get_actor(const ptx_context *context) {
    return (ptx_actor){context->cta->number, context->warp->index, context->lanes};
}

static ptx_outcome end(const ptx_context *context, bool is_done) {
    if (!is_done) {
        grout_diags_add_oom(context->machine->diags);
    }
    return is_done ? PTX_NEXT : PTX_FAILED;
}

static ptx_outcome run_fence(ptx_context *context) {
    ptx_order *order = context->machine->order;
    const ptx_actor actor = get_actor(context);
    return end(context, order == NULL || grout_ptx__fence(order, &actor, context->step->ordering));
}

bool grout_ptx__decode_fence(ptx_decoder *decoder) {
    decoder->step->run = run_fence;
    return true;
}

/* detail: the spaces of fence.proxy.async, or which of fence.proxy.tensormap; 0: another proxy.
 * more: the CTA's memory alone. */
enum { SHARED = 1, GLOBAL = 2, MAP_RELEASE = 4, MAP_ACQUIRE = 8 };

static bool acquire_map(const ptx_context *context, ptx_order *order) {
    PTX_FOR_LANES(lane, context->lanes) {
        const ptx_actor one = {context->cta->number, context->warp->index, 1u << lane};
        ptx_bytes bytes;
        if (!grout_ptx__find_bytes(
                context, lane, ptx_address(context, &context->step->sources[0], lane), 1, &bytes)) {
            return false;
        }
        if (bytes.cells != NULL && !grout_ptx__acquire_map(order, &one, bytes.cells)) {
            return grout_diags_add_oom(context->machine->diags);
        }
    }
    return true;
}

static bool fence_proxy(const ptx_context *context, ptx_order *order, const ptx_actor *actor) {
    const ptx_step *step = context->step;
    if (step->detail == MAP_RELEASE) {
        return grout_ptx__release_maps(order, actor);
    }
    return grout_ptx__publish(order, actor, (step->detail & SHARED) != 0,
                              (step->detail & GLOBAL) != 0,
                              step->more != 0 ? context->cta->rank : PTX_ALL_RANKS);
}

static ptx_outcome run_fence_proxy(ptx_context *context) {
    ptx_order *order = context->machine->order;
    const ptx_actor actor = get_actor(context);
    if (context->step->detail == MAP_ACQUIRE) {
        bool is_known =
            grout_ptx__need(context, &context->step->sources[0], "the address of a tensor map");
        return is_known && (order == NULL || acquire_map(context, order)) ? PTX_NEXT : PTX_FAILED;
    }
    return end(context,
               order == NULL || context->step->detail == 0 || fence_proxy(context, order, &actor));
}

bool grout_ptx__decode_fence_proxy(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    uint16_t space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    uint16_t proxy = grout_ptx__word(decoder, PTX_CLASS_PROXY, 0).id;
    bool is_async = proxy == PTX_WORD_PROXY_ASYNC;
    step->run = run_fence_proxy;
    step->detail = !is_async                  ? 0
                   : space == PTX_WORD_GLOBAL ? GLOBAL
                   : space == PTX_WORD_NONE   ? SHARED | GLOBAL
                                              : SHARED;
    if (proxy == PTX_WORD_PROXY_TENSORMAP) {
        step->detail = grout_ptx__has(decoder, PTX_WORD_RELEASE) ? MAP_RELEASE : MAP_ACQUIRE;
    }
    if (step->detail == MAP_ACQUIRE &&
        (decoder->inst->operand_count != 2 || !grout_ptx__decode_address(decoder, 0, 0))) {
        return grout_ptx__unknown(decoder,
                                  "fence.proxy.tensormap of an acquire names a tensor map");
    }
    step->more = space == PTX_WORD_SHARED_CTA || space == PTX_WORD_SHARED;
    return true;
}

static ptx_outcome run_fence_inits(ptx_context *context) {
    ptx_order *order = context->machine->order;
    const ptx_actor actor = get_actor(context);
    return end(context, order == NULL || grout_ptx__fence_inits(order, &actor));
}

bool grout_ptx__decode_fence_inits(ptx_decoder *decoder) {
    decoder->step->run = run_fence_inits;
    return true;
}

/* detail: before_thread_sync. */
static ptx_outcome run_fence_tensor(ptx_context *context) {
    ptx_order *order = context->machine->order;
    const ptx_actor actor = get_actor(context);
    return end(context,
               order == NULL || (context->step->detail != 0
                                     ? grout_ptx__seal(order, &actor, context->warp->tensor_started)
                                     : grout_ptx__admit(order, &actor)));
}

bool grout_ptx__decode_fence_tensor(ptx_decoder *decoder) {
    decoder->step->run = run_fence_tensor;
    decoder->step->detail = decoder->inst->op == PTX_OP_TCGEN05_FENCE_BEFORE;
    return true;
}
