/* observe.h - what the machine tells of an instruction to those who look for races (ptx/order), if
 * the launch asks for it; else each function does nothing and is true.
 * SPDX-License-Identifier: Apache-2.0
 *
 * False is a fault of the run: a race, or no memory, with a diagnostic.
 */
#ifndef GROUT_PTX_OBSERVE_H
#define GROUT_PTX_OBSERVE_H

#include "machine.h"

/* ---- for those who observe ---- */

/* The diagnostic, if there was no memory. */
bool grout_ptx__need_memory(ptx_machine *machine, bool is_done);
/* False, with a diagnostic, if the search for races has reached a limit. */
bool grout_ptx__is_in_limits(ptx_machine *machine);
ptx_actor grout_ptx__get_actor(const ptx_context *context, uint32_t lanes);
ptx_span grout_ptx__get_span(const ptx_bytes *bytes, uint32_t size);
/* An access, by lanes at one place or by an operation as it is in flight; bytes NULL: of tensor
 * memory.
 */
bool grout_ptx__touch_by_lanes(const ptx_context *context, uint32_t lanes, const ptx_bytes *bytes,
                               ptx_touch how);
bool grout_ptx__touch_by_async(ptx_machine *machine, const ptx_async *async,
                               const ptx_flight *flight, const ptx_bytes *bytes, ptx_touch how);

/* Says that two writes race, and leave the same values: a warning, or an error with what else is to
 * say. */
void grout_ptx__report_twin(ptx_machine *machine, const ptx_twin *twin, const char *what);

/* ---- the run ---- */

bool grout_ptx__begin_observing(ptx_machine *machine);
void grout_ptx__end_observing(ptx_machine *machine);
bool grout_ptx__observe_cta(ptx_machine *machine, ptx_cta *cta);

/* ---- accesses ---- */

enum { PTX_STORE_BYTES = PTX_VECTOR_BYTES }; /* that a lane stores at most */

/* Accesses of size bytes by each of some lanes, which have found them. is_cached: ld.global.nc.
 * same: of each byte that a lane writes, ptx_same. */
bool grout_ptx__observe_loads(const ptx_context *context, const ptx_bytes bytes[PTX_LANES],
                              uint32_t size, bool is_cached);
bool grout_ptx__observe_stores(const ptx_context *context, const ptx_bytes bytes[PTX_LANES],
                               uint32_t size, uint8_t same[PTX_LANES][PTX_STORE_BYTES]);
/* same: NULL, each byte may have another value. */
bool grout_ptx__observe_lane(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                             uint32_t size, bool is_write, const uint8_t *same);
/* Says of each byte whether it is written with what is there already. */
void grout_ptx__compare_bytes(const ptx_bytes *from, const ptx_bytes *to, uint32_t size,
                              uint8_t *same_out);
/* A tensor map that a copy reads from its start on; and that it has read until its end. */
bool grout_ptx__observe_map(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                            uint32_t size);
bool grout_ptx__observe_map_end(ptx_machine *machine, const ptx_async *async);
/* One that the warp copies and releases at once: tensormap.cp_fenceproxy. */
bool grout_ptx__observe_map_copy(const ptx_context *context, const ptx_bytes *from,
                                 const ptx_bytes *to, uint32_t size);
/* An atomic operation, which may have left what was there; a reduction has no result. */
bool grout_ptx__observe_atomic(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                               uint32_t size, bool is_written, bool is_reduction);
/* By an operation that is under way; a reduction is atomic. */
bool grout_ptx__observe_async(ptx_machine *machine, const ptx_async *async, const ptx_bytes *bytes,
                              uint32_t size, bool is_write, bool is_reduction);
/* A write of what is somewhere else. */
bool grout_ptx__observe_write(ptx_machine *machine, const ptx_async *async, const ptx_bytes *source,
                              const ptx_bytes *target, uint32_t size, bool is_reduction);
/* A place that is read, and one that is written with it afterwards. */
bool grout_ptx__observe_transfer(ptx_machine *machine, const ptx_async *async,
                                 const ptx_bytes *source, const ptx_bytes *target, uint32_t size,
                                 bool is_reduction);

/* What is done to a cell of tensor memory; an operand is what a product reads, but for its sums. */
typedef enum ptx_tensor_touch {
    PTX_TENSOR_READ,
    PTX_TENSOR_OPERAND,
    PTX_TENSOR_WRITE,
    PTX_TENSOR_SAME_WRITE /* with what is there already */
} ptx_tensor_touch;

/* A cell of tensor memory; and some that are given back. */
bool grout_ptx__observe_tensor(ptx_machine *machine, const ptx_async *async, ptx_cell *cell,
                               ptx_tensor_touch how);
bool grout_ptx__observe_dealloc(const ptx_context *context, ptx_cell *cells, uint32_t count);

/* Registers that a wgmma uses, which nothing may have written since the last wgmma.fence. PTX ISA
 * 9.1, 'wgmma.fence'. */
bool grout_ptx__observe_product(const ptx_context *context, const ptx_plane *items, uint32_t count);

/* ---- mbarriers ---- */

/* init, else inval. */
bool grout_ptx__observe_init(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                             bool is_init);
/* A lane arrives, and may end the phase; the words before and after. */
bool grout_ptx__observe_arrival(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                                uint64_t before, uint64_t after);
/* A lane has waited for a phase that is over, or has only looked. */
bool grout_ptx__observe_wait(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                             bool is_over);
/* The mbarrier at an address of shared::cluster will hear of the operation, and does. */
bool grout_ptx__observe_target(ptx_machine *machine, ptx_async *async, uint64_t address);
bool grout_ptx__observe_hearing(ptx_machine *machine, const ptx_async *async,
                                const ptx_bytes *bytes, uint64_t before, uint64_t after);

/* ---- CTAs of a cluster ---- */

/* tcgen05.alloc by a pair: the other CTA has begun. */
bool grout_ptx__observe_pair(const ptx_context *context, const ptx_cta *peer);
/* A lane, or an operation under way, reaches for bytes whose contents count: whose shared memory
 * they are, that CTA has begun. What a CTA that has not begun holds is no fault of its own. */
bool grout_ptx__observe_reach(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes);
bool grout_ptx__observe_async_reach(ptx_machine *machine, const ptx_async *async,
                                    const ptx_cta *owner);
/* Lanes end; all CTAs of a cluster have ended, the first of which this is. */
bool grout_ptx__observe_exit(const ptx_context *context);
bool grout_ptx__observe_cluster_exit(ptx_machine *machine, const ptx_cta *first);

/* ---- threads ---- */

bool grout_ptx__observe_warp_sync(const ptx_context *context);
/* Lanes come to a named barrier, to wait there or not, and may end its generation. */
bool grout_ptx__observe_bar(const ptx_context *context, uint32_t bar, bool waits, bool is_end);
bool grout_ptx__observe_cluster_arrival(const ptx_context *context);
void grout_ptx__observe_cluster_end(const ptx_context *context);
bool grout_ptx__observe_cluster_wait(const ptx_context *context);

/* ---- engines ---- */

/* A lane has made an mbarrier wait for its copies so far, or has ended a group of them: false,
 * with a fault, if that was too often. */
bool grout_ptx__observe_mark(const ptx_context *context, uint32_t lane);
/* Whether copies of two lanes are of one group and ordered after the same. */
bool grout_ptx__starts_alike(const ptx_context *context, uint32_t lane, uint32_t other);
/* An operation starts: its kind, lanes, group and number are known. */
bool grout_ptx__observe_start(const ptx_context *context, ptx_async *async);
/* The groups of each lane before a number are over; only_reads: they have read. For wgmma, and for
 * loads and stores of tensor memory, there is one number for the warp, of the last ones the newest
 * that is over. */
bool grout_ptx__observe_groups(const ptx_context *context, ptx_async_kind kind,
                               const uint32_t *before, bool only_reads);

/* ---- equal writes: equal.c ---- */

typedef GROUT_ARRAY(ptx_twin) ptx_twins;

/* What a second run has found. */
typedef struct ptx_again {
    bool is_done;
    ptx_twins twins;
    ptx_instructions raced; /* of what has ended it */
} ptx_again;

/* run.c: runs a launch with another memory, of at most this many instructions. False without
 * memory, with a diagnostic of the machine, and where the run is to end. */
bool grout_ptx__run_again(const ptx_machine *machine, grout_ptx_memory *memory,
                          ptx_again *again_out);

/* Says what the writes are that a run has found, which is over: warnings, and errors, with which it
 * is false. initial: the memory before the run; NULL: nothing in it may be another. */
bool grout_ptx__judge_twins(ptx_machine *machine, const grout_ptx_memory *initial);

#endif
