/*
 * cache.h - compiled kernels on disk, so that a kernel compiles once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A directory of files, one a compilation, named by a hash of everything that goes into it.
 * Whatever is wrong with a file makes it a miss. Several processes may use one directory.
 */
#ifndef GROUT_GPU_CACHE_H
#define GROUT_GPU_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "nvrtc.h"

#define GROUT_GPU_CACHE_SIZE_MAX (UINT64_C(1) << 30) /* bytes of all files together */

/* Zero-initialise; grout_gpu__cache_close gives it back. */
typedef struct grout_gpu_cache {
    int directory; /* descriptor; valid while is_open */
    bool is_open;
    uint64_t size_max;
    grout_gpu_error problem; /* why the last compilation was not written; code 0: it was */
} grout_gpu_cache;

/*
 * Opens the directory, making it (mode 0700) and its parents where they are missing. size_max 0
 * means GROUT_GPU_CACHE_SIZE_MAX. Fails with file-unwritable; also when others could write there,
 * since what lies there is going to be run.
 */
bool grout_gpu__cache_open(grout_gpu_cache *cache, const char *path, uint64_t size_max,
                           grout_gpu_error *error);
void grout_gpu__cache_close(grout_gpu_cache *cache);

/* The hash of a compilation, as 32 hexadecimal digits. */
typedef struct grout_gpu_cache_key {
    char text[33];
} grout_gpu_cache_key;

/* XXH3-128 of the source, its headers, the options and the compiler's version. Fails only without
 * memory. */
bool grout_gpu__cache_key_of(const grout_gpu_source *source, const grout_gpu_nvrtc *nvrtc,
                             grout_gpu_cache_key *out, grout_gpu_error *error);

/* Reads a compilation; false is a miss, out then holds nothing. A hit makes the file the newest. */
bool grout_gpu__cache_find(const grout_gpu_cache *cache, const grout_gpu_cache_key *key,
                           grout_gpu_compiled *out);
/* Writes a compilation, whole or not at all, and removes the files unused for longest until the
 * rest fits. */
bool grout_gpu__cache_add(const grout_gpu_cache *cache, const grout_gpu_cache_key *key,
                          const grout_gpu_compiled *compiled, grout_gpu_error *error);

typedef struct grout_gpu_cache_usage {
    uint64_t file_count, size; /* bytes */
} grout_gpu_cache_usage;

/* What is in the cache. */
bool grout_gpu__cache_measure(const grout_gpu_cache *cache, grout_gpu_cache_usage *out,
                              grout_gpu_error *error);
/* Removes every file of the cache's own and says what that was. */
bool grout_gpu__cache_clear(const grout_gpu_cache *cache, grout_gpu_cache_usage *out,
                            grout_gpu_error *error);

/* Compiles through the cache (NULL: without). A cache that cannot be written is no failure: its
 * problem says why. is_hit may be NULL. */
bool grout_gpu__cache_compile(grout_gpu_cache *cache, const grout_gpu_nvrtc *nvrtc,
                              const grout_gpu_source *source, grout_gpu_compiled *out, bool *is_hit,
                              grout_gpu_error *error);

#endif
