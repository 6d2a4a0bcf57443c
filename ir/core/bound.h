/* bound.h - what the files that bind and verify a module share; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_BOUND_H
#define GROUT_IR_BOUND_H

#include "module.h"

#include <stdarg.h>

/* callers.c: reports at a place of the module, and where that was called from; nothing if diags is
 * NULL, and nobody listens. Returns false. */
bool grout_module__refuse(const grout_module *module, grout_diags *diags, grout_diag_code code,
                          grout_loc_id loc, const char *format, ...) GROUT_PRINTF(5, 6);
bool grout_module__refuse_list(const grout_module *module, grout_diags *diags, grout_diag_code code,
                               grout_loc_id loc, const char *format, va_list arguments);

/* A module being bound. The passes report and go on; ok says whether anybody has reported. */
/* References, or objects, that view values by .bitcast or .reshape: in the order made, and by
 * value.
 */
typedef struct grout_recasts {
    struct {
        struct {
            uint32_t id;
            uint32_t next; /* an older one of the same value, from 1; 0: none */
        } * items;
        size_t count, capacity;
    } all;
    grout_lookup newest; /* by value, from 1 */
} grout_recasts;

typedef struct grout_binding {
    grout_module *module; /* the copy that becomes the bound module */
    grout_bound *bound;   /* module->bound */
    grout_diags *diags;
    const grout_define *defines;
    size_t define_count;
    grout_block_id
        *value_scopes; /* by value: the block in which it can be used; 0 before its definition */
    bool *open_blocks; /* by block: the walk stands inside */
    struct grout_layout_spec *object_specs; /* by object: what its layout was made of */
    bool *has_alias;                        /* by object: another one has its bytes */
    grout_recasts recasts;                  /* the references with a .bitcast or .reshape */
    grout_recasts recast_objects;           /* the objects that their views have become */
    grout_block_id unfinished; /* that a builder fills: it and those around it have no end yet */
    bool ok;
} grout_binding;

/* Adds a diagnostic at a place of the module; returns false. */
bool grout_binding__report(grout_binding *binding, grout_diag_code code, grout_loc_id loc,
                           const char *format, ...) GROUT_PRINTF(4, 5);
/* Whether binding goes on; else ok is false. */
bool grout_binding__goes_on(grout_binding *binding);
/* Zeroed memory for count items, or NULL after reporting that there is none. */
void *grout_binding__new(grout_binding *binding, size_t count, size_t size);

/* bind.c: types alone, of a module that is being built. Constants without a value, and requires
 * that do not hold, are none of its matter: then there are no types. */
void grout_binding__infer_unfinished(grout_binding *binding);
/* What a binding needs beside the module. */
void grout_binding__deinit(grout_binding *binding);

/* expansion.c: what 'packed' and 'padded' ask of an array; the layout's numbers are elements. */
bool grout_bind__expansion(grout_binding *binding, const grout_object *object,
                           const struct grout_layout_spec *spec);
/* bind.c: type and layout of an object. */
void grout_binding__set_object(grout_binding *binding, grout_object_id id, const grout_type *type,
                               const struct grout_layout_spec *spec);

/* alias.c: which arrays have aliases; whether an object that is one can be, once its own layout is
 * set, and where it lies in tensor memory. */
void grout_alias__note(grout_binding *binding);
bool grout_alias__bind(grout_binding *binding, grout_object_id id);

/* recast.c: how many objects the views by .bitcast and .reshape become at most; makes them. */
uint32_t grout_recast__count(const grout_module *module);
void grout_recast__module(grout_binding *binding);
void grout_recast__deinit(grout_recasts *recasts);

/* Makes the views of an object again, whose layout has changed. */
void grout_recast__object(grout_binding *binding, grout_object_id object);

/* tiling.c: the tile and swizzle of each array in 'tile(infer)', by all that uses it. Once types
 * are known; nothing if there was a fault. */
void grout_infer_tiles__module(grout_binding *binding);
/* init_lists.c: parameters whose list is of another length have no init. */
void grout_init_lists__leave_out(grout_binding *binding);
/* Gives references the contents that their kernels have. */
void grout_init_lists__take_over(grout_binding *binding);

/* fold.c: evaluates every constant expression that the module uses, then the requires. */
void grout_fold__module(grout_binding *binding);
/* Whether the element type can hold the value: integers in range, floats without overflow. Whether
 * it may be of that type at all is a matter of inference. */
bool grout_fold__fits(const grout_expr_value *value, grout_dtype dtype);
/* The largest finite number of a float type. */
double grout_number__get_largest(grout_dtype dtype);
/* Whether a constant may be an element of the type. */
bool grout_number__is_constant_of(const grout_expr_value *value, grout_dtype dtype);
/* "help: i8 holds -128 to 127" for the diagnostic just made. */
void grout_number__help_range(grout_dtype dtype, grout_diags *diags);
/* The expression as the file writes it, cut to fit a message. */
typedef struct grout_expr_text {
    char chars[96];
} grout_expr_text;
grout_expr_text grout_fold__get_text(const grout_module *module, grout_expr_id id);

/* infer_region.c: the type of every value of a kernel. */
void grout_infer__kernel(grout_binding *binding, grout_kernel_id id);

/* smem_plan.c: where the SMEM objects of each kernel lie. */
void grout_smem_plan__module(grout_binding *binding);

/* auto_fence.c: which operations have an implied fence in front. After the SMEM plan, of a module
 * without a fault. */
void grout_auto_fence__module(grout_binding *binding);

/* view.c: why a reference has no view. */
typedef enum grout_view_fault {
    GROUT_VIEW_FINE,
    GROUT_VIEW_NO_REFERENCE, /* the base is no object */
    GROUT_VIEW_TOO_MANY,     /* more indices than dimensions */
    GROUT_VIEW_PERMUTATION,  /* a transpose that is none */
    GROUT_VIEW_START,        /* a constant start outside i32 */
    GROUT_VIEW_SIZE,         /* a slice of less than 1 or more than GROUT_DIM_MAX elements */
    GROUT_VIEW_TERMS,        /* more dynamic starts than GROUT_VIEW_TERMS_MAX */
    GROUT_VIEW_DESCRIPTOR,   /* a descriptor without one index for each dimension */
    GROUT_VIEW_CLUSTER,      /* .cluster of what other CTAs cannot reach */
    GROUT_VIEW_CLUSTER_TWICE,
    GROUT_VIEW_CLUSTER_COUNT, /* more or fewer places than the kernel has cluster axes */
    GROUT_VIEW_RECAST_SPACE,  /* .bitcast or .reshape of what is no array of a CTA's bytes */
    GROUT_VIEW_RECAST_PART,   /* .. of a part: slices or a transposition stand before it */
    GROUT_VIEW_RECAST_SIZE,   /* a bitcast that does not divide the innermost dimension */
    GROUT_VIEW_RECAST_LAYOUT, /* one whose innermost dimension is not the innermost in memory */
    GROUT_VIEW_RESHAPE_DIMS, /* a dimension below 1, or more than GROUT_RANK_MAX with the indexed */
    GROUT_VIEW_RESHAPE_COUNT,  /* a reshape to another number of elements */
    GROUT_VIEW_RESHAPE_LAYOUT, /* .. that would move elements: tile or swizzle do not fit */
    GROUT_VIEW_PACKED_ONE,     /* one element of a packed type, which has no byte of its own */
    GROUT_VIEW_PACKED_PART,    /* a slice of such elements that begins or ends inside a byte */
    GROUT_VIEW_PACKED_ORDER    /* the dimension along which they are packed is not the last one */
} grout_view_fault;

typedef struct grout_view_problem {
    grout_view_fault fault;
    const grout_ref_step *step; /* of the fault */
    uint32_t index;             /* in the step */
    uint8_t rank;               /* of the reference before the step */
    grout_object_id object;
} grout_view_problem;

grout_view_problem grout_view__resolve(const grout_module *module, const grout_operand *operand,
                                       grout_view *view_out);
/* The same of at most the first max steps. */
grout_view_problem grout_view__resolve_steps(const grout_module *module,
                                             const grout_operand *operand, uint32_t max,
                                             grout_view *view_out);
/* Whether there is a view nevertheless: packed elements along another dimension than the last one
 * of the reference, which only some operations take, are refused where operands are looked at. */
static inline bool grout_view_fault__has_view(grout_view_fault fault) {
    return fault == GROUT_VIEW_FINE || fault == GROUT_VIEW_PACKED_ORDER;
}
/* packed.c: whether TMA spreads the elements of an object (grout_type.is_expanded), and how many of
 * them lie in a byte as layouts count them. */
bool grout_object__is_expanded(const grout_object *object);
uint8_t grout_object__get_packed(const grout_object *object);
/* packed.c: makes a view of packed elements count bytes in its last dimension. */
grout_view_fault grout_view__pack(const grout_module *module, grout_view *view);
/* The type of a view as grout_view__resolve makes it: a REF of its dimensions, a BARRIER or a
 * SEMAPHORE. */
grout_type grout_view__get_type(const grout_module *module, const grout_view *view);

/* The tensor_descriptor that a value is the result of, or NULL. */
const grout_op *grout_value__get_descriptor(const grout_module *module, grout_value_id id);
/* The kernel that an object belongs to; 0 for a parameter. */
grout_kernel_id grout_object__get_kernel(const grout_module *module, grout_object_id id);

/* The product of the sizes of a set of axes of a kernel; 0 if one is none. */
int64_t grout_kernel__get_group_size(const grout_module *module, grout_kernel_id id, uint32_t axes);

/* The tile of each dimension of an object: slices start at multiples of it. 1 without tile. */
void grout_object__get_tiles(const grout_module *module, grout_object_id id,
                             int64_t tiles_out[GROUT_RANK_MAX]);

/* "'%name'" for a value with a name, else the fallback. */
typedef struct grout_value_text {
    char chars[GROUT_NAME_MAX + 8];
} grout_value_text;
grout_value_text grout_value__get_text(const grout_module *module, grout_value_id id,
                                       const char *fallback);

/* The operation after it in program order of its kernel, into bodies and out of them; 0 at the end.
 */
grout_op_id grout_kernel__get_next_op(const grout_module *module, grout_op_id id);
grout_op_id grout_kernel__get_first_op(const grout_module *module, grout_kernel_id kernel);
/* The largest power of two, at most 2^20, that divides a constant (divisor.c). */
int64_t grout_divisor__of_constant(int64_t value);

#endif
