/* check_op_facts.c - every value of every column that 'grout ops' prints has words of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/op_facts.h"
#include "tests/tests.h"

#include <stdio.h>
#include <string.h>

/* A field of a struct of bytes, and the values 0 to last that it takes. */
typedef struct column {
    const char *name;
    size_t offset;
    uint32_t last;
    size_t size; /* in bytes */
} column;

#define SYNC(FIELD, LAST) \
    { #FIELD, offsetof(grout_sync_info, FIELD), LAST, sizeof(((grout_sync_info *)NULL)->FIELD) }
#define REGION(FIELD, LAST) \
    { #FIELD, offsetof(grout_region_info, FIELD), LAST, sizeof(((grout_region_info *)NULL)->FIELD) }

static const column sync_columns[] = {
    SYNC(object, GROUT_SYNC_OBJECT_PARTS),
    SYNC(reach, GROUT_SYNC_REACH_GRID),
    SYNC(mode, GROUT_SYNC_MODE_FORKS),
    SYNC(side, GROUT_SYNC_SIDE_BOTH),
    SYNC(scope, GROUT_SYNC_SCOPE_SYS),
    SYNC(arrival, GROUT_SYNC_ARRIVAL_LATER),
    SYNC(covers, (1 << (GROUT_MILESTONE_TMEM_STORE + 1)) - 1),
    SYNC(lanes, GROUT_SYNC_LANES_OWN),
    SYNC(redundant, GROUT_SYNC_REDUNDANT_PAIR),
    SYNC(tensor, GROUT_SYNC_TENSOR_ADMITS),
};

static const column region_columns[] = {
    REGION(kind, GROUT_REGION_PARTITIONS),
    REGION(lead_operands, 3),
    REGION(lead_args, 3),
    REGION(blocks, 2),
    REGION(yields, GROUT_YIELDS_LAST),
};

enum { VALUES_MAX = 512 };

/* No two values of a column may read the same. */
static void compare_all(const column *it, grout_text *texts) {
    for (uint32_t i = 0; i <= it->last; i++) {
        ck_assert_msg(!texts[i].failed && texts[i].size > 0, "%s %u: no text", it->name, i);
        for (uint32_t k = 0; k < i; k++) {
            ck_assert_msg(strcmp(texts[i].data, texts[k].data) != 0,
                          "%s: the values %u and %u read the same; give each words of its own in "
                          "cli/commands/op_facts.c:\n%s",
                          it->name, k, i, texts[i].data);
        }
    }
    for (uint32_t i = 0; i <= it->last; i++) {
        grout_text_free(&texts[i]);
    }
}

TEST_EACH(each_value_of_a_sync_column_has_its_words, COUNT_OF(sync_columns)) {
    const column *it = &sync_columns[_i];
    grout_text texts[VALUES_MAX] = {{0}};
    ck_assert_uint_lt(it->last, VALUES_MAX);
    for (uint32_t i = 0; i <= it->last; i++) {
        grout_sync_info info = {.warp = ""};
        const uint16_t wide = (uint16_t)i;
        const uint8_t narrow = (uint8_t)i;
        memcpy((uint8_t *)&info + it->offset, it->size == 1 ? (const void *)&narrow : &wide,
               it->size);
        grout_op_facts__add_sync(&info, "- ", &texts[i]);
    }
    compare_all(it, texts);
}

TEST_EACH(each_value_of_a_region_column_has_its_words, COUNT_OF(region_columns)) {
    const column *it = &region_columns[_i];
    grout_text texts[VALUES_MAX] = {{0}};
    ck_assert_uint_lt(it->last, VALUES_MAX);
    for (uint32_t i = 0; i <= it->last; i++) {
        grout_region_info info = {0};
        ((uint8_t *)&info)[it->offset] = (uint8_t)i;
        grout_op_facts__add_region(&info, "- ", &texts[i]);
    }
    compare_all(it, texts);
}

TEST(a_reason_is_printed) {
    grout_text with = {0}, without = {0};
    grout_op_facts__add_sync(&(grout_sync_info){.warp = "it counts whole threads"}, "  ", &with);
    grout_op_facts__add_sync(&(grout_sync_info){.warp = ""}, "  ", &without);
    ck_assert_ptr_nonnull(strstr(with.data, "  in a warp_map: no: it counts whole threads\n"));
    ck_assert_ptr_nonnull(strstr(without.data, "  in a warp_map: yes\n"));
    grout_text_free(&with);
    grout_text_free(&without);
}

TEST(each_update_has_its_words) {
    const column it = {"update", 0, GROUT_UPDATE_COUNT - 2, 1};
    grout_text texts[GROUT_UPDATE_COUNT] = {{0}};
    for (int i = 1; i < GROUT_UPDATE_COUNT; i++) {
        grout_op_facts__add_update((grout_update)i, "- ", &texts[i - 1]);
    }
    compare_all(&it, texts);
}

/* The lines of different rows differ, unless the rows' lines do not. */
TEST_EACH(each_line_of_an_effect_row_is_printed, GROUT_EFFECT_ROW_COUNT) {
    grout_text text = {0};
    uint32_t count, lines = 0;
    (void)grout_effect_row_get_effects((grout_effect_row)_i, &count);
    grout_op_facts__add_effects((grout_effect_row)_i, "- ", &text);
    for (const char *at = text.data; at != NULL && (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    ck_assert_msg(lines == count, "row %d: %u lines of %u", _i, lines, count);
    grout_text_free(&text);
}
