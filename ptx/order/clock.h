/* clock.h - what is known to have happened: of each lane of an agent the newest time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An agent is a warp, or an engine that works for one (agents.h). A clock never changes once it is
 * shared: a thread that learns more gets another one, and both have in common what did not change.
 * NULL is the clock of a thread that knows nothing.
 */
#ifndef GROUT_PTX_CLOCK_H
#define GROUT_PTX_CLOCK_H

#include "means.h"

enum { PTX_CLOCK_LANES = 32 };

/* Each lane of a mask. */
#define FOR_LANES(lane, mask)                               \
    for (uint32_t lane = 0; lane < PTX_CLOCK_LANES; lane++) \
        if (((mask) >> lane & 1) == 0) {                    \
        } else

typedef struct ptx_clock ptx_clock;

/* One more owner, or one less. */
ptx_clock *grout_ptx__share_clock(ptx_clock *clock);
void grout_ptx__drop_clock(ptx_clock *clock);

/* Whether a lane of an agent is known up to a time; time 0 always is. */
bool grout_ptx__knows(const ptx_clock *clock, uint64_t agent, uint32_t lane, uint32_t time);

/* Functions that return bool are false without memory, and the clock stays as it is. */

/* The owner's clock learns what another one knows. */
bool grout_ptx__join_clock(ptx_clock **clock, ptx_clock *other);
/* It learns of some lanes of an agent up to a time. */
bool grout_ptx__note_time(const ptx_means *means, ptx_clock **clock, uint64_t agent, uint32_t lanes,
                          uint32_t time);
/* It learns what another one knows, but each agent has another number: factor times its own, and
 * term more. */
bool grout_ptx__join_renamed(ptx_clock **clock, ptx_clock *other, uint64_t factor, uint64_t term);

#endif
