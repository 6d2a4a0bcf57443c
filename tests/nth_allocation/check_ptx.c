/* check_ptx.c - texts of PTX parsed, printed and run with the n-th allocation failing, for every n:
 * all is done, or a diagnostic says why not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"
#include "grout/ptx.h"
#include "tests/fuzz/ptx_launch.h"
#include "tests/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seeds of fuzz_ptx_run, for all that a machine allocates: resident
 * CTAs, asynchronous copies of all kinds, tensor memory, products, calls. */
static const char *const names[] = {
    "add_cp_async",         "bulk_copies_explicit",     "control_groups", "clusters_store_async",
    "im2col_channels",      "cluster_copies_multicast", "tcgen05",        "wgmma",
    "clusters_reduce_async"};
/* With a search for races, which allocates for each order that it hears of: few. */
static const char *const searched[] = {
    "clusters_store_async",     "tcgen05",     "wgmma", "add_cp_async",
    "cluster_copies_multicast", "equal_writes"};
enum { SEARCHED_COUNT = sizeof searched / sizeof searched[0] };
enum { NAME_COUNT = sizeof names / sizeof names[0], TEXT_MAX = 1 << 16 };

typedef struct trial {
    char text[TEXT_MAX];
    size_t size;
    uint64_t number;
    bool is_cut; /* to a text with errors */
} trial;

static trial *read_text(const char *name) {
    char path[256];
    (void)snprintf(path, sizeof path, "tests/fuzz/corpus/ptx_run/%s.ptx", name);
    FILE *file = fopen(path, "rb");
    trial *it = calloc(1, sizeof *it);
    ck_assert(file != NULL && it != NULL);
    it->size = fread(it->text, 1, sizeof it->text, file);
    ck_assert_uint_gt(it->size, 0);
    ck_assert_uint_lt(it->size, sizeof it->text);
    (void)fclose(file);
    return it;
}

/* What a step that was not done has to leave behind. */
static bool fail_with(grout_diags *diags) {
    failing_end();
    failing_assert_reported(diags);
    return false;
}

/* An entry, to the end that it has with memory enough. */
static bool run_entry(const grout_ptx_module *module, uint64_t number, grout_diags *diags) {
    const char *name = grout_ptx_module_get_entry_name(module, 0);
    const ptx_launch_end end = ptx_launch_run(module, name, number, diags);
    if (end == PTX_LAUNCH_NONE) {
        return false; /* no array was made: the caller sees that */
    }
    bool is_done = end == PTX_LAUNCH_DONE || !failing_has_failed();
    return is_done || fail_with(diags);
}

static bool parse_and_run(const trial *it, grout_diags *diags) {
    grout_text printed = {0};
    grout_ptx_module *module = grout_ptx_parse("k.ptx", it->text, it->size, diags);
    bool is_done = module != NULL || (!failing_has_failed() && it->is_cut) || fail_with(diags);
    if (module != NULL) {
        grout_ptx_module_print(module, &printed);
        is_done = !printed.failed && run_entry(module, it->number, diags);
    }
    grout_text_free(&printed);
    grout_ptx_module_free(module);
    return is_done;
}

static bool work(void *payload) {
    const trial *it = payload;
    failing_begin();
    grout_diags *diags = grout_diags_new();
    const bool is_done = diags != NULL && parse_and_run(it, diags);
    failing_end();
    grout_diags_free(diags);
    return is_done;
}

TEST_EACH(texts_run_or_say_why_not, 2 * NAME_COUNT) {
    trial *it = read_text(names[_i / 2]);
    it->number = (uint64_t)_i / 2 % 3 * 2; /* with 128 threads; late, early and random in turn */
    failing_try_all(_i % 2 == 1, work, it);
    free(it);
}

TEST_EACH(searches_for_races_end_or_say_why_not, SEARCHED_COUNT) {
    trial *it = read_text(searched[_i]);
    it->number = (uint64_t)_i % 3 * 2 + 6;
    failing_try_all(true, work, it);
    free(it);
}

TEST_EACH(broken_texts_are_refused, 2 * NAME_COUNT) {
    trial *it = read_text(names[_i / 2]);
    it->is_cut = true;
    it->size = it->size * 2 / 3;
    failing_try_all(_i % 2 == 1, work, it);
    free(it);
}
