/* nvrtc.c - finding NVRTC, and compiling with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "nvrtc.h"

#include <dlfcn.h>
#include <glob.h> /* lint-allow: glob.h, toolkits have their version in the folder name */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    {"nvrtcGetErrorString", offsetof(grout_nvrtc_api, get_error_string)},
    {"nvrtcVersion", offsetof(grout_nvrtc_api, version)},
    {"nvrtcCreateProgram", offsetof(grout_nvrtc_api, create_program)},
    {"nvrtcDestroyProgram", offsetof(grout_nvrtc_api, destroy_program)},
    {"nvrtcCompileProgram", offsetof(grout_nvrtc_api, compile_program)},
    {"nvrtcGetPTXSize", offsetof(grout_nvrtc_api, get_ptx_size)},
    {"nvrtcGetPTX", offsetof(grout_nvrtc_api, get_ptx)},
    {"nvrtcGetCUBINSize", offsetof(grout_nvrtc_api, get_cubin_size)},
    {"nvrtcGetCUBIN", offsetof(grout_nvrtc_api, get_cubin)},
    {"nvrtcGetProgramLogSize", offsetof(grout_nvrtc_api, get_log_size)},
    {"nvrtcGetProgramLog", offsetof(grout_nvrtc_api, get_log)},
};

/* Why the candidates so far would not do, for the message when none does. */
typedef struct attempts {
    char text[768];
    size_t size;
} attempts;

static void note_attempt(attempts *tried, const char *why) {
    const size_t room = sizeof tried->text - tried->size;
    const int added =
        snprintf(tried->text + tried->size, room, "%s%s", tried->size == 0 ? "" : "; ", why);
    if (added > 0) {
        tried->size += (size_t)added < room ? (size_t)added : room - 1;
    }
}

/* Fills the functions, and the path of the file they come from. */
static bool find_functions(grout_gpu_nvrtc *nvrtc) {
    Dl_info info;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *symbol = dlsym(nvrtc->library, functions[i].name);
        if (symbol == NULL) {
            return false;
        }
        memcpy((char *)&nvrtc->api + functions[i].offset, &symbol, sizeof symbol);
        if (i == 0 && dladdr(symbol, &info) != 0 && info.dli_fname != NULL) {
            (void)snprintf(nvrtc->path, sizeof nvrtc->path, "%s", info.dli_fname);
        }
    }
    return true;
}

/* Opens one candidate. On failure nothing stays open and tried says why. */
static bool open_candidate(const char *path, grout_gpu_nvrtc *nvrtc, attempts *tried) {
    char why[256];
    *nvrtc = (grout_gpu_nvrtc){0};
    /* NODELETE: unloaded, NVRTC 13.0 leaves memory behind each time; resident, it uses it again. */
    nvrtc->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (nvrtc->library == NULL) {
        const char *reason = dlerror();
        note_attempt(tried, reason != NULL ? reason : path);
        return false;
    }
    (void)snprintf(nvrtc->path, sizeof nvrtc->path, "%s", path);
    if (!find_functions(nvrtc) || nvrtc->api.version(&nvrtc->major, &nvrtc->minor) != 0) {
        (void)snprintf(why, sizeof why, "%.200s is not an NVRTC library", path);
    } else if (nvrtc->major < GROUT_GPU_NVRTC_MAJOR_MIN) {
        (void)snprintf(why, sizeof why, "%.160s is version %d.%d, and sm_90a needs %d.0", path,
                       nvrtc->major, nvrtc->minor, GROUT_GPU_NVRTC_MAJOR_MIN);
    } else {
        return true;
    }
    note_attempt(tried, why);
    grout_gpu__nvrtc_close(nvrtc);
    return false;
}

static bool open_in_home(const char *home, grout_gpu_nvrtc *nvrtc, attempts *tried) {
    static const char *const names[] = {"lib64/libnvrtc.so.13", "lib64/libnvrtc.so.12",
                                        "lib64/libnvrtc.so", "lib/libnvrtc.so"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        const int size = snprintf(path, sizeof path, "%s/%s", home, names[i]);
        if (size > 0 && (size_t)size < sizeof path && open_candidate(path, nvrtc, tried)) {
            return true;
        }
    }
    return false;
}

/* /usr/local/cuda*, in the order of their names: the plain one, a link to the chosen version,
 * first. */
static bool open_in_usual_homes(grout_gpu_nvrtc *nvrtc, attempts *tried) {
    glob_t homes;
    bool ok = false;
    if (glob("/usr/local/cuda*", 0, NULL, &homes) != 0) {
        note_attempt(tried, "there is no /usr/local/cuda*");
        return false;
    }
    for (size_t i = 0; i < homes.gl_pathc && !ok; i++) {
        ok = open_in_home(homes.gl_pathv[i], nvrtc, tried);
    }
    globfree(&homes);
    return ok;
}

bool grout_gpu__nvrtc_open(const grout_gpu_nvrtc_search *search, grout_gpu_nvrtc *nvrtc,
                           grout_gpu_error *error) {
    attempts tried = {.size = 0};
    if (search->path != NULL) {
        return open_candidate(search->path, nvrtc, &tried) ||
               grout_gpu__fail(error, GROUT_DIAG_NVRTC_MISSING, "no usable NVRTC: %s", tried.text);
    }
    for (uint32_t i = 0; i < search->candidate_count; i++) {
        if (open_candidate(search->candidates[i], nvrtc, &tried)) {
            return true;
        }
    }
    if (open_candidate("libnvrtc.so.13", nvrtc, &tried) ||
        open_candidate("libnvrtc.so.12", nvrtc, &tried)) {
        return true;
    }
    for (uint32_t i = 0; i < search->cuda_home_count; i++) {
        if (open_in_home(search->cuda_homes[i], nvrtc, &tried)) {
            return true;
        }
    }
    if (open_in_usual_homes(nvrtc, &tried)) {
        return true;
    }
    return grout_gpu__fail(error, GROUT_DIAG_NVRTC_MISSING, "no usable NVRTC: %s", tried.text);
}

void grout_gpu__nvrtc_close(grout_gpu_nvrtc *nvrtc) {
    if (nvrtc->library != NULL) {
        (void)dlclose(nvrtc->library);
    }
    *nvrtc = (grout_gpu_nvrtc){0};
}

static bool check(const grout_gpu_nvrtc *nvrtc, grout_nvrtc_result result, const char *what,
                  grout_gpu_error *error) {
    return result == GROUT_NVRTC_SUCCESS ||
           grout_gpu__fail(error, GROUT_DIAG_NVRTC_FAILED, "NVRTC cannot %s: %s", what,
                           nvrtc->api.get_error_string(result));
}

static bool get_log(const grout_gpu_nvrtc *nvrtc, grout_nvrtc_program program,
                    grout_gpu_compiled *out, grout_gpu_error *error) {
    size_t size = 0;
    if (!check(nvrtc, nvrtc->api.get_log_size(program, &size), "give its log", error)) {
        return false;
    }
    out->log = calloc(size + 1, 1);
    if (out->log == NULL) {
        return grout_gpu__fail_memory(error, "the compiler's log");
    }
    return size == 0 || check(nvrtc, nvrtc->api.get_log(program, out->log), "give its log", error);
}

static bool get_image(const grout_gpu_nvrtc *nvrtc, grout_nvrtc_program program,
                      grout_gpu_output output, grout_gpu_compiled *out, grout_gpu_error *error) {
    const bool is_ptx = output == GROUT_GPU_OUTPUT_PTX;
    grout_nvrtc_result (*get_size)(grout_nvrtc_program, size_t *) =
        is_ptx ? nvrtc->api.get_ptx_size : nvrtc->api.get_cubin_size;
    grout_nvrtc_result (*get)(grout_nvrtc_program, char *) =
        is_ptx ? nvrtc->api.get_ptx : nvrtc->api.get_cubin;
    size_t size = 0;
    if (!check(nvrtc, get_size(program, &size), "give the compiled image", error)) {
        return false;
    }
    if (size == 0) {
        return grout_gpu__fail(error, GROUT_DIAG_NVRTC_FAILED,
                               "NVRTC made no image for this architecture");
    }
    out->image = calloc(size + 1, 1);
    if (out->image == NULL) {
        return grout_gpu__fail_memory(error, "the compiled image");
    }
    out->size = is_ptx ? size - 1 : size; /* NVRTC counts the NUL of PTX. */
    return check(nvrtc, get(program, (char *)out->image), "give the compiled image", error);
}

/* The first line of a log that says error, else its first line. */
static const char *first_error(const char *log) {
    const char *line = strstr(log, "error");
    if (line == NULL) {
        return log;
    }
    while (line > log && line[-1] != '\n') {
        line--;
    }
    return line;
}

static bool compile(const grout_gpu_nvrtc *nvrtc, grout_nvrtc_program program,
                    const grout_gpu_source *source, grout_gpu_compiled *out,
                    grout_gpu_error *error) {
    char arch[64];
    (void)snprintf(arch, sizeof arch, "--gpu-architecture=%s", source->arch);
    const char **options = calloc(source->option_count + 2, sizeof *options);
    if (options == NULL) {
        return grout_gpu__fail_memory(error, "compiler options");
    }
    options[0] = arch;
    options[1] = "--ptxas-options=-v";
    for (uint32_t i = 0; i < source->option_count; i++) {
        options[i + 2] = source->options[i];
    }
    const grout_nvrtc_result result =
        nvrtc->api.compile_program(program, (int)source->option_count + 2, options);
    free(options);
    if (!get_log(nvrtc, program, out, error)) {
        return false;
    }
    if (result != GROUT_NVRTC_SUCCESS) {
        const char *line = first_error(out->log);
        return grout_gpu__fail(error, GROUT_DIAG_NVRTC_FAILED, "NVRTC refuses '%s': %.*s",
                               source->name, (int)strcspn(line, "\n"), line);
    }
    return get_image(nvrtc, program, source->output, out, error);
}

bool grout_gpu__nvrtc_compile_here(const grout_gpu_nvrtc *nvrtc, const grout_gpu_source *source,
                                   grout_gpu_compiled *out, grout_gpu_error *error) {
    grout_nvrtc_program program = NULL;
    *out = (grout_gpu_compiled){0};
    const char **texts = calloc(2 * (size_t)source->header_count + 1, sizeof *texts);
    if (texts == NULL) {
        return grout_gpu__fail_memory(error, "header names");
    }
    const char **names = texts + source->header_count;
    for (uint32_t i = 0; i < source->header_count; i++) {
        texts[i] = source->headers[i].text;
        names[i] = source->headers[i].name;
    }
    bool ok = check(nvrtc,
                    nvrtc->api.create_program(&program, source->text, source->name,
                                              (int)source->header_count, texts, names),
                    "take the source", error);
    if (ok) {
        ok = compile(nvrtc, program, source, out, error);
        (void)nvrtc->api.destroy_program(&program);
    }
    free(texts);
    return ok;
}

void grout_gpu__compiled_deinit(grout_gpu_compiled *compiled) {
    free(compiled->image);
    free(compiled->log);
    *compiled = (grout_gpu_compiled){0};
}
