/*
 * check_banks.c - what emission says of the banks of SMEM, against a count of each lane's address.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

#include "grout-internal/gpu.h"
#include "grout-internal/register_layout.h"

enum { COLUMNS_MAX = 70, WARPS = 4, WARP_LANES = 32 };

/* A column of an array with rows of this many words, through registers. */
static const char text[] = "const C = %d\n"
                           "kernel @k(%%x: in gmem f32[128], %%y: out gmem f32[128]) {\n"
                           "  scratch %%s : smem f32[128, C]\n"
                           "  %%v = load %%x\n"
                           "  store %%s[:, 0], %%v\n"
                           "  store %%y, (load %%s[:, 0])\n"
                           "}\n";

typedef struct uses {
    grout_bank_use items[4];
    uint32_t count;
} uses;

static void note(void *payload, const grout_bank_use *use) {
    uses *found = payload;
    ck_assert_uint_lt(found->count, 4);
    found->items[found->count++] = *use;
}

/* The most lanes of a warp that want different words of one bank at one register. Row r of the
 * column is word r * columns of SMEM. */
static uint32_t count_by_hand(const grout_register_layout *layout, int columns) {
    uint32_t most = 0;
    for (uint32_t reg = 0; reg < layout->registers; reg++) {
        for (uint32_t first = 0; first < WARPS * WARP_LANES; first += WARP_LANES) {
            uint32_t in_bank[GROUT_BANKS] = {0};
            for (uint32_t lane = first; lane < first + WARP_LANES; lane++) {
                int64_t row = grout_register_layout_get_element(layout, lane, reg);
                uint32_t bank = (uint32_t)(row * columns % GROUT_BANKS);
                in_bank[bank] += row < 0 ? 0 : 1; /* each row is a word of its own */
                most = row >= 0 && in_bank[bank] > most ? in_bank[bank] : most;
            }
        }
    }
    return most;
}

static grout_register_layout find_layout(const grout_module *module, grout_diags *diags) {
    grout_register_layouts *layouts = grout_register_layouts_infer(module, 1, diags);
    grout_register_layout found = {.kind = GROUT_LAYOUT_NONE};
    ck_assert_ptr_nonnull(layouts);
    for (grout_value_id i = 1; i < grout_module_get_value_count(module); i++) {
        const char *name = grout_module_get_string(module, grout_module_get_value(module, i)->name);
        if (strcmp(name, "v") == 0) {
            found = *grout_register_layouts_get(layouts, i);
        }
    }
    grout_register_layouts_free(layouts);
    ck_assert_int_eq(found.kind, GROUT_LAYOUT_STRIDED);
    return found;
}

TEST_FROM(passes_are_those_of_a_count_by_hand, 1, COLUMNS_MAX) {
    const int columns = _i;
    char source[sizeof text + 16];
    uses found = {.count = 0};
    const grout_bank_listener banks = {note, &found};
    const grout_emit_options options = {.banks = &banks};
    grout_text code = {0};
    grout_diags *diags = grout_diags_new();
    snprintf(source, sizeof source, text, columns);
    grout_module *module = bind_text("k.grout", source, diags);
    ck_assert(grout_emit_cuda(module, 1, &options, &code, diags));
    ck_assert_uint_eq(found.count, 2);
    const grout_register_layout layout = find_layout(module, diags);
    const grout_bank_use *store = &found.items[0];
    uint32_t words = 0, busiest = 0;
    for (uint32_t bank = 0; bank < GROUT_BANKS; bank++) {
        words += store->words[bank];
        busiest = store->words[bank] > busiest ? store->words[bank] : busiest;
    }
    ck_assert_uint_eq(store->place.line, 5);
    ck_assert_uint_eq(found.items[1].place.line, 6);
    ck_assert_uint_eq(store->passes, busiest);
    if (columns > 1) { /* a column of one word a row moves several words a lane */
        ck_assert_uint_eq(store->passes, count_by_hand(&layout, columns));
        ck_assert_uint_eq(words, WARP_LANES);
    }
    grout_text_free(&code);
    grout_module_free(module);
    grout_diags_free(diags);
}
