/* emit_pick.c - loads and stores by indices, and with a mask.
 *
 * Each lane goes through its elements of the array: the index and the mask's bit of an element lie
 * in the registers beside it. Indices of slices, one for many elements, go through the exchange
 * area to the lanes that need them, as -1 where the mask of their shape is false.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "grout-internal/verify.h"

#include <inttypes.h>

static const grout_operand *get_operand(const grout_emitter *e, const grout_emit_pick *p,
                                        uint32_t operand) {
    return grout_module_get_operand(e->module, p->op, operand);
}

static bool is_spread(const grout_emitter *e, const grout_emit_pick *p, uint32_t operand) {
    return operand != 0 && grout_emit__is_spread(e, get_operand(e, p, operand));
}

static const grout_register_layout *get_layout(const grout_emitter *e, const grout_emit_pick *p,
                                               uint32_t operand) {
    return grout_emit__layout(e, get_operand(e, p, operand)->id);
}

/* That of the value that is written, or of what lies beside it; any where all are equal. */
static const grout_register_layout *find_layout(const grout_emitter *e, const grout_emit_pick *p,
                                                grout_register_layout *made) {
    const uint32_t operands[] = {p->pick.value, p->pick.is_along ? 0 : p->pick.indices,
                                 p->pick.is_mask_along ? 0 : p->pick.mask};
    for (uint32_t i = 0; !p->has_groups && i < sizeof operands / sizeof operands[0]; i++) {
        if (is_spread(e, p, operands[i])) {
            return get_layout(e, p, operands[i]);
        }
    }
    if (p->pick.type.kind != GROUT_TYPE_ARRAY) {
        return NULL;
    }
    const int64_t count = grout_type_get_count(&p->pick.type);
    *made = p->fills
                ? grout_emit__deal_out(e, count, p->width)
                : grout_register_layout_make_strided(
                      e->warps, count, grout_pick_get_access_width(e->module, &p->pick, &p->view));
    return made;
}

static bool describe(grout_emitter *e, const grout_op *op, grout_emit_pick *p) {
    *p = (grout_emit_pick){.op = op, .width = 1};
    if (!grout_op_get_pick(e->module, op, &p->pick) ||
        !grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), &p->view)) {
        grout_emit__unsupported(e, op, "operand 1 is not a reference to memory");
        return false;
    }
    p->fills = p->pick.destination != 0;
    p->is_exchanged =
        p->pick.is_along && (is_spread(e, p, p->pick.indices) ||
                             (p->pick.is_mask_along && is_spread(e, p, p->pick.mask)));
    return true;
}

static void set_width(grout_emitter *e, grout_emit_pick *p, uint32_t most) {
    const uint32_t access = grout_pick_get_access_width(e->module, &p->pick, &p->view);
    const uint32_t run = p->layout == NULL ? 1 : grout_emit__get_run(p->layout);
    p->width = access < run ? access : run;
    p->width = p->width < most ? p->width : most;
}

/* ---- indices ---- */

static void add_operand(grout_emitter *e, const grout_emit_pick *p, uint32_t operand) {
    grout_emit__operand(e, get_operand(e, p, operand), p->layout == NULL ? NULL : "reg");
}

/* Every lane's indices of slices to the exchange area. */
static void share_indices(grout_emitter *e, grout_op_id id, const grout_emit_pick *p) {
    const bool has_mask = p->pick.is_mask_along;
    const grout_register_layout *layout = is_spread(e, p, p->pick.indices)
                                              ? get_layout(e, p, p->pick.indices)
                                              : get_layout(e, p, p->pick.mask);
    if (!grout_emit__check_exchange(e, id, layout->count * 4)) {
        return;
    }
    grout_emit__before_access(e, 0, true);
    grout_emit__open_owners(e, layout);
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__open_element(e, layout, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_store_smem<grout_i32>(exchange + ");
    grout_emit__flat(e, layout);
    grout_emit__add(e, " * 4, ");
    if (has_mask) {
        grout_emit__operand(e, get_operand(e, p, p->pick.mask), "reg");
        grout_emit__add(e, " ? ");
    }
    grout_emit__operand(e, get_operand(e, p, p->pick.indices), "reg");
    grout_emit__end(e, "%s);", has_mask ? " : -1" : "");
    grout_emit__close_registers(e, layout);
    grout_emit__close_owners(e, layout);
    grout_emit__after_access(e, 0, true);
}

/* Each piece's index, or -1 where the mask is false, from the lane that holds its first element. */
static void share_groups(grout_emitter *e, const grout_emit_pick *p,
                         const grout_register_layout *layout) {
    const bool has_mask = p->pick.mask != 0 && !p->pick.is_mask_along;
    grout_emit__before_access(e, 0, true);
    grout_emit__open_owners(e, layout);
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__open_element(e, layout, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "if (");
    grout_emit__flat(e, layout);
    grout_emit__add(e, " %% %" PRIu32 " == 0)", p->width);
    grout_emit__open(e);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_store_smem<grout_i32>(exchange + %" PRId64 " + ", p->groups_at);
    grout_emit__flat(e, layout);
    grout_emit__add(e, " / %" PRIu32 " * 4, ", p->width);
    if (has_mask) {
        grout_emit__operand(e, get_operand(e, p, p->pick.mask), "reg");
        grout_emit__add(e, " ? ");
    }
    if (p->pick.indices != 0 && !p->pick.is_along) {
        grout_emit__operand(e, get_operand(e, p, p->pick.indices), "reg");
    } else {
        grout_emit__add(e, "0");
    }
    grout_emit__end(e, "%s);", has_mask ? " : -1" : "");
    grout_emit__close(e, "");
    grout_emit__close_registers(e, layout);
    grout_emit__close_owners(e, layout);
    grout_emit__after_access(e, 0, true);
}

/* The pieces of a copy: as wide as they can be, and if the lanes that hold what decides about an
 * element do not hold that of a whole piece, through the exchange area. */
static void deal_pieces(grout_emitter *e, grout_op_id id, grout_emit_pick *p,
                        grout_register_layout *made) {
    const uint32_t bytes = grout_dtype_get_info((grout_dtype)p->pick.type.dtype)->bytes;
    p->width = grout_get_piece_bytes(e->module, id) / bytes;
    p->layout = find_layout(e, p, made);
    if (p->layout == NULL || p->layout == made || grout_emit__get_run(p->layout) >= p->width) {
        return;
    }
    const grout_type indices =
        p->is_exchanged
            ? grout_module_get_operand_type(e->module, get_operand(e, p, p->pick.indices))
            : (grout_type){.rank = 0};
    p->groups_at = p->is_exchanged ? (grout_type_get_count(&indices) * 4 + 15) / 16 * 16 : 0;
    p->has_groups = true;
    const int64_t groups = grout_type_get_count(&p->pick.type) / p->width;
    if (grout_emit__check_exchange(e, id, p->groups_at + groups * 4)) {
        share_groups(e, p, p->layout);
    }
    p->layout = find_layout(e, p, made);
}

/* "const grout_i32 x5 = idx[reg];": the index at this place. */
static uint32_t declare_index(grout_emitter *e, const grout_emit_pick *p) {
    const uint32_t number = e->temp_count++;
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_i32 x%" PRIu32 " = ", number);
    if (p->is_exchanged) {
        grout_emit__add(e, "grout_load_smem<grout_i32>(exchange + (");
        grout_emit__index(e, grout_emit__get_at(p->layout), &p->pick.type, p->pick.dim);
        grout_emit__add(e, ") * 4)");
    } else {
        add_operand(e, p, p->pick.indices);
    }
    grout_emit__end(e, ";");
    return number;
}

/* The starts of a view at one element: what is counted is added to them. */
static void move_start(grout_emitter *e, grout_view *at, uint32_t dim, uint32_t number) {
    at->start_terms[dim][at->start_term_count[dim]++] = grout_emit__make_start(e, dim, number);
    at->extent[dim] = 1;
}

/* The view's starts become one name where the index needs their place in the list. */
static void join_starts(grout_emitter *e, grout_view *at, uint32_t dim) {
    if (at->start_term_count[dim] < GROUT_VIEW_TERMS_MAX) {
        return;
    }
    const uint32_t number = e->temp_count++;
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_i32 x%" PRIu32 " = ", number);
    grout_emit__start(e, at, dim);
    grout_emit__end(e, ";");
    at->start_const[dim] = 0;
    at->start_term_count[dim] = 0;
    move_start(e, at, dim, number);
}

/* The view whose first element is the one that this place of the array means. */
static grout_view place_view(grout_emitter *e, const grout_emit_pick *p, uint32_t index) {
    const grout_pick *pick = &p->pick;
    grout_view at = p->view;
    for (uint32_t k = 0; k < pick->ref_rank; k++) {
        const uint32_t dim = at.view_dim[k];
        const bool is_index = pick->indices != 0 && k == pick->dim;
        if (!is_index && (at.extent[dim] == 1 || p->layout == NULL)) {
            at.extent[dim] = 1;
            continue;
        }
        uint32_t number = index;
        if (!is_index) {
            number = e->temp_count++;
            grout_emit__begin(e);
            grout_emit__add(e, "const grout_i32 x%" PRIu32 " = (grout_i32)(", number);
            grout_emit__index(e, grout_emit__get_at(p->layout), &pick->type, k);
            grout_emit__end(e, ");");
        }
        join_starts(e, &at, dim);
        move_start(e, &at, dim, number);
    }
    return at;
}

/* ---- the place of an element ---- */

void grout_emit__touched(grout_emitter *e, const grout_emit_pick *p) {
    if (p->pick.is_mask_along && p->is_exchanged) {
        grout_emit__add(e, "x%" PRIu32 " >= 0", p->index);
    } else if (p->has_groups) {
        grout_emit__add(e, "x%" PRIu32 " >= 0", p->group);
    } else {
        add_operand(e, p, p->pick.mask);
    }
}

/* Opens the block of an element that is touched, if not all are. */
static bool open_touched(grout_emitter *e, const grout_emit_pick *p) {
    if (p->pick.mask == 0 || p->fills) {
        return false;
    }
    grout_emit__begin(e);
    grout_emit__add(e, "if (");
    grout_emit__touched(e, p);
    grout_emit__add(e, ")");
    grout_emit__open(e);
    return true;
}

static void begin_place(grout_emitter *e, grout_emit_pick *p) {
    if (p->has_groups) {
        p->group = e->temp_count++;
        grout_emit__line(e,
                         "const grout_i32 x%" PRIu32 " = grout_load_smem<grout_i32>(exchange + "
                         "%" PRId64 " + flat / %" PRIu32 " * 4);",
                         p->group, p->groups_at, p->width);
    }
    if (p->has_groups && !p->is_exchanged) {
        p->index = p->group;
    } else {
        p->index = p->pick.indices == 0 ? 0 : declare_index(e, p);
    }
}

/* ---- loads ---- */

static const char *get_memory_name(const grout_emitter *e, const grout_view *view) {
    const bool is_gmem =
        grout_space_is_of_launch(grout_module_get_object(e->module, view->object)->space);
    return grout_emit__is_peer(view) ? "peer" : is_gmem ? "gmem" : "smem";
}

static void add_load(grout_emitter *e, const grout_emit_pick *p, const grout_view *at) {
    const char *type = grout_emit__memory_type((grout_dtype)p->pick.type.dtype);
    grout_emit__add(e, "grout_load_%s<", get_memory_name(e, at));
    if (p->width > 1) {
        grout_emit__add(e, "grout_vector<%s, %" PRIu32 ">>(", type, p->width);
    } else {
        grout_emit__add(e, "%s>(", type);
    }
    grout_emit__address(e, at, GROUT_EMIT_AT_FIRST);
    grout_emit__add(e, ")");
}

static void read_place(grout_emitter *e, const grout_emit_pick *p, grout_value_id value,
                       uint32_t index) {
    const char *to_bool = grout_emit__dtype(e, value) == GROUT_DTYPE_BOOL ? " != 0" : "";
    const grout_view at = place_view(e, p, index);
    grout_emit__prepare_address(e, &at, GROUT_EMIT_AT_FIRST);
    grout_emit__begin(e);
    if (p->width > 1) {
        grout_emit__add(e, "const auto chunk = ");
        add_load(e, p, &at);
        grout_emit__end(e, ";");
        grout_emit__read_chunk(e, value, p->width, to_bool);
        return;
    }
    grout_emit__add(e, "%s%s = ", grout_emit__name(e, value), p->layout == NULL ? "" : "[reg]");
    add_load(e, p, &at);
    grout_emit__end(e, "%s;", to_bool);
}

static void clear_place(grout_emitter *e, const grout_emit_pick *p, grout_value_id value) {
    for (uint32_t i = 0; i < p->width; i++) {
        grout_emit__begin(e);
        grout_emit__add(e, "%s", grout_emit__name(e, value));
        if (p->layout != NULL) {
            grout_emit__add(e, i == 0 ? "[reg]" : "[reg + %" PRIu32 "]", i);
        }
        grout_emit__add(e, " = ");
        grout_emit__constant(e, grout_emit__dtype(e, value), 0);
        grout_emit__end(e, ";");
    }
}

static void read_element(grout_emitter *e, grout_emit_pick *p, grout_value_id value) {
    begin_place(e, p);
    const bool is_open = open_touched(e, p);
    read_place(e, p, value, p->index);
    if (is_open) {
        grout_emit__close(e, " else {");
        e->indent++;
        clear_place(e, p, value);
        grout_emit__close(e, "");
    }
}

static void read_picks(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_value_id value = op->first_result;
    grout_emit_pick p;
    if (!describe(e, op, &p)) {
        return;
    }
    if (p.is_exchanged) {
        share_indices(e, id, &p);
        grout_emit__before_access(e, 0, false);
    }
    grout_emit__before_access(e, p.view.object, false);
    if (!grout_emit__has_registers(grout_emit__layout(e, value))) {
        grout_emit__declare(e, value);
        grout_emit__end(e, ";");
        read_element(e, &p, value);
    } else {
        p.layout = grout_emit__layout(e, value);
        set_width(e, &p, GROUT_WIDE_BYTES_MAX);
        grout_emit__declare_elements(e, value);
        grout_emit__open_registers(e, p.layout->registers, p.width);
        grout_emit__open_element(e, p.layout, p.width);
        read_element(e, &p, value);
        grout_emit__close_registers(e, p.layout);
    }
    if (p.is_exchanged) {
        grout_emit__after_access(e, 0, false);
    }
    grout_emit__after_access(e, p.view.object, false);
}

void grout_emit__gather(grout_emitter *e, grout_op_id id, const grout_op *op) {
    read_picks(e, id, op);
}

void grout_emit__masked_load(grout_emitter *e, grout_op_id id, const grout_op *op) {
    read_picks(e, id, op);
}

/* ---- stores ---- */

static void write_element(grout_emitter *e, grout_emit_pick *p, grout_emit_picked *act) {
    begin_place(e, p);
    const bool is_open = open_touched(e, p);
    const grout_view at = place_view(e, p, p->index);
    grout_emit__prepare_address(e, &at, GROUT_EMIT_AT_FIRST);
    if (p->width > 1 && !p->fills) {
        grout_emit__write_chunk(e, get_operand(e, p, p->pick.value),
                                (grout_dtype)p->pick.type.dtype, p->width);
    }
    act(e, p, &at);
    if (is_open) {
        grout_emit__close(e, "");
    }
}

void grout_emit__write_picks(grout_emitter *e, grout_op_id id, const grout_op *op,
                             uint32_t width_max, grout_emit_picked *act) {
    grout_register_layout made;
    grout_emit_pick p;
    if (!describe(e, op, &p)) {
        return;
    }
    if (p.is_exchanged) {
        share_indices(e, id, &p);
    }
    if (p.fills) {
        deal_pieces(e, id, &p, &made);
    } else {
        p.layout = find_layout(e, &p, &made);
        set_width(e, &p, width_max);
    }
    if (p.is_exchanged || p.has_groups) {
        grout_emit__before_access(e, 0, false);
    }
    grout_emit__before_access(e, p.view.object, !p.fills);
    if (p.layout == NULL) {
        grout_emit__open_issuer(e);
        write_element(e, &p, act);
        grout_emit__close_issuer(e);
    } else {
        grout_emit__open_owners(e, p.layout);
        grout_emit__open_registers(e, p.layout->registers, p.width);
        grout_emit__open_element(e, p.layout, p.width);
        write_element(e, &p, act);
        grout_emit__close_registers(e, p.layout);
        grout_emit__close_owners(e, p.layout);
    }
    if (p.is_exchanged || p.has_groups) {
        grout_emit__after_access(e, 0, false);
    }
    if (!p.fills) {
        grout_emit__after_access(e, p.view.object, true);
    }
}

static void store_place(grout_emitter *e, const grout_emit_pick *p, const grout_view *at) {
    grout_emit__begin(e);
    grout_emit__add(e, "grout_store_%s(", get_memory_name(e, at));
    grout_emit__address(e, at, GROUT_EMIT_AT_FIRST);
    grout_emit__add(e, ", ");
    if (p->width > 1) {
        grout_emit__add(e, "chunk");
    } else {
        grout_emit__element(e, get_operand(e, p, p->pick.value), (grout_dtype)p->pick.type.dtype,
                            p->layout == NULL ? NULL : "reg");
    }
    grout_emit__end(e, ");");
}

void grout_emit__scatter(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__write_picks(e, id, op, GROUT_WIDE_BYTES_MAX, store_place);
}

void grout_emit__masked_store(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__write_picks(e, id, op, GROUT_WIDE_BYTES_MAX, store_place);
}
