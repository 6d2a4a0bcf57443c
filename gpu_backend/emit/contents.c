/* contents.c - what the arrays of a launcher hold at first, where the kernel says it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "contents.h"

#include "alloc.h"
#include "grout-internal/generate.h"
#include "invariant.h"

#include <inttypes.h>
#include <string.h>

static const char functions[] =
    "// The bytes again and again.\n"
    "static void put_contents(CUdeviceptr address, size_t bytes, const unsigned char *contents,\n"
    "                         size_t size) {\n"
    "    std::vector<unsigned char> data(bytes);\n"
    "    for (size_t i = 0; i < bytes; i++) {\n"
    "        data[i] = contents[i % size];\n"
    "    }\n"
    "    check(cuMemcpyHtoD(address, data.data(), bytes), \"copy to the GPU\");\n"
    "}\n"
    "\n"
    "static void need_file(const Array &array) {\n"
    "    if (array.file == nullptr) {\n"
    "        std::fprintf(stderr, \"no contents for '%s': give %s=FILE\\n\", array.name, "
    "array.name);\n"
    "        std::exit(2);\n"
    "    }\n"
    "}\n"
    "\n"
    "static const char *get_text(int argc, char **argv, const char *name, const char *text) {\n"
    "    const char *given = find(argc, argv, name);\n"
    "    return given != nullptr ? given : text;\n"
    "}\n";

bool grout_contents__are_there(const grout_contents *contents) {
    bool found = false;
    for (uint32_t i = 0; i < contents->kernel->param_count; i++) {
        found |= grout_module_get_param(contents->module, contents->kernel, i)->init != 0;
    }
    for (uint32_t i = 0; i < contents->plan->workspace_count; i++) {
        found |= contents->plan->workspaces[i].has_contents;
    }
    return found;
}

/* ---- tables ---- */

static void add_table(const grout_contents *contents, const char *kind, uint32_t index,
                      const uint8_t *bytes, int64_t count) {
    enum { PER_LINE = 16 };
    grout_text_add(contents->out, "\nstatic const unsigned char %s%" PRIu32 "[] = {", kind, index);
    for (int64_t i = 0; i < count; i++) {
        grout_text_add(contents->out, "%s%u,", i % PER_LINE == 0 ? "\n    " : " ", bytes[i]);
    }
    grout_text_add(contents->out, "\n};\n");
}

/* A table of the one element that all are. */
static void add_element(const grout_contents *contents, uint32_t index, uint64_t bits,
                        uint32_t size) {
    uint8_t bytes[8];
    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
    add_table(contents, "contents", index, bytes, size);
}

static bool add_param(const grout_contents *contents, uint32_t index) {
    const grout_param *param = grout_module_get_param(contents->module, contents->kernel, index);
    const grout_type *type = grout_module_get_type(contents->module, param->value);
    const uint32_t size = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    const int64_t bytes = grout_type_get_bytes(type);
    uint64_t bits;
    if (grout_init_is_uniform(contents->module,
                              grout_module_get_init(contents->module, param->init),
                              (grout_dtype)type->dtype, &bits)) {
        add_element(contents, index, bits, size);
        return true;
    }
    if (bytes > GROUT_GPU_CONTENTS_MAX) {
        return true; /* the launcher asks for a file */
    }
    uint8_t *data =
        grout__new(grout_module_get_allocator(contents->module), (size_t)bytes, sizeof *data);
    if (data == NULL) {
        return grout_diags_add_oom(contents->diags);
    }
    grout_param_fill_default(contents->module, contents->kernel, index, data);
    add_table(contents, "contents", index, data, bytes);
    grout__free(data);
    return true;
}

static bool add_workspace(const grout_contents *contents, uint32_t index) {
    const grout_gpu_workspace *workspace = &contents->plan->workspaces[index];
    const grout_object *object = grout_module_get_object(contents->module, workspace->object);
    if (workspace->bytes > GROUT_GPU_CONTENTS_MAX) {
        grout_diags_add(contents->diags, GROUT_DIAG_GPU_UNSUPPORTED,
                        grout_module_get_place(contents->module, object->loc),
                        "a launcher lists at most %d bytes of an init, and '%%%s' has %" PRId64,
                        GROUT_GPU_CONTENTS_MAX,
                        grout_gpu__get_object_name(contents->module, workspace->object),
                        workspace->bytes);
        grout_diags_help(contents->diags, "make it a parameter, which takes a file; or give all "
                                          "elements one value");
        return false;
    }
    uint8_t *data = grout__new(grout_module_get_allocator(contents->module),
                               (size_t)workspace->bytes, sizeof *data);
    if (data == NULL) {
        return grout_diags_add_oom(contents->diags);
    }
    (void)grout_scratch_fill_default(contents->module, workspace->object, data, NULL);
    add_table(contents, "scratch", index, data, workspace->bytes);
    grout__free(data);
    return true;
}

void grout_contents__add_functions(grout_text *out) {
    grout_text_add(out, "%s", functions);
}

bool grout_contents__declare(const grout_contents *contents) {
    bool ok = true;
    if (!grout_contents__are_there(contents)) {
        return true;
    }
    if (!contents->is_listed) {
        grout_contents__add_functions(contents->out);
    }
    for (uint32_t i = 0; i < contents->kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(contents->module, contents->kernel, i);
        if (param->init != 0 && param->direction != GROUT_DIRECTION_SCALAR) {
            ok = add_param(contents, i) && ok;
        }
    }
    for (uint32_t i = 0; i < contents->plan->workspace_count; i++) {
        if (contents->plan->workspaces[i].has_contents) {
            ok = add_workspace(contents, i) && ok;
        }
    }
    return ok;
}

/* ---- statements ---- */

void grout_contents__put_array(const grout_contents *contents, uint32_t param, uint32_t number) {
    const grout_param *it = grout_module_get_param(contents->module, contents->kernel, param);
    const grout_type *type = grout_module_get_type(contents->module, it->value);
    const int64_t bytes = grout_type_get_bytes(type);
    uint64_t bits;
    if (it->init == 0) {
        return;
    }
    const bool is_uniform =
        grout_init_is_uniform(contents->module, grout_module_get_init(contents->module, it->init),
                              (grout_dtype)type->dtype, &bits);
    if (!is_uniform && bytes > GROUT_GPU_CONTENTS_MAX) {
        grout_text_add(contents->out, "    need_file(arrays[%" PRIu32 "]);\n", number);
        return;
    }
    grout_text_add(contents->out,
                   "    if (arrays[%" PRIu32 "].file == nullptr) {\n"
                   "        put_contents(arrays[%" PRIu32 "].address, %" PRId64 ", contents%" PRIu32
                   ", sizeof contents%" PRIu32 ");\n"
                   "    }\n",
                   number, number, bytes, param, param);
}

void grout_contents__put_workspace(const grout_contents *contents, uint32_t workspace) {
    const grout_gpu_workspace *it = &contents->plan->workspaces[workspace];
    if (it->has_contents) {
        grout_text_add(contents->out,
                       "    put_contents(space_%" PRIu32 ", %" PRId64 ", scratch%" PRIu32
                       ", sizeof scratch%" PRIu32 ");\n",
                       workspace, it->bytes, workspace, workspace);
    }
}

/* One element as the launcher reads it: a number, or the bits of a narrow float. */
static void add_scalar(const grout_contents *contents, uint32_t index, grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    uint8_t element[8] = {0};
    uint64_t bits = 0;
    GROUT_ASSERT(info->bytes >= 1 && info->bytes <= sizeof element);
    grout_param_fill_default(contents->module, contents->kernel, index, element);
    for (uint32_t i = 0; i < info->bytes; i++) {
        bits |= (uint64_t)element[i] << (8 * i);
    }
    if (dtype == GROUT_DTYPE_F64) {
        double number;
        memcpy(&number, element, sizeof number);
        grout_text_add(contents->out, "%.17g", number);
    } else if (dtype == GROUT_DTYPE_F32) {
        float number;
        memcpy(&number, element, sizeof number);
        grout_text_add(contents->out, "%.9g", (double)number);
    } else if (info->class_ == GROUT_CLASS_SINT) {
        const int shift = 64 - info->bits;
        grout_text_add(contents->out, "%" PRId64, (int64_t)(bits << shift) >> shift);
    } else {
        grout_text_add(contents->out, "%" PRIu64, bits);
    }
}

void grout_contents__scalar_text(const grout_contents *contents, uint32_t param) {
    const grout_param *it = grout_module_get_param(contents->module, contents->kernel, param);
    const char *name = grout_gpu__get_param_name(contents->module, contents->kernel, param);
    GROUT_ASSERT(it->direction == GROUT_DIRECTION_SCALAR);
    if (it->init == 0) {
        grout_text_add(contents->out, "get_value(argc, argv, \"%s\")", name);
        return;
    }
    grout_text_add(contents->out, "get_text(argc, argv, \"%s\", \"", name);
    add_scalar(contents, param, (grout_dtype)it->dtype);
    grout_text_add(contents->out, "\")");
}
