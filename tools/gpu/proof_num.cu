// proof_num.cu - grout_num.cuh on the device: every operation on pairs of values, every cast.
// SPDX-License-Identifier: Apache-2.0
#include "grout_device.cuh"

#define INDEX ((grout_u64)blockIdx.x * blockDim.x + threadIdx.x)

__device__ grout_u32 bits(grout_i32 v) { return (grout_u32)v; }
__device__ grout_u32 bits(grout_u32 v) { return v; }
__device__ grout_u32 bits(bool v) { return v; }
__device__ grout_u32 bits(grout_f32 v) { return __float_as_uint(v); }

template <typename T> __device__ void common(grout_u32 *out, grout_u64 n, T a, T b) {
    out[0 * n] = bits(GROUT_ADD(a, b));
    out[1 * n] = bits(GROUT_SUB(a, b));
    out[2 * n] = bits(GROUT_MUL(a, b));
    out[3 * n] = bits(GROUT_DIV(a, b));
    out[4 * n] = bits(GROUT_MIN(a, b));
    out[5 * n] = bits(GROUT_MAX(a, b));
    out[6 * n] = bits(GROUT_NEG(a));
    out[7 * n] = bits(GROUT_ABS(a));
    out[8 * n] = bits(GROUT_LT(a, b));
    out[9 * n] = bits(GROUT_EQ(a, b));
}
template <typename T> __device__ void integers(grout_u32 *out, grout_u64 n, T a, T b) {
    common(out, n, a, b);
    out[10 * n] = bits(GROUT_REM(a, b));
    out[11 * n] = bits(GROUT_CDIV(a, b));
    out[12 * n] = bits(GROUT_SHL(a, b));
    out[13 * n] = bits(GROUT_SHR(a, b));
    out[14 * n] = bits(GROUT_AND(a, b));
    out[15 * n] = bits(GROUT_OR(a, b));
    out[16 * n] = bits(GROUT_XOR(a, b));
    out[17 * n] = bits(GROUT_NOT(a));
}

// 46 rows of n results: 18 of i32, 18 of u32, 10 of f32; a pair of values a column.
extern "C" __global__ void operations(const grout_u32 *a, const grout_u32 *b, grout_u32 *out,
                                      grout_u64 n) {
    const grout_u64 i = INDEX;
    if (i < n) {
        integers<grout_i32>(out + i, n, (grout_i32)a[i], (grout_i32)b[i]);
        integers<grout_u32>(out + 18 * n + i, n, a[i], b[i]);
        common<grout_f32>(out + 36 * n + i, n, __uint_as_float(a[i]), __uint_as_float(b[i]));
    }
}

template <typename T> __device__ grout_u64 wide(T v) {
    grout_u64 out = 0;
    memcpy(&out, &v, sizeof v);
    return out;
}

template <typename From> __device__ void casts_of(grout_u64 source, grout_u64 *out, grout_u64 n) {
    From from;
    memcpy(&from, &source, sizeof from);
    out[0 * n] = wide(grout_cast<grout_i8>(from));
    out[1 * n] = wide(grout_cast<grout_u8>(from));
    out[2 * n] = wide(grout_cast<grout_i16>(from));
    out[3 * n] = wide(grout_cast<grout_u16>(from));
    out[4 * n] = wide(grout_cast<grout_i32>(from));
    out[5 * n] = wide(grout_cast<grout_u32>(from));
    out[6 * n] = wide(grout_cast<grout_i64>(from));
    out[7 * n] = wide(grout_cast<grout_u64>(from));
    out[8 * n] = wide(grout_cast<grout_f8e4m3>(from));
    out[9 * n] = wide(grout_cast<grout_f8e5m2>(from));
    out[10 * n] = wide(grout_cast<grout_f16>(from));
    out[11 * n] = wide(grout_cast<grout_bf16>(from));
    out[12 * n] = wide(grout_cast<grout_f32>(from));
    out[13 * n] = wide(grout_cast<grout_f64>(from));
    out[14 * n] = wide(grout_cast<bool>(from));
}

// For each of 14 source types, 15 rows of n results; the source's bits are the low ones of in[i].
extern "C" __global__ void casts(const grout_u64 *in, grout_u64 *out, grout_u64 n) {
    const grout_u64 i = INDEX;
    if (i < n) {
        casts_of<grout_i8>(in[i], out + 0 * 15 * n + i, n);
        casts_of<grout_u8>(in[i], out + 1 * 15 * n + i, n);
        casts_of<grout_i16>(in[i], out + 2 * 15 * n + i, n);
        casts_of<grout_u16>(in[i], out + 3 * 15 * n + i, n);
        casts_of<grout_i32>(in[i], out + 4 * 15 * n + i, n);
        casts_of<grout_u32>(in[i], out + 5 * 15 * n + i, n);
        casts_of<grout_i64>(in[i], out + 6 * 15 * n + i, n);
        casts_of<grout_u64>(in[i], out + 7 * 15 * n + i, n);
        casts_of<grout_f8e4m3>(in[i], out + 8 * 15 * n + i, n);
        casts_of<grout_f8e5m2>(in[i], out + 9 * 15 * n + i, n);
        casts_of<grout_f16>(in[i], out + 10 * 15 * n + i, n);
        casts_of<grout_bf16>(in[i], out + 11 * 15 * n + i, n);
        casts_of<grout_f32>(in[i], out + 12 * 15 * n + i, n);
        casts_of<grout_f64>(in[i], out + 13 * 15 * n + i, n);
    }
}
