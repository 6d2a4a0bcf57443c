/* beside_posix.c - a file that another file names: found in the folder of that one, or not at all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "beside_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a name leads out of the folder that it starts in, by what is written alone. */
static bool leads_out(const char *name) {
    int64_t depth = 0;
    if (name[0] == '/') {
        return true;
    }
    for (const char *at = name; *at != '\0' && depth >= 0;) {
        size_t size = strcspn(at, "/");
        bool is_up = size == 2 && memcmp(at, "..", 2) == 0;
        bool is_here = size == 0 || (size == 1 && at[0] == '.');
        depth += is_up ? -1 : is_here ? 0 : 1;
        at += size + (at[size] == '/' ? 1 : 0);
    }
    return depth < 0;
}

/* The folder of a file without links, without the last slash; NULL: there is none. */
static char *find_folder(const char *owner) {
    char *path = strcmp(owner, "-") == 0 ? NULL : realpath(owner, NULL);
    char *slash = path == NULL ? NULL : strrchr(path, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    return path;
}

/* The path of what the folder holds, without links; NULL: it is not there, or elsewhere. */
static char *find_inside(const char *folder, const char *name) {
    grout_text joined = {0};
    size_t size = strlen(folder);
    grout_text_add(&joined, "%s/%s", folder, name);
    char *path = joined.failed ? NULL : realpath(joined.data, NULL);
    grout_text_free(&joined);
    if (path != NULL && (strncmp(path, folder, size) != 0 || path[size] != '/')) {
        free(path);
        path = NULL;
    }
    return path;
}

/* No link is followed and no pipe waited for: the path may be another by now. */
static int open_regular(const char *path, grout_text *reason) {
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        grout_text_add(reason, "%s", strerror(errno));
    } else if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        grout_text_add(reason, "it is not a regular file");
        (void)close(file);
        file = -1;
    }
    return file;
}

int grout_beside_posix__open(const char *owner, const char *name, grout_text *reason) {
    if (leads_out(name)) {
        grout_text_add(reason, "it lies outside the folder of the kernel file");
        return -1;
    }
    char *folder = find_folder(owner);
    char *path = folder == NULL ? NULL : find_inside(folder, name);
    int file = -1;
    if (folder == NULL) {
        grout_text_add(reason, "the kernel is from no file, so nothing lies beside it");
    } else if (path == NULL) {
        grout_text_add(reason, "the folder of the kernel file has no such file");
    } else {
        file = open_regular(path, reason);
    }
    free(folder);
    free(path);
    return file;
}
