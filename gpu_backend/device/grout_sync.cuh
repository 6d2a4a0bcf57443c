// grout_sync.cuh - how threads wait for each other beyond barrier objects: votes, named barriers,
// semaphores, grids; cp.async; mbarriers of several CTAs at once; tensor maps that the kernel makes.
// SPDX-License-Identifier: Apache-2.0
//
// PTX forms: PTX ISA 9.0, 'bar', 'red', 'atom', 'ld', 'cp.async', 'cp.async.mbarrier.arrive',
// 'tensormap.replace', 'fence.proxy', 'fence', 'griddepcontrol', each assembled for sm_90a.
#ifndef GROUT_SYNC_CUH
#define GROUT_SYNC_CUH

#include "grout_cluster.cuh"

// ---- votes --------------------------------------------------------------------------------------
// What only some lanes have seen yet must not decide for all: the same answer in every lane.

// The lanes of a thread meet; whether all of them say so.
template <int lanes = 128> GROUT_DEVICE bool grout_thread_all(grout_u32 thread, bool is_true) {
    grout_u32 is_all;
    asm volatile("{ .reg .pred mine, all; setp.ne.u32 mine, %1, 0;"
                 " bar.red.and.pred all, %2, %3, mine; selp.b32 %0, 1, 0, all; }"
                 : "=r"(is_all)
                 : "r"(is_true ? 1u : 0u), "r"(thread + 1u), "n"(lanes) : "memory");
    return is_all != 0;
}
// The same of the lanes of a warp.
GROUT_DEVICE bool grout_warp_all(bool is_true) {
    const bool all = __all_sync(0xffffffffu, is_true) != 0;
    __syncwarp();
    return all;
}

// ---- named barriers -----------------------------------------------------------------------------
// The CTA has 16: 0 is the block's, the next ones bring the lanes of its threads together. The
// kernel's own are counted from the end, so that all others are its: id is the hardware's 15 - id.

GROUT_DEVICE void grout_named_sync(grout_i32 id, grout_i32 lanes) {
    grout_named_barrier(15u - (grout_u32)id, (grout_u32)lanes);
}
GROUT_DEVICE void grout_named_arrive(grout_i32 id, grout_i32 lanes) {
    asm volatile("bar.arrive %0, %1;" ::"r"(15u - (grout_u32)id), "r"((grout_u32)lanes)
                 : "memory");
}
// The first threads of the CTA, at the two ends of a warp_specialize.
GROUT_DEVICE void grout_partition_barrier(grout_u32 threads) {
    grout_named_barrier(0, threads * 128u);
}

// ---- grids --------------------------------------------------------------------------------------
// Programmatic dependent launch. Without the launch attribute none of these does anything.

// Waits for the end of the grid before, and sees all that it did.
GROUT_DEVICE void grout_grid_wait() {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
// Lets the grid after begin.
GROUT_DEVICE void grout_grid_launch_dependents() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// Before it: the fence synchronises with the start of the grid after (PTX ISA 9.3).
GROUT_DEVICE void grout_grid_release() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// ---- mbarriers of the cluster -------------------------------------------------------------------

// An arrival with bytes, on the mbarrier of any CTA of the cluster; count is as of
// grout_mbarrier_arrive_expect.
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_peer_expect_arrive(grout_u32 peer, grout_u32 bytes, grout_u32 count = 1) {
    if (count > 1) {
        grout_peer_arrive<order, scope>(peer, count - 1);
    }
    grout_peer_arrive_expect<order, scope>(peer, bytes);
}
// The same, and the phases after this one need as many arrivals less.
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_peer_expect_drop(grout_u32 peer, grout_u32 bytes, grout_u32 count = 1) {
    if (count > 1) {
        grout_peer_arrive_drop<order, scope>(peer, count - 1);
    }
    grout_peer_drop_expect<order, scope>(peer, bytes);
}
// from_cta(mask): this CTA serves each CTA i with (i & mask) == rank; arrive gets the address of
// the mbarrier there. By one lane.
template <typename arrive_fn>
GROUT_DEVICE void grout_serve_peers(grout_u32 mbarrier, grout_u32 mask, grout_u32 cluster_size,
                                    arrive_fn arrive) {
    const grout_u32 rank = grout_cluster_rank();
    for (grout_u32 peer = 0; peer < cluster_size; peer++) {
        if ((peer & mask) == rank) {
            arrive(grout_peer_address(mbarrier, peer));
        }
    }
}
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_arrive_from(grout_u32 mbarrier, grout_u32 mask, grout_u32 cluster_size,
                                    grout_u32 count) {
    grout_serve_peers(mbarrier, mask, cluster_size,
                      [=](grout_u32 peer) { grout_peer_arrive<order, scope>(peer, count); });
}
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_arrive_drop_from(grout_u32 mbarrier, grout_u32 mask, grout_u32 cluster_size,
                                         grout_u32 count) {
    grout_serve_peers(mbarrier, mask, cluster_size,
                      [=](grout_u32 peer) { grout_peer_arrive_drop<order, scope>(peer, count); });
}
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_expect_from(grout_u32 mbarrier, grout_u32 mask, grout_u32 cluster_size,
                                    grout_u32 bytes, grout_u32 count) {
    grout_serve_peers(mbarrier, mask, cluster_size,
                      [=](grout_u32 peer) { grout_peer_expect_arrive<order, scope>(peer, bytes, count); });
}
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_expect_drop_from(grout_u32 mbarrier, grout_u32 mask, grout_u32 cluster_size,
                                         grout_u32 bytes, grout_u32 count) {
    grout_serve_peers(mbarrier, mask, cluster_size,
                      [=](grout_u32 peer) { grout_peer_expect_drop<order, scope>(peer, bytes, count); });
}

// ---- semaphores ---------------------------------------------------------------------------------
// 64 bits of GMEM, zero at launch: below, the units that are there; above, all that were ever
// signalled. One atomic operation moves both. By one lane; order and scope are template arguments.

// One asm statement for each scope; undefined at the end of grout_atomic.cuh.
#define GROUT_EACH_SCOPE(FORM, ORDER)                                                              \
    if (scope == GROUT_CTA) { FORM(ORDER ".cta"); }                                                \
    else if (scope == GROUT_CLUSTER) { FORM(ORDER ".cluster"); }                                   \
    else if (scope == GROUT_GPU) { FORM(ORDER ".gpu"); }                                           \
    else { FORM(ORDER ".sys"); }

template <int order, int scope>
GROUT_DEVICE void grout_semaphore_signal(grout_u64 *semaphore, grout_u32 units) {
    const grout_u64 both = (grout_u64)units << 32 | units;
#define GROUT_FORM(WORDS)                                                                          \
    asm volatile("red" WORDS ".global.add.u64 [%0], %1;" ::"l"(semaphore), "l"(both) : "memory")
    if (order == GROUT_RELAXED) {
        GROUT_EACH_SCOPE(GROUT_FORM, ".relaxed")
    } else {
        GROUT_EACH_SCOPE(GROUT_FORM, ".release")
    }
#undef GROUT_FORM
}

template <int order, int scope>
GROUT_DEVICE grout_u64 grout_semaphore_load(const grout_u64 *semaphore) {
    grout_u64 both;
#define GROUT_FORM(WORDS)                                                                          \
    asm volatile("ld" WORDS ".global.u64 %0, [%1];" : "=l"(both) : "l"(semaphore) : "memory")
    if (order == GROUT_RELAXED) {
        GROUT_EACH_SCOPE(GROUT_FORM, ".relaxed")
    } else {
        GROUT_EACH_SCOPE(GROUT_FORM, ".acquire")
    }
#undef GROUT_FORM
    return both;
}

// Whether what was seen was still there and these units of it are now taken.
template <int order, int scope>
GROUT_DEVICE bool grout_semaphore_take(grout_u64 *semaphore, grout_u64 seen, grout_u32 units) {
    grout_u64 old;
#define GROUT_FORM(WORDS)                                                                          \
    asm volatile("atom" WORDS ".global.cas.b64 %0, [%1], %2, %3;"                                  \
                 : "=l"(old) : "l"(semaphore), "l"(seen), "l"(seen - units) : "memory")
    if (order == GROUT_RELAXED) {
        GROUT_EACH_SCOPE(GROUT_FORM, ".relaxed")
    } else {
        GROUT_EACH_SCOPE(GROUT_FORM, ".acquire")
    }
#undef GROUT_FORM
    return old == seen;
}

// Between two looks; start is when the first one failed, 0 that there was none.
GROUT_DEVICE void grout_semaphore_pause(grout_u64 &start, const grout_watchdog &dog,
                                        grout_site site, grout_u32 units) {
    __nanosleep(32);
#if GROUT_WATCHDOG
    start = start == 0 ? grout_time_ns() : start;
    grout_check_hang(dog, start, GROUT_HANG_SEMAPHORE, site, units);
#endif
}

// Blocks until the units are there, and takes them.
template <int order, int scope>
GROUT_DEVICE void grout_semaphore_wait(grout_u64 *semaphore, grout_u32 units,
                                       const grout_watchdog &dog, grout_site site) {
    grout_u64 start = 0;
    while (true) {
        const grout_u64 seen = grout_semaphore_load<GROUT_RELAXED, scope>(semaphore);
        if ((grout_u32)seen < units) {
            grout_semaphore_pause(start, dog, site, units);
        } else if (grout_semaphore_take<order, scope>(semaphore, seen, units)) {
            return;
        }
    }
}
// Blocks until this many units have been signalled since the launch began.
template <int order, int scope>
GROUT_DEVICE void grout_semaphore_look(const grout_u64 *semaphore, grout_u32 units,
                                       const grout_watchdog &dog, grout_site site) {
    grout_u64 start = 0;
    while (grout_semaphore_load<order, scope>(semaphore) >> 32 < units) {
        grout_semaphore_pause(start, dog, site, units);
    }
}
// The units that are there now.
GROUT_DEVICE grout_i32 grout_semaphore_read(const grout_u64 *semaphore) {
    return (grout_i32)(grout_u32)grout_semaphore_load<GROUT_RELAXED, GROUT_SYS>(semaphore);
}

// ---- cp.async -----------------------------------------------------------------------------------
// Each lane copies pieces of its own, and waits for its own.

template <int bytes> GROUT_DEVICE void grout_async_copy(grout_u32 smem, const void *gmem) {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "what cp.async copies");
    if (bytes == 16) {
        asm volatile("cp.async.cg.shared::cta.global [%0], [%1], 16;"
                     ::"r"(smem), "l"(gmem) : "memory");
    } else {
        asm volatile("cp.async.ca.shared::cta.global [%0], [%1], %2;"
                     ::"r"(smem), "l"(gmem), "n"(bytes) : "memory");
    }
}
// The same; zeros instead, and nothing is read, if it is not touched: gmem may then be anywhere.
template <int bytes>
GROUT_DEVICE void grout_async_copy(grout_u32 smem, const void *gmem, bool is_touched) {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "what cp.async copies");
    const grout_u64 at = (grout_u64)gmem;
    const grout_u64 from = is_touched ? at : at & ~(grout_u64)(bytes - 1); // aligned in any case
    const grout_u32 count = is_touched ? bytes : 0;
    if (bytes == 16) {
        asm volatile("cp.async.cg.shared::cta.global [%0], [%1], 16, %2;"
                     ::"r"(smem), "l"(from), "r"(count) : "memory");
    } else {
        asm volatile("cp.async.ca.shared::cta.global [%0], [%1], %2, %3;"
                     ::"r"(smem), "l"(from), "n"(bytes), "r"(count) : "memory");
    }
}
GROUT_DEVICE void grout_async_copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> GROUT_DEVICE void grout_async_copy_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
// An arrival of this lane when its copies so far are done. The instruction covers copies alone: what
// the lane did besides is released by an arrival of its own. Without noinc the instruction counts
// the phase up by one before it arrives, so that both together are one arrival, and the phase
// cannot complete between the two. A lane of a thread of fewer than four warps makes count arrivals.
template <int order = GROUT_RELEASE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_async_copy_arrive(grout_u32 mbarrier, grout_u32 count = 1) {
    if (order == GROUT_RELAXED) {
        if (count > 1) {
            grout_mbarrier_arrive<order, scope>(mbarrier, count - 1);
        }
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];"
                     ::"r"(mbarrier) : "memory");
    } else {
        asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(mbarrier) : "memory");
        grout_mbarrier_arrive<order, scope>(mbarrier, count);
    }
}

// ---- tensor maps --------------------------------------------------------------------------------
// A tensor map of a part of an array, made in GMEM by one lane: the model with another address and
// other extents. 'release' follows the last change, 'acquire' precedes the lane's next copy by it.
GROUT_DEVICE void grout_tensor_map_begin(grout_u64 *slot, const grout_tensor_map &model,
                                         const void *address) {
    for (int k = 0; k < 16; k++) {
        slot[k] = model.opaque[k];
    }
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(slot),
                 "l"(address)
                 : "memory");
}
template <int dim>
GROUT_DEVICE void grout_tensor_map_set_extent(grout_u64 *slot, grout_i32 extent) {
    asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], %1, %2;" ::"l"(slot),
                 "n"(dim), "r"(extent)
                 : "memory");
}
GROUT_DEVICE void grout_tensor_map_release() {
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}
GROUT_DEVICE void grout_tensor_map_acquire(const grout_u64 *slot) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(slot) : "memory");
}

#endif
