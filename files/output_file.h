/*
 * output_file.h - the one way in which grout writes a file: whole, or not at all.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The bytes go into a file without a name in the same folder, which replaces the old one in one
 * step, so that a process that is killed leaves nothing, and a reader sees the old bytes or all of
 * the new ones. Where the file system has no files without a name, it has a name of its own until
 * then. Only where nothing can be put in the place of a file is it written in place.
 */
#ifndef GROUT_FILES_OUTPUT_FILE_H
#define GROUT_FILES_OUTPUT_FILE_H

#include "grout-internal/diagnose.h"

/* A piece of what is written; borrowed. */
typedef struct grout_output_part {
    const void *data;
    size_t size;
} grout_output_part;

/* The folder of a process, for paths that are relative to it. */
#define GROUT_OUTPUT_HERE (-1)

typedef struct grout_output_file {
    int folder;       /* an open folder that the path is relative to, or GROUT_OUTPUT_HERE */
    const char *path; /* borrowed, as all of it */
    const grout_output_part *parts;
    size_t count;
    /* A file of a folder of grout's own, which can be made again: for its owner alone, not synced,
     * and in the place of whatever is there, of a link too. */
    bool is_cached;
    /* Called with the name of a temporary when there is one, and with NULL when it is gone: what
     * ends the process removes it. The folder is as for the path. NULL: nobody wants to know. */
    void (*note_temporary)(int folder, const char *name);
    /* Asked now and then while a pipe has no reader, or takes no more bytes; false ends the
     * writing, without a reason. NULL: it is waited for. */
    bool (*goes_on)(void *payload);
    void *payload;
} grout_output_file;

/*
 * Replaces the file, or makes it. A link stays, and what it leads to is replaced or made. Devices,
 * pipes and what /proc/.../fd names are written through. Who owns a file and who may use it stays;
 * a file that cannot be written by itself is not replaced either. False: a reason, and the file is
 * as before, also where the disk is full.
 */
bool grout_output_file__write(const grout_output_file *file, grout_text *reason);

/* Whether that has a chance; writes nothing. */
bool grout_output_file__can_write(const char *path, grout_text *reason);

/* Whether two paths name one plain file, or would; what is written through is never lost. */
bool grout_output_file__is_same(const char *a, const char *b);

#endif
