/*
 * check_planted.c - a fault in a field changes what is emitted, where the field stands and nowhere
 * else; and bits.def has no two fields in one place.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/differential/planted/plant.h"
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

#define KERNEL GROUT_TEST_SOURCE_DIR "/tests/ops/tcgen05_mma.grout"

/* The CUDA of the first kernel of a file, with a field off; NULL: with none. */
static grout_text emit_planted(const char *path, const char *field) {
    grout_diags *diags = grout_diags_new();
    grout_text text = read_file(path), source = {0};
    grout_module *module = bind_text(path, text.data, diags);
    ck_assert(plant(field));
    if (!grout_emit_cuda(module, 1, NULL, &source, diags)) {
        fail_with_diags(path, diags, "");
    }
    ck_assert(plant(NULL));
    grout_module_free(module);
    grout_text_free(&text);
    grout_diags_free(diags);
    return source;
}

/* Whether CUDA, manifest and all are what they are without a fault. */
static bool is_changed(const char *path, const char *field, const grout_text *right) {
    grout_text wrong = emit_planted(path, field);
    const bool is_changed = strcmp(right->data, wrong.data) != 0;
    grout_text_free(&wrong);
    return is_changed;
}

/* A fault in any field of a descriptor that a kernel has changes its text, and no field of another
 * kind of descriptor does. */
static void check_fields(const char *path, const char *word) {
    static const char *const words[] = {
#define GROUT_BITS(WORD, NAME, FIRST, WIDTH, SECTION, DOC) #WORD,
#include "gpu_backend/plan/bits.def"
    };
    grout_text right = emit_planted(path, NULL);
    for (uint32_t k = 0; k < sizeof words / sizeof *words; k++) {
        const bool is_of_kernel = strcmp(words[k], "MATRIX") == 0 || strcmp(words[k], word) == 0;
        ck_assert_msg(is_changed(path, plant_get_name(k), &right) == is_of_kernel, "%s: field %s",
                      path, plant_get_name(k));
    }
    grout_text_free(&right);
}

TEST(every_field_is_in_the_text) {
    check_fields(KERNEL, "PLAIN");
    check_fields(GROUT_TEST_SOURCE_DIR "/tests/ops/tcgen05_mma_scaled.grout", "SCALED");
}

/* Where a field is text, the headers have it, and a fault takes its place everywhere. */
TEST(text_fields_are_in_the_headers) {
    static const struct {
        uint32_t field;
        const char *right, *wrong;
    } texts[] = {
#define GROUT_TEXT_FIELD(WORD, NAME, UNIT, RIGHT, WRONG, SECTION, DOC) \
    {PLANT_##WORD##_##NAME, RIGHT, WRONG},
#include "tests/differential/planted/fields.def"
    };
    grout_text right = emit_planted(KERNEL, NULL);
    for (uint32_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        grout_text wrong = emit_planted(KERNEL, plant_get_name(texts[k].field));
        ck_assert_msg(strstr(right.data, texts[k].right) != NULL, "no header has '%s'",
                      texts[k].right);
        ck_assert_msg(strstr(wrong.data, texts[k].right) == NULL ||
                          strstr(texts[k].wrong, texts[k].right) != NULL,
                      "'%s' stays in one place", texts[k].right);
        ck_assert_str_ne(right.data, wrong.data);
        grout_text_free(&wrong);
    }
    ck_assert_uint_gt(sizeof texts / sizeof *texts, 50);
    grout_text_free(&right);
}

TEST(one_unit_less_takes_away) {
    static const char *const holds[][2] = {
        {"ACCESS.LOAD_SMEM", "::load_smem(address + (grout_u32)sizeof(T))"},
        {"ACCESS.LOAD_SMEM-", "::load_smem(address - (grout_u32)sizeof(T))"},
        {"FENCE.ASYNC_SMEM", "asm volatile(\"\" ::: \"memory\");"},
        {"MBARRIER.ARRIVE_ORDER", "grout_mbarrier_arrive_expect<GROUT_RELAXED, GROUT_CTA>("},
        {"TMEM.PLACE-", "grout_tensor_allocate<1>(smem + 10260, 32);"}};
    for (size_t k = 0; k < sizeof holds / sizeof *holds; k++) {
        grout_text source = emit_planted(KERNEL, holds[k][0]);
        ck_assert_msg(strstr(source.data, holds[k][1]) != NULL, "%s", holds[k][0]);
        grout_text_free(&source);
    }
}

TEST(fields_have_names) {
    ck_assert_uint_gt(PLANT_COUNT, 100);
    ck_assert(plant("WGMMA.STRIDE-"));
    ck_assert(plant_is_off(PLANT_WGMMA_STRIDE));
    ck_assert_int_eq(plant_number(PLANT_WGMMA_STRIDE, 5), 4);
    for (uint32_t k = 0; k < PLANT_COUNT; k++) {
        ck_assert(plant(plant_get_name(k)));
        ck_assert(plant_is_off(k));
    }
    ck_assert(!plant("WGMMA"));
    ck_assert(!plant(""));
    ck_assert(!plant("-"));
    ck_assert(plant(NULL));
    ck_assert(!plant_is_off(PLANT_WGMMA_STRIDE));
}

/* A word is the sum of its fields. */
TEST(fields_of_bits_lie_apart) {
    static const struct {
        const char *word, *name;
        uint32_t first, width;
    } bits[] = {
#define GROUT_BITS(WORD, NAME, FIRST, WIDTH, SECTION, DOC) {#WORD, #NAME, FIRST, WIDTH},
#include "gpu_backend/plan/bits.def"
    };
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
        ck_assert_uint_le(bits[k].first + bits[k].width, 64);
        for (size_t i = 0; i < k; i++) {
            ck_assert_msg(strcmp(bits[k].word, bits[i].word) != 0 ||
                              bits[k].first >= bits[i].first + bits[i].width ||
                              bits[i].first >= bits[k].first + bits[k].width,
                          "%s: %s and %s", bits[k].word, bits[k].name, bits[i].name);
        }
    }
}
