/*
 * observer.h - the observer of a checker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_OBSERVER_H
#define GROUT_RACE_CHECKER_OBSERVER_H

#include "checker.h"

grout_observer grout_checker__make_observer(grout_checker *checker);
/* Frees all that the checker has of a launch. */
void grout_checker__forget_launch(grout_checker *checker);

#endif
