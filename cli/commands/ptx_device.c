/* ptx_device.c - see ptx_device.h. What a launch needs beside the code is the manifest's, as for
 * any program that launches emitted code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_device.h"

#include "progress.h"

#include "grout-internal/generate.h"
#include "grout/ptx.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The device header's grout_hang: words of a record, and its code of a debug_check. */
enum { RECORD_CODE, RECORD_CTA, RECORD_THREAD = 4, RECORD_LINE = 8, FALSE_CHECK = 3 };
enum { RECORD_BYTES = 112, COUNT_BYTES = 8 };

/* One launch: what is made of it once, and what a run of it has. */
typedef struct ptx_launch {
    grout_session *session;
    const grout_gpu_launch *launch;
    json_t *manifest;
    grout_ptx_module *module;
    uint8_t **initial; /* by argument: its data before the first run */
    /* of a run */
    grout_ptx_memory *memory;
    uint64_t *arrays, *workspaces; /* addresses, as the manifest numbers them */
    uint64_t record, records;      /* what a debug_check that is false writes, and how often */
    uint8_t *parameters;
    size_t parameter_bytes;
    uint64_t
        array_bytes; /* of the host, that the arrays take: the launch's own, and the machine's */
} ptx_launch;

struct grout_ptx_device {
    grout_session *session;
    ptx_launch *launches; /* of the list */
    size_t count;
    uint64_t warp_instructions, async_operations; /* of all runs */
};

static bool fail(const ptx_launch *work, const char *what) {
    return grout_diags_add(work->session->diags, GROUT_DIAG_BAD_ARGUMENT, grout_nowhere,
                           "the PTX emulator cannot make the launch: %s", what);
}

static uint64_t get_number(const json_t *object, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *get_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* Numbers of an array; those past its end stay. */
static void get_numbers(const json_t *object, const char *key, uint32_t *numbers, size_t most) {
    const json_t *array = json_object_get(object, key);
    for (size_t i = 0; i < most && i < json_array_size(array); i++) {
        numbers[i] = (uint32_t)json_integer_value(json_array_get(array, i));
    }
}

/* ---- bounds ---- */

/* --max-memory, else the machine's memory; 0: there is no limit. */
static uint64_t get_memory_max(const grout_session *session) {
    const uint64_t memory = session->host->get_memory(session->host->payload);
    return grout_options__get_count(&session->options, GROUT_OPTION_MAX_MEMORY, memory);
}

/* What the arrays leave of it. */
static uint64_t get_memory_left(const ptx_launch *work) {
    const uint64_t most = get_memory_max(work->session);
    return most == 0 ? 0 : most > work->array_bytes ? most - work->array_bytes : 1;
}

/* An array more, before it is made. False with a diagnostic: that is too much. */
static bool count_array(ptx_launch *work, uint64_t bytes) {
    grout_session *session = work->session;
    const uint64_t most = get_memory_max(session);
    work->array_bytes += bytes;
    if (most == 0 || work->array_bytes <= most) {
        return true;
    }
    grout_diags_add(session->diags, GROUT_DIAG_OUT_OF_MEMORY, grout_nowhere,
                    "on the PTX emulator the kernel's arrays take %llu MiB, %s is %llu MiB",
                    (unsigned long long)(work->array_bytes >> 20),
                    grout_options__has(&session->options, GROUT_OPTION_MAX_MEMORY)
                        ? "--max-memory"
                        : "this machine's memory",
                    (unsigned long long)(most >> 20));
    grout_diags_help(session->diags, "smaller sizes: -D NAME=VALUE");
    return false;
}

/* A copy of an array on the machine; 0 with a diagnostic. */
static uint64_t add_array(ptx_launch *work, const void *data, size_t size) {
    uint64_t address = 0;
    if (count_array(work, grout_ptx_memory_get_cost(size))) {
        address = grout_ptx_memory_add(work->memory, data, size);
        if (address == 0) {
            (void)grout_diags_add_oom(work->session->diags);
        }
    }
    return address;
}

/* ---- code and manifest ---- */

static bool make_code(ptx_launch *work) {
    const grout_gpu_launch *launch = work->launch;
    grout_session *session = work->session;
    const grout_host_gpu *gpu = session->host->gpu;
    grout_emit_options options = {.no_debug_checks = launch->no_debug_checks,
                                  .extern_source = launch->extern_source};
    grout_text cuda = {0}, manifest = {0};
    grout_binary ptx = {0};
    const grout_kernel *kernel = grout_module_get_kernel(launch->module, launch->kernel);
    const char *name = grout_module_get_string(launch->module, kernel->name);
    grout_nvrtc_options nvrtc = launch->nvrtc;
    nvrtc.arch = kernel->has_arch ? (grout_arch)kernel->arch : GROUT_ARCH_SM_90A;
    bool is_made =
        grout_emit_cuda(launch->module, launch->kernel, &options, &cuda, session->diags) &&
        grout_emit_manifest(launch->module, launch->kernel, &manifest, session->diags);
    if (is_made && (cuda.failed || manifest.failed)) {
        is_made = grout_diags_add_oom(session->diags);
    }
    if (is_made && gpu == NULL) {
        is_made = grout_diags_add(session->diags, GROUT_DIAG_NVRTC_MISSING, grout_nowhere,
                                  "this grout has no NVRTC");
    }
    is_made = is_made && gpu != NULL &&
              gpu->compile_cuda(cuda.data, name, GROUT_BINARY_PTX, &nvrtc, &ptx, session->diags);
    if (is_made) {
        grout_text file = {0};
        grout_text_add(&file, "%s.ptx", name);
        const grout_ptx_bounds bounds = {.max_memory = get_memory_max(session)};
        work->module =
            grout_ptx_parse_within(file.data, ptx.data, ptx.size, &bounds, session->diags);
        work->manifest = json_loadb(manifest.data, manifest.size, 0, NULL);
        grout_text_free(&file);
        is_made = work->module != NULL && (work->manifest != NULL || fail(work, "no manifest"));
    }
    grout_binary_free(&ptx);
    grout_text_free(&cuda);
    grout_text_free(&manifest);
    return is_made;
}

/* ---- memory ---- */

/* "0x7f800001", the lowest byte last, over and over. */
static void fill(uint8_t *bytes, size_t size, const char *pattern) {
    uint8_t element[16];
    size_t count = strlen(pattern) / 2;
    count = count > 1 && count - 1 <= sizeof element ? count - 1 : 0;
    for (size_t i = 0; i < count; i++) {
        char digits[3] = {pattern[2 + 2 * i], pattern[3 + 2 * i], '\0'};
        element[count - 1 - i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    for (size_t i = 0; count > 0 && i < size; i++) {
        bytes[i] = element[i % count];
    }
}

static void read_hex(uint8_t *bytes, size_t size, const char *text) {
    for (size_t i = 0; i < size && text[2 * i] != '\0' && text[2 * i + 1] != '\0'; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

/* What the init(..) of a scratch says. The manifest has the bytes unless they are many. */
static bool fill_scratch(const ptx_launch *work, const json_t *array, uint8_t *bytes) {
    const grout_module *module = work->launch->module;
    for (uint32_t i = 1; i < grout_module_get_object_count(module); i++) {
        const grout_object *object = grout_module_get_object(module, i);
        const grout_value *value = grout_module_get_value(module, object->value);
        const uint32_t line = grout_module_get_place(module, object->loc).line;
        if (object->init != 0 && line == get_number(array, "line") &&
            strcmp(grout_module_get_string(module, value->name), get_text(array, "name")) == 0) {
            (void)grout_scratch_fill_default(module, i, bytes, NULL);
            return true;
        }
    }
    return fail(work, "what a scratch holds at first is not known");
}

/* What an array of the manifest holds first, without an argument. */
static bool add_contents(ptx_launch *work, const json_t *array, uint64_t *address_out) {
    size_t size = (size_t)get_number(array, "bytes");
    uint8_t *bytes = calloc(size > 0 ? size : 1, 1);
    if (bytes == NULL) {
        return grout_diags_add_oom(work->session->diags);
    }
    fill(bytes, size, get_text(array, "fill"));
    bool is_filled = json_object_get(array, "fill") != NULL;
    if (json_object_get(array, "contents") != NULL) {
        read_hex(bytes, size, get_text(array, "contents"));
        is_filled = true;
    }
    if (!is_filled && !fill_scratch(work, array, bytes)) {
        free(bytes);
        return false;
    }
    *address_out = add_array(work, bytes, size);
    free(bytes);
    return *address_out != 0;
}

/* What an array holds, as the machine calls it. Integers that nobody has given may be any. */
static grout_ptx_elements get_elements(const ptx_launch *work, const grout_param *param,
                                       bool is_given) {
    static const struct {
        grout_dtype dtype;
        grout_ptx_elements elements;
    } floats[] = {{GROUT_DTYPE_F8E4M3, GROUT_PTX_ELEMENTS_E4M3},
                  {GROUT_DTYPE_F8E5M2, GROUT_PTX_ELEMENTS_E5M2},
                  {GROUT_DTYPE_F16, GROUT_PTX_ELEMENTS_F16},
                  {GROUT_DTYPE_BF16, GROUT_PTX_ELEMENTS_BF16},
                  {GROUT_DTYPE_F32, GROUT_PTX_ELEMENTS_F32},
                  {GROUT_DTYPE_F64, GROUT_PTX_ELEMENTS_F64}};
    const grout_type *type = grout_object_get_type(work->launch->module, param->object);
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        if ((grout_dtype)type->dtype == floats[i].dtype) {
            return floats[i].elements;
        }
    }
    if (info->class_ == GROUT_CLASS_FLOAT || info->bits < CHAR_BIT) {
        return GROUT_PTX_ELEMENTS_FIXED;
    }
    if (!is_given && param->init == 0 && info->class_ != GROUT_CLASS_BOOL) {
        return GROUT_PTX_ELEMENTS_ANY;
    }
    return info->bits == 64   ? GROUT_PTX_ELEMENTS_I64
           : info->bits == 32 ? GROUT_PTX_ELEMENTS_I32
           : info->bits == 16 ? GROUT_PTX_ELEMENTS_I16
           : info->bits == 8  ? GROUT_PTX_ELEMENTS_I8
                              : GROUT_PTX_ELEMENTS_FIXED;
}

/* The argument of a parameter of that name, or NULL. */
static const grout_argument *find_argument(const ptx_launch *work, const char *name,
                                           const grout_param **param_out) {
    const grout_module *module = work->launch->module;
    const grout_kernel *kernel = grout_module_get_kernel(module, work->launch->kernel);
    for (uint32_t i = 0; i < kernel->param_count && i < work->launch->argument_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        const grout_value *value = grout_module_get_value(module, param->value);
        if (strcmp(grout_module_get_string(module, value->name), name) == 0) {
            *param_out = param;
            return &work->launch->arguments[i];
        }
    }
    return NULL;
}

static bool add_arrays(ptx_launch *work) {
    const json_t *arrays = json_object_get(work->manifest, "arrays");
    const json_t *workspaces = json_object_get(work->manifest, "workspaces");
    work->memory = grout_ptx_memory_new();
    work->arrays = calloc(json_array_size(arrays) + 1, sizeof *work->arrays);
    work->workspaces = calloc(json_array_size(workspaces) + 1, sizeof *work->workspaces);
    if (work->memory == NULL || work->arrays == NULL || work->workspaces == NULL) {
        return grout_diags_add_oom(work->session->diags);
    }
    for (size_t i = 0; i < json_array_size(arrays); i++) {
        const json_t *array = json_array_get(arrays, i);
        const grout_param *param = NULL;
        const grout_argument *argument = find_argument(work, get_text(array, "name"), &param);
        if (argument == NULL || argument->size != (size_t)get_number(array, "bytes")) {
            return fail(work, "an array has no argument of its size");
        }
        if (param->direction == GROUT_DIRECTION_OUT) {
            if (!add_contents(work, array, &work->arrays[i])) {
                return false;
            }
            continue;
        }
        work->arrays[i] = add_array(work, argument->data, argument->size);
        if (work->arrays[i] == 0) {
            return false;
        }
        const bool is_given = work->launch->are_given == NULL ||
                              work->launch->are_given[argument - work->launch->arguments];
        (void)grout_ptx_memory_set_elements(work->memory, work->arrays[i],
                                            get_elements(work, param, is_given));
    }
    for (size_t i = 0; i < json_array_size(workspaces); i++) {
        if (!add_contents(work, json_array_get(workspaces, i), &work->workspaces[i])) {
            return false;
        }
    }
    static const uint8_t zeros[RECORD_BYTES];
    work->record = add_array(work, zeros, RECORD_BYTES);
    work->records = work->record != 0 ? add_array(work, zeros, COUNT_BYTES) : 0;
    return work->records != 0;
}

/* ---- parameters ---- */

/* The CUDA driver's number of an element type (CUtensorMapDataType): narrow ones go as bytes, but
 * for those that TMA expands. */
static uint32_t get_type(const char *dtype) {
    static const struct {
        const char *text;
        uint32_t number;
    } types[] = {{"u16", 1}, {"i16", 1},  {"u32", 2},        {"i32", 3},
                 {"u64", 4}, {"i64", 5},  {"f16", 6},        {"f32", 7},
                 {"f64", 8}, {"bf16", 9}, {"b4x16_p64", 14}, {"b6x16_p32", 15}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].text, dtype) == 0) {
            return types[i].number;
        }
    }
    return 0;
}

/* The array or workspace that a map is of: by its name, or by its number. */
static uint64_t get_map_address(const ptx_launch *work, const json_t *map) {
    bool is_array = json_object_get(map, "array") != NULL;
    const json_t *list = json_object_get(work->manifest, is_array ? "arrays" : "workspaces");
    const json_t *which = json_object_get(map, is_array ? "array" : "workspace");
    const uint64_t *addresses = is_array ? work->arrays : work->workspaces;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = get_text(json_array_get(list, i), "name");
        bool is_it = json_is_integer(which) ? (size_t)json_integer_value(which) == i
                                            : strcmp(name, json_string_value(which)) == 0;
        if (is_it) {
            return addresses[i];
        }
    }
    return 0;
}

static bool encode_map(const ptx_launch *work, const json_t *map, uint8_t *bytes_out) {
    grout_ptx_tensor tensor = {.type = get_type(get_text(map, "dtype")),
                               .rank = (uint32_t)get_number(map, "rank"),
                               .fill = strcmp(get_text(map, "oob_fill"), "nan") == 0,
                               .is_im2col = strcmp(get_text(map, "mode"), "im2col") == 0,
                               .channels_per_pixel =
                                   (uint32_t)get_number(map, "channels_per_pixel"),
                               .pixels_per_column = (uint32_t)get_number(map, "pixels_per_column")};
    uint32_t corners[2][3] = {{0, 0, 0}, {0, 0, 0}};
    uint64_t swizzle = get_number(map, "swizzle_bytes");
    uint64_t promotion = get_number(map, "l2_promotion_bytes");
    const json_t *dims = json_object_get(map, "dims"),
                 *strides = json_object_get(map, "strides_bytes");
    tensor.address = get_map_address(work, map) + get_number(map, "start_bytes");
    tensor.interleave = (uint32_t)get_number(map, "interleave_bytes") / 16;
    tensor.promotion = promotion == 64 ? 1 : promotion == 128 ? 2 : promotion == 256 ? 3 : 0;
    tensor.swizzle = swizzle == 32 ? 1 : swizzle == 64 ? 2 : swizzle == 128 ? 3 : 0;
    for (size_t i = 0; i < 5 && i < json_array_size(dims); i++) {
        tensor.dims[i] = (uint64_t)json_integer_value(json_array_get(dims, i));
    }
    for (size_t i = 0; i < 4 && i < json_array_size(strides); i++) {
        tensor.strides_bytes[i] = (uint64_t)json_integer_value(json_array_get(strides, i));
    }
    get_numbers(map, "box", tensor.box, 5);
    get_numbers(map, "element_strides", tensor.element_strides, 5);
    get_numbers(map, "lower_corner", corners[0], 3);
    get_numbers(map, "upper_corner", corners[1], 3);
    for (size_t i = 0; i < 3; i++) {
        tensor.lower_corner[i] = (int32_t)corners[0][i];
        tensor.upper_corner[i] = (int32_t)corners[1][i];
    }
    return grout_ptx_encode_tensor(&tensor, bytes_out, work->session->diags);
}

/* The device header's grout_watchdog, without a limit: a debug_check that is false writes there. */
static bool set_watchdog(const ptx_launch *work, uint8_t *bytes, size_t size) {
    const uint64_t addresses[2] = {work->record, work->records}, limit_ns = UINT64_MAX;
    const uint32_t capacity = 1;
    if (size < sizeof addresses + sizeof limit_ns + sizeof capacity) {
        return fail(work, "the watchdog's parameter is of another size");
    }
    memcpy(bytes, addresses, sizeof addresses);
    memcpy(bytes + sizeof addresses, &limit_ns, sizeof limit_ns);
    memcpy(bytes + sizeof addresses + sizeof limit_ns, &capacity, sizeof capacity);
    return true;
}

/* One parameter into its bytes. */
static bool set_parameter(const ptx_launch *work, const json_t *parameter, uint8_t *bytes,
                          size_t size) {
    const char *kind = get_text(parameter, "kind");
    uint64_t address = 0;
    const grout_param *param = NULL;
    if (strcmp(kind, "tensor_map") == 0) {
        const json_t *maps = json_object_get(work->manifest, "tensor_maps");
        return size == GROUT_PTX_TENSOR_MAP_BYTES &&
               encode_map(work, json_array_get(maps, (size_t)get_number(parameter, "map")), bytes);
    }
    if (strcmp(kind, "scalar") == 0) {
        const grout_argument *argument = find_argument(work, get_text(parameter, "name"), &param);
        if (argument == NULL || argument->size > size) {
            return fail(work, "a scalar has no argument");
        }
        memcpy(bytes, argument->data, argument->size);
        return true;
    }
    if (strcmp(kind, "array") == 0) {
        const json_t *arrays = json_object_get(work->manifest, "arrays");
        const json_t *which = json_object_get(parameter, "array");
        for (size_t i = 0; i < json_array_size(arrays); i++) {
            bool is_it = json_is_integer(which)
                             ? (size_t)json_integer_value(which) == i
                             : strcmp(get_text(json_array_get(arrays, i), "name"),
                                      get_text(parameter, "array")) == 0;
            address = is_it ? work->arrays[i] : address;
        }
    } else if (strcmp(kind, "workspace") == 0) {
        address = work->workspaces[get_number(parameter, "workspace")];
    } else {
        return strcmp(kind, "watchdog") == 0 ? set_watchdog(work, bytes, size)
                                             : fail(work, "a parameter of an unknown kind");
    }
    memcpy(bytes, &address, sizeof address);
    return size == sizeof address || fail(work, "a pointer of another size");
}

static bool make_parameters(ptx_launch *work) {
    const json_t *parameters = json_object_get(work->manifest, "parameters");
    size_t count = json_array_size(parameters), offset = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        if (!grout_ptx_module_get_parameter(work->module, NULL, (uint32_t)i, &offset, &size)) {
            return fail(work, "the code has fewer parameters");
        }
    }
    work->parameter_bytes = offset + size;
    work->parameters = calloc(work->parameter_bytes + 1, 1);
    if (work->parameters == NULL) {
        return grout_diags_add_oom(work->session->diags);
    }
    for (size_t i = 0; i < count; i++) {
        (void)grout_ptx_module_get_parameter(work->module, NULL, (uint32_t)i, &offset, &size);
        if (!set_parameter(work, json_array_get(parameters, i), work->parameters + offset, size)) {
            return false;
        }
    }
    return true;
}

/* ---- the launch ---- */

static const struct {
    const char *text;
    grout_ptx_timing timing;
} timings[] = {{"random", GROUT_PTX_TIMING_RANDOM},
               {"lazy", GROUT_PTX_TIMING_LATE},
               {"eager", GROUT_PTX_TIMING_EARLY}};

grout_ptx_interleaving grout_ptx_interleaving__get(const grout_session *session, uint64_t number) {
    const char *text = grout_options__get(&session->options, GROUT_OPTION_TIMING);
    size_t count = sizeof timings / sizeof timings[0];
    size_t which = (size_t)(number % count);
    for (size_t i = 0; text != NULL && i < count; i++) {
        which = strcmp(timings[i].text, text) == 0 ? i : which;
    }
    return (grout_ptx_interleaving){
        .seed = grout_options__get_count(&session->options, GROUT_OPTION_SEED, 0) + number,
        .timing = timings[which].timing,
        .timing_text = timings[which].text};
}

static bool read_outputs(const ptx_launch *work) {
    const json_t *arrays = json_object_get(work->manifest, "arrays");
    bool is_right = true;
    for (size_t i = 0; i < json_array_size(arrays); i++) {
        const char *name = get_text(json_array_get(arrays, i), "name");
        const grout_param *param = NULL;
        size_t undefined = 0;
        const grout_argument *argument = find_argument(work, name, &param);
        if (argument == NULL || param->direction == GROUT_DIRECTION_IN) {
            continue;
        }
        if (!grout_ptx_memory_read(work->memory, work->arrays[i], argument->data, argument->size,
                                   &undefined)) {
            return fail(work, "an array is gone");
        }
        if (undefined > 0) {
            is_right =
                grout_diags_add(work->session->diags, GROUT_DIAG_PTX_FAULT, grout_nowhere,
                                "%zu bytes of '%%%s' were written with values that nothing has set",
                                undefined, name);
        }
    }
    return is_right;
}

/* Names the debug_check that has ended the run, if one has. */
static void note_check(const ptx_launch *work) {
    uint32_t record[RECORD_BYTES / sizeof(uint32_t)] = {0};
    size_t undefined = 0;
    if (work->record != 0 &&
        grout_ptx_memory_read(work->memory, work->record, record, sizeof record, &undefined) &&
        record[RECORD_CODE] == FALSE_CHECK) {
        grout_diags_note(work->session->diags, grout_nowhere,
                         "the debug_check at line %u is false: thread %u of CTA (%u, %u, %u)",
                         record[RECORD_LINE], record[RECORD_THREAD], record[RECORD_CTA],
                         record[RECORD_CTA + 1], record[RECORD_CTA + 2]);
    }
}

/* Frees what a run has made. */
static void end_run(ptx_launch *work) {
    grout_ptx_memory_free(work->memory);
    free(work->arrays);
    free(work->workspaces);
    free(work->parameters);
    work->memory = NULL;
    work->arrays = work->workspaces = NULL;
    work->parameters = NULL;
}

static bool note_progress(void *payload, const grout_progress *progress) {
    return grout_progress_line__step(payload, progress);
}

static bool run_one(grout_ptx_device *device, ptx_launch *work, grout_ptx_interleaving order) {
    grout_ptx_result result = {0};
    grout_progress_line line;
    const uint64_t before = work->array_bytes;
    bool is_done = add_arrays(work) && make_parameters(work);
    if (is_done) {
        grout_ptx_launch plan = {
            .module = work->module,
            .memory = work->memory,
            .dynamic_shared_bytes = (uint32_t)get_number(work->manifest, "dynamic_smem_bytes"),
            .parameters = work->parameters,
            .parameter_bytes = work->parameter_bytes,
            .seed = order.seed,
            .timing = order.timing,
            .max_steps =
                grout_options__get_count(&work->session->options, GROUT_OPTION_MAX_STEPS, 0),
            .finds_races = grout_options__has(&work->session->options, GROUT_OPTION_RUN_CHECK),
            .max_memory = get_memory_left(work),
            .progress = note_progress,
            .payload = &line};
        grout_progress_line__init(&line, work->session);
        get_numbers(work->manifest, "grid", plan.grid, 3);
        get_numbers(work->manifest, "block", plan.block, 3);
        get_numbers(work->manifest, "cluster", plan.cluster, 3);
        is_done = (plan.grid[0] > 0 || fail(work, "a grid of no CTAs")) &&
                  grout_ptx_launch_run(&plan, &result, device->session->diags);
        grout_progress_line__clear(&line);
        if (!is_done) {
            note_check(work);
        }
        is_done = is_done && read_outputs(work);
    }
    device->warp_instructions += result.warp_instructions;
    device->async_operations += result.async_operations;
    end_run(work);
    work->array_bytes = before;
    return is_done;
}

/* ---- a list of launches ---- */

static bool keep_arguments(ptx_launch *work) {
    const grout_gpu_launch *launch = work->launch;
    work->initial = calloc((size_t)launch->argument_count + 1, sizeof *work->initial);
    for (uint32_t i = 0; work->initial != NULL && i < launch->argument_count; i++) {
        const grout_argument *argument = &launch->arguments[i];
        if (!count_array(work, 2 * (uint64_t)argument->size)) { /* its own bytes, and these */
            return false;
        }
        work->initial[i] = malloc(argument->size + 1);
        if (work->initial[i] == NULL) {
            return grout_diags_add_oom(work->session->diags);
        }
        memcpy(work->initial[i], argument->data, argument->size);
    }
    return work->initial != NULL || grout_diags_add_oom(work->session->diags);
}

grout_ptx_device *grout_ptx_device__new(grout_session *session, const grout_gpu_launch *launch) {
    grout_ptx_device *device = calloc(1, sizeof *device);
    size_t count = 0;
    for (const grout_gpu_launch *each = launch; each != NULL; each = each->next) {
        count++;
    }
    if (device != NULL) {
        device->session = session;
        device->launches = calloc(count + 1, sizeof *device->launches);
    }
    if (device == NULL || device->launches == NULL) {
        (void)grout_diags_add_oom(session->diags);
        grout_ptx_device__free(device);
        return NULL;
    }
    for (; launch != NULL; launch = launch->next) {
        ptx_launch *work = &device->launches[device->count++];
        *work = (ptx_launch){.session = session, .launch = launch};
        if (!make_code(work) || !keep_arguments(work)) {
            grout_ptx_device__free(device);
            return NULL;
        }
    }
    return device;
}

void grout_ptx_device__free(grout_ptx_device *device) {
    for (size_t i = 0; device != NULL && i < device->count; i++) {
        ptx_launch *work = &device->launches[i];
        for (uint32_t k = 0; work->initial != NULL && k < work->launch->argument_count; k++) {
            free(work->initial[k]);
        }
        free(work->initial);
        json_decref(work->manifest);
        grout_ptx_module_free(work->module);
    }
    if (device != NULL) {
        free(device->launches);
    }
    free(device);
}

static void restore_arguments(const grout_ptx_device *device) {
    for (size_t i = 0; i < device->count; i++) {
        const ptx_launch *work = &device->launches[i];
        for (uint32_t k = 0; k < work->launch->argument_count; k++) {
            const grout_argument *argument = &work->launch->arguments[k];
            memcpy(argument->data, work->initial[k], argument->size);
        }
    }
}

bool grout_ptx_device__run(grout_ptx_device *device, grout_ptx_interleaving order,
                           grout_gpu_result *result_out) {
    *result_out = (grout_gpu_result){0};
    (void)snprintf(result_out->device_name, sizeof result_out->device_name, "the PTX emulator");
    restore_arguments(device);
    for (size_t i = 0; i < device->count; i++) {
        if (!run_one(device, &device->launches[i], order)) {
            return false;
        }
    }
    return true;
}

void grout_ptx_device__note_work(const grout_ptx_device *device) {
    grout_session__note(device->session,
                        "%llu instructions of warps, %llu asynchronous operations\n",
                        (unsigned long long)device->warp_instructions,
                        (unsigned long long)device->async_operations);
}
