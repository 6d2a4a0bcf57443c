/* machine.h - the state of a run: lanes in warps in CTAs in clusters.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A warp holds its lanes in groups, each with one program counter. A step runs for a whole group.
 * Lanes that part become two groups; groups that come to the same place become one. The group that
 * has come least far goes on, unless it waits: nothing is lost, and no lane has to wait for one
 * that it would not wait for on a GPU. An instruction that needs its lanes together waits until
 * they are.
 */
#ifndef GROUT_PTX_MACHINE_H
#define GROUT_PTX_MACHINE_H

#include "code.h"
#include "fault.h"
#include "pulse.h"

enum {
    PTX_BARRIERS = 16,      /* named barriers of a CTA: PTX ISA 9.1, bar */
    PTX_CALLS_MAX = 8,      /* nested calls */
    PTX_SHARED_MAX = 232448 /* bytes that a CTA of sm_90 can have */
};

/* Generic addresses: windows far above global memory. */
#define PTX_WINDOW_SHARED UINT64_C(0x00007f0000000000)
#define PTX_WINDOW_LOCAL  UINT64_C(0x00007e0000000000)
#define PTX_WINDOW_PARAM  UINT64_C(0x00007d0000000000)
#define PTX_WINDOW_SIZE   UINT64_C(0x100000000)

typedef struct ptx_machine ptx_machine;
typedef struct ptx_cta ptx_cta;
typedef struct ptx_warp ptx_warp;

typedef struct ptx_group {
    uint32_t lanes, pc;
    uint32_t returns[PTX_CALLS_MAX], call_count;
    bool is_waiting; /* the step at pc has run in part: it waits for what ticket says */
    bool has_stayed; /* at this pc, when there had been tried_at events */
    uint64_t ticket, tried_at;
} ptx_group;

typedef enum ptx_async_kind {
    PTX_ASYNC_COPY,        /* cp.async: of a lane and a group */
    PTX_ASYNC_BULK,        /* of a lane and a bulk group, read and written apart */
    PTX_ASYNC_ALONE,       /* an mbarrier hears of it */
    PTX_ASYNC_PRODUCT,     /* wgmma: of a warpgroup and a group, in order */
    PTX_ASYNC_TENSOR,      /* tcgen05.mma, cp, shift, commit: of a lane, some in order */
    PTX_ASYNC_TENSOR_LOAD, /* tcgen05.ld, of a warp */
    PTX_ASYNC_TENSOR_STORE,
    PTX_ASYNC_GONE /* an empty place of the list */
} ptx_async_kind;

struct ptx_warp {
    ptx_cta *cta;
    uint32_t index, live, carry;
    uint8_t *registers;
    uint32_t *defined;  /* a mask of lanes for each plane */
    uint32_t *halves;   /* of each plane of 64 bits: the lanes whose lower half alone is defined */
    uint32_t *flying;   /* of each plane: the group of products that writes it, plus 1, or 0 */
    uint64_t *written;  /* of each plane: the step that wrote it; NULL: nobody looks for races */
    uint64_t fenced_at; /* the step of the last wgmma.fence, or 0 */
    uint32_t *loaded;   /* of each plane: the lanes that have a value after the wait */
    uint8_t *local;     /* local_bytes for each lane, then whether each is defined */
    ptx_group groups[PTX_LANES];
    uint32_t group_count;
    uint32_t bulk_groups[PTX_LANES], copy_groups[PTX_LANES]; /* committed so far */
    uint32_t product_groups;                                 /* wgmma: committed so far */
    uint32_t copy_marks[PTX_LANES];       /* cp.async.mbarrier.arrive since the last commit */
    uint32_t tensor_loads, tensor_stores; /* tcgen05.ld and st so far */
    uint32_t tensor_started[PTX_LANES];   /* tcgen05.mma, cp and shift so far */
    uint64_t products_started, products_done;
    uint32_t under_way[PTX_ASYNC_GONE][PTX_LANES]; /* asyncs by kind and lane */
    uint32_t register_count;                       /* of a lane; 0: setmaxnreg has no effect */
    uint32_t cluster_state; /* odd: it has arrived at the barrier of the cluster */
    uint64_t cluster_ticket;
};

typedef struct ptx_bar {
    uint32_t expected; /* threads; 0: nobody is here */
    uint32_t arrived;
    uint64_t generation;
    uint32_t all, any, count;                /* of bar.red: what the lanes say, so far */
    uint32_t last_all, last_any, last_count; /* and of the generation before */
} ptx_bar;

struct ptx_cta {
    ptx_machine *machine;
    ptx_cta *cluster; /* of its cluster the first CTA; the others follow */
    uint32_t number, index[3], cluster_index[3], rank;
    uint8_t *shared, *known;   /* bytes, and 0xff where one is defined */
    ptx_cell *cells;           /* of each byte; NULL if nobody looks for races */
    uint8_t *barriers;         /* of 8 bytes each: 1 from mbarrier.init to mbarrier.inval */
    struct ptx_tensor *tensor; /* tensor_memory.h; NULL before the first allocation */
    ptx_warp *warps;
    uint32_t live_warps;
    uint32_t free_registers; /* that warps have given back */
    ptx_bar bars[PTX_BARRIERS];
    uint32_t cluster_arrived; /* threads; the cluster's first CTA has it */
    uint64_t cluster_generation;
    uint64_t under_way; /* asyncs of the cluster; its first CTA has it */
};

typedef struct ptx_array {
    uint64_t address, size;
    uint8_t *data, *known;
    ptx_cell *cells; /* of each byte, while a run looks for races */
    grout_ptx_elements elements;
} ptx_array;

struct grout_ptx_memory {
    const grout_allocator *allocator;
    GROUT_ARRAY(ptx_array) arrays; /* by address */
    uint64_t next;
};

/* Something that was started and has not happened. */
typedef struct ptx_async ptx_async;
typedef bool ptx_async_routine(ptx_machine *machine, ptx_async *async);
struct ptx_async {
    ptx_async_kind kind;
    ptx_async_routine *run; /* true: done for now; is_done: altogether */
    ptx_cta *own;           /* whose it is; cta: its number */
    uint32_t cta, warp, lane, group;
    uint32_t lanes; /* a mask of those that it is of: lane alone, if none is said */
    uint32_t inst;  /* of the module */
    uint64_t order; /* of a product, among those of its warp */
    bool is_read;   /* its sources may be written again */
    bool is_done, is_late, is_failed;
    const ptx_step *step;
    uint64_t numbers[12];
    uint8_t *bytes; /* owned */
    size_t byte_count;
    ptx_pipe pipe;     /* of the tensor core; a commit has none */
    bool is_generic;   /* it accesses memory by the generic proxy */
    ptx_flight flight; /* what it is ordered after */
    ptx_cell *map;     /* of its tensor map, if one is in global memory */
};

/* What is under way, in the order of its start (asyncs.h). One that is done leaves its place empty
 * for a while: its kind is PTX_ASYNC_GONE. */
typedef struct ptx_asyncs {
    ptx_async *items;
    size_t count, capacity; /* places */
    size_t live;            /* that are not empty */
    struct {
        uint32_t *items; /* a Fenwick tree of what is not empty */
        size_t count, capacity;
    } ranks;
} ptx_asyncs;

/* Two writes that race and leave the same values, and where. */
typedef struct ptx_twin {
    ptx_equal equal;
    bool is_tensor, is_shared; /* of tensor or shared memory; else it is global */
    uint32_t owner, address;   /* in shared memory: the CTA's number, and where */
} ptx_twin;

/* Two of the module. */
typedef struct ptx_instructions {
    uint32_t earlier, later;
} ptx_instructions;

#define PTX_NO_INSTRUCTIONS ((ptx_instructions){UINT32_MAX, UINT32_MAX})

struct ptx_machine {
    const grout_ptx_launch *launch;
    grout_diags *diags;
    grout_diags *asked;  /* whether the run goes on: the caller's list */
    grout_limited *heap; /* what the machine allocates, of a second run too */
    grout_pulse *pulse;
    ptx_code *code;
    grout_ptx_memory *memory;
    uint8_t *parameters;
    uint32_t grid[3], block[3], cluster[3], cluster_size, cta_count, threads, warp_count;
    uint32_t shared_bytes, first_step;
    uint32_t register_count;         /* of a lane at the start; 0: not said */
    uint32_t resident_most;          /* CTAs that run side by side while they get on */
    uint32_t next_cta;               /* the first CTA of the first cluster that has not begun */
    uint32_t ctas_done;              /* that have ended, or were taken off the launch */
    GROUT_ARRAY(ptx_cta *) resident; /* first CTAs of the clusters that run */
    ptx_asyncs asyncs;
    size_t prompt_count; /* of them, those that are not late */
    uint64_t random, events, steps, lane_steps, async_count, stall_start;
    uint64_t steps_before;             /* of the run that this one is the second of */
    struct grout_ptx_scratch *scratch; /* of tcgen05.mma; NULL before the first */
    ptx_order *order;                  /* NULL: nobody looks for races */
    uint64_t happened_at;              /* steps when something asynchronous happened last */
    GROUT_ARRAY(ptx_twin) twins;
    ptx_instructions raced; /* of the race that has ended the run */
    bool is_failed;
};

/* A step that runs, for some lanes of a group. */
struct ptx_context {
    ptx_machine *machine;
    ptx_cta *cta;
    ptx_warp *warp;
    ptx_group *group;
    const ptx_step *step;
    uint32_t lanes;
    uint8_t *constants; /* only read */
};

/* 32 values of a plane: words, or pairs of words. */
static inline uint32_t *ptx_words(const ptx_context *context, const ptx_plane *plane) {
    uint8_t *base = plane->is_constant ? context->constants : context->warp->registers;
    return (uint32_t *)(void *)(base + plane->offset * (size_t)PTX_PLANE_BYTES);
}
static inline uint64_t *ptx_longs(const ptx_context *context, const ptx_plane *plane) {
    uint8_t *base = plane->is_constant ? context->constants : context->warp->registers;
    return (uint64_t *)(void *)(base + plane->offset * (size_t)PTX_PLANE_BYTES);
}
/* The value of a lane, widened by zeros. */
static inline uint64_t ptx_value(const ptx_context *context, const ptx_plane *plane,
                                 uint32_t lane) {
    if (plane->bits == 1) {
        return (ptx_words(context, plane)[0] >> lane & 1) ^ plane->is_negated;
    }
    return plane->bits <= 32 ? ptx_words(context, plane)[lane] : ptx_longs(context, plane)[lane];
}
static inline uint32_t ptx_defined(const ptx_context *context, const ptx_plane *plane) {
    return context->warp->defined[plane->id];
}
/* A mask of lanes from a predicate. */
static inline uint32_t ptx_mask(const ptx_context *context, const ptx_plane *plane) {
    uint32_t mask = ptx_words(context, plane)[0];
    return plane->is_negated ? ~mask : mask;
}
/* The lanes of a mask have a value in the result now; no others of those that run. */
static inline void ptx_set_defined(const ptx_context *context, const ptx_plane *plane,
                                   uint32_t defined) {
    uint32_t *mask = &context->warp->defined[plane->id];
    if (!plane->is_sink) {
        *mask = (*mask & ~context->lanes) | (defined & context->lanes);
        if (plane->bits == 64) {
            context->warp->halves[plane->id] &= ~context->lanes;
        }
        if (context->warp->written != NULL) {
            context->warp->written[plane->id] = context->machine->steps;
        }
    }
}
/* The lanes of which the lower 32 bits have a value. */
static inline uint32_t ptx_defined_low(const ptx_context *context, const ptx_plane *plane) {
    const uint32_t half = plane->bits == 64 ? context->warp->halves[plane->id] : 0;
    return ptx_defined(context, plane) | half;
}
/* After ptx_set_defined: of these lanes too, the lower half has one. Compilers put words together
 * of which they use the lower one alone. */
static inline void ptx_set_defined_low(const ptx_context *context, const ptx_plane *plane,
                                       uint32_t defined) {
    if (!plane->is_sink && plane->bits == 64) {
        context->warp->halves[plane->id] |= defined & context->lanes;
    }
}
/* ptx_set_defined for a copy between registers. Compilers put those anywhere, also between a
 * wgmma.fence and its wgmma: the registers of PTX are not yet the GPU's. */
static inline void ptx_set_moved(const ptx_context *context, const ptx_plane *plane,
                                 uint32_t defined) {
    uint64_t *written = context->warp->written;
    context->warp->written = NULL;
    ptx_set_defined(context, plane, defined);
    context->warp->written = written;
}
/* Writes a lane's value, cut to the plane's width. It does not become defined. */
static inline void ptx_put(const ptx_context *context, const ptx_plane *plane, uint32_t lane,
                           uint64_t value) {
    if (plane->bits == 1) {
        uint32_t *mask = ptx_words(context, plane);
        mask[0] = (mask[0] & ~(1u << lane)) | (uint32_t)(value & 1) << lane;
    } else if (plane->bits <= 32) {
        ptx_words(context, plane)[lane] =
            (uint32_t)(plane->bits < 32 ? value & ((UINT64_C(1) << plane->bits) - 1) : value);
    } else {
        ptx_longs(context, plane)[lane] = value;
    }
}

/* fault.c: ptx-fault at the step; lane PTX_LANES: no one lane. Always PTX_FAILED. */
ptx_outcome grout_ptx__fault(const ptx_context *context, uint32_t lane, const char *format, ...)
    GROUT_PRINTF(3, 4);
/* The same with limit-reached; the words begin with the limit's name. */
ptx_outcome grout_ptx__reach_limit(const ptx_context *context, uint32_t lane, const char *format,
                                   ...) GROUT_PRINTF(3, 4);
/* False with a fault if a source of some lane that runs is undefined; what: "an address". */
bool grout_ptx__need(const ptx_context *context, const ptx_plane *plane, const char *what);
/* A source that all lanes that run have to have the same value of. */
bool grout_ptx__need_same(const ptx_context *context, const ptx_plane *plane, const char *what,
                          uint64_t *value_out);
/* The failure of an asynchronous operation, at the step that started it. Always false. */
bool grout_ptx__async_fault(ptx_machine *machine, ptx_async *async, const char *format, ...)
    GROUT_PRINTF(3, 4);

/* memory.c: another memory with the same arrays at the same addresses, from the machine's heap;
 * NULL without memory, and where the run is to end. */
grout_ptx_memory *grout_ptx__copy_memory(const grout_ptx_memory *memory, grout_limited *heap,
                                         grout_pulse *pulse);
/* An array of defined bytes: those of contents, then zeros. 0 without memory, or where the run is
 * to end. */
uint64_t grout_ptx__add_variable(grout_ptx_memory *memory, const void *contents, uint64_t count,
                                 uint64_t size, grout_pulse *pulse);
/* specials.c: the cluster of a CTA among the clusters and its place in the grid, by its number. */
void grout_ptx__find_cta(const ptx_machine *machine, uint32_t number, uint32_t cluster_out[3],
                         uint32_t index_out[3]);
/* Its place alone. */
void grout_ptx__get_index(const ptx_machine *machine, uint32_t number, uint32_t index_out[3]);
/* The special registers of a warp that begins. */
void grout_ptx__set_specials(ptx_warp *warp);
/* registers.c: how many registers a lane has when a kernel begins; 0: the entry does not say. */
uint32_t grout_ptx__count_registers(const ptx_function *function, uint32_t threads);

/* Memory of the machine's, zeroed; NULL without, and nothing is said. */
static inline void *ptx_new(const ptx_machine *machine, size_t count, size_t size) {
    return grout__new(&machine->heap->allocator, count, size);
}
#define PTX_MACHINE_ROOM(machine, array) \
    GROUT_ARRAY_RESERVE((array), &(machine)->heap->allocator, 1)
/* Counts work, as pulse.h does. False: the run is to end; its caller says so. */
static inline bool ptx_may_go_on(const ptx_machine *machine, uint64_t work) {
    return grout_pulse__goes_on(machine->pulse, work);
}

/* access.c: the bytes of an access, or false with a fault. */
typedef struct ptx_bytes {
    uint8_t *data, *known;
    ptx_cell *cells;      /* NULL: nobody looks, or nobody else can access them */
    const ptx_cta *owner; /* of shared memory; NULL: it is global */
} ptx_bytes;
/* In the step's space: bounds and alignment are looked at. */
bool grout_ptx__find_bytes(const ptx_context *context, uint32_t lane, uint64_t address,
                           uint32_t size, ptx_bytes *bytes_out);
/* Global bytes, aligned or not; false if they are not all in one array. */
bool grout_ptx__find_global(const grout_ptx_memory *memory, uint64_t address, uint64_t size,
                            ptx_bytes *bytes_out);
/* Shared bytes by an address of shared::cluster, seen from a CTA; cta_out: whose they are. */
bool grout_ptx__find_shared(const ptx_cta *cta, uint64_t address, uint64_t size,
                            ptx_bytes *bytes_out, ptx_cta **cta_out);
/* An address of shared::cluster with the rank of another CTA. */
static inline uint32_t ptx_map_shared(uint32_t rank, uint64_t address) {
    return (rank + 1) << 24 | (uint32_t)(address & 0xffffff);
}
/* An address of a lane: the source and the step's offset. */
static inline uint64_t ptx_address(const ptx_context *context, const ptx_plane *plane,
                                   uint32_t lane) {
    uint64_t address = ptx_value(context, plane, lane) + context->step->offset;
    return plane->bits == 32 ? (uint32_t)address : address;
}

/* schedule.c: a number below another one. */
uint64_t grout_ptx__draw(ptx_machine *machine, uint64_t below);

/* async.c: starts one; false without memory, with a diagnostic. bytes are taken. */
bool grout_ptx__start(const ptx_context *context, ptx_async async);
/* Whether an operation of a kind and of one of these lanes is under way, in a group of the lane
 * before a number; before has a number for each lane, up to the last of them. */
bool grout_ptx__is_under_way(const ptx_context *context, ptx_async_kind kind, uint32_t lanes,
                             const uint32_t *before, bool only_reads);
/* One of those that may happen now happens; false if there is none. forced: also a late one. */
bool grout_ptx__let_one_happen(ptx_machine *machine, bool forced);

#define PTX_FOR_LANES(lane, mask)                     \
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) \
        if (((mask) >> lane & 1) == 0) {              \
        } else

#endif
