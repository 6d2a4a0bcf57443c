/*
 * spelling.c - operations and names as the author of a module writes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sentences.h"

#include "invariant.h"

static const char *const SPELLINGS[][2] = {
#define GROUT_SPELLING(ID, TEXT, PALLAS) \
    [GROUT_SPELLING_##ID] = {[GROUT_SURFACE_TEXT] = TEXT, [GROUT_SURFACE_PALLAS] = PALLAS},
#include "spellings.def"
};

static const uint16_t OPS[] = {
#define GROUT_SPELLING(ID, TEXT, PALLAS)        [GROUT_SPELLING_##ID] = GROUT_OP_NONE,
#define GROUT_SPELLING_OP(ID, OP, TEXT, PALLAS) [GROUT_SPELLING_##ID] = GROUT_OP_##OP,
#include "spellings.def"
};

const char *grout_spelling__get(grout_surface surface, grout_spelling_id spelling) {
    GROUT_ASSERT(spelling < GROUT_SPELLING_COUNT && surface <= GROUT_SURFACE_PALLAS);
    return SPELLINGS[spelling][surface];
}

grout_opcode grout_spelling__get_op(grout_spelling_id spelling) {
    GROUT_ASSERT(spelling < GROUT_SPELLING_COUNT);
    return (grout_opcode)OPS[spelling];
}

void grout_spelling__add(grout_text *out, grout_surface surface, grout_spelling_id spelling,
                         const grout_words *words) {
    const grout_opcode opcode = grout_spelling__get_op(spelling);
    if (surface == GROUT_SURFACE_TEXT && opcode != GROUT_OP_NONE) {
        grout_text_add(out, "%s", grout_op_get_info(opcode)->text);
    }
    grout_sentence__fill(out, grout_spelling__get(surface, spelling), words);
}

/* Whether an index is omitted: a barrier of Pallas may be no array. */
static bool is_single(const grout_module *module, const grout_type *type) {
    for (uint32_t i = 0; i < type->rank; i++) {
        if (type->dims[i] != 1) {
            return false;
        }
    }
    return grout_module_get_surface(module) == GROUT_SURFACE_PALLAS;
}

void grout_element__print(const grout_module *module, grout_object_id object, int64_t index,
                          grout_text *out) {
    const grout_type *type = grout_object_get_type(module, object);
    const grout_value_id value = grout_module_get_object(module, object)->value;
    grout_name_print(module, grout_module_get_value(module, value)->name, out);
    if (!is_single(module, type)) {
        grout_type_print_element(type, index, out);
    }
}
