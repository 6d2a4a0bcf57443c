/* alias.c - arrays that have the bytes of another one: of shared memory from a byte on, of tensor
 * memory from a column on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include "layout.h"
#include "tmem.h"

#include <inttypes.h>

static int64_t get_start(const grout_binding *binding, const grout_object *object) {
    return object->alias_start == 0 ? 0 : binding->bound->expr_values[object->alias_start].integer;
}

/* Whether what an alias names lives where the alias does: its block, or one around it. */
static bool is_in_scope(const grout_module *module, const grout_object *object) {
    const grout_value *own = grout_module_get_value(module, object->value);
    const grout_value *other = grout_module_get_value(module, object->alias);
    if (other->object == 0 || other->op == 0) {
        return false;
    }
    const grout_block_id home =
        other->block != 0 ? other->block : grout_module_get_op(module, other->op)->parent;
    grout_block_id block = grout_module_get_op(module, own->op)->parent;
    while (block != home) {
        const grout_op_id around = grout_module_get_block(module, block)->parent;
        if (around == 0) {
            return false;
        }
        block = grout_module_get_op(module, around)->parent;
    }
    return true;
}

/* The array whose bytes an alias has; 0 after a report, or if that array was reported. */
static grout_object_id bind_alias_array(grout_binding *binding, const grout_object *object) {
    const grout_module *module = binding->module;
    const grout_value *value = grout_module_get_value(module, object->alias);
    const grout_value_text name = grout_value__get_text(module, object->alias, "that");
    const grout_object *array = grout_module_get_object(module, value->object);
    if (!is_in_scope(module, object) || array->kind != GROUT_OBJECT_ARRAY ||
        array->space != object->space) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ALIAS, object->loc,
                              "%s is no %s array that lives here", name.chars,
                              grout_space_get_text((grout_space)object->space));
        grout_diags_help(binding->diags, "an alias shares the bytes of an array that a scratch or "
                                         "a scope around it has made");
        return 0;
    }
    return binding->bound->object_types[value->object].kind == GROUT_TYPE_NONE ? 0 : value->object;
}

/* What is padded has elements across bytes, which only arrays of their kind see as they are. */
static bool check_padding(grout_binding *binding, grout_object_id id, grout_object_id array) {
    const grout_module *module = binding->module;
    const grout_object *object = grout_module_get_object(module, id);
    const grout_object *other = grout_module_get_object(module, array);
    const bool is_padded = object->is_padded;
    if (is_padded == other->is_padded && (!is_padded || object->type.dtype == other->type.dtype)) {
        return true;
    }
    grout_binding__report(
        binding, GROUT_DIAG_BAD_ALIAS, object->loc,
        "%s is padded: its elements lie across bytes, and an alias would show them as others",
        grout_value__get_text(module, is_padded ? object->value : object->alias, "it").chars);
    grout_diags_help(binding->diags, "scopes one after the other share bytes too");
    return false;
}

/* One in shared memory lies inside its array, where the hardware can begin a layout like its own.
 */
static bool bind_bytes_alias(grout_binding *binding, grout_object_id id) {
    enum { PLAIN_BYTES = 128, SWIZZLED_BYTES = 1024 }; /* docs/hardware.md 1.1, 1.2 */
    const grout_module *module = binding->module;
    const grout_object *object = grout_module_get_object(module, id);
    const grout_layout *layout = &binding->bound->object_layouts[id];
    const int64_t start = get_start(binding, object);
    const int64_t step = layout->swizzle != 0 ? SWIZZLED_BYTES : PLAIN_BYTES;
    const grout_object_id array = bind_alias_array(binding, object);
    if (array == 0) {
        return false;
    }
    if (!check_padding(binding, id, array)) {
        return false;
    }
    const int64_t bytes = binding->bound->object_layouts[array].bytes;
    if (start % step != 0) {
        return grout_binding__report(binding, GROUT_DIAG_BAD_ALIAS, object->loc,
                                     "an alias starts at byte %" PRId64
                                     ", and %s array starts at a multiple of %" PRId64,
                                     start, layout->swizzle != 0 ? "a swizzled" : "an", step);
    }
    if (start < 0 || layout->bytes > bytes || start > bytes - layout->bytes) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ALIAS, object->loc,
                              "bytes %" PRId64 " to %" PRId64 " leave %s, which has %" PRId64,
                              start, start + layout->bytes - 1,
                              grout_value__get_text(module, object->alias, "the array").chars,
                              bytes);
        grout_diags_help(binding->diags,
                         "an alias lies inside its array: make the largest array first, or a "
                         "u8 array of as many bytes as all need");
        return false;
    }
    return true;
}

/* What an alias in tensor memory and its array have to be alike in. */
static bool check_cells(grout_binding *binding, grout_object_id id, grout_object_id array) {
    const grout_module *module = binding->module;
    const grout_object *object = grout_module_get_object(module, id);
    const grout_object *other = grout_module_get_object(module, array);
    const grout_value_text name = grout_value__get_text(module, object->alias, "the array");
    const grout_object_id sides[] = {id, array};
    for (uint32_t k = 0; k < 2; k++) {
        if (!grout_tmem__fills_cells(module, sides[k])) {
            grout_binding__report(
                binding, GROUT_DIAG_BAD_ALIAS, object->loc,
                "%s has one element of 16 bits in a column of 32, and what a store leaves beside "
                "it "
                "has no meaning: an array that shares columns fills them",
                grout_value__get_text(module, grout_module_get_object(module, sides[k])->value,
                                      "this array")
                    .chars);
            grout_diags_help(binding->diags, "declare it 'packed', or of 32 bits");
            return false;
        }
    }
    if (object->is_collective != other->is_collective) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ALIAS, object->loc,
                              "%s is %s a pair of CTAs, and its alias is %s", name.chars,
                              other->is_collective ? "an array of" : "no array of",
                              object->is_collective ? "one" : "none");
        grout_diags_help(binding->diags, "write 'collective' after both types, or after neither");
        return false;
    }
    return true;
}

/* One in tensor memory lies inside the columns of its array. */
static bool bind_cells_alias(grout_binding *binding, grout_object_id id, grout_object_id array) {
    const grout_module *module = binding->module;
    const grout_object *object = grout_module_get_object(module, id);
    const int64_t start = get_start(binding, object);
    const int64_t columns = grout_tmem__count_columns(module, id);
    const int64_t all = grout_tmem__count_columns(module, array);
    if (!check_cells(binding, id, array)) {
        return false;
    }
    if (start % GROUT_TMEM_START_STEP != 0) {
        return grout_binding__report(binding, GROUT_DIAG_BAD_ALIAS, object->loc,
                                     "an alias starts at column %" PRId64
                                     ", and an array in tensor memory starts at a multiple of %d",
                                     start, GROUT_TMEM_START_STEP);
    }
    if (start < 0 || columns > all || start > all - columns) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ALIAS, object->loc,
                              "columns %" PRId64 " to %" PRId64 " leave %s, which has %" PRId64,
                              start, start + columns - 1,
                              grout_value__get_text(module, object->alias, "the array").chars, all);
        grout_diags_help(binding->diags, "an alias lies inside its array: make the largest array "
                                         "first, or a u32 array of as many columns as all need");
        return false;
    }
    return true;
}

/* The cells of an array in tensor memory that shares some. Shapes that tensor memory does not have
 * are the verifier's to report. */
static bool bind_cells(grout_binding *binding, grout_object_id id) {
    const grout_module *module = binding->module;
    const grout_object *object = grout_module_get_object(module, id);
    const grout_object_id array = object->alias == 0 ? 0 : bind_alias_array(binding, object);
    if (object->alias != 0 && array == 0) {
        return false;
    }
    if ((array == 0 && !binding->has_alias[id]) || !grout_tmem__check_object(module, id, NULL) ||
        (array != 0 && !grout_tmem__check_object(module, array, NULL))) {
        return true;
    }
    if (array != 0 && !bind_cells_alias(binding, id, array)) {
        return false;
    }
    binding->bound->object_layouts[id] = grout_tmem__make_cells(module, id);
    return true;
}

bool grout_alias__bind(grout_binding *binding, grout_object_id id) {
    const grout_object *object = grout_module_get_object(binding->module, id);
    if (grout_space_needs_tensor_order(object->space)) {
        return bind_cells(binding, id);
    }
    return object->alias == 0 || bind_bytes_alias(binding, id);
}

void grout_alias__note(grout_binding *binding) {
    const grout_module *module = binding->module;
    for (uint32_t id = 1; id < module->objects.count; id++) {
        const grout_value_id alias = grout_module_get_object(module, id)->alias;
        if (alias != 0) {
            binding->has_alias[grout_module_get_value(module, alias)->object] = true;
        }
    }
}
