/*
 * lifetime.c - memory that goes away while an engine still uses it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * At the end of a scope, and of a CTA, each asynchronous access recorded for its SMEM must be known
 * to be over by some thread: by 'last', the union of what they all know. Of a copy to GMEM only the
 * read side counts: nothing but its source goes away. An access that was overwritten since is not
 * recorded any more; it had to be over then.
 */
#include "checker.h"

#include <string.h>

typedef struct end_context {
    grout_checker *checker;
    const grout_event *event;
    grout_object_id object;
    uint32_t plane;
} end_context;

static bool report_in_flight(const end_context *context, grout_shadow *shadow,
                             const grout_entry *entry, const grout_rect *rect) {
    grout_checker *checker = context->checker;
    grout_run run = grout_shadow__get_run(shadow, context->plane, rect);
    const grout_finding_key key = {.code = GROUT_DIAG_ASYNC_AT_EXIT,
                                   .severity = GROUT_SEVERITY_ERROR,
                                   .primary =
                                       grout_origin__get_loc(checker->info.module, &entry->origin)};
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    run.base -= checker->homes[context->object].offset;
    facts.sides[0].origin = entry->origin;
    facts.sides[0].stamp = (grout_stamp){entry->cta, entry->component, entry->number, true};
    facts.sides[0].is_write = entry->flags & GROUT_ENTRY_WRITE;
    facts.sides[0].box = grout_box__from_runs(checker->info.module, context->object, &run, 1);
    facts.side_count = 1;
    facts.is_inner = context->event->u.scope.is_inner;
    facts.fault.object = context->object;
    return grout_checker__find(checker, &key, &facts);
}

static bool check_entry(const end_context *context, grout_shadow *shadow, const grout_entry *entry,
                        const grout_rect *rect) {
    bool is_over = !(entry->flags & GROUT_ENTRY_ASYNC) ||
                   context->event->u.scope.last[entry->component] >= entry->number;
    if (is_over) {
        return true;
    }
    if (context->checker->has_deadlock || context->checker->has_step_limit) {
        context->checker->suppressed++;
        return true;
    }
    return report_in_flight(context, shadow, entry, rect);
}

static bool check_region(void *payload, grout_shadow *shadow, grout_region *region,
                         const grout_rect *rect) {
    const end_context *context = payload;
    if (!check_entry(context, shadow, &region->write, rect)) {
        return false;
    }
    for (uint32_t i = 0; i < region->reader_count; i++) {
        if (!check_entry(context, shadow, &grout_shadow__get_readers(shadow, region)[i], rect)) {
            return false;
        }
    }
    return true;
}

bool grout_checker__scope_end(grout_checker *checker, const grout_event *event) {
    const grout_module *module = checker->info.module;
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    if (!state) {
        return false;
    }
    for (uint32_t i = 0; i < event->u.scope.object_count; i++) {
        grout_object_id object = event->u.scope.objects[i];
        const grout_object *it = grout_module_get_object(module, object);
        end_context context = {checker, event, object, checker->homes[object].plane - 1};
        grout_visitor visitor = {check_region, &context};
        if (it->space != GROUT_SPACE_SMEM || it->kind != GROUT_OBJECT_ARRAY ||
            !checker->homes[object].plane) {
            continue;
        }
        if (!grout_shadow__walk(&state->smem, context.plane, checker->homes[object].offset,
                                grout_object_get_layout(module, object)->bytes, &visitor)) {
            return checker->has_failed ? false : grout_checker__fail(checker);
        }
    }
    return true;
}
