/* cells.c - cells of the op table, and those of a kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    grout_opcode opcode;
    drawn_by owner;
} owners[] = {
#define DRAWN_BY(OP, KIND, REASON) {GROUT_OP_##OP, DRAWN_BY_##KIND},
#include "drawn.def"
};

static const grout_opcode not_packed[] = {
#define DRAWN_NOT_PACKED(OP, REASON) GROUT_OP_##OP,
#include "drawn.def"
};

static const struct {
    grout_opcode opcode;
    grout_dtype from, to;
} exceptions[] = {
#define DRAWN_NOT(OP, FROM, TO, REASON) {GROUT_OP_##OP, GROUT_DTYPE_##FROM, GROUT_DTYPE_##TO},
#include "drawn.def"
};

static const struct {
    grout_opcode opcode;
    const char *types;
} limits[] = {
#define DRAWN_ONLY(OP, TYPES, REASON) {GROUT_OP_##OP, TYPES},
#include "drawn.def"
};

/* Whether the words have the name of the type. */
static bool names_type(const char *words, grout_dtype dtype) {
    const char *text = grout_dtype_get_info(dtype)->text;
    const size_t size = strlen(text);
    for (const char *at = strstr(words, text); at != NULL; at = strstr(at + 1, text)) {
        if ((at == words || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0')) {
            return true;
        }
    }
    return false;
}

drawn_by cells_get_owner(grout_opcode opcode) {
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        if (owners[i].opcode == opcode) {
            return owners[i].owner;
        }
    }
    return DRAWN_BY_TABLE;
}

/* Whether the types of operands and result go together. */
static bool fits(const grout_op_info *info, cell it) {
    switch (info->rule) {
    case GROUT_RULE_CONVERT:
        return true;
    case GROUT_RULE_BITCAST:
        return it.from != GROUT_DTYPE_BOOL && it.to != GROUT_DTYPE_BOOL &&
               grout_dtype_get_info(it.from)->bits == grout_dtype_get_info(it.to)->bits;
    default:
        return it.from == it.to;
    }
}

bool cells_has(cell it) {
    const grout_op_info *info = grout_op_get_info(it.opcode);
    if (!grout_type_rule_takes((grout_type_rule)info->types, it.from) || !fits(info, it)) {
        return false;
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].opcode == it.opcode && !names_type(limits[i].types, it.from)) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        if (exceptions[i].opcode == it.opcode && exceptions[i].from == it.from &&
            exceptions[i].to == it.to) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof not_packed / sizeof *not_packed; i++) {
        if (not_packed[i] == it.opcode && grout_dtype_get_info(it.from)->packed > 1) {
            return false;
        }
    }
    return true;
}

static void add_types(cells_list *list, grout_opcode opcode) {
    for (int from = 1; from < GROUT_DTYPE_COUNT; from++) {
        for (int to = 1; to < GROUT_DTYPE_COUNT; to++) {
            const cell it = {opcode, (grout_dtype)from, (grout_dtype)to};
            if (cells_has(it) && list->count < CELLS_MAX) {
                list->cells[list->count++] = it;
            }
        }
    }
}

const cells_list *cells_get_list(drawn_by owner) {
    static cells_list lists[DRAWN_BY_COUNT + 1]; /* the last one has no operation */
    for (int i = 1; i < GROUT_OP_COUNT && lists[owner].is_made == false; i++) {
        if (cells_get_owner((grout_opcode)i) == owner) {
            add_types(&lists[owner], (grout_opcode)i);
        }
    }
    lists[owner].is_made = true;
    return &lists[owner];
}

/* ---- what kernels have ----------------------------------------------------------------------- */

/* The element type of an operand that has one, or NONE. */
static grout_dtype get_dtype(const grout_module *bound, const grout_operand *operand) {
    grout_view view;
    if (grout_module_get_view(bound, operand, &view)) {
        return (grout_dtype)grout_object_get_type(bound, view.object)->dtype;
    }
    if (operand->kind == GROUT_OPERAND_VALUE) {
        return (grout_dtype)grout_module_get_type(bound, operand->id)->dtype;
    }
    return GROUT_DTYPE_NONE;
}

/* The types of an operation: those of its first operand that is no condition, of a
 * matrix product those of a; of its result where it has one. */
static cell get_cell(const grout_module *bound, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const bool has_first_apart = info->rule == GROUT_RULE_SELECT ||
                                 info->types == GROUT_TYPES_MMA ||
                                 info->shape == GROUT_SHAPE_REGION;
    cell it = {(grout_opcode)op->opcode, GROUT_DTYPE_NONE, GROUT_DTYPE_NONE};
    for (uint32_t k = has_first_apart ? 1 : 0; k < op->operand_count && it.from == GROUT_DTYPE_NONE;
         k++) {
        it.from = get_dtype(bound, grout_module_get_operand(bound, op, k));
    }
    it.to = it.from;
    if (op->result_count == 1 && info->shape == GROUT_SHAPE_PLAIN) {
        const grout_dtype result =
            (grout_dtype)grout_module_get_type(bound, op->first_result)->dtype;
        it.from = it.from == GROUT_DTYPE_NONE ? result : it.from;
        it.to =
            info->rule == GROUT_RULE_CONVERT || info->rule == GROUT_RULE_BITCAST ? result : it.from;
    }
    return it;
}

void cells_see(cells_seen *seen, const grout_module *bound) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(bound); id++) {
        const grout_op *op = grout_module_get_op(bound, id);
        const cell it = get_cell(bound, op);
        seen->to[it.opcode][it.from] |= UINT32_C(1) << it.to;
        if (strchr(grout_op_get_info(it.opcode)->operands, '*') == NULL) {
            continue;
        }
        for (uint32_t k = 0; k < op->operand_count; k++) { /* each in its own right */
            const grout_dtype dtype = get_dtype(bound, grout_module_get_operand(bound, op, k));
            seen->to[it.opcode][dtype] |= UINT32_C(1) << dtype;
        }
    }
}

uint32_t cells_print_unseen(const cells_seen *seen, drawn_by owner) {
    const cells_list *list = cells_get_list(owner);
    uint32_t unseen = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const cell it = list->cells[i];
        if ((seen->to[it.opcode][it.from] >> it.to & 1) == 0) {
            printf("op '%s' of %s%s%s is never drawn\n", grout_op_get_info(it.opcode)->text,
                   grout_dtype_get_info(it.from)->text, it.from == it.to ? "" : " to ",
                   it.from == it.to ? "" : grout_dtype_get_info(it.to)->text);
            unseen++;
        }
    }
    if (unseen > 0) {
        printf("each: draw it in draw_table.c, and say in reference.c what it means; or give it a "
               "line in drawn.def, with the reason (docs/adding_an_operation.md, the section on "
               "drawn kernels)\n");
    }
    return unseen;
}
