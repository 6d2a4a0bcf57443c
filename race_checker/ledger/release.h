/*
 * release.h - what a launch had done when it let the next grid begin
 * (griddepcontrol_launch_dependents with order(release)).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_RELEASE_H
#define GROUT_RACE_CHECKER_RELEASE_H

#include "shadow.h"

#include "array.h"

#include "grout-internal/ir.h"
#include "grout-internal/observer.h"

/* What is known of a cluster's counters. */
typedef struct grout_release_part {
    uint32_t cluster;
    uint32_t *known; /* V, then PG */
} grout_release_part;

/* A run of the instruction. */
typedef struct grout_trigger_stamp {
    uint32_t actor, epoch; /* of the cluster */
} grout_trigger_stamp;

/*
 * What a CTA had released when the next grid could begin for all it did. Several triggers that
 * nothing orders release what each of them does: any may be the first, which alone counts. stamps:
 * none of them comes after another; empty: the CTA has not come to one.
 */
typedef struct grout_trigger {
    GROUT_ARRAY(grout_trigger_stamp) stamps;
    GROUT_ARRAY(grout_release_part) parts;
    bool is_release; /* each of them is one */
    bool knows_grid; /* each of them has heard of the end of the grid before */
} grout_trigger;

typedef struct grout_releases {
    const grout_allocator *allocator;
    grout_clock_shape shape;
    grout_trigger *triggers; /* by CTA; NULL: the kernel releases nothing so */
    uint32_t cta_count;
    uint32_t **known;  /* by cluster: of all CTAs together; NULL: nobody has released or asked */
    uint32_t *nothing; /* a clock in which nothing is known; NULL: nobody has asked */
    uint32_t *all;     /* and one in which all is; the same memory */
} grout_releases;

/* False without memory; deinit it all the same. */
bool grout_releases__init(grout_releases *releases, const grout_allocator *allocator,
                          const grout_launch_info *info);
void grout_releases__deinit(grout_releases *releases);
/* A trigger has run. False without memory. */
bool grout_releases__add(grout_releases *releases, const grout_module *module,
                         const grout_event *event);
/* The launch is over: to be run before anything is asked. False without memory. */
bool grout_releases__settle(grout_releases *releases);
/* V, and PG right after it, for the counters of a cluster, as the next grid knows them at its
 * start; NULL: nothing was released. */
const uint32_t *grout_releases__find(const grout_releases *releases, uint32_t cluster);
/* Whether some CTA has released: the start of the next grid comes after that of this one. */
bool grout_releases__hand_on(const grout_releases *releases);
/* Whether some CTA has released that the grid before this one was over. */
bool grout_releases__hand_on_wait(const grout_releases *releases);

#endif
