/*
 * kernel_files.h - the kernels of kernels/ and beside it, as texts and as bound modules.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_KERNEL_FILES_H
#define GROUT_TESTS_KERNEL_FILES_H

#include "grout-internal/text.h"
#include "grout-internal/verify.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_FILES_MAX 256

typedef struct kernel_files {
    char paths[KERNEL_FILES_MAX][256];
    int count;
} kernel_files;

static inline int compare_paths(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Adds the *.grout files of a folder of kernels/, in the order of their names; false if there are
 * none, or too many. For main(), where nothing can be asserted yet. */
static inline bool kernel_files_add(kernel_files *files, const char *folder) {
    char path[512];
    const int first = files->count;
    (void)snprintf(path, sizeof path, "%s/kernels/%s", GROUT_TEST_SOURCE_DIR, folder);
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return false;
    }
    for (const struct dirent *item = readdir(directory); item != NULL; item = readdir(directory)) {
        if (strstr(item->d_name, ".grout") != NULL && files->count < KERNEL_FILES_MAX) {
            (void)snprintf(files->paths[files->count++], sizeof files->paths[0],
                           "kernels/%.120s/%.120s", folder, item->d_name);
        }
    }
    (void)closedir(directory);
    qsort(files->paths[first], (size_t)(files->count - first), sizeof files->paths[0],
          compare_paths);
    return files->count > first && files->count < KERNEL_FILES_MAX;
}

/* The whole file, from the root of the sources; the caller frees the text. */
static inline grout_text read_source(const char *path) {
    char buffer[4096];
    grout_text text = {0};
    (void)snprintf(buffer, sizeof buffer, "%s/%s", GROUT_TEST_SOURCE_DIR, path);
    FILE *file = fopen(buffer, "rb");
    ck_assert_msg(file != NULL, "cannot open '%s'", buffer);
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        grout_text_add_bytes(&text, buffer, size);
    }
    (void)fclose(file);
    ck_assert(!text.failed && text.size > 0);
    return text;
}

/* The file as a bound and verified module, with memory enough. */
static inline grout_module *bind_source(const char *path) {
    grout_diags *diags = grout_diags_new();
    grout_text text = read_source(path);
    grout_module *symbolic = grout_parse(path, text.data, text.size, diags);
    ck_assert_ptr_nonnull(symbolic);
    grout_module *bound = grout_module_bind(symbolic, NULL, 0, diags);
    ck_assert_ptr_nonnull(bound);
    ck_assert(grout_verify(bound, GROUT_ARCH_OWN, diags));
    grout_module_free(symbolic);
    grout_text_free(&text);
    grout_diags_free(diags);
    return bound;
}

#endif
