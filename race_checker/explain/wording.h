/*
 * wording.h - a finding that is being put into words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_WORDING_H
#define GROUT_RACE_CHECKER_WORDING_H

#include "array.h"
#include "checker.h"
#include "kept_strings.h"
#include "lookup.h"
#include "rings.h"
#include "sentences.h"
#include "statement.h"

#include "grout-internal/text.h"

enum { GROUT_REPORT_NOTES_MAX = 64 };

/* How often each thread has waited on each barrier. */
typedef struct grout_wait_counts {
    grout_lookup lookup;
    bool is_made;
} grout_wait_counts;

/* An atomic with a result that could order more than it does. */
typedef struct grout_counter {
    uint32_t line;
    grout_op_id op;
} grout_counter;

enum { GROUT_COUNTER_KINDS = 2 }; /* of a race; of anything else */

/* Those that have run, by line. */
typedef struct grout_counters {
    GROUT_ARRAY(grout_counter) all;
    /* by kind: of those of the kind the first op of each half, of each quarter and so on: of item i
     * at i + count, of items 2 k and 2 k + 1 at k. UINT32_MAX: none is of the kind */
    grout_op_id *first[GROUT_COUNTER_KINDS];
    bool is_made;
} grout_counters;

/* The face that a kernel is written in. */
typedef struct grout_face {
    bool is_explicit, takes_fence;
    bool is_known;
} grout_face;

/* Where undefined values come from: made when the first finding about one asks. */
typedef struct grout_sources {
    struct grout_feeds *feeds; /* NULL: nothing without a value has been read */
    bool is_made;
} grout_sources;

void grout_sources__deinit(grout_sources *sources);

/* An op on a barrier, by a thread that has run it. */
typedef struct grout_sync_op {
    grout_object_id object; /* of a post */
    uint32_t thread;
    grout_op_id loop; /* around it; 0: none */
    grout_op_id op;
    grout_op_id last; /* of a wait: that which stands last in the source of those up to here */
} grout_sync_op;

/* Sorted by all but the last. */
typedef GROUT_ARRAY(grout_sync_op) grout_sync_op_list;

/* What the ops of the module do with a barrier. */
typedef struct grout_barrier_ops {
    uint32_t arrivals; /* ops that arrive on it, or bring bytes to it */
    grout_op_id loop;  /* around them */
    grout_op_id last_arrival;
    uint8_t posters;    /* threads that have run a plain arrival in their own CTA, a bit for each */
    bool has_loops;     /* they are in several loops */
    bool is_unobserved; /* a finding says that a thread has not seen each of its phases */
    const grout_record *overrun; /* the first finding of that kind; NULL: there is none */
    uint32_t waits;              /* on it, one for each thread that has run the op */
    grout_op_id first_wait;      /* of the first thread */
    uint32_t first_waiter;       /* its thread */
} grout_barrier_ops;

/* Arrivals by one operand that stand beside each other in a loop. */
typedef struct grout_turn_count {
    grout_block_id block; /* which they are, and whose; 0: none */
    grout_object_id object;
    uint32_t thread;
    const char *operand;
    uint32_t count;
    uint32_t first_line, last_line;
} grout_turn_count;

typedef struct grout_sync_ops {
    grout_sync_op_list waits, posts;
    grout_turn_count turn;       /* the last that was asked for */
    grout_barrier_ops *barriers; /* by object */
    bool is_made;
} grout_sync_ops;

void grout_sync_ops__deinit(grout_sync_ops *sync_ops);

/* An op that announces bytes for a barrier, or brings some, and has run. */
typedef struct grout_byte_op {
    grout_object_id object;
    int64_t index; /* of the element; -1: more than constants say it */
    grout_op_id op;
} grout_byte_op;

/* Sorted. */
typedef struct grout_byte_ops {
    GROUT_ARRAY(grout_byte_op) all;
    bool is_made;
} grout_byte_ops;

void grout_byte_ops__deinit(grout_byte_ops *byte_ops);

/* What the findings of a report ask about their kernel, each made when the first of them asks. */
typedef struct grout_shared {
    grout_wait_counts waits;
    grout_counters counters;
    grout_sync_ops sync_ops;
    grout_byte_ops byte_ops;
    grout_rings rings;
    grout_face face;
    grout_line_table lines;
    grout_sources sources;
} grout_shared;

/* One finding in the making. Its strings are the report's. */
typedef struct grout_wording {
    const grout_checker *checker;
    const grout_module *module;
    const grout_record *record;
    const grout_facts *facts;
    const grout_record *late; /* of the same report: see grout_listed; or NULL */
    grout_strings *strings;
    grout_finding *finding;
    grout_diag *diag;
    grout_shared *shared;
} grout_wording;

/* Takes the text over: a string that lives as long as the report. "" without memory. */
char *grout_wording__keep(const grout_wording *wording, grout_text *text);
/* The sentence with its words, kept likewise. */
char *grout_wording__say(const grout_wording *wording, grout_sentence_id sentence,
                         const grout_words *words);
/* What to write, as the author of the kernel writes it, kept likewise. */
const char *grout_wording__spell(const grout_wording *wording, grout_spelling_id spelling,
                                 const grout_words *words);
/* Whether the author of the kernel writes Python with JAX' Pallas. */
bool grout_wording__is_pallas(const grout_wording *wording);
void grout_wording__note(grout_wording *wording, grout_severity severity, grout_place place,
                         const char *message);
/* The places that loc was called from, at most GROUT_CALLERS_MAX; those said already are left out.
 */
void grout_wording__note_callers(grout_wording *wording, grout_loc_id loc);

/* ---- names.c ---- */

grout_place grout_wording__get_place(const grout_wording *wording, const grout_origin *origin);
uint32_t grout_wording__get_line(const grout_wording *wording, const grout_origin *origin);
/* "%as" */
void grout_wording__add_object(const grout_wording *wording, grout_object_id object,
                               grout_text *out);
/* "%as[1, 0:32, 0:64]"; "%as" if it is all of it. */
void grout_wording__add_box(const grout_wording *wording, const grout_box *box, grout_text *out);
/* "%bar[1]" */
void grout_wording__add_element(const grout_wording *wording, uint32_t element, grout_text *out);
/* "%bar[1] of CTA (x=1)": of a CTA that is not the one looking at it. */
void grout_wording__add_element_of(const grout_wording *wording, uint32_t element, uint32_t cta,
                                   uint32_t from, grout_text *out);
/* "barrier_wait": the mnemonic of the op. */
const char *grout_wording__get_mnemonic(const grout_wording *wording, const grout_origin *origin);
/* Whether the access is one of a wgmma; whether it is one of cp.async. */
bool grout_wording__is_wgmma(const grout_wording *wording, const grout_side *side);
bool grout_wording__is_async_copy(const grout_wording *wording, const grout_side *side);
/* One of a tcgen05_mma; a load or store of tensor memory. */
bool grout_wording__is_tcgen05(const grout_wording *wording, const grout_side *side);
/* Whether the side is a copy to tensor memory. */
bool grout_wording__is_tcgen05_copy(const grout_wording *wording, const grout_side *side);
bool grout_wording__is_tmem(const grout_wording *wording, const grout_side *side);
/* The read of a tensor map that the kernel makes, by a copy. */
/* Whether launch control writes an answer. */
bool grout_wording__is_answer(const grout_wording *wording, const grout_side *side);
bool grout_wording__is_map_read(const grout_wording *wording, const grout_side *side);
/* Whether it is about an atomic of a thread and a reduction of TMA that fit but for the proxy. */
bool grout_wording__is_of_two_proxies(const grout_wording *wording);
/* "TMA", "the tensor core", "cp.async", "st.async", "the thread" */
const char *grout_wording__get_who(const grout_wording *wording, const grout_side *side);
/* "plain store", "plain load", "atomic", "copy", "wgmma", "async_store_smem" */
const char *grout_wording__get_access(const grout_wording *wording, const grout_side *side);
/* "CTA (x=1)" */
void grout_wording__add_cta(const grout_wording *wording, uint32_t cta, grout_text *out);
/* "thread wg=1", "warp 2", "CTA (x=1), thread wg=1": the CTA if the finding is about two of them;
 * "the thread" where there is nothing to tell. */
void grout_wording__add_actor(const grout_wording *wording, const grout_origin *origin,
                              grout_text *out);
/* ", by thread wg=1", where there are several that could be meant. */
void grout_wording__add_by(const grout_wording *wording, const grout_origin *origin,
                           grout_text *out);

/* The same as words of a sentence, kept with the report. */
const char *grout_wording__name_object(const grout_wording *wording, grout_object_id object);
const char *grout_wording__name_element(const grout_wording *wording, uint32_t element);
const char *grout_wording__name_cta(const grout_wording *wording, uint32_t cta);
const char *grout_wording__name_actor(const grout_wording *wording, const grout_origin *origin);
const char *grout_wording__name_by(const grout_wording *wording, const grout_origin *origin);
/* "thread", "warp" */
const char *grout_wording__get_kind(const grout_origin *origin);
/* "scope", "CTA": what ends, of a finding about the end of one. */
const char *grout_wording__get_scope(const grout_wording *wording);

/* Whether it is made inside of what its line calls: nothing can be written right beside it. */
bool grout_wording__is_within_call(const grout_wording *wording, const grout_origin *origin);
/* Whether the one is of a body that the line of the other calls, which nobody can write beside: an
 * access in the function that plgpu.emit_pipeline calls, and a copy that it makes. */
bool grout_wording__is_in_body(const grout_wording *wording, const grout_origin *inner,
                               const grout_origin *outer);
/* "before line 12"; "as the last line of the body that line 12 calls, after line 8": where
 * something is written that has to come after the one and before the other; line: of its
 * statement. */
const char *grout_wording__name_place(const grout_wording *wording, const grout_origin *earlier,
                                      const grout_origin *later, uint32_t line);
/* The same without saying where: "before this". */
const char *grout_wording__name_time(const grout_wording *wording, const grout_origin *earlier,
                                     const grout_origin *later);
/* "%full[1]"; "full.at[1]": a barrier as an operation takes it. */
const char *grout_wording__name_operand(const grout_wording *wording, uint32_t element);
/* "barrier_wait %full[1]", "plgpu.barrier_wait(full.at[1])" */
const char *grout_wording__spell_wait(const grout_wording *wording, uint32_t element);
/* "'cluster_barrier'", or what to write in Pallas for all threads of the cluster to meet */
const char *grout_wording__spell_meeting(const grout_wording *wording);
/* The ops by which the thread has waited on the barrier of an element, without a parity: how many,
 * and the last of them. */
uint32_t grout_wording__count_waits(const grout_wording *wording, uint32_t element, uint32_t thread,
                                    grout_op_id *op_out);

/* The side of a race that polls what the other one writes, both without atomics; NULL: none. */
const grout_side *grout_record__find_poll(const grout_module *module, const grout_record *record);

/* ---- counters.c ---- */

/* An atomic with a result that is relaxed, or does not both release and acquire, by which the
 * threads of a race, or of an edge without memory, may know of each other: it stands after the one
 * access in the kernel. 0: there is none. */
grout_op_id grout_wording__find_counter(const grout_wording *wording);
void grout_counters__deinit(grout_counters *counters);
/* A counter by which the threads know of each other, and which is relaxed. False: there is none. */
bool grout_wording__add_counter_repair(const grout_wording *wording, grout_text *out);
/* A thread reads what others have written, in a branch that stands after an atomic by which it
 * could know of them: the branch takes it too early. False: there is none. */
bool grout_wording__add_ticket_repair(const grout_wording *wording, grout_text *out);

/* ---- bytes_words.c ---- */

/* Whether the finding is about the bytes of an mbarrier's phase. */
bool grout_wording__is_about_bytes(const grout_wording *wording);
/* "this mbarrier_expect announces 512 bytes", "this copy_gmem_to_smem brings 512 bytes"; false: it
 * does neither. */
bool grout_wording__add_bytes(const grout_wording *wording, grout_op_id op, grout_text *out);
/* That at each other op that does so for the finding's mbarrier. */
void grout_wording__note_bytes(grout_wording *wording);
bool grout_wording__add_bytes_repair(const grout_wording *wording, grout_text *out);

/* ---- face.c ---- */

/* Whether the kernel has mbarriers, and no barriers of the Pallas style. */
bool grout_wording__is_explicit(const grout_wording *wording);
/* Whether the kernel publishes SMEM by fence_async_shared, not commit_smem. */
bool grout_wording__takes_fence(const grout_wording *wording);
/* "commit_smem", "fence_async_shared": as the kernel writes it, or would. */
const char *grout_wording__get_smem_commit(const grout_wording *wording);
/* "a barrier", "an mbarrier" */
const char *grout_wording__get_barrier(const grout_wording *wording);

/* ---- headline.c, edge.c ---- */

/* The sentence that the finding opens with. */
void grout_wording__add_headline(const grout_wording *wording, grout_text *out);
/* What order exists, what is absent, what came close; nothing if there is nothing to say. */
void grout_wording__add_missing_edge(const grout_wording *wording, grout_text *out);

/* ---- commit_repair.c ---- */

void grout_wording__add_commit_repair(grout_wording *wording, grout_text *out);

/* ---- arrivers.c ---- */

/* The first overrun that was found on the object; NULL: there is none, or no memory. */
const grout_record *grout_wording__find_overrun(const grout_wording *wording,
                                                grout_object_id object);
/* Whether the op makes one plain arrival on the object. */
bool grout_op__posts_one_on(const grout_module *module, grout_op_id id, grout_object_id object);
/* The barrier that the op arrives on or brings bytes to, and the operand that names it; 0: none. */
grout_object_id grout_op__find_arrival(const grout_module *module, grout_op_id id,
                                       uint32_t *operand_out);
/* Whether the op arrives on barriers of other CTAs. */
bool grout_op__is_remote(const grout_module *module, grout_op_id id, grout_object_id object);
/* The wait on a barrier that the actor comes to last before the access, in the same loop; 0: none.
 */
grout_op_id grout_wording__find_wait_before(const grout_wording *wording,
                                            const grout_origin *access);
/* The plain arrival on the barrier that the actor of an access makes in the loop of that, if it
 * makes one alone; 0: none, or several. */
grout_op_id grout_wording__find_only_post(const grout_wording *wording, grout_object_id barrier,
                                          const grout_origin *beside);
/* All zero without memory. */
grout_barrier_ops grout_wording__get_barrier_ops(const grout_wording *wording,
                                                 grout_object_id barrier);
/* One more of "thread wg=0, thread wg=1 and thread wg=2", of which there are count; with its CTA in
 * a cluster. */
void grout_wording__add_name(const grout_wording *wording, const grout_origin *origin,
                             uint32_t index, uint32_t count, grout_text *out);
/* Whether more threads arrive on the barrier of an overrun than a phase takes arrivals. */
bool grout_wording__has_surplus(const grout_wording *wording);
/* The operations that wait on the barrier and have run: how many, and one of them with a thread
 * that has run it. */
uint32_t grout_wording__find_waits(const grout_wording *wording, grout_object_id barrier,
                                   grout_origin *first_out);
/* Whether the thread of an overrun arrives more often on the barrier in one turn of a loop than a
 * phase takes arrivals. */
bool grout_wording__has_more_in_turn(const grout_wording *wording);
/* What to do about that. False: it is not so. */
bool grout_wording__add_turn_count_repair(const grout_wording *wording, grout_text *out);
/* What to do about a load that nobody waits for: nothing waits on its barrier, or what does is for
 * other loads.
 */
void grout_wording__add_load_at_exit_repair(const grout_wording *wording, grout_text *out);
/* What to do about that; line: of the arrival. False: it is not so. */
bool grout_wording__add_surplus_repair(const grout_wording *wording, uint32_t line,
                                       grout_text *out);
/* The same for the lanes of a named barrier. */
bool grout_wording__add_lanes_repair(const grout_wording *wording, grout_text *out);

/* ---- overrun_words.c ---- */

/* Whether the overrun tells its cause by itself: nobody waits, a parity is that of a fresh
 * mbarrier, threads take turns, more arrive than are counted, one thread makes both phases. */
bool grout_wording__tells_overrun(const grout_wording *wording);
/* "the index and the parity": what decides for which phase of the barrier a wait is. */
const char *grout_wording__get_index_words(const grout_wording *wording, grout_object_id object);
void grout_wording__add_overrun_edge(const grout_wording *wording, grout_text *out);
void grout_wording__add_overrun_repair(const grout_wording *wording, grout_text *out);

/* ---- wgmma_words.c ---- */

void grout_wording__add_wgmma_headline(const grout_wording *wording, grout_text *out);
/* mma-operand-reuse, accumulator-in-flight, and async-at-exit of a wgmma. */
void grout_wording__add_wgmma_edge(const grout_wording *wording, grout_text *out);

/* ---- tensor_words.c ---- */

/* Findings about tensor memory and tcgen05_mma. False: it is something else. */
bool grout_wording__add_tensor_headline(const grout_wording *wording, grout_text *out);
bool grout_wording__add_tensor_edge(const grout_wording *wording, grout_text *out);
bool grout_wording__add_tensor_repair(grout_wording *wording, grout_text *out);

/* ---- protocol_words.c ---- */

/* Findings about barriers, semaphores and what else synchronises. False: nothing was added. */
bool grout_wording__add_protocol_headline(const grout_wording *wording, grout_text *out);
bool grout_wording__add_protocol_edge(const grout_wording *wording, grout_text *out);
bool grout_wording__add_protocol_repair(const grout_wording *wording, grout_text *out);
/* How their related place is introduced; NULL: as usual. */
const char *grout_wording__get_protocol_opening(const grout_wording *wording);

/* ---- peer_words.c ---- */

/* cluster-smem-reuse, cluster-exit, insufficient-scope of accesses; false: it is something else. */
bool grout_wording__add_peer_headline(const grout_wording *wording, grout_text *out);
bool grout_wording__add_peer_edge(const grout_wording *wording, grout_text *out);
bool grout_wording__add_peer_repair(grout_wording *wording, grout_text *out);
/* A cp.async, which is this side; false if the near fact is not about one. */
bool grout_wording__add_async_copy_edge(const grout_wording *wording, uint32_t side,
                                        grout_text *out);
bool grout_wording__add_async_copy_repair(grout_wording *wording, uint32_t side, grout_text *out);

/* ---- place_words.c ---- */

/* out-of-bounds; false: nothing is known. */
bool grout_wording__add_outside_repair(const grout_wording *wording, grout_text *out);
/* index-overflow. */
void grout_wording__add_wrap_repair(const grout_wording *wording, grout_text *out);

/* ---- unwritten_words.c ---- */

/* The read that the value of an uninitialised-read comes from; NULL: not known, or not one. */
const grout_unwritten *grout_wording__find_unwritten(const grout_wording *wording);
/* What to do about it; false: it is not known. */
bool grout_wording__add_unwritten_repair(const grout_wording *wording, grout_text *out);

/* ---- reuse_words.c ---- */

/* The wait that would order the accesses, and comes too late; false: there is none. */
bool grout_wording__add_late_repair(const grout_wording *wording, grout_text *out);
/* The arrival that says that the bytes have been read, and comes before that; false: there is none.
 */
bool grout_wording__add_release_repair(const grout_wording *wording, grout_text *out);
/* The usual repair of a race in SMEM: which thread arrives, which one waits. */
void grout_wording__add_turn_repair(const grout_wording *wording, grout_text *out);

/* ---- lead_words.c ---- */

/* What to do about an index that does not fit those beside it; false: none stands out. */
bool grout_wording__add_lead_repair(const grout_wording *wording, grout_text *out);
/* The loop that waits for the slots of the finding's barrier at the end, where it leaves some out.
 */
bool grout_wording__add_short_wait_repair(const grout_wording *wording, grout_text *out);
/* The if that lets a load come in more turns than its wait has loads to wait for: those ahead of
 * the loop, and one in each turn. */
bool grout_wording__add_surplus_load_repair(const grout_wording *wording, grout_object_id object,
                                            const grout_origin *wait, grout_text *out);

/* ---- group_repair.c ---- */

/* How many groups a wait right before the access may leave, for each occurrence to be mended; 0 at
 * another place, or for an open group. */
uint32_t grout_wording__get_allowed(const grout_wording *wording);
/* "lower the 2 of the wgmma_wait at line 12 to 1"; false: no wait has too large a number. */
bool grout_wording__lower_wait(grout_wording *wording, grout_text *out);
/* The loop of a wait that leaves what is still in flight when the loop is over, where the access
 * comes: in the loop the number may be right. 0: it is not so. */
grout_op_id grout_wording__find_ended_loop(const grout_wording *wording);
/* "'commit_group' and then 'wait_smem_to_gmem 0'"; the same as lines. */
const char *grout_wording__get_group_ops(const grout_wording *wording, bool is_source);
const char *grout_wording__get_group_lines(const grout_wording *wording, bool is_source);
/* What to do about a bulk group that is not awaited. */
void grout_wording__repair_group(grout_wording *wording, grout_text *out);

/* ---- edit.c ---- */

/* Whether no thread but this one has executed the op. Otherwise, what holds for one thread need not
 * hold for another. */
bool grout_wording__is_alone(const grout_wording *wording, const grout_origin *origin);
/* The edit: these lines at the spot; before the statement, if one thread alone executes it; at the
 * end of a block. */
void grout_wording__set_edit(grout_wording *wording, const grout_spot *spot, const char *lines);
void grout_wording__set_edit_before(grout_wording *wording, const grout_origin *origin,
                                    const char *lines);
void grout_wording__set_edit_at_end(grout_wording *wording, grout_block_id block,
                                    const char *lines);

/* ---- wait_line.c ---- */

/* The first index of the operand that is the object, or a place in it: "%slot" of "%vs[%slot, :]";
 * "": it has none. */
const char *grout_wording__name_stage(const grout_wording *wording, grout_op_id id,
                                      grout_object_id object);
/* ": 'barrier_wait %full[%slot]'", for the copy that is the finding's other side; false: the
 * thread of the access may have no name for the stage. */
bool grout_wording__add_wait_line(const grout_wording *wording, grout_text *out);

/* ---- group_repair.c ---- */

/* The repair in words, and as an edit where there is only one. */
void grout_wording__add_repair(grout_wording *wording, grout_text *out);

#endif
