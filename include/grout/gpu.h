/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - the same kernel on a GPU: emission of CUDA, compilation, launch, comparison.
 *
 * Emission needs no CUDA at all; compilation needs NVRTC, a launch needs a GPU and its driver. Both
 * libraries are opened at run time, on first use. Nothing here reads the environment or prints.
 *
 * There are two ways to launch. grout_gpu_run takes arrays of the host and works in a child
 * process, with a watchdog: for tests and comparisons. grout_gpu_kernel_launch takes arrays of the
 * device and works in the caller's process, context and stream: for programs that use CUDA
 * themselves.
 */
#ifndef GROUT_GPU_H
#define GROUT_GPU_H

#include "grout/text.h"

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
 * device header is in it), for the hardware that the kernel's 'attr arch' names, for NVRTC or nvcc.
 * Kernels of one text are for the same hardware. False: the reason is in diags
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
GROUT_API bool grout_emit_host(const grout_module *bound, grout_kernel_id kernel, grout_text *out,
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
    int32_t registers, spill_bytes, static_smem_bytes; /* of the kernel, -1 unknown (PTX) */
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

/* What a kernel takes of an SM. */
typedef struct grout_resources {
    int32_t registers;   /* of a lane, at the kernel's entry; -1 unknown */
    int32_t spill_bytes; /* stored and loaded because registers do not suffice; -1 unknown */
    int32_t static_smem_bytes, dynamic_smem_bytes;
    int32_t cuda_threads;   /* of a CTA */
    int32_t ctas_per_sm;    /* at a time */
    const char *bound;      /* what keeps it from being more: "SMEM", "registers", ...; static */
    int32_t cluster_ctas;   /* CTAs of a cluster */
    int32_t resident_ctas;  /* of an H100 or H200 with 132 SMs at a time: whole clusters; 0: it is
                             * for another GPU */
    int32_t tensor_columns; /* of 512 of tensor memory, as they are allocated */
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
/* Removes every file of the cache; false with a reason. */
GROUT_API bool grout_cache_clear(const char *cache_dir, grout_diags *diags);

/* ---- launch -----------------------------------------------------------------------------------
 */

typedef struct grout_gpu_launch {
    const grout_module *module; /* bound and verified */
    grout_kernel_id kernel;
    const grout_argument *arguments; /* as for the interpreter; 'out' data is overwritten */
    size_t argument_count;
    const bool *are_given; /* by argument, for who compares: contents by intent; NULL: all are */
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

/* ---- launch in the caller's context ------------------------------------------------------------
 */

/* A kernel in a CUDA context, with all that its launches need made before. */
typedef struct grout_gpu_kernel grout_gpu_kernel;

typedef struct grout_gpu_kernel_options {
    /*
     * The cubin of this kernel, compiled before from what grout_emit_cuda writes for it; only read
     * during the call. NULL: it is emitted, without watchdog, and compiled in this process.
     */
    const grout_binary *binary;
    grout_nvrtc_options nvrtc; /* without a binary; is_in_process counts as true */
    bool no_debug_checks;      /* without a binary; grout_emit_options has it */
    const char *extern_source; /* the same */
    /*
     * Programmatic: a launch may begin before the kernel that precedes it on the stream has ended.
     * Only for a kernel that a 'dependent' launch of the module is of (bad-argument), and where the
     * kernel before is the one that the module's list has there.
     */
    bool is_dependent;
    /* Each launch first fills 'out' arrays with the poison pattern, as the interpreter does. If
     * not, elements that the kernel does not write keep what they held. */
    bool fills_outputs;
    /* Launches that may be under way at the same time, on different streams, of a kernel with
     * workspaces: each takes memory of its own. 0: 1. At most GROUT_GPU_WORKSPACE_SETS_MAX. */
    uint32_t workspace_set_count;
} grout_gpu_kernel_options;

#define GROUT_GPU_WORKSPACE_SETS_MAX 16

/*
 * Loads a kernel of a bound, verified module into the CUDA context that is current in this OS
 * thread. options may be NULL. The module is read during the call only. NULL: reasons in diags:
 * gpu-missing (no driver, or another GPU than one of compute capability 9.0), bad-argument (no
 * context is current, or the binary is of another kernel), gpu-unsupported, nvrtc-missing,
 * gpu-driver, out-of-memory, and gpu-fault if an earlier kernel of the context has faulted.
 * Warnings (gpu-loss) may be added to a kernel that was made.
 *
 * No process is started, and the context stays what it is: code, memory for the workspaces and
 * events are added to it. Waits for all work of the context if there are workspaces. Not while a
 * stream of the context is captured.
 */
GROUT_API grout_gpu_kernel *grout_gpu_kernel_new(const grout_module *bound, grout_kernel_id kernel,
                                                 const grout_gpu_kernel_options *options,
                                                 grout_diags *diags);

/*
 * Puts a launch on a stream of the kernel's context, and returns at once. arguments are as for the
 * interpreter, one for each parameter, but data of an array is an address of the device: at a
 * multiple of 16 bytes, with exactly the array's bytes, row-major, apart from every array that the
 * kernel writes. data of a scalar is the host's, and is read before the call returns. stream is a
 * CUstream or cudaStream_t; NULL is the legacy default stream, as it is for CUDA.
 *
 * In the stream's order: the workspaces are filled as the kernel expects them, 'out' arrays if the
 * options say so, then the kernel runs. If more launches of a kernel with workspaces are under way
 * than it has sets of them, the later one waits on the device for an earlier one, whatever their
 * streams. Nothing is allocated, compiled or written to a file. Tensor maps are encoded anew only
 * for addresses other than those of the last launches.
 *
 * True: the launch is on the stream. False, and the kernel was not started: bad-argument, with
 * what is wrong with which argument, another context current, a stream of another context, or a
 * stream that is captured while the kernel has workspaces (a graph could run twice at once, on the
 * same memory); gpu-driver; gpu-fault if an earlier kernel of the context has faulted. What goes
 * wrong when the kernel runs shows in the caller's next synchronisation, as with every kernel.
 *
 * There is no watchdog and no time limit in this mode. A watchdog ends a kernel by a fault, and a
 * fault ends the context with everything that the caller has in it; so a kernel that hangs hangs
 * the stream, as any other kernel of CUDA. 'grout check' and grout_gpu_run find out why. A binary
 * that was compiled with the watchdog waits without limit, too. A debug_check that fails prints its
 * message and does end the context, as an assert of CUDA does: no_debug_checks leaves them out.
 *
 * Several OS threads may launch one kernel at the same time, each with the kernel's context
 * current.
 */
GROUT_API bool grout_gpu_kernel_launch(grout_gpu_kernel *kernel, const grout_argument *arguments,
                                       size_t argument_count, void *stream, grout_diags *diags);

/* Waits for all work of the kernel's context, and unloads the kernel. Does nothing to the device if
 * the context is gone. Not while a stream of the context is captured. NULL is allowed. */
GROUT_API void grout_gpu_kernel_free(grout_gpu_kernel *kernel);

/* ---- launches in every context -----------------------------------------------------------------
 */

/* A kernel that is compiled, and loaded into each CUDA context in which a launch comes: one program
 * for all GPUs of a process. */
typedef struct grout_gpu_program grout_gpu_program;

/*
 * Emits and compiles a kernel of a bound, verified module, which is borrowed until the program is
 * freed; options are those of grout_gpu_kernel_new, and are read during the call only. A binary of
 * theirs is copied, and has no watchdog. Needs NVRTC, and no GPU. NULL: reasons in diags; warnings
 * (gpu-loss) may be added to a program that was made.
 */
GROUT_API grout_gpu_program *grout_gpu_program_new(const grout_module *bound,
                                                   grout_kernel_id kernel,
                                                   const grout_gpu_kernel_options *options,
                                                   grout_diags *diags);

/* Whether a stream may be captured during a launch: not if the kernel has workspaces. */
GROUT_API bool grout_gpu_program_is_capturable(const grout_gpu_program *program);

/*
 * As grout_gpu_kernel_launch, in the context of the stream, which is made current for the call if
 * another one is, or none. The first launch in a context loads the kernel there; a capturable
 * kernel also if the stream is being captured. Several OS threads may launch at the same time.
 */
GROUT_API bool grout_gpu_program_launch(grout_gpu_program *program, const grout_argument *arguments,
                                        size_t argument_count, void *stream, grout_diags *diags);

/* Copies bytes of the device, in the order of a stream and in its context: for an 'inout' array
 * that a launch is to leave as it is. */
GROUT_API bool grout_gpu_program_copy(grout_gpu_program *program, void *to, const void *from,
                                      size_t size, void *stream, grout_diags *diags);

/* Unloads the kernel from every context, as grout_gpu_kernel_free. NULL is allowed. */
GROUT_API void grout_gpu_program_free(grout_gpu_program *program);

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
