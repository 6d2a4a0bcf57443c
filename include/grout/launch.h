/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - a kernel on a GPU.
 *
 * A launch needs a GPU and its driver, which is opened at run time, on first use, as NVRTC is.
 * Nothing here reads the environment or prints.
 *
 * There are two ways to launch. grout_gpu_run takes arrays of the host and works in a child
 * process, with a watchdog: for tests and comparisons. grout_gpu_kernel_launch takes arrays of the
 * device and works in the caller's process, context and stream: for programs that use CUDA
 * themselves.
 */
#ifndef GROUT_LAUNCH_H
#define GROUT_LAUNCH_H

#include "grout/emit.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Unloads the kernel from every context, as grout_gpu_kernel_free. NULL is allowed. */
GROUT_API void grout_gpu_program_free(grout_gpu_program *program);

#ifdef __cplusplus
}
#endif
#endif
