/*
 * lanes.h - the 128 lanes of a thread as one: barriers among them where they are needed, and what
 * one of them finds out for all.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_LANES_H
#define GROUT_GPU_LANES_H

#include "emitter.h"

/* ---- automatic barriers (lanes.c) ---- */

/* "grout_thread_barrier(thread);": everything pending is settled. */
void grout_emit__thread_barrier(grout_emitter *e, const char *reason);
/* Before a lane accesses an object: a barrier if others may have accessed the same bytes. */
void grout_emit__before_access(grout_emitter *e, grout_object_id object, bool is_write);
void grout_emit__after_access(grout_emitter *e, grout_object_id object, bool is_write);
/* Before the issuer acts for all lanes. */
void grout_emit__before_issue(grout_emitter *e, const char *reason);
/* Before all lanes look at a barrier, and see the arrivals that one made for all. */
void grout_emit__before_look(grout_emitter *e);
/* After an op: what the column LANES of sync.def says that its lanes may still be at. An op in
 * which all lanes should meet, and whose CUDA does not make them, is reported. */
void grout_emit__note_lanes(grout_emitter *e, const grout_op *op);
/* Publishes the thread's (or warp's) accesses of its CTA's SMEM to the async proxy: what
 * commit_smem and the fences of 'attr auto_fence' do. */
void grout_emit__publish_smem(grout_emitter *e);
/* What both of two paths may leave pending. */
void grout_emit__join_pending(grout_emit_pending *into, const grout_emit_pending *other);
/* What the end of a block may leave pending for its next run. */
void grout_emit__collect_pending(const grout_emitter *e, grout_block_id id,
                                 grout_emit_pending *into);

/* After a wait for wgmmas, which each warp makes for itself: what they read is still being read by
 * the other warps' ones. */
void grout_emit__after_wgmma_wait(grout_emitter *e);

/* After a wait for loads or stores of tensor memory: that they are over is known to the lanes of
 * the warp alone. */
void grout_emit__after_tensor_wait(grout_emitter *e);

/* All lanes are known to have met: nothing is pending. */
void grout_emit__settle(grout_emitter *e);
/* Around a meeting of the lanes that orders the tensor core's operations too, if any
 * lane may have loaded or stored tensor memory, or always: the fences of what is asynchronous
 * there. begin says whether there are any; end settles what is pending. */
bool grout_emit__begin_meeting(grout_emitter *e, bool is_always);
void grout_emit__end_meeting(grout_emitter *e, bool is_fenced);

/* ---- what one lane finds out for all (uniform.c) ---- */

/* The statements around the expression of a scalar that lanes must not find out each for itself:
 * another moment would give another value. */
void grout_emit__begin_uniform(grout_emitter *e, grout_value_id value);
void grout_emit__end_uniform(grout_emitter *e, grout_value_id value);

#endif
