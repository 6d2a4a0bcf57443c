/* matrices.c - ldmatrix, stmatrix and mma.sync: matrices of a warp. PTX ISA 9.1, 9.7.14;
 * ptx/tensor/fragment.h has which lane holds what.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "fragment.h"
#include "machine.h"
#include "observe.h"
#include "product.h"

#include <string.h>

enum { ROWS = 8, ROW_BYTES = 16, HALVES = 2, MMA_M = 16, MMA_N = 8, MMA_K_MAX = 256 };

/* ---- ldmatrix and stmatrix ---- */

/* The 16 bytes of each row of a matrix, by the address of the lane that has it. */
static bool find_rows(const ptx_context *context, uint32_t matrix, ptx_bytes rows[ROWS]) {
    const ptx_step *step = context->step;
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t lane = grout_ptx__matrix_address_lane(matrix, row);
        if ((ptx_defined(context, &step->sources[0]) >> lane & 1) == 0) {
            grout_ptx__fault(context, lane, "the address of a row was never set");
            return false;
        }
        if (!grout_ptx__find_bytes(context, lane, ptx_address(context, &step->sources[0], lane),
                                   ROW_BYTES, &rows[row])) {
            return false;
        }
    }
    return true;
}

/* By the lane that has the address; same: as grout_ptx__observe_lane, of a row that is written. */
static bool observe_row(const ptx_context *context, uint32_t matrix, uint32_t row,
                        const ptx_bytes *bytes, const uint8_t *same) {
    return grout_ptx__observe_lane(context, grout_ptx__matrix_address_lane(matrix, row), bytes,
                                   ROW_BYTES, same != NULL, same);
}

static bool observe_loads(const ptx_context *context, uint32_t matrix, const ptx_bytes rows[ROWS]) {
    bool is_right = true;
    for (uint32_t row = 0; is_right && row < ROWS; row++) {
        is_right = observe_row(context, matrix, row, &rows[row], NULL);
    }
    return is_right;
}

/* One row after the other: two of them may have one address. */
static bool write_rows(const ptx_context *context, uint32_t matrix, const ptx_bytes rows[ROWS],
                       const ptx_bytes written[ROWS]) {
    uint8_t same[ROW_BYTES];
    bool is_right = true;
    for (uint32_t row = 0; is_right && row < ROWS; row++) {
        grout_ptx__compare_bytes(&written[row], &rows[row], ROW_BYTES, same);
        memcpy(rows[row].data, written[row].data, ROW_BYTES);
        memcpy(rows[row].known, written[row].known, ROW_BYTES);
        is_right = observe_row(context, matrix, row, &rows[row], same);
    }
    return is_right;
}

static bool load_matrix(const ptx_context *context, uint32_t matrix) {
    const ptx_step *step = context->step;
    const ptx_plane *item = &context->machine->code->items.items[step->first_item + matrix];
    ptx_bytes rows[ROWS];
    uint32_t defined = 0;
    if (!find_rows(context, matrix, rows) || !observe_loads(context, matrix, rows)) {
        return false;
    }
    PTX_FOR_LANES(lane, UINT32_MAX) {
        uint32_t value = 0;
        bool is_known = true;
        for (uint32_t half = 0; half < HALVES; half++) {
            grout_ptx_place place = grout_ptx__matrix_place(lane, half, step->detail != 0);
            uint32_t at = place.column * 2;
            const ptx_bytes *row = &rows[place.row];
            value |= ((uint32_t)row->data[at] | (uint32_t)row->data[at + 1] << 8) << 16 * half;
            is_known = is_known && row->known[at] != 0 && row->known[at + 1] != 0;
        }
        if (!item->is_sink) {
            ptx_put(context, item, lane, value);
        }
        defined |= (uint32_t)is_known << lane;
    }
    ptx_set_defined(context, item, defined);
    return true;
}

static ptx_outcome run_ldmatrix(ptx_context *context) {
    for (uint32_t i = 0; i < context->step->item_count; i++) {
        if (!load_matrix(context, i)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

static bool store_matrix(const ptx_context *context, uint32_t matrix) {
    const ptx_step *step = context->step;
    const ptx_plane *item = &context->machine->code->items.items[step->first_item + matrix];
    uint8_t data[ROWS][ROW_BYTES], defined[ROWS][ROW_BYTES];
    ptx_bytes rows[ROWS], written[ROWS];
    if (!find_rows(context, matrix, rows)) {
        return false;
    }
    for (uint32_t row = 0; row < ROWS; row++) {
        written[row] = (ptx_bytes){.data = data[row], .known = defined[row]};
    }
    PTX_FOR_LANES(lane, UINT32_MAX) {
        uint32_t value = (uint32_t)ptx_value(context, item, lane);
        uint8_t known = (ptx_defined(context, item) >> lane & 1) != 0 ? 0xff : 0;
        for (uint32_t half = 0; half < HALVES; half++) {
            grout_ptx_place place = grout_ptx__matrix_place(lane, half, step->detail != 0);
            uint32_t at = place.column * 2;
            data[place.row][at] = (uint8_t)(value >> 16 * half);
            data[place.row][at + 1] = (uint8_t)(value >> (16 * half + 8));
            memset(&defined[place.row][at], known, 2);
        }
    }
    return write_rows(context, matrix, rows, written);
}

static ptx_outcome run_stmatrix(ptx_context *context) {
    for (uint32_t i = 0; i < context->step->item_count; i++) {
        if (!store_matrix(context, i)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

static bool decode_matrices(ptx_decoder *decoder, uint32_t address, uint32_t vector) {
    ptx_step *step = decoder->step;
    uint16_t count = grout_ptx__word(decoder, PTX_CLASS_COUNT, 0).id;
    uint32_t wanted = count == PTX_WORD_X4 ? 4 : count == PTX_WORD_X2 ? 2 : 1;
    step->needs_all = true;
    step->detail = grout_ptx__has(decoder, PTX_WORD_TRANS);
    step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    if (!grout_ptx__has(decoder, PTX_WORD_M8N8) || grout_ptx__type(decoder, 0) != PTX_WORD_B16) {
        return grout_ptx__unknown(decoder, "the emulator knows matrices .m8n8 of .b16");
    }
    if (!grout_ptx__decode_address(decoder, address, 0) ||
        !grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, vector), PTX_WORD_B32,
                                 &step->first_item, &step->item_count)) {
        return false;
    }
    return step->item_count == wanted ||
           grout_ptx__unknown(decoder, "%u registers for %u matrices", step->item_count, wanted);
}

bool grout_ptx__decode_ldmatrix(ptx_decoder *decoder) {
    decoder->step->run = run_ldmatrix;
    return decode_matrices(decoder, 1, 0);
}

bool grout_ptx__decode_stmatrix(ptx_decoder *decoder) {
    decoder->step->run = run_stmatrix;
    return decode_matrices(decoder, 0, 1);
}

/* ---- mma.sync ---- */

bool grout_ptx__get_number_format(uint16_t word, grout_ptx_format *format_out) {
    static const struct {
        ptx_word_id word;
        grout_ptx_format format;
    } formats[] = {{PTX_WORD_F16, GROUT_PTX_F16},   {PTX_WORD_BF16, GROUT_PTX_BF16},
                   {PTX_WORD_TF32, GROUT_PTX_TF32}, {PTX_WORD_E4M3, GROUT_PTX_E4M3},
                   {PTX_WORD_E5M2, GROUT_PTX_E5M2}, {PTX_WORD_F32, GROUT_PTX_F32},
                   {PTX_WORD_U8, GROUT_PTX_U8},     {PTX_WORD_S8, GROUT_PTX_S8},
                   {PTX_WORD_B1, GROUT_PTX_B1},     {PTX_WORD_S32, GROUT_PTX_S32}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].word == word) {
            *format_out = formats[i].format;
            return true;
        }
    }
    return false;
}

/* The registers of a fragment, and the matrix that it is of. */
typedef struct ptx_part {
    const ptx_plane *items;
    uint32_t count, bits; /* registers; of an element */
    grout_ptx_place (*find)(uint32_t lane, uint32_t number, uint32_t element, uint32_t bits);
    uint32_t width;     /* columns of the matrix */
    bool is_transposed; /* B, whose columns are rows here */
    uint32_t *matrix;
    bool *unknown; /* of each span of the matrix: an element has no value */
    uint32_t span; /* elements that one of D is made of: a row of A or B, one of C */
} ptx_part;

static void gather_register(const ptx_context *context, const ptx_part *part, uint32_t number,
                            uint32_t lane) {
    uint64_t value = ptx_value(context, &part->items[number], lane);
    uint32_t mask = part->bits == 32 ? UINT32_MAX : (1u << part->bits) - 1;
    bool is_known = (ptx_defined(context, &part->items[number]) >> lane & 1) != 0;
    for (uint32_t j = 0; j < 32 / part->bits; j++) {
        grout_ptx_place at = part->find(lane, number, j, part->bits);
        uint32_t row = part->is_transposed ? at.column : at.row;
        uint32_t column = part->is_transposed ? at.row : at.column;
        uint32_t place = row * part->width + column;
        part->matrix[place] = (uint32_t)(value >> part->bits * j) & mask;
        part->unknown[place / part->span] = part->unknown[place / part->span] || !is_known;
    }
}

static void gather(const ptx_context *context, const ptx_part *part) {
    for (uint32_t i = 0; i < part->count; i++) {
        for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
            gather_register(context, part, i, lane);
        }
    }
}

static bool is_byte(grout_ptx_format format) {
    return format == GROUT_PTX_E4M3 || format == GROUT_PTX_E5M2;
}

static bool is_integer(grout_ptx_format format) {
    return format == GROUT_PTX_U8 || format == GROUT_PTX_S8;
}

/* An element of D has a value if its row of A, its column of B and its element of C have. detail:
 * the formats of d, a and b; more: k, and whether it saturates. Items: d, a, b, c. */
static ptx_outcome run_mma(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *d = context->machine->code->items.items + step->first_item;
    grout_ptx_format d_format = (grout_ptx_format)(step->detail >> 16 & 255);
    grout_ptx_format a_format = (grout_ptx_format)(step->detail >> 8 & 255),
                     b_format = (grout_ptx_format)(step->detail & 255);
    uint32_t k = step->more & 0xffff, bits = grout_ptx__format_bits(a_format),
             d_bits = grout_ptx__format_bits(d_format);
    uint32_t d_count = MMA_M * MMA_N * d_bits / 1024, a_count = MMA_M * k * bits / 1024,
             b_count = MMA_N * k * bits / 1024;
    const ptx_plane *a = d + d_count, *b = a + a_count, *c = b + b_count;
    uint32_t as[MMA_M * MMA_K_MAX], bs[MMA_N * MMA_K_MAX], ds[MMA_M * MMA_N];
    bool rows[MMA_M] = {false}, columns[MMA_N] = {false}, sums[MMA_M * MMA_N] = {false};
    const ptx_part a_part = {a, a_count, bits, grout_ptx__fragment_a, k, false, as, rows, k};
    const ptx_part b_part = {b, b_count, bits, grout_ptx__fragment_b, k, true, bs, columns, k};
    const ptx_part c_part = {c, d_count, d_bits, grout_ptx__fragment_d, MMA_N, false, ds, sums, 1};
    gather(context, &a_part);
    gather(context, &b_part);
    gather(context, &c_part);
    grout_ptx_product it = {.kind = is_integer(a_format) ? GROUT_PTX_PRODUCT_INTEGER
                                    : is_byte(a_format)  ? GROUT_PTX_PRODUCT_MMA_F8
                                                         : GROUT_PTX_PRODUCT_FLOAT,
                            .how = grout_ptx__dot_hopper(a_format, b_format, d_format),
                            .m = MMA_M,
                            .n = MMA_N,
                            .k = k,
                            .is_saturating = (step->more >> 16) != 0,
                            .a = as,
                            .b = bs};
    grout_ptx__multiply(&it, ds);
    for (uint32_t i = 0; i < d_count; i++) {
        uint32_t defined = 0;
        PTX_FOR_LANES(lane, UINT32_MAX) {
            uint32_t value = 0;
            bool is_unknown = false;
            for (uint32_t j = 0; j < 32 / d_bits; j++) {
                grout_ptx_place at = grout_ptx__fragment_d(lane, i, j, d_bits);
                value |= ds[at.row * MMA_N + at.column] << d_bits * j;
                is_unknown = is_unknown || rows[at.row] || columns[at.column] ||
                             sums[at.row * MMA_N + at.column];
            }
            ptx_put(context, &d[i], lane, value);
            defined |= (uint32_t)!is_unknown << lane;
        }
        ptx_set_defined(context, &d[i], defined);
    }
    return PTX_NEXT;
}

/* PTX ISA 9.1, 'mma': the types of d, a and b that go together. */
static bool go_together(grout_ptx_format d, grout_ptx_format a, grout_ptx_format b) {
    return is_integer(a) && is_integer(b) ? d == GROUT_PTX_S32
           : is_byte(a) && is_byte(b)     ? d == GROUT_PTX_F32 || d == GROUT_PTX_F16
           : a == GROUT_PTX_F16 && a == b ? d == GROUT_PTX_F32 || d == GROUT_PTX_F16
           : (a == GROUT_PTX_BF16 && a == b) || (a == GROUT_PTX_TF32 && a == b) ? d == GROUT_PTX_F32
                                                                                : false;
}

static bool add_registers(ptx_decoder *decoder, uint32_t operand, uint32_t wanted) {
    uint32_t first = 0, count = 0;
    return grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, operand), PTX_WORD_B32,
                                   &first, &count) &&
           (count == wanted ||
            grout_ptx__unknown(decoder, "%u registers where the shape has %u", count, wanted));
}

bool grout_ptx__decode_mma(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    grout_ptx_format d = GROUT_PTX_F32, a = GROUT_PTX_F16, b = GROUT_PTX_F16;
    ptx_word shape = grout_ptx__word(decoder, PTX_CLASS_SHAPE, 0);
    uint32_t k = shape.value & 1023, size = 0;
    if (shape.id != PTX_WORD_SHAPE || shape.value >> 20 != MMA_M ||
        (shape.value >> 10 & 1023) != MMA_N || k > MMA_K_MAX || decoder->inst->operand_count != 4 ||
        grout_ptx__word(decoder, PTX_CLASS_SPARSE, 0).id != PTX_WORD_NONE ||
        !grout_ptx__get_number_format(grout_ptx__type(decoder, 0), &d) ||
        !grout_ptx__get_number_format(grout_ptx__type(decoder, 1), &a) ||
        !grout_ptx__get_number_format(grout_ptx__type(decoder, 2), &b) || !go_together(d, a, b) ||
        grout_ptx__type(decoder, 3) != grout_ptx__type(decoder, 0) || k == 0 ||
        k * grout_ptx__format_bits(a) % 128 != 0) {
        return grout_ptx__unknown(decoder, "the emulator does not know this form of 'mma'");
    }
    size = grout_ptx__format_bits(a);
    step->run = run_mma;
    step->needs_all = true;
    step->detail = (uint32_t)d << 16 | (uint32_t)a << 8 | (uint32_t)b;
    step->more = k | (grout_ptx__has(decoder, PTX_WORD_SATFINITE) ? 1u << 16 : 0u);
    step->first_item = (uint32_t)decoder->code->items.count;
    uint32_t d_count = MMA_M * MMA_N * grout_ptx__format_bits(d) / 1024;
    return add_registers(decoder, 0, d_count) &&
           add_registers(decoder, 1, MMA_M * k * size / 1024) &&
           add_registers(decoder, 2, MMA_N * k * size / 1024) && add_registers(decoder, 3, d_count);
}
