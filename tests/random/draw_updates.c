/* draw_updates.c - elements that atomics update, in GMEM and in SMEM, with and without the old
 * value, and that copies reduce into: atomics of the op table by their effects, reductions by the
 * choices of 'reduce', so that a new one is drawn from then on.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Several CTAs update the same elements only where their order makes no difference.
 */
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>

#define CELLS 8 /* elements that give back what they held */

typedef enum way { WAY_GMEM, WAY_SMEM, WAY_COPY, WAY_OLD, WAY_COUNT } way;

typedef struct updates {
    draw d;
    grout_text scratch;
    uint32_t ctas, number; /* of the part */
    uint32_t rows;
} updates;

static const char *get_text(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->text;
}

static bool is_integer(grout_dtype dtype) {
    return dtype == GROUT_DTYPE_I32 || dtype == GROUT_DTYPE_U32;
}

static bool is_atomic(const grout_op_info *info) {
    uint32_t count = 0;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    return count > 0 && effects[0].access == GROUT_ACCESS_ATOMIC;
}

/* One of the atomics that return the old value, or of those that do not; none by indices. */
static grout_opcode draw_atomic(draw *d, bool has_result) {
    grout_opcode found[GROUT_OP_COUNT];
    uint32_t count = 0;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        const grout_op_info *info = grout_op_get_info((grout_opcode)i);
        if (is_atomic(info) && (info->results > 0) == has_result &&
            !grout_op_takes_picks((grout_opcode)i)) {
            found[count++] = (grout_opcode)i;
        }
    }
    return found[draw_below(d, count)];
}

static grout_choice draw_choice(draw *d, grout_attr attr) {
    grout_choice found[GROUT_CHOICE_COUNT];
    uint32_t count = 0;
    for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
        if (grout_choice_get_info((grout_choice)i)->attr == attr) {
            found[count++] = (grout_choice)i;
        }
    }
    return found[draw_below(d, count)];
}

/* " scope(..)" that reaches all CTAs, or for one CTA's elements any; or nothing. */
static const char *draw_scope(draw *d, bool is_shared, char *text, size_t size) {
    const grout_choice scope = draw_choice(d, GROUT_ATTR_SCOPE);
    const bool is_wide = scope != GROUT_CHOICE_SCOPE_CTA && scope != GROUT_CHOICE_SCOPE_CLUSTER;
    text[0] = '\0';
    if (draw_below(d, 2) == 0 && (is_wide || !is_shared)) {
        (void)snprintf(text, size, " scope(%s)", grout_choice_get_info(scope)->text);
    }
    return text;
}

/* Floats only where hardware has them, and where no order decides how they round. */
static grout_dtype draw_atomic_dtype(draw *d, grout_opcode opcode, bool is_gmem) {
    static const grout_dtype integers[] = {GROUT_DTYPE_I32, GROUT_DTYPE_U32};
    static const grout_dtype halves[] = {GROUT_DTYPE_F16, GROUT_DTYPE_BF16};
    const bool has_halves = opcode == GROUT_OP_ATOMIC_ADD || opcode == GROUT_OP_ATOMIC_MAX ||
                            opcode == GROUT_OP_ATOMIC_MIN;
    const uint32_t kind = draw_below(d, 4);
    if (kind == 0 && has_halves && is_gmem) {
        return halves[draw_below(d, 2)];
    }
    return kind == 1 && opcode == GROUT_OP_ATOMIC_ADD ? GROUT_DTYPE_F32
                                                      : integers[draw_below(d, 2)];
}

static grout_dtype draw_reduced_dtype(draw *d, grout_choice choice) {
    static const grout_dtype dtypes[] = {GROUT_DTYPE_I32, GROUT_DTYPE_U32, GROUT_DTYPE_F16,
                                         GROUT_DTYPE_BF16, GROUT_DTYPE_F32};
    switch ((int)choice) {
    case GROUT_CHOICE_REDUCE_ADD:
        return dtypes[draw_below(d, 5)];
    case GROUT_CHOICE_REDUCE_MIN:
    case GROUT_CHOICE_REDUCE_MAX:
        return dtypes[draw_below(d, 4)];
    case GROUT_CHOICE_REDUCE_INC:
    case GROUT_CHOICE_REDUCE_DEC:
        return GROUT_DTYPE_U32;
    default:
        return dtypes[draw_below(d, 2)];
    }
}

/* ---- the parts ------------------------------------------------------------------------------- */

static uint32_t get_columns(grout_dtype dtype) {
    return 64u / grout_dtype_get_info(dtype)->bytes;
}

/* An array of a tile for each CTA, or of one for all. */
static uint32_t add_tiles(updates *u, const char *direction, grout_dtype dtype, bool is_shared) {
    char type[64];
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", get_text(dtype),
                   is_shared ? 1 : u->ctas, u->rows, get_columns(dtype));
    return draw_param(&u->d, direction, type);
}

/* "%a<part>": what comes to the elements; of the CTA, or the same for all. */
static void add_value(updates *u, grout_dtype dtype, bool is_same) {
    const uint32_t from = add_tiles(u, "in", dtype, is_same);
    draw_line(&u->d, "%%a%" PRIu32 " = load %%p%" PRIu32 "[%s]", u->number, from,
              is_same ? "0" : "%x");
}

static void add_gmem(updates *u) {
    draw *d = &u->d;
    char scope[32];
    const bool is_shared = draw_below(d, 2);
    grout_opcode opcode = draw_atomic(d, false);
    const grout_dtype dtype = draw_atomic_dtype(d, opcode, true);
    const bool is_for_all = is_shared && is_integer(dtype);
    const uint32_t to = add_tiles(u, "inout", dtype, is_for_all), times = 1 + draw_below(d, 3);
    add_value(u, dtype, false);
    for (uint32_t i = 0; i < (is_integer(dtype) ? times : 1); i++) {
        draw_line(d, "%s %%p%" PRIu32 "[%s], %%a%" PRIu32 "%s", grout_op_get_info(opcode)->text, to,
                  is_for_all ? "0" : "%x", u->number,
                  draw_scope(d, is_for_all, scope, sizeof scope));
        opcode = is_for_all ? opcode : draw_atomic(d, false);
    }
}

static void add_smem(updates *u) {
    draw *d = &u->d;
    char scope[32];
    const grout_opcode opcode = draw_atomic(d, false);
    const grout_dtype dtype = draw_atomic_dtype(d, opcode, false);
    const uint32_t first = add_tiles(u, "in", dtype, false), to = add_tiles(u, "out", dtype, false);
    grout_text_add(&u->scratch, "  scratch %%s%" PRIu32 " : smem %s[%" PRIu32 ", %" PRIu32 "]\n",
                   u->number, get_text(dtype), u->rows, get_columns(dtype));
    add_value(u, dtype, false);
    draw_line(d, "store %%s%" PRIu32 ", (load %%p%" PRIu32 "[%%x])", u->number, first);
    draw_line(d, "%s %%s%" PRIu32 ", %%a%" PRIu32 "%s", grout_op_get_info(opcode)->text, u->number,
              u->number, draw_scope(d, false, scope, sizeof scope));
    draw_line(d, "store %%p%" PRIu32 "[%%x], (load %%s%" PRIu32 ")", to, u->number);
}

/* Several copies of one thread come in any order, as those of several CTAs do. */
static void add_copy(updates *u) {
    draw *d = &u->d;
    const grout_choice choice = draw_choice(d, GROUT_ATTR_REDUCE);
    const grout_dtype dtype = draw_reduced_dtype(d, choice);
    const bool is_shared = is_integer(dtype) && draw_below(d, 2);
    const bool is_counting = choice == GROUT_CHOICE_REDUCE_INC || choice == GROUT_CHOICE_REDUCE_DEC;
    const uint32_t times = is_integer(dtype) ? 1 + draw_below(d, 3) : 1;
    const bool is_open = draw_below(d, 2);
    const uint32_t to = add_tiles(u, "inout", dtype, is_shared);
    grout_text_add(&u->scratch, "  scratch %%s%" PRIu32 " : smem %s[%" PRIu32 ", %" PRIu32 "]\n",
                   u->number, get_text(dtype), u->rows, get_columns(dtype));
    add_value(u, dtype, is_counting);
    draw_line(d, "store %%s%" PRIu32 ", %%a%" PRIu32, u->number, u->number);
    draw_line(d, "commit_smem");
    for (uint32_t i = 0; i < times; i++) {
        draw_line(d, "copy_smem_to_gmem %%s%" PRIu32 ", %%p%" PRIu32 "[%s]%s reduce(%s)", u->number,
                  to, is_shared ? "0" : "%x", is_open ? " no_commit_group" : "",
                  grout_choice_get_info(choice)->text);
    }
    if (is_open) {
        draw_line(d, "commit_group");
    }
}

/* An old value decides whether a compare and swap finds what it expects. */
static void add_old(updates *u) {
    draw *d = &u->d;
    char type[64], scope[32], operands[96];
    const grout_dtype dtype = draw_below(d, 2) ? GROUT_DTYPE_I32 : GROUT_DTYPE_U32;
    (void)snprintf(type, sizeof type, "%s[%" PRIu32 ", %d]", get_text(dtype), u->ctas, CELLS);
    const uint32_t cells = draw_param(d, "inout", type), out = draw_param(d, "out", type);
    for (uint32_t i = 0; i < CELLS; i++) {
        const uint32_t cell = draw_below(d, CELLS), value = draw_below(d, 9);
        const grout_opcode opcode = draw_atomic(d, true);
        const grout_op_info *info = grout_op_get_info(opcode);
        const bool has_expected = info->form == GROUT_FORM_COMPARE_SWAP;
        if (has_expected && draw_below(d, 2)) {
            (void)snprintf(operands, sizeof operands,
                           "(atomic_fetch_add %%p%" PRIu32 "[%%x, %" PRIu32 "], 0), %" PRIu32,
                           cells, cell, value);
        } else {
            (void)snprintf(operands, sizeof operands, has_expected ? "1, %" PRIu32 : "%" PRIu32,
                           value);
        }
        draw_line(d,
                  "store %%p%" PRIu32 "[%%x, %" PRIu32 "], (%s %%p%" PRIu32 "[%%x, %" PRIu32
                  "], %s%s%s%s%s)",
                  out, i, info->text, cells, cell, operands, i % 2 ? " order(" : "",
                  i % 2 ? grout_choice_get_info(draw_choice(d, GROUT_ATTR_ORDER))->text : "",
                  i % 2 ? ")" : "", draw_scope(d, false, scope, sizeof scope));
    }
}

void draw_updates(uint64_t seed, grout_text *out) {
    updates u = {.d = {.state = seed}};
    draw *d = &u.d;
    char axes[64];
    const uint32_t parts = 1 + draw_below(d, 4);
    u.ctas = 1 + draw_below(d, 3);
    u.rows = 1 + draw_below(d, 4);
    draw_line(d, "%%x = axis_index x");
    for (; u.number < parts; u.number++) {
        switch ((way)draw_below(d, WAY_COUNT)) {
        case WAY_GMEM:
            add_gmem(&u);
            break;
        case WAY_SMEM:
            add_smem(&u);
            break;
        case WAY_COPY:
            add_copy(&u);
            break;
        case WAY_OLD:
            add_old(&u);
            break;
        case WAY_COUNT:
            break;
        }
    }
    draw_line(d, "wait_smem_to_gmem 0");
    (void)snprintf(axes, sizeof axes, "grid(x = %" PRIu32 ") threads(wg = 1)", u.ctas);
    draw_finish(d, u.scratch.data == NULL ? "" : u.scratch.data, axes, out);
    grout_text_free(&u.scratch);
}
