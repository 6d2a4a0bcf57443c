/* check_xla.c - a custom call of XLA on the CPU, with the n-th allocation failing, for every n: the
 * right outputs, or an error of the runtime or a reason.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"
#include "grout-internal/grout.h"
#include "tests/tests.h"
#include "tests/unit/xla/fake_xla.h"

/* It asserts something, so that the observer for that is made as well. */
static const char text[] = "kernel @twice(%x: in gmem f32[8], %y: out gmem f32[8]) grid(x = 1)\n"
                           "{\n"
                           "  %v = load %x\n"
                           "  debug_check (lt %v, 100.0), \"small\"\n"
                           "  store %y, (mul %v, 2.0)\n"
                           "}\n";

static bool make_and_call(void *payload) {
    const grout_module *module = payload;
    const grout_xla_handler_options options = {.launch = {.module = module, .kernel = 1}};
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
    grout_diags *diags = grout_diags_new();
    fake_call call;
    fake_begin(&call);
    fake_add(&call, false, GROUT_XLA_F32, 8, x);
    fake_add(&call, true, GROUT_XLA_F32, 8, y);
    failing_begin();
    grout_xla_handler *handler = grout_xla_handler_make(&options, diags);
    const bool is_done =
        handler != NULL && ((fake_handler *)grout_xla_handler_get(handler))(&call.frame) == NULL;
    failing_end();
    if (handler == NULL) {
        failing_assert_reported(diags);
    } else if (!is_done) {
        ck_assert(failing_has_failed());
        ck_assert_msg(fake_error.code == GROUT_XLA_RESOURCE_EXHAUSTED, "%d: %s", fake_error.code,
                      fake_error.message);
    }
    for (int i = 0; is_done && i < 8; i++) {
        ck_assert_float_eq(y[i], 2 * x[i]);
    }
    grout_xla_handler_free(handler);
    grout_diags_free(diags);
    return is_done;
}

TEST_EACH(calls_survive, 2) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("twice.grout", text, strlen(text), diags);
    grout_module *bound = module == NULL ? NULL : grout_module_bind(module, NULL, 0, diags);
    ck_assert(bound != NULL && grout_verify(bound, GROUT_ARCH_SM_90A, diags));
    failing_try_all(_i == 1, make_and_call, bound);
    grout_module_free(bound);
    grout_module_free(module);
    grout_diags_free(diags);
}
