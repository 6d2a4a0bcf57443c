// SPDX-License-Identifier: Apache-2.0
// Mbarriers, bulk copies and clocks for the programs of this folder.
#pragma once
#include <cstdio>
#include <cstdlib>

#define OR_EXIT(call)                                                          \
    do {                                                                       \
        cudaError_t error = (call);                                            \
        if (error != cudaSuccess) {                                            \
            std::printf("line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
            std::exit(1);                                                      \
        }                                                                      \
    } while (0)

typedef unsigned long long u64;

static __device__ unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
static __device__ unsigned read_clock() {
    unsigned t;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t) : : "memory");
    return t;
}
static __device__ u64 read_timer() {
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t) : : "memory");
    return t;
}
static __device__ void init(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier), "r"(arrivals)
                 : "memory");
}
static __device__ void expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier), "r"(bytes)
                 : "memory");
}
static __device__ void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], 1;"
                 :
                 : "r"(barrier)
                 : "memory");
}
static __device__ void wait(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], "
                 "%1;\n@!p bra AGAIN;\n}"
                 :
                 : "r"(barrier), "r"(parity)
                 : "memory");
}
static __device__ void load(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :
        : "r"(to), "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}
