/* phrases.c - collects phrases. Indices, parities and numbers are those that the kernel writes
 * elsewhere, and what follows from them. SPDX-License-Identifier: Apache-2.0 */
#include "phrases.h"

#include "grout-internal/written.h"

#include "array.h"

#include "grout-internal/diagnose.h"

#include <string.h>

/* More than this no phrase costs. */
#define COST_MAX 7u
/* Texts for one place of a phrase, and phrases. */
#define CHOICES_MAX 256u
#define PHRASES_MAX 4096u
/* An operand that is a parity has it (ops.def). */
#define LETTER_PARITY 'p'

/* Texts that can stand in one place of a phrase, with what each costs. */
typedef struct choice {
    char *text;
    uint32_t cost;
} choice;

typedef struct choices {
    choice *items;
    size_t count, capacity;
} choices;

typedef struct collector {
    const grout_outline *outline;
    grout_phrases *phrases;
    choices indices, parities, numbers;
    bool is_good; /* false: without memory */
} collector;

/* ---- texts ---------------------------------------------------------------------------------- */

static void add_span(grout_text *text, grout_span span) {
    grout_text_add_bytes(text, span.data, span.size);
}

/* Takes the text, which is then empty. */
static void add_choice(collector *it, choices *to, grout_text *text, uint32_t cost) {
    choice one = {text->failed || text->data == NULL ? NULL
                                                     : grout__copy(NULL, text->data, text->size),
                  cost};
    grout_text_free(text);
    for (size_t i = 0; i < to->count && one.text != NULL; i++) {
        if (strcmp(to->items[i].text, one.text) == 0) {
            to->items[i].cost = cost < to->items[i].cost ? cost : to->items[i].cost;
            grout__free(one.text);
            return;
        }
    }
    const bool is_full = to->count == CHOICES_MAX;
    if (one.text == NULL || is_full || !GROUT_ARRAY_RESERVE(to, NULL, 1)) {
        it->is_good = it->is_good && is_full;
        grout__free(one.text);
        return;
    }
    to->items[to->count++] = one;
}

static void free_choices(choices *all) {
    for (size_t i = 0; i < all->count; i++) {
        grout__free(all->items[i].text);
    }
    grout__free(all->items);
}

/* Takes the text, which is then empty. */
static void add_phrase(collector *it, grout_text *text, grout_span object, uint32_t cost) {
    grout_phrases *phrases = it->phrases;
    const char *data = text->failed || text->data == NULL ? "" : text->data;
    grout_opcode opcode = grout_op_find(data, strcspn(data, " "));
    const grout_sync_info *sync = opcode == 0 ? NULL : grout_op_get_sync(opcode);
    grout_phrase phrase = {.object = grout_span__get_name(object), .cost = cost};
    for (size_t i = 0; i < phrases->count; i++) {
        if (strcmp(phrases->items[i].text, data) == 0) {
            phrases->items[i].cost = cost < phrases->items[i].cost ? cost : phrases->items[i].cost;
            grout_text_free(text);
            return;
        }
    }
    if (sync != NULL && phrases->count < PHRASES_MAX) {
        phrase.mode = (grout_sync_mode)sync->mode;
        phrase.text = grout__copy(NULL, data, text->size);
    }
    it->is_good &= sync == NULL || phrase.text != NULL || phrases->count == PHRASES_MAX;
    grout_text_free(text);
    if (phrase.text != NULL && GROUT_ARRAY_RESERVE(phrases, NULL, 1)) {
        phrases->items[phrases->count++] = phrase;
    } else {
        grout__free(phrase.text);
    }
}

/* ---- statements of the kernel ---------------------------------------------------------------- */

static bool is_sync(const grout_outline_line *line) {
    return line->is_statement && !line->has_result && line->sync != NULL &&
           line->sync->mode != GROUT_SYNC_MODE_STARTS && line->sync->mode != GROUT_SYNC_MODE_FORKS;
}

/* Whether an operand says which barrier or semaphore the op works on: the first one. */
static bool names_object(grout_opcode opcode) {
    const grout_letter_info *letter = grout_letter_get_info(grout_op_get_letter(opcode, 0));
    return letter != NULL &&
           (letter->kind == GROUT_LETTER_BARRIER || letter->kind == GROUT_LETTER_SEMAPHORE);
}

bool grout_outline_line__takes_parity(const grout_outline_line *line) {
    const grout_opcode opcode = grout_op_find(line->mnemonic.data, line->mnemonic.size);
    return opcode != GROUT_OP_NONE && grout_op_get_letter(opcode, 1) == LETTER_PARITY;
}

static bool waits_for_parity(const grout_outline_line *line) {
    return line->sync != NULL && line->sync->mode == GROUT_SYNC_MODE_WAITS &&
           grout_outline_line__takes_parity(line);
}

static void add_siblings(collector *it) {
    for (size_t i = it->outline->first; i < it->outline->end; i++) {
        const grout_outline_line *line = &it->outline->items[i];
        if (is_sync(line)) {
            grout_text text = {0};
            add_span(&text, it->outline->lines->items[i].code);
            add_phrase(it, &text, line->object, 0);
        }
    }
}

static bool uses(const grout_outline *outline, grout_sync_object object) {
    bool is_used = object == GROUT_SYNC_OBJECT_PROXY || object == GROUT_SYNC_OBJECT_CTA ||
                   (object == GROUT_SYNC_OBJECT_CLUSTER && outline->has_cluster);
    for (size_t i = outline->first; i < outline->end && !is_used; i++) {
        const grout_outline_line *line = &outline->items[i];
        is_used = line->sync != NULL && line->sync->object == object;
    }
    return is_used;
}

/* A form of an op whose object has no name, if the kernel uses such an object. */
static void add_usual_form(collector *it, grout_opcode opcode, const grout_written *form) {
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    const char *mnemonic = grout_op_get_info(opcode)->text;
    const grout_sync_object object =
        form->is_only_in_clusters ? GROUT_SYNC_OBJECT_CLUSTER : (grout_sync_object)sync->object;
    grout_text text = {0};
    if (!uses(it->outline, object)) {
        return;
    }
    if (form->next != GROUT_OP_NONE) {
        grout_text_add(&text, "%s\n", mnemonic);
        mnemonic = grout_op_get_info((grout_opcode)form->next)->text;
    }
    grout_text_add(&text, "%s%s", mnemonic, form->text);
    add_phrase(it, &text, (grout_span){"", 0}, form->cost);
}

static void add_usual(collector *it) {
    for (int opcode = 1; opcode < GROUT_OP_COUNT; opcode++) {
        size_t count;
        const grout_written *forms = grout_op_get_written((grout_opcode)opcode, &count);
        for (size_t i = 0; i < count && !names_object((grout_opcode)opcode); i++) {
            add_usual_form(it, (grout_opcode)opcode, &forms[i]);
        }
    }
}

/* ---- elements ------------------------------------------------------------------------------- */

/* A part of an infix expression: in parentheses, if it is one itself. */
static void add_term(grout_text *text, grout_span span) {
    const bool is_whole =
        span.size == 0 || span.data[0] == '(' || memchr(span.data, ' ', span.size) == NULL;
    grout_text_add(text, is_whole ? "" : "(");
    add_span(text, span);
    grout_text_add(text, is_whole ? "" : ")");
}

/* "[%slot]" of "%full[%slot]" */
static grout_span get_index(grout_span object) {
    size_t size = grout_span__get_name(object).size;
    return (grout_span){object.data + size, object.size - size};
}

/* "[%part]", and the elements beside it: those of its neighbours. */
static void add_index(collector *it, grout_span name, uint32_t cost) {
    static const char *const shapes[][2] = {{"[", "]"}, {"[", " + 1]"}, {"[", " - 1]"}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        grout_text text = {0};
        grout_text_add(&text, "%s", shapes[i][0]);
        add_span(&text, name);
        grout_text_add(&text, "%s", shapes[i][1]);
        add_choice(it, &it->indices, &text, cost + (i > 0 ? 1u : 0u));
    }
}

/* "%n = VERB A, B": its operands. False: the line is something else. */
static bool read_pair(grout_span code, const char *verb, grout_span *a, grout_span *b) {
    grout_span name = grout_span__get_name(code);
    grout_span rest = grout_span__trim((grout_span){code.data + name.size, code.size - name.size});
    if (name.size == 0 || !grout_span__take(&rest, "=") || !grout_span__take(&rest, verb)) {
        return false;
    }
    *a = grout_span__take_operand(&rest);
    *b = rest;
    return a->size > 0 && b->size > 0;
}

/* A ring's slot, "%slot = rem %k, N": the one before it is N - 1 further. */
static void add_slot_before(collector *it, grout_span code) {
    grout_span step, count;
    if (read_pair(code, "rem ", &step, &count)) {
        grout_text text = {0};
        grout_text_add(&text, "[(");
        add_term(&text, step);
        grout_text_add(&text, " + ");
        add_term(&text, count);
        grout_text_add(&text, " - 1) %% ");
        add_term(&text, count);
        grout_text_add(&text, "]");
        add_choice(it, &it->indices, &text, 4);
    }
}

/* The upper end of a loop over a name, "for %k in 0..STEPS {"; empty: the line is none. */
static grout_span get_high(grout_span loop, grout_span name) {
    bool is_loop = name.size > 0 && grout_span__take(&loop, "for ") &&
                   grout_span__is_equal(grout_span__get_name(loop), name);
    for (size_t k = 0; is_loop && k + 2 < loop.size; k++) {
        grout_span high = {loop.data + k + 2, loop.size - k - 2};
        if (memcmp(loop.data + k, "..", 2) == 0) {
            return grout_span__split(&high, ' ');
        }
    }
    return (grout_span){"", 0};
}

/* The same of the first loop over the name. */
static grout_span find_high(const collector *it, grout_span name) {
    grout_span high = {"", 0};
    for (size_t i = it->outline->first; i < it->outline->end && high.size == 0; i++) {
        high = get_high(it->outline->lines->items[i].code, name);
    }
    return high;
}

/* The slot of a loop's last turn: "%k" is then its upper end less 1. Turns may be counted on from
 * before: "%step = add %first, %k". */
static void add_last_slot(collector *it, grout_span code) {
    grout_span step, count, first = {"", 0}, turn;
    if (!read_pair(code, "rem ", &step, &count)) {
        return;
    }
    turn = step;
    for (size_t i = it->outline->first; i < it->outline->end; i++) {
        grout_span line = it->outline->lines->items[i].code, a, b;
        if (grout_span__is_equal(grout_span__get_name(line), step) &&
            read_pair(line, "add ", &a, &b)) {
            first = a;
            turn = b;
        }
    }
    grout_span high = find_high(it, turn);
    if (high.size > 0) {
        grout_text text = {0};
        grout_text_add(&text, "[(");
        if (first.size > 0) {
            add_term(&text, first);
            grout_text_add(&text, " + ");
        }
        add_term(&text, high);
        grout_text_add(&text, " - 1) %% ");
        add_term(&text, count);
        grout_text_add(&text, "]");
        add_choice(it, &it->indices, &text, 4);
    }
}

/* The slots that are still out at the end: "%open = min TOTAL, N", "for %i in 0..%open". */
static void add_slots_at_end(collector *it, grout_span code) {
    grout_span total, count, open = grout_span__get_name(code);
    bool is_min = read_pair(code, "min ", &total, &count);
    for (size_t i = it->outline->first; i < it->outline->end && is_min; i++) {
        grout_span loop = it->outline->lines->items[i].code;
        if (grout_span__take(&loop, "for ") && grout_span__has_name(loop, open)) {
            const grout_span turn = grout_span__get_name(loop);
            grout_text text = {0};
            grout_text_add(&text, "[(");
            add_term(&text, total);
            grout_text_add(&text, " - %.*s + %.*s) %% ", (int)open.size, open.data, (int)turn.size,
                           turn.data);
            add_term(&text, count);
            grout_text_add(&text, "]");
            add_choice(it, &it->indices, &text, 4);
        }
    }
}

/* An index in which the name at a place is another text. */
static void add_index_with(collector *it, grout_span index, size_t place, grout_span other) {
    const grout_span rest = {index.data + place, index.size - place};
    const grout_span name = grout_span__get_name(rest);
    grout_text text = {0};
    add_span(&text, (grout_span){index.data, place});
    add_span(&text, other);
    add_span(&text, (grout_span){rest.data + name.size, rest.size - name.size});
    add_choice(it, &it->indices, &text, 3);
}

/* An index of a loop as it is after the loop: "[(rem %i - 1, N)]" is then "[(rem %stop - 1, N)]".
 * Several loops may have the same name. */
static void add_index_after(collector *it, grout_span index) {
    for (size_t k = 0; k < index.size; k++) {
        const grout_span name = grout_span__get_name((grout_span){index.data + k, index.size - k});
        for (size_t i = it->outline->first; i < it->outline->end && name.size > 0; i++) {
            grout_span high = get_high(it->outline->lines->items[i].code, name);
            if (high.size > 0) {
                add_index_with(it, index, k, high);
            }
        }
    }
}

/* What chooses a slot of an array, "%as[%slot, ..]", or stands in the index of a barrier. */
static void collect_indices(collector *it) {
    for (size_t i = it->outline->first; i < it->outline->end; i++) {
        grout_span code = it->outline->lines->items[i].code;
        grout_span index = get_index(it->outline->items[i].object);
        add_slot_before(it, code);
        add_last_slot(it, code);
        add_slots_at_end(it, code);
        add_index_after(it, index);
        for (size_t k = 0; k + 1 < code.size && it->outline->items[i].is_statement; k++) {
            const grout_span rest = {code.data + k + 1, code.size - k - 1};
            const grout_span name = grout_span__get_name(rest);
            bool is_whole = name.size > 0 && name.size < rest.size &&
                            strchr("],", rest.data[name.size]) != NULL;
            if (code.data[k] == '[' && is_whole) {
                add_index(it, name, 2);
            }
        }
        for (size_t k = 0; k < index.size; k++) {
            const grout_span name =
                grout_span__get_name((grout_span){index.data + k, index.size - k});
            if (name.size > 0) {
                add_index(it, name, 3);
            }
        }
    }
}

/* ".cluster(1 - %me)" of "%free.cluster(1 - %me)[%slot]"; empty: it is that of the own CTA. */
static grout_span get_peer(grout_span object) {
    static const char lead[] = ".cluster(";
    const grout_span rest = get_index(object);
    grout_span left = rest;
    size_t depth = 0;
    if (!grout_span__take(&left, lead)) {
        return (grout_span){"", 0};
    }
    for (size_t i = 0; i < rest.size; i++) {
        depth += rest.data[i] == '(' ? 1u : 0u;
        depth -= rest.data[i] == ')' ? 1u : 0u;
        if (rest.data[i] == ')' && depth == 0) {
            return (grout_span){rest.data, i + 1};
        }
    }
    return (grout_span){"", 0};
}

/* An element as one line names it, of the CTA that another line names. */
static void collect_peers(collector *it, const grout_outline_object *object, choices *out) {
    const grout_outline *outline = it->outline;
    for (size_t i = outline->first; i < outline->end; i++) {
        const grout_span peer = get_peer(outline->items[i].object);
        for (size_t k = outline->first; k < outline->end && peer.size > 0; k++) {
            const grout_span operand = outline->items[k].object;
            const grout_span index = get_index(operand);
            const size_t skipped = get_peer(operand).size;
            if (grout_span__is_equal(grout_span__get_name(operand), object->name)) {
                grout_text text = {0};
                add_span(&text, object->name);
                add_span(&text, peer);
                add_span(&text, (grout_span){index.data + skipped, index.size - skipped});
                add_choice(it, out, &text, 1);
            }
        }
    }
}

/* The ways to name an element of the object: as it is named elsewhere, or as others are. */
static void collect_elements(collector *it, const grout_outline_object *object, choices *out) {
    for (size_t i = it->outline->first; i < it->outline->end; i++) {
        grout_span operand = it->outline->items[i].object;
        grout_text text = {0};
        if (operand.size == 0) {
            continue;
        }
        bool is_own = grout_span__is_equal(grout_span__get_name(operand), object->name);
        add_span(&text, object->name);
        add_span(&text, get_index(operand));
        add_choice(it, out, &text, is_own ? 0 : 2);
    }
    for (size_t i = 0; i < it->indices.count; i++) {
        grout_text text = {0};
        add_span(&text, object->name);
        grout_text_add(&text, "%s", it->indices.items[i].text);
        add_choice(it, out, &text, it->indices.items[i].cost);
    }
    collect_peers(it, object, out);
    grout_text text = {0};
    add_span(&text, object->name);
    add_choice(it, out, &text, 2);
}

/* ---- parities ------------------------------------------------------------------------------- */

static void add_parity(collector *it, grout_span parity, uint32_t cost) {
    grout_text text = {0};
    add_span(&text, parity);
    add_choice(it, &it->parities, &text, cost);
    grout_text_add(&text, "(xor ");
    add_span(&text, parity);
    grout_text_add(&text, ", 1)");
    add_choice(it, &it->parities, &text, cost + 2);
}

/* "rem K, N" chooses one of N elements for the k-th use: its phase is K / N. */
static void add_parity_of_ring(collector *it, grout_span rem) {
    if (!grout_span__take(&rem, "rem ")) {
        return;
    }
    grout_span count = grout_span__take_operand(&rem);
    grout_text text = {0};
    if (rem.size == 0 || count.size == 0) {
        return;
    }
    for (unsigned phase = 0; phase < 2; phase++) {
        grout_text_add(&text, phase == 0 ? "" : "(");
        add_term(&text, count);
        grout_text_add(&text, " / ");
        add_term(&text, rem);
        grout_text_add(&text, phase == 0 ? " %% 2" : " + 1) %% 2");
        add_choice(it, &it->parities, &text, 2);
    }
}

/* "%slot = rem %k, SLOTS", "for %k in 0..N {" */
static void collect_parities_of_line(collector *it, size_t index) {
    grout_span code = it->outline->lines->items[index].code;
    grout_span name = grout_span__get_name(code);
    grout_text text = {0};
    grout_span rest = {code.data + name.size, code.size - name.size};
    rest = grout_span__trim(rest);
    if (name.size > 0 && grout_span__take(&rest, "=")) {
        add_parity_of_ring(it, rest);
    }
    if (grout_span__take(&code, "for ")) {
        name = grout_span__get_name(code);
        for (unsigned phase = 0; phase < 2; phase++) {
            grout_text_add(&text, phase == 0 ? "" : "(");
            add_span(&text, name);
            grout_text_add(&text, phase == 0 ? " %% 2" : " + 1) %% 2");
            add_choice(it, &it->parities, &text, 3);
        }
    }
}

static void collect_parities(collector *it) {
    for (size_t i = it->outline->first; i < it->outline->end; i++) {
        const grout_outline_line *line = &it->outline->items[i];
        grout_span rest = line->operands;
        if (!line->is_statement) {
            collect_parities_of_line(it, i);
            continue;
        }
        collect_parities_of_line(it, i);
        if (waits_for_parity(line)) {
            (void)grout_span__take_operand(&rest);
            add_parity(it, grout_span__take_operand(&rest), 1);
        }
    }
    add_parity(it, (grout_span){"0", 1}, 3);
    add_parity(it, (grout_span){"1", 1}, 3);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* The second operands of ops that count, and the file's consts: arrivals, units, bytes. */
static void collect_numbers(collector *it) {
    grout_text text = {0};
    for (size_t i = it->outline->first; i < it->outline->end; i++) {
        const grout_outline_line *line = &it->outline->items[i];
        grout_span code = it->outline->lines->items[i].code;
        grout_span rest = line->operands;
        if (line->is_statement && line->object.size > 0 && !waits_for_parity(line) &&
            is_sync(line)) {
            (void)grout_span__take_operand(&rest);
            add_span(&text, grout_span__take_operand(&rest));
            if (text.size > 0) {
                add_choice(it, &it->numbers, &text, 1);
            }
        }
        if (grout_span__take(&code, "const ")) {
            while (code.size > 0) {
                grout_span one = grout_span__take_operand(&code);
                add_span(&text, grout_span__split(&one, '='));
                add_choice(it, &it->numbers, &text, 3);
            }
        }
        grout_text_free(&text);
    }
    grout_text_add(&text, "1");
    add_choice(it, &it->numbers, &text, 1);
    grout_text_add(&text, "2");
    add_choice(it, &it->numbers, &text, 2);
}

/* ---- uses of barriers ----------------------------------------------------------------------- */

/* A way to use an object: a form of an op, and what follows the element. */
typedef struct way {
    grout_opcode opcode;
    const grout_written *form;
    const choices *operands; /* NULL: none follow */
} way;

static way get_way(const collector *it, grout_opcode opcode, const grout_written *form) {
    const bool is_alone = strlen(grout_op_get_info(opcode)->operands) == 1;
    const bool has_parity = grout_op_get_letter(opcode, 1) == LETTER_PARITY;
    return (way){opcode, form, is_alone ? NULL : has_parity ? &it->parities : &it->numbers};
}

static void add_way(collector *it, const way *one, const grout_outline_object *object,
                    const choice *element) {
    size_t count = one->operands == NULL ? 1 : one->operands->count;
    for (size_t i = 0; i < count && it->is_good; i++) {
        grout_text text = {0};
        uint32_t cost = one->form->cost + element->cost;
        grout_text_add(&text, "%s %s", grout_op_get_info(one->opcode)->text, element->text);
        if (one->operands != NULL) {
            grout_text_add(&text, ", %s", one->operands->items[i].text);
            cost += one->operands->items[i].cost;
        }
        if (cost > COST_MAX) { /* so many odd parts that nobody meant it */
            grout_text_free(&text);
            continue;
        }
        grout_text_add(&text, "%s", one->form->text);
        add_phrase(it, &text, object->name, cost);
    }
}

/* The kernel has to use the tensor core of Blackwell. A commit is for a CTA, and if others are so,
 * for both of a pair. */
static void add_commit(collector *it, const way *one, const grout_outline_object *object,
                       const choice *element) {
    const char *collective_axis = grout_attr_get_info(GROUT_ATTR_COLLECTIVE_AXIS)->text;
    const grout_span pair = grout_outline__find_attribute(it->outline, collective_axis);
    const uint32_t cost = one->form->cost + element->cost;
    for (int i = 0; i < 2 && uses(it->outline, GROUT_SYNC_OBJECT_TCGEN05); i++) {
        if ((i == 0 || pair.size > 0) && cost <= COST_MAX) {
            grout_text text = {0};
            grout_text_add(&text, "%s %s", grout_op_get_info(one->opcode)->text, element->text);
            add_span(&text, i == 0 ? (grout_span){"", 0} : pair);
            add_phrase(it, &text, object->name, cost + (i == 0 && pair.size > 0 ? 1u : 0u));
        }
    }
}

static bool works_on(grout_opcode opcode, grout_sync_object kind) {
    const grout_sync_object object = (grout_sync_object)grout_op_get_sync(opcode)->object;
    const bool is_barrier = kind == GROUT_SYNC_OBJECT_BARRIER || kind == GROUT_SYNC_OBJECT_MBARRIER;
    return object == kind || (object == GROUT_SYNC_OBJECT_ANY_BARRIER && is_barrier);
}

/* Each form of an op, with each element of the object. */
static void add_uses_by(collector *it, grout_opcode opcode, const grout_outline_object *object,
                        const choices *elements) {
    size_t count;
    const grout_written *forms = grout_op_get_written(opcode, &count);
    if (count == 0 || !works_on(opcode, object->kind)) {
        return;
    }
    const bool is_commit = grout_op_get_sync(opcode)->tensor == GROUT_SYNC_TENSOR_SEALS;
    for (size_t i = 0; i < count; i++) {
        const way one = get_way(it, opcode, &forms[i]);
        for (size_t k = 0; k < elements->count; k++) {
            (is_commit ? add_commit : add_way)(it, &one, object, &elements->items[k]);
        }
    }
}

static void add_uses(collector *it) {
    for (size_t i = 0; i < it->outline->objects.count && it->is_good &&
                       it->phrases->count < PHRASES_MAX && grout_outline__goes_on(it->outline);
         i++) {
        const grout_outline_object *object = &it->outline->objects.items[i];
        choices elements = {0};
        collect_elements(it, object, &elements);
        for (int opcode = 1; opcode < GROUT_OP_COUNT; opcode++) {
            add_uses_by(it, (grout_opcode)opcode, object, &elements);
        }
        free_choices(&elements);
    }
}

bool grout_phrases__init(grout_phrases *phrases, const grout_outline *outline) {
    collector it = {.outline = outline, .phrases = phrases, .is_good = true};
    *phrases = (grout_phrases){0};
    collect_indices(&it);
    collect_parities(&it);
    collect_numbers(&it);
    add_siblings(&it);
    add_usual(&it);
    add_uses(&it);
    free_choices(&it.indices);
    free_choices(&it.parities);
    free_choices(&it.numbers);
    return it.is_good;
}

void grout_phrases__deinit(grout_phrases *phrases) {
    for (size_t i = 0; i < phrases->count; i++) {
        grout__free(phrases->items[i].text);
    }
    grout__free(phrases->items);
    *phrases = (grout_phrases){0};
}
