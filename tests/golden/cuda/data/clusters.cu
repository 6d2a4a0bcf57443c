// kernel @peers grid(g = 1) cluster(x = 2, y = 4) threads(t = 1), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
peers(const grout_f32 *a,
    grout_f32 *y,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 rank = grout_cluster_rank();
    grout_u32 full_phases_0 = 0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < 1; part++) {
            grout_mbarrier_init(smem + 512 + 8 * part, 1); // %full
        }
        grout_fence_mbarrier_init();
    }
    grout_cluster_start();
    // scratch %s : smem f32[128]
    const grout_u32 s = smem; // smem f32[128]
    // scratch %full : barrier[1]
    const grout_u32 full = smem + 512; // barrier[1] arrivals(1), each by one lane
    // %x = axis_index x
    const grout_i32 x = (grout_i32)(rank / 4u);
    // %yy = axis_index y
    const grout_i32 yy = (grout_i32)(rank % 4u);
    // %next = rem %yy + 1, 4
    const grout_i32 t0 = GROUT_ADD(yy, 1);
    const grout_i32 next = GROUT_REM(t0, 4);
    // store %s, (load %a[%x, %yy])
    grout_f32 t1[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        t1[reg] = grout_load_gmem<grout_f32>(a + x * 512ll + yy * 128ll + flat);
    }
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        grout_store_smem(s + flat * 4u, t1[reg]);
    }
    // cluster_arrive
    grout_cluster_arrive();
    // cluster_wait
    grout_cluster_wait();
    // %v = load %s.cluster(%x, %next)
    grout_thread_barrier(thread); // all lanes have written
    grout_f32 v[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        const grout_u32 x2 = grout_peer_address(s, x * 4 + next);
        v[reg] = grout_load_peer<grout_f32>(x2 + flat * 4u);
    }
    // cluster_barrier order(relaxed)
    grout_fence_engines();
    grout_cluster_arrive_relaxed();
    grout_cluster_wait();
    // async_store_smem %v, %s.cluster(1, %yy), %full[0]
    grout_thread_barrier(thread); // all lanes are done with the bytes
    const grout_u32 x3 = grout_peer_address(full, yy + 4);
    if (warp == 0 && grout_elect()) {
        grout_peer_expect(x3, 512);
    }
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        const grout_u32 x4 = grout_peer_address(s, yy + 4);
        grout_store_async(x4 + flat * 4u, v[reg], x3);
    }
    // cluster_barrier
    grout_cluster_barrier();
    // barrier_arrive %full[0]
    if (warp == 0 && grout_elect()) {
        grout_mbarrier_arrive<GROUT_RELEASE, GROUT_CLUSTER>(full);
    }
    // barrier_wait %full[0]
    grout_barrier_wait<GROUT_ACQUIRE, GROUT_CLUSTER>(full, full_phases_0, dog, {0, 0, 18});
    // store %y[%x, %yy], (load %s)
    grout_f32 t5[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        t5[reg] = grout_load_smem<grout_f32>(s + flat * 4u);
    }
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        grout_store_gmem(y + x * 512ll + yy * 128ll + flat, t5[reg]);
    }
    grout_cluster_exit();
}
// kernel @shared_tile grid(g = 2) cluster(x = 2, y = 2) threads(t = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(256)
shared_tile(const __grid_constant__ grout_tensor_map a_map,
    const __grid_constant__ grout_tensor_map y_map,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = warp / 4;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 rank = grout_cluster_rank();
    grout_u32 full_phases_0 = 0;
    grout_u32 free_phases_1 = 0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < 2; part++) {
            grout_mbarrier_init(smem + 32768 + 8 * part, 1); // %full
        }
        for (int part = 0; part < 2; part++) {
            grout_mbarrier_init(smem + 32784 + 8 * part, 3); // %free
        }
        grout_fence_mbarrier_init();
        grout_prefetch_tensor_map(a_map);
        grout_prefetch_tensor_map(y_map);
    }
    grout_cluster_start();
    // scratch %s : smem f16[2, 64, 128] tile(8, 64) swizzle(128)
    const grout_u32 s = smem; // smem f16[2, 64, 128]
    // scratch %full : barrier[2]
    const grout_u32 full = smem + 32768; // barrier[2] arrivals(1), each by one lane
    // scratch %free : barrier[2] arrivals(1) cluster(x, y)
    const grout_u32 free = smem + 32784; // barrier[2] arrivals(3), one for each CTA
    // %row = mul (axis_index g), 128
    const grout_i32 t0 = (grout_i32)(blockIdx.x / 4u);
    const grout_i32 row = GROUT_MUL(t0, 128);
    // if (eq (axis_index t), 0)
    const grout_i32 t1 = (grout_i32)(thread);
    const bool t2 = GROUT_EQ(t1, 0);
    if (t2) {
        if (warp % 4 == 0 && grout_elect()) {
            // for %i in 0..4
            #pragma unroll 1
            for (grout_i32 i = 0; i < 4; i++) {
                // %slot = rem %i, 2
                const grout_i32 slot = GROUT_REM(i, 2);
                // if (ge %i, 2)
                const bool t3 = GROUT_GE(i, 2);
                if (t3) {
                    // barrier_wait %free[%slot]
                    grout_barrier_wait<GROUT_ACQUIRE, GROUT_CLUSTER>(free, free_phases_1, dog, {1, (grout_u32)(slot), 33});
                }
                // copy_gmem_to_smem %a[ds(%row + 16 * %i, 64), :], %s[%slot], %full[%slot] collective_axes(y)
                const grout_i32 t4 = GROUT_MUL(16, i);
                const grout_i32 t5 = GROUT_ADD(row, t4);
                const grout_i32 x6 = t5 + (grout_i32)(rank % 2u) * 32;
                const grout_i32 x7 = (grout_i32)(rank % 2u) * 32;
                grout_mbarrier_arrive_expect<GROUT_RELEASE, GROUT_CLUSTER>(full + 8 * slot, 16384);
                grout_tma_load_multicast(s + slot * 16384u + (grout_u32)(x7) / 8 * 2048u + (grout_u32)(x7) % 8 * 128u, a_map, full + 8 * slot, 0x3u << (rank / 2u * 2u), 0, 0, 0, (x6) / 8);
            }
            // for %i in 0..2
            #pragma unroll 1
            for (grout_i32 i = 0; i < 2; i++) {
                // barrier_wait %free[%i]
                grout_barrier_wait<GROUT_ACQUIRE, GROUT_CLUSTER>(free, free_phases_1, dog, {1, (grout_u32)(i), 38});
            }
        }
    } else {
        // for %i in 0..4
        #pragma unroll 1
        for (grout_i32 i = 0; i < 4; i++) {
            // %slot = rem %i, 2
            const grout_i32 slot = GROUT_REM(i, 2);
            // barrier_wait %full[%slot]
            grout_barrier_wait<GROUT_ACQUIRE, GROUT_CLUSTER>(full, full_phases_0, dog, {0, (grout_u32)(slot), 43});
            // copy_smem_to_gmem %s[%slot], %y[ds(%row, 64), :] reduce(add)
            grout_thread_barrier(thread); // all lanes have written the source
            if (warp % 4 == 0 && grout_elect()) {
                grout_tma_add(y_map, s + slot * 16384u, 0, 0, 0, (row) / 8);
                grout_bulk_commit();
            }
            // wait_smem_to_gmem 0
            if (warp % 4 == 0 && grout_elect()) {
                grout_bulk_wait<0>();
            }
            grout_thread_barrier(thread); // all lanes know
            // commit_gmem
            grout_fence_async_gmem();
            grout_thread_barrier(thread); // all lanes have
            // barrier_arrive %free[%slot]
            if (warp % 4 == 0) {
                grout_arrive_peers<GROUT_RELEASE>(free + 8 * slot, 0x5u << (rank % 2u) | 0x3u << (rank / 2u * 2u));
            }
        }
    }
    grout_cluster_exit();
}
// kernel @explicit cluster(c = 2) threads(t = 1), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
explicit_kernel(grout_f32 *y,
    const __grid_constant__ grout_tensor_map a_map,
    grout_u64 *count_space_0,
    grout_f32 *keep_space_1,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 rank = grout_cluster_rank();
    if (threadIdx.x == 0) {
        grout_prefetch_tensor_map(a_map);
    }
    grout_cluster_start();
    // scratch %s : smem f32[1, 32]
    const grout_u32 s = smem; // smem f32[1, 32]
    // scratch %full : mbarrier[1]
    const grout_u32 full = smem + 128; // barrier[1]
    // scratch %free : mbarrier[1]
    const grout_u32 free = smem + 136; // barrier[1]
    // scratch %count : semaphore[2] global
    grout_u64 *const count = count_space_0; // semaphore[2]
    // scratch %keep : gmem f32[2, 32]
    grout_f32 *const keep = keep_space_1; // gmem f32[2, 32]
    // mbarrier_init %full[0], 1
    if (warp == 0 && grout_elect()) {
        grout_mbarrier_init(full, 1);
    }
    // mbarrier_init %free[0], 2
    // for the CTA alone: nothing has to travel to another one with it
    if (warp == 0 && grout_elect()) {
        grout_mbarrier_init(free, 2);
        grout_fence_mbarrier_init();
    }
    grout_cluster_start(); // the mbarriers are made
    // %from = tensor_descriptor %a : f32[1, 32]
    // %c = axis_index c
    const grout_i32 c = (grout_i32)(rank);
    // mbarrier_expect %full[0], 128
    if (warp == 0 && grout_elect()) {
        grout_mbarrier_arrive_expect<GROUT_RELEASE, GROUT_CLUSTER>(full, 128);
    }
    // if (eq %c, 0)
    const bool t0 = GROUT_EQ(c, 0);
    if (t0) {
        // copy_gmem_to_smem %from[0, 0], %s, %full[0] multicast(c)
        if (warp == 0 && grout_elect()) {
            grout_tma_load_multicast(s, a_map, full, 0x3u, 0, 0);
        }
    }
    // mbarrier_wait %full[0], 0
    grout_mbarrier_wait<GROUT_ACQUIRE, GROUT_CLUSTER>(full, (grout_u32)(0) & 1u, dog, {0, (grout_u32)(0), 67});
    // store %y[%c, 0], (load %s[0])
    grout_f32 t1[4] = {}; // 4 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 32u) {
            const auto chunk = grout_load_smem<grout_vector<grout_f32, 4>>(s + flat * 4u);
            #pragma unroll
            for (int part = 0; part < 4; part++) {
                t1[reg + part] = chunk[part];
            }
        }
    }
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 32u) {
            const grout_vector<grout_f32, 4> chunk = {t1[reg], t1[reg + 1], t1[reg + 2], t1[reg + 3]};
            grout_store_gmem(y + c * 128ll + flat, chunk);
        }
    }
    // store %keep[%c], (load %s[0])
    grout_f32 t2[4] = {}; // 4 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 32u) {
            const auto chunk = grout_load_smem<grout_vector<grout_f32, 4>>(s + flat * 4u);
            #pragma unroll
            for (int part = 0; part < 4; part++) {
                t2[reg + part] = chunk[part];
            }
        }
    }
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 32u) {
            const grout_vector<grout_f32, 4> chunk = {t2[reg], t2[reg + 1], t2[reg + 2], t2[reg + 3]};
            grout_store_gmem(keep + c * 32ll + flat, chunk);
        }
    }
    // semaphore_signal %count[%c], 1
    grout_thread_barrier(thread); // one lane signals for all
    if (warp == 0 && grout_elect()) {
        grout_semaphore_signal<GROUT_RELEASE, GROUT_SYS>(count + (c), (grout_u32)(1));
    }
    // mbarrier_arrive %free[0].cluster(0)
    // for the CTA alone: nothing has to travel to another one with it
    if (warp == 0 && grout_elect()) {
        grout_peer_arrive<GROUT_RELEASE, GROUT_CTA>(grout_peer_address(free, 0));
    }
    grout_cluster_exit();
}
