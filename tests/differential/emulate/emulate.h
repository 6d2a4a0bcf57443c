/*
 * emulate.h - what emitted CUDA sees when g++ compiles it: CUDA's words, and inline PTX as a call.
 *
 * emulate.py turns each asm statement into a call of emulate_asm, which interprets the PTX text
 * (emulate.cpp). CUDA threads are fibers of one process.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_EMULATE_H
#define GROUT_TEST_EMULATE_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

#define __device__
#define __global__
#define __shared__
#define __align__(n)    __attribute__((aligned(n)))
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

struct uint3 {
    unsigned x, y, z;
};
struct uint2 {
    unsigned x, y;
};
struct uint4 {
    unsigned x, y, z, w;
};
/* Where the fiber that runs is. */
extern uint3 threadIdx, blockIdx, blockDim;

/* ---- inline PTX ---- */

/* An operand of an asm statement: its constraint's letter, its bits, and where an output goes. */
struct emulate_operand {
    char letter;
    bool is_output;
    std::uint64_t bits;
    void *target;
};
template <typename T> emulate_operand emulate_out(const char *constraint, T &target) {
    emulate_operand operand = {constraint[1], true, 0, &target};
    if (constraint[0] == '+') {
        std::memcpy(&operand.bits, &target, sizeof target);
    }
    return operand;
}
template <typename T> emulate_operand emulate_in(const char *constraint, T value) {
    emulate_operand operand = {constraint[0], false, 0, nullptr};
    static_assert(sizeof value <= sizeof operand.bits, "registers have at most 64 bits");
    std::memcpy(&operand.bits, &value, sizeof value);
    return operand;
}
void emulate_asm(const char *text, std::initializer_list<emulate_operand> outputs,
                 std::initializer_list<emulate_operand> inputs);

/* ---- CUDA's functions ---- */

void __syncthreads();
void __syncwarp();
unsigned emulate_shuffle(unsigned value, unsigned lane);
unsigned emulate_lane();
std::uint64_t __cvta_generic_to_shared(const void *pointer);
[[noreturn]] void __trap();

inline unsigned __shfl_sync(unsigned, unsigned value, unsigned lane) {
    return emulate_shuffle(value, lane);
}
inline unsigned __shfl_xor_sync(unsigned, unsigned value, int mask) {
    return emulate_shuffle(value, emulate_lane() ^ (unsigned)mask);
}
template <typename To, typename From> To emulate_bits(From from) {
    To to;
    static_assert(sizeof to == sizeof from, "both have the same size");
    std::memcpy(&to, &from, sizeof to);
    return to;
}
inline float __uint_as_float(unsigned bits) {
    return emulate_bits<float>(bits);
}
inline unsigned __float_as_uint(float value) {
    return emulate_bits<unsigned>(value);
}
inline double __longlong_as_double(long long bits) {
    return emulate_bits<double>(bits);
}
inline long long __double_as_longlong(double value) {
    return emulate_bits<long long>(value);
}
inline int __clz(int a) {
    return a == 0 ? 32 : __builtin_clz((unsigned)a);
}
inline int __clzll(long long a) {
    return a == 0 ? 64 : __builtin_clzll((unsigned long long)a);
}
inline int __popc(unsigned a) {
    return __builtin_popcount(a);
}
inline int __popcll(unsigned long long a) {
    return __builtin_popcountll(a);
}
inline float __fadd_rn(float a, float b) {
    return a + b;
}
inline float __fsub_rn(float a, float b) {
    return a - b;
}
inline float __fmul_rn(float a, float b) {
    return a * b;
}
inline float __fdiv_rn(float a, float b) {
    return a / b;
}
inline float __fmaf_rn(float a, float b, float c) {
    return std::fma(a, b, c);
}
inline float __fsqrt_rn(float a) {
    return std::sqrt(a);
}
inline double __dadd_rn(double a, double b) {
    return a + b;
}
inline double __dsub_rn(double a, double b) {
    return a - b;
}
inline double __dmul_rn(double a, double b) {
    return a * b;
}
inline double __ddiv_rn(double a, double b) {
    return a / b;
}
inline double __fma_rn(double a, double b, double c) {
    return std::fma(a, b, c);
}
inline double __dsqrt_rn(double a) {
    return std::sqrt(a);
}
inline double rsqrt(double a) {
    return 1.0 / std::sqrt(a);
}
inline float rsqrtf(float a) {
    return (float)(1.0 / std::sqrt((double)a));
}
inline float __double2float_rz(double a) {
    const float nearest = (float)a;
    return std::fabs((double)nearest) > std::fabs(a) ? std::nextafter(nearest, 0.0f) : nearest;
}
inline void __threadfence_system() {}
void __nanosleep(unsigned);
bool __all_sync(unsigned, bool is_true);
template <typename T> T atomicAdd(T *target, T value) {
    const T old = *target;
    *target += value;
    return old;
}
template <typename T> T atomicExch(T *target, T value) {
    const T old = *target;
    *target = value;
    return old;
}
using std::memcpy;

/* ---- what the generated main calls ---- */

struct emulate_array {
    unsigned char *data;
    std::uint64_t size;
    const char *path;
    bool is_output;
};
/* A tensor map's 128 bytes hold a pointer to one of these; dimension 0 is the fastest. */
struct emulate_map {
    unsigned char *data;
    unsigned rank, element_bytes, swizzle;
    const char *type;                  /* as PTX calls it: f32, s32 */
    std::uint64_t dims[5], strides[5]; /* strides in bytes, from dimension 0 on */
    unsigned box[5];
    bool fills_nan; /* outside: zeros, or the NaN of the type */
    /* in im2col mode, of so many spatial dimensions: box is channels and pixels */
    unsigned spatial_count;
    int lower[3], upper[3];
    unsigned steps[5];
};
/* Bytes of a file, in memory whose ends are known. */
emulate_array emulate_read(const char *path, std::uint64_t size);
emulate_array emulate_output(const char *path, std::uint64_t size, const char *input);
/* Memory beside the arrays, with a pattern again and again. */
emulate_array emulate_workspace(const std::vector<unsigned char> &pattern, std::uint64_t size);
struct emulate_shape {
    unsigned grid, block, cluster; /* CTAs, lanes of a CTA, CTAs of a cluster */
    unsigned smem_bytes, seed;
    bool is_resident; /* all CTAs at once */
};
void emulate_launch(const emulate_shape &shape, void (*run)(void *payload), void *payload);
void emulate_write();

#endif
