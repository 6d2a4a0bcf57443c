/* goes_on.c - whether work goes on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "goes_on.h"

#include <string.h>

/* Bytes that are copied within milliseconds. */
#define COPIED_EACH ((size_t)16 << 20)

void grout_diags_set_why_end(grout_diags *diags, grout_diag_code (*why_end)(void *payload),
                             void *payload) {
    diags->why_end = why_end;
    diags->why_end_payload = payload;
    diags->has_ended = false;
}

static const char *get_text(grout_diag_code code) {
    return code == GROUT_DIAG_INTERRUPTED  ? "interrupted"
           : code == GROUT_DIAG_TIME_LIMIT ? "the time was over"
                                           : "ended";
}

bool grout_diags__ask(grout_diags *diags, const char *doing) {
    if (diags == NULL || diags->why_end == NULL || diags->has_ended) {
        return diags == NULL || !diags->has_ended;
    }
    const grout_diag_code code = diags->why_end(diags->why_end_payload);
    if (code == GROUT_DIAG_NONE) {
        return true;
    }
    diags->has_ended = true;
    return grout_diags_add(diags, code, (grout_place){0}, "%s while %s", get_text(code), doing);
}

bool grout_diags__copy(grout_diags *diags, void *to, const void *from, size_t size,
                       const char *doing) {
    for (size_t at = 0; at < size; at += COPIED_EACH) {
        const size_t part = size - at < COPIED_EACH ? size - at : COPIED_EACH;
        if (at > 0 && !grout_diags__ask(diags, doing)) {
            return false;
        }
        memcpy((char *)to + at, (const char *)from + at, part);
    }
    return true;
}
