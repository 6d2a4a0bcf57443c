/* finding.c - the table of findings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "finding.h"

#include "alloc.h"
#include "invariant.h"
#include "mix.h"
#include "rules.h"

#include <stdlib.h>
#include <string.h>

enum { INDEX_FIRST = 64 };

void grout_findings__deinit(grout_findings *findings) {
    for (uint32_t i = 0; i < findings->sentence_count; i++) {
        grout__free(findings->sentences[i].text);
    }
    grout__free(findings->sentences);
    grout__free(findings->records);
    grout__free(findings->index);
    memset(findings, 0, sizeof *findings);
}

grout_side grout_entry__describe(const grout_entry *entry) {
    grout_side side = {.origin = entry->origin,
                       .stamp = {.cluster = entry->cluster,
                                 .component = entry->component,
                                 .number = entry->number,
                                 .agent = grout_entry__get_agent(entry)},
                       .epoch = entry->epoch,
                       .is_write = entry->flags & GROUT_ENTRY_WRITE,
                       .is_atomic = entry->flags & GROUT_ENTRY_ATOMIC,
                       .atomicity = entry->atomicity};
    return side;
}

/* ---- places ---- */

/* Canonical order of occurrences: CTA, thread, place, iteration. */
static int compare_origins(const grout_module *module, const grout_origin *a,
                           const grout_origin *b) {
    if (a->cta != b->cta) {
        return a->cta < b->cta ? -1 : 1;
    }
    if (a->thread != b->thread) {
        return a->thread < b->thread ? -1 : 1;
    }
    if (a->op != b->op) {
        return grout_loc__compare(module, grout_origin__get_loc(module, a),
                                  grout_origin__get_loc(module, b));
    }
    for (uint32_t i = 0; i < GROUT_ORIGIN_LOOPS; i++) {
        if (a->loops[i] != b->loops[i]) {
            return a->loops[i] < b->loops[i] ? -1 : 1;
        }
    }
    return 0;
}

/* ---- the table ---- */

static uint64_t hash_key(const grout_finding_key *key) {
    uint64_t hash =
        grout_check__mix(UINT64_C(0x51afd7ed558ccdff), (uint64_t)key->code << 8 | key->severity);
    return grout_check__mix(hash, (uint64_t)key->primary << 32 | key->related);
}

static grout_finding_key get_key(const grout_record *record) {
    grout_finding_key key = {record->code, record->severity, record->primary, record->related};
    return key;
}

static bool is_same_key(const grout_record *record, const grout_finding_key *key) {
    return record->code == key->code && record->severity == key->severity &&
           record->primary == key->primary && record->related == key->related;
}

/* The slot of the key, or the empty one where it belongs. */
static uint32_t find_slot(const grout_findings *findings, const grout_finding_key *key) {
    uint32_t slot = (uint32_t)hash_key(key) & (findings->index_size - 1);
    GROUT_ASSERT((findings->index_size & (findings->index_size - 1)) == 0);
    GROUT_ASSERT(findings->count < findings->index_size);
    while (findings->index[slot] &&
           !is_same_key(&findings->records[findings->index[slot] - 1], key)) {
        slot = (slot + 1) & (findings->index_size - 1);
    }
    return slot;
}

static bool grow(grout_findings *findings) {
    uint32_t capacity = findings->capacity ? findings->capacity * 2 : INDEX_FIRST / 2;
    grout_record *records =
        grout__resize(findings->allocator, findings->records, capacity * sizeof *findings->records);
    uint32_t *index = NULL;
    if (!records) {
        return false;
    }
    findings->records = records;
    index = grout__new(findings->allocator, (size_t)capacity * 2, sizeof *index);
    if (!index) {
        return false;
    }
    grout__free(findings->index);
    findings->index = index;
    findings->index_size = capacity * 2;
    findings->capacity = capacity;
    for (uint32_t i = 0; i < findings->count; i++) {
        grout_finding_key key = get_key(&records[i]);
        index[find_slot(findings, &key)] = i + 1;
    }
    return true;
}

grout_record *grout_findings__add(grout_findings *findings, const grout_finding_key *key,
                                  const grout_occurrence *occurrence, bool *wants_facts_out) {
    const grout_origin *primary = occurrence->primary, *related = occurrence->related;
    grout_record *record = NULL;
    uint32_t slot = 0;
    int order = 0;
    GROUT_ASSERT(findings->module != NULL && key->code != GROUT_DIAG_NONE);
    GROUT_ASSERT(findings->count <= findings->capacity);
    if (findings->count == findings->capacity && !grow(findings)) {
        return NULL;
    }
    findings->total++;
    slot = find_slot(findings, key);
    if (!findings->index[slot]) {
        record = &findings->records[findings->count++];
        memset(record, 0, sizeof *record);
        record->code = key->code;
        record->severity = key->severity;
        record->primary = key->primary;
        record->related = key->related;
        record->count = 1;
        findings->index[slot] = findings->count;
        *wants_facts_out = true;
        return record;
    }
    record = &findings->records[findings->index[slot] - 1];
    record->count += occurrence->is_repeat ? 0 : 1;
    order = compare_origins(findings->module, primary, &record->facts.sides[0].origin);
    if (order == 0 && related) {
        order = compare_origins(findings->module, related, &record->facts.sides[1].origin);
    }
    *wants_facts_out = order < 0;
    return record;
}

grout_record *grout_findings__find(const grout_findings *findings, const grout_finding_key *key) {
    const uint32_t slot = findings->count > 0 ? find_slot(findings, key) : 0;
    return findings->count > 0 && findings->index[slot]
               ? &findings->records[findings->index[slot] - 1]
               : NULL;
}

static bool is_same_access(const grout_side *a, const grout_side *b) {
    return a->origin.op == b->origin.op && a->origin.operand == b->origin.operand &&
           a->origin.cta == b->origin.cta && a->origin.thread == b->origin.thread &&
           a->stamp.component == b->stamp.component && a->stamp.number == b->stamp.number &&
           a->epoch == b->epoch && a->is_write == b->is_write &&
           memcmp(a->origin.loops, b->origin.loops, sizeof a->origin.loops) == 0;
}

void grout_record__widen(grout_record *record, const grout_side *sides, uint32_t i) {
    grout_facts *facts = &record->facts;
    grout_box *box = &facts->sides[i].box;
    const grout_box *more = &sides[i].box;
    GROUT_ASSERT(i < facts->side_count);
    for (uint32_t side = 0; side < facts->side_count; side++) {
        if (!is_same_access(&facts->sides[side], &sides[side])) {
            return;
        }
    }
    if (box->object == 0 || box->object != more->object) {
        return;
    }
    for (uint32_t dim = 0; dim < box->rank; dim++) {
        box->low[dim] = box->low[dim] < more->low[dim] ? box->low[dim] : more->low[dim];
        box->high[dim] = box->high[dim] > more->high[dim] ? box->high[dim] : more->high[dim];
    }
}

bool grout_findings__add_sentence(grout_findings *findings, const grout_sentence *sentence) {
    grout_sentence *sentences = grout__resize(findings->allocator, findings->sentences,
                                              (findings->sentence_count + 1) * sizeof *sentences);
    if (!sentences) {
        return false;
    }
    findings->sentences = sentences;
    sentences += findings->sentence_count;
    *sentences = *sentence;
    sentences->text = grout__copy(findings->allocator, sentence->text, strlen(sentence->text));
    if (!sentences->text) {
        return false;
    }
    findings->sentence_count++;
    return true;
}

/* The first count items of an array with room for capacity. False without memory. */
static bool clone(const grout_allocator *allocator, void **copy, const void *items, uint32_t count,
                  uint32_t capacity, size_t size) {
    GROUT_ASSERT(count <= capacity);
    *copy = capacity > 0 ? grout__resize(allocator, NULL, capacity * size) : NULL;
    if (*copy && count > 0) {
        memcpy(*copy, items, count * size);
    }
    return capacity == 0 || *copy;
}

bool grout_findings__copy(grout_findings *copy, const grout_findings *findings) {
    grout_findings made = *findings; /* all that is plain */
    void *records = NULL, *index = NULL;
    bool done = clone(made.allocator, &records, findings->records, findings->count,
                      findings->capacity, sizeof *made.records) &&
                clone(made.allocator, &index, findings->index, findings->index_size,
                      findings->index_size, sizeof *made.index);
    made.records = records;
    made.index = index;
    made.sentences = NULL;
    made.sentence_count = 0;
    for (uint32_t i = 0; done && i < findings->sentence_count; i++) {
        const grout_sentence *sentence = &findings->sentences[i];
        done = grout_findings__add_sentence(&made, sentence);
    }
    if (!done) {
        grout_findings__deinit(&made);
        return false;
    }
    grout_findings__deinit(copy);
    *copy = made;
    return true;
}

uint64_t grout_findings__hash(const grout_findings *findings) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < findings->count; i++) {
        hash += GROUT_HASH_FACTS(0, &findings->records[i], grout_record, code);
    }
    return GROUT_HASH_REST(hash, findings, grout_findings, reserved);
}

/* ---- identity and order ---- */

static uint64_t mix_text(uint64_t hash, const char *text) {
    for (; text && *text; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static uint64_t mix_place(uint64_t hash, grout_place place) {
    hash = mix_text(hash, place.file);
    return grout_check__mix(hash, (uint64_t)place.line << 32 | place.column);
}

uint64_t grout_findings__identify(const grout_findings *findings, const grout_record *record) {
    uint64_t hash = mix_text(UINT64_C(0xcbf29ce484222325), grout_diag_get(record->code)->text);
    hash = mix_place(hash, grout_module_get_place(findings->module, record->primary));
    return mix_place(hash, grout_module_get_place(findings->module, record->related));
}
