// kernel @reductions, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
reductions(const grout_i32 *x,
    grout_i32 *rows,
    grout_i32 *columns,
    grout_i32 *all,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    const grout_u32 exchange = smem + 0 + thread * 512;
    // %v = layout_cast (load %x) wgmma
    grout_i32 t0[16]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 16; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 32);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 32);
        const auto chunk = grout_load_gmem<grout_vector<grout_i32, 2>>(x + at_row * 32 + at_col);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            t0[reg + part] = chunk[part];
        }
    }
    grout_i32 v[16]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 16; reg++) {
        v[reg] = t0[reg];
    }
    // store %rows, (layout_cast (reduce_min %v dim(1)) wgmma_row)
    struct x1 {
        __device__ grout_i32 operator()(grout_i32 a, grout_i32 b) const { return GROUT_MIN(a, b); }
    };
    grout_i32 t2[2]; // wgmma_row
    grout_reduce_rows<32>(v, t2, x1());
    grout_i32 t3[2]; // wgmma_row
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t3[reg] = t2[reg];
    }
    if (lane % 4 == 0) {
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            const grout_u32 at_row = grout_row_of(lane, reg);
            grout_store_gmem(rows + at_row, t3[reg]);
        }
    }
    // store %columns, (layout_cast (reduce_sum %v dim(0)) wgmma_col)
    struct x4 {
        __device__ grout_i32 operator()(grout_i32 a, grout_i32 b) const { return GROUT_ADD(a, b); }
    };
    grout_reduce_cols_write<32>(v, exchange, lane, x4());
    grout_thread_barrier(thread); // all lanes have written
    grout_i32 t5[8]; // wgmma_col
    grout_reduce_cols_read<32>(t5, exchange, lane, x4());
    grout_i32 t6[8]; // wgmma_col
    #pragma unroll
    for (int reg = 0; reg < 8; reg++) {
        t6[reg] = t5[reg];
    }
    if (lane < 4) {
        #pragma unroll
        for (int reg = 0; reg < 8; reg += 2) {
            const grout_u32 at_col = grout_col_of(lane, reg);
            const grout_vector<grout_i32, 2> chunk = {t6[reg], t6[reg + 1]};
            grout_store_gmem(columns + at_col, chunk);
        }
    }
    // store %all[0], (reduce_min %v)
    struct x7 {
        __device__ grout_i32 operator()(grout_i32 a, grout_i32 b) const { return GROUT_MIN(a, b); }
    };
    grout_i32 x8 = grout_reduce_registers(v, x7());
    x8 = grout_reduce_lanes<1, 16>(x8, x7());
    grout_thread_barrier(thread); // all lanes are done with the bytes
    grout_reduce_warps_write(x8, exchange, lane);
    grout_thread_barrier(thread); // all lanes have written
    const grout_i32 t9 = grout_cast<grout_i32>(grout_reduce_warps_read<grout_i32>(exchange, x7()));
    if (warp == 0 && grout_elect()) {
        grout_store_gmem(all, t9);
    }
}
