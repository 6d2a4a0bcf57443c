/* check_ptxas_log.c - what the assembler's log says, from logs of NVRTC 13.0.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gpu_backend/run/ptxas_log.h"
#include "tests/tests.h"

#include <string.h>

static const char two_kernels[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'tma' for 'sm_90a'\n"
    "ptxas info    : Function properties for tma\n"
    "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
    "ptxas info    : Used 40 registers, used 2 barriers, 128 bytes smem, 560 bytes cmem[0]\n"
    "ptxas info    : Compile time = 17.301 ms\n"
    "ptxas info    : Function properties for _ZN35_INTERNAL17grout_report_hangE\n"
    "    64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
    "serialized due to x in the function 'tma'\n"
    "ptxas info    : Compiling entry function 'casts' for 'sm_90a'\n"
    "ptxas info    : Function properties for casts\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 0 barriers";

TEST(numbers_of_each_kernel) {
    grout_gpu_ptxas_log log;
    grout_gpu_error error = {0};
    ck_assert(grout_gpu__ptxas_log_parse(two_kernels, &log, &error));
    ck_assert_uint_eq(log.kernel_count, 2);
    const grout_gpu_resources *tma = grout_gpu__ptxas_log_find(&log, "tma");
    const grout_gpu_resources *casts = grout_gpu__ptxas_log_find(&log, "casts");
    ck_assert_ptr_nonnull(tma);
    ck_assert_ptr_nonnull(casts);
    ck_assert_ptr_null(grout_gpu__ptxas_log_find(&log, "cast"));
    ck_assert_uint_eq(tma->registers, 40);
    ck_assert_uint_eq(tma->named_barriers, 2);
    ck_assert_uint_eq(tma->static_smem_bytes, 128);
    ck_assert_uint_eq(tma->stack_bytes, 16); /* not the 64 of a function it calls */
    ck_assert_uint_eq(tma->spill_store_bytes, 24);
    ck_assert_uint_eq(tma->spill_load_bytes, 32);
    ck_assert_uint_eq(casts->registers, 255);
    ck_assert_uint_eq(casts->static_smem_bytes, 0);
    ck_assert_ptr_nonnull(strstr(log.notes, "(C7510)"));
    ck_assert_ptr_null(strstr(log.notes, "Compile time"));
    grout_gpu__ptxas_log_deinit(&log);
}

/* Cut anywhere, a log is read without harm. */
TEST(cut_logs) {
    char text[sizeof two_kernels];
    for (size_t size = 0; size < sizeof two_kernels; size++) {
        grout_gpu_ptxas_log log;
        grout_gpu_error error = {0};
        memcpy(text, two_kernels, size);
        text[size] = '\0';
        ck_assert(grout_gpu__ptxas_log_parse(text, &log, &error));
        grout_gpu__ptxas_log_deinit(&log);
    }
}
