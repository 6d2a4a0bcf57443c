// kernel @tiles, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
tiles(const grout_bf16 *x,
    grout_bf16 *y,
    const grout_i32 n,
    const __grid_constant__ grout_tensor_map x_map,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    grout_u32 full_phases_0 = 0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < 1; part++) {
            grout_mbarrier_init(smem + 49152 + 8 * part, 1); // %full
        }
        grout_fence_mbarrier_init();
        grout_prefetch_tensor_map(x_map);
    }
    grout_block_barrier();
    // scratch %s : smem bf16[2, 64, 128] tile(8, 64) swizzle(128)
    const grout_u32 s = smem; // smem bf16[2, 64, 128]
    // scratch %t : smem bf16[64, 128] transpose(1, 0)
    const grout_u32 t = smem + 32768; // smem bf16[64, 128]
    // scratch %full : barrier[1]
    const grout_u32 full = smem + 49152; // barrier[1] arrivals(1), each by one lane
    // copy_gmem_to_smem %x[ds(64, 64)], %s[%n], %full[0]
    if (warp == 0 && grout_elect()) {
        grout_mbarrier_arrive_expect(full, 16384);
        grout_tma_load(s + n * 16384u, x_map, full, 0, 0, 0, (64) / 8);
    }
    // barrier_wait %full[0]
    grout_barrier_wait(full, full_phases_0, dog, {0, 0, 9});
    // %v = load %s[%n]
    grout_bf16 v[64]; // 8 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 8) {
        const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
        const grout_u32 x0 = flat / 128;
        const grout_u32 x1 = flat % 128;
        const grout_u32 x2 = n * 16384u + x0 / 8 * 2048u + x1 / 64 * 1024u + x0 % 8 * 128u + x1 % 64 * 2u;
        const auto chunk = grout_load_smem<grout_vector<grout_bf16, 8>>(s + (x2 ^ ((x2 >> 7 & 7u) << 4)));
        #pragma unroll
        for (int part = 0; part < 8; part++) {
            v[reg + part] = chunk[part];
        }
    }
    // store %t, %v
    // SMEM bank conflicts: accesses take up to 16 times as long
    #pragma unroll
    for (int reg = 0; reg < 64; reg++) {
        const grout_u32 flat = (reg / 8 * 128 + lane) * 8 + reg % 8;
        grout_store_smem(t + flat / 128 * 2u + flat % 128 * 128u, v[reg]);
    }
    // store %y, (load %t.transpose(1, 0))
    grout_thread_barrier(thread); // all lanes have written
    grout_bf16 t3[64]; // 8 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 8) {
        const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
        const auto chunk = grout_load_smem<grout_vector<grout_bf16, 8>>(t + flat * 2u);
        #pragma unroll
        for (int part = 0; part < 8; part++) {
            t3[reg + part] = chunk[part];
        }
    }
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 8) {
        const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
        const grout_vector<grout_bf16, 8> chunk = {t3[reg], t3[reg + 1], t3[reg + 2], t3[reg + 3], t3[reg + 4], t3[reg + 5], t3[reg + 6], t3[reg + 7]};
        grout_store_gmem(y + flat, chunk);
    }
    // store %s[0, 3], (load %x[%n])
    grout_bf16 t4[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        t4[reg] = grout_load_gmem<grout_bf16>(x + n * 128ll + flat);
    }
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        const grout_u32 x5 = flat;
        const grout_u32 x6 = x5 / 64 * 1024u + x5 % 64 * 2u + 384u;
        grout_store_smem(s + (x6 ^ ((x6 >> 7 & 7u) << 4)), t4[reg]);
    }
}
