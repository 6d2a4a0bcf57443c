// SPDX-License-Identifier: Apache-2.0
// Two groups of wgmmas, and at once the refill of the first group's B: what is in flight, and what
// it reads.
//     nvcc -O3 -gencode arch=compute_90a,code=sm_90a wgmma_then_refill.cu && ./a.out
#include <cuda_fp16.h>

#include <vector>

#include "barriers.cuh"

enum { N = 256, SLOT = N * 128, TURNS = 5000 };

// The 128 accumulator registers of m64n256, as operands of asm.
#define D4(i)  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
#define D      D16(0), D16(16), D16(32), D16(48), D16(64), D16(80), D16(96), D16(112)
#define NAMES                                                                                     \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
    "%20, %21, "                                                                                  \
    "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "  \
    "%40, %41, "                                                                                  \
    "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "  \
    "%60, %61, "                                                                                  \
    "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "  \
    "%80, %81, "                                                                                  \
    "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "  \
    "%100, "                                                                                      \
    "%101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, "  \
    "%116, "                                                                                      \
    "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"

extern __shared__ __align__(1024) unsigned char memory[];

// K-major, rows of 128 bytes swizzled by 128 bytes.
static __device__ u64 describe(const void *p) {
    return (u64)((shared_address(p) & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
static __device__ void multiply(float *d, u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 " NAMES
                 ", %128, %129, 1, 1, 1, 0, 0;"
                 : D
                 : "l"(a), "l"(b)
                 : "memory");
}
static __device__ void commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
static __device__ void begin(float *d) {
    asm volatile("wgmma.fence.sync.aligned;" : D : : "memory");
}
static __device__ void wait_for_all(float *d) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : D : : "memory");
}
static __device__ void meet() {
    asm volatile("bar.sync 1, 128;" : : : "memory");
}

// A and both slots are ones; the refill brings threes. The threads from 128 on keep the tensor
// cores busy.
template <int COUNT>
__global__ void __launch_bounds__(384, 1) refill(const __half *source, u64 *results) {
    unsigned char *a = memory, *first = a + 8192, *second = first + SLOT;
    u64 *barriers = (u64 *)(second + SLOT);
    volatile int *done = (volatile int *)(barriers + 2);
    unsigned landed = shared_address(barriers);
    for (int i = threadIdx.x; i < (8192 + 2 * SLOT) / 2; i += blockDim.x)
        ((__half *)memory)[i] = __float2half(1);
    if (threadIdx.x == 0) {
        init(landed, 1);
        *done = 0;
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    asm volatile("fence.proxy.async;" : : : "memory");
    __syncthreads();
    float d[128] = {};
    if (threadIdx.x >= 128) {
        while (!*done) {
            begin(d);
#pragma unroll
            for (int i = 0; i < 8; i++)
                multiply(d, describe(a), describe(second));
            commit();
            wait_for_all(d);
        }
        float sum = 0;
        for (int i = 0; i < 128; i++)
            sum += d[i];
        if (sum == 12345)
            results[3] = 1;
        return;
    }
    u64 wrong = 0;
    unsigned over = 0, refilled = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        if (threadIdx.x == 0) {
            expect(landed, SLOT);
            load(shared_address(first), source, SLOT, landed);
        }
        wait(landed, 0);
        for (int i = 0; i < 128; i++)
            d[i] = 0;
        meet();
        begin(d);
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            multiply(d, describe(a) + 2 * i, describe(first) + 2 * i);
        commit();
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            multiply(d, describe(a) + 2 * i, describe(second) + 2 * i);
        commit();
        meet();
        unsigned start = read_clock();
        if (threadIdx.x == 0) {
            expect(landed, SLOT);
            load(shared_address(first), source + SLOT / 2, SLOT, landed);
        }
        wait_for_all(d);
        over = max(over, read_clock() - start);
        wait(landed, 1);
        refilled = max(refilled, read_clock() - start);
        bool differs = false;
        for (int i = 0; i < 128; i++)
            differs |= d[i] != 32.f * COUNT;
        wrong += differs;
        meet();
    }
    if (threadIdx.x == 0) {
        *done = 1;
        results[1] = over;
        results[2] = refilled;
    }
    atomicAdd(results, wrong);
}

template <int COUNT> static void print(const __half *source) {
    u64 *results;
    OR_EXIT(cudaMallocManaged(&results, 32));
    const int room = 8192 + 2 * SLOT + 64;
    OR_EXIT(cudaFuncSetAttribute(refill<COUNT>, cudaFuncAttributeMaxDynamicSharedMemorySize, room));
    for (int busy = 0; busy < 3; busy++) {
        results[0] = 0;
        refill<COUNT><<<1, 128 * (1 + busy), room>>>(source, results);
        OR_EXIT(cudaDeviceSynchronize());
        std::printf(
            "%d and %d wgmmas, %d busy warpgroups: %llu of %d results wrong; after the issue of "
            "the refill, the"
            " wgmmas are over after %llu cycles at most, the refill has landed after %llu\n",
            COUNT, COUNT, busy, results[0], TURNS * 128, results[1], results[2]);
    }
}

int main() {
    std::vector<__half> values(SLOT, __float2half(1));
    for (int i = SLOT / 2; i < SLOT; i++)
        values[i] = __float2half(3);
    __half *source;
    OR_EXIT(cudaMalloc(&source, 2 * SLOT));
    OR_EXIT(cudaMemcpy(source, values.data(), 2 * SLOT, cudaMemcpyHostToDevice));
    print<1>(source);
    print<2>(source);
    print<4>(source);
    return 0;
}
