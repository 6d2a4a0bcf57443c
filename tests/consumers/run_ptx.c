/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_ptx.c - a program of somebody else's that runs PTX on the CPU: it parses a text, gives the
 * kernel two arrays and two numbers, runs it, and looks at what the kernel has written. A launch
 * that reaches past an array is refused, with the instruction's place.
 */
#include <grout/grout.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 200, BLOCK = 128, PARAMETERS = 4, PARAMETERS_MAX = 64 };

static const char text[] =
    ".version 8.0\n"
    ".target sm_90a\n"
    ".address_size 64\n"
    ".visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 by)\n"
    "{\n"
    "  .reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];\n"
    "  ld.param.u32 %r0, [n]; ld.param.f32 %f1, [by];\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 128, %r1;\n"
    "  setp.ge.u32 %p, %r1, %r0; @%p ret;\n"
    "  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;\n"
    "  ld.global.f32 %f0, [%rd0]; add.f32 %f0, %f0, %f1; st.global.f32 [%rd1], %f0;\n"
    "  ret;\n"
    "}\n";

/* The values into the bytes of the entry's parameters; returns how many bytes those have. */
static size_t set_parameters(const grout_ptx_module *module, const void *const values[PARAMETERS],
                             char *bytes) {
    size_t offset = 0, size = 0;
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        if (!grout_ptx_module_get_parameter(module, "add", i, &offset, &size) ||
            offset + size > PARAMETERS_MAX) {
            return 0;
        }
        memcpy(bytes + offset, values[i], size);
    }
    return offset + size;
}

/* y = x + 0.5 for count elements, on arrays of COUNT. */
static bool run(const grout_ptx_module *module, uint32_t count, const float *x, float *y,
                grout_diags *diags) {
    char parameters[PARAMETERS_MAX] = {0};
    const float by = 0.5f;
    size_t undefined = 0;
    grout_ptx_memory *memory = grout_ptx_memory_new();
    uint64_t x_at = grout_ptx_memory_add(memory, x, COUNT * sizeof *x);
    uint64_t y_at = grout_ptx_memory_add(memory, NULL, COUNT * sizeof *y); /* undefined */
    grout_ptx_launch launch = {.module = module,
                               .entry = "add",
                               .memory = memory,
                               .grid = {(count + BLOCK - 1) / BLOCK, 1, 1},
                               .block = {BLOCK, 1, 1},
                               .parameters = parameters,
                               .seed = 7};
    launch.parameter_bytes =
        set_parameters(module, (const void *[]){&x_at, &y_at, &count, &by}, parameters);
    bool is_done = grout_ptx_launch_run(&launch, NULL, diags) &&
                   grout_ptx_memory_read(memory, y_at, y, COUNT * sizeof *y, &undefined) &&
                   undefined == 0;
    grout_ptx_memory_free(memory);
    return is_done;
}

int main(void) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = grout_ptx_parse("add.ptx", text, sizeof text - 1, diags);
    float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
    }
    bool ok = module != NULL && run(module, COUNT, x, y, diags);
    for (int i = 0; ok && i < COUNT; i++) {
        ok = y[i] == x[i] + 0.5f;
    }
    const bool is_refused = ok && !run(module, COUNT + 1, x, y, diags) &&
                            grout_diags_get(diags, 0)->code == GROUT_DIAG_PTX_FAULT;
    grout_text said = {0};
    grout_diags_render(diags, &(grout_render_options){.color = false}, &said);
    fputs(said.data != NULL ? said.data : "", stdout);
    puts(is_refused ? "every element is right, and one too many is refused" : "FAILED");
    grout_text_free(&said);
    grout_ptx_module_free(module);
    grout_diags_free(diags);
    return is_refused ? EXIT_SUCCESS : EXIT_FAILURE;
}
