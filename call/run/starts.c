/* starts.c - the states in which a launch of a list may begin.
 * SPDX-License-Identifier: Apache-2.0 */
#include "starts.h"

#include "alloc.h"
#include "array.h"
#include "invariant.h"

#include <stdlib.h>
#include <string.h>

enum { STARTS_MAX = 64, SCHEDULES_MAX = 20000, BYTES_MAX = 1 << 28 };

/* An array of the list. */
typedef struct listed {
    void *data;
    size_t size;
    void *initial; /* before any launch */
} listed;

/* A launch that has begun. */
typedef struct frame {
    grout_kernel_id kernel;
    grout_argument_set arguments; /* borrowed data */
    grout_launch_settings settings;
    const grout_array_past *pasts;
    bool is_first;            /* they are those of its first schedule */
    grout_decisions reported; /* the schedule whose results the arrays hold */
} frame;

typedef GROUT_ARRAY(grout_start) start_list;

struct grout_starts {
    grout_session *session;
    const grout_load *load;
    GROUT_ARRAY(listed) arrays;
    GROUT_ARRAY(frame) frames;  /* launch k is frames[k - 1] */
    start_list starts;          /* of the launch at hand, while it is explored */
    GROUT_ARRAY(size_t) chosen; /* by witness of it: its start, plus 1 */
    /* while the outcomes of a launch are collected */
    start_list *ends;
    const grout_start *from;
    size_t at; /* its frame */
    bool is_whole;
    bool is_interleaved; /* whole as far as interleavings go */
    uint64_t schedules;
    grout_progress_line line;
};

/* ---- starts --------------------------------------------------------------------------------- */

static void deinit_start(grout_start *start) {
    for (size_t i = 0; start->contents != NULL && i < start->count; i++) {
        free(start->contents[i]);
    }
    for (size_t i = 0; start->path != NULL && i <= GROUT_LAUNCHES_MAX; i++) {
        grout_decisions_deinit(&start->path[i]);
    }
    free(start->contents);
    free(start->path);
    grout_past_free(start->past);
    *start = (grout_start){0};
}

static void free_starts(start_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        deinit_start(&list->items[i]);
    }
    grout__free(list->items);
    *list = (start_list){0};
}

static bool copy_decisions(grout_decisions *copy, const grout_decisions *from) {
    const size_t size = from->count * sizeof *copy->actors;
    *copy = (grout_decisions){.count = from->count, .capacity = from->count};
    copy->actors = from->count == 0 ? NULL : grout__resize(NULL, NULL, size);
    if (copy->actors != NULL) {
        memcpy(copy->actors, from->actors, size);
    }
    return from->count == 0 || copy->actors != NULL;
}

/* What the arrays hold now, or held before any launch. Takes over the past. */
static bool make_start(const grout_starts *it, bool is_initial, grout_past *past,
                       grout_start *out) {
    *out = (grout_start){.count = it->arrays.count, .past = past};
    out->contents = calloc(out->count + 1, sizeof *out->contents);
    out->path = calloc(GROUT_LAUNCHES_MAX + 1, sizeof *out->path);
    bool is_good = out->contents != NULL && out->path != NULL && past != NULL;
    for (size_t i = 0; is_good && i < out->count; i++) {
        const listed *array = &it->arrays.items[i];
        out->contents[i] = malloc(array->size + 1);
        is_good = out->contents[i] != NULL;
        if (is_good) {
            memcpy(out->contents[i], is_initial ? array->initial : array->data, array->size);
        }
    }
    return is_good;
}

static void load_start(const grout_starts *it, const grout_start *start) {
    for (size_t i = 0; i < start->count; i++) {
        memcpy(it->arrays.items[i].data, start->contents[i], it->arrays.items[i].size);
    }
}

static bool holds_same(const grout_starts *it, const grout_start *a, const grout_start *b) {
    bool are_same = grout_past_is_equal(a->past, b->past);
    for (size_t i = 0; are_same && i < it->arrays.count; i++) {
        are_same = memcmp(a->contents[i], b->contents[i], it->arrays.items[i].size) == 0;
    }
    return are_same;
}

/* Takes it over, unless there is one like it. */
static bool add_start(const grout_starts *it, start_list *list, grout_start *start) {
    for (size_t i = 0; i < list->count; i++) {
        if (holds_same(it, &list->items[i], start)) {
            deinit_start(start);
            return true;
        }
    }
    if (!GROUT_ARRAY_RESERVE(list, NULL, 1)) {
        return false;
    }
    list->items[list->count++] = *start;
    *start = (grout_start){0};
    return true;
}

/* ---- life ----------------------------------------------------------------------------------- */

grout_starts *grout_starts__new(grout_session *session, const grout_load *load) {
    grout_starts *starts = calloc(1, sizeof *starts);
    if (starts == NULL) {
        (void)grout_diags_add_oom(session->diags);
        return NULL;
    }
    starts->session = session;
    starts->load = load;
    return starts;
}

void grout_starts__free(grout_starts *it) {
    if (it == NULL) {
        return;
    }
    for (size_t i = 0; i < it->arrays.count; i++) {
        free(it->arrays.items[i].initial);
    }
    for (size_t i = 0; i < it->frames.count; i++) {
        free(it->frames.items[i].arguments.arguments);
        grout_decisions_deinit(&it->frames.items[i].reported);
    }
    free_starts(&it->starts);
    grout__free(it->arrays.items);
    grout__free(it->frames.items);
    grout__free(it->chosen.items);
    free(it);
}

bool grout_starts__add_array(grout_starts *it, void *data, size_t size) {
    if (!GROUT_ARRAY_RESERVE(&it->arrays, NULL, 1)) {
        return false;
    }
    listed *array = &it->arrays.items[it->arrays.count++];
    *array = (listed){.data = data, .size = size, .initial = malloc(size + 1)};
    if (array->initial != NULL) {
        memcpy(array->initial, data, size);
    }
    return array->initial != NULL;
}

bool grout_starts__begin(grout_starts *it, grout_kernel_id kernel,
                         const grout_argument_set *arguments,
                         const grout_launch_settings *settings) {
    free_starts(&it->starts);
    it->chosen.count = 0;
    if (!GROUT_ARRAY_RESERVE(&it->frames, NULL, 1)) {
        return false;
    }
    frame *of = &it->frames.items[it->frames.count++];
    const size_t size = (arguments->count + 1) * sizeof *arguments->arguments;
    *of = (frame){.kernel = kernel, .settings = *settings, .pasts = settings->pasts};
    of->arguments = (grout_argument_set){
        .arguments = malloc(size), .count = arguments->count, .bytes = arguments->bytes};
    of->settings.starts = NULL;
    of->settings.reach = NULL;
    of->settings.record = NULL;
    of->settings.past = NULL;
    of->settings.pasts = NULL;
    of->settings.is_silent = true;
    if (of->arguments.arguments != NULL && arguments->count > 0) {
        memcpy(of->arguments.arguments, arguments->arguments,
               arguments->count * sizeof *arguments->arguments);
    }
    return of->arguments.arguments != NULL;
}

/* ---- what a launch may leave ---------------------------------------------------------------- */

static size_t get_bytes(const grout_starts *it) {
    size_t bytes = 0;
    for (size_t i = 0; i < it->arrays.count; i++) {
        bytes += it->arrays.items[i].size;
    }
    return bytes;
}

static bool keep_outcome(void *payload, const grout_launch *launch, const grout_machine *machine,
                         const grout_decisions *decisions) {
    grout_starts *it = payload;
    grout_start end = {0};
    grout_past *past = grout_past_copy(it->from->past, it->session->diags);
    bool is_good = past != NULL && grout_past_end(past, launch, machine, NULL, it->session->diags);
    if (it->ends->count >= STARTS_MAX ||
        (it->ends->count + 1) * get_bytes(it) > (size_t)BYTES_MAX) {
        it->is_whole = false;
        grout_past_free(past);
        return is_good;
    }
    is_good = make_start(it, false, past, &end) && is_good;
    for (size_t i = 1; is_good && i <= it->at; i++) {
        is_good = copy_decisions(&end.path[i], &it->from->path[i]);
    }
    is_good = is_good && copy_decisions(&end.path[it->at + 1], decisions) &&
              add_start(it, it->ends, &end);
    deinit_start(&end);
    return is_good;
}

static bool goes_on(void *payload, uint64_t schedules) {
    grout_starts *it = payload;
    (void)schedules;
    it->schedules++;
    return it->is_whole && it->schedules < SCHEDULES_MAX && grout_progress_line__goes_on(&it->line);
}

/* What a launch leaves if it begins in a state, under all its schedules. */
static bool collect_from(grout_starts *it, size_t at, const grout_start *from, start_list *ends) {
    const frame *of = &it->frames.items[at];
    grout_launch_callbacks payload;
    grout_exploration exploration = {0};
    load_start(it, from);
    grout_launch launch = grout_launch__prepare(it->session, it->load, of->kernel, &of->arguments,
                                                &of->settings, &payload);
    const grout_explore_options options = {
        .max_findings = UINT32_MAX, .goes_on = goes_on, .outcome = keep_outcome, .payload = it};
    it->from = from;
    it->at = at;
    it->ends = ends;
    launch.print = NULL;
    bool is_good = grout_past_begin(from->past, &launch, it->session->diags) &&
                   grout_explore(&launch, &options, &exploration, it->session->diags);
    it->is_whole &= is_good && exploration.is_complete && exploration.failing == 0;
    it->is_interleaved |= exploration.is_interleaved;
    grout_exploration_deinit(&exploration);
    return is_good;
}

/* All states in which launch 'at' (from 0) may begin. */
static bool collect(grout_starts *it, size_t at, start_list *out) {
    start_list from = {0};
    grout_start first = {0};
    if (at == 0) {
        grout_past *past = grout_past_new(NULL, it->session->diags);
        bool is_good = make_start(it, true, past, &first) && add_start(it, out, &first);
        deinit_start(&first);
        return is_good;
    }
    bool is_good = collect(it, at - 1, &from);
    for (size_t i = 0; is_good && i < from.count; i++) {
        is_good = collect_from(it, at - 1, &from.items[i], out);
    }
    free_starts(&from);
    return is_good;
}

/* ---- the launch at hand --------------------------------------------------------------------- */

static bool has_finding(const grout_exploration *all, uint64_t identity) {
    for (uint32_t i = 0; i < all->witness_count; i++) {
        const grout_checker *checker = all->witnesses[i].checker;
        for (uint32_t k = 0; k < grout_checker_get_count(checker); k++) {
            if (grout_checker_get_finding(checker, k)->identity == identity) {
                return true;
            }
        }
    }
    return false;
}

static bool is_new(const grout_exploration *all, const grout_witness *witness) {
    for (uint32_t k = 0; k < grout_checker_get_count(witness->checker); k++) {
        if (!has_finding(all, grout_checker_get_finding(witness->checker, k)->identity)) {
            return true;
        }
    }
    return false;
}

/* Moves a witness over. */
static bool add_witness(grout_starts *it, grout_exploration *all, grout_witness *witness,
                        size_t start) {
    grout_witness *witnesses =
        grout__resize(NULL, all->witnesses, (all->witness_count + 1) * sizeof *witnesses);
    if (witnesses == NULL || !GROUT_ARRAY_RESERVE(&it->chosen, NULL, all->witness_count + 1)) {
        all->witnesses = witnesses == NULL ? all->witnesses : witnesses;
        return false;
    }
    while (it->chosen.count < all->witness_count) {
        it->chosen.items[it->chosen.count++] = 0;
    }
    it->chosen.items[it->chosen.count++] = start + 1;
    all->witnesses = witnesses;
    all->witnesses[all->witness_count++] = *witness;
    *witness = (grout_witness){0};
    return true;
}

static bool merge(grout_starts *it, grout_exploration *all, grout_exploration *part, size_t start) {
    bool is_good = true;
    all->schedules += part->schedules;
    all->failing += part->failing;
    all->states += part->states;
    all->left += part->left;
    all->is_interleaved |= part->is_interleaved;
    if (!part->is_complete && all->is_complete) {
        all->is_complete = false;
        all->why_open = part->why_open;
    }
    for (uint32_t i = 0; is_good && i < part->witness_count; i++) {
        if (is_new(all, &part->witnesses[i])) {
            is_good = add_witness(it, all, &part->witnesses[i], start);
        }
    }
    return is_good;
}

static bool explore_from(grout_starts *it, size_t start, grout_exploration *all) {
    const frame *of = &it->frames.items[it->frames.count - 1];
    const grout_start *from = &it->starts.items[start];
    grout_launch_settings settings = of->settings;
    grout_launch launch = {.arguments = of->arguments.arguments,
                           .argument_count = of->arguments.count};
    grout_explored part = {0};
    load_start(it, from);
    bool is_good = grout_past_begin(from->past, &launch, it->session->diags);
    settings.pasts = launch.pasts;
    is_good = is_good &&
              grout_launch__explore(it->session, it->load, of->kernel, &of->arguments, &settings,
                                    &part) &&
              merge(it, all, &part.exploration, start);
    grout_explored__deinit(&part);
    return is_good;
}

static bool is_open(const grout_starts *it, const char **why_out) {
    *why_out = "not all that the launches before it may leave was tried";
    for (size_t i = 0; i < it->frames.count; i++) {
        if (it->frames.items[i].settings.earlier_count > 0) {
            return true; /* grids that overlap: there are more orders than those of launches */
        }
    }
    return false;
}

/* Whether the arrays were as the first schedule of each launch leaves them: the first start. */
static bool is_first(const grout_starts *it) {
    bool is_so = true;
    for (size_t i = 0; i + 1 < it->frames.count; i++) {
        is_so = is_so && it->frames.items[i].is_first;
    }
    return is_so;
}

static bool explore_all(grout_starts *it, grout_exploration *all) {
    it->is_whole = true;
    it->is_interleaved = false;
    it->schedules = 0;
    grout_progress_line__init(&it->line, it->session);
    grout_progress_line__use_budget(&it->line);
    bool is_good = collect(it, it->frames.count - 1, &it->starts);
    for (size_t i = is_first(it) ? 1 : 0; is_good && i < it->starts.count; i++) {
        is_good = explore_from(it, i, all);
    }
    all->is_interleaved |= it->is_interleaved;
    return is_good;
}

static void keep_reported(grout_starts *it, const grout_exploration *exploration) {
    frame *of = &it->frames.items[it->frames.count - 1];
    of->is_first = exploration->witness_count == 1;
    if (exploration->witness_count > 0) {
        (void)copy_decisions(&of->reported,
                             &exploration->witnesses[exploration->witness_count - 1].decisions);
    }
}

bool grout_starts__explore(grout_starts *it, grout_explored *explored) {
    grout_exploration *all = &explored->exploration;
    const frame *of = &it->frames.items[it->frames.count - 1];
    const char *why = NULL;
    const grout_launch launch = {.module = it->load->bound,
                                 .kernel = of->kernel,
                                 .argument_count = of->arguments.count,
                                 .pasts = of->pasts};
    grout_start now = {0};
    keep_reported(it, all);
    if (all->is_certified || !grout_past_has_chance(&launch)) {
        return true;
    }
    bool is_good = is_open(it, &why);
    if (!is_good) {
        grout_past *none = grout_past_new(NULL, it->session->diags);
        is_good = make_start(it, false, none, &now) && explore_all(it, all);
        load_start(it, &now);
        deinit_start(&now);
    } else {
        it->is_whole = false;
    }
    if (!it->is_whole && all->is_complete) {
        all->is_complete = false;
        all->why_open = why;
    }
    return is_good;
}

const grout_decisions *grout_starts__get_decisions(const grout_starts *it, uint32_t witness,
                                                   grout_launch_id launch) {
    const size_t chosen = witness < it->chosen.count ? it->chosen.items[witness] : 0;
    GROUT_ASSERT(launch > 0 && launch < it->frames.count);
    return chosen == 0 ? &it->frames.items[launch - 1].reported
                       : &it->starts.items[chosen - 1].path[launch];
}
