/* expect_file.c - reads and parses a file for all of its run lines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expect_file.h"

#include "diag_list.h"

#include <stdlib.h>

/* Each run line is a run of all kernels, so that lines and kernels multiply. */
enum { RUN_LINES_MAX = 4096 };

static bool check_lines(grout_session *session, const grout_expect_file *file) {
    const grout_expect_lines *runs = &file->expectations.runs;
    if (runs->count <= RUN_LINES_MAX) {
        return true;
    }
    (void)grout_expect_file__show(file, session->diags);
    const grout_place place = {.file = file->name,
                               .line = runs->items[RUN_LINES_MAX].line,
                               .column = runs->items[RUN_LINES_MAX].column,
                               .length = 1};
    grout_diags_add(session->diags, GROUT_DIAG_LIMIT, place,
                    "the file has %zu '// run:' lines, at most %d are run", runs->count,
                    RUN_LINES_MAX);
    grout_diags_help(session->diags, "put some of them into another file; --sweep is several "
                                     "sizes in one line");
    return false;
}

/* Each run line brings the text of the file and that of the module together, which may have another
 * allocator. */
static void pair_texts(const grout_expect_file *file) {
    grout_shared_text *text = file->module != NULL ? grout_module_get_text(file->module) : NULL;
    if (text != NULL) {
        grout_shared_text__pair(file->source, text);
    }
}

static bool parse(grout_session *session, grout_expect_file *file) {
    file->said = grout_session__new_diags(session);
    file->rules_said = grout_session__new_diags(session);
    if (file->said == NULL || file->rules_said == NULL) {
        return grout_diags_add_oom(session->diags);
    }
    file->module = grout_parse_in(grout_session__get_allocator(session), file->name,
                                  file->text.data, file->text.size, file->said);
    pair_texts(file);
    grout_session own = *session;
    own.diags = file->rules_said;
    file->is_silenced = grout_silencer__init(&file->silencer, &own, file->name, &file->text);
    return true;
}

bool grout_expect_file__read(grout_session *session, const char *path, grout_expect_file *out) {
    out->path = path;
    out->name = grout_load__get_name(path);
    if (!grout_session__read_file(session, path, GROUT_FILE_MAX, &out->text)) {
        return false;
    }
    out->source = grout_shared_text__new(NULL, out->text.data, out->text.size);
    if (out->source == NULL ||
        !grout_expectations__read(out->name, out->text.data, out->text.size, &out->expectations)) {
        return grout_diags_add_oom(session->diags);
    }
    return out->expectations.faults.size > 0 || (check_lines(session, out) && parse(session, out));
}

void grout_expect_file__deinit(grout_expect_file *file) {
    grout_module_free(file->module);
    grout_silencer__deinit(&file->silencer);
    grout_diags_free(file->said);
    grout_diags_free(file->rules_said);
    grout_shared_text__drop(file->source);
    grout_expectations__deinit(&file->expectations);
    free(file->text.data);
    *file = (grout_expect_file){0};
}

bool grout_expect_file__show(const grout_expect_file *file, grout_diags *diags) {
    return grout_diags__add_shared_source(diags, file->name, file->source);
}

bool grout_expect_file__load(const grout_expect_file *file, grout_session *session,
                             grout_load *out) {
    *out = (grout_load){.name = file->name};
    grout_diags__append(session->diags, file->said);
    return grout_expect_file__show(file, session->diags) && file->module != NULL &&
           grout_load__init_with(session, file->path, file->module, out);
}

bool grout_expect_file__has_rules(const grout_expect_file *file, grout_session *session) {
    grout_diags__append(session->diags, file->rules_said);
    return file->is_silenced;
}
