/*
 * proof.h - what the parts of tools/gpu/proof share: compiling proof_add_tma.cu with its macros
 * set, and the launch that goes with them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_PROOF_H
#define GROUT_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "cache.h"
#include "launch.h"
#include "nvrtc.h"

#define PROOF_POISON 0x7f800001u

/* What proof_add_tma.cu takes as macros, and how its tensor maps promote to L2. */
typedef struct proof_variant {
    uint32_t xb, yb, buf, out;
    uint32_t hint, drop_commit;
    uint32_t order, steps; /* order 1: steps is the number of CTAs */
    grout_gpu_l2_promotion l2;
    bool all_barriers, watchdog;
    uint32_t arrivals; /* 0 means 2 */
} proof_variant;

typedef struct proof_tools {
    grout_gpu_nvrtc nvrtc;
    grout_gpu_cache cache;
    const char *source_directory;
    int failures;
    int hits, misses; /* of the cache */
} proof_tools;

double proof_seconds(void);
/* Zeroed memory; ends the program without. */
void *proof_allocate(size_t size);
void proof_report(proof_tools *t, bool ok, const char *what, const char *detail);
/* Both end the program, with the log, if NVRTC refuses. */
grout_gpu_compiled proof_compile(proof_tools *t, const char *name, const char *const *options,
                                 uint32_t option_count);
grout_gpu_compiled proof_compile_variant(proof_tools *t, const proof_variant *v, uint32_t x,
                                         uint32_t y);
uint32_t proof_smem_bytes(const proof_variant *v);
/* The step that adds buffers 0 and 1 into 2; params has room for 4. */
grout_gpu_step proof_make_add(const proof_variant *v, uint32_t x, uint32_t y,
                              grout_gpu_param *params);

/* proof_num.c: the device's arithmetic and casts against the host's; compile_only runs nothing. */
void proof_num(proof_tools *t, bool compile_only);
/* proof_speed.c: checks and times many variants at 32768 x 32768; compile_only runs nothing. */
void proof_speed(proof_tools *t, bool compile_only);

#endif
