/* view.h - what a thread knows of others, and what it hands over to those that wait for it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 9.1, 'Memory Consistency Model'. A release hands over a view, an acquire takes it, if
 * the scopes of both include both threads ('Morally strong operations'). A release and an
 * acquire that are too narrow for that still make known what engines are done with, and not what
 * they have written. That is a ruling of grout, and what CUTLASS does: a consumer gives a stage
 * back to the CTA that fills it by an arrival for its own CTA. Relaxed operations hand over what
 * fences have prepared, and no more. The fences of tcgen05 prepare what the tensor core has written
 * for edges whose scopes include both threads, and what it is done with for every edge.
 */
#ifndef GROUT_PTX_VIEW_H
#define GROUT_PTX_VIEW_H

#include "array.h"
#include "clock.h"

typedef enum ptx_known {
    PTX_KNOWN_THREADS, /* accesses of threads */
    PTX_KNOWN_ENGINES, /* what engines are done with */
    PTX_KNOWN_VISIBLE, /* of that, what a morally strong way leads from, so that it can be seen */
    PTX_KNOWN_BEGUN,   /* which CTAs have begun, and arrivals that have ended a phase: any way tells
                          of it */
    PTX_KNOWN_SHARED,  /* in shared memory, what fence.proxy.async has passed; agents renamed */
    PTX_KNOWN_GLOBAL,  /* the same in global memory; agents as they are */
    PTX_KNOWN_SEALED,  /* of the tensor core, what tcgen05.fence::before_thread_sync has passed */
    PTX_KNOWN_SEALED_SEEN, /* of that, what edges lead from whose scopes hold both threads */
    PTX_KNOWN_MAPS_OUT,    /* in tensor maps, what fence.proxy.tensormap of a release has passed */
    PTX_KNOWN_ADMITTED,    /* of the tensor core, what tcgen05.fence::after_thread_sync has; is not
                              handed over */
    PTX_KNOWN_ADMITTED_SEEN, /* of that, what can be seen; is not handed over */
    PTX_KNOWN_MAPS,          /* what that of an acquire has passed; is not handed over */
    PTX_KNOWN_COUNT
} ptx_known;

typedef struct ptx_view {
    ptx_clock *clocks[PTX_KNOWN_COUNT];
} ptx_view;

typedef enum ptx_scope {
    PTX_SCOPE_NONE,
    PTX_SCOPE_CTA,
    PTX_SCOPE_CLUSTER,
    PTX_SCOPE_GPU,
    PTX_SCOPE_SYS,
    PTX_SCOPE_COUNT
} ptx_scope;

ptx_view grout_ptx__share_view(const ptx_view *view);
void grout_ptx__drop_view(ptx_view *view);
/* All of another view, but for what is not handed over; false without memory. */
bool grout_ptx__join_view(ptx_view *view, const ptx_view *other);

/* How much of a view is handed over; each has those before it. What the tensor core has written
 * goes with each, see grout_ptx__join_seen. */
typedef enum ptx_handed {
    PTX_HANDED_FENCED,  /* what has begun, and what the fences of tcgen05 have sealed */
    PTX_HANDED_ENGINES, /* what engines are done with */
    PTX_HANDED_VISIBLE, /* what they have written */
    PTX_HANDED_ALL
} ptx_handed;

/* A part of another view; false without memory. */
bool grout_ptx__join_handed(ptx_view *view, const ptx_view *other, ptx_handed handed);
/* What the fences of tcgen05 have sealed can be seen, too; false without memory. */
bool grout_ptx__join_seen(ptx_view *view, const ptx_view *other);

/* What was handed over, by whom and for whom. */
typedef struct ptx_head {
    ptx_scope scope;
    ptx_scope carrier; /* of the write that hands it over, where that is an arrival; else NONE */
    ptx_handed handed; /* FENCED: by a relaxed operation; ALL: by a release */
    bool is_narrow;    /* the arrival and the wait have no scopes that include both threads */
    uint32_t cta;
    ptx_view view;
} ptx_head;

typedef GROUT_ARRAY(ptx_head) ptx_heads;

/* Whether a scope, as a thread of a CTA writes it, includes the threads of another one. */
bool grout_ptx__includes(ptx_scope scope, uint32_t cta, uint32_t other, uint32_t cluster_size);

/* Who takes: a thread of a CTA, with an acquire of a scope or by a relaxed operation
 * (PTX_SCOPE_NONE). */
typedef struct ptx_taker {
    uint32_t cta, cluster_size;
    ptx_scope scope;
} ptx_taker;

void grout_ptx__drop_heads(ptx_heads *heads);
/* A head more; the view is borrowed. False without memory, and where the means' time is over. */
bool grout_ptx__add_head(const ptx_means *means, ptx_heads *heads, const ptx_head *head);
bool grout_ptx__add_heads(const ptx_means *means, ptx_heads *heads, const ptx_heads *others);
/* Those of a phase; arrivals that are not morally strong with the taker's wait hand over what
 * engines are done with, and no more. */
bool grout_ptx__add_observed(const ptx_means *means, ptx_heads *heads, const ptx_heads *others,
                             const ptx_taker *wait);
/* Whether the taker gets all that the heads have, and not a part. */
bool grout_ptx__takes_all(const ptx_heads *heads, const ptx_taker *taker);
/* A view learns what the heads hand over to it. */
bool grout_ptx__take_heads(const ptx_means *means, const ptx_heads *heads, const ptx_taker *taker,
                           ptx_view *view);

#endif
