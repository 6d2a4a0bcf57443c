/*
 * wait_questions.h - for check_waits.c: the questions to every op that waits for, tests or posts to
 * a barrier, an mbarrier or a semaphore, chosen by its columns.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In a body %o is the object. These words mean statements; the other side of a wait or post is an
 * op that has been there from the start:
 *   $D $C    declares %o; C: for a cluster
 *   $I       initialises %o, if it has to be
 *   $P $Q    the other side's post to %o[0], %o[1]
 *   $W $V    its wait for %o[0], %o[1]
 *   $X $Y    the statement under test on %o[0], %o[1]
 *   $R $Z    the same on %o[0] of CTA 1; on %o[%u], whose index is not known before it runs
 * After W, V, X, Y, R and Z comes the phase that is meant: a digit, or i for %i.
 */
#ifndef GROUT_TESTS_WAIT_QUESTIONS_H
#define GROUT_TESTS_WAIT_QUESTIONS_H

#include "grout-internal/ir.h"

#define OBJECT(NAME) (1u << GROUT_SYNC_OBJECT_##NAME)
#define MODE(NAME)   (1u << GROUT_SYNC_MODE_##NAME)
#define REACH(NAME)  (1u << GROUT_SYNC_REACH_##NAME)
#define COMES(NAME)  (1u << GROUT_SYNC_ARRIVAL_##NAME)
#define ATTR(NAME)   GROUT_ATTR_BIT(NAME)

/* ---- what ops work on --------------------------------------------------------------------------
 */

/* An object and the ops of the other side. #n: arrivals a phase has, #e: element, #p: phase. */
typedef struct face {
    const char *name;
    uint32_t objects; /* OBJECT columns that mean it */
    const char *declare, *declare_in_cluster, *init, *post, *wait;
} face;

/* Bits of the faces below. */
enum { BARRIER = 1, MBARRIER = 2, SEMAPHORE = 4, BARRIERS = BARRIER | MBARRIER };

static const face FACES[] = {
    {"a barrier", OBJECT(BARRIER) | OBJECT(ANY_BARRIER), "scratch %o : barrier[2] arrivals(#n)",
     "scratch %o : barrier[2] arrivals(#n) cluster(c)", "", "barrier_arrive %o[#e]",
     "barrier_wait %o[#e]"},
    {"an mbarrier", OBJECT(MBARRIER) | OBJECT(ANY_BARRIER), "scratch %o : mbarrier[2]",
     "scratch %o : mbarrier[2]",
     "if (eq %t, 0) {\n mbarrier_init %o[0], #n\n mbarrier_init %o[1], #n\n }\n block_barrier",
     "mbarrier_arrive %o[#e]", "mbarrier_wait %o[#e], (and #p, 1)"},
    {"a semaphore", OBJECT(SEMAPHORE), "scratch %o : semaphore[2] global",
     "scratch %o : semaphore[2] global", "", "semaphore_signal %o[#e], 1",
     "semaphore_wait %o[#e], #n"},
};
enum { FACE_COUNT = sizeof FACES / sizeof *FACES };

enum { POSTS = MODE(POSTS), LOOKS = MODE(WAITS) | MODE(TESTS), ASKED = POSTS | LOOKS };

/* ---- questions ---------------------------------------------------------------------------------
 */

/* A question to every op that fits it: each column that is not 0 has to fit. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order in which it is written */
typedef struct question {
    const char *name;
    uint32_t faces, modes, reaches, comes;
    uint64_t attrs;
    uint32_t arrivals;   /* of each CTA that a phase has, or units that a wait takes */
    const char *written; /* attributes of the statement */
    const char *cluster; /* "": the kernel has none */
    const char *body;
    bool is_fair; /* what comes later by chance does so under fair schedules only */
    const char *
        codes; /* what is found, in the order of diag.def; "": clean. a|b: either, with its words */
    bool is_part;      /* and perhaps more than that */
    double result;     /* of %y[0, 0] */
    const char *words; /* in one line of the report; a*b: both, in any order. a|b: as codes */
} question;

#define NOTHING (-1000.0)

#define HAND_OVER "$D\n $I\n if (eq %t, 0) {\n"
#define WRITES    "store %d[0], 7.0\n"
#define READS     "store %y[0, 0], (load %d[0])\n"
#define PAIR      "cluster(c = 2)"
#define IN_PAIR   "$C\n %r = axis_index c\n $I\n cluster_barrier\n"
/* Thread 0 posts so often; thread 1 comes later by chance, and knows nothing of it. */
#define UNTOLD(COUNT)                                                                        \
    "$D\n $I\n if (eq %t, 0) {\n for %i in 0.." #COUNT " {\n $P\n }\n } else {\n for %i in " \
    "0..40 {\n store %d[1], 1.0\n }\n"
/* Two arrivals complete each phase before K, which gets one. */
#define STUCK(K)                                                              \
    "$D\n $I\n if (eq %t, 0) {\n for %i in 0.." #K " {\n $P\n $P\n $Wi\n }\n" \
    "$P\n $X" #K "\n }\n"
#define HAS(K, COUNT) "waits for*phase " #K " *%o[0]*which has " #COUNT " arrivals"

static const question QUESTIONS[] = {
    /* a wait or test acquires */
    {.name = "what the other side wrote before its post is read after it",
     .faces = BARRIERS,
     .modes = LOOKS,
     .arrivals = 1,
     .body = HAND_OVER WRITES "$P\n } else {\n $X0\n" READS "}\n",
     .result = 7},
    {.name = "the same, of a semaphore",
     .faces = SEMAPHORE,
     .modes = MODE(WAITS),
     .arrivals = 1,
     .body = HAND_OVER WRITES "$P\n } else {\n $X0\n" READS "}\n",
     .result = 7},
    {.name = "order(relaxed) acquires nothing",
     .modes = LOOKS,
     .attrs = ATTR(ORDER),
     .arrivals = 1,
     .written = " order(relaxed)",
     .body = HAND_OVER WRITES "$P\n } else {\n $X0\n" READS "}\n",
     .codes = "insufficient-scope",
     .result = NOTHING},
    {.name = "scope(cta) acquires nothing of another CTA",
     .faces = MBARRIER,
     .modes = LOOKS,
     .attrs = ATTR(SCOPE),
     .arrivals = 1,
     .written = " scope(cta)",
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n if (eq %r, 0) {\n store %d.cluster(1)[0], 7.0\n"
                     "mbarrier_arrive %o.cluster(1)[0]\n } else {\n $X0\n" READS
                     "}\n }\n cluster_barrier\n",
     .codes = "insufficient-scope",
     .result = NOTHING},
    {.name = "a wait acquires from another CTA",
     .faces = MBARRIER,
     .modes = LOOKS,
     .arrivals = 1,
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n if (eq %r, 0) {\n store %d.cluster(1)[0], 7.0\n"
                     "mbarrier_arrive %o.cluster(1)[0]\n } else {\n $X0\n" READS
                     "}\n }\n cluster_barrier\n",
     .result = 7},
    {.name = "scope(cta) acquires nothing over a cluster barrier",
     .faces = BARRIER,
     .modes = LOOKS,
     .attrs = ATTR(SCOPE),
     .arrivals = 1,
     .written = " scope(cta)",
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n store %d.cluster((sub 1, %r))[0], 7.0\n $P\n $X0\n"
                     "if (eq %r, 0) {\n" READS "}\n }\n cluster_barrier\n",
     .codes = "insufficient-scope",
     .result = NOTHING},
    {.name = "a wait acquires over a cluster barrier",
     .faces = BARRIER,
     .modes = LOOKS,
     .arrivals = 1,
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n store %d.cluster((sub 1, %r))[0], 7.0\n $P\n $X0\n"
                     "if (eq %r, 0) {\n" READS "}\n }\n cluster_barrier\n",
     .result = 7},
    {.name = "a wait acquires units of another CTA",
     .faces = SEMAPHORE,
     .modes = MODE(WAITS),
     .arrivals = 1,
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n if (eq %r, 0) {\n store %d.cluster(1)[0], 7.0\n $P\n"
                     "} else {\n $X0\n" READS "}\n }\n cluster_barrier\n",
     .result = 7},
    {.name = "with scope(cta) it acquires nothing of theirs",
     .faces = SEMAPHORE,
     .modes = MODE(WAITS),
     .attrs = ATTR(SCOPE),
     .arrivals = 1,
     .written = " scope(cta)",
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n if (eq %r, 0) {\n store %d.cluster(1)[0], 7.0\n $P\n"
                     "} else {\n $X0\n" READS "}\n }\n cluster_barrier\n",
     .codes = "insufficient-scope",
     .result = NOTHING},
    {.name = "a ring of phases, each side waits for the other",
     .faces = BARRIERS,
     .modes = LOOKS,
     .arrivals = 1,
     .body = "$D\n $I\n for %i in 0..7 {\n if (eq %t, 0) {\n store %d[0], (cast %i : f32)\n $P\n"
             "$Yi\n } else {\n $Xi\n" READS "$Q\n }\n }\n",
     .result = 6},

    /* bytes */
    {.name = "what TMA brings is there",
     .faces = MBARRIER,
     .modes = LOOKS,
     .arrivals = 1,
     .body = "$D\n $I\n if (eq %t, 0) {\n for %i in 0..4 {\n mbarrier_expect %o[0], 64\n "
             "copy_gmem_to_smem %x[%i], %s, %o[0]\n"
             "$Vi\n }\n } else {\n for %i in 0..4 {\n $Xi\n store %y[3 - %i], (load %s)\n"
             "commit_smem\n $Q\n }\n }\n",
     .result = -1}, /* of %x[3, 0] */
    {.name = "what TMA brings is there",
     .faces = BARRIER,
     .modes = LOOKS,
     .arrivals = 1,
     .body = "$D\n $I\n if (eq %t, 0) {\n for %i in 0..4 {\n copy_gmem_to_smem %x[%i], %s, %o[0]\n"
             "$Vi\n }\n } else {\n for %i in 0..4 {\n $Xi\n store %y[3 - %i], (load %s)\n"
             "commit_smem\n $Q\n }\n }\n",
     .result = -1}, /* of %x[3, 0] */

    /* a life */
    {.name = "nobody has initialised it",
     .faces = MBARRIER,
     .modes = ASKED,
     .arrivals = 1,
     .body = "$D\n if (eq %t, 0) {\n $X0\n store %y[0, 0], 1.0\n }\n",
     .codes = "barrier-uninitialised",
     .result = 1},
    {.name = "nobody has initialised that of the other CTA",
     .faces = MBARRIER,
     .modes = ASKED,
     .reaches = REACH(PEER),
     .arrivals = 1,
     .cluster = PAIR,
     .body = "$C\n %r = axis_index c\n if (eq (add %t, %r), 0) {\n mbarrier_init %o[0], 1\n $R0\n"
             "store %y[0, 0], 1.0\n }\n cluster_barrier\n",
     .codes = "barrier-uninitialised",
     .result = 1},
    {.name = "its life has ended",
     .faces = MBARRIER,
     .modes = ASKED,
     .arrivals = 1,
     .body = HAND_OVER "$P\n $W0\n mbarrier_invalidate %o[0]\n $X0\n store %y[0, 0], 1.0\n }\n",
     .codes = "barrier-uninitialised",
     .result = 1},
    {.name = "a wait lets another thread initialise it first",
     .faces = MBARRIER,
     .modes = MODE(WAITS),
     .arrivals = 1,
     .body = "$D\n if (eq %t, 1) {\n for %i in 0..40 {\n store %d[1], 1.0\n }\n"
             "mbarrier_init %o[0], 1\n" WRITES "$P\n } else {\n $X0\n" READS "}\n",
     .codes = "init-not-visible",
     .result = 7},
    {.name = "a post lets another thread initialise it first",
     .faces = MBARRIER,
     .modes = POSTS,
     .arrivals = 1,
     .body = "$D\n if (eq %t, 1) {\n for %i in 0..40 {\n store %d[0], 1.0\n }\n"
             "mbarrier_init %o[0], 1\n $W0\n } else {\n $X0\n }\n store %y[%t, 0], 1.0\n",
     .codes = "init-not-visible",
     .result = 1},

    /* phases */
    {.name = "the parity of phase 2 is that of phase 0, which the thread knows as little of",
     .faces = MBARRIER,
     .modes = LOOKS,
     .arrivals = 1,
     .is_fair = true,
     .body = UNTOLD(3) "$X2\n }\n",
     .codes = "barrier-wrong-parity",
     .is_part = true,
     .result = NOTHING,
     .words = "parity*phase 0*phase 2*%o[0]"},
    {.name = "the next phase completes, and nobody has asked who waits for this one",
     .faces = BARRIERS,
     .modes = LOOKS,
     .arrivals = 1,
     .body = UNTOLD(2) "$X0\n }\n",
     .codes = "barrier-overrun",
     .is_part = true,
     .result = NOTHING},

    /* what never comes */
    {.name = "phase 0 never completes",
     .faces = BARRIERS,
     .modes = LOOKS,
     .arrivals = 2,
     .body = STUCK(0),
     .codes = "deadlock",
     .result = NOTHING,
     .words = HAS(0, 1 of 2)},
    {.name = "phase 1 never completes",
     .faces = BARRIERS,
     .modes = LOOKS,
     .arrivals = 2,
     .body = STUCK(1),
     .codes = "deadlock",
     .result = NOTHING,
     .words = HAS(1, 1 of 2)},
    {.name = "phase 2 never completes",
     .faces = BARRIERS,
     .modes = LOOKS,
     .arrivals = 2,
     .body = STUCK(2),
     .codes = "deadlock",
     .result = NOTHING,
     .words = HAS(2, 1 of 2)},
    {.name = "phase 3 never completes",
     .faces = BARRIERS,
     .modes = LOOKS,
     .arrivals = 2,
     .body = STUCK(3),
     .codes = "deadlock",
     .result = NOTHING,
     .words = HAS(3, 1 of 2)},
    {.name = "units never come",
     .faces = SEMAPHORE,
     .modes = LOOKS,
     .arrivals = 2,
     .body = HAND_OVER "$P\n $X0\n }\n",
     .codes = "deadlock",
     .is_part = true,
     .result = NOTHING,
     .words = "of %o[0]"},

    /* a post releases */
    {.name = "what was written before a post is read after the other side's wait",
     .modes = POSTS,
     .arrivals = 1,
     .body = HAND_OVER WRITES "$X0\n } else {\n $W0\n" READS "}\n",
     .result = 7},
    {.name = "order(relaxed) releases nothing",
     .modes = POSTS,
     .attrs = ATTR(ORDER),
     .arrivals = 1,
     .written = " order(relaxed)",
     .body = HAND_OVER WRITES "$X0\n } else {\n $W0\n" READS "}\n",
     .codes = "insufficient-scope",
     .result = NOTHING},
    {.name = "a post releases to another CTA",
     .faces = MBARRIER,
     .modes = POSTS,
     .reaches = REACH(PEER),
     .arrivals = 1,
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n if (eq %r, 0) {\n store %d.cluster(1)[0], 7.0\n $R0\n"
                     "} else {\n $W0\n" READS "}\n }\n cluster_barrier\n",
     .result = 7},
    {.name = "scope(cta) releases nothing to another CTA",
     .faces = MBARRIER,
     .modes = POSTS,
     .reaches = REACH(PEER),
     .attrs = ATTR(SCOPE),
     .arrivals = 1,
     .written = " scope(cta)",
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n if (eq %r, 0) {\n store %d.cluster(1)[0], 7.0\n $R0\n"
                     "} else {\n $W0\n" READS "}\n }\n cluster_barrier\n",
     .codes = "insufficient-scope",
     .result = NOTHING},
    {.name = "a post releases over a cluster barrier",
     .faces = BARRIER,
     .modes = POSTS,
     .reaches = REACH(CLUSTER) | REACH(PEER),
     .arrivals = 1,
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n store %d.cluster((sub 1, %r))[0], 7.0\n $X0\n $W0\n"
                     "if (eq %r, 0) {\n" READS "}\n }\n cluster_barrier\n",
     .result = 7},
    {.name = "scope(cta) releases nothing over a cluster barrier",
     .faces = BARRIER,
     .modes = POSTS,
     .reaches = REACH(CLUSTER) | REACH(PEER),
     .attrs = ATTR(SCOPE),
     .arrivals = 1,
     .written = " scope(cta)",
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n store %d.cluster((sub 1, %r))[0], 7.0\n $X0\n $W0\n"
                     "if (eq %r, 0) {\n" READS "}\n }\n cluster_barrier\n",
     .codes = "insufficient-scope",
     .result = NOTHING},
    {.name = "a post releases with units to another CTA",
     .faces = SEMAPHORE,
     .modes = POSTS,
     .arrivals = 1,
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n if (eq %r, 0) {\n store %d.cluster(1)[0], 7.0\n $X0\n"
                     "} else {\n $W0\n" READS "}\n }\n cluster_barrier\n",
     .result = 7},
    {.name = "with scope(cta) it releases nothing to them",
     .faces = SEMAPHORE,
     .modes = POSTS,
     .attrs = ATTR(SCOPE),
     .arrivals = 1,
     .written = " scope(cta)",
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n if (eq %r, 0) {\n store %d.cluster(1)[0], 7.0\n $X0\n"
                     "} else {\n $W0\n" READS "}\n }\n cluster_barrier\n",
     .codes = "insufficient-scope",
     .result = NOTHING},
    {.name = "CTA 0 posts for every CTA",
     .faces = MBARRIER,
     .modes = POSTS,
     .attrs = ATTR(FROM_CTA),
     .arrivals = 1,
     .written = " from_cta(0)",
     .cluster = PAIR,
     .body = IN_PAIR "if (eq %t, 0) {\n if (eq %r, 0) {\n store %d.cluster(1)[0], 7.0\n }\n $X0\n"
                     "$W0\n if (eq %r, 1) {\n" READS "}\n }\n cluster_barrier\n",
     .result = 7},
    {.name = "async_copies that it covers are done",
     .faces = BARRIERS,
     .modes = POSTS,
     .comes = COMES(LATER),
     .arrivals = 1,
     .body = HAND_OVER "async_copy %x[3], %s\n $X0\n } else {\n $W0\n store %y[0], (load %s)\n }\n",
     .result = -1}, /* of %x[3, 0] */

    /* a post counts */
    {.name = "three complete a phase of three",
     .faces = BARRIERS,
     .modes = POSTS,
     .arrivals = 3,
     .body = HAND_OVER "$X0\n $X0\n $X0\n $W0\n store %y[0, 0], 1.0\n }\n",
     .result = 1},
    {.name = "one and two of the other side, too",
     .faces = BARRIERS,
     .modes = POSTS,
     .arrivals = 3,
     .body = HAND_OVER "$P\n $P\n" WRITES "$X0\n } else {\n $W0\n" READS "}\n",
     .result = 7},
    {.name = "two do not complete a phase of three",
     .faces = BARRIERS,
     .modes = POSTS,
     .arrivals = 3,
     .body = HAND_OVER "$X0\n $X0\n $W0\n }\n",
     .codes = "deadlock",
     .result = NOTHING,
     .words = HAS(0, 2 of 3)},
    /* unless those who post so leave the object */
    {.name = "a fourth is for the next phase",
     .faces = BARRIERS,
     .modes = POSTS,
     .arrivals = 3,
     .body = HAND_OVER "$X0\n $X0\n $X0\n $W0\n $X0\n $W1\n }\n",
     .codes = "deadlock|barrier-too-many-arrivals,deadlock",
     .result = NOTHING,
     .words = HAS(1, 1 of 3) "|%o[0]*needs none: all have left"},
    {.name = "the next phase needs as many, unless they leave",
     .faces = BARRIERS,
     .modes = POSTS,
     .arrivals = 3,
     .body = HAND_OVER "$X0\n $X0\n $X0\n $W0\n $W1\n }\n",
     .codes = "deadlock|deadlock",
     .result = NOTHING,
     .words = HAS(1, 0 of 3) "|waits for*phase 1 *%o[0]*which needs no arrival: all have left"},
    {.name = "one that counts three completes a phase of three",
     .faces = BARRIERS,
     .modes = POSTS,
     .attrs = ATTR(ARRIVE_COUNT),
     .arrivals = 3,
     .written = " count(3)",
     .body = HAND_OVER WRITES "$X0\n } else {\n $W0\n" READS "}\n",
     .result = 7},
    {.name = "one that counts two does not",
     .faces = BARRIERS,
     .modes = POSTS,
     .attrs = ATTR(ARRIVE_COUNT),
     .arrivals = 3,
     .written = " count(2)",
     .body = HAND_OVER "$X0\n $W0\n }\n",
     .codes = "deadlock",
     .result = NOTHING,
     .words = HAS(0, 2 of 3)},
    {.name = "one that counts two and one of the other side do",
     .faces = BARRIERS,
     .modes = POSTS,
     .attrs = ATTR(ARRIVE_COUNT),
     .arrivals = 3,
     .written = " count(2)",
     .body = HAND_OVER "$X0\n $P\n $W0\n store %y[0, 0], 1.0\n }\n",
     .result = 1},
    {.name = "one that counts four brings too many",
     .faces = BARRIERS,
     .modes = POSTS,
     .attrs = ATTR(ARRIVE_COUNT),
     .arrivals = 3,
     .written = " count(4)",
     .body = HAND_OVER "$X0\n }\n",
     .codes = "barrier-too-many-arrivals",
     .is_part = true,
     .result = NOTHING,
     .words = "%o[0]"},

    /* which one */
    {.name = "an index that nobody wrote",
     .modes = ASKED,
     .arrivals = 1,
     .body = HAND_OVER "%u = load %z[0]\n $Z0\n }\n",
     .codes = "out-of-bounds,uninitialised-read|deadlock,out-of-bounds,uninitialised-read",
     .result = NOTHING},
    {.name = "an index outside, where nothing is posted or waited for",
     .modes = ASKED,
     .arrivals = 1,
     .body = HAND_OVER "store %z[0], 9\n %u = load %z[0]\n $Z0\n }\n",
     .codes = "out-of-bounds|deadlock,out-of-bounds",
     .result = NOTHING},
};
enum { QUESTION_COUNT = sizeof QUESTIONS / sizeof *QUESTIONS };

#endif
