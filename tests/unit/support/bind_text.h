/* bind_text.h - kernels as text for the tests of the bound half of ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_TESTS_BIND_TEXT_H
#define GROUT_TESTS_BIND_TEXT_H

#include "grout-internal/text.h"
#include "grout-internal/verify.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A module and what was said about it. */
typedef struct bound_text {
    grout_diags *diags;
    grout_module *symbolic; /* the text has to parse */
    grout_module *bound;    /* NULL: it does not bind */
} bound_text;

static inline bound_text bind_text(const char *text, const grout_define *defines, size_t count) {
    bound_text result = {.diags = grout_diags_new()};
    ck_assert_ptr_nonnull(result.diags);
    result.symbolic = grout_parse("test.grout", text, strlen(text), result.diags);
    if (result.symbolic == NULL) {
        grout_text said = {0};
        grout_render_options options = {false};
        grout_diags_render(result.diags, &options, &said);
        ck_abort_msg("does not parse:\n%s%s", text, said.data == NULL ? "" : said.data);
    }
    result.bound = grout_module_bind(result.symbolic, defines, count, result.diags);
    return result;
}

static inline void free_text(bound_text *text) {
    grout_module_free(text->bound);
    grout_module_free(text->symbolic);
    grout_diags_free(text->diags);
}

/* The first diagnostic's code, or NONE. */
static inline grout_diag_code get_code(const grout_diags *diags) {
    return grout_diags_count(diags) == 0 ? GROUT_DIAG_NONE : grout_diags_get(diags, 0)->code;
}

/* All that was said, for a failing test's message; static: one at a time. */
static inline const char *get_said(const grout_diags *diags) {
    static char said[4096];
    size_t size = 0;
    said[0] = '\0';
    for (uint32_t i = 0; i < grout_diags_count(diags) && size + 1 < sizeof said; i++) {
        const grout_diag *diag = grout_diags_get(diags, i);
        int count = snprintf(said + size, sizeof said - size, "%s [%s]\n", diag->message,
                             grout_diag_get(diag->code)->text);
        size += count < 0 ? 0 : (size_t)count;
    }
    return said;
}

/* The value called name (without '%'), the n-th of them; 0 if there is none. */
static inline grout_value_id find_value(const grout_module *module, const char *name) {
    for (uint32_t id = 1; id < grout_module_get_value_count(module); id++) {
        const grout_value *value = grout_module_get_value(module, id);
        if (strcmp(grout_module_get_string(module, value->name), name) == 0) {
            return id;
        }
    }
    return 0;
}

static inline grout_object_id find_object(const grout_module *module, const char *name) {
    grout_value_id value = find_value(module, name);
    return value == 0 ? 0 : grout_module_get_value(module, value)->object;
}

/* The n-th operation (from 0) of an opcode, 0 if there are not that many. */
static inline grout_op_id find_op(const grout_module *module, grout_opcode opcode, uint32_t n) {
    for (uint32_t id = 1; id < grout_module_get_op_count(module); id++) {
        if (grout_module_get_op(module, id)->opcode == opcode && n-- == 0) {
            return id;
        }
    }
    return 0;
}

#endif
