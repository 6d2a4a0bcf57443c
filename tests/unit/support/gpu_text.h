/*
 * gpu_text.h - for the tests of gpu_backend/: kernels as text to bound modules, and files.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_GPU_TEXT_H
#define GROUT_TEST_GPU_TEXT_H

#include "grout-internal/gpu.h"
#include "grout-internal/text.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fails the test, for the reasons in diags; text: what they are about, or "". All of it goes to
 * stderr: Check takes 4 KB of a message, and at more ends the program without one. */
static inline void fail_with_diags(const char *name, const grout_diags *diags, const char *text) {
    const grout_render_options plain = {.color = false};
    grout_text shown = {0};
    grout_diags_render(diags, &plain, &shown);
    fprintf(stderr, "---- %s ----\n%s%s", name, shown.data == NULL ? "no reason\n" : shown.data,
            text);
    grout_text_free(&shown);
    ck_abort_msg("%.200s: see above", name);
}

/* A module that binds and verifies, or a failed test that shows why it does not. */
static inline grout_module *bind_text(const char *name, const char *text, grout_diags *diags) {
    grout_module *symbolic = grout_parse(name, text, strlen(text), diags);
    grout_module *bound = NULL;
    if (symbolic != NULL) {
        bound = grout_module_bind(symbolic, NULL, 0, diags);
    }
    grout_module_free(symbolic);
    if (bound == NULL || !grout_verify(bound, GROUT_ARCH_OWN, diags)) {
        fail_with_diags(name, diags, "");
    }
    return bound;
}

/* An emitted text has to hold one text, and to lack another one unless that is NULL. The whole text
 * goes to stderr. */
static inline void check_text(const char *name, const char *text, const char *holds,
                              const char *lacks) {
    const bool is_held = strstr(text, holds) != NULL;
    const bool is_lacking = lacks == NULL || strstr(text, lacks) == NULL;
    if (!is_held || !is_lacking) {
        fprintf(stderr, "---- %s ----\n%s", name, text);
    }
    ck_assert_msg(is_held, "%s: no '%s' in the text above", name, holds);
    ck_assert_msg(is_lacking, "%s: '%s' in the text above", name, lacks);
}

/* The whole file; the caller frees the text. */
static inline grout_text read_file(const char *path) {
    char buffer[4096];
    grout_text text = {0};
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open '%s'", path);
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        grout_text_add_bytes(&text, buffer, size);
    }
    fclose(file);
    grout_text_add(&text, "%s", "");
    return text;
}

#define KERNEL_FILES_MAX 128

typedef struct kernel_files {
    char paths[KERNEL_FILES_MAX][512];
    int count;
} kernel_files;

static inline int compare_paths(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Whether the kernel says that it is for Blackwell. */
static inline bool is_for_blackwell(const char *path) {
    char text[16384];
    FILE *file = fopen(path, "r");
    const size_t size = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    if (file != NULL) {
        fclose(file);
    }
    text[size] = '\0';
    return strstr(text, "attr arch = \"sm_1") != NULL;
}

/* Adds the kernels of a folder that are for Blackwell, or those that are not, in the order of their
 * names. None, or too many, ends the program: a test of no kernel would pass. */
static inline void find_files_for(const char *folder, bool is_blackwell, kernel_files *out) {
    const int first = out->count;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        const char *end = strrchr(entry->d_name, '.');
        if (end != NULL && strcmp(end, ".grout") == 0 && out->count < KERNEL_FILES_MAX) {
            snprintf(out->paths[out->count], sizeof out->paths[0], "%s/%s", folder, entry->d_name);
            out->count += is_for_blackwell(out->paths[out->count]) == is_blackwell ? 1 : 0;
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    if (out->count == first || out->count == KERNEL_FILES_MAX) {
        fprintf(stderr, "%s: no kernels, or more than KERNEL_FILES_MAX\n", folder);
        exit(1);
    }
    qsort(out->paths + first, (size_t)(out->count - first), sizeof out->paths[0], compare_paths);
}

static inline void find_kernel_files(const char *folder, kernel_files *out) {
    find_files_for(folder, false, out);
}

#endif
