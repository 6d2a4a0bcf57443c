/* host_posix.c - the real host: files, streams, environment and signals of this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host_posix.h"

#include "beside_posix.h"
#include "watch_posix.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The one thing that a signal handler may touch. */
static volatile sig_atomic_t was_interrupted;

/* ---- reading -------------------------------------------------------------------------------- */

static bool fail(grout_text *reason) {
    grout_text_add(reason, "%s", strerror(errno));
    return false;
}

/* A file that is read: what is known of it, and what has come. */
typedef struct reading {
    int file;
    uint64_t size_max;             /* more is a failure */
    uint64_t end;                  /* more is not read */
    grout_size_function *get_size; /* NULL, or it has been asked */
    bool is_plain;                 /* it has a size of its own */
    size_t plain_size;
    char *data;
    size_t size, capacity;
} reading;

static bool grow(reading *r, size_t capacity) {
    char *larger = realloc(r->data, capacity);
    r->data = larger != NULL ? larger : r->data;
    r->capacity = larger != NULL ? capacity : r->capacity;
    return larger != NULL;
}

/* Asks how long the file is, once its head is there. */
static void look_at_head(reading *r, bool is_at_end) {
    if (r->get_size == NULL || (r->size < GROUT_HEAD_SIZE && !is_at_end)) {
        return;
    }
    uint64_t size = r->get_size(r->data, r->size);
    r->get_size = NULL;
    if (size == 0) {
        r->end = 0;
    } else if (!r->is_plain) {
        r->end = size;
    } else if (r->plain_size + 2 > r->capacity) {
        (void)grow(r, r->plain_size + 2); /* at once; else step by step */
    }
}

/* Reads to the end. Room for a NUL is left. */
static bool read_all(reading *r, grout_text *reason) {
    bool is_at_end = false;
    while (!is_at_end && r->size <= r->end && r->size <= r->size_max) {
        if (r->size + 1 >= r->capacity &&
            (r->capacity > SIZE_MAX / 2 - 4096 || !grow(r, r->capacity * 2 + 4096))) {
            grout_text_add(reason, "not enough memory");
            return false;
        }
        size_t room = r->capacity - r->size - 1;
        room = r->get_size != NULL && room > GROUT_HEAD_SIZE ? GROUT_HEAD_SIZE : room;
        ssize_t got = read(r->file, r->data + r->size, room);
        /* A pipe may never end. A file does: whoever works on it afterwards sees the interrupt. */
        bool ends = was_interrupted && !r->is_plain;
        if (ends) {
            errno = EINTR;
        }
        if (got < 0 && errno == EINTR && !ends) {
            continue;
        }
        if (got < 0 || ends) {
            return fail(reason);
        }
        r->size += (size_t)got;
        is_at_end = got == 0;
        look_at_head(r, is_at_end);
    }
    if (r->size > r->size_max) {
        grout_text_add(reason, "it has more than %llu bytes", (unsigned long long)r->size_max);
        return false;
    }
    return true;
}

static bool read_open(reading *r, grout_bytes *out, grout_text *reason) {
    struct stat info;
    if (fstat(r->file, &info) != 0) {
        return fail(reason);
    }
    if (S_ISDIR(info.st_mode)) {
        grout_text_add(reason, "it is a folder");
        return false;
    }
    r->is_plain = S_ISREG(info.st_mode);
    uint64_t guess = r->is_plain && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    if (guess > r->size_max) {
        grout_text_add(reason, "it has more than %llu bytes", (unsigned long long)r->size_max);
        return false;
    }
    r->plain_size = (size_t)guess;
    /* With a byte to see the end by, and one for the NUL. A head comes before the rest has room. */
    guess = r->get_size != NULL && guess > GROUT_HEAD_SIZE ? GROUT_HEAD_SIZE : guess;
    if (!grow(r, (size_t)guess + 2)) {
        grout_text_add(reason, "not enough memory");
        return false;
    }
    if (!read_all(r, reason)) {
        return false;
    }
    r->data[r->size] = '\0';
    *out = (grout_bytes){.data = r->data, .size = r->size};
    r->data = NULL;
    return true;
}

/* Reads an open file, and closes it. */
static bool read_from(int file, uint64_t size_max, grout_size_function *get_size, grout_bytes *out,
                      grout_text *reason) {
    reading r = {.file = file, .size_max = size_max, .end = UINT64_MAX, .get_size = get_size};
    bool is_read = read_open(&r, out, reason);
    free(r.data);
    if (file != STDIN_FILENO) {
        (void)close(file);
    }
    return is_read;
}

static bool read_framed(void *payload, const char *path, uint64_t size_max,
                        grout_size_function *get_size, grout_bytes *out, grout_text *reason) {
    (void)payload;
    int file = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    return file < 0 ? fail(reason) : read_from(file, size_max, get_size, out, reason);
}

static bool read_beside(void *payload, const char *owner, const char *name, uint64_t size_max,
                        grout_size_function *get_size, grout_bytes *out, grout_text *reason) {
    (void)payload;
    int file = grout_beside_posix__open(owner, name, reason);
    return file >= 0 && read_from(file, size_max, get_size, out, reason);
}

static bool read_file(void *payload, const char *path, uint64_t size_max, grout_bytes *out,
                      grout_text *reason) {
    return read_framed(payload, path, size_max, NULL, out, reason);
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool write_all(int file, const char *data, size_t size) {
    while (size > 0) {
        /* Linux writes at most 2 GiB at once. */
        size_t part = size > (1u << 30) ? (1u << 30) : size;
        ssize_t done = write(file, data, part);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return false;
        }
        data += done;
        size -= (size_t)done;
    }
    return true;
}

static void add_folder(const char *path, grout_text *out) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        grout_text_add(out, ".");
    } else {
        grout_text_add_bytes(out, path, slash == path ? 1 : (size_t)(slash - path));
    }
}

/* So that the rename survives a power failure too; a folder that cannot be synced is no fault. */
static void sync_folder(const char *path) {
    grout_text folder = {0};
    add_folder(path, &folder);
    int file = folder.data == NULL ? -1 : open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        (void)fsync(file);
        (void)close(file);
    }
    grout_text_free(&folder);
}

/* Devices and pipes are written in place: there is nothing to replace. */
static bool is_special(const char *path, struct stat *info) {
    return stat(path, info) == 0 && !S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode);
}

static bool write_special(const char *path, const grout_chunk *chunks, size_t count,
                          grout_text *reason) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return fail(reason);
    }
    bool is_good = true;
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = write_all(file, chunks[i].data, chunks[i].size);
    }
    if (!is_good) {
        (void)fail(reason);
    }
    (void)close(file);
    return is_good;
}

/* The permissions that a new file gets by default. */
static mode_t get_new_mode(void) {
    mode_t mask = umask(0);
    (void)umask(mask);
    return 0666 & ~mask;
}

static bool write_temporary(int file, mode_t mode, const grout_chunk *chunks, size_t count) {
    bool is_good = fchmod(file, mode) == 0;
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = write_all(file, chunks[i].data, chunks[i].size);
    }
    return is_good && fsync(file) == 0;
}

/* The reason, from errno, why the path cannot be written. */
static bool fail_target(const char *path, grout_text *reason) {
    int code = errno;
    grout_text folder = {0};
    add_folder(path, &folder);
    if (code == ENOENT && folder.data != NULL) {
        grout_text_add(reason, "the folder '%s' does not exist", folder.data);
    } else {
        errno = code;
        (void)fail(reason);
    }
    grout_text_free(&folder);
    return false;
}

static bool write_file(void *payload, const char *path, const grout_chunk *chunks, size_t count,
                       grout_text *reason) {
    (void)payload;
    struct stat info;
    if (is_special(path, &info)) {
        return write_special(path, chunks, count, reason);
    }
    /* A link stays: the file that it points to is replaced. */
    char *target = realpath(path, NULL);
    const char *final = target != NULL ? target : path;
    mode_t mode = target != NULL && stat(final, &info) == 0 ? info.st_mode & 0777 : get_new_mode();
    grout_text name = {0};
    grout_text_add(&name, "%s.XXXXXX", final);
    bool is_good = false;
    int file = name.failed || name.data == NULL ? -1 : mkstemp(name.data);
    if (file >= 0) {
        is_good = write_temporary(file, mode, chunks, count);
        is_good = close(file) == 0 && is_good;
        is_good = is_good && rename(name.data, final) == 0;
        if (!is_good) {
            (void)fail(reason);
            (void)unlink(name.data);
        } else {
            sync_folder(final);
        }
    } else {
        (void)fail_target(final, reason);
    }
    grout_text_free(&name);
    free(target);
    return is_good;
}

static bool can_write(void *payload, const char *path, grout_text *reason) {
    (void)payload;
    struct stat info;
    grout_text folder = {0};
    if (is_special(path, &info)) {
        return access(path, W_OK) == 0 || fail(reason);
    }
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        grout_text_add(reason, "it is a folder");
        return false;
    }
    add_folder(path, &folder);
    bool is_good = folder.data != NULL && access(folder.data, W_OK | X_OK) == 0;
    if (!is_good) {
        (void)fail_target(path, reason);
    }
    grout_text_free(&folder);
    return is_good;
}

static bool is_same_file(void *payload, const char *a, const char *b) {
    (void)payload;
    struct stat info_a, info_b;
    if (is_special(a, &info_a) || is_special(b, &info_b)) {
        return false;
    }
    if (strcmp(a, b) == 0) {
        return true;
    }
    if (stat(a, &info_a) == 0) {
        return stat(b, &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
               info_a.st_ino == info_b.st_ino;
    }
    /* Neither exists yet: the same name in the same folder. */
    const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
    name_a = name_a == NULL ? a : name_a + 1;
    name_b = name_b == NULL ? b : name_b + 1;
    grout_text folder_a = {0}, folder_b = {0};
    add_folder(a, &folder_a);
    add_folder(b, &folder_b);
    bool is_same = strcmp(name_a, name_b) == 0 && stat(folder_a.data, &info_a) == 0 &&
                   stat(folder_b.data, &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
                   info_a.st_ino == info_b.st_ino;
    grout_text_free(&folder_a);
    grout_text_free(&folder_b);
    return is_same;
}

static bool list_folder(void *payload, const char *folder,
                        void (*visit)(void *visit_payload, const char *name, uint64_t size),
                        void *visit_payload, grout_text *reason) {
    (void)payload;
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        return fail(reason);
    }
    for (int i = 0; i < count; i++) {
        struct stat info;
        grout_text path = {0};
        grout_text_add(&path, "%s/%s", folder, entries[i]->d_name);
        if (path.data != NULL && lstat(path.data, &info) == 0 && S_ISREG(info.st_mode)) {
            visit(visit_payload, entries[i]->d_name, (uint64_t)info.st_size);
        }
        grout_text_free(&path);
        free(entries[i]);
    }
    free(entries);
    return true;
}

/* ---- the process ---------------------------------------------------------------------------- */

static bool write_stream(void *payload, grout_stream stream, const char *data, size_t size) {
    (void)payload;
    errno = 0;
    return write_all(stream == GROUT_STREAM_OUT ? STDOUT_FILENO : STDERR_FILENO, data, size) ||
           errno == EPIPE;
}

static bool is_terminal(void *payload, grout_stream stream) {
    (void)payload;
    return isatty(stream == GROUT_STREAM_OUT ? STDOUT_FILENO : STDERR_FILENO) == 1;
}

static bool ask(void *payload, const char *question, grout_text *answer) {
    char c = '\0';
    (void)payload;
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1 ||
        !write_all(STDERR_FILENO, question, strlen(question))) {
        return false;
    }
    while (!was_interrupted && read(STDIN_FILENO, &c, 1) == 1 && c != '\n') {
        grout_text_add_bytes(answer, &c, 1);
    }
    return true;
}

static uint32_t get_columns(void *payload, grout_stream stream) {
    struct winsize size;
    (void)payload;
    return ioctl(stream == GROUT_STREAM_OUT ? STDOUT_FILENO : STDERR_FILENO, TIOCGWINSZ, &size) == 0
               ? size.ws_col
               : 0;
}

static double get_seconds(void *payload) {
    (void)payload;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static const char *get_env(void *payload, const char *name) {
    (void)payload;
    return getenv(name);
}

static uint64_t get_memory(void *payload) {
    (void)payload;
    long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : 0;
}

static void note_interrupt(int signal_number) {
    was_interrupted = 1;
    /* A second Ctrl-C ends the process at once. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    (void)sigaction(signal_number, &action, NULL);
}

static bool is_interrupted(void *payload) {
    (void)payload;
    return was_interrupted != 0;
}

static grout_watch *open_watch(void *payload, const char *const *paths, size_t count) {
    (void)payload;
    return grout_watch_posix__open(paths, count);
}

static bool wait_for_change(void *payload, grout_watch *watch) {
    (void)payload;
    return grout_watch_posix__wait(watch, is_interrupted);
}

static void close_watch(void *payload, grout_watch *watch) {
    (void)payload;
    grout_watch_posix__close(watch);
}

static void describe_cpu(grout_text *out) {
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            colon[strcspn(colon, "\n")] = '\0';
            grout_text_add(out, "processor: %s\n", colon + 2);
            break;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    grout_text_add(out, "instruction sets:%s%s%s%s\n",
                   __builtin_cpu_supports("avx2") ? " AVX2" : "",
                   __builtin_cpu_supports("fma") ? " FMA" : "",
                   __builtin_cpu_supports("avx512f") ? " AVX-512F" : "",
                   __builtin_cpu_supports("avx512bw") ? " AVX-512BW" : "");
#endif
}

static void describe(void *payload, grout_text *out) {
    struct utsname name;
    if (uname(&name) == 0) {
        grout_text_add(out, "system: %s %s %s\n", name.sysname, name.release, name.machine);
    }
    describe_cpu(out);
    grout_text_add(out, "processors: %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
    grout_text_add(out, "memory: %llu MiB\n", (unsigned long long)(get_memory(payload) >> 20));
}

/* ---- libraries ------------------------------------------------------------------------------ */

/* A name without a slash is a file here, not one of the system's. */
static void *open_library(void *payload, const char *path, grout_text *reason) {
    (void)payload;
    grout_text here = {0};
    grout_text_add(&here, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    void *library = here.data == NULL ? NULL : dlopen(here.data, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = here.data == NULL ? NULL : dlerror();
        grout_text_add(reason, "%s", why == NULL ? "not enough memory" : why);
    }
    grout_text_free(&here);
    return library;
}

static grout_any_function *find_function(void *payload, void *library, const char *name) {
    (void)payload;
    void *address = dlsym(library, name);
    grout_any_function *function = NULL; /* C has no conversion from an address of data to code */
    memcpy(&function, &address, sizeof function);
    return function;
}

static void close_library(void *payload, void *library) {
    (void)payload;
    (void)dlclose(library);
}

const grout_host *grout_host_posix_get(void) {
    static const grout_host_gpu gpu = {
        .compile_cuda = grout_compile_cuda,
        .run = grout_gpu_run,
        .describe = grout_gpu_describe,
        .cache_clear = grout_cache_clear,
    };
    static const grout_host host = {
        .read_file = read_file,
        .read_framed = read_framed,
        .read_beside = read_beside,
        .write_file = write_file,
        .can_write = can_write,
        .is_same_file = is_same_file,
        .list = list_folder,
        .write = write_stream,
        .is_terminal = is_terminal,
        .ask = ask,
        .get_columns = get_columns,
        .get_seconds = get_seconds,
        .get_env = get_env,
        .is_interrupted = is_interrupted,
        .open_watch = open_watch,
        .wait_for_change = wait_for_change,
        .close_watch = close_watch,
        .get_memory = get_memory,
        .describe = describe,
        .open_library = open_library,
        .find_function = find_function,
        .close_library = close_library,
        .gpu = &gpu,
    };
    struct sigaction interrupt = {.sa_handler = note_interrupt};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGINT, &interrupt, NULL);
    /* A reader that goes away ends no run: outputs are still to be written, and the exit code to
     * be given. */
    (void)sigaction(SIGPIPE, &ignore, NULL);
    /* So is a file that grows past the limit of the process: its temporary is removed. */
    (void)sigaction(SIGXFSZ, &ignore, NULL);
    return &host;
}
