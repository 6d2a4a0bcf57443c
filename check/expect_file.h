/* expect_file.h - what all run lines of a file have in common: it is read and parsed once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_EXPECT_FILE_H
#define GROUT_CHECK_EXPECT_FILE_H

#include "expect.h"
#include "load.h"
#include "shared_text.h"
#include "silence.h"

typedef struct grout_expect_file {
    const char *path, *name;
    grout_bytes text;
    grout_expectations expectations;
    grout_shared_text *source; /* the same text, for the diagnostics of each run */
    grout_module *module;      /* NULL: it has none, said has it */
    grout_silencer silencer;
    bool is_silenced; /* the rules that silence findings were read; else rules_said has it */
    grout_diags *said, *rules_said; /* what parsing and those rules have said */
} grout_expect_file;

/* Zero-initialise. False: the session has diagnostics. Deinit even then. */
bool grout_expect_file__read(grout_session *session, const char *path, grout_expect_file *out);
void grout_expect_file__deinit(grout_expect_file *file);
/* Gives a run's diagnostics the text, to show lines of it. False without memory, which they say. */
bool grout_expect_file__show(const grout_expect_file *file, grout_diags *diags);
/* The file's kernels under the options of the session. False: it has diagnostics. Deinit even then.
 */
bool grout_expect_file__load(const grout_expect_file *file, grout_session *session,
                             grout_load *out);
/* Whether it is known what silences findings; if not, the session's diagnostics say why. */
bool grout_expect_file__has_rules(const grout_expect_file *file, grout_session *session);

#endif
