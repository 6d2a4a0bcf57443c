/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir.h - the kernel IR in memory: what passes, interpreter, checker and backend read.
 *
 * A module comes from text (text.h) or from the builder (build.h) in its *symbolic* form: sizes
 * are constant expressions over the file's consts. grout_module_bind gives the *bound* form: every
 * constant expression has a value, every value a type with plain sizes. Printing needs the
 * symbolic form only; the verifier, interpreter and backend need the bound one.
 *
 * Everything is an index (id) into a dense table of the module; 0 is 'none' in each of them. Ids
 * are stable, the same in a symbolic module and those bound from it. Pointers from accessors belong
 * to the module and stay valid until it is freed (bound modules) or changed (symbolic ones).
 */
#ifndef GROUT_IR_H
#define GROUT_IR_H

#include "grout/alloc.h"
#include "grout/expr.h"
#include "grout/ids.h"
#include "grout/layout.h"
#include "grout/tables.h"
#include "grout/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of the language, each with a test at the limit and one past it. */
#define GROUT_NESTING_MAX    256         /* blocks and parentheses inside each other */
#define GROUT_NAME_MAX       255         /* bytes of a name */
#define GROUT_OPS_MAX        (1u << 24)  /* operations of a module */
#define GROUT_FILE_MAX       (64u << 20) /* bytes of a file */
#define GROUT_AXES_MAX       8           /* named axes of a kernel, all kinds together */
#define GROUT_THREADS_MAX    8           /* threads (warpgroups) of a CTA: 1024 CUDA threads */
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
#define GROUT_EXTERNS_MAX         64
#define GROUT_EXTERN_OPERANDS_MAX 16
#define GROUT_PTX_MAX             1024       /* characters of an inline_ptx */
#define GROUT_LAUNCHES_MAX        64         /* lines of a launch list */
#define GROUT_CHECK_VALUES_MAX    8          /* that a debug_check shows */
#define GROUT_DELAY_MAX           1000000000 /* nanoseconds of a delay */

/* ---- parts of a module ---------------------------------------------------------------------- */

typedef struct grout_const {
    grout_string_id name;
    grout_loc_id loc;
    grout_expr_id expr;
    bool is_f32; /* 'const S : f32 = ...' */
    grout_trivia_id trivia;
    bool continues; /* follows a comma on the same 'const' line as the one before */
} grout_const;

typedef struct grout_require {
    grout_expr_id expr;
    grout_string_id text;
    grout_loc_id loc;
    grout_trivia_id trivia;
} grout_require;

/* A place. Frames: parent is the place that this one was inlined at, 0 for none. */
typedef enum grout_loc_kind {
    GROUT_LOC_TEXT,
    GROUT_LOC_C,
    GROUT_LOC_PYTHON,
    GROUT_LOC_PTX
} grout_loc_kind;
/* So many frames around a place are shown with it. */
enum { GROUT_CALLERS_MAX = 8 };
typedef struct grout_loc {
    grout_string_id file;
    uint32_t line, column, length;
    uint32_t kind; /* grout_loc_kind */
    grout_loc_id parent;
    bool is_within_call; /* made inside of what the line calls: nothing can be written beside it */
} grout_loc;

/* Comments and blank lines, kept for the printer. */
typedef struct grout_trivia {
    grout_string_id lead; /* whole-line comments before it, one per line; "" is a blank line */
    grout_string_id tail; /* comment at the end of the item's line, with its slashes */
} grout_trivia;

/* Types as written: dimensions are expressions. */
typedef struct grout_written_type {
    uint8_t dtype; /* grout_dtype */
    uint8_t rank;
    bool is_array; /* brackets were written: f32[] is an array of rank 0, f32 a scalar */
    grout_expr_id dims[GROUT_RANK_MAX];
} grout_written_type;

/* 'init(..)': what a parameter, or a gmem scratch, holds unless the caller brings its own. */
typedef struct grout_init {
    uint8_t kind; /* grout_generator_kind */
    grout_loc_id loc;
    uint32_t first; /* into the module's table of arguments */
    uint32_t count; /* of a generator: as in generators.def; VALUE: 1; LIST: the elements */
} grout_init;

typedef enum grout_object_kind {
    /* in space: a gmem parameter, an smem scratch, an accumulator (acc), or a gmem scratch, of
     * which the launch has one */
    GROUT_OBJECT_ARRAY,
    GROUT_OBJECT_BARRIER,  /* an array of mbarriers: 'barrier' or, is_explicit, 'mbarrier' */
    GROUT_OBJECT_SEMAPHORE /* an array of semaphores; in GMEM */
} grout_object_kind;

/* An object in memory, as written. Parameters in gmem are objects too. */
typedef struct grout_object {
    uint8_t kind;         /* grout_object_kind */
    uint8_t space;        /* grout_space; SMEM for barriers; ACC: each thread has its own */
    grout_value_id value; /* the value (reference) that names it */
    grout_loc_id loc;
    grout_written_type type; /* barrier, semaphore: dtype NONE, dims of the array (rank 1) */
    /* transforms of an smem array, 0 for those not written */
    bool infers_tile; /* 'tile(infer)': bound, grout_object_get_inferred_tiling says which */
    uint8_t tile_rank;
    grout_expr_id tile[GROUT_RANK_MAX];
    grout_expr_id swizzle;
    uint8_t transpose_rank;
    grout_expr_id transpose[GROUT_RANK_MAX];
    grout_string_id layout; /* 'layout("..")', instead of the others; 0: none */
    /* 'alias(%a, 4096)' of an smem array: it has no bytes of its own but those of array %a from
     * byte 4096 on; start 0: from the first */
    grout_value_id alias; /* 0: it has bytes of its own */
    grout_expr_id alias_start;
    grout_expr_id arrivals;  /* barrier; 0: one arrival a phase */
    bool is_explicit;        /* barrier: 'mbarrier', which mbarrier_init makes usable */
    bool orders_tensor_core; /* barrier: an arrive and a wait are also edges of tensor memory */
    bool is_packed;          /* 'packed': a tmem array; a parameter whose elements TMA expands */
    bool is_padded;          /* 'padded': an smem array, 16 elements of 4 or 6 bits in 16 bytes */
    bool is_collective;      /* a tmem array: both CTAs of a pair have it, in the same columns */
    /* barrier: those of the CTA that leads count for all: 'leader_tracked' of a cluster barrier,
     * 'two_ctas' of an mbarrier, which is that of a pair */
    bool is_leader_tracked;
    bool is_scales, is_split; /* a tmem array: 'scales'; both: 'split_scales' */
    bool is_metadata;         /* a tmem array: which elements a sparse a keeps, 'metadata' */
    bool is_global; /* one for the launch: gmem scratch, 'global' semaphores (else: of each CTA) */
    /* 'cluster(x, (y, z))' of a barrier: sets of the kernel's axes, bit i axis i; grouped ones are
     * one set. Printed in the order of the axes. */
    uint8_t cluster_group_count;
    uint8_t cluster_groups[GROUT_AXES_MAX];
    grout_init_id init; /* of a scratch; that of a parameter is in its grout_param */
} grout_object;

/* Operand: what an op is given. */
typedef enum grout_operand_kind {
    GROUT_OPERAND_NONE,
    GROUT_OPERAND_VALUE,  /* id: grout_value_id (also a whole reference or barrier) */
    GROUT_OPERAND_EXPR,   /* id: grout_expr_id, a compile-time constant */
    GROUT_OPERAND_REF,    /* id: grout_ref_id, a value followed by indices or views */
    GROUT_OPERAND_STRING, /* id: grout_string_id */
    GROUT_OPERAND_AXIS    /* id: index of the axis in its kernel, plus 1 */
} grout_operand_kind;

typedef struct grout_operand {
    uint8_t kind; /* grout_operand_kind */
    uint32_t id;
    grout_loc_id loc;
} grout_operand;

typedef enum grout_index_kind {
    GROUT_INDEX_ALL,  /* ':' */
    GROUT_INDEX_AT,   /* one index; the dimension goes away */
    GROUT_INDEX_SLICE /* ds(start, size) */
} grout_index_kind;

typedef struct grout_index {
    uint8_t kind;        /* grout_index_kind */
    grout_operand start; /* AT, SLICE: value or expr */
    grout_expr_id size;  /* SLICE */
} grout_index;

typedef enum grout_ref_step_kind {
    GROUT_REF_INDEX,     /* [..]: indices first..first+count of the module's index table */
    GROUT_REF_TRANSPOSE, /* .transpose(..): count permutation entries, exprs in the size fields */
    GROUT_REF_CLUSTER,   /* .cluster(..): AT indices, the place of a CTA on each cluster axis */
    GROUT_REF_BITCAST,   /* .bitcast(f32): no indices, the element type in dtype */
    GROUT_REF_RESHAPE    /* .reshape(..): the count new dimensions, exprs in the size fields */
} grout_ref_step_kind;

typedef struct grout_ref_step {
    uint8_t kind; /* grout_ref_step_kind */
    uint8_t count;
    uint8_t dtype; /* BITCAST: grout_dtype */
    uint8_t
        fault; /* of a BITCAST or RESHAPE in a bound module without an object (ir/core/bound.h) */
    uint32_t first; /* into the index table */
    /* BITCAST, RESHAPE in a bound module: the object of the other type over the same bytes, which
     * binding adds; 0: there is none, and fault says why */
    grout_object_id object;
    grout_loc_id loc;
} grout_ref_step;

typedef struct grout_ref {
    grout_value_id base;
    uint32_t first_step;
    uint32_t step_count;
    grout_loc_id loc;
} grout_ref;

typedef enum grout_value_kind {
    GROUT_VALUE_PARAM,    /* index: of the parameter; object set for arrays */
    GROUT_VALUE_OBJECT,   /* result of scratch, or object of a scoped */
    GROUT_VALUE_RESULT,   /* index: of the result of op */
    GROUT_VALUE_BLOCK_ARG /* index: of the argument of block; of a 'for' 0 is the loop's index */
} grout_value_kind;

typedef struct grout_value {
    uint8_t kind;         /* grout_value_kind */
    grout_string_id name; /* without '%'; 0: prints nested, or as a number */
    grout_loc_id loc;     /* where its name stands */
    grout_op_id op;       /* RESULT, OBJECT of scratch or scoped, BLOCK_ARG: the op around */
    grout_block_id block; /* BLOCK_ARG, OBJECT of scoped */
    uint32_t index;
    grout_object_id object; /* of a reference that is a whole object */
    uint32_t use_count;
} grout_value;

enum {
    GROUT_OP_FLAG_INFIX = 1 /* written infix (or as a call) inside an index expression */
};

enum { GROUT_RANGES_MAX = 3 };
/* low..high step step: three constants; of a RANGES attribute, see grout_op_get_ranges. */
typedef struct grout_written_range {
    grout_expr_id low, high, step;
} grout_written_range;

typedef struct grout_attr_value {
    uint8_t attr;   /* grout_attr */
    uint8_t choice; /* CHOICE attributes: grout_choice */
    uint8_t axes;   /* AXES attributes: bit i for axis i of the kernel */
    uint32_t dims;  /* DIMS attributes: 4 bits for each, from the lowest on: the number plus 1 */
    grout_expr_id expr; /* INT attributes */
    grout_loc_id loc;
    uint32_t range_count; /* RANGES attributes */
    grout_written_range ranges[GROUT_RANGES_MAX];
} grout_attr_value;

typedef struct grout_op {
    uint16_t opcode; /* grout_opcode */
    uint8_t flags;
    uint8_t attr_count;
    grout_loc_id loc; /* of the mnemonic */
    uint32_t first_operand, operand_count;
    grout_value_id first_result;
    uint32_t result_count;
    uint32_t first_attr;
    grout_block_id first_block; /* consecutive */
    uint32_t block_count;
    uint32_t written_type; /* ': type', 1-based; 0 none */
    uint32_t box;          /* the indices after its first operand, a step of kind INDEX; 0 none */
    grout_op_id next;      /* in its block; 0 at the end */
    grout_block_id parent;
    grout_trivia_id trivia;
} grout_op;

typedef struct grout_block {
    grout_op_id first, last; /* 0: empty */
    grout_op_id parent;      /* op that owns it; 0: a kernel's body */
    grout_kernel_id kernel;
    grout_value_id first_arg; /* consecutive: loop index and carries, carries of a while (of its
                                 first block; the second sees them too), or a scope's objects */
    uint32_t arg_count;
    grout_trivia_id end_trivia; /* comments before the closing brace */
    grout_loc_id loc;           /* of the opening brace */
    grout_loc_id end_loc;       /* of the closing brace */
} grout_block;

typedef enum grout_direction {
    GROUT_DIRECTION_IN,
    GROUT_DIRECTION_OUT,
    GROUT_DIRECTION_INOUT,
    GROUT_DIRECTION_SCALAR
} grout_direction;

/* Whether a kernel may write a parameter of this direction: it is an array, 'out' or 'inout'. */
static inline bool grout_direction_is_written(uint8_t direction) {
    return direction == GROUT_DIRECTION_OUT || direction == GROUT_DIRECTION_INOUT;
}

typedef struct grout_param {
    grout_value_id value;
    uint8_t direction;      /* grout_direction */
    uint8_t dtype;          /* of a scalar */
    grout_object_id object; /* of an array */
    grout_init_id init;     /* 0: none */
} grout_param;

typedef enum grout_axis_kind {
    GROUT_AXIS_GRID,    /* clusters (CTAs, without cluster axes): row-major, the last fastest */
    GROUT_AXIS_CLUSTER, /* CTAs of a cluster, in the same way: the rank */
    GROUT_AXIS_THREADS  /* warpgroups of the CTA */
} grout_axis_kind;

/* 'attr cluster_exit = sync': whether the CTAs of a cluster meet before they end. */
typedef enum grout_cluster_exit {
    GROUT_CLUSTER_EXIT_UNWRITTEN, /* sync if the kernel has mbarriers, else none */
    GROUT_CLUSTER_EXIT_NONE,
    GROUT_CLUSTER_EXIT_SYNC
} grout_cluster_exit;

typedef struct grout_axis {
    uint8_t kind; /* grout_axis_kind */
    grout_string_id name;
    grout_expr_id size;
    grout_loc_id loc;
} grout_axis;

typedef struct grout_kernel {
    grout_string_id name;
    grout_loc_id loc;
    uint32_t first_param, param_count; /* of the module's parameter table */
    uint32_t axis_count; /* in the order written; grid before cluster before threads */
    grout_axis axes[GROUT_AXES_MAX];
    bool has_arch;         /* 'attr arch = ..' was written */
    uint8_t arch;          /* grout_arch; without it sm_90a */
    grout_loc_id arch_loc; /* of the string */
    uint8_t cluster_exit;  /* grout_cluster_exit */
    bool has_auto_fence;   /* 'attr auto_fence = ..' was written */
    bool auto_fence; /* a fence between a generic access and a later async one of the thread */
    /* 'attr partition_warps = [4, 1, ..]': the warps of each thread, as written; without it each
     * has GROUT_WARPS */
    uint8_t partition_count;
    uint32_t partition_warps[GROUT_THREADS_MAX];
    grout_loc_id partition_loc; /* of the list */
    grout_loc_id attr_loc;
    grout_block_id body;
    grout_trivia_id trivia;
} grout_kernel;

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

/* ---- bound references ------------------------------------------------------------------------ */

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

/* ---- the module ------------------------------------------------------------------------------ */

typedef struct grout_module grout_module;

/* NULL is allowed. */
GROUT_API void grout_module_free(grout_module *module);
/* What the module was made with (alloc.h); NULL: libc. */
GROUT_API const grout_allocator *grout_module_get_allocator(const grout_module *module);

/* A -D, or a size taken from a file. */
typedef struct grout_define {
    const char *name;
    bool is_float;
    int64_t integer;
    double number;
    const char *origin; /* "-D" or a file name, for messages; may be NULL */
} grout_define;

/*
 * Gives every constant expression its value (defines override the file's consts) and every value
 * its type. Returns a new module that owns all it needs (free both), or NULL with the reasons in
 * diags: unknown define, require that fails, inexact division, type and shape errors. A module that
 * binds has types throughout but has not been verified (verify.h). It has the allocator of the
 * symbolic one.
 */
GROUT_API grout_module *grout_module_bind(const grout_module *symbolic, const grout_define *defines,
                                          size_t define_count, grout_diags *diags);
GROUT_API bool grout_module_is_bound(const grout_module *module);

/* Tables. Counts include entry 0, which is never used: walk from 1. */
GROUT_API uint32_t grout_module_get_kernel_count(const grout_module *module);
GROUT_API uint32_t grout_module_get_const_count(const grout_module *module);
GROUT_API uint32_t grout_module_get_require_count(const grout_module *module);
GROUT_API uint32_t grout_module_get_op_count(const grout_module *module);
GROUT_API uint32_t grout_module_get_value_count(const grout_module *module);
GROUT_API uint32_t grout_module_get_object_count(const grout_module *module);
GROUT_API uint32_t grout_module_get_block_count(const grout_module *module);
GROUT_API uint32_t grout_module_get_expr_count(const grout_module *module);

/* A kernel, by an id from 1; it belongs to the module. */
GROUT_API const grout_kernel *grout_module_get_kernel(const grout_module *module,
                                                      grout_kernel_id id);
/* The launch list: counts include entry 0, as above. */
GROUT_API uint32_t grout_module_get_launch_count(const grout_module *module);
GROUT_API const grout_launch_line *grout_module_get_launch(const grout_module *module,
                                                           grout_launch_id id);
GROUT_API const grout_launch_argument *grout_module_get_launch_argument(
    const grout_module *module, const grout_launch_line *launch, uint32_t index);
/* The kernel of a line; 0 if there is none of its name (verify.h refuses that). */
GROUT_API grout_kernel_id grout_module_get_launch_kernel(const grout_module *module,
                                                         grout_launch_id id);
/* Whether a launch may begin before an earlier one of the list has ended: all after the earlier
 * one, up to the later one, are dependent. */
GROUT_API bool grout_module_launches_overlap(const grout_module *module, grout_launch_id earlier,
                                             grout_launch_id later);
GROUT_API const grout_param *grout_module_get_param(const grout_module *module,
                                                    const grout_kernel *kernel, uint32_t index);
GROUT_API const grout_const *grout_module_get_const(const grout_module *module, grout_const_id id);
GROUT_API const grout_require *grout_module_get_require(const grout_module *module, uint32_t id);
GROUT_API const grout_op *grout_module_get_op(const grout_module *module, grout_op_id id);
GROUT_API const grout_operand *grout_module_get_operand(const grout_module *module,
                                                        const grout_op *op, uint32_t index);
GROUT_API const grout_attr_value *grout_module_find_attr(const grout_module *module,
                                                         const grout_op *op, grout_attr attr);
/* Appends the text of an op, its k-th {} replaced by the k-th of the values, which are the bits of
 * elements of its operands' types, or by the word if its bit is set in 'unknown'. */
GROUT_API void grout_op_print_message(const grout_module *bound, const grout_op *op,
                                      const uint64_t *values, uint32_t unknown, const char *word,
                                      grout_text *out);
/* The name of the function that an extern_elementwise calls, or that computes on the CPU what an
 * inline_ptx does; NULL for other ops. */
GROUT_API const char *grout_op_get_extern_name(const grout_module *module, const grout_op *op);
/* The PTX of an inline_ptx; NULL for other ops. */
GROUT_API const char *grout_op_get_ptx(const grout_module *module, const grout_op *op);
/* How many texts stand in front of the op's other operands. */
GROUT_API uint32_t grout_op_count_texts(const grout_op *op);
/* The first op that calls each such function, in the order of the text: at most GROUT_EXTERNS_MAX,
 * for which ops_out has room. Their number; a verified module has no more. */
GROUT_API uint32_t grout_module_find_externs(const grout_module *module, grout_op_id *ops_out);
/* Attributes that the op is written with: GROUT_ATTR_BIT(..). */
GROUT_API uint64_t grout_op_get_attr_bits(const grout_module *module, const grout_op *op);
GROUT_API const grout_value *grout_module_get_value(const grout_module *module, grout_value_id id);
GROUT_API const grout_block *grout_module_get_block(const grout_module *module, grout_block_id id);
GROUT_API const grout_object *grout_module_get_object(const grout_module *module,
                                                      grout_object_id id);
GROUT_API const grout_init *grout_module_get_init(const grout_module *module, grout_init_id id);
/* An argument of a generator, the value, or an element of the list. */
GROUT_API grout_expr_id grout_module_get_init_argument(const grout_module *module,
                                                       const grout_init *init, uint32_t index);
GROUT_API const grout_ref *grout_module_get_ref(const grout_module *module, grout_ref_id id);
GROUT_API const grout_ref_step *grout_module_get_ref_step(const grout_module *module,
                                                          const grout_ref *ref, uint32_t index);
GROUT_API const grout_index *grout_module_get_index(const grout_module *module,
                                                    const grout_ref_step *step, uint32_t index);
/* The indices after the first operand of an op (letter BOXED); NULL if it has none. */
GROUT_API const grout_ref_step *grout_module_get_box(const grout_module *module,
                                                     const grout_op *op);
GROUT_API const grout_expr *grout_module_get_expr(const grout_module *module, grout_expr_id id);
GROUT_API const grout_written_type *grout_module_get_written_type(const grout_module *module,
                                                                  const grout_op *op);
GROUT_API const grout_trivia *grout_module_get_trivia(const grout_module *module,
                                                      grout_trivia_id id);
GROUT_API const grout_loc *grout_module_get_loc(const grout_module *module, grout_loc_id id);
/* NUL-terminated; "" for id 0. */
GROUT_API const char *grout_module_get_string(const grout_module *module, grout_string_id id);
/* The place of an id, for a diagnostic; file NULL for id 0. Borrowed from the module. */
GROUT_API grout_place grout_module_get_place(const grout_module *module, grout_loc_id id);
/*
 * The places that a place was called from (its parents), the innermost first, as notes of the
 * newest diagnostic: at most GROUT_CALLERS_MAX, the last of which says how many follow. Nothing of
 * a place without parents, as those of a text are.
 */
GROUT_API void grout_module_note_callers(const grout_module *module, grout_loc_id id,
                                         grout_diags *diags);
/* By name, without '@' or '%'. Unknown: 0, of parameters UINT32_MAX. */
GROUT_API grout_kernel_id grout_module_find_kernel(const grout_module *module, const char *name);
GROUT_API grout_const_id grout_module_find_const(const grout_module *module, const char *name);
GROUT_API uint32_t grout_module_find_param(const grout_module *module, const grout_kernel *kernel,
                                           const char *name);
/* The const that is a dimension of an array parameter by itself, as N is in f32[N, 64]: the array's
 * size gives it its value. 0: the dimension is something else, or there is none of that number. */
GROUT_API grout_const_id grout_param_get_dim_const(const grout_module *module,
                                                   const grout_param *param, uint32_t dim);
/* Adds the texts it was parsed from to diags, for carets; false without memory: diags say so. */
GROUT_API bool grout_module_add_sources(const grout_module *module, grout_diags *diags);

/*
 * An argument, in parameter order. Arrays: data is row-major, size must be exactly the array's
 * bytes; 'in' data is only read, 'out' data is filled with the poison pattern first. Scalars: data
 * points at one element.
 */
typedef struct grout_argument {
    void *data;
    size_t size;
} grout_argument;

/* ---- bound modules only ---------------------------------------------------------------------- */

/* The type of a value; it belongs to the module. */
GROUT_API const grout_type *grout_module_get_type(const grout_module *module, grout_value_id id);
/* The type of a value, of a constant (it follows from the op's other operands), or of an indexed
 * reference. */
GROUT_API grout_type grout_module_get_operand_type(const grout_module *module,
                                                   const grout_operand *operand);
/* dtype that a constant operand takes, e.g. F32 for the 1 of 'add %floats, 1'. */
GROUT_API grout_dtype grout_module_get_operand_dtype(const grout_module *module,
                                                     const grout_operand *operand);
GROUT_API grout_expr_value grout_module_get_expr_value(const grout_module *module,
                                                       grout_expr_id id);
GROUT_API const grout_type *grout_object_get_type(const grout_module *module, grout_object_id id);
GROUT_API const grout_layout *grout_object_get_layout(const grout_module *module,
                                                      grout_object_id id);
/* What the 'tile(infer)' of an object became, with its swizzle; false: it has none. */
GROUT_API bool grout_object_get_inferred_tiling(const grout_module *module, grout_object_id id,
                                                grout_tiling *tiling_out);
/* Bytes from the start of its space in the CTA to an array or, in SMEM, a barrier array: the one
 * memory plan that interpreter and backend share; -1 for what a CTA has no bytes of. Scopes that
 * never live together may share bytes. */
GROUT_API int64_t grout_object_get_offset(const grout_module *module, grout_object_id id);
/* The object whose bytes an alias or a view by .bitcast or .reshape has; else the object itself. */
GROUT_API grout_object_id grout_object_get_root(const grout_module *module, grout_object_id id);
/* Whether an object is what a declaration made, and no view by .bitcast or .reshape. Binding adds
 * those after all others; they have the value of the object that the reference names. */
GROUT_API bool grout_object_is_declared(const grout_module *module, grout_object_id id);
/* Whether two arrays in the same space of a CTA may have bytes in common: by their offsets. */
GROUT_API bool grout_objects_share_bytes(const grout_module *module, grout_object_id a,
                                         grout_object_id b);
/* Arrivals that a phase takes, those of a cluster barrier from all CTAs; 0 for an mbarrier, whose
 * count is set at run time. */
GROUT_API uint32_t grout_object_get_arrivals(const grout_module *module, grout_object_id id);
/* Bytes that a CTA of the kernel takes of a space: objects, and in SMEM the barriers. */
GROUT_API int64_t grout_kernel_get_space_bytes(const grout_module *module, grout_kernel_id id,
                                               grout_space space);
/* A dimension of an object as its layout counts it: in elements, or packed bytes of them. */
GROUT_API int64_t grout_object_get_extent(const grout_module *module, grout_object_id id,
                                          uint32_t dim);
/* Elements that a start term counts for one that start_const counts. */
GROUT_API int64_t grout_view_get_term_divisor(const grout_view *view, uint32_t dim);
/* The make_tensor_descriptor that a view goes through; NULL: it goes through none. */
GROUT_API const grout_op *grout_view_find_made_descriptor(const grout_module *module,
                                                          const grout_view *view);
/* Starts of such a view count from the beginning of the descriptor's part from now on. */
GROUT_API void grout_view_drop_origin(const grout_module *module, grout_view *view);
/* Operands of an op that makes a descriptor: its array; where the part of it starts in a dimension,
 * and how many elements it has there (make_tensor_descriptor alone). */
GROUT_API const grout_operand *grout_descriptor_get_array(const grout_module *module,
                                                          const grout_op *op);
GROUT_API const grout_operand *grout_descriptor_get_start(const grout_module *module,
                                                          const grout_op *op, uint32_t dim);
GROUT_API const grout_operand *grout_descriptor_get_extent(const grout_module *module,
                                                           const grout_op *op, uint32_t dim);
/* Elements of a view. */
GROUT_API int64_t grout_view_get_count(const grout_view *view);
/* Resolves a VALUE or REF operand that is a reference or barrier; false if it is none. */
GROUT_API bool grout_module_get_view(const grout_module *module, const grout_operand *operand,
                                     grout_view *view_out);
/* Extent of an axis; CTAs of the launch (clusters times cluster size) and of a cluster; threads. */
GROUT_API int64_t grout_kernel_get_axis_size(const grout_module *module, grout_kernel_id id,
                                             uint32_t axis_index);
GROUT_API int64_t grout_kernel_get_grid_size(const grout_module *module, grout_kernel_id id);
GROUT_API uint32_t grout_kernel_get_cluster_size(const grout_module *module, grout_kernel_id id);
GROUT_API uint32_t grout_kernel_get_thread_count(const grout_module *module, grout_kernel_id id);
/* Warps of a thread, 1, 2 or 4, and of all threads of a CTA. The hardware's warps are dealt out to
 * the threads with four first, so that each of those is a warpgroup, then to those with two, then
 * to those with one: the first warp of a thread. */
GROUT_API uint32_t grout_kernel_get_thread_warps(const grout_module *module, grout_kernel_id id,
                                                 uint32_t thread);
GROUT_API uint32_t grout_kernel_get_warp_count(const grout_module *module, grout_kernel_id id);
GROUT_API uint32_t grout_kernel_get_first_warp(const grout_module *module, grout_kernel_id id,
                                               uint32_t thread);
/* Index along an axis of a thread of a CTA. CTA i has rank i % C in cluster i / C, C CTAs each. */
GROUT_API int64_t grout_kernel_get_axis_index(const grout_module *module, grout_kernel_id id,
                                              uint32_t axis_index, int64_t cta, uint32_t thread);
/* CTAs of the cluster that differ from one only along the axes of a set, itself included: bit r
 * for rank r. Axes of other kinds do not count. */
GROUT_API uint32_t grout_kernel_get_cluster_mask(const grout_module *module, grout_kernel_id id,
                                                 uint32_t axes, uint32_t rank);
/* Whether a cluster_exit applies: the CTAs of a cluster meet before they end. */
GROUT_API bool grout_kernel_has_exit_sync(const grout_module *module, grout_kernel_id id);
/* In a kernel with 'attr auto_fence = 1': whether an implied fence_async_shared precedes the
 * operation. It does if the operation touches SMEM through the async proxy and its actor (thread,
 * or warp in a 'warp_map') may itself have touched the same object through the generic proxy since
 * its last fence, whatever fork or join lies between. */
GROUT_API bool grout_op_needs_auto_fence(const grout_module *module, grout_op_id id);
/* What an op does with its blocks; NONE if it has none. */
GROUT_API grout_region_kind grout_op_get_region_kind(const grout_op *op);
/* The nearest op around another one that does this with its blocks; NULL if there is none.
 * *block_out, unless NULL: which of its blocks the other one lies in. */
GROUT_API const grout_op *grout_op_find_around(const grout_module *module, const grout_op *op,
                                               grout_region_kind kind, grout_block_id *block_out);
/* Warps of the thread that runs an op: 4, or in a partition what the kernel says, 1 or 2. */
GROUT_API uint32_t grout_op_get_warps(const grout_module *module, const grout_op *op);
/* The yield that ends a block; NULL if it has none. */
GROUT_API const grout_op *grout_block_find_yield(const grout_module *module, grout_block_id block);
/* How many objects an op makes, and the first of the consecutive values that name them. 0 for other
 * ops. */
GROUT_API uint32_t grout_op_get_made_objects(const grout_module *module, const grout_op *op,
                                             grout_value_id *first_out);
/* Value of an INT attribute, or fallback if the op does not have it. */
GROUT_API int64_t grout_op_get_attr_integer(const grout_module *module, const grout_op *op,
                                            grout_attr attr, int64_t fallback);
/* The choice of a CHOICE attribute, or GROUT_CHOICE_NONE; the axes of an AXES attribute, or 0. */
GROUT_API grout_choice grout_op_get_choice(const grout_module *module, const grout_op *op,
                                           grout_attr attr);
/* The dimensions of a DIMS attribute, as grout_attr_value has them; 0 if the op does not have it.
 */
GROUT_API uint32_t grout_op_get_dims(const grout_module *module, const grout_op *op,
                                     grout_attr attr);
GROUT_API uint32_t grout_op_get_axes(const grout_module *module, const grout_op *op,
                                     grout_attr attr);
/* The ranges of a RANGES attribute; returns how many, 0 if the op does not have it. */
typedef struct grout_range {
    int64_t low, high, step;
} grout_range;
GROUT_API uint32_t grout_op_get_ranges(const grout_module *module, const grout_op *op,
                                       grout_attr attr, grout_range ranges_out[GROUT_RANGES_MAX]);
/* What becomes of the elements outside the array of a copy's box: what its oob(..) says, or that of
 * the tensor_descriptor that a load goes through; GROUT_CHOICE_OOB_ZERO if neither says anything.
 */
GROUT_API grout_choice grout_op_get_oob(const grout_module *module, const grout_op *op);
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
GROUT_API grout_part grout_op_get_part(const grout_module *module, const grout_op *op,
                                       uint32_t operand);
/* The element of the result that an element of the operand becomes, both by their row-major index;
 * -1: none. type: the operand's. */
GROUT_API int64_t grout_part_get_place(const grout_part *part, const grout_type *type,
                                       int64_t element);
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
    uint8_t lead;       /* so many dimensions of the array, its first, are picked one by one; of the
                         * others all goes together */
} grout_pick;
/* False if the op is none. */
GROUT_API bool grout_op_get_pick(const grout_module *module, const grout_op *op,
                                 grout_pick *pick_out);
/* The dimension of the reference in which the array's dimension counts; -1: the indices say. */
GROUT_API int grout_pick_get_dim(const grout_pick *pick, uint32_t dim);
/* How the op combines with memory, as an atomic or by its reduce(..); NONE: it does not. */
GROUT_API grout_update grout_op_get_update(const grout_module *module, const grout_op *op);

#ifdef __cplusplus
}
#endif
#endif
