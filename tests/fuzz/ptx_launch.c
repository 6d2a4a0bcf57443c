/* ptx_launch.c - see ptx_launch.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_launch.h"

#include "ptx/text/module.h"

#include <string.h>

enum {
    PARAMETERS_MAX = 4096, /* bytes */
    SCALAR_BYTES = 16,     /* of a parameter that is no struct */
    ARRAY_BYTES = 32768,
    DYNAMIC_SHARED_BYTES = 16384,
    THREADS = 128,
    CTAS = 4,
    REGISTERS_MAX = 4096,
    STEPS_MAX = 8000
};
#define VARIABLES_MAX UINT64_C(4000000) /* bytes */

bool ptx_launch_is_small(const grout_ptx_module *module) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < module->variables.count; i++) {
        bytes += module->variables.items[i].size + module->variables.items[i].align;
    }
    return bytes <= VARIABLES_MAX && module->registers.count <= REGISTERS_MAX;
}

/* An array of small numbers in every type: each byte is 0 to 3, each fourth one 0x3f. */
static uint64_t add_array(grout_ptx_memory *memory) {
    uint8_t contents[ARRAY_BYTES];
    for (uint32_t i = 0; i < ARRAY_BYTES; i++) {
        contents[i] = i % 4 == 3 ? 0x3f : (uint8_t)(i / 4 % 4);
    }
    return grout_ptx_memory_add(memory, contents, sizeof contents);
}

/* Whether an instruction has a word, or is of an op. */
static bool uses(const grout_ptx_module *module, ptx_word_id word, ptx_op op) {
    for (size_t i = 0; i < module->insts.count; i++) {
        const ptx_inst *inst = &module->insts.items[i];
        if (inst->op == op || (word != PTX_WORD_NONE && grout_ptx__has_word(module, inst, word))) {
            return true;
        }
    }
    return false;
}

/* A tensor of f16 with as many dimensions as the text's first copies have: 64 by 8 by 2.. */
static grout_ptx_tensor make_tensor(const grout_ptx_module *module, uint32_t index) {
    grout_ptx_tensor tensor = {.type = 6, /* f16 */
                               .rank = 2,
                               .swizzle = index % 4,
                               .dims = {64, 8, 2, 2, 2},
                               .strides_bytes = {128, 1024, 2048, 4096},
                               .box = {16, 4, 2, 1, 1},
                               .element_strides = {1, 1, 1, 1, 1},
                               .is_im2col = uses(module, PTX_WORD_IM2COL, PTX_OP_NONE),
                               .channels_per_pixel = 16,
                               .pixels_per_column = 8};
    for (uint32_t rank = 1; rank <= 5; rank++) {
        if (uses(module, (ptx_word_id)(PTX_WORD_D1 + rank - 1), PTX_OP_NONE)) {
            tensor.rank = rank;
            break;
        }
    }
    tensor.rank = tensor.is_im2col && tensor.rank < 3 ? 3 : tensor.rank;
    return tensor;
}

/* False without memory. */
static bool set_parameter(const grout_ptx_launch *launch, uint32_t index, uint8_t *at, size_t size,
                          grout_diags *diags) {
    if (size == sizeof(uint64_t)) {
        const uint64_t address = add_array(launch->memory);
        memcpy(at, &address, sizeof address);
        return address != 0 &&
               grout_ptx_memory_set_elements(launch->memory, address, GROUT_PTX_ELEMENTS_F32);
    }
    if (size == GROUT_PTX_TENSOR_MAP_BYTES) {
        grout_ptx_tensor tensor = make_tensor(launch->module, index);
        tensor.address = add_array(launch->memory);
        return tensor.address != 0 && grout_ptx_encode_tensor(&tensor, at, diags);
    }
    if (size > 0 && size <= SCALAR_BYTES) {
        at[0] = (uint8_t)(index + 2);
    }
    return true;
}

/* ---- launches that no program would ask for -------------------------------------------------- */

typedef struct dice {
    uint64_t state;
} dice;

static uint64_t draw(dice *d, uint64_t below) {
    d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (d->state >> 33) % below;
}

static uint32_t draw_size(dice *d) {
    static const uint32_t sizes[] = {0,       1,         2,        3,         5,     7,
                                     16,      32,        1024,     1025,      65535, 65536,
                                     1 << 24, INT32_MAX, 1u << 31, UINT32_MAX};
    /* Mostly a size that a GPU takes, so that something runs. */
    return sizes[draw(d, draw(d, 3) != 0 ? 6 : sizeof sizes / sizeof sizes[0])];
}

/* A launch of any size, with arguments of any bytes; its arrays are where they were. */
static void make_hostile(grout_ptx_launch *launch, uint8_t *parameters, uint64_t number) {
    dice d = {number};
    for (uint32_t i = 0; i < 3; i++) {
        launch->grid[i] = draw(&d, 2) == 0 ? launch->grid[i] : draw_size(&d);
        launch->block[i] = draw(&d, 3) != 0 ? launch->block[i] : draw_size(&d);
        launch->cluster[i] = draw(&d, 3) != 0 ? launch->cluster[i] : draw_size(&d);
    }
    if (draw(&d, 3) == 0) {
        static const uint32_t bytes[] = {0, 1, 4096, 232448, 232449, 1u << 30, UINT32_MAX};
        launch->dynamic_shared_bytes = bytes[draw(&d, sizeof bytes / sizeof bytes[0])];
    }
    /* The parameters lie in an array of PARAMETERS_MAX: none is read outside. */
    for (uint64_t k = draw(&d, 4); k > 0 && launch->parameter_bytes > 0; k--) {
        uint8_t *at = parameters + draw(&d, launch->parameter_bytes);
        static const uint8_t odd[] = {0, 1, 2, 4, 0x7f, 0x80, 0xff};
        *at = draw(&d, 2) == 0 ? (uint8_t)(*at + 1) : odd[draw(&d, sizeof odd)];
    }
    if (draw(&d, 8) == 0) {
        launch->parameter_bytes = draw(&d, PARAMETERS_MAX);
    }
    launch->max_steps = draw(&d, 4) == 0 ? 1 + draw(&d, 100) : launch->max_steps;
}

/* As many threads as the entry says, or as are drawn. */
static void choose_block(const grout_ptx_module *module, const char *name, uint64_t number,
                         uint32_t block_out[3]) {
    block_out[0] = number % 2 == 0 ? THREADS : THREADS / 3;
    for (size_t i = 0; i < module->functions.count; i++) {
        const ptx_function *function = &module->functions.items[i];
        if (function->is_entry && function->needed_threads[0] > 0 &&
            strcmp(grout_ptx__get_name(module, function->name), name) == 0) {
            memcpy(block_out, function->needed_threads, sizeof function->needed_threads);
        }
    }
}

static ptx_launch_end run_with(grout_ptx_launch *launch, grout_diags *diags) {
    uint8_t parameters[PARAMETERS_MAX] = {0};
    size_t offset = 0, bytes = 0;
    for (uint32_t i = 0;
         grout_ptx_module_get_parameter(launch->module, launch->entry, i, &offset, &bytes); i++) {
        if (bytes > PARAMETERS_MAX || offset > PARAMETERS_MAX - bytes ||
            !set_parameter(launch, i, parameters + offset, bytes, diags)) {
            return PTX_LAUNCH_NONE;
        }
    }
    launch->parameters = parameters;
    launch->parameter_bytes = offset + bytes;
    if (launch->seed % 4 == 3) {
        make_hostile(launch, parameters, launch->seed);
    }
    grout_ptx_result result = {0};
    return grout_ptx_launch_run(launch, &result, diags) ? PTX_LAUNCH_DONE : PTX_LAUNCH_FAILED;
}

ptx_launch_end ptx_launch_run(const grout_ptx_module *module, const char *name, uint64_t number,
                              grout_diags *diags) {
    grout_ptx_launch launch = {.module = module,
                               .entry = name,
                               .memory = grout_ptx_memory_new(),
                               .grid = {CTAS, 1, 1},
                               .dynamic_shared_bytes = DYNAMIC_SHARED_BYTES,
                               .seed = number,
                               .timing = (grout_ptx_timing)(number / 2 % 3),
                               .finds_races = number / 6 % 2 == 1,
                               .max_steps = STEPS_MAX};
    choose_block(module, name, number, launch.block);
    if (uses(module, PTX_WORD_NONE, PTX_OP_MAPA)) {
        launch.cluster[0] = CTAS;
    }
    const ptx_launch_end end = launch.memory == NULL ? PTX_LAUNCH_NONE : run_with(&launch, diags);
    grout_ptx_memory_free(launch.memory);
    return end;
}
