/* SPDX-License-Identifier: Apache-2.0 */
/* module.h - the tables of a module; private to ir/. */
#ifndef GROUT_IR_MODULE_H
#define GROUT_IR_MODULE_H

#include "array.h"
#include "grout-internal/ir.h"
#include "invariant.h"
#include "lookup.h"
#include "shared_text.h"

/* A dense table of items of one size that grows by doubling. Entry 0 is zero and never used. */
typedef struct grout_table {
    void *items;
    uint32_t count; /* entry 0 included */
    uint32_t capacity;
    uint32_t item_size;
} grout_table;

/* An empty table with its entry 0; false without memory. */
bool grout_table__init(grout_table *table, const grout_allocator *allocator, uint32_t item_size);
void grout_table__deinit(grout_table *table);
/* Appends count zeroed items; the index of the first, or 0 without memory. */
uint32_t grout_table__add(grout_table *table, uint32_t count);
/* Appends a copy of an item that does not lie in the table; its index, or 0 without memory. */
uint32_t grout_table__push(grout_table *table, const void *item);
#define GROUT_TABLE_AT(table, type, index) \
    ((type *)grout_table__at(&(table), (index), (uint32_t)sizeof(type)))

/* The item, or where the next one will be; item_size: of its type. */
static inline void *grout_table__at(const grout_table *table, uint32_t index, uint32_t item_size) {
    GROUT_ASSERT(index <= table->count && item_size == table->item_size);
    return (char *)table->items + (size_t)index * item_size;
}

/* A text that the module was parsed from. */
typedef struct grout_source {
    grout_string_id file;
    grout_shared_text *text;
} grout_source;

/* Where a statement of the file begins in its text. */
typedef struct grout_opening {
    uint32_t offset, line, column;
} grout_opening;

/* What binding adds. Tables are parallel to those of the symbolic part, by the same ids. */
typedef struct grout_bound {
    grout_expr_value *expr_values; /* by expr */
    grout_type *value_types;       /* by value */
    grout_type *object_types;      /* by object */
    grout_layout *object_layouts;
    int64_t (*object_tiles)[GROUT_RANK_MAX]; /* of each dimension; 1 without */
    grout_tiling *object_tilings;            /* of those with 'tile(infer)' */
    int64_t *object_offsets;                 /* in its space of the CTA; -1 where that is none */
    uint32_t *object_arrivals;
    uint8_t *expr_dtypes; /* by expr: dtype a constant operand takes (grout_dtype) */
    int64_t (*kernel_bytes)[GROUT_SPACE_COUNT]; /* by kernel: of a CTA */
    uint8_t *auto_fences; /* by op: an implied fence stands before it; NULL: nowhere */
    struct grout_kernel_bound {
        int64_t axis_sizes[GROUT_AXES_MAX];
        int64_t grid_size; /* CTAs: clusters times cluster_size */
        uint32_t cluster_size;
        uint32_t thread_count;
    } * kernels; /* by kernel */
} grout_bound;

/* What the index of strings has of one: enough to pass over most others, and to make a larger index
 * without a look at their bytes. */
typedef struct grout_string_entry {
    uint32_t hash;
    grout_string_id id; /* 0: free */
} grout_string_entry;

struct grout_module {
    const grout_allocator *allocator; /* of all that the module owns */
    _Atomic uint32_t owner_count;     /* its maker, and the bound modules that it is base of */
    grout_module *base; /* of a bound module: the symbolic one whose tables it has; or NULL */

    /* interned strings: bytes of all of them, NUL-terminated; offsets by id; open-addressing index
     */
    GROUT_ARRAY(char) string_bytes;
    grout_table strings; /* uint32_t offsets */
    grout_string_entry *string_index;
    uint32_t string_index_size;
    grout_lookup named; /* names.c: kernels, consts and parameters by name */

    grout_table locs;             /* grout_loc */
    grout_table exprs;            /* grout_expr */
    grout_table consts;           /* grout_const */
    grout_table requires_;        /* grout_require */
    grout_table kernels;          /* grout_kernel */
    grout_table params;           /* grout_param */
    grout_table launches;         /* grout_launch_line */
    grout_table launch_arguments; /* grout_launch_argument */
    grout_table check_lines;      /* grout_check_line */
    grout_table ops;              /* grout_op */
    grout_table operands;         /* grout_operand */
    grout_table attrs;            /* grout_attr_value */
    grout_table values;           /* grout_value */
    grout_table blocks;           /* grout_block */
    grout_table objects;          /* grout_object */
    grout_table inits;            /* grout_init */
    grout_table init_arguments;   /* grout_expr_id */
    grout_table refs;             /* grout_ref */
    grout_table ref_steps;        /* grout_ref_step */
    grout_table indices;          /* grout_index */
    grout_table types;            /* grout_written_type */
    grout_table trivia;           /* grout_trivia */
    grout_table sources;          /* grout_source */
    grout_table kernel_openings;  /* grout_opening, by kernel, of a module that was parsed */
    grout_table shared_openings;  /* grout_opening: of consts and requires */
    grout_trivia_id end_trivia;   /* comments at the end of the file */
    grout_trivia_id header_trivia;
    bool has_header; /* 'grout 1' was written */
    uint8_t surface; /* grout_surface */
    /* order of top-level items as written: kind and id */
    grout_table items; /* grout_item */

    grout_bound *bound; /* NULL: symbolic */
    bool failed;        /* a table could not grow */
};

typedef enum grout_item_kind {
    GROUT_ITEM_CONST,
    GROUT_ITEM_REQUIRE,
    GROUT_ITEM_KERNEL,
    GROUT_ITEM_LAUNCH,
    GROUT_ITEM_CHECK
} grout_item_kind;
typedef struct grout_item {
    uint32_t kind; /* grout_item_kind */
    uint32_t id;
} grout_item;

/* A new empty module, or NULL without memory. */
grout_module *grout_module__new(const grout_allocator *allocator);
/* A deep copy of the symbolic part (sources included) from the same allocator, or NULL without
 * memory. */
grout_module *grout_module__clone(const grout_module *module);
/*
 * What a bound module begins as: copies of the tables that binding changes; the others are those of
 * the symbolic one, which lasts as long and does not change any more. The allocator is for what is
 * its own. NULL without memory.
 */
grout_module *grout_module__begin_bound(grout_module *module, const grout_allocator *allocator);
/* Interns a string; 0 without memory. The empty string is id 0 too. */
grout_string_id grout_module__intern(grout_module *module, const char *bytes, size_t size);
/* The id of a string if it is interned, else 0. */
grout_string_id grout_module__find_string(const grout_module *module, const char *bytes,
                                          size_t size);
/*
 * Kernels, consts and the parameters of a kernel are found by name. owner: of one of these groups,
 * or, of a kernel's parameters, its first_param. The first of a name stays; id is not 0.
 */
#define GROUT_NAMED_KERNEL 0u
#define GROUT_NAMED_CONST  UINT32_MAX
#define GROUT_NAMED_CHECK  (UINT32_MAX - 1) /* the line of a kernel's name */
void grout_module__add_name(grout_module *module, uint32_t owner, grout_string_id name,
                            uint32_t id);
/* The id; 0: there is none of this name. */
uint32_t grout_module__find_name(const grout_module *module, uint32_t owner, grout_string_id name);
grout_loc_id grout_module__add_loc(grout_module *module, const grout_loc *loc);
/* Notes one more use of an operand's values (use_count), also inside references. */
void grout_module__count_uses(grout_module *module, const grout_operand *operand);

/* An operation to be appended to a block. The arrays are copied and lie outside the module. */
typedef struct grout_new_op {
    grout_opcode opcode;
    uint8_t flags;
    uint8_t attr_count;
    grout_loc_id loc;
    grout_block_id parent;
    const grout_operand *operands;
    uint32_t operand_count;
    const grout_attr_value *attrs; /* in table order */
    uint32_t written_type, box;
    uint32_t block_count; /* empty blocks are made for them */
} grout_new_op;

/* Appends the operation, without results, and notes the uses of its operands; 0 without memory. */
grout_op_id grout_module__add_op(grout_module *module, const grout_new_op *new_op);
/* Gives an operation that has none count unnamed results; the first, or 0 without memory. */
grout_value_id grout_module__add_results(grout_module *module, grout_op_id op, uint32_t count);
/* Gives a block count unnamed arguments of a kind; the first, or 0 without memory. */
grout_value_id grout_module__add_block_args(grout_module *module, grout_block_id block,
                                            grout_value_kind kind, uint32_t count);
/* Adds an object and links its value to it; 0 without memory. */
grout_object_id grout_module__add_object(grout_module *module, const grout_object *object);
/* Appends an argument of an init that is being made; false without memory. The first one's index is
 * the number of arguments there were before. */
bool grout_module__add_init_argument(grout_module *module, grout_expr_id argument);
/* Appends an init whose arguments are there; 0 without memory. */
grout_init_id grout_module__add_init(grout_module *module, const grout_init *init);
/* Appends an argument of a launch that is being made; then the launch, which has the
 * argument_count newest ones. */
void grout_module__add_launch_argument(grout_module *module, const grout_launch_argument *argument);
void grout_module__add_launch(grout_module *module, const grout_launch_line *launch);
void grout_module__add_check_line(grout_module *module, const grout_check_line *line);
/* One more group of axes for a cluster barrier: groups stand in the order of their lowest axes. */
void grout_object__add_group(grout_object *object, uint32_t axes);
grout_expr_id grout_module__add_expr(grout_module *module, const grout_expr *expr);
void grout_module__add_item(grout_module *module, grout_item_kind kind, uint32_t id);

#endif
