/*
 * tcgen05_copy.c - copies from SMEM to tensor memory: what lies where on both sides.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An instruction moves rows of 16 or 32 bytes, which core matrices of 8 rows hold in SMEM as they
 * do for an MMA (PTX ISA 9.1, 'tcgen05.cp'): 128x128b without swizzle, 128x256b with one. Scales go
 * as 32x128b.warpx4, four times the same, split ones as 64x128b.warpx2::01_23, each half twice,
 * metadata as 128x128b.
 */
#include "layout.h"
#include "tcgen05.h"
#include "tmem.h"
#include "type.h"

#include <inttypes.h>
#include <string.h>

enum { SOURCE, DESTINATION, OPERANDS, ROWS = 128, CORE_BYTES = 16, SCALE_LANES = 32, HALVES = 2 };

typedef struct planning {
    grout_wgmma_planning wgmma; /* its reports are made as those of a wgmma */
    grout_type types[OPERANDS];
    grout_view views[OPERANDS];
    grout_tcgen05_copy kind;
    grout_wgmma rows; /* a plain copy, as an a of this many steps */
} planning;

/* by name: which table a copy brings is the meaning of each, and no column says it. */
grout_tcgen05_copy grout_tcgen05_copy_get_kind(const grout_module *module, grout_opcode opcode,
                                               grout_object_id to) {
    switch ((unsigned)opcode) {
    case GROUT_OP_ASYNC_COPY_SCALES_TO_TMEM:
        return grout_module_get_object(module, to)->is_split ? GROUT_TCGEN05_COPY_SPLIT_SCALES
                                                             : GROUT_TCGEN05_COPY_SCALES;
    case GROUT_OP_ASYNC_COPY_SPARSE_METADATA_TO_TMEM:
        return GROUT_TCGEN05_COPY_METADATA;
    default:
        return GROUT_TCGEN05_COPY_PLAIN;
    }
}

static const grout_operand *get_operand(const planning *p, uint32_t index) {
    return grout_module_get_operand(p->wgmma.module, p->wgmma.op, index);
}

static const char *get_mnemonic(const planning *p) {
    return grout_op_get_info((grout_opcode)p->wgmma.op->opcode)->text;
}

static const grout_object *get_object(const planning *p, uint32_t index) {
    return grout_module_get_object(p->wgmma.module, p->views[index].object);
}

/* ---- the destination ------------------------------------------------------------------------- */

/* Whether it is declared as what the copy brings. */
static bool check_word(planning *p) {
    static const char *const words[] = {[GROUT_TCGEN05_COPY_PLAIN] = "",
                                        [GROUT_TCGEN05_COPY_SCALES] = "scales",
                                        [GROUT_TCGEN05_COPY_SPLIT_SCALES] = "split_scales",
                                        [GROUT_TCGEN05_COPY_METADATA] = "metadata"};
    static const grout_opcode copies[] = {
        [GROUT_TCGEN05_COPY_PLAIN] = GROUT_OP_ASYNC_COPY_SMEM_TO_TMEM,
        [GROUT_TCGEN05_COPY_SCALES] = GROUT_OP_ASYNC_COPY_SCALES_TO_TMEM,
        [GROUT_TCGEN05_COPY_SPLIT_SCALES] = GROUT_OP_ASYNC_COPY_SCALES_TO_TMEM,
        [GROUT_TCGEN05_COPY_METADATA] = GROUT_OP_ASYNC_COPY_SPARSE_METADATA_TO_TMEM};
    const grout_object *object = get_object(p, DESTINATION);
    const grout_operand *operand = get_operand(p, DESTINATION);
    const grout_tcgen05_copy is = object->is_split      ? GROUT_TCGEN05_COPY_SPLIT_SCALES
                                  : object->is_scales   ? GROUT_TCGEN05_COPY_SCALES
                                  : object->is_metadata ? GROUT_TCGEN05_COPY_METADATA
                                                        : GROUT_TCGEN05_COPY_PLAIN;
    if (is == p->kind) {
        return true;
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_OPERAND, operand,
                      is == GROUT_TCGEN05_COPY_PLAIN ? "'%s' brings %s, and %s is not declared so"
                                                     : "'%s' brings %s, and %s is declared '%s'",
                      get_mnemonic(p),
                      p->kind == GROUT_TCGEN05_COPY_PLAIN ? "elements as they lie" : words[p->kind],
                      grout_wgmma__get_name(&p->wgmma, operand, "the array").chars, words[is]);
    if (is == GROUT_TCGEN05_COPY_PLAIN) {
        grout_wgmma__help(&p->wgmma, "write '%s' after its type", words[p->kind]);
    } else {
        grout_wgmma__help(&p->wgmma, "%s brings them", grout_op_get_info(copies[is])->text);
    }
    return false;
}

static bool check_destination(planning *p) {
    const grout_operand *operand = get_operand(p, DESTINATION);
    const grout_type *type = &p->types[DESTINATION];
    const uint8_t bits = grout_dtype_get_info((grout_dtype)type->dtype)->bits;
    if (!check_word(p) || !grout_tmem__check_slice(p->wgmma.module, operand, p->wgmma.diags)) {
        return false;
    }
    if (p->kind != GROUT_TCGEN05_COPY_PLAIN) {
        return true;
    }
    if (type->dims[0] != ROWS) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, operand,
                          "%s has %" PRId64 " rows: a copy to tensor memory brings %d",
                          grout_wgmma__get_name(&p->wgmma, operand, "the array").chars,
                          type->dims[0], ROWS);
        grout_wgmma__help(&p->wgmma, "pad it to 128 rows, or load it and write it by "
                                     "async_store_tmem and commit_tmem");
        return false;
    }
    if (bits < 32 && !get_object(p, DESTINATION)->is_packed) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_OPERAND, operand,
                          "a copy fills columns of 32 bits, and %s has one element of %d bits in "
                          "each",
                          grout_wgmma__get_name(&p->wgmma, operand, "the array").chars, bits);
        grout_wgmma__help(&p->wgmma, "declare it 'packed', or load it and write it by "
                                     "async_store_tmem and commit_tmem");
        return false;
    }
    return true;
}

/* ---- the source ------------------------------------------------------------------------------ */

/* The shape in SMEM of what goes to [rows, columns]. */
static uint8_t get_shape(const planning *p, int64_t dims_out[GROUT_RANK_MAX]) {
    const int64_t rows = p->types[DESTINATION].dims[0], columns = p->types[DESTINATION].dims[1];
    switch (p->kind) {
    case GROUT_TCGEN05_COPY_SCALES:
        dims_out[0] = rows / ROWS;
        dims_out[1] = columns / GROUT_TMEM_SCALES_STEP;
        dims_out[2] = SCALE_LANES;
        dims_out[3] = CORE_BYTES;
        return 4;
    case GROUT_TCGEN05_COPY_SPLIT_SCALES:
        dims_out[0] = 1;
        dims_out[1] = columns / GROUT_TMEM_SCALES_STEP;
        dims_out[2] = (int64_t)HALVES * SCALE_LANES;
        dims_out[3] = CORE_BYTES;
        return 4;
    case GROUT_TCGEN05_COPY_METADATA:
        dims_out[0] = columns / GROUT_TMEM_METADATA_STEP;
        dims_out[1] = rows;
        dims_out[2] = GROUT_TMEM_METADATA_STEP;
        return 3;
    case GROUT_TCGEN05_COPY_PLAIN:
        break;
    }
    dims_out[0] = rows;
    dims_out[1] = columns;
    return 2;
}

static bool check_shape(planning *p) {
    const grout_type *from = &p->types[SOURCE], *to = &p->types[DESTINATION];
    grout_type wanted = {.kind = GROUT_TYPE_REF, .dtype = to->dtype, .space = GROUT_SPACE_SMEM};
    wanted.rank = get_shape(p, wanted.dims);
    if (from->dtype == to->dtype && from->rank == wanted.rank &&
        memcmp(from->dims, wanted.dims, wanted.rank * sizeof *wanted.dims) == 0) {
        return true;
    }
    grout_wgmma__fail(
        &p->wgmma, from->dtype == to->dtype ? GROUT_DIAG_TCGEN05_SHAPE : GROUT_DIAG_TCGEN05_TYPES,
        get_operand(p, SOURCE), "'%s' brings to %s what is %s, and %s is %s", get_mnemonic(p),
        grout_type__get_text(to).chars, grout_type__get_text(&wanted).chars,
        grout_wgmma__get_name(&p->wgmma, get_operand(p, SOURCE), "this").chars,
        grout_type__get_text(from).chars);
    grout_wgmma__help(&p->wgmma,
                      p->kind == GROUT_TCGEN05_COPY_SCALES
                          ? "scale [m, c] is element [m / 128, c / 4, m %% 32, m %% 128 / 32 * 4 + "
                            "c %% 4]"
                      : p->kind == GROUT_TCGEN05_COPY_SPLIT_SCALES
                          ? "scale [m, c] is element [0, c / 4, m / 128 * 32 + m %% 32, m %% 128 / "
                            "32 * 4 + c %% 4]"
                      : p->kind == GROUT_TCGEN05_COPY_METADATA
                          ? "word w of row m is element [w / 8, m, w %% 8] of an a of 8 bits"
                          : "both are the same elements");
    return false;
}

/* Tables lie one block after another, as their bytes are read. */
static bool check_contiguous(planning *p) {
    const grout_view *view = &p->views[SOURCE];
    const grout_layout *layout = grout_object_get_layout(p->wgmma.module, view->object);
    const grout_object *object = get_object(p, SOURCE);
    bool is_plain = layout->swizzle == 0 && !layout->is_custom && object->tile_rank == 0 &&
                    object->transpose_rank == 0;
    for (uint32_t k = p->types[SOURCE].rank; k-- > 0 && is_plain;) {
        const uint32_t dim = view->view_dim[k];
        is_plain = dim == view->rank - p->types[SOURCE].rank + k &&
                   (k == 0 || view->extent[dim] ==
                                  grout_object_get_extent(p->wgmma.module, view->object, dim));
    }
    if (is_plain) {
        return true;
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_OPERAND, get_operand(p, SOURCE),
                      "'%s' reads %" PRId64 " elements one after another, and those of %s do not "
                      "lie so",
                      get_mnemonic(p), grout_type_get_count(&p->types[SOURCE]),
                      grout_wgmma__get_name(&p->wgmma, get_operand(p, SOURCE), "this").chars);
    grout_wgmma__help(&p->wgmma, "declare it without tile, swizzle and transpose, and take slices "
                                 "of its first dimension");
    return false;
}

/* Core matrices of 8 rows, as an a has them: the planning of operands says whether they are. */
static bool check_cores(planning *p) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)p->types[SOURCE].dtype);
    grout_wgmma *rows = &p->rows;
    *rows = (grout_wgmma){.m = ROWS,
                          .n = ROWS,
                          .k = (uint32_t)p->types[SOURCE].dims[1],
                          .k_step = (uint32_t)GROUT_WGMMA_STEP_BYTES / info->bytes,
                          .block_count = 1};
    const grout_layout *layout = grout_object_get_layout(p->wgmma.module, p->views[SOURCE].object);
    const uint32_t bytes = layout->swizzle == 0 ? CORE_BYTES : GROUT_WGMMA_STEP_BYTES;
    if (rows->k * info->bytes % bytes != 0) {
        grout_wgmma__fail(
            &p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, SOURCE),
            "a row has %" PRIu32 " bytes: a copy to tensor memory brings %" PRIu32 " at a time%s",
            rows->k * info->bytes, bytes, layout->swizzle == 0 ? "" : " from a swizzled array");
        grout_wgmma__help(&p->wgmma, "round the columns up: what nobody reads does no harm");
        return false;
    }
    rows->k_step = bytes / info->bytes;
    rows->step_count = rows->k / rows->k_step;
    p->wgmma.wgmma = rows;
    const bool fits = grout_wgmma__plan_operand(&p->wgmma, true, &rows->a);
    if (fits && rows->a.is_transposed) {
        grout_wgmma__fail(
            &p->wgmma, GROUT_DIAG_TCGEN05_OPERAND, get_operand(p, SOURCE),
            "a copy to tensor memory brings rows, and those of %s run along its rows' "
            "number",
            grout_wgmma__get_name(&p->wgmma, get_operand(p, SOURCE), "this").chars);
        grout_wgmma__help(&p->wgmma, "keep it row by row in smem: leave the transposition out");
        return false;
    }
    return fits;
}

static bool plan_copy(planning *p) {
    const grout_module *bound = p->wgmma.module;
    for (uint32_t k = 0; k < OPERANDS; k++) {
        if (!grout_module_get_view(bound, get_operand(p, k), &p->views[k])) {
            return false;
        }
        p->types[k] = grout_module_get_operand_type(bound, get_operand(p, k));
    }
    p->kind = grout_tcgen05_copy_get_kind(bound, (grout_opcode)p->wgmma.op->opcode,
                                          p->views[DESTINATION].object);
    if (!check_destination(p) || !check_shape(p)) {
        return false;
    }
    return p->kind == GROUT_TCGEN05_COPY_PLAIN ? check_cores(p) : check_contiguous(p);
}

static planning begin(const grout_module *bound, grout_op_id copy, grout_diags *diags) {
    return (planning){.wgmma = {.module = bound,
                                .diags = diags,
                                .op = grout_module_get_op(bound, copy),
                                .is_tcgen05 = true,
                                .is_copy = true}};
}

bool grout_tcgen05_copy_plan(const grout_module *bound, grout_op_id copy,
                             grout_tcgen05_copy *copy_out, grout_diags *diags) {
    planning p = begin(bound, copy, diags);
    const bool fits = plan_copy(&p);
    *copy_out = p.kind;
    return fits;
}

bool grout_tcgen05_copy_plan_rows(const grout_module *bound, grout_op_id copy,
                                  grout_wgmma *rows_out, grout_diags *diags) {
    planning p = begin(bound, copy, diags);
    const bool fits = plan_copy(&p);
    *rows_out = p.rows;
    return fits && p.kind == GROUT_TCGEN05_COPY_PLAIN;
}

uint32_t grout_tcgen05_copy_get_source(grout_tcgen05_copy copy, uint32_t columns, uint32_t r,
                                       uint32_t c) {
    uint32_t block;
    switch (copy) {
    case GROUT_TCGEN05_COPY_SCALES:
        block = r / ROWS * (columns / GROUT_TMEM_SCALES_STEP) + c / GROUT_TMEM_SCALES_STEP;
        return (block * SCALE_LANES + r % SCALE_LANES) * CORE_BYTES +
               r % ROWS / SCALE_LANES * GROUT_TMEM_SCALES_STEP + c % GROUT_TMEM_SCALES_STEP;
    case GROUT_TCGEN05_COPY_SPLIT_SCALES:
        block = c / GROUT_TMEM_SCALES_STEP * HALVES + r / ROWS;
        return (block * SCALE_LANES + r % SCALE_LANES) * CORE_BYTES +
               r % ROWS / SCALE_LANES * GROUT_TMEM_SCALES_STEP + c % GROUT_TMEM_SCALES_STEP;
    case GROUT_TCGEN05_COPY_METADATA:
        return (c / GROUT_TMEM_METADATA_STEP * ROWS + r) * GROUT_TMEM_METADATA_STEP +
               c % GROUT_TMEM_METADATA_STEP;
    case GROUT_TCGEN05_COPY_PLAIN:
        break;
    }
    return r * columns + c;
}
