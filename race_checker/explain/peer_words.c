/* peer_words.c - sentences about the CTAs of a cluster, and about edges that carry too little.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reuse.h"
#include "wording.h"

static uint32_t get_line(const grout_wording *wording, uint32_t side) {
    return grout_wording__get_line(wording, &wording->facts->sides[side].origin);
}

static const char *name_object(const grout_wording *wording, uint32_t side) {
    const grout_object_id object = wording->facts->sides[side].box.object;
    return grout_wording__name_object(wording, object ? object : wording->facts->fault.object);
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

/* Whether a read comes for what the write brings: it comes after it, or nothing else brings it
 * anything. By the program alone: what the read found is chance. */
static bool is_read_too_early(const grout_wording *wording) {
    grout_op_id write = wording->facts->sides[0].origin.op;
    const grout_side *read = &wording->facts->sides[1];
    if (read->is_write || read->stamp.agent != GROUT_AGENT_ACTOR ||
        grout_record__find_overwriter(wording->module, wording->record) != NULL) {
        return false;
    }
    return grout_op__find_reach(wording->module, write, read->origin.op).kind ==
               GROUT_REACH_AHEAD ||
           !has_other_writer(wording, write, read->origin.op, read->box.object);
}

static void add_reuse_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_side *other = &facts->sides[1];
    const grout_words words = {.object = name_object(wording, 0),
                               .cta = grout_wording__name_cta(wording, facts->owner),
                               .other_cta =
                                   grout_wording__name_cta(wording, facts->sides[0].origin.cta),
                               .access = grout_wording__get_access(wording, other),
                               .line = get_line(wording, 1)};
    if (is_read_too_early(wording)) {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_EARLY_HEAD, &words);
    } else if (other->is_write) {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_WRITING_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_READING_HEAD, &words);
    }
}

static void add_peer_exit_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *side = &wording->facts->sides[0];
    grout_sentence__add(
        out, GROUT_SENTENCE_PEER_EXIT_HEAD,
        &(grout_words){
            .cta = grout_wording__name_cta(wording, side->origin.cta),
            .does = grout_phrase__get(side->is_write ? GROUT_PHRASE_WRITES : GROUT_PHRASE_READS),
            .object = name_object(wording, 0),
            .other_cta = grout_wording__name_cta(wording, wording->facts->owner)});
}

static void add_scope_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *sides = wording->facts->sides;
    const grout_words words = {
        .access = grout_phrase__get(sides[0].is_write ? GROUT_PHRASE_WRITE : GROUT_PHRASE_READ),
        .object = name_object(wording, 0),
        .other = grout_phrase__get(sides[1].is_write ? GROUT_PHRASE_WRITE : GROUT_PHRASE_READ),
        .line = get_line(wording, 1)};
    if (wording->facts->near.is_shown) {
        grout_sentence__add(out, GROUT_SENTENCE_SCOPE_TENSOR_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_SCOPE_HEAD, &words);
    }
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
        grout_sentence__add(
            out, GROUT_SENTENCE_SCOPE_RELAXED_EDGE,
            &(grout_words){.op = grout_wording__get_mnemonic(wording, &near->origin),
                           .line = line});
    } else if (near->kind == GROUT_NEAR_NARROW) {
        bool is_cta = near->number == GROUT_CHOICE_SCOPE_CTA;
        grout_sentence__add(
            out, GROUT_SENTENCE_SCOPE_NARROW_EDGE,
            &(grout_words){
                .op = grout_wording__get_mnemonic(wording, &near->origin),
                .scope = get_scope(near->number),
                .what = grout_phrase__get(is_cta ? GROUT_PHRASE_CTAS : GROUT_PHRASE_CLUSTERS),
                .line = line});
    } else if (near->is_shown) {
        grout_sentence__add(out, GROUT_SENTENCE_SCOPE_TENSOR_EDGE, &(grout_words){.line = line});
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_SCOPE_NONE_EDGE, &(grout_words){.line = line});
    }
}

static void add_exit_edge(const grout_wording *wording, grout_text *out) {
    const grout_words words = {.cta = grout_wording__name_cta(wording, wording->facts->owner),
                               .line = get_line(wording, 0)};
    if (wording->facts->knows_issue) {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_EXIT_IN_TIME_EDGE, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_EXIT_EDGE, &words);
    }
}

static void add_reuse_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (is_read_too_early(wording)) {
        grout_sentence__add(
            out, GROUT_SENTENCE_PEER_EARLY_EDGE,
            &(grout_words){.cta = grout_wording__name_cta(wording, facts->sides[1].origin.cta)});
        return;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_PEER_REUSE_EDGE,
        &(grout_words){.cta = grout_wording__name_cta(wording, facts->sides[0].origin.cta),
                       .other_cta = grout_wording__name_cta(wording, facts->owner)});
}

bool grout_wording__add_peer_edge(const grout_wording *wording, grout_text *out) {
    grout_diag_code code = wording->record->code;
    if (wording->facts->subject != GROUT_SUBJECT_USUAL) {
        return false;
    }
    if (code == GROUT_DIAG_CLUSTER_SMEM_REUSE) {
        add_reuse_edge(wording, out);
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
    const grout_words words = {
        .line = get_line(wording, 0),
        .barrier = grout_wording__get_barrier(wording),
        .cta = grout_wording__name_cta(wording, facts->sides[0].origin.cta),
        .other_cta = grout_wording__name_cta(wording, facts->sides[1].origin.cta),
        .other_line = get_line(wording, 1),
        .op = grout_wording__spell(wording, GROUT_SPELLING_CLUSTER_MEETS, NULL)};
    if (facts->sides[0].stamp.agent != GROUT_AGENT_ACTOR) {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_EARLY_BYTES_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_EARLY_HELP, &words);
    }
}

static void repair_reuse(const grout_wording *wording, grout_text *out) {
    if (is_read_too_early(wording)) {
        repair_early_read(wording, out);
        return;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_PEER_REUSE_HELP,
        &(grout_words){.cta = grout_wording__name_cta(wording, wording->facts->owner),
                       .barrier = grout_wording__get_barrier(wording),
                       .line = get_line(wording, 1),
                       .other_line = get_line(wording, 0)});
}

/* The access is a thread's: the cluster meets before its CTAs end. */
static void repair_own_exit(const grout_wording *wording, grout_text *out) {
    bool is_sync = grout_kernel_has_exit_sync(wording->module, wording->checker->info.kernel);
    const char *sync = grout_wording__spell(wording, GROUT_SPELLING_CLUSTER_SYNC, NULL);
    const grout_words words = {.op = grout_wording__spell_meeting(wording),
                               .more = is_sync ? grout_phrase__get(GROUT_PHRASE_NOTHING) : sync,
                               .line = get_line(wording, 0)};
    if (wording->facts->knows_issue && !grout_wording__is_pallas(wording)) {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_EXIT_RELEASE_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_EXIT_HELP, &words);
    }
}

static void repair_peer_exit(grout_wording *wording, grout_text *out) {
    const grout_kernel *kernel =
        grout_module_get_kernel(wording->module, wording->checker->info.kernel);
    const grout_words words = {
        .cta = grout_wording__name_cta(wording, wording->facts->owner),
        .line = get_line(wording, 0),
        .op = grout_wording__spell(wording, GROUT_SPELLING_MMA_COMMIT_PAIR, NULL)};
    if (grout_wording__is_tcgen05(wording, &wording->facts->sides[0])) {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_EXIT_MMA_HELP, &words);
        return;
    }
    if (wording->facts->sides[0].stamp.agent != GROUT_AGENT_ACTOR) {
        grout_sentence__add(out, GROUT_SENTENCE_PEER_EXIT_BYTES_HELP, &words);
        return;
    }
    repair_own_exit(wording, out);
    grout_wording__set_edit_at_end(wording, kernel->body,
                                   grout_op_get_info(GROUT_OP_CLUSTER_BARRIER)->text);
}

/* An atomic by which the threads know of each other, and which orders less than it could. */
static void repair_counter(const grout_wording *wording, const grout_origin *counter,
                           const char *scope, grout_text *out) {
    const grout_op *op = grout_module_get_op(wording->module, counter->op);
    const grout_words words = {.op = grout_wording__get_mnemonic(wording, counter),
                               .line = grout_wording__get_line(wording, counter),
                               .scope = scope};
    if (grout_op_get_choice(wording->module, op, GROUT_ATTR_ORDER) == GROUT_CHOICE_ORDER_ACQ_REL) {
        grout_sentence__add(out, GROUT_SENTENCE_SCOPE_NARROW_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_COUNTER_HELP, &words);
    }
}

static void repair_scope(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_facts *facts = wording->facts;
    bool is_in_cluster = facts->sides[0].stamp.cluster == facts->sides[1].stamp.cluster;
    const char *scope = is_in_cluster ? "cluster" : "gpu";
    if (grout_wording__is_pallas(wording)) { /* nobody writes an order or a scope there */
        grout_sentence__add(
            out, GROUT_SENTENCE_RACE_ARRIVE_HELP,
            &(grout_words){.thread = grout_wording__get_kind(&facts->sides[0].origin),
                           .barrier = grout_wording__get_barrier(wording)});
        return;
    }
    if (near->kind == GROUT_NEAR_RELAXED || near->kind == GROUT_NEAR_NARROW) {
        const grout_words words = {.op = grout_wording__get_mnemonic(wording, &near->origin),
                                   .line = grout_wording__get_line(wording, &near->origin),
                                   .scope = scope};
        if (near->kind == GROUT_NEAR_RELAXED) {
            grout_sentence__add(out, GROUT_SENTENCE_SCOPE_RELAXED_HELP, &words);
        } else {
            grout_sentence__add(out, GROUT_SENTENCE_SCOPE_NARROW_HELP, &words);
        }
        return;
    }
    const grout_origin counter = {.op = grout_wording__find_counter(wording)};
    if (!near->is_shown && counter.op != 0) {
        repair_counter(wording, &counter, scope, out);
        return;
    }
    const grout_words words = {
        .line = get_line(wording, 1), .other_line = get_line(wording, 0), .scope = scope};
    if (near->is_shown) {
        grout_sentence__add(out, GROUT_SENTENCE_SCOPE_TENSOR_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_SCOPE_NONE_HELP, &words);
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
    const grout_words words = {.number = near->number, .line = get_line(wording, side)};
    switch (near->kind) {
    case GROUT_NEAR_COPY_NEVER:
        grout_sentence__add(out, GROUT_SENTENCE_ASYNC_COPY_NEVER_EDGE, NULL);
        return true;
    case GROUT_NEAR_COPY_LEFT:
        grout_sentence__add(out, GROUT_SENTENCE_ASYNC_COPY_LEFT_EDGE, &words);
        return true;
    case GROUT_NEAR_COPY_BEFORE:
        grout_sentence__add(out, GROUT_SENTENCE_ASYNC_COPY_BEFORE_EDGE, &words);
        return true;
    case GROUT_NEAR_COPY_OPEN:
        grout_sentence__add(out, GROUT_SENTENCE_ASYNC_COPY_OPEN_EDGE, NULL);
        return true;
    case GROUT_NEAR_COPY_OTHER_THREAD:
        grout_sentence__add(out, GROUT_SENTENCE_ASYNC_COPY_OTHER_THREAD_EDGE, &words);
        return true;
    default:
        return false;
    }
}

static const char *spell_copy_wait(const grout_wording *wording) {
    return grout_wording__spell(wording, GROUT_SPELLING_ASYNC_COPY_WAIT,
                                &(grout_words){.number = grout_wording__get_allowed(wording)});
}

static const char *spell_copy_close(const grout_wording *wording) {
    return grout_wording__spell(wording, GROUT_SPELLING_ASYNC_COPY_CLOSE, NULL);
}

/* The lines that close the group of the copies, if it is open, and wait for it. */
static const char *get_copy_wait_lines(const grout_wording *wording) {
    grout_text text = {.allocator = wording->checker->allocator};
    if (wording->facts->near.is_open) {
        grout_text_add(&text, "%s\n", spell_copy_close(wording));
    }
    grout_text_add(&text, "%s", spell_copy_wait(wording));
    return grout_wording__keep(wording, &text);
}

/* The same in a sentence. */
static const char *get_copy_wait_ops(const grout_wording *wording) {
    const char *await = spell_copy_wait(wording);
    if (wording->facts->near.is_open) {
        return grout_wording__say(
            wording, GROUT_SENTENCE_CLOSE_AND_AWAIT,
            &(grout_words){.op = spell_copy_close(wording), .other_op = await});
    }
    return grout_wording__say(wording, GROUT_SENTENCE_AWAIT, &(grout_words){.op = await});
}

/* ---- a group that a loop closes ---- */

/* What a copy ahead of a loop has in common with those in it. */
typedef struct joined_group {
    grout_op_id first, close; /* a copy of the loop's body, and what closes the group of both */
} joined_group;

static const grout_sync_info *get_group_op(const grout_module *module, grout_op_id op) {
    const grout_sync_info *sync =
        grout_op_get_sync((grout_opcode)grout_module_get_op(module, op)->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_ASYNC_COPY ? sync : NULL;
}

/* The first copy in a block and what is in it, up to a place; 0: there is none. */
static grout_op_id find_copy_in(const grout_module *module, grout_block_id block) {
    for (grout_op_id at = grout_module_get_block(module, block)->first; at != 0;
         at = grout_module_get_op(module, at)->next) {
        const grout_sync_info *sync = get_group_op(module, at);
        if (sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS) {
            return at;
        }
    }
    return 0;
}

/* The first copy of a loop's body before its first close, and that close. */
static joined_group look_into(const grout_module *module, grout_op_id loop) {
    joined_group it = {0, 0};
    const grout_block_id body = grout_module_get_op(module, loop)->first_block;
    for (grout_op_id at = grout_module_get_block(module, body)->first; at != 0 && it.close == 0;
         at = grout_module_get_op(module, at)->next) {
        const grout_op *op = grout_module_get_op(module, at);
        const grout_sync_info *sync = get_group_op(module, at);
        const bool is_branch =
            grout_op_get_region((grout_opcode)op->opcode)->kind == GROUT_REGION_BRANCH;
        if (sync != NULL && sync->mode == GROUT_SYNC_MODE_CLOSES) {
            it.close = at;
        } else if (sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS && it.first == 0) {
            it.first = at;
        } else if (is_branch && it.first == 0 && op->block_count > 0) {
            it.first = find_copy_in(module, op->first_block);
        }
    }
    return it;
}

/* The statements after the copy, up to a loop: none of them closes its group. */
static joined_group find_joined(const grout_module *module, grout_op_id copy) {
    grout_op_id at = grout_module_get_op(module, copy)->next;
    for (; at != 0; at = grout_module_get_op(module, at)->next) {
        const grout_sync_info *sync = get_group_op(module, at);
        if (sync != NULL && sync->mode == GROUT_SYNC_MODE_CLOSES) {
            break;
        }
        if (grout_op__is_counted_loop(grout_module_get_op(module, at))) {
            return look_into(module, at);
        }
    }
    return (joined_group){0, 0};
}

/* A copy ahead of a loop is in one group with the first of the loop: their wait leaves both. */
static bool repair_joined(grout_wording *wording, const grout_origin *copy, grout_text *out) {
    const joined_group it = wording->facts->near.kind == GROUT_NEAR_COPY_LEFT
                                ? find_joined(wording->module, copy->op)
                                : (joined_group){0, 0};
    if (it.first == 0 || it.close == 0) {
        return false;
    }
    const char *close = spell_copy_close(wording);
    const grout_spot spot = grout_statement__get_after(
        &wording->shared->lines, grout_statement__find(wording->module, copy->op));
    grout_sentence__add(
        out, GROUT_SENTENCE_ASYNC_COPY_CLOSE_HELP,
        &(grout_words){.op = close,
                       .line = grout_wording__get_line(wording, copy),
                       .other_line =
                           grout_wording__get_line(wording, &(grout_origin){.op = it.close}),
                       .limit = grout_wording__get_line(wording, &(grout_origin){.op = it.first})});
    grout_wording__set_edit(wording, &spot, close);
    return true;
}

/* ---- groups that the turns of a loop close ---- */

/* The ops of a loop's body about the groups of cp.async: the copy, the close and the wait, of those
 * in an if too; 0: there is none. */
typedef struct turn_of_groups {
    grout_op_id copy, close, wait;
    grout_op_id condition; /* the if around the close */
    bool is_late;          /* the close comes after the wait */
} turn_of_groups;

static void pass_group_op(const grout_module *module, grout_op_id at, grout_op_id condition,
                          turn_of_groups *it) {
    const grout_sync_info *sync = get_group_op(module, at);
    if (sync == NULL) {
        return;
    }
    if (sync->mode == GROUT_SYNC_MODE_STARTS && it->copy == 0) {
        it->copy = at;
    } else if (sync->mode == GROUT_SYNC_MODE_CLOSES && it->close == 0) {
        it->close = at;
        it->condition = condition;
        it->is_late = it->wait != 0;
    } else if (sync->mode == GROUT_SYNC_MODE_WAITS && it->wait == 0 && condition == 0) {
        it->wait = at;
    }
}

static turn_of_groups look_over(const grout_module *module, grout_op_id loop) {
    turn_of_groups it = {.copy = 0};
    const grout_op *owner = grout_module_get_op(module, loop);
    grout_op_id at = grout_op__is_counted_loop(owner)
                         ? grout_module_get_block(module, owner->first_block)->first
                         : 0;
    for (; at != 0; at = grout_module_get_op(module, at)->next) {
        const grout_op *op = grout_module_get_op(module, at);
        const bool is_branch =
            grout_op_get_region((grout_opcode)op->opcode)->kind == GROUT_REGION_BRANCH;
        grout_op_id in = is_branch && op->block_count > 0
                             ? grout_module_get_block(module, op->first_block)->first
                             : 0;
        pass_group_op(module, at, 0, &it);
        for (; in != 0; in = grout_module_get_op(module, in)->next) {
            pass_group_op(module, in, at, &it);
        }
    }
    return it;
}

/* The wait of a turn counts a group for each, and the turns do not close one each before it. */
static bool repair_turn(const grout_wording *wording, grout_text *out) {
    const grout_module *module = wording->module;
    const grout_origin *wait = &wording->facts->near.origin;
    const grout_op_id loop = wait->op != 0 ? grout_op__get_loop(module, wait->op) : 0;
    const turn_of_groups it = loop != 0 ? look_over(module, loop) : (turn_of_groups){.copy = 0};
    if (it.copy == 0 || it.wait != wait->op) {
        return false;
    }
    const grout_words words = {
        .op = it.close != 0 ? grout_wording__get_mnemonic(wording, &(grout_origin){.op = it.close})
                            : spell_copy_close(wording),
        .line = grout_wording__get_line(wording, wait),
        .other_line = it.close != 0
                          ? grout_wording__get_line(wording, &(grout_origin){.op = it.close})
                          : grout_wording__get_line(wording, &(grout_origin){.op = it.copy}),
        .limit = it.condition != 0
                     ? grout_wording__get_line(wording, &(grout_origin){.op = it.condition})
                     : 0};
    if (it.close == 0) {
        grout_sentence__add(
            out, GROUT_SENTENCE_ASYNC_COPY_UNCLOSED_HELP,
            &(grout_words){.op = words.op, .line = words.line, .other_line = words.other_line});
    } else if (it.is_late) {
        grout_sentence__add(
            out, GROUT_SENTENCE_ASYNC_COPY_CLOSED_LATE_HELP,
            &(grout_words){.op = words.op, .line = words.line, .other_line = words.other_line});
    } else if (it.condition != 0) {
        grout_sentence__add(out, GROUT_SENTENCE_ASYNC_COPY_SOME_CLOSED_HELP, &words);
    }
    return it.close == 0 || it.is_late || it.condition != 0;
}

bool grout_wording__add_async_copy_repair(grout_wording *wording, uint32_t side, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_near *near = &facts->near;
    const char *ops = get_copy_wait_ops(wording);
    if (near->kind < GROUT_NEAR_COPY_NEVER || near->kind > GROUT_NEAR_COPY_OTHER_THREAD) {
        return false;
    }
    if (facts->side_count == 1) {
        grout_sentence__add(out, GROUT_SENTENCE_ASYNC_COPY_EXIT_HELP,
                            &(grout_words){.ops = ops, .scope = grout_wording__get_scope(wording)});
    } else if (near->kind == GROUT_NEAR_COPY_OTHER_THREAD) {
        grout_sentence__add(
            out, GROUT_SENTENCE_ASYNC_COPY_OTHERS_HELP,
            &(grout_words){.actor = grout_wording__name_actor(wording, &facts->sides[side].origin),
                           .ops = ops,
                           .line = get_line(wording, side),
                           .barrier = grout_wording__get_barrier(wording),
                           .other_actor =
                               grout_wording__name_actor(wording, &facts->sides[0].origin),
                           .other_line = get_line(wording, 0)});
    } else if ((near->kind != GROUT_NEAR_COPY_NEVER && repair_turn(wording, out)) ||
               repair_joined(wording, &facts->sides[side].origin, out) ||
               (near->kind == GROUT_NEAR_COPY_LEFT && grout_wording__lower_wait(wording, out))) {
        return true;
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_ASYNC_COPY_HELP,
                            &(grout_words){.ops = ops, .line = get_line(wording, 0)});
        grout_wording__set_edit_before(wording, &facts->sides[0].origin,
                                       get_copy_wait_lines(wording));
    }
    return true;
}
