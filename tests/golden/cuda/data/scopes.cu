// kernel @scopes threads(t = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(256)
scopes(const grout_f32 *row,
    grout_f32 *y,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = warp / 4;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 exchange = smem + 528 + thread * 256;
    grout_u32 b_phases_0 = 0;
    grout_u32 b_arrived_0 = 0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < 1; part++) {
            grout_mbarrier_init(smem + 512 + 8 * part, 8); // %b
        }
        grout_fence_mbarrier_init();
    }
    grout_block_barrier();
    // %t = axis_index t
    const grout_i32 t = (grout_i32)(thread);
    // for %i in 0..4
    #pragma unroll 1
    for (grout_i32 i = 0; i < 4; i++) {
        // scoped(%b : barrier[1] arrivals(2), %s : smem f32[2, 64]) collective
        grout_block_barrier();
        {
            const grout_u32 b = smem + 512; // barrier[1] arrivals(2), each by four warps
            const grout_u32 s = smem; // smem f32[2, 64]
            grout_read_phases(b, 1, &b_phases_0);
            grout_block_barrier();
            // store %s[%t], (load %row)
            grout_f32 t0[4] = {}; // 4 neighbours a lane
            #pragma unroll
            for (int reg = 0; reg < 4; reg += 4) {
                const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
                if (flat < 64u) {
                    const auto chunk = grout_load_gmem<grout_vector<grout_f32, 4>>(row + flat);
                    #pragma unroll
                    for (int part = 0; part < 4; part++) {
                        t0[reg + part] = chunk[part];
                    }
                }
            }
            #pragma unroll
            for (int reg = 0; reg < 4; reg += 4) {
                const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
                if (flat < 64u) {
                    const grout_vector<grout_f32, 4> chunk = {t0[reg], t0[reg + 1], t0[reg + 2], t0[reg + 3]};
                    grout_store_smem(s + t * 256u + flat * 4u, chunk);
                }
            }
            // barrier_arrive %b[0]
            grout_barrier_arrive(thread, b, 0, b_arrived_0);
            // barrier_wait %b[0]
            grout_barrier_wait(b, b_phases_0, dog, {0, 0, 10});
            // store %y[%t, 0], (load %s[1 - %t])
            const grout_i32 t1 = GROUT_SUB(1, t);
            grout_thread_barrier(thread); // all lanes have written
            grout_f32 t2[4] = {}; // 4 neighbours a lane
            #pragma unroll
            for (int reg = 0; reg < 4; reg += 4) {
                const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
                if (flat < 64u) {
                    const auto chunk = grout_load_smem<grout_vector<grout_f32, 4>>(s + t1 * 256u + flat * 4u);
                    #pragma unroll
                    for (int part = 0; part < 4; part++) {
                        t2[reg + part] = chunk[part];
                    }
                }
            }
            #pragma unroll
            for (int reg = 0; reg < 4; reg += 4) {
                const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
                if (flat < 64u) {
                    const grout_vector<grout_f32, 4> chunk = {t2[reg], t2[reg + 1], t2[reg + 2], t2[reg + 3]};
                    grout_store_gmem(y + t * 1024ll + flat, chunk);
                }
            }
        }
    }
    // scoped(%c : barrier[1] arrivals(2)) collective
    grout_block_barrier();
    {
        const grout_u32 c = smem + 512; // barrier[1] arrivals(2), each by four warps
        grout_read_phases(c, 1, &b_phases_0);
        grout_block_barrier();
        // barrier_arrive %c[0]
        grout_barrier_arrive(thread, c, 0, b_arrived_0);
        // if (eq %t, 0)
        const bool t3 = GROUT_EQ(t, 0);
        if (t3) {
            // barrier_wait %c[0]
            grout_barrier_wait(c, b_phases_0, dog, {1, 0, 17});
        }
    }
    // store %y[%t], (broadcast (load %row) : f32[16, 64])
    grout_f32 t4[4] = {}; // 4 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 64u) {
            const auto chunk = grout_load_gmem<grout_vector<grout_f32, 4>>(row + flat);
            #pragma unroll
            for (int part = 0; part < 4; part++) {
                t4[reg + part] = chunk[part];
            }
        }
    }
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 64u) {
            const grout_vector<grout_f32, 4> chunk = {t4[reg], t4[reg + 1], t4[reg + 2], t4[reg + 3]};
            grout_store_smem(exchange + (flat * 4), chunk);
        }
    }
    grout_thread_barrier(thread); // all lanes have written
    grout_f32 t5[8]; // 4 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 8; reg++) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4 + reg % 4;
        t5[reg] = grout_load_smem<grout_f32>(exchange + (flat % 64u) * 4);
    }
    #pragma unroll
    for (int reg = 0; reg < 8; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        const grout_vector<grout_f32, 4> chunk = {t5[reg], t5[reg + 1], t5[reg + 2], t5[reg + 3]};
        grout_store_gmem(y + t * 1024ll + flat, chunk);
    }
    // debug_print "done {} of 100%", %t
    if (warp % 4 == 0 && grout_elect()) {
        printf("cta %u thread %u: done %lld of 100%%\n", blockIdx.x, thread, grout_cast<grout_i64>(t));
    }
}
