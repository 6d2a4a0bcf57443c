/* one_ptx.c - one text of PTX, within bounds of time and memory: for structure.py.
 *
 * usage: soak_ptx HOW FILE SECONDS MEGABYTES
 *
 * HOW is parse; print, also to stdout; load, up to the first instructions of the first entry; run,
 * to its end; or races, which looks for races too. The exit code is 0 if nothing is wrong, 1 with a
 * diagnostic, 2 if the words or the file are wrong.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PARAMETERS_MAX = 32764, /* bytes, of an entry */
    ARRAY_BYTES = 1 << 20,  /* what a parameter of 8 bytes is the address of */
    THREADS = 64,           /* two warps */
    MEGABYTE = 1 << 20,
    EXIT_DIAGNOSTIC = 1,
    EXIT_WORDS = 2
};

typedef struct words {
    const char *how, *file;
    double seconds;
    uint64_t max_memory;
} words;

static bool is_asked(const words *asked, const char *how) {
    return strcmp(asked->how, how) == 0;
}

static bool read_words(int count, char **texts, words *asked) {
    if (count != 5) {
        return false;
    }
    *asked = (words){.how = texts[1],
                     .file = texts[2],
                     .seconds = strtod(texts[3], NULL),
                     .max_memory = strtoull(texts[4], NULL, 10) * MEGABYTE};
    return is_asked(asked, "parse") || is_asked(asked, "print") || is_asked(asked, "load") ||
           is_asked(asked, "run") || is_asked(asked, "races");
}

/* All bytes of a file, owned; NULL if it cannot be read. */
static char *read_file(const char *name, size_t *size_out) {
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        return NULL;
    }
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    rewind(file);
    *size_out = text != NULL ? fread(text, 1, (size_t)size, file) : 0;
    const bool is_whole = text != NULL && *size_out == (size_t)size;
    (void)fclose(file);
    if (!is_whole) {
        free(text);
        return NULL;
    }
    return text;
}

/* Whether there is time left: the processor's, so that a busy machine changes nothing. */
static bool has_time(void *payload, const grout_progress *progress) {
    const words *asked = payload;
    (void)progress;
    return (double)clock() / CLOCKS_PER_SEC < asked->seconds;
}

static bool print(const grout_ptx_module *module) {
    grout_text text = {0};
    grout_ptx_module_print(module, &text);
    const bool is_right = !text.failed && fwrite(text.data, 1, text.size, stdout) == text.size;
    grout_text_free(&text);
    return is_right;
}

/* Arrays for the parameters that can be addresses; what the entry takes is in bytes. */
static bool set_parameters(const grout_ptx_launch *launch, uint8_t *parameters, size_t *bytes_out) {
    const uint64_t address = grout_ptx_memory_add(launch->memory, NULL, ARRAY_BYTES);
    size_t offset = 0, size = 0;
    *bytes_out = 0;
    for (uint32_t i = 0;
         grout_ptx_module_get_parameter(launch->module, launch->entry, i, &offset, &size); i++) {
        if (offset + size > PARAMETERS_MAX) {
            return false;
        }
        if (size == sizeof address) {
            memcpy(parameters + offset, &address, sizeof address);
        }
        *bytes_out = offset + size;
    }
    return address != 0;
}

/* Whether a run that is asked for few instructions has come so far. */
static bool has_come_far(const grout_diags *diags) {
    return grout_diags_count(diags) == 1 &&
           grout_diags_get(diags, 0)->code == GROUT_DIAG_LIMIT_REACHED;
}

static bool launch_first(const grout_ptx_module *module, words *asked, grout_diags *diags) {
    static uint8_t parameters[PARAMETERS_MAX];
    grout_ptx_launch launch = {.module = module,
                               .entry = grout_ptx_module_get_entry_name(module, 0),
                               .memory = grout_ptx_memory_new(),
                               .block = {THREADS, 1, 1},
                               .parameters = parameters,
                               .seed = 1,
                               .max_steps = is_asked(asked, "load") ? 1 : 0,
                               .finds_races = is_asked(asked, "races"),
                               .max_memory = asked->max_memory,
                               .progress = has_time,
                               .payload = asked};
    const bool is_right = launch.memory != NULL &&
                          set_parameters(&launch, parameters, &launch.parameter_bytes) &&
                          (grout_ptx_launch_run(&launch, NULL, diags) ||
                           (is_asked(asked, "load") && has_come_far(diags)));
    grout_ptx_memory_free(launch.memory);
    return is_right;
}

static bool do_all(words *asked, const char *text, size_t size, grout_diags *diags) {
    const grout_ptx_bounds bounds = {
        .max_memory = asked->max_memory, .progress = has_time, .payload = asked};
    grout_ptx_module *module = grout_ptx_parse_within(asked->file, text, size, &bounds, diags);
    const bool is_right =
        module != NULL && (is_asked(asked, "parse")   ? true
                           : is_asked(asked, "print") ? print(module)
                                                      : launch_first(module, asked, diags));
    grout_ptx_module_free(module);
    return is_right;
}

static void say(const grout_diags *diags) {
    grout_text said = {0};
    grout_diags_render(diags, &(grout_render_options){.color = false}, &said);
    (void)fwrite(said.data, 1, said.data != NULL ? said.size : 0, stderr);
    grout_text_free(&said);
}

int main(int argc, char **argv) {
    words asked;
    size_t size = 0;
    char *text = read_words(argc, argv, &asked) ? read_file(asked.file, &size) : NULL;
    grout_diags *diags = text != NULL ? grout_diags_new() : NULL;
    if (diags == NULL) {
        (void)fprintf(stderr,
                      "usage: soak_ptx parse|print|load|run|races FILE SECONDS MEGABYTES\n");
        free(text);
        return EXIT_WORDS;
    }
    const bool is_right = do_all(&asked, text, size, diags);
    if (!is_right) {
        say(diags);
    }
    grout_diags_free(diags);
    free(text);
    return is_right ? EXIT_SUCCESS : EXIT_DIAGNOSTIC;
}
