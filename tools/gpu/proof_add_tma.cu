// proof_add_tma.cu - kernels/add_tma.grout by hand, in the shape that the emitter produces.
// SPDX-License-Identifier: Apache-2.0
//
// The consts of the kernel and the variants under study come as macros; the emitter prints numbers.
//   X Y XB YB BUF   the consts of add_tma.grout
//   OUT             buffers of %cs: the kernel's text has 1; OUT - 1 stores stay in flight
//   DROP_COMMIT     as if commit_smem were deleted: 1 keeps the barrier after the store, 2 not
//   ORDER           which tiles a CTA adds: 0 a row of them, as the kernel's text says; 1 every
//                   n-th of all, n CTAs in the grid, row by row; 2 STEPS neighbours of a row
//   ARRIVALS        of %bar: 2; 3 waits for a copy that never comes
//   ALL_BARRIERS    1: every automatic barrier, also those that another one makes useless
//   HINT            L2 policy of loads and stores: 0 none, 1 evict first
#include "grout_device.cuh"

#ifndef OUT
#define OUT 1
#endif
#ifndef DROP_COMMIT
#define DROP_COMMIT 0
#endif
#ifndef ORDER
#define ORDER 0
#endif
#ifndef STEPS
#define STEPS 8
#endif
#ifndef ARRIVALS
#define ARRIVALS 2
#endif
#ifndef ALL_BARRIERS
#define ALL_BARRIERS 0
#endif
#ifndef HINT
#define HINT 0
#endif
// kernel @add grid(x = cdiv(X, XB)) threads(wg = 1), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
add(const __grid_constant__ grout_tensor_map a_map, const __grid_constant__ grout_tensor_map b_map,
    const __grid_constant__ grout_tensor_map c_map, const __grid_constant__ grout_watchdog dog) {
    constexpr int tile_bytes = XB * YB * 4;
    constexpr int columns = (Y + YB - 1) / YB; // tiles in a row of them
#if ORDER == 0
    constexpr int steps = columns;
    auto row_of = [&](int) { return (grout_i32)blockIdx.x * XB; };
    auto column_of = [&](int step) { return step * YB; };
#elif ORDER == 1
    constexpr int tiles = (X + XB - 1) / XB * columns;
    const int steps = (tiles - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    auto row_of = [&](int step) { return (int)(blockIdx.x + step * gridDim.x) / columns * XB; };
    auto column_of = [&](int step) { return (int)(blockIdx.x + step * gridDim.x) % columns * YB; };
#else
    constexpr int groups = (columns + STEPS - 1) / STEPS;
    constexpr int steps = STEPS;
    auto row_of = [&](int) { return (int)blockIdx.x / groups * XB; };
    auto column_of = [&](int step) { return ((int)blockIdx.x % groups * STEPS + step) * YB; };
#endif
    // SMEM plan. Every array starts at a multiple of 128 bytes.
    const grout_u32 smem = grout_smem_base();
    const grout_u32 as = smem;                       // f32[BUF, XB, YB]
    const grout_u32 bs = as + BUF * tile_bytes;      // f32[BUF, XB, YB]
    const grout_u32 cs = bs + BUF * tile_bytes;      // f32[OUT, XB, YB]
    const grout_u32 bar = cs + OUT * tile_bytes;     // barrier[BUF] arrivals(2), each by one lane
    grout_u32 bar_phases = 0;
    const grout_u32 thread = 0; // threads(wg = 1)
    const grout_u32 lane = grout_lane();
    const grout_u32 warp = grout_warp();

    if (threadIdx.x == 0) {
        for (int i = 0; i < BUF; i++) {
            grout_mbarrier_init(bar + 8 * i, ARRIVALS);
        }
        grout_fence_mbarrier_init();
        grout_prefetch_tensor_map(a_map);
        grout_prefetch_tensor_map(b_map);
        grout_prefetch_tensor_map(c_map);
    }
    grout_block_barrier();

    auto copy_in = [&](const grout_tensor_map &map, grout_u32 tile, grout_u32 slot, int step) {
        if (warp == 0 && grout_elect()) {
            grout_mbarrier_arrive_expect(bar + 8 * slot, tile_bytes);
#if HINT == 1
            grout_tma_load_hint(tile + slot * tile_bytes, map, bar + 8 * slot, GROUT_EVICT_FIRST,
                                column_of(step), row_of(step));
#else
            grout_tma_load(tile + slot * tile_bytes, map, bar + 8 * slot, column_of(step),
                           row_of(step));
#endif
        }
    };

    // for %j in 0..BUF - 1
    for (int j = 0; j < BUF - 1; j++) {
        if (j < steps) {
            copy_in(a_map, as, j, j);
            copy_in(b_map, bs, j, j);
        }
    }
    // for %j in 0..cdiv(Y, YB)
#pragma unroll 1
    for (int j = 0; j < steps; j++) {
        const grout_i32 next = j + (BUF - 1);
        if (next < steps) {
            const grout_u32 fill = (grout_u32)next % BUF;
#if ALL_BARRIERS
            grout_thread_barrier(thread); // after reads of %as[fill]; commit_smem's will do
#endif
            copy_in(a_map, as, fill, next);
#if ALL_BARRIERS
            grout_thread_barrier(thread);
#endif
            copy_in(b_map, bs, fill, next);
        }
        const grout_u32 slot = (grout_u32)j % BUF;
        grout_barrier_wait(bar, bar_phases, dog, {0, slot, 24}); // add_tma.grout:24

        // %v = add (load %as[%slot]), (load %bs[%slot]): WG_STRIDED, 4 elements a lane and register
        grout_f32 v[XB * YB / 128];
#pragma unroll
        for (int i = 0; i < XB * YB / 512; i++) {
            const grout_u32 offset = slot * tile_bytes + (i * 128 + lane) * 16;
            const auto a = grout_load_smem<grout_vector<grout_f32, 4>>(as + offset);
            const auto b = grout_load_smem<grout_vector<grout_f32, 4>>(bs + offset);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                v[4 * i + e] = GROUT_ADD(a[e], b[e]);
            }
        }
        // wait_smem_to_gmem OUT - 1 read_only
        if (warp == 0 && grout_elect()) {
            grout_bulk_wait_read<OUT - 1>();
        }
        grout_thread_barrier(thread);
        // store %cs, %v: the barrier before it is the one above
        const grout_u32 out = cs + (grout_u32)j % OUT * tile_bytes;
#if ALL_BARRIERS
        grout_thread_barrier(thread);
#endif
#pragma unroll
        for (int i = 0; i < XB * YB / 512; i++) {
            const grout_vector<grout_f32, 4> c = {v[4 * i], v[4 * i + 1], v[4 * i + 2],
                                                  v[4 * i + 3]};
            grout_store_smem(out + (i * 128 + lane) * 16, c);
        }
#if ALL_BARRIERS || DROP_COMMIT == 1
        grout_thread_barrier(thread); // after the store; commit_smem's is the next thing otherwise
#endif
#if !DROP_COMMIT
        grout_commit_smem(thread);
#endif
        // copy_smem_to_gmem %cs, %c[...]
        if (warp == 0 && grout_elect()) {
#if HINT == 1
            grout_tma_store_hint(c_map, out, GROUT_EVICT_FIRST, column_of(j), row_of(j));
#else
            grout_tma_store(c_map, out, column_of(j), row_of(j));
#endif
            grout_bulk_commit();
        }
    }
    // wait_smem_to_gmem 0
    if (warp == 0 && grout_elect()) {
        grout_bulk_wait<0>();
    }
    grout_thread_barrier(thread);
}
