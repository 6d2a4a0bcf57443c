/* search.c - tries changes; the checker is the judge.
 * SPDX-License-Identifier: Apache-2.0 */
#include "search.h"

#include "alloc.h"
#include "hash.h"
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
#define COST_MORE 6u
/* Tries for a repair that keeps more in flight than one that may be shallow. */
#define DEEPER_MAX 96u
/* Lines before and after one that may be the same line in the wrong place. */
#define TWIN_LINES 8u

/* Numbers by which states are compared. */
enum { GRADES = 9, GRADES_OF_PROGRESS = 4 };

/* A text, what the checker says of it, and how it was reached. */
typedef struct state {
    grout_text text;
    grout_trial trial;
    grout_text steps;
    uint32_t step_count;
    /* A wait was put in or moved: that may make a repair of less that is in flight. */
    bool may_be_shallow;
    /* An arrival was put in against a deadlock: the number of arrivals may be what is wrong. */
    bool may_be_miscounted;
    uint32_t edit_size; /* of all steps: the less, the more of the kernel is as it was */
    uint64_t inserted;  /* a hash of the last line that was put in; 0: none was */
    bool is_twin;       /* which stands there as it is, a few lines from it */
    uint32_t leaves;    /* groups that waits which were put in leave in flight */
} state;

static void free_state(state *it) {
    grout_text_free(&it->text);
    grout_text_free(&it->steps);
    grout_trial__deinit(&it->trial);
    *it = (state){0};
}

static bool has_time(grout_search *it) {
    const grout_host *host = it->task.session->host;
    it->was_cut |=
        host->get_seconds(host->payload) >= it->end || host->is_interrupted(host->payload);
    return !it->was_cut;
}

/* ---- a change ------------------------------------------------------------------------------- */

/* The steps to one text are those to the next one, so far. */
static void keep_steps(const state *before, state *after) {
    grout_text_add_bytes(&after->steps, before->steps.data, before->steps.size);
    after->step_count = before->step_count;
    after->may_be_shallow = before->may_be_shallow;
    after->may_be_miscounted = before->may_be_miscounted;
    after->edit_size = before->edit_size;
    after->inserted = before->inserted;
    after->is_twin = before->is_twin;
    after->leaves = before->leaves;
}

/* What a text that begins with a mnemonic does; NULL: it is none that synchronises. */
static const grout_sync_info *find_sync(const char *text) {
    const grout_opcode opcode = grout_op_find(text, strcspn(text, " \n"));
    return opcode == GROUT_OP_NONE ? NULL : grout_op_get_sync(opcode);
}

/* A number that is less than the one in its place, as in a wait that leaves less in flight. */
static bool lowers_number(const grout_change *change, const grout_text_lines *lines) {
    const grout_line *line = &lines->items[change->line];
    const size_t at = change->column - line->indent;
    const bool is_number = change->kind == GROUT_CHANGE_REPLACE && change->column >= line->indent &&
                           at + change->count <= line->code.size && change->count > 0 &&
                           strspn(change->text, "0123456789") == strlen(change->text) &&
                           strspn(line->code.data + at, "0123456789") == change->count;
    const grout_sync_info *sync = is_number ? find_sync(line->code.data) : NULL;
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_WAITS &&
           strtoul(change->text, NULL, 10) < strtoul(line->code.data + at, NULL, 10);
}

/* Whether it puts in a wait, moves a line, or lets a wait leave less in flight. */
static bool adds_wait(const grout_change *change, const grout_text_lines *lines) {
    if (change->kind != GROUT_CHANGE_INSERT) {
        return change->kind == GROUT_CHANGE_MOVE || lowers_number(change, lines);
    }
    const grout_sync_info *sync = find_sync(change->text);
    return sync != NULL &&
           (sync->mode == GROUT_SYNC_MODE_WAITS || sync->mode == GROUT_SYNC_MODE_MEETS);
}

/* Whether it puts in an arrival, where the number of those that are waited for may be wrong. */
static bool adds_arrival(const grout_trial_finding *finding, const grout_change *change) {
    const grout_sync_info *sync =
        change->kind == GROUT_CHANGE_INSERT ? find_sync(change->text) : NULL;
    return finding->code == GROUT_DIAG_DEADLOCK && sync != NULL &&
           sync->mode == GROUT_SYNC_MODE_POSTS;
}

static uint64_t hash_code(grout_span code) {
    return grout_hash__bytes(1, code.data, code.size);
}

static grout_span get_text(const grout_change *change) {
    return (grout_span){change->text, strlen(change->text)};
}

/* Whether a line beside a gap reads as the text. */
static bool has_twin(const grout_text_lines *lines, size_t gap, grout_span text) {
    const size_t first = gap > TWIN_LINES ? gap - TWIN_LINES : 0;
    for (size_t i = first; i < lines->count && i < gap + TWIN_LINES; i++) {
        if (grout_span__is_equal(lines->items[i].code, text)) {
            return true;
        }
    }
    return false;
}

static void note_insertion(const grout_change *change, const grout_text_lines *lines,
                           state *after) {
    if (change->kind != GROUT_CHANGE_INSERT) {
        return;
    }
    const grout_span text = get_text(change);
    const char *number = strpbrk(change->text, "0123456789[");
    after->inserted = hash_code(text);
    after->is_twin = has_twin(lines, change->line, text);
    after->leaves = adds_wait(change, lines) && number != NULL && *number != '['
                        ? (uint32_t)strtoul(number, NULL, 10)
                        : 0;
}

/* "  missing-commit-smem at line 14: insert 'commit_smem' before line 15" */
static void add_step(const grout_trial_finding *finding, const grout_change *change,
                     const grout_text_lines *lines, state *after) {
    grout_text_add(&after->steps, "  %s at line %u: ", grout_diag_get(finding->code)->text,
                   (unsigned)finding->primary.line);
    grout_change__describe(change, lines, &after->steps);
    grout_text_add(&after->steps, "\n");
    after->may_be_shallow |= adds_wait(change, lines);
    after->may_be_miscounted |= adds_arrival(finding, change);
    after->edit_size += change->kind == GROUT_CHANGE_REPLACE ? 2u
                        : change->kind == GROUT_CHANGE_MOVE  ? 3u
                                                             : 4u;
    note_insertion(change, lines, after);
    after->step_count++;
}

/* Whether the change is a repair: the finding is gone, the kernel is valid and does not hang anew.
 */
static bool is_repair(const state *before, const grout_trial_finding *finding,
                      const grout_change *change, const state *after) {
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

/* Applies and runs it. after is empty if that is no repair. False without memory. */
static bool try_change(grout_search *it, const state *before, const grout_trial_finding *finding,
                       const grout_text_lines *lines, const grout_change *change, state *after) {
    *after = (state){0};
    it->tried++;
    bool is_good = true;
    if (grout_change__apply(change, lines, &after->text)) {
        is_good = judge(it, &after->text, &after->trial);
        if (is_good && is_repair(before, finding, change, after)) {
            keep_steps(before, after);
            add_step(finding, change, lines, after);
            return !after->steps.failed;
        }
    }
    is_good = is_good && !after->text.failed;
    free_state(after);
    return is_good;
}

/* ---- which is better ------------------------------------------------------------------------ */

static bool is_clean(const state *it) {
    return it->text.size > 0 && grout_trial__is_clean(&it->trial);
}

/* Clean for every schedule, and without a warning of what is written. */
static bool is_perfect(const state *it) {
    return is_clean(it) && it->trial.holds && it->trial.diag_count == 0;
}

/* Whether nothing better is to be expected. What has nothing in flight cannot be shallow. */
static bool is_best(const state *it) {
    return is_perfect(it) && !(it->may_be_shallow && it->trial.depth > 0) &&
           !it->may_be_miscounted && !it->is_twin;
}

/* Whether a change may be better than a perfect one. What is written a little differently keeps the
 * shape of the kernel. A line may be in the wrong place, instead of missing in another. And if a
 * wait was put in, it may be one that leaves more in flight, or stand elsewhere. */
static bool may_be_better(const state *best, const grout_text_lines *lines,
                          const grout_change *change) {
    if (change->kind != GROUT_CHANGE_INSERT) {
        return change->kind == GROUT_CHANGE_REPLACE ||
               (change->kind == GROUT_CHANGE_MOVE &&
                (best->may_be_shallow ||
                 (best->is_twin && hash_code(lines->items[change->from].code) == best->inserted)));
    }
    const grout_sync_info *sync = find_sync(change->text);
    const bool is_wait = sync != NULL && sync->mode == GROUT_SYNC_MODE_WAITS;
    const bool has_number =
        strpbrk(change->text, "0123456789") != NULL && strchr(change->text, '[') == NULL;
    return best->may_be_shallow && is_wait &&
           (has_number || hash_code(get_text(change)) == best->inserted);
}

/* Less is better, the first number before the second and so on. */
static void grade(const state *it, uint32_t out[GRADES]) {
    out[0] = it->trial.is_valid ? (it->trial.is_stuck ? 1 : 0) : 2;
    out[1] = it->trial.is_incomplete || it->trial.is_different ? 1 : 0;
    out[2] = it->trial.error_count;
    out[3] = (uint32_t)it->trial.count;
    out[4] = it->trial.holds ? 0 : 1;
    out[5] = it->trial.diag_count;
    out[6] = UINT32_MAX - it->trial.depth;
    out[7] = it->edit_size;
    out[8] = UINT32_MAX - it->leaves;
}

/* Counting those that decide whether there is progress, or all. */
static bool is_better(const state *a, const state *b, uint32_t count) {
    uint32_t left[GRADES], right[GRADES];
    grade(a, left);
    grade(b, right);
    for (uint32_t i = 0; i < count; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i];
        }
    }
    return false;
}

/* Keeps the better of the two in best, and frees the other. */
static void keep_better(state *best, state *other) {
    if (other->text.size > 0 && (best->text.size == 0 || is_better(other, best, GRADES))) {
        free_state(best);
        *best = *other;
        *other = (state){0};
    } else {
        free_state(other);
    }
}

/* ---- exact edits ---------------------------------------------------------------------------- */

/* The first edit of a finding that repairs it; none: after is empty. */
static bool try_edits(grout_search *it, const state *before, state *after) {
    grout_text_lines lines = {0};
    bool is_good = grout_text_lines__init(&lines, before->text.data, before->text.size);
    *after = (state){0};
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
static bool apply_edits(const state *start, const grout_trial_finding *const *edits, size_t count,
                        state *end) {
    const grout_change **changes = grout__new(NULL, count, sizeof(const grout_change *));
    grout_text_lines lines = {0};
    size_t kept = 0;
    bool is_good =
        changes != NULL && grout_text_lines__init(&lines, start->text.data, start->text.size);
    for (size_t i = 0; i < count && is_good; i++) {
        if (grout_change__is_in(&edits[i]->edit, &lines)) {
            changes[kept++] = &edits[i]->edit;
            add_step(edits[i], &edits[i]->edit, &lines, end);
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
static bool try_together(grout_search *it, const state *start, state *end) {
    const grout_trial_finding **edits =
        grout__new(NULL, start->trial.count, sizeof(const grout_trial_finding *));
    const size_t count = edits == NULL ? 0 : choose_edits(&start->trial, edits);
    bool is_good = edits != NULL;
    *end = (state){0};
    keep_steps(start, end);
    is_good = is_good && apply_edits(start, edits, count, end);
    grout__free(edits);
    it->tried++;
    is_good = is_good && !end->text.failed && judge(it, &end->text, &end->trial);
    const bool is_right = is_good && end->trial.is_valid && count > 0 &&
                          end->trial.count + count <= start->trial.count &&
                          !(end->trial.is_stuck && !start->trial.is_stuck) &&
                          !(end->trial.is_incomplete && !start->trial.is_incomplete);
    if (!is_right) {
        free_state(end);
    }
    return is_good;
}

/* Each finding may have its edit, and an edit may show what it hid. */
static size_t get_rounds(const state *start) {
    return start->trial.count + ROUNDS_MAX;
}

/* Edit after edit, as long as there is one; of many findings first all that go together. end is
 * empty if there was none. */
static bool follow_edits(grout_search *it, const state *start, state *end) {
    bool is_good = true;
    *end = (state){0};
    if (start->trial.count > TOGETHER_MIN && has_time(it)) {
        is_good = try_together(it, start, end);
    }
    for (size_t i = 0; i < get_rounds(start) && is_good && !is_clean(end); i++) {
        state next;
        is_good = try_edits(it, end->text.size > 0 ? end : start, &next);
        if (next.text.size == 0) {
            break;
        }
        free_state(end);
        *end = next;
    }
    return is_good;
}

/* ---- proposals ------------------------------------------------------------------------------ */

static bool try_all(grout_search *it, const state *start, const grout_text_lines *lines,
                    const grout_proposals *proposals, state *best) {
    uint32_t cost_max = UINT32_MAX;
    size_t deeper[2] = {0, 0}; /* replacements, and others */
    bool is_good = true;
    for (size_t i = 0; i < proposals->count && is_good && !is_best(best); i++) {
        const grout_proposal *proposal = &proposals->items[i];
        state next;
        if (proposal->cost > cost_max || !has_time(it)) {
            break;
        }
        if (is_perfect(best) &&
            (!may_be_better(best, lines, &proposal->change) ||
             ++deeper[proposal->change.kind != GROUT_CHANGE_REPLACE] > DEEPER_MAX)) {
            continue;
        }
        is_good = try_change(it, start, &start->trial.items[0], lines, &proposal->change, &next);
        if (is_clean(&next) && cost_max == UINT32_MAX) {
            cost_max = proposal->cost + COST_MORE;
        }
        keep_better(best, &next);
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
static bool try_proposals(grout_search *it, const state *start, state *best) {
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

/* One step on from a state with findings, or several by exact edits. It stays as it is if nothing
 * helps. */
static bool go_on(grout_search *it, state *at, uint32_t *guesses) {
    state best;
    if (!follow_edits(it, at, &best)) {
        return false;
    }
    bool is_good = true;
    if (!is_best(&best) && *guesses < GUESSES_MAX && has_time(it)) {
        ++*guesses;
        is_good = try_proposals(it, at, &best);
    }
    if (best.text.size > 0 && is_better(&best, at, GRADES_OF_PROGRESS)) {
        free_state(at);
        *at = best;
    } else {
        free_state(&best);
    }
    return is_good;
}

/* Runs the text of a state, and finds out what wrote what differs: the search begins there. */
static bool look_closely(grout_search *it, state *at) {
    it->task.is_try = false;
    grout_trial__deinit(&at->trial);
    const bool is_good = grout_trial__run(&it->task, &at->text, &at->trial);
    it->task.is_try = true;
    return is_good;
}

static bool init_state(grout_search *it, state *at) {
    *at = (state){0};
    grout_text_add_bytes(&at->text, it->text.data, it->text.size);
    return !at->text.failed && look_closely(it, at);
}

/* Round after round until it is clean, or nothing helps. */
static bool run_rounds(grout_search *it, state *at, uint32_t *guesses) {
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
static bool run_edits(grout_search *it, state *at) {
    state start = {0}, end = {0};
    bool is_good = init_state(it, &start) && follow_edits(it, &start, &end);
    free_state(at);
    if (end.text.size > 0 && is_better(&end, &start, GRADES_OF_PROGRESS)) {
        *at = end;
    } else {
        free_state(&end);
    }
    free_state(&start);
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
    state at = {0};
    uint32_t guesses = 0;
    it->task.kept = &it->kept;
    bool is_good = init_state(it, &at);
    it->task.steps_max = get_steps_max(it, &at.trial);
    is_good = is_good && run_rounds(it, &at, &guesses);
    if (is_good && guesses > 0 && at.step_count > 0 && !is_clean(&at)) {
        is_good = run_edits(it, &at);
    }
    if (at.step_count > 0) {
        grout_text_free(&it->text);
        it->text = at.text;
        at.text = (grout_text){0};
        grout_text_add_bytes(&it->steps, at.steps.data, at.steps.size);
        it->step_count += at.step_count;
    }
    free_state(&at);
    return is_good;
}

void grout_search__deinit(grout_search *search) {
    grout_text_free(&search->text);
    grout_text_free(&search->steps);
    grout_wider__deinit(&search->wider);
    grout_kept_references__deinit(&search->kept);
    *search = (grout_search){0};
}
