/* emit_host.c - a launcher in C++ for people who have the cubin and no grout.
 * SPDX-License-Identifier: Apache-2.0 */
#include "contents.h"

#include "alloc.h"
#include "lookup.h"

#include <inttypes.h>
#include <stdio.h>

typedef grout_contents host;

/* Everything that is the same for all kernels: in two pieces, as compilers promise no longer
 * strings. */
static const char arrays_preamble[] =
    "#include <cuda.h>\n"
    "\n"
    "#include <cstdint>\n"
    "#include <cstdio>\n"
    "#include <cstdlib>\n"
    "#include <cstring>\n"
    "#include <vector>\n"
    "\n"
    "static void check(CUresult result, const char *what) {\n"
    "    if (result != CUDA_SUCCESS) {\n"
    "        const char *name = \"unknown error\";\n"
    "        cuGetErrorName(result, &name);\n"
    "        std::fprintf(stderr, \"cannot %s: %s\\n\", what, name);\n"
    "        std::exit(1);\n"
    "    }\n"
    "}\n"
    "\n"
    "// What follows 'NAME=' on the command line, or null.\n"
    "static const char *find(int argc, char **argv, const char *name) {\n"
    "    const size_t size = std::strlen(name);\n"
    "    for (int i = 2; i < argc; i++) {\n"
    "        if (std::strncmp(argv[i], name, size) == 0 && argv[i][size] == '=') {\n"
    "            return argv[i] + size + 1;\n"
    "        }\n"
    "    }\n"
    "    return nullptr;\n"
    "}\n"
    "\n"
    "static const char *get_value(int argc, char **argv, const char *name) {\n"
    "    const char *text = find(argc, argv, name);\n"
    "    if (text == nullptr) {\n"
    "        std::fprintf(stderr, \"no value for '%s': give %s=VALUE\\n\", name, name);\n"
    "        std::exit(2);\n"
    "    }\n"
    "    return text;\n"
    "}\n"
    "\n"
    "// An array parameter: row-major, little-endian, as the manifest describes it.\n"
    "struct Array {\n"
    "    const char *name;\n"
    "    bool is_input, is_output;\n"
    "    size_t bytes;\n"
    "    uint64_t fill; // what an output holds before anybody writes it\n"
    "    size_t fill_bytes;\n"
    "    const char *file;\n"
    "    CUdeviceptr address;\n"
    "};\n"
    "\n"
    "static void load(Array &array) {\n"
    "    std::vector<unsigned char> data(array.bytes, 0);\n"
    "    if (array.is_input && array.file != nullptr) {\n"
    "        std::FILE *file = std::fopen(array.file, \"rb\");\n"
    "        if (file == nullptr || std::fread(data.data(), 1, array.bytes, file) != array.bytes) "
    "{\n"
    "            std::fprintf(stderr, \"cannot read %zu bytes of '%s'\\n\", array.bytes, "
    "array.file);\n"
    "            std::exit(1);\n"
    "        }\n"
    "        std::fclose(file);\n"
    "    }\n"
    "    for (size_t i = 0; !array.is_input && i < array.bytes; i++) {\n"
    "        data[i] = (unsigned char)(array.fill >> (8 * (i % array.fill_bytes)));\n"
    "    }\n"
    "    check(cuMemAlloc(&array.address, array.bytes), \"allocate an array\");\n"
    "    check(cuMemcpyHtoD(array.address, data.data(), array.bytes), \"copy to the GPU\");\n"
    "}\n"
    "\n"
    "static void store(const Array &array) {\n"
    "    std::vector<unsigned char> data(array.bytes);\n"
    "    if (!array.is_output || array.file == nullptr) {\n"
    "        return;\n"
    "    }\n"
    "    check(cuMemcpyDtoH(data.data(), array.address, array.bytes), \"copy from the GPU\");\n"
    "    std::FILE *file = std::fopen(array.file, \"wb\");\n"
    "    if (file == nullptr || std::fwrite(data.data(), 1, array.bytes, file) != array.bytes ||\n"
    "        std::fclose(file) != 0) {\n"
    "        std::fprintf(stderr, \"cannot write '%s'\\n\", array.file);\n"
    "        std::exit(1);\n"
    "    }\n"
    "}\n"
    "\n"
    "// Memory beside the arrays: what the kernel's scratch and semaphores are in.\n"
    "static CUdeviceptr make_workspace(size_t bytes, uint64_t fill, size_t fill_bytes) {\n"
    "    std::vector<unsigned char> data(bytes);\n"
    "    CUdeviceptr address = 0;\n"
    "    for (size_t i = 0; i < bytes; i++) {\n"
    "        data[i] = (unsigned char)(fill >> (8 * (i % fill_bytes)));\n"
    "    }\n"
    "    check(cuMemAlloc(&address, bytes == 0 ? 1 : bytes), \"allocate a workspace\");\n"
    "    check(cuMemcpyHtoD(address, data.data(), bytes), \"fill a workspace\");\n"
    "    return address;\n"
    "}\n"
    "\n";
static const char maps_preamble[] =
    "// A TMA descriptor; dimension 0 is the fastest.\n"
    "struct Map {\n"
    "    CUtensorMapDataType type;\n"
    "    uint32_t rank;\n"
    "    uint64_t dims[5], strides[4]; // bytes, from dimension 1 on\n"
    "    uint32_t box[5];\n"
    "    CUtensorMapSwizzle swizzle;\n"
    "    CUtensorMapFloatOOBfill oob_fill;\n"
    "    // In im2col mode, the number of spatial dimensions; box is channels and pixels then.\n"
    "    uint32_t spatial_count;\n"
    "    int lower[3], upper[3];\n"
    "    uint32_t steps[5];\n"
    "    CUtensorMapInterleave interleave;\n"
    "    CUtensorMapL2promotion promotion;\n"
    "};\n"
    "\n"
    "static CUtensorMap encode(const Map &map, CUdeviceptr address) {\n"
    "    alignas(64) CUtensorMap encoded;\n"
    "    if (map.spatial_count > 0) {\n"
    "        check(cuTensorMapEncodeIm2col(&encoded, map.type, map.rank, (void *)address,\n"
    "                                      (const cuuint64_t *)map.dims,\n"
    "                                      (const cuuint64_t *)map.strides, map.lower,\n"
    "                                      map.upper, map.box[0], map.box[1], map.steps,\n"
    "                                      map.interleave, map.swizzle, map.promotion,\n"
    "                                      map.oob_fill),\n"
    "              \"encode a tensor map\");\n"
    "        return encoded;\n"
    "    }\n"
    "    check(cuTensorMapEncodeTiled(&encoded, map.type, map.rank, (void *)address,\n"
    "                                 (const cuuint64_t *)map.dims,\n"
    "                                 (const cuuint64_t *)map.strides, map.box, map.steps,\n"
    "                                 map.interleave, map.swizzle, map.promotion,\n"
    "                                 map.oob_fill),\n"
    "          \"encode a tensor map\");\n"
    "    return encoded;\n"
    "}\n"
    "\n"
    "// The kernel's last parameter. Waits of a kernel emitted with the watchdog end after "
    "limit_ns.\n"
    "struct Watchdog {\n"
    "    uint64_t hangs, state, limit_ns;\n"
    "    uint32_t capacity, reserved;\n"
    "};\n"
    "\n";

static const char *get_tensor_type(const grout_type *type) {
    static const char *const types[GROUT_DTYPE_COUNT] = {
        [GROUT_DTYPE_NONE] = "UINT8",   [GROUT_DTYPE_BOOL] = "UINT8",
        [GROUT_DTYPE_I4] = "UINT8",     [GROUT_DTYPE_U4] = "UINT8",
        [GROUT_DTYPE_F4E2M1] = "UINT8", [GROUT_DTYPE_F6E2M3] = "UINT8",
        [GROUT_DTYPE_F6E3M2] = "UINT8", [GROUT_DTYPE_I8] = "UINT8",
        [GROUT_DTYPE_U8] = "UINT8",     [GROUT_DTYPE_I16] = "UINT16",
        [GROUT_DTYPE_U16] = "UINT16",   [GROUT_DTYPE_I32] = "INT32",
        [GROUT_DTYPE_U32] = "UINT32",   [GROUT_DTYPE_I64] = "INT64",
        [GROUT_DTYPE_U64] = "UINT64",   [GROUT_DTYPE_F8E4M3] = "UINT8",
        [GROUT_DTYPE_F8E5M2] = "UINT8", [GROUT_DTYPE_F8E8M0] = "UINT8",
        [GROUT_DTYPE_F16] = "FLOAT16",  [GROUT_DTYPE_BF16] = "BFLOAT16",
        [GROUT_DTYPE_F32] = "FLOAT32",  [GROUT_DTYPE_F64] = "FLOAT64",
    };
    if (type->is_expanded) {
        return grout_dtype_get_info((grout_dtype)type->dtype)->bits == 4 ? "16U4_ALIGN16B"
                                                                         : "16U6_ALIGN16B";
    }
    return types[type->dtype];
}

static const grout_param *get_param(const host *h, uint32_t index) {
    return grout_module_get_param(h->module, h->kernel, index);
}

/* is_output: of a parameter, or of any that is the same array. */
static void add_array(const host *h, uint32_t index, bool is_output) {
    const grout_param *param = get_param(h, index);
    const grout_type *type = grout_object_get_type(h->module, param->object);
    const grout_dtype_info *dtype = grout_dtype_get_info((grout_dtype)type->dtype);
    grout_text_add(h->out, "    {\"%s\", %s, %s, %" PRId64 ", 0x%" PRIx64 ", %u, nullptr, 0}, // ",
                   grout_gpu__get_param_name(h->module, h->kernel, index),
                   param->direction == GROUT_DIRECTION_OUT ? "false" : "true",
                   is_output ? "true" : "false", grout_type_get_bytes(type),
                   grout_dtype_get_pattern((grout_dtype)type->dtype, dtype->poison), dtype->bytes);
    grout_type_print(type, h->out);
    grout_text_add(h->out, "\n");
}

static const char arrays_start[] = "static Array arrays[] = {\n";
static const char arrays_end[] = "    {nullptr, false, false, 0, 0, 1, nullptr, 0},\n};\n\n";

static void add_arrays(const host *h) {
    grout_text_add(h->out, "%s", arrays_start);
    for (uint32_t k = 0; k < h->kernel->param_count; k++) {
        const grout_param *param = get_param(h, k);
        if (param->direction != GROUT_DIRECTION_SCALAR) {
            add_array(h, k, param->direction != GROUT_DIRECTION_IN);
        }
    }
    grout_text_add(h->out, "%s", arrays_end);
}

/* The place of each array parameter among the arrays. */
static void number_own_arrays(const host *h, uint32_t *numbers) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < h->kernel->param_count; k++) {
        numbers[k] = count;
        count += get_param(h, k)->direction == GROUT_DIRECTION_SCALAR ? 0 : 1;
    }
}

static void add_numbers(const host *h, const int64_t *numbers, uint32_t count) {
    grout_text_add(h->out, "{");
    for (uint32_t k = 0; k < count; k++) {
        grout_text_add(h->out, "%s%" PRId64, k == 0 ? "" : ", ", numbers[k]);
    }
    grout_text_add(h->out, "}");
}

/* ", 2, {-1, -1}, {-1, -1}, {1, 2, 2, 1}": what a map in im2col mode has more, of a tiled one
 * zeros; and the element strides. */
static void add_pixels(const host *h, const grout_gpu_map *map) {
    const grout_tma *tma = &map->tma;
    int64_t lower[3] = {0}, upper[3] = {0}, steps[5] = {1, 1, 1, 1, 1};
    for (uint32_t k = 0; k < tma->spatial_count; k++) {
        lower[k] = tma->lower[k];
        upper[k] = tma->upper[k];
    }
    for (uint32_t k = 0; k < tma->rank; k++) {
        steps[k] = map->element_strides[k];
    }
    grout_text_add(h->out, ", %u, ", tma->spatial_count);
    add_numbers(h, lower, 3);
    grout_text_add(h->out, ", ");
    add_numbers(h, upper, 3);
    grout_text_add(h->out, ", ");
    add_numbers(h, steps, 5);
}

static void add_maps(const host *h) {
    static const char *const interleaves[] = {"NONE", "16B", "32B"};
    static const char *const promotions[] = {"NONE", "L2_64B", "L2_128B", "L2_256B"};
    for (uint32_t k = 0; k < h->plan->map_count; k++) {
        const grout_gpu_map *map = &h->plan->maps[k];
        const grout_type type = grout_gpu__get_map_type(h->module, map);
        grout_text_add(h->out, "static const Map %s = {CU_TENSOR_MAP_DATA_TYPE_%s, %u,\n    ",
                       grout_gpu__get_map_name(h->module, map).text, get_tensor_type(&type),
                       map->tma.rank);
        add_numbers(h, map->tma.dims, map->tma.rank);
        grout_text_add(h->out, ", ");
        add_numbers(h, map->tma.strides + 1, map->tma.rank - 1u);
        grout_text_add(h->out, ", ");
        add_numbers(h, map->tma.box, map->tma.rank);
        if (map->tma.swizzle == 0) {
            grout_text_add(h->out, ", CU_TENSOR_MAP_SWIZZLE_NONE");
        } else {
            grout_text_add(h->out, ", CU_TENSOR_MAP_SWIZZLE_%" PRIu32 "B", map->tma.swizzle);
        }
        grout_text_add(h->out, ",\n    CU_TENSOR_MAP_FLOAT_OOB_FILL_%s",
                       map->tma.oob == GROUT_CHOICE_OOB_NAN ? "NAN_REQUEST_ZERO_FMA" : "NONE");
        add_pixels(h, map);
        grout_text_add(h->out,
                       ",\n    CU_TENSOR_MAP_INTERLEAVE_%s, CU_TENSOR_MAP_L2_PROMOTION_%s};\n",
                       interleaves[map->interleave], promotions[map->promotion]);
    }
}

/* "arrays[2].address" or "space_0": where the array of a map is. */
static void add_map_address(const host *h, const grout_gpu_map *map) {
    if (map->param_index == UINT32_MAX) {
        grout_text_add(h->out, "space_%" PRIu32, map->workspace_index);
    } else {
        grout_text_add(h->out, "arrays[%" PRIu32 "].address", h->array_numbers[map->param_index]);
    }
}

/* The locals of a launch outlive, in a list, the function that makes them. */
static const char *get_storage(const host *h) {
    return h->is_listed ? "static " : "";
}

static void add_workspaces(const host *h) {
    for (uint32_t k = 0; k < h->plan->workspace_count; k++) {
        const grout_gpu_workspace *workspace = &h->plan->workspaces[k];
        grout_text_add(h->out,
                       "    %sCUdeviceptr space_%" PRIu32 " = make_workspace(%" PRId64
                       ", 0x%" PRIx64 ", %" PRIu32 "); // %%%s\n",
                       get_storage(h), k, workspace->bytes, workspace->fill, workspace->fill_bytes,
                       grout_gpu__get_object_name(h->module, workspace->object));
        grout_contents__put_workspace(h, k);
    }
}

/* A scalar's value is on the command line; narrow floats give their bits. */
static void add_scalar(const host *h, uint32_t number, uint32_t param_index) {
    const grout_dtype_info *dtype =
        grout_dtype_get_info((grout_dtype)get_param(h, param_index)->dtype);
    const bool is_float = dtype->class_ == GROUT_CLASS_FLOAT && dtype->bytes >= 4;
    const char *type = !is_float ? "long long" : dtype->bytes == 8 ? "double" : "float";
    const char *convert = is_float ? "std::strtod" : "std::strtoll";
    grout_text_add(h->out, "    %s%s scalar%" PRIu32 " = (%s)%s(", get_storage(h), type, number,
                   type, convert);
    grout_contents__scalar_text(h, param_index);
    grout_text_add(h->out,
                   ", nullptr%s); // %s\n"
                   "    parameters[%" PRIu32 "] = &scalar%" PRIu32 ";\n",
                   is_float ? "" : ", 0", dtype->text, number, number);
}

static void add_parameters(const host *h) {
    add_workspaces(h);
    if (!h->is_listed) {
        grout_text_add(h->out, "    void *parameters[%" PRIu32 "];\n", h->plan->arg_count);
    }
    for (uint32_t k = 0; k < h->plan->arg_count; k++) {
        const grout_gpu_arg *arg = &h->plan->args[k];
        switch ((grout_gpu_arg_kind)arg->kind) {
        case GROUT_GPU_ARG_ARRAY:
            grout_text_add(h->out, "    parameters[%" PRIu32 "] = &arrays[%" PRIu32 "].address;\n",
                           k, h->array_numbers[arg->index]);
            break;
        case GROUT_GPU_ARG_SCALAR:
            add_scalar(h, k, arg->index);
            break;
        case GROUT_GPU_ARG_MAP: {
            const grout_gpu_map *map = &h->plan->maps[arg->index];
            grout_text_add(h->out, "    alignas(64) %sCUtensorMap map%" PRIu32 " = encode(%s, ",
                           get_storage(h), k, grout_gpu__get_map_name(h->module, map).text);
            add_map_address(h, map);
            grout_text_add(h->out, ");\n    parameters[%" PRIu32 "] = &map%" PRIu32 ";\n", k, k);
            break;
        }
        case GROUT_GPU_ARG_WORKSPACE:
            grout_text_add(h->out, "    parameters[%" PRIu32 "] = &space_%" PRIu32 ";\n", k,
                           arg->index);
            break;
        case GROUT_GPU_ARG_WATCHDOG:
            grout_text_add(h->out,
                           "    %sCUdeviceptr state = 0;\n"
                           "    check(cuMemAlloc(&state, 8), \"allocate the watchdog's state\");\n"
                           "    check(cuMemsetD32(state, 0, 2), \"clear the watchdog's state\");\n"
                           "    %sWatchdog watchdog = {0, state, 2000000000, 0, 0};\n"
                           "    parameters[%" PRIu32 "] = &watchdog;\n",
                           get_storage(h), get_storage(h), k);
            break;
        }
    }
}

static void add_launch(const host *h) {
    const int64_t grid = h->plan->grid_size;
    const uint32_t block = h->plan->lane_count;
    const uint32_t cluster = h->plan->cluster_size;
    if (cluster == 1) {
        grout_text_add(h->out,
                       "    check(cuLaunchKernel(kernel, %" PRId64 ", 1, 1, %" PRIu32
                       ", 1, 1, smem_bytes, nullptr, parameters,\n"
                       "                         nullptr),\n"
                       "          \"launch the kernel\");\n",
                       grid, block);
        return;
    }
    if (cluster > 8) {
        grout_text_add(h->out,
                       "    check(cuFuncSetAttribute(kernel, "
                       "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),\n"
                       "          \"allow clusters of %" PRIu32 " CTAs\");\n",
                       cluster);
    }
    grout_text_add(h->out,
                   "    CUlaunchAttribute attribute = {};\n"
                   "    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;\n"
                   "    attribute.value.clusterDim.x = %" PRIu32 ";\n"
                   "    attribute.value.clusterDim.y = 1;\n"
                   "    attribute.value.clusterDim.z = 1;\n"
                   "    CUlaunchConfig config = {};\n"
                   "    config.gridDimX = %" PRId64 "; // CTAs: %" PRId64 " clusters\n"
                   "    config.gridDimY = config.gridDimZ = 1;\n"
                   "    config.blockDimX = %" PRIu32 ";\n"
                   "    config.blockDimY = config.blockDimZ = 1;\n"
                   "    config.sharedMemBytes = smem_bytes;\n"
                   "    config.attrs = &attribute;\n"
                   "    config.numAttrs = 1;\n"
                   "    check(cuLaunchKernelEx(&config, kernel, parameters, nullptr), \"launch the "
                   "kernel\");\n",
                   cluster, grid, grid / cluster, block);
}

/* The function of the cubin, into 'kernel'. */
static void add_kernel(const host *h) {
    char symbol[GROUT_GPU_SYMBOL_MAX];
    grout_gpu__get_symbol(grout_module_get_string(h->module, h->kernel->name), symbol);
    grout_text_add(
        h->out, "    check(cuModuleGetFunction(&kernel, module, \"%s\"), \"find the kernel\");\n",
        symbol);
}

static const char load_arrays[] =
    "    for (Array *array = arrays; array->name != nullptr; array++) {\n"
    "        array->file = find(argc, argv, array->name);\n"
    "        load(*array);\n"
    "    }\n";

/* Up to the module on the GPU. */
static void add_start(grout_text *out, const char *more) {
    grout_text_add(out,
                   "\nint main(int argc, char **argv) {\n"
                   "    if (argc < 2) {\n"
                   "        std::fprintf(stderr, \"usage: %%s KERNEL.cubin [ARRAY=FILE | "
                   "SCALAR=VALUE]...\\n\", argv[0]);\n"
                   "        return 2;\n"
                   "    }\n"
                   "    CUdevice device;\n"
                   "    CUcontext context;\n"
                   "    CUmodule module;\n"
                   "%s"
                   "    check(cuInit(0), \"initialise CUDA\");\n"
                   "    check(cuDeviceGet(&device, 0), \"open the GPU\");\n"
                   "    check(cuDevicePrimaryCtxRetain(&context, device), \"make a context\");\n"
                   "    check(cuCtxSetCurrent(context), \"use the context\");\n"
                   "    check(cuModuleLoad(&module, argv[1]), \"load the kernel\");\n",
                   more);
}

/* What arrays hold where neither a file nor a launch before says it. */
static void put_arrays(const host *h, const bool *is_later) {
    for (uint32_t k = 0; k < h->kernel->param_count; k++) {
        if (get_param(h, k)->direction != GROUT_DIRECTION_SCALAR &&
            (is_later == NULL || !is_later[k])) {
            grout_contents__put_array(h, k, h->array_numbers[k]);
        }
    }
}

static const char give_smem[] =
    "    check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,\n"
    "                             (int)smem_bytes),\n"
    "          \"give the kernel its SMEM\");\n";
static const char end[] = "    check(cuCtxSynchronize(), \"run the kernel\");\n"
                          "    for (Array *array = arrays; array->name != nullptr; array++) {\n"
                          "        store(*array);\n"
                          "    }\n"
                          "    return 0;\n"
                          "}\n";

static void add_main(const host *h) {
    add_start(h->out, "    CUfunction kernel;\n");
    add_kernel(h);
    grout_text_add(h->out, "%s", load_arrays);
    put_arrays(h, NULL);
    add_parameters(h);
    grout_text_add(h->out, "    const unsigned smem_bytes = %" PRId64 ";\n",
                   h->plan->dynamic_smem_bytes);
    grout_text_add(h->out, "%s", give_smem);
    add_launch(h);
    grout_text_add(h->out, "%s", end);
}

bool grout_emit_host(const grout_module *bound, grout_kernel_id kernel, grout_text *out,
                     grout_diags *diags) {
    grout_gpu_plan plan = {0};
    const grout_kernel *it = grout_module_get_kernel(bound, kernel);
    uint32_t *numbers =
        grout__new(grout_module_get_allocator(bound), it->param_count, sizeof *numbers);
    const host h = {.module = bound,
                    .kernel = it,
                    .plan = &plan,
                    .out = out,
                    .diags = diags,
                    .array_numbers = numbers};
    bool is_planned = numbers != NULL ? grout_gpu__plan_init(&plan, bound, kernel, diags)
                                      : grout_diags_add_oom(diags);
    if (is_planned) {
        number_own_arrays(&h, numbers);
        grout_text_add(out,
                       "// Launches kernel @%s: nvcc THIS.cpp -lcuda; by grout.\n"
                       "// Arrays without a file are zeros%s; outputs without one are not kept.\n",
                       grout_module_get_string(bound, h.kernel->name),
                       grout_contents__are_there(&h) ? ", or what their init(..) says" : "");
        grout_text_add(out, "%s%s", arrays_preamble, maps_preamble);
        add_arrays(&h);
        add_maps(&h);
        is_planned = grout_contents__declare(&h);
        add_main(&h);
    }
    grout_gpu__plan_deinit(&plan);
    grout__free(numbers);
    return is_planned && (!out->failed || grout_diags_add_oom(diags));
}

/* ---- a launch list ---- */

/* The first parameter, of the first launch, that is the array of this name. */
typedef struct listed_array {
    grout_kernel_id kernel;
    uint32_t index;
    bool is_output; /* some launch may write it */
} listed_array;

typedef struct list {
    const grout_module *module;
    listed_array *arrays;
    uint32_t array_count;
    grout_lookup by_name; /* of the arrays: the number, from 1 */
    uint32_t *numbers;    /* of the launch at hand, by parameter */
    bool *is_later;       /* an earlier launch has had the array */
    grout_text *out;
    grout_diags *diags;
} list;

/* Numbers the arrays of a launch; new ones come after those of the launches before. False without
 * memory. */
static bool number_arrays(list *it, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(it->module, id);
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        const grout_param *param = grout_module_get_param(it->module, kernel, k);
        if (param->direction == GROUT_DIRECTION_SCALAR) {
            continue;
        }
        grout_string_id name = grout_module_get_value(it->module, param->value)->name;
        uint32_t *number = grout_lookup__at(&it->by_name, name);
        if (number == NULL) {
            return grout_diags_add_oom(it->diags);
        }
        it->is_later[k] = *number != 0;
        if (*number == 0) {
            it->arrays[it->array_count] = (listed_array){id, k, false};
            *number = ++it->array_count;
        }
        it->numbers[k] = *number - 1;
        it->arrays[*number - 1].is_output |= grout_direction_is_written(param->direction);
    }
    return true;
}

static void add_list_arrays(const list *it) {
    grout_text_add(it->out, "%s", arrays_start);
    for (uint32_t i = 0; i < it->array_count; i++) {
        const listed_array *array = &it->arrays[i];
        const host h = {.module = it->module,
                        .kernel = grout_module_get_kernel(it->module, array->kernel),
                        .out = it->out};
        add_array(&h, array->index, array->is_output);
    }
    grout_text_add(it->out, "%s", arrays_end);
}

static void add_attribute(const host *h, const char *id, const char *value) {
    grout_text_add(h->out,
                   "    attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_%s;\n"
                   "    attributes[config.numAttrs++].value.%s;\n",
                   id, value);
}

static void add_listed_launch(const host *h, bool is_dependent) {
    grout_text_add(h->out,
                   "static void launch() {\n"
                   "    CUlaunchAttribute attributes[2] = {};\n"
                   "    CUlaunchConfig config = {};\n"
                   "    config.gridDimX = %" PRId64 ";\n"
                   "    config.gridDimY = config.gridDimZ = 1;\n"
                   "    config.blockDimX = %" PRIu32 ";\n"
                   "    config.blockDimY = config.blockDimZ = 1;\n"
                   "    config.sharedMemBytes = smem_bytes;\n"
                   "    config.attrs = attributes;\n",
                   h->plan->grid_size, h->plan->lane_count);
    if (h->plan->cluster_size > 1) {
        char value[64];
        (void)snprintf(value, sizeof value, "clusterDim = {%" PRIu32 ", 1, 1}",
                       h->plan->cluster_size);
        add_attribute(h, "CLUSTER_DIMENSION", value);
    }
    if (is_dependent) {
        grout_text_add(h->out, "    // It may begin before the grid before it has ended.\n");
        add_attribute(h, "PROGRAMMATIC_STREAM_SERIALIZATION",
                      "programmaticStreamSerializationAllowed = 1");
    }
    grout_text_add(h->out, "    check(cuLaunchKernelEx(&config, kernel, parameters, nullptr), "
                           "\"launch the kernel\");\n}\n");
}

/* A namespace for a launch: what it needs is made first, for all of them, so that nothing stands
 * between two launches on the stream. */
static bool add_listed(list *it, grout_launch_id id) {
    const grout_launch_line *line = grout_module_get_launch(it->module, id);
    grout_kernel_id kernel = grout_module_get_launch_kernel(it->module, id);
    grout_gpu_plan plan = {0};
    const host h = {.module = it->module,
                    .kernel = grout_module_get_kernel(it->module, kernel),
                    .plan = &plan,
                    .out = it->out,
                    .diags = it->diags,
                    .is_listed = true,
                    .array_numbers = it->numbers};
    bool ok =
        number_arrays(it, kernel) && grout_gpu__plan_init(&plan, it->module, kernel, it->diags);
    if (ok) {
        grout_text_add(it->out,
                       "// @%s\n"
                       "namespace launch_%" PRIu32 " {\n"
                       "static CUfunction kernel;\n"
                       "static void *parameters[%" PRIu32 "];\n"
                       "static const unsigned smem_bytes = %" PRId64 ";\n",
                       grout_module_get_string(it->module, line->kernel_name), id, plan.arg_count,
                       plan.dynamic_smem_bytes);
        add_maps(&h);
        ok = grout_contents__declare(&h);
        grout_text_add(it->out, "static void prepare(CUmodule module, int argc, char **argv) {\n"
                                "    (void)argc, (void)argv;\n");
        add_kernel(&h);
        put_arrays(&h, it->is_later);
        add_parameters(&h);
        grout_text_add(it->out, "%s", give_smem);
        if (plan.cluster_size > 8) {
            grout_text_add(it->out, "    check(cuFuncSetAttribute(kernel, "
                                    "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),\n"
                                    "          \"allow large clusters\");\n");
        }
        grout_text_add(it->out, "}\n");
        add_listed_launch(&h, line->is_dependent);
        grout_text_add(it->out, "} // namespace launch_%" PRIu32 "\n\n", id);
    }
    grout_gpu__plan_deinit(&plan);
    return ok;
}

static void add_list_main(const list *it, grout_launch_id count) {
    add_start(it->out, "");
    grout_text_add(it->out, "%s", load_arrays);
    for (grout_launch_id id = 1; id < count; id++) {
        grout_text_add(it->out, "    launch_%" PRIu32 "::prepare(module, argc, argv);\n", id);
    }
    for (grout_launch_id id = 1; id < count; id++) {
        grout_text_add(it->out, "    launch_%" PRIu32 "::launch();\n", id);
    }
    grout_text_add(it->out, "%s", end);
}

static bool add_list(list *it) {
    const grout_launch_id count = grout_module_get_launch_count(it->module);
    bool ok = true;
    for (grout_launch_id id = 1; id < count && ok; id++) { /* the table comes first, and whole */
        ok = number_arrays(it, grout_module_get_launch_kernel(it->module, id));
    }
    grout_text_add(it->out, "// Launches the list of launches: nvcc THIS.cpp -lcuda; by grout. The "
                            "cubin has all kernels.\n"
                            "// Arrays without a file are zeros, or what their init(..) says; "
                            "outputs without one are not kept.\n");
    grout_text_add(it->out, "%s%s", arrays_preamble, maps_preamble);
    grout_contents__add_functions(it->out);
    grout_text_add(it->out, "\n");
    add_list_arrays(it);
    it->array_count = 0;
    grout_lookup__deinit(&it->by_name);
    for (grout_launch_id id = 1; id < count && ok; id++) {
        ok = add_listed(it, id);
    }
    add_list_main(it, count);
    return ok;
}

bool grout_emit_host_list(const grout_module *bound, grout_text *out, grout_diags *diags) {
    const grout_allocator *allocator = grout_module_get_allocator(bound);
    const uint32_t count = grout_module_get_value_count(bound); /* more than there are parameters */
    list it = {.module = bound,
               .by_name = {.allocator = allocator},
               .arrays = grout__new(allocator, count, sizeof *it.arrays),
               .numbers = grout__new(allocator, count, sizeof *it.numbers),
               .is_later = grout__new(allocator, count, sizeof *it.is_later),
               .out = out,
               .diags = diags};
    bool ok = it.arrays != NULL && it.numbers != NULL && it.is_later != NULL;
    ok = ok ? add_list(&it) : grout_diags_add_oom(diags);
    grout__free(it.arrays);
    grout__free(it.numbers);
    grout_lookup__deinit(&it.by_name);
    grout__free(it.is_later);
    return ok && (!out->failed || grout_diags_add_oom(diags));
}
