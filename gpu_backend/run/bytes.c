/* bytes.c - whole reads and writes of files and pipes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

#include <errno.h>
#include <unistd.h>

bool grout_gpu__read_all(int file, void *to, size_t size) {
    char *at = to;
    while (size > 0) {
        const ssize_t count = read(file, at, size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        at += count;
        size -= (size_t)count;
    }
    return true;
}

bool grout_gpu__write_all(int file, const void *from, size_t size) {
    const char *at = from;
    while (size > 0) {
        const ssize_t count = write(file, at, size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        at += count;
        size -= (size_t)count;
    }
    return true;
}
