/*
 * rounds.h - which phases the bytes of a multicast are for, where the issuer has not heard.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ROUNDS_H
#define GROUT_INTERP_ROUNDS_H

#include "machine.h"

/*
 * Corrects, for the CTAs of a mask of ranks, the phases of their barriers that an actor's multicast
 * is for. phases: by rank, the first that the actor does not know to be complete, over all lives of
 * the element. False: the actor is blocked, while another can run that may say what the bytes are
 * for; what follows is the same as when the multicast comes late.
 */
bool grout_rounds__find(const grout_cta *cta, uint32_t thread, uint32_t element, uint32_t mask,
                        uint32_t *phases);

#endif
