/* list_narrow.c - which operations of a file's kernels are emitted for the CTA alone.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: list_narrow FILE...
 *
 * Prints a line for each barrier of a kernel that runs in clusters: the file, 'narrow' or 'wide',
 * the kernel and the barrier's name; and one for each operation on a narrow barrier that could be
 * written with scope(cta): the file, 'op', its line; with tabs between. A file that does not parse,
 * bind and verify without defines prints nothing.
 */
#include "edges.h"

#include "grout-internal/text.h"
#include "grout-internal/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

static grout_module *bind(const char *path, const grout_text *text) {
    grout_diags *diags = grout_diags_new();
    grout_module *symbolic = grout_parse(path, text->data, text->size, diags);
    grout_module *bound = symbolic == NULL ? NULL : grout_module_bind(symbolic, NULL, 0, diags);
    grout_module_free(symbolic);
    if (bound != NULL && !grout_verify(bound, GROUT_ARCH_OWN, diags)) {
        grout_module_free(bound);
        bound = NULL;
    }
    grout_diags_free(diags);
    return bound;
}

static bool may_be_narrowed(const grout_module *module, const grout_op *op) {
    return (grout_op_get_info((grout_opcode)op->opcode)->attrs & GROUT_ATTR_BIT(SCOPE)) != 0 &&
           grout_module_find_attr(module, op, GROUT_ATTR_SCOPE) == NULL &&
           grout_op_get_choice(module, op, GROUT_ATTR_ORDER) != GROUT_CHOICE_ORDER_RELAXED;
}

static void list_kernel(const char *path, const grout_module *module, grout_kernel_id kernel,
                        const uint8_t *is_narrow, const grout_kernel_id *kernel_of) {
    const char *name =
        grout_module_get_string(module, grout_module_get_kernel(module, kernel)->name);
    for (grout_object_id id = 1; id < grout_module_get_object_count(module); id++) {
        const grout_object *object = grout_module_get_object(module, id);
        if (object->kind == GROUT_OBJECT_BARRIER && kernel_of[id] == kernel) {
            printf("%s\t%s\t%s\t%s\n", path, is_narrow[id] ? "narrow" : "wide", name,
                   grout_module_get_string(module,
                                           grout_module_get_value(module, object->value)->name));
        }
    }
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        const grout_object_id barrier = grout_edges__find_barrier(module, op);
        if (barrier != 0 && kernel_of[barrier] == kernel && is_narrow[barrier] &&
            may_be_narrowed(module, op)) {
            printf("%s\top\t%" PRIu32 "\n", path, grout_module_get_loc(module, op->loc)->line);
        }
    }
}

/* Which kernel each barrier belongs to, by the operations that use it. */
static void find_kernels(const grout_module *module, grout_kernel_id *kernel_of) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        const grout_object_id barrier = grout_edges__find_barrier(module, op);
        if (barrier != 0) {
            kernel_of[barrier] = grout_module_get_block(module, op->parent)->kernel;
        }
    }
}

static bool list_module(const char *path, const grout_module *module) {
    const uint32_t objects = grout_module_get_object_count(module);
    uint8_t *is_narrow = calloc(objects, 1);
    grout_kernel_id *kernel_of = calloc(objects, sizeof *kernel_of);
    bool is_done = is_narrow != NULL && kernel_of != NULL;
    if (is_done) {
        find_kernels(module, kernel_of);
    }
    for (grout_kernel_id id = 1; is_done && id < grout_module_get_kernel_count(module); id++) {
        if (grout_kernel_get_cluster_size(module, id) > 1) {
            is_done = grout_edges__find_narrow(module, id, is_narrow, NULL);
            list_kernel(path, module, id, is_narrow, kernel_of);
        }
    }
    free(is_narrow);
    free(kernel_of);
    return is_done;
}

int main(int argc, char **argv) {
    bool is_done = true;
    for (int i = 1; i < argc && is_done; i++) {
        grout_text text = {0};
        grout_module *module = read_file(argv[i], &text) ? bind(argv[i], &text) : NULL;
        is_done = module == NULL || list_module(argv[i], module);
        grout_module_free(module);
        grout_text_free(&text);
    }
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}
