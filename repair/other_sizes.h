/* other_sizes.h - sizes that nobody asked for, by which repairs are compared: a right one holds at
 * more of them than one that is right by chance.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_OTHER_SIZES_H
#define GROUT_REPAIR_OTHER_SIZES_H

#include "trial.h"

#define GROUT_OTHER_SIZES_MAX 24u

/* One const with another value. */
typedef struct grout_other_size {
    char *define;         /* "K=896", as -D takes it; owned */
    uint32_t held, tried; /* texts that were clean at it, of those that were tried */
} grout_other_size;

typedef struct grout_other_sizes {
    grout_trial_task task; /* at one of them */
    grout_other_size items[GROUT_OTHER_SIZES_MAX];
    uint32_t count;
} grout_other_sizes;

/*
 * Finds them for a text that is clean at the size of a task, whose runs took so many steps: each
 * const that a number gives, alone, larger and smaller; sizes of the problem first, then rings and
 * tiles. There are none if the call asks for several sizes itself. False without memory. Deinit
 * even then.
 */
bool grout_other_sizes__find(const grout_trial_task *task, const grout_text *text, uint64_t steps,
                             grout_other_sizes *out);
/*
 * Tries a text at each, until it is not clean at more than 'most'. failed gets a bit for each at
 * which it is not, and for those that were not tried any more. A size at which several texts were
 * tried and none held is one that the kernel is not made for: it does not count. False
 * without memory.
 */
bool grout_other_sizes__try(grout_other_sizes *sizes, const grout_text *text, uint32_t most,
                            uint32_t *failed_out);
/* The failures of a text, of the sizes that count by now. */
uint32_t grout_other_sizes__count(const grout_other_sizes *sizes, uint32_t failed);
/* Appends ", -D K=896, -D K=64": those at which a text with these failures is clean. */
void grout_other_sizes__describe(const grout_other_sizes *sizes, uint32_t failed, grout_text *out);
void grout_other_sizes__deinit(grout_other_sizes *sizes);

#endif
