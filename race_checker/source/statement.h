/*
 * statement.h - where the statement of an op stands in its file, for edits; private to
 * race_checker/.
 *
 * An edit puts lines between lines, so it needs statements that begin a line of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_STATEMENT_H
#define GROUT_RACE_CHECKER_STATEMENT_H

#include "array.h"
#include "lookup.h"

#include "grout-internal/ir.h"

/* How far the ops of a block have come when one of them ends. */
typedef struct grout_block_line {
    grout_op_id previous; /* the statement before; 0: there is none */
    uint32_t last; /* the last line on which an op up to this one stands, or a brace of its */
} grout_block_line;

/* The lines of those blocks that were asked about, so that many findings look at each block once.
 * Zeroed but for module and by_op.allocator, it is empty. */
typedef struct grout_line_table {
    const grout_module *module;
    grout_lookup by_op; /* the line, plus 1 */
    GROUT_ARRAY(grout_block_line) all;
    bool has_failed; /* there was no memory: spots are missing */
} grout_line_table;

void grout_line_table__deinit(grout_line_table *table);

/* A line to insert at. */
typedef struct grout_spot {
    grout_place place; /* file NULL: there is none */
    bool is_after;     /* else before the line */
} grout_spot;

/* The op that begins the statement: an op that stands in another's operands belongs to that. */
grout_op_id grout_statement__find(const grout_module *module, grout_op_id op);
/* The spot before a statement; none if something else stands on its line before it. */
grout_spot grout_statement__get_before(grout_line_table *table, grout_op_id statement);
/* The spot after it; none if nothing can stand there: it owns a block, or ends a
 * block. */
grout_spot grout_statement__get_after(grout_line_table *table, grout_op_id statement);
/* The spot before the closing brace of a block. */
grout_spot grout_block__get_end(grout_line_table *table, grout_block_id block);
/* The op around it; 0: none. */
grout_op_id grout_op__get_parent(const grout_module *module, grout_op_id op);
/* The object that an operand of the op names; 0: it has no such operand, or that names none. */
grout_object_id grout_op__find_object(const grout_module *module, const grout_op *op,
                                      uint32_t operand);
/* Accesses that arrive, a bit for each kind. */
enum { GROUT_ACCESSES_ARRIVE = 1u << GROUT_ACCESS_ARRIVE | 1u << GROUT_ACCESS_SIGNAL };

/* Whether the op has an effect of these kinds (bits of grout_access_kind) on the object. Its
 * effects say which operand that would be. */
bool grout_op__has_effect_on(const grout_module *module, const grout_op *op, grout_object_id object,
                             uint32_t kinds);
/* Whether the op arrives on the barrier object. */
bool grout_op__arrives_on(const grout_module *module, const grout_op *op, grout_object_id object);
/* The op that makes the mbarriers of an object, with the number of their arrivals; 0: none does. */
grout_op_id grout_object__find_init(const grout_module *module, grout_object_id object);
/* The line that says how many arrivals a phase takes: of its init, or of its name. */
uint32_t grout_object__get_count_line(const grout_module *module, grout_object_id object);
/* Whether the op stands in the kernel. */
bool grout_op__is_in_kernel(const grout_module *module, grout_op_id op, grout_kernel_id kernel);
/* The innermost loop around it, a for or a while; 0: none. */
grout_op_id grout_op__get_loop(const grout_module *module, grout_op_id op);
/* Whether it is a loop whose index counts: its first operands are low, high and step. */
bool grout_op__is_counted_loop(const grout_op *op);
/* The loop that goes round until the op finds something else: a while in whose condition it stands;
 * 0: none. */
grout_op_id grout_op__find_poll(const grout_module *module, grout_op_id op);
/* The n of an op that lets this many groups stay in flight, as an operand or an attribute; 0: it
 * has none written. */
grout_expr_id grout_op__find_allowed(const grout_module *module, const grout_op *op);

/* ---- where one op stands, seen from another ---- */

typedef enum grout_reach {
    GROUT_REACH_AHEAD,        /* a thread that stands there would still come to it */
    GROUT_REACH_NEXT_ROUND,   /* in the next iteration of a loop around both */
    GROUT_REACH_OTHER_BRANCH, /* in the other branch of an if, or another partition */
    GROUT_REACH_PASSED        /* before it, and no loop leads back */
} grout_reach;

typedef struct grout_reach_fact {
    grout_reach kind;
    grout_op_id
        through; /* OTHER_BRANCH: the op of both; else the outermost op between them, or 0 */
} grout_reach_fact;

grout_reach_fact grout_op__find_reach(const grout_module *module, grout_op_id stand,
                                      grout_op_id goal);

#endif
