/*
 * lead_uses.h - what the rules of leads.c ask about one use of a ring; private to this folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_LEAD_USES_H
#define GROUT_RACE_CHECKER_LEAD_USES_H

#include "leads.h"

const grout_module *grout_leads__get_module(const grout_leads *it);
const grout_sync_info *grout_leads__get_sync(const grout_leads *it, grout_op_id op);
uint32_t grout_leads__get_line(const grout_leads *it, grout_op_id op);
/* The first use that the op makes of a ring in this role, with a slot of its own. */
bool grout_leads__get_use(const grout_leads *it, grout_op_id op, grout_ring_role role,
                          grout_ring_use *out);
int64_t grout_leads__count_slots(const grout_leads *it, const grout_ring_use *use);
/* Whether both have a slot, of rings of one length, and which: sign 1 the same, 0 another one, -1
 * they cannot be compared. */
int grout_leads__compare_slots(const grout_leads *it, const grout_ring_use *a,
                               const grout_ring_use *b);
bool grout_leads__is_constant(const grout_leads *it, const grout_ring_use *use);
const char *grout_leads__name_use(const grout_leads *it, const grout_ring_use *use);
/* "%k"; NULL: it has no name. */
const char *grout_leads__name_value(const grout_leads *it, const grout_operand *index);
/* " (%fill is of line 32)": where the index is computed, if that is another line; "" if what it is
 * held against has the index too. */
const char *grout_leads__name_source(const grout_leads *it, const grout_ring_use *use,
                                     const grout_ring_use *against);
const char *grout_leads__get_mnemonic(const grout_leads *it, grout_op_id op);

/* ---- lead_turns.c: rules about the two accesses of a finding, or about all uses of a buffer ----
 */

bool grout_leads__add_same_turn(const grout_leads *it, const grout_side *sides, grout_text *out);
bool grout_leads__add_unused(const grout_leads *it, const grout_side *sides, grout_text *out);
bool grout_leads__add_other_place(const grout_leads *it, grout_op_id op, grout_text *out);

#endif
