/* registers.c - the registers of a CTA, of which its warps take more and give some back. PTX ISA
 * 9.1, setmaxnreg.
 *
 * Counts are those of a lane, summed over warps. How many a warp has at the start is known where
 * .maxnreg says it, or .minnctapersm, by which this many CTAs share the registers of an SM; else
 * setmaxnreg has no effect.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "machine.h"

enum { OF_SM = 65536, UNIT = 8, LEAST = 24, MOST = 256 };

uint32_t grout_ptx__count_registers(const ptx_function *function, uint32_t threads) {
    const uint64_t side_by_side = (uint64_t)threads * function->min_ctas;
    if (function->max_registers > 0 || function->min_ctas == 0) {
        return function->max_registers < MOST ? function->max_registers : MOST;
    }
    const uint32_t count = (uint32_t)(OF_SM / side_by_side) / UNIT * UNIT;
    return count < MOST ? count : MOST;
}

static ptx_outcome run_increase(ptx_context *context) {
    ptx_warp *warp = context->warp;
    const uint32_t count = context->step->detail;
    if (warp->register_count == 0 || warp->register_count >= count) {
        return PTX_NEXT;
    }
    if (context->cta->free_registers < count - warp->register_count) {
        return PTX_STAY; /* until others give some back */
    }
    context->cta->free_registers -= count - warp->register_count;
    warp->register_count = count;
    return PTX_NEXT;
}

static ptx_outcome run_decrease(ptx_context *context) {
    ptx_warp *warp = context->warp;
    const uint32_t count = context->step->detail;
    if (warp->register_count > count) {
        context->cta->free_registers += warp->register_count - count;
        warp->register_count = count;
        context->machine->events++;
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_setmaxnreg(ptx_decoder *decoder) {
    const ptx_operand *count = grout_ptx__operand(decoder, 0);
    const bool is_increase = grout_ptx__word(decoder, PTX_CLASS_OPERATION, 0).id == PTX_WORD_INC;
    if (count->kind != PTX_OPERAND_IMMEDIATE || count->bits < LEAST || count->bits > MOST ||
        count->bits % UNIT != 0) {
        return grout_ptx__unknown(decoder, "setmaxnreg takes a multiple of 8 from 24 to 256");
    }
    decoder->step->run = is_increase ? run_increase : run_decrease;
    decoder->step->detail = (uint32_t)count->bits;
    decoder->step->needs_all = true;
    return true;
}
