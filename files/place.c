/* place.c - see place.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/vfs.h>
#define PROC_MAGIC 0x9fa0 /* of linux/magic.h, which not every system has */
#endif

enum { LINKS_MAX = 40 };

int grout_place__get_base(int folder) {
    return folder == GROUT_OUTPUT_HERE ? AT_FDCWD : folder;
}

const char *grout_place__get_name(const place *p) {
    const char *slash = strrchr(p->path.data, '/');
    return slash == NULL ? p->path.data : slash + 1;
}

void grout_place__add_folder(const place *p, grout_text *out) {
    size_t size = (size_t)(grout_place__get_name(p) - p->path.data);
    /* '/' stays, 'a/b' is 'a'. */
    grout_text_add_bytes(out, size == 0 ? "." : p->path.data, size <= 1 ? 1 : size - 1);
}

int grout_place__open_folder(const place *p, int folder) {
    grout_text path = {0};
    grout_place__add_folder(p, &path);
    int file = -1;
    if (path.failed) {
        errno = ENOMEM;
    } else {
#ifdef O_PATH /* also of a folder that cannot be read */
        file = openat(grout_place__get_base(folder), path.data, O_PATH | O_DIRECTORY | O_CLOEXEC);
#else
        file = openat(grout_place__get_base(folder), path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
#endif
    }
    grout_text_free(&path);
    return file;
}

/* ---- links that are no paths ---------------------------------------------------------------- */

#ifdef __linux__
/* Whether a link in this folder leads to an open file itself, and its text is for people alone. */
static bool is_magic(int folder) {
    struct statfs info;
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* O_PATH is not enough */
    bool is_proc = again >= 0 && fstatfs(again, &info) == 0 && info.f_type == PROC_MAGIC;
    if (again >= 0) {
        (void)close(again);
    }
    return is_proc;
}

/* The descriptor of this process that such a link names; -1: it names something else. */
static int get_own(int folder, const char *name) {
    struct stat here, own;
    char *end;
    long number = strtol(name, &end, 10);
    bool is_own = fstat(folder, &here) == 0 && stat("/proc/self/fd", &own) == 0 &&
                  here.st_dev == own.st_dev && here.st_ino == own.st_ino;
    return is_own && end != name && *end == '\0' && number >= 0 && number <= INT32_MAX ? (int)number
                                                                                       : -1;
}

static bool find_magic(place *p, int folder) {
    int inside = grout_place__open_folder(p, folder);
    bool is_found = inside >= 0 && is_magic(inside);
    if (is_found) {
        p->kind = PLACE_THROUGH;
        p->descriptor = get_own(inside, grout_place__get_name(p));
        if (fstatat(inside, grout_place__get_name(p), &p->info, 0) != 0) {
            p->kind = PLACE_FAILED;
        } else if (S_ISDIR(p->info.st_mode)) {
            p->kind = PLACE_FOLDER;
        }
    }
    int code = errno;
    if (inside >= 0) {
        (void)close(inside);
    }
    errno = code;
    return is_found;
}
#else
static bool is_magic(int folder) {
    (void)folder;
    return false;
}

static bool find_magic(place *p, int folder) {
    (void)p;
    (void)folder;
    return false;
}
#endif

/* ---- following ------------------------------------------------------------------------------ */

/* Puts what a link says into the place of its path. */
static bool follow(place *p, int folder) {
    char link[4096];
    ssize_t size = readlinkat(grout_place__get_base(folder), p->path.data, link, sizeof link);
    if (size < 0 || (size_t)size >= sizeof link) {
        errno = size < 0 ? errno : ENAMETOOLONG;
        return false;
    }
    grout_text next = {0};
    if (link[0] != '/') {
        grout_text_add_bytes(&next, p->path.data,
                             (size_t)(grout_place__get_name(p) - p->path.data));
    }
    grout_text_add_bytes(&next, link, (size_t)size);
    grout_text_free(&p->path);
    p->path = next;
    errno = next.failed ? ENOMEM : 0;
    return !next.failed;
}

/* Where nothing is, a file can be made, but no descriptor. */
static void look_at_nothing(place *p, int folder) {
    int inside = grout_place__open_folder(p, folder);
    bool is_descriptor = inside >= 0 && is_magic(inside);
    if (inside >= 0) {
        (void)close(inside);
    }
    p->kind = is_descriptor                         ? PLACE_FAILED
              : grout_place__get_name(p)[0] == '\0' ? PLACE_FOLDER
                                                    : PLACE_NEW;
    errno = is_descriptor ? EBADF : ENOENT;
}

/* One step. True: there is a link to follow. */
static bool look(place *p, int folder) {
    p->kind = PLACE_FAILED;
    if (fstatat(grout_place__get_base(folder), p->path.data, &p->info, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT && p->path.size > 0) {
            look_at_nothing(p, folder);
        }
        return false;
    }
    if (S_ISLNK(p->info.st_mode)) {
        return !find_magic(p, folder);
    }
    p->kind = S_ISDIR(p->info.st_mode)   ? PLACE_FOLDER
              : S_ISREG(p->info.st_mode) ? PLACE_PLAIN
                                         : PLACE_THROUGH;
    return false;
}

void grout_place__take(place *out, const char *path) {
    *out = (place){.descriptor = -1};
    grout_text_add(&out->path, "%s", path);
    out->kind = out->path.failed ? PLACE_FAILED : PLACE_NEW;
    errno = out->path.failed ? ENOMEM : 0;
}

void grout_place__find(place *out, int folder, const char *path) {
    grout_place__take(out, path);
    if (out->kind == PLACE_FAILED) {
        return;
    }
    for (int i = 0; look(out, folder); i++) {
        out->kind = PLACE_FAILED;
        if (i == LINKS_MAX) {
            errno = ELOOP;
            return;
        }
        if (!follow(out, folder)) {
            return;
        }
    }
}

void grout_place__deinit(place *p) {
    grout_text_free(&p->path);
    *p = (place){.descriptor = -1};
}
