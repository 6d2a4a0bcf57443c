/* questions.c - which races of two writes are asked about.
 * SPDX-License-Identifier: Apache-2.0 */
#include "questions.h"

#include "invariant.h"
#include "mix.h"

static bool is_same_key(const grout_finding_key *a, const grout_finding_key *b) {
    return a->code == b->code && a->severity == b->severity && a->primary == b->primary &&
           a->related == b->related;
}

static uint64_t hash_key(const grout_finding_key *key) {
    return grout_check__mix(grout_check__mix(key->code, key->severity),
                            (uint64_t)key->primary << 32 | key->related);
}

/* The key of two places, in whichever order. */
static uint64_t make_places_key(grout_loc_id a, grout_loc_id b) {
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* The largest place among the operations. */
static grout_loc_id find_last_loc(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    grout_loc_id last = 0;
    for (grout_op_id op = 1; op < checker->run.op_count; op++) {
        const grout_loc_id loc = grout_module_get_op(module, op)->loc;
        last = loc > last ? loc : last;
    }
    return last;
}

/* ---- the questions ---- */

/* What two places have to do with each other, new if need be; NULL without memory. */
static grout_meeting *add_meeting(grout_questions *it, grout_loc_id a, grout_loc_id b) {
    uint32_t *number = GROUT_ARRAY_RESERVE(&it->meetings, it->allocator, 1)
                           ? grout_lookup__at(&it->by_places, make_places_key(a, b))
                           : NULL;
    if (number == NULL) {
        return NULL;
    }
    if (*number == 0) {
        it->meetings.items[it->meetings.count++] = (grout_meeting){.places = {a, b}};
        *number = (uint32_t)it->meetings.count;
    }
    return &it->meetings.items[*number - 1];
}

static bool add_question(grout_questions *it, const grout_finding_key *key) {
    grout_meeting *meeting = add_meeting(it, key->primary, key->related);
    uint32_t *newest = meeting != NULL && GROUT_ARRAY_RESERVE(&it->all, it->allocator, 1)
                           ? grout_lookup__at(&it->by_key, hash_key(key))
                           : NULL;
    if (newest == NULL) {
        return false;
    }
    meeting->open_count++;
    it->all.items[it->all.count++] = (grout_question){
        .key = *key, .next = *newest, .meeting = (uint32_t)(meeting - it->meetings.items)};
    *newest = (uint32_t)it->all.count;
    return true;
}

/* Races of the judged checker whose writes this run may come to. False without memory. */
static bool add_questions(grout_questions *it, const grout_findings *findings) {
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *record = &findings->records[i];
        const grout_finding_key key = {record->code, record->severity, record->primary,
                                       record->related};
        const bool is_asked = grout_record__is_contested(record) && key.primary < it->writers_end &&
                              key.related < it->writers_end;
        if (is_asked && !add_question(it, &key)) {
            return false;
        }
    }
    return true;
}

/* ---- by place ---- */

/* How many places of a meeting there are: a write may race with others at its own. */
static uint32_t count_places(const grout_meeting *meeting) {
    return meeting->places[0] == meeting->places[1] ? 1 : 2;
}

/* False without memory. */
static bool sort_by_place(grout_questions *it) {
    size_t total = 0;
    for (size_t i = 0; i < it->meetings.count; i++) {
        const grout_meeting *meeting = &it->meetings.items[i];
        for (uint32_t k = 0; k < count_places(meeting); k++) {
            it->writers[meeting->places[k]].count++;
            it->writers[meeting->places[k]].open_count += meeting->open_count;
        }
    }
    for (grout_loc_id place = 0; place < it->writers_end; place++) {
        it->writers[place].first = total;
        total += it->writers[place].count;
        it->writers[place].count = 0;
    }
    it->others = grout__new(it->allocator, total + 1, sizeof *it->others);
    for (size_t i = 0; it->others != NULL && i < it->meetings.count; i++) {
        const grout_meeting *meeting = &it->meetings.items[i];
        for (uint32_t k = 0; k < count_places(meeting); k++) {
            grout_writers *writers = &it->writers[meeting->places[k]];
            it->others[writers->first + writers->count++] = meeting->places[1 - k];
        }
    }
    return it->others != NULL;
}

bool grout_questions__init(grout_questions *questions, const grout_checker *checker) {
    const grout_allocator *allocator = checker->allocator;
    *questions = (grout_questions){.allocator = allocator,
                                   .by_key = {.allocator = allocator},
                                   .by_places = {.allocator = allocator},
                                   .writers_end = find_last_loc(checker) + 1};
    questions->writers = grout__new(allocator, questions->writers_end, sizeof *questions->writers);
    return questions->writers != NULL &&
           add_questions(questions, &checker->judged->memory.findings) && sort_by_place(questions);
}

void grout_questions__deinit(grout_questions *questions) {
    grout__free(questions->all.items);
    grout__free(questions->meetings.items);
    grout_lookup__deinit(&questions->by_key);
    grout_lookup__deinit(&questions->by_places);
    grout__free(questions->writers);
    grout__free(questions->others);
}

/* ---- asking ---- */

bool grout_questions__ask(const grout_questions *questions, grout_loc_id place) {
    GROUT_ASSERT(place < questions->writers_end);
    return questions->writers[place].open_count > 0;
}

uint32_t grout_questions__count_open(const grout_questions *questions, grout_loc_id place,
                                     grout_loc_id other) {
    const uint32_t number =
        grout_lookup__find(&questions->by_places, make_places_key(place, other));
    return number == 0 ? 0 : questions->meetings.items[number - 1].open_count;
}

const grout_loc_id *grout_questions__get_others(const grout_questions *questions,
                                                grout_loc_id place, uint32_t *count_out) {
    const grout_writers *writers = &questions->writers[place];
    GROUT_ASSERT(place < questions->writers_end);
    *count_out = writers->count;
    return questions->others + writers->first;
}

grout_question *grout_questions__find(const grout_questions *questions,
                                      const grout_finding_key *key) {
    uint32_t i = grout_lookup__find(&questions->by_key, hash_key(key));
    while (i != 0 && !is_same_key(&questions->all.items[i - 1].key, key)) {
        i = questions->all.items[i - 1].next;
    }
    grout_question *question = i == 0 ? NULL : &questions->all.items[i - 1];
    return question != NULL && question->is_different ? NULL : question;
}

void grout_questions__answer(grout_questions *questions, grout_question *question,
                             bool is_different) {
    GROUT_ASSERT(!question->is_different);
    question->is_compared = true;
    if (is_different) {
        grout_meeting *meeting = &questions->meetings.items[question->meeting];
        question->is_different = true;
        meeting->open_count--;
        for (uint32_t k = 0; k < count_places(meeting); k++) {
            questions->writers[meeting->places[k]].open_count--;
        }
    }
}
