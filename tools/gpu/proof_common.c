/* proof_common.c - compiling and describing the variants of proof_add_tma.cu.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device_header.h"
#include "proof.h"

double proof_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void *proof_allocate(size_t size) {
    void *memory = calloc(1, size == 0 ? 1 : size);
    if (memory == NULL) {
        fprintf(stderr, "proof: no memory\n");
        exit(2);
    }
    return memory;
}

static char *read_source(const proof_tools *t, const char *name) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", t->source_directory, name);
    FILE *file = fopen(path, "rb");
    char *text = proof_allocate(1 << 20);
    if (file == NULL || fread(text, 1, (1 << 20) - 1, file) == 0) {
        fprintf(stderr, "proof: cannot read %s\n", path);
        exit(2);
    }
    (void)fclose(file);
    return text;
}

void proof_report(proof_tools *t, bool ok, const char *what, const char *detail) {
    printf("%-4s %s: %s\n", ok ? "ok" : "FAIL", what, detail);
    t->failures += ok ? 0 : 1;
}

/* ---- compiling ---- */

grout_gpu_compiled proof_compile(proof_tools *t, const char *name, const char *const *options,
                                 uint32_t option_count) {
    const grout_gpu_header headers[] = {
        {"grout_device.cuh", (const char *)grout_gpu__device_header},
        {"grout_num.cuh", (const char *)grout_gpu__num_header},
        {"grout/num.h", (const char *)grout_gpu__arithmetic},
    };
    char *text = read_source(t, name);
    const grout_gpu_source source = {.name = name,
                                     .text = text,
                                     .headers = headers,
                                     .header_count = 3,
                                     .arch = "sm_90a",
                                     .options = options,
                                     .option_count = option_count};
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    bool is_hit = false;
    if (!grout_gpu__cache_compile(t->cache.is_open ? &t->cache : NULL, &t->nvrtc, &source,
                                  &compiled, &is_hit, &error)) {
        fprintf(stderr, "proof: %s\n%s\n", error.text, compiled.log != NULL ? compiled.log : "");
        exit(2);
    }
    *(is_hit ? &t->hits : &t->misses) += 1;
    free(text);
    return compiled;
}

grout_gpu_compiled proof_compile_variant(proof_tools *t, const proof_variant *v, uint32_t x,
                                         uint32_t y) {
    char text[15][40];
    const struct {
        const char *name;
        uint32_t value;
    } macros[] = {{"X", x},
                  {"Y", y},
                  {"XB", v->xb},
                  {"YB", v->yb},
                  {"BUF", v->buf},
                  {"OUT", v->out},
                  {"HINT", v->hint},
                  {"ALL_BARRIERS", v->all_barriers},
                  {"GROUT_WATCHDOG", v->watchdog},
                  {"DROP_COMMIT", v->drop_commit},
                  {"ORDER", v->order},
                  {"STEPS", v->steps},
                  {"ARRIVALS", v->arrivals == 0 ? 2 : v->arrivals}};
    const char *options[15] = {"--fmad=false", "--std=c++17"};
    uint32_t count = 2;
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++) {
        (void)snprintf(text[count], sizeof text[count], "-D%s=%" PRIu32, macros[i].name,
                       macros[i].value);
        options[count] = text[count];
        count++;
    }
    return proof_compile(t, "proof_add_tma.cu", options, count);
}

/* ---- launches ---- */

static uint32_t cdiv(uint32_t a, uint32_t b) {
    return (a + b - 1) / b;
}

uint32_t proof_smem_bytes(const proof_variant *v) {
    return 1024 + (2 * v->buf + v->out) * v->xb * v->yb * 4 + 8 * v->buf;
}

static grout_gpu_tensor_map make_map(const proof_variant *v, uint32_t x, uint32_t y) {
    return (grout_gpu_tensor_map){.type = GROUT_GPU_TENSOR_F32,
                                  .rank = 2,
                                  .dims = {y, x},
                                  .strides_bytes = {0, (uint64_t)y * 4},
                                  .box = {v->yb, v->xb},
                                  .l2_promotion = v->l2};
}

static uint32_t grid_size(const proof_variant *v, uint32_t x, uint32_t y) {
    switch (v->order) {
    case 1:
        return v->steps;
    case 2:
        return cdiv(x, v->xb) * cdiv(cdiv(y, v->yb), v->steps);
    default:
        return cdiv(x, v->xb);
    }
}

grout_gpu_step proof_make_add(const proof_variant *v, uint32_t x, uint32_t y,
                              grout_gpu_param *params) {
    for (uint32_t i = 0; i < 3; i++) {
        params[i] = (grout_gpu_param){
            .kind = GROUT_GPU_PARAM_TENSOR_MAP, .buffer = i, .map = make_map(v, x, y)};
    }
    params[3] = (grout_gpu_param){.kind = GROUT_GPU_PARAM_WATCHDOG};
    return (grout_gpu_step){.kernel = "add",
                            .shape = {.grid = {grid_size(v, x, y), 1, 1},
                                      .block = {128, 1, 1},
                                      .dynamic_smem_bytes = proof_smem_bytes(v)},
                            .params = params,
                            .param_count = 4};
}
