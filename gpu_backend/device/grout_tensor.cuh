// grout_tensor.cuh - the tensor core of Blackwell: tensor memory, its products and copies, what
// orders them, and launch control.
// SPDX-License-Identifier: Apache-2.0
//
// An address of tensor memory is lane << 16 | column. PTX forms: PTX ISA 9.1, 'tcgen05' and
// 'clusterlaunchcontrol', each assembled for sm_100a. The 'group' of a template is the number of CTAs
// that multiply together, 1 or 2: the same in all instructions of a kernel.
#ifndef GROUT_TENSOR_CUH
#define GROUT_TENSOR_CUH

#include "grout_cluster.cuh"

// One asm statement for each group.
#define GROUT_EACH_GROUP(FORM)                                                                     \
    if (group == 2) { FORM("2"); }                                                                 \
    else { FORM("1"); }

// ---- allocation ---------------------------------------------------------------------------------
// By one whole warp, in pairs by one of each CTA. The address of the columns goes to SMEM. The kernel
// allocates once, so the permit to allocate is given back at once.
template <int group> GROUT_DEVICE void grout_tensor_allocate(grout_u32 smem, grout_u32 columns) {
    __syncwarp();
#define GROUT_FORM(N)                                                                              \
    asm volatile("tcgen05.alloc.cta_group::" N ".sync.aligned.shared::cta.b32 [%0], %1;"           \
                 ::"r"(smem), "r"(columns) : "memory");                                            \
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::" N ".sync.aligned;" ::: "memory")
    GROUT_EACH_GROUP(GROUT_FORM)
#undef GROUT_FORM
}
template <int group> GROUT_DEVICE void grout_tensor_free(grout_u32 address, grout_u32 columns) {
    __syncwarp();
#define GROUT_FORM(N)                                                                              \
    asm volatile("tcgen05.dealloc.cta_group::" N ".sync.aligned.b32 %0, %1;"                       \
                 ::"r"(address), "r"(columns) : "memory")
    GROUT_EACH_GROUP(GROUT_FORM)
#undef GROUT_FORM
}

// ---- pairs of floats ----------------------------------------------------------------------------
// Two f32 of a lane by one instruction, each rounded as it is alone: into neighbouring registers, of
// the operands of the first and then of those of the second. PTX ISA 9.1, 'add', 'sub', 'mul', 'fma'.

#define GROUT_PAIRS(NAME)                                                                          \
    GROUT_DEVICE void grout_##NAME##_pair(grout_f32 *to, grout_f32 a0, grout_f32 b0, grout_f32 a1, \
                                          grout_f32 b1) {                                          \
        asm("{ .reg .b64 a, b; mov.b64 a, {%2, %4}; mov.b64 b, {%3, %5}; " #NAME                   \
            ".rn.f32x2 a, a, b; mov.b64 {%0, %1}, a; }"                                            \
            : "=f"(to[0]), "=f"(to[1]) : "f"(a0), "f"(b0), "f"(a1), "f"(b1));                      \
    }
GROUT_PAIRS(add)
GROUT_PAIRS(sub)
GROUT_PAIRS(mul)
#undef GROUT_PAIRS
GROUT_DEVICE void grout_fma_pair(grout_f32 *to, grout_f32 a0, grout_f32 b0, grout_f32 c0,
                                 grout_f32 a1, grout_f32 b1, grout_f32 c1) {
    asm("{ .reg .b64 a, b, c; mov.b64 a, {%2, %5}; mov.b64 b, {%3, %6}; mov.b64 c, {%4, %7};"
        " fma.rn.f32x2 a, a, b, c; mov.b64 {%0, %1}, a; }"
        : "=f"(to[0]), "=f"(to[1])
        : "f"(a0), "f"(b0), "f"(c0), "f"(a1), "f"(b1), "f"(c1));
}
// The sum of a lane's registers in the order of grout_reduce_registers, whose two chains go together.
template <int count> GROUT_DEVICE grout_f32 grout_add_registers(const grout_f32 (&v)[count]) {
    static_assert(count >= 4 && count % 2 == 0, "two chains");
    grout_f32 all[2] = {v[0], v[1]};
#pragma unroll
    for (int reg = 2; reg < count; reg += 2) {
        grout_add_pair(all, all[0], v[reg], all[1], v[reg + 1]);
    }
    return GROUT_ADD(all[0], all[1]);
}

// ---- order --------------------------------------------------------------------------------------

// Before an arrival, and after a wait: what is asynchronous in the tensor core follows the order that
// barriers make.
GROUT_DEVICE void grout_tensor_fence_before() {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
GROUT_DEVICE void grout_tensor_fence_after() {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}
// The warp's loads, or its stores, of tensor memory are over.
GROUT_DEVICE void grout_tensor_wait_loads() {
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}
GROUT_DEVICE void grout_tensor_wait_stores() {
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}
// One arrival when all is done that this lane has started on the tensor core.
template <int group> GROUT_DEVICE void grout_tensor_commit(grout_u32 mbarrier) {
#define GROUT_FORM(N)                                                                              \
    asm volatile("tcgen05.commit.cta_group::" N ".mbarrier::arrive::one.shared::cluster.b64 [%0];" \
                 ::"r"(mbarrier) : "memory")
    GROUT_EACH_GROUP(GROUT_FORM)
#undef GROUT_FORM
}
// The same on the mbarriers of several CTAs, whose ranks are the bits of peers.
template <int group>
GROUT_DEVICE void grout_tensor_commit_multicast(grout_u32 mbarrier, grout_u32 peers) {
#define GROUT_FORM(N)                                                                              \
    asm volatile("tcgen05.commit.cta_group::" N ".mbarrier::arrive::one.shared::cluster"           \
                 ".multicast::cluster.b64 [%0], %1;"                                               \
                 ::"r"(mbarrier), "h"(static_cast<grout_u16>(peers)) : "memory")
    GROUT_EACH_GROUP(GROUT_FORM)
#undef GROUT_FORM
}
// At the kernel's end, by every warp: its loads and stores are over, and all that any lane of the
// CTA has started on the tensor core. The mbarrier counts the warps.
template <int group> GROUT_DEVICE void grout_tensor_drain(grout_u32 mbarrier, const grout_watchdog &dog,
                                                          grout_site site) {
    __syncwarp();
    grout_tensor_wait_loads();
    grout_tensor_wait_stores();
    if (grout_elect()) {
        grout_tensor_commit<group>(mbarrier);
    }
    __syncwarp();
    grout_mbarrier_wait(mbarrier, 0, dog, site);
    grout_tensor_fence_after();
}

// ---- elements -----------------------------------------------------------------------------------
// A register of 32 bits has an element in its low bits, or four of them.

template <typename T> GROUT_DEVICE void grout_tensor_take(T &element, grout_u32 bits) {
    if constexpr (sizeof(T) == 4) {
        element = grout_bits_as<T>(bits);
    } else {
        element = grout_bits_as<T>(static_cast<grout_u16>(bits));
    }
}
template <typename T> GROUT_DEVICE grout_u32 grout_tensor_give(const T *element) {
    if constexpr (sizeof(T) == 4) {
        return grout_bits_as<grout_u32>(*element);
    } else {
        return grout_bits_as<grout_u16>(*element);
    }
}
template <typename T> GROUT_DEVICE void grout_unquad(T *v, grout_u32 quad) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = grout_bits_as<T>(static_cast<grout_u8>(quad >> 8 * k));
    }
}

// ---- products -----------------------------------------------------------------------------------
// By one lane. d = a b, added to what d holds if use is not 0. a is a matrix descriptor, or with _ta
// an address of tensor memory.

#define GROUT_PRODUCT(NAME, A, CONSTRAINT, WORDS, KIND)                                            \
    template <int group>                                                                           \
    GROUT_DEVICE void NAME(grout_u32 d, A a, grout_u64 b, grout_u32 instruction, grout_u32 use) {  \
        if (group == 2) {                                                                          \
            asm volatile("{ .reg .pred use; setp.ne.u32 use, %4, 0; tcgen05.mma.cta_group::2"      \
                         ".kind::" KIND " [%0], " WORDS ", %2, %3, use; }"                         \
                         ::"r"(d), CONSTRAINT(a), "l"(b), "r"(instruction), "r"(use) : "memory");  \
        } else {                                                                                   \
            asm volatile("{ .reg .pred use; setp.ne.u32 use, %4, 0; tcgen05.mma.cta_group::1"      \
                         ".kind::" KIND " [%0], " WORDS ", %2, %3, use; }"                         \
                         ::"r"(d), CONSTRAINT(a), "l"(b), "r"(instruction), "r"(use) : "memory");  \
        }                                                                                          \
    }
// With the address of the metadata of a sparse a.
#define GROUT_SPARSE_PRODUCT(NAME, A, CONSTRAINT, WORDS, KIND)                                     \
    template <int group>                                                                           \
    GROUT_DEVICE void NAME(grout_u32 d, A a, grout_u64 b, grout_u32 metadata,                      \
                           grout_u32 instruction, grout_u32 use) {                                 \
        if (group == 2) {                                                                          \
            asm volatile("{ .reg .pred use; setp.ne.u32 use, %5, 0; tcgen05.mma.sp.cta_group::2"   \
                         ".kind::" KIND " [%0], " WORDS ", %2, [%3], %4, use; }"                   \
                         ::"r"(d), CONSTRAINT(a), "l"(b), "r"(metadata), "r"(instruction),         \
                           "r"(use) : "memory");                                                   \
        } else {                                                                                   \
            asm volatile("{ .reg .pred use; setp.ne.u32 use, %5, 0; tcgen05.mma.sp.cta_group::1"   \
                         ".kind::" KIND " [%0], " WORDS ", %2, [%3], %4, use; }"                   \
                         ::"r"(d), CONSTRAINT(a), "l"(b), "r"(metadata), "r"(instruction),         \
                           "r"(use) : "memory");                                                   \
        }                                                                                          \
    }
// With the addresses of the scales of a and of b.
#define GROUT_SCALED_PRODUCT(NAME, A, CONSTRAINT, WORDS, KIND)                                     \
    template <int group>                                                                           \
    GROUT_DEVICE void NAME(grout_u32 d, A a, grout_u64 b, grout_u32 a_scale, grout_u32 b_scale,    \
                           grout_u32 instruction, grout_u32 use) {                                 \
        if (group == 2) {                                                                          \
            asm volatile("{ .reg .pred use; setp.ne.u32 use, %6, 0; tcgen05.mma.cta_group::2"      \
                         ".kind::" KIND " [%0], " WORDS ", %2, %3, [%4], [%5], use; }"             \
                         ::"r"(d), CONSTRAINT(a), "l"(b), "r"(instruction), "r"(a_scale),          \
                           "r"(b_scale), "r"(use) : "memory");                                     \
        } else {                                                                                   \
            asm volatile("{ .reg .pred use; setp.ne.u32 use, %6, 0; tcgen05.mma.cta_group::1"      \
                         ".kind::" KIND " [%0], " WORDS ", %2, %3, [%4], [%5], use; }"             \
                         ::"r"(d), CONSTRAINT(a), "l"(b), "r"(instruction), "r"(a_scale),          \
                           "r"(b_scale), "r"(use) : "memory");                                     \
        }                                                                                          \
    }
// With both.
#define GROUT_SPARSE_SCALED_PRODUCT(NAME, A, CONSTRAINT, WORDS, KIND)                              \
    template <int group>                                                                           \
    GROUT_DEVICE void NAME(grout_u32 d, A a, grout_u64 b, grout_u32 metadata, grout_u32 a_scale,   \
                           grout_u32 b_scale, grout_u32 instruction, grout_u32 use) {              \
        if (group == 2) {                                                                          \
            asm volatile("{ .reg .pred use; setp.ne.u32 use, %7, 0; tcgen05.mma.sp.cta_group::2"   \
                         ".kind::" KIND " [%0], " WORDS ", %2, [%3], %4, [%5], [%6], use; }"       \
                         ::"r"(d), CONSTRAINT(a), "l"(b), "r"(metadata), "r"(instruction),         \
                           "r"(a_scale), "r"(b_scale), "r"(use) : "memory");                       \
        } else {                                                                                   \
            asm volatile("{ .reg .pred use; setp.ne.u32 use, %7, 0; tcgen05.mma.sp.cta_group::1"   \
                         ".kind::" KIND " [%0], " WORDS ", %2, [%3], %4, [%5], [%6], use; }"       \
                         ::"r"(d), CONSTRAINT(a), "l"(b), "r"(metadata), "r"(instruction),         \
                           "r"(a_scale), "r"(b_scale), "r"(use) : "memory");                       \
        }                                                                                          \
    }
#define GROUT_BOTH_PRODUCTS(FORM, NAME, KIND)                                                      \
    FORM(NAME, grout_u64, "l", "%1", KIND)                                                         \
    FORM(NAME##_ta, grout_u32, "r", "[%1]", KIND)
GROUT_BOTH_PRODUCTS(GROUT_PRODUCT, grout_tensor_f16, "f16")
GROUT_BOTH_PRODUCTS(GROUT_PRODUCT, grout_tensor_tf32, "tf32")
GROUT_BOTH_PRODUCTS(GROUT_PRODUCT, grout_tensor_f8, "f8f6f4")
GROUT_BOTH_PRODUCTS(GROUT_PRODUCT, grout_tensor_i8, "i8")
GROUT_BOTH_PRODUCTS(GROUT_SPARSE_PRODUCT, grout_tensor_tf32_sp, "tf32")
GROUT_BOTH_PRODUCTS(GROUT_SPARSE_PRODUCT, grout_tensor_f16_sp, "f16")
GROUT_BOTH_PRODUCTS(GROUT_SPARSE_PRODUCT, grout_tensor_f8_sp, "f8f6f4")
GROUT_BOTH_PRODUCTS(GROUT_SPARSE_PRODUCT, grout_tensor_i8_sp, "i8")
GROUT_BOTH_PRODUCTS(GROUT_SCALED_PRODUCT, grout_tensor_mx_f8, "mxf8f6f4.block_scale.scale_vec::1X")
GROUT_BOTH_PRODUCTS(GROUT_SCALED_PRODUCT, grout_tensor_mx_f4, "mxf4.block_scale.scale_vec::2X")
GROUT_BOTH_PRODUCTS(GROUT_SCALED_PRODUCT, grout_tensor_nv_f4, "mxf4nvf4.block_scale.scale_vec::4X")
GROUT_BOTH_PRODUCTS(GROUT_SPARSE_SCALED_PRODUCT, grout_tensor_mx_f8_sp,
                    "mxf8f6f4.block_scale.scale_vec::1X")
GROUT_BOTH_PRODUCTS(GROUT_SPARSE_SCALED_PRODUCT, grout_tensor_mx_f4_sp,
                    "mxf4.block_scale.scale_vec::2X")
GROUT_BOTH_PRODUCTS(GROUT_SPARSE_SCALED_PRODUCT, grout_tensor_nv_f4_sp,
                    "mxf4nvf4.block_scale.scale_vec::4X")
#undef GROUT_PRODUCT
#undef GROUT_SPARSE_SCALED_PRODUCT
#undef GROUT_SPARSE_PRODUCT
#undef GROUT_SCALED_PRODUCT
#undef GROUT_BOTH_PRODUCTS

// ---- copies from SMEM ---------------------------------------------------------------------------
// By one lane: rows of 32 or 16 bytes to 128 lanes, 32 rows of 16 bytes to each quarter of them, or
// 64 rows, of which the first half goes to the first two quarters and the second to the others.

#define GROUT_TENSOR_COPY(NAME, SHAPE)                                                             \
    template <int group> GROUT_DEVICE void NAME(grout_u32 address, grout_u64 source) {             \
        if (group == 2) {                                                                          \
            asm volatile("tcgen05.cp.cta_group::2." SHAPE " [%0], %1;"                             \
                         ::"r"(address), "l"(source) : "memory");                                  \
        } else {                                                                                   \
            asm volatile("tcgen05.cp.cta_group::1." SHAPE " [%0], %1;"                             \
                         ::"r"(address), "l"(source) : "memory");                                  \
        }                                                                                          \
    }
GROUT_TENSOR_COPY(grout_tensor_copy_32_bytes, "128x256b")
GROUT_TENSOR_COPY(grout_tensor_copy_16_bytes, "128x128b")
GROUT_TENSOR_COPY(grout_tensor_copy_quarters, "32x128b.warpx4")
GROUT_TENSOR_COPY(grout_tensor_copy_halves, "64x128b.warpx2::01_23")
#undef GROUT_TENSOR_COPY
#undef GROUT_EACH_GROUP

// ---- pairs of CTAs ------------------------------------------------------------------------------

// An arrival on the barrier of the first of these CTAs: by one warp, or by one lane.
template <int order, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_arrive_leader_alone(grout_u32 mbarrier, grout_u32 peers, grout_u32 count = 1) {
    const grout_u32 leader = static_cast<grout_u32>(__ffs(static_cast<int>(peers)) - 1);
    grout_peer_arrive<order, scope>(grout_peer_address(mbarrier, leader), count);
}
template <int order, int scope = GROUT_CLUSTER>
GROUT_DEVICE void grout_arrive_leader(grout_u32 mbarrier, grout_u32 peers, grout_u32 count = 1) {
    if (grout_elect()) {
        grout_arrive_leader_alone<order, scope>(mbarrier, peers, count);
    }
    __syncwarp();
}

// Tensor copies whose bytes complete on an mbarrier of either CTA of the pair, a peer address.
#define GROUT_LIST(...) __VA_ARGS__
#define GROUT_TMA_PAIR(N, COORDINATES, OPERANDS, A, B, C, D, ...)                                  \
    GROUT_DEVICE void grout_tma_load_pair(grout_u32 smem, const grout_tensor_map &map,             \
                                          grout_u32 mbarrier, __VA_ARGS__) {                       \
        asm volatile("cp.async.bulk.tensor." N "d.cta_group::2.shared::cluster.global"             \
                     ".mbarrier::complete_tx::bytes"                                               \
                     " [" A "], [" B ", {" COORDINATES "}], [" C "];"                              \
                     ::OPERANDS, "r"(smem), "l"(&map), "r"(mbarrier) : "memory");                  \
    }                                                                                              \
    GROUT_DEVICE void grout_tma_load_pair_multicast(grout_u32 smem, const grout_tensor_map &map,   \
                                                    grout_u32 mbarrier, grout_u32 peers,           \
                                                    __VA_ARGS__) {                                 \
        asm volatile("cp.async.bulk.tensor." N "d.cta_group::2.shared::cluster.global"             \
                     ".mbarrier::complete_tx::bytes.multicast::cluster"                            \
                     " [" A "], [" B ", {" COORDINATES "}], [" C "], " D ";"                       \
                     ::OPERANDS, "r"(smem), "l"(&map), "r"(mbarrier),                              \
                     "h"(static_cast<grout_u16>(peers)) : "memory");                               \
    }
GROUT_TMA_PAIR("1", "%0", "r"(c0), "%1", "%2", "%3", "%4", grout_i32 c0)
GROUT_TMA_PAIR("2", "%0, %1", GROUT_LIST("r"(c0), "r"(c1)), "%2", "%3", "%4", "%5", grout_i32 c0,
               grout_i32 c1)
GROUT_TMA_PAIR("3", "%0, %1, %2", GROUT_LIST("r"(c0), "r"(c1), "r"(c2)), "%3", "%4", "%5", "%6",
               grout_i32 c0, grout_i32 c1, grout_i32 c2)
GROUT_TMA_PAIR("4", "%0, %1, %2, %3", GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3)), "%4", "%5",
               "%6", "%7", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3)
GROUT_TMA_PAIR("5", "%0, %1, %2, %3, %4",
               GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)), "%5", "%6", "%7", "%8",
               grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3, grout_i32 c4)
#undef GROUT_TMA_PAIR
#undef GROUT_LIST

// ---- rows by TMA --------------------------------------------------------------------------------
// By one lane: four rows of an array, from a column on, for one place in SMEM and back. The box of the
// map is one row. The mbarrier of _pair is a peer address.

typedef grout_vector<grout_i32, 4> grout_rows;

GROUT_DEVICE grout_rows grout_load_rows(grout_u32 address) {
    return grout_load_smem<grout_rows>(address);
}
GROUT_DEVICE grout_rows grout_repeat_row(grout_i32 row) {
    return {{row, row, row, row}};
}
#define GROUT_GATHER(NAME, GROUP)                                                                  \
    GROUT_DEVICE void NAME(grout_u32 smem, const grout_tensor_map &map, grout_u32 mbarrier,        \
                           grout_i32 column, const grout_rows &rows) {                             \
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4"                \
                     ".mbarrier::complete_tx::bytes" GROUP                                         \
                     " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];"                                    \
                     ::"r"(smem), "l"(&map), "r"(mbarrier), "r"(column), "r"(rows.at[0]),          \
                       "r"(rows.at[1]), "r"(rows.at[2]), "r"(rows.at[3]) : "memory");              \
    }                                                                                              \
    GROUT_DEVICE void NAME##_multicast(grout_u32 smem, const grout_tensor_map &map,                \
                                       grout_u32 mbarrier, grout_u32 peers, grout_i32 column,      \
                                       const grout_rows &rows) {                                   \
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4"                \
                     ".mbarrier::complete_tx::bytes.multicast::cluster" GROUP                      \
                     " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;"                                \
                     ::"r"(smem), "l"(&map), "r"(mbarrier), "r"(column), "r"(rows.at[0]),          \
                       "r"(rows.at[1]), "r"(rows.at[2]), "r"(rows.at[3]),                          \
                       "h"(static_cast<grout_u16>(peers)) : "memory");                             \
    }
GROUT_GATHER(grout_tma_gather, "")
GROUT_GATHER(grout_tma_gather_pair, ".cta_group::2")
#undef GROUT_GATHER
GROUT_DEVICE void grout_tma_scatter(const grout_tensor_map &map, grout_u32 smem, grout_i32 column,
                                    const grout_rows &rows) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"
                 " [%0, {%2, %3, %4, %5, %6}], [%1];"
                 ::"l"(&map), "r"(smem), "r"(column), "r"(rows.at[0]), "r"(rows.at[1]),
                   "r"(rows.at[2]), "r"(rows.at[3]) : "memory");
}

// ---- launch control -----------------------------------------------------------------------------

// By one lane: asks for a cluster that has not begun. The answer's 16 bytes complete on the mbarrier.
GROUT_DEVICE void grout_cancel_cluster(grout_u32 answer, grout_u32 mbarrier) {
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".b128 [%0], [%1];" ::"r"(answer), "r"(mbarrier) : "memory");
}
// The same for all CTAs of the cluster.
GROUT_DEVICE void grout_cancel_cluster_multicast(grout_u32 answer, grout_u32 mbarrier) {
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".multicast::cluster::all.b128 [%0], [%1];"
                 ::"r"(answer), "r"(mbarrier) : "memory");
}
// The number of the cluster that was taken, or -1.
GROUT_DEVICE grout_i32 grout_get_cancelled(grout_u32 answer, grout_u32 cluster_size) {
    grout_u32 is_taken, first = 0;
    asm volatile("{ .reg .b128 answer; .reg .pred taken; ld.shared::cta.b128 answer, [%2];"
                 " clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 taken, answer;"
                 " selp.b32 %0, 1, 0, taken; mov.b32 %1, 0;"
                 " @taken clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, answer; }"
                 : "=r"(is_taken), "=r"(first) : "r"(answer) : "memory");
    return is_taken != 0 ? static_cast<grout_i32>(first / cluster_size) : -1;
}

#endif
