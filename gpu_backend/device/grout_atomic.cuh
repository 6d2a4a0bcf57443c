// grout_atomic.cuh - atomic operations on GMEM, on SMEM, and on the SMEM of other CTAs.
// SPDX-License-Identifier: Apache-2.0
//
// The scope is a template argument; that of fetches stands after their order. Functions by space:
// _gmem takes a pointer, _smem an address of the own CTA, _peer one of the window that the cluster
// shares. PTX forms: PTX ISA 9.0, 'red', 'atom', each assembled for sm_90a; those of several
// elements need PTX ISA 8.1.
#ifndef GROUT_ATOMIC_CUH
#define GROUT_ATOMIC_CUH

#include "grout_sync.cuh"

// red of one register: FORM is the operation, "r" and the like the constraints of address and
// value.
#define GROUT_RED(NAME, SPACE, POINTER, ADDRESS, TYPE, FORM, CONSTRAINT, VALUE)                    \
    template <int scope> GROUT_DEVICE void grout_atomic_##NAME(POINTER at, TYPE value) {           \
        if (scope == GROUT_CTA) {                                                                  \
            asm volatile("red.relaxed.cta." SPACE "." FORM " [%0], %1;"                            \
                         ::ADDRESS(at), CONSTRAINT(VALUE) : "memory");                             \
        } else if (scope == GROUT_CLUSTER) {                                                       \
            asm volatile("red.relaxed.cluster." SPACE "." FORM " [%0], %1;"                        \
                         ::ADDRESS(at), CONSTRAINT(VALUE) : "memory");                             \
        } else if (scope == GROUT_GPU) {                                                           \
            asm volatile("red.relaxed.gpu." SPACE "." FORM " [%0], %1;"                            \
                         ::ADDRESS(at), CONSTRAINT(VALUE) : "memory");                             \
        } else {                                                                                   \
            asm volatile("red.relaxed.sys." SPACE "." FORM " [%0], %1;"                            \
                         ::ADDRESS(at), CONSTRAINT(VALUE) : "memory");                             \
        }                                                                                          \
    }
#define GROUT_RED_SPACES(NAME, TYPE, FORM, CONSTRAINT)                                             \
    GROUT_RED(NAME##_gmem, "global", void *, "l", TYPE, FORM, CONSTRAINT, value)                   \
    GROUT_RED(NAME##_smem, "shared::cta", grout_u32, "r", TYPE, FORM, CONSTRAINT, value)           \
    GROUT_RED(NAME##_peer, "shared::cluster", grout_u32, "r", TYPE, FORM, CONSTRAINT, value)

GROUT_RED_SPACES(add, grout_i32, "add.u32", "r")
GROUT_RED_SPACES(add, grout_u32, "add.u32", "r")
GROUT_RED_SPACES(add, grout_f32, "add.f32", "f")
GROUT_RED_SPACES(min, grout_i32, "min.s32", "r")
GROUT_RED_SPACES(min, grout_u32, "min.u32", "r")
GROUT_RED_SPACES(max, grout_i32, "max.s32", "r")
GROUT_RED_SPACES(max, grout_u32, "max.u32", "r")
GROUT_RED_SPACES(and, grout_i32, "and.b32", "r")
GROUT_RED_SPACES(and, grout_u32, "and.b32", "r")
GROUT_RED_SPACES(or, grout_i32, "or.b32", "r")
GROUT_RED_SPACES(or, grout_u32, "or.b32", "r")
GROUT_RED_SPACES(xor, grout_i32, "xor.b32", "r")
GROUT_RED_SPACES(xor, grout_u32, "xor.b32", "r")
#undef GROUT_RED_SPACES

// ---- 16-bit floats ------------------------------------------------------------------------------

#define GROUT_RED_HALF(NAME, SPACE, POINTER, ADDRESS)                                              \
    GROUT_RED(add_##NAME, SPACE, POINTER, ADDRESS, grout_f16, "add.noftz.f16", "h", value.bits)    \
    GROUT_RED(add_##NAME, SPACE, POINTER, ADDRESS, grout_bf16, "add.noftz.bf16", "h", value.bits)
GROUT_RED_HALF(gmem, "global", void *, "l")
GROUT_RED_HALF(smem, "shared::cta", grout_u32, "r")
GROUT_RED_HALF(peer, "shared::cluster", grout_u32, "r")
#undef GROUT_RED_HALF

// There is no instruction for the smaller or larger of one: the element is exchanged until nobody
// else was in between.
#define GROUT_CAS_LOOP(NAME, TYPE, SPACE, POINTER)                                                 \
    template <int scope> GROUT_DEVICE void grout_atomic_##NAME##_##SPACE(POINTER at, TYPE value) { \
        TYPE seen = {grout_look_half_##SPACE<scope>(at)};                                          \
        while (true) {                                                                             \
            const TYPE wanted =                                                                    \
                grout_cast<TYPE>(grout_##NAME(grout_widen(seen), grout_widen(value)));             \
            const grout_u16 old = grout_swap_half_##SPACE<scope>(at, seen.bits, wanted.bits);      \
            if (old == seen.bits) {                                                                \
                return;                                                                            \
            }                                                                                      \
            seen.bits = old;                                                                       \
        }                                                                                          \
    }
#define GROUT_SWAP_HALF(NAME, SPACE, POINTER, ADDRESS)                                             \
    template <int scope>                                                                           \
    GROUT_DEVICE grout_u16 grout_swap_half_##NAME(POINTER at, grout_u16 seen, grout_u16 wanted) {  \
        grout_u16 old;                                                                             \
        if (scope == GROUT_CTA) {                                                                  \
            asm volatile("atom.relaxed.cta." SPACE ".cas.b16 %0, [%1], %2, %3;"                    \
                         : "=h"(old) : ADDRESS(at), "h"(seen), "h"(wanted) : "memory");            \
        } else if (scope == GROUT_CLUSTER) {                                                       \
            asm volatile("atom.relaxed.cluster." SPACE ".cas.b16 %0, [%1], %2, %3;"                \
                         : "=h"(old) : ADDRESS(at), "h"(seen), "h"(wanted) : "memory");            \
        } else if (scope == GROUT_GPU) {                                                           \
            asm volatile("atom.relaxed.gpu." SPACE ".cas.b16 %0, [%1], %2, %3;"                    \
                         : "=h"(old) : ADDRESS(at), "h"(seen), "h"(wanted) : "memory");            \
        } else {                                                                                   \
            asm volatile("atom.relaxed.sys." SPACE ".cas.b16 %0, [%1], %2, %3;"                    \
                         : "=h"(old) : ADDRESS(at), "h"(seen), "h"(wanted) : "memory");            \
        }                                                                                          \
        return old;                                                                                \
    }
// The first look, which others' exchanges may come between, so that it is atomic, too.
#define GROUT_LOOK_HALF_IN(SCOPE, SPACE, ADDRESS)                                                  \
    asm volatile("ld.relaxed." SCOPE "." SPACE ".b16 %0, [%1];" : "=h"(bits) : ADDRESS(at) : "memory")
#define GROUT_LOOK_HALF(NAME, SPACE, POINTER, ADDRESS)                                             \
    template <int scope> GROUT_DEVICE grout_u16 grout_look_half_##NAME(POINTER at) {               \
        grout_u16 bits;                                                                            \
        if (scope == GROUT_CTA) {                                                                  \
            GROUT_LOOK_HALF_IN("cta", SPACE, ADDRESS);                                             \
        } else if (scope == GROUT_CLUSTER) {                                                       \
            GROUT_LOOK_HALF_IN("cluster", SPACE, ADDRESS);                                         \
        } else if (scope == GROUT_GPU) {                                                           \
            GROUT_LOOK_HALF_IN("gpu", SPACE, ADDRESS);                                             \
        } else {                                                                                   \
            GROUT_LOOK_HALF_IN("sys", SPACE, ADDRESS);                                             \
        }                                                                                          \
        return bits;                                                                               \
    }
GROUT_LOOK_HALF(gmem, "global", void *, "l")
GROUT_LOOK_HALF(smem, "shared::cta", grout_u32, "r")
GROUT_LOOK_HALF(peer, "shared::cluster", grout_u32, "r")
#undef GROUT_LOOK_HALF
#undef GROUT_LOOK_HALF_IN
GROUT_SWAP_HALF(gmem, "global", void *, "l")
GROUT_SWAP_HALF(smem, "shared::cta", grout_u32, "r")
GROUT_SWAP_HALF(peer, "shared::cluster", grout_u32, "r")
#undef GROUT_SWAP_HALF
#define GROUT_CAS_LOOPS(SPACE, POINTER)                                                            \
    GROUT_CAS_LOOP(min, grout_f16, SPACE, POINTER)                                                 \
    GROUT_CAS_LOOP(min, grout_bf16, SPACE, POINTER)                                                \
    GROUT_CAS_LOOP(max, grout_f16, SPACE, POINTER)                                                 \
    GROUT_CAS_LOOP(max, grout_bf16, SPACE, POINTER)
GROUT_CAS_LOOPS(gmem, void *)
GROUT_CAS_LOOPS(smem, grout_u32)
GROUT_CAS_LOOPS(peer, grout_u32)
#undef GROUT_CAS_LOOPS
#undef GROUT_CAS_LOOP

// ---- several floats at once, in GMEM ------------------------------------------------------------
// Each element by itself: the instruction as a whole is not atomic.

typedef grout_vector<grout_f32, 2> grout_f32_pair;
typedef grout_vector<grout_f32, 4> grout_f32_quad;
#define GROUT_LIST(...) __VA_ARGS__
#define GROUT_RED_VECTOR(NAME, TYPE, FORM, OPERANDS, ...)                                          \
    template <int scope>                                                                           \
    GROUT_DEVICE void grout_atomic_##NAME##_gmem(void *at, const TYPE &value) {                    \
        __VA_ARGS__;                                                                               \
        if (scope == GROUT_CTA) {                                                                  \
            asm volatile("red.relaxed.cta.global." FORM ";" ::"l"(at), OPERANDS : "memory");       \
        } else if (scope == GROUT_CLUSTER) {                                                       \
            asm volatile("red.relaxed.cluster.global." FORM ";" ::"l"(at), OPERANDS : "memory");   \
        } else if (scope == GROUT_GPU) {                                                           \
            asm volatile("red.relaxed.gpu.global." FORM ";" ::"l"(at), OPERANDS : "memory");       \
        } else {                                                                                   \
            asm volatile("red.relaxed.sys.global." FORM ";" ::"l"(at), OPERANDS : "memory");       \
        }                                                                                          \
    }
GROUT_RED_VECTOR(add, grout_f32_pair, "add.v2.f32 [%0], {%1, %2}",
                 GROUT_LIST("f"(value[0]), "f"(value[1])), )
GROUT_RED_VECTOR(add, grout_f32_quad, "add.v4.f32 [%0], {%1, %2, %3, %4}",
                 GROUT_LIST("f"(value[0]), "f"(value[1]), "f"(value[2]), "f"(value[3])), )

// Pairs travel in 32 bits.
#define GROUT_RED_HALVES(NAME, TYPE, PTX)                                                          \
    GROUT_RED_VECTOR(NAME, GROUT_LIST(grout_vector<TYPE, 4>),                                      \
                     #NAME ".noftz.v2." PTX "x2 [%0], {%1, %2}",                                   \
                     GROUT_LIST("r"(pairs.x), "r"(pairs.y)),                                       \
                     const uint2 pairs = grout_bits_as<uint2>(value))                              \
    GROUT_RED_VECTOR(NAME, GROUT_LIST(grout_vector<TYPE, 8>),                                      \
                     #NAME ".noftz.v4." PTX "x2 [%0], {%1, %2, %3, %4}",                           \
                     GROUT_LIST("r"(pairs.x), "r"(pairs.y), "r"(pairs.z), "r"(pairs.w)),           \
                     const uint4 pairs = grout_bits_as<uint4>(value))
GROUT_RED_HALVES(add, grout_f16, "f16")
GROUT_RED_HALVES(add, grout_bf16, "bf16")
GROUT_RED_HALVES(min, grout_f16, "f16")
GROUT_RED_HALVES(min, grout_bf16, "bf16")
GROUT_RED_HALVES(max, grout_f16, "f16")
GROUT_RED_HALVES(max, grout_bf16, "bf16")
#undef GROUT_RED_HALVES

#define GROUT_RED_PAIR(NAME, TYPE, FORM)                                                           \
    GROUT_RED(NAME##_gmem, "global", void *, "l", GROUT_LIST(const grout_vector<TYPE, 2> &), FORM, \
              "r", grout_bits_as<grout_u32>(value))
GROUT_RED_PAIR(add, grout_f16, "add.noftz.f16x2")
GROUT_RED_PAIR(add, grout_bf16, "add.noftz.bf16x2")
#undef GROUT_RED_PAIR
#define GROUT_RED_TWO(NAME, TYPE, PTX)                                                             \
    GROUT_RED_VECTOR(NAME, GROUT_LIST(grout_vector<TYPE, 2>),                                      \
                     #NAME ".noftz.v2." PTX " [%0], {%1, %2}",                                     \
                     GROUT_LIST("h"(value[0].bits), "h"(value[1].bits)), )
GROUT_RED_TWO(min, grout_f16, "f16")
GROUT_RED_TWO(min, grout_bf16, "bf16")
GROUT_RED_TWO(max, grout_f16, "f16")
GROUT_RED_TWO(max, grout_bf16, "bf16")
#undef GROUT_RED_TWO
#undef GROUT_RED_VECTOR
#undef GROUT_RED
#undef GROUT_LIST

// ---- what was there before ----------------------------------------------------------------------
// Of 32-bit integers.

#define GROUT_FETCH_IN(WORDS, ADDRESS, TAIL, ...)                                                  \
    asm volatile("atom" WORDS TAIL : "=r"(old) : ADDRESS(at), __VA_ARGS__ : "memory")
#define GROUT_FETCH_ORDERED(ORDER, ...)                                                            \
    if (scope == GROUT_CTA) {                                                                      \
        GROUT_FETCH_IN(ORDER ".cta", __VA_ARGS__);                                                 \
    } else if (scope == GROUT_CLUSTER) {                                                           \
        GROUT_FETCH_IN(ORDER ".cluster", __VA_ARGS__);                                             \
    } else if (scope == GROUT_GPU) {                                                               \
        GROUT_FETCH_IN(ORDER ".gpu", __VA_ARGS__);                                                 \
    } else {                                                                                       \
        GROUT_FETCH_IN(ORDER ".sys", __VA_ARGS__);                                                 \
    }
// ...: how the address is held, the instruction after its order and scope, its inputs.
#define GROUT_FETCH(NAME, PARAMETERS, ...)                                                         \
    template <int order, int scope, typename T>                                                    \
    GROUT_DEVICE T grout_atomic_##NAME PARAMETERS GROUT_FETCH_BODY(T, __VA_ARGS__)
// The same of one type.
#define GROUT_FETCH_OF(T, NAME, PARAMETERS, ...)                                                   \
    template <int order, int scope>                                                                \
    GROUT_DEVICE T grout_atomic_##NAME PARAMETERS GROUT_FETCH_BODY(T, __VA_ARGS__)
#define GROUT_FETCH_BODY(T, ...)                                                                   \
    {                                                                                              \
        T old;                                                                                     \
        if (order == GROUT_RELAXED) {                                                              \
            GROUT_FETCH_ORDERED(".relaxed", __VA_ARGS__)                                           \
        } else if (order == GROUT_ACQUIRE) {                                                       \
            GROUT_FETCH_ORDERED(".acquire", __VA_ARGS__)                                           \
        } else if (order == GROUT_RELEASE) {                                                       \
            GROUT_FETCH_ORDERED(".release", __VA_ARGS__)                                           \
        } else {                                                                                   \
            GROUT_FETCH_ORDERED(".acq_rel", __VA_ARGS__)                                           \
        }                                                                                          \
        return old;                                                                                \
    }
#define GROUT_FETCH_SPACE(NAME, SPACE, POINTER, ADDRESS)                                           \
    GROUT_FETCH(fetch_add_##NAME, (POINTER at, T value), ADDRESS,                                  \
                SPACE ".add.u32 %0, [%1], %2;", "r"(value))                                        \
    GROUT_FETCH(fetch_and_##NAME, (POINTER at, T value), ADDRESS,                                  \
                SPACE ".and.b32 %0, [%1], %2;", "r"(value))                                        \
    GROUT_FETCH(fetch_or_##NAME, (POINTER at, T value), ADDRESS,                                   \
                SPACE ".or.b32 %0, [%1], %2;", "r"(value))                                         \
    GROUT_FETCH(fetch_xor_##NAME, (POINTER at, T value), ADDRESS,                                  \
                SPACE ".xor.b32 %0, [%1], %2;", "r"(value))                                        \
    GROUT_FETCH_OF(grout_i32, fetch_max_##NAME, (POINTER at, grout_i32 value), ADDRESS,            \
                   SPACE ".max.s32 %0, [%1], %2;", "r"(value))                                     \
    GROUT_FETCH_OF(grout_u32, fetch_max_##NAME, (POINTER at, grout_u32 value), ADDRESS,            \
                   SPACE ".max.u32 %0, [%1], %2;", "r"(value))                                     \
    GROUT_FETCH_OF(grout_i32, fetch_min_##NAME, (POINTER at, grout_i32 value), ADDRESS,            \
                   SPACE ".min.s32 %0, [%1], %2;", "r"(value))                                     \
    GROUT_FETCH_OF(grout_u32, fetch_min_##NAME, (POINTER at, grout_u32 value), ADDRESS,            \
                   SPACE ".min.u32 %0, [%1], %2;", "r"(value))                                     \
    GROUT_FETCH(exchange_##NAME, (POINTER at, T value), ADDRESS,                                   \
                SPACE ".exch.b32 %0, [%1], %2;", "r"(value))                                       \
    GROUT_FETCH(cas_##NAME, (POINTER at, T expected, T value), ADDRESS,                            \
                SPACE ".cas.b32 %0, [%1], %2, %3;", "r"(expected), "r"(value))
GROUT_FETCH_SPACE(gmem, ".global", void *, "l")
GROUT_FETCH_SPACE(smem, ".shared::cta", grout_u32, "r")
GROUT_FETCH_SPACE(peer, ".shared::cluster", grout_u32, "r")
#undef GROUT_FETCH_SPACE
#undef GROUT_FETCH
#undef GROUT_FETCH_OF
#undef GROUT_FETCH_BODY
#undef GROUT_FETCH_ORDERED
#undef GROUT_FETCH_IN
#undef GROUT_EACH_SCOPE

#endif
