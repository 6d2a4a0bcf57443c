// SPDX-License-Identifier: Apache-2.0
// The loop of CUTLASS' tutorial wgmma_sm90: each lane copies its part of a tile by cp.async and
// waits for it, and the warpgroup multiplies. No barrier of the warps, no proxy fence, three slots.
// One warp is late: before its copies, or between its wait for the product and the next copies.
//     nvcc -O3 -gencode arch=compute_90a,code=sm_90a cp_async_then_wgmma.cu && ./a.out
#include <cuda_fp16.h>

#include <vector>

#include "wgmma.cuh"

enum { N = 64, TILE = N * 128, SLOTS = 3, TURNS = 2000, KINDS = 8, SMS = 132 };
enum order { AS_IT_IS, FENCE_ALONE, BARRIER_ALONE, FENCE_AND_BARRIER };
static const char *const names[] = {"as in the tutorial", "with a proxy fence", "with a barrier",
                                    "with both"};

extern __shared__ __align__(1024) unsigned char memory[];

static __device__ void copy(unsigned char *to, const unsigned char *from) {
    for (int i = threadIdx.x * 16; i < TILE; i += 128 * 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :
                     : "r"(shared_address(to + i)), "l"(from + i)
                     : "memory");
}
static __device__ void hold_up(unsigned cycles) {
    unsigned start = read_clock();
    while (read_clock() - start < cycles)
        ;
}

// Each element of a's tiles of kind k is k, of b's 1 + k % 3.
template <order HOW>
__global__ void __launch_bounds__(128)
    multiply_copied(const unsigned char *as, const unsigned char *bs, int late, unsigned before,
                    unsigned after, u64 *results) {
    int warp = threadIdx.x / 32;
    float d[N / 2], expected = 0;
    for (int i = 0; i < N / 2; i++)
        d[i] = 0;
    for (int turn = 0; turn < SLOTS - 1; turn++) {
        copy(memory + turn * 2 * TILE, as + turn % KINDS * TILE);
        copy(memory + turn * 2 * TILE + TILE, bs + turn % KINDS * TILE);
        asm volatile("cp.async.commit_group;" : : : "memory");
    }
    __syncthreads();
    for (int turn = 0; turn < TURNS; turn++) {
        unsigned char *read = memory + turn % SLOTS * 2 * TILE;
        unsigned char *write = memory + (turn + SLOTS - 1) % SLOTS * 2 * TILE;
        int next = (turn + SLOTS - 1) % KINDS, kind = turn % KINDS;
        if (warp == late)
            hold_up(before);
        copy(write, as + next * TILE);
        copy(write + TILE, bs + next * TILE);
        asm volatile("cp.async.commit_group;" : : : "memory");
        asm volatile("cp.async.wait_group 0;" : : : "memory");
        if (HOW == FENCE_ALONE || HOW == FENCE_AND_BARRIER)
            asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
        if (HOW == BARRIER_ALONE || HOW == FENCE_AND_BARRIER)
            __syncthreads();
        begin(d);
#pragma unroll
        for (int i = 0; i < 4; i++)
            multiply(d, describe(read) + 2 * i, describe(read + TILE) + 2 * i);
        commit();
        if (warp == late)
            hold_up(after);
        wait_for_all(d);
        if (HOW == BARRIER_ALONE || HOW == FENCE_AND_BARRIER)
            __syncthreads();
        expected += 64.f * kind * (1 + kind % 3);
    }
    asm volatile("cp.async.wait_all;" : : : "memory");
    bool differs = false;
    for (int i = 0; i < N / 2; i++)
        differs |= d[i] != expected;
    if (differs)
        atomicAdd(results, 1);
}

// With one warp late by some cycles before its copies, and before its wait.
template <order HOW>
static bool print(const unsigned char *source, u64 *results, unsigned before, unsigned after) {
    const int room = SLOTS * 2 * TILE;
    OR_EXIT(cudaFuncSetAttribute(multiply_copied<HOW>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 room));
    results[0] = 0;
    for (int late = 0; late < 4; late++)
        multiply_copied<HOW>
            <<<SMS * 4, 128, room>>>(source, source + KINDS * TILE, late, before, after, results);
    OR_EXIT(cudaDeviceSynchronize());
    std::printf("%s, a warp %u cycles late before its copies and %u before its wait: %llu of %d "
                "threads have a wrong result\n",
                names[HOW], before, after, results[0], 4 * SMS * 4 * 128);
    return results[0] != 0;
}

template <order HOW> static bool print_all(const unsigned char *source, u64 *results) {
    bool is_wrong = print<HOW>(source, results, 0, 0);
    is_wrong |= print<HOW>(source, results, 2000, 0);
    is_wrong |= print<HOW>(source, results, 0, 2000);
    return is_wrong | print<HOW>(source, results, 2000, 2000);
}

int main() {
    std::vector<__half> values(KINDS * TILE);
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < TILE / 2; i++) {
            values[kind * TILE / 2 + i] = __float2half((float)kind);
            values[(KINDS + kind) * TILE / 2 + i] = __float2half(1.f + kind % 3);
        }
    unsigned char *source;
    u64 *results;
    OR_EXIT(cudaMalloc(&source, values.size() * 2));
    OR_EXIT(cudaMemcpy(source, values.data(), values.size() * 2, cudaMemcpyHostToDevice));
    OR_EXIT(cudaMallocManaged(&results, 16));
    bool is_wrong = print_all<AS_IT_IS>(source, results);
    is_wrong |= print_all<FENCE_ALONE>(source, results);
    is_wrong |= print_all<BARRIER_ALONE>(source, results);
    is_wrong |= print_all<FENCE_AND_BARRIER>(source, results);
    return is_wrong;
}
