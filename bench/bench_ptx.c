/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_ptx.c - the PTX emulator: warp instructions in a second, for a loop of arithmetic and
 * shared memory and for copies by cp.async; and matmul_hopper_ws at 512^3 beside the interpreter,
 * in the same run. Without NVRTC the matmul is left out.
 * usage: bench_ptx      in the top folder
 */
#include "bench_util.h"

#include <stdint.h>

enum { RUNS = 5, SIZE = 512, TILE_M = 128, TILE_N = 256, TILE_K = 64, MATMUL_SMEM = 229440 };
enum { TURNS = 400, CTAS = 8, LANES = 128, COPY_BYTES = 16, WATCHDOG_BYTES = 32 };

/* The median time of a launch. Each run has memory of its own, which make fills. */
typedef struct timed {
    double seconds;
    grout_ptx_result result;
} timed;

typedef struct work {
    const grout_ptx_module *module;
    grout_ptx_launch launch; /* but for memory and parameters */
    void *payload;
    /* Adds arrays and writes the parameters; returns how many bytes those have. */
    size_t (*make)(void *payload, grout_ptx_memory *memory, uint8_t *parameters);
    void (*take)(void *payload, const grout_ptx_memory *memory); /* NULL: nothing is looked at */
} work;

static timed measure(const work *it) {
    double times[RUNS];
    timed out = {0};
    for (int i = 0; i < RUNS; i++) {
        uint8_t parameters[1024] = {0};
        grout_diags *diags = grout_diags_new();
        grout_ptx_launch launch = it->launch;
        launch.module = it->module;
        launch.memory = grout_ptx_memory_new();
        launch.parameters = parameters;
        launch.parameter_bytes = it->make(it->payload, launch.memory, parameters);
        const double begin = bench_cpu_seconds();
        if (!grout_ptx_launch_run(&launch, &out.result, diags)) {
            bench_fail("the machine failed", diags);
        }
        times[i] = bench_cpu_seconds() - begin;
        if (it->take != NULL) {
            it->take(it->payload, launch.memory);
        }
        grout_ptx_memory_free(launch.memory);
        grout_diags_free(diags);
    }
    out.seconds = bench_median(times, RUNS);
    return out;
}

static void show_rate(const char *name, timed it) {
    printf("  %-34s %8.2f ms  %8.2f million warp instructions a second\n", name, 1e3 * it.seconds,
           1e-6 * (double)it.result.warp_instructions / it.seconds);
}

/* ---- texts -------------------------------------------------------------------------------------
 */

#define BEGINNING                                                                         \
    ".version 8.0\n.target sm_90a\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 x, .param .u32 n)\n{\n"                                \
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<8>;\n"            \
    ".shared .align 16 .b8 s[4096];\n"                                                    \
    "ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;" \
    " mad.lo.u32 %r2, %r1, 16, %r2; mul.wide.u32 %rd1, %r1, 16; add.u64 %rd1, %rd0, %rd1;\n"

static const char arithmetic[] = BEGINNING
    "mov.f32 %f0, 0f3f800000; cvt.rn.f32.u32 %f1, %r1; mov.b32 %r3, 0;\n"
    "L: fma.rn.f32 %f0, %f0, %f1, %f0; mad.lo.u32 %r3, %r3, 5, %r1; st.shared.f32 [%r2], %f0;"
    " ld.shared.f32 %f2, [%r2]; add.f32 %f0, %f2, %f1; xor.b32 %r3, %r3, %r0;"
    " sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L;\n"
    "cvt.rn.f32.u32 %f3, %r3; add.f32 %f0, %f0, %f3; st.global.f32 [%rd1], %f0; ret;\n}\n";

static const char copies[] = BEGINNING
    "L: cp.async.cg.shared.global [%r2], [%rd1], 16; cp.async.cg.shared.global [%r2+2048], [%rd1],"
    " 16; cp.async.commit_group; sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L;\n"
    "cp.async.wait_group 0; ret;\n}\n";

static size_t make_array(void *payload, grout_ptx_memory *memory, uint8_t *parameters) {
    static const uint8_t zeros[LANES * COPY_BYTES];
    const uint64_t address = grout_ptx_memory_add(memory, zeros, sizeof zeros);
    const uint32_t *turns = payload;
    memcpy(parameters, &address, sizeof address);
    memcpy(parameters + sizeof address, turns, sizeof *turns);
    return sizeof address + sizeof *turns;
}

static void bench_text(const char *name, const char *text, uint32_t turns,
                       grout_ptx_timing timing) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = grout_ptx_parse("bench.ptx", text, strlen(text), diags);
    if (module == NULL) {
        bench_fail("the text is refused", diags);
    }
    const work it = {.module = module,
                     .launch = {.grid = {CTAS}, .block = {LANES}, .timing = timing},
                     .payload = &turns,
                     .make = make_array};
    show_rate(name, measure(&it));
    grout_ptx_module_free(module);
    grout_diags_free(diags);
}

/* ---- the matmul ---------------------------------------------------------------------------- */

typedef struct matmul {
    uint16_t *a, *b, *c, *expected;
    uint64_t c_address;
} matmul;

enum { MATRIX_BYTES = SIZE * 2 * SIZE };

/* Small integers as bf16: their sums are exact. */
static uint16_t make_bf16(size_t i) {
    static const uint16_t values[] = {0xc040, 0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000, 0x4040};
    return values[i * 2654435761u % 4294967291u % 7];
}

static matmul make_matmul(void) {
    matmul made = {.a = malloc(MATRIX_BYTES),
                   .b = malloc(MATRIX_BYTES),
                   .c = calloc(MATRIX_BYTES, 1),
                   .expected = calloc(MATRIX_BYTES, 1)};
    if (made.a == NULL || made.b == NULL || made.c == NULL || made.expected == NULL) {
        bench_fail("no memory for the arrays", NULL);
    }
    for (size_t i = 0; i < (size_t)SIZE * SIZE; i++) {
        made.a[i] = make_bf16(i);
        made.b[i] = make_bf16(i + 12345);
    }
    return made;
}

static grout_module *load_matmul(grout_diags *diags) {
    static char text[1 << 16];
    const char *path = "kernels/matmul_hopper_ws.grout";
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        bench_fail("cannot open the kernel; run from the top folder", NULL);
    }
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    const grout_define defines[] = {{.name = "M", .integer = SIZE, .origin = "bench"},
                                    {.name = "N", .integer = SIZE, .origin = "bench"},
                                    {.name = "K", .integer = SIZE, .origin = "bench"}};
    grout_module *module = grout_parse(path, text, size, diags);
    grout_module *bound = module == NULL ? NULL : grout_module_bind(module, defines, 3, diags);
    if (bound == NULL || !grout_verify(bound, GROUT_ARCH_SM_90A, diags)) {
        bench_fail("the kernel is refused", diags);
    }
    grout_module_free(module);
    return bound;
}

/* Seconds of the interpreter, in lazy timing and without the checker; its product is kept. */
static double run_interpreter(const grout_module *bound, const matmul *data) {
    double times[RUNS];
    for (int i = 0; i < RUNS; i++) {
        grout_argument arguments[] = {
            {data->a, MATRIX_BYTES}, {data->b, MATRIX_BYTES}, {data->expected, MATRIX_BYTES}};
        const grout_launch launch = {
            .module = bound, .kernel = 1, .arguments = arguments, .argument_count = 3};
        grout_diags *diags = grout_diags_new();
        const double begin = bench_cpu_seconds();
        grout_machine *machine = grout_machine_new(&launch, diags);
        if (machine == NULL || grout_machine_run(machine, 0, diags) != GROUT_RUN_DONE) {
            bench_fail("the run failed", diags);
        }
        times[i] = bench_cpu_seconds() - begin;
        grout_machine_free(machine);
        grout_diags_free(diags);
    }
    return bench_median(times, RUNS);
}

/* The maps of the kernel's manifest: a as rows of 64 columns, b and c as panels of 64. */
static size_t make_maps(void *payload, grout_ptx_memory *memory, uint8_t *parameters) {
    matmul *data = payload;
    grout_diags *diags = grout_diags_new();
    const grout_ptx_tensor panels = {.type = 9, /* bf16 */
                                     .rank = 3,
                                     .swizzle = 3,
                                     .dims = {TILE_K, SIZE, SIZE / TILE_K},
                                     .strides_bytes = {2ULL * SIZE, 2ULL * TILE_K},
                                     .element_strides = {1, 1, 1}};
    grout_ptx_tensor maps[3] = {{.type = 9,
                                 .rank = 2,
                                 .swizzle = 3,
                                 .dims = {SIZE, SIZE},
                                 .strides_bytes = {2ULL * SIZE},
                                 .box = {TILE_K, TILE_M},
                                 .element_strides = {1, 1}},
                                panels,
                                panels};
    const uint32_t boxes[3][3] = {{TILE_K, TILE_M}, {TILE_K, 64, TILE_N / 64}, {TILE_K, 64, 2}};
    const uint16_t *contents[3] = {data->a, data->b, data->c};
    for (int i = 0; i < 3; i++) {
        memcpy(maps[i].box, boxes[i], sizeof boxes[i]);
        maps[i].address = grout_ptx_memory_add(memory, contents[i], MATRIX_BYTES);
        if (!grout_ptx_encode_tensor(&maps[i], parameters + (size_t)i * GROUT_PTX_TENSOR_MAP_BYTES,
                                     diags)) {
            bench_fail("a tensor map is refused", diags);
        }
    }
    data->c_address = maps[2].address;
    grout_diags_free(diags);
    return (size_t)3 * GROUT_PTX_TENSOR_MAP_BYTES + WATCHDOG_BYTES;
}

static void check_product(void *payload, const grout_ptx_memory *memory) {
    const matmul *data = payload;
    size_t undefined = 0;
    if (!grout_ptx_memory_read(memory, data->c_address, data->c, MATRIX_BYTES, &undefined) ||
        undefined > 0 || memcmp(data->c, data->expected, MATRIX_BYTES) != 0) {
        bench_fail("wrong product", NULL);
    }
}

/* The kernel's PTX, or NULL without NVRTC. */
static grout_ptx_module *compile(const grout_module *bound, grout_diags *diags) {
    grout_text cuda = {0};
    grout_binary binary = {0};
    const grout_nvrtc_options options = {.is_in_process = true};
    if (!grout_emit_cuda(bound, 1, NULL, &cuda, diags)) {
        bench_fail("no CUDA", diags);
    }
    grout_ptx_module *module = NULL;
    if (grout_compile_cuda(cuda.data, "matmul_hopper_ws", GROUT_BINARY_PTX, &options, &binary,
                           diags)) {
        module = grout_ptx_parse("matmul_hopper_ws.ptx", binary.data, binary.size, diags);
        if (module == NULL) {
            bench_fail("the PTX is refused", diags);
        }
    } else if (grout_diags_get(diags, 0)->code != GROUT_DIAG_NVRTC_MISSING) {
        bench_fail("the CUDA is refused", diags);
    }
    grout_binary_free(&binary);
    grout_text_free(&cuda);
    return module;
}

static void bench_matmul(void) {
    grout_diags *diags = grout_diags_new();
    matmul data = make_matmul();
    grout_module *bound = load_matmul(diags);
    grout_ptx_module *module = compile(bound, diags);
    if (module == NULL) {
        printf("  matmul_hopper_ws: left out, there is no NVRTC\n");
    } else {
        const double interpreter = run_interpreter(bound, &data);
        const work it = {
            .module = module,
            .launch = {.grid = {SIZE / TILE_M * (SIZE / TILE_N)},
                       .block = {3 * LANES},
                       .dynamic_shared_bytes = MATMUL_SMEM},
            .payload = &data,
            .make = make_maps,
            .take = check_product,
        };
        const timed machine = measure(&it);
        show_rate("matmul_hopper_ws, 512^3, random", machine);
        printf("  %-34s %8.2f ms; the machine takes %.1f times as long\n",
               "the interpreter, lazy, unchecked", 1e3 * interpreter,
               machine.seconds / interpreter);
    }
    grout_ptx_module_free(module);
    grout_module_free(bound);
    grout_diags_free(diags);
    free(data.a);
    free(data.b);
    free(data.c);
    free(data.expected);
}

int main(void) {
    printf("  medians of %d, CPU time; 8 CTAs of 128 lanes\n", RUNS);
    bench_text("arithmetic and shared memory", arithmetic, TURNS, GROUT_PTX_TIMING_RANDOM);
    bench_text("cp.async, random timing", copies, TURNS / 16, GROUT_PTX_TIMING_RANDOM);
    bench_text("cp.async, lazy timing", copies, TURNS / 16, GROUT_PTX_TIMING_LATE);
    bench_text("cp.async, eager timing", copies, TURNS / 16, GROUT_PTX_TIMING_EARLY);
    bench_matmul();
    return EXIT_SUCCESS;
}
