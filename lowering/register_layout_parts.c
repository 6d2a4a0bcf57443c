/* register_layout_parts.c - whether a lane has what a slice, reshape or concatenate gives it, and
 * in which of its registers. SPDX-License-Identifier: Apache-2.0 */
#include "register_layouts.h"

#include "alloc.h"
#include "invariant.h"

/* Where an element of the result comes from. */
typedef struct origin {
    uint32_t operand;
    int32_t element; /* of it; -1: nobody looks at it */
} origin;

/* The layouts that an op's values have, and what is known of their elements. */
typedef struct search {
    const grout_module *module;
    const grout_op *op;
    grout_register_layout *from; /* by operand; a scalar's is that of a splat */
    const grout_register_layout *to;
    origin *origins;        /* by element of the result */
    uint32_t *places;       /* by element of the operands in turn: lane and register, plus 1 */
    uint32_t *first_places; /* by operand */
    bool is_out_of_memory;
} search;

static const grout_register_layout splat = {.kind = GROUT_LAYOUT_SPLAT,
                                            .vec = 1,
                                            .warps = GROUT_WARPS,
                                            .registers = 1,
                                            .count = 1,
                                            .rows = 1,
                                            .cols = 1};

static const grout_register_layout *get_layout(const grout_register_layout *layout) {
    return layout->kind == GROUT_LAYOUT_NONE ? &splat : layout;
}

static const grout_type *get_operand_type(const search *s, uint32_t k) {
    return grout_module_get_type(s->module, grout_module_get_operand(s->module, s->op, k)->id);
}

/* Operands that are arrays or scalars: of a layout_cast the first. */
static uint32_t count_operands(const grout_op *op) {
    return grout_layout__takes_parts(op) ? op->operand_count : 1;
}

static void find_origins(const search *s) {
    for (uint32_t i = 0; !grout_layout__takes_parts(s->op) && i < s->to->count; i++) {
        s->origins[i] = (origin){0, (int32_t)i}; /* a cast: each element is its own */
    }
    for (uint32_t k = 0; grout_layout__takes_parts(s->op) && k < s->op->operand_count; k++) {
        const grout_type *type = get_operand_type(s, k);
        const grout_part part = grout_op_get_part(s->module, s->op, k);
        const int64_t count = grout_type_get_count(type);
        for (int64_t element = 0; element < count; element++) {
            const int64_t place = grout_part_get_place(&part, type, element);
            if (place >= 0) {
                GROUT_ASSERT(place < s->to->count);
                s->origins[place] = (origin){k, (int32_t)element};
            }
        }
    }
}

static uint32_t mark(uint32_t lane, uint32_t register_index) {
    return (lane << 16 | register_index) + 1;
}

/* Notes which register of a lane holds which element. */
static void place_elements(const search *s, uint32_t lane) {
    for (uint32_t k = 0; k < count_operands(s->op); k++) {
        for (uint32_t r = 0; r < s->from[k].registers; r++) {
            const int64_t element = grout_register_layout_get_element(&s->from[k], lane, r);
            if (element >= 0) {
                s->places[s->first_places[k] + element] = mark(lane, r);
            }
        }
    }
}

/* Whether the lane has the element for a register of the result, and where the lanes before it have
 * theirs: a pick is operand UINT32_MAX until a lane has made it. */
static bool match_register(const search *s, uint32_t lane, uint32_t r, grout_register_pick *pick) {
    const int64_t element = grout_register_layout_get_element(s->to, lane, r);
    if (element < 0 || s->origins[element].element < 0) {
        return true;
    }
    const origin *from = &s->origins[element];
    uint32_t register_index = 0;
    if (s->from[from->operand].kind != GROUT_LAYOUT_SPLAT) {
        const uint32_t place = s->places[s->first_places[from->operand] + (uint32_t)from->element];
        if (place == 0 || (place - 1) >> 16 != lane) {
            return false;
        }
        register_index = (place - 1) & 0xffff;
    }
    if (pick->operand == UINT32_MAX) {
        *pick = (grout_register_pick){from->operand, register_index};
    }
    return pick->operand == from->operand && pick->register_index == register_index;
}

static bool match_lanes(const search *s, grout_register_pick *picks) {
    for (uint32_t r = 0; r < s->to->registers; r++) {
        picks[r].operand = UINT32_MAX;
    }
    for (uint32_t lane = 0; lane < grout_register_layout_get_lanes(s->to); lane++) {
        place_elements(s, lane);
        for (uint32_t r = 0; r < s->to->registers; r++) {
            if (!match_register(s, lane, r, &picks[r])) {
                return false;
            }
        }
    }
    for (uint32_t r = 0; r < s->to->registers; r++) {
        if (picks[r].operand == UINT32_MAX) {
            picks[r] = (grout_register_pick){0, 0};
        }
    }
    return true;
}

/* only: the operand that counts, or UINT32_MAX: all of them. Without memory is_out_of_memory is
 * set, since the answer could be another one with it. */
static bool find_picks(search *s, uint32_t only, grout_register_pick *picks_out) {
    const grout_allocator *allocator = grout_module_get_allocator(s->module);
    size_t places = 0;
    s->first_places = grout__new(allocator, s->op->operand_count, sizeof *s->first_places);
    for (uint32_t k = 0; s->first_places != NULL && k < count_operands(s->op); k++) {
        s->first_places[k] = (uint32_t)places;
        places += (size_t)grout_type_get_count(get_operand_type(s, k));
    }
    s->places = grout__new(allocator, places, sizeof *s->places);
    s->origins = grout__new(allocator, (size_t)s->to->count, sizeof *s->origins);
    grout_register_pick *picks = grout__new(allocator, s->to->registers, sizeof *picks);
    s->is_out_of_memory =
        s->first_places == NULL || s->places == NULL || s->origins == NULL || picks == NULL;
    bool is_found = !s->is_out_of_memory && s->to->registers <= UINT16_MAX;
    if (is_found) {
        find_origins(s);
        for (int64_t i = 0; only != UINT32_MAX && i < s->to->count; i++) {
            s->origins[i].element = s->origins[i].operand == only ? s->origins[i].element : -1;
        }
        is_found = match_lanes(s, picks);
    }
    for (uint32_t r = 0; is_found && picks_out != NULL && r < s->to->registers; r++) {
        picks_out[r] = picks[r];
    }
    grout__free(s->first_places);
    grout__free(s->places);
    grout__free(s->origins);
    grout__free(picks);
    return is_found;
}

bool grout_register_layouts_find_picks(const grout_register_layouts *layouts,
                                       const grout_module *bound, const grout_op *op,
                                       grout_register_pick *picks_out, grout_diags *diags) {
    search s = {.module = bound,
                .op = op,
                .to = get_layout(grout_register_layouts_get(layouts, op->first_result))};
    s.from = grout__new(grout_module_get_allocator(bound), op->operand_count, sizeof *s.from);
    s.is_out_of_memory = s.from == NULL;
    for (uint32_t k = 0; s.from != NULL && k < count_operands(op); k++) {
        const grout_operand *operand = grout_module_get_operand(bound, op, k);
        s.from[k] = *get_layout(grout_register_layouts_get(layouts, operand->id));
    }
    const bool is_found = s.from != NULL && find_picks(&s, UINT32_MAX, picks_out);
    grout__free(s.from);
    return is_found || (s.is_out_of_memory && grout_diags_add_oom(diags));
}

bool grout_layout__keeps_lanes(grout_layout_inference *inf, const grout_op *op, uint32_t k,
                               uint8_t kind) {
    const grout_register_layout to = grout_layout__make_kind(inf, kind, op->first_result);
    search s = {.module = inf->module, .op = op, .to = &to};
    const grout_register_layout from =
        grout_layout__make_kind(inf, kind, grout_module_get_operand(inf->module, op, k)->id);
    if (from.kind == GROUT_LAYOUT_NONE || to.kind == GROUT_LAYOUT_NONE) {
        return false;
    }
    s.from = grout__new(grout_module_get_allocator(inf->module), op->operand_count, sizeof *s.from);
    for (uint32_t i = 0; s.from != NULL && i < op->operand_count; i++) {
        s.from[i] = i == k ? from : splat;
    }
    s.is_out_of_memory = s.from == NULL;
    const bool keeps = s.from != NULL && find_picks(&s, k, NULL);
    grout__free(s.from);
    if (s.is_out_of_memory) {
        inf->ok = grout_diags_add_oom(inf->diags);
    }
    return keeps;
}
