/* register_layout_report.c - what is said when layouts do not agree, or a shape has none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "register_layouts.h"

#include "alloc.h"
#include "type.h"

#include <inttypes.h>
#include <stdio.h>

#define PATH_NOTES_MAX 4

/* A value as a message names it. */
typedef struct value_text {
    char chars[GROUT_NAME_MAX + 32];
} value_text;

static const char *get_mnemonic(const grout_layout_inference *inf, grout_op_id id) {
    return grout_op_get_info((grout_opcode)grout_module_get_op(inf->module, id)->opcode)->text;
}

/* "%x", or for a value without a name whose it is; near is the op that the message is about. */
static value_text describe(const grout_layout_inference *inf, grout_value_id value,
                           grout_op_id near) {
    const grout_value *entry = grout_module_get_value(inf->module, value);
    const char *name = grout_module_get_string(inf->module, entry->name);
    value_text text;
    if (name[0] != '\0') {
        (void)snprintf(text.chars, sizeof text.chars, "%%%s", name);
    } else if (entry->op == near || entry->op == 0) {
        (void)snprintf(text.chars, sizeof text.chars, "its result");
    } else {
        (void)snprintf(text.chars, sizeof text.chars, "the result of '%s'",
                       get_mnemonic(inf, entry->op));
    }
    return text;
}

/* ---- what leads from one value to the other -------------------------------------------------- */

/* How a value was reached, breadth first. */
typedef struct path_step {
    uint32_t distance; /* 1 where the search began; 0: not reached */
    grout_value_id previous;
    grout_op_id op; /* that holds both alike */
} path_step;

struct grout_layout_search {
    path_step *steps; /* by value */
    uint32_t distance;
};

static void reach(grout_layout_inference *inf, grout_op_id op, grout_value_id from,
                  grout_value_id to) {
    path_step *steps = inf->search->steps;
    if (steps[from].distance == inf->search->distance && steps[to].distance == 0) {
        steps[to] = (path_step){.distance = steps[from].distance + 1, .previous = from, .op = op};
        inf->is_changed = true;
    }
}

static void search_edge(grout_layout_inference *inf, grout_op_id op, const grout_operand *from,
                        grout_value_id to) {
    if (grout_layout__is_joint(inf, from, to)) {
        reach(inf, op, from->id, to);
        reach(inf, op, to, from->id);
    }
}

static void search_op(grout_layout_inference *inf, grout_op_id id, const grout_op *op) {
    grout_layout__visit_edges(inf, id, op, search_edge);
}

/* Notes on the shortest way from a value back to where the search began: one an op. */
static void note_path(grout_layout_inference *inf, grout_value_id value) {
    const path_step *steps = inf->search->steps;
    uint32_t count = 0;
    while (steps[value].op != 0) {
        const grout_op_id op = steps[value].op;
        grout_value_id end = value;
        while (steps[end].op == op) {
            end = steps[end].previous;
        }
        if (count++ < PATH_NOTES_MAX) {
            grout_diags_note(
                inf->diags,
                grout_module_get_place(inf->module, grout_module_get_op(inf->module, op)->loc),
                "'%s' holds %s and %s in one layout", get_mnemonic(inf, op),
                describe(inf, value, op).chars, describe(inf, end, op).chars);
        }
        value = end;
    }
    if (count > PATH_NOTES_MAX) {
        grout_diags_note(inf->diags, (grout_place){0}, "and so do %" PRIu32 " more operations",
                         count - PATH_NOTES_MAX);
    }
}

static void explain_path(grout_layout_inference *inf, grout_value_id from, grout_value_id to) {
    struct grout_layout_search search = {.distance = 1};
    search.steps = grout__new(grout_module_get_allocator(inf->module),
                              (size_t)inf->out->value_count + 1, sizeof *search.steps);
    if (search.steps == NULL) {
        grout_diags_add_oom(inf->diags);
        return;
    }
    inf->search = &search;
    search.steps[to].distance = 1;
    do {
        inf->is_changed = false;
        grout_layout__walk(inf, inf->body, search_op);
        search.distance++;
    } while (inf->is_changed && search.steps[from].distance == 0 && inf->goes_on);
    note_path(inf, from);
    inf->search = NULL;
    grout__free(search.steps);
}

/* ---- conflicts ------------------------------------------------------------------------------- */

static const char *get_text(const grout_layout_demand *demand) {
    return grout_layout__get_text(demand->kind);
}

/* The same as layout_cast takes it: the kinds from WGMMA_TRANSPOSED on have no word of their own.
 */
static value_text get_word(const grout_layout_demand *demand) {
    const char *text = get_text(demand);
    value_text word;
    (void)snprintf(word.chars, sizeof word.chars,
                   demand->kind >= GROUT_LAYOUT_WGMMA_TRANSPOSED ? "layout(%s)" : "%s", text);
    return word;
}

static bool is_consumer(const grout_layout_demand *demand) {
    return demand->operand != GROUT_LAYOUT_IS_RESULT;
}

static grout_place get_place(const grout_layout_inference *inf, const grout_layout_demand *demand) {
    const grout_op *op = grout_module_get_op(inf->module, demand->op);
    grout_loc_id loc = op->loc;
    if (is_consumer(demand)) {
        const grout_operand *operand = grout_module_get_operand(inf->module, op, demand->operand);
        loc = operand->loc == 0 ? loc : operand->loc;
    }
    return grout_module_get_place(inf->module, loc);
}

/* Bytes that a cast of the value would bring through SMEM. */
static int64_t get_cast_bytes(const grout_layout_inference *inf, grout_value_id value) {
    const grout_type *type = grout_module_get_type(inf->module, value);
    const int64_t bytes =
        grout_type_get_count(type) * grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    return (bytes + 15) / 16 * 16;
}

/* "this 'wgmma'", or where the op is not the one that the message points at: "the 'wgmma' of line
 * 12". */
static value_text describe_op(const grout_layout_inference *inf, const grout_layout_demand *demand,
                              bool is_here) {
    const uint32_t line = get_place(inf, demand).line;
    const char *mnemonic = get_mnemonic(inf, demand->op);
    value_text text;
    if (is_here || line == 0) {
        (void)snprintf(text.chars, sizeof text.chars, "%s '%s'", is_here ? "this" : "the",
                       mnemonic);
    } else {
        (void)snprintf(text.chars, sizeof text.chars, "the '%s' of line %" PRIu32, mnemonic, line);
    }
    return text;
}

/* A consumer can have a cast of its own; of two producers the later one's result is cast. */
static void help_conflict(grout_layout_inference *inf, const grout_layout_demand *first,
                          const grout_layout_demand *second) {
    const bool is_first = !is_consumer(second) && is_consumer(first);
    const grout_layout_demand *at = is_first ? first : second;
    const value_text value = describe(inf, at->value, at->op);
    const value_text op = describe_op(inf, at, !is_first);
    const int64_t bytes = get_cast_bytes(inf, at->value);
    const value_text word = get_word(is_consumer(at) ? at : first);
    const char *kind = word.chars;
    if ((is_consumer(at) ? at : first)->kind >= GROUT_LAYOUT_COUNT) {
        grout_diags_help(inf->diags,
                         "put a relayout to the layout that is spelt out around %s%s: %" PRId64
                         " bytes through SMEM",
                         is_consumer(at) ? "the operand of " : "", op.chars, bytes);
        return;
    }
    if (value.chars[0] != '%') {
        grout_diags_help(inf->diags,
                         "put (layout_cast ... %s) around %s%s: %" PRId64 " bytes through SMEM",
                         kind, is_consumer(at) ? "the operand of " : "", op.chars, bytes);
    } else if (is_consumer(at)) {
        grout_diags_help(inf->diags,
                         "give %s (layout_cast %s %s) in place of %s: %" PRId64
                         " bytes through SMEM",
                         op.chars, value.chars, kind, value.chars, bytes);
    } else {
        grout_diags_help(
            inf->diags,
            "let (layout_cast %s %s) meet %s in place of %s itself: %" PRId64 " bytes through SMEM",
            value.chars, kind, describe(inf, first->value, at->op).chars, value.chars, bytes);
    }
}

void grout_layout__report_conflict(grout_layout_inference *inf, const grout_layout_demand *first,
                                   const grout_layout_demand *second) {
    const bool takes = is_consumer(second);
    const grout_place place = get_place(inf, second);
    inf->ok = false;
    grout_diags_add(inf->diags, GROUT_DIAG_LAYOUT_CONFLICT, place,
                    "'%s' %s %s in the layout %s, but it is %s in %s",
                    get_mnemonic(inf, second->op), takes ? "takes" : "gives",
                    describe(inf, second->value, second->op).chars, get_text(second),
                    takes ? "held" : "wanted", get_text(first));
    grout_diags_note(inf->diags, get_place(inf, first), "because '%s' %s %s in %s",
                     get_mnemonic(inf, first->op), is_consumer(first) ? "takes" : "gives",
                     describe(inf, first->value, first->op).chars, get_text(first));
    explain_path(inf, first->value, second->value);
    help_conflict(inf, first, second);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* "two dimensions, multiples of 64 and of 8": what a kind takes of a value. */
static value_text get_needs(const grout_layout_inference *inf, grout_value_id value, uint8_t kind) {
    const grout_register_layout_kind known = (grout_register_layout_kind)kind;
    const bool is_spelt = kind >= GROUT_LAYOUT_COUNT;
    const grout_register_tiling *tiling = is_spelt ? &inf->out->tilings[kind - GROUT_LAYOUT_COUNT]
                                                   : grout_register_layout_get_tiling(known);
    const uint32_t warps = inf->out->of_value[value].warps;
    const uint32_t rows =
        is_spelt ? tiling->rows : grout_register_layout_get_block_rows(known, warps);
    value_text text;
    if (known == GROUT_LAYOUT_TMEM) {
        (void)snprintf(text.chars, sizeof text.chars,
                       "two dimensions, the first a multiple of %" PRIu32 ", in a thread of four "
                       "warps",
                       rows);
    } else if (tiling == NULL) { /* of the rows, or of the columns */
        (void)snprintf(text.chars, sizeof text.chars, "one dimension, a multiple of %" PRIu32,
                       known == GROUT_LAYOUT_WGMMA_COL ? 8 : rows);
    } else if (rows == tiling->cols) {
        (void)snprintf(text.chars, sizeof text.chars, "two dimensions, multiples of %" PRIu32,
                       rows);
    } else {
        (void)snprintf(text.chars, sizeof text.chars,
                       "two dimensions, multiples of %" PRIu32 " and of %u", rows, tiling->cols);
    }
    return text;
}

void grout_layout__report_cast(grout_layout_inference *inf, const grout_op *op, uint8_t kind) {
    const grout_type *type = grout_module_get_type(inf->module, op->first_result);
    inf->ok = false;
    grout_diags_add(
        inf->diags, GROUT_DIAG_GPU_UNSUPPORTED, grout_module_get_place(inf->module, op->loc),
        "no %s can be held in the layout %s: it takes %s", grout_type__get_text(type).chars,
        grout_layout__get_text(kind), get_needs(inf, op->first_result, kind).chars);
    grout_diags_help(inf->diags, "wg_strided takes any shape");
}

void grout_layout__advise_part(grout_layout_inference *inf, const grout_op *op, int64_t bytes) {
    const grout_op_id id = grout_module_get_value(inf->module, op->first_result)->op;
    const uint32_t rows = grout_register_layout_get_block_rows(
        GROUT_LAYOUT_WGMMA, inf->out->of_value[op->first_result].warps);
    grout_diags_add(inf->diags, GROUT_DIAG_GPU_LOSS, grout_module_get_place(inf->module, op->loc),
                    "'%s' moves %s through SMEM, %" PRId64 " bytes a thread: no lane has in its "
                    "registers what the layout of %s gives it",
                    get_mnemonic(inf, id),
                    grout_module_get_value(inf->module, op->first_result)->name == 0
                        ? "elements"
                        : describe(inf, op->first_result, id).chars,
                    bytes, describe(inf, op->first_result, id).chars);
    grout_diags_help(inf->diags,
                     "of the wgmma layout, rows in multiples of %" PRIu32 " from a multiple of "
                     "%" PRIu32 " on and columns likewise by 8 stay where they are",
                     rows, rows);
}

void grout_layout__report_size(grout_layout_inference *inf, grout_value_id value, int64_t bytes) {
    const grout_value *entry = grout_module_get_value(inf->module, value);
    const char *name = grout_module_get_string(inf->module, entry->name);
    inf->ok = false;
    grout_diags_add(
        inf->diags, GROUT_DIAG_GPU_UNSUPPORTED, grout_module_get_place(inf->module, entry->loc),
        "the array%s%s of %" PRId64 " elements takes %" PRId64
        " bytes of each lane's registers; a lane has 1020, the backend takes %d",
        name[0] == '\0' ? "" : " %", name, grout_register_layouts_get(inf->out, value)->count,
        bytes, GROUT_LANE_BYTES_MAX);
    grout_diags_help(inf->diags, "work in smaller blocks, in a loop or with more threads");
}
