/* cmd_cache.c - grout cache: shows or empties the cache of compiled kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include <string.h>

typedef struct cache_size {
    uint64_t files, bytes;
} cache_size;

static void count_file(void *payload, const char *name, uint64_t size) {
    cache_size *total = payload;
    (void)name;
    total->files++;
    total->bytes += size;
}

static bool clear_cache(grout_session *session, const char *folder) {
    if (session->host->gpu == NULL) {
        return true;
    }
    bool is_cleared = session->host->gpu->cache_clear(folder, session->diags);
    if (is_cleared && !session->is_quiet) {
        grout_session__print(session, GROUT_STREAM_OUT, "%s: empty\n", folder);
    }
    return is_cleared;
}

static void show_cache(grout_session *session, const char *folder) {
    const grout_host *host = session->host;
    cache_size total = {0};
    grout_text reason = {0};
    if (!host->list(host->payload, folder, count_file, &total, &reason)) {
        grout_diags_add(session->diags, GROUT_DIAG_FILE_UNREADABLE, grout_nowhere,
                        "cannot read '%s': %s", folder, reason.data == NULL ? "?" : reason.data);
        grout_text_free(&reason);
        return;
    }
    grout_session__print(session, GROUT_STREAM_OUT, "%s: %llu files, %llu KiB\n", folder,
                         (unsigned long long)total.files, (unsigned long long)(total.bytes >> 10));
}

int grout_cmd_cache(grout_session *session) {
    const grout_options *options = &session->options;
    const char *action = options->argument_count > 0 ? options->arguments[0] : NULL;
    grout_text folder = {0}, ignored = {0};
    if (action != NULL && strcmp(action, "clear") != 0) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                        "'grout cache' takes 'clear' or nothing, not '%.200s'", action);
    } else if (!grout_cache__get_folder(session, &folder, &ignored)) {
        grout_diags_add(session->diags, GROUT_DIAG_FILE_UNREADABLE, grout_nowhere,
                        "there is no place for a cache: set GROUT_CACHE, XDG_CACHE_HOME or HOME");
        if (ignored.size > 0) {
            grout_diags_help(session->diags, "%s", ignored.data);
        }
    } else if (action != NULL) {
        (void)clear_cache(session, folder.data);
    } else {
        show_cache(session, folder.data);
    }
    if (folder.size > 0 && ignored.size > 0) {
        grout_session__note(session, "%s\n", ignored.data);
    }
    grout_text_free(&ignored);
    grout_text_free(&folder);
    grout_session__print_diags(session, GROUT_STREAM_ERR);
    return grout_session__get_exit_code(session);
}
