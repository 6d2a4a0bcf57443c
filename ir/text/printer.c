/* printer.c - a module as text: items, kernels, blocks, and the comments between.
 * SPDX-License-Identifier: Apache-2.0 */
#include "printer.h"

#include "grout-internal/text.h"

#include <inttypes.h>
#include <string.h>

static void print_indent(const grout_printer *pr, uint32_t indent) {
    for (uint32_t i = 0; i < indent; i++) {
        grout_printer__text(pr, " ");
    }
}

/* The comments and blank lines above an item. */
static void print_lead(const grout_printer *pr, grout_trivia_id id, uint32_t indent) {
    const grout_trivia *trivia = grout_module_get_trivia(pr->module, id);
    const char *at = grout_module_get_string(pr->module, trivia->lead);
    while (*at != '\0') {
        size_t size = strcspn(at, "\n");
        if (size > 0) {
            print_indent(pr, indent);
        }
        grout_text_add_bytes(pr->out, at, size);
        grout_printer__text(pr, "\n");
        at += size + (at[size] == '\n');
    }
}

/* The comment at the end of an item's line, and the line's end. */
static void end_line(const grout_printer *pr, grout_trivia_id id) {
    const grout_trivia *trivia = grout_module_get_trivia(pr->module, id);
    if (trivia->tail != 0) {
        grout_text_add(pr->out, "  %s", grout_module_get_string(pr->module, trivia->tail));
    }
    grout_printer__text(pr, "\n");
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void print_block(const grout_printer *pr, grout_nesting *nesting, grout_block_id id,
                        uint32_t indent);

/* What stands between the bodies of an operation. */
static const char *get_next_word(const grout_op *op) {
    switch (grout_op_get_region_kind(op)) {
    case GROUT_REGION_LOOP:
        return " do {";
    case GROUT_REGION_PARTITIONS:
        return " partition {";
    case GROUT_REGION_BRANCH:
    case GROUT_REGION_SCOPE:
    case GROUT_REGION_WARPS:
    case GROUT_REGION_NONE:
        break;
    }
    return " else {";
}

/* The bodies after an operation's header, whose line is not ended yet. */
static void print_bodies(const grout_printer *pr, grout_nesting *nesting, const grout_op *op,
                         uint32_t indent) {
    grout_printer__text(pr, " {");
    end_line(pr, op->trivia);
    for (uint32_t i = 0; i < op->block_count; i++) {
        grout_block_id block = op->first_block + i;
        if (i > 0) {
            grout_printer__text(pr, get_next_word(op));
            end_line(pr, grout_module_get_block(pr->module, block - 1)->end_trivia);
        }
        print_block(pr, nesting, block, indent + 2);
        print_indent(pr, indent);
        grout_printer__text(pr, "}");
    }
    end_line(pr,
             grout_module_get_block(pr->module, op->first_block + op->block_count - 1)->end_trivia);
}

/* The lines between the braces. */
static void print_block(const grout_printer *pr, grout_nesting *nesting, grout_block_id id,
                        uint32_t indent) {
    const grout_block *block = grout_module_get_block(pr->module, id);
    grout_nesting__mark_block(nesting, id, 0);
    for (grout_op_id at = block->first; at != 0;) {
        const grout_op *op = grout_module_get_op(pr->module, at);
        if (!grout_nesting__is_nested(nesting, at)) {
            print_lead(pr, op->trivia, indent);
            print_indent(pr, indent);
            grout_printer__op(pr, at);
            if (op->block_count > 0) {
                print_bodies(pr, nesting, op, indent);
            } else {
                end_line(pr, op->trivia);
            }
        }
        at = op->next;
    }
    print_lead(pr, block->end_trivia, indent);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void print_param(const grout_printer *pr, const grout_param *param) {
    static const char *const directions[] = {[GROUT_DIRECTION_IN] = "in",
                                             [GROUT_DIRECTION_OUT] = "out",
                                             [GROUT_DIRECTION_INOUT] = "inout",
                                             [GROUT_DIRECTION_SCALAR] = ""};
    grout_printer__value(pr, param->value);
    grout_printer__text(pr, ": ");
    if (param->direction == GROUT_DIRECTION_SCALAR) {
        grout_printer__text(pr, grout_dtype_get_info((grout_dtype)param->dtype)->text);
    } else {
        grout_text_add(pr->out, "%s gmem ", directions[param->direction]);
        const grout_object *object = grout_module_get_object(pr->module, param->object);
        grout_printer__type(pr, &object->type);
        grout_printer__text(pr, object->is_packed ? " packed" : "");
    }
    grout_printer__init(pr, param->init);
}

/* Adds ' ' and a part to a line, or the part on a new line if it does not fit or must not be there.
 */
static void add_part(const grout_printer *pr, const grout_text *part, uint32_t indent,
                     size_t *line_start, bool is_broken) {
    if (is_broken || pr->out->size - *line_start + 1 + part->size > GROUT_LINE_MAX) {
        grout_printer__text(pr, "\n");
        *line_start = pr->out->size;
        print_indent(pr, indent);
    } else {
        grout_printer__text(pr, " ");
    }
    grout_text_add_bytes(pr->out, part->data != NULL ? part->data : "", part->size);
    pr->out->failed |= part->failed;
}

/* Adds a parameter, the first right after the parenthesis. One whose list is longer than a line
 * begins on a line of its own and goes on after its commas. */
static void add_param(const grout_printer *pr, const grout_text *part, bool is_first, bool has_list,
                      size_t *line_start) {
    enum { PARAM_INDENT = 8, LIST_INDENT = 12 };
    size_t start = is_first ? pr->out->size - *line_start : PARAM_INDENT;
    bool is_broken = has_list && start + part->size > GROUT_LINE_MAX;
    for (size_t done = 0; done < part->size;) {
        char *at = part->data + done;
        const char *comma = is_broken ? strstr(at, ", ") : NULL;
        const grout_text piece = {
            .data = at, .size = comma == NULL ? part->size - done : (size_t)(comma + 1 - at)};
        if (done == 0 && is_first) {
            grout_text_add_bytes(pr->out, piece.data, piece.size);
        } else {
            add_part(pr, &piece, done == 0 ? PARAM_INDENT : LIST_INDENT, line_start,
                     done == 0 && is_broken);
        }
        done += piece.size + (comma == NULL ? 0 : 1);
    }
    pr->out->failed |= part->failed;
}

static bool has_list(const grout_module *module, const grout_param *param) {
    return grout_module_get_init(module, param->init)->kind == GROUT_GENERATOR_LIST &&
           param->init != 0;
}

/* Whether the parameters took more than a line. */
static bool print_params(const grout_printer *pr, const grout_kernel *kernel) {
    const size_t start = pr->out->size;
    size_t line_start = start;
    grout_text_add(pr->out, "kernel @%s(", grout_module_get_string(pr->module, kernel->name));
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        grout_text part = {.allocator = pr->out->allocator};
        grout_printer inner = {.module = pr->module, .out = &part};
        const grout_param *param = grout_module_get_param(pr->module, kernel, i);
        print_param(&inner, param);
        grout_printer__text(&inner, i + 1 == kernel->param_count ? ")" : ",");
        add_param(pr, &part, i == 0, has_list(pr->module, param), &line_start);
        grout_text_free(&part);
    }
    grout_printer__text(pr, kernel->param_count == 0 ? ")" : "");
    return line_start > start;
}

static void print_axes(const grout_printer *pr, const grout_kernel *kernel) {
    static const char *const words[] = {[GROUT_AXIS_GRID] = "grid(",
                                        [GROUT_AXIS_CLUSTER] = "cluster(",
                                        [GROUT_AXIS_THREADS] = "threads("};
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        const grout_axis *axis = &kernel->axes[i];
        bool is_first = i == 0 || kernel->axes[i - 1].kind != axis->kind;
        bool is_last = i + 1 == kernel->axis_count || kernel->axes[i + 1].kind != axis->kind;
        if (is_first) {
            grout_printer__text(pr, i > 0 ? " " : "");
            grout_printer__text(pr, words[axis->kind]);
        }
        grout_text_add(pr->out, "%s%s = ", is_first ? "" : ", ",
                       grout_module_get_string(pr->module, axis->name));
        grout_printer__expr(pr, axis->size, GROUT_LEVEL_ANY);
        grout_printer__text(pr, is_last ? ")" : "");
    }
}

static void print_kernel_attrs(const grout_printer *pr, const grout_kernel *kernel) {
    if (kernel->cluster_exit == GROUT_CLUSTER_EXIT_UNWRITTEN && !kernel->has_auto_fence &&
        !kernel->has_arch && kernel->partition_count == 0) {
        return;
    }
    grout_printer__text(pr, "attr");
    if (kernel->has_arch) {
        grout_text_add(pr->out, " arch = \"%s\"", grout_arch_get_text((grout_arch)kernel->arch));
    }
    if (kernel->cluster_exit != GROUT_CLUSTER_EXIT_UNWRITTEN) {
        grout_printer__text(pr, kernel->cluster_exit == GROUT_CLUSTER_EXIT_SYNC
                                    ? " cluster_exit = sync"
                                    : " cluster_exit = none");
    }
    if (kernel->has_auto_fence) {
        grout_printer__text(pr, kernel->auto_fence ? " auto_fence = 1" : " auto_fence = 0");
    }
    for (uint32_t k = 0; k < kernel->partition_count; k++) {
        grout_text_add(pr->out, "%s%" PRIu32 "%s", k == 0 ? " partition_warps = [" : ", ",
                       kernel->partition_warps[k], k + 1 == kernel->partition_count ? "]" : "");
    }
}

/* Adds a part of a header, if the kernel has it: whether it does. */
static bool add_header_part(const grout_printer *pr, const grout_kernel *kernel,
                            void (*print)(const grout_printer *pr, const grout_kernel *kernel),
                            size_t *line_start, bool is_broken) {
    grout_text part = {.allocator = pr->out->allocator};
    grout_printer inner = {.module = pr->module, .out = &part};
    print(&inner, kernel);
    bool has_part = part.size > 0;
    if (has_part || part.failed) {
        add_part(pr, &part, 4, line_start, is_broken);
    }
    grout_text_free(&part);
    return has_part;
}

static void print_kernel(const grout_printer *pr, grout_nesting *nesting, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(pr->module, id);
    print_lead(pr, kernel->trivia, 0);
    size_t line_start = pr->out->size;
    bool is_broken = print_params(pr, kernel);
    is_broken = !add_header_part(pr, kernel, print_axes, &line_start, is_broken) && is_broken;
    (void)add_header_part(pr, kernel, print_kernel_attrs, &line_start, is_broken);
    end_line(pr, kernel->trivia);
    grout_printer__text(pr, "{\n");
    print_block(pr, nesting, kernel->body, 2);
    grout_printer__text(pr, "}");
    end_line(pr, grout_module_get_block(pr->module, kernel->body)->end_trivia);
}

/* ---- items ----------------------------------------------------------------------------------- */

static void print_const_value(const grout_printer *pr, const grout_const *constant) {
    grout_text_add(pr->out, "%s%s = ", grout_module_get_string(pr->module, constant->name),
                   constant->is_f32 ? " : f32" : "");
    grout_printer__expr(pr, constant->expr, GROUT_LEVEL_ANY);
}

/* Whether the item is a const on the line of the one before it. */
static bool is_continued(const grout_module *module, uint32_t index) {
    if (index >= module->items.count) {
        return false;
    }
    const grout_item *item = GROUT_TABLE_AT(module->items, grout_item, index);
    return item->kind == GROUT_ITEM_CONST && grout_module_get_const(module, item->id)->continues;
}

/* Consts on the lines after the first stand under its first name. */
enum { CONTINUED_INDENT = 6 };

/* One const, after 'const' or after the comma of the one before it. */
static void print_const(const grout_printer *pr, const grout_const *constant, bool is_last,
                        size_t *line_start, bool *is_at_start) {
    const grout_trivia *trivia = grout_module_get_trivia(pr->module, constant->trivia);
    grout_text part = {.allocator = pr->out->allocator};
    grout_printer inner = {.module = pr->module, .out = &part};
    print_const_value(&inner, constant);
    grout_printer__text(&inner, is_last ? "" : ",");
    if (constant->continues && trivia->lead != 0) {
        grout_printer__text(pr, *is_at_start ? "" : "\n");
        print_lead(pr, constant->trivia, CONTINUED_INDENT);
        *is_at_start = true;
    }
    if (*is_at_start) {
        *line_start = pr->out->size;
        print_indent(pr, CONTINUED_INDENT - 1);
    }
    add_part(pr, &part, CONTINUED_INDENT, line_start, false);
    grout_text_free(&part);
    *is_at_start = trivia->tail != 0;
    if (trivia->tail != 0 || is_last) {
        end_line(pr, constant->trivia);
    }
}

/* A line of consts with commas, from the index-th item on. Returns the index after its end. */
static uint32_t print_consts(const grout_printer *pr, uint32_t index) {
    const grout_item *item = GROUT_TABLE_AT(pr->module->items, grout_item, index);
    print_lead(pr, grout_module_get_const(pr->module, item->id)->trivia, 0);
    size_t line_start = pr->out->size;
    bool is_at_start = false;
    bool is_last;
    grout_printer__text(pr, "const");
    do {
        item = GROUT_TABLE_AT(pr->module->items, grout_item, index);
        index++;
        is_last = !is_continued(pr->module, index);
        print_const(pr, grout_module_get_const(pr->module, item->id), is_last, &line_start,
                    &is_at_start);
    } while (!is_last);
    return index;
}

static void print_require(const grout_printer *pr, uint32_t id) {
    const grout_require *require = grout_module_get_require(pr->module, id);
    print_lead(pr, require->trivia, 0);
    grout_printer__text(pr, "require ");
    grout_printer__expr(pr, require->expr, GROUT_LEVEL_ANY);
    grout_printer__text(pr, ", ");
    grout_printer__string(pr, require->text);
    end_line(pr, require->trivia);
}

static void print_launch(const grout_printer *pr, grout_launch_id id) {
    const grout_launch_line *launch = grout_module_get_launch(pr->module, id);
    print_lead(pr, launch->trivia, 0);
    grout_text_add(pr->out, "launch @%s(",
                   grout_module_get_string(pr->module, launch->kernel_name));
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const grout_launch_argument *argument =
            grout_module_get_launch_argument(pr->module, launch, i);
        grout_text_add(pr->out, "%s%%%s", i > 0 ? ", " : "",
                       grout_module_get_string(pr->module, argument->name));
    }
    grout_text_add(pr->out, ")%s", launch->is_dependent ? " dependent" : "");
    end_line(pr, launch->trivia);
}

static void print_tolerance(const grout_printer *pr, const char *word, grout_expr_id id) {
    if (id != 0) {
        grout_text_add(pr->out, " %s(", word);
        grout_printer__expr(pr, id, GROUT_LEVEL_ANY);
        grout_printer__text(pr, ")");
    }
}

static void print_check(const grout_printer *pr, uint32_t id) {
    const grout_check_line *line = grout_module_get_check_line(pr->module, id);
    print_lead(pr, line->trivia, 0);
    grout_text_add(pr->out, "check @%s", grout_module_get_string(pr->module, line->kernel_name));
    grout_text_add(pr->out, " against @%s",
                   grout_module_get_string(pr->module, line->reference_name));
    print_tolerance(pr, "rtol", line->rtol);
    print_tolerance(pr, "atol", line->atol);
    end_line(pr, line->trivia);
}

static void print_items(const grout_printer *pr, grout_nesting *nesting) {
    for (uint32_t i = 1; i < pr->module->items.count;) {
        const grout_item *item = GROUT_TABLE_AT(pr->module->items, grout_item, i);
        switch ((grout_item_kind)item->kind) {
        case GROUT_ITEM_CONST:
            i = print_consts(pr, i);
            break;
        case GROUT_ITEM_REQUIRE:
            print_require(pr, item->id);
            i++;
            break;
        case GROUT_ITEM_KERNEL:
            print_kernel(pr, nesting, item->id);
            i++;
            break;
        case GROUT_ITEM_LAUNCH:
            print_launch(pr, item->id);
            i++;
            break;
        case GROUT_ITEM_CHECK:
            print_check(pr, item->id);
            i++;
            break;
        }
    }
}

void grout_module_print(const grout_module *module, grout_text *out) {
    grout_nesting nesting;
    grout_printer pr = {.module = module, .out = out, .nesting = &nesting};
    grout_text_add_bytes(out, "", 0);
    if (grout_nesting__init(&nesting, module)) {
        if (module->has_header) {
            print_lead(&pr, module->header_trivia, 0);
            grout_text_add(out, "grout %d", GROUT_TEXT_VERSION);
            end_line(&pr, module->header_trivia);
        }
        print_items(&pr, &nesting);
        print_lead(&pr, module->end_trivia, 0);
    }
    out->failed |= nesting.failed;
    grout_nesting__deinit(&nesting);
}
