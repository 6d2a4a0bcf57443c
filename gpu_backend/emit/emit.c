/* emit.c - the kernel's text after the device headers; which function writes which op.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "device_header.h"
#include "goes_on.h"
#include "invariant.h"

#include <string.h>

static grout_emit_op *const emitters[GROUT_OP_COUNT] = {
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION) [GROUT_OP_##NAME] = grout_emit__alu,
#define GROUT_MATH(NAME, text, FORM, EXPRESSION, ULP)  [GROUT_OP_##NAME] = grout_emit__math,
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION)    [GROUT_OP_##NAME] = grout_emit__reduce,
#define GROUT_SCAN(NAME, text, REDUCE)                 [GROUT_OP_##NAME] = grout_emit__scan,
#define GROUT_ATOMIC(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, UPDATE) \
    [GROUT_OP_##NAME] = grout_emit__atomic,
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) \
    [GROUT_OP_##NAME] = grout_emit__##text,
#include "grout/ops.def"
};

bool grout_emit__kernel_text(const grout_module *module, grout_kernel_id kernel,
                             const grout_emit_options *options, grout_text *out,
                             grout_diags *diags) {
    grout_gpu_plan plan;
    grout_emitter e = {.emitters = emitters,
                       .warps = GROUT_GPU_WARPS,
                       .module = module,
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
    e.failed = !grout_emit__init_names(&e);
    if (!e.failed) {
        grout_emit__kernel(&e);
        grout_emit__report_wide(&e);
        grout_emit__report_boxes(&e);
        GROUT_ASSERT(e.failed || e.indent == 0);
        e.failed = e.failed || (out->failed && !grout_diags_add_oom(diags));
    }
    grout_emit__deinit_names(&e);
    grout_gpu__plan_deinit(&plan);
    return !e.failed;
}

/* The lines of a header, but for its includes: they are there, or for C. */
static void add_lines(grout_text *out, const char *text) {
    for (const char *line = text; *line != '\0';) {
        const char *end = strchr(line, '\n');
        end = end == NULL ? line + strlen(line) : end + 1;
        if (strncmp(line, "#include \"", 10) != 0) {
            grout_text_add_bytes(out, line, (size_t)(end - line));
        }
        line = end;
    }
}

/* A device header, and those that it includes in their places. */
static void add_header(grout_text *out, uint32_t index) {
    static const char *const includes[] = {"#include \"grout_device.cuh\"\n",
                                           "#include \"grout_num.cuh\"\n",
                                           "#include \"grout/num.h\"\n"};
    const char *const texts[] = {
        (const char *)grout_gpu__values_header, (const char *)grout_gpu__device_header,
        (const char *)grout_gpu__num_header, (const char *)grout_gpu__arithmetic};
    const char *text = texts[index];
    const char *at = index < 3 ? strstr(text, includes[index]) : NULL;
    GROUT_ASSERT(index == 3 || at != NULL); /* each header includes the next one */
    if (at != NULL) {
        grout_text_add_bytes(out, text, (size_t)(at - text));
        add_header(out, index + 1);
        text = at + strlen(includes[index]);
    }
    add_lines(out, text);
}

/* Those that stand beside each other, after all of the others; what they include is there. */
static void add_last_headers(grout_text *out) {
    add_lines(out, (const char *)grout_gpu__cluster_header);
    add_lines(out, (const char *)grout_gpu__sync_header);
    add_lines(out, (const char *)grout_gpu__atomic_header);
}

/* Their source, and a declaration of each, which it has to agree with. */
static void add_externs(grout_text *out, const grout_module *bound,
                        const grout_emit_options *options) {
    grout_op_id ops[GROUT_EXTERNS_MAX];
    const uint32_t count = grout_module_find_externs(bound, ops);
    if (count > 0 && options != NULL && options->extern_source != NULL) {
        grout_text_add(out, "\n%s\n", options->extern_source);
    }
    for (uint32_t i = 0; i < count; i++) {
        const grout_op *op = grout_module_get_op(bound, ops[i]);
        if (grout_op_get_ptx(bound, op) == NULL) {
            grout_emit__declare_extern(bound, op, out);
        }
    }
}

/* The first op of the kernel that calls a function on the GPU, or NULL. */
static const grout_op *find_extern(const grout_module *bound, grout_kernel_id kernel) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(bound); id++) {
        const grout_op *op = grout_module_get_op(bound, id);
        if (grout_op_get_extern_name(bound, op) != NULL && grout_op_get_ptx(bound, op) == NULL &&
            grout_module_get_block(bound, op->parent)->kernel == kernel) {
            return op;
        }
    }
    return NULL;
}

bool grout_emit_check_externs(const grout_module *bound, grout_kernel_id kernel,
                              const char *extern_source, grout_diags *diags) {
    const bool has_source = extern_source != NULL && extern_source[0] != '\0';
    const grout_op *op = has_source ? NULL : find_extern(bound, kernel);
    if (op == NULL) {
        return true;
    }
    grout_diags_add(diags, GROUT_DIAG_EXTERN_MISSING, grout_module_get_place(bound, op->loc),
                    "there is no CUDA source of the function '%s'",
                    grout_op_get_extern_name(bound, op));
    grout_diags_help(diags, "'--extern FILE.cuh' names a file that defines it, as an extern \"C\" "
                            "__device__ function");
    return false;
}

/* Whether the text is for this hardware: its first line says so. True without memory. */
static bool is_for(const grout_text *text, const char *arch) {
    static const char head[] = "// CUDA C++ for ";
    const char *found = text->data == NULL ? NULL : strstr(text->data, head);
    return found == NULL || strncmp(found + strlen(head), arch, strlen(arch)) == 0;
}

bool grout_emit_cuda(const grout_module *bound, grout_kernel_id kernel,
                     const grout_emit_options *options, grout_text *out, grout_diags *diags) {
    const size_t begin = out->size;
    const bool has_watchdog = options != NULL && options->watchdog;
    const char *arch = grout_arch_get_text(grout_gpu__get_arch(bound, kernel));
    /* Kernels of one file may go to one text, which needs the header once. */
    if (out->data == NULL || strstr(out->data, "#ifndef GROUT_VALUES_CUH") == NULL) {
        grout_text_add(out,
                       "// CUDA C++ for %s, by grout. All it needs is here; how to launch it is\n"
                       "// in its manifest. The kernels follow the device header.\n"
                       "#define GROUT_WATCHDOG %d\n"
                       "#pragma nv_diag_suppress 177, 550 // what these kernels do not use\n\n",
                       arch, has_watchdog ? 1 : 0);
        add_header(out, 0);
        add_last_headers(out);
        if (grout_arch_has(grout_gpu__get_arch(bound, kernel), GROUT_GENERATION_BLACKWELL)) {
            add_lines(out, (const char *)grout_gpu__tensor_header);
        }
        add_externs(out, bound, options);
    }
    if (!is_for(out, arch)) {
        const grout_kernel *it = grout_module_get_kernel(bound, kernel);
        grout_diags_add(diags, GROUT_DIAG_GPU_UNSUPPORTED, grout_module_get_place(bound, it->loc),
                        "kernel '@%s' is for %s, and the kernel before it in this text is not",
                        grout_module_get_string(bound, it->name), arch);
        grout_diags_help(diags, "--kernel names the one to write");
        return false;
    }
    grout_text_add(out, "\n");
    const uint64_t said = grout_diags_total(diags);
    const bool is_done = grout_emit__kernel_text(bound, kernel, options, out, diags);
    FIELD_TEXTS(out, begin);
    if (!is_done && grout_diags_total(diags) == said && !grout_diags__has_ended(diags)) {
        const grout_kernel *failed = grout_module_get_kernel(bound, kernel);
        grout_diags_add(diags, GROUT_DIAG_INTERNAL_ERROR,
                        grout_module_get_place(bound, failed->loc),
                        "the CUDA of kernel '@%s' is not written, and nothing says why",
                        grout_module_get_string(bound, failed->name));
    }
    return is_done;
}
