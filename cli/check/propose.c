/* propose.c - sizes with which a kernel reaches what it did not.
 *
 * The integer consts that a number gives are tried one after the other, each with larger values:
 * the kernel runs without the checker, and an observer says what the run reached. Runs are bounded
 * in operations, the whole search in time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "propose.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 5.0
#define STEPS_MAX   UINT64_C(2000000)
#define VALUES_MAX  64

typedef struct search {
    grout_session *session;
    const grout_load *load;
    const char *path, *kernel;
    const grout_bytes *text;
    const grout_reach *reach; /* what is to be bettered */
    double end;
    grout_text found; /* the definition of the best so far */
    grout_reach best;
} search;

static bool has_time(const search *it) {
    const grout_host *host = it->session->host;
    return host->get_seconds(host->payload) < it->end && !host->is_interrupted(host->payload);
}

/* One run of the kernel as it is loaded; whether it came to an end. */
static bool run_loaded(const search *it, grout_session *session, const grout_load *load,
                       grout_kernel_id kernel, grout_reach *reach) {
    grout_argument_set arguments = {0};
    grout_launch_callbacks payload;
    grout_launch_settings settings = grout_launch_settings__get(session, false);
    bool is_good = false;
    settings.is_silent = true;
    if (grout_reach__init(reach, load, kernel) &&
        grout_argument_set__init(session, &load->bindings, load->bound, kernel, &arguments)) {
        grout_launch launch =
            grout_launch__prepare(session, load, kernel, &arguments, &settings, &payload);
        payload.line.budget_end = it->end;
        launch.max_steps = STEPS_MAX;
        launch.observers[launch.observer_count++] = &reach->observer;
        grout_machine *machine = grout_machine_new(&launch, session->diags);
        grout_run_status status =
            machine == NULL ? GROUT_RUN_FAILED : grout_machine_run(machine, 0, session->diags);
        /* A deadlock is the most that a size can show: its lists stay empty, nothing is lacking. */
        is_good =
            status == GROUT_RUN_DEADLOCK || (status == GROUT_RUN_DONE && grout_reach__find(reach));
        grout_machine_free(machine);
        grout_progress_line__clear(&payload.line);
    }
    grout_argument_set__deinit(&arguments);
    return is_good;
}

static bool copy_options(const grout_options *from, char *define, grout_options *to) {
    *to = *from;
    to->uses = malloc((from->use_count + 1) * sizeof *to->uses);
    if (to->uses == NULL) {
        return false;
    }
    if (from->use_count > 0) {
        memcpy(to->uses, from->uses, from->use_count * sizeof *to->uses);
    }
    to->uses[to->use_count++] = (grout_option_use){GROUT_OPTION_DEFINE, define};
    return true;
}

/* Keeps the definition if the run with it reaches more. */
static void keep_if_better(search *it, const char *define, grout_reach *reach) {
    const grout_reach *before = it->found.size > 0 ? &it->best : it->reach;
    if (!grout_reach__is_better(reach, before)) {
        return;
    }
    grout_text_free(&it->found);
    it->found = (grout_text){0};
    grout_text_add(&it->found, "%s", define);
    grout_reach__deinit(&it->best);
    it->best = *reach;
    *reach = (grout_reach){0};
}

static void try_define(search *it, char *define) {
    grout_session session = *it->session;
    grout_load load = {0};
    grout_reach reach = {0};
    session.diags = grout_diags_new();
    session.is_quiet = true;
    if (session.diags != NULL && copy_options(&it->session->options, define, &session.options)) {
        if (grout_load__init(&session, it->path, it->text, false, &load)) {
            grout_kernel_id kernel = grout_module_find_kernel(load.bound, it->kernel);
            if (run_loaded(it, &session, &load, kernel, &reach)) {
                keep_if_better(it, define, &reach);
                it->best.module = NULL; /* it ends with this load; only its counts are asked for */
            }
        }
        free(session.options.uses);
    }
    grout_reach__deinit(&reach);
    grout_load__deinit(&load);
    grout_diags_free(session.diags);
}

static bool is_done(const search *it) {
    return (it->found.size > 0 && grout_reach__is_whole(&it->best)) || !has_time(it);
}

static bool is_size(const grout_module *module, grout_const_id id, int64_t *value_out) {
    const grout_const *constant = grout_module_get_const(module, id);
    grout_expr_value value = grout_module_get_expr_value(module, constant->expr);
    *value_out = value.integer;
    return !value.is_float && value.integer >= 0 && value.integer < INT32_MAX / 8 &&
           grout_module_get_expr(module, constant->expr)->kind == GROUT_EXPR_INT;
}

/* Values to try for a const, sorted, none twice. */
typedef struct candidates {
    int64_t values[VALUES_MAX];
    size_t count;
} candidates;

static void add_value(candidates *to, int64_t value) {
    size_t at = to->count;
    while (at > 0 && to->values[at - 1] > value) {
        at--;
    }
    if (to->count == VALUES_MAX || (at > 0 && to->values[at - 1] == value)) {
        return;
    }
    memmove(&to->values[at + 1], &to->values[at], (to->count - at) * sizeof to->values[0]);
    to->values[at] = value;
    to->count++;
}

/* Larger values: near ones, multiples, and steps of the other sizes, of which tiles are made. */
static void find_candidates(const grout_module *module, int64_t value, candidates *out) {
    const int64_t plain[] = {value + 1, value + 2, value + 3, value + 4,     value + 5, value + 7,
                             value * 2, value * 3, value * 4, value * 4 + 1, value * 8};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        add_value(out, plain[i] > value ? plain[i] : value + 1);
    }
    for (grout_const_id id = 1; id < grout_module_get_const_count(module); id++) {
        int64_t step;
        for (int64_t times = 1; is_size(module, id, &step) && step > 1 && times <= 4; times++) {
            add_value(out, value + times * step);
        }
    }
}

static void try_const(search *it, const char *name, int64_t value) {
    candidates tries = {0};
    find_candidates(it->load->bound, value, &tries);
    for (size_t i = 0; i < tries.count && !is_done(it); i++) {
        grout_text define = {0};
        grout_text_add(&define, "%s=%lld", name, (long long)tries.values[i]);
        if (define.data != NULL) {
            try_define(it, define.data);
        }
        grout_text_free(&define);
    }
}

void grout_propose__sizes(grout_session *session, const grout_load *load, const char *path,
                          const grout_bytes *text, const grout_reach *reach, grout_text *out) {
    const grout_module *module = load->bound;
    const grout_host *host = session->host;
    search it = {
        .session = session,
        .load = load,
        .path = path,
        .kernel =
            grout_module_get_string(module, grout_module_get_kernel(module, reach->kernel)->name),
        .text = text,
        .reach = reach,
        .end = host->get_seconds(host->payload) + SECONDS_MAX,
    };
    for (grout_const_id i = 1; i < grout_module_get_const_count(module) && !is_done(&it); i++) {
        int64_t value;
        if (is_size(module, i, &value)) {
            const grout_const *constant = grout_module_get_const(module, i);
            try_const(&it, grout_module_get_string(module, constant->name), value);
        }
    }
    if (it.found.size > 0) {
        grout_text_add(out, " -D %s", it.found.data);
    }
    grout_text_free(&it.found);
    grout_reach__deinit(&it.best);
}
