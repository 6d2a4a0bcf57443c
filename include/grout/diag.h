/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.h - diagnostics as data, and their one renderer.
 *
 * Every fallible function of grout takes a grout_diags, owned by the caller, as its last parameter
 * and returns bool (true: done) or a pointer (NULL: failed); the reason is in the list, never in
 * errno or a global. A parse error, a rule of the verifier, an out-of-bounds access, a race and a
 * deadlock are the same object: a code from diag.def, a place, a sentence, notes with places of
 * their own, and a repair.
 */
#ifndef GROUT_DIAG_H
#define GROUT_DIAG_H

#include "grout/alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GROUT_API               __attribute__((visibility("default")))
#define GROUT_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define GROUT_API
#define GROUT_PRINTF(at, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* At most this many diagnostics are kept; one more says how many were dropped. */
#define GROUT_DIAGS_MAX 20

typedef enum grout_severity {
    GROUT_SEVERITY_ERROR,
    GROUT_SEVERITY_WARNING,
    GROUT_SEVERITY_ADVICE,
    GROUT_SEVERITY_NOTE,
    GROUT_SEVERITY_OFF
} grout_severity;

typedef enum grout_diag_code {
    GROUT_DIAG_NONE,
#define GROUT_DIAG(NAME, TEXT, SEVERITY, STAGE, DOC) GROUT_DIAG_##NAME,
#include "grout/diag.def"
    GROUT_DIAG_COUNT
} grout_diag_code;

/* Which part of grout a code belongs to. */
typedef enum grout_diag_stage {
    GROUT_STAGE_PARSE,  /* the text, or the builder's calls, are not a module */
    GROUT_STAGE_VERIFY, /* a module, but not a legal kernel */
    GROUT_STAGE_RUN,    /* found by running it: races, barriers, memory */
    GROUT_STAGE_GPU,    /* the backend, the driver, the device */
    GROUT_STAGE_USE     /* files, options, limits of the host */
} grout_diag_stage;

typedef struct grout_diag_info {
    const char *text; /* "missing-commit-smem" */
    const char *doc;  /* one sentence for docs/diagnostics.md and 'grout explain' */
    grout_severity severity;
    grout_diag_stage stage;
} grout_diag_info;

/* The facts about a code; never NULL for a code below GROUT_DIAG_COUNT. */
GROUT_API const grout_diag_info *grout_diag_get(grout_diag_code code);
/* The code called text, or GROUT_DIAG_NONE. */
GROUT_API grout_diag_code grout_diag_find(const char *text);

/*
 * A place in a text: 1-based line and column in bytes (a tab counts 1), and how many bytes. file is
 * borrowed and may be NULL: no place. Strings of a place live as long as the module or the
 * diagnostics list that handed it out.
 */
typedef struct grout_place {
    const char *file;
    uint32_t line, column, length;
} grout_place;

/* How far something has come that takes its time: what may end it looks at that. */
typedef struct grout_progress {
    int64_t ctas_done, ctas_total; /* of a launch; 0 of what has no CTAs */
    uint64_t steps;
} grout_progress;

/* One more sentence of a diagnostic, with its place (file NULL: none). */
typedef struct grout_note {
    grout_severity
        severity; /* GROUT_SEVERITY_NOTE, or GROUT_SEVERITY_ADVICE for a remedy ("help") */
    grout_place place;
    char *message;
} grout_note;

typedef struct grout_diag {
    grout_diag_code code;
    grout_severity severity;
    grout_place place;
    char *message;
    grout_note *notes;
    uint32_t note_count;
    uint64_t number; /* of all that came to its list, from 1 */
} grout_diag;

typedef struct grout_diags grout_diags;

/* A new empty list, or NULL without memory. Free with grout_diags_free. */
GROUT_API grout_diags *grout_diags_new(void);
/* The same with an allocator of the caller's (alloc.h), for the list and all that is added to it.
 */
GROUT_API grout_diags *grout_diags_new_in(const grout_allocator *allocator);
GROUT_API void grout_diags_free(grout_diags *diags);

/*
 * Gives the list the text of a file so that the renderer can show its lines. Both are copied. A
 * second text of the same name replaces the first. False without memory, which the list then says.
 */
GROUT_API bool grout_diags_add_source(grout_diags *diags, const char *file, const char *text,
                                      size_t size);

/*
 * Bounds all work that is given the list: reading, binding, verifying, planning, writing CUDA ask
 * why_end now and then, within milliseconds, in the OS thread that works. GROUT_DIAG_NONE goes on.
 * Another code, GROUT_DIAG_TIME_LIMIT or GROUT_DIAG_INTERRUPTED, ends the work: it fails, the list
 * has a diagnostic of that code, and from then on nothing is asked and all that is given the list
 * fails, until why_end is set again. NULL, as at first, bounds nothing. A launch, as
 * it is prepared and run, asks its own callback instead, if it has one.
 */
GROUT_API void grout_diags_set_why_end(grout_diags *diags,
                                       grout_diag_code (*why_end)(void *payload), void *payload);

/* How many are kept, how many came (kept and dropped), and the i-th kept one (borrowed). */
GROUT_API uint32_t grout_diags_count(const grout_diags *diags);
GROUT_API const grout_diag *grout_diags_get(const grout_diags *diags, uint32_t index);
GROUT_API bool grout_diags_has_errors(const grout_diags *diags);

/* A growing text. Zero-initialise; free it with grout_text_free, which leaves it empty. Failure to
 * grow sets failed, and from then on nothing is added. */
typedef struct grout_text {
    char *data; /* NUL-terminated once anything was added */
    size_t size, capacity;
    bool failed;
    const grout_allocator *allocator; /* alloc.h; NULL: libc. To be set before anything is added */
} grout_text;

/* Add formatted text, or bytes as they are; free the text. */
GROUT_API void grout_text_free(grout_text *text);

/* What grout_text_add_visible leaves as it is. */
enum {
    GROUT_KEEP_NOTHING = 0,
    GROUT_KEEP_TABS = 1,
    GROUT_KEEP_LINES = 2,    /* LF and CRLF */
    GROUT_KEEP_COMMANDS = 4, /* what the log of a workflow would take for a command */
    GROUT_KEEP_COLORS = 8    /* of a terminal: ESC [ .. m */
};

/*
 * Adds a text of unknown origin, such as a file's name or a comment, as it may stand before a user:
 * control characters (C0, DEL, C1), marks that turn the direction of writing (U+061C, U+200E,
 * U+200F, U+202A to U+202E, U+2066 to U+2069), separators of lines (U+2028, U+2029) and bytes that
 * are no UTF-8 become \n, \x1b, \u202e and the like; so does a character of what a workflow takes
 * for a command, '::' where a word begins and '##[' or '##word['. keep: GROUT_KEEP_... together.
 */
GROUT_API void grout_text_add_visible(grout_text *text, const char *bytes, size_t size,
                                      uint32_t keep);

typedef struct grout_render_options {
    bool color;     /* ANSI colours */
    uint32_t width; /* columns at which text is wrapped, and source lines are cut; 0: nowhere */
} grout_render_options;

/*
 * Appends the diagnostics the way a terminal shows them, each followed by an empty line:
 *
 *   FILE:LINE:COLUMN: error: MESSAGE [CODE]
 *      27 |   SOURCE LINE
 *         |   ^~~~ NOTE ON A PLACE OF THE SAME FILE
 *     ...
 *      31 |   SOURCE LINE
 *         |   ^~~~~~
 *     note: MESSAGE
 *     help: REMEDY
 *
 * Names, messages and source lines are made visible (grout_text_add_visible); the lines of a
 * message begin with "| ", but for the first.
 */
GROUT_API void grout_diags_render(const grout_diags *diags, const grout_render_options *options,
                                  grout_text *out);
/* One diagnostic without the empty line; it may come from elsewhere (a finding), sources from
 * diags.
 */
GROUT_API void grout_diag_render(const grout_diag *diag, const grout_diags *diags,
                                 const grout_render_options *options, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
