/*
 * names.c - how a report names places, objects, accesses and engines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include "rules.h"

#include <inttypes.h>
#include <string.h>

grout_place grout_wording__get_place(const grout_wording *wording, const grout_origin *origin) {
    return grout_module_get_place(wording->module, grout_origin__get_loc(wording->module, origin));
}

uint32_t grout_wording__get_line(const grout_wording *wording, const grout_origin *origin) {
    return grout_wording__get_place(wording, origin).line;
}

const char *grout_wording__get_mnemonic(const grout_wording *wording, const grout_origin *origin) {
    const grout_op *op = grout_module_get_op(wording->module, origin->op);
    return grout_op_get_info((grout_opcode)op->opcode)->text;
}

void grout_wording__add_object(const grout_wording *wording, grout_object_id object,
                               grout_text *out) {
    const grout_value *value = NULL;
    if (!object) {
        grout_text_add(out, "memory");
        return;
    }
    value = grout_module_get_value(wording->module,
                                   grout_module_get_object(wording->module, object)->value);
    grout_name_print(wording->module, value->name, out);
}

void grout_wording__add_box(const grout_wording *wording, const grout_box *box, grout_text *out) {
    const grout_type *type = grout_object_get_type(wording->module, box->object);
    bool is_whole = true;
    if (grout_object_is_declared(wording->module, box->object)) {
        grout_wording__add_object(wording, box->object, out);
    } else {
        grout_text_add(out, "(");
        grout_wording__add_object(wording, box->object, out);
        grout_text_add(out, " as ");
        grout_type_print(type, out);
        grout_text_add(out, ")");
    }
    for (uint32_t i = 0; i < box->rank; i++) {
        is_whole = is_whole && box->low[i] == 0 && box->high[i] == type->dims[i];
    }
    if (is_whole) {
        return;
    }
    for (uint32_t i = 0; i < box->rank; i++) {
        grout_text_add(out, "%s%" PRId64, i ? ", " : "[", box->low[i]);
        if (box->high[i] != box->low[i] + 1) {
            grout_text_add(out, ":%" PRId64, box->high[i]);
        }
    }
    grout_text_add(out, "]");
}

void grout_wording__add_element(const grout_wording *wording, uint32_t element, grout_text *out) {
    const grout_launch_info *info = &wording->checker->info;
    grout_element__print(wording->module, info->element_objects[element],
                         info->element_indices[element], out);
}

void grout_wording__add_element_of(const grout_wording *wording, uint32_t element, uint32_t cta,
                                   uint32_t from, grout_text *out) {
    grout_wording__add_element(wording, element, out);
    if (cta != from) {
        grout_text_add(out, " of ");
        grout_wording__add_cta(wording, cta, out);
    }
}

/* ---- accesses ---- */

bool grout_wording__is_wgmma(const grout_wording *wording, const grout_side *side) {
    return (side->stamp.agent != GROUT_AGENT_ACTOR) &&
           grout_clock__get_mechanism(&wording->checker->shape, side->stamp.component, NULL) ==
               GROUT_MECHANISM_WGMMA;
}

static grout_mechanism get_mechanism(const grout_wording *wording, const grout_side *side) {
    return side->stamp.agent == GROUT_AGENT_ACTOR
               ? GROUT_MECHANISM_ACCESS
               : grout_clock__get_mechanism(&wording->checker->shape, side->stamp.component, NULL);
}

bool grout_wording__is_tcgen05(const grout_wording *wording, const grout_side *side) {
    return get_mechanism(wording, side) == GROUT_MECHANISM_TCGEN05;
}

bool grout_wording__is_tmem(const grout_wording *wording, const grout_side *side) {
    return get_mechanism(wording, side) == GROUT_MECHANISM_TMEM_LOAD ||
           get_mechanism(wording, side) == GROUT_MECHANISM_TMEM_STORE;
}

bool grout_wording__is_async_copy(const grout_wording *wording, const grout_side *side) {
    return side->stamp.agent == GROUT_AGENT_GENERIC_ENGINE &&
           grout_clock__get_mechanism(&wording->checker->shape, side->stamp.component, NULL) ==
               GROUT_MECHANISM_ASYNC_COPY;
}

bool grout_wording__is_answer(const grout_wording *wording, const grout_side *side) {
    const grout_op *op = grout_module_get_op(wording->module, side->origin.op);
    return side->origin.op != 0 && side->stamp.agent == GROUT_AGENT_ENGINE &&
           grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_CANCEL;
}

bool grout_wording__is_map_read(const grout_wording *wording, const grout_side *side) {
    return side->stamp.agent == GROUT_AGENT_GENERIC_ENGINE && !side->is_write &&
           !grout_wording__is_async_copy(wording, side);
}

bool grout_wording__is_of_two_proxies(const grout_wording *wording) {
    const grout_side *sides = wording->facts->sides;
    return sides[0].is_atomic && sides[1].is_atomic &&
           wording->record->severity == GROUT_SEVERITY_WARNING &&
           (sides[0].stamp.agent == GROUT_AGENT_ENGINE) !=
               (sides[1].stamp.agent == GROUT_AGENT_ENGINE);
}

const char *grout_wording__get_who(const grout_wording *wording, const grout_side *side) {
    if (grout_wording__is_wgmma(wording, side) || grout_wording__is_tcgen05(wording, side)) {
        return grout_phrase__get(GROUT_PHRASE_WHO_TENSOR_CORE);
    }
    if (grout_wording__is_tmem(wording, side)) {
        return grout_wording__get_mnemonic(wording, &side->origin);
    }
    if (grout_wording__is_map_read(wording, side)) {
        return grout_phrase__get(GROUT_PHRASE_WHO_TMA);
    }
    if (grout_wording__is_answer(wording, side)) {
        return grout_phrase__get(GROUT_PHRASE_WHO_LAUNCH_CONTROL);
    }
    if (side->stamp.agent == GROUT_AGENT_GENERIC_ENGINE) {
        return grout_phrase__get(grout_wording__is_async_copy(wording, side)
                                     ? GROUT_PHRASE_WHO_CP_ASYNC
                                     : GROUT_PHRASE_WHO_ST_ASYNC);
    }
    return grout_phrase__get(side->stamp.agent == GROUT_AGENT_ENGINE ? GROUT_PHRASE_WHO_TMA
                                                                     : GROUT_PHRASE_WHO_THREAD);
}

const char *grout_wording__get_access(const grout_wording *wording, const grout_side *side) {
    if (side->stamp.agent == GROUT_AGENT_ACTOR) {
        if (side->is_atomic) {
            return grout_phrase__get(GROUT_PHRASE_ATOMIC);
        }
        return grout_phrase__get(side->is_write ? GROUT_PHRASE_PLAIN_STORE
                                                : GROUT_PHRASE_PLAIN_LOAD);
    }
    if (grout_wording__is_wgmma(wording, side)) {
        return grout_phrase__get(GROUT_PHRASE_WGMMA);
    }
    if (grout_wording__is_tcgen05(wording, side) || grout_wording__is_tmem(wording, side) ||
        grout_wording__is_answer(wording, side)) {
        return grout_wording__get_mnemonic(wording, &side->origin);
    }
    if (side->stamp.agent == GROUT_AGENT_GENERIC_ENGINE && side->is_write &&
        !grout_wording__is_async_copy(wording, side)) {
        return grout_phrase__get(GROUT_PHRASE_ASYNC_STORE);
    }
    return grout_phrase__get(GROUT_PHRASE_COPY);
}

/* ---- actors ---- */

void grout_wording__add_cta(const grout_wording *wording, uint32_t cta, grout_text *out) {
    const grout_origin origin = {.cta = cta};
    grout_text text = {.allocator = wording->checker->allocator};
    const char *end = NULL;
    grout_describe_origin(wording->module, wording->checker->info.kernel, &origin, &text);
    if (text.failed || !text.data) {
        out->failed = true;
    } else {
        end = strstr(text.data, ", thread");
        grout_text_add(out, "%.*s", (int)(end ? end - text.data : (ptrdiff_t)text.size), text.data);
    }
    grout_text_free(&text);
}

static bool has_two_ctas(const grout_facts *facts) {
    return facts->side_count > 1 && facts->sides[0].origin.cta != facts->sides[1].origin.cta;
}

void grout_wording__add_actor(const grout_wording *wording, const grout_origin *origin,
                              grout_text *out) {
    bool has_name = wording->checker->shape.thread_count > 1 || origin->warp > 0;
    grout_origin actor = {.cta = origin->cta, .thread = origin->thread, .warp = origin->warp};
    grout_text text = {.allocator = wording->checker->allocator};
    const char *start = NULL;
    grout_describe_actor(wording->module, wording->checker->info.kernel, &actor, &text);
    if (text.failed || !text.data) {
        out->failed = true;
    } else if (has_two_ctas(wording->facts)) {
        grout_text_add(out, "%s", text.data);
    } else if (!has_name) {
        grout_text_add(out, "%s", grout_phrase__get(GROUT_PHRASE_WHO_THREAD));
    } else {
        start = strncmp(text.data, "CTA ", 4) == 0 ? strstr(text.data, "), ") : NULL;
        grout_text_add(out, "%s", start ? start + strlen("), ") : text.data);
    }
    grout_text_free(&text);
}

void grout_wording__add_by(const grout_wording *wording, const grout_origin *origin,
                           grout_text *out) {
    if (wording->checker->shape.thread_count > 1 || origin->warp > 0) {
        grout_sentence__add(out, GROUT_SENTENCE_BY,
                            &(grout_words){.actor = grout_wording__name_actor(wording, origin)});
    }
}

const char *grout_wording__get_kind(const grout_origin *origin) {
    return grout_phrase__get(origin->warp ? GROUT_PHRASE_WARP : GROUT_PHRASE_THREAD);
}

const char *grout_wording__get_scope(const grout_wording *wording) {
    return grout_phrase__get(wording->facts->is_inner ? GROUT_PHRASE_SCOPE : GROUT_PHRASE_CTA);
}

/* ---- names as words of a sentence ---- */

const char *grout_wording__name_object(const grout_wording *wording, grout_object_id object) {
    grout_text text = {.allocator = wording->checker->allocator};
    grout_wording__add_object(wording, object, &text);
    return grout_wording__keep(wording, &text);
}

const char *grout_wording__name_element(const grout_wording *wording, uint32_t element) {
    grout_text text = {.allocator = wording->checker->allocator};
    grout_wording__add_element(wording, element, &text);
    return grout_wording__keep(wording, &text);
}

const char *grout_wording__name_cta(const grout_wording *wording, uint32_t cta) {
    grout_text text = {.allocator = wording->checker->allocator};
    grout_wording__add_cta(wording, cta, &text);
    return grout_wording__keep(wording, &text);
}

const char *grout_wording__name_actor(const grout_wording *wording, const grout_origin *origin) {
    grout_text text = {.allocator = wording->checker->allocator};
    grout_wording__add_actor(wording, origin, &text);
    return grout_wording__keep(wording, &text);
}

const char *grout_wording__name_by(const grout_wording *wording, const grout_origin *origin) {
    grout_text text = {.allocator = wording->checker->allocator};
    grout_wording__add_by(wording, origin, &text);
    return grout_wording__keep(wording, &text);
}

/* ---- a barrier over the cluster ---- */

/* The cluster's axes as Pallas takes them: ("x",), or (("x", "y"),) as one group. */
static const char *name_cluster_axes(const grout_wording *wording) {
    const grout_module *module = wording->module;
    const grout_kernel *kernel = grout_module_get_kernel(module, wording->checker->info.kernel);
    grout_text axes = {.allocator = wording->checker->allocator};
    grout_text text = {.allocator = wording->checker->allocator};
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        if (kernel->axes[i].kind == GROUT_AXIS_CLUSTER) {
            grout_text_add(&axes, "%s\"%s\"", count++ > 0 ? ", " : "",
                           grout_module_get_string(module, kernel->axes[i].name));
        }
    }
    const char *all = grout_wording__keep(wording, &axes);
    grout_text_add(&text, count > 1 ? "((%s),)" : "(%s,)", all);
    return grout_wording__keep(wording, &text);
}

const char *grout_wording__spell_meeting(const grout_wording *wording) {
    const uint32_t threads = wording->checker->shape.thread_count;
    const char *what = grout_phrase__get(GROUT_PHRASE_NOTHING);
    if (grout_wording__is_pallas(wording)) {
        what = grout_wording__spell(
            wording,
            threads > 1 ? GROUT_SPELLING_CLUSTER_AXES_ARRIVALS : GROUT_SPELLING_CLUSTER_AXES,
            &(grout_words){.what = name_cluster_axes(wording), .number = threads});
    }
    return grout_wording__spell(wording, GROUT_SPELLING_CLUSTER_MEETING,
                                &(grout_words){.what = what});
}

/* ---- where to write it ---- */

bool grout_wording__is_within_call(const grout_wording *wording, const grout_origin *origin) {
    const grout_loc_id loc = grout_origin__get_loc(wording->module, origin);
    return grout_module_get_loc(wording->module, loc)->is_within_call;
}

static bool is_same_place(const grout_module *module, grout_loc_id one, grout_loc_id other) {
    const grout_loc *a = grout_module_get_loc(module, one),
                    *b = grout_module_get_loc(module, other);
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

bool grout_wording__is_in_body(const grout_wording *wording, const grout_origin *inner,
                               const grout_origin *outer) {
    const grout_loc_id call = grout_origin__get_loc(wording->module, outer);
    grout_loc_id loc = grout_origin__get_loc(wording->module, inner);
    if (!grout_wording__is_within_call(wording, outer) ||
        grout_wording__is_within_call(wording, inner)) {
        return false;
    }
    do {
        loc = grout_module_get_loc(wording->module, loc)->parent;
    } while (loc != 0 && !is_same_place(wording->module, loc, call));
    return loc != 0;
}

const char *grout_wording__name_place(const grout_wording *wording, const grout_origin *earlier,
                                      const grout_origin *later, uint32_t line) {
    if (grout_wording__is_in_body(wording, earlier, later)) {
        return grout_wording__say(
            wording, GROUT_SENTENCE_AT_BODY_END,
            &(grout_words){.line = grout_wording__get_line(wording, later),
                           .other_line = grout_wording__get_line(wording, earlier)});
    }
    return grout_wording__say(wording, GROUT_SENTENCE_BEFORE_LINE, &(grout_words){.line = line});
}

const char *grout_wording__name_time(const grout_wording *wording, const grout_origin *earlier,
                                     const grout_origin *later) {
    if (grout_wording__is_in_body(wording, earlier, later)) {
        return grout_wording__say(wording, GROUT_SENTENCE_IN_BODY,
                                  &(grout_words){.line = grout_wording__get_line(wording, later)});
    }
    return grout_phrase__get(GROUT_PHRASE_BEFORE_THIS);
}

/* ---- waits ---- */

const char *grout_wording__name_operand(const grout_wording *wording, uint32_t element) {
    grout_text text = {.allocator = wording->checker->allocator};
    grout_text name = {.allocator = wording->checker->allocator};
    grout_wording__add_element(wording, element, &name);
    const char *all = grout_wording__keep(wording, &name);
    const char *index = grout_wording__is_pallas(wording) ? strchr(all, '[') : NULL;
    if (index == NULL) {
        return all;
    }
    grout_text_add(&text, "%.*s.at%s", (int)(index - all), all, index);
    return grout_wording__keep(wording, &text);
}

const char *grout_wording__spell_wait(const grout_wording *wording, uint32_t element) {
    return grout_wording__spell(
        wording, GROUT_SPELLING_BARRIER_WAIT,
        &(grout_words){.element = grout_wording__name_operand(wording, element)});
}

/* Whether it is a wait of the Pallas style. There the k-th wait is for phase k. */
static bool waits_on_barrier(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_BARRIER &&
           sync->mode == GROUT_SYNC_MODE_WAITS;
}

/* A thread and a barrier have two keys: of the last op, and of how many there are. */
static uint64_t get_wait_key(grout_object_id object, uint32_t thread) {
    return ((uint64_t)object * GROUT_THREADS_MAX + thread) * 2;
}

/* False without memory. */
static bool add_wait(grout_lookup *lookup, grout_object_id object, uint32_t thread,
                     grout_op_id op) {
    const uint64_t key = get_wait_key(object, thread);
    uint32_t *last = grout_lookup__at(lookup, key);
    if (last == NULL) {
        return false;
    }
    *last = op;
    uint32_t *count = grout_lookup__at(lookup, key + 1);
    if (count != NULL) {
        ++*count;
    }
    return count != NULL;
}

static bool make_wait_counts(const grout_wording *wording) {
    const grout_checker *checker = wording->checker;
    grout_lookup *lookup = &wording->shared->waits.lookup;
    bool ok = true;
    wording->shared->waits.is_made = true;
    lookup->allocator = checker->allocator;
    for (grout_op_id i = 1; i < grout_module_get_op_count(wording->module) && ok; i++) {
        const grout_origin origin = {.op = i};
        const uint32_t threads = checker->run.op_threads[i];
        if (threads == 0 || !waits_on_barrier(grout_module_get_op(wording->module, i))) {
            continue;
        }
        const grout_object_id object = grout_origin__find_object(wording->module, &origin);
        for (uint32_t thread = 0; thread < GROUT_THREADS_MAX && ok; thread++) {
            ok = (threads >> thread & 1) == 0 || add_wait(lookup, object, thread, i);
        }
    }
    return ok;
}

uint32_t grout_wording__count_waits(const grout_wording *wording, uint32_t element, uint32_t thread,
                                    grout_op_id *op_out) {
    const grout_lookup *lookup = &wording->shared->waits.lookup;
    const uint64_t key = get_wait_key(wording->checker->info.element_objects[element], thread);
    if (!wording->shared->waits.is_made && !make_wait_counts(wording)) {
        wording->strings->has_failed = true;
    }
    const uint32_t count = grout_lookup__find(lookup, key + 1);
    *op_out = count == 0 ? *op_out : grout_lookup__find(lookup, key);
    return count;
}

/* ---- flags ---- */

static bool is_plain(const grout_side *side) {
    return side->stamp.agent == GROUT_AGENT_ACTOR && !side->is_atomic;
}

const grout_side *grout_record__find_poll(const grout_module *module, const grout_record *record) {
    const grout_side *sides = record->facts.sides;
    if ((record->code != GROUT_DIAG_GMEM_RACE && record->code != GROUT_DIAG_SMEM_RACE) ||
        record->facts.side_count != 2 || !is_plain(&sides[0]) || !is_plain(&sides[1])) {
        return NULL;
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (!sides[i].is_write && sides[1 - i].is_write &&
            grout_op__find_poll(module, sides[i].origin.op) != 0) {
            return &sides[i];
        }
    }
    return NULL;
}
