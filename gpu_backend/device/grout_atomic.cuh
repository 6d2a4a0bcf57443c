// grout_atomic.cuh - atomic operations on GMEM, on SMEM, and on the SMEM of other CTAs.
// SPDX-License-Identifier: Apache-2.0
//
// The scope is a template argument; that of fetches stands behind their order. Functions by space:
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

// ---- 16-bit floats, in GMEM ---------------------------------------------------------------------

GROUT_RED(add_gmem, "global", void *, "l", grout_f16, "add.noftz.f16", "h", value.bits)
GROUT_RED(add_gmem, "global", void *, "l", grout_bf16, "add.noftz.bf16", "h", value.bits)

// There is no instruction for the smaller or larger of one: the element is exchanged until nobody
// else was in between.
#define GROUT_CAS_LOOP(NAME, TYPE)                                                                 \
    template <int scope> GROUT_DEVICE void grout_atomic_##NAME##_gmem(void *at, TYPE value) {      \
        TYPE seen = grout_load_gmem<TYPE>(at);                                                     \
        while (true) {                                                                             \
            const TYPE wanted =                                                                    \
                grout_cast<TYPE>(grout_##NAME(grout_widen(seen), grout_widen(value)));             \
            const grout_u16 old = grout_swap_half<scope>(at, seen.bits, wanted.bits);              \
            if (old == seen.bits) {                                                                \
                return;                                                                            \
            }                                                                                      \
            seen.bits = old;                                                                       \
        }                                                                                          \
    }
template <int scope>
GROUT_DEVICE grout_u16 grout_swap_half(void *at, grout_u16 seen, grout_u16 wanted) {
    grout_u16 old;
#define GROUT_FORM(WORDS)                                                                          \
    asm volatile("atom" WORDS ".global.cas.b16 %0, [%1], %2, %3;"                                  \
                 : "=h"(old) : "l"(at), "h"(seen), "h"(wanted) : "memory")
    GROUT_EACH_SCOPE(GROUT_FORM, ".relaxed")
#undef GROUT_FORM
    return old;
}
GROUT_CAS_LOOP(min, grout_f16)
GROUT_CAS_LOOP(min, grout_bf16)
GROUT_CAS_LOOP(max, grout_f16)
GROUT_CAS_LOOP(max, grout_bf16)
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
// By one lane. 32-bit integers.

#define GROUT_EACH_ORDER(FORM)                                                                     \
    if (order == GROUT_RELAXED) {                                                                  \
        GROUT_EACH_SCOPE(FORM, ".relaxed")                                                         \
    } else if (order == GROUT_ACQUIRE) {                                                           \
        GROUT_EACH_SCOPE(FORM, ".acquire")                                                         \
    } else if (order == GROUT_RELEASE) {                                                           \
        GROUT_EACH_SCOPE(FORM, ".release")                                                         \
    } else {                                                                                       \
        GROUT_EACH_SCOPE(FORM, ".acq_rel")                                                         \
    }
#define GROUT_FORM_ONE(WORDS)                                                                      \
    asm volatile("atom" WORDS GROUT_TAIL " %0, [%1], %2;"                                          \
                 : "=r"(old) : GROUT_ADDRESS(at), "r"(value) : "memory")
#define GROUT_FORM_TWO(WORDS)                                                                      \
    asm volatile("atom" WORDS GROUT_TAIL " %0, [%1], %2, %3;"                                      \
                 : "=r"(old) : GROUT_ADDRESS(at), "r"(expected), "r"(value) : "memory")

#define GROUT_ADDRESS "l"
#define GROUT_TAIL ".global.add.u32"
template <int order, int scope, typename T>
GROUT_DEVICE T grout_atomic_fetch_add_gmem(void *at, T value) {
    T old;
    GROUT_EACH_ORDER(GROUT_FORM_ONE)
    return old;
}
#undef GROUT_TAIL
#define GROUT_TAIL ".global.exch.b32"
template <int order, int scope, typename T>
GROUT_DEVICE T grout_atomic_exchange_gmem(void *at, T value) {
    T old;
    GROUT_EACH_ORDER(GROUT_FORM_ONE)
    return old;
}
#undef GROUT_TAIL
#define GROUT_TAIL ".global.cas.b32"
template <int order, int scope, typename T>
GROUT_DEVICE T grout_atomic_cas_gmem(void *at, T expected, T value) {
    T old;
    GROUT_EACH_ORDER(GROUT_FORM_TWO)
    return old;
}
#undef GROUT_TAIL
#undef GROUT_ADDRESS

#define GROUT_ADDRESS "r"
#define GROUT_TAIL ".shared::cta.add.u32"
template <int order, int scope, typename T>
GROUT_DEVICE T grout_atomic_fetch_add_smem(grout_u32 at, T value) {
    T old;
    GROUT_EACH_ORDER(GROUT_FORM_ONE)
    return old;
}
#undef GROUT_TAIL
#define GROUT_TAIL ".shared::cta.exch.b32"
template <int order, int scope, typename T>
GROUT_DEVICE T grout_atomic_exchange_smem(grout_u32 at, T value) {
    T old;
    GROUT_EACH_ORDER(GROUT_FORM_ONE)
    return old;
}
#undef GROUT_TAIL
#define GROUT_TAIL ".shared::cta.cas.b32"
template <int order, int scope, typename T>
GROUT_DEVICE T grout_atomic_cas_smem(grout_u32 at, T expected, T value) {
    T old;
    GROUT_EACH_ORDER(GROUT_FORM_TWO)
    return old;
}
#undef GROUT_TAIL
#undef GROUT_ADDRESS

#define GROUT_ADDRESS "r"
#define GROUT_TAIL ".shared::cluster.add.u32"
template <int order, int scope, typename T>
GROUT_DEVICE T grout_atomic_fetch_add_peer(grout_u32 at, T value) {
    T old;
    GROUT_EACH_ORDER(GROUT_FORM_ONE)
    return old;
}
#undef GROUT_TAIL
#define GROUT_TAIL ".shared::cluster.exch.b32"
template <int order, int scope, typename T>
GROUT_DEVICE T grout_atomic_exchange_peer(grout_u32 at, T value) {
    T old;
    GROUT_EACH_ORDER(GROUT_FORM_ONE)
    return old;
}
#undef GROUT_TAIL
#define GROUT_TAIL ".shared::cluster.cas.b32"
template <int order, int scope, typename T>
GROUT_DEVICE T grout_atomic_cas_peer(grout_u32 at, T expected, T value) {
    T old;
    GROUT_EACH_ORDER(GROUT_FORM_TWO)
    return old;
}
#undef GROUT_TAIL
#undef GROUT_ADDRESS

#undef GROUT_FORM_ONE
#undef GROUT_FORM_TWO
#undef GROUT_EACH_ORDER
#undef GROUT_EACH_SCOPE

#endif
