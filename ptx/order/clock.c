/* clock.c - clocks by agent, in order of their numbers; times are shared among clocks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include "invariant.h"

#include <string.h>

/* The newest known time of each lane of one agent. */
typedef struct ptx_times {
    uint32_t owners;
    uint32_t lanes[PTX_CLOCK_LANES];
} ptx_times;

typedef struct ptx_entry {
    uint64_t agent;
    ptx_times *times;
} ptx_entry;

struct ptx_clock {
    uint32_t owners, count;
    ptx_entry entries[]; /* by agent */
};

static void drop_times(ptx_times *times) {
    if (times != NULL && --times->owners == 0) {
        grout__free(times);
    }
}

ptx_clock *grout_ptx__share_clock(ptx_clock *clock) {
    if (clock != NULL) {
        clock->owners++;
    }
    return clock;
}

void grout_ptx__drop_clock(ptx_clock *clock) {
    if (clock == NULL || --clock->owners > 0) {
        return;
    }
    for (uint32_t i = 0; i < clock->count; i++) {
        drop_times(clock->entries[i].times);
    }
    grout__free(clock);
}

static void replace(ptx_clock **clock, ptx_clock *with) {
    grout_ptx__drop_clock(*clock);
    *clock = with;
}

static ptx_clock *new_clock(const grout_allocator *allocator, uint32_t capacity) {
    ptx_clock *clock =
        grout__new(allocator, 1, sizeof *clock + (size_t)capacity * sizeof clock->entries[0]);
    if (clock != NULL) {
        clock->owners = 1;
        clock->count = 0;
    }
    return clock;
}

/* The first entry of an agent that is not before this one. */
static uint32_t find(const ptx_clock *clock, uint64_t agent) {
    uint32_t low = 0, high = clock == NULL ? 0 : clock->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (clock->entries[middle].agent < agent) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool grout_ptx__knows(const ptx_clock *clock, uint64_t agent, uint32_t lane, uint32_t time) {
    uint32_t at = find(clock, agent);
    return time == 0 || (clock != NULL && at < clock->count && clock->entries[at].agent == agent &&
                         clock->entries[at].times->lanes[lane] >= time);
}

/* The newer one of each lane: one of both, or new times. */
static ptx_times *join_times(ptx_times *a, ptx_times *b) {
    uint32_t newer_a = 0, newer_b = 0;
    for (uint32_t i = 0; i < PTX_CLOCK_LANES; i++) {
        newer_a |= a->lanes[i] > b->lanes[i];
        newer_b |= b->lanes[i] > a->lanes[i];
    }
    if (newer_a == 0 || newer_b == 0) {
        ptx_times *newest = newer_a != 0 ? a : b;
        newest->owners++;
        return newest;
    }
    ptx_times *both = grout__new(grout__get_allocator(a), 1, sizeof *both);
    if (both != NULL) {
        both->owners = 1;
        for (uint32_t i = 0; i < PTX_CLOCK_LANES; i++) {
            both->lanes[i] = a->lanes[i] > b->lanes[i] ? a->lanes[i] : b->lanes[i];
        }
    }
    return both;
}

/* The next entry of a join; NULL if there was no memory. *a and *b go on. */
static ptx_times *join_next(const ptx_clock *first, const ptx_clock *second, uint32_t *a,
                            uint32_t *b, uint64_t *agent_out) {
    static const ptx_entry none = {.agent = UINT64_MAX};
    const ptx_entry *one = *a < first->count ? &first->entries[*a] : &none;
    const ptx_entry *two = *b < second->count ? &second->entries[*b] : &none;
    const bool is_one = one->agent <= two->agent, is_two = two->agent <= one->agent;
    *agent_out = is_one ? one->agent : two->agent;
    *a += is_one;
    *b += is_two;
    if (is_one && is_two && one->times != two->times) {
        return join_times(one->times, two->times);
    }
    ptx_times *times = is_one ? one->times : two->times;
    GROUT_ASSERT(times != NULL); /* one of the clocks has an entry left */
    times->owners++;
    return times;
}

static bool has_times(const ptx_times *all, const ptx_times *some) {
    uint32_t newer = 0;
    for (uint32_t i = 0; i < PTX_CLOCK_LANES; i++) {
        newer |= some->lanes[i] > all->lanes[i];
    }
    return newer == 0;
}

/* Whether a clock has nothing to learn from another one. */
static bool has_all(const ptx_clock *all, const ptx_clock *some) {
    uint32_t at = 0;
    if (some->count > all->count) {
        return false;
    }
    for (uint32_t i = 0; i < some->count; i++) {
        const ptx_entry *entry = &some->entries[i];
        while (at < all->count && all->entries[at].agent < entry->agent) {
            at++;
        }
        if (at == all->count || all->entries[at].agent != entry->agent ||
            (all->entries[at].times != entry->times &&
             !has_times(all->entries[at].times, entry->times))) {
            return false;
        }
    }
    return true;
}

bool grout_ptx__join_clock(ptx_clock **clock, ptx_clock *other) {
    ptx_clock *own = *clock;
    if (other == NULL || other == own || (own != NULL && has_all(own, other))) {
        return true;
    }
    if (own == NULL || has_all(other, own)) {
        replace(clock, grout_ptx__share_clock(other));
        return true;
    }
    ptx_clock *both = new_clock(grout__get_allocator(own), own->count + other->count);
    for (uint32_t a = 0, b = 0; both != NULL && (a < own->count || b < other->count);) {
        ptx_entry *entry = &both->entries[both->count];
        entry->times = join_next(own, other, &a, &b, &entry->agent);
        if (entry->times == NULL) {
            grout_ptx__drop_clock(both);
            return false;
        }
        both->count++;
    }
    if (both != NULL) {
        replace(clock, both);
    }
    return both != NULL;
}

static ptx_times *copy_times(const grout_allocator *allocator, const ptx_times *old, uint32_t lanes,
                             uint32_t time) {
    ptx_times *times = grout__new(allocator, 1, sizeof *times);
    if (times == NULL) {
        return NULL;
    }
    if (old != NULL) {
        *times = *old;
    }
    times->owners = 1;
    for (uint32_t i = 0; i < PTX_CLOCK_LANES; i++) {
        bool is_newer = (lanes >> i & 1) != 0 && times->lanes[i] < time;
        times->lanes[i] = is_newer ? time : times->lanes[i];
    }
    return times;
}

bool grout_ptx__note_time(const ptx_means *means, ptx_clock **clock, uint64_t agent, uint32_t lanes,
                          uint32_t time) {
    const ptx_clock *old = *clock;
    uint32_t at = find(old, agent), count = old == NULL ? 0 : old->count;
    bool has_entry = at < count && old->entries[at].agent == agent;
    ptx_times *times =
        copy_times(means->allocator, has_entry ? old->entries[at].times : NULL, lanes, time);
    ptx_clock *new = new_clock(means->allocator, count + (has_entry ? 0u : 1u));
    if (times == NULL || new == NULL) {
        drop_times(times);
        grout_ptx__drop_clock(new);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i == at) {
            new->entries[new->count++] = (ptx_entry){agent, times};
        }
        if (i != at || !has_entry) {
            old->entries[i].times->owners++;
            new->entries[new->count++] = old->entries[i];
        }
    }
    if (at == count) {
        new->entries[new->count++] = (ptx_entry){agent, times};
    }
    replace(clock, new);
    return true;
}

bool grout_ptx__join_renamed(ptx_clock **clock, ptx_clock *other, uint64_t factor, uint64_t term) {
    if (other == NULL) {
        return true;
    }
    ptx_clock *renamed = new_clock(grout__get_allocator(other), other->count);
    if (renamed == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < other->count; i++) {
        other->entries[i].times->owners++;
        renamed->entries[renamed->count++] =
            (ptx_entry){other->entries[i].agent * factor + term, other->entries[i].times};
    }
    bool is_done = grout_ptx__join_clock(clock, renamed);
    grout_ptx__drop_clock(renamed);
    return is_done;
}
