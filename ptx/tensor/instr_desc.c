/* instr_desc.c - fields of an instruction descriptor, and which are legal together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "instr_desc.h"

enum { N_MAX = 256, NO_FORMAT = GROUT_PTX_FORMAT_COUNT };

/* K of a dense product, and the least of the scale vectors. */
typedef struct kind_info {
    const char *name;
    uint32_t k;
    bool is_scaled;
    uint32_t own_vec; /* without .scale_vec; 0: must be named */
} kind_info;

static const kind_info KINDS[GROUT_PTX_KIND_COUNT] = {
    [GROUT_PTX_KIND_F16] = {"kind::f16", 16, false, 0},
    [GROUT_PTX_KIND_TF32] = {"kind::tf32", 8, false, 0},
    [GROUT_PTX_KIND_F8F6F4] = {"kind::f8f6f4", 32, false, 0},
    [GROUT_PTX_KIND_I8] = {"kind::i8", 32, false, 0},
    [GROUT_PTX_KIND_MXF8F6F4] = {"kind::mxf8f6f4", 32, true, 1},
    [GROUT_PTX_KIND_MXF4] = {"kind::mxf4", 64, true, 2},
    [GROUT_PTX_KIND_MXF4NVF4] = {"kind::mxf4nvf4", 64, true, 0},
};

static uint32_t get_field(uint32_t bits, uint32_t at, uint32_t size) {
    return bits >> at & ((1u << size) - 1);
}

/* The format that a code of A or B means; NO_FORMAT if it means none. */
static uint32_t get_format(grout_ptx_mma_kind kind, uint32_t code) {
    static const uint32_t NARROW[8] = {GROUT_PTX_E4M3, GROUT_PTX_E5M2, NO_FORMAT, GROUT_PTX_E2M3,
                                       GROUT_PTX_E3M2, GROUT_PTX_E2M1, NO_FORMAT, NO_FORMAT};
    switch (kind) {
    case GROUT_PTX_KIND_F16:
        return code == 0 ? GROUT_PTX_F16 : code == 1 ? GROUT_PTX_BF16 : NO_FORMAT;
    case GROUT_PTX_KIND_TF32:
        return code == 2 ? GROUT_PTX_TF32 : NO_FORMAT;
    case GROUT_PTX_KIND_I8:
        return code == 0 ? GROUT_PTX_U8 : code == 1 ? GROUT_PTX_S8 : NO_FORMAT;
    case GROUT_PTX_KIND_F8F6F4:
    case GROUT_PTX_KIND_MXF8F6F4:
        return NARROW[code];
    case GROUT_PTX_KIND_MXF4:
    case GROUT_PTX_KIND_MXF4NVF4:
        return code == 1 ? GROUT_PTX_E2M1 : NO_FORMAT;
    case GROUT_PTX_KIND_COUNT:
        break;
    }
    return NO_FORMAT;
}

static bool decode_formats(uint32_t bits, grout_ptx_instr_desc *desc, grout_ptx_fault *fault) {
    const grout_ptx_mma_kind kind = desc->words.kind;
    const uint32_t a = get_format(kind, get_field(bits, 7, 3));
    const uint32_t b = get_format(kind, get_field(bits, 10, 3));
    if (a == NO_FORMAT || b == NO_FORMAT) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x has the types %u and %u for A "
                               "and B (bits 7 to 12), which %s has not",
                               bits, get_field(bits, 7, 3), get_field(bits, 10, 3),
                               KINDS[kind].name);
    }
    if (kind == GROUT_PTX_KIND_F16 && a != b) {
        return grout_ptx__fail(fault, "the instruction descriptor 0x%08x multiplies .f16 and .bf16",
                               bits);
    }
    desc->a = (grout_ptx_format)a;
    desc->b = (grout_ptx_format)b;
    return true;
}

static bool decode_d(uint32_t bits, grout_ptx_instr_desc *desc, grout_ptx_fault *fault) {
    static const grout_ptx_format TYPES[] = {GROUT_PTX_F16, GROUT_PTX_F32, GROUT_PTX_S32};
    const uint32_t code = get_field(bits, 4, 2);
    const grout_ptx_mma_kind kind = desc->words.kind;
    const bool is_half = kind == GROUT_PTX_KIND_F8F6F4 || desc->a == GROUT_PTX_F16;
    const bool is_known =
        kind == GROUT_PTX_KIND_I8 ? code == 2 : code == 1 || (code == 0 && is_half);
    if (!is_known) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x has the type %u for D (bits 4 "
                               "and 5), which %s of %s has not",
                               bits, code, KINDS[kind].name, grout_ptx__format_name(desc->a));
    }
    desc->d = TYPES[code];
    return true;
}

/* The fields of kinds without block scales. */
static bool decode_plain(uint32_t bits, grout_ptx_instr_desc *desc, grout_ptx_fault *fault) {
    const uint32_t reuse = get_field(bits, 30, 2);
    desc->selector = get_field(bits, 0, 2);
    desc->is_saturating = get_field(bits, 3, 1) != 0;
    desc->reuse = reuse == 0 ? 0 : 4u << reuse;
    if (get_field(bits, 23, 1) != 0 || get_field(bits, 29, 1) != 0) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x has bit 23 or 29 set, which "
                               "are reserved",
                               bits);
    }
    if (reuse != 0 && !desc->words.is_stationary) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x has a reuse of B (bits 30 "
                               "and 31) without .ws",
                               bits);
    }
    if (desc->is_saturating && desc->words.kind != GROUT_PTX_KIND_I8) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x saturates (bit 3): kind::i8 "
                               "only",
                               bits);
    }
    const bool has_selector = desc->words.kind <= GROUT_PTX_KIND_TF32;
    if (desc->selector > (desc->words.is_sparse && has_selector ? 1u : 0u)) {
        return grout_ptx__fail(
            fault,
            "the instruction descriptor 0x%08x has a sparsity selector of %u: 0, "
            "or 1 for sparse products of kinds f16 and tf32",
            bits, desc->selector);
    }
    return decode_d(bits, desc, fault);
}

static bool decode_scale_ids(uint32_t bits, grout_ptx_instr_desc *desc, grout_ptx_fault *fault) {
    const uint32_t step = desc->scales == 1 ? 1 : desc->scales == 2 ? 2 : 4;
    desc->a_scale_id = get_field(bits, 29, 2);
    desc->b_scale_id = get_field(bits, 4, 2);
    if (desc->a_scale_id % step != 0 || desc->b_scale_id % step != 0) {
        return grout_ptx__fail(
            fault,
            "the instruction descriptor 0x%08x has the scale ids %u and %u for A "
            "and B: multiples of %u with %uX",
            bits, desc->a_scale_id, desc->b_scale_id, step, desc->scales);
    }
    return true;
}

static bool decode_scale_vec(grout_ptx_instr_desc *desc, grout_ptx_fault *fault) {
    const kind_info *kind = &KINDS[desc->words.kind];
    const uint32_t vec = desc->words.scale_vec == 0 ? kind->own_vec : desc->words.scale_vec;
    const bool is_known = kind->own_vec != 0 ? vec == kind->own_vec : vec == 2 || vec == 4;
    if (!is_known) {
        return grout_ptx__fail(fault, "%s with .scale_vec::%uX", kind->name, vec);
    }
    desc->scales = vec;
    return true;
}

/* The fields of kinds with block scales. */
static bool decode_scaled(uint32_t bits, grout_ptx_instr_desc *desc, grout_ptx_fault *fault) {
    const bool is_ue8m0 = get_field(bits, 23, 1) != 0;
    desc->d = GROUT_PTX_F32;
    desc->scale = is_ue8m0 ? GROUT_PTX_UE8M0 : GROUT_PTX_UE4M3;
    if (get_field(bits, 0, 2) != 0 || get_field(bits, 3, 1) != 0) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x has bit 0, 1 or 3 set, which "
                               "are reserved with block scales",
                               bits);
    }
    if (get_field(bits, 31, 1) != 0) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x has K = 96 (bit 31): of "
                               "sm_103a, and not modelled",
                               bits);
    }
    if (!is_ue8m0 && desc->words.kind != GROUT_PTX_KIND_MXF4NVF4) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x has scales of .ue4m3 (bit "
                               "23): kind::mxf4nvf4 only",
                               bits);
    }
    return decode_scale_vec(desc, fault) && decode_scale_ids(bits, desc, fault);
}

/* ---- shapes ---- */

static bool m_fits(const grout_ptx_instr_desc *desc) {
    const grout_ptx_mma_words *words = &desc->words;
    const bool is_scaled = KINDS[words->kind].is_scaled;
    if (words->is_stationary) {
        return desc->m == 32 || desc->m == 64 || desc->m == 128;
    }
    if (words->ctas == 2) {
        return desc->m == 256 || (desc->m == 128 && !(is_scaled && words->is_sparse));
    }
    return desc->m == 128 || (desc->m == 64 && !is_scaled);
}

static bool n_fits(const grout_ptx_instr_desc *desc) {
    const grout_ptx_mma_words *words = &desc->words;
    const bool is_pair = words->ctas == 2, is_integer = words->kind == GROUT_PTX_KIND_I8;
    const uint32_t n = desc->n;
    uint32_t step = is_pair ? 16 : 8;
    if (words->is_stationary) {
        return n == 64 || n == 128 || (n == 256 && !words->is_sparse);
    }
    if (is_integer && (is_pair || n > 32)) {
        step *= 2;
    }
    /* An MN-major B of 8 bits comes in twice as many columns. */
    if (desc->is_b_mn_major && grout_ptx__format_bits(desc->b) == 8 && !is_integer) {
        step *= 2;
    }
    return n != 0 && n <= N_MAX && n % step == 0;
}

static bool check_shape(uint32_t bits, const grout_ptx_instr_desc *desc, grout_ptx_fault *fault) {
    if (!m_fits(desc) || !n_fits(desc)) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x has M = %u and N = %u, which "
                               "%s%s%s of %u CTAs has not",
                               bits, desc->m, desc->n, KINDS[desc->words.kind].name,
                               desc->words.is_stationary ? " .ws" : "",
                               desc->words.is_sparse ? " .sp" : "", desc->words.ctas);
    }
    return true;
}

static bool can_transpose(const grout_ptx_instr_desc *desc, grout_ptx_format format) {
    const grout_ptx_mma_kind kind = desc->words.kind;
    return grout_ptx__format_bits(format) >= 8 && kind != GROUT_PTX_KIND_MXF4 &&
           kind != GROUT_PTX_KIND_MXF4NVF4;
}

static bool check_majors(uint32_t bits, const grout_ptx_instr_desc *desc, grout_ptx_fault *fault) {
    if ((desc->is_a_mn_major && !can_transpose(desc, desc->a)) ||
        (desc->is_b_mn_major && !can_transpose(desc, desc->b))) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x transposes A or B (bits 15 and "
                               "16), which %s of %s and %s has not",
                               bits, KINDS[desc->words.kind].name, grout_ptx__format_name(desc->a),
                               grout_ptx__format_name(desc->b));
    }
    if (desc->is_a_mn_major && desc->words.is_a_tmem) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x transposes A, which is in "
                               "tensor memory",
                               bits);
    }
    if ((desc->is_a_negative || desc->is_b_negative) && desc->words.kind == GROUT_PTX_KIND_I8) {
        return grout_ptx__fail(
            fault, "the instruction descriptor 0x%08x negates A or B of kind::i8", bits);
    }
    return true;
}

static bool check_words(const grout_ptx_mma_words *words, grout_ptx_fault *fault) {
    const kind_info *kind = &KINDS[words->kind];
    const bool has_input_d =
        words->kind == GROUT_PTX_KIND_F16 || words->kind == GROUT_PTX_KIND_TF32;
    if (words->arch < 100) {
        return grout_ptx__fail(fault, "tcgen05.mma needs sm_100a");
    }
    if (words->kind == GROUT_PTX_KIND_I8 && words->arch != 100 && words->arch != 110) {
        return grout_ptx__fail(fault, "kind::i8 is of sm_100a and sm_110a");
    }
    if (words->ctas != 1 && words->ctas != 2) {
        return grout_ptx__fail(fault, ".cta_group::%u: 1 or 2", words->ctas);
    }
    if (words->is_stationary && (words->ctas == 2 || kind->is_scaled)) {
        return grout_ptx__fail(fault, "tcgen05.mma.ws of %s with .cta_group::%u", kind->name,
                               words->ctas);
    }
    if (words->scale_vec != 0 && !kind->is_scaled) {
        return grout_ptx__fail(fault, "%s has no block scales", kind->name);
    }
    if (words->input_d > 15 || (words->input_d != 0 && !has_input_d)) {
        return grout_ptx__fail(fault, "scale-input-d of %u for %s: 0 to 15, kinds f16 and tf32",
                               words->input_d, kind->name);
    }
    return true;
}

bool grout_ptx__instr_decode(uint32_t bits, const grout_ptx_mma_words *words,
                             grout_ptx_instr_desc *desc, grout_ptx_fault *fault) {
    const kind_info *kind = &KINDS[words->kind];
    if (!check_words(words, fault)) {
        return false;
    }
    *desc = (grout_ptx_instr_desc){.words = *words,
                                   .m = get_field(bits, 24, 5) << 4,
                                   .n = get_field(bits, 17, 6) << 3,
                                   .k = words->is_sparse ? 2 * kind->k : kind->k,
                                   .is_a_negative = get_field(bits, 13, 1) != 0,
                                   .is_b_negative = get_field(bits, 14, 1) != 0,
                                   .is_a_mn_major = get_field(bits, 15, 1) != 0,
                                   .is_b_mn_major = get_field(bits, 16, 1) != 0};
    if (get_field(bits, 6, 1) != 0) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x has bit 6 set, which is "
                               "reserved",
                               bits);
    }
    if ((get_field(bits, 2, 1) != 0) != words->is_sparse) {
        return grout_ptx__fail(fault,
                               "the instruction descriptor 0x%08x says %s (bit 2), the "
                               "instruction %s",
                               bits, words->is_sparse ? "dense" : "sparse",
                               words->is_sparse ? ".sp" : "does not");
    }
    return decode_formats(bits, desc, fault) &&
           (kind->is_scaled ? decode_scaled(bits, desc, fault) : decode_plain(bits, desc, fault)) &&
           check_shape(bits, desc, fault) && check_majors(bits, desc, fault);
}

bool grout_ptx__instr_is_slotted(const grout_ptx_instr_desc *desc, grout_ptx_format format) {
    const grout_ptx_mma_kind kind = desc->words.kind;
    return grout_ptx__format_bits(format) < 8 &&
           (kind == GROUT_PTX_KIND_F8F6F4 || kind == GROUT_PTX_KIND_MXF8F6F4);
}

grout_ptx_product grout_ptx__instr_product(const grout_ptx_instr_desc *desc) {
    static const grout_ptx_product_kind PRODUCTS[GROUT_PTX_KIND_COUNT] = {
        [GROUT_PTX_KIND_F16] = GROUT_PTX_PRODUCT_FLOAT,
        [GROUT_PTX_KIND_TF32] = GROUT_PTX_PRODUCT_FLOAT,
        [GROUT_PTX_KIND_F8F6F4] = GROUT_PTX_PRODUCT_FLOAT,
        [GROUT_PTX_KIND_I8] = GROUT_PTX_PRODUCT_INTEGER,
        [GROUT_PTX_KIND_MXF8F6F4] = GROUT_PTX_PRODUCT_MXF8,
        [GROUT_PTX_KIND_MXF4] = GROUT_PTX_PRODUCT_MXF4,
        [GROUT_PTX_KIND_MXF4NVF4] = GROUT_PTX_PRODUCT_MXF4,
    };
    grout_ptx_product product = {.kind = PRODUCTS[desc->words.kind],
                                 .how = grout_ptx__dot_blackwell(desc->a, desc->b, desc->d),
                                 .m = desc->m,
                                 .n = desc->n,
                                 .k = desc->k,
                                 .is_saturating = desc->is_saturating,
                                 .scale = desc->scale,
                                 .scales = desc->scales};
    product.how.is_negative = desc->is_a_negative != desc->is_b_negative;
    product.how.c_shift = (int32_t)desc->words.input_d;
    return product;
}
