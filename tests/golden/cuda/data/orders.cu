// kernel @orders cluster(cx = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
orders(grout_f32 *y,
    const __grid_constant__ grout_tensor_map x_map,
    grout_u64 *sem_space_0,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 rank = grout_cluster_rank();
    if (threadIdx.x == 0) {
        grout_prefetch_tensor_map(x_map);
    }
    grout_cluster_start();
    // scratch %s : smem f32[64]
    const grout_u32 s = smem; // smem f32[64]
    // scratch %m : mbarrier[1]
    const grout_u32 m = smem + 256; // barrier[1]
    // scratch %sem : semaphore[1]
    grout_u64 *const sem = sem_space_0 + (grout_u64)blockIdx.x * 1; // semaphore[1]
    // %c = axis_index cx
    const grout_i32 c = (grout_i32)(rank);
    // mbarrier_init %m[0], 4
    // for the CTA alone: nothing has to travel to another one with it
    if (warp == 0 && grout_elect()) {
        grout_mbarrier_init(m, 4);
        grout_fence_mbarrier_init();
    }
    grout_cluster_start(); // the mbarriers are made
    // store %s, (broadcast 0.0 : f32[64])
    const grout_f32 t0 = 0.0f;
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 64u) {
            const grout_vector<grout_f32, 4> chunk = {t0, t0, t0, t0};
            grout_store_smem(s + flat * 4u, chunk);
        }
    }
    // commit_smem cluster
    grout_fence_async_peers();
    grout_thread_barrier(thread); // all lanes have
    // fence_async_shared cluster
    grout_fence_async_peers();
    grout_thread_barrier(thread); // all lanes have
    // cluster_barrier
    grout_cluster_barrier();
    // mbarrier_arrive %m.cluster(1 - %c)[0] order(release) scope(cluster)
    const grout_i32 t1 = GROUT_SUB(1, c);
    // for the CTA alone: nothing has to travel to another one with it
    if (warp == 0 && grout_elect()) {
        grout_peer_arrive<GROUT_RELEASE, GROUT_CTA>(grout_peer_address(m, t1));
    }
    // mbarrier_arrive %m[0] count(2) scope(cta)
    if (warp == 0 && grout_elect()) {
        grout_mbarrier_arrive(m, 2);
    }
    // mbarrier_expect %m[0], 256 from_cta(0)
    // for the CTA alone: nothing has to travel to another one with it
    if (warp == 0 && grout_elect()) {
        grout_expect_from<GROUT_RELEASE, GROUT_CTA>(m, 0u, 2, 256, 1);
    }
    // if (eq %c, 0)
    const bool t2 = GROUT_EQ(c, 0);
    if (t2) {
        // copy_gmem_to_smem %x, %s, %m[0] multicast(cx)
        // for the CTA alone: nothing has to travel to another one with it
        if (warp == 0 && grout_elect()) {
            grout_tma_load_multicast(s, x_map, m, 0x3u, 0);
        }
    }
    // mbarrier_wait %m[0], 0 order(acquire) scope(cluster)
    // for the CTA alone: nothing has to travel to another one with it
    grout_mbarrier_wait(m, (grout_u32)(0) & 1u, dog, {0, (grout_u32)(0), 19});
    // semaphore_signal %sem[0], 1 scope(cta)
    grout_thread_barrier(thread); // one lane signals for all
    if (warp == 0 && grout_elect()) {
        grout_semaphore_signal<GROUT_RELEASE, GROUT_GPU>(sem, (grout_u32)(1));
    }
    // semaphore_wait %sem[0], 1 order(acquire) scope(cta)
    if (warp == 0 && grout_elect()) {
        grout_semaphore_wait<GROUT_ACQUIRE, GROUT_GPU>(sem, (grout_u32)(1), dog, {0, (grout_u32)(0), 21});
    }
    grout_thread_barrier(thread); // all lanes know
    // store %y[%c], (load %s)
    grout_f32 t3[4] = {}; // 4 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 64u) {
            const auto chunk = grout_load_smem<grout_vector<grout_f32, 4>>(s + flat * 4u);
            #pragma unroll
            for (int part = 0; part < 4; part++) {
                t3[reg + part] = chunk[part];
            }
        }
    }
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 64u) {
            const grout_vector<grout_f32, 4> chunk = {t3[reg], t3[reg + 1], t3[reg + 2], t3[reg + 3]};
            grout_store_gmem(y + c * 64ll + flat, chunk);
        }
    }
    grout_cluster_exit();
}
