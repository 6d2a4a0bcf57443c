/* emit_block.c - the ops of a block, each with its text as a comment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "goes_on.h"
#include "invariant.h"
#include "line_name.h"
#include "tensor.h"

#include <inttypes.h>

static void write_directive(grout_emitter *e, const grout_op *op) {
    const grout_place place = grout_module_get_place(e->module, op->loc);
    if (!e->options.line_directives || place.file == NULL) {
        return;
    }
    grout_text_add(e->out, "#line %" PRIu32 " \"", place.line);
    grout_line_name__add(e->out, place.file);
    grout_text_add_bytes(e->out, "\"\n", 2);
}

/* The text of the statement that begins with this op, nested ops included, as a comment. */
static void write_comment(grout_emitter *e, grout_op_id id) {
    const grout_op *op = grout_module_get_op(e->module, id);
    while (grout_emit__is_nested(e, op) && op->next != 0) {
        id = op->next;
        op = grout_module_get_op(e->module, id);
    }
    const bool is_end = grout_op_get_info((grout_opcode)op->opcode)->shape == GROUT_SHAPE_END;
    if (op == e->commented || (is_end && op->operand_count == 0)) {
        return;
    }
    e->commented = op;
    grout_text text = {.allocator = grout_module_get_allocator(e->module)};
    grout_op_print(e->module, id, &text);
    if (text.failed) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
    } else if (text.size > 0) {
        /* A backslash at the end would join the next line to the comment. */
        const bool is_joined = text.data[text.size - 1] == '\\';
        grout_emit__begin(e);
        grout_text_add(e->out, "// %s%s\n", text.data, is_joined ? " " : "");
    }
    grout_text_free(&text);
}

/* A scope narrower than the one that is meant is said where it is. */
static void write_narrowing(grout_emitter *e, const grout_op *op) {
    const uint32_t operand = grout_op_find_letter((grout_opcode)op->opcode, 'b');
    grout_view view;
    if (operand == UINT32_MAX ||
        !grout_module_get_view(e->module, grout_module_get_operand(e->module, op, operand),
                               &view)) {
        return;
    }
    const uint32_t number = grout_gpu__plan_find_barrier(e->plan, view.object);
    if (number != UINT32_MAX && grout_emit__is_narrowed(e, op, &e->plan->barriers[number])) {
        grout_emit__line(e, "// for the CTA alone: nothing has to travel to another one with it");
    }
}

void grout_emit__op(grout_emitter *e, grout_op_id id) {
    const grout_op *op = grout_module_get_op(e->module, id);
    write_directive(e, op);
    write_comment(e, id);
    write_narrowing(e, op);
    grout_tensor__await_used(e, op);
    if (grout_op_needs_auto_fence(e->module, id)) {
        grout_emit__publish_smem(e);
    }
    GROUT_ASSERT(op->opcode < GROUT_OP_COUNT && e->emitters[op->opcode] != NULL);
    e->emitters[op->opcode](e, id, op);
    grout_emit__release_held(e, id);
    grout_emit__note_lanes(e, op);
}

void grout_emit__block(grout_emitter *e, grout_block_id id) {
    grout_op_id at = grout_module_get_block(e->module, id)->first;
    const grout_op_id lone = e->is_alone ? 0 : grout_emit__find_lone_part(e, id);
    const uint32_t indent = e->indent;
    const bool is_warp = e->is_warp;
    while (at != 0 && !e->failed) {
        e->failed = !grout_diags__goes_on(e->diags, "CUDA was written");
        const grout_op *op = grout_module_get_op(e->module, at);
        if (at == lone) {
            grout_tensor__await(e); /* by all lanes */
            grout_emit__before_issue(e, "one lane does the rest");
            grout_emit__open_issuer(e);
            e->is_alone = true;
            e->is_warp = false; /* a thread of one warp: its other lanes have gone */
        }
        grout_emit__op(e, at);
        at = op->next;
    }
    if (lone != 0 && e->is_alone) { /* reached, whatever failed before */
        e->is_alone = false;
        e->is_warp = is_warp;
        grout_emit__close(e, "");
    }
    GROUT_ASSERT(e->failed || e->indent == indent); /* each op closed what it opened */
}
