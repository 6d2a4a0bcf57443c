/* columns.c - columns of tensor memory that scopes have one after the other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A CTA enters its scopes in order, and what it leaves in flight is a finding there (lifetime.c).
 * The other CTA of its pair may be ahead: an MMA of the pair writes columns of both. So what one of
 * them does to an array has to come after all that the other one did to arrays of other scopes.
 * Which columns an array gets has no part in it, as in SMEM.
 */
#include "access.h"
#include "tensor.h"

/* The scope that an array lives in; 0: it lives as long as the kernel. */
static grout_op_id find_scope(const grout_module *module, grout_object_id object) {
    const grout_value_id value = grout_module_get_object(module, object)->value;
    const grout_op_id id = grout_module_get_value(module, value)->op;
    const grout_op *op = grout_module_get_op(module, id);
    return op->block_count > 0 ? id : grout_module_get_block(module, op->parent)->parent;
}

/* Whether an op lies in another one, or is it. */
static bool is_inside(const grout_module *module, grout_op_id op, grout_op_id outer) {
    while (op != 0 && op != outer) {
        op = grout_module_get_block(module, grout_module_get_op(module, op)->parent)->parent;
    }
    return op == outer;
}

/* Whether two arrays may have the same columns: never are both there. */
static bool take_turns(const grout_module *module, grout_object_id a, grout_object_id b) {
    const grout_op_id first = find_scope(module, a), second = find_scope(module, b);
    return !is_inside(module, first, second) && !is_inside(module, second, first);
}

static bool compare(const grout_rules *rules, const grout_entry *earlier, const grout_rect *rect) {
    const uint8_t either = earlier->flags | rules->entry.flags;
    if (!(earlier->flags & GROUT_ENTRY_PRESENT) || !(either & GROUT_ENTRY_WRITE) ||
        earlier->origin.cta == rules->entry.origin.cta) {
        return true;
    }
    const grout_conflict conflict = grout_tensor__judge_turns(rules, earlier);
    return conflict.code == GROUT_DIAG_NONE ||
           rules->report(rules->payload, &conflict, earlier, &rules->entry, rect);
}

static bool visit(void *payload, grout_shadow *shadow, grout_region *region,
                  const grout_rect *rect) {
    const grout_rules *rules = payload;
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    bool is_good = compare(rules, &region->write, rect);
    for (uint32_t i = 0; is_good && i < region->reader_count; i++) {
        is_good = compare(rules, &readers[i], rect);
    }
    return is_good;
}

bool grout_checker__compare_columns(grout_checker *checker, const grout_access *access,
                                    grout_rules *rules, grout_cta_state *owner, uint32_t *plane) {
    const grout_module *module = checker->info.module;
    const grout_object_id root = grout_object_get_root(module, access->object);
    const grout_visitor visitor = {visit, rules};
    const bool may_be =
        checker->shape.cta_count > 1 && grout_space_needs_tensor_order(access->space);
    bool is_good = true;
    for (grout_object_id i = 1; may_be && is_good && i < grout_module_get_object_count(module);
         i++) {
        const grout_object *object = grout_module_get_object(module, i);
        if (object->kind == GROUT_OBJECT_ARRAY && object->space == access->space && i != root &&
            checker->homes[i].plane != 0 && grout_object_get_root(module, i) == i &&
            take_turns(module, root, i)) {
            *plane = checker->homes[i].plane - 1;
            is_good = grout_shadow__walk(&owner->local, *plane, 0,
                                         grout_object_get_layout(module, i)->bytes, &visitor);
        }
    }
    return is_good;
}
