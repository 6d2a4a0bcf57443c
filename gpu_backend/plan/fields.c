/* fields.c - see fields.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include "invariant.h"

#include <string.h>

typedef enum unit {
    UNIT_ONE,
    UNIT_EIGHT,
    UNIT_SIXTEEN,
    UNIT_WARP,
    UNIT_ELEMENT,
    UNIT_BIT,
    UNIT_NARROWER,
    UNIT_WEAKER,
    UNIT_LEFT_OUT
} unit;

static const struct {
    const char *name;
    uint8_t first, width, unit;
    const char *right, *wrong; /* where it stands as text; else NULL */
} fields[GROUT_FIELD_COUNT] = {
#define GROUT_FIELD(WORD, NAME, FIRST, WIDTH, UNIT, SECTION, DOC) \
    [GROUT_FIELD_##WORD##_##NAME] = {#WORD "." #NAME, FIRST, WIDTH, UNIT_##UNIT, NULL, NULL},
#define GROUT_TEXT_FIELD(WORD, NAME, UNIT, RIGHT, WRONG, SECTION, DOC) \
    [GROUT_FIELD_##WORD##_##NAME] = {#WORD "." #NAME, 0, 0, UNIT_##UNIT, RIGHT, WRONG},
#include "fields.def"
};

uint32_t grout_gpu_get_field_count(void) {
    return GROUT_FIELD_COUNT;
}

const char *grout_gpu_get_field_name(uint32_t number) {
    GROUT_ASSERT(number < GROUT_FIELD_COUNT);
    return fields[number].name;
}

bool grout_planted_parse(const char *text, grout_planted *planted_out) {
    size_t size = strlen(text);
    const bool is_less = size > 0 && text[size - 1] == '-';
    size -= is_less ? 1 : 0;
    for (uint32_t k = 0; k < GROUT_FIELD_COUNT; k++) {
        if (strlen(fields[k].name) == size && memcmp(fields[k].name, text, size) == 0) {
            *planted_out = (grout_planted){.field = k + 1, .is_less = is_less};
            return true;
        }
    }
    return false;
}

static bool is_planted(const grout_planted *planted, grout_gpu_field field) {
    return planted->field == (uint32_t)field + 1;
}

int64_t grout_gpu__plant(const grout_planted *planted, grout_gpu_field field, int64_t value) {
    static const int64_t steps[] = {
        [UNIT_ONE] = 1, [UNIT_EIGHT] = 8, [UNIT_SIXTEEN] = 16, [UNIT_WARP] = 32};
    const unit its = (unit)fields[field].unit;
    if (!is_planted(planted, field)) {
        return value;
    }
    if (its == UNIT_BIT) {
        return value ^ 1;
    }
    if (its == UNIT_NARROWER) {
        return value > 0 ? value - 1 : 0;
    }
    if (its == UNIT_WEAKER) {
        return 0;
    }
    GROUT_ASSERT(its <= UNIT_WARP);
    return planted->is_less ? value - steps[its] : value + steps[its];
}

const char *grout_gpu__plant_text(const grout_planted *planted, grout_gpu_field field) {
    static const char *const texts[][2] = {[UNIT_ONE] = {" + 1", " - 1"},
                                           [UNIT_EIGHT] = {" + 8", " - 8"},
                                           [UNIT_SIXTEEN] = {" + 16", " - 16"},
                                           [UNIT_WARP] = {" + 32", " - 32"},
                                           [UNIT_BIT] = {" ^ 1", " ^ 1"}};
    if (!is_planted(planted, field)) {
        return "";
    }
    GROUT_ASSERT(fields[field].unit <= UNIT_BIT); /* the others are known when text is written */
    return texts[fields[field].unit][planted->is_less ? 1 : 0];
}

int64_t grout_gpu__get_step(const grout_planted *planted, grout_gpu_field field, int64_t size) {
    GROUT_ASSERT(fields[field].unit == UNIT_ELEMENT);
    if (!is_planted(planted, field)) {
        return 0;
    }
    return planted->is_less ? -size : size;
}

/* What goes in the place of the right text. */
static void add_wrong(const grout_planted *planted, const char *wrong, grout_text *out) {
    for (; *wrong != '\0'; wrong++) {
        if (*wrong == '@') {
            grout_text_add_bytes(out, planted->is_less ? "-" : "+", 1);
        } else {
            grout_text_add_bytes(out, wrong, 1);
        }
    }
}

/* Where the text stands among so many bytes, or NULL. */
static const char *find(const char *bytes, size_t size, const char *text) {
    const size_t length = strlen(text);
    for (size_t k = 0; k + length <= size; k++) {
        if (memcmp(bytes + k, text, length) == 0) {
            return bytes + k;
        }
    }
    return NULL;
}

void grout_gpu__add_planted(const grout_planted *planted, const char *text, size_t size,
                            grout_text *out) {
    const char *right = planted->field == 0 ? NULL : fields[planted->field - 1].right;
    const char *at = right == NULL ? NULL : find(text, size, right);
    while (at != NULL) {
        const size_t before = (size_t)(at - text) + strlen(right);
        grout_text_add_bytes(out, text, (size_t)(at - text));
        add_wrong(planted, fields[planted->field - 1].wrong, out);
        text += before;
        size -= before;
        at = find(text, size, right);
    }
    grout_text_add_bytes(out, text, size);
}

uint64_t grout_gpu__put_field(const grout_planted *planted, uint64_t word, grout_gpu_field field,
                              uint64_t value) {
    const uint64_t mask = (UINT64_C(1) << fields[field].width) - 1;
    const uint64_t written = (uint64_t)grout_gpu__plant(planted, field, (int64_t)value) & mask;
    GROUT_ASSERT(fields[field].width > 0 && value <= mask);
    GROUT_ASSERT((word >> fields[field].first & mask) == 0);
    return word | written << fields[field].first;
}
