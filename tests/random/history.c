/* history.c - what each actor knows, as sets of accesses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

#define ACCESSES_MAX 2048
#define WORDS        (ACCESSES_MAX / 64)
#define RANKS_MAX    16

typedef struct access_set {
    uint64_t words[WORDS];
} access_set;

/* Accesses by the tensor core, and of tensor memory; seen: those that are over, and what they did
 * can be seen. */
typedef struct tensor_sets {
    access_set over, seen, issued;
} tensor_sets;

/* What an actor knows, or hands on. */
typedef struct knowledge {
    access_set engines;         /* done by an engine, but for the writes of bulk groups */
    access_set memory;          /* plain accesses, and those writes */
    access_set gmem[RANKS_MAX]; /* published by the CTA of this rank in the own cluster */
    access_set smem[RANKS_MAX];
    tensor_sets sealed;   /* travels on every edge; what can be seen, not with engines to peers */
    tensor_sets admitted; /* stays: what holds in tensor memory */
} knowledge;

/* Knowledge that waits to be taken: of a phase, a generation, a signal. */
typedef struct message {
    struct message *before; /* the one that was made before */
    uint64_t place, number;
    uint32_t cluster; /* of a signal: who sent it */
    knowledge knows;
} message;

struct history {
    const grout_module *module;
    grout_clock_shape shape;
    knowledge *actors; /* of the launch */
    grout_stamp stamps[ACCESSES_MAX];
    uint32_t count;
    message *newest;
};

enum { PHASE, GENERATION, SIGNAL, NAMED };

static void *take(void *memory) {
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static void add(access_set *set, uint32_t id) {
    set->words[id / 64] |= UINT64_C(1) << id % 64;
}

static bool has(const access_set *set, uint32_t id) {
    return set->words[id / 64] >> id % 64 & 1;
}

static void unite(access_set *into, const access_set *from) {
    for (uint32_t i = 0; i < WORDS; i++) {
        into->words[i] |= from->words[i];
    }
}

static void unite_in_time(tensor_sets *into, const tensor_sets *from) {
    unite(&into->over, &from->over);
    unite(&into->issued, &from->issued);
}

static void unite_tensors(tensor_sets *into, const tensor_sets *from) {
    unite_in_time(into, from);
    unite(&into->seen, &from->seen);
}

/* An edge that orders the tensor core, at its two ends. */
static void seal(knowledge *own) {
    unite_tensors(&own->sealed, &own->admitted);
}

static void admit(knowledge *own) {
    unite_tensors(&own->admitted, &own->sealed);
}

/* What travels from one cluster to another: what was published there says nothing here. */
static void absorb_from_abroad(const history *it, knowledge *into, const knowledge *from) {
    unite(&into->engines, &from->engines);
    unite(&into->memory, &from->memory);
    unite_tensors(&into->sealed, &from->sealed);
    for (uint32_t rank = 0; rank < it->shape.cta_count; rank++) {
        unite(&into->smem[rank], &from->smem[rank]);
    }
}

static void absorb(const history *it, knowledge *into, const knowledge *from) {
    absorb_from_abroad(it, into, from);
    for (uint32_t rank = 0; rank < it->shape.cta_count; rank++) {
        unite(&into->gmem[rank], &from->gmem[rank]);
    }
}

/* ---- who ------------------------------------------------------------------------------------- */

static uint32_t get_local_count(const history *it) {
    return it->shape.actor_count / it->shape.cta_count;
}

static knowledge *get_actor(const history *it, uint32_t cta, uint32_t local) {
    return &it->actors[(size_t)cta * get_local_count(it) + local];
}

static knowledge *get_own(const history *it, const grout_event *event) {
    return get_actor(it, event->origin.cta,
                     grout_clock_local_actor(&it->shape, event->origin.thread, event->origin.warp));
}

static uint32_t get_rank(const history *it, uint32_t cta) {
    return cta % it->shape.cta_count;
}

static uint32_t get_cluster(const history *it, uint32_t cta) {
    return cta / it->shape.cta_count;
}

static message *find_record(history *it, uint32_t kind, uint64_t place, uint64_t number) {
    place = place << 2 | kind;
    for (message *i = it->newest; i != NULL; i = i->before) {
        if (i->place == place && i->number == number) {
            return i;
        }
    }
    message *made = take(calloc(1, sizeof *made));
    made->place = place;
    made->number = number;
    made->before = it->newest;
    it->newest = made;
    return made;
}

static knowledge *find_message(history *it, uint32_t kind, uint64_t place, uint64_t number) {
    return &find_record(it, kind, place, number)->knows;
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* All that a mechanism has done up to a number. */
static void learn(history *it, knowledge *knows, uint32_t cluster, uint32_t component,
                  uint32_t number, bool is_memory) {
    for (uint32_t i = 0; i < it->count; i++) {
        const grout_stamp *stamp = &it->stamps[i];
        if (stamp->cluster == cluster && stamp->component == component && stamp->number <= number) {
            add(is_memory ? &knows->memory : &knows->engines, i);
        }
    }
}

bool history_add(history *it, const grout_event *event) {
    const grout_stamp *stamp = &event->u.access->stamp;
    if (it->count == ACCESSES_MAX) {
        return false;
    }
    it->stamps[it->count] = *stamp;
    if (stamp->agent == GROUT_AGENT_ACTOR) {
        add(&get_own(it, event)->memory, it->count);
    }
    add(&get_own(it, event)->admitted.issued, it->count); /* asked of MMAs alone */
    it->count++;
    return true;
}

/* What the completion of an engine carries to a barrier of a CTA: facts of its own cluster. */
static void hand_on_engines(const history *it, knowledge *into, const grout_event *event) {
    const knowledge *from = get_own(it, event);
    const uint32_t cluster = get_cluster(it, event->origin.cta);
    for (uint32_t i = 0; i < it->count; i++) {
        if (has(&from->engines, i) && it->stamps[i].cluster == cluster) {
            add(&into->engines, i);
        }
    }
    unite_in_time(&into->sealed, &from->sealed);
    if (event->u.arrive.cta == event->origin.cta) {
        unite(&into->sealed.seen, &from->sealed.seen);
    }
}

/* The tensor core arrives: all that its lane has issued is over, as its issuer knew the rest. */
static void commit(history *it, const grout_event *event, knowledge *phase) {
    const knowledge *own = get_own(it, event);
    const uint32_t cluster = get_cluster(it, event->origin.cta);
    const uint32_t component = grout_clock_tcgen05(
        &it->shape, grout_clock_lane(&it->shape, get_rank(it, event->origin.cta),
                                     grout_clock_local_lane(&it->shape, event->origin.thread,
                                                            event->origin.warp)));
    hand_on_engines(it, phase, event);
    unite_tensors(&phase->sealed, &own->admitted);
    learn(it, phase, cluster, component, UINT32_MAX, false);
    for (uint32_t i = 0; i < it->count; i++) {
        if (it->stamps[i].cluster == cluster && it->stamps[i].component == component) {
            add(&phase->sealed.over, i);
            add(&phase->sealed.seen, i);
            add(&phase->sealed.issued, i);
        }
    }
}

static bool orders_tensor_core(const history *it, grout_object_id id) {
    const grout_object *object = grout_module_get_object(it->module, id);
    return object->is_explicit || object->orders_tensor_core;
}

/* Whether the barrier among the operands orders the tensor core. */
static bool is_tensor_edge(const history *it, const grout_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        grout_view view;
        if (grout_module_get_view(it->module, grout_module_get_operand(it->module, op, i), &view) &&
            grout_module_get_object(it->module, view.object)->kind == GROUT_OBJECT_BARRIER) {
            return orders_tensor_core(it, view.object);
        }
    }
    return false;
}

static void arrive(history *it, const grout_event *event) {
    knowledge *own = get_own(it, event);
    const grout_op *op = grout_module_get_op(it->module, event->origin.op);
    const uint64_t place = (uint64_t)event->u.arrive.cta << 20 | event->u.arrive.element;
    const uint32_t cluster = get_cluster(it, event->origin.cta);
    knowledge *phase =
        find_message(it, PHASE, place, event->u.arrive.phase_base + event->u.arrive.phase);
    if (event->u.arrive.is_bytes) {
        hand_on_engines(it, phase, event);
        return;
    }
    if (op->opcode == GROUT_OP_TCGEN05_COMMIT_ARRIVE) {
        commit(it, event, phase);
        return;
    }
    if (is_tensor_edge(it, op)) {
        seal(own);
    }
    absorb(it, phase, own);
    if (op->opcode == GROUT_OP_ASYNC_COPY_ARRIVE) {
        const uint32_t actor = grout_clock_actor(
            &it->shape, get_rank(it, event->origin.cta),
            grout_clock_local_actor(&it->shape, event->origin.thread, event->origin.warp));
        learn(it, phase, cluster, grout_clock_async_copy(&it->shape, actor), UINT32_MAX, false);
    }
}

static void wait(history *it, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.wait.barrier;
    const uint64_t place = (uint64_t)barrier->cta << 20 | barrier->element;
    const uint32_t rank = get_rank(it, barrier->cta);
    knowledge *own = get_own(it, event);
    if (event->u.wait.phase == UINT32_MAX) {
        return;
    }
    const uint32_t number = barrier->phase_base + event->u.wait.phase;
    absorb(it, own, find_message(it, PHASE, place, number));
    learn(it, own, get_cluster(it, barrier->cta),
          grout_clock_phase(&it->shape, grout_clock_barrier(&it->shape, rank, barrier->element)),
          number + 1, false);
    if (orders_tensor_core(it, barrier->object)) {
        admit(own);
    }
}

static void meet(history *it, uint32_t cta) {
    knowledge all = {0};
    for (uint32_t i = 0; i < it->shape.thread_count; i++) {
        seal(get_actor(it, cta, i));
        absorb(it, &all, get_actor(it, cta, i));
    }
    for (uint32_t i = 0; i < it->shape.thread_count; i++) {
        absorb(it, get_actor(it, cta, i), &all);
        admit(get_actor(it, cta, i));
    }
}

static uint64_t get_place(const grout_event *event) {
    const grout_semaphore_fact *semaphore = event->u.semaphore.semaphore;
    return (uint64_t)semaphore->object << 44 | (uint64_t)semaphore->index << 24 |
           (semaphore->cta & 0xffffff);
}

static knowledge *find_named(history *it, const grout_event *event) {
    return find_message(it, NAMED, (uint64_t)event->origin.cta << 8 | event->u.named.id,
                        event->u.named.generation);
}

static void send(history *it, const grout_event *event) {
    message *made = find_record(it, SIGNAL, get_place(event), event->u.semaphore.serial);
    made->cluster = get_cluster(it, event->origin.cta);
    absorb(it, &made->knows, get_own(it, event));
}

static void wait_for_signals(history *it, const grout_event *event) {
    knowledge *own = get_own(it, event);
    uint32_t newest = 0;
    for (uint32_t i = 0; i < event->u.semaphore.serial_count; i++) {
        const uint32_t serial = event->u.semaphore.serials[i];
        newest = newest < serial ? serial : newest;
        const message *signal = find_record(it, SIGNAL, get_place(event), serial);
        if (signal->cluster == get_cluster(it, event->origin.cta)) {
            absorb(it, own, &signal->knows);
        } else {
            absorb_from_abroad(it, own, &signal->knows);
        }
    }
    for (uint32_t i = 0; i < newest; i++) { /* facts in time, of all before */
        unite(&own->engines, &find_message(it, SIGNAL, get_place(event), i)->engines);
    }
}

/* The thread's loads or stores of tensor memory are over. */
static void wait_for_tmem(history *it, const grout_event *event) {
    const uint32_t rank = get_rank(it, event->origin.cta);
    const uint32_t local =
        grout_clock_local_actor(&it->shape, event->origin.thread, event->origin.warp);
    const uint32_t actor = grout_clock_actor(&it->shape, rank, local);
    const uint32_t component = event->u.group.read_only ? grout_clock_tmem_load(&it->shape, actor)
                                                        : grout_clock_tmem_store(&it->shape, actor);
    knowledge *own = get_own(it, event);
    learn(it, own, get_cluster(it, event->origin.cta), component, event->u.group.number, false);
    for (uint32_t i = 0; i < it->count; i++) {
        if (it->stamps[i].cluster == get_cluster(it, event->origin.cta) &&
            it->stamps[i].component == component && it->stamps[i].number <= event->u.group.number) {
            add(&own->admitted.over, i);
            add(&own->admitted.seen, i);
        }
    }
}

static void wait_for_group(history *it, const grout_event *event) {
    const uint32_t rank = get_rank(it, event->origin.cta);
    const uint32_t cluster = get_cluster(it, event->origin.cta);
    const uint32_t local =
        grout_clock_local_actor(&it->shape, event->origin.thread, event->origin.warp);
    const uint32_t actor = grout_clock_actor(&it->shape, rank, local);
    const uint32_t number = event->u.group.number;
    knowledge *own = get_own(it, event);
    if (event->kind == GROUT_EVENT_WGMMA_WAIT) {
        learn(it, own, cluster, grout_clock_wgmma(&it->shape, actor), number, false);
    } else if (event->kind == GROUT_EVENT_ASYNC_COPY_WAIT) {
        learn(it, own, cluster, grout_clock_async_copy(&it->shape, actor), number, false);
    } else {
        const uint32_t lane = event->u.group.lane; /* in the cluster */
        learn(it, own, cluster, grout_clock_bulk_read(&it->shape, lane), number, false);
        if (!event->u.group.read_only) {
            learn(it, own, cluster, grout_clock_bulk_written(&it->shape, lane), number, true);
        }
    }
}

static void publish(history *it, const grout_event *event) {
    knowledge *own = get_own(it, event);
    const uint32_t rank = get_rank(it, event->origin.cta);
    access_set *into = event->kind == GROUT_EVENT_COMMIT_GMEM ? &own->gmem[rank] : &own->smem[rank];
    unite(into, &own->engines);
    unite(into, &own->memory);
}

static void fork_or_join(history *it, const grout_event *event) {
    knowledge *own = get_own(it, event);
    for (uint32_t i = 0; i < event->u.fork.actor_count; i++) {
        knowledge *child = get_actor(it, event->origin.cta, event->u.fork.actors[i]);
        knowledge *from = event->kind == GROUT_EVENT_FORK ? own : child;
        knowledge *into = event->kind == GROUT_EVENT_FORK ? child : own;
        if (child != own) {
            seal(from);
            absorb(it, into, from);
            admit(into);
        }
    }
}

void history_take(history *it, const grout_event *event) {
    switch (event->kind) {
    case GROUT_EVENT_ARRIVE:
        arrive(it, event);
        break;
    case GROUT_EVENT_WAIT:
        wait(it, event);
        break;
    case GROUT_EVENT_COMMIT_SMEM:
    case GROUT_EVENT_COMMIT_GMEM:
        publish(it, event);
        break;
    case GROUT_EVENT_GROUP_WAIT:
    case GROUT_EVENT_WGMMA_WAIT:
    case GROUT_EVENT_ASYNC_COPY_WAIT:
        wait_for_group(it, event);
        break;
    case GROUT_EVENT_TMEM_WAIT:
        wait_for_tmem(it, event);
        break;
    case GROUT_EVENT_BLOCK_BARRIER:
        meet(it, event->origin.cta);
        break;
    case GROUT_EVENT_CLUSTER_ARRIVE:
        absorb(it,
               find_message(it, GENERATION, get_cluster(it, event->origin.cta),
                            event->u.rendezvous.generation),
               get_own(it, event));
        break;
    case GROUT_EVENT_CLUSTER_WAIT:
        absorb(it, get_own(it, event),
               find_message(it, GENERATION, get_cluster(it, event->origin.cta),
                            event->u.rendezvous.generation));
        break;
    case GROUT_EVENT_NAMED_ARRIVE:
        absorb(it, find_named(it, event), get_own(it, event));
        break;
    case GROUT_EVENT_NAMED_SYNC:
        absorb(it, get_own(it, event), find_named(it, event));
        break;
    case GROUT_EVENT_SIGNAL:
        send(it, event);
        break;
    case GROUT_EVENT_SEMAPHORE_WAIT:
        wait_for_signals(it, event);
        break;
    case GROUT_EVENT_FORK:
    case GROUT_EVENT_JOIN:
        fork_or_join(it, event);
        break;
    default:
        break;
    }
}

bool history_knows(const history *it, const grout_event *event, uint32_t access) {
    const knowledge *own = get_own(it, event);
    return has(&own->engines, access) || has(&own->memory, access);
}

bool history_is_published(const history *it, const grout_event *event, uint32_t access,
                          bool is_smem, uint32_t rank) {
    const knowledge *own = get_own(it, event);
    return has(is_smem ? &own->smem[rank] : &own->gmem[get_rank(it, event->origin.cta)], access);
}

bool history_is_over_in_tmem(const history *it, const grout_event *event, uint32_t access,
                             bool is_seen) {
    const tensor_sets *admitted = &get_own(it, event)->admitted;
    return has(is_seen ? &admitted->seen : &admitted->over, access);
}

bool history_is_issued(const history *it, const grout_event *event, uint32_t access) {
    return has(&get_own(it, event)->admitted.issued, access);
}

history *history_new(const grout_launch_info *info) {
    history *it = take(calloc(1, sizeof *it));
    it->shape = info->shape;
    it->module = info->module;
    it->actors = take(calloc((size_t)info->cta_count * get_local_count(it), sizeof *it->actors));
    return it;
}

void history_free(history *it) {
    while (it != NULL && it->newest != NULL) {
        message *newest = it->newest;
        it->newest = newest->before;
        free(newest);
    }
    if (it != NULL) {
        free(it->actors);
    }
    free(it);
}
