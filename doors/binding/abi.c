/* abi.c - what the library was built with: versions, sizes of structs, the order of the tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/tables.h"
#include "grout/grout.h"

#include "hash.h"

#include <string.h>

typedef struct known_struct {
    const char *name;
    size_t size;
} known_struct;

static const known_struct known_structs[] = {
#define GROUT_STRUCT(name) {#name, sizeof(name)},
#include "structs.def"
};

uint32_t grout_abi_get_version(void) {
    return GROUT_ABI_VERSION;
}

const char *grout_get_version(void) {
    return GROUT_VERSION;
}

const char *grout_abi_get_struct(uint32_t index, size_t *size_out) {
    if (index >= sizeof known_structs / sizeof known_structs[0]) {
        return NULL;
    }
    *size_out = known_structs[index].size;
    return known_structs[index].name;
}

static uint64_t add_word(uint64_t hash, const char *text) {
    return text == NULL ? grout_hash__word(hash, 0) : grout_hash__bytes(hash, text, strlen(text));
}

uint64_t grout_abi_get_tables(void) {
    uint64_t hash = GROUT_ABI_VERSION;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        hash = add_word(hash, grout_op_get_info((grout_opcode)i)->text);
    }
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        hash = add_word(hash, grout_attr_get_info((grout_attr)i)->text);
    }
    for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
        hash = add_word(hash, grout_choice_get_info((grout_choice)i)->text);
    }
    for (int i = 1; i < GROUT_DTYPE_COUNT; i++) {
        hash = add_word(hash, grout_dtype_get_info((grout_dtype)i)->text);
    }
    for (int i = 1; i < GROUT_SPACE_COUNT; i++) {
        hash = add_word(hash, grout_space_get_info((grout_space)i)->text);
    }
    for (int i = 0; i < GROUT_GENERATOR_VALUE; i++) {
        hash = add_word(hash, grout_generator_get_info((grout_generator_kind)i)->text);
    }
    for (int i = 1; i < GROUT_DIAG_COUNT; i++) {
        hash = add_word(hash, grout_diag_get((grout_diag_code)i)->text);
    }
    return hash;
}
