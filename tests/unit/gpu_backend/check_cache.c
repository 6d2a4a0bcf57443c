/* check_cache.c - the disk cache: what comes back, what is a miss, what is thrown out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gpu_backend/run/cache.h"
#include "tests/tests.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char root[64], path[96];
static grout_gpu_cache cache;
static grout_gpu_error error;

static const grout_gpu_nvrtc nvrtc = {.major = 13};

static void open_cache(void) {
    (void)snprintf(root, sizeof root, "/tmp/grout-check-cache-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    (void)snprintf(path, sizeof path, "%s/a/b", root);
    ck_assert_msg(grout_gpu__cache_open(&cache, path, 0, &error), "%s", error.text);
}

static void remove_cache(void) {
    char command[128];
    grout_gpu__cache_close(&cache);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static grout_gpu_cache_key key_of(const char *text) {
    grout_gpu_cache_key key;
    const grout_gpu_source source = {.name = "k", .text = text, .arch = "sm_90a"};
    ck_assert(grout_gpu__cache_key_of(&source, &nvrtc, &key, &error));
    return key;
}

static void add(const char *text, size_t size) {
    unsigned char *image = malloc(size);
    char log[] = "Used 40 registers";
    ck_assert_ptr_nonnull(image);
    memset(image, 'x', size);
    const grout_gpu_compiled compiled = {.image = image, .size = size, .log = log};
    const grout_gpu_cache_key key = key_of(text);
    ck_assert_msg(grout_gpu__cache_add(&cache, &key, &compiled, &error), "%s", error.text);
    free(image);
}

static bool has(const char *text) {
    grout_gpu_compiled compiled;
    const grout_gpu_cache_key key = key_of(text);
    const bool found = grout_gpu__cache_find(&cache, &key, &compiled);
    if (found) {
        ck_assert_str_eq(compiled.log, "Used 40 registers");
        ck_assert_int_eq(compiled.image[0], 'x');
        ck_assert_int_eq(compiled.image[compiled.size], 0);
    }
    grout_gpu__compiled_deinit(&compiled);
    return found;
}

static void file_of(const char *text, char *out, size_t size) {
    const grout_gpu_cache_key key = key_of(text);
    (void)snprintf(out, size, "%s/%s.grc", path, key.text);
}

TEST(what_went_in_comes_out) {
    struct stat status;
    ck_assert(!has("one"));
    add("one", 1000);
    ck_assert(has("one"));
    ck_assert(!has("two"));
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0700);
}

TEST(everything_is_in_the_key) {
    const char *const options[] = {"--fmad=false", "-DX=1"};
    const grout_gpu_header header = {"h.cuh", "text"};
    const grout_gpu_header other_header = {"h.cuh", "other"};
    const grout_gpu_nvrtc newer = {.major = 13, .minor = 1};
    const grout_gpu_source sources[] = {
        {.name = "k", .text = "t", .arch = "sm_90a"},
        {.name = "k", .text = "u", .arch = "sm_90a"},
        {.name = "kt", .text = "", .arch = "sm_90a"},
        {.name = "k", .text = "t", .arch = "sm_100a"},
        {.name = "k", .text = "t", .arch = "sm_90a", .output = GROUT_GPU_OUTPUT_PTX},
        {.name = "k", .text = "t", .arch = "sm_90a", .options = options, .option_count = 1},
        {.name = "k", .text = "t", .arch = "sm_90a", .options = options, .option_count = 2},
        {.name = "k", .text = "t", .arch = "sm_90a", .headers = &header, .header_count = 1},
        {.name = "k", .text = "t", .arch = "sm_90a", .headers = &other_header, .header_count = 1},
    };
    enum { COUNT = sizeof sources / sizeof sources[0] };
    grout_gpu_cache_key keys[COUNT + 1];
    for (int i = 0; i < COUNT; i++) {
        ck_assert(grout_gpu__cache_key_of(&sources[i], &nvrtc, &keys[i], &error));
    }
    ck_assert(grout_gpu__cache_key_of(&sources[0], &newer, &keys[COUNT], &error));
    for (int i = 0; i <= COUNT; i++) {
        ck_assert_uint_eq(strlen(keys[i].text), 32);
        for (int k = 0; k < i; k++) {
            ck_assert_str_ne(keys[i].text, keys[k].text);
        }
    }
}

/* Every file that is not whole is a miss, and adding it again mends it. */
TEST(damaged_files_are_misses) {
    char name[160];
    add("one", 1000);
    file_of("one", name, sizeof name);
    for (int at = 0; at < 1050; at += 13) {
        const int file = open(name, O_RDWR);
        unsigned char byte = 0;
        ck_assert_int_ge(file, 0);
        if (pread(file, &byte, 1, at) == 1) {
            byte ^= 1;
            ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
            ck_assert(!has("one"));
            byte ^= 1;
            ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
            ck_assert(has("one"));
        }
        (void)close(file);
    }
    for (int size = 1056; size >= 0; size -= 17) {
        ck_assert_int_eq(truncate(name, size), 0);
        ck_assert(!has("one"));
    }
    add("one", 1000);
    ck_assert(has("one"));
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(symlink("/etc/passwd", name), 0);
    ck_assert(!has("one"));
}

TEST(the_unused_go_first) {
    grout_gpu_cache_usage usage;
    char name[160];
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    const struct timespec older[2] = {{.tv_sec = 900}, {.tv_sec = 900}};
    add("one", 1000);
    add("two", 1000);
    add("three", 1000);
    file_of("one", name, sizeof name);
    ck_assert_int_eq(utimensat(AT_FDCWD, name, older, 0), 0);
    file_of("two", name, sizeof name);
    ck_assert_int_eq(utimensat(AT_FDCWD, name, old, 0), 0);
    ck_assert(has("one")); /* now the newest */
    cache.size_max = 3500;
    add("four", 1000);
    ck_assert(has("one"));
    ck_assert(!has("two"));
    ck_assert(has("three"));
    ck_assert(has("four"));
    ck_assert(grout_gpu__cache_measure(&cache, &usage, &error));
    ck_assert_uint_eq(usage.file_count, 3);
}

TEST(clear_leaves_what_is_not_ours) {
    grout_gpu_cache_usage usage;
    char name[160];
    add("one", 1000);
    add("two", 500);
    (void)snprintf(name, sizeof name, "%s/notes.txt", path);
    ck_assert_int_ge(close(open(name, O_CREAT | O_WRONLY, 0600)), 0);
    ck_assert(grout_gpu__cache_clear(&cache, &usage, &error));
    ck_assert_uint_eq(usage.file_count, 2);
    ck_assert(!has("one"));
    ck_assert_int_eq(access(name, F_OK), 0);
    ck_assert(grout_gpu__cache_measure(&cache, &usage, &error));
    ck_assert_uint_eq(usage.file_count, 0);
}

TEST(unsafe_directories_are_refused) {
    grout_gpu_cache other;
    ck_assert_int_eq(chmod(path, 0770), 0);
    ck_assert(!grout_gpu__cache_open(&other, path, 0, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_FILE_UNWRITABLE);
    ck_assert(!grout_gpu__cache_open(&other, "/dev/null/cache", 0, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_FILE_UNWRITABLE);
    ck_assert(!grout_gpu__cache_open(&other, "", 0, &error));
}

int main(void) {
    return run_tests_between(open_cache, remove_cache);
}
