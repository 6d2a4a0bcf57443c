/*
 * places.h - where things are: other CTAs, addresses of elements, barriers.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_PLACES_H
#define GROUT_GPU_PLACES_H

#include "values.h"

/* ---- other CTAs of the cluster (peers.c) ---- */

/* Whether a reference has a '.cluster(..)': it lies in the CTA named there, in the window of all
 * CTAs' SMEM (shared::cluster). */
bool grout_emit__is_peer(const grout_view *view);
/* The rank of that CTA: "peer * 2 + 1", as an operand of a call. */
void grout_emit__rank(grout_emitter *e, const grout_view *view);
/* "rank / 2 % 4": this CTA's index among those that differ from it only along a set of axes,
 * row-major; and the set of their ranks as bits: "0x11u << rank % 4". */
void grout_emit__group_index(grout_emitter *e, uint32_t axes);
void grout_emit__group_mask(grout_emitter *e, uint32_t axes);

/* ---- pairs of CTAs (peers.c) ---- */

/* Whether a barrier is an mbarrier of a pair ('two_ctas'): that of the CTA that leads, for both. */
bool grout_emit__is_of_pair(const grout_emitter *e, const grout_gpu_barrier *entry);
/* Opens the block that only the CTA that leads the pair runs. */
void grout_emit__open_leader(grout_emitter *e);
/* The address of its barrier, in the cluster's window. */
void grout_emit__leader_address(grout_emitter *e, const grout_view *barrier);

/* ---- addresses (addresses.c) ---- */

/* Writes the statements that an address needs beforehand: coordinates of tiled dimensions, the
 * offset that a swizzle takes twice. */
void grout_emit__prepare_address(grout_emitter *e, const grout_view *view, grout_emit_at at);
/* The address itself, after prepare_address: a 32-bit SMEM address, or a pointer. */
void grout_emit__address(grout_emitter *e, const grout_view *view, grout_emit_at at);
/* The SMEM address of a view's first element before swizzling: what TMA takes. */
void grout_emit__smem_start(grout_emitter *e, const grout_view *view);
/* The elements of a view. */
int64_t grout_emit__count_elements(const grout_view *view);
/* Where a view starts in a dimension: "row + 4". */
void grout_emit__start(grout_emitter *e, const grout_view *view, uint32_t dim);

/* ---- barriers that an op names (barriers.c) ---- */

/* The plan's entry of the barrier that an op is given, and that operand; NULL with a diagnostic if
 * there is none. */
const grout_gpu_barrier *grout_emit__find_barrier(grout_emitter *e, const grout_op *op,
                                                  grout_view *view_out);
/* The device header's word for what an op's order(..) or scope(..) says, or fallback. */
const char *grout_emit__choice(const grout_emitter *e, const grout_op *op, grout_attr attr,
                               const char *fallback);
/* The scope that it says, or fallback, or a wider one: narrowest. As the device header numbers
 * them, and the word of such a number. */
uint32_t grout_emit__get_scope(const grout_emitter *e, const grout_op *op, const char *fallback,
                               const char *narrowest);
const char *grout_emit__get_scope_name(int64_t scope);
/* Whether the op says order(relaxed), and has not to tell of mbarriers (edges.h), where that counts
 * for nothing. */
bool grout_emit__is_relaxed(const grout_emitter *e, const grout_op *op);
/* Whether it says that in a kernel without engines, where PTX's relaxed operation will do. Else it
 * still has to tell that engines are done (docs/memory_model.md), which PTX's does not ('Release
 * and Acquire Patterns'): it is a release or an acquire for the CTA. */
bool grout_emit__is_without_order(const grout_emitter *e, const grout_op *op);
/* Whether a barrier's operation that is meant for the cluster is emitted for the CTA alone. */
bool grout_emit__is_narrowed(const grout_emitter *e, const grout_op *op,
                             const grout_gpu_barrier *entry);
/* Whether one is emitted for the cluster, with an order. */
bool grout_emit__is_wide(const grout_emitter *e, const grout_op *op,
                         const grout_gpu_barrier *entry);
/* "<GROUT_RELAXED, GROUT_CLUSTER>": order and scope of an arrival or a wait; nothing where they are
 * the default. */
void grout_emit__arrive_order(grout_emitter *e, const grout_op *op, const grout_gpu_barrier *entry);
void grout_emit__wait_order(grout_emitter *e, const grout_op *op, const grout_gpu_barrier *entry);
/* The same of the arrival that says how many bytes a copy brings. */
void grout_emit__arming_order(grout_emitter *e, const grout_gpu_barrier *entry);
/* The same of async_copy_arrive, whose relaxed form is another instruction, and tells of copies. */
void grout_emit__copies_order(grout_emitter *e, const grout_op *op, const grout_gpu_barrier *entry);
/* Beside a relaxed arrival or wait that is no mbarrier's: the fence by which it still tells that
 * engines are done. Nothing for others. */
void grout_emit__fence_engines(grout_emitter *e, const grout_op *op);
/* ", 12});": the end of a wait's site and of its call. */
void grout_emit__end_site(grout_emitter *e, const grout_op *op);
/* ", warp % 4 + 1": who acts, as grout_site has it; in a kernel whose threads all have four warps,
 * the text given for a whole thread. */
void grout_emit__actor(grout_emitter *e, const char *thread);
/* Before an arrival on a barrier that orders the tensor core, and after a wait for one: the fence
 * of what is asynchronous there. Nothing where there is no tensor memory. */
void grout_emit__seal_tensor(grout_emitter *e, const grout_gpu_barrier *entry);
void grout_emit__admit_tensor(grout_emitter *e, const grout_gpu_barrier *entry);
/* The index of a barrier or semaphore reference: a constant, or terms. */
void grout_emit__slot(grout_emitter *e, const grout_view *barrier);
/* Whether that index is a constant, which *slot_out is then. */
bool grout_emit__has_constant_slot(const grout_emitter *e, const grout_view *barrier,
                                   int64_t *slot_out);
/* The SMEM address of one barrier, in the cluster's window if it is another CTA's; and that of this
 * CTA's. */
void grout_emit__barrier_address(grout_emitter *e, const grout_view *barrier);
void grout_emit__own_barrier(grout_emitter *e, const grout_view *barrier);
/* The variable that holds a pool's phases: one bit an element. */
grout_gpu_name grout_emit__phases_name(const grout_emitter *e, uint32_t barrier);
/* The same for the arrivals that are watched. */
grout_gpu_name grout_emit__arrived_name(const grout_emitter *e, uint32_t barrier);

#endif
