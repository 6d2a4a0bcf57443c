/*
 * cover.h - the wait that would mend all occurrences of a finding about a wgmma, or a bulk group.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_COVER_H
#define GROUT_RACE_CHECKER_COVER_H

#include "finding.h"

bool grout_code__is_about_wgmma(grout_diag_code code);
/* Whether its occurrences are looked at for one wait that mends them all. */
bool grout_code__has_cover(grout_diag_code code);
/* One more occurrence, with its near facts. */
void grout_cover__add(grout_cover *cover, bool is_first, const grout_facts *facts);
/* 0 if the occurrences have none in common. */
grout_op_id grout_cover__get_spot(const grout_cover *cover);
grout_op_id grout_cover__get_wait(const grout_cover *cover);

#endif
