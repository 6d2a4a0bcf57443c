/*
 * parser.h - the parser from the inside: what the parse*.c files share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recursive descent over tokens with one of lookahead. A function that returns bool returns false
 * after it has reported; its caller gives up too, and the statement loop goes on at the next
 * statement. Operands, indices, attributes and names are collected on stacks, because operations
 * nest, and are copied into the module when their operation is complete.
 */
#ifndef GROUT_IR_PARSER_H
#define GROUT_IR_PARSER_H

#include "lexer.h"
#include "module.h"
#include "scope.h"
#include "suggest.h"

/* A name that a statement defines. */
typedef struct grout_parsed_name {
    grout_string_id name;
    grout_loc_id loc;
} grout_parsed_name;

/* A const that was used before it was defined, or that is not. */
typedef struct grout_late_name {
    grout_expr_id expr;
    grout_string_id name;
    bool is_in_init; /* it may be a generator, misspelt */
} grout_late_name;

/* A value that was used and is not visible there. */
typedef struct grout_unknown_value {
    grout_string_id name;
    grout_string_id suggestion; /* the nearest name that is, or 0 */
    grout_token token;
} grout_unknown_value;

/* An operand, and how deep its expression nests. */
typedef struct grout_parsed_operand {
    grout_operand operand;
    uint32_t depth;
} grout_parsed_operand;

typedef struct grout_parser {
    grout_module *module;
    grout_diags *diags;
    const char *file;
    grout_string_id file_id;
    grout_lexer lexer;
    grout_token last, token, ahead; /* consumed; to be consumed; the one after it */

    grout_scope values;  /* of the kernel */
    grout_scope consts;  /* of the file: const ids */
    grout_scope globals; /* of the file: kernel ids */
    grout_kernel_id kernel;
    grout_block_id block;
    grout_value_id first_value; /* of the kernel */
    uint32_t nesting;           /* parentheses and brackets open in this statement */

    grout_table operands, indices, attrs, names; /* stacks */
    grout_table late_names;                      /* consts used before their definition */
    grout_table unknown_values;                  /* reported at the end of the kernel */

    bool constants_only; /* no run-time values in this expression */
    bool is_in_init;     /* between the parentheses of 'init(..)' */
    bool has_error;
    bool takes_notes;  /* the newest error was added, so notes on it may follow */
    bool is_stopped;   /* no memory, or a limit of the whole file: the rest is not read */
    bool is_unwinding; /* a brace is missing, and that has been said */
} grout_parser;

/* An operation while it is parsed. */
typedef struct grout_parsed_op {
    grout_opcode opcode;
    const grout_op_info *info;
    grout_token token; /* its mnemonic */
    grout_loc_id loc;
    uint32_t first_operand, first_attr, first_name; /* on the stacks */
    uint32_t written_type, box;
    uint32_t depth;
    grout_string_id lead;
    uint64_t report_count; /* diagnostics there were before it */
} grout_parsed_op;

/* ---- parser.c: tokens, reports, names, trivia ------------------------------------------------ */

void grout_parser__advance(grout_parser *p);
bool grout_parser__is_word(const grout_parser *p, const grout_token *token, const char *word);
/* Consumes a token of this kind, else says that 'what' was expected. */
bool grout_parser__expect(grout_parser *p, grout_token_kind kind, const char *what);
bool grout_parser__expect_word(grout_parser *p, const char *word);
/* Consumes the token if it is of this kind. */
bool grout_parser__accept(grout_parser *p, grout_token_kind kind);
/* Reports 'expected what, found ...' at the next token, or at the end of the line before it; false.
 */
bool grout_parser__expected(grout_parser *p, const char *what);
/* The same where the name of a value is expected: the report says so of a name without its '%'. */
bool grout_parser__expected_value(grout_parser *p, const char *what);
/* The same as expected, always at the next token: where something could have ended. */
bool grout_parser__unexpected(grout_parser *p, const char *what);
/* Reports at a token; false. */
bool grout_parser__error(grout_parser *p, const grout_token *token, grout_diag_code code,
                         const char *format, ...) GROUT_PRINTF(4, 5);
bool grout_parser__error_at(grout_parser *p, grout_loc_id loc, grout_diag_code code,
                            const char *format, ...) GROUT_PRINTF(4, 5);
/* A note on the newest error, or a remedy for it. */
void grout_parser__note(grout_parser *p, grout_loc_id loc, const char *format, ...)
    GROUT_PRINTF(3, 4);
void grout_parser__help(grout_parser *p, const char *format, ...) GROUT_PRINTF(2, 3);
bool grout_parser__not_yet(grout_parser *p, const grout_token *token, grout_diag_code code);
/* Ends the parsing: no memory, or (after a report) a limit of the file. */
void grout_parser__stop(grout_parser *p);
/* Whether memory ran out; if so the parsing has been ended. */
bool grout_parser__is_out_of_memory(grout_parser *p);
/* Whether the next token starts a statement, seen from the middle of another one. */
bool grout_parser__at_statement(const grout_parser *p);
/* Whether a token at the start of a line begins a top-level item. */
bool grout_parser__at_item(const grout_parser *p);
/* Goes one parenthesis deeper; false if that is too deep. Leave with p->nesting--. */
bool grout_parser__nest(grout_parser *p);
/* Appends to a stack. */
void grout_parser__push(grout_parser *p, grout_table *stack, const void *item);

grout_place grout_parser__get_place(const grout_parser *p, const grout_token *token);
grout_loc_id grout_parser__add_loc(grout_parser *p, const grout_token *token);
/* The name in a NAME, VALUE or KERNEL token, without its sign. */
grout_string_id grout_parser__intern(grout_parser *p, const grout_token *token);
/* "help: did you mean 'word'?" for the diagnostic just made, unless word is NULL. */
void grout_parser__suggest(grout_parser *p, const char *sign, const char *word);

/* The comments and the blank line before the next token, as the lead of an item. */
grout_string_id grout_parser__take_lead(grout_parser *p, bool is_first);
/* The trivia of an item that has just been consumed: its lead, comments inside it, its tail. */
grout_trivia_id grout_parser__end_item(grout_parser *p, grout_string_id lead);
/* The comment at the end of the line that the last token stands on, or 0. */
grout_string_id grout_parser__take_tail(grout_parser *p);

/* Parses a string literal. */
bool grout_parser__string(grout_parser *p, grout_string_id *id_out);

/* ---- keywords.c -------------------------------------------------------------------------------
 */

typedef enum grout_word_kind {
    GROUT_WORD_FREE,    /* may name a const or an axis */
    GROUT_WORD_KEYWORD, /* of the grammar, or a mnemonic, type, space, attribute or function */
    GROUT_WORD_NOT_YET  /* reserved for what is not built yet */
} grout_word_kind;
grout_word_kind grout_word__get_kind(const char *text, size_t size);

/* What a name of later.def needs. */
typedef enum grout_needs {
    GROUT_NEEDS_BLACKWELL,
    GROUT_NEEDS_GPUS,
    GROUT_NEEDS_PIPELINES,
    GROUT_NEEDS_FACTS,
    GROUT_NEEDS_WORK
} grout_needs;
typedef struct grout_later {
    const char *text;
    grout_needs needs;
    grout_word_kind kind; /* FREE or NOT_YET */
    const char *instead;  /* a sentence of help, or "" */
} grout_later;
/* The line of later.def that the word has, or NULL. */
const grout_later *grout_word__find_later(const char *text, size_t size);

/* ---- parse_expr.c, parse_ref.c, parse_type.c, parse_object.c, parse_init.c ---------------------
 */

/* Any operand: a value, reference, literal, nested operation or expression. */
bool grout_parser__operand(grout_parser *p, grout_parsed_operand *out);
/* The same, but no reference. */
bool grout_parser__scalar(grout_parser *p, grout_parsed_operand *out);
/* A constant expression. */
bool grout_parser__constant(grout_parser *p, grout_expr_id *id_out);
/* '(' constants ')': at most max of them into ids; the number, or 0 after a report. */
uint32_t grout_parser__constants(grout_parser *p, grout_expr_id *ids, uint32_t max,
                                 grout_token_kind close);
/* A value with the indices and views after it. */
bool grout_parser__reference(grout_parser *p, grout_parsed_operand *out);
/* An array value with the indices after it, the step *box_out of the module. */
bool grout_parser__boxed(grout_parser *p, grout_parsed_operand *out, uint32_t *box_out);
/* What the name of a value means; unknown names are noted, and are value 0. */
grout_value_id grout_parser__find_value(grout_parser *p, const grout_token *token);
void grout_parser__report_unknown_values(grout_parser *p);

bool grout_parser__dtype(grout_parser *p, grout_dtype *dtype_out);
/* dtype, or dtype[dims]. */
bool grout_parser__type(grout_parser *p, grout_written_type *type_out);
/* What stands after the ':' of a scratch or scoped object. */
bool grout_parser__object(grout_parser *p, grout_object *object_out);
/* 'init(..)', if it stands next. */
bool grout_parser__init(grout_parser *p, grout_init_id *id_out);
/* Offers the words of the generators. */
void grout_parser__offer_generators(grout_suggestion *suggestion);

/* ---- parse_op.c, parse_operands.c --------------------------------------------------------------
 */

/* Consumes a mnemonic. */
bool grout_parser__begin_op(grout_parser *p, grout_parsed_op *op);
/* Helps where an infix expression stands in the place of an operation: names the operation. False:
 * there is none. */
bool grout_parser__help_infix(grout_parser *p);
/* An operation after its opening parenthesis, through the closing one. */
bool grout_parser__nested_op(grout_parser *p, grout_parsed_operand *out);
/* "" for 1, else "s". */
const char *grout_parser__get_plural(uint32_t count);
/* "help: it is written: ..." for the diagnostic just made. */
void grout_parser__help_form(grout_parser *p, grout_opcode opcode);
/* Reports at token that the op has 'found' operands (or more); false. */
bool grout_parser__report_count(grout_parser *p, const grout_parsed_op *op,
                                const grout_token *token, uint32_t found);
/* Operands by the op's form, attributes, type. */
bool grout_parser__op_body(grout_parser *p, grout_parsed_op *op);
/* The attributes that stand next. */
bool grout_parser__attrs(grout_parser *p, const grout_parsed_op *op);

/* ---- parse_make.c ------------------------------------------------------------------------------
 */

/* Appends an operation with its results, unless there are too many already; 0 then. */
grout_op_id grout_parser__add_op(grout_parser *p, const grout_new_op *new_op,
                                 uint32_t result_count);
/* Appends a complete operation to the block and takes its parts off the stacks. */
grout_op_id grout_parser__emit(grout_parser *p, const grout_parsed_op *op, uint32_t block_count);
/* Names and makes visible count values, by the names on the stack from first_name on. */
void grout_parser__bind_names(grout_parser *p, uint32_t first_name, grout_value_id first_value);

/* ---- parse_statement.c, parse_region.c ---------------------------------------------------------
 */

/* Parses one statement of a block; goes on after it even if it has a fault. */
void grout_parser__statement(grout_parser *p, bool is_first);
bool grout_parser__for(grout_parser *p, grout_parsed_op *op);
bool grout_parser__while(grout_parser *p, grout_parsed_op *op);
bool grout_parser__if(grout_parser *p, grout_parsed_op *op);
bool grout_parser__scoped(grout_parser *p, grout_parsed_op *op);
bool grout_parser__warp_map(grout_parser *p, grout_parsed_op *op);
bool grout_parser__warp_specialize(grout_parser *p, grout_parsed_op *op);
/* The statements of a block after its opening brace, through the closing one. */
void grout_parser__block(grout_parser *p, grout_block_id block);
/* Consumes the opening brace of a block. */
void grout_parser__open_block(grout_parser *p, grout_block_id block);

/* ---- parse_axis.c ------------------------------------------------------------------------------
 */

/* The name of an axis of the kernel, or of a cluster axis: its index. */
bool grout_parser__axis(grout_parser *p, bool cluster_only, uint32_t *index_out);
/* '(' cluster axes ')': bit i for axis i. */
bool grout_parser__axis_set(grout_parser *p, uint8_t *set_out);
/* '(' cluster axes, some grouped in parentheses ')' of a barrier. */
bool grout_parser__axis_groups(grout_parser *p, grout_object *object);

/* ---- parse_header.c ----------------------------------------------------------------------------
 */

/* Axes and attributes of a kernel, to the brace of its body. */
bool grout_parser__kernel_header(grout_parser *p);
/* Whether the word may name a const or an axis; what is "a const" or "an axis". */
bool grout_parser__check_free(grout_parser *p, const grout_token *token, const char *what);
/* Reports that a name is defined twice. */
void grout_parser__report_duplicate(grout_parser *p, const grout_token *token, grout_loc_id first);
/* After a fault inside parentheses: goes to the ',' or ')' that ends the part. */
void grout_parser__skip_part(grout_parser *p);

/* ---- parse_item.c ------------------------------------------------------------------------------
 */

/* Parses consts, requires and kernels to the end of the text. */
/* One item: a const, a require, a kernel or a launch. */
bool grout_parser__item(grout_parser *p, grout_string_id lead);
void grout_parser__items(grout_parser *p);

#endif
