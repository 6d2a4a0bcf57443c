/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - what 'grout check' and 'grout fix' do, for a program: check the kernels of a text, at
 * one size or several, explore, minimise, ask for advice, repair.
 *
 * A check is an object to which options are given by the names that they have in the command: a new
 * option is a new word, and no struct or function changes. docs/cli.md says what each does.
 *
 *     grout_check *check = grout_check_new("ring.grout", text, size);
 *     if (grout_check_set(check, "sweep", "K=64,128", diags)) {
 *         grout_report *report = grout_check_run(check, diags);
 *         ...
 *
 * It touches no file, no environment and no terminal: what options name as files is given with
 * grout_check_add_file, and what they would write is in the report. One object is for one OS thread
 * at a time; several may be used at once.
 */
#ifndef GROUT_CHECK_H
#define GROUT_CHECK_H

#include "grout/function.h"
#include "grout/report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_check grout_check;

/* A check of a text, which is copied; name is what places and messages call it. NULL without
 * memory. Free with grout_check_free, which takes NULL. */
GROUT_API grout_check *grout_check_new(const char *name, const char *text, size_t size);
GROUT_API void grout_check_free(grout_check *check);

/*
 * Checks a symbolic module in the place of the text, as one that was built: its places stay. The
 * module is borrowed and only read. It is of no file: the report names no commands that show it
 * again. A repair is of the text all the same. NULL: the text counts again.
 */
GROUT_API void grout_check_use_module(grout_check *check, grout_module *symbolic);

/*
 * Gives an option: its long name without the dashes, or "D" for -D. value: as a word of the
 * command; NULL for a flag. Options that repeat may be given again; of others the last counts.
 * False: a bad-option says what is wrong. Not taken are those that say where an answer goes or how
 * it looks (format, html, color, output, inout, watch, stats, quiet, verbose, yes, diff), and
 * libraries with code (extern): grout_check_give_function gives functions. max-memory bounds what a
 * run of the check reads the text into, or binds the module to, the arrays and the machine; the
 * text itself, the module that was given and the report come on top. Beyond is out-of-memory.
 */
GROUT_API bool grout_check_set(grout_check *check, const char *option, const char *value,
                               grout_diags *diags);

/* A file that an option names: suppress, baseline, replay, input, expect-output. The bytes are
 * copied. False without memory. */
GROUT_API bool grout_check_add_file(grout_check *check, const char *name, const void *data,
                                    size_t size);

/*
 * Gives a parameter its contents: row-major, as the parameter's type has its bytes (grout_array of
 * function.h), size of them. Its sizes bind the consts that are its dimensions. data NULL: nothing
 * is given. results, if it is not NULL, gets as many bytes of what the run leaves, if that comes to
 * its end; it may be data. Both are borrowed until the check is freed. A scalar has rank 0. False
 * without memory.
 */
GROUT_API bool grout_check_give_array(grout_check *check, const char *param,
                                      const grout_array *array, size_t size, void *results);

/*
 * Accepts the findings of a code at a line of a file, as a comment '// allow: CODE reason' does
 * that stands there: they are listed as silenced. The comments of the text itself count too, unless
 * a module is used. False without memory, or if nothing of that code can be silenced.
 */
GROUT_API bool grout_check_allow(grout_check *check, grout_diag_code code, const char *file,
                                 uint32_t line, const char *reason);

/* Gives a function that kernels call (function.h); its name and payload are borrowed until the
 * check is freed. False without memory. */
GROUT_API bool grout_check_give_function(grout_check *check, const grout_extern *function);

/*
 * progress is asked some fifty times a second, in every phase; false ends the call, interrupted,
 * with a report of what is known. Between launches it gets zeros. print gets each line of
 * debug_print. Both are called from the thread that runs the check, or (threads) from one of its
 * workers. NULL: nobody.
 */
GROUT_API void grout_check_set_callbacks(
    grout_check *check, bool (*progress)(void *payload, const grout_progress *progress),
    void (*print)(void *payload, const char *line), void *payload);

/*
 * Runs the check. NULL: nothing can be reported, and diags say why: a bad option, no memory. Else
 * free with grout_report_free. What is wrong with the text itself is in the report, its verdict is
 * then "invalid", and in diags. A check may be run again.
 */
GROUT_API grout_report *grout_check_run(grout_check *check, grout_diags *diags);

/*
 * Runs the kernels without the checker, as 'grout run' does on the CPU: faster, and the report has
 * what ended the run, and what debug_check and the like say. It takes those options of the check
 * that 'grout run' has, too, and goes on without the others.
 */
GROUT_API grout_report *grout_check_run_unchecked(grout_check *check, grout_diags *diags);

/*
 * Looks for changes that repair what a check finds: see 'grout fix'. The report is that of the
 * check of the result, and has its text, the difference and the steps.
 */
GROUT_API grout_report *grout_check_repair(grout_check *check, grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
