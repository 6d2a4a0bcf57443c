/*
 * proof_speed.c - the table of block shapes: every variant checked, then timed, at 32768 x 32768 on
 * the same three arrays in one process.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proof.h"

#define BIG          32768
#define COUNT        ((uint64_t)BIG * BIG)
#define VARIANTS_MAX 400
#define SMEM_MAX     232448
#define WARM_UP      2
#define REPEATS      15

/* Kernels and their parameters, in the order in which they run. */
typedef struct plan {
    proof_variant variants[VARIANTS_MAX];
    uint32_t variant_count;
    uint32_t add_steps[VARIANTS_MAX]; /* index of each variant's step */
    const void *images[VARIANTS_MAX + 1];
    grout_gpu_compiled compiled[VARIANTS_MAX + 1];
    grout_gpu_step steps[3 * VARIANTS_MAX + 16];
    grout_gpu_param params[3 * VARIANTS_MAX + 16][5];
    uint32_t step_count;
    uint32_t plain_steps[2]; /* the sum without TMA, before and after all others */
    uint32_t bad[VARIANTS_MAX + 2];
} plan;

/* ---- which variants ---- */

static void add_variant(plan *p, proof_variant v) {
    if (p->variant_count < VARIANTS_MAX && proof_smem_bytes(&v) <= SMEM_MAX) {
        p->variants[p->variant_count++] = v;
    }
}

static void add_shapes(plan *p) {
    static const uint32_t shapes[][2] = {{2, 256}, {4, 256},  {8, 256},  {16, 256}, {32, 256},
                                         {8, 128}, {16, 128}, {32, 128}, {16, 64},  {32, 64}};
    static const uint32_t bufs[] = {2, 3, 4, 6, 8, 16};
    enum { SHAPES = sizeof shapes / sizeof shapes[0], BUFS = sizeof bufs / sizeof bufs[0] };
    for (uint32_t i = 0; i < 2 * SHAPES * BUFS; i++) {
        add_variant(p, (proof_variant){.xb = shapes[i / 2 / BUFS][0],
                                       .yb = shapes[i / 2 / BUFS][1],
                                       .buf = bufs[i / 2 % BUFS],
                                       .out = i % 2 + 1});
    }
}

/* Other orders of the tiles than the kernel's. */
static void add_orders(plan *p) {
    static const uint32_t bases[][4] = {{8, 256, 6, 2},  {8, 256, 4, 2},  {8, 256, 3, 1},
                                        {16, 256, 3, 2}, {4, 256, 4, 2},  {4, 256, 8, 2},
                                        {2, 256, 8, 2},  {16, 128, 3, 2}, {32, 64, 3, 1}};
    static const uint32_t steps[] = {4, 8, 16, 32, 64};
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        proof_variant v = {
            .xb = bases[i][0], .yb = bases[i][1], .buf = bases[i][2], .out = bases[i][3]};
        const uint32_t resident = 233472 / (proof_smem_bytes(&v) + 1024);
        v.order = 1;
        for (uint32_t k = 1; k <= resident; k++) {
            v.steps = 132 * k;
            add_variant(p, v);
        }
        v.order = 2;
        for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
            v.steps = steps[k];
            add_variant(p, v);
        }
    }
}

static void choose_variants(plan *p) {
    add_variant(p, (proof_variant){.xb = 32, .yb = 64, .buf = 2, .out = 1});
    add_variant(p, (proof_variant){.xb = 32, .yb = 64, .buf = 2, .out = 1, .drop_commit = 1});
    add_variant(p, (proof_variant){.xb = 32, .yb = 64, .buf = 2, .out = 1, .drop_commit = 2});
    add_variant(p, (proof_variant){.xb = 8, .yb = 256, .buf = 6, .out = 1, .drop_commit = 1});
    add_variant(p, (proof_variant){.xb = 8, .yb = 256, .buf = 6, .out = 1, .drop_commit = 2});
    add_shapes(p);
    add_orders(p);
}

/* ---- the launch ---- */

static grout_gpu_param scalar_u64(uint64_t value) {
    grout_gpu_param param = {.kind = GROUT_GPU_PARAM_SCALAR, .scalar_size = 8};
    memcpy(param.scalar, &value, sizeof value);
    return param;
}

static grout_gpu_param buffer(uint32_t index, uint64_t offset_bytes) {
    return (grout_gpu_param){
        .kind = GROUT_GPU_PARAM_BUFFER, .buffer = index, .offset_bytes = offset_bytes};
}

/* Adds a kernel of proof_tools.cu (image 0) whose params are set in the new step's row. */
static uint32_t add_tool(plan *p, const char *kernel, uint32_t grid, uint32_t param_count) {
    p->steps[p->step_count] = (grout_gpu_step){
        .kernel = kernel,
        .shape = {.grid = {grid, 1, 1}, .block = {256, 1, 1}},
        .params = p->params[p->step_count],
        .param_count = param_count,
    };
    return p->step_count++;
}

static void add_poison(plan *p) {
    grout_gpu_param *params = p->params[add_tool(p, "poison", 132 * 8, 2)];
    params[0] = buffer(2, 0);
    params[1] = scalar_u64(COUNT);
}

static void add_check(plan *p, uint32_t index) {
    grout_gpu_param *params = p->params[add_tool(p, "check", 132 * 8, 5)];
    for (uint32_t i = 0; i < 3; i++) {
        params[i] = buffer(i, 0);
    }
    params[3] = scalar_u64(COUNT);
    params[4] = buffer(3, 4 * (uint64_t)index);
}

static void add_plain(plan *p, uint32_t which) {
    add_poison(p);
    const uint32_t step = add_tool(p, "add_plain", (uint32_t)(COUNT / 4 / 256), 4);
    for (uint32_t i = 0; i < 3; i++) {
        p->params[step][i] = buffer(i, 0);
    }
    p->params[step][3] = scalar_u64(COUNT);
    p->steps[step].is_timed = true;
    p->plain_steps[which] = step;
    add_check(p, VARIANTS_MAX + which);
}

static void add_fill(plan *p, uint32_t index) {
    const uint32_t step = add_tool(p, "fill", 132 * 8, 3);
    p->params[step][0] = buffer(index, 0);
    p->params[step][1] = scalar_u64(COUNT);
    p->params[step][2] = scalar_u64(index);
}

static void make_steps(plan *p) {
    add_fill(p, 0);
    add_fill(p, 1);
    add_plain(p, 0);
    for (uint32_t i = 0; i < p->variant_count; i++) {
        add_poison(p);
        const uint32_t step = p->step_count++;
        p->steps[step] = proof_make_add(&p->variants[i], BIG, BIG, p->params[step]);
        p->steps[step].image = i + 1;
        p->steps[step].is_timed = true;
        p->add_steps[i] = step;
        add_check(p, i);
    }
    add_plain(p, 1);
}

static bool run_plan(proof_tools *t, plan *p, grout_gpu_outcome *outcome) {
    const uint64_t size = COUNT * sizeof(float);
    const grout_gpu_fill none = {.pattern_size = 0};
    const grout_gpu_buffer buffers[] = {
        {.name = "a", .direction = GROUT_GPU_SCRATCH, .size = size, .fill = none},
        {.name = "b", .direction = GROUT_GPU_SCRATCH, .size = size, .fill = none},
        {.name = "c", .direction = GROUT_GPU_SCRATCH, .size = size, .fill = none},
        {.name = "bad",
         .direction = GROUT_GPU_OUT,
         .size = sizeof p->bad,
         .output = p->bad,
         .fill = {.pattern = 0, .pattern_size = 4}},
    };
    const grout_gpu_job launch = {.cc_major = 9,
                                  .images = p->images,
                                  .image_count = p->variant_count + 1,
                                  .buffers = buffers,
                                  .buffer_count = 4,
                                  .steps = p->steps,
                                  .step_count = p->step_count,
                                  .timing = {.warm_up = WARM_UP, .repeats = REPEATS},
                                  .timeout_ms = 240000};
    grout_gpu_error error = {0};
    const bool ok = grout_gpu__launch_run(&launch, outcome, &error);
    char detail[1200];
    (void)snprintf(detail, sizeof detail, "%" PRIu32 " variants %s", p->variant_count, error.text);
    proof_report(t, ok, "sum 32768 x 32768", detail);
    return ok;
}

/* ---- the table ---- */

/* The three arrays are moved once. */
static double terabytes_per_second(float ms) {
    return 3.0 * (double)COUNT * sizeof(float) / ((double)ms * 1e-3) / 1e12;
}

static void print_variant(const plan *p, const grout_gpu_outcome *outcome, uint32_t i) {
    static const char *const orders[] = {"band", "nth", "part"};
    static const char *const l2[] = {"-", "64", "128", "256"};
    static const char *const commits[] = {"-", "no-f", "no-fb"};
    const proof_variant *v = &p->variants[i];
    const grout_gpu_step_result *r = &outcome->steps[p->add_steps[i]];
    printf("%4" PRIu32 " %4" PRIu32 " %4" PRIu32 " %4" PRIu32 "  ", v->xb, v->yb, v->buf, v->out);
    printf("%-4s %5" PRIu32 "  %-6s %-5s %-6s ", orders[v->order], v->steps,
           v->hint == 0 ? "-" : "first", l2[v->l2],
           v->all_barriers ? "all-b"
           : v->watchdog   ? "watch"
                           : commits[v->drop_commit]);
    printf("%7.1f %5d %5d %8.3f %8.3f %7.3f %6" PRIu32 "\n", (double)proof_smem_bytes(v) / 1024,
           r->info.registers, r->info.ctas_per_sm, (double)r->median_ms, (double)r->min_ms,
           terabytes_per_second(r->median_ms), p->bad[i]);
}

static void print_table(proof_tools *t, const plan *p, const grout_gpu_outcome *outcome) {
    uint32_t order[VARIANTS_MAX];
    uint32_t bad = p->bad[VARIANTS_MAX] + p->bad[VARIANTS_MAX + 1];
    for (uint32_t i = 0; i < p->variant_count; i++) {
        uint32_t at = i;
        const float mine = outcome->steps[p->add_steps[i]].median_ms;
        while (at > 0 && outcome->steps[p->add_steps[order[at - 1]]].median_ms > mine) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
        bad += p->variants[i].drop_commit == 0 ? p->bad[i] : 0;
    }
    printf("  XB   YB  BUF  OUT  order steps hint   L2    else   SMEM/K  regs CTAs  median      "
           "min    TB/s"
           "    bad\n");
    for (uint32_t i = 0; i < p->variant_count; i++) {
        print_variant(p, outcome, order[i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const grout_gpu_step_result *r = &outcome->steps[p->plain_steps[i]];
        printf("without TMA, %s: median %.3f ms, min %.3f ms, %.3f TB/s\n",
               i == 0 ? "first" : "last", (double)r->median_ms, (double)r->min_ms,
               terabytes_per_second(r->median_ms));
    }
    char detail[64];
    (void)snprintf(detail, sizeof detail, "%" PRIu32 " elements wrong in all", bad);
    proof_report(t, bad == 0, "checks 32768 x 32768", detail);
}

void proof_speed(proof_tools *t, bool compile_only) {
    plan *p = proof_allocate(sizeof *p);
    grout_gpu_outcome outcome = {0};
    choose_variants(p);
    p->compiled[0] = proof_compile(t, "proof_tools.cu", NULL, 0);
    for (uint32_t i = 0; i < p->variant_count; i++) {
        p->compiled[i + 1] = proof_compile_variant(t, &p->variants[i], BIG, BIG);
    }
    for (uint32_t i = 0; i <= p->variant_count; i++) {
        p->images[i] = p->compiled[i].image;
    }
    make_steps(p);
    if (!compile_only && run_plan(t, p, &outcome)) {
        print_table(t, p, &outcome);
    }
    grout_gpu__outcome_deinit(&outcome);
    for (uint32_t i = 0; i <= p->variant_count; i++) {
        grout_gpu__compiled_deinit(&p->compiled[i]);
    }
    free(p);
}
