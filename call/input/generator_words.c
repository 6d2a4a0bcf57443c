/* generator_words.c - generators as --input gives them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "generator_words.h"

#include "options.h"

#include <math.h>
#include <string.h>

/* Reads one field of "7:-1:1"; *text moves past it. */
static bool read_field(const char **text, char field[64]) {
    size_t size = strcspn(*text, ":");
    if (size == 0 || size >= 64) {
        return false;
    }
    memcpy(field, *text, size);
    field[size] = '\0';
    *text += size + ((*text)[size] == ':' ? 1u : 0u);
    return true;
}

/* "SEED:LO:HI". */
static bool read_uniform(const char *text, grout_generator *out) {
    char seed[64], low[64], high[64];
    return read_field(&text, seed) && read_field(&text, low) && read_field(&text, high) &&
           *text == '\0' && grout_read_u64(seed, &out->seed) && grout_read_number(low, &out->low) &&
           grout_read_number(high, &out->high) && isfinite(out->low) && isfinite(out->high) &&
           out->low <= out->high;
}

/* The generator that the text begins with; *rest_out: its arguments, NULL without any. */
static grout_generator_kind find_kind(const char *text, const char **rest_out) {
    const size_t size = strcspn(text, ":");
    *rest_out = text[size] == ':' ? text + size + 1 : NULL;
    return grout_generator_find(text, size);
}

bool grout_generator_read(const char *text, grout_generator *out) {
    const char *rest;
    const grout_generator_kind kind = find_kind(text, &rest);
    *out = (grout_generator){.kind = kind};
    if (kind == GROUT_GENERATOR_COUNT) {
        out->kind = GROUT_GENERATOR_VALUE;
        return grout_read_number(text, &out->low);
    }
    switch (grout_generator_get_info(kind)->argument_count) {
    case 0:
        return rest == NULL;
    case 1:
        return rest != NULL && grout_read_u64(rest, &out->seed);
    default:
        return rest != NULL && read_uniform(rest, out);
    }
}

void grout_generator_list_forms(grout_text *out) {
    for (int kind = 0; kind < GROUT_GENERATOR_VALUE; kind++) {
        grout_text_add(out, "%s", kind == 0 ? "" : ", ");
        grout_generator_print_form((grout_generator_kind)kind, out);
    }
    grout_text_add(out, " or a number");
}

void grout_generator_print_form(grout_generator_kind kind, grout_text *out) {
    const grout_generator_info *info = grout_generator_get_info(kind);
    grout_text_add(out, "%s%s", info->text, info->argument_count > 0 ? ":" : "");
    for (const char *at = info->form; *at != '\0'; at++) {
        if (*at != ' ') {
            grout_text_add_bytes(out, *at == ',' ? ":" : at, 1);
        }
    }
}
