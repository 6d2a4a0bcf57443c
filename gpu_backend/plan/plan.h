/*
 * plan.h - what a launch of a kernel consists of: parameters, tensor maps, barriers, sizes.
 *
 * The emitter, the manifest, the host launcher and the run all read this one plan, so that the code
 * and its caller cannot disagree.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_PLAN_H
#define GROUT_GPU_PLAN_H

#include "grout-internal/gpu.h"
#include "grout-internal/register_layout.h"
#include "grout-internal/verify.h"

#define GROUT_GPU_SMEM_MAX     232448     /* dynamic SMEM of a CTA on sm_90 */
#define GROUT_GPU_GRID_MAX     2147483647 /* gridDim.x */
#define GROUT_GPU_WARPS        4u         /* of a thread */
#define GROUT_GPU_ARRIVALS_MAX 1048575u   /* of one phase, as the hardware counts */
/* of one that counts lanes: cp.async.mbarrier.arrive without .noinc counts up by one before the
 * lane's own arrival, in the worst case each lane of a CTA at once */
#define GROUT_GPU_LANE_ARRIVALS_MAX (GROUT_GPU_ARRIVALS_MAX - GROUT_THREADS_MAX * GROUT_LANES)

/* Device memory that the launch brings, beside the arrays: a gmem scratch, or semaphores. */
typedef struct grout_gpu_workspace {
    grout_object_id object;
    int64_t count;   /* elements of one instance */
    int64_t bytes;   /* of everything */
    bool is_per_cta; /* each CTA has an instance, in the order of the launch's CTAs */
    uint64_t fill;   /* what it holds before each launch: fill_bytes of this, again and again */
    uint32_t fill_bytes;
    bool has_contents; /* elements that differ, which an init(..) says; 'fill' does not */
} grout_gpu_workspace;

/* Bytes of contents that manifest and launcher list; of more they name the generator. */
#define GROUT_GPU_CONTENTS_MAX (1 << 16)

#define GROUT_GPU_TENSOR_BYTES 16

/* Bytes of a semaphore: its units, and all it was ever given, 4 each. */
#define GROUT_GPU_SEMAPHORE_BYTES 8

/* One TMA descriptor: a kernel has one for each distinct (array, box, swizzle). */
typedef struct grout_gpu_map {
    grout_object_id object;   /* the array */
    uint32_t param_index;     /* of a parameter, or UINT32_MAX: a gmem scratch */
    uint32_t workspace_index; /* of a gmem scratch, or UINT32_MAX */
    uint32_t number;          /* 1 for the array's first map, 2, ... */
    grout_tma tma;
    uint8_t dtype;               /* grout_dtype of the elements */
    int64_t start_bytes;         /* from the array's first element to the map's */
    uint32_t element_strides[5]; /* every so many elements of a dimension */
    uint32_t interleave;         /* 0 none, 1 of 16 bytes, 2 of 32 */
    uint32_t promotion; /* what L2 fetches: 0 as much as is asked, 1 to 3: 64, 128, 256 bytes */
} grout_gpu_map;

typedef enum grout_gpu_arg_kind {
    GROUT_GPU_ARG_ARRAY,     /* index: of the parameter; a pointer to its first element */
    GROUT_GPU_ARG_SCALAR,    /* index: of the parameter; one element */
    GROUT_GPU_ARG_MAP,       /* index: of the map; 128 bytes */
    GROUT_GPU_ARG_WORKSPACE, /* index: of the workspace; a pointer to its first element */
    GROUT_GPU_ARG_WATCHDOG   /* a grout_watchdog, 32 bytes */
} grout_gpu_arg_kind;

/* A parameter of the CUDA kernel, in order. */
typedef struct grout_gpu_arg {
    uint8_t kind; /* grout_gpu_arg_kind */
    uint32_t index;
} grout_gpu_arg;

/* A pool of barriers. Barriers at the same bytes share their phases. */
typedef struct grout_gpu_barrier {
    grout_object_id object;
    uint32_t count; /* elements */
    uint32_t arrivals;
    /* Whether each of a thread's four warps arrives for itself, so that they need not meet first.
     * Only where no copy arrives, because a copy's one arrival counts for all four. The same in the
     * whole pool. */
    bool counts_warps;
    /* Whether each of its 128 lanes arrives for itself, as async_copy_arrive has to. The same in
     * the whole pool. */
    bool counts_lanes;
    /* Whether a warp could arrive for a phase while another warp has still to arrive for the one
     * before, so that arrivals have to be watched. The same in the whole pool. */
    bool is_watched;
    bool is_explicit;  /* an mbarrier: made by mbarrier_init, not at the kernel's start */
    bool is_clustered; /* a cluster barrier: each arrival is one on the barrier of every peer */
    /* Whether other CTAs arrive on it or bring it bytes: what is released and acquired through it
     * is meant for the cluster, unless the op says otherwise. */
    bool is_cluster_scope;
    /* Nothing has to travel between CTAs through it (lowering/edges.h): its operations are emitted
     * for the CTA alone, whatever scope is meant. */
    bool is_narrow;
    /* It may tell of mbarriers that are made or ended (lowering/edges.h): order(relaxed) on it is
     * as if it were not there. */
    bool tells_of_mbarriers;
    int64_t smem_offset;
    uint32_t
        owner; /* index of the first barrier of the plan at the same bytes; itself for that one */
} grout_gpu_barrier;

typedef struct grout_gpu_plan {
    grout_register_layouts *layouts; /* how each array lies in registers */
    grout_gpu_map *maps;
    uint32_t map_count;
    /* by op: 1 + index of its map, of a make_tensor_descriptor that of its copies; 0 for ops
     * without */
    uint32_t *map_of_op;
    uint32_t *place_of_object; /* by object: 1 + index of its barrier or workspace; 0 for others */
    grout_gpu_arg *args;
    uint32_t arg_count;
    grout_gpu_barrier *barriers;
    uint32_t barrier_count;
    grout_gpu_workspace *workspaces;
    uint32_t workspace_count;
    grout_object_id *mma_objects; /* SMEM objects that the tensor core reads */
    uint32_t mma_object_count;
    uint8_t arch;           /* grout_arch of the code */
    bool changes_registers; /* set_max_registers */
    bool
        tells_of_ends; /* a relaxed edge tells its CTA what is over: of engines, grids, mbarriers */
    /* Tensor memory: columns that the kernel allocates at once, a power of two, 0: it has none; the
     * CTAs that multiply together, 1 or 2; and where in SMEM GROUT_GPU_TENSOR_BYTES are for it: the
     * mbarrier of the end, then the address of the columns. */
    bool has_pair_scopes; /* a scope makes arrays in the tensor memory of both CTAs of a pair */
    uint32_t tensor_columns, tensor_group;
    int64_t tensor_offset;
    int64_t grid_size;       /* CTAs */
    uint32_t cluster_size;   /* CTAs of a cluster; the grid is a multiple */
    bool has_exit_sync;      /* the CTAs of a cluster meet at the end */
    bool tells_of_mbarriers; /* of semaphores and the barrier of the cluster, as of barriers */
    /* The first op that may wait for another cluster: with fewer CTAs resident than the grid has,
     * it may wait for one that cannot start. 0: there is none. */
    grout_op_id waits_for_clusters;
    uint32_t thread_count;
    uint32_t thread_warps[GROUT_THREADS_MAX]; /* 4, or of some partitions 1 or 2 */
    uint32_t first_warps[GROUT_THREADS_MAX];  /* of the CTA's warps */
    bool has_small_threads;                   /* one has fewer than 4 */
    uint32_t lane_count;                      /* CUDA threads of a CTA */
    int64_t object_bytes;    /* SMEM of the kernel's objects, as the interpreter lays them out */
    int64_t exchange_offset; /* after them: where elements pass between the lanes of a thread */
    int64_t exchange_bytes;  /* of one thread */
    /* Values that partitions of a warp_specialize need and only thread 0 can make: 8 bytes each */
    grout_value_id *captures;
    uint32_t capture_count;
    int64_t capture_offset;     /* of the first, in SMEM */
    int64_t dynamic_smem_bytes; /* what the launch asks for */
} grout_gpu_plan;

/* Makes the plan of a kernel of a bound, verified module. False: the reason is in diags. Free with
 * grout_gpu__plan_deinit, also after a failure. */
bool grout_gpu__plan_init(grout_gpu_plan *plan, const grout_module *module, grout_kernel_id kernel,
                          grout_diags *diags);
void grout_gpu__plan_deinit(grout_gpu_plan *plan);

/* ---- looking things up (look.c) ---- */

/* The type of the array, with the elements that the map has. */
grout_type grout_gpu__get_map_type(const grout_module *module, const grout_gpu_map *map);

/* The hardware that the code of a kernel is for, and its compute capability. */
grout_arch grout_gpu__get_arch(const grout_module *module, grout_kernel_id kernel);
typedef struct grout_gpu_capability {
    int major, minor;
} grout_gpu_capability;
grout_gpu_capability grout_gpu__get_capability(grout_arch arch);

/* Hardware arrivals of one thread's arrival on this barrier. */
uint32_t grout_gpu__plan_get_arrival_size(const grout_gpu_barrier *barrier);

/* The number of the plan's barrier for an object, or UINT32_MAX. */
uint32_t grout_gpu__plan_find_barrier(const grout_gpu_plan *plan, grout_object_id object);

/* The number of the plan's workspace for an object, or UINT32_MAX. */
uint32_t grout_gpu__plan_find_workspace(const grout_gpu_plan *plan, grout_object_id object);

/* Calls visit for every op of a block, an op before those of its regions; stops on false. */
typedef bool grout_gpu_visit(void *payload, grout_op_id id, const grout_op *op);
bool grout_gpu__walk(const grout_module *module, grout_block_id block, grout_gpu_visit *visit,
                     void *payload);

/* The lines of an op's effect row, in operand order; *count_out says how many. */
const grout_effect *grout_gpu__get_effects(const grout_op *op, uint32_t *count_out);
/* Whether an op touches no memory and orders nothing. */
bool grout_gpu__is_pure(const grout_op *op);

/* The place of a value among the plan's captures, or UINT32_MAX. */
uint32_t grout_gpu__plan_find_capture(const grout_gpu_plan *plan, grout_value_id value);
/* Index of the parameter that an object is, or UINT32_MAX. */
uint32_t grout_gpu__find_param(const grout_module *module, const grout_kernel *kernel,
                               grout_object_id object);
/* The name without '%'; "" for a value without one. */
const char *grout_gpu__get_value_name(const grout_module *module, grout_value_id value);
/* Whether some launch of the file lets the kernel begin before the launch before it has ended. */
bool grout_gpu__is_dependent(const grout_module *module, grout_kernel_id kernel);
/* The array's name as diagnostics and the manifest show it. */
const char *grout_gpu__get_param_name(const grout_module *module, const grout_kernel *kernel,
                                      uint32_t index);
const char *grout_gpu__get_object_name(const grout_module *module, grout_object_id object);

/* ---- values between partitions (plan_captures.c) ---- */

/* Whether threads that need an op's result make it for themselves: it is pure, of scalars. */
bool grout_gpu__is_made_again(const grout_module *module, const grout_op *op);
/* Marks, by value, the results of ops that stand in body itself which a block's ops use, and those
 * that such values are made of if they are made again. False without memory. */
bool grout_gpu__mark_outer_values(const grout_module *module, grout_block_id body,
                                  grout_block_id block, bool *is_needed);

/* ---- names in the CUDA (names.c) ---- */

/* Whether C++ or the device header has other plans for this identifier. */
bool grout_gpu__is_reserved_name(const char *name);

/* An identifier that is put together. */
typedef struct grout_gpu_name {
    char text[GROUT_NAME_MAX + 48];
} grout_gpu_name;

/* "a_map", "a_map_2" */
grout_gpu_name grout_gpu__get_map_name(const grout_module *module, const grout_gpu_map *map);
/* "done_space_0" */
grout_gpu_name grout_gpu__get_workspace_name(const grout_module *module, const grout_gpu_plan *plan,
                                             uint32_t workspace);

#define GROUT_GPU_SYMBOL_MAX (GROUT_NAME_MAX + 16)
/* The CUDA function's name: the kernel's, or with '_kernel' after it where C++ reserves that. */
void grout_gpu__get_symbol(const char *kernel_name, char symbol_out[GROUT_GPU_SYMBOL_MAX]);

/* The dtype as the device header spells it, "grout_f32"; "bool" for bool. */
const char *grout_gpu__get_type_name(grout_dtype dtype);

#endif
