/* candidate.c - a text on the way to a repair.
 * SPDX-License-Identifier: Apache-2.0 */
#include "candidate.h"

#include "alloc.h"
#include "hash.h"

#include <stdlib.h>
#include <string.h>

/* Lines before and after one that may be the same line in the wrong place. */
#define TWIN_LINES 8u

void grout_candidate__deinit(grout_candidate *candidate) {
    grout_text_free(&candidate->text);
    grout_text_free(&candidate->steps);
    grout_trial__deinit(&candidate->trial);
    *candidate = (grout_candidate){0};
}

/* ---- a change ------------------------------------------------------------------------------- */

void grout_candidate__keep_steps(const grout_candidate *before, grout_candidate *after) {
    grout_text_add_bytes(&after->steps, before->steps.data, before->steps.size);
    after->step_count = before->step_count;
    after->may_be_shallow = before->may_be_shallow;
    after->may_be_miscounted = before->may_be_miscounted;
    after->edit_size = before->edit_size;
    after->inserted = before->inserted;
    after->is_twin = before->is_twin;
    after->inserted_op = before->inserted_op;
    after->leaves = before->leaves;
}

/* The operation of a text that begins with a mnemonic. */
static grout_opcode find_op(const char *text) {
    return grout_op_find(text, strcspn(text, " \n"));
}

/* What it does; NULL: it is none that synchronises. */
static const grout_sync_info *find_sync(const char *text) {
    const grout_opcode opcode = find_op(text);
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
                           grout_candidate *after) {
    if (change->kind != GROUT_CHANGE_INSERT) {
        return;
    }
    const grout_span text = get_text(change);
    const char *number = strpbrk(change->text, "0123456789[");
    after->inserted = hash_code(text);
    after->is_twin = has_twin(lines, change->line, text);
    after->inserted_op = find_op(change->text);
    after->leaves = adds_wait(change, lines) && number != NULL && *number != '['
                        ? (uint32_t)strtoul(number, NULL, 10)
                        : 0;
}

/* Whether the next line of code, up or down, is of the operation. */
static bool is_beside(const grout_text_lines *lines, size_t gap, grout_opcode opcode) {
    size_t up = gap, down = gap;
    while (up > 0 && lines->items[up - 1].code.size == 0) {
        up--;
    }
    while (down < lines->count && lines->items[down].code.size == 0) {
        down++;
    }
    return opcode != GROUT_OP_NONE &&
           ((up > 0 && find_op(lines->items[up - 1].code.data) == opcode) ||
            (down < lines->count && find_op(lines->items[down].code.data) == opcode));
}

/* Whether it makes a wait leave nothing in flight, or an operation of an engine one that waits. */
static bool drains(const grout_change *change, const grout_text_lines *lines) {
    const grout_line *line = &lines->items[change->line];
    const bool is_mnemonic = change->kind == GROUT_CHANGE_REPLACE && change->column == line->indent;
    const grout_sync_info *sync = is_mnemonic ? find_sync(line->code.data) : NULL;
    return (lowers_number(change, lines) && strcmp(change->text, "0") == 0) ||
           (sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS);
}

/* How far the kernel is from what was meant: a number or a word is a slip, a line that is missing
 * less likely one, two waits in a row are never meant. */
static uint32_t get_size(const grout_change *change, const grout_text_lines *lines) {
    if (change->kind == GROUT_CHANGE_INSERT) {
        return is_beside(lines, change->line, find_op(change->text)) ? 6 : 4;
    }
    return change->kind == GROUT_CHANGE_MOVE ? 3 : drains(change, lines) ? 5 : 2;
}

/* "  missing-commit-smem at line 14: insert 'commit_smem' before line 15" */
void grout_candidate__add_step(grout_candidate *after, const grout_trial_finding *finding,
                               const grout_change *change, const grout_text_lines *lines) {
    grout_text_add(&after->steps, "  %s at line %u: ", grout_diag_get(finding->code)->text,
                   (unsigned)finding->primary.line);
    grout_change__describe(change, lines, &after->steps);
    grout_text_add(&after->steps, "\n");
    after->may_be_shallow |= adds_wait(change, lines);
    after->may_be_miscounted |= adds_arrival(finding, change);
    after->edit_size += get_size(change, lines);
    note_insertion(change, lines, after);
    after->step_count++;
}

/* ---- which is better ------------------------------------------------------------------------ */

bool grout_candidate__is_clean(const grout_candidate *candidate) {
    return candidate->text.size > 0 && grout_trial__is_clean(&candidate->trial);
}

bool grout_candidate__is_perfect(const grout_candidate *it) {
    return grout_candidate__is_clean(it) && it->trial.holds && it->trial.diag_count == 0;
}

/* What has nothing in flight cannot be shallow. */
bool grout_candidate__is_best(const grout_candidate *it) {
    return grout_candidate__is_perfect(it) && !(it->may_be_shallow && it->trial.depth > 0) &&
           !it->may_be_miscounted && !it->is_twin;
}

/* What is written a little differently keeps the
 * shape of the kernel. A line may be in the wrong place, instead of missing in another. And if a
 * wait was put in, it may be one that leaves more in flight, or stand elsewhere. */
bool grout_candidate__may_be_bettered(const grout_candidate *best, const grout_text_lines *lines,
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
    const bool is_other_number = has_number && (best->inserted_op == GROUT_OP_NONE ||
                                                best->inserted_op == find_op(change->text));
    return best->may_be_shallow && is_wait &&
           (is_other_number || hash_code(get_text(change)) == best->inserted);
}

uint32_t grout_candidate__count_failed(const grout_candidate *candidate) {
    return candidate->others == NULL
               ? 0
               : grout_other_runs__count(candidate->others, candidate->failed);
}

/* Less is better, the first number before the second and so on. */
static void grade(const grout_candidate *it, uint32_t out[GROUT_CANDIDATE_ALL]) {
    out[0] = it->trial.is_valid ? (it->trial.is_stuck ? 1 : 0) : 2;
    out[1] = it->trial.is_incomplete || it->trial.is_different ? 1 : 0;
    out[2] = it->trial.error_count;
    out[3] = (uint32_t)it->trial.count;
    out[4] = it->trial.holds ? 0 : 1;
    out[5] = it->trial.diag_count;
    out[6] = grout_candidate__count_failed(it);
    out[7] = UINT32_MAX - it->trial.depth;
    out[8] = it->edit_size;
    out[9] = UINT32_MAX - it->leaves;
}

bool grout_candidate__is_better(const grout_candidate *a, const grout_candidate *b,
                                grout_candidate_grades grades) {
    uint32_t left[GROUT_CANDIDATE_ALL], right[GROUT_CANDIDATE_ALL];
    grade(a, left);
    grade(b, right);
    for (uint32_t i = 0; i < (uint32_t)grades; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i];
        }
    }
    return false;
}

void grout_candidate__keep_better(grout_candidate *best, grout_candidate *other) {
    if (other->text.size > 0 &&
        (best->text.size == 0 || grout_candidate__is_better(other, best, GROUT_CANDIDATE_ALL))) {
        grout_candidate__deinit(best);
        *best = *other;
        *other = (grout_candidate){0};
    } else {
        grout_candidate__deinit(other);
    }
}
