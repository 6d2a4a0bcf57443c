/* decode.c - instructions as steps, by the decoders that ptx_ops.def names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "machine.h"

#define PTX_OP(NAME, TEXT, LEAST, MOST, CLASSES, SECTION, ROUTINE) \
    [PTX_OP_##NAME] = grout_ptx__decode_##ROUTINE,
static ptx_decode_routine *const routines[PTX_OP_COUNT] = {
    [PTX_OP_NONE] = grout_ptx__decode_NONE,
#include "ptx_ops.def"
};

bool grout_ptx__decode_NONE(ptx_decoder *decoder) {
    return grout_ptx__unknown(decoder, "the emulator does not run '%s' yet",
                              grout_ptx__get_op(decoder->inst->op)->text);
}

static bool decode_inst(ptx_decoder *decoder, uint32_t inst) {
    ptx_code *code = decoder->code;
    decoder->inst = &decoder->module->insts.items[inst];
    if (!GROUT_ARRAY_RESERVE(&code->steps, code->allocator, 1)) {
        return grout_diags_add_oom(decoder->diags);
    }
    decoder->step = &code->steps.items[code->steps.count++];
    *decoder->step = (ptx_step){.inst = inst, .guard.is_sink = true};
    if (decoder->inst->guard != PTX_NO_ID) {
        decoder->step->guard = grout_ptx__get_register(decoder, decoder->inst->guard);
        decoder->step->guard.is_negated = decoder->inst->is_guard_negated;
    }
    decoder->step->ordering = grout_ptx__decode_ordering(decoder);
    return routines[decoder->inst->op](decoder);
}

static bool decode_function(ptx_decoder *decoder, grout_pulse *pulse) {
    ptx_code *code = decoder->code;
    const ptx_function *function = &decoder->module->functions.items[decoder->reached->function];
    for (uint32_t i = 0; i < function->inst_count; i++) {
        if (!grout_pulse__goes_on(pulse, 16) || !decode_inst(decoder, function->first_inst + i)) {
            return false;
        }
    }
    if (!GROUT_ARRAY_RESERVE(&code->steps, code->allocator, 1)) {
        return grout_diags_add_oom(decoder->diags);
    }
    uint32_t last = function->first_inst + function->inst_count;
    code->steps.items[code->steps.count++] = (ptx_step){
        .run = grout_ptx__run_leave, .guard.is_sink = true, .inst = last > 0 ? last - 1 : 0};
    return true;
}

bool grout_ptx__decode(const ptx_making *making, ptx_code *code) {
    ptx_decoder decoder = {.code = code, .module = making->module, .diags = making->diags};
    for (size_t i = 0; i < code->reached.count; i++) {
        decoder.reached = &code->reached.items[i];
        if (!decode_function(&decoder, making->pulse)) {
            return false;
        }
    }
    return true;
}
