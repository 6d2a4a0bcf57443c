/*
 * observer.h - the observer of a checker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_OBSERVER_H
#define GROUT_RACE_CHECKER_OBSERVER_H

#include "checker.h"

grout_observer grout_checker__make_observer(grout_checker *checker);
/* Its event. */
bool grout_checker__observe(void *self, const grout_event *event);
/* parts.c: see grout_observer. */
const grout_observer *grout_checker__new_part(void *self);
bool grout_checker__join_part(void *self, const grout_observer *observer);
void grout_checker__free_part(const grout_observer *part);
/* Frees all that the checker has of a launch. */
void grout_checker__forget_launch(grout_checker *checker);

#endif
