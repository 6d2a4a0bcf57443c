/* mbarriers.c - instructions on mbarriers; ptx/tensor/mbarrier.h has what they do to the word.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mbarriers.h"

#include "decoders.h"
#include "mbarrier.h"
#include "observe.h"

#include <string.h>

static bool find_word(const ptx_context *context, uint32_t lane, ptx_bytes *bytes) {
    return grout_ptx__find_bytes(context, lane,
                                 ptx_address(context, &context->step->sources[0], lane),
                                 GROUT_PTX_MBARRIER_SIZE, bytes) &&
           grout_ptx__observe_reach(context, lane, bytes);
}

static uint64_t read_word(const ptx_bytes *bytes) {
    uint64_t word;
    memcpy(&word, bytes->data, sizeof word);
    return word;
}

static void write_word(const ptx_context *context, const ptx_bytes *bytes, uint64_t word) {
    memcpy(bytes->data, &word, sizeof word);
    memset(bytes->known, 0xff, sizeof word);
    context->machine->events++;
}

/* The word at an address of shared::cluster. */
static bool find_remote(ptx_machine *machine, ptx_async *async, uint64_t address,
                        ptx_bytes *bytes) {
    ptx_cta *owner = NULL;
    if (address % GROUT_PTX_MBARRIER_SIZE != 0 ||
        !grout_ptx__find_shared(async->own, address, GROUT_PTX_MBARRIER_SIZE, bytes, &owner)) {
        return grout_ptx__async_fault(machine, async, "no mbarrier can be at 0x%llx",
                                      (unsigned long long)address);
    }
    return grout_ptx__observe_async_reach(machine, async, owner);
}

bool grout_ptx__complete_bytes(ptx_machine *machine, ptx_async *async, uint64_t address,
                               uint32_t count) {
    grout_ptx_fault fault;
    ptx_bytes bytes;
    if (!find_remote(machine, async, address, &bytes)) {
        return false;
    }
    uint64_t before = read_word(&bytes), word = before;
    if (!grout_ptx__mbarrier_complete_tx(&word, count, &fault)) {
        return grout_ptx__async_fault(machine, async, "%s", fault.text);
    }
    memcpy(bytes.data, &word, sizeof word);
    machine->events++;
    return grout_ptx__observe_hearing(machine, async, &bytes, before, word);
}

bool grout_ptx__arrive_at(ptx_machine *machine, ptx_async *async, uint64_t address) {
    const grout_ptx_arrival how = {.count = 1};
    grout_ptx_fault fault;
    ptx_bytes bytes;
    uint64_t token = 0;
    if (!find_remote(machine, async, address, &bytes)) {
        return false;
    }
    uint64_t before = read_word(&bytes), word = before;
    if (!grout_ptx__mbarrier_arrive(&word, &how, &token, &fault)) {
        return grout_ptx__async_fault(machine, async, "%s", fault.text);
    }
    memcpy(bytes.data, &word, sizeof word);
    machine->events++;
    return grout_ptx__observe_hearing(machine, async, &bytes, before, word);
}

/* Whether an mbarrier is there; NULL: the bytes are not the CTA's own. */
static uint8_t *find_tag(const ptx_context *context, const ptx_bytes *bytes) {
    const ptx_cta *cta = context->cta;
    const bool is_own =
        bytes->data >= cta->shared && bytes->data < cta->shared + context->machine->shared_bytes;
    return is_own ? &cta->barriers[(bytes->data - cta->shared) / GROUT_PTX_MBARRIER_SIZE] : NULL;
}

static bool need_address(const ptx_context *context) {
    return grout_ptx__need(context, &context->step->sources[0], "the address of an mbarrier");
}

static ptx_outcome run_init(ptx_context *context) {
    const ptx_step *step = context->step;
    grout_ptx_fault fault;
    if (!need_address(context) ||
        !grout_ptx__need(context, &step->sources[1], "the count of an mbarrier")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_bytes bytes;
        uint64_t word = 0;
        if (!find_word(context, lane, &bytes)) {
            return PTX_FAILED;
        }
        if (!grout_ptx__mbarrier_init(&word, (uint32_t)ptx_value(context, &step->sources[1], lane),
                                      &fault)) {
            return grout_ptx__fault(context, lane, "%s", fault.text);
        }
        uint8_t *tag = find_tag(context, &bytes);
        if (tag != NULL && *tag != 0) { /* PTX ISA 9.1, mbarrier.init */
            return grout_ptx__fault(context, lane,
                                    "an mbarrier is here, and no mbarrier.inval came before");
        }
        if (tag != NULL) {
            *tag = 1;
        }
        write_word(context, &bytes, word);
        if (!grout_ptx__observe_init(context, lane, &bytes, true)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_mbarrier_init(ptx_decoder *decoder) {
    decoder->step->run = run_init;
    decoder->step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    return grout_ptx__decode_address(decoder, 0, 0) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_U32, 1);
}

static ptx_outcome run_inval(ptx_context *context) {
    grout_ptx_fault fault;
    if (!need_address(context)) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_bytes bytes;
        if (!find_word(context, lane, &bytes)) {
            return PTX_FAILED;
        }
        uint64_t word = read_word(&bytes);
        if (!grout_ptx__mbarrier_inval(&word, &fault)) {
            return grout_ptx__fault(context, lane, "%s", fault.text);
        }
        write_word(context, &bytes, word);
        memset(bytes.known, 0, GROUT_PTX_MBARRIER_SIZE);
        uint8_t *tag = find_tag(context, &bytes);
        if (tag != NULL) {
            *tag = 0;
        }
        if (!grout_ptx__observe_init(context, lane, &bytes, false)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_mbarrier_inval(ptx_decoder *decoder) {
    decoder->step->run = run_inval;
    decoder->step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    return grout_ptx__decode_address(decoder, 0, 0);
}

/* expect_tx and complete_tx. */
static ptx_outcome run_expect(ptx_context *context) {
    const ptx_step *step = context->step;
    grout_ptx_fault fault;
    if (!need_address(context) ||
        !grout_ptx__need(context, &step->sources[1], "the bytes of an mbarrier")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_bytes bytes;
        if (!find_word(context, lane, &bytes)) {
            return PTX_FAILED;
        }
        uint64_t before = read_word(&bytes), word = before;
        uint32_t count = (uint32_t)ptx_value(context, &step->sources[1], lane);
        if (!(step->detail != 0 ? grout_ptx__mbarrier_complete_tx(&word, count, &fault)
                                : grout_ptx__mbarrier_expect_tx(&word, count, &fault))) {
            return grout_ptx__fault(context, lane, "%s", fault.text);
        }
        write_word(context, &bytes, word);
        if (!grout_ptx__observe_arrival(context, lane, &bytes, before, word)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_mbarrier_expect(ptx_decoder *decoder) {
    decoder->step->run = run_expect;
    decoder->step->detail = decoder->inst->op == PTX_OP_MBARRIER_COMPLETE;
    decoder->step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    return grout_ptx__decode_address(decoder, 0, 0) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_U32, 1);
}

/* detail: an arrival's words. */
enum { EXPECTS = 1, HAS_COUNT = 2, NO_COMPLETE = 4, DROPS = 8 };

static ptx_outcome run_arrive(ptx_context *context) {
    const ptx_step *step = context->step;
    grout_ptx_fault fault;
    if (!need_address(context) ||
        ((step->detail & (EXPECTS | HAS_COUNT)) != 0 &&
         !grout_ptx__need(context, &step->sources[1], "the count of an arrival"))) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_bytes bytes;
        uint64_t token = 0;
        uint32_t number = (step->detail & (EXPECTS | HAS_COUNT)) != 0
                              ? (uint32_t)ptx_value(context, &step->sources[1], lane)
                              : 1;
        grout_ptx_arrival how = {.count = (step->detail & HAS_COUNT) != 0 ? number : 1,
                                 .has_expect_tx = (step->detail & EXPECTS) != 0,
                                 .tx = number,
                                 .is_no_complete = (step->detail & NO_COMPLETE) != 0,
                                 .is_drop = (step->detail & DROPS) != 0};
        if (!find_word(context, lane, &bytes)) {
            return PTX_FAILED;
        }
        uint64_t before = read_word(&bytes), word = before;
        if (!grout_ptx__mbarrier_arrive(&word, &how, &token, &fault)) {
            return grout_ptx__fault(context, lane, "%s", fault.text);
        }
        write_word(context, &bytes, word);
        if (!grout_ptx__observe_arrival(context, lane, &bytes, before, word)) {
            return PTX_FAILED;
        }
        if (!step->result.is_sink) {
            ptx_put(context, &step->result, lane, token);
        }
    }
    ptx_set_defined(context, &step->result, UINT32_MAX);
    return PTX_NEXT;
}

/* state, [addr] {, count}; without a state for shared::cluster. */
bool grout_ptx__decode_mbarrier_arrive(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    uint32_t count = decoder->inst->operand_count;
    uint32_t address = grout_ptx__operand(decoder, 0)->kind == PTX_OPERAND_ADDRESS ? 0 : 1;
    bool has_number = count > address + 1;
    bool expects = grout_ptx__word(decoder, PTX_CLASS_EXPECT, 0).id != PTX_WORD_NONE;
    step->run = run_arrive;
    step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    step->detail = (expects      ? EXPECTS
                    : has_number ? HAS_COUNT
                                 : 0u) |
                   (grout_ptx__has(decoder, PTX_WORD_NOCOMPLETE) ? NO_COMPLETE : 0u) |
                   (decoder->inst->op == PTX_OP_MBARRIER_ARRIVE_DROP ? DROPS : 0u);
    step->result = decoder->code->sink;
    step->result.is_sink = true;
    return (address == 0 || grout_ptx__decode_result(decoder, 0, &step->result)) &&
           grout_ptx__decode_address(decoder, address, 0) &&
           (!has_number || grout_ptx__decode_source(decoder, address + 1, PTX_WORD_U32, 1));
}

/* test_wait says what is; try_wait may wait, and waits here until the phase is over: so a loop
 * around it turns once. */
static ptx_outcome run_wait(ptx_context *context) {
    const ptx_step *step = context->step;
    bool has_parity = (step->detail & 1) != 0, may_wait = (step->detail & 2) != 0;
    uint32_t answers = 0;
    ptx_bytes found[PTX_LANES];
    grout_ptx_fault fault;
    if (!need_address(context) ||
        !grout_ptx__need(context, &step->sources[1], "the phase to wait for")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_bytes bytes;
        bool is_done = false;
        if (!find_word(context, lane, &bytes)) {
            return PTX_FAILED;
        }
        uint64_t phase = ptx_value(context, &step->sources[1], lane), word = read_word(&bytes);
        if (!(has_parity ? grout_ptx__mbarrier_test_parity(word, (uint32_t)phase, &is_done, &fault)
                         : grout_ptx__mbarrier_test_token(word, phase, &is_done, &fault))) {
            return grout_ptx__fault(context, lane, "%s", fault.text);
        }
        answers |= (uint32_t)is_done << lane;
        found[lane] = bytes;
    }
    if (may_wait && answers == 0) {
        return PTX_STAY;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        if (!grout_ptx__observe_wait(context, lane, &found[lane], (answers >> lane & 1) != 0)) {
            return PTX_FAILED;
        }
    }
    uint32_t *result = ptx_words(context, &step->result);
    *result = (*result & ~context->lanes) | answers;
    ptx_set_defined(context, &step->result, UINT32_MAX);
    return PTX_NEXT;
}

bool grout_ptx__decode_mbarrier_wait(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    bool has_parity = grout_ptx__has(decoder, PTX_WORD_PARITY);
    step->run = run_wait;
    step->detail = (has_parity ? 1u : 0u) | (decoder->inst->op == PTX_OP_MBARRIER_TRY ? 2u : 0u);
    step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    return grout_ptx__decode_result(decoder, 0, &step->result) &&
           grout_ptx__decode_address(decoder, 1, 0) &&
           grout_ptx__decode_source(decoder, 2, has_parity ? PTX_WORD_U32 : PTX_WORD_B64, 1);
}

static ptx_outcome run_pending(ptx_context *context) {
    const ptx_step *step = context->step;
    grout_ptx_fault fault;
    if (!grout_ptx__need(context, &step->sources[0], "the state of an mbarrier")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        uint32_t count = 0;
        if (!grout_ptx__mbarrier_pending(ptx_value(context, &step->sources[0], lane), &count,
                                         &fault)) {
            return grout_ptx__fault(context, lane, "%s", fault.text);
        }
        ptx_put(context, &step->result, lane, count);
    }
    ptx_set_defined(context, &step->result, UINT32_MAX);
    return PTX_NEXT;
}

bool grout_ptx__decode_mbarrier_pending(ptx_decoder *decoder) {
    decoder->step->run = run_pending;
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_B64, 0);
}
