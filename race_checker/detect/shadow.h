/*
 * shadow.h - what was last done to each byte, kept by regions that adapt to the accesses.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The simple model: each byte has a record, its last write and the reads since. The shadow keeps
 * one record for as many bytes as share it. A *plane* is an object, or several that share bytes,
 * seen as rows of 'pitch' bytes. It is cut into *cells* as large as the first access of the plane
 * (a TMA box, a slot of a ring), so that a kernel that works in tiles hits one record each time:
 * two divisions and no allocation. An access of part of a cell splits its record into rectangles,
 * down to single bytes; many rectangles make a tree; equal neighbours are joined again.
 * tests/unit/race_checker/check_shadow.c compares all this with the simple model.
 */
#ifndef GROUT_RACE_CHECKER_SHADOW_H
#define GROUT_RACE_CHECKER_SHADOW_H

#include "invariant.h"
#include "slab.h"
#include "state.h"

#include "grout-internal/events.h"

enum {
    GROUT_ENTRY_PRESENT = 1,
    GROUT_ENTRY_ASYNC = 2, /* through the async proxy, by an engine */
    GROUT_ENTRY_WRITE = 4,
    GROUT_ENTRY_GENERIC_ENGINE = 8, /* by an engine, through the generic proxy */
    GROUT_ENTRY_ATOMIC = 16,        /* see grout_entry__make_atomicity */
    GROUT_ENTRY_BEHIND = 32 /* an atomic came after it in order: only atomics still meet it */
};

#define GROUT_ENTRY_NEVER_OVER UINT32_MAX /* a number that no clock reaches */

GROUT_NO_PADDING_BEGIN

/* One access as it is remembered. It is over when component has reached number. */
typedef struct grout_entry {
    grout_origin origin; /* counts but for its loop indices: they are shown, not compared */
    /* facts, from here on */
    uint32_t cluster;
    uint32_t number;
    uint32_t epoch; /* of its actor when it was made or issued: x >= epoch knows of it */
    uint32_t component;
    /* a read: the least number of its component with which this op's accesses were ordered after
     * every write of the record, so that a clock that knows them need not know those; 0: none */
    uint32_t vouches;
    uint16_t told; /* plain read of SMEM, or a wgmma's: of how many barriers its thread knew a
                    * phase by then. In tensor memory: where the bytes begin, in units of two */
    uint8_t flags; /* GROUT_ENTRY_* */
    uint8_t atomicity;
    GROUT_STATE_END
} grout_entry;

GROUT_NO_PADDING_END

/* What the scope of an atomic holds; each value is that of GROUT_CHOICE_SCOPE_* less CTA's. */
enum { GROUT_ENTRY_SCOPE_CTA, GROUT_ENTRY_SCOPE_CLUSTER, GROUT_ENTRY_SCOPE_ALL };

/* Scope and width of an atomic access in one byte. */
static inline uint8_t grout_entry__make_atomicity(uint32_t scope, uint8_t width) {
    GROUT_ASSERT(scope < 8);
    return (uint8_t)(scope << 5 | (width & 31u));
}
static inline uint8_t grout_entry__get_scope(uint8_t atomicity) {
    return atomicity >> 5;
}
static inline uint8_t grout_entry__get_width(uint8_t atomicity) {
    return atomicity & 31;
}

/*
 * The record of a region: the last write, if any, and what else may still be unordered with an
 * access to come: the reads since, and older reads and writes that were not ordered before a later
 * write (atomics, which need not be, and what a finding says). One for each component and op.
 */
GROUT_NO_PADDING_BEGIN

typedef struct grout_region {
    grout_slab_handle readers;  /* array of grout_entry, each of which counts */
    grout_slab_handle index;    /* of many readers, by their ops: reader_index.h; or 0 */
    grout_slab_handle vouchers; /* what many readers vouch for: vouchers.h; or 0 */
    uint32_t reader_count;
    uint32_t gone_count; /* of these: they are all zero */
    uint32_t reader_capacity;
    uint32_t open_count;  /* writes among the readers */
    uint32_t cluster_max; /* no reader is of a cluster above */
    uint32_t op_max;      /* and none of that one is of an op above */
    uint32_t reserved;
    grout_entry write; /* counts as one */
    GROUT_STATE_END
} grout_region;

GROUT_NO_PADDING_END

/* Rows [row, row_end) and columns [column, column_end) of a plane, in bytes. */
typedef struct grout_rect {
    uint32_t row, row_end;
    uint32_t column, column_end;
} grout_rect;

GROUT_NO_PADDING_BEGIN

/* How a plane is cut counts for nothing. */
typedef struct grout_plane {
    uint64_t size;
    uint64_t pitch; /* bytes of a row */
    uint32_t rows;
    /* cells; set by the first access */
    uint32_t cell_height, cell_width; /* 0: no access yet */
    uint32_t row_phase, column_phase; /* the first cell starts this much before the plane */
    uint32_t cells_across, cells_down;
    uint32_t page_count;
    /* what is known of the bytes: forgotten together, from here on */
    grout_slab_handle pages; /* array of handles of pages of nodes */
    uint32_t reserved;
    GROUT_STATE_END
} grout_plane;

typedef struct grout_shadow {
    grout_slab slab;
    grout_plane *planes;
    uint32_t plane_count;
    uint32_t reserved;
    GROUT_STATE_END
} grout_shadow;

GROUT_NO_PADDING_END

/*
 * Called for each region that an access touches, with the bytes of it that are touched. It changes
 * the region (grout_shadow__set_write, grout_shadow__add_reader). False: no memory.
 */
typedef struct grout_visitor {
    bool (*visit)(void *payload, grout_shadow *shadow, grout_region *region,
                  const grout_rect *rect);
    void *payload;
} grout_visitor;

/* All planes empty, with no geometry. False without memory. */
bool grout_shadow__init(grout_shadow *shadow, const grout_allocator *allocator,
                        uint32_t plane_count);
void grout_shadow__deinit(grout_shadow *shadow);
/* Says how large plane index is and how long its rows are, which are cut if they are very long. */
void grout_shadow__set_plane(grout_shadow *shadow, uint32_t plane, uint64_t size, uint64_t pitch);
/* Forgets every access; the cells keep their size. */
void grout_shadow__reset(grout_shadow *shadow);
bool grout_shadow__copy(grout_shadow *copy, const grout_shadow *shadow);
/* The same for equal records of all bytes, however they are cut into regions. */
uint64_t grout_shadow__hash(const grout_shadow *shadow);

/* Visits the bytes of runs, which start at byte offset of the plane. False without memory. */
bool grout_shadow__access(grout_shadow *shadow, uint32_t plane, int64_t offset,
                          const grout_access *access, const grout_visitor *visitor);
/* Visits what is recorded for bytes [offset, offset + size) of a plane, without changing it. */
bool grout_shadow__walk(grout_shadow *shadow, uint32_t plane, int64_t offset, int64_t size,
                        const grout_visitor *visitor);

/* The bytes of a rectangle of a plane. */
grout_run grout_shadow__get_run(const grout_shadow *shadow, uint32_t plane, const grout_rect *rect);

static inline grout_entry *grout_shadow__get_readers(const grout_shadow *shadow,
                                                     const grout_region *region) {
    return region->readers ? grout_slab__at(&shadow->slab, region->readers) : NULL;
}
/* Appends a read, or a write that the last one was not ordered after. False without memory. */
bool grout_shadow__add_reader(grout_shadow *shadow, grout_region *region, const grout_entry *entry);
/* The others keep their order, and those before it their numbers. One of many leaves a gap, an
 * entry that is not there; the caller closes the gaps when it is done. */
void grout_shadow__remove_reader(grout_shadow *shadow, grout_region *region, uint32_t index);
void grout_shadow__close_gaps(grout_shadow *shadow, grout_region *region);
static inline bool grout_entry__is_there(const grout_entry *entry) {
    return (entry->flags & GROUT_ENTRY_PRESENT) != 0;
}

#endif
