/* fences.c - fences and membar. PTX ISA 9.1, 'membar', 'fence', 'tcgen05.fence'. Memory is one and
 * in order here, so that values never depend on them; the search for races does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "machine.h"
#include "observe.h"

static ptx_outcome end(const ptx_context *context, bool is_done) {
    return grout_ptx__need_memory(context->machine, is_done) ? PTX_NEXT : PTX_FAILED;
}

/* .sync_restrict: for memory of a part of the threads alone. mask_source: it has that word. */
static bool is_restricted(const ptx_decoder *decoder) {
    return grout_ptx__has(decoder, PTX_WORD_SYNC_RESTRICT_CTA) ||
           grout_ptx__has(decoder, PTX_WORD_SYNC_RESTRICT_CLUSTER);
}

static ptx_outcome refuse(const ptx_context *context) {
    ptx_machine *machine = context->machine;
    const grout_ptx_module *module = machine->code->module;
    machine->is_failed = true;
    grout_diags_add(machine->diags, GROUT_DIAG_PTX_UNSUPPORTED,
                    grout_ptx__get_place(module, module->insts.items[context->step->inst].place),
                    "the search for races does not know '.sync_restrict' yet: run without it");
    return PTX_FAILED;
}

static ptx_outcome run_fence(ptx_context *context) {
    ptx_order *order = context->machine->order;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    if (order != NULL && context->step->mask_source != 0) {
        return refuse(context);
    }
    return end(context, order == NULL || grout_ptx__fence(order, &actor, context->step->ordering));
}

bool grout_ptx__decode_fence(ptx_decoder *decoder) {
    decoder->step->run = run_fence;
    decoder->step->mask_source = is_restricted(decoder);
    return true;
}

/* detail: the spaces of fence.proxy.async, or which of fence.proxy.tensormap; 0: another proxy.
 * more: the CTA's memory alone. */
enum { SHARED = 1, GLOBAL = 2, MAP_RELEASE = 4, MAP_ACQUIRE = 8 };

static bool acquire_map(const ptx_context *context, ptx_order *order) {
    PTX_FOR_LANES(lane, context->lanes) {
        const ptx_actor one = grout_ptx__get_actor(context, 1u << lane);
        ptx_bytes bytes;
        if (!grout_ptx__find_bytes(
                context, lane, ptx_address(context, &context->step->sources[0], lane), 1, &bytes)) {
            return false;
        }
        if (bytes.cells != NULL && !grout_ptx__acquire_map(order, &one, bytes.cells)) {
            return grout_ptx__need_memory(context->machine, false);
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
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    if (order != NULL && context->step->mask_source != 0) {
        return refuse(context);
    }
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
    step->mask_source = is_restricted(decoder);
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
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    return end(context, order == NULL || grout_ptx__fence_inits(order, &actor));
}

bool grout_ptx__decode_fence_inits(ptx_decoder *decoder) {
    decoder->step->run = run_fence_inits;
    return true;
}

/* detail: before_thread_sync. */
static ptx_outcome run_fence_tensor(ptx_context *context) {
    ptx_order *order = context->machine->order;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    return end(context,
               order == NULL || (context->step->detail != 0 ? grout_ptx__seal(order, &actor)
                                                            : grout_ptx__admit(order, &actor)));
}

bool grout_ptx__decode_fence_tensor(ptx_decoder *decoder) {
    decoder->step->run = run_fence_tensor;
    decoder->step->detail = decoder->inst->op == PTX_OP_TCGEN05_FENCE_BEFORE;
    return true;
}

/* Races for the registers of wgmma: PTX ISA 9.1, 'wgmma.fence'. */
bool grout_ptx__observe_product(const ptx_context *context, const ptx_plane *items,
                                uint32_t count) {
    const ptx_warp *warp = context->warp;
    ptx_machine *machine = context->machine;
    const grout_ptx_module *module = machine->code->module;
    const ptx_inst *inst = &module->insts.items[context->step->inst];
    for (uint32_t i = 0; warp->written != NULL && i < count; i++) {
        if (warp->fenced_at > warp->written[items[i].id]) {
            continue;
        }
        machine->is_failed = true;
        return grout_diags_add(
            machine->diags, GROUT_DIAG_PTX_RACE, grout_ptx__get_place(module, inst->place),
            "register %u of this wgmma has been written since the last wgmma.fence", i);
    }
    return true;
}
