/* fault.c - what goes wrong in a run, at the instruction, with CTA and lane.
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <stdio.h>

static void note_place(ptx_machine *machine, const ptx_cta *cta, uint32_t warp, uint32_t lane,
                       const ptx_inst *inst) {
    const uint32_t *at = cta->index;
    grout_place nowhere = {.file = NULL};
    if (lane < PTX_LANES) {
        grout_diags_note(machine->diags, nowhere, "in CTA (%u, %u, %u), warp %u, lane %u", at[0],
                         at[1], at[2], warp, lane);
    } else {
        grout_diags_note(machine->diags, nowhere, "in CTA (%u, %u, %u), warp %u", at[0], at[1],
                         at[2], warp);
    }
    grout_diags_note(machine->diags, nowhere, "PTX ISA describes '%s' in the section '%s'",
                     grout_ptx__get_op(inst->op)->text, grout_ptx__get_op(inst->op)->section);
}

static ptx_outcome end_run(const ptx_context *context, uint32_t lane, grout_diag_code code,
                           const char *format, va_list arguments) {
    ptx_machine *machine = context->machine;
    const grout_ptx_module *module = machine->code->module;
    const ptx_inst *inst = &module->insts.items[context->step->inst];
    grout_diags_add_list(machine->diags, code, grout_ptx__get_place(module, inst->place), format,
                         arguments);
    note_place(machine, context->cta, context->warp->index, lane, inst);
    machine->is_failed = true;
    return PTX_FAILED;
}

ptx_outcome grout_ptx__fault(const ptx_context *context, uint32_t lane, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ptx_outcome outcome = end_run(context, lane, GROUT_DIAG_PTX_FAULT, format, arguments);
    va_end(arguments);
    return outcome;
}

ptx_outcome grout_ptx__reach_limit(const ptx_context *context, uint32_t lane, const char *format,
                                   ...) {
    va_list arguments;
    va_start(arguments, format);
    ptx_outcome outcome = end_run(context, lane, GROUT_DIAG_LIMIT_REACHED, format, arguments);
    va_end(arguments);
    return outcome;
}

bool grout_ptx__async_fault(ptx_machine *machine, ptx_async *async, const char *format, ...) {
    if (machine->is_failed) {
        return false; /* with a race, which said more */
    }
    const grout_ptx_module *module = machine->code->module;
    const ptx_inst *inst = &module->insts.items[async->inst];
    va_list arguments;
    va_start(arguments, format);
    grout_diags_add_list(machine->diags, GROUT_DIAG_PTX_FAULT,
                         grout_ptx__get_place(module, inst->place), format, arguments);
    va_end(arguments);
    note_place(machine, async->own, async->warp, async->lane, inst);
    machine->is_failed = true;
    return false;
}

bool grout_ptx__need(const ptx_context *context, const ptx_plane *plane, const char *what) {
    uint32_t missing = context->lanes & ~ptx_defined(context, plane);
    if (missing == 0) {
        return true;
    }
    uint32_t lane = 0;
    while ((missing >> lane & 1) == 0) {
        lane++;
    }
    grout_ptx__fault(context, lane, "%s was never set", what);
    return false;
}

bool grout_ptx__need_same(const ptx_context *context, const ptx_plane *plane, const char *what,
                          uint64_t *value_out) {
    bool is_first = true;
    *value_out = 0;
    if (!grout_ptx__need(context, plane, what)) {
        return false;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t value = ptx_value(context, plane, lane);
        if (!is_first && value != *value_out) {
            grout_ptx__fault(context, lane,
                             "the lanes of a warp do not agree on %s: %llu here, %llu before", what,
                             (unsigned long long)value, (unsigned long long)*value_out);
            return false;
        }
        *value_out = value;
        is_first = false;
    }
    return true;
}
