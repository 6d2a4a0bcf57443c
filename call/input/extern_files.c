/* extern_files.c - the functions that extern_elementwise calls, from libraries and CUDA sources.
 * SPDX-License-Identifier: Apache-2.0 */
#include "extern_files.h"

#include "line_name.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_MAX ((uint64_t)16 << 20) /* bytes */

static bool is_source(const char *path) {
    static const char *const endings[] = {".cu", ".cuh", ".h", ".hpp", ".c", ".cc", ".cpp"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcmp(dot, endings[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* So that what the compiler says names the file. */
static void add_line_directive(const char *path, grout_text *out) {
    grout_text_add(out, "#line 1 \"");
    grout_line_name__add(out, path);
    grout_text_add(out, "\"\n");
}

static bool read_source(grout_session *session, const char *path, grout_extern_files *files) {
    grout_bytes bytes = {0};
    if (!grout_session__read_file(session, path, SOURCE_MAX, &bytes)) {
        return false;
    }
    add_line_directive(path, &files->source);
    grout_text_add_bytes(&files->source, bytes.data, bytes.size);
    grout_text_add(&files->source, "\n");
    free(bytes.data);
    return !files->source.failed || grout_diags_add_oom(session->diags);
}

static bool fail_open(grout_session *session, const char *path, const char *reason) {
    grout_diags_add(session->diags, GROUT_DIAG_FILE_UNREADABLE, grout_nowhere,
                    "--extern: cannot open the library '%s': %s", path,
                    reason == NULL ? "this grout opens none" : reason);
    grout_diags_help(session->diags, "'cc -shared -fPIC -o lib.so functions.c' makes one");
    return false;
}

static bool open_library(grout_session *session, const char *path, grout_extern_files *files) {
    const grout_host *host = session->host;
    grout_text reason = {0};
    void **more = realloc(files->libraries, (files->library_count + 1) * sizeof *more);
    if (more == NULL) {
        return grout_diags_add_oom(session->diags);
    }
    files->libraries = more;
    void *library =
        host->open_library == NULL ? NULL : host->open_library(host->payload, path, &reason);
    if (library == NULL) {
        (void)fail_open(session, path, reason.data);
    } else {
        files->libraries[files->library_count++] = library;
    }
    grout_text_free(&reason);
    return library != NULL;
}

static grout_any_function *find_function(const grout_extern_files *files, const char *name) {
    grout_any_function *function = NULL;
    for (size_t i = 0; i < files->library_count && function == NULL; i++) {
        function = files->host->find_function(files->host->payload, files->libraries[i], name);
    }
    return function;
}

/* What the module calls and a library has. */
static bool make_functions(grout_session *session, const grout_module *bound,
                           grout_extern_files *files) {
    grout_op_id ops[GROUT_EXTERNS_MAX];
    grout_extern_function found[GROUT_EXTERNS_MAX];
    const uint32_t wanted = grout_module_find_externs(bound, ops);
    size_t count = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        const char *name = grout_op_get_extern_name(bound, grout_module_get_op(bound, ops[i]));
        grout_any_function *function = find_function(files, name);
        if (function != NULL) {
            found[count++] = (grout_extern_function){name, function};
        }
    }
    files->functions = grout_externs_new(bound, found, count, NULL, session->diags);
    return files->functions != NULL;
}

bool grout_extern_files__read(grout_session *session, const grout_module *bound,
                              grout_extern_files *out) {
    const char *path;
    *out = (grout_extern_files){.host = session->host, .given = session->given};
    for (size_t i = 0;
         (path = grout_options__get_use(&session->options, GROUT_OPTION_EXTERN, i)) != NULL; i++) {
        if (!(is_source(path) ? read_source(session, path, out)
                              : open_library(session, path, out))) {
            return false;
        }
    }
    return out->library_count == 0 || make_functions(session, bound, out);
}

const grout_extern *grout_extern_files__get(const grout_extern_files *files, uint32_t *count_out) {
    if (files->given != NULL && files->given->externs.count > 0) {
        *count_out = (uint32_t)files->given->externs.count;
        return files->given->externs.items;
    }
    *count_out = 0;
    return files->functions == NULL ? NULL : grout_externs_get(files->functions, count_out);
}

void grout_extern_files__deinit(grout_extern_files *files) {
    grout_externs_free(files->functions);
    for (size_t i = 0; i < files->library_count; i++) {
        files->host->close_library(files->host->payload, files->libraries[i]);
    }
    free(files->libraries);
    grout_text_free(&files->source);
    *files = (grout_extern_files){0};
}
