/*
 * cache.c - the compiled-kernel cache.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file KEY.grc is a header, the image and the log:
 *
 *   magic (8 bytes) | image size (u64) | log size (u64) | XXH3-128 of image and log | image | log
 *
 * in the host's byte order: the cache is not moved between machines. Readers see it whole
 * (output_file.h). A hit sets the time of its last change, which is what the oldest file is found
 * by.
 */
#include "cache.h"

#include "array.h"
#include "bytes.h"
#include "invariant.h"
#include "output_file.h"

#include <dirent.h> /* lint-allow: dirent.h, the oldest files of the cache go first */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC       "groutC1\n"
#define NAME_SUFFIX ".grc"
#define NAME_SIZE   (32 + sizeof NAME_SUFFIX)

typedef struct file_header {
    char magic[8];
    uint64_t image_size, log_size;
    XXH128_canonical_t checksum;
} file_header;

_Static_assert(sizeof(file_header) == 40, "no padding in the file");

/* ---- opening ---- */

static bool make_directory(const char *path, grout_gpu_error *error) {
    char part[4096];
    const size_t size = strlen(path);
    if (size == 0 || size >= sizeof part) {
        return grout_gpu__fail(error, GROUT_DIAG_FILE_UNWRITABLE,
                               "the cache directory's name has %zu bytes, not 1 to %zu", size,
                               sizeof part - 1);
    }
    memcpy(part, path, size + 1);
    for (size_t i = 1; i <= size; i++) {
        if (part[i] != '/' && part[i] != '\0') {
            continue;
        }
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            return grout_gpu__fail(error, GROUT_DIAG_FILE_UNWRITABLE, "cannot make '%s': %s", part,
                                   strerror(errno));
        }
        part[i] = path[i];
    }
    return true;
}

bool grout_gpu__cache_open(grout_gpu_cache *cache, const char *path, uint64_t size_max,
                           grout_gpu_error *error) {
    struct stat status;
    *cache = (grout_gpu_cache){.size_max = size_max == 0 ? GROUT_GPU_CACHE_SIZE_MAX : size_max};
    if (!make_directory(path, error)) {
        return false;
    }
    cache->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cache->directory < 0 || fstat(cache->directory, &status) != 0) {
        grout_gpu__fail(error, GROUT_DIAG_FILE_UNWRITABLE, "cannot open '%s': %s", path,
                        strerror(errno));
        if (cache->directory >= 0) {
            (void)close(cache->directory);
        }
        return false;
    }
    if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        (void)close(cache->directory);
        return grout_gpu__fail(
            error, GROUT_DIAG_FILE_UNWRITABLE,
            "'%s' is not a safe cache: it belongs to, or can be written by, others", path);
    }
    cache->is_open = true;
    return true;
}

void grout_gpu__cache_close(grout_gpu_cache *cache) {
    if (cache->is_open) {
        (void)close(cache->directory);
    }
    *cache = (grout_gpu_cache){0};
}

/* ---- keys ---- */

/* Hashes a text with its end, so that "ab","c" and "a","bc" differ. */
static void hash_text(XXH3_state_t *state, const char *text) {
    (void)XXH3_128bits_update(state, text, strlen(text) + 1);
}

bool grout_gpu__cache_key_of(const grout_gpu_source *source, const grout_gpu_nvrtc *nvrtc,
                             grout_gpu_cache_key *out, grout_gpu_error *error) {
    XXH3_state_t *state = XXH3_createState();
    XXH128_canonical_t hash;
    const uint32_t numbers[] = {(uint32_t)nvrtc->major, (uint32_t)nvrtc->minor,
                                (uint32_t)source->output, source->header_count,
                                source->option_count};
    if (state == NULL) {
        return grout_gpu__fail_memory(error, "a cache key");
    }
    (void)XXH3_128bits_reset(state);
    (void)XXH3_128bits_update(state, numbers, sizeof numbers);
    hash_text(state, MAGIC);
    hash_text(state, source->name);
    hash_text(state, source->text);
    hash_text(state, source->arch);
    for (uint32_t i = 0; i < source->header_count; i++) {
        hash_text(state, source->headers[i].name);
        hash_text(state, source->headers[i].text);
    }
    for (uint32_t i = 0; i < source->option_count; i++) {
        hash_text(state, source->options[i]);
    }
    XXH128_canonicalFromHash(&hash, XXH3_128bits_digest(state));
    (void)XXH3_freeState(state);
    for (size_t i = 0; i < sizeof hash.digest; i++) {
        (void)snprintf(out->text + 2 * i, 3, "%02x", hash.digest[i]);
    }
    return true;
}

static void file_name(const grout_gpu_cache_key *key, char name[static NAME_SIZE]) {
    GROUT_ASSERT(strlen(key->text) == sizeof key->text - 1);
    (void)snprintf(name, NAME_SIZE, "%s%s", key->text, NAME_SUFFIX);
}

/* ---- reading ---- */

static XXH128_canonical_t checksum_of(const unsigned char *bytes, size_t size) {
    XXH128_canonical_t checksum;
    XXH128_canonicalFromHash(&checksum, XXH3_128bits(bytes, size));
    return checksum;
}

/* Reads image and log, which the header describes, as one block, and checks it. NULL: no good. */
static unsigned char *read_payload(int file, const file_header *header, size_t size) {
    /* Each of the two ends with a NUL in memory. */
    unsigned char *bytes = malloc(size + 1);
    if (bytes == NULL) {
        return NULL;
    }
    if (grout_gpu__read_all(file, bytes, size)) {
        const XXH128_canonical_t checksum = checksum_of(bytes, size);
        if (memcmp(&checksum, &header->checksum, sizeof checksum) == 0) {
            return bytes;
        }
    }
    free(bytes);
    return NULL;
}

static bool read_file(int file, uint64_t size_max, grout_gpu_compiled *out) {
    file_header header;
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < (off_t)sizeof header || (uint64_t)status.st_size > size_max ||
        !grout_gpu__read_all(file, &header, sizeof header) ||
        memcmp(header.magic, MAGIC, sizeof header.magic) != 0) {
        return false;
    }
    const uint64_t size = (uint64_t)status.st_size - sizeof header;
    if (header.image_size > size || header.log_size != size - header.image_size) {
        return false;
    }
    unsigned char *bytes = read_payload(file, &header, (size_t)size);
    if (bytes == NULL) {
        return false;
    }
    out->size = (size_t)header.image_size;
    out->log = calloc((size_t)header.log_size + 1, 1);
    if (out->log == NULL) {
        free(bytes);
        return false;
    }
    memcpy(out->log, bytes + out->size, (size_t)header.log_size);
    bytes[out->size] = '\0';
    out->image = bytes;
    return true;
}

bool grout_gpu__cache_find(const grout_gpu_cache *cache, const grout_gpu_cache_key *key,
                           grout_gpu_compiled *out) {
    char name[NAME_SIZE];
    GROUT_ASSERT(cache->is_open);
    *out = (grout_gpu_compiled){0};
    file_name(key, name);
    const int file = openat(cache->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
        return false;
    }
    const bool ok = read_file(file, cache->size_max, out);
    if (ok) {
        (void)futimens(file, NULL);
    }
    (void)close(file);
    return ok;
}

/* ---- writing ---- */

/* The checksum is over both parts, which lie apart here. */
static bool make_header(const grout_gpu_compiled *compiled, size_t log_size, file_header *header) {
    XXH3_state_t *state = XXH3_createState();
    if (state == NULL) {
        return false;
    }
    *header = (file_header){.image_size = compiled->size, .log_size = log_size};
    memcpy(header->magic, MAGIC, sizeof header->magic);
    (void)XXH3_128bits_reset(state);
    (void)XXH3_128bits_update(state, compiled->image, compiled->size);
    (void)XXH3_128bits_update(state, compiled->log, log_size);
    XXH128_canonicalFromHash(&header->checksum, XXH3_128bits_digest(state));
    (void)XXH3_freeState(state);
    return true;
}

/* ---- the directory ---- */

typedef struct entry {
    char name[NAME_SIZE];
    uint64_t size;
    struct timespec used;
} entry;

typedef struct entries {
    GROUT_ARRAY(entry) files;
    uint64_t size; /* of all of them */
} entries;

static bool is_cache_name(const char *name) {
    return strspn(name, "0123456789abcdef") == 32 && strcmp(name + 32, NAME_SUFFIX) == 0;
}

static bool add_entry(entries *list, const char *name, const struct stat *status) {
    if (!GROUT_ARRAY_RESERVE(&list->files, NULL, 1)) {
        return false;
    }
    GROUT_ASSERT(strlen(name) + 1 == sizeof list->files.items->name);
    entry *item = &list->files.items[list->files.count++];
    memcpy(item->name, name, sizeof item->name); /* is_cache_name: exactly so long */
    item->size = (uint64_t)status->st_size;
    item->used = status->st_mtim;
    list->size += item->size;
    return true;
}

/* One name of the directory: a file of the cache joins the list. */
static bool visit(int directory, const char *name, entries *list) {
    struct stat status;
    return !is_cache_name(name) || fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
           !S_ISREG(status.st_mode) || add_entry(list, name, &status);
}

/* Lists the cache's files. The list is the caller's to free, also after a failure. */
static bool list_files(const grout_gpu_cache *cache, entries *list, grout_gpu_error *error) {
    const int copy = openat(cache->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    if (directory == NULL) {
        if (copy >= 0) {
            (void)close(copy);
        }
        return grout_gpu__fail(error, GROUT_DIAG_FILE_UNREADABLE, "cannot list the cache: %s",
                               strerror(errno));
    }
    bool ok = true;
    for (const struct dirent *item = readdir(directory); ok && item != NULL;
         item = readdir(directory)) {
        ok = visit(cache->directory, item->d_name, list);
    }
    (void)closedir(directory);
    return ok || grout_gpu__fail_memory(error, "the list of the cache's files");
}

static int compare_used(const void *a, const void *b) {
    const entry *first = a;
    const entry *second = b;
    if (first->used.tv_sec != second->used.tv_sec) {
        return first->used.tv_sec < second->used.tv_sec ? -1 : 1;
    }
    if (first->used.tv_nsec != second->used.tv_nsec) {
        return first->used.tv_nsec < second->used.tv_nsec ? -1 : 1;
    }
    return strcmp(first->name, second->name);
}

/* Removes the files unused for longest until the rest has at most size_max bytes. */
static bool trim(const grout_gpu_cache *cache, uint64_t size_max, grout_gpu_cache_usage *removed,
                 grout_gpu_error *error) {
    entries list = {0};
    bool ok = list_files(cache, &list, error);
    if (ok && list.size > size_max) {
        qsort(list.files.items, list.files.count, sizeof *list.files.items, compare_used);
        for (size_t i = 0; i < list.files.count && list.size > size_max; i++) {
            list.size -= list.files.items[i].size;
            /* Another process may have been faster. */
            if (unlinkat(cache->directory, list.files.items[i].name, 0) == 0) {
                removed->file_count++;
                removed->size += list.files.items[i].size;
            } else if (errno != ENOENT) {
                ok = grout_gpu__fail(error, GROUT_DIAG_FILE_UNWRITABLE,
                                     "cannot remove '%s' from the cache: %s",
                                     list.files.items[i].name, strerror(errno));
            }
        }
    }
    grout__free(list.files.items);
    return ok;
}

bool grout_gpu__cache_add(const grout_gpu_cache *cache, const grout_gpu_cache_key *key,
                          const grout_gpu_compiled *compiled, grout_gpu_error *error) {
    char name[NAME_SIZE];
    file_header header;
    grout_text reason = {0};
    grout_gpu_cache_usage removed = {0};
    const size_t log_size = strlen(compiled->log);
    GROUT_ASSERT(cache->is_open && compiled->image != NULL && compiled->log != NULL);
    if (!make_header(compiled, log_size, &header)) {
        return grout_gpu__fail_memory(error, "a checksum");
    }
    file_name(key, name);
    const grout_output_part parts[] = {
        {&header, sizeof header}, {compiled->image, compiled->size}, {compiled->log, log_size}};
    const grout_output_file file = {.folder = cache->directory,
                                    .path = name,
                                    .parts = parts,
                                    .count = sizeof parts / sizeof parts[0],
                                    .is_cached = true};
    const bool ok = grout_output_file__write(&file, &reason);
    if (!ok) {
        grout_gpu__fail(error, GROUT_DIAG_FILE_UNWRITABLE, "cannot write to the cache: %s",
                        reason.failed || reason.data == NULL ? "?" : reason.data);
    }
    grout_text_free(&reason);
    return ok && trim(cache, cache->size_max, &removed, error);
}

bool grout_gpu__cache_measure(const grout_gpu_cache *cache, grout_gpu_cache_usage *out,
                              grout_gpu_error *error) {
    entries list = {0};
    const bool ok = list_files(cache, &list, error);
    *out = (grout_gpu_cache_usage){.file_count = list.files.count, .size = list.size};
    grout__free(list.files.items);
    return ok;
}

bool grout_gpu__cache_clear(const grout_gpu_cache *cache, grout_gpu_cache_usage *out,
                            grout_gpu_error *error) {
    *out = (grout_gpu_cache_usage){0};
    return trim(cache, 0, out, error);
}

bool grout_gpu__cache_compile(grout_gpu_cache *cache, const grout_gpu_nvrtc *nvrtc,
                              const grout_gpu_source *source, grout_gpu_compiled *out, bool *is_hit,
                              grout_gpu_error *error) {
    grout_gpu_cache_key key;
    bool hit = false;
    if (cache != NULL) {
        if (!grout_gpu__cache_key_of(source, nvrtc, &key, error)) {
            return false;
        }
        hit = grout_gpu__cache_find(cache, &key, out);
    }
    if (is_hit != NULL) {
        *is_hit = hit;
    }
    if (hit) {
        return true;
    }
    if (!grout_gpu__nvrtc_compile(nvrtc, source, out, error)) {
        return false;
    }
    if (cache != NULL) {
        (void)grout_gpu__cache_add(cache, &key, out, &cache->problem);
    }
    return true;
}
