/* check_functions.c - a kernel as a C function that calls a C function, with the n-th allocation
 * failing, for every n: the right outputs and true, or false and a reason.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"
#include "grout-internal/function.h"
#include "grout-internal/grout.h"
#include "tests/tests.h"

#include <string.h>

static const char text[] =
    "kernel @scale(%x: in gmem f32[8], %by: f32, %y: out gmem f32[8]) grid(x = 1)\n"
    "{\n"
    "  store %y, (extern_elementwise \"clip\", (mul (load %x), %by), 9 : f32)\n"
    "}\n";

typedef bool scale_function(const grout_array *x, float by, const grout_array *y);

static float clip(float x, int32_t most) {
    return x < (float)most ? x : (float)most;
}

typedef struct trial {
    const grout_module *module;
    bool is_checked;
    /* what the call had to say: Check, which allocates, has to wait until allocations succeed */
    bool is_reported, is_out_of_memory;
    bool is_wrong; /* the outputs of a call that was true */
} trial;

static void note_report(void *payload, const grout_diags *diags) {
    trial *t = payload;
    t->is_reported = true;
    t->is_out_of_memory = diags == NULL;
    for (uint32_t i = 0; diags != NULL && i < grout_diags_count(diags); i++) {
        t->is_out_of_memory |= grout_diags_get(diags, i)->code == GROUT_DIAG_OUT_OF_MEMORY;
    }
}

static bool call(trial *t, scale_function *scale) {
    float x_data[8], y_data[8];
    for (int i = 0; i < 8; i++) {
        x_data[i] = (float)i;
    }
    const grout_array x = {GROUT_DTYPE_F32, 1, {8}, x_data};
    const grout_array y = {GROUT_DTYPE_F32, 1, {8}, y_data};
    const bool is_done = scale(&x, 2.0f, &y);
    for (int i = 0; is_done && i < 8; i++) {
        t->is_wrong |= y_data[i] != (i < 5 ? 2.0f * (float)i : 9.0f);
    }
    return is_done;
}

static bool make_and_call(void *payload) {
    trial *t = payload;
    grout_diags *diags = grout_diags_new();
    const grout_extern_function given = {"clip", (grout_any_function *)clip};
    t->is_reported = t->is_out_of_memory = t->is_wrong = false;
    failing_begin();
    grout_externs *externs = grout_externs_new(t->module, &given, 1, NULL, diags);
    grout_kernel_function *function = NULL;
    bool is_done = false;
    if (externs != NULL) {
        grout_kernel_function_options options = {.launch = {.module = t->module, .kernel = 1},
                                                 .is_checked = t->is_checked,
                                                 .report = note_report,
                                                 .payload = t};
        options.launch.externs = grout_externs_get(externs, &options.launch.extern_count);
        function = grout_kernel_function_make(&options, diags);
    }
    if (function != NULL) {
        is_done = call(t, (scale_function *)grout_kernel_function_get(function));
    }
    failing_end();
    if (function == NULL) {
        failing_assert_reported(diags);
    } else if (!is_done) {
        ck_assert(t->is_reported && t->is_out_of_memory && failing_has_failed());
    }
    ck_assert(!t->is_wrong);
    grout_kernel_function_free(function);
    grout_externs_free(externs);
    grout_diags_free(diags);
    return is_done;
}

TEST_EACH(functions_survive, 4) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("scale.grout", text, strlen(text), diags);
    grout_module *bound = module == NULL ? NULL : grout_module_bind(module, NULL, 0, diags);
    ck_assert(bound != NULL && grout_verify(bound, GROUT_ARCH_SM_90A, diags));
    trial t = {.module = bound, .is_checked = _i / 2 == 1};
    failing_try_all(_i % 2 == 1, make_and_call, &t);
    grout_module_free(bound);
    grout_module_free(module);
    grout_diags_free(diags);
}
