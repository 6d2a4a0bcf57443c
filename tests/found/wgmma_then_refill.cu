// SPDX-License-Identifier: Apache-2.0
// Two groups of wgmmas, and at once the refill of the first group's B: what is in flight, and what
// it reads.
//     nvcc -O3 -gencode arch=compute_90a,code=sm_90a wgmma_then_refill.cu && ./a.out
#include <cuda_fp16.h>

#include <vector>

#include "wgmma.cuh"

enum { N = 256, SLOT = N * 128, TURNS = 5000 };

extern __shared__ __align__(1024) unsigned char memory[];

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
