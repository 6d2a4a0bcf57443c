/*
 * grids.c - accesses of launches that may run beside each other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A dependent launch begins before the one before it has ended. Two things order accesses of the
 * one before those of the other: a griddepcontrol_wait, by the end of the whole grid, with all its
 * accesses and through every proxy; and a griddepcontrol_launch_dependents with order(release), for
 * what was done before it.
 */
#include "access.h"
#include "box.h"
#include "ledger.h"

typedef struct grids_context {
    grout_checker *checker;
    const grout_event *event;
    const grout_earlier_launch *earlier;
    uint32_t param; /* of the earlier launch */
    uint8_t part;   /* of it, which the access may go by: grout_earlier_part */
    grout_entry entry;
} grids_context;

/* What two accesses of two grids are to each other, where nothing orders them. */
typedef enum meeting {
    MEETING_NONE,    /* two reads */
    MEETING_ATOMICS, /* they need no order: which comes first is chance */
    MEETING_PROXIES, /* the same through two proxies: rules.c, judge_proxies */
    MEETING_CONFLICT
} meeting;

/* No scope but the whole GPU holds a thread of another grid. */
static bool holds_grids(const grout_entry *entry) {
    return grout_entry__get_scope(entry->atomicity) >= GROUT_ENTRY_SCOPE_ALL;
}

static meeting find_meeting(const grout_entry *a, const grout_entry *b) {
    const bool are_alike =
        (a->flags & b->flags & GROUT_ENTRY_ATOMIC) != 0 &&
        grout_entry__get_width(a->atomicity) == grout_entry__get_width(b->atomicity) &&
        holds_grids(a) && holds_grids(b);
    if (((a->flags | b->flags) & GROUT_ENTRY_WRITE) == 0) {
        return MEETING_NONE;
    }
    return !are_alike                                         ? MEETING_CONFLICT
           : ((a->flags ^ b->flags) & GROUT_ENTRY_ASYNC) != 0 ? MEETING_PROXIES
                                                              : MEETING_ATOMICS;
}

/* The first griddepcontrol_wait of the kernel; 0: it has none. */
static grout_op_id find_wait(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        if (sync != NULL && sync->object == GROUT_SYNC_OBJECT_GRIDS &&
            sync->mode == GROUT_SYNC_MODE_WAITS &&
            grout_module_get_block(module, op->parent)->kernel == checker->info.kernel) {
            return id;
        }
    }
    return 0;
}

static grout_near find_near(const grids_context *context) {
    const grout_checker *checker = context->checker;
    grout_near near = {.kind = GROUT_NEAR_GRID_NEVER};
    near.origin.op = find_wait(checker);
    if (near.origin.op != 0) {
        near.kind = grout_clocks_know_grid(context->event->clocks, &checker->shape)
                        ? GROUT_NEAR_GRID_FURTHER
                        : GROUT_NEAR_GRID_LATE;
    }
    return near;
}

/* Its stamp is one of the other launch's clocks, which nobody may ask: only what made it counts. */
static grout_side describe_earlier(const grids_context *context, const grout_entry *entry,
                                   const grout_rect *rect) {
    const grout_checker *checker = context->checker;
    grout_side side = grout_entry__describe(entry);
    const grout_run run =
        grout_shadow__get_run(&context->earlier->ledger->shadow, context->param, rect);
    grout_object_id object = grout_origin__find_object(checker->info.module, &entry->origin);
    side.stamp.component = side.stamp.agent == GROUT_AGENT_GENERIC_ENGINE
                               ? grout_clock_async_copy(&checker->shape, 0)
                               : 0;
    side.box = grout_box__from_runs(checker->info.module, object, &run, 1);
    return side;
}

/* The write is primary; of two, the one that comes later in the source. */
static bool is_later_primary(const grids_context *context, const grout_side *earlier,
                             const grout_side *later) {
    const grout_module *module = context->checker->info.module;
    if (earlier->is_write != later->is_write) {
        return later->is_write;
    }
    return grout_loc__compare(module, grout_origin__get_loc(module, &later->origin),
                              grout_origin__get_loc(module, &earlier->origin)) >= 0;
}

static bool report(const grids_context *context, const grout_conflict *conflict,
                   const grout_entry *entry, const grout_rect *rect) {
    grout_checker *checker = context->checker;
    const grout_module *module = checker->info.module;
    const grout_access *access = context->event->u.access;
    grout_side earlier = describe_earlier(context, entry, rect);
    grout_side later = grout_entry__describe(&context->entry);
    later.box = grout_box__from_runs(module, access->object, access->runs, access->run_count);
    const bool is_race = conflict->code == GROUT_DIAG_GMEM_RACE;
    const bool is_reversed = is_race && !is_later_primary(context, &earlier, &later);
    grout_facts facts = {.side_count = 2,
                         .primary_is_earlier = is_reversed,
                         .owner = context->event->origin.cta,
                         .near = is_race ? find_near(context)
                                         : (grout_near){.kind = GROUT_NEAR_GRID_UNFENCED}};
    facts.sides[0] = is_reversed ? earlier : later;
    facts.sides[1] = is_reversed ? later : earlier;
    const grout_side *const sides[2] = {&facts.sides[0], &facts.sides[1]};
    const grout_finding_key key = {
        .code = conflict->code,
        .severity = conflict->is_warning ? GROUT_SEVERITY_WARNING
                                         : grout_diag_get(conflict->code)->severity,
        .primary = grout_origin__get_loc(module, &facts.sides[0].origin),
        .related = grout_origin__get_loc(module, &facts.sides[1].origin)};
    bool is_new = false, wants_facts = false;
    if (!grout_pairs__add(&checker->pairs, context->event->step, &key, sides, &is_new)) {
        return false;
    }
    const grout_occurrence occurrence = {&facts.sides[0].origin, &facts.sides[1].origin, !is_new};
    grout_record *record =
        grout_findings__add(&checker->memory.findings, &key, &occurrence, &wants_facts);
    if (record != NULL) {
        record->is_of_others = true; /* what the earlier launch left is not there any more */
    }
    if (record != NULL && wants_facts) {
        record->facts = facts;
    } else if (record != NULL && !is_new) {
        grout_record__widen(record, facts.sides, is_reversed ? 0 : 1);
    }
    return record != NULL;
}

/* ---- what was released ------------------------------------------------------------------------
 */

/* Whether a commit_gmem of its own CTA lies between the start of this grid and the access. */
static bool is_fenced(const grids_context *context) {
    const grout_clock_shape *shape = &context->checker->shape;
    const grout_clocks *clocks = context->event->clocks;
    const uint32_t *fenced =
        clocks->fenced_gmem != NULL ? clocks->fenced_gmem : clocks->published_gmem;
    for (uint32_t i = 0; i < shape->actor_count; i++) {
        if (fenced[grout_clock_released(shape, i)] > 0) {
            return true;
        }
    }
    return false;
}

/* What the actor may go by of the earlier launch: a grout_earlier_part. */
static uint8_t get_part(const grids_context *context) {
    const grout_earlier_launch *earlier = context->earlier;
    const bool knows_wait =
        grout_clocks_know_grid(context->event->clocks, &context->checker->shape);
    return knows_wait && earlier->by_wait > earlier->at_start ? earlier->by_wait
                                                              : earlier->at_start;
}

/* Whether the access comes after the other grid's. */
static bool is_released(const grids_context *context, const grout_entry *entry) {
    return context->part >= GROUT_EARLIER_ALL ||
           (context->part == GROUT_EARLIER_RELEASED &&
            grout_ledger__is_released(context->earlier->ledger, entry));
}

/* Only asked for is whether somebody has it. */
static bool has_own_fences(void *payload, const grout_entry *access, uint32_t number) {
    (void)payload;
    (void)access;
    (void)number;
    return true;
}

/* The two, with what this grid knows of the other one at its start, and a fence of its own. No CTA
 * and no cluster of the two is the same. */
static grout_conflict judge_released(const grids_context *context, const grout_entry *entry) {
    const grout_releases *releases = &context->earlier->ledger->releases;
    const bool is_over = context->part >= GROUT_EARLIER_ALL;
    const uint32_t *known =
        is_over ? releases->all : grout_releases__find(releases, entry->cluster);
    const uint32_t *published = is_over ? known : known + grout_clock_size(&releases->shape);
    const grout_clocks clocks = {
        .cluster = entry->cluster,
        .known = known,
        .published_gmem = is_fenced(context) ? known : published,
        .fenced_gmem = is_fenced(context) ? known : releases->nothing,
    };
    grout_rules rules = {.shape = &releases->shape,
                         .clocks = &clocks,
                         .space = context->event->u.access->space,
                         .is_fenced_by_own =
                             context->checker->strict_fences ? has_own_fences : NULL,
                         .entry = context->entry};
    rules.entry.origin.cta = UINT32_MAX;
    rules.entry.cluster = UINT32_MAX;
    return grout_rules__judge(&rules, entry);
}

/* ---- meetings ---------------------------------------------------------------------------------
 */

/* The atomic of the other grid, for what the array holds in the end. */
static void note_atomic(const grids_context *context, const grout_entry *entry) {
    grout_checker *checker = context->checker;
    const grout_module *module = checker->info.module;
    const grout_op *op = grout_module_get_op(module, entry->origin.op);
    checker->run.grid_updates[context->event->u.access->object] |=
        1u << grout_op_get_update(module, op);
}

/* What is wrong between the two; is_chance_out: both are atomics, and either may come first. */
static grout_conflict judge(const grids_context *context, const grout_entry *entry,
                            bool *is_chance_out) {
    const meeting kind = find_meeting(entry, &context->entry);
    grout_conflict conflict = {.code = GROUT_DIAG_NONE};
    *is_chance_out = false;
    if (kind == MEETING_NONE) {
        return conflict;
    }
    if (is_released(context, entry)) {
        return judge_released(context, entry);
    }
    *is_chance_out = kind != MEETING_CONFLICT;
    conflict.code = kind == MEETING_ATOMICS ? GROUT_DIAG_NONE : GROUT_DIAG_GMEM_RACE;
    conflict.is_warning = kind == MEETING_PROXIES;
    return conflict;
}

static bool visit(void *payload, grout_shadow *shadow, grout_region *region,
                  const grout_rect *rect) {
    const grids_context *context = payload;
    const grout_entry *entries = grout_shadow__get_readers(shadow, region);
    for (uint32_t i = 0; i < region->reader_count; i++) {
        bool is_chance = false;
        if (!grout_entry__is_there(&entries[i])) {
            continue;
        }
        const grout_conflict conflict = judge(context, &entries[i], &is_chance);
        if (is_chance) {
            note_atomic(context, &entries[i]);
        }
        if (conflict.code != GROUT_DIAG_NONE && !report(context, &conflict, &entries[i], rect)) {
            return false;
        }
    }
    return true;
}

static uint32_t find_param(const grout_checker *checker, grout_object_id object) {
    const grout_module *module = checker->info.module;
    const grout_value *value =
        grout_module_get_value(module, grout_module_get_object(module, object)->value);
    return value->kind == GROUT_VALUE_PARAM ? value->index : UINT32_MAX;
}

/* The parameter of the earlier launch that is the array, if this access and one of its may need an
 * order; UINT32_MAX: none. */
static uint32_t find_other(const grids_context *context, uint32_t param) {
    const grout_ledger *ledger = context->earlier->ledger;
    const uint32_t other = context->earlier->params[param];
    const grout_kernel *kernel = grout_module_get_kernel(ledger->module, ledger->kernel);
    return other == 0 || (!context->event->u.access->is_write &&
                          !grout_direction_is_written(
                              grout_module_get_param(ledger->module, kernel, other - 1)->direction))
               ? UINT32_MAX
               : other - 1;
}

/* What the launches from this one on did is known under one schedule: nothing more is sure. */
static void note_open(const grids_context *context, const grout_earlier_launch *first) {
    grout_checker *checker = context->checker;
    const grout_launch_info *info = &checker->info;
    for (uint32_t i = (uint32_t)(first - info->earlier); i < info->earlier_count; i++) {
        if (checker->run.open_launch == 0) {
            checker->run.open_launch = info->earlier[i].open;
        }
    }
}

static bool compare(grids_context *context, uint32_t param) {
    const grout_access *access = context->event->u.access;
    const grout_earlier_launch *earlier = context->earlier;
    const grout_visitor visitor = {visit, context};
    context->param = find_other(context, param);
    context->part = get_part(context);
    if (context->param == UINT32_MAX) {
        return true;
    }
    note_open(context, context->part >= GROUT_EARLIER_ALL ? earlier + 1 : earlier);
    bool is_good = context->part == GROUT_EARLIER_VISIBLE ||
                   grout_releases__settle(&earlier->ledger->releases);
    for (uint32_t i = 0; is_good && context->part != GROUT_EARLIER_VISIBLE && i < access->run_count;
         i++) {
        is_good = grout_ledger__walk(earlier->ledger, context->param, &access->runs[i], &visitor);
    }
    return is_good;
}

bool grout_checker__compare_grids(grout_checker *checker, const grout_event *event) {
    const grout_access *access = event->u.access;
    uint32_t param = grout_space_is_of_launch(access->space) && event->clocks != NULL
                         ? find_param(checker, access->object)
                         : UINT32_MAX;
    if (param == UINT32_MAX) {
        return true;
    }
    grids_context context = {.checker = checker, .event = event};
    context.entry = (grout_entry){.origin = event->origin,
                                  .component = access->stamp.component,
                                  .number = access->stamp.number,
                                  .cluster = access->stamp.cluster};
    context.entry.flags =
        grout_entry__make_flags(access->stamp.agent, access->is_write, access->is_atomic);
    context.entry.atomicity = grout_access__get_atomicity(access);
    bool is_good = true;
    for (uint32_t i = 0; i < checker->info.earlier_count && is_good; i++) {
        context.earlier = &checker->info.earlier[i];
        is_good = compare(&context, param);
    }
    return is_good;
}
