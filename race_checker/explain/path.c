/* path.c - a finding as steps on lanes: what each actor and engine does, the edges between them
 * that are known, and the one that is missing. SPDX-License-Identifier: Apache-2.0
 *
 * An access of an engine is two steps: its issue by a thread, and the access itself. What came
 * closest to an order is a step too. Steps of one lane are in program order without an edge.
 */
#include "path.h"

#include "explain.h"
#include "wording.h"

#include "alloc.h"
#include "invariant.h"

#include <string.h>

#define NO_STEP UINT32_MAX

/* A path with what owns its strings. */
typedef struct owned_path {
    grout_finding_path path; /* first: the caller has its address */
    grout_strings strings;
} owned_path;

typedef struct maker {
    grout_wording wording;
    grout_finding_path *path;
} maker;

/* ---- lanes, steps and edges ---- */

static uint32_t find_lane(maker *it, grout_text *name) {
    grout_finding_path *path = it->path;
    for (uint32_t i = 0; i < path->lane_count && name->data != NULL; i++) {
        if (strcmp(path->lanes[i], name->data) == 0) {
            grout_text_free(name);
            return i;
        }
    }
    GROUT_ASSERT(path->lane_count <
                 GROUT_PATH_STEPS_MAX); /* each step has at most one of its own */
    path->lanes[path->lane_count] = grout_wording__keep(&it->wording, name);
    return path->lane_count++;
}

/* The actor, without the rounds of its loops. */
static grout_text describe_actor(const maker *it, const grout_origin *origin) {
    grout_text text = {.allocator = it->wording.checker->allocator};
    grout_origin actor = *origin;
    actor.loop_depth = 0;
    grout_describe_origin(it->wording.module, it->wording.checker->info.kernel, &actor, &text);
    return text;
}

/* "%j=2": what an origin says more than its actor. */
static const char *describe_round(maker *it, const grout_origin *origin) {
    grout_text actor = describe_actor(it, origin);
    grout_text all = {.allocator = actor.allocator}, round = {.allocator = actor.allocator};
    grout_describe_origin(it->wording.module, it->wording.checker->info.kernel, origin, &all);
    const size_t comma = actor.size + strlen(", ");
    if (all.size > comma) {
        grout_text_add(&round, "%s", all.data + comma);
    }
    round.failed = round.failed || all.failed || actor.failed;
    grout_text_free(&actor);
    grout_text_free(&all);
    return grout_wording__keep(&it->wording, &round);
}

/* Appends a step; NO_STEP if there is no room. Takes the texts. */
static uint32_t add_step(maker *it, grout_step_role role, grout_text *lane, grout_text *text) {
    grout_finding_path *path = it->path;
    if (path->step_count == GROUT_PATH_STEPS_MAX) {
        grout_text_free(lane);
        grout_text_free(text);
        return NO_STEP;
    }
    grout_path_step *step = &path->steps[path->step_count];
    *step = (grout_path_step){.role = (uint8_t)role, .lane = find_lane(it, lane), .round = ""};
    step->text = grout_wording__keep(&it->wording, text);
    return path->step_count++;
}

/* What an actor does with an operation. */
static uint32_t add_op_step(maker *it, grout_step_role role, const grout_origin *origin) {
    grout_text lane = describe_actor(it, origin), text = {.allocator = lane.allocator};
    grout_op_print(it->wording.module, origin->op, &text);
    uint32_t step = add_step(it, role, &lane, &text);
    if (step != NO_STEP) {
        it->path->steps[step].place = grout_wording__get_place(&it->wording, origin);
        it->path->steps[step].round = describe_round(it, origin);
    }
    return step;
}

/* The word has to live as long as the path. */
static void add_edge(maker *it, uint32_t from, uint32_t to, bool is_missing, const char *word) {
    grout_finding_path *path = it->path;
    if (from != NO_STEP && to != NO_STEP && path->edge_count < GROUT_PATH_EDGES_MAX) {
        path->edges[path->edge_count++] =
            (grout_path_edge){.from = from, .to = to, .is_missing = is_missing, .word = word};
    }
}

static void add_known_edge(maker *it, uint32_t from, uint32_t to, grout_phrase_id word) {
    add_edge(it, from, to, false, grout_phrase__get(word));
}

/* ---- accesses ---- */

/* The steps of one side: the first, and the one that makes the access. */
typedef struct side_steps {
    uint32_t first, last;
} side_steps;

static const char *get_engine(const grout_wording *wording, const grout_side *side) {
    const char *who = grout_wording__get_who(wording, side);
    return strncmp(who, "the ", 4) == 0 ? who + 4 : who;
}

/* "reads %as[0, 0:128, 0:64]" on the lane of the engine. */
static uint32_t add_engine_step(maker *it, const grout_side *side) {
    const grout_allocator *allocator = it->wording.checker->allocator;
    grout_text lane = {.allocator = allocator}, text = {.allocator = allocator};
    grout_text_add(&lane, "%s", get_engine(&it->wording, side));
    if (it->wording.checker->info.cta_count > 1) {
        grout_sentence__add(
            &lane, GROUT_SENTENCE_BOX_OF_CTA,
            &(grout_words){.cta = grout_wording__name_cta(&it->wording, side->origin.cta)});
    }
    grout_text_add(&text, "%s ",
                   grout_phrase__get(side->is_write ? GROUT_PHRASE_WRITES : GROUT_PHRASE_READS));
    grout_wording__add_box(&it->wording, &side->box, &text);
    uint32_t step = add_step(it, GROUT_STEP_ACCESS, &lane, &text);
    if (step != NO_STEP) {
        it->path->steps[step].place = grout_wording__get_place(&it->wording, &side->origin);
    }
    return step;
}

static side_steps add_side(maker *it, const grout_side *side) {
    bool is_engine = side->box.object != 0 && side->stamp.agent != GROUT_AGENT_ACTOR;
    side_steps steps;
    steps.first = add_op_step(it, is_engine ? GROUT_STEP_ISSUE : GROUT_STEP_ACCESS, &side->origin);
    steps.last = is_engine ? add_engine_step(it, side) : steps.first;
    if (is_engine) {
        add_known_edge(it, steps.first, steps.last, GROUT_PHRASE_STEP_STARTS);
    }
    return steps;
}

/* ---- what came closest ---- */

/* Whether it runs before the earlier access. */
static bool is_before_both(const grout_near *near) {
    return near->kind == GROUT_NEAR_COMMIT_BEFORE || near->kind == GROUT_NEAR_GROUP_BEFORE ||
           near->kind == GROUT_NEAR_WGMMA_BEFORE || near->kind == GROUT_NEAR_COPY_BEFORE ||
           near->kind == GROUT_NEAR_MMA_COMMIT_BEFORE;
}

/* Whether it is about a phase that the earlier access completes. */
static bool has_phase(const grout_near *near) {
    return near->kind == GROUT_NEAR_NEVER_WAITED || near->kind == GROUT_NEAR_WAIT_FRESH ||
           near->kind == GROUT_NEAR_WAIT_EARLIER || near->kind == GROUT_NEAR_WAIT_ELSEWHERE ||
           near->kind == GROUT_NEAR_STILL_READING;
}

static uint32_t add_phase_step(maker *it, const grout_near *near) {
    const grout_allocator *allocator = it->wording.checker->allocator;
    grout_text lane = {.allocator = allocator}, text = {.allocator = allocator};
    grout_wording__add_element(&it->wording, near->element, &lane);
    grout_sentence__add(&text, GROUT_SENTENCE_STEP_PHASE, &(grout_words){.phase = near->phase});
    return add_step(it, GROUT_STEP_PHASE, &lane, &text);
}

/* The operation that would be the missing edge, of the codes that name one. */
static const struct {
    grout_diag_code code;
    grout_phrase_id word;
} missing_words[] = {
    {GROUT_DIAG_MISSING_COMMIT_SMEM, GROUT_PHRASE_NO_COMMIT_SMEM},
    {GROUT_DIAG_MISSING_COMMIT_SMEM_WAR, GROUT_PHRASE_NO_COMMIT_SMEM},
    {GROUT_DIAG_MISSING_COMMIT_GMEM, GROUT_PHRASE_NO_COMMIT_GMEM},
    {GROUT_DIAG_SMEM_SOURCE_REUSE, GROUT_PHRASE_NO_WAIT_SMEM_TO_GMEM},
    {GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE, GROUT_PHRASE_NO_WAIT_SMEM_TO_GMEM},
    {GROUT_DIAG_TENSORMAP_IN_FLIGHT, GROUT_PHRASE_NOTHING_WAITS},
    {GROUT_DIAG_TMEM_LOAD_NOT_AWAITED, GROUT_PHRASE_NOTHING_WAITS},
    {GROUT_DIAG_TMEM_STORE_NOT_COMMITTED, GROUT_PHRASE_NOTHING_WAITS},
    {GROUT_DIAG_MMA_OPERAND_REUSE, GROUT_PHRASE_NO_WGMMA_WAIT},
    {GROUT_DIAG_ACCUMULATOR_IN_FLIGHT, GROUT_PHRASE_NO_WGMMA_WAIT},
    {GROUT_DIAG_ASYNC_NOT_AWAITED, GROUT_PHRASE_NOTHING_WAITS},
    {GROUT_DIAG_ASYNC_AT_EXIT, GROUT_PHRASE_NOTHING_WAITS},
};

static grout_phrase_id get_missing_word(const maker *it) {
    const grout_side *sides = it->wording.facts->sides;
    if (grout_wording__is_tcgen05(&it->wording, &sides[1])) {
        return GROUT_PHRASE_NOTHING_WAITS;
    }
    for (size_t i = 0; i < sizeof missing_words / sizeof missing_words[0]; i++) {
        if (missing_words[i].code == it->wording.record->code) {
            return missing_words[i].word;
        }
    }
    bool is_near = sides[0].box.object != 0 && sides[0].stamp.cluster == sides[1].stamp.cluster;
    return is_near ? GROUT_PHRASE_NO_ARRIVE_AND_WAIT : GROUT_PHRASE_NOTHING_ORDERS;
}

static bool is_commit(grout_diag_code code) {
    return code == GROUT_DIAG_MISSING_COMMIT_SMEM || code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR ||
           code == GROUT_DIAG_MISSING_COMMIT_GMEM;
}

/* The earlier access as far as it is known to be over, then the missing edge to the later one. */
static void add_missing(maker *it, side_steps earlier, side_steps later, uint32_t phase) {
    const grout_near *near = &it->wording.facts->near;
    if (phase != NO_STEP) {
        add_known_edge(it, earlier.last, phase, GROUT_PHRASE_STEP_COMPLETES);
        add_edge(it, phase, later.first, true,
                 grout_wording__say(&it->wording, GROUT_SENTENCE_STEP_NO_WAIT,
                                    &(grout_words){.phase = near->phase}));
    } else {
        add_edge(it, earlier.last, later.last, true, grout_phrase__get(get_missing_word(it)));
    }
}

/* The orders that hold: without them the picture would look worse than the kernel is. */
static void add_known(maker *it, side_steps earlier, side_steps later, uint32_t handover) {
    const grout_finding_path *path = it->path;
    bool is_published = !is_commit(it->wording.record->code);
    bool is_ordered = !is_published || it->wording.facts->knows_issue;
    if (handover != NO_STEP) {
        add_known_edge(it, handover, later.first, GROUT_PHRASE_STEP_LETS_GO_ON);
    } else if (is_ordered && later.first != NO_STEP && earlier.first != NO_STEP &&
               path->steps[earlier.first].lane != path->steps[later.first].lane) {
        add_known_edge(it, is_published ? earlier.first : earlier.last, later.first,
                       GROUT_PHRASE_STEP_COMES_BEFORE);
    }
}

/* Whether a step of its own shows the nearest synchronisation: a wgmma is also a wait, for the
 * groups before its own. */
static bool has_own_step(const grout_near *near, const grout_side *earlier) {
    return near->origin.op != 0 &&
           (near->origin.op != earlier->origin.op ||
            memcmp(near->origin.loops, earlier->origin.loops, sizeof near->origin.loops) != 0 ||
            !grout_origin__is_same_actor(&near->origin, &earlier->origin));
}

static void add_accesses(maker *it, const grout_side *earlier, const grout_side *later) {
    const grout_near *near = &it->wording.facts->near;
    bool has_near = has_own_step(near, earlier);
    uint32_t phase = NO_STEP, handover = NO_STEP;
    if (has_near && is_before_both(near)) {
        (void)add_op_step(it, GROUT_STEP_SYNC, &near->origin);
    }
    side_steps first = add_side(it, earlier);
    if (has_phase(near)) {
        phase = add_phase_step(it, near);
    }
    if (has_near && !is_before_both(near) && near->kind != GROUT_NEAR_WGMMA_LATE) {
        (void)add_op_step(it, GROUT_STEP_SYNC, &near->origin);
    }
    if (near->handover.op != 0) {
        handover = add_op_step(it, GROUT_STEP_SYNC, &near->handover);
    }
    side_steps second;
    if (later != NULL) {
        second = add_side(it, later);
    } else {
        grout_text lane = describe_actor(it, &earlier->origin),
                   text = {.allocator = lane.allocator};
        grout_sentence__add(&text, GROUT_SENTENCE_STEP_ENDS,
                            &(grout_words){.scope = grout_wording__get_scope(&it->wording)});
        second.first = second.last = add_step(it, GROUT_STEP_END, &lane, &text);
    }
    if (has_near && near->kind == GROUT_NEAR_WGMMA_LATE) {
        (void)add_op_step(it, GROUT_STEP_SYNC, &near->origin);
    }
    add_known(it, first, second, handover);
    add_missing(it, first, second, phase);
}

/* False: the finding is about no order of two operations. */
static bool add_finding(maker *it) {
    const grout_facts *facts = it->wording.facts;
    const grout_side *sides = facts->sides;
    bool has_both = facts->side_count > 1 && sides[0].origin.op != 0 && sides[1].origin.op != 0;
    if (it->wording.record->code == GROUT_DIAG_ASYNC_AT_EXIT && sides[0].origin.op != 0) {
        add_accesses(it, &sides[0], NULL);
        return true;
    }
    has_both = has_both && !grout_near__is_of_grids(&facts->near); /* lanes of two launches */
    bool is_order = has_both && ((sides[0].box.object != 0 && sides[1].box.object != 0) ||
                                 it->wording.record->code == GROUT_DIAG_BARRIER_OVERRUN);
    if (is_order) {
        bool is_reversed = facts->primary_is_earlier;
        add_accesses(it, &sides[is_reversed ? 0 : 1], &sides[is_reversed ? 1 : 0]);
    }
    return is_order;
}

/* ---- deadlocks ---- */

/* The step of the thread that stands where this one does; NO_STEP: it is not shown. */
static uint32_t find_blocked(const grout_findings *findings, const grout_origin *origin) {
    for (uint32_t i = 0; i < findings->blocked_count; i++) {
        if (findings->blocked[i].origin.op == origin->op) {
            return i;
        }
    }
    return NO_STEP;
}

/* An operation that would let it go on, and that no thread comes to. */
static uint32_t add_absent(maker *it, const grout_blocked *blocked) {
    const grout_allocator *allocator = it->wording.checker->allocator;
    grout_text lane = {.allocator = allocator}, text = {.allocator = allocator};
    grout_text_add(&lane, "%s", grout_phrase__get(GROUT_PHRASE_NO_THREAD));
    if (blocked->bringer == 0) {
        grout_text_add(&text, "%s", grout_phrase__get(GROUT_PHRASE_NO_OPERATION));
        return add_step(it, GROUT_STEP_ABSENT, &lane, &text);
    }
    const grout_origin origin = {.op = blocked->bringer};
    grout_op_print(it->wording.module, blocked->bringer, &text);
    uint32_t step = add_step(it, GROUT_STEP_ABSENT, &lane, &text);
    if (step != NO_STEP) {
        it->path->steps[step].place = grout_wording__get_place(&it->wording, &origin);
    }
    return step;
}

/* "waits for %full[0]" */
static const char *describe_wait(const maker *it, const grout_blocked *blocked) {
    const grout_wording *wording = &it->wording;
    const grout_words words = {
        .object = blocked->is_on_barrier ? grout_wording__name_element(wording, blocked->element)
                                         : grout_wording__name_object(wording, blocked->object)};
    return !blocked->is_on_barrier && blocked->object == 0
               ? grout_phrase__get(GROUT_PHRASE_STEP_WAITS)
               : grout_wording__say(wording, GROUT_SENTENCE_STEP_WAITS_FOR, &words);
}

static bool add_deadlock(maker *it) {
    const grout_findings *findings = &it->wording.checker->memory.findings;
    const uint32_t count = findings->blocked_count;
    for (uint32_t i = 0; i < count; i++) {
        (void)add_op_step(it, GROUT_STEP_BLOCKED, &findings->blocked[i].origin);
    }
    for (uint32_t i = 0; i < count; i++) {
        const grout_blocked *blocked = &findings->blocked[i];
        uint32_t other = blocked->other.op == 0 ? NO_STEP : find_blocked(findings, &blocked->other);
        bool is_absent = other == NO_STEP || other == i;
        add_edge(it, i, is_absent ? add_absent(it, blocked) : other, is_absent,
                 describe_wait(it, blocked));
    }
    return count > 0;
}

/* ---- a path ---- */

grout_finding_path *grout_path__new(const grout_checker *checker, const grout_record *record) {
    owned_path *owned = grout__new(checker->allocator, 1, sizeof *owned);
    if (!owned) {
        return NULL;
    }
    maker it = {.path = &owned->path,
                .wording = {.checker = checker,
                            .module = checker->info.module,
                            .record = record,
                            .facts = &record->facts,
                            .strings = &owned->strings}};
    bool is_stuck =
        record->code == GROUT_DIAG_DEADLOCK || (record->code == GROUT_DIAG_COLLECTIVE_DIVERGENCE &&
                                                record->facts.subject != GROUT_SUBJECT_COPY);
    bool is_order = is_stuck ? add_deadlock(&it) : add_finding(&it);
    if (!is_order || owned->strings.has_failed) {
        grout_path__free(&owned->path);
        return NULL;
    }
    return &owned->path;
}

void grout_path__free(grout_finding_path *path) {
    owned_path *owned = (owned_path *)path;
    if (owned) {
        grout_strings__free(&owned->strings);
        grout__free(owned);
    }
}
