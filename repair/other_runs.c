/* other_runs.c - runs that nobody asked for, by which repairs are compared.
 * SPDX-License-Identifier: Apache-2.0
 *
 * At one size much is equal by chance: two consts have one value, a loop makes as many turns as the
 * ring has slots, a product of indices is a sum. A repair that takes one for the other is clean
 * there, and the checker cannot know. At another size it may.
 */
#include "other_runs.h"

#include "alloc.h"
#include "load.h"
#include "size_roles.h"

#include <stdlib.h>
#include <string.h>

/* A const doubled is twice the work, or four times if it is there twice. */
#define STEPS_FACTOR 4u
#define STEPS_MORE   100000u
/* Texts, of which none held at a size, until that size does not count. */
#define TRIED_MIN 16u
/* Values of a const: twice its own, one tile, one less, the half. */
#define VALUES_MAX 3u
/* Sizes that are named one by one. */
#define LISTED_MAX 2u
/* What is small is a number of something: CTAs, slots, heads. */
#define SMALL_MAX 8

/* ---- a run --------------------------------------------------------------------------------- */

/* The options of the call and the run's own -D, which win. No other schedule is looked at. */
static bool make_options(const grout_options *own, const grout_other_run *run, grout_options *out) {
    size_t count = 0;
    *out = *own;
    out->uses = calloc(own->use_count + GROUT_OTHER_DEFINES_MAX, sizeof *out->uses);
    for (size_t i = 0; out->uses != NULL && i < own->use_count; i++) {
        if (own->uses[i].id != GROUT_OPTION_EXPLORE) {
            out->uses[count++] = own->uses[i];
        }
    }
    for (uint32_t i = 0; out->uses != NULL && i < run->define_count; i++) {
        out->uses[count++] =
            (grout_option_use){.id = GROUT_OPTION_DEFINE, .value = run->defines[i]};
    }
    out->use_count = count;
    return out->uses != NULL;
}

/* ---- which ---------------------------------------------------------------------------------- */

/* What is known while they are found. */
typedef struct finder {
    grout_other_runs *runs;
    const grout_module *module; /* bound at the own size */
    const grout_size_role *roles;
    const grout_bytes *text;
} finder;

typedef struct values {
    int64_t items[VALUES_MAX];
    uint32_t count;
    int64_t own;
} values;

static void add_value(values *to, int64_t value) {
    bool is_new = value > 0 && value != to->own && to->count < VALUES_MAX;
    for (uint32_t i = 0; i < to->count; i++) {
        is_new &= to->items[i] != value;
    }
    if (is_new) {
        to->items[to->count++] = value;
    }
}

/* The largest part of a problem that a tile may be: with it, a loop over tiles makes one turn. */
static int64_t find_tile(const grout_module *module, const grout_size_role *roles, int64_t own) {
    int64_t most = 0;
    for (grout_const_id id = 1; id < grout_module_get_const_count(module); id++) {
        int64_t value;
        if (roles[id] == GROUT_SIZE_TILE && grout_size__is_given(module, id, &value) && value > 1 &&
            value < own && own % value == 0 && value > most) {
            most = value;
        }
    }
    return most;
}

static void find_values(const grout_module *module, const grout_size_role *roles, grout_const_id id,
                        int64_t own, values *out) {
    *out = (values){.own = own};
    if (roles[id] == GROUT_SIZE_RING) {
        add_value(out, own + 1);
        add_value(out, own > 2 ? own - 1 : 0);
    } else if (own <= SMALL_MAX) {
        add_value(out, 2 * own);
        add_value(out, own - 1);
        add_value(out, roles[id] == GROUT_SIZE_PROBLEM ? 1 : 0);
    } else {
        add_value(out, 2 * own);
        add_value(out, roles[id] == GROUT_SIZE_PROBLEM ? find_tile(module, roles, own) : own / 2);
    }
}

/* Its own size under other schedules. */
static void add_schedules(grout_other_runs *to) {
    to->items[to->count++] = (grout_other_run){.define_count = 0};
}

static void free_run(grout_other_run *run) {
    for (uint32_t i = 0; i < run->define_count; i++) {
        grout__free(run->defines[i]);
    }
    *run = (grout_other_run){0};
}

/* False without memory. */
static bool define(grout_other_run *run, const grout_module *module, grout_const_id id,
                   int64_t value) {
    grout_text text = {0};
    grout_text_add(&text, "%s=%lld",
                   grout_module_get_string(module, grout_module_get_const(module, id)->name),
                   (long long)value);
    if (text.failed) {
        grout_text_free(&text);
        return false;
    }
    run->defines[run->define_count++] = text.data;
    return true;
}

/* A larger tile is one of a larger problem, where the own one would leave a part of a tile. */
static bool define_problem(grout_other_run *run, const finder *it, int64_t tile, int64_t larger) {
    bool is_good = true;
    for (grout_const_id id = 1; id < grout_module_get_const_count(it->module) && is_good; id++) {
        int64_t own;
        if (run->define_count < GROUT_OTHER_DEFINES_MAX && it->roles[id] == GROUT_SIZE_PROBLEM &&
            grout_size__is_given(it->module, id, &own) && own % tile == 0 && own % larger != 0) {
            is_good = define(run, it->module, id, 2 * own);
        }
    }
    return is_good;
}

/* Whether the text can be run so: a size that the kernel refuses is none. */
static bool is_valid(const finder *it, const grout_other_run *run) {
    grout_session session = *it->runs->task.session;
    grout_load load = {0};
    session.is_quiet = true;
    session.diags = grout_session__new_diags(it->runs->task.session);
    const bool is_valid = session.diags != NULL &&
                          make_options(&it->runs->task.session->options, run, &session.options) &&
                          grout_load__init(&session, it->runs->task.path, it->text, false, &load);
    if (session.options.uses != it->runs->task.session->options.uses) {
        free(session.options.uses);
    }
    grout_load__deinit(&load);
    grout_diags_free(session.diags);
    return is_valid;
}

/* False without memory. */
static bool add_size(const finder *it, grout_const_id id, int64_t own, int64_t value) {
    grout_other_run run = {0};
    bool is_good = define(&run, it->module, id, value);
    if (is_good && it->roles[id] == GROUT_SIZE_TILE && value > own && own > 0) {
        is_good = define_problem(&run, it, own, value);
    }
    if (is_good && it->runs->count < GROUT_OTHER_RUNS_MAX && is_valid(it, &run)) {
        it->runs->items[it->runs->count++] = run;
    } else {
        free_run(&run);
    }
    return is_good;
}

static bool add_consts(const finder *it, grout_size_role role) {
    bool is_good = true;
    for (grout_const_id id = 1; id < grout_module_get_const_count(it->module) && is_good; id++) {
        values found = {0};
        int64_t own;
        if (it->roles[id] == role && grout_size__is_given(it->module, id, &own)) {
            find_values(it->module, it->roles, id, own, &found);
        }
        for (uint32_t i = 0; i < found.count && is_good; i++) {
            is_good = add_size(it, id, own, found.items[i]);
        }
    }
    return is_good;
}

static bool add_all(grout_other_runs *to, const grout_module *module, const grout_bytes *text) {
    static const grout_size_role order[] = {GROUT_SIZE_PROBLEM, GROUT_SIZE_RING, GROUT_SIZE_TILE};
    grout_size_role *roles = grout_size_roles__find(module);
    const finder it = {.runs = to, .module = module, .roles = roles, .text = text};
    bool is_good = roles != NULL;
    for (size_t i = 0; i < sizeof order / sizeof order[0] && is_good; i++) {
        is_good = add_consts(&it, order[i]);
    }
    grout__free(roles);
    return is_good;
}

bool grout_other_runs__find(const grout_trial_task *task, const grout_text *text, uint64_t steps,
                            grout_other_runs *out) {
    const grout_bytes bytes = {text->data, text->size};
    grout_session session = *task->session;
    grout_load load = {0};
    *out = (grout_other_runs){.task = *task};
    out->task.wider = NULL;
    out->task.steps_max = steps * STEPS_FACTOR + STEPS_MORE;
    if (!task->looks_again) {
        add_schedules(out);
    }
    if (task->sizes->axes.count > 0) {
        return true;
    }
    session.is_quiet = true;
    session.diags = grout_session__new_diags(task->session);
    bool is_good = session.diags != NULL;
    if (is_good && grout_load__init(&session, task->path, &bytes, false, &load)) {
        is_good = add_all(out, load.bound, &bytes);
    }
    grout_load__deinit(&load);
    grout_diags_free(session.diags);
    return is_good;
}

void grout_other_runs__deinit(grout_other_runs *runs) {
    for (uint32_t i = 0; i < runs->count; i++) {
        free_run(&runs->items[i]);
    }
    *runs = (grout_other_runs){0};
}

/* ---- a text in them ------------------------------------------------------------------------- */

static bool try_run(const grout_other_runs *runs, grout_other_run *run, const grout_text *text,
                    bool *is_clean_out) {
    grout_trial_task task = runs->task;
    grout_session session = *task.session;
    grout_trial trial = {0};
    bool is_good = make_options(&runs->task.session->options, run, &session.options);
    if (is_good) {
        task.session = &session;
        task.looks_again |= run->define_count == 0;
        is_good = grout_trial__run(&task, text, &trial);
    }
    *is_clean_out = is_good && grout_trial__is_clean(&trial);
    run->tried++;
    run->clean += *is_clean_out;
    grout_trial__deinit(&trial);
    free(session.options.uses);
    return is_good;
}

static bool counts(const grout_other_run *run) {
    return run->clean > 0 || run->tried < TRIED_MIN;
}

/* The failures at the first runs. */
static uint32_t count_first(const grout_other_runs *runs, uint32_t first, uint32_t failed) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < first; i++) {
        count += (failed >> i & 1) != 0 && counts(&runs->items[i]);
    }
    return count;
}

bool grout_other_runs__try(grout_other_runs *runs, const grout_text *text, uint32_t most,
                           uint32_t *failed_out) {
    uint32_t failed = UINT32_MAX;
    bool is_good = true;
    for (uint32_t i = 0; i < runs->count && is_good; i++) {
        grout_other_run *run = &runs->items[i];
        bool is_clean = false;
        if (counts(run)) {
            is_good = try_run(runs, run, text, &is_clean);
        }
        failed &= is_clean ? ~(UINT32_C(1) << i) : UINT32_MAX;
        if (count_first(runs, i + 1, failed) > most) {
            break;
        }
    }
    *failed_out = failed;
    return is_good;
}

uint32_t grout_other_runs__count(const grout_other_runs *runs, uint32_t failed) {
    return count_first(runs, runs->count, failed);
}

void grout_other_runs__describe(const grout_other_runs *runs, uint32_t failed, grout_text *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < runs->count; i++) {
        const grout_other_run *run = &runs->items[i];
        const bool is_failed = (failed >> i & 1) != 0 && run->define_count > 0;
        count += is_failed;
        for (uint32_t k = 0; k < run->define_count && is_failed && count <= LISTED_MAX; k++) {
            const char *between = out->size > 0 ? ", " : "";
            grout_text_add(out, "%s-D %s", k > 0 ? " " : between, run->defines[k]);
        }
    }
    if (count > LISTED_MAX) {
        grout_text_add(out, " and %u more", (unsigned)(count - LISTED_MAX));
    }
}
