/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.c - a program of somebody else's that calls two kernels as C functions: it reads them
 * as text, and knows their parameters as C types. One of them calls a function of the program.
 */
#include <grout/grout.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 256 };

static const char text[] =
    "const N = 256, B = 128\n"
    "\n"
    "kernel @scale(%x: in gmem f32[N], %by: f32, %y: out gmem f32[N]) grid(x = N / B)\n"
    "{\n"
    "  %first = mul (axis_index x), B\n"
    "  %scaled = mul (load %x[ds(%first, B)]), %by\n"
    "  store %y[ds(%first, B)], (extern_elementwise \"clip\", %scaled, 500 : f32)\n"
    "}\n"
    "\n"
    "kernel @sum(%x: in gmem f32[N], %total: inout gmem f32[1])\n"
    "{\n"
    "  %had = load %total[0]\n"
    "  store %total[0], (add %had, (reduce_sum (load %x)))\n"
    "}\n";

typedef bool scale_function(const grout_array *x, float by, const grout_array *y);
typedef bool sum_function(const grout_array *x, const grout_array *total);

/* What @scale calls for each element. */
static float clip(float x, int32_t most) {
    return x < (float)most ? x : (float)most;
}

/* What a call has to say goes to stderr, and is counted. */
static void report(void *payload, const grout_diags *diags) {
    int *count = payload;
    grout_text out = {0};
    grout_diags_render(diags, &(grout_render_options){.color = false}, &out);
    fputs(out.data != NULL ? out.data : "no memory\n", stderr);
    grout_text_free(&out);
    *count += 1;
}

static grout_kernel_function *make(const grout_module *bound, const char *name,
                                   const grout_externs *externs, int *count, grout_diags *diags) {
    grout_function_options *options = grout_function_options_new(NULL);
    if (options == NULL || !grout_function_options_set(options, "checked", NULL, diags) ||
        !grout_function_options_set(options, "timing", "random", diags) ||
        !grout_function_options_set(options, "seed", "7", diags)) {
        grout_function_options_free(options);
        return NULL;
    }
    grout_function_options_use_externs(options, externs);
    grout_function_options_set_callbacks(
        options, &(grout_function_callbacks){.report = report, .payload = count});
    grout_kernel_function *function =
        grout_kernel_function_new(bound, grout_module_find_kernel(bound, name), options, diags);
    grout_function_options_free(options);
    return function;
}

/* y = 2 x, but at most 500, total = 1 + the sum of y; then a call with an array that is too short.
 */
static bool use(scale_function *scale, sum_function *sum, int *count) {
    float x_data[COUNT], y_data[COUNT], total_data = 1;
    for (int i = 0; i < COUNT; i++) {
        x_data[i] = (float)i;
    }
    const grout_array x = {GROUT_DTYPE_F32, 1, {COUNT}, x_data};
    const grout_array y = {GROUT_DTYPE_F32, 1, {COUNT}, y_data};
    const grout_array half = {GROUT_DTYPE_F32, 1, {COUNT / 2}, y_data};
    const grout_array total = {GROUT_DTYPE_F32, 1, {1}, &total_data};
    return scale(&x, 2.0f, &y) && sum(&y, &total) && *count == 0 && y_data[COUNT / 2] == COUNT &&
           y_data[COUNT - 1] == 500 &&
           total_data == 1.0f + COUNT * (COUNT - 1) - (2 + 4 + 6 + 8 + 10) &&
           !scale(&x, 2.0f, &half) && *count == 1;
}

int main(void) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("functions.grout", text, strlen(text), diags);
    grout_module *bound = module != NULL ? grout_module_bind(module, NULL, 0, diags) : NULL;
    bool ok = bound != NULL && grout_verify(bound, GROUT_ARCH_SM_90A, diags);
    int count = 0;
    const grout_extern_function functions[] = {{"clip", (grout_any_function *)clip}};
    grout_externs *externs = ok ? grout_externs_new(bound, functions, 1, NULL, diags) : NULL;
    ok = externs != NULL;
    grout_kernel_function *scale = ok ? make(bound, "scale", externs, &count, diags) : NULL;
    grout_kernel_function *sum = ok ? make(bound, "sum", externs, &count, diags) : NULL;
    ok = scale != NULL && sum != NULL &&
         use((scale_function *)grout_kernel_function_get(scale),
             (sum_function *)grout_kernel_function_get(sum), &count);

    grout_text said = {0};
    grout_diags_render(diags, &(grout_render_options){.color = false}, &said);
    fputs(said.data != NULL ? said.data : "", stdout);
    puts(ok ? "both functions are right" : "FAILED");
    grout_text_free(&said);
    grout_kernel_function_free(sum);
    grout_kernel_function_free(scale);
    grout_externs_free(externs);
    grout_module_free(bound);
    grout_module_free(module);
    grout_diags_free(diags);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
