/* emit.c - the emitter's frame: text, names, blocks, and the dispatch over ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "device_header.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_list(grout_emitter *e, const char *format, va_list arguments) {
    char text[2 * GROUT_NAME_MAX + 256];
    const int size = vsnprintf(text, sizeof text, format, arguments);
    if (size > 0) {
        const size_t kept = (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
        grout_text_add_bytes(e->out, text, kept);
    }
}

void grout_emit__begin(grout_emitter *e) {
    for (uint32_t i = 0; i < e->indent; i++) {
        grout_text_add_bytes(e->out, "    ", 4);
    }
}

void grout_emit__add(grout_emitter *e, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_list(e, format, arguments);
    va_end(arguments);
}

void grout_emit__end(grout_emitter *e, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_list(e, format, arguments);
    va_end(arguments);
    grout_text_add_bytes(e->out, "\n", 1);
}

void grout_emit__line(grout_emitter *e, const char *format, ...) {
    va_list arguments;
    grout_emit__begin(e);
    va_start(arguments, format);
    add_list(e, format, arguments);
    va_end(arguments);
    grout_text_add_bytes(e->out, "\n", 1);
}

void grout_emit__open(grout_emitter *e) {
    grout_emit__end(e, " {");
    e->indent++;
}

void grout_emit__close(grout_emitter *e, const char *tail) {
    e->indent--;
    grout_emit__line(e, "}%s", tail);
}

void grout_emit__open_issuer(grout_emitter *e) {
    if (e->is_alone) {
        return;
    }
    /* Written out each time: ptxas then knows that one lane is left (device header). */
    grout_emit__begin(e);
    if (e->is_warp) {
        grout_emit__add(e, "if (grout_elect())");
    } else if (e->plan->thread_count == 1) {
        grout_emit__add(e, "if (warp == 0 && grout_elect())");
    } else {
        grout_emit__add(e, "if (warp %% 4 == 0 && grout_elect())");
    }
    grout_emit__open(e);
}

void grout_emit__close_issuer(grout_emitter *e) {
    if (!e->is_alone) {
        grout_emit__close(e, "");
    }
}

void grout_emit__unsupported(grout_emitter *e, const grout_op *op, const char *format, ...) {
    va_list arguments;
    e->failed = true;
    va_start(arguments, format);
    grout_diags_add_list(e->diags, GROUT_DIAG_GPU_UNSUPPORTED,
                         grout_module_get_place(e->module, op->loc), format, arguments);
    va_end(arguments);
}

/* Room for a text that stays, or NULL without memory. */
static char *keep_name(grout_emitter *e, const char *name) {
    const size_t size = strlen(name) + 1;
    if (e->names == NULL || e->names->used + size > sizeof e->names->bytes) {
        grout_emit_names *chunk = malloc(sizeof *chunk);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->older = e->names;
        chunk->used = 0;
        e->names = chunk;
    }
    char *kept = e->names->bytes + e->names->used;
    memcpy(kept, name, size);
    e->names->used += size;
    return kept;
}

void grout_emit__alias(grout_emitter *e, grout_value_id value, const char *name) {
    e->name_of[value] = name;
    e->is_alias[value] = true;
}

grout_value_id grout_emit__make_start(grout_emitter *e, uint32_t which, uint32_t number) {
    const grout_value_id value = grout_module_get_value_count(e->module) + which;
    char name[16];
    (void)snprintf(name, sizeof name, "x%" PRIu32, number);
    e->name_of[value] = keep_name(e, name);
    if (e->name_of[value] == NULL) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
        e->name_of[value] = "";
    }
    return value;
}

const char *grout_emit__name(grout_emitter *e, grout_value_id value) {
    char name[GROUT_NAME_MAX + 32];
    if (e->name_of[value] != NULL) {
        return e->name_of[value];
    }
    const grout_string_id string = grout_module_get_value(e->module, value)->name;
    if (string == 0) {
        (void)snprintf(name, sizeof name, "t%" PRIu32, e->temp_count++);
    } else {
        const char *text = grout_module_get_string(e->module, string);
        const bool is_number = text[0] >= '0' && text[0] <= '9';
        const bool is_taken = e->name_uses[string] > 0 || grout_gpu__is_reserved_name(text);
        if (is_number || is_taken) {
            (void)snprintf(name, sizeof name, "%s%s__%" PRIu32, is_number ? "v" : "", text,
                           ++e->temp_count);
        } else {
            (void)snprintf(name, sizeof name, "%s", text);
        }
        e->name_uses[string]++;
    }
    e->name_of[value] = keep_name(e, name);
    if (e->name_of[value] == NULL) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
        return "";
    }
    return e->name_of[value];
}

/* Its name no longer keeps others from using it. */
static void drop_name(grout_emitter *e, grout_value_id value) {
    const grout_string_id string = grout_module_get_value(e->module, value)->name;
    if (string != 0 && e->name_of[value] != NULL && !e->is_alias[value]) {
        e->name_uses[string]--;
    }
}

void grout_emit__leave_block(grout_emitter *e, grout_block_id id) {
    const grout_block *block = grout_module_get_block(e->module, id);
    for (uint32_t i = 0; i < block->arg_count; i++) {
        drop_name(e, block->first_arg + i);
    }
    for (grout_op_id at = block->first; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        for (uint32_t i = 0; i < op->result_count; i++) {
            drop_name(e, op->first_result + i);
        }
        at = op->next;
    }
}

bool grout_emit__is_nested(const grout_emitter *e, const grout_op *op) {
    if (op->result_count != 1 || op->block_count != 0) {
        return false;
    }
    const grout_value *value = grout_module_get_value(e->module, op->first_result);
    return value->name == 0 && value->use_count == 1;
}

uint32_t grout_emit__get_line(const grout_emitter *e, grout_loc_id loc) {
    return grout_module_get_place(e->module, loc).line;
}

static void write_directive(grout_emitter *e, const grout_op *op) {
    const grout_place place = grout_module_get_place(e->module, op->loc);
    if (!e->options.line_directives || place.file == NULL) {
        return;
    }
    grout_text_add(e->out, "#line %" PRIu32 " \"", place.line);
    for (const char *p = place.file; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') {
            grout_text_add_bytes(e->out, "\\", 1);
        }
        grout_text_add_bytes(e->out, *p == '\n' ? "?" : p, 1);
    }
    grout_text_add_bytes(e->out, "\"\n", 2);
}

/* The text of the statement that begins with this op, nested ops included, as a comment. */
static void write_comment(grout_emitter *e, grout_op_id id) {
    const grout_op *op = grout_module_get_op(e->module, id);
    while (grout_emit__is_nested(e, op) && op->next != 0) {
        id = op->next;
        op = grout_module_get_op(e->module, id);
    }
    const bool is_end = grout_op_get_info((grout_opcode)op->opcode)->shape == GROUT_SHAPE_END;
    if (op == e->commented || (is_end && op->operand_count == 0)) {
        return;
    }
    e->commented = op;
    grout_text text = {0};
    grout_op_print(e->module, id, &text);
    if (text.failed) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
    } else if (text.size > 0) {
        /* A backslash at the end would join the next line to the comment. */
        const bool is_joined = text.data[text.size - 1] == '\\';
        grout_emit__begin(e);
        grout_text_add(e->out, "// %s%s\n", text.data, is_joined ? " " : "");
    }
    grout_text_free(&text);
}

static grout_emit_op *const emitters[GROUT_OP_COUNT] = {
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION, DOC) [GROUT_OP_##NAME] = grout_emit__alu,
#define GROUT_MATH(NAME, text, EXPRESSION, ULP, DOC)        [GROUT_OP_##NAME] = grout_emit__math,
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION, DOC)    [GROUT_OP_##NAME] = grout_emit__reduce,
#define GROUT_ATOMIC(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, UPDATE, DOC) \
    [GROUT_OP_##NAME] = grout_emit__atomic,
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, DOC) \
    [GROUT_OP_##NAME] = grout_emit__##text,
#include "grout/ops.def"
};

void grout_emit__op(grout_emitter *e, grout_op_id id) {
    const grout_op *op = grout_module_get_op(e->module, id);
    write_directive(e, op);
    write_comment(e, id);
    if (grout_op_needs_auto_fence(e->module, id)) {
        grout_emit__publish_smem(e);
    }
    emitters[op->opcode](e, id, op);
    grout_emit__note_lanes(e, op);
}

void grout_emit__block(grout_emitter *e, grout_block_id id) {
    grout_op_id at = grout_module_get_block(e->module, id)->first;
    const grout_op_id lone = e->is_alone ? 0 : grout_emit__find_lone_part(e, id);
    while (at != 0 && !e->failed) {
        const grout_op *op = grout_module_get_op(e->module, at);
        if (at == lone) {
            grout_emit__before_issue(e, "one lane does the rest");
            grout_emit__open_issuer(e);
            e->is_alone = true;
        }
        grout_emit__op(e, at);
        at = op->next;
    }
    if (lone != 0 && e->is_alone) { /* reached, whatever failed before */
        e->is_alone = false;
        grout_emit__close(e, "");
    }
}

/* The largest string id among the values' names, plus 1. */
static uint32_t count_strings(const grout_module *module) {
    const uint32_t count = grout_module_get_value_count(module);
    uint32_t strings = 1;
    for (grout_value_id id = 1; id < count; id++) {
        const grout_string_id name = grout_module_get_value(module, id)->name;
        strings = name >= strings ? name + 1 : strings;
    }
    return strings;
}

static void free_names(grout_emit_names *chunk) {
    while (chunk != NULL) {
        grout_emit_names *older = chunk->older;
        free(chunk);
        chunk = older;
    }
}

bool grout_emit__kernel_text(const grout_module *module, grout_kernel_id kernel,
                             const grout_emit_options *options, grout_text *out,
                             grout_diags *diags) {
    grout_gpu_plan plan;
    grout_emitter e = {.module = module,
                       .kernel = grout_module_get_kernel(module, kernel),
                       .kernel_id = kernel,
                       .plan = &plan,
                       .options = options == NULL ? (grout_emit_options){0} : *options,
                       .out = out,
                       .diags = diags};
    if (!grout_gpu__plan_init(&plan, module, kernel, diags)) {
        grout_gpu__plan_deinit(&plan);
        return false;
    }
    const size_t value_count = (size_t)grout_module_get_value_count(module) + GROUT_EMIT_STARTS;
    e.name_of = calloc(value_count, sizeof *e.name_of);
    e.is_alias = calloc(value_count, sizeof *e.is_alias);
    e.name_uses = calloc(count_strings(module), sizeof *e.name_uses);
    if (e.name_of == NULL || e.is_alias == NULL || e.name_uses == NULL) {
        e.failed = !grout_diags_add_oom(diags);
    } else {
        grout_emit__kernel(&e);
        e.failed = e.failed || (out->failed && !grout_diags_add_oom(diags));
    }
    free(e.name_of);
    free(e.is_alias);
    free(e.name_uses);
    free_names(e.names);
    grout_gpu__plan_deinit(&plan);
    return !e.failed;
}

/* A device header, and those that it includes in their places. */
static void add_header(grout_text *out, uint32_t index) {
    static const char *const includes[] = {"#include \"grout_device.cuh\"\n",
                                           "#include \"grout_num.cuh\"\n"};
    const char *const texts[] = {(const char *)grout_gpu__values_header,
                                 (const char *)grout_gpu__device_header,
                                 (const char *)grout_gpu__num_header};
    const char *text = texts[index];
    const char *at = index < 2 ? strstr(text, includes[index]) : NULL;
    if (at != NULL) {
        grout_text_add_bytes(out, text, (size_t)(at - text));
        add_header(out, index + 1);
        text = at + strlen(includes[index]);
    }
    grout_text_add_bytes(out, text, strlen(text));
}

/* Those that stand beside each other, behind all of the others; what they include is there. */
static void add_last_headers(grout_text *out) {
    const char *const texts[] = {(const char *)grout_gpu__cluster_header,
                                 (const char *)grout_gpu__sync_header,
                                 (const char *)grout_gpu__atomic_header};
    for (uint32_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        for (const char *line = texts[k]; *line != '\0';) {
            const char *end = strchr(line, '\n');
            end = end == NULL ? line + strlen(line) : end + 1;
            if (strncmp(line, "#include \"", 10) != 0) {
                grout_text_add_bytes(out, line, (size_t)(end - line));
            }
            line = end;
        }
    }
}

bool grout_emit_cuda(const grout_module *bound, grout_kernel_id kernel,
                     const grout_emit_options *options, grout_text *out, grout_diags *diags) {
    const bool has_watchdog = options != NULL && options->watchdog;
    /* Kernels of one file may go to one text, which needs the header once. */
    if (out->data == NULL || strstr(out->data, "#ifndef GROUT_VALUES_CUH") == NULL) {
        grout_text_add(
            out,
            "// CUDA C++ for sm_90a, by grout. All it needs is here; how to launch it is\n"
            "// in its manifest. The kernels follow behind the device header.\n"
            "#define GROUT_WATCHDOG %d\n"
            "#pragma nv_diag_suppress 177, 550 // what these kernels do not use\n\n",
            has_watchdog ? 1 : 0);
        add_header(out, 0);
        add_last_headers(out);
    }
    grout_text_add(out, "\n");
    return grout_emit__kernel_text(bound, kernel, options, out, diags);
}
