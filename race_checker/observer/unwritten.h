/*
 * unwritten.h - what ops have read that had no value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_UNWRITTEN_H
#define GROUT_RACE_CHECKER_UNWRITTEN_H

#include "checker.h"

/* Notes a box of an op, or widens the one that it has. False without memory. */
bool grout_checker__add_unwritten(grout_checker *checker, grout_op_id op, const grout_box *box);
/* The same with what a GROUT_EVENT_UNWRITTEN says. */
bool grout_checker__note_unwritten(grout_checker *checker, const grout_event *event);

#endif
