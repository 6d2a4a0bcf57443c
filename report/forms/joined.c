/* joined.c - the report of a sweep: what is kept of each size, and how it is joined.
 *
 * A finding is the same at two sizes if its code and its places are; the smallest size that shows
 * it speaks for all. Its words are made while that size is there, and printed once all have been
 * run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "joined.h"

#include "array.h"
#include "followers.h"
#include "hash.h"
#include "invariant.h"
#include "mismatch.h"
#include "page_facts.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

bool grout_joined__init(grout_joined *joined, const grout_sizes *sizes) {
    *joined = (grout_joined){.sizes = sizes, .kernel_count = 1};
    joined->results = calloc(sizes->count + 1, sizeof *joined->results);
    return joined->results != NULL;
}

bool grout_joined__set_kernels(grout_joined *joined, const grout_load *load) {
    size_t count = grout_module_get_kernel_count(load->bound);
    GROUT_ASSERT(joined->kernels == NULL && count > 0);
    joined->kernels = calloc(count, sizeof *joined->kernels);
    joined->kernel_count = joined->kernels == NULL ? 1 : count;
    bool is_good = joined->kernels != NULL;
    for (size_t i = 0; i < load->kernel_count && is_good; i++) {
        is_good =
            grout_reach__init(&joined->kernels[load->kernels[i]].reach, load, load->kernels[i]);
    }
    return is_good;
}

static void deinit_item(grout_joined_item *item) {
    grout_text_free(&item->text);
    grout_text_free(&item->command);
    json_decref(item->object);
    grout__free(item->sizes.items);
}

static void deinit_launch(grout_joined_launch *launch) {
    grout_text_free(&launch->axes);
    grout_text_free(&launch->differs);
    grout_text_free(&launch->because);
    grout_text_free(&launch->assuming);
    json_decref(launch->object);
}

void grout_joined__deinit(grout_joined *joined) {
    for (size_t i = 0; i < joined->found.count; i++) {
        deinit_item(&joined->found.items[i]);
    }
    for (size_t i = 0; i < joined->launches.count; i++) {
        deinit_launch(&joined->launches.items[i]);
    }
    for (size_t i = 0; joined->kernels != NULL && i < joined->kernel_count; i++) {
        grout_reach__deinit(&joined->kernels[i].reach);
        grout_text_free(&joined->kernels[i].proposal);
        grout_text_free(&joined->kernels[i].conditions);
    }
    grout__free(joined->found.items);
    grout_lookup__deinit(&joined->by_identity);
    grout__free(joined->launches.items);
    for (size_t i = 0; joined->results != NULL && i < joined->sizes->count; i++) {
        grout_not_begun__deinit(&joined->results[i].not_begun);
    }
    free(joined->results);
    free(joined->kernels);
    *joined = (grout_joined){0};
}

void grout_joined__begin_size(grout_reporter *report, size_t index) {
    grout_joined *joined = report->joined;
    GROUT_ASSERT(index < joined->sizes->count);
    joined->at = index;
    joined->results[index].first_launch = joined->launches.count;
    report->diags_seen = report->total_shown = 0; /* each size has its own diagnostics */
}

void grout_joined__skip_size(grout_reporter *report, size_t index, const char *why) {
    grout_joined_size *size = &report->joined->results[index];
    size->skipped = why;
    size->is_incomplete = true;
    report->is_incomplete = true;
}

/* ---- what belongs to a kernel --------------------------------------------------------------- */

static grout_joined_item *get_item(const grout_joined *joined, size_t number) {
    return number == 0 ? NULL : &joined->found.items[number - 1];
}

static grout_joined_launch *get_launch(const grout_joined *joined, size_t number) {
    return number == 0 ? NULL : &joined->launches.items[number - 1];
}

grout_joined_item *grout_joined__get_first_item(const grout_joined *joined,
                                                grout_kernel_id kernel) {
    return get_item(joined,
                    kernel == 0 ? joined->of_file.first : joined->kernels[kernel].items.first);
}

grout_joined_item *grout_joined__get_next_item(const grout_joined *joined,
                                               const grout_joined_item *item) {
    return get_item(joined, item->next);
}

const grout_joined_launch *grout_joined__get_first_launch(const grout_joined *joined,
                                                          grout_kernel_id kernel) {
    return get_launch(joined, joined->kernels[kernel].launches.first);
}

const grout_joined_launch *grout_joined__get_next_launch(const grout_joined *joined,
                                                         const grout_joined_launch *launch) {
    return get_launch(joined, launch->next);
}

/* The newest one becomes the last of its list. before: the next of the one that was the last. */
static void extend(grout_joined_list *list, size_t *before, size_t number) {
    *(list->last == 0 ? &list->first : before) = number;
    list->last = number;
}

static void list_item(grout_joined *joined, grout_kernel_id kernel) {
    grout_joined_list *list = kernel == 0 ? &joined->of_file : &joined->kernels[kernel].items;
    grout_joined_item *last = get_item(joined, list->last);
    extend(list, last == NULL ? NULL : &last->next, joined->found.count);
}

static void list_launch(grout_joined *joined, grout_kernel_id kernel) {
    grout_joined_list *list = &joined->kernels[kernel].launches;
    grout_joined_launch *last = get_launch(joined, list->last);
    extend(list, last == NULL ? NULL : &last->next, joined->launches.count);
    joined->results[joined->at].launch_count++;
}

/* ---- findings ------------------------------------------------------------------------------- */

static bool note_size(grout_joined_item *item, size_t size) {
    if (item->sizes.count > 0 && item->sizes.items[item->sizes.count - 1] == size) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&item->sizes, NULL, 1)) {
        return false;
    }
    item->sizes.items[item->sizes.count++] = size;
    return true;
}

static uint64_t make_key(grout_kernel_id kernel, uint64_t identity) {
    return grout_hash__word(grout_hash__word(0, kernel), identity);
}

/* The item of an identity; NULL: no size has shown it. */
static grout_joined_item *find_item(const grout_joined *joined, grout_kernel_id kernel,
                                    uint64_t identity) {
    uint32_t number = grout_lookup__find(&joined->by_identity, make_key(kernel, identity));
    return number == 0 ? NULL : &joined->found.items[number - 1];
}

/* A new item; NULL without memory. */
static grout_joined_item *add_item(grout_joined *joined, grout_kernel_id kernel,
                                   uint64_t identity) {
    uint32_t *number = GROUT_ARRAY_RESERVE(&joined->found, NULL, 1)
                           ? grout_lookup__at(&joined->by_identity, make_key(kernel, identity))
                           : NULL;
    if (number == NULL) {
        return NULL;
    }
    grout_joined_item *item = &joined->found.items[joined->found.count++];
    *item = (grout_joined_item){.kernel = kernel, .identity = identity};
    *number = (uint32_t)joined->found.count;
    list_item(joined, kernel);
    return item;
}

/* The item of an identity, with the size that runs now; is_new_out: no size has shown it before.
 * NULL without memory, which is a diagnostic. */
static grout_joined_item *note_item(grout_reporter *report, grout_kernel_id kernel,
                                    uint64_t identity, bool *is_new_out) {
    grout_joined *joined = report->joined;
    grout_joined_item *item = find_item(joined, kernel, identity);
    *is_new_out = item == NULL;
    if (item == NULL) {
        item = add_item(joined, kernel, identity);
    }
    if (item == NULL || !note_size(item, joined->at)) {
        (void)grout_diags_add_oom(report->session->diags);
        return NULL;
    }
    return item;
}

/* Whether it is listed under its cause, which this size is the first to show. */
static bool is_folded(grout_reporter *report, grout_kernel_id kernel,
                      const grout_finding *finding) {
    const grout_joined *joined = report->joined;
    const grout_joined_item *item = grout_followers__is_one(report, finding)
                                        ? find_item(joined, kernel, finding->cause->identity)
                                        : NULL;
    return item != NULL && item->sizes.items[0] == joined->at;
}

/* The words of a finding that is new. */
static void describe_finding(grout_reporter *report, const grout_outcome *outcome,
                             const grout_finding *finding, const grout_judgement *found,
                             const char *kernel, grout_joined_item *item) {
    const grout_session *session = report->session;
    bool is_one = is_folded(report, item->kernel, finding);
    item->is_folded = is_one;
    if (report->json != NULL) {
        item->object =
            grout_json__make_finding(report->json, kernel, finding, is_one ? finding->cause : NULL,
                                     found->severity, found->allowance);
        grout_page_facts__add_path(report, item->object, outcome->checker, finding);
        grout_page_facts__add_finding(report, item->object, finding, found->severity, true);
    }
    if (!session->is_json && found->severity != GROUT_SEVERITY_OFF &&
        (!is_one || session->is_verbose)) {
        grout_diag diag = *finding->diag;
        diag.severity = found->severity;
        grout_reporter__render(session, &diag, GROUT_STREAM_OUT, &item->text);
        if (finding->count > 1 && !session->is_github) {
            grout_text_add(&item->text, "  seen %llu times\n", (unsigned long long)finding->count);
        }
        grout_followers__add(report, outcome->checker, finding, &item->text);
    }
}

static void add_finding(grout_reporter *report, grout_kernel_id kernel,
                        const grout_outcome *outcome, const grout_finding *finding) {
    grout_joined *joined = report->joined;
    grout_judgement found = grout_reporter__judge(report, finding);
    bool is_new = false;
    bool is_limit = grout_exit_code_of(finding->code) == GROUT_EXIT_INCOMPLETE;
    bool is_error = found.severity == GROUT_SEVERITY_ERROR && !is_limit;
    grout_joined_item *item = note_item(report, grout_load__get_whole_id(report->load, kernel),
                                        finding->identity, &is_new);
    joined->errors += is_error ? 1u : 0u;
    joined->results[joined->at].has_error |= is_error;
    joined->results[joined->at].is_incomplete |= is_limit;
    bool is_lowered = grout_reporter__is_lowered(finding, found.severity);
    joined->lowered += is_lowered ? 1u : 0u;
    joined->results[joined->at].has_lowered |= is_lowered;
    if (item == NULL || !is_new) {
        return;
    }
    grout_reporter__count(report, finding, found.severity);
    item->severity = found.severity;
    item->is_limit = is_limit;
    item->is_lowered = is_lowered;
    item->stream = GROUT_STREAM_OUT;
    describe_finding(report, outcome, finding, &found,
                     grout_summary__get_kernel_name(report->load, kernel), item);
    grout_reporter__print_command(report, kernel, outcome, &item->command);
}

/* Hashes what a reader sees of a diagnostic: another size may say it of another number. */
static uint64_t get_identity(const grout_diag *diag) {
    grout_text text = {0};
    grout_text_add(&text, "%s:%u:%u:%s", grout_diag_get(diag->code)->text, diag->place.line,
                   diag->place.column, diag->message);
    return grout_json__take_identity(&text);
}

bool grout_joined__add_diag(grout_reporter *report, const grout_diag *diag) {
    grout_session *session = report->session;
    grout_joined *joined = report->joined;
    grout_joined_size *size = &joined->results[joined->at];
    int exit_code = diag->severity == GROUT_SEVERITY_ERROR ? grout_exit_code_of(diag->code) : 0;
    bool is_new = false;
    grout_joined_item *item = note_item(report, 0, get_identity(diag), &is_new);
    size->has_error |= exit_code == GROUT_EXIT_FINDING;
    size->is_invalid |= exit_code == GROUT_EXIT_USAGE;
    size->is_incomplete |= exit_code != GROUT_EXIT_FINDING && exit_code != GROUT_EXIT_USAGE &&
                           exit_code != GROUT_EXIT_OK;
    if (item == NULL || !is_new) {
        return item == NULL;
    }
    bool is_use = grout_diag_get(diag->code)->stage == GROUT_STAGE_USE;
    item->severity = diag->severity;
    item->stream = is_use ? GROUT_STREAM_ERR : GROUT_STREAM_OUT;
    if (report->json != NULL) {
        item->object = grout_json__make_diag(report->json, diag);
        grout_mismatch__add_facts(report, diag, item->object);
        grout_page_facts__add_diag(report, item->object, diag);
    }
    if (!session->is_json && diag->severity != GROUT_SEVERITY_OFF) {
        grout_reporter__render(session, diag, item->stream, &item->text);
    }
    return true;
}

/* ---- launches ------------------------------------------------------------------------------- */

static void add_launch(grout_reporter *report, grout_kernel_id kernel,
                       const grout_outcome *outcome) {
    grout_joined *joined = report->joined;
    const grout_check_summary *summary = &outcome->summary;
    const char *cut = grout_outcome__get_cut(outcome);
    if (!GROUT_ARRAY_RESERVE(&joined->launches, NULL, 1)) {
        (void)grout_diags_add_oom(report->session->diags);
        return;
    }
    grout_joined_launch *launch = &joined->launches.items[joined->launches.count++];
    *launch = (grout_joined_launch){
        .kernel = grout_load__get_whole_id(report->load, kernel),
        .size = joined->at,
        .word = grout_summary__get_word(outcome, joined->errors, joined->lowered),
        .holds = grout_outcome__holds(outcome) && cut == NULL,
        .is_explored = outcome->exploration != NULL && !outcome->exploration->is_certified,
        .is_done = outcome->status == GROUT_RUN_DONE,
        .has_equal_writes = summary->has_equal_writes,
    };
    list_launch(joined, launch->kernel);
    grout_text_add(&launch->differs, "%s", outcome->differs == NULL ? "" : outcome->differs);
    grout_describe_launch(report->load->bound, kernel, &launch->axes);
    grout_text_add(&launch->because, "%s",
                   cut != NULL ? cut : summary->not_well_synchronised_because);
    grout_text_add(&launch->assuming, "%s", launch->holds ? summary->assuming : "");
    if (report->json != NULL) {
        grout_text command = {0};
        grout_reporter__print_command(report, kernel, outcome, &command);
        launch->object = grout_json__make_kernel(report->json, report->load, kernel, outcome,
                                                 command.data == NULL ? "" : command.data);
        grout_page_facts__add_memory(report, launch->object, kernel);
        grout_text_free(&command);
    }
}

void grout_joined__add_outcome(grout_reporter *report, grout_kernel_id kernel,
                               const grout_outcome *outcome) {
    grout_joined *joined = report->joined;
    const grout_kernel_id whole_id = grout_load__get_whole_id(report->load, kernel);
    GROUT_ASSERT(outcome->checker != NULL && whole_id < joined->kernel_count);
    grout_joined_kernel *whole = &joined->kernels[whole_id];
    if (!grout_followers__note(&report->followers, outcome->checker)) {
        (void)grout_diags_add_oom(report->session->diags);
    }
    for (uint32_t i = 0; i < grout_checker_get_count(outcome->checker); i++) {
        add_finding(report, kernel, outcome, grout_checker_get_finding(outcome->checker, i));
    }
    if (outcome->has_more) {
        return;
    }
    grout_outcome own = *outcome;
    own.settings.reach = NULL; /* what it did not reach, another size may */
    add_launch(report, kernel, &own);
    bool is_open = grout_summary__is_open(outcome);
    joined->results[joined->at].is_incomplete |= is_open;
    report->is_incomplete = report->is_incomplete || is_open;
    uint64_t follow_on = outcome->summary.suppressed_count;
    whole->follow_on = follow_on > whole->follow_on ? follow_on : whole->follow_on;
    if (whole->conditions.size == 0) {
        grout_summary__add_conditions(&whole->conditions, report->load, kernel, outcome);
    }
    joined->errors = joined->lowered = 0;
}

void grout_joined__add_reach(grout_joined *joined, grout_kernel_id kernel,
                             const grout_reach *reach) {
    grout_reach__join(&joined->kernels[kernel].reach, reach);
}

size_t grout_joined__count_launches(const grout_joined *joined, grout_kernel_id kernel,
                                    bool *holds_out) {
    size_t count = 0;
    bool holds = true;
    const grout_joined_launch *launch = grout_joined__get_first_launch(joined, kernel);
    for (; launch != NULL; launch = grout_joined__get_next_launch(joined, launch)) {
        count++;
        holds = holds && launch->holds;
    }
    *holds_out = holds && count == joined->sizes->count;
    return count;
}

bool grout_joined__is_whole(const grout_joined *joined, grout_kernel_id kernel) {
    size_t count = 0;
    const grout_joined_launch *launch = grout_joined__get_first_launch(joined, kernel);
    for (; launch != NULL; launch = grout_joined__get_next_launch(joined, launch)) {
        bool is_good =
            launch->is_done && grout_summary__is_good(launch->word) && launch->differs.size == 0;
        count += is_good ? 1u : 0u;
    }
    return count == joined->sizes->count;
}

const char *grout_joined__get_verdict(const grout_joined_size *size) {
    return size->is_invalid      ? "invalid"
           : size->has_error     ? "error"
           : size->is_incomplete ? "incomplete"
           : size->has_lowered   ? "warning"
                                 : "clean";
}

grout_finding_counts grout_joined__count(const grout_joined *joined, grout_kernel_id kernel) {
    grout_finding_counts counts = {.follow_on = joined->kernels[kernel].follow_on};
    const grout_joined_item *item = grout_joined__get_first_item(joined, kernel);
    for (; item != NULL; item = grout_joined__get_next_item(joined, item)) {
        bool is_error = item->severity == GROUT_SEVERITY_ERROR && !item->is_limit;
        bool is_warning = item->severity == GROUT_SEVERITY_WARNING;
        counts.errors += is_error && !item->is_folded ? 1u : 0u;
        counts.warnings += is_warning && !item->is_folded ? 1u : 0u;
        counts.follow_on += (is_error || is_warning) && item->is_folded ? 1u : 0u;
        counts.silenced += item->severity == GROUT_SEVERITY_OFF ? 1u : 0u;
        counts.unlisted += item->is_listed ? 0u : 1u;
    }
    return counts;
}

/* ---- the text ------------------------------------------------------------------------------- */

static int get_rank(const grout_joined_item *item) {
    return item->severity == GROUT_SEVERITY_ERROR ? 0 : 1;
}

/* Marks the items of a kernel and rank that there is room for. Diagnostics of the file, and what is
 * silenced, take none. Returns how much is taken then. */
static uint64_t mark_listed(const grout_joined *joined, grout_kernel_id kernel, int rank,
                            uint64_t taken, uint64_t most) {
    grout_joined_item *item = grout_joined__get_first_item(joined, kernel);
    for (; item != NULL; item = grout_joined__get_next_item(joined, item)) {
        if (get_rank(item) == rank) {
            bool is_free = kernel == 0 || item->severity == GROUT_SEVERITY_OFF;
            item->is_listed = is_free || taken < most;
            taken += is_free ? 0u : 1u;
        }
    }
    return taken;
}

/* Errors come first, each in the order in which it was found. */
static void choose_listed(const grout_reporter *report) {
    uint64_t most = grout_options__get_count(&report->session->options, GROUT_OPTION_MAX_FINDINGS,
                                             GROUT_DIAGS_MAX);
    for (grout_kernel_id kernel = 0; kernel < report->joined->kernel_count; kernel++) {
        uint64_t taken = mark_listed(report->joined, kernel, 0, 0, most);
        (void)mark_listed(report->joined, kernel, 1, taken, most);
    }
}

/* "at K=64, K=256", at most this many, then how many there are. */
static void print_item(const grout_reporter *report, grout_joined_item *item) {
    enum { SHOWN_MAX = 8 };
    const grout_joined *joined = report->joined;
    grout_session *session = report->session;
    grout_text line = {0};
    if (item->severity == GROUT_SEVERITY_OFF || !item->is_listed || item->text.size == 0) {
        return; /* or it is listed under its cause */
    }
    for (size_t i = 0; i < item->sizes.count && i < SHOWN_MAX; i++) {
        grout_text_add(&line, "%s", i == 0 ? "at " : "; ");
        grout_sizes__describe(joined->sizes, item->sizes.items[i], &line);
    }
    if (item->sizes.count > SHOWN_MAX) {
        grout_text_add(&line, "; ... (%zu of %zu %s)", item->sizes.count, joined->sizes->count,
                       grout_sizes__get_word(joined->sizes));
    }
    grout_reporter__add_line(session, line.data == NULL ? "" : line.data, &item->text);
    if (item->command.size > 0) {
        grout_render_options look = grout_session__get_look(session, GROUT_STREAM_OUT);
        grout_reporter__add_command(&look, "  see it again: ", item->command.data, &item->text);
    }
    grout_text_add(&item->text, "%s", session->is_github ? "" : "\n");
    grout_text_free(&line);
    grout_session__flush(session, item->stream, &item->text);
}

static void print_items(const grout_reporter *report, grout_kernel_id kernel) {
    const grout_joined *joined = report->joined;
    for (int rank = 0; rank < 2; rank++) {
        grout_joined_item *item = grout_joined__get_first_item(joined, kernel);
        for (; item != NULL; item = grout_joined__get_next_item(joined, item)) {
            if (get_rank(item) == rank) {
                print_item(report, item);
            }
        }
    }
}

static const grout_joined_launch *find_launch(const grout_joined *joined, grout_kernel_id kernel,
                                              size_t size) {
    const grout_joined_launch *launch = grout_joined__get_first_launch(joined, kernel);
    while (launch != NULL && launch->size != size) {
        launch = grout_joined__get_next_launch(joined, launch);
    }
    return launch;
}

/* Why a kernel has no launch at a size. */
static void add_no_launch(const grout_joined_size *result, grout_kernel_id kernel,
                          grout_text *out) {
    const char *why = grout_not_begun__has(&result->not_begun, kernel) ? result->not_begun.because
                                                                       : result->skipped;
    grout_text_add(out, ": %s%s\n", why == NULL ? "" : "not run: ",
                   why != NULL          ? why
                   : result->is_invalid ? "invalid"
                                        : "not run");
}

/* ": clean; grid(m=1); holds for this schedule: ..." */
static void add_result(const grout_joined *joined, grout_kernel_id kernel, size_t size,
                       bool all_hold, grout_text *out) {
    const grout_joined_launch *launch = find_launch(joined, kernel, size);
    const grout_joined_size *result = &joined->results[size];
    if (launch == NULL) {
        add_no_launch(result, kernel, out);
        return;
    }
    grout_text_add(out, ": ");
    grout_summary__add_word(out, launch->word,
                            launch->differs.size > 0 ? launch->differs.data : NULL);
    grout_text_add(out, "; %s", launch->axes.data);
    if (launch->holds && !all_hold) {
        grout_text_add(out, "; %s schedule%s",
                       strcmp(launch->word, "error") == 0 ? "fails under each" : "holds for every",
                       launch->is_explored ? "" : " and timing");
    } else if (!launch->holds && strcmp(launch->word, "error") != 0) {
        bool is_good = grout_summary__is_good(launch->word);
        grout_text_add(out, "; %s%s%s",
                       is_good ? "holds for this schedule" : "the run is incomplete",
                       launch->because.size > 0 ? ": " : "",
                       launch->because.size > 0 ? launch->because.data : "");
    }
    grout_text_add(out, "\n");
}

/* A line a size: "  K=64: clean; ...". Seeds in a row of which the same is said share one. */
static void add_sizes(const grout_joined *joined, grout_kernel_id kernel, bool all_hold,
                      grout_text *out) {
    const size_t count = joined->sizes->count;
    grout_text first = {0}, next = {0};
    for (size_t i = 0, last = 0; i < count; i = last + 1) {
        const size_t end = grout_sizes__find_last(joined->sizes, i);
        add_result(joined, kernel, i, all_hold, &first);
        for (last = i; last < end; last++) {
            add_result(joined, kernel, last + 1, all_hold, &next);
            const bool is_same = next.size == first.size && first.data != NULL &&
                                 memcmp(next.data, first.data, next.size) == 0;
            grout_text_free(&next);
            if (!is_same) {
                break;
            }
        }
        grout_text_add(out, "  ");
        grout_sizes__describe_range(joined->sizes, i, last, out);
        grout_text_add(out, "%s", first.data == NULL ? "\n" : first.data);
        grout_text_free(&first);
    }
}

/* The promise of all launches together. */
static void add_promise(const grout_joined *joined, grout_kernel_id kernel, size_t count,
                        grout_text *out) {
    bool is_explored = false;
    bool has_equal_writes = false;
    const char *assuming = "";
    size_t failing = 0;
    const grout_joined_launch *launch = grout_joined__get_first_launch(joined, kernel);
    for (; launch != NULL; launch = grout_joined__get_next_launch(joined, launch)) {
        failing += strcmp(launch->word, "error") == 0;
        is_explored = is_explored || launch->is_explored;
        has_equal_writes = has_equal_writes || launch->has_equal_writes;
        assuming = launch->assuming.size > 0 ? launch->assuming.data : assuming;
    }
    grout_text_add(out, "  %s schedule%s of ",
                   failing == 0       ? "holds for every"
                   : failing == count ? "fails under each"
                                      : "each verdict is that of each",
                   is_explored ? "" : " and timing");
    grout_text_add(out, count == 1 ? "this launch" : "these %zu launches", count);
    grout_text_add(out, " with these inputs");
    grout_describe_conditions(has_equal_writes, assuming, out);
    grout_text_add(out, "\n");
}

void grout_joined__add_summary(const grout_reporter *report, grout_kernel_id kernel,
                               const grout_render_options *look, grout_text *out) {
    grout_joined *joined = report->joined;
    grout_joined_kernel *whole = &joined->kernels[kernel];
    const grout_finding_counts counts = grout_joined__count(joined, kernel);
    bool all_hold = false, is_incomplete = false, is_invalid = false, differs = false;
    bool is_lowered = false;
    size_t count = grout_joined__count_launches(joined, kernel, &all_hold);
    const grout_joined_item *item = grout_joined__get_first_item(joined, kernel);
    for (; item != NULL; item = grout_joined__get_next_item(joined, item)) {
        is_lowered |= item->is_lowered;
    }
    for (size_t i = 0; i < joined->sizes->count; i++) {
        const grout_joined_launch *launch = find_launch(joined, kernel, i);
        is_incomplete |= launch == NULL || strcmp(launch->word, "incomplete") == 0;
        differs |= launch != NULL && launch->differs.size > 0;
        is_invalid |= launch == NULL && joined->results[i].is_invalid;
    }
    const grout_verdict_line head = {
        .kernel = grout_summary__get_kernel_name(report->load, kernel),
        .word = counts.errors > 0 ? "error"
                : is_invalid      ? "invalid"
                : is_incomplete   ? "incomplete"
                : is_lowered      ? "warning"
                                  : "clean",
        .differs = differs ? "its results differ" : NULL,
        .counts = counts,
        .color = look != NULL && look->color,
    };
    grout_describe_verdict(&head, out);
    grout_text_add(out, "\n");
    grout_text lines = {0};
    add_sizes(joined, kernel, all_hold, &lines);
    grout_text_add(&lines, "  covered: %zu of %zu %s", count, joined->sizes->count,
                   grout_sizes__get_word(joined->sizes));
    grout_text defines = {0};
    grout_load__describe_defines(report->load, joined->sizes, &defines);
    grout_text_add(&lines, "%s%s%s\n", defines.size > 0 ? "; " : "",
                   defines.size > 0 ? defines.data : "",
                   whole->conditions.size > 0 ? whole->conditions.data : "");
    grout_text_free(&defines);
    if (all_hold) {
        add_promise(joined, kernel, count, &lines);
    }
    grout_reporter__take_lines(look, &lines, out);
    if (grout_joined__is_whole(joined, kernel)) {
        grout_summary__add_reach(out, report, &whole->reach,
                                 whole->proposal.size > 0 ? whole->proposal.data : NULL, look);
    }
}

void grout_joined__print(grout_reporter *report) {
    grout_joined *joined = report->joined;
    choose_listed(report);
    if (report->json != NULL) {
        grout_joined__fill_json(report);
    }
    if (report->session->is_json) {
        return;
    }
    bool is_first = true;
    grout_render_options look = grout_session__get_look(report->session, GROUT_STREAM_OUT);
    print_items(report, 0);
    for (grout_kernel_id kernel = 1; kernel < joined->kernel_count; kernel++) {
        grout_text text = {0};
        bool is_selected = joined->kernels[kernel].reach.module != NULL;
        if (is_selected && !is_first && !report->session->is_quiet && !report->session->is_github) {
            grout_session__print(report->session, GROUT_STREAM_OUT, "\n");
        }
        is_first = is_first && !is_selected;
        print_items(report, kernel);
        if (is_selected && !report->session->is_quiet) {
            grout_joined__add_summary(report, kernel, &look, &text);
        }
        grout_session__flush(report->session, GROUT_STREAM_OUT, &text);
    }
}
