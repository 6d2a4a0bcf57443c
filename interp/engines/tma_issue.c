/*
 * tma_issue.c - TMA copies at their issue: what the engine refuses, which events are published,
 * what is marked as written. Nothing here depends on when the copy takes effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cluster.h"
#include "tma.h"

#include "access.h"

#include "barrier.h"
#include "capture.h"
#include "collective.h"
#include "engine.h"
#include "im2col.h"
#include "mbarrier.h"
#include "move.h"
#include "pair.h"
#include "rounds.h"
#include "tensor_map.h"
#include "tma_rows.h"
#include "undo.h"

#include <string.h>

#define ALIGNMENT      16  /* of the innermost start: docs/hardware.md 2.2 */
#define SMEM_ALIGNMENT 128 /* of the box in SMEM: docs/hardware.md 1.2 */

/* ---- refusals -----------------------------------------------------------------------------------
 */

/* The start as the copy's operand says it: through a made descriptor, in its part. */
static int64_t get_relative_start(const grout_box *box, uint32_t dim) {
    return box->start[dim] - (box->plan->first_limit != 0 ? box->limits.first[dim] : 0);
}

static bool refuse(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                   const grout_box *box, grout_fault fault) {
    fault.object = box->plan->object;
    fault.start = get_relative_start(box, fault.dimension);
    fault.extent = box->plan->extent[fault.dimension];
    grout_box__count_elements(box, &fault);
    grout_cta__fault(cta, thread, inst, box->plan->operand, &fault);
    return true;
}

/* The innermost dimension whose start is not a multiple of 16 bytes of the array, if the whole is
 * not; false: it is one. Dimension 0 of an array without any never starts elsewhere. */
static bool find_misaligned(const grout_inst *inst, const grout_box *box, uint32_t *dim_out) {
    int64_t stride = box->plan->element_bytes, start = 0;
    uint32_t last = inst->u.copy.is_bulk ? 0 : box->plan->rank - 1u;
    *dim_out = UINT32_MAX;
    for (uint32_t dim = box->plan->rank; dim-- > last;) {
        const int64_t bytes = box->start[dim] * stride;
        if (bytes % ALIGNMENT != 0 && *dim_out == UINT32_MAX) {
            *dim_out = dim;
        }
        start += bytes;
        stride *= box->plan->dims[dim];
    }
    return start % ALIGNMENT != 0;
}

/* Whether the box leaves the array where it may not: with a promise anywhere, and in a dimension
 * that is part of one of the map, where an index outside is another element. */
static bool find_outside(const grout_inst *inst, const grout_box *box, grout_fault *fault_out) {
    const bool is_promised = inst->u.copy.oob == GROUT_CHOICE_OOB_IN_BOUNDS;
    for (uint32_t dim = 0; dim < box->plan->rank && !box->is_inside; dim++) {
        const int64_t start = box->start[dim], limit = box->plan->dims[dim];
        const bool is_folded = (inst->u.copy.folded >> dim & 1u) != 0;
        if ((start < 0 || start + box->plan->extent[dim] > limit) && (is_promised || is_folded)) {
            *fault_out =
                (grout_fault){.code = GROUT_DIAG_OUT_OF_BOUNDS,
                              .dimension = dim,
                              .limit = limit,
                              .use = is_promised ? GROUT_OUTSIDE_PROMISED : GROUT_OUTSIDE_FOLDED};
            return true;
        }
    }
    return false;
}

/* A store whose box leaves the array, or the part of a made descriptor, where that ends between 16
 * bytes: TMA writes whole 16 bytes, and with them what lies after it (docs/hardware.md 2.2). */
static bool find_cut_granule(const grout_box *box, grout_fault *fault_out) {
    const uint32_t inner = box->plan->rank - 1u;
    const bool is_part = box->plan->first_limit != 0;
    const int64_t size =
        is_part ? box->limits.end[inner] - box->limits.first[inner] : box->plan->dims[inner];
    const int64_t end = get_relative_start(box, inner) + box->plan->extent[inner];
    *fault_out = (grout_fault){.code = GROUT_DIAG_OUT_OF_BOUNDS,
                               .dimension = inner,
                               .limit = size,
                               .use = GROUT_OUTSIDE_GRANULE};
    return end > size && size * box->plan->element_bytes % ALIGNMENT != 0;
}

static bool check_gmem(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                       const grout_box *box, bool is_store) {
    uint32_t inner = box->plan->rank - 1u, dim;
    if (box->plan->rank == 0) {
        return false;
    }
    grout_fault outside;
    if (find_outside(inst, box, &outside)) {
        return refuse(cta, thread, inst, box, outside);
    }
    /* Stores are clipped at the end alone. */
    for (dim = 0; is_store && dim <= inner; dim++) {
        if (get_relative_start(box, dim) < 0) {
            grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                                 .dimension = dim,
                                 .limit = box->plan->dims[dim],
                                 .use = GROUT_OUTSIDE_NEGATIVE};
            return refuse(cta, thread, inst, box, fault);
        }
    }
    if (inst->u.copy.is_unplanned) {
        return false;
    }
    if (is_store && find_cut_granule(box, &outside)) {
        return refuse(cta, thread, inst, box, outside);
    }
    if (find_misaligned(inst, box, &dim)) {
        grout_fault fault = {.code = GROUT_DIAG_MISALIGNED, .dimension = dim, .limit = ALIGNMENT};
        return refuse(cta, thread, inst, box, fault);
    }
    return false;
}

static bool check_smem(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                       const grout_box *box) {
    if (!box->is_inside) {
        grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                             .dimension = box->outside,
                             .limit = box->plan->dims[box->outside]};
        return refuse(cta, thread, inst, box, fault);
    }
    for (uint32_t dim = 0; dim < box->plan->rank; dim++) {
        if (box->start[dim] % box->plan->tile[dim] != 0) {
            grout_fault fault = {.code = GROUT_DIAG_MISALIGNED,
                                 .dimension = dim,
                                 .limit = box->plan->tile[dim] * box->plan->element_bytes};
            return refuse(cta, thread, inst, box, fault);
        }
    }
    const int64_t alignment = inst->u.copy.is_bulk ? ALIGNMENT : SMEM_ALIGNMENT;
    if (!inst->u.copy.is_unplanned && box->is_shaped && box->offset % alignment != 0) {
        uint32_t dim = 0;
        while (box->start[dim] == box->plan->home[dim] || box->plan->weight[dim] % alignment == 0) {
            dim++;
        }
        grout_fault fault = {.code = GROUT_DIAG_MISALIGNED, .dimension = dim, .limit = alignment};
        return refuse(cta, thread, inst, box, fault);
    }
    return false;
}

/* The rows of a copy that moves such. */
static bool refuses_rows(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                         const grout_box *array, bool is_store) {
    if (!grout_tma_rows__is_mode_of(inst)) {
        return false;
    }
    const grout_tma_rows rows = grout_tma_rows__begin(cta, thread, inst, array);
    return grout_tma_rows__refuses(&rows, thread, is_store);
}

/* ---- loads
 * ---------------------------------------------------------------------------------------- */

/* A load at its issue, and the CTAs that it goes to. */
typedef struct load_issue {
    const grout_inst *inst;
    uint32_t thread;
    grout_box boxes[2]; /* of the own CTA; from is the own part's */
    uint32_t element;
    uint32_t mask, set;                 /* ranks that it goes to; those that issue it together */
    uint32_t phases[GROUT_CLUSTER_MAX]; /* by rank: where its bytes count, over all lives */
    uint32_t part, parts;
    int64_t bytes, all_bytes; /* that it brings to each CTA, and that all who issue it bring */
    bool is_void, is_explicit;
    bool is_led; /* bytes for both CTAs of a pair count on the barrier of the one that leads */
} load_issue;

/* The CTA on whose barrier the bytes for another one count. */
static uint32_t get_owner(const load_issue *load, uint32_t rank) {
    return load->is_led ? grout_pair_leader(rank) : rank;
}

/* Whether it makes an arrival: on a barrier, once for all whose bytes that counts. */
static bool has_arrival(const grout_cta *cta, const load_issue *load) {
    return !load->is_explicit && get_owner(load, cta->rank) == cta->rank;
}

static grout_box get_destination(const grout_cta *cta, const load_issue *load, uint32_t rank) {
    grout_box to = load->boxes[1];
    if (rank != cta->rank) {
        grout_box__set_rank(cta, &to, rank);
    }
    if (load->parts > 0) {
        grout_box__cut(&to, (uint32_t)load->inst->u.copy.part_dim, load->part, load->parts);
    }
    return to;
}

/*
 * The CTA that does not lead a pair has no arrivals of its own to count phases by. It issues a copy
 * with each one that arrives there, at most as many for a phase as the phase has arrivals; what it
 * knows to be complete may say more.
 */
static void find_led_phase(const grout_cta *cta, load_issue *load) {
    const uint32_t arrivals = cta->machine->plan->elements[load->element].arrivals;
    const uint32_t count = grout_cluster__count_led(cta, load->inst, load->element);
    const uint32_t least = count / (arrivals == 0 ? 1 : arrivals);
    for (uint32_t rank = 0; rank < cta->machine->plan->shape.cta_count; rank++) {
        load->phases[rank] = load->phases[rank] < least ? least : load->phases[rank];
    }
}

/*
 * The phases that its bytes are for. Each CTA of the set counts the phases of its own barrier, so
 * there is one number for each: that of the copy's own arrival; that of the peer's copy that
 * belongs to this one; on an mbarrier, the first phase that the actor does not know to be complete.
 * False: the actor is blocked.
 */
static bool find_phases(const grout_cta *cta, load_issue *load) {
    const grout_inst *inst = load->inst;
    uint32_t number = 0;
    for (uint32_t rank = 0; rank < cta->machine->plan->shape.cta_count; rank++) {
        if ((load->mask >> rank & 1u) != 0) {
            load->phases[rank] = grout_barrier__find_unknown(cta, load->thread,
                                                             get_owner(load, rank), load->element);
        }
    }
    if (load->is_explicit) {
        return load->mask == 1u << cta->rank || load->is_led ||
               grout_rounds__find(cta, load->thread, load->element, load->mask, load->phases);
    }
    for (uint32_t rank = 0; has_arrival(cta, load) && rank < GROUT_CLUSTER_MAX; rank++) {
        if (get_owner(load, rank) == cta->rank) {
            load->phases[rank] = grout_cta__barrier(cta, load->element)->phase_base +
                                 grout_barrier__get_phase(cta, load->element);
        }
    }
    if (inst->u.copy.is_led && !has_arrival(cta, load)) {
        find_led_phase(cta, load);
    }
    if (inst->u.copy.is_collective) {
        const grout_collective_issue issue = {.element = load->element,
                                              .phase = load->phases[cta->rank],
                                              .mask = load->set,
                                              .boxes = load->boxes};
        number = grout_cluster__note_collective(cta, load->thread, inst, &issue);
        if (!load->is_led) {
            grout_cluster__find_phases(cta, inst, &issue, number, load->phases);
        }
    }
    return true;
}

/* Each CTA of a pair has its own part of the source, and keeps it. */
static void take_part(const grout_cta *cta, load_issue *load) {
    if (load->inst->u.copy.split_dim >= 0) {
        const uint32_t dim = (uint8_t)load->inst->u.copy.split_dim;
        grout_box__shift(cta, &load->boxes[0], dim,
                         (cta->rank % GROUT_PAIR) * load->boxes[0].plan->extent[dim]);
    }
}

static void set_parts(const grout_cta *cta, load_issue *load) {
    grout_machine *machine = cta->machine;
    const grout_inst *inst = load->inst;
    load->mask = load->set = 1u << cta->rank;
    load->bytes = load->all_bytes = load->boxes[1].plan->phase_bytes;
    if (inst->u.copy.axes == 0) {
        return;
    }
    load->set = grout_kernel_get_cluster_mask(machine->launch.module, machine->launch.kernel,
                                              inst->u.copy.axes, cta->rank);
    load->mask = inst->u.copy.split_dim >= 0 ? load->mask : load->set;
    for (uint32_t i = 0; inst->u.copy.part_dim >= 0 && i < machine->plan->shape.cta_count; i++) {
        load->parts += load->mask >> i & 1u;
        load->part += i < cta->rank ? load->mask >> i & 1u : 0;
    }
    if (load->parts > 0) {
        load->bytes /= load->parts;
    }
}

/* ISSUE, then the accesses: the source once, each destination. */
static void publish_load(const grout_cta *cta, const load_issue *load) {
    grout_machine *machine = cta->machine;
    const grout_inst *inst = load->inst;
    const grout_flight facts = {.phase = {.rank = get_owner(load, cta->rank),
                                          .element = load->element,
                                          .number = load->phases[cta->rank]}};
    grout_stamp stamps[2];
    grout_engine__stamps_tma_load(cta, &facts, &stamps[0], &stamps[1]);
    const grout_issue issue = {
        .bytes = load->boxes[1].plan->phase_bytes, .read = stamps[0], .write = stamps[1]};
    grout_flight__publish_issue(cta, load->thread, inst, &issue);
    if (load->is_void) {
        return;
    }
    grout_box boxes[2] = {load->boxes[0], load->boxes[1]};
    if (load->parts > 0) {
        grout_box__cut(&boxes[0], (uint32_t)inst->u.copy.part_dim, load->part, load->parts);
    }
    if (grout_im2col__is_mode_of(inst)) {
        grout_im2col__publish_reads(cta, load->thread, inst, boxes, stamps);
    } else if (grout_tma_rows__is_mode_of(inst)) {
        const grout_tma_rows rows = grout_tma_rows__begin(cta, load->thread, inst, &boxes[0]);
        grout_tma_rows__publish(&rows, load->thread, stamps);
    } else {
        grout_access__publish_some(cta, load->thread, inst, boxes, stamps, GROUT_PUBLISH_READS);
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        if ((load->mask >> rank & 1u) != 0) {
            uint32_t number = get_owner(load, rank) * machine->plan->element_count + load->element;
            stamps[0].component = stamps[1].component =
                grout_clock_phase(&machine->plan->shape, number);
            stamps[0].number = stamps[1].number = load->phases[rank] + 1;
            /* The bytes for each CTA go by the map: it may be read until all are there. */
            grout_tensor_map__publish_read(cta, load->thread, inst, &stamps[0]);
            boxes[1] = get_destination(cta, load, rank);
            grout_access__publish_some(cta, load->thread, inst, boxes, stamps,
                                       GROUT_PUBLISH_WRITES);
        }
    }
}

/* The destination becomes as defined as the source is now. */
static void define_destination(const grout_cta *cta, const load_issue *load,
                               const grout_box *boxes) {
    if (grout_im2col__is_mode_of(load->inst)) {
        grout_im2col__definedness(cta, load->inst, boxes);
    } else if (grout_tma_rows__is_mode_of(load->inst)) {
        const grout_tma_rows rows = grout_tma_rows__begin(cta, load->thread, load->inst, &boxes[0]);
        grout_tma_rows__define_smem(&rows, &boxes[1]);
    } else {
        grout_move__definedness(cta, load->thread, load->inst, boxes);
    }
}

/* What the issue does to one destination: definedness, and what engines and threads see meanwhile.
 * Returns the slot of the bytes that an older store may still win, plus 1, or 0. */
static uint32_t prepare_destination(const grout_cta *cta, const load_issue *load, grout_box *to) {
    grout_machine *machine = cta->machine;
    const grout_box boxes[2] = {load->boxes[0], *to};
    uint32_t spoilt = 0;
    if (machine->tracks && load->is_void) {
        grout_box__set_written(machine, to, NULL);
    } else if (machine->tracks) {
        define_destination(cta, load, boxes);
    }
    if (machine->is_lazy) {
        spoilt = load->is_void ? 0 : grout_capture__take(cta, load->thread, to, to->rank);
        grout_undo__note_load(cta, load->inst, 1, to);
    }
    if (machine->is_lazy || load->is_void) {
        grout_box__poison(machine, to);
    }
    return spoilt;
}

/* The record of the phase that the bytes for a CTA are in flight to. */
static uint32_t deliver(const grout_cta *cta, const load_issue *load, uint32_t rank) {
    const uint32_t owner = get_owner(load, rank);
    grout_delivery delivery = {.rank = owner,
                               .element = load->element,
                               .phase = load->phases[rank],
                               .bytes = load->bytes,
                               .is_told = load->is_explicit || owner != cta->rank};
    return grout_barrier__deliver(cta, load->thread, load->inst, &delivery);
}

static void send(const grout_cta *cta, const load_issue *load, uint32_t rank, uint32_t record,
                 uint32_t spoilt, bool is_part) {
    grout_box boxes[2] = {load->boxes[0], get_destination(cta, load, rank)};
    const grout_load sent = {.rank = rank,
                             .owner = get_owner(load, rank),
                             .element = load->element,
                             .record = record,
                             .phase = load->phases[rank],
                             .bytes = load->bytes,
                             .is_void = load->is_void,
                             .is_part = is_part,
                             .part = load->part,
                             .parts = load->parts,
                             .spoilt = spoilt};
    if (load->parts > 0) {
        grout_box__cut(&boxes[0], (uint32_t)load->inst->u.copy.part_dim, load->part, load->parts);
    }
    grout_tma__start_load(cta, load->thread, load->inst, boxes, &sent);
}

static void send_all(const grout_cta *cta, const load_issue *load) {
    grout_machine *machine = cta->machine;
    uint32_t spoilt[GROUT_CLUSTER_MAX] = {0}, own = cta->rank, record = 0;
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        if ((load->mask >> rank & 1u) != 0) {
            grout_box to = get_destination(cta, load, rank);
            spoilt[rank] = prepare_destination(cta, load, &to);
        }
    }
    if (has_arrival(cta, load)) {
        const grout_arrival arrival = {.rank = own,
                                       .element = load->element,
                                       .count = 1,
                                       .by_copy = true,
                                       .bytes = (load->is_led ? GROUT_PAIR : 1) * load->all_bytes,
                                       .flying = load->bytes};
        record = grout_barrier__arrive(cta, load->thread, load->inst, &arrival);
    } else {
        record = deliver(cta, load, own);
    }
    if (record != 0) {
        send(cta, load, own, record, spoilt[own], false);
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        if (rank != own && (load->mask >> rank & 1u) != 0) {
            record = deliver(cta, load, rank);
            if (record != 0) {
                send(cta, load, rank, record, spoilt[rank], true);
            }
        }
    }
}

bool grout_tma__issue_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    load_issue load = {.inst = inst,
                       .thread = thread,
                       .boxes = {grout_box__resolve(cta, thread, inst, 0),
                                 grout_box__resolve(cta, thread, inst, 1)}};
    if (!grout_barrier__find_element(cta, thread, inst, 2, &load.element)) {
        return true;
    }
    set_parts(cta, &load);
    load.is_led = inst->u.copy.is_led || grout_barrier__is_of_pair(cta, load.element);
    if (grout_mbarrier__awaits_init(cta, thread, load.element,
                                    grout_barrier__get_owners(cta, load.element, load.mask))) {
        return false;
    }
    load.is_explicit = machine->plan->elements[load.element].is_explicit;
    if (!find_phases(cta, &load)) {
        return false;
    }
    take_part(cta, &load);
    load.is_void = grout_tensor_map__is_void(cta, thread, inst, load.boxes[0].plan->operand);
    load.is_void = load.is_void || check_gmem(cta, thread, inst, &load.boxes[0], false);
    load.is_void |= check_smem(cta, thread, inst, &load.boxes[1]);
    load.is_void |=
        grout_im2col__is_mode_of(inst) && grout_im2col__refuses(cta, thread, inst, &load.boxes[0]);
    load.is_void |= refuses_rows(cta, thread, inst, &load.boxes[0], false);
    publish_load(cta, &load);
    send_all(cta, &load);
    if (machine->has_clocks && (load.is_explicit || load.is_led || load.mask != 1u << cta->rank)) {
        grout_cta__advance(cta, thread); /* its bytes carry the clock as of now */
    }
    return true;
}

/* ---- stores
 * --------------------------------------------------------------------------------------- */

void grout_tma__commit_group(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    uint32_t lane = grout_machine__lane_of(machine, thread);
    grout_lane *owner = grout_cta__lane(cta, lane);
    if (grout_machine__wants(machine, GROUT_EVENT_COMMIT_GROUP)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_COMMIT_GROUP, thread, inst, &clocks);
        event.u.group.lane = cta->lane_base + lane;
        event.u.group.number = owner->committed + 1;
        grout_machine__publish(machine, &event);
    }
    owner->committed++;
}

/* What the issue of a store of rows is to others: accesses, mistakes, definedness. */
static void publish_stored_rows(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_box *boxes, const grout_stamp *stamps) {
    const grout_tma_rows rows = grout_tma_rows__begin(cta, thread, inst, &boxes[1]);
    grout_access__publish_some(cta, thread, inst, boxes, stamps, GROUT_PUBLISH_READS);
    grout_tma_rows__publish(&rows, thread, stamps);
    grout_tma_rows__check_places(&rows, thread, &boxes[0]);
    if (cta->machine->tracks) {
        grout_tma_rows__define_rows(&rows, thread, &boxes[0]);
    }
}

void grout_tma__issue_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_box boxes[2] = {grout_box__resolve(cta, thread, inst, 0),
                          grout_box__resolve(cta, thread, inst, 1)};
    bool is_void = grout_tensor_map__is_void(cta, thread, inst, boxes[1].plan->operand);
    is_void = is_void || check_gmem(cta, thread, inst, &boxes[1], true);
    is_void |= check_smem(cta, thread, inst, &boxes[0]);
    is_void |= refuses_rows(cta, thread, inst, &boxes[1], true);
    uint32_t lane = grout_machine__lane_of(machine, thread);
    const grout_flight facts = {.owner = lane, .group = grout_cta__lane(cta, lane)->committed + 1};
    grout_stamp stamps[2];
    grout_engine__stamps_tma_store(cta, &facts, &stamps[0], &stamps[1]);
    const grout_issue issue = {
        .bytes = boxes[1].plan->bytes, .read = stamps[0], .write = stamps[1]};
    grout_flight__publish_issue(cta, thread, inst, &issue);
    if (!is_void && grout_tma_rows__is_mode_of(inst)) {
        publish_stored_rows(cta, thread, inst, boxes, stamps);
    } else if (!is_void) {
        grout_access__publish(cta, thread, inst, boxes, stamps);
        grout_tensor_map__publish_read(cta, thread, inst, &stamps[0]);
        if (machine->tracks) {
            grout_move__definedness(cta, thread, inst, boxes);
        }
    }
    grout_tma__start_store(cta, thread, inst, boxes, is_void);
    if ((inst->attrs & GROUT_ATTR_BIT(NO_COMMIT_GROUP)) == 0) {
        grout_tma__commit_group(cta, thread, inst);
    }
}

void grout_tma__check_prefetch(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_box box = grout_box__resolve(cta, thread, inst, 0);
    (void)check_gmem(cta, thread, inst, &box, false);
}
