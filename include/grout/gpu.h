/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - the same kernel on a GPU: emission of CUDA, compilation, launch, comparison.
 *
 * Emission needs no CUDA at all; compilation needs NVRTC, a launch needs a GPU and its driver. Both
 * libraries are opened at run time, on first use. Nothing here reads the environment or prints.
 */
#ifndef GROUT_GPU_H
#define GROUT_GPU_H

#include "grout/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- emission ---------------------------------------------------------------------------------
 */

/* An access of SMEM by registers, as the emitted code makes it: of its parts that the hardware
 * takes at once, the one that asks some bank for most words. */
typedef struct grout_bank_use {
    grout_place place; /* of the operation; borrowed from the module */
    grout_object_id object;
    uint32_t passes;            /* that this part takes; 1: its words lie in different banks */
    uint8_t words[GROUT_BANKS]; /* that it asks each bank for */
} grout_bank_use;

typedef struct grout_emit_options {
    bool watchdog; /* bound every barrier spin and report the threads that hang; off for timing */
    bool line_directives; /* #line back to the kernel's file */
    bool no_debug_checks; /* leave out what debug_check asks for */
    /* CUDA source that stands in front of the first kernel of a text: it defines what
     * extern_elementwise calls, as extern "C" __device__ functions, whose parameters are those of
     * function.h. NULL or "": none; such functions are declared all the same. */
    const char *extern_source;
    grout_text *notes; /* not NULL: what is worth knowing about the code is added, a line each */
    /* not NULL: called for each access of SMEM by registers, with or without conflicts */
    void (*note_banks)(void *payload, const grout_bank_use *use);
    void *payload;
} grout_emit_options;

/*
 * Appends the CUDA C++ of one kernel of a bound, verified module: readable, self-contained (the
 * device header is in it), for sm_90a, for NVRTC or nvcc. False: the reason is in diags
 * (gpu-unsupported, with the op's place).
 */
GROUT_API bool grout_emit_cuda(const grout_module *bound, grout_kernel_id kernel,
                               const grout_emit_options *options, grout_text *out,
                               grout_diags *diags);

/* False if the kernel calls functions and there is no source for them, so that the text cannot be
 * compiled: extern-missing. */
GROUT_API bool grout_emit_check_externs(const grout_module *bound, grout_kernel_id kernel,
                                        const char *extern_source, grout_diags *diags);

/*
 * What a launch of the emitted kernel needs beside its code: grid, block, SMEM bytes, parameters in
 * order, tensor maps. As JSON (schema grout-launch/1, docs/gpu.md), for people and other programs.
 */
GROUT_API bool grout_emit_manifest(const grout_module *bound, grout_kernel_id kernel,
                                   grout_text *out, grout_diags *diags);

/* A self-contained launcher .cpp for nvcc: allocates, encodes the tensor maps, launches. */
GROUT_API bool grout_emit_host(const grout_module *bound, grout_kernel_id kernel,
                               const grout_emit_options *options, grout_text *out,
                               grout_diags *diags);

/* The same for the launch list of the module, over one cubin with all its kernels. */
GROUT_API bool grout_emit_host_list(const grout_module *bound, grout_text *out, grout_diags *diags);

/*
 * Which operations on barriers and semaphores of a kernel of a bound, verified module release or
 * acquire beyond their CTA in the CUDA: a fence of the whole GPU, or an emptied L1 cache, each
 * time. is_wide_out: by op, an entry for each of the module. False, with a reason, if the backend
 * cannot express the kernel.
 */
GROUT_API bool grout_gpu_find_wide_orders(const grout_module *bound, grout_kernel_id kernel,
                                          bool *is_wide_out, grout_diags *diags);

/* ---- compilation ------------------------------------------------------------------------------
 */

typedef struct grout_nvrtc_options {
    const char *library;            /* path of libnvrtc, tried alone; NULL: search */
    const char *const *search_dirs; /* further folders to look in, e.g. CUDA_HOME/lib64 */
    size_t search_dir_count;
    const char *cache_dir; /* NULL: no cache */
    bool line_info;
} grout_nvrtc_options;

typedef enum grout_binary_kind { GROUT_BINARY_PTX, GROUT_BINARY_CUBIN } grout_binary_kind;

typedef struct grout_binary {
    void *data; /* owned; PTX is NUL-terminated, the NUL not counted */
    size_t size;
    bool from_cache;
    int32_t registers, spill_bytes, static_smem_bytes; /* of the kernel, -1 unknown (PTX) */
    char *log; /* what NVRTC and ptxas said; owned, may be "" */
} grout_binary;

GROUT_API bool grout_compile_cuda(const char *source, const char *kernel_name,
                                  grout_binary_kind kind, const grout_nvrtc_options *options,
                                  grout_binary *binary_out, grout_diags *diags);
GROUT_API void grout_binary_free(grout_binary *binary);
/* What a kernel takes of an SM. */
typedef struct grout_resources {
    int32_t registers;   /* of a lane, at the kernel's entry; -1 unknown */
    int32_t spill_bytes; /* stored and loaded because registers do not suffice; -1 unknown */
    int32_t static_smem_bytes, dynamic_smem_bytes;
    int32_t cuda_threads;  /* of a CTA */
    int32_t ctas_per_sm;   /* at a time */
    const char *bound;     /* what keeps it from being more: "SMEM", "registers", ...; static */
    int32_t cluster_ctas;  /* CTAs of a cluster */
    int32_t resident_ctas; /* of an H100 or H200 with 132 SMs at a time: whole clusters */
} grout_resources;

/* What a compiled kernel of a bound module takes. False: the binary's log does not have it (it is
 * PTX), or a reason in diags. */
GROUT_API bool grout_binary_get_resources(const grout_binary *binary, const grout_module *bound,
                                          grout_kernel_id kernel, grout_resources *resources_out,
                                          grout_diags *diags);
/*
 * Adds a warning (gpu-loss) for each loss of speed that the assembler reports: spilled registers,
 * wgmmas that it runs one after another, a set_max_registers without effect; with cause and remedy.
 * False if the binary's log says nothing of the kernel.
 */
GROUT_API bool grout_binary_report_losses(const grout_binary *binary, const grout_module *bound,
                                          grout_kernel_id kernel, grout_diags *diags);
/* Removes every file of the cache; false with a reason. */
GROUT_API bool grout_cache_clear(const char *cache_dir, grout_diags *diags);

/* ---- launch -----------------------------------------------------------------------------------
 */

typedef struct grout_gpu_launch {
    const grout_module *module; /* bound and verified */
    grout_kernel_id kernel;
    const grout_argument *arguments; /* as for the interpreter; 'out' data is overwritten */
    size_t argument_count;
    int32_t device;
    double timeout_seconds;    /* wall clock of the whole launch; 0: 60 */
    double watchdog_seconds;   /* of one barrier wait; 0: 2. Negative: no watchdog */
    uint32_t warmup, repeats;  /* timed launches beside the one whose results count; 0: none */
    bool flush_l2;             /* before each timed launch */
    bool no_debug_checks;      /* grout_emit_options has it */
    const char *extern_source; /* grout_emit_options has it */
    grout_nvrtc_options nvrtc;
    /*
     * The launch after this one in a list, NULL: there is none. They run on one stream, and
     * arguments with the same data are one array. Device, limits, timing (of this launch alone) and
     * NVRTC are those of the first.
     */
    const struct grout_gpu_launch *next;
    bool is_dependent; /* programmatic: it may begin before the one before it has ended */
} grout_gpu_launch;

typedef struct grout_gpu_result {
    char device_name[128];
    double median_seconds, min_seconds, max_seconds; /* of the timed launches, 0 if none */
    bool cubin_from_cache;
} grout_gpu_result;

/*
 * Emits, compiles and launches in a child process. True: the outputs are in the arguments' data.
 * False: diags say why, and the data of 'out' arrays is unchanged: gpu-missing, nvrtc-missing,
 * debug-check-failed, gpu-fault, gpu-hang (with each hanging thread's barrier, phase and source
 * line as notes), gpu-driver.
 */
GROUT_API bool grout_gpu_run(const grout_gpu_launch *launch, grout_gpu_result *result_out,
                             grout_diags *diags);

/* What 'grout doctor' shows. True if a launch could work; out says what is found and what is not.
 */
GROUT_API bool grout_gpu_describe(const grout_nvrtc_options *options, grout_text *out);

/* ---- comparison -------------------------------------------------------------------------------
 */

typedef struct grout_compare_options {
    double rtol, atol; /* both 0: bit for bit, NaNs equal to each other */
    bool is_by_type;   /* rtol is that of the array's element type: f32 and f64 2^-17, f16 2^-9,
                          bf16 2^-6, f8 2^-2; integers and bools bit for bit */
} grout_compare_options;

/*
 * The tolerance of the compare rule for a kernel (docs/gpu.md): bit for bit, unless the kernel has
 * an operation that no hardware rounds correctly, or sums floats in an order of its own (wgmma,
 * reduce_sum). The sums of small whole numbers are exact in every order: has_whole_inputs says that
 * the arguments are small whole numbers. has_exact_products says that
 * what the arrays are compared with was made with exact numerics: sums of wgmma are the hardware's.
 */
GROUT_API grout_compare_options grout_compare_get_default(const grout_module *bound,
                                                          grout_kernel_id kernel,
                                                          bool has_whole_inputs,
                                                          bool has_exact_products);

/* Two arrays of one parameter that should be equal. All is borrowed. */
typedef struct grout_comparison {
    const grout_module *bound;
    grout_kernel_id kernel;
    uint32_t param_index;
    const void *expected, *actual; /* the array's bytes */
    grout_compare_options options;
} grout_comparison;

/*
 * How far apart two arrays are, and where. An element is named by its number in row-major order, -1
 * where there is none. The largest differences are those of differing elements that are finite
 * numbers on both sides; a relative one is divided by the expected value, which is not 0 then.
 */
typedef struct grout_difference {
    double limit; /* of the difference of elements that count as equal; < 0: bit for bit */
    int64_t count, differing; /* elements, and those that differ */
    int64_t first;
    double absolute, relative;
    int64_t absolute_at, relative_at;
    /* of the elements that differ: NaN instead of a number, a number instead of NaN, and others of
     * which a side is infinite */
    int64_t nan_found, nan_missing, infinite;
    int64_t not_finite_at;         /* the first of these */
    int64_t begin[GROUT_RANK_MAX]; /* the smallest box that encloses all that differ */
    int64_t end[GROUT_RANK_MAX];
} grout_difference;

/* Compares two arrays; out says how far they are apart. True if they are equal. */
GROUT_API bool grout_compare_measure(const grout_comparison *comparison, grout_difference *out);
/* Whether an element differs, by a difference that was measured. */
GROUT_API bool grout_compare_is_differing(const grout_comparison *comparison,
                                          const grout_difference *difference, int64_t element);
/* The element that a search for the cause begins with: of those that differ the first that is not
 * finite, else the one that is farthest off. */
GROUT_API int64_t grout_difference_get_worst(const grout_difference *difference);
/* Appends "[1, 2]", an element of an array of this type. */
GROUT_API void grout_describe_element(const grout_type *type, int64_t element, grout_text *out);
/*
 * Adds a compare-mismatch for arrays that differ: it names the array, the first differing element
 * with both values, and how many differ. Notes say how far they are apart, and in which box they
 * lie.
 */
GROUT_API void grout_compare_report(const grout_comparison *comparison,
                                    const grout_difference *difference, grout_diags *diags);

/*
 * Does all of this for one array. True if equal. Otherwise a last note names the op that comes last
 * in the kernel of those that write the array.
 */
GROUT_API bool grout_compare_array(const grout_module *bound, grout_kernel_id kernel,
                                   uint32_t param_index, const void *expected, const void *actual,
                                   const grout_compare_options *options, grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
