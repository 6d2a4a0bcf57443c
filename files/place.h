/*
 * place.h - where a path that is written to leads, links followed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_FILES_PLACE_H
#define GROUT_FILES_PLACE_H

#include "grout-internal/diagnose.h"

#include <sys/stat.h>

typedef enum place_kind {
    PLACE_FAILED,  /* errno says why */
    PLACE_NEW,     /* nothing is there yet */
    PLACE_PLAIN,   /* a plain file */
    PLACE_FOLDER,  /* a folder, or the name of one that is not there */
    PLACE_THROUGH, /* a device, a pipe, a socket, what /proc/.../fd names: nothing to replace */
} place_kind;

typedef struct place {
    place_kind kind;
    grout_text path;  /* of the end, relative to the same folder */
    int descriptor;   /* of THROUGH: it is this one of the process; -1: it is to be opened */
    struct stat info; /* of what is there: PLAIN and THROUGH */
} place;

/* Follows a path from an open folder (GROUT_OUTPUT_HERE: that of the process). Free with
 * grout_place__deinit. */
void grout_place__find(place *out, int folder, const char *path);
/* Takes a path as it is, whatever is there: PLACE_NEW. */
void grout_place__take(place *out, const char *path);
void grout_place__deinit(place *p);

/* The folder of the end as an open file, or -1 with errno; and the name in it. */
int grout_place__open_folder(const place *p, int folder);
const char *grout_place__get_name(const place *p);
/* Appends the path of the folder. */
void grout_place__add_folder(const place *p, grout_text *out);

/* The number that the system has for an open folder. */
int grout_place__get_base(int folder);

#endif
