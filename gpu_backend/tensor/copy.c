/* copy.c - copies from SMEM to tensor memory, by the tensor core.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One lane issues them: an instruction for rows of 32 bytes of a swizzled array, of 16 of another,
 * for a block of 128 by 4 scales, for both blocks of split ones, and for metadata of 128 neighbours
 * along K.
 */
#include "tensor.h"

#include "lanes.h"
#include "places.h"
#include "tmem.h"

#include <inttypes.h>

enum { SOURCE, DESTINATION };
enum { ROWS = 128, CORE_BYTES = 128, ROW_BYTES = 16, COLUMN_BYTES = 4 };

/* What instructions are made of. */
typedef struct copy {
    grout_view source, destination;
    grout_wgmma_operand operand;
    const char *function;
    uint32_t part_count;
} copy;

/* Tables lie one block after another, of rows of 16 bytes. */
static void describe_table(copy *c, uint32_t part_bytes, uint32_t part_count) {
    c->part_count = part_count;
    c->operand = (grout_wgmma_operand){.leading_bytes = ROW_BYTES,
                                       .stride_bytes = CORE_BYTES,
                                       .step_bytes = part_bytes,
                                       .steps_per_panel = part_count};
}

/* Columns from one instruction to the next. */
static void add_step(grout_emitter *e, int64_t columns) {
    grout_emit__add(e, " + part * %" PRId64, FIELD(TMEM_COPIED_STEP, columns));
}

static void add_destination(grout_emitter *e, const copy *c, grout_tcgen05_copy kind) {
    const grout_view *view = &c->destination;
    const uint32_t groups = (uint32_t)view->extent[view->rank - 1] / GROUT_TMEM_SCALES_STEP;
    const int64_t blocks = grout_tmem__count_scale_blocks(e->module, view->object);
    grout_tensor__address(e, view, 0);
    FIELD_END(e, TMEM_COPIED);
    if (c->part_count == 1) {
        return;
    }
    switch (kind) {
    case GROUT_TCGEN05_COPY_SCALES: /* of 256 rows, the two blocks of each group lie together */
        if (blocks == 1) {
            add_step(e, GROUT_TMEM_SCALES_STEP);
        } else {
            grout_emit__add(e, " + part %% %" PRIu32 " * %" PRId64 " + part / %" PRIu32 " * %d",
                            groups, FIELD(TMEM_COPIED_STEP, blocks * GROUT_TMEM_SCALES_STEP),
                            groups, GROUT_TMEM_SCALES_STEP);
        }
        return;
    case GROUT_TCGEN05_COPY_SPLIT_SCALES:
    case GROUT_TCGEN05_COPY_METADATA:
        add_step(e, ROW_BYTES / COLUMN_BYTES);
        return;
    case GROUT_TCGEN05_COPY_PLAIN:
        add_step(e, (c->operand.swizzle == 0 ? 1 : 2) * ROW_BYTES / COLUMN_BYTES);
        return;
    }
}

static bool find_views(const grout_emitter *e, const grout_op *op, copy *c) {
    return grout_module_get_view(e->module, grout_module_get_operand(e->module, op, SOURCE),
                                 &c->source) &&
           grout_module_get_view(e->module, grout_module_get_operand(e->module, op, DESTINATION),
                                 &c->destination);
}

static bool describe(grout_emitter *e, grout_op_id id, grout_tcgen05_copy kind, copy *c) {
    grout_wgmma rows;
    const int64_t columns = c->destination.extent[c->destination.rank - 1];
    const int64_t blocks = grout_tmem__count_scale_blocks(e->module, c->destination.object);
    switch (kind) {
    case GROUT_TCGEN05_COPY_SCALES:
        c->function = "grout_tensor_copy_quarters";
        describe_table(c, 32 * ROW_BYTES, (uint32_t)(columns / GROUT_TMEM_SCALES_STEP * blocks));
        return true;
    case GROUT_TCGEN05_COPY_SPLIT_SCALES:
        c->function = "grout_tensor_copy_halves";
        describe_table(c, 64 * ROW_BYTES, (uint32_t)(columns / GROUT_TMEM_SCALES_STEP));
        return true;
    case GROUT_TCGEN05_COPY_METADATA:
        c->function = "grout_tensor_copy_16_bytes";
        describe_table(c, ROWS * ROW_BYTES, (uint32_t)(columns / GROUT_TMEM_METADATA_STEP));
        return true;
    case GROUT_TCGEN05_COPY_PLAIN:
        break;
    }
    if (!grout_tcgen05_copy_plan_rows(e->module, id, &rows, e->diags)) {
        return false;
    }
    c->operand = rows.a;
    c->part_count = rows.step_count;
    c->function = rows.a.swizzle == 0 ? "grout_tensor_copy_16_bytes" : "grout_tensor_copy_32_bytes";
    return true;
}

static void write_copy(grout_emitter *e, grout_op_id id, const grout_op *op) {
    copy c = {.part_count = 0};
    if (!find_views(e, op, &c)) {
        e->failed = true;
        return;
    }
    const grout_tcgen05_copy kind =
        grout_tcgen05_copy_get_kind(e->module, (grout_opcode)op->opcode, c.destination.object);
    if (!describe(e, id, kind, &c)) {
        e->failed = true;
        return;
    }
    const grout_tensor_matrix matrix = grout_tensor__describe_matrix(&c.operand);
    grout_emit__before_issue(e, "one lane copies for all");
    grout_emit__open_issuer(e);
    grout_emit__line(e, "{");
    e->indent++;
    const uint32_t start = grout_tensor__write_start(e, &c.source, matrix.low);
    grout_tensor__open_parts(e, c.part_count);
    grout_emit__begin(e);
    grout_emit__add(e, "%s<%" PRIu32 ">(", c.function, grout_tensor__get_group(e));
    add_destination(e, &c, kind);
    grout_emit__add(e, ", ");
    grout_tensor__matrix(e, &c.operand, start, matrix.high, c.part_count);
    grout_emit__end(e, ");");
    grout_tensor__close_parts(e, c.part_count);
    grout_emit__close(e, "");
    grout_emit__close_issuer(e);
}

void grout_emit__async_copy_smem_to_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    write_copy(e, id, op);
}

void grout_emit__async_copy_scales_to_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    write_copy(e, id, op);
}

void grout_emit__async_copy_sparse_metadata_to_tmem(grout_emitter *e, grout_op_id id,
                                                    const grout_op *op) {
    write_copy(e, id, op);
}
