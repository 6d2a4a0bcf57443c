/*
 * op_rules.h - all that the tables say of an op, for tests that hold their columns to each other.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_OP_RULES_H
#define GROUT_TESTS_OP_RULES_H

#include "grout-internal/ir.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* All that the tables say of one op. */
typedef struct op_facts {
    grout_opcode opcode;
    const grout_op_info *info;
    const grout_sync_info *sync; /* NULL: it has no line, and a zeroed one stands below */
    grout_sync_info line;
    const grout_region_info *region;
    const grout_effect *effects;
    uint32_t effect_count;
    grout_effect_class class_;
    grout_text *faults; /* where the rule that looks says what does not hold */
} op_facts;

static inline op_facts get_facts(int opcode, grout_text *faults) {
    op_facts it = {.opcode = (grout_opcode)opcode,
                   .faults = faults,
                   .info = grout_op_get_info((grout_opcode)opcode),
                   .sync = grout_op_get_sync((grout_opcode)opcode),
                   .line = {.warp = ""},
                   .region = grout_op_get_region((grout_opcode)opcode)};
    grout_effect_row row = (grout_effect_row)it.info->effect_row;
    it.effects = grout_effect_row_get_effects(row, &it.effect_count);
    it.class_ = grout_effect_row_get_class(row);
    if (it.sync != NULL) {
        it.line = *it.sync;
    }
    return it;
}

/* One op's part of a rule: where the first holds, the second has to; else what to do. */
static inline void expect(const op_facts *it, bool premise, bool holds, const char *advice) {
    if (premise && !holds) {
        grout_text_add(it->faults, "\n  %s: %s", it->info->text, advice);
    }
}

static inline void hold(const op_facts *it, bool holds, const char *advice) {
    expect(it, true, holds, advice);
}

static inline bool is_first_of_its_form(const op_facts *it) {
    for (int i = 1; i < (int)it->opcode; i++) {
        if (grout_op_get_info((grout_opcode)i)->form == it->info->form) {
            return false;
        }
    }
    return true;
}

/* ---- words for sets of values ------------------------------------------------------------------
 */

#define OBJECT(NAME) (1u << GROUT_SYNC_OBJECT_##NAME)
#define MODE(NAME)   (1u << GROUT_SYNC_MODE_##NAME)
#define LANES(NAME)  (1u << GROUT_SYNC_LANES_##NAME)
#define ACCESS(NAME) (1u << GROUT_ACCESS_##NAME)
#define COVER(NAME)  (1u << GROUT_MILESTONE_##NAME)
#define KIND(NAME)   (1u << GROUT_LETTER_##NAME)

enum {
    BARRIERS = OBJECT(BARRIER) | OBJECT(MBARRIER) | OBJECT(ANY_BARRIER),
    OPERANDS = BARRIERS | OBJECT(SEMAPHORE), /* an operand says which one */
    GROUPS = OBJECT(BULK) | OBJECT(ASYNC_COPY) | OBJECT(WGMMA) | OBJECT(TCGEN05) |
             OBJECT(TMEM_LOAD) | OBJECT(TMEM_STORE),
    POSTING = ACCESS(ARRIVE) | ACCESS(BYTES) | ACCESS(SIGNAL),
    WRITING = ACCESS(WRITE) | ACCESS(ATOMIC),
    MEMORY = ACCESS(READ) | WRITING,
    OBJECTS = KIND(MEMORY) | KIND(MEMORY_OR_ARRAY) | KIND(BARRIER) | KIND(SEMAPHORE)
};

static inline bool is_object(const op_facts *it, uint32_t objects) {
    return it->sync != NULL && (objects >> it->line.object & 1) != 0;
}

static inline bool is_mode(const op_facts *it, uint32_t modes) {
    return it->sync != NULL && (modes >> it->line.mode & 1) != 0;
}

static inline bool is_lanes(const op_facts *it, uint32_t lanes) {
    return it->sync != NULL && (lanes >> it->line.lanes & 1) != 0;
}

static inline bool has_letter(const op_facts *it, const char *letters) {
    return strpbrk(it->info->operands, letters) != NULL;
}

/* Whether the letter's kind is one of these bits. */
static inline bool is_kind(const grout_letter_info *letter, uint32_t kinds) {
    return letter != NULL && (kinds >> letter->kind & 1) != 0;
}

static inline bool has_kind(const op_facts *it, uint32_t kinds) {
    bool is_found = false;
    for (const char *at = it->info->operands; *at != '\0'; at++) {
        is_found = is_found || is_kind(grout_letter_get_info(*at), kinds);
    }
    return is_found;
}

static inline bool takes(const op_facts *it, uint64_t attrs) {
    return (it->info->attrs & attrs) != 0;
}

/* The first effect of such an access; NULL: there is none. */
static inline const grout_effect *find_effect(const op_facts *it, uint32_t accesses) {
    for (uint32_t i = 0; i < it->effect_count; i++) {
        if ((accesses >> it->effects[i].access & 1) != 0) {
            return &it->effects[i];
        }
    }
    return NULL;
}

static inline bool has_effect(const op_facts *it, uint32_t accesses) {
    return find_effect(it, accesses) != NULL;
}

/* Whether it posts anything, now or later. */
static inline bool has_arrival(const op_facts *it) {
    return it->sync != NULL && it->line.arrival != GROUT_SYNC_ARRIVAL_NONE;
}

static inline bool has_acquire(const op_facts *it) {
    return (it->line.side & GROUT_SYNC_SIDE_ACQUIRE) != 0;
}

/* Bits of the milestones of what the op's engine does to memory. */
static inline uint32_t get_engine_milestones(const op_facts *it) {
    uint32_t milestones = 0;
    for (uint32_t i = 0; i < it->effect_count; i++) {
        if ((MEMORY >> it->effects[i].access & 1) != 0 &&
            it->effects[i].milestone != GROUT_MILESTONE_ISSUE) {
            milestones |= 1u << it->effects[i].milestone;
        }
    }
    return milestones;
}

/* ---- rules -------------------------------------------------------------------------------------
 */

typedef struct op_rule {
    void (*check)(const op_facts *it);
    const char *name;
} op_rule;

#define RULE(NAME) \
    { NAME, #NAME }

/* One rule for all ops: all that do not keep it are named, with what to do. */
static inline void check_rule(const op_rule *rule) {
    grout_text faults = {0};
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        op_facts it = get_facts(i, &faults);
        rule->check(&it);
    }
    ck_assert_msg(faults.size == 0 && !faults.failed, "%s:%s", rule->name, faults.data);
}

#endif
