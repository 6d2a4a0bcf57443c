/*
 * host.h - everything the command touches outside its own memory, as callbacks.
 *
 * main.c passes the real host (host_posix.c); tests and fuzzers pass one that lives in memory.
 * Functions that can fail return false with a reason in words ("No such file or directory").
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_CALL_HOST_H
#define GROUT_CALL_HOST_H

#include "grout-internal/grout.h"

#include "output_file.h"

typedef enum grout_stream { GROUT_STREAM_OUT, GROUT_STREAM_ERR } grout_stream;

/* Bytes on the heap, followed by a NUL that size does not count. Free with free(). */
typedef struct grout_bytes {
    char *data;
    size_t size;
} grout_bytes;

/* A piece of a file to be written. */
typedef grout_output_part grout_chunk;

/* The functions of gpu.h that open libraries, start processes or write the cache. */
typedef struct grout_host_gpu {
    bool (*compile_cuda)(const char *source, const char *kernel_name, grout_binary_kind kind,
                         const grout_nvrtc_options *options, grout_binary *binary_out,
                         grout_diags *diags);
    bool (*run)(const grout_gpu_launch *launch, grout_gpu_result *result_out, grout_diags *diags);
    bool (*describe)(const grout_nvrtc_options *options, grout_text *out);
    bool (*cache_clear)(const char *cache_dir, grout_diags *diags);
} grout_host_gpu;

/* The size of a whole file by its first bytes; 0: it is of another kind. */
typedef uint64_t grout_size_function(const char *head, size_t size);
#define GROUT_HEAD_SIZE (128u << 10)

/* Asked some times a second while the host waits, and between parts of what takes long; false ends
 * it. A NULL in its place waits for ever. */
typedef struct grout_waiting {
    bool (*goes_on)(void *payload);
    void *payload;
} grout_waiting;

/* How a file is read. */
typedef struct grout_reading {
    uint64_t size_max; /* more bytes are a failure */
    /*
     * NULL, or the first bytes say how long it is: asked once, with the first GROUT_HEAD_SIZE bytes
     * or all there are. 0, it is no such file: the rest is not read. One byte more than it says is
     * read at most if the file has no size of its own (a device, a pipe).
     */
    grout_size_function *get_size;
    const grout_waiting *waiting;
} grout_reading;

/* Files whose changes are waited for; each host has its own. */
typedef struct grout_watch grout_watch;

typedef struct grout_host {
    void *payload;
    /* The whole file, or all of stdin for "-". False without a reason: the waiting was ended. */
    bool (*read_file)(void *payload, const char *path, const grout_reading *what, grout_bytes *out,
                      grout_text *reason);
    /*
     * The same for a file that another file names, by any author: a regular file in the
     * folder of its owner or below, once links and '..' are resolved. Any other is refused, and
     * the reason does not tell whether it is there.
     */
    bool (*read_beside)(void *payload, const char *owner, const char *name,
                        const grout_reading *what, grout_bytes *out, grout_text *reason);
    /*
     * Replaces a file, or makes one, in one step: see output_file.h. A reader of the path sees the
     * old bytes or all of the new ones. A pipe is written once it has a reader; false without a
     * reason: the waiting for it was ended.
     */
    bool (*write_file)(void *payload, const char *path, const grout_chunk *chunks, size_t count,
                       const grout_waiting *waiting, grout_text *reason);
    /* Whether write_file has a chance; asked before a long run. */
    bool (*can_write)(void *payload, const char *path, grout_text *reason);
    /* Whether two paths name one plain file, or would; a device or a pipe is never lost. */
    bool (*is_same_file)(void *payload, const char *a, const char *b);
    /* Calls visit for every plain file of a folder, in sorted order. One that is not there is
     * empty. */
    bool (*list)(void *payload, const char *folder,
                 void (*visit)(void *visit_payload, const char *name, uint64_t size),
                 void *visit_payload, grout_text *reason);
    /* Bytes that nobody reads any more, as of a pipe whose reader has ended, count as written.
     * reason may be NULL. */
    bool (*write)(void *payload, grout_stream stream, const char *data, size_t size,
                  grout_text *reason);
    bool (*is_terminal)(void *payload, grout_stream stream);
    /* Asks on the terminal and reads a line of the answer, or what there is of it when the waiting
     * is ended. False: stdin or stderr is none, so there is nobody to ask. */
    bool (*ask)(void *payload, const char *question, const grout_waiting *waiting,
                grout_text *answer);
    /* Columns of the terminal that the stream is; 0: it is none, or does not say. */
    uint32_t (*get_columns)(void *payload, grout_stream stream);
    /* Seconds of a clock that never goes back. */
    double (*get_seconds)(void *payload);
    const char *(*get_env)(void *payload, const char *name);
    /* True once the user has pressed Ctrl-C, or somebody else has sent a signal to end it. */
    bool (*is_interrupted)(void *payload);
    /* Watches files, from now on: what changes before the first wait counts. NULL: no memory. */
    grout_watch *(*open_watch)(void *payload, const char *const *paths, size_t count);
    /* Waits until one of them is another than at the last wait: written, or replaced. False:
     * Ctrl-C, or nobody reads stdout any more. */
    bool (*wait_for_change)(void *payload, grout_watch *watch);
    void (*close_watch)(void *payload, grout_watch *watch);
    /* Bytes that arrays may take: the machine's memory; 0 if unknown. */
    uint64_t (*get_memory)(void *payload);
    /* What 'grout doctor' says of the machine: lines of 'name: value'. */
    void (*describe)(void *payload, grout_text *out);
    /* Opens a shared library: its code can be run from now on. NULL: a reason. All three may be
     * NULL: there are no libraries here. */
    void *(*open_library)(void *payload, const char *path, grout_text *reason);
    /* NULL: the library has no function of this name. */
    grout_any_function *(*find_function)(void *payload, void *library, const char *name);
    void (*close_library)(void *payload, void *library);
    const grout_host_gpu *gpu; /* NULL: no GPU, no NVRTC */
} grout_host;

/* Exit codes (docs/cli.md). */
enum {
    GROUT_EXIT_OK = 0,
    GROUT_EXIT_FINDING = 1,
    GROUT_EXIT_USAGE = 2,
    GROUT_EXIT_INCOMPLETE = 3,
    GROUT_EXIT_INTERNAL = 4,
    GROUT_EXIT_INTERRUPTED = 130
};

#endif
