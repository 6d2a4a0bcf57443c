/* propose.c - sizes with which a kernel reaches what it did not.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The integer consts that a number gives are tried in rounds, each with its next value: larger
 * ones, and some that are smaller. The kernel runs without the checker, and an observer says what
 * the run reached. If no such size reaches all by itself, one may do so together with the size that
 * was checked, as two branches need that exclude each other: that is a sweep. Else two consts are
 * tried together. Runs and the whole search are bounded in work, which every machine counts alike:
 * the answer is the same beside any load. The search does at most three times the work of the run
 * that was checked, if that is not very little. --budget and --timeout end it too.
 */
#include "propose.h"

#include "size_roles.h"
#include "stage.h"

#include "alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A second or two of a processor: of a run's work (grout_run_stats), and of the search's. */
#define STEPS_MAX  UINT64_C(2000000)
#define WORK_MAX   UINT64_C(1000000000)
#define STEPS_PART UINT64_C(4096)      /* after which a run's work is looked at */
#define WORK_MIN   UINT64_C(400000000) /* of a search, however small the run was */
#define RUNS_MAX   3u                  /* and this many times the work of the run */
#define VALUES_MAX 64
#define CONSTS_MAX 64u
#define SMALLER    3u /* values below the own one */
/* Two consts: so much more, and this many of the smallest values of each. */
#define PAIR_WORK_MAX   UINT64_C(400000000)
#define PAIR_VALUES_MAX 8u
/* What it takes to make a run at all. */
#define WORK_OF_A_RUN UINT64_C(1000000)

/* Options, and what a run with them does not reach. */
typedef struct proposal {
    grout_text options; /* " -D K=320"; empty: none is known */
    grout_lack lack;
} proposal;

typedef struct search {
    grout_session *session;
    const grout_load *load;
    const char *path, *kernel;
    const grout_bytes *text;
    const grout_sizes *sizes; /* that were checked; without an axis: one */
    const grout_reach *reach; /* what is to be bettered */
    double end;               /* by --budget and --timeout */
    uint64_t work, work_max;
    grout_stage stage;
    unsigned tried;
    proposal alone, together; /* the best of one run, and of one after what was checked */
} search;

/* A const with a value to be tried. */
typedef struct trial {
    const char *name;
    int64_t own; /* its value now */
    int64_t value;
} trial;

static double get_now(const search *it) {
    const grout_host *host = it->session->host;
    return host->get_seconds(host->payload);
}

static bool has_time(const search *it) {
    const grout_host *host = it->session->host;
    return it->work < it->work_max && get_now(it) < it->end && !host->is_interrupted(host->payload);
}

/* ---- a trial -------------------------------------------------------------------------------- */

/* Runs to the end, or until the work of the search is done. */
static grout_run_status run_machine(search *it, grout_machine *machine, grout_diags *diags) {
    grout_run_status status = GROUT_RUN_PAUSED;
    uint64_t before = 0;
    it->work += WORK_OF_A_RUN;
    while (status == GROUT_RUN_PAUSED && it->work < it->work_max) {
        status = grout_machine_run(machine, STEPS_PART, diags);
        const uint64_t work = grout_machine_get_stats(machine).work;
        it->work += work - before;
        before = work;
    }
    return status;
}

/* One run of the kernel as it is loaded; whether it came to an end. */
static bool run_loaded(search *it, grout_session *session, const grout_load *load,
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
        /* With --max-steps, a size that needs more would end at that limit. */
        if (launch.max_steps == 0 || launch.max_steps > STEPS_MAX) {
            launch.max_steps = STEPS_MAX;
        }
        launch.observers[launch.observer_count++] = &reach->observer;
        grout_machine *machine = grout_machine_new(&launch, session->diags);
        grout_run_status status =
            machine == NULL ? GROUT_RUN_FAILED : run_machine(it, machine, session->diags);
        /* A deadlock is the most that a size can show: its lists stay empty, nothing is lacking. */
        is_good =
            status == GROUT_RUN_DEADLOCK || (status == GROUT_RUN_DONE && grout_reach__find(reach));
        grout_machine_free(machine);
        grout_progress_line__clear(&payload.line);
    }
    grout_argument_set__deinit(&arguments);
    return is_good;
}

static bool is_swept(const search *it, const char *name) {
    for (size_t i = 0; i < it->sizes->axes.count; i++) {
        if (strcmp(it->sizes->axes.items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* " --sweep K=64,256,320": what was checked, and the values of the trials. */
static void print_sweep(const search *it, const trial *trials, size_t count, grout_text *out) {
    for (size_t i = 0; i < it->sizes->axes.count; i++) {
        const grout_size_axis *axis = &it->sizes->axes.items[i];
        grout_text_add(out, " --sweep %s=", axis->name);
        for (size_t k = 0; k < axis->values.count; k++) {
            grout_text_add(out, "%s%s", k > 0 ? "," : "",
                           axis->values.items[k].define + strlen(axis->name) + 1);
        }
        for (size_t k = 0; k < count; k++) {
            if (strcmp(trials[k].name, axis->name) == 0) {
                grout_text_add(out, ",%lld", (long long)trials[k].value);
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_swept(it, trials[i].name)) {
            grout_text_add(out, " --sweep %s=%lld,%lld", trials[i].name, (long long)trials[i].own,
                           (long long)trials[i].value);
        }
    }
}

/* The other -D of the call, without which the sizes would mean something else. */
static void print_others(const search *it, const trial *trials, size_t count, grout_text *out) {
    const char *define;
    for (size_t i = 0;
         (define = grout_options__get_use(&it->session->options, GROUT_OPTION_DEFINE, i)) != NULL;
         i++) {
        bool is_tried = false;
        for (size_t k = 0; k < count; k++) {
            size_t size = strlen(trials[k].name);
            is_tried |= strncmp(define, trials[k].name, size) == 0 && define[size] == '=';
        }
        if (!is_tried) {
            grout_text_add(out, " -D %s", define);
        }
    }
}

/* Keeps the trials if they leave less than what is best so far. */
static void keep(const search *it, proposal *best, const grout_lack *lack, const trial *trials,
                 size_t count) {
    const grout_lack own = grout_reach__measure(it->reach);
    if (!grout_lack__is_less(lack, best->options.size > 0 ? &best->lack : &own)) {
        return;
    }
    grout_text_free(&best->options);
    *best = (proposal){.lack = *lack};
    print_others(it, trials, count, &best->options);
    if (best == &it->together) {
        print_sweep(it, trials, count, &best->options);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        grout_text_add(&best->options, " -D %s=%lld", trials[i].name, (long long)trials[i].value);
    }
}

/* What a run with the trials reaches, by itself and after what was checked. */
static void judge(search *it, grout_reach *reach, const trial *trials, size_t count) {
    grout_lack lack = grout_reach__measure(reach);
    keep(it, &it->alone, &lack, trials, count);
    if (grout_lack__is_none(&lack) && it->sizes->axes.count == 0) {
        return;
    }
    grout_reach__join(reach, it->reach);
    if (grout_lack__is_none(&lack)) { /* by a deadlock, perhaps */
        keep(it, &it->together, &lack, trials, count);
    } else if (grout_reach__find(reach)) {
        lack = grout_reach__measure(reach);
        keep(it, &it->together, &lack, trials, count);
    }
}

/* The session's options, -D for the first size, and -D for each trial, which win. */
static bool make_options(const search *it, const trial *trials, size_t count, grout_text *defines,
                         grout_options *out) {
    if (!grout_sizes__apply(it->sizes, 0, &it->session->options, out)) {
        return false;
    }
    grout_option_use *uses = realloc(out->uses, (out->use_count + count + 1) * sizeof *uses);
    out->uses = uses == NULL ? out->uses : uses;
    for (size_t i = 0; i < count && uses != NULL; i++) {
        grout_text_add(&defines[i], "%s=%lld", trials[i].name, (long long)trials[i].value);
        uses[out->use_count++] =
            (grout_option_use){.id = GROUT_OPTION_DEFINE, .value = defines[i].data};
        uses = defines[i].data == NULL ? NULL : uses;
    }
    return uses != NULL;
}

/* The kernel alone, if what is to be bettered is of it alone: the ids in both are the same then. */
static bool run_kernel(search *it, grout_session *session, const grout_load *whole, grout_load *own,
                       grout_reach *reach) {
    grout_kernel_id kernel = grout_module_find_kernel(whole->bound, it->kernel);
    const grout_load *load = whole;
    if (it->load->whole != NULL) {
        load = grout_load__take(session, whole, &kernel, own);
    }
    return (it->load->whole != NULL) == (load->whole != NULL) &&
           run_loaded(it, session, load, kernel, reach);
}

static void run_trial(search *it, const trial *trials, size_t count) {
    grout_stage__say(&it->stage, "looking for sizes that reach more: %u tried", it->tried++);
    grout_stage__draw(it->session);
    grout_session session = *it->session;
    grout_load load = {0}, own = {0};
    grout_reach reach = {0};
    grout_text defines[2] = {{0}, {0}};
    session.diags = grout_session__new_diags(it->session);
    session.options.uses = NULL;
    session.is_quiet = true;
    if (session.diags != NULL && make_options(it, trials, count, defines, &session.options) &&
        grout_load__init(&session, it->path, it->text, false, &load)) {
        if (run_kernel(it, &session, &load, &own, &reach)) {
            judge(it, &reach, trials, count);
        }
    }
    if (session.options.uses != it->session->options.uses) {
        free(session.options.uses);
    }
    for (size_t i = 0; i < count; i++) {
        grout_text_free(&defines[i]);
    }
    grout_reach__deinit(&reach);
    grout_load__give_back(&own);
    grout_load__deinit(&load);
    grout_diags_free(session.diags);
}

static bool is_whole(const proposal *found) {
    return found->options.size > 0 && grout_lack__is_none(&found->lack);
}

/* In a sweep what counts is all sizes together. */
static bool is_done(const search *it) {
    return is_whole(it->sizes->axes.count > 0 ? &it->together : &it->alone) || !has_time(it);
}

/* ---- values --------------------------------------------------------------------------------- */

/* Values to try for a const, sorted, none twice. */
typedef struct candidates {
    trial of; /* whose they are */
    int64_t values[VALUES_MAX];
    size_t count;
    int64_t smaller[SMALLER]; /* 0: none */
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

/* The largest value that was checked. */
static int64_t get_largest(const search *it, const char *name, int64_t value) {
    for (size_t i = 0; i < it->sizes->axes.count; i++) {
        const grout_size_axis *axis = &it->sizes->axes.items[i];
        const grout_size_value *last = &axis->values.items[axis->values.count - 1];
        if (strcmp(axis->name, name) == 0 && !last->is_float && last->integer < INT32_MAX / 8) {
            return last->integer;
        }
    }
    return value;
}

/* Larger values: near ones, multiples, and steps of the other sizes, of which tiles are made.
 * False: the const is no size. */
static bool find_candidates(const search *it, grout_const_id id, candidates *out) {
    const grout_module *module = it->load->bound;
    int64_t value;
    *out = (candidates){0};
    if (!grout_size__is_given(module, id, &value)) {
        return false;
    }
    out->of.name = grout_module_get_string(module, grout_module_get_const(module, id)->name);
    out->of.own = value;
    value = get_largest(it, out->of.name, value);
    const int64_t plain[] = {value + 1, value + 2, value + 3, value + 4,     value + 5, value + 7,
                             value * 2, value * 3, value * 4, value * 4 + 1, value * 8};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        add_value(out, plain[i] > value ? plain[i] : value + 1);
    }
    const int64_t own = out->of.own;
    out->smaller[0] = own / 2;
    out->smaller[1] = own / 4;
    out->smaller[2] = own - 1 > own / 2 ? own - 1 : 0;
    for (grout_const_id other = 1; other < grout_module_get_const_count(module); other++) {
        int64_t step;
        for (int64_t times = 1;
             grout_size__is_given(module, other, &step) && step > 1 && times <= 4; times++) {
            add_value(out, value + times * step);
        }
    }
    return true;
}

static trial get_trial(const candidates *tries, size_t index) {
    trial one = tries->of;
    one.value = tries->values[index];
    return one;
}

/* The values of a round: the next larger one, and after two of these a smaller one. */
static void try_round(search *it, const candidates *tries, size_t round) {
    trial one = tries->of;
    if (round < tries->count && !is_done(it)) {
        one.value = tries->values[round];
        run_trial(it, &one, 1);
    }
    one.value = round >= 2 && round - 2 < SMALLER ? tries->smaller[round - 2] : 0;
    if (one.value > 0 && !is_done(it)) {
        run_trial(it, &one, 1);
    }
}

/* Those of one role after the others. A tile or ring of another size is another kernel: of these no
 * smaller values are tried. */
static size_t add_candidates(const search *it, const grout_size_role *roles, grout_size_role role,
                             candidates *all, size_t count) {
    for (grout_const_id i = 1;
         count < CONSTS_MAX && i < grout_module_get_const_count(it->load->bound); i++) {
        if (roles[i] == role && find_candidates(it, i, &all[count])) {
            if (role != GROUT_SIZE_PROBLEM) {
                memset(all[count].smaller, 0, sizeof all[count].smaller);
            }
            count++;
        }
    }
    return count;
}

/* A round for all consts, then the next: the const that matters may be the last one. */
static bool try_consts(search *it) {
    candidates *all = calloc(CONSTS_MAX, sizeof *all);
    grout_size_role *roles = grout_size_roles__find(it->load->bound);
    size_t count = 0;
    for (int role = GROUT_SIZE_PROBLEM; all != NULL && roles != NULL && role <= GROUT_SIZE_RING;
         role++) {
        count = add_candidates(it, roles, (grout_size_role)role, all, count);
    }
    for (size_t round = 0; round < VALUES_MAX; round++) {
        for (size_t i = 0; i < count && !is_done(it); i++) {
            try_round(it, &all[i], round);
        }
    }
    const bool is_good = all != NULL && roles != NULL;
    free(all);
    grout__free(roles);
    return is_good;
}

/* The smallest values first: those whose places in their lists have the least sum. */
static void try_pair(search *it, const candidates *a, const candidates *b) {
    for (size_t sum = 0; sum + 1 < (size_t)2 * PAIR_VALUES_MAX; sum++) {
        for (size_t i = 0; i <= sum && !is_done(it); i++) {
            bool is_there = i < PAIR_VALUES_MAX && sum - i < PAIR_VALUES_MAX && i < a->count &&
                            sum - i < b->count;
            if (is_there) {
                const trial both[2] = {get_trial(a, i), get_trial(b, sum - i)};
                run_trial(it, both, 2);
            }
        }
    }
}

static void try_pairs(search *it) {
    uint32_t count = grout_module_get_const_count(it->load->bound);
    it->work_max = it->work + (it->work_max < PAIR_WORK_MAX ? it->work_max : PAIR_WORK_MAX);
    for (grout_const_id i = 1; i < count; i++) {
        candidates a, b;
        for (grout_const_id k = i + 1; find_candidates(it, i, &a) && k < count; k++) {
            if (find_candidates(it, k, &b)) {
                try_pair(it, &a, &b);
            }
        }
    }
}

/* What the search may do for a run that did so much; 0: nobody says. */
static uint64_t get_work_max(uint64_t work) {
    const uint64_t most = work < WORK_MAX / RUNS_MAX ? work * RUNS_MAX : WORK_MAX;
    return work == 0 ? WORK_MAX : most > WORK_MIN ? most : WORK_MIN;
}

/* The time of the call ends the search. */
static double find_end(const search *it) {
    const grout_session *session = it->session;
    double end = HUGE_VAL;
    double timeout = grout_options__get_number(&session->options, GROUT_OPTION_TIMEOUT, 0);
    if (timeout > 0) {
        end = session->start + timeout;
    }
    return session->budget_end > 0 && session->budget_end < end ? session->budget_end : end;
}

/* One run is the better answer, unless it leaves more than two do. */
static const grout_text *choose(const search *it) {
    bool is_sweep = it->sizes->axes.count > 0 || it->alone.options.size == 0 ||
                    grout_lack__is_less(&it->together.lack, &it->alone.lack);
    return is_sweep && it->together.options.size > 0 ? &it->together.options : &it->alone.options;
}

void grout_propose__sizes(grout_session *session, const grout_propose_task *task, grout_text *out) {
    const grout_module *module = task->load->bound;
    const grout_kernel *kernel = grout_module_get_kernel(module, task->reach->kernel);
    const grout_sizes one = {.count = 1};
    search it = {
        .session = session,
        .load = task->load,
        .path = task->path,
        .kernel = grout_module_get_string(module, kernel->name),
        .text = task->text,
        .sizes = task->sizes == NULL ? &one : task->sizes,
        .reach = task->reach,
    };
    it.end = find_end(&it);
    it.work_max = get_work_max(task->work);
    grout_stage__begin(&it.stage, session);
    if (!try_consts(&it)) {
        (void)grout_diags_add_oom(session->diags);
    } else if (!is_whole(&it.alone) && !is_whole(&it.together)) {
        try_pairs(&it);
    }
    grout_stage__end(&it.stage, session);
    const grout_text *chosen = choose(&it);
    grout_text_add_bytes(out, chosen->data, chosen->size);
    grout_text_free(&it.alone.options);
    grout_text_free(&it.together.options);
}
