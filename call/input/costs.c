/* costs.c - what a kernel issues and moves, in words.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A line is about what stands in a body itself: the kernel's, a part's, a loop's. Loops and parts
 * inside have lines of their own, branches count as if all were taken. Parts run beside each other,
 * and so do the engines; how long anything takes is not known here.
 */
#include "costs.h"

#include "grout-internal/verify.h"

#include <inttypes.h>

#define COLUMN_BYTES 512 /* of tensor memory: 128 lanes of 32 bits */

/* Bytes, and how many instructions move them. */
typedef struct traffic {
    int64_t bytes, count;
} traffic;

/* What one pass through a body issues. */
typedef struct cost {
    traffic loads, stores; /* TMA */
    traffic pieces;        /* cp.async */
    traffic to_tmem;       /* by the tensor core */
    traffic tmem_loads, tmem_stores;
    int64_t products;             /* instructions of the tensor core */
    int64_t flops;                /* both of a multiplication and an addition */
    bool is_of_pair;              /* those of both CTAs */
    int64_t arrivals;             /* of threads, and of the tensor core */
    int64_t waits, groups, meets; /* on barriers; for the thread's own groups; for all threads */
} cost;

typedef struct costs {
    const grout_module *module;
    grout_text *out;
} costs;

/* ---- operations ---- */

static void add_traffic(traffic *to, int64_t bytes, int64_t count) {
    to->bytes += bytes;
    to->count += count;
}

/* Bytes of the first operand that is a reference into a memory. */
static int64_t get_bytes(const grout_module *module, const grout_op *op, grout_space space) {
    grout_view view;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        if (grout_module_get_view(module, grout_module_get_operand(module, op, k), &view) &&
            grout_module_get_object(module, view.object)->space == space) {
            const grout_type *type = grout_object_get_type(module, view.object);
            const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
            return grout_view_get_count(&view) * info->bytes / grout_type_get_packed(type);
        }
    }
    return 0;
}

static void add_tma(const costs *it, grout_op_id id, traffic *to) {
    grout_tma tma;
    if (!grout_tma_plan(it->module, id, &tma, NULL)) {
        return;
    }
    const int64_t groups = tma.row_groups > 0 ? tma.row_groups : 1;
    const int64_t count = (int64_t)tma.panel_count * tma.band_count * groups;
    add_traffic(to, count * tma.box_bytes, tma.is_bulk ? 1 : count);
}

static void add_product(cost *to, const grout_wgmma *product, int64_t instructions, int64_t ctas) {
    const int64_t k = (int64_t)product->k * (product->is_sparse ? 2 : 1);
    to->products += instructions;
    to->flops += 2 * ctas * product->m * ctas * product->n * k;
    to->is_of_pair = to->is_of_pair || ctas > 1;
}

/* Whether the halves of 64 rows' columns, which lie in lanes of their own, are an instruction each.
 */
static bool has_halves(const costs *it, const grout_tcgen05 *plan) {
    const grout_type *type = grout_object_get_type(it->module, plan->object);
    return plan->ctas == 1 && type->dims[type->rank - 2] == 64 &&
           plan->columns == type->dims[type->rank - 1];
}

static void add_tensor_core(const costs *it, grout_op_id id, const grout_op *op, cost *to) {
    const grout_rule rule = (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
    grout_wgmma product;
    grout_tcgen05 tcgen05;
    grout_mma mma;
    if (rule == GROUT_RULE_WGMMA && grout_wgmma_plan(it->module, id, &product, NULL)) {
        add_product(to, &product, (int64_t)product.block_count * product.step_count, 1);
    } else if (rule == GROUT_RULE_TCGEN05 && grout_tcgen05_plan(it->module, id, &tcgen05, NULL)) {
        const int64_t parts = has_halves(it, &tcgen05) ? 2 : tcgen05.part_count;
        add_product(to, &tcgen05.product, parts * tcgen05.product.step_count, tcgen05.ctas);
    } else if (rule == GROUT_RULE_MMA && grout_mma_plan(it->module, id, &mma, NULL)) {
        to->products += (int64_t)mma.block_count * mma.column_count * mma.step_count;
        to->flops += 2 * (int64_t)mma.m * mma.n * mma.k;
    } else if (rule == GROUT_RULE_TCGEN05_COPY) {
        add_traffic(&to->to_tmem, get_bytes(it->module, op, GROUT_SPACE_SMEM), 1);
    }
}

/* What an engine is given to do. */
static void add_start(const costs *it, grout_op_id id, const grout_op *op, cost *to) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync->object == GROUT_SYNC_OBJECT_ASYNC_COPY) {
        add_traffic(&to->pieces, get_bytes(it->module, op, GROUT_SPACE_SMEM), 1);
    } else if (sync->object == GROUT_SYNC_OBJECT_TMEM_LOAD) {
        add_traffic(&to->tmem_loads, get_bytes(it->module, op, GROUT_SPACE_TMEM), 1);
    } else if (sync->object == GROUT_SYNC_OBJECT_TMEM_STORE) {
        add_traffic(&to->tmem_stores, get_bytes(it->module, op, GROUT_SPACE_TMEM), 1);
    } else if (grout_op_find_letter((grout_opcode)op->opcode, 'G') != UINT32_MAX) {
        add_tma(it, id, sync->object == GROUT_SYNC_OBJECT_BULK ? &to->stores : &to->loads);
    }
}

static bool is_barrier(const grout_sync_info *sync) {
    return sync->object == GROUT_SYNC_OBJECT_BARRIER ||
           sync->object == GROUT_SYNC_OBJECT_MBARRIER ||
           sync->object == GROUT_SYNC_OBJECT_ANY_BARRIER ||
           sync->object == GROUT_SYNC_OBJECT_SEMAPHORE || sync->object == GROUT_SYNC_OBJECT_CLUSTER;
}

static bool is_group(const grout_sync_info *sync) {
    return sync->object == GROUT_SYNC_OBJECT_BULK || sync->object == GROUT_SYNC_OBJECT_WGMMA ||
           sync->object == GROUT_SYNC_OBJECT_ASYNC_COPY ||
           sync->object == GROUT_SYNC_OBJECT_TMEM_LOAD ||
           sync->object == GROUT_SYNC_OBJECT_TMEM_STORE;
}

static void add_op(const costs *it, grout_op_id id, const grout_op *op, cost *to) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    add_tensor_core(it, id, op, to);
    if (sync == NULL) {
        return;
    }
    if (sync->mode == GROUT_SYNC_MODE_STARTS) {
        add_start(it, id, op, to);
    }
    to->arrivals += sync->mode == GROUT_SYNC_MODE_POSTS && is_barrier(sync);
    to->waits += sync->mode == GROUT_SYNC_MODE_WAITS && is_barrier(sync);
    to->groups += sync->mode == GROUT_SYNC_MODE_WAITS && is_group(sync);
    to->meets += sync->mode == GROUT_SYNC_MODE_MEETS && sync->object != GROUT_SYNC_OBJECT_OBJECTS;
}

static grout_region_kind get_region(const grout_op *op) {
    return (grout_region_kind)grout_op_get_region((grout_opcode)op->opcode)->kind;
}

static bool has_own_lines(const grout_op *op) {
    const grout_region_kind kind = get_region(op);
    return kind == GROUT_REGION_LOOP || kind == GROUT_REGION_PARTITIONS ||
           kind == GROUT_REGION_WARPS;
}

static void add_block(const costs *it, grout_block_id id, cost *to) {
    for (grout_op_id at = grout_module_get_block(it->module, id)->first; at != 0;) {
        const grout_op *op = grout_module_get_op(it->module, at);
        add_op(it, at, op, to);
        for (uint32_t k = 0; k < op->block_count && !has_own_lines(op); k++) {
            add_block(it, op->first_block + k, to);
        }
        at = op->next;
    }
}

/* ---- words ---- */

/* "1,048,576" */
static void add_number(grout_text *out, int64_t value) {
    if (value >= 1000) {
        add_number(out, value / 1000);
        grout_text_add(out, ",%03" PRId64, value % 1000);
    } else {
        grout_text_add(out, "%" PRId64, value);
    }
}

/* ", 3 waits"; nothing of none. */
static void add_count(grout_text *out, const char **join, int64_t count, const char *one,
                      const char *many) {
    if (count > 0) {
        grout_text_add(out, "%s", *join);
        add_number(out, count);
        grout_text_add(out, " %s", count == 1 ? one : many);
        *join = ", ";
    }
}

/* ", 16,384 bytes by TMA to SMEM (2 instructions)" */
static void add_bytes(grout_text *out, const char **join, const traffic *moved, const char *how,
                      const char *unit) {
    if (moved->count > 0) {
        grout_text_add(out, "%s", *join);
        add_number(out, moved->bytes);
        grout_text_add(out, " bytes %s (%" PRId64 " %s%s)", how, moved->count, unit,
                       moved->count == 1 ? "" : "s");
        *join = ", ";
    }
}

static void say(const costs *it, const char *where, uint32_t line, const cost *c) {
    const char *join = "";
    grout_text text = {0};
    add_bytes(&text, &join, &c->loads, "by TMA to SMEM", "instruction");
    add_bytes(&text, &join, &c->stores, "by TMA to GMEM", "instruction");
    add_bytes(&text, &join, &c->pieces, "by asynchronous copies of the lanes", "operation");
    add_bytes(&text, &join, &c->to_tmem, "from SMEM to tensor memory", "operation");
    add_bytes(&text, &join, &c->tmem_loads, "from tensor memory to registers", "operation");
    add_bytes(&text, &join, &c->tmem_stores, "from registers to tensor memory", "operation");
    if (c->products > 0) {
        add_count(&text, &join, c->products, "instruction of the tensor core",
                  "instructions of the tensor core");
        grout_text_add(&text, " (");
        add_number(&text, c->flops);
        grout_text_add(&text, " operations%s)", c->is_of_pair ? " of both CTAs" : "");
    }
    add_count(&text, &join, c->arrivals, "arrival", "arrivals");
    add_count(&text, &join, c->waits, "wait on barriers", "waits on barriers");
    add_count(&text, &join, c->groups, "wait for what the thread has started",
              "waits for what the thread has started");
    add_count(&text, &join, c->meets, "meeting of threads", "meetings of threads");
    if (text.size > 0) {
        grout_text_add(it->out, "  line %" PRIu32 ", %s: %s\n", line, where, text.data);
    }
    it->out->failed = it->out->failed || text.failed;
    grout_text_free(&text);
}

static void say_block(const costs *it, grout_block_id id, const char *where, uint32_t line);

static void say_nested(const costs *it, grout_block_id id) {
    for (grout_op_id at = grout_module_get_block(it->module, id)->first; at != 0;) {
        const grout_op *op = grout_module_get_op(it->module, at);
        const grout_region_kind kind = get_region(op);
        for (uint32_t k = 0; k < op->block_count; k++) {
            const grout_block_id block = op->first_block + k;
            const grout_op *first =
                grout_module_get_op(it->module, grout_module_get_block(it->module, block)->first);
            const bool is_loop = kind == GROUT_REGION_LOOP;
            if (has_own_lines(op)) {
                say_block(it, block,
                          is_loop                      ? "each turn"
                          : kind == GROUT_REGION_WARPS ? "each warp"
                                                       : "a part, once",
                          grout_module_get_place(it->module, is_loop ? op->loc : first->loc).line);
            } else {
                say_nested(it, block);
            }
        }
        at = op->next;
    }
}

static void say_block(const costs *it, grout_block_id id, const char *where, uint32_t line) {
    cost c = {0};
    add_block(it, id, &c);
    say(it, where, line, &c);
    say_nested(it, id);
}

static void say_kernel(const costs *it, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(it->module, id);
    const int64_t columns =
        grout_kernel_get_space_bytes(it->module, id, GROUT_SPACE_TMEM) / COLUMN_BYTES;
    grout_text body = {0};
    const costs inside = {it->module, &body};
    say_block(&inside, kernel->body, "each thread, once",
              grout_module_get_place(it->module, kernel->loc).line);
    if (body.size > 0 || columns > 0) {
        grout_text_add(it->out, "@%s issues, in each CTA:\n",
                       grout_module_get_string(it->module, kernel->name));
        if (columns > 0) {
            grout_text_add(it->out, "  %" PRId64 " of the 512 columns of tensor memory\n", columns);
        }
        grout_text_add(it->out, "%s", body.size > 0 ? body.data : "");
    }
    it->out->failed = it->out->failed || body.failed;
    grout_text_free(&body);
}

void grout_costs__note(grout_session *session, const grout_load *load) {
    grout_text text = {0};
    const costs it = {load->bound, &text};
    for (size_t i = 0; session->is_verbose && i < load->kernel_count; i++) {
        say_kernel(&it, load->kernels[i]);
    }
    grout_session__flush_prose(session, GROUT_STREAM_ERR, &text, 4);
}
