// kernel @main, 128 lanes a thread
extern "C" __global__ void __launch_bounds__(128)
main_kernel(const grout_f32 *x,
    const grout_i32 n,
    grout_f32 *y,
    const __grid_constant__ grout_watchdog dog) {
    const grout_u32 warp = grout_warp();
    const grout_u32 thread = 0;
    const grout_u32 lane = grout_lane();
    // %int = load %x
    grout_f32 int__1[2]; // 2 neighbours a lane
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const auto chunk = grout_load_gmem<grout_vector<grout_f32, 2>>(x + flat);
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            int__1[reg + part] = chunk[part];
        }
    }
    // %a, %b = for %i in 0..%n step 2 carry(%p = 1, %q = %n)
    grout_i32 a = 1; // carried as %p
    grout_i32 b = n; // carried as %q
    #pragma unroll 1
    for (grout_i64 i__wide = 0; i__wide < n; i__wide += 2) {
        const grout_i32 i = (grout_i32)i__wide;
        // yield %q, (add %p, %i)
        const grout_i32 t1 = GROUT_ADD(a, i);
        const grout_i32 x2 = b;
        const grout_i32 x3 = t1;
        a = x2;
        b = x3;
    }
    // %sum = for %i in 0..4 carry(%s = %int) unroll(4)
    grout_f32 sum[2]; // carried as %s
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        sum[reg] = int__1[reg];
    }
    #pragma unroll 4
    for (grout_i32 i = 0; i < 4; i++) {
        // yield (mul %s, 2.0)
        grout_f32 t4[2]; // 2 neighbours a lane
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            t4[reg] = GROUT_MUL(sum[reg], 2.0f);
        }
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            sum[reg] = t4[reg];
        }
    }
    // %pick = if (gt %a, %b)
    const bool t5 = GROUT_GT(a, b);
    grout_f32 pick[2];
    if (t5) {
        // yield %sum
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            pick[reg] = sum[reg];
        }
    } else {
        // yield (broadcast 0.0 : f32[256])
        const grout_f32 t6 = 0.0f;
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            pick[reg] = t6;
        }
    }
    // store %y, %pick
    #pragma unroll
    for (int reg = 0; reg < 2; reg += 2) {
        const grout_u32 flat = (reg / 2 * 128 + lane) * 2;
        const grout_vector<grout_f32, 2> chunk = {pick[reg], pick[reg + 1]};
        grout_store_gmem(y + flat, chunk);
    }
}
