/* silence.h - findings that somebody has reviewed and accepted: '// allow:' comments of the kernel,
 * --suppress files, --baseline reports.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_SILENCE_H
#define GROUT_REPORT_SILENCE_H

#include "lookup.h"
#include "session.h"

#include "grout-internal/race.h"

/* One rule: which findings it silences, and why. */
typedef struct grout_allowance {
    grout_diag_code code; /* NONE: by identity */
    uint64_t identity;
    char *file;    /* of the finding's primary place; NULL: any */
    uint32_t line; /* of it; 0: any */
    char *by;      /* "// allow", "FILE:LINE", "--baseline FILE": the place of the rule */
    char *reason;  /* in the user's words; "" for a baseline */
    bool is_used;
    uint32_t next; /* the next rule of the same key, from 1; 0: the last one */
} grout_allowance;

typedef struct grout_silencer {
    grout_allowance *items;
    size_t count, capacity;
    grout_lookup first; /* rules by what they name, from 1 */
} grout_silencer;

/*
 * Reads the rules of the session's options, and those in the text of the kernel file (NULL: none).
 * False: diagnostics (bad-suppression, file-unreadable). Deinit even then.
 */
bool grout_silencer__init(grout_silencer *silencer, grout_session *session, const char *name,
                          const grout_bytes *text);
void grout_silencer__deinit(grout_silencer *silencer);
/* The rule that silences a finding, which is then used; NULL if none does. */
const grout_allowance *grout_silencer__find(grout_silencer *silencer, const grout_finding *finding);
/* Appends a line for each rule of the kernel file that has silenced nothing. */
void grout_silencer__describe_unused(const grout_silencer *silencer, grout_text *out);

#endif
