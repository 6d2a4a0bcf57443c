/* emit_async_copy.c - cp.async and its groups: each lane copies pieces of 16, 8 or 4 bytes, dealt
 * out as in the strided layout, and waits for its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "grout-internal/verify.h"

#include <inttypes.h>

#define PIECE_BYTES_MIN 4

/* Elements of the largest piece that is contiguous and aligned in both; 0: there is none. What is
 * known of the values of starts may make it wider, that they are multiples of 4 bytes has to be so.
 */
/* Elements of a piece, or bytes of packed ones. */
static uint32_t get_width(const grout_emitter *e, grout_op_id id, const grout_view *source,
                          const grout_view *destination, uint32_t bytes) {
    const uint32_t from = grout_view_get_access_width(e->module, source) / source->packed;
    const uint32_t to = grout_view_get_access_width(e->module, destination) / source->packed;
    const uint32_t most = GROUT_WIDE_BYTES_MAX / bytes;
    const uint32_t sure = grout_get_piece_bytes(e->module, id) / bytes;
    uint32_t width = from < to ? from : to;
    width = width < most ? width : most;
    width = width < sure ? sure : width;
    return width * bytes < PIECE_BYTES_MIN ? 0 : width;
}

grout_register_layout grout_emit__deal_out(const grout_emitter *e, int64_t count, uint32_t width) {
    const int64_t round = (int64_t)e->warps * GROUT_WARP_LANES * width;
    return (grout_register_layout){.kind = GROUT_LAYOUT_STRIDED,
                                   .vec = (uint8_t)width,
                                   .is_guarded = count % round != 0,
                                   .warps = (uint8_t)e->warps,
                                   .registers = (uint32_t)((count + round - 1) / round * width),
                                   .count = count,
                                   .rows = 1,
                                   .cols = 1};
}

/* "grout_async_copy<16>(" */
static void add_copy(grout_emitter *e, uint32_t bytes) {
    const int64_t power = FIELD(PIECE_BYTES, __builtin_ctz(bytes | 1u << 31));
    grout_emit__add(e, "grout_async_copy<%" PRIu32 ">(", UINT32_C(1) << power);
}

/* The pieces of one lane. */
static void write_pieces(grout_emitter *e, const grout_view *source, const grout_view *destination,
                         const grout_register_layout *layout, uint32_t bytes) {
    const grout_emit_at at = grout_emit__get_at(layout);
    const uint32_t from = e->temp_count++;
    grout_emit__open_registers(e, layout->registers, layout->vec);
    grout_emit__open_element(e, layout, layout->vec);
    grout_emit__prepare_address(e, source, at);
    grout_emit__begin(e);
    grout_emit__add(e, "const void *const x%" PRIu32 " = ", from);
    grout_emit__address(e, source, at);
    FIELD_END(e, PIECE_GMEM);
    grout_emit__end(e, ";");
    grout_emit__prepare_address(e, destination, at);
    grout_emit__begin(e);
    add_copy(e, layout->vec * bytes / source->packed);
    grout_emit__address(e, destination, at);
    FIELD_END(e, PIECE_SMEM);
    grout_emit__end(e, ", x%" PRIu32 ");", from);
    grout_emit__close_registers(e, layout);
}

void grout_emit__async_copy(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view source, destination;
    if (!grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), &source) ||
        !grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 1),
                               &destination)) {
        grout_emit__unsupported(e, op, "an operand is not a reference to memory");
        return;
    }
    const grout_dtype dtype = (grout_dtype)grout_object_get_type(e->module, source.object)->dtype;
    const uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    const uint32_t width = get_width(e, id, &source, &destination, bytes);
    if (width == 0) {
        grout_emit__unsupported(e, op,
                                "cp.async copies 4, 8 or 16 bytes at a time; this box does not lie "
                                "in such pieces, aligned, on both sides");
        return;
    }
    const grout_register_layout layout =
        grout_emit__deal_out(e, grout_emit__count_elements(&source), width * source.packed);
    grout_emit__before_access(e, source.object, false);
    grout_emit__before_access(e, destination.object, true);
    write_pieces(e, &source, &destination, &layout, bytes);
}

/* The piece at a place, or zeros: the bytes of its source are then none, and it is not read. */
static void copy_place(grout_emitter *e, const grout_emit_pick *p, const grout_view *at) {
    const uint32_t bytes = grout_dtype_get_info((grout_dtype)p->pick.type.dtype)->bytes;
    const grout_emit_at place =
        p->layout == NULL ? GROUT_EMIT_AT_FIRST : grout_emit__get_at(p->layout);
    const uint32_t from = e->temp_count++;
    grout_view to;
    (void)grout_module_get_view(
        e->module, grout_module_get_operand(e->module, p->op, p->pick.destination), &to);
    grout_emit__begin(e);
    grout_emit__add(e, "const void *const x%" PRIu32 " = ", from);
    grout_emit__address(e, at, GROUT_EMIT_AT_FIRST);
    FIELD_END(e, PIECE_GMEM);
    grout_emit__end(e, ";");
    grout_emit__prepare_address(e, &to, place);
    grout_emit__begin(e);
    add_copy(e, p->width * bytes);
    grout_emit__address(e, &to, place);
    FIELD_END(e, PIECE_SMEM);
    grout_emit__add(e, ", x%" PRIu32, from);
    if (p->pick.mask != 0) {
        grout_emit__add(e, ", ");
        grout_emit__touched(e, p);
    }
    grout_emit__end(e, ");");
}

static void copy_picks(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view destination;
    if (!grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 1),
                               &destination)) {
        grout_emit__unsupported(e, op, "an operand is not a reference to memory");
        return;
    }
    grout_emit__before_access(e, destination.object, true);
    grout_emit__write_picks(e, id, op, GROUT_WIDE_BYTES_MAX, copy_place);
}

void grout_emit__async_masked_copy(grout_emitter *e, grout_op_id id, const grout_op *op) {
    copy_picks(e, id, op);
}

void grout_emit__async_gather(grout_emitter *e, grout_op_id id, const grout_op *op) {
    copy_picks(e, id, op);
}

void grout_emit__async_copy_commit_group(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    (void)op;
    grout_emit__line(e, "grout_async_copy_commit();");
}

void grout_emit__async_copy_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__line(e, "grout_async_copy_wait<%" PRId64 ">();",
                     FIELD(PIECE_PENDING, grout_emit__get_integer(e, op, 0)));
    grout_emit__thread_barrier(e, "all lanes' copies are done");
}

/* Each lane arrives, when its copies are done: a barrier of such arrivals counts lanes. Where other
 * threads arrive, too, no warp may be a phase ahead of another. cp.async.mbarrier.arrive releases
 * copies alone (PTX ISA 9.1, 'cp.async.mbarrier.arrive'): unless it is relaxed, each lane arrives
 * for what else it has done, too. */
void grout_emit__async_copy_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view barrier;
    (void)id;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    if (entry->arrivals > GROUT_GPU_LANE_ARRIVALS_MAX / GROUT_LANES) {
        grout_emit__unsupported(e, op,
                                "cp.async arrives once for each of 128 lanes: a barrier of %" PRIu32
                                " arrivals would count to more than %u",
                                entry->arrivals, GROUT_GPU_LANE_ARRIVALS_MAX);
        return;
    }
    if (entry->is_explicit || entry->arrivals > 1) {
        grout_emit__thread_barrier(e, "no warp is a phase ahead");
    }
    grout_emit__begin(e);
    grout_emit__add(e, "grout_async_copy_arrive");
    grout_emit__copies_order(e, op, entry);
    grout_emit__add(e, "(");
    grout_emit__barrier_address(e, &barrier);
    if (e->warps < GROUT_GPU_WARPS) { /* for the lanes that the thread does not have, too */
        grout_emit__add(e, ", %" PRIu32, GROUT_GPU_WARPS / e->warps);
    }
    grout_emit__end(e, ");");
}
