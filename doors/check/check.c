/* check.c - see check.h: a call of grout whose host is memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/check.h"

#include "alloc.h"
#include "array.h"
#include "checking.h"
#include "diag_list.h"
#include "files.h"
#include "fix.h"
#include "result.h"
#include "suggest.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

typedef struct option_word {
    grout_option_id id;
    char *value; /* owned; NULL: a flag */
} option_word;

struct grout_check {
    char *name; /* of the text */
    grout_memory_files files;
    grout_given given;
    struct {
        option_word *items;
        size_t count, capacity;
    } words;
    bool (*progress)(void *payload, const grout_progress *progress);
    void *payload;
};

/* ---- making --------------------------------------------------------------------------------- */

grout_check *grout_check_new(const char *name, const char *text, size_t size) {
    grout_check *check = grout__new(NULL, 1, sizeof *check);
    if (check != NULL) {
        check->name = grout__copy(NULL, name, strlen(name));
    }
    if (check == NULL || check->name == NULL ||
        !grout_memory_files__put(&check->files, name, text, size)) {
        grout_check_free(check);
        return NULL;
    }
    check->given.has_file = true;
    return check;
}

void grout_check_free(grout_check *check) {
    if (check == NULL) {
        return;
    }
    for (size_t i = 0; i < check->words.count; i++) {
        grout__free(check->words.items[i].value);
    }
    for (size_t i = 0; i < check->given.arrays.count; i++) {
        grout__free(check->given.arrays.items[i].param);
    }
    for (size_t i = 0; i < check->given.allowances.count; i++) {
        grout__free(check->given.allowances.items[i].file);
        grout__free(check->given.allowances.items[i].reason);
    }
    grout__free(check->given.allowances.items);
    grout__free(check->words.items);
    grout__free(check->given.arrays.items);
    grout__free(check->given.externs.items);
    grout_memory_files__deinit(&check->files);
    grout__free(check->name);
    grout__free(check);
}

void grout_check_use_module(grout_check *check, grout_module *symbolic) {
    check->given.module = symbolic;
    check->given.has_file = symbolic == NULL;
}

bool grout_check_add_file(grout_check *check, const char *name, const void *data, size_t size) {
    return grout_memory_files__put(&check->files, name, data, size);
}

bool grout_check_give_array(grout_check *check, const char *param, const grout_array *array,
                            size_t size, void *results) {
    grout_given_array given = {.rank = (uint8_t)array->rank,
                               .data = array->data,
                               .results = results,
                               .size = size,
                               .param = grout__copy(NULL, param, strlen(param))};
    if (array->rank > GROUT_RANK_MAX || given.param == NULL ||
        !GROUT_ARRAY_RESERVE(&check->given.arrays, NULL, 1)) {
        grout__free(given.param);
        return false;
    }
    memcpy(given.dims, array->dims, array->rank * sizeof given.dims[0]);
    check->given.arrays.items[check->given.arrays.count++] = given;
    return true;
}

bool grout_check_allow(grout_check *check, grout_diag_code code, const char *file, uint32_t line,
                       const char *reason) {
    grout_given_allowance rule = {.code = code,
                                  .line = line,
                                  .file = grout__copy(NULL, file, strlen(file)),
                                  .reason = grout__copy(NULL, reason, strlen(reason))};
    const bool is_finding =
        grout_diag_get(code)->stage == GROUT_STAGE_RUN && code != GROUT_DIAG_STEP_LIMIT;
    if (!is_finding || rule.file == NULL || rule.reason == NULL ||
        !GROUT_ARRAY_RESERVE(&check->given.allowances, NULL, 1)) {
        grout__free(rule.file);
        grout__free(rule.reason);
        return false;
    }
    check->given.allowances.items[check->given.allowances.count++] = rule;
    return true;
}

bool grout_check_give_function(grout_check *check, const grout_extern *function) {
    if (!GROUT_ARRAY_RESERVE(&check->given.externs, NULL, 1)) {
        return false;
    }
    check->given.externs.items[check->given.externs.count++] = *function;
    return true;
}

void grout_check_set_callbacks(grout_check *check,
                               bool (*progress)(void *payload, const grout_progress *progress),
                               void (*print)(void *payload, const char *line), void *payload) {
    check->progress = progress;
    check->payload = payload;
    check->given.print = print;
    check->given.payload = payload;
}

/* ---- options -------------------------------------------------------------------------------- */

/* They say where an answer goes or how it looks, which is the caller's here; or name code. */
static const grout_option_id not_taken[] = {
    GROUT_OPTION_FORMAT, GROUT_OPTION_HTML,      GROUT_OPTION_COLOR,       GROUT_OPTION_OUTPUT,
    GROUT_OPTION_INOUT,  GROUT_OPTION_WATCH,     GROUT_OPTION_STATS,       GROUT_OPTION_QUIET,
    GROUT_OPTION_YES,    GROUT_OPTION_DIFF,      GROUT_OPTION_EXTERN,      GROUT_OPTION_VERBOSE,
    GROUT_OPTION_EXPECT, GROUT_OPTION_SHOW_HELP, GROUT_OPTION_SHOW_VERSION};

static bool is_taken(grout_option_id id) {
    for (size_t i = 0; i < sizeof not_taken / sizeof not_taken[0]; i++) {
        if (not_taken[i] == id) {
            return false;
        }
    }
    return grout_command__takes(GROUT_COMMAND_CHECK, id) ||
           grout_command__takes(GROUT_COMMAND_FIX, id); /* a run on the CPU has none beside them */
}

static bool is_called(grout_option_id id, const char *name) {
    const grout_option_info *info = grout_option__get_info(id);
    const char letter[2] = {info->short_text, '\0'};
    return strcmp(info->long_text != NULL ? info->long_text : letter, name) == 0;
}

static grout_option_id find_option(const char *name, grout_diags *diags) {
    grout_suggestion suggestion = grout_suggest__begin_command(name);
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_id id = (grout_option_id)i;
        if (is_taken(id) && is_called(id, name)) {
            return id;
        }
        if (is_taken(id) && grout_option__get_info(id)->long_text != NULL) {
            grout_suggest__offer(&suggestion, grout_option__get_info(id)->long_text);
        }
    }
    grout_diags_add(diags, GROUT_DIAG_BAD_OPTION, grout_nowhere, "a check has no option '%.200s'",
                    name);
    if (suggestion.best != NULL) {
        grout_diags_help(diags, "did you mean '%s'?", suggestion.best);
    }
    return GROUT_OPTION_NONE;
}

static bool check_value(grout_option_id id, const char *value, grout_diags *diags) {
    const bool is_flag = grout_option__get_info(id)->kind == GROUT_OPTION_FLAG;
    if (is_flag ? value == NULL : value != NULL && grout_options__is_value_good(id, value)) {
        return true;
    }
    grout_text name = {0};
    grout_option__print_name(id, &name);
    grout_diags_add(diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                    is_flag ? "%s takes no value" : "the value of %s is %s, not '%.200s'",
                    name.data == NULL ? "" : name.data, grout_option__get_wanted(id),
                    value == NULL ? "" : value);
    grout_text_free(&name);
    return false;
}

bool grout_check_set(grout_check *check, const char *option, const char *value,
                     grout_diags *diags) {
    option_word word = {.id = find_option(option, diags)};
    if (word.id == GROUT_OPTION_NONE || !check_value(word.id, value, diags)) {
        return false;
    }
    word.value = value == NULL ? NULL : grout__copy(NULL, value, strlen(value));
    if ((value != NULL && word.value == NULL) || !GROUT_ARRAY_RESERVE(&check->words, NULL, 1)) {
        grout__free(word.value);
        return grout_diags_add_oom(diags);
    }
    check->words.items[check->words.count++] = word;
    return true;
}

/* ---- running -------------------------------------------------------------------------------- */

/* Between launches nobody counts CTAs. */
static bool ask(void *payload) {
    const grout_check *check = payload;
    const grout_progress none = {0};
    return check->progress == NULL || check->progress(check->payload, &none);
}

static bool add_options(const grout_check *check, grout_session *session) {
    bool is_good = true;
    for (size_t i = 0; i < check->words.count && is_good; i++) {
        const option_word *word = &check->words.items[i];
        if (grout_command__takes(session->options.command, word->id)) {
            is_good =
                grout_options__add(&session->options, word->id, NULL, word->value, session->diags);
        }
    }
    const bool writes = session->options.command == GROUT_COMMAND_FIX; /* into memory, unasked */
    return is_good &&
           (!writes ||
            grout_options__add(&session->options, GROUT_OPTION_YES, NULL, NULL, session->diags)) &&
           grout_options__add(&session->options, GROUT_OPTION_COLOR, NULL, "always",
                              session->diags);
}

static int run_command(grout_session *session) {
    if (session->options.command == GROUT_COMMAND_FIX) {
        return grout_fix__run(session);
    }
    if (session->options.command == GROUT_COMMAND_RUN) {
        return grout_work__run_on_cpu(session, session->options.arguments[0], false, false);
    }
    return grout_checking__run(session);
}

/* A call of the command, but for what it touches. The exit code. memory lasts as long as what the
 * call leaves. */
static int call(grout_session *session, const grout_check *check, grout_limited *memory) {
    const char *arguments[1] = {check->name};
    session->options.arguments = arguments;
    session->options.argument_count = 1;
    int exit_code = GROUT_EXIT_USAGE;
    if (add_options(check, session)) {
        grout_session__read_form(session);
        grout_session__begin_timeout(session);
        grout_session__begin_memory(session, memory);
        if (grout_session__check_severities(session) && grout_files__check(session)) {
            exit_code = run_command(session);
        }
    }
    free(session->options.uses);
    session->options = (grout_options){0};
    return exit_code;
}

/* Adds the diagnostics of a call to those of the caller. */
static void hand_over(const grout_check *check, const grout_diags *from, grout_diags *to) {
    const grout_memory_file *text = grout_memory_files__find(&check->files, check->name);
    grout_diags_add_source(to, check->name, text->bytes.data, text->bytes.size);
    if (check->given.module != NULL) {
        (void)grout_module_add_sources(check->given.module, to);
    }
    grout_diags__append(to, from);
}

static grout_report *run(grout_check *check, grout_command command, grout_diags *diags) {
    grout_report *report = grout_result__new(&check->files);
    grout_diags *own = grout_diags_new(); /* what was said before is of no report */
    if (report == NULL || own == NULL) {
        grout_report_free(report);
        grout_diags_free(own);
        (void)grout_diags_add_oom(diags);
        return NULL;
    }
    grout_given given = check->given;
    grout_deadline deadline = {.host = &report->host.host};
    grout_session session = {.host = &report->host.host,
                             .options = {.command = command},
                             .diags = own,
                             .deadline = &deadline,
                             .given = &given,
                             .kept = &report->kept};
    report->host.goes_on = ask;
    report->host.payload = check;
    given.progress = check->progress;
    if (command == GROUT_COMMAND_FIX) {
        given.module = NULL; /* the changes are of the text */
        session.repaired = &report->repaired;
    }
    session.start = report->host.host.get_seconds(&report->host);
    grout_diags_set_why_end(own, grout_deadline__why_end, &deadline);
    report->exit_code = call(&session, check, &report->memory);
    hand_over(check, own, diags);
    grout_diags_free(own);
    report->host.goes_on = NULL;
    grout_text_free(&session.write_reason);
    return grout_result__finish(report, diags);
}

grout_report *grout_check_run(grout_check *check, grout_diags *diags) {
    return run(check, GROUT_COMMAND_CHECK, diags);
}

grout_report *grout_check_run_unchecked(grout_check *check, grout_diags *diags) {
    return run(check, GROUT_COMMAND_RUN, diags);
}

grout_report *grout_check_repair(grout_check *check, grout_diags *diags) {
    return run(check, GROUT_COMMAND_FIX, diags);
}
