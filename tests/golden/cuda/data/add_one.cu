// kernel @add_one grid(x = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
add_one(const grout_f32 *x,
    grout_f32 *y,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    // %first = mul (axis_index x), 128
    const grout_i32 t0 = (grout_i32)(blockIdx.x);
    const grout_i32 first = GROUT_MUL(t0, 128);
    // %v = load %x[ds(%first, 128)]
    grout_f32 v[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        v[reg] = grout_load_gmem<grout_f32>(x + first + flat);
    }
    // %sum = add %v, 1.0
    grout_f32 sum[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        sum[reg] = GROUT_ADD(v[reg], 1.0f);
    }
    // store %y[ds(%first, 128)], %sum
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        grout_store_gmem(y + first + flat, sum[reg]);
    }
}
// kernel @add_one_smem grid(x = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
add_one_smem(const __grid_constant__ grout_tensor_map x_map,
    const __grid_constant__ grout_tensor_map y_map,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    grout_u32 full_phases_0 = 0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < 1; part++) {
            grout_mbarrier_init(smem + 1536 + 8 * part, 1); // %full
        }
        grout_fence_mbarrier_init();
        grout_prefetch_tensor_map(x_map);
        grout_prefetch_tensor_map(y_map);
    }
    grout_block_barrier();
    // scratch %xs : smem f32[128]
    const grout_u32 xs = smem; // smem f32[128]
    // scratch %ys : smem f32[128]
    const grout_u32 ys = smem + 1024; // smem f32[128]
    // scratch %full : barrier[1]
    const grout_u32 full = smem + 1536; // barrier[1] arrivals(1), each by one lane
    // %first = mul (axis_index x), 128
    const grout_i32 t0 = (grout_i32)(blockIdx.x);
    const grout_i32 first = GROUT_MUL(t0, 128);
    // copy_gmem_to_smem %x[ds(%first, 128)], %xs, %full[0]
    if (warp == 0 && grout_elect()) {
        grout_mbarrier_arrive_expect(full, 512);
        grout_tma_load(xs, x_map, full, first);
    }
    // barrier_wait %full[0]
    grout_barrier_wait(full, full_phases_0, dog, {0, 0, 20});
    // store %ys, (add (load %xs), 1.0)
    grout_f32 t1[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        t1[reg] = grout_load_smem<grout_f32>(xs + flat * 4u);
    }
    grout_f32 t2[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        t2[reg] = GROUT_ADD(t1[reg], 1.0f);
    }
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        grout_store_smem(ys + flat * 4u, t2[reg]);
    }
    // commit_smem
    grout_commit_smem(thread);
    if (warp == 0 && grout_elect()) {
        // copy_smem_to_gmem %ys, %y[ds(%first, 128)]
        grout_tma_store(y_map, ys, first);
        grout_bulk_commit();
        // wait_smem_to_gmem 0
        grout_bulk_wait<0>();
    }
}
