// kernel @rows, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
rows(const grout_f32 *x,
    grout_f32 *most,
    const grout_i32 n,
    const __grid_constant__ grout_tensor_map y_map,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 exchange = smem + 8192 + thread * 1024;
    if (threadIdx.x == 0) {
        grout_prefetch_tensor_map(y_map);
    }
    // scratch %s : smem bf16[R, C] tile(8, 64) swizzle(128)
    const grout_u32 s = smem; // smem bf16[64, 64]
    // %v = load %x
    grout_f32 v[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 64);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 64);
        const auto chunk = grout_load_gmem<grout_vector<grout_f32, 2>>(x + at_row * 64 + at_col);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            v[reg + part] = chunk[part];
        }
    }
    // %max = reduce_max %v dim(1)
    struct x0 {
        __device__ grout_f32 operator()(grout_f32 a, grout_f32 b) const { return GROUT_MAX(a, b); }
    };
    grout_f32 max__2[2]; // wgmma_row
    grout_reduce_rows<64>(v, max__2, x0());
    // %e = exp (sub %v, (broadcast %max dim(0) : f32[R, C])) approx
    grout_f32 t2[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg++) {
        t2[reg] = max__2[grout_row_reg(reg, 64)];
    }
    grout_f32 t3[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg++) {
        t3[reg] = GROUT_SUB(v[reg], t2[reg]);
    }
    grout_f32 e[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg++) {
        e[reg] = GROUT_EXP_APPROX(t3[reg]);
    }
    // %sum = reduce_sum %e dim(1)
    struct x4 {
        __device__ grout_f32 operator()(grout_f32 a, grout_f32 b) const { return GROUT_ADD(a, b); }
    };
    grout_f32 sum[2]; // wgmma_row
    grout_reduce_rows<64>(e, sum, x4());
    // %p = cast (mul %e, (broadcast (div 1.0, %sum) dim(0) : f32[R, C])) : bf16
    grout_f32 t5[2]; // wgmma_row
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t5[reg] = GROUT_DIV(1.0f, sum[reg]);
    }
    grout_f32 t6[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg++) {
        t6[reg] = t5[grout_row_reg(reg, 64)];
    }
    grout_f32 t7[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg++) {
        t7[reg] = GROUT_MUL(e[reg], t6[reg]);
    }
    grout_bf16 p[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 2) {
        grout_round_pair(p + reg, t7[reg], t7[reg + 1]);
    }
    // store %most, (reduce_max %e dim(0))
    struct x8 {
        __device__ grout_f32 operator()(grout_f32 a, grout_f32 b) const { return GROUT_MAX(a, b); }
    };
    grout_reduce_cols_write<64>(e, exchange, lane, x8());
    grout_thread_barrier(thread); // all lanes have written
    grout_f32 t9[16]; // wgmma_col
    grout_reduce_cols_read<64>(t9, exchange, lane, x8());
    if (lane < 4) {
        #pragma unroll
        for (int reg = 0; reg < 16; reg += 2) {
            const grout_u32 at_col = grout_col_of(lane, reg);
            const grout_vector<grout_f32, 2> chunk = {t9[reg], t9[reg + 1]};
            grout_store_gmem(most + at_col, chunk);
        }
    }
    // %count, %grown = while carry(%c = 0, %g = %p)
    grout_i32 count = 0; // carried as %c
    grout_bf16 grown[32]; // carried as %g
    #pragma unroll
    for (int reg = 0; reg < 32; reg++) {
        grown[reg] = p[reg];
    }
    while (true) {
        // cond (lt %c, %n)
        const bool t10 = GROUT_LT(count, n);
        if (!(t10)) {
            break;
        }
        // yield (add %c, 1), (mul %g, 0.5)
        const grout_i32 t11 = GROUT_ADD(count, 1);
        grout_bf16 t12[32]; // wgmma
        #pragma unroll
        for (int reg = 0; reg < 32; reg += 2) {
            grout_round_pair(t12 + reg, GROUT_MUL(grout_widen(grown[reg]), 0.5f), GROUT_MUL(grout_widen(grown[reg + 1]), 0.5f));
        }
        count = t11;
        #pragma unroll
        for (int reg = 0; reg < 32; reg++) {
            grown[reg] = t12[reg];
        }
    }
    // debug_print "{} rounds", %count
    if (warp == 0 && grout_elect()) {
        printf("cta %u thread %u: %lld rounds\n", blockIdx.x, thread, grout_cast<grout_i64>(count));
    }
    // store %s, (add %grown, (load %s))
    grout_bf16 t13[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 8) {
        const grout_u32 at_row = grout_matrix_row(lane, reg, 64);
        const grout_u32 at_col = grout_matrix_col(lane, reg, 64);
        const grout_u32 x14 = at_row * 128u + at_col * 2u;
        grout_load_matrix_x4(s + (x14 ^ ((x14 >> 7 & 7u) << 4)), t13 + reg);
    }
    grout_bf16 t15[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 2) {
        grout_round_pair(t15 + reg, GROUT_ADD(grout_widen(grown[reg]), grout_widen(t13[reg])), GROUT_ADD(grout_widen(grown[reg + 1]), grout_widen(t13[reg + 1])));
    }
    grout_thread_barrier(thread); // all lanes are done with the bytes
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 8) {
        const grout_u32 at_row = grout_matrix_row(lane, reg, 64);
        const grout_u32 at_col = grout_matrix_col(lane, reg, 64);
        const grout_u32 x16 = at_row * 128u + at_col * 2u;
        grout_store_matrix_x4(s + (x16 ^ ((x16 >> 7 & 7u) << 4)), t15 + reg);
    }
    // commit_smem
    grout_commit_smem(thread);
    if (warp == 0 && grout_elect()) {
        // copy_smem_to_gmem %s, %y
        grout_tma_store(y_map, s, 0, 0);
        grout_bulk_commit();
        // wait_smem_to_gmem 0
        grout_bulk_wait<0>();
    }
}
// kernel @moved, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
moved(const grout_f16 *x,
    grout_f16 *y,
    grout_f16 *z,
    grout_f16 *f,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 exchange = smem + 0 + thread * 8192;
    // %a = layout_cast (load %x) wg_strided
    grout_f16 t0[32]; // 8 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 8) {
        const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
        const auto chunk = grout_load_gmem<grout_vector<grout_f16, 8>>(x + flat);
        #pragma unroll
        for (int part = 0; part < 8; part++) {
            t0[reg + part] = chunk[part];
        }
    }
    grout_f16 a[32]; // 8 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 32; reg++) {
        a[reg] = t0[reg];
    }
    // %b = layout_cast %a wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 8) {
        const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
        const grout_vector<grout_f16, 8> chunk = {a[reg], a[reg + 1], a[reg + 2], a[reg + 3], a[reg + 4], a[reg + 5], a[reg + 6], a[reg + 7]};
        grout_store_smem(exchange + (flat * 2 ^ flat / 64u % 8 * 16), chunk);
    }
    grout_thread_barrier(thread); // all lanes have written
    grout_f16 b[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 64);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 64);
        const auto chunk = grout_load_smem<grout_vector<grout_f16, 2>>(exchange + ((at_row * 64 + at_col) * 2 ^ at_row % 8 * 16));
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            b[reg + part] = chunk[part];
        }
    }
    // store %y, (fma %b, 2.0, %b)
    grout_f16 t1[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 2) {
        grout_round_pair(t1 + reg, GROUT_FMA(grout_widen(b[reg]), 2.0f, grout_widen(b[reg])), GROUT_FMA(grout_widen(b[reg + 1]), 2.0f, grout_widen(b[reg + 1])));
    }
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 64);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 64);
        const grout_vector<grout_f16, 2> chunk = {t1[reg], t1[reg + 1]};
        grout_store_gmem(y + at_row * 64 + at_col, chunk);
    }
    // store %z[0], (reduce_sum %a)
    struct x2 {
        __device__ grout_f32 operator()(grout_f32 a, grout_f32 b) const { return GROUT_ADD(a, b); }
    };
    grout_f32 x3 = grout_reduce_registers(a, x2());
    x3 = grout_reduce_lanes<1, 16>(x3, x2());
    grout_thread_barrier(thread); // all lanes are done with the bytes
    grout_reduce_warps_write(x3, exchange, lane);
    grout_thread_barrier(thread); // all lanes have written
    const grout_f16 t4 = grout_cast<grout_f16>(grout_reduce_warps_read<grout_f32>(exchange, x2()));
    if (warp == 0 && grout_elect()) {
        grout_store_gmem(z, t4);
    }
    // %r = reduce_sum (load %x[ds(0, 9), ds(0, 37)])
    grout_f16 t5[3] = {}; // 1 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 3; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        if (flat < 333u) {
            t5[reg] = grout_load_gmem<grout_f16>(x + flat / 37 * 64 + flat % 37);
        }
    }
    struct x6 {
        __device__ grout_f32 operator()(grout_f32 a, grout_f32 b) const { return GROUT_ADD(a, b); }
    };
    grout_f32 x7 = -0.0f;
    #pragma unroll
    for (int reg = 0; reg < 3; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        if (flat < 333u) {
            x7 = x6()(x7, grout_widen(t5[reg]));
        }
    }
    x7 = grout_reduce_lanes<1, 16>(x7, x6());
    grout_thread_barrier(thread); // all lanes are done with the bytes
    grout_reduce_warps_write(x7, exchange, lane);
    grout_thread_barrier(thread); // all lanes have written
    const grout_f16 r = grout_cast<grout_f16>(grout_reduce_warps_read<grout_f32>(exchange, x6()));
    // store %z[1], (rsqrt %r)
    const grout_f16 t8 = grout_cast<grout_f16>(GROUT_RSQRT(grout_widen(r)));
    if (warp == 0 && grout_elect()) {
        grout_store_gmem(z + 1ll, t8);
    }
    // store %f, (broadcast (tanh %r) : f16[333])
    const grout_f16 t9 = grout_cast<grout_f16>(GROUT_TANH(grout_widen(r)));
    const grout_f16 t10 = t9;
    #pragma unroll
    for (int reg = 0; reg < 3; reg++) {
        const grout_u32 flat = reg * 128 + lane;
        if (flat < 333u) {
            grout_store_gmem(f + flat, t10);
        }
    }
}
