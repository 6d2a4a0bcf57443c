/* trial.c - runs a text with the checker, without a word to the user.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include "array.h"
#include "depth.h"
#include "goes_on.h"
#include "hash.h"
#include "listing.h"
#include "reference.h"
#include "silence.h"

#include <stdlib.h>
#include <string.h>

/* One run of one kernel at one size. */
typedef struct context {
    const grout_trial_task *task;
    uint64_t rest; /* a hash of the text beside the kernel that is repaired, and of the size */
    grout_session session; /* of this size: its options, its diagnostics */
    grout_load load;
    grout_silencer silencer;
    grout_trial *trial;
    bool has_failed; /* there was no memory for a mismatch */
} context;

/* ---- findings ------------------------------------------------------------------------------- */

static void free_finding(grout_trial_finding *finding) {
    grout_change__deinit(&finding->edit);
    grout__free(finding->words);
}

static bool is_same_place(grout_place a, grout_place b) {
    return (a.file == NULL) == (b.file == NULL) &&
           (a.file == NULL || (a.line == b.line && a.column == b.column));
}

static bool is_same(const grout_trial_finding *a, const grout_trial_finding *b) {
    return a->code == b->code && is_same_place(a->primary, b->primary) &&
           is_same_place(a->related, b->related);
}

static uint64_t hash_place(uint64_t hash, grout_place place) {
    return place.file == NULL ? hash
                              : grout_hash__word(hash, (uint64_t)place.line << 32 | place.column);
}

/* The slot of a finding in the table, or the free one where it would be. */
static uint32_t *find_slot(const grout_trial *trial, const grout_trial_finding *finding) {
    const uint64_t hash =
        hash_place(hash_place((uint64_t)finding->code, finding->primary), finding->related);
    size_t at = grout_hash__index(hash) % trial->table_size;
    while (trial->table[at] != 0 && !is_same(&trial->items[trial->table[at] - 1], finding)) {
        at = (at + 1) % trial->table_size;
    }
    return &trial->table[at];
}

/* Room for one more. */
static bool reserve(grout_trial *trial) {
    const size_t size = 2 * (trial->table_size + 32);
    if (!GROUT_ARRAY_RESERVE(trial, NULL, 1)) {
        return false;
    }
    if (trial->count * 2 < trial->table_size) {
        return true;
    }
    uint32_t *larger = grout__new(NULL, size, sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    grout__free(trial->table);
    trial->table = larger;
    trial->table_size = size;
    for (size_t i = 0; i < trial->count; i++) {
        *find_slot(trial, &trial->items[i]) = (uint32_t)i + 1;
    }
    return true;
}

/* Takes one, which is freed if the trial has it already. False without memory. */
static bool add(grout_trial *trial, grout_trial_finding *one) {
    if (!reserve(trial)) {
        free_finding(one);
        return false;
    }
    uint32_t *slot = find_slot(trial, one);
    trial->found++;
    if (*slot != 0) { /* another size has it too */
        free_finding(one);
        return true;
    }
    *slot = (uint32_t)trial->count + 1;
    trial->items[trial->count++] = *one;
    trial->error_count += one->is_error ? 1u : 0u;
    return true;
}

static char *copy_words(const grout_finding *finding) {
    grout_text words = {0};
    grout_text_add(&words, "%s\n%s\n%s", finding->diag->message, finding->missing_edge,
                   finding->repair);
    for (uint32_t i = 0; i < finding->diag->note_count; i++) {
        grout_text_add(&words, "\n%s", finding->diag->notes[i].message);
    }
    char *copy = words.failed ? NULL : grout__copy(NULL, words.data, words.size);
    grout_text_free(&words);
    return copy;
}

static void note_lines(const grout_diag *diag, grout_trial_finding *out) {
    size_t count = 0;
    for (uint32_t i = 0; i < diag->note_count && count < GROUT_TRIAL_NOTES_MAX; i++) {
        if (diag->notes[i].place.file != NULL) {
            out->note_lines[count++] = diag->notes[i].place.line;
        }
    }
}

static bool add_finding(grout_trial *trial, const grout_finding *finding, bool is_error) {
    grout_trial_finding one = {
        .code = finding->code,
        .is_error = is_error,
        .is_follow_on = finding->cause != NULL,
        .primary = finding->primary,
        .related = finding->related,
        .has_edit = finding->edit.place.file != NULL,
        .words = copy_words(finding),
    };
    if (one.words == NULL || (one.has_edit && !grout_change__read(&finding->edit, &one.edit))) {
        free_finding(&one);
        return false;
    }
    note_lines(finding->diag, &one);
    trial->is_stuck |=
        finding->code == GROUT_DIAG_DEADLOCK || finding->code == GROUT_DIAG_COLLECTIVE_DIVERGENCE;
    return add(trial, &one);
}

static bool add_findings(context *it, const grout_checker *checker) {
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(checker, i);
        grout_severity severity =
            grout_session__get_severity(&it->session, finding->code, finding->severity);
        if (finding->code == GROUT_DIAG_STEP_LIMIT) { /* no mistake, but nothing is known */
            it->trial->is_incomplete = true;
            continue;
        }
        if (severity > GROUT_SEVERITY_WARNING ||
            grout_silencer__find(&it->silencer, finding) != NULL) {
            continue;
        }
        if (!add_finding(it->trial, finding, severity == GROUT_SEVERITY_ERROR)) {
            return false;
        }
    }
    return true;
}

/* What is wrong with a text that cannot be run. */
static bool add_diags(context *it) {
    const grout_diags *diags = it->session.diags;
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        const grout_diag *diag = grout_diags_get(diags, i);
        grout_trial_finding one = {
            .code = diag->code,
            .is_error = diag->severity == GROUT_SEVERITY_ERROR,
            .primary = diag->place,
            .words = grout__copy(NULL, diag->message, strlen(diag->message)),
        };
        if (one.words == NULL || !GROUT_ARRAY_RESERVE(it->trial, NULL, 1)) {
            grout__free(one.words);
            return false;
        }
        it->trial->items[it->trial->count++] = one;
        it->trial->error_count += one.is_error ? 1u : 0u;
    }
    return true;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static bool take_outcome(context *it, const grout_outcome *outcome) {
    it->trial->holds &= grout_outcome__holds(outcome);
    it->trial->is_incomplete |= grout_outcome__get_cut(outcome) != NULL ||
                                outcome->summary.verdict == GROUT_VERDICT_INCOMPLETE;
    it->trial->steps += outcome->stats.steps;
    return add_findings(it, outcome->checker);
}

static grout_place get_writer_place(const grout_module *module, const grout_writers *writers) {
    return grout_module_get_place(module, grout_module_get_op(module, writers->origin.op)->loc);
}

static grout_place get_param_place(const grout_module *module, const grout_comparison *comparison) {
    const grout_kernel *kernel = grout_module_get_kernel(module, comparison->kernel);
    const grout_param *param = grout_module_get_param(module, kernel, comparison->param_index);
    return grout_module_get_place(module, grout_module_get_value(module, param->value)->loc);
}

/* Notes an array that is not as expected, at the op that wrote its worst element. */
static void add_mismatch(void *payload, const grout_mismatch *mismatch) {
    context *it = payload;
    const grout_module *module = it->load.bound;
    const bool is_known = mismatch->writers != NULL && mismatch->writers->origin.op != 0;
    grout_text words = {0};
    grout_text_add(&words, "%s", mismatch->against);
    grout_trial_finding one = {.code = GROUT_DIAG_COMPARE_MISMATCH,
                               .is_error = true,
                               .words =
                                   words.failed ? NULL : grout__copy(NULL, words.data, words.size)};
    one.primary = is_known ? get_writer_place(module, mismatch->writers)
                           : get_param_place(module, &mismatch->comparison);
    grout_text_free(&words);
    it->trial->is_different = true;
    it->has_failed = it->has_failed || one.words == NULL || !add(it->trial, &one);
}

/* Compares what the launch has left with what it is to leave. */
static bool compare(context *it, grout_kernel_id kernel, const grout_argument_set *arguments,
                    const grout_launch_settings *settings, const grout_reference *reference) {
    const grout_comparing comparing = {.session = &it->session,
                                       .load = &it->load,
                                       .kernel = kernel,
                                       .settings = settings,
                                       .is_brief = it->task->is_try,
                                       .found = add_mismatch,
                                       .payload = it};
    grout_text differs = {0};
    grout_comparing__with_files(&comparing, arguments, &differs);
    it->trial->is_incomplete |= !grout_reference__compare(reference, &comparing, &differs) ||
                                grout_diags__has_ended(it->session.diags);
    grout_text_free(&differs);
    return !it->has_failed;
}

/* Its own schedule, and if nothing is wrong with that, others. */
static bool explore(context *it, grout_kernel_id kernel, const grout_argument_set *arguments,
                    const grout_launch_settings *settings, const grout_reference *reference) {
    grout_explored explored = {0};
    bool is_good = true;
    if (grout_launch__explore(&it->session, &it->load, kernel, arguments, settings, &explored)) {
        for (uint32_t i = 0; i < explored.exploration.witness_count && is_good; i++) {
            grout_outcome outcome = grout_explored__get_outcome(&explored, i, settings);
            is_good = take_outcome(it, &outcome);
            if (is_good && !outcome.has_more && outcome.status == GROUT_RUN_DONE) {
                grout_launch_settings own = *settings; /* the arrays are those of the last one */
                own.schedule = GROUT_SCHEDULE_REPLAY;
                own.replay = &explored.exploration.witnesses[i].decisions;
                is_good = compare(it, kernel, arguments, &own, reference);
            }
        }
        it->trial->is_incomplete |= explored.cut != GROUT_CUT_NONE;
    } else {
        it->trial->is_incomplete = true;
    }
    grout_explored__deinit(&explored);
    return is_good;
}

/* What the second look has found, if the run itself had nothing. */
static bool take_more(context *it, const grout_outcome *outcome) {
    const size_t before = it->trial->found;
    bool is_good = true;
    for (uint32_t i = 0; i < grout_outcome__count_more(outcome) && is_good && before == 0; i++) {
        const grout_outcome more = grout_outcome__get_more(outcome, i);
        is_good = take_outcome(it, &more);
    }
    it->trial->is_by_schedule |= it->trial->found > before;
    return is_good;
}

static bool run_once(context *it, grout_kernel_id kernel, const grout_argument_set *arguments,
                     const grout_launch_settings *settings, const grout_reference *reference) {
    grout_outcome outcome = {0};
    grout_launch_settings own = *settings;
    grout_depth depth;
    bool is_good = true;
    grout_depth__init(&depth, it->load.bound);
    own.observer = &depth.observer;
    own.looks_again = it->task->looks_again && it->session.replay == NULL;
    if (grout_launch__run(&it->session, &it->load, kernel, arguments, &own, &outcome)) {
        it->trial->depth = depth.deepest > it->trial->depth ? depth.deepest : it->trial->depth;
        is_good = take_outcome(it, &outcome) && take_more(it, &outcome) &&
                  (outcome.status != GROUT_RUN_DONE ||
                   compare(it, kernel, arguments, settings, reference));
    } else {
        it->trial->is_incomplete = true;
    }
    grout_depth__deinit(&depth);
    grout_outcome__deinit(&outcome);
    return is_good;
}

/* Tables by kernel. */
static bool make_kernels(grout_trial *trial, size_t count) {
    bool *is_bad = count > trial->kernel_count ? grout__new(NULL, count, sizeof *is_bad) : NULL;
    if (count <= trial->kernel_count || is_bad == NULL) {
        return count <= trial->kernel_count;
    }
    if (trial->kernel_count > 0) {
        memcpy(is_bad, trial->is_bad, trial->kernel_count * sizeof *is_bad);
    }
    grout__free(trial->is_bad);
    trial->is_bad = is_bad;
    trial->kernel_count = count;
    return true;
}

/* A launch, with the checker. */
static bool run_launch(context *it, grout_kernel_id kernel, const grout_argument_set *arguments,
                       const grout_launch_settings *settings) {
    grout_trial *trial = it->trial;
    const size_t before = trial->found;
    const bool was_incomplete = trial->is_incomplete, was_different = trial->is_different;
    trial->is_incomplete = trial->is_different = false;
    grout_reference reference = {0};
    bool is_good = true;
    trial->is_compared |= grout_options__has(&it->session.options, GROUT_OPTION_EXPECT_OUTPUT) ||
                          grout_module_find_check_line(it->load.bound, kernel) != 0;
    const bool is_known =
        grout_reference__init(&reference, &it->session, &it->load, kernel, arguments);
    if (it->task->kept != NULL) {
        it->task->kept->text = it->rest;
        reference.kept = it->task->kept;
    }
    if (!is_known) {
        trial->is_incomplete = true;
    } else if (grout_options__has(&it->session.options, GROUT_OPTION_EXPLORE)) {
        is_good = explore(it, kernel, arguments, settings, &reference);
    } else {
        is_good = run_once(it, kernel, arguments, settings, &reference);
    }
    grout_reference__deinit(&reference);
    trial->is_bad[grout_load__get_whole_id(&it->load, kernel)] |=
        trial->found > before || trial->is_incomplete || trial->is_different;
    trial->is_incomplete |= was_incomplete;
    trial->is_different |= was_different;
    return is_good;
}

/* The bound on steps is for what is tried: a reference takes what it takes. */
static grout_launch_settings get_settings(const context *it) {
    grout_launch_settings settings = grout_launch_settings__get(&it->session, true);
    settings.is_silent = true;
    settings.max_steps = it->task->steps_max;
    return settings;
}

static bool run_kernel(context *it, grout_kernel_id kernel) {
    grout_argument_set arguments = {0};
    grout_launch_settings settings = get_settings(it);
    bool is_good = true;
    if (!grout_argument_set__init(&it->session, &it->load.bindings, it->load.bound, kernel,
                                  &arguments)) {
        it->trial->is_incomplete = true;
        it->trial->is_bad[grout_load__get_whole_id(&it->load, kernel)] = true;
    } else {
        is_good = run_launch(it, kernel, &arguments, &settings);
    }
    grout_argument_set__deinit(&arguments);
    return is_good;
}

/* A kernel that is in no list, out of a file of many. */
static bool run_alone(context *it, grout_kernel_id kernel) {
    const grout_load whole = it->load;
    grout_load own;
    it->load = *grout_load__take(&it->session, &whole, &kernel, &own);
    const bool is_good = run_kernel(it, kernel);
    it->load = whole;
    grout_load__give_back(&own);
    return is_good;
}

static bool is_selected(const context *it, grout_kernel_id kernel) {
    const grout_module *module = it->load.bound;
    const char *name =
        grout_module_get_string(module, grout_module_get_kernel(module, kernel)->name);
    return it->task->kernel == NULL || strcmp(it->task->kernel, name) == 0;
}

/* A launch of the list of which only what it leaves is asked for. */
static void pass(context *it, grout_kernel_id kernel, const grout_argument_set *arguments,
                 const grout_launch_settings *settings) {
    grout_outcome outcome = {0};
    (void)grout_launch__run(&it->session, &it->load, kernel, arguments, settings, &outcome);
    grout_outcome__deinit(&outcome);
}

static bool run_list(context *it, grout_kernel_id alone) {
    grout_listing listing;
    bool is_good = true, goes_on = true;
    grout_listing__init(&listing, &it->session, &it->load, alone);
    while (goes_on && is_good) {
        grout_argument_set arguments = {0};
        grout_launch_settings settings = get_settings(it);
        grout_kernel_id kernel = grout_listing__begin(&listing, &arguments, &settings);
        goes_on = kernel != 0;
        if (goes_on && is_selected(it, kernel)) {
            is_good = run_launch(it, kernel, &arguments, &settings);
        } else if (goes_on) {
            pass(it, kernel, &arguments, &settings);
        }
        goes_on = goes_on && grout_listing__end(&listing);
        grout_argument_set__deinit(&arguments);
    }
    grout_listing__deinit(&listing);
    return is_good;
}

static bool run_text(context *it, const grout_bytes *text) {
    bool is_good = true;
    if (!grout_load__init(&it->session, it->task->path, text, false, &it->load) ||
        !grout_silencer__init(&it->silencer, &it->session, grout_load__get_name(it->task->path),
                              text)) {
        /* Nothing is known of a text that was not read to its end. */
        it->trial->is_incomplete |= grout_diags__has_ended(it->session.diags);
        it->trial->is_valid &= grout_diags__has_ended(it->session.diags);
        is_good = grout_diags__has_ended(it->session.diags) || add_diags(it);
    } else {
        bool is_listed = grout_listing__is_wanted(&it->session, &it->load);
        is_good = make_kernels(it->trial, grout_module_get_kernel_count(it->load.bound));
        for (size_t i = 0; i < it->load.kernel_count && is_good; i++) {
            grout_kernel_id kernel = it->load.kernels[i];
            bool is_alone = !is_listed || !grout_listing__has_kernel(&it->load, kernel);
            if (is_alone && is_selected(it, kernel)) {
                is_good = grout_listing__is_repeated(&it->session) ? run_list(it, kernel)
                                                                   : run_alone(it, kernel);
            }
        }
        is_good = is_good && (!is_listed || run_list(it, 0));
    }
    it->trial->diag_count += grout_diags_count(it->session.diags);
    grout_silencer__deinit(&it->silencer);
    grout_load__deinit(&it->load);
    return is_good;
}

/* ---- a size --------------------------------------------------------------------------------- */

/* The end of a kernel's head, where its body begins; NULL: it is not found. */
static const char *find_body(const char *text, const char *kernel) {
    static const char word[] = "kernel @";
    const size_t size = strlen(kernel);
    const char *at = strstr(text, word);
    while (at != NULL && (strncmp(at + sizeof word - 1, kernel, size) != 0 ||
                          at[sizeof word - 1 + size] != '(')) {
        at = strstr(at + 1, word);
    }
    return at == NULL ? NULL : strstr(at, "\n{");
}

/* A hash of what a reference may go by: the text but for the body of the kernel, and the options.
 */
static uint64_t hash_rest(const context *it, const grout_bytes *text) {
    const char *data = text->size == 0 ? "" : text->data;
    const char *body = it->task->kernel == NULL ? NULL : find_body(data, it->task->kernel);
    const char *end = body == NULL ? NULL : strstr(body, "\n}");
    const size_t head = end == NULL ? text->size : (size_t)(body - data);
    uint64_t hash = grout_hash__bytes(0, data, head);
    if (end != NULL) {
        hash = grout_hash__bytes(hash, end, text->size - (size_t)(end - data));
    }
    for (size_t i = 0; i < it->session.options.use_count; i++) {
        const grout_option_use *use = &it->session.options.uses[i];
        const char *value = use->value == NULL ? "" : use->value;
        hash = grout_hash__bytes(grout_hash__word(hash, (uint64_t)use->id), value, strlen(value));
    }
    return hash;
}

static bool run_size(const grout_trial_task *task, size_t size, const grout_bytes *text,
                     grout_trial *trial) {
    context it = {.task = task, .session = *task->session, .trial = trial};
    it.session.diags = grout_session__new_diags(task->session);
    it.session.options.uses = NULL;
    it.session.is_quiet = true;
    bool is_good =
        it.session.diags != NULL &&
        grout_sizes__apply(task->sizes, size, &task->session->options, &it.session.options);
    if (is_good) {
        it.rest = task->kept == NULL ? 0 : hash_rest(&it, text);
        is_good = run_text(&it, text);
    }
    free(it.session.options.uses);
    grout_diags_free(it.session.diags);
    return is_good;
}

static bool run_sizes(const grout_trial_task *task, const grout_bytes *text, grout_trial *trial) {
    for (size_t i = 0; i < task->sizes->count; i++) {
        if (!run_size(task, i, text, trial)) {
            return false;
        }
    }
    return true;
}

/* Errors first; else as they came: causes come before what follows from them. False without memory.
 */
static bool sort(grout_trial *trial) {
    grout_trial_finding *sorted = grout__new(NULL, trial->count, sizeof *sorted);
    size_t count = 0;
    for (int pass = 0; pass < 2 && sorted != NULL; pass++) {
        for (size_t i = 0; i < trial->count; i++) {
            if (trial->items[i].is_error == (pass == 0)) {
                sorted[count++] = trial->items[i];
            }
        }
    }
    grout__free(trial->table); /* there are no more to come */
    trial->table = NULL;
    if (sorted != NULL) {
        grout__free(trial->items);
        trial->items = sorted;
        trial->capacity = trial->count;
    }
    return sorted != NULL;
}

bool grout_trial__run(const grout_trial_task *task, const grout_text *text, grout_trial *out) {
    const grout_bytes bytes = {text->data, text->size};
    *out = (grout_trial){.is_valid = true, .holds = true};
    if (!run_sizes(task, &bytes, out) || (task->wider != NULL && grout_trial__is_clean(out) &&
                                          !run_sizes(task->wider, &bytes, out))) {
        return false;
    }
    return sort(out);
}

void grout_trial__deinit(grout_trial *trial) {
    for (size_t i = 0; i < trial->count; i++) {
        free_finding(&trial->items[i]);
    }
    grout__free(trial->items);
    grout__free(trial->table);
    grout__free(trial->is_bad);
    *trial = (grout_trial){0};
}

bool grout_trial__is_bad(const grout_trial *trial, grout_kernel_id kernel) {
    return kernel >= trial->kernel_count || trial->is_bad[kernel];
}

bool grout_trial__is_clean(const grout_trial *trial) {
    return trial->is_valid && trial->count == 0 && !trial->is_incomplete && !trial->is_different;
}

static bool is_moved_place(grout_place before, grout_place after, const grout_change *change) {
    if (before.file == NULL || after.file == NULL) {
        return (before.file == NULL) == (after.file == NULL);
    }
    return grout_change__map(change, before.line - 1) == after.line - 1 &&
           before.column == after.column;
}

bool grout_trial__has(const grout_trial *trial, const grout_trial_finding *finding,
                      const grout_change *change) {
    /* Wrong values are wrong wherever the worst one is. */
    const bool is_anywhere = finding->code == GROUT_DIAG_COMPARE_MISMATCH;
    for (size_t i = 0; i < trial->count; i++) {
        const grout_trial_finding *one = &trial->items[i];
        if (is_anywhere && one->code == finding->code) {
            return true;
        }
        if (one->code == finding->code && is_moved_place(finding->primary, one->primary, change) &&
            is_moved_place(finding->related, one->related, change)) {
            return true;
        }
    }
    return false;
}
