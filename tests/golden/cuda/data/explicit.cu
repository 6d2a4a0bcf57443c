// kernel @explicit threads(wg = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(256)
explicit_kernel(grout_f32 *o,
    const grout_i32 *n,
    const __grid_constant__ grout_tensor_map a_map,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = warp / 4;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    if (threadIdx.x == 0) {
        grout_prefetch_tensor_map(a_map);
    }
    if (thread == 0) {
        // scratch %s : smem f32[2, 64, 64]
        const grout_u32 s = smem; // smem f32[2, 64, 64]
        // scratch %full : mbarrier[2]
        const grout_u32 full = smem + 32768; // barrier[2]
        // scratch %empty : mbarrier[2]
        const grout_u32 empty = smem + 32784; // barrier[2]
        // for %i in 0..2
        #pragma unroll 1
        for (grout_i32 i = 0; i < 2; i++) {
            // mbarrier_init %empty[%i], 1
            if (warp % 4 == 0 && grout_elect()) {
                grout_mbarrier_init(empty + 8 * i, 1);
                grout_fence_mbarrier_init();
            }
            grout_thread_barrier(thread); // all lanes may use it
        }
        // mbarrier_init %full[0], 1
        if (warp % 4 == 0 && grout_elect()) {
            grout_mbarrier_init(full, 1);
        }
        // mbarrier_init %full[1], 1
        if (warp % 4 == 0 && grout_elect()) {
            grout_mbarrier_init(full + 8, 1);
            grout_fence_mbarrier_init();
        }
        grout_partition_barrier(2); // the mbarriers are made
        // %base = load %n[0]
        const grout_i32 base = grout_load_gmem<grout_i32>(n);
        // %skip = mul %base, 64
        const grout_i32 skip = GROUT_MUL(base, 64);
        // %da = tensor_descriptor %a : f32[64, 64]
        // warp_specialize
        if (warp % 4 == 0 && grout_elect()) {
            grout_store_smem(smem + 32800, base);
        }
        grout_partition_barrier(2); // the partitions begin
        {
            // for %i in 0..2
            #pragma unroll 1
            for (grout_i32 i = 0; i < 2; i++) {
                // mbarrier_wait %full[%i], 0
                grout_mbarrier_wait(full + 8 * i, (grout_u32)(0) & 1u, dog, {0, (grout_u32)(i), 17});
                // %v = load %s[%i]
                grout_f32 v[32]; // 4 neighbours a lane
                #pragma unroll
                for (int reg = 0; reg < 32; reg += 4) {
                    const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
                    const auto chunk = grout_load_smem<grout_vector<grout_f32, 4>>(s + i * 16384u + flat * 4u);
                    #pragma unroll
                    for (int part = 0; part < 4; part++) {
                        v[reg + part] = chunk[part];
                    }
                }
                // store %o[ds(%i * 64, 64), :], %v
                const grout_i32 t0 = GROUT_MUL(i, 64);
                grout_thread_barrier(thread); // all lanes are done with the bytes
                #pragma unroll
                for (int reg = 0; reg < 32; reg += 4) {
                    const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
                    const grout_vector<grout_f32, 4> chunk = {v[reg], v[reg + 1], v[reg + 2], v[reg + 3]};
                    grout_store_gmem(o + t0 * 64ll + flat, chunk);
                }
                // mbarrier_arrive %empty[%i]
                grout_thread_barrier(thread); // one arrival counts for all lanes
                if (warp % 4 == 0 && grout_elect()) {
                    grout_mbarrier_arrive(empty + 8 * i);
                }
            }
        }
        grout_partition_barrier(2); // all partitions have ended
        // %t = mbarrier_test %full[0], 0
        const bool t = grout_thread_all(thread, grout_mbarrier_test(full, (grout_u32)(0) & 1u));
        // mbarrier_invalidate %full[0]
        if (warp % 4 == 0 && grout_elect()) {
            grout_mbarrier_invalidate(full);
        }
        grout_thread_barrier(thread); // the bytes are free
    } else if (thread == 1) {
        // scratch %s : smem f32[2, 64, 64]
        const grout_u32 s = smem; // smem f32[2, 64, 64]
        // scratch %full : mbarrier[2]
        const grout_u32 full = smem + 32768; // barrier[2]
        // scratch %empty : mbarrier[2]
        const grout_u32 empty = smem + 32784; // barrier[2]
        grout_partition_barrier(2); // the mbarriers are made
        grout_partition_barrier(2); // the partitions begin
        const grout_i32 base = grout_load_smem<grout_i32>(smem + 32800);
        // %skip = mul %base, 64
        const grout_i32 skip = GROUT_MUL(base, 64);
        {
            if (warp % 4 == 0 && grout_elect()) {
                // for %i in 0..2
                #pragma unroll 1
                for (grout_i32 i = 0; i < 2; i++) {
                    // mbarrier_wait %empty[%i], 1
                    grout_mbarrier_wait(empty + 8 * i, (grout_u32)(1) & 1u, dog, {1, (grout_u32)(i), 24});
                    // mbarrier_expect %full[%i], 16384
                    grout_mbarrier_arrive_expect(full + 8 * i, 16384);
                    // %row = add (mul %i, 64), %skip
                    const grout_i32 t1 = GROUT_MUL(i, 64);
                    const grout_i32 row = GROUT_ADD(t1, skip);
                    // copy_gmem_to_smem %da[%row, 0], %s[%i], %full[%i]
                    grout_tma_load(s + i * 16384u, a_map, full + 8 * i, 0, row);
                }
            }
        }
        grout_partition_barrier(2); // all partitions have ended
    }
}
