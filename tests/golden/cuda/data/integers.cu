// kernel @integers, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
integers(const grout_i32 *x,
    const grout_u32 *u,
    const grout_i32 n,
    grout_i32 *y,
    grout_u32 *z,
    grout_i32 *s,
    grout_u8 *t,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    // %v = load %x
    grout_i32 v[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const auto chunk = grout_load_gmem<grout_vector<grout_i32, 2>>(x + flat);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            v[reg + part] = chunk[part];
        }
    }
    // %w = load %u
    grout_u32 w[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const auto chunk = grout_load_gmem<grout_vector<grout_u32, 2>>(u + flat);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            w[reg + part] = chunk[part];
        }
    }
    // %r = cdiv (min %v, %n), (max (abs %v), 1)
    grout_i32 t0[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t0[reg] = GROUT_MIN(v[reg], n);
    }
    grout_i32 t1[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t1[reg] = GROUT_ABS(v[reg]);
    }
    grout_i32 t2[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t2[reg] = GROUT_MAX(t1[reg], 1);
    }
    grout_i32 r[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        r[reg] = GROUT_CDIV(t0[reg], t2[reg]);
    }
    // store %y, (sub (neg %r), (sign %v))
    grout_i32 t3[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t3[reg] = GROUT_NEG(r[reg]);
    }
    grout_i32 t4[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t4[reg] = GROUT_SIGN(v[reg]);
    }
    grout_i32 t5[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t5[reg] = GROUT_SUB(t3[reg], t4[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_i32, 2> chunk = {t5[reg], t5[reg + 1]};
        grout_store_gmem(y + flat, chunk);
    }
    // store %z, (xor (shl (and %w, 255), 3), (or (shr %w, 5), (not %w)))
    grout_u32 t6[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t6[reg] = GROUT_AND(w[reg], 255u);
    }
    grout_u32 t7[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t7[reg] = GROUT_SHL(t6[reg], 3u);
    }
    grout_u32 t8[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t8[reg] = GROUT_SHR(w[reg], 5u);
    }
    grout_u32 t9[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t9[reg] = GROUT_NOT(w[reg]);
    }
    grout_u32 t10[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t10[reg] = GROUT_OR(t8[reg], t9[reg]);
    }
    grout_u32 t11[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t11[reg] = GROUT_XOR(t7[reg], t10[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_u32, 2> chunk = {t11[reg], t11[reg + 1]};
        grout_store_gmem(z + flat, chunk);
    }
    // store %s[0], (shr (shl %n, 4), 2)
    const grout_i32 t12 = GROUT_SHL(n, 4);
    const grout_i32 t13 = GROUT_SHR(t12, 2);
    if (warp == 0 && grout_elect()) {
        grout_store_gmem(s, t13);
    }
    // store %s[1], (sign (cdiv %n, 3))
    const grout_i32 t14 = GROUT_CDIV(n, 3);
    const grout_i32 t15 = GROUT_SIGN(t14);
    grout_thread_barrier(thread); // all lanes are done with the bytes
    if (warp == 0 && grout_elect()) {
        grout_store_gmem(s + 1ll, t15);
    }
    // store %t, (xor (not (eq (iota dim(0) : i32[256]), %n)), (lt %w, 7))
    grout_i32 t16[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2 + reg % 2;
        t16[reg] = grout_cast<grout_i32>(flat);
    }
    bool t17[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t17[reg] = GROUT_EQ(t16[reg], n);
    }
    bool t18[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t18[reg] = GROUT_NOT(t17[reg]);
    }
    bool t19[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t19[reg] = GROUT_LT(w[reg], 7u);
    }
    bool t20[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t20[reg] = GROUT_XOR(t18[reg], t19[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_u8, 2> chunk = {grout_u8(t20[reg] ? 1 : 0), grout_u8(t20[reg + 1] ? 1 : 0)};
        grout_store_gmem(t + flat, chunk);
    }
}
