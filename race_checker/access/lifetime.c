/*
 * lifetime.c - memory that goes away while an engine still uses it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * At the end of a CTA each asynchronous access recorded for its SMEM must be known to be over by
 * some thread: by 'last', the union of what they all know. For a copy to GMEM only the read side
 * counts: nothing but its source goes away. An access that was overwritten since is not recorded
 * any more; it had to be over then. For a wgmma both sides count: its operands in SMEM, and its
 * accumulator, whose registers the thread uses for something else; unless a finding has said
 * already that its thread should have waited for it.
 *
 * The end of a scope takes registers away, but not SMEM: that is the CTA's as long as the CTA runs
 * (PTX ISA 9.1, 'Shared State Space'). What is in flight there does no harm before somebody else
 * gets the bytes. So the array is only marked (left_in_flight), and the access has to be over when
 * the next scope begins that makes an object in SMEM, whichever bytes that object has: another
 * allocator may give it these. If there is no such scope, it has to be over when the CTA ends.
 * Tensor memory is handed on in the same way, to objects in tensor memory.
 *
 * At the end of a CTA another CTA's accesses to its SMEM must be over as well. Plain ones have to
 * be released to it: an edge without memory says nothing of them, and one that is still on its way
 * when the CTA has ended falls into memory of another CTA (PTX ISA 9.1, 'Causality order').
 *
 * A barrier goes away too. A load that arrives on it and is not over then can never be awaited:
 * the phases of the barrier's next life, if its scope runs again, say nothing of it. It is reported
 * wherever it writes, and its records are marked as never over.
 */
#include "access.h"
#include "box.h"

#include <string.h>

typedef struct end_context {
    grout_checker *checker;
    const grout_event *event;
    grout_cta_state *state;
    grout_object_id object;
    uint32_t plane;
    uint32_t component; /* of a barrier element that ends */
    bool leaves;        /* what is in flight may be awaited later */
    bool is_left;       /* the object's scope has ended before */
} end_context;

/* One access that its memory, or its barrier, does not outlive for certain. */
static bool report_side(grout_checker *checker, const grout_event *event, grout_diag_code code,
                        grout_facts *facts) {
    const bool is_drained =
        code == GROUT_DIAG_ASYNC_AT_EXIT && !facts->is_inner &&
        grout_clock__get_mechanism(&checker->shape, facts->sides[0].stamp.component, NULL) ==
            GROUT_MECHANISM_TCGEN05;
    const grout_finding_key key = {
        .code = code,
        /* the hardware waits for the tensor core before it gives tensor memory back */
        .severity = is_drained ? GROUT_SEVERITY_WARNING : GROUT_SEVERITY_ERROR,
        .primary = grout_origin__get_loc(checker->info.module, &facts->sides[0].origin),
        .related = grout_origin__get_loc(checker->info.module, &facts->sides[1].origin)};
    const grout_side *const sides[2] = {&facts->sides[0], NULL};
    grout_occurrence occurrence = {&facts->sides[0].origin, &facts->sides[1].origin, false};
    grout_record *record = NULL;
    bool wants_facts = false, is_new = false;
    if (!grout_pairs__add(&checker->pairs, event->step, &key, sides, &is_new)) {
        return grout_checker__fail(checker);
    }
    occurrence.is_repeat = !is_new;
    record = grout_findings__add(&checker->memory.findings, &key, &occurrence, &wants_facts);
    if (!record) {
        return grout_checker__fail(checker);
    }
    if (!is_new && !wants_facts) {
        grout_record__widen(record, facts->sides, 0);
    } else if (wants_facts) {
        if (code == GROUT_DIAG_ASYNC_AT_EXIT) {
            facts->near = grout_near__find_at_exit(checker, event, &facts->sides[0]);
        }
        record->facts = *facts;
    }
    return true;
}

bool grout_checker__report_exit(grout_checker *checker, const grout_event *event,
                                const grout_side *side) {
    grout_facts facts = {.side_count = 1, .owner = event->u.access->owner};
    if (checker->run.has_deadlock || checker->run.has_step_limit) {
        checker->run.suppressed++;
        return true;
    }
    facts.sides[0] = *side;
    facts.fault.object = event->u.access->object;
    return report_side(checker, event, GROUT_DIAG_CLUSTER_EXIT, &facts);
}

/* Whether the actors whose clocks are joined in 'last' know that it has been issued. */
static bool is_issue_known(const end_context *context, const grout_entry *entry) {
    const grout_clock_shape *shape = &context->checker->shape;
    uint32_t actor = grout_entry__get_actor(shape, entry);
    return context->event->u.scope.last[grout_clock_epoch(shape, actor)] >= entry->epoch;
}

static bool report_in_flight(const end_context *context, grout_shadow *shadow,
                             const grout_entry *entry, const grout_rect *rect,
                             grout_diag_code code) {
    const grout_checker *checker = context->checker;
    GROUT_ASSERT(checker->homes[context->object].plane != 0);
    grout_run run = grout_shadow__get_run(shadow, context->plane, rect);
    grout_facts facts = {.side_count = 1, .owner = context->event->origin.cta};
    run.base -= checker->homes[context->object].offset;
    facts.sides[0] = grout_entry__describe(entry);
    facts.sides[0].box = grout_box__from_runs(checker->info.module, context->object, &run, 1);
    facts.is_inner = context->event->u.scope.is_inner;
    facts.knows_issue = code == GROUT_DIAG_CLUSTER_EXIT && is_issue_known(context, entry);
    facts.fault.object = context->object;
    if (context->event->kind == GROUT_EVENT_SCOPE_BEGIN) {
        facts.sides[1].origin = context->event->origin; /* no access: not counted as a side */
    }
    return report_side(context->checker, context->event, code, &facts);
}

/*
 * The wait that a finding about the group, or a newer one, asks for would have covered it. Whether
 * another thread's access comes before the end of a scope is chance; before the CTA's it does, and
 * before the next scope, which all threads enter together.
 */
static bool is_reported(const end_context *context, const grout_entry *entry) {
    const grout_checker *checker = context->checker;
    const grout_cta_state *state = grout_checker__get_cta(checker, entry->origin.cta);
    const grout_mechanism mechanism =
        grout_clock__get_mechanism(&checker->shape, entry->component, NULL);
    bool is_wgmma = mechanism == GROUT_MECHANISM_WGMMA || mechanism == GROUT_MECHANISM_TCGEN05;
    if (!is_wgmma || !state) {
        return false;
    }
    const grout_reported *reported =
        &state->facts.reported[grout_checker__get_local(checker, &entry->origin)];
    return entry->number <= reported->own ||
           (context->event->kind != GROUT_EVENT_SCOPE_END && entry->number <= reported->by_others);
}

/* Another CTA's access, of memory that ends with this one. */
static bool is_of_peer(const end_context *context, const grout_entry *entry) {
    return entry->origin.cta != context->event->origin.cta && !context->event->u.scope.is_inner &&
           entry->flags & GROUT_ENTRY_PRESENT;
}

/* A load or store of tensor memory at the end of its CTA: nobody comes after it. */
static bool is_last(const end_context *context, const grout_entry *entry) {
    const grout_mechanism mechanism =
        grout_clock__get_mechanism(&context->checker->shape, entry->component, NULL);
    return !context->event->u.scope.is_inner &&
           (mechanism == GROUT_MECHANISM_TMEM_LOAD || mechanism == GROUT_MECHANISM_TMEM_STORE);
}

/* Whether it is over for the actors whose clocks are joined in 'last'. */
static bool is_over(const end_context *context, const grout_entry *entry) {
    bool is_of_engine = grout_entry__get_agent(entry) != GROUT_AGENT_ACTOR;
    return is_last(context, entry) || (!is_of_engine && !is_of_peer(context, entry)) ||
           context->event->u.scope.last[entry->component] >= entry->number;
}

static bool is_ending(const grout_event *event, grout_object_id root) {
    for (uint32_t i = 0; i < event->u.scope.object_count; i++) {
        if (event->u.scope.objects[i] == root) {
            return true;
        }
    }
    return false;
}

/* Whether nobody can wait for it any more: a load whose barrier has ended, or ends here too. */
static bool is_abandoned(const end_context *context, const grout_entry *entry) {
    const grout_checker *checker = context->checker;
    uint32_t barrier = 0;
    if (entry->number == GROUT_ENTRY_NEVER_OVER) {
        return true;
    }
    return grout_clock__get_mechanism(&checker->shape, entry->component, &barrier) ==
               GROUT_MECHANISM_PHASE &&
           barrier / checker->local_elements ==
               grout_checker__get_rank(checker, context->event->origin.cta) &&
           is_ending(context->event,
                     checker->info.element_objects[barrier % checker->local_elements]);
}

/* The objects left in flight are a list in the order of their ids: of each the next one, the first
 * of all at 0. LAST: there is no next one; 0: it is not in the list. */
#define LAST UINT32_MAX

static bool is_left(grout_object_id object) {
    return object != 0 && object != LAST;
}

static void note_left(grout_object_id *left, grout_object_id object) {
    grout_object_id at = 0;
    if (left[object] != 0) {
        return;
    }
    while (is_left(left[at]) && left[at] < object) {
        at = left[at];
    }
    left[object] = is_left(left[at]) ? left[at] : LAST;
    left[at] = object;
}

static bool check_entry(const end_context *context, grout_shadow *shadow, const grout_entry *entry,
                        const grout_rect *rect) {
    if (is_over(context, entry)) {
        return true;
    }
    if (context->leaves && !is_abandoned(context, entry)) {
        note_left(context->state->facts.left_in_flight, context->object);
        return true;
    }
    if (context->is_left && entry->number == GROUT_ENTRY_NEVER_OVER) {
        return true; /* reported when its barrier ended */
    }
    if (context->checker->run.has_deadlock || context->checker->run.has_step_limit ||
        is_reported(context, entry)) {
        context->checker->run.suppressed++;
        return true;
    }
    return report_in_flight(context, shadow, entry, rect,
                            is_of_peer(context, entry) ? GROUT_DIAG_CLUSTER_EXIT
                                                       : GROUT_DIAG_ASYNC_AT_EXIT);
}

/* Whether the same mechanism reads again later. A thread that waits for that read has waited for
 * this one too. From the end, where the newest most likely are. */
static bool has_newer(const grout_entry *readers, uint32_t count, const grout_entry *entry) {
    bool is_engine = grout_entry__get_agent(entry) != GROUT_AGENT_ACTOR;
    for (uint32_t i = count; is_engine && i-- > 0;) {
        if (readers[i].component == entry->component && readers[i].cluster == entry->cluster &&
            readers[i].number > entry->number) {
            return true;
        }
    }
    return false;
}

/* Whether an engine's read that came after the write, in order, is over: then so is the write. */
static bool is_vouched(const end_context *context, const grout_entry *readers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (readers[i].vouches != 0 && grout_entry__get_agent(&readers[i]) != GROUT_AGENT_ACTOR &&
            context->event->u.scope.last[readers[i].component] >= readers[i].vouches) {
            return true;
        }
    }
    return false;
}

static bool check_region(void *payload, grout_shadow *shadow, grout_region *region,
                         const grout_rect *rect) {
    const end_context *context = payload;
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    if (!is_vouched(context, readers, region->reader_count) &&
        !check_entry(context, shadow, &region->write, rect)) {
        return false;
    }
    for (uint32_t i = 0; i < region->reader_count; i++) {
        if (!is_over(context, &readers[i]) &&
            !has_newer(readers, region->reader_count, &readers[i]) &&
            !check_entry(context, shadow, &readers[i], rect)) {
            return false;
        }
    }
    return true;
}

/* Marks a load that its barrier does not outlive; reports it where it writes. Objects that end
 * with the barrier have been looked at. */
static bool abandon_entry(end_context *context, grout_shadow *shadow, grout_entry *entry,
                          const grout_rect *rect) {
    const grout_checker *checker = context->checker;
    const grout_entry found = *entry;
    uint32_t cluster = context->event->origin.cta / checker->shape.cta_count;
    if (grout_entry__get_agent(&found) == GROUT_AGENT_ACTOR ||
        found.component != context->component || found.cluster != cluster ||
        context->event->u.scope.last[found.component] >= found.number ||
        found.number == GROUT_ENTRY_NEVER_OVER) {
        return true;
    }
    entry->number = GROUT_ENTRY_NEVER_OVER;
    context->object = grout_origin__find_object(checker->info.module, &found.origin);
    if (!(found.flags & GROUT_ENTRY_WRITE) || !context->object ||
        is_ending(context->event, grout_object_get_root(checker->info.module, context->object))) {
        return true;
    }
    return check_entry(context, shadow, &found, rect);
}

static bool abandon_region(void *payload, grout_shadow *shadow, grout_region *region,
                           const grout_rect *rect) {
    end_context *context = payload;
    for (uint32_t i = 0; i < region->reader_count; i++) {
        if (!abandon_entry(context, shadow, &grout_shadow__get_readers(shadow, region)[i], rect)) {
            return false;
        }
    }
    return abandon_entry(context, shadow, &region->write, rect);
}

static bool abandon_in(end_context *context, grout_shadow *shadow) {
    grout_visitor visitor = {abandon_region, context};
    for (context->plane = 0; context->plane < shadow->plane_count; context->plane++) {
        if (!grout_shadow__walk(shadow, context->plane, 0,
                                (int64_t)shadow->planes[context->plane].size, &visitor)) {
            return false;
        }
    }
    return true;
}

/* The barriers of an object end with its scope; loads that arrive on them are all over, but for a
 * bug. */
static bool end_elements(grout_checker *checker, const grout_event *event, grout_cta_state *state,
                         grout_object_id object) {
    uint32_t rank = grout_checker__get_rank(checker, event->origin.cta);
    for (uint32_t i = checker->homes[object].first_element;
         i < checker->local_elements && checker->info.element_objects[i] == object; i++) {
        grout_element_state *element = &state->elements[i];
        uint32_t component =
            grout_clock_phase(&checker->shape, grout_clock_barrier(&checker->shape, rank, i));
        end_context context = {
            .checker = checker, .event = event, .state = state, .component = component};
        if (element->facts.last_load > event->u.scope.last[component] &&
            !(abandon_in(&context, &state->local) && abandon_in(&context, &checker->memory.gmem))) {
            return checker->has_failed ? false : grout_checker__fail(checker);
        }
        element->facts.last_load = 0;
    }
    return true;
}

/* An accumulator ends in each thread; in a scope that threads enter on their own, in this one. */
static bool end_accumulator(grout_checker *checker, const grout_event *event,
                            grout_cta_state *state, grout_object_id object) {
    const grout_module *module = checker->info.module;
    const grout_value *value =
        grout_module_get_value(module, grout_module_get_object(module, object)->value);
    const grout_op *op = grout_module_get_op(module, value->op);
    bool is_own =
        event->u.scope.is_inner && !grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE);
    for (uint32_t t = 0; t < checker->shape.thread_count; t++) {
        end_context context = {.checker = checker,
                               .event = event,
                               .state = state,
                               .object = object,
                               .plane = checker->homes[object].plane - 1 + t};
        grout_visitor visitor = {check_region, &context};
        if ((!is_own || t == event->origin.thread) &&
            !grout_shadow__walk(&state->local, context.plane, 0,
                                grout_object_get_layout(module, object)->bytes, &visitor)) {
            return false;
        }
    }
    return true;
}

static bool walk_smem(end_context *context) {
    const grout_checker *checker = context->checker;
    const grout_home *home = &checker->homes[context->object];
    grout_visitor visitor = {check_region, context};
    context->plane = home->plane - 1;
    return grout_shadow__walk(&context->state->local, context->plane, home->offset,
                              grout_object_get_layout(checker->info.module, context->object)->bytes,
                              &visitor);
}

static bool end_smem(grout_checker *checker, const grout_event *event, grout_cta_state *state,
                     grout_object_id object) {
    end_context context = {.checker = checker,
                           .event = event,
                           .state = state,
                           .object = object,
                           .leaves = event->u.scope.is_inner};
    return walk_smem(&context);
}

/* Whether the event is a scope that makes an object in a space; another name for an array makes
 * none. */
static bool takes(const grout_module *module, const grout_event *event, uint32_t space) {
    for (uint32_t i = 0; i < event->u.scope.object_count; i++) {
        grout_object_id id = event->u.scope.objects[i];
        const grout_object *object = grout_module_get_object(module, id);
        if (object->kind == GROUT_OBJECT_BARRIER
                ? space == GROUT_SPACE_SMEM
                : object->kind == GROUT_OBJECT_ARRAY && object->space == space &&
                      grout_object_get_root(module, id) == id) {
            return true;
        }
    }
    return false;
}

/* What scopes have left in flight has to be over now: all of it at the end of the CTA, else what
 * is in a space that the new scope takes bytes of. */
static bool end_left(grout_checker *checker, const grout_event *event, grout_cta_state *state) {
    const grout_module *module = checker->info.module;
    grout_object_id *left = state->facts.left_in_flight, *link = &left[0];
    while (is_left(*link)) {
        const grout_object_id object = *link;
        end_context context = {
            .checker = checker, .event = event, .state = state, .object = object, .is_left = true};
        if (event->kind == GROUT_EVENT_SCOPE_BEGIN &&
            !takes(module, event, grout_module_get_object(module, object)->space)) {
            link = &left[object];
            continue;
        }
        if (!walk_smem(&context)) {
            return checker->has_failed ? false : grout_checker__fail(checker);
        }
        *link = left[object];
        left[object] = 0;
    }
    return true;
}

bool grout_checker__scope_begin(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    if (!state) {
        return false;
    }
    return end_left(checker, event, state);
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
        if (it->kind != GROUT_OBJECT_ARRAY || grout_space_is_of_launch(it->space) ||
            !checker->homes[object].plane) {
            continue;
        }
        if (!(grout_space_is_of_thread(it->space) ? end_accumulator(checker, event, state, object)
                                                  : end_smem(checker, event, state, object))) {
            return checker->has_failed ? false : grout_checker__fail(checker);
        }
    }
    bool is_good = true;
    for (uint32_t i = 0; event->u.scope.is_inner && is_good && i < event->u.scope.object_count;
         i++) {
        is_good = end_elements(checker, event, state, event->u.scope.objects[i]);
    }
    return is_good && (event->u.scope.is_inner || end_left(checker, event, state));
}
