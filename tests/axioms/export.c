/* export.c - prints kernels as JSON, for the judge of this folder: one line a file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: axioms_export FILE...
 *
 * A line is the program as it stands, or each launch of its list, bound: axes, objects, and the
 * operations with their operands resolved. It says nothing of what orders what: that is for the
 * judge. A file that does not parse, bind or verify gives {"file": .., "error": ..}.
 */
#include "grout-internal/ir.h"
#include "grout-internal/text.h"
#include "grout-internal/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct export {
    const grout_module *module;
    grout_kernel_id kernel;
    grout_text out;
}
export;

static void add_string(export *it, const char *text) {
    grout_text_add(&it->out, "\"");
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\') {
            grout_text_add(&it->out, "\\%c", *at);
        } else if ((unsigned char)*at < 0x20) {
            grout_text_add(&it->out, "\\u%04x", (unsigned)*at);
        } else {
            grout_text_add(&it->out, "%c", *at);
        }
    }
    grout_text_add(&it->out, "\"");
}

static void add_comma(export *it, uint32_t index) {
    if (index > 0) {
        grout_text_add(&it->out, ",");
    }
}

static void add_const(export *it, grout_expr_id id) {
    const grout_expr_value value = grout_module_get_expr_value(it->module, id);
    if (value.is_float) {
        grout_text_add(&it->out, "{\"float\":%.17g}", value.number);
    } else {
        grout_text_add(&it->out, "{\"const\":%" PRId64 "}", value.integer);
    }
}

static void add_operand(export *it, const grout_operand *operand);

static void add_starts(export *it, const grout_view *view) {
    for (uint32_t i = 0; i < view->rank; i++) {
        add_comma(it, i);
        grout_text_add(&it->out, "{\"at\":%" PRId64 ",\"terms\":[", view->start_const[i]);
        for (uint32_t k = 0; k < view->start_term_count[i]; k++) {
            add_comma(it, k);
            grout_text_add(&it->out, "%" PRIu32, view->start_terms[i][k]);
        }
        grout_text_add(&it->out, "],\"extent\":%" PRId64 ",\"squeezed\":%d,\"packed\":%u}",
                       view->extent[i], view->is_squeezed[i],
                       i + 1u == view->rank ? view->packed : 1u);
    }
}

static void add_view(export *it, const grout_view *view) {
    grout_text_add(&it->out, "{\"object\":%" PRIu32 ",\"box\":[", view->object);
    add_starts(it, view);
    grout_text_add(&it->out, "],\"order\":[");
    for (uint32_t i = 0; i < view->rank; i++) {
        add_comma(it, i);
        grout_text_add(&it->out, "%u", view->order[i]);
    }
    grout_text_add(&it->out, "],\"cluster\":[");
    for (uint32_t i = 0; i < view->cluster_index_count; i++) {
        add_comma(it, i);
        add_operand(it, &view->cluster_index[i]);
    }
    grout_text_add(&it->out, "]");
    const grout_op *maker = grout_view_find_made_descriptor(it->module, view);
    if (maker != NULL) { /* where the tensor map lies that the copy reads */
        grout_text_add(&it->out, ",\"map\":");
        add_operand(it, grout_module_get_operand(it->module, maker, 0));
    }
    grout_text_add(&it->out, "}");
}

static void add_operand(export *it, const grout_operand *operand) {
    grout_view view;
    switch (operand->kind) {
    case GROUT_OPERAND_EXPR:
        add_const(it, operand->id);
        return;
    case GROUT_OPERAND_AXIS:
        grout_text_add(&it->out, "{\"axis\":%" PRIu32 "}", operand->id - 1);
        return;
    case GROUT_OPERAND_STRING:
        add_string(it, grout_module_get_string(it->module, operand->id));
        return;
    default:
        break;
    }
    if (grout_module_get_view(it->module, operand, &view)) {
        add_view(it, &view);
    } else if (operand->kind == GROUT_OPERAND_VALUE) {
        grout_text_add(&it->out, "{\"value\":%" PRIu32 "}", operand->id);
    } else {
        grout_text_add(&it->out, "null");
    }
}

static void add_attr(export *it, const grout_op *op, grout_attr attr) {
    const grout_attr_info *info = grout_attr_get_info(attr);
    add_string(it, info->text);
    grout_text_add(&it->out, ":");
    switch (info->argument) {
    case GROUT_ARGUMENT_INT:
        grout_text_add(&it->out, "%" PRId64, grout_op_get_attr_integer(it->module, op, attr, 0));
        break;
    case GROUT_ARGUMENT_AXES:
        grout_text_add(&it->out, "%" PRIu32, grout_op_get_axes(it->module, op, attr));
        break;
    case GROUT_ARGUMENT_DIMS:
        grout_text_add(&it->out, "%" PRIu32, grout_op_get_dims(it->module, op, attr));
        break;
    case GROUT_ARGUMENT_CHOICE:
        add_string(it, grout_choice_get_info(grout_op_get_choice(it->module, op, attr))->text);
        break;
    default:
        grout_text_add(&it->out, "true");
        break;
    }
}

static void add_attrs(export *it, const grout_op *op) {
    uint32_t count = 0;
    grout_text_add(&it->out, ",\"attrs\":{");
    for (grout_attr attr = 1; attr < GROUT_ATTR_COUNT; attr++) {
        if (grout_module_find_attr(it->module, op, attr) != NULL) {
            add_comma(it, count++);
            add_attr(it, op, attr);
        }
    }
    grout_text_add(&it->out, "}");
}

/* The dimensions of the array that an op makes. */
static void add_dims(export *it, const grout_op *op) {
    const grout_type *type =
        op->result_count == 1 ? grout_module_get_type(it->module, op->first_result) : NULL;
    if (type == NULL || type->kind != GROUT_TYPE_ARRAY) {
        return;
    }
    grout_text_add(&it->out, ",\"dims\":[");
    for (uint32_t i = 0; i < type->rank; i++) {
        add_comma(it, i);
        grout_text_add(&it->out, "%" PRId64, type->dims[i]);
    }
    grout_text_add(&it->out, "]");
}

static void add_block(export *it, grout_block_id id);

static void add_region(export *it, const grout_op *op) {
    static const char *const kinds[] = {[GROUT_REGION_LOOP] = "loop",
                                        [GROUT_REGION_BRANCH] = "branch",
                                        [GROUT_REGION_SCOPE] = "scope",
                                        [GROUT_REGION_WARPS] = "warps",
                                        [GROUT_REGION_PARTITIONS] = "partitions"};
    grout_text_add(&it->out, ",\"region\":\"%s\",\"blocks\":[",
                   kinds[grout_op_get_region_kind(op)]);
    for (uint32_t i = 0; i < op->block_count; i++) {
        add_comma(it, i);
        add_block(it, op->first_block + i);
    }
    grout_text_add(&it->out, "]");
}

static void add_op(export *it, grout_op_id id) {
    const grout_op *op = grout_module_get_op(it->module, id);
    grout_text_add(&it->out, "{\"op\":\"%s\",\"line\":%" PRIu32 ",\"operands\":[",
                   grout_op_get_info(op->opcode)->text,
                   grout_module_get_place(it->module, op->loc).line);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        add_comma(it, i);
        add_operand(it, grout_module_get_operand(it->module, op, i));
    }
    grout_text_add(&it->out, "],\"results\":[");
    for (uint32_t i = 0; i < op->result_count; i++) {
        add_comma(it, i);
        grout_text_add(&it->out, "%" PRIu32, op->first_result + i);
    }
    grout_text_add(&it->out, "]");
    add_attrs(it, op);
    add_dims(it, op);
    if (op->block_count > 0) {
        add_region(it, op);
    }
    grout_text_add(&it->out, "}");
}

static void add_block(export *it, grout_block_id id) {
    const grout_block *block = grout_module_get_block(it->module, id);
    uint32_t count = 0;
    grout_text_add(&it->out, "{\"args\":[");
    for (uint32_t i = 0; i < block->arg_count; i++) {
        add_comma(it, i);
        grout_text_add(&it->out, "[%" PRIu32 ",%" PRIu32 "]", block->first_arg + i,
                       grout_module_get_value(it->module, block->first_arg + i)->object);
    }
    grout_text_add(&it->out, "],\"ops\":[");
    for (grout_op_id op = block->first; op != 0; op = grout_module_get_op(it->module, op)->next) {
        add_comma(it, count++);
        add_op(it, op);
    }
    grout_text_add(&it->out, "]}");
}

/* Where it lies in SMEM, or in tensor memory, of which a column is 512 bytes. The library counts
 * 4 bytes for a column of an alias there: those of one lane. */
static int64_t get_offset(const export *it, grout_object_id id) {
    enum { LANES = 128 };
    const grout_object *object = grout_module_get_object(it->module, id);
    const int64_t offset = grout_object_get_offset(it->module, id);
    const int64_t first =
        grout_object_get_offset(it->module, grout_object_get_root(it->module, id));
    return object->space == GROUT_SPACE_TMEM   ? first + (offset - first) * LANES
           : object->space == GROUT_SPACE_SMEM ? offset
                                               : 0;
}

/* Whether it has the bytes of another one, whether its elements lie in order, and its groups. In
 * tensor memory the judge counts columns, and knows by itself where the elements are. */
static void add_sharing(export *it, grout_object_id id) {
    const bool is_plain = grout_module_get_object(it->module, id)->space == GROUT_SPACE_TMEM ||
                          grout_layout_is_plain(grout_object_get_layout(it->module, id));
    grout_text_add(&it->out, ",\"alias\":%s,\"plain\":%s,\"groups\":[",
                   grout_object_get_root(it->module, id) != id ? "true" : "false",
                   is_plain ? "true" : "false");
}

static void add_object(export *it, grout_object_id id) {
    static const char *const kinds[] = {[GROUT_OBJECT_ARRAY] = "array",
                                        [GROUT_OBJECT_BARRIER] = "barrier",
                                        [GROUT_OBJECT_SEMAPHORE] = "semaphore"};
    const grout_object *object = grout_module_get_object(it->module, id);
    const grout_type *type = grout_object_get_type(it->module, id);
    const bool is_barrier = object->kind == GROUT_OBJECT_BARRIER;
    grout_text_add(&it->out, "\"%" PRIu32 "\":{\"kind\":\"%s\",\"space\":\"%s\",\"dims\":[", id,
                   kinds[object->kind], grout_space_get_text(object->space));
    for (uint32_t i = 0; i < type->rank; i++) {
        const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
        add_comma(it, i);
        grout_text_add(&it->out, "%" PRId64,
                       type->dims[i] / (i + 1u == type->rank ? info->packed : 1));
    }
    grout_text_add(
        &it->out,
        "],\"bytes\":%u,\"explicit\":%s,\"global\":%s,\"arrivals\":%" PRIu32 ",\"offset\":%" PRId64,
        object->kind == GROUT_OBJECT_ARRAY ? grout_dtype_get_info(type->dtype)->bytes : 8,
        object->is_explicit ? "true" : "false", object->is_global ? "true" : "false",
        is_barrier ? grout_object_get_arrivals(it->module, id) : 0, get_offset(it, id));
    grout_text_add(
        &it->out, ",\"packed\":%s,\"scales\":%s,\"metadata\":%s,\"orders\":%s,\"dtype\":\"%s\"",
        object->is_packed ? "true" : "false", object->is_scales ? "true" : "false",
        object->is_metadata ? "true" : "false", object->orders_tensor_core ? "true" : "false",
        object->kind == GROUT_OBJECT_ARRAY ? grout_dtype_get_info((grout_dtype)type->dtype)->text
                                           : "");
    grout_text_add(&it->out, ",\"led\":%s", object->is_leader_tracked ? "true" : "false");
    add_sharing(it, id);
    for (uint32_t i = 0; i < object->cluster_group_count; i++) {
        add_comma(it, i);
        grout_text_add(&it->out, "%u", object->cluster_groups[i]);
    }
    grout_text_add(&it->out, "]}");
}

static void add_axes(export *it) {
    static const char *const kinds[] = {[GROUT_AXIS_GRID] = "grid",
                                        [GROUT_AXIS_CLUSTER] = "cluster",
                                        [GROUT_AXIS_THREADS] = "threads"};
    const grout_kernel *kernel = grout_module_get_kernel(it->module, it->kernel);
    grout_text_add(&it->out, ",\"axes\":[");
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        add_comma(it, i);
        grout_text_add(&it->out, "{\"kind\":\"%s\",\"size\":%" PRId64 "}",
                       kinds[kernel->axes[i].kind],
                       grout_kernel_get_axis_size(it->module, it->kernel, i));
    }
    grout_text_add(&it->out, "]");
}

static void add_params(export *it) {
    const grout_kernel *kernel = grout_module_get_kernel(it->module, it->kernel);
    grout_text_add(&it->out, ",\"params\":[");
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(it->module, kernel, i);
        const grout_value *value = grout_module_get_value(it->module, param->value);
        add_comma(it, i);
        grout_text_add(&it->out,
                       "{\"object\":%" PRIu32 ",\"direction\":%u,\"name\":", param->object,
                       param->direction);
        add_string(it, grout_module_get_string(it->module, value->name));
        grout_text_add(&it->out, "}");
    }
    grout_text_add(&it->out, "]");
}

static void add_kernel(export *it, const char *file) {
    const grout_kernel *kernel = grout_module_get_kernel(it->module, it->kernel);
    const uint32_t object_count = grout_module_get_object_count(it->module);
    grout_text_add(&it->out, "{\"file\":");
    add_string(it, file);
    grout_text_add(&it->out,
                   ",\"ctas\":%" PRId64 ",\"cluster\":%" PRIu32 ",\"threads\":%" PRIu32
                   ",\"exit_sync\":%s,\"auto_fence\":%s",
                   grout_kernel_get_grid_size(it->module, it->kernel),
                   grout_kernel_get_cluster_size(it->module, it->kernel),
                   grout_kernel_get_thread_count(it->module, it->kernel),
                   grout_kernel_has_exit_sync(it->module, it->kernel) ? "true" : "false",
                   kernel->auto_fence ? "true" : "false");
    add_axes(it);
    add_params(it);
    grout_text_add(&it->out, ",\"objects\":{");
    for (grout_object_id id = 1; id < object_count; id++) {
        add_comma(it, id - 1);
        add_object(it, id);
    }
    grout_text_add(&it->out, "},\"body\":");
    add_block(it, kernel->body);
    grout_text_add(&it->out, "}");
}

/* A launch list: its kernels, and which of them depend on the one before. */
static void add_list(export *it, const char *file) {
    grout_text_add(&it->out, "{\"file\":");
    add_string(it, file);
    grout_text_add(&it->out, ",\"launches\":[");
    for (grout_launch_id id = 1; id < grout_module_get_launch_count(it->module); id++) {
        const bool is_dependent = grout_module_get_launch(it->module, id)->is_dependent;
        add_comma(it, id - 1);
        grout_text_add(&it->out, "{\"dependent\":%s,\"kernel\":", is_dependent ? "true" : "false");
        it->kernel = grout_module_get_launch_kernel(it->module, id);
        add_kernel(it, file);
        grout_text_add(&it->out, "}");
    }
    grout_text_add(&it->out, "]}");
}

static void add_error(export *it, const char *file, const grout_diags *diags) {
    grout_text_add(&it->out, "{\"file\":");
    add_string(it, file);
    grout_text_add(&it->out, ",\"error\":");
    add_string(it, grout_diags_count(diags) > 0 ? grout_diags_get(diags, 0)->message
                                                : "it has not one kernel");
    grout_text_add(&it->out, "}\n");
}

static bool read_file(const char *path, grout_text *out) {
    char buffer[4096];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        grout_text_add_bytes(out, buffer, size);
    }
    const bool is_good = ferror(file) == 0 && !out->failed;
    fclose(file);
    return is_good;
}

/* The hardware that the line '// run:' names, else the kernel's own. */
static grout_arch find_arch(const grout_text *text) {
    static const char line[] = "\n// run: --arch sm_100a";
    for (size_t at = 0; at + sizeof line <= text->size; at++) {
        if (memcmp(text->data + at, line, sizeof line - 1) == 0) {
            return GROUT_ARCH_SM_100A;
        }
    }
    return GROUT_ARCH_OWN;
}

static void export_text(export *it, const char *path, const grout_text *text) {
    grout_diags *diags = grout_diags_new();
    grout_module *symbolic = grout_parse(path, text->data, text->size, diags);
    grout_module *bound = symbolic != NULL ? grout_module_bind(symbolic, NULL, 0, diags) : NULL;
    it->module = bound;
    it->kernel = 1;
    const bool is_good = bound != NULL && grout_verify(bound, find_arch(text), diags);
    if (is_good && grout_module_get_launch_count(bound) > 1) {
        add_list(it, path);
        grout_text_add(&it->out, "\n");
    } else if (is_good && grout_module_get_kernel_count(bound) == 2) {
        add_kernel(it, path);
        grout_text_add(&it->out, "\n");
    } else {
        add_error(it, path, diags);
    }
    grout_module_free(bound);
    grout_module_free(symbolic);
    grout_diags_free(diags);
}

int main(int count, char **paths) {
    for (int i = 1; i < count; i++) {
        export it = {0};
        grout_text text = {0};
        if (!read_file(paths[i], &text)) {
            fprintf(stderr, "axioms_export: cannot read %s\n", paths[i]);
            return EXIT_FAILURE;
        }
        export_text(&it, paths[i], &text);
        const bool is_good = !it.out.failed;
        if (is_good) {
            fwrite(it.out.data, 1, it.out.size, stdout);
        }
        grout_text_free(&text);
        grout_text_free(&it.out);
        if (!is_good) {
            fprintf(stderr, "axioms_export: no memory\n");
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
