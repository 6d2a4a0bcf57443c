/* sweep.c - check --sweep: every size in one process, one after the other, and one report.
 *
 * The first size that can be loaded gives the report its module: ids are the same at every size,
 * so that what the sizes reach adds up. --budget and --timeout are for all of them together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sweep.h"

#include "goes_on.h"
#include "invariant.h"
#include "joined.h"
#include "propose.h"
#include "stage.h"
#include "work.h"

#include <stdlib.h>

typedef struct sweep {
    grout_session *session;
    const char *path;
    grout_bytes text;
    grout_sizes sizes;
    grout_load base; /* of the first size that could be loaded; it outlives the report */
    grout_load cut;  /* of the size at whose loading the end came: it is the last one */
    grout_joined joined;
    grout_reporter report;
    int exit_code; /* the worst of the sizes */
} sweep;

/* ---- a size --------------------------------------------------------------------------------- */

/* Why no further size is run, in words; NULL: there is time. */
static const char *find_end(sweep *it) {
    grout_progress_line line;
    bool is_over = it->exit_code == GROUT_EXIT_INTERNAL || it->exit_code == GROUT_EXIT_INTERRUPTED;
    grout_progress_line__init(&line, it->session);
    return !grout_progress_line__goes_on(&line) ? grout_cut_get_text(line.cut)
           : is_over                            ? grout_cut_get_text(GROUT_CUT_NONE)
                                                : NULL;
}

static void run_kernels(sweep *it, grout_session *own, const grout_load *load) {
    if (it->joined.kernels == NULL && !grout_joined__set_kernels(&it->joined, load)) {
        (void)grout_diags_add_oom(own->diags);
        return;
    }
    grout_work__run_kernels(own, load, true, &it->report);
}

/* The first load is kept, and has the names of all kernels. */
static void keep_base(sweep *it, grout_load *load) {
    if (it->base.bound == NULL) {
        it->base = *load;
        *load = (grout_load){0};
    }
    grout_reporter__get_not_begun(&it->report)->load = &it->base;
}

/* The end has come while a size was loaded: its kernels have their names from there, or, if it was
 * not read, from another size. */
static void note_not_begun(sweep *it, grout_session *own, grout_load *load) {
    if (load->kernel_count > 0 && it->cut.symbolic == NULL) {
        it->cut = *load;
        *load = (grout_load){0};
    }
    grout_work__note_not_begun(own, it->cut.symbolic != NULL ? &it->cut : &it->base, true,
                               &it->report);
}

/* The session of a size: its options with -D, its own diagnostics. */
static void run_size(sweep *it, size_t index) {
    grout_session own = *it->session;
    grout_load load = {0};
    grout_joined__begin_size(&it->report, index);
    own.diags = grout_session__new_diags(it->session);
    if (own.diags == NULL ||
        !grout_sizes__apply(&it->sizes, index, &it->session->options, &own.options)) {
        (void)grout_diags_add_oom(it->session->diags);
        grout_diags_free(own.diags);
        return;
    }
    it->report.session = &own;
    it->report.load = &load;
    bool is_loaded = grout_load__init(&own, it->path, &it->text, false, &load);
    grout_session__apply_severities(&own);
    grout_reporter__add_diags(&it->report);
    if (is_loaded) {
        run_kernels(it, &own, &load);
        grout_reporter__add_diags(&it->report);
        keep_base(it, &load);
    } else if (grout_diags__has_ended(own.diags)) {
        note_not_begun(it, &own, &load);
    }
    it->exit_code = grout_work__get_worse(it->exit_code, grout_session__get_exit_code(&own));
    it->report.session = it->session;
    it->report.load = &it->base;
    grout_load__deinit(&load);
    free(own.options.uses);
    grout_diags_free(own.diags);
}

/* ---- all sizes ------------------------------------------------------------------------------ */

static void say_size(const sweep *it, size_t index, grout_stage *stage) {
    grout_text name = {0};
    grout_sizes__describe(&it->sizes, index, &name);
    grout_stage__say(stage, "size %zu of %zu (%s)", index + 1, it->sizes.count,
                     name.data == NULL ? "" : name.data);
    grout_stage__draw(it->session);
    grout_text_free(&name);
}

static void run_sizes(sweep *it) {
    grout_stage stage;
    grout_stage__begin(&stage, it->session);
    it->session->deadline->budget_end = it->session->budget_end;
    for (size_t i = 0; i < it->sizes.count; i++) {
        const char *end = find_end(it);
        if (end != NULL) {
            grout_joined__skip_size(&it->report, i, end);
            continue;
        }
        say_size(it, i, &stage);
        if (it->session->is_verbose) {
            grout_text name = {0};
            grout_sizes__describe(&it->sizes, i, &name);
            grout_session__print(it->session, GROUT_STREAM_ERR, "%s:\n",
                                 name.data == NULL ? "" : name.data);
            grout_text_free(&name);
        }
        run_size(it, i);
    }
    it->session->deadline->budget_end = 0;
    grout_stage__end(&stage, it->session);
}

/* What no size reached, and a size that does. */
static void judge_reach(sweep *it, grout_kernel_id id) {
    grout_joined_kernel *kernel = &it->joined.kernels[id];
    if (kernel->reach.module == NULL || !grout_joined__is_whole(&it->joined, id)) {
        return;
    }
    if (!grout_reach__find(&kernel->reach)) {
        (void)grout_diags_add_oom(it->session->diags);
    } else if (!grout_reach__is_whole(&kernel->reach) && !it->session->is_quiet &&
               grout_given__has_file(it->session->given) &&
               !grout_options__has(&it->session->options, GROUT_OPTION_NO_PROPOSALS)) {
        const grout_propose_task task = {
            .load = &it->base,
            .path = it->path,
            .text = &it->text,
            .sizes = &it->sizes,
            .reach = &kernel->reach,
        };
        grout_propose__sizes(it->session, &task, &kernel->proposal);
    }
}

static bool init(sweep *it) {
    grout_session *session = it->session;
    it->base.name = grout_load__get_name(it->path);
    if (!grout_joined__init(&it->joined, &it->sizes)) {
        return grout_diags_add_oom(session->diags);
    }
    return grout_session__read_file(session, it->path, GROUT_FILE_MAX, &it->text) &&
           grout_reporter__read_rules(&it->report);
}

/* Runs all and prints the report, after the diagnostics of the call itself. */
static void report_all(sweep *it) {
    bool is_ready = init(it);
    if (is_ready) {
        it->report.joined = &it->joined;
        run_sizes(it);
        for (size_t i = 0; i < it->base.kernel_count && it->joined.kernels != NULL; i++) {
            judge_reach(it, it->base.kernels[i]);
        }
    }
    it->report.joined = NULL;
    it->report.diags_seen = it->report.total_shown = 0;
    grout_reporter__add_diags(&it->report);
    it->report.joined = is_ready ? &it->joined : NULL;
    grout_reporter__finish(&it->report);
}

int grout_sweep__run(grout_session *session, const char *path) {
    sweep it = {.session = session, .path = path, .exit_code = GROUT_EXIT_OK};
    if (!grout_sizes__read(session, &it.sizes)) {
        grout_sizes__deinit(&it.sizes);
        grout_session__print_diags(session, GROUT_STREAM_ERR);
        return GROUT_EXIT_USAGE;
    }
    grout_work__begin_budget(session);
    if (grout_reporter__init(&it.report, session, &it.base, &it.text)) {
        report_all(&it);
    }
    int exit_code =
        grout_work__get_worse(it.exit_code, grout_work__get_exit_code(session, &it.report));
    grout_reporter__deinit(&it.report);
    grout_joined__deinit(&it.joined);
    grout_load__deinit(&it.base);
    grout_load__deinit(&it.cut);
    grout_sizes__deinit(&it.sizes);
    free(it.text.data);
    return exit_code;
}
