/* unreached.c - what the runs of a kernel did not come to, from what they did.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A block of code has run if any operation in it has done something that others can see: without
 * such an operation it has no part in the verdict. Barriers, buffers and loops are asked for where
 * other sizes may use them again: in a loop whose number of turns is not written as a number. A
 * loop that ran once explains the barriers in it that never came round, and a barrier the buffers
 * that are filled for it; what is explained so is not said twice: the barrier is said, then the
 * buffer, then the loop.
 */
#include "reach.h"

#include "array.h"

/* ---- code that never ran -------------------------------------------------------------------- */

/* Whether an op shows that it has run. */
static bool is_seen(const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    grout_effect_class class_ = grout_effect_row_get_class((grout_effect_row)info->effect_row);
    uint32_t count = 0;
    (void)grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    return op->block_count == 0 && count > 0 &&
           (class_ == GROUT_EFFECT_ACCESS || class_ == GROUT_EFFECT_ASYNC ||
            class_ == GROUT_EFFECT_SYNC || class_ == GROUT_EFFECT_BLOCKING);
}

/* What stands in a block and all inside it. */
typedef struct contents {
    bool has_run;  /* some op has */
    bool has_seen; /* there are ops that show it */
    grout_lines lines;
} contents;

static void add_line(contents *in, uint32_t line) {
    in->lines.first = in->lines.first == 0 || line < in->lines.first ? line : in->lines.first;
    in->lines.last = line > in->lines.last ? line : in->lines.last;
}

static contents look_into(const grout_reach *reach, grout_block_id block) {
    const grout_module *module = reach->module;
    contents in = {0};
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        in.has_run |= grout_reach__get_op(reach, id)->has_run;
        in.has_seen |= is_seen(op);
        add_line(&in, grout_module_get_place(module, op->loc).line);
        for (uint32_t i = 0; i < op->block_count; i++) {
            contents inner = look_into(reach, op->first_block + i);
            in.has_run |= inner.has_run;
            in.has_seen |= inner.has_seen;
            add_line(&in, inner.lines.last);
        }
    }
    return in;
}

static bool add_lines(grout_reach *reach, grout_lines lines) {
    grout_lines *last =
        reach->lines.count == 0 ? NULL : &reach->lines.items[reach->lines.count - 1];
    if (last != NULL && lines.first <= last->last + 1) {
        last->last = lines.last > last->last ? lines.last : last->last;
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&reach->lines, NULL, 1)) {
        return false;
    }
    reach->lines.items[reach->lines.count++] = lines;
    return true;
}

/* The outermost blocks of those that never ran. */
static bool find_lines(grout_reach *reach, grout_block_id block) {
    const grout_module *module = reach->module;
    bool is_good = true;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && is_good; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        for (uint32_t i = 0; i < op->block_count && is_good; i++) {
            contents in = look_into(reach, op->first_block + i);
            if (in.has_seen && !in.has_run) {
                is_good = add_lines(reach, in.lines);
            } else if (in.has_seen) {
                is_good = find_lines(reach, op->first_block + i);
            }
        }
    }
    return is_good;
}

/* ---- barriers that never came round --------------------------------------------------------- */

static bool is_number(const grout_reach *reach, const grout_operand *operand) {
    return operand->kind == GROUT_OPERAND_EXPR &&
           grout_module_get_expr(reach->module, operand->id)->kind == GROUT_EXPR_INT;
}

/* Whether the turns of a loop are not written as numbers: other sizes or inputs make other ones. */
static bool is_open_loop(const grout_reach *reach, const grout_op *op) {
    if (op->block_count == 0 || grout_op_get_region_kind(op) != GROUT_REGION_LOOP) {
        return false;
    }
    uint32_t bounds = grout_op_get_region((grout_opcode)op->opcode)->lead_operands;
    for (uint32_t i = 0; i < bounds && i < op->operand_count; i++) {
        if (!is_number(reach, grout_module_get_operand(reach->module, op, i))) {
            return true;
        }
    }
    return bounds == 0;
}

static bool holds(const grout_reach *reach, const grout_block *block, grout_object_id object) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        if (grout_module_get_value(reach->module, block->first_arg + i)->object == object) {
            return true;
        }
    }
    return false;
}

/* Whether a reference is another place at each turn of a loop: its index is one of the summands of
 * a start. */
static bool is_spread(const grout_reach *reach, const grout_op *loop, const grout_view *view) {
    if (grout_op_get_region((grout_opcode)loop->opcode)->lead_args == 0) {
        return false;
    }
    grout_value_id index = grout_module_get_block(reach->module, loop->first_block)->first_arg;
    for (uint32_t d = 0; d < view->rank; d++) {
        for (uint32_t i = 0; i < view->start_term_count[d]; i++) {
            if (view->start_terms[d][i] == index) {
                return true;
            }
        }
    }
    return false;
}

/* Whether another turn of a loop would fill the same part of a buffer again. If the loop went round
 * and the buffer was filled once, that one copy is for one turn of it. */
static bool may_refill(const grout_reach *reach, grout_op_id loop, const grout_view *view) {
    return !is_spread(reach, grout_module_get_op(reach->module, loop), view) &&
           (*grout_reach__get_use(reach, view->object) == GROUT_REACH_SPREAD ||
            !grout_reach__get_op(reach, loop)->has_turned);
}

/* Whether an op is in an open loop inside the life of the object that it refers to; refills: in one
 * that may refill it. The innermost while around a test asks again and again for one phase: it does
 * not count. */
static bool is_in_loop(const grout_reach *reach, const grout_op *op, const grout_view *view,
                       bool refills) {
    bool is_asking = op->result_count > 0;
    for (;;) {
        const grout_block *block = grout_module_get_block(reach->module, op->parent);
        if (block->parent == 0 || holds(reach, block, view->object)) {
            return false;
        }
        op = grout_module_get_op(reach->module, block->parent);
        bool is_while =
            op->block_count > 0 && grout_op_get_region((grout_opcode)op->opcode)->blocks == 2;
        if (is_while && is_asking) {
            is_asking = false;
        } else if (is_open_loop(reach, op) &&
                   (!refills || may_refill(reach, block->parent, view))) {
            return true;
        }
    }
}

static bool has_object(const grout_reach_objects *list, grout_object_id object) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == object) {
            return true;
        }
    }
    return false;
}

static bool add_object(grout_reach_objects *list, grout_object_id object) {
    if (has_object(list, object)) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(list, NULL, 1)) {
        return false;
    }
    list->items[list->count++] = object;
    return true;
}

/* The view that an effect of an op is on; false: it is on none. */
static bool find_view(const grout_reach *reach, const grout_op *op, const grout_effect *effect,
                      grout_view *out) {
    return effect->operand < op->operand_count &&
           grout_module_get_view(reach->module,
                                 grout_module_get_operand(reach->module, op, effect->operand), out);
}

static bool is_barrier(const grout_reach *reach, grout_object_id object) {
    return grout_module_get_object(reach->module, object)->kind == GROUT_OBJECT_BARRIER;
}

/* The barriers that an op waits for and that have not come round. */
static bool find_barriers_of(grout_reach *reach, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    uint32_t count;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    bool is_good = true;
    for (uint32_t i = 0; i < count && is_good; i++) {
        grout_view view;
        if (effects[i].space == GROUT_EFFECT_SPACE_BARRIER &&
            effects[i].access == GROUT_ACCESS_WAIT && find_view(reach, op, &effects[i], &view) &&
            is_barrier(reach, view.object) && *grout_reach__get_phases(reach, view.object) == 1 &&
            is_in_loop(reach, op, &view, false)) {
            is_good = add_object(&reach->barriers, view.object);
        }
    }
    return is_good;
}

/* ---- buffers that were never used again ----------------------------------------------------- */

/* Whether a barrier of the op has never come round: that says the same. */
static bool has_listed_barrier(const grout_reach *reach, const grout_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        grout_view view;
        if (grout_module_get_view(reach->module, grout_module_get_operand(reach->module, op, i),
                                  &view) &&
            has_object(&reach->barriers, view.object)) {
            return true;
        }
    }
    return false;
}

/* The buffers that an op fills, some time later, and that were filled once. */
static bool find_buffers_of(grout_reach *reach, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    uint32_t count;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    bool is_good = true;
    for (uint32_t i = 0; i < count && is_good; i++) {
        grout_view view;
        if (effects[i].access == GROUT_ACCESS_WRITE &&
            effects[i].milestone != GROUT_MILESTONE_ISSUE &&
            find_view(reach, op, &effects[i], &view) &&
            *grout_reach__get_use(reach, view.object) != GROUT_REACH_UNUSED &&
            *grout_reach__get_use(reach, view.object) != GROUT_REACH_REUSED &&
            is_in_loop(reach, op, &view, true) && !has_listed_barrier(reach, op)) {
            is_good = add_object(&reach->buffers, view.object);
        }
    }
    return is_good;
}

/* ---- loops that went round once ------------------------------------------------------------- */

/* Whether each turn of a block shows: an op in it, not one inside a branch, has been seen. */
static bool shows_turns(const grout_reach *reach, grout_block_id block) {
    const grout_module *module = reach->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        bool is_plain = op->block_count == 0 && grout_reach__get_op(reach, id)->has_run;
        bool is_scope = op->block_count > 0 && grout_op_get_region_kind(op) == GROUT_REGION_SCOPE &&
                        shows_turns(reach, op->first_block);
        if (is_plain || is_scope) {
            return true;
        }
    }
    return false;
}

/* What the ops of a loop refer to. */
typedef struct references {
    bool has_listed; /* a barrier or a buffer that is said to have been used once */
    bool has_again;  /* a place that the next turn refers to again: not in GMEM, which rarely is one
                      */
} references;

static void look_at(const grout_reach *reach, const grout_op *loop, const grout_view *view,
                    references *out) {
    const grout_object *object = grout_module_get_object(reach->module, view->object);
    out->has_listed |=
        has_object(&reach->barriers, view->object) || has_object(&reach->buffers, view->object);
    out->has_again |= object->space != GROUT_SPACE_GMEM && !is_spread(reach, loop, view);
}

static void find_references(const grout_reach *reach, const grout_op *loop, grout_block_id block,
                            references *out) {
    const grout_module *module = reach->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        for (uint32_t i = 0; i < op->operand_count; i++) {
            grout_view view;
            if (grout_module_get_view(module, grout_module_get_operand(module, op, i), &view)) {
                look_at(reach, loop, &view, out);
            }
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            find_references(reach, loop, op->first_block + i, out);
        }
    }
}

/* A while is left out: how often it asks is up to the schedule. */
static bool find_loops_of(grout_reach *reach, grout_op_id id, const grout_op *op) {
    const grout_reach_op *at = grout_reach__get_op(reach, id);
    if (op->block_count != 1 || !is_open_loop(reach, op) || at->has_turned ||
        at->depth >= GROUT_ORIGIN_LOOPS || !shows_turns(reach, op->first_block)) {
        return true;
    }
    references in = {0};
    find_references(reach, op, op->first_block, &in);
    if (in.has_listed || !in.has_again) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&reach->loops, NULL, 1)) {
        return false;
    }
    reach->loops.items[reach->loops.count++] = grout_module_get_place(reach->module, op->loc).line;
    return true;
}

/* ---- the answer ----------------------------------------------------------------------------- */

typedef enum question { ASK_BARRIERS, ASK_BUFFERS, ASK_LOOPS } question;

/* Asks all ops of a block. */
static bool ask(grout_reach *reach, grout_block_id block, question what) {
    const grout_module *module = reach->module;
    bool is_good = true;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && is_good; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        is_good = what == ASK_BARRIERS  ? find_barriers_of(reach, op)
                  : what == ASK_BUFFERS ? find_buffers_of(reach, op)
                                        : find_loops_of(reach, id, op);
        for (uint32_t i = 0; i < op->block_count && is_good; i++) {
            is_good = ask(reach, op->first_block + i, what);
        }
    }
    return is_good;
}

bool grout_reach__find(grout_reach *reach) {
    grout_block_id body = grout_module_get_kernel(reach->module, reach->kernel)->body;
    reach->lines.count = reach->barriers.count = reach->buffers.count = reach->loops.count = 0;
    return find_lines(reach, body) && ask(reach, body, ASK_BARRIERS) &&
           ask(reach, body, ASK_BUFFERS) && ask(reach, body, ASK_LOOPS);
}

bool grout_reach__is_whole(const grout_reach *reach) {
    grout_lack lack = grout_reach__measure(reach);
    return grout_lack__is_none(&lack);
}

grout_lack grout_reach__measure(const grout_reach *reach) {
    grout_lack lack = {
        .barriers = reach->barriers.count,
        .buffers = reach->buffers.count,
        .loops = reach->loops.count,
    };
    for (size_t i = 0; i < reach->lines.count; i++) {
        lack.lines += reach->lines.items[i].last - reach->lines.items[i].first + 1;
    }
    return lack;
}

bool grout_lack__is_none(const grout_lack *lack) {
    return lack->lines == 0 && lack->barriers == 0 && lack->buffers == 0 && lack->loops == 0;
}

bool grout_lack__is_less(const grout_lack *lack, const grout_lack *other) {
    uint64_t uses = lack->barriers + lack->buffers + lack->loops;
    uint64_t others = other->barriers + other->buffers + other->loops;
    return lack->lines <= other->lines && uses <= others &&
           (lack->lines < other->lines || uses < others);
}

static void describe_objects(const grout_reach *reach, const grout_reach_objects *list,
                             const char *what, grout_text *out) {
    for (size_t i = 0; i < list->count; i++) {
        const grout_object *object = grout_module_get_object(reach->module, list->items[i]);
        const grout_value *value = grout_module_get_value(reach->module, object->value);
        grout_text_add(out, "%s%%%s", i > 0 ? ", " : "",
                       grout_module_get_string(reach->module, value->name));
    }
    if (list->count > 0) {
        grout_text_add(out, " %s", what);
    }
}

static void describe_lines(const grout_reach *reach, grout_text *out) {
    for (size_t i = 0; i < reach->lines.count; i++) {
        grout_lines lines = reach->lines.items[i];
        bool is_one = lines.first == lines.last;
        bool is_only = reach->lines.count == 1 && is_one;
        grout_text_add(out, i > 0 ? ", " : is_only ? "line " : "lines ");
        grout_text_add(out, is_one ? "%u" : "%u-%u", lines.first, lines.last);
    }
}

static void describe_loops(const grout_reach *reach, grout_text *out) {
    for (size_t i = 0; i < reach->loops.count; i++) {
        bool is_only = reach->loops.count == 1;
        grout_text_add(out, i > 0 ? ", " : is_only ? "the loop at line " : "the loops at lines ");
        grout_text_add(out, "%u", reach->loops.items[i]);
    }
    grout_text_add(out, reach->loops.count > 0 ? " ran once" : "");
}

void grout_reach__describe(const grout_reach *reach, grout_text *out) {
    grout_text parts[4] = {{0}, {0}, {0}, {0}};
    const char *separator = "";
    describe_lines(reach, &parts[0]);
    describe_objects(reach, &reach->barriers, "never came round", &parts[1]);
    describe_objects(reach, &reach->buffers, "never filled again", &parts[2]);
    describe_loops(reach, &parts[3]);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].size > 0) {
            grout_text_add(out, "%s%s", separator, parts[i].data);
            separator = "; ";
        }
        grout_text_free(&parts[i]);
    }
}
