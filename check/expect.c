/* expect.c - runs files and compares their findings with their expectation comments.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include "array.h"
#include "expect_file.h"
#include "files.h"
#include "invariant.h"
#include "listing.h"
#include "reference.h"
#include "run_line.h"

#include <stdlib.h>
#include <string.h>

/* The identities of a run. They must not depend on schedule and timing. */
typedef struct identity_list {
    uint64_t *items;
    size_t count, capacity;
} identity_list;

/* The file as one size of --sweep has it, or as it is. */
typedef struct expect_size {
    grout_session session; /* the run's, with -D and diagnostics of its own */
    grout_load load;
    bool is_loaded;
} expect_size;

/* One file under the options of one '// run:' line. */
typedef struct expect_run {
    grout_session session; /* of its own: options, time and diagnostics */
    grout_deadline deadline;
    grout_expect_file *file;
    const grout_expect_variants *variants;
    const char *options_text; /* of the run line, "" if there is none */
    grout_run_line line;
    grout_sizes sizes;
    expect_size *items;  /* of each size; their findings are one list */
    identity_list first; /* of the first variant */
    bool has_first;
    /* what the second look at the first variant has found, and what it holds for: it goes for all
     */
    grout_expect_list looked;
    grout_expect_holds looked_holds;
    bool is_cut_short; /* Ctrl-C */
    grout_text report;
} expect_run;

static void add_identity(identity_list *list, uint64_t identity, bool *failed) {
    if (!GROUT_ARRAY_RESERVE(list, NULL, 1)) {
        *failed = true;
        return;
    }
    list->items[list->count++] = identity;
}

static int compare_numbers(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* ---- what was found ------------------------------------------------------------------------- */

static uint32_t get_line(const expect_run *run, grout_place place) {
    return place.file != NULL && strcmp(place.file, run->file->name) == 0 ? place.line : 0;
}

static bool add_found(const expect_run *run, grout_expect_list *found, grout_diag_code code,
                      grout_severity severity, const grout_diag *diag) {
    grout_expect_item item = {
        .kind = severity == GROUT_SEVERITY_WARNING ? GROUT_EXPECT_WARNING : GROUT_EXPECT_ERROR,
        .code = code,
        .line = get_line(run, diag->place),
        .message = diag->message,
    };
    return severity == GROUT_SEVERITY_OFF || grout_expect_list__add(found, &item);
}

static bool add_note(const expect_run *run, grout_expect_list *found, grout_diag_code code,
                     grout_place place) {
    grout_expect_item item = {
        .kind = GROUT_EXPECT_NOTE, .code = code, .line = get_line(run, place)};
    return item.line == 0 || grout_expect_list__add(found, &item);
}

/* What is wrong with a file or an option, where it stands in a run line; where: of the size. */
static void report_use(expect_run *run, const grout_diags *diags, const grout_diag *diag,
                       const char *where) {
    if (diag->place.line == 0) {
        grout_text_add(&run->report, "  %s%s: ", where, grout_diag_get(diag->code)->text);
        grout_text__add_name(&run->report, diag->message);
        grout_text_add(&run->report, "\n");
        return;
    }
    grout_render_options look = grout_session__get_look(&run->session, GROUT_STREAM_OUT);
    grout_text_add(&run->report, "%s%s%s", where[0] == '\0' ? "" : "  ", where,
                   where[0] == '\0' ? "" : "\n");
    grout_diag_render(diag, diags, &look, &run->report);
}

/* Diagnostics of the parser, binding and verifier are findings; those of files and options are not.
 * where: of the size, "at K=64: ", or "". */
static bool add_diags_of(expect_run *run, const grout_diags *diags, const char *where,
                         grout_expect_list *found) {
    bool is_good = true;
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        const grout_diag *diag = grout_diags_get(diags, i);
        if (grout_diag_get(diag->code)->stage == GROUT_STAGE_USE) {
            report_use(run, diags, diag, where);
            continue;
        }
        is_good = add_found(run, found, diag->code, diag->severity, diag) && is_good;
        for (uint32_t n = 0; n < diag->note_count; n++) {
            is_good = add_note(run, found, diag->code, diag->notes[n].place) && is_good;
        }
    }
    return is_good;
}

static bool add_diags(expect_run *run, grout_expect_list *found) {
    bool is_good = add_diags_of(run, run->session.diags, "", found);
    for (size_t i = 0; run->items != NULL && i < run->sizes.count; i++) {
        grout_text where = {0};
        if (run->sizes.count > 1) {
            grout_text_add(&where, "at ");
            grout_sizes__describe(&run->sizes, i, &where);
            grout_text_add(&where, ": ");
        }
        is_good = add_diags_of(run, run->items[i].session.diags,
                               where.data == NULL ? "" : where.data, found) &&
                  is_good;
        grout_text_free(&where);
    }
    return is_good;
}

static bool add_outcome(expect_run *run, const grout_outcome *outcome, grout_expect_list *found,
                        identity_list *identities) {
    bool failed = false;
    for (uint32_t i = 0; i < grout_checker_get_count(outcome->checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(outcome->checker, i);
        grout_severity severity =
            grout_session__get_severity(&run->session, finding->code, finding->severity);
        if (severity == GROUT_SEVERITY_OFF ||
            grout_silencer__find(&run->file->silencer, finding) != NULL) {
            continue;
        }
        failed = !add_found(run, found, finding->code, severity, finding->diag) ||
                 !add_note(run, found, finding->code, finding->related) || failed;
        add_identity(identities, finding->identity, &failed);
    }
    if (outcome->status == GROUT_RUN_STEP_LIMIT) {
        bool is_there = false;
        for (size_t i = 0; i < found->count; i++) {
            is_there = is_there || found->items[i].code == GROUT_DIAG_STEP_LIMIT;
        }
        grout_expect_item item = {.kind = GROUT_EXPECT_ERROR, .code = GROUT_DIAG_STEP_LIMIT};
        failed = (!is_there && !grout_expect_list__add(found, &item)) || failed;
    } else if (grout_outcome__get_cut(outcome) != NULL) {
        grout_text_add(&run->report, "  %s\n", grout_outcome__get_cut(outcome));
        run->is_cut_short = run->is_cut_short || outcome->cut == GROUT_CUT_INTERRUPT;
    }
    return !failed;
}

/* ---- differences ---------------------------------------------------------------------------- */

static void print_settings(const expect_run *run, const grout_launch_settings *settings,
                           grout_text *out) {
    grout_text_add(out, "  with%s", run->options_text[0] == '\0' ? "" : " ");
    grout_text__add_name(out, run->options_text);
    grout_text_add(out, " --schedule %s --timing %s --seed %llu:\n",
                   grout_schedule_get_text(settings->schedule),
                   grout_timing_get_text(settings->timing), (unsigned long long)settings->seed);
}

static const char *get_noun(grout_expect_kind kind) {
    return kind == GROUT_EXPECT_ERROR     ? "error"
           : kind == GROUT_EXPECT_WARNING ? "warning"
                                          : "related place";
}

static void print_difference(const expect_run *run, const grout_expect_item *item, bool is_found,
                             grout_text *out) {
    const char *code = grout_diag_get(item->code)->text;
    grout_text_add(out, "    ");
    grout_text__add_name(out, run->file->name);
    grout_text_add(out, ":%u: %s %s %s", item->line, get_noun(item->kind), code,
                   is_found ? "is not expected" : "is expected, but was not found");
    if (item->message != NULL) {
        grout_text_add(out, ": ");
        grout_text__add_name(out, item->message);
    }
    if (is_found && item->line > 0) {
        grout_text_add(out, "\n      if it is right, end line %u with '// %s: %s'", item->line,
                       grout_expect_kind_get_text(item->kind), code);
    }
    grout_text_add(out, "\n");
}

/* Compares one variant's findings; differences go to the report. */
static void compare(expect_run *run, const grout_launch_settings *settings,
                    grout_expect_list *found) {
    if (grout_expect__match(&run->file->expectations, found)) {
        return;
    }
    print_settings(run, settings, &run->report);
    for (size_t i = 0; i < found->count; i++) {
        if (!found->items[i].is_met) {
            print_difference(run, &found->items[i], true, &run->report);
        }
    }
    for (size_t i = 0; i < run->file->expectations.list.count; i++) {
        if (!run->file->expectations.list.items[i].is_met) {
            print_difference(run, &run->file->expectations.list.items[i], false, &run->report);
        }
    }
}

/* The findings are one thing; what they hold for is another. */
static void compare_holds(expect_run *run, const grout_launch_settings *settings,
                          grout_expect_holds holds) {
    const grout_expect_holds expected = run->file->expectations.holds;
    if (expected != GROUT_EXPECT_HOLDS_UNSAID && expected != holds) {
        print_settings(run, settings, &run->report);
        grout_text_add(&run->report, "    the verdict holds for %s, which is not expected\n",
                       grout_expect_holds_get_text(holds));
    }
}

static void weaken(grout_expect_holds *holds, grout_expect_holds by) {
    *holds = *holds < by ? by : *holds;
}

static grout_expect_holds get_explored_holds(const grout_exploration *exploration) {
    return grout_exploration_holds(exploration)                     ? GROUT_EXPECT_HOLDS_EVERY
           : grout_exploration_holds_for_interleavings(exploration) ? GROUT_EXPECT_HOLDS_INTERLEAVED
                                                                    : GROUT_EXPECT_HOLDS_THIS;
}

static void compare_identities(expect_run *run, const grout_launch_settings *settings,
                               identity_list *identities) {
    if (run->looked.count > 0) {
        run->has_first = true;
        return; /* which schedule shows a finding first may differ */
    }
    if (identities->count > 0) {
        qsort(identities->items, identities->count, sizeof identities->items[0], compare_numbers);
    }
    if (!run->has_first) {
        run->first = *identities;
        run->has_first = true;
        *identities = (identity_list){0};
        return;
    }
    bool is_same =
        identities->count == run->first.count &&
        (identities->count == 0 || memcmp(identities->items, run->first.items,
                                          identities->count * sizeof identities->items[0]) == 0);
    if (!is_same) {
        print_settings(run, settings, &run->report);
        grout_text_add(&run->report, "    the findings are not the same as in the first run: their "
                                     "places or related places differ\n");
    }
}

/* ---- one file ------------------------------------------------------------------------------- */

/* What one schedule and timing has found at all sizes. */
typedef struct variant {
    grout_expect_list found;
    identity_list identities;
    grout_expect_holds holds;
} variant;

/* Where results that differ are noted. */
typedef struct found_values {
    const expect_run *run;
    grout_expect_list *found;
    bool has_failed; /* there was no memory */
} found_values;

static void add_mismatch(void *payload, const grout_mismatch *mismatch) {
    found_values *it = payload;
    grout_diags *diags = grout_session__new_diags(&it->run->session);
    if (diags == NULL) {
        it->has_failed = true;
        return;
    }
    grout_compare_report(&mismatch->comparison, &mismatch->difference, diags);
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        const grout_diag *diag = grout_diags_get(diags, i);
        it->has_failed =
            !add_found(it->run, it->found, diag->code, diag->severity, diag) || it->has_failed;
    }
    grout_diags_free(diags);
}

/* Compares the results of a run that came to its end with those of the kernel's reference. */
static bool add_values(expect_run *run, expect_size *size, grout_kernel_id kernel,
                       const grout_launch_settings *settings, const grout_reference *reference,
                       grout_expect_list *found) {
    found_values values = {.run = run, .found = found};
    const grout_comparing comparing = {.session = &size->session,
                                       .load = &size->load,
                                       .kernel = kernel,
                                       .settings = settings,
                                       .is_brief = true,
                                       .found = add_mismatch,
                                       .payload = &values};
    grout_text differs = {0};
    if (!grout_reference__compare(reference, &comparing, &differs)) {
        grout_text_add(&run->report,
                       "  what a kernel is checked against did not come to its end\n");
    }
    grout_text_free(&differs);
    return !values.has_failed;
}

/* The findings of all schedules that an exploration runs. Their identities are not compared between
 * variants: the schedule that shows a finding first may differ. */
static bool add_explored(expect_run *run, expect_size *size, grout_kernel_id kernel,
                         const grout_launch_settings *settings, const grout_reference *reference,
                         variant *out) {
    const grout_argument_set *arguments = reference->arguments;
    grout_explored explored = {0};
    identity_list identities = {0};
    bool is_good =
        grout_launch__explore(&size->session, &size->load, kernel, arguments, settings, &explored);
    for (uint32_t i = 0; is_good && i < explored.exploration.witness_count; i++) {
        const grout_outcome outcome = grout_explored__get_outcome(&explored, i, settings);
        is_good = add_outcome(run, &outcome, &out->found, &identities);
        if (is_good && !outcome.has_more && outcome.status == GROUT_RUN_DONE) {
            is_good = add_values(run, size, kernel, settings, reference, &out->found);
        }
    }
    weaken(&out->holds, get_explored_holds(&explored.exploration));
    run->is_cut_short = run->is_cut_short || explored.cut == GROUT_CUT_INTERRUPT;
    grout__free(identities.items);
    grout_explored__deinit(&explored);
    return is_good;
}

/* What the second look at a run has found. */
static bool add_looked(expect_run *run, const grout_outcome *outcome) {
    identity_list identities = {0};
    bool is_good = true;
    for (uint32_t i = 0; is_good && i < grout_outcome__count_more(outcome); i++) {
        const grout_outcome more = grout_outcome__get_more(outcome, i);
        is_good = add_outcome(run, &more, &run->looked, &identities);
    }
    if (outcome->exploration != NULL) {
        weaken(&run->looked_holds, get_explored_holds(outcome->exploration));
    }
    grout__free(identities.items);
    return is_good;
}

/* One launch, of whatever schedules the options ask for. */
static bool run_launch(expect_run *run, expect_size *size, grout_kernel_id kernel,
                       const grout_argument_set *arguments, const grout_launch_settings *settings,
                       variant *out) {
    grout_outcome outcome = {0};
    grout_launch_settings own = *settings;
    bool is_good = true;
    own.looks_again =
        !run->has_first && !grout_options__has(&size->session.options, GROUT_OPTION_NO_EXPLORE);
    grout_reference reference = {0};
    if (!grout_reference__init(&reference, &size->session, &size->load, kernel, arguments)) {
        is_good = false;
    } else if (grout_options__has(&size->session.options, GROUT_OPTION_EXPLORE)) {
        is_good = add_explored(run, size, kernel, settings, &reference, out);
    } else if (grout_launch__run(&size->session, &size->load, kernel, arguments, &own, &outcome)) {
        is_good = add_outcome(run, &outcome, &out->found, &out->identities) &&
                  add_looked(run, &outcome) &&
                  (outcome.status != GROUT_RUN_DONE ||
                   add_values(run, size, kernel, settings, &reference, &out->found));
        weaken(&out->holds, outcome.summary.is_well_synchronised ? GROUT_EXPECT_HOLDS_EVERY
                            : run->looked_holds != GROUT_EXPECT_HOLDS_UNSAID
                                ? run->looked_holds
                                : GROUT_EXPECT_HOLDS_THIS);
    }
    grout_reference__deinit(&reference);
    grout_outcome__deinit(&outcome);
    return is_good;
}

/* The launch list of the file, or a kernel alone several times, at one size. */
static bool run_list(expect_run *run, expect_size *size, grout_kernel_id alone,
                     const grout_launch_settings *settings, variant *out) {
    grout_listing listing;
    bool is_good = true, goes_on = true;
    grout_listing__init(&listing, &size->session, &size->load, alone);
    while (goes_on && is_good) {
        grout_argument_set arguments = {0};
        grout_launch_settings own = *settings;
        grout_kernel_id kernel = grout_listing__begin(&listing, &arguments, &own);
        goes_on = kernel != 0;
        if (goes_on) {
            is_good = run_launch(run, size, kernel, &arguments, &own, out);
            goes_on = grout_listing__end(&listing);
        }
        grout_argument_set__deinit(&arguments);
    }
    grout_listing__deinit(&listing);
    return is_good;
}

/* A kernel that is in no list, out of a file of many. */
static bool run_alone(expect_run *run, expect_size *size, grout_kernel_id kernel,
                      const grout_launch_settings *settings, variant *out) {
    const grout_load whole = size->load;
    grout_load own;
    grout_argument_set arguments = {0};
    bool is_good = true;
    size->load = *grout_load__take(&size->session, &whole, &kernel, &own);
    if (grout_argument_set__init(&size->session, &size->load.bindings, size->load.bound, kernel,
                                 &arguments)) {
        is_good = run_launch(run, size, kernel, &arguments, settings, out);
    }
    grout_argument_set__deinit(&arguments);
    size->load = whole;
    grout_load__give_back(&own);
    return is_good;
}

/* All kernels of the file at one size. */
static bool run_size(expect_run *run, expect_size *size, const grout_launch_settings *settings,
                     variant *out) {
    bool is_listed = size->is_loaded && grout_listing__is_wanted(&size->session, &size->load);
    bool is_good = true;
    for (size_t i = 0; i < size->load.kernel_count && size->is_loaded && is_good; i++) {
        grout_kernel_id kernel = size->load.kernels[i];
        if (!is_listed || !grout_listing__has_kernel(&size->load, kernel)) {
            is_good = grout_listing__is_repeated(&size->session)
                          ? run_list(run, size, kernel, settings, out)
                          : run_alone(run, size, kernel, settings, out);
        }
    }
    return is_good && (!is_listed || run_list(run, size, 0, settings, out));
}

/* All sizes under one schedule and timing. */
static bool run_variant(expect_run *run, const grout_launch_settings *settings) {
    variant out = {.holds = GROUT_EXPECT_HOLDS_EVERY};
    bool is_good = true;
    for (size_t i = 0; run->items != NULL && i < run->sizes.count && is_good; i++) {
        is_good = run_size(run, &run->items[i], settings, &out);
    }
    is_good = add_diags(run, &out.found) && is_good;
    for (size_t i = 0; is_good && i < run->looked.count; i++) {
        is_good = grout_expect_list__add(&out.found, &run->looked.items[i]);
    }
    compare(run, settings, &out.found);
    compare_holds(run, settings, out.holds);
    compare_identities(run, settings, &out.identities);
    grout_expect_list__deinit(&out.found);
    grout__free(out.identities.items);
    return is_good && run->report.size == 0;
}

/* Stops at the first variant that is not as expected: the others would say the same. */
static bool run_variants(expect_run *run, bool is_loaded) {
    const uint64_t seed_count = run->variants->seed_count;
    grout_launch_settings base = grout_launch_settings__get(&run->session, true);
    base.is_silent = true;
    if (!is_loaded) {
        for (size_t i = 0; run->items != NULL && i < run->sizes.count; i++) {
            run->items[i].is_loaded = false; /* what silences findings could not be read */
        }
        return run_variant(run, &base);
    }
    for (int timing = GROUT_TIMING_LAZY; timing <= GROUT_TIMING_RANDOM; timing++) {
        if (!run->variants->has_timings && timing != (int)base.timing) {
            continue;
        }
        for (uint64_t seed = 0; seed <= seed_count; seed++) {
            grout_launch_settings settings = base;
            settings.timing = (grout_timing)timing;
            if (seed_count > 0) {
                settings.schedule = seed == 0 ? GROUT_SCHEDULE_FAIR : GROUT_SCHEDULE_RANDOM;
                settings.seed = seed == 0 ? base.seed : seed;
            }
            if (!run_variant(run, &settings)) {
                return false;
            }
        }
    }
    return true;
}

/* Loads the file at every size. Returns whether one could be loaded: there is something to run. */
static bool load_sizes(expect_run *run) {
    bool is_any_loaded = false;
    run->items = calloc(run->sizes.count, sizeof *run->items);
    for (size_t i = 0; run->items != NULL && i < run->sizes.count; i++) {
        expect_size *size = &run->items[i];
        size->session = run->session;
        size->session.diags = grout_session__new_diags(&run->session);
        size->session.options = (grout_options){0};
        if (size->session.diags == NULL ||
            !grout_sizes__apply(&run->sizes, i, &run->session.options, &size->session.options)) {
            (void)grout_diags_add_oom(run->session.diags);
            continue;
        }
        size->is_loaded = grout_expect_file__load(run->file, &size->session, &size->load);
        grout_session__apply_severities(&size->session);
        is_any_loaded = is_any_loaded || size->is_loaded;
    }
    return is_any_loaded || (run->items == NULL && grout_diags_add_oom(run->session.diags));
}

static void free_sizes(expect_run *run) {
    for (size_t i = 0; run->items != NULL && i < run->sizes.count; i++) {
        grout_load__deinit(&run->items[i].load);
        free(run->items[i].session.options.uses);
        grout_diags_free(run->items[i].session.diags);
    }
    free(run->items);
    grout_sizes__deinit(&run->sizes);
}

/* Whether there is something to run; how it is run is known if the options could be read. */
static bool read_run(expect_run *run, const grout_options *call) {
    bool is_good = grout_run_line__read(&run->line, &run->session, call);
    grout_session__begin_timeout(&run->session);
    is_good = is_good && grout_session__check_severities(&run->session) &&
              grout_files__check(&run->session) && grout_sizes__read(&run->session, &run->sizes);
    if (!is_good) {
        grout_expect_list none = {0};
        (void)add_diags(run, &none);
        grout_expect_list__deinit(&none);
    }
    return is_good;
}

/* One run line of a file; differences are appended to out. False: something differs. */
static bool run_line(grout_session *outer, expect_run *run, const grout_expect_line *line,
                     grout_text *out) {
    bool is_good = false;
    run->session = *outer;
    if (!grout_options__has(&outer->options, GROUT_OPTION_TIMEOUT)) { /* each has its own */
        run->session.start = outer->host->get_seconds(outer->host->payload);
    }
    run->session.options = (grout_options){0};
    run->session.deadline = &run->deadline;
    run->deadline = (grout_deadline){.host = outer->host};
    run->session.diags = grout_session__new_diags(&run->session);
    run->options_text = line->text;
    run->line.line = (grout_option_line){.path = run->file->path,
                                         .name = run->file->name,
                                         .number = line->line,
                                         .column = line->column,
                                         .text = line->text};
    if (run->session.diags == NULL || !grout_expect_file__show(run->file, run->session.diags)) {
        grout_text_add(&run->report, "  out of memory\n");
    } else if (read_run(run, &outer->options)) {
        bool is_loaded = load_sizes(run) && grout_expect_file__has_rules(run->file, &run->session);
        grout_session__apply_severities(&run->session);
        is_good = run_variants(run, is_loaded);
    }
    is_good = is_good && run->report.size == 0;
    grout_text_add_bytes(out, run->report.data, run->report.size);
    grout_text_free(&run->report);
    grout__free(run->first.items);
    grout_expect_list__deinit(&run->looked);
    free_sizes(run);
    grout_options__deinit(&run->session.options);
    grout_run_line__deinit(&run->line);
    grout_diags_free(run->session.diags);
    return is_good;
}

/* Every run line, until the time is over: what has ended them, if not the last one. */
static grout_cut run_lines(grout_session *session, const expect_run *each,
                           const grout_expect_lines *lines, grout_text *report, bool *is_good) {
    grout_expect_line none = {.text = (char *)""};
    const size_t count = lines->count > 0 ? lines->count : 1;
    grout_cut cut = GROUT_CUT_NONE;
    for (size_t i = 0; i < count && cut == GROUT_CUT_NONE; i++) {
        expect_run run = *each;
        bool is_as_expected =
            run_line(session, &run, lines->count > 0 ? &lines->items[i] : &none, report);
        *is_good = is_as_expected && *is_good;
        cut = run.is_cut_short                   ? GROUT_CUT_INTERRUPT
              : !is_as_expected || i + 1 < count ? grout_deadline__find_cut(session->deadline)
                                                 : GROUT_CUT_NONE;
    }
    return cut;
}

static int get_exit_code(grout_cut cut, bool is_good) {
    return cut == GROUT_CUT_INTERRUPT ? GROUT_EXIT_INTERRUPTED
           : cut != GROUT_CUT_NONE    ? GROUT_EXIT_INCOMPLETE
           : is_good                  ? GROUT_EXIT_OK
                                      : GROUT_EXIT_FINDING;
}

/* Says how the file did. The report is emptied. */
static void print_file(grout_session *session, const char *name, grout_cut cut, bool is_good,
                       grout_text *report) {
    if (cut != GROUT_CUT_NONE) {
        grout_session__print(session, GROUT_STREAM_OUT, "%s: incomplete: %s\n", name,
                             grout_cut_get_text(cut));
        grout_session__flush(session, GROUT_STREAM_OUT, report);
    } else if (!is_good) {
        grout_session__print(session, GROUT_STREAM_OUT, "%s: FAILED\n", name);
        grout_session__flush(session, GROUT_STREAM_OUT, report);
    } else if (!session->is_quiet) {
        grout_session__print(session, GROUT_STREAM_OUT, "%s: ok\n", name);
    }
    grout_text_free(report);
}

/* Returns the exit code of one file. */
static int run_file(grout_session *session, const grout_expect_variants *variants,
                    const char *path) {
    grout_expect_file file = {0};
    grout_text report = {0};
    bool is_good = true;
    grout_cut cut = GROUT_CUT_NONE;
    if (!grout_expect_file__read(session, path, &file)) {
        grout_expect_file__deinit(&file);
        return grout_session__get_exit_code(session);
    }
    if (file.expectations.faults.size > 0) {
        grout_text_add(&report, "  %s", file.expectations.faults.data);
        is_good = false;
    } else {
        const expect_run run = {.file = &file, .variants = variants};
        cut = run_lines(session, &run, &file.expectations.runs, &report, &is_good);
    }
    print_file(session, file.name, cut, is_good, &report);
    grout_expect_file__deinit(&file);
    return get_exit_code(cut, is_good);
}

static int get_worse(int a, int b) {
    return grout_exit_code_rank(a) >= grout_exit_code_rank(b) ? a : b;
}

int grout_expect__run(grout_session *session, const grout_expect_variants *variants) {
    const size_t count = session->options.argument_count;
    grout_cut cut = GROUT_CUT_NONE;
    int exit_code = GROUT_EXIT_OK;
    for (size_t i = 0; i < count && cut == GROUT_CUT_NONE; i++) {
        int code = run_file(session, variants, session->options.arguments[i]);
        exit_code = get_worse(exit_code, code);
        cut = i + 1 < count ? grout_deadline__find_cut(session->deadline) : GROUT_CUT_NONE;
        if (cut != GROUT_CUT_NONE) {
            grout_session__print(session, GROUT_STREAM_OUT, "%zu files not looked at: %s\n",
                                 count - i - 1, grout_cut_get_text(cut));
            exit_code = get_worse(exit_code, get_exit_code(cut, false));
        }
    }
    grout_session__print_diags(session, GROUT_STREAM_ERR);
    return exit_code;
}
