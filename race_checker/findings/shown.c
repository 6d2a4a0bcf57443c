/* shown.c - which findings are shown, in order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "finding.h"

#include "alloc.h"
#include "lookup.h"
#include "rules.h"

#include <string.h>

/* Whether a comes before b, or is alike. */
static bool is_in_order(const grout_findings *findings, uint32_t first, uint32_t second) {
    const grout_record *a = &findings->records[first], *b = &findings->records[second];
    if (a->severity != b->severity) {
        return a->severity == GROUT_SEVERITY_ERROR;
    }
    int order = grout_loc__compare(findings->module, a->primary, b->primary);
    if (order == 0 && a->code != b->code) {
        order = a->code < b->code ? -1 : 1;
    }
    if (order == 0) {
        order = grout_loc__compare(findings->module, a->related, b->related);
    }
    return order <= 0;
}

/* ---- what another one says too ---- */

/*
 * A copy that not every CTA has issued: that its bytes do not come out even, and that it may reach
 * a CTA that has gone its own way and ended, says nothing new. An overrun that points at no wait is
 * folded into one of the same contribution that does. What folds is found by its place, and an
 * overrun by its barrier object too.
 */
static uint64_t make_key(const grout_record *record) {
    const uint32_t about =
        record->code == GROUT_DIAG_BARRIER_OVERRUN ? record->facts.fault.object + 1 : 0;
    return (uint64_t)record->primary << 32 | about;
}

static bool folds_others(const grout_record *record) {
    return record->code == GROUT_DIAG_BARRIER_OVERRUN
               ? record->related != 0
               : record->code == GROUT_DIAG_COLLECTIVE_DIVERGENCE &&
                     record->facts.subject == GROUT_SUBJECT_COPY;
}

static bool is_folded(const grout_lookup *folding, const grout_record *record) {
    const bool may_be = record->code == GROUT_DIAG_BARRIER_OVERRUN
                            ? record->related == 0
                            : record->code == GROUT_DIAG_CLUSTER_EXIT ||
                                  record->code == GROUT_DIAG_BARRIER_TX_MISMATCH;
    return record->is_replaced || (may_be && grout_lookup__find(folding, make_key(record)) != 0);
}

static bool note_folding(const grout_findings *findings, grout_lookup *folding) {
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *record = &findings->records[i];
        uint32_t *number =
            folds_others(record) ? grout_lookup__at(folding, make_key(record)) : &(uint32_t){0};
        if (!number) {
            return false;
        }
        *number = i + 1;
    }
    return true;
}

/* ---- the order ---- */

/* Puts list[first, middle) and list[middle, end), each in order, together. */
static void merge(const grout_findings *findings, uint32_t *list, uint32_t *room, uint32_t first,
                  uint32_t middle, uint32_t end) {
    uint32_t a = first, b = middle;
    for (uint32_t at = first; at < end; at++) {
        const bool takes_first =
            a < middle && (b == end || is_in_order(findings, list[a], list[b]));
        room[at] = takes_first ? list[a++] : list[b++];
    }
    memcpy(list + first, room + first, (end - first) * sizeof *list);
}

/* qsort takes no context. Those that are alike stay as they were. */
static void sort(const grout_findings *findings, uint32_t *list, uint32_t *room, uint32_t count) {
    for (uint64_t size = 1; size < count; size *= 2) {
        for (uint64_t first = 0; first + size < count; first += 2 * size) {
            const uint64_t end = first + 2 * size;
            merge(findings, list, room, (uint32_t)first, (uint32_t)(first + size),
                  end < count ? (uint32_t)end : count);
        }
    }
}

uint32_t *grout_findings__list(const grout_findings *findings, uint32_t *count_out) {
    grout_lookup folding = {.allocator = findings->allocator};
    uint32_t *list = grout__new(findings->allocator, findings->count, sizeof *list);
    uint32_t *room = grout__new(findings->allocator, findings->count, sizeof *room);
    uint32_t count = 0;
    const bool is_good = list && room && note_folding(findings, &folding);
    for (uint32_t i = 0; is_good && i < findings->count; i++) {
        if (!is_folded(&folding, &findings->records[i])) {
            list[count++] = i;
        }
    }
    if (is_good) {
        sort(findings, list, room, count);
    } else {
        grout__free(list);
        list = NULL;
    }
    grout__free(room);
    grout_lookup__deinit(&folding);
    *count_out = count;
    return list;
}
