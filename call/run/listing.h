/* listing.h - the launches of a file's launch list, one after the other, over arrays that they
 * share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_LISTING_H
#define GROUT_CALL_LISTING_H

#include "array.h"
#include "beside.h"
#include "launch.h"
#include "lookup.h"

struct grout_listed_array;

typedef struct grout_listing {
    grout_session *session;
    const grout_load *load;
    GROUT_ARRAY(struct grout_listed_array) arrays;
    grout_lookup array_of_name;  /* the array, from 1 */
    grout_lookup writer_of_name; /* the last launch of the list that writes the array */
    grout_beside beside;
    grout_kernel_id kernel; /* that is launched instead of the list; 0: the list is */
    grout_launch_id at;     /* the launch that runs, or ran last; 0: none has begun */
    uint32_t round, rounds; /* of --repeat */
    uint32_t number;        /* launches that have begun, in all rounds */
    /* by launch: what it did, kept while later ones may run beside it */
    grout_ledger *ledgers[GROUT_LAUNCHES_MAX + 1];
    uint32_t open[GROUT_LAUNCHES_MAX + 1]; /* its number, if its verdict is for one schedule only */
    /* of the launch that runs */
    grout_argument_set start; /* its arguments as they were; count 0: nobody will ask */
    grout_earlier_launch earlier[GROUT_LAUNCHES_MAX];
    uint32_t *params; /* the maps of earlier, one after the other */
    grout_stale_array *stale;
    grout_past *past;              /* what the launches hand on */
    const grout_array_past *pasts; /* to the one that runs */
    struct grout_starts *starts;   /* where the list is explored */
} grout_listing;

/* Whether a list is to be run: the file has one, and --kernel does not choose a kernel. */
bool grout_listing__is_wanted(const grout_session *session, const grout_load *load);
/* Whether a launch of it runs this kernel. */
bool grout_listing__has_kernel(const grout_load *load, grout_kernel_id kernel);

/* Whether it is launched several times in a row (--repeat), a kernel alone too. */
bool grout_listing__is_repeated(const grout_session *session);

/* kernel: it is launched alone, as often as --repeat says; 0: the launches of the list are. */
void grout_listing__init(grout_listing *listing, grout_session *session, const grout_load *load,
                         grout_kernel_id kernel);
void grout_listing__deinit(grout_listing *listing);
/*
 * The next launch, of the next round after the last: its kernel, its arguments (the arrays stay the
 * listing's) and what the settings need of the launches before it. 0: there is none, or diagnostics
 * say why it cannot run.
 */
grout_kernel_id grout_listing__begin(grout_listing *listing, grout_argument_set *arguments,
                                     grout_launch_settings *settings);
/* The kernel of the launch that runs, or ran last, or could not begin. */
grout_kernel_id grout_listing__get_kernel(const grout_listing *listing);
/* Whether more launches come after the one that runs, or ran last. */
bool grout_listing__has_more(const grout_listing *listing);
/* It has run to its end. False: diagnostics. */
bool grout_listing__end(grout_listing *listing);

#endif
