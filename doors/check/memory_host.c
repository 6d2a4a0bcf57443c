/* memory_host.c - see memory_host.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "memory_host.h"

#include "alloc.h"
#include "array.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ASK_MILLISECONDS 20

/* ---- files ---------------------------------------------------------------------------------- */

static grout_memory_file *find(const grout_memory_files *files, const char *name) {
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->items[i].name, name) == 0) {
            return &files->items[i];
        }
    }
    return NULL;
}

const grout_memory_file *grout_memory_files__find(const grout_memory_files *files,
                                                  const char *name) {
    return find(files, name);
}

bool grout_memory_files__put(grout_memory_files *files, const char *name, const void *data,
                             size_t size) {
    grout_memory_file *file = find(files, name);
    if (file == NULL) {
        char *copy = grout__copy(NULL, name, strlen(name));
        if (copy == NULL || !GROUT_ARRAY_RESERVE(files, NULL, 1)) {
            grout__free(copy);
            return false;
        }
        file = &files->items[files->count++];
        *file = (grout_memory_file){.name = copy};
    }
    grout_text_free(&file->bytes);
    grout_text_add_bytes(&file->bytes, data, size);
    return !file->bytes.failed;
}

void grout_memory_files__deinit(grout_memory_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        grout__free(files->items[i].name);
        grout_text_free(&files->items[i].bytes);
    }
    grout__free(files->items);
    *files = (grout_memory_files){0};
}

static bool read_file(void *payload, const char *path, const grout_reading *what, grout_bytes *out,
                      grout_text *reason) {
    const grout_memory_host *host = payload;
    const grout_memory_file *file = find(&host->written, path);
    file = file != NULL ? file : find(host->given, path);
    if (file == NULL || file->bytes.size > what->size_max) {
        grout_text_add(reason, "%s",
                       file == NULL ? "no file of this name was given" : "it is too large");
        return false;
    }
    *out = (grout_bytes){malloc(file->bytes.size + 1), file->bytes.size};
    if (out->data == NULL) {
        grout_text_add(reason, "out of memory");
        return false;
    }
    if (out->size > 0) {
        memcpy(out->data, file->bytes.data, out->size);
    }
    out->data[out->size] = '\0';
    return true;
}

static bool read_beside(void *payload, const char *owner, const char *name,
                        const grout_reading *what, grout_bytes *out, grout_text *reason) {
    (void)owner;
    return read_file(payload, name, what, out, reason);
}

static bool write_file(void *payload, const char *path, const grout_chunk *chunks, size_t count,
                       const grout_waiting *waiting, grout_text *reason) {
    grout_memory_host *host = payload;
    grout_text bytes = {0};
    (void)waiting;
    for (size_t i = 0; i < count; i++) {
        grout_text_add_bytes(&bytes, chunks[i].data, chunks[i].size);
    }
    bool is_good =
        !bytes.failed && grout_memory_files__put(&host->written, path, bytes.data, bytes.size);
    if (!is_good) {
        grout_text_add(reason, "out of memory");
    }
    grout_text_free(&bytes);
    return is_good;
}

static bool can_write(void *payload, const char *path, grout_text *reason) {
    (void)payload;
    (void)path;
    (void)reason;
    return true;
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
    (void)visit;
    (void)visit_payload;
    (void)reason;
    return true;
}

/* ---- streams -------------------------------------------------------------------------------- */

static bool write_stream(void *payload, grout_stream stream, const char *data, size_t size,
                         grout_text *reason) {
    grout_memory_host *host = payload;
    grout_text *text = &host->streams[stream == GROUT_STREAM_ERR];
    (void)reason;
    grout_text_add_bytes(text, data, size);
    return !text->failed;
}

static bool is_terminal(void *payload, grout_stream stream) {
    (void)payload;
    (void)stream;
    return false;
}

static uint32_t get_columns(void *payload, grout_stream stream) {
    (void)payload;
    (void)stream;
    return 0;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static double get_seconds(void *payload) {
    struct timespec now;
    (void)payload;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const char *get_env(void *payload, const char *name) {
    (void)payload;
    (void)name;
    return NULL;
}

bool grout_memory_host__goes_on(grout_memory_host *host) {
    const uint64_t now = (uint64_t)(get_seconds(host) * 1e3);
    uint64_t asked = host->asked;
    const bool is_due = host->goes_on != NULL && !host->is_over && now - asked >= ASK_MILLISECONDS;
    if (is_due && atomic_compare_exchange_strong(&host->asked, &asked, now) &&
        !host->goes_on(host->payload)) {
        host->is_over = true;
    }
    return !host->is_over;
}

static bool is_interrupted(void *payload) {
    return !grout_memory_host__goes_on(payload);
}

static uint64_t get_memory(void *payload) {
    (void)payload;
    return 0; /* only max-memory is a bound */
}

static void describe(void *payload, grout_text *out) {
    (void)payload;
    (void)out;
}

void grout_memory_host__init(grout_memory_host *host, const grout_memory_files *given) {
    *host = (grout_memory_host){.given = given};
    host->host = (grout_host){
        .payload = host,
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
        .get_memory = get_memory,
        .describe = describe,
    };
}

void grout_memory_host__deinit(grout_memory_host *host) {
    grout_memory_files__deinit(&host->written);
    grout_text_free(&host->streams[0]);
    grout_text_free(&host->streams[1]);
}
