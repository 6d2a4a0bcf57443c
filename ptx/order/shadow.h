/* shadow.h - who has written each byte of memory last, and who has read it since.
 * SPDX-License-Identifier: Apache-2.0
 *
 * FastTrack's scheme (Flanagan and Freund, PLDI 2009) with lanes: of each byte the last write, and
 * the reads that are not known by a newer one.
 */
#ifndef GROUT_PTX_SHADOW_H
#define GROUT_PTX_SHADOW_H

#include "agents.h"
#include "pipeline.h"
#include "view.h"

/* What is known of one byte; 0: nobody. older: what came before the last plain write, which is
 * enough to know, but for writes beside it that leave the same value. */
typedef struct ptx_cell {
    uint32_t write, reads, older_write, older_reads;
} ptx_cell;

/* A strong write among those of its location; a thread that has observed a later one has observed
 * it, too. */
typedef struct ptx_mark {
    uint64_t agent;
    uint32_t number; /* from 1 */
} ptx_mark;

/* One instruction of a warp or of an engine, that accesses memory. */
typedef struct ptx_record {
    uint64_t agent;
    uint32_t time, inst, cta;
    uint8_t warp, scope; /* scope: of a strong one */
    bool is_async_proxy; /* TMA and the tensor cores; else the generic proxy */
    bool is_strong;      /* relaxed and stronger, atomics */
    bool is_barrier;     /* an operation on an mbarrier, beside its init and inval */
    bool is_write;
    bool is_map;    /* it reads a tensor map */
    bool is_cached; /* it reads what nothing writes: ld.global.nc */
    uint8_t size;   /* of a strong one, in bytes: those of one size overlap completely */
    ptx_mark mark;  /* of a strong write */
    ptx_pipe pipe;
} ptx_record;

/* Where an access is. */
typedef enum ptx_span_kind { PTX_SPAN_SHARED, PTX_SPAN_GLOBAL, PTX_SPAN_TENSOR } ptx_span_kind;

typedef struct ptx_span {
    ptx_cell *cells;
    uint32_t count;
    ptx_span_kind kind;
    uint32_t map;  /* the number of the tensor map that it is; of an access that reads one */
    uint32_t rank; /* of the CTA in its cluster, whose shared memory it is */
} ptx_span;

/* Whether a byte that is written has the value that is there already. */
typedef enum ptx_same { PTX_SAME_NOT, PTX_SAME_UNDEFINED, PTX_SAME_VALUE } ptx_same;

/* An access, by some lanes at one span. */
typedef struct ptx_access {
    ptx_record record;
    uint32_t lanes;                         /* of the record's agent */
    const ptx_view *views[PTX_CLOCK_LANES]; /* what each of them is ordered after */
    uint64_t own_agent;          /* whose accesses up to a time are before it in program order */
    uint32_t own_lane, own_time; /* the lane; PTX_OWN_LANE: each its own */
    uint32_t cluster_size;
    const uint8_t *same; /* ptx_same of each byte of the span; NULL: each is PTX_SAME_NOT */
} ptx_access;

#define PTX_OWN_LANE UINT32_MAX

/* Why two accesses race. */
typedef enum ptx_missing {
    PTX_MISSING_NONE,
    PTX_MISSING_ORDER,
    PTX_MISSING_FENCE,     /* of the proxies */
    PTX_MISSING_MAP_FENCE, /* of the proxy of tensor maps */
    PTX_MISSING_SCOPE,     /* both are strong, but for too few threads */
    PTX_MISSING_TENSOR_FENCE,
    PTX_MISSING_SIGHT,  /* it is over, and another CTA has written it, along no edge for both */
    PTX_MISSING_CACHED, /* one reads through a cache that writes of the kernel do not reach */
    PTX_MISSING_BEGIN,  /* the CTA whose memory it is may not have begun; there is no earlier one */
    PTX_MISSING_END     /* and it may have ended */
} ptx_missing;

typedef struct ptx_race {
    ptx_missing missing;
    ptx_record earlier;
    uint32_t lane, own_lane; /* of the earlier one, and of the access */
    uint32_t at;             /* which cell of the place */
} ptx_race;

/* Two writes that race, and leave the same values. */
typedef struct ptx_equal {
    ptx_race race;
    ptx_record later;
} ptx_equal;

typedef struct ptx_reads {
    uint32_t record, lanes, next;
} ptx_reads;

enum { PTX_RECENT = 1024 };

typedef struct ptx_shadow {
    ptx_means means;
    GROUT_ARRAY(ptx_record) records; /* the first is nobody's */
    GROUT_ARRAY(ptx_reads) reads;
    GROUT_ARRAY(ptx_equal) equals; /* one of each two instructions */
    uint32_t *equals_at;           /* by a hash of the two, from 1; 0: nobody's */
    uint32_t equals_capacity;      /* a power of two, more than twice as many as equals; or 0 */
    ptx_brought_list brought;
    uint32_t recent[PTX_RECENT]; /* numbers of records, by a hash: who polls has the same again */
    bool is_full;                /* more accesses than numbers for them */
} ptx_shadow;

void grout_ptx__deinit_shadow(ptx_shadow *shadow);
/* An access: false if it races, with race_out, or without memory or time (missing is none then). */
bool grout_ptx__note_access(ptx_shadow *shadow, const ptx_access *access, const ptx_span *span,
                            ptx_race *race_out);
/* An access of other CTAs to a CTA's memory that the threads of that one, who end with this view,
 * do not know of; false if there is none. */
bool grout_ptx__find_unknown(ptx_shadow *shadow, const ptx_view *view, uint32_t cta,
                             const ptx_span *span, ptx_race *race_out);

#endif
