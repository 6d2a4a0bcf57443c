/*
 * op_facts.h - the facts of an operation in the tables, as sentences, for 'grout ops' and
 * docs/operations.md.
 *
 * Every value of every column has words of its own (tests/unit/cli/check_op_facts.c), so a line of
 * sync.def or ops.def that changes changes the page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_CLI_OP_FACTS_H
#define GROUT_CLI_OP_FACTS_H

#include "grout-internal/ir.h"

/* Each appends lines that begin with start. */
void grout_op_facts__add_effects(grout_effect_row row, const char *start, grout_text *out);
void grout_op_facts__add_sync(const grout_sync_info *sync, const char *start, grout_text *out);
void grout_op_facts__add_region(const grout_region_info *region, const char *start,
                                grout_text *out);
void grout_op_facts__add_update(grout_update update, const char *start, grout_text *out);

#endif
