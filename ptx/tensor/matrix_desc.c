/* matrix_desc.c - bits of a matrix descriptor, and the address of an element.
 * SPDX-License-Identifier: Apache-2.0 */
#include "matrix_desc.h"

enum { FIELD = 0x3fff, UNIT = 16, ROWS = 8, ATOM_ROWS = 4, SLOT_ELEMENTS = 16 };

/* The code of a mode in bits 61 to 63; wgmma's are twice its two bits. */
static bool get_swizzle(uint32_t code, grout_ptx_swizzle *swizzle) {
    switch (code) {
    case 0:
        *swizzle = GROUT_PTX_SWIZZLE_NONE;
        return true;
    case 1:
        *swizzle = GROUT_PTX_SWIZZLE_128B_ATOM_32B;
        return true;
    case 2:
        *swizzle = GROUT_PTX_SWIZZLE_128B;
        return true;
    case 4:
        *swizzle = GROUT_PTX_SWIZZLE_64B;
        return true;
    case 6:
        *swizzle = GROUT_PTX_SWIZZLE_32B;
        return true;
    default:
        return false;
    }
}

static bool check_version(uint64_t bits, grout_ptx_desc_kind kind, uint32_t arch,
                          grout_ptx_fault *fault) {
    const uint32_t version = (uint32_t)(bits >> 46 & 7),
                   want = kind == GROUT_PTX_DESC_WGMMA ? 0 : 1;
    if (version != want) {
        return grout_ptx__fail(fault, "bits 46 to 48 of the matrix descriptor 0x%016llx are %u: %u",
                               (unsigned long long)bits, version, want);
    }
    if ((bits >> 52 & 1) != 0) {
        return grout_ptx__fail(fault,
                               arch == 103 && kind == GROUT_PTX_DESC_TCGEN05
                                   ? "the matrix descriptor 0x%016llx has an absolute leading "
                                     "address (bit 52), which is not modelled"
                                   : "bit 52 of the matrix descriptor 0x%016llx is set: it is of "
                                     "tcgen05 on sm_103a",
                               (unsigned long long)bits);
    }
    return true;
}

bool grout_ptx__desc_decode(uint64_t bits, grout_ptx_desc_kind kind, uint32_t arch,
                            grout_ptx_matrix_desc *desc, grout_ptx_fault *fault) {
    const uint64_t reserved = (uint64_t)0xff << 53 | (uint64_t)3 << 30 | (uint64_t)3 << 14;
    const uint32_t code = (uint32_t)(bits >> 61);
    if ((bits & reserved) != 0) {
        return grout_ptx__fail(fault,
                               "the matrix descriptor 0x%016llx has bits set that are reserved "
                               "(0x%llx): an address that was not cut to 18 bits?",
                               (unsigned long long)bits, (unsigned long long)(bits & reserved));
    }
    if (!check_version(bits, kind, arch, fault)) {
        return false;
    }
    if (!get_swizzle(code, &desc->swizzle) || (kind == GROUT_PTX_DESC_WGMMA && code % 2 != 0)) {
        return grout_ptx__fail(fault,
                               "the matrix descriptor 0x%016llx has the swizzle code %u in "
                               "bits 61 to 63, which there is not",
                               (unsigned long long)bits, code);
    }
    desc->start = (uint32_t)(bits & FIELD) * UNIT;
    desc->leading = (uint32_t)(bits >> 16 & FIELD) * UNIT;
    desc->stride = (uint32_t)(bits >> 32 & FIELD) * UNIT;
    desc->base_offset = (uint32_t)(bits >> 49 & 7);
    return true;
}

/* Bits from an element to the next, in its row: those of slots are counted within a slot. */
static uint32_t get_bits(const grout_ptx_operand_form *form) {
    return grout_ptx__format_bits(form->format);
}

bool grout_ptx__desc_check(const grout_ptx_matrix_desc *desc, const grout_ptx_operand_form *form,
                           grout_ptx_fault *fault) {
    const uint32_t bits = get_bits(form);
    const bool has_atoms = desc->swizzle == GROUT_PTX_SWIZZLE_128B_ATOM_32B;
    const char *name = grout_ptx__format_name(form->format);
    if (has_atoms && !(form->is_mn_major && form->format == GROUT_PTX_TF32)) {
        return grout_ptx__fail(fault,
                               "swizzle atoms of 32 bytes for a matrix of %s that is not "
                               "MN-major .tf32",
                               name);
    }
    if (!form->is_mn_major) {
        return true;
    }
    if (form->kind == GROUT_PTX_DESC_WGMMA && bits != 16) {
        return grout_ptx__fail(fault, "an MN-major matrix of %s: wgmma transposes 16-bit types",
                               name);
    }
    if (bits < 8) {
        return grout_ptx__fail(fault, "an MN-major matrix of %s: K-major only", name);
    }
    if (bits == 32 && !has_atoms) {
        return grout_ptx__fail(fault, "an MN-major matrix of %s without swizzle atoms of 32 bytes",
                               name);
    }
    return true;
}

/* Byte offset of a K-major element in its matrix, before the swizzle; column is in bytes of the
 * row. Within a swizzled row the leading-dimension offset does not count; a sparse product of 8-bit
 * types has rows of 64 bytes, which of 32 swizzled bytes are two, that far apart: an H200 agrees
 * (tests/differential/sparse.each). */
static bool locate_k_major(const grout_ptx_matrix_desc *desc, uint32_t row, uint32_t column,
                           uint32_t *offset) {
    const uint32_t span = grout_ptx__swizzle_span(desc->swizzle);
    *offset = row / ROWS * desc->stride + row % ROWS * (span == 0 ? UNIT : span);
    const uint32_t unit = span == 0 ? UNIT : span;
    *offset += column / unit * desc->leading + column % unit;
    return span == 0 || column < 2 * span;
}

/* The same for an MN-major one; without a swizzle the strides trade places. Atoms of 32 bytes have
 * groups of 4 rows along K. */
static uint32_t locate_mn_major(const grout_ptx_matrix_desc *desc, uint32_t column, uint32_t k) {
    const uint32_t span = grout_ptx__swizzle_span(desc->swizzle);
    const bool has_atoms = desc->swizzle == GROUT_PTX_SWIZZLE_128B_ATOM_32B;
    const uint32_t rows = has_atoms ? ATOM_ROWS : ROWS;
    if (span == 0) {
        return column / UNIT * desc->stride + k / ROWS * desc->leading + k % ROWS * UNIT +
               column % UNIT;
    }
    return column / span * desc->leading + k / rows * desc->stride + k % rows * span +
           column % span;
}

bool grout_ptx__desc_locate(const grout_ptx_matrix_desc *desc, const grout_ptx_operand_form *form,
                            uint32_t mn, uint32_t k, uint32_t *address, uint32_t *bit) {
    const uint32_t bits = get_bits(form), along = form->is_mn_major ? mn : k;
    const uint32_t slot = form->is_slotted ? along / SLOT_ELEMENTS * UNIT : 0;
    const uint32_t at = (form->is_slotted ? along % SLOT_ELEMENTS : along) * bits;
    const uint32_t column = slot + at / 8;
    uint32_t offset = 0;
    bool is_inside = true;
    if (form->is_mn_major) {
        offset = locate_mn_major(desc, column, k);
    } else {
        is_inside = locate_k_major(desc, mn, column, &offset);
    }
    *bit = at % 8;
    *address = grout_ptx__swizzle_from(desc->swizzle, desc->base_offset, desc->start + offset);
    return is_inside;
}
