// kernel @warps threads(wg = 1), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
warps(grout_i32 *x,
    const __grid_constant__ grout_tensor_map a_map,
    const __grid_constant__ grout_tensor_map o_map,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    grout_u32 b_phases_0 = 0;
    grout_u32 c_phases_1 = 0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < 4; part++) {
            grout_mbarrier_init(smem + 512 + 8 * part, 1); // %b
        }
        for (int part = 0; part < 1; part++) {
            grout_mbarrier_init(smem + 544 + 8 * part, 4); // %c
        }
        grout_fence_mbarrier_init();
        grout_prefetch_tensor_map(a_map);
        grout_prefetch_tensor_map(o_map);
    }
    grout_block_barrier();
    // scratch %s : smem f32[4, 32]
    const grout_u32 s = smem; // smem f32[4, 32]
    // scratch %b : barrier[4]
    const grout_u32 b = smem + 512; // barrier[4] arrivals(1), each by one lane
    // scratch %c : barrier[1] arrivals(4)
    const grout_u32 c = smem + 544; // barrier[1] arrivals(4), each by one lane
    // warp_map(%w)
    grout_thread_barrier(thread); // the warps go their own ways
    {
        const grout_i32 w = (grout_i32)(warp % 4);
        // copy_gmem_to_smem %a[%w], %s[%w], %b[%w]
        if (grout_elect()) {
            grout_mbarrier_arrive_expect(b + 8 * w, 128);
            grout_tma_load(s + w * 128u, a_map, b + 8 * w, 0, w);
        }
        // barrier_wait %b[%w]
        grout_barrier_wait(b, b_phases_0, dog, {0, (grout_u32)(w), 9, warp % 4 + 1});
        // barrier_arrive %c[0]
        __syncwarp(); // one arrival counts for all lanes
        if (grout_elect()) {
            grout_mbarrier_arrive(c);
        }
        // store %x[%w], %w
        if (grout_elect()) {
            grout_store_gmem(x + w, w);
        }
        // copy_smem_to_gmem %s[%w], %o[%w]
        __syncwarp(); // all lanes have written the source
        if (grout_elect()) {
            grout_tma_store(o_map, s + w * 128u, 0, w);
            grout_bulk_commit();
        }
        // wait_smem_to_gmem 0
        if (grout_elect()) {
            grout_bulk_wait<0>();
        }
        __syncwarp(); // all lanes know
    }
    grout_thread_barrier(thread); // all four have come back
    if (warp == 0 && grout_elect()) {
        // barrier_wait %c[0]
        grout_barrier_wait(c, c_phases_1, dog, {1, 0, 15});
        // %ok = barrier_test %c[0]
        const grout_u32 x0 = (grout_u32)(0);
        const bool ok = grout_mbarrier_test(c, c_phases_1 >> x0 % 32 & 1u);
        c_phases_1 ^= (ok ? 1u : 0u) << x0 % 32;
    }
}
