/* host_posix.c - the real host: files, streams and environment of this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host_posix.h"

#include "beside_posix.h"
#include "read_posix.h"
#include "signals_posix.h"
#include "watch_posix.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- reading -------------------------------------------------------------------------------- */

static bool fail(grout_text *reason) {
    grout_text_add(reason, "%s", strerror(errno));
    return false;
}

static bool read_file(void *payload, const char *path, const grout_reading *what, grout_bytes *out,
                      grout_text *reason) {
    (void)payload;
    int file = grout_read_posix__open(path, reason);
    return file >= 0 && grout_read_posix__take(file, what, out, reason);
}

static bool read_beside(void *payload, const char *owner, const char *name,
                        const grout_reading *what, grout_bytes *out, grout_text *reason) {
    (void)payload;
    int file = grout_beside_posix__open(owner, name, reason);
    return file >= 0 && grout_read_posix__take(file, what, out, reason);
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool write_all(int file, const char *data, size_t size) {
    while (size > 0) {
        ssize_t done = write(file, data, size);
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

static bool write_file(void *payload, const char *path, const grout_chunk *chunks, size_t count,
                       const grout_waiting *waiting, grout_text *reason) {
    (void)payload;
    const grout_output_file file = {.folder = GROUT_OUTPUT_HERE,
                                    .path = path,
                                    .parts = chunks,
                                    .count = count,
                                    .note_temporary = grout_signals_posix__note_temporary,
                                    .goes_on = waiting == NULL ? NULL : waiting->goes_on,
                                    .payload = waiting == NULL ? NULL : waiting->payload};
    return grout_output_file__write(&file, reason);
}

static bool can_write(void *payload, const char *path, grout_text *reason) {
    (void)payload;
    return grout_output_file__can_write(path, reason);
}

static bool is_same_file(void *payload, const char *a, const char *b) {
    (void)payload;
    return grout_output_file__is_same(a, b);
}

static bool list_folder(void *payload, const char *folder,
                        void (*visit)(void *visit_payload, const char *name, uint64_t size),
                        void *visit_payload, grout_text *reason) {
    (void)payload;
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        return errno == ENOENT || fail(reason);
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

static bool write_stream(void *payload, grout_stream stream, const char *data, size_t size,
                         grout_text *reason) {
    (void)payload;
    errno = 0;
    return write_all(stream == GROUT_STREAM_OUT ? STDOUT_FILENO : STDERR_FILENO, data, size) ||
           errno == EPIPE || (reason != NULL && fail(reason));
}

static bool is_terminal(void *payload, grout_stream stream) {
    (void)payload;
    return isatty(stream == GROUT_STREAM_OUT ? STDOUT_FILENO : STDERR_FILENO) == 1;
}

static bool ask(void *payload, const char *question, const grout_waiting *waiting,
                grout_text *answer) {
    char c = '\0';
    (void)payload;
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1 ||
        !write_all(STDERR_FILENO, question, strlen(question))) {
        return false;
    }
    while (grout_read_posix__await(STDIN_FILENO, waiting) && read(STDIN_FILENO, &c, 1) == 1 &&
           c != '\n') {
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

static bool is_interrupted(void *payload) {
    (void)payload;
    return grout_signals_posix__is_caught();
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
    grout_signals_posix__install();
    return &host;
}
