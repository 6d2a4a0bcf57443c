/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observer.h - who watches a run: a struct of callbacks, put into grout_launch.observers. The
 * events that they get are in events.h; nothing in one outlives the callback unless it says so.
 */
#ifndef GROUT_INTERNAL_OBSERVER_H
#define GROUT_INTERNAL_OBSERVER_H

#include "grout-internal/events.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes [first, first + size) of an object: of CTA owner's, if each CTA has one. */
typedef struct grout_memory_range {
    grout_object_id object;
    uint32_t owner;
    int64_t first, size;
} grout_memory_range;

/*
 * What memory holds between two events. A write by a thread is there once its op is over; when that
 * of an engine is there depends on the timing. Good until the launch ends.
 */
typedef struct grout_memory_reader {
    const void *machine;
    /* The bytes of a range. undefined_out: 1 for each byte that has no defined value, else 0.
     * False: there is no such object now. */
    bool (*read)(const void *machine, const grout_memory_range *range, uint8_t *bytes_out,
                 uint8_t *undefined_out);
} grout_memory_reader;

/* What an observer gets once, before the first event. It has to copy this; what this points to
 * lives as long as the launch. */
typedef struct grout_launch_info {
    const struct grout_module *module; /* bound */
    grout_kernel_id kernel;
    grout_clock_shape shape;
    int64_t cta_count; /* of the launch */
    /* some value or order depends on which cluster runs first: semaphores, ordered atomics */
    bool has_foreign_order;
    /* fewer clusters fit than that matters for: some begin, in grid order, when others have ended
     */
    bool has_late_clusters;
    bool tracks_non_finite; /* what makes NaN or infinity is a fault */
    bool has_foreign_loop;  /* some loop may go round until another cluster has done something */
    grout_memory_reader memory;          /* read NULL: nobody can say */
    const grout_earlier_launch *earlier; /* of its list, which may overlap with it; oldest first */
    uint32_t earlier_count;
    const grout_array_past *pasts; /* by parameter; NULL: no launch came before */
    /* barrier element -> object and index inside it */
    const grout_object_id *element_objects;
    const uint32_t *element_indices;
} grout_launch_info;

typedef struct grout_observer {
    void *self;        /* what each callback is given */
    uint64_t interest; /* bit 1 << grout_event_kind for each kind that it wants */
    /* Before the first event. As with the next two, false stops the launch: out of memory, say. */
    bool (*begin)(void *self, const grout_launch_info *info);
    /* Each event of interest, in the order of the run. */
    bool (*event)(void *self, const grout_event *event);
    /* After the last one. */
    bool (*end)(void *self);
    /* A copy of the observer's state; NULL without memory. */
    void *(*snapshot)(void *self);
    /* Makes its state that of a snapshot. */
    bool (*restore)(void *self, const void *snapshot);
    /* Frees a snapshot. */
    void (*snapshot_free)(void *self, void *snapshot);
    /* Equal for equal states, however they were reached. */
    uint64_t (*hash)(void *self);
    /*
     * For launches with several workers (grout_launch.workers). A part is an observer of its own,
     * for the clusters that one worker runs: it is made before the run, gets begin and then events,
     * all from the worker's OS thread, and no end. If its event returns false, the parts are
     * dropped and the launch runs again with one worker: a part may see something that it cannot
     * hand over. NULL: a launch with this observer always runs with one.
     */
    const struct grout_observer *(*new_part)(void *self); /* NULL without memory */
    /* Adds what a part has seen, as if self had seen it. False without memory. */
    bool (*join_part)(void *self, const struct grout_observer *part);
    /* Frees a part, joined or not. */
    void (*free_part)(const struct grout_observer *part);
} grout_observer;

#ifdef __cplusplus
}
#endif
#endif
