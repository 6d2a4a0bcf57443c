/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_explore.c - exploration of rings: 4 CTAs of 4 threads hand slots of a ring of 4 stages to
 * each other. How many schedules and states it takes to certify all schedules, and how long, as the
 * ring turns more often.
 */
#include "bench_util.h"

enum { RUNS = 5 };

/* In each CTA two threads fill, two use; each pair its half of every slot. */
static const char ring_text[] =
    "const STEPS = 32, STAGES = 4, N = 32\n"
    "kernel @ring(%x: in gmem f32[4, 2, STEPS, N], %y: out gmem f32[4, 2, STEPS, N])\n"
    "    grid(x = 4) threads(wg = 4)\n"
    "{\n"
    "  scratch %s : smem f32[STAGES, 2, N]\n"
    "  scratch %full : barrier[STAGES] arrivals(2)\n"
    "  scratch %empty : barrier[STAGES] arrivals(2)\n"
    "  %cta = axis_index x\n"
    "  %wg = axis_index wg\n"
    "  %half = rem %wg, 2\n"
    "  if (lt %wg, 2) {\n"
    "    for %i in 0..STEPS {\n"
    "      %slot = rem %i, STAGES\n"
    "      if (ge %i, STAGES) {\n"
    "        barrier_wait %empty[%slot]\n"
    "      }\n"
    "      store %s[%slot, %half], (load %x[%cta, %half, %i])\n"
    "      barrier_arrive %full[%slot]\n"
    "    }\n"
    "    for %i in 0..STAGES {\n"
    "      barrier_wait %empty[(rem %i + STEPS, STAGES)]\n"
    "    }\n"
    "  } else {\n"
    "    for %i in 0..STEPS {\n"
    "      %slot = rem %i, STAGES\n"
    "      barrier_wait %full[%slot]\n"
    "      store %y[%cta, %half, %i], (load %s[%slot, %half])\n"
    "      barrier_arrive %empty[%slot]\n"
    "    }\n"
    "  }\n"
    "}\n";

static void measure(int steps) {
    const grout_define define = {.name = "STEPS", .integer = steps, .origin = "bench"};
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("bench", ring_text, strlen(ring_text), diags);
    grout_module *bound = module != NULL ? grout_module_bind(module, &define, 1, diags) : NULL;
    if (bound == NULL || !grout_verify(bound, GROUT_ARCH_SM_90A, diags)) {
        bench_fail("the kernel is refused", diags);
    }
    size_t bytes = (size_t)4 * 2 * 32 * (size_t)steps * sizeof(float);
    grout_argument arguments[] = {{calloc(1, bytes), bytes}, {calloc(1, bytes), bytes}};
    grout_launch launch = {
        .module = bound, .kernel = 1, .arguments = arguments, .argument_count = 2};
    double seconds[RUNS];
    uint64_t states = 0, schedules = 0;
    bool is_complete = false;
    for (int i = 0; i < RUNS; i++) {
        grout_exploration exploration;
        double begin = bench_seconds();
        if (!grout_explore(&launch, &(grout_explore_options){0}, &exploration, diags)) {
            bench_fail("the exploration failed", diags);
        }
        seconds[i] = bench_seconds() - begin;
        states = exploration.states;
        schedules = exploration.schedules;
        is_complete = exploration.is_complete &&
                      grout_checker_get_count(exploration.witnesses[0].checker) == 0;
        grout_exploration_deinit(&exploration);
    }
    printf("  %3d turns: %llu states, %llu schedules, %6.2f ms, %s\n", steps,
           (unsigned long long)states, (unsigned long long)schedules,
           bench_median(seconds, RUNS) * 1e3,
           is_complete ? "all schedules certified" : "NOT certified");
    free(arguments[0].data);
    free(arguments[1].data);
    grout_module_free(bound);
    grout_module_free(module);
    grout_diags_free(diags);
}

int main(void) {
    printf("a ring of 4 stages, 16 actors (4 CTAs of 4 threads):\n");
    for (int steps = 32; steps <= 256; steps *= 2) {
        measure(steps);
    }
    return 0;
}
