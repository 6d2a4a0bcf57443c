/* cmd_help.c - --help, grout help, and docs/cli.md, all from options.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "generator_words.h"
#include "pages.h"
#include "suggest.h"
#include "wrap.h"

#include <string.h>

/* Columns of a page, and of the names of options if there is room to put their meaning beside. */
enum { WIDTH = 96, OPTION_COLUMN = 32, MEANING_MIN = 36, OPTION_INDENT = 6 };
/* Options of a command that need no headings, as many as one sees at a glance. */
enum { UNGROUPED_MAX = 12 };

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

static void add_option(grout_text *out, grout_option_id id, size_t width) {
    const grout_option_info *info = grout_option__get_info(id);
    grout_text name = {0}, indent = {0}, help = {0};
    size_t column = width < OPTION_COLUMN + MEANING_MIN ? OPTION_INDENT : OPTION_COLUMN;
    grout_text_add(&name, "  ");
    add_option_name(&name, id);
    grout_text_add_bytes(out, name.data, name.size);
    if (name.size + 2 > column) {
        grout_text_add(out, "\n%*s", (int)column, "");
    } else {
        grout_text_add(out, "%*s", (int)(column - name.size), "");
    }
    grout_text_add(&indent, "%*s", (int)column, "");
    grout_text_add(&help, "%s%s", info->help, info->is_repeatable ? "; repeatable" : "");
    out->failed |= indent.failed || help.failed;
    if (!out->failed) {
        grout_wrap__add(out, help.data, column, indent.data, width);
    }
    grout_text_add(out, "\n");
    grout_text_free(&name);
    grout_text_free(&indent);
    grout_text_free(&help);
}

static uint32_t count_options(grout_command command) {
    uint32_t count = 0;
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        count += grout_command__takes(command, (grout_option_id)i) ? 1 : 0;
    }
    return count;
}

/* Its options; if they are many, under the titles of their groups, and where more is said. */
static void add_options(grout_text *out, grout_command command, size_t width) {
    const bool has_titles = count_options(command) > UNGROUPED_MAX;
    grout_option_group group = GROUT_GROUP_COUNT;
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_info *info = grout_option__get_info((grout_option_id)i);
        if (!grout_command__takes(command, (grout_option_id)i)) {
            continue;
        }
        /* --help and --version end the last group. */
        if (has_titles && info->group != group && !grout_option__is_common((grout_option_id)i)) {
            grout_text_add(out, "%s%s\n", group == GROUT_GROUP_COUNT ? "" : "\n",
                           grout_option_group__get_title(info->group));
            group = info->group;
        }
        add_option(out, (grout_option_id)i, width);
    }
    if (has_titles) {
        grout_text_add(out, "\n'man grout-%s' and docs/cli.md say more.\n",
                       grout_command__get_info(command)->text);
    }
}

bool grout_example__read(grout_example *example) {
    const char *at = example->next;
    if (*at == '\0') {
        return false;
    }
    example->words = at;
    example->size = (int)strcspn(at, "\t");
    example->meaning = at + example->size + 1;
    example->meaning_size = (int)strcspn(example->meaning, "\n");
    example->next = example->meaning + example->meaning_size + 1;
    return true;
}

/* "  grout check ring.grout    is it right?", or what it does below where there is no room. */
static void add_examples(grout_text *out, const grout_command_info *info, size_t width) {
    enum { BEFORE = 8, BETWEEN = 3 };
    int longest = 0, longest_rest = 0;
    grout_example at = {.next = info->examples};
    while (grout_example__read(&at)) {
        longest = at.size > longest ? at.size : longest;
        longest_rest = at.meaning_size > longest_rest ? at.meaning_size : longest_rest;
    }
    const bool is_beside = (int)width >= BEFORE + longest + BETWEEN + longest_rest;
    at = (grout_example){.next = info->examples};
    while (grout_example__read(&at)) {
        grout_text_add(out, "  grout %.*s%s%*s%.*s\n", at.size, at.words, is_beside ? "" : "\n",
                       is_beside ? longest + BETWEEN - at.size : OPTION_INDENT, "", at.meaning_size,
                       at.meaning);
    }
    grout_text_add(out, "%s", longest > 0 ? "\n" : "");
}

static void add_command_help(grout_text *out, grout_command command, size_t width) {
    const grout_command_info *info = grout_command__get_info(command);
    grout_text_add(out, "usage: grout %s [OPTION...]%s%s\n\n", info->text,
                   info->arguments[0] == '\0' ? "" : " ", info->arguments);
    grout_wrap__add(out, info->description, 0, "", width);
    grout_text_add(out, "\n\n");
    add_examples(out, info, width);
    add_options(out, command, width);
}

static const char exit_codes[] =
    "0 fine or clean; 1 a finding, mismatch, failed expectation, GPU fault or hang; "
    "2 usage, file, invalid kernel, no GPU or NVRTC; 3 incomplete: a limit was reached, or "
    "something is not supported; 4 a bug in grout; 130 interrupted, "
    "143 or 129 by SIGTERM or SIGHUP";

const char *grout_help__get_exit_codes(void) {
    return exit_codes;
}

static void add_commands(grout_text *out, size_t width) {
    enum { SUMMARY_COLUMN = 22 };
    grout_text lines = {0};
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        const grout_command_info *info = grout_command__get_info((grout_command)i);
        grout_text_add(&lines, "  %-8s %-10s %s\n", info->text, info->arguments, info->summary);
    }
    out->failed |= lines.failed;
    if (!out->failed) {
        grout_wrap__add_lines(out, lines.data, SUMMARY_COLUMN - 2, width);
    }
    grout_text_free(&lines);
}

static void add_exit_codes(grout_text *out, size_t width) {
    grout_text text = {0};
    grout_text_add(&text, "exit codes: %s", exit_codes);
    out->failed |= text.failed;
    if (!out->failed) {
        grout_wrap__add(out, text.data, 0, "  ", width);
    }
    grout_text_free(&text);
}

void grout_help__print(grout_session *session, grout_command command) {
    size_t width = grout_session__get_page_width(session, WIDTH);
    grout_text text = {0};
    if (command != GROUT_COMMAND_NONE) {
        add_command_help(&text, command, width);
    } else {
        grout_text_add(&text, "usage: grout COMMAND [OPTION...] [FILE]\n\n");
        grout_wrap__add(&text,
                        "Asynchronous GPU kernels as text: checked for races on the CPU, run "
                        "there, emitted as CUDA.\n\n",
                        0, "", width);
        add_commands(&text, width);
        grout_text_add(&text, "\n");
        grout_wrap__add(&text,
                        "'grout help COMMAND' shows the options of a command; 'grout --version' "
                        "the version.\n\n",
                        0, "", width);
        add_exit_codes(&text, width);
        grout_text_add(&text, "\n");
    }
    grout_session__flush_exact(session, GROUT_STREAM_OUT, &text);
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
    const char *separator = "";
    grout_text name = {0}, meaning = {0};
    if (grout_option__is_common(id)) {
        return; /* --help and --version: described above the tables */
    }
    add_option_name(&name, id);
    grout_text_add(out, "| `");
    add_cell(out, name.data == NULL ? "" : name.data);
    grout_text_add(out, "` | ");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        if (grout_command__takes((grout_command)i, id)) {
            grout_text_add(out, "%s%s", separator, grout_command__get_info((grout_command)i)->text);
            separator = ", ";
        }
    }
    grout_text_add(out, " | ");
    grout_option__describe(id, &meaning);
    add_cell(out, meaning.data == NULL ? "" : meaning.data);
    grout_text_add(out, " |\n");
    grout_text_free(&name);
    grout_text_free(&meaning);
}

/* A table for each group. */
static void add_markdown_options(grout_text *out) {
    grout_option_group group = GROUT_GROUP_COUNT;
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_info *info = grout_option__get_info((grout_option_id)i);
        if (info->group != group) {
            grout_text_add(out, "\n### %s\n\n| option | commands | meaning |\n|---|---|---|\n",
                           grout_option_group__get_title(info->group));
            group = info->group;
        }
        add_markdown_option(out, (grout_option_id)i);
    }
    grout_text_add(out, "\n");
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
    "<!-- Written by 'grout help --markdown'; a test compares. Change call/session/options.def or "
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
    "| 4 | a bug in grout, or a driver that fails |\n"
    "| 130 | Ctrl-C, after a partial report marked incomplete; 143 and 129: the same after SIGTERM "
    "and SIGHUP |\n\n"
    "Warnings change no exit code unless `--werror` is given. A reader that ends early, as in "
    "`grout check FILE | head -1`, changes\nnone either and is not an error. An output that cannot "
    "be "
    "written, stdout too, is one: "
    "`file-unwritable`, exit code 2.\n\n"
    "## Inputs and outputs\n\n"
    "Arrays come from `.npy` files (versions 1 to 3, both byte orders, C and Fortran order) or "
    "from a generator. NumPy does\n"
    "not have bf16 and the types of 8 bits and less. They are read from `<V2` and `|V1` or "
    "`<u2` and `|u1` as raw bits (and\n"
    "f8e5m2 from `<f1`, as ml_dtypes writes it, i4 from `|i1`). Files hold one element a byte, "
    "never two. A wider float file\n"
    "is rounded to nearest even, and a note says so. Outputs of these types are written as "
    "`<V2` and `|V1`.\n"
    "`--output c=c.npy:f32` converts them, and so does `--inout c=in.npy:out.npy:f32`.\n"
    "\n"
    "A const that stands alone as a dimension of an array parameter takes the size of that "
    "parameter's input file, unless\n"
    "`-D` gives it. Two files that disagree are one diagnostic, `shape-conflict`.\n"
    "\n"
    "What a kernel says by `init(..)` after a parameter ([language.md](language.md)) is the "
    "parameter's input unless\n"
    "`--input` gives another. Without either it is `ints`. `init(uniform(3, -1, 1))` is "
    "`--input x=uniform:3:-1:1`. The\n"
    "generators make the same bytes on every computer:\n"
    "\n"
    "| generator | elements |\n|---|---|\n";

static const char markdown_outputs[] =
    "Outputs are written once the run has reached its end, each whole or not at all "
    "([reliability](reliability.md)). No\noption writes over a file that the call reads, or that "
    "another "
    "option "
    "writes, whatever the names: that is refused before\nanything runs. Devices and pipes are "
    "written through.\n\n";

static const char markdown_causes[] =
    "## Causes first\n"
    "\n"
    "One bug breaks an order, and every pair of accesses that needed that order is a finding. "
    "A report begins with the\n"
    "finding that is nearest to the bug. `what follows from it:` names the others that are "
    "about the same barrier, the same\n"
    "operation or the same loop of a thread. Mend the first and look again: one of the others "
    "may be a bug of its own. `-v`\n"
    "prints all of them in full. Verdict and exit code count every finding. A write over what may "
    "still be read comes before\n"
    "the `barrier-overrun` that follows from it; where more threads arrive than a phase counts, "
    "the overrun is the bug.\n"
    "Warnings of the text, such as a result that nothing uses, come after the errors.\n"
    "\n";

static const char markdown_issue[] =
    "## What a kernel issues\n"
    "\n"
    "`-v` of check and emit says what a kernel gives the engines to do, for Hopper and "
    "Blackwell:\n"
    "\n"
    "- bytes that TMA, the lanes' asynchronous copies and tensor memory move, and in how many "
    "instructions or operations;\n"
    "- instructions of the tensor core, and the multiplications and additions that they are;\n"
    "- arrivals, waits on barriers, waits for what the thread itself has started, and meetings "
    "of all threads.\n"
    "\n"
    "For one kernel of this repository it says:\n"
    "\n"
    "    @matmul_blackwell_gather issues, in each CTA:\n"
    "      256 of the 512 columns of tensor memory\n"
    "      line 86, each turn: 32,768 bytes by TMA to SMEM (33 instructions), 1 wait on "
    "barriers\n"
    "      line 106, each turn: 4 instructions of the tensor core (2,097,152 operations), 1 "
    "arrival, 1 wait on barriers\n"
    "\n"
    "A line is about one pass through a body: the kernel's, that of a part, that of a warp, or "
    "a turn of the loop at that\n"
    "line. Loops and parts inside have lines of their own, and each branch is counted. Parts "
    "run beside each other, and so do\n"
    "the engines: the loop at line 86 moves its bytes while that at line 106 multiplies. A "
    "loop that waits once a turn for\n"
    "bytes of the ring goes on as far ahead as the ring has slots. The bytes are those that "
    "this CTA moves; a multicast load\n"
    "is counted once. The operations of a sparse product are those of the dense one. Plain "
    "loads and stores are not counted,\n"
    "and nothing here is a time.\n"
    "\n";

static const char markdown_watch[] =
    "## Watching a file\n"
    "\n"
    "`grout check FILE --watch`, and `grout run` likewise, does it again whenever FILE "
    "changes, or an array, a schedule or a\n"
    "list of rules that the call reads. An editor may write the file or put another in its "
    "place. A terminal is cleared\n"
    "before each answer. Ctrl-C while it waits ends with the exit code of the last answer, and "
    "so does a reader of the\n"
    "answers that goes away. Ctrl-C in a run ends with 130.\n"
    "\n";

static const char markdown_ends[] =
    "## What ends a call\n"
    "\n"
    "The time of `--timeout` counts from the start of the call, whatever the call does then: "
    "it reads, works out sizes and\n"
    "types, checks the rules, prepares a launch, runs it, tries other schedules or sizes, "
    "looks for repairs, writes CUDA.\n"
    "Ctrl-C ends all of these, too. What was found until then is reported, and the verdict is "
    "`incomplete`. A file that was\n"
    "not read or checked to its end is `time-limit` or `interrupted` instead. With `--expect` "
    "the time is for all files and\n"
    "their run lines together; a time in a run line is for that run.\n"
    "\n"
    "If the end comes before a kernel of the file, that kernel is not begun. The verdict is "
    "then `incomplete`, and the report\n"
    "names such kernels: in a remark on stderr, as `not_begun` in JSON "
    "([report_schema.md](report_schema.md#coverage)), as a\n"
    "notification in SARIF, as an annotation on GitHub, and as a list in the page of "
    "`--html`.\n"
    "\n";

static const char markdown_verdicts[] =
    "## What a clean verdict did not see\n"
    "\n"
    "A verdict speaks of one launch ([all verdicts](memory_model.md#what-a-verdict-says)). "
    "`not reached:` names what this\n"
    "launch did not reach:\n"
    "\n"
    "- lines of code that never ran;\n"
    "- barriers in loops of which no element was used a second time (`never came round`);\n"
    "- buffers in shared memory that copies filled, in loops, but no part of them twice "
    "(`never filled again`);\n"
    "- loops that `ran once` and would use shared memory, a barrier or an accumulator again.\n"
    "\n"
    "Each is named where a larger size could show more: in a loop whose number of turns is not "
    "written as a number. What one\n"
    "of them explains is not said twice: for a loop that ran once, only the barriers in it are "
    "named that never came round.\n"
    "\n"
    "`to reach more:` is the smallest size of one const that reaches all of it. If there is "
    "none, it is one of these: a sweep\n"
    "of the size that was checked and another one, as two branches need that exclude each "
    "other; the sizes of two consts; or\n"
    "else what reaches more. grout looks for it for up to five seconds, within `--budget` and "
    "`--timeout`. A kernel that\n"
    "reached everything gets neither line.\n"
    "\n"
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
    "| `// expect-holds: every-schedule`, `.. every-interleaving`, `.. this-schedule` | what the "
    "verdict holds for ([exploration](exploration.md)) |\n"
    "| `// run: OPTIONS` | run with these options; of several lines each is a run of its own |\n\n"
    "A comment after code speaks of its own line, a comment alone on its line of the next line "
    "that has code. The comparison is\ncomplete: a finding without an expectation fails, and so "
    "does an expectation without a finding. Notes are compared for the\ncodes that the file has "
    "an `expect-note` for. Diagnostics of an invalid kernel count as findings; the exit code is "
    "then still 0\nif all is as expected.\n\n"
    "The schedule and the timing are those of the options and of the run line.\n\n";

static const char markdown_others[] =
    "## Kernels of others\n\n"
    "The author of a kernel file decides what is run and what is expected of it, and reaches "
    "nothing else of the machine. So a\n`// run:` line takes\n\n";

static const char markdown_beside[] =
    "A file of a run line is a `.npy` file, and its name is relative to the folder of the kernel "
    "file. There it has to lie, or in a\nfolder below, once links and `..` are resolved, and it "
    "has to be a regular file. Every other option is refused at its word, and\nno line of a file "
    "that is refused comes into a message. No run line writes a file, opens a library or uses "
    "more threads. For a\nfile that the call itself names, a message may show the line that it is "
    "about.\n\n";

static const char markdown_texts[] =
    "The text of a kernel is text. A line that a `debug_print` begins by a newline of its own is "
    "shown after the mark `  | `, and one of a\nmessage after `| `, so that it is not a line of "
    "the "
    "report. "
    "Controls (C0 but tabs, DEL, C1), marks that turn the direction of writing, separators\nof "
    "lines and bytes that are not UTF-8 are shown as `\\x1b`, `\\n`, `\\u202e` and the like, in "
    "prints, messages, lines of source and names of\nfiles, in each form of a report and on the "
    "page of `--html`. So is a character of what a workflow takes for a command: `::` where a "
    "word\nbegins, `##[` and `##word[`; `--format github` writes annotations of its own, and no "
    "other line begins so. In JSON the values are what\nthey are, and the escapes are those of "
    "JSON. `emit`, `fmt` and the differences of `fix` are for programs: they are written byte for "
    "byte,\nand made visible on a terminal alone.\n\n";

static const char markdown_environment[] =
    "## Environment\n\n"
    "| variable | meaning |\n|---|---|\n"
    "| `NO_COLOR` | no colours, unless `--color always` |\n"
    "| `GROUT_CACHE`, `XDG_CACHE_HOME`, `HOME` | where compiled kernels are kept: `$GROUT_CACHE`, "
    "`$XDG_CACHE_HOME/grout`, `~/.cache/grout` |\n"
    "| `GROUT_NVRTC`, `CUDA_HOME` | the NVRTC library; a CUDA installation to search for it |\n";

/* The options that a run line takes, of one kind: "`-D`, `--sweep`". */
static void add_touching(grout_text *out, grout_option_touch touches) {
    const char *separator = "";
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_info *info = grout_option__get_info((grout_option_id)i);
        if (info->touches == touches &&
            grout_command__takes(GROUT_COMMAND_CHECK, (grout_option_id)i)) {
            grout_text_add(out, "%s`", separator);
            grout_option__print_name((grout_option_id)i, out);
            grout_text_add(out, "`");
            separator = ", ";
        }
    }
}

static void add_others(grout_text *out) {
    grout_text_add(out, "%s- ", markdown_others);
    add_touching(out, GROUT_TOUCHES_RUN);
    grout_text_add(out, ";\n- limits, which it lowers and never raises: ");
    add_touching(out, GROUT_TOUCHES_LESS);
    grout_text_add(out, ";\n- arrays, from a generator or a file beside the kernel: ");
    add_touching(out, GROUT_TOUCHES_ARRAY);
    grout_text_add(out, ".\n\n%s", markdown_beside);
}

void grout_help__add_chapters(grout_text *out) {
    grout_text_add(out, "%s", markdown_tail);
    add_generators(out);
    grout_text_add(out, "%s%s%s%s", markdown_outputs, markdown_causes, markdown_issue,
                   markdown_watch);
    grout_text_add(out, "%s%s", markdown_ends, markdown_verdicts);
    add_others(out);
    grout_text_add(out, "%s", markdown_texts);
    grout_text_add(out, "%s", markdown_environment);
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
                        "written out.\n\n## Options\n");
    add_markdown_options(out);
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

int grout_cmd_help(grout_session *session) {
    const grout_options *options = &session->options;
    const char *shell = grout_options__get(options, GROUT_OPTION_COMPLETION);
    grout_command command = GROUT_COMMAND_NONE;
    grout_text text = {0};
    if (options->argument_count > 0) {
        command = grout_command__find(options->arguments[0]);
        if (command == GROUT_COMMAND_NONE) {
            (void)grout_session__report_unknown_command(session, options->arguments[0]);
            grout_session__print_diags(session, GROUT_STREAM_ERR);
            return GROUT_EXIT_USAGE;
        }
    }
    if (shell != NULL) {
        grout_help__print_completion(shell, &text);
    } else if (grout_options__has(options, GROUT_OPTION_MARKDOWN)) {
        add_markdown(&text);
    } else if (grout_options__has(options, GROUT_OPTION_MAN)) {
        grout_help__print_man(command, &text);
    } else {
        grout_help__print(session, command);
    }
    grout_session__flush_exact(session, GROUT_STREAM_OUT, &text);
    return GROUT_EXIT_OK;
}
