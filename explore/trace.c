/* trace.c - steps of a run, and the pairs that could be reversed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include "hash.h"
#include "invariant.h"

#include <string.h>

/* ---- storage -------------------------------------------------------------------------------- */

/* Where a resource stands in the table, or is to be put. */
static size_t find_slot(const grout_trace *trace, uint64_t resource) {
    GROUT_ASSERT(trace->table_used < trace->table_size);
    size_t mask = trace->table_size - 1, at = grout_hash__index(resource) & mask;
    while (trace->table[at] != 0 &&
           trace->visitors.items[trace->table[at] - 1].resource != resource) {
        at = (at + 1) & mask;
    }
    return at;
}

static bool grow_table(grout_trace *trace) {
    if (trace->table_used * 2 < trace->table_size) {
        return true;
    }
    uint64_t *old = trace->table;
    size_t old_size = trace->table_size;
    size_t size = old_size == 0 ? 256 : 2 * old_size;
    trace->table = grout__new(trace->allocator, size, sizeof *trace->table);
    if (trace->table == NULL) {
        trace->table = old;
        return false;
    }
    trace->table_size = size;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i] != 0) {
            trace->table[find_slot(trace, trace->visitors.items[old[i] - 1].resource)] = old[i];
        }
    }
    grout__free(old);
    return true;
}

/* The actor's entry at a resource, made if need be (its step is then UINT64_MAX). */
static grout_visitor *find_visitor(grout_trace *trace, uint64_t resource, uint32_t actor) {
    if (!grow_table(trace)) {
        return NULL;
    }
    if (!GROUT_ARRAY_RESERVE(&trace->visitors, trace->allocator, 1)) {
        return NULL;
    }
    size_t slot = find_slot(trace, resource);
    for (uint64_t at = trace->table[slot]; at != 0; at = trace->visitors.items[at - 1].next) {
        if (trace->visitors.items[at - 1].actor == actor) {
            return &trace->visitors.items[at - 1];
        }
    }
    trace->table_used += trace->table[slot] == 0 ? 1u : 0u;
    grout_visitor *visitor = &trace->visitors.items[trace->visitors.count++];
    *visitor = (grout_visitor){resource, UINT64_MAX, trace->table[slot], actor};
    trace->table[slot] = trace->visitors.count;
    return visitor;
}

/* ---- what is known, and pairs ---------------------------------------------------------------- */

/* Without clocks nothing is known. */
static bool is_known(const grout_clocks *clocks, const grout_step *step) {
    const uint32_t *known = clocks == NULL ? NULL : grout_clocks_find_known(clocks, step->cluster);
    return known != NULL && known[step->component] >= step->epoch;
}

/* The same of what it has done to memory. */
static bool is_released(const grout_clocks *clocks, const grout_step *step) {
    const uint32_t *known = clocks == NULL ? NULL : grout_clocks_find_known(clocks, step->cluster);
    return step->memory.width == 0 ||
           (known != NULL && known[step->memory.component] >= step->memory.epoch);
}

static bool add_reversal(grout_trace *trace, uint64_t first, uint64_t second) {
    if (!GROUT_ARRAY_RESERVE(&trace->reversals, trace->allocator, 1)) {
        return false;
    }
    trace->reversals.items[trace->reversals.count++] = (grout_reversal){first, second};
    return true;
}

/* Pairs a step with each rival of a visitor: its steps on the resource that are neither known nor
 * commute. The newest is not enough: where it may stand depends on those before it. What a fetch
 * reads can make an older step known, so knowledge ends no fetch's list. */
static bool pair_with(grout_trace *trace, const grout_visitor *visitor, uint64_t index,
                      const grout_clocks *clocks) {
    const grout_step *step = &trace->steps.items[index];
    bool is_fetch = step->kind == GROUT_STEP_FETCH || step->kind == GROUT_STEP_PEEK;
    uint64_t at = visitor->step + 1;
    while (at != 0 && (is_fetch || !is_known(clocks, &trace->steps.items[at - 1]))) {
        const grout_step *rival = &trace->steps.items[at - 1];
        if (grout_trace__is_dependent(rival, step) && !add_reversal(trace, at - 1, index)) {
            return false;
        }
        at = rival->previous;
    }
    return true;
}

/* Whether an atomic comes after rivals of the visitor by edges that carry no memory: a GPU may show
 * them in the other order all the same, and no run of ours does. */
static bool is_after_weakly(const grout_trace *trace, const grout_visitor *visitor,
                            const grout_step *step, const grout_clocks *clocks) {
    uint64_t at = step->memory.width == 0 ? 0 : visitor->step + 1;
    while (at != 0) {
        const grout_step *rival = &trace->steps.items[at - 1];
        if (is_released(clocks, rival)) {
            return false; /* and so are those before it */
        }
        if (is_known(clocks, rival) && grout_trace__is_dependent(rival, step)) {
            return true;
        }
        at = rival->previous;
    }
    return false;
}

/* Pairs a step with the rivals of each other actor. */
static bool find_reversals(grout_trace *trace, uint64_t index, const grout_clocks *clocks) {
    GROUT_ASSERT(index < trace->steps.count);
    const grout_step *step = &trace->steps.items[index];
    size_t slot = find_slot(trace, step->resource);
    for (uint64_t i = trace->table[slot]; i != 0; i = trace->visitors.items[i - 1].next) {
        const grout_visitor *visitor = &trace->visitors.items[i - 1];
        if (visitor->actor == step->actor) {
            continue;
        }
        trace->has_weak = trace->has_weak || is_after_weakly(trace, visitor, step, clocks);
        if (!pair_with(trace, visitor, index, clocks)) {
            return false;
        }
    }
    return true;
}

/* ---- events --------------------------------------------------------------------------------- */

static uint32_t get_local(const grout_trace *trace, const grout_origin *origin) {
    return grout_clock_local_actor(&trace->info.shape, origin->thread, origin->warp);
}

enum {
    ACTORS_MAX = 64, /* with steps: of more it is not asked what they know */
    BACK_MAX = 256,  /* steps of another actor that are asked for */
};

/* The newest decision of another actor's step that is known; if it is not asked for, any may be. */
static size_t find_learnt(const grout_trace *trace, uint32_t actor, const grout_clocks *clocks) {
    size_t learnt = 0;
    if (trace->lasts.count > ACTORS_MAX || clocks == NULL) {
        return trace->decisions->count;
    }
    for (size_t i = 0; i < trace->lasts.count; i++) {
        const grout_step *step = &trace->steps.items[trace->lasts.items[i]];
        size_t left = step->actor == actor ? 0 : BACK_MAX;
        while (left > 1 && !is_known(clocks, step) && step->before != 0) {
            step = &trace->steps.items[step->before - 1];
            left--;
        }
        if (left == 1 || (left > 1 && is_known(clocks, step))) {
            learnt = step->decision > learnt ? step->decision : learnt;
        }
    }
    return learnt;
}

/* The step is its actor's newest. */
static bool set_last(grout_trace *trace, uint64_t index) {
    const uint32_t actor = trace->steps.items[index].actor;
    for (size_t i = 0; i < trace->lasts.count; i++) {
        if (trace->steps.items[trace->lasts.items[i]].actor == actor) {
            trace->lasts.items[i] = index;
            return true;
        }
    }
    if (trace->lasts.count > ACTORS_MAX) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&trace->lasts, trace->allocator, 1)) {
        return false;
    }
    trace->lasts.items[trace->lasts.count++] = index;
    return true;
}

/* The newest step on a resource, plus 1. */
static uint64_t find_newest(const grout_trace *trace, uint64_t resource) {
    uint64_t newest = 0;
    for (uint64_t i = trace->table[find_slot(trace, resource)]; i != 0;
         i = trace->visitors.items[i - 1].next) {
        const uint64_t step = trace->visitors.items[i - 1].step + 1; /* 0: it has none */
        newest = step > newest ? step : newest;
    }
    return newest;
}

/* What an actor does to a resource. */
typedef struct doing {
    uint64_t resource;
    grout_step_kind kind;
    uint32_t number;
    grout_step_memory memory; /* zeros: it is no atomic */
} doing;

/* clocks: of the actor; NULL for what it could not do. */
static bool add_step_of(grout_trace *trace, const grout_origin *origin, const grout_clocks *clocks,
                        const doing *what) {
    const grout_clock_shape *shape = &trace->info.shape;
    if (!GROUT_ARRAY_RESERVE(&trace->steps, trace->allocator, 1)) {
        return false;
    }
    uint32_t local = get_local(trace, origin);
    uint32_t component =
        grout_clock_epoch(shape, grout_clock_actor(shape, origin->cta % shape->cta_count, local));
    uint64_t index = trace->steps.count++;
    grout_step *step = &trace->steps.items[index];
    *step = (grout_step){.resource = what->resource,
                         .actor = origin->cta * trace->local_actors + local,
                         .cluster = clocks == NULL ? 0 : clocks->cluster,
                         .component = component,
                         .epoch = clocks == NULL ? UINT32_MAX : clocks->known[component],
                         .number = what->number,
                         .kind = (uint8_t)what->kind,
                         .memory = what->memory,
                         .decision = trace->decisions->count,
                         .learnt =
                             find_learnt(trace, origin->cta * trace->local_actors + local, clocks)};
    grout_visitor *visitor = find_visitor(trace, what->resource, step->actor);
    if (visitor == NULL || !set_last(trace, index) || !find_reversals(trace, index, clocks)) {
        return false;
    }
    step->earlier = find_newest(trace, what->resource);
    step->previous = visitor->step + 1; /* UINT64_MAX: it has none, and this is 0 */
    visitor->step = index;
    return true;
}

enum {
    RESOURCE_BARRIER = 1,
    RESOURCE_SEMAPHORE,
    RESOURCE_ELEMENT,
    RESOURCE_NAMED,
    RESOURCE_OBJECT,
    RESOURCE_REGISTERS,
    RESOURCE_CLUSTERS, /* that launch control hands out */
    RESOURCE_ACTOR     /* no resource: an actor's own steps */
};

static uint64_t get_resource(uint32_t kind, uint32_t a, uint64_t b, uint64_t c) {
    return grout_hash__word(grout_hash__word(grout_hash__word(kind, a), b), c);
}

/* An actor has come back to a look with the same values and has changed nothing since: what it has
 * done in between only waited. */
static void drop_turn(grout_trace *trace, const grout_visitor *own, uint64_t look) {
    uint64_t first = own->step + 1;
    while (first != 0 && trace->steps.items[first - 1].look != look) {
        first = trace->steps.items[first - 1].before;
    }
    for (uint64_t at = first == 0 ? 0 : own->step + 1; at != 0;
         at = trace->steps.items[at - 1].before) {
        trace->steps.items[at - 1].is_idle = true;
        if (at == first) {
            return;
        }
    }
}

static bool note_again(grout_trace *trace, grout_op_id op) {
    for (size_t i = 0; i < trace->again.count; i++) {
        if (trace->again.items[i] == op) {
            return true;
        }
    }
    if (!GROUT_ARRAY_RESERVE(&trace->again, trace->allocator, 1)) {
        return false;
    }
    trace->again.items[trace->again.count++] = op;
    return true;
}

/* What an atomic works on: its bytes are counted from the root's. */
static grout_step_memory get_memory(const grout_trace *trace, const grout_access *access) {
    const grout_module *module = trace->info.module;
    const grout_object_id root = grout_object_get_root(module, access->object);
    const grout_run *first = &access->runs[0], *last = &access->runs[access->run_count - 1];
    const int64_t start = root == access->object ? 0
                                                 : grout_object_get_offset(module, access->object) -
                                                       grout_object_get_offset(module, root);
    const int64_t end = last->base + (last->count - 1) * last->stride + last->length;
    return (grout_step_memory){.width = access->atomic_width,
                               .component = access->stamp.component,
                               .epoch = access->stamp.number,
                               .low = (uint64_t)(start + first->base),
                               .high = (uint64_t)(start + end),
                               .touched_low = UINT64_MAX};
}

/* The same of a semaphore, which is one element. */
static grout_step_memory get_units(const grout_trace *trace, const grout_event *event) {
    const grout_clock_shape *shape = &trace->info.shape;
    const uint32_t actor = grout_clock_actor(shape, event->origin.cta % shape->cta_count,
                                             get_local(trace, &event->origin));
    grout_step_memory memory = {.width = 1, .high = 1, .touched_low = UINT64_MAX};
    memory.component = grout_clock_released(shape, actor);
    memory.epoch = event->clocks->known[memory.component];
    return memory;
}

static bool add_step(grout_trace *trace, const grout_event *event, uint64_t resource,
                     grout_step_kind kind, uint32_t number) {
    if (event->clocks == NULL) {
        return true;
    }
    const uint32_t actor =
        event->origin.cta * trace->local_actors + get_local(trace, &event->origin);
    const uint64_t index = trace->steps.count, self = get_resource(RESOURCE_ACTOR, actor, 0, 0);
    const bool is_atomic = event->kind == GROUT_EVENT_ACCESS && event->u.access->is_atomic;
    doing what = {.resource = resource, .kind = kind, .number = number};
    if (is_atomic) {
        what.memory = get_memory(trace, event->u.access);
    } else if (kind == GROUT_STEP_SIGNAL || kind == GROUT_STEP_LOOK) {
        what.memory = get_units(trace, event);
    }
    if (!add_step_of(trace, &event->origin, event->clocks, &what)) {
        return false;
    }
    grout_visitor *own = find_visitor(trace, self, actor);
    if (own == NULL) {
        return false;
    }
    if (event->is_again) {
        drop_turn(trace, own, event->look);
        if (!note_again(trace, event->origin.op)) {
            return false;
        }
    }
    trace->steps.items[index].look = event->look;
    trace->steps.items[index].before = own->step + 1; /* UINT64_MAX: it has none, and this is 0 */
    own->step = index;
    return true;
}

static bool note_semaphore(grout_trace *trace, const grout_event *event) {
    const grout_semaphore_fact *fact = event->u.semaphore.semaphore;
    uint64_t resource = get_resource(RESOURCE_SEMAPHORE, fact->cta, fact->object, fact->index);
    if (event->kind == GROUT_EVENT_SIGNAL) {
        return add_step(trace, event, resource, GROUT_STEP_SIGNAL, event->u.semaphore.serial);
    }
    if (event->kind == GROUT_EVENT_SEMAPHORE_READ || event->u.semaphore.no_decrement) {
        /* A wait that leaves the units waits for the oldest ones, whatever comes after. */
        if (event->kind == GROUT_EVENT_SEMAPHORE_READ) {
            return add_step(trace, event, resource, GROUT_STEP_LOOK, 0);
        }
    }
    uint32_t count = event->u.semaphore.serial_count;
    if (!GROUT_ARRAY_RESERVE(&trace->takings, trace->allocator, 1)) {
        return false;
    }
    trace->takings.items[trace->takings.count++] =
        (grout_taking){resource, (uint32_t)trace->serials.count, count};
    for (uint32_t i = 0; i < count; i++) {
        if (!GROUT_ARRAY_RESERVE(&trace->serials, trace->allocator, 1)) {
            return false;
        }
        trace->serials.items[trace->serials.count++] = event->u.semaphore.serials[i];
    }
    return event->u.semaphore.no_decrement || add_step(trace, event, resource, GROUT_STEP_TAKE, 0);
}

static bool is_fetch(const grout_op *op) {
    return grout_op_returns_old_value((grout_opcode)op->opcode);
}

/* Whether it is an atomic that only reads: it adds nothing, and releases nothing. */
static bool is_peek(const grout_trace *trace, const grout_op *op) {
    const grout_module *module = trace->info.module;
    const grout_update update = grout_op_get_update(module, op);
    const grout_choice order = grout_op_get_choice(module, op, GROUT_ATTR_ORDER);
    const grout_operand *operand =
        op->operand_count > 1 ? grout_module_get_operand(module, op, 1) : NULL;
    return (update == GROUT_UPDATE_ADD || update == GROUT_UPDATE_OR ||
            update == GROUT_UPDATE_XOR) &&
           (order == GROUT_CHOICE_NONE || order == GROUT_CHOICE_ORDER_RELAXED ||
            order == GROUT_CHOICE_ORDER_ACQUIRE) &&
           operand != NULL && operand->kind == GROUT_OPERAND_EXPR &&
           !grout_module_get_expr_value(module, operand->id).is_float &&
           grout_module_get_expr_value(module, operand->id).integer == 0;
}

/* The same for updates that commute with each other; 0: those whose order shows. The smaller of
 * signed numbers is none of unsigned ones. */
static uint32_t get_update_kind(const grout_trace *trace, const grout_op *op,
                                grout_object_id object) {
    uint8_t dtype = grout_object_get_type(trace->info.module, object)->dtype;
    grout_update update = grout_op_get_update(trace->info.module, op);
    return grout_update_is_ordered(update, (grout_dtype)dtype)
               ? 0
               : (uint32_t)update | (uint32_t)dtype << 8;
}

/* Whether an object has more than one element: its order as a whole is that of several places. */
static bool has_elements(const grout_trace *trace, grout_object_id object) {
    const grout_type *type = grout_object_get_type(trace->info.module, object);
    int64_t count = 1;
    for (uint32_t i = 0; i < type->rank; i++) {
        count *= type->dims[i];
    }
    return count > 1;
}

static bool note_atomic(grout_trace *trace, const grout_event *event) {
    const grout_access *access = event->u.access;
    const grout_op *op = grout_module_get_op(trace->info.module, event->origin.op);
    const grout_object_id root = grout_object_get_root(trace->info.module, access->object);
    bool has_order = trace->orders[root] == GROUT_ORDER_ALL;
    uint32_t owner = grout_space_is_of_launch(access->space) ? 0 : access->owner;
    if (!access->is_write || !(has_order || is_fetch(op))) {
        return true;
    }
    if (has_order) {
        trace->has_bulk |= access->stamp.agent != GROUT_AGENT_ACTOR;
        trace->has_places |= has_elements(trace, root);
        return add_step(trace, event, get_resource(RESOURCE_OBJECT, owner, root, 0),
                        is_peek(trace, op) ? GROUT_STEP_PEEK
                        : is_fetch(op)     ? GROUT_STEP_FETCH
                                           : GROUT_STEP_UPDATE,
                        is_fetch(op) ? 0 : get_update_kind(trace, op, access->object));
    }
    return add_step(trace, event,
                    get_resource(RESOURCE_ELEMENT, owner, root, get_memory(trace, access).low),
                    is_peek(trace, op) ? GROUT_STEP_PEEK : GROUT_STEP_FETCH, 0);
}

/* The answer of launch control is written. */
static bool is_request(const grout_trace *trace, const grout_event *event) {
    const grout_op *op = grout_module_get_op(trace->info.module, event->origin.op);
    return event->u.access->is_write &&
           grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_CANCEL;
}

/* In a deadlock, what an actor waits for counts as its step too: if it had come first, it would not
 * have blocked. */
static bool note_blocked(grout_trace *trace, const grout_event *event,
                         const grout_thread_fact *thread) {
    doing what = {.kind = GROUT_STEP_TAKE};
    if (thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE) {
        const grout_semaphore_fact *semaphore = &event->u.deadlock.semaphores[thread->element];
        what.resource =
            get_resource(RESOURCE_SEMAPHORE, semaphore->cta, semaphore->object, semaphore->index);
    } else if (thread->state == GROUT_THREAD_BLOCKED_REGISTERS) {
        what.resource = get_resource(RESOURCE_REGISTERS, thread->origin.cta, 0, 0);
    } else if (thread->state == GROUT_THREAD_BLOCKED_PARITY) {
        what.resource = get_resource(RESOURCE_BARRIER, thread->origin.cta, thread->element, 0);
        what.kind = GROUT_STEP_PARITY;
    } else {
        return true;
    }
    return add_step_of(trace, &thread->origin, NULL, &what);
}

static bool note_deadlock(grout_trace *trace, const grout_event *event) {
    bool is_good = true;
    for (uint32_t i = 0; is_good && i < event->u.deadlock.thread_count; i++) {
        is_good = note_blocked(trace, event, &event->u.deadlock.threads[i]);
    }
    return is_good;
}

static bool note_wait(grout_trace *trace, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.wait.barrier;
    const bool is_true = event->kind == GROUT_EVENT_WAIT;
    const uint32_t look = (is_true && event->u.wait.has_landed ? (uint32_t)GROUT_LOOK_LANDED : 0) |
                          (is_true && event->u.wait.is_test ? (uint32_t)GROUT_LOOK_TESTED : 0);
    return (!event->u.wait.has_parity && !event->u.wait.is_test && look == 0) ||
           add_step(trace, event, get_resource(RESOURCE_BARRIER, barrier->cta, barrier->element, 0),
                    GROUT_STEP_PARITY, look);
}

static bool observe(void *self, const grout_event *event) {
    grout_trace *trace = self;
    bool is_good = true;
    switch (event->kind) {
    case GROUT_EVENT_ARRIVE:
        is_good = add_step(
            trace, event,
            get_resource(RESOURCE_BARRIER, event->u.arrive.cta, event->u.arrive.element, 0),
            GROUT_STEP_ARRIVE, event->u.arrive.phase_base + event->u.arrive.phase);
        break;
    case GROUT_EVENT_WAIT:
    case GROUT_EVENT_TEST_FALSE:
        is_good = note_wait(trace, event);
        break;
    case GROUT_EVENT_SIGNAL:
    case GROUT_EVENT_SEMAPHORE_WAIT:
    case GROUT_EVENT_SEMAPHORE_READ:
        is_good = note_semaphore(trace, event);
        break;
    case GROUT_EVENT_NAMED_ARRIVE:
        is_good = add_step(trace, event,
                           get_resource(RESOURCE_NAMED, event->origin.cta, event->u.named.id, 0),
                           GROUT_STEP_NAMED, event->u.named.generation);
        break;
    case GROUT_EVENT_ACCESS:
        is_good = event->u.access->is_atomic
                      ? note_atomic(trace, event)
                      : !is_request(trace, event) ||
                            add_step(trace, event, RESOURCE_CLUSTERS, GROUT_STEP_FETCH, 0);
        break;
    case GROUT_EVENT_REGISTERS: /* what is given back serves those that ask, sooner or later */
        is_good = !event->u.registers.is_increase ||
                  add_step(trace, event, get_resource(RESOURCE_REGISTERS, event->origin.cta, 0, 0),
                           GROUT_STEP_TAKE, 0);
        break;
    case GROUT_EVENT_DEADLOCK:
        is_good = note_deadlock(trace, event);
        break;
    default:
        break;
    }
    trace->has_failed |= !is_good;
    return is_good;
}

static bool begin(void *self, const grout_launch_info *info) {
    grout_trace *trace = self;
    trace->info = *info;
    trace->local_actors = info->shape.actor_count / info->shape.cta_count;
    return true;
}

void grout_trace__init(grout_trace *trace, const grout_allocator *allocator,
                       const grout_decisions *decisions, const uint8_t *orders) {
    *trace = (grout_trace){.allocator = allocator, .decisions = decisions, .orders = orders};
    trace->observer = (grout_observer){
        .self = trace,
        .interest = UINT64_C(1) << GROUT_EVENT_ARRIVE | UINT64_C(1) << GROUT_EVENT_WAIT |
                    UINT64_C(1) << GROUT_EVENT_SIGNAL | UINT64_C(1) << GROUT_EVENT_SEMAPHORE_WAIT |
                    UINT64_C(1) << GROUT_EVENT_SEMAPHORE_READ |
                    UINT64_C(1) << GROUT_EVENT_NAMED_ARRIVE | UINT64_C(1) << GROUT_EVENT_DEADLOCK |
                    UINT64_C(1) << GROUT_EVENT_ACCESS | UINT64_C(1) << GROUT_EVENT_TEST_FALSE |
                    UINT64_C(1) << GROUT_EVENT_REGISTERS,
        .begin = begin,
        .event = observe,
    };
}

void grout_trace__deinit(grout_trace *trace) {
    grout__free(trace->steps.items);
    grout__free(trace->reversals.items);
    grout__free(trace->takings.items);
    grout__free(trace->serials.items);
    grout__free(trace->visitors.items);
    grout__free(trace->lasts.items);
    grout__free(trace->again.items);
    grout__free(trace->table);
    *trace = (grout_trace){0};
}

/* ---- after the run -------------------------------------------------------------------------- */

static bool has_serial(const grout_trace *trace, const grout_taking *taking, uint32_t serial) {
    for (uint32_t i = 0; i < taking->count; i++) {
        if (trace->serials.items[taking->first_serial + i] == serial) {
            return true;
        }
    }
    return false;
}

/* Whether some wait took only one of the two signals. */
static bool are_told_apart(const grout_trace *trace, const grout_step *a, const grout_step *b) {
    for (size_t i = 0; i < trace->takings.count; i++) {
        const grout_taking *taking = &trace->takings.items[i];
        if (taking->resource == a->resource &&
            has_serial(trace, taking, a->number) != has_serial(trace, taking, b->number)) {
            return true;
        }
    }
    return false;
}

/* Whether what the steps of a kind read or leave is a matter of the order of memory, not of an
 * instruction that the whole CTA meets at. */
static bool is_of_memory(const grout_step *step) {
    return step->kind != GROUT_STEP_NAMED && step->resource != RESOURCE_CLUSTERS;
}

/* Notes the bytes of an atomic that a rival works on too. */
static void touch(grout_step_memory *own, const grout_step_memory *rival) {
    const uint64_t low = rival->low > own->low ? rival->low : own->low;
    const uint64_t high = rival->high < own->high ? rival->high : own->high;
    if (low < high) {
        own->touched_low = low < own->touched_low ? low : own->touched_low;
        own->touched_high = high > own->touched_high ? high : own->touched_high;
    }
}

/* More than an element's bytes. */
static bool is_mixed(const grout_step_memory *memory) {
    return memory->touched_low < memory->touched_high &&
           memory->touched_high - memory->touched_low > memory->width;
}

/* Whether an atomic of several elements races at more than one of them: each is an atomic of its
 * own, and others may come in between. */
static void find_mixed(grout_trace *trace) {
    for (size_t i = 0; i < trace->reversals.count; i++) {
        grout_step_memory *first = &trace->steps.items[trace->reversals.items[i].first].memory;
        grout_step_memory *second = &trace->steps.items[trace->reversals.items[i].second].memory;
        touch(first, second);
        touch(second, first);
        trace->has_mixed = trace->has_mixed || is_mixed(first) || is_mixed(second);
    }
}

static void find_places(grout_trace *trace) {
    for (size_t i = 0; i < trace->reversals.count; i++) {
        const grout_step *step = &trace->steps.items[trace->reversals.items[i].second];
        if (is_of_memory(step)) {
            trace->has_places |= trace->place != 0 && trace->place != step->resource;
            trace->place = step->resource;
        }
    }
}

/*
 * Whether an actor goes round by one look and has looked there before the first step, with nothing
 * in between that the look could see: if its later look came before that step too, it would only be
 * one more turn.
 */
static bool is_one_more_turn(const grout_trace *trace, const grout_reversal *reversal) {
    const grout_step *first = &trace->steps.items[reversal->first];
    const grout_step *second = &trace->steps.items[reversal->second];
    const grout_step *turn = second->before == 0 ? NULL : &trace->steps.items[second->before - 1];
    if (turn == NULL || !turn->is_idle || turn->resource != second->resource ||
        turn->kind != second->kind || turn > first) {
        return false;
    }
    const grout_step *last = turn->before == 0 ? NULL : &trace->steps.items[turn->before - 1];
    if (last != NULL && last->is_idle && last->resource != turn->resource) {
        return false; /* it looks at something else, too */
    }
    for (const grout_step *step = turn + 1; step < first; step++) {
        if (step->resource == second->resource && !step->is_idle &&
            grout_trace__is_dependent(step, second)) {
            return false;
        }
    }
    return true;
}

void grout_trace__settle(grout_trace *trace) {
    size_t kept = 0;
    for (size_t i = 0; i < trace->reversals.count; i++) {
        const grout_reversal *reversal = &trace->reversals.items[i];
        const grout_step *first = &trace->steps.items[reversal->first];
        const grout_step *second = &trace->steps.items[reversal->second];
        bool are_signals = first->kind == GROUT_STEP_SIGNAL && second->kind == GROUT_STEP_SIGNAL;
        if (!first->is_idle && !second->is_idle && !is_one_more_turn(trace, reversal) &&
            (!are_signals || are_told_apart(trace, first, second))) {
            trace->reversals.items[kept++] = *reversal;
        }
    }
    trace->reversals.count = kept;
    find_places(trace);
    find_mixed(trace);
}
