/*
 * deadlock_root.c - where a deadlock begins: which of the blocked threads a reader should look at
 * first, and whether threads wait for each other in a circle.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread that waits for what no blocked thread would bring if it went on stands at the end of the
 * chain: what it waits for was never written, or has been done too few times. If each waits for
 * another, a phase that has some of its arrivals and lacks the rest is the likeliest: those who
 * arrive on it have come, and it asks for more. A thread that waits for a circle and is none of it
 * is looked at after it. The wait that ends a CTA is looked at last.
 */
#include "deadlock.h"

#include "invariant.h"

enum { HOPS_MAX = 3 }; /* of a circle that are named */
/* Blocked threads among which a root, or a circle, is looked for. One of each op is among them. */
enum { CIRCLE_MAX = 32 };

enum { WEIGHT_UNSERVED = 4 }; /* of a thread that waits for what nobody would bring */

/* ---- the root ---- */

static bool is_before(const grout_thread_fact *a, const grout_thread_fact *b) {
    if (a->origin.cta != b->origin.cta) {
        return a->origin.cta < b->origin.cta;
    }
    if (a->origin.thread != b->origin.thread) {
        return a->origin.thread < b->origin.thread;
    }
    return a->origin.warp < b->origin.warp;
}

/* The lowest blocked thread: one that is not just waiting for its warps, if there is one. */
const grout_thread_fact *grout_deadlock__find_lowest(const grout_deadlock *text, uint32_t state) {
    const grout_thread_fact *lowest = NULL;
    for (uint32_t t = 0; t < text->thread_count; t++) {
        const grout_thread_fact *it = &text->threads[t];
        bool counts = state ? it->state == state : grout_thread_fact__is_blocked(it);
        bool is_join = it->state == GROUT_THREAD_BLOCKED_JOIN;
        if (!counts || (lowest && is_join)) {
            continue;
        }
        if (!lowest || lowest->state == GROUT_THREAD_BLOCKED_JOIN || is_before(it, lowest)) {
            lowest = it;
        }
    }
    return lowest;
}

/* Whether some blocked thread would bring what it waits for, if it went on. */
static bool is_served(const grout_deadlock *text, const grout_thread_fact *thread) {
    for (uint32_t t = 0; t < text->thread_count; t++) {
        if (grout_deadlock__waits_for(text, thread, &text->threads[t])) {
            return true;
        }
    }
    return false;
}

/* Whether the phase that it waits for has some of its arrivals, and lacks others. */
static bool is_partial(const grout_deadlock *text, const grout_thread_fact *thread) {
    const grout_barrier_fact *barrier = thread->state == GROUT_THREAD_BLOCKED_BARRIER ||
                                                thread->state == GROUT_THREAD_BLOCKED_PARITY
                                            ? grout_deadlock__find_barrier(text, thread)
                                            : NULL;
    return barrier && barrier->arrived > 0 && barrier->arrived < barrier->arrivals;
}

/* Higher: nearer to the mistake. */
static unsigned get_weight(const grout_deadlock *text, const grout_thread_fact *thread) {
    return grout_deadlock__is_at_end(text, thread) ? 1
           : !is_served(text, thread)              ? WEIGHT_UNSERVED
           : is_partial(text, thread)              ? 3
                                                   : 2;
}

/* ---- threads to look at ---- */

typedef enum likeness {
    LIKE_BY_OP,  /* one thread for each op that somebody waits in */
    LIKE_IN_CTA, /* the same in each CTA */
    LIKE_ITSELF  /* every thread */
} likeness;

static bool is_like(const grout_thread_fact *a, const grout_thread_fact *b, likeness level) {
    return a == b || (level < LIKE_ITSELF && a->state == b->state && a->origin.op == b->origin.op &&
                      (level == LIKE_BY_OP || a->origin.cta == b->origin.cta));
}

static bool is_chosen(const grout_thread_fact *const *chosen, uint32_t count,
                      const grout_thread_fact *thread, likeness level) {
    for (uint32_t i = 0; i < count; i++) {
        if (is_like(chosen[i], thread, level)) {
            return true;
        }
    }
    return false;
}

/* Puts a thread among those chosen, which stand in the order of the run's threads. */
static void insert(const grout_thread_fact **chosen, uint32_t count,
                   const grout_thread_fact *thread) {
    for (; count > 0 && chosen[count - 1] > thread; count--) {
        chosen[count] = chosen[count - 1];
    }
    chosen[count] = thread;
}

/* Blocked threads, CIRCLE_MAX at most: those first that are like no other, then more. */
static uint32_t choose_threads(const grout_deadlock *text, likeness last,
                               const grout_thread_fact **chosen) {
    uint32_t count = 0;
    for (likeness level = LIKE_BY_OP; level <= last; level++) {
        for (uint32_t t = 0; t < text->thread_count && count < CIRCLE_MAX; t++) {
            const grout_thread_fact *thread = &text->threads[t];
            bool counts = grout_thread_fact__is_blocked(thread) && thread->origin.op != 0 &&
                          thread->state != GROUT_THREAD_BLOCKED_JOIN;
            if (counts && !is_chosen(chosen, count, thread, level)) {
                insert(chosen, count++, thread);
            }
        }
    }
    return count;
}

/* ---- circles ---- */

/* Blocked threads, and for each one that it waits for. */
typedef struct circle {
    const grout_thread_fact *threads[CIRCLE_MAX];
    uint32_t next[CIRCLE_MAX]; /* in threads */
    uint8_t state[CIRCLE_MAX]; /* 0 not looked at, 1 on the way, 2 leads nowhere */
    uint32_t count;
} circle;

/* Follows from the first thread; *at_out is on a circle if there is one. Without recursion: the way
 * is a chain of next. */
static bool find_circle(const grout_deadlock *text, circle *it, uint32_t *at_out) {
    uint32_t path[CIRCLE_MAX], tried[CIRCLE_MAX] = {0}, depth = 0;
    path[depth++] = 0;
    it->state[0] = 1;
    while (depth > 0) {
        uint32_t own = path[depth - 1], other = tried[own]++;
        if (other >= it->count) {
            it->state[own] = 2;
            depth--;
            continue;
        }
        if (it->state[other] == 2 ||
            !grout_deadlock__waits_for(text, it->threads[own], it->threads[other])) {
            continue;
        }
        it->next[own] = other;
        if (it->state[other] == 1) {
            *at_out = other;
            return true;
        }
        GROUT_ASSERT(depth < it->count); /* each thread is on the way once */
        it->state[other] = 1;
        path[depth++] = other;
    }
    return false;
}

/* Which thread waits for which, from one thread of the circle on; as many as are named. */
static void add_hops(const grout_deadlock *text, const circle *it, uint32_t at, grout_text *out) {
    uint32_t i = at;
    for (uint32_t hops = 0; hops <= HOPS_MAX; hops++) {
        const grout_origin *waiting = &it->threads[i]->origin;
        uint32_t next = it->next[i];
        bool is_last = next == at || hops == HOPS_MAX;
        const grout_words words = {
            .actor = grout_deadlock__name_thread(text, waiting),
            .line = grout_deadlock__get_line(text, waiting->op),
            .other_actor = next == at || !is_last
                               ? grout_deadlock__name_thread(text, &it->threads[next]->origin)
                               : grout_phrase__get(GROUT_PHRASE_OTHERS_AND_SO_ON)};
        if (hops == 0) {
            grout_sentence__add(out, GROUT_SENTENCE_CIRCLE_FIRST, &words);
        } else {
            grout_sentence__add(out, GROUT_SENTENCE_CIRCLE_NEXT, &words);
        }
        if (is_last) {
            break;
        }
        i = next;
    }
}

/* Looks for a circle among the blocked threads. */
static bool find_any_circle(const grout_deadlock *text, circle *it, uint32_t *at_out) {
    it->count = choose_threads(text, LIKE_ITSELF, it->threads);
    return it->count >= 2 && find_circle(text, it, at_out);
}

void grout_deadlock__explain_circle(grout_deadlock *text) {
    circle it = {.count = 0};
    grout_text hops = {.allocator = text->checker->allocator};
    grout_text sentence = {.allocator = text->checker->allocator};
    uint32_t at = 0;
    if (!find_any_circle(text, &it, &at)) {
        return;
    }
    add_hops(text, &it, at, &hops);
    grout_sentence__add(&sentence, GROUT_SENTENCE_CIRCLE,
                        &(grout_words){.what = grout_deadlock__keep(text, &hops)});
    grout_deadlock__say(text, 0, &sentence);
}

/* ---- the one to look at ---- */

/* The thread of the circle that is nearest to the mistake, where the root only waits for one of
 * them; the root itself where it is one, or there is no circle. */
static const grout_thread_fact *move_into_circle(const grout_deadlock *text,
                                                 const grout_thread_fact *root) {
    circle it = {.count = 0};
    uint32_t at = 0;
    if (!find_any_circle(text, &it, &at)) {
        return root;
    }
    const grout_thread_fact *nearest = it.threads[at];
    unsigned best = 0;
    uint32_t i = at;
    do {
        const grout_thread_fact *thread = it.threads[i];
        const unsigned weight = get_weight(text, thread);
        if (thread == root) {
            return root;
        }
        if (weight > best || (weight == best && is_before(thread, nearest))) {
            nearest = thread;
            best = weight;
        }
        i = it.next[i];
    } while (i != at);
    return nearest;
}

const grout_thread_fact *grout_deadlock__find_root(const grout_deadlock *text) {
    const grout_thread_fact *root = grout_deadlock__find_lowest(text, 0);
    const grout_thread_fact *looked[CIRCLE_MAX];
    const uint32_t count = choose_threads(text, LIKE_IN_CTA, looked);
    unsigned best = 0;
    for (uint32_t i = 0; i < count; i++) {
        const grout_thread_fact *thread = looked[i];
        unsigned weight = get_weight(text, thread);
        if (weight > best || (weight == best && is_before(thread, root))) {
            root = thread;
            best = weight;
        }
    }
    return best < WEIGHT_UNSERVED ? move_into_circle(text, root) : root;
}
