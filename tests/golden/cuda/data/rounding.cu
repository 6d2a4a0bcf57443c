// kernel @rounding, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
rounding(const grout_f32 *x,
    const grout_bf16 *h,
    grout_f32 *y,
    grout_bf16 *z,
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
    // store %y, (add (add (floor %a), (ceil %a)), (add (round %a), (sqrt (abs %a))))
    grout_f32 t0[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t0[reg] = GROUT_FLOOR(a[reg]);
    }
    grout_f32 t1[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t1[reg] = GROUT_CEIL(a[reg]);
    }
    grout_f32 t2[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t2[reg] = GROUT_ADD(t0[reg], t1[reg]);
    }
    grout_f32 t3[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t3[reg] = GROUT_ROUND(a[reg]);
    }
    grout_f32 t4[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t4[reg] = GROUT_ABS(a[reg]);
    }
    grout_f32 t5[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t5[reg] = GROUT_SQRT(t4[reg]);
    }
    grout_f32 t6[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t6[reg] = GROUT_ADD(t3[reg], t5[reg]);
    }
    grout_f32 t7[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t7[reg] = GROUT_ADD(t2[reg], t6[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_f32, 2> chunk = {t7[reg], t7[reg + 1]};
        grout_store_gmem(y + flat, chunk);
    }
    // %b = load %h
    grout_bf16 b[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const auto chunk = grout_load_gmem<grout_vector<grout_bf16, 2>>(h + flat);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            b[reg + part] = chunk[part];
        }
    }
    // store %z, (mul (sqrt %b), (sub (floor %b), (sign %b)))
    grout_bf16 t8[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        grout_round_pair(t8 + reg, GROUT_SQRT(grout_widen(b[reg])), GROUT_SQRT(grout_widen(b[reg + 1])));
    }
    grout_bf16 t9[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        grout_round_pair(t9 + reg, GROUT_FLOOR(grout_widen(b[reg])), GROUT_FLOOR(grout_widen(b[reg + 1])));
    }
    grout_bf16 t10[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        grout_round_pair(t10 + reg, GROUT_SIGN(grout_widen(b[reg])), GROUT_SIGN(grout_widen(b[reg + 1])));
    }
    grout_bf16 t11[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        grout_round_pair(t11 + reg, GROUT_SUB(grout_widen(t9[reg]), grout_widen(t10[reg])), GROUT_SUB(grout_widen(t9[reg + 1]), grout_widen(t10[reg + 1])));
    }
    grout_bf16 t12[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        grout_round_pair(t12 + reg, GROUT_MUL(grout_widen(t8[reg]), grout_widen(t11[reg])), GROUT_MUL(grout_widen(t8[reg + 1]), grout_widen(t11[reg + 1])));
    }
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_bf16, 2> chunk = {t12[reg], t12[reg + 1]};
        grout_store_gmem(z + flat, chunk);
    }
}
