/* emit_copy.c - TMA copies: boxes, parts, to one CTA or several of the cluster.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

/* ---- boxes ---- */

static bool get_view(grout_emitter *e, const grout_op *op, uint32_t index, grout_view *view_out) {
    if (grout_module_get_view(e->module, grout_module_get_operand(e->module, op, index),
                              view_out)) {
        return true;
    }
    grout_emit__unsupported(e, op, "operand %" PRIu32 " is no reference to memory", index + 1);
    return false;
}

/* ", col, row": where the box of an instruction starts in the GMEM array, fastest dimension first.
 */
static void add_coordinates(grout_emitter *e, const grout_view *view, const grout_tma *tma) {
    for (uint32_t k = 0; k < tma->rank; k++) {
        const uint32_t dim = tma->object_dim[k];
        const bool has_panel = k == 0 && tma->panel_count > 1;
        const bool has_band = k == tma->band_dim && tma->band_count > 1;
        const bool is_zero = view->start_term_count[dim] == 0 && view->start_const[dim] == 0;
        const char *join = "";
        grout_emit__add(e, ", ");
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
}

static void add_map_name(grout_emitter *e, grout_op_id id) {
    const grout_gpu_map *map = &e->plan->maps[e->plan->map_of_op[id] - 1];
    grout_emit__add(e, "%s", grout_gpu__get_map_name(e->module, map).text);
}

static void open_loop(grout_emitter *e, const char *name, uint32_t count) {
    if (count > 1) {
        grout_emit__begin(e);
        grout_emit__add(e, "for (grout_i32 %s = 0; %s < %" PRIu32 "; %s++)", name, name, count,
                        name);
        grout_emit__open(e);
    }
}

/* A layout in tiles takes an instruction for each panel and band. */
static void open_instructions(grout_emitter *e, const grout_tma *tma) {
    open_loop(e, "band", tma->band_count);
    open_loop(e, "panel", tma->panel_count);
}

static void close_instructions(grout_emitter *e, const grout_tma *tma) {
    if (tma->panel_count > 1) {
        grout_emit__close(e, "");
    }
    if (tma->band_count > 1) {
        grout_emit__close(e, "");
    }
}

static void add_box_smem(grout_emitter *e, const grout_view *view, const grout_tma *tma) {
    grout_emit__smem_start(e, view);
    if (tma->band_count > 1) {
        grout_emit__add(e, " + band * %" PRId64 "u", tma->band_bytes);
    }
    if (tma->panel_count > 1) {
        grout_emit__add(e, " + panel * %" PRId64 "u", tma->panel_bytes);
    }
}

/* ---- loads ---- */

/* What a load is made of; the views are those of one part. */
typedef struct tma_load {
    grout_op_id id;
    const grout_op *op;
    grout_view source, destination, barrier;
    const grout_gpu_barrier *entry;
    grout_tma tma;
    uint32_t axes; /* along which the CTAs lie that get the data */
} tma_load;

/* "const grout_i32 x3 = row + (grout_i32)(rank % 2u) * 32;": where this CTA's part of a view
 * starts in the dimension that is dealt out. */
static void start_part(grout_emitter *e, const tma_load *load, grout_view *view, uint32_t which) {
    const uint32_t dim = view->view_dim[load->tma.part_dim];
    const uint32_t number = e->temp_count++;
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_i32 x%" PRIu32 " = ", number);
    if (view->start_term_count[dim] > 0 || view->start_const[dim] != 0) {
        grout_emit__start(e, view, dim);
        grout_emit__add(e, " + ");
    }
    grout_emit__add(e, "(grout_i32)(");
    grout_emit__group_index(e, load->axes);
    grout_emit__end(e, ") * %" PRId64 ";", load->tma.part_elements);
    view->start_const[dim] = 0;
    view->start_term_count[dim] = 1;
    view->start_terms[dim][0] = grout_emit__make_start(e, which, number);
    view->extent[dim] = load->tma.part_elements;
}

/* One arrival, which waits for all bytes that come to this CTA. */
static void arm_barrier(grout_emitter *e, const tma_load *load) {
    const grout_tma *tma = &load->tma;
    const uint32_t size = grout_gpu__plan_get_arrival_size(load->entry);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_mbarrier_arrive_expect%s(",
                    load->entry->is_cluster_scope ? "<GROUT_RELEASE, GROUT_CLUSTER>" : "");
    grout_emit__barrier_address(e, &load->barrier);
    grout_emit__add(e, ", %" PRIu32,
                    tma->box_bytes * tma->panel_count * tma->band_count * tma->part_count);
    if (size != 1) {
        grout_emit__add(e, ", %" PRIu32, size);
    }
    grout_emit__end(e, ");");
}

static void load_boxes(grout_emitter *e, const tma_load *load) {
    const bool is_multicast = load->axes != 0;
    open_instructions(e, &load->tma);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_tma_load%s(", is_multicast ? "_multicast" : "");
    add_box_smem(e, &load->destination, &load->tma);
    grout_emit__add(e, ", ");
    add_map_name(e, load->id);
    grout_emit__add(e, ", ");
    grout_emit__barrier_address(e, &load->barrier);
    if (is_multicast) {
        grout_emit__add(e, ", ");
        grout_emit__group_mask(e, load->axes);
    }
    add_coordinates(e, &load->source, &load->tma);
    grout_emit__end(e, ");");
    close_instructions(e, &load->tma);
}

static bool describe_load(grout_emitter *e, tma_load *load) {
    const uint32_t collective = grout_op_get_axes(e->module, load->op, GROUT_ATTR_COLLECTIVE_AXES);
    const uint32_t multicast = grout_op_get_axes(e->module, load->op, GROUT_ATTR_MULTICAST);
    const uint32_t axes = collective | multicast;
    if (!get_view(e, load->op, 0, &load->source) || !get_view(e, load->op, 1, &load->destination) ||
        !get_view(e, load->op, 2, &load->barrier)) {
        return false;
    }
    const uint32_t number = grout_gpu__plan_find_barrier(e->plan, load->barrier.object);
    if (number == UINT32_MAX) {
        grout_emit__unsupported(e, load->op, "the third operand is no barrier");
        return false;
    }
    load->entry = &e->plan->barriers[number];
    /* Axes of a single place do not make it several CTAs. */
    if (grout_kernel_get_cluster_mask(e->module, e->kernel_id, axes, 0) != 1u) {
        load->axes = axes;
    }
    return grout_tma_plan(e->module, load->id, &load->tma, e->diags);
}

void grout_emit__copy_gmem_to_smem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    tma_load load = {.id = id, .op = op};
    if (!describe_load(e, &load)) {
        e->failed = true;
        return;
    }
    grout_emit__before_issue(e, "all lanes are done with the bytes");
    grout_emit__open_issuer(e);
    if (load.tma.part_count > 1) {
        start_part(e, &load, &load.source, 0);
        start_part(e, &load, &load.destination, 1);
    }
    if (!load.entry->is_explicit) {
        arm_barrier(e, &load);
    }
    load_boxes(e, &load);
    grout_emit__close_issuer(e);
}

/* ---- stores ---- */

void grout_emit__copy_smem_to_gmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_choice reduce = grout_op_get_choice(e->module, op, GROUT_ATTR_REDUCE);
    grout_view source, destination;
    grout_tma tma;
    if (!get_view(e, op, 0, &source) || !get_view(e, op, 1, &destination) ||
        !grout_tma_plan(e->module, id, &tma, e->diags)) {
        e->failed = true;
        return;
    }
    grout_emit__before_issue(e, "all lanes have written the source");
    grout_emit__open_issuer(e);
    open_instructions(e, &tma);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_tma_%s(",
                    reduce == GROUT_CHOICE_NONE ? "store" : grout_choice_get_info(reduce)->text);
    add_map_name(e, id);
    grout_emit__add(e, ", ");
    add_box_smem(e, &source, &tma);
    add_coordinates(e, &destination, &tma);
    grout_emit__end(e, ");");
    close_instructions(e, &tma);
    if (grout_module_find_attr(e->module, op, GROUT_ATTR_NO_COMMIT_GROUP) == NULL) {
        grout_emit__line(e, "grout_bulk_commit();");
    }
    grout_emit__close_issuer(e);
}

/* The descriptor is the plan's map; what indexes it is the copy. */
void grout_emit__tensor_descriptor(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)e;
    (void)id;
    (void)op;
}
