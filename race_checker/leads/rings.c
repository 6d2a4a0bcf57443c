/*
 * rings.c - which slot of an array of barriers or buffers each operation names.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rings.h"

#include "statement.h"

#include "grout-internal/text.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8, LEAVES_MAX = 8 }; /* of an index, as far as two are compared */

/* ---- one use ---- */

int64_t grout_object__count_slots(const grout_module *module, grout_object_id object) {
    const grout_type *type = grout_object_get_type(module, object);
    const grout_object *it = grout_module_get_object(module, object);
    const bool is_ring = it->kind == GROUT_OBJECT_BARRIER ||
                         (it->kind == GROUT_OBJECT_ARRAY && type->rank > 1 &&
                          (it->space == GROUT_SPACE_SMEM || it->space == GROUT_SPACE_TMEM));
    return is_ring && type->rank > 0 && type->dims[0] > 1 ? type->dims[0] : 0;
}

/* The indices of an operand, after a place in the cluster; NULL: it has none. */
static const grout_ref_step *find_indices(const grout_module *module,
                                          const grout_operand *operand) {
    const grout_ref *ref =
        operand->kind == GROUT_OPERAND_REF ? grout_module_get_ref(module, operand->id) : NULL;
    for (uint32_t i = 0; ref != NULL && i < ref->step_count; i++) {
        const grout_ref_step *step = grout_module_get_ref_step(module, ref, i);
        if (step->kind != GROUT_REF_CLUSTER) {
            return step->kind == GROUT_REF_INDEX ? step : NULL;
        }
    }
    return NULL;
}

uint32_t grout_ring_use__get_places(const grout_module *module, const grout_ring_use *use,
                                    const grout_operand *places_out[GROUT_RANK_MAX]) {
    const grout_op *op = grout_module_get_op(module, use->op);
    const grout_ref_step *step =
        find_indices(module, grout_module_get_operand(module, op, use->operand));
    uint32_t count = 0;
    while (step != NULL && count < step->count && count < GROUT_RANK_MAX &&
           grout_module_get_index(module, step, count)->kind == GROUT_INDEX_AT) {
        places_out[count] = &grout_module_get_index(module, step, count)->start;
        count++;
    }
    return count;
}

const grout_operand *grout_ring_use__get_slot(const grout_module *module,
                                              const grout_ring_use *use) {
    const grout_operand *places[GROUT_RANK_MAX];
    return grout_ring_use__get_places(module, use, places) > 0 ? places[0] : NULL;
}

/* Bytes of "%cs[%half, :, 0]" up to the end of its first indices, without what follows them. */
static size_t measure_places(const char *text, uint32_t places) {
    uint32_t depth = 0, seen = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        const char c = text[i];
        depth += c == '(' || c == '[' ? 1u : 0u;
        seen += depth == 1 && c == ',' ? 1u : 0u;
        if (depth == 1 && (seen == places || c == ']') && strchr(text, '[') < text + i) {
            return i;
        }
        depth -= c == ')' || c == ']' ? 1u : 0u;
        seen = depth == 0 ? 0 : seen; /* a place in the cluster has commas too */
    }
    return strlen(text);
}

void grout_ring_use__add(const grout_module *module, const grout_ring_use *use, grout_text *out) {
    const grout_operand *places[GROUT_RANK_MAX];
    const uint32_t count = grout_ring_use__get_places(module, use, places);
    grout_text text = {.allocator = out->allocator};
    grout_operand_print(module, use->op, use->operand, &text);
    if (text.data != NULL && count > 0) {
        grout_text_add_bytes(out, text.data, measure_places(text.data, count));
        grout_text_add(out, "]");
    } else {
        grout_text_add(out, "%s", text.data == NULL ? "" : text.data);
    }
    out->failed = out->failed || text.failed;
    grout_text_free(&text);
}

/* ---- indices ---- */

bool grout_slot__is_constant(const grout_module *module, const grout_operand *slot,
                             int64_t *number_out) {
    if (slot->kind != GROUT_OPERAND_EXPR) {
        return false;
    }
    *number_out = grout_module_get_expr_value(module, slot->id).integer;
    return true;
}

/* The op that computes an index from others; NULL: it is none. */
static const grout_op *find_maker(const grout_module *module, const grout_operand *index) {
    const grout_value *value =
        index->kind == GROUT_OPERAND_VALUE ? grout_module_get_value(module, index->id) : NULL;
    if (value == NULL || value->kind != GROUT_VALUE_RESULT) {
        return NULL;
    }
    const grout_op *op = grout_module_get_op(module, value->op);
    const grout_effect_row row =
        (grout_effect_row)grout_op_get_info((grout_opcode)op->opcode)->effect_row;
    return row == GROUT_EFFECT_ROW_PURE && op->block_count == 0 && op->result_count == 1 ? op
                                                                                         : NULL;
}

static bool is_equal(const grout_module *module, const grout_operand *a, const grout_operand *b,
                     uint32_t depth) {
    int64_t x = 0, y = 0;
    if (a->kind != b->kind || depth == DEPTH_MAX) {
        return false;
    }
    if (grout_slot__is_constant(module, a, &x)) {
        return grout_slot__is_constant(module, b, &y) && x == y;
    }
    if (a->id == b->id) {
        return true;
    }
    const grout_op *one = find_maker(module, a), *two = find_maker(module, b);
    if (one == NULL || two == NULL || one->opcode != two->opcode ||
        one->operand_count != two->operand_count || one->attr_count > 0 || two->attr_count > 0) {
        return false;
    }
    bool is_alike = one->operand_count > 0;
    for (uint32_t i = 0; i < one->operand_count && is_alike; i++) {
        is_alike = is_equal(module, grout_module_get_operand(module, one, i),
                            grout_module_get_operand(module, two, i), depth + 1);
    }
    return is_alike;
}

bool grout_slot__is_equal(const grout_module *module, const grout_operand *a,
                          const grout_operand *b) {
    return is_equal(module, a, b, 0);
}

const grout_operand *grout_slot__get_dividend(const grout_module *module,
                                              const grout_operand *slot) {
    const grout_op *op = find_maker(module, slot);
    /* by name: the slot of a step is a remainder */
    return op != NULL && op->opcode == GROUT_OP_REM ? grout_module_get_operand(module, op, 0)
                                                    : NULL;
}

static const grout_operand *find_quotient(const grout_module *module, const grout_operand *index,
                                          uint32_t depth) {
    const grout_op *op = depth < DEPTH_MAX ? find_maker(module, index) : NULL;
    const grout_operand *found = NULL;
    /* by name: the turn of a step is a quotient */
    if (op != NULL && op->opcode == GROUT_OP_DIV) {
        return grout_module_get_operand(module, op, 0);
    }
    for (uint32_t i = 0; op != NULL && i < op->operand_count && found == NULL; i++) {
        found = find_quotient(module, grout_module_get_operand(module, op, i), depth + 1);
    }
    return found;
}

const grout_operand *grout_parity__get_dividend(const grout_module *module,
                                                const grout_operand *parity) {
    return find_quotient(module, parity, 0);
}

grout_op_id grout_slot__find_source(const grout_module *module, const grout_operand *slot,
                                    grout_op_id use) {
    const grout_value *value =
        slot->kind == GROUT_OPERAND_VALUE ? grout_module_get_value(module, slot->id) : NULL;
    if (value == NULL || value->kind != GROUT_VALUE_RESULT || value->name == 0) {
        return 0;
    }
    const grout_place own = grout_module_get_place(module, grout_module_get_op(module, use)->loc);
    const grout_place source =
        grout_module_get_place(module, grout_module_get_op(module, value->op)->loc);
    return own.line != source.line ? value->op : 0;
}

/* ---- the counters of an index ---- */

/* The values that an index is computed from. */
typedef struct leaves {
    grout_value_id items[LEAVES_MAX];
    uint32_t count;
    bool has_more;
} leaves;

static void add_leaf(leaves *all, grout_value_id value) {
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i] == value) {
            return;
        }
    }
    all->has_more |= all->count == LEAVES_MAX;
    if (!all->has_more) {
        all->items[all->count++] = value;
    }
}

static void find_leaves(const grout_module *module, const grout_operand *index, uint32_t depth,
                        leaves *out) {
    if (index->kind != GROUT_OPERAND_VALUE) {
        return;
    }
    const grout_value *value = grout_module_get_value(module, index->id);
    const grout_op *op =
        value->kind == GROUT_VALUE_RESULT ? grout_module_get_op(module, value->op) : NULL;
    if (op == NULL || op->block_count > 0 ||
        grout_op_get_info((grout_opcode)op->opcode)->effect_row != GROUT_EFFECT_ROW_PURE) {
        add_leaf(out, index->id);
        return;
    }
    out->has_more |= depth == DEPTH_MAX;
    for (uint32_t i = 0; i < op->operand_count && depth < DEPTH_MAX; i++) {
        find_leaves(module, grout_module_get_operand(module, op, i), depth + 1, out);
    }
}

bool grout_slot__are_apart(const grout_module *module, const grout_operand *a,
                           const grout_operand *b) {
    leaves one = {.count = 0}, two = {.count = 0};
    find_leaves(module, a, 0, &one);
    find_leaves(module, b, 0, &two);
    const uint32_t count = one.count;
    for (uint32_t i = 0; i < two.count; i++) {
        add_leaf(&one, two.items[i]);
    }
    return !one.has_more && !two.has_more && (one.count > count || two.count < count);
}

bool grout_slot__changes_in(const grout_module *module, const grout_operand *slot,
                            grout_op_id loop) {
    leaves all = {.count = 0};
    find_leaves(module, slot, 0, &all);
    bool changes = all.has_more;
    for (uint32_t i = 0; i < all.count && !changes; i++) {
        const grout_value *value = grout_module_get_value(module, all.items[i]);
        grout_op_id op = value->kind == GROUT_VALUE_BLOCK_ARG || value->kind == GROUT_VALUE_RESULT
                             ? value->op
                             : 0;
        while (op != 0 && op != loop) {
            op = grout_op__get_parent(module, op);
        }
        changes = op == loop;
    }
    return changes;
}

bool grout_slot__changes_with(const grout_module *module, const grout_operand *slot,
                              grout_op_id loop) {
    leaves all = {.count = 0};
    bool changes = false;
    find_leaves(module, slot, 0, &all);
    for (uint32_t i = 0; i < all.count && !changes; i++) {
        const grout_value *value = grout_module_get_value(module, all.items[i]);
        changes = value->kind == GROUT_VALUE_BLOCK_ARG && value->op == loop;
    }
    return changes;
}

/* ---- loops ---- */

int64_t grout_loop__count_turns(const grout_module *module, grout_op_id loop) {
    const grout_op *op = grout_module_get_op(module, loop);
    int64_t bounds[2] = {0, 0};
    if (!grout_op__is_counted_loop(op)) {
        return 0;
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (!grout_slot__is_constant(module, grout_module_get_operand(module, op, i), &bounds[i])) {
            return 0;
        }
    }
    const int64_t turns = bounds[1] - bounds[0];
    int64_t step = 1;
    if (op->operand_count > 2 &&
        !grout_slot__is_constant(module, grout_module_get_operand(module, op, 2), &step)) {
        return 0;
    }
    return step > 0 && turns > 0 ? (turns + step - 1) / step : 0;
}

/* ---- all uses ---- */

void grout_rings__deinit(grout_rings *rings) {
    grout__free(rings->by_object.items);
    grout__free(rings->by_loop.items);
}

static grout_ring_role get_role(const grout_op *op, uint32_t operand) {
    const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, operand);
    switch (effect == NULL ? GROUT_ACCESS_ATOMIC : (grout_access_kind)effect->access) {
    case GROUT_ACCESS_ARRIVE:
    case GROUT_ACCESS_BYTES:
        return GROUT_RING_ARRIVES;
    case GROUT_ACCESS_WAIT:
        return GROUT_RING_WAITS;
    case GROUT_ACCESS_WRITE:
        return GROUT_RING_FILLS;
    case GROUT_ACCESS_READ:
        return GROUT_RING_READS;
    case GROUT_ACCESS_ATOMIC:
    case GROUT_ACCESS_SIGNAL:
        break;
    }
    return GROUT_RING_OTHER;
}

static int compare_numbers(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

static int compare_places(const grout_ring_use *a, const grout_ring_use *b) {
    const int order = compare_numbers(a->op, b->op);
    return order != 0 ? order : compare_numbers(a->operand, b->operand);
}

static int compare_by_object(const void *a, const void *b) {
    const grout_ring_use *x = a, *y = b;
    const int order = compare_numbers(x->object, y->object);
    return order != 0 ? order : compare_places(x, y);
}

static int compare_by_loop(const void *a, const void *b) {
    const grout_ring_use *x = a, *y = b;
    const int order = compare_numbers(x->loop, y->loop);
    return order != 0 ? order : compare_places(x, y);
}

static bool add_uses(grout_rings *rings, const grout_checker *checker, grout_op_id id) {
    const grout_module *module = checker->info.module;
    const grout_op *op = grout_module_get_op(module, id);
    if (!GROUT_ARRAY_RESERVE(&rings->by_object, checker->allocator, op->operand_count)) {
        return false;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const grout_object_id object = grout_op__find_object(module, op, i);
        if (object != 0 && grout_object__count_slots(module, object) > 0) {
            rings->by_object.items[rings->by_object.count++] =
                (grout_ring_use){.object = object,
                                 .loop = grout_op__get_loop(module, id),
                                 .op = id,
                                 .operand = i,
                                 .role = (uint8_t)get_role(op, i)};
        }
    }
    return true;
}

static void sort(grout_ring_uses *uses, int (*compare)(const void *, const void *)) {
    if (uses->count > 1) {
        qsort(uses->items, uses->count, sizeof *uses->items, compare);
    }
}

bool grout_rings__make(grout_rings *rings, const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        if (grout_op__is_in_kernel(module, i, checker->info.kernel) &&
            !add_uses(rings, checker, i)) {
            return false;
        }
    }
    if (!GROUT_ARRAY_RESERVE(&rings->by_loop, checker->allocator, rings->by_object.count)) {
        return false;
    }
    if (rings->by_object.count > 0) {
        memcpy(rings->by_loop.items, rings->by_object.items,
               rings->by_object.count * sizeof *rings->by_object.items);
    }
    rings->by_loop.count = rings->by_object.count;
    sort(&rings->by_object, compare_by_object);
    sort(&rings->by_loop, compare_by_loop);
    rings->is_made = true;
    return true;
}

/* ---- runs of them ---- */

/* The first that is not less. */
static size_t find_first(const grout_ring_uses *uses, const grout_ring_use *wanted,
                         int (*compare)(const void *, const void *)) {
    size_t low = 0, high = uses->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&uses->items[middle], wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static grout_ring_span get_span(const grout_ring_uses *uses, const grout_ring_use *first,
                                const grout_ring_use *next,
                                int (*compare)(const void *, const void *)) {
    const size_t from = find_first(uses, first, compare);
    const size_t count = find_first(uses, next, compare) - from;
    return count == 0 || count > GROUT_RING_LOOKED ? (grout_ring_span){NULL, 0}
                                                   : (grout_ring_span){uses->items + from, count};
}

grout_ring_span grout_rings__get_of_object(const grout_rings *rings, grout_object_id object) {
    const grout_ring_use first = {.object = object}, next = {.object = object + 1};
    return get_span(&rings->by_object, &first, &next, compare_by_object);
}

grout_ring_span grout_rings__get_of_loop(const grout_rings *rings, grout_op_id loop) {
    const grout_ring_use first = {.loop = loop}, next = {.loop = loop + 1};
    return get_span(&rings->by_loop, &first, &next, compare_by_loop);
}
