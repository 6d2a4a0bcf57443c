// kernel @named threads(wg = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(256)
named(const grout_f32 *a,
    grout_f32 *o,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = warp / 4;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    // scratch %s : smem f32[2, 128]
    const grout_u32 s = smem; // smem f32[2, 128]
    // %w = axis_index wg
    const grout_i32 w = (grout_i32)(thread);
    // %v = load %a[ds(%w * 128, 128)]
    const grout_i32 t0 = GROUT_MUL(w, 128);
    grout_f32 v[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        v[reg] = grout_load_gmem<grout_f32>(a + t0 + flat);
    }
    // store %s[%w], %v
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        grout_store_smem(s + w * 512u + flat * 4u, v[reg]);
    }
    // named_barrier_sync 0, 2
    grout_named_sync(0, 2 * 128);
    // %u = load %s[1 - %w]
    const grout_i32 t1 = GROUT_SUB(1, w);
    grout_f32 u[1]; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        u[reg] = grout_load_smem<grout_f32>(s + t1 * 512u + flat * 4u);
    }
    // block_barrier
    grout_block_barrier();
    // store %o[ds(%w * 128, 128)], %u
    const grout_i32 t2 = GROUT_MUL(w, 128);
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        grout_store_gmem(o + t2 + flat, u[reg]);
    }
    // if (eq %w, 0)
    const bool t3 = GROUT_EQ(w, 0);
    if (t3) {
        // named_barrier_arrive 3, 2
        grout_named_arrive(3, 2 * 128);
    } else {
        // named_barrier_sync 3, 2
        grout_named_sync(3, 2 * 128);
    }
}
// kernel @semaphores grid(b = 4) threads(wg = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(256)
semaphores(grout_i32 *x,
    grout_u64 *done_space_0,
    grout_u64 *own_space_1,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = warp / 4;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 exchange = smem + 0 + thread * 16;
    // scratch %done : semaphore[2] global
    grout_u64 *const done = done_space_0; // semaphore[2]
    // scratch %own : semaphore[1]
    grout_u64 *const own = own_space_1 + (grout_u64)blockIdx.x * 1; // semaphore[1]
    // %w = axis_index wg
    const grout_i32 w = (grout_i32)(thread);
    // if (eq %w, 0)
    const bool t0 = GROUT_EQ(w, 0);
    if (t0) {
        // semaphore_signal %own[0], 2
        if (warp % 4 == 0 && grout_elect()) {
            grout_semaphore_signal<GROUT_RELEASE, GROUT_SYS>(own, (grout_u32)(2));
        }
        // semaphore_signal %done[1], 1 scope(gpu)
        if (warp % 4 == 0 && grout_elect()) {
            grout_semaphore_signal<GROUT_RELEASE, GROUT_GPU>(done + (1), (grout_u32)(1));
        }
        // semaphore_wait %done[1], 4 scope(gpu) no_decrement
        if (warp % 4 == 0 && grout_elect()) {
            grout_semaphore_look<GROUT_ACQUIRE, GROUT_GPU>(done + (1), (grout_u32)(4), dog, {0, (grout_u32)(1), 27});
        }
        grout_thread_barrier(thread); // all lanes know
    } else {
        // semaphore_wait %own[0], 1
        if (warp % 4 == 0 && grout_elect()) {
            grout_semaphore_wait<GROUT_ACQUIRE, GROUT_SYS>(own, (grout_u32)(1), dog, {1, (grout_u32)(0), 29});
        }
        grout_thread_barrier(thread); // all lanes know
        // semaphore_wait %own[0], 1 order(relaxed)
        if (warp % 4 == 0 && grout_elect()) {
            grout_semaphore_wait<GROUT_RELAXED, GROUT_SYS>(own, (grout_u32)(1), dog, {1, (grout_u32)(0), 30});
        }
        grout_thread_barrier(thread); // all lanes know
        // %r = semaphore_read %done[0]
        if (warp % 4 == 0 && grout_elect()) {
            grout_store_smem(exchange, grout_semaphore_read(done));
        }
        grout_thread_barrier(thread); // all lanes have written
        const grout_i32 r = grout_load_smem<grout_i32>(exchange);
        // %b = axis_index b
        const grout_i32 b = (grout_i32)(blockIdx.x);
        // store %x[%b], %r
        if (warp % 4 == 0 && grout_elect()) {
            grout_store_gmem(x + b, r);
        }
    }
}
