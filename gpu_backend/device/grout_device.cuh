// grout_device.cuh - what emitted kernels are written in: lanes, SMEM, barriers, copies, watchdog.
// SPDX-License-Identifier: Apache-2.0
//
// SMEM is addressed by 32-bit shared-window addresses, so that swizzles are plain integer
// arithmetic. PTX forms: PTX ISA 9.0, 'cp.async.bulk.tensor', 'mbarrier', 'Membar / Fence', each
// assembled for sm_90a.
//
// GROUT_WATCHDOG (default 1): barrier waits are bounded, and say where they hang. 0 in benchmarks.
#ifndef GROUT_DEVICE_CUH
#define GROUT_DEVICE_CUH

#ifndef GROUT_WATCHDOG
#define GROUT_WATCHDOG 1
#endif

#include "grout_num.cuh"

// What cuTensorMapEncodeTiled fills; a kernel takes it as 'const __grid_constant__
// grout_tensor_map'.
struct alignas(64) grout_tensor_map {
    grout_u64 opaque[16];
};

// count values that one load or store moves; at most 16 bytes.
template <typename T, int count> struct alignas(sizeof(T) * count) grout_vector {
    T at[count];
    __device__ T &operator[](int i) { return at[i]; }
    __device__ const T &operator[](int i) const { return at[i]; }
};

// ---- where a lane is ----------------------------------------------------------------------------

// A thread of the kernel is one warpgroup of 128 lanes. The shuffles tell the compiler that the
// value is the same in the whole warp, so that branches on it do not diverge.
GROUT_DEVICE grout_u32 grout_warp() {
    return __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
}
GROUT_DEVICE grout_u32 grout_lane() {
    return threadIdx.x % 128;
}

// One lane of the converged warp: the same in every call (the lowest on H200). The lane that
// issues a thread's copies and arrives for it is found where it is needed, by
// 'if (warp % 4 == 0 && grout_elect())' with warp = grout_warp(): ptxas then sees that one lane is
// left, while after a stored or returned bool each copy becomes a loop over lanes.
GROUT_DEVICE bool grout_elect() {
    grout_u32 elected;
    asm volatile("{ .reg .pred chosen; .reg .b32 leader; elect.sync leader|chosen, 0xffffffff;"
                 " selp.b32 %0, 1, 0, chosen; }"
                 : "=r"(elected));
    return elected != 0;
}

// ---- SMEM ---------------------------------------------------------------------------------------

GROUT_DEVICE grout_u32 grout_smem_address(const void *pointer) {
    return static_cast<grout_u32>(__cvta_generic_to_shared(pointer));
}
// Where the kernel's objects start: dynamic SMEM, at a multiple of 1024 (a whole 128-byte swizzle
// atom) because it says so. There is no static SMEM in front of it.
GROUT_DEVICE grout_u32 grout_smem_base() {
    extern __shared__ __align__(1024) unsigned char grout_dynamic_smem[];
    return grout_smem_address(grout_dynamic_smem);
}

// Bytes to and from registers, in one instruction of 1, 2, 4, 8 or 16 bytes. The address has to be
// a multiple of the size.
template <int size> struct grout_move;
#define GROUT_MOVE_SCALAR(SIZE, TYPE, PTX, CONSTRAINT)                                     \
    template <> struct grout_move<SIZE> {                                                  \
        typedef TYPE bits;                                                                 \
        static __device__ __forceinline__ bits load_smem(grout_u32 address) {              \
            bits value;                                                                    \
            asm volatile("ld.shared." PTX " %0, [%1];"                                     \
                         : "=" CONSTRAINT(value)                                           \
                         : "r"(address)                                                    \
                         : "memory");                                                      \
            return value;                                                                  \
        }                                                                                  \
        static __device__ __forceinline__ void store_smem(grout_u32 address, bits value) { \
            asm volatile("st.shared." PTX " [%0], %1;" ::"r"(address), CONSTRAINT(value)   \
                         : "memory");                                                      \
        }                                                                                  \
        static __device__ __forceinline__ bits load_gmem(const void *address) {            \
            bits value;                                                                    \
            asm volatile("ld.global." PTX " %0, [%1];"                                     \
                         : "=" CONSTRAINT(value)                                           \
                         : "l"(address)                                                    \
                         : "memory");                                                      \
            return value;                                                                  \
        }                                                                                  \
        static __device__ __forceinline__ void store_gmem(void *address, bits value) {     \
            asm volatile("st.global." PTX " [%0], %1;" ::"l"(address), CONSTRAINT(value)   \
                         : "memory");                                                      \
        }                                                                                  \
    }
GROUT_MOVE_SCALAR(2, grout_u16, "b16", "h");
GROUT_MOVE_SCALAR(4, grout_u32, "b32", "r");
GROUT_MOVE_SCALAR(8, grout_u64, "b64", "l");
#undef GROUT_MOVE_SCALAR

// Bytes have no register class of their own: they travel in 16 bits.
template <> struct grout_move<1> {
    typedef grout_u8 bits;
    static __device__ __forceinline__ bits load_smem(grout_u32 address) {
        grout_u16 value;
        asm volatile("ld.shared.u8 %0, [%1];" : "=h"(value) : "r"(address) : "memory");
        return static_cast<bits>(value);
    }
    static __device__ __forceinline__ void store_smem(grout_u32 address, bits value) {
        asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "h"(static_cast<grout_u16>(value))
                     : "memory");
    }
    static __device__ __forceinline__ bits load_gmem(const void *address) {
        grout_u16 value;
        asm volatile("ld.global.u8 %0, [%1];" : "=h"(value) : "l"(address) : "memory");
        return static_cast<bits>(value);
    }
    static __device__ __forceinline__ void store_gmem(void *address, bits value) {
        asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "h"(static_cast<grout_u16>(value))
                     : "memory");
    }
};

template <> struct grout_move<16> {
    typedef uint4 bits;
    static __device__ __forceinline__ bits load_smem(grout_u32 address) {
        bits v;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "r"(address)
                     : "memory");
        return v;
    }
    static __device__ __forceinline__ void store_smem(grout_u32 address, bits v) {
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y),
                     "r"(v.z), "r"(v.w)
                     : "memory");
    }
    static __device__ __forceinline__ bits load_gmem(const void *address) {
        bits v;
        asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(address)
                     : "memory");
        return v;
    }
    static __device__ __forceinline__ void store_gmem(void *address, bits v) {
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(v.x), "r"(v.y),
                     "r"(v.z), "r"(v.w)
                     : "memory");
    }
};

// The same bits as another type of the same size.
template <typename To, typename From> GROUT_DEVICE To grout_bits_as(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "both types have the same size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
template <typename T> GROUT_DEVICE T grout_load_smem(grout_u32 address) {
    return grout_bits_as<T>(grout_move<sizeof(T)>::load_smem(address));
}
template <typename T> GROUT_DEVICE void grout_store_smem(grout_u32 address, const T &value) {
    typedef grout_move<sizeof(T)> move;
    move::store_smem(address, grout_bits_as<typename move::bits>(value));
}
template <typename T> GROUT_DEVICE T grout_load_gmem(const void *address) {
    return grout_bits_as<T>(grout_move<sizeof(T)>::load_gmem(address));
}
template <typename T> GROUT_DEVICE void grout_store_gmem(void *address, const T &value) {
    typedef grout_move<sizeof(T)> move;
    move::store_gmem(address, grout_bits_as<typename move::bits>(value));
}

// ---- barriers among lanes -----------------------------------------------------------------------

// Every lane of the block.
GROUT_DEVICE void grout_block_barrier() {
    __syncthreads();
}
// The same hardware barrier where warps come from several places of the text: C++ asks that all of
// them run one __syncthreads, PTX that all lanes of a warp run one bar.sync.
GROUT_DEVICE void grout_block_barrier_apart() {
    asm volatile("bar.sync 0;" ::: "memory");
}
// The 128 lanes of one thread, or the 64 of a thread of two warps: what makes them act as one. Named
// barrier 0 is the block's.
template <int lanes = 128> GROUT_DEVICE void grout_thread_barrier(grout_u32 thread) {
    asm volatile("bar.sync %0, %1;" ::"r"(thread + 1u), "n"(lanes) : "memory");
}
// Any named barrier, 1 to 15; lanes is a multiple of 32.
GROUT_DEVICE void grout_named_barrier(grout_u32 id, grout_u32 lanes) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(lanes) : "memory");
}

// ---- fences -------------------------------------------------------------------------------------

// This lane's SMEM accesses before, async-proxy accesses of the same bytes after: TMA and wgmma.
GROUT_DEVICE void grout_fence_async_smem() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
GROUT_DEVICE void grout_fence_async_gmem() {
    asm volatile("fence.proxy.async.global;" ::: "memory");
}
// After grout_mbarrier_init, before the block or cluster barrier that lets others use the barriers.
GROUT_DEVICE void grout_fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// commit_smem: every lane fences what it did, then all wait, so that any of them may issue.
template <int lanes = 128> GROUT_DEVICE void grout_commit_smem(grout_u32 thread) {
    grout_fence_async_smem();
    grout_thread_barrier<lanes>(thread);
}

// ---- watchdog -----------------------------------------------------------------------------------

// Mirrors grout_gpu_hang of gpu_backend/run/launch.h.
struct grout_hang {
    grout_u32 code, cta[3], thread, barrier, slot, parity, line, actor;
    grout_u64 waited_ns;
    grout_u64 values[8]; // of a debug_check: their bits
};
static_assert(sizeof(grout_hang) == 112, "as in launch.h");

// Mirrors grout_gpu__watchdog of gpu_backend/run/launch_child.h: a kernel parameter.
struct grout_watchdog {
    grout_hang *hangs;  // host memory: at most capacity records
    grout_u32 *state;   // device memory: [0] somebody's time is up, [1] records written or dropped
    grout_u64 limit_ns; // of one wait
    grout_u32 capacity, reserved;
};
static_assert(sizeof(grout_watchdog) == 32, "as in launch_child.h");

enum { GROUT_HANG_BARRIER = 1, GROUT_HANG_SEMAPHORE = 2, GROUT_HANG_CHECK = 3 };

// Ends the kernel. Not __trap(): ptxas takes a path that ends in one for one that leaves the kernel,
// and then no longer brings the lanes of a warp together after branches around it (CUDA 13.0,
// sm_90a; it drops a __syncwarp there, too). The next bar.sync, which half a warp reaches first,
// never ends. A store to nowhere ends the kernel as well, and to ptxas the path goes on.
GROUT_DEVICE void grout_fault(grout_u32 code) {
    asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(0ull), "r"(code) : "memory");
}

GROUT_DEVICE grout_u64 grout_time_ns() {
    grout_u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// Which wait of the kernel this is, for the report: the barrier's number in the manifest, the index
// into its array, the line of the kernel's text, and who waits: 0 the whole thread, 1 + w its warp
// w alone. In a kernel with threads of fewer than four warps, 16 times 1 + the thread's number more.
struct grout_site {
    grout_u32 barrier, slot, line, actor;
};
GROUT_DEVICE grout_u32 grout_get_thread(grout_u32 actor) { return actor < 16u ? threadIdx.x / 128 : actor / 16u - 1u; }

// Called by a lane whose wait did not end in time, or that learnt that another's did not. The
// threads that wait write one record each and get 50 ms to do so; then the kernel faults.
// is_whole: it is a thread of four warps; else a warp, which may be all that there is.
GROUT_DEVICE void grout_report_hang(const grout_watchdog &dog, const grout_hang &hang, bool is_whole) {
    atomicExch(&dog.state[0], 1u);
    if (is_whole ? grout_lane() == 0 : threadIdx.x % 32 == 0) {
        grout_u32 index = atomicAdd(&dog.state[1], 1u);
        if (index < dog.capacity) {
            dog.hangs[index] = hang;
        }
        __threadfence_system();
    }
    const grout_u64 start = grout_time_ns();
    while (grout_time_ns() - start < 50000000ull) {
        __nanosleep(1000);
    }
    grout_fault(hang.code);
}

// Ends the kernel if this wait, which began at start, has lasted too long. A wait shorter than 1 ms
// does not look at the shared state.
GROUT_DEVICE void grout_check_hang(const grout_watchdog &dog, grout_u64 start, grout_u32 code,
                                   grout_site site, grout_u32 parity) {
    const grout_u64 waited = grout_time_ns() - start;
    if (waited < 1000000ull) {
        return;
    }
    if (waited > dog.limit_ns || *(volatile grout_u32 *)&dog.state[0] != 0) {
        const grout_hang hang = {code,
                                 {blockIdx.x, blockIdx.y, blockIdx.z},
                                 grout_get_thread(site.actor),
                                 site.barrier,
                                 site.slot,
                                 parity,
                                 site.line,
                                 site.actor % 16u,
                                 waited};
        grout_report_hang(dog, hang, site.actor == 0);
    }
}

// ---- checks and delays --------------------------------------------------------------------------

// The bits of an element.
template <typename T> GROUT_DEVICE grout_u64 grout_check_bits(const T &value) {
    return grout_bits_as<typename grout_move<sizeof(T)>::bits>(value);
}
// Whether somebody reads records; else what a check says is printed.
GROUT_DEVICE bool grout_has_records(const grout_watchdog &dog) { return dog.capacity > 0; }

// A debug_check is false, at an element of its condition: the number of the operation, the element,
// the line and the actor, as in grout_site, and the values that its text shows. unknown: bits of those
// that the lane does not have.
template <typename... Values>
GROUT_DEVICE void grout_fail_check(const grout_watchdog &dog, grout_site site, grout_u32 unknown,
                                   Values... values) {
    if (grout_has_records(dog)) {
        const grout_hang hang = {GROUT_HANG_CHECK, {blockIdx.x, blockIdx.y, blockIdx.z},
                                 grout_get_thread(site.actor), site.barrier, site.slot, unknown,
                                 site.line, site.actor % 16u, 0, {grout_check_bits(values)...}};
        const grout_u32 index = atomicAdd(&dog.state[1], 1u);
        if (index < dog.capacity) {
            dog.hangs[index] = hang;
        }
        __threadfence_system();
    }
    grout_fault(GROUT_HANG_CHECK);
}

// About this many nanoseconds; the instruction sleeps at most a millisecond.
GROUT_DEVICE void grout_delay(grout_i32 ns) {
    for (grout_i32 left = ns < 1000000000 ? ns : 1000000000; left > 0; left -= 1000000) {
        __nanosleep(left < 1000000 ? left : 1000000);
    }
}

// ---- mbarriers ----------------------------------------------------------------------------------

// What an operation releases or acquires, and for whom.
enum { GROUT_RELAXED, GROUT_ACQUIRE, GROUT_RELEASE, GROUT_ACQ_REL };
enum { GROUT_CTA, GROUT_CLUSTER, GROUT_GPU, GROUT_SYS };

GROUT_DEVICE void grout_mbarrier_init(grout_u32 mbarrier, grout_u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mbarrier), "r"(arrivals)
                 : "memory");
}
GROUT_DEVICE void grout_mbarrier_invalidate(grout_u32 mbarrier) {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(mbarrier) : "memory");
}
// PTX's words for the order and scope of an mbarrier's operation; those that mean its default are
// left out. Relaxed ones need PTX ISA 8.6.
#define GROUT_MBARRIER_FORMS(FORM, ORDER, STRONG) \
    if (ORDER == GROUT_RELAXED) {                 \
        if (scope == GROUT_CTA) {                 \
            FORM(".relaxed.cta");                 \
        } else {                                  \
            FORM(".relaxed.cluster");             \
        }                                         \
    } else {                                      \
        if (scope == GROUT_CTA) {                 \
            FORM("");                             \
        } else {                                  \
            FORM("." STRONG ".cluster");          \
        }                                         \
    }

// Releases what this lane did so far to what waits on this phase.
template <int order = GROUT_RELEASE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_mbarrier_arrive(grout_u32 mbarrier, grout_u32 count = 1) {
#define GROUT_FORM(WORDS)                                                \
    asm volatile("mbarrier.arrive" WORDS ".shared::cta.b64 _, [%0], %1;" \
                 ::"r"(mbarrier), "r"(count) : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "release")
#undef GROUT_FORM
}
// The same, and the phases after this one need as many arrivals less.
template <int order = GROUT_RELEASE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_mbarrier_arrive_drop(grout_u32 mbarrier, grout_u32 count = 1) {
#define GROUT_FORM(WORDS)                                                     \
    asm volatile("mbarrier.arrive_drop" WORDS ".shared::cta.b64 _, [%0], %1;" \
                 ::"r"(mbarrier), "r"(count) : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "release")
#undef GROUT_FORM
}
// A thread's arrival on a barrier that counts warps: each warp arrives when its lanes have met. The
// phase is complete when all four have, so that nobody has to wait for the others here.
template <int order = GROUT_RELEASE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_mbarrier_arrive_warp(grout_u32 mbarrier, grout_u32 count = 1) {
    __syncwarp();
    if (grout_elect()) {
        grout_mbarrier_arrive<order, scope>(mbarrier, count);
    }
}
// One arrival, and the phase waits for this many bytes more.
template <int order = GROUT_RELEASE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_mbarrier_arrive_expect(grout_u32 mbarrier, grout_u32 bytes) {
#define GROUT_FORM(WORDS)                                                          \
    asm volatile("mbarrier.arrive.expect_tx" WORDS ".shared::cta.b64 _, [%0], %1;" \
                 ::"r"(mbarrier), "r"(bytes) : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "release")
#undef GROUT_FORM
}
// The same on a barrier that counts lanes: count arrivals. The phase stays open until the last one.
template <int order = GROUT_RELEASE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_mbarrier_arrive_expect(grout_u32 mbarrier, grout_u32 bytes, grout_u32 count) {
    grout_mbarrier_arrive<order, scope>(mbarrier, count - 1);
    grout_mbarrier_arrive_expect<order, scope>(mbarrier, bytes);
}
// As grout_mbarrier_arrive_expect, and the phases after this one need as many arrivals less.
template <int order = GROUT_RELEASE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_mbarrier_drop_expect(grout_u32 mbarrier, grout_u32 bytes) {
#define GROUT_FORM(WORDS)                                                               \
    asm volatile("mbarrier.arrive_drop.expect_tx" WORDS ".shared::cta.b64 _, [%0], %1;" \
                 ::"r"(mbarrier), "r"(bytes) : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "release")
#undef GROUT_FORM
}
template <int order = GROUT_RELEASE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_mbarrier_drop_expect(grout_u32 mbarrier, grout_u32 bytes, grout_u32 count) {
    grout_mbarrier_arrive_drop<order, scope>(mbarrier, count - 1);
    grout_mbarrier_drop_expect<order, scope>(mbarrier, bytes);
}
// Whether the phase of this parity is complete, at once.
template <int order = GROUT_ACQUIRE, int scope = GROUT_CTA>
GROUT_DEVICE bool grout_mbarrier_test(grout_u32 mbarrier, grout_u32 parity) {
    grout_u32 is_done;
#define GROUT_FORM(WORDS)                                                      \
    asm volatile("{ .reg .pred done; mbarrier.test_wait.parity" WORDS          \
                 ".shared::cta.b64 done, [%1], %2; selp.b32 %0, 1, 0, done; }" \
                 : "=r"(is_done)                                               \
                 : "r"(mbarrier), "r"(parity)                                  \
                 : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "acquire")
#undef GROUT_FORM
    return is_done != 0;
}

#if GROUT_WATCHDOG
// The same, but may sleep for some microseconds.
template <int order = GROUT_ACQUIRE, int scope = GROUT_CTA>
GROUT_DEVICE bool grout_mbarrier_try_wait(grout_u32 mbarrier, grout_u32 parity) {
    grout_u32 is_done;
#define GROUT_FORM(WORDS)                                                      \
    asm volatile("{ .reg .pred done; mbarrier.try_wait.parity" WORDS           \
                 ".shared::cta.b64 done, [%1], %2; selp.b32 %0, 1, 0, done; }" \
                 : "=r"(is_done)                                               \
                 : "r"(mbarrier), "r"(parity)                                  \
                 : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "acquire")
#undef GROUT_FORM
    return is_done != 0;
}
template <int order = GROUT_ACQUIRE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_mbarrier_wait(grout_u32 mbarrier, grout_u32 parity,
                                      const grout_watchdog &dog, grout_site site) {
    if (grout_mbarrier_try_wait<order, scope>(mbarrier, parity)) {
        return;
    }
    const grout_u64 start = grout_time_ns();
    while (!grout_mbarrier_try_wait<order, scope>(mbarrier, parity)) {
        grout_check_hang(dog, start, GROUT_HANG_BARRIER, site, parity);
    }
}
#else
// The loop is in the asm block: who reads the PTX finds the wait whole, and not a branch on a value
// that some instructions ago came from a try_wait.
template <int order = GROUT_ACQUIRE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_mbarrier_wait(grout_u32 mbarrier, grout_u32 parity, const grout_watchdog &,
                                      grout_site) {
#define GROUT_FORM(WORDS)                                                                \
    asm volatile("{ .reg .pred done; AGAIN: mbarrier.try_wait.parity" WORDS              \
                 ".shared::cta.b64 done, [%0], %1; @!done bra AGAIN; }" ::"r"(mbarrier), \
                 "r"(parity)                                                             \
                 : "memory")
    GROUT_MBARRIER_FORMS(GROUT_FORM, order, "acquire")
#undef GROUT_FORM
}
#endif

// Which phase each barrier of an array is in, modulo 2: bit k of the words is element k's. For a
// thread that takes over barriers that others have used; nobody arrives on them meanwhile.
GROUT_DEVICE void grout_read_phases(grout_u32 barriers, grout_u32 count, grout_u32 *phases) {
    for (grout_u32 k = 0; k < count; k++) {
        grout_u32 is_odd;
        asm volatile("{ .reg .pred done; mbarrier.test_wait.parity.shared::cta.b64 done, [%1], 0;"
                     " selp.b32 %0, 1, 0, done; }"
                     : "=r"(is_odd)
                     : "r"(barriers + 8u * k)
                     : "memory");
        phases[k / 32] = (phases[k / 32] & ~(1u << k % 32)) | is_odd << k % 32;
    }
}

// barrier_wait: the thread's next phase of a barrier array's element. Bit slot of phases is the
// parity of the next wait on that element.
template <int order = GROUT_ACQUIRE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_barrier_wait(grout_u32 barriers, grout_u32 &phases,
                                     const grout_watchdog &dog, grout_site site) {
    grout_mbarrier_wait<order, scope>(barriers + 8u * site.slot, (phases >> site.slot) & 1u, dog,
                                      site);
    phases ^= 1u << site.slot;
}

// barrier_arrive on an array of barriers that count the warps of several threads. A warp may run
// ahead of the other three, but not so far that its next arrival counts for a phase that lacks one
// of theirs: bit slot of arrived says that this thread has arrived since its warps last met here.
template <int order = GROUT_RELEASE, int scope = GROUT_CTA>
GROUT_DEVICE void grout_barrier_arrive(grout_u32 thread, grout_u32 barriers, grout_u32 slot,
                                       grout_u32 &arrived, grout_u32 count = 1) {
    if ((arrived >> slot & 1u) != 0) {
        grout_thread_barrier(thread);
        arrived = 0;
    }
    arrived |= 1u << slot;
    grout_mbarrier_arrive_warp<order, scope>(barriers + 8u * slot, count);
}

// ---- tensor core --------------------------------------------------------------------------------
// By all four warps of a thread. The function that multiplies stands before the kernel, one for
// each form of the instruction that it uses.

// Before a wgmma whose registers others have written, and before the first.
GROUT_DEVICE void grout_wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
// Closes the thread's open group of wgmmas.
GROUT_DEVICE void grout_wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// At most pending of the thread's newest groups are in flight afterwards.
template <int pending> GROUT_DEVICE void grout_wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
// Keeps the compiler from moving uses of these registers across: before a wgmma they are
// written by then, after a wait they are not read earlier.
template <int count> GROUT_DEVICE void grout_wgmma_hold(grout_f32 *registers) {
#pragma unroll
    for (int reg = 0; reg < count; reg++) {
        asm volatile("" : "+f"(registers[reg])::"memory");
    }
}
template <int count> GROUT_DEVICE void grout_wgmma_hold(grout_i32 *registers) {
#pragma unroll
    for (int reg = 0; reg < count; reg++) {
        asm volatile("" : "+r"(registers[reg])::"memory");
    }
}
template <int count> GROUT_DEVICE void grout_wgmma_hold(grout_u32 *registers) {
#pragma unroll
    for (int reg = 0; reg < count; reg++) {
        asm volatile("" : "+r"(registers[reg])::"memory");
    }
}
// What a register of an a becomes. The compiler does not know that the tensor core reads it later:
// a move that it leaves where it stands, after the wait for who read the register before.
GROUT_DEVICE grout_u32 grout_wgmma_take(grout_u32 value) {
    grout_u32 taken;
    asm volatile("mov.b32 %0, %1;" : "=r"(taken) : "r"(value) : "memory");
    return taken;
}
// A matrix descriptor: where an operand starts, in units of 16 bytes and, from bit 16 on, the
// distance of the leading dimension in the same units; and its upper half, which is a constant.
GROUT_DEVICE grout_u32 grout_operand_start(grout_u32 address) {
    return (address & 0x3ffffu) >> 4;
}
GROUT_DEVICE grout_u64 grout_operand(grout_u32 low, grout_u32 high) {
    grout_u64 descriptor;
    asm("mov.b64 %0, {%1, %2};" : "=l"(descriptor) : "r"(low), "r"(high));
    return descriptor;
}

// set_max_registers, by all warps of a thread.
template <int count> GROUT_DEVICE void grout_increase_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> GROUT_DEVICE void grout_decrease_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

// ---- tensor copies ------------------------------------------------------------------------------
// By one lane. Coordinates are in elements, dimension 0 (the fastest) first. A load's bytes
// complete on the mbarrier; a store belongs to the lane's open bulk group. The policy of the _hint
// forms (a constant below) says what L2 is to do with the lines.

#define GROUT_EVICT_NORMAL 0x1000000000000000ull
#define GROUT_EVICT_FIRST  0x12F0000000000000ull
#define GROUT_EVICT_LAST   0x14F0000000000000ull

GROUT_DEVICE void grout_prefetch_tensor_map(const grout_tensor_map &map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// The coordinates are operands %0 to %(N-1); A, B, C, D are the next four operand numbers.
#define GROUT_TMA(N, COORDINATES, OPERANDS, A, B, C, D, ...)                                      \
    GROUT_DEVICE void grout_tma_load(grout_u32 smem, const grout_tensor_map &map,                 \
                                     grout_u32 mbarrier, __VA_ARGS__) {                           \
        asm volatile("cp.async.bulk.tensor." N "d.shared::cluster.global"                         \
                     ".mbarrier::complete_tx::bytes [" A "], [" B ", {" COORDINATES "}], [" C     \
                     "];" ::OPERANDS,                                                             \
                     "r"(smem), "l"(&map), "r"(mbarrier)                                          \
                     : "memory");                                                                 \
    }                                                                                             \
    GROUT_DEVICE void grout_tma_load_hint(grout_u32 smem, const grout_tensor_map &map,            \
                                          grout_u32 mbarrier, grout_u64 policy, __VA_ARGS__) {    \
        asm volatile("cp.async.bulk.tensor." N "d.shared::cluster.global"                         \
                     ".mbarrier::complete_tx::bytes.L2::cache_hint"                               \
                     " [" A "], [" B ", {" COORDINATES "}], [" C "], " D ";" ::OPERANDS,          \
                     "r"(smem), "l"(&map), "r"(mbarrier), "l"(policy)                             \
                     : "memory");                                                                 \
    }                                                                                             \
    GROUT_DEVICE void grout_tma_prefetch(const grout_tensor_map &map, __VA_ARGS__) {              \
        asm volatile("cp.async.bulk.prefetch.tensor." N "d.L2.global [" A ", {" COORDINATES       \
                     "}];" ::OPERANDS,                                                            \
                     "l"(&map)                                                                    \
                     : "memory");                                                                 \
    }                                                                                             \
    GROUT_DEVICE void grout_tma_store(const grout_tensor_map &map, grout_u32 smem, __VA_ARGS__) { \
        asm volatile("cp.async.bulk.tensor." N "d.global.shared::cta.bulk_group"                  \
                     " [" B ", {" COORDINATES "}], [" A "];" ::OPERANDS,                          \
                     "r"(smem), "l"(&map)                                                         \
                     : "memory");                                                                 \
    }                                                                                             \
    GROUT_DEVICE void grout_tma_store_hint(const grout_tensor_map &map, grout_u32 smem,           \
                                           grout_u64 policy, __VA_ARGS__) {                       \
        asm volatile("cp.async.bulk.tensor." N "d.global.shared::cta.bulk_group.L2::cache_hint"   \
                     " [" B ", {" COORDINATES "}], [" A "], " C ";" ::OPERANDS,                   \
                     "r"(smem), "l"(&map), "l"(policy)                                            \
                     : "memory");                                                                 \
    }
// A list that has to pass through a macro argument as one.
#define GROUT_LIST(...) __VA_ARGS__

GROUT_TMA("1", "%0", "r"(c0), "%1", "%2", "%3", "%4", grout_i32 c0)
GROUT_TMA("2", "%0, %1", GROUT_LIST("r"(c0), "r"(c1)), "%2", "%3", "%4", "%5", grout_i32 c0,
          grout_i32 c1)
GROUT_TMA("3", "%0, %1, %2", GROUT_LIST("r"(c0), "r"(c1), "r"(c2)), "%3", "%4", "%5", "%6",
          grout_i32 c0, grout_i32 c1, grout_i32 c2)
GROUT_TMA("4", "%0, %1, %2, %3", GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3)), "%4", "%5", "%6",
          "%7", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3)
GROUT_TMA("5", "%0, %1, %2, %3, %4", GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)), "%5",
          "%6", "%7", "%8", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3, grout_i32 c4)
#undef GROUT_TMA
#undef GROUT_LIST

// ---- bulk copies ---------------------------------------------------------------------------------
// One run of bytes without a tensor map, by one lane: start bytes into the array, to or from an SMEM
// address; both and the number of bytes are multiples of 16.

GROUT_DEVICE const void *grout_bulk_address(const void *array, grout_i64 start) {
    return static_cast<const char *>(array) + start;
}
GROUT_DEVICE void grout_bulk_load(grout_u32 smem, const void *array, grout_i64 start,
                                  grout_u32 bytes, grout_u32 mbarrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];"
                 ::"r"(smem), "l"(grout_bulk_address(array, start)), "r"(bytes), "r"(mbarrier)
                 : "memory");
}
GROUT_DEVICE void grout_bulk_load_multicast(grout_u32 smem, const void *array, grout_i64 start,
                                            grout_u32 bytes, grout_u32 mbarrier, grout_u32 peers) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], %2, [%3], %4;"
                 ::"r"(smem), "l"(grout_bulk_address(array, start)), "r"(bytes), "r"(mbarrier),
                   "h"(static_cast<grout_u16>(peers))
                 : "memory");
}
// Only what the array has of the run; the mbarrier gets the bytes of all.
GROUT_DEVICE void grout_bulk_load_clipped(grout_u32 smem, const void *array, grout_i64 start,
                                          grout_u32 bytes, grout_i64 array_bytes,
                                          grout_u32 mbarrier) {
    const grout_i64 low = start < 0 ? 0 : start;
    const grout_i64 high = start + bytes < array_bytes ? start + bytes : array_bytes;
    const grout_u32 inside = high > low ? static_cast<grout_u32>(high - low) : 0;
    if (inside > 0) {
        grout_bulk_load(smem + static_cast<grout_u32>(low - start), array, low, inside, mbarrier);
    }
    if (inside < bytes) {
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                     ::"r"(mbarrier), "r"(bytes - inside) : "memory");
    }
}
GROUT_DEVICE void grout_bulk_store(grout_u32 smem, const void *array, grout_i64 start,
                                   grout_u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(grout_bulk_address(array, start)), "r"(smem), "r"(bytes) : "memory");
}

// Closes the lane's open bulk group of stores.
GROUT_DEVICE void grout_bulk_commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// At most pending of the lane's newest groups are in flight afterwards; their writes are visible.
template <int pending> GROUT_DEVICE void grout_bulk_wait() {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}
// The same for the reads only: the SMEM sources may be overwritten.
template <int pending> GROUT_DEVICE void grout_bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

#endif
