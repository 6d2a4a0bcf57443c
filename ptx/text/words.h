/* words.h - the tables ptx_ops.def and ptx_words.def, and finding in them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_TEXT_WORDS_H
#define GROUT_PTX_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes of words; a set of them is a bit for each. */
typedef enum ptx_class {
    PTX_CLASS_TYPE,
    PTX_CLASS_ROUND,
    PTX_CLASS_FLUSH,
    PTX_CLASS_SATURATE,
    PTX_CLASS_NANS,
    PTX_CLASS_APPROXIMATE,
    PTX_CLASS_PART,
    PTX_CLASS_CARRY,
    PTX_CLASS_DETAIL,
    PTX_CLASS_COMPARE,
    PTX_CLASS_OPERATION,
    PTX_CLASS_SPACE,
    PTX_CLASS_DIRECTION,
    PTX_CLASS_ORDER,
    PTX_CLASS_SCOPE,
    PTX_CLASS_CACHE,
    PTX_CLASS_HINT,
    PTX_CLASS_VECTOR,
    PTX_CLASS_SYNC,
    PTX_CLASS_ALIGNED,
    PTX_CLASS_UNIFORM,
    PTX_CLASS_SHUFFLE,
    PTX_CLASS_VOTE,
    PTX_CLASS_BARRIER,
    PTX_CLASS_PARITY,
    PTX_CLASS_NOCOMPLETE,
    PTX_CLASS_EXPECT,
    PTX_CLASS_COMPLETION,
    PTX_CLASS_MULTICAST,
    PTX_CLASS_READ,
    PTX_CLASS_RANK,
    PTX_CLASS_MODE,
    PTX_CLASS_PROXY,
    PTX_CLASS_FIELD,
    PTX_CLASS_COUNT,
    PTX_CLASS_TRANSPOSE,
    PTX_CLASS_LAYOUT,
    PTX_CLASS_SPARSE,
    PTX_CLASS_SHAPE,
    PTX_CLASS_GROUP,
    PTX_CLASS_KIND,
    PTX_CLASS_COLLECTOR
} ptx_class;

typedef enum ptx_word_id {
    PTX_WORD_NONE,
#define PTX_WORD(NAME, TEXT, CLASS) PTX_WORD_##NAME,
#include "ptx_words.def"
    PTX_WORD_ID_COUNT
} ptx_word_id;

/* What the bits of a type mean. */
typedef enum ptx_kind {
    PTX_KIND_NONE,
    PTX_KIND_BITS,
    PTX_KIND_UNSIGNED,
    PTX_KIND_SIGNED,
    PTX_KIND_FLOAT,
    PTX_KIND_PACKED
} ptx_kind;

typedef struct ptx_word_info {
    const char *text;
    size_t text_size;
    ptx_class class;
    uint16_t bits; /* of a type, else 0 */
    ptx_kind kind;
} ptx_word_info;

typedef enum ptx_op {
    PTX_OP_NONE,
#define PTX_OP(NAME, TEXT, LEAST, MOST, CLASSES, SECTION, ROUTINE) PTX_OP_##NAME,
#include "ptx_ops.def"
    PTX_OP_COUNT
} ptx_op;

typedef struct ptx_op_info {
    const char *text;
    size_t text_size;
    uint8_t least, most; /* operands */
    uint64_t classes;    /* of the words that may follow */
    const char *section; /* of PTX ISA 9.1 */
} ptx_op_info;

/* A word of an instruction: of a shape, its numbers too, m << 20 | n << 10 | k. */
typedef struct ptx_word {
    uint16_t id;
    uint32_t value;
} ptx_word;

const ptx_word_info *grout_ptx__get_word(ptx_word_id id);
const ptx_op_info *grout_ptx__get_op(ptx_op op);

/* The word of a text without its dot; PTX_WORD_NONE if there is none. */
ptx_word grout_ptx__find_word(const char *text, size_t size);
/* The family whose text a mnemonic begins with, up to a dot or its end, the longest one; size_out:
 * of that text. PTX_OP_NONE if there is none. */
ptx_op grout_ptx__find_op(const char *mnemonic, size_t size, size_t *size_out);

/* The word nearest to a text that is none, of these classes; NULL if none is near. */
const char *grout_ptx__suggest_word(const char *text, size_t size, uint64_t classes);
const char *grout_ptx__suggest_op(const char *text, size_t size);

#endif
