/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.h - to add diagnostics to a list, and to write texts.
 */
#ifndef GROUT_INTERNAL_DIAGNOSE_H
#define GROUT_INTERNAL_DIAGNOSE_H

#include "grout/diag.h"

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Adds one diagnostic with the severity of its code; the message is copied, the place's file name
 * too. Past GROUT_DIAGS_MAX the diagnostic is counted and dropped; for an error the newest that is
 * no error is dropped instead, while there is one. Running out of memory is itself recorded
 * (out-of-memory) without needing any. Always returns false, so that a failing function can end
 * with 'return grout_diags_add(...)'.
 */
bool grout_diags_add(grout_diags *diags, grout_diag_code code, grout_place place,
                     const char *format, ...) GROUT_PRINTF(4, 5);
bool grout_diags_add_list(grout_diags *diags, grout_diag_code code, grout_place place,
                          const char *format, va_list arguments) GROUT_PRINTF(4, 0);
/* Adds a note or, with grout_diags_help, a remedy to the newest diagnostic (if it was kept). */
void grout_diags_note(grout_diags *diags, grout_place place, const char *format, ...)
    GROUT_PRINTF(3, 4);
void grout_diags_help(grout_diags *diags, const char *format, ...) GROUT_PRINTF(2, 3);
/* Records that memory ran out; needs none. Returns false. */
bool grout_diags_add_oom(grout_diags *diags);

/* How many are kept, how many came (kept and dropped), and the i-th kept one (borrowed). */
uint64_t grout_diags_total(const grout_diags *diags);
/* Whether an error was dropped: those that are kept are then errors too. */
bool grout_diags_has_dropped_error(const grout_diags *diags);
/* Changes the severity of the i-th (used for --severity and --werror). */
void grout_diags_set_severity(grout_diags *diags, uint32_t index, grout_severity to);

/* Add formatted text, or bytes as they are; free the text. */
void grout_text_add(grout_text *text, const char *format, ...) GROUT_PRINTF(2, 3);
void grout_text_add_bytes(grout_text *text, const char *bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
