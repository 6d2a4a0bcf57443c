/* check_ir_text.c - parse, print and build with the n-th allocation failing, for every n.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"
#include "grout-internal/text.h"
#include "ir/core/module.h"
#include "tests/tests.h"
#include "tests/unit/ir/build/build_sample.h"

#include <string.h>

static const char good_text[] =
    "// c\nconst A = B + 1, // t\n B = 2\nrequire A > B, \"A is more\"\n\n"
    "kernel @k(%a: in gmem f32[A, B] init(uniform(3, -1, 1)), %n: i32 init(1))\n"
    "    grid(x = 2) threads(wg = 2)  // h\n{\n  scratch %g : gmem i32[2] init([1, 2])\n"
    "  scratch %s : smem f32[4] tile(4) swizzle(32) transpose(0)\n"
    "  // lead\n  %v = add (load %a[ds(%n + 1, 2), :].transpose(1, 0)), (neg 1.5)  // tail\n"
    "  %r = for %i in 0..4 carry(%c = %n) unroll(2) {\n    yield %c * 2\n  }\n"
    "  if (lt %n, 3) {\n    debug_print \"{}\", %r\n  } else {\n    // e\n  }\n"
    "  scoped(%t : smem f32[4], %u : barrier[1], %acc : acc f32[64, 8]) {\n    barrier_wait %u\n"
    "    wgmma %acc, %t, %t.transpose(1, 0)\n    %z = layout_cast (acc_load %acc wait(0)) wgmma\n"
    "  }\n"
    "  %w, %x = while carry(%i = 0, %j = %n) {\n    cond (lt %i, 5)  // c\n  } do {  // d\n"
    "    yield (add %i, 1), %j\n  }\n}\n";

static const char bad_text[] =
    "const A = WRONG, A = 2\nkernel @k(%a: in gmem f33[A]) gird(x = 2)\n{\n  %x = lod %a\n"
    "  %y = add %x, %z\n  for %i on 0..4 {\n    store %a[%i], %w $\n  }\n  %z = neg %y\n"
    "  while {\n    yield 1\n  } do {\n  }\n  warpgroup_mma %y\n}\n";

/* Each returns true if it could do all it should. */
static bool parse_good(void) {
    grout_diags *diags = grout_diags_new();
    grout_module *module =
        diags == NULL ? NULL : grout_parse("t.grout", good_text, sizeof good_text - 1, diags);
    bool ok = module != NULL;
    grout_text text = {0};
    if (ok) {
        grout_module_print(module, &text);
        ok = !text.failed;
    } else if (diags != NULL) {
        failing_end();
        failing_assert_reported(diags);
    }
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
    return ok;
}

static bool parse_bad(void) {
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    bool ok = diags != NULL;
    if (ok) {
        grout_module *module = grout_parse("t.grout", bad_text, sizeof bad_text - 1, diags);
        grout_diags_render(diags, NULL, &text);
        ok = !text.failed && grout_diags_count(diags) == 11;
        for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
            ok = ok && grout_diags_get(diags, i)->code != GROUT_DIAG_OUT_OF_MEMORY;
        }
        failing_end();
        ck_assert_ptr_null(module);
        ck_assert(grout_diags_has_errors(diags));
    }
    grout_text_free(&text);
    grout_diags_free(diags);
    return ok;
}

static bool build_and_print(grout_module *(*build)(bool is_inline, grout_diags *diags)) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = build(true, diags);
    grout_text text = {0};
    bool ok = module != NULL;
    if (ok) {
        grout_module_print(module, &text);
        ok = !text.failed;
    } else if (diags != NULL) {
        failing_end();
        failing_assert_reported(diags);
    }
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
    return ok && diags != NULL;
}

static bool build_add(void) {
    return build_and_print(build_sample);
}

static bool build_tensor_core(void) {
    return build_and_print(build_tensor_sample);
}

static bool clone(void) {
    grout_diags *diags = grout_diags_new();
    grout_module *module =
        diags == NULL ? NULL : grout_parse("t.grout", good_text, sizeof good_text - 1, diags);
    grout_module *copy = module == NULL ? NULL : grout_module__clone(module);
    bool ok = copy != NULL;
    grout_module_free(copy);
    grout_module_free(module);
    grout_diags_free(diags);
    return ok;
}

static bool (*const works[])(void) = {parse_good, parse_bad, build_add, build_tensor_core, clone};
enum { WORK_COUNT = sizeof works / sizeof works[0] };

static bool work(void *payload) {
    bool (*const *function)(void) = payload;
    failing_begin();
    bool is_done = (*function)();
    failing_end();
    return is_done;
}

TEST_EACH(nothing_crashes_or_leaks_without_memory, 2 * WORK_COUNT) {
    bool (*function)(void) = works[_i / 2];
    failing_try_all(_i % 2 == 1, work, &function);
}
