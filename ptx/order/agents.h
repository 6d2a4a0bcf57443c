/* agents.h - numbers of agents that access memory: the lanes of a warp, and the engines that work
 * for them. The times of an agent's lane go up. SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_AGENTS_H
#define GROUT_PTX_AGENTS_H

#include <stdint.h>

typedef enum ptx_agent_kind {
    PTX_AGENT_THREADS,
    PTX_AGENT_INITS,         /* mbarrier.init, which has a fence of its own */
    PTX_AGENT_COPIES,        /* cp.async, lane by lane; a time is a number of them */
    PTX_AGENT_BULK_READS,    /* of bulk groups */
    PTX_AGENT_BULK_WRITES,   /* the same, when they have written */
    PTX_AGENT_PRODUCTS,      /* wgmma, all by lane 0 */
    PTX_AGENT_TENSOR,        /* tcgen05.mma, cp and shift; a time is a number of them */
    PTX_AGENT_TENSOR_ISSUED, /* that they have been started */
    PTX_AGENT_TENSOR_LOADS,
    PTX_AGENT_TENSOR_STORES,
    PTX_AGENT_BARRIER,  /* what an mbarrier hears of; a time is a phase; not of a warp */
    PTX_AGENT_LOCATION, /* who has observed a place's strong writes; a time is a number of them */
    PTX_AGENT_BEGUN,    /* a CTA of a cluster, that runs from time 1 on; not of a warp */
    PTX_AGENT_ARRIVALS, /* at mbarriers of other CTAs; a time is one of the thread's */
    PTX_AGENT_KINDS = 16
} ptx_agent_kind;

/* number: of the warp in the grid, of the mbarrier, of the location, or of the CTA. */
static inline uint64_t ptx_agent(ptx_agent_kind kind, uint64_t number) {
    return number * PTX_AGENT_KINDS + kind;
}
static inline ptx_agent_kind ptx_agent_get_kind(uint64_t agent) {
    return (ptx_agent_kind)(agent % PTX_AGENT_KINDS);
}

/* Shared memory's fences of proxies are for one CTA of the cluster or for all: the agents in
 * PTX_KNOWN_SHARED are renamed to this many times their number, and the rank or PTX_ALL_RANKS. */
enum { PTX_ALL_RANKS = 16, PTX_RANKS = 17 };

/* The fences that acquire a tensor map are for that one: the agents in PTX_KNOWN_MAPS are renamed
 * to this many times their number, and that of the map. */
#define PTX_MAPS_MAX (UINT32_C(1) << 20)

#endif
