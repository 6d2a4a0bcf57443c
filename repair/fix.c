/* fix.c - the kernels of a file, one after the other; then the user decides.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fix.h"

#include "diff.h"
#include "goes_on.h"
#include "repaired.h"
#include "search.h"
#include "sweep.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

typedef struct fix {
    grout_session *session;
    const char *path;
    grout_text name; /* of the file, as it is shown */
    bool is_stdin;
    grout_stream stream; /* of all but the text itself */
    grout_bytes before;
    grout_text after;
    grout_sizes sizes;
    grout_text steps;
    grout_text wider;     /* larger sizes at which the result was checked too */
    grout_text elsewhere; /* sizes at which it is not clean */
    uint32_t step_count;
    uint64_t tried;
    bool was_cut;
    grout_trial first, last; /* of all kernels: before and after */
} fix;

static const char *get_name(const fix *it) {
    return it->name.data != NULL ? it->name.data : "";
}

static void say(const fix *it, const char *text) {
    if (!it->session->is_quiet) {
        grout_session__print(it->session, it->stream, "%s", text);
    }
}

/* ---- the search ----------------------------------------------------------------------------- */

static double find_end(const fix *it) {
    const grout_options *options = &it->session->options;
    double now = it->session->host->get_seconds(it->session->host->payload);
    double end = now + grout_options__get_number(options, GROUT_OPTION_BUDGET, GROUT_FIX_SECONDS);
    double timeout = grout_options__get_number(options, GROUT_OPTION_TIMEOUT, 0);
    return timeout > 0 && it->session->start + timeout < end ? it->session->start + timeout : end;
}

/* The kernels of a file may share their sizes. */
static void add_wider(fix *it, const grout_text *words) {
    bool is_known = it->wider.size > 0 && words->size > 0 && strstr(it->wider.data, words->data);
    if (words->size > 0 && !is_known) {
        grout_text_add(&it->wider, "%s%s", it->wider.size > 0 ? ", and with" : "", words->data);
    }
}

static bool has_time(fix *it) {
    it->was_cut |= grout_session__is_over(it->session);
    return !it->was_cut;
}

static bool repair_kernel(fix *it, const char *kernel) {
    grout_search search = {.task = {.session = it->session,
                                    .path = it->path,
                                    .sizes = &it->sizes,
                                    .kernel = kernel,
                                    .looks_again = it->first.is_by_schedule},
                           .end = find_end(it)};
    grout_text_add_bytes(&search.text, it->after.data, it->after.size);
    it->session->deadline->budget_end = search.end;
    bool is_good = !search.text.failed && grout_search__run(&search);
    it->session->deadline->budget_end = 0;
    if (search.step_count > 0) {
        grout_text_free(&it->after);
        it->after = search.text;
        search.text = (grout_text){0};
        grout_text_add(&it->steps, "%s%s:\n", kernel == NULL ? get_name(it) : "@",
                       kernel == NULL ? "" : kernel);
        grout_text_add_bytes(&it->steps, search.steps.data, search.steps.size);
        add_wider(it, &search.wider.words);
        grout_text_add(&it->elsewhere, "%s",
                       it->elsewhere.size > 0 && search.elsewhere.size > 0 ? ", " : "");
        grout_text_add_bytes(&it->elsewhere, search.elsewhere.data, search.elsewhere.size);
    }
    it->step_count += search.step_count;
    it->tried += search.tried;
    it->was_cut |= search.was_cut;
    grout_search__deinit(&search);
    return is_good;
}

/* The kernels are those of the first size: every size has the same. */
static bool repair_kernels(fix *it) {
    grout_session own = *it->session;
    grout_load load = {0};
    own.options.uses = NULL;
    own.diags = grout_session__new_diags(it->session);
    bool is_good = own.diags != NULL &&
                   grout_sizes__apply(&it->sizes, 0, &it->session->options, &own.options) &&
                   grout_load__init(&own, it->path, &it->before, false, &load);
    for (size_t i = 0; i < load.kernel_count && is_good && has_time(it); i++) {
        const grout_kernel *kernel = grout_module_get_kernel(load.bound, load.kernels[i]);
        if (grout_trial__is_bad(&it->first, load.kernels[i])) {
            is_good = repair_kernel(it, grout_module_get_string(load.bound, kernel->name));
        }
    }
    const bool is_ended = grout_diags__has_ended(own.diags);
    it->was_cut |= is_ended;
    free(own.options.uses);
    grout_load__deinit(&load);
    grout_diags_free(own.diags);
    return is_good || is_ended;
}

static bool repair(fix *it) {
    /* What cannot be loaded has no kernels to go through. */
    return it->first.is_valid ? repair_kernels(it) : repair_kernel(it, NULL);
}

/* ---- the answer ----------------------------------------------------------------------------- */

static void add_count(grout_text *out, uint64_t count, const char *noun) {
    grout_text_add(out, "%llu %s%s", (unsigned long long)count, noun, count == 1 ? "" : "s");
}

/* Whether the check saw all there is to see; what it says is worth less if not. */
static bool is_whole(const grout_trial *trial) {
    return trial->is_valid && !trial->is_incomplete;
}

/* How much is in flight, where that is not as it was: a repair may be clean and slow. */
static void add_depth(const fix *it, grout_text *out) {
    const uint32_t before = it->first.depth, after = it->last.depth;
    if (before != after) {
        grout_text_add(out,
                       "%s: at most %u asynchronous operation%s of a CTA %s in flight at once, "
                       "before the change %u\n",
                       get_name(it), (unsigned)after, after == 1 ? "" : "s",
                       after == 1 ? "is" : "are", (unsigned)before);
    }
}

/* "ring.grout: repaired by 2 changes: clean" */
static void add_verdict(const fix *it, grout_text *out) {
    const grout_trial *last = &it->last;
    if (it->step_count > 0) {
        grout_text_add(out, "%s: ", get_name(it));
        add_count(out, it->step_count, "change");
        grout_text_add(out, ", ");
    } else {
        grout_text_add(out, "%s: no change helps; ", get_name(it));
    }
    if (grout_trial__is_clean(last)) {
        grout_text_add(out, "the result is clean%s",
                       last->holds ? "" : " under this schedule (try --explore)");
        grout_text_add(out, "%s%s", it->wider.size > 0 ? ", also with" : "",
                       it->wider.size > 0 ? it->wider.data : "");
        grout_text_add(out, "%s%s\n", it->elsewhere.size > 0 ? ", but not with " : "",
                       it->elsewhere.size > 0 ? it->elsewhere.data : "");
        add_depth(it, out);
        return;
    }
    add_count(out, last->count, "finding");
    grout_text_add(out, "%s%s", last->count == 1 ? " is" : " are", " left");
    grout_text_add(out, "%s%s\n",
                   last->is_different ? ", and an output differs from the expected one" : "",
                   it->was_cut ? ", and the time was over (--budget, --timeout)" : "");
}

static void show(fix *it) {
    grout_text text = {0};
    bool has_color = grout_session__get_look(it->session, it->stream).color;
    const grout_text before = {.data = it->before.data, .size = it->before.size};
    if (it->session->is_verbose) {
        add_count(&text, it->tried, "change");
        grout_text_add(&text, " tried\n");
    }
    grout_text_add_bytes(&text, it->steps.data, it->steps.size);
    if (it->session->is_quiet) {
        grout_text_free(&text);
    }
    if (!grout_diff__print(get_name(it), &before, &it->after, has_color, &text)) {
        (void)grout_diags_add_oom(it->session->diags);
    }
    if (!it->session->is_quiet) {
        add_verdict(it, &text);
    }
    if (!is_whole(&it->last)) {
        grout_text_add(&text,
                       "%s: the check of the result is incomplete: it may have more findings\n",
                       get_name(it));
    }
    grout_session__flush_exact(it->session, it->stream, &text);
}

/* Hands all of it to the caller. */
static void keep(const fix *it) {
    const grout_text before = {.data = it->before.data, .size = it->before.size};
    grout_repaired *out = it->session->repaired;
    if (out == NULL) {
        return;
    }
    grout_text_add_bytes(&out->text, it->after.data, it->after.size);
    grout_text_add_bytes(&out->steps, it->steps.data, it->steps.size);
    add_verdict(it, &out->verdict);
    out->change_count = it->step_count;
    out->tried = it->tried;
    if (!grout_diff__print(get_name(it), &before, &it->after, false, &out->diff)) {
        (void)grout_diags_add_oom(it->session->diags);
    }
}

static int get_exit_code(const fix *it, const grout_trial *trial) {
    int exit_code = grout_session__get_exit_code(it->session);
    if (trial->error_count > 0 || trial->is_different) {
        exit_code = grout_work__get_worse(exit_code, GROUT_EXIT_FINDING);
    }
    if (!is_whole(trial)) {
        exit_code = grout_work__get_worse(exit_code, GROUT_EXIT_INCOMPLETE);
    }
    return exit_code;
}

/* Whether the user wants the file to be written. */
static bool is_wanted(const fix *it) {
    const grout_host *host = it->session->host;
    const grout_waiting waiting = grout_deadline__get_waiting(it->session->deadline);
    grout_text answer = {0};
    if (grout_options__has(&it->session->options, GROUT_OPTION_YES)) {
        return true;
    }
    if (host->ask == NULL || !host->ask(host->payload, "write it? [y/N] ", &waiting, &answer)) {
        grout_text_free(&answer);
        say(it, "nothing is written: there is nobody to ask (--yes writes)\n");
        return false;
    }
    bool is_yes = answer.data != NULL && (answer.data[0] == 'y' || answer.data[0] == 'Y');
    grout_text_free(&answer);
    say(it, is_yes ? "" : "nothing is written\n");
    return is_yes;
}

/* The check of what stands in the file now, as 'grout check' makes it. */
static int check_again(const fix *it) {
    return grout_sizes__are_asked_for(&it->session->options)
               ? grout_sweep__run(it->session, it->path)
               : grout_work__run_on_cpu(it->session, it->path, true, false);
}

/* The answer where the time was over while the text itself was checked: there is none for another
 * check. */
static int report_cut(const fix *it, grout_cut cut) {
    grout_text text = {0};
    grout_text_add(&text, "%s: no change was tried; %s\n", get_name(it), grout_cut_get_text(cut));
    say(it, text.data != NULL ? text.data : "");
    grout_text_free(&text);
    return cut == GROUT_CUT_INTERRUPT ? GROUT_EXIT_INTERRUPTED : get_exit_code(it, &it->first);
}

/* The exit code where no check follows. A caller in memory has a report in any case. */
static int end(const fix *it, int exit_code) {
    return it->session->repaired != NULL ? check_again(it) : exit_code;
}

static int write_result(fix *it) {
    const grout_chunk chunk = {it->after.data, it->after.size};
    if (it->is_stdin) {
        grout_session__flush_exact(it->session, GROUT_STREAM_OUT, &it->after);
        return get_exit_code(it, &it->last);
    }
    if (it->step_count == 0 || !is_wanted(it)) {
        return end(it, grout_work__get_worse(get_exit_code(it, &it->last), GROUT_EXIT_FINDING));
    }
    if (!grout_session__write_file(it->session, it->path, &chunk, 1)) {
        grout_session__print_diags(it->session, GROUT_STREAM_ERR);
        return grout_session__get_exit_code(it->session);
    }
    return check_again(it);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Whether something is wrong that stands in the text: not with an option, or with memory. */
static bool needs_repair(const grout_trial *trial) {
    for (size_t i = 0; i < trial->count; i++) {
        const grout_diag_code code = trial->items[i].code;
        if (code != GROUT_DIAG_COMPARE_MISMATCH && grout_diag_get(code)->stage >= GROUT_STAGE_GPU) {
            return false;
        }
    }
    return trial->count > 0;
}

/* The diagnostics of a text that cannot be loaded. */
static int report_invalid(const fix *it) {
    grout_load load = {0};
    (void)grout_load__init(it->session, it->path, &it->before, false, &load);
    grout_session__print_diags(it->session, it->stream);
    grout_load__deinit(&load);
    const int exit_code = grout_session__get_exit_code(it->session);
    return exit_code != GROUT_EXIT_OK ? exit_code : GROUT_EXIT_USAGE;
}

/* The answer where nothing is changed, as 'grout check' gives it. */
static int report_unchanged(fix *it) {
    if (!it->first.is_valid) {
        return report_invalid(it);
    }
    if (!it->is_stdin) {
        const grout_cut cut = grout_deadline__find_cut(it->session->deadline);
        return cut == GROUT_CUT_NONE ? check_again(it) : end(it, report_cut(it, cut));
    }
    if (!grout_options__has(&it->session->options, GROUT_OPTION_DIFF)) {
        grout_session__flush_exact(it->session, GROUT_STREAM_OUT, &it->after);
    }
    return get_exit_code(it, &it->first);
}

static bool run_all(fix *it, grout_trial *out) {
    const grout_trial_task task = {
        .session = it->session, .path = it->path, .sizes = &it->sizes, .looks_again = true};
    return grout_trial__run(&task, &it->after, out);
}

/* The check of the result. A text without a change has been checked, perhaps when there was more
 * time. */
static bool judge(fix *it) {
    if (it->step_count > 0) {
        return run_all(it, &it->last);
    }
    it->last = it->first;
    it->first = (grout_trial){0};
    return true;
}

static int run(fix *it) {
    if (!grout_sizes__read(it->session, &it->sizes) ||
        !grout_session__read_file(it->session, it->path, GROUT_FILE_MAX, &it->before)) {
        grout_session__print_diags(it->session, GROUT_STREAM_ERR);
        return grout_session__get_exit_code(it->session);
    }
    grout_text_add_bytes(&it->after, it->before.data, it->before.size);
    if (it->after.failed || !run_all(it, &it->first)) {
        (void)grout_diags_add_oom(it->session->diags);
        grout_session__print_diags(it->session, GROUT_STREAM_ERR);
        return grout_session__get_exit_code(it->session);
    }
    if (!needs_repair(&it->first)) {
        return report_unchanged(it);
    }
    if (!repair(it) || !judge(it)) {
        (void)grout_diags_add_oom(it->session->diags);
        grout_session__print_diags(it->session, GROUT_STREAM_ERR);
        return grout_session__get_exit_code(it->session);
    }
    if (!it->last.is_valid) {
        return report_invalid(it);
    }
    show(it);
    keep(it);
    if (it->session->host->is_interrupted(it->session->host->payload)) {
        return end(it, GROUT_EXIT_INTERRUPTED);
    }
    if (grout_options__has(&it->session->options, GROUT_OPTION_DIFF)) {
        return grout_work__get_worse(get_exit_code(it, &it->last), GROUT_EXIT_FINDING);
    }
    return write_result(it);
}

void grout_repaired__deinit(grout_repaired *repaired) {
    grout_text_free(&repaired->text);
    grout_text_free(&repaired->diff);
    grout_text_free(&repaired->steps);
    grout_text_free(&repaired->verdict);
    *repaired = (grout_repaired){0};
}

int grout_fix__run(grout_session *session) {
    fix it = {.session = session, .path = session->options.arguments[0]};
    it.is_stdin = strcmp(it.path, "-") == 0;
    grout_text__add_name(&it.name, grout_load__get_name(it.path));
    it.stream = it.is_stdin && !grout_options__has(&session->options, GROUT_OPTION_DIFF)
                    ? GROUT_STREAM_ERR
                    : GROUT_STREAM_OUT;
    int exit_code = run(&it);
    grout_trial__deinit(&it.first);
    grout_trial__deinit(&it.last);
    grout_sizes__deinit(&it.sizes);
    grout_text_free(&it.name);
    grout_text_free(&it.steps);
    grout_text_free(&it.wider);
    grout_text_free(&it.elsewhere);
    grout_text_free(&it.after);
    free(it.before.data);
    return exit_code;
}
