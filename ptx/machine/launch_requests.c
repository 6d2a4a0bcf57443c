/* launch_requests.c - clusterlaunchcontrol: a cluster that has not begun becomes the asker's work.
 * PTX ISA 9.1, 'clusterlaunchcontrol.try_cancel', 'clusterlaunchcontrol.query_cancel';
 * ptx/tensor/launch_control.h has the answer's bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch_control.h"

#include "decoders.h"
#include "mbarriers.h"
#include "observe.h"
#include "tensor_memory.h"

#include <string.h>

enum { REQUEST_ARCH = 100 };
/* Numbers of an operation; items of its step: two addresses. */
enum { TO, BARRIER };
/* What query_cancel gives, in a step's detail. */
enum { IS_CANCELED, VECTOR, ONE_X, ONE_Y, ONE_Z };

/* The answer in one CTA, and 16 bytes to its mbarrier. */
static bool answer_to(ptx_machine *machine, ptx_async *async, const uint64_t words[2],
                      const uint64_t at[2]) {
    ptx_bytes bytes;
    ptx_cta *owner = NULL;
    if (at[TO] % GROUT_PTX_ANSWER_SIZE != 0 ||
        !grout_ptx__find_shared(async->own, at[TO], GROUT_PTX_ANSWER_SIZE, &bytes, &owner)) {
        return grout_ptx__async_fault(machine, async,
                                      "no answer can be at 0x%llx: it takes 16 bytes at a multiple "
                                      "of 16 in shared memory",
                                      (unsigned long long)at[TO]);
    }
    if (!grout_ptx__observe_target(machine, async, at[BARRIER]) ||
        !grout_ptx__observe_async(machine, async, &bytes, GROUT_PTX_ANSWER_SIZE, true, false)) {
        return false;
    }
    memcpy(bytes.data, words, GROUT_PTX_ANSWER_SIZE);
    memset(bytes.known, 0xff, GROUT_PTX_ANSWER_SIZE);
    return grout_ptx__complete_bytes(machine, async, at[BARRIER], GROUT_PTX_ANSWER_SIZE);
}

/* The cluster that would begin next, if there is one. */
static bool cancel(ptx_machine *machine, ptx_async *async) {
    grout_ptx_answer answer = {.is_cancelled = machine->next_cta < machine->cta_count};
    uint64_t words[2] = {0, 0};
    if (answer.is_cancelled) {
        grout_ptx__get_index(machine, machine->next_cta, answer.ctaid);
        machine->next_cta += machine->cluster_size;
        machine->ctas_done += machine->cluster_size;
    }
    grout_ptx__answer_encode(&answer, words);
    async->is_done = true;
    if (async->step->detail == 0) {
        return answer_to(machine, async, words, async->numbers);
    }
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        const uint64_t at[2] = {ptx_map_shared(i, async->numbers[TO]),
                                ptx_map_shared(i, async->numbers[BARRIER])};
        if (!answer_to(machine, async, words, at)) {
            return false;
        }
    }
    return true;
}

static ptx_outcome run_request(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    for (uint32_t i = 0; i < 4; i++) {
        if (!grout_ptx__need(context, &items[i], "an address of a request")) {
            return PTX_FAILED;
        }
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_async async = {.kind = PTX_ASYNC_ALONE, .run = cancel, .lane = lane};
        for (uint32_t i = 0; i < 2; i++) {
            uint64_t address = ptx_value(context, &items[2 * (size_t)i], lane) +
                               ptx_value(context, &items[2 * (size_t)i + 1], lane);
            async.numbers[i] = step->space == PTX_WORD_NONE ? address - PTX_WINDOW_SHARED : address;
        }
        if (!grout_ptx__start(context, async)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

static bool check_arch(const ptx_decoder *decoder) {
    uint32_t arch = grout_ptx__get_arch(decoder->module);
    return arch >= REQUEST_ARCH ||
           grout_ptx__unknown(decoder, "clusterlaunchcontrol is of sm_100, not of sm_%u", arch);
}

/* [answer], [mbarrier] */
bool grout_ptx__decode_try_cancel(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    step->run = run_request;
    decoder->code->has_requests = true;
    step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    step->detail = grout_ptx__has(decoder, PTX_WORD_MULTICAST_ALL);
    step->first_item = (uint32_t)decoder->code->items.count;
    return check_arch(decoder) && grout_ptx__add_address(decoder, grout_ptx__operand(decoder, 0)) &&
           grout_ptx__add_address(decoder, grout_ptx__operand(decoder, 1));
}

/* Puts what the step asks for into the items, of one lane. False with a fault. */
static bool query_lane(const ptx_context *context, uint32_t lane) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    const uint64_t *words = ptx_longs(context, &step->sources[0]) + 2 * (size_t)lane;
    grout_ptx_answer answer;
    grout_ptx_fault fault;
    uint32_t ctaid[3] = {0, 0, 0};
    if (!(step->detail == IS_CANCELED ? grout_ptx__answer_decode(words, &answer, &fault)
                                      : grout_ptx__answer_ctaid(words, ctaid, &fault))) {
        grout_ptx__fault(context, lane, "%s", fault.text);
        return false;
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        uint64_t value = step->detail == IS_CANCELED ? answer.is_cancelled
                         : step->detail == VECTOR    ? (i < 3 ? ctaid[i] : 0)
                                                     : ctaid[step->detail - ONE_X];
        if (!items[i].is_sink) {
            ptx_put(context, &items[i], lane, value);
        }
    }
    return true;
}

static ptx_outcome run_query(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    if (!grout_ptx__need(context, &step->sources[0], "the answer of a request")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        if (!query_lane(context, lane)) {
            return PTX_FAILED;
        }
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        ptx_set_defined(context, &items[i], UINT32_MAX);
    }
    return PTX_NEXT;
}

/* result, answer; the answer is a register of 128 bits */
bool grout_ptx__decode_query_cancel(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    step->run = run_query;
    step->detail = grout_ptx__has(decoder, PTX_WORD_IS_CANCELED)       ? IS_CANCELED
                   : grout_ptx__has(decoder, PTX_WORD_GET_FIRST_CTAID) ? VECTOR
                   : grout_ptx__has(decoder, PTX_WORD_FIRST_CTAID_X)   ? ONE_X
                   : grout_ptx__has(decoder, PTX_WORD_FIRST_CTAID_Y)   ? ONE_Y
                                                                       : ONE_Z;
    if (!check_arch(decoder) || !grout_ptx__decode_source(decoder, 1, PTX_WORD_B128, 0) ||
        !grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, 0), PTX_WORD_B32,
                                 &step->first_item, &step->item_count)) {
        return false;
    }
    return (step->sources[0].bits == 128 &&
            step->item_count == (step->detail == VECTOR ? 4u : 1u)) ||
           grout_ptx__unknown(decoder, "the emulator does not know these operands of query_cancel");
}
