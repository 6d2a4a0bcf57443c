/* memory_host.h - the host of a call that touches nothing outside its process: files are texts in
 * memory, streams are texts too.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_DOORS_MEMORY_HOST_H
#define GROUT_DOORS_MEMORY_HOST_H

#include "host.h"

#include <stdatomic.h>

typedef struct grout_memory_file {
    char *name; /* owned */
    grout_text bytes;
} grout_memory_file;

typedef struct grout_memory_files {
    grout_memory_file *items;
    size_t count, capacity;
} grout_memory_files;

typedef struct grout_memory_host {
    grout_host host;
    const grout_memory_files *given; /* what the call may read; borrowed */
    grout_memory_files written;      /* what it has written, read before what is given */
    grout_text streams[2];           /* by grout_stream */
    /* Asked some times a second; false ends the call. NULL: nobody. */
    bool (*goes_on)(void *payload);
    void *payload;
    /* workers of a launch ask, too */
    _Atomic uint64_t asked; /* when, in milliseconds */
    atomic_bool is_over;
} grout_memory_host;

/* The host refers to itself: it stays where it is. */
void grout_memory_host__init(grout_memory_host *host, const grout_memory_files *given);
void grout_memory_host__deinit(grout_memory_host *host);
/* Whether the call is to go on: asks who was given for it, if the last time is long ago. */
bool grout_memory_host__goes_on(grout_memory_host *host);

/* Puts a file into the place of the one of this name, or beside the others. False without memory.
 */
bool grout_memory_files__put(grout_memory_files *files, const char *name, const void *data,
                             size_t size);
/* NULL: there is none of this name. */
const grout_memory_file *grout_memory_files__find(const grout_memory_files *files,
                                                  const char *name);
void grout_memory_files__deinit(grout_memory_files *files);

#endif
