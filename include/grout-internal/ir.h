/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir.h - the kernel IR in memory, beside what programs read of it (module.h): what passes,
 * interpreter, checker and backend read.
 */
#ifndef GROUT_INTERNAL_IR_H
#define GROUT_INTERNAL_IR_H

#include "grout-internal/expr.h"
#include "grout-internal/layout.h"
#include "grout-internal/tables.h"
#include "grout-internal/type.h"
#include "grout/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of the language, each with a test at the limit and one past it. */
#define GROUT_NESTING_MAX    256         /* blocks and parentheses inside each other */
#define GROUT_NAME_MAX       255         /* bytes of a name */
#define GROUT_OPS_MAX        (1u << 24)  /* operations of a module */
#define GROUT_FILE_MAX       (64u << 20) /* bytes of a file */
#define GROUT_WARPS          4          /* warps of a thread, unless 'partition_warps' says fewer */
#define GROUT_CLUSTER_MAX    16         /* CTAs of a cluster; more than 8 is not portable */
#define GROUT_PAIR           2          /* CTAs of a pair, which share the tensor core's work */
#define GROUT_NAMED_IDS      15         /* named barriers; each thread of a CTA takes one */
#define GROUT_NAMED_MAX      14         /* those left to a kernel of one thread */
#define GROUT_WARP_LANES     32         /* CUDA threads of a warp */
#define GROUT_ARRAY_MAX      (1u << 20) /* elements of a register array */
#define GROUT_DIM_MAX        INT32_MAX  /* one dimension: indices are i32 */
#define GROUT_GMEM_MAX       (1ll << 40) /* bytes of a gmem array */
#define GROUT_SMEM_MAX       (1ll << 32) /* bytes of an smem object, before any budget is checked */
#define GROUT_UNROLL_MAX     256         /* copies of a loop body */
#define GROUT_SEMAPHORES_MAX (1u << 20)  /* semaphores of an array */
#define GROUT_INIT_MAX       (1u << 16)  /* elements listed in an init */
#define GROUT_TEXT_VERSION   1           /* the N of a 'grout N' header */
/* Functions that a module calls by name, and what one of them is given. */
#define GROUT_EXTERNS_MAX      64
#define GROUT_PTX_MAX          1024       /* characters of an inline_ptx */
#define GROUT_LAUNCHES_MAX     64         /* lines of a launch list */
#define GROUT_CHECK_VALUES_MAX 8          /* that a debug_check shows */
#define GROUT_DELAY_MAX        1000000000 /* nanoseconds of a delay */

typedef struct grout_require {
    grout_expr_id expr;
    grout_string_id text;
    grout_loc_id loc;
    grout_trivia_id trivia;
} grout_require;
/* This many frames around a place are shown with it. */
enum { GROUT_CALLERS_MAX = 8 };

/* Comments and blank lines, kept for the printer. */
typedef struct grout_trivia {
    grout_string_id lead; /* whole-line comments before it, one per line; "" is a blank line */
    grout_string_id tail; /* comment at the end of the item's line, with its slashes */
} grout_trivia;

/* 'init(..)': what a parameter, or a gmem scratch, holds unless the caller brings its own. */
typedef struct grout_init {
    uint8_t kind; /* grout_generator_kind */
    grout_loc_id loc;
    uint32_t first; /* into the module's table of arguments */
    uint32_t count; /* of a generator: as in generators.def; VALUE: 1; LIST: the elements */
} grout_init;

enum {
    GROUT_OP_FLAG_INFIX = 1 /* written infix (or as a call) inside an index expression */
};

/* Whether a kernel may write a parameter of this direction: it is an array, 'out' or 'inout'. */
static inline bool grout_direction_is_written(uint8_t direction) {
    return direction == GROUT_DIRECTION_OUT || direction == GROUT_DIRECTION_INOUT;
}

/*
 * A line of the launch list, 'launch @k(%x, %y) dependent'. The lines of a file run in their order,
 * and an array of one name is the same array in all of them.
 */
typedef struct grout_launch_line {
    grout_string_id kernel_name;
    grout_loc_id loc;                        /* of the kernel's name */
    uint32_t first_argument, argument_count; /* of the module's table: grout_launch_argument */
    bool is_dependent; /* it may begin before the one before has ended (griddepcontrol_wait) */
    grout_trivia_id trivia;
} grout_launch_line;

typedef struct grout_launch_argument {
    grout_string_id name; /* without '%' */
    grout_loc_id loc;
} grout_launch_argument;

/*
 * 'check @k against @r rtol(..) atol(..)': what a check of @k compares its results with. @r is
 * given the inputs of @k, by their names.
 */
typedef struct grout_check_line {
    grout_string_id kernel_name, reference_name;
    grout_loc_id kernel_loc, reference_loc; /* of the names */
    grout_expr_id rtol, atol;               /* 0: not written, bit for bit */
    grout_trivia_id trivia;
} grout_check_line;

/* A reference with its indices resolved: a box of an object. In each dimension of the object it
 * starts at start_const plus the sum of the start_terms values (i32); the extent is plain. */
#define GROUT_VIEW_TERMS_MAX   4
#define GROUT_CLUSTER_AXES_MAX 4
typedef struct grout_view {
    grout_object_id object;
    grout_value_id base;
    uint8_t rank;      /* of the object */
    uint8_t view_rank; /* of the reference: dimensions that were not indexed away */
    /* Elements in a byte, of a type of 4 bits, else 1. In the last dimension of such an object,
     * which is the last one of the reference too, extent and start_const count these bytes, and so
     * do the layout's digits; start_terms count elements, and are multiples of it. */
    uint8_t packed;
    uint8_t view_dim[GROUT_RANK_MAX]; /* by dimension of the reference: that of the object */
    uint8_t order[GROUT_RANK_MAX]; /* all dimensions of the object: squeezed ones, then view_dim */
    bool is_squeezed[GROUT_RANK_MAX];
    int64_t extent[GROUT_RANK_MAX];
    int64_t start_const[GROUT_RANK_MAX];
    uint8_t start_term_count[GROUT_RANK_MAX];
    grout_value_id start_terms[GROUT_RANK_MAX][GROUT_VIEW_TERMS_MAX];
    /* '.cluster(..)': the CTA that it lies in, by its place on each cluster axis, in axis order;
     * 0: the own one. VALUE (an i32) or EXPR operands. */
    uint8_t cluster_index_count;
    grout_operand cluster_index[GROUT_CLUSTER_AXES_MAX];
    /* The descriptor that it goes through; 0: none. Starts count from the beginning of the array,
     * also where the descriptor is of a part (make_tensor_descriptor). */
    grout_value_id descriptor;
} grout_view;
/* What the module was made with (alloc.h); NULL: libc. */
const grout_allocator *grout_module_get_allocator(const grout_module *module);
/* grout_module_bind, but the new module has an allocator of its own: a limit on one call holds for
 * what is made of a module that was there before it. */
grout_module *grout_module_bind_in(const grout_allocator *allocator, const grout_module *symbolic,
                                   const grout_define *defines, size_t define_count,
                                   grout_diags *diags);

/* Whether a module is bound. */
bool grout_module_is_bound(const grout_module *module);

/* Counts include entry 0, which is never used: walk from 1. */
uint32_t grout_module_get_require_count(const grout_module *module);
uint32_t grout_module_get_op_count(const grout_module *module);
uint32_t grout_module_get_value_count(const grout_module *module);
uint32_t grout_module_get_object_count(const grout_module *module);
uint32_t grout_module_get_block_count(const grout_module *module);
uint32_t grout_module_get_expr_count(const grout_module *module);
/* The launch list: counts include entry 0, as above. */
const grout_launch_line *grout_module_get_launch(const grout_module *module, grout_launch_id id);
const grout_launch_argument *grout_module_get_launch_argument(const grout_module *module,
                                                              const grout_launch_line *launch,
                                                              uint32_t index);
/* The kernel of a line; 0 if there is none of its name (verify.h refuses that). */
grout_kernel_id grout_module_get_launch_kernel(const grout_module *module, grout_launch_id id);
/* Whether a launch may begin before an earlier one of the list has ended: all after the earlier
 * one, up to the later one, are dependent. */
bool grout_module_launches_overlap(const grout_module *module, grout_launch_id earlier,
                                   grout_launch_id later);
struct grout_shared_text;
/* The text that the module was parsed of, which is the module's (base/shared_text.h); NULL: of
 * none, or of several. */
struct grout_shared_text *grout_module_get_text(const grout_module *module);
/* The init that a parameter is written with. It has none in a bound module if that is a list of
 * another length than the array, whose size depends on a const: then the caller gives it. */
grout_init_id grout_param_get_written_init(const grout_module *module, const grout_kernel *kernel,
                                           uint32_t index);
/* Lines of 'check .. against': counts include entry 0, as above. The line of a kernel is the first
 * one that names it (verify.h refuses others); 0: there is none. */
uint32_t grout_module_get_check_line_count(const grout_module *module);
const grout_check_line *grout_module_get_check_line(const grout_module *module, uint32_t id);
uint32_t grout_module_find_check_line(const grout_module *module, grout_kernel_id kernel);
/* The kernels that a line names; 0: there is none of that name. */
grout_kernel_id grout_module_get_checked_kernel(const grout_module *module, uint32_t id);
grout_kernel_id grout_module_get_reference_kernel(const grout_module *module, uint32_t id);
/* Whether some check line compares with the results of the kernel. */
bool grout_module_is_reference(const grout_module *module, grout_kernel_id kernel);
const grout_require *grout_module_get_require(const grout_module *module, uint32_t id);
/* Appends the text of an op, its k-th {} replaced by the k-th of the values, which are the bits of
 * elements of its operands' types, or by the word if its bit is set in 'unknown'. */
void grout_op_print_message(const grout_module *bound, const grout_op *op, const uint64_t *values,
                            uint32_t unknown, const char *word, grout_text *out);
/* The name of the function that an extern_elementwise calls, or that computes on the CPU what an
 * inline_ptx does; NULL for other ops. */
const char *grout_op_get_extern_name(const grout_module *module, const grout_op *op);
/* The PTX of an inline_ptx; NULL for other ops. */
const char *grout_op_get_ptx(const grout_module *module, const grout_op *op);
/* How many texts stand in front of the op's other operands. */
uint32_t grout_op_count_texts(const grout_op *op);
/* The first op that calls each such function, in the order of the text: at most GROUT_EXTERNS_MAX,
 * for which ops_out has room. Their number; a verified module has no more. */
uint32_t grout_module_find_externs(const grout_module *module, grout_op_id *ops_out);
/* Attributes that the op is written with: GROUT_ATTR_BIT(..). */
uint64_t grout_op_get_attr_bits(const grout_module *module, const grout_op *op);
const grout_init *grout_module_get_init(const grout_module *module, grout_init_id id);
/* An argument of a generator, the value, or an element of the list. */
grout_expr_id grout_module_get_init_argument(const grout_module *module, const grout_init *init,
                                             uint32_t index);
const grout_trivia *grout_module_get_trivia(const grout_module *module, grout_trivia_id id);
const grout_loc *grout_module_get_loc(const grout_module *module, grout_loc_id id);
/*
 * The places that a place was called from (its parents), the innermost first, as notes of the
 * newest diagnostic: at most GROUT_CALLERS_MAX, the last of which says how many follow. Nothing of
 * a place without parents, as those of a text are.
 */
void grout_module_note_callers(const grout_module *module, grout_loc_id id, grout_diags *diags);
/* By name, without '%'. Unknown: 0, of parameters UINT32_MAX. */
grout_const_id grout_module_find_const(const grout_module *module, const char *name);
uint32_t grout_module_find_param(const grout_module *module, const grout_kernel *kernel,
                                 const char *name);
/* dtype that a constant operand takes, e.g. F32 for the 1 of 'add %floats, 1'. */
grout_dtype grout_module_get_operand_dtype(const grout_module *module,
                                           const grout_operand *operand);
grout_expr_value grout_module_get_expr_value(const grout_module *module, grout_expr_id id);
const grout_layout *grout_object_get_layout(const grout_module *module, grout_object_id id);
/* What the 'tile(infer)' of an object became, with its swizzle; false: it has none. */
bool grout_object_get_inferred_tiling(const grout_module *module, grout_object_id id,
                                      grout_tiling *tiling_out);
/* Bytes from the start of its space in the CTA to an array or, in SMEM, a barrier array: the one
 * memory plan that interpreter and backend share; -1 for what a CTA has no bytes of. Scopes that
 * never live together may share bytes. */
int64_t grout_object_get_offset(const grout_module *module, grout_object_id id);
/* The object whose bytes an alias or a view by .bitcast or .reshape has; else the object itself. */
grout_object_id grout_object_get_root(const grout_module *module, grout_object_id id);
/* Whether an object is what a declaration made, and no view by .bitcast or .reshape. Binding adds
 * those after all others; they have the value of the object that the reference names. */
bool grout_object_is_declared(const grout_module *module, grout_object_id id);
/* Whether two arrays in the same space of a CTA may have bytes in common: by their offsets. */
bool grout_objects_share_bytes(const grout_module *module, grout_object_id a, grout_object_id b);
/* Arrivals that a phase takes, those of a cluster barrier from all CTAs; 0 for an mbarrier, whose
 * count is set at run time. */
uint32_t grout_object_get_arrivals(const grout_module *module, grout_object_id id);
/* Bytes that a CTA of the kernel takes of a space: objects, and in SMEM the barriers. */
int64_t grout_kernel_get_space_bytes(const grout_module *module, grout_kernel_id id,
                                     grout_space space);
/* A dimension of an object as its layout counts it: in elements, or packed bytes of them. */
int64_t grout_object_get_extent(const grout_module *module, grout_object_id id, uint32_t dim);
/* Elements that a start term counts for one that start_const counts. */
int64_t grout_view_get_term_divisor(const grout_view *view, uint32_t dim);
/* The make_tensor_descriptor that a view goes through; NULL: it goes through none. */
const grout_op *grout_view_find_made_descriptor(const grout_module *module, const grout_view *view);
/* Starts of such a view count from the beginning of the descriptor's part from now on. */
void grout_view_drop_origin(const grout_module *module, grout_view *view);
/* Operands of an op that makes a descriptor: its array; where the part of it starts in a dimension,
 * and how many elements it has there (make_tensor_descriptor alone). */
const grout_operand *grout_descriptor_get_array(const grout_module *module, const grout_op *op);
const grout_operand *grout_descriptor_get_start(const grout_module *module, const grout_op *op,
                                                uint32_t dim);
const grout_operand *grout_descriptor_get_extent(const grout_module *module, const grout_op *op,
                                                 uint32_t dim);
/* Elements of a view. */
int64_t grout_view_get_count(const grout_view *view);
/* Resolves a VALUE or REF operand that is a reference or barrier; false if it is none. */
bool grout_module_get_view(const grout_module *module, const grout_operand *operand,
                           grout_view *view_out);
/* Extent of an axis; CTAs of a cluster; threads. */
int64_t grout_kernel_get_axis_size(const grout_module *module, grout_kernel_id id,
                                   uint32_t axis_index);
uint32_t grout_kernel_get_cluster_size(const grout_module *module, grout_kernel_id id);
uint32_t grout_kernel_get_thread_count(const grout_module *module, grout_kernel_id id);
/* Warps of a thread, 1, 2 or 4, and of all threads of a CTA. The hardware's warps are dealt out to
 * the threads with four first, so that each of those is a warpgroup, then to those with two, then
 * to those with one: the first warp of a thread. */
uint32_t grout_kernel_get_thread_warps(const grout_module *module, grout_kernel_id id,
                                       uint32_t thread);
uint32_t grout_kernel_get_warp_count(const grout_module *module, grout_kernel_id id);
uint32_t grout_kernel_get_first_warp(const grout_module *module, grout_kernel_id id,
                                     uint32_t thread);
/* Index along an axis of a thread of a CTA. CTA i has rank i % C in cluster i / C, C CTAs each. */
int64_t grout_kernel_get_axis_index(const grout_module *module, grout_kernel_id id,
                                    uint32_t axis_index, int64_t cta, uint32_t thread);
/* CTAs of the cluster that differ from one only along the axes of a set, itself included: bit r
 * for rank r. Axes of other kinds do not count. */
uint32_t grout_kernel_get_cluster_mask(const grout_module *module, grout_kernel_id id,
                                       uint32_t axes, uint32_t rank);
/* Whether a cluster_exit applies: the CTAs of a cluster meet before they end. */
bool grout_kernel_has_exit_sync(const grout_module *module, grout_kernel_id id);
/* In a kernel with 'attr auto_fence = 1': whether an implied fence_async_shared precedes the
 * operation. It does if the operation touches SMEM through the async proxy and its actor (thread,
 * or warp in a 'warp_map') may itself have touched the same object through the generic proxy since
 * its last fence, whatever fork or join lies between. */
bool grout_op_needs_auto_fence(const grout_module *module, grout_op_id id);
/* What an op does with its blocks; NONE if it has none. */
grout_region_kind grout_op_get_region_kind(const grout_op *op);
/* The nearest op around another one that does this with its blocks; NULL if there is none.
 * *block_out, unless NULL: which of its blocks the other one lies in. */
const grout_op *grout_op_find_around(const grout_module *module, const grout_op *op,
                                     grout_region_kind kind, grout_block_id *block_out);
/* Warps of the thread that runs an op: 4, or in a partition what the kernel says, 1 or 2. */
uint32_t grout_op_get_warps(const grout_module *module, const grout_op *op);
/* The yield that ends a block; NULL if it has none. */
const grout_op *grout_block_find_yield(const grout_module *module, grout_block_id block);
/* How many objects an op makes, and the first of the consecutive values that name them. 0 for other
 * ops. */
uint32_t grout_op_get_made_objects(const grout_module *module, const grout_op *op,
                                   grout_value_id *first_out);
/* Value of an INT attribute, or fallback if the op does not have it. */
int64_t grout_op_get_attr_integer(const grout_module *module, const grout_op *op, grout_attr attr,
                                  int64_t fallback);
/* The choice of a CHOICE attribute, or GROUT_CHOICE_NONE; the axes of an AXES attribute, or 0. */
grout_choice grout_op_get_choice(const grout_module *module, const grout_op *op, grout_attr attr);
/* The dimensions of a DIMS attribute, as grout_attr_value has them; 0 if the op does not have it.
 */
uint32_t grout_op_get_dims(const grout_module *module, const grout_op *op, grout_attr attr);
uint32_t grout_op_get_axes(const grout_module *module, const grout_op *op, grout_attr attr);
/* The ranges of a RANGES attribute; returns how many, 0 if the op does not have it. */
typedef struct grout_range {
    int64_t low, high, step;
} grout_range;
uint32_t grout_op_get_ranges(const grout_module *module, const grout_op *op, grout_attr attr,
                             grout_range ranges_out[GROUT_RANGES_MAX]);
/* What becomes of the elements outside the array of a copy's box: what its oob(..) says, or that of
 * the tensor_descriptor that a load goes through; GROUT_CHOICE_OOB_ZERO if neither says anything.
 */
grout_choice grout_op_get_oob(const grout_module *module, const grout_op *op);
/*
 * What a slice, reshape or concatenate takes of one of its operands: the elements of a box,
 * extent[d] of them from start[d] on in each dimension. Element i of it, by its index in the box,
 * becomes the element offset + sum of i[d] * stride[d] of the result, both row-major.
 */
typedef struct grout_part {
    uint8_t rank; /* of the operand */
    int64_t start[GROUT_RANK_MAX], extent[GROUT_RANK_MAX], stride[GROUT_RANK_MAX];
    int64_t offset;
} grout_part;
grout_part grout_op_get_part(const grout_module *module, const grout_op *op, uint32_t operand);
/* The element of the result that an element of the operand becomes, both by their row-major index;
 * -1: none. type: the operand's. */
int64_t grout_part_get_place(const grout_part *part, const grout_type *type, int64_t element);
/*
 * What an access by indices or with a mask touches (rules GATHER, SCATTER, MASKED_..): for each
 * element of an array, the result, the value that is written or the destination of a copy, an
 * element of the reference.
 */
typedef struct grout_pick {
    grout_type type; /* the array, or a scalar */
    /* operands; 0: it has none (operand 0 is the reference). destination: of a copy */
    uint8_t value, indices, mask, destination;
    uint8_t ref_rank;   /* of the reference */
    uint8_t dim;        /* of the reference: the dimension that the indices count */
    int64_t limit;      /* how many elements it has */
    bool is_along;      /* the indices have dimension dim of the array alone; it has others too */
    bool is_mask_along; /* so has the mask */
    uint8_t lead; /* this many dimensions of the array, its first, are picked one by one; of the
                   * others all goes together */
} grout_pick;
/* False if the op is none. */
bool grout_op_get_pick(const grout_module *module, const grout_op *op, grout_pick *pick_out);
/* The dimension of the reference in which the array's dimension counts; -1: the indices say. */
int grout_pick_get_dim(const grout_pick *pick, uint32_t dim);
/* How the op combines with memory, as an atomic or by its reduce(..); NONE: it does not. */
grout_update grout_op_get_update(const grout_module *module, const grout_op *op);

#ifdef __cplusplus
}
#endif
#endif
