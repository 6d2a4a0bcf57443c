/* list_used.c - which operations, attributes, choices and pairs of operation and attribute the
 * kernels of files use.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: list_used FILE...
 *
 * Prints one line for each that occurs: the file, 'op', 'attribute', 'choice' or 'pair', the name,
 * and how often, with tabs between. A choice is named with its attribute: 'order(acquire)', a pair
 * with its operation first: 'mbarrier_wait order'. A file has to parse, bind without defines and
 * verify; the first that does not ends the program with the reason.
 */
#include "grout-internal/text.h"
#include "grout-internal/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct uses {
    uint32_t ops[GROUT_OP_COUNT];
    uint32_t attrs[GROUT_ATTR_COUNT];
    uint32_t choices[GROUT_CHOICE_COUNT];
    uint32_t pairs[GROUT_OP_COUNT][GROUT_ATTR_COUNT];
} uses;

static bool read_file(const char *path, grout_text *out) {
    char buffer[4096];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        grout_text_add_bytes(out, buffer, size);
    }
    return fclose(file) == 0;
}

static grout_module *bind(const char *path, const grout_text *text, grout_diags *diags) {
    grout_module *symbolic = grout_parse(path, text->data, text->size, diags);
    grout_module *bound = symbolic == NULL ? NULL : grout_module_bind(symbolic, NULL, 0, diags);
    grout_module_free(symbolic);
    if (bound != NULL && !grout_verify(bound, GROUT_ARCH_ANY, diags)) {
        grout_module_free(bound);
        return NULL;
    }
    return bound;
}

static void count_op(const grout_module *module, const grout_op *op, uses *counts) {
    counts->ops[op->opcode]++;
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        const grout_attr_value *value = grout_module_find_attr(module, op, (grout_attr)i);
        if (value != NULL) {
            counts->attrs[i]++;
            counts->choices[value->choice]++;
            counts->pairs[op->opcode][i]++;
        }
    }
}

static void print_pairs(const char *path, const uses *counts) {
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        for (int k = 0; k < GROUT_ATTR_COUNT; k++) {
            if (counts->pairs[i][k] > 0) {
                printf("%s\tpair\t%s %s\t%" PRIu32 "\n", path,
                       grout_op_get_info((grout_opcode)i)->text,
                       grout_attr_get_info((grout_attr)k)->text, counts->pairs[i][k]);
            }
        }
    }
}

static void print_uses(const char *path, const uses *counts) {
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        if (counts->ops[i] > 0) {
            printf("%s\top\t%s\t%" PRIu32 "\n", path, grout_op_get_info((grout_opcode)i)->text,
                   counts->ops[i]);
        }
    }
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        if (counts->attrs[i] > 0) {
            printf("%s\tattribute\t%s\t%" PRIu32 "\n", path,
                   grout_attr_get_info((grout_attr)i)->text, counts->attrs[i]);
        }
    }
    for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
        const grout_choice_info *choice = grout_choice_get_info((grout_choice)i);
        if (counts->choices[i] > 0) {
            printf("%s\tchoice\t%s(%s)\t%" PRIu32 "\n", path,
                   grout_attr_get_info((grout_attr)choice->attr)->text, choice->text,
                   counts->choices[i]);
        }
    }
    print_pairs(path, counts);
}

static void print_diags(const grout_diags *diags) {
    grout_text text = {0};
    grout_diags_render(diags, &(grout_render_options){0}, &text);
    fprintf(stderr, "%s", text.data == NULL ? "" : text.data);
    grout_text_free(&text);
}

static bool list_file(const char *path) {
    grout_text text = {0};
    if (!read_file(path, &text)) {
        fprintf(stderr, "list_used: cannot read '%s'\n", path);
        grout_text_free(&text);
        return false;
    }
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind(path, &text, diags);
    if (module == NULL) {
        print_diags(diags);
    } else {
        uses counts = {0};
        for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
            count_op(module, grout_module_get_op(module, id), &counts);
        }
        print_uses(path, &counts);
    }
    const bool is_read = module != NULL;
    grout_module_free(module);
    grout_diags_free(diags);
    grout_text_free(&text);
    return is_read;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (!list_file(argv[i])) {
            return 1;
        }
    }
    return argc > 1 ? 0 : 2;
}
