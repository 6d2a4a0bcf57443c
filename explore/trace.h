/* trace.h - the synchronisation steps of a run, and the pairs of them that could have happened in
 * the other order.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_EXPLORE_TRACE_H
#define GROUT_EXPLORE_TRACE_H

#include "array.h"
#include "orders.h"

typedef enum grout_step_kind {
    GROUT_STEP_ARRIVE, /* on a barrier: number is the phase */
    GROUT_STEP_PARITY, /* a wait or test that sees more of a barrier than one phase's completion;
                          number: GROUT_LOOK_.. */
    GROUT_STEP_SIGNAL, /* number: its serial */
    GROUT_STEP_TAKE,   /* a semaphore_wait that takes units, an increase of registers */
    GROUT_STEP_LOOK,   /* semaphore_read, or a wait that leaves the units */
    GROUT_STEP_FETCH,  /* an atomic with a result */
    GROUT_STEP_PEEK,   /* one that only reads */
    GROUT_STEP_UPDATE, /* one without; number: its kind and whether it commutes with its like */
    GROUT_STEP_NAMED   /* on a named barrier: number is the generation */
} grout_step_kind;

/* The number of a wait or test: it was the first to find the phase complete, which bytes in flight
 * completed; it is a test that was true. */
enum { GROUT_LOOK_LANDED = 1, GROUT_LOOK_TESTED = 2 };

/* What an atomic, a signal or a look at a semaphore works on, and where it is said that somebody
 * has heard of it in memory. */
typedef struct grout_step_memory {
    uint32_t width;                     /* bytes of an element; 0: the step is no atomic */
    uint32_t component, epoch;          /* counted in the cluster of the step */
    uint64_t low, high;                 /* bytes of the root, from low to before high */
    uint64_t touched_low, touched_high; /* settled: of them, those that rivals work on too */
} grout_step_memory;

/* One operation on one resource. */
typedef struct grout_step {
    uint64_t resource;
    uint32_t actor;     /* of the launch: CTA times actors of a CTA, plus actor */
    uint32_t cluster;   /* whose counters its epoch counts in */
    uint32_t component; /* x of the actor */
    uint32_t epoch;
    uint32_t number;
    uint8_t kind;      /* grout_step_kind */
    bool is_idle;      /* its actor was back at the same look with the same values after it, and
                          had changed nothing: it has only waited */
    uint64_t look;     /* place and values of a look; 0: none */
    uint64_t before;   /* the actor's step before, on any resource, plus 1 */
    uint64_t previous; /* the actor's step before on this resource, plus 1 */
    uint64_t earlier;  /* anybody's step before on this resource, plus 1 */
    size_t decision;   /* decisions made up to here */
    size_t learnt;     /* the newest decision of a step of another actor that it knows */
    grout_step_memory memory;
} grout_step;

/* Two steps on one resource that nothing orders and that do not commute: the earlier first. */
typedef struct grout_reversal {
    uint64_t first, second; /* of the steps */
} grout_reversal;

/* An actor that has done something to a resource: its last step there. */
typedef struct grout_visitor {
    uint64_t resource, step;
    uint64_t next; /* of the resource, plus 1 */
    uint32_t actor;
} grout_visitor;

/* Which signals a wait took. */
typedef struct grout_taking {
    uint64_t resource;
    uint32_t first_serial, count; /* in the serials */
} grout_taking;

typedef struct grout_trace {
    const grout_allocator *allocator;
    grout_observer observer;
    const grout_decisions *decisions; /* recorded by the run */
    grout_launch_info info;
    uint32_t local_actors;
    const uint8_t *orders; /* by root: grout_order_kind */
    GROUT_ARRAY(grout_step) steps;
    GROUT_ARRAY(grout_reversal) reversals;
    GROUT_ARRAY(grout_taking) takings;
    GROUT_ARRAY(uint32_t) serials;
    GROUT_ARRAY(grout_visitor) visitors;
    GROUT_ARRAY(uint64_t) lasts; /* of each actor that has done one, its newest step */
    uint64_t *table;             /* resource -> its first visitor, plus 1: open addressing */
    size_t table_size, table_used;
    uint64_t place;  /* whose order is a matter of chance; 0: none */
    bool has_places; /* more than one of those */
    bool has_weak;   /* an atomic has heard of another one in time, and maybe not in memory */
    bool has_mixed;  /* an atomic of several elements races at more than one of them */
    bool has_bulk;   /* reductions in flight: the order in which they land shows */
    GROUT_ARRAY(grout_op_id)
    again; /* ops that have looked again, with the same values: each once */
    bool has_failed;
} grout_trace;

/* An observer of one run; orders: grout_orders__find. Deinit at the end. */
void grout_trace__init(grout_trace *trace, const grout_allocator *allocator,
                       const grout_decisions *decisions, const uint8_t *orders);
void grout_trace__deinit(grout_trace *trace);
/* After the run: drops pairs of signals that every wait took or left together, and finds the places
 * (barriers, semaphores, elements) of which the order is a matter of chance. */
void grout_trace__settle(grout_trace *trace);
/* Whether later steps can see a difference if two steps on one resource change places. */
bool grout_trace__is_dependent(const grout_step *first, const grout_step *second);

#endif
