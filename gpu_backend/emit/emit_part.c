/* emit_part.c - slice, reshape, transpose, concatenate: elements that stay as they are, in a lane's
 * registers where it has them, else through SMEM. SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "alloc.h"
#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- within a lane ---- */

/* Whether register r of the result goes on where the one before it was taken. */
static bool goes_on(const grout_register_pick *picks, uint32_t r, bool is_spread) {
    return picks[r].operand == picks[r - 1].operand &&
           (!is_spread || picks[r].register_index == picks[r - 1].register_index + 1);
}

/* "v[reg + 8] = a[reg + 24];" for a run of neighbours of one operand. */
static void emit_run(grout_emitter *e, const grout_op *op, const grout_register_pick *pick,
                     uint32_t first, uint32_t count) {
    const grout_operand *source = grout_module_get_operand(e->module, op, pick->operand);
    char index[32] = "reg", target[32] = "reg";
    if (first > 0) {
        (void)snprintf(target, sizeof target, "reg + %" PRIu32, first);
    }
    if (pick->register_index > 0) {
        (void)snprintf(index, sizeof index, "reg + %" PRIu32, pick->register_index);
    }
    grout_emit__open_registers(e, count, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[%s] = ", grout_emit__name(e, op->first_result), target);
    grout_emit__operand(e, source, index);
    grout_emit__end(e, ";");
    grout_emit__close(e, "");
}

static void emit_picks(grout_emitter *e, const grout_op *op, const grout_register_pick *picks) {
    const grout_register_layout *to = grout_emit__layout(e, op->first_result);
    if (!grout_emit__has_registers(to)) {
        char index[32];
        (void)snprintf(index, sizeof index, "%" PRIu32, picks[0].register_index);
        grout_emit__begin_scalar(e, op->first_result);
        grout_emit__operand(e, grout_module_get_operand(e->module, op, picks[0].operand), index);
        grout_emit__end(e, ";");
        return;
    }
    grout_emit__declare_registers(e, op->first_result);
    for (uint32_t first = 0, count; first < to->registers; first += count) {
        const bool is_spread =
            grout_emit__is_spread(e, grout_module_get_operand(e->module, op, picks[first].operand));
        count = 1;
        while (first + count < to->registers && goes_on(picks, first + count, is_spread)) {
            count++;
        }
        emit_run(e, op, &picks[first], first, count);
    }
}

/* ---- through SMEM ---- */

/* "if (at_row - 32u < 64u && ..) {": whether an element of an operand is in the box; false: all
 * are, and nothing is opened. */
static bool open_box(grout_emitter *e, const grout_part *part, const grout_type *type,
                     grout_emit_at at) {
    bool is_open = false;
    for (uint32_t dim = 0; dim < part->rank; dim++) {
        if (part->extent[dim] == type->dims[dim]) {
            continue;
        }
        if (!is_open) {
            grout_emit__begin(e);
        }
        grout_emit__add(e, is_open ? " && " : "if (");
        grout_emit__index(e, at, type, dim);
        if (part->start[dim] > 0) {
            grout_emit__add(e, " - %" PRId64 "u", part->start[dim]);
        }
        grout_emit__add(e, " < %" PRId64 "u", part->extent[dim]);
        is_open = true;
    }
    if (is_open) {
        grout_emit__add(e, ")");
        grout_emit__open(e);
    }
    return is_open;
}

/* The element of the result that an element of the operand becomes: sums of indices, less where the
 * box starts. */
static void add_place(grout_emitter *e, const grout_part *part, const grout_type *type,
                      grout_emit_at at) {
    int64_t constant = part->offset;
    bool is_first = true;
    for (uint32_t dim = 0; dim < part->rank; dim++) {
        constant -= part->start[dim] * part->stride[dim];
        if (part->extent[dim] == 1) {
            constant += part->start[dim] * part->stride[dim];
            continue;
        }
        grout_emit__add(e, is_first ? "" : " + ");
        grout_emit__index(e, at, type, dim);
        if (part->stride[dim] > 1) {
            grout_emit__add(e, " * %" PRId64 "u", part->stride[dim]);
        }
        is_first = false;
    }
    if (is_first) {
        grout_emit__add(e, "%" PRId64 "u", constant);
    } else if (constant != 0) {
        grout_emit__add(e, constant > 0 ? " + %" PRId64 "u" : " - %" PRId64 "u",
                        constant > 0 ? constant : -constant);
    }
}

static void store_element(grout_emitter *e, const grout_operand *source, const grout_part *part,
                          grout_emit_at at) {
    const grout_type *type = grout_module_get_type(e->module, source->id);
    const bool is_open = open_box(e, part, type, at);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_store_smem(exchange + (");
    add_place(e, part, type, at);
    grout_emit__add(e, ") * %" PRIu32 ", ", grout_dtype_get_info((grout_dtype)type->dtype)->bytes);
    grout_emit__element(e, source, (grout_dtype)type->dtype, "reg");
    grout_emit__end(e, ");");
    if (is_open) {
        grout_emit__close(e, "");
    }
}

/* What the result takes of an operand, to where it is in the result. */
static void write_part(grout_emitter *e, const grout_op *op, uint32_t k) {
    const grout_operand *source = grout_module_get_operand(e->module, op, k);
    const grout_register_layout *from = grout_emit__layout(e, source->id);
    const grout_part part = grout_op_get_part(e->module, op, k);
    if (!grout_emit__is_spread(e, source)) { /* one value for all: any lane has it */
        grout_emit__begin(e);
        grout_emit__add(e, "for (grout_u32 flat = lane; flat < %" PRId64 "u; flat += %" PRIu32 ")",
                        grout_type_get_count(grout_module_get_type(e->module, source->id)),
                        e->warps * GROUT_WARP_LANES);
        grout_emit__open(e);
        store_element(e, source, &part, GROUT_EMIT_AT_FLAT);
        grout_emit__close(e, "");
        return;
    }
    grout_emit__open_owners(e, from);
    grout_emit__open_registers(e, from->registers, 1);
    grout_emit__open_element(e, from, 1);
    store_element(e, source, &part, grout_emit__get_at(from));
    grout_emit__close_registers(e, from);
    grout_emit__close_owners(e, from);
}

static void exchange_parts(grout_emitter *e, const grout_op *op) {
    grout_emit__before_access(e, 0, true);
    for (uint32_t k = 0; k < op->operand_count; k++) {
        write_part(e, op, k);
    }
    grout_emit__after_access(e, 0, true);
    grout_emit__read_exchange(e, op->first_result);
}

void grout_emit__parts(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_type *type = grout_module_get_type(e->module, op->first_result);
    const grout_register_layout *to = grout_emit__layout(e, op->first_result);
    const uint32_t registers = grout_emit__has_registers(to) ? to->registers : 1;
    if (grout_register_layouts_get_exchange_bytes(e->plan->layouts, id) > 0) {
        if (grout_emit__check_exchange(e, id,
                                       grout_type_get_count(type) *
                                           grout_dtype_get_info((grout_dtype)type->dtype)->bytes)) {
            exchange_parts(e, op);
        }
        return;
    }
    const uint64_t said = grout_diags_total(e->diags);
    grout_register_pick *picks =
        grout__new(grout_module_get_allocator(e->module), registers, sizeof *picks);
    if (picks == NULL) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
    } else if (grout_register_layouts_find_picks(e->plan->layouts, e->module, op, picks,
                                                 e->diags)) {
        emit_picks(e, op, picks);
    } else if (grout_diags_total(e->diags) > said) {
        e->failed = true; /* without memory */
    } else {
        grout_emit__unsupported(e, op, "no register layout provides for this '%s'",
                                grout_op_get_info((grout_opcode)op->opcode)->text);
    }
    grout__free(picks);
}

void grout_emit__slice(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__parts(e, id, op);
}

void grout_emit__reshape(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__parts(e, id, op);
}

void grout_emit__transpose(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__parts(e, id, op);
}

void grout_emit__concatenate(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__parts(e, id, op);
}
