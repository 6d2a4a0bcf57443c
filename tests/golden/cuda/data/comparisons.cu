// kernel @comparisons, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
comparisons(const grout_f32 *x,
    const grout_i32 *i,
    const grout_u32 *u,
    grout_u8 *y,
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
    // %f = and (ne %a, 0.5), (or (le %a, 2.0), (ge %a, 3.0))
    bool t0[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t0[reg] = GROUT_NE(a[reg], 0.5f);
    }
    bool t1[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t1[reg] = GROUT_LE(a[reg], 2.0f);
    }
    bool t2[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t2[reg] = GROUT_GE(a[reg], 3.0f);
    }
    bool t3[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t3[reg] = GROUT_OR(t1[reg], t2[reg]);
    }
    bool f[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        f[reg] = GROUT_AND(t0[reg], t3[reg]);
    }
    // %b = load %i
    grout_i32 b[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const auto chunk = grout_load_gmem<grout_vector<grout_i32, 2>>(i + flat);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            b[reg + part] = chunk[part];
        }
    }
    // %g = xor (ne %b, 1), (or (le %b, -2), (gt %b, 7))
    bool t4[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t4[reg] = GROUT_NE(b[reg], 1);
    }
    bool t5[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t5[reg] = GROUT_LE(b[reg], -2);
    }
    bool t6[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t6[reg] = GROUT_GT(b[reg], 7);
    }
    bool t7[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t7[reg] = GROUT_OR(t5[reg], t6[reg]);
    }
    bool g[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        g[reg] = GROUT_XOR(t4[reg], t7[reg]);
    }
    // %c = load %u
    grout_u32 c[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const auto chunk = grout_load_gmem<grout_vector<grout_u32, 2>>(u + flat);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            c[reg + part] = chunk[part];
        }
    }
    // %h = and (le %c, 9), (ge %c, 2)
    bool t8[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t8[reg] = GROUT_LE(c[reg], 9u);
    }
    bool t9[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t9[reg] = GROUT_GE(c[reg], 2u);
    }
    bool h[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        h[reg] = GROUT_AND(t8[reg], t9[reg]);
    }
    // store %y, (and %f, (or %g, %h))
    bool t10[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t10[reg] = GROUT_OR(g[reg], h[reg]);
    }
    bool t11[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        t11[reg] = GROUT_AND(f[reg], t10[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_u8, 2> chunk = {grout_u8(t11[reg] ? 1 : 0), grout_u8(t11[reg + 1] ? 1 : 0)};
        grout_store_gmem(y + flat, chunk);
    }
}
