/* files.c - which files a call reads and writes, and that none of them is lost.
 * SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <stdlib.h>
#include <string.h>

/* A file that an option or an argument names. */
typedef struct file_use {
    char *path;         /* owned */
    grout_option_id id; /* of the option */
    bool is_argument;   /* no option: the kernel's file */
    bool is_written;
    const char *param; /* of the option's value; NULL: it has none */
    size_t param_size;
} file_use;

typedef struct file_uses {
    file_use *items;
    size_t count;
    bool failed; /* no memory */
} file_uses;

static void deinit(file_uses *uses) {
    for (size_t i = 0; i < uses->count; i++) {
        free(uses->items[i].path);
    }
    free(uses->items);
}

static void add(file_uses *uses, file_use use, const char *path, size_t size) {
    file_use *items = realloc(uses->items, (uses->count + 1) * sizeof *items);
    use.path = malloc(size + 1);
    uses->items = items != NULL ? items : uses->items;
    if (items == NULL || use.path == NULL) {
        free(use.path);
        uses->failed = true;
        return;
    }
    memcpy(use.path, path, size);
    use.path[size] = '\0';
    items[uses->count++] = use;
}

size_t grout_files__get_npy_size(const char *text) {
    const char *end = strstr(text, ".npy:");
    return end == NULL ? strlen(text) : (size_t)(end - text) + 4;
}

static bool is_npy(const char *text, size_t size) {
    return size > 4 && memcmp(text + size - 4, ".npy", 4) == 0;
}

/* P=FILE.npy, P=FILE.npy:DTYPE, P=IN.npy:OUT.npy, P=IN.npy:OUT.npy:DTYPE; a value of another form
 * is refused elsewhere. */
static void add_arrays(file_uses *uses, const grout_option_use *option) {
    file_use use = {.id = option->id, .param = option->value};
    use.param += use.param[0] == '%' ? 1 : 0;
    use.param_size = strcspn(use.param, "=");
    if (use.param[use.param_size] == '\0') {
        return;
    }
    const char *file = use.param + use.param_size + 1;
    size_t size = grout_files__get_npy_size(file);
    use.is_written = option->id == GROUT_OPTION_OUTPUT;
    if (is_npy(file, size)) {
        add(uses, use, file, size);
    }
    if (option->id == GROUT_OPTION_INOUT && file[size] == ':') {
        use.is_written = true;
        file += size + 1;
        add(uses, use, file, grout_files__get_npy_size(file));
    }
}

/* Whether the value of an option is P=FILE.npy and the like. */
static bool is_of_param(const grout_option_info *info) {
    return info->argument != NULL && strncmp(info->argument, "P=", 2) == 0;
}

/* What a run line names lies beside its kernel, and is only read. */
static void add_option(file_uses *uses, const grout_option_use *option) {
    const grout_option_info *info = grout_option__get_info(option->id);
    bool is_written = info->touches == GROUT_TOUCHES_WRITES;
    bool is_read = info->touches == GROUT_TOUCHES_READS || info->touches == GROUT_TOUCHES_CODE;
    if (option->value == NULL || option->line != NULL) {
        return;
    }
    if (is_of_param(info)) {
        add_arrays(uses, option);
    } else if (is_written || is_read) {
        file_use use = {.id = option->id, .is_written = is_written};
        add(uses, use, option->value, strlen(option->value));
    }
}

static void find_uses(const grout_options *options, file_uses *uses) {
    bool has_files =
        options->command == GROUT_COMMAND_CHECK || options->command == GROUT_COMMAND_FIX ||
        options->command == GROUT_COMMAND_RUN || options->command == GROUT_COMMAND_EMIT;
    for (size_t i = 0; has_files && i < options->argument_count; i++) {
        const char *path = options->arguments[i];
        if (strcmp(path, "-") != 0) {
            add(uses, (file_use){.is_argument = true}, path, strlen(path));
        }
    }
    for (size_t i = 0; i < options->use_count; i++) {
        add_option(uses, &options->uses[i]);
    }
}

static void describe(const file_use *use, grout_text *out) {
    if (use->is_argument) {
        grout_text_add(out, "the kernel's file");
        return;
    }
    grout_option__print_name(use->id, out);
    if (use->param != NULL) {
        grout_text_add(out, " %.*s", (int)use->param_size, use->param);
    }
}

/* Diagnoses that what is written is another's file. */
static bool refuse(grout_session *session, const file_use *written, const file_use *other) {
    grout_text writer = {0}, owner = {0};
    if (written == NULL) {
        grout_text_add(&writer, "the schedule");
    } else {
        describe(written, &writer);
    }
    grout_text_add(&owner, other->is_argument ? "" : "the file of ");
    describe(other, &owner);
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                    "%s would overwrite '%s', %s", writer.data == NULL ? "" : writer.data,
                    other->path, owner.data == NULL ? "" : owner.data);
    grout_diags_help(session->diags, "write to another file");
    grout_text_free(&writer);
    grout_text_free(&owner);
    return false;
}

/* The last use of an option counts; --output is given for each parameter. */
static bool replaces(const file_use *a, const file_use *b) {
    return a->id == b->id && !a->is_argument && !b->is_argument && a->param == NULL;
}

static bool check_pair(grout_session *session, const file_use *a, const file_use *b) {
    const grout_host *host = session->host;
    const file_use *written = b->is_written ? b : a;
    if (!written->is_written || replaces(a, b) ||
        !host->is_same_file(host->payload, a->path, b->path)) {
        return true;
    }
    return refuse(session, written, written == b ? a : b);
}

bool grout_files__check(grout_session *session) {
    file_uses uses = {0};
    bool is_good = true;
    find_uses(&session->options, &uses);
    for (size_t i = 0; i < uses.count; i++) {
        for (size_t j = 0; j < i; j++) {
            is_good = check_pair(session, &uses.items[j], &uses.items[i]) && is_good;
        }
    }
    if (uses.failed) {
        is_good = grout_diags_add_oom(session->diags);
    }
    deinit(&uses);
    return is_good;
}

bool grout_files__may_write(grout_session *session, const char *path) {
    const grout_host *host = session->host;
    file_uses uses = {0};
    bool is_good = true;
    find_uses(&session->options, &uses);
    for (size_t i = 0; i < uses.count && is_good; i++) {
        const file_use *use = &uses.items[i];
        if (!(use->id == GROUT_OPTION_SAVE_SCHEDULE && !use->is_argument) &&
            host->is_same_file(host->payload, path, use->path)) {
            is_good = refuse(session, NULL, use);
        }
    }
    if (uses.failed) {
        is_good = grout_diags_add_oom(session->diags);
    }
    deinit(&uses);
    return is_good;
}

static bool is_listed(const grout_file_list *list, const char *path) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->paths[i], path) == 0) {
            return true;
        }
    }
    return false;
}

bool grout_files__list_read(grout_session *session, grout_file_list *out) {
    file_uses uses = {0};
    find_uses(&session->options, &uses);
    *out = (grout_file_list){.paths = calloc(uses.count + 1, sizeof *out->paths)};
    for (size_t i = 0; i < uses.count && out->paths != NULL; i++) {
        if (!uses.items[i].is_written && !is_listed(out, uses.items[i].path)) {
            out->paths[out->count++] = uses.items[i].path;
            uses.items[i].path = NULL; /* it is the list's now */
        }
    }
    bool is_good = out->paths != NULL && !uses.failed;
    deinit(&uses);
    return is_good || grout_diags_add_oom(session->diags);
}

void grout_file_list__deinit(grout_file_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->paths[i]);
    }
    free(list->paths);
    *list = (grout_file_list){0};
}
