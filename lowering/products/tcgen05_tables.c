/*
 * tcgen05_tables.c - what a tcgen05_mma_scaled, a tcgen05_mma_sp and a tcgen05_mma_sp_scaled take
 * beside their operands: scales of blocks along K, and which elements a keeps.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An instruction takes 1, 2 or 4 scales of a row, which lie in one column of 32 bits (PTX ISA 9.1,
 * 'tcgen05.mma', scale factors). Four of them are always there, since one copy brings four.
 */
#include "tcgen05.h"
#include "tmem.h"
#include "type.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS = 128, BLOCK = 32, BLOCK_OF_F4 = 16 };

typedef grout_tcgen05_planning planning;

void grout_tcgen05__find_tables(planning *p) {
    const char *letters = grout_op_get_info((grout_opcode)p->wgmma.op->opcode)->operands;
    uint32_t found = 0;
    for (const char *letter = letters + GROUT_TCGEN05_TABLE; *letter == 'T'; letter++) {
        found++;
    }
    p->is_sparse = found % 2 != 0;
    p->is_scaled = found > 1;
    p->a_scale = GROUT_TCGEN05_TABLE + found % 2;
}

static const grout_operand *get_operand(const planning *p, uint32_t index) {
    return grout_module_get_operand(p->wgmma.module, p->wgmma.op, index);
}

static grout_type get_type(const planning *p, uint32_t index) {
    return grout_module_get_operand_type(p->wgmma.module, get_operand(p, index));
}

static const char *get_text(uint8_t dtype) {
    return grout_dtype_get_info((grout_dtype)dtype)->text;
}

/* The object of an operand that is a matrix in tensor memory, declared by a word; NULL after a
 * report. */
static const grout_object *find_table(planning *p, uint32_t index, const char *what,
                                      const char *word) {
    const grout_operand *operand = get_operand(p, index);
    const grout_type type = get_type(p, index);
    grout_view view;
    if (!grout_module_get_view(p->wgmma.module, operand, &view)) {
        return NULL;
    }
    const grout_object *object = grout_module_get_object(p->wgmma.module, view.object);
    const bool has_word = strcmp(word, "scales") == 0 ? object->is_scales : object->is_metadata;
    if (!has_word) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_OPERAND, operand,
                          "%s of '%s' is an array in tmem declared '%s', and %s is %s", what,
                          grout_op_get_info((grout_opcode)p->wgmma.op->opcode)->text, word,
                          grout_wgmma__get_name(&p->wgmma, operand, "this").chars,
                          grout_type__get_text(&type).chars);
        grout_wgmma__help(&p->wgmma, "write '%s' after its type", word);
        return NULL;
    }
    if (type.rank != 2) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, operand,
                          "%s is %s: which slot is meant?",
                          grout_wgmma__get_name(&p->wgmma, operand, "this").chars,
                          grout_type__get_text(&type).chars);
        grout_wgmma__help(&p->wgmma, "index the dimensions in front");
        return NULL;
    }
    return grout_tmem__check_slice(p->wgmma.module, operand, p->wgmma.diags) ? object : NULL;
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* Neighbours along K that have one scale: as many scales as a row of a has say so. It is twice as
 * many if a is sparse, and keeps half of them. */
static bool find_block(planning *p) {
    const grout_type type = get_type(p, p->a_scale);
    const bool is_f4 = grout_wgmma_has_pairs(&p->out->product);
    const bool is_power = type.dtype == GROUT_DTYPE_F8E8M0;
    const uint32_t kept = p->is_sparse ? 2 : 1;
    const int64_t k = (int64_t)kept * p->out->product.k, scales = type.dims[1];
    p->out->scale_dtype = type.dtype;
    p->out->scale_block = (uint32_t)(k % scales == 0 ? k / scales : 0);
    const bool has_block = (p->out->scale_block == kept * BLOCK && is_power) ||
                           (p->out->scale_block == kept * BLOCK_OF_F4 && is_f4);
    if (has_block) {
        return true;
    }
    const uint32_t block = is_f4 && !is_power ? BLOCK_OF_F4 : BLOCK;
    const int64_t wanted = (int64_t)kept * block;
    const char *a = get_text(p->types[GROUT_TCGEN05_A].dtype);
    if (!is_f4 && !is_power) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_TYPES, get_operand(p, p->a_scale),
                          "%s has scales of f8e8m0, and these are %s", a, get_text(type.dtype));
        grout_wgmma__help(&p->wgmma, "f8e4m3 scales blocks of f4e2m1 alone");
        return false;
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, p->a_scale),
                      "%" PRId64 " scales of %s in a row for a K of %" PRId64
                      ": a block of %s%s has %s%" PRId64 " elements",
                      scales, get_text(type.dtype), k, a,
                      p->is_sparse ? ", of which half is kept," : "",
                      !is_f4 || !is_power ? ""
                      : p->is_sparse      ? "32 or "
                                          : "16 or ",
                      wanted);
    if (k % (4 * wanted) == 0) {
        grout_wgmma__help(&p->wgmma, "declare them [%d, %" PRId64 "]", ROWS, k / wanted);
    } else {
        grout_wgmma__help(&p->wgmma,
                          "take a K that is a multiple of %" PRId64 ": scales come four at a time",
                          4 * wanted);
    }
    return false;
}

/* Those of b: of the same type, and as many in a row; rows from N on do not count. */
static bool check_b_columns(planning *p) {
    const grout_type a = get_type(p, p->a_scale);
    const grout_type b = get_type(p, p->a_scale + 1);
    const grout_operand *operand = get_operand(p, p->a_scale + 1);
    if (a.dtype != b.dtype || a.dims[1] != b.dims[1]) {
        grout_wgmma__fail(&p->wgmma,
                          a.dtype != b.dtype ? GROUT_DIAG_TCGEN05_TYPES : GROUT_DIAG_TCGEN05_SHAPE,
                          operand, "the scales of a are %s, and those of b %s",
                          grout_type__get_text(&a).chars, grout_type__get_text(&b).chars);
        grout_wgmma__help(&p->wgmma,
                          "both have one element type, and one number of scales in a row");
        return false;
    }
    return true;
}

/* Whether there is one for each column: with 64 rows in each CTA of a pair the two halves of the
 * columns lie in different lanes, and so do their scales (PTX ISA 9.1, 'Data path layout
 * organization', layout B). */
static bool check_b_rows(planning *p) {
    const grout_type b = get_type(p, p->a_scale + 1);
    const grout_operand *operand = get_operand(p, p->a_scale + 1);
    const uint32_t n = p->out->product.n * p->out->ctas; /* each CTA multiplies by all columns */
    const bool is_half = p->out->product.m < ROWS;
    grout_view view;
    const bool is_split = grout_module_get_view(p->wgmma.module, operand, &view) &&
                          grout_module_get_object(p->wgmma.module, view.object)->is_split;
    if (is_split != is_half) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_OPERAND, operand,
                          is_half
                              ? "with 64 rows in each CTA of a pair the scales of b lie in two "
                                "halves of the lanes, and %s is declared 'scales'"
                              : "with 128 rows%s the scales of b are the same in all lanes, and %s "
                                "is declared 'split_scales'",
                          is_half ? grout_wgmma__get_name(&p->wgmma, operand, "this").chars
                          : p->out->ctas > 1 ? " in each CTA"
                                             : "",
                          grout_wgmma__get_name(&p->wgmma, operand, "this").chars);
        grout_wgmma__help(&p->wgmma, "declare them [%d, %" PRId64 "] %s", 2 * ROWS, b.dims[1],
                          is_half ? "split_scales collective" : "scales");
        return false;
    }
    if (b.dims[0] < n) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, operand,
                          "N is %" PRIu32 "%s, and the scales of b have %" PRId64 " rows", n,
                          p->out->ctas > 1 ? " for both CTAs" : "", b.dims[0]);
        grout_wgmma__help(&p->wgmma, "declare them [%d, %" PRId64 "]", 2 * ROWS, b.dims[1]);
        return false;
    }
    return true;
}

static bool plan_scales(planning *p) {
    const grout_object *a = find_table(p, p->a_scale, "a_scale", "scales");
    const grout_object *b = find_table(p, p->a_scale + 1, "b_scale", "scales");
    if (a == NULL || b == NULL) {
        return false;
    }
    const grout_type type = get_type(p, p->a_scale);
    grout_view view;
    if (grout_module_get_view(p->wgmma.module, get_operand(p, p->a_scale), &view) &&
        grout_module_get_object(p->wgmma.module, view.object)->is_split) {
        grout_wgmma__fail(
            &p->wgmma, GROUT_DIAG_TCGEN05_OPERAND, get_operand(p, p->a_scale),
            "the scales of a are the same in all lanes, and %s is declared "
            "'split_scales'",
            grout_wgmma__get_name(&p->wgmma, get_operand(p, p->a_scale), "this").chars);
        grout_wgmma__help(&p->wgmma, "declare them [%d, %" PRId64 "] scales", ROWS, type.dims[1]);
        return false;
    }
    if (type.dims[0] != ROWS) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, p->a_scale),
                          "the scales of a have %" PRId64 " rows, and a has %d", type.dims[0],
                          ROWS);
        grout_wgmma__help(&p->wgmma, "declare them [%d, %" PRId64 "]", ROWS, type.dims[1]);
        return false;
    }
    return find_block(p) && check_b_columns(p) && check_b_rows(p);
}

/* ---- metadata -------------------------------------------------------------------------------- */

bool grout_tcgen05__check_sparse_types(planning *p) {
    for (uint32_t k = GROUT_TCGEN05_A; k <= GROUT_TCGEN05_B; k++) {
        const uint8_t bits = grout_dtype_get_info((grout_dtype)p->types[k].dtype)->bits;
        if (bits < 8) {
            grout_wgmma__fail(
                &p->wgmma, GROUT_DIAG_TCGEN05_TYPES, get_operand(p, k),
                "'tcgen05_mma_sp' multiplies elements of 32, 16 and 8 bits, and %s is "
                "%s",
                grout_wgmma__get_name(&p->wgmma, get_operand(p, k), "this").chars,
                grout_type__get_text(&p->types[k]).chars);
            grout_wgmma__help(&p->wgmma, "write the zeros out, and multiply with tcgen05_mma");
            return false;
        }
    }
    return true;
}

static bool plan_metadata(planning *p) {
    const grout_type type = get_type(p, GROUT_TCGEN05_TABLE);
    const int64_t k = 2 * (int64_t)p->out->product.k;
    const int64_t word = (int64_t)GROUT_SPARSE_CODES * grout_wgmma_get_group(&p->out->product);
    if (find_table(p, GROUT_TCGEN05_TABLE, "the metadata", "metadata") == NULL) {
        return false;
    }
    if (type.dims[1] * word == k) {
        return true;
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, GROUT_TCGEN05_TABLE),
                      "%" PRId64 " words of metadata in a row are of a K of %" PRId64
                      ", and K is %" PRId64,
                      type.dims[1], type.dims[1] * word, k);
    const int64_t step = word * GROUT_TMEM_METADATA_STEP;
    if (k % step == 0) {
        grout_wgmma__help(&p->wgmma, "declare it u16[%d, %" PRId64 "]", ROWS, k / word);
    } else {
        grout_wgmma__help(&p->wgmma,
                          "take a K that is a multiple of %" PRId64 ": one copy brings the codes "
                          "of that many neighbours",
                          step);
    }
    return false;
}

void grout_sparse_get_metadata_place(grout_dtype a, uint32_t m, uint32_t w, uint32_t place_out[2]) {
    const bool is_byte = grout_dtype_get_info(a)->bits <= 8;
    const uint32_t half = m / 8 % 2;
    place_out[0] = is_byte ? m : m - 8 * half + 8 * (w % 2);
    place_out[1] = is_byte ? w : w - w % 2 + half;
}

bool grout_tcgen05__plan_tables(planning *p) {
    return (!p->is_sparse || plan_metadata(p)) && (!p->is_scaled || plan_scales(p));
}
