// grout_device.cuh - what emitted kernels are written in: PTX wrappers and the arithmetic of num.h.
//
// Self-contained: NVRTC and nvcc compile it without any include directory. SMEM is addressed by
// 32-bit shared-window addresses, so that swizzles are plain integer arithmetic. PTX forms: PTX
// ISA 9.0, the ones marked as assembled for sm_90a in docs/hardware_facts.md sections 2 to 4.
//
// GROUT_WATCHDOG (default 1): barrier waits are bounded, and say where they hang. 0 in benchmarks.
#ifndef GROUT_DEVICE_CUH
#define GROUT_DEVICE_CUH

#ifndef GROUT_WATCHDOG
#define GROUT_WATCHDOG 1
#endif

#define GROUT_DEVICE static __device__ __forceinline__

// ---- types --------------------------------------------------------------------------------------

typedef signed char grout_i8;
typedef unsigned char grout_u8;
typedef short grout_i16;
typedef unsigned short grout_u16;
typedef int grout_i32;
typedef unsigned int grout_u32;
typedef long long grout_i64;
typedef unsigned long long grout_u64;
typedef float grout_f32;
typedef double grout_f64;

// The narrow floats are bits with a type of their own: nothing converts them by accident.
struct grout_f16 { grout_u16 bits; };
struct grout_bf16 { grout_u16 bits; };
struct grout_f8e4m3 { grout_u8 bits; };
struct grout_f8e5m2 { grout_u8 bits; };

// What cuTensorMapEncodeTiled fills; a kernel takes it as 'const __grid_constant__
// grout_tensor_map'.
struct alignas(64) grout_tensor_map { grout_u64 opaque[16]; };

// count values that one load or store moves; at most 16 bytes.
template <typename T, int count> struct alignas(sizeof(T) * count) grout_vector {
    T at[count];
    __device__ T &operator[](int i) { return at[i]; }
    __device__ const T &operator[](int i) const { return at[i]; }
};

// ---- where a lane is ----------------------------------------------------------------------------

// A thread of the kernel is one warpgroup of 128 lanes. The shuffles tell the compiler that the
// value is the same in the whole warp, so that branches on it do not diverge.
GROUT_DEVICE grout_u32 grout_warp() { return __shfl_sync(0xffffffffu, threadIdx.x / 32, 0); }
GROUT_DEVICE grout_u32 grout_thread() { return grout_warp() / 4; }
GROUT_DEVICE grout_u32 grout_lane() { return threadIdx.x % 128; }

// One lane of the converged warp: the same in every call (the lowest on H200).
GROUT_DEVICE bool grout_elect() {
    grout_u32 elected;
    asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0xffffffff; selp.b32 %0, 1, 0, p; }"
                 : "=r"(elected));
    return elected != 0;
}
// The one lane of a thread that issues its copies and arrives for it.
GROUT_DEVICE bool grout_issuer() { return grout_warp() % 4 == 0 && grout_elect(); }

// ---- SMEM ---------------------------------------------------------------------------------------

GROUT_DEVICE grout_u32 grout_smem_address(const void *pointer) {
    return static_cast<grout_u32>(__cvta_generic_to_shared(pointer));
}
// Where the kernel's objects start: the first multiple of 1024 (a whole 128-byte swizzle atom) in
// dynamic SMEM. The launch gives 1024 bytes more than the plan uses.
GROUT_DEVICE grout_u32 grout_smem_base() {
    extern __shared__ unsigned char grout_dynamic_smem[];
    return (grout_smem_address(grout_dynamic_smem) + 1023u) & ~1023u;
}

// Bytes to and from registers, in one instruction of 1, 2, 4, 8 or 16 bytes. The address has to be
// a multiple of the size.
template <int size> struct grout_move;
#define GROUT_MOVE_SCALAR(SIZE, TYPE, PTX, CONSTRAINT)                                             \
    template <> struct grout_move<SIZE> {                                                          \
        typedef TYPE bits;                                                                         \
        static __device__ __forceinline__ bits load_smem(grout_u32 address) {                      \
            bits value;                                                                            \
            asm volatile("ld.shared." PTX " %0, [%1];"                                             \
                         : "=" CONSTRAINT(value) : "r"(address) : "memory");                       \
            return value;                                                                          \
        }                                                                                          \
        static __device__ __forceinline__ void store_smem(grout_u32 address, bits value) {         \
            asm volatile("st.shared." PTX " [%0], %1;"                                             \
                         :: "r"(address), CONSTRAINT(value) : "memory");                           \
        }                                                                                          \
        static __device__ __forceinline__ bits load_gmem(const void *address) {                    \
            bits value;                                                                            \
            asm volatile("ld.global." PTX " %0, [%1];"                                             \
                         : "=" CONSTRAINT(value) : "l"(address) : "memory");                       \
            return value;                                                                          \
        }                                                                                          \
        static __device__ __forceinline__ void store_gmem(void *address, bits value) {             \
            asm volatile("st.global." PTX " [%0], %1;"                                             \
                         :: "l"(address), CONSTRAINT(value) : "memory");                           \
        }                                                                                          \
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
        asm volatile("st.shared.u8 [%0], %1;"
                     ::"r"(address), "h"(static_cast<grout_u16>(value)) : "memory");
    }
    static __device__ __forceinline__ bits load_gmem(const void *address) {
        grout_u16 value;
        asm volatile("ld.global.u8 %0, [%1];" : "=h"(value) : "l"(address) : "memory");
        return static_cast<bits>(value);
    }
    static __device__ __forceinline__ void store_gmem(void *address, bits value) {
        asm volatile("st.global.u8 [%0], %1;"
                     ::"l"(address), "h"(static_cast<grout_u16>(value)) : "memory");
    }
};

template <> struct grout_move<16> {
    typedef uint4 bits;
    static __device__ __forceinline__ bits load_smem(grout_u32 address) {
        bits v;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address) : "memory");
        return v;
    }
    static __device__ __forceinline__ void store_smem(grout_u32 address, bits v) {
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
                     ::"r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    }
    static __device__ __forceinline__ bits load_gmem(const void *address) {
        bits v;
        asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(address) : "memory");
        return v;
    }
    static __device__ __forceinline__ void store_gmem(void *address, bits v) {
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                     ::"l"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
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
GROUT_DEVICE void grout_block_barrier() { __syncthreads(); }
// The 128 lanes of one thread: what makes them act as one. Named barrier 0 is the block's.
GROUT_DEVICE void grout_thread_barrier(grout_u32 thread) {
    asm volatile("bar.sync %0, 128;" ::"r"(thread + 1u) : "memory");
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
GROUT_DEVICE void grout_commit_smem(grout_u32 thread) {
    grout_fence_async_smem();
    grout_thread_barrier(thread);
}

// ---- watchdog -----------------------------------------------------------------------------------

// Mirrors grout_gpu_hang of gpu_backend/launch.h.
struct grout_hang {
    grout_u32 code, cta[3], thread, barrier, slot, parity, line, reserved;
    grout_u64 waited_ns;
};
static_assert(sizeof(grout_hang) == 48, "as in launch.h");

// Mirrors grout_gpu__watchdog of gpu_backend/launch_child.h: a kernel parameter.
struct grout_watchdog {
    grout_hang *hangs;   // host memory: at most capacity records
    grout_u32 *state;    // device memory: [0] somebody's time is up, [1] records written or dropped
    grout_u64 limit_ns;  // of one wait
    grout_u32 capacity, reserved;
};
static_assert(sizeof(grout_watchdog) == 32, "as in launch_child.h");

enum { GROUT_HANG_BARRIER = 1, GROUT_HANG_SEMAPHORE = 2 };

GROUT_DEVICE grout_u64 grout_time_ns() {
    grout_u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// Which wait of the kernel this is, for the report: the barrier's number in the manifest, the index
// into its array, the line of the kernel's text.
struct grout_site { grout_u32 barrier, slot, line; };

// Called by a lane whose wait did not end in time, or who learnt that another's did not. The
// threads that wait write one record each and get 50 ms to do so; then the kernel traps.
GROUT_DEVICE void grout_report_hang(const grout_watchdog &dog, const grout_hang &hang) {
    atomicExch(&dog.state[0], 1u);
    if (grout_lane() == 0) {
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
    __trap();
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
        const grout_hang hang = {code, {blockIdx.x, blockIdx.y, blockIdx.z}, threadIdx.x / 128,
                                 site.barrier, site.slot, parity, site.line, 0, waited};
        grout_report_hang(dog, hang);
    }
}

// ---- mbarriers ----------------------------------------------------------------------------------

GROUT_DEVICE void grout_mbarrier_init(grout_u32 mbarrier, grout_u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 ::"r"(mbarrier), "r"(arrivals) : "memory");
}
GROUT_DEVICE void grout_mbarrier_invalidate(grout_u32 mbarrier) {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(mbarrier) : "memory");
}
// Releases what this lane did so far to whoever waits on this phase.
GROUT_DEVICE void grout_mbarrier_arrive(grout_u32 mbarrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(mbarrier) : "memory");
}
GROUT_DEVICE void grout_mbarrier_arrive(grout_u32 mbarrier, grout_u32 count) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;"
                 ::"r"(mbarrier), "r"(count) : "memory");
}
// One arrival, and the phase waits for so many bytes more.
GROUT_DEVICE void grout_mbarrier_arrive_expect(grout_u32 mbarrier, grout_u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(mbarrier), "r"(bytes) : "memory");
}
// Whether the phase of this parity is complete; may sleep for some microseconds.
GROUT_DEVICE bool grout_mbarrier_try_wait(grout_u32 mbarrier, grout_u32 parity) {
    grout_u32 done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "  selp.b32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(mbarrier), "r"(parity) : "memory");
    return done != 0;
}
GROUT_DEVICE void grout_mbarrier_wait(grout_u32 mbarrier, grout_u32 parity,
                                      const grout_watchdog &dog, grout_site site) {
    if (grout_mbarrier_try_wait(mbarrier, parity)) {
        return;
    }
#if GROUT_WATCHDOG
    const grout_u64 start = grout_time_ns();
    while (!grout_mbarrier_try_wait(mbarrier, parity)) {
        grout_check_hang(dog, start, GROUT_HANG_BARRIER, site, parity);
    }
#else
    while (!grout_mbarrier_try_wait(mbarrier, parity)) {
    }
#endif
}

// barrier_wait: the thread's next phase of a barrier array's element. Bit slot of phases is the
// parity that the next wait on that element stands for.
GROUT_DEVICE void grout_barrier_wait(grout_u32 barriers, grout_u32 &phases,
                                     const grout_watchdog &dog, grout_site site) {
    grout_mbarrier_wait(barriers + 8u * site.slot, (phases >> site.slot) & 1u, dog, site);
    phases ^= 1u << site.slot;
}

// ---- tensor copies ------------------------------------------------------------------------------
// By one lane. Coordinates are in elements, dimension 0 (the fastest) first. A load's bytes
// complete on the mbarrier; a store belongs to the lane's open bulk group. The policy of the _hint
// forms (a constant below) says what L2 is to do with the lines.

#define GROUT_EVICT_NORMAL 0x1000000000000000ull
#define GROUT_EVICT_FIRST 0x12F0000000000000ull
#define GROUT_EVICT_LAST 0x14F0000000000000ull

GROUT_DEVICE void grout_prefetch_tensor_map(const grout_tensor_map &map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// The coordinates are operands %0 to %(N-1); A, B, C, D are the next four operand numbers.
#define GROUT_TMA(N, COORDINATES, OPERANDS, A, B, C, D, ...)                                       \
    GROUT_DEVICE void grout_tma_load(grout_u32 smem, const grout_tensor_map &map,                  \
                                     grout_u32 mbarrier, __VA_ARGS__) {                            \
        asm volatile("cp.async.bulk.tensor." N "d.shared::cluster.global"                          \
                     ".mbarrier::complete_tx::bytes [" A "], [" B ", {" COORDINATES "}], [" C "];" \
                     ::OPERANDS, "r"(smem), "l"(&map), "r"(mbarrier) : "memory");                  \
    }                                                                                              \
    GROUT_DEVICE void grout_tma_load_hint(grout_u32 smem, const grout_tensor_map &map,             \
                                          grout_u32 mbarrier, grout_u64 policy, __VA_ARGS__) {     \
        asm volatile("cp.async.bulk.tensor." N "d.shared::cluster.global"                          \
                     ".mbarrier::complete_tx::bytes.L2::cache_hint"                                \
                     " [" A "], [" B ", {" COORDINATES "}], [" C "], " D ";"                       \
                     ::OPERANDS, "r"(smem), "l"(&map), "r"(mbarrier), "l"(policy) : "memory");     \
    }                                                                                              \
    GROUT_DEVICE void grout_tma_store(const grout_tensor_map &map, grout_u32 smem, __VA_ARGS__) {  \
        asm volatile("cp.async.bulk.tensor." N "d.global.shared::cta.bulk_group"                   \
                     " [" B ", {" COORDINATES "}], [" A "];"                                       \
                     ::OPERANDS, "r"(smem), "l"(&map) : "memory");                                 \
    }                                                                                              \
    GROUT_DEVICE void grout_tma_store_hint(const grout_tensor_map &map, grout_u32 smem,            \
                                           grout_u64 policy, __VA_ARGS__) {                        \
        asm volatile("cp.async.bulk.tensor." N "d.global.shared::cta.bulk_group.L2::cache_hint"    \
                     " [" B ", {" COORDINATES "}], [" A "], " C ";"                                \
                     ::OPERANDS, "r"(smem), "l"(&map), "l"(policy) : "memory");                    \
    }
// A list that has to pass through a macro argument as one.
#define GROUT_LIST(...) __VA_ARGS__

GROUT_TMA("1", "%0", "r"(c0), "%1", "%2", "%3", "%4", grout_i32 c0)
GROUT_TMA("2", "%0, %1", GROUT_LIST("r"(c0), "r"(c1)), "%2", "%3", "%4", "%5",
          grout_i32 c0, grout_i32 c1)
GROUT_TMA("3", "%0, %1, %2", GROUT_LIST("r"(c0), "r"(c1), "r"(c2)), "%3", "%4", "%5", "%6",
          grout_i32 c0, grout_i32 c1, grout_i32 c2)
GROUT_TMA("4", "%0, %1, %2, %3", GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3)),
          "%4", "%5", "%6", "%7", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3)
GROUT_TMA("5", "%0, %1, %2, %3, %4", GROUT_LIST("r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)),
          "%5", "%6", "%7", "%8", grout_i32 c0, grout_i32 c1, grout_i32 c2, grout_i32 c3,
          grout_i32 c4)
#undef GROUT_TMA
#undef GROUT_LIST

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

// ---- arithmetic ---------------------------------------------------------------------------------
// The operations of num.h, with its meaning, as overloads: integers wrap, division by zero is 0,
// shifts by the width or more leave 0 or the sign, min and max propagate NaN, floats never
// contract.

GROUT_DEVICE grout_i32 grout_add(grout_i32 a, grout_i32 b) {
    return (grout_i32)((grout_u32)a + (grout_u32)b);
}
GROUT_DEVICE grout_u32 grout_add(grout_u32 a, grout_u32 b) { return a + b; }
GROUT_DEVICE grout_f32 grout_add(grout_f32 a, grout_f32 b) { return __fadd_rn(a, b); }
GROUT_DEVICE grout_i32 grout_sub(grout_i32 a, grout_i32 b) {
    return (grout_i32)((grout_u32)a - (grout_u32)b);
}
GROUT_DEVICE grout_u32 grout_sub(grout_u32 a, grout_u32 b) { return a - b; }
GROUT_DEVICE grout_f32 grout_sub(grout_f32 a, grout_f32 b) { return __fsub_rn(a, b); }
GROUT_DEVICE grout_i32 grout_mul(grout_i32 a, grout_i32 b) {
    return (grout_i32)((grout_u32)a * (grout_u32)b);
}
GROUT_DEVICE grout_u32 grout_mul(grout_u32 a, grout_u32 b) { return a * b; }
GROUT_DEVICE grout_f32 grout_mul(grout_f32 a, grout_f32 b) { return __fmul_rn(a, b); }
GROUT_DEVICE grout_i32 grout_div(grout_i32 a, grout_i32 b) {
    return b == 0 ? 0 : b == -1 ? grout_sub(0, a) : a / b;
}
GROUT_DEVICE grout_u32 grout_div(grout_u32 a, grout_u32 b) { return b == 0 ? 0u : a / b; }
GROUT_DEVICE grout_f32 grout_div(grout_f32 a, grout_f32 b) { return __fdiv_rn(a, b); }
GROUT_DEVICE grout_i32 grout_rem(grout_i32 a, grout_i32 b) { return b == 0 || b == -1 ? 0 : a % b; }
GROUT_DEVICE grout_u32 grout_rem(grout_u32 a, grout_u32 b) { return b == 0 ? 0u : a % b; }
GROUT_DEVICE grout_i32 grout_cdiv(grout_i32 a, grout_i32 b) {
    const grout_i32 quotient = grout_div(a, b);
    return b != 0 && grout_rem(a, b) != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}
GROUT_DEVICE grout_u32 grout_cdiv(grout_u32 a, grout_u32 b) {
    return b == 0 ? 0u : a / b + (a % b != 0 ? 1u : 0u);
}
GROUT_DEVICE grout_f32 grout_fma(grout_f32 a, grout_f32 b, grout_f32 c) {
    return __fmaf_rn(a, b, c);
}

GROUT_DEVICE grout_i32 grout_min(grout_i32 a, grout_i32 b) { return a < b ? a : b; }
GROUT_DEVICE grout_u32 grout_min(grout_u32 a, grout_u32 b) { return a < b ? a : b; }
GROUT_DEVICE grout_f32 grout_min(grout_f32 a, grout_f32 b) {
    grout_f32 d;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}
GROUT_DEVICE grout_i32 grout_max(grout_i32 a, grout_i32 b) { return a > b ? a : b; }
GROUT_DEVICE grout_u32 grout_max(grout_u32 a, grout_u32 b) { return a > b ? a : b; }
GROUT_DEVICE grout_f32 grout_max(grout_f32 a, grout_f32 b) {
    grout_f32 d;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}
GROUT_DEVICE grout_i32 grout_neg(grout_i32 a) { return grout_sub(0, a); }
GROUT_DEVICE grout_u32 grout_neg(grout_u32 a) { return 0u - a; }
GROUT_DEVICE grout_f32 grout_neg(grout_f32 a) {
    return __uint_as_float(__float_as_uint(a) ^ 0x80000000u);
}
GROUT_DEVICE grout_i32 grout_abs(grout_i32 a) { return a < 0 ? grout_neg(a) : a; }
GROUT_DEVICE grout_u32 grout_abs(grout_u32 a) { return a; }
GROUT_DEVICE grout_f32 grout_abs(grout_f32 a) {
    return __uint_as_float(__float_as_uint(a) & 0x7fffffffu);
}

GROUT_DEVICE grout_i32 grout_and(grout_i32 a, grout_i32 b) { return a & b; }
GROUT_DEVICE grout_u32 grout_and(grout_u32 a, grout_u32 b) { return a & b; }
GROUT_DEVICE bool grout_and(bool a, bool b) { return a && b; }
GROUT_DEVICE grout_i32 grout_or(grout_i32 a, grout_i32 b) { return a | b; }
GROUT_DEVICE grout_u32 grout_or(grout_u32 a, grout_u32 b) { return a | b; }
GROUT_DEVICE bool grout_or(bool a, bool b) { return a || b; }
GROUT_DEVICE grout_i32 grout_xor(grout_i32 a, grout_i32 b) { return a ^ b; }
GROUT_DEVICE grout_u32 grout_xor(grout_u32 a, grout_u32 b) { return a ^ b; }
GROUT_DEVICE bool grout_xor(bool a, bool b) { return a != b; }
GROUT_DEVICE grout_i32 grout_not(grout_i32 a) { return ~a; }
GROUT_DEVICE grout_u32 grout_not(grout_u32 a) { return ~a; }
GROUT_DEVICE bool grout_not(bool a) { return !a; }

// PTX: shl and shr clamp the shift at 32, which is what num.h asks for; a negative one is a large
// one.
GROUT_DEVICE grout_u32 grout_shl(grout_u32 a, grout_u32 b) {
    grout_u32 d;
    asm("shl.b32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
GROUT_DEVICE grout_i32 grout_shl(grout_i32 a, grout_i32 b) {
    return (grout_i32)grout_shl((grout_u32)a, (grout_u32)b);
}
GROUT_DEVICE grout_u32 grout_shr(grout_u32 a, grout_u32 b) {
    grout_u32 d;
    asm("shr.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
GROUT_DEVICE grout_i32 grout_shr(grout_i32 a, grout_i32 b) {
    grout_i32 d;
    asm("shr.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"((grout_u32)b));
    return d;
}

// The names that the expressions of ops.def use.
#define GROUT_ADD(a, b) grout_add(a, b)
#define GROUT_SUB(a, b) grout_sub(a, b)
#define GROUT_MUL(a, b) grout_mul(a, b)
#define GROUT_DIV(a, b) grout_div(a, b)
#define GROUT_REM(a, b) grout_rem(a, b)
#define GROUT_CDIV(a, b) grout_cdiv(a, b)
#define GROUT_MIN(a, b) grout_min(a, b)
#define GROUT_MAX(a, b) grout_max(a, b)
#define GROUT_FMA(a, b, c) grout_fma(a, b, c)
#define GROUT_NEG(a) grout_neg(a)
#define GROUT_ABS(a) grout_abs(a)
#define GROUT_AND(a, b) grout_and(a, b)
#define GROUT_OR(a, b) grout_or(a, b)
#define GROUT_XOR(a, b) grout_xor(a, b)
#define GROUT_NOT(a) grout_not(a)
#define GROUT_SHL(a, b) grout_shl(a, b)
#define GROUT_SHR(a, b) grout_shr(a, b)
#define GROUT_EQ(a, b) ((a) == (b))
#define GROUT_NE(a, b) ((a) != (b))
#define GROUT_LT(a, b) ((a) < (b))
#define GROUT_LE(a, b) ((a) <= (b))
#define GROUT_GT(a, b) ((a) > (b))
#define GROUT_GE(a, b) ((a) >= (b))

// ---- conversions --------------------------------------------------------------------------------
// grout_cast<To>(a): floats round once, to nearest even; float to integer truncates and saturates,
// with NaN as 0; integers wrap; to bool is 'differs from zero'. An 8-bit float saturates at its
// largest finite value. Small types widen first, exactly, to one of i32 u32 i64 u64 f32 f64; then
// grout_cvt takes one of these six to the type of its second argument.

#define GROUT_CVT(FROM, TO, PTX, OUT, IN)                                                          \
    GROUT_DEVICE TO grout_cvt(FROM a, TO) {                                                        \
        TO d;                                                                                      \
        asm(PTX " %0, %1;" : OUT : IN(a));                                                         \
        return d;                                                                                  \
    }
GROUT_DEVICE grout_f32 grout_cvt(grout_f32 a, grout_f32) { return a; }
GROUT_DEVICE grout_f64 grout_cvt(grout_f64 a, grout_f64) { return a; }
GROUT_CVT(grout_f64, grout_f32, "cvt.rn.f32.f64", "=f"(d), "d")
GROUT_CVT(grout_i32, grout_f32, "cvt.rn.f32.s32", "=f"(d), "r")
GROUT_CVT(grout_u32, grout_f32, "cvt.rn.f32.u32", "=f"(d), "r")
GROUT_CVT(grout_i64, grout_f32, "cvt.rn.f32.s64", "=f"(d), "l")
GROUT_CVT(grout_u64, grout_f32, "cvt.rn.f32.u64", "=f"(d), "l")
GROUT_CVT(grout_f32, grout_f64, "cvt.f64.f32", "=d"(d), "f")
GROUT_CVT(grout_i32, grout_f64, "cvt.rn.f64.s32", "=d"(d), "r")
GROUT_CVT(grout_u32, grout_f64, "cvt.rn.f64.u32", "=d"(d), "r")
GROUT_CVT(grout_i64, grout_f64, "cvt.rn.f64.s64", "=d"(d), "l")
GROUT_CVT(grout_u64, grout_f64, "cvt.rn.f64.u64", "=d"(d), "l")
GROUT_CVT(grout_f32, grout_f16, "cvt.rn.f16.f32", "=h"(d.bits), "f")
GROUT_CVT(grout_f64, grout_f16, "cvt.rn.f16.f64", "=h"(d.bits), "d")
GROUT_CVT(grout_i32, grout_f16, "cvt.rn.f16.s32", "=h"(d.bits), "r")
GROUT_CVT(grout_u32, grout_f16, "cvt.rn.f16.u32", "=h"(d.bits), "r")
GROUT_CVT(grout_i64, grout_f16, "cvt.rn.f16.s64", "=h"(d.bits), "l")
GROUT_CVT(grout_u64, grout_f16, "cvt.rn.f16.u64", "=h"(d.bits), "l")
GROUT_CVT(grout_f32, grout_bf16, "cvt.rn.bf16.f32", "=h"(d.bits), "f")
GROUT_CVT(grout_f64, grout_bf16, "cvt.rn.bf16.f64", "=h"(d.bits), "d")
GROUT_CVT(grout_i32, grout_bf16, "cvt.rn.bf16.s32", "=h"(d.bits), "r")
GROUT_CVT(grout_u32, grout_bf16, "cvt.rn.bf16.u32", "=h"(d.bits), "r")
GROUT_CVT(grout_i64, grout_bf16, "cvt.rn.bf16.s64", "=h"(d.bits), "l")
GROUT_CVT(grout_u64, grout_bf16, "cvt.rn.bf16.u64", "=h"(d.bits), "l")
GROUT_CVT(grout_f32, grout_i32, "cvt.rzi.s32.f32", "=r"(d), "f")
GROUT_CVT(grout_f32, grout_u32, "cvt.rzi.u32.f32", "=r"(d), "f")
#undef GROUT_CVT

// With a f64 source or a 64-bit destination, PTX 'cvt' does not make 0 of NaN.
#define GROUT_CVT_NAN(FROM, TO, PTX, OUT, IN)                                                      \
    GROUT_DEVICE TO grout_cvt(FROM a, TO) {                                                        \
        TO d;                                                                                      \
        asm(PTX " %0, %1;" : OUT(d) : IN(a));                                                      \
        return a != a ? TO(0) : d;                                                                 \
    }
GROUT_CVT_NAN(grout_f64, grout_i32, "cvt.rzi.s32.f64", "=r", "d")
GROUT_CVT_NAN(grout_f64, grout_u32, "cvt.rzi.u32.f64", "=r", "d")
GROUT_CVT_NAN(grout_f32, grout_i64, "cvt.rzi.s64.f32", "=l", "f")
GROUT_CVT_NAN(grout_f32, grout_u64, "cvt.rzi.u64.f32", "=l", "f")
GROUT_CVT_NAN(grout_f64, grout_i64, "cvt.rzi.s64.f64", "=l", "d")
GROUT_CVT_NAN(grout_f64, grout_u64, "cvt.rzi.u64.f64", "=l", "d")
#undef GROUT_CVT_NAN

// 8-bit floats convert in pairs, whose upper half is zero here. A f64 is first cut to f32 with its
// last bit set if anything was lost, so that the second rounding cannot hit a tie that was none.
// Integers that f32 rounds are far above the largest 8-bit float.
#define GROUT_CVT_F8(TO, PTX)                                                                      \
    GROUT_DEVICE TO grout_cvt(grout_f32 a, TO) {                                                   \
        grout_u16 pair;                                                                            \
        asm("cvt.rn.satfinite." PTX "x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(a));        \
        TO d = {(grout_u8)pair};                                                                   \
        return d;                                                                                  \
    }                                                                                              \
    GROUT_DEVICE TO grout_cvt(grout_f64 a, TO) {                                                   \
        const grout_f32 cut = __double2float_rz(a);                                                \
        const grout_u32 lost = (grout_f64)cut != a && a == a ? 1u : 0u;                            \
        return grout_cvt(__uint_as_float(__float_as_uint(cut) | lost), TO());                      \
    }                                                                                              \
    template <typename From> GROUT_DEVICE TO grout_cvt(From a, TO) {                               \
        return grout_cvt(grout_cvt(a, grout_f32()), TO());                                         \
    }                                                                                              \
    GROUT_DEVICE grout_f32 grout_widen(TO a) {                                                     \
        grout_u32 pair;                                                                            \
        grout_f32 d;                                                                               \
        asm("cvt.rn.f16x2." PTX "x2 %0, %1;" : "=r"(pair) : "h"((grout_u16)a.bits));               \
        asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"((grout_u16)pair));                               \
        return d;                                                                                  \
    }
GROUT_CVT_F8(grout_f8e4m3, "e4m3")
GROUT_CVT_F8(grout_f8e5m2, "e5m2")
#undef GROUT_CVT_F8

GROUT_DEVICE grout_u32 grout_widen(bool a) { return a ? 1u : 0u; }
GROUT_DEVICE grout_i32 grout_widen(grout_i8 a) { return a; }
GROUT_DEVICE grout_u32 grout_widen(grout_u8 a) { return a; }
GROUT_DEVICE grout_i32 grout_widen(grout_i16 a) { return a; }
GROUT_DEVICE grout_u32 grout_widen(grout_u16 a) { return a; }
GROUT_DEVICE grout_i32 grout_widen(grout_i32 a) { return a; }
GROUT_DEVICE grout_u32 grout_widen(grout_u32 a) { return a; }
GROUT_DEVICE grout_i64 grout_widen(grout_i64 a) { return a; }
GROUT_DEVICE grout_u64 grout_widen(grout_u64 a) { return a; }
GROUT_DEVICE grout_f32 grout_widen(grout_f32 a) { return a; }
GROUT_DEVICE grout_f64 grout_widen(grout_f64 a) { return a; }
GROUT_DEVICE grout_f32 grout_widen(grout_f16 a) {
    grout_f32 d;
    asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"(a.bits));
    return d;
}
GROUT_DEVICE grout_f32 grout_widen(grout_bf16 a) {
    return __uint_as_float((grout_u32)a.bits << 16);
}

// Integers wrap among themselves; what comes from a float is clamped to the type instead.
#define GROUT_CVT_INT(FROM, TO)                                                                    \
    GROUT_DEVICE TO grout_cvt(FROM a, TO) { return (TO)a; }
#define GROUT_CVT_INTS(TO)                                                                         \
    GROUT_CVT_INT(grout_i32, TO)                                                                   \
    GROUT_CVT_INT(grout_u32, TO)                                                                   \
    GROUT_CVT_INT(grout_i64, TO)                                                                   \
    GROUT_CVT_INT(grout_u64, TO)
GROUT_CVT_INTS(grout_i8)
GROUT_CVT_INTS(grout_u8)
GROUT_CVT_INTS(grout_i16)
GROUT_CVT_INTS(grout_u16)
GROUT_CVT_INTS(grout_i32)
GROUT_CVT_INTS(grout_u32)
GROUT_CVT_INTS(grout_i64)
GROUT_CVT_INTS(grout_u64)
#undef GROUT_CVT_INT
#undef GROUT_CVT_INTS
#define GROUT_CVT_CLAMP(FROM, TO, WIDE, LOW, HIGH)                                                 \
    GROUT_DEVICE TO grout_cvt(FROM a, TO) {                                                        \
        return (TO)grout_min(grout_max(grout_cvt(a, WIDE()), WIDE(LOW)), WIDE(HIGH));              \
    }
GROUT_CVT_CLAMP(grout_f32, grout_i8, grout_i32, -128, 127)
GROUT_CVT_CLAMP(grout_f64, grout_i8, grout_i32, -128, 127)
GROUT_CVT_CLAMP(grout_f32, grout_u8, grout_u32, 0, 255)
GROUT_CVT_CLAMP(grout_f64, grout_u8, grout_u32, 0, 255)
GROUT_CVT_CLAMP(grout_f32, grout_i16, grout_i32, -32768, 32767)
GROUT_CVT_CLAMP(grout_f64, grout_i16, grout_i32, -32768, 32767)
GROUT_CVT_CLAMP(grout_f32, grout_u16, grout_u32, 0, 65535)
GROUT_CVT_CLAMP(grout_f64, grout_u16, grout_u32, 0, 65535)
#undef GROUT_CVT_CLAMP
template <typename From> GROUT_DEVICE bool grout_cvt(From a, bool) { return a != From(0); }

template <typename To, typename From> GROUT_DEVICE To grout_cast(From a) {
    return grout_cvt(grout_widen(a), To());
}

// Two f32 to two 16-bit floats in one register, low half first: what an epilogue wants.
GROUT_DEVICE grout_u32 grout_pack_f16(grout_f32 low, grout_f32 high) {
    grout_u32 d;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
    return d;
}
GROUT_DEVICE grout_u32 grout_pack_bf16(grout_f32 low, grout_f32 high) {
    grout_u32 d;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
    return d;
}

#undef GROUT_DEVICE
#endif
