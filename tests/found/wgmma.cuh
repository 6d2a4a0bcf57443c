// SPDX-License-Identifier: Apache-2.0
// wgmma for the programs of this folder.
#pragma once
#include "barriers.cuh"

// The accumulator registers of m64n64 and m64n256, as operands of asm.
#define D4(i)  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
#define D32    D16(0), D16(16)
#define D128   D32, D16(32), D16(48), D16(64), D16(80), D16(96), D16(112)
#define NAMES32                                                                         \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, " \
    "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define NAMES128                                                                           \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "    \
    "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "     \
    "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "     \
    "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, "     \
    "%66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "     \
    "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, "     \
    "%98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "   \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, " \
    "%126, %127}"

// K-major, rows of 128 bytes swizzled by 128 bytes.
static __device__ u64 describe(const void *p) {
    return (u64)((shared_address(p) & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
static __device__ void multiply(float (&d)[32], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " NAMES32
                 ", %32, %33, 1, 1, 1, 0, 0;"
                 : D32
                 : "l"(a), "l"(b)
                 : "memory");
}
static __device__ void multiply(float (&d)[128], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 " NAMES128
                 ", %128, %129, 1, 1, 1, 0, 0;"
                 : D128
                 : "l"(a), "l"(b)
                 : "memory");
}
static __device__ void commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
static __device__ void begin(float (&d)[32]) {
    asm volatile("wgmma.fence.sync.aligned;" : D32 : : "memory");
}
static __device__ void begin(float (&d)[128]) {
    asm volatile("wgmma.fence.sync.aligned;" : D128 : : "memory");
}
static __device__ void wait_for_all(float (&d)[32]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : D32 : : "memory");
}
static __device__ void wait_for_all(float (&d)[128]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : D128 : : "memory");
}
static __device__ void meet() {
    asm volatile("bar.sync 1, 128;" : : : "memory");
}
