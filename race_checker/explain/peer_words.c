/* peer_words.c - sentences about the CTAs of a cluster, and about edges that carry too little.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wording.h"

#include <inttypes.h>

static uint32_t get_line(const grout_wording *wording, uint32_t side) {
    return grout_wording__get_line(wording, &wording->facts->sides[side].origin);
}

static void add_object(const grout_wording *wording, uint32_t side, grout_text *out) {
    const grout_object_id object = wording->facts->sides[side].box.object;
    grout_wording__add_object(wording, object ? object : wording->facts->fault.object, out);
}

/* ---- headlines ---- */

/* Whether another op than the write fills the object before the read comes. */
static bool has_other_writer(const grout_wording *wording, grout_op_id write, grout_op_id read,
                             grout_object_id object) {
    enum { WRITES = 1u << GROUT_ACCESS_WRITE | 1u << GROUT_ACCESS_ATOMIC };
    const grout_module *module = wording->module;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (i != write && grout_op__is_in_kernel(module, i, wording->checker->info.kernel) &&
            grout_op__has_effect_on(module, op, object, WRITES) &&
            grout_op__find_reach(module, i, read).kind <= GROUT_REACH_NEXT_ROUND) {
            return true;
        }
    }
    return false;
}

static grout_op_id get_outermost_loop(const grout_module *module, grout_op_id op) {
    grout_op_id loop = 0;
    for (op = grout_op__get_loop(module, op); op; op = grout_op__get_loop(module, op)) {
        loop = op;
    }
    return loop;
}

/* Whether the one is of a later turn of a loop around both. */
static bool is_of_later_turn(const grout_module *module, const grout_origin *one,
                             const grout_origin *other) {
    grout_op_id loop = get_outermost_loop(module, one->op);
    return loop && loop == get_outermost_loop(module, other->op) && one->loop_depth > 0 &&
           other->loop_depth > 0 && one->loops[0] > other->loops[0];
}

/* Whether a read comes for what the write brings: it comes after it, or nothing else brings it
 * anything. By the program alone: what the read found is chance. */
static bool is_read_too_early(const grout_wording *wording) {
    grout_op_id write = wording->facts->sides[0].origin.op;
    const grout_side *read = &wording->facts->sides[1];
    if (read->is_write || read->stamp.agent != GROUT_AGENT_ACTOR ||
        is_of_later_turn(wording->module, &wording->facts->sides[0].origin, &read->origin)) {
        return false;
    }
    return grout_op__find_reach(wording->module, write, read->origin.op).kind ==
               GROUT_REACH_AHEAD ||
           !has_other_writer(wording, write, read->origin.op, read->box.object);
}

static void add_early_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    grout_text_add(out, "the %s at line %" PRIu32 " may read ",
                   grout_wording__get_access(wording, &facts->sides[1]), get_line(wording, 1));
    add_object(wording, 0, out);
    grout_text_add(out, " of ");
    grout_wording__add_cta(wording, facts->owner, out);
    grout_text_add(out, " before ");
    grout_wording__add_cta(wording, facts->sides[0].origin.cta, out);
    grout_text_add(out, " has written it");
}

static void add_reuse_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_side *other = &facts->sides[1];
    if (is_read_too_early(wording)) {
        add_early_headline(wording, out);
        return;
    }
    add_object(wording, 0, out);
    grout_text_add(out, " of ");
    grout_wording__add_cta(wording, facts->owner, out);
    grout_text_add(out, " is overwritten by ");
    grout_wording__add_cta(wording, facts->sides[0].origin.cta, out);
    grout_text_add(out, " while the %s at line %" PRIu32 " may still %s it",
                   grout_wording__get_access(wording, other), get_line(wording, 1),
                   other->is_write ? "be writing" : "be reading");
}

static void add_peer_exit_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *side = &wording->facts->sides[0];
    grout_wording__add_cta(wording, side->origin.cta, out);
    grout_text_add(out, " %s ", side->is_write ? "writes" : "reads");
    add_object(wording, 0, out);
    grout_text_add(out, " of ");
    grout_wording__add_cta(wording, wording->facts->owner, out);
    grout_text_add(out, ", which can have ended by then");
}

static void add_scope_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    grout_text_add(out, "this %s of ", facts->sides[0].is_write ? "write" : "read");
    add_object(wording, 0, out);
    grout_text_add(out,
                   " comes after the %s at line %" PRIu32
                   " in time only: the edge between them carries no memory",
                   facts->sides[1].is_write ? "write" : "read", get_line(wording, 1));
}

bool grout_wording__add_peer_headline(const grout_wording *wording, grout_text *out) {
    grout_diag_code code = wording->record->code;
    if (wording->facts->subject != GROUT_SUBJECT_USUAL) {
        return false;
    }
    if (code == GROUT_DIAG_CLUSTER_SMEM_REUSE) {
        add_reuse_headline(wording, out);
    } else if (code == GROUT_DIAG_CLUSTER_EXIT) {
        add_peer_exit_headline(wording, out);
    } else if (code == GROUT_DIAG_INSUFFICIENT_SCOPE) {
        add_scope_headline(wording, out);
    } else {
        return false;
    }
    return true;
}

/* ---- missing edges ---- */

static const char *get_scope(uint32_t choice) {
    return choice == GROUT_CHOICE_SCOPE_CTA ? "cta" : "cluster";
}

static void add_scope_edge(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    uint32_t line = get_line(wording, 1);
    if (near->kind == GROUT_NEAR_RELAXED) {
        grout_text_add(out,
                       "this %s is relaxed: who hears of it knows that line %" PRIu32
                       " has run, and need not see what it did",
                       grout_wording__get_mnemonic(wording, &near->origin), line);
    } else if (near->kind == GROUT_NEAR_NARROW) {
        grout_text_add(out,
                       "this %s has scope(%s), and the two threads lie in different %s: it tells "
                       "that line %" PRIu32 " has run, and not what it did",
                       grout_wording__get_mnemonic(wording, &near->origin), get_scope(near->number),
                       near->number == GROUT_CHOICE_SCOPE_CTA ? "CTAs" : "clusters", line);
    } else {
        grout_text_add(out,
                       "no release after line %" PRIu32
                       " meets an acquire here of which both scopes hold both threads",
                       line);
    }
}

static void add_exit_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    bool is_in_time = facts->knows_issue;
    grout_text_add(out, is_in_time ? "" : "nothing makes ");
    grout_wording__add_cta(wording, facts->owner, out);
    grout_text_add(out,
                   is_in_time ? " hears that line %" PRIu32
                                " has run, by an edge that carries no memory: the access can come "
                                "after it has ended, and its memory can be another kernel's by then"
                              : " wait for this access before it ends: its memory can be another "
                                "kernel's by then",
                   get_line(wording, 0));
}

bool grout_wording__add_peer_edge(const grout_wording *wording, grout_text *out) {
    grout_diag_code code = wording->record->code;
    const grout_facts *facts = wording->facts;
    if (facts->subject != GROUT_SUBJECT_USUAL) {
        return false;
    }
    if (code == GROUT_DIAG_CLUSTER_SMEM_REUSE) {
        if (is_read_too_early(wording)) {
            grout_text_add(out, "nothing tells ");
            grout_wording__add_cta(wording, facts->sides[1].origin.cta, out);
            grout_text_add(out, " that these bytes have been written");
            return true;
        }
        grout_text_add(out, "nothing tells ");
        grout_wording__add_cta(wording, facts->sides[0].origin.cta, out);
        grout_text_add(out, " that ");
        grout_wording__add_cta(wording, facts->owner, out);
        grout_text_add(out, " has finished with these bytes, nor the other way round");
    } else if (code == GROUT_DIAG_CLUSTER_EXIT) {
        add_exit_edge(wording, out);
    } else if (code == GROUT_DIAG_INSUFFICIENT_SCOPE) {
        add_scope_edge(wording, out);
    } else {
        return false;
    }
    return true;
}

/* ---- repairs ---- */

/* The read comes for what is written. */
static void repair_early_read(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const char *barrier = grout_wording__get_barrier(wording);
    if (facts->sides[0].stamp.agent != GROUT_AGENT_ACTOR) {
        grout_text_add(out, "wait for the bytes of line %" PRIu32 ", on %s of ",
                       get_line(wording, 0), barrier);
        grout_wording__add_cta(wording, facts->sides[1].origin.cta, out);
        grout_text_add(out, ", before line %" PRIu32, get_line(wording, 1));
        return;
    }
    grout_text_add(out, "let ");
    grout_wording__add_cta(wording, facts->sides[0].origin.cta, out);
    grout_text_add(out, " arrive on %s of ", barrier);
    grout_wording__add_cta(wording, facts->sides[1].origin.cta, out);
    grout_text_add(out,
                   " after line %" PRIu32 ", and wait on it before line %" PRIu32
                   "; or let the cluster meet between (cluster_barrier)",
                   get_line(wording, 0), get_line(wording, 1));
}

static void repair_reuse(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (is_read_too_early(wording)) {
        repair_early_read(wording, out);
        return;
    }
    grout_text_add(out, "let ");
    grout_wording__add_cta(wording, facts->owner, out);
    grout_text_add(out,
                   " arrive on %s of the cluster after line %" PRIu32
                   ", and the thread that runs line %" PRIu32 " wait for it before",
                   grout_wording__get_barrier(wording), get_line(wording, 1), get_line(wording, 0));
}

static void repair_peer_exit(grout_wording *wording, grout_text *out) {
    const grout_side *side = &wording->facts->sides[0];
    const grout_kernel *kernel =
        grout_module_get_kernel(wording->module, wording->checker->info.kernel);
    if (side->stamp.agent != GROUT_AGENT_ACTOR) {
        grout_text_add(out, "let a thread of ");
        grout_wording__add_cta(wording, wording->facts->owner, out);
        grout_text_add(out,
                       " wait on the barrier that the bytes of line %" PRIu32
                       " arrive on, before the CTA ends",
                       get_line(wording, 0));
        return;
    }
    if (wording->facts->knows_issue) {
        grout_text_add(out,
                       "make the arrive or signal after line %" PRIu32
                       " a release and the wait for it an acquire, both at scope(cluster) at "
                       "least; or ",
                       get_line(wording, 0));
    }
    grout_text_add(out, "end the kernel with 'cluster_barrier'");
    if (!grout_kernel_has_exit_sync(wording->module, wording->checker->info.kernel)) {
        grout_text_add(out, ", or write 'attr cluster_exit = sync' in its head");
    }
    grout_wording__set_edit_at_end(wording, kernel->body, "cluster_barrier");
}

static void repair_scope(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_facts *facts = wording->facts;
    bool is_in_cluster = facts->sides[0].stamp.cluster == facts->sides[1].stamp.cluster;
    if (near->kind == GROUT_NEAR_RELAXED) {
        grout_text_add(out, "remove 'order(relaxed)' from the %s at line %" PRIu32,
                       grout_wording__get_mnemonic(wording, &near->origin),
                       grout_wording__get_line(wording, &near->origin));
    } else if (near->kind == GROUT_NEAR_NARROW) {
        grout_text_add(out, "write scope(%s) for the %s at line %" PRIu32,
                       is_in_cluster ? "cluster" : "gpu",
                       grout_wording__get_mnemonic(wording, &near->origin),
                       grout_wording__get_line(wording, &near->origin));
    } else {
        grout_text_add(out,
                       "make the arrive or signal after line %" PRIu32
                       " a release and the wait before line %" PRIu32
                       " an acquire, both at scope(%s) at least",
                       get_line(wording, 1), get_line(wording, 0),
                       is_in_cluster ? "cluster" : "gpu");
    }
}

bool grout_wording__add_peer_repair(grout_wording *wording, grout_text *out) {
    grout_diag_code code = wording->record->code;
    if (wording->facts->subject != GROUT_SUBJECT_USUAL) {
        return false;
    }
    if (code == GROUT_DIAG_CLUSTER_SMEM_REUSE) {
        repair_reuse(wording, out);
    } else if (code == GROUT_DIAG_CLUSTER_EXIT) {
        repair_peer_exit(wording, out);
    } else if (code == GROUT_DIAG_INSUFFICIENT_SCOPE) {
        repair_scope(wording, out);
    } else {
        return false;
    }
    return true;
}

/* ---- cp.async ---- */

bool grout_wording__add_async_copy_edge(const grout_wording *wording, uint32_t side,
                                        grout_text *out) {
    const grout_near *near = &wording->facts->near;
    uint32_t line = get_line(wording, side);
    switch (near->kind) {
    case GROUT_NEAR_COPY_NEVER:
        grout_text_add(out, "never awaited: the thread has not executed any async_copy_wait");
        return true;
    case GROUT_NEAR_COPY_LEFT:
        grout_text_add(out,
                       "this async_copy_wait %" PRIu32
                       " leaves the group of the copy at line %" PRIu32 " in flight",
                       near->number, line);
        return true;
    case GROUT_NEAR_COPY_BEFORE:
        grout_text_add(out,
                       "never awaited: this async_copy_wait runs before the group of the copy at "
                       "line %" PRIu32 " is closed",
                       line);
        return true;
    case GROUT_NEAR_COPY_OPEN:
        grout_text_add(out, "the copy is in the open group, which no async_copy_commit_group has "
                            "closed; async_copy_wait counts closed groups only");
        return true;
    case GROUT_NEAR_COPY_OTHER_THREAD:
        grout_text_add(out,
                       "another thread's group: only the thread that issued the copy at line "
                       "%" PRIu32 " can wait for it, and then has to tell this one",
                       line);
        return true;
    default:
        return false;
    }
}

bool grout_wording__add_async_copy_repair(grout_wording *wording, uint32_t side, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_near *near = &facts->near;
    const char *lines =
        near->is_open ? "async_copy_commit_group\nasync_copy_wait 0" : "async_copy_wait 0";
    const char *words = near->is_open ? "'async_copy_commit_group' and then 'async_copy_wait 0'"
                                      : "'async_copy_wait 0'";
    if (near->kind < GROUT_NEAR_COPY_NEVER || near->kind > GROUT_NEAR_COPY_OTHER_THREAD) {
        return false;
    }
    if (facts->side_count == 1) {
        grout_text_add(out, "insert %s before the %s ends", words,
                       facts->is_inner ? "scope" : "CTA");
    } else if (near->kind == GROUT_NEAR_COPY_OTHER_THREAD) {
        grout_text_add(out, "let ");
        grout_wording__add_actor(wording, &facts->sides[side].origin, out);
        grout_text_add(out, " execute %s after line %" PRIu32 " and then arrive on %s that ", words,
                       get_line(wording, side), grout_wording__get_barrier(wording));
        grout_wording__add_actor(wording, &facts->sides[0].origin, out);
        grout_text_add(out, " waits on before line %" PRIu32 ", or use async_copy_arrive",
                       get_line(wording, 0));
    } else {
        grout_text_add(out, "insert %s before line %" PRIu32, words, get_line(wording, 0));
        grout_wording__set_edit_before(wording, &facts->sides[0].origin, lines);
    }
    return true;
}
