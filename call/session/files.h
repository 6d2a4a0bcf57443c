/* files.h - which files a call reads and writes, and that none of them is lost.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_FILES_H
#define GROUT_CALL_FILES_H

#include "session.h"

/* Where FILE.npy ends and ':...' follows, or the size of the whole text. */
size_t grout_files__get_npy_size(const char *text);
/*
 * Before anything runs: whether no option writes over a file that the call reads, or that another
 * option writes, under whatever names. False: bad-option diagnostics. 'fmt -i' rewrites its files.
 */
bool grout_files__check(grout_session *session);
/* The same for a file whose name is known only now, such as KERNEL.schedule. */
bool grout_files__may_write(grout_session *session, const char *path);

/* Names of files. Zero-initialise; free with grout_file_list__deinit. */
typedef struct grout_file_list {
    char **paths; /* of the list itself */
    size_t count;
} grout_file_list;

/* The files that the call reads: kernels, arrays, schedules, rules. False: no memory. */
bool grout_files__list_read(grout_session *session, grout_file_list *out);
void grout_file_list__deinit(grout_file_list *list);

#endif
