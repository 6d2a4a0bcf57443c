/*
 * contributors.h - the latest contribution of each actor to a barrier element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_CONTRIBUTORS_H
#define GROUT_RACE_CHECKER_CONTRIBUTORS_H

#include "elements.h"

/* Remembers the contribution of an event. False without memory. */
bool grout_checker__note_contributor(grout_checker *checker, const grout_event *event,
                                     const grout_element_at *at);
/* An arrival: marks the bytes of its phase that announced themselves and that it knows of. */
void grout_element__meet_bytes(const grout_checker *checker, const grout_event *event,
                               const grout_element_at *at);
/* A phase is full: those of its bytes that no arrival knows of may come when it is complete. */
bool grout_element__check_bytes_met(grout_checker *checker, const grout_element_at *at,
                                    uint32_t number);
/* Whether the clock knows of the contribution. */
bool grout_contributor__is_known(const grout_checker *checker, const grout_contributor *it,
                                 uint32_t barrier, const uint32_t *known);

#endif
