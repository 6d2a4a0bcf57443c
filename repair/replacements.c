/* replacements.c - statements that synchronise, written a little differently, or taken out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "phrases.h"
#include "proposals.h"

#include "grout-internal/written.h"

#include "alloc.h"

#include <string.h>

/* More than most insertions: what is there was most often meant. */
#define REPLACE_COST 4u
#define REMOVE_COST  12u

typedef struct writer {
    grout_proposals *proposals;
    const grout_proposal_task *task;
    size_t line;
    bool has_tensor_memory; /* the file declares some */
    bool is_good;
} writer;

/* The bytes of the line's code from start on become text. */
static void add_replacement(writer *it, size_t start, size_t count, const char *text,
                            uint32_t cost) {
    const grout_line *line = &it->task->outline->lines->items[it->line];
    grout_change change = {
        .kind = GROUT_CHANGE_REPLACE,
        .line = it->line,
        .column = line->indent + start,
        .count = count,
        .text = grout__copy(NULL, text, strlen(text)),
    };
    cost += REPLACE_COST + 2 * grout_proposal_task__get_distance(it->task, it->line);
    it->is_good =
        it->is_good && change.text != NULL && grout_proposals__take(it->proposals, change, cost);
}

static size_t find(grout_span code, const char *text) {
    size_t size = strlen(text);
    for (size_t i = 0; i + size <= code.size; i++) {
        if (memcmp(code.data + i, text, size) == 0) {
            return i;
        }
    }
    return code.size;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* "read_only", "order(relaxed)"; without a choice it is NULL. */
static void drop_attribute(writer *it, grout_span code, grout_attr attr, const char *choice) {
    grout_text word = {0};
    grout_text_add(&word, " %s", grout_attr_get_info(attr)->text);
    if (choice != NULL) {
        grout_text_add(&word, "(%s)", choice);
    }
    const size_t at = word.data == NULL ? code.size : find(code, word.data);
    if (at < code.size) {
        add_replacement(it, at, word.size, "", 0);
    }
    it->is_good = it->is_good && word.data != NULL;
    grout_text_free(&word);
}

/* Attributes that weaken a statement. */
static void drop_attributes(writer *it, grout_span code) {
    static const grout_choice weaker[] = {GROUT_CHOICE_ORDER_RELAXED, GROUT_CHOICE_SCOPE_CTA,
                                          GROUT_CHOICE_SCOPE_CLUSTER};
    drop_attribute(it, code, GROUT_ATTR_READ_ONLY, NULL);
    for (size_t i = 0; i < sizeof weaker / sizeof weaker[0]; i++) {
        const grout_choice_info *choice = grout_choice_get_info(weaker[i]);
        drop_attribute(it, code, (grout_attr)choice->attr, choice->text);
    }
}

/* Another choice than the written one: 'order(release)' for 'order(relaxed)'. */
static void change_choice(writer *it, grout_span code, grout_attr attr) {
    const char *word = grout_attr_get_info(attr)->text;
    const grout_span written = grout_span__find_attribute(code, word);
    for (int id = 1; written.size > 0 && id < GROUT_CHOICE_COUNT; id++) {
        const grout_choice_info *choice = grout_choice_get_info((grout_choice)id);
        if (choice->attr != attr) {
            continue;
        }
        grout_text text = {0};
        grout_text_add(&text, " %s(%s)", word, choice->text);
        if (text.data != NULL && !grout_span__is(written, text.data)) {
            add_replacement(it, (size_t)(written.data - code.data), written.size, text.data, 1);
        }
        grout_text_free(&text);
    }
}

/* A commit for one CTA where others are for both of a pair. */
static void add_pair(writer *it, grout_span code, const grout_outline_line *line) {
    const char *collective_axis = grout_attr_get_info(GROUT_ATTR_COLLECTIVE_AXIS)->text;
    const grout_span pair = grout_outline__find_attribute(it->task->outline, collective_axis);
    if (pair.size > 0 && line->sync->tensor == GROUT_SYNC_TENSOR_SEALS &&
        grout_span__find_attribute(code, collective_axis).size == 0) {
        grout_text text = {0};
        grout_text_add(&text, "%.*s", (int)pair.size, pair.data);
        if (text.data != NULL) {
            add_replacement(it, code.size, 0, text.data, 0);
        }
        grout_text_free(&text);
    }
}

static void write_mnemonic(writer *it, grout_span code, const grout_outline_line *line,
                           grout_opcode opcode) {
    add_replacement(it, (size_t)(line->mnemonic.data - code.data), line->mnemonic.size,
                    grout_op_get_info(opcode)->text, 1);
}

/* The op that is most often meant where this one is wrong. Where there are products in tensor
 * memory, an arrival may have to wait for them; in a cluster, a meeting may be too small. */
static void change_mnemonic(writer *it, grout_span code, const grout_outline_line *line) {
    const grout_opcode opcode = grout_op_find(line->mnemonic.data, line->mnemonic.size);
    const grout_opcode meant = grout_op_get_meant(opcode);
    if (meant != GROUT_OP_NONE) {
        write_mnemonic(it, code, line, meant);
    }
    const grout_sync_info *sync = line->sync;
    if (it->has_tensor_memory && sync->mode == GROUT_SYNC_MODE_POSTS &&
        (sync->object == GROUT_SYNC_OBJECT_BARRIER || sync->object == GROUT_SYNC_OBJECT_MBARRIER)) {
        write_mnemonic(it, code, line, GROUT_OP_TCGEN05_COMMIT_ARRIVE);
    }
    if (it->task->outline->has_cluster && sync->mode == GROUT_SYNC_MODE_MEETS &&
        sync->object == GROUT_SYNC_OBJECT_CTA) {
        write_mnemonic(it, code, line, GROUT_OP_CLUSTER_BARRIER);
    }
}

/* ---- numbers -------------------------------------------------------------------------------- */

static bool read_number(grout_span text, size_t *size_out, uint32_t *value_out) {
    uint32_t value = 0;
    size_t size = 0;
    while (size < text.size && size < 6 && text.data[size] >= '0' && text.data[size] <= '9') {
        value = value * 10 + (uint32_t)(text.data[size++] - '0');
    }
    *size_out = size;
    *value_out = value;
    return size > 0;
}

/* The number at a place of the code becomes one less, one more. */
static void change_number(writer *it, grout_span code, size_t at) {
    size_t size;
    uint32_t value;
    if (!read_number((grout_span){code.data + at, code.size - at}, &size, &value)) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        grout_text text = {0};
        grout_text_add(&text, "%u", (unsigned)(i == 0 ? value - 1 : value + 1));
        if ((i == 1 || value > 0) && text.data != NULL) {
            add_replacement(it, at, size, text.data, 0);
        }
        grout_text_free(&text);
    }
}

/* "count(2)", "arrivals(2)" */
static void change_attribute(writer *it, grout_span code, const char *word) {
    const grout_span found = grout_span__find_attribute(code, word);
    size_t size;
    uint32_t value;
    if (found.size == 0) {
        return;
    }
    const size_t at = (size_t)(found.data - code.data);
    const size_t number = at + strlen(word) + 2; /* after " word(" */
    change_number(it, code, number);
    if (read_number((grout_span){code.data + number, code.size - number}, &size, &value) &&
        number + size < code.size && code.data[number + size] == ')') {
        add_replacement(it, at, number + size + 1 - at, "", 0);
    }
}

/* ---- parities ------------------------------------------------------------------------------- */

/* "(E + 1) % 2": the bytes of E; else empty. */
static grout_span find_flipped(grout_span parity) {
    static const char end[] = " + 1) % 2";
    const size_t size = sizeof end - 1;
    const bool is_one = parity.size > size + 1 && parity.data[0] == '(' &&
                        memcmp(parity.data + parity.size - size, end, size) == 0;
    return is_one ? (grout_span){parity.data + 1, parity.size - size - 1} : (grout_span){"", 0};
}

/* The other parity: '(E + 1) % 2' for 'E % 2', '1 - E' for any, and back. */
static void flip_parity(writer *it, grout_span code, grout_span parity) {
    static const char end[] = " % 2";
    const size_t at = (size_t)(parity.data - code.data), size = sizeof end - 1;
    const grout_span flipped = find_flipped(parity);
    grout_text text = {0};
    if (grout_span__is(parity, "0") || grout_span__is(parity, "1")) {
        grout_text_add(&text, "%d", parity.data[0] == '0');
    } else if (flipped.size > 0) {
        grout_text_add(&text, "%.*s %% 2", (int)flipped.size, flipped.data);
    } else if (parity.size > 4 && memcmp(parity.data, "1 - ", 4) == 0) {
        grout_text_add_bytes(&text, parity.data + 4, parity.size - 4);
    } else if (parity.size > size && memcmp(parity.data + parity.size - size, end, size) == 0) {
        grout_text_add(&text, "(%.*s + 1) %% 2", (int)(parity.size - size), parity.data);
    } else {
        grout_text_add(&text, "1 - %.*s", (int)parity.size, parity.data);
    }
    if (text.data != NULL) {
        add_replacement(it, at, parity.size, text.data, 0);
    }
    grout_text_free(&text);
}

/* The parity is the second operand of a wait that has one. */
static void change_parity(writer *it, grout_span code, const grout_outline_line *line) {
    grout_span rest = line->operands;
    (void)grout_span__take_operand(&rest);
    const grout_span parity = grout_span__take_operand(&rest);
    if (parity.size > 0 && grout_outline_line__takes_parity(line)) {
        flip_parity(it, code, parity);
    }
}

/* 'STAGES - 1' becomes 'STAGES - 2' and 'STAGES - 0': how many groups a wait leaves in flight. */
static void change_last_number(writer *it, grout_span code, grout_span operand) {
    size_t start = operand.size;
    while (start > 0 && operand.data[start - 1] >= '0' && operand.data[start - 1] <= '9') {
        start--;
    }
    if (start < operand.size && start >= 2 && operand.data[start - 1] == ' ') {
        change_number(it, code, (size_t)(operand.data - code.data) + start);
    } else if (start == operand.size && operand.size > 0 && operand.data[start - 1] != ')') {
        grout_text text = {0};
        grout_text_add(&text, "%.*s - 1", (int)operand.size, operand.data);
        if (text.data != NULL) {
            add_replacement(it, (size_t)(operand.data - code.data), operand.size, text.data, 0);
        }
        grout_text_free(&text);
    }
}

static void change_numbers(writer *it, grout_span code, const grout_outline_line *line) {
    grout_span rest = line->operands;
    change_attribute(it, code, grout_attr_get_info(GROUT_ATTR_ARRIVE_COUNT)->text);
    while (rest.size > 0) {
        grout_span operand = grout_span__take_operand(&rest);
        if (operand.size > 0 && operand.data[0] >= '0' && operand.data[0] <= '9') {
            change_number(it, code, (size_t)(operand.data - code.data));
        } else if (line->object.size == 0 && line->sync->mode == GROUT_SYNC_MODE_WAITS) {
            change_last_number(it, code, operand);
        }
    }
}

/* ---- whole statements ----------------------------------------------------------------------- */

/* The other ways to write the same operation on the same object: another element or parity. */
static void change_operands(writer *it, grout_span code, const grout_outline_line *line,
                            const grout_phrases *phrases) {
    grout_outline_names names;
    grout_outline__find_names(it->task->outline, it->line, &names);
    for (size_t i = 0; i < phrases->count; i++) {
        const grout_phrase *phrase = &phrases->items[i];
        size_t size = strcspn(phrase->text, " ");
        if (line->object.size > 0 &&
            grout_span__is_equal(line->mnemonic, (grout_span){phrase->text, size}) &&
            grout_span__is_equal(grout_span__get_name(line->object), phrase->object) &&
            !grout_span__is(code, phrase->text) &&
            grout_outline_names__have(&names, (grout_span){phrase->text, strlen(phrase->text)})) {
            add_replacement(it, 0, code.size, phrase->text, phrase->cost);
        }
    }
}

/* The same element of another barrier. */
static void change_object_name(writer *it, grout_span code, const grout_outline_line *line) {
    const grout_outline *outline = it->task->outline;
    const grout_outline_object *own = grout_outline__find_object(outline, line->object);
    const grout_span name = grout_span__get_name(line->object);
    for (size_t i = 0; i < outline->objects.count && own != NULL; i++) {
        const grout_outline_object *other = &outline->objects.items[i];
        grout_text text = {0};
        grout_text_add_bytes(&text, other->name.data, other->name.size);
        if (other != own && other->kind == own->kind && text.data != NULL) {
            add_replacement(it, (size_t)(name.data - code.data), name.size, text.data, 1);
        }
        grout_text_free(&text);
    }
}

/* The barrier of a copy: another element, or another barrier, as lines beside it name them. */
static void change_barrier(writer *it, grout_span code, const grout_outline_line *line) {
    const grout_outline *outline = it->task->outline;
    const grout_outline_object *own = grout_outline__find_object(outline, line->object);
    grout_outline_names names;
    grout_outline__find_names(outline, it->line, &names);
    for (size_t i = outline->first; i < outline->end && own != NULL; i++) {
        const grout_span other = outline->items[i].object;
        const grout_outline_object *object = grout_outline__find_object(outline, other);
        if (object != NULL && object->kind == own->kind && outline->items[i].is_statement &&
            !grout_span__is_equal(other, line->object) &&
            grout_outline_names__have(&names, other)) {
            grout_text text = {0};
            grout_text_add_bytes(&text, other.data, other.size);
            if (text.data != NULL) {
                add_replacement(it, (size_t)(line->object.data - code.data), line->object.size,
                                text.data, object == own ? 0 : 2);
            }
            grout_text_free(&text);
        }
    }
}

/* A copy that brings its box to one CTA, where the cluster was meant. */
static void add_multicast(writer *it, grout_span code, const grout_outline_line *line) {
    static const grout_attr attrs[] = {GROUT_ATTR_MULTICAST, GROUT_ATTR_COLLECTIVE_AXES};
    const grout_span axis = it->task->outline->cluster_axis;
    if (line->object.size == 0 || axis.size == 0) {
        return;
    }
    for (size_t i = 0; i < sizeof attrs / sizeof attrs[0]; i++) {
        const char *word = grout_attr_get_info(attrs[i])->text;
        grout_text text = {0};
        grout_text_add(&text, " %s(%.*s)", word, (int)axis.size, axis.data);
        if (text.data != NULL && grout_span__find_attribute(code, word).size == 0) {
            add_replacement(it, code.size, 0, text.data, 0);
        }
        grout_text_free(&text);
    }
}

static void remove_line(writer *it) {
    uint32_t cost = REMOVE_COST + 2 * grout_proposal_task__get_distance(it->task, it->line);
    const grout_change change = {.kind = GROUT_CHANGE_REMOVE, .line = it->line};
    it->is_good = it->is_good && grout_proposals__take(it->proposals, change, cost);
}

static void change_line(writer *it, const grout_phrases *phrases) {
    const grout_outline_line *line = &it->task->outline->items[it->line];
    grout_span code = it->task->outline->lines->items[it->line].code;
    if (line->is_scratch && find(code, "barrier") < code.size) {
        change_attribute(it, code, "arrivals");
        if (grout_span__find_attribute(code, "arrivals").size == 0) {
            add_replacement(it, code.size, 0, " arrivals(2)", 1);
        }
        if (it->has_tensor_memory && find(code, ": barrier") < code.size &&
            find(code, " orders_tensor_core") == code.size) {
            add_replacement(it, code.size, 0, " orders_tensor_core", 0);
        }
    }
    if (!line->is_statement) {
        return;
    }
    change_choice(it, code, GROUT_ATTR_ORDER);
    change_choice(it, code, GROUT_ATTR_SCOPE);
    if (line->sync == NULL) {
        return;
    }
    drop_attributes(it, code);
    add_pair(it, code, line);
    change_mnemonic(it, code, line);
    change_object_name(it, code, line);
    if (line->sync->mode == GROUT_SYNC_MODE_STARTS) {
        change_barrier(it, code, line);
        add_multicast(it, code, line);
    }
    if (line->sync->mode != GROUT_SYNC_MODE_STARTS && line->sync->mode != GROUT_SYNC_MODE_FORKS) {
        change_numbers(it, code, line);
        change_parity(it, code, line);
        change_operands(it, code, line, phrases);
        if (!line->has_result) {
            remove_line(it);
        }
    }
}

static bool has_tensor_memory(const grout_outline *outline) {
    for (size_t i = 0; i < outline->lines->count; i++) {
        const grout_span code = outline->lines->items[i].code;
        if (outline->items[i].is_scratch && find(code, ": tmem ") < code.size) {
            return true;
        }
    }
    return false;
}

bool grout_proposals__add_replacements(grout_proposals *proposals,
                                       const grout_proposal_task *task) {
    grout_phrases phrases;
    writer it = {.proposals = proposals,
                 .task = task,
                 .has_tensor_memory = has_tensor_memory(task->outline)};
    it.is_good = grout_phrases__init(&phrases, task->outline);
    for (size_t i = task->outline->first;
         i < task->outline->end && it.is_good && grout_outline__goes_on(task->outline); i++) {
        it.line = i;
        change_line(&it, &phrases);
    }
    grout_phrases__deinit(&phrases);
    return it.is_good;
}
