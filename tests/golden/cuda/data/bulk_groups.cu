// kernel @bulk_groups, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
bulk_groups(const __grid_constant__ grout_tensor_map u_map,
    const __grid_constant__ grout_tensor_map h_map,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    if (threadIdx.x == 0) {
        grout_prefetch_tensor_map(u_map);
        grout_prefetch_tensor_map(h_map);
    }
    // scratch %s : smem u32[32]
    const grout_u32 s = smem; // smem u32[32]
    // scratch %t : smem bf16[64]
    const grout_u32 t = smem + 1024; // smem bf16[64]
    // store %s, (iota dim(0) : u32[32])
    grout_u32 t0[4]; // 4 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 4; reg++) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4 + reg % 4;
        t0[reg] = grout_cast<grout_u32>(flat);
    }
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        if (flat < 32u) {
            const grout_vector<grout_u32, 4> chunk = {t0[reg], t0[reg + 1], t0[reg + 2], t0[reg + 3]};
            grout_store_smem(s + flat * 4u, chunk);
        }
    }
    // store %t, (cast (iota dim(0) : u32[64]) : bf16)
    grout_u32 t1[8]; // 8 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 8; reg++) {
        const grout_u32 flat = (reg / 8 * 128 + lane) * 8 + reg % 8;
        t1[reg] = grout_cast<grout_u32>(flat);
    }
    grout_bf16 t2[8]; // 8 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 8; reg++) {
        t2[reg] = grout_cast<grout_bf16>(t1[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 8; reg += 8) {
        const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
        if (flat < 64u) {
            const grout_vector<grout_bf16, 8> chunk = {t2[reg], t2[reg + 1], t2[reg + 2], t2[reg + 3], t2[reg + 4], t2[reg + 5], t2[reg + 6], t2[reg + 7]};
            grout_store_smem(t + flat * 2u, chunk);
        }
    }
    // commit_smem
    grout_commit_smem(thread);
    if (warp == 0 && grout_elect()) {
        // copy_smem_to_gmem %s, %u[0] no_commit_group reduce(inc)
        grout_tma_inc(u_map, s, 0, 0);
        // copy_smem_to_gmem %s, %u[1] no_commit_group reduce(dec)
        grout_tma_dec(u_map, s, 0, 1);
        // commit_group
        grout_bulk_commit();
        // copy_smem_to_gmem %s, %u[2] reduce(and)
        grout_tma_and(u_map, s, 0, 2);
        grout_bulk_commit();
        // copy_smem_to_gmem %s, %u[3] reduce(or)
        grout_tma_or(u_map, s, 0, 3);
        grout_bulk_commit();
        // copy_smem_to_gmem %s, %u[4] reduce(xor)
        grout_tma_xor(u_map, s, 0, 4);
        grout_bulk_commit();
        // copy_smem_to_gmem %t, %h[0] reduce(min)
        grout_tma_min(h_map, t, 0, 0);
        grout_bulk_commit();
        // copy_smem_to_gmem %t, %h[1] reduce(max)
        grout_tma_max(h_map, t, 0, 1);
        grout_bulk_commit();
        // wait_smem_to_gmem 2 read_only
        grout_bulk_wait_read<2>();
        // wait_smem_to_gmem 0
        grout_bulk_wait<0>();
    }
}
