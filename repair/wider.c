/* wider.c - larger sizes for the judge of a repair.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A repair may be wrong and clean: an index that is right in the first turn of a loop only, or an
 * arrive that is one too many in the second, where the kernel's own size makes one turn.
 */
#include "wider.h"

#include "launch.h"
#include "propose.h"

#include "alloc.h"

#include <stdlib.h>
#include <string.h>

/* Enough for a larger size; what spins in a wrong repair ends. */
#define STEPS_MAX UINT64_C(8000000)

/* ---- what the kernel reaches ---------------------------------------------------------------- */

static bool run_loaded(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                       grout_reach *reach) {
    grout_argument_set arguments = {0};
    grout_outcome outcome = {0};
    grout_launch_settings settings = grout_launch_settings__get(session, false);
    settings.is_silent = true;
    settings.reach = reach;
    bool is_done =
        grout_argument_set__init(session, &load->bindings, load->bound, kernel, &arguments) &&
        grout_launch__run(session, load, kernel, &arguments, &settings, &outcome) &&
        outcome.status == GROUT_RUN_DONE;
    grout_outcome__deinit(&outcome);
    grout_argument_set__deinit(&arguments);
    return is_done;
}

/* Adds what the kernel reaches at one size to sum, which is made with the first one. False: it is
 * not known. */
static bool add_size(const grout_trial_task *task, grout_session *session, const grout_load *load,
                     grout_reach *sum) {
    grout_reach reach = {0};
    grout_kernel_id kernel = grout_module_find_kernel(load->bound, task->kernel);
    bool is_known =
        grout_reach__init(&reach, load, kernel) && run_loaded(session, load, kernel, &reach);
    if (is_known && sum->module == NULL) {
        *sum = reach;
        return true;
    }
    if (is_known) {
        grout_reach__join(sum, &reach);
    }
    grout_reach__deinit(&reach);
    return is_known;
}

/* The load of the first size stays: the reach belongs to it. */
static bool find_reach(const grout_trial_task *task, const grout_bytes *text, grout_load *first,
                       grout_reach *reach) {
    bool is_known = true;
    for (size_t i = 0; i < task->sizes->count && is_known; i++) {
        grout_session session = *task->session;
        grout_load load = {0};
        session.diags = grout_session__new_diags(task->session);
        session.options.uses = NULL;
        session.is_quiet = true;
        is_known = session.diags != NULL &&
                   grout_sizes__apply(task->sizes, i, &task->session->options, &session.options) &&
                   grout_load__init(&session, task->path, text, false, &load) &&
                   add_size(task, &session, &load, reach);
        if (i == 0) {
            *first = load;
            load = (grout_load){0};
        }
        free(session.options.uses);
        grout_load__deinit(&load);
        grout_diags_free(session.diags);
    }
    return is_known && grout_reach__find(reach);
}

/* ---- the proposal --------------------------------------------------------------------------- */

static void propose(const grout_trial_task *task, const grout_bytes *text, double end,
                    grout_text *out) {
    grout_load load = {0};
    grout_reach reach = {0};
    grout_session session = *task->session;
    session.is_quiet = true;
    session.budget_end = end;
    if (find_reach(task, text, &load, &reach) && !grout_reach__is_whole(&reach)) {
        const grout_propose_task proposal = {
            .load = &load,
            .path = task->path,
            .text = text,
            .sizes = task->sizes->axes.count > 0 ? task->sizes : NULL,
            .reach = &reach,
        };
        grout_propose__sizes(&session, &proposal, out);
    }
    grout_reach__deinit(&reach);
    grout_load__deinit(&load);
}

/* The words of a proposal, one after the other. False without memory. */
static bool split(const grout_text *words, char ***arguments_out, int *count_out) {
    char *copy = grout__copy(NULL, words->data, words->size);
    char **arguments = calloc(words->size + 2, sizeof *arguments);
    int count = 0;
    if (copy == NULL || arguments == NULL) {
        grout__free(copy);
        free(arguments);
        return false;
    }
    arguments[count++] = copy; /* the first is not read: it is the command's place */
    for (char *word = copy; word != NULL && *word != '\0';) {
        char *space = strchr(word, ' ');
        if (word[0] != ' ') {
            arguments[count++] = word;
        }
        if (space != NULL) {
            *space = '\0';
        }
        word = space == NULL ? NULL : space + 1;
    }
    *arguments_out = arguments;
    *count_out = count;
    return true;
}

/* The options of the call with the proposed sizes in the place of its own: a proposal repeats what
 * else it needs. */
static bool make_options(grout_wider *wider, const grout_options *own) {
    grout_options *out = &wider->session.options;
    size_t count = 0;
    *out = *own;
    out->uses = calloc(own->use_count + wider->proposed.use_count + 1, sizeof *out->uses);
    for (size_t i = 0; out->uses != NULL && i < own->use_count; i++) {
        if (own->uses[i].id != GROUT_OPTION_DEFINE && own->uses[i].id != GROUT_OPTION_SWEEP) {
            out->uses[count++] = own->uses[i];
        }
    }
    for (size_t i = 0; out->uses != NULL && i < wider->proposed.use_count; i++) {
        out->uses[count++] = wider->proposed.uses[i];
    }
    out->use_count = count;
    return out->uses != NULL;
}

bool grout_wider__find(const grout_trial_task *task, const grout_text *text, double end,
                       grout_wider *out) {
    const grout_bytes bytes = {text->data, text->size};
    int count = 0;
    *out = (grout_wider){.session = *task->session};
    out->session.options = (grout_options){0};
    out->session.diags = NULL;
    propose(task, &bytes, end, &out->words);
    if (out->words.size == 0) {
        return !out->words.failed;
    }
    out->session.diags = grout_session__new_diags(task->session);
    out->proposed.command = task->session->options.command;
    bool is_good =
        out->session.diags != NULL && split(&out->words, &out->arguments, &count) &&
        grout_options__parse(&out->proposed, count, out->arguments, out->session.diags) &&
        make_options(out, &task->session->options) && grout_sizes__read(&out->session, &out->sizes);
    out->task = (grout_trial_task){.session = &out->session,
                                   .path = task->path,
                                   .sizes = &out->sizes,
                                   .kernel = task->kernel,
                                   .kept = task->kept,
                                   .is_try = true,
                                   .steps_max = STEPS_MAX};
    return is_good;
}

void grout_wider__deinit(grout_wider *wider) {
    grout_text_free(&wider->words);
    grout_options__deinit(&wider->proposed);
    grout_sizes__deinit(&wider->sizes);
    free(wider->session.options.uses);
    if (wider->arguments != NULL) {
        grout__free(wider->arguments[0]);
    }
    free(wider->arguments);
    grout_diags_free(wider->session.diags);
    *wider = (grout_wider){0};
}
