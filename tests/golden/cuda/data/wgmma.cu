// c += a b: 64 x 16 by 16 of K.
GROUT_DEVICE void grout_wgmma_m64n16k16_f32_bf16(grout_f32 *c, grout_u64 a, grout_u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7}, "
        "%8, %9, 1, 1, 1, 0, 0;"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
        : "l"(a), "l"(b));
}

// kernel @wgmma threads(wg = 3), 128 lanes a thread
extern "C" __global__ void __launch_bounds__(384, 1)
wgmma(grout_f32 *c,
    const __grid_constant__ grout_tensor_map a_map,
    const __grid_constant__ grout_tensor_map b_map,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = warp / 4;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    grout_u32 full_phases_0 = 0;
    grout_u32 consumed_phases_1 = 0;
    grout_u32 consumed_arrived_1 = 0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < 2; part++) {
            grout_mbarrier_init(smem + 36864 + 8 * part, 2); // %full
        }
        for (int part = 0; part < 2; part++) {
            grout_mbarrier_init(smem + 36880 + 8 * part, 8); // %consumed
        }
        grout_fence_mbarrier_init();
        grout_prefetch_tensor_map(a_map);
        grout_prefetch_tensor_map(b_map);
    }
    grout_block_barrier();
    // scratch %as : smem bf16[STAGES, 128, 64] tile(64, 64) swizzle(128)
    const grout_u32 as = smem; // smem bf16[2, 128, 64]
    // scratch %bs : smem bf16[STAGES, 16, 64] tile(8, 64) swizzle(128)
    const grout_u32 bs = smem + 32768; // smem bf16[2, 16, 64]
    // scratch %full : barrier[STAGES] arrivals(2)
    const grout_u32 full = smem + 36864; // barrier[2] arrivals(2), each by one lane
    // scratch %consumed : barrier[STAGES] arrivals(2)
    const grout_u32 consumed = smem + 36880; // barrier[2] arrivals(2), each by four warps
    // scratch %acc : acc f32[64, 16]
    grout_f32 acc[8] = {}; // acc f32[64, 16]
    // %wg = axis_index wg
    const grout_i32 wg = (grout_i32)(thread);
    // if (eq %wg, 2)
    const bool t0 = GROUT_EQ(wg, 2);
    if (t0) {
        // set_max_registers 24 decrease
        grout_decrease_registers<24>();
        if (warp % 4 == 0 && grout_elect()) {
            // for %k in 0..K / 64
            #pragma unroll 1
            for (grout_i32 k = 0; k < 4; k++) {
                // %slot = rem %k, STAGES
                const grout_i32 slot = GROUT_REM(k, 2);
                // if (ge %k, STAGES)
                const bool t1 = GROUT_GE(k, 2);
                if (t1) {
                    // barrier_wait %consumed[%slot]
                    grout_barrier_wait(consumed, consumed_phases_1, dog, {1, (grout_u32)(slot), 19});
                }
                // copy_gmem_to_smem %a[:, ds(%k * 64, 64)], %as[%slot], %full[%slot]
                const grout_i32 t2 = GROUT_MUL(k, 64);
                grout_mbarrier_arrive_expect(full + 8 * slot, 16384);
                grout_tma_load(as + slot * 16384u, a_map, full + 8 * slot, t2, 0);
                // copy_gmem_to_smem %b[:, ds(%k * 64, 64)], %bs[%slot], %full[%slot]
                const grout_i32 t3 = GROUT_MUL(k, 64);
                grout_mbarrier_arrive_expect(full + 8 * slot, 2048);
                grout_tma_load(bs + slot * 2048u, b_map, full + 8 * slot, t3, 0);
            }
            // for %slot in 0..STAGES
            #pragma unroll 1
            for (grout_i32 slot = 0; slot < 2; slot++) {
                // barrier_wait %consumed[%slot]
                grout_barrier_wait(consumed, consumed_phases_1, dog, {1, (grout_u32)(slot), 25});
            }
        }
    } else {
        // set_max_registers 240 increase
        grout_increase_registers<240>();
        // for %k in 0..K / 64
        #pragma unroll 1
        for (grout_i32 k = 0; k < 4; k++) {
            // %slot = rem %k, STAGES
            const grout_i32 slot = GROUT_REM(k, 2);
            // barrier_wait %full[%slot]
            grout_barrier_wait(full, full_phases_0, dog, {0, (grout_u32)(slot), 31});
            // wgmma %acc, %as[%slot, ds(%wg * 64, 64)], %bs[%slot].transpose(1, 0)
            const grout_i32 t4 = GROUT_MUL(wg, 64);
            const grout_u32 x5 = grout_operand_start(as + slot * 16384u + t4 * 128u) | 65536u;
            const grout_u32 x6 = grout_operand_start(bs + slot * 2048u) | 65536u;
            grout_wgmma_fence();
            #pragma unroll
            for (int part = 0; part < 4; part++) {
                grout_wgmma_m64n16k16_f32_bf16(acc, grout_operand(x5 + part * 2, 0x40000040u), grout_operand(x6 + part * 2, 0x40000040u));
            }
            grout_wgmma_commit();
            grout_wgmma_wait<1>();
            // if (gt %k, 0)
            const bool t7 = GROUT_GT(k, 0);
            if (t7) {
                // barrier_arrive %consumed[1 - %slot]
                const grout_i32 t8 = GROUT_SUB(1, slot);
                grout_barrier_arrive(thread, consumed, (grout_u32)(t8), consumed_arrived_1);
            }
        }
        // %sum = load %acc
        grout_wgmma_wait<0>();
        grout_wgmma_hold<8>(acc);
        grout_f32 sum[8]; // wgmma
        #pragma unroll
        for (int reg = 0; reg < 8; reg++) {
            sum[reg] = acc[reg];
        }
        // barrier_arrive %consumed[(K / 64 - 1) % STAGES]
        grout_barrier_arrive(thread, consumed, 1, consumed_arrived_1);
        // store %c[ds(%wg * 64, 64)], %sum
        const grout_i32 t9 = GROUT_MUL(wg, 64);
        #pragma unroll
        for (int reg = 0; reg < 8; reg += 2) {
            const grout_u32 at_row = grout_wgmma_row(lane, reg, 16);
            const grout_u32 at_col = grout_wgmma_col(lane, reg, 16);
            const grout_vector<grout_f32, 2> chunk = {sum[reg], sum[reg + 1]};
            grout_store_gmem(c + t9 * 16ll + at_row * 16 + at_col, chunk);
        }
    }
}
// c += a b: 64 x 16 by 16 of K.
GROUT_DEVICE void grout_wgmma_m64n16k16_f16_f16_ra_tb(grout_u32 *c, const grout_u32 *a, grout_u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 "
        "{%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, %8, 1, 1, 1, 1;"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// c += a b: 64 x 8 by 16 of K.
GROUT_DEVICE void grout_wgmma_m64n8k16_f16_f16_tb(grout_u32 *c, grout_u64 a, grout_u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 "
        "{%0, %1}, "
        "%2, %3, 1, 1, 1, 0, 1;"
        : "+r"(c[0]), "+r"(c[1])
        : "l"(a), "l"(b));
}

// kernel @pieces, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
pieces(const grout_f16 *x,
    grout_f16 *y,
    const __grid_constant__ grout_tensor_map x_map,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    grout_u32 full_phases_0 = 0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < 1; part++) {
            grout_mbarrier_init(smem + 9216 + 8 * part, 1); // %full
        }
        grout_fence_mbarrier_init();
        grout_prefetch_tensor_map(x_map);
    }
    grout_block_barrier();
    // scratch %xs : smem f16[128, 32] tile(8, 32) swizzle(64)
    const grout_u32 xs = smem; // smem f16[128, 32]
    // scratch %ts : smem f16[32, 16] tile(8, 8)
    const grout_u32 ts = smem + 8192; // smem f16[32, 16]
    // scratch %full : barrier[1]
    const grout_u32 full = smem + 9216; // barrier[1] arrivals(1), each by one lane
    // scratch %acc : acc f16[128, 16]
    grout_u32 acc[8] = {}; // acc f16[128, 16]
    // copy_gmem_to_smem %x, %xs, %full[0]
    if (warp == 0 && grout_elect()) {
        grout_mbarrier_arrive_expect(full, 8192);
        grout_tma_load(xs, x_map, full, 0, 0);
    }
    // %v = load %x
    grout_f16 v[32]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 32);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 32);
        const auto chunk = grout_load_gmem<grout_vector<grout_f16, 2>>(x + at_row * 32 + at_col);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            v[reg + part] = chunk[part];
        }
    }
    // store %ts, (broadcast 1.0 : f16[32, 16])
    const grout_f16 t0 = grout_f16{0x3c00};
    // SMEM bank conflicts: accesses take up to 2 times as long
    #pragma unroll
    for (int reg = 0; reg < 4; reg += 4) {
        const grout_u32 flat = (reg / 4 * 128 + lane) * 4;
        const grout_u32 x1 = flat / 16;
        const grout_u32 x2 = flat % 16;
        const grout_vector<grout_f16, 4> chunk = {t0, t0, t0, t0};
        grout_store_smem(ts + x1 / 8 * 256u + x2 / 8 * 128u + x1 % 8 * 16u + x2 % 8 * 2u, chunk);
    }
    // commit_smem
    grout_commit_smem(thread);
    // barrier_wait %full[0]
    grout_barrier_wait(full, full_phases_0, dog, {0, 0, 55});
    // acc_store %acc, (broadcast 0.5 : f16[128, 16])
    const grout_f16 t3 = grout_f16{0x3800};
    #pragma unroll
    for (int reg = 0; reg < 8; reg++) {
        const grout_f16 pair[2] = {t3, t3};
        acc[reg] = grout_pair(pair);
    }
    grout_wgmma_hold<8>(acc);
    // wgmma_async %acc, %v, %ts
    grout_u32 x4[16];
    #pragma unroll
    for (int reg = 0; reg < 16; reg++) {
        x4[reg] = grout_wgmma_take(grout_pair(v + 2 * reg));
    }
    const grout_u32 x5 = grout_operand_start(ts) | 1048576u;
    grout_wgmma_fence();
    #pragma unroll
    for (int part = 0; part < 2; part++) {
        #pragma unroll
        for (int band = 0; band < 2; band++) {
            grout_wgmma_m64n16k16_f16_f16_ra_tb(acc + band * 4, x4 + band * 8 + part * 4, grout_operand(x5 + part * 32, 0x00000008u));
        }
    }
    grout_wgmma_commit();
    // wgmma_wait 0
    grout_wgmma_wait<0>();
    grout_wgmma_hold<16>(x4);
    // wgmma_async %acc[:, ds(8, 8)], %xs, %ts[:, ds(8, 8)]
    const grout_u32 x6 = grout_operand_start(xs) | 65536u;
    const grout_u32 x7 = grout_operand_start(ts + 128u) | 1048576u;
    grout_wgmma_fence();
    #pragma unroll
    for (int part = 0; part < 2; part++) {
        #pragma unroll
        for (int band = 0; band < 2; band++) {
            grout_wgmma_m64n8k16_f16_f16_tb(acc + band * 4 + 2, grout_operand(x6 + band * 256 + part * 2, 0x80000020u), grout_operand(x7 + part * 32, 0x00000008u));
        }
    }
    grout_wgmma_commit();
    // %right = acc_load %acc[:, ds(8, 8)] wait(0)
    grout_wgmma_wait<0>();
    grout_wgmma_hold<2>(acc + 2);
    grout_wgmma_hold<2>(acc + 6);
    grout_f16 right[8]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 4; reg++) {
        grout_unpair(right + 2 * reg, acc[reg / 2 * 4 + reg % 2 + 2]);
    }
    // store %y[:, ds(0, 8)], %right
    #pragma unroll
    for (int reg = 0; reg < 8; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 8);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 8);
        const grout_vector<grout_f16, 2> chunk = {right[reg], right[reg + 1]};
        grout_store_gmem(y + at_row * 16 + at_col, chunk);
    }
    // store %y[:, ds(8, 8)], (acc_load %acc[:, ds(0, 8)])
    grout_wgmma_hold<2>(acc);
    grout_wgmma_hold<2>(acc + 4);
    grout_f16 t8[8]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 4; reg++) {
        grout_unpair(t8 + 2 * reg, acc[reg / 2 * 4 + reg % 2]);
    }
    grout_thread_barrier(thread); // all lanes are done with the bytes
    #pragma unroll
    for (int reg = 0; reg < 8; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 8);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 8);
        const grout_vector<grout_f16, 2> chunk = {t8[reg], t8[reg + 1]};
        grout_store_gmem(y + at_row * 16 + at_col + 8ll, chunk);
    }
}
// c += a b: 64 x 16 by 16 of K.
GROUT_DEVICE void grout_wgmma_m64n16k16_f32_bf16_ra_tb(grout_f32 *c, const grout_u32 *a, grout_u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7}, "
        "{%8, %9, %10, %11}, %12, 1, 1, 1, 1;"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// kernel @rounds, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
rounds(const grout_i8 *x,
    const grout_i32 n,
    grout_f32 *y,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    const grout_u32 smem = grout_smem_base();
    // scratch %bs : smem bf16[64, 16] tile(8, 8)
    const grout_u32 bs = smem; // smem bf16[64, 16]
    // scratch %acc : acc f32[64, 16]
    grout_f32 acc[8] = {}; // acc f32[64, 16]
    // store %bs, (broadcast 1.0 : bf16[64, 16])
    const grout_bf16 t0 = grout_bf16{0x3f80};
    // SMEM bank conflicts: accesses take up to 2 times as long
    #pragma unroll
    for (int reg = 0; reg < 8; reg += 8) {
        const grout_u32 flat = (reg / 8 * 128 + lane) * 8;
        const grout_u32 x1 = flat / 16;
        const grout_u32 x2 = flat % 16;
        const grout_vector<grout_bf16, 8> chunk = {t0, t0, t0, t0, t0, t0, t0, t0};
        grout_store_smem(bs + x1 / 8 * 256u + x2 / 8 * 128u + x1 % 8 * 16u + x2 % 8 * 2u, chunk);
    }
    // commit_smem
    grout_commit_smem(thread);
    // for %i in 0..%n
    grout_i64 x3 = 0;
    // Rounds of 2 turns: a turn's registers are its own while the tensor core reads them.
    #pragma unroll 1
    while (x3 + 1 < n) {
        #pragma unroll
        for (int x4 = 0; x4 < 2; x4++, x3 += 1) {
            const grout_i32 i = (grout_i32)x3;
            // wgmma %acc, (cast (load %x[%i]) : bf16), %bs
            grout_i8 t5[32]; // wgmma
            #pragma unroll
            for (int reg = 0; reg < 32; reg += 2) {
                const grout_u32 at_row = grout_wgmma_row(lane, reg, 64);
                const grout_u32 at_col = grout_wgmma_col(lane, reg, 64);
                const auto chunk = grout_load_gmem<grout_vector<grout_i8, 2>>(x + i * 4096ll + at_row * 64 + at_col);
                #pragma unroll
                for (int part = 0; part < 2; part++) {
                    t5[reg + part] = chunk[part];
                }
            }
            grout_bf16 t6[32]; // wgmma
            #pragma unroll
            for (int reg = 0; reg < 32; reg += 2) {
                grout_cast_pair(t6 + reg, t5 + reg);
            }
            grout_u32 x7[16];
            #pragma unroll
            for (int reg = 0; reg < 16; reg++) {
                x7[reg] = grout_wgmma_take(grout_pair(t6 + 2 * reg));
            }
            const grout_u32 x8 = grout_operand_start(bs) | 1048576u;
            grout_wgmma_fence();
            #pragma unroll
            for (int part = 0; part < 4; part++) {
                grout_wgmma_m64n16k16_f32_bf16_ra_tb(acc, x7 + part * 4, grout_operand(x8 + part * 32, 0x00000008u));
            }
            grout_wgmma_commit();
            grout_wgmma_wait<1>();
        }
    }
    // The turns that make no whole round.
    grout_wgmma_wait<0>();
    #pragma unroll 1
    for (; x3 < n; x3 += 1) {
        const grout_i32 i = (grout_i32)x3;
        grout_i8 t5[32]; // wgmma
        #pragma unroll
        for (int reg = 0; reg < 32; reg += 2) {
            const grout_u32 at_row = grout_wgmma_row(lane, reg, 64);
            const grout_u32 at_col = grout_wgmma_col(lane, reg, 64);
            const auto chunk = grout_load_gmem<grout_vector<grout_i8, 2>>(x + i * 4096ll + at_row * 64 + at_col);
            #pragma unroll
            for (int part = 0; part < 2; part++) {
                t5[reg + part] = chunk[part];
            }
        }
        grout_bf16 t6[32]; // wgmma
        #pragma unroll
        for (int reg = 0; reg < 32; reg += 2) {
            grout_cast_pair(t6 + reg, t5 + reg);
        }
        grout_u32 x9[16];
        #pragma unroll
        for (int reg = 0; reg < 16; reg++) {
            x9[reg] = grout_wgmma_take(grout_pair(t6 + 2 * reg));
        }
        const grout_u32 x10 = grout_operand_start(bs) | 1048576u;
        grout_wgmma_fence();
        #pragma unroll
        for (int part = 0; part < 4; part++) {
            grout_wgmma_m64n16k16_f32_bf16_ra_tb(acc, x9 + part * 4, grout_operand(x10 + part * 32, 0x00000008u));
        }
        grout_wgmma_commit();
        // The next values of these registers must not come while they are read.
        grout_wgmma_wait<0>();
        grout_wgmma_hold<16>(x9);
        grout_wgmma_wait<1>();
    }
    // store %y, (load %acc)
    grout_wgmma_wait<0>();
    grout_wgmma_hold<8>(acc);
    grout_f32 t11[8]; // wgmma
    #pragma unroll
    for (int reg = 0; reg < 8; reg++) {
        t11[reg] = acc[reg];
    }
    #pragma unroll
    for (int reg = 0; reg < 8; reg += 2) {
        const grout_u32 at_row = grout_wgmma_row(lane, reg, 16);
        const grout_u32 at_col = grout_wgmma_col(lane, reg, 16);
        const grout_vector<grout_f32, 2> chunk = {t11[reg], t11[reg + 1]};
        grout_store_gmem(y + at_row * 16 + at_col, chunk);
    }
}
