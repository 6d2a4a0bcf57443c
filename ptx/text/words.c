/* words.c - finding opcodes and words. The tables are small and sorted by topic; a text is compared
 * with those of its first letter only.
 * SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include "suggest.h"

#include <string.h>

static const ptx_word_info word_infos[PTX_WORD_ID_COUNT] = {
    [PTX_WORD_NONE] = {"", 0, PTX_CLASS_DETAIL, 0, PTX_KIND_NONE},
#define PTX_TYPE(NAME, TEXT, BITS, KIND) \
    [PTX_WORD_##NAME] = {TEXT, sizeof TEXT - 1, PTX_CLASS_TYPE, BITS, PTX_KIND_##KIND},
#define PTX_WORD(NAME, TEXT, CLASS) \
    [PTX_WORD_##NAME] = {TEXT, sizeof TEXT - 1, PTX_CLASS_##CLASS, 0, PTX_KIND_NONE},
#include "ptx_words.def"
};

#define C(CLASS) (UINT64_C(1) << PTX_CLASS_##CLASS)
static const ptx_op_info op_infos[PTX_OP_COUNT] = {
    [PTX_OP_NONE] = {"", 0, 0, 0, 0, ""},
#define PTX_OP(NAME, TEXT, LEAST, MOST, CLASSES, SECTION, ROUTINE) \
    [PTX_OP_##NAME] = {TEXT, sizeof TEXT - 1, LEAST, MOST, CLASSES, SECTION},
#include "ptx_ops.def"
};
#undef C

const ptx_word_info *grout_ptx__get_word(ptx_word_id id) {
    return &word_infos[id];
}

const ptx_op_info *grout_ptx__get_op(ptx_op op) {
    return &op_infos[op];
}

/* Reads a letter and a number of up to three digits; the bytes that it took, or 0. */
static size_t read_dimension(const char *text, size_t size, char letter, uint32_t *number_out) {
    size_t at = 1;
    if (size < 2 || text[0] != letter) {
        return 0;
    }
    *number_out = 0;
    for (; at < size && at < 5 && text[at] >= '0' && text[at] <= '9'; at++) {
        *number_out = *number_out * 10 + (uint32_t)(text[at] - '0');
    }
    return at > 1 && *number_out < 1024 ? at : 0;
}

/* m64n256k16, and nothing after it. */
static bool read_shape(const char *text, size_t size, uint32_t *value_out) {
    uint32_t m = 0, n = 0, k = 0;
    size_t at = read_dimension(text, size, 'm', &m);
    size_t next = at == 0 ? 0 : read_dimension(text + at, size - at, 'n', &n);
    at += next;
    size_t last = next == 0 ? 0 : read_dimension(text + at, size - at, 'k', &k);
    *value_out = m << 20 | n << 10 | k;
    return last > 0 && at + last == size;
}

ptx_word grout_ptx__find_word(const char *text, size_t size) {
    ptx_word word = {PTX_WORD_NONE, 0};
    for (uint32_t i = 1; i < PTX_WORD_ID_COUNT; i++) {
        if (word_infos[i].text_size == size && memcmp(word_infos[i].text, text, size) == 0) {
            word.id = (uint16_t)i;
            return word;
        }
    }
    if (size > 0 && read_shape(text, size, &word.value)) {
        word.id = PTX_WORD_SHAPE;
    }
    return word;
}

ptx_op grout_ptx__find_op(const char *mnemonic, size_t size, size_t *size_out) {
    ptx_op best = PTX_OP_NONE;
    *size_out = 0;
    for (uint32_t i = 1; i < PTX_OP_COUNT; i++) {
        const char *known = op_infos[i].text;
        const size_t known_size = op_infos[i].text_size;
        if (known[0] == mnemonic[0] && known_size > *size_out && known_size <= size &&
            memcmp(known, mnemonic, known_size) == 0 &&
            (known_size == size || mnemonic[known_size] == '.')) {
            best = (ptx_op)i;
            *size_out = known_size;
        }
    }
    return best;
}

const char *grout_ptx__suggest_word(const char *text, size_t size, uint64_t classes) {
    grout_suggestion suggestion = grout_suggest__begin(text, size);
    for (uint32_t i = 1; i < PTX_WORD_ID_COUNT; i++) {
        if ((classes >> word_infos[i].class & 1) != 0) {
            grout_suggest__offer(&suggestion, word_infos[i].text);
        }
    }
    return suggestion.best;
}

const char *grout_ptx__suggest_op(const char *text, size_t size) {
    grout_suggestion suggestion = grout_suggest__begin(text, size);
    for (uint32_t i = 1; i < PTX_OP_COUNT; i++) {
        grout_suggest__offer(&suggestion, op_infos[i].text);
    }
    return suggestion.best;
}
