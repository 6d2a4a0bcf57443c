/* Runs every file of the folders named on the command line through a fuzz target, once, in sorted
 * order. A folder that does not exist is empty.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Inputs longer than this are not fuzzed, so they are not replayed either. */
enum { INPUT_SIZE_MAX = 1 << 20, PATH_SIZE_MAX = 4096 };

static bool run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(INPUT_SIZE_MAX);
    if (file == NULL || data == NULL) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        if (file != NULL) {
            fclose(file);
        }
        free(data);
        return false;
    }
    size_t size = fread(data, 1, INPUT_SIZE_MAX, file);
    fclose(file);
    /* An exact allocation, so that ASan sees a read of one byte past the input. */
    uint8_t *input = malloc(size > 0 ? size : 1);
    if (input != NULL) {
        memcpy(input, data, size);
        (void)LLVMFuzzerTestOneInput(input, size);
    }
    free(input);
    free(data);
    return true;
}

/* Returns how many files were run, or -1 after a failure. */
static int run_path(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return 0;
    }
    if (!S_ISDIR(info.st_mode)) {
        return run_file(path) ? 1 : -1;
    }
    struct dirent **entries = NULL;
    int entry_count = scandir(path, &entries, NULL, alphasort);
    int run_count = 0;
    for (int i = 0; i < entry_count; i++) {
        char child[PATH_SIZE_MAX];
        int length = snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
        bool hidden = entries[i]->d_name[0] == '.';
        free(entries[i]);
        if (hidden || run_count < 0 || length >= (int)sizeof child) {
            continue;
        }
        int count = run_path(child);
        run_count = count < 0 ? -1 : run_count + count;
    }
    free(entries);
    return run_count;
}

int main(int argc, char **argv) {
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int count = run_path(argv[i]);
        if (count < 0) {
            return 1;
        }
        total += count;
    }
    printf("replayed %d inputs\n", total);
    return 0;
}
