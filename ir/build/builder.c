/* builder.c - the builder's life, constants and kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

#include "alloc.h"
#include "invariant.h"
#include "parser.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------ */

grout_builder *grout_builder_new(const char *name) {
    return grout_builder_new_in(NULL, name);
}

grout_builder *grout_builder_new_in(const grout_allocator *allocator, const char *name) {
    grout_builder *b = grout__new(allocator, 1, sizeof *b);
    if (b == NULL) {
        return NULL;
    }
    b->module = grout_module__new(allocator);
    b->diags = grout_diags_new_in(allocator);
    bool ok = b->module != NULL && b->diags != NULL;
    ok = grout_table__init(&b->regions, allocator, sizeof(grout_build_region)) && ok;
    ok = grout_table__init(&b->nestable, allocator, sizeof(uint8_t)) && ok;
    ok = grout_table__init(&b->expr_depth, allocator, sizeof(uint8_t)) && ok;
    if (!ok) {
        grout_builder_free(b);
        return NULL;
    }
    grout_builder_here(b, name, 0);
    return b;
}

void grout_builder_free(grout_builder *builder) {
    if (builder == NULL) {
        return;
    }
    grout_module_free(builder->module);
    grout_diags_free(builder->diags);
    grout_table__deinit(&builder->regions);
    grout_table__deinit(&builder->nestable);
    grout_table__deinit(&builder->expr_depth);
    grout__free(builder);
}

/* The module, which the builder gives up; NULL after a mistake. */
static grout_module *take_module(grout_builder *b, grout_diags *diags) {
    if (grout_builder__is_ok(b) && b->kernel != 0) {
        (void)grout_builder__error(
            b, "kernel '@%s' is not ended",
            grout_module_get_string(b->module,
                                    grout_module_get_kernel(b->module, b->kernel)->name));
    }
    if (grout_builder__is_ok(b) && grout_builder__resolve(b) && grout_builder__is_ok(b)) {
        grout_module *module = b->module;
        b->module = NULL;
        return module;
    }
    if (grout_diags_count(b->diags) > 0 && (b->module == NULL || !b->module->failed)) {
        const grout_diag *diag = grout_diags_get(b->diags, 0);
        (void)grout_diags_add(diags, diag->code, diag->place, "%s", diag->message);
        for (uint32_t i = 0; i < diag->note_count; i++) {
            grout_diags_note(diags, diag->notes[i].place, "%s", diag->notes[i].message);
        }
    } else {
        (void)grout_diags_add_oom(diags);
    }
    return NULL;
}

grout_module *grout_builder_close(grout_builder *builder, grout_diags *diags) {
    if (builder == NULL) {
        (void)grout_diags_add_oom(diags);
        return NULL;
    }
    return take_module(builder, diags);
}

grout_module *grout_builder_finish(grout_builder *builder, grout_diags *diags) {
    grout_module *module = grout_builder_close(builder, diags);
    grout_builder_free(builder);
    return module;
}

bool grout_builder_is_failed(const grout_builder *builder) {
    return builder == NULL || builder->has_failed ||
           (builder->module != NULL && builder->module->failed);
}

const grout_diag *grout_builder_get_mistake(const grout_builder *builder) {
    return builder != NULL && grout_diags_count(builder->diags) > 0
               ? grout_diags_get(builder->diags, 0)
               : NULL;
}

void grout_builder_here(grout_builder *builder, const char *file, uint32_t line) {
    (void)grout_builder_at(builder, (grout_loc){.line = line, .kind = GROUT_LOC_C}, file);
}

grout_loc_id grout_builder_at(grout_builder *builder, grout_loc loc, const char *file) {
    if (!grout_builder__is_ok(builder)) {
        return 0;
    }
    if (loc.parent >= builder->module->locs.count) {
        (void)grout_builder__error(builder, "there is no place %u", (unsigned)loc.parent);
        return 0;
    }
    loc.file = grout_module__intern(builder->module, file != NULL ? file : "",
                                    file != NULL ? strlen(file) : 0);
    builder->loc = grout_module__add_loc(builder->module, &loc);
    return builder->loc;
}

void grout_builder_surface(grout_builder *builder, grout_surface surface) {
    if (grout_builder__is_ok(builder)) {
        builder->module->surface = (uint8_t)surface;
    }
}

void grout_builder_add_source(grout_builder *builder, const char *file, const char *text,
                              size_t size) {
    if (!grout_builder__is_ok(builder)) {
        return;
    }
    grout_module *module = builder->module;
    grout_source source = {.file = grout_module__intern(module, file, strlen(file)),
                           .text = grout_shared_text__new(module->allocator, text, size)};
    if (source.text == NULL || grout_table__push(&module->sources, &source) == 0) {
        grout_shared_text__drop(source.text);
        module->failed = true;
    }
}

void grout_builder_inline(grout_builder *builder, bool on) {
    if (builder != NULL) {
        builder->is_inline = on;
    }
}

/* ---- constant expressions -------------------------------------------------------------------- */

static grout_expr_id add_expr(grout_builder *b, grout_expr *expr, uint32_t depth) {
    if (!grout_builder__is_ok(b)) {
        return 0;
    }
    if (depth > GROUT_BUILD_EXPR_DEPTH_MAX) {
        (void)grout_builder__error(b,
                                   "a constant expression of more than %d operators on one another",
                                   GROUT_BUILD_EXPR_DEPTH_MAX);
        return 0;
    }
    expr->loc = b->loc;
    uint8_t depth_byte = (uint8_t)depth;
    grout_expr_id id = grout_module__add_expr(b->module, expr);
    b->module->failed |= grout_table__push(&b->expr_depth, &depth_byte) == 0;
    return b->module->failed ? 0 : id;
}

static uint32_t get_depth(const grout_builder *b, grout_expr_id expr) {
    GROUT_ASSERT(expr > 0 && b->expr_depth.count == b->module->exprs.count);
    return *GROUT_TABLE_AT(b->expr_depth, uint8_t, expr);
}

bool grout_builder__check_expr(grout_builder *b, grout_expr_id expr) {
    return (expr != 0 && expr < b->module->exprs.count) ||
           grout_builder__error(b, "there is no expression %u", (unsigned)expr);
}

bool grout_builder__check_exprs(grout_builder *b, uint32_t count, const grout_expr_id *exprs) {
    if (count > GROUT_RANK_MAX) {
        return grout_builder__error(b, "more than %d dimensions", GROUT_RANK_MAX);
    }
    if (count > 0 && exprs == NULL) {
        return grout_builder__error(b, "dimensions are missing");
    }
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        ok = ok && grout_builder__check_expr(b, exprs[i]);
    }
    return ok;
}

grout_expr_id grout_build_int(grout_builder *builder, int64_t value) {
    grout_expr expr = {.kind = GROUT_EXPR_INT, .u.integer = value};
    return add_expr(builder, &expr, 1);
}

grout_expr_id grout_build_bool(grout_builder *builder, bool value) {
    grout_expr expr = {.kind = GROUT_EXPR_BOOL, .u.integer = value ? 1 : 0};
    return add_expr(builder, &expr, 1);
}

grout_expr_id grout_build_float(grout_builder *builder, double value) {
    grout_expr expr = {.kind = GROUT_EXPR_FLOAT, .u.number = value};
    if (isnan(value)) {
        expr.dtype = GROUT_DTYPE_F32; /* text has NaN as a bit pattern only */
        expr.u.bits = 0x7fc00000u;
    }
    return add_expr(builder, &expr, 1);
}

grout_expr_id grout_build_element(grout_builder *builder, grout_dtype dtype, uint64_t bits) {
    const bool is_type = dtype > GROUT_DTYPE_NONE && dtype < GROUT_DTYPE_COUNT;
    const grout_dtype_info *info = grout_dtype_get_info(is_type ? dtype : GROUT_DTYPE_NONE);
    if (info->class_ == GROUT_CLASS_NONE || info->class_ == GROUT_CLASS_BOOL) {
        (void)grout_builder__error(builder, "an element of no type, or of bool");
        return 0;
    }
    const uint32_t unused = 64u - info->bits;
    grout_expr expr = {.dtype = (uint8_t)dtype, .u.bits = bits << unused >> unused};
    expr.kind = info->class_ == GROUT_CLASS_FLOAT ? GROUT_EXPR_FLOAT : GROUT_EXPR_INT;
    const uint64_t sign = UINT64_C(1) << (63 - unused);
    if (info->class_ == GROUT_CLASS_SINT && (expr.u.bits & sign) != 0) {
        expr.u.bits |= ~(sign - 1);
    }
    return add_expr(builder, &expr, 1);
}

grout_expr_id grout_build_expr(grout_builder *builder, grout_expr_operator operator_,
                               grout_expr_id a, grout_expr_id b) {
    bool is_unary = operator_ == GROUT_EXPR_NEG || operator_ == GROUT_EXPR_LOG2;
    if (!grout_builder__is_ok(builder) || !grout_builder__check_expr(builder, a) ||
        (!is_unary && !grout_builder__check_expr(builder, b))) {
        return 0;
    }
    grout_expr expr = {.kind = is_unary ? GROUT_EXPR_UNARY : GROUT_EXPR_BINARY,
                       .operator_ = (uint8_t)operator_,
                       .a = a,
                       .b = is_unary ? 0 : b};
    uint32_t depth_b = is_unary ? 0 : get_depth(builder, b);
    uint32_t depth_a = get_depth(builder, a);
    return add_expr(builder, &expr, (depth_a > depth_b ? depth_a : depth_b) + 1);
}

/* Whether the value of an expression is a float: then its const is written ': f32'. */
static bool is_float(const grout_module *module, grout_expr_id id) {
    const grout_expr *expr = grout_module_get_expr(module, id);
    switch ((grout_expr_kind)expr->kind) {
    case GROUT_EXPR_FLOAT:
    case GROUT_EXPR_TYPED:
        return true;
    case GROUT_EXPR_NAME:
        return grout_module_get_const(module, expr->constant)->is_f32;
    case GROUT_EXPR_UNARY:
        return is_float(module, expr->a);
    case GROUT_EXPR_BINARY:
        return is_float(module, expr->a) || is_float(module, expr->b);
    case GROUT_EXPR_NONE:
    case GROUT_EXPR_INT:
    case GROUT_EXPR_BOOL:
        break;
    }
    return false;
}

bool grout_build_is_word(const char *name) {
    return grout_word__get_kind(name, strlen(name)) != GROUT_WORD_FREE;
}

/* The name of a const or axis, which must be no word of the language. */
static grout_string_id get_free_name(grout_builder *b, const char *name, const char *what) {
    grout_string_id id = grout_builder__name(b, name, what);
    if (id != 0 && grout_build_is_word(name)) {
        (void)grout_builder__error(b, "'%s' is a word of the language and cannot name %s", name,
                                   what);
        return 0;
    }
    return id;
}

grout_expr_id grout_build_const(grout_builder *builder, const char *name, grout_expr_id value) {
    if (!grout_builder__is_ok(builder) || !grout_builder__check_expr(builder, value)) {
        return 0;
    }
    grout_module *module = builder->module;
    grout_const constant = {.name = get_free_name(builder, name, "a const"),
                            .loc = builder->loc,
                            .expr = value,
                            .is_f32 = is_float(module, value)};
    if (constant.name == 0) {
        return 0;
    }
    if (builder->kernel != 0 || grout_module_find_const(module, name) != 0) {
        (void)grout_builder__error(builder,
                                   builder->kernel != 0 ? "const '%s' inside a kernel"
                                                        : "const '%s' is defined twice",
                                   name);
        return 0;
    }
    grout_expr expr = {.kind = GROUT_EXPR_NAME,
                       .constant = grout_table__push(&module->consts, &constant)};
    module->failed |= expr.constant == 0;
    grout_module__add_name(module, GROUT_NAMED_CONST, constant.name, expr.constant);
    grout_module__add_item(module, GROUT_ITEM_CONST, expr.constant);
    return add_expr(builder, &expr, 1);
}

void grout_build_require(grout_builder *builder, grout_expr_id condition, const char *text) {
    if (!grout_builder__is_ok(builder) || !grout_builder__check_expr(builder, condition)) {
        return;
    }
    if (builder->kernel != 0) {
        (void)grout_builder__error(builder, "require inside a kernel");
        return;
    }
    grout_require require = {
        .expr = condition, .text = grout_builder__string(builder, text), .loc = builder->loc};
    uint32_t id = grout_table__push(&builder->module->requires_, &require);
    builder->module->failed |= id == 0;
    grout_module__add_item(builder->module, GROUT_ITEM_REQUIRE, id);
}

void grout_build_launch(grout_builder *builder, const char *kernel, const char *const *arguments,
                        uint32_t argument_count, bool is_dependent) {
    if (!grout_builder__is_ok(builder)) {
        return;
    }
    if (builder->kernel != 0) {
        (void)grout_builder__error(builder, "launch inside a kernel");
        return;
    }
    if (builder->module->launches.count > GROUT_LAUNCHES_MAX) {
        (void)grout_builder__error(builder, "more than %d launches", GROUT_LAUNCHES_MAX);
        return;
    }
    grout_launch_line launch = {.kernel_name =
                                    grout_builder__name(builder, kernel, "a kernel of a launch"),
                                .loc = builder->loc,
                                .argument_count = argument_count,
                                .is_dependent = is_dependent};
    for (uint32_t i = 0; i < argument_count; i++) {
        grout_launch_argument argument = {
            grout_builder__name(builder, arguments[i], "an argument of a launch"), builder->loc};
        grout_module__add_launch_argument(builder->module, &argument);
    }
    grout_module__add_launch(builder->module, &launch);
}

/* ---- kernels --------------------------------------------------------------------------------- */

void grout_builder_kernel(grout_builder *builder, const char *name) {
    if (!grout_builder__is_ok(builder)) {
        return;
    }
    grout_module *module = builder->module;
    grout_kernel kernel = {.name = grout_builder__name(builder, name, "a kernel"),
                           .loc = builder->loc,
                           .first_param = module->params.count};
    if (kernel.name == 0) {
        return;
    }
    if (builder->kernel != 0 || grout_module_find_kernel(module, name) != 0) {
        (void)grout_builder__error(builder,
                                   builder->kernel != 0 ? "kernel '@%s' inside another kernel"
                                                        : "kernel '@%s' is defined twice",
                                   name);
        return;
    }
    if (module->items.count > 1) {
        grout_trivia blank_line = {.lead = grout_module__intern(module, "\n", 1)};
        kernel.trivia = grout_table__push(&module->trivia, &blank_line);
        module->failed |= kernel.trivia == 0;
    }
    kernel.body = grout_table__add(&module->blocks, 1);
    builder->kernel = grout_table__push(&module->kernels, &kernel);
    builder->block = kernel.body;
    module->failed |= builder->kernel == 0 || kernel.body == 0;
    grout_module__add_name(module, GROUT_NAMED_KERNEL, kernel.name, builder->kernel);
    grout_block *body = GROUT_TABLE_AT(module->blocks, grout_block, kernel.body);
    body->kernel = builder->kernel;
    body->loc = builder->loc;
    body->end_loc = builder->loc;
    grout_module__add_item(module, GROUT_ITEM_KERNEL, builder->kernel);
}

void grout_builder_end_kernel(grout_builder *builder) {
    if (!grout_builder__is_ok(builder) || !grout_builder__is_in_kernel(builder)) {
        return;
    }
    if (builder->regions.count > 1) {
        (void)grout_builder__error(builder, "the kernel ends inside a region");
        return;
    }
    builder->kernel = 0;
    builder->block = 0;
}

/* Whether parameters and axes may still be added: they come before the body. */
static bool is_in_header(grout_builder *b) {
    if (!grout_builder__is_ok(b) || !grout_builder__is_in_kernel(b)) {
        return false;
    }
    return grout_module_get_block(b->module, b->block)->first == 0 ||
           grout_builder__error(b, "parameters and axes come before the kernel's operations");
}

/* Adds a parameter and its value; the value. */
static grout_value_id add_param(grout_builder *b, const char *name, grout_param *param) {
    grout_module *module = b->module;
    grout_kernel *kernel = GROUT_TABLE_AT(module->kernels, grout_kernel, b->kernel);
    uint32_t index = kernel->param_count;
    param->value = grout_table__add(&module->values, 1);
    module->failed |= param->value == 0;
    if (module->failed || !grout_builder__name_values(b, param->value, 1, &name)) {
        return 0;
    }
    grout_value *value = GROUT_TABLE_AT(module->values, grout_value, param->value);
    value->kind = GROUT_VALUE_PARAM;
    value->index = index;
    value->loc = b->loc;
    return param->value;
}

static void end_param(grout_builder *b, const grout_param *param) {
    grout_module *module = b->module;
    grout_kernel *kernel = GROUT_TABLE_AT(module->kernels, grout_kernel, b->kernel);
    module->failed |= grout_table__push(&module->params, param) == 0;
    grout_module__add_name(module, kernel->first_param,
                           GROUT_TABLE_AT(module->values, grout_value, param->value)->name,
                           ++kernel->param_count);
}

static bool check_dtype(grout_builder *b, grout_dtype dtype) {
    return (dtype > GROUT_DTYPE_NONE && dtype < GROUT_DTYPE_COUNT) ||
           grout_builder__error(b, "there is no element type %d", (int)dtype);
}

grout_value_id grout_build_param_array(grout_builder *builder, const char *name,
                                       grout_direction direction, grout_dtype dtype, uint32_t rank,
                                       const grout_expr_id *dims) {
    if (!is_in_header(builder) || !check_dtype(builder, dtype) ||
        !grout_builder__check_exprs(builder, rank, dims)) {
        return 0;
    }
    if (direction == GROUT_DIRECTION_SCALAR) {
        (void)grout_builder__error(builder, "an array parameter is in, out or inout");
        return 0;
    }
    grout_param param = {.direction = (uint8_t)direction};
    if (add_param(builder, name, &param) == 0) {
        return 0;
    }
    grout_object object = {.kind = GROUT_OBJECT_ARRAY,
                           .space = GROUT_SPACE_GMEM,
                           .value = param.value,
                           .loc = builder->loc};
    object.type =
        (grout_written_type){.dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .is_array = true};
    for (uint32_t i = 0; i < rank; i++) {
        object.type.dims[i] = dims[i];
    }
    param.object = grout_module__add_object(builder->module, &object);
    end_param(builder, &param);
    return param.value;
}

void grout_build_param_packed(grout_builder *builder, grout_value_id value) {
    if (!is_in_header(builder)) {
        return;
    }
    const grout_object_id id = value == 0 || value >= builder->module->values.count
                                   ? 0
                                   : grout_module_get_value(builder->module, value)->object;
    const grout_object *object = grout_module_get_object(builder->module, id);
    if (id == 0 || object->kind != GROUT_OBJECT_ARRAY || object->is_global ||
        !grout_space_is_of_launch(object->space)) {
        (void)grout_builder__error(builder, "only array parameters are packed");
        return;
    }
    GROUT_TABLE_AT(builder->module->objects, grout_object, id)->is_packed = true;
}

grout_value_id grout_build_param_scalar(grout_builder *builder, const char *name,
                                        grout_dtype dtype) {
    if (!is_in_header(builder) || !check_dtype(builder, dtype)) {
        return 0;
    }
    grout_param param = {.direction = GROUT_DIRECTION_SCALAR, .dtype = (uint8_t)dtype};
    if (add_param(builder, name, &param) == 0) {
        return 0;
    }
    end_param(builder, &param);
    return param.value;
}

/* Whether the number of arguments is that of the kind. */
static bool check_init_count(grout_builder *b, grout_generator_kind kind, uint32_t count) {
    if (kind >= GROUT_GENERATOR_COUNT) {
        return grout_builder__error(b, "there is no generator %d", (int)kind);
    }
    const grout_generator_info *info = grout_generator_get_info(kind);
    const bool is_list = kind == GROUT_GENERATOR_LIST;
    const uint32_t wanted = info == NULL ? 1 : info->argument_count;
    if (is_list ? count >= 1 && count <= GROUT_INIT_MAX : count == wanted) {
        return true;
    }
    return is_list ? grout_builder__error(b, "an init lists 1 to %u elements, not %u",
                                          GROUT_INIT_MAX, (unsigned)count)
                   : grout_builder__error(b, "init(%s) takes %u arguments, not %u",
                                          info == NULL ? "VALUE" : info->text, (unsigned)wanted,
                                          (unsigned)count);
}

/* Where the init of a value is kept; NULL after a report. */
static grout_init_id *find_init(grout_builder *b, grout_value_id id) {
    grout_module *module = b->module;
    const grout_kernel *kernel = GROUT_TABLE_AT(module->kernels, grout_kernel, b->kernel);
    const grout_value *value =
        id < module->values.count ? grout_module_get_value(module, id) : &(grout_value){0};
    grout_init_id *found = NULL;
    if (id != 0 && value->kind == GROUT_VALUE_PARAM && value->index < kernel->param_count) {
        grout_param *param =
            GROUT_TABLE_AT(module->params, grout_param, kernel->first_param + value->index);
        found = param->value == id ? &param->init : NULL;
    } else if (id != 0 && value->kind == GROUT_VALUE_OBJECT && value->block == 0) {
        found = &GROUT_TABLE_AT(module->objects, grout_object, value->object)->init;
    }
    if (found == NULL || *found != 0) {
        (void)grout_builder__error(b,
                                   found == NULL
                                       ? "value %u is not a parameter or scratch of the kernel"
                                       : "value %u has an init already",
                                   (unsigned)id);
        return NULL;
    }
    return found;
}

void grout_build_init(grout_builder *builder, grout_value_id value, grout_generator_kind kind,
                      uint32_t count, const grout_expr_id *arguments) {
    if (!grout_builder__is_ok(builder) || !grout_builder__is_in_kernel(builder) ||
        !check_init_count(builder, kind, count)) {
        return;
    }
    grout_module *module = builder->module;
    grout_init init = {.kind = (uint8_t)kind,
                       .loc = builder->loc,
                       .first = module->init_arguments.count,
                       .count = count};
    for (uint32_t i = 0; i < count; i++) {
        if (!grout_builder__check_expr(builder, arguments[i]) ||
            !grout_module__add_init_argument(module, arguments[i])) {
            return;
        }
    }
    grout_init_id *place = find_init(builder, value);
    if (place != NULL) {
        *place = grout_module__add_init(module, &init);
    }
}

void grout_build_axis(grout_builder *builder, grout_axis_kind kind, const char *name,
                      grout_expr_id size) {
    if (!is_in_header(builder) || !grout_builder__check_expr(builder, size)) {
        return;
    }
    grout_axis axis = {.kind = (uint8_t)kind,
                       .name = get_free_name(builder, name, "an axis"),
                       .size = size,
                       .loc = builder->loc};
    grout_kernel *kernel = GROUT_TABLE_AT(builder->module->kernels, grout_kernel, builder->kernel);
    bool is_known = false;
    uint32_t at = kernel->axis_count, same_kind = 0;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        is_known |= kernel->axes[i].name == axis.name;
        same_kind += kernel->axes[i].kind == axis.kind;
    }
    if (is_known || at == GROUT_AXES_MAX ||
        (kind == GROUT_AXIS_CLUSTER && same_kind == GROUT_CLUSTER_AXES_MAX)) {
        (void)grout_builder__error(
            builder, is_known ? "axis '%s' is defined twice" : "axis '%s' is one too many", name);
        return;
    }
    while (at > 0 && kernel->axes[at - 1].kind > axis.kind) {
        kernel->axes[at] = kernel->axes[at - 1];
        at--;
    }
    kernel->axes[at] = axis;
    kernel->axis_count++;
}

void grout_build_arch(grout_builder *builder, grout_arch arch) {
    if (!is_in_header(builder)) {
        return;
    }
    if (arch >= GROUT_ARCH_ANY) {
        (void)grout_builder__error(builder, "a kernel is for a GPU, not for 'any'");
        return;
    }
    grout_kernel *kernel = GROUT_TABLE_AT(builder->module->kernels, grout_kernel, builder->kernel);
    kernel->has_arch = true;
    kernel->arch = (uint8_t)arch;
    kernel->arch_loc = builder->loc;
}

void grout_build_cluster_exit(grout_builder *builder, grout_cluster_exit exit) {
    if (is_in_header(builder)) {
        GROUT_TABLE_AT(builder->module->kernels, grout_kernel, builder->kernel)->cluster_exit =
            (uint8_t)exit;
    }
}

void grout_build_partition_warps(grout_builder *builder, uint32_t count, const uint32_t *warps) {
    if (!is_in_header(builder)) {
        return;
    }
    if (count == 0 || count > GROUT_THREADS_MAX) {
        (void)grout_builder__error(builder, "partition_warps of %" PRIu32 " threads: 1 to %d",
                                   count, GROUT_THREADS_MAX);
        return;
    }
    grout_kernel *kernel = GROUT_TABLE_AT(builder->module->kernels, grout_kernel, builder->kernel);
    kernel->partition_count = (uint8_t)count;
    kernel->partition_loc = builder->loc;
    for (uint32_t k = 0; k < count; k++) {
        kernel->partition_warps[k] = warps[k];
    }
}

void grout_build_auto_fence(grout_builder *builder, bool is_on) {
    if (is_in_header(builder)) {
        grout_kernel *kernel =
            GROUT_TABLE_AT(builder->module->kernels, grout_kernel, builder->kernel);
        kernel->has_auto_fence = true;
        kernel->auto_fence = is_on;
    }
}
