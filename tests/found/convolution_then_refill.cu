// SPDX-License-Identifier: Apache-2.0
// The loop of Gluon's tutorial on convolutions: one tile of pixels and one of weights, loads of the
// next step, and only then the wait for the product of the last one. As it is, and with the wait
// before the loads.
//     nvcc -O3 -gencode arch=compute_90a,code=sm_90a convolution_then_refill.cu && ./a.out
#include <cuda_fp16.h>

#include <vector>

#include "wgmma.cuh"

enum { STEPS = 256, KINDS = 8, A_BYTES = 64 * 128, SMS = 132, RUNS = 20 };
enum order { LOADS_FIRST, WAIT_FIRST };
static const char *const names[] = {"as in the tutorial", "with the wait before the loads"};

extern __shared__ __align__(1024) unsigned char memory[];

// Each element of the pixels of kind k is k, and of the weights 1 + k % 3. A busy warpgroup of the
// CTA multiplies what nobody refills.
template <int N, int BUSY, order HOW>
__global__ void __launch_bounds__(128 * (1 + BUSY))
    convolve(const __half *pixels, const __half *weights, u64 *results) {
    enum { B_BYTES = N * 128 };
    unsigned char *a = memory, *b = a + A_BYTES;
    u64 *barrier = (u64 *)(b + B_BYTES);
    unsigned landed = shared_address(barrier);
    if (threadIdx.x == 0) {
        init(landed, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    unsigned char *own = b + B_BYTES + 1024;
    for (int i = threadIdx.x; BUSY && i < (A_BYTES + B_BYTES) / 4; i += blockDim.x)
        ((unsigned *)own)[i] = 0;
    asm volatile("fence.proxy.async;" : : : "memory");
    __syncthreads();
    float d[N / 2];
    for (int i = 0; i < N / 2; i++)
        d[i] = 0;
    if (threadIdx.x >= 128) {
        for (int step = 0; step < 2 * STEPS; step++) { // all lanes the same number of times
            begin(d);
#pragma unroll
            for (int i = 0; i < 4; i++)
                multiply(d, describe(own), describe(own + A_BYTES));
            commit();
            wait_for_all(d);
        }
        if (d[0] != 0)
            results[1] = 1;
        return;
    }
    float expected = 0;
    for (int step = 0; step < STEPS; step++) {
        int kind = (step + blockIdx.x) % KINDS;
        if (HOW == WAIT_FIRST)
            wait_for_all(d);
        meet();
        if (threadIdx.x == 0) {
            expect(landed, A_BYTES + B_BYTES);
            load(shared_address(a), pixels + kind * (A_BYTES / 2), A_BYTES, landed);
            load(shared_address(b), weights + kind * (B_BYTES / 2), B_BYTES, landed);
        }
        wait(landed, step & 1);
        wait_for_all(d);
        begin(d);
#pragma unroll
        for (int i = 0; i < 4; i++)
            multiply(d, describe(a) + 2 * i, describe(b) + 2 * i);
        commit();
        expected += 64.f * kind * (1 + kind % 3);
    }
    wait_for_all(d);
    bool differs = false;
    for (int i = 0; i < N / 2; i++)
        differs |= d[i] != expected;
    if (differs)
        atomicAdd(results, 1);
}

template <int N, int BUSY, order HOW> static bool print(int ctas) {
    std::vector<__half> values(KINDS * (A_BYTES + N * 128) / 2);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < A_BYTES / 2; i++)
            values[kind * A_BYTES / 2 + i] = __float2half((float)kind);
        for (int i = 0; i < N * 64; i++)
            values[(KINDS * A_BYTES + kind * N * 128) / 2 + i] = __float2half(1.f + kind % 3);
    }
    __half *source;
    u64 *results;
    OR_EXIT(cudaMalloc(&source, values.size() * 2));
    OR_EXIT(cudaMemcpy(source, values.data(), values.size() * 2, cudaMemcpyHostToDevice));
    OR_EXIT(cudaMallocManaged(&results, 16));
    results[0] = 0;
    const int room = (A_BYTES + N * 128) * (1 + (BUSY > 0)) + 2048;
    OR_EXIT(cudaFuncSetAttribute(convolve<N, BUSY, HOW>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, room));
    for (int run = 0; run < RUNS; run++)
        convolve<N, BUSY, HOW>
            <<<SMS * ctas, 128 * (1 + BUSY), room>>>(source, source + KINDS * A_BYTES / 2, results);
    OR_EXIT(cudaDeviceSynchronize());
    std::printf("64 x %d, %d CTAs for each SM, %d busy warpgroups, %s: %llu of %d threads have a "
                "wrong result\n",
                N, ctas, BUSY, names[HOW], results[0], RUNS * SMS * ctas * 128);
    bool is_wrong = results[0] != 0;
    OR_EXIT(cudaFree(source));
    OR_EXIT(cudaFree(results));
    return is_wrong;
}

template <int N, order HOW> static bool print_all() {
    bool is_wrong = false;
    for (int ctas : {1, 2, 4, 8})
        is_wrong |= print<N, 0, HOW>(ctas);
    is_wrong |= print<N, 1, HOW>(1);
    is_wrong |= print<N, 2, HOW>(1);
    return is_wrong;
}

int main() {
    bool is_wrong = print_all<64, LOADS_FIRST>();
    is_wrong |= print_all<64, WAIT_FIRST>();
    is_wrong |= print_all<256, LOADS_FIRST>();
    is_wrong |= print_all<256, WAIT_FIRST>();
    return is_wrong;
}
