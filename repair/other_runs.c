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
#define TRIED_MIN 4u
/* Values of a const: twice its own, one tile, one less, the half. */
#define VALUES_MAX 3u
/* What is small is a number of something: CTAs, slots, heads. */
#define SMALL_MAX 8

/* ---- which ---------------------------------------------------------------------------------- */

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
        add_value(out, 1);
    } else {
        add_value(out, 2 * own);
        add_value(out, roles[id] == GROUT_SIZE_PROBLEM ? find_tile(module, roles, own) : own / 2);
    }
}

/* Its own size under other schedules. */
static void add_schedules(grout_other_runs *to) {
    to->items[to->count++] = (grout_other_run){.define = NULL};
}

/* False without memory. */
static bool add_size(grout_other_runs *to, const char *name, int64_t value) {
    grout_text define = {0};
    grout_text_add(&define, "%s=%lld", name, (long long)value);
    if (define.failed) {
        grout_text_free(&define);
        return false;
    }
    to->items[to->count++] = (grout_other_run){.define = define.data};
    return true;
}

static bool add_consts(grout_other_runs *to, const grout_module *module,
                       const grout_size_role *roles, grout_size_role role) {
    bool is_good = true;
    for (grout_const_id id = 1; id < grout_module_get_const_count(module) && is_good; id++) {
        values found = {0};
        int64_t own;
        if (roles[id] == role && grout_size__is_given(module, id, &own)) {
            find_values(module, roles, id, own, &found);
        }
        const char *name =
            grout_module_get_string(module, grout_module_get_const(module, id)->name);
        for (uint32_t i = 0; i < found.count && is_good && to->count < GROUT_OTHER_RUNS_MAX; i++) {
            is_good = add_size(to, name, found.items[i]);
        }
    }
    return is_good;
}

static bool add_all(grout_other_runs *to, const grout_module *module) {
    static const grout_size_role order[] = {GROUT_SIZE_PROBLEM, GROUT_SIZE_RING, GROUT_SIZE_TILE};
    grout_size_role *roles = grout_size_roles__find(module);
    bool is_good = roles != NULL;
    for (size_t i = 0; i < sizeof order / sizeof order[0] && is_good; i++) {
        is_good = add_consts(to, module, roles, order[i]);
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
        is_good = add_all(out, load.bound);
    }
    grout_load__deinit(&load);
    grout_diags_free(session.diags);
    return is_good;
}

void grout_other_runs__deinit(grout_other_runs *runs) {
    for (uint32_t i = 0; i < runs->count; i++) {
        grout__free(runs->items[i].define);
    }
    *runs = (grout_other_runs){0};
}

/* ---- a text in them ------------------------------------------------------------------------- */

/* The options of the call and the size's own -D, which wins. No other schedule is looked at. */
static bool make_options(const grout_options *own, char *define, grout_options *out) {
    size_t count = 0;
    *out = *own;
    out->uses = calloc(own->use_count + 1, sizeof *out->uses);
    for (size_t i = 0; out->uses != NULL && i < own->use_count; i++) {
        if (own->uses[i].id != GROUT_OPTION_EXPLORE) {
            out->uses[count++] = own->uses[i];
        }
    }
    if (out->uses != NULL && define != NULL) {
        out->uses[count++] = (grout_option_use){.id = GROUT_OPTION_DEFINE, .value = define};
    }
    out->use_count = count;
    return out->uses != NULL;
}

static bool try_run(const grout_other_runs *runs, grout_other_run *run, const grout_text *text,
                    bool *is_clean_out) {
    grout_trial_task task = runs->task;
    grout_session session = *task.session;
    grout_trial trial = {0};
    bool is_good = make_options(&runs->task.session->options, run->define, &session.options);
    if (is_good) {
        task.session = &session;
        task.looks_again |= run->define == NULL;
        is_good = grout_trial__run(&task, text, &trial);
    }
    *is_clean_out = is_good && grout_trial__is_clean(&trial);
    run->tried++;
    run->valid += trial.is_valid;
    run->clean += *is_clean_out;
    grout_trial__deinit(&trial);
    free(session.options.uses);
    return is_good;
}

/* A size that no text can be run at is none. */
static bool counts(const grout_other_run *run) {
    return run->clean > 0 || (run->tried < TRIED_MIN && run->valid > 0);
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
        if (run->clean > 0 || run->tried < TRIED_MIN) {
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
    for (uint32_t i = 0; i < runs->count; i++) {
        const grout_other_run *run = &runs->items[i];
        if ((failed >> i & 1) != 0 && run->define != NULL && run->valid > 0) {
            grout_text_add(out, "%s-D %s", out->size > 0 ? ", " : "", run->define);
        }
    }
}
