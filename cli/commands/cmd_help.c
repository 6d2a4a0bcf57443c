/* cmd_help.c - --help, grout help, and docs/cli.md, all from options.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "generate.h"
#include "pages.h"
#include "suggest.h"

#include <string.h>

enum { WIDTH = 96, OPTION_COLUMN = 32 };

/* Appends text, wrapped to WIDTH, with later lines indented; the first starts at column. */
static void add_wrapped(grout_text *out, const char *text, size_t column, size_t indent) {
    bool is_first = true;
    while (*text != '\0') {
        size_t size = strcspn(text, " ");
        if (!is_first && column + 1 + size > WIDTH) {
            grout_text_add(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            grout_text_add(out, " ");
            column++;
        }
        grout_text_add_bytes(out, text, size);
        column += size;
        text += size;
        text += *text == ' ' ? 1 : 0;
        is_first = false;
    }
    grout_text_add(out, "\n");
}

static void add_option_name(grout_text *out, grout_option_id id) {
    const grout_option_info *info = grout_option__get_info(id);
    if (info->long_text != NULL && info->short_text != '\0') {
        grout_text_add(out, "-%c, ", info->short_text);
    }
    grout_option__print_name(id, out);
    if (info->argument != NULL) {
        grout_text_add(out, " %s", info->argument);
    }
}

static void add_option(grout_text *out, grout_option_id id) {
    grout_text name = {0};
    grout_text_add(&name, "  ");
    add_option_name(&name, id);
    grout_text_add_bytes(out, name.data, name.size);
    if (name.size + 2 > OPTION_COLUMN) {
        grout_text_add(out, "\n%*s", OPTION_COLUMN, "");
    } else {
        grout_text_add(out, "%*s", (int)(OPTION_COLUMN - name.size), "");
    }
    add_wrapped(out, grout_option__get_info(id)->help, OPTION_COLUMN, OPTION_COLUMN);
    grout_text_free(&name);
}

static void add_command_help(grout_text *out, grout_command command) {
    const grout_command_info *info = grout_command__get_info(command);
    grout_text_add(out, "usage: grout %s [OPTION...]%s%s\n\n", info->text,
                   info->arguments[0] == '\0' ? "" : " ", info->arguments);
    add_wrapped(out, info->description, 0, 0);
    grout_text_add(out, "\n");
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        if (strchr(grout_option__get_info((grout_option_id)i)->commands, info->letter) != NULL) {
            add_option(out, (grout_option_id)i);
        }
    }
}

static const char exit_codes[] =
    "0 fine or clean; 1 a finding, mismatch, failed expectation, GPU fault or hang;\n"
    "  2 usage, file, invalid kernel, no GPU or NVRTC; 3 incomplete: a limit was reached, or "
    "something\n"
    "  is not supported; 4 a bug of grout; 130 interrupted\n";

const char *grout_help__get_exit_codes(void) {
    return exit_codes;
}

void grout_help__print(grout_command command, grout_text *out) {
    if (command != GROUT_COMMAND_NONE) {
        add_command_help(out, command);
        return;
    }
    grout_text_add(out,
                   "usage: grout COMMAND [OPTION...] [FILE]\n\n"
                   "Asynchronous GPU kernels as text: checked for races on the CPU, run there, "
                   "emitted as CUDA.\n\n");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        const grout_command_info *info = grout_command__get_info((grout_command)i);
        grout_text_add(out, "  %-8s %-10s %s\n", info->text, info->arguments, info->summary);
    }
    grout_text_add(out,
                   "\n'grout help COMMAND' shows the options of a command; 'grout --version' the "
                   "version.\n\nexit codes: %s",
                   exit_codes);
}

/* ---- docs/cli.md ---------------------------------------------------------------------------- */

/* Text inside a table's cell: a bar would end it. */
static void add_cell(grout_text *out, const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '|') {
            grout_text_add(out, "\\");
        }
        grout_text_add_bytes(out, c, 1);
    }
}

static void add_markdown_option(grout_text *out, grout_option_id id) {
    const grout_option_info *info = grout_option__get_info(id);
    const char *separator = "";
    grout_text name = {0};
    if (strlen(info->commands) == GROUT_COMMAND_COUNT - 1) {
        return; /* --help and --version: described above the table */
    }
    add_option_name(&name, id);
    grout_text_add(out, "| `");
    add_cell(out, name.data == NULL ? "" : name.data);
    grout_text_add(out, "` | ");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        const grout_command_info *command = grout_command__get_info((grout_command)i);
        if (strchr(info->commands, command->letter) != NULL) {
            grout_text_add(out, "%s%s", separator, command->text);
            separator = ", ";
        }
    }
    grout_text_add(out, " | ");
    add_cell(out, info->help);
    grout_text_add(out, " |\n");
    grout_text_free(&name);
}

/* The rows of the table of generators. */
static void add_generators(grout_text *out) {
    for (int kind = 0; kind < GROUT_GENERATOR_VALUE; kind++) {
        grout_text_add(out, "| `");
        grout_generator_print_form((grout_generator_kind)kind, out);
        grout_text_add(out, "`%s | %s |\n", kind == GROUT_GENERATOR_INTS ? " (default)" : "",
                       grout_generator_get_info((grout_generator_kind)kind)->doc);
    }
    grout_text_add(out, "| a number | the same everywhere |\n\n");
}

static const char markdown_head[] =
    "<!-- Written by 'grout help --markdown'; a test compares. Change cli/session/options.def or "
    "cli/commands/cmd_help.c. -->\n"
    "# The command line\n\n";

static const char markdown_tail[] =
    "## Streams and exit codes\n\n"
    "Standard output is the answer: reports, the diagnostics of an invalid kernel, lines of "
    "`debug_print`, emitted text. Progress,\nnotes and usage errors go to standard error. `emit` "
    "and `fmt` write text that other programs read, so their diagnostics go\nto standard error "
    "too. With `--format json` standard output is one JSON object "
    "([report_schema.md](report_schema.md)).\n\n"
    "| code | meaning |\n|---|---|\n"
    "| 0 | fine; clean |\n"
    "| 1 | an error found, a comparison or expectation that fails, a file that `fmt --check` would "
    "change, a GPU fault or hang |\n"
    "| 2 | bad usage, a file that cannot be read or written, an invalid kernel, no GPU or NVRTC |\n"
    "| 3 | incomplete: a limit of steps, memory or time, or something not supported; never "
    "reported as clean |\n"
    "| 4 | a bug of grout, or a driver that fails |\n"
    "| 130 | Ctrl-C, after a partial report marked incomplete |\n\n"
    "Warnings change no exit code unless `--werror` is given.\n\n"
    "## Inputs and outputs\n\n"
    "Arrays come from `.npy` files (versions 1 to 3, both byte orders, C and Fortran order) or "
    "from a generator. bf16 and the\n8-bit floats, which NumPy does not have, are read from `<V2` "
    "and `|V1` or `<u2` and `|u1` as raw bits (and f8e5m2 from `<f1`,\nas ml_dtypes writes it); a "
    "wider "
    "float file is rounded to nearest even, and a note says so. "
    "Outputs of these types are written as `<V2` and `|V1`; `--output c=c.npy:f32` converts, and\n"
    "so does `--inout c=in.npy:out.npy:f32`.\n\n"
    "A const that stands alone as a dimension of an array parameter takes the size of that "
    "parameter's input file, unless `-D`\ngives it. Two files that disagree are one diagnostic, "
    "`shape-conflict`.\n\n"
    "What a kernel says by `init(..)` after a parameter ([language.md](language.md)) is the "
    "parameter's input unless\n`--input` gives another; without either it is `ints`. "
    "`init(uniform(3, -1, 1))` is `--input x=uniform:3:-1:1`.\n"
    "The generators make the same bytes on every machine:\n\n"
    "| generator | elements |\n|---|---|\n";

static const char markdown_outputs[] =
    "Outputs are written once the run has reached its end: to a temporary file beside the target, "
    "synced, then renamed. No\noption writes over a file that the call reads, or that another "
    "option "
    "writes, whatever the names: that is refused before\nanything runs. Devices and pipes are "
    "written as "
    "they are.\n\n";

static const char markdown_causes[] =
    "## Causes first\n\n"
    "One mistake breaks an order, and every pair of accesses that needed it is a finding. A report "
    "begins with the finding\n"
    "that is nearest to the mistake; `what follows from it:` names the others that are about the "
    "same barrier, the same\n"
    "operation or the same loop of a thread. Mend the first and look again: one of the others may "
    "be a mistake of its own.\n"
    "`-v` prints all of them in full. Verdict and exit code count every finding.\n\n";

static const char markdown_verdicts[] =
    "## What a clean verdict did not see\n\n"
    "A verdict speaks of one launch. `not reached:` names what this launch did not come to:\n\n"
    "- lines of code that never ran;\n"
    "- barriers in loops of which no element was used a second time (`never came round`);\n"
    "- buffers in shared memory that copies filled, in loops, but no part of them twice (`never "
    "filled again`);\n"
    "- loops that `ran once` and would use shared memory, a barrier or an accumulator again.\n\n"
    "Each is named where a larger size could show more: in a loop whose number of turns is not "
    "written as a number. What one of\nthem explains is not said twice: of a loop that ran once, "
    "only the barriers in it are named that never came round.\n\n"
    "`to reach more:` is the smallest size of one const that reaches all of it. If there is none, "
    "it is a sweep of the size that was\nchecked and another one, as two branches need that "
    "exclude each other, or the sizes of two consts; or else what reaches more.\ngrout looks for "
    "it for up to five seconds, within `--budget` and `--timeout`. A kernel that came to "
    "everything "
    "gets neither line.\n\n"
    "## Several sizes\n\n"
    "`grout check FILE --sweep K=64,256,320` checks with each of these values of the const K, one "
    "after the other and the\nsmallest first, and writes one report. Several `--sweep` give every "
    "combination; the other consts are as in the file, or as\n`-D` says. In the report\n\n"
    "- a finding comes once: as the smallest size shows it, with the sizes that have it (`at K=64; "
    "K=256`) and the command that\n  shows it at the smallest one;\n"
    "- there is one verdict: an error at one size is an error, and `incomplete` at one size is "
    "incomplete;\n"
    "- `holds for every schedule` is said if it is true at each size;\n"
    "- `not reached:` names what no size reached.\n\n"
    "A size that makes the kernel invalid, or that an input file does not fit, is an error that "
    "names the size; the others are\nrun. `--timeout` and `--budget` are for all sizes together: "
    "what they leave no time for is listed as not run, and the verdict\nis then incomplete. "
    "Outputs, schedules to replay or to save, and `--minimise` are for one size, and refused. With "
    "`--expect`\nthe findings of all sizes are compared as one list.\n\n"
    "## Expectations\n\n"
    "`grout check --expect FILE...` compares the findings with comments in the file:\n\n"
    "| comment | meaning |\n|---|---|\n"
    "| `// expect: clean` | there is no finding |\n"
    "| `// expect-error: CODE[, CODE]` | an error of this code, its primary place on this line |\n"
    "| `// expect-warning: CODE[, CODE]` | the same of a warning |\n"
    "| `// expect-note: CODE[, CODE]` | the related place of a finding of this code is on this "
    "line |\n"
    "| `// expect-holds: every-schedule`, `.. this-schedule` | the verdict holds for every "
    "schedule, "
    "or does not |\n"
    "| `// run: OPTIONS` | run with these options; of several lines each is a run of its own |\n\n"
    "A comment behind code speaks of its own line, a comment alone on its line of the next line "
    "that has code. The comparison is\ncomplete: a finding without an expectation fails, and so "
    "does an expectation without a finding. Notes are compared for the\ncodes that the file has "
    "an `expect-note` for. Diagnostics of an invalid kernel count as findings; the exit code is "
    "then still 0\nif all is as expected.\n\n"
    "`--seeds N` runs each file under the fair schedule and under N random ones (seeds 1 to N), "
    "`--all-timings` under lazy, eager and\nrandom timing; together they run every combination. "
    "Each run must meet the expectations, and all must report the same\nidentities.\n\n"
    "## Environment\n\n"
    "| variable | meaning |\n|---|---|\n"
    "| `NO_COLOR` | no colours, unless `--color always` |\n"
    "| `GROUT_CACHE`, `XDG_CACHE_HOME`, `HOME` | where compiled kernels are kept: `$GROUT_CACHE`, "
    "`$XDG_CACHE_HOME/grout`, `~/.cache/grout` |\n"
    "| `GROUT_NVRTC`, `CUDA_HOME` | the NVRTC library; a CUDA installation to search for it |\n";

void grout_help__add_chapters(grout_text *out) {
    grout_text_add(out, "%s", markdown_tail);
    add_generators(out);
    grout_text_add(out, "%s%s%s", markdown_outputs, markdown_causes, markdown_verdicts);
}

static void add_markdown(grout_text *out) {
    grout_text_add(out, "%s", markdown_head);
    grout_text_add(out, "| command | what it does |\n|---|---|\n");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        const grout_command_info *info = grout_command__get_info((grout_command)i);
        grout_text_add(out, "| `grout %s%s%s` | %s. ", info->text,
                       info->arguments[0] == '\0' ? "" : " ", info->arguments, info->summary);
        add_cell(out, info->description);
        grout_text_add(out, " |\n");
    }
    grout_text_add(out, "\nEvery command also takes `--help` and `--version`. Names of options are "
                        "written out.\n\n## Options\n\n"
                        "| option | commands | meaning |\n|---|---|---|\n");
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        add_markdown_option(out, (grout_option_id)i);
    }
    grout_text_add(out, "\n");
    grout_help__add_chapters(out);
}

bool grout_session__report_unknown_command(grout_session *session, const char *word) {
    grout_suggestion suggestion = grout_suggest__begin_command(word);
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        grout_suggest__offer(&suggestion, grout_command__get_info((grout_command)i)->text);
    }
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                    "grout has no command '%.200s'", word);
    grout_session__help_near(session, suggestion.best, "'grout help' lists the commands");
    return false;
}

/* The page about a command, or about grout (GROUT_COMMAND_NONE), in the form that the options ask
 * for. */
static void add_page(const grout_options *options, grout_command command, grout_text *out) {
    if (grout_options__has(options, GROUT_OPTION_MAN)) {
        grout_help__print_man(command, out);
    } else {
        grout_help__print(command, out);
    }
}

int grout_cmd_help(grout_session *session) {
    const grout_options *options = &session->options;
    const char *shell = grout_options__get(options, GROUT_OPTION_COMPLETION);
    grout_text text = {0};
    if (shell != NULL) {
        grout_help__print_completion(shell, &text);
    } else if (grout_options__has(options, GROUT_OPTION_MARKDOWN)) {
        add_markdown(&text);
    } else if (options->argument_count == 0) {
        add_page(options, GROUT_COMMAND_NONE, &text);
    } else {
        grout_command command = grout_command__find(options->arguments[0]);
        if (command == GROUT_COMMAND_NONE) {
            (void)grout_session__report_unknown_command(session, options->arguments[0]);
            grout_session__print_diags(session, GROUT_STREAM_ERR);
            return GROUT_EXIT_USAGE;
        }
        add_page(options, command, &text);
    }
    grout_session__flush(session, GROUT_STREAM_OUT, &text);
    return GROUT_EXIT_OK;
}
