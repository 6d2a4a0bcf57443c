/* layout.c - inference of register layouts, one pass over what connects values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>

grout_gpu_layout grout_gpu__make_strided(int64_t count, uint32_t vec_max) {
    uint32_t vec = vec_max == 0 ? 1 : vec_max;
    if (count % GROUT_GPU_LANES == 0) {
        while (count % (int64_t)(GROUT_GPU_LANES * vec) != 0) {
            vec /= 2;
        }
    } else {
        while (count % vec != 0) {
            vec /= 2;
        }
    }
    const int64_t round = (int64_t)GROUT_GPU_LANES * vec;
    const int64_t rounds = (count + round - 1) / round;
    return (grout_gpu_layout){.kind = GROUT_GPU_LAYOUT_STRIDED,
                              .vec = (uint8_t)vec,
                              .is_guarded = count % round != 0,
                              .registers = (uint32_t)(rounds * vec),
                              .count = count};
}

bool grout_gpu__is_exchange(const grout_gpu_layout *from, const grout_gpu_layout *to) {
    return from->kind == GROUT_GPU_LAYOUT_STRIDED && to->kind == GROUT_GPU_LAYOUT_STRIDED &&
           from->count != to->count;
}

/* What memory says about a class of connected values. */
typedef struct vec_wish {
    uint8_t cap;  /* 16 bytes over the widest element moved; 0: nothing is moved */
    uint8_t best; /* widest access that any of its references permits */
} vec_wish;

typedef struct inference {
    const grout_module *module;
    grout_gpu_layout *layouts;
    grout_value_id *parents; /* union-find over strided values */
    vec_wish *wishes;        /* by root */
    int64_t exchange_bytes;
    bool is_changed;
    grout_diags *diags;
} inference;

static bool is_array(const grout_module *module, grout_value_id value) {
    return grout_module_get_type(module, value)->kind == GROUT_TYPE_ARRAY;
}

static bool is_strided(const inference *inf, grout_value_id value) {
    return inf->layouts[value].kind == GROUT_GPU_LAYOUT_STRIDED;
}

/* Every array starts as a splat of its count. */
static void begin_values(inference *inf, grout_value_id first, uint32_t count) {
    for (grout_value_id value = first; value < first + count; value++) {
        if (is_array(inf->module, value)) {
            inf->layouts[value] = (grout_gpu_layout){
                .kind = GROUT_GPU_LAYOUT_SPLAT,
                .vec = 1,
                .registers = 1,
                .count = grout_type_get_count(grout_module_get_type(inf->module, value))};
        }
    }
}

static bool begin_op(void *payload, grout_op_id id, const grout_op *op) {
    inference *inf = payload;
    (void)id;
    begin_values(inf, op->first_result, op->result_count);
    for (uint32_t k = 0; k < op->block_count; k++) {
        const grout_block *block = grout_module_get_block(inf->module, op->first_block + k);
        begin_values(inf, block->first_arg, block->arg_count);
    }
    return true;
}

/* The two things done with 'to takes its elements from operand'. */
typedef void edge_action(inference *inf, const grout_operand *from, grout_value_id to);

/* A value made from an array whose elements differ has elements that differ. */
static void spread_strided(inference *inf, const grout_operand *from, grout_value_id to) {
    if (from->kind == GROUT_OPERAND_VALUE && is_strided(inf, from->id) && !is_strided(inf, to) &&
        inf->layouts[to].kind == GROUT_GPU_LAYOUT_SPLAT && inf->layouts[to].count > 1) {
        inf->layouts[to].kind = GROUT_GPU_LAYOUT_STRIDED;
        inf->is_changed = true;
    }
}

static grout_value_id find_root(inference *inf, grout_value_id value) {
    while (inf->parents[value] != value) {
        inf->parents[value] = inf->parents[inf->parents[value]];
        value = inf->parents[value];
    }
    return value;
}

static void join_strided(inference *inf, const grout_operand *from, grout_value_id to) {
    if (from->kind == GROUT_OPERAND_VALUE && is_strided(inf, from->id) && is_strided(inf, to) &&
        inf->layouts[from->id].count == inf->layouts[to].count) {
        inf->parents[find_root(inf, from->id)] = find_root(inf, to);
    }
}

/* What a block yields as its k-th value. */
static const grout_operand *get_yield(const grout_module *module, grout_block_id block,
                                      uint32_t k) {
    const grout_op *yield =
        grout_module_get_op(module, grout_module_get_block(module, block)->last);
    return grout_module_get_operand(module, yield, k);
}

static void visit_region_edges(inference *inf, const grout_op *op, edge_action *act) {
    for (uint32_t k = 0; k < op->result_count; k++) {
        const grout_value_id result = op->first_result + k;
        if (op->opcode != GROUT_OP_FOR) {
            for (uint32_t b = 0; b < op->block_count; b++) {
                act(inf, get_yield(inf->module, op->first_block + b, k), result);
            }
            continue;
        }
        const grout_block *body = grout_module_get_block(inf->module, op->first_block);
        const grout_operand carry = {.kind = GROUT_OPERAND_VALUE, .id = body->first_arg + 1 + k};
        act(inf, grout_module_get_operand(inf->module, op, 3 + k), carry.id);
        act(inf, get_yield(inf->module, op->first_block, k), carry.id);
        act(inf, &carry, result);
    }
}

static void visit_edges(inference *inf, const grout_op *op, edge_action *act) {
    switch ((grout_form)grout_op_get_info((grout_opcode)op->opcode)->form) {
    case GROUT_FORM_UNARY:
    case GROUT_FORM_BINARY:
    case GROUT_FORM_COMPARE:
    case GROUT_FORM_TERNARY:
    case GROUT_FORM_SELECT:
    case GROUT_FORM_CONVERT:
    case GROUT_FORM_BROADCAST:
        for (uint32_t k = 0; k < op->operand_count; k++) {
            act(inf, grout_module_get_operand(inf->module, op, k), op->first_result);
        }
        return;
    case GROUT_FORM_FOR:
    case GROUT_FORM_IF:
    case GROUT_FORM_SCOPED:
        visit_region_edges(inf, op, act);
        return;
    case GROUT_FORM_NONE:
    case GROUT_FORM_MATH: /* to come */
    case GROUT_FORM_LAYOUT:
    case GROUT_FORM_REDUCE:
    case GROUT_FORM_WGMMA:
    case GROUT_FORM_WHILE:
    case GROUT_FORM_COND:
    case GROUT_FORM_IOTA:
    case GROUT_FORM_AXIS:
    case GROUT_FORM_LOAD:
    case GROUT_FORM_STORE:
    case GROUT_FORM_BARRIER:
    case GROUT_FORM_FENCE:
    case GROUT_FORM_COPY_IN:
    case GROUT_FORM_COPY_OUT:
    case GROUT_FORM_WAIT:
    case GROUT_FORM_PRINT:
    case GROUT_FORM_SCRATCH:
    case GROUT_FORM_YIELD:
    case GROUT_FORM_COUNT:
        return;
    }
}

static bool spread_op(void *payload, grout_op_id id, const grout_op *op) {
    inference *inf = payload;
    (void)id;
    if (op->opcode == GROUT_OP_LOAD || op->opcode == GROUT_OP_IOTA) {
        grout_gpu_layout *layout = &inf->layouts[op->first_result];
        if (layout->kind == GROUT_GPU_LAYOUT_SPLAT && layout->count > 1) {
            layout->kind = GROUT_GPU_LAYOUT_STRIDED;
            inf->is_changed = true;
        }
    }
    visit_edges(inf, op, spread_strided);
    return true;
}

static bool join_op(void *payload, grout_op_id id, const grout_op *op) {
    (void)id;
    visit_edges(payload, op, join_strided);
    return true;
}

static bool wish_op(void *payload, grout_op_id id, const grout_op *op) {
    inference *inf = payload;
    grout_value_id value = 0;
    grout_view view;
    (void)id;
    if (op->opcode == GROUT_OP_LOAD) {
        value = op->first_result;
    } else if (op->opcode == GROUT_OP_STORE) {
        const grout_operand *operand = grout_module_get_operand(inf->module, op, 1);
        value = operand->kind == GROUT_OPERAND_VALUE ? operand->id : 0;
    }
    if (value == 0 || !is_strided(inf, value) ||
        !grout_module_get_view(inf->module, grout_module_get_operand(inf->module, op, 0), &view)) {
        return true;
    }
    vec_wish *wish = &inf->wishes[find_root(inf, value)];
    const grout_type *type = grout_module_get_type(inf->module, value);
    const uint32_t cap =
        GROUT_GPU_ACCESS_BYTES_MAX / grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    const uint32_t width = grout_gpu__get_access_width(inf->module, &view);
    wish->cap = wish->cap == 0 || cap < wish->cap ? (uint8_t)cap : wish->cap;
    wish->best = width > wish->best ? (uint8_t)width : wish->best;
    return true;
}

static bool settle_values(inference *inf, grout_value_id first, uint32_t count) {
    for (grout_value_id value = first; value < first + count; value++) {
        if (!is_strided(inf, value)) {
            continue;
        }
        const vec_wish *wish = &inf->wishes[find_root(inf, value)];
        const grout_type *type = grout_module_get_type(inf->module, value);
        const uint32_t bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
        const uint32_t vec = wish->cap == 0 ? 4 : wish->cap < wish->best ? wish->cap : wish->best;
        grout_gpu_layout *layout = &inf->layouts[value];
        *layout = grout_gpu__make_strided(layout->count, vec);
        if ((int64_t)layout->registers * bytes > GROUT_GPU_ARRAY_BYTES_MAX) {
            const grout_value *entry = grout_module_get_value(inf->module, value);
            const char *name = grout_module_get_string(inf->module, entry->name);
            grout_diags_add(
                inf->diags, GROUT_DIAG_GPU_UNSUPPORTED,
                grout_module_get_place(inf->module, entry->loc),
                "the array %s%s of %" PRId64 " elements takes %" PRId64
                " bytes of each lane's registers; a lane has 1020, the backend takes %d",
                name[0] == '\0' ? "" : "%", name, layout->count, (int64_t)layout->registers * bytes,
                GROUT_GPU_ARRAY_BYTES_MAX);
            grout_diags_help(inf->diags, "work in smaller blocks, in a loop or with more threads");
            return false;
        }
    }
    return true;
}

static bool settle_op(void *payload, grout_op_id id, const grout_op *op) {
    inference *inf = payload;
    (void)id;
    if (!settle_values(inf, op->first_result, op->result_count)) {
        return false;
    }
    for (uint32_t k = 0; k < op->block_count; k++) {
        const grout_block *block = grout_module_get_block(inf->module, op->first_block + k);
        if (!settle_values(inf, block->first_arg, block->arg_count)) {
            return false;
        }
    }
    return true;
}

static bool measure_op(void *payload, grout_op_id id, const grout_op *op) {
    inference *inf = payload;
    (void)id;
    if (op->opcode != GROUT_OP_BROADCAST) {
        return true;
    }
    const grout_operand *from = grout_module_get_operand(inf->module, op, 0);
    if (from->kind == GROUT_OPERAND_VALUE &&
        grout_gpu__is_exchange(&inf->layouts[from->id], &inf->layouts[op->first_result])) {
        const grout_type *type = grout_module_get_type(inf->module, from->id);
        int64_t bytes =
            inf->layouts[from->id].count * grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
        bytes = (bytes + 15) / 16 * 16;
        inf->exchange_bytes = bytes > inf->exchange_bytes ? bytes : inf->exchange_bytes;
    }
    return true;
}

grout_gpu_layout *grout_gpu__infer_layouts(const grout_module *module, grout_kernel_id kernel,
                                           int64_t *exchange_bytes_out, grout_diags *diags) {
    const grout_block_id body = grout_module_get_kernel(module, kernel)->body;
    const uint32_t count = grout_module_get_value_count(module);
    inference inf = {.module = module, .diags = diags};
    inf.layouts = calloc((size_t)count + 1, sizeof *inf.layouts);
    inf.parents = calloc((size_t)count + 1, sizeof *inf.parents);
    inf.wishes = calloc((size_t)count + 1, sizeof *inf.wishes);
    bool is_done = inf.layouts != NULL && inf.parents != NULL && inf.wishes != NULL;
    if (!is_done) {
        grout_diags_add_oom(diags);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            inf.parents[i] = i;
        }
        grout_gpu__walk(module, body, begin_op, &inf);
        do {
            inf.is_changed = false;
            grout_gpu__walk(module, body, spread_op, &inf);
        } while (inf.is_changed);
        grout_gpu__walk(module, body, join_op, &inf);
        grout_gpu__walk(module, body, wish_op, &inf);
        is_done = grout_gpu__walk(module, body, settle_op, &inf);
        grout_gpu__walk(module, body, measure_op, &inf);
    }
    *exchange_bytes_out = inf.exchange_bytes;
    free(inf.parents);
    free(inf.wishes);
    if (!is_done) {
        free(inf.layouts);
        return NULL;
    }
    return inf.layouts;
}
