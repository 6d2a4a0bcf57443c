/* compile.c - from emitted text to PTX or cubin: finding NVRTC, the cache, what ptxas said.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "cache.h"
#include "nvrtc.h"
#include "plan.h"
#include "ptxas_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool grout_gpu__report(grout_diags *diags, const grout_gpu_error *error, grout_place place) {
    if (error->code == GROUT_DIAG_OUT_OF_MEMORY && error->text[0] == '\0') {
        return grout_diags_add_oom(diags);
    }
    /* What the machine lacks is not the kernel's fault. */
    bool is_of_machine =
        error->code == GROUT_DIAG_GPU_MISSING || error->code == GROUT_DIAG_NVRTC_MISSING;
    grout_diags_add(diags, error->code, is_of_machine ? (grout_place){0} : place, "%s",
                    error->text);
    if (error->code == GROUT_DIAG_GPU_MISSING) {
        grout_diags_help(diags, "'grout doctor' says what was tried; without --device cuda it runs "
                                "on the CPU");
    } else if (error->code == GROUT_DIAG_NVRTC_MISSING) {
        grout_diags_help(diags, "%s", GROUT_GPU_NVRTC_REMEDY);
    }
    return false;
}

#define NAMES_PER_DIR 3

/* The candidates that the folders of the options make; owned. */
typedef struct candidates {
    char **paths;
    uint32_t count;
} candidates;

static void free_candidates(candidates *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->paths[i]);
    }
    free(c->paths);
}

static bool make_candidates(const grout_nvrtc_options *options, candidates *out) {
    static const char *const names[NAMES_PER_DIR] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                                     "libnvrtc.so"};
    *out = (candidates){0};
    out->paths = calloc(options->search_dir_count * NAMES_PER_DIR + 1, sizeof *out->paths);
    for (size_t i = 0; i < options->search_dir_count && out->paths != NULL; i++) {
        for (uint32_t k = 0; k < NAMES_PER_DIR; k++) {
            const size_t size = strlen(options->search_dirs[i]) + strlen(names[k]) + 2;
            char *path = malloc(size);
            if (path == NULL) {
                return false;
            }
            (void)snprintf(path, size, "%s/%s", options->search_dirs[i], names[k]);
            out->paths[out->count++] = path;
        }
    }
    return out->paths != NULL;
}

bool grout_gpu__open_nvrtc(const grout_nvrtc_options *options, grout_gpu_nvrtc *nvrtc,
                           grout_gpu_error *error) {
    candidates found;
    bool is_open = false;
    if (!make_candidates(options, &found)) {
        (void)grout_gpu__fail_memory(error, "the search for NVRTC");
    } else {
        const grout_gpu_nvrtc_search search = {.path = options->library,
                                               .candidates = (const char *const *)found.paths,
                                               .candidate_count = found.count};
        is_open = grout_gpu__nvrtc_open(&search, nvrtc, error);
    }
    free_candidates(&found);
    return is_open;
}

/* What ptxas said about the kernel, under its own name or the one that C++ made necessary. */
static bool read_resources(const char *log, const char *kernel_name, grout_binary *binary,
                           grout_gpu_error *error) {
    grout_gpu_ptxas_log parsed;
    char symbol[GROUT_GPU_SYMBOL_MAX];
    if (!grout_gpu__ptxas_log_parse(log, &parsed, error)) {
        return false;
    }
    grout_gpu__get_symbol(kernel_name, symbol);
    const grout_gpu_resources *found = grout_gpu__ptxas_log_find(&parsed, kernel_name);
    if (found == NULL) {
        found = grout_gpu__ptxas_log_find(&parsed, symbol);
    }
    if (found != NULL) {
        binary->registers = (int32_t)found->registers;
        binary->spill_bytes = (int32_t)(found->spill_store_bytes + found->spill_load_bytes);
        binary->static_smem_bytes = (int32_t)found->static_smem_bytes;
    }
    grout_gpu__ptxas_log_deinit(&parsed);
    return true;
}

/* problem: why the cache is of no use, if it is not. */
static bool compile(const grout_gpu_source *source, const char *kernel_name,
                    const grout_nvrtc_options *options, grout_binary *out, grout_gpu_error *error,
                    grout_gpu_error *problem) {
    grout_gpu_nvrtc nvrtc = {0};
    grout_gpu_cache cache = {0};
    grout_gpu_compiled compiled = {0};
    if (!grout_gpu__open_nvrtc(options, &nvrtc, error)) {
        return false;
    }
    /* Without a usable cache the kernel is compiled again. */
    const bool has_cache =
        options->cache_dir != NULL && grout_gpu__cache_open(&cache, options->cache_dir, 0, problem);
    bool is_done = grout_gpu__cache_compile(has_cache ? &cache : NULL, &nvrtc, source, &compiled,
                                            &out->from_cache, error);
    if (is_done) {
        is_done = read_resources(compiled.log, kernel_name, out, error);
        out->data = compiled.image;
        out->size = compiled.size;
        compiled.image = NULL;
    }
    out->log = compiled.log;
    compiled.log = NULL;
    grout_gpu__compiled_deinit(&compiled);
    if (has_cache) {
        *problem = cache.problem;
        grout_gpu__cache_close(&cache);
    }
    grout_gpu__nvrtc_close(&nvrtc);
    return is_done;
}

/* A cache that is of no use costs time alone. */
static void warn_of_cache(const grout_gpu_error *problem, grout_diags *diags) {
    uint32_t count = grout_diags_count(diags);
    if (problem->code == GROUT_DIAG_NONE) {
        return;
    }
    grout_gpu__report(diags, problem, (grout_place){0});
    if (grout_diags_count(diags) > count) {
        grout_diags_set_severity(diags, count, GROUT_SEVERITY_WARNING);
        grout_diags_help(diags, "the kernel is compiled again the next time; GROUT_CACHE names "
                                "another folder for the cache");
    }
}

bool grout_compile_cuda(const char *source, const char *kernel_name, grout_binary_kind kind,
                        const grout_nvrtc_options *options, grout_binary *binary_out,
                        grout_diags *diags) {
    const grout_nvrtc_options none = {0};
    const grout_nvrtc_options *chosen = options == NULL ? &none : options;
    const char *const flags[] = {"--std=c++17", "--fmad=false", "-lineinfo"};
    char name[GROUT_NAME_MAX + 8];
    (void)snprintf(name, sizeof name, "%s.cu", kernel_name);
    const grout_gpu_source text = {.name = name,
                                   .text = source,
                                   .arch = grout_arch_get_text(chosen->arch),
                                   .options = flags,
                                   .option_count = chosen->line_info ? 3 : 2,
                                   .is_in_process = chosen->is_in_process,
                                   .output = kind == GROUT_BINARY_PTX ? GROUT_GPU_OUTPUT_PTX
                                                                      : GROUT_GPU_OUTPUT_CUBIN};
    grout_gpu_error error = {0}, problem = {0};
    *binary_out = (grout_binary){.registers = -1, .spill_bytes = -1, .static_smem_bytes = -1};
    const bool is_done = compile(&text, kernel_name, chosen, binary_out, &error, &problem);
    warn_of_cache(&problem, diags);
    if (!is_done) {
        grout_gpu__report(diags, &error, (grout_place){0});
        grout_binary_free(binary_out);
    }
    return is_done;
}

bool grout_gpu__compile_kernel(const grout_module *bound, grout_kernel_id kernel,
                               const grout_emit_options *emission, const grout_nvrtc_options *nvrtc,
                               grout_binary *binary_out, grout_diags *diags) {
    const grout_kernel *it = grout_module_get_kernel(bound, kernel);
    char symbol[GROUT_GPU_SYMBOL_MAX];
    grout_text source = {0};
    grout_nvrtc_options options = *nvrtc;
    options.arch = grout_gpu__get_arch(bound, kernel);
    grout_gpu__get_symbol(grout_module_get_string(bound, it->name), symbol);
    const bool is_done =
        grout_emit_check_externs(bound, kernel, emission->extern_source, diags) &&
        grout_emit_cuda(bound, kernel, emission, &source, diags) &&
        grout_compile_cuda(source.data, symbol, GROUT_BINARY_CUBIN, &options, binary_out, diags);
    grout_text_free(&source);
    if (is_done) {
        (void)grout_binary_report_losses(binary_out, bound, kernel, diags);
    }
    return is_done;
}

void grout_binary_free(grout_binary *binary) {
    free(binary->data);
    free(binary->log);
    binary->data = NULL;
    binary->log = NULL;
}

/* A variable counts if it names a folder from the root. */
static bool is_absolute(const char *name, const char *value, grout_text *ignored) {
    if (value == NULL || value[0] == '\0' || value[0] == '/') {
        return value != NULL && value[0] != '\0';
    }
    grout_text_add(ignored, "%s%s, which is '%s', is not an absolute path and is ignored",
                   ignored->size > 0 ? "; " : "", name, value);
    return false;
}

bool grout_cache_find(const grout_cache_variables *variables, grout_text *folder_out,
                      grout_text *ignored_out) {
    const char *own = variables->grout_cache;
    if (own != NULL && own[0] != '\0') {
        grout_text_add(folder_out, "%s", own);
    } else if (is_absolute("XDG_CACHE_HOME", variables->xdg_cache_home, ignored_out)) {
        grout_text_add(folder_out, "%s/grout", variables->xdg_cache_home);
    } else if (is_absolute("HOME", variables->home, ignored_out)) {
        grout_text_add(folder_out, "%s/.cache/grout", variables->home);
    }
    return folder_out->size > 0 && !folder_out->failed;
}

bool grout_cache_clear(const char *cache_dir, grout_diags *diags) {
    grout_gpu_cache cache = {0};
    grout_gpu_cache_usage usage;
    grout_gpu_error error = {0};
    bool is_done = grout_gpu__cache_open(&cache, cache_dir, 0, &error);
    if (is_done) {
        is_done = grout_gpu__cache_clear(&cache, &usage, &error);
        grout_gpu__cache_close(&cache);
    }
    return is_done || grout_gpu__report(diags, &error, (grout_place){0});
}
