/* fuzz_ptx.c - any bytes as a text of PTX: what parses prints, reads back, and prints the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "grout/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const grout_text *text) {
    fprintf(stderr, "fuzz_ptx: %s\n%.*s\n", what, (int)text->size,
            text->data != NULL ? text->data : "");
    abort();
}

static void check_round_trip(const grout_ptx_module *module) {
    grout_text text = {0};
    grout_text again = {0};
    grout_diags *diags = grout_diags_new();
    grout_ptx_module_print(module, &text);
    grout_ptx_module *reread = grout_ptx_parse("again.ptx", text.data, text.size, diags);
    if (reread == NULL) {
        grout_diags_render(diags, &(grout_render_options){0}, &text);
        fail("what was printed does not parse", &text);
    }
    grout_ptx_module_print(reread, &again);
    if (again.size != text.size || memcmp(again.data, text.data, text.size) != 0) {
        fail("what was printed prints differently", &again);
    }
    grout_ptx_module_free(reread);
    grout_diags_free(diags);
    grout_text_free(&text);
    grout_text_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = grout_ptx_parse("fuzz.ptx", (const char *)data, size, diags);
    grout_text text = {0};
    grout_diags_render(diags, &(grout_render_options){.color = true}, &text);
    if ((module != NULL) == grout_diags_has_errors(diags)) {
        fail("refused without an error, or accepted with one", &text);
    }
    if (module != NULL) {
        check_round_trip(module);
    }
    grout_text_free(&text);
    grout_ptx_module_free(module);
    grout_diags_free(diags);
    return 0;
}
