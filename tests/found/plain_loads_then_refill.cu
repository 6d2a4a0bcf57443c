// SPDX-License-Identifier: Apache-2.0
// Plain loads of a slot, an arrive by each lane, and the refill that another warp issues after its
// wait: by TMA, with and without a proxy fence before the arrive, and by plain stores. Other warps
// may make the loads slow.
//     nvcc -O3 -gencode arch=compute_90a,code=sm_90a plain_loads_then_refill.cu && ./a.out
#include "barriers.cuh"

enum { SLOT = 65536, NOISE = 32768, TURNS = 20000, CTAS = 132 };
enum refill { BY_TMA, BY_TMA_FENCED, BY_TMA_FENCED_LATE, BY_STORES };
static const char *const names[] = {
    "TMA", "TMA, fence.proxy.async before the arrive",
    "TMA, fence.proxy.async after the wait of the lane that issues it", "plain stores"};

extern __shared__ __align__(1024) unsigned char slot[];

// Warps 0 .. readers-1 read, warp `readers` refills, the others load until `done`. Source: a slot
// of 0s, one of 1s.
template <int LOADS>
__global__ void try_refill(const char *source, int readers, refill how, u64 *wrong_values) {
    u64 *barriers = (u64 *)(slot + SLOT + NOISE);
    volatile int *done = (volatile int *)(barriers + 2);
    unsigned full = shared_address(barriers), empty = shared_address(barriers + 1);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        init(full, how == BY_STORES ? 32 : 1);
        init(empty, readers * 32);
        *done = 0;
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    __syncthreads();
    if (warp > readers) {
        unsigned from = shared_address(slot + SLOT) + lane * 128 + warp * 4096 % (NOISE - 4096);
        float sum = 0;
        while (!*done) {
#pragma unroll
            for (int i = 0; i < 16; i++) {
                float value;
                asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from + i * 4));
                sum += value;
            }
        }
        if (sum == 12345)
            wrong_values[1] = 1;
        return;
    }
    if (warp == readers) {
        for (int turn = 0; turn < TURNS; turn++) {
            if (turn)
                wait(empty, (turn - 1) & 1);
            if (how == BY_STORES) {
                for (int i = lane * 4; i < SLOT; i += 128)
                    asm volatile("st.shared.u32 [%0], %1;"
                                 :
                                 : "r"(shared_address(slot) + i), "r"(turn & 1)
                                 : "memory");
                arrive(full);
            } else {
                if (lane == 0) {
                    if (how == BY_TMA_FENCED_LATE)
                        asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
                    expect(full, SLOT);
                    for (int i = 0; i < SLOT; i += 8192)
                        load(shared_address(slot) + i, source + (turn & 1) * SLOT + i, 8192, full);
                }
                __syncwarp();
                wait(full, turn & 1);
            }
        }
        return;
    }
    u64 wrong = 0;
    unsigned from = shared_address(slot) + lane * 128 + warp % 4 * 4096;
    for (int turn = 0; turn < TURNS; turn++) {
        unsigned value[LOADS];
        wait(full, turn & 1);
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            asm volatile("ld.shared.u32 %0, [%1];"
                         : "=r"(value[i])
                         : "r"(from + i % 32 * 4 + i / 32 * 16384)
                         : "memory");
        if (how == BY_TMA_FENCED)
            asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
        arrive(empty);
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            wrong += value[i] != (unsigned)(turn & 1);
    }
    atomicAdd(wrong_values, wrong);
    __syncwarp();
    if (threadIdx.x == 0)
        *done = 1;
}

template <int LOADS> static void print(const char *source, int readers, int noise, refill how) {
    u64 *wrong;
    OR_EXIT(cudaMallocManaged(&wrong, 16));
    wrong[0] = 0;
    OR_EXIT(cudaFuncSetAttribute(try_refill<LOADS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 100 * 1024));
    try_refill<LOADS>
        <<<CTAS, 32 * (readers + 1 + noise), 100 * 1024>>>(source, readers, how, wrong);
    OR_EXIT(cudaDeviceSynchronize());
    std::printf(
        "%d loads, %d warps, %d more warps that load, refill by %s: %llu of %llu values wrong\n",
        LOADS, readers, noise, names[how], wrong[0], (u64)CTAS * TURNS * readers * 32 * LOADS);
}

int main() {
    static unsigned values[2 * SLOT / 4];
    for (int i = SLOT / 4; i < 2 * SLOT / 4; i++)
        values[i] = 1;
    char *source;
    OR_EXIT(cudaMalloc(&source, sizeof values));
    OR_EXIT(cudaMemcpy(source, values, sizeof values, cudaMemcpyHostToDevice));
    print<64>(source, 4, 0, BY_TMA);
    print<64>(source, 4, 0, BY_TMA_FENCED);
    print<64>(source, 4, 0, BY_TMA_FENCED_LATE);
    print<64>(source, 4, 0, BY_STORES);
    print<8>(source, 1, 20, BY_TMA);
    print<8>(source, 1, 20, BY_TMA_FENCED);
    print<8>(source, 1, 20, BY_TMA_FENCED_LATE);
    return 0;
}
