// kernel @atomic_updates cluster(cx = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
atomic_updates(grout_u32 *n,
    grout_bf16 *h,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 rank = grout_cluster_rank();
    grout_cluster_start();
    // scratch %s : smem u32[256]
    const grout_u32 s = smem; // smem u32[256]
    // %i = iota dim(0) : u32[256]
    grout_u32 i[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2 + reg % 2;
        i[reg] = grout_cast<grout_u32>(flat);
    }
    // atomic_min %n, %i
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2 + reg % 2;
        grout_atomic_min_gmem<GROUT_GPU>(n + flat, i[reg]);
    }
    // atomic_max %n, %i scope(gpu)
    grout_thread_barrier(thread); // all lanes are done with the bytes
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2 + reg % 2;
        grout_atomic_max_gmem<GROUT_GPU>(n + flat, i[reg]);
    }
    // atomic_and %n, %i scope(sys)
    grout_thread_barrier(thread); // all lanes are done with the bytes
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2 + reg % 2;
        grout_atomic_and_gmem<GROUT_SYS>(n + flat, i[reg]);
    }
    // atomic_or %n[3], 5
    grout_thread_barrier(thread); // all lanes are done with the bytes
    if (warp == 0 && grout_elect()) {
        grout_atomic_or_gmem<GROUT_GPU>(n + 3ll, 5u);
    }
    // atomic_min %h, (cast %i : bf16)
    grout_bf16 t0[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t0[reg] = grout_cast<grout_bf16>(i[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_bf16, 2> chunk = {t0[reg], t0[reg + 1]};
        grout_atomic_min_gmem<GROUT_GPU>(h + flat, chunk);
    }
    // store %s, %i
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_u32, 2> chunk = {i[reg], i[reg + 1]};
        grout_store_smem(s + flat * 4u, chunk);
    }
    // block_barrier
    grout_block_barrier();
    // atomic_add %s, %i scope(cta)
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2 + reg % 2;
        grout_atomic_add_smem<GROUT_CTA>(s + flat * 4u, i[reg]);
    }
    // atomic_min %s, %i scope(cluster)
    grout_thread_barrier(thread); // all lanes are done with the bytes
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2 + reg % 2;
        grout_atomic_min_smem<GROUT_CLUSTER>(s + flat * 4u, i[reg]);
    }
    // atomic_and %s[7], 1
    grout_thread_barrier(thread); // all lanes are done with the bytes
    if (warp == 0 && grout_elect()) {
        grout_atomic_and_smem<GROUT_CLUSTER>(s + 28u, 1u);
    }
}
