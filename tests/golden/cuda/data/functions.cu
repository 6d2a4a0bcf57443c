// kernel @functions, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
functions(const grout_f32 *x,
    grout_f32 *y,
    grout_f32 *z,
    const grout_f32 s,
    grout_f32 *w,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    // %a = load %x
    grout_f32 a[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const auto chunk = grout_load_gmem<grout_vector<grout_f32, 2>>(x + flat);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            a[reg + part] = chunk[part];
        }
    }
    // store %y, (add (add (exp2 %a), (log %a)), (add (log2 %a), (mul (sin %a), (cos %a))))
    grout_f32 t0[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t0[reg] = GROUT_EXP2(a[reg]);
    }
    grout_f32 t1[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t1[reg] = GROUT_LOG(a[reg]);
    }
    grout_f32 t2[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t2[reg] = GROUT_ADD(t0[reg], t1[reg]);
    }
    grout_f32 t3[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t3[reg] = GROUT_LOG2(a[reg]);
    }
    grout_f32 t4[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t4[reg] = GROUT_SIN(a[reg]);
    }
    grout_f32 t5[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t5[reg] = GROUT_COS(a[reg]);
    }
    grout_f32 t6[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t6[reg] = GROUT_MUL(t4[reg], t5[reg]);
    }
    grout_f32 t7[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t7[reg] = GROUT_ADD(t3[reg], t6[reg]);
    }
    grout_f32 t8[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t8[reg] = GROUT_ADD(t2[reg], t7[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_f32, 2> chunk = {t8[reg], t8[reg + 1]};
        grout_store_gmem(y + flat, chunk);
    }
    // store %z, (add (logistic %a approx), (add (erf %a), (log2 (exp2 %a approx) approx)))
    grout_f32 t9[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t9[reg] = GROUT_LOGISTIC_APPROX(a[reg]);
    }
    grout_f32 t10[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t10[reg] = GROUT_ERF(a[reg]);
    }
    grout_f32 t11[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t11[reg] = GROUT_EXP2_APPROX(a[reg]);
    }
    grout_f32 t12[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t12[reg] = GROUT_LOG2_APPROX(t11[reg]);
    }
    grout_f32 t13[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t13[reg] = GROUT_ADD(t10[reg], t12[reg]);
    }
    grout_f32 t14[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t14[reg] = GROUT_ADD(t9[reg], t13[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_f32, 2> chunk = {t14[reg], t14[reg + 1]};
        grout_store_gmem(z + flat, chunk);
    }
    // store %w[0], (add (sin %s approx), (cos %s))
    const grout_f32 t15 = GROUT_SIN_APPROX(s);
    const grout_f32 t16 = GROUT_COS(s);
    const grout_f32 t17 = GROUT_ADD(t15, t16);
    if (warp == 0 && grout_elect()) {
        grout_store_gmem(w, t17);
    }
}
