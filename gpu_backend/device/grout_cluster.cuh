// grout_cluster.cuh - CTAs of a cluster: their ranks, their barrier, each other's SMEM, copies to
// several of them.
// SPDX-License-Identifier: Apache-2.0
//
// Every CTA's SMEM has the same layout. 'Peer' addresses lie in the window that all CTAs of the
// cluster share (shared::cluster); those of other functions are the own CTA's. PTX forms: PTX ISA
// 9.0, 'mapa', 'barrier.cluster', 'st.async', 'red.async', 'cp.async.bulk.tensor',
// 'cp.reduce.async.bulk.tensor', each assembled for sm_90a.
#ifndef GROUT_CLUSTER_CUH
#define GROUT_CLUSTER_CUH

#include "grout_values.cuh"

// Which CTA of its cluster this one is. With clusters along x, CTA i of the launch is number i % C.
GROUT_DEVICE grout_u32 grout_cluster_rank() {
    grout_u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
// Where the bytes at this address of the own CTA are in CTA rank.
GROUT_DEVICE grout_u32 grout_peer_address(grout_u32 address, grout_u32 rank) {
    grout_u32 peer;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(address), "r"(rank));
    return peer;
}

// ---- the cluster's hardware barrier -------------------------------------------------------------
// Every lane of every CTA, each for itself; a lane that has ended counts as arrived.

GROUT_DEVICE void grout_cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
GROUT_DEVICE void grout_cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
GROUT_DEVICE void grout_cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
GROUT_DEVICE void grout_cluster_barrier() {
    grout_cluster_arrive();
    grout_cluster_wait();
}
// At the kernel's start, after grout_fence_mbarrier_init: every CTA runs, its barriers are made.
GROUT_DEVICE void grout_cluster_start() {
    __syncwarp();
    grout_cluster_arrive_relaxed();
    grout_cluster_wait();
}
// At its end: no CTA's SMEM goes away while others may use it.
GROUT_DEVICE void grout_cluster_exit() {
    __syncwarp();
    grout_cluster_barrier();
}

// ---- fences -------------------------------------------------------------------------------------

// commit_smem cluster: as grout_fence_async_smem, for the SMEM of all CTAs.
GROUT_DEVICE void grout_fence_async_peers() {
    asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
}
// Before a relaxed arrival and after a relaxed wait: they then make known what is over.
GROUT_DEVICE void grout_fence_engines() {
    asm volatile("fence.acq_rel.cta;" ::: "memory");
}

// ---- barriers of other CTAs ---------------------------------------------------------------------

// Arrivals on an mbarrier of any CTA of the cluster. An arrival on another CTA's tells no state.
// For the CTA alone they release to the own CTA, should it be the peer, and count elsewhere.
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_peer_arrive(grout_u32 peer, grout_u32 count = 1) {
#define GROUT_FORM(WORDS)                                                                          \
    asm volatile("mbarrier.arrive" WORDS ".shared::cluster.b64 _, [%0], %1;"                            \
                 ::"r"(peer), "r"(count) : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "release")
#undef GROUT_FORM
}
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_peer_arrive_drop(grout_u32 peer, grout_u32 count = 1) {
#define GROUT_FORM(WORDS)                                                                          \
    asm volatile("mbarrier.arrive_drop" WORDS ".shared::cluster.b64 _, [%0], %1;"                       \
                 ::"r"(peer), "r"(count) : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "release")
#undef GROUT_FORM
}
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_peer_arrive_expect(grout_u32 peer, grout_u32 bytes) {
#define GROUT_FORM(WORDS)                                                                          \
    asm volatile("mbarrier.arrive.expect_tx" WORDS ".shared::cluster.b64 _, [%0], %1;"                  \
                 ::"r"(peer), "r"(bytes) : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "release")
#undef GROUT_FORM
}
template <int order = GROUT_RELEASE, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_peer_drop_expect(grout_u32 peer, grout_u32 bytes) {
#define GROUT_FORM(WORDS)                                                                          \
    asm volatile("mbarrier.arrive_drop.expect_tx" WORDS ".shared::cluster.b64 _, [%0], %1;"             \
                 ::"r"(peer), "r"(bytes) : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "release")
#undef GROUT_FORM
}
// The phase waits for this many bytes more; no arrival.
GROUT_DEVICE void grout_peer_expect(grout_u32 peer, grout_u32 bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;"
                 ::"r"(peer), "r"(bytes) : "memory");
}
// A thread's arrival on the same mbarrier of each CTA of a set: bit r of peers is rank r.
// By one warp, which has met the others of the thread; each lane arrives at one CTA.
template <int order, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_arrive_peers(grout_u32 mbarrier, grout_u32 peers, grout_u32 count = 1) {
    const grout_u32 to = threadIdx.x % 32;
    if ((peers >> to & 1u) != 0) {
        grout_peer_arrive<order, scope>(grout_peer_address(mbarrier, to), count);
    }
    __syncwarp();
}
// The same by one lane.
template <int order, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_arrive_peers_alone(grout_u32 mbarrier, grout_u32 peers,
                                           grout_u32 count = 1) {
    for (grout_u32 to = 0; peers >> to != 0; to++) {
        if ((peers >> to & 1u) != 0) {
            grout_peer_arrive<order, scope>(grout_peer_address(mbarrier, to), count);
        }
    }
}

// ---- SMEM of other CTAs -------------------------------------------------------------------------

// As grout_move, and what st.async can move: 4, 8 or 16 bytes, whose bytes come to an mbarrier of
// the same CTA.
template <int size> struct grout_peer_move;
#define GROUT_PEER_MOVE(SIZE, TYPE, PTX, CONSTRAINT)                                               \
    template <> struct grout_peer_move<SIZE> {                                                     \
        typedef TYPE bits;                                                                         \
        static __device__ __forceinline__ bits load(grout_u32 peer) {                              \
            bits value;                                                                            \
            asm volatile("ld.shared::cluster." PTX " %0, [%1];"                                    \
                         : "=" CONSTRAINT(value) : "r"(peer) : "memory");                          \
            return value;                                                                          \
        }                                                                                          \
        static __device__ __forceinline__ void store(grout_u32 peer, bits value) {                 \
            asm volatile("st.shared::cluster." PTX " [%0], %1;"                                    \
                         :: "r"(peer), CONSTRAINT(value) : "memory");                              \
        }                                                                                          \
        static __device__ __forceinline__ void store_async(grout_u32 peer, bits value,             \
                                                           grout_u32 mbarrier) {                   \
            asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes." PTX         \
                         " [%0], %1, [%2];"                                                        \
                         :: "r"(peer), CONSTRAINT(value), "r"(mbarrier) : "memory");               \
        }                                                                                          \
    }
GROUT_PEER_MOVE(4, grout_u32, "b32", "r");
GROUT_PEER_MOVE(8, grout_u64, "b64", "l");
#undef GROUT_PEER_MOVE

template <> struct grout_peer_move<1> {
    typedef grout_u8 bits;
    static __device__ __forceinline__ bits load(grout_u32 peer) {
        grout_u16 value;
        asm volatile("ld.shared::cluster.u8 %0, [%1];" : "=h"(value) : "r"(peer) : "memory");
        return static_cast<bits>(value);
    }
    static __device__ __forceinline__ void store(grout_u32 peer, bits value) {
        asm volatile("st.shared::cluster.u8 [%0], %1;"
                     ::"r"(peer), "h"(static_cast<grout_u16>(value)) : "memory");
    }
};
template <> struct grout_peer_move<2> {
    typedef grout_u16 bits;
    static __device__ __forceinline__ bits load(grout_u32 peer) {
        bits value;
        asm volatile("ld.shared::cluster.b16 %0, [%1];" : "=h"(value) : "r"(peer) : "memory");
        return value;
    }
    static __device__ __forceinline__ void store(grout_u32 peer, bits value) {
        asm volatile("st.shared::cluster.b16 [%0], %1;" ::"r"(peer), "h"(value) : "memory");
    }
};
template <> struct grout_peer_move<16> {
    typedef uint4 bits;
    static __device__ __forceinline__ bits load(grout_u32 peer) {
        bits v;
        asm volatile("ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(peer) : "memory");
        return v;
    }
    static __device__ __forceinline__ void store(grout_u32 peer, bits v) {
        asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};"
                     ::"r"(peer), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    }
    static __device__ __forceinline__ void store_async(grout_u32 peer, bits v, grout_u32 mbarrier) {
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"
                     " [%0], {%1, %2, %3, %4}, [%5];"
                     ::"r"(peer), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(mbarrier) : "memory");
    }
};
template <typename T> GROUT_DEVICE T grout_load_peer(grout_u32 peer) {
    return grout_bits_as<T>(grout_peer_move<sizeof(T)>::load(peer));
}
template <typename T> GROUT_DEVICE void grout_store_peer(grout_u32 peer, const T &value) {
    typedef grout_peer_move<sizeof(T)> move;
    move::store(peer, grout_bits_as<typename move::bits>(value));
}
template <typename T>
GROUT_DEVICE void grout_store_async(grout_u32 peer, const T &value, grout_u32 mbarrier) {
    typedef grout_peer_move<sizeof(T)> move;
    move::store_async(peer, grout_bits_as<typename move::bits>(value), mbarrier);
}

// async_store_smem reduce(..): one element.
#define GROUT_REDUCE_ASYNC(NAME, TYPE, PTX, CONSTRAINT)                                            \
    GROUT_DEVICE void grout_##NAME##_async(grout_u32 peer, TYPE value, grout_u32 mbarrier) {       \
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." PTX \
                     " [%0], %1, [%2];"                                                            \
                     :: "r"(peer), CONSTRAINT(value), "r"(mbarrier) : "memory");                   \
    }
GROUT_REDUCE_ASYNC(add, grout_u32, "add.u32", "r")
GROUT_REDUCE_ASYNC(add, grout_i32, "add.s32", "r")
GROUT_REDUCE_ASYNC(add, grout_u64, "add.u64", "l")
GROUT_REDUCE_ASYNC(min, grout_u32, "min.u32", "r")
GROUT_REDUCE_ASYNC(min, grout_i32, "min.s32", "r")
GROUT_REDUCE_ASYNC(max, grout_u32, "max.u32", "r")
GROUT_REDUCE_ASYNC(max, grout_i32, "max.s32", "r")
GROUT_REDUCE_ASYNC(inc, grout_u32, "inc.u32", "r")
GROUT_REDUCE_ASYNC(dec, grout_u32, "dec.u32", "r")
GROUT_REDUCE_ASYNC(and, grout_u32, "and.b32", "r")
GROUT_REDUCE_ASYNC(and, grout_i32, "and.b32", "r")
GROUT_REDUCE_ASYNC(or, grout_u32, "or.b32", "r")
GROUT_REDUCE_ASYNC(or, grout_i32, "or.b32", "r")
GROUT_REDUCE_ASYNC(xor, grout_u32, "xor.b32", "r")
GROUT_REDUCE_ASYNC(xor, grout_i32, "xor.b32", "r")
#undef GROUT_REDUCE_ASYNC

// ---- tensor copies ------------------------------------------------------------------------------
// As in grout_device.cuh. A multicast load writes the same place of each CTA whose bit is set in
// peers, and completes on the mbarrier at the same place of each of them. A reduction combines the
// box with what the array holds, each element atomically.

#define GROUT_TMA_REDUCE(N, OP, COORDINATES, OPERANDS, A, B, ...)                                  \
    GROUT_DEVICE void grout_tma_##OP(const grout_tensor_map &map, grout_u32 smem, __VA_ARGS__) {   \
        asm volatile("cp.reduce.async.bulk.tensor." N "d.global.shared::cta." #OP                  \
                     ".tile.bulk_group [" B ", {" COORDINATES "}], [" A "];"                       \
                     ::OPERANDS, "r"(smem), "l"(&map) : "memory");                                 \
    }
#define GROUT_TMA_CLUSTER(N, COORDINATES, OPERANDS, A, B, C, D, ...)                               \
    GROUT_DEVICE void grout_tma_load_multicast(grout_u32 smem, const grout_tensor_map &map,        \
                                               grout_u32 mbarrier, grout_u32 peers, __VA_ARGS__) { \
        asm volatile("cp.async.bulk.tensor." N "d.shared::cluster.global"                          \
                     ".mbarrier::complete_tx::bytes.multicast::cluster"                            \
                     " [" A "], [" B ", {" COORDINATES "}], [" C "], " D ";"                       \
                     ::OPERANDS, "r"(smem), "l"(&map), "r"(mbarrier),                              \
                     "h"(static_cast<grout_u16>(peers)) : "memory");                               \
    }                                                                                              \
    GROUT_TMA_REDUCE(N, add, COORDINATES, GROUT_LIST(OPERANDS), A, B, __VA_ARGS__)                 \
    GROUT_TMA_REDUCE(N, min, COORDINATES, GROUT_LIST(OPERANDS), A, B, __VA_ARGS__)                 \
    GROUT_TMA_REDUCE(N, max, COORDINATES, GROUT_LIST(OPERANDS), A, B, __VA_ARGS__)                 \
    GROUT_TMA_REDUCE(N, inc, COORDINATES, GROUT_LIST(OPERANDS), A, B, __VA_ARGS__)                 \
    GROUT_TMA_REDUCE(N, dec, COORDINATES, GROUT_LIST(OPERANDS), A, B, __VA_ARGS__)                 \
    GROUT_TMA_REDUCE(N, and, COORDINATES, GROUT_LIST(OPERANDS), A, B, __VA_ARGS__)                 \
    GROUT_TMA_REDUCE(N, or, COORDINATES, GROUT_LIST(OPERANDS), A, B, __VA_ARGS__)                  \
    GROUT_TMA_REDUCE(N, xor, COORDINATES, GROUT_LIST(OPERANDS), A, B, __VA_ARGS__)
// A list that has to pass through a macro argument as one.
#define GROUT_LIST(...) __VA_ARGS__

GROUT_TMA_CLUSTER("1", "%0", "r"(c0), "%1", "%2", "%3", "%4", grout_i32 c0)
GROUT_TMA_CLUSTER("2", "%0, %1", GROUT_LIST("r"(c0), "r"(c1)), "%2", "%3", "%4", "%5",
                  grout_i32 c0, grout_i32 c1)
GROUT_TMA_CLUSTER("3", "%0, %1, %2", GROUT_LIST("r"(c0), "r"(c1), "r"(c2)), "%3", "%4", "%5", "%6",
                  grout_i32 c0, grout_i32 c1, grout_i32 c2)
GROUT_TMA_CLUSTER("4", "%0, %1, %2, %3", GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3)),
                  "%4", "%5", "%6", "%7", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3)
GROUT_TMA_CLUSTER("5", "%0, %1, %2, %3, %4",
                  GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)),
                  "%5", "%6", "%7", "%8", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3,
                  grout_i32 c4)
#undef GROUT_TMA_CLUSTER
#undef GROUT_TMA_REDUCE

// Loads in im2col mode: c0 is a channel, the others a base pixel, w first; o are the offsets of its
// spatial dimensions, that of w first.
#define GROUT_TMA_IM2COL(N, COORDINATES, OFFSETS, OPERANDS, A, B, C, D, ...)                       \
    GROUT_DEVICE void grout_tma_load_im2col(grout_u32 smem, const grout_tensor_map &map,           \
                                            grout_u32 mbarrier, __VA_ARGS__) {                     \
        asm volatile("cp.async.bulk.tensor." N "d.shared::cluster.global.im2col"                   \
                     ".mbarrier::complete_tx::bytes"                                               \
                     " [" A "], [" B ", {" COORDINATES "}], [" C "], {" OFFSETS "};"               \
                     ::OPERANDS, "r"(smem), "l"(&map), "r"(mbarrier) : "memory");                  \
    }                                                                                              \
    GROUT_DEVICE void grout_tma_load_im2col_multicast(                                             \
        grout_u32 smem, const grout_tensor_map &map, grout_u32 mbarrier, grout_u32 peers,          \
        __VA_ARGS__) {                                                                             \
        asm volatile("cp.async.bulk.tensor." N "d.shared::cluster.global.im2col"                   \
                     ".mbarrier::complete_tx::bytes.multicast::cluster"                            \
                     " [" A "], [" B ", {" COORDINATES "}], [" C "], {" OFFSETS "}, " D ";"        \
                     ::OPERANDS, "r"(smem), "l"(&map), "r"(mbarrier),                              \
                     "h"(static_cast<grout_u16>(peers)) : "memory");                               \
    }
#define GROUT_OFFSET(O) "h"(static_cast<grout_u16>(O))

GROUT_TMA_IM2COL("3", "%0, %1, %2", "%3",
                 GROUT_LIST("r"(c0), "r"(c1), "r"(c2), GROUT_OFFSET(o0)),
                 "%4", "%5", "%6", "%7", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 o0)
GROUT_TMA_IM2COL("4", "%0, %1, %2, %3", "%4, %5",
                 GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3), GROUT_OFFSET(o0), GROUT_OFFSET(o1)),
                 "%6", "%7", "%8", "%9", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3,
                 grout_i32 o0, grout_i32 o1)
GROUT_TMA_IM2COL("5", "%0, %1, %2, %3, %4", "%5, %6, %7",
                 GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), GROUT_OFFSET(o0),
                            GROUT_OFFSET(o1), GROUT_OFFSET(o2)),
                 "%8", "%9", "%10", "%11", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3,
                 grout_i32 c4, grout_i32 o0, grout_i32 o1, grout_i32 o2)
#undef GROUT_OFFSET
#undef GROUT_TMA_IM2COL
#undef GROUT_LIST

#endif
