// kernel @atomics threads(wg = 1), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
atomics(const grout_f32 *a,
    grout_f32 *o,
    grout_f16 *h,
    grout_i32 *n,
    grout_i32 *x,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 exchange = smem + 512 + thread * 16;
    // scratch %s : smem i32[128]
    const grout_u32 s = smem; // smem i32[128]
    // %v = load %a
    grout_f32 v[64]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 128);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 128);
        const auto chunk = grout_load_gmem<grout_vector<grout_f32, 2>>(a + at_row * 128 + at_col);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            v[reg + part] = chunk[part];
        }
    }
    // %w = layout_cast %v wgmma
    grout_f32 w[64]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 64; reg++) {
        w[reg] = v[reg];
    }
    // atomic_add %o, %w
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 128);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 128);
        const grout_vector<grout_f32, 2> chunk = {w[reg], w[reg + 1]};
        grout_atomic_add_gmem<GROUT_GPU>(o + at_row * 128 + at_col, chunk);
    }
    // %hv = cast %v : f16
    grout_f16 hv[64]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 2) {
        grout_round_pair(hv + reg, v[reg], v[reg + 1]);
    }
    // atomic_add %h, %hv
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 128);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 128);
        const grout_vector<grout_f16, 2> chunk = {hv[reg], hv[reg + 1]};
        grout_atomic_add_gmem<GROUT_GPU>(h + at_row * 128 + at_col, chunk);
    }
    // atomic_max %h, %hv
    grout_thread_barrier(thread); // all lanes are done with the bytes
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 128);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 128);
        const grout_vector<grout_f16, 2> chunk = {hv[reg], hv[reg + 1]};
        grout_atomic_max_gmem<GROUT_GPU>(h + at_row * 128 + at_col, chunk);
    }
    // atomic_add %n[0], 3
    if (warp == 0 && grout_elect()) {
        grout_atomic_add_gmem<GROUT_GPU>(n, 3);
    }
    // atomic_add %n, (broadcast 1 : i32[8])
    const grout_i32 t0 = 1;
    grout_thread_barrier(thread); // all lanes are done with the bytes
    #pragma unroll
    for (int reg = 0; reg < 4; reg++) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4 + reg % 4;
        if (flat < 8u) {
            grout_atomic_add_gmem<GROUT_GPU>(n + flat, t0);
        }
    }
    // %row = reduce_sum %w dim(1)
    struct x1 {
        __device__ grout_f32 operator()(grout_f32 a, grout_f32 b) const { return GROUT_ADD(a, b); }
    };
    grout_f32 row[2]; // wgmma_row
    grout_reduce_rows<128>(w, row, x1());
    // atomic_add %o[:, 5], %row
    if (lane % 4 == 0) {
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            const grout_u32 at_row = grout_row_of(lane, reg);
            grout_atomic_add_gmem<GROUT_GPU>(o + at_row * 128 + 5ll, row[reg]);
        }
    }
    // %z = broadcast 0 : i32[128]
    const grout_i32 z = 0;
    // store %s, %z
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        grout_store_smem(s + flat * 4u, z);
    }
    // atomic_or %s, (broadcast 5 : i32[128])
    const grout_i32 t2 = 5;
    grout_thread_barrier(thread); // all lanes are done with the bytes
    #pragma unroll
    for (int reg = 0; reg < 1; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        grout_atomic_or_smem<GROUT_CTA>(s + flat * 4u, t2);
    }
    // atomic_xor %s[3], 1
    grout_thread_barrier(thread); // all lanes are done with the bytes
    if (warp == 0 && grout_elect()) {
        grout_atomic_xor_smem<GROUT_CTA>(s + 12u, 1);
    }
    // %old = atomic_fetch_add %s[4], 7
    grout_thread_barrier(thread); // all lanes are done with the bytes
    if (warp == 0 && grout_elect()) {
        grout_store_smem(exchange, grout_atomic_fetch_add_smem<GROUT_RELAXED, GROUT_CTA>(s + 16u, 7));
    }
    grout_thread_barrier(thread); // all lanes have written
    const grout_i32 old = grout_load_smem<grout_i32>(exchange);
    // %p = atomic_exchange %n[1], %old order(acq_rel) scope(sys)
    grout_thread_barrier(thread); // one lane releases for all
    if (warp == 0 && grout_elect()) {
        grout_store_smem(exchange, grout_atomic_exchange_gmem<GROUT_ACQ_REL, GROUT_SYS>(n + 1ll, old));
    }
    grout_thread_barrier(thread); // all lanes have written
    const grout_i32 p = grout_load_smem<grout_i32>(exchange);
    // %q = atomic_cas %n[2], %p, 9 order(acquire)
    grout_thread_barrier(thread); // one lane releases for all
    if (warp == 0 && grout_elect()) {
        grout_store_smem(exchange, grout_atomic_cas_gmem<GROUT_ACQUIRE, GROUT_GPU>(n + 2ll, p, 9));
    }
    grout_thread_barrier(thread); // all lanes have written
    const grout_i32 q = grout_load_smem<grout_i32>(exchange);
    // store %x[0], %q
    if (warp == 0 && grout_elect()) {
        grout_store_gmem(x, q);
    }
}
