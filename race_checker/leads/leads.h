/*
 * leads.h - an operation whose index does not fit those beside it, for a help that begins there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_LEADS_H
#define GROUT_RACE_CHECKER_LEADS_H

#include "kept_strings.h"
#include "rings.h"

/* What a finding is about, as far as an index may be its cause. */
enum { GROUT_LEAD_OPS_MAX = 32 };
typedef struct grout_lead_question {
    grout_op_id ops[GROUT_LEAD_OPS_MAX];
    uint32_t count;
    const grout_facts *facts; /* of a finding about two accesses; or NULL */
} grout_lead_question;

/* Those that there is no room for are left out, and 0. */
void grout_lead_question__add(grout_lead_question *question, grout_op_id op);
/* All that arrives on the object, and all that waits on it; where nothing arrives, what fills the
 * buffers that are read after a wait on it. */
void grout_lead_question__add_barrier(grout_lead_question *question, const grout_rings *rings,
                                      grout_object_id object);

typedef struct grout_leads {
    const grout_checker *checker;
    const grout_rings *rings;
    grout_strings *names; /* that go into sentences */
} grout_leads;

/* Adds the help that begins at the index; false: none stands out. */
bool grout_leads__add_help(const grout_leads *leads, const grout_lead_question *question,
                           grout_text *out);

#endif
