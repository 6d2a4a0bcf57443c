/* SPDX-License-Identifier: Apache-2.0 */
/*
 * past.h - what the launches of a list hand on from one to the next.
 *
 * A list is one program. Elements that a launch has left without a value have none for the launches
 * after it, and what it has left to the schedule takes the certificate from those that go by it. A
 * past remembers both for each array, which it knows by the address of its data.
 *
 *     grout_past *past = grout_past_new(NULL, diags);
 *     for each launch of the list:
 *         launch.track_undefined = true;
 *         grout_past_begin(past, &launch, diags);
 *         ... the launch runs, with a checker ...
 *         grout_past_end(past, &launch, machine, checker, diags);
 *     grout_past_free(past);
 */
#ifndef GROUT_PAST_H
#define GROUT_PAST_H

#include "grout-internal/interp.h"
#include "grout-internal/race.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_past grout_past;

/* allocator: alloc.h; NULL: libc. NULL without memory. */
grout_past *grout_past_new(const grout_allocator *allocator, grout_diags *diags);
void grout_past_free(grout_past *past);
/* Before a launch is made ready: sets its pasts, which are the past's until the next begin. False
 * without memory. */
bool grout_past_begin(grout_past *past, grout_launch *launch, grout_diags *diags);
/* After a launch that came to its end: keeps what it has left. launch: its arguments. machine: it
 * ran with track_undefined. checker: it has followed the run; NULL: the launches after it run on
 * all that its schedules leave, so that nothing is left to them. False without memory. */
bool grout_past_end(grout_past *past, const grout_launch *launch, const grout_machine *machine,
                    const grout_checker *checker, grout_diags *diags);
/* Whether the verdict of the launch that ended last holds for every schedule; true before any has.
 * Where it does not, launches beside it have to hear of that (grout_earlier_launch.open). */
bool grout_past_is_certain(const grout_past *past);
/* Whether something that a launch is given, other than an 'out' array, was left to the schedule. */
bool grout_past_has_chance(const grout_launch *launch);
/* A copy, without what the launch at hand was given. NULL without memory. */
grout_past *grout_past_copy(const grout_past *past, grout_diags *diags);
/* Whether the same elements have no value. */
bool grout_past_is_equal(const grout_past *a, const grout_past *b);

#ifdef __cplusplus
}
#endif
#endif
