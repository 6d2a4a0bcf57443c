// kernel @async threads(wg = 2), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(256)
async(const grout_f16 *a,
    grout_f16 *o,
    const grout_f32 *t,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = warp / 4;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    grout_u32 full_phases_0 = 0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < 1; part++) {
            grout_mbarrier_init(smem + 32848 + 8 * part, 128); // %full
        }
        grout_fence_mbarrier_init();
    }
    grout_block_barrier();
    // scratch %s : smem f16[2, 128, 64] tile(8, 64) swizzle(128)
    const grout_u32 s = smem; // smem f16[2, 128, 64]
    // scratch %t2 : smem f32[5, 4]
    const grout_u32 t2__1 = smem + 32768; // smem f32[5, 4]
    // scratch %full : barrier[1] arrivals(1)
    const grout_u32 full = smem + 32848; // barrier[1] arrivals(1), each by one lane
    // %w = axis_index wg
    const grout_i32 w = (grout_i32)(thread);
    // if (eq %w, 0)
    const bool t1 = GROUT_EQ(w, 0);
    if (t1) {
        // async_copy %a, %s[0]
        #pragma unroll
        for (int reg = 0; reg < 64; reg += 8) {
            const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
            const void *const x2 = a + flat;
            const grout_u32 x3 = flat * 2u;
            grout_async_copy<16>(s + (x3 ^ ((x3 >> 7 & 7u) << 4)), x2);
        }
        // async_copy_commit_group
        grout_async_copy_commit();
        // async_copy %t, %t2
        #pragma unroll
        for (int reg = 0; reg < 4; reg += 4) {
            const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
            if (flat < 20u) {
                const void *const x4 = t + flat;
                grout_async_copy<16>(t2__1 + flat * 4u, x4);
            }
        }
        // async_copy_commit_group
        grout_async_copy_commit();
        // async_copy_wait 1
        grout_async_copy_wait<1>();
        grout_thread_barrier(thread); // all lanes' copies are done
        // async_copy_arrive %full[0]
        grout_async_copy_arrive(full);
    } else {
        // barrier_wait %full[0]
        grout_barrier_wait(full, full_phases_0, dog, {0, 0, 16});
        // %v = load %s[0]
        grout_f16 v[64]; // 8 neighbours a lane
        #pragma unroll
        for (int reg = 0; reg < 64; reg += 8) {
            const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
            const grout_u32 x5 = flat * 2u;
            const auto chunk = grout_load_smem<grout_vector<grout_f16, 8>>(s + (x5 ^ ((x5 >> 7 & 7u) << 4)));
            #pragma unroll
            for (int part = 0; part < 8; part++) {
                v[reg + part] = chunk[part];
            }
        }
        // store %o, %v
        #pragma unroll
        for (int reg = 0; reg < 64; reg += 8) {
            const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
            const grout_vector<grout_f16, 8> chunk = {v[reg], v[reg + 1], v[reg + 2], v[reg + 3], v[reg + 4], v[reg + 5], v[reg + 6], v[reg + 7]};
            grout_store_gmem(o + flat, chunk);
        }
    }
}
