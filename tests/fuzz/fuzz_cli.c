/*
 * fuzz_cli.c - the whole command on a host that lives in memory.
 *
 * An input is a line of arguments, then the text of k.grout, then, after a line '=== x.npy', the
 * bytes of x.npy. A file that starts with a comment is k.grout as it is: its '// RUN: grout ...'
 * line, if it is the first, is the command (%s is k.grout), else one of ours.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/fuzz/fuzz.h"

#include "cli/commands/commands.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 24, OUTPUT_MAX = 1 << 24 };

typedef struct memory_host {
    const uint8_t *kernel, *npy;
    size_t kernel_size, npy_size;
    double seconds; /* goes on with each question, so that --timeout ends a run */
    uint64_t written;
    bool has_changed; /* under --watch */
} memory_host;

static bool read_file(void *payload, const char *path, const grout_reading *what, grout_bytes *out,
                      grout_text *reason) {
    memory_host *host = payload;
    bool is_kernel = strcmp(path, "k.grout") == 0 || strcmp(path, "-") == 0;
    bool is_npy = strcmp(path, "x.npy") == 0;
    size_t size = is_kernel ? host->kernel_size : host->npy_size;
    if ((!is_kernel && !is_npy) || size > what->size_max) {
        grout_text_add(reason, "no such file");
        return false;
    }
    out->data = malloc(size + 1);
    if (out->data == NULL) {
        return false;
    }
    if (size > 0) {
        memcpy(out->data, is_kernel ? host->kernel : host->npy, size);
    }
    out->data[size] = '\0';
    out->size = size;
    if (what->get_size != NULL) {
        (void)what->get_size(out->data, out->size);
    }
    return true;
}

static bool read_beside(void *payload, const char *owner, const char *name,
                        const grout_reading *what, grout_bytes *out, grout_text *reason) {
    (void)owner;
    return read_file(payload, name, what, out, reason);
}

static bool write_file(void *payload, const char *path, const grout_chunk *chunks, size_t count,
                       const grout_waiting *waiting, grout_text *reason) {
    (void)waiting;
    memory_host *host = payload;
    (void)reason;
    for (size_t i = 0; i < count; i++) {
        /* Every byte is touched, for the sanitizers. */
        for (size_t k = 0; k < chunks[i].size; k++) {
            host->written += ((const uint8_t *)chunks[i].data)[k];
        }
    }
    return path[0] != '/';
}

static bool can_write(void *payload, const char *path, grout_text *reason) {
    (void)payload;
    (void)reason;
    return path[0] != '/';
}

static bool is_same_file(void *payload, const char *a, const char *b) {
    (void)payload;
    return strcmp(a, b) == 0;
}

static bool list_folder(void *payload, const char *folder,
                        void (*visit)(void *visit_payload, const char *name, uint64_t size),
                        void *visit_payload, grout_text *reason) {
    (void)payload;
    (void)folder;
    (void)reason;
    visit(visit_payload, "one", 1);
    return true;
}

static bool write_stream(void *payload, grout_stream stream, const char *data, size_t size,
                         grout_text *reason) {
    (void)reason;
    memory_host *host = payload;
    (void)stream;
    for (size_t i = 0; i < size; i++) {
        host->written += (uint8_t)data[i];
    }
    return host->written < OUTPUT_MAX;
}

static bool is_terminal(void *payload, grout_stream stream) {
    (void)payload;
    return stream == GROUT_STREAM_ERR;
}

static uint32_t get_columns(void *payload, grout_stream stream) {
    (void)payload;
    (void)stream;
    return 80;
}

static double get_seconds(void *payload) {
    memory_host *host = payload;
    return host->seconds += 0.25;
}

static const char *get_env(void *payload, const char *name) {
    (void)payload;
    return strcmp(name, "HOME") == 0 ? "/home" : NULL;
}

static bool is_interrupted(void *payload) {
    (void)payload;
    return false;
}

static grout_watch *open_watch(void *payload, const char *const *paths, size_t count) {
    (void)paths;
    return count > 0 ? payload : NULL;
}

/* One change is enough. */
static bool wait_for_change(void *payload, grout_watch *watch) {
    memory_host *host = payload;
    (void)watch;
    return !host->has_changed && (host->has_changed = true);
}

static void close_watch(void *payload, grout_watch *watch) {
    (void)payload;
    (void)watch;
}

static uint64_t get_memory(void *payload) {
    (void)payload;
    return 1u << 24;
}

static void describe(void *payload, grout_text *out) {
    (void)payload;
    grout_text_add(out, "system: memory\n");
}

/* Splits words at blanks, in place. */
static int split(char *text, char **argv) {
    int argc = 1;
    argv[0] = NULL;
    for (char *word = strtok(text, " \t\r"); word != NULL && argc < WORDS_MAX;
         word = strtok(NULL, " \t\r")) {
        argv[argc++] = word;
    }
    return argc;
}

static void run(memory_host *memory, char *line) {
    static char name[] = "grout", steps[] = "--max-steps=20000", bytes[] = "--max-memory=16M";
    static char kernel[] = "k.grout";
    char *argv[WORDS_MAX + 3] = {NULL};
    int argc = split(line, argv);
    const grout_host host = {
        .payload = memory,
        .read_file = read_file,
        .read_beside = read_beside,
        .write_file = write_file,
        .can_write = can_write,
        .is_same_file = is_same_file,
        .list = list_folder,
        .write = write_stream,
        .is_terminal = is_terminal,
        .get_columns = get_columns,
        .get_seconds = get_seconds,
        .get_env = get_env,
        .is_interrupted = is_interrupted,
        .open_watch = open_watch,
        .wait_for_change = wait_for_change,
        .close_watch = close_watch,
        .get_memory = get_memory,
        .describe = describe,
        .gpu = NULL,
    };
    argv[0] = name;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "%s") == 0) {
            argv[i] = kernel;
        }
    }
    if (argc > 1 && (strcmp(argv[1], "check") == 0 || strcmp(argv[1], "fix") == 0 ||
                     strcmp(argv[1], "run") == 0)) {
        /* Last, so that they win; in front of a '--' they would be words. */
        argv[argc++] = steps;
        argv[argc++] = bytes;
    }
    (void)grout_cli_main(argc, argv, &host);
}

/* Where needle starts in data, or size. */
static size_t find(const uint8_t *data, size_t size, const char *needle) {
    size_t needle_size = strlen(needle);
    for (size_t i = 0; i + needle_size <= size; i++) {
        if (memcmp(data + i, needle, needle_size) == 0) {
            return i;
        }
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char mark[] = "\n=== x.npy\n", run_mark[] = "// RUN: grout ";
    /* Seconds of memory_host, which end the search for other sizes soon. */
    static const char fallback[] = "check --timeout 4 k.grout";
    size_t run_size = sizeof run_mark - 1;
    size_t line_size = find(data, size, "\n");
    bool is_comment = size >= 2 && data[0] == '/' && data[1] == '/';
    bool is_run = size > run_size && memcmp(data, run_mark, run_size) == 0;
    size_t line_start = is_run ? run_size : 0;
    memory_host memory = {.kernel = data, .kernel_size = size};
    size_t npy_at = find(data, size, mark);
    if (npy_at < size) {
        memory.kernel_size = npy_at;
        memory.npy = data + npy_at + sizeof mark - 1;
        memory.npy_size = size - npy_at - (sizeof mark - 1);
    }
    if (!is_comment) {
        size_t skip = line_size < memory.kernel_size ? line_size + 1 : memory.kernel_size;
        memory.kernel += skip;
        memory.kernel_size -= skip;
    }
    bool is_default = is_comment && !is_run;
    size_t words_size = is_default ? sizeof fallback - 1 : line_size - line_start;
    char *line = malloc(words_size + 1);
    if (line != NULL) {
        memcpy(line, is_default ? (const uint8_t *)fallback : data + line_start, words_size);
        line[words_size] = '\0';
        run(&memory, line);
    }
    free(line);
    return 0;
}
