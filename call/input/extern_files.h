/* extern_files.h - the functions that extern_elementwise calls: --extern.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_EXTERN_FILES_H
#define GROUT_CALL_EXTERN_FILES_H

#include "session.h"

typedef struct grout_extern_files {
    const grout_host *host; /* that has opened the libraries */
    void **libraries;
    size_t library_count;
    grout_externs
        *functions;    /* of the libraries that the module calls; NULL: no library is named */
    grout_text source; /* CUDA; of each file after a #line with its name */
    const grout_given *given; /* whose functions come first; NULL: none */
} grout_extern_files;

/* Opens the libraries and reads the sources of --extern, for a verified module. False:
 * diagnostics. Deinit even then. */
bool grout_extern_files__read(grout_session *session, const grout_module *bound,
                              grout_extern_files *out);
/* For launch.externs and launch.extern_count. */
const grout_extern *grout_extern_files__get(const grout_extern_files *files, uint32_t *count_out);
void grout_extern_files__deinit(grout_extern_files *files);

#endif
