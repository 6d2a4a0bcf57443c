/*
 * recast.c - the views by .bitcast and .reshape: the bytes of an array as an array of another type.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Such a view is an object of its own, which has the bytes of the object that the reference names,
 * as an alias has (bound only: the symbolic module has none). So all that asks where an element
 * lies, or which bytes an operation touches, asks as it does of any object. Dimensions that were
 * indexed away before stay, with their starts; those that are left become new ones.
 */
#include "bound.h"
#include "layout.h"
#include "lookup.h"

#include <string.h>

static bool is_recast(const grout_ref_step *step) {
    return step->kind == GROUT_REF_BITCAST || step->kind == GROUT_REF_RESHAPE;
}

uint32_t grout_recast__count(const grout_module *module) {
    uint32_t count = 0;
    for (uint32_t i = 1; i < module->ref_steps.count; i++) {
        count += is_recast(GROUT_TABLE_AT(module->ref_steps, grout_ref_step, i)) ? 1 : 0;
    }
    return count;
}

/* Adds one more of a value. False without memory. */
static bool add(grout_binding *binding, grout_recasts *recasts, grout_value_id value, uint32_t id) {
    recasts->newest.allocator = binding->module->allocator;
    uint32_t *newest = GROUT_ARRAY_RESERVE(&recasts->all, binding->module->allocator, 1)
                           ? grout_lookup__at(&recasts->newest, value)
                           : NULL;
    if (newest == NULL) {
        binding->ok = grout_diags_add_oom(binding->diags);
        return false;
    }
    recasts->all.items[recasts->all.count].id = id;
    recasts->all.items[recasts->all.count++].next = *newest;
    *newest = (uint32_t)recasts->all.count;
    return true;
}

void grout_recast__deinit(grout_recasts *recasts) {
    grout__free(recasts->all.items);
    grout_lookup__deinit(&recasts->newest);
}

/* A view on its way to the object that it becomes. */
typedef struct recast {
    grout_binding *binding;
    grout_ref_step *step;
    grout_view view;
    uint8_t first; /* dimensions indexed away, the leading ones of the object */
    grout_type type;
    grout_layout_spec spec;
} recast;

/* Whether what is left of the object are its last dimensions, whole and in their order. */
static bool is_whole(const recast *it) {
    const grout_type *type = &it->binding->bound->object_types[it->view.object];
    for (uint8_t k = 0; k < it->view.view_rank; k++) {
        const uint8_t dim = it->view.view_dim[k];
        if (dim != it->first + k || it->view.extent[dim] != type->dims[dim]) {
            return false;
        }
    }
    return true;
}

/* Elements of another size: the innermost dimension has as many more or fewer. */
static grout_view_fault bitcast(recast *it) {
    const grout_dtype_info *before = grout_dtype_get_info((grout_dtype)it->type.dtype);
    const grout_dtype_info *after = grout_dtype_get_info((grout_dtype)it->step->dtype);
    const uint8_t from = before->bytes, to = after->bytes;
    const uint32_t last = it->type.rank - 1u;
    it->type.dtype = it->step->dtype;
    it->spec.element_bytes = to;
    if (from == to && before->packed == after->packed) {
        return GROUT_VIEW_FINE;
    }
    if (it->spec.is_custom) {
        return GROUT_VIEW_RECAST_LAYOUT;
    }
    if (it->view.view_rank == 0 || it->type.dims[last] / before->packed * from % to != 0) {
        return GROUT_VIEW_RECAST_SIZE;
    }
    if (it->spec.has_transpose && it->spec.permutation[last] != last) {
        return GROUT_VIEW_RECAST_LAYOUT;
    }
    if (it->spec.tile_rank > 0) {
        int64_t *tile = &it->spec.tile[it->spec.tile_rank - 1];
        if (*tile * from % to != 0) {
            return GROUT_VIEW_RECAST_SIZE;
        }
        *tile = *tile * from / to;
    }
    it->type.dims[last] = it->type.dims[last] / before->packed * from / to * after->packed;
    return it->type.dims[last] > GROUT_DIM_MAX ? GROUT_VIEW_RECAST_SIZE : GROUT_VIEW_FINE;
}

/* Whether tile and swizzle suit the new dimensions: what bind.c asks of a declaration. */
static bool fits_transforms(const recast *it) {
    if (it->spec.tile_rank > it->type.rank || it->spec.has_transpose) {
        return it->spec.tile_rank <= it->type.rank;
    }
    for (uint32_t k = 0; k < it->spec.tile_rank; k++) {
        if (it->spec.dims[it->type.rank - it->spec.tile_rank + k] % it->spec.tile[k] != 0) {
            return false;
        }
    }
    return it->spec.swizzle == 0 || it->spec.tile_rank > 0 ||
           it->spec.dims[it->type.rank - 1] * it->spec.element_bytes == it->spec.swizzle;
}

/* Advances an index in row-major order; false at the end. */
static bool advance(int64_t *index, const int64_t *dims, uint32_t rank) {
    for (uint32_t dim = rank; dim-- > 0;) {
        if (++index[dim] < dims[dim]) {
            return true;
        }
        index[dim] = 0;
    }
    return false;
}

/* Whether every element lies at the byte at which it lay before. What is larger than any budget is
 * refused for that. */
static bool is_same_place(const recast *it, const grout_layout_spec *before) {
    enum { BYTES_MAX = 1 << 20 };
    const grout_layout old = grout_layout__make(before), made = grout_layout__make(&it->spec);
    int64_t from[GROUT_RANK_MAX] = {0}, to[GROUT_RANK_MAX] = {0};
    if ((before->tile_rank == 0 && !before->has_transpose) || old.bytes > BYTES_MAX) {
        return true;
    }
    do {
        if (grout_layout_get_offset(&old, from) != grout_layout_get_offset(&made, to)) {
            return false;
        }
    } while (advance(from, before->dims, before->rank) &&
             advance(to, it->spec.dims, it->spec.rank));
    return true;
}

/* The dimensions of the layout: those of the type, of which the last may be packed. */
static void set_spec_dims(recast *it) {
    memcpy(it->spec.dims, it->type.dims, sizeof it->spec.dims);
    if (it->type.rank > 0) {
        it->spec.dims[it->type.rank - 1] /=
            grout_dtype_get_info((grout_dtype)it->type.dtype)->packed;
    }
}

/* The elements in their row-major order with other dimensions. */
static grout_view_fault reshape(recast *it) {
    const grout_layout_spec before = it->spec;
    const uint8_t packed = grout_dtype_get_info((grout_dtype)it->type.dtype)->packed;
    int64_t left = 1, count = 1;
    if (it->spec.is_custom) {
        return GROUT_VIEW_RESHAPE_LAYOUT;
    }
    for (uint32_t dim = it->first; dim < it->type.rank; dim++) {
        left *= it->type.dims[dim];
    }
    if (it->first + it->step->count > GROUT_RANK_MAX) {
        return GROUT_VIEW_RESHAPE_DIMS;
    }
    it->type.rank = it->spec.rank = (uint8_t)(it->first + it->step->count);
    for (uint32_t k = 0; k < it->step->count; k++) {
        const grout_index *index = grout_module_get_index(it->binding->module, it->step, k);
        const grout_expr_value *size = &it->binding->bound->expr_values[index->size];
        if (size->is_float || size->is_bool || size->integer < 1 || size->integer > GROUT_DIM_MAX) {
            return GROUT_VIEW_RESHAPE_DIMS;
        }
        if (__builtin_mul_overflow(count, size->integer, &count)) {
            return GROUT_VIEW_RESHAPE_COUNT;
        }
        it->type.dims[it->first + k] = size->integer;
    }
    if (count != left) {
        return GROUT_VIEW_RESHAPE_COUNT;
    }
    if (packed > 1 && (it->step->count == 0 || it->type.dims[it->type.rank - 1] % packed != 0)) {
        return GROUT_VIEW_PACKED_PART;
    }
    set_spec_dims(it);
    if (it->spec.has_transpose && memcmp(before.dims, it->spec.dims, sizeof before.dims) != 0) {
        return GROUT_VIEW_RESHAPE_LAYOUT;
    }
    if (fits_transforms(it) && is_same_place(it, &before)) {
        return GROUT_VIEW_FINE;
    }
    return !it->spec.has_transpose && grout_layout__retile(&before, &it->spec)
               ? GROUT_VIEW_FINE
               : GROUT_VIEW_RESHAPE_LAYOUT;
}

static grout_view_fault recast_view(recast *it) {
    const grout_module *module = it->binding->module;
    const grout_object *object = grout_module_get_object(module, it->view.object);
    grout_view_fault fault = GROUT_VIEW_FINE;
    if (object->kind != GROUT_OBJECT_ARRAY || !grout_space_is_of_cta(object->space) ||
        grout_space_needs_tensor_order(object->space) || object->is_padded) {
        return GROUT_VIEW_RECAST_SPACE;
    }
    it->first = (uint8_t)(it->view.rank - it->view.view_rank);
    it->type = it->binding->bound->object_types[it->view.object];
    it->spec = it->binding->object_specs[it->view.object];
    if (!is_whole(it)) {
        return GROUT_VIEW_RECAST_PART;
    }
    fault = it->step->kind == GROUT_REF_BITCAST ? bitcast(it) : reshape(it);
    set_spec_dims(it);
    for (uint32_t dim = it->type.rank; dim < GROUT_RANK_MAX; dim++) {
        it->type.dims[dim] = it->spec.dims[dim] = 0;
    }
    return fault;
}

/* Whether an object that a view of the same value has become is this view. */
static bool is_alike(const recast *it, grout_object_id id) {
    const grout_module *module = it->binding->module;
    const grout_layout_spec *spec = &it->binding->object_specs[id];
    return grout_object_get_root(module, id) == grout_object_get_root(module, it->view.object) &&
           grout_type_is_equal(&it->binding->bound->object_types[id], &it->type) &&
           spec->tile_rank == it->spec.tile_rank &&
           memcmp(&spec->tile, &it->spec.tile, sizeof spec->tile) == 0;
}

/* The view that is the same, if an earlier reference has made it; else 0. */
static grout_object_id find_alike(const recast *it) {
    const grout_recasts *made = &it->binding->recast_objects;
    for (uint32_t i = grout_lookup__find(&made->newest, it->view.base); i != 0;
         i = made->all.items[i - 1].next) {
        if (is_alike(it, made->all.items[i - 1].id)) {
            return made->all.items[i - 1].id;
        }
    }
    return 0;
}

static grout_object_id make_object(const recast *it) {
    grout_module *module = it->binding->module;
    grout_object object = *grout_module_get_object(module, it->view.object);
    object.value = it->view.base;
    object.alias = it->view.base;
    object.alias_start = 0;
    object.infers_tile = false; /* it has the tile of what it is a view of */
    object.type.dtype = it->type.dtype;
    object.type.rank = it->type.rank;
    const grout_object_id id = grout_table__push(&module->objects, &object);
    if (id == 0) {
        it->binding->ok = grout_diags_add_oom(it->binding->diags);
        return 0;
    }
    if (!add(it->binding, &it->binding->recast_objects, it->view.base, id)) {
        return 0;
    }
    it->binding->bound->object_offsets[id] = -1;
    grout_binding__set_object(it->binding, id, &it->type, &it->spec);
    return id;
}

/* Resolves the view up to a step of a reference. Returns its fault, or none. */
static grout_view_fault begin(grout_binding *binding, grout_ref_id ref, uint32_t index,
                              recast *out) {
    const grout_operand operand = {.kind = GROUT_OPERAND_REF, .id = ref};
    *out = (recast){
        .binding = binding,
        .step = GROUT_TABLE_AT(binding->module->ref_steps, grout_ref_step,
                               grout_module_get_ref(binding->module, ref)->first_step + index)};
    return grout_view__resolve_steps(binding->module, &operand, index, &out->view).fault;
}

static void recast_step(grout_binding *binding, grout_ref_id ref, uint32_t index) {
    recast it;
    if (begin(binding, ref, index, &it) != GROUT_VIEW_FINE ||
        binding->bound->object_types[it.view.object].kind == GROUT_TYPE_NONE) {
        it.step->fault = GROUT_VIEW_RECAST_SPACE; /* reported as what it is, at its own step */
        return;
    }
    it.step->fault = (uint8_t)recast_view(&it);
    if (it.step->fault == GROUT_VIEW_FINE) {
        it.step->object = find_alike(&it);
        it.step->object = it.step->object != 0 ? it.step->object : make_object(&it);
    }
}

/* The same view of a base whose layout has changed: its object, made already, gets another one, or
 * the step has a fault. */
static void recast_again(grout_binding *binding, grout_ref_id ref, uint32_t index) {
    recast it;
    const grout_view_fault fault = begin(binding, ref, index, &it);
    if (it.step->object == 0) { /* it has never been one */
        return;
    }
    /* A fault is that of the step before. */
    it.step->fault = fault != GROUT_VIEW_FINE ? GROUT_VIEW_RECAST_LAYOUT : GROUT_VIEW_FINE;
    if (fault == GROUT_VIEW_FINE) {
        it.step->fault = (uint8_t)recast_view(&it);
    }
    if (it.step->fault == GROUT_VIEW_FINE) {
        grout_binding__set_object(binding, it.step->object, &it.type, &it.spec);
    }
}

void grout_recast__object(grout_binding *binding, grout_object_id object) {
    const grout_value_id value = grout_module_get_object(binding->module, object)->value;
    const grout_recasts *recasts = &binding->recasts;
    for (uint32_t i = grout_lookup__find(&recasts->newest, value);
         grout_binding__goes_on(binding) && i != 0; i = recasts->all.items[i - 1].next) {
        const grout_ref_id id = recasts->all.items[i - 1].id;
        const grout_ref *ref = grout_module_get_ref(binding->module, id);
        for (uint32_t k = 0; k < ref->step_count; k++) {
            if (is_recast(grout_module_get_ref_step(binding->module, ref, k))) {
                recast_again(binding, id, k);
            }
        }
    }
}

static void note_recast(grout_binding *binding, grout_ref_id id) {
    const grout_recasts *recasts = &binding->recasts;
    const size_t count = recasts->all.count;
    if (count == 0 || recasts->all.items[count - 1].id != id) {
        (void)add(binding, &binding->recasts, grout_module_get_ref(binding->module, id)->base, id);
    }
}

void grout_recast__module(grout_binding *binding) {
    for (uint32_t id = 1; grout_binding__goes_on(binding) && id < binding->module->refs.count;
         id++) {
        const uint32_t count = grout_module_get_ref(binding->module, id)->step_count;
        for (uint32_t k = 0; k < count; k++) {
            const grout_ref *ref = grout_module_get_ref(binding->module, id);
            if (is_recast(grout_module_get_ref_step(binding->module, ref, k))) {
                note_recast(binding, id);
                recast_step(binding, id, k);
            }
        }
    }
}
