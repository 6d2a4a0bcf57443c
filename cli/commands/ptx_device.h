/* ptx_device.h - 'grout run --device ptx': the kernel's PTX on the machine of grout/ptx.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_PTX_DEVICE_H
#define GROUT_CLI_PTX_DEVICE_H

#include "session.h"

#include "grout-internal/gpu.h"
#include "grout/ptx.h"

/* One order of what may happen in any order. */
typedef struct grout_ptx_interleaving {
    uint64_t seed;
    grout_ptx_timing timing;
    const char *timing_text; /* as --timing takes it */
} grout_ptx_interleaving;

/* The number-th of --interleavings: seeds from --seed on, and the timings in turn unless --timing
 * names one. */
grout_ptx_interleaving grout_ptx_interleaving__get(const grout_session *session, uint64_t number);

/* The code of a list of launches, and their arguments as they are at first. */
typedef struct grout_ptx_device grout_ptx_device;

/* Emits each kernel, and has NVRTC make PTX of it. The launches are borrowed. NULL: diagnostics. */
grout_ptx_device *grout_ptx_device__new(grout_session *session, const grout_gpu_launch *launch);
void grout_ptx_device__free(grout_ptx_device *device);
/*
 * Puts the arguments back to what they were at first, and runs one launch after the other. True:
 * the outputs are in the arguments' data.
 */
bool grout_ptx_device__run(grout_ptx_device *device, grout_ptx_interleaving order,
                           grout_gpu_result *result_out);
/* Says on stderr how much all runs have done. */
void grout_ptx_device__note_work(const grout_ptx_device *device);

#endif
