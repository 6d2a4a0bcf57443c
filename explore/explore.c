/* explore.c - runs the schedules of a launch that may end otherwise.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/explore.h"

#include "array.h"
#include "arrays.h"
#include "hash.h"
#include "invariant.h"
#include "orders.h"
#include "trace.h"

#include <string.h>

/* A decision of the current schedule: the actor that was chosen, and those to try in its place. */
typedef struct node {
    uint32_t chosen;
    uint32_t displaced; /* the first choice here: the wanted actors are tried in its place */
    GROUT_ARRAY(uint32_t) wanted; /* actors to try; the first tried_count have been */
    size_t tried_count;
} node;

typedef struct explorer {
    const grout_launch *launch;
    const grout_explore_options *options;
    grout_exploration *out;
    grout_diags *diags;
    uint8_t *orders;           /* of the kernel: orders.h */
    grout_saved_arrays arrays; /* of inout parameters, as they were */
    GROUT_ARRAY(node) nodes;
    size_t shared_count;  /* nodes that the last run has in common with the one before */
    uint64_t *signatures; /* open addressing; 0: empty */
    size_t signature_count, signature_size;
    GROUT_ARRAY(uint64_t) identities; /* of all findings so far */
    grout_decisions decisions;        /* of the run that was made last */
    bool was_cut;                     /* it was interrupted: there are no more */
} explorer;

/* ---- one run -------------------------------------------------------------------------------- */

/* One schedule: the decisions given (NULL: the launch's own policy), then the fair one. */
typedef struct one_run {
    grout_checker *checker;
    grout_run_status status;
    grout_run_stats stats;
    grout_check_summary summary;
} one_run;

static bool run_schedule(explorer *it, const grout_decisions *replay, grout_trace *trace,
                         one_run *run) {
    const grout_checker_options options = {.max_findings = it->options->max_findings,
                                           .strict_fences = it->options->strict_fences,
                                           .allocator = it->launch->allocator};
    grout_launch launch = *it->launch;
    *run = (one_run){0};
    run->checker = grout_checker_new(&options, it->diags);
    if (run->checker == NULL) {
        return false;
    }
    it->decisions.count = 0;
    launch.record = &it->decisions;
    launch.track_undefined = true;
    if (replay != NULL) {
        launch.schedule = GROUT_SCHEDULE_REPLAY;
        launch.replay = replay;
    }
    launch.observers[launch.observer_count++] = grout_checker_get_observer(run->checker);
    if (trace != NULL) {
        launch.observers[launch.observer_count++] = &trace->observer;
    }
    grout_saved_arrays__restore(&it->arrays, it->launch);
    grout_machine *machine = grout_machine_new(&launch, it->diags);
    if (machine == NULL) {
        return false;
    }
    run->status = grout_machine_run(machine, 0, it->diags);
    run->stats = grout_machine_get_stats(machine);
    run->summary = grout_checker_get_summary(run->checker, run->status != GROUT_RUN_DONE &&
                                                               run->status != GROUT_RUN_DEADLOCK);
    grout_machine_free(machine);
    it->was_cut = run->status == GROUT_RUN_INTERRUPTED;
    it->out->schedules += it->was_cut ? 0 : 1;
    return run->status != GROUT_RUN_FAILED && (trace == NULL || !trace->has_failed);
}

static bool has(const uint64_t *items, size_t count, uint64_t item) {
    for (size_t i = 0; i < count; i++) {
        if (items[i] == item) {
            return true;
        }
    }
    return false;
}

/* Adds the identities of a run's findings; *is_new_out: there was one that no run before had. */
static bool add_identities(explorer *it, const grout_checker *checker, bool *is_new_out) {
    *is_new_out = false;
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        uint64_t identity = grout_checker_get_finding(checker, i)->identity;
        if (has(it->identities.items, it->identities.count, identity)) {
            continue;
        }
        if (!GROUT_ARRAY_RESERVE(&it->identities, it->launch->allocator, 1)) {
            return false;
        }
        it->identities.items[it->identities.count++] = identity;
        *is_new_out = true;
    }
    return true;
}

static bool copy_decisions(const explorer *it, const grout_decisions *from, grout_decisions *to) {
    *to = (grout_decisions){0};
    to->actors = grout__new(it->launch->allocator, from->count + 1, sizeof *to->actors);
    if (to->actors == NULL) {
        return false;
    }
    if (from->count > 0) {
        memcpy(to->actors, from->actors, from->count * sizeof *to->actors);
    }
    to->count = from->count;
    to->capacity = from->count + 1;
    return true;
}

/* Keeps the run if it is the first or shows something new; frees its checker else. */
static bool keep_witness(explorer *it, one_run *run) {
    grout_exploration *out = it->out;
    bool is_new = false;
    if (!add_identities(it, run->checker, &is_new)) {
        return false;
    }
    if (!is_new && out->witness_count > 0) {
        grout_checker_free(run->checker);
        run->checker = NULL;
        return true;
    }
    grout_witness *witnesses = grout__resize(it->launch->allocator, out->witnesses,
                                             (out->witness_count + 1) * sizeof *witnesses);
    if (witnesses == NULL) {
        return false;
    }
    out->witnesses = witnesses;
    grout_witness *witness = &witnesses[out->witness_count];
    *witness = (grout_witness){.status = run->status, .stats = run->stats};
    if (!copy_decisions(it, &it->decisions, &witness->decisions)) {
        return false;
    }
    witness->checker = run->checker;
    run->checker = NULL;
    out->witness_count++;
    return true;
}

/* ---- what to try next ----------------------------------------------------------------------- */

/* The nodes of the decisions that the last run made; those it shares with the run before stay. */
static bool take_nodes(explorer *it) {
    it->shared_count = it->nodes.count;
    for (size_t i = it->nodes.count; i < it->decisions.count; i++) {
        if (!GROUT_ARRAY_RESERVE(&it->nodes, it->launch->allocator, 1)) {
            return false;
        }
        it->nodes.items[it->nodes.count++] =
            (node){.chosen = it->decisions.actors[i], .displaced = it->decisions.actors[i]};
    }
    return true;
}

static void drop_nodes(explorer *it, size_t count) {
    while (it->nodes.count > count) {
        grout__free(it->nodes.items[--it->nodes.count].wanted.items);
    }
}

static bool want(explorer *it, size_t index, uint32_t actor) {
    GROUT_ASSERT(index < it->nodes.count);
    node *at = &it->nodes.items[index];
    if (at->chosen == actor) {
        return true;
    }
    for (size_t i = 0; i < at->wanted.count; i++) {
        if (at->wanted.items[i] == actor) {
            return true;
        }
    }
    if (!GROUT_ARRAY_RESERVE(&at->wanted, it->launch->allocator, 1)) {
        return false;
    }
    it->out->states += at->wanted.count == 0 ? 1u : 0u;
    at->wanted.items[at->wanted.count++] = actor;
    return true;
}

/* The last decision for a step's actor up to that step; node_count if there is none. */
static size_t find_node(const explorer *it, const grout_step *step) {
    for (size_t index = (size_t)step->decision; index > 0; index--) {
        if (it->nodes.items[index - 1].chosen == step->actor) {
            return index - 1;
        }
    }
    return it->nodes.count;
}

/*
 * To try a reversal, another actor runs at the decision that chose the first step's actor: the
 * actor of the second step, or one that did something in between. One of these can run there,
 * unless only the first step's actor could.
 */
static bool want_reversal(explorer *it, const grout_trace *trace, const grout_reversal *reversal) {
    const grout_step *second = &trace->steps.items[reversal->second];
    size_t index = find_node(it, &trace->steps.items[reversal->first]);
    if (index == it->nodes.count) {
        return true; /* nobody else could run then */
    }
    bool is_good = want(it, index, second->actor);
    for (size_t i = index + 1; is_good && i < it->nodes.count && i < second->decision; i++) {
        is_good = want(it, index, it->nodes.items[i].chosen);
    }
    return is_good;
}

/*
 * A run with the same order as an earlier one adds nothing to try: the earlier run added it. There
 * is one exception. A run that was to reverse a pair may fail to, because the fair schedule resumed
 * the displaced actor, or another, before the second step. That actor then has to wait once more.
 */
static bool is_unfinished(const explorer *it, const grout_trace *trace,
                          const grout_reversal *reversal) {
    const grout_step *first = &trace->steps.items[reversal->first];
    const grout_step *second = &trace->steps.items[reversal->second];
    size_t index = find_node(it, first);
    if (index >= it->nodes.count || index < it->shared_count || it->shared_count == 0) {
        return false;
    }
    for (size_t i = 0; i < it->shared_count; i++) {
        const node *at = &it->nodes.items[i];
        if (at->displaced == first->actor && at->chosen != first->actor) {
            return true;
        }
    }
    return it->nodes.items[it->shared_count - 1].chosen == second->actor;
}

static bool want_reversals(explorer *it, const grout_trace *trace, bool is_known) {
    bool is_good = true;
    for (size_t i = 0; is_good && i < trace->reversals.count; i++) {
        const grout_reversal *reversal = &trace->reversals.items[i];
        if (!is_known || is_unfinished(it, trace, reversal)) {
            is_good = want_reversal(it, trace, reversal);
        }
    }
    return is_good;
}

/* Where a signature stands in the table, or is to be put. */
static uint64_t *find_signature(uint64_t *table, size_t size, uint64_t signature) {
    size_t at = grout_hash__index(signature) & (size - 1);
    while (table[at] != 0 && table[at] != signature) {
        at = (at + 1) & (size - 1);
    }
    return &table[at];
}

static bool grow_signatures(explorer *it) {
    if (it->signature_count * 2 < it->signature_size) {
        return true;
    }
    size_t size = it->signature_size == 0 ? 64 : 2 * it->signature_size;
    uint64_t *table = grout__new(it->launch->allocator, size, sizeof *table);
    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; i < it->signature_size; i++) {
        if (it->signatures[i] != 0) {
            *find_signature(table, size, it->signatures[i]) = it->signatures[i];
        }
    }
    grout__free(it->signatures);
    it->signatures = table;
    it->signature_size = size;
    return true;
}

/* Whether an earlier run ordered all steps that do not commute alike. Records this run. */
static bool is_known_trace(explorer *it, const grout_trace *trace, bool *failed) {
    uint64_t signature = grout_trace__get_signature(trace) | 1;
    *failed = !grow_signatures(it);
    if (*failed) {
        return false;
    }
    uint64_t *place = find_signature(it->signatures, it->signature_size, signature);
    bool is_known = *place != 0;
    it->signature_count += is_known ? 0 : 1;
    *place = signature;
    return is_known;
}

/* The decisions up to the deepest node with somebody to try, ending with that one; false: none. */
static bool choose_next(explorer *it, grout_decisions *next) {
    size_t index = it->nodes.count;
    while (index > 0 &&
           it->nodes.items[index - 1].tried_count == it->nodes.items[index - 1].wanted.count) {
        index--;
    }
    if (index == 0) {
        return false;
    }
    drop_nodes(it, index);
    node *at = &it->nodes.items[index - 1];
    GROUT_ASSERT(at->tried_count < at->wanted.count);
    at->chosen = at->wanted.items[at->tried_count++];
    next->count = 0;
    for (size_t i = 0; i < index; i++) {
        next->actors[next->count++] = it->nodes.items[i].chosen;
    }
    return true;
}

/* ---- the exploration ------------------------------------------------------------------------ */

static bool goes_on(const explorer *it) {
    const grout_explore_options *options = it->options;
    return !it->was_cut &&
           (options->max_schedules == 0 || it->out->schedules < options->max_schedules) &&
           (options->goes_on == NULL || options->goes_on(options->payload, it->out->schedules));
}

/* One schedule, from run to what it asks to be tried. */
static bool explore_one(explorer *it, const grout_decisions *replay, bool *is_certified_out) {
    grout_trace trace;
    one_run run;
    grout_trace__init(&trace, it->launch->allocator, &it->decisions, it->orders);
    bool failed = !run_schedule(it, replay, &trace, &run);
    *is_certified_out = !failed && run.summary.is_well_synchronised;
    it->out->failing += !failed && run.summary.error_count > 0;
    failed = failed || !keep_witness(it, &run);
    grout_checker_free(run.checker);
    if (!failed && !*is_certified_out && !it->was_cut) {
        grout_trace__settle(&trace);
        failed = !take_nodes(it);
        bool is_known = !failed && is_known_trace(it, &trace, &failed);
        failed = failed || !want_reversals(it, &trace, is_known);
    }
    grout_trace__deinit(&trace);
    return !failed;
}

static bool explore(explorer *it) {
    grout_exploration *out = it->out;
    grout_decisions next = {0};
    out->states = 1;
    if (!explore_one(it, NULL, &out->is_certified)) {
        return false;
    }
    if (out->is_certified) {
        out->is_complete = true;
        return true;
    }
    bool is_good = true;
    while (is_good && goes_on(it)) {
        uint32_t *actors = grout__resize(it->launch->allocator, next.actors,
                                         (it->nodes.count + 1) * sizeof *actors);
        bool stands_for_rest = false;
        if (actors == NULL) {
            is_good = false;
            break;
        }
        next.actors = actors;
        if (!choose_next(it, &next)) {
            out->is_complete = true;
            break;
        }
        is_good = explore_one(it, &next, &stands_for_rest);
    }
    out->why_open = out->is_complete ? "" : "the budget of the exploration was over";
    grout__free(next.actors);
    return is_good;
}

static void deinit(explorer *it) {
    drop_nodes(it, 0);
    grout__free(it->nodes.items);
    grout__free(it->signatures);
    grout__free(it->identities.items);
    grout__free(it->orders);
    grout_saved_arrays__deinit(&it->arrays);
    grout_decisions_deinit(&it->decisions);
}

bool grout_explore(const grout_launch *launch, const grout_explore_options *options,
                   grout_exploration *out, grout_diags *diags) {
    explorer it = {.launch = launch, .options = options, .out = out, .diags = diags};
    *out = (grout_exploration){.why_open = ""};
    it.orders = grout_orders__find(launch->allocator, launch->module, launch->kernel);
    bool is_good =
        it.orders != NULL && grout_saved_arrays__take(&it.arrays, launch, false) && explore(&it);
    deinit(&it);
    return is_good || grout_diags_add_oom(diags);
}

bool grout_exploration_holds(const grout_exploration *exploration) {
    GROUT_ASSERT(exploration->failing <= exploration->schedules);
    return exploration->is_complete &&
           (exploration->failing == 0 || exploration->failing == exploration->schedules);
}

void grout_exploration_deinit(grout_exploration *exploration) {
    for (uint32_t i = 0; i < exploration->witness_count; i++) {
        grout_decisions_deinit(&exploration->witnesses[i].decisions);
        grout_checker_free(exploration->witnesses[i].checker);
    }
    grout__free(exploration->witnesses);
    *exploration = (grout_exploration){0};
}

/* ---- smaller schedules ---------------------------------------------------------------------- */

static bool shows(const grout_checker *checker, uint64_t identity) {
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        if (grout_checker_get_finding(checker, i)->identity == identity) {
            return true;
        }
    }
    return false;
}

/* Whether a schedule shows the finding; what it really decided is then in it->decisions. */
static bool try_schedule(explorer *it, const grout_decisions *decisions, uint64_t identity,
                         bool *shows_out) {
    one_run run;
    bool is_good = run_schedule(it, decisions, NULL, &run);
    *shows_out = is_good && shows(run.checker, identity);
    grout_checker_free(run.checker);
    return is_good;
}

/* Takes count decisions at start away if the finding stays. */
static bool try_without(explorer *it, grout_decisions *decisions, size_t start, size_t count,
                        uint64_t identity, bool *done_out) {
    grout_decisions shorter;
    if (!copy_decisions(it, decisions, &shorter)) {
        return false;
    }
    memmove(shorter.actors + start, shorter.actors + start + count,
            (shorter.count - start - count) * sizeof *shorter.actors);
    shorter.count -= count;
    bool is_good = try_schedule(it, &shorter, identity, done_out);
    if (is_good && *done_out) {
        memcpy(decisions->actors, shorter.actors, shorter.count * sizeof *shorter.actors);
        decisions->count = shorter.count;
    }
    grout__free(shorter.actors);
    return is_good;
}

static bool minimise(explorer *it, grout_decisions *decisions, uint64_t identity) {
    /* The end first: the fair schedule takes over after the last decision that matters. */
    for (size_t size = decisions->count; size > 0; size /= 2) {
        for (size_t end = decisions->count; end > 0 && goes_on(it);) {
            size_t count = size < end ? size : end;
            bool is_gone = false;
            if (!try_without(it, decisions, end - count, count, identity, &is_gone)) {
                return false;
            }
            end -= count;
        }
    }
    return true;
}

bool grout_minimise_schedule(const grout_launch *launch, const grout_explore_options *options,
                             uint64_t identity, grout_decisions *decisions, grout_diags *diags) {
    grout_exploration counts = {0};
    explorer it = {.launch = launch, .options = options, .out = &counts, .diags = diags};
    bool is_good =
        grout_saved_arrays__take(&it.arrays, launch, false) && minimise(&it, decisions, identity);
    deinit(&it);
    return is_good || grout_diags_add_oom(diags);
}
