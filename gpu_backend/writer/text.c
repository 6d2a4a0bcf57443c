/* text.c - the text that grows: lines, blocks, what one lane does, reports.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitter.h"

#include "invariant.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static void add_list(grout_emitter *e, const char *format, va_list arguments) {
    char text[2 * GROUT_NAME_MAX + 256];
    const int size = vsnprintf(text, sizeof text, format, arguments);
    GROUT_ASSERT(size >= 0 && (size_t)size < sizeof text); /* else the text would be cut */
    if (size > 0) {
        const size_t kept = (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
        grout_text_add_bytes(e->out, text, kept);
    }
}

void grout_emit__begin(grout_emitter *e) {
    /* Nobody sees where a line begins that is further in; in deep blocks blanks would be most of
     * the text. */
    enum { LEVELS = 24 };
    static const char blanks[] = "                                                "
                                 "                                                ";
    _Static_assert(sizeof blanks - 1 == (size_t)4 * LEVELS, "four blanks a level");
    const size_t levels = e->indent < LEVELS ? e->indent : (size_t)LEVELS;
    grout_text_add_bytes(e->out, blanks, 4u * levels);
}

void grout_emit__add(grout_emitter *e, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_list(e, format, arguments);
    va_end(arguments);
}

void grout_emit__end(grout_emitter *e, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_list(e, format, arguments);
    va_end(arguments);
    grout_text_add_bytes(e->out, "\n", 1);
}

void grout_emit__line(grout_emitter *e, const char *format, ...) {
    va_list arguments;
    grout_emit__begin(e);
    va_start(arguments, format);
    add_list(e, format, arguments);
    va_end(arguments);
    grout_text_add_bytes(e->out, "\n", 1);
}

void grout_emit__open(grout_emitter *e) {
    grout_emit__end(e, " {");
    e->indent++;
}

void grout_emit__close(grout_emitter *e, const char *tail) {
    GROUT_ASSERT(e->indent > 0);
    e->indent--;
    grout_emit__line(e, "}%s", tail);
}

void grout_emit__open_issuer(grout_emitter *e) {
    GROUT_ASSERT(!e->is_alone || !e->is_warp);
    if (e->is_alone) {
        return;
    }
    /* Written out each time: ptxas then knows that one lane is left (device header). */
    grout_emit__begin(e);
    if (e->is_warp) {
        grout_emit__add(e, "if (grout_elect())");
    } else if (e->plan->thread_count == 1) {
        grout_emit__add(e, "if (warp == 0 && grout_elect())");
    } else {
        grout_emit__add(e, "if (warp %% %" PRIu32 " == 0 && grout_elect())", e->warps);
    }
    grout_emit__open(e);
}

void grout_emit__close_issuer(grout_emitter *e) {
    if (!e->is_alone) {
        grout_emit__close(e, "");
    }
}

void grout_emit__unsupported(grout_emitter *e, const grout_op *op, const char *format, ...) {
    va_list arguments;
    e->failed = true;
    va_start(arguments, format);
    grout_diags_add_list(e->diags, GROUT_DIAG_GPU_UNSUPPORTED,
                         grout_module_get_place(e->module, op->loc), format, arguments);
    va_end(arguments);
    grout_module_note_callers(e->module, op->loc, e->diags);
}

uint32_t grout_emit__get_line(const grout_emitter *e, grout_loc_id loc) {
    return grout_module_get_place(e->module, loc).line;
}

void grout_emit__add_distance(grout_emitter *e, const char *index, uint32_t divisor,
                              uint32_t modulus, int64_t distance) {
    grout_emit__add(e, " + %s", index);
    if (divisor > 1) {
        grout_emit__add(e, " / %" PRIu32, divisor);
    }
    if (modulus > 1) {
        grout_emit__add(e, " %% %" PRIu32, modulus);
    }
    if (distance != 1) {
        grout_emit__add(e, " * %" PRId64, distance);
    }
}
