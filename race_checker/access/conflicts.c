/* conflicts.c - accesses into the shadow, and conflicts into findings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "access.h"
#include "box.h"
#include "cover.h"
#include "ledger.h"
#include "values.h"

#include <string.h>

_Static_assert(GROUT_CHOICE_SCOPE_CLUSTER - GROUT_CHOICE_SCOPE_CTA == GROUT_ENTRY_SCOPE_CLUSTER &&
                   GROUT_CHOICE_SCOPE_GPU - GROUT_CHOICE_SCOPE_CTA == GROUT_ENTRY_SCOPE_ALL,
               "scopes are recorded in the order of their table");

/* The access that is being looked at. */
typedef struct access_context {
    grout_checker *checker;
    const grout_event *event;
    grout_cta_state *owner; /* SMEM: of the CTA whose bytes they are; else of the actor's */
    grout_shadow *shadow;
    uint32_t plane;
    grout_rules rules;
} access_context;

static grout_box find_earlier_box(const access_context *context, const grout_entry *entry,
                                  const grout_rect *rect) {
    const grout_checker *checker = context->checker;
    /* A copy's operand names the array, and not the slot of its tensor map. */
    grout_object_id object = grout_rules__is_map_read(&context->rules, entry)
                                 ? context->event->u.access->object
                                 : grout_origin__find_object(checker->info.module, &entry->origin);
    grout_run run = grout_shadow__get_run(context->shadow, context->plane, rect);
    grout_box box = {.object = 0};
    if (object && checker->homes[object].plane != 0 &&
        grout_checker__get_plane(checker, object, entry->origin.thread) == context->plane) {
        run.base -= checker->homes[object].offset;
        box = grout_box__from_runs(checker->info.module, object, &run, 1);
    }
    return box;
}

static grout_box find_later_box(const access_context *context) {
    const grout_access *access = context->event->u.access;
    return grout_box__from_runs(context->checker->info.module, access->object, access->runs,
                                access->run_count);
}

static bool is_primary_later(const access_context *context, const grout_conflict *conflict,
                             const grout_entry *earlier, const grout_entry *later) {
    const grout_module *module = context->checker->info.module;
    if (conflict->primary != GROUT_PRIMARY_SOURCE) {
        return conflict->primary == GROUT_PRIMARY_LATER;
    }
    return grout_loc__compare(module, grout_origin__get_loc(module, &later->origin),
                              grout_origin__get_loc(module, &earlier->origin)) >= 0;
}

static grout_finding_key make_key(const access_context *context, const grout_conflict *conflict,
                                  const grout_side sides[2]) {
    const grout_module *module = context->checker->info.module;
    grout_finding_key key = {.code = conflict->code,
                             .severity = conflict->is_warning
                                             ? GROUT_SEVERITY_WARNING
                                             : grout_diag_get(conflict->code)->severity,
                             .primary = grout_origin__get_loc(module, &sides[0].origin),
                             .related = grout_origin__get_loc(module, &sides[1].origin)};
    return key;
}

/* What else the report may need, once for each pair. */
static void find_facts(const access_context *context, const grout_conflict *conflict,
                       const grout_entry *earlier, grout_facts *facts) {
    const grout_checker *checker = context->checker;
    const grout_clocks *clocks = context->event->clocks;
    const uint32_t *known = grout_clocks_find_known(clocks, earlier->cluster);
    uint32_t actor = grout_entry__get_actor(&checker->shape, earlier);
    facts->knows_issue =
        known && known[grout_clock_epoch(&checker->shape, actor)] >= earlier->epoch;
    if (conflict->is_idiom) {
        facts->near = (grout_near){.kind = GROUT_NEAR_COMMIT_OF_OTHERS};
        return;
    }
    facts->near = grout_near__find(checker, conflict->code, facts, clocks);
}

/* ---- two writes ---- */

/* Whether what an op writes is a value of its own, which memory shows: not a sum with what was
 * there, nor an answer of the launch, nor a tensor map, whose bytes nobody models. */
static bool leaves_value(const access_context *context, const grout_entry *write) {
    const grout_op *op = grout_module_get_op(context->checker->info.module, write->origin.op);
    switch (grout_op_get_info((grout_opcode)op->opcode)->effect_row) {
    case GROUT_EFFECT_ROW_STORE:
    case GROUT_EFFECT_ROW_COPY_IN:
    case GROUT_EFFECT_ROW_COPY_OUT:
    case GROUT_EFFECT_ROW_ASYNC_COPY:
    case GROUT_EFFECT_ROW_STORE_ASYNC:
    case GROUT_EFFECT_ROW_TMEM_STORE:
    case GROUT_EFFECT_ROW_TCGEN05_COPY:
        return true;
    default:
        return false;
    }
}

static bool is_of_writes(const access_context *context, const grout_conflict *conflict,
                         const grout_entry *earlier, const grout_entry *later) {
    return conflict->is_of_writes && leaves_value(context, earlier) && leaves_value(context, later);
}

static grout_bytes_place get_place(const access_context *context) {
    const grout_access *access = context->event->u.access;
    return (grout_bytes_place){
        .object = access->object,
        .owner = grout_space_is_of_launch(access->space) ? UINT32_MAX : context->rules.owner,
        .plane = context->plane,
        .pitch = context->shadow->planes[context->plane].pitch,
        .offset = context->checker->homes[access->object].offset};
}

/* Whether anybody asks about a finding of two writes. */
static bool is_asked(const access_context *context, const grout_finding_key *key) {
    const grout_values *values = context->checker->values;
    return values != NULL && grout_questions__find(&values->questions, key) != NULL;
}

/* Has the values of two writes compared; kept: what the earlier one left, plus 1, if known. */
static bool compare_writes(const access_context *context, const grout_finding_key *key,
                           const grout_entry *earlier, uint32_t kept, const grout_rect *rect) {
    const grout_write_pair pair = {
        .earlier = *earlier, .kept = kept, .place = get_place(context), .rect = *rect, .key = *key};
    return grout_values__add_pair(context->checker, context->event->step, &pair);
}

/* Notes what the finding is of. */
static bool note_writes(const access_context *context, grout_record *record,
                        const grout_finding_key *key, const grout_conflict *conflict,
                        const grout_entry *earlier, const grout_rect *rect) {
    if (!is_of_writes(context, conflict, earlier, &context->rules.entry)) {
        record->is_of_others = true;
        return true;
    }
    record->is_of_writes = true;
    return !is_asked(context, key) || compare_writes(context, key, earlier, 0, rect);
}

/* The part of a rectangle that another one has too. */
static grout_rect intersect(const grout_rect *a, const grout_rect *b) {
    return (grout_rect){.row = a->row > b->row ? a->row : b->row,
                        .row_end = a->row_end < b->row_end ? a->row_end : b->row_end,
                        .column = a->column > b->column ? a->column : b->column,
                        .column_end =
                            a->column_end < b->column_end ? a->column_end : b->column_end};
}

/* The write against one that the shadow has forgotten (of left, plus 1). *is_pair_out: they race,
 * and somebody asks about it. */
static bool compare_kept(const access_context *context, uint32_t number, const grout_rect *rect,
                         bool *is_pair_out) {
    const grout_left_bytes *kept = &context->checker->values->left.items[number - 1];
    const grout_rules *rules = &context->rules;
    const grout_rect part = intersect(rect, &kept->rect);
    grout_side sides[2];
    const grout_conflict conflict = grout_rules__judge(rules, &kept->write);
    if (!is_of_writes(context, &conflict, &kept->write, &rules->entry)) {
        return true;
    }
    const bool is_later = is_primary_later(context, &conflict, &kept->write, &rules->entry);
    sides[is_later ? 0 : 1] = grout_entry__describe(&rules->entry);
    sides[is_later ? 1 : 0] = grout_entry__describe(&kept->write);
    const grout_finding_key key = make_key(context, &conflict, sides);
    *is_pair_out = is_asked(context, &key);
    return !*is_pair_out || compare_writes(context, &key, &kept->write, number, &part);
}

/* The write against those that left the same bytes. Where one finding alone may come of it, the
 * first of them that is in conflict says all. */
static bool compare_with_group(const access_context *context, const grout_left_group *group,
                               const grout_rect *rect) {
    const grout_module *module = context->checker->info.module;
    const grout_values *values = context->checker->values;
    const grout_left_bytes *newest = &values->left.items[group->newest - 1];
    const uint32_t open_count = grout_questions__count_open(
        &values->questions, grout_origin__get_loc(module, &context->rules.entry.origin),
        grout_origin__get_loc(module, &newest->write.origin));
    bool is_over =
        open_count == 0 || (newest->is_read && grout_space_is_of_cta(context->rules.space));
    for (uint32_t i = group->newest; i != 0 && !is_over; i = values->left.items[i - 1].next) {
        bool is_pair = false;
        if (!compare_kept(context, i, rect, &is_pair)) {
            return false;
        }
        is_over = is_pair && open_count == 1;
    }
    return true;
}

static bool compare_with_kept(const access_context *context, const grout_rect *rect) {
    const grout_values *values = context->checker->values;
    const grout_bytes_place at = get_place(context);
    const grout_place_of_rect place = {at.owner, at.plane, *rect};
    if (!grout_values__find_groups(context->checker, context->event->origin.op, &place)) {
        return false;
    }
    for (size_t i = 0; i < values->places.met.count; i++) {
        if (!compare_with_group(context, &values->groups.items[values->places.met.items[i]],
                                rect)) {
            return false;
        }
    }
    return true;
}

/* Whether nobody will ask for the bytes that are about to be overwritten: the next write comes
 * after them, and a reader vouches for them (compare_kept). */
static bool is_settled(const access_context *context, const grout_region *region, bool is_read) {
    return is_read && grout_space_is_of_cta(context->rules.space) &&
           grout_rules__is_ordered(&context->rules, &region->write);
}

/* The visitor where values are compared: what is about to be overwritten is kept, and the write
 * compared with what was. */
static bool visit_keeping(void *payload, grout_shadow *shadow, grout_region *region,
                          const grout_rect *rect) {
    const access_context *context = payload;
    const grout_bytes_place place = get_place(context);
    const bool is_write =
        context->event->u.access->is_write && !grout_space_is_of_thread(context->rules.space);
    const bool is_read = region->reader_count - region->gone_count > region->open_count;
    if (is_write && region->write.flags & GROUT_ENTRY_PRESENT &&
        !is_settled(context, region, is_read) &&
        !grout_values__keep(context->checker, &region->write, is_read, &place, rect)) {
        return false;
    }
    if (is_write && grout_values__ask(context->checker, context->event->origin.op) &&
        !compare_with_kept(context, rect)) {
        return false;
    }
    return grout_rules__visit((void *)&context->rules, shadow, region, rect);
}

/* ---- findings ---- */

static bool report_conflict(void *payload, const grout_conflict *conflict,
                            const grout_entry *earlier, const grout_entry *later,
                            const grout_rect *rect) {
    access_context *context = payload;
    grout_checker *checker = context->checker;
    uint32_t late = is_primary_later(context, conflict, earlier, later) ? 0 : 1;
    grout_facts facts = {
        .side_count = 2, .primary_is_earlier = late == 1, .owner = context->rules.owner};
    const grout_side *const sides[2] = {&facts.sides[0], &facts.sides[1]};
    grout_occurrence occurrence = {&facts.sides[0].origin, &facts.sides[1].origin, false};
    grout_finding_key key;
    grout_record *record = NULL;
    bool is_about_wgmma = grout_code__is_about_wgmma(conflict->code);
    bool wants_facts = false, is_new = false;
    facts.sides[late] = grout_entry__describe(later);
    facts.sides[1 - late] = grout_entry__describe(earlier);
    key = make_key(context, conflict, facts.sides);
    if (!grout_pairs__add(&checker->pairs, context->event->step, &key, sides, &is_new)) {
        return grout_checker__fail(checker);
    }
    occurrence.is_repeat = !is_new;
    record = grout_findings__add(&checker->memory.findings, &key, &occurrence, &wants_facts);
    if (!record) {
        return grout_checker__fail(checker);
    }
    if (!note_writes(context, record, &key, conflict, earlier, rect)) {
        return false;
    }
    if (!is_new && !wants_facts) {
        facts.sides[1 - late].box = find_earlier_box(context, earlier, rect);
        grout_record__widen(record, facts.sides, 1 - late);
        return true;
    }
    if (!wants_facts && !grout_code__has_cover(conflict->code)) {
        return true;
    }
    find_facts(context, conflict, earlier, &facts);
    if (is_about_wgmma) {
        grout_checker__note_reported(checker, &facts);
    }
    if (grout_code__has_cover(conflict->code)) {
        grout_cover__add(&record->cover, record->count == 1, &facts);
    }
    if (wants_facts) {
        facts.sides[late].box = find_later_box(context);
        facts.sides[1 - late].box = find_earlier_box(context, earlier, rect);
        record->facts = facts;
    }
    return true;
}

/*
 * How many barriers of its cluster the reading actor knows a phase of. Barriers of which it knew
 * none at its last read, and does now, are marked with the new number.
 */
static uint16_t count_told(const access_context *context, grout_cta_state *reader) {
    const grout_checker *checker = context->checker;
    const grout_clock_shape *shape = &checker->shape;
    const grout_event *event = context->event;
    uint32_t actor = grout_checker__get_local(checker, &event->origin);
    uint32_t barriers = shape->barrier_count;
    grout_thread_history *thread = &reader->notes.threads[actor];
    uint16_t *since = &reader->facts.told_since[(size_t)actor * barriers];
    const uint32_t *phases = &event->clocks->known[grout_clock_phase(shape, 0)];
    uint16_t told = thread->told;
    for (uint32_t i = 0; i < barriers; i++) {
        told = (uint16_t)(told + (phases[i] > 0 && since[i] == 0));
    }
    for (uint32_t i = 0; told > thread->told && i < barriers; i++) {
        since[i] = phases[i] > 0 && since[i] == 0 ? told : since[i];
    }
    thread->told = told;
    return told;
}

static const uint16_t *find_told_since(void *payload, uint32_t cta) {
    const access_context *context = payload;
    const grout_cta_state *state = grout_checker__get_cta(context->checker, cta);
    return state == NULL ? NULL : state->facts.told_since;
}

static bool is_write_lost(void *payload, const grout_entry *copy) {
    const access_context *context = payload;
    return grout_checker__is_write_lost(context->checker, copy, context->event->clocks);
}

static bool is_fenced_by_own(void *payload, const grout_entry *access, uint32_t number) {
    const access_context *context = payload;
    return grout_checker__is_fenced_by_own(context->checker, &context->rules, access, number);
}

static grout_entry make_entry(const grout_checker *checker, const grout_event *event) {
    const grout_access *access = event->u.access;
    uint32_t actor = grout_checker__get_actor(checker, &event->origin);
    grout_entry entry = {.cluster = access->stamp.cluster,
                         .number = access->stamp.number,
                         .component = access->stamp.component,
                         .epoch = event->clocks->known[grout_clock_epoch(&checker->shape, actor)],
                         .origin = event->origin};
    entry.flags = grout_entry__make_flags(access->stamp.agent, access->is_write, access->is_atomic);
    if (grout_space_needs_tensor_order(access->space) && access->run_count > 0) {
        const int64_t first = (int64_t)checker->homes[access->object].offset + access->runs[0].base;
        entry.told = (uint16_t)(first / 2); /* rows are shorter */
    }
    entry.atomicity = grout_access__get_atomicity(access);
    return entry;
}

/* An access of memory of a CTA that is gone. */
static bool access_ended(const access_context *context) {
    grout_side side = grout_entry__describe(&context->rules.entry);
    side.box = find_later_box(context);
    return grout_checker__report_exit(context->checker, context->event, &side);
}

static void set_rules(access_context *context) {
    const grout_checker *checker = context->checker;
    const grout_access *access = context->event->u.access;
    grout_rules *rules = &context->rules;
    rules->shape = &checker->shape;
    rules->clocks = context->event->clocks;
    rules->space = access->space;
    rules->owner =
        grout_space_is_of_cta(access->space) ? access->owner : context->event->origin.cta;
    rules->ended_ctas = checker->info.has_foreign_order ? NULL : checker->run.ended_ctas;
    rules->ended_words = checker->run.ended_words;
    rules->wgmma_shapes = checker->wgmma_shapes;
    rules->find_told_since = find_told_since;
    rules->is_write_lost = is_write_lost;
    rules->is_fenced_by_own = checker->strict_fences ? is_fenced_by_own : NULL;
    rules->report = report_conflict;
    rules->payload = context;
    rules->entry = make_entry(checker, context->event);
}

/* The state of the CTA whose memory it is. It may be new, and then others have moved. */
static grout_cta_state *find_owner(access_context *context) {
    grout_checker *checker = context->checker;
    const uint32_t owner = context->rules.owner;
    context->owner = grout_checker__find_cta(checker, owner);
    if (context->owner != NULL && context->event->origin.cta != owner) {
        (void)grout_checker__find_cta(checker, context->event->origin.cta);
        context->owner = grout_checker__find_cta(checker, owner);
    }
    return context->owner;
}

/* What the reading actor knows of the barriers of its cluster. */
static void note_reader(access_context *context) {
    if (grout_rules__is_consumption(&context->rules)) {
        grout_cta_state *reader =
            grout_checker__find_cta(context->checker, context->event->origin.cta);
        context->rules.entry.told = reader == NULL ? 0 : count_told(context, reader);
    }
}

bool grout_checker__access(grout_checker *checker, const grout_event *event) {
    const grout_access *access = event->u.access;
    const grout_home *home = &checker->homes[access->object];
    access_context context = {.checker = checker, .event = event};
    const grout_visitor plain = {grout_rules__visit, &context.rules};
    const grout_visitor keeping = {visit_keeping, &context};
    checker->run.accesses++;
    if (checker->info.earlier_count > 0 && !grout_checker__compare_grids(checker, event)) {
        return grout_checker__fail(checker);
    }
    if (!home->plane || !event->clocks) {
        return true; /* an 'in' array: nobody writes it */
    }
    set_rules(&context);
    if (!find_owner(&context)) {
        return !checker->has_failed && access_ended(&context);
    }
    context.shadow =
        grout_space_is_of_launch(access->space) ? &checker->memory.gmem : &context.owner->local;
    if (!grout_checker__compare_columns(checker, access, &context.rules, context.owner,
                                        &context.plane)) {
        return checker->has_failed ? false : grout_checker__fail(checker);
    }
    context.plane = grout_checker__get_plane(checker, access->object, event->origin.thread);
    note_reader(&context);
    if (!grout_shadow__access(context.shadow, context.plane, home->offset, access,
                              checker->values ? &keeping : &plain)) {
        return checker->has_failed ? false : grout_checker__fail(checker);
    }
    return true;
}
