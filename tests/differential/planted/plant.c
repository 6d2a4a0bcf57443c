/* plant.c - the field that is off, and by how much.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/planted/plant.h"

#include "grout-internal/diagnose.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef enum unit {
    UNIT_ONE,
    UNIT_FOUR,
    UNIT_EIGHT,
    UNIT_SIXTEEN,
    UNIT_WARP,
    UNIT_TWO_BITS,
    UNIT_ELEMENT,
    UNIT_BIT,
    UNIT_TRUTH,
    UNIT_NARROWER,
    UNIT_WEAKER,
    UNIT_LEFT_OUT
} unit;

static const struct {
    const char *name;
    unit unit;
    uint32_t width;            /* of a field of bits; 0: it is none */
    const char *right, *wrong; /* where it stands as text; else NULL */
} fields[PLANT_COUNT] = {
#define GROUT_BITS(WORD, NAME, FIRST, WIDTH, SECTION, DOC) \
    [PLANT_##WORD##_##NAME] = {#WORD "." #NAME, UNIT_ONE, WIDTH, NULL, NULL},
#define GROUT_FIELD(WORD, NAME, UNIT, SECTION, DOC) \
    [PLANT_##WORD##_##NAME] = {#WORD "." #NAME, UNIT_##UNIT, 0, NULL, NULL},
#define GROUT_TEXT_FIELD(WORD, NAME, UNIT, RIGHT, WRONG, SECTION, DOC) \
    [PLANT_##WORD##_##NAME] = {#WORD "." #NAME, UNIT_##UNIT, 0, RIGHT, WRONG},
#include "gpu_backend/plan/bits.def"
#include "tests/differential/planted/fields.def"
};

static uint32_t planted = PLANT_COUNT; /* none */
static bool is_less;                   /* one unit less, not more */

const char *plant_get_name(uint32_t number) {
    assert(number < PLANT_COUNT);
    return fields[number].name;
}

bool plant(const char *text) {
    size_t size = text == NULL ? 0 : strlen(text);
    planted = PLANT_COUNT;
    is_less = size > 0 && text[size - 1] == '-';
    size -= is_less ? 1 : 0;
    for (uint32_t k = 0; k < PLANT_COUNT && text != NULL; k++) {
        if (strlen(fields[k].name) == size && memcmp(fields[k].name, text, size) == 0) {
            planted = k;
        }
    }
    return text == NULL || planted < PLANT_COUNT;
}

bool plant_is_off(uint32_t field) {
    return planted == field;
}

static int64_t add_units(unit its, int64_t value) {
    static const int64_t steps[] = {[UNIT_ONE] = 1,      [UNIT_FOUR] = 4,  [UNIT_EIGHT] = 8,
                                    [UNIT_SIXTEEN] = 16, [UNIT_WARP] = 32, [UNIT_TWO_BITS] = 1};
    assert(its <= UNIT_TWO_BITS);
    return is_less ? value - steps[its] : value + steps[its];
}

int64_t plant_number(uint32_t field, int64_t value) {
    const unit its = fields[field].unit;
    const uint32_t width = its == UNIT_TWO_BITS ? 2 : fields[field].width;
    if (!plant_is_off(field)) {
        return value;
    }
    if (its == UNIT_BIT || its == UNIT_TRUTH) {
        return value ^ 1;
    }
    if (its == UNIT_NARROWER) {
        return value > 0 ? value - 1 : 0;
    }
    if (its == UNIT_WEAKER) {
        return 0;
    }
    return width == 0 ? add_units(its, value) : add_units(its, value) & ((INT64_C(1) << width) - 1);
}

const char *plant_get_start(uint32_t field) {
    return plant_is_off(field) ? "(" : "";
}

const char *plant_get_end(uint32_t field) {
    static const char *const texts[][2] = {
        [UNIT_ONE] = {" + 1", " - 1"},       [UNIT_EIGHT] = {" + 8", " - 8"},
        [UNIT_SIXTEEN] = {" + 16", " - 16"}, [UNIT_WARP] = {" + 32", " - 32"},
        [UNIT_BIT] = {" ^ 1", " ^ 1"},       [UNIT_TRUTH] = {") ^ 1", ") ^ 1"}};
    const unit its = fields[field].unit;
    assert(its <= UNIT_TRUTH && texts[its][0] != NULL); /* others are known when text is written */
    return plant_is_off(field) ? texts[its][is_less ? 1 : 0] : "";
}

int64_t plant_get_step(uint32_t field, int64_t bytes) {
    assert(fields[field].unit == UNIT_ELEMENT);
    return !plant_is_off(field) ? 0 : is_less ? -bytes : bytes;
}

/* What goes in the place of the right text. */
static void add_wrong(grout_text *out, const char *wrong) {
    for (; *wrong != '\0'; wrong++) {
        grout_text_add_bytes(out, *wrong == '@' ? (is_less ? "-" : "+") : wrong, 1);
    }
}

void plant_texts(grout_text *text, size_t from) {
    const char *right = planted < PLANT_COUNT ? fields[planted].right : NULL;
    if (right == NULL || text->data == NULL) {
        return;
    }
    char *const all = strdup(text->data + from);
    const char *rest = all;
    text->size = from;
    for (const char *at = strstr(rest, right); at != NULL; at = strstr(rest, right)) {
        grout_text_add_bytes(text, rest, (size_t)(at - rest));
        add_wrong(text, fields[planted].wrong);
        rest = at + strlen(right);
    }
    grout_text_add_bytes(text, rest, strlen(rest));
    free(all);
}
