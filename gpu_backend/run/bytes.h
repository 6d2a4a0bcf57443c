/* bytes.h - whole reads and writes of files and pipes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_GPU_BYTES_H
#define GROUT_GPU_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* All size bytes, however often a signal interrupts; false at an error or the end of the file. */
bool grout_gpu__read_all(int file, void *to, size_t size);
bool grout_gpu__write_all(int file, const void *from, size_t size);

#endif
