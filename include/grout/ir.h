/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir.h - what a module consists of, for programs that read kernels.
 *
 * Everything is an index (id) into a dense table of the module; 0 is 'none' in each of them. Ids
 * are stable, the same in a symbolic module and those bound from it. Pointers from accessors belong
 * to the module and stay valid until it is freed (bound modules) or changed (symbolic ones).
 *
 * A walk begins at the kernels, goes through the ops of a body (grout_block.first, grout_op.next)
 * and the blocks of an op (first_block on), and from there to operands, values, references, objects
 * and expressions.
 */
#ifndef GROUT_IR_H
#define GROUT_IR_H

#include "grout/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- parts of a module ------------------------------------------------------------------------
 */

/* Constant expressions: 64-bit integers with checked overflow, doubles, and truth values. */
typedef enum grout_expr_kind {
    GROUT_EXPR_NONE,
    GROUT_EXPR_INT,   /* integer; with dtype set of that type, as in u8:255 (of u64: in bits) */
    GROUT_EXPR_FLOAT, /* number, or with dtype set a bit pattern in bits */
    GROUT_EXPR_TYPED, /* number, to be rounded to the float type dtype, as in f64:0.1 */
    GROUT_EXPR_BOOL,  /* integer, 0 or 1: 'false' and 'true' */
    GROUT_EXPR_NAME,  /* constant, the const it names */
    GROUT_EXPR_UNARY, /* operator on a: NEG */
    GROUT_EXPR_BINARY /* operator on a and b, infix or call */
} grout_expr_kind;

typedef enum grout_expr_operator {
    GROUT_EXPR_ADD,
    GROUT_EXPR_SUB,
    GROUT_EXPR_MUL,
    GROUT_EXPR_DIV,
    GROUT_EXPR_REM,
    GROUT_EXPR_SHL,
    GROUT_EXPR_SHR,
    GROUT_EXPR_EQ,
    GROUT_EXPR_NE,
    GROUT_EXPR_LT,
    GROUT_EXPR_LE,
    GROUT_EXPR_GT,
    GROUT_EXPR_GE,
    GROUT_EXPR_MIN,
    GROUT_EXPR_MAX,
    GROUT_EXPR_CDIV,
    GROUT_EXPR_ALIGN_UP,
    GROUT_EXPR_LOG2,
    GROUT_EXPR_NEG
} grout_expr_operator;

typedef struct grout_expr {
    uint8_t kind;      /* grout_expr_kind */
    uint8_t operator_; /* grout_expr_operator */
    uint8_t dtype;     /* of a literal that names its type, such as f32:0x7fc00001, else NONE */
    grout_loc_id loc;
    grout_expr_id a, b; /* LOG2 and NEG have a only */
    grout_const_id constant;
    union {
        int64_t integer;
        double number;
        uint64_t bits;
    } u;
} grout_expr;

#define GROUT_AXES_MAX            8  /* named axes of a kernel, all kinds together */
#define GROUT_THREADS_MAX         8  /* threads (warpgroups) of a CTA: 1024 CUDA threads */
#define GROUT_EXTERN_OPERANDS_MAX 16 /* that a function of an extern_elementwise is given */

typedef struct grout_const {
    grout_string_id name;
    grout_loc_id loc;
    grout_expr_id expr;
    bool is_f32; /* 'const S : f32 = ...' */
    grout_trivia_id trivia;
    bool continues; /* follows a comma on the same 'const' line as the one before */
} grout_const;

/* A place. Frames: parent is the place that this one was inlined at, 0 for none. */
typedef enum grout_loc_kind {
    GROUT_LOC_TEXT,
    GROUT_LOC_C,
    GROUT_LOC_PYTHON,
    GROUT_LOC_PTX
} grout_loc_kind;
typedef struct grout_loc {
    grout_string_id file;
    uint32_t line, column, length;
    uint32_t kind; /* grout_loc_kind */
    grout_loc_id parent;
    bool is_within_call; /* made inside of what the line calls: nothing can be written beside it */
} grout_loc;

/* Types as written: dimensions are expressions. */
typedef struct grout_written_type {
    uint8_t dtype; /* grout_dtype */
    uint8_t rank;
    bool is_array; /* brackets were written: f32[] is an array of rank 0, f32 a scalar */
    grout_expr_id dims[GROUT_RANK_MAX];
} grout_written_type;

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
    bool infers_tile; /* 'tile(infer)': binding chooses it */
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
    uint8_t dtype;  /* BITCAST: grout_dtype */
    uint8_t fault;  /* why a BITCAST or RESHAPE of a bound module has no object; else 0 */
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

enum { GROUT_RANGES_MAX = 3 };
/* low..high step step: three constants; of a RANGES attribute. */
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

/* ---- reading a module -------------------------------------------------------------------------
 */

/* Tables. Counts include entry 0, which is never used: walk from 1. */
GROUT_API uint32_t grout_module_get_kernel_count(const grout_module *module);
GROUT_API uint32_t grout_module_get_const_count(const grout_module *module);

/* A kernel, by an id from 1; it belongs to the module. */
GROUT_API const grout_kernel *grout_module_get_kernel(const grout_module *module,
                                                      grout_kernel_id id);
/* Lines of the launch list; counts entry 0, as above. */
GROUT_API uint32_t grout_module_get_launch_count(const grout_module *module);
/* Parts by their place or id. NULL: an op has no such attribute, or no written type. */
GROUT_API const grout_param *grout_module_get_param(const grout_module *module,
                                                    const grout_kernel *kernel, uint32_t index);
GROUT_API const grout_const *grout_module_get_const(const grout_module *module, grout_const_id id);
GROUT_API const grout_op *grout_module_get_op(const grout_module *module, grout_op_id id);
GROUT_API const grout_operand *grout_module_get_operand(const grout_module *module,
                                                        const grout_op *op, uint32_t index);
GROUT_API const grout_attr_value *grout_module_find_attr(const grout_module *module,
                                                         const grout_op *op, grout_attr attr);
GROUT_API const grout_value *grout_module_get_value(const grout_module *module, grout_value_id id);
GROUT_API const grout_block *grout_module_get_block(const grout_module *module, grout_block_id id);
GROUT_API const grout_object *grout_module_get_object(const grout_module *module,
                                                      grout_object_id id);
GROUT_API const grout_ref *grout_module_get_ref(const grout_module *module, grout_ref_id id);
GROUT_API const grout_ref_step *grout_module_get_ref_step(const grout_module *module,
                                                          const grout_ref *ref, uint32_t index);
GROUT_API const grout_index *grout_module_get_index(const grout_module *module,
                                                    const grout_ref_step *step, uint32_t index);
/* The indices after the first operand of an op; NULL if it has none. */
GROUT_API const grout_ref_step *grout_module_get_box(const grout_module *module,
                                                     const grout_op *op);
GROUT_API const grout_expr *grout_module_get_expr(const grout_module *module, grout_expr_id id);
GROUT_API const grout_written_type *grout_module_get_written_type(const grout_module *module,
                                                                  const grout_op *op);
/* NUL-terminated; "" for id 0. */
GROUT_API const char *grout_module_get_string(const grout_module *module, grout_string_id id);
/* The place of an id, for a diagnostic; file NULL for id 0. Borrowed from the module. */
GROUT_API grout_place grout_module_get_place(const grout_module *module, grout_loc_id id);
/* By name, without '@'. Unknown: 0. */
GROUT_API grout_kernel_id grout_module_find_kernel(const grout_module *module, const char *name);
/* The const that is a dimension of an array parameter by itself, as N is in f32[N, 64]: the array's
 * size gives it its value. 0: the dimension is something else, or there is none of that number. */
GROUT_API grout_const_id grout_param_get_dim_const(const grout_module *module,
                                                   const grout_param *param, uint32_t dim);

/* ---- of bound modules -------------------------------------------------------------------------
 */

/* The type of a value; it belongs to the module. */
GROUT_API const grout_type *grout_module_get_type(const grout_module *module, grout_value_id id);
/* The type of a value, of a constant (it follows from the op's other operands), or of an indexed
 * reference. */
GROUT_API grout_type grout_module_get_operand_type(const grout_module *module,
                                                   const grout_operand *operand);
/* The type of an object; it belongs to the module. */
GROUT_API const grout_type *grout_object_get_type(const grout_module *module, grout_object_id id);
/* CTAs of the launch: clusters times cluster size. */
GROUT_API int64_t grout_kernel_get_grid_size(const grout_module *module, grout_kernel_id id);

#ifdef __cplusplus
}
#endif
#endif
