/*
 * deadlock.h - the words of a deadlock in the making; all but the first function private to this
 * folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_DEADLOCK_H
#define GROUT_RACE_CHECKER_DEADLOCK_H

#include "checker.h"
#include "kept_strings.h"
#include "sentences.h"
#include "statement.h"

#include "grout-internal/text.h"

typedef struct grout_deadlock {
    grout_checker *checker;
    const grout_event *event;
    const grout_module *module;
    const grout_thread_fact *threads; /* of the event */
    grout_strings *names;             /* that go into sentences */
    uint32_t thread_count;
    bool has_ctas; /* more than one: threads are named with theirs */
    bool done;
    bool has_decreases; /* what could give registers back has been said */
    uint32_t left;      /* sentences that there was no room for */
} grout_deadlock;

/* Finds the deadlock of the event, and puts it into words. False without memory. */
bool grout_checker__deadlock(grout_checker *checker, const grout_event *event);

/* What an op must do for a blocked thread to go on. */
typedef struct grout_need {
    const grout_thread_fact *thread; /* that waits */
    grout_object_id object;          /* barrier or semaphore; 0: neither */
    uint32_t id;                     /* of a named barrier */
    bool has_index;
    uint32_t index; /* of the barrier or semaphore */
} grout_need;

/* What is said of a deadlock below its headline, with the last line that counts the rest. */
enum { GROUT_DEADLOCK_NOTES_MAX = 10 };

/* Takes the sentence over. Beyond GROUT_DEADLOCK_NOTES_MAX it is counted and left out. */
void grout_deadlock__say(grout_deadlock *text, grout_loc_id loc, grout_text *sentence);
/* The same with the advice, which stands last; nothing if the sentence is empty. */
void grout_deadlock__advise(grout_deadlock *text, grout_text *sentence);
uint32_t grout_deadlock__get_line(const grout_deadlock *text, grout_op_id op);
/* "thread wg=1", "CTA (x=3), thread wg=1", "warp 2", as far as it matters */
void grout_deadlock__add_thread(const grout_deadlock *text, const grout_origin *origin,
                                grout_text *out);
/* The same as a word of a sentence; "%go[1]"; a text that is taken over. */
const char *grout_deadlock__name_thread(const grout_deadlock *text, const grout_origin *origin);
const char *grout_deadlock__name_element(const grout_deadlock *text, grout_object_id object,
                                         uint32_t index);
const char *grout_deadlock__name_object(const grout_deadlock *text, grout_object_id object);
const char *grout_deadlock__keep(const grout_deadlock *text, grout_text *words);
bool grout_thread_fact__is_blocked(const grout_thread_fact *thread);
/* What an op writes over an object, as a constant; false: it does not, or it is not known. */
bool grout_deadlock__get_written(const grout_deadlock *text, grout_object_id object, grout_op_id id,
                                 int64_t *value_out);
/* How many CTAs have ended. */
int64_t grout_deadlock__count_ended(const grout_deadlock *text);
/* Whether the thread waits where the cluster meets to end. */
bool grout_deadlock__is_at_end(const grout_deadlock *text, const grout_thread_fact *thread);
grout_need grout_deadlock__get_need(const grout_deadlock *text, const grout_thread_fact *thread);
/* Whether it stands in the kernel, and is about what is needed. */
bool grout_deadlock__is_of_kernel(const grout_deadlock *text, const grout_need *need,
                                  grout_op_id op);
/* Whether it also can run, and could bring something of what is needed. */
bool grout_deadlock__is_bringer(const grout_deadlock *text, const grout_need *need, grout_op_id op);
/* Whether something would arrive if the CTA led the others. */
bool grout_deadlock__is_led(const grout_deadlock *text, const grout_need *need);
/* Whether the op could bring something of what is needed. */
bool grout_deadlock__needs(const grout_deadlock *text, const grout_need *need, grout_op_id op);
/* Whether the other thread is one that could execute the op for the waiting one. */
bool grout_deadlock__is_in_reach(const grout_deadlock *text, const grout_need *need, grout_op_id op,
                                 const grout_thread_fact *other);
/* Whether the thread is one of those that the op is written for, as far as can be seen: it has run
 * it, or comes to it without another condition. */
bool grout_deadlock__is_meant(const grout_deadlock *text, const grout_thread_fact *thread,
                              grout_op_id op);
/* Whether the op, executed by the other thread, could bring something of what is needed. The other
 * is one of text->threads. */
bool grout_deadlock__serves(const grout_deadlock *text, const grout_need *need, grout_op_id op,
                            const grout_thread_fact *other);
/* Whether the other thread, if it went on, could bring something of what this one waits for. */
bool grout_deadlock__waits_for(const grout_deadlock *text, const grout_thread_fact *thread,
                               const grout_thread_fact *other);
const grout_barrier_fact *grout_deadlock__find_barrier(const grout_deadlock *text,
                                                       const grout_thread_fact *thread);
const grout_semaphore_fact *grout_deadlock__find_semaphore(const grout_deadlock *text,
                                                           const grout_thread_fact *thread);

/* ---- deadlock_copies.c ---- */

/* A finding of each collective copy that a CTA has left out. */
bool grout_deadlock__report_copies(const grout_deadlock *text);

/* ---- deadlock_root.c ---- */

/* The lowest blocked thread, of this state if it is not 0: one that is not just waiting for its
 * warps, if there is one. NULL: none is blocked. */
const grout_thread_fact *grout_deadlock__find_lowest(const grout_deadlock *text, uint32_t state);
/* The blocked thread that a reader should look at first. NULL: none is blocked. */
const grout_thread_fact *grout_deadlock__find_root(const grout_deadlock *text);
/* Says who waits for whom, if they do so in a circle. */
void grout_deadlock__explain_circle(grout_deadlock *text);

/* ---- deadlock_reasons.c ---- */

/* Whether only CTAs that have ended can have run the op, and one has. */
bool grout_deadlock__was_run_by_ended(const grout_deadlock *text, grout_op_id op);
/* "; thread wg=1 is blocked at line 30 before it": of each thread that could execute the op, why it
 * does not. */
void grout_deadlock__add_reasons(const grout_deadlock *text, const grout_need *need, grout_op_id op,
                                 grout_text *out);
/* How often the thread has run the op, if it is one that synchronises. */
uint32_t grout_deadlock__count_runs(const grout_deadlock *text, const grout_thread_fact *thread,
                                    grout_op_id op);

/* A thread that has gone past an op that a blocked one waits for. */
typedef struct grout_omission {
    const grout_thread_fact *thread; /* NULL: there is none */
    grout_op_id op;
    int32_t turn;    /* of the loop around the op */
    uint32_t looked; /* for it so far */
} grout_omission;

grout_omission grout_deadlock__find_omission(const grout_deadlock *text);
/* Says which thread that is, and what it does instead. */
void grout_deadlock__explain_break(grout_deadlock *text);

/* ---- deadlock_help.c ---- */

/* Says what would end the wait of the root. */
void grout_deadlock__explain_help(grout_deadlock *text, const grout_thread_fact *root);

/* The first op that could bring it; 0: none is written. */
grout_op_id grout_deadlock__find_bringer(const grout_deadlock *text, const grout_need *need);
/* Whether its thread waits for a phase of a barrier or of an mbarrier. */
bool grout_need__is_on_barrier(const grout_need *need);

/* ---- deadlock_loops.c ---- */

/* Two ops become the loops around them, of those that are not written alike the innermost; 0: no
 * loop is around it. */
void grout_deadlock__find_loops(const grout_deadlock *text, grout_op_id *own, grout_op_id *other);

/* ---- deadlock_parity.c ---- */

/* ": 'mbarrier_wait %empty[%slot], (%turn + 1) % 2'": the wait with the other parity in every turn;
 * or that it changes from turn to turn. parity: the one that it begins with. */
const char *grout_deadlock__name_parity(const grout_deadlock *text, grout_op_id wait,
                                        uint32_t parity);

/* ---- deadlock_slots.c ---- */

/* What to do about an index that does not fit those beside it; false: none stands out. */
bool grout_deadlock__add_lead_help(const grout_deadlock *text, const grout_need *need,
                                   grout_text *out);
/* An arrival is for the slot of an earlier turn, and none follows its loop for that of the last;
 * op: the arrival; false: it is not so. */
bool grout_deadlock__add_last_help(const grout_deadlock *text, const grout_need *given,
                                   const grout_need *seen, grout_op_id op, grout_text *out);
/* An mbarrier on which some thread waits has bytes, and no operation announces any. */
bool grout_deadlock__add_unannounced_help(const grout_deadlock *text, const grout_need *need,
                                          grout_text *out);

/* ---- deadlock_values.c ---- */

/* A flag or counter that has been set back over what others have written; what changes it has come,
 * and is not what the loop looks for. False: it is not so. */
bool grout_deadlock__add_lost_help(const grout_deadlock *text, const grout_need *need,
                                   grout_text *out);
bool grout_deadlock__add_spin_help(const grout_deadlock *text, const grout_need *need,
                                   grout_text *out);

/* ---- deadlock_words.c ---- */

/* "CTA 0, thread wg=0 waits for phase 0 of %go[0], which has 0 of 1 arrival" */
void grout_deadlock__add_state(const grout_deadlock *text, const grout_thread_fact *thread,
                               grout_text *out);
/* Whether the actor has come to the op for the open phase of the barrier, as far as that is kept.
 */
bool grout_deadlock__has_arrived(const grout_deadlock *text, const grout_barrier_fact *barrier,
                                 const grout_origin *actor, grout_op_id op);
/* Whether a wait for parity 0 finds an mbarrier of which no phase has completed. */
bool grout_deadlock__is_fresh(const grout_thread_fact *thread, const grout_barrier_fact *barrier);
/* Whether a barrier further on in the array has had an arrival in the phase that the thread waits
 * for, and its own has had none. */
bool grout_deadlock__has_later_sibling(const grout_deadlock *text, const grout_thread_fact *thread);
/* The headline of what the root waits for. */
void grout_deadlock__add_headline(const grout_deadlock *text, const grout_thread_fact *root,
                                  grout_text *out);

#endif
