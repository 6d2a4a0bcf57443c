/* emit_print.c - debug_print as printf: the issuer prints the line, each lane its elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "visible.h"

#include <inttypes.h>
#include <string.h>

/* printf's conversion of an element, and the type that it is cast to (NULL: as it is). */
static const char *get_conversion(grout_dtype dtype, const char **cast_out) {
    *cast_out = NULL;
    switch ((grout_dtype_class)grout_dtype_get_info(dtype)->class_) {
    case GROUT_CLASS_BOOL:
        *cast_out = "grout_i32";
        return "%d";
    case GROUT_CLASS_SINT:
        *cast_out = "grout_i64";
        return "%lld";
    case GROUT_CLASS_UINT:
        *cast_out = "grout_u64";
        return "%llu";
    case GROUT_CLASS_FLOAT:
        *cast_out = "grout_f64";
        return dtype == GROUT_DTYPE_F64 ? "%.17g" : "%.9g";
    case GROUT_CLASS_NONE:
        break;
    }
    return "?";
}

static void add_escaped(grout_emitter *e, char byte) {
    if (byte == '%') {
        grout_emit__add(e, "%%%%");
    } else if (byte == '"' || byte == '\\') {
        grout_emit__add(e, "\\%c", byte);
    } else if ((unsigned char)byte < 0x20 || (unsigned char)byte >= 0x7f) {
        grout_emit__add(e, "\\%03o", (unsigned)(unsigned char)byte);
    } else {
        grout_emit__add(e, "%c", byte);
    }
}

void grout_emit__format(grout_emitter *e, const char *text, size_t size) {
    grout_text shown = {.allocator = grout_module_get_allocator(e->module)};
    grout_visible__add_print(&shown, text, size);
    if (shown.failed) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
    }
    for (size_t i = 0; i < shown.size && !shown.failed; i++) {
        add_escaped(e, shown.data[i]);
    }
    grout_text_free(&shown);
}

static grout_dtype get_dtype(const grout_emitter *e, const grout_operand *operand) {
    return operand->kind == GROUT_OPERAND_EXPR ? grout_module_get_operand_dtype(e->module, operand)
                                               : grout_emit__dtype(e, operand->id);
}

const char *grout_emit__conversion(grout_emitter *e, const grout_operand *operand) {
    const char *cast;
    return get_conversion(get_dtype(e, operand), &cast);
}

void grout_emit__printed(grout_emitter *e, const grout_operand *operand, const char *index) {
    const char *cast;
    (void)get_conversion(get_dtype(e, operand), &cast);
    grout_emit__add(e, "grout_cast<%s>(", cast);
    grout_emit__operand(e, operand, index);
    grout_emit__add(e, ")");
}

/* The text; each {} becomes a conversion, or the type of an array, whose elements follow. */
static void add_format(grout_emitter *e, const grout_op *op, const char *text) {
    for (uint32_t next = 1; *text != '\0'; next++) {
        const char *hole = next < op->operand_count ? strstr(text, "{}") : NULL;
        size_t size = hole == NULL ? strlen(text) : (size_t)(hole - text);
        grout_emit__format(e, text, size);
        if (hole == NULL) {
            break;
        }
        text = hole + 2;
        const grout_operand *operand = grout_module_get_operand(e->module, op, next);
        if (grout_emit__is_spread(e, operand)) {
            grout_emit__add(e, "<array>");
        } else {
            grout_emit__add(e, "%s", grout_emit__conversion(e, operand));
        }
    }
}

static void print_elements(grout_emitter *e, const grout_operand *operand) {
    const grout_register_layout *layout = grout_emit__layout(e, operand->id);
    const char *cast;
    const char *conversion = get_conversion(get_dtype(e, operand), &cast);
    grout_emit__open_owners(e, layout);
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__open_element(e, layout, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "printf(\"  %s[%%u] = %s\\n\", ", grout_emit__name(e, operand->id),
                    conversion);
    grout_emit__flat(e, layout);
    grout_emit__add(e, ", grout_cast<%s>(", cast);
    grout_emit__operand(e, operand, "reg");
    grout_emit__end(e, "));");
    grout_emit__close_registers(e, layout);
    grout_emit__close_owners(e, layout);
}

void grout_emit__debug_print(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__open_issuer(e);
    grout_emit__begin(e);
    grout_emit__add(e, "printf(\"cta %%u thread %%u: ");
    add_format(e, op,
               grout_module_get_string(e->module, grout_module_get_operand(e->module, op, 0)->id));
    grout_emit__add(e, "\\n\", blockIdx.x, thread");
    for (uint32_t k = 1; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(e->module, op, k);
        if (!grout_emit__is_spread(e, operand)) {
            grout_emit__add(e, ", ");
            grout_emit__printed(e, operand, NULL);
        }
    }
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
    for (uint32_t k = 1; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(e->module, op, k);
        if (grout_emit__is_spread(e, operand)) {
            print_elements(e, operand);
        }
    }
}

/* ---- print_layout ---- */

static const char INDEX_NAMES[GROUT_RANK_MAX + 1] = "ijklmnop"; /* of an array, by dimension */

/* "wgmma (32 a lane)": the layout of a value, and its registers. */
static void add_layout(const grout_emitter *e, const grout_operand *operand, grout_text *out) {
    const grout_register_layout *layout =
        operand->kind == GROUT_OPERAND_VALUE ? grout_emit__layout(e, operand->id) : NULL;
    if (layout == NULL || layout->kind == GROUT_LAYOUT_NONE) {
        grout_text_add(out, "scalar");
        return;
    }
    grout_text_add(out, "%s",
                   grout_register_layout_get_text((grout_register_layout_kind)layout->kind));
    if (layout->kind == GROUT_LAYOUT_TILED) {
        grout_text_add(out, " by %u x %u", layout->tiling->rows, layout->tiling->cols);
    }
    if (layout->kind == GROUT_LAYOUT_STRIDED) {
        grout_text_add(out, " in runs of %u", layout->vec);
    }
    grout_text_add(out, " (%" PRIu32 " a lane)", layout->registers);
}

/* ", where 128 goes to 144, 256 to 288": bytes of one bit that a layout of its own sends elsewhere;
 * the others go where their bits do. */
static void add_images(const grout_layout *layout, grout_text *out) {
    const char *join = ", where ";
    for (uint32_t bit = 0; bit < layout->address_bits; bit++) {
        const uint32_t byte = UINT32_C(1) << bit;
        if (layout->images[bit] != byte) {
            grout_text_add(out, "%s%" PRIu32 "%s %" PRIu32, join, byte,
                           join[2] == 'w' ? " goes to" : " to", layout->images[bit]);
            join = ", ";
        }
    }
}

/* "1024 * (i / 8) + 128 * (i % 8) + 2 * j": the byte of element [i, j] before the swizzle. A
 * divisor of the last dimension counts bytes where elements are packed. */
static void add_byte(const grout_emitter *e, const grout_view *view, grout_text *out) {
    const grout_layout *layout = grout_object_get_layout(e->module, view->object);
    const char *plus = "";
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        const uint32_t dim = layout->dim[k];
        const char name = INDEX_NAMES[dim];
        const int64_t extent = grout_object_get_extent(e->module, view->object, dim);
        const int64_t divisor =
            layout->divisor[k] * (dim + 1u == view->rank ? (int64_t)view->packed : 1);
        const bool is_last = layout->divisor[k] * layout->extent[k] >= extent;
        if (layout->extent[k] == 1) {
            continue;
        }
        grout_text_add(out, "%s", plus);
        plus = " + ";
        if (layout->stride[k] != 1) {
            grout_text_add(out, "%" PRId64 " * ", layout->stride[k]);
        }
        if (divisor == 1 && is_last) {
            grout_text_add(out, "%c", name);
        } else if (is_last) {
            grout_text_add(out, "(%c / %" PRId64 ")", name, divisor);
        } else if (divisor == 1) {
            grout_text_add(out, "(%c %% %" PRId64 ")", name, layout->extent[k]);
        } else {
            grout_text_add(out, "(%c / %" PRId64 " %% %" PRId64 ")", name, divisor,
                           layout->extent[k]);
        }
    }
    grout_text_add(out, "%s", plus[0] == '\0' ? "0" : "");
    if (layout->swizzle != 0) {
        grout_text_add(out, ", swizzle(%" PRIu32 ")", layout->swizzle);
    }
    add_images(layout, out);
}

static bool is_whole(const grout_emitter *e, const grout_view *view) {
    bool whole = view->view_rank == view->rank;
    for (uint32_t k = 0; k < view->rank; k++) {
        whole = whole && view->view_dim[k] == k && view->start_term_count[k] == 0 &&
                view->extent[k] == grout_object_get_extent(e->module, view->object, k);
    }
    return whole;
}

/* "[j: 8, i: 64] from byte 1024 of ": the dimensions of a part, each by its index of the array, and
 * where it begins if that is known. */
static void add_part(const grout_emitter *e, const grout_view *view, grout_text *out) {
    bool is_known = true;
    for (uint32_t k = 0; k < view->rank; k++) {
        is_known = is_known && view->start_term_count[k] == 0;
    }
    grout_text_add(out, "[");
    for (uint32_t k = 0; k < view->view_rank; k++) {
        const uint32_t dim = view->view_dim[k];
        grout_text_add(out, "%s%c: %" PRId64, k == 0 ? "" : ", ", INDEX_NAMES[dim],
                       view->extent[dim] * (dim + 1u == view->rank ? (int64_t)view->packed : 1));
    }
    grout_text_add(out, "]");
    if (is_known) {
        grout_text_add(out, " from byte %" PRId64,
                       grout_layout_get_offset(grout_object_get_layout(e->module, view->object),
                                               view->start_const));
    }
    grout_text_add(out, " of ");
}

/* "f16[64, 64] in bytes 0 to 8191 of SMEM, [i, j] at byte 128 * i + 2 * j": an array or a part of
 * one. */
static void add_memory(const grout_emitter *e, const grout_view *view, grout_text *out) {
    const grout_type *type = grout_object_get_type(e->module, view->object);
    const int64_t first = grout_object_get_offset(e->module, view->object);
    const int64_t bytes = grout_object_get_layout(e->module, view->object)->bytes;
    if (!is_whole(e, view)) {
        add_part(e, view, out);
    }
    grout_text_add(out, "%s[", grout_dtype_get_info((grout_dtype)type->dtype)->text);
    for (uint32_t k = 0; k < type->rank; k++) {
        grout_text_add(out, "%s%" PRId64, k == 0 ? "" : ", ", type->dims[k]);
    }
    grout_text_add(out, "] in bytes %" PRId64 " to %" PRId64 " of SMEM, ", first,
                   first + bytes - 1);
    grout_tiling tiling;
    if (grout_object_get_inferred_tiling(e->module, view->object, &tiling)) {
        grout_text_add(out, "%s by tile(infer), ", grout_tiling_get_text(&tiling).chars);
    }
    grout_text_add(out, "[");
    for (uint32_t k = 0; k < type->rank; k++) {
        grout_text_add(out, "%s%c", k == 0 ? "" : ", ", INDEX_NAMES[k]);
    }
    grout_text_add(out, "] at byte ");
    add_byte(e, view, out);
}

/* What a {} of a print_layout becomes. */
static void add_shown(const grout_emitter *e, const grout_operand *operand, grout_text *out) {
    grout_view view;
    if ((operand->kind == GROUT_OPERAND_VALUE || operand->kind == GROUT_OPERAND_REF) &&
        grout_module_get_view(e->module, operand, &view)) {
        add_memory(e, &view, out);
    } else {
        add_layout(e, operand, out);
    }
}

void grout_emit__print_layout(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const char *text =
        grout_module_get_string(e->module, grout_module_get_operand(e->module, op, 0)->id);
    grout_text line = {.allocator = grout_module_get_allocator(e->module)};
    uint32_t next = 1;
    (void)id;
    for (const char *p = text; *p != '\0'; p++) {
        if (p[0] == '{' && p[1] == '}' && next < op->operand_count) {
            add_shown(e, grout_module_get_operand(e->module, op, next++), &line);
            p++;
        } else {
            grout_text_add(&line, "%c", *p);
        }
    }
    if (line.failed) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
    } else {
        grout_diags_add(e->diags, GROUT_DIAG_REGISTER_LAYOUT,
                        grout_module_get_place(e->module, op->loc), "%s",
                        line.data == NULL ? "" : line.data);
    }
    grout_text_free(&line);
}
