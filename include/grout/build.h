/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - kernels written by programs: the builder.
 *
 * The builder makes the same symbolic module that the parser makes. It is sticky: after the first
 * mistake, or without memory, every call is a no-op that returns the invalid id 0, and
 * grout_builder_finish reports; building code needs no checks.
 *
 *     grout_builder *b = grout_builder_new("my_program");
 *     grout_builder_here(b, __FILE__, __LINE__);
 *     grout_builder_kernel(b, "add_one");
 *     ...
 *     grout_module *module = grout_builder_finish(b, diags);
 */
#ifndef GROUT_BUILD_H
#define GROUT_BUILD_H

#include "grout/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_builder grout_builder;

/* One index of a reference. */
typedef struct grout_build_index {
    uint8_t kind; /* grout_index_kind */
    grout_operand start;
    grout_expr_id size;
} grout_build_index;

/* Diagnostics without a place show name as their file. NULL without memory. */
GROUT_API grout_builder *grout_builder_new(const char *name);
/* The same with an allocator of the caller's (alloc.h), for the builder and its module. */
GROUT_API grout_builder *grout_builder_new_in(const grout_allocator *allocator, const char *name);
/* Ends the building: the module, or NULL with the first mistake in diags. Frees the builder. */
GROUT_API grout_module *grout_builder_finish(grout_builder *builder, grout_diags *diags);
/*
 * The same, but the builder stays until grout_builder_free: for callers whose objects may be used
 * after their end, as those of other languages. Any call after this one, a second close too, is a
 * mistake like any other: nothing is built, and grout_builder_get_mistake says so.
 */
GROUT_API grout_module *grout_builder_close(grout_builder *builder, grout_diags *diags);
/* Throws it away, finished or not. Not after grout_builder_finish, which has done it. */
GROUT_API void grout_builder_free(grout_builder *builder);

/* Whether a mistake was made, or memory ran out: from then on nothing is built. */
GROUT_API bool grout_builder_is_failed(const grout_builder *builder);
/* The first mistake, with its place; borrowed from the builder. NULL: there is none, or what failed
 * is memory. */
GROUT_API const grout_diag *grout_builder_get_mistake(const grout_builder *builder);

/*
 * A copy of the module so far, in which the values that have been built have types
 * (grout_module_get_type), with the consts at their default values: kind NONE of a value
 * whose type a fault, or a const without a value, leaves open. Faults of kinds and types come to
 * diags; what an open region lacks is none of them. It is for questions, not to be run. Freed with
 * grout_module_free; NULL without memory, and after a mistake. Each call looks at the whole module.
 */
GROUT_API grout_module *grout_builder_infer(const grout_builder *builder, grout_diags *diags);

/* What the author of the kernels writes, for the words of findings; else the text format. */
GROUT_API void grout_builder_surface(grout_builder *builder, grout_surface surface);
/* The place that diagnostics give for the following calls: C source, or (at) any other place. */
GROUT_API void grout_builder_here(grout_builder *builder, const char *file, uint32_t line);
/*
 * Returns the id of the place, 0 after a mistake. A later place may name it as its parent, which
 * is where that one was called from: a chain of frames, the innermost of which is the place of what
 * is built. loc.file is ignored: file says it.
 */
GROUT_API grout_loc_id grout_builder_at(grout_builder *builder, grout_loc loc, const char *file);
/* Gives the module the text of a file that places name, so that diagnostics show its lines. Copied;
 * once for each file. */
GROUT_API void grout_builder_add_source(grout_builder *builder, const char *file, const char *text,
                                        size_t size);
/* From here on unnamed values with one use print nested in their user (default: they get %0, %1).
 */
GROUT_API void grout_builder_inline(grout_builder *builder, bool on);

/* Constant expressions. */
GROUT_API grout_expr_id grout_build_int(grout_builder *builder, int64_t value);
GROUT_API grout_expr_id grout_build_bool(grout_builder *builder, bool value);
GROUT_API grout_expr_id grout_build_float(grout_builder *builder, double value);
/* A constant of an element type that is not bool, by the low bits of its element. */
GROUT_API grout_expr_id grout_build_element(grout_builder *builder, grout_dtype dtype,
                                            uint64_t bits);
GROUT_API grout_expr_id grout_build_const(grout_builder *builder, const char *name,
                                          grout_expr_id value);
GROUT_API grout_expr_id grout_build_expr(grout_builder *builder, grout_expr_operator operator_,
                                         grout_expr_id a, grout_expr_id b);
GROUT_API void grout_build_require(grout_builder *builder, grout_expr_id condition,
                                   const char *text);

/* A line of the launch list: a kernel, by its name and without '@', and one name for each of its
 * parameters. The kernel may come later. */
GROUT_API void grout_build_launch(grout_builder *builder, const char *kernel,
                                  const char *const *arguments, uint32_t argument_count,
                                  bool is_dependent);

/* The kernel: header first, then its body. grout_builder_end_kernel closes it. */
GROUT_API void grout_builder_kernel(grout_builder *builder, const char *name);
GROUT_API grout_value_id grout_build_param_array(grout_builder *builder, const char *name,
                                                 grout_direction direction, grout_dtype dtype,
                                                 uint32_t rank, const grout_expr_id *dims);
/* 'packed' of an array parameter, after that was made. */
GROUT_API void grout_build_param_packed(grout_builder *builder, grout_value_id value);
GROUT_API grout_value_id grout_build_param_scalar(grout_builder *builder, const char *name,
                                                  grout_dtype dtype);
/* 'init(..)' of a parameter or of a scratch, after that was made: what it holds unless the caller
 * brings something else. arguments: the seed of RANDN; seed and bounds of UNIFORM; the constant of
 * VALUE; the elements of LIST, row-major; none of the others. */
GROUT_API void grout_build_init(grout_builder *builder, grout_value_id value,
                                grout_generator_kind kind, uint32_t count,
                                const grout_expr_id *arguments);
GROUT_API void grout_build_axis(grout_builder *builder, grout_axis_kind kind, const char *name,
                                grout_expr_id size);
/* 'attr arch = ..' of the open kernel: a GPU's, not GROUT_ARCH_ANY. */
GROUT_API void grout_build_arch(grout_builder *builder, grout_arch arch);
/* 'attr cluster_exit = ..', 'attr auto_fence = ..' of the open kernel. */
GROUT_API void grout_build_cluster_exit(grout_builder *builder, grout_cluster_exit exit);
GROUT_API void grout_build_auto_fence(grout_builder *builder, bool is_on);
/* 'attr partition_warps = [..]': the warps of each thread, 4 of thread 0, 1, 2 or 4 of the others.
 */
GROUT_API void grout_build_partition_warps(grout_builder *builder, uint32_t count,
                                           const uint32_t *warps);
GROUT_API void grout_builder_end_kernel(grout_builder *builder);

/* Objects. In a kernel's body: scratch. */
typedef struct grout_build_object {
    grout_object_kind kind;
    grout_space space; /* NONE: smem; of an array smem or acc, which has no tile and so on */
    grout_dtype dtype;
    uint32_t rank;
    const grout_expr_id *dims;
    uint32_t tile_rank;
    const grout_expr_id *tile;
    bool infers_tile;      /* 'tile(infer)', instead of a tile; with it swizzle 0: any */
    grout_expr_id swizzle; /* 0: none */
    uint32_t transpose_rank;
    const grout_expr_id *transpose;
    const char *layout;   /* of the user's own, as in layout("..") instead of the three; or NULL */
    grout_value_id alias; /* an smem array whose bytes it has; 0: it has its own */
    grout_expr_id alias_start; /* from this byte on; 0: from the first */
    grout_expr_id arrivals;    /* of a barrier; 0: 1 */
    bool is_explicit;          /* of a barrier: mbarrier */
    bool orders_tensor_core;   /* of a barrier that is no mbarrier */
    bool is_packed;            /* of a tmem array */
    bool is_padded;            /* of an smem array of 4 or 6 bits */
    bool is_collective;        /* of a tmem array: of a pair of CTAs */
    bool is_leader_tracked;    /* of a cluster barrier, or an mbarrier: two_ctas */
    bool is_scales;            /* of a tmem array; so are the next: one of the four at most */
    bool is_split_scales;
    bool is_metadata;
    bool is_global;               /* of a semaphore */
    uint32_t cluster_group_count; /* of a barrier: sets of axes, by their numbers in the kernel */
    const uint8_t *cluster_groups;
} grout_build_object;
GROUT_API grout_value_id grout_build_scratch(grout_builder *builder, const char *name,
                                             const grout_build_object *object);

/* Whether a name is a word of the language, which no const and no axis may have. */
GROUT_API bool grout_build_is_word(const char *name);

/* Operands. */
static inline grout_operand grout_value_operand(grout_value_id value) {
    const grout_operand operand = {GROUT_OPERAND_VALUE, value, 0};
    return operand;
}
static inline grout_operand grout_expr_operand(grout_expr_id expr) {
    const grout_operand operand = {GROUT_OPERAND_EXPR, expr, 0};
    return operand;
}
GROUT_API grout_operand grout_build_ref(grout_builder *builder, grout_value_id base, uint32_t count,
                                        const grout_build_index *indices);
/* The same of a reference: '%a[0][:, 8]', '%a.bitcast(f32)[0, :]'. */
GROUT_API grout_operand grout_build_part_ref(grout_builder *builder, grout_operand ref,
                                             uint32_t count, const grout_build_index *indices);
GROUT_API grout_operand grout_build_transpose(grout_builder *builder, grout_operand ref,
                                              uint32_t rank, const uint32_t *permutation);
/* ref in the SMEM of another CTA: its place on each cluster axis. */
GROUT_API grout_operand grout_build_cluster_ref(grout_builder *builder, grout_operand ref,
                                                uint32_t count, const grout_operand *place);
/* The bytes of ref as elements of another type, or with other dimensions. */
GROUT_API grout_operand grout_build_bitcast_ref(grout_builder *builder, grout_operand ref,
                                                grout_dtype dtype);
GROUT_API grout_operand grout_build_reshape_ref(grout_builder *builder, grout_operand ref,
                                                uint32_t rank, const grout_expr_id *dims);
/* One index: ':', an element, and size elements from one on. */
static inline grout_build_index grout_index_all(void) {
    const grout_build_index index = {GROUT_INDEX_ALL, {GROUT_OPERAND_NONE, 0, 0}, 0};
    return index;
}
static inline grout_build_index grout_index_at(grout_operand start) {
    const grout_build_index index = {GROUT_INDEX_AT, start, 0};
    return index;
}
static inline grout_build_index grout_index_slice(grout_operand start, grout_expr_id size) {
    const grout_build_index index = {GROUT_INDEX_SLICE, start, size};
    return index;
}
/* A name for a value; without one it is %0, %1, ... or nested. Returns the value. */
GROUT_API grout_value_id grout_build_name(grout_builder *builder, grout_value_id value,
                                          const char *name);

/*
 * Any operation without regions, in the operands of its form; type is read by ops written with
 * ': type' (dims NULL: element type only). Returns its result, or 0. One function below for each
 * op calls this.
 */
typedef struct grout_build_op_args {
    const grout_operand *operands;
    uint32_t operand_count;
    const char *text; /* string of debug_print, or axis name of axis_index */
    const char *ptx;  /* the second text, of inline_ptx */
    grout_dtype type_dtype;
    uint32_t type_rank;
    const grout_expr_id *type_dims;
    uint64_t attrs;                   /* GROUT_ATTR_BIT(..) */
    grout_expr_id attr_value;         /* of the one INT attribute */
    const grout_expr_id *attr_values; /* of several, in the order of the table; NULL: attr_value */
    uint32_t attr_axes; /* of the one AXES attribute: bit i for axis i of the kernel */
    uint32_t attr_dims; /* of the one DIMS attribute: grout_attr_value.dims */
    const grout_written_range *attr_ranges; /* of the one RANGES attribute */
    uint32_t attr_range_count;
    const grout_choice *choices; /* of the CHOICE attributes */
    uint32_t choice_count;
} grout_build_op_args;
GROUT_API grout_value_id grout_build_op(grout_builder *builder, grout_opcode opcode,
                                        const grout_build_op_args *args);

/* Regions: begin, build the body, (else,) end with as many yields as there are results. Both bodies
 * of an 'if' have that many: else takes those of the first body, end those of the second. */
GROUT_API grout_value_id grout_build_for(grout_builder *builder, const char *index_name,
                                         grout_operand low, grout_operand high, grout_operand step,
                                         uint32_t carry_count, const char *const *carry_names,
                                         const grout_operand *carry_inits);
/* 'unroll(copies)' of the for whose body is open. */
GROUT_API void grout_build_unroll(grout_builder *builder, grout_expr_id copies);
/* i-th carry of the innermost open for or while. */
GROUT_API grout_value_id grout_build_carry(grout_builder *builder, uint32_t index);
/*
 * A while: begin, build its first body, do with the condition (a bool scalar), build the second,
 * end with as many yields as carries; its results are the carries when the condition is false.
 * grout_build_carry gives the carries, in both bodies, and the second may use what the first
 * defines.
 */
GROUT_API void grout_build_while(grout_builder *builder, uint32_t carry_count,
                                 const char *const *carry_names, const grout_operand *carry_inits);
GROUT_API void grout_build_do(grout_builder *builder, grout_operand condition);
GROUT_API void grout_build_if(grout_builder *builder, grout_operand condition);
GROUT_API void grout_build_else(grout_builder *builder, uint32_t yield_count,
                                const grout_operand *yields);
GROUT_API void grout_build_scoped(grout_builder *builder, bool collective, uint32_t object_count,
                                  const char *const *names, const grout_build_object *objects,
                                  grout_value_id *values_out);
/* A warp_map: begin, build the body, end without yields. Returns the warp's index, an i32. */
GROUT_API grout_value_id grout_build_warp_map(grout_builder *builder, const char *index_name);
/* A warp_specialize: begin, build the first body, partition for each further one (with the yields
 * of the first body, at its first call), end. */
GROUT_API void grout_build_warp_specialize(grout_builder *builder);
GROUT_API void grout_build_partition(grout_builder *builder, uint32_t yield_count,
                                     const grout_operand *yields);
/* Closes the innermost region; returns its first result (the others follow it), or 0. */
GROUT_API grout_value_id grout_build_end(grout_builder *builder, uint32_t yield_count,
                                         const grout_operand *yields);

/*
 * One function an op, grout_build_<op>, from the BUILD column of ops.def. a, b, c, .. are its
 * operands in the order of its syntax ('grout ops NAME'); that of a slice is a grout_build_ref of
 * an array value. attrs are those of the op without an argument: APPROX or none of a MATH op, one
 * of LAYOUT_* of a layout_cast, READ_ONLY or none of wait_smem_to_gmem, INCREASE or DECREASE of
 * set_max_registers, SATURATE or none of mma, wgmma and its kin. What has no argument here (dim
 * of a broadcast, wait of an acc_load, count of a barrier_arrive, use_acc of a wgmma) is for
 * grout_build_op.
 */
#define GROUT_BUILD_V1(name) \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a);
#define GROUT_BUILD_V2(name)                                                             \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                grout_operand b);
#define GROUT_BUILD_V3(name)                                                             \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                grout_operand b, grout_operand c);
#define GROUT_BUILD_V1_ATTRS(name)                                                       \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                uint64_t attrs);
#define GROUT_BUILD_V3_ATTRS(name)                                                       \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                grout_operand b, grout_operand c, uint64_t attrs);
#define GROUT_BUILD_N0(name) GROUT_API void grout_build_##name(grout_builder *builder);
#define GROUT_BUILD_N1(name) \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a);
#define GROUT_BUILD_N2(name) \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b);
#define GROUT_BUILD_N3(name)                                                                    \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      grout_operand c);
#define GROUT_BUILD_N3_ATTRS(name)                                                              \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      grout_operand c, uint64_t attrs);
#define GROUT_BUILD_N4(name)                                                                    \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      grout_operand c, grout_operand d);
/* of an op with one operand more, which is omitted */
#define GROUT_BUILD_N3_OPTION_ATTRS(name)                                                       \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      grout_operand c, uint64_t attrs);
#define GROUT_BUILD_N4_OPTION_ATTRS(name)                                                       \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      grout_operand c, grout_operand d, uint64_t attrs);
#define GROUT_BUILD_N5_OPTION(name)                                                             \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      grout_operand c, grout_operand d, grout_operand e);
#define GROUT_BUILD_N6_OPTION(name)                                                             \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      grout_operand c, grout_operand d, grout_operand e,        \
                                      grout_operand f);
#define GROUT_BUILD_N2_ATTRS(name)                                                              \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      uint64_t attrs);
#define GROUT_BUILD_N1_K(name) \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_expr_id n);
#define GROUT_BUILD_V1_K(name)                                                           \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                grout_expr_id n);
#define GROUT_BUILD_K1_ATTRS(name) \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_expr_id n, uint64_t attrs);
#define GROUT_BUILD_UNARY(name)   GROUT_BUILD_V1(name)
#define GROUT_BUILD_TEST(name)    GROUT_BUILD_V1(name)
#define GROUT_BUILD_BINARY(name)  GROUT_BUILD_V2(name)
#define GROUT_BUILD_COMPARE(name) GROUT_BUILD_V2(name)
#define GROUT_BUILD_TERNARY(name) GROUT_BUILD_V3(name)
#define GROUT_BUILD_MATH(name)    GROUT_BUILD_V1_ATTRS(name)
#define GROUT_BUILD_MATH_BINARY(name)                                                    \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                grout_operand b, uint64_t attrs);
#define GROUT_BUILD_CAST(name)                                                           \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                grout_dtype dtype);
/* with a written type of a shape */
#define GROUT_BUILD_SHAPED(name)                                                         \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                grout_dtype dtype, uint32_t rank,        \
                                                const grout_expr_id *dims);
/* values: the slot, the array, the starts, the extents */
#define GROUT_BUILD_DESCRIPTOR(name)                                                            \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, uint32_t count,         \
                                                const grout_operand *values, grout_dtype dtype, \
                                                uint32_t rank, const grout_expr_id *dims);
#define GROUT_BUILD_IOTA(name)                                                                   \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_expr_id dimension, \
                                                grout_dtype dtype, uint32_t rank,                \
                                                const grout_expr_id *dims);
/* dimension 0 (no expression): all of them */
#define GROUT_BUILD_REDUCE(name)                                                         \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                grout_expr_id dimension);
/* dimension 0 (no expression): that of an array which has one */
#define GROUT_BUILD_SCAN(name)                                                           \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                grout_expr_id dimension, uint64_t attrs);
/* mask of kind GROUT_OPERAND_NONE: without one; dimension 0 (no expression): without dim(d) */
#define GROUT_BUILD_GATHER(name)                                                           \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a,   \
                                                grout_operand indices, grout_operand mask, \
                                                grout_expr_id dimension);
#define GROUT_BUILD_SCATTER(name)                                                                 \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a,                    \
                                      grout_operand indices, grout_operand b, grout_operand mask, \
                                      grout_expr_id dimension);
/* The same of mask and dimension. */
#define GROUT_BUILD_GATHER_COPY(name)                                                           \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      grout_operand indices, grout_operand mask,                \
                                      grout_expr_id dimension);
#define GROUT_BUILD_CONCATENATE(name)                                                            \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_expr_id dimension, \
                                                uint32_t count, const grout_operand *values);
/* dims: this many dimensions of the array, in the order of the result. 'grout_build_transpose'
 * makes a reference. */
#define GROUT_BUILD_TRANSPOSE(name)                                                              \
    GROUT_API grout_value_id grout_build_##name##_value(grout_builder *builder, grout_operand a, \
                                                        uint32_t count, const uint32_t *dims);
#define GROUT_BUILD_RELAYOUT(name)                                                       \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, \
                                                const char *text);
#define GROUT_BUILD_AXIS(name) \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, const char *axis);
#define GROUT_BUILD_PRINT(name)                                                                 \
    GROUT_API void grout_build_##name(grout_builder *builder, const char *text, uint32_t count, \
                                      const grout_operand *values);
/* The condition, the text, and at most GROUT_CHECK_VALUES_MAX values for its {}. */
#define GROUT_BUILD_CHECK(name)                                                        \
    GROUT_API void grout_build_##name(grout_builder *builder, grout_operand condition, \
                                      const char *text, uint32_t count,                \
                                      const grout_operand *values);
/* Source, destination and barrier, and for each spatial dimension an offset and a range of base
 * pixels. */
#define GROUT_BUILD_IM2COL(name)                                                                   \
    GROUT_API void grout_build_##name(                                                             \
        grout_builder *builder, grout_operand a, grout_operand b, grout_operand c, uint32_t count, \
        const grout_operand *offsets, const grout_written_range *pixels);
#define GROUT_BUILD_EXTERN(name)                                                          \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, const char *text, \
                                                grout_dtype dtype, uint32_t count,        \
                                                const grout_operand *values);
/* text: the name of the function for the CPU. */
#define GROUT_BUILD_PTX(name)                                                             \
    GROUT_API grout_value_id grout_build_##name(grout_builder *builder, const char *text, \
                                                const char *ptx, grout_dtype dtype,       \
                                                uint32_t count, const grout_operand *values);
/* Regions and objects have functions of their own, above. */
#define GROUT_BUILD_OWN(name)
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) GROUT_BUILD_##BUILD(text)
#include "grout/ops.def"

#ifdef __cplusplus
}
#endif
#endif
