/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_chain.c - chains of elementwise operations: strip by strip, beside one operation after the
 * other, and beside plain C loops over the same tile, written in both ways. Tiles from what fits
 * the nearest cache to what fits none of the near ones.
 */
#include "bench_util.h"

enum { RUNS = 7, ELEMENTS = 1 << 26, TILE_MAX = 1 << 19 };

/* Eight operations on a tile, again and again. */
static const char chain_text[] = "const R = 64, C = 128, N = 1000\n"
                                 "kernel @chain(%x: in gmem f32[R, C], %y: out gmem f32[R, C]) {\n"
                                 "  %v = load %x\n"
                                 "  %r = for %i in 0..N carry(%c = %v) {\n"
                                 "    %a = mul %c, 0.75\n"
                                 "    %b = add %a, %v\n"
                                 "    %d = max %b, -1.0\n"
                                 "    %e = sub %d, %a\n"
                                 "    %f = abs %e\n"
                                 "    %g = min %f, 3.0\n"
                                 "    %h = fma %g, %b, 0.125\n"
                                 "    yield (mul %h, 0.5)\n"
                                 "  }\n"
                                 "  store %y, %r\n"
                                 "}\n";

typedef struct tile {
    int rows, columns;
} tile;

static double run_chain(const char *text, tile t, bool is_unfused, int turns) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("bench", text, strlen(text), diags);
    grout_define defines[] = {{.name = "R", .integer = t.rows, .origin = "bench"},
                              {.name = "C", .integer = t.columns, .origin = "bench"},
                              {.name = "N", .integer = turns, .origin = "bench"}};
    grout_module *bound = module != NULL ? grout_module_bind(module, defines, 3, diags) : NULL;
    if (bound == NULL || !grout_verify(bound, GROUT_ARCH_ANY, diags)) {
        bench_fail("the kernel is refused", diags);
    }
    size_t bytes = (size_t)t.rows * (size_t)t.columns * sizeof(float);
    float *x = calloc(1, bytes), *y = malloc(bytes);
    grout_argument arguments[] = {{x, bytes}, {y, bytes}};
    grout_launch launch = {.module = bound,
                           .kernel = 1,
                           .arguments = arguments,
                           .argument_count = 2,
                           .timing = GROUT_TIMING_EAGER,
                           .is_unfused = is_unfused};
    grout_machine *machine = grout_machine_new(&launch, diags);
    double begin = bench_seconds();
    if (machine == NULL || grout_machine_run(machine, 0, diags) != GROUT_RUN_DONE) {
        bench_fail("the run failed", diags);
    }
    double seconds = bench_seconds() - begin;
    grout_machine_free(machine);
    grout_module_free(bound);
    grout_module_free(module);
    grout_diags_free(diags);
    free(x);
    free(y);
    return seconds;
}

/* The whole chain for each element, as a compiler would fuse it. */
static double run_loop(tile t, int turns) {
    static float v[TILE_MAX], c[TILE_MAX];
    int count = t.rows * t.columns;
    double begin = bench_seconds();
    for (int turn = 0; turn < turns; turn++) {
        for (int i = 0; i < count; i++) {
            float a = c[i] * 0.75f, b = a + v[i];
            float d = b > -1.0f ? b : -1.0f, e = d - a;
            float f = e < 0 ? -e : e, g = f < 3.0f ? f : 3.0f;
            c[i] = (g * b + 0.125f) * 0.5f;
        }
    }
    return bench_seconds() - begin;
}

int main(void) {
    static const tile tiles[] = {{16, 64}, {64, 64}, {64, 128}, {128, 256}, {512, 1024}};
    printf("8 operations on a tile of f32, medians of %d, ns for 1000 elements and operations\n",
           RUNS);
    printf("%-14s %10s %12s %12s %10s %10s\n", "tile", "KiB", "one by one", "in strips", "ratio",
           "C loop");
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        double apart[RUNS], strips[RUNS], loop[RUNS];
        int count = tiles[i].rows * tiles[i].columns, turns = ELEMENTS / 8 / count;
        for (int k = 0; k < RUNS; k++) {
            apart[k] = run_chain(chain_text, tiles[i], true, turns);
            strips[k] = run_chain(chain_text, tiles[i], false, turns);
            loop[k] = run_loop(tiles[i], turns);
        }
        double scale = 1e12 / 8 / ((double)count * turns);
        double one = bench_median(apart, RUNS) * scale, all = bench_median(strips, RUNS) * scale;
        char name[32];
        snprintf(name, sizeof name, "%d x %d", tiles[i].rows, tiles[i].columns);
        printf("%-14s %10.1f %12.1f %12.1f %10.2f %10.1f\n", name, count * 4 / 1024.0, one, all,
               one / all, bench_median(loop, RUNS) * scale);
    }
    return EXIT_SUCCESS;
}
