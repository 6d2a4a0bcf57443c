/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - what the command and the doors need of the GPU backend beside emit.h and launch.h.
 */
#ifndef GROUT_INTERNAL_GPU_H
#define GROUT_INTERNAL_GPU_H

#include "grout-internal/text.h"
#include "grout/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An access of SMEM by registers, as the emitted code makes it: of its parts that the hardware
 * takes at once, the one that asks some bank for most words. */
typedef struct grout_bank_use {
    grout_place place; /* of the operation; borrowed from the module */
    grout_object_id object;
    uint32_t passes;            /* that this part takes; 1: its words lie in different banks */
    uint8_t words[GROUT_BANKS]; /* that it asks each bank for */
} grout_bank_use;

/* Who hears of each access of SMEM by registers, with or without conflicts: grout_emit_options. */
typedef struct grout_bank_listener {
    void (*note)(void *payload, const grout_bank_use *use);
    void *payload;
} grout_bank_listener;

/* False if the kernel calls functions and there is no source for them, so that the text cannot be
 * compiled: extern-missing. */
bool grout_emit_check_externs(const grout_module *bound, grout_kernel_id kernel,
                              const char *extern_source, grout_diags *diags);

/* A self-contained launcher .cpp for nvcc: allocates, encodes the tensor maps, launches. */
bool grout_emit_host(const grout_module *bound, grout_kernel_id kernel, grout_text *out,
                     grout_diags *diags);

/* The same for the launch list of the module, over one cubin with all its kernels. */
bool grout_emit_host_list(const grout_module *bound, grout_text *out, grout_diags *diags);

/*
 * Which operations on barriers and semaphores of a kernel of a bound, verified module release or
 * acquire beyond their CTA in the CUDA: a fence of the whole GPU, or an emptied L1 cache, each
 * time. is_wide_out: by op, an entry for each of the module. False, with a reason, if the backend
 * cannot express the kernel.
 */
bool grout_gpu_find_wide_orders(const grout_module *bound, grout_kernel_id kernel,
                                bool *is_wide_out, grout_diags *diags);

/* Removes every file of the cache; false with a reason. */
bool grout_cache_clear(const char *cache_dir, grout_diags *diags);

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
bool grout_binary_get_resources(const grout_binary *binary, const grout_module *bound,
                                grout_kernel_id kernel, grout_resources *resources_out,
                                grout_diags *diags);
/*
 * Adds a warning (gpu-loss) for each loss of speed that the assembler reports: spilled registers,
 * wgmmas that it runs one after another, a set_max_registers without effect; with cause and remedy.
 * False if the binary's log says nothing of the kernel.
 */
bool grout_binary_report_losses(const grout_binary *binary, const grout_module *bound,
                                grout_kernel_id kernel, grout_diags *diags);
/* What 'grout doctor' shows. True if a launch could work; out says what is found and what is not.
 */
bool grout_gpu_describe(const grout_nvrtc_options *options, grout_text *out);

/* Whether a stream may be captured during a launch: not if the kernel has workspaces. */
bool grout_gpu_program_is_capturable(const grout_gpu_program *program);

/*
 * As grout_gpu_kernel_launch, in the context of the stream, which is made current for the call if
 * another one is, or none. The first launch in a context loads the kernel there; a capturable
 * kernel also if the stream is being captured. Several OS threads may launch at the same time.
 */
bool grout_gpu_program_launch(grout_gpu_program *program, const grout_argument *arguments,
                              size_t argument_count, void *stream, grout_diags *diags);

/* Copies bytes of the device, in the order of a stream and in its context: for an 'inout' array
 * that a launch is to leave as it is. */
bool grout_gpu_program_copy(grout_gpu_program *program, void *to, const void *from, size_t size,
                            void *stream, grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
