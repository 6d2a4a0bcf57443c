/* emit_tensor_map.c - descriptors: those of the launch, and those that one lane makes in GMEM.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The map of the launch for the same box and swizzle, a parameter, is the model: the lane copies it
 * to the slot and replaces the address and the extents there. It is released with the proxy's own
 * fence, and the acquire names the slot (PTX ISA 9.1, 'tensormap.replace', 'fence.proxy').
 */
#include "emit.h"

#include "invariant.h"

#include <inttypes.h>

/* The descriptor is the plan's map; what indexes it is the copy. */
void grout_emit__tensor_descriptor(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)e;
    (void)id;
    (void)op;
}

static bool find_slot(grout_emitter *e, const grout_op *op, grout_view *slot_out) {
    if (grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), slot_out)) {
        return true;
    }
    grout_emit__unsupported(e, op, "operand 1 is not a slot of a tensor map");
    return false;
}

void grout_emit__made_map(grout_emitter *e, const grout_op *maker) {
    grout_view slot;
    if (find_slot(e, maker, &slot)) {
        grout_emit__add(e, "*reinterpret_cast<const grout_tensor_map *>(");
        grout_emit__address(e, &slot, GROUT_EMIT_AT_FIRST);
        grout_emit__add(e, ")");
    }
}

/* The first element of the part. */
static void add_address(grout_emitter *e, const grout_op *op) {
    grout_view array;
    if (!grout_module_get_view(e->module, grout_descriptor_get_array(e->module, op), &array)) {
        grout_emit__unsupported(e, op, "operand 2 is not an array");
        return;
    }
    for (uint32_t dim = 0; dim < array.rank; dim++) {
        const grout_operand *start = grout_descriptor_get_start(e->module, op, dim);
        array.extent[dim] = 1;
        if (start->kind == GROUT_OPERAND_EXPR) {
            array.start_const[dim] = grout_module_get_expr_value(e->module, start->id).integer;
        } else {
            array.start_terms[dim][array.start_term_count[dim]++] = start->id;
        }
    }
    grout_emit__address(e, &array, GROUT_EMIT_AT_FIRST);
}

void grout_emit__make_tensor_descriptor(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const uint32_t number = e->plan->map_of_op[id];
    grout_view slot;
    if (number == 0 || !find_slot(e, op, &slot)) {
        return; /* no copy goes through it */
    }
    GROUT_ASSERT(number <= e->plan->map_count);
    const grout_gpu_map *map = &e->plan->maps[number - 1];
    const uint32_t pointer = e->temp_count++;
    grout_emit__before_issue(e, "no lane still needs the old map");
    grout_emit__open_issuer(e);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_u64 *const x%" PRIu32 " = ", pointer);
    grout_emit__address(e, &slot, GROUT_EMIT_AT_FIRST);
    FIELD_END(e, MAP_SLOT);
    grout_emit__end(e, ";");
    grout_emit__begin(e);
    grout_emit__add(e, "grout_tensor_map_begin(x%" PRIu32 ", %s, ", pointer,
                    grout_gpu__get_map_name(e->module, map).text);
    add_address(e, op);
    FIELD_END(e, MAP_ADDRESS);
    grout_emit__end(e, ");");
    for (uint32_t k = 0; k < map->tma.rank; k++) {
        grout_emit__begin(e);
        grout_emit__add(e, "grout_tensor_map_set_extent<%" PRId64 ">(x%" PRIu32 ", ",
                        FIELD(MAP_EXTENT_DIM, k), pointer);
        grout_emit__operand(e, grout_descriptor_get_extent(e->module, op, map->tma.object_dim[k]),
                            NULL);
        FIELD_END(e, MAP_EXTENT);
        grout_emit__end(e, ");");
    }
    grout_emit__line(e, "grout_tensor_map_release();");
    grout_emit__close_issuer(e);
}

void grout_emit__tensormap_acquire(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view slot;
    (void)id;
    if (!find_slot(e, op, &slot)) {
        return;
    }
    grout_emit__before_issue(e, "one lane acquires for its copies");
    grout_emit__open_issuer(e);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_tensor_map_acquire(");
    grout_emit__address(e, &slot, GROUT_EMIT_AT_FIRST);
    FIELD_END(e, MAP_ACQUIRED);
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
}
