/* fuzz_text.c - any bytes as a text: parse; what parses prints, reads back equal, and prints the
 * same. SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "grout-internal/text.h"
#include "grout-internal/verify.h"
#include "tests/unit/ir/module_equal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const grout_text *text) {
    fprintf(stderr, "fuzz_text: %s\n%.*s\n", what, (int)text->size,
            text->data != NULL ? text->data : "");
    abort();
}

/* Every diagnostic has a place inside the text, and renders. */
static void check_diags(const grout_diags *diags, bool is_parsed) {
    grout_text text = {0};
    grout_render_options options = {.color = true};
    grout_diags_render(diags, &options, &text);
    if (!is_parsed && !grout_diags_has_errors(diags)) {
        fail("refused without an error", &text);
    }
    if (is_parsed && grout_diags_has_errors(diags)) {
        fail("accepted with an error", &text);
    }
    grout_text_free(&text);
}

static void check_round_trip(const grout_module *module) {
    grout_text text = {0};
    grout_text again = {0};
    grout_diags *diags = grout_diags_new();
    grout_module_print(module, &text);
    grout_module *reread = grout_parse("again.grout", text.data, text.size, diags);
    if (reread == NULL) {
        grout_diags_render(diags, NULL, &text);
        fail("what was printed does not parse", &text);
    }
    const char *difference = find_module_difference(module, reread);
    if (difference != NULL) {
        fprintf(stderr, "fuzz_text: %s differs\n", difference);
        fail("what was printed reads back as something else", &text);
    }
    grout_module_print(reread, &again);
    if (again.size != text.size || memcmp(again.data, text.data, text.size) != 0) {
        fail("what was printed prints differently", &again);
    }
    grout_module_free(reread);
    grout_diags_free(diags);
    grout_text_free(&text);
    grout_text_free(&again);
}

static void check_ops(const grout_module *module) {
    uint32_t count = grout_module_get_op_count(module);
    for (uint32_t i = 1; i < count && i < 64; i++) {
        grout_text text = {0};
        grout_op_print(module, i, &text);
        grout_text_free(&text);
    }
}

static void check_bind(const grout_module *module) {
    grout_diags *diags = grout_diags_new();
    grout_module *bound = grout_module_bind(module, NULL, 0, diags);
    if (bound != NULL) {
        (void)grout_verify(bound, GROUT_ARCH_OWN, diags);
        grout_module_free(bound);
    }
    grout_diags_free(diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("fuzz.grout", (const char *)data, size, diags);
    check_diags(diags, module != NULL);
    if (module != NULL) {
        check_round_trip(module);
        check_ops(module);
        check_bind(module);
    }
    grout_module_free(module);
    grout_diags_free(diags);
    return 0;
}
