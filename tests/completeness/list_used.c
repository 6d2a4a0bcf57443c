/* list_used.c - which operations, attributes, choices, pairs of operation and attribute or choice
 * and forms of arrivals the kernels of files use.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: list_used FILE...
 *
 * Prints one line for each that occurs: the file, 'op', 'attribute', 'choice', 'pair', 'chosen' or
 * 'form', the name, and how often, with tabs between. A choice is named with its attribute:
 * 'order(acquire)', a pair with its operation first: 'mbarrier_wait order', and so are a choice on
 * an operation ('chosen'): 'mbarrier_wait order(acquire)', and a form, which
 * says whose barrier the operation works on: 'own', that of another CTA ('peer'), one that counts
 * lanes because async_copy_arrive arrives there ('lanes'), that of a pair of CTAs ('pair'). A file
 * has to parse, bind without defines and verify; the first that does not ends the program with the
 * reason.
 */
#include "grout-internal/ir.h"
#include "grout-internal/tables.h"
#include "grout-internal/text.h"
#include "grout-internal/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum form { FORM_OWN, FORM_PEER, FORM_LANES, FORM_PAIR, FORM_COUNT } form;
static const char *const form_names[FORM_COUNT] = {"own", "peer", "lanes", "pair"};

typedef struct uses {
    uint32_t ops[GROUT_OP_COUNT];
    uint32_t attrs[GROUT_ATTR_COUNT];
    uint32_t choices[GROUT_CHOICE_COUNT];
    uint32_t chosen[GROUT_OP_COUNT][GROUT_CHOICE_COUNT];
    uint32_t pairs[GROUT_OP_COUNT][GROUT_ATTR_COUNT];
    uint32_t forms[GROUT_OP_COUNT][FORM_COUNT];
    bool *counts_lanes; /* by object */
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

/* ---- forms of arrivals ----------------------------------------------------------------------- */

/* The operand that says which barrier; NULL: the op has none. */
static const grout_operand *find_barrier(const grout_module *module, const grout_op *op) {
    const uint32_t place = grout_op_find_letter((grout_opcode)op->opcode, 'b');
    return place < op->operand_count ? grout_module_get_operand(module, op, place) : NULL;
}

static const grout_ref *get_ref(const grout_module *module, const grout_operand *operand) {
    return operand->kind == GROUT_OPERAND_REF ? grout_module_get_ref(module, operand->id) : NULL;
}

static grout_object_id get_object(const grout_module *module, const grout_operand *operand) {
    const grout_ref *ref = get_ref(module, operand);
    return grout_module_get_value(module, ref == NULL ? operand->id : ref->base)->object;
}

static bool is_of_peer(const grout_module *module, const grout_operand *operand) {
    const grout_ref *ref = get_ref(module, operand);
    for (uint32_t i = 0; ref != NULL && i < ref->step_count; i++) {
        if (grout_module_get_ref_step(module, ref, i)->kind == GROUT_REF_CLUSTER) {
            return true;
        }
    }
    return false;
}

static bool is_each_lane(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->lanes == GROUT_SYNC_LANES_EACH;
}

static void find_barriers_of_lanes(const grout_module *module, uses *counts) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        const grout_operand *barrier = find_barrier(module, op);
        if (barrier != NULL && is_each_lane(op)) {
            counts->counts_lanes[get_object(module, barrier)] = true;
        }
    }
}

static void count_forms(const grout_module *module, const grout_op *op, uses *counts) {
    const grout_operand *barrier = find_barrier(module, op);
    if (barrier == NULL) {
        return;
    }
    const grout_object_id id = get_object(module, barrier);
    const grout_object *object = grout_module_get_object(module, id);
    uint32_t *forms = counts->forms[op->opcode];
    forms[is_of_peer(module, barrier) ? FORM_PEER : FORM_OWN]++;
    forms[FORM_LANES] += counts->counts_lanes[id] && !is_each_lane(op) ? 1 : 0;
    forms[FORM_PAIR] += object->is_explicit && object->is_leader_tracked ? 1 : 0;
}

static void print_forms(const char *path, const uses *counts) {
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        for (int k = 0; k < FORM_COUNT; k++) {
            if (counts->forms[i][k] > 0) {
                printf("%s\tform\t%s %s\t%" PRIu32 "\n", path,
                       grout_op_get_info((grout_opcode)i)->text, form_names[k],
                       counts->forms[i][k]);
            }
        }
    }
}

/* ---- operations and attributes --------------------------------------------------------------- */

static void count_op(const grout_module *module, const grout_op *op, uses *counts) {
    counts->ops[op->opcode]++;
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        const grout_attr_value *value = grout_module_find_attr(module, op, (grout_attr)i);
        if (value != NULL) {
            counts->attrs[i]++;
            counts->choices[value->choice]++;
            counts->chosen[op->opcode][value->choice]++;
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

static void print_chosen(const char *path, const uses *counts) {
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        for (int k = 1; k < GROUT_CHOICE_COUNT; k++) {
            const grout_choice_info *choice = grout_choice_get_info((grout_choice)k);
            if (counts->chosen[i][k] > 0) {
                printf("%s\tchosen\t%s %s(%s)\t%" PRIu32 "\n", path,
                       grout_op_get_info((grout_opcode)i)->text,
                       grout_attr_get_info((grout_attr)choice->attr)->text, choice->text,
                       counts->chosen[i][k]);
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
    print_chosen(path, counts);
    print_forms(path, counts);
}

static void list_module(const char *path, const grout_module *module) {
    uses counts = {.counts_lanes = calloc(grout_module_get_object_count(module), sizeof(bool))};
    if (counts.counts_lanes == NULL) {
        abort();
    }
    find_barriers_of_lanes(module, &counts);
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        count_op(module, op, &counts);
        count_forms(module, op, &counts);
    }
    print_uses(path, &counts);
    free(counts.counts_lanes);
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
        list_module(path, module);
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
