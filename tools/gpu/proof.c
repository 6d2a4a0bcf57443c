/*
 * proof.c - runs proof_add_tma.cu on a GPU: is it right, what happens when it is wrong, how fast is
 * it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: proof [--nvrtc PATH] [--cache DIR] [--source DIR] [--compile-only]
 *
 * --source is where proof_add_tma.cu lies (tools/gpu). With --compile-only it fills the cache and
 * needs no GPU. Exit: 0 all as expected, 1 not, 2 usage, no NVRTC.
 */
#include "proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const proof_variant plain = {.xb = 32, .yb = 64, .buf = 2, .out = 1, .watchdog = true};

static const proof_variant without_commit[] = {
    {.xb = 32, .yb = 64, .buf = 2, .out = 1, .watchdog = true, .drop_commit = 1},
    {.xb = 32, .yb = 64, .buf = 2, .out = 1, .watchdog = true, .drop_commit = 2},
    {.xb = 8, .yb = 256, .buf = 4, .out = 1, .watchdog = true, .drop_commit = 1},
    {.xb = 8, .yb = 256, .buf = 4, .out = 1, .watchdog = true, .drop_commit = 2},
    {.xb = 2, .yb = 256, .buf = 2, .out = 1, .watchdog = true, .drop_commit = 2},
};

static const char *code_text(grout_diag_code code) {
    static const char *const texts[] = {
        "none",
#define GROUT_DIAG(NAME, TEXT, SEVERITY, STAGE, DOC) TEXT,
#include "grout/diag.def"
    };
    return texts[code];
}

/* Small arrays from and to the host. Returns the number of wrong elements, or -1 with an error. */
static int64_t run_small(proof_tools *t, const proof_variant *v, uint32_t x, uint32_t y,
                         grout_gpu_outcome *outcome, grout_gpu_error *error) {
    const size_t count = (size_t)x * y;
    const uint64_t size = count * sizeof(float);
    float *a = proof_allocate(size);
    float *b = proof_allocate(size);
    float *c = proof_allocate(size);
    for (size_t i = 0; i < count; i++) {
        a[i] = (float)((i * 2654435761u) >> 7 & 0xffffff) * 0x1p-24f;
        b[i] = (float)((i * 2246822519u) >> 5 & 0xffffff) * 0x1p-20f;
    }
    const grout_gpu_buffer buffers[] = {
        {.name = "a", .direction = GROUT_GPU_IN, .size = size, .input = a},
        {.name = "b", .direction = GROUT_GPU_IN, .size = size, .input = b},
        {.name = "c",
         .direction = GROUT_GPU_OUT,
         .size = size,
         .output = c,
         .fill = {.pattern = PROOF_POISON, .pattern_size = 4}},
    };
    grout_gpu_param params[4];
    const grout_gpu_step step = proof_make_add(v, x, y, params);
    grout_gpu_compiled compiled = proof_compile_variant(t, v, x, y);
    const void *image = compiled.image;
    const grout_gpu_job launch = {.cc_major = 9,
                                  .images = &image,
                                  .image_count = 1,
                                  .buffers = buffers,
                                  .buffer_count = 3,
                                  .steps = &step,
                                  .step_count = 1,
                                  .timeout_ms = 60000};
    int64_t bad = -1;
    if (grout_gpu__launch_run(&launch, outcome, error)) {
        bad = 0;
        for (size_t i = 0; i < count; i++) {
            const float sum = a[i] + b[i];
            bad += !(sum == c[i]); /* all of them are finite */
        }
    }
    grout_gpu__compiled_deinit(&compiled);
    free(a);
    free(b);
    free(c);
    return bad;
}

static void prove_size(proof_tools *t, uint32_t x, uint32_t y) {
    char what[80];
    char detail[1100];
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    const double start = proof_seconds();
    const int64_t bad = run_small(t, &plain, x, y, &outcome, &error);
    (void)snprintf(what, sizeof what, "sum %" PRIu32 " x %" PRIu32, x, y);
    (void)snprintf(detail, sizeof detail, "%" PRId64 " elements wrong, %.2f s %s", bad,
                   proof_seconds() - start, error.text);
    proof_report(t, bad == 0, what, detail);
    grout_gpu__outcome_deinit(&outcome);
}

/* Without commit_smem: how many sums are wrong. Nothing is promised: this is to know. */
static void prove_missing_commit(proof_tools *t) {
    for (size_t i = 0; i < sizeof without_commit / sizeof without_commit[0]; i++) {
        const proof_variant *v = &without_commit[i];
        char detail[1100];
        grout_gpu_outcome outcome;
        grout_gpu_error error = {0};
        const int64_t bad = run_small(t, v, 4096, 4096, &outcome, &error);
        (void)snprintf(detail, sizeof detail,
                       "%" PRIu32 " x %" PRIu32 " BUF %" PRIu32 ", %s: %" PRId64
                       " of %d sums wrong %s",
                       v->xb, v->yb, v->buf,
                       v->drop_commit == 1 ? "barrier but no fence" : "neither fence nor barrier",
                       bad, 4096 * 4096, error.text);
        proof_report(t, bad >= 0, "no commit_smem 4096 x 4096", detail);
        grout_gpu__outcome_deinit(&outcome);
    }
}

static void prove_deadlock(proof_tools *t) {
    proof_variant v = plain;
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    v.arrivals = 3;
    const double start = proof_seconds();
    const int64_t bad = run_small(t, &v, 4000, 120, &outcome, &error);
    char detail[1200];
    (void)snprintf(detail, sizeof detail, "%s (%s), %.2f s", error.text, code_text(error.code),
                   proof_seconds() - start);
    proof_report(t, bad < 0 && error.code == GROUT_DIAG_GPU_HANG && outcome.hang_count > 0,
                 "deadlock, watchdog", detail);
    for (uint32_t i = 0; i < outcome.hang_count; i++) {
        const grout_gpu_hang *hang = &outcome.hangs[i];
        if (i < 3 || i == outcome.hang_count - 1) {
            printf("       CTA (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") thread %" PRIu32
                   ": barrier %" PRIu32 "[%" PRIu32 "] parity %" PRIu32 " line %" PRIu32
                   ", %.1f ms\n",
                   hang->cta[0], hang->cta[1], hang->cta[2], hang->thread, hang->barrier,
                   hang->slot, hang->parity, hang->line, (double)hang->waited_ns * 1e-6);
        }
    }
    grout_gpu__outcome_deinit(&outcome);
}

/* A kernel that faults, one that never ends, and a good one afterwards. */
static void prove_fault(proof_tools *t) {
    static const struct {
        const char *kernel;
        grout_diag_code code;
    } cases[] = {{"fault", GROUT_DIAG_GPU_FAULT}, {"spin", GROUT_DIAG_GPU_HANG}};
    grout_gpu_compiled compiled = proof_compile(t, "proof_tools.cu", NULL, 0);
    const void *image = compiled.image;
    const grout_gpu_buffer buffer = {.name = "flag",
                                     .direction = GROUT_GPU_SCRATCH,
                                     .size = 4,
                                     .fill = {.pattern = 0, .pattern_size = 4}};
    const grout_gpu_param param = {.kind = GROUT_GPU_PARAM_BUFFER};
    for (size_t i = 0; i < 2; i++) {
        const grout_gpu_step step = {.kernel = cases[i].kernel,
                                     .shape = {.grid = {1, 1, 1}, .block = {32, 1, 1}},
                                     .params = &param,
                                     .param_count = i == 0 ? 0 : 1};
        const grout_gpu_job launch = {.images = &image,
                                      .image_count = 1,
                                      .buffers = &buffer,
                                      .buffer_count = 1,
                                      .steps = &step,
                                      .step_count = 1,
                                      .timeout_ms = 4000};
        grout_gpu_outcome outcome;
        grout_gpu_error error = {0};
        const double start = proof_seconds();
        const bool ok = grout_gpu__launch_run(&launch, &outcome, &error);
        char detail[1200];
        (void)snprintf(detail, sizeof detail, "%s (%s), %.2f s", error.text, code_text(error.code),
                       proof_seconds() - start);
        proof_report(t, !ok && error.code == cases[i].code, cases[i].kernel, detail);
        grout_gpu__outcome_deinit(&outcome);
    }
    grout_gpu__compiled_deinit(&compiled);
    prove_size(t, 256, 256);
}

static void compile_everything(proof_tools *t) {
    static const uint32_t sizes[][2] = {{256, 256}, {4000, 120}, {33, 100}};
    grout_gpu_compiled compiled = proof_compile(t, "proof_tools.cu", NULL, 0);
    grout_gpu__compiled_deinit(&compiled);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        compiled = proof_compile_variant(t, &plain, sizes[i][0], sizes[i][1]);
        grout_gpu__compiled_deinit(&compiled);
    }
    for (size_t i = 0; i < sizeof without_commit / sizeof without_commit[0]; i++) {
        compiled = proof_compile_variant(t, &without_commit[i], 4096, 4096);
        grout_gpu__compiled_deinit(&compiled);
    }
    proof_variant v = plain;
    v.arrivals = 3;
    compiled = proof_compile_variant(t, &v, 4000, 120);
    grout_gpu__compiled_deinit(&compiled);
    proof_num(t, true);
    proof_speed(t, true);
}

static bool show_devices(void) {
    grout_gpu_device devices[16];
    grout_gpu_error error = {0};
    uint32_t count = 0;
    if (!grout_gpu__probe_devices(devices, 16, &count, &error)) {
        printf("no GPU: %s\n", error.text);
        return false;
    }
    for (uint32_t i = 0; i < count && i < 16; i++) {
        printf("GPU %" PRIu32 ": %s, compute capability %d.%d, %d SMs, %.1f GiB, driver %d.%d\n", i,
               devices[i].name, devices[i].cc_major, devices[i].cc_minor, devices[i].sm_count,
               (double)devices[i].memory_size / (1 << 30), devices[i].driver_version / 1000,
               devices[i].driver_version % 1000 / 10);
    }
    return count > 0;
}

static bool open_tools(proof_tools *t, const char *nvrtc, const char *cache) {
    const grout_gpu_nvrtc_search search = {.path = nvrtc};
    grout_gpu_error error = {0};
    if (!grout_gpu__nvrtc_open(&search, &t->nvrtc, &error) ||
        (cache != NULL && !grout_gpu__cache_open(&t->cache, cache, 0, &error))) {
        fprintf(stderr, "proof: %s\n", error.text);
        return false;
    }
    printf("NVRTC %d.%d: %s\n", t->nvrtc.major, t->nvrtc.minor, t->nvrtc.path);
    return true;
}

int main(int argc, char **argv) {
    proof_tools t = {.source_directory = "tools/gpu"};
    const char *nvrtc = NULL;
    const char *cache = NULL;
    bool compile_only = false;
    for (int i = 1; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--compile-only") == 0) {
            compile_only = true;
        } else if (strcmp(argv[i], "--nvrtc") == 0 && has_value) {
            nvrtc = argv[++i];
        } else if (strcmp(argv[i], "--cache") == 0 && has_value) {
            cache = argv[++i];
        } else if (strcmp(argv[i], "--source") == 0 && has_value) {
            t.source_directory = argv[++i];
        } else {
            fprintf(stderr, "usage: proof [--nvrtc PATH] [--cache DIR] [--source DIR] "
                            "[--compile-only]\n");
            return 2;
        }
    }
    if (!open_tools(&t, nvrtc, cache)) {
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    const double start = proof_seconds();
    if (compile_only) {
        compile_everything(&t);
    } else if (show_devices()) {
        prove_size(&t, 256, 256);
        prove_size(&t, 4000, 120);
        prove_size(&t, 33, 100);
        prove_missing_commit(&t);
        prove_deadlock(&t);
        prove_fault(&t);
        proof_num(&t, false);
        proof_speed(&t, false);
    } else {
        t.failures++;
    }
    printf("%.1f s, %d compiled, %d from the cache, %d failures\n", proof_seconds() - start,
           t.misses, t.hits, t.failures);
    grout_gpu__cache_close(&t.cache);
    grout_gpu__nvrtc_close(&t.nvrtc);
    return t.failures == 0 ? 0 : 1;
}
