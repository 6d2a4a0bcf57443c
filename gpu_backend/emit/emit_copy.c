/* emit_copy.c - TMA copies: boxes, parts, rows that indices name, runs of bytes, to one CTA or
 * several of the cluster. SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- boxes ---- */

bool grout_emit__find_box(grout_emitter *e, grout_op_id id, const grout_op *op,
                          grout_emit_box *box_out) {
    const uint32_t array = grout_op_find_letter((grout_opcode)op->opcode, 'G');
    const uint32_t smem = grout_op_find_letter((grout_opcode)op->opcode, 'H');
    *box_out = (grout_emit_box){.id = id, .has_smem = smem != UINT32_MAX};
    const bool has_views =
        array != UINT32_MAX &&
        grout_module_get_view(e->module, grout_module_get_operand(e->module, op, array),
                              &box_out->array) &&
        (!box_out->has_smem ||
         grout_module_get_view(e->module, grout_module_get_operand(e->module, op, smem),
                               &box_out->smem));
    if (!has_views) {
        grout_emit__unsupported(e, op, "an operand that TMA reaches is not a reference to memory");
        return false;
    }
    if (!grout_tma_plan(e->module, id, &box_out->tma, e->diags)) {
        e->failed = true;
        return false;
    }
    grout_view_drop_origin(e->module, &box_out->array); /* it is in the map */
    return true;
}

static void open_loop(grout_emitter *e, const char *name, uint32_t count) {
    if (count > 1) {
        grout_emit__begin(e);
        grout_emit__add(e, "for (grout_i32 %s = 0; %s < %" PRIu32 "; %s++)", name, name, count,
                        name);
        grout_emit__open(e);
    }
}

void grout_emit__open_box(grout_emitter *e, const grout_emit_box *box) {
    open_loop(e, "band", box->tma.band_count);
    open_loop(e, "group", box->tma.row_groups);
    open_loop(e, "panel", box->tma.panel_count);
}

void grout_emit__close_box(grout_emitter *e, const grout_emit_box *box) {
    if (box->tma.panel_count > 1) {
        grout_emit__close(e, "");
    }
    if (box->tma.row_groups > 1) {
        grout_emit__close(e, "");
    }
    if (box->tma.band_count > 1) {
        grout_emit__close(e, "");
    }
}

void grout_emit__box_map(grout_emitter *e, const grout_emit_box *box) {
    const uint32_t number = e->plan->map_of_op[box->id];
    const grout_op *maker = grout_view_find_made_descriptor(e->module, &box->array);
    if (maker != NULL) {
        grout_emit__made_map(e, maker);
        return;
    }
    GROUT_ASSERT(number >= 1 && number <= e->plan->map_count);
    const grout_gpu_map *map = &e->plan->maps[number - 1];
    grout_emit__add(e, "%s", grout_gpu__get_map_name(e->module, map).text);
}

void grout_emit__box_smem(grout_emitter *e, const grout_emit_box *box) {
    const grout_tma *tma = &box->tma;
    grout_emit__smem_start(e, &box->smem);
    FIELD_END(e, COPY_SMEM);
    if (tma->band_count > 1) {
        grout_emit__add(e, " + band * %" PRId64 "u", FIELD(COPY_BAND, tma->band_bytes));
    }
    if (tma->row_groups > 1) {
        grout_emit__add(e, " + group * %" PRId64 "u", tma->row_group_bytes);
    }
    if (tma->panel_count > 1) {
        grout_emit__add(e, " + panel * %" PRId64 "u", FIELD(COPY_PANEL, tma->panel_bytes));
    }
}

/* The tile of this many elements that the box starts at, in a dimension that is split; 0: the
 * first.
 */
static void add_tile_coordinate(grout_emitter *e, const grout_view *view, uint32_t dim,
                                int64_t elements) {
    if (elements == 0) {
        grout_emit__add(e, "0");
        return;
    }
    grout_emit__add(e, "(");
    grout_emit__start(e, view, dim);
    grout_emit__add(e, ") / %" PRId64, elements);
}

/* ", i * 12 + j * 4": the indices of dimensions that are one for TMA. */
static void add_fold(grout_emitter *e, const grout_view *view, const grout_tma *tma) {
    const char *join = ", ";
    for (uint32_t k = 0; k < tma->fold_count; k++) {
        const uint32_t dim = tma->fold_dims[k];
        if (view->start_term_count[dim] > 0 || view->start_const[dim] != 0) {
            const bool is_product = tma->fold_steps[k] != 1;
            grout_emit__add(e, "%s%s", join, is_product ? "(" : "");
            grout_emit__start(e, view, dim);
            if (is_product) {
                grout_emit__add(e, ") * %" PRId64, tma->fold_steps[k]);
            }
            join = " + ";
        }
    }
    grout_emit__add(e, "%s", *join == ',' ? ", 0" : "");
}

/* ", row + panel * 64": the coordinate of a dimension. */
static void add_coordinate(grout_emitter *e, const grout_emit_box *box, uint32_t k) {
    const grout_view *view = &box->array;
    const grout_tma *tma = &box->tma;
    const uint32_t dim = tma->object_dim[k];
    const bool has_panel = k == 0 && tma->panel_count > 1;
    const bool has_band = k == tma->band_dim && tma->band_count > 1;
    const bool is_zero = view->start_term_count[dim] == 0 && view->start_const[dim] == 0;
    const char *join = "";
    if (tma->fold_count > 0 && k + 1u == tma->rank) {
        add_fold(e, view, tma);
        return;
    }
    grout_emit__add(e, ", ");
    if (tma->steps[k] != 1) {
        add_tile_coordinate(e, view, dim, is_zero ? 0 : tma->steps[k]);
        return;
    }
    if (!is_zero || !(has_panel || has_band)) {
        grout_emit__start(e, view, dim);
        join = " + ";
    }
    if (has_panel) {
        grout_emit__add(e, "%spanel * %" PRId64, join, tma->panel_elements);
        join = " + ";
    }
    if (has_band) {
        grout_emit__add(e, "%sband * %" PRId64, join, tma->band_elements);
    }
}

void grout_emit__box_coordinates(grout_emitter *e, const grout_emit_box *box) {
    const uint32_t count = box->tma.row_groups > 0 ? 1 : box->tma.rank; /* rows have indices */
    for (uint32_t k = 0; k < count; k++) {
        add_coordinate(e, box, k);
        FIELD_END(e, COPY_X_0 + k);
    }
}

/* ---- rows that indices name ---- */

/* The last operand. */
static const grout_operand *get_rows(const grout_emitter *e, const grout_op *op) {
    return grout_module_get_operand(e->module, op, op->operand_count - 1u);
}

/* One lane issues, and the indices lie in the registers of all: to the exchange area. */
static void share_rows(grout_emitter *e, grout_op_id id, const grout_operand *rows) {
    if (grout_emit__is_spread(e, rows) &&
        grout_emit__check_exchange(e, id,
                                   grout_emit__layout(e, rows->id)->count *
                                       grout_dtype_get_info(GROUT_DTYPE_I32)->bytes)) {
        grout_emit__write_exchange(e, rows);
    }
}

/* What the issuer has read there. */
static void end_rows(grout_emitter *e, const grout_operand *rows) {
    if (grout_emit__is_spread(e, rows)) {
        grout_emit__after_access(e, 0, false);
    }
}

/* ", grout_get_rows(exchange + (band * 8 + group * 4) * 4u)": the indices of an instruction. */
static void add_rows(grout_emitter *e, const grout_emit_box *box, const grout_operand *rows) {
    const grout_tma *tma = &box->tma;
    const uint32_t bytes = grout_dtype_get_info(GROUT_DTYPE_I32)->bytes;
    if (!grout_emit__is_spread(e, rows)) {
        grout_emit__add(e, ", grout_repeat_row(");
        grout_emit__operand(e, rows, NULL);
        FIELD_END(e, COPY_ROW);
        grout_emit__add(e, ")");
        return;
    }
    grout_emit__add(e, ", grout_load_rows(exchange");
    FIELD_END(e, COPY_ROWS);
    if (tma->band_count > 1) {
        grout_emit__add(e, " + band * %" PRId64 "u",
                        FIELD(COPY_ROW_BAND, tma->band_elements * bytes));
    }
    if (tma->row_groups > 1) {
        grout_emit__add(e, " + group * %" PRId64 "u", FIELD(COPY_ROW_GROUP, tma->box[1] * bytes));
    }
    grout_emit__add(e, ")");
}

void grout_emit__box_call(grout_emitter *e, const grout_emit_box *box, const char *name) {
    grout_emit__open_box(e, box);
    grout_emit__begin(e);
    grout_emit__add(e, "%s(", name);
    grout_emit__box_map(e, box);
    if (box->has_smem) {
        grout_emit__add(e, ", ");
        grout_emit__box_smem(e, box);
    }
    grout_emit__box_coordinates(e, box);
    grout_emit__end(e, ");");
    grout_emit__close_box(e, box);
}

/* ---- bulk copies ---- */

/* ", array, bytes of the start": where a bulk copy begins in GMEM. */
static void add_bulk_start(grout_emitter *e, const grout_emit_box *box) {
    const grout_view *view = &box->array;
    const char *join = ", ";
    int64_t constant = 0;
    grout_emit__add(e, ", %s", grout_emit__name(e, view->base));
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        const int64_t stride = box->tma.object_strides[dim];
        constant += view->start_term_count[dim] == 0 ? view->start_const[dim] * stride : 0;
        if (view->start_term_count[dim] > 0) {
            grout_emit__add(e, "%s(grout_i64)(", join);
            grout_emit__start(e, view, dim);
            grout_emit__add(e, ") * %" PRId64, stride);
            join = " + ";
        }
    }
    if (constant != 0 || *join == ',') {
        grout_emit__add(e, "%s%" PRId64 "ll", join, constant);
    }
    FIELD_END(e, COPY_START);
}

/* The bytes of a run, as the instruction has them. */
static uint32_t get_bulk_bytes(const grout_tma *tma) {
    return (uint32_t)FIELD(COPY_BYTES, tma->box_bytes);
}

static void store_bulk(grout_emitter *e, const grout_emit_box *box) {
    grout_emit__begin(e);
    grout_emit__add(e, "grout_bulk_store(");
    grout_emit__smem_start(e, &box->smem);
    FIELD_END(e, COPY_SMEM);
    add_bulk_start(e, box);
    grout_emit__end(e, ", %" PRIu32 ");", get_bulk_bytes(&box->tma));
}

/* ---- loads ---- */

/* What a load is made of; the box is that of one part. */
typedef struct tma_load {
    grout_emit_box box;
    grout_view barrier;
    const grout_gpu_barrier *entry;
    uint32_t axes; /* along which the CTAs lie that get the data */
    bool is_led;   /* the bytes count on the barrier of the CTA that leads the pair */
    bool is_dealt; /* each CTA keeps its part */
} tma_load;

static bool is_multicast(const tma_load *load) {
    return load->axes != 0 && !load->is_dealt;
}

/* "const grout_i32 x3 = row + (grout_i32)(rank % 2u) * 32;": where this CTA's part of a view
 * starts in the dimension that is dealt out. */
static void start_part(grout_emitter *e, const tma_load *load, grout_view *view, uint32_t which) {
    const grout_tma *tma = &load->box.tma;
    GROUT_ASSERT(tma->part_dim < view->view_rank);
    const uint32_t dim = view->view_dim[tma->part_dim];
    const uint32_t number = e->temp_count++;
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_i32 x%" PRIu32 " = ", number);
    if (view->start_term_count[dim] > 0 || view->start_const[dim] != 0) {
        grout_emit__start(e, view, dim);
        grout_emit__add(e, " + ");
    }
    grout_emit__add(e, "(grout_i32)(");
    grout_emit__group_index(e, load->axes);
    FIELD_END(e, COPY_PART);
    grout_emit__end(e, ") * %" PRId64 ";", tma->part_elements);
    view->start_const[dim] = 0;
    view->start_term_count[dim] = 1;
    view->start_terms[dim][0] = grout_emit__make_start(e, which, number);
    view->extent[dim] = tma->part_elements;
    if (dim + 1u == view->rank) {
        view->packed = 1; /* the start counts as extents do */
    }
}

/* One arrival, which waits for all bytes that come to this CTA. */
static void arm_barrier(grout_emitter *e, const tma_load *load) {
    const grout_tma *tma = &load->box.tma;
    /* Copies to both CTAs: what comes to the other one counts here, too. */
    const uint32_t ctas = load->is_led && !load->is_dealt ? GROUT_PAIR : 1;
    const uint32_t groups = tma->row_groups > 0 ? tma->row_groups : 1;
    const uint32_t size = grout_gpu__plan_get_arrival_size(load->entry);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_mbarrier_arrive_expect");
    grout_emit__arming_order(e, load->entry);
    grout_emit__add(e, "(");
    grout_emit__barrier_address(e, &load->barrier);
    grout_emit__add(e, ", %" PRId64,
                    FIELD(MBARRIER_BYTES, (int64_t)ctas * tma->box_bytes * tma->panel_count *
                                              groups * tma->band_count * tma->part_count));
    if (size != 1) {
        grout_emit__add(e, ", %" PRIu32, size);
    }
    grout_emit__end(e, ");");
}

/* Where elements may lie outside the array, only what lies inside is read. */
static void load_bulk(grout_emitter *e, const tma_load *load) {
    const grout_tma *tma = &load->box.tma;
    const bool is_clipped = tma->oob != GROUT_CHOICE_OOB_IN_BOUNDS;
    GROUT_ASSERT(!is_clipped || load->axes == 0);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_bulk_load%s(",
                    is_clipped        ? "_clipped"
                    : load->axes != 0 ? "_multicast"
                                      : "");
    grout_emit__smem_start(e, &load->box.smem);
    FIELD_END(e, COPY_SMEM);
    add_bulk_start(e, &load->box);
    grout_emit__add(e, ", %" PRIu32 ", ", get_bulk_bytes(tma));
    if (is_clipped) {
        grout_emit__add(e, "%" PRId64 "ll, ", FIELD(COPY_ARRAY_BYTES, tma->array_bytes));
    }
    grout_emit__barrier_address(e, &load->barrier);
    if (load->axes != 0) {
        grout_emit__add(e, ", ");
        grout_emit__group_mask(e, load->axes);
    }
    grout_emit__end(e, ");");
}

/* ", r, s": the offsets of a copy in im2col mode, that of w first. */
static void add_offsets(grout_emitter *e, const grout_op *op, uint32_t count) {
    for (uint32_t k = 3 + count; k-- > 3;) {
        grout_emit__add(e, ", ");
        grout_emit__operand(e, grout_module_get_operand(e->module, op, k), NULL);
        FIELD_END(e, COPY_OFFSET);
    }
}

static void load_boxes(grout_emitter *e, const tma_load *load) {
    const grout_op *op = grout_module_get_op(e->module, load->box.id);
    const uint32_t spatial_count = load->box.tma.spatial_count;
    const bool is_rows = load->box.tma.row_groups > 0;
    grout_emit__open_box(e, &load->box);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_tma_%s%s%s%s(", is_rows ? "gather" : "load",
                    spatial_count > 0 ? "_im2col" : "", load->is_led ? "_pair" : "",
                    is_multicast(load) ? "_multicast" : "");
    grout_emit__box_smem(e, &load->box);
    grout_emit__add(e, ", ");
    grout_emit__box_map(e, &load->box);
    grout_emit__add(e, ", ");
    if (load->is_led) {
        grout_emit__leader_address(e, &load->barrier);
    } else {
        grout_emit__barrier_address(e, &load->barrier);
    }
    if (is_multicast(load)) {
        grout_emit__add(e, ", ");
        grout_emit__group_mask(e, load->axes);
    }
    grout_emit__box_coordinates(e, &load->box);
    add_offsets(e, op, spatial_count);
    if (is_rows) {
        add_rows(e, &load->box, get_rows(e, op));
    }
    grout_emit__end(e, ");");
    grout_emit__close_box(e, &load->box);
}

static bool describe_load(grout_emitter *e, grout_op_id id, const grout_op *op, tma_load *load) {
    const uint32_t axes = grout_op_get_axes(e->module, op, GROUT_ATTR_COLLECTIVE_AXES) |
                          grout_op_get_axes(e->module, op, GROUT_ATTR_MULTICAST);
    load->entry = grout_emit__find_barrier(e, op, &load->barrier);
    /* Axes of a single place do not make it several CTAs. */
    if (grout_kernel_get_cluster_mask(e->module, e->kernel_id, axes, 0) != 1u) {
        load->axes = axes;
    }
    if (load->entry == NULL || !grout_emit__find_box(e, id, op, &load->box)) {
        return false;
    }
    load->is_dealt = grout_module_find_attr(e->module, op, GROUT_ATTR_PARTITIONED) != NULL;
    load->is_led = grout_module_find_attr(e->module, op, GROUT_ATTR_LEADER_TRACKED) != NULL ||
                   grout_emit__is_of_pair(e, load->entry);
    if (load->is_led && (load->box.tma.is_bulk || load->box.tma.spatial_count > 0)) {
        grout_emit__unsupported(e, op,
                                "only copies of boxes by a tensor map count on the barrier of the "
                                "CTA that leads a pair, and this is %s",
                                load->box.tma.is_bulk ? "one of a run of bytes" : "of im2col");
        return false;
    }
    return true;
}

void grout_emit__copy_gmem_to_smem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    tma_load load = {0};
    if (!describe_load(e, id, op, &load)) {
        return;
    }
    grout_emit__before_issue(e, "all lanes are done with the bytes");
    if (!load.entry->is_explicit) {
        grout_emit__seal_tensor(e, load.entry);
    }
    grout_emit__open_issuer(e);
    if (load.box.tma.part_count > 1) {
        start_part(e, &load, &load.box.array, 0);
        if (!load.is_dealt) {
            start_part(e, &load, &load.box.smem, 1);
        }
    }
    if (!load.entry->is_explicit && load.is_led) {
        grout_emit__open_leader(e);
        arm_barrier(e, &load);
        grout_emit__close(e, "");
    } else if (!load.entry->is_explicit) {
        arm_barrier(e, &load);
    }
    if (load.box.tma.is_bulk) {
        load_bulk(e, &load);
    } else {
        load_boxes(e, &load);
    }
    grout_emit__close_issuer(e);
}

void grout_emit__tma_gather(grout_emitter *e, grout_op_id id, const grout_op *op) {
    share_rows(e, id, get_rows(e, op));
    grout_emit__copy_gmem_to_smem(e, id, op);
    end_rows(e, get_rows(e, op));
}

void grout_emit__copy_gmem_to_smem_im2col(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__copy_gmem_to_smem(e, id, op);
}

/* ---- stores ---- */

static void close_group(grout_emitter *e, const grout_op *op) {
    if (grout_module_find_attr(e->module, op, GROUT_ATTR_NO_COMMIT_GROUP) == NULL) {
        grout_emit__line(e, "grout_bulk_commit();");
    }
}

void grout_emit__copy_smem_to_gmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_choice reduce = grout_op_get_choice(e->module, op, GROUT_ATTR_REDUCE);
    grout_emit_box box;
    char name[32];
    if (!grout_emit__find_box(e, id, op, &box)) {
        return;
    }
    (void)snprintf(name, sizeof name, "grout_tma_%s",
                   reduce == GROUT_CHOICE_NONE ? "store" : grout_choice_get_info(reduce)->text);
    grout_emit__before_issue(e, "all lanes have written the source");
    grout_emit__open_issuer(e);
    if (box.tma.is_bulk) {
        store_bulk(e, &box);
    } else {
        grout_emit__box_call(e, &box, name);
    }
    close_group(e, op);
    grout_emit__close_issuer(e);
}

static void store_rows(grout_emitter *e, const grout_emit_box *box, const grout_operand *rows) {
    grout_emit__open_box(e, box);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_tma_scatter(");
    grout_emit__box_map(e, box);
    grout_emit__add(e, ", ");
    grout_emit__box_smem(e, box);
    grout_emit__box_coordinates(e, box);
    add_rows(e, box, rows);
    grout_emit__end(e, ");");
    grout_emit__close_box(e, box);
}

void grout_emit__tma_scatter(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_operand *rows = get_rows(e, op);
    grout_emit_box box;
    if (!grout_emit__find_box(e, id, op, &box)) {
        return;
    }
    share_rows(e, id, rows);
    grout_emit__before_issue(e, "all lanes have written the source");
    grout_emit__open_issuer(e);
    store_rows(e, &box, rows);
    close_group(e, op);
    grout_emit__close_issuer(e);
    end_rows(e, rows);
}

void grout_emit__async_prefetch(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit_box box;
    if (grout_emit__find_box(e, id, op, &box)) {
        grout_emit__open_issuer(e);
        grout_emit__box_call(e, &box, "grout_tma_prefetch");
        grout_emit__close_issuer(e);
    }
}
