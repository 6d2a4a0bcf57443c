/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * gemm_libxsmm.c - products of packed tiles by code that LIBXSMM's generator makes for the shape.
 *
 * Only the generator is used (libxsmmgen), which is a function from a shape to bytes. LIBXSMM's own
 * dispatch would keep the code for all of the process, but it also puts OMP_PROC_BIND into the
 * process's environment, leaves a lock file in /tmp and reads a dozen environment variables, one of
 * which prints at exit: not for a library inside somebody else's program.
 *
 * Its f32 kernels add up in increasing k with one fused multiply-add each, if its m is a multiple
 * of 64 (tests/unit/interp/math/check_gemm.c compares over all shapes): so m is wgmma's M, not N.
 */
#include "gemm.h"

#if GROUT_HAS_LIBXSMM
#include <libxsmm_cpuid.h>
#include <libxsmm_generator.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CODE_BYTES_MAX (128u << 10)

static int get_target(void) {
    if (grout_gemm__find_wide(GROUT_GEMM_AVX512, false) != NULL) {
        return LIBXSMM_X86_AVX512_CORE;
    }
    return grout_gemm__find_wide(GROUT_GEMM_AVX2, false) != NULL ? LIBXSMM_X86_AVX2 : 0;
}

/* Pages for code: writable first, executable then, never both. Pages come from the system, whatever
 * the launch's allocator, which has none that could be executed. */
static void *map_code(void) {
    void *bytes =
        mmap(NULL, CODE_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* The gemm has the code; its pages cannot be written any more. */
static bool publish(grout_gemm *gemm, void *bytes) {
    if (mprotect(bytes, CODE_BYTES_MAX, PROT_READ | PROT_EXEC) != 0) {
        return false;
    }
    gemm->code = bytes;
    gemm->code_size = CODE_BYTES_MAX;
    return true;
}

bool grout_gemm__make_code(grout_gemm *gemm) {
    libxsmm_descriptor_blob blob;
    libxsmm_generated_code code;
    int target = get_target();
    if (target == 0 || gemm->round_step != 0 || gemm->is_integer) {
        return false;
    }
    libxsmm_blasint m = (libxsmm_blasint)gemm->m, n = (libxsmm_blasint)gemm->n,
                    k = (libxsmm_blasint)gemm->k;
    const libxsmm_gemm_descriptor *shape = libxsmm_sgemm_descriptor_init(
        &blob, m, n, k, m, gemm->has_k_rows ? n : k, (libxsmm_blasint)grout_gemm__get_pitch(gemm),
        1.0f, 1.0f, gemm->has_k_rows ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE,
        LIBXSMM_GEMM_PREFETCH_NONE);
    void *buffer = shape != NULL ? map_code() : NULL;
    if (buffer == NULL) {
        return false;
    }
    memset(&code, 0, sizeof code);
    code.generated_code = buffer;
    code.buffer_size = CODE_BYTES_MAX;
    code.code_type = 2; /* bytes to call */
    code.arch = (unsigned int)target;
    libxsmm_generator_gemm_kernel(&code, shape);
    if (code.last_error != 0 || code.code_size == 0 || !publish(gemm, buffer)) {
        munmap(buffer, CODE_BYTES_MAX);
        return false;
    }
    return true;
}

void grout_gemm__free_code(grout_gemm *gemm) {
    munmap(gemm->code, gemm->code_size);
}

#else

bool grout_gemm__make_code(grout_gemm *gemm) {
    (void)gemm;
    return false;
}

void grout_gemm__free_code(grout_gemm *gemm) {
    (void)gemm;
}

#endif
