// grout_values.cuh - arrays spread over the lanes of a thread: who holds what, reductions, matrices.
// SPDX-License-Identifier: Apache-2.0
//
// A lane's part of an array is an array of registers, 'T v[n]', whose indices are constants once
// loops are unrolled. The layouts are those of register_layout.h. 'lane' is 0 to 127, in threads of
// fewer than four warps less; there a block of the wgmma layouts has 16 rows for each warp.
#ifndef GROUT_VALUES_CUH
#define GROUT_VALUES_CUH

#include "grout_device.cuh"

// ---- where elements are -------------------------------------------------------------------------
// Row and column of what register reg of a lane holds: in the wgmma layout with cols columns, and
// in those of its rows and of its columns.

GROUT_DEVICE grout_u32 grout_wgmma_row(grout_u32 lane, int reg, int cols, int block = 64) {
    return reg / (cols / 2) * block + lane / 32 * 16 + reg / 2 % 2 * 8 + lane % 32 / 4;
}
GROUT_DEVICE grout_u32 grout_wgmma_col(grout_u32 lane, int reg, int cols) {
    return reg % (cols / 2) / 4 * 8 + lane % 4 * 2 + reg % 2;
}
GROUT_DEVICE grout_u32 grout_wgmma_8bit_row(grout_u32 lane, int reg, int cols, int block = 64) {
    return reg / (cols / 2) * block + lane / 32 * 16 + reg / 4 % 2 * 8 + lane % 32 / 4;
}
GROUT_DEVICE grout_u32 grout_wgmma_8bit_col(grout_u32 lane, int reg, int cols) {
    return reg % (cols / 2) / 8 * 16 + lane % 4 * 4 + reg % 4;
}
GROUT_DEVICE grout_u32 grout_row_of(grout_u32 lane, int reg, int block = 64) {
    return reg / 2 * block + lane / 32 * 16 + reg % 2 * 8 + lane % 32 / 4;
}
GROUT_DEVICE grout_u32 grout_col_of(grout_u32 lane, int reg) {
    return reg / 2 * 8 + lane % 4 * 2 + reg % 2;
}

// The register of the rows' and of the columns' layout that belongs to register reg of the wgmma
// layout: the same lane holds both.
GROUT_DEVICE int grout_row_reg(int reg, int cols) { return reg / (cols / 2) * 2 + reg / 2 % 2; }
GROUT_DEVICE int grout_col_reg(int reg, int cols) { return reg % (cols / 2) / 4 * 2 + reg % 2; }

// Where half of the lanes take the columns beside (is_turned), so that they do not meet the others in
// the banks of SMEM: register reg of what a lane stores, and, after a load, every register back to
// its place.
template <int distance, typename T> GROUT_DEVICE T grout_turned(const T *v, int reg, bool is_turned) {
    return grout_select(is_turned, v[reg ^ distance], v[reg]);
}
template <int distance, typename T, int count>
GROUT_DEVICE void grout_turn_back(T (&v)[count], bool is_turned) {
#pragma unroll
    for (int reg = 0; reg < count; reg++) {
        if ((reg & distance) == 0) {
            const T own = v[reg], beside = v[reg ^ distance];
            v[reg] = grout_select(is_turned, beside, own);
            v[reg ^ distance] = grout_select(is_turned, own, beside);
        }
    }
}

// ---- matrices -----------------------------------------------------------------------------------
// stmatrix and ldmatrix move four 8 x 8 matrices of 16-bit elements, 16 x 16 elements of the wgmma
// layout: registers reg to reg + 7, as pairs. Lane k of a warp gives the address of one run of 8
// elements, run k % 8 of matrix k / 8; a matrix of _trans has the rows' index along its runs. The
// forms of two matrices move 16 x 8 elements, and lanes 0 to 15 give the addresses.

GROUT_DEVICE grout_u32 grout_matrix_row(grout_u32 lane, int reg, int cols, int block = 64) {
    return reg / (cols / 2) * block + lane / 32 * 16 + lane % 16;
}
GROUT_DEVICE grout_u32 grout_matrix_col(grout_u32 lane, int reg, int cols) {
    return reg % (cols / 2) / 4 * 8 + lane / 16 % 2 * 8;
}
GROUT_DEVICE grout_u32 grout_matrix_row_trans(grout_u32 lane, int reg, int cols, int block = 64) {
    return reg / (cols / 2) * block + lane / 32 * 16 + lane / 8 % 2 * 8;
}
GROUT_DEVICE grout_u32 grout_matrix_col_trans(grout_u32 lane, int reg, int cols) {
    return reg % (cols / 2) / 4 * 8 + lane / 16 % 2 * 8 + lane % 8;
}

// The same for the layout of an mma's b of 16-bit elements, which every warp has whole. Its fragments
// have a column's elements in a lane, so here it is matrices of _trans that ldmatrix gives as they
// lie, and the others that it turns.
GROUT_DEVICE grout_u32 grout_matrix_rhs_row(grout_u32 lane, int reg, int cols) {
    return reg / (cols / 2) * 16 + lane % 16;
}
GROUT_DEVICE grout_u32 grout_matrix_rhs_col(grout_u32 lane, int reg, int cols) {
    return reg % (cols / 2) / 4 * 8 + lane / 16 % 2 * 8;
}
GROUT_DEVICE grout_u32 grout_matrix_rhs_row_trans(grout_u32 lane, int reg, int cols) {
    return reg / (cols / 2) * 16 + lane / 8 % 2 * 8;
}
GROUT_DEVICE grout_u32 grout_matrix_rhs_col_trans(grout_u32 lane, int reg, int cols) {
    return reg % (cols / 2) / 4 * 8 + lane / 16 % 2 * 8 + lane % 8;
}

// Two neighbouring 16-bit registers as one of 32 bits, the first one in the low half; and back.
template <typename T> GROUT_DEVICE grout_u32 grout_word(const T *v) {
    return grout_bits_as<grout_u32>(v[0]);
}
template <typename T> GROUT_DEVICE grout_u32 grout_pair(const T *v) {
    return grout_bits_as<grout_u16>(v[0]) | (grout_u32)grout_bits_as<grout_u16>(v[1]) << 16;
}
template <typename T> GROUT_DEVICE grout_u32 grout_quad(const T *v) {
    grout_u32 quad = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        quad |= (grout_u32)grout_bits_as<grout_u8>(v[k]) << 8 * k;
    }
    return quad;
}
template <typename T> GROUT_DEVICE void grout_unpair(T *v, grout_u32 pair) {
    v[0] = grout_bits_as<T>((grout_u16)pair);
    v[1] = grout_bits_as<T>((grout_u16)(pair >> 16));
}

#define GROUT_MATRIX(SUFFIX, PTX)                                                                  \
    template <typename T>                                                                          \
    GROUT_DEVICE void grout_store_matrix_x4##SUFFIX(grout_u32 address, const T *v) {               \
        asm volatile("stmatrix.sync.aligned.m8n8.x4" PTX ".shared.b16 [%0], {%1, %2, %3, %4};"     \
                     ::"r"(address), "r"(grout_pair(v)), "r"(grout_pair(v + 2)),                   \
                     "r"(grout_pair(v + 4)), "r"(grout_pair(v + 6)) : "memory");                   \
    }                                                                                              \
    template <typename T>                                                                          \
    GROUT_DEVICE void grout_store_matrix_x2##SUFFIX(grout_u32 address, const T *v) {               \
        asm volatile("stmatrix.sync.aligned.m8n8.x2" PTX ".shared.b16 [%0], {%1, %2};"             \
                     ::"r"(address), "r"(grout_pair(v)), "r"(grout_pair(v + 2)) : "memory");       \
    }                                                                                              \
    template <typename T>                                                                          \
    GROUT_DEVICE void grout_load_matrix_x4##SUFFIX(grout_u32 address, T *v) {                      \
        grout_u32 a, b, c, d;                                                                      \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" PTX ".shared.b16 {%0, %1, %2, %3}, [%4];"     \
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(address) : "memory");              \
        grout_unpair(v, a);                                                                        \
        grout_unpair(v + 2, b);                                                                    \
        grout_unpair(v + 4, c);                                                                    \
        grout_unpair(v + 6, d);                                                                    \
    }                                                                                              \
    template <typename T>                                                                          \
    GROUT_DEVICE void grout_load_matrix_x2##SUFFIX(grout_u32 address, T *v) {                      \
        grout_u32 a, b;                                                                            \
        asm volatile("ldmatrix.sync.aligned.m8n8.x2" PTX ".shared.b16 {%0, %1}, [%2];"             \
                     : "=r"(a), "=r"(b) : "r"(address) : "memory");                                \
        grout_unpair(v, a);                                                                        \
        grout_unpair(v + 2, b);                                                                    \
    }
GROUT_MATRIX(, "")
GROUT_MATRIX(_trans, ".trans")
#undef GROUT_MATRIX

// ---- reductions ---------------------------------------------------------------------------------
// op combines two partial results, which are what grout_widen makes of an element: f32 of f16 and
// bf16, rounded once, at the end; 32 bits of smaller integers, whose low bits count. What crosses
// warps goes through SMEM at 'exchange': a _write, a barrier of the thread's lanes, a
// _read.

template <typename T> struct grout_partial { typedef T type; };
template <> struct grout_partial<bool> { typedef grout_u32 type; };
template <> struct grout_partial<grout_i8> { typedef grout_i32 type; };
template <> struct grout_partial<grout_u8> { typedef grout_u32 type; };
template <> struct grout_partial<grout_i16> { typedef grout_i32 type; };
template <> struct grout_partial<grout_u16> { typedef grout_u32 type; };
template <> struct grout_partial<grout_f16> { typedef grout_f32 type; };
template <> struct grout_partial<grout_bf16> { typedef grout_f32 type; };

// The product of equal elements, and their exclusive or.
template <typename P> GROUT_DEVICE P grout_power(P value, P count) {
    P result = P(1);
    for (grout_u32 left = (grout_u32)count; left != 0; left /= 2) {
        result = left % 2 != 0 ? grout_mul(result, value) : result;
        value = grout_mul(value, value);
    }
    return result;
}
template <typename P> GROUT_DEVICE P grout_odd(P value, P count) {
    return count % 2 != 0 ? value : P(0);
}

template <int size> struct grout_shuffle;
template <> struct grout_shuffle<4> {
    static __device__ __forceinline__ grout_u32 exchange(grout_u32 bits, int mask) {
        return __shfl_xor_sync(0xffffffffu, bits, mask);
    }
};
template <> struct grout_shuffle<8> {
    static __device__ __forceinline__ grout_u64 exchange(grout_u64 bits, int mask) {
        const grout_u64 high = __shfl_xor_sync(0xffffffffu, (grout_u32)(bits >> 32), mask);
        return high << 32 | __shfl_xor_sync(0xffffffffu, (grout_u32)bits, mask);
    }
};
template <typename P> GROUT_DEVICE P grout_shuffle_xor(P value, int mask) {
    typedef typename grout_move<sizeof(P)>::bits bits;
    return grout_bits_as<P>(grout_shuffle<sizeof(P)>::exchange(grout_bits_as<bits>(value), mask));
}
// With the lanes whose number differs in these bits, in each of the warp's lanes.
template <int first, int last, typename P, typename Op>
GROUT_DEVICE P grout_reduce_lanes(P value, Op op) {
#pragma unroll
    for (int mask = first; mask <= last; mask *= 2) {
        value = op(value, grout_shuffle_xor(value, mask));
    }
    return value;
}

// Along the rows of the wgmma layout, into the layout of its rows: one quad holds a row.
template <int cols, typename T, int count, int rows, typename Op>
GROUT_DEVICE void grout_reduce_rows(const T (&v)[count], T (&to)[rows], Op op) {
    typedef typename grout_partial<T>::type partial;
#pragma unroll
    for (int row = 0; row < rows; row++) {
        const int start = row / 2 * (cols / 2) + row % 2 * 2;
        partial even = grout_widen(v[start]), odd = grout_widen(v[start + 1]);
#pragma unroll
        for (int reg = start + 4; reg < start + cols / 2; reg += 4) {
            even = op(even, grout_widen(v[reg]));
            odd = op(odd, grout_widen(v[reg + 1]));
        }
        to[row] = grout_cast<T>(grout_reduce_lanes<1, 2>(partial(op(even, odd)), op));
    }
}

// What the warps have: pairs, and then both.
template <typename P, typename Op> GROUT_DEVICE P grout_reduce_warps(const P (&all)[4], Op op) {
    return op(op(all[0], all[1]), op(all[2], all[3]));
}
template <typename P, typename Op> GROUT_DEVICE P grout_reduce_warps(const P (&all)[2], Op op) {
    return op(all[0], all[1]);
}
template <typename P, typename Op> GROUT_DEVICE P grout_reduce_warps(const P (&all)[1], Op) {
    return all[0];
}

// Along the columns, into the layout of its columns: lanes 0 to 3 of each warp hold what 16 rows of
// each 64 make.
template <int cols, typename T, int count, typename Op>
GROUT_DEVICE void grout_reduce_cols_write(const T (&v)[count], grout_u32 exchange, grout_u32 lane,
                                          Op op) {
    typedef typename grout_partial<T>::type partial;
#pragma unroll
    for (int group = 0; group < cols / 8; group++) {
        grout_vector<partial, 2> all;
#pragma unroll
        for (int part = 0; part < 2; part++) {
            partial value = op(grout_widen(v[group * 4 + part]),
                               grout_widen(v[group * 4 + part + 2]));
#pragma unroll
            for (int reg = group * 4 + part + cols / 2; reg < count; reg += cols / 2) {
                value = op(value, op(grout_widen(v[reg]), grout_widen(v[reg + 2])));
            }
            all[part] = grout_reduce_lanes<4, 16>(value, op);
        }
        if (lane % 32 < 4) {
            const grout_u32 col = lane / 32 * cols + group * 8 + lane % 4 * 2;
            grout_store_smem(exchange + col * (grout_u32)sizeof(partial), all);
        }
    }
}
template <int cols, int warps = 4, typename T, typename Op>
GROUT_DEVICE void grout_reduce_cols_read(T (&to)[cols / 4], grout_u32 exchange, grout_u32 lane,
                                         Op op) {
    typedef grout_vector<typename grout_partial<T>::type, 2> pair;
#pragma unroll
    for (int group = 0; group < cols / 8; group++) {
        const grout_u32 from = exchange + (group * 4 + lane % 4) * (grout_u32)sizeof(pair);
        const grout_u32 stride = cols / 2 * (grout_u32)sizeof(pair); // from warp to warp
        pair of_warps[warps];
#pragma unroll
        for (int warp = 0; warp < warps; warp++) {
            of_warps[warp] = grout_load_smem<pair>(from + warp * stride);
        }
#pragma unroll
        for (int part = 0; part < 2; part++) {
            typename grout_partial<T>::type all[warps];
#pragma unroll
            for (int warp = 0; warp < warps; warp++) {
                all[warp] = of_warps[warp][part];
            }
            to[group * 2 + part] = grout_cast<T>(grout_reduce_warps(all, op));
        }
    }
}

// All registers of a lane.
template <typename T, int count, typename Op>
GROUT_DEVICE typename grout_partial<T>::type grout_reduce_registers(const T (&v)[count], Op op) {
    typename grout_partial<T>::type all = grout_widen(v[0]);
    if (count >= 4) { // two chains
        typename grout_partial<T>::type other = grout_widen(v[1]);
#pragma unroll
        for (int reg = 2; reg + 1 < count; reg += 2) {
            all = op(all, grout_widen(v[reg]));
            other = op(other, grout_widen(v[reg + 1]));
        }
        all = op(all, other);
    }
#pragma unroll
    for (int reg = count >= 4 ? count / 2 * 2 : 1; reg < count; reg++) {
        all = op(all, grout_widen(v[reg]));
    }
    return all;
}
// What the warps have, one partial result each, to all lanes.
template <typename P>
GROUT_DEVICE void grout_reduce_warps_write(P value, grout_u32 exchange, grout_u32 lane) {
    if (lane % 32 == 0) {
        grout_store_smem(exchange + lane / 32 * (grout_u32)sizeof(P), value);
    }
}
template <typename P, int warps = 4, typename Op>
GROUT_DEVICE P grout_reduce_warps_read(grout_u32 exchange, Op op) {
    constexpr int most = 16 / (int)sizeof(P), width = most < warps ? most : warps; // of one load
    P all[warps];
#pragma unroll
    for (int first = 0; first < warps; first += width) {
        const grout_vector<P, width> some =
            grout_load_smem<grout_vector<P, width>>(exchange + first * (grout_u32)sizeof(P));
#pragma unroll
        for (int k = 0; k < width; k++) {
            all[first + k] = some[k];
        }
    }
    return grout_reduce_warps(all, op);
}

#endif
