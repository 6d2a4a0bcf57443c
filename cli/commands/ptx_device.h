/* ptx_device.h - 'grout run --device ptx': the kernel's PTX on the machine of grout/ptx.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_PTX_DEVICE_H
#define GROUT_CLI_PTX_DEVICE_H

#include "session.h"

#include "grout/gpu.h"

/*
 * As grout_gpu_run: emits the kernel, has NVRTC make PTX of it, and runs that here, in an order and
 * with a timing that --seed and --timing choose. True: the outputs are in the arguments' data. A
 * launch list runs one launch after the other.
 */
bool grout_ptx_device__run(grout_session *session, const grout_gpu_launch *launch,
                           grout_gpu_result *result_out);

#endif
