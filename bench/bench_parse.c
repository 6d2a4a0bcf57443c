/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_parse.c - speed of the text format: parse, print and bind of a module of 100,000 ops, in
 * ops and MiB a second, beside memchr over the same text (the cost of merely looking at it).
 */
#include "bench_util.h"

enum { OPS = 100000, RUNS = 7 };

/* One kernel with a long body of the mix of ops that real kernels have. */
static grout_text write_module(void) {
    grout_text text = {0};
    grout_text_add(&text, "const N = 1024, B = 128\n\n"
                          "kernel @long(%%x: in gmem f32[N], %%y: out gmem f32[N])\n"
                          "    grid(x = N / B)\n{\n  scratch %%s : smem f32[4, B]\n"
                          "  %%v0 = load %%x[ds((axis_index x) * B, B)]\n");
    for (int i = 1; i < OPS / 4; i++) {
        grout_text_add(&text,
                       "  store %%s[%d], %%v%d\n"
                       "  %%v%d = add (mul %%v%d, 2.0), (load %%s[%d, ds(0, B)])\n",
                       i % 4, i - 1, i, i - 1, i % 4);
    }
    grout_text_add(&text, "  store %%y[ds((axis_index x) * B, B)], %%v%d\n}\n", OPS / 4 - 1);
    if (text.failed) {
        bench_fail("no memory for the text", NULL);
    }
    return text;
}

int main(void) {
    grout_text text = write_module();
    double parse[RUNS], print[RUNS], bind[RUNS], look[RUNS];
    uint32_t ops = 0;
    for (int i = 0; i < RUNS; i++) {
        grout_diags *diags = grout_diags_new();
        double t0 = bench_seconds();
        volatile const void *found = memchr(text.data, 0x7f, text.size);
        double t1 = bench_seconds();
        grout_module *module = grout_parse("bench", text.data, text.size, diags);
        double t2 = bench_seconds();
        if (module == NULL || found != NULL) {
            bench_fail("the text is refused", diags);
        }
        grout_text out = {0};
        grout_module_print(module, &out);
        double t3 = bench_seconds();
        grout_module *bound = grout_module_bind(module, NULL, 0, diags);
        double t4 = bench_seconds();
        if (bound == NULL) {
            bench_fail("the module does not bind", diags);
        }
        ops = grout_module_get_op_count(module) - 1;
        look[i] = t1 - t0;
        parse[i] = t2 - t1;
        print[i] = t3 - t2;
        bind[i] = t4 - t3;
        grout_module_free(bound);
        grout_module_free(module);
        grout_text_free(&out);
        grout_diags_free(diags);
    }
    double mib = (double)text.size / (1024.0 * 1024.0);
    const struct {
        const char *name;
        double *times;
    } rows[] = {{"memchr", look}, {"parse", parse}, {"print", print}, {"bind", bind}};
    printf("module of %u ops, %.2f MiB of text, medians of %d\n", ops, mib, RUNS);
    printf("%-10s %9s %12s %10s\n", "", "ms", "M ops/s", "MiB/s");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double seconds = bench_median(rows[i].times, RUNS);
        printf("%-10s %9.2f %12.2f %10.1f\n", rows[i].name, seconds * 1e3,
               (double)ops / seconds * 1e-6, mib / seconds);
    }
    grout_text_free(&text);
    return EXIT_SUCCESS;
}
