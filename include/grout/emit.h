/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - the same kernel as CUDA: emission, compilation.
 *
 * Emission needs no CUDA at all; compilation needs NVRTC, which is opened at run time, on first
 * use. Nothing here reads the environment or prints.
 */
#ifndef GROUT_EMIT_H
#define GROUT_EMIT_H

#include "grout/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- emission ---------------------------------------------------------------------------------
 */

struct grout_bank_listener;

typedef struct grout_emit_options {
    bool watchdog; /* bound every barrier spin and report the threads that hang; off for timing */
    bool line_directives; /* #line back to the kernel's file */
    bool no_debug_checks; /* leave out what debug_check asks for */
    /* CUDA source that stands in front of the first kernel of a text: it defines what
     * extern_elementwise calls, as extern "C" __device__ functions, whose parameters are those of
     * function.h. NULL or "": none; such functions are declared all the same. */
    const char *extern_source;
    grout_text *notes; /* not NULL: what is worth knowing about the code is added, a line each */
    const struct grout_bank_listener *banks; /* for grout itself; NULL */
} grout_emit_options;

/*
 * Appends the CUDA C++ of one kernel of a bound, verified module: readable, self-contained (the
 * device header is in it), for the hardware that the kernel's 'attr arch' names, for NVRTC or nvcc.
 * Kernels of one text are for the same hardware. False: the reason is in diags
 * (gpu-unsupported, with the op's place).
 */
GROUT_API bool grout_emit_cuda(const grout_module *bound, grout_kernel_id kernel,
                               const grout_emit_options *options, grout_text *out,
                               grout_diags *diags);

/*
 * What a launch of the emitted kernel needs beside its code: grid, block, SMEM bytes, parameters in
 * order, tensor maps. As JSON (schema grout-launch/1, docs/gpu.md), for people and other programs.
 */
GROUT_API bool grout_emit_manifest(const grout_module *bound, grout_kernel_id kernel,
                                   grout_text *out, grout_diags *diags);

/* ---- compilation ------------------------------------------------------------------------------
 */

typedef struct grout_nvrtc_options {
    const char *library;            /* path of libnvrtc, tried alone; NULL: search */
    const char *const *search_dirs; /* further folders to look in, e.g. CUDA_HOME/lib64 */
    size_t search_dir_count;
    const char *cache_dir; /* NULL: no cache */
    bool line_info;
    /*
     * Compile in this process. If not, NVRTC runs in a child process that is forked and executes
     * nothing else: not for a process that has other threads. NVRTC is a compiler, whose calls are
     * safe from several threads and touch no context; but it initialises the CUDA driver, after
     * which grout_gpu_run and grout_gpu_describe find no GPU from this process.
     */
    bool is_in_process;
    grout_arch arch; /* the hardware that the text is for; 0: sm_90a */
} grout_nvrtc_options;

typedef enum grout_binary_kind { GROUT_BINARY_PTX, GROUT_BINARY_CUBIN } grout_binary_kind;

typedef struct grout_binary {
    void *data; /* owned; PTX is NUL-terminated, the NUL not counted */
    size_t size;
    bool from_cache;
    int32_t registers, spill_bytes, static_smem_bytes; /* of the kernel, -1: unknown */
    char *log; /* what NVRTC and ptxas said; owned, may be "" */
} grout_binary;

/* Compiles CUDA C++, as grout_emit_cuda writes it, with NVRTC. kernel_name: of the kernel whose
 * registers the binary names. False: reasons in diags (nvrtc-missing, nvrtc-failed), and nothing is
 * to be freed. */
GROUT_API bool grout_compile_cuda(const char *source, const char *kernel_name,
                                  grout_binary_kind kind, const grout_nvrtc_options *options,
                                  grout_binary *binary_out, grout_diags *diags);
/* Frees what a binary holds, and leaves it empty. */
GROUT_API void grout_binary_free(grout_binary *binary);

/* The environment of a process, as far as it says where the cache is; NULL: it has none. */
typedef struct grout_cache_variables {
    const char *grout_cache, *xdg_cache_home, *home;
} grout_cache_variables;

/*
 * Appends the folder of the cache: GROUT_CACHE, else XDG_CACHE_HOME/grout, else HOME/.cache/grout.
 * The last two have to be absolute paths (XDG Base Directory Specification): appends to ignored_out
 * which is none. False: there is no place for a cache.
 */
GROUT_API bool grout_cache_find(const grout_cache_variables *variables, grout_text *folder_out,
                                grout_text *ignored_out);

#ifdef __cplusplus
}
#endif
#endif
