/* session.h - one call of the command: host, options, diagnostics, and how to answer.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_SESSION_H
#define GROUT_CALL_SESSION_H

#include "deadline.h"
#include "given.h"
#include "host.h"
#include "options.h"

#include "grout-internal/interp.h"

struct grout_kept;
struct grout_limited;
struct grout_repaired;
struct grout_seen;
struct grout_stage;

typedef struct grout_session {
    const grout_host *host;
    grout_options options;
    grout_diags *diags; /* of this call, with the texts of the files read */
    bool is_json;       /* the answer is one object: --format json or sarif */
    bool is_sarif;      /* which of them */
    bool is_github;     /* findings as annotations of a workflow */
    bool is_quiet, is_verbose;
    const grout_decisions *replay; /* of --replay; NULL: none */
    /* the same of a launch list, by launch from 1; NULL: it is of a kernel */
    const grout_decisions *replay_list;
    bool write_failed;       /* stdout is closed or full */
    grout_text write_reason; /* why; owned */
    /* seconds of the host's clock: when the call began (--timeout counts from there), and when the
     * budget of what runs now is over (--budget; 0: it has none) */
    double start, budget_end;
    struct grout_limited *memory; /* of kernels: what --max-memory bounds; NULL: nothing does */
    grout_deadline *deadline;     /* what ends work that is given the session's diagnostics */
    const grout_given *given; /* what the caller has in memory; NULL: the call is of a process */
    struct grout_kept *kept;  /* takes the facts of the report (kept.h); NULL: it is only written */
    struct grout_repaired *repaired; /* takes what a repair came to; NULL: it is only shown */
    const struct grout_seen *seen;   /* what a trial has shown (seen.h); NULL: nothing */
    struct grout_stage *stage;       /* the series of runs that goes on (stage.h); NULL: none */
} grout_session;

/* A new list of diagnostics, bounded by the session's deadline. NULL without memory. */
grout_diags *grout_session__new_diags(const grout_session *session);
/* Reads the options that say how to answer: --format, -q, -v. */
void grout_session__read_form(grout_session *session);
/* From the session's start on the time of --timeout runs, if it was given. */
void grout_session__begin_timeout(grout_session *session);
/* What kernels are read into from now on: bounded by --max-memory, if it was given. memory has to
 * last longer than they do. */
void grout_session__begin_memory(grout_session *session, struct grout_limited *memory);
const grout_allocator *grout_session__get_allocator(const grout_session *session);
/* Bytes that kernels have of it. */
uint64_t grout_session__get_used_memory(const grout_session *session);
/* Helps, where a kernel could not be read, bound or emitted within it. */
void grout_session__help_memory(grout_session *session);
/* Whether the session's deadline is over. */
bool grout_session__is_over(const grout_session *session);

/* Adds a name of unknown origin, such as a file's, to a line. */
void grout_text__add_name(grout_text *text, const char *name);

/* The place of what is in no file. */
extern const grout_place grout_nowhere;

/* Writes a line to stdout or stderr, or a part of one: what it is made of may be of any origin, and
 * begins no other line. */
void grout_session__print(grout_session *session, grout_stream stream, const char *format, ...)
    GROUT_PRINTF(3, 4);
/* Writes what steers a terminal. */
void grout_session__draw(grout_session *session, grout_stream stream, const char *format, ...)
    GROUT_PRINTF(3, 4);
/* Writes lines and empties the text. What a line holds is made visible once more; that none of it
 * begins a line is for who makes the text. */
void grout_session__flush(grout_session *session, grout_stream stream, grout_text *text);
/* The same for a text that a program reads: byte for byte, but to a terminal. */
void grout_session__flush_exact(grout_session *session, grout_stream stream, grout_text *text);
/* How text looks on a stream: colours by --color, NO_COLOR and whether it is a terminal, and the
 * terminal's width. */
grout_render_options grout_session__get_look(const grout_session *session, grout_stream stream);
/* Writes lines of prose and empties the text. A terminal gets them broken at its width; what goes
 * on stands 'hang' columns further. */
void grout_session__flush_prose(grout_session *session, grout_stream stream, grout_text *text,
                                size_t hang);
/* Writes a remark of one line to stderr, as prose. */
void grout_session__note(grout_session *session, const char *format, ...) GROUT_PRINTF(2, 3);
/* Columns of a page on stdout: those of a terminal, but at most as many as a reader likes. */
size_t grout_session__get_page_width(const grout_session *session, size_t most);
/* Renders all diagnostics of the session to a stream. */
void grout_session__print_diags(grout_session *session, grout_stream stream);
/* The exit code that the session's diagnostics ask for; 0 if none is an error. */
int grout_session__get_exit_code(const grout_session *session);
/* The same for one code. */
int grout_exit_code_of(grout_diag_code code);
/* The rank of an exit code: if several apply, the one of the highest rank wins. */
int grout_exit_code_rank(int exit_code);
/* Applies --severity and --werror to the warnings among the session's diagnostics. */
void grout_session__apply_severities(grout_session *session);
/* Severity of a finding or warning after --severity and --werror. */
grout_severity grout_session__get_severity(const grout_session *session, grout_diag_code code,
                                           grout_severity severity);
/* Whether every --severity parses; bad-option diagnostics if not. */
bool grout_session__check_severities(grout_session *session);

/* Reads or writes a file; false with a diagnostic (file-unreadable, file-unwritable). */
bool grout_session__read_file(grout_session *session, const char *path, uint64_t size_max,
                              grout_bytes *out);
/* The same for a file whose first bytes say how long it is (host.h). */
bool grout_session__read_framed(grout_session *session, const char *path, uint64_t size_max,
                                grout_size_function *get_size, grout_bytes *out);
/* The same for a file that a line of another file names: one that lies beside it, by its name. */
bool grout_session__read_named(grout_session *session, const grout_option_use *use,
                               const char *name, uint64_t size_max, grout_size_function *get_size,
                               grout_bytes *out);
bool grout_session__write_file(grout_session *session, const char *path, const grout_chunk *chunks,
                               size_t count);

/* Helps the newest diagnostic: "did you mean 'near'?", or, if near is NULL, otherwise. */
void grout_session__help_near(grout_session *session, const char *near, const char *otherwise);

#endif
