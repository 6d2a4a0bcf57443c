// proof_tools.cu - what tools/gpu/proof.c needs on the device beside the kernel under study:
// inputs, the check of 12 GiB in place, the same sum without TMA, and kernels that go wrong.
// SPDX-License-Identifier: Apache-2.0
#include "grout_device.cuh"

#define INDEX ((grout_u64)blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE ((grout_u64)gridDim.x * blockDim.x)

__device__ grout_u32 hash(grout_u32 x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

// Values in [-0.5, 0.5) with 24 random bits.
extern "C" __global__ void fill(grout_f32 *out, grout_u64 count, grout_u32 seed) {
    for (grout_u64 i = INDEX; i < count; i += STRIDE) {
        out[i] = (grout_f32)(hash((grout_u32)i * 2u + seed) >> 8) * 0x1p-24f - 0.5f;
    }
}

extern "C" __global__ void poison(grout_u32 *out, grout_u64 count) {
    for (grout_u64 i = INDEX; i < count; i += STRIDE) {
        out[i] = 0x7f800001u;
    }
}

// Counts the elements of c that are not a + b, bit for bit.
extern "C" __global__ void check(const grout_f32 *a, const grout_f32 *b, const grout_u32 *c,
                                 grout_u64 count, grout_u32 *bad) {
    grout_u32 mine = 0;
    for (grout_u64 i = INDEX; i < count; i += STRIDE) {
        mine += __float_as_uint(grout_add(a[i], b[i])) != c[i];
    }
    if (mine != 0) {
        atomicAdd(bad, mine);
    }
}

// The sum as a streaming kernel does it: 16 bytes a lane and array, no SMEM. count is a multiple
// of 4.
extern "C" __global__ void __launch_bounds__(256)
add_plain(const float4 *a, const float4 *b, float4 *c, grout_u64 count) {
    const grout_u64 i = INDEX;
    if (i < count / 4) {
        const float4 x = __ldcs(a + i);
        const float4 y = __ldcs(b + i);
        __stcs(c + i, make_float4(grout_add(x.x, y.x), grout_add(x.y, y.y), grout_add(x.z, y.z),
                                  grout_add(x.w, y.w)));
    }
}

extern "C" __global__ void fault() { *(volatile int *)16 = 1; }

extern "C" __global__ void spin(volatile int *flag) {
    while (*flag == 0) {
    }
}
