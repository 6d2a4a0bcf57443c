// SPDX-License-Identifier: Apache-2.0
// When the next CTA starts on an SM whose last CTA has ended with loads by TMA in flight, and
// whether it sees them land.
//     nvcc -O3 -gencode arch=compute_90a,code=sm_90a exit_with_loads.cu && ./a.out
#include <algorithm>
#include <vector>

#include "barriers.cuh"

enum { CTAS = 132, ROOM = 200 * 1024, PATTERN = 0x5a5a5a5a };
struct record {
    u64 sm, start, end, changed;
};

extern __shared__ __align__(1024) unsigned char room[];

// The first CTAS issue loads and end; the others, one on each SM, fill their SMEM and watch it for
// 0.4 ms.
__global__ void end_with_loads(const char *source, int bytes, bool waits, record *records) {
    unsigned sm, barrier = shared_address(room + ROOM);
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    record *mine = records + blockIdx.x;
    u64 start = read_timer();
    if (blockIdx.x < CTAS) {
        if (threadIdx.x)
            return;
        init(barrier, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
        expect(barrier, bytes);
        for (int i = 0; i < bytes; i += 8192)
            load(shared_address(room) + i, source + (size_t)blockIdx.x * bytes + i, 8192, barrier);
        if (waits)
            wait(barrier, 0);
        *mine = {sm, start, read_timer(), 0};
        return;
    }
    __shared__ unsigned changed;
    volatile unsigned *words = (volatile unsigned *)room;
    if (threadIdx.x == 0)
        changed = 0;
    for (int i = threadIdx.x; i < ROOM / 4; i += blockDim.x)
        words[i] = PATTERN;
    __syncthreads();
    while (read_timer() - start < 400000)
        for (int i = threadIdx.x; i < ROOM / 4; i += blockDim.x)
            if (words[i] != PATTERN)
                atomicAdd(&changed, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        *mine = {sm, start, read_timer(), changed};
}

static void print(const char *name, const char *source, int bytes, bool waits) {
    record *records;
    OR_EXIT(cudaMallocManaged(&records, 2 * CTAS * sizeof *records));
    OR_EXIT(cudaFuncSetAttribute(end_with_loads, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 ROOM + 1024));
    end_with_loads<<<2 * CTAS, 256, ROOM + 1024>>>(source, bytes, waits, records);
    OR_EXIT(cudaDeviceSynchronize());
    std::vector<long long> gaps;
    int changed = 0;
    u64 longest = 0;
    for (int i = 0; i < CTAS; i++) {
        longest = std::max(longest, records[i].end - records[i].start);
        changed += records[CTAS + i].changed != 0;
        for (int j = CTAS; j < 2 * CTAS; j++)
            if (records[i].sm == records[j].sm)
                gaps.push_back((long long)(records[j].start - records[i].end));
    }
    std::sort(gaps.begin(), gaps.end());
    std::printf("%d KiB from %s, %s: the CTA lives %llu ns at most; the next one starts %lld to "
                "%lld ns after its last"
                " instruction; %d of %d saw a change\n",
                bytes / 1024, name, waits ? "waited for" : "in flight at the end", longest,
                gaps.empty() ? -1 : gaps.front(), gaps.empty() ? -1 : gaps.back(), changed, CTAS);
}

int main() {
    const size_t size = (size_t)CTAS * 192 * 1024;
    char *memory, *pinned;
    OR_EXIT(cudaMalloc(&memory, size));
    OR_EXIT(cudaMemset(memory, 0x11, size));
    OR_EXIT(cudaHostAlloc(&pinned, size, cudaHostAllocMapped));
    std::fill(pinned, pinned + size, 0x22);
    for (int kib : {8, 32, 64, 128, 192})
        for (bool waits : {true, false})
            print("HBM or L2", memory, kib * 1024, waits);
    for (int kib : {8, 192})
        for (bool waits : {true, false})
            print("pinned memory of the host", pinned, kib * 1024, waits);
    return 0;
}
