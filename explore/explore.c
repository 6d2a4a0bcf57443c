/* explore.c - runs the schedules of a launch that may end otherwise.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/explore.h"

#include "ahead.h"
#include "array.h"
#include "asleep.h"
#include "invariant.h"
#include "lookup.h"
#include "orders.h"

#include "grout-internal/race.h"

#include <string.h>

enum {
    TIMES_MAX = 4096,       /* that an actor runs in a row because a step of it is wanted */
    STEPS_OF_A_START = 250, /* what it takes to begin a launch, in operations */
};

/* An actor to try at a decision, or an answer. */
typedef struct choice {
    uint32_t actor;
    uint32_t ahead;               /* its attempt is made ahead, under this number; 0: it is not */
    uint32_t times;               /* that it is to run in a row, to come to its step */
    bool could_not;               /* it was tried, and could not run */
    GROUT_ARRAY(uint32_t) others; /* to try if it cannot run there: one of them lets it */
    GROUT_ARRAY(uint64_t) goals;  /* pairs of actors of whose steps the second is to come first */
} choice;

/* A decision of the current schedule: the actor that was chosen, and those to try in its place; or
 * an answer, and the other one. */
typedef struct node {
    uint32_t chosen;
    uint32_t first;             /* that was chosen when the node was made */
    GROUT_ARRAY(choice) wanted; /* the first tried_count have been tried */
    size_t tried_count;
} node;

/* Pairs that are looked at between two questions whether to go on. */
enum { ASKED_EACH = 64 };

typedef struct explorer {
    const grout_launch *launch;
    const grout_explore_options *options;
    grout_exploration *out;
    grout_diags *diags;
    uint8_t *orders;           /* of the kernel: orders.h */
    grout_saved_arrays arrays; /* of inout parameters, as they were */
    GROUT_ARRAY(node) nodes;
    size_t shared_count; /* nodes that the last run has in common with the one before */
    GROUT_ARRAY(grout_sleeper) sleepers; /* of the last run */
    grout_lookup identities;             /* of all findings so far */
    grout_attempts attempts;
    grout_ahead *ahead;  /* NULL: nothing is run ahead */
    bool holds_witness;  /* the launch's arrays are as the last witness left them */
    bool was_cut;        /* a run was interrupted: there are no more */
    bool is_capped;      /* not all that is to be tried is kept: it has no steps left */
    bool is_over;        /* by the steps that are left: nothing is known of it */
    bool has_bulk;       /* the order in which reductions in flight land shows */
    bool has_mixed;      /* atomics of several elements may mix */
    bool has_weak_edges; /* of the kernel's text: orders.h */
    bool counts_turns;   /* it matters how often an actor has looked in vain */
    bool *is_asked;      /* by op: whether it counts turns is known */
    uint64_t place;      /* whose order is a matter of chance */
} explorer;

/* ---- one run -------------------------------------------------------------------------------- */

/* Runs a schedule now, as far as the steps that are left go. */
static grout_attempt *run_attempt(explorer *it, const grout_launch *launch,
                                  const grout_decisions *replay) {
    const uint64_t most = it->options->max_steps;
    grout_launch own = *launch;
    const uint64_t left = most > it->out->steps ? most - it->out->steps : 1;
    const bool is_bounded = most != 0 && (launch->max_steps == 0 || left < launch->max_steps);
    own.max_steps = is_bounded ? left : launch->max_steps;
    grout_attempt *attempt = grout_attempt__run(&it->attempts, &own, replay, it->diags);
    if (attempt != NULL) {
        it->is_over = is_bounded && attempt->status == GROUT_RUN_STEP_LIMIT;
        it->was_cut = it->is_over || attempt->status == GROUT_RUN_INTERRUPTED;
        it->out->steps += attempt->stats.steps + STEPS_OF_A_START;
    }
    return attempt;
}

/* The attempt with these decisions, made now or ahead (its number there, or 0). NULL: reasons in
 * diags, or (was_cut) it was interrupted while somebody else made it. */
static grout_attempt *get_attempt(explorer *it, const grout_decisions *replay, uint32_t ahead) {
    grout_attempt *attempt = NULL;
    it->holds_witness = false;
    if (ahead != 0) {
        attempt = grout_ahead__take(it->ahead, ahead, &it->was_cut);
    }
    if (attempt == NULL && !it->was_cut) {
        attempt = run_attempt(it, it->launch, replay);
        it->holds_witness = true; /* if it becomes one */
    }
    it->out->schedules += attempt == NULL || it->was_cut ? 0 : 1;
    return attempt;
}

static bool has_actor(const uint32_t *items, size_t count, uint32_t item) {
    for (size_t i = 0; i < count; i++) {
        if (items[i] == item) {
            return true;
        }
    }
    return false;
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
        uint32_t *known =
            grout_lookup__at(&it->identities, grout_checker_get_finding(checker, i)->identity);
        if (known == NULL) {
            return false;
        }
        *is_new_out |= *known == 0;
        *known = 1;
    }
    return true;
}

/* Keeps the run if it is the first or shows something new. */
static bool keep_witness(explorer *it, grout_attempt *attempt, uint64_t seed) {
    grout_exploration *out = it->out;
    bool is_new = false;
    if (!add_identities(it, attempt->checker, &is_new)) {
        return false;
    }
    if (!is_new && out->witness_count > 0) {
        it->holds_witness = false;
        return true;
    }
    grout_witness *witnesses = grout__resize(it->launch->allocator, out->witnesses,
                                             (out->witness_count + 1) * sizeof *witnesses);
    if (witnesses == NULL) {
        return false;
    }
    out->witnesses = witnesses;
    grout_witness *witness = &witnesses[out->witness_count];
    *witness = (grout_witness){.status = attempt->status, .stats = attempt->stats, .seed = seed};
    if (!grout_decisions__copy(it->launch->allocator, &attempt->decisions, &witness->decisions)) {
        return false;
    }
    witness->checker = attempt->checker;
    attempt->checker = NULL;
    out->witness_count++;
    return true;
}

/* Whether there is time for that: a run that was cut would be cut again, if nobody says otherwise.
 */
static bool may_bring_back(const explorer *it) {
    const grout_explore_options *options = it->options;
    return options->brings_back != NULL ? options->brings_back(options->payload) : !it->was_cut;
}

/* Runs the last witness again, if the arrays hold what another run left, or a part of one. */
static bool bring_back_witness(explorer *it) {
    const grout_exploration *out = it->out;
    if (it->holds_witness || out->witness_count == 0 || it->options->max_steps != 0 ||
        !may_bring_back(it)) {
        return true;
    }
    const grout_attempts attempts = {
        .launch = it->launch, .options = it->options, .arrays = &it->arrays};
    grout_launch launch = *it->launch;
    launch.observer_count = 0; /* they have seen it */
    grout_attempt *attempt = grout_attempt__run(
        &attempts, &launch, &out->witnesses[out->witness_count - 1].decisions, it->diags);
    grout_attempt__free(attempt);
    return attempt != NULL;
}

/* ---- what to try next ----------------------------------------------------------------------- */

/* The nodes of the decisions that the last run made; those it shares with the run before stay. */
static bool take_nodes(explorer *it, const grout_decisions *decisions) {
    it->shared_count = it->nodes.count;
    for (size_t i = it->nodes.count; i < decisions->count; i++) {
        if (!GROUT_ARRAY_RESERVE(&it->nodes, it->launch->allocator, 1)) {
            return false;
        }
        it->nodes.items[it->nodes.count++] =
            (node){.chosen = decisions->actors[i], .first = decisions->actors[i]};
    }
    return true;
}

static void drop_nodes(explorer *it, size_t count) {
    while (it->nodes.count > count) {
        node *last = &it->nodes.items[--it->nodes.count];
        it->out->left -= last->wanted.count - last->tried_count;
        for (size_t i = 0; i < last->wanted.count; i++) {
            grout__free(last->wanted.items[i].others.items);
            grout__free(last->wanted.items[i].goals.items);
        }
        grout__free(last->wanted.items);
    }
}

/* The choice of an actor at a node, made if need be. NULL: it is the one that runs there, or that
 * ran there first, or, with *failed_out, there is no memory. */
static choice *want(explorer *it, size_t index, uint32_t actor, bool *failed_out) {
    GROUT_ASSERT(index < it->nodes.count);
    node *at = &it->nodes.items[index];
    *failed_out = false;
    if (at->chosen == actor || at->first == actor) {
        return NULL;
    }
    for (size_t i = 0; i < at->wanted.count; i++) {
        if (at->wanted.items[i].actor == actor) {
            return &at->wanted.items[i];
        }
    }
    if (!GROUT_ARRAY_RESERVE(&at->wanted, it->launch->allocator, 1)) {
        *failed_out = true;
        return NULL;
    }
    it->out->states += at->wanted.count == 0 ? 1u : 0u;
    at->wanted.items[at->wanted.count] = (choice){.actor = actor, .times = 1};
    it->out->left++;
    return &at->wanted.items[at->wanted.count++];
}

static uint64_t make_goal(uint32_t first, uint32_t second) {
    return (uint64_t)first << 32 | second;
}

static bool add_goal(explorer *it, choice *wanted, uint64_t goal) {
    if (has(wanted->goals.items, wanted->goals.count, goal)) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&wanted->goals, it->launch->allocator, 1)) {
        return false;
    }
    wanted->goals.items[wanted->goals.count++] = goal;
    return true;
}

static bool add_other(explorer *it, choice *wanted, uint32_t actor) {
    if (has_actor(wanted->others.items, wanted->others.count, actor)) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&wanted->others, it->launch->allocator, 1)) {
        return false;
    }
    wanted->others.items[wanted->others.count++] = actor;
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
 * To try a reversal, the actor of the second step runs at the decision that chose the first step's
 * actor, as often as it takes to come to that step. If it cannot run there, an actor that did
 * something in between can, unless only the first step's actor could.
 */
static bool want_reversal(explorer *it, const grout_trace *trace, const grout_reversal *reversal) {
    const grout_step *first = &trace->steps.items[reversal->first];
    const grout_step *second = &trace->steps.items[reversal->second];
    const size_t index = find_node(it, first);
    if (index == it->nodes.count) {
        return true; /* nobody else could run then */
    }
    bool has_failed = false;
    choice *wanted = want(it, index, second->actor, &has_failed);
    uint32_t times = 0;
    /* Others make its attempt ahead: what it does is said once. */
    const bool is_new = wanted != NULL && wanted->goals.count == 0;
    if (wanted != NULL && !add_goal(it, wanted, make_goal(first->actor, second->actor))) {
        return false;
    }
    for (size_t i = index + 1; wanted != NULL && i < it->nodes.count && i < second->decision; i++) {
        const uint32_t chosen = it->nodes.items[i].chosen;
        times += chosen == second->actor;
        if (!grout_decision_is_answer(chosen) && chosen != second->actor &&
            !add_other(it, wanted, chosen)) {
            return false;
        }
    }
    if (is_new && times > 1) {
        wanted->times = times < TIMES_MAX ? times : TIMES_MAX;
    }
    return !has_failed;
}

/* The choice that the last run was made for; NULL: it is the first run. */
static const choice *get_tried(const explorer *it) {
    const node *at = it->shared_count == 0 ? NULL : &it->nodes.items[it->shared_count - 1];
    return at == NULL || at->tried_count == 0 ? NULL : &at->wanted.items[at->tried_count - 1];
}

static bool add_goals(explorer *it, choice *wanted, const choice *from) {
    bool is_good = true;
    for (size_t i = 0; is_good && i < from->goals.count; i++) {
        is_good = add_goal(it, wanted, from->goals.items[i]);
    }
    return is_good;
}

/* Where the last run got an answer that the one before did not get, the other one is to be tried.
 * What the run was to reverse is still to be reversed then. */
static bool want_answers(explorer *it) {
    const choice *tried = get_tried(it);
    bool is_good = true;
    for (size_t i = it->shared_count; is_good && i < it->nodes.count; i++) {
        const uint32_t chosen = it->nodes.items[i].chosen;
        const uint32_t other = chosen == GROUT_DECISION_NO ? GROUT_DECISION_YES : GROUT_DECISION_NO;
        bool has_failed = false;
        choice *wanted = grout_decision_is_answer(chosen) ? want(it, i, other, &has_failed) : NULL;
        is_good = !has_failed && (wanted == NULL || tried == NULL || add_goals(it, wanted, tried));
    }
    return is_good;
}

/* The actor that was to run at the last node that the run shares with the one before could not:
 * one of the others lets it. */
static bool want_others(explorer *it, const grout_decisions *decisions) {
    const size_t count = it->shared_count;
    if (count == 0 || decisions->count < count ||
        decisions->actors[count - 1] == it->nodes.items[count - 1].chosen) {
        return true;
    }
    node *at = &it->nodes.items[count - 1];
    const choice tried = at->wanted.items[at->tried_count - 1];
    bool has_failed = false;
    at->chosen = decisions->actors[count - 1];
    at->wanted.items[at->tried_count - 1].could_not = true;
    for (size_t i = 0; i < tried.others.count && !has_failed; i++) {
        choice *wanted = want(it, count - 1, tried.others.items[i], &has_failed);
        has_failed = has_failed || (wanted != NULL && !add_goals(it, wanted, &tried));
    }
    return !has_failed;
}

/* Schedules for which the steps that are left may be enough. */
static uint64_t count_affordable(const explorer *it) {
    const grout_exploration *out = it->out;
    const uint64_t most = it->options->max_steps, runs = out->schedules + out->random_schedules;
    return most == 0            ? UINT64_MAX
           : most <= out->steps ? 0
                                : (most - out->steps) / (out->steps / (runs + 1) + 1) + 1;
}

/* Whether the caller of the exploration lets it go on. */
static bool is_let(const explorer *it) {
    const grout_explore_options *options = it->options;
    return options->goes_on == NULL || options->goes_on(options->payload, it->out->schedules);
}

/* A ticket of thousands of CTAs has millions of pairs: where there are more than can be run, the
 * last ones are kept, which are tried first. */
static bool want_reversals(explorer *it, const grout_trace *trace) {
    const uint64_t most = count_affordable(it);
    const size_t count = trace->reversals.count;
    bool is_good = true;
    for (size_t i = 0; is_good && i < count; i++) {
        if (i % ASKED_EACH == ASKED_EACH - 1 && !is_let(it)) {
            it->is_capped = true; /* pairs are left that nobody will ask for */
            break;
        }
        const grout_reversal *reversal = &trace->reversals.items[count > most ? count - 1 - i : i];
        if (count > most && it->out->left >= most) {
            it->is_capped = true;
            break;
        }
        is_good = want_reversal(it, trace, reversal);
    }
    return is_good;
}

static bool add_sleeper(explorer *it, uint32_t actor, size_t decision) {
    if (grout_decision_is_answer(actor)) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&it->sleepers, it->launch->allocator, 1)) {
        return false;
    }
    it->sleepers.items[it->sleepers.count++] = (grout_sleeper){actor, decision};
    return true;
}

/* The actors that were chosen before at each node, and so with all that follows. */
static bool find_sleepers(explorer *it) {
    bool is_good = true;
    it->sleepers.count = 0;
    for (size_t i = 0; is_good && i < it->shared_count && i < it->nodes.count; i++) {
        const node *at = &it->nodes.items[i];
        is_good = at->tried_count == 0 || add_sleeper(it, at->first, i);
        for (size_t k = 0; is_good && k + 1 < at->tried_count; k++) {
            const choice *tried = &at->wanted.items[k];
            is_good = tried->could_not || add_sleeper(it, tried->actor, i);
        }
    }
    return is_good;
}

static bool make_room(const explorer *it, grout_decisions *decisions, size_t count) {
    uint32_t *actors =
        grout__resize(it->launch->allocator, decisions->actors, count * sizeof *actors);
    decisions->actors = actors == NULL ? decisions->actors : actors;
    return actors != NULL;
}

/* The first count decisions, as they are chosen now, and the choice after them. False without
 * memory. */
static bool fill_decisions(const explorer *it, size_t count, const choice *last,
                           grout_decisions *out) {
    out->count = 0;
    if (!make_room(it, out, count + last->times)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        out->actors[out->count++] = it->nodes.items[i].chosen;
    }
    for (uint32_t i = 0; i < last->times; i++) {
        out->actors[out->count++] = last->actor;
    }
    return true;
}

/* Has the next ones run ahead, in the order in which they will be tried. */
static void run_ahead(explorer *it, grout_decisions *scratch) {
    for (size_t index = it->nodes.count; it->ahead != NULL && index > 0; index--) {
        const node *at = &it->nodes.items[index - 1];
        for (size_t i = at->tried_count; i < at->wanted.count; i++) {
            choice *wanted = &at->wanted.items[i];
            if (wanted->ahead != 0) {
                continue;
            }
            if (!fill_decisions(it, index - 1, wanted, scratch)) {
                return; /* the attempt will be made in its turn */
            }
            wanted->ahead = grout_ahead__add(it->ahead, scratch);
            if (wanted->ahead == 0) {
                return;
            }
        }
    }
}

/* The decisions up to the deepest node with somebody to try, ending with that one. Returns whether
 * there was one. */
static bool choose_next(explorer *it, grout_decisions *next, uint32_t *ahead_out,
                        bool *failed_out) {
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
    const choice *tried = &at->wanted.items[at->tried_count++];
    it->out->left--;
    at->chosen = tried->actor;
    *ahead_out = tried->ahead;
    *failed_out = !fill_decisions(it, index - 1, tried, next);
    return true;
}

/* ---- the exploration ------------------------------------------------------------------------ */

static bool goes_on(const explorer *it) {
    const grout_explore_options *options = it->options;
    return !it->was_cut && (options->max_steps == 0 || it->out->steps < options->max_steps) &&
           (options->max_schedules == 0 || it->out->schedules < options->max_schedules) &&
           is_let(it);
}

/* Turns that an actor only waits in are tried as one, also where their number matters. */
static bool note_turns(explorer *it, const grout_trace *trace) {
    const grout_launch *launch = it->launch;
    bool is_good = true;
    for (size_t i = 0; is_good && !it->counts_turns && i < trace->again.count; i++) {
        const grout_op_id op = trace->again.items[i];
        if (!it->is_asked[op]) {
            it->is_asked[op] = true;
            is_good = grout_race_counts_turns(launch->allocator, launch->module, launch->kernel, op,
                                              it->options->outcome != NULL, &it->counts_turns);
        }
    }
    return is_good;
}

/* What no run of ours shows, though a GPU may. */
static void note_limits(explorer *it, const grout_trace *trace) {
    it->has_bulk |= trace->has_bulk;
    it->has_mixed |= trace->has_mixed;
    it->out->is_interleaved |= trace->has_places || (trace->has_weak && it->has_weak_edges) ||
                               (it->place != 0 && trace->place != 0 && trace->place != it->place);
    it->place = trace->place != 0 ? trace->place : it->place;
}

/* What a run asks to be tried, if it does not represent all. */
static bool follow(explorer *it, grout_attempt *attempt) {
    grout_trace__settle(&attempt->trace);
    if (!take_nodes(it, &attempt->decisions) || !want_others(it, &attempt->decisions) ||
        !find_sleepers(it)) {
        return false;
    }
    note_limits(it, &attempt->trace);
    return note_turns(it, &attempt->trace) &&
           grout_trace__drop_asleep(&attempt->trace, it->sleepers.items, it->sleepers.count) &&
           want_answers(it) && want_reversals(it, &attempt->trace);
}

/* One schedule, from run to what it asks to be tried. */
static bool explore_one(explorer *it, const grout_decisions *replay, uint32_t ahead,
                        bool *is_certified_out) {
    grout_attempt *attempt = get_attempt(it, replay, ahead);
    if (attempt == NULL) {
        return it->was_cut;
    }
    *is_certified_out = attempt->summary.is_well_synchronised;
    it->out->failing += !it->was_cut && attempt->summary.error_count > 0;
    bool is_good = it->is_over || keep_witness(it, attempt, 0);
    const bool represents_all = *is_certified_out && it->options->outcome == NULL;
    if (is_good && !represents_all && !it->was_cut) {
        is_good = follow(it, attempt);
    }
    grout_attempt__free(attempt);
    return is_good;
}

/* The schedules after the first, until there are no more or the budget is over. */
static bool explore_rest(explorer *it) {
    grout_decisions next = {0}, scratch = {0};
    bool is_good = true;
    while (is_good && goes_on(it)) {
        bool represents_rest = false, has_failed = false;
        uint32_t ahead = 0;
        if (!choose_next(it, &next, &ahead, &has_failed)) {
            it->out->is_complete = !it->is_capped;
            break;
        }
        run_ahead(it, &scratch);
        is_good = !has_failed && explore_one(it, &next, ahead, &represents_rest);
    }
    grout__free(next.actors);
    grout__free(scratch.actors);
    return is_good;
}

/* Random schedules with random timing, for half of the steps at most. */
static bool explore_random(explorer *it) {
    const grout_explore_options *options = it->options;
    bool is_good = true;
    for (uint64_t seed = 1; is_good && seed <= options->random_schedules && goes_on(it) &&
                            (options->max_steps == 0 || it->out->steps < options->max_steps / 2);
         seed++) {
        grout_launch launch = *it->launch;
        launch.schedule = GROUT_SCHEDULE_RANDOM;
        launch.timing = GROUT_TIMING_RANDOM;
        launch.seed = seed;
        grout_attempt *attempt = run_attempt(it, &launch, NULL);
        is_good = attempt != NULL;
        if (is_good && !it->was_cut) {
            it->out->random_schedules++;
            it->out->random_failing += attempt->summary.error_count > 0;
            is_good = keep_witness(it, attempt, seed);
        }
        grout_attempt__free(attempt);
    }
    return is_good;
}

/* Why the runs cannot have shown all that may happen, or NULL. A literal. */
static const char *find_gap(const explorer *it) {
    if (it->has_bulk) {
        return "bulk reductions may land in another order";
    }
    if (it->counts_turns) {
        return "how often a loop looks for something decides what happens after it";
    }
    if (it->has_mixed) {
        return "the elements of an atomic may be done at different times";
    }
    if (it->launch->timing != GROUT_TIMING_LAZY &&
        grout_orders__has_tests(it->launch->module, it->launch->kernel)) {
        return it->launch->timing == GROUT_TIMING_EAGER
                   ? "in eager timing no test comes before its bytes"
                   : "in random timing bytes may be there before a test";
    }
    return grout_orders__find_gap(it->launch->module, it->launch->kernel);
}

static bool explore(explorer *it) {
    grout_exploration *out = it->out;
    out->states = 1;
    if (!explore_one(it, NULL, 0, &out->is_certified)) {
        return false;
    }
    if (out->is_certified && it->options->outcome == NULL) {
        out->is_complete = true;
        return true;
    }
    const bool is_alone = it->options->outcome != NULL || it->options->max_steps != 0;
    it->attempts.may_judge = is_alone; /* else others make attempts at the same time */
    it->ahead = is_alone ? NULL : grout_ahead__new(&it->attempts);
    bool is_good = explore_random(it) && explore_rest(it);
    grout_ahead__free(it->ahead);
    out->why_open = out->is_complete ? "" : "the budget of the exploration was over";
    const char *gap = find_gap(it);
    if (gap != NULL) {
        out->is_complete = false;
        out->why_open = gap;
    }
    return is_good && bring_back_witness(it);
}

static void deinit(explorer *it) {
    const uint64_t left = it->out->left;
    drop_nodes(it, 0);
    it->out->left = left; /* the result says what was not tried */
    grout__free(it->nodes.items);
    grout__free(it->sleepers.items);
    grout_lookup__deinit(&it->identities);
    grout__free(it->orders);
    grout__free(it->is_asked);
    grout_writes_judge_free(it->attempts.judge);
    grout_saved_arrays__deinit(&it->arrays);
}

bool grout_explore(const grout_launch *launch, const grout_explore_options *options,
                   grout_exploration *out, grout_diags *diags) {
    explorer it = {.launch = launch, .options = options, .out = out, .diags = diags};
    *out = (grout_exploration){.why_open = ""};
    it.identities.allocator = launch->allocator;
    it.orders = grout_orders__find(launch->allocator, launch->module, launch->kernel,
                                   options->outcome != NULL);
    it.is_asked =
        grout__new(launch->allocator, grout_module_get_op_count(launch->module), sizeof(bool));
    it.has_weak_edges = grout_orders__have_weak_edges(launch->module, launch->kernel);
    it.attempts =
        (grout_attempts){.launch = launch,
                         .options = options,
                         .arrays = &it.arrays,
                         .orders = it.orders,
                         .judge = grout_writes_judge_new(launch, options->are_given, diags),
                         .may_judge = true};
    bool is_good = it.orders != NULL && it.is_asked != NULL && it.attempts.judge != NULL &&
                   grout_saved_arrays__take(&it.arrays, launch, false) && explore(&it);
    deinit(&it);
    return is_good || grout_diags_add_oom(diags);
}

bool grout_exploration_holds_for_interleavings(const grout_exploration *exploration) {
    GROUT_ASSERT(exploration->failing <= exploration->schedules);
    return exploration->is_complete &&
           (exploration->failing == 0 ? exploration->random_failing == 0
                                      : exploration->failing == exploration->schedules);
}

bool grout_exploration_holds(const grout_exploration *exploration) {
    return !exploration->is_interleaved && grout_exploration_holds_for_interleavings(exploration);
}

void grout_exploration_deinit(grout_exploration *exploration) {
    for (uint32_t i = 0; i < exploration->witness_count; i++) {
        grout_decisions_deinit(&exploration->witnesses[i].decisions);
        grout_checker_free(exploration->witnesses[i].checker);
    }
    grout__free(exploration->witnesses);
    *exploration = (grout_exploration){0};
}
