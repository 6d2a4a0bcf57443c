/* bind.c - from a symbolic module to a bound one: defines, sizes, types, memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include "alloc.h"
#include "layout.h"
#include "suggest.h"

#include <inttypes.h>
#include <string.h>

/* ---- defines --------------------------------------------------------------------------------- */

static const char *get_origin(const grout_define *define) {
    return define->origin == NULL ? "-D" : define->origin;
}

/* Which consts there are to define. */
static void help_consts(grout_binding *binding) {
    enum { SHOWN_MAX = 12 };
    const grout_module *module = binding->module;
    grout_text names = {.allocator = module->allocator};
    for (uint32_t id = 1; id < module->consts.count && id <= SHOWN_MAX; id++) {
        const grout_const *constant = GROUT_TABLE_AT(module->consts, grout_const, id);
        grout_text_add(&names, "%s%s", id > 1 ? ", " : "",
                       grout_module_get_string(module, constant->name));
    }
    if (module->consts.count <= 1) {
        grout_diags_help(binding->diags, "it has no consts");
    } else if (!names.failed) {
        grout_diags_help(binding->diags, "its consts: %s%s", names.data,
                         module->consts.count > SHOWN_MAX + 1 ? ", ..." : "");
    }
    grout_text_free(&names);
}

static void report_unknown_define(grout_binding *binding, const grout_define *define) {
    const grout_module *module = binding->module;
    grout_suggestion suggestion = grout_suggest__begin(define->name, strlen(define->name));
    for (uint32_t id = 1; id < module->consts.count; id++) {
        const grout_const *constant = GROUT_TABLE_AT(module->consts, grout_const, id);
        grout_suggest__offer(&suggestion, grout_module_get_string(module, constant->name));
    }
    grout_binding__report(binding, GROUT_DIAG_UNKNOWN_DEFINE, 0,
                          "%s gives '%s', and the file has no "
                          "const of this name",
                          get_origin(define), define->name);
    if (suggestion.best != NULL) {
        grout_diags_help(binding->diags, "did you mean '%s'?", suggestion.best);
    } else {
        help_consts(binding);
    }
}

/* Whether the const, as written, is a truth value: 'true', a comparison, or a name of one. */
static bool is_condition(const grout_module *module, grout_expr_id id) {
    for (uint32_t step = 0; step < module->consts.count; step++) {
        const grout_expr *expr = grout_module_get_expr(module, id);
        if (expr->kind != GROUT_EXPR_NAME) {
            return expr->kind == GROUT_EXPR_BOOL ||
                   (expr->kind == GROUT_EXPR_BINARY && expr->operator_ >= GROUT_EXPR_EQ &&
                    expr->operator_ <= GROUT_EXPR_GE);
        }
        id = grout_module_get_const(module, expr->constant)->expr;
    }
    return false;
}

/* The literal that takes the place of a const's value; kind NONE after a report. */
static grout_expr make_literal(grout_binding *binding, const grout_define *define,
                               const grout_const *constant) {
    const grout_expr *written = grout_module_get_expr(binding->module, constant->expr);
    grout_expr literal = {.kind = GROUT_EXPR_INT, .loc = written->loc};
    literal.u.integer = define->integer;
    if (define->is_float) {
        literal.kind = GROUT_EXPR_FLOAT;
        literal.u.number = define->number;
    }
    if (define->is_float && !constant->is_f32) {
        grout_binding__report(binding, GROUT_DIAG_CONST_TYPE, constant->loc,
                              "%s gives const '%s' the value %g, and it is an integer",
                              get_origin(define), define->name, define->number);
        literal.kind = GROUT_EXPR_NONE;
    } else if (is_condition(binding->module, constant->expr)) {
        literal.kind = GROUT_EXPR_BOOL;
        if (define->integer != 0 && define->integer != 1) {
            grout_binding__report(binding, GROUT_DIAG_CONST_TYPE, constant->loc,
                                  "%s gives const '%s' the value %" PRId64
                                  ", and it is a truth value: 0 or 1",
                                  get_origin(define), define->name, define->integer);
            literal.kind = GROUT_EXPR_NONE;
        }
    }
    return literal;
}

static bool is_same_value(const grout_define *a, const grout_define *b) {
    return a->is_float == b->is_float &&
           (a->is_float ? a->number == b->number : a->integer == b->integer);
}

/* The first define of the same name before this one, or NULL. */
static const grout_define *find_earlier(const grout_binding *binding, size_t index) {
    for (size_t k = 0; k < index; k++) {
        if (strcmp(binding->defines[k].name, binding->defines[index].name) == 0) {
            return &binding->defines[k];
        }
    }
    return NULL;
}

static void apply_define(grout_binding *binding, size_t index) {
    const grout_define *define = &binding->defines[index];
    const grout_define *earlier = find_earlier(binding, index);
    grout_module *module = binding->module;
    grout_const_id id = grout_module_find_const(module, define->name);
    if (id == 0) {
        report_unknown_define(binding, define);
        return;
    }
    grout_const *constant = GROUT_TABLE_AT(module->consts, grout_const, id);
    if (earlier != NULL) {
        if (!is_same_value(earlier, define)) {
            grout_binding__report(binding, GROUT_DIAG_SHAPE_CONFLICT, constant->loc,
                                  "const '%s' is %" PRId64 " by %s and %" PRId64 " by %s",
                                  define->name, earlier->integer, get_origin(earlier),
                                  define->integer, get_origin(define));
        }
        return;
    }
    grout_expr literal = make_literal(binding, define, constant);
    uint32_t expr = literal.kind == GROUT_EXPR_NONE ? 0 : grout_table__add(&module->exprs, 1);
    if (expr != 0) {
        *GROUT_TABLE_AT(module->exprs, grout_expr, expr) = literal;
        constant->expr = expr;
    } else if (literal.kind != GROUT_EXPR_NONE) {
        binding->ok = grout_diags_add_oom(binding->diags);
    }
}

/* ---- operands of their own ------------------------------------------------------------------- */

/*
 * An expression that two operands share (a builder may give its id twice) can have two element
 * types; the second gets a copy.
 */
static void separate_operand(grout_binding *binding, bool *is_taken, uint32_t count,
                             grout_operand *operand) {
    grout_module *module = binding->module;
    if (operand->kind != GROUT_OPERAND_EXPR || operand->id >= count) {
        return;
    }
    if (!is_taken[operand->id]) {
        is_taken[operand->id] = true;
        return;
    }
    uint32_t copy = grout_table__add(&module->exprs, 1);
    if (copy == 0) {
        binding->ok = grout_diags_add_oom(binding->diags);
        return;
    }
    *GROUT_TABLE_AT(module->exprs, grout_expr, copy) =
        *GROUT_TABLE_AT(module->exprs, grout_expr, operand->id);
    operand->id = copy;
}

static void separate_operands(grout_binding *binding) {
    grout_module *module = binding->module;
    uint32_t count = module->exprs.count;
    bool *is_taken = grout_binding__new(binding, count, sizeof *is_taken);
    if (is_taken == NULL) {
        return;
    }
    for (uint32_t id = 1; id < module->consts.count; id++) {
        is_taken[GROUT_TABLE_AT(module->consts, grout_const, id)->expr] = true;
    }
    for (uint32_t id = 1; id < module->operands.count; id++) {
        separate_operand(binding, is_taken, count,
                         GROUT_TABLE_AT(module->operands, grout_operand, id));
    }
    for (uint32_t id = 1; id < module->indices.count; id++) {
        separate_operand(binding, is_taken, count,
                         &GROUT_TABLE_AT(module->indices, grout_index, id)->start);
    }
    grout__free(is_taken);
}

/* ---- objects --------------------------------------------------------------------------------- */

static int64_t get_integer(const grout_binding *binding, grout_expr_id id) {
    return binding->bound->expr_values[id].integer;
}

/* Bytes of a barrier, a semaphore or an element. */
static uint8_t get_element_bytes(const grout_object *object) {
    return object->kind == GROUT_OBJECT_BARRIER ? 8
           : object->kind == GROUT_OBJECT_SEMAPHORE
               ? 4
               : grout_dtype_get_info((grout_dtype)object->type.dtype)->bytes;
}

/* The dimensions of an object: each positive, and all together not too large. */
static bool bind_dims(grout_binding *binding, const grout_object *object, grout_type *type) {
    int64_t bytes = get_element_bytes(object), count = 1;
    const uint8_t packed = grout_object__get_packed(object);
    int64_t max = grout_space_is_of_launch(object->space) ? GROUT_GMEM_MAX : GROUT_SMEM_MAX;
    grout_value_text name = grout_value__get_text(binding->module, object->value, "the object");
    type->rank = object->type.rank;
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        grout_expr_id expr = object->type.dims[dim];
        int64_t size = get_integer(binding, expr);
        grout_loc_id loc = grout_module_get_expr(binding->module, expr)->loc;
        if (size < 1) {
            return grout_binding__report(binding, GROUT_DIAG_BAD_DIMENSION, loc,
                                         "dimension %" PRIu32 " of %s is %" PRId64
                                         ", and has to be at least 1",
                                         dim, name.chars, size);
        }
        count = size > INT32_MAX / count ? INT32_MAX : count * size;
        if (object->kind == GROUT_OBJECT_SEMAPHORE && count > GROUT_SEMAPHORES_MAX) {
            return grout_binding__report(binding, GROUT_DIAG_BAD_DIMENSION, loc,
                                         "%s is too large: at most %u semaphores", name.chars,
                                         GROUT_SEMAPHORES_MAX);
        }
        if (size > GROUT_DIM_MAX || __builtin_mul_overflow(bytes, size, &bytes) ||
            bytes / (packed == 0 ? 1 : packed) > max) {
            return grout_binding__report(binding, GROUT_DIAG_BAD_DIMENSION, loc,
                                         "%s is too large: at most %d elements a dimension and "
                                         "%" PRId64 " bytes in all",
                                         name.chars, GROUT_DIM_MAX, max);
        }
        type->dims[dim] = size;
    }
    return true;
}

static bool bind_transpose(grout_binding *binding, const grout_object *object,
                           grout_layout_spec *spec) {
    bool is_taken[GROUT_RANK_MAX] = {false};
    spec->has_transpose = object->transpose_rank > 0;
    if (!spec->has_transpose) {
        return true;
    }
    if (object->transpose_rank != spec->rank) {
        return grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, object->loc,
                                     "transpose lists %d dimensions of the %d of the array",
                                     object->transpose_rank, spec->rank);
    }
    for (uint32_t k = 0; k < spec->rank; k++) {
        int64_t dim = get_integer(binding, object->transpose[k]);
        grout_loc_id loc = grout_module_get_expr(binding->module, object->transpose[k])->loc;
        if (dim < 0 || dim >= spec->rank || is_taken[dim]) {
            grout_binding__report(
                binding, GROUT_DIAG_BAD_TRANSFORM, loc,
                "transpose takes each of the dimensions 0 to %d once, and %" PRId64 " %s",
                spec->rank - 1, dim, dim < 0 || dim >= spec->rank ? "is none" : "stands twice");
            return false;
        }
        is_taken[dim] = true;
        spec->permutation[k] = (uint8_t)dim;
    }
    return true;
}

static bool bind_tile(grout_binding *binding, const grout_object *object, grout_layout_spec *spec) {
    spec->tile_rank = object->tile_rank;
    if (spec->tile_rank > spec->rank) {
        return grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, object->loc,
                                     "a tile of %d dimensions for an array of %d", spec->tile_rank,
                                     spec->rank);
    }
    for (uint32_t k = 0; k < spec->tile_rank; k++) {
        uint32_t stored = spec->rank - spec->tile_rank + k;
        uint32_t dim = spec->has_transpose ? spec->permutation[stored] : stored;
        int64_t size = get_integer(binding, object->tile[k]);
        grout_loc_id loc = grout_module_get_expr(binding->module, object->tile[k])->loc;
        if (size < 1 || spec->dims[dim] % size != 0) {
            grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, loc,
                                  "a tile of %" PRId64 " does not divide dimension %" PRIu32
                                  ", which has %" PRId64 " elements",
                                  size, dim, spec->dims[dim]);
            return false;
        }
        spec->tile[k] = size;
    }
    return true;
}

/* Elements of which two fill a byte: from here on the last dimension counts bytes. */
static bool bind_packing(grout_binding *binding, const grout_object *object,
                         grout_layout_spec *spec) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)object->type.dtype);
    const uint8_t packed = grout_object__get_packed(object);
    const uint32_t last = spec->rank - 1u;
    const grout_value_text name =
        grout_value__get_text(binding->module, object->value, "the array");
    if (packed <= 1 || object->kind != GROUT_OBJECT_ARRAY) {
        return true;
    }
    if (spec->rank == 0 || spec->dims[last] % packed != 0) {
        grout_binding__report(
            binding, GROUT_DIAG_BAD_DIMENSION, object->loc,
            "a row of %s, %" PRId64 " of %s, ends inside a byte, which has %d of them", name.chars,
            spec->rank == 0 ? INT64_C(1) : spec->dims[last], info->text, packed);
        grout_diags_help(binding->diags, "make the last dimension a multiple of %d", packed);
        return false;
    }
    if (spec->has_transpose && spec->permutation[last] != last) {
        return grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, object->loc,
                                     "%s is packed along the last dimension, and this transpose "
                                     "puts it elsewhere",
                                     info->text);
    }
    spec->dims[last] /= packed;
    if (spec->tile_rank > 0) {
        int64_t *tile = &spec->tile[spec->tile_rank - 1];
        if (*tile % packed != 0) {
            return grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, object->loc,
                                         "a tile of %" PRId64
                                         " elements of %s ends inside a byte, which has %d",
                                         *tile, info->text, packed);
        }
        *tile /= packed;
    }
    return true;
}

/* A swizzle permutes the chunks of rows of its own width: the rows of the tile have to be those. */
static bool bind_swizzle(grout_binding *binding, const grout_object *object,
                         grout_layout_spec *spec) {
    if (object->swizzle == 0) {
        return true;
    }
    int64_t width = get_integer(binding, object->swizzle);
    grout_loc_id loc = grout_module_get_expr(binding->module, object->swizzle)->loc;
    if (width != 32 && width != 64 && width != 128) {
        return grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, loc,
                                     "a swizzle of %" PRId64 " bytes: there are 32, 64 and 128",
                                     width);
    }
    if (object->infers_tile) { /* of the tiles that there are, those with such rows: tiling.c */
        return true;
    }
    uint32_t last = spec->rank - 1u;
    uint32_t dim = spec->has_transpose ? spec->permutation[last] : last;
    int64_t inner = spec->rank == 0       ? 1
                    : spec->tile_rank > 0 ? spec->tile[spec->tile_rank - 1]
                                          : spec->dims[dim];
    if (inner * spec->element_bytes != width) {
        const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)object->type.dtype);
        const uint8_t packed = grout_object__get_packed(object);
        grout_binding__report(
            binding, GROUT_DIAG_BAD_TRANSFORM, loc,
            "swizzle(%" PRId64 ") needs rows of %" PRId64 " bytes, and the innermost %" PRId64
            " elements of %d %s are "
            "%" PRId64 "%s",
            width, width, inner * packed, packed > 1 ? info->bits : spec->element_bytes,
            packed > 1 ? "bits" : "bytes", inner * spec->element_bytes, packed > 1 ? " bytes" : "");
        grout_diags_help(binding->diags, "tile(.., %" PRId64 ") gives rows of %" PRId64 " bytes",
                         width / spec->element_bytes * packed, width);
        return false;
    }
    spec->swizzle = (uint32_t)width;
    return true;
}

/* A layout of the user's own, instead of the other transforms. */
static bool bind_layout(grout_binding *binding, const grout_object *object,
                        grout_layout_spec *spec) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)object->type.dtype);
    grout_layout_problem problem;
    if (object->layout == 0) {
        return true;
    }
    if (object->tile_rank > 0 || object->infers_tile || object->swizzle != 0 ||
        object->transpose_rank > 0) {
        return grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, object->loc,
                                     "layout(..) says where every element lies: there is no tile, "
                                     "swizzle or transpose beside it");
    }
    if (info->packed > 1) {
        return grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, object->loc,
                                     "a layout(..) places elements of whole bytes, and a byte has "
                                     "%d of %s",
                                     info->packed, info->text);
    }
    if (!grout_layout__read(grout_module_get_string(binding->module, object->layout), spec,
                            &problem)) {
        grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, object->loc,
                              "this layout cannot be used: %s", problem.text);
        grout_diags_help(binding->diags,
                         "as Gluon: \"vec=8, per_phase=1, max_phase=8, order=[1, 0]\""
                         ", \"interval_padding_pairs=[[64, 8]], order=[1, 0]\" or "
                         "\"offset_bases=[[0, 1], [1, 0]]\"");
        return false;
    }
    return true;
}

/* Arrivals that a phase of a barrier takes: one of a cluster barrier hears of every CTA that
 * differs from it along one group of axes. Out of range: 0, and the verifier says so. */
static uint32_t bind_arrivals(const grout_binding *binding, grout_object_id id) {
    const grout_object *object = grout_module_get_object(binding->module, id);
    const grout_kernel_id kernel = grout_object__get_kernel(binding->module, id);
    if (object->is_explicit) {
        return 0;
    }
    int64_t arrivals = object->arrivals == 0 ? 1 : get_integer(binding, object->arrivals);
    int64_t ctas = 1;
    for (uint32_t k = 0; k < object->cluster_group_count; k++) {
        int64_t size =
            grout_kernel__get_group_size(binding->module, kernel, object->cluster_groups[k]);
        ctas = size < 1 || __builtin_add_overflow(ctas, size - 1, &ctas) ? INT64_MAX : ctas;
    }
    bool is_out_of_range =
        arrivals < 0 || __builtin_mul_overflow(arrivals, ctas, &arrivals) || arrivals > INT32_MAX;
    return is_out_of_range ? 0 : (uint32_t)arrivals;
}

void grout_binding__set_object(grout_binding *binding, grout_object_id id, const grout_type *type,
                               const grout_layout_spec *spec) {
    grout_bound *bound = binding->bound;
    binding->object_specs[id] = *spec;
    bound->object_layouts[id] = grout_layout__make(spec);
    bound->object_types[id] = *type;
    for (uint32_t dim = 0; dim < GROUT_RANK_MAX; dim++) {
        bound->object_tiles[id][dim] = 1;
    }
    for (uint32_t k = 0; k < spec->tile_rank; k++) {
        const uint32_t stored = (uint32_t)spec->rank - spec->tile_rank + k;
        const uint32_t dim = spec->has_transpose ? spec->permutation[stored] : stored;
        const bool is_packed = type->kind == GROUT_TYPE_REF && dim + 1u == spec->rank;
        bound->object_tiles[id][dim] =
            spec->tile[k] * (is_packed ? grout_type_get_packed(type) : 1);
    }
}

static grout_type_kind get_type_kind(const grout_object *object) {
    return object->kind == GROUT_OBJECT_BARRIER     ? GROUT_TYPE_BARRIER
           : object->kind == GROUT_OBJECT_SEMAPHORE ? GROUT_TYPE_SEMAPHORE
                                                    : GROUT_TYPE_REF;
}

static bool bind_object(grout_binding *binding, grout_object_id id) {
    const grout_object *object = grout_module_get_object(binding->module, id);
    grout_bound *bound = binding->bound;
    grout_type type = {.kind = (uint8_t)get_type_kind(object),
                       .dtype = object->type.dtype,
                       .space = object->space,
                       .is_expanded = grout_object__is_expanded(object)};
    bound->object_offsets[id] = -1;
    if (!bind_dims(binding, object, &type)) {
        return false;
    }
    grout_layout_spec spec = {.rank = type.rank, .element_bytes = get_element_bytes(object)};
    memcpy(spec.dims, type.dims, sizeof spec.dims);
    if (!bind_transpose(binding, object, &spec) || !bind_tile(binding, object, &spec) ||
        !grout_bind__expansion(binding, object, &spec) || !bind_packing(binding, object, &spec) ||
        !bind_swizzle(binding, object, &spec) || !bind_layout(binding, object, &spec)) {
        return false;
    }
    bound->object_arrivals[id] = bind_arrivals(binding, id);
    grout_binding__set_object(binding, id, &type, &spec);
    bound->value_types[object->value] = type;
    return grout_alias__bind(binding, id);
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Sizes out of range are the verifier's; here they only must not overflow. */
static void bind_axes(grout_binding *binding, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(binding->module, id);
    struct grout_kernel_bound *bound = &binding->bound->kernels[id];
    int64_t clusters = 1, cluster_size = 1, threads = 1;
    int64_t *const products[] = {[GROUT_AXIS_GRID] = &clusters,
                                 [GROUT_AXIS_CLUSTER] = &cluster_size,
                                 [GROUT_AXIS_THREADS] = &threads};
    for (uint32_t k = 0; k < kernel->axis_count; k++) {
        int64_t size = get_integer(binding, kernel->axes[k].size);
        int64_t *product = products[kernel->axes[k].kind];
        bound->axis_sizes[k] = size;
        if (size < 0 || __builtin_mul_overflow(*product, size, product)) {
            *product = INT64_MAX;
        }
    }
    if (__builtin_mul_overflow(clusters, cluster_size, &bound->grid_size)) {
        bound->grid_size = INT64_MAX;
    }
    bound->cluster_size = cluster_size > UINT32_MAX ? UINT32_MAX : (uint32_t)cluster_size;
    bound->thread_count = threads > UINT32_MAX ? UINT32_MAX : (uint32_t)threads;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool make_tables(grout_binding *binding) {
    const grout_module *module = binding->module;
    grout_bound *bound = grout_binding__new(binding, 1, sizeof *bound);
    if (bound == NULL) {
        return false;
    }
    binding->bound = binding->module->bound = bound;
    size_t exprs = module->exprs.count, values = module->values.count;
    size_t objects = module->objects.count + grout_recast__count(module);
    size_t kernels = module->kernels.count;
    bound->expr_values = grout_binding__new(binding, exprs, sizeof *bound->expr_values);
    bound->expr_dtypes = grout_binding__new(binding, exprs, sizeof *bound->expr_dtypes);
    bound->value_types = grout_binding__new(binding, values, sizeof *bound->value_types);
    bound->object_types = grout_binding__new(binding, objects, sizeof *bound->object_types);
    bound->object_layouts = grout_binding__new(binding, objects, sizeof *bound->object_layouts);
    bound->object_tiles = grout_binding__new(binding, objects, sizeof *bound->object_tiles);
    bound->object_tilings = grout_binding__new(binding, objects, sizeof *bound->object_tilings);
    binding->object_specs = grout_binding__new(binding, objects, sizeof *binding->object_specs);
    binding->has_alias = grout_binding__new(binding, objects, sizeof *binding->has_alias);
    bound->object_offsets = grout_binding__new(binding, objects, sizeof *bound->object_offsets);
    bound->object_arrivals = grout_binding__new(binding, objects, sizeof *bound->object_arrivals);
    bound->kernel_bytes = grout_binding__new(binding, kernels, sizeof *bound->kernel_bytes);
    bound->kernels = grout_binding__new(binding, kernels, sizeof *bound->kernels);
    return binding->ok;
}

/* The types of all values, and what they need. */
static void type_kernels(grout_binding *binding) {
    const grout_module *module = binding->module;
    binding->value_scopes =
        grout_binding__new(binding, module->values.count, sizeof *binding->value_scopes);
    binding->open_blocks =
        grout_binding__new(binding, module->blocks.count, sizeof *binding->open_blocks);
    if (binding->value_scopes == NULL || binding->open_blocks == NULL) {
        return;
    }
    for (uint32_t id = 1; grout_binding__goes_on(binding) && id < module->kernels.count; id++) {
        bind_axes(binding, id);
    }
    grout_alias__note(binding);
    for (uint32_t id = 1; grout_binding__goes_on(binding) && id < module->objects.count; id++) {
        bind_object(binding, id);
    }
    grout_recast__module(binding);
    for (uint32_t id = 1; grout_binding__goes_on(binding) && id < module->kernels.count; id++) {
        grout_infer__kernel(binding, id);
    }
}

static void bind_kernels(grout_binding *binding) {
    type_kernels(binding);
    if (binding->value_scopes == NULL || binding->open_blocks == NULL ||
        !grout_binding__goes_on(binding)) {
        return;
    }
    grout_init_lists__take_over(binding);
    grout_init_lists__leave_out(binding);
    grout_infer_tiles__module(binding);
    grout_smem_plan__module(binding);
    if (binding->ok) {
        grout_auto_fence__module(binding);
    }
}

static void bind_all(grout_binding *binding) {
    for (size_t k = 0; k < binding->define_count; k++) {
        apply_define(binding, k);
    }
    separate_operands(binding);
    if (!binding->ok || !make_tables(binding)) {
        return;
    }
    grout_fold__module(binding);
    if (binding->ok) {
        bind_kernels(binding);
    }
}

void grout_binding__infer_unfinished(grout_binding *binding) {
    grout_diags *diags = binding->diags;
    separate_operands(binding);
    if (!binding->ok || !make_tables(binding)) {
        return;
    }
    binding->diags = NULL;
    grout_fold__module(binding);
    binding->diags = diags;
    if (binding->ok) {
        type_kernels(binding);
    }
}

void grout_binding__deinit(grout_binding *binding) {
    grout__free(binding->value_scopes);
    grout__free(binding->open_blocks);
    grout__free(binding->object_specs);
    grout__free(binding->has_alias);
    grout_recast__deinit(&binding->recasts);
    grout_recast__deinit(&binding->recast_objects);
}

grout_module *grout_module_bind_in(const grout_allocator *allocator, const grout_module *symbolic,
                                   const grout_define *defines, size_t define_count,
                                   grout_diags *diags) {
    grout_binding binding = {
        .diags = diags, .defines = defines, .define_count = define_count, .ok = true};
    if (!grout_module_add_sources(symbolic, diags)) {
        return NULL;
    }
    /* Nothing in it changes but how many have its tables. */
    binding.module = grout_module__begin_bound((grout_module *)symbolic, allocator);
    if (binding.module == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    bind_all(&binding);
    grout_binding__deinit(&binding);
    if (!binding.ok) {
        grout_module_free(binding.module);
        return NULL;
    }
    return binding.module;
}

grout_module *grout_module_bind(const grout_module *symbolic, const grout_define *defines,
                                size_t define_count, grout_diags *diags) {
    return grout_module_bind_in(grout_module_get_allocator(symbolic), symbolic, defines,
                                define_count, diags);
}
