/* minimise.c - check --minimise: the smallest sizes, and the shortest schedule, that still show a
 * finding. SPDX-License-Identifier: Apache-2.0
 *
 * Sizes are the file's integer consts; grids, trip counts and ring depths depend on them. Each is
 * made as small as it can be while the finding stays (same code, same places) and no error comes
 * that was not there: that would be another mistake, or none. Sizes of problems come first, then
 * those of tiles and rings; a ring keeps two slots, as one slot is none. This is done again and
 * again until none gets smaller. Then the schedule loses the decisions that do not matter.
 */
#include "minimise.h"

#include "invariant.h"
#include "reference.h"
#include "schedule_file.h"
#include "seen.h"
#include "size_roles.h"
#include "stage.h"

#include <stdlib.h>
#include <string.h>

#define CONSTS_MAX 64
#define PLACES_MAX 256

/* A const and the value that is tried for it. */
typedef struct size {
    const char *name; /* of the first module, which lives as long */
    int64_t value;
    grout_size_role role;
    uint32_t tried; /* the round of successes in which no smaller value did */
    char text[128]; /* NAME=VALUE, for -D */
} size;

/* Where the first run has errors. */
typedef struct error_places {
    uint64_t items[PLACES_MAX];
    size_t count;
    bool is_full; /* there are more: nothing is said of others */
} error_places;

typedef struct minimiser {
    grout_session *session; /* of the command */
    const char *path;
    grout_bytes text;
    size sizes[CONSTS_MAX];
    size_t size_count;
    uint32_t successes; /* sizes that were made smaller, plus 1 */
    uint64_t identity;  /* of the finding to keep; 0: the first error */
    error_places places;
    char code[64];
    char kernel[GROUT_NAME_MAX + 1]; /* that shows it */
    grout_kernel_id kernel_id;       /* the same, at every size; 0: none has */
    grout_decisions decisions;       /* of the run that showed it last */
    bool is_scheduled;               /* they matter: the launch's own schedule does not show it */
    bool is_loaded;                  /* a trial has had the whole file, checked */
    grout_seen seen;                 /* that run */
    double deadline;
    uint64_t trials;
    grout_stage stage;
} minimiser;

/* ---- a trial -------------------------------------------------------------------------------- */

static bool has_time(const minimiser *it) {
    const grout_host *host = it->session->host;
    return host->get_seconds(host->payload) < it->deadline && !host->is_interrupted(host->payload);
}

/* The session's options, and -D for each size. */
static bool copy_options(const minimiser *it, grout_options *to) {
    const grout_options *from = &it->session->options;
    *to = *from;
    to->uses = malloc((from->use_count + it->size_count + 1) * sizeof *to->uses);
    if (to->uses == NULL) {
        return false;
    }
    if (from->use_count > 0) {
        memcpy(to->uses, from->uses, from->use_count * sizeof *to->uses);
    }
    GROUT_ASSERT(it->size_count <= CONSTS_MAX);
    for (size_t i = 0; i < it->size_count; i++) {
        to->uses[to->use_count++] =
            (grout_option_use){.id = GROUT_OPTION_DEFINE, .value = it->sizes[i].text};
    }
    return true;
}

static bool is_error_of(const minimiser *it, const grout_finding *finding) {
    return grout_session__get_severity(it->session, finding->code, finding->severity) ==
           GROUT_SEVERITY_ERROR;
}

static uint64_t get_place_key(const grout_finding *finding) {
    return (uint64_t)finding->code << 32 | finding->primary.line;
}

static void keep_places(minimiser *it, const grout_checker *checker) {
    it->places = (error_places){.count = 0};
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(checker, i);
        if (!is_error_of(it, finding)) {
            continue;
        }
        if (it->places.count == PLACES_MAX) {
            it->places.is_full = true;
            return;
        }
        it->places.items[it->places.count++] = get_place_key(finding);
    }
}

/* Whether each error is one that the first run has. */
static bool has_known_errors(const minimiser *it, const grout_checker *checker) {
    for (uint32_t i = 0; i < grout_checker_get_count(checker) && !it->places.is_full; i++) {
        const grout_finding *finding = grout_checker_get_finding(checker, i);
        bool is_known = !is_error_of(it, finding);
        for (size_t k = 0; k < it->places.count && !is_known; k++) {
            is_known = it->places.items[k] == get_place_key(finding);
        }
        if (!is_known) {
            return false;
        }
    }
    return true;
}

/* Whether a checker has the wanted finding; the first error becomes the wanted one. */
static bool has_finding(minimiser *it, const grout_checker *checker) {
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(checker, i);
        const bool is_error = is_error_of(it, finding);
        if (it->identity == 0 && is_error) {
            const char *code = grout_diag_get(finding->code)->text;
            it->identity = finding->identity;
            GROUT_ASSERT(strlen(code) < sizeof it->code);
            memcpy(it->code, code, strlen(code) + 1);
        }
        if (it->identity != 0 && finding->identity == it->identity) {
            return true;
        }
    }
    return false;
}

static bool has_target(minimiser *it, const grout_checker *checker) {
    const bool is_first = it->identity == 0;
    if (!has_finding(it, checker)) {
        return false;
    }
    if (is_first) {
        keep_places(it, checker);
    }
    return has_known_errors(it, checker);
}

/* The identity of results that differ, which the checker knows nothing of. */
#define DIFFERS UINT64_C(1)

static void note_difference(void *payload, const grout_mismatch *mismatch) {
    bool *differs = payload;
    *differs = *differs || mismatch != NULL;
}

/* Whether what the kernel has left is not what its reference leaves; that becomes what is wanted if
 * the run has no error. */
static bool differs(minimiser *it, grout_session *session, const grout_load *load,
                    grout_kernel_id kernel, const grout_launch_settings *settings,
                    const grout_reference *reference) {
    bool is_different = false;
    const grout_comparing comparing = {.session = session,
                                       .load = load,
                                       .kernel = kernel,
                                       .settings = settings,
                                       .is_brief = true,
                                       .found = note_difference,
                                       .payload = &is_different};
    grout_text words = {0};
    if (it->identity == 0 || it->identity == DIFFERS) {
        (void)grout_reference__compare(reference, &comparing, &words);
    }
    grout_text_free(&words);
    if (is_different && it->identity == 0) {
        const char *code = grout_diag_get(GROUT_DIAG_COMPARE_MISMATCH)->text;
        it->identity = DIFFERS;
        GROUT_ASSERT(strlen(code) < sizeof it->code);
        memcpy(it->code, code, strlen(code) + 1);
    }
    return is_different;
}

static bool keep_decisions(minimiser *it, const grout_decisions *decisions) {
    uint32_t *actors = realloc(it->decisions.actors, (decisions->count + 1) * sizeof *actors);
    if (actors == NULL) {
        return false;
    }
    if (decisions->count > 0) {
        memcpy(actors, decisions->actors, decisions->count * sizeof *actors);
    }
    it->decisions = (grout_decisions){actors, decisions->count, decisions->count + 1};
    return true;
}

/* One kernel under its own schedule, then (--explore) under others. seen gets the run that shows
 * it, all but the load; free it in any case. */
static bool shows_in_kernel(minimiser *it, grout_session *session, const grout_load *load,
                            grout_kernel_id kernel, grout_seen *seen) {
    grout_argument_set arguments = {0};
    grout_launch_settings settings = grout_launch_settings__get(session, true);
    bool shows = false;
    settings.is_silent = true;
    if (!grout_argument_set__init(session, &load->bindings, load->bound, kernel, &arguments)) {
        grout_argument_set__deinit(&arguments);
        return false;
    }
    if (grout_options__has(&session->options, GROUT_OPTION_EXPLORE)) {
        (void)grout_launch__explore(session, load, kernel, &arguments, &settings, &seen->explored);
        const grout_exploration *exploration = &seen->explored.exploration;
        for (uint32_t i = 0; i < exploration->witness_count && !shows; i++) {
            const grout_witness *witness = &exploration->witnesses[i];
            shows = has_target(it, witness->checker) && keep_decisions(it, &witness->decisions);
            if (shows) { /* a trial that does not show it says nothing of the one that did */
                it->is_scheduled = i > 0 || settings.schedule != GROUT_SCHEDULE_FAIR;
            }
            seen->outcome = grout_explored__get_outcome(&seen->explored, i, &settings);
        }
    } else {
        grout_decisions decisions = {0};
        settings.record = &decisions;
        grout_reference reference;
        shows = grout_reference__init(&reference, session, load, kernel, &arguments) &&
                grout_launch__run(session, load, kernel, &arguments, &settings, &seen->outcome) &&
                (has_target(it, seen->outcome.checker) ||
                 (seen->outcome.status == GROUT_RUN_DONE &&
                  has_known_errors(it, seen->outcome.checker) &&
                  differs(it, session, load, kernel, &settings, &reference))) &&
                keep_decisions(it, &decisions);
        grout_reference__deinit(&reference);
        it->is_scheduled = settings.schedule != GROUT_SCHEDULE_FAIR;
        grout_decisions_deinit(&decisions);
    }
    grout_machine_free(seen->outcome.machine); /* as large as the arrays; a report needs it not */
    seen->outcome.machine = NULL;
    grout_argument_set__deinit(&arguments);
    seen->kernel = grout_load__get_whole_id(load, kernel);
    seen->identity = it->identity;
    return shows;
}

/* "minimising: trial 12; N=4, M=2" */
static void say_sizes(minimiser *it) {
    grout_text sizes = {0};
    for (size_t i = 0; i < it->size_count; i++) {
        grout_text_add(&sizes, "%s%s", i == 0 ? "; " : ", ", it->sizes[i].text);
    }
    grout_stage__say(&it->stage, "minimising: trial %llu%s", (unsigned long long)it->trials,
                     sizes.data == NULL ? "" : sizes.data);
    grout_stage__draw(it->session);
    grout_text_free(&sizes);
}

/* A trial on a module that was bound with the sizes. */
typedef bool trial_function(minimiser *it, grout_session *session, grout_load *load);

static bool try_sizes(minimiser *it, trial_function *function) {
    grout_session session = *it->session;
    grout_load load = {0};
    bool is_good = false;
    it->trials++;
    say_sizes(it);
    session.diags = grout_session__new_diags(it->session);
    session.is_quiet = true;
    if (session.diags != NULL && copy_options(it, &session.options)) {
        is_good = grout_load__init(&session, it->path, &it->text, false, &load);
        it->is_loaded = it->is_loaded || is_good;
        is_good = is_good && function(it, &session, &load);
        free(session.options.uses);
    }
    grout_load__deinit(&load);
    grout_diags_free(session.diags);
    return is_good;
}

/* Keeps a run that shows the finding, with what its checker reads. */
static void keep_run(minimiser *it, grout_session *session, grout_load *load, grout_seen *seen) {
    grout_seen__deinit(&it->seen);
    it->seen = *seen;
    it->seen.load = *load;
    it->seen.alone.whole = &it->seen.load;
    it->seen.diags = session->diags;
    *load = (grout_load){0};
    session->diags = NULL;
}

static void keep_kernel(minimiser *it, const grout_load *load, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(load->bound, id);
    const char *name = grout_module_get_string(load->bound, kernel->name);
    GROUT_ASSERT(strlen(name) < sizeof it->kernel);
    memcpy(it->kernel, name, strlen(name) + 1);
    it->kernel_id = id;
}

/* Whether a trial asks a kernel: all until one has shown the finding, which has its places in that
 * one, and then that one. */
static bool is_asked(const minimiser *it, grout_kernel_id kernel) {
    return it->kernel_id == 0 || it->kernel_id == kernel;
}

/* A kernel of many is run in a module of its own: what a run looks at is then as long as the
 * kernel. */
static bool shows(minimiser *it, grout_session *session, grout_load *load) {
    for (size_t i = 0; i < load->kernel_count && has_time(it); i++) {
        grout_seen seen = {0};
        grout_kernel_id kernel = load->kernels[i];
        if (!is_asked(it, kernel)) {
            continue;
        }
        const grout_load *taken = grout_load__take(session, load, &kernel, &seen.alone);
        if (shows_in_kernel(it, session, taken, kernel, &seen)) {
            keep_kernel(it, load, load->kernels[i]);
            keep_run(it, session, load, &seen);
            return true;
        }
        grout_seen__deinit(&seen);
    }
    return false;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static void set_size(size *at, int64_t value) {
    grout_text text = {0};
    at->value = value;
    grout_text_add(&text, "%s=%lld", at->name, (long long)value);
    if (text.data != NULL && text.size < sizeof at->text) {
        memcpy(at->text, text.data, text.size + 1);
    }
    grout_text_free(&text);
}

/* The integer consts above 1 whose value a literal gives: others follow from these. */
static bool take_sizes(minimiser *it, grout_session *session, grout_load *load) {
    (void)session;
    const grout_module *module = load->bound;
    grout_size_role *roles = grout_size_roles__find(module);
    for (grout_const_id i = 1; roles != NULL && i < grout_module_get_const_count(module); i++) {
        const grout_const *constant = grout_module_get_const(module, i);
        grout_expr_value value = grout_module_get_expr_value(module, constant->expr);
        bool is_literal = grout_module_get_expr(module, constant->expr)->kind == GROUT_EXPR_INT;
        const char *name = grout_module_get_string(module, constant->name);
        if (is_literal && !value.is_float && value.integer > 1 && it->size_count < CONSTS_MAX &&
            strlen(name) < 64) {
            char *copy = malloc(strlen(name) + 1);
            if (copy == NULL) {
                break;
            }
            memcpy(copy, name, strlen(name) + 1);
            it->sizes[it->size_count].name = copy;
            it->sizes[it->size_count].role = roles[i];
            set_size(&it->sizes[it->size_count++], value.integer);
        }
    }
    grout__free(roles);
    return true;
}

/* Makes one size as small as possible: tries small values, then halves, then one less. */
static bool lower(minimiser *it, size *at) {
    const int64_t old = at->value, least = at->role == GROUT_SIZE_RING ? 2 : 1;
    const int64_t tries[] = {1, 2, 3, 4, 8, 16, 32, 64, 128, old / 4, old / 2, old - 1};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0] && has_time(it); i++) {
        if (tries[i] < least || tries[i] >= old || (i > 0 && tries[i] <= tries[i - 1])) {
            continue;
        }
        set_size(at, tries[i]);
        if (try_sizes(it, shows)) {
            it->successes++;
            return true;
        }
    }
    set_size(at, old);
    at->tried = it->successes;
    return false;
}

/* Those of a role and of the roles before. */
static void lower_up_to(minimiser *it, grout_size_role role) {
    bool is_lower = true;
    while (is_lower && has_time(it)) {
        is_lower = false;
        for (size_t i = 0; i < it->size_count; i++) {
            size *at = &it->sizes[i];
            const bool is_due = at->role <= role && at->tried != it->successes;
            is_lower = (is_due && lower(it, at)) || is_lower;
        }
    }
}

static void lower_all(minimiser *it) {
    it->successes = 1;
    lower_up_to(it, GROUT_SIZE_PROBLEM);
    lower_up_to(it, GROUT_SIZE_TILE);
    lower_up_to(it, GROUT_SIZE_RING);
}

/* ---- the schedule --------------------------------------------------------------------------- */

static bool goes_on(void *payload, uint64_t schedules) {
    minimiser *it = payload;
    grout_stage__say(&it->stage, "minimising: %zu decisions of a schedule, %llu runs",
                     it->decisions.count, (unsigned long long)schedules);
    grout_stage__draw(it->session);
    return has_time(it);
}

/* Shortens the schedule of the kernel that shows it, in a load of its own. */
static void shorten_in(minimiser *it, grout_session *session, const grout_load *load,
                       grout_kernel_id kernel) {
    const grout_explore_options options = {
        .strict_fences = grout_options__has(&session->options, GROUT_OPTION_STRICT_FENCES),
        .goes_on = goes_on,
        .payload = it};
    grout_argument_set arguments = {0};
    grout_launch_callbacks payload;
    grout_seen seen = {0};
    grout_launch_settings settings = grout_launch_settings__get(session, true);
    if (shows_in_kernel(it, session, load, kernel, &seen) &&
        grout_argument_set__init(session, &load->bindings, load->bound, kernel, &arguments)) {
        grout_launch launch =
            grout_launch__prepare(session, load, kernel, &arguments, &settings, &payload);
        launch.print = NULL;
        (void)grout_minimise_schedule(&launch, &options, it->identity, &it->decisions,
                                      session->diags);
    }
    grout_seen__deinit(&seen);
    grout_argument_set__deinit(&arguments);
}

static bool shorten(minimiser *it, grout_session *session, grout_load *load) {
    grout_load alone;
    grout_kernel_id kernel = it->kernel_id;
    const grout_load *taken = grout_load__take(session, load, &kernel, &alone);
    shorten_in(it, session, taken, kernel);
    grout_load__give_back(&alone);
    return true;
}

/* ---- the command ---------------------------------------------------------------------------- */

static void deinit(minimiser *it) {
    for (size_t i = 0; i < it->size_count; i++) {
        free((char *)it->sizes[i].name);
    }
    grout_seen__deinit(&it->seen);
    free(it->decisions.actors);
    free(it->text.data);
}

static void describe(const minimiser *it, grout_text *out) {
    grout_text_add(out, "minimised %s in %llu trials:", it->code, (unsigned long long)it->trials);
    for (size_t i = 0; i < it->size_count; i++) {
        grout_text_add(out, " -D %s", it->sizes[i].text);
    }
    if (it->is_scheduled) {
        grout_text_add(out, "%s schedule of %zu decisions", it->size_count > 0 ? ";" : "",
                       it->decisions.count);
    }
    grout_text_add(out, "\n");
}

/* Writes the schedule to a file, which the session then replays. False: a diagnostic. */
static bool save_schedule(minimiser *it, grout_options *options, grout_text *path) {
    const char *wanted = grout_options__get(options, GROUT_OPTION_SAVE_SCHEDULE);
    grout_text_add(path, wanted == NULL ? "%s.schedule" : "%s",
                   wanted == NULL ? it->kernel : wanted);
    grout_option_use *uses =
        realloc(options->uses, (options->use_count + 1) * sizeof options->uses[0]);
    options->uses = uses == NULL ? options->uses : uses; /* the file names the options */
    const grout_schedule_text schedule = {
        .kernel = it->kernel, .decisions = &it->decisions, .is_alone = true};
    bool is_good = uses != NULL && path->data != NULL &&
                   grout_schedule_file__write(it->session, path->data, wanted != NULL, &schedule);
    if (is_good) {
        options->uses[options->use_count++] =
            (grout_option_use){.id = GROUT_OPTION_REPLAY, .value = path->data};
    }
    return is_good;
}

static bool is_never_interrupted(void *payload) {
    (void)payload;
    return false;
}

/* What is known is reported: the file, which a trial has loaded within half of the time, is loaded
 * again, but a run that takes time is not made again (seen.h). The others of the file have the time
 * that is left (grout_seen.deadline): none after a signal. */
static int report_seen(grout_session *session, const char *path) {
    const grout_deadline deadline = *session->deadline;
    grout_host deaf = *session->host;
    deaf.is_interrupted = is_never_interrupted;
    session->deadline->host = &deaf;
    session->deadline->timeout_end = 0;
    int exit_code = grout_work__run_on_cpu(session, path, true, false);
    *session->deadline = deadline;
    return exit_code;
}

/* The report is then that of the smallest run: its sizes become the command's. */
static int report(minimiser *it, bool was_interrupted) {
    grout_session *session = it->session;
    grout_options own = session->options, smaller;
    grout_text text = {0}, path = {0};
    if (!copy_options(it, &smaller)) {
        (void)grout_diags_add_oom(session->diags);
        return GROUT_EXIT_USAGE;
    }
    session->options = smaller;
    if (it->identity != 0) {
        describe(it, &text);
        grout_session__flush(session, GROUT_STREAM_ERR, &text);
    }
    if (it->identity != 0 && it->is_scheduled) {
        (void)save_schedule(it, &session->options, &path);
    }
    const bool is_known = it->seen.identity != 0 || (was_interrupted && it->is_loaded);
    session->seen = is_known ? &it->seen : NULL;
    int exit_code = session->seen != NULL ? report_seen(session, it->path)
                                          : grout_work__run_on_cpu(session, it->path, true, false);
    session->seen = NULL;
    free(session->options.uses);
    session->options = own;
    grout_text_free(&path);
    return exit_code;
}

/* Ctrl-C ends the trials. What they have found so far is reported all the same. */
static int report_smallest(minimiser *it) {
    grout_session *session = it->session;
    const bool was_interrupted = session->host->is_interrupted(session->host->payload);
    int exit_code = report(it, was_interrupted);
    if (it->identity != 0 && was_interrupted) {
        grout_session__note(session, "Ctrl-C or another signal ended the trials: a smaller size or "
                                     "schedule may show it too\n");
        exit_code = grout_work__get_worse(exit_code, GROUT_EXIT_INTERRUPTED);
    }
    return exit_code;
}

/* Half of the time of --timeout is for the report of what the trials have found. */
static void begin_budget(minimiser *it) {
    grout_session *session = it->session;
    const grout_options *options = &session->options;
    double now = session->host->get_seconds(session->host->payload);
    double half = grout_options__get_number(options, GROUT_OPTION_TIMEOUT, 0) / 2;
    bool is_bounded = grout_options__has(options, GROUT_OPTION_BUDGET);
    it->deadline =
        now + grout_options__get_number(options, GROUT_OPTION_BUDGET, GROUT_BUDGET_DEFAULT);
    if (half > 0 && session->start + half < it->deadline) {
        it->deadline = session->start + half;
        is_bounded = true;
    }
    session->budget_end = is_bounded ? it->deadline : 0;
}

int grout_minimise__run(grout_session *session, const char *path) {
    minimiser it = {.session = session, .path = path};
    begin_budget(&it);
    if (!grout_session__read_file(session, path, GROUT_FILE_MAX, &it.text)) {
        grout_session__print_diags(session, GROUT_STREAM_ERR);
        return grout_session__get_exit_code(session);
    }
    grout_stage__begin(&it.stage, session);
    session->deadline->budget_end = it.deadline;
    if (try_sizes(&it, shows) && try_sizes(&it, take_sizes)) {
        session->budget_end = it.deadline; /* of every trial */
        lower_all(&it);
        if (it.is_scheduled && it.identity != DIFFERS) {
            (void)try_sizes(&it, shorten);
        }
    }
    grout_stage__end(&it.stage, session);
    session->deadline->budget_end = 0;
    it.seen.deadline = *session->deadline;
    int exit_code = report_smallest(&it);
    deinit(&it);
    return exit_code;
}
