/* run_litmus.c - runs litmus programs on the PTX emulator in many orders and all timings. The
 * verdict of each has to be the one that the program names, in every run: order facts do not depend
 * on luck. SPDX-License-Identifier: Apache-2.0
 *
 *   run_litmus --least N FILE..     at least N programs; prints each that is not as it says
 *   run_litmus --values SEEDS FILE..  prints for oracle.py, of each seed, the verdict and the array
 *
 * A program has one parameter: an array of zeros in global memory.
 */
#include "grout/ptx.h"
#include "litmus_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 512, SEEDS = 5, STEPS_MAX = 2000000 };

static const grout_ptx_timing timings[] = {GROUT_PTX_TIMING_RANDOM, GROUT_PTX_TIMING_LATE,
                                           GROUT_PTX_TIMING_EARLY};
static const char *const timing_names[] = {"random", "late", "early"};
enum { TIMINGS = sizeof timings / sizeof timings[0] };

/* ---- what a run says ---- */

static const char *get_missing(const char *message) {
    return strstr(message, "no fence.proxy.tensormap") != NULL ? "map"
           : strstr(message, "ld.global.nc") != NULL           ? "cached"
           : strstr(message, "CTA has begun") != NULL          ? "begin"
           : strstr(message, "before it ends") != NULL         ? "end"
           : strstr(message, "no tcgen05.fence") != NULL       ? "tensor"
           : strstr(message, "ordered in time") != NULL        ? "sight"
           : strstr(message, "no fence.proxy.async") != NULL   ? "proxy"
           : strstr(message, "but the scope of one") != NULL   ? "scope"
           : strstr(message, "no tcgen05.wait") != NULL        ? "order"
           : strstr(message, "no barrier, fence or") != NULL   ? "order"
                                                               : "?";
}

static void print_diags(const grout_diags *diags) {
    grout_text said = {0};
    const grout_render_options options = {false};
    grout_diags_render(diags, &options, &said);
    printf("%s", said.data == NULL ? "no diagnostic\n" : said.data);
    grout_text_free(&said);
}

/* False if the run ended in another way. */
static bool get_verdict(const char *text, const grout_diags *diags, bool is_done,
                        litmus_verdict *verdict_out) {
    const grout_diag *diag = grout_diags_count(diags) == 0 ? NULL : grout_diags_get(diags, 0);
    *verdict_out = (litmus_verdict){.is_race = !is_done, .is_same = is_done && diag != NULL};
    if (is_done && diag == NULL) {
        return true;
    }
    const grout_diag_code code = is_done ? GROUT_DIAG_SAME_VALUE_RACE : GROUT_DIAG_PTX_RACE;
    if (diag == NULL || diag->code != code || diag->note_count == 0) {
        return false;
    }
    (void)snprintf(verdict_out->missing, LITMUS_WORD_MAX, "%s", get_missing(diag->message));
    litmus_get_mark(text, diag->place.line, verdict_out->marks[0]);
    litmus_get_mark(text, diag->notes[0].place.line, verdict_out->marks[1]);
    return true;
}

static void print_verdict(const litmus_verdict *verdict) {
    if (verdict->is_race || verdict->is_same) {
        printf("%s %s %s %s", verdict->is_race ? "race" : "same", verdict->missing,
               verdict->marks[0], verdict->marks[1]);
    } else {
        printf("ordered");
    }
}

/* ---- one run ---- */

typedef struct trial {
    const litmus_file *file;
    const grout_ptx_module *module;
    const char *text;
    uint32_t values[WORDS];
} trial;

/* False if a run with the search ends in another way than with a verdict, which is printed then.
 * What the search would have stopped may end one without it. */
static bool run(trial *it, uint64_t seed, grout_ptx_timing timing, bool finds_races,
                litmus_verdict *verdict_out) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_memory *memory = grout_ptx_memory_new();
    memset(it->values, 0, sizeof it->values);
    uint64_t address =
        memory == NULL ? 0 : grout_ptx_memory_add(memory, it->values, sizeof it->values);
    const grout_ptx_launch launch = {.module = it->module,
                                     .memory = memory,
                                     .grid = {it->file->grid, 1, 1},
                                     .cluster = {it->file->cluster, 1, 1},
                                     .block = {it->file->block, 1, 1},
                                     .parameters = &address,
                                     .parameter_bytes = sizeof address,
                                     .seed = seed,
                                     .timing = timing,
                                     .max_steps = STEPS_MAX,
                                     .finds_races = finds_races};
    size_t undefined = 0;
    bool is_done = diags != NULL && address != 0 && grout_ptx_launch_run(&launch, NULL, diags);
    bool is_known = diags != NULL && get_verdict(it->text, diags, is_done, verdict_out);
    if (!is_known && finds_races) {
        print_diags(diags);
    }
    if (is_done) {
        grout_ptx_memory_read(memory, address, it->values, sizeof it->values, &undefined);
    }
    grout_ptx_memory_free(memory);
    grout_diags_free(diags);
    return is_known;
}

static grout_ptx_module *parse(const char *path, const char *text) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = grout_ptx_parse(path, text, strlen(text), diags);
    if (module == NULL && diags != NULL && grout_diags_count(diags) > 0) {
        const grout_diag *diag = grout_diags_get(diags, 0);
        printf("%s:%u: %s\n", path, diag->place.line, diag->message);
    }
    grout_diags_free(diags);
    return module;
}

/* ---- expectations ---- */

static bool check_run(trial *it, const char *path, const litmus_twin *twin, uint64_t seed,
                      uint32_t timing) {
    litmus_verdict verdict;
    bool is_known = run(it, seed, timings[timing], true, &verdict);
    if (is_known && litmus_is_same(&verdict, &twin->expected)) {
        return true;
    }
    printf("%s", path);
    if (twin->piece[0] != '\0') {
        printf(" with '%s' for '%s'", twin->other, twin->piece);
    }
    printf(": seed %llu, %s: ", (unsigned long long)seed, timing_names[timing]);
    if (is_known) {
        print_verdict(&verdict);
    } else {
        printf("no verdict");
    }
    printf("; expected ");
    print_verdict(&twin->expected);
    printf("\n");
    return false;
}

static bool check_twin(const litmus_file *file, const char *path, const litmus_twin *twin) {
    static char text[LITMUS_TEXT_MAX];
    if (!litmus_make_twin(file, twin, text)) {
        printf("%s: '%s' is not there exactly once\n", path, twin->piece);
        return false;
    }
    trial it = {.file = file, .module = parse(path, text), .text = text};
    bool is_right = it.module != NULL;
    for (uint64_t seed = 0; is_right && seed < SEEDS; seed++) {
        for (uint32_t timing = 0; is_right && timing < TIMINGS; timing++) {
            is_right = check_run(&it, path, twin, seed, timing);
        }
    }
    grout_ptx_module_free((grout_ptx_module *)it.module);
    return is_right;
}

static bool read_file(const char *path, litmus_file *file_out) {
    const char *reason = NULL;
    bool is_read = litmus_read(path, file_out, &reason);
    if (!is_read) {
        printf("%s %s\n", path, reason);
    }
    return is_read;
}

static int check_files(char **paths, uint32_t count, uint32_t least) {
    static litmus_file file;
    uint32_t programs = 0, wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        wrong += !read_file(paths[i], &file);
        for (uint32_t j = 0; j < file.twin_count; j++) {
            programs++;
            wrong += !check_twin(&file, paths[i], &file.twins[j]);
        }
    }
    printf("%u programs in %u files, %u not as they say\n", programs, count, wrong);
    return wrong == 0 && programs >= least ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- values for the oracle ---- */

/* The array that a run without the search leaves, and the verdict of the same run with it. */
static bool print_seed(trial *it, uint64_t seed) {
    litmus_verdict plain, verdict;
    grout_ptx_timing timing = timings[seed % TIMINGS];
    if (!run(it, seed, timing, true, &verdict)) {
        return false;
    }
    const bool is_over = run(it, seed, timing, false, &plain);
    if (!is_over && !verdict.is_race) {
        return false;
    }
    print_verdict(&verdict);
    printf(" :");
    for (uint32_t i = 0; i < WORDS; i++) {
        if (it->values[i] != 0) {
            printf(" %u=%u", i, it->values[i]);
        }
    }
    printf("\n");
    return !is_over || !plain.is_race;
}

static int print_values(char **paths, uint32_t count, uint32_t seeds) {
    static litmus_file file;
    for (uint32_t i = 0; i < count; i++) {
        trial it = {.file = &file, .text = file.text};
        if (!read_file(paths[i], &file)) {
            return EXIT_FAILURE;
        }
        it.module = parse(paths[i], file.text);
        bool is_right = it.module != NULL;
        for (uint64_t seed = 0; is_right && seed < seeds; seed++) {
            is_right = print_seed(&it, seed);
        }
        grout_ptx_module_free((grout_ptx_module *)it.module);
        if (!is_right) {
            printf("%s: no verdict\n", paths[i]);
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}

int main(int count, char **words) {
    const char *mode = count > 3 ? words[1] : "";
    uint32_t number = count > 3 ? (uint32_t)strtoul(words[2], NULL, 10) : 0;
    if (strcmp(mode, "--least") == 0) {
        return check_files(words + 3, (uint32_t)count - 3, number);
    }
    if (strcmp(mode, "--values") == 0) {
        return print_values(words + 3, (uint32_t)count - 3, number);
    }
    (void)fprintf(stderr, "usage: run_litmus --least N FILE.. | --values SEEDS FILE..\n");
    return 2;
}
