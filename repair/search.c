/* search.c - tries changes; the checker is the judge.
 * SPDX-License-Identifier: Apache-2.0 */
#include "search.h"

#include "alloc.h"
#include "outline.h"
#include "proposals.h"

#include <stdlib.h>
#include <string.h>

/* Findings that are repaired one after the other, in one kernel. */
#define ROUNDS_MAX 32u
/* With more findings than these, exact edits are tried together. */
#define TOGETHER_MIN 32u
/* Rounds that have to guess. Each multiplies the ways to be wrong. */
#define GUESSES_MAX 4u
/* A run that goes on for this many times the steps of the first one has lost its way. One that came
 * to no end has shown a part of its steps only. */
#define STEPS_FACTOR     4u
#define STEPS_MORE       100000u
#define STEPS_MORE_STUCK 8000000u
/* How much less likely a repair may be that is looked for because the best one so far is clean for
 * its own schedule only. */
#define COST_MORE 10u
/* Tries for a repair that keeps more in flight than one that may be shallow. */
#define DEEPER_MAX 96u
/* Clean texts that are tried in other runs (other_runs.h). */
#define ELSEWHERE_MAX 64u

static bool has_time(grout_search *it) {
    const grout_host *host = it->task.session->host;
    it->was_cut |=
        host->get_seconds(host->payload) >= it->end || host->is_interrupted(host->payload);
    return !it->was_cut;
}

/* Whether the change is a repair: the finding is gone, the kernel is valid and does not hang anew.
 */
static bool is_repair(const grout_candidate *before, const grout_trial_finding *finding,
                      const grout_change *change, const grout_candidate *after) {
    return after->trial.is_valid && !grout_trial__has(&after->trial, finding, change) &&
           !(after->trial.is_stuck && !before->trial.is_stuck) &&
           !(after->trial.is_incomplete && !before->trial.is_incomplete);
}

/* Runs a text. The first that is clean says which sizes all have to be clean at. */
static bool judge(grout_search *it, const grout_text *text, grout_trial *out) {
    if (!grout_trial__run(&it->task, text, out)) {
        return false;
    }
    if (!grout_trial__is_clean(out) || it->has_looked_wider || it->task.kernel == NULL) {
        return true;
    }
    it->has_looked_wider = true;
    if (!grout_wider__find(&it->task, text, it->end, &it->wider)) {
        return false;
    }
    if (it->wider.words.size == 0) {
        return true;
    }
    it->task.wider = &it->wider.task;
    grout_trial__deinit(out);
    return grout_trial__run(&it->task, text, out);
}

/* The first clean text says which runs there are. False without memory. */
static bool find_other_runs(grout_search *it, const grout_candidate *clean) {
    if (it->has_other_runs || it->task.kernel == NULL) {
        return true;
    }
    it->has_other_runs = true;
    return grout_other_runs__find(&it->task, &clean->text, clean->trial.steps, &it->others);
}

/* Tries a clean text at other sizes, if it is not worse than the best one so far at its own. False
 * without memory. */
static bool look_elsewhere(grout_search *it, const grout_candidate *best, grout_candidate *next) {
    const bool is_wanted =
        grout_candidate__is_clean(next) && has_time(it) &&
        (best->text.size == 0 || !grout_candidate__is_better(best, next, GROUT_CANDIDATE_HERE));
    if (!is_wanted) {
        return true;
    }
    if (!find_other_runs(it, next)) {
        return false;
    }
    const bool is_first = best->text.size == 0 || !grout_candidate__is_clean(best);
    const uint32_t most = is_first ? UINT32_MAX : grout_candidate__count_failed(best);
    next->others = &it->others;
    next->failed = UINT32_MAX;
    if (it->tried_elsewhere++ >= ELSEWHERE_MAX) {
        return true;
    }
    const bool is_good = grout_other_runs__try(&it->others, &next->text, most, &next->failed);
    if (!has_time(it)) {
        next->others = NULL; /* a run that was cut says nothing of its size */
    }
    return is_good;
}

/* Whether other sizes say that something better is to be looked for. */
static bool fails_elsewhere(const grout_search *it, const grout_candidate *best) {
    return grout_candidate__count_failed(best) > 0 && it->tried_elsewhere < ELSEWHERE_MAX;
}

/* Whether nothing better is to be expected. */
static bool is_best(const grout_search *it, const grout_candidate *best) {
    return grout_candidate__is_best(best) && !fails_elsewhere(it, best);
}

/* Applies and runs it. after is empty if that is no repair. False without memory. */
static bool try_change(grout_search *it, const grout_candidate *before,
                       const grout_trial_finding *finding, const grout_text_lines *lines,
                       const grout_change *change, grout_candidate *after) {
    *after = (grout_candidate){0};
    it->tried++;
    bool is_good = true;
    if (grout_change__apply(change, lines, &after->text)) {
        is_good = judge(it, &after->text, &after->trial);
        if (is_good && is_repair(before, finding, change, after)) {
            grout_candidate__keep_steps(before, after);
            grout_candidate__add_step(after, finding, change, lines);
            return !after->steps.failed;
        }
    }
    is_good = is_good && !after->text.failed;
    grout_candidate__deinit(after);
    return is_good;
}

/* ---- exact edits ---------------------------------------------------------------------------- */

/* The first edit of a finding that repairs it; none: after is empty. */
static bool try_edits(grout_search *it, const grout_candidate *before, grout_candidate *after) {
    grout_text_lines lines = {0};
    bool is_good = grout_text_lines__init(&lines, before->text.data, before->text.size);
    *after = (grout_candidate){0};
    for (size_t i = 0; i < before->trial.count && is_good && after->text.size == 0; i++) {
        const grout_trial_finding *finding = &before->trial.items[i];
        if (finding->has_edit && has_time(it)) {
            is_good = try_change(it, before, finding, &lines, &finding->edit, after);
        }
    }
    grout_text_lines__deinit(&lines);
    return is_good;
}

/* From the end of the text to its beginning: what is changed below leaves a place as it was. */
static int compare_lines(const void *left, const void *right) {
    const grout_trial_finding *const *a = left, *const *b = right;
    const size_t lines[2] = {(*a)->edit.line, (*b)->edit.line};
    return lines[0] < lines[1] ? 1 : lines[0] > lines[1] ? -1 : *a < *b ? -1 : *a > *b;
}

/* Findings with an edit, one for a line: what another one needs there is for a later round. */
static size_t choose_edits(const grout_trial *trial, const grout_trial_finding **out) {
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < trial->count; i++) {
        if (trial->items[i].has_edit) {
            out[count++] = &trial->items[i];
        }
    }
    qsort(out, count, sizeof(const grout_trial_finding *), compare_lines);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || out[kept - 1]->edit.line != out[i]->edit.line) {
            out[kept++] = out[i];
        }
    }
    return kept;
}

/* Writes the text of start with these edits, and the steps to it. False without memory. */
static bool apply_edits(const grout_candidate *start, const grout_trial_finding *const *edits,
                        size_t count, grout_candidate *end) {
    const grout_change **changes = grout__new(NULL, count, sizeof(const grout_change *));
    grout_text_lines lines = {0};
    size_t kept = 0;
    bool is_good =
        changes != NULL && grout_text_lines__init(&lines, start->text.data, start->text.size);
    for (size_t i = 0; i < count && is_good; i++) {
        if (grout_change__is_in(&edits[i]->edit, &lines)) {
            changes[kept++] = &edits[i]->edit;
            grout_candidate__add_step(end, edits[i], &edits[i]->edit, &lines);
        }
    }
    if (is_good) {
        grout_changes__apply(changes, kept, &lines, &end->text);
    }
    grout_text_lines__deinit(&lines);
    grout__free(changes);
    return is_good && !end->text.failed && !end->steps.failed;
}

/* The edits of many findings at once, where one by one would take a run for each. end is empty
 * unless as many findings are gone as there were edits. False without memory. */
static bool try_together(grout_search *it, const grout_candidate *start, grout_candidate *end) {
    const grout_trial_finding **edits =
        grout__new(NULL, start->trial.count, sizeof(const grout_trial_finding *));
    const size_t count = edits == NULL ? 0 : choose_edits(&start->trial, edits);
    bool is_good = edits != NULL;
    *end = (grout_candidate){0};
    grout_candidate__keep_steps(start, end);
    is_good = is_good && apply_edits(start, edits, count, end);
    grout__free(edits);
    it->tried++;
    is_good = is_good && !end->text.failed && judge(it, &end->text, &end->trial);
    const bool is_right = is_good && end->trial.is_valid && count > 0 &&
                          end->trial.count + count <= start->trial.count &&
                          !(end->trial.is_stuck && !start->trial.is_stuck) &&
                          !(end->trial.is_incomplete && !start->trial.is_incomplete);
    if (!is_right) {
        grout_candidate__deinit(end);
    }
    return is_good;
}

/* Each finding may have its edit, and an edit may show what it hid. */
static size_t get_rounds(const grout_candidate *start) {
    return start->trial.count + ROUNDS_MAX;
}

/* Edit after edit, as long as there is one; of many findings first all that go together. end is
 * empty if there was none. */
static bool follow_edits(grout_search *it, const grout_candidate *start, grout_candidate *end) {
    bool is_good = true;
    *end = (grout_candidate){0};
    if (start->trial.count > TOGETHER_MIN && has_time(it)) {
        is_good = try_together(it, start, end);
    }
    for (size_t i = 0; i < get_rounds(start) && is_good && !grout_candidate__is_clean(end); i++) {
        grout_candidate next;
        is_good = try_edits(it, end->text.size > 0 ? end : start, &next);
        if (next.text.size == 0) {
            break;
        }
        grout_candidate__deinit(end);
        *end = next;
    }
    return is_good;
}

/* ---- proposals ------------------------------------------------------------------------------ */

static bool try_all(grout_search *it, const grout_candidate *start, const grout_text_lines *lines,
                    const grout_proposals *proposals, grout_candidate *best) {
    uint32_t cost_max = UINT32_MAX;
    size_t deeper[2] = {0, 0}; /* replacements, and others */
    bool is_good = true;
    for (size_t i = 0; i < proposals->count && is_good && !is_best(it, best); i++) {
        const grout_proposal *proposal = &proposals->items[i];
        grout_candidate next;
        if (proposal->cost > cost_max || !has_time(it)) {
            break;
        }
        if (grout_candidate__is_perfect(best) && !fails_elsewhere(it, best) &&
            (!grout_candidate__may_be_bettered(best, lines, &proposal->change) ||
             ++deeper[proposal->change.kind != GROUT_CHANGE_REPLACE] > DEEPER_MAX)) {
            continue;
        }
        is_good = try_change(it, start, &start->trial.items[0], lines, &proposal->change, &next);
        if (grout_candidate__is_clean(&next) && cost_max == UINT32_MAX) {
            cost_max = proposal->cost + COST_MORE;
        }
        is_good = is_good && look_elsewhere(it, best, &next);
        grout_candidate__keep_better(best, &next);
    }
    return is_good;
}

/* From 0. */
static size_t get_line(const grout_trial_finding *finding) {
    const grout_place *place =
        finding->primary.file != NULL ? &finding->primary : &finding->related;
    return place->file == NULL || place->line == 0 ? 0 : place->line - 1;
}

/* Adds to best what is better. */
static bool try_proposals(grout_search *it, const grout_candidate *start, grout_candidate *best) {
    grout_text_lines lines = {0};
    grout_outline outline = {0};
    grout_proposals proposals = {0};
    bool is_good =
        grout_text_lines__init(&lines, start->text.data, start->text.size) &&
        grout_outline__init(&outline, &lines, it->task.kernel, it->task.session->deadline);
    if (is_good) {
        grout_outline__look_at(&outline, get_line(&start->trial.items[0]));
        is_good = grout_proposals__init(&proposals, &outline, &start->trial) &&
                  try_all(it, start, &lines, &proposals, best);
    }
    grout_proposals__deinit(&proposals);
    grout_outline__deinit(&outline);
    grout_text_lines__deinit(&lines);
    return is_good;
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* One step on from a candidate with findings, or several by exact edits. It stays as it is if
 * nothing helps. */
static bool go_on(grout_search *it, grout_candidate *at, uint32_t *guesses) {
    grout_candidate best;
    if (!follow_edits(it, at, &best)) {
        return false;
    }
    const grout_candidate none = {0};
    bool is_good = grout_candidate__is_best(&best) || look_elsewhere(it, &none, &best);
    if (is_good && !is_best(it, &best) && *guesses < GUESSES_MAX && has_time(it)) {
        ++*guesses;
        is_good = try_proposals(it, at, &best);
    }
    if (best.text.size > 0 && grout_candidate__is_better(&best, at, GROUT_CANDIDATE_PROGRESS)) {
        grout_candidate__deinit(at);
        *at = best;
    } else {
        grout_candidate__deinit(&best);
    }
    return is_good;
}

/* Runs the text of a candidate, and finds out what wrote what differs: the search begins there. */
static bool look_closely(grout_search *it, grout_candidate *at) {
    it->task.is_try = false;
    grout_trial__deinit(&at->trial);
    const bool is_good = grout_trial__run(&it->task, &at->text, &at->trial);
    it->task.is_try = true;
    return is_good;
}

static bool init_candidate(grout_search *it, grout_candidate *at) {
    *at = (grout_candidate){0};
    grout_text_add_bytes(&at->text, it->text.data, it->text.size);
    return !at->text.failed && look_closely(it, at);
}

/* Round after round until it is clean, or nothing helps. */
static bool run_rounds(grout_search *it, grout_candidate *at, uint32_t *guesses) {
    bool is_good = true;
    *guesses = 0;
    for (uint32_t i = 0; i < ROUNDS_MAX && is_good && at->trial.count > 0; i++) {
        uint32_t before = at->step_count;
        is_good = go_on(it, at, guesses);
        if (at->step_count == before) {
            break;
        }
        is_good = is_good && (!at->trial.is_different || look_closely(it, at));
    }
    return is_good;
}

/* What exact edits alone lead to, if it is better than what there was. */
static bool run_edits(grout_search *it, grout_candidate *at) {
    grout_candidate start = {0}, end = {0};
    bool is_good = init_candidate(it, &start) && follow_edits(it, &start, &end);
    grout_candidate__deinit(at);
    if (end.text.size > 0 && grout_candidate__is_better(&end, &start, GROUT_CANDIDATE_PROGRESS)) {
        *at = end;
    } else {
        grout_candidate__deinit(&end);
    }
    grout_candidate__deinit(&start);
    return is_good;
}

/* What a try may run; never more than --max-steps. 0: as that says. */
static uint64_t get_steps_max(const grout_search *it, const grout_trial *first) {
    const bool is_whole = !first->is_stuck && !first->is_incomplete;
    uint64_t most = first->steps * STEPS_FACTOR + (is_whole ? STEPS_MORE : STEPS_MORE_STUCK);
    uint64_t limit =
        grout_options__get_count(&it->task.session->options, GROUT_OPTION_MAX_STEPS, UINT64_MAX);
    return first->is_valid && most < limit ? most : 0;
}

/* A proposal is a guess: it may take one finding away by making another mistake. Only a clean end
 * proves it. Exact edits are repairs by themselves. */
bool grout_search__run(grout_search *it) {
    grout_candidate at = {0};
    uint32_t guesses = 0;
    it->task.kept = &it->kept;
    bool is_good = init_candidate(it, &at);
    it->task.steps_max = get_steps_max(it, &at.trial);
    is_good = is_good && run_rounds(it, &at, &guesses);
    if (is_good && guesses > 0 && at.step_count > 0 && !grout_candidate__is_clean(&at)) {
        is_good = run_edits(it, &at);
    }
    if (at.step_count > 0) {
        if (at.others != NULL) {
            grout_other_runs__describe(at.others, at.failed, &it->elsewhere);
        }
        grout_text_free(&it->text);
        it->text = at.text;
        at.text = (grout_text){0};
        grout_text_add_bytes(&it->steps, at.steps.data, at.steps.size);
        it->step_count += at.step_count;
    }
    grout_candidate__deinit(&at);
    return is_good;
}

void grout_search__deinit(grout_search *search) {
    grout_text_free(&search->text);
    grout_text_free(&search->steps);
    grout_wider__deinit(&search->wider);
    grout_other_runs__deinit(&search->others);
    grout_text_free(&search->elsewhere);
    grout_kept_references__deinit(&search->kept);
    *search = (grout_search){0};
}
