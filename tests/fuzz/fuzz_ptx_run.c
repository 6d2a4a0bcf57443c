/* fuzz_ptx_run.c - any bytes as a text of PTX: each of its entries runs, with arguments that are
 * made for it and few steps, and comes to an end, or to a diagnostic. What is launched is drawn
 * from the number in a first line '// launch: NUMBER', else from the size of the text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "grout-internal/ptx_counts.h"
#include "ptx_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 4 };

static void fail(const char *what, const grout_diags *diags) {
    grout_text text = {0};
    grout_diags_render(diags, &(grout_render_options){.color = true}, &text);
    fprintf(stderr, "fuzz_ptx_run: %s\n%.*s\n", what, (int)text.size,
            text.data != NULL ? text.data : "");
    abort();
}

static void run_entry(const grout_ptx_module *module, const char *name, uint64_t number) {
    grout_diags *diags = grout_diags_new();
    const ptx_launch_end end = ptx_launch_run(module, name, number, diags);
    if (end == PTX_LAUNCH_DONE && grout_diags_has_errors(diags)) {
        fail("a run that came to its end, with an error", diags);
    }
    if (end == PTX_LAUNCH_FAILED && !grout_diags_has_errors(diags)) {
        fail("a run that stopped without an error", diags);
    }
    grout_diags_free(diags);
}

static uint64_t get_number(const uint8_t *data, size_t size) {
    static const char mark[] = "// launch: ";
    size_t at = sizeof mark - 1;
    uint64_t number = 0;
    if (size <= at || memcmp(data, mark, at) != 0) {
        return size;
    }
    for (; at < size && data[at] >= '0' && data[at] <= '9'; at++) {
        number = number * 10 + (uint64_t)(data[at] - '0');
    }
    return number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = grout_ptx_parse("fuzz.ptx", (const char *)data, size, diags);
    if (module != NULL && ptx_launch_is_small(module)) {
        const uint32_t count = grout_ptx_module_get_entry_count(module);
        for (uint32_t i = 0; i < count && i < ENTRIES_MAX; i++) {
            run_entry(module, grout_ptx_module_get_entry_name(module, i), get_number(data, size));
        }
    }
    grout_ptx_module_free(module);
    grout_diags_free(diags);
    return 0;
}
