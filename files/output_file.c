/* output_file.c - see output_file.h. It takes what Linux has, and works with less.
 * SPDX-License-Identifier: Apache-2.0 */
#include "output_file.h"

#include "alloc.h"
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/random.h>
#include <sys/xattr.h>
#define ACL "system.posix_acl_access"
#endif

#define TEMPORARY ".grout-"
#define LOOK_EACH 50 /* milliseconds between two questions */
enum { NAME_SIZE = sizeof TEMPORARY + 12, TRIES_MAX = 100 };

/* How a file is written, and what came of it. */
typedef enum outcome {
    OUTCOME_DONE,
    OUTCOME_FAILED, /* errno says why */
    OUTCOME_OTHER   /* not in this way: the next one may do */
} outcome;

typedef struct writer {
    const grout_output_file *file;
    place to;
    int folder;   /* of the end; -1: it is not open */
    int old;      /* what is there, open; -1: nothing */
    bool is_torn; /* neither the old bytes nor the new ones are all there */
} writer;

static bool fail(grout_text *reason, int code) {
    grout_text_add(reason, "%s", strerror(code));
    return false;
}

/* Closes; what errno is stays. */
static void close_quietly(int file) {
    int code = errno;
    if (file >= 0) {
        (void)close(file);
    }
    errno = code;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static bool write_all(int file, const char *data, size_t size) {
    while (size > 0) {
        /* Linux writes at most 2 GiB at once. */
        size_t part = size > (1u << 30) ? (1u << 30) : size;
        ssize_t done = write(file, data, part);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            errno = done == 0 ? EIO : errno;
            return false;
        }
        data += done;
        size -= (size_t)done;
    }
    return true;
}

static bool write_parts(const grout_output_file *output, int file) {
    bool is_good = true;
    for (size_t i = 0; i < output->count && is_good; i++) {
        is_good = write_all(file, output->parts[i].data, output->parts[i].size);
    }
    return is_good;
}

static uint64_t count_bytes(const grout_output_file *output) {
    uint64_t total = 0;
    for (size_t i = 0; i < output->count; i++) {
        total += output->parts[i].size;
    }
    return total;
}

/* ---- a file that takes the place ------------------------------------------------------------ */

#ifdef __linux__
/* Whether the new one may be used by the same others as the old one. */
static bool keep_list(int file, int old) {
    char list[4096];
    ssize_t size = fgetxattr(old, ACL, list, sizeof list);
    if (size > 0) {
        return fsetxattr(file, ACL, list, (size_t)size, 0) == 0;
    }
    /* The folder may have given it one. */
    return errno == ERANGE ? false : fremovexattr(file, ACL) == 0 || errno != EPERM;
}
#else
static bool keep_list(int file, int old) {
    (void)file;
    (void)old;
    return true;
}
#endif

/* Gives a file the owner and the permissions of the one whose place it takes. */
static bool keep_rights(int file, int old) {
    struct stat is, was;
    if (fstat(file, &is) != 0 || fstat(old, &was) != 0) {
        return false;
    }
    bool is_same = is.st_uid == was.st_uid && is.st_gid == was.st_gid;
    return (is_same || fchown(file, was.st_uid, was.st_gid) == 0) && keep_list(file, old) &&
           fchmod(file, was.st_mode & 0777) == 0;
}

/* Before it is known who it is for, nobody else reads it. */
static mode_t get_mode(const writer *w) {
    return w->old >= 0 || w->file->is_cached ? 0600 : 0666;
}

/* All of a file but its name. */
static outcome fill(const writer *w, int file) {
    if (w->old >= 0 && !keep_rights(file, w->old)) {
        return OUTCOME_OTHER;
    }
    bool is_good = write_parts(w->file, file) && (w->file->is_cached || fsync(file) == 0);
    return is_good ? OUTCOME_DONE : OUTCOME_FAILED;
}

/* So that the new name survives a power failure too; a folder that cannot be synced is no fault. */
static void sync_folder(const writer *w) {
    int file = w->file->is_cached ? -1 : openat(w->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        (void)fsync(file);
        (void)close(file);
    }
}

static void note(const writer *w, const char *name) {
    if (w->file->note_temporary != NULL) {
        w->file->note_temporary(w->folder, name);
    }
}

/* A name that no other process has. */
static void draw_name(char name[static NAME_SIZE]) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    unsigned char random[NAME_SIZE - sizeof TEMPORARY] = {0};
#ifdef __linux__
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        const pid_t process = getpid();
        memcpy(random, &process, sizeof process);
    }
#else
    arc4random_buf(random, sizeof random);
#endif
    memcpy(name, TEMPORARY, sizeof TEMPORARY);
    for (size_t i = 0; i < sizeof random; i++) {
        name[sizeof TEMPORARY - 1 + i] = letters[random[i] % 32];
    }
    name[NAME_SIZE - 1] = '\0';
}

/* Whether another process has to go on without a new name in the folder, or over the old file. */
static bool needs_other_way(const writer *w, int code) {
    return w->old >= 0 && (code == EACCES || code == EPERM || code == EROFS || code == EBUSY ||
                           code == EXDEV || code == ENOTSUP);
}

/* A temporary becomes the file. */
static outcome take_place(const writer *w, const char *name) {
    bool is_good = renameat(w->folder, name, w->folder, grout_place__get_name(&w->to)) == 0;
    int code = errno;
    if (!is_good) {
        (void)unlinkat(w->folder, name, 0);
    }
    note(w, NULL);
    if (is_good) {
        sync_folder(w);
        return OUTCOME_DONE;
    }
    errno = code;
    return needs_other_way(w, code) ? OUTCOME_OTHER : OUTCOME_FAILED;
}

#if defined(O_TMPFILE) && !defined(GROUT_OUTPUT_NAMED) /* that is for a test */
/* Gives a file without a name one. False: errno. */
static bool name_it(const writer *w, int file, const char *name) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return linkat(AT_FDCWD, path, w->folder, name, AT_SYMLINK_FOLLOW) == 0;
}

static outcome put_unnamed(const writer *w, int file) {
    char name[NAME_SIZE];
    if (w->old < 0 && name_it(w, file, grout_place__get_name(&w->to))) {
        sync_folder(w);
        return OUTCOME_DONE;
    }
    for (int i = 0; i < TRIES_MAX; i++) {
        draw_name(name);
        note(w, name);
        if (name_it(w, file, name)) {
            return take_place(w, name);
        }
        note(w, NULL);
        if (errno != EEXIST) {
            break;
        }
    }
    /* Without /proc there is no name for it. */
    return errno == ENOSPC || errno == EDQUOT || errno == EIO ? OUTCOME_FAILED : OUTCOME_OTHER;
}

static outcome write_unnamed(const writer *w) {
    int file = openat(w->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, get_mode(w));
    if (file < 0) {
        return OUTCOME_OTHER; /* a file with a name says why, if that cannot be either */
    }
    outcome end = fill(w, file);
    end = end == OUTCOME_DONE ? put_unnamed(w, file) : end;
    close_quietly(file);
    return end;
}
#else
static outcome write_unnamed(const writer *w) {
    (void)w;
    return OUTCOME_OTHER;
}
#endif

static int make_temporary(const writer *w, char name[static NAME_SIZE]) {
    int file = -1;
    for (int i = 0; i < TRIES_MAX && file < 0; i++) {
        draw_name(name);
        note(w, name);
        file = openat(w->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                      get_mode(w));
        if (file < 0) {
            note(w, NULL);
            if (errno != EEXIST) {
                break;
            }
        }
    }
    return file;
}

static outcome write_named(const writer *w) {
    char name[NAME_SIZE];
    int file = make_temporary(w, name);
    if (file < 0) {
        return needs_other_way(w, errno) ? OUTCOME_OTHER : OUTCOME_FAILED;
    }
    outcome end = fill(w, file);
    /* Some file systems say only here that there is no room. */
    close_quietly(-1);
    if (close(file) != 0 && end == OUTCOME_DONE) {
        end = OUTCOME_FAILED;
    }
    if (end == OUTCOME_DONE) {
        return take_place(w, name);
    }
    int code = errno;
    (void)unlinkat(w->folder, name, 0);
    note(w, NULL);
    errno = code;
    return end;
}

/* ---- a file that is written in place -------------------------------------------------------- */

/* Whether all the bytes can lie where the old ones do: asked before the first is lost. */
static bool has_room(int file, uint64_t size) {
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
        size > most.rlim_cur) {
        errno = EFBIG;
        return false;
    }
#ifdef FALLOC_FL_KEEP_SIZE
    if (size > 0 && fallocate(file, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) != 0) {
        return errno != ENOSPC && errno != EDQUOT && errno != EFBIG;
    }
#endif
    return true;
}

/* What a file holds, as far as it can be read: to be put back. */
static char *read_old(int file, size_t *size_out) {
    struct stat info;
    *size_out = 0;
    if (fstat(file, &info) != 0 || info.st_size <= 0) {
        return NULL;
    }
    char *data = grout__new(NULL, (size_t)info.st_size, 1);
    while (data != NULL && *size_out < (size_t)info.st_size) {
        ssize_t got =
            pread(file, data + *size_out, (size_t)info.st_size - *size_out, (off_t)*size_out);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            grout__free(data);
            return NULL;
        }
        *size_out += (size_t)got;
    }
    return data;
}

static bool write_over(const writer *w) {
    uint64_t size = count_bytes(w->file);
    return lseek(w->old, 0, SEEK_SET) == 0 && write_parts(w->file, w->old) &&
           ftruncate(w->old, (off_t)size) == 0 && (w->file->is_cached || fsync(w->old) == 0);
}

static bool put_back(const writer *w, const char *data, size_t size) {
    return data != NULL && lseek(w->old, 0, SEEK_SET) == 0 && write_all(w->old, data, size) &&
           ftruncate(w->old, (off_t)size) == 0;
}

/* The old bytes come back if the new ones cannot all be written. A process that is killed meanwhile
 * leaves a part of both: there is no other way here. */
static outcome write_in_place(writer *w) {
    if (!has_room(w->old, count_bytes(w->file))) {
        return OUTCOME_FAILED;
    }
    size_t size = 0;
    char *data = read_old(w->old, &size);
    bool is_good = write_over(w);
    int code = errno;
    w->is_torn = !is_good && !put_back(w, data, size);
    grout__free(data);
    errno = code;
    return is_good ? OUTCOME_DONE : OUTCOME_FAILED;
}

/* ---- what is written through ---------------------------------------------------------------- */

/* A descriptor of the process goes on where it is. */
static int open_through(const writer *w) {
    if (w->to.descriptor >= 0) {
        return fcntl(w->to.descriptor, F_DUPFD_CLOEXEC, 0);
    }
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (S_ISREG(w->to.info.st_mode) ? O_TRUNC : 0);
    return openat(grout_place__get_base(w->file->folder), w->to.path.data, flags);
}

/* Whether to wait on for the reader of a pipe. */
static bool waits(const grout_output_file *output) {
    const int code = errno;
    const bool goes_on = output->goes_on == NULL || output->goes_on(output->payload);
    errno = goes_on ? code : ECANCELED;
    return goes_on;
}

/* The same for a pipe, which may have no reader yet. */
static int await_reader(const writer *w) {
    const struct timespec pause = {.tv_nsec = (long)LOOK_EACH * 1000000};
    int file = -1;
    do {
        file = openat(grout_place__get_base(w->file->folder), w->to.path.data,
                      O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    } while (file < 0 && (errno == ENXIO || errno == EINTR) && waits(w->file) &&
             (nanosleep(&pause, NULL) == 0 || errno == EINTR));
    return file;
}

static bool write_pipe(const grout_output_file *output, int file, const char *data, size_t size) {
    while (size > 0) {
        ssize_t done = write(file, data, size);
        if (done < 0 && (errno == EINTR || errno == EAGAIN)) {
            struct pollfd ready = {.fd = file, .events = POLLOUT};
            if (!waits(output)) {
                return false;
            }
            (void)poll(&ready, 1, LOOK_EACH);
            continue;
        }
        if (done < 0) {
            return false;
        }
        data += done;
        size -= (size_t)done;
    }
    return true;
}

static bool write_pipe_parts(const grout_output_file *output, int file) {
    bool is_good = true;
    for (size_t i = 0; i < output->count && is_good; i++) {
        is_good = write_pipe(output, file, output->parts[i].data, output->parts[i].size);
    }
    return is_good;
}

static outcome write_through(const writer *w) {
    const bool is_pipe = w->to.descriptor < 0 && S_ISFIFO(w->to.info.st_mode);
    int file = is_pipe ? await_reader(w) : open_through(w);
    bool is_good =
        file >= 0 && (is_pipe ? write_pipe_parts(w->file, file) : write_parts(w->file, file));
    /* A reader that has seen enough is no fault. */
    is_good = is_good || (file >= 0 && errno == EPIPE);
    close_quietly(file);
    return is_good ? OUTCOME_DONE : OUTCOME_FAILED;
}

/* ---- a file --------------------------------------------------------------------------------- */

/* A user who may not write a file does not replace it. Reading is for what is written in place. */
static int open_old(const writer *w) {
    int base = grout_place__get_base(w->file->folder);
    int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
    int file = openat(base, w->to.path.data, O_RDWR | flags);
    return file < 0 && errno == EACCES ? openat(base, w->to.path.data, O_WRONLY | flags) : file;
}

static outcome write_plain(writer *w) {
    w->folder = grout_place__open_folder(&w->to, w->file->folder);
    w->old = w->folder >= 0 && w->to.kind == PLACE_PLAIN ? open_old(w) : -1;
    if (w->folder < 0 || (w->to.kind == PLACE_PLAIN && w->old < 0)) {
        return OUTCOME_FAILED;
    }
    outcome end = write_unnamed(w);
    end = end == OUTCOME_OTHER ? write_named(w) : end;
    if (end == OUTCOME_OTHER) {
        end = w->old >= 0 ? write_in_place(w) : OUTCOME_FAILED;
    }
    return end;
}

static bool explain(const place *p, int code, grout_text *reason) {
    grout_text folder = {0};
    if (p->kind == PLACE_FOLDER) {
        grout_text_add(reason, "it is a folder");
    } else if (code == ENOENT && p->kind == PLACE_NEW) {
        grout_place__add_folder(p, &folder);
        grout_text_add(reason, "the folder '%s' does not exist", folder.failed ? "" : folder.data);
    } else {
        (void)fail(reason, code);
    }
    grout_text_free(&folder);
    return false;
}

bool grout_output_file__write(const grout_output_file *file, grout_text *reason) {
    writer w = {.file = file, .folder = -1, .old = -1};
    outcome end = OUTCOME_FAILED;
    if (file->is_cached) {
        grout_place__take(&w.to, file->path);
    } else {
        grout_place__find(&w.to, file->folder, file->path);
    }
    if (w.to.kind == PLACE_THROUGH) {
        end = write_through(&w);
    } else if (w.to.kind == PLACE_NEW || w.to.kind == PLACE_PLAIN) {
        end = write_plain(&w);
    }
    int code = errno;
    if (end != OUTCOME_DONE && code != ECANCELED) {
        (void)explain(&w.to, code, reason);
        grout_text_add(reason, "%s", w.is_torn ? "; a part of it is overwritten" : "");
    }
    close_quietly(w.folder);
    close_quietly(w.old);
    grout_place__deinit(&w.to);
    return end == OUTCOME_DONE;
}

static bool can_write_there(const place *p) {
    if (p->kind == PLACE_THROUGH && p->descriptor >= 0) {
        int flags = fcntl(p->descriptor, F_GETFL);
        errno = flags < 0 ? errno : EBADF;
        return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    }
    if (p->kind == PLACE_THROUGH || p->kind == PLACE_PLAIN) {
        return faccessat(AT_FDCWD, p->path.data, W_OK, AT_EACCESS) == 0;
    }
    int folder = p->kind == PLACE_NEW ? grout_place__open_folder(p, GROUT_OUTPUT_HERE) : -1;
    bool is_good = folder >= 0 && faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) == 0;
    close_quietly(folder);
    return is_good;
}

bool grout_output_file__can_write(const char *path, grout_text *reason) {
    place p;
    grout_place__find(&p, GROUT_OUTPUT_HERE, path);
    bool is_good = can_write_there(&p) || explain(&p, errno, reason);
    grout_place__deinit(&p);
    return is_good;
}

static bool is_same_folder(const place *a, const place *b) {
    struct stat info_a, info_b;
    int folder_a = grout_place__open_folder(a, GROUT_OUTPUT_HERE);
    int folder_b = grout_place__open_folder(b, GROUT_OUTPUT_HERE);
    bool is_same = folder_a >= 0 && folder_b >= 0 && fstat(folder_a, &info_a) == 0 &&
                   fstat(folder_b, &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
                   info_a.st_ino == info_b.st_ino;
    close_quietly(folder_a);
    close_quietly(folder_b);
    return is_same;
}

static bool is_same_place(const place *a, const place *b) {
    if (a->kind != b->kind || a->kind == PLACE_FAILED || a->kind == PLACE_THROUGH) {
        return false;
    }
    if (a->kind == PLACE_NEW) {
        return strcmp(grout_place__get_name(a), grout_place__get_name(b)) == 0 &&
               is_same_folder(a, b);
    }
    return a->info.st_dev == b->info.st_dev && a->info.st_ino == b->info.st_ino;
}

bool grout_output_file__is_same(const char *a, const char *b) {
    place at_a, at_b;
    grout_place__find(&at_a, GROUT_OUTPUT_HERE, a);
    grout_place__find(&at_b, GROUT_OUTPUT_HERE, b);
    bool is_same = is_same_place(&at_a, &at_b) || (at_a.kind != PLACE_THROUGH && strcmp(a, b) == 0);
    grout_place__deinit(&at_a);
    grout_place__deinit(&at_b);
    return is_same;
}
