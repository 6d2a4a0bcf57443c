/*
 * leads.c - an operation whose index does not fit those beside it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A ring is kept in step by its indices: what fills a slot, what announces it, what waits for it
 * and what gives it back name one slot in one turn. Where one of them names another, the finding is
 * about a wait or a count, and the mistake is the index. Each rule here has a witness: other
 * operations of the kernel that do it in the usual way. Without one nothing is said.
 */
#include "lead_uses.h"

#include "flight.h"
#include "sentences.h"
#include "statement.h"

#include "grout-internal/text.h"

#include <string.h>

enum { USES_LOOKED = 256 };

/* What stands out, and what it is held against. */
typedef struct lead {
    grout_ring_use use, partner;
    grout_op_id wait;  /* that leaves something in flight; 0: none */
    bool is_of_before; /* what that has waited for is of the turn before */
} lead;

/* ---- questions ---- */

void grout_lead_question__add(grout_lead_question *question, grout_op_id op) {
    if (op != 0 && question->count < GROUT_LEAD_OPS_MAX) {
        question->ops[question->count++] = op;
    }
}

static void add_in_role(grout_lead_question *question, const grout_rings *rings,
                        grout_object_id object, grout_ring_role role) {
    const grout_ring_span uses = grout_rings__get_of_object(rings, object);
    for (size_t i = 0; i < uses.count; i++) {
        if (uses.items[i].role == (uint8_t)role) {
            grout_lead_question__add(question, uses.items[i].op);
        }
    }
}

/* What fills the buffers that are read in the loop. */
static void add_fills(grout_lead_question *question, const grout_rings *rings, grout_op_id loop) {
    const grout_ring_span beside = grout_rings__get_of_loop(rings, loop);
    for (size_t i = 0; i < beside.count; i++) {
        if (beside.items[i].role == GROUT_RING_READS) {
            add_in_role(question, rings, beside.items[i].object, GROUT_RING_FILLS);
        }
    }
}

void grout_lead_question__add_barrier(grout_lead_question *question, const grout_rings *rings,
                                      grout_object_id object) {
    const uint32_t before = question->count;
    const grout_ring_span uses = grout_rings__get_of_object(rings, object);
    add_in_role(question, rings, object, GROUT_RING_ARRIVES);
    for (size_t i = 0; question->count == before && i < uses.count; i++) {
        if (uses.items[i].role == GROUT_RING_WAITS) {
            add_fills(question, rings, uses.items[i].loop);
        }
    }
    add_in_role(question, rings, object, GROUT_RING_WAITS);
}

/* ---- a copy that announces another slot than it fills ---- */

static bool arrives_nothing(const grout_leads *it, grout_object_id object) {
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, object);
    bool has_any = false;
    for (size_t i = 0; i < uses.count; i++) {
        has_any |= uses.items[i].role == GROUT_RING_ARRIVES;
    }
    return uses.count > 0 && !has_any;
}

/* Another copy on the barrier that has one slot for both. */
static bool find_paired_copy(const grout_leads *it, const lead *of, lead *out) {
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, of->use.object);
    for (size_t i = 0; i < uses.count; i++) {
        grout_ring_use filled;
        if (uses.items[i].role == GROUT_RING_ARRIVES && uses.items[i].op != of->use.op &&
            grout_leads__get_use(it, uses.items[i].op, GROUT_RING_FILLS, &filled) &&
            grout_leads__compare_slots(it, &uses.items[i], &filled) == 1) {
            out->use = uses.items[i];
            return true;
        }
    }
    return false;
}

/* The wait that comes last before the read, for the same slot; NULL: there is none. */
static const grout_ring_use *find_last_wait(const grout_leads *it, const grout_ring_span *beside,
                                            const grout_ring_use *read) {
    const grout_ring_use *last = NULL;
    for (size_t i = 0; i < beside->count && beside->items[i].op < read->op; i++) {
        if (beside->items[i].role == GROUT_RING_WAITS &&
            grout_leads__compare_slots(it, &beside->items[i], read) == 1) {
            last = &beside->items[i];
        }
    }
    return last;
}

static bool waits_on(const grout_ring_span *beside, grout_object_id object) {
    bool has_any = false;
    for (size_t i = 0; i < beside->count; i++) {
        has_any |= beside->items[i].role == GROUT_RING_WAITS && beside->items[i].object == object;
    }
    return has_any;
}

/* Whether the wait is for what the barrier of the copy does not tell: the last one before the read,
 * or the only one there is. */
static bool is_in_place_of(const grout_leads *it, const grout_ring_span *beside,
                           const grout_ring_use *wait, const grout_ring_use *read,
                           grout_object_id barrier) {
    return wait->object != barrier &&
           (find_last_wait(it, beside, read) == wait || !waits_on(beside, barrier));
}

/* A reader of the buffer that waits for the same slot of a barrier: of this one, or of another one
 * in its place, on which nothing arrives. */
static bool find_paired_wait(const grout_leads *it, const lead *of, bool is_of_other, lead *out) {
    const grout_ring_span reads = grout_rings__get_of_object(it->rings, of->partner.object);
    for (size_t i = 0; i < reads.count; i++) {
        const grout_ring_use *read = &reads.items[i];
        const grout_ring_span beside = read->role == GROUT_RING_READS
                                           ? grout_rings__get_of_loop(it->rings, read->loop)
                                           : (grout_ring_span){NULL, 0};
        for (size_t k = 0; k < beside.count; k++) {
            const grout_ring_use *wait = &beside.items[k];
            const bool fits = is_of_other
                                  ? is_in_place_of(it, &beside, wait, read, of->use.object) &&
                                        arrives_nothing(it, wait->object)
                                  : wait->object == of->use.object;
            if (fits && wait->role == GROUT_RING_WAITS &&
                grout_leads__compare_slots(it, wait, read) == 1) {
                *out = (lead){.use = *wait, .partner = *read};
                return true;
            }
        }
    }
    return false;
}

static bool find_copy(const grout_leads *it, grout_op_id op, lead *out) {
    const grout_sync_info *sync = grout_leads__get_sync(it, op);
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS &&
           grout_leads__get_use(it, op, GROUT_RING_ARRIVES, &out->use) &&
           grout_leads__get_use(it, op, GROUT_RING_FILLS, &out->partner);
}

static bool add_copy_slot(const grout_leads *it, grout_op_id op, grout_text *out) {
    lead own, other;
    grout_text more = {.allocator = it->checker->allocator};
    if (!find_copy(it, op, &own) || grout_leads__compare_slots(it, &own.use, &own.partner) != 0) {
        return false;
    }
    if (find_paired_copy(it, &own, &other)) {
        grout_sentence__add(&more, GROUT_SENTENCE_LEAD_PAIRED_COPY,
                            &(grout_words){.line = grout_leads__get_line(it, other.use.op)});
    } else if (find_paired_wait(it, &own, false, &other)) {
        grout_sentence__add(&more, GROUT_SENTENCE_LEAD_PAIRED_WAIT,
                            &(grout_words){.line = grout_leads__get_line(it, other.use.op),
                                           .element = grout_leads__name_use(it, &other.use),
                                           .object = grout_leads__name_use(it, &other.partner)});
    } else {
        return false;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_LEAD_COPY_SLOT_HELP,
        &(grout_words){.line = grout_leads__get_line(it, op),
                       .object = grout_leads__name_use(it, &own.partner),
                       .element = grout_leads__name_use(it, &own.use),
                       .more = grout_strings__keep(it->names, it->checker->allocator, &more)});
    return true;
}

/* ---- a copy that announces on another barrier than its reader waits on ---- */

static bool add_copy_barrier(const grout_leads *it, grout_op_id op, grout_text *out) {
    lead own, other;
    if (!find_copy(it, op, &own) || !find_paired_wait(it, &own, true, &other)) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_LEAD_COPY_BARRIER_HELP,
                        &(grout_words){.line = grout_leads__get_line(it, op),
                                       .object = grout_leads__name_use(it, &own.partner),
                                       .element = grout_leads__name_use(it, &own.use),
                                       .other_line = grout_leads__get_line(it, other.use.op),
                                       .other_element = grout_leads__name_use(it, &other.use)});
    return true;
}

/* ---- a wait whose slot and parity go by two counters ---- */

static bool add_counters(const grout_leads *it, grout_op_id op, grout_text *out) {
    const grout_module *module = grout_leads__get_module(it);
    const grout_op *wait = grout_module_get_op(module, op);
    grout_ring_use use;
    if (!grout_leads__get_use(it, op, GROUT_RING_WAITS, &use) ||
        wait->operand_count <= use.operand + 1) {
        return false;
    }
    const grout_operand *step =
        grout_slot__get_dividend(module, grout_ring_use__get_slot(module, &use));
    const grout_operand *turn =
        grout_parity__get_dividend(module, grout_module_get_operand(module, wait, use.operand + 1));
    const char *what = step != NULL ? grout_leads__name_value(it, step) : NULL;
    const char *other = turn != NULL ? grout_leads__name_value(it, turn) : NULL;
    if (what == NULL || other == NULL || !grout_slot__are_apart(module, step, turn)) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_LEAD_COUNTERS_HELP,
                        &(grout_words){.line = grout_leads__get_line(it, op),
                                       .what = what,
                                       .where = grout_leads__name_source(it, &use, NULL),
                                       .other = other});
    return true;
}

/* ---- a slot that is given back while it is read ---- */

/* Whether the wait is the last one of its loop before something fills the buffer. */
static bool is_before_fill(const grout_leads *it, const grout_ring_use *wait,
                           grout_object_id buffer) {
    const grout_ring_span beside = grout_rings__get_of_loop(it->rings, wait->loop);
    const grout_ring_use *last = NULL;
    bool has_any = false;
    for (size_t i = 0; i < beside.count && !has_any; i++) {
        last = beside.items[i].role == GROUT_RING_WAITS ? &beside.items[i] : last;
        has_any = beside.items[i].role == GROUT_RING_FILLS && beside.items[i].object == buffer &&
                  last != NULL && last->op == wait->op;
    }
    return has_any;
}

/* Whether what fills the buffer waits on the barrier before. */
static bool lets_fill(const grout_leads *it, grout_object_id barrier, grout_object_id buffer) {
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, barrier);
    bool has_any = false;
    for (size_t i = 0; i < uses.count && !has_any; i++) {
        has_any =
            uses.items[i].role == GROUT_RING_WAITS && is_before_fill(it, &uses.items[i], buffer);
    }
    return has_any;
}

static bool find_in_flight(const grout_leads *it, grout_op_id op, lead *out) {
    const grout_flight turn = grout_flight__find(grout_leads__get_module(it), op);
    for (uint32_t i = 0; i < turn.count && turn.is_known; i++) {
        const grout_ring_span uses = grout_rings__get_of_loop(
            it->rings, grout_op__get_loop(grout_leads__get_module(it), turn.ops[i]));
        for (size_t k = 0; k < uses.count; k++) {
            if (uses.items[k].op == turn.ops[i] && uses.items[k].role == GROUT_RING_READS &&
                grout_leads__compare_slots(it, &uses.items[k], &out->use) == 1 &&
                lets_fill(it, out->use.object, uses.items[k].object)) {
                out->partner = uses.items[k];
                out->wait = turn.wait;
                out->is_of_before = turn.wait == 0 || turn.allowed <= (int64_t)turn.all;
                return true;
            }
        }
    }
    return false;
}

static bool is_post(const grout_leads *it, grout_op_id op) {
    const grout_sync_info *sync = grout_leads__get_sync(it, op);
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_POSTS;
}

static bool add_in_flight(const grout_leads *it, grout_op_id op, grout_text *out) {
    grout_text more = {.allocator = it->checker->allocator};
    lead own;
    if (!is_post(it, op) || !grout_leads__get_use(it, op, GROUT_RING_ARRIVES, &own.use) ||
        !find_in_flight(it, op, &own)) {
        return false;
    }
    if (own.wait != 0) {
        grout_sentence__add(&more, GROUT_SENTENCE_LEAD_WAIT_LEAVES,
                            &(grout_words){.op = grout_leads__get_mnemonic(it, own.wait),
                                           .line = grout_leads__get_line(it, own.wait)});
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_LEAD_IN_FLIGHT_HELP,
        &(grout_words){.line = grout_leads__get_line(it, op),
                       .element = grout_leads__name_use(it, &own.use),
                       .where = grout_leads__name_source(it, &own.use, &own.partner),
                       .access = grout_leads__get_mnemonic(it, own.partner.op),
                       .other_line = grout_leads__get_line(it, own.partner.op),
                       .object = grout_leads__name_use(it, &own.partner),
                       .more = own.wait != 0
                                   ? grout_strings__keep(it->names, it->checker->allocator, &more)
                                   : grout_phrase__get(GROUT_PHRASE_LEAD_OWN_GROUP),
                       .what = grout_phrase__get(own.is_of_before ? GROUT_PHRASE_LEAD_TURN_BEFORE
                                                                  : GROUT_PHRASE_LEAD_EARLIER)});
    return true;
}

/* ---- a slot that is given back before it is read ---- */

/* The read of the same slot that follows the arrival in its block, of a buffer that the arrival
 * lets others fill; false: there is none, or one comes before too. */
static bool find_later_read(const grout_leads *it, grout_op_id op, lead *of) {
    const grout_module *module = grout_leads__get_module(it);
    const grout_ring_span beside = grout_rings__get_of_loop(it->rings, of->use.loop);
    const grout_block_id block = grout_module_get_op(module, op)->parent;
    bool is_found = false;
    for (size_t i = 0; i < beside.count; i++) {
        const grout_ring_use *read = &beside.items[i];
        if (read->role != GROUT_RING_READS || grout_leads__compare_slots(it, read, &of->use) != 1 ||
            !lets_fill(it, of->use.object, read->object)) {
            continue;
        }
        if (grout_op__find_reach(module, op, read->op).kind != GROUT_REACH_AHEAD ||
            grout_module_get_op(module, grout_statement__find(module, read->op))->parent != block) {
            return false;
        }
        of->partner = is_found ? of->partner : *read;
        is_found = true;
    }
    return is_found && of->use.loop != 0;
}

static bool add_early_post(const grout_leads *it, grout_op_id op, grout_text *out) {
    lead own;
    if (!is_post(it, op) || !grout_leads__get_use(it, op, GROUT_RING_ARRIVES, &own.use) ||
        !find_later_read(it, op, &own)) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_LEAD_EARLY_HELP,
                        &(grout_words){.op = grout_leads__get_mnemonic(it, op),
                                       .line = grout_leads__get_line(it, op),
                                       .element = grout_leads__name_use(it, &own.use),
                                       .access = grout_leads__get_mnemonic(it, own.partner.op),
                                       .other_line = grout_leads__get_line(it, own.partner.op),
                                       .object = grout_leads__name_use(it, &own.partner)});
    return true;
}

/* ---- a slot that is filled without a wait ---- */

static bool is_within(const grout_module *module, grout_op_id loop, grout_op_id outer) {
    while (loop != 0 && loop != outer) {
        loop = grout_op__get_loop(module, loop);
    }
    return loop != 0;
}

/* Whether something waits on the barrier where it goes on to fill or read slots; also where there
 * is too much to look at. */
static bool is_heeded(const grout_leads *it, grout_object_id barrier) {
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, barrier);
    const grout_ring_uses *all = &it->rings->by_object;
    bool has_any = uses.count == 0 || all->count > USES_LOOKED;
    for (size_t i = 0; i < uses.count && !has_any; i++) {
        for (size_t k = 0; uses.items[i].role == GROUT_RING_WAITS && k < all->count && !has_any;
             k++) {
            has_any =
                (all->items[k].role == GROUT_RING_FILLS ||
                 all->items[k].role == GROUT_RING_READS) &&
                (uses.items[i].loop == 0 ||
                 is_within(grout_leads__get_module(it), all->items[k].loop, uses.items[i].loop));
        }
    }
    return has_any;
}

/* What fills, turn by turn, a buffer that is read beside the arrival. */
static bool find_fill(const grout_leads *it, lead *of) {
    const grout_ring_span beside = grout_rings__get_of_loop(it->rings, of->use.loop);
    for (size_t i = 0; i < beside.count; i++) {
        const grout_ring_span uses =
            beside.items[i].role == GROUT_RING_READS &&
                    grout_leads__count_slots(it, &beside.items[i]) ==
                        grout_leads__count_slots(it, &of->use)
                ? grout_rings__get_of_object(it->rings, beside.items[i].object)
                : (grout_ring_span){NULL, 0};
        for (size_t k = 0; k < uses.count; k++) {
            const grout_ring_use *fill = &uses.items[k];
            if (fill->role == GROUT_RING_FILLS && fill->loop != 0 && fill->loop != of->use.loop &&
                grout_ring_use__get_slot(grout_leads__get_module(it), fill) != NULL &&
                !grout_leads__is_constant(it, fill) &&
                grout_loop__count_turns(grout_leads__get_module(it), fill->loop) >
                    grout_leads__count_slots(it, fill)) {
                of->partner = *fill;
                return true;
            }
        }
    }
    return false;
}

static bool add_unwaited_fill(const grout_leads *it, grout_op_id op, grout_text *out) {
    lead own;
    if (!is_post(it, op) || !grout_leads__get_use(it, op, GROUT_RING_ARRIVES, &own.use) ||
        own.use.loop == 0 || is_heeded(it, own.use.object) || !find_fill(it, &own)) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_LEAD_UNWAITED_HELP,
                        &(grout_words){.line = grout_leads__get_line(it, own.partner.op),
                                       .object = grout_leads__name_use(it, &own.partner),
                                       .other_line = grout_leads__get_line(it, op),
                                       .element = grout_leads__name_use(it, &own.use)});
    return true;
}

/* ---- one parity in every turn ---- */

/* A wait of another loop on as many slots, with a parity that changes. */
static bool find_changing_parity(const grout_leads *it, const grout_ring_use *use,
                                 grout_ring_use *out) {
    const grout_module *module = grout_leads__get_module(it);
    for (size_t i = 0; i < it->rings->by_object.count && i < GROUT_RING_LOOKED; i++) {
        const grout_ring_use *other = &it->rings->by_object.items[i];
        const grout_op *op = grout_module_get_op(module, other->op);
        if (other->role == GROUT_RING_WAITS && other->loop != 0 && other->op != use->op &&
            grout_leads__count_slots(it, other) == grout_leads__count_slots(it, use) &&
            op->operand_count > other->operand + 1 &&
            grout_module_get_operand(module, op, other->operand + 1)->kind == GROUT_OPERAND_VALUE) {
            *out = *other;
            return true;
        }
    }
    return false;
}

static bool add_one_parity(const grout_leads *it, grout_op_id op, grout_text *out) {
    const grout_module *module = grout_leads__get_module(it);
    const grout_op *wait = grout_module_get_op(module, op);
    grout_ring_use use, other;
    int64_t parity = 0;
    if (!grout_leads__get_use(it, op, GROUT_RING_WAITS, &use) || use.loop == 0 ||
        grout_op__get_parent(module, op) != use.loop || grout_leads__is_constant(it, &use) ||
        wait->operand_count <= use.operand + 1 ||
        !grout_slot__is_constant(module, grout_module_get_operand(module, wait, use.operand + 1),
                                 &parity) ||
        grout_loop__count_turns(module, use.loop) <= grout_leads__count_slots(it, &use) ||
        !find_changing_parity(it, &use, &other)) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_LEAD_ONE_PARITY_HELP,
                        &(grout_words){.line = grout_leads__get_line(it, op),
                                       .parity = parity,
                                       .element = grout_leads__name_use(it, &use),
                                       .other_line = grout_leads__get_line(it, other.op)});
    return true;
}

/* ---- one slot in every turn ---- */

static grout_ring_role get_opposite(grout_ring_role role) {
    switch (role) {
    case GROUT_RING_ARRIVES:
        return GROUT_RING_WAITS;
    case GROUT_RING_WAITS:
        return GROUT_RING_ARRIVES;
    case GROUT_RING_FILLS:
        return GROUT_RING_READS;
    case GROUT_RING_READS:
        return GROUT_RING_FILLS;
    case GROUT_RING_OTHER:
        break;
    }
    return GROUT_RING_OTHER;
}

static const char *get_verb(uint8_t role) {
    switch ((grout_ring_role)role) {
    case GROUT_RING_ARRIVES:
        return grout_phrase__get(GROUT_PHRASE_LEAD_ARRIVES);
    case GROUT_RING_WAITS:
        return grout_phrase__get(GROUT_PHRASE_LEAD_WAITS);
    case GROUT_RING_FILLS:
        return grout_phrase__get(GROUT_PHRASE_LEAD_FILLS);
    case GROUT_RING_READS:
    case GROUT_RING_OTHER:
        break;
    }
    return grout_phrase__get(GROUT_PHRASE_READS);
}

/* Whether a loop in the one around the use names the slots of the object by what changes from turn
 * to turn of the outer one. */
static bool has_inner(const grout_leads *it, const grout_ring_use *use) {
    const grout_module *module = grout_leads__get_module(it);
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, use->object);
    bool has_any = false;
    for (size_t i = 0; i < uses.count && !has_any; i++) {
        const grout_ring_use *other = &uses.items[i];
        const grout_operand *slot = grout_ring_use__get_slot(module, other);
        grout_op_id loop = other->loop;
        while (loop != 0 && loop != use->loop) {
            loop = grout_op__get_loop(module, loop);
        }
        has_any = other->role == use->role && other->loop != use->loop && loop != 0 &&
                  slot != NULL && !grout_leads__is_constant(it, other) &&
                  grout_slot__changes_with(module, slot, use->loop);
    }
    return has_any;
}

/* Whether its loop goes over the slots of such a ring by something, and all of this role on its
 * object is of the one slot. */
static bool is_alone_constant(const grout_leads *it, const grout_ring_use *use) {
    const grout_ring_span beside = grout_rings__get_of_loop(it->rings, use->loop);
    bool has_variable = false;
    for (size_t i = 0; i < beside.count; i++) {
        const grout_ring_use *other = &beside.items[i];
        const int order = grout_leads__compare_slots(it, use, other);
        if (other->object == use->object && other->role == use->role && order != 1) {
            return false;
        }
        has_variable |= order == 0 && !grout_leads__is_constant(it, other);
    }
    return use->loop != 0 && (has_variable || has_inner(it, use));
}

static bool find_opposite(const grout_leads *it, lead *of) {
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, of->use.object);
    const uint8_t wanted = (uint8_t)get_opposite((grout_ring_role)of->use.role);
    for (size_t i = 0; i < uses.count; i++) {
        const grout_ring_use *other = &uses.items[i];
        if (other->role == wanted && other->loop != 0 &&
            grout_ring_use__get_slot(grout_leads__get_module(it), other) != NULL &&
            !grout_leads__is_constant(it, other)) {
            of->partner = *other;
            return true;
        }
    }
    return false;
}

static bool add_one_slot(const grout_leads *it, grout_op_id op, grout_text *out) {
    static const grout_ring_role roles[] = {GROUT_RING_ARRIVES, GROUT_RING_WAITS, GROUT_RING_FILLS,
                                            GROUT_RING_READS};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        lead own;
        if (grout_leads__get_use(it, op, roles[i], &own.use) &&
            grout_leads__is_constant(it, &own.use) && is_alone_constant(it, &own.use) &&
            find_opposite(it, &own)) {
            grout_sentence__add(
                out, GROUT_SENTENCE_LEAD_ONE_SLOT_HELP,
                &(grout_words){.line = grout_leads__get_line(it, op),
                               .does = get_verb(own.use.role),
                               .element = grout_leads__name_use(it, &own.use),
                               .other_line = grout_leads__get_line(it, own.partner.op),
                               .doing = get_verb(own.partner.role),
                               .other_element = grout_leads__name_use(it, &own.partner)});
            return true;
        }
    }
    return false;
}

/* ---- an arrival for another slot than that of its turn ---- */

/* Whether all else in the loop is of one slot, which is waited for there, and not of this one. */
static bool find_turn(const grout_leads *it, lead *of) {
    const grout_ring_span beside = grout_rings__get_of_loop(it->rings, of->use.loop);
    bool has_wait = false;
    uint32_t count = 0;
    for (size_t i = 0; i < beside.count; i++) {
        const grout_ring_use *other = &beside.items[i];
        if (other->op == of->use.op ||
            (other->object == of->use.object && other->role == GROUT_RING_ARRIVES) ||
            grout_leads__count_slots(it, other) != grout_leads__count_slots(it, &of->use)) {
            continue;
        }
        if (grout_leads__compare_slots(it, other, &of->use) != 0 ||
            grout_leads__is_constant(it, other) ||
            (count > 0 && grout_leads__compare_slots(it, other, &of->partner) != 1)) {
            return false;
        }
        if (count++ == 0 || (!has_wait && other->role == GROUT_RING_WAITS)) {
            of->partner = *other;
        }
        has_wait |= other->role == GROUT_RING_WAITS;
    }
    return has_wait && count > 1;
}

/* Whether each turn comes to the op, and what the turn has read is over then: so the slot is its
 * own. An arrival that some turns leave out may well be for a turn before. */
static bool is_over(const grout_leads *it, grout_op_id op) {
    const grout_flight turn = grout_flight__find(grout_leads__get_module(it), op);
    return turn.is_known && turn.is_of_each && turn.count == 0 && !turn.leaves_any &&
           (!turn.has_tensor_core ||
            grout_leads__get_sync(it, op)->tensor == GROUT_SYNC_TENSOR_SEALS);
}

static bool add_other_slot(const grout_leads *it, grout_op_id op, grout_text *out) {
    lead own;
    if (!is_post(it, op) || !grout_leads__get_use(it, op, GROUT_RING_ARRIVES, &own.use) ||
        grout_leads__is_constant(it, &own.use) || !find_turn(it, &own) || !is_over(it, op)) {
        return false;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_LEAD_OTHER_SLOT_HELP,
        &(grout_words){.line = grout_leads__get_line(it, op),
                       .element = grout_leads__name_use(it, &own.use),
                       .where = grout_leads__name_source(it, &own.use, &own.partner),
                       .other_line = grout_leads__get_line(it, own.partner.op),
                       .doing = get_verb(own.partner.role),
                       .other_element = grout_leads__name_use(it, &own.partner)});
    return true;
}

/* ---- all ---- */

typedef bool add_of_op(const grout_leads *it, grout_op_id op, grout_text *out);
typedef bool add_of_sides(const grout_leads *it, const grout_side *sides, grout_text *out);

bool grout_leads__add_help(const grout_leads *leads, const grout_lead_question *question,
                           grout_text *out) {
    static add_of_op *const of_op[] = {add_copy_slot,  add_copy_barrier,
                                       add_counters,   add_one_parity,
                                       add_early_post, add_unwaited_fill,
                                       add_in_flight,  add_one_slot,
                                       add_other_slot, grout_leads__add_other_place};
    static add_of_sides *const of_sides[] = {grout_leads__add_same_turn, grout_leads__add_unused};
    const bool has_sides = question->facts != NULL && question->facts->side_count == 2;
    for (size_t i = 0; i < sizeof of_op / sizeof of_op[0]; i++) {
        for (uint32_t k = 0; k < question->count; k++) {
            if (of_op[i](leads, question->ops[k], out)) {
                return true;
            }
        }
    }
    for (size_t i = 0; i < sizeof of_sides / sizeof of_sides[0] && has_sides; i++) {
        if (of_sides[i](leads, question->facts->sides, out)) {
            return true;
        }
    }
    return false;
}
