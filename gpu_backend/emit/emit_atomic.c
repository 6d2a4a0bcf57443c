/* emit_atomic.c - atomics on GMEM and SMEM, also of other CTAs.
 *
 * Each element once: a lane of several that hold the same one does it (open_owners). f32, f16 and
 * bf16 of GMEM go several at a time where the reference lets them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

/* An atomic on a reference: "grout_atomic_add_gmem<GROUT_GPU>(". */
typedef struct atomic {
    const grout_op *op;
    const grout_operand *from; /* the value */
    grout_view view;
    const char *name;  /* "atomic_add" */
    const char *space; /* "gmem" */
    grout_dtype dtype;
} atomic;

static bool describe(grout_emitter *e, const grout_op *op, atomic *a) {
    *a = (atomic){.op = op,
                  .name = grout_op_get_info((grout_opcode)op->opcode)->text,
                  .from = grout_module_get_operand(e->module, op, 1)};
    if (!grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), &a->view)) {
        grout_emit__unsupported(e, op, "operand 1 is not a reference to memory");
        return false;
    }
    const bool is_gmem =
        grout_space_is_of_launch(grout_module_get_object(e->module, a->view.object)->space);
    a->space = is_gmem ? "gmem" : grout_emit__is_peer(&a->view) ? "peer" : "smem";
    a->dtype = (grout_dtype)grout_object_get_type(e->module, a->view.object)->dtype;
    return true;
}

/* SMEM is the cluster's at most. */
static const char *get_scope_name(const grout_emitter *e, const atomic *a) {
    const char *fallback = a->space[0] == 'g'          ? "GROUT_GPU"
                           : e->plan->cluster_size > 1 ? "GROUT_CLUSTER"
                                                       : "GROUT_CTA";
    return grout_emit__get_scope_name(
        FIELD(ATOMIC_SCOPE, grout_emit__get_scope(e, a->op, fallback, "GROUT_CTA")));
}

static const char *get_order_name(const grout_emitter *e, const atomic *a) {
    static const char relaxed[] = "GROUT_RELAXED";
    return FIELD_OR(ATOMIC_ORDER, grout_emit__choice(e, a->op, GROUT_ATTR_ORDER, relaxed), relaxed);
}

/* A pointer or an address in bytes. */
static void add_place(grout_emitter *e, const atomic *a, const grout_view *view, grout_emit_at at) {
    grout_emit__address(e, view, at);
    FIELD_STEP(e, ATOMIC_ADDRESS, a->space[0] == 'g' ? 1 : grout_dtype_get_info(a->dtype)->bytes);
}

/* ---- arrays ---- */

/* How many elements one instruction takes at most. */
static uint32_t get_most(const atomic *a) {
    const bool is_float = a->dtype == GROUT_DTYPE_F32 || grout_emit__is_half(a->dtype);
    return is_float && a->space[0] == 'g'
               ? GROUT_WIDE_BYTES_MAX / grout_dtype_get_info(a->dtype)->bytes
               : 1;
}

/* How many elements one instruction takes of this many in a row. */
static uint32_t get_width(const grout_emitter *e, const atomic *a,
                          const grout_register_layout *layout) {
    const uint32_t access = grout_view_get_access_width(e->module, &a->view);
    const uint32_t run = grout_emit__get_run(layout);
    const uint32_t width = access < run ? access : run;
    return width < get_most(a) ? width : get_most(a);
}

static void begin_call(grout_emitter *e, const atomic *a, grout_emit_at at) {
    grout_emit__begin(e);
    grout_emit__add(e, "grout_%s_%s<%s>(", a->name, a->space, get_scope_name(e, a));
    add_place(e, a, &a->view, at);
    grout_emit__add(e, ", ");
}

static void write_one(grout_emitter *e, const atomic *a) {
    grout_emit__open_issuer(e);
    grout_emit__prepare_address(e, &a->view, GROUT_EMIT_AT_FIRST);
    begin_call(e, a, GROUT_EMIT_AT_FIRST);
    grout_emit__element(e, a->from, a->dtype, NULL);
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
}

static void write_array(grout_emitter *e, const atomic *a, const grout_register_layout *layout) {
    const grout_emit_at at = grout_emit__get_at(layout);
    const uint32_t width = get_width(e, a, layout);
    grout_emit__open_owners(e, layout);
    grout_emit__open_registers(e, layout->registers, width);
    grout_emit__open_element(e, layout, width);
    grout_emit__prepare_address(e, &a->view, at);
    if (width > 1) {
        grout_emit__write_chunk(e, a->from, a->dtype, width);
    }
    begin_call(e, a, at);
    if (width > 1) {
        grout_emit__add(e, "chunk");
    } else {
        grout_emit__element(e, a->from, a->dtype, "reg");
    }
    grout_emit__end(e, ");");
    grout_emit__close_registers(e, layout);
    grout_emit__close_owners(e, layout);
}

static void update(grout_emitter *e, const grout_op *op) {
    atomic a;
    if (!describe(e, op, &a)) {
        return;
    }
    const int64_t count = grout_emit__count_elements(&a.view);
    grout_emit__before_access(e, a.view.object, true);
    if (grout_emit__is_spread(e, a.from)) {
        write_array(e, &a, grout_emit__layout(e, a.from->id));
    } else if (count == 1) {
        write_one(e, &a);
    } else {
        const grout_register_layout layout = grout_register_layout_make_strided(
            e->warps, count, grout_view_get_access_width(e->module, &a.view));
        write_array(e, &a, &layout);
    }
    grout_emit__after_access(e, a.view.object, true);
}

/* ---- one element, with what it held before ---- */

/* One lane does it for all, so that it happens once; all have what it held. */
static void fetch(grout_emitter *e, const grout_op *op) {
    atomic a;
    if (!describe(e, op, &a)) {
        return;
    }
    if (grout_op_get_choice(e->module, op, GROUT_ATTR_ORDER) != GROUT_CHOICE_NONE) {
        grout_emit__before_issue(e, "one lane releases for all");
    } else {
        grout_emit__before_access(e, a.view.object, true);
    }
    grout_emit__prepare_address(e, &a.view, GROUT_EMIT_AT_FIRST);
    grout_emit__begin_uniform(e, op->first_result);
    grout_emit__add(e, "grout_%s_%s<%s, %s>(", a.name, a.space, get_order_name(e, &a),
                    get_scope_name(e, &a));
    add_place(e, &a, &a.view, GROUT_EMIT_AT_FIRST);
    for (uint32_t k = 1; k < op->operand_count; k++) {
        grout_emit__add(e, ", ");
        grout_emit__operand(e, grout_module_get_operand(e->module, op, k), NULL);
    }
    grout_emit__add(e, ")");
    grout_emit__end_uniform(e, op->first_result);
}

/* ---- by indices ---- */

/* "grout_atomic_add_gmem<GROUT_GPU>(address, value);" for atomic_scatter_add, and so on. */
static void update_place(grout_emitter *e, const grout_emit_pick *p, const grout_view *at) {
    static const char prefix[] = "atomic_scatter_";
    const bool returns = p->op->opcode == GROUT_OP_ATOMIC_SCATTER_EXCHANGE; /* by name: no red */
    atomic a;
    if (!describe(e, p->op, &a)) {
        return;
    }
    grout_emit__begin(e);
    grout_emit__add(e, "%sgrout_atomic_%s_%s<%s%s>(", returns ? "(void)" : "",
                    a.name + sizeof prefix - 1, a.space, returns ? "GROUT_RELAXED, " : "",
                    get_scope_name(e, &a));
    add_place(e, &a, at, GROUT_EMIT_AT_FIRST);
    grout_emit__add(e, ", ");
    if (p->width > 1) {
        grout_emit__add(e, "chunk");
    } else {
        grout_emit__element(e, grout_module_get_operand(e->module, p->op, p->pick.value), a.dtype,
                            p->layout == NULL ? NULL : "reg");
    }
    grout_emit__end(e, ");");
}

static void scatter(grout_emitter *e, grout_op_id id, const grout_op *op) {
    atomic a;
    if (describe(e, op, &a)) {
        grout_emit__write_picks(e, id, op, get_most(&a), update_place);
    }
}

/* ---- arrays, with what they held before ---- */

/* "grout_atomic_fetch_add_gmem<GROUT_RELAXED, GROUT_GPU>(address, v[reg])" */
static void add_fetch(grout_emitter *e, const atomic *a, grout_emit_at at) {
    grout_emit__add(e, "grout_%s_%s<%s, %s>(", a->name, a->space, get_order_name(e, a),
                    get_scope_name(e, a));
    add_place(e, a, &a->view, at);
    grout_emit__add(e, ", ");
    grout_emit__element(e, a->from, a->dtype, "reg");
    grout_emit__add(e, ")");
}

/* Each element once. Where several lanes hold it, one of them tells the others. */
static void fetch_array(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_value_id value = op->first_result;
    const grout_register_layout *layout = grout_emit__layout(e, value);
    const bool is_shared = grout_register_layouts_get_exchange_bytes(e->plan->layouts, id) > 0;
    atomic a;
    if (!describe(e, op, &a)) {
        return;
    }
    grout_emit__before_access(e, a.view.object, true);
    if (is_shared) {
        grout_emit__before_access(e, 0, true);
    } else {
        grout_emit__declare_elements(e, value);
    }
    grout_emit__open_owners(e, layout);
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__open_element(e, layout, 1);
    grout_emit__prepare_address(e, &a.view, grout_emit__get_at(layout));
    grout_emit__begin(e);
    if (is_shared) {
        grout_emit__add(e, "grout_store_smem(exchange + (");
        grout_emit__flat(e, layout);
        grout_emit__add(e, " * 4), ");
    } else {
        grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, value));
    }
    add_fetch(e, &a, grout_emit__get_at(layout));
    grout_emit__end(e, is_shared ? ");" : ";");
    grout_emit__close_registers(e, layout);
    grout_emit__close_owners(e, layout);
    grout_emit__after_access(e, a.view.object, true);
    if (is_shared) {
        grout_emit__after_access(e, 0, true);
        grout_emit__read_exchange(e, value);
    }
}

void grout_emit__atomic(grout_emitter *e, grout_op_id id, const grout_op *op) {
    if (op->result_count > 0 &&
        grout_emit__has_registers(grout_emit__layout(e, op->first_result))) {
        fetch_array(e, id, op);
    } else if (grout_op_takes_picks((grout_opcode)op->opcode)) {
        scatter(e, id, op);
    } else if (op->result_count == 0) {
        update(e, op);
    } else {
        fetch(e, op);
    }
}
