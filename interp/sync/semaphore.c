/*
 * semaphore.c - semaphores: which signals there were, and which waits took their units.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A wait takes units of signals and acquires what these signals released (memory facts). It also
 * knows that all signals before them have happened (engine facts). Signals whose units are all
 * taken are forgotten, except for their engine facts, unless some wait of the kernel looks without
 * taking.
 */
#include "semaphore.h"
#include "hash.h"

#include "handover.h"

#include <string.h>

GROUT_NO_PADDING_BEGIN

/* A semaphore that has been used. Key: element, CTA (UINT32_MAX for a global one). */
typedef struct record {
    grout_keyed head;
    /* not hashed: places in pools */
    uint32_t first, last; /* signals kept, the oldest first */
    uint32_t front;       /* the first of them with units left */
    /* hashed, from here on */
    uint32_t units; /* that nobody has taken */
    uint64_t total; /* units since the launch began */
    uint32_t signal_count, wait_count;
    uint32_t has_signal;
    grout_origin last_signal;
    GROUT_STATE_END
} record;

typedef struct signal_record {
    /* not hashed: places in pools */
    uint32_t link, next;
    uint32_t set; /* of clocks */
    /* hashed, from here on */
    uint32_t units, left; /* brought; not taken */
    uint32_t serial;
    uint32_t cta;
    uint8_t order, scope;
    uint8_t reserved[2];
    GROUT_STATE_END
} signal_record;

GROUT_NO_PADDING_END

/* Engine facts of forgotten signals: those of one cluster to one semaphore. Key: index of the
 * semaphore's record, cluster. */
typedef struct past_record {
    grout_keyed head;
    uint32_t set;
    uint32_t reserved;
} past_record;

static grout_keyed_table get_table(const grout_machine *machine) {
    return grout_machine__table(machine, GROUT_POOL_SEMAPHORES);
}
static grout_keyed_table get_pasts(const grout_machine *machine) {
    return grout_machine__table(machine, GROUT_POOL_SIGNAL_PASTS);
}
static record *get_record(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(grout_machine__pool(machine, GROUT_POOL_SEMAPHORES), index);
}
static signal_record *get_signal(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(grout_machine__pool(machine, GROUT_POOL_SIGNALS), index);
}
static past_record *get_past(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(get_pasts(machine).records, index);
}

void grout_semaphore__begin(grout_machine *machine) {
    grout_machine__pool(machine, GROUT_POOL_SIGNALS)->item_size = sizeof(signal_record);
    grout_keyed__init(get_table(machine), sizeof(record));
    grout_keyed__init(get_pasts(machine), sizeof(past_record));
}

static const grout_semaphore_plan *get_plan(const grout_machine *machine, uint32_t element) {
    return grout_plan__semaphore(machine->plan, element);
}

static uint32_t find(const grout_machine *machine, grout_semaphore_key key) {
    bool is_global = get_plan(machine, key.element)->is_global;
    return grout_keyed__find(get_table(machine), key.element, is_global ? UINT32_MAX : key.cta);
}

static uint32_t get(grout_machine *machine, grout_semaphore_key key) {
    bool is_global = get_plan(machine, key.element)->is_global;
    uint32_t index = grout_keyed__get(get_table(machine), key.element,
                                      is_global ? UINT32_MAX : key.cta, &machine->heap);
    machine->run.has_failed |= index == 0;
    return index;
}

uint32_t grout_semaphore__get_units(const grout_machine *machine, grout_semaphore_key key) {
    uint32_t index = find(machine, key);
    return index == 0 ? 0 : get_record(machine, index)->units;
}

static uint64_t get_available(const grout_machine *machine, grout_semaphore_key key,
                              bool no_decrement) {
    uint32_t index = find(machine, key);
    if (index == 0) {
        return 0;
    }
    const record *own = get_record(machine, index);
    return no_decrement ? own->total : own->units;
}

bool grout_semaphore__has(const grout_machine *machine, const grout_semaphore_op *op) {
    return get_available(machine, op->key, op->no_decrement) >= op->units;
}

grout_semaphore_fact grout_semaphore__get_fact(const grout_machine *machine,
                                               grout_semaphore_key key) {
    const grout_semaphore_plan *plan = get_plan(machine, key.element);
    grout_semaphore_fact fact = {.object = plan->object,
                                 .index = plan->index,
                                 .cta = plan->is_global ? UINT32_MAX : key.cta};
    uint32_t index = find(machine, key);
    if (index != 0) {
        const record *own = get_record(machine, index);
        fact.units = own->units;
        fact.signal_count = own->signal_count;
        fact.wait_count = own->wait_count;
        fact.has_signal = own->has_signal != 0;
        fact.last_signal = own->last_signal;
    }
    return fact;
}

/* ---- signals -----------------------------------------------------------------------------------
 */

static void publish_signal(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           const grout_semaphore_op *op) {
    grout_machine *machine = cta->machine;
    if (!grout_machine__wants(machine, GROUT_EVENT_SIGNAL)) {
        return;
    }
    grout_clocks clocks;
    grout_event event = grout_cta__event(cta, GROUT_EVENT_SIGNAL, actor, inst, &clocks);
    grout_semaphore_fact fact = grout_semaphore__get_fact(machine, op->key);
    event.u.semaphore.semaphore = &fact;
    event.u.semaphore.units = op->units;
    event.u.semaphore.order = op->order;
    event.u.semaphore.scope = op->scope;
    event.u.semaphore.serial = fact.signal_count;
    grout_machine__publish(machine, &event);
}

/* Waiting actors try again: for a global semaphore, in all clusters that are in flight. */
static void wake(const grout_cta *cta, grout_semaphore_key key) {
    grout_machine *machine = cta->machine;
    if (get_plan(machine, key.element)->is_global) {
        grout_machine__wake_all(machine, GROUT_THREAD_BLOCKED_SEMAPHORE, key.element);
    } else {
        grout_cta__wake(cta, GROUT_THREAD_BLOCKED_SEMAPHORE, key.element);
    }
}

static void append(grout_machine *machine, uint32_t semaphore, uint32_t signal) {
    record *own = get_record(machine, semaphore);
    if (own->last != 0) {
        get_signal(machine, own->last)->next = signal;
    } else {
        own->first = signal;
    }
    own->last = signal;
    own->front = own->front == 0 ? signal : own->front;
}

static void fault_range(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                        const grout_semaphore_op *op, int64_t have) {
    const grout_semaphore_plan *plan = get_plan(cta->machine, op->key.element);
    grout_fault fault = {.code = GROUT_DIAG_SEMAPHORE_RANGE,
                         .object = plan->object,
                         .element = plan->index,
                         .have = have,
                         .need = GROUT_SEMAPHORE_UNITS_MAX};
    grout_cta__fault(cta, actor, inst, 0, &fault);
}

void grout_semaphore__signal(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                             const grout_semaphore_op *op) {
    grout_machine *machine = cta->machine;
    int64_t sum = (int64_t)grout_semaphore__get_units(machine, op->key) + op->units;
    if (sum > GROUT_SEMAPHORE_UNITS_MAX) {
        fault_range(cta, actor, inst, op, sum);
        return;
    }
    uint32_t semaphore = get(machine, op->key);
    uint32_t index =
        grout_pool__take(grout_machine__pool(machine, GROUT_POOL_SIGNALS), &machine->heap);
    if (semaphore == 0 || index == 0) {
        machine->run.has_failed = true;
        return;
    }
    publish_signal(cta, actor, inst, op);
    signal_record *signal = get_signal(machine, index);
    record *own = get_record(machine, semaphore);
    signal->units = signal->left = op->units;
    signal->serial = own->signal_count++;
    signal->cta = grout_cta__head(cta)->index;
    signal->order = op->order;
    signal->scope = op->scope;
    own->total += op->units;
    own->units += op->units;
    own->has_signal = 1;
    own->last_signal = grout_cta__origin(cta, actor, inst);
    append(machine, semaphore, index);
    uint32_t set = grout_handover__capture(cta, actor);
    get_signal(machine, index)->set = set;
    wake(cta, op->key);
}

/* ---- waits -------------------------------------------------------------------------------------
 */

/* Called for each signal that a wait takes or looks at, from the first on, with its units. */
typedef void signal_visitor(grout_machine *machine, void *payload, uint32_t signal, uint32_t units);

static void visit_signals(grout_machine *machine, const record *own, const grout_semaphore_op *op,
                          signal_visitor *visitor, void *payload) {
    uint32_t needed = op->units;
    uint32_t index = op->no_decrement ? own->first : own->front;
    while (needed > 0 && index != 0) {
        const signal_record *signal = get_signal(machine, index);
        uint32_t next = signal->next;
        uint32_t there = op->no_decrement ? signal->units : signal->left;
        uint32_t part = there < needed ? there : needed;
        if (part > 0) {
            visitor(machine, payload, index, part);
        }
        needed -= part;
        index = next;
    }
}

typedef struct wait_walk {
    const grout_cta *cta;
    uint32_t actor;
    const grout_semaphore_op *op;
    uint32_t count; /* of serials */
} wait_walk;

static void add_serial(grout_machine *machine, void *payload, uint32_t signal, uint32_t units) {
    wait_walk *walk = payload;
    grout_pool *scratch = grout_machine__pool(machine, GROUT_POOL_SCRATCH);
    (void)units;
    scratch->count = walk->count;
    if (walk->count == scratch->capacity &&
        !grout_pool__reserve(scratch, &machine->heap, 2 * walk->count + 16)) {
        machine->run.has_failed = true;
        return;
    }
    *(uint32_t *)grout_pool__at(scratch, walk->count++) = get_signal(machine, signal)->serial;
}

static bool releases(uint32_t order) {
    return order == GROUT_CHOICE_ORDER_RELEASE || order == GROUT_CHOICE_ORDER_ACQ_REL;
}
static bool acquires(uint32_t order) {
    return order == GROUT_CHOICE_ORDER_ACQUIRE || order == GROUT_CHOICE_ORDER_ACQ_REL;
}

static void absorb_signal(grout_machine *machine, void *payload, uint32_t index, uint32_t units) {
    wait_walk *walk = payload;
    const grout_cta *cta = walk->cta;
    const signal_record *signal = get_signal(machine, index);
    uint32_t own = grout_cta__head(cta)->index;
    uint32_t cluster_size = grout_machine__cluster_size(machine);
    bool is_strong = releases(signal->order) && acquires(walk->op->order) &&
                     grout_order__covers(signal->scope, signal->cta, own, cluster_size) &&
                     grout_order__covers(walk->op->scope, own, signal->cta, cluster_size);
    (void)units;
    grout_handover__absorb(cta, walk->actor, signal->set, signal->cta,
                           is_strong ? GROUT_EDGE_STRONG
                                     : grout_edge__get_weak(signal->cta == own));
}

static uint32_t get_cluster(const grout_cta *cta) {
    return grout_cta__head(cta)->index / grout_machine__cluster_size(cta->machine);
}

/* Engine facts of all signals before those that a wait takes. Only signals of its own cluster
 * count: others have nothing that it could use. */
static void absorb_past(const grout_cta *cta, uint32_t actor, uint32_t semaphore) {
    grout_machine *machine = cta->machine;
    uint32_t index = grout_keyed__find(get_pasts(machine), semaphore, get_cluster(cta));
    if (index != 0) {
        grout_handover__absorb(cta, actor, get_past(machine, index)->set,
                               grout_cta__head(cta)->index, GROUT_EDGE_ENGINE_AWAY);
    }
}

static void note_past(grout_machine *machine, uint32_t semaphore, uint32_t index) {
    const signal_record *signal = get_signal(machine, index);
    uint32_t cluster = signal->cta / grout_machine__cluster_size(machine), set = signal->set;
    uint32_t past = grout_keyed__get(get_pasts(machine), semaphore, cluster, &machine->heap);
    if (past == 0) {
        machine->run.has_failed = true;
        return;
    }
    if (get_past(machine, past)->set == 0) {
        get_past(machine, past)->set = grout_handover__new(machine);
    }
    grout_handover__join(machine, get_past(machine, past)->set, set, GROUT_EDGE_ENGINE_AWAY);
}

static void take_units(grout_machine *machine, void *payload, uint32_t index, uint32_t units) {
    (void)payload;
    GROUT_ASSERT(get_signal(machine, index)->left >= units);
    get_signal(machine, index)->left -= units;
}

static void drop_signal(grout_machine *machine, uint32_t index) {
    grout_handover__give(machine, get_signal(machine, index)->set);
    grout_pool__give(grout_machine__pool(machine, GROUT_POOL_SIGNALS), index);
}

/* Signals without units left are over, and (unless waits look at them without taking) forgotten. */
static void advance(grout_machine *machine, uint32_t semaphore, bool keeps_all) {
    record *own = get_record(machine, semaphore);
    while (own->front != 0 && get_signal(machine, own->front)->left == 0) {
        uint32_t index = own->front;
        own->front = get_signal(machine, index)->next;
        if (get_signal(machine, index)->set != 0) {
            note_past(machine, semaphore, index);
        }
        if (!keeps_all) {
            own->first = own->front;
            own->last = own->first == 0 ? 0 : own->last;
            drop_signal(machine, index);
        }
    }
}

static void publish_wait(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                         const grout_semaphore_op *op, uint32_t serial_count) {
    grout_machine *machine = cta->machine;
    grout_clocks clocks;
    grout_event event = grout_cta__event(cta, GROUT_EVENT_SEMAPHORE_WAIT, actor, inst, &clocks);
    grout_semaphore_fact fact = grout_semaphore__get_fact(machine, op->key);
    event.u.semaphore.semaphore = &fact;
    event.u.semaphore.units = op->units;
    event.u.semaphore.no_decrement = op->no_decrement;
    event.u.semaphore.order = op->order;
    event.u.semaphore.scope = op->scope;
    event.u.semaphore.serials = grout_pool__at(grout_machine__pool(machine, GROUT_POOL_SCRATCH), 0);
    event.u.semaphore.serial_count = serial_count;
    grout_machine__publish(machine, &event);
}

void grout_semaphore__take(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           const grout_semaphore_op *op) {
    grout_machine *machine = cta->machine;
    uint32_t semaphore = get(machine, op->key);
    wait_walk walk = {.cta = cta, .actor = actor, .op = op};
    if (semaphore == 0) {
        return;
    }
    if (grout_machine__wants(machine, GROUT_EVENT_SEMAPHORE_WAIT)) {
        visit_signals(machine, get_record(machine, semaphore), op, add_serial, &walk);
        publish_wait(cta, actor, inst, op, walk.count);
        grout_pool__clear(grout_machine__pool(machine, GROUT_POOL_SCRATCH));
    }
    if (machine->has_clocks) {
        if (!op->no_decrement) {
            absorb_past(cta, actor, semaphore);
        }
        visit_signals(machine, get_record(machine, semaphore), op, absorb_signal, &walk);
    }
    record *own = get_record(machine, semaphore);
    own->wait_count++;
    if (!op->no_decrement) {
        visit_signals(machine, own, op, take_units, &walk);
        GROUT_ASSERT(own->units >= op->units);
        own->units -= op->units;
        advance(machine, semaphore, get_plan(machine, op->key.element)->keeps_all);
    }
}

/* ---- ends --------------------------------------------------------------------------------------
 */

/* A fault of the whole life of a semaphore, at its declaration. */
static void publish_end(grout_machine *machine, grout_semaphore_key key, const record *own,
                        const grout_fault *of_code) {
    const grout_semaphore_plan *plan = get_plan(machine, key.element);
    grout_fault fault = *of_code;
    grout_event event;
    fault.object = plan->object;
    fault.element = plan->index;
    fault.is_static = true;
    memset(&event, 0, sizeof event);
    event.kind = GROUT_EVENT_FAULT;
    event.step = machine->run.stats.steps;
    event.origin.cta = plan->is_global ? own->last_signal.cta : key.cta;
    event.u.fault = &fault;
    grout_machine__publish(machine, &event);
}

/* A GPU keeps the units of the whole launch in 32 bits. Only a wait that looks at them can tell. */
static void publish_ends(grout_machine *machine, grout_semaphore_key key, const record *own) {
    if (own->units != 0) {
        publish_end(machine, key, own,
                    &(grout_fault){.code = GROUT_DIAG_SEMAPHORE_NOT_RESTORED, .have = own->units});
    }
    if (own->total > UINT32_MAX && get_plan(machine, key.element)->keeps_all) {
        publish_end(machine, key, own,
                    &(grout_fault){.code = GROUT_DIAG_SEMAPHORE_RANGE,
                                   .have = (int64_t)own->total,
                                   .need = UINT32_MAX});
    }
}

static void remove_pasts(grout_machine *machine, uint32_t semaphore) {
    grout_keyed_table pasts = get_pasts(machine);
    for (uint32_t i = grout_keyed__next(pasts, 0); i != 0;) {
        const past_record *past = get_past(machine, i);
        uint32_t next = grout_keyed__next(pasts, i);
        if (past->head.key[0] == semaphore) {
            grout_handover__give(machine, past->set);
            grout_keyed__remove(pasts, i);
        }
        i = next;
    }
}

static void end_semaphore(grout_machine *machine, grout_semaphore_key key) {
    uint32_t index = find(machine, key);
    if (index == 0) {
        return;
    }
    const record *own = get_record(machine, index);
    if (grout_machine__wants(machine, GROUT_EVENT_FAULT)) {
        publish_ends(machine, key, own);
    }
    for (uint32_t i = own->first; i != 0;) {
        uint32_t next = get_signal(machine, i)->next;
        drop_signal(machine, i);
        i = next;
    }
    remove_pasts(machine, index);
    grout_keyed__remove(get_table(machine), index);
}

void grout_semaphore__end_cta(grout_machine *machine, uint32_t cta) {
    for (uint32_t i = 0; i < grout_plan__get_semaphore_count(machine->plan); i++) {
        if (!get_plan(machine, i)->is_global) {
            end_semaphore(machine, (grout_semaphore_key){i, cta});
        }
    }
}

void grout_semaphore__end_scope(grout_machine *machine, uint32_t cta,
                                const grout_object_id *objects, uint32_t count) {
    for (uint32_t i = 0; i < grout_plan__get_semaphore_count(machine->plan); i++) {
        for (uint32_t k = 0; k < count; k++) {
            if (get_plan(machine, i)->object == objects[k]) {
                end_semaphore(machine, (grout_semaphore_key){i, cta});
            }
        }
    }
}

void grout_semaphore__end_launch(grout_machine *machine) {
    for (uint32_t i = 0; i < grout_plan__get_semaphore_count(machine->plan); i++) {
        if (get_plan(machine, i)->is_global) {
            end_semaphore(machine, (grout_semaphore_key){i, UINT32_MAX});
        }
    }
}

static bool add_fact(grout_machine *machine, grout_semaphore_key key) {
    grout_pool *facts = &machine->scratch[GROUT_SCRATCH_SEMAPHORE_FACTS];
    if (facts->count == facts->capacity &&
        !grout_pool__reserve(facts, &machine->heap, 2 * facts->count + 16)) {
        return false;
    }
    *(grout_semaphore_fact *)grout_pool__at(facts, facts->count++) =
        grout_semaphore__get_fact(machine, key);
    return true;
}

bool grout_semaphore__add_facts(grout_machine *machine, uint32_t cta) {
    for (uint32_t i = 0; i < grout_plan__get_semaphore_count(machine->plan); i++) {
        if (get_plan(machine, i)->is_global == (cta == UINT32_MAX) &&
            !add_fact(machine, (grout_semaphore_key){i, cta})) {
            return false;
        }
    }
    return true;
}

uint32_t grout_semaphore__find_fact(const grout_machine *machine, grout_semaphore_key key) {
    const grout_semaphore_plan *plan = get_plan(machine, key.element);
    const grout_semaphore_fact *facts =
        grout_pool__at(&machine->scratch[GROUT_SCRATCH_SEMAPHORE_FACTS], 0);
    uint32_t cta = plan->is_global ? UINT32_MAX : key.cta;
    for (uint32_t i = 0; i < machine->scratch[GROUT_SCRATCH_SEMAPHORE_FACTS].count; i++) {
        if (facts[i].object == plan->object && facts[i].index == plan->index &&
            facts[i].cta == cta) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* The sum of a hash of each semaphore: they have no order of their own. */
uint64_t grout_semaphore__hash(const grout_machine *machine, uint64_t hash) {
    uint64_t sum = 0;
    grout_keyed_table table = get_table(machine);
    for (uint32_t i = grout_keyed__next(table, 0); i != 0; i = grout_keyed__next(table, i)) {
        const record *own = get_record(machine, i);
        GROUT_ASSERT(own != NULL);
        uint64_t part = grout_hash__bytes(1, own->head.key, sizeof own->head.key);
        part = GROUT_HASH_FACTS(part, own, record, units);
        for (uint32_t k = own->first; k != 0; k = get_signal(machine, k)->next) {
            const signal_record *signal = get_signal(machine, k);
            part = GROUT_HASH_FACTS(part, signal, signal_record, units);
            part = grout_handover__hash(machine, signal->set, part);
        }
        for (uint32_t p = grout_keyed__next(get_pasts(machine), 0); p != 0;
             p = grout_keyed__next(get_pasts(machine), p)) {
            const past_record *past = get_past(machine, p);
            if (past->head.key[0] == i) {
                sum += grout_handover__hash(machine, past->set, part + past->head.key[1]);
            }
        }
        sum += part;
    }
    return hash ^ sum * UINT64_C(0x9e3779b97f4a7c15);
}
