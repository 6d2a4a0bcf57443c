/* control.c - branches, calls and ends. PTX ISA 9.1, 'Control Flow Instructions'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "observe.h"
#include "tensor_memory.h"

#include <string.h>

/* Takes lanes of a group out into one of their own, at another step. Both stay in the warp. */
static ptx_group *split(const ptx_context *context, uint32_t lanes, uint32_t pc) {
    ptx_warp *warp = context->warp;
    ptx_group *group = context->group;
    ptx_group *other = &warp->groups[warp->group_count];
    if (group->lanes == lanes) {
        other = group;
    } else {
        warp->group_count++;
        *other = *group;
        other->lanes = lanes;
        group->lanes &= ~lanes;
    }
    other->pc = pc;
    other->is_waiting = false;
    other->has_stayed = false;
    return other;
}

static ptx_outcome run_branch(ptx_context *context) {
    uint32_t after = context->group->pc + 1;
    if (context->lanes == context->group->lanes) {
        context->group->pc = context->step->detail;
        return PTX_MOVED;
    }
    split(context, context->lanes, context->step->detail);
    context->group->pc = after;
    return PTX_MOVED;
}

bool grout_ptx__decode_branch(ptx_decoder *decoder) {
    const ptx_operand *operand = grout_ptx__operand(decoder, 0);
    if (operand->kind != PTX_OPERAND_LABEL) {
        return grout_ptx__unknown(decoder, "a branch goes to a label");
    }
    decoder->step->run = run_branch;
    decoder->step->detail = decoder->reached->first_step + operand->id;
    return true;
}

static ptx_outcome run_branch_table(ptx_context *context) {
    const ptx_step *step = context->step;
    const grout_ptx_module *module = context->machine->code->module;
    ptx_targets targets = module->tables.items[step->detail];
    uint32_t rest = context->lanes, after = context->group->pc + 1;
    if (!grout_ptx__need(context, &step->sources[0], "the index of a branch")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t index = ptx_value(context, &step->sources[0], lane);
        uint32_t same = 0;
        if ((rest >> lane & 1) == 0) {
            continue;
        }
        if (index >= targets.count) {
            return grout_ptx__fault(context, lane, "index %llu of %u targets",
                                    (unsigned long long)index, targets.count);
        }
        PTX_FOR_LANES(other, rest) {
            same |= (uint32_t)(ptx_value(context, &step->sources[0], other) == index) << other;
        }
        rest &= ~same;
        ptx_group *group =
            split(context, same, step->more + module->targets.items[targets.first + index]);
        if (group == context->group) {
            return PTX_MOVED; /* they were the last of the group */
        }
    }
    context->group->pc = after;
    return PTX_MOVED;
}

bool grout_ptx__decode_branch_table(ptx_decoder *decoder) {
    const ptx_operand *operand = grout_ptx__operand(decoder, 1);
    if (operand->kind != PTX_OPERAND_TARGETS) {
        return grout_ptx__unknown(decoder, "brx.idx needs a list of targets");
    }
    decoder->step->run = run_branch_table;
    decoder->step->detail = operand->id;
    decoder->step->more = decoder->reached->first_step;
    return grout_ptx__decode_source(decoder, 0, PTX_WORD_U32, 0);
}

/* Lanes end: what the warp still has to do is that of the others. */
static void end_lanes(const ptx_context *context) {
    ptx_warp *warp = context->warp;
    warp->live &= ~context->lanes;
    context->group->lanes &= ~context->lanes;
    context->group->pc++;
    context->machine->events++;
    if (warp->live == 0) {
        context->cta->live_warps--;
    }
}

/* Bytes of a lane's own memory, from one variable to another, with whether they are defined. */
static void copy_variable(const ptx_context *context, uint32_t from, uint32_t to) {
    const ptx_code *code = context->machine->code;
    const ptx_variable *variables = code->module->variables.items;
    uint64_t whole = code->local_bytes;
    const uint64_t source = grout_ptx__get_address(code, from),
                   target = grout_ptx__get_address(code, to);
    size_t size = (size_t)(variables[from].size < variables[to].size ? variables[from].size
                                                                     : variables[to].size);
    PTX_FOR_LANES(lane, context->lanes) {
        for (uint32_t half = 0; half < 2; half++) {
            uint8_t *local = context->warp->local + (half * PTX_LANES + lane) * whole;
            memmove(local + target, local + source, size);
        }
    }
}

/* detail: exit. The end of a function is a step of its own, and no instruction. */
ptx_outcome grout_ptx__run_leave(ptx_context *context) {
    ptx_group *group = context->group;
    if (group->call_count == 0 || context->step->detail != 0) {
        if (!grout_ptx__observe_exit(context)) {
            return PTX_FAILED;
        }
        end_lanes(context);
        return context->cta->live_warps > 0 || grout_ptx__end_tensor(context) ? PTX_MOVED
                                                                              : PTX_FAILED;
    }
    const ptx_code *code = context->machine->code;
    uint32_t after = group->pc + 1, back = group->returns[group->call_count - 1];
    const ptx_step *call = &code->steps.items[back - 1];
    for (uint32_t i = 0; i < call->item_count2; i++) {
        const ptx_plane *pair = &code->items.items[call->first_item2 + i];
        copy_variable(context, pair->offset, pair->id);
    }
    ptx_group *leaving = split(context, context->lanes, back);
    leaving->call_count--;
    if (leaving != group) {
        group->pc = after;
    }
    return PTX_MOVED;
}

bool grout_ptx__decode_leave(ptx_decoder *decoder) {
    decoder->step->run = grout_ptx__run_leave;
    decoder->step->detail = decoder->inst->op == PTX_OP_EXIT;
    return true;
}

static ptx_outcome run_trap(ptx_context *context) {
    return grout_ptx__fault(context, PTX_LANES, "the kernel has trapped");
}

bool grout_ptx__decode_trap(ptx_decoder *decoder) {
    decoder->step->run = run_trap;
    return true;
}

/* Nothing that values depend on: hints, and fences, since memory is one and in order here. */
static ptx_outcome run_nothing(ptx_context *context) {
    (void)context;
    return PTX_NEXT;
}

bool grout_ptx__decode_nothing(ptx_decoder *decoder) {
    decoder->step->run = run_nothing;
    return true;
}

bool grout_ptx__decode_yielding(ptx_decoder *decoder) {
    decoder->step->run = run_nothing;
    return true;
}

/* ---- calls ---- */

/* Variables that are copied, from and to: parameters before, results when the function leaves. */
static ptx_outcome run_call(ptx_context *context) {
    const ptx_step *step = context->step;
    ptx_group *group = context->group;
    uint32_t after = group->pc + 1;
    if (group->call_count == PTX_CALLS_MAX) {
        return grout_ptx__reach_limit(context, PTX_LANES,
                                      "limit ptx-calls: more than %d calls in one another",
                                      PTX_CALLS_MAX);
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        const ptx_plane *pair = &context->machine->code->items.items[step->first_item + i];
        copy_variable(context, pair->offset, pair->id);
    }
    ptx_group *called = split(context, context->lanes, step->detail);
    called->returns[called->call_count++] = after;
    if (called != group) {
        group->pc = after;
    }
    return PTX_MOVED;
}

/* A pair of variables among the items. */
static bool add_pair(const ptx_decoder *decoder, uint32_t from, uint32_t to, uint32_t *count) {
    ptx_code *code = decoder->code;
    if (!GROUT_ARRAY_RESERVE(&code->items, code->allocator, 1)) {
        return grout_diags_add_oom(decoder->diags);
    }
    code->items.items[code->items.count++] = (ptx_plane){.offset = from, .id = to};
    (*count)++;
    return true;
}

enum { OUTSIDE_BYTES = 4 }; /* that such a function returns */

/* Functions of the CUDA runtime: what vprintf prints is dropped, and a failed assertion fails. */
static ptx_outcome run_outside(ptx_context *context) {
    if (context->step->detail != 0) {
        return grout_ptx__fault(context, PTX_LANES, "an assertion of the kernel has failed");
    }
    const ptx_code *code = context->machine->code;
    uint64_t whole = code->local_bytes;
    PTX_FOR_LANES(lane, context->step->more != PTX_NO_ID ? context->lanes : 0) {
        uint8_t *local =
            context->warp->local + lane * whole + grout_ptx__get_address(code, context->step->more);
        memset(local, 0, OUTSIDE_BYTES);
        memset(local + PTX_LANES * whole, 0xff, OUTSIDE_BYTES);
    }
    return PTX_NEXT;
}

/* A variable that a call takes or gives: it is in the lane's own memory. */
static bool is_passed(const ptx_decoder *decoder, const ptx_operand *item) {
    return (item->kind == PTX_OPERAND_VARIABLE && item->bits == 0 &&
            grout_ptx__is_local(decoder->code, item->id)) ||
           grout_ptx__unknown(decoder, "a call takes variables of parameter space");
}

static bool decode_outside(ptx_decoder *decoder, const char *name, const ptx_operand *results) {
    const ptx_operand *result = results != NULL && results->count == 1
                                    ? grout_ptx__get_item(decoder->module, results, 0)
                                    : NULL;
    decoder->step->run = run_outside;
    decoder->step->detail = strcmp(name, "__assertfail") == 0;
    decoder->step->more = result != NULL ? result->id : PTX_NO_ID;
    if (decoder->step->detail == 0 && strcmp(name, "vprintf") != 0) {
        return grout_ptx__unknown(decoder, "the module has no function '%s'", name);
    }
    return result == NULL ||
           (is_passed(decoder, result) &&
            (decoder->module->variables.items[result->id].size >= OUTSIDE_BYTES ||
             grout_ptx__unknown(decoder, "the result of '%s' has %d bytes", name, OUTSIDE_BYTES)));
}

static bool decode_pairs(ptx_decoder *decoder, const ptx_operand *list,
                         const ptx_function *function, bool are_results) {
    uint32_t first = function->first_parameter + (are_results ? 0 : function->result_count);
    uint32_t count =
        are_results ? function->result_count : function->parameter_count - function->result_count;
    if ((list == NULL ? 0 : list->count) != count) {
        return grout_ptx__unknown(decoder,
                                  "a call with another number of parameters than the function has");
    }
    for (uint32_t i = 0; i < count; i++) {
        const ptx_operand *item = grout_ptx__get_item(decoder->module, list, i);
        if (!is_passed(decoder, item)) {
            return false;
        }
        uint32_t own = first + i, other = item->id;
        if (are_results ? !add_pair(decoder, own, other, &decoder->step->item_count2)
                        : !add_pair(decoder, other, own, &decoder->step->item_count)) {
            return false;
        }
    }
    return true;
}

/* call (results), function, (parameters) */
bool grout_ptx__decode_call(ptx_decoder *decoder) {
    const ptx_inst *inst = decoder->inst;
    const ptx_operand *operands[3] = {NULL, NULL, NULL};
    uint32_t at = 0;
    if (grout_ptx__operand(decoder, 0)->kind == PTX_OPERAND_LIST) {
        operands[0] = grout_ptx__operand(decoder, at++);
    }
    operands[1] = at < inst->operand_count ? grout_ptx__operand(decoder, at++) : NULL;
    if (at < inst->operand_count) {
        operands[2] = grout_ptx__operand(decoder, at);
    }
    if (operands[1] == NULL || operands[1]->kind != PTX_OPERAND_FUNCTION) {
        return grout_ptx__unknown(decoder, "calls through pointers are not known");
    }
    const ptx_function *function = &decoder->module->functions.items[operands[1]->id];
    if (!function->has_body) {
        return decode_outside(decoder, grout_ptx__get_name(decoder->module, function->name),
                              operands[0]);
    }
    decoder->step->run = run_call;
    decoder->step->detail = grout_ptx__get_first_step(decoder->code, operands[1]->id);
    decoder->step->first_item = (uint32_t)decoder->code->items.count;
    decoder->step->item_count2 = 0;
    if (!decode_pairs(decoder, operands[2], function, false)) {
        return false;
    }
    decoder->step->first_item2 = (uint32_t)decoder->code->items.count;
    return decode_pairs(decoder, operands[0], function, true);
}
