/* build_op.c - operands, references and operations without regions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

#include <string.h>

/* ---- values and operands --------------------------------------------------------------------- */

static bool check_value(grout_builder *b, grout_value_id value) {
    return (value != 0 && value < b->module->values.count) ||
           grout_builder__error(b, "there is no value %u", (unsigned)value);
}

grout_value_id grout_build_name(grout_builder *builder, grout_value_id value, const char *name) {
    if (!grout_builder__is_ok(builder) || !check_value(builder, value) ||
        !grout_builder__name_values(builder, value, 1, &name)) {
        return 0;
    }
    return value;
}

bool grout_builder__check_operand(grout_builder *b, grout_operand *operand) {
    operand->loc = b->loc;
    switch ((grout_operand_kind)operand->kind) {
    case GROUT_OPERAND_VALUE:
        return check_value(b, operand->id);
    case GROUT_OPERAND_EXPR:
        return grout_builder__check_expr(b, operand->id);
    case GROUT_OPERAND_REF:
        return (operand->id != 0 && operand->id < b->module->refs.count) ||
               grout_builder__error(b, "there is no reference %u", (unsigned)operand->id);
    case GROUT_OPERAND_NONE:
    case GROUT_OPERAND_STRING:
    case GROUT_OPERAND_AXIS:
        break;
    }
    return grout_builder__error(b,
                                "an operand is neither a value nor an expression nor a reference");
}

/* ---- references ------------------------------------------------------------------------------ */

static grout_operand no_operand(void) {
    return (grout_operand){0};
}

/* Adds a reference with the steps of another (0: none) and one more. */
static grout_operand add_ref(grout_builder *b, grout_value_id base, grout_ref_id old,
                             const grout_ref_step *step) {
    grout_module *module = b->module;
    uint32_t count = grout_module_get_ref(module, old)->step_count;
    grout_ref ref = {.base = base, .step_count = count + 1, .loc = b->loc};
    ref.first_step = grout_table__add(&module->ref_steps, count + 1);
    grout_ref_id id = grout_table__push(&module->refs, &ref);
    if (ref.first_step == 0 || id == 0) {
        module->failed = true;
        return no_operand();
    }
    for (uint32_t i = 0; i < count; i++) {
        const grout_ref *from = grout_module_get_ref(module, old);
        *GROUT_TABLE_AT(module->ref_steps, grout_ref_step, ref.first_step + i) =
            *grout_module_get_ref_step(module, from, i);
    }
    *GROUT_TABLE_AT(module->ref_steps, grout_ref_step, ref.first_step + count) = *step;
    return (grout_operand){GROUT_OPERAND_REF, id, b->loc};
}

static bool add_index(grout_builder *b, const grout_build_index *from) {
    grout_index index = {.kind = from->kind, .start = from->start, .size = from->size};
    if (index.kind != GROUT_INDEX_ALL) {
        if (index.start.kind == GROUT_OPERAND_REF) {
            return grout_builder__error(b, "an index is a reference; load it first");
        }
        if (!grout_builder__check_operand(b, &index.start)) {
            return false;
        }
    }
    if (index.kind == GROUT_INDEX_SLICE && !grout_builder__check_expr(b, index.size)) {
        return false;
    }
    b->module->failed |= grout_table__push(&b->module->indices, &index) == 0;
    return !b->module->failed;
}

grout_operand grout_build_ref(grout_builder *builder, grout_value_id base, uint32_t count,
                              const grout_build_index *indices) {
    return grout_build_part_ref(builder, grout_value_operand(base), count, indices);
}

grout_operand grout_build_part_ref(grout_builder *builder, grout_operand ref, uint32_t count,
                                   const grout_build_index *indices) {
    if (!grout_builder__is_ok(builder) || !grout_builder__check_operand(builder, &ref)) {
        return no_operand();
    }
    if (count == 0) {
        return ref;
    }
    if (ref.kind == GROUT_OPERAND_EXPR) {
        (void)grout_builder__error(builder, "indices are for references to memory");
        return no_operand();
    }
    if (count > GROUT_RANK_MAX) {
        (void)grout_builder__error(builder, "more than %d indices", GROUT_RANK_MAX);
        return no_operand();
    }
    grout_ref_step step = {.kind = GROUT_REF_INDEX,
                           .count = (uint8_t)count,
                           .first = builder->module->indices.count,
                           .loc = builder->loc};
    for (uint32_t i = 0; i < count; i++) {
        if (!add_index(builder, &indices[i])) {
            return no_operand();
        }
    }
    const bool is_ref = ref.kind == GROUT_OPERAND_REF;
    const grout_value_id base =
        is_ref ? grout_module_get_ref(builder->module, ref.id)->base : ref.id;
    return add_ref(builder, base, is_ref ? ref.id : 0, &step);
}

/* A reference with one more step, with these indices. */
static grout_operand add_view(grout_builder *b, const grout_operand *ref, grout_ref_step_kind kind,
                              uint32_t count, const grout_index *indices) {
    grout_module *module = b->module;
    grout_ref_step step = {.kind = (uint8_t)kind,
                           .count = (uint8_t)count,
                           .first = grout_table__add(&module->indices, count),
                           .loc = b->loc};
    if (!grout_builder__is_ok(b) || step.first == 0) {
        module->failed |= step.first == 0;
        return no_operand();
    }
    memcpy(GROUT_TABLE_AT(module->indices, grout_index, step.first), indices,
           count * sizeof indices[0]);
    bool is_ref = ref->kind == GROUT_OPERAND_REF;
    grout_value_id base = is_ref ? grout_module_get_ref(module, ref->id)->base : ref->id;
    return add_ref(b, base, is_ref ? ref->id : 0, &step);
}

grout_operand grout_build_transpose(grout_builder *builder, grout_operand ref, uint32_t rank,
                                    const uint32_t *permutation) {
    if (!grout_builder__is_ok(builder) || !grout_builder__check_operand(builder, &ref)) {
        return no_operand();
    }
    if (rank == 0 || rank > GROUT_RANK_MAX || ref.kind == GROUT_OPERAND_EXPR) {
        (void)grout_builder__error(builder, "transpose is for references of 1 to %d dimensions",
                                   GROUT_RANK_MAX);
        return no_operand();
    }
    grout_index indices[GROUT_RANK_MAX];
    for (uint32_t i = 0; i < rank; i++) {
        indices[i] = (grout_index){.kind = GROUT_INDEX_ALL,
                                   .size = grout_build_int(builder, permutation[i])};
    }
    return add_view(builder, &ref, GROUT_REF_TRANSPOSE, rank, indices);
}

/* Whether something can be a view's reference; reports if it cannot. */
static bool check_viewed(grout_builder *b, grout_operand *ref, const char *view) {
    if (!grout_builder__is_ok(b) || !grout_builder__check_operand(b, ref)) {
        return false;
    }
    return ref->kind != GROUT_OPERAND_EXPR ||
           grout_builder__error(b, "%s is for references to memory", view);
}

grout_operand grout_build_bitcast_ref(grout_builder *builder, grout_operand ref,
                                      grout_dtype dtype) {
    if (!check_viewed(builder, &ref, "bitcast")) {
        return no_operand();
    }
    if (dtype <= GROUT_DTYPE_NONE || dtype >= GROUT_DTYPE_COUNT) {
        (void)grout_builder__error(builder, "there is no element type %d", (int)dtype);
        return no_operand();
    }
    grout_ref_step step = {.kind = GROUT_REF_BITCAST, .dtype = (uint8_t)dtype, .loc = builder->loc};
    const bool is_ref = ref.kind == GROUT_OPERAND_REF;
    const grout_value_id base =
        is_ref ? grout_module_get_ref(builder->module, ref.id)->base : ref.id;
    return add_ref(builder, base, is_ref ? ref.id : 0, &step);
}

grout_operand grout_build_reshape_ref(grout_builder *builder, grout_operand ref, uint32_t rank,
                                      const grout_expr_id *dims) {
    if (!check_viewed(builder, &ref, "reshape")) {
        return no_operand();
    }
    if (rank == 0 || rank > GROUT_RANK_MAX) {
        (void)grout_builder__error(builder, "a reshape has 1 to %d dimensions", GROUT_RANK_MAX);
        return no_operand();
    }
    grout_index indices[GROUT_RANK_MAX];
    for (uint32_t i = 0; i < rank; i++) {
        if (!grout_builder__check_expr(builder, dims[i])) {
            return no_operand();
        }
        indices[i] = (grout_index){.kind = GROUT_INDEX_ALL, .size = dims[i]};
    }
    return add_view(builder, &ref, GROUT_REF_RESHAPE, rank, indices);
}

grout_operand grout_build_cluster_ref(grout_builder *builder, grout_operand ref, uint32_t count,
                                      const grout_operand *place) {
    if (!grout_builder__is_ok(builder) || !grout_builder__check_operand(builder, &ref)) {
        return no_operand();
    }
    if (count == 0 || count > GROUT_CLUSTER_AXES_MAX || ref.kind == GROUT_OPERAND_EXPR) {
        (void)grout_builder__error(builder, "a CTA has a place on 1 to %d cluster axes",
                                   GROUT_CLUSTER_AXES_MAX);
        return no_operand();
    }
    grout_index indices[GROUT_CLUSTER_AXES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        indices[i] = (grout_index){.kind = GROUT_INDEX_AT, .start = place[i]};
        if (place[i].kind == GROUT_OPERAND_REF) {
            (void)grout_builder__error(builder, "a place is a reference; load it first");
            return no_operand();
        }
        if (!grout_builder__check_operand(builder, &indices[i].start)) {
            return no_operand();
        }
    }
    return add_view(builder, &ref, GROUT_REF_CLUSTER, count, indices);
}

/* ---- operations ------------------------------------------------------------------------------ */

grout_op_id grout_builder__add_op(grout_builder *b, grout_new_op *new_op, uint32_t result_count) {
    grout_module *module = b->module;
    if (module->ops.count > GROUT_OPS_MAX) {
        (void)grout_builder__error(b, "more than %u operations", GROUT_OPS_MAX);
        return 0;
    }
    const grout_op *last =
        grout_module_get_op(module, grout_module_get_block(module, b->block)->last);
    if (grout_op_get_info((grout_opcode)last->opcode)->rule == GROUT_RULE_YIELD) {
        (void)grout_builder__error(b, "an operation after 'yield'");
        return 0;
    }
    new_op->loc = b->loc;
    new_op->parent = b->block;
    grout_op_id id = grout_module__add_op(module, new_op);
    if (id != 0 && result_count > 0) {
        grout_value_id first = grout_module__add_results(module, id, result_count);
        uint32_t missing = module->values.count - b->nestable.count;
        module->failed |= grout_table__add(&b->nestable, missing) == 0;
        if (!module->failed) {
            *GROUT_TABLE_AT(b->nestable, uint8_t, first) = b->is_inline;
        }
    }
    return module->failed ? 0 : id;
}

/* What an operand must be, by its letter in the form. */
static bool check_letter(grout_builder *b, const grout_op_info *info, char letter,
                         const grout_operand *operand) {
    bool is_value = operand->kind == GROUT_OPERAND_VALUE;
    bool is_expr = operand->kind == GROUT_OPERAND_EXPR;
    bool is_ref = operand->kind == GROUT_OPERAND_REF;
    bool ok = false;
    switch ((grout_letter_kind)grout_letter_get_info(letter)->kind) {
    case GROUT_LETTER_VALUE:
    case GROUT_LETTER_SCALAR:
    case GROUT_LETTER_INTEGER:
    case GROUT_LETTER_INDICES:
    case GROUT_LETTER_ROWS:
    case GROUT_LETTER_MASK:
    case GROUT_LETTER_OPTION:
    case GROUT_LETTER_OPTIONAL_MASK:
        ok = is_value || is_expr;
        break;
    case GROUT_LETTER_REST:
        ok = is_value || is_expr || (is_ref && info->rule == GROUT_RULE_PRINT_LAYOUT);
        break;
    case GROUT_LETTER_BOXED:
        ok = is_ref;
        break;
    case GROUT_LETTER_MEMORY:
    case GROUT_LETTER_MEMORY_OR_ARRAY:
    case GROUT_LETTER_BARRIER:
    case GROUT_LETTER_SEMAPHORE:
        ok = is_value || is_ref;
        break;
    case GROUT_LETTER_CONSTANT:
        ok = is_expr;
        break;
    case GROUT_LETTER_AXIS:
    case GROUT_LETTER_TEXT:
        break;
    }
    return ok || grout_builder__error(b, "an operand of '%s' is of the wrong kind", info->text);
}

/* The operand that text gives: a string, or the axis of that name. */
static bool get_text_operand(grout_builder *b, const grout_op_info *info, const char *text,
                             grout_operand *operand) {
    if (text == NULL) {
        return grout_builder__error(b, "'%s' needs a text", info->text);
    }
    operand->loc = b->loc;
    if (strchr(info->operands, 't') != NULL) {
        operand->kind = GROUT_OPERAND_STRING;
        operand->id = grout_builder__string(b, text);
        return grout_builder__is_ok(b);
    }
    const grout_kernel *kernel = grout_module_get_kernel(b->module, b->kernel);
    operand->kind = GROUT_OPERAND_AXIS;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        if (strcmp(grout_module_get_string(b->module, kernel->axes[i].name), text) == 0) {
            operand->id = i + 1;
        }
    }
    return operand->id != 0 || grout_builder__error(b, "the kernel has no axis '%.64s'", text);
}

static bool push_operand(grout_builder *b, grout_table *operands, const grout_operand *operand) {
    b->module->failed |= grout_table__push(operands, operand) == 0;
    return !b->module->failed;
}

/* Fills operands from the arguments and checks them against the form. The texts stand where
 * their letters do. */
static bool get_operands(grout_builder *b, const grout_op_info *info,
                         const grout_build_op_args *args, grout_table *operands) {
    const char *letters = info->operands;
    const uint32_t text_at = (uint32_t)strcspn(letters, "tx");
    const uint32_t texts = (uint32_t)strspn(letters + text_at, "tx");
    const uint32_t wanted = (uint32_t)strcspn(letters, "*") - texts;
    const bool has_rest = letters[wanted + texts] == '*';
    if (args->operand_count < grout_letters_count_least(letters) - texts ||
        (args->operand_count > wanted && !has_rest)) {
        return grout_builder__error(b, "'%s' takes %u operands, not %u", info->text,
                                    (unsigned)wanted, (unsigned)args->operand_count);
    }
    for (uint32_t i = 0; i <= args->operand_count; i++) {
        grout_operand operand = {0};
        if (texts > 0 && i == text_at &&
            (!get_text_operand(b, info, args->text, &operand) ||
             !push_operand(b, operands, &operand))) {
            return false;
        }
        if (texts > 1 && i == text_at &&
            (!get_text_operand(b, info, args->ptx, &operand) ||
             !push_operand(b, operands, &operand))) {
            return false;
        }
        if (i == args->operand_count) {
            return !b->module->failed;
        }
        const uint32_t at = i < text_at ? i : i + texts;
        operand = args->operands[i];
        if (!grout_builder__check_operand(b, &operand) ||
            !check_letter(b, info, (char)(i < wanted ? letters[at] : '*'), &operand) ||
            !push_operand(b, operands, &operand)) {
            return false;
        }
    }
    return !b->module->failed;
}

/* Takes a first operand with indices apart: the value, and the indices. */
static bool take_box(grout_builder *b, const grout_op_info *info, const grout_table *operands,
                     uint32_t *box_out) {
    const grout_module *module = b->module;
    if (operands->count == 1 || info->operands[0] == '\0' ||
        grout_letter_get_info(info->operands[0])->kind != GROUT_LETTER_BOXED) {
        return true;
    }
    grout_operand *operand = GROUT_TABLE_AT(*operands, grout_operand, 1);
    const grout_ref *ref = grout_module_get_ref(module, operand->id);
    const grout_ref_step *step = grout_module_get_ref_step(module, ref, 0);
    bool is_plain = ref->step_count == 1 && step->kind == GROUT_REF_INDEX;
    for (uint32_t i = 0; is_plain && i < step->count; i++) {
        const grout_index *index = grout_module_get_index(module, step, i);
        is_plain = index->kind == GROUT_INDEX_ALL || index->start.kind == GROUT_OPERAND_EXPR;
    }
    if (!is_plain) {
        return grout_builder__error(b, "'%s' takes one list of compile-time indices", info->text);
    }
    *box_out = ref->first_step;
    *operand = (grout_operand){GROUT_OPERAND_VALUE, ref->base, operand->loc};
    return true;
}

/* The choice that the arguments make for an attribute. */
static bool get_choice(grout_builder *b, const grout_build_op_args *args, grout_attr_value *attr) {
    for (uint32_t i = 0; args->choices != NULL && i < args->choice_count; i++) {
        grout_choice choice = args->choices[i];
        bool is_known = choice > GROUT_CHOICE_NONE && choice < GROUT_CHOICE_COUNT;
        if (is_known && grout_choice_get_info(choice)->attr == attr->attr) {
            attr->choice = (uint8_t)choice;
            return true;
        }
    }
    return grout_builder__error(b, "attribute '%s' has no choice",
                                grout_attr_get_info((grout_attr)attr->attr)->text);
}

bool grout_builder__check_axes(grout_builder *b, uint32_t axes) {
    const grout_kernel *kernel = grout_module_get_kernel(b->module, b->kernel);
    uint32_t known = 0;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        known |= kernel->axes[i].kind == GROUT_AXIS_CLUSTER ? 1u << i : 0;
    }
    return (axes != 0 && (axes & ~known) == 0) ||
           grout_builder__error(b, "a set of axes has axes that are not cluster axes, or none");
}

uint32_t grout_builder__pack_dims(uint32_t count, const uint32_t *dims) {
    uint32_t packed = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (count > GROUT_RANK_MAX || dims[k] >= GROUT_RANK_MAX) {
            return 0;
        }
        packed |= (dims[k] + 1) << (4 * k);
    }
    return packed;
}

static bool get_ranges(grout_builder *b, const grout_build_op_args *args, grout_attr_value *attr) {
    attr->range_count = args->attr_range_count;
    if (args->attr_range_count == 0 || args->attr_range_count > GROUT_RANGES_MAX) {
        return grout_builder__error(b, "'%s' of no ranges, or of more than %d",
                                    grout_attr_get_info((grout_attr)attr->attr)->text,
                                    GROUT_RANGES_MAX);
    }
    for (uint32_t k = 0; k < attr->range_count; k++) {
        attr->ranges[k] = args->attr_ranges[k];
        if (!grout_builder__check_expr(b, attr->ranges[k].low) ||
            !grout_builder__check_expr(b, attr->ranges[k].high) ||
            !grout_builder__check_expr(b, attr->ranges[k].step)) {
            return false;
        }
    }
    return true;
}

/* What one attribute says; *int_count INT attributes were before it. */
static bool get_attr(grout_builder *b, const grout_build_op_args *args, uint32_t *int_count,
                     grout_attr_value *attr) {
    switch ((grout_argument_kind)grout_attr_get_info((grout_attr)attr->attr)->argument) {
    case GROUT_ARGUMENT_FLAG:
        return true;
    case GROUT_ARGUMENT_INT:
        attr->expr = args->attr_values == NULL ? args->attr_value : args->attr_values[*int_count];
        (*int_count)++;
        return grout_builder__check_expr(b, attr->expr);
    case GROUT_ARGUMENT_AXES:
        attr->axes = (uint8_t)args->attr_axes;
        return grout_builder__check_axes(b, args->attr_axes);
    case GROUT_ARGUMENT_CHOICE:
        return get_choice(b, args, attr);
    case GROUT_ARGUMENT_DIMS:
        attr->dims = args->attr_dims;
        return attr->dims != 0 ||
               grout_builder__error(b, "'%s' of no dimensions, or of too many",
                                    grout_attr_get_info((grout_attr)attr->attr)->text);
    case GROUT_ARGUMENT_RANGES:
        return get_ranges(b, args, attr);
    }
    return false;
}

static bool get_attrs(grout_builder *b, const grout_op_info *info, const grout_build_op_args *args,
                      grout_attr_value *attrs, uint8_t *count) {
    uint32_t int_count = 0;
    if ((args->attrs & ~info->attrs) != 0) {
        return grout_builder__error(b, "'%s' does not take one of its attributes", info->text);
    }
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        if ((args->attrs >> i & 1) == 0) {
            continue;
        }
        attrs[*count] = (grout_attr_value){.attr = (uint8_t)i, .loc = b->loc};
        if (!get_attr(b, args, &int_count, &attrs[*count])) {
            return false;
        }
        (*count)++;
    }
    return true;
}

static bool get_type(grout_builder *b, const grout_op_info *info, const grout_build_op_args *args,
                     uint32_t *type_out) {
    if (!info->typed) {
        return true;
    }
    bool is_known = args->type_dtype > GROUT_DTYPE_NONE && args->type_dtype < GROUT_DTYPE_COUNT;
    if (!is_known || !grout_builder__check_exprs(b, args->type_rank, args->type_dims)) {
        return grout_builder__error(b, "'%s' needs a type", info->text);
    }
    grout_written_type type = {.dtype = (uint8_t)args->type_dtype,
                               .rank = (uint8_t)args->type_rank,
                               .is_array = args->type_dims != NULL};
    for (uint32_t i = 0; type.is_array && i < args->type_rank; i++) {
        type.dims[i] = args->type_dims[i];
    }
    *type_out = grout_table__push(&b->module->types, &type);
    b->module->failed |= *type_out == 0;
    return true;
}

static bool may_be_built(grout_builder *b, const grout_op_info *info) {
    if (!grout_builder__is_in_kernel(b)) {
        return false;
    }
    const bool is_yield = info->rule == GROUT_RULE_YIELD;
    if (info->form == GROUT_FORM_NONE || (info->shape != GROUT_SHAPE_PLAIN && !is_yield)) {
        return grout_builder__error(b, "'%s' has a function of its own", info->text);
    }
    return !is_yield || b->regions.count > 1 ||
           grout_builder__error(b, "'yield' outside of a region");
}

grout_value_id grout_build_op(grout_builder *builder, grout_opcode opcode,
                              const grout_build_op_args *args) {
    if (!grout_builder__is_ok(builder)) {
        return 0;
    }
    const grout_op_info *info = grout_op_get_info(opcode < GROUT_OP_COUNT ? opcode : GROUT_OP_NONE);
    grout_attr_value attrs[GROUT_ATTR_COUNT];
    grout_new_op new_op = {.opcode = opcode, .attrs = attrs};
    grout_table operands;
    if (!grout_table__init(&operands, builder->module->allocator, sizeof(grout_operand))) {
        builder->module->failed = true;
        return 0;
    }
    grout_op_id id = 0;
    if (may_be_built(builder, info) && get_operands(builder, info, args, &operands) &&
        take_box(builder, info, &operands, &new_op.box) &&
        get_attrs(builder, info, args, attrs, &new_op.attr_count) &&
        get_type(builder, info, args, &new_op.written_type)) {
        new_op.operands = GROUT_TABLE_AT(operands, grout_operand, 1);
        new_op.operand_count = operands.count - 1;
        id = grout_builder__add_op(builder, &new_op, info->results);
    }
    grout_table__deinit(&operands);
    return id != 0 ? grout_module_get_op(builder->module, id)->first_result : 0;
}
